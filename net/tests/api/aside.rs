//! What would hold the core that answers goes aside, or gives way: long bodies, many items.

use http::Method;
use json::{Value, json};
use net::table::{Api, ROUTES, Route};
use sim::Sim;

use crate::browser::basic;
use crate::place::{at, with_node, with_oauth_on};

/// Bytes of a body that would be read for a millisecond or more.
const LONG_BYTES: usize = 128 << 10;

/// The path of a route, with a name in the place of each parameter.
fn path(route: &Route) -> String {
    let parts = route.path.split('/').map(|part| match part {
        "{index}" => "i",
        part if part.starts_with('{') => "x",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A body that says nothing, in so many bytes.
fn blank(route: &Route, len: usize) -> String {
    let space = " ".repeat(len);
    match route.api {
        Api::Bulk => format!("{{\"index\":{{\"_index\":\"i\"}}}}\n{{{space}}}\n"),
        _ if route.api.takes_lines() => format!("{{}}\n{{{space}}}\n"),
        _ => format!("{{{space}}}"),
    }
}

/// `_search` took a worker for a long body. `_count`, which reads the same body, did not: 9.5 MB of
/// clauses held a core for 736 ms, and nobody else was answered meanwhile. No route that reads a body
/// may forget it.
#[test]
fn every_route_reads_a_long_body_on_a_worker() {
    let sim = Sim::new(1);
    let jobs = || sim.jobs();
    with_oauth_on(&sim, async |mut client| {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/i", "").await;
        client.good("PUT", "/i/_doc/x?refresh", "{}").await;
        let (mut readers, mut forgetful) = (0, Vec::new());
        for route in ROUTES.iter().filter(|route| route.api.takes_body()) {
            let method = route.methods.iter().find(|method| **method != Method::Get);
            let method = method.unwrap_or(&route.methods[0]).as_str();
            let target = path(route);
            // Who reads a body tells one that is broken from one that says nothing.
            let broken = match route.api.takes_lines() {
                true => "[\n[\n",
                false => "[",
            };
            let broken = client.call(method, &target, broken).await;
            let before = jobs();
            let short = client.call(method, &target, &blank(route, 0)).await;
            let for_short = jobs() - before;
            if broken.status != 400 || broken.text() == short.text() {
                continue;
            }
            readers += 1;
            let before = jobs();
            client.call(method, &target, &blank(route, LONG_BYTES)).await;
            if jobs() - before <= for_short {
                forgetful.push(format!("{method} {target}"));
            }
        }
        assert_eq!(forgetful, Vec::<String>::new());
        assert!(readers > 70, "{readers}");
    });
}

/// A document of 30 KB whose one field is copied to 900 others is 27 MB of words. It was parsed on the core for
/// a quarter of a second, since its text is short.
#[test]
fn a_short_document_of_which_much_is_made_is_parsed_on_a_worker() {
    let sim = Sim::new(1);
    let jobs = || sim.jobs();
    with_oauth_on(&sim, async |mut client| {
        client.authorize(Some(&basic("elastic", "secret")));
        let text = |at: usize| (format!("p{at}"), json!({"type": "text"}));
        let mut fields: json::Object = (0..50).map(text).collect();
        let targets: Value = (0..50).map(|at| Value::from(format!("p{at}"))).collect();
        fields.insert("src", json!({"type": "text", "copy_to": targets}));
        let body = json!({"mappings": {"properties": (Value::Object(fields))}});
        client.good("PUT", "/copied", &json::to_string(&body)).await;
        client
            .good("PUT", "/plain", r#"{"mappings":{"properties":{"src":{"type":"text"}}}}"#)
            .await;
        let words = |count: usize| format!(r#"{{"src":"{}"}}"#, "alpha beta ".repeat(count));
        let mut count = async |target: &str, words: &str| {
            let before = jobs();
            client.good("PUT", target, words).await;
            jobs() - before
        };
        let plain = count("/plain/_doc/1", &words(200)).await;
        assert_eq!(count("/copied/_doc/1", &words(5)).await, plain, "a few words are few words");
        assert_eq!(count("/copied/_doc/2", &words(200)).await, plain + 1);
    });
}

/// 200,000 bad names of a bulk request held a core for 1.9 s, as many unknown indices of an `_mget` for 1.0 s:
/// nothing in their loops waited for anything.
#[test]
fn a_request_of_many_items_gives_way_between_them() {
    const ITEMS: u64 = 2_000;
    let lines = |line: &dyn Fn(u64) -> String| (0..ITEMS).map(line).collect::<String>();
    let list = |one: &dyn Fn(u64) -> String| (0..ITEMS).map(one).collect::<Vec<_>>().join(",");
    let cases = [
        ("_bulk", lines(&|at| format!("{{\"index\":{{\"_index\":\"BAD{at}\"}}}}\n{{}}\n"))),
        ("i/_bulk", lines(&|_| "{\"index\":{\"_id\":\"\"}}\n{}\n".to_owned())),
        ("i/_bulk", lines(&|at| format!("{{\"delete\":{{\"_id\":\"{at}\"}}}}\n"))),
        ("i/_mget", format!("{{\"ids\":[{}]}}", list(&|at| format!("\"{at}\"")))),
        (
            "_mget",
            format!(
                "{{\"docs\":[{}]}}",
                list(&|at| format!("{{\"_index\":\"n{at}\",\"_id\":\"1\"}}"))
            ),
        ),
    ];
    let sim = Sim::new(1);
    with_oauth_on(&sim, async |mut client| {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/i", "").await;
        for (target, body) in cases {
            let before = sim.yields();
            let kind =
                if target.contains("_bulk") { "application/x-ndjson" } else { "application/json" };
            let fields = [("Content-Type", kind)];
            let got =
                client.call_with("POST", &format!("/{target}"), &fields, body.as_bytes()).await;
            assert_eq!(got.status, 200, "{target}: {}", got.text());
            // Each way through all items: before the shards are asked, and when they are told.
            let yields = sim.yields() - before;
            assert!(yields > 2 * ITEMS / 16, "{target}: {yields}");
        }
    });
}

/// What 308 indices are was written in one stretch of 39 ms.
#[test]
fn an_answer_of_many_indices_is_written_in_steps() {
    const INDICES: u64 = 40;
    let sim = Sim::new(1);
    with_oauth_on(&sim, async |mut client| {
        client.authorize(Some(&basic("elastic", "secret")));
        for number in 0..INDICES {
            client.good("PUT", &format!("/i{number}"), "").await;
        }
        for target in ["/_settings?include_defaults", "/_mapping", "/*", "/_mapping/field/*"] {
            let before = sim.yields();
            client.good("GET", target, "").await;
            // When they are gathered, and when they are written.
            let yields = sim.yields() - before;
            assert!(yields >= 2 * INDICES, "{target}: {yields}");
        }
    });
}

/// The answers of refused items are put among those of the others.
#[test]
fn refused_items_keep_their_places() {
    with_node(|mut client| async move {
        let item = |at: usize| match at % 3 {
            0 => "{\"index\":{\"_id\":\"\"}}\n{}\n".to_owned(),
            _ => format!("{{\"index\":{{\"_id\":\"d{at}\"}}}}\n{{}}\n"),
        };
        // The first is refused, and so is the last.
        for count in [1, 2, 49, 52] {
            let body: String = (0..count).map(item).collect();
            let got = client.good("POST", "/p/_bulk", &body).await;
            let items = at(&got, &["items"]).as_array().expect("a list");
            assert_eq!(items.len(), count);
            for (place, item) in items.iter().enumerate() {
                let id = at(item, &["index", "_id"]).as_str().expect("an id");
                let wanted = if place % 3 == 0 { String::new() } else { format!("d{place}") };
                assert_eq!(id, wanted, "{place} of {count}");
            }
        }
    });
}

/// An index whose field `k` has a normalizer of four patterns that look around, `t` an analyzer that makes very
/// much of each word, and `c` counts the words of that.
pub const COSTLY: &str = r#"{
  "settings": {"analysis": {
    "char_filter": {"around": {"type": "pattern_replace", "pattern": "(a)(?!\\1)", "replacement": "c"}},
    "filter": {
      "cut": {"type": "truncate", "length": 1},
      "many": {"type": "multiplexer", "filters": ["lowercase, reverse", "uppercase, reverse", "reverse, cut", "cut"]}
    },
    "normalizer": {"slow": {"type": "custom", "char_filter": ["around", "around", "around", "around"]}},
    "analyzer": {"wide": {"type": "custom", "tokenizer": "whitespace", "filter": ["many", "many", "many"]}}
  }},
  "mappings": {"properties": {
    "k": {"type": "keyword", "normalizer": "slow"},
    "t": {"type": "text", "analyzer": "wide"},
    "c": {"type": "token_count", "analyzer": "wide"}
  }}
}"#;

/// A `terms` query through such a normalizer held a core for 7 to 18 s, and no request of this index knew.
#[test]
fn costly_values_of_a_query_are_read_on_a_worker_and_too_costly_ones_refused() {
    let sim = Sim::new(1);
    let jobs = || sim.jobs();
    with_oauth_on(&sim, async |mut client| {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/i", COSTLY).await;
        client
            .good("PUT", "/i/_doc/1?refresh", &format!(r#"{{"k":"{}7"}}"#, "ab".repeat(20)))
            .await;
        let terms = |count: usize| {
            let value = |at: usize| Value::from(format!("{}{at}", "ab".repeat(20)));
            let values: Vec<Value> = (0..count).map(value).collect();
            json::to_string(&json!({"query": {"terms": {"k": values}}}))
        };
        let mut search = async |body: &str| {
            let before = jobs();
            let got = client.call("POST", "/i/_search?filter_path=hits.hits._id,error", body).await;
            (got, jobs() - before)
        };
        let (few, for_few) = search(&terms(8)).await;
        let (more, for_more) = search(&terms(100)).await;
        assert_eq!(few.text(), more.text());
        assert_eq!((few.status, for_more), (200, for_few + 1));
        assert!(few.text().contains(r#""_id":"1""#), "{}", few.text());
        let (refused, _) = search(&terms(30_000)).await;
        let cause = json::parse(refused.text().as_bytes()).expect("JSON");
        let cause = at(&cause, &["error", "root_cause"]).as_array().expect("causes")[0].clone();
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert_eq!(at(&cause, &["type"]).as_str(), Some("illegal_argument_exception"));
        let reason = at(&cause, &["reason"]).as_str().expect("a reason");
        assert!(reason.starts_with("the texts of the request are too costly: "), "{reason}");
        // An alias would have all its searches do so.
        let filter = json!({"terms": {"k": (vec!["ab".repeat(20); 2_000])}});
        let alias = json!({"actions": [{"add": {"index": "i", "alias": "a", "filter": filter}}]});
        let refused = client.call("POST", "/_aliases", &json::to_string(&alias)).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(refused.text().contains("are too costly"), "{}", refused.text());
    });
}

/// Such documents of a few kilobytes were parsed on the core: a hundred values that are counted took 6.8 s.
#[test]
fn costly_documents_are_parsed_on_a_worker_however_short() {
    let sim = Sim::new(1);
    let jobs = || sim.jobs();
    with_oauth_on(&sim, async |mut client| {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/i", COSTLY).await;
        let words = |count: usize| "alpha ".repeat(count);
        let mut write = async |method: &str, target: &str, body: &str| {
            let before = jobs();
            let kind =
                if target.contains("_bulk") { "application/x-ndjson" } else { "application/json" };
            let fields = [("Content-Type", kind)];
            let got = client.call_with(method, target, &fields, body.as_bytes()).await;
            assert!(got.status < 300, "{}", got.text());
            assert!(!got.text().contains(r#""errors":true"#), "{}", got.text());
            jobs() - before
        };
        let plain = write("PUT", "/i/_doc/1", r#"{"t":"a","c":"a"}"#).await;
        for field in ["t", "c"] {
            let body = format!(r#"{{"{field}":"{}"}}"#, words(500));
            assert_eq!(write("PUT", "/i/_doc/2", &body).await, plain + 1, "{field}");
            let update = format!(r#"{{"doc":{body}}}"#);
            let small = write("POST", "/i/_update/1", r#"{"doc":{"t":"b"}}"#).await;
            assert_eq!(write("POST", "/i/_update/1", &update).await, small + 1, "{field}");
        }
        // Those behind a costly one go with it.
        let line = |id: usize, text: &str| {
            format!("{{\"index\":{{\"_id\":\"{id}\"}}}}\n{{\"t\":\"{text}\"}}\n")
        };
        let short: String = (0..20).map(|id| line(id, "a")).collect();
        let for_short = write("POST", "/i/_bulk", &short).await;
        let costly: String =
            (0..20).map(|id| line(id, &words(if id < 3 { 1 } else { 500 }))).collect();
        assert_eq!(write("POST", "/i/_bulk", &costly).await, for_short + 1);
        client.good("POST", "/i/_refresh", "").await;
        let query = r#"{"query":{"term":{"t":"ahpla"}}}"#;
        let found = client.good("POST", "/i/_count", query).await;
        assert_eq!(at(&found, &["count"]).as_u64(), Some(20));
    });
}
