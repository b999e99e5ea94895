//! How many durable appends a second does one log take, from 1 to 256 writers who wait for each,
//! beside a plain loop of one write and one sync on the same disk?
//!
//!     log DIR [--bytes 1024] [--seconds 3]
//!
//! Prints one JSON line a case: appends a second, appends a sync, median and p99 of the wait.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use base::{SeqNo, ShardId};
use consensus::{Config, Local, Log, Record};
use env::{Clock, Disk, Env, File, Spawn};
use runtime::RuntimeEnv;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const BLOCK: usize = 4096;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = PathBuf::from(args.first().ok_or("a folder is missing, see the head of the file")?);
    let option = |name: &str, default: u64| -> Outcome<u64> {
        match args.iter().position(|word| word == name) {
            Some(at) => Ok(args.get(at + 1).ok_or("an option's value is missing")?.parse()?),
            None => Ok(default),
        }
    };
    let bytes = option("--bytes", 1024)? as usize;
    let lasting = Duration::from_secs(option("--seconds", 3)?);
    let running = runtime::start(vec![()], move |core, ()| async move {
        let told = async {
            raw(&core.env, &dir, lasting).await?;
            for writers in [1, 4, 16, 64, 256] {
                appends(&core.env, &dir, writers, bytes, lasting).await?;
            }
            Outcome::Ok(())
        };
        if let Err(error) = told.await {
            eprintln!("{error}");
            std::process::exit(1);
        }
    })?;
    running.join()?;
    Ok(())
}

/// One block after the other into a zero-filled file, each synced: what the disk gives.
async fn raw(env: &RuntimeEnv, dir: &Path, lasting: Duration) -> Outcome<()> {
    const LEN: u64 = 64 << 20;
    let dir = dir.join("raw");
    env.disk().create_dir(&dir).await?;
    let file = env.disk().create(&dir.join("file")).await?;
    for offset in (0..LEN).step_by(1 << 20) {
        file.write_at(file.buffer(1 << 20), offset).await?;
    }
    file.sync_all().await?;
    let (mut waits, begin) = (Vec::new(), env.clock().monotonic());
    while env.clock().monotonic() - begin < lasting {
        let from = env.clock().monotonic();
        file.write_at(file.buffer(BLOCK), (waits.len() * BLOCK) as u64 % LEN).await?;
        file.sync_data().await?;
        waits.push(env.clock().monotonic() - from);
    }
    let syncs = waits.len() as u64;
    print("write+fdatasync", 1, &mut waits, env.clock().monotonic() - begin, syncs);
    Ok(env.disk().remove_dir(&dir).await?)
}

/// `writers` tasks that append `bytes` bytes each, wait, and do it again.
async fn appends(
    env: &RuntimeEnv,
    dir: &Path,
    writers: u64,
    bytes: usize,
    lasting: Duration,
) -> Outcome<()> {
    let dir = dir.join(format!("log-of-{writers}"));
    let config = Config::new(&dir, ShardId { index: [1; 16], number: 0 });
    let log = Local::create(env, config, None).await?;
    let waits = Rc::new(RefCell::new(Vec::new()));
    let (left, next) = (Rc::new(Cell::new(writers)), Rc::new(Cell::new(0)));
    let first = log.committed();
    let begin = env.clock().monotonic();
    for _ in 0..writers {
        let (env2, log) = (env.clone(), log.clone());
        let (waits, left, next) = (Rc::clone(&waits), Rc::clone(&left), Rc::clone(&next));
        env.spawn().spawn(async move {
            while env2.clock().monotonic() - begin < lasting {
                let first_seq_no = SeqNo(next.replace(next.get() + 1));
                let from = env2.clock().monotonic();
                let payload = vec![7; bytes];
                let record = Record { first_seq_no, count: 1, mapping_version: 1, payload };
                let committed = match log.append(record) {
                    Ok(pending) => pending.await,
                    Err(error) => Err(error),
                };
                if let Err(error) = committed {
                    eprintln!("{error}");
                    break;
                }
                waits.borrow_mut().push(env2.clock().monotonic() - from);
            }
            left.set(left.get() - 1);
        });
    }
    while left.get() > 0 {
        env.clock().sleep(Duration::from_millis(10)).await;
    }
    let took = env.clock().monotonic() - begin;
    let syncs = log.committed().0 - first.0;
    print("append", writers, &mut waits.borrow_mut(), took, syncs);
    log.close().await?;
    Ok(env.disk().remove_dir(&dir).await?)
}

fn print(case: &str, writers: u64, waits: &mut [Duration], took: Duration, syncs: u64) {
    waits.sort_unstable();
    let at = |share: usize| waits.get(waits.len() * share / 100).map_or(0, Duration::as_micros);
    println!(
        "{{\"case\":\"{case}\",\"writers\":{writers},\"per_second\":{:.0},\"per_sync\":{:.1},\"median_us\":{},\"p99_us\":{}}}",
        waits.len() as f64 / took.as_secs_f64(),
        waits.len() as f64 / syncs.max(1) as f64,
        at(50),
        at(99),
    );
}
