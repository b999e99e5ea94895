//! What the writer promises while nothing is cut: order, groups, refusals, failures, files.

mod story;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use env::{Clock, Env, ErrorKind, Spawn};
use sim::{Call, Sim};
use story::{DIR, Shared, append, config, read_all, record, reopen, write_a_while};
use wal::{Config, Error, LogPosition, Reader, Reserve, Writer};

/// A log that 64 writers use for a while: appends done, and syncs that took.
fn syncs_of(writers: u64, rounds: u64) -> (u64, u64) {
    let sim = Sim::new(writers);
    let env = sim.env();
    // Long files: only batches sync.
    let config = Config { file_bytes_min: 16 << 20, file_bytes_max: 16 << 20, ..config() };
    let writer = sim.run(async move { Writer::create(&env, config, 1, None).await });
    let writer = writer.expect("a fresh disk");
    let before = sim.changes();
    let done = Rc::new(Cell::new(0));
    for task in 0..writers {
        let (writer, done) = (writer.clone(), Rc::clone(&done));
        sim.env().spawn().spawn(async move {
            for round in 0..rounds {
                let seq_no = task * rounds + round;
                let durable = writer.append(record(seq_no, 100)).expect("there is room").await;
                durable.expect("a healthy disk");
                done.set(done.get() + 1);
            }
        });
    }
    let env = sim.env();
    let theirs = Rc::clone(&done);
    sim.run(async move {
        while theirs.get() < writers * rounds {
            env.clock().sleep(Duration::from_millis(1)).await;
        }
    });
    // Each batch is a write and a sync.
    (done.get(), (sim.changes() - before) / 2)
}

#[test]
fn writers_who_wait_together_share_a_sync() {
    let (appends, syncs) = syncs_of(64, 50);
    assert!(syncs * 12 < appends, "{appends} appends took {syncs} syncs");
    let (appends, syncs) = syncs_of(1, 50);
    assert_eq!(appends, syncs, "a lone writer waits for nobody");
}

#[test]
fn records_lie_in_the_order_of_their_appends_and_a_promise_covers_all_before() {
    for seed in 0..30 {
        let sim = Sim::new(seed);
        let env = sim.env();
        let told = Rc::new(RefCell::new(Vec::new()));
        let theirs = Rc::clone(&told);
        sim.run(async move {
            let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
            for seq_no in 0..40 {
                let len = if seq_no % 7 == 0 { 9000 } else { 50 };
                let append = writer.append(record(seq_no, len)).expect("there is room");
                let (writer, theirs) = (writer.clone(), Rc::clone(&theirs));
                env.spawn().spawn(async move {
                    let durable = append.await.expect("a healthy disk");
                    assert!(durable.position() <= writer.synced());
                    theirs.borrow_mut().push((seq_no, durable.position()));
                });
                if seq_no % 3 == 0 {
                    env.clock().sleep(Duration::from_micros(seq_no * 40)).await;
                }
            }
            writer.close().await.expect("a healthy disk");
        });
        sim.run_for(Duration::from_secs(1));
        let mut told = told.borrow().clone();
        assert_eq!(told.len(), 40, "seed {seed}");
        told.sort_unstable();
        assert!(told.is_sorted_by_key(|(_, position)| *position), "seed {seed}: {told:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_before_it_is_taken_in() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let config = Config { unsynced_bytes_max: 10_000, ..config() };
        let writer = Writer::create(&env, config, 1, None).await.expect("a fresh disk");
        let huge = wal::Record { payload: vec![0; (256 << 20) + 1], ..record(0, 0) };
        let refused = writer.append(huge).err().expect("too large");
        assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
        // Larger than may wait, but nobody else waits.
        let first = writer.append(record(0, 20_000)).expect("one record always fits");
        let refused = writer.append(record(1, 1)).err().expect("it must wait");
        assert!(matches!(refused, Error::Full { .. }), "{refused}");
        assert!(refused.is_refusal());
        first.await.expect("a healthy disk");
        writer.append(record(1, 1)).expect("room again").await.expect("a healthy disk");
    });
}

#[test]
fn a_failed_sync_or_write_ends_the_log_and_is_told_to_all() {
    for (call, kind) in [
        (Call::Sync, ErrorKind::Io),
        (Call::Write, ErrorKind::Io),
        (Call::Write, ErrorKind::Denied),
    ] {
        for seed in 0..20 {
            let sim = Sim::new(seed);
            let model = Shared::default();
            let (env, theirs) = (sim.env(), Rc::clone(&model));
            let writer = sim.run(async move {
                let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
                append(&writer, &theirs, 100).await.expect("a healthy disk");
                writer
            });
            sim.fail(call, "log-000001", 1 + seed % 3, kind);
            let failures = Rc::new(Cell::new(0));
            for task in 0..10u64 {
                let (env, writer, model, failures) =
                    (sim.env(), writer.clone(), Rc::clone(&model), Rc::clone(&failures));
                sim.env().spawn().spawn(async move {
                    env.clock().sleep(Duration::from_micros(task * 300)).await;
                    match append(&writer, &model, 100).await {
                        Ok(()) => {}
                        Err(Error::Failed(error)) => {
                            assert_eq!(error.kind, kind);
                            failures.set(failures.get() + 1);
                        }
                        Err(other) => panic!("{other}"),
                    }
                });
            }
            let failed = writer.clone();
            let error = sim.run(async move { failed.failed().await }).expect("it failed");
            assert!(error.is_fatal());
            sim.run_for(Duration::from_secs(1));
            assert!(failures.get() > 0, "seed {seed}");
            assert!(writer.append(record(99, 1)).err().expect("it failed").is_fatal());
            assert!(sim.run(writer.close()).expect_err("it failed").is_fatal());
            // The process ends. What was promised is there, whatever the disk threw away.
            sim.crash();
            let (env, theirs) = (sim.env(), Rc::clone(&model));
            let context = format!("{call:?} {kind:?} seed {seed}");
            sim.run(async move { reopen(&env, &theirs, &context).await });
        }
    }
}

#[test]
fn a_record_that_may_wait_is_written_in_its_time() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
        let delay = Duration::from_secs(5);
        writer.append_within(record(0, 10), delay).expect("there is room");
        env.clock().sleep(Duration::from_secs(4)).await;
        assert_eq!(writer.synced(), LogPosition::ZERO, "nobody is in a hurry");
        env.clock().sleep(Duration::from_millis(1100)).await;
        assert_eq!(writer.synced(), LogPosition(1));
        // One who waits takes those before along.
        writer.append_within(record(1, 10), delay).expect("there is room");
        let append = writer.append(record(2, 10)).expect("there is room");
        let position = append.await.expect("a healthy disk").position();
        writer.append_within(record(3, 10), delay).expect("there is room");
        assert_eq!(writer.sync().await, Ok(position.next()));
        assert_eq!(writer.sync().await, Ok(position.next()), "nothing is left to sync");
    });
}

#[test]
fn an_idle_log_says_once_that_it_is_synced() {
    let sim = Sim::new(1);
    let env = sim.env();
    let writer = sim.run(async move {
        let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
        let append = writer.append(record(0, 10)).expect("there is room");
        append.await.expect("a healthy disk");
        writer
    });
    sim.run_for(Duration::from_secs(1));
    assert_eq!(writer.synced(), LogPosition(2));
    let changes = sim.changes();
    sim.run_for(Duration::from_secs(100));
    assert_eq!(sim.changes(), changes, "an idle log is quiet");
    let env = sim.env();
    let (batches, _) =
        sim.run(async move { read_all(&env, LogPosition::ZERO).await }).expect("it is well");
    assert_eq!(batches[1].records, []);
}

#[test]
fn a_dropped_writer_writes_what_it_took_in() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
        drop(writer.append(record(0, 10)).expect("there is room"));
    });
    sim.run_for(Duration::from_secs(1));
    sim.crash();
    let env = sim.env();
    let (batches, _) =
        sim.run(async move { read_all(&env, LogPosition::ZERO).await }).expect("it is well");
    assert_eq!(batches[0].records, [record(0, 10)]);
}

#[test]
fn a_closed_log_takes_nothing() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
        drop(writer.append(record(0, 10)).expect("there is room"));
        writer.close().await.expect("a healthy disk");
        writer.close().await.expect("closing twice is closing once");
        assert_eq!(writer.append(record(1, 1)).err(), Some(Error::Closed));
        assert_eq!(writer.sync().await, Err(Error::Closed));
        assert_eq!(writer.synced(), LogPosition(2), "the record, and the word that it is synced");
        assert_eq!(writer.failure(), None);
    });
}

#[test]
fn files_grow_while_much_is_written_and_go_when_released() {
    let sim = Sim::new(1);
    let model = Shared::default();
    let (env, theirs) = (sim.env(), Rc::clone(&model));
    let writer = sim.run(async move {
        let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
        write_a_while(&env, &writer, &theirs, 8).await;
        writer
    });
    sim.run_for(Duration::from_secs(1));
    let lens: Vec<usize> = sim
        .names(DIR)
        .iter()
        .map(|name| sim.bytes(format!("{DIR}/{name}")).expect("it is listed").len())
        .collect();
    assert!(lens.len() > 2, "{lens:?}");
    assert_eq!(lens[0], 32 << 10);
    assert!(lens.contains(&(128 << 10)), "{lens:?}");
    assert!(writer.bytes() > 100_000);
    // All is released and nothing is written: one small file is left.
    let (theirs, through) = (writer.clone(), writer.synced());
    sim.run(async move { theirs.release(through).await }).expect("a healthy disk");
    assert!(writer.bytes() <= 4096, "{} bytes", writer.bytes());
    let names = sim.names(DIR);
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(sim.bytes(format!("{DIR}/{}", names[0])).map(|b| b.len()), Some(32 << 10));
    // The released position is all that is needed to open it.
    sim.crash();
    let env = sim.env();
    let (batches, reader) =
        sim.run(async move { read_all(&env, through).await }).expect("it is well");
    assert!(batches.iter().all(|batch| batch.records.is_empty()));
    assert!(reader.position() > through);
    let env = sim.env();
    let gap = sim.run(async move { read_all(&env, through.previous().previous()).await });
    assert!(matches!(gap, Err(Error::Gap { .. })), "records are missing there");
}

/// Who looked for room made the file that the log was about to make for a record longer than a file: both removed,
/// made and named the same one, and the log ended.
#[test]
fn who_looks_for_room_makes_no_file_beside_the_log() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let model = Shared::default();
        let env = sim.env();
        let writer = sim.run(async move { Writer::create(&env, config(), 1, None).await });
        let writer = writer.expect("a fresh disk");
        for _ in 0..3 {
            let (env, writer, model) = (sim.env(), writer.clone(), Rc::clone(&model));
            sim.env().spawn().spawn(async move {
                for _ in 0..8 {
                    writer.look_for_room(200_000).await.expect("there is room");
                    match append(&writer, &model, 200_000).await {
                        Ok(()) => {}
                        Err(error) if error.is_refusal() => {
                            env.clock().sleep(Duration::from_millis(1)).await;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        sim.run_for(Duration::from_secs(5));
        assert_eq!(writer.failure(), None, "seed {seed}");
        sim.crash();
        let env = sim.env();
        sim.run(async move { reopen(&env, &model, "after long records").await });
    }
}

#[test]
fn a_full_disk_refuses_until_there_is_room_again() {
    let sim = Sim::new(1);
    let model = Shared::default();
    let (env, theirs) = (sim.env(), Rc::clone(&model));
    let writer = sim.run(async move {
        let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
        append(&writer, &theirs, 100).await.expect("there is room");
        writer
    });
    sim.set_free_bytes(4096);
    let mut taken = 0;
    let refused = loop {
        let (writer, model) = (writer.clone(), Rc::clone(&model));
        match sim.run(async move { append(&writer, &model, 100).await }) {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
        // Lets the attempt to make the next file fail.
        sim.run_for(Duration::from_millis(50));
        assert!(taken < 100, "the disk is full");
    };
    assert!(matches!(refused, Error::NoSpace { .. }), "{refused}");
    assert!(refused.is_refusal());
    // Seven blocks for batches, some of them for the word that all is synced.
    assert!(taken >= 4, "the file was used to its end: {taken}");
    assert_eq!(writer.failure(), None, "the log lives on");
    sim.set_free_bytes(1 << 20);
    sim.run_for(Duration::from_secs(2));
    let (theirs, shared) = (writer.clone(), Rc::clone(&model));
    let first = sim.run(async move { append(&theirs, &shared, 100).await });
    assert!(first.is_err_and(|error| error.is_refusal()), "the file is being made");
    sim.run_for(Duration::from_millis(100));
    let (theirs, shared) = (writer.clone(), Rc::clone(&model));
    sim.run(async move { append(&theirs, &shared, 100).await }).expect("there is room again");
    sim.crash();
    let (env, theirs) = (sim.env(), Rc::clone(&model));
    sim.run(async move { reopen(&env, &theirs, "after the full disk").await });
}

#[test]
fn the_reserve_saves_what_was_taken_in() {
    let run = |with_reserve: bool| {
        let sim = Sim::new(1);
        let model = Shared::default();
        let env = sim.env();
        let reserve = sim.run(async move {
            Reserve::open(&env, "/reserve-0", 1 << 20).await.expect("a fresh disk")
        });
        sim.run_for(Duration::from_secs(1));
        assert!(reserve.is_full());
        let reserve = with_reserve.then_some(reserve);
        let env = sim.env();
        let writer = sim.run(async move { Writer::create(&env, config(), 1, reserve).await });
        let writer = writer.expect("a fresh disk");
        sim.set_free_bytes(0);
        // Larger than the file: it is taken in before anybody knows that there is no room.
        let theirs = Rc::clone(&model);
        let answer = sim.run(async move { append(&writer, &theirs, 50_000).await });
        // A crash may bring it back: its folder is not synced.
        assert_eq!(sim.bytes("/reserve-0").is_none(), answer.is_ok());
        sim.crash();
        if answer.is_ok() {
            let env = sim.env();
            sim.run(async move { reopen(&env, &model, "with the reserve spent").await });
        }
        answer
    };
    run(true).expect("the reserve is given up for it");
    let starved = run(false).expect_err("there is no room at all");
    assert!(matches!(starved, Error::NoRoom(_)), "{starved}");
    assert!(!starved.is_fatal(), "the process lives on");
    assert!(!starved.is_refusal(), "but this log does not");
}

/// Whoever waited for the file in the reserve's place was woken instead of the one who writes, and waited for it
/// for ever.
#[test]
fn a_log_at_rest_takes_what_the_reserve_makes_way_for() {
    let sim = Sim::new(1);
    let model = Shared::default();
    let (env, theirs) = (sim.env(), Rc::clone(&model));
    let writer = sim.run(async move {
        let reserve = Reserve::open(&env, "/reserve-0", 1 << 20).await.expect("a fresh disk");
        env.clock().sleep(Duration::from_secs(1)).await;
        let writer = Writer::create(&env, config(), 1, Some(reserve)).await.expect("a fresh disk");
        append(&writer, &theirs, 100).await.expect("there is room");
        writer
    });
    sim.set_free_bytes(4096);
    for at in 0.. {
        let (writer, model) = (writer.clone(), Rc::clone(&model));
        if sim.run(async move { append(&writer, &model, 100).await }).is_err() {
            break;
        }
        sim.run_for(Duration::from_millis(50));
        assert!(at < 100, "the disk is full");
    }
    // The log has said that all is synced, and nothing will wake the one who writes.
    sim.run_for(Duration::from_secs(60));
    let theirs = Rc::clone(&model);
    sim.run(async move {
        assert!(writer.make_way(100).await, "in the reserve's place");
        append(&writer, &theirs, 100).await.expect("there is room");
    });
}

#[test]
fn a_log_is_made_once_and_opened_only_where_it_stands() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let missing = Reader::open(&env, config(), LogPosition::ZERO).await.err();
        assert!(matches!(missing, Some(Error::NoLog { .. })));
        let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
        writer.close().await.expect("a healthy disk");
        let again = Writer::create(&env, config(), 1, None).await.err();
        assert!(matches!(again, Some(Error::AlreadyExists { .. })));
        let later = read_all(&env, LogPosition(1)).await.err();
        assert!(
            matches!(later, Some(Error::Corrupt { .. })),
            "shorter than was released: {later:?}"
        );
    });
}
