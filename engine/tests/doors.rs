//! Indices are opened, closed and deleted by several callers at once, while others write: of a shard
//! only one instance is ever at work, and what was acknowledged stays.

mod common;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use engine::ops::bulk::BulkRequest;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::search::SearchCall;
use engine::ops::{IndicesOptions, Refresh};
use engine::{Core, Everything};
use env::{Bytes, Clock, Env, Random, Spawn};
use json::json;
use sim::{Sim, SimEnv};

use common::start;

const ANY: IndicesOptions = IndicesOptions {
    ignore_unavailable: true,
    allow_no_indices: true,
    expand_open: true,
    expand_closed: true,
    expand_hidden: false,
};

/// Waits up to 3 ms.
async fn rest(env: &SimEnv) {
    let micros = env.random().next_u64() % 3_000;
    env.clock().sleep(Duration::from_micros(micros)).await;
}

async fn open(core: &Rc<Core<SimEnv>>, index: &str) {
    let _ = core.open_indices(&Everything, index, ANY).await;
}

async fn close(core: &Rc<Core<SimEnv>>, index: &str) {
    let _ = core.close_indices(&Everything, index, ANY).await;
}

/// Writes one document; true where it is acknowledged.
async fn put(core: &Rc<Core<SimEnv>>, index: &str, id: &str) -> bool {
    let item = WriteItem {
        source: Bytes::from(br#"{"n":1}"#.to_vec()),
        ..WriteItem::new(WriteAction::Index, index, id.to_owned())
    };
    let reply =
        core.bulk(&Everything, BulkRequest { items: vec![item], refresh: Refresh::No }).await;
    reply.items[0].result.is_ok()
}

async fn ids(core: &Rc<Core<SimEnv>>, index: &str) -> u64 {
    core.refresh(&Everything, index, ANY).await.expect("it serves");
    let call = SearchCall { indices: index.to_owned(), ..SearchCall::default() };
    core.count(&Everything, &call).await.expect("it serves").count
}

#[test]
fn what_is_opened_and_closed_by_several_callers_at_once_keeps_its_documents() {
    let (mut opened_late, mut written) = (0, 0);
    for seed in 0..12u64 {
        let sim = Sim::new(seed);
        let env = sim.env();
        let acknowledged: Rc<RefCell<BTreeSet<String>>> = Rc::default();
        let kept = Rc::clone(&acknowledged);
        sim.run(async move {
            let cores = start(&env).await;
            let two = json!({"settings": {"number_of_shards": 2}});
            cores[0].create_index(&Everything, "a", &two).await.expect("a good name");
            let running = Rc::new(Cell::new(0));
            for caller in 0..5usize {
                let (env, core) = (env.clone(), Rc::clone(&cores[caller % 2]));
                let (kept, running) = (Rc::clone(&kept), Rc::clone(&running));
                running.set(running.get() + 1);
                env.clone().spawn().spawn(async move {
                    for round in 0..30 {
                        match caller {
                            0 | 1 => {
                                close(&core, "a").await;
                                rest(&env).await;
                                open(&core, "a").await;
                            }
                            2 => open(&core, "a").await,
                            _ => {
                                let id = format!("{caller}-{round}");
                                if put(&core, "a", &id).await {
                                    kept.borrow_mut().insert(id);
                                }
                            }
                        }
                        rest(&env).await;
                    }
                    running.set(running.get() - 1);
                });
            }
            while running.get() > 0 {
                rest(&env).await;
            }
            open(&cores[0], "a").await;
            let there = ids(&cores[1], "a").await;
            assert_eq!(there, kept.borrow().len() as u64, "seed {seed}");
            cores[0].stop().await;
        });
        sim.crash();
        let env = sim.env();
        let kept = acknowledged.borrow().len() as u64;
        let there = sim.run(async move {
            let cores = start(&env).await;
            let there = ids(&cores[1], "a").await;
            cores[0].stop().await;
            there
        });
        assert_eq!(there, kept, "seed {seed}, after a power cut");
        opened_late += u32::from(kept < 60);
        written += kept;
    }
    assert!(opened_late > 0, "nobody ever met a closed index");
    assert!(written > 60, "hardly anything was written");
}

#[test]
fn what_is_deleted_while_it_opens_is_gone_and_harms_nobody() {
    for seed in 0..12u64 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async move {
            let cores = start(&env).await;
            let running = Rc::new(Cell::new(0));
            for caller in 0..5usize {
                let (env, core) = (env.clone(), Rc::clone(&cores[caller % 2]));
                let running = Rc::clone(&running);
                running.set(running.get() + 1);
                env.clone().spawn().spawn(async move {
                    for round in 0..30 {
                        match caller {
                            0 => {
                                let _ = core.create_index(&Everything, "b", &json!({})).await;
                            }
                            1 => {
                                let _ = core.delete_index(&Everything, "b", ANY).await;
                            }
                            2 => close(&core, "b").await,
                            3 => open(&core, "b").await,
                            _ => {
                                put(&core, "b", &round.to_string()).await;
                            }
                        }
                        rest(&env).await;
                    }
                    running.set(running.get() - 1);
                });
            }
            while running.get() > 0 {
                rest(&env).await;
            }
            let _ = cores[0].delete_index(&Everything, "b", ANY).await;
            let left = env::Disk::list(env.disk(), "/data/indices".as_ref()).await;
            assert!(left.is_ok_and(|left| left.is_empty()), "seed {seed}: a folder stayed");
            cores[0].create_index(&Everything, "b", &json!({})).await.expect("the name is free");
            assert!(put(&cores[1], "b", "last").await, "seed {seed}");
            assert_eq!(ids(&cores[0], "b").await, 1, "seed {seed}");
            cores[0].stop().await;
        });
    }
}
