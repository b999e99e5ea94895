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
    });
}
