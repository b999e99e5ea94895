//! Searching and counting through the door.

use json::{Value, json};

use crate::place::{Client, at, value, with_node};

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

/// What cannot be shown fails with the first hit that is fetched. Once it failed before anything was
/// looked for, where nothing was to be shown as well.
#[test]
fn what_cannot_be_shown_fails_where_hits_are_fetched() {
    with_node(|mut client| async move {
        let client = &mut client;
        load(client).await;
        client.good("PUT", "/b/_doc/9?refresh", r#"{"n":9}"#).await;
        let keyword = r#"{"properties":{"t":{"type":"keyword"}}}"#;
        client.good("PUT", "/b/_mapping", keyword).await;
        let columns = r#"{"docvalue_fields":["t"]}"#;
        let marks = r#"{"highlight":{"fields":{"t":{"type":"fvh"}}}}"#;
        let fields = r#"{"fields":[{"field":"t","format":"x"}]}"#;
        for body in [columns, marks, fields] {
            let one = client.call("GET", "/a/_search", body).await;
            let told = value(&one);
            assert_eq!(one.status, 400, "{body}");
            assert_eq!(at(&told, &["error", "reason"]).as_str(), Some("all shards failed"));
            assert_eq!(at(&told, &["error", "phase"]).as_str(), Some("query"), "of one shard");
            let root = &at(&told, &["error", "root_cause"]).as_array().expect("a list")[0];
            assert_eq!(at(root, &["type"]).as_str(), Some("illegal_argument_exception"));
            for nothing in ["size=0", "q=nowhere"] {
                let found = client.good("GET", &format!("/a/_search?{nothing}"), body).await;
                assert_eq!(at(&found, &["_shards", "failed"]).as_u64(), Some(0), "{body}");
            }
        }
        let stats = client.good("GET", "/a/_stats/search", "").await;
        let search = at(&stats, &["_all", "total", "search"]);
        let count = |key: &str| at(search, &[key]).as_u64().expect("a count");
        assert_eq!((count("query_total"), count("query_current")), (9, 0), "all of them looked");
        assert_eq!((count("fetch_total"), count("fetch_current")), (0, 0), "none could fetch");
        // Where others answer, their part is told unless the whole is wanted.
        let part = client.good("GET", "/a,b/_search", columns).await;
        assert_eq!(ids(&part), ["9"]);
        assert_eq!(at(&part, &["hits", "total", "value"]).as_u64(), Some(4));
        assert_eq!(at(&part, &["_shards", "failed"]).as_u64(), Some(1));
        let failure = &at(&part, &["_shards", "failures"]).as_array().expect("a list")[0];
        assert_eq!(at(failure, &["index"]).as_str(), Some("a"));
        let whole = "/a,b/_search?allow_partial_search_results=false";
        let told = value(&client.call("GET", whole, columns).await);
        assert_eq!(at(&told, &["error", "reason"]).as_str(), Some("Partial shards failure"));
        assert_eq!(at(&told, &["error", "phase"]).as_str(), Some("fetch"));
        assert_eq!(at(&told, &["error"]).get("caused_by"), None);
        // One document that cannot be marked costs its shard the others.
        let short = r#"{"settings":{"index.highlight.max_analyzed_offset":9}}"#;
        client.good("PUT", "/c", short).await;
        for (id, text) in [("1", "quick"), ("2", "quick as a hare"), ("3", "quick")] {
            let body = format!(r#"{{"t":"{text}"}}"#);
            client.good("PUT", &format!("/c/_doc/{id}?refresh"), &body).await;
        }
        let plain = r#"{"query":{"match":{"t":"quick"}},"highlight":{"fields":{"t":{}}}}"#;
        let part = client.good("GET", "/a,c/_search", plain).await;
        assert_eq!(at(&part, &["_shards", "failed"]).as_u64(), Some(1));
        assert_eq!(at(&part, &["hits", "total", "value"]).as_u64(), Some(5));
        let hits = at(&part, &["hits", "hits"]).as_array().expect("a list");
        assert!(hits.iter().all(|hit| at(hit, &["_index"]).as_str() == Some("a")));
        assert_eq!(hits.len(), 2);
        let both = client.call("GET", "/a,b/_search", marks).await;
        let told = value(&both);
        assert_eq!(both.status, 400);
        assert_eq!(at(&told, &["error", "reason"]).as_str(), Some("all shards failed"));
        assert_eq!(at(&told, &["error", "phase"]).as_str(), Some("fetch"));
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

#[test]
fn a_preference_leaves_out_the_shards_it_does_not_name() {
    with_node(|mut client| async move {
        client.good("PUT", "/p", r#"{"settings":{"number_of_shards":4}}"#).await;
        for id in 0..20 {
            client.good("PUT", &format!("/p/_doc/{id}?refresh"), "{}").await;
        }
        let mut all = 0;
        for number in 0..4 {
            let target = format!("/p/_search?preference=_shards:{number}|_local&size=20");
            let got = client.good("GET", &target, "").await;
            assert_eq!(at(&got, &["_shards", "total"]).as_u64(), Some(1));
            let here = at(&got, &["hits", "total", "value"]).as_u64().expect("a number");
            let target = format!("/p/_count?preference=_shards:{number}");
            let counted = client.good("GET", &target, "").await;
            assert_eq!(at(&counted, &["count"]).as_u64(), Some(here));
            let head = format!("{{\"index\":\"p\",\"preference\":\"_shards:{number}\"}}\n{{}}\n");
            let got = client.good("POST", "/_msearch", &head).await;
            let first = &at(&got, &["responses"]).as_array().expect("a list")[0];
            assert_eq!(at(first, &["hits", "total", "value"]).as_u64(), Some(here));
            let target = format!("/p/_pit?keep_alive=1m&preference=_shards:{number}");
            let opened = client.good("POST", &target, "").await;
            let body = json::json!({"pit": {"id": (at(&opened, &["id"]).clone())}});
            let body = json::to_string(&body);
            let got = client.good("POST", "/_search", &body).await;
            assert_eq!(at(&got, &["hits", "total", "value"]).as_u64(), Some(here));
            let told = client.bad("POST", "/_search?preference=_local", &body).await;
            assert!(told.contains("[preference] cannot be used with point in time"), "{told}");
            let target = format!("/p/_search_shards?preference=_shards:{number}");
            let got = client.good("GET", &target, "").await;
            let shards = at(&got, &["shards"]).as_array().expect("a list");
            assert_eq!(shards.len(), 1);
            let shard = &shards[0].as_array().expect("copies")[0];
            assert_eq!(at(shard, &["shard"]).as_u64(), Some(number));
            all += here;
        }
        assert_eq!(all, 20, "each document lies in one of them");
        let target = "/p/_delete_by_query?preference=_shards:0&refresh";
        let query = r#"{"query":{"match_all":{}}}"#;
        let gone = client.good("POST", target, query).await;
        let gone = at(&gone, &["deleted"]).as_u64().expect("a number");
        let counted = client.good("GET", "/p/_count", "").await;
        assert_eq!(at(&counted, &["count"]).as_u64(), Some(20 - gone));
        assert!((1..20).contains(&gone), "{gone}");
        for (target, told) in [
            ("_search?preference=_shards:x", "number_format_exception: For input string: \"x\""),
            (
                "_count?preference=_only_nodes:nope",
                "illegal_argument_exception: no data nodes with criteria [nope] found for \
                 shard: [p][0]",
            ),
            (
                "_search_shards?preference=_foo:1",
                "illegal_argument_exception: no Preference for [_foo]",
            ),
        ] {
            assert_eq!(client.bad("GET", &format!("/p/{target}"), "").await, format!("400 {told}"));
        }
        client.good("GET", "/p/_search?preference=_only_nodes:node*", "").await;
    });
}

/// Dates of one kind are sorted with those of the other where the request says as which.
/// A sort by one key read the terms of all of them.
#[test]
fn one_key_of_a_flattened_field_is_sorted_by_its_own_terms() {
    with_node(|mut client| async move {
        let mappings = r#"{"mappings":{"properties":{"fl":{"type":"flattened"}}}}"#;
        client.good("PUT", "/f", mappings).await;
        for (id, fl) in [
            ("1", r#"{"a":"m","z":"a"}"#),
            ("2", r#"{"b":"secret"}"#),
            ("3", r#"{"a":["b","y"],"ab":"c"}"#),
        ] {
            let body = format!(r#"{{"fl":{fl}}}"#);
            client.good("PUT", &format!("/f/_doc/{id}?refresh=true"), &body).await;
        }
        for (sort, ids, values) in [
            (r#"{"fl.a":"asc"}"#, "3 1 2", r#"[["b"],["m"],[null]]"#),
            (r#"{"fl.a":"desc"}"#, "3 1 2", r#"[["y"],["m"],[null]]"#),
            (r#"{"fl.a":{"order":"asc","missing":"c"}}"#, "3 2 1", r#"[["b"],["c"],["m"]]"#),
            (r#"{"fl.a":{"order":"asc","missing":"_first"}}"#, "2 3 1", r#"[[null],["b"],["m"]]"#),
        ] {
            let found = client.good("POST", "/f/_search", &format!(r#"{{"sort":[{sort}]}}"#)).await;
            let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
            let told: Vec<&str> =
                hits.iter().filter_map(|hit| at(hit, &["_id"]).as_str()).collect();
            assert_eq!(told.join(" "), ids, "{sort}");
            let sorts = hits.iter().map(|hit| at(hit, &["sort"]).clone()).collect::<Vec<_>>();
            assert_eq!(
                json::Value::from(sorts),
                json::parse(values.as_bytes()).expect("JSON"),
                "{sort}"
            );
        }
        let after = r#"{"sort":[{"fl.a":"asc"}],"search_after":["b"]}"#;
        let found = client.good("POST", "/f/_search", after).await;
        assert_eq!(at(&found, &["hits", "hits"]).as_array().map(<[_]>::len), Some(2));
        let told = client.call("POST", "/f/_search", r#"{"collapse":{"field":"fl.a"}}"#).await;
        assert_eq!(told.status, 400);
        assert!(told.text().contains("only keywords and numbers are accepted"), "{}", told.text());
    });
}

#[test]
fn dates_are_sorted_as_milliseconds_or_as_nanoseconds() {
    with_node(|mut client| async move {
        let field = |kind: &str| {
            format!(
                r#"{{"settings":{{"number_of_shards":1}},
                "mappings":{{"properties":{{"d":{{"type":"{kind}"}},"n":{{"type":"long"}}}}}}}}"#
            )
        };
        client.good("PUT", "/ms", &field("date")).await;
        client.good("PUT", "/ns", &field("date_nanos")).await;
        let ms = r#"{"d":["2024-01-04T21:00:00Z","2024-02-01"],"n":1}"#;
        client.good("PUT", "/ms/_doc/1?refresh", ms).await;
        let ns = r#"{"d":"2024-01-04T21:00:00.000000001Z","n":2}"#;
        client.good("PUT", "/ns/_doc/1?refresh", ns).await;
        let sorted = |as_what: &str, more: &str| {
            format!(r#"{{"sort":[{{"d":{{"numeric_type":"{as_what}"{more}}}}}]}}"#)
        };
        let keys = |answer: &json::Value| -> Vec<String> {
            let hits = at(answer, &["hits", "hits"]).as_array().expect("hits").to_vec();
            hits.iter().map(|hit| json::to_string(at(hit, &["sort"]))).collect()
        };
        for (target, body, expected) in [
            ("/ms", sorted("date_nanos", ""), vec!["[1704402000000000000]"]),
            ("/ns", sorted("date", ""), vec!["[1704402000000]"]),
            (
                "/ms,ns",
                sorted("date_nanos", ""),
                vec!["[1704402000000000000]", "[1704402000000000001]"],
            ),
            ("/ms,ns", sorted("date", ""), vec!["[1704402000000]", "[1704402000000]"]),
            (
                "/ms",
                sorted("date_nanos", r#","mode":"max","format":"strict_date_optional_time_nanos""#),
                vec![r#"["2024-02-01T00:00:00.000Z"]"#],
            ),
            ("/ms", sorted("double", ""), vec!["[1.704402E12]"]),
        ] {
            let found = client.good("GET", &format!("{target}/_search"), &body).await;
            assert_eq!(keys(&found), expected, "{target} {body}");
        }
        let long = r#"{"sort":[{"n":{"numeric_type":"date_nanos"}}]}"#;
        let told = client.call("GET", "/ms/_search", long).await;
        assert_eq!(told.status, 400);
        assert!(told.text().contains("trying to convert a known date time formatter"));
        for (date, told) in [
            ("1969-12-31", "milliSeconds [-86400000] are before the epoch in 1970"),
            ("2300-01-01", "are after 2262-04-11T23:47:16.854775807"),
        ] {
            let document = format!(r#"{{"d":"{date}"}}"#);
            client.good("PUT", "/ms/_doc/2?refresh", &document).await;
            let refused = client.call("GET", "/ms/_search", &sorted("date_nanos", "")).await;
            assert_eq!(refused.status, 400, "{}", refused.text());
            assert!(refused.text().contains(told), "{}", refused.text());
        }
    });
}

#[test]
fn a_page_begins_after_a_date_that_is_reckoned() {
    with_node(|mut client| async move {
        let mappings = r#"{"mappings":{"properties":{
            "d":{"type":"date"},"s":{"type":"date_nanos"}}}}"#;
        client.good("PUT", "/a", mappings).await;
        for month in 4..8 {
            let day = format!("2024-{month:02}-01");
            let document = format!(r#"{{"d":"{day}","s":"{day}"}}"#);
            client.good("PUT", &format!("/a/_doc/{month}?refresh"), &document).await;
        }
        for (after, first) in [
            ("2024-05-01||+1M", Some("7")),
            ("2024-05-15||/M", Some("6")),
            ("2024-05-15||-1M/M", Some("5")),
            ("2024-07-01", None),
            ("1714521600000", Some("6")),
        ] {
            for field in ["d", "s"] {
                if field == "s" && after.starts_with("17") {
                    continue;
                }
                let body = format!(r#"{{"sort":["{field}"],"search_after":["{after}"]}}"#);
                let found = client.good("GET", "/a/_search", &body).await;
                let hits = at(&found, &["hits", "hits"]).as_array().expect("hits");
                let id = hits.first().and_then(|hit| hit.get("_id")?.as_str());
                assert_eq!(id, first, "{body}");
            }
        }
        for (after, told) in [
            ("now", "now() is not allowed in [search_after] key"),
            ("2024-05-01||+1x", "unit [x] not supported for date math [+1x]"),
            ("foo", "failed to parse date field [foo] with format"),
        ] {
            let body = format!(r#"{{"sort":["d"],"search_after":["{after}"]}}"#);
            let refused = client.call("GET", "/a/_search", &body).await;
            assert_eq!(refused.status, 400, "{}", refused.text());
            assert!(refused.text().contains(told), "{}", refused.text());
        }
    });
}

#[test]
fn the_order_of_a_point_in_time_is_for_those_alone() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh=true", "{}").await;
        let told = "400 action_request_validation_exception: Validation Failed: 1: [_shard_doc] sort field cannot be \
                    used without [point in time];";
        for target in ["/a/_search", "/a/_search?scroll=1m"] {
            assert_eq!(client.bad("POST", target, r#"{"sort":["_shard_doc"]}"#).await, told);
        }
        let pit = client.good("POST", "/a/_pit?keep_alive=1m", "").await;
        let id = at(&pit, &["id"]).as_str().expect("an id");
        let body = format!(r#"{{"pit":{{"id":"{id}"}},"sort":["_shard_doc"]}}"#);
        client.good("POST", "/_search", &body).await;
    });
}

#[test]
fn a_whole_second_since_1970_is_found_to_its_end() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"d":{"type":"date"},"s":{"type":"date","format":"epoch_second"}}}}"#;
        client.good("PUT", "/a", mapping).await;
        for (id, second, date) in [
            (0, "1700000000", "2023-11-14T22:13:20.000Z"),
            (1, "1700000000.5", "2023-11-14T22:13:20.500Z"),
            (2, "1700000000.999", "2023-11-14T22:13:20.999Z"),
            (3, "1700000001", "2023-11-14T22:13:21.000Z"),
        ] {
            let doc = format!(r#"{{"d":"{date}","s":"{second}"}}"#);
            client.good("PUT", &format!("/a/_doc/{id}?refresh=true"), &doc).await;
        }
        for (query, ids) in [
            (r#"{"range":{"d":{"lte":1700000000,"format":"epoch_second"}}}"#, "012"),
            (r#"{"range":{"d":{"lt":1700000000,"format":"epoch_second"}}}"#, ""),
            (r#"{"range":{"d":{"gt":1700000000,"format":"epoch_second"}}}"#, "3"),
            (r#"{"range":{"d":{"gte":1700000000,"format":"epoch_second"}}}"#, "0123"),
            (r#"{"range":{"s":{"gt":"1700000000"}}}"#, "3"),
            (r#"{"term":{"s":"1700000000"}}"#, "012"),
            (r#"{"match":{"s":"1700000000"}}"#, "012"),
            (r#"{"terms":{"s":["1700000000"]}}"#, "012"),
            (r#"{"terms":{"s":[1700000000500]}}"#, "1"),
        ] {
            let body = format!(r#"{{"query":{query},"sort":["d"]}}"#);
            let found = client.good("POST", "/a/_search", &body).await;
            let hits = at(&found, &["hits", "hits"]).as_array().expect("hits").iter();
            let found: String = hits.filter_map(|hit| hit.get("_id")?.as_str()).collect();
            assert_eq!(found, ids, "{query}");
        }
    });
}

#[test]
fn what_is_no_zone_is_told_of_the_outer_failure() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"mappings":{"properties":{"d":{"type":"date"}}}}"#).await;
        for (zone, class, kind, reason) in [
            (
                "+18:01",
                "java.time.DateTimeException",
                "date_time_exception",
                "Zone offset not in valid range: -18:00 to +18:00",
            ),
            (
                "5",
                "java.time.DateTimeException",
                "date_time_exception",
                "Invalid ID for ZoneOffset, invalid format: 5",
            ),
            (
                "foo",
                "java.time.zone.ZoneRulesException",
                "zone_rules_exception",
                "Unknown time-zone ID: foo",
            ),
        ] {
            let body =
                format!(r#"{{"query":{{"range":{{"d":{{"gte":"2024","time_zone":"{zone}"}}}}}}}}"#);
            let refused = client.call("GET", "/a/_search", &body).await;
            assert_eq!(refused.status, 400);
            let told = json::parse(refused.text().as_bytes()).expect("JSON");
            let root = told.at(&["error", "root_cause"]).and_then(|it| it.as_array()?.first());
            let root = root.expect("a root");
            let outer = format!("{class}: {reason}");
            assert_eq!(at(root, &["reason"]).as_str(), Some(outer.as_str()));
            assert_eq!(at(root, &["type"]).as_str(), Some("illegal_argument_exception"));
            let cause = at(&told, &["error", "caused_by"]);
            assert_eq!(at(cause, &["type"]).as_str(), Some(kind));
            assert_eq!(at(cause, &["reason"]).as_str(), Some(reason));
        }
    });
}

/// Values of one document, level below level: what is collected of it is their product.
#[test]
fn many_values_of_one_document_on_many_levels_are_answered_or_refused() {
    with_node(|mut client| async move {
        let list: Vec<String> = (0..150).map(|n| n.to_string()).collect();
        client
            .good("PUT", "/v/_doc/1?refresh=true", &format!("{{\"m\":[{}]}}", list.join(",")))
            .await;
        client.good("PUT", "/v/_doc/2?refresh=true", r#"{"m":[7],"l":[1,2,3,4,5,6]}"#).await;
        let levels = |field: &str, count: usize| {
            let terms = format!("{{\"a\":{{\"terms\":{{\"field\":\"{field}\"}},\"aggs\":");
            let below = format!("{{\"b\":{{\"max\":{{\"field\":\"{field}\"}}}}}}");
            format!("{{\"size\":0,\"aggs\":{}{below}{}}}", terms.repeat(count), "}}".repeat(count))
        };
        // 150 + 22,500 buckets, and 3,375,000 values: more than a core does at a time.
        let found = client.good("GET", "/v/_search", &levels("m", 2)).await;
        let outer = at(&found, &["aggregations", "a"]);
        assert_eq!(at(outer, &["sum_other_doc_count"]).as_u64(), Some(140));
        let first = &at(outer, &["buckets"]).as_array().expect("a list")[0];
        assert_eq!(at(first, &["key"]).as_u64(), Some(7), "of two documents");
        assert_eq!(at(first, &["doc_count"]).as_u64(), Some(2));
        assert_eq!(at(first, &["a", "sum_other_doc_count"]).as_u64(), Some(140));
        let inner = &at(first, &["a", "buckets"]).as_array().expect("a list")[0];
        assert_eq!(at(inner, &["doc_count"]).as_u64(), Some(2));
        assert_eq!(at(inner, &["b", "value"]).as_f64(), Some(149.0));
        // Six to the power of 7: it ends, whatever bound it meets first.
        let told = client.bad("GET", "/v/_search", &levels("l", 7)).await;
        assert!(told.starts_with("429 ") || told.starts_with("400 "), "{told}");
    });
}

#[test]
fn hits_of_words_and_numbers_are_not_put_in_one_order() {
    // Once all numbers came before all words, without a word.
    with_node(|mut client| async move {
        let kinds = [
            ("m1", "long"),
            ("m2", "double"),
            ("m3", "keyword"),
            ("m4", "integer"),
            ("m5", "float"),
            ("m6", "scaled_float"),
            ("m7", "unsigned_long"),
        ];
        for (index, kind) in kinds {
            let factor = if kind == "scaled_float" { r#","scaling_factor":10"# } else { "" };
            let mapping =
                format!(r#"{{"mappings":{{"properties":{{"a":{{"type":"{kind}"{factor}}}}}}}}}"#);
            client.good("PUT", &format!("/{index}"), &mapping).await;
        }
        let sorted = r#"{"sort":[{"a":"asc"}]}"#;
        // An index without hits does not matter.
        client.good("POST", "/m1,m3/_search", sorted).await;
        for (index, _) in kinds {
            client.good("PUT", &format!("/{index}/_doc/1?refresh=true"), r#"{"a":1}"#).await;
        }
        for (names, one, other) in [
            ("m1,m3", "LONG", "STRING"),
            ("m1,m2", "LONG", "DOUBLE"),
            ("m2,m5", "DOUBLE", "FLOAT"),
            ("m4,m5", "LONG", "FLOAT"),
        ] {
            let path = format!("/{names}/_search");
            let answer = client.call("POST", &path, sorted).await;
            assert_eq!(answer.status, 400, "{names}");
            let reason = format!(
                "Can't sort on field [a]; the field has incompatible sort types: [{one}] and \
                 [{other}] across shards!"
            );
            assert!(answer.text().contains(&reason), "{}", answer.text());
            client.good("POST", &path, r#"{"size":0,"sort":["a"]}"#).await;
            let one = r#"{"sort":["a"],"query":{"term":{"_index":"m1"}}}"#;
            client.good("POST", &path, one).await;
        }
        client.good("POST", "/m1,m4/_search", sorted).await;
        client.good("POST", "/m2,m6/_search", sorted).await;
        let answer = client.call("POST", "/m3,m7/_search", sorted).await;
        assert!(answer.text().contains("has [unsigned_long] type in one index"));
    });
}

#[test]
fn what_patterns_and_objects_yield_counts_as_clauses() {
    // Once a few words could ask for millions of terms, whose memory nobody counted.
    with_node(|mut client| async move {
        let fields: Vec<String> =
            (0..300).map(|at| format!(r#""f{at}":{{"type":"long"}}"#)).collect();
        let mapping = format!(
            r#"{{"mappings":{{"properties":{{"t":{{"type":"text"}},"o":{{"properties":{{{}}}}}}}}}}}"#,
            fields.join(",")
        );
        client.good("PUT", "/a", &mapping).await;
        let words: Vec<String> = (0..5_000).map(|at| format!("b w{at:04}")).collect();
        let text = format!(r#"{{"t":"{}","o":{{"f7":1}}}}"#, words.join(" "));
        client.good("PUT", "/a/_doc/1?refresh=true", &text).await;
        let bool_of = |clause: &str, count: usize| {
            format!(r#"{{"query":{{"bool":{{"should":[{}]}}}}}}"#, vec![clause; count].join(","))
        };
        let exists = r#"{"exists":{"field":"o"}}"#;
        let top = r#"{"prefix":{"t":{"value":"w","rewrite":"top_terms_1000"}}}"#;
        let phrase = r#"{"match_phrase_prefix":{"t":{"query":"b w","max_expansions":100000}}}"#;
        // A text shows in two ways that it is there, and is one field.
        let text = r#"{"exists":{"field":"t"}}"#;
        for (clause, fits, too_many) in [(exists, 13, 14), (top, 4, 5), (text, 4_096, 4_097)] {
            client.good("POST", "/a/_search", &bool_of(clause, fits)).await;
            let refused = client.call("POST", "/a/_search", &bool_of(clause, too_many)).await;
            assert_eq!(refused.status, 400, "{clause}");
            assert!(refused.text().contains("too_many_nested_clauses"), "{}", refused.text());
        }
        let refused = client.call("POST", "/a/_search", &bool_of(phrase, 1)).await;
        assert_eq!(refused.status, 400);
        assert!(refused.text().contains("too_many_nested_clauses"), "{}", refused.text());
        let some = phrase.replace("100000", "4000");
        client.good("POST", "/a/_search", &bool_of(&some, 1)).await;
        // Filters of aggregations are queries of their own; together they may have sixteen times as many.
        let filters = |clause: &str, count: usize| {
            let all = vec![clause; count].join(",");
            format!(r#"{{"size":0,"aggs":{{"a":{{"filters":{{"filters":[{all}]}}}}}}}}"#)
        };
        for (clause, fits, too_many) in [(exists, 200, 220), (top, 60, 66)] {
            client.good("POST", "/a/_search", &filters(clause, fits)).await;
            let refused = client.call("POST", "/a/_search", &filters(clause, too_many)).await;
            assert_eq!(refused.status, 400, "{clause}");
            assert!(refused.text().contains("at most 65536"), "{}", refused.text());
        }
    });
}

#[test]
fn a_page_by_booleans_begins_where_their_names_say() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"b":{"type":"boolean"}}}}"#;
        client.good("PUT", "/a", mapping).await;
        for (id, flag) in [("1", "true"), ("2", "false"), ("3", "true")] {
            let body = format!(r#"{{"b":{flag}}}"#);
            client.good("PUT", &format!("/a/_doc/{id}?refresh"), &body).await;
        }
        for after in ["false", r#""false""#, "0"] {
            let body = format!(r#"{{"sort":[{{"b":"asc"}}],"search_after":[{after}]}}"#);
            let found = client.good("POST", "/a/_search", &body).await;
            let hits = at(&found, &["hits", "hits"]).as_array().expect("hits");
            let ids: Vec<_> = hits.iter().map(|hit| at(hit, &["_id"]).as_str()).collect();
            assert_eq!(ids, [Some("1"), Some("3")], "after {after}");
        }
        let body = r#"{"sort":[{"b":"asc"}],"search_after":[true]}"#;
        let found = client.good("POST", "/a/_search", body).await;
        assert_eq!(at(&found, &["hits", "hits"]).as_array().map(<[_]>::len), Some(0));
    });
}

/// A function was asked of objects inside of documents and of deleted ones, and failed the search by what they lack.
#[test]
fn a_function_fails_by_documents_that_can_be_found_alone() {
    with_node(|mut client| async move {
        let index =
            r#"{"mappings":{"properties":{"ord":{"type":"integer"},"n":{"type":"nested"}}}}"#;
        client.good("PUT", "/f", index).await;
        for (id, body) in [
            ("1", r#"{"ord":1,"n":[{"a":1,"w":4}]}"#),
            ("2", r#"{"ord":2,"n":[{"a":1,"w":5},{"a":2,"w":6}]}"#),
            ("3", r#"{"n":[{"a":3}]}"#),
        ] {
            client.good("PUT", &format!("/f/_doc/{id}?refresh=true"), body).await;
        }
        let score = |query: &str, field: &str| {
            let function = format!(r#""field_value_factor":{{"field":"{field}"}}"#);
            let query =
                if query.is_empty() { String::new() } else { format!(r#""query":{query},"#) };
            format!(r#"{{"function_score":{{{query}{function},"boost_mode":"replace"}}}}"#)
        };
        let inner = r#"{"bool":{"must_not":{"term":{"n.a":9}}}}"#;
        let inside = format!(r#"{{"nested":{{"path":"n","query":{}}}}}"#, score("", "n.w"));
        let asked = [score("", "ord"), score(inner, "ord")];
        for query in &asked {
            let body = format!(r#"{{"query":{query}}}"#);
            let told = client.call("POST", "/f/_search", &body).await.text();
            assert!(told.contains("Missing value for field [ord]"), "{told}");
        }
        client.good("DELETE", "/f/_doc/3?refresh=true", "").await;
        for (query, best) in [(&asked[0], 2.0), (&asked[1], 2.0), (&inside, 5.5)] {
            let body = format!(r#"{{"query":{query}}}"#);
            let found = client.good("POST", "/f/_search", &body).await;
            assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(2), "{body}");
            assert_eq!(at(&found, &["hits", "max_score"]).as_f64(), Some(best), "{body}");
        }
    });
}
