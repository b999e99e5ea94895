//! The rules of a shard, one by one: versions, conflicts, reigns, memory, disk space.

mod harness;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::{PrimaryTerm, SeqNo};
use env::budget::Budget;
use env::{Clock, Env, Spawn};
use harness::*;
use mapping::analysis::Registry;
use mapping::{Mapping, Settings};
use shard::{Check, Conflict, Error, Outcome, Realtime, Setup, Shard, ShardConfig, WriteError};
use sim::{Call, Sim};

#[test]
fn versions_and_numbers_count_as_elasticsearch_counts() {
    story(config(), |_, shard| async move {
        let told = [
            (put("a", "x"), (0, 1, Outcome::Created)),
            (delete("a"), (1, 2, Outcome::Deleted)),
            (delete("a"), (2, 3, Outcome::NotFound)),
            (put("a", "x").create(), (3, 4, Outcome::Created)),
            (delete("never"), (4, 1, Outcome::NotFound)),
            (put("a", "y"), (5, 5, Outcome::Updated)),
        ];
        for (op, expected) in told {
            assert_eq!(facts(&wrote(&shard, op).await), expected);
        }
        assert_eq!(shard.stats().seq_no_max, Some(5));
        assert_eq!(shard.primary_term(), PrimaryTerm(1));
    });
}

#[test]
fn conflicts_tell_what_stands_there_and_take_no_number() {
    story(config(), |_, shard| async move {
        wrote(&shard, put("a", "x")).await;
        let conflict = |answer| match answer {
            Err(WriteError::Conflict(conflict)) => conflict,
            other => panic!("{other:?}"),
        };
        let exists = conflict(write(&shard, put("a", "y").create()).await);
        assert_eq!(exists, Conflict::Exists { version: 1 });
        assert_eq!(
            exists.to_string(),
            "version conflict, document already exists (current version [1])"
        );
        let other = Check::SeqNo { seq_no: SeqNo(5), term: PrimaryTerm(1) };
        let moved = conflict(write(&shard, put("a", "y").check(other)).await);
        assert_eq!(
            moved.to_string(),
            "version conflict, required seqNo [5], primary term [1]. current document has \
             seqNo [0] and primary term [1]"
        );
        let missing = conflict(write(&shard, delete("b").check(other)).await);
        assert_eq!(
            missing.to_string(),
            "version conflict, required seqNo [5], primary term [1]. but no document was found"
        );
        let old = conflict(write(&shard, put("a", "y").check(Check::External(1))).await);
        assert_eq!(
            old.to_string(),
            "version conflict, current version [1] is higher or equal to the one provided [1]"
        );
        let older = conflict(write(&shard, put("a", "y").check(Check::ExternalGte(0))).await);
        assert_eq!(
            older.to_string(),
            "version conflict, current version [1] is higher than the one provided [0]"
        );
        assert_eq!(shard.stats().refused_count, 0, "a conflict is an answer, not a refusal");
        assert_eq!(shard.stats().conflict_count, 4, "of the five, one was a delete");
        let here = Check::SeqNo { seq_no: SeqNo(0), term: PrimaryTerm(1) };
        assert_eq!(
            facts(&wrote(&shard, put("a", "y").check(here)).await),
            (1, 2, Outcome::Updated)
        );
    });
}

#[test]
fn operations_of_one_batch_see_those_before_them() {
    story(config(), |_, shard| async move {
        let ops = [
            put("a", "x").create(),
            put("a", "y").create(),
            delete("a"),
            put("a", "z").create(),
            put("b", "x").check(Check::External(7)),
            put("b", "y").check(Check::External(7)),
        ];
        let answers = shard.write(batch(&ops)).await;
        let versions: Vec<Option<u64>> =
            answers.iter().map(|it| it.as_ref().ok().map(|it| it.version)).collect();
        assert_eq!(versions, [Some(1), None, Some(2), Some(3), Some(7), None]);
        let found = shard.get("a", Realtime::Yes).await.expect("usable").expect("it is there");
        assert_eq!(&found.source[..], ops[3].source.as_ref().expect("a put").as_bytes());
        assert_eq!((found.seq_no, found.version), (SeqNo(2), 3));
    });
}

#[test]
fn two_creates_in_flight_make_one_document() {
    for seed in 0..50 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async {
            let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
            let told: Rc<RefCell<Vec<bool>>> = Rc::default();
            for at in 0..8 {
                let (shard, told) = (shard.clone(), Rc::clone(&told));
                env.spawn().spawn(async move {
                    let made = write(&shard, put("a", &format!("t{at}")).create()).await;
                    told.borrow_mut().push(made.is_ok());
                });
            }
            env.clock().sleep(10 * SECOND).await;
            let told = told.borrow();
            assert_eq!(told.len(), 8, "seed {seed}");
            assert_eq!(told.iter().filter(|made| **made).count(), 1, "seed {seed}");
        });
    }
}

#[test]
fn many_operations_in_flight_on_one_id_make_one_history() {
    for seed in 0..40 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async {
            let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
            let told: Rc<RefCell<Vec<(u64, u64, Outcome)>>> = Rc::default();
            for task in 0..6 {
                let (shard, told, sim) = (shard.clone(), Rc::clone(&told), &sim);
                let pause: Vec<u64> = (0..20).map(|_| sim.below(4000)).collect();
                let env = env.clone();
                env.clone().spawn().spawn(async move {
                    for (at, pause) in pause.into_iter().enumerate() {
                        let op = match (task + at) % 3 {
                            0 => delete("a"),
                            1 => put("a", &format!("t{task}n{at}")),
                            _ => put("a", &format!("t{task}n{at}")).create(),
                        };
                        if let Ok(written) = write(&shard, op).await {
                            told.borrow_mut().push(facts(&written));
                        }
                        env.clock().sleep(Duration::from_micros(pause)).await;
                    }
                });
            }
            env.clock().sleep(10 * SECOND).await;
            let mut told = told.borrow().clone();
            told.sort_unstable_by_key(|it| it.0);
            let mut is_there = false;
            for (at, (seq_no, version, outcome)) in told.iter().enumerate() {
                assert_eq!((*seq_no, *version), (at as u64, at as u64 + 1), "seed {seed}");
                let expected = match outcome {
                    Outcome::Created | Outcome::NotFound => false,
                    Outcome::Updated | Outcome::Deleted => true,
                    Outcome::Noop => unreachable!("nothing is updated here"),
                };
                assert_eq!(is_there, expected, "seed {seed}, {at}: {outcome:?}");
                is_there = matches!(outcome, Outcome::Created | Outcome::Updated);
            }
            let found = shard.get("a", Realtime::Yes).await.expect("usable");
            assert_eq!(found.is_some(), is_there, "seed {seed}");
        });
    }
}

#[test]
fn nobody_reads_what_is_not_durable() {
    let sim = Sim::new(3);
    let env = sim.env();
    sim.set_latency(Duration::from_millis(5), Duration::from_millis(5));
    sim.run(async {
        let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
        let writing = shard.clone();
        env.spawn().spawn(async move { drop(write(&writing, put("a", "x")).await) });
        env.clock().sleep(Duration::from_millis(1)).await;
        assert_eq!(shard.stats().seq_no_max, Some(0), "it is decided");
        assert_eq!(shard.stats().seq_no_applied, None, "it is not durable");
        assert_eq!(shard.get("a", Realtime::Yes).await, Ok(None));
        assert_eq!(shard.refresh().await.expect("usable").doc_count, 0);
        env.clock().sleep(SECOND).await;
        assert!(shard.get("a", Realtime::Yes).await.expect("usable").is_some());
    });
}

/// Only who wrote forgot some: a shard that was left alone, or took larger batches of deletes than it forgot, held
/// them all, over a restart too.
#[test]
fn deletes_are_forgotten_though_nobody_writes() {
    const COUNT: usize = 5_000;
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async {
        let budget = Budget::new(1 << 30);
        let again = || Setup { lease: budget.lease(), ..setup(config()) };
        let shard = Shard::create(&env, again()).await.expect("a new shard");
        let gone = |from: usize| -> Vec<Op> {
            (from..from + COUNT).map(|at| delete(&format!("id{at}"))).collect()
        };
        shard.write(batch(&gone(0))).await;
        let held = shard.stats().version_bytes;
        assert!(held as usize > COUNT * 100, "{held}");
        let taken = || budget.taken_bytes().iter().map(|(_, bytes)| bytes).sum::<usize>();
        env.clock().sleep(100 * SECOND).await;
        assert_eq!(shard.stats().version_bytes, held, "no view shows that they are gone");
        shard.refresh().await.expect("memory");
        env.clock().sleep(SECOND).await;
        assert_eq!((shard.stats().version_bytes, shard.stats().buffer_bytes), (0, 0));

        shard.write(batch(&gone(COUNT))).await;
        shard.close().await.expect("room");
        drop(shard);
        let shard = Shard::open(&env, again()).await.expect("it was closed");
        assert!(shard.stats().version_bytes > 0);
        assert!(taken() >= shard.stats().version_bytes as usize, "{}", taken());
        env.clock().sleep(30 * SECOND).await;
        assert!(shard.stats().version_bytes > 0, "a minute is not over");
        env.clock().sleep(31 * SECOND).await;
        assert_eq!(shard.stats().version_bytes, 0);
        // A shorter time counts for what is remembered already.
        shard.write(batch(&gone(2 * COUNT))).await;
        shard.refresh().await.expect("memory");
        shard.set_config(ShardConfig { gc_deletes: SECOND, ..config() });
        env.clock().sleep(6 * SECOND).await;
        assert_eq!(shard.stats().version_bytes, 0);
    });
}

#[test]
fn deletes_are_remembered_for_a_minute_and_over_a_flush_and_a_restart() {
    for forgotten in [false, true] {
        let sim = Sim::new(5);
        let env = sim.env();
        sim.run(async {
            let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
            wrote(&shard, put("a", "x")).await;
            wrote(&shard, delete("a")).await;
            shard.flush().await.expect("room");
            shard.close().await.expect("in order");
        });
        let env = sim.env();
        sim.run(async {
            let shard = Shard::open(&env, setup(config())).await.expect("sound");
            env.clock().sleep(if forgotten { 61 * SECOND } else { 30 * SECOND }).await;
            let written = wrote(&shard, put("a", "x")).await;
            let expected = if forgotten { 1 } else { 3 };
            assert_eq!(facts(&written), (2, expected, Outcome::Created));
        });
    }
}

#[test]
fn reign_rises_after_an_unclean_stop_and_stays_after_a_clean_one() {
    let sim = Sim::new(6);
    let mut expected = 1;
    sim.run(async {
        let shard = Shard::create(&sim.env(), setup(config())).await.expect("a new shard");
        wrote(&shard, put("a", "x")).await;
        shard.close().await.expect("in order");
        assert_eq!(shard.refresh().await.err(), Some(Error::Closed));
        assert!(write(&shard, put("a", "x")).await.is_err());
    });
    for clean in [true, false, false, true, true, false] {
        let env = sim.env();
        sim.run(async {
            let shard = Shard::open(&env, setup(config())).await.expect("sound");
            assert_eq!(shard.primary_term(), PrimaryTerm(expected));
            let written = wrote(&shard, put("a", "x")).await;
            assert_eq!(written.primary_term, PrimaryTerm(expected));
            if clean {
                shard.close().await.expect("in order");
            }
        });
        if !clean {
            sim.crash();
            expected += 1;
        }
    }
    let env = sim.env();
    sim.run(async {
        let shard = Shard::open(&env, setup(config())).await.expect("sound");
        let found = shard.get("a", Realtime::Yes).await.expect("usable").expect("there");
        assert_eq!((found.version, found.seq_no), (7, SeqNo(6)));
    });
}

#[test]
fn reign_rises_after_an_unclean_stop_even_where_nothing_was_written() {
    let sim = Sim::new(6);
    sim.run(async {
        let shard = Shard::create(&sim.env(), setup(config())).await.expect("a new shard");
        shard.close().await.expect("in order");
    });
    for expected in [1, 2, 3] {
        let env = sim.env();
        sim.run(async {
            let shard = Shard::open(&env, setup(config())).await.expect("sound");
            assert_eq!(shard.primary_term(), PrimaryTerm(expected));
        });
        sim.kill();
    }
}

#[test]
fn batch_beyond_the_budget_is_refused_whole_and_fits_after_a_flush() {
    let sim = Sim::new(7);
    let env = sim.env();
    sim.run(async {
        let shard =
            Shard::create(&env, setup_with_memory(config(), 1 << 20)).await.expect("a new shard");
        let large = "x".repeat(4000);
        let ops: Vec<Op> = (0..20).map(|at| put(&format!("id{at}"), &large)).collect();
        let mut rounds = 0;
        let refused = loop {
            let answers = shard.write(batch(&ops)).await;
            if answers.iter().any(Result::is_err) {
                break answers;
            }
            rounds += 1;
            assert!(rounds < 100, "the budget is never reached");
        };
        let before = shard.stats().seq_no_max;
        assert!(refused.iter().all(|it| matches!(it, Err(WriteError::Rejected { .. }))));
        assert_eq!(shard.stats().refused_count, 20);
        env.clock().sleep(20 * SECOND).await;
        let answers = shard.write(batch(&ops)).await;
        assert!(answers.iter().all(Result::is_ok), "the refusal made room: {answers:?}");
        assert_eq!(shard.stats().seq_no_max, before.map(|before| before + 20));
    });
}

#[test]
fn full_disk_refuses_writes_keeps_what_was_written_and_goes_on_later() {
    let sim = Sim::new(8);
    let env = sim.env();
    // Log files so long that the want of room for the next one is known before it is needed.
    let roomy = || ShardConfig { log_file_bytes_min: 1 << 20, ..config() };
    sim.run(async {
        let shard = Shard::create(&env, setup(roomy())).await.expect("a new shard");
        wrote(&shard, put("a", "x")).await;
        sim.set_free_bytes(0);
        let (mut refused, mut at) = (None, 0);
        while refused.is_none() {
            let tag = format!("{at}{}", "y".repeat(30_000));
            refused = write(&shard, put(&format!("b{at}"), &tag)).await.err();
            at += 1;
            assert!(at < 1000, "the log never needs more room");
        }
        assert!(matches!(refused, Some(WriteError::NoSpace { .. })), "{refused:?}");
        // The second met the first, which is lost: that there is such a document was never true.
        let both = [put("new", &"y".repeat(30_000)), put("new", "x").create()];
        let answers = shard.write(batch(&both)).await;
        let is_refused = |answer: &Result<_, _>| matches!(answer, Err(WriteError::NoSpace { .. }));
        assert!(answers.iter().all(is_refused), "{answers:?}");
        assert_eq!(shard.failure(), None);
        assert!(shard.flush().await.is_err(), "no room for a segment");
        assert!(shard.get("a", Realtime::Yes).await.expect("usable").is_some());
        sim.set_free_bytes(1 << 30);
        let again = put(&format!("b{}", at - 1), "x").create();
        let written = wrote(&shard, again).await;
        assert_eq!(facts(&written), (at, 1, Outcome::Created), "a refusal leaves nothing");
        shard.flush().await.expect("room again");
        shard.close().await.expect("in order");
    });
    let env = sim.env();
    sim.run(async {
        let shard = Shard::open(&env, setup(roomy())).await.expect("sound");
        assert_eq!(shard.stats().docs_count, shard.stats().seq_no_max.expect("some") + 1);
    });
}

#[test]
fn a_flush_does_not_wait_for_what_the_log_refuses() {
    // The story: while a batch is judged, operation by operation, others run. A flush that began in
    // between waited for all numbers given so far; the log refused them for want of room, and nothing
    // took their place on a full disk: flushes, and the shard's end, waited behind it.
    for seed in 0..40 {
        let sim = Sim::new(seed);
        let env = sim.env();
        let roomy = ShardConfig { log_file_bytes_min: 1 << 20, ..config() };
        sim.run(async {
            let shard = Shard::create(&env, setup(roomy)).await.expect("a new shard");
            sim.set_free_bytes(0);
            let long = |at: usize| put(&format!("b{at}"), &"y".repeat(30_000));
            let mut at = 0;
            while write(&shard, long(at)).await.is_ok() {
                at += 1;
                assert!(at < 1000, "the log never needs more room");
            }
            let many: Vec<Op> = (at..at + 40).map(long).collect();
            let ended = Rc::new(Cell::new(false));
            let (flushed, flushing) = (Rc::clone(&ended), shard.clone());
            env.spawn().spawn(async move {
                flushing.flush().await.expect_err("no room for a segment");
                flushed.set(true);
            });
            let answers = shard.write(batch(&many)).await;
            assert!(
                answers.iter().all(|it| matches!(it, Err(WriteError::NoSpace { .. }))),
                "{answers:?}"
            );
            env.clock().sleep(60 * SECOND).await;
            assert!(ended.get(), "seed {seed}");
        });
    }
}

#[test]
fn a_shard_opens_without_one_free_byte_and_keeps_what_was_written() {
    let sim = Sim::new(11);
    let env = sim.env();
    sim.run(async {
        let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
        wrote(&shard, put("a", "x")).await;
        shard.flush().await.expect("room");
        wrote(&shard, put("b", "y")).await;
    });
    sim.crash();
    // After a life with room both slots name the segment, so they are of one size.
    for life in 0..4 {
        sim.set_free_bytes(if life == 0 { 1 << 30 } else { 0 });
        let env = sim.env();
        sim.run(async {
            let shard = Shard::open(&env, setup(config())).await.expect("no room is needed");
            for id in ["a", "b"] {
                assert!(shard.get(id, Realtime::Yes).await.expect("usable").is_some(), "{life}");
            }
        });
        sim.crash();
    }
}

#[test]
fn a_shard_that_finds_no_room_for_its_manifest_opens_for_reads() {
    // The story: nodes that were killed on a disk without one free block. Each shard gives its older
    // manifest up for the new one, but another shard may take the block in between. One of five runs
    // was told that its documents could not be read until there was room.
    let sim = Sim::new(12);
    let env = sim.env();
    sim.run(async {
        let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
        for id in ["a", "b"] {
            wrote(&shard, put(id, "x")).await;
        }
        wrote(&shard, delete("b")).await;
    });
    sim.crash();
    // There never was a second manifest, so nothing can be given up for it.
    sim.set_free_bytes(0);
    let env = sim.env();
    sim.run(async {
        let shard = Shard::open(&env, setup(config())).await.expect("reads need no room");
        assert!(matches!(shard.failure(), Some(Error::Starved(_))), "{:?}", shard.failure());
        assert!(matches!(shard.log_failed().await, Some(Error::Starved(_))));
        assert!(shard.get("a", Realtime::Yes).await.expect("readable").is_some());
        assert!(shard.get("b", Realtime::Yes).await.expect("readable").is_none());
        let view = shard.refresh().await.expect("memory is all that it needs");
        assert_eq!((view.doc_count, count_with(&view, "tag", "x")), (1, 1));
        let refused = write(&shard, put("c", "x")).await;
        let Err(WriteError::Failed { error, durable_unknown: false }) = refused else {
            panic!("nothing is decided in an old reign: {refused:?}");
        };
        assert!(error.is_full_disk());
        assert!(shard.flush().await.is_err());
        env.clock().sleep(60 * SECOND).await;
        assert!(shard.close().await.is_err_and(|error| error.is_full_disk()));
    });
    sim.set_free_bytes(1 << 30);
    let env = sim.env();
    sim.run(async {
        let shard = Shard::open(&env, setup(config())).await.expect("there is room");
        let written = wrote(&shard, put("c", "x")).await;
        assert_eq!(facts(&written), (3, 1, Outcome::Created));
        assert!(shard.get("a", Realtime::Yes).await.expect("usable").is_some());
    });
}

#[test]
fn failed_sync_of_the_log_ends_the_shard_and_acknowledges_nothing() {
    let sim = Sim::new(9);
    let env = sim.env();
    sim.run(async {
        let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
        wrote(&shard, put("a", "x")).await;
        sim.fail(Call::Sync, "log-", 1, env::ErrorKind::Io);
        let failed = write(&shard, put("b", "x")).await;
        assert!(
            matches!(failed, Err(WriteError::Failed { durable_unknown: true, .. })),
            "{failed:?}"
        );
        assert!(shard.failure().is_some());
        assert!(matches!(shard.log_failed().await, Some(Error::Log(_))));
        assert!(write(&shard, put("c", "x")).await.is_err());
        assert!(shard.refresh().await.is_err());
    });
}

#[test]
fn caller_who_stops_waiting_stops_nothing() {
    story(config(), |env, shard| async move {
        let mut waiting = Box::pin(shard.write(batch(&[put("a", "x")])));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        drop(waiting);
        env.clock().sleep(SECOND).await;
        assert!(shard.get("a", Realtime::Yes).await.expect("usable").is_some());
        let mut refreshing = Box::pin(shard.refresh());
        assert!(refreshing.as_mut().poll(&mut context).is_pending());
        drop(refreshing);
        env.clock().sleep(SECOND).await;
        assert_eq!(shard.reader().view.load().doc_count, 1);
        wrote(&shard, put("b", "x")).await;
        assert_eq!(shard.refresh().await.expect("usable").doc_count, 2);
    });
}

#[test]
fn what_is_under_way_is_counted_by_kind_until_it_is_answered() {
    story(config(), |env, shard| async move {
        wrote(&shard, put("a", "x")).await;
        let current = || (shard.stats().index_current, shard.stats().delete_current);
        assert_eq!(current(), (0, 0));
        let ops = [delete("a"), put("b", "x"), delete("c")];
        let mut waiting = Box::pin(shard.write(batch(&ops)));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        assert_eq!(current(), (1, 2));
        let answers = waiting.await;
        assert_eq!((answers.len(), current()), (3, (0, 0)));
        // Nobody waits for it; it is done all the same.
        let mut waiting = Box::pin(shard.write(batch(&[delete("b")])));
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        drop(waiting);
        assert_eq!(current(), (0, 1));
        env.clock().sleep(SECOND).await;
        assert_eq!(current(), (0, 0));
    });
}

#[test]
fn async_durability_answers_before_the_sync() {
    let config = ShardConfig { durability: shard::Durability::Async, ..config() };
    let sim = Sim::new(11);
    let env = sim.env();
    sim.set_latency(Duration::from_millis(20), Duration::from_millis(20));
    sim.run(async {
        let shard = Shard::create(&env, setup(config.clone())).await.expect("a new shard");
        let started = env.clock().monotonic();
        wrote(&shard, put("a", "x")).await;
        assert!(env.clock().monotonic() - started < Duration::from_millis(20));
        env.clock().sleep(6 * SECOND).await;
    });
    sim.crash();
    let env = sim.env();
    sim.run(async {
        let shard = Shard::open(&env, setup(config)).await.expect("sound");
        assert!(shard.get("a", Realtime::Yes).await.expect("usable").is_some());
    });
}

#[test]
fn what_crosses_cores_may() {
    fn crosses<T: Send + 'static>() {}
    crosses::<shard::WriteBatch>();
    crosses::<shard::Answers>();
    crosses::<shard::Found>();
    crosses::<shard::Reader>();
    crosses::<shard::Stats>();
    crosses::<Error>();
}

#[test]
fn delete_that_no_view_shows_is_remembered_for_as_long_as_that() {
    story(config(), |env, shard| async move {
        wrote(&shard, put("a", "x")).await;
        shard.refresh().await.expect("usable");
        wrote(&shard, delete("a")).await;
        env.clock().sleep(100 * SECOND).await;
        // The time of the delete is over, but the published view still shows the document.
        wrote(&shard, put("b", "x")).await;
        assert_eq!(shard.get("a", Realtime::Yes).await, Ok(None));
        let written = wrote(&shard, put("a", "y").create()).await;
        assert_eq!(facts(&written), (3, 3, Outcome::Created));
        let view = shard.refresh().await.expect("usable");
        assert_eq!((view.doc_count, count_with(&view, "tag", "x")), (2, 1));
    });
}

#[test]
fn what_fills_an_arena_is_found_after_a_crash_all_the_same() {
    // The story: a chunk of the log was parsed into one arena, whose room has an end. Values beyond it were taken
    // for such as no longer fit their mapping: the documents stayed, and were found by nothing.
    let sim = Sim::new(13);
    let env = sim.env();
    let long = "a".repeat(32_000);
    let tags = vec![format!("\"{long}\""); 400].join(",");
    let ops: Vec<Op> = (0..4)
        .map(|n| {
            let source = format!(r#"{{"tag":["t{n}",{tags}],"n":{n}}}"#);
            Op { source: Some(source), ..delete(&format!("{n}")) }
        })
        .collect();
    sim.run(async {
        let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
        for answer in shard.write(batch(&ops)).await {
            answer.expect("memory for all");
        }
    });
    sim.crash();
    let env = sim.env();
    sim.run(async {
        let shard = Shard::open(&env, setup(config())).await.expect("sound");
        let view = shard.refresh().await.expect("memory for all");
        assert_eq!(count_with(&view, "tag", &long), 4);
        for n in 0..4 {
            assert_eq!(count_with(&view, "tag", &format!("t{n}")), 1, "{n}");
        }
    });
}

/// They were read by one worker, one after the other, and before it the merges of all shards.
#[test]
fn documents_of_much_work_are_read_again_by_several_workers() {
    let analysis = json::json!({
        "filter": {"here": {"type": "unique", "only_on_same_position": true}},
        "analyzer": {"much": {
            "tokenizer": "whitespace",
            "filter": (std::iter::repeat_n("keyword_repeat", 12).chain(["here"]).collect::<Vec<_>>())
        }}
    });
    let settings = Settings {
        analysis: Registry::parse(&analysis).expect("known").into(),
        ..Settings::default()
    };
    // In the order of the fields that the harness knows.
    let fields = json::json!({"properties": {
        "n": {"type": "long"},
        "tag": {"type": "keyword"},
        "text": {"type": "text", "analyzer": "much"}
    }});
    let mapping = Arc::new(Mapping::parse(&fields, Arc::new(settings)).expect("a mapping"));
    let words = |n: usize| (0..60).map(|word| format!("w{n}x{word}")).collect::<Vec<_>>().join(" ");
    let ops: Vec<Op> = (0..5)
        .map(|n| {
            let text = if n == 2 { "few words".to_owned() } else { words(n) };
            let source = format!(r#"{{"text":"{text}","tag":"t{n}"}}"#);
            Op { source: Some(source), ..delete(&format!("{n}")) }
        })
        .collect();
    for bytes in [1 << 30, 16 << 20] {
        let sim = Sim::new(14);
        let set = || Setup { mapping: Arc::clone(&mapping), ..setup_with_memory(config(), bytes) };
        let env = sim.env();
        sim.run(async {
            let shard = Shard::create(&env, set()).await.expect("a new shard");
            for answer in shard.write(batch_by(&mapping, &ops)).await {
                answer.expect("memory for all");
            }
        });
        sim.crash();
        let env = sim.env();
        sim.run(async {
            let before = sim.jobs();
            let shard = Shard::open(&env, set()).await.expect("sound");
            // The chunk, and each of the four.
            let jobs = sim.jobs() - before;
            assert!(jobs >= 5, "{jobs}");
            let view = shard.refresh().await.expect("memory for all");
            for n in 0..5 {
                let last = if n == 2 { "words".to_owned() } else { format!("w{n}x59") };
                assert_eq!(count_with(&view, "text", &last), 1, "{n}");
                assert_eq!(shown(&view, &n.to_string()).map(|(seq_no, ..)| seq_no), Some(n as u64));
            }
        });
    }
}
