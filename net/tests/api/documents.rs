//! Documents, one at a time and many.

use json::json;

use crate::place::{Client, at, failure, with_memory, with_node};

#[test]
fn a_document_lives_through_its_versions() {
    with_node(|mut client| async move {
        let made = client.call("PUT", "/a/_doc/x%20y?routing=r%20s", r#"{"n":1}"#).await;
        assert_eq!(made.status, 201, "{}", made.text());
        assert_eq!(made.field("location"), Some("/a/_doc/x%20y?routing=r+s"));
        assert_eq!(
            made.text(),
            r#"{"_index":"a","_id":"x y","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1}"#
        );
        let updated = client.good("PUT", "/a/_doc/x%20y?routing=r+s", r#"{ "n" : 2.50 }"#).await;
        assert_eq!(at(&updated, &["result"]).as_str(), Some("updated"));
        let got = client.call("GET", "/a/_doc/x%20y?routing=r+s", "").await;
        assert_eq!(
            got.text(),
            r#"{"_index":"a","_id":"x y","_version":2,"_seq_no":1,"_primary_term":1,"_routing":"r s","found":true,"_source":{ "n" : 2.50 }}"#
        );
        let source = client.call("GET", "/a/_source/x%20y?routing=r+s", "").await;
        assert_eq!((source.status, source.text().as_str()), (200, r#"{ "n" : 2.50 }"#));
        assert_eq!(client.call("HEAD", "/a/_doc/x%20y?routing=r+s", "").await.status, 200);
        let gone = client.good("DELETE", "/a/_doc/x%20y?routing=r+s", "").await;
        assert_eq!(
            (at(&gone, &["result"]).as_str(), at(&gone, &["_version"]).as_u64()),
            (Some("deleted"), Some(3))
        );
        let missing = client.call("GET", "/a/_doc/x%20y?routing=r+s", "").await;
        assert_eq!(
            (missing.status, missing.text().as_str()),
            (404, r#"{"_index":"a","_id":"x y","found":false}"#)
        );
        assert_eq!(client.call("HEAD", "/a/_doc/x%20y", "").await.status, 404);
        let again = client.call("DELETE", "/a/_doc/zz", "").await;
        assert_eq!(again.status, 404);
        assert!(again.text().contains(r#""result":"not_found""#));
        assert_eq!(
            client.bad("GET", "/a/_source/zz", "").await,
            "404 resource_not_found_exception: Document not found [a]/[zz]"
        );
    });
}

#[test]
fn conditions_hold_or_conflict() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_create/1", "{}").await;
        assert_eq!(
            client.bad("PUT", "/a/_create/1", "{}").await,
            "409 version_conflict_engine_exception: [1]: version conflict, document already exists \
             (current version [1])"
        );
        assert_eq!(
            client.bad("PUT", "/a/_doc/1?if_seq_no=5&if_primary_term=1", "{}").await,
            "409 version_conflict_engine_exception: [1]: version conflict, required seqNo [5], \
             primary term [1]. current document has seqNo [0] and primary term [1]"
        );
        client.good("PUT", "/a/_doc/1?if_seq_no=0&if_primary_term=1", "{}").await;
        client.good("PUT", "/a/_doc/2?version=7&version_type=external", "{}").await;
        let told = client.bad("PUT", "/a/_doc/2?version=7&version_type=external", "{}").await;
        assert!(
            told.contains("current version [7] is higher or equal to the one provided [7]"),
            "{told}"
        );
        for (target, told) in [
            (
                "/a/_doc/1?if_seq_no=5",
                "400 action_request_validation_exception: Validation Failed: 1: ifSeqNo is set, but \
                 primary term is [0];",
            ),
            (
                "/a/_doc/1?op_type=foo",
                "400 illegal_argument_exception: opType must be 'create' or 'index', found: [foo]",
            ),
            (
                "/a/_doc/1?version_type=foo",
                "400 illegal_argument_exception: No version type match [foo]",
            ),
            (
                "/a/_doc/1?refresh=foo",
                "400 illegal_argument_exception: Unknown value for refresh: [foo].",
            ),
            (
                "/a/_doc/1?pipeline=p",
                "400 illegal_argument_exception: pipeline with id [p] does not exist",
            ),
            (
                "/a/_doc/1?if_seq_no=-1&if_primary_term=1",
                "400 illegal_argument_exception: sequence numbers must be non negative. got [-1].",
            ),
            (
                "/b/_doc/1?require_alias",
                "404 index_not_found_exception: no such index [b] and [require_alias] request flag \
                 is [true] and [b] is not an alias",
            ),
            (
                "/a/_doc/1?wait_for_active_shards=2&timeout=100ms",
                "503 unavailable_shards_exception: [a][0] Not enough active copies to meet shard \
                 count of [2] (have 1, needed 2). Timeout: [100ms], request: [/a/_doc/1]",
            ),
            (
                "/c/_doc/1?wait_for_active_shards=all&timeout=100ms",
                "503 unavailable_shards_exception: [c][0] Not enough active copies to meet shard \
                 count of [ALL] (have 1, needed 2). Timeout: [100ms], request: [/c/_doc/1]",
            ),
        ] {
            assert_eq!(client.bad("PUT", target, "{}").await, told, "{target}");
        }
        assert_eq!(
            client.bad("PUT", "/a/_doc/1", "").await,
            "400 parse_exception: request body is required"
        );
        let long = format!("/a/_doc/{}", "x".repeat(513));
        assert!(client.bad("PUT", &long, "{}").await.contains("but was: 513;"));
    });
}

#[test]
fn ids_are_made_where_none_is_given() {
    with_node(|mut client| async move {
        let one = client.call("POST", "/a/_doc", "{}").await;
        assert_eq!(one.status, 201);
        let body = crate::place::value(&one);
        let id = at(&body, &["_id"]).as_str().expect("an id").to_owned();
        assert_eq!(id.len(), 20);
        assert_eq!(one.field("location"), Some(format!("/a/_doc/{id}").as_str()));
        client.good("GET", &format!("/a/_doc/{id}"), "").await;
    });
}

/// What many patterns choose of a long document is chosen by a worker: the same, whichever way it is
/// asked for.
#[test]
fn sources_are_filtered_by_many_patterns_on_every_way_out() {
    with_node(|mut client| async move {
        let mappings = r#"{"mappings":{"dynamic":false,"properties":{
            "k":{"type":"keyword"},"n":{"type":"nested","properties":{"a":{"type":"long"}}}}}}"#;
        client.good("PUT", "/a", mappings).await;
        let fields: Vec<String> = (0..3_000).map(|n| format!(r#""field{n}":{n}"#)).collect();
        let fields = fields.join(",");
        let doc = format!(r#"{{"k":"x","n":[{{"a":1,"b":2}},{{"a":3}}],{fields}}}"#);
        client.good("PUT", "/a/_doc/1?refresh", &doc).await;
        let patterns = |last: &[&str]| {
            let many = (0..300).map(|n| format!("*f*d{n}x"));
            let all: Vec<String> = many.chain(last.iter().map(|&it| it.to_owned())).collect();
            json::to_string(&all.into_iter().map(json::Value::from).collect())
        };
        let wanted = json!({"n": [{"a": 1}, {"a": 3}], "field7": 7});
        let filter = patterns(&["n.a", "field7"]);
        let ask = format!(r#"{{"docs":[{{"_id":"1","_source":{filter}}}]}}"#);
        let got = client.good("GET", "/a/_mget", &ask).await;
        let docs = at(&got, &["docs"]).as_array().expect("a list");
        assert_eq!(at(&docs[0], &["_source"]), &wanted);
        let search = format!(
            r#"{{"_source":{filter},
                "query":{{"nested":{{"path":"n","query":{{"range":{{"n.a":{{"gte":2}}}}}},
                    "inner_hits":{{"_source":{filter}}}}}}},
                "aggs":{{"top":{{"top_hits":{{"_source":{filter}}}}},
                    "inside":{{"nested":{{"path":"n"}},
                        "aggs":{{"top":{{"top_hits":{{"_source":{filter}}}}}}}}}}}}}"#
        );
        let got = client.good("POST", "/a/_search", &search).await;
        let first =
            |of: &json::Value| at(of, &["hits", "hits"]).as_array().expect("hits")[0].clone();
        let hit = first(&got);
        assert_eq!(at(&hit, &["_source"]), &wanted);
        let inner = first(at(&hit, &["inner_hits", "n"]));
        assert_eq!(at(&inner, &["_source"]), &json!({"a": 3}));
        let top = first(at(&got, &["aggregations", "top"]));
        assert_eq!(at(&top, &["_source"]), &wanted);
        let inside = first(at(&got, &["aggregations", "inside", "top"]));
        assert_eq!(at(&inside, &["_source"]), &json!({"a": 1}));
        let update = format!(r#"{{"doc":{{"k":"y"}},"_source":{filter}}}"#);
        let got = client.good("POST", "/a/_update/1", &update).await;
        assert_eq!(at(&got, &["get", "_source"]), &wanted);
        // Excludes with stars are read across dots.
        let excludes = patterns(&["field*", "*.b", "k"]);
        let search = format!(r#"{{"_source":{{"excludes":{excludes}}}}}"#);
        let got = client.good("POST", "/a/_search", &search).await;
        assert_eq!(at(&first(&got), &["_source"]), &json!({"n": [{"a": 1}, {"a": 3}]}));
    });
}

#[test]
fn sources_are_filtered_where_asked() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"a":{"b":1,"c":2},"d":3}"#).await;
        for (query, source) in [
            ("_source=a.b", r#"{"a":{"b":1}}"#),
            ("_source_excludes=a", r#"{"d":3}"#),
            ("_source_includes=a&_source_excludes=a.c", r#"{"a":{"b":1}}"#),
        ] {
            let got = client.call("GET", &format!("/a/_doc/1?{query}"), "").await;
            assert!(got.text().ends_with(&format!("\"_source\":{source}}}")), "{}", got.text());
        }
        // Paths bring back no source that nobody wants.
        for query in [
            "_source=false",
            "_source=false&_source_includes=d",
            "_source_excludes=a&_source=false",
            "stored_fields=d",
        ] {
            let got = client.good("GET", &format!("/a/_doc/1?{query}"), "").await;
            assert!(got.get("_source").is_none(), "{query}: {got:?}");
            let got = client.good("GET", &format!("/a/_mget?{query}"), r#"{"ids":["1"]}"#).await;
            assert!(got.at(&["docs"]).is_some());
            assert!(!format!("{got:?}").contains("_source"), "{query}: {got:?}");
        }
        let target = "/a/_explain/1?_source=false&_source_includes=d";
        let got = client.good("GET", target, r#"{"query":{"match_all":{}}}"#).await;
        assert!(got.get("get").is_none(), "{got:?}");
        let target = "/a/_update/1?_source=false&_source_includes=d";
        let got = client.good("POST", target, r#"{"doc":{"d":4}}"#).await;
        assert!(got.get("get").is_none(), "{got:?}");
        let lines = "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"d\":5}}\n";
        let got = client.good("POST", "/a/_bulk?_source=false&_source_includes=d", lines).await;
        assert!(!format!("{got:?}").contains("_source"), "{got:?}");
        let got = client.good("GET", "/a/_doc/1?stored_fields=d&_source_includes=d", "").await;
        assert_eq!(got.get("_source"), Some(&json!({"d": 5})));
    });
}

/// Long updates are read, merged and parsed by workers, and answered as short ones are.
#[test]
fn long_updates_keep_their_places_and_may_bring_fields() {
    with_node(|mut client| async move {
        let words: Vec<String> = (0..9_000).map(|n| format!("w{n}")).collect();
        let words = words.join(" ");
        client.good("PUT", "/a/_doc/1", r#"{"n":1}"#).await;
        let long =
            |id: &str, part: &str| format!("{{\"update\":{{\"_id\":\"{id}\"}}}}\n{{{part}}}\n");
        let lines = [
            long("1", &format!(r#""doc":{{"text":"{words}"}}"#)),
            long("1", r#""doc":{"n":2}"#),
            long("2", &format!(r#""doc":{{"other":"{words}"}},"doc_as_upsert":true"#)),
            long("3", &format!(r#""doc":{{"n":1}},"upsert":{{"third":"{words}"}}"#)),
            long("4", &format!(r#""doc":{{"text":"{words}"}}"#)),
            long("1", &format!(r#""doc":{{"text":"{words}"}}"#)),
        ];
        let got = client.good("POST", "/a/_bulk?refresh", &lines.concat()).await;
        let items = at(&got, &["items"]).as_array().expect("a list");
        let results: Vec<Option<&str>> = items
            .iter()
            .map(|item| item.at(&["update", "result"]).and_then(json::Value::as_str))
            .collect();
        assert_eq!(
            results,
            [
                Some("updated"),
                Some("updated"),
                Some("created"),
                Some("created"),
                None,
                Some("noop")
            ]
        );
        let body = format!(r#"{{"doc":{{"text":"{words} last"}},"_source":["n"]}}"#);
        let got = client.good("POST", "/a/_update/1?refresh", &body).await;
        assert_eq!(at(&got, &["get", "_source"]), &json!({"n": 2}));
        for (field, word, id) in [
            ("text", "last", "1"),
            ("text", "w8999", "1"),
            ("other", "w0", "2"),
            ("third", "w4000", "3"),
        ] {
            let got = client.good("GET", &format!("/a/_search?q={field}:{word}"), "").await;
            let hits = at(&got, &["hits", "hits"]).as_array().expect("a list");
            assert_eq!(hits.len(), 1, "{field}");
            assert_eq!(at(&hits[0], &["_id"]).as_str(), Some(id));
        }
        // What is wrong with a long one fails the request, as what is wrong with a short one.
        let lines = [
            long("1", &format!(r#""doc":{{"text":"{words}"}},"wrong":1"#)),
            long("1", r#""doc":{"n":3}"#),
        ];
        let got = client.call("POST", "/a/_bulk", &lines.concat()).await;
        assert_eq!(got.status, 400);
        assert!(got.text().contains("unknown field [wrong]"), "{}", got.text());
        let got = client.good("GET", "/a/_doc/1?_source=n", "").await;
        assert_eq!(at(&got, &["_source"]), &json!({"n": 2}));
    });
}

#[test]
fn a_bulk_keeps_order_and_fails_by_item() {
    with_node(|mut client| async move {
        let lines = concat!(
            "{\"index\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"n\":1}\n",
            "{\"create\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"n\":2}\n",
            "{\"index\":{\"_index\":\"a\",\"_id\":\"2\"}}\n{\"n\":\"x\"}\n",
            "{\"index\":{\"_index\":\"A\",\"_id\":\"3\"}}\n{}\n",
            "{\"index\":{\"_index\":\"a\",\"_id\":\"\"}}\n{}\n",
            "{\"delete\":{\"_index\":\"a\",\"_id\":\"1\"}}\n",
            "{\"delete\":{\"_index\":\"a\",\"_id\":\"9\"}}\n",
        );
        client.good("PUT", "/a", r#"{"mappings":{"properties":{"n":{"type":"long"}}}}"#).await;
        let done = client.call("POST", "/_bulk", lines).await;
        assert_eq!(done.status, 200);
        assert!(done.text().contains(r#","errors":true,"items":["#));
        let body = crate::place::value(&done);
        let items = at(&body, &["items"]).as_array().expect("a list");
        let statuses: Vec<u64> = items
            .iter()
            .map(|item| {
                let (_, inner) = item.as_object().expect("one").iter().next().expect("one");
                at(inner, &["status"]).as_u64().expect("a number")
            })
            .collect();
        assert_eq!(statuses, [201, 409, 400, 400, 400, 200, 404]);
        assert_eq!(
            at(&items[1], &["create", "error", "type"]).as_str(),
            Some("version_conflict_engine_exception")
        );
        assert_eq!(
            at(&items[2], &["index", "error", "type"]).as_str(),
            Some("document_parsing_exception")
        );
        assert!(items[2].at(&["index", "error", "root_cause"]).is_none());
        let strict = r#"{"settings":{"index.write.wait_for_active_shards":2}}"#;
        client.good("PUT", "/strict?wait_for_active_shards=0", strict).await;
        let two = "{\"index\":{\"_index\":\"strict\",\"_id\":\"1\"}}\n{}\n{\"index\":{\"_index\":\"plain\"}}\n{}\n";
        let found = client.good("POST", "/_bulk?timeout=100ms", two).await;
        let items = at(&found, &["items"]).as_array().expect("a list");
        let refused = at(&items[0], &["index", "error", "reason"]).as_str().expect("a reason");
        assert!(refused.starts_with("[strict][0] Not enough active copies"), "{refused}");
        assert_eq!(at(&items[0], &["index", "status"]).as_u64(), Some(503));
        assert_eq!(at(&items[1], &["index", "status"]).as_u64(), Some(201));
        assert_eq!(
            client.bad("POST", "/_bulk", "{\"index\":{}}\n{}\n").await,
            "400 action_request_validation_exception: Validation Failed: 1: index is missing;"
        );
        assert_eq!(
            client.bad("POST", "/_bulk", "").await,
            "400 parse_exception: request body is required"
        );
    });
}

#[test]
fn several_documents_are_read_together() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1", r#"{"x":1}"#).await;
        let body = r#"{"docs":[{"_id":"1"},{"_id":"2"},{"_index":"nope","_id":"3"}]}"#;
        let got = client.good("GET", "/a/_mget", body).await;
        let docs = at(&got, &["docs"]).as_array().expect("a list");
        assert_eq!(at(&docs[0], &["_source"]), &json!({"x": 1}));
        assert_eq!(docs[1], json!({"_index": "a", "_id": "2", "found": false}));
        assert_eq!(at(&docs[2], &["error", "root_cause"]).as_array().map(<[_]>::len), Some(1));
        assert_eq!(
            client.bad("GET", "/_mget", "").await,
            "400 parse_exception: request body or source parameter is required"
        );
    });
}

#[test]
fn long_documents_are_counted_while_a_word_of_them_is_chosen() {
    // Eight of them are more than the memory there is. Once all that are read together lived at the same
    // time, and nothing but the words was counted.
    const BYTES: usize = 68 << 20;
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"x":{"type":"object","enabled":false}}}}"#;
        client.good("PUT", "/a", mapping).await;
        let text = format!(r#"{{"q":1,"x":"{}"}}"#, "y".repeat(BYTES));
        client.good("PUT", "/a/_doc/1", &text).await;
        client.good("POST", "/a/_flush", "").await;
        let tripped = async |client: &mut Client| {
            let stats = client.good("GET", "/_nodes/stats/breaker", "").await;
            let nodes = at(&stats, &["nodes"]).as_object().expect("nodes").iter();
            let counts = nodes.map(|(_, node)| at(node, &["breakers", "parent", "tripped"]));
            counts.filter_map(json::Value::as_u64).sum::<u64>()
        };
        assert_eq!(tripped(&mut client).await, 0);
        let body = json::to_string(&json!({"ids": ["1", "1", "1", "1", "1", "1", "1", "1"]}));
        let got = client.good("POST", "/a/_mget?_source_includes=q", &body).await;
        let docs = at(&got, &["docs"]).as_array().expect("a list");
        assert_eq!(docs.len(), 8);
        for doc in docs {
            // Who found no memory beside the others is read after them.
            assert_eq!(at(doc, &["_source"]), &json!({"q": 1}));
        }
        assert!(tripped(&mut client).await > 0);
        let found = client.good("POST", "/a/_search", r#"{"_source":["q*"]}"#).await;
        let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
        assert_eq!(at(&hits[0], &["_source"]), &json!({"q": 1}));
    });
}

#[test]
fn what_a_worker_makes_of_a_document_is_counted_while_it_has_it() {
    // Once only those before it were: the last, or the only one, took what nobody had counted until its shard did.
    with_memory(128 << 20, |mut client, lease| async move {
        client.good("PUT", "/a", r#"{"mappings":{"properties":{"x":{"type":"text"}}}}"#).await;
        let body = format!(r#"{{"x":"{}"}}"#, "to be or not ".repeat(160_000));
        let mut held: Vec<_> = std::iter::from_fn(|| lease.take(256 << 10)).collect();
        let mut told = std::collections::BTreeSet::new();
        loop {
            let answer = client.call("PUT", "/a/_doc/1", &body).await;
            if answer.status != 429 {
                assert_eq!(answer.status, 201);
                break;
            }
            let text = String::from_utf8_lossy(&answer.body);
            let of = ["<http_request>", "<documents>", "coordinating operation"];
            told.extend(of.into_iter().filter(|of| text.contains(of)));
            assert!(held.pop().is_some(), "alone it has room");
        }
        assert!(told.contains("<documents>"), "{told:?}");
    });
}

#[test]
fn a_document_of_several_indices_is_not_explained() {
    // Once the first index was asked, and said that there is no such document.
    with_node(|mut client| async move {
        for (index, id) in [("ex1", 1), ("ex2", 2)] {
            client.good("PUT", &format!("/{index}/_doc/{id}?refresh=true"), r#"{"a":1}"#).await;
        }
        let add = r#"{"actions":[{"add":{"index":"ex*","alias":"exa"}},
            {"add":{"index":"ex2","alias":"exb","filter":{"term":{"a":1}}}}]}"#;
        client.good("POST", "/_aliases", add).await;
        let stream = r#"{"index_patterns":["s*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/s", stream).await;
        client.good("PUT", "/_data_stream/s1", "").await;
        client.good("POST", "/s1/_rollover", "").await;
        let body = r#"{"query":{"match_all":{}}}"#;
        for name in ["exa", "ex1,ex2", "ex*", "s1", "nope", "_all"] {
            let told = client.bad("POST", &format!("/{name}/_explain/2"), body).await;
            let read = client.bad("GET", &format!("/{name}/_doc/2"), "").await;
            assert_eq!(told, read, "{name}");
        }
        assert_eq!(
            client.bad("POST", "/exa/_explain/2", body).await,
            "400 illegal_argument_exception: alias [exa] has more than one index associated with \
             it [ex1, ex2], can't execute a single index op"
        );
        for name in ["ex2", "exb"] {
            let told = client.good("POST", &format!("/{name}/_explain/2"), body).await;
            assert_eq!(told.get("matched").and_then(json::Value::as_bool), Some(true), "{name}");
        }
    });
}

#[test]
fn vectors_are_counted_as_they_are_made() {
    // Once they were counted when all stood there, on the core.
    with_node(|mut client| async move {
        let words = |count: usize| {
            let words: Vec<String> = (0..count).map(|at| format!("w{at}")).collect();
            format!(r#"{{"t":"{}"}}"#, words.join(" "))
        };
        client.good("PUT", "/a", r#"{"mappings":{"properties":{"t":{"type":"text"}}}}"#).await;
        client.good("PUT", "/a/_doc/1", &words(999_000)).await;
        client.good("PUT", "/a/_doc/2?refresh=true", &words(3_000)).await;
        let refused = client.bad("GET", "/a/_termvectors/1?fields=t", "").await;
        assert!(refused.starts_with("429 circuit_breaking_exception"), "{refused}");
        let got = client.good("GET", "/a/_termvectors/2?fields=t", "").await;
        let terms = at(&got, &["term_vectors", "t", "terms"]).as_object().expect("terms");
        assert_eq!(terms.iter().count(), 3_000);
        // What a filter leaves out is given back; what does not fit fails alone.
        let body = r#"{"docs":[{"_id":"1","fields":["t"]},
            {"_id":"2","fields":["t"],"filter":{"max_num_terms":1}}]}"#;
        let got = client.good("POST", "/a/_mtermvectors", body).await;
        let docs = at(&got, &["docs"]).as_array().expect("a list");
        assert_eq!(at(&docs[0], &["error", "type"]).as_str(), Some("circuit_breaking_exception"));
        let terms = at(&docs[1], &["term_vectors", "t", "terms"]).as_object().expect("terms");
        assert_eq!(terms.iter().count(), 1);
    });
}

/// Each was taken, and its shard served nobody from the next refresh on: not even who wanted to delete it.
#[test]
fn terms_that_no_segment_holds_are_refused_with_their_document_alone() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/good", r#"{"n":1}"#).await;
        let immense = |field: &str| {
            format!("Document contains at least one immense term in field=\"{field}\" (whose UTF8")
        };
        let body = format!(r#"{{"{}":"{}"}}"#, "g".repeat(40_000), "y".repeat(300));
        let refused = client.bad("PUT", "/a/_doc/1", &body).await;
        let told = refused.strip_prefix("400 illegal_argument_exception: ").expect(&refused);
        assert!(told.starts_with(&immense("_ignored")), "{told}");
        let long = "r".repeat(32_767);
        let lines = format!(
            "{{\"index\":{{\"_id\":\"2\",\"routing\":\"{long}\"}}}}\n{{\"n\":2}}\n\
             {{\"update\":{{\"_id\":\"3\",\"routing\":\"{long}\"}}}}\n{{\"doc\":{{\"n\":2}},\"doc_as_upsert\":true}}\n\
             {{\"delete\":{{\"_id\":\"4\",\"routing\":\"{long}\"}}}}\n\
             {{\"index\":{{\"_id\":\"5\",\"routing\":\"{}\"}}}}\n{{\"n\":2}}\n",
            &long[1..]
        );
        let answer = client.good("POST", "/a/_bulk?refresh", &lines).await;
        let items = at(&answer, &["items"]).as_array().expect("items");
        for (item, action, status) in
            [(0, "index", 400), (1, "update", 400), (2, "delete", 404), (3, "index", 201)]
        {
            let item = at(&items[item], &[action]);
            assert_eq!(at(item, &["status"]).as_u64(), Some(status), "{action}");
            if status == 400 {
                let reason = at(item, &["error", "reason"]).as_str().expect("a reason");
                assert!(reason.starts_with(&immense("_routing")), "{reason}");
            }
        }
        let count = client.good("GET", "/a/_count", "").await;
        assert_eq!(
            count,
            json!({"count": 2, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0}})
        );
    });
}

/// A delete of such an id was refused, and a bulk that held one as a whole: Elasticsearch has no such check, for no
/// document can have it.
#[test]
fn what_makes_no_document_may_name_any_id() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1", "{}").await;
        let long = "x".repeat(513);
        let gone = client.call("DELETE", &format!("/a/_doc/{long}"), "").await;
        assert_eq!(gone.status, 404, "{}", gone.text());
        assert!(gone.text().contains(r#""result":"not_found""#), "{}", gone.text());
        let missing = client.call("POST", &format!("/a/_update/{long}"), r#"{"doc":{}}"#).await;
        assert_eq!(
            failure(&missing),
            format!("404 document_missing_exception: [{long}]: document missing")
        );
        assert_eq!(client.call("GET", &format!("/a/_doc/{long}"), "").await.status, 404);
        assert_eq!(client.call("HEAD", &format!("/a/_doc/{long}"), "").await.status, 404);
        let lines = format!(
            "{{\"delete\":{{\"_id\":\"{long}\"}}}}\n{{\"update\":{{\"_id\":\"{long}\"}}}}\n{{\"doc\":{{}}}}\n\
             {{\"index\":{{\"_id\":\"2\"}}}}\n{{}}\n"
        );
        let done = client.good("POST", "/a/_bulk", &lines).await;
        let items = at(&done, &["items"]).as_array().expect("a list");
        let status =
            |at_item: usize, action: &str| at(&items[at_item], &[action, "status"]).as_u64();
        let told = [status(0, "delete"), status(1, "update"), status(2, "index")];
        assert_eq!(told, [Some(404), Some(404), Some(201)]);
        // What would make one is refused, with all of its bulk.
        let too_long =
            format!("id [{long}] is too long, must be no longer than 512 bytes but was: 513;");
        for action in ["index", "create"] {
            let lines = format!("{{\"{action}\":{{\"_id\":\"{long}\"}}}}\n{{}}\n");
            let refused = client.call("POST", "/a/_bulk", &lines).await;
            assert_eq!(refused.status, 400);
            assert!(refused.text().contains(&too_long), "{}", refused.text());
        }
        let upsert = r#"{"doc":{},"doc_as_upsert":true}"#;
        let refused = client.call("POST", &format!("/a/_update/{long}"), upsert).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        // What was not there is as little there after a restart of the shard's memory.
        client.good("POST", "/a/_flush", "").await;
        assert_eq!(client.call("GET", &format!("/a/_doc/{long}"), "").await.status, 404);
    });
}

/// Elasticsearch reads `op_type` of a bulk line as `create` or not; another word failed the request.
#[test]
fn an_operation_of_a_bulk_line_is_create_or_not() {
    with_node(|mut client| async move {
        let lines = "{\"index\":{\"_id\":\"1\",\"op_type\":\"foo\"}}\n{\"a\":1}\n\
            {\"create\":{\"_id\":\"2\",\"op_type\":\"index\"}}\n{\"a\":2}\n\
            {\"index\":{\"_id\":\"2\",\"op_type\":\"create\"}}\n{\"a\":3}\n\
            {\"create\":{\"_id\":\"2\",\"op_type\":\"foo\"}}\n{\"a\":4}\n\
            {\"delete\":{\"_id\":\"1\",\"op_type\":\"foo\"}}\n";
        let done = client.good("POST", "/a/_bulk", lines).await;
        let items = at(&done, &["items"]).as_array().expect("a list");
        let told = items.iter().map(|item| {
            let (action, item) = item.as_object().and_then(|it| it.iter().next()).expect("one");
            (action, at(item, &["status"]).as_u64().expect("a number"))
        });
        let wanted =
            [("index", 201), ("create", 201), ("create", 409), ("create", 409), ("delete", 200)];
        assert!(told.eq(wanted), "{}", json::to_string(&done));
    });
}

/// The mark stood amid each answer that held the document, which was no JSON then.
#[test]
fn a_byte_order_mark_is_no_part_of_a_document() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1", "\u{feff}{\"a\":1}").await;
        let lines = "{\"index\":{\"_id\":\"2\"}}\n\u{feff}{\"a\":1}\n{\"create\":{\"_id\":\"3\"}}\n\u{feff}{\"a\":1}\n";
        client.good("POST", "/a/_bulk?refresh", lines).await;
        for id in 1..4 {
            for target in [format!("/a/_doc/{id}"), format!("/a/_source/{id}")] {
                let told = client.call("GET", &target, "").await.text();
                assert!(!told.contains('\u{feff}') && told.contains("{\"a\":1}"), "{told}");
            }
        }
        let twice = "\u{feff}\u{feff}{\"a\":1}";
        assert_eq!(client.call("PUT", "/a/_doc/4?refresh", twice).await.status, 400);
        let lines = format!("{{\"index\":{{\"_id\":\"4\"}}}}\n{twice}\n");
        let refused = client.good("POST", "/a/_bulk?refresh", &lines).await;
        assert_eq!(at(&refused, &["errors"]).as_bool(), Some(true));
        let found = client.call("GET", "/a/_search?filter_path=hits.hits._source", "").await.text();
        let hit = r#"{"_source":{"a":1}}"#;
        assert_eq!(found, format!(r#"{{"hits":{{"hits":[{hit},{hit},{hit}]}}}}"#));
    });
}
