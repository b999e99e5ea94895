//! A disk that is full: what gives room back goes on, what needs more of it is refused.

mod common;

use std::rc::Rc;
use std::time::Duration;

use common::config;
use engine::ops::IndicesOptions;
use engine::ops::cluster_settings::NewClusterSettings;
use engine::ops::index_settings::{NewSettings, SettingsChange};
use engine::{Config, Core, Everything, Result, start_all};
use env::{Clock, Env};
use json::json;
use sim::{Sim, SimEnv};

/// More than half a file of the log of the cluster state has room for, so that deleting all needs what is kept back.
const INDICES: usize = 60;

async fn start(env: &SimEnv) -> Vec<Rc<Core<SimEnv>>> {
    // A short log, of 32 blocks a file.
    let config = Config { state_log_bytes: 128 << 10, ..config() };
    start_all(env, config).await.expect("the state opens")
}

async fn put_script(core: &Core<SimEnv>, number: usize) -> Result<()> {
    let script = json!({"script": {"lang": "painless", "source": format!("return {number}")}});
    core.put_script(&Everything, &format!("s{number}"), &script, None).await
}

async fn set_block(core: &Rc<Core<SimEnv>>, is_set: bool) -> Result<()> {
    let settings = json!({"index.blocks.write": is_set});
    let new = NewSettings::read(&settings).expect("a setting");
    let change = SettingsChange::default();
    core.put_settings(&Everything, "i1", IndicesOptions::default(), new, change).await.map(drop)
}

async fn delete(core: &Rc<Core<SimEnv>>, name: &str) -> Result<()> {
    core.delete_index(&Everything, name, IndicesOptions::default()).await.map(drop)
}

/// The log of the cluster state took small changes until it was full, and then no index could be deleted, by which
/// room would have been made.
#[test]
fn indices_are_deleted_on_a_disk_that_other_changes_have_filled() {
    let sim = Sim::new(7);
    let (env, machine) = (sim.env(), &sim);
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[0];
        for number in 0..INDICES {
            let name = format!("i{number}");
            core.create_index(&Everything, &name, &json!({})).await.expect("there is room");
        }
        // What is kept back is made beside other work.
        env.clock().sleep(Duration::from_secs(2)).await;
        machine.set_free_bytes(0);
        let mut taken = 0;
        let refused = loop {
            match put_script(core, taken).await {
                Ok(()) => taken += 1,
                Err(error) => break error,
            }
            assert!(taken < 200, "the disk is full");
        };
        assert_eq!(refused.status, 429, "{}", refused.reason);
        assert!(
            refused.reason.contains("the disk is full, but for what is kept back"),
            "{refused:?}"
        );
        set_block(core, true).await.expect("a block protects what there is");
        set_block(core, false).await.expect("and is taken back");
        // Somebody may do so again and again; that ends before the last of the room.
        let mut blocks = 0;
        while set_block(core, blocks % 2 == 0).await.is_ok() {
            blocks += 1;
            assert!(blocks < 200, "the disk is full");
        }
        // The log says that all of it is synced, and rests.
        env.clock().sleep(Duration::from_secs(60)).await;
        for number in 0..INDICES {
            // Somebody else takes what room there is.
            machine.set_free_bytes(0);
            let name = format!("i{number}");
            delete(core, &name).await.unwrap_or_else(|error| panic!("{name}: {}", error.reason));
            machine.set_free_bytes(0);
            assert_eq!(put_script(core, 0).await.map_err(|error| error.status), Err(429));
        }
        assert!(core.state().indices.is_empty());
        machine.set_free_bytes(1 << 30);
        env.clock().sleep(Duration::from_secs(2)).await;
        for number in 0..100 {
            put_script(core, number).await.expect("there is room");
        }
        core.create_index(&Everything, "new", &json!({})).await.expect("there is room");
        assert!(sim_keeps_back(machine), "the file is there again");
    });
    sim.crash();
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let state = cores[0].state();
        let names: Vec<&str> = state.indices.values().map(|index| &*index.name).collect();
        assert_eq!(names, ["new"]);
    });

    fn sim_keeps_back(sim: &Sim) -> bool {
        sim.bytes("/data/cluster/reserve").is_some_and(|bytes| bytes.len() == 2 << 20)
    }
}

/// It stood for half a minute, as what somebody set by hand, where the first attempt to take it back came before the
/// log had looked for room again.
#[test]
fn the_block_of_the_flood_stage_goes_within_five_seconds() {
    let mut late = 0;
    for moment in 0..20 {
        let sim = Sim::new(9);
        let (env, machine) = (sim.env(), &sim);
        late += sim.run(async move {
            let cores = start(&env).await;
            let core = &cores[0];
            core.create_index(&Everything, "i1", &json!({})).await.expect("there is room");
            let watermark = "cluster.routing.allocation.disk.watermark";
            let marks = format!(
                r#"{{"{watermark}.low":"30mb","{watermark}.high":"20mb","{watermark}.flood_stage":"10mb"}}"#
            );
            let marks = json::parse(marks.as_bytes()).expect("JSON");
            let marks = NewClusterSettings::read(marks, json::Value::Null).expect("settings");
            core.put_cluster_settings(&Everything, marks).await.expect("there is room");
            env.clock().sleep(Duration::from_secs(70)).await;
            machine.set_free_bytes(0);
            env.clock().sleep(Duration::from_secs(3)).await;
            assert_eq!(core.blocked_for_room(), 1);
            // The log is filled up to what is kept back.
            for number in 0.. {
                if put_script(core, number).await.is_err() {
                    break;
                }
                assert!(number < 200, "the disk is full");
            }
            // And with it the part of that which blocks may have.
            for number in 0.. {
                let set = json!({"cluster.blocks.read_only": (number % 2 == 0)});
                let set = NewClusterSettings::read(set, json::Value::Null).expect("a setting");
                if core.put_cluster_settings(&Everything, set).await.is_err() {
                    break;
                }
                assert!(number < 200, "the disk is full");
            }
            // Somebody goes on asking, so the log has looked just now, whenever that is.
            for _ in 0..moment {
                assert!(put_script(core, 0).await.is_err());
                env.clock().sleep(Duration::from_millis(100)).await;
            }
            machine.set_free_bytes(1 << 30);
            env.clock().sleep(Duration::from_secs(5)).await;
            core.blocked_for_room()
        });
    }
    assert_eq!(late, 0, "blocks that stand still");
}

/// A node that starts on a full disk where nothing could be kept back refuses what may wait, and deletes.
#[test]
fn a_node_that_starts_on_a_full_disk_deletes() {
    let sim = Sim::new(8);
    let (env, machine) = (sim.env(), &sim);
    sim.run(async move {
        let cores = start(&env).await;
        for name in ["a", "b"] {
            cores[0].create_index(&Everything, name, &json!({})).await.expect("there is room");
        }
    });
    sim.crash();
    let env = sim.env();
    // A short one counts for nothing.
    sim.plant("/data/cluster/reserve", &[0; 4096]);
    sim.set_free_bytes(0);
    sim.run(async move {
        let cores = start(&env).await;
        env.clock().sleep(Duration::from_secs(5)).await;
        assert_eq!(put_script(&cores[0], 0).await.map_err(|error| error.status), Err(429));
        machine.set_free_bytes(0);
        delete(&cores[0], "a").await.expect("the file of the log has room");
        machine.set_free_bytes(1 << 30);
        env.clock().sleep(Duration::from_secs(2)).await;
        put_script(&cores[0], 0).await.expect("there is room");
        assert_eq!(cores[0].state().indices.len(), 1);
    });
}
