//! The sweep: a whole node below HTTP on the real runtime, and each call that it makes to the disk
//! fails once: with EIO, in the middle of its bytes, or for want of room (which lasts).
//!
//! After the fault the process ends (at once where a log failed, else in order) and starts again on
//! a healthy disk. Then: what was acknowledged is there; what was refused is not; nothing is there
//! that was never sent; every shard serves and takes writes. Nothing panics.
//!
//! `cargo test -p corelode-engine --test sweep` tries a part of the calls; all of them:
//! `SWEEP=all cargo test -p corelode-engine --test sweep -- --nocapture`.

mod faulty;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;

use engine::ops::bulk::BulkRequest;
use engine::ops::document::{GetRequest, SourceFilter, VersionType, WriteAction, WriteItem};
use engine::ops::search::SearchCall;
use engine::ops::{IndicesOptions, Refresh};
use engine::{Config, Core, Everything, start_all};
use env::{Bytes, Clock, Env};
use faulty::{Fault, FaultyEnv, Plan, faulty};
use runtime::RuntimeEnv;

type Node = Rc<Core<FaultyEnv<RuntimeEnv>>>;

/// Ids of documents that the story writes.
const IDS: u64 = 6;

/// How long a story may take whose log has stopped.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was sent and answered, of one document: the values that it may have now. 0 stands for "not
/// there".
type Facts = BTreeMap<u64, BTreeSet<u64>>;

/// What a life of the process told.
#[derive(Clone, Debug, Default)]
struct Told {
    facts: Facts,
    /// The index of the documents was acknowledged.
    has_index: bool,
    /// Whether the second index is there: `None` where nobody knows.
    has_second: Option<bool>,
    /// Calls to the disk.
    calls: u64,
    /// What failed, if anything did.
    met: Option<String>,
    /// Why the process ended, where a log failed.
    log_failure: Option<String>,
    /// It did not even start.
    start_failure: Option<String>,
    /// It did not end in time.
    is_late: bool,
}

async fn start(env: &FaultyEnv<RuntimeEnv>, data: &Path) -> Result<Node, String> {
    let mut cores =
        start_all(env, Config::new(1, data)).await.map_err(|error| error.to_string())?;
    Ok(cores.pop().expect("one core"))
}

fn item(id: u64, value: u64) -> WriteItem {
    let action = if value == 0 { WriteAction::Delete } else { WriteAction::Index };
    let source = Bytes::from(format!(r#"{{"value":{value}}}"#).into_bytes());
    WriteItem { source, ..WriteItem::new(action, "docs", id.to_string()) }
}

/// Writes values, and notes what may be there afterwards.
async fn write(core: &Node, told: &RefCell<Told>, values: &[(u64, u64)]) {
    let items = values.iter().map(|&(id, value)| item(id, value)).collect();
    let before = told.borrow().facts.clone();
    for &(id, value) in values {
        told.borrow_mut().facts.entry(id).or_insert_with(|| BTreeSet::from([0])).insert(value);
    }
    let reply = core.bulk(&Everything, BulkRequest { items, refresh: Refresh::No }).await;
    for (&(id, value), outcome) in values.iter().zip(reply.items) {
        let may = match outcome.result {
            Ok(_) => BTreeSet::from([value]),
            // Refused: it is nowhere.
            Err(error) if error.status < 500 => {
                before.get(&id).cloned().unwrap_or_else(|| BTreeSet::from([0]))
            }
            Err(_) => continue,
        };
        told.borrow_mut().facts.insert(id, may);
    }
}

/// Whether an index is there after an answer; `None` where nobody knows.
fn after<T>(answer: &engine::Result<T>, before: Option<bool>, done: bool) -> Option<bool> {
    match answer {
        Ok(_) => Some(done),
        Err(error) if error.status < 500 => before,
        Err(_) => None,
    }
}

/// What a process does in its life; `told` is right at any moment.
async fn story(core: &Node, told: &RefCell<Told>) {
    let one = json::json!({"settings": {"number_of_shards": 1}});
    let options = IndicesOptions::default;
    let made = core.create_index(&Everything, "docs", &one).await;
    told.borrow_mut().has_index = made.is_ok();
    write(core, told, &[(1, 11), (2, 12), (3, 13)]).await;
    drop(core.refresh(&Everything, "docs", options()).await);
    write(core, told, &[(4, 14), (1, 21)]).await;
    drop(core.flush(&Everything, "docs", options()).await);
    write(core, told, &[(2, 0), (5, 15)]).await;
    drop(core.flush(&Everything, "docs", options()).await);
    drop(core.force_merge(&Everything, "docs", options(), shard::Aim::Count(1), true).await);
    told.borrow_mut().has_second = None;
    let made = core.create_index(&Everything, "second", &one).await;
    let is_there = after(&made, Some(false), true);
    told.borrow_mut().has_second = is_there;
    write(core, told, &[(3, 23), (6, 16)]).await;
    told.borrow_mut().has_second = None;
    let deleted = core.delete_index(&Everything, "second", options()).await;
    told.borrow_mut().has_second = after(&deleted, is_there, false);
    write(core, told, &[(1, 31), (4, 0)]).await;
}

/// One life of the process, on an executor of its own.
fn live(data: &Path, fault: Fault, nth: u64) -> Told {
    let (sender, receiver) = mpsc::channel();
    let seed = (sender, data.to_owned());
    let running = runtime::start(vec![seed], move |core, (sender, data)| async move {
        let plan = Plan::new(fault, nth);
        let env = faulty(core.env, Rc::clone(&plan));
        let told = RefCell::new(Told::default());
        match start(&env, &data).await {
            Err(why) => told.borrow_mut().start_failure = Some(why),
            Ok(node) => {
                // The process ends with its story, or at once where a log fails.
                let mut whole = pin!(async {
                    story(&node, &told).await;
                    node.stop().await;
                });
                let mut failed = pin!(node.log_failed());
                let mut late = pin!(env.clock().sleep(PATIENCE));
                poll_fn(|context| {
                    if let Poll::Ready(why) = failed.as_mut().poll(context) {
                        told.borrow_mut().log_failure = Some(why);
                        return Poll::Ready(());
                    }
                    if late.as_mut().poll(context).is_ready() {
                        told.borrow_mut().is_late = true;
                        return Poll::Ready(());
                    }
                    whole.as_mut().poll(context)
                })
                .await;
            }
        }
        let mut told = told.take();
        (told.calls, told.met) = (plan.count(), plan.met.borrow().clone());
        sender.send(told).expect("the test waits");
    })
    .expect("this machine can run an executor");
    let told = receiver.recv().expect("the executor answers");
    running.join().expect("nothing panics");
    told
}

/// Starts on a healthy disk and compares what is there with what was told.
fn inspect(data: &Path, told: &Told) -> Result<(), String> {
    let (sender, receiver) = mpsc::channel();
    let seed = (sender, data.to_owned(), told.clone());
    let running = runtime::start(vec![seed], |core, (sender, data, told)| async move {
        let env = faulty(core.env, Plan::new(Fault::Io, 0));
        sender.send(compare(&env, &data, &told).await).expect("the test waits");
    })
    .expect("this machine can run an executor");
    let compared = receiver.recv().expect("the executor answers");
    running.join().expect("nothing panics");
    compared
}

async fn compare(env: &FaultyEnv<RuntimeEnv>, data: &Path, told: &Told) -> Result<(), String> {
    let node = start(env, data).await?;
    let state = node.state();
    if told.has_second.is_some_and(|there| there != state.index("second").is_some()) {
        return Err(format!("the second index should be there: {:?}", told.has_second));
    }
    if told.has_index && state.index("docs").is_none() {
        return Err("an index that was acknowledged is gone".into());
    }
    if state.index("docs").is_some() {
        documents(&node, told).await?;
    }
    let again = RefCell::new(Told::default());
    write(&node, &again, &[(1, 99)]).await;
    if again.borrow().facts[&1] != BTreeSet::from([99]) {
        return Err("no write is taken".into());
    }
    node.stop().await;
    Ok(())
}

/// Each document has a value that it may have, by its id and by a search.
async fn documents(node: &Node, told: &Told) -> Result<(), String> {
    let nothing = BTreeSet::from([0]);
    let mut living = BTreeSet::new();
    for id in 1..=IDS {
        let request = GetRequest {
            index: "docs".to_owned(),
            id: id.to_string(),
            routing: None,
            realtime: true,
            refresh: false,
            version: None,
            version_type: VersionType::Internal,
            source: SourceFilter::default(),
            stored_fields: std::sync::Arc::default(),
        };
        let found = node.get(&Everything, &request).await.map_err(|error| error.reason)?;
        let source = found.found.and_then(|found| found.source);
        let value = source.map_or(0, |source| {
            let source = json::parse(&source).expect("as it was written");
            source.get("value").and_then(json::Value::as_u64).expect("as it was written")
        });
        let may = told.facts.get(&id).unwrap_or(&nothing);
        if !may.contains(&value) {
            return Err(format!("document {id} is {value}, it may be {may:?}"));
        }
        if value > 0 {
            living.insert(id.to_string());
        }
    }
    let refreshed = node.refresh(&Everything, "docs", IndicesOptions::default()).await;
    refreshed.map_err(|error| error.reason)?;
    let call = SearchCall {
        indices: "docs".to_owned(),
        body: Bytes::from(br#"{"size":100}"#.to_vec()),
        ..SearchCall::default()
    };
    let reply = node.search(&Everything, &call).await.map_err(|error| error.reason)?;
    let hits: Vec<String> = reply.result.hits.iter().filter_map(|hit| hit.id.clone()).collect();
    if hits.len() != living.len() || hits.into_iter().collect::<BTreeSet<_>>() != living {
        return Err(format!("a search finds other documents than {living:?}"));
    }
    Ok(())
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let path = base.join(format!("sweep-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("writable");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}

fn sweep(fault: Fault) {
    let folder = Folder::new("healthy");
    let healthy = live(&folder.0, fault, 0);
    assert_eq!(healthy.log_failure, None);
    assert_eq!(healthy.facts.get(&1), Some(&BTreeSet::from([31])), "{healthy:?}");
    inspect(&folder.0, &healthy).expect("nothing went wrong");
    // Without `SWEEP=all`: a part of the calls, another one in each build.
    let stride = if std::env::var("SWEEP").is_ok_and(|what| what == "all") { 1 } else { 9 };
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    let mut failures = Vec::new();
    for nth in (1..=healthy.calls).step_by(stride) {
        let folder = Folder::new("faulty");
        let told = live(&folder.0, fault, nth);
        let end = match &told {
            Told { log_failure: Some(_), .. } => "the log failed",
            Told { start_failure: Some(_), .. } => "it did not start",
            Told { is_late: true, .. } => "the story waited for ever",
            Told { met: None, .. } => "no such call",
            _ => "it went on",
        };
        *ends.entry(end).or_default() += 1;
        if told.is_late {
            failures.push(format!("call {nth}, {:?}: {told:?}", told.met));
        }
        if let Err(why) = inspect(&folder.0, &told) {
            failures.push(format!("call {nth}, {:?}: {why}; {told:?}", told.met));
        }
    }
    println!("{fault:?}: {} calls, every {stride}th: {ends:?}", healthy.calls);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn no_io_error_loses_what_was_acknowledged() {
    sweep(Fault::Io);
}

#[test]
fn no_short_write_loses_what_was_acknowledged() {
    sweep(Fault::Short);
}

#[test]
fn no_full_disk_loses_what_was_acknowledged() {
    sweep(Fault::NoSpace);
}
