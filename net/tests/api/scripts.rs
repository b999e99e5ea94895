//! Scripts that change documents, stored ones, and searches by template.

use json::{Value, json};

use crate::place::{Client, at, value, with_node};

/// An answer of any status.
async fn ask(client: &mut Client, method: &str, target: &str, body: &str) -> (u16, Value) {
    let response = client.call(method, target, body).await;
    (response.status, value(&response))
}

async fn source(client: &mut Client, id: &str) -> Value {
    let found = client.good("GET", &format!("/a/_doc/{id}"), "").await;
    at(&found, &["_source"]).clone()
}

#[test]
fn an_update_runs_its_script_on_what_stands_there() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1", r#"{"n":1,"tags":["x"]}"#).await;
        let up = r#"{"script":{"source":"ctx._source.n += params.by; ctx._source.tags.add('y')","params":{"by":4}}}"#;
        let done = client.good("POST", "/a/_update/1", up).await;
        assert_eq!(at(&done, &["result"]).as_str(), Some("updated"));
        assert_eq!(source(&mut client, "1").await, json!({"n": 5, "tags": ["x", "y"]}));

        let done = client.good("POST", "/a/_update/1", r#"{"script":"ctx.op = 'none'"}"#).await;
        assert_eq!(at(&done, &["result"]).as_str(), Some("noop"));
        assert_eq!(at(&done, &["_version"]).as_u64(), Some(2));

        // A field that the mapping lacks stops the batch, and the script runs once more.
        let lines = concat!(
            "{\"update\":{\"_id\":\"1\"}}\n{\"script\":\"ctx._source.fresh = ctx._source.n * 2\"}\n",
            "{\"update\":{\"_id\":\"1\"}}\n{\"script\":\"ctx._source.n = ctx._source.fresh + 1\"}\n",
        );
        let done = client.good("POST", "/a/_bulk", lines).await;
        assert_eq!(at(&done, &["errors"]).as_bool(), Some(false), "{}", json::to_string(&done));
        let now = source(&mut client, "1").await;
        assert_eq!(
            (at(&now, &["n"]).as_u64(), at(&now, &["fresh"]).as_u64()),
            (Some(11), Some(10))
        );

        let done = client.good("POST", "/a/_update/1", r#"{"script":"ctx.op = 'delete'"}"#).await;
        assert_eq!(at(&done, &["result"]).as_str(), Some("deleted"));
    });
}

#[test]
fn an_upsert_is_put_as_it_is_unless_the_script_makes_it() {
    with_node(|mut client| async move {
        let up = |scripted: bool| {
            format!(
                r#"{{"script":"ctx._source.n = 7","upsert":{{"n":0}},"scripted_upsert":{scripted}}}"#
            )
        };
        client.good("POST", "/a/_update/1", &up(false)).await;
        assert_eq!(source(&mut client, "1").await, json!({"n": 0}));
        client.good("POST", "/a/_update/1", &up(false)).await;
        assert_eq!(source(&mut client, "1").await, json!({"n": 7}));
        client.good("POST", "/a/_update/2", &up(true)).await;
        assert_eq!(source(&mut client, "2").await, json!({"n": 7}));
    });
}

#[test]
fn work_by_query_leaves_deletes_and_moves_as_the_script_says() {
    with_node(|mut client| async move {
        let mut lines = String::new();
        for n in 1..=3 {
            lines.push_str(&format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"n\":{n}}}\n"));
        }
        client.good("POST", "/a/_bulk?refresh=true", &lines).await;
        let move_on = r#"{"source":{"index":"a"},"dest":{"index":"b"},
            "script":"ctx._source.n += 1; ctx._id = 'x' + ctx._id"}"#;
        let done = client.good("POST", "/_reindex?refresh=true", move_on).await;
        assert_eq!(at(&done, &["created"]).as_u64(), Some(3));
        let found = client.good("GET", "/b/_doc/x1", "").await;
        assert_eq!(at(&found, &["_source"]), &json!({"n": 2}));

        let work = r#"{"script":"if (ctx._source.n == 1) { ctx.op = 'delete' }
            else if (ctx._source.n == 2) { ctx.op = 'noop' }"}"#;
        let work = work.replace('\n', " ");
        let done = client.good("POST", "/a/_update_by_query", &work).await;
        for (key, count) in [("total", 3), ("updated", 1), ("deleted", 1), ("noops", 1)] {
            assert_eq!(at(&done, &[key]).as_u64(), Some(count), "{key}");
        }
    });
}

/// What a script put beside the source was dropped without a word.
#[test]
fn work_by_query_writes_nothing_where_a_script_adds_to_the_context() {
    with_node(|mut client| async move {
        let lines =
            "{\"index\":{\"_id\":\"1\"}}\n{\"n\":1}\n{\"index\":{\"_id\":\"2\"}}\n{\"n\":2}\n";
        client.good("POST", "/a/_bulk?refresh=true", lines).await;
        let script = "ctx._source.n += 1; if (ctx._id == '2') { ctx.foo = ['x':[1,'y']] }";
        for (target, body) in [
            ("/a/_update_by_query", json!({"script": script})),
            (
                "/_reindex",
                json!({"source": {"index": "a"}, "dest": {"index": "b"}, "script": script}),
            ),
        ] {
            let (status, body) = ask(&mut client, "POST", target, &json::to_string(&body)).await;
            assert_eq!(status, 400, "{target}");
            let error = at(&body, &["error"]);
            assert_eq!(at(error, &["type"]).as_str(), Some("script_exception"), "{target}");
            assert_eq!(at(error, &["reason"]).as_str(), Some("runtime error"), "{target}");
            let cause = at(error, &["caused_by"]);
            assert_eq!(at(cause, &["type"]).as_str(), Some("illegal_argument_exception"));
            let told = "Cannot put key [foo] with value [{x=[1, y]}] into ctx";
            assert_eq!(at(cause, &["reason"]).as_str(), Some(told), "{target}");
        }
        assert_eq!(source(&mut client, "1").await, json!({"n": 1}));
        assert_eq!(source(&mut client, "2").await, json!({"n": 2}));
    });
}

/// So was what a script put beside the source of one document.
#[test]
fn an_update_refuses_what_its_script_adds_to_the_context_or_changes_there() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1", r#"{"n":1}"#).await;
        for (script, told) in [
            ("ctx.foo = ['x':[1,'y']]", "Cannot put key [foo] with value [{x=[1, y]}] into ctx"),
            ("ctx._id = '2'", "_id cannot be updated"),
            ("ctx._version += 1", "_version cannot be updated"),
            ("ctx._routing = 'x'", "_routing cannot be updated"),
            ("ctx.remove('_index')", "_index cannot be removed"),
        ] {
            let script = format!("ctx._source.n += 1; {script}");
            let update = json!({"script": script.as_str()});
            let upsert =
                json!({"script": script.as_str(), "scripted_upsert": true, "upsert": {"n": 5}});
            for (target, body) in [("/a/_update/1", &update), ("/a/_update/none", &upsert)] {
                if script.contains("_version") && target.ends_with("none") {
                    continue;
                }
                let (status, body) = ask(&mut client, "POST", target, &json::to_string(body)).await;
                assert_eq!(status, 400, "{script}");
                let cause = at(&body, &["error", "caused_by"]);
                assert_eq!(at(cause, &["type"]).as_str(), Some("script_exception"), "{script}");
                assert_eq!(at(cause, &["caused_by", "reason"]).as_str(), Some(told), "{script}");
            }
        }
        assert_eq!(source(&mut client, "1").await, json!({"n": 1}));
        let (status, _) = ask(&mut client, "GET", "/a/_doc/none", "").await;
        assert_eq!(status, 404);
        // What is the same is no change.
        client
            .good("POST", "/a/_update/1", r#"{"script":"ctx._id = ctx._id; ctx._source.n = 2"}"#)
            .await;
        assert_eq!(source(&mut client, "1").await, json!({"n": 2}));
    });
}

#[test]
fn faults_name_the_place_and_the_cause() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1", r#"{"n":1}"#).await;
        let (status, body) = ask(
            &mut client,
            "POST",
            "/a/_update/1",
            r#"{"script":"int x = 0; ctx._source.n = 1 / x"}"#,
        )
        .await;
        assert_eq!(status, 400);
        assert_eq!(at(&body, &["error", "reason"]).as_str(), Some("failed to execute script"));
        let cause = at(&body, &["error", "caused_by"]);
        assert_eq!(at(cause, &["type"]).as_str(), Some("script_exception"));
        assert_eq!(at(cause, &["caused_by", "type"]).as_str(), Some("arithmetic_exception"));
        let roots = at(&body, &["error", "root_cause"]).as_array().expect("a list");
        assert_eq!(at(&roots[0], &["type"]).as_str(), Some("illegal_argument_exception"));

        let (status, body) = ask(
            &mut client,
            "POST",
            "/_scripts/painless/_execute",
            r#"{"script":{"source":"1 +"}}"#,
        )
        .await;
        assert_eq!(status, 400);
        assert_eq!(at(&body, &["error", "reason"]).as_str(), Some("compile error"));
        let (status, _) = ask(
            &mut client,
            "POST",
            "/_scripts/painless/_execute",
            r#"{"script":{"source":"1","lang":"cobol"}}"#,
        )
        .await;
        assert_eq!(status, 400);
    });
}

#[test]
fn stored_scripts_and_templates_are_kept_and_used() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh=true", r#"{"k":"x"}"#).await;
        let body = r#"{"script":{"lang":"painless","source":"ctx._source.k = params.k"}}"#;
        client.good("PUT", "/_scripts/mine", body).await;
        let found = client.good("GET", "/_scripts/mine", "").await;
        assert_eq!(at(&found, &["script", "lang"]).as_str(), Some("painless"));
        client
            .good(
                "POST",
                "/a/_update/1?refresh=true",
                r#"{"script":{"id":"mine","params":{"k":"y"}}}"#,
            )
            .await;
        assert_eq!(source(&mut client, "1").await, json!({"k": "y"}));
        client.good("DELETE", "/_scripts/mine", "").await;
        let (status, _) = ask(&mut client, "GET", "/_scripts/mine", "").await;
        assert_eq!(status, 404);
        let (status, _) = ask(&mut client, "DELETE", "/_scripts/mine", "").await;
        assert_eq!(status, 404);

        let template = r#"{"script":{"lang":"mustache","source":{"size":"{{n}}{{^n}}5{{/n}}","query":{"match":{"k":"{{k}}"}}}}}"#;
        client.good("PUT", "/_scripts/t", template).await;
        let made =
            client.good("POST", "/_render/template", r#"{"id":"t","params":{"k":"y"}}"#).await;
        let wanted = json!({"size": "5", "query": {"match": {"k": "y"}}});
        assert_eq!(at(&made, &["template_output"]), &wanted);
        let found =
            client.good("POST", "/a/_search/template", r#"{"id":"t","params":{"k":"y"}}"#).await;
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1));
        let lines = "{}\n{\"id\":\"t\",\"params\":{\"k\":\"y\"}}\n{}\n{\"id\":\"none\"}\n";
        let found = client.good("POST", "/a/_msearch/template", lines).await;
        let responses = at(&found, &["responses"]).as_array().expect("a list");
        let statuses: Vec<_> = responses.iter().map(|one| at(one, &["status"]).as_u64()).collect();
        assert_eq!(statuses, [Some(200), Some(404)]);
        // What comes of a template is its own item's; what is no template is all of the request's.
        let lines = "{}\n{\"id\":\"t\"}\n{}\n{\"source\":\"{bad\"}\n{}\n{\"source\":{\"query\":{\"nope\":{}}}}\n";
        let found = client.good("POST", "/a/_msearch/template", lines).await;
        let responses = at(&found, &["responses"]).as_array().expect("a list");
        let statuses: Vec<_> = responses.iter().map(|one| at(one, &["status"]).as_u64()).collect();
        assert_eq!(statuses, [Some(200), Some(400), Some(400)]);
        for (wrong, reason) in [
            ("{}\n{\"zz\":1}\n", "unknown field [zz]"),
            ("{}\n{}\n", "illegal_argument_exception: Malformed search template"),
            (
                "{}\n{\"source\":\"\"}\n",
                "action_request_validation_exception: Validation Failed: 1: template is missing;",
            ),
            (
                "{}\n{\"id\":\"\"}\n{}\n{\"id\":\"t\"}\n{}\n{\"source\":\"\"}\n",
                "Validation Failed: 1: template is missing;2: template is missing;",
            ),
            (
                "{}\n{\"id\":\"\"}\n{}\n{}\n",
                "illegal_argument_exception: Malformed search template",
            ),
        ] {
            let lines = format!("{{}}\n{{\"id\":\"t\"}}\n{wrong}");
            let told = client.bad("POST", "/a/_msearch/template", &lines).await;
            assert!(told.starts_with("400 ") && told.contains(reason), "{wrong}: {told}");
        }
        for (target, body, reason) in [
            (
                "/a/_search/template",
                "{}",
                "1: template is missing;2: template's script type is missing;",
            ),
            ("/a/_search/template", r#"{"id":""}"#, "1: template is missing;"),
            ("/_render/template", r#"{"source":""}"#, "1: template is missing;"),
        ] {
            let told = client.bad("POST", target, body).await;
            assert!(told.starts_with("400 ") && told.ends_with(reason), "{body}: {told}");
        }
    });
}

/// Documents with a number, a word, a date, a place, objects; the fourth has none of them.
async fn library(client: &mut Client) {
    let mapping = r#"{"mappings":{"properties":{"n":{"type":"integer"},"d":{"type":"double"},
        "k":{"type":"keyword"},"at":{"type":"date"},"b":{"type":"boolean"},"g":{"type":"geo_point"},
        "t":{"type":"text"},"o":{"type":"nested","properties":{"x":{"type":"integer"}}}}}}"#;
    client.good("PUT", "/s", mapping).await;
    let docs = [
        r#"{"n":[3,1],"d":1.5,"k":["b","a"],"at":"2020-02-28T10:00:00Z","b":true,"g":"1,2","t":"x","o":[{"x":5},{"x":7}]}"#,
        r#"{"n":5,"d":2.5,"k":"c","at":"2021-03-01","b":false,"t":"y","o":[{"x":1}]}"#,
        r#"{"n":9,"d":0.5,"k":"a","at":"2019-01-01","b":true,"t":"z"}"#,
        r#"{"t":"nothing"}"#,
    ];
    let mut lines = String::new();
    for (at, doc) in docs.iter().enumerate() {
        lines.push_str(&format!("{{\"index\":{{\"_id\":\"{}\"}}}}\n{doc}\n", at + 1));
    }
    client.good("POST", "/s/_bulk?refresh=true", &lines).await;
}

/// The ids of the hits of a search, in their order.
async fn ids(client: &mut Client, body: &str) -> Vec<String> {
    let found = client.good("POST", "/s/_search", body).await;
    let hits = at(&found, &["hits", "hits"]).as_array().unwrap_or_default();
    hits.iter().filter_map(|hit| Some(at(hit, &["_id"]).as_str()?.to_owned())).collect()
}

#[test]
fn a_script_chooses_among_what_other_clauses_leave() {
    with_node(|mut client| async move {
        library(&mut client).await;
        for (source, wanted) in [
            ("doc['n'].size() > 0 && doc['n'].value > params.k", &["2", "3"][..]),
            ("!doc['k'].empty && doc['k'].contains('a')", &["1", "3"]),
            ("doc['at'].size() == 1 && doc['at'].value.getYear() >= 2020", &["1", "2"]),
            ("def s = 0; for (v in doc['n']) { s += v } return s == 4", &["1"]),
            ("doc['b'].size() != 0 && doc['b'].value", &["1", "3"]),
            ("doc['g'].length == 1 && doc['g'].arcDistance(1, 2) < 1000", &["1"]),
            ("doc.containsKey('zz') || !doc.containsKey('t')", &[]),
            ("doc['_index'].value == 's' && doc['d'].size() == 0", &["4"]),
        ] {
            let body = json!({"sort": "_doc", "query": {"script": {"script": {
                "source": source, "params": {"k": 3}}}}});
            assert_eq!(ids(&mut client, &json::to_string(&body)).await, wanted, "{source}");
        }
        // The fourth has no number: the script does not see it.
        let guarded = r#"{"sort":"_doc","query":{"bool":{"filter":[{"script":{"script":"doc['n'].value > 3"}},
            {"exists":{"field":"n"}}]}}}"#;
        assert_eq!(ids(&mut client, guarded).await, ["2", "3"]);
        let scored = r#"{"query":{"bool":{"must":[{"script":{"script":"doc['n'].value > 3"}},
            {"exists":{"field":"n"}}]}}}"#;
        assert_eq!(ids(&mut client, scored).await, ["2", "3"]);
        // What is deleted is not seen either.
        client.good("DELETE", "/s/_doc/4?refresh=true", "").await;
        let plain = r#"{"sort":"_doc","query":{"script":{"script":"doc['n'].value > 3"}}}"#;
        assert_eq!(ids(&mut client, plain).await, ["2", "3"]);
        let nested = r#"{"query":{"nested":{"path":"o","query":{"script":{"script":"doc['o.x'].value > 4"}}}}}"#;
        assert_eq!(ids(&mut client, nested).await, ["1"]);
    });
}

#[test]
fn what_a_search_script_fails_with_fails_its_shard() {
    with_node(|mut client| async move {
        library(&mut client).await;
        for (query, kind, reason) in [
            (
                r#"{"script":{"script":"doc['n'].value > 3"}}"#,
                "illegal_state_exception",
                "A document doesn't have a value for a field! Use doc[<field>].size()==0 to check if \
                 a document is missing a field!",
            ),
            (
                r#"{"script":{"script":"doc['zz'].value > 3"}}"#,
                "illegal_argument_exception",
                "No field found for [zz] in mapping",
            ),
        ] {
            let body = format!(r#"{{"query":{query}}}"#);
            let (status, answer) = ask(&mut client, "POST", "/s/_search", &body).await;
            assert_eq!(status, 400, "{}", json::to_string(&answer));
            let root = &at(&answer, &["error", "root_cause"]).as_array().expect("causes")[0];
            assert_eq!(at(root, &["type"]).as_str(), Some("script_exception"));
            let shard = &at(&answer, &["error", "failed_shards"]).as_array().expect("shards")[0];
            let cause = at(shard, &["reason", "caused_by"]);
            assert_eq!(at(cause, &["type"]).as_str(), Some(kind));
            assert_eq!(at(cause, &["reason"]).as_str(), Some(reason));
        }
        for (body, reason) in [
            (r#"{"query":{"script":{"script":"1 +"}}}"#, "failed to create query: compile error"),
            (
                r#"{"query":{"script":{"script":{"source":"1","lang":"cobol"}}}}"#,
                "failed to create query: script_lang not supported [cobol]",
            ),
            (r#"{"script_fields":{"x":{"script":"1 +"}}}"#, "compile error"),
            (
                r#"{"query":{"script_score":{"query":{"match_all":{}},"script":"-1.0"}}}"#,
                "script_score script returned an invalid score [-1.0] for doc [2]. Must be a \
                 non-negative score!",
            ),
        ] {
            let (status, answer) = ask(&mut client, "POST", "/s/_search", body).await;
            assert_eq!(status, 400, "{body}: {}", json::to_string(&answer));
            let shard = &at(&answer, &["error", "failed_shards"]).as_array().expect("shards")[0];
            assert_eq!(at(shard, &["reason", "reason"]).as_str(), Some(reason), "{body}");
        }
        let stored = r#"{"script_fields":{"x":{"script":{"id":"none"}}}}"#;
        let (status, _) = ask(&mut client, "POST", "/s/_search", stored).await;
        assert_eq!(status, 404);
    });
}

#[test]
fn scripts_score_sort_and_make_fields() {
    with_node(|mut client| async move {
        library(&mut client).await;
        let score = r#"{"query":{"script_score":{"query":{"exists":{"field":"n"}},
            "script":{"source":"_score * doc['n'].value * params.k","params":{"k":2}},"min_score":3}}}"#;
        assert_eq!(ids(&mut client, score).await, ["3", "2"]);
        let function = r#"{"query":{"function_score":{"query":{"match_all":{}},"boost_mode":"replace",
            "functions":[{"filter":{"exists":{"field":"n"}},"script_score":{"script":"10 - doc['n'].value"}},
            {"weight":3}],"score_mode":"first"}}}"#;
        assert_eq!(ids(&mut client, function).await, ["1", "2", "4", "3"]);
        let number = r#"{"sort":[{"_script":{"type":"number","order":"desc","script":"doc['n'].size() == 0 ? 4 : doc['n'].value"}}]}"#;
        assert_eq!(ids(&mut client, number).await, ["3", "2", "4", "1"]);
        let word = "doc['k'].size() == 0 ? 'b' : doc['k'].value";
        let text = |order: &str, more: &str| {
            format!(
                r#"{{"size":3,"sort":[{{"_script":{{"type":"string","order":"{order}","script":"{word}"}}}},"_doc"]{more}}}"#
            )
        };
        assert_eq!(ids(&mut client, &text("asc", "")).await, ["1", "3", "4"]);
        assert_eq!(ids(&mut client, &text("desc", "")).await, ["2", "4", "1"]);
        let found = client.good("POST", "/s/_search", &text("asc", "")).await;
        let hits = at(&found, &["hits", "hits"]).as_array().expect("hits");
        let after = json::to_string(at(&hits[1], &["sort"]));
        let rest = ids(&mut client, &text("asc", &format!(r#","search_after":{after}"#))).await;
        assert_eq!(rest, ["4", "2"]);
        let nested = r#"{"sort":[{"_script":{"type":"number","order":"desc","mode":"sum","nested":{"path":"o"},
            "script":"doc['o.x'].value"}}]}"#;
        assert_eq!(ids(&mut client, nested).await[..2], ["1", "2"]);

        let fields = r#"{"size":1,"sort":"_doc","script_fields":{
            "all":{"script":"new ArrayList(doc['k'])"},"twice":{"script":{"source":"doc['n'].value * params.k","params":{"k":2}}},
            "source":{"script":"params._source.t"},"none":{"script":"null"},
            "lost":{"script":"doc['zz'].value","ignore_failure":true}}}"#;
        let found = client.good("POST", "/s/_search", fields).await;
        let hit = &at(&found, &["hits", "hits"]).as_array().expect("hits")[0];
        assert!(hit.get("_source").is_none(), "it must be asked for");
        let wanted = json!({"all": ["a", "b"], "twice": [2], "source": ["x"], "none": [null]});
        assert_eq!(at(hit, &["fields"]), &wanted);
        let least = r#"{"query":{"terms_set":{"k":{"terms":["a","b"],"minimum_should_match_script":
            {"source":"Math.min(params.num_terms, doc['n'].size())"}}}}}"#;
        assert_eq!(ids(&mut client, least).await, ["1", "3"]);
    });
}

#[test]
fn aggregations_take_what_scripts_make() {
    with_node(|mut client| async move {
        library(&mut client).await;
        let body = r#"{"size":0,"aggs":{
            "sum":{"sum":{"field":"n","script":"_value * 2"}},
            "max":{"filter":{"exists":{"field":"n"}},"aggs":{"m":{"max":{"script":"doc['n'].value + doc['d'].value"}}}},
            "word":{"terms":{"field":"k","script":"_value + '!'","order":{"_key":"asc"}}},
            "year":{"terms":{"script":"doc['at'].size() == 0 ? null : doc['at'].value.getYear()","order":{"_key":"asc"}}},
            "many":{"value_count":{"script":"doc['k']"}},
            "o":{"nested":{"path":"o"},"aggs":{"s":{"sum":{"script":"doc['o.x'].value"}}}},
            "h":{"histogram":{"field":"n","interval":5},"aggs":{"s":{"sum":{"field":"d"}},
              "r":{"bucket_script":{"buckets_path":{"a":"s","c":"_count"},"script":"params.a / params.c"}},
              "f":{"moving_fn":{"buckets_path":"_count","window":2,"script":"values.length > 0 ? values[0] * 10 : 0"}},
              "keep":{"bucket_selector":{"buckets_path":{"c":"_count"},"script":"params.c > 1"}}}}}}"#;
        let found = client.good("POST", "/s/_search", body).await;
        let aggs = at(&found, &["aggregations"]);
        assert_eq!(at(aggs, &["sum", "value"]).as_f64(), Some(36.0));
        assert_eq!(at(aggs, &["max", "m", "value"]).as_f64(), Some(9.5));
        let keys = |name: &str| -> Vec<String> {
            let buckets = at(aggs, &[name, "buckets"]).as_array().expect("buckets");
            let told = buckets.iter().map(|bucket| {
                format!(
                    "{}:{}",
                    json::to_string(at(bucket, &["key"])),
                    json::to_string(at(bucket, &["doc_count"]))
                )
            });
            told.collect()
        };
        assert_eq!(keys("word"), ["\"a!\":2", "\"b!\":1", "\"c!\":1"]);
        assert_eq!(keys("year"), ["\"2019\":1", "\"2020\":1", "\"2021\":1"]);
        assert_eq!(at(aggs, &["many", "value"]).as_f64(), Some(4.0));
        assert_eq!(at(aggs, &["o", "s", "value"]).as_f64(), Some(13.0));
        assert_eq!(keys("h"), ["5.0:2"]);
        let bucket = &at(aggs, &["h", "buckets"]).as_array().expect("buckets")[0];
        assert_eq!(at(bucket, &["r", "value"]).as_f64(), Some(1.5));
        assert_eq!(at(bucket, &["f", "value"]).as_f64(), Some(10.0));
    });
}

#[test]
fn a_long_script_of_a_search_lets_others_have_their_turn_and_ends() {
    with_node(|mut client| async move {
        library(&mut client).await;
        let long = r#"{"query":{"script":{"script":"long s = 0; for (int i = 0; i < 300000; ++i) { s += i } return s > 0"}}}"#;
        assert_eq!(ids(&mut client, long).await.len(), 4);
        let endless = r#"{"query":{"script":{"script":"while (true) { }"}}}"#;
        let (status, answer) = ask(&mut client, "POST", "/s/_search", endless).await;
        assert_eq!(status, 400, "{}", json::to_string(&answer));
    });
}
