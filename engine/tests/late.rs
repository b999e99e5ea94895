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
                let whole_or_none = SearchCall { partial_results: false, ..asked("0ms") };
                let failed = core.search(&Everything, &whole_or_none).await;
                let failed = failed.expect_err("no part of it is taken");
                assert_eq!(
                    (failed.status, &*failed.kind),
                    (504, "search_phase_execution_exception")
                );
                let mut reasons = failed.failed_shards.iter().map(|it| &*it.reason.kind);
                assert!(reasons.len() > 0, "{body:?}");
                assert!(reasons.all(|kind| kind == "search_timeout_exception"), "{body:?}");
                let whole_or_none = SearchCall { partial_results: false, ..asked("1h") };
                let whole = core.search(&Everything, &whole_or_none).await;
                assert!(!whole.expect("there is time").timed_out, "{body:?}");
            }
        }
    });
}

/// The query was in time, and what came behind it knew of no time: the second scores, and what is suggested.
#[test]
fn what_comes_behind_the_query_ends_with_the_time_of_the_search() {
    let sim = Sim::new(12);
    let env = sim.env();
    sim.run(async move {
        let cores = start_all(&env, common::config()).await.expect("a healthy disk");
        let core = &cores[0];
        let settings = json!({"settings": {"index.number_of_shards": 1}});
        core.create_index(&Everything, "a1", &settings).await.expect("a good name");
        let items = (0..DOCS).map(|at| WriteItem {
            source: Bytes::from(json::to_vec(&json!({"t": (format!("all w{at}")), "n": (at as u64)}))),
            ..WriteItem::new(WriteAction::Index, "a1", at.to_string())
        });
        let items = items.collect();
        core.bulk(&Everything, BulkRequest { items, refresh: Refresh::Now }).await;
        let query = json!({"match": {"t": "all"}});
        let words: Vec<String> = (0..1_000).map(|at| format!("w{at}")).collect();
        let words = words.join(" ");
        let long = json!({"window_size": 50, "query": {"rescore_query": {"match": {"t": words}}}});
        let last = json!({"window_size": 50, "query": {"rescore_query": {"match": {"t": "w7 w8"}}}});
        let rescored = json!({"query": (query.clone()), "rescore": [(long.clone()), (long.clone()), (long.clone()), long, last]});
        let suggested = json!({"query": (query.clone()), "suggest": {"s": {"text": "w1x", "term": {"field": "t", "min_word_length": 2}}}});
        let ids = |reply: &SearchReply| -> Vec<String> {
            reply.result.hits.iter().filter_map(|hit| hit.id.clone()).collect()
        };
        let asked = |body: &Value, timeout: &str| call(body, &[("timeout", timeout)]);
        let first = core.search(&Everything, &asked(&json!({"query": query}), "1h")).await;
        let first = ids(&first.expect("a good request"));
        for body in [&rescored, &suggested] {
            let whole = core.search(&Everything, &asked(body, "1h")).await.expect("a good request");
            let offers = whole.suggest.first().map_or(0, |suggested| suggested.entries.len());
            assert!(ids(&whole) != first || offers > 0);
            let mut ends = 0;
            for ms in (1..7).cycle().take(60) {
                let timeout = format!("{ms}ms");
                let late = core.search(&Everything, &asked(body, &timeout)).await.expect("a part");
                let found = late.suggest.first().map_or(0, |suggested| suggested.entries.len());
                if late.timed_out {
                    let is_of_query = ids(&late) == first && found == 0;
                    assert!(is_of_query || late.result.hits.is_empty(), "{ms}");
                    ends += usize::from(is_of_query);
                    assert_eq!(late.suggest.len(), whole.suggest.len(), "{ms}");
                } else {
                    assert_eq!((ids(&late), found), (ids(&whole), offers), "{ms}");
                }
                let whole_or_none = SearchCall { partial_results: false, ..asked(body, &timeout) };
                match core.search(&Everything, &whole_or_none).await {
                    Ok(whole_or_none) => assert!(!whole_or_none.timed_out, "{ms}"),
                    Err(failed) => assert_eq!(failed.status, 504, "{ms}"),
                }
            }
            assert!(ends > 0, "the time ends behind the query now and then");
        }
    });
}
