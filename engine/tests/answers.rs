//! Answers that are kept: told again while nothing changes, and never when something did.

mod common;

use std::rc::Rc;
use std::sync::Arc;

use engine::gate::{Gate, Limits};
use engine::node::Entry;
use engine::ops::bulk::BulkRequest;
use engine::ops::cluster_settings::NewClusterSettings;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::search::{SearchCall, SearchReply};
use engine::ops::{IndicesOptions, Refresh};
use engine::{Config, Core, Everything, Result, start_all};
use env::Bytes;
use json::json;
use sim::{Sim, SimEnv};

use common::{config, start};

const COUNT: &str = r#"{"size":0,"track_total_hits":true,"query":{"match":{"t":"fox"}},"aggs":{"n":{"sum":{"field":"n"}}}}"#;

fn call(body: &str) -> SearchCall {
    SearchCall {
        indices: "animals".to_owned(),
        body: Bytes::from(body.as_bytes().to_vec()),
        partial_results: true,
        ..SearchCall::default()
    }
}

async fn write(core: &Rc<Core<SimEnv>>, ids: std::ops::Range<usize>, refresh: Refresh) {
    let item = |id: usize| WriteItem {
        source: Bytes::from(format!(r#"{{"t":"a fox","n":{id}}}"#).into_bytes()),
        ..WriteItem::new(WriteAction::Index, "animals", id.to_string())
    };
    let reply =
        core.bulk(&Everything, BulkRequest { items: ids.map(item).collect(), refresh }).await;
    assert!(reply.items.iter().all(|item| item.result.is_ok()));
}

/// Found, missed, gone for want of room, bytes, of all shards.
fn counts(core: &Core<SimEnv>) -> [u64; 4] {
    let mut sum = [0; 4];
    for entry in core.directory().shards.values() {
        let Entry::Open(reader) = entry else { continue };
        let kept = &reader.uses().answers;
        let own = [kept.found.get(), kept.missed.get(), kept.pressed.get(), kept.held_bytes()];
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    sum
}

fn total(reply: &SearchReply) -> u64 {
    reply.result.total.expect("counted").value
}

/// How often one was found, and might have been, by this search done twice.
async fn twice(core: &Rc<Core<SimEnv>>, gate: &dyn Gate, call: &SearchCall) -> (u64, u64) {
    let [found, missed, ..] = counts(core);
    let first = core.search(gate, call).await.expect("a good search");
    let second = core.search(gate, call).await.expect("a good search");
    assert_eq!(first.result, second.result);
    let [found_now, missed_now, ..] = counts(core);
    (found_now - found, missed_now - missed)
}

#[test]
fn an_answer_is_told_again_until_what_it_follows_from_changes() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[0];
        write(core, 0..10, Refresh::Now).await;
        assert_eq!(twice(core, &Everything, &call(COUNT)).await, (1, 1));
        assert!(counts(core)[3] > 0);
        let other = cores[1].search(&Everything, &call(COUNT)).await.expect("a good search");
        assert_eq!((total(&other), counts(core)[1]), (10, 2), "each core keeps its own");
        // Searches count whether they looked or not.
        let queries = |core: &Core<SimEnv>| -> u64 {
            let open = core.directory();
            let readers = open.shards.values().filter_map(|entry| match entry {
                Entry::Open(reader) => Some(reader.uses().query.ended.count.get()),
                _ => None,
            });
            readers.sum()
        };
        assert_eq!(queries(core), 3);
        // Documents that are not shown yet change nothing; when they are, they count.
        write(core, 10..12, Refresh::No).await;
        let reply = core.search(&Everything, &call(COUNT)).await.expect("a good search");
        assert_eq!((total(&reply), counts(core)[0]), (10, 2));
        core.refresh(&Everything, "animals", IndicesOptions::default()).await.expect("it is there");
        let reply = core.search(&Everything, &call(COUNT)).await.expect("a good search");
        assert_eq!((total(&reply), counts(core)[1]), (12, 3));
        // The index means something else.
        let mapping = json!({"properties": {"more": {"type": "keyword"}}});
        let options = IndicesOptions::default();
        let put = core.put_mapping(&Everything, "animals", options, false, mapping).await;
        put.expect("a new field");
        assert_eq!(twice(core, &Everything, &call(COUNT)).await, (1, 1));
        // What may be asked is the cluster's to say.
        let allow = json!({"search.allow_expensive_queries": false});
        let wild = call(r#"{"size":0,"query":{"wildcard":{"t":"f*x"}}}"#);
        assert_eq!(twice(core, &Everything, &wild).await, (1, 1));
        let new = NewClusterSettings::read(allow, json!({})).expect("settings");
        core.put_cluster_settings(&Everything, new).await.expect("a good setting");
        assert!(core.search(&Everything, &wild).await.is_err(), "though its answer is kept");
        assert_eq!(twice(core, &Everything, &call(COUNT)).await, (1, 1));
        // Cleared on one core, gone on both.
        cores[1].search(&Everything, &call(COUNT)).await.expect("a good search");
        core.clear_cache(&Everything, "animals", options, true).await.expect("it is there");
        assert_eq!(counts(core)[3], 0);
        let missed = counts(core)[1];
        for core in &cores {
            core.search(&Everything, &call(COUNT)).await.expect("a good search");
        }
        assert_eq!(counts(core)[1] - missed, 2);
        core.clear_cache(&Everything, "animals", options, false).await.expect("it is there");
        assert!(counts(core)[3] > 0, "other caches were meant");
        cores[0].stop().await;
    });
}

/// Hides a field, or documents.
struct Hiding(Limits);

impl Gate for Hiding {
    fn cluster(&self, _action: &'static str) -> Result<()> {
        Ok(())
    }

    fn index(&self, _action: &'static str, _index: &str) -> Result<Limits> {
        Ok(self.0.clone())
    }
}

#[test]
fn what_may_find_something_else_is_not_kept() {
    let sim = Sim::new(2);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[0];
        write(core, 0..10, Refresh::Now).await;
        let dated = json!({"properties": {"at": {"type": "date"}}});
        let options = IndicesOptions::default();
        core.put_mapping(&Everything, "animals", options, false, dated).await.expect("a new field");
        let filter = Some(Arc::new(json!({"term": {"n": 1}})));
        let hiding = Hiding(Limits { filter, key: 1, ..Limits::default() });
        let seen = core.search(&Everything, &call(COUNT)).await.expect("a good search");
        let hidden = core.search(&hiding, &call(COUNT)).await.expect("a good search");
        assert_eq!((total(&seen), total(&hidden)), (10, 1));
        assert_eq!(twice(core, &hiding, &call(COUNT)).await, (0, 0));
        for body in [
            r#"{"size":0,"query":{"range":{"at":{"gte":"now-1d"}}}}"#,
            r#"{"size":0,"query":{"range":{"at":{"gte":"\u006eow-1d"}}}}"#,
            r#"{"size":0,"query":{"function_score":{"random_score":{}}}}"#,
            r#"{"size":0,"query":{"query_string":{"query":"at:[n\\ow-1d TO *]"}}}"#,
            r#"{"size":0,"query":{"function_score":{"min_score":0.5,"gauss":{"at":{"scale":"2s"}}}}}"#,
            r#"{"size":0,"query":{"script":{"script":"doc['n'].value > 3"}}}"#,
            r#"{"size":0,"query":{"terms":{"n":{"index":"animals","id":"1","path":"n"}}}}"#,
            r#"{"size":0,"profile":true}"#,
            r#"{"size":0,"suggest":{"a":{"text":"fix","term":{"field":"t"}}}}"#,
            r#"{"query":{"match":{"t":"fox"}}}"#,
        ] {
            assert_eq!(twice(core, &Everything, &call(body)).await, (0, 0), "{body}");
        }
        let off = json!({"settings": {"index.requests.cache.enable": false}});
        core.create_index(&Everything, "off", &off).await.expect("a good name");
        let forbidden = SearchCall { indices: "off".to_owned(), ..call(COUNT) };
        assert_eq!(twice(core, &Everything, &forbidden).await, (0, 0));
        let wanted = SearchCall { request_cache: Some(true), ..forbidden };
        assert_eq!(twice(core, &Everything, &wanted).await, (1, 1), "the search has the last word");
        let with =
            |body: &str, wanted: bool| SearchCall { request_cache: Some(wanted), ..call(body) };
        assert_eq!(twice(core, &Everything, &with(COUNT, false)).await, (0, 0));
        let hits = with(r#"{"query":{"match":{"t":"fox"}}}"#, true);
        assert_eq!(twice(core, &Everything, &hits).await, (1, 1));
        // What differs beside the body is another search.
        let params = vec![("size".to_owned(), "3".to_owned())];
        assert_eq!(twice(core, &Everything, &SearchCall { params, ..hits }).await, (1, 1));
        cores[0].stop().await;
    });
}

#[test]
fn no_more_is_kept_than_there_is_room_for() {
    let sim = Sim::new(3);
    let env = sim.env();
    sim.run(async move {
        let config = Config { memory_bytes: 64 << 20, ..config() };
        let cores = start_all(&env, config).await.expect("the state opens");
        let core = &cores[0];
        write(core, 0..10, Refresh::Now).await;
        let long = "x".repeat(8_000);
        for at in 0..200 {
            let body = format!(r#"{{"size":0,"query":{{"match":{{"t":"fox {long}{at}"}}}}}}"#);
            core.search(&Everything, &call(&body)).await.expect("a good search");
        }
        let [_, missed, pressed, bytes] = counts(core);
        assert_eq!(missed, 200);
        // A hundredth of the memory, by halves.
        assert!((250_000..(64 << 20) / 200).contains(&bytes), "{bytes}");
        assert!((150..200).contains(&pressed), "{pressed}");
        // The newest are there.
        let body = format!(r#"{{"size":0,"query":{{"match":{{"t":"fox {long}199"}}}}}}"#);
        core.search(&Everything, &call(&body)).await.expect("a good search");
        assert_eq!(counts(core)[0], 1);
        cores[0].stop().await;
    });
}
