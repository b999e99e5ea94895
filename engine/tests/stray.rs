//! Folders of indices that the cluster state does not name: what holds documents is kept and told of,
//! what was deleted or never written goes.

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use cluster::state::uuid_text;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::{IndicesOptions, Refresh};
use engine::{Config, Core, Everything, start_all};
use env::{Bytes, Clock, Env};
use sim::{Sim, SimEnv};

thread_local! {
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The files of a data folder.
type Image = BTreeMap<PathBuf, Vec<u8>>;

fn image(sim: &Sim) -> Image {
    let files = sim.files().into_iter();
    files.map(|(path, _)| (path.clone(), sim.bytes(&path).expect("it is listed"))).collect()
}

fn plant(image: &Image) -> Sim {
    let sim = Sim::new(2);
    image.iter().for_each(|(path, bytes)| sim.plant(path, bytes));
    sim
}

/// Files below a folder.
fn below(image: &Image, folder: &str) -> Image {
    let files = image.iter().filter(|(path, _)| path.starts_with(folder));
    files.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
}

async fn start(env: &SimEnv) -> Result<Vec<Rc<Core<SimEnv>>>, String> {
    let warn = |text: &str| TOLD.with_borrow_mut(|told| told.push(text.to_owned()));
    let config = Config { warn, ..common::config() };
    start_all(env, config).await.map_err(|error| error.to_string())
}

/// What was told since it was last asked.
fn told() -> Vec<String> {
    TOLD.take()
}

async fn write(core: &Rc<Core<SimEnv>>, index: &str) {
    let item = WriteItem {
        source: Bytes::from(br#"{"n":1}"#.to_vec()),
        ..WriteItem::new(WriteAction::Index, index, "1")
    };
    core.write(&Everything, item, Refresh::No).await.expect("a healthy disk");
}

/// A store with the index `old`; the folders of its cluster state as they were before `new` (with a
/// document) and `empty` were made; and all files after that. `flushed`: the node was stopped in order.
fn stores(flushed: bool) -> (Image, Image, String, String) {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async {
        let cores = start(&env).await.expect("a healthy disk");
        write(&cores[0], "old").await;
        cores[0].stop().await;
    });
    sim.kill();
    let before = image(&sim);
    let env = sim.env();
    let (new, empty) = sim.run(async {
        let cores = start(&env).await.expect("a healthy disk");
        write(&cores[0], "new").await;
        cores[0].create_index(&Everything, "empty", &json::json!({})).await.expect("healthy");
        let uuid = |name: &str| uuid_text(cores[0].state().index(name).expect("made").uuid);
        let uuids = (uuid("new"), uuid("empty"));
        if flushed {
            cores[0].stop().await;
        }
        uuids
    });
    sim.kill();
    (below(&before, "/data/cluster"), image(&sim), new, empty)
}

#[test]
fn an_index_that_an_older_cluster_state_does_not_name_keeps_its_documents() {
    for flushed in [false, true] {
        let (cluster, mut files, new, empty) = stores(flushed);
        files.retain(|path, _| !path.starts_with("/data/cluster"));
        files.extend(cluster);
        let sim = plant(&files);
        let folder = format!("/data/indices/{new}");
        let kept = below(&files, &folder);
        told();
        let env = sim.env();
        sim.run(async {
            let cores = start(&env).await.expect("the state is whole");
            assert!(cores[0].state().index("new").is_none());
            write(&cores[0], "old").await;
            cores[0].stop().await;
        });
        assert_eq!(below(&image(&sim), &folder), kept, "no byte of it was touched");
        let told = told();
        let naming: Vec<_> = told.iter().filter(|text| text.contains(&folder)).collect();
        assert_eq!(naming.len(), 1, "{told:?}");
        assert!(naming[0].contains("it is kept as it is"), "{told:?}");
        // As it would be where its making had been cut short: nothing was acknowledged in it.
        assert!(below(&image(&sim), &format!("/data/indices/{empty}")).is_empty());
        assert!(!told.iter().any(|text| text.contains(&empty)), "{told:?}");
    }
}

#[test]
fn beside_documents_no_empty_cluster_state_is_begun() {
    let (_, mut files, ..) = stores(true);
    files.retain(|path, _| !path.starts_with("/data/cluster"));
    let sim = plant(&files);
    let env = sim.env();
    let refused = sim.run(async { start(&env).await.map(|_| ()) });
    let refused = refused.expect_err("the state is gone");
    assert!(refused.contains("there is no cluster state, while [/data/indices/"), "{refused}");
    let indices = below(&files, "/data/indices");
    assert_eq!(below(&image(&sim), "/data/indices"), indices, "no byte of it was touched");
    assert!(below(&image(&sim), "/data/cluster").is_empty());
}

#[test]
fn what_is_left_of_a_deleted_index_goes_at_the_next_start() {
    let (_, files, new, _) = stores(true);
    let sim = plant(&files);
    let env = sim.env();
    sim.run(async {
        let cores = start(&env).await.expect("healthy");
        let deleted = cores[0].delete_index(&Everything, "new", IndicesOptions::default()).await;
        deleted.expect("it was there");
    });
    sim.kill();
    let folder = format!("/data/indices/{new}");
    assert!(below(&image(&sim), &folder).is_empty());
    // As if the process had ended in the middle of the removal.
    below(&files, &folder).iter().for_each(|(path, bytes)| sim.plant(path, bytes));
    told();
    let env = sim.env();
    sim.run(async {
        let cores = start(&env).await.expect("healthy");
        cores[0].stop().await;
    });
    assert!(below(&image(&sim), &folder).is_empty());
    assert_eq!(told(), Vec::<String>::new());
}

/// What cores keep back for their logs was kept for ever where a node has fewer cores than before.
#[test]
fn what_cores_kept_back_that_are_no_more_is_given_back() {
    let sim = Sim::new(9);
    let reserves = |sim: &Sim| {
        let names = sim.names("/data/node").into_iter();
        names.filter(|name| name.starts_with("reserve-")).collect::<Vec<_>>()
    };
    for (cores, expected) in [(3, 3), (1, 1)] {
        let env = sim.env();
        sim.run(async move {
            let config = Config { cores, ..common::config() };
            let cores = start_all(&env, config).await.expect("it starts");
            // They are made beside other work.
            env.clock().sleep(std::time::Duration::from_secs(1)).await;
            cores[0].stop().await;
        });
        assert_eq!(reserves(&sim).len(), expected, "{:?}", reserves(&sim));
        sim.kill();
    }
}
