//! Power is cut at every change of the disk; what was promised must be there.

mod story;

use std::rc::Rc;
use std::time::Duration;

use env::{Clock, Env, Spawn};
use sim::{Sim, SimEnv};
use story::{Shared, append, config, read_all, reopen, write_a_while};
use wal::{LogPosition, Writer};

/// Makes a log and works on it.
async fn first_life(env: SimEnv, model: Shared) {
    let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
    write_a_while(&env, &writer, &model, 4).await;
    // Falls idle, says so, and goes on.
    env.clock().sleep(Duration::from_secs(2)).await;
    write_a_while(&env, &writer, &model, 2).await;
    // What stops needing a batch is durable before the log hears of it.
    let through = LogPosition(writer.synced().0 / 2);
    model.borrow_mut().released = through;
    writer.release(through).await.expect("nothing fails here");
    // Somebody releases while others write.
    let (env2, writer2, model2) = (env.clone(), writer.clone(), Rc::clone(&model));
    env.spawn().spawn(async move {
        for _ in 0..20 {
            env2.clock().sleep(Duration::from_micros(700)).await;
            let through = writer2.synced();
            model2.borrow_mut().released = through;
            writer2.release(through).await.expect("nothing fails here");
        }
    });
    write_a_while(&env, &writer, &model, 3).await;
    env.clock().sleep(Duration::from_millis(200)).await;
    model.borrow_mut().released = writer.synced();
    writer.release(writer.synced()).await.expect("nothing fails here");
    append(&writer, &model, 10).await.expect("nothing fails here");
    writer.close().await.expect("nothing fails here");
}

/// Opens the log, works, and closes it.
async fn later_life(env: SimEnv, model: Shared, context: String) {
    let (writer, _) = reopen(&env, &model, &context).await;
    write_a_while(&env, &writer, &model, 2).await;
    writer.close().await.expect("nothing fails here");
}

/// One machine whose power goes at the `nth` change, then in its second life, then no more.
fn cut_at(seed: u64, nth: u64) {
    let sim = Sim::new(seed);
    let model = Shared::default();
    sim.cut_power_at(nth);
    let context = format!("seed {seed}, cut {nth}");
    let done = sim.run_until_cut(first_life(sim.env(), Rc::clone(&model)));
    if done.is_some() {
        sim.heal();
    }
    if !sim.names(story::DIR).iter().any(|name| !name.ends_with(".tmp")) {
        assert_eq!(model.borrow().promised, 0, "{context}: the log is gone");
        return;
    }
    sim.cut_power_at(1 + sim.below(20));
    let life = later_life(sim.env(), Rc::clone(&model), format!("{context}, second life"));
    let _ = sim.run_until_cut(life);
    sim.heal();
    sim.run(later_life(sim.env(), Rc::clone(&model), format!("{context}, third life")));
    sim.crash();
    let (env, theirs) = (sim.env(), Rc::clone(&model));
    let tail = sim.run(async move { reopen(&env, &theirs, "last life").await.1 });
    assert_eq!(tail.torn_bytes, 0, "{context}: a log that was closed has no torn tail");
}

#[test]
fn power_is_cut_at_every_change() {
    let sim = Sim::new(0);
    sim.run(first_life(sim.env(), Shared::default()));
    let changes = sim.changes();
    assert!(changes > 60, "{changes} changes");
    for nth in 1..=changes + 1 {
        cut_at(nth, nth);
        cut_at(1_000_000 + nth, nth);
    }
}

#[test]
fn a_killed_process_leaves_batches_that_a_later_power_cut_cannot_take() {
    for seed in 0..60 {
        let sim = Sim::new(seed);
        let model = Shared::default();
        let (env, theirs) = (sim.env(), Rc::clone(&model));
        sim.run(async move {
            let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
            for len in [100, 5000, 300] {
                append(&writer, &theirs, len).await.expect("nothing fails here");
            }
            // Handed in, perhaps written, never promised.
            for seq_no in 3..6 {
                let record = story::record(seq_no, 2000);
                drop(writer.append(record.clone()).expect("there is room"));
                theirs.borrow_mut().sent.push(record);
            }
            let pause = env::Random::next_u64(env.random()) % 3000;
            env.clock().sleep(Duration::from_micros(pause)).await;
            std::mem::forget(writer);
        });
        sim.kill();
        let (env, theirs) = (sim.env(), Rc::clone(&model));
        let context = format!("seed {seed}");
        sim.run(async move {
            // What is found now is served from here on.
            let (writer, _) = reopen(&env, &theirs, &context).await;
            std::mem::forget(writer);
        });
        sim.crash();
        let (env, theirs) = (sim.env(), Rc::clone(&model));
        let context = format!("seed {seed}, after the cut");
        sim.run(async move { reopen(&env, &theirs, &context).await });
    }
}

#[test]
fn a_record_of_many_pieces_is_there_whole_or_not_at_all() {
    let write = |env: SimEnv, model: Shared| async move {
        let writer = Writer::create(&env, config(), 1, None).await.expect("a fresh disk");
        for len in [100, 2_500_000, 100] {
            append(&writer, &model, len).await.expect("nothing fails here");
        }
        writer.close().await.expect("nothing fails here");
    };
    let sim = Sim::new(0);
    sim.run(write(sim.env(), Shared::default()));
    for nth in 1..=sim.changes() {
        let sim = Sim::new(nth);
        let model = Shared::default();
        sim.cut_power_at(nth);
        assert!(sim.run_until_cut(write(sim.env(), Rc::clone(&model))).is_none());
        if !sim.names(story::DIR).iter().any(|name| !name.ends_with(".tmp")) {
            assert_eq!(model.borrow().promised, 0, "cut {nth}: the log is gone");
            continue;
        }
        let (env, theirs) = (sim.env(), Rc::clone(&model));
        sim.run(async move { reopen(&env, &theirs, &format!("cut {nth}")).await });
    }
}

#[test]
fn the_same_seed_gives_the_same_log() {
    let trace = |seed| {
        let sim = Sim::new(seed);
        let model = Shared::default();
        sim.run(first_life(sim.env(), Rc::clone(&model)));
        (sim.trace(), sim.names(story::DIR))
    };
    assert_eq!(trace(5), trace(5));
}

#[test]
fn a_log_that_was_closed_ends_with_its_last_batch() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let model = Shared::default();
        sim.run(first_life(sim.env(), Rc::clone(&model)));
        sim.crash();
        let (env, after) = (sim.env(), model.borrow().released);
        let (batches, reader) =
            sim.run(async move { read_all(&env, after).await }).expect("it was closed well");
        assert_eq!(reader.tail().torn_bytes, 0);
        model.borrow_mut().check(&batches, &format!("seed {seed}"));
    }
}
