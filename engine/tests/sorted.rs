//! Indices whose documents are kept in an order of their own, documents that count for several, and
//! shards that are passed over: below HTTP, on a simulated machine.

mod common;

use std::rc::Rc;

use base::checksum::checksum;
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::search::{SearchCall, SearchReply};
use engine::ops::{IndicesOptions, Refresh};
use engine::{Core, Everything};
use env::Bytes;
use search::aggs::shape::{Name, Out};
use search::result::Key;
use sim::{Sim, SimEnv};

use common::start;

fn item(action: WriteAction, index: &str, id: u32, source: String) -> WriteItem {
    WriteItem {
        source: Bytes::from(source.into_bytes()),
        ..WriteItem::new(action, index, id.to_string())
    }
}

async fn write(core: &Rc<Core<SimEnv>>, items: Vec<WriteItem>) {
    let reply = core.bulk(&Everything, BulkRequest { items, refresh: Refresh::Now }).await;
    for item in reply.items {
        item.result.expect("nothing is wrong with it");
    }
}

async fn ask(core: &Rc<Core<SimEnv>>, index: &str, body: &str) -> SearchReply {
    let call = SearchCall {
        indices: index.to_owned(),
        body: Bytes::from(body.as_bytes().to_vec()),
        partial_results: true,
        ..SearchCall::default()
    };
    core.search(&Everything, &call).await.expect("a good search")
}

async fn create(core: &Rc<Core<SimEnv>>, index: &str, body: &str) -> engine::Result<()> {
    let body = json::parse(body.as_bytes()).expect("it is JSON");
    core.create_index(&Everything, index, &body).await.map(drop)
}

/// Every `doc_count` of an answer, outer ones first.
fn doc_counts(out: &Out, counts: &mut Vec<u64>) {
    match out {
        Out::List(list) => list.iter().for_each(|out| doc_counts(out, counts)),
        Out::Object(fields) => {
            for (name, out) in fields {
                match (name, out) {
                    (Name::Plain(name), Out::Unsigned(count)) if name == "doc_count" => {
                        counts.push(*count)
                    }
                    (Name::Plain(name), Out::Long(count)) if name == "doc_count" => {
                        counts.push(*count as u64);
                    }
                    _ => doc_counts(out, counts),
                }
            }
        }
        _ => {}
    }
}

/// A number that looks like chance.
fn number(id: u32) -> i64 {
    i64::from(checksum(&id.to_le_bytes()) % 1000)
}

/// The ids of the best hits by `n`, greatest first, of the documents up to `count`.
fn best(count: u32, size: usize) -> Vec<i64> {
    let mut numbers: Vec<i64> = (0..count).filter(|id| id % 7 != 3).map(number).collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    numbers.truncate(size);
    numbers
}

fn keys(reply: &SearchReply) -> Vec<i64> {
    let keys = reply.result.hits.iter().map(|hit| match hit.sort.first() {
        Some(Key::Long(number)) => *number,
        other => panic!("{other:?}"),
    });
    keys.collect()
}

const SORTED: &str =
    r#"{"size":9,"sort":[{"n":"desc"}],"track_total_hits":false,"query":{"match":{"t":"word"}}}"#;

#[test]
fn a_sorted_index_answers_alike_before_and_after_merges_and_a_power_cut() {
    for seed in 0..3 {
        let sim = Sim::new(seed);
        let env = sim.env();
        sim.run(async move {
            let cores = start(&env).await;
            let core = &cores[0];
            let body = r#"{"settings":{"index":{"sort.field":["n","k"],"sort.order":["desc","asc"]}},
                "mappings":{"properties":{"n":{"type":"long"},"k":{"type":"keyword"},"t":{"type":"text"}}}}"#;
            create(core, "s", body).await.expect("it can be sorted so");
            for batch in 0..5u32 {
                let ids = batch * 40..batch * 40 + 40;
                let source = |id: u32| {
                    format!(r#"{{"n":{},"k":"k{}","t":"a word of {id}"}}"#, number(id), id % 3)
                };
                let mut items: Vec<WriteItem> =
                    ids.clone().map(|id| item(WriteAction::Index, "s", id, source(id))).collect();
                let dead = ids.filter(|id| id % 7 == 3);
                items.extend(dead.map(|id| item(WriteAction::Delete, "s", id, String::new())));
                write(core, items).await;
            }
            assert_eq!(keys(&ask(core, "s", SORTED).await), best(200, 9), "seed {seed}");
            let aim = engine::ops::admin::Aim::Count(1);
            let options = IndicesOptions::default();
            let merged = core.force_merge(&Everything, "s", options, aim, true).await;
            assert_eq!(merged.expect("it is there").failed, 0);
            assert_eq!(keys(&ask(core, "s", SORTED).await), best(200, 9), "seed {seed}, merged");
            let more = (200..230).map(|id| {
                let source = format!(r#"{{"n":{},"k":"x","t":"a word"}}"#, number(id));
                item(if id % 7 == 3 { WriteAction::Delete } else { WriteAction::Index }, "s", id, source)
            });
            write(core, more.collect()).await;
        });
        sim.crash();
        let env = sim.env();
        sim.run(async move {
            let cores = start(&env).await;
            let reply = ask(&cores[1], "s", SORTED).await;
            assert_eq!(keys(&reply), best(230, 9), "seed {seed}, replayed");
            let counted = r#"{"size":9,"sort":[{"n":"desc"}],"query":{"match":{"t":"word"}}}"#;
            let reply = ask(&cores[0], "s", counted).await;
            assert_eq!(keys(&reply), best(230, 9));
            let total = reply.result.total.expect("it is counted").value;
            assert_eq!(total as usize, (0..230).filter(|id| id % 7 != 3).count());
            cores[0].stop().await;
        });
    }
}

#[test]
fn what_cannot_be_sorted_is_refused_before_the_index_is_there() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let field = |field: &str, mapping: &str| {
            format!(r#"{{"settings":{{"index.sort.field":"{field}"}},"mappings":{{"properties":{mapping}}}}}"#)
        };
        for (body, reason) in [
            (field("zz", "{}"), "unknown index sort field:[zz]"),
            (field("t", r#"{"t":{"type":"text"}}"#), "docvalues not found for index sort field:[t]"),
            (
                field("n", r#"{"n":{"type":"long"},"o":{"type":"nested"}}"#),
                "cannot have nested fields when index sort is activated",
            ),
        ] {
            let error = create(&cores[0], "s", &body).await.expect_err(reason);
            assert_eq!((error.status, error.reason.as_str()), (400, reason));
        }
        assert!(cores[0].state().index("s").is_none());
        cores[0].stop().await;
    });
}

#[test]
fn a_shard_that_cannot_match_is_told_as_skipped() {
    let sim = Sim::new(2);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[1];
        for (index, day) in [("a", "2016-01-01"), ("b", "2017-01-01"), ("c", "2018-01-01")] {
            let body = r#"{"mappings":{"properties":{"d":{"type":"date"}}}}"#;
            create(core, index, body).await.expect("a good mapping");
            write(core, vec![item(WriteAction::Index, index, 1, format!(r#"{{"d":"{day}"}}"#))])
                .await;
        }
        for (range, more, skipped, hits) in [
            (r#""gte":"2016-02-01","lt":"2018-02-01""#, "", 1, 2),
            (r#""gte":"2019-02-01""#, "", 2, 0),
            (r#""gte":"2017-06-01""#, r#","aggs":{"g":{"global":{}}}"#, 0, 1),
        ] {
            let body = format!(r#"{{"query":{{"range":{{"d":{{{range}}}}}}}{more}}}"#);
            let call = SearchCall {
                indices: "a,b,c".to_owned(),
                body: Bytes::from(body.into_bytes()),
                shards_unfiltered_max: Some(1),
                reduce_at_once: Some(2),
                ..SearchCall::default()
            };
            let reply = core.search(&Everything, &call).await.expect("a good search");
            assert_eq!((reply.shards.total, reply.shards.successful), (3, 3));
            assert_eq!((reply.shards.skipped, reply.result.hits.len()), (skipped, hits), "{range}");
            assert_eq!(reply.reduce_phases, if skipped == 0 { 2 } else { 1 });
        }
        cores[0].stop().await;
    });
}

#[test]
fn buckets_count_a_document_for_as_many_as_it_says() {
    let sim = Sim::new(3);
    let env = sim.env();
    sim.run(async move {
        let cores = start(&env).await;
        let core = &cores[0];
        let body = r#"{"mappings":{"properties":{"k":{"type":"keyword"},"n":{"type":"long"}}}}"#;
        create(core, "d", body).await.expect("a good mapping");
        let docs = [
            r#"{"_doc_count":10,"k":"a","n":1}"#,
            r#"{"k":"a","n":12}"#,
            r#"{"_doc_count":5,"k":"b","n":13}"#,
            r#"{"k":"b"}"#,
        ];
        let items = docs
            .iter()
            .zip(0..)
            .map(|(source, id)| item(WriteAction::Index, "d", id, (*source).to_owned()));
        write(core, items.collect()).await;
        let body = r#"{"size":0,"aggs":{
            "t":{"terms":{"field":"k"}},
            "h":{"histogram":{"field":"n","interval":10},"aggs":{"below":{"terms":{"field":"k"}}}},
            "c":{"composite":{"sources":[{"k":{"terms":{"field":"k"}}}]}},
            "f":{"filters":{"filters":{"x":{"term":{"k":"b"}}}}},
            "m":{"missing":{"field":"n"}},
            "g":{"global":{}},
            "s":{"sampler":{"shard_size":10}}
        }}"#;
        let reply = ask(core, "d", body).await;
        assert_eq!(reply.result.total.expect("it is counted").value, 4, "documents are documents");
        let mut counts = Vec::new();
        for (_, out) in reply.result.aggs.iter().flatten() {
            doc_counts(out, &mut counts);
        }
        let terms = [11, 6];
        let histogram = [10, 10, 6, 5, 1];
        let (composite, filters, missing, global, sampler) = ([11, 6], [6], [1], [17], [17]);
        let parts = [&terms[..], &histogram, &composite, &filters, &missing, &global, &sampler];
        assert_eq!(counts, parts.concat());
        cores[0].stop().await;
    });
}
