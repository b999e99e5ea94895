//! The round through the whole store, in virtual time: it comes every seven days, reads everything at
//! its pace, and a damage fails one shard, with the file's name, while all others serve.

mod common;

use std::rc::Rc;
use std::time::Duration;

use common::start;
use engine::ops::bulk::BulkRequest;
use engine::ops::cluster_settings::NewClusterSettings;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::observe::{Health, HealthWait};
use engine::ops::search::SearchCall;
use engine::ops::stats::Closed;
use engine::ops::{IndicesOptions, Refresh};
use engine::{Core, Everything};
use env::{Bytes, Clock, Env};
use sim::{Sim, SimEnv};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn fill(core: &Rc<Core<SimEnv>>, index: &str, count: u32) {
    let items = (0..count).map(|at| WriteItem {
        source: Bytes::from(format!(r#"{{"text":"word{at}"}}"#).into_bytes()),
        ..WriteItem::new(WriteAction::Index, index, at.to_string())
    });
    let request = BulkRequest { items: items.collect(), refresh: Refresh::No };
    let reply = core.bulk(&Everything, request).await;
    assert!(reply.items.iter().all(|item| item.result.is_ok()));
    core.flush(&Everything, index, IndicesOptions::default()).await.expect("a healthy disk");
}

/// Hits and failures of a search of an index.
async fn search(core: &Rc<Core<SimEnv>>, index: &str) -> Result<u64, String> {
    let call = SearchCall {
        indices: index.to_owned(),
        body: Bytes::from(br#"{"size":0,"track_total_hits":true}"#.to_vec()),
        ..SearchCall::default()
    };
    match core.search(&Everything, &call).await {
        Ok(reply) => Ok(reply.result.total.map_or(0, |total| total.value)),
        Err(error) => Err(error.root_causes.first().map_or(error.reason, |it| it.reason.clone())),
    }
}

#[test]
fn a_round_comes_every_seven_days_and_names_what_is_damaged() {
    let sim = Sim::new(7);
    let env = sim.env();
    let (sim_files, cores) = sim.run(async {
        let cores = start(&env).await;
        fill(&cores[0], "good", 50).await;
        fill(&cores[1], "bad", 50).await;
        let bad = cores[0].state().index("bad").expect("made").uuid;
        env.clock().sleep(6 * DAY + DAY / 2).await;
        let told = &cores[0].shared().scrubbing;
        assert_eq!(told.rounds_begun.get(), 0, "it is not yet time");
        env.clock().sleep(DAY).await;
        assert_eq!((told.rounds_ended.get(), told.damages.get()), (1, 0));
        assert_eq!(told.done.get(), told.wanted.get());
        assert!(told.read_bytes.get() > 0);
        (cluster::state::uuid_text(bad), cores)
    });
    let folder = format!("/data/indices/{sim_files}/0");
    let name = sim.names(&folder).into_iter().find(|name| name.starts_with("segment-"));
    let path = format!("{folder}/{}", name.expect("it was flushed"));
    sim.rot(&path, 100, 1);
    sim.run(async {
        assert_eq!(search(&cores[0], "bad").await, Ok(50), "nobody has looked there");
        env.clock().sleep(7 * DAY).await;
        let told = &cores[0].shared().scrubbing;
        assert_eq!((told.rounds_ended.get(), told.damages.get()), (2, 1));
        search(&cores[0], "bad").await.expect_err("it is damaged");
        let (state, directory) = (cores[0].state(), cores[0].directory());
        let failure = directory.failure(state.index("bad").expect("made"), 0).expect("it is known");
        let file = path.strip_prefix("/data/").expect("it lies in the store");
        assert!(failure.why.starts_with(&format!("[{file}] ")), "{failure:?}");
        assert_eq!(search(&cores[0], "good").await, Ok(50));
        let ended_ms = told.ended_ms.get();
        cores[0].stop().await;
        drop(cores);
        let cores = start(&env).await;
        env.clock().sleep(DAY).await;
        let told = &cores[0].shared().scrubbing;
        assert_eq!(told.rounds_begun.get(), 0, "a restart repeats no round");
        assert_eq!(told.ended_ms.get(), ended_ms);
        cores[0].stop().await;
    });
}

#[test]
fn a_shard_whose_damage_a_search_meets_is_shown_as_failed() {
    // Once it was shown as started until the next round, while every search of it failed.
    let sim = Sim::new(9);
    let env = sim.env();
    let bad = sim.run(async {
        let cores = start(&env).await;
        fill(&cores[0], "bad", 2_000).await;
        let bad = cores[0].state().index("bad").expect("made").uuid;
        cores[0].stop().await;
        cluster::state::uuid_text(bad)
    });
    let folder = format!("/data/indices/{bad}/0");
    let name = sim.names(&folder).into_iter().find(|name| name.starts_with("segment-"));
    let path = format!("{folder}/{}", name.expect("it was flushed"));
    // The second page: ids of documents, which nobody reads before they are asked for.
    sim.rot(&path, 5_000, 1);
    sim.run(async {
        // Files are read afresh, and only where somebody looks.
        let cores = start(&env).await;
        let red = |status: Health| status == Health::Red;
        assert!(!red(health(&cores[1]).await), "nobody has looked there");
        let call = SearchCall {
            indices: "bad".to_owned(),
            body: Bytes::from(br#"{"size":2000}"#.to_vec()),
            ..SearchCall::default()
        };
        cores[1].search(&Everything, &call).await.expect_err("it reads what is damaged");
        env.clock().sleep(Duration::from_millis(10)).await;
        assert!(red(health(&cores[0]).await) && red(health(&cores[1]).await));
        let all = IndicesOptions::default();
        let stats =
            cores[1].index_stats(&Everything, "indices:monitor/stats", "bad", all, Closed::Show);
        let stats = stats.await.expect("the index is there");
        assert_eq!(stats[0].shards[0].standing.as_str(), "UNASSIGNED");
        // What is known stays known when nobody reads the files any more.
        cores[1].close_indices(&Everything, "bad", all).await.expect("it may be closed");
        assert!(red(health(&cores[0]).await) && red(health(&cores[1]).await));
        cores[0].stop().await;
    });
}

#[test]
fn a_round_reads_closed_indices_too() {
    let sim = Sim::new(11);
    let env = sim.env();
    let (cores, folders) = sim.run(async {
        let cores = start(&env).await;
        let mut folders = Vec::new();
        for index in ["whole", "body", "slot", "log"] {
            fill(&cores[0], index, 50).await;
            let uuid = cores[0].state().index(index).expect("made").uuid;
            folders.push(format!("/data/indices/{}/0", cluster::state::uuid_text(uuid)));
            let all = IndicesOptions::default();
            cores[1].close_indices(&Everything, index, all).await.expect("it may be closed");
        }
        cores[0].scrub().await;
        let told = &cores[0].shared().scrubbing;
        assert_eq!((told.done.get(), told.damages.get()), (told.wanted.get(), 0));
        assert!(told.files.get() > 8, "a segment and a manifest of each");
        (cores, folders)
    });
    let named = |folder: &str, start: &str| {
        let name = sim.names(folder).into_iter().find(|name| name.starts_with(start));
        format!("{folder}/{}", name.expect("it was flushed"))
    };
    let damaged = [
        named(&folders[1], "segment-"),
        named(&folders[2], "manifest-"),
        named(&folders[3], "log-"),
    ];
    for (path, at) in damaged.iter().zip([100, 30, 4_100]) {
        sim.rot(path, at, 1);
    }
    sim.run(async {
        cores[0].scrub().await;
        let told = &cores[0].shared().scrubbing;
        assert_eq!((told.done.get(), told.damages.get()), (told.wanted.get(), 3));
        let (state, directory) = (cores[1].state(), cores[1].directory());
        assert!(directory.failure(state.index("whole").expect("made"), 0).is_none());
        for (index, path) in ["body", "slot", "log"].into_iter().zip(&damaged) {
            let failure = directory.failure(state.index(index).expect("made"), 0);
            let file = path.strip_prefix("/data/").expect("it lies in the store");
            let why = &failure.expect("it is known").why;
            assert!(why.starts_with(&format!("[{file}] ")), "{index}: {why}");
            assert!(!why.contains("renamed"), "a round changes nothing: {why}");
        }
        cores[0].stop().await;
    });
}

/// The worst colour of all indices, as a core sees it.
async fn health(core: &Rc<Core<SimEnv>>) -> Health {
    let all = IndicesOptions { expand_closed: true, ..IndicesOptions::default() };
    let reply = core.cluster_health(&Everything, "", all, &HealthWait::default()).await;
    reply.expect("it can be asked").status
}

#[test]
fn a_round_keeps_its_pace() {
    let sim = Sim::new(8);
    let env = sim.env();
    sim.run(async {
        let cores = start(&env).await;
        fill(&cores[0], "t", 50).await;
        let slow = json::json!({"indices.scrub.max_bytes_per_sec": "1kb"});
        let slow = NewClusterSettings::read(slow, json::Value::Null).expect("one setting");
        cores[0].put_cluster_settings(&Everything, slow).await.expect("known");
        let begun = env.clock().monotonic();
        cores[0].scrub().await;
        let took = env.clock().monotonic().saturating_sub(begun);
        let bytes = cores[0].shared().scrubbing.read_bytes.get();
        assert!(took >= Duration::from_millis(bytes * 1000 / 1024), "{bytes} bytes in {took:?}");
        cores[0].stop().await;
    });
}
