//! The slow log of a whole node: which lines there are, and what they say.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::ops::Refresh;
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{Update, WriteAction, WriteItem};
use engine::ops::observe::NodeInfo;
use engine::ops::search::SearchCall;
use engine::{Config, Everything, start_all};
use env::{Bytes, Clock, Env};
use json::{Value, json};
use sim::Sim;

#[derive(Debug, Default)]
struct Kept(Mutex<Vec<String>>);

impl env::lines::Lines for Kept {
    fn keep(&self, line: &str) {
        self.0.lock().expect("nobody panics").push(line.to_owned());
    }
}

impl Kept {
    /// The lines since the last time: of which set, of which shard, each as a value.
    fn take(&self) -> Vec<(String, String, Value)> {
        let lines = std::mem::take(&mut *self.0.lock().expect("nobody panics"));
        let mut told: Vec<_> = lines
            .iter()
            .map(|line| {
                let value = json::parse(line.as_bytes()).expect("JSON");
                let text =
                    |key: &str| value.get(key).and_then(Value::as_str).expect("a text").to_owned();
                let set = text("log.logger").rsplit('.').next().unwrap_or_default().to_owned();
                (set, text("elasticsearch.slowlog.message"), value)
            })
            .collect();
        told.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        told
    }
}

fn call(body: &str) -> SearchCall {
    SearchCall {
        indices: "m".to_owned(),
        body: Bytes::from(body.as_bytes().to_vec()),
        partial_results: true,
        ..SearchCall::default()
    }
}

fn write(action: WriteAction, id: &str) -> WriteItem {
    let source = if action == WriteAction::Delete { "" } else { r#"{"a":1}"# };
    WriteItem { source: Bytes::from(source.as_bytes().to_vec()), ..WriteItem::new(action, "m", id) }
}

/// A search of nothing once told three fetches, and a delete was told as a document without a source.
#[test]
fn lines_tell_what_was_done_and_nothing_else() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let kept = Arc::new(Kept::default());
        let info = NodeInfo { slow_log: Some(Arc::clone(&kept) as _), ..NodeInfo::default() };
        let config = Config { info, ..Config::new(2, "/data") };
        let cores = start_all(&env, config).await.expect("the state opens");
        let core = &cores[0];
        let settle = || env.clock().sleep(Duration::from_secs(1));
        let shape = json!({"settings": {
            "number_of_shards": 3,
            "index.search.slowlog.threshold.query.trace": "0ms",
            "index.search.slowlog.threshold.fetch.trace": "0ms",
            "index.indexing.slowlog.threshold.index.trace": "0ms",
        }});
        core.create_index(&Everything, "m", &shape).await.expect("a good name");

        let items = vec![write(WriteAction::Index, "1"), write(WriteAction::Delete, "1")];
        let bulk = BulkRequest { items, refresh: Refresh::Now };
        core.bulk(&Everything, bulk).await;
        settle().await;
        let told = kept.take();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].0, "index");
        let word = |key: &str| told[0].2.get(key).and_then(Value::as_str).unwrap_or("nothing");
        let set = word("event.dataset");
        assert_eq!(set, "elasticsearch.index_indexing_slowlog");
        let message = word("elasticsearch.slowlog.message");
        assert!(message.starts_with("[m/") && message.len() == "[m/]".len() + 22, "{message}");
        let shard = told[0].2.get("corelode.slowlog.shard").and_then(Value::as_u64);
        assert!(shard.is_some_and(|number| number < 3), "{shard:?}");
        assert_eq!(told[0].2.get("corelode.slowlog.docs").and_then(Value::as_u64), Some(1));
        let took = told[0].2.get("elasticsearch.slowlog.took").and_then(Value::as_str);
        let took = took.expect("a time");
        assert!(took.ends_with("ms") && took.len() < 8, "as Elasticsearch prints it: {took}");

        core.write(&Everything, write(WriteAction::Delete, "1"), Refresh::Now)
            .await
            .expect("nothing is wrong with it");
        settle().await;
        assert_eq!(kept.take().len(), 0, "a delete is no document");

        core.write(&Everything, write(WriteAction::Index, "1"), Refresh::Now)
            .await
            .expect("nothing is wrong with it");
        settle().await;
        kept.take();
        let mut update = write(WriteAction::Update, "1");
        let part = Arc::new(json!({"z": 7}));
        update.update = Some(Box::new(Update { doc: Some(part.clone()), ..Update::default() }));
        core.write(&Everything, update, Refresh::Now).await.expect("nothing is wrong with it");
        settle().await;
        let told = kept.take();
        assert_eq!(told.len(), 1, "once, though it waited for a field: {told:?}");
        let (_, _, line) = &told[0];
        let source = line.get("elasticsearch.slowlog.source").and_then(Value::as_str);
        assert_eq!(source, Some(r#"{"a":1,"z":7}"#), "what the document became");
        assert!(line.get("elasticsearch.slowlog.routing").is_none(), "{line:?}");

        // The part is there already: nothing is indexed.
        let mut update = write(WriteAction::Update, "1");
        update.update = Some(Box::new(Update { doc: Some(part), ..Update::default() }));
        core.write(&Everything, update, Refresh::Now).await.expect("nothing is wrong with it");
        settle().await;
        assert_eq!(kept.take().len(), 0, "nothing was indexed");

        let routed = WriteItem { routing: Some("r".to_owned()), ..write(WriteAction::Index, "9") };
        core.write(&Everything, routed, Refresh::Now).await.expect("nothing is wrong with it");
        settle().await;
        let told = kept.take();
        let word = |key: &str| told[0].2.get(key).and_then(Value::as_str);
        assert_eq!(word("elasticsearch.slowlog.id"), Some("9"));
        assert_eq!(word("elasticsearch.slowlog.routing"), Some("r"));

        let grouped = |body: &str| format!(r#"{{"stats":["one","two"],{body}}}"#);
        let mut stats = None;
        for _ in 0..30 {
            let search = call(&grouped(r#""size":0"#));
            core.search(&Everything, &search).await.expect("nothing is wrong with it");
            settle().await;
            let told = kept.take();
            let line = told.first().map(|(_, _, line)| line);
            stats = stats.or_else(|| line?.get("elasticsearch.slowlog.stats").cloned());
        }
        assert_eq!(stats.as_ref().and_then(Value::as_str), Some(r#"["one", "two"]"#));
        let count = |told: &[(String, String, Value)], set: &str| {
            told.iter().filter(|line| line.0 == set).count()
        };
        for (body, fetched) in
            [(r#"{"size":0}"#, 0), ("{}", 1), (r#"{"query":{"match_none":{}}}"#, 0)]
        {
            // Where nobody waits no simulated time passes, which is not more than none.
            let mut most = (0, 0);
            for _ in 0..30 {
                core.search(&Everything, &call(body)).await.expect("nothing is wrong with it");
                settle().await;
                let told = kept.take();
                assert!(count(&told, "fetch") <= fetched, "{body}: {told:?}");
                most = most.max((count(&told, "fetch"), count(&told, "query")));
            }
            assert!(most.0 == fetched && most.1 > 0, "{body}: {most:?}");
        }
    });
}

/// The lines had neither the logger by which a query is told from a fetch, nor ids of node and cluster, and a count
/// that is a lower bound was told as if it were exact.
#[test]
fn lines_of_searches_have_elasticsearchs_names() {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async move {
        let kept = Arc::new(Kept::default());
        let info = NodeInfo {
            slow_log: Some(Arc::clone(&kept) as _),
            name: "node-1".to_owned(),
            id: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
            cluster_name: "books".to_owned(),
            cluster_uuid: "BBBBBBBBBBBBBBBBBBBBBB".to_owned(),
            ..NodeInfo::default()
        };
        let config = Config { info, ..Config::new(2, "/data") };
        let cores = start_all(&env, config).await.expect("the state opens");
        let core = &cores[0];
        let shape = json!({"settings": {
            "number_of_shards": 2,
            "index.search.slowlog.threshold.query.info": "0ms",
        }});
        core.create_index(&Everything, "m", &shape).await.expect("a good name");
        let items = (0..8).map(|id| write(WriteAction::Index, &id.to_string())).collect();
        core.bulk(&Everything, BulkRequest { items, refresh: Refresh::Now }).await;
        let mut lines = Vec::new();
        for body in ["", r#"{"track_total_hits":1}"#, r#"{"track_total_hits":false}"#] {
            let mut told = Vec::new();
            for _ in 0..100 {
                core.search(&Everything, &call(body)).await.expect("nothing is wrong with it");
                env.clock().sleep(Duration::from_secs(1)).await;
                told = kept.take();
                if !told.is_empty() {
                    break;
                }
            }
            lines.push(told.remove(0).2);
        }
        let text = |at: usize, key: &str| lines[at].get(key).and_then(Value::as_str);
        for (key, word) in [
            ("log.level", "INFO"),
            ("log.logger", "index.search.slowlog.query"),
            ("event.dataset", "elasticsearch.index_search_slowlog"),
            ("ecs.version", "1.2.0"),
            ("service.name", "ES_ECS"),
            ("elasticsearch.cluster.uuid", "BBBBBBBBBBBBBBBBBBBBBB"),
            ("elasticsearch.cluster.name", "books"),
            ("elasticsearch.node.id", "AAAAAAAAAAAAAAAAAAAAAA"),
            ("elasticsearch.node.name", "node-1"),
            ("elasticsearch.slowlog.source", "{}"),
            ("elasticsearch.slowlog.stats", "[]"),
            ("elasticsearch.slowlog.search_type", "QUERY_THEN_FETCH"),
        ] {
            assert_eq!(text(0, key), Some(word), "{key}");
        }
        assert!(text(0, "process.thread.name").is_some_and(|name| !name.is_empty()));
        let hits = "elasticsearch.slowlog.total_hits";
        assert_eq!(
            [0, 1, 2].map(|at| text(at, hits)),
            [Some("8 hits"), Some("1+ hits"), Some("-1")]
        );
    });
}
