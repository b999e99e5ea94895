//! A whole shard through writes, refreshes, flushes, merges, crashes and recoveries, from a seed,
//! against a model.
//!
//! What is promised, and asked here
//! 1. Every acknowledged operation is there after any crash, with its version and number; so is
//!    every operation that a reader has seen, acknowledged or not.
//! 2. A batch that was under way is there as a whole or not at all.
//! 3. Nothing is there twice, nothing that was not sent, nothing that was refused.
//! 4. No (term, number) is given twice; the term rises at each unclean open and at no other.
//! 5. Answers are those of the plainest model: versions, outcomes, conflicts.
//! 6. A view shows each operation acknowledged before its refresh was asked for, and its postings
//!    and counts agree with it.
//! 7. The same seed gives the same trace.
//!
//! Several clients write at once, each to ids of its own, so that the model of each is exact.
//! `SHARD_SEEDS=from..to` runs other seeds.

mod harness;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use env::{Clock, Env, Spawn};
use harness::model::*;
use harness::*;
use segment::View;
use shard::{
    Answers, Check, Conflict, Error, Found, MergeConfig, Realtime, RefreshInterval, Shard,
    ShardConfig, WriteError,
};
use sim::{Sim, SimEnv};

/// Settings under which everything happens often.
fn small(sim: &Sim) -> ShardConfig {
    let intervals = [
        RefreshInterval::Never,
        RefreshInterval::Unset,
        RefreshInterval::Every(Duration::from_millis(20)),
        RefreshInterval::Every(Duration::from_millis(200)),
    ];
    ShardConfig {
        refresh_interval: intervals[sim.below(4) as usize],
        log_file_bytes_min: [16 << 10, 1 << 20][sim.below(2) as usize],
        flush_log_bytes: [8 << 10, 64 << 10, 1 << 20][sim.below(3) as usize],
        unflushed_bytes_max: [16 << 10, 1 << 20][sim.below(2) as usize],
        buffer_bytes_max: [1 << 10, 32 << 10, 1 << 20][sim.below(3) as usize],
        seal_inline_bytes_max: [0, 1 << 10, 48 << 10][sim.below(3) as usize],
        refresh_listeners_max: [1, 1000][sim.below(2) as usize],
        merge: MergeConfig {
            segments_per_tier: 2 + sim.below(3) as u32,
            merge_at_once_max: 2 + sim.below(4) as u32,
            floor_bytes: 1 << 10,
            ..MergeConfig::default()
        },
        ..ShardConfig::default()
    }
}

/// An operation of a client's choice.
fn choose(sim: &Sim, world: &World, client: usize, docs: &BTreeMap<String, Doc>) -> Op {
    let id = format!("c{client}-{}", sim.below(IDS));
    let doc = docs.get(&id).cloned().unwrap_or_default();
    let mut op = if sim.below(4) == 0 {
        delete(&id)
    } else {
        let tag = world.tag();
        world.sent.borrow_mut().insert((id.clone(), tag.clone()));
        let filler = "word ".repeat(sim.below(40) as usize);
        let source = format!(r#"{{"tag":"{tag}","text":"{filler}","n":{}}}"#, sim.below(100));
        Op { source: Some(source), create: sim.below(4) == 0, ..delete(&id) }
    };
    let (version, seq_no, term) = doc.stamp.unwrap_or((0, 0, 1));
    if !op.create {
        op.check = match sim.below(8) {
            0 => Check::SeqNo { seq_no: seq(seq_no), term: base::PrimaryTerm(term) },
            1 => Check::SeqNo { seq_no: seq(seq_no + 1), term: base::PrimaryTerm(term) },
            2 => Check::External(version + sim.below(3)),
            3 => Check::ExternalGte((version + sim.below(3)).saturating_sub(1)),
            _ => Check::None,
        };
    }
    op
}

/// One client: batch after batch, each judged against the model.
async fn client(sim: Rc<Sim>, world: Rc<World>, shard: Shard<SimEnv>, number: usize, env: SimEnv) {
    loop {
        let count = 1 + sim.below(5);
        let ops: Vec<Op> = {
            let docs = world.clients[number].borrow().docs.clone();
            (0..count).map(|_| choose(&sim, &world, number, &docs)).collect()
        };
        world.clients[number].borrow_mut().under_way = Some(ops.clone());
        let answers = shard.write(batch(&ops)).await;
        let now = env.clock().monotonic();
        let Some(last) = judge(&world, number, &ops, answers, now) else { return };
        match sim.below(12) {
            0 => drop(shard.refresh().await),
            1 => look(&sim, &world, &shard, number).await,
            2 => {
                if let Some(seq_no) = last {
                    let waited = shard.wait_for(seq(seq_no));
                    if waited.await.is_ok() {
                        check_shown(&world, &shard.reader().view.load(), number);
                    }
                }
            }
            3 => env.clock().sleep(Duration::from_millis(sim.below(300))).await,
            4 if sim.below(10) == 0 => {
                env.clock().sleep(Duration::from_secs(sim.below(100))).await;
            }
            _ => {}
        }
    }
}

/// Holds the answers of a batch against the model; gives the last number, `None` inside where
/// nothing was done, and `None` where the shard is ending: what became of the batch then shows at
/// the next open.
fn judge(
    world: &World,
    number: usize,
    ops: &[Op],
    answers: Answers,
    now: Duration,
) -> Option<Option<u64>> {
    let mut known = world.clients[number].borrow_mut();
    let mut last = None;
    for (op, answer) in ops.iter().zip(answers) {
        let doc = known.docs.entry(op.id.clone()).or_default();
        forget(doc, now);
        let expected = predict(doc, op);
        match answer {
            Ok(written) => {
                let (version, outcome) = expected
                    .unwrap_or_else(|| panic!("{op:?} was done, {doc:?} conflicts with it"));
                assert!(
                    written.version == version || doc.is_unsure,
                    "{op:?} on {doc:?}: {written:?}"
                );
                assert_eq!(written.outcome, outcome, "{op:?} on {doc:?}");
                let (seq_no, term) = (written.seq_no.get(), written.primary_term.get());
                assert!(last.is_none_or(|last| last < seq_no), "numbers rise in a batch");
                last = Some(seq_no);
                perform(world, doc, op, (written.version, seq_no, term), now);
                world.acknowledged.set(world.acknowledged.get() + 1);
            }
            Err(WriteError::Conflict(conflict)) => {
                let is_remembered = doc.is_unsure && matches!(conflict, Conflict::Version { .. });
                assert!(expected.is_none() || is_remembered, "{op:?} on {doc:?}: {conflict}");
            }
            Err(WriteError::Rejected { .. } | WriteError::NoSpace { .. }) => {}
            Err(WriteError::Failed { .. }) => return None,
            Err(error) => panic!("{op:?}: {error}"),
        }
    }
    known.under_way = None;
    Some(last)
}

/// Reads a client's own documents: they are as the model says. Reads another's: they are seen.
async fn look(sim: &Sim, world: &World, shard: &Shard<SimEnv>, number: usize) {
    let own = format!("c{number}-{}", sim.below(IDS));
    let expected = world.clients[number].borrow().docs.get(&own).cloned().unwrap_or_default();
    let Ok(found) = shard.get(&own, Realtime::Yes).await else { return };
    let found = found.map(|found| {
        let source = String::from_utf8(found.source.to_vec()).expect("JSON is UTF-8");
        (tag_of(&source), (found.version, found.seq_no.get(), found.primary_term.get()))
    });
    let known = expected.tag.zip(expected.stamp);
    assert_eq!(found, known, "[{own}] as its client knows it");
    let other = format!("c{}-{}", sim.below(CLIENTS as u64), sim.below(IDS));
    if let Ok(Some(found)) = shard.get(&other, Realtime::Yes).await {
        let source = String::from_utf8(found.source.to_vec()).expect("JSON is UTF-8");
        world.see(&other, found.seq_no.get(), &source);
    }
}

/// A view that covers all that this client has had acknowledged shows it.
fn check_shown(world: &World, view: &View, number: usize) {
    let known = world.clients[number].borrow();
    for (id, doc) in &known.docs {
        let found =
            shown(view, id).map(|(seq_no, version, source)| (tag_of(&source), seq_no, version));
        let expected = doc.tag.clone().zip(doc.stamp);
        let expected = expected.map(|(tag, (version, seq_no, _))| (tag, seq_no, version));
        assert_eq!(found, expected, "[{id}] in a view");
    }
}

/// Everything about a view that can be said without knowing what is under way.
fn check_sound(world: &World, view: &View) {
    let mut numbers = BTreeSet::new();
    let mut count = 0;
    for client in 0..CLIENTS {
        for id in 0..IDS {
            let id = format!("c{client}-{id}");
            let Some((seq_no, _, source)) = shown(view, &id) else { continue };
            world.see(&id, seq_no, &source);
            assert!(numbers.insert(seq_no), "number {seq_no} twice");
            assert_eq!(count_with(view, "tag", &tag_of(&source)), 1, "[{id}] by its tag");
            count += 1;
        }
    }
    assert_eq!(view.doc_count, count, "living documents");
}

/// One who looks on: refreshes, flushes, merges, and looks at views.
async fn onlooker(sim: Rc<Sim>, world: Rc<World>, shard: Shard<SimEnv>, env: SimEnv) {
    loop {
        env.clock().sleep(Duration::from_millis(sim.below(60))).await;
        let done = match sim.below(10) {
            0 | 1 => shard.flush().await,
            2 => shard.force_merge(Some(1 + sim.below(3) as usize)).await,
            3 => shard.force_merge(None).await,
            4 | 5 => shard.search_touched().await.map(|view| check_sound(&world, &view)),
            6 => shard.refresh().await.map(|view| check_sound(&world, &view)),
            _ => {
                check_sound(&world, &shard.reader().view.load());
                Ok(())
            }
        };
        if done.is_err() {
            return;
        }
    }
}

/// How a life ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Clean,
    /// The power is cut at a moment between two calls.
    Power,
    /// The power is cut while a call to the disk is under way.
    PowerAt,
    Kill,
}

/// After an open: what was promised is there, and the model knows what became of the rest.
async fn check_recovered(world: &World, shard: &Shard<SimEnv>, now: Duration) {
    let mut found_all = BTreeMap::new();
    for client in 0..CLIENTS {
        for id in 0..IDS {
            let id = format!("c{client}-{id}");
            let found = shard.get(&id, Realtime::Yes).await.expect("sound");
            found_all.insert(id, found);
        }
    }
    for client in &world.clients {
        let mut known = client.borrow_mut();
        let under_way = known.under_way.take().unwrap_or_default();
        let ids = known.docs.keys().chain(under_way.iter().map(|op| &op.id));
        let found: BTreeMap<&String, &Option<Found>> =
            ids.map(|id| found_all.get_key_value(id).expect("of a client")).collect();
        let agrees = |docs: &BTreeMap<String, Doc>| {
            found.iter().all(|(id, found)| {
                let expected = docs.get(*id).cloned().unwrap_or_default();
                match (found, &expected.tag) {
                    (None, None) => true,
                    (Some(found), Some(tag)) => {
                        let source = String::from_utf8_lossy(&found.source).into_owned();
                        let (version, seq_no, term) = expected.stamp.expect("it was put");
                        let is_new = seq_no == u64::MAX;
                        tag_of(&source) == *tag
                            && (found.version == version || expected.is_unsure)
                            && (is_new
                                || (found.seq_no.get(), found.primary_term.get()) == (seq_no, term))
                    }
                    _ => false,
                }
            })
        };
        let before = known.docs.clone();
        // What the batch would have done, with numbers that nobody was told.
        let mut after = vec![before.clone()];
        for op in &under_way {
            let doubts = |docs: &BTreeMap<String, Doc>| {
                let is_external = matches!(op.check, Check::External(_) | Check::ExternalGte(_));
                is_external && docs.get(&op.id).is_some_and(|doc| doc.is_unsure)
            };
            let refused = after.iter().filter(|docs| doubts(docs)).cloned().collect::<Vec<_>>();
            for docs in &mut after {
                let doc = docs.entry(op.id.clone()).or_default();
                if let Some((version, _)) = predict(doc, op) {
                    doc.tag = op.source.as_deref().map(tag_of);
                    doc.stamp = Some((version, u64::MAX, u64::MAX));
                    doc.deleted_at = doc.tag.is_none().then_some(now);
                }
            }
            after.extend(refused);
        }
        let is_before = agrees(&before);
        let after = after.into_iter().find(|docs| agrees(docs));
        assert!(
            is_before || after.is_some(),
            "neither as acknowledged nor with the batch under way:\n\
             {before:#?}\n{under_way:#?}\n{found:#?}"
        );
        // Where a batch leaves what it found (it deleted what was not there), it may have been
        // done all the same; then versions are not known until the next document.
        let is_unsure = is_before && after.is_some() && !under_way.is_empty();
        known.docs = if is_before { before } else { after.unwrap_or_default() };
        for op in under_way.iter().filter(|_| is_unsure) {
            let doc = known.docs.entry(op.id.clone()).or_default();
            if doc.tag.is_none() {
                (doc.stamp, doc.is_unsure) = (None, true);
            }
        }
        for (id, found) in &found {
            let Some(found) = found else { continue };
            let doc = known.docs.get_mut(*id).expect("it agrees with the model");
            let (seq_no, term) = (found.seq_no.get(), found.primary_term.get());
            doc.stamp = Some((found.version, seq_no, term));
            doc.is_unsure = false;
            world.give(term, seq_no, doc.tag.as_deref().expect("it is there"));
        }
        for doc in known.docs.values_mut() {
            if doc.is_unsure {
                doc.stamp = None;
            }
            // Numbers of deletes that nobody was told; only their versions count on.
            if let Some(stamp) = &mut doc.stamp
                && stamp.1 == u64::MAX
            {
                (stamp.1, stamp.2) = (0, 0);
            }
        }
    }
    for (id, (seq_no, tag)) in world.seen.borrow().iter() {
        match &found_all[id] {
            None => {}
            Some(found) => {
                let source = String::from_utf8_lossy(&found.source).into_owned();
                assert!(found.seq_no.get() >= *seq_no, "[{id}] {tag} was seen and is lost");
                if found.seq_no.get() == *seq_no {
                    assert_eq!(tag_of(&source), *tag, "[{id}] changed after it was seen");
                }
            }
        }
    }
}

/// Lives and deaths of one shard; gives the trace, and how much was acknowledged.
fn run(seed: u64) -> (u64, u64) {
    let sim = Rc::new(Sim::new(seed));
    sim.set_latency(Duration::from_micros(50), Duration::from_micros(50 + sim.below(5000)));
    let world = Rc::new(World::default());
    let mut is_made = false;
    // Bounds of the term that the next open finds.
    let (mut least, mut most) = (1, None);
    let lives = 3 + sim.below(3);
    for life in 0..=lives {
        let is_last = life == lives;
        let end = match sim.below(5) {
            _ if is_last => End::Clean,
            0 => End::Clean,
            1 => End::Power,
            2 => End::Kill,
            _ => End::PowerAt,
        };
        if matches!(end, End::PowerAt) {
            sim.cut_power_at(1 + sim.below([20, 300][sim.below(2) as usize]));
        }
        let env = sim.env();
        let config = small(&sim);
        let (told, made) = (Rc::clone(&world), Cell::new(is_made));
        let machine = Rc::clone(&sim);
        let lived = sim.run_until_cut(async {
            let shard = if made.get() {
                Shard::open(&env, setup(config)).await.unwrap_or_else(|error| panic!("{error}"))
            } else {
                // The first life may end before there is a shard, or before anybody heard of it.
                match Shard::create(&env, setup(config.clone())).await {
                    Err(Error::AlreadyExists { .. }) => Shard::open(&env, setup(config)).await,
                    made => made,
                }
                .unwrap_or_else(|error| panic!("{error}"))
            };
            made.set(true);
            let term = shard.primary_term().get();
            check_recovered(&told, &shard, env.clock().monotonic()).await;
            check_sound(&told, &shard.reader().view.load());
            for number in 0..CLIENTS {
                let (machine, told) = (Rc::clone(&machine), Rc::clone(&told));
                env.spawn().spawn(client(machine, told, shard.clone(), number, env.clone()));
            }
            env.spawn().spawn(onlooker(machine, Rc::clone(&told), shard.clone(), env.clone()));
            let lifetime = [30, 300, 1500][sim.below(3) as usize];
            env.clock().sleep(Duration::from_millis(sim.below(lifetime))).await;
            match end {
                End::Clean => {
                    shard.close().await.expect("an orderly stop");
                    // Clients hear of it.
                    env.clock().sleep(Duration::from_secs(100)).await;
                }
                // Until the power is cut.
                End::PowerAt if sim.below(2) == 0 => {
                    env.clock().sleep(Duration::from_secs(5)).await
                }
                End::Power | End::PowerAt | End::Kill => {}
            }
            term
        });
        is_made = made.get();
        sim.heal();
        match end {
            End::Clean => {}
            End::Kill => sim.kill(),
            End::Power | End::PowerAt => {
                if lived.is_some() {
                    sim.crash();
                }
            }
        }
        match lived {
            Some(term) => {
                assert!(least <= term, "seed {seed}: term {term} after at least {least}");
                assert!(
                    most.is_none_or(|most| term <= most),
                    "seed {seed}: term {term} > {most:?}"
                );
                let rise = u64::from(!matches!(end, End::Clean));
                (least, most) = (term + rise, Some(term + rise));
            }
            // It was cut off before or after it raised the term.
            None => most = None,
        }
    }
    // At the very end: a clean open, all as the model says.
    let env = sim.env();
    sim.run(async {
        let shard = Shard::open(&env, setup(config())).await.expect("sound");
        check_recovered(&world, &shard, env.clock().monotonic()).await;
        let view = shard.refresh().await.expect("usable");
        check_sound(&world, &view);
        for number in 0..CLIENTS {
            check_shown(&world, &view, number);
        }
        shard.force_merge(Some(1)).await.expect("room");
        let view = shard.reader().view.load();
        assert!(view.segments.len() <= 1);
        check_sound(&world, &view);
        shard.close().await.expect("an orderly stop");
    });
    (sim.trace(), world.acknowledged.get())
}

fn seeds() -> std::ops::Range<u64> {
    sim::seeds("SHARD_SEEDS", 0..40)
}

#[test]
fn what_was_acknowledged_outlives_every_crash() {
    let mut acknowledged = 0;
    for seed in seeds() {
        let ended = std::panic::catch_unwind(|| run(seed));
        let (_, more) = ended.unwrap_or_else(|_| panic!("seed {seed}"));
        acknowledged += more;
    }
    assert!(acknowledged > 0, "the clients came to something");
}

#[test]
fn same_seed_gives_the_same_trace() {
    for seed in seeds().take(10) {
        assert_eq!(run(seed), run(seed), "seed {seed}");
    }
}
