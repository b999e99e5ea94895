//! Fields of which only a part is hidden, or whose values stand elsewhere too.

use json::{Value, json};

use crate::browser::basic;
use crate::place::{Client, at, with_security};

/// An index `w`, and a caller `part` who does not see `fields`.
async fn stage(client: &mut Client, except: &[&str]) {
    client.authorize(Some(&basic("elastic", "secret")));
    let mappings = json!({"properties": {
        "f": {"type": "flattened"}, "r": {"type": "rank_features"}, "pub": {"type": "keyword"},
        "sec": {"type": "text", "analyzer": "whitespace"}, "place": {"type": "keyword"},
        "other": {"type": "alias", "path": "place"}, "known": {"type": "alias", "path": "pub"},
        "unnamed": {"type": "alias", "path": "pub"},
        "c": {"type": "completion",
            "contexts": [{"name": "of", "type": "category", "path": "place"}]}}});
    let body = json!({"mappings": mappings,
        "settings": {"number_of_replicas": 0, "number_of_shards": 1}});
    client.good("PUT", "/w", &json::to_string(&body)).await;
    let doc = json!({"f": {"a": "x", "hidden": "SECRET"}, "r": {"SECRET": 3, "known": 2},
        "place": "SECRET", "c": "begin", "pub": "p", "sec": "SECRET word"});
    client.good("PUT", "/w/_doc/1?refresh=true", &json::to_string(&doc)).await;
    let rights = json!(["read", "view_index_metadata", "monitor"]);
    let fields = json!({"grant": ["*"], "except": (except.to_vec())});
    let role = json!({"cluster": ["monitor"],
        "indices": [{"names": ["w", "t"], "privileges": rights, "field_security": fields},
            {"names": ["t"], "privileges": ["all"]}]});
    client.good("PUT", "/_security/role/part", &json::to_string(&role)).await;
    let user = r#"{"password":"part-knows-this","roles":["part"]}"#;
    client.good("PUT", "/_security/user/part", user).await;
    client.authorize(Some(&basic("part", "part-knows-this")));
}

fn search(what: &str, body: Value) -> Value {
    json!({what: body, "size": 1, "_source": false})
}

/// Whatever a role said, a field whose own name begins with `_` was seen by everybody.
#[test]
fn a_field_whose_name_begins_with_a_line_is_hidden_as_any() {
    with_security(|mut client| async move {
        for (grant, except) in
            [(vec!["*"], vec!["_*"]), (vec!["pub"], vec![]), (vec!["p*"], vec![])]
        {
            client.authorize(Some(&basic("elastic", "secret")));
            let doc = r#"{"_own":"SECRET","_o":{"k":"SECRET"},"pub":"p"}"#;
            client.good("PUT", "/u/_doc/1?refresh=true", doc).await;
            let entry = json!({"names": ["u"], "privileges": ["read", "view_index_metadata"],
                "field_security": {"grant": grant, "except": except}});
            let role = json::to_string(&json!({"indices": [entry]}));
            client.good("PUT", "/_security/role/line", &role).await;
            let user = r#"{"password":"line-knows-this","roles":["line"]}"#;
            client.good("PUT", "/_security/user/line", user).await;
            client.authorize(Some(&basic("line", "line-knows-this")));
            for (method, target, body) in [
                ("GET", "/u/_doc/1", ""),
                ("GET", "/u/_mapping", ""),
                ("GET", "/u/_field_caps?fields=*", ""),
                ("POST", "/u/_search", r#"{"docvalue_fields":["_own.keyword"],"fields":["*"]}"#),
                (
                    "POST",
                    "/u/_search",
                    r#"{"size":0,"aggs":{"a":{"terms":{"field":"_own.keyword"}}}}"#,
                ),
            ] {
                let answer = client.call(method, target, body).await;
                assert_eq!(answer.status, 200, "{target} {}", answer.text());
                let text = answer.text();
                let tells =
                    ["SECRET", "\"_own", "\"_o\"", "_o.k"].iter().any(|it| text.contains(it));
                assert!(!tells, "{target} {body}: {text}");
            }
            let asked = r#"{"query":{"term":{"_own.keyword":"SECRET"}}}"#;
            let found: Value = client.good("POST", "/u/_count", asked).await;
            assert_eq!(at(&found, &["count"]).as_u64(), Some(0));
            let found: Value = client.good("GET", "/u/_doc/1?_source_includes=pub", "").await;
            assert_eq!(at(&found, &["_id"]).as_str(), Some("1"));
        }
    });
}

/// Members of such fields were hidden in sources alone.
#[test]
fn keys_of_fields_that_take_any_are_hidden_everywhere() {
    with_security(|mut client| async move {
        stage(&mut client, &["f.hidden", "r.SECRET", "place", "sec"]).await;
        let agg = |body: Value| search("aggs", json!({"it": body}));
        for body in [
            agg(json!({"terms": {"field": "f.hidden"}})),
            agg(json!({"terms": {"field": "f"}})),
            agg(json!({"rare_terms": {"field": "f.hidden"}})),
            agg(json!({"string_stats": {"field": "f.hidden", "show_distribution": true}})),
            agg(json!({"multi_terms": {"terms": [{"field": "f.hidden"}, {"field": "pub"}]}})),
            agg(json!({"composite": {"sources": [{"s": {"terms": {"field": "f.hidden"}}}]}})),
            agg(json!({"top_metrics": {"metrics": {"field": "f.hidden"}, "sort": {"pub": "asc"}}})),
            agg(json!({"value_count": {"field": "f.hidden"}})),
            search("docvalue_fields", json!(["f", "f.hidden", "*"])),
            search("fields", json!(["f", "f.hidden", "*"])),
            search("sort", json!([{"f.hidden": {"order": "asc", "unmapped_type": "keyword"}}])),
            search("script_fields", json!({"it": {"script": "doc['f.hidden'].value"}})),
            search("script_fields", json!({"it": {"script": "doc['f'].toString()"}})),
            search("collapse", json!({"field": "f.hidden"})),
        ] {
            let answer = client.call("POST", "/w/_search", &json::to_string(&body)).await;
            let told = answer.text();
            assert!(!told.contains("SECRET"), "{body:?}: {told}");
            let count = at_or_null(&answer, &["aggregations", "it", "value"]);
            assert!(count.as_f64().is_none_or(|count| count == 0.0), "{body:?}: {told}");
        }
        for query in [
            json!({"term": {"f.hidden": "SECRET"}}),
            json!({"term": {"f": "SECRET"}}),
            json!({"prefix": {"f.hidden": "S"}}),
            json!({"exists": {"field": "f.hidden"}}),
            json!({"query_string": {"query": "f.hidden:SECRET OR f:SECRET"}}),
            json!({"rank_feature": {"field": "r.SECRET"}}),
            json!({"term": {"r": "SECRET"}}),
        ] {
            let body = json!({"query": (query.clone())});
            let found = client.call("POST", "/w/_count", &json::to_string(&body)).await;
            let count = at_or_null(&found, &["count"]);
            assert!(count.as_u64().is_none_or(|count| count == 0), "{query:?} {}", found.text());
            let body = json!({"index_filter": (query.clone()), "fields": ["pub"]});
            let caps = client.good("POST", "/w/_field_caps", &json::to_string(&body)).await;
            let of = at(&caps, &["indices"]).as_array().map_or(0, <[Value]>::len);
            assert_eq!(of, 0, "{query:?}");
            let body = json!({"source": {"index": "w", "query": query}, "dest": {"index": "t"}});
            let copied = client.call("POST", "/_reindex", &json::to_string(&body)).await;
            let total = at_or_null(&copied, &["total"]);
            assert!(total.as_u64().is_none_or(|total| total == 0), "{}", copied.text());
        }
        // What is not hidden is shown in the source.
        let seen = client.good("GET", "/w/_source/1", "").await;
        assert_eq!(at(&seen, &["f"]), &json!({"a": "x"}));
        assert_eq!(at(&seen, &["r"]), &json!({"known": 2}));
    });
}

/// A pattern that begins with a star could hide a member of any field, so it hid each field of several
/// members, and no field could be changed.
#[test]
fn a_pattern_hides_what_it_names() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let mappings = json!({"properties": {
            "n": {"type": "integer"}, "k": {"type": "keyword"}, "a_secret": {"type": "keyword"},
            "g": {"type": "geo_point"}, "r": {"type": "integer_range"}, "fl": {"type": "flattened"},
            "t": {"type": "text"},
            "c": {"type": "completion", "contexts": [{"name": "x", "type": "category"}]}}});
        client.good("PUT", "/w", &json::to_string(&json!({"mappings": mappings}))).await;
        let doc = json!({"n": 1, "k": "x", "a_secret": "s", "g": {"lat": 1, "lon": 2},
            "r": {"gte": 1, "lte": 5}, "t": "red apple", "c": {"input": "in", "contexts": {"x": "y"}},
            "fl": {"a": "one", "b_secret": "two", "o": {"a": "three", "b_secret": "four"}}});
        client.good("PUT", "/w/_doc/1", &json::to_string(&doc)).await;
        client.good("PUT", "/w/_doc/2?refresh=true", r#"{"fl":{"b_secret":"zwei"}}"#).await;
        let fields = json!({"grant": ["*"], "except": ["*_secret"]});
        let role = json!({"indices": [{"names": ["w"], "privileges": ["read", "write"],
            "field_security": fields}]});
        client.good("PUT", "/_security/role/part", &json::to_string(&role)).await;
        let user = r#"{"password":"part-knows-this","roles":["part"]}"#;
        client.good("PUT", "/_security/user/part", user).await;
        client.authorize(Some(&basic("part", "part-knows-this")));
        for (query, count) in [
            (json!({"geo_distance": {"distance": "1km", "g": {"lat": 1, "lon": 2}}}), 1),
            (json!({"term": {"r": 3}}), 1),
            // Which keys there are is not known, so queries know none of them.
            (json!({"term": {"fl.a": "one"}}), 0),
            (json!({"term": {"fl.b_secret": "two"}}), 0),
            (json!({"term": {"fl.o.b_secret": "four"}}), 0),
            (json!({"exists": {"field": "fl.b_secret"}}), 0),
            (json!({"term": {"fl": "one"}}), 0),
            (json!({"term": {"fl": "two"}}), 0),
            (json!({"exists": {"field": "fl"}}), 0),
            (json!({"query_string": {"query": "fl.b_secret:two OR fl:two OR two"}}), 0),
        ] {
            let body = json!({"query": (query.clone())});
            let found = client.good("POST", "/w/_count", &json::to_string(&body)).await;
            assert_eq!(at(&found, &["count"]).as_u64(), Some(count), "{query:?}");
        }
        let seen = client.good("GET", "/w/_source/1", "").await;
        let shown = json!({"a": "one", "o": {"a": "three"}});
        assert_eq!(at(&seen, &["fl"]), &shown);
        for (change, status) in [
            (json!({"n": 2}), 200),
            (json!({"k": "y", "t": "blue", "g": {"lat": 3, "lon": 4}, "r": {"gte": 2}}), 200),
            (json!({"g": "5,6", "r": null, "c": {"input": "out", "contexts": {"x": "z"}}}), 200),
            (json!({"k": ["y", "z"]}), 200),
            (json!({"a_secret": "t"}), 403),
            // Any member may lie below.
            (json!({"fl": {"a": "x"}}), 403),
            (json!({"fl": null}), 403),
            (json!({"unmapped": 1}), 403),
        ] {
            let body = json::to_string(&json!({"doc": (change.clone())}));
            let answer = client.call("POST", "/w/_update/1", &body).await;
            assert_eq!(answer.status, status, "{change:?} {}", answer.text());
        }
        client.authorize(Some(&basic("elastic", "secret")));
        let whole = client.good("GET", "/w/_source/1", "").await;
        assert_eq!(at(&whole, &["a_secret"]).as_str(), Some("s"));
        assert_eq!(at(&whole, &["fl", "b_secret"]).as_str(), Some("two"));
    });
}

fn at_or_null(response: &http::client::Response, path: &[&str]) -> Value {
    crate::place::value(response).at(path).cloned().unwrap_or(Value::Null)
}

/// What narrows a completion is a copy of another field's values.
#[test]
fn a_completion_tells_no_hidden_context() {
    with_security(|mut client| async move {
        let body = json!({"suggest": {"it": {"prefix": "be", "completion": {"field": "c",
            "contexts": {"of": ["SECRET"]}}}}});
        let body = json::to_string(&body);
        stage(&mut client, &["nothing"]).await;
        let told = client.call("POST", "/w/_search", &body).await.text();
        assert!(told.contains("SECRET") && told.contains("begin"), "{told}");
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("DELETE", "/w", "").await;
        stage(&mut client, &["place"]).await;
        let told = client.call("POST", "/w/_search", &body).await.text();
        assert!(!told.contains("SECRET") && !told.contains("begin"), "{told}");
        let told = client.call("GET", "/w/_mapping", "").await.text();
        assert!(!told.contains("place") && told.contains("pub"), "{told}");
    });
}

/// Counts of what searches read of fields named the hidden ones.
#[test]
fn uses_of_hidden_fields_are_not_told() {
    with_security(|mut client| async move {
        stage(&mut client, &["sec"]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("GET", "/w/_search?q=sec:word", "").await;
        client.good("GET", "/w/_search?q=pub:p", "").await;
        let told = client.call("GET", "/w/_field_usage_stats", "").await.text();
        assert!(told.contains("\"sec\"") && told.contains("\"pub\""), "{told}");
        client.authorize(Some(&basic("part", "part-knows-this")));
        let told = client.call("GET", "/w/_field_usage_stats", "").await.text();
        assert!(!told.contains("\"sec\"") && told.contains("\"pub\""), "{told}");
    });
}

/// The analyzer of a hidden field told that the field is there.
#[test]
fn a_hidden_field_is_analyzed_like_an_unknown_one() {
    with_security(|mut client| async move {
        stage(&mut client, &["sec"]).await;
        let mut told = Vec::new();
        for field in ["sec", "none"] {
            let body = format!(r#"{{"field":"{field}","text":"A-B C"}}"#);
            told.push(client.call("POST", "/w/_analyze", &body).await.text().replace(field, "F"));
        }
        assert_eq!(told[0], told[1]);
        client.authorize(Some(&basic("elastic", "secret")));
        let body = r#"{"field":"sec","text":"A-B C"}"#;
        assert!(client.call("POST", "/w/_analyze", body).await.text().contains("A-B"));
    });
}

/// In which slice a document is tells a hash of the value by which it was cut.
#[test]
fn no_slice_is_cut_by_a_hidden_field() {
    with_security(|mut client| async move {
        stage(&mut client, &["f.hidden", "place", "unnamed"]).await;
        let slice = |field: &str| json!({"id": 0, "max": 2, "field": field});
        for (field, status) in [
            ("place", 400),
            ("f", 400),
            ("nowhere", 400),
            ("pub", 200),
            // Another name leads to what is hidden.
            ("other", 400),
            ("unnamed", 400),
            ("known", 200),
        ] {
            let pit = client.good("POST", "/w/_pit?keep_alive=1m", "").await;
            let pit = json!({"id": (at(&pit, &["id"]).clone())});
            let held = json!({"pit": pit, "slice": (slice(field))});
            let copied =
                json!({"source": {"index": "w", "slice": (slice(field))}, "dest": {"index": "t"}});
            for (path, body) in [
                ("/w/_search?scroll=1m", json!({"slice": (slice(field))})),
                ("/_search", held),
                ("/_reindex", copied),
            ] {
                let answer = client.call("POST", path, &json::to_string(&body)).await;
                let told = answer.text();
                // Who sees a part alone copies nothing at all.
                let wanted = if path == "/_reindex" && status == 200 { 200 } else { status };
                assert_eq!(answer.status, wanted, "{field} {path}: {told}");
                if status == 400 {
                    let reason = format!("cannot load numeric doc values on [{field}]");
                    assert!(told.contains(&reason), "{field} {path}: {told}");
                }
            }
        }
        let caps = client.good("GET", "/w/_field_caps?fields=*", "").await;
        let names = ["place", "other", "unnamed", "known", "pub"]
            .map(|name| caps.at(&["fields", name]).is_some());
        assert_eq!(names, [false, false, false, true, true], "{}", json::to_string(&caps));
    });
}

/// Words were read from the source, whatever of it the caller saw.
#[test]
fn significant_words_come_of_no_hidden_field() {
    with_security(|mut client| async move {
        stage(&mut client, &["sec"]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/w/_mapping", r#"{"properties":{"text":{"type":"text"}}}"#).await;
        client
            .good("PUT", "/w/_doc/2?refresh=true", r#"{"text":"seen","sec":"SECRET","pub":"q"}"#)
            .await;
        let body = json!({"size": 0, "query": {"term": {"pub": "q"}}, "aggs": {"it": {
            "significant_text": {"field": "text", "source_fields": ["sec", "text"], "min_doc_count": 1}}}});
        let body = json::to_string(&body);
        let whole = client.call("POST", "/w/_search", &body).await.text();
        assert!(whole.contains("\"secret\""), "who sees all finds it: {whole}");
        client.authorize(Some(&basic("part", "part-knows-this")));
        let told = client.good("POST", "/w/_search", &body).await;
        let told = json::to_string(&told);
        assert!(!told.contains("secret") && told.contains("\"seen\""), "{told}");
    });
}

/// Beside one that was granted, another alias of the same index led to all of it.
#[test]
fn each_alias_that_is_named_must_be_granted() {
    with_security(|mut client| async move {
        stage(&mut client, &[]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/w/_doc/2?refresh=true", r#"{"pub":"q"}"#).await;
        let filter = |value: &str| json!({"term": {"pub": value}});
        let add = |alias: &str, filter: Value| json!({"add": {"index": "w", "alias": alias, "filter": filter}});
        let actions = json!({"actions": [add("al-q", filter("q")), add("al-p", filter("p")),
            add("al-other", filter("p")), {"add": {"index": "w", "alias": "al-all"}}]});
        client.good("POST", "/_aliases", &json::to_string(&actions)).await;
        let of = |names: &[&str], query: Value| json!({"names": (names.to_vec()), "privileges": ["read"], "query": query});
        let all = json!({"match_all": {}});
        let role =
            json!({"indices": [of(&["al-q", "al-p"], all), of(&["al-other"], filter("none"))]});
        client.good("PUT", "/_security/role/aliases", &json::to_string(&role)).await;
        let user = r#"{"password":"alia-knows-this","roles":["aliases"]}"#;
        client.good("PUT", "/_security/user/alia", user).await;
        client.authorize(Some(&basic("alia", "alia-knows-this")));
        for (names, status, hits) in [
            ("al-q", 200, 1),
            ("al-q,al-p", 200, 2),
            ("al-q,al-all", 403, 0),
            ("al-all,al-q", 403, 0),
            ("al-q,w", 403, 0),
            ("al-other", 200, 0),
            ("al-q,al-other", 403, 0),
        ] {
            let answer = client.call("GET", &format!("/{names}/_count"), "").await;
            assert_eq!(answer.status, status, "{names}: {}", answer.text());
            if status == 200 {
                let found = client.good("GET", &format!("/{names}/_count"), "").await;
                assert_eq!(at(&found, &["count"]).as_u64(), Some(hits), "{names}");
            }
            let pit = client.call("POST", &format!("/{names}/_pit?keep_alive=1m"), "").await;
            assert_eq!(pit.status, status, "{names}: {}", pit.text());
        }
    });
}

/// Whoever may watch the cluster heard the names of fields that are hidden from it in an index that it reads.
#[test]
fn figures_of_the_node_name_no_hidden_field() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let mapping = r#"{"mappings":{"properties":{"open":{"type":"text","fielddata":true},
            "secret":{"type":"text","fielddata":true},"sug":{"type":"completion"}}}}"#;
        client.good("PUT", "/h", mapping).await;
        let document = r#"{"open":"a","secret":"b","sug":"c"}"#;
        client.good("PUT", "/h/_doc/1?refresh=true", document).await;
        let sorted = r#"{"sort":["open","secret"]}"#;
        client.good("POST", "/h/_search", sorted).await;
        let role = r#"{"cluster":["monitor"],"indices":[{"names":["h"],"privileges":["read","monitor"],
            "field_security":{"grant":["open"]}}]}"#;
        client.good("PUT", "/_security/role/some", role).await;
        let user = r#"{"password":"some-of-it-seen","roles":["some"]}"#;
        client.good("PUT", "/_security/user/some", user).await;
        let calls = [
            "/_cat/fielddata?format=json",
            "/_nodes/stats/indices?fields=*",
            "/_nodes/stats/indices?fields=*&level=indices",
            "/_nodes/stats/indices?fields=*&level=shards",
            "/h/_stats?fields=*",
        ];
        for target in calls {
            client.authorize(Some(&basic("elastic", "secret")));
            let all = json::to_string(&client.good("GET", target, "").await);
            client.authorize(Some(&basic("some", "some-of-it-seen")));
            let seen = json::to_string(&client.good("GET", target, "").await);
            for (name, is_seen) in [("open", true), ("secret", false), ("sug", false)] {
                let name = format!("\"{name}\"");
                if !target.starts_with("/_cat") || name != "\"sug\"" {
                    assert!(all.contains(&name), "{target}: {all}");
                }
                assert_eq!(seen.contains(&name), is_seen, "{target}: {name}: {seen}");
            }
        }
    });
}

/// `_ignored` named a field whose hidden part alone was passed over.
#[test]
fn what_was_passed_over_of_a_hidden_part_is_not_told() {
    with_security(|mut client| async move {
        stage(&mut client, &["f.hidden"]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let mapping = r#"{"mappings":{"properties":{"f":{"type":"flattened","ignore_above":5},
            "n":{"type":"keyword","ignore_above":1}}}}"#;
        client.good("DELETE", "/w", "").await;
        client.good("PUT", "/w", mapping).await;
        let doc = r#"{"f":{"a":"x","hidden":"longer"},"n":"long"}"#;
        client.good("PUT", "/w/_doc/1?refresh", doc).await;
        for (user, password, told) in
            [("elastic", "secret", json!(["f", "n"])), ("part", "part-knows-this", json!(["n"]))]
        {
            client.authorize(Some(&basic(user, password)));
            let got = client.good("GET", "/w/_doc/1", "").await;
            assert_eq!(at(&got, &["_ignored"]), &told, "{user}");
            let found = client.good("GET", "/w/_search", "").await;
            let hit = &at(&found, &["hits", "hits"]).as_array().expect("a list")[0];
            assert_eq!(at(hit, &["_ignored"]), &told, "{user}");
        }
    });
}
