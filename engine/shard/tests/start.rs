//! Many shards that open at once, with less memory than their logs have bytes.

mod harness;

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use base::ShardId;
use env::budget::{Budget, Holder};
use env::{Clock, Env, Spawn};
use harness::*;
use shard::{Realtime, Setup, Shard};
use sim::{Sim, SimEnv};

const SHARDS: u32 = 12;
const DOCS: usize = 20;
const MIB: usize = 1 << 20;

/// Shard `number`, whose memory is that of all.
fn one_of(number: u32, budget: &Budget) -> Setup<SimEnv> {
    Setup {
        id: ShardId { number, ..ID },
        dir: PathBuf::from(format!("{DIR}{number}")),
        lease: budget.lease().of(Holder::Writes),
        ..setup(config())
    }
}

/// A word of 20 KB that says little twice, so that segments are not much smaller than the log.
fn long_word(sim: &Sim) -> String {
    (0..20_000).map(|_| char::from(b'!' + 2 + sim.below(80) as u8)).filter(|c| *c != '\\').collect()
}

/// Makes the shards; each has so many documents in its log, and no segment.
fn fill(sim: &Sim, shards: u32) {
    let env = sim.env();
    sim.run(async {
        let budget = Budget::new(1 << 30);
        for number in 0..shards {
            let shard = Shard::create(&env, one_of(number, &budget)).await.expect("a new shard");
            for at in 0..DOCS {
                let source = format!(r#"{{"text":"{}","n":{at}}}"#, long_word(sim));
                wrote(&shard, Op { source: Some(source), ..put(&format!("id{at}"), "") }).await;
            }
        }
    });
    sim.crash();
}

async fn has_all(shard: &Shard<SimEnv>) {
    for at in 0..DOCS {
        let found = shard.get(&format!("id{at}"), Realtime::Yes).await;
        assert!(found.expect("usable").is_some(), "{at}");
    }
}

/// The most that shards hold in segments without a file while all of them replay.
fn most_at_once(total: usize) -> usize {
    let sim = Sim::new(21);
    fill(&sim, SHARDS);
    let env = sim.env();
    sim.run(async {
        let budget = Budget::new(total);
        let opened: Rc<std::cell::RefCell<Vec<Shard<SimEnv>>>> = Rc::default();
        let under_way = Rc::new(Cell::new(SHARDS));
        for number in 0..SHARDS {
            let (env, setup) = (env.clone(), one_of(number, &budget));
            let (opened, under_way) = (Rc::clone(&opened), Rc::clone(&under_way));
            env.clone().spawn().spawn(async move {
                let shard = Shard::open(&env, setup).await.expect("sound");
                under_way.set(under_way.get() - 1);
                opened.borrow_mut().push(shard);
            });
        }
        let mut most = 0;
        while under_way.get() > 0 {
            env.clock().sleep(std::time::Duration::from_millis(1)).await;
            let held = opened.borrow().iter().map(|it| it.stats().buffer_bytes).sum::<u64>();
            most = most.max(held as usize);
        }
        assert!(budget.leased_bytes() <= budget.total_bytes());
        let opened = opened.take();
        for shard in &opened {
            has_all(shard).await;
            shard.close().await.expect("in order");
        }
        drop(opened);
        let writes = budget.taken_bytes().iter().find(|it| it.0 == Holder::Writes).map(|it| it.1);
        assert_eq!(writes, Some(0), "all of it was given back");
        most
    })
}

#[test]
fn shards_that_replay_at_once_hold_no_more_than_the_budget() {
    let most = most_at_once(2 * MIB);
    assert!(most <= 2 * MIB, "{most} bytes of segments without a file");
}

/// The simulation of whole nodes does not see the memory of its process: this fault is found here.
#[cfg(feature = "planted")]
#[test]
fn shards_that_do_not_wait_for_each_other_are_noticed() {
    base::planted::plant(Some(base::planted::Fault::ReplayWithoutTurns));
    let most = most_at_once(2 * MIB);
    base::planted::plant(None);
    assert!(most > 2 * MIB, "{most} bytes of segments without a file");
}

#[test]
fn power_cut_at_any_call_of_a_replay_without_memory_loses_nothing() {
    let sim = Sim::new(22);
    fill(&sim, 1);
    let mut nth = 1;
    loop {
        let env = sim.env();
        sim.cut_power_at(nth);
        let opened = sim.run_until_cut(async {
            let shard = Shard::open(&env, one_of(0, &Budget::new(MIB / 4))).await.expect("sound");
            has_all(&shard).await;
        });
        sim.crash();
        sim.heal();
        if opened.is_some() {
            break;
        }
        nth += 1;
    }
    assert!(nth > 20, "segments are written while it opens: {nth}");
    let env = sim.env();
    sim.run(async {
        let shard = Shard::open(&env, one_of(0, &Budget::new(MIB / 4))).await.expect("sound");
        has_all(&shard).await;
    });
}
