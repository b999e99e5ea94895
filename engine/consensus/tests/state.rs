//! A replicated value on a simulated machine: what was answered is there after every cut, in
//! order, once.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use consensus::{Decode, Error, Replicated, Setup, State};
use env::{Clock, Disk, Env, ErrorKind, Spawn};
use sim::{Call, Sim, SimEnv};

const DIR: &str = "/data/list";

/// A list of numbers; a command adds one, its outcome is the length before.
#[derive(Debug, Default, PartialEq)]
struct List(Vec<u64>);

impl State for List {
    type Command = u64;
    type Outcome = usize;

    const FORMAT: u32 = 2;

    fn apply(&self, command: &u64) -> (Self, usize) {
        let mut numbers = self.0.clone();
        numbers.push(*command);
        (Self(numbers), self.0.len())
    }

    fn encode(&self, out: &mut Vec<u8>) {
        for number in &self.0 {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn decode(_format: u32, bytes: &[u8]) -> Result<Self, Decode> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(Decode("eight bytes a number".to_owned()));
        }
        Ok(Self(numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()))
    }

    fn encode_command(command: &u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&command.to_le_bytes());
    }

    fn decode_command(_format: u32, bytes: &[u8]) -> Result<u64, Decode> {
        let bytes = bytes.try_into().map_err(|_| Decode("eight bytes".to_owned()))?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// The same list, as a later version of the program would write it.
#[derive(Debug, Default)]
struct NewerList(List);

impl State for NewerList {
    type Command = u64;
    type Outcome = usize;

    const FORMAT: u32 = 3;

    fn apply(&self, command: &u64) -> (Self, usize) {
        let (list, outcome) = self.0.apply(command);
        (Self(list), outcome)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    fn decode(format: u32, bytes: &[u8]) -> Result<Self, Decode> {
        List::decode(format, bytes).map(Self)
    }

    fn encode_command(command: &u64, out: &mut Vec<u8>) {
        List::encode_command(command, out);
    }

    fn decode_command(format: u32, bytes: &[u8]) -> Result<u64, Decode> {
        List::decode_command(format, bytes)
    }
}

type Value = Replicated<SimEnv, List>;

fn setup() -> Setup {
    Setup { snapshot_after_bytes: 30_000, ..Setup::new(DIR, "list") }
}

async fn open(env: &SimEnv) -> Result<Value, Error> {
    if Value::exists(env, &setup()).await? {
        Value::open(env, setup(), None).await
    } else {
        Value::create(env, setup(), None).await
    }
}

/// What was proposed in this life, in the order of the calls, and what was answered.
#[derive(Default)]
struct Model {
    base: Vec<u64>,
    proposed: Vec<u64>,
    answered: Vec<(usize, u64)>,
}

type Shared = Rc<RefCell<Model>>;

/// Opens the value, checks it, and lets a few tasks propose.
async fn life(env: SimEnv, model: Shared, context: String) {
    let value = open(&env).await.unwrap_or_else(|error| panic!("{context}: {error}"));
    {
        let mut model = model.borrow_mut();
        let list = value.state();
        let (base, rest) = list.0.split_at(model.base.len().min(list.0.len()));
        assert_eq!(base, model.base, "{context}: what was there is there");
        assert!(model.proposed.starts_with(rest), "{context}: in the order of the calls");
        for (at, number) in &model.answered {
            assert_eq!(list.0.get(*at), Some(number), "{context}: what was answered is there");
        }
        *model = Model { base: list.0.clone(), ..Model::default() };
    }
    let left = Rc::new(RefCell::new(5));
    for task in 0..5u64 {
        let (env2, value, model, left) =
            (env.clone(), value.clone(), Rc::clone(&model), Rc::clone(&left));
        env.spawn().spawn(async move {
            for round in 0..6u64 {
                let pause = env::Random::next_u64(env2.random()) % 2000;
                env2.clock().sleep(Duration::from_micros(pause)).await;
                let number = pause << 32 | task << 16 | round;
                let proposal = value.propose(number);
                model.borrow_mut().proposed.push(number);
                let at = proposal.await.expect("nothing fails here");
                assert_eq!(value.state().0[at], number, "an answer comes after the change");
                assert_eq!(value.published().load().0[at], number);
                model.borrow_mut().answered.push((at, number));
            }
            *left.borrow_mut() -= 1;
        });
    }
    // Saves of the value's own meet those that are asked for.
    for _ in 0..2 {
        let (env2, value) = (env.clone(), value.clone());
        env.spawn().spawn(async move {
            for _ in 0..3 {
                env2.clock().sleep(Duration::from_micros(2500)).await;
                match value.save().await {
                    Ok(()) | Err(Error::Closed) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    while *left.borrow() > 0 {
        env.clock().sleep(Duration::from_millis(1)).await;
    }
    value.close().await.expect("nothing fails here");
}

fn lives(seed: u64, nth: u64) {
    let sim = Sim::new(seed);
    let model = Shared::default();
    let context = |life| format!("seed {seed}, cut {nth}, life {life}");
    sim.cut_power_at(nth);
    if sim.run_until_cut(life(sim.env(), Rc::clone(&model), context(1))).is_some() {
        sim.heal();
        sim.crash();
    }
    sim.cut_power_at(1 + sim.below(40));
    if sim.run_until_cut(life(sim.env(), Rc::clone(&model), context(2))).is_some() {
        sim.heal();
        sim.kill();
    }
    for number in 3..5 {
        sim.run(life(sim.env(), Rc::clone(&model), context(number)));
        sim.crash();
    }
}

#[test]
fn power_is_cut_at_every_change() {
    let sim = Sim::new(0);
    let model = Shared::default();
    sim.run(life(sim.env(), Rc::clone(&model), String::new()));
    sim.run(life(sim.env(), model, String::new()));
    let changes = sim.changes();
    assert!(changes > 40, "{changes} changes");
    for nth in 1..=changes {
        lives(nth, nth);
    }
}

#[test]
fn snapshots_shorten_the_log_and_hold_what_it_held() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let value = open(&env).await.expect("a fresh disk");
        for number in 0..100 {
            assert_eq!(value.propose(number).await, Ok(number as usize));
        }
        value.close().await.expect("a healthy disk");
    });
    // A hundred blocks of log, and a snapshot after every eighth or so.
    let snapshot = sim.bytes(format!("{DIR}/snapshot")).expect("it was made");
    assert!(snapshot.len() > 64 + 60 * 8, "{} bytes", snapshot.len());
    assert!(sim.names(DIR).len() < 5, "{:?}", sim.names(DIR));
    sim.crash();
    let env = sim.env();
    let list = sim.run(async move { open(&env).await.expect("closed well").state() });
    assert_eq!(list.0, (0..100).collect::<Vec<_>>());
}

#[test]
fn proposals_in_one_batch_are_applied_in_order_whoever_is_woken_first() {
    for seed in 0..50 {
        let sim = Sim::new(seed);
        let env = sim.env();
        let answers = Rc::new(RefCell::new(Vec::new()));
        let theirs = Rc::clone(&answers);
        sim.run(async move {
            let value = open(&env).await.expect("a fresh disk");
            for number in 0..20 {
                let (value, theirs) = (value.clone(), Rc::clone(&theirs));
                env.spawn().spawn(async move {
                    let at = value.propose(number).await.expect("a healthy disk");
                    theirs.borrow_mut().push((at, number));
                });
            }
            while theirs.borrow().len() < 20 {
                env.clock().sleep(Duration::from_millis(1)).await;
            }
            for (at, number) in theirs.borrow().iter() {
                assert_eq!(value.state().0[*at], *number, "seed {seed}");
            }
        });
        let mut places: Vec<usize> = answers.borrow().iter().map(|(at, _)| *at).collect();
        places.sort_unstable();
        assert_eq!(places, (0..20).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn a_proposal_that_nobody_waits_for_is_carried_out() {
    let sim = Sim::new(1);
    let env = sim.env();
    let value = sim.run(async move { open(&env).await }).expect("a fresh disk");
    let theirs = value.clone();
    sim.run(async move {
        let mut proposal = Box::pin(theirs.propose(7));
        let begun = std::future::poll_fn(|context| {
            std::task::Poll::Ready(proposal.as_mut().poll(context).is_pending())
        });
        assert!(begun.await);
    });
    sim.run_for(Duration::from_secs(1));
    assert_eq!(value.state().0, [7]);
}

#[test]
fn a_failed_log_is_told_to_all_and_nothing_is_taken_after() {
    let mut failed = 0;
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let env = sim.env();
        let value = sim.run(async move { open(&env).await }).expect("a fresh disk");
        sim.fail(Call::Sync, "log-", 1 + seed % 3, ErrorKind::Io);
        let outcomes = Rc::new(RefCell::new(Vec::new()));
        for number in 0..12 {
            let (env, value, outcomes) = (sim.env(), value.clone(), Rc::clone(&outcomes));
            sim.env().spawn().spawn(async move {
                env.clock().sleep(Duration::from_micros(number * 200)).await;
                let outcome = value.propose(number).await;
                outcomes.borrow_mut().push((number, outcome));
            });
        }
        let theirs = value.clone();
        let error = sim.run(async move { theirs.failed().await });
        assert!(error.is_fatal(), "{error}");
        sim.run_for(Duration::from_secs(1));
        assert_eq!(outcomes.borrow().len(), 12, "seed {seed}: everybody is told");
        failed += outcomes.borrow().iter().filter(|(_, outcome)| outcome.is_err()).count();
        let published = value.published().load();
        sim.crash();
        let env = sim.env();
        let list = sim.run(async move { open(&env).await.expect("the disk is well").state() });
        assert!(list.0.starts_with(&published.0), "seed {seed}: a reader saw what was lost");
        for (number, outcome) in outcomes.borrow().iter() {
            if let Ok(at) = outcome {
                assert_eq!(list.0.get(*at), Some(number), "seed {seed}");
            }
        }
    }
    assert!(failed > 20, "{failed} proposals met the failure");
}

#[test]
fn an_interrupted_create_is_made_again_and_a_lost_snapshot_is_not() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        env.disk().create_dir(Path::new(DIR)).await.expect("a fresh disk");
        assert_eq!(Value::exists(&env, &setup()).await, Ok(false));
        let missing = Value::open(&env, setup(), None).await.err();
        assert!(matches!(missing, Some(Error::NotFound { .. })));
        let log = consensus::Config::new(DIR, setup().id);
        let half_made = consensus::Local::create(&env, log, None).await.expect("a fresh disk");
        drop(half_made);
        assert_eq!(Value::exists(&env, &setup()).await, Ok(false));
        let value = Value::create(&env, setup(), None).await.expect("made again");
        let again = Value::create(&env, setup(), None).await.err();
        assert!(matches!(again, Some(Error::AlreadyExists { .. })));
        value.propose(1).await.expect("a healthy disk");
        value.close().await.expect("a healthy disk");
        env.disk().remove(&Path::new(DIR).join("snapshot")).await.expect("it stands");
        assert_eq!(Value::exists(&env, &setup()).await, Ok(true), "the log has a command");
        let lost = Value::open(&env, setup(), None).await.err();
        assert!(matches!(lost, Some(Error::Corrupt { .. })));
    });
}

#[test]
fn a_newer_form_is_named() {
    type Newer = Replicated<SimEnv, NewerList>;
    let named = |save: bool| {
        let sim = Sim::new(1);
        let env = sim.env();
        sim.run(async move {
            let value = open(&env).await.expect("a fresh disk");
            value.propose(1).await.expect("a healthy disk");
            value.close().await.expect("a healthy disk");
            // The next version of the program reads the old form and writes its own.
            let value = Newer::open(&env, setup(), None).await.expect("older forms are read");
            assert_eq!(value.propose(2).await, Ok(1));
            if save {
                value.save().await.expect("a healthy disk");
            }
            value.close().await.expect("a healthy disk");
            Value::open(&env, setup(), None).await.err()
        })
    };
    for save in [false, true] {
        let Some(Error::Version { found, expected, .. }) = named(save) else {
            panic!("a newer form was read, saved: {save}")
        };
        assert_eq!((found, expected), (3, 2));
    }
}

#[test]
fn a_rotten_snapshot_is_corrupt() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let value = open(&env).await.expect("a fresh disk");
        value.propose(1).await.expect("a healthy disk");
        value.save().await.expect("a healthy disk");
        value.close().await.expect("a healthy disk");
    });
    sim.rot(format!("{DIR}/snapshot"), 66, 1);
    let env = sim.env();
    let error = sim.run(async move { open(&env).await.err() });
    assert!(matches!(error, Some(Error::Corrupt { .. })));
}

/// The same list, whose commands take long where they are odd.
#[derive(Debug, Default)]
struct LongList(List);

impl State for LongList {
    type Command = u64;
    type Outcome = usize;

    const FORMAT: u32 = 2;

    fn apply(&self, command: &u64) -> (Self, usize) {
        let (list, outcome) = self.0.apply(command);
        (Self(list), outcome)
    }

    fn is_long(&self, command: &u64) -> bool {
        command % 2 == 1
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }

    fn decode(format: u32, bytes: &[u8]) -> Result<Self, Decode> {
        List::decode(format, bytes).map(Self)
    }

    fn encode_command(command: &u64, out: &mut Vec<u8>) {
        List::encode_command(command, out);
    }

    fn decode_command(format: u32, bytes: &[u8]) -> Result<u64, Decode> {
        List::decode_command(format, bytes)
    }
}

/// A change of a thousand fields was applied where it was committed, and held the core for 220 ms.
#[test]
fn what_takes_long_is_applied_by_a_worker_and_in_the_order_of_the_log() {
    for seed in 0..40 {
        let sim = Sim::new(seed);
        let env = sim.env();
        let begun = sim.jobs();
        let long = sim.run(async {
            let setup = setup();
            let value: Replicated<SimEnv, LongList> =
                Replicated::create(&env, setup.clone(), None).await.expect("an empty folder");
            let proposals = (0..30u64).map(|number| {
                let (env, value) = (env.clone(), value.clone());
                Box::pin(async move {
                    let pause = env::Random::next_u64(env.random()) % 2000;
                    env.clock().sleep(Duration::from_micros(pause)).await;
                    let at = value.propose(number).await.expect("nothing fails here");
                    assert_eq!(value.state().0.0[at], number, "an answer comes after the change");
                    assert_eq!(value.published().load().0.0[at], number);
                    at
                })
            });
            let mut places = env::join_all(proposals.collect()).await;
            places.sort_unstable();
            assert!(places.into_iter().eq(0..30), "seed {seed}: each once");
            let applied = value.state().0.0.clone();
            value.close().await.expect("closes");
            let again: Replicated<SimEnv, LongList> =
                Replicated::open(&env, setup, None).await.expect("whole");
            assert_eq!(again.state().0.0, applied, "seed {seed}: the log has the same order");
            again.close().await.expect("closes");
            applied.into_iter().filter(|number| number % 2 == 1).count() as u64
        });
        // Written and applied, each.
        assert!(sim.jobs() - begun >= 2 * long, "seed {seed}");
    }
}
