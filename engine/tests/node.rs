//! A whole node below HTTP, of two cores, on a simulated machine: one thread, one seed.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engine::Everything;
use engine::node::Entry;
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{GetRequest, SourceFilter, VersionType, WriteAction, WriteItem};
use engine::ops::search::SearchCall;
use engine::ops::{IndicesOptions, Refresh};
use env::{Bytes, Clock, Env};
use sim::{Sim, SimEnv};

use common::start;

fn item(action: WriteAction, index: &str, id: &str, source: &str) -> WriteItem {
    WriteItem {
        source: Bytes::from(source.as_bytes().to_vec()),
        ..WriteItem::new(action, index, id)
    }
}

fn get(index: &str, id: &str) -> GetRequest {
    GetRequest {
        index: index.to_owned(),
        id: id.to_owned(),
        routing: None,
        realtime: true,
        refresh: false,
        version: None,
        version_type: VersionType::Internal,
        source: SourceFilter::default(),
        stored_fields: Arc::default(),
    }
}

fn search(indices: &str, body: &str) -> SearchCall {
    SearchCall {
        indices: indices.to_owned(),
        options: IndicesOptions::default(),
        body: Bytes::from(body.as_bytes().to_vec()),
        params: Vec::new(),
        partial_results: true,
        routing: Vec::new(),
        ..SearchCall::default()
    }
}

#[test]
fn a_document_is_written_on_one_core_and_found_on_another() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        for (at, text) in ["red fox", "red hen", "blue fox"].iter().enumerate() {
            let source = format!(r#"{{"text":"{text}","n":{at}}}"#);
            let write = item(WriteAction::Index, "animals", &at.to_string(), &source);
            let done = cores[at % 2].write(&Everything, write, Refresh::Now).await;
            let done = done.expect("nothing is wrong with it");
            assert_eq!((done.seq_no, done.version), (at as u64, 1));
        }
        for core in &cores {
            let reply = core
                .search(&Everything, &search("animals", r#"{"query":{"match":{"text":"fox"}}}"#))
                .await
                .expect("a good query");
            let ids: Vec<_> = reply.result.hits.iter().filter_map(|hit| hit.id.clone()).collect();
            assert_eq!(ids, ["0", "2"]);
            let found =
                core.get(&Everything, &get("animals", "1")).await.expect("the index is there");
            let source = found.found.and_then(|found| found.source).expect("it was written");
            assert_eq!(&*source, br#"{"text":"red hen","n":1}"#);
        }
        cores[0].stop().await;
    });
}

#[test]
fn items_of_a_bulk_request_stand_alone_and_new_fields_are_agreed_on() {
    let sim = Sim::new(2);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let items = vec![
            item(WriteAction::Index, "mixed", "1", r#"{"n":1}"#),
            item(WriteAction::Index, "mixed", "2", r#"{"n":"no number"}"#),
            item(WriteAction::Create, "mixed", "1", r#"{"n":2}"#),
            item(WriteAction::Index, "mixed", "3", r#"{"n":3,"later":"text"}"#),
            item(WriteAction::Delete, "mixed", "1", ""),
            item(WriteAction::Index, "Wrong", "1", "{}"),
            item(WriteAction::Delete, "absent", "1", ""),
        ];
        let reply = cores[1].bulk(&Everything, BulkRequest { items, refresh: Refresh::No }).await;
        let told: Vec<String> = reply
            .items
            .iter()
            .map(|item| match &item.result {
                Ok(done) => format!("{} {}", done.result.as_str(), done.seq_no),
                Err(error) => format!("{} {}", error.status, error.kind),
            })
            .collect();
        assert_eq!(
            told,
            [
                "created 0",
                "400 document_parsing_exception",
                "409 version_conflict_engine_exception",
                "created 1",
                "deleted 2",
                "400 invalid_index_name_exception",
                "404 index_not_found_exception",
            ]
        );
        let state = cores[0].state();
        let mapping = &state.index("mixed").expect("made on the way").mapping;
        assert!(mapping.field("later.keyword").is_some());
        cores[0].stop().await;
    });
}

#[test]
fn shards_that_count_together_score_as_one_would() {
    let sim = Sim::new(4);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[0];
        for (index, shards) in [("one", 1), ("three", 3)] {
            let body = format!(r#"{{"settings":{{"number_of_shards":{shards}}}}}"#);
            let body = json::parse(body.as_bytes()).expect("it is JSON");
            core.create_index(&Everything, index, &body).await.expect("a good name");
            let words = ["red fox", "blue fox", "red red hen", "old grey hen", "hen"];
            let items = (0..20).map(|at: usize| {
                let source = format!(r#"{{"text":"{}","good":{}}}"#, words[at % 5], at.is_multiple_of(3));
                item(WriteAction::Index, index, &at.to_string(), &source)
            });
            let request = BulkRequest { items: items.collect(), refresh: Refresh::Now };
            let reply = core.bulk(&Everything, request).await;
            assert!(reply.items.iter().all(|item| item.result.is_ok()));
        }
        for query in [
            r#"{"match":{"text":"red hen"}}"#,
            r#"{"term":{"good":true}}"#,
            r#"{"match_phrase":{"text":"grey hen"}}"#,
            r#"{"span_term":{"text":"red"}}"#,
            r#"{"span_first":{"match":{"span_multi":{"match":{"prefix":{"text":"re"}}}},"end":1}}"#,
            r#"{"more_like_this":{"like":"grey fox","fields":["text"],"min_term_freq":1,"min_doc_freq":1,"minimum_should_match":1}}"#,
        ] {
            let body = format!(r#"{{"size":20,"query":{query}}}"#);
            let mut found = Vec::new();
            for index in ["one", "three"] {
                let mut call = search(index, &body);
                call.params.push(("search_type".into(), "dfs_query_then_fetch".into()));
                let reply = core.search(&Everything, &call).await.expect("a good query");
                let hits = reply.result.hits.iter().map(|hit| (hit.id.clone(), hit.score));
                found.push(hits.collect::<BTreeMap<_, _>>());
            }
            assert!(!found[0].is_empty(), "{query}");
            assert_eq!(found[0], found[1], "{query}");
        }
        cores[0].stop().await;
    });
}

#[test]
fn what_was_acknowledged_survives_a_power_cut_and_deleted_indices_stay_deleted() {
    for seed in 0..20 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async move {
            let cores = start(&env).await;
            for at in 0..30 {
                let index = if at % 3 == 0 { "gone" } else { "kept" };
                let source = format!(r#"{{"n":{at}}}"#);
                let write = item(WriteAction::Index, index, &at.to_string(), &source);
                cores[at % 2].write(&Everything, write, Refresh::No).await.expect("a healthy disk");
            }
            cores[1]
                .delete_index(&Everything, "gone", IndicesOptions::default())
                .await
                .expect("it was there");
        });
        sim.crash();
        let env = sim.env();
        sim.run(async move {
            let cores = start(&env).await;
            let state = cores[0].state();
            assert!(state.index("gone").is_none(), "seed {seed}");
            for at in (0..30).filter(|at| at % 3 != 0) {
                let found = cores[at % 2].get(&Everything, &get("kept", &at.to_string())).await;
                let found = found.expect("the shard serves").found;
                let found = found.unwrap_or_else(|| panic!("seed {seed}: {at} is lost"));
                assert_eq!(found.source.as_deref(), Some(format!(r#"{{"n":{at}}}"#).as_bytes()));
            }
            cores[0].stop().await;
        });
    }
}

/// The date of the license was that of the last start.
#[test]
fn a_cluster_remembers_when_it_was_made() {
    let sim = Sim::new(1);
    let made_ms = |env: SimEnv| async move {
        let cores = start(&env).await;
        let made_ms = cores[1].state().created_ms;
        env.clock().sleep(Duration::from_secs(3_600)).await;
        cores[0].stop().await;
        made_ms
    };
    let first = sim.run(made_ms(sim.env()));
    assert!(first.is_some());
    sim.crash();
    assert_eq!(sim.run(made_ms(sim.env())), first);
}

/// A core that was asked nothing after the deletion kept the directory of before, and with it the files.
#[test]
fn a_deleted_index_is_held_by_no_core() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let write = item(WriteAction::Index, "gone", "1", r#"{"n":1}"#);
        cores[0].write(&Everything, write, Refresh::Now).await.expect("a healthy disk");
        let options = IndicesOptions::default;
        cores[0].flush(&Everything, "gone", options()).await.expect("a healthy disk");
        let query = search("gone", r#"{"query":{"range":{"n":{"gt":0}}}}"#);
        for core in &cores {
            let found = core.search(&Everything, &query).await.expect("healthy");
            assert_eq!(found.result.hits.len(), 1);
        }
        let files: Vec<_> = {
            let directory = cores[1].directory();
            let readers = directory.shards.values().map(|entry| match entry {
                Entry::Open(reader) => reader.clone(),
                Entry::Opening | Entry::Failed(_) => panic!("a healthy disk"),
            });
            let views: Vec<_> = readers.map(|reader| reader.view.load()).collect();
            let segments = views.iter().flat_map(|view| &view.segments);
            segments.map(|at| Arc::downgrade(at.segment.file())).collect()
        };
        assert_eq!(files.len(), 1);
        cores[0].delete_index(&Everything, "gone", options()).await.expect("it was there");
        env.clock().sleep(Duration::from_secs(2)).await;
        assert!(files.iter().all(|file| file.upgrade().is_none()), "somebody holds it");
        cores[0].stop().await;
    });
}
