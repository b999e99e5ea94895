//! A search whose time has ended when its plan is made, or while it is: it finds nothing, and says so.

mod common;

use engine::ops::Refresh;
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::search::{SearchCall, SearchReply};
use engine::{Everything, start_all};
use env::{Bytes, Clock, Env};
use json::{Value, json};
use search::aggs::shape::Name;
use sim::Sim;

/// Documents, and words of which each has one.
const DOCS: usize = 60;

fn call(body: &Value, params: &[(&str, &str)]) -> SearchCall {
    SearchCall {
        indices: "a*".to_owned(),
        body: Bytes::from(json::to_vec(body)),
        params: params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        partial_results: true,
        ..SearchCall::default()
    }
}

/// The shape of an answer: its shards, and the names of its aggregations.
fn shape(reply: &SearchReply) -> (u32, u32, Vec<&Name>) {
    let aggs = reply.result.aggs.iter().flatten().map(|(name, _)| name);
    (reply.shards.successful, reply.shards.failed, aggs.collect())
}

/// Ways to ask of which each takes another way to its plan.
fn bodies() -> Vec<Value> {
    let pattern = json!({"value": "*1*", "rewrite": "top_terms_10"});
    let words: Vec<String> = (0..5_000).map(|at| format!("w{at}")).collect();
    vec![
        json!({"query": {"match": {"t": "w1 w2 w3"}}}),
        json!({"query": {"wildcard": {"t.keyword": (pattern)}}}),
        json!({"query": {"terms": {"t.keyword": words}}, "sort": [{"n": "desc"}]}),
        json!({"query": {"more_like_this": {"fields": ["t"], "like": "w1 w2", "min_doc_freq": 1, "min_term_freq": 1}}}),
        json!({"query": {"range": {"n": {"gte": 3}}}, "aggs": {"by": {"terms": {"field": "t.keyword"}, "aggs": {"m": {"max": {"field": "n"}}}}}}),
        json!({"size": 0, "aggs": {"f": {"filters": {"filters": {"x": {"match": {"t": "w1"}}}}}, "g": {"global": {}, "aggs": {"m": {"avg": {"field": "n"}}}}}, "query": {"range": {"n": {"gte": 1}}}, "post_filter": {"range": {"n": {"lte": 2}}}}),
        json!({"query": {"match": {"t": "w1 w2"}}, "rescore": {"window_size": 5, "query": {"rescore_query": {"match": {"t": "w2"}}}}}),
        json!({"query": {"match": {"t": "w1 w2"}}, "highlight": {"fields": {"t": {}}}, "suggest": {"s": {"text": "w1x", "term": {"field": "t"}}}}),
    ]
}

/// All of the time went into the plans, and the search that followed was as long as ever.
#[test]
fn a_plan_that_took_the_time_finds_nothing_and_says_so() {
    let sim = Sim::new(11);
    let env = sim.env();
    sim.run(async move {
        let cores = start_all(&env, common::config()).await.expect("a healthy disk");
        let core = &cores[0];
        let settings = json!({"settings": {"index.number_of_shards": 2}});
        for index in ["a1", "a2"] {
            core.create_index(&Everything, index, &settings).await.expect("a good name");
            let items = (0..DOCS).map(|at| WriteItem {
                source: Bytes::from(json::to_vec(
                    &json!({"t": (format!("w{at}")), "n": (at as u64)}),
                )),
                ..WriteItem::new(WriteAction::Index, index, at.to_string())
            });
            let items = items.collect();
            core.bulk(&Everything, BulkRequest { items, refresh: Refresh::Now }).await;
        }
        for body in bodies() {
            for kind in ["query_then_fetch", "dfs_query_then_fetch"] {
                let asked =
                    |timeout: &str| call(&body, &[("search_type", kind), ("timeout", timeout)]);
                let whole = core.search(&Everything, &asked("1h")).await.expect("a good request");
                assert!(!whole.timed_out, "{body:?}");
                assert_ne!(whole.result.total.expect("counted").value, 0, "{body:?}");
                let begun = env.clock().monotonic();
                let late = core.search(&Everything, &asked("0ms")).await.expect("a part of it");
                assert!(env.clock().monotonic() > begun, "it was late");
                assert!(late.timed_out, "{body:?}");
                assert!(late.result.hits.is_empty(), "{body:?}");
                assert_eq!(late.result.total.expect("counted").value, 0, "{body:?}");
                assert_eq!(shape(&late), shape(&whole), "{body:?}");
                assert_eq!(late.suggest.len(), whole.suggest.len(), "{body:?}");
            }
        }
    });
}
