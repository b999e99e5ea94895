//! Searching and counting through the door.

use json::{Value, json};

use crate::place::{Client, at, with_node};

async fn load(client: &mut Client) {
    let mut lines = String::new();
    for (at, text) in ["the quick brown fox", "the lazy dog", "quick quick dog"].iter().enumerate()
    {
        lines.push_str(&format!("{{\"index\":{{\"_index\":\"a\",\"_id\":\"{at}\"}}}}\n"));
        lines.push_str(&format!("{{\"t\":\"{text}\",\"n\":{at},\"k\":\"k{at}\"}}\n"));
    }
    let done = client.good("POST", "/_bulk?refresh=true", &lines).await;
    assert_eq!(at(&done, &["errors"]).as_bool(), Some(false), "{}", json::to_string(&done));
}

fn ids(body: &Value) -> Vec<&str> {
    let hits = at(body, &["hits", "hits"]).as_array().expect("a list");
    hits.iter().map(|hit| at(hit, &["_id"]).as_str().expect("text")).collect()
}

#[test]
fn words_find_documents() {
    with_node(|mut client| async move {
        load(&mut client).await;
        let found = client.good("GET", "/a/_search", r#"{"query":{"match":{"t":"quick"}}}"#).await;
        assert_eq!(ids(&found), ["2", "0"]);
        assert_eq!(at(&found, &["hits", "total"]), &json!({"value": 2, "relation": "eq"}));
        assert_eq!(
            at(&found, &["_shards"]),
            &json!({"total": 1, "successful": 1, "skipped": 0, "failed": 0})
        );
        let keys: Vec<&str> = found.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["took", "timed_out", "_shards", "hits"]);
        let sorted =
            client.good("POST", "/_search?size=2&sort=n:desc&_source=n&version=true", "").await;
        assert_eq!(ids(&sorted), ["2", "1"]);
        let hits = at(&sorted, &["hits", "hits"]).as_array().expect("a list");
        assert_eq!(at(&hits[0], &["_source"]), &json!({"n": 2}));
        assert_eq!(at(&hits[0], &["sort"]), &json!([2]));
        assert!(at(&hits[0], &["_score"]).is_null());
        assert_eq!(at(&hits[0], &["_version"]).as_u64(), Some(1));
        let count =
            client.good("GET", "/a*/_count", r#"{"query":{"term":{"k.keyword":"k1"}}}"#).await;
        assert_eq!(at(&count, &["count"]).as_u64(), Some(1));
        let int = client.good("GET", "/_search?rest_total_hits_as_int&size=0", "").await;
        assert_eq!(at(&int, &["hits", "total"]).as_u64(), Some(3));
    });
}

#[test]
fn bad_searches_are_named() {
    with_node(|mut client| async move {
        load(&mut client).await;
        for (target, body, told) in [
            ("/nope/_search", "", "404 index_not_found_exception: no such index [nope]"),
            ("/a/_search", r#"{"query":{"foo":{}}}"#, "400 parsing_exception: unknown query [foo]"),
            (
                "/a/_search",
                r#"{"foo":1}"#,
                "400 parsing_exception: Unknown key for a VALUE_NUMBER in [foo].",
            ),
            (
                "/a/_search",
                r#"{"sort":"zz"}"#,
                "400 search_phase_execution_exception: all shards failed",
            ),
            (
                "/_search?rest_total_hits_as_int&track_total_hits=5",
                "",
                "400 illegal_argument_exception: [rest_total_hits_as_int] cannot be used if the \
                 tracking of total hits is not accurate, got 5",
            ),
        ] {
            assert_eq!(client.bad("GET", target, body).await, told, "{target} {body}");
        }
        let told = client.bad("GET", "/a/_search", r#"{"size":1,"size":2}"#).await;
        assert!(told.contains("Duplicate field 'size'"), "{told}");
        let empty = client.good("GET", "/nope*/_search", "").await;
        assert_eq!(at(&empty, &["_shards", "total"]).as_u64(), Some(0));
        assert_eq!(at(&empty, &["hits", "max_score"]), &json!(0.0));
    });
}

#[test]
fn large_answers_are_laid_out_and_packed_beside_the_core() {
    with_node(|mut client| async move {
        let lines: String = (0..600)
            .map(|n| {
                format!(
                    "{{\"index\":{{\"_index\":\"a\"}}}}\n{{\"n\":{n},\"t\":\"{}\"}}\n",
                    "x".repeat(200)
                )
            })
            .collect();
        client.good("POST", "/_bulk?refresh", &lines).await;
        let target = "/a/_search?size=600&sort=n&filter_path=hits";
        let plain = client.call("GET", target, "").await;
        assert!(plain.body.len() > 100_000);
        let mut expected = json::pretty(&plain.body);
        expected.push(b'\n');
        let pretty = client.call("GET", &format!("{target}&pretty"), "").await;
        assert!(pretty.body == expected);
        let packed = client.call_with("GET", target, &[("Accept-Encoding", "gzip")], b"").await;
        let unpacked = http::coding::decode(http::coding::Coding::Gzip, &packed.body, 1 << 24);
        assert!(unpacked.is_ok_and(|body| body == plain.body));
        let packed = http::coding::gzip(lines.as_bytes());
        let fields = [("Content-Type", "application/x-ndjson"), ("Content-Encoding", "gzip")];
        let done = client.call_with("POST", "/_bulk", &fields, &packed).await;
        assert!(done.text().contains("\"errors\":false"), "{}", done.text());
    });
}
