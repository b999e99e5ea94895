//! Pipelines that are not there, and copies that will not come: what they leave undone, and who hears of it.

use json::{Value, json};

use crate::browser::basic;
use crate::place::{Client, at, with_node, with_security};

const MISSING: &str = "400 illegal_argument_exception: pipeline with id [nope] does not exist";

/// Status and reason of each item of an answer.
fn told(answer: &Value) -> Vec<(u64, String)> {
    let items = at(answer, &["items"]).as_array().expect("items").iter();
    let told = items.map(|item| {
        let (_, item) = item.as_object().and_then(|item| item.iter().next()).expect("one");
        let reason = item.at(&["error", "reason"]).and_then(Value::as_str).unwrap_or_default();
        (at(item, &["status"]).as_u64().expect("a status"), reason.to_owned())
    });
    told.collect()
}

/// The whole request was refused, and what puts no document with it.
#[test]
fn a_missing_pipeline_fails_what_would_run_through_it() {
    with_node(|mut client| async move {
        let lines = [
            r#"{"index":{"_id":"1"}}"#,
            "{}",
            r#"{"delete":{"_id":"2"}}"#,
            r#"{"update":{"_id":"3"}}"#,
            r#"{"doc":{}}"#,
            r#"{"update":{"_id":"4"}}"#,
            r#"{"doc":{},"upsert":{}}"#,
            r#"{"update":{"_id":"5"}}"#,
            r#"{"doc":{},"doc_as_upsert":true}"#,
            r#"{"create":{"_id":"6","pipeline":"_none"}}"#,
            "{}",
            r#"{"create":{"_id":"7","pipeline":"other"}}"#,
            "{}",
        ];
        let lines = lines.join("\n") + "\n";
        let answer = client.good("POST", "/i/_bulk?pipeline=nope", &lines).await;
        let missing = |name: &str| (400, format!("pipeline with id [{name}] does not exist"));
        let done = |status: u64| (status, String::new());
        let expected = [
            missing("nope"),
            done(404),
            (404, "[3]: document missing".to_owned()),
            missing("nope"),
            done(201),
            done(201),
            missing("other"),
        ];
        assert_eq!(told(&answer), expected);
        // Nothing is made for what comes to nothing.
        let line = "{\"index\":{\"_index\":\"j\"}}\n{}\n";
        let answer = client.good("POST", "/_bulk?pipeline=nope", line).await;
        assert_eq!(told(&answer), [missing("nope")]);
        assert_eq!(client.bad("PUT", "/j/_doc/1?pipeline=nope", "{}").await, MISSING);
        assert_eq!(client.call("HEAD", "/j", "").await.status, 404);
        // What puts nothing through a pipeline has no such parameter.
        for (method, target) in [
            ("DELETE", "/i/_doc/5?pipeline=nope"),
            ("POST", "/i/_update/5?pipeline=nope"),
            ("POST", "/i/_delete_by_query?pipeline=nope"),
        ] {
            let refused = client.bad(method, target, r#"{"doc":{}}"#).await;
            assert!(refused.contains("contains unrecognized parameter: [pipeline]"), "{refused}");
        }
    });
}

#[test]
fn a_missing_pipeline_fails_each_document_that_is_written_again() {
    with_node(|mut client| async move {
        client.good("PUT", "/i/_doc/1?refresh=true", "{}").await;
        let copy = r#"{"source":{"index":"i"},"dest":{"index":"j","pipeline":"nope"}}"#;
        let calls = [("/i/_update_by_query?pipeline=nope", "", "i"), ("/_reindex", copy, "j")];
        for (target, body, index) in calls {
            let answer = client.call("POST", target, body).await;
            assert_eq!(answer.status, 400);
            let answer = json::parse(&answer.body).expect("JSON");
            let reason = "pipeline with id [nope] does not exist";
            let cause = json!({"type": "illegal_argument_exception", "reason": reason});
            let failure = json!({"index": index, "id": "1", "cause": cause, "status": 400});
            assert_eq!(at(&answer, &["failures"]), &json!([failure]), "{target}");
            assert_eq!(at(&answer, &["total"]).as_u64(), Some(1));
        }
        assert_eq!(client.call("HEAD", "/j", "").await.status, 404);
        for (target, body) in [
            ("/i/_update_by_query?pipeline=_none", ""),
            ("/_reindex", &*copy.replace("nope", "_none")),
        ] {
            let answer = client.good("POST", target, body).await;
            assert_eq!(at(&answer, &["failures"]), &json!([]), "{target}");
        }
        let refused = client.bad("POST", "/_reindex?pipeline=nope", copy).await;
        let reason = "_reindex doesn't support [pipeline] as a query parameter. Specify it in the [dest] \
                      object instead.";
        assert_eq!(refused, format!("400 illegal_argument_exception: {reason}"));
    });
}

/// An index that names a pipeline took no delete either.
#[test]
fn the_pipelines_of_an_index_stand_before_what_puts_documents() {
    with_node(|mut client| async move {
        client.good("PUT", "/i/_doc/1", r#"{"a":1}"#).await;
        let settings = |name: &str, of: &str| format!(r#"{{"index.{name}_pipeline":"{of}"}}"#);
        client.good("PUT", "/i/_settings", &settings("default", "nope")).await;
        assert_eq!(client.bad("PUT", "/i/_doc/2", "{}").await, MISSING);
        let upsert = r#"{"doc":{"a":2},"doc_as_upsert":true}"#;
        assert_eq!(client.bad("POST", "/i/_update/2", upsert).await, MISSING);
        client.good("POST", "/i/_update/1", r#"{"doc":{"a":2}}"#).await;
        client.good("PUT", "/i/_doc/2?pipeline=_none", "{}").await;
        client.good("DELETE", "/i/_doc/2", "").await;
        client.good("PUT", "/i/_settings", &settings("final", "nope")).await;
        assert_eq!(client.bad("PUT", "/i/_doc/2?pipeline=_none", "{}").await, MISSING);
        client.good("DELETE", "/i/_doc/1", "").await;
    });
}

async fn as_reader(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
    client.good("PUT", "/i/_doc/1?refresh=true", r#"{"a":1}"#).await;
    let role = r#"{"indices":[{"names":["i"],"privileges":["read"]},
        {"names":["own"],"privileges":["write"]}]}"#;
    client.good("PUT", "/_security/role/reads", role).await;
    let user = r#"{"password":"reader-knows-this","roles":["reads"]}"#;
    client.good("PUT", "/_security/user/reader", user).await;
    client.authorize(Some(&basic("reader", "reader-knows-this")));
}

/// Who may not write waited for copies first, and heard of pipelines.
#[test]
fn who_may_not_write_hears_of_that_alone() {
    with_security(|mut client| async move {
        as_reader(&mut client).await;
        let upsert = r#"{"doc":{},"upsert":{}}"#;
        let copy = r#"{"source":{"index":"i"},"dest":{"index":"i2","pipeline":"nope"}}"#;
        let all = r#"{"query":{"match_all":{}}}"#;
        for more in
            ["", "wait_for_active_shards=2&timeout=1ms", "wait_for_active_shards=all&timeout=1ms"]
        {
            for (method, target, body) in [
                ("PUT", "/i/_doc/1?pipeline=nope", "{}"),
                ("PUT", "/i2/_doc/1?pipeline=nope", "{}"),
                ("POST", "/i/_doc?pipeline=nope", "{}"),
                ("PUT", "/i/_create/2", "{}"),
                ("POST", "/i/_update/1", upsert),
                ("DELETE", "/i/_doc/1", ""),
                ("POST", "/i/_delete_by_query", all),
                ("POST", "/i/_update_by_query?pipeline=nope", ""),
                ("POST", "/_reindex", copy),
            ] {
                let sign = if target.contains('?') { '&' } else { '?' };
                let target = if more.is_empty() {
                    target.to_owned()
                } else {
                    format!("{target}{sign}{more}")
                };
                let answer = client.call(method, &target, body).await;
                assert_eq!(answer.status, 403, "{method} {target}: {}", answer.text());
                assert!(
                    !answer.text().contains("pipeline"),
                    "{method} {target}: {}",
                    answer.text()
                );
            }
            let lines = "{\"index\":{\"_index\":\"i\"}}\n{}\n{\"index\":{\"_index\":\"i2\"}}\n{}\n";
            let target = format!("/_bulk?pipeline=nope&{more}");
            let answer = client.good("POST", target.trim_end_matches('&'), lines).await;
            let statuses: Vec<u64> = told(&answer).iter().map(|(status, _)| *status).collect();
            assert_eq!(statuses, [403, 403], "{more}: {}", json::to_string(&answer));
        }
    });
}

/// Of copies that lack, whoever may write still hears, once it has waited.
#[test]
fn who_may_write_hears_of_the_copies() {
    with_security(|mut client| async move {
        as_reader(&mut client).await;
        client.authorize(Some(&basic("elastic", "secret")));
        let more = "wait_for_active_shards=2&timeout=1ms";
        let refused = client.bad("PUT", &format!("/i/_doc/1?{more}"), "{}").await;
        assert!(
            refused.starts_with("503 unavailable_shards_exception: [i][0] Not enough"),
            "{refused}"
        );
        let copy = r#"{"source":{"index":"i"},"dest":{"index":"i2"}}"#;
        for (target, body) in [("/i/_update_by_query", ""), ("/_reindex", copy)] {
            let answer = client.call("POST", &format!("{target}?{more}"), body).await;
            assert_eq!(answer.status, 503, "{target}: {}", answer.text());
        }
        let lines = "{\"index\":{\"_index\":\"i\"}}\n{}\n";
        let answer = client.good("POST", &format!("/_bulk?{more}"), lines).await;
        assert_eq!(told(&answer)[0].0, 503);
    });
}

/// Where nothing is written nothing is waited for: it took as long as the request said.
#[test]
fn nobody_waits_for_copies_of_what_is_not_written() {
    with_security(|mut client| async move {
        as_reader(&mut client).await;
        let more = "wait_for_active_shards=5&timeout=106751d";
        for target in ["/nothing*/_update_by_query", "/own*/_update_by_query"] {
            let done = client.good("POST", &format!("{target}?{more}"), "").await;
            assert_eq!(at(&done, &["total"]).as_u64(), Some(0), "{target}");
        }
        client.authorize(Some(&basic("elastic", "secret")));
        let none = r#"{"query":{"match_none":{}}}"#;
        let done = client.good("POST", &format!("/i/_delete_by_query?{more}"), none).await;
        assert_eq!(at(&done, &["total"]).as_u64(), Some(0));
    });
}
