//! Updates, work by query, searches that go on, and what stands around hits.

use json::{Value, json};

use crate::place::{Client, at, value, with_node};

fn ids(body: &Value) -> Vec<&str> {
    let hits = at(body, &["hits", "hits"]).as_array().expect("a list");
    hits.iter().map(|hit| at(hit, &["_id"]).as_str().expect("text")).collect()
}

/// Documents `0..count` of index `a`: `n` counts, `k` is even or odd.
async fn load(client: &mut Client, count: usize) {
    let mut lines = String::new();
    for n in 0..count {
        let k = if n % 2 == 0 { "even" } else { "odd" };
        lines.push_str(&format!("{{\"index\":{{\"_index\":\"a\",\"_id\":\"{n}\"}}}}\n"));
        lines.push_str(&format!("{{\"n\":{n},\"k\":\"{k}\"}}\n"));
    }
    let done = client.good("POST", "/_bulk?refresh=true", &lines).await;
    assert_eq!(at(&done, &["errors"]).as_bool(), Some(false), "{}", json::to_string(&done));
}

#[test]
fn updates_change_what_stands_there_without_a_refresh() {
    with_node(|mut client| async move {
        let up = r#"{"doc":{"a":{"x":1}},"upsert":{"a":{"y":2}},"_source":true}"#;
        let done = client.good("POST", "/a/_update/1", up).await;
        assert_eq!(at(&done, &["result"]).as_str(), Some("created"));
        assert_eq!(at(&done, &["get", "_source"]), &json!({"a": {"y": 2}}));
        let done = client.good("POST", "/a/_update/1", up).await;
        assert_eq!(at(&done, &["result"]).as_str(), Some("updated"));
        assert_eq!(at(&done, &["get", "_source"]), &json!({"a": {"y": 2, "x": 1}}));
        let done = client.good("POST", "/a/_update/1", up).await;
        assert_eq!(at(&done, &["result"]).as_str(), Some("noop"));
        assert_eq!(at(&done, &["_shards", "total"]).as_u64(), Some(0));
        assert_eq!(at(&done, &["_version"]).as_u64(), Some(2));
        let lines = concat!(
            "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"new\":\"field\"}}\n",
            "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"other\":[1,2]}}\n",
            "{\"update\":{\"_id\":\"none\"}}\n{\"doc\":{\"x\":1}}\n",
            "{\"update\":{\"_id\":\"1\"}}\n{\"script\":{\"source\":\"ctx.op='none'\"}}\n",
            "{\"delete\":{\"_id\":\"1\"}}\n",
            "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"back\":true},\"doc_as_upsert\":true}\n",
        );
        let done = client.good("POST", "/a/_bulk", lines).await;
        let items = at(&done, &["items"]).as_array().expect("a list");
        let statuses: Vec<Option<u64>> = items
            .iter()
            .map(|item| {
                let item = item.as_object().expect("an object").iter().next().expect("one").1;
                at(item, &["status"]).as_u64()
            })
            .collect();
        assert_eq!(
            statuses,
            [200, 200, 404, 200, 200, 201].map(Some),
            "{}",
            json::to_string(&done)
        );
        let found = client.good("GET", "/a/_doc/1", "").await;
        assert_eq!(at(&found, &["_source"]), &json!({"back": true}));
        let mapping = client.good("GET", "/a/_mapping", "").await;
        let other = at(&mapping, &["a", "mappings", "properties", "other", "type"]);
        assert_eq!(other.as_str(), Some("long"));
    });
}

#[test]
fn scroll_tells_each_document_of_its_moment_once() {
    with_node(|mut client| async move {
        load(&mut client, 25).await;
        for sort in [r#""sort":["_doc"],"#, r#""sort":[{"k.keyword":"desc"}],"#, ""] {
            let body = format!(r#"{{{sort}"size":10,"query":{{"match_all":{{}}}}}}"#);
            let mut page = client.good("POST", "/a/_search?scroll=1m", &body).await;
            let mut seen: Vec<String> = Vec::new();
            for n in 0.. {
                assert!(n < 9, "it ends");
                assert_eq!(at(&page, &["hits", "total", "value"]).as_u64(), Some(25));
                if ids(&page).is_empty() {
                    break;
                }
                seen.extend(ids(&page).into_iter().map(str::to_owned));
                // What is written meanwhile is of another moment.
                let late = format!("/a/_doc/{}?refresh=true", n % 3);
                client.good("PUT", &late, r#"{"n":7,"k":"late"}"#).await;
                let id = at(&page, &["_scroll_id"]).as_str().expect("text").to_owned();
                let next = json!({"scroll_id": (id), "scroll": "1m"});
                page = client.good("POST", "/_search/scroll", &json::to_string(&next)).await;
            }
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 25, "{sort}");
            let id = at(&page, &["_scroll_id"]).as_str().expect("text").to_owned();
            let id = json::to_string(&json!({"scroll_id": (id)}));
            let freed = client.good("DELETE", "/_search/scroll", &id).await;
            assert_eq!(freed, json!({"succeeded": true, "num_freed": 1}));
            let told = client.bad("POST", "/_search/scroll", &id).await;
            assert!(told.starts_with("404 search_phase_execution_exception"), "{told}");
        }
    });
}

#[test]
fn slices_share_nothing_and_miss_nothing() {
    with_node(|mut client| async move {
        load(&mut client, 40).await;
        let pit = client.good("POST", "/a/_pit?keep_alive=1m", "").await;
        let pit = at(&pit, &["id"]).as_str().expect("text").to_owned();
        for field in ["", r#","field":"n""#] {
            let (mut of_pit, mut of_scroll) = (Vec::new(), Vec::new());
            for part in 0..3 {
                let slice = format!(r#""slice":{{"id":{part},"max":3{field}}},"size":50"#);
                let body = format!(r#"{{{slice},"pit":{{"id":"{pit}"}},"sort":["n"]}}"#);
                let found = client.good("POST", "/_search", &body).await;
                of_pit.extend(ids(&found).into_iter().map(str::to_owned));
                let found =
                    client.good("POST", "/a/_search?scroll=1m", &format!("{{{slice}}}")).await;
                of_scroll.extend(ids(&found).into_iter().map(str::to_owned));
            }
            for seen in [&mut of_pit, &mut of_scroll] {
                assert_eq!(seen.len(), 40, "{field}");
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), 40, "{field}");
            }
        }
        client.good("PUT", "/a/_doc/late?refresh=true", r#"{"n":-1}"#).await;
        let body = format!(r#"{{"pit":{{"id":"{pit}"}},"sort":["n"],"size":2}}"#);
        let found = client.good("POST", "/_search", &body).await;
        assert_eq!(ids(&found), ["0", "1"], "the late one is of another moment");
        let last = at(&found, &["hits", "hits"]).as_array().expect("a list")[1].clone();
        let after = at(&last, &["sort"]);
        assert_eq!(after.as_array().expect("a list").len(), 2, "the tie is broken");
        let body = format!(
            r#"{{"pit":{{"id":"{pit}"}},"sort":["n"],"size":2,"search_after":{}}}"#,
            json::to_string(after)
        );
        assert_eq!(ids(&client.good("POST", "/_search", &body).await), ["2", "3"]);
    });
}

#[test]
fn work_by_query_writes_what_it_found() {
    with_node(|mut client| async move {
        load(&mut client, 30).await;
        let body =
            r#"{"source":{"index":"a","query":{"term":{"k.keyword":"odd"}}},"dest":{"index":"b"}}"#;
        let done = client.good("POST", "/_reindex?refresh&slices=3", body).await;
        assert_eq!(at(&done, &["created"]).as_u64(), Some(15), "{}", json::to_string(&done));
        assert_eq!(at(&done, &["slices"]).as_array().map(<[Value]>::len), Some(3));
        let target = "/b/_update_by_query?scroll_size=4&wait_for_completion=false";
        let begun = client.good("POST", target, "").await;
        let task = at(&begun, &["task"]).as_str().expect("text").to_owned();
        let ended =
            client.good("GET", &format!("/_tasks/{task}?wait_for_completion=true"), "").await;
        assert_eq!(at(&ended, &["completed"]).as_bool(), Some(true));
        assert_eq!(at(&ended, &["response", "updated"]).as_u64(), Some(15));
        assert_eq!(at(&ended, &["response", "batches"]).as_u64(), Some(4));
        // One document has changed since the last refresh: that is a conflict.
        client.good("PUT", "/a/_doc/3", r#"{"n":3,"k":"odd"}"#).await;
        let query = r#"{"query":{"term":{"k.keyword":"odd"}}}"#;
        let target = "/a/_delete_by_query?conflicts=proceed&refresh";
        let done = client.good("POST", target, query).await;
        let counts = ["deleted", "version_conflicts"].map(|name| at(&done, &[name]).as_u64());
        assert_eq!(counts, [Some(14), Some(1)], "{}", json::to_string(&done));
        let left = client.good("GET", "/a/_count", "").await;
        assert_eq!(at(&left, &["count"]).as_u64(), Some(16));
        let told = client.bad("POST", "/a/_delete_by_query", "{}").await;
        assert!(told.ends_with("Validation Failed: 1: query is missing;"), "{told}");
    });
}

/// A part beyond the last was refused, but not as what its field is read as.
#[test]
fn a_part_beyond_the_last_is_a_fault_of_its_field() {
    with_node(|mut client| async move {
        load(&mut client, 2).await;
        for target in ["/a/_search?scroll=1m", "/a/_update_by_query", "/a/_delete_by_query"] {
            for (slice, place, field, reason) in [
                (r#"{"id":2,"max":2}"#, 24, "max", "max must be greater than id"),
                (r#"{"max":2,"id":2}"#, 24, "id", "max must be greater than id"),
                (r#"{"id":0,"max":1}"#, 24, "max", "max must be greater than 1"),
                (r#"{"id":-1,"max":3}"#, 16, "id", "id must be greater than or equal to 0"),
            ] {
                let body = format!(r#"{{"slice":{slice},"query":{{"match_all":{{}}}}}}"#);
                let answer = client.call("POST", target, &body).await;
                assert_eq!(answer.status, 400, "{target} {body}");
                let told = value(&answer);
                let error = at(&told, &["error"]);
                assert_eq!(at(error, &["type"]).as_str(), Some("x_content_parse_exception"));
                let wanted = format!("[1:{place}] [slice] failed to parse field [{field}]");
                assert_eq!(at(error, &["reason"]).as_str(), Some(wanted.as_str()), "{target}");
                let cause = at(error, &["caused_by"]);
                assert_eq!(at(cause, &["type"]).as_str(), Some("illegal_argument_exception"));
                assert_eq!(at(cause, &["reason"]).as_str(), Some(reason), "{target}");
            }
        }
    });
}

#[test]
fn hits_stand_for_values_and_hold_others() {
    with_node(|mut client| async move {
        load(&mut client, 10).await;
        let body = r#"{"sort":[{"n":"desc"}],"collapse":{"field":"k.keyword",
            "inner_hits":{"name":"best","size":2,"sort":["n"],"_source":["n"]}}}"#;
        let found = client.good("POST", "/a/_search", body).await;
        assert_eq!(ids(&found), ["9", "8"]);
        let first = at(&found, &["hits", "hits"]).as_array().expect("a list")[0].clone();
        assert_eq!(at(&first, &["fields", "k.keyword"]), &json!(["odd"]));
        let inner = at(&first, &["inner_hits", "best"]);
        assert_eq!(ids(inner), ["1", "3"]);
        assert_eq!(at(inner, &["hits", "total", "value"]).as_u64(), Some(5));
        let body = r#"{"query":{"term":{"k.keyword":"odd"}},"size":2,"rescore":{"window_size":10,
            "query":{"rescore_query":{"constant_score":{"filter":{"term":{"n":7}},"boost":5}}}}}"#;
        assert_eq!(ids(&client.good("POST", "/a/_search", body).await)[0], "7");
        let nested = r#"{"mappings":{"properties":{"r":{"type":"nested","properties":{
            "u":{"type":"keyword"},"s":{"type":"integer"}}}}}}"#;
        client.good("PUT", "/n", nested).await;
        for (id, source) in [
            ("1", r#"{"r":[{"u":"x","s":1},{"u":"y","s":9}]}"#),
            ("2", r#"{"r":{"u":"x","s":5}}"#),
            ("3", r#"{"t":1}"#),
        ] {
            client.good("PUT", &format!("/n/_doc/{id}?refresh=true"), source).await;
        }
        let body = r#"{"sort":[{"r.s":{"order":"desc","nested":{"path":"r","filter":{"term":{"r.u":"x"}}}}}]}"#;
        assert_eq!(ids(&client.good("POST", "/n/_search", body).await), ["2", "1", "3"]);
        let body = r#"{"query":{"nested":{"path":"r","query":{"range":{"r.s":{"gte":5}}},"inner_hits":{}}},
            "sort":["_doc"]}"#;
        let found = client.good("POST", "/n/_search", body).await;
        assert_eq!(ids(&found), ["1", "2"]);
        let first = at(&found, &["hits", "hits"]).as_array().expect("a list")[0].clone();
        let inner = at(&first, &["inner_hits", "r", "hits", "hits"]).as_array().expect("a list");
        assert_eq!(inner.len(), 1);
        assert_eq!(at(&inner[0], &["_nested"]), &json!({"field": "r", "offset": 1}));
        assert_eq!(at(&inner[0], &["_source"]), &json!({"u": "y", "s": 9}));
    });
}

#[test]
fn searches_of_one_request_fail_alone() {
    with_node(|mut client| async move {
        load(&mut client, 3).await;
        let lines = "{\"index\":\"a\"}\n{\"size\":1}\n{\"index\":\"nope\"}\n{}\n{}\n{\"size\":0}\n";
        let done = client.good("POST", "/_msearch", lines).await;
        let replies = at(&done, &["responses"]).as_array().expect("a list");
        let statuses: Vec<Option<u64>> =
            replies.iter().map(|reply| at(reply, &["status"]).as_u64()).collect();
        assert_eq!(statuses, [200, 404, 200].map(Some));
        let told = client.bad("POST", "/_msearch", "{\"foo\":1}\n{}\n").await;
        assert!(told.ends_with("key [foo] is not supported in the metadata section"), "{told}");
    });
}
