//! Who sees what, and when: views, refreshes, listeners, sleep, merges, flushes.

mod harness;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use env::budget::Budget;
use env::{Clock, Env, Spawn};
use harness::*;
use segment::bytes::zblock::Dictionary;
use shard::{Durability, Reading, Realtime, RefreshInterval, Setup, Shard, ShardConfig, Touched};
use sim::Sim;

#[test]
fn real_time_get_sees_what_no_refresh_has_shown_and_forces_none() {
    story(config(), |_, shard| async move {
        wrote(&shard, put("a", "x")).await;
        assert!(shard.get("a", Realtime::Yes).await.expect("usable").is_some());
        assert_eq!(shard.get("a", Realtime::No).await, Ok(None));
        assert_eq!(shard.stats().refresh.count, 0);
        shard.refresh().await.expect("usable");
        let found = shard.get("a", Realtime::No).await.expect("usable").expect("shown");
        assert_eq!(found, shard.get("a", Realtime::Yes).await.expect("usable").expect("there"));
        wrote(&shard, delete("a")).await;
        assert_eq!(shard.get("a", Realtime::Yes).await, Ok(None));
        assert!(shard.get("a", Realtime::No).await.expect("usable").is_some());
    });
}

/// Sixty megabytes take a tenth of a second to decompress.
#[test]
fn a_long_document_is_read_beside_the_core_as_it_stood_when_it_was_asked_for() {
    story(config(), |env, shard| async move {
        let words: Vec<String> = (0..90_000).map(|number| format!("w{number}")).collect();
        let long = format!(r#"{{"tag":"x","text":"{}"}}"#, words.join(" "));
        assert!(long.len() > 512 << 10);
        wrote(&shard, Op { source: Some(long.clone()), ..put("a", "x") }).await;
        shard.refresh().await.expect("usable");
        for realtime in [Realtime::Yes, Realtime::No] {
            let found = shard.get("a", realtime).await.expect("usable").expect("there");
            assert!(found.source[..] == *long.as_bytes() && found.version == 1);
            let head = shard.get_by("a", realtime, Reading::Head).await.expect("usable");
            assert!(head.expect("there").source.is_empty());
        }
        let (reading, read) = (shard.clone(), Rc::<Cell<u64>>::default());
        let told = Rc::clone(&read);
        env.spawn().spawn(async move {
            let found = reading.get("a", Realtime::Yes).await.expect("usable").expect("there");
            assert!(found.source[..] == *long.as_bytes());
            told.set(found.version);
        });
        env.spawn().give_way().await;
        assert_eq!(read.get(), 0, "a worker reads it");
        wrote(&shard, delete("a")).await;
        env.clock().sleep(SECOND).await;
        assert_eq!(read.get(), 1);
        assert_eq!(shard.get("a", Realtime::Yes).await, Ok(None));
    });
}

#[test]
fn the_text_of_a_long_document_is_counted_until_nobody_holds_it() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async {
        let setup = setup_with_memory(config(), 64 << 20);
        let shard = Shard::create(&env, setup).await.expect("a new shard");
        let long = format!(r#"{{"tag":"x","text":"{}"}}"#, "w ".repeat(500_000));
        wrote(&shard, Op { source: Some(long.clone()), ..put("a", "x") }).await;
        shard.flush().await.expect("usable");
        let read = async |reading| shard.get_by("a", Realtime::Yes, reading).await;
        let mut held = Vec::new();
        let refused = loop {
            match read(Reading::Whole).await {
                Ok(found) => held.push(found.expect("there").source),
                Err(error) => break error,
            }
            assert!(held.len() < 100, "the memory is never used up");
        };
        assert!(matches!(refused, shard::Error::NoMemory { .. }), "{refused:?}");
        assert!(read(Reading::Head).await.is_ok(), "a head takes none");
        let last = held.pop().expect("some were read");
        held.clear();
        let again = read(Reading::Whole).await.expect("memory came back").expect("there");
        assert!(again.source[..] == last[..] && last[..] == *long.as_bytes());
    });
}

#[test]
fn a_head_is_all_but_the_text() {
    story(config(), |_, shard| async move {
        wrote(&shard, shard_op_with_routing("a", "r 1")).await;
        for realtime in [Realtime::Yes, Realtime::No] {
            let read = async |reading| {
                let found = shard.get_by("a", realtime, reading).await.expect("usable");
                found.expect("there")
            };
            let (head, whole) = (read(Reading::Head).await, read(Reading::Whole).await);
            assert!(head.source.is_empty() && !whole.source.is_empty());
            assert_eq!(shard::Found { source: whole.source.clone(), ..head }, whole);
            // Who reads the text of a head that was read counts once.
            let count = shard.stats().get.count;
            assert_eq!(read(Reading::Again).await, whole);
            assert_eq!(shard.stats().get.count, count);
            shard.refresh().await.expect("usable");
        }
    });
}

#[test]
fn routing_and_left_out_paths_come_back_from_buffer_and_segment() {
    story(config(), |_, shard| async move {
        wrote(&shard, shard_op_with_routing("a", "r 1")).await;
        for _ in 0..2 {
            let found = shard.get("a", Realtime::Yes).await.expect("usable").expect("there");
            assert_eq!(found.routing.as_deref(), Some("r 1"));
            assert_eq!(found.ignored, [""; 0]);
            shard.refresh().await.expect("usable");
        }
    });
}

fn shard_op_with_routing(id: &str, routing: &str) -> Op {
    Op { routing: Some(routing.to_owned()), ..put(id, "x") }
}

#[test]
fn view_shows_the_moment_of_its_freeze_and_older_views_stay() {
    story(config(), |_, shard| async move {
        wrote(&shard, put("a", "one")).await;
        wrote(&shard, put("b", "one")).await;
        let first = shard.refresh().await.expect("usable");
        wrote(&shard, put("a", "two")).await;
        wrote(&shard, delete("b")).await;
        wrote(&shard, put("c", "two")).await;
        assert_eq!(shown(&first, "a").map(|it| it.1), Some(1));
        let second = shard.refresh().await.expect("usable");
        assert_eq!(shown(&second, "a").map(|it| (it.0, it.1)), Some((2, 2)));
        assert_eq!(shown(&second, "b"), None);
        assert_eq!(second.doc_count, 2);
        assert_eq!((count_with(&second, "tag", "two"), count_with(&second, "text", "all")), (2, 2));
        assert_eq!((first.doc_count, count_with(&first, "tag", "one")), (2, 2));
        assert!(second.generation > first.generation);
    });
}

/// A document of a hundred thousand words held its core for as long as they took to enter the buffer.
#[test]
fn a_long_document_enters_while_others_go_on_and_nobody_sees_half_of_it() {
    for seed in 0..6 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async {
            let durability = Durability::Async;
            let config = ShardConfig { durability, ..config() };
            let shard = Shard::create(&env, setup(config)).await.expect("a new shard");
            wrote(&shard, put("a", "old")).await;
            wrote(&shard, put("b", "old")).await;
            let words: Vec<String> = (0..100_000).map(|number| format!("w{number}")).collect();
            let long = format!(r#"{{"tag":"new","text":"first {} last"}}"#, words.join(" "));
            let long = Op { source: Some(long), ..put("a", "new") };
            let (writing, refreshing) = (shard.clone(), shard.clone());
            let is_done: Rc<Cell<bool>> = Rc::default();
            let told = Rc::clone(&is_done);
            env.spawn().spawn(async move {
                assert_eq!(facts(&wrote(&writing, long).await).1, 2);
                told.set(true);
            });
            let mut looks = 0;
            while !is_done.get() {
                env.spawn().yield_if_needed().await;
                let found = shard.get("a", Realtime::Yes).await.expect("usable").expect("there");
                let tag = if found.version == 1 { "old" } else { "new" };
                assert!(found.source.starts_with(format!(r#"{{"tag":"{tag}""#).as_bytes()));
                looks += 1;
                if looks == 20 {
                    let refreshing = refreshing.clone();
                    env.spawn().spawn(async move {
                        let view = refreshing.refresh().await.expect("usable");
                        let with = |word| count_with(&view, "text", word);
                        assert_eq!((with("first"), with("last")), (with("w99999"), with("w0")));
                        assert_eq!((view.doc_count, with("all") + with("first")), (2, 2));
                    });
                }
                assert!(looks < 1_000_000, "seed {seed}: it is written some time");
            }
            assert!(looks > 100, "seed {seed}: others had {looks} turns meanwhile");
            let view = shard.refresh().await.expect("usable");
            let with = |word| count_with(&view, "text", word);
            assert_eq!((with("first"), with("w50000"), with("last"), with("all")), (1, 1, 1, 1));
            // It goes as it came.
            wrote(&shard, delete("a")).await;
            let view = shard.refresh().await.expect("usable");
            assert_eq!((view.doc_count, count_with(&view, "text", "last")), (1, 0));
        });
    }
}

#[test]
fn document_replaced_within_the_buffer_never_reaches_a_segment() {
    story(config(), |_, shard| async move {
        for tag in ["one", "two", "three"] {
            wrote(&shard, put("a", tag)).await;
        }
        wrote(&shard, put("b", "one")).await;
        wrote(&shard, delete("b")).await;
        let view = shard.refresh().await.expect("usable");
        assert_eq!((view.doc_count, view.deleted_count), (1, 0));
        assert_eq!(count_with(&view, "tag", "one"), 0);
        assert_eq!(count_with(&view, "tag", "three"), 1);
    });
}

#[test]
fn wait_for_is_released_by_the_refresh_that_covers_it() {
    let config = ShardConfig { refresh_interval: RefreshInterval::Every(SECOND), ..config() };
    story(config, |env, shard| async move {
        let started = env.clock().monotonic();
        let written = wrote(&shard, put("a", "x")).await;
        assert_eq!(shard.wait_for(written.seq_no).await, Ok(false));
        let took = env.clock().monotonic() - started;
        assert!(took > Duration::from_millis(500) && took < SECOND, "{took:?}");
        assert!(shown(&shard.reader().view.load(), "a").is_some());
        assert_eq!(shard.wait_for(written.seq_no).await, Ok(false), "at once");
        assert_eq!(shard.stats().refresh.count, 1);
    });
}

#[test]
fn one_listener_too_many_forces_a_refresh_for_all() {
    let config = ShardConfig { refresh_listeners_max: 3, ..config() };
    story(config, |env, shard| async move {
        let written = wrote(&shard, put("a", "x")).await;
        let told: Rc<RefCell<Vec<bool>>> = Rc::default();
        for _ in 0..3 {
            let (shard, told) = (shard.clone(), Rc::clone(&told));
            env.spawn().spawn(async move {
                let forced = shard.wait_for(written.seq_no).await.expect("usable");
                told.borrow_mut().push(forced);
            });
        }
        env.clock().sleep(10 * SECOND).await;
        assert_eq!((told.borrow().len(), shard.stats().refresh_listener_count), (0, 3));
        assert_eq!(shard.wait_for(written.seq_no).await, Ok(true));
        env.clock().sleep(SECOND).await;
        assert_eq!(*told.borrow(), [false; 3]);
    });
}

#[test]
fn unsearched_shard_sleeps_and_a_search_wakes_it() {
    let config = ShardConfig { refresh_interval: RefreshInterval::Unset, ..config() };
    story(config, |env, shard| async move {
        wrote(&shard, put("a", "x")).await;
        env.clock().sleep(2 * SECOND).await;
        assert_eq!(shard.stats().refresh.count, 1, "a new shard is awake");
        env.clock().sleep(30 * SECOND).await;
        wrote(&shard, put("b", "x")).await;
        env.clock().sleep(60 * SECOND).await;
        wrote(&shard, put("c", "x")).await;
        env.clock().sleep(60 * SECOND).await;
        assert_eq!(shard.stats().refresh.count, 1, "nobody searched for half a minute");
        let reader = shard.reader();
        assert_eq!(reader.touch(env.clock().monotonic()), Touched::RefreshFirst);
        assert_eq!(reader.touch(env.clock().monotonic()), Touched::RefreshFirst, "for all of them");
        assert_eq!(shard.search_touched().await.expect("usable").doc_count, 3);
        assert_eq!(reader.touch(env.clock().monotonic()), Touched::Fresh);
        wrote(&shard, put("d", "x")).await;
        env.clock().sleep(SECOND).await;
        assert_eq!(reader.view.load().doc_count, 4, "it is awake again");
    });
}

#[test]
fn set_interval_refreshes_whether_or_not_anybody_searches() {
    let config = ShardConfig { refresh_interval: RefreshInterval::Every(5 * SECOND), ..config() };
    story(config, |env, shard| async move {
        env.clock().sleep(100 * SECOND).await;
        wrote(&shard, put("a", "x")).await;
        env.clock().sleep(4 * SECOND).await;
        assert_eq!(shard.reader().view.load().doc_count, 0);
        env.clock().sleep(SECOND).await;
        assert_eq!(shard.reader().view.load().doc_count, 1);
        wrote(&shard, put("b", "x")).await;
        let faster = RefreshInterval::Every(SECOND);
        shard.set_config(ShardConfig { refresh_interval: faster, ..harness::config() });
        env.clock().sleep(SECOND).await;
        assert_eq!(shard.reader().view.load().doc_count, 2, "a new interval counts at once");
    });
}

/// What was merged lies there until a manifest names it no more; it was told to be gone.
#[test]
fn files_are_counted_until_they_are_removed() {
    story(config(), |_, shard| async move {
        for round in 0..3 {
            for at in 0..20 {
                wrote(&shard, put(&format!("id{round}-{at}"), "x")).await;
            }
            shard.flush().await.expect("room");
        }
        let before = shard.stats();
        assert_eq!(before.segment_count, 3);
        shard.force_merge(Some(1)).await.expect("room");
        let merged = shard.stats();
        assert_eq!((merged.segment_count, merged.segment_count_unflushed), (1, 1));
        assert_eq!(merged.store_bytes, before.store_bytes, "the new one is in memory");
        shard.flush().await.expect("room");
        assert_eq!(shard.stats().store_bytes, merged.segment_bytes);
    });
}

/// What merges made needless was let stand up to a bound that nobody could set.
#[test]
fn a_merge_that_leaves_more_than_may_stand_is_flushed() {
    assert_eq!(ShardConfig::default().obsolete_bytes_max, 64 << 20);
    for (obsolete_bytes_max, is_flushed) in [(0, true), (u64::MAX, false)] {
        let config = ShardConfig { obsolete_bytes_max, ..config() };
        story(config, move |env, shard| async move {
            for round in 0..3 {
                wrote(&shard, put(&format!("id{round}"), "x")).await;
                shard.flush().await.expect("room");
            }
            let before = shard.stats();
            shard.force_merge(Some(1)).await.expect("room");
            env.clock().sleep(SECOND).await;
            let merged = shard.stats();
            assert_eq!(merged.segment_count, 1);
            let flushed =
                (before.flush.count < merged.flush.count, merged.segment_count_unflushed == 0);
            assert_eq!(flushed, (is_flushed, is_flushed));
            assert_eq!(
                merged.store_bytes == merged.segment_bytes,
                is_flushed,
                "what is needless is gone"
            );
        });
    }
}

#[test]
fn flush_shortens_the_log_and_removes_what_is_not_named() {
    let sim = story(config(), |_, shard| async move {
        for round in 0..5 {
            for at in 0..20 {
                wrote(&shard, put(&format!("id{at}"), &format!("r{round}"))).await;
            }
            shard.flush().await.expect("room");
            assert_eq!(shard.stats().log_operations, 0);
        }
        assert_eq!(shard.stats().segment_count_unflushed, 0);
        shard.force_merge(Some(1)).await.expect("room");
        shard.flush().await.expect("room");
        assert_eq!(shard.stats().segment_count, 1);
        assert_eq!((shard.stats().docs_count, shard.stats().docs_deleted), (20, 0));
    });
    let names = sim.names(DIR);
    let count = |prefix: &str| names.iter().filter(|name| name.starts_with(prefix)).count();
    assert_eq!((count("segment-"), count("live-"), count("manifest-")), (1, 0, 2), "{names:?}");
}

#[test]
fn a_long_log_is_flushed() {
    assert_eq!(ShardConfig::default().flush_log_bytes, 128 << 20, "what a start may have to read");
    let config = ShardConfig { flush_log_bytes: 64 << 10, ..config() };
    story(config, |env, shard| async move {
        wrote(&shard, put("first", "x")).await;
        shard.flush().await.expect("room");
        assert_eq!(shard.stats().flush_periodic_count, 0, "that one was asked for");
        // Each is a batch of its own, so it takes a block of 4 KiB.
        for at in 0..100 {
            wrote(&shard, put(&format!("id{at}"), "x")).await;
        }
        env.clock().sleep(SECOND).await;
        let stats = shard.stats();
        assert!(stats.flush_periodic_count > 0, "nobody asked for it");
        assert_eq!(stats.flush.count, 1 + stats.flush_periodic_count);
        assert_eq!(stats.counters().flush_periodic_count, stats.flush_periodic_count);
        assert!(stats.log_operations <= 16, "{} are left", stats.log_operations);
    });
}

#[test]
fn deletes_during_a_merge_are_deletes_in_its_result() {
    for seed in 0..60 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async {
            // Half of them seal on a worker, so that a merge may end while a refresh is under way.
            let config =
                ShardConfig { seal_inline_bytes_max: (seed as usize % 2) << 20, ..config() };
            let shard = Shard::create(&env, setup(config)).await.expect("a new shard");
            for at in 0..30 {
                wrote(&shard, put(&format!("id{at}"), "old")).await;
                if at % 10 == 9 {
                    shard.refresh().await.expect("usable");
                }
            }
            let merging = shard.clone();
            let merged: Rc<RefCell<bool>> = Rc::default();
            let told = Rc::clone(&merged);
            env.spawn().spawn(async move {
                merging.force_merge(Some(1)).await.expect("room");
                *told.borrow_mut() = true;
            });
            for at in 0..30 {
                match at % 3 {
                    0 => drop(wrote(&shard, delete(&format!("id{at}"))).await),
                    1 => drop(wrote(&shard, put(&format!("id{at}"), "new")).await),
                    _ => {}
                }
                if at % 5 == 0 {
                    shard.refresh().await.expect("usable");
                }
            }
            env.clock().sleep(SECOND).await;
            assert!(*merged.borrow(), "seed {seed}");
            let view = shard.refresh().await.expect("usable");
            assert_eq!(view.doc_count, 20, "seed {seed}");
            for at in 0..30 {
                let expected = [None, Some("new"), Some("old")][at % 3];
                let found = shown(&view, &format!("id{at}"));
                assert_eq!(
                    found.map(|it| it.2.contains("new")),
                    expected.map(|it| it == "new"),
                    "seed {seed}, {at}"
                );
            }
            assert_eq!(count_with(&view, "tag", "old"), 10, "seed {seed}");
            assert_eq!(count_with(&view, "tag", "new"), 10, "seed {seed}");
        });
    }
}

#[test]
fn merge_takes_the_place_of_its_oldest_input_and_keeps_order() {
    story(config(), |_, shard| async move {
        for at in 0..5 {
            wrote(&shard, put(&format!("id{at}"), "x")).await;
            shard.refresh().await.expect("usable");
        }
        shard.force_merge(Some(3)).await.expect("room");
        let view = shard.reader().view.load();
        let mut ids = Vec::new();
        for part in &view.segments {
            for doc in 0..part.segment.doc_count() {
                let id = part.segment.ids().id_of(base::DocId(doc)).expect("sound");
                ids.push(String::from_utf8(id.expect("each has one").to_vec()).expect("UTF-8"));
            }
        }
        assert_eq!(view.segments.len(), 3);
        assert_eq!(ids, ["id0", "id1", "id2", "id3", "id4"]);
    });
}

#[test]
fn shard_that_takes_nothing_for_long_is_flushed() {
    let config = ShardConfig { flush_idle_after: 300 * SECOND, ..config() };
    story(config, |env, shard| async move {
        wrote(&shard, put("a", "x")).await;
        env.clock().sleep(200 * SECOND).await;
        wrote(&shard, put("b", "x")).await;
        env.clock().sleep(300 * SECOND).await;
        assert_eq!(shard.stats().flush.count, 0, "it was not idle all the time");
        env.clock().sleep(101 * SECOND).await;
        assert_eq!((shard.stats().flush.count, shard.stats().log_operations), (1, 0));
        env.clock().sleep(10_000 * SECOND).await;
        assert_eq!(shard.stats().flush.count, 1, "once");
    });
}

#[test]
fn a_dictionary_is_handed_on_and_made_anew_by_a_forced_merge() {
    story(config(), |_, shard| async move {
        let write = async |from: usize, of: &str| {
            for at in from..from + 1300 {
                let text = format!("{of} {at} {of} {}", at * 7919).repeat(30);
                let source = format!(r#"{{"tag":"x","text":"{text}"}}"#);
                wrote(&shard, Op { source: Some(source), ..put(&format!("id{at}"), "x") }).await;
            }
            shard.refresh().await.expect("usable");
        };
        let dictionaries = || {
            let view = shard.reader().view.load();
            let of = |part: &segment::ViewSegment| {
                part.segment.stored().and_then(|stored| stored.dictionary().cloned())
            };
            view.segments.iter().map(of).collect::<Vec<_>>()
        };
        write(0, "what is said of the first").await;
        let [Some(first)] = &dictionaries()[..] else { panic!("one segment that has one") };
        write(2000, "the second is of another kind").await;
        assert_eq!(dictionaries(), [Some(first.clone()), Some(first.clone())]);
        for at in 0..1300 {
            wrote(&shard, delete(&format!("id{at}"))).await;
        }
        shard.force_merge(Some(1)).await.expect("room");
        let [Some(last)] = &dictionaries()[..] else { panic!("one segment that has one") };
        let holds =
            |of: &Dictionary, text: &[u8]| of.bytes().windows(text.len()).any(|part| part == text);
        assert!(holds(first, b"of the first") && !holds(last, b"of the first"));
        assert!(holds(last, b"another kind"));
        let found = shard.get("id2001", Realtime::No).await.expect("usable").expect("there");
        assert!(String::from_utf8_lossy(&found.source).contains("kind 2001"));
    });
}

/// A large merge took the last of the memory, and the searches of all callers were refused meanwhile.
#[test]
fn a_merge_leaves_memory_to_callers() {
    const TOTAL: usize = 256 << 20;
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async {
        let budget = Budget::new(TOTAL);
        let setup = Setup { lease: budget.lease(), ..setup(config()) };
        let shard = Shard::create(&env, setup).await.expect("a new shard");
        for round in 0..3 {
            wrote(&shard, put(&format!("id{round}"), "x")).await;
            shard.flush().await.expect("room");
        }
        // There would be room for the merge itself.
        let other = budget.lease().take(TOTAL - budget.leased_bytes() - TOTAL / 16);
        assert!(other.is_some());
        assert!(shard.force_merge(Some(1)).await.is_err());
        assert_eq!(shard.stats().segment_count, 3);
        drop(other);
        shard.force_merge(Some(1)).await.expect("room");
        assert_eq!(shard.stats().segment_count, 1);
    });
}
