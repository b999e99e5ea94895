//! One seed: a machine, several lives of the process on it, what goes wrong in each, and the judgement
//! at the end.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use env::{Env, ErrorKind, Spawn};
use sim::{Lie, Sim};

use crate::context::{Context, Health, Oracle};
use crate::damage::{self, Damage};
use crate::documents::{self, IDS, INDICES};
use crate::judge::{Verdict, judge};
use crate::node::{self, Either, Node, either};
use crate::{clients, indices, searches, secrets, shapes};

/// What a seed came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Stands for all that happened.
    pub trace: u64,
    /// How long it took in the machine.
    pub virtual_time: Duration,
    /// Writes acknowledged.
    pub acknowledged: u64,
    /// Codes and refresh tokens used well.
    pub secrets: u64,
    /// Searches compared with the plain model.
    pub compared: u64,
    /// Lives of the process.
    pub lives: u64,
    /// Documents whose attempts have too many orders to try.
    pub undecided: u64,
    /// Times that damage was planted and told.
    pub damage_told: u64,
}

/// What goes wrong on the machine of a seed, beside stops of every kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// Nothing.
    None,
    /// Calls to the disk take long now and then, the process stands still, the calendar jumps.
    Time,
    /// The n-th change of the disk fails.
    Failing,
    /// The disk is full for a while.
    Full,
    /// A byte rots while the process is down.
    Rot,
    /// The disk lies about one write.
    Lying(Lie),
    /// A segment holds the bytes of another when the process begins again.
    Exchanged,
}

/// How a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// In order; then the power goes.
    Clean,
    /// The power is cut at any moment.
    Power,
    /// The power is cut while the n-th change of the disk is under way.
    PowerAt,
    /// The process is killed.
    Kill,
}

fn choose_trouble(sim: &Sim) -> Trouble {
    match sim.below(22) {
        0..=9 => Trouble::None,
        10 | 11 => Trouble::Time,
        12..=14 => Trouble::Failing,
        15 => Trouble::Full,
        16..=18 => Trouble::Rot,
        19 => Trouble::Exchanged,
        _ => Trouble::Lying([Lie::Lost, Lie::Misdirected, Lie::Stale][sim.below(3) as usize]),
    }
}

/// Runs a seed.
///
/// # Panics
/// Where anything is not as it was promised.
pub fn run(seed: u64, verbose: bool) -> Outcome {
    // What a run before this one left behind.
    node::warnings();
    let sim = Rc::new(Sim::new(seed));
    if seed % 64 != 7 {
        node::plant_authz(&sim);
    }
    let oracle = Rc::new(Oracle::default());
    let trouble = choose_trouble(&sim);
    let lives = 2 + sim.below(3);
    let mut outcome = Outcome { lives: lives + 1, ..Outcome::default() };
    let mut damage: Option<Damage> = None;
    if verbose {
        println!("seed {seed}: {lives} lives, trouble: {trouble:?}");
    }
    for life in 0..lives {
        let end = match sim.below(8) {
            0 | 1 => End::Clean,
            2 | 3 => End::Power,
            4..=6 => End::PowerAt,
            _ => End::Kill,
        };
        let LifeEnd { is_clean, stop_begun } = one_life(&sim, &oracle, (trouble, end), verbose);
        sim.heal();
        sim.set_spikes(0, Duration::ZERO);
        oracle.history.end_life(sim.now(), is_clean || stop_begun);
        node::warnings();
        damage = match trouble {
            Trouble::Rot if life > 0 || is_clean => Damage::rot(&sim, is_clean),
            Trouble::Lying(_) => Damage::lie(&sim),
            Trouble::Exchanged => Damage::exchange(&sim),
            _ => None,
        };
        if damage.is_some() {
            break;
        }
        if trouble == Trouble::Time && sim.below(2) == 0 {
            let hours = sim.below(100) as i64 - 50;
            sim.jump_calendar(hours * 3_600_000);
            oracle.secrets.borrow_mut().calendar_jumped();
        }
    }
    match &damage {
        None => {
            last_life(&sim, &oracle, verbose);
            oracle.history.end_life(sim.now(), true);
            outcome.undecided = judge_all(&oracle, verbose);
        }
        Some(damage) => {
            if verbose {
                println!("{damage:?}");
            }
            outcome.damage_told = u64::from(damaged_life(&sim, &oracle, damage, verbose));
            oracle.history.end_life(sim.now(), true);
            if !damage.may_lose_a_tail() {
                outcome.undecided = judge_all(&oracle, verbose);
            } else if let Some(phantom) = oracle.history.phantom() {
                panic!("damage made what never was: {phantom}");
            }
        }
    }
    sim.kill();
    outcome.trace = sim.trace();
    outcome.virtual_time = sim.now();
    outcome.acknowledged = oracle.history.acknowledged();
    outcome.secrets = oracle.secrets.borrow().successes();
    outcome.compared = oracle.compared.get();
    outcome
}

/// One life.
fn one_life(
    sim: &Rc<Sim>,
    oracle: &Rc<Oracle>,
    (trouble, end): (Trouble, End),
    verbose: bool,
) -> LifeEnd {
    let lifetime = Duration::from_micros(
        [60_000, 400_000, 2_000_000, 15_000_000][sim.below(4) as usize] + sim.below(60_000),
    );
    match end {
        End::PowerAt => sim.cut_power_at(1 + sim.below(250)),
        End::Clean | End::Power | End::Kill => {}
    }
    if verbose {
        println!("{:>12.6} a life of {lifetime:?}, end: {end:?}", sim.now().as_secs_f64());
    }
    let env = sim.env();
    let (machine, oracle) = (Rc::clone(sim), Rc::clone(oracle));
    let is_clean = Rc::new(Cell::new(false));
    let ended = Rc::clone(&is_clean);
    // A shard may have stopped in order though the rest of the node did not.
    let stop_begun = Rc::new(Cell::new(false));
    let begun = Rc::clone(&stop_begun);
    let lived = sim.run_until_cut(async move {
        match trouble {
            Trouble::Failing => {
                let kind =
                    [ErrorKind::Io, ErrorKind::Io, ErrorKind::NoSpace][machine.below(3) as usize];
                machine.fail_nth(1 + machine.below(300), kind);
            }
            Trouble::Time => machine.set_spikes(20, Duration::from_millis(300)),
            Trouble::Lying(lie) => {
                let part =
                    ["log-", "manifest", "segment", "snapshot", ""][machine.below(5) as usize];
                machine.lie(lie, part, 1 + machine.below(20));
            }
            Trouble::None | Trouble::Full | Trouble::Rot | Trouble::Exchanged => {}
        }
        let health = match trouble {
            Trouble::Failing => Health::Failing,
            Trouble::Full => Health::Full,
            Trouble::Lying(_) => Health::Damaged,
            _ => Health::Sound,
        };
        let started = Node::start(&env).await;
        let node = match started {
            Ok(node) => node,
            Err(why) => {
                assert!(health != Health::Sound, "the node does not start: {why}");
                return;
            }
        };
        let context = Rc::new(Context {
            sim: Rc::clone(&machine),
            env: env.clone(),
            node,
            oracle,
            health: Cell::new(health),
            stopping: Cell::new(false),
            active: Cell::new(0),
            pause_us: (lifetime.as_micros() as u64 / 12).clamp(2_000, 1_500_000),
            verbose,
        });
        match either(live(&context, lifetime, (trouble, end), &begun), context.node.failed()).await
        {
            Either::First(clean) => ended.set(clean),
            Either::Second(why) => {
                context.say(|| format!("the process ends: {why}"));
                assert!(health != Health::Sound, "a log failed on a sound machine: {why}");
            }
        }
    });
    if lived.is_some() {
        match end {
            // What was closed in order is safe.
            End::Clean | End::Power | End::PowerAt => sim.crash(),
            End::Kill => sim.kill(),
        }
    }
    LifeEnd { is_clean: is_clean.get(), stop_begun: stop_begun.get() }
}

/// How a life ended.
struct LifeEnd {
    is_clean: bool,
    stop_begun: bool,
}

/// What happens in a life, until it ends.
async fn live(
    context: &Rc<Context>,
    lifetime: Duration,
    (trouble, end): (Trouble, End),
    stop_begun: &Cell<bool>,
) -> bool {
    check_start(context).await;
    indices::prepare(context).await;
    if INDICES.iter().any(|index| context.node.cores[0].state().index(index).is_none()) {
        // A write would make it, and nobody would know how.
        assert!(context.health.get() != Health::Sound, "an index was not made");
        return false;
    }
    let spawn = context.env.spawn();
    context.active.set(clients::CLIENTS as usize + 2);
    for _ in 0..clients::CLIENTS {
        spawn.spawn(clients::client(Rc::clone(context)));
    }
    spawn.spawn(indices::keeper(Rc::clone(context)));
    spawn.spawn(secrets::keeper(Rc::clone(context)));
    if context.sim.seed() % 2 == 1 {
        context.active.set(context.active.get() + 1);
        spawn.spawn(shapes::keeper(Rc::clone(context)));
    }
    let begun = context.now();
    while context.now() < begun + lifetime {
        let part = lifetime / 6;
        node::sleep(&context.env, part).await;
        match trouble {
            Trouble::Time => match context.below(6) {
                0 => context.sim.pause(Duration::from_millis(context.below(90_000))),
                1 => {
                    context.oracle.secrets.borrow_mut().calendar_jumped();
                    context.sim.jump_calendar(context.below(7_200_000) as i64 - 3_600_000);
                }
                _ => {}
            },
            Trouble::Full => {
                let bytes = [0, 0, 8 << 10, 300 << 10, 3 << 20, 1 << 40];
                context.sim.set_free_bytes(bytes[context.below(6) as usize]);
            }
            _ => {}
        }
    }
    if end != End::Clean {
        return false;
    }
    context.sim.set_free_bytes(1 << 40);
    stop_begun.set(true);
    context.stopping.set(true);
    if context.one_in(3) {
        // The power goes while the stop saves what there is.
        context.sim.cut_power_at(1 + context.below(80));
    }
    // Whoever still waits for an answer gets one.
    let patience = context.now() + Duration::from_secs(200);
    while context.active.get() > 0 {
        node::sleep(&context.env, Duration::from_millis(20)).await;
        // Whoever waits for a refresh of an index without an interval waits for this one.
        for index in INDICES {
            let options = engine::ops::IndicesOptions::default();
            drop(context.core().refresh(&engine::Everything, index, options).await);
        }
        assert!(context.now() < patience, "a client waits for an answer that does not come");
    }
    let stopped = context.node.stop().await;
    if let Err(why) = &stopped {
        assert!(context.health.get() != Health::Sound, "a stop failed: {why}");
    }
    let warnings = node::warnings();
    assert!(
        warnings.is_empty() || context.health.get() != Health::Sound,
        "a sound node warned: {warnings:?}"
    );
    stopped.is_ok() && warnings.is_empty()
}

/// At the start of a life: what was promised is there.
async fn check_start(context: &Context) {
    let warnings = node::warnings();
    let sound = context.health.get() == Health::Sound;
    assert!(warnings.is_empty() || !sound, "a sound node warned at its start: {warnings:?}");
    indices::look(context, true);
    secrets::look(context);
    indices::look_closely(context, sound).await;
    shapes::look(context, true);
    shapes::look_closely(context, true).await;
    for index in INDICES {
        if context.node.cores[0].state().index(index).is_none() {
            continue;
        }
        for number in 0..IDS {
            clients::look(context, index, &documents::id(number)).await;
        }
        // What was replayed wrongly may be hidden by what is written next.
        if sound && context.one_in(2) {
            searches::quiet(context, index, 1).await;
        }
    }
}

/// The last life: all is well, and all stands still.
fn last_life(sim: &Rc<Sim>, oracle: &Rc<Oracle>, verbose: bool) {
    sim.set_free_bytes(1 << 40);
    let env = sim.env();
    let (machine, oracle) = (Rc::clone(sim), Rc::clone(oracle));
    sim.run(async move {
        let node = Node::start(&env).await.unwrap_or_else(|why| panic!("the last start: {why}"));
        let context = Context {
            sim: Rc::clone(&machine),
            env: env.clone(),
            node,
            oracle,
            health: Cell::new(Health::Sound),
            stopping: Cell::new(false),
            active: Cell::new(0),
            pause_us: 1,
            verbose,
        };
        check_start(&context).await;
        for index in INDICES {
            if context.node.cores[0].state().index(index).is_some() {
                searches::quiet(&context, index, 2).await;
            }
        }
        context.node.stop().await.unwrap_or_else(|why| panic!("the last stop: {why}"));
        let warnings = node::warnings();
        assert!(warnings.is_empty(), "the last stop warned: {warnings:?}");
    });
}

/// A life on a damaged disk; whether damage was told.
fn damaged_life(sim: &Rc<Sim>, oracle: &Rc<Oracle>, damage: &Damage, verbose: bool) -> bool {
    // What the kernel kept in memory is gone, as after any restart of the machine.
    sim.crash();
    let env = sim.env();
    let (machine, oracle, damage) = (Rc::clone(sim), Rc::clone(oracle), damage.clone());
    sim.run(async move {
        let node = match Node::start(&env).await {
            Ok(node) => node,
            Err(why) => {
                if verbose {
                    println!("the node does not start: {why}");
                }
                return true;
            }
        };
        let context = Context {
            sim: Rc::clone(&machine),
            env: env.clone(),
            node,
            oracle,
            health: Cell::new(Health::Damaged),
            stopping: Cell::new(false),
            active: Cell::new(0),
            pause_us: 1,
            verbose,
        };
        let mut was_told = !node::warnings().is_empty();
        if !damage.may_lose_state() {
            indices::look(&context, true);
            secrets::look(&context);
        }
        if !damage.may_lose_a_tail() {
            indices::look_closely(&context, false).await;
            shapes::look(&context, true);
            was_told |= !shapes::look_closely(&context, true).await;
        }
        for index in INDICES {
            if context.node.cores[0].state().index(index).is_none() {
                continue;
            }
            let mut read = BTreeMap::new();
            for number in 0..IDS {
                let id = documents::id(number);
                match clients::peek(&context, index, &id, damage.may_lose_a_tail()).await {
                    Some(seen) => {
                        read.insert(id, seen);
                    }
                    None => was_told = true,
                }
            }
            if damage.may_lose_a_tail() {
                if index == "one" && !damage.may_lose_state() {
                    damage::check_no_hole(&context.oracle.history, index, &read);
                }
                continue;
            }
            searches::quiet(&context, index, 6).await;
            let options = engine::ops::IndicesOptions::default();
            let merge = shard::Aim::Count(1);
            let merged =
                context.core().force_merge(&engine::Everything, index, options, merge, true);
            was_told |= merged.await.map_or(true, |shards| shards.failed > 0);
            searches::quiet(&context, index, 6).await;
        }
        let stopped = context.node.stop().await;
        was_told || stopped.is_err() || !node::warnings().is_empty()
    })
}

/// An order for the attempts on each document; how many are undecided.
fn judge_all(oracle: &Oracle, verbose: bool) -> u64 {
    let mut undecided = 0;
    if let Some(phantom) = oracle.history.phantom() {
        panic!("a search showed what never was: {phantom}");
    }
    oracle.history.each(|index, id, events| {
        match judge(events) {
            Verdict::Fine => {}
            Verdict::Undecided => undecided += 1,
            Verdict::Violated { explained } => {
                if verbose {
                    let mut events = events.clone();
                    events.sort_by_key(|event| event.begin);
                    for (at, event) in events.iter().enumerate() {
                        println!("{at:>4} {event:?}");
                    }
                }
                panic!(
                    "no order explains the answers about {index}/{id} ({explained} of {} do)",
                    events.len()
                );
            }
        }
        terms_rise(oracle, index, id, events);
    });
    undecided
}

/// The term rises at each unclean stop of a life in which the shard was written to. (One that ended
/// before the shard was opened changes nothing.)
fn terms_rise(oracle: &Oracle, index: &str, id: &str, events: &[crate::history::Event]) {
    use crate::history::Answer;
    let mut before: Option<(u64, u32)> = None;
    for event in events {
        let Answer::Written { stamp, .. } = event.answer else { continue };
        if let Some((term, life)) = before
            && life < event.life
            && oracle.history.crashed_between(life, life + 1)
        {
            assert!(
                stamp.term > term,
                "{index}/{id}: term {} after {term}, with an unclean stop between",
                stamp.term
            );
        }
        before = Some((stamp.term, event.life));
    }
}
