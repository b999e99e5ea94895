//! Whole runs on a simulated machine.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use env::disk::Watched;
use env::{Bytes, Clock, Disk, Env, ErrorKind, File, Random, Spawn, Stream};
use sim::{Call, Lie, Sim, SimEnv};

/// A little of everything.
async fn work_a_while(env: SimEnv) {
    let dir = Path::new("/data");
    env.disk().create_dir(dir).await.expect("a fresh disk");
    let file = Rc::new(env.disk().create(&dir.join("f")).await.expect("a new name"));
    let done = Rc::new(Cell::new(0));
    for number in 0..10u64 {
        let (env2, file, done) = (env.clone(), Rc::clone(&file), Rc::clone(&done));
        env.spawn().spawn(async move {
            env2.clock().sleep(Duration::from_millis(env2.random().next_u64() % 10)).await;
            file.write_at(file.buffer(4096), number * 4096).await.expect("there is room");
            file.sync_all().await.expect("a healthy disk");
            let double = env2.spawn().work(move || number * 2).await.expect("a worker");
            done.set(done.get() + double);
        });
    }
    while done.get() < 90 {
        env.clock().sleep(Duration::from_millis(1)).await;
        env.spawn().yield_if_needed().await;
    }
    env.disk().save(&dir.join("s"), Bytes::from(vec![1, 2, 3])).await.expect("a healthy disk");
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let trace = |seed| {
        let sim = Sim::new(seed);
        sim.run(work_a_while(sim.env()));
        sim.crash();
        (sim.trace(), sim.now(), sim.bytes("/data/s"), sim.bytes("/data/f"))
    };
    for seed in 0..20 {
        assert_eq!(trace(seed), trace(seed), "seed {seed}");
    }
    assert_ne!(trace(1).0, trace(2).0);
}

#[test]
fn a_mark_tells_of_names_and_of_the_bytes_of_some_files() {
    let sim = Sim::new(1);
    for name in ["a", "b", "c"] {
        sim.plant(format!("/data/{name}"), b"one");
    }
    let mark = || {
        let env = sim.env();
        let names = ["a", "b"].map(str::to_owned);
        let watch = |folder: &str| Watched { folder: folder.into(), names: names.clone().into() };
        let watched = vec![watch("/data"), watch("/none")];
        sim.run(async move { env.disk().marks(watched).await.expect("a disk") })
    };
    let first = mark();
    assert_eq!((first.len(), mark()), (2, first.clone()), "nothing happened");
    let mut seen = vec![first[0]];
    sim.plant("/data/c", b"two");
    assert_eq!(mark(), first, "this one is not asked for");
    sim.plant("/data/b", b"two");
    seen.push(mark()[0]);
    sim.plant("/data/d", b"new");
    seen.push(mark()[0]);
    let distinct: std::collections::BTreeSet<u64> = seen.iter().copied().collect();
    assert_eq!(distinct.len(), 3, "{seen:?}");
}

#[test]
fn power_may_go_at_every_change() {
    let sim = Sim::new(1);
    sim.run(work_a_while(sim.env()));
    let changes = sim.changes();
    assert!(changes > 25, "{changes} changes");
    for nth in 1..=changes {
        let sim = Sim::new(nth);
        sim.cut_power_at(nth);
        assert!(sim.run_until_cut(work_a_while(sim.env())).is_none(), "cut at {nth}");
        // Saved whole or not at all, and the machine works again.
        assert!(sim.bytes("/data/s").is_none_or(|bytes| bytes == [1, 2, 3]), "cut at {nth}");
        let env = sim.env();
        sim.run(async move {
            env.disk().create_dir(Path::new("/data")).await.expect("a healthy disk");
            env.disk().save(Path::new("/data/s"), Bytes::empty()).await.expect("a healthy disk");
        });
        sim.crash();
        assert_eq!(sim.bytes("/data/s"), Some(vec![]), "a save that has ended is durable");
    }
}

#[test]
fn a_life_that_ended_does_nothing_more() {
    let sim = Sim::new(3);
    let old = sim.env();
    let env = old.clone();
    sim.run(async move { env.disk().create_dir(Path::new("/d")).await.expect("fresh") });
    let env = old.clone();
    old.spawn().spawn(async move {
        env.clock().sleep(Duration::from_secs(1)).await;
        env.disk().save(Path::new("/d/ghost"), Bytes::empty()).await.expect("never reached");
    });
    sim.kill();
    sim.run_for(Duration::from_secs(5));
    assert!(sim.names("/d").is_empty());
    // A handle kept by mistake is as dead as its process.
    let over = Rc::new(Cell::new(false));
    let flag = Rc::clone(&over);
    sim.env().spawn().spawn(async move {
        let _ = old.disk().create(Path::new("/d/ghost")).await;
        flag.set(true);
    });
    sim.run_for(Duration::from_secs(5));
    assert!(!over.get());
    assert!(sim.names("/d").is_empty());
}

#[test]
fn a_planned_fault_meets_its_call() {
    let sim = Sim::new(4);
    sim.fail(Call::Sync, "f", 2, ErrorKind::Io);
    let env = sim.env();
    let answers = sim.run(async move {
        let file = env.disk().create(Path::new("/f")).await.expect("a new name");
        let mut answers = Vec::new();
        for _ in 0..3 {
            answers.push(file.sync_all().await.map_err(|error| error.kind));
        }
        answers
    });
    assert_eq!(answers, [Ok(()), Err(ErrorKind::Io), Ok(())]);
}

#[test]
fn a_write_goes_on_where_nobody_waits_for_it() {
    let sim = Sim::new(5);
    let env = sim.env();
    let file = sim.run(async move {
        let file = env.disk().create(Path::new("/f")).await.expect("a new name");
        let mut buffer = file.buffer(4096);
        buffer.as_mut().fill(9);
        let mut write = Box::pin(file.write_at(buffer, 0));
        let polled = std::future::poll_fn(|context| {
            std::task::Poll::Ready(write.as_mut().poll(context).is_pending())
        });
        assert!(polled.await, "a write takes a while");
        drop(write);
        file
    });
    sim.run_for(Duration::from_secs(1));
    drop(file);
    assert_eq!(sim.bytes("/f"), Some(vec![9; 4096]));
}

#[test]
fn a_stream_carries_all_bytes_in_order_and_ends() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let (mut near, mut far) = sim.stream_pair();
        let sent: Vec<u8> = (0..200_000u32).map(|i| i as u8).collect();
        let bytes = sent.clone();
        sim.env().spawn().spawn(async move {
            near.write_all(&bytes).await.expect("the other side reads");
            near.close().await.expect("it is open");
        });
        let received = sim.run(async move {
            let mut received = Vec::new();
            let mut buffer = [0; 5000];
            loop {
                match far.read(&mut buffer).await.expect("the other side closes well") {
                    0 => return received,
                    count => received.extend_from_slice(&buffer[..count]),
                }
            }
        });
        assert!(received == sent, "seed {seed}");
    }
}

#[test]
fn a_broken_stream_says_so() {
    let sim = Sim::new(6);
    let (mut near, far) = sim.stream_pair();
    far.reset();
    let kinds = sim.run(async move {
        let written = near.write_all(b"x").await.expect_err("reset").kind;
        (written, near.read(&mut [0; 8]).await.expect_err("reset").kind)
    });
    assert_eq!(kinds, (ErrorKind::Disconnected, ErrorKind::Disconnected));
}

#[test]
fn mailboxes_wake_tasks_here_too() {
    let sim = Sim::new(7);
    let (sender, mut receiver) = env::mailbox::channel::<u32>(1024);
    let env = sim.env();
    sim.env().spawn().spawn(async move {
        for number in 0..50 {
            env.clock().sleep(Duration::from_micros(u64::from(number))).await;
            sender.send(number, 1).expect("room for all");
        }
    });
    let got = sim.run(async move {
        let mut got = Vec::new();
        while receiver.receive(&mut got).await {}
        got
    });
    assert_eq!(got, (0..50).collect::<Vec<_>>());
}

#[test]
#[should_panic(expected = "nothing can go on, seed 8")]
fn a_deadlock_is_told_with_its_seed() {
    Sim::new(8).run(std::future::pending::<()>());
}

#[test]
fn sleepers_wake_in_the_order_of_their_times() {
    let sim = Sim::new(9);
    let order = Rc::new(RefCell::new(Vec::new()));
    for seconds in [30u64, 10, 20] {
        let (env, order) = (sim.env(), Rc::clone(&order));
        sim.env().spawn().spawn(async move {
            env.clock().sleep(Duration::from_secs(seconds)).await;
            order.borrow_mut().push((seconds, env.clock().monotonic().as_secs()));
        });
    }
    sim.run_for(Duration::from_secs(60));
    assert_eq!(*order.borrow(), [(10, 10), (20, 20), (30, 30)]);
}

/// Writes page after page, each with its number, and syncs after each.
async fn write_pages(env: SimEnv, count: u8) {
    let file = env.disk().create(Path::new("/f")).await.expect("a new name");
    for number in 1..=count {
        let mut buffer = file.buffer(4096);
        buffer.as_mut().fill(number);
        file.write_at(buffer, (u64::from(number) - 1) * 4096).await.expect("there is room");
        file.sync_all().await.expect("a healthy disk");
    }
    env.disk().sync_dir(Path::new("/")).await.expect("it stands");
}

#[test]
fn a_lying_disk_says_that_it_has_written() {
    let pages = |lie, crashes: bool| {
        let sim = Sim::new(10);
        sim.lie(lie, "/f", 2);
        sim.run(write_pages(sim.env(), 3));
        assert_eq!(sim.lies_told(), [(lie, "/f".to_owned())]);
        if crashes {
            sim.crash();
        }
        let bytes = sim.bytes("/f").expect("its name is safe");
        bytes.chunks(4096).map(|page| page[0]).collect::<Vec<u8>>()
    };
    assert_eq!(pages(Lie::Lost, false), [1, 0, 3]);
    // The second page lies where the first was; its own place was never written.
    assert_eq!(pages(Lie::Misdirected, true), [2, 0, 3]);
    assert_eq!(pages(Lie::Stale, false), [1, 2, 3]);
    assert_eq!(pages(Lie::Stale, true), [1, 0, 3]);
}

#[test]
fn calls_take_long_where_the_disk_has_spikes() {
    let took = |per_mille| {
        let sim = Sim::new(11);
        sim.set_spikes(per_mille, Duration::from_secs(10));
        sim.run(write_pages(sim.env(), 20));
        sim.now()
    };
    assert!(took(0) < Duration::from_secs(1));
    assert!(took(500) > Duration::from_secs(10));
}

#[test]
fn the_calendar_jumps_and_the_clock_goes_on() {
    let sim = Sim::new(12);
    let env = sim.env();
    let (before, monotonic) = (env.clock().unix_ms(), env.clock().monotonic());
    sim.jump_calendar(-3_600_000);
    assert_eq!(env.clock().unix_ms(), before - 3_600_000);
    assert_eq!(env.clock().monotonic(), monotonic);
}

#[test]
fn what_was_due_in_a_pause_is_due_after_it() {
    let sim = Rc::new(Sim::new(13));
    let (env, machine) = (sim.env(), Rc::clone(&sim));
    let woke = Rc::new(Cell::new(Duration::ZERO));
    let (sleeper, told) = (sim.env(), Rc::clone(&woke));
    sim.env().spawn().spawn(async move {
        sleeper.clock().sleep(Duration::from_secs(1)).await;
        told.set(sleeper.clock().monotonic());
    });
    sim.run(async move {
        env.clock().sleep(Duration::from_millis(500)).await;
        machine.pause(Duration::from_secs(60));
        env.clock().sleep(Duration::from_millis(1)).await;
    });
    assert!(woke.get() >= Duration::from_secs(60));
    assert!(woke.get() < Duration::from_secs(61));
    sim.kill();
}
