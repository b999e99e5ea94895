//! What the audit log tells of administrators.

use std::time::Duration;

use env::{Clock, Env};
use json::Value;
use sim::Sim;

use crate::browser::{Browser, basic, fields};
use crate::place::{
    at, with_audited, with_oauth_set, with_strict, with_strict_clients_on, with_unwritten,
};

/// Who deleted an index was not to be found out.
#[test]
fn what_administrators_do_is_told() {
    with_audited(|mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let mut wanted = Vec::new();
        for (method, target, body, action) in [
            ("PUT", "/logs", r#"{"settings":{"number_of_replicas":0}}"#, "indices:admin/create"),
            (
                "PUT",
                "/logs/_mapping",
                r#"{"properties":{"a":{"type":"long"}}}"#,
                "indices:admin/mapping/put",
            ),
            ("PUT", "/logs/_settings", r#"{"index.priority":2}"#, "indices:admin/settings/update"),
            ("PUT", "/logs/_alias/al", "", "indices:admin/aliases"),
            (
                "PUT",
                "/_cluster/settings",
                r#"{"persistent":{"cluster.max_shards_per_node":500}}"#,
                "cluster:admin/settings/update",
            ),
            (
                "PUT",
                "/_index_template/t",
                r#"{"index_patterns":["t-*"]}"#,
                "indices:admin/index_template/put",
            ),
            ("POST", "/logs/_close", "", "indices:admin/close"),
            ("DELETE", "/logs", "", "indices:admin/delete"),
        ] {
            client.good(method, target, body).await;
            wanted.push((method, target, action, "ok"));
        }
        assert_eq!(client.call("DELETE", "/logs", "").await.status, 404);
        wanted.push(("DELETE", "/logs", "indices:admin/delete", "failed"));
        let lines = told.of("access_granted");
        let text =
            |line: &Value, key: &str| at(line, &[key]).as_str().unwrap_or_default().to_owned();
        assert_eq!(lines.len(), wanted.len(), "{lines:?}");
        for (line, (method, path, action, outcome)) in lines.iter().zip(wanted) {
            assert_eq!(text(line, "method"), method);
            assert_eq!(text(line, "path"), path);
            assert_eq!(text(line, "action"), action);
            assert_eq!(text(line, "outcome"), outcome);
            assert_eq!(text(line, "user"), "elastic");
            assert!(!text(line, "address").is_empty() && !text(line, "request_id").is_empty());
        }
        assert_eq!(text(&lines[lines.len() - 1], "reason"), "no such index [logs]");
        // What looks, what writes documents, and what keeps an index in order has no line.
        for (method, target, body) in [
            ("PUT", "/d/_doc/1", "{}"),
            ("POST", "/d/_refresh", ""),
            ("GET", "/d/_search", ""),
            ("GET", "/d/_settings", ""),
            ("POST", "/d/_flush", ""),
        ] {
            let status = client.call(method, target, body).await.status;
            assert!(status < 300, "{method} {target} {status}");
        }
        // But for the index that a write makes.
        let lines = told.of("access_granted");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(text(&lines[0], "action"), "indices:admin/auto_create");
        assert_eq!(text(&lines[0], "path"), "/d/_doc/1");
        assert_eq!(names(&lines[0]), ["d"]);
        // Who may not is denied, as ever.
        let body = r#"{"password":"knows-this","roles":[]}"#;
        client.good("PUT", "/_security/user/nobody", body).await;
        client.authorize(Some(&basic("nobody", "knows-this")));
        assert_eq!(client.call("DELETE", "/d", "").await.status, 403);
        let lines = told.of("access_denied");
        assert_eq!((lines.len(), text(&lines[0], "path")), (1, "/d".to_owned()));
    });
}

/// The indices that a line names.
fn names(line: &Value) -> Vec<&str> {
    let list = line.get("indices").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Which index an alias was given, or that one was deleted by a change of aliases, was not told; nor that a write
/// had made one.
#[test]
fn indices_that_the_path_does_not_name_are_told() {
    with_audited(|mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        for index in ["a-1", "a-2", "b"] {
            client.good("PUT", &format!("/{index}"), "").await;
        }
        told.all();
        let text = |line: &Value, key: &str| {
            line.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let lines = |wanted: &[(&str, &str, &[&str])]| {
            let lines = told.of("access_granted");
            assert_eq!(lines.len(), wanted.len(), "{lines:?}");
            for (line, (action, outcome, indices)) in lines.iter().zip(wanted) {
                assert_eq!(text(line, "action"), *action);
                assert_eq!(text(line, "outcome"), *outcome);
                assert_eq!(names(line), *indices, "{action}");
                assert_eq!(text(line, "user"), "elastic");
                assert_eq!(text(line, "request_id"), text(&lines[0], "request_id"));
            }
        };
        let aliases = "indices:admin/aliases";
        let add = r#"{"actions":[{"add":{"index":"a-*","alias":"x"}},{"add":{"index":"b","alias":"y"}}]}"#;
        client.good("POST", "/_aliases", add).await;
        lines(&[(aliases, "ok", &["a-1", "a-2", "b"])]);
        client.good("PUT", "/_alias/z", r#"{"index":"b"}"#).await;
        lines(&[(aliases, "ok", &["b"])]);
        let swap =
            r#"{"actions":[{"remove_index":{"index":"a-1"}},{"add":{"index":"b","alias":"x"}}]}"#;
        client.good("POST", "/_aliases", swap).await;
        lines(&[(aliases, "ok", &["a-1", "b"]), ("indices:admin/delete", "ok", &["a-1"])]);
        assert_eq!(client.call("POST", "/_aliases", swap).await.status, 404);
        lines(&[(aliases, "failed", &["a-1", "b"]), ("indices:admin/delete", "failed", &["a-1"])]);
        let template = r#"{"index_patterns":["s"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        told.all();
        let items: String = (0..70)
            .map(|at| format!("{{\"create\":{{\"_index\":\"n-{at:02}\"}}}}\n{{}}\n"))
            .chain(["{\"create\":{\"_index\":\"s\"}}\n{\"@timestamp\":1}\n".to_owned()])
            .chain(["{\"create\":{\"_index\":\"b\"}}\n{}\n".to_owned()])
            .collect();
        client.good("POST", "/_bulk", &items).await;
        let all: Vec<String> =
            (0..70).map(|at| format!("n-{at:02}")).chain(["s".to_owned()]).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let made = "indices:admin/auto_create";
        lines(&[(made, "ok", &all[..64]), (made, "ok", &all[64..])]);
        // What is there by now is not made.
        client.good("POST", "/_bulk", &items).await;
        lines(&[]);
        // Work that goes on alone, and work that does not.
        client.good("POST", "/b/_refresh", "").await;
        let body = r#"{"source":{"index":"b"},"dest":{"index":"copy"}}"#;
        let begun = client.good("POST", "/_reindex?wait_for_completion=false", body).await;
        let task = at(&begun, &["task"]).as_str().expect("a task").to_owned();
        client.good("GET", &format!("/_tasks/{task}?wait_for_completion=true"), "").await;
        lines(&[(made, "ok", &["copy"])]);
        client.good("POST", "/_reindex", &body.replace("copy", "other")).await;
        lines(&[(made, "ok", &["other"])]);
    });
}

/// Lines of what was done in another's name did not tell which key or token did it, and a service account that
/// might not was nobody.
#[test]
fn who_acts_for_another_is_told_with_what_came() {
    with_audited(|mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let role = r#"{"cluster":["manage_own_api_key"],"run_as":["bob"]}"#;
        client.good("PUT", "/_security/role/acts", role).await;
        for (name, role) in [("ann", "acts"), ("bob", "none")] {
            let user = format!(r#"{{"password":"secret","roles":["{role}"]}}"#);
            client.good("PUT", &format!("/_security/user/{name}"), &user).await;
        }
        let place = "/_security/service/elastic/fleet-server/credential/token/t";
        let service = client.good("POST", place, "").await;
        let service = at(&service, &["token", "value"]).as_str().expect("a token").to_owned();
        client.authorize(Some(&basic("ann", "secret")));
        let key = client.good("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
        let text = |name: &str| at(&key, &[name]).as_str().expect("a text").to_owned();
        let as_bob = [("es-security-runas-user", "bob")];
        for (how, status, event, by, id) in [
            (format!("ApiKey {}", text("encoded")), 200, "run_as", "ann", text("id")),
            (
                format!("Bearer {service}"),
                403,
                "access_denied",
                "elastic/fleet-server",
                String::new(),
            ),
        ] {
            told.all();
            client.authorize(Some(&how));
            let target = "/_security/_authenticate";
            let answer = client.call_with("GET", target, &as_bob, b"").await;
            assert_eq!(answer.status, status, "{}", answer.text());
            let lines = told.of(event);
            assert_eq!(lines.len(), 1, "{lines:?}");
            let fact = |name: &str| {
                let told = lines[0].get(name).and_then(Value::as_str);
                told.unwrap_or_default().to_owned()
            };
            assert_eq!((fact("user").as_str(), fact("run_by").as_str()), ("bob", by));
            assert_eq!(fact("api_key"), id);
        }
    });
}

/// What a copy was not allowed to write stood in the answer, or with the task, and nowhere else.
#[test]
fn what_work_by_query_is_denied_is_told() {
    with_audited(|mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/b/_doc/1?refresh=true", "{}").await;
        client.good("PUT", "/shut", "").await;
        let role = r#"{"indices":[{"names":["b"],"privileges":["read","write"]}]}"#;
        client.good("PUT", "/_security/role/r", role).await;
        let user = r#"{"password":"secret","roles":["r"]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        client.authorize(Some(&basic("ann", "secret")));
        for target in ["shut", "missing"] {
            let body = format!(r#"{{"source":{{"index":"b"}},"dest":{{"index":"{target}"}}}}"#);
            for alone in ["", "?wait_for_completion=false"] {
                told.all();
                let answer = client.call("POST", &format!("/_reindex{alone}"), &body).await;
                if alone.is_empty() {
                    assert_eq!(answer.status, 403, "{}", answer.text());
                } else {
                    let begun = json::parse(answer.text().as_bytes()).expect("JSON");
                    let task = at(&begun, &["task"]).as_str().expect("a task").to_owned();
                    client.authorize(Some(&basic("elastic", "secret")));
                    let wait = format!("/_tasks/{task}?wait_for_completion=true");
                    client.good("GET", &wait, "").await;
                    client.authorize(Some(&basic("ann", "secret")));
                }
                let lines = told.of("access_denied");
                assert_eq!(lines.len(), 1, "{target} {alone}: {lines:?}");
                assert_eq!(at(&lines[0], &["user"]).as_str(), Some("ann"));
                let reason = at(&lines[0], &["reason"]).as_str().unwrap_or_default();
                assert!(reason.contains(target), "{reason}");
            }
        }
    });
}

/// What a pattern met, what an alias or a data stream stood for, and the index that a rollover made were not told.
#[test]
fn indices_that_only_the_engine_finds_are_told() {
    with_audited(|mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let free = r#"{"persistent":{"action.destructive_requires_name":false}}"#;
        client.good("PUT", "/_cluster/settings", free).await;
        let template = r#"{"index_patterns":["s-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/s", template).await;
        let write = r#"{"aliases":{"w":{"is_write_index":true}}}"#;
        for (target, body) in
            [("/a-1", ""), ("/a-2", ""), ("/b", ""), ("/r-000001", write), ("/c-1", "")]
        {
            client.good("PUT", target, body).await;
        }
        client.good("PUT", "/c-1/_block/write", "").await;
        client.good("PUT", "/_data_stream/s-1", "").await;
        let first = client.good("GET", "/_data_stream/s-1", "").await;
        let name = |stream: &Value, at: usize| {
            let indices = crate::place::at(stream, &["data_streams"]).as_array().expect("one");
            let indices = crate::place::at(&indices[0], &["indices"]).as_array().expect("some");
            text(&indices[at], "index_name").to_owned()
        };
        let oldest = name(&first, 0);
        told.all();
        let lines = |told: &[Value]| -> Vec<String> {
            let line = |line: &Value| {
                let names = names(line).join(" ");
                format!("{} {}: {names}", text(line, "action"), text(line, "outcome"))
            };
            told.iter().map(line).collect()
        };
        let age = r#"{"index.priority":2}"#;
        let mapping = r#"{"properties":{"a":{"type":"long"}}}"#;
        for (method, target, body, wanted) in [
            ("PUT", "/%3Cm-%7B2020.01.01%7C%7C%2Fd%7D%3E", "", "create ok: m-2020.01.01"),
            ("PUT", "/a*/_settings", age, "settings/update ok: a-1 a-2"),
            ("PUT", "/a-*/_mapping", mapping, "mapping/put ok: a-1 a-2"),
            ("POST", "/a*/_close", "", "close ok: a-1 a-2"),
            ("POST", "/a-1,a-2/_open", "", "open ok: a-1 a-2"),
            ("PUT", "/a*/_block/write", "", "block/add ok: a-1 a-2"),
            ("PUT", "/c-1/_clone/d-1", "", "resize ok: c-1 d-1"),
            ("POST", "/w/_rollover", r#"{"conditions":{"max_docs":9}}"#, "rollover ok: r-000001"),
            ("POST", "/w/_rollover", "", "rollover ok: r-000001 r-000002"),
            ("DELETE", "/a-1,b", "", "delete ok: a-1 b"),
            ("DELETE", "/a-*,c*", "", "delete ok: a-2 c-1"),
            ("POST", "/s-1/_rollover?lazy=true", "", "rollover ok: s-1"),
        ] {
            client.good(method, target, body).await;
            let told = told.of("access_granted");
            assert_eq!(lines(&told), [format!("indices:admin/{wanted}")], "{method} {target}");
        }
        // What is only tried changes nothing.
        for (target, body) in [
            ("/w/_rollover?dry_run", ""),
            ("/w/_rollover?dry_run=true", r#"{"conditions":{"max_docs":9}}"#),
            ("/_cluster/reroute?dry_run&metric=none", ""),
            ("/_cluster/reroute?metric=none", r#"{"dry_run":true}"#),
            ("/_index_template/_simulate_index/s-2", ""),
            ("/_index_template/_simulate/s", ""),
        ] {
            client.good("POST", target, body).await;
            assert_eq!(lines(&told.of("access_granted")), [""; 0], "{target}");
        }
        let done = r#"{"dry_run":false}"#;
        for (query, body) in [("", ""), ("&dry_run=false", ""), ("&dry_run", done)] {
            client.good("POST", &format!("/_cluster/reroute?metric=none{query}"), body).await;
            let told = lines(&told.of("access_granted"));
            assert_eq!(told, ["cluster:admin/reroute ok: "], "{query} {body}");
        }
        // A document makes the next index of the stream, by a right that its writer need not have.
        client.good("POST", "/s-1/_doc", r#"{"@timestamp":1}"#).await;
        let next = name(&client.good("GET", "/_data_stream/s-1", "").await, 1);
        let made = told.of("access_granted");
        assert_eq!(lines(&made), [format!("indices:admin/data_stream/lazy_rollover ok: {next}")]);
        assert_eq!(text(&made[0], "path"), "/s-1/_doc");
        client.good("POST", "/s-1/_doc", r#"{"@timestamp":1}"#).await;
        assert_eq!(lines(&told.of("access_granted")), [""; 0]);
        client.good("DELETE", "/_data_stream/s*", "").await;
        let gone = format!("indices:admin/data_stream/delete ok: s-1 {oldest} {next}");
        assert_eq!(lines(&told.of("access_granted")), [gone]);
        // As many lines as name all.
        for at in 0..70 {
            client.good("PUT", &format!("/n-{at:02}"), "").await;
        }
        told.all();
        client.good("DELETE", "/n-*", "").await;
        let told = told.of("access_granted");
        let counts: Vec<usize> = told.iter().map(|line| names(line).len()).collect();
        assert_eq!(counts, [64, 6]);
    });
}

fn text<'l>(line: &'l Value, key: &str) -> &'l str {
    line.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The first change under which a strict log stopped taking lines was made, and a machine that stopped then had no
/// line of it.
#[test]
fn in_strict_mode_the_line_comes_before_the_change() {
    with_strict(|mut client, log| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let user = r#"{"password":"ann-knows-this","roles":[]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let app = r#"{"client_name":"App","redirect_uris":["https://a.example/cb"]}"#;
        log.taken();
        for (method, target, body, action, event) in [
            ("PUT", "/_security/user/eve", user, "user_changed", "user_changed"),
            (
                "PUT",
                "/_security/user/ann/_password",
                r#"{"password":"ann-knows-that"}"#,
                "password_reset",
                "password_reset",
            ),
            ("PUT", "/_security/role/r", "{}", "role_changed", "role_changed"),
            ("POST", "/_security/api_key", r#"{"name":"k"}"#, "api_key_created", "api_key_created"),
            ("PUT", "/logs", "", "indices:admin/create", "access_granted"),
            ("POST", "/_oauth/client", app, "client_registered", "client_registered"),
            ("POST", "/_oauth/keys/_rotate", "", "key_rotated", "key_rotated"),
        ] {
            // It takes no more.
            log.takes(0);
            let refused = client.bad(method, target, body).await;
            assert_eq!(
                refused, "503 status_exception: the audit log cannot be written",
                "{method} {target}"
            );
            assert!(log.taken().is_empty(), "{target}");
            // What waited says that it was not done.
            log.takes(usize::MAX);
            let lines = log.taken();
            let told: Vec<_> =
                lines.iter().map(|line| [text(line, "event"), text(line, "outcome")]).collect();
            assert_eq!(told[0], ["change", "begun"], "{target}: {lines:?}");
            assert!(
                told[1..].iter().all(|it| it[1] == "failed") && told.len() > 1,
                "{target}: {lines:?}"
            );
            match target {
                "/_security/user/eve" | "/_security/role/r" | "/logs" => {
                    assert_eq!(client.call("GET", target, "").await.status, 404, "{target}");
                }
                "/_oauth/client" => {
                    let known = client.good("GET", "/_oauth/client", "").await;
                    assert_eq!(at(&known, &["clients"]).as_array().map(<[_]>::len), Some(0));
                }
                _ => {}
            }
            log.taken();
            // It takes the one line that comes before.
            log.takes(1);
            let refused = client.call(method, target, body).await;
            assert_eq!(refused.status, 503, "{method} {target}: {}", refused.text());
            let lines = log.taken();
            assert_eq!(lines.len(), 1, "{target}: {lines:?}");
            let begun = &lines[0];
            let told = ["event", "outcome", "action"].map(|key| text(begun, key));
            assert_eq!(told, ["change", "begun", action], "{begun:?}");
            for key in ["request_id", "address"] {
                assert!(!text(begun, key).is_empty(), "{target}: {begun:?}");
            }
            // It was done, and its line comes with the next one.
            log.takes(usize::MAX);
            let lines = log.taken();
            let done = lines.iter().find(|line| text(line, "event") == event).expect("its line");
            assert_eq!(text(done, "outcome"), "ok", "{done:?}");
            assert_eq!(text(done, "request_id"), text(begun, "request_id"), "{lines:?}");
            match target {
                "/_security/user/eve" | "/_security/role/r" | "/logs" => {
                    assert_eq!(client.call("GET", target, "").await.status, 200, "{target}");
                    log.taken();
                }
                _ => {}
            }
        }
        // Who only looks, or may not, begins nothing.
        client.good("GET", "/_security/user", "").await;
        assert!(log.taken().is_empty());
        client.authorize(Some(&basic("ann", "ann-knows-that")));
        assert_eq!(client.call("PUT", "/_security/role/s", "{}").await.status, 403);
        let lines = log.taken();
        let told: Vec<_> = lines.iter().map(|line| text(line, "event")).collect();
        assert_eq!(told, ["access_denied"]);
    });
}

/// The same at the pages, where nobody signed in whose line was not written.
#[test]
fn in_strict_mode_the_line_of_a_person_comes_before_what_it_does() {
    with_strict(|mut client, log| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let user = r#"{"password":"ann-knows-this","roles":[]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let mut ann = Browser::default();
        let page = ann.ask(&mut client, "/login", &[]).await;
        let mut form = fields(&page, "/login");
        form.push(("username".into(), "ann".into()));
        form.push(("password".into(), "ann-knows-this".into()));
        log.taken();
        log.takes(0);
        let refused = ann.post(&mut client, "/login", &form).await;
        assert_eq!(refused.status, 503);
        assert!(refused.fields.iter().all(|(_, value)| !value.contains("__Host-sid")));
        log.takes(usize::MAX);
        let lines = log.taken();
        let told: Vec<_> = lines
            .iter()
            .map(|line| ["event", "outcome", "action", "user"].map(|key| text(line, key)))
            .collect();
        assert_eq!(
            told,
            [["change", "begun", "login_ok", "ann"], ["change", "failed", "login_ok", "ann"]]
        );
        assert_eq!(text(&lines[1], "reason"), "the audit log cannot be written");
        assert_eq!(ann.post(&mut client, "/login", &form).await.status, 303);
        let lines = log.taken();
        let told: Vec<_> =
            lines.iter().map(|line| ["event", "outcome"].map(|key| text(line, key))).collect();
        assert_eq!(told, [["change", "begun"], ["login_ok", "ok"]]);
        assert_eq!(text(&lines[0], "request_id"), text(&lines[1], "request_id"));
    });
}

/// In strict mode it was done, and then answered with 503.
#[test]
fn what_cannot_be_noted_of_an_index_is_not_done() {
    with_unwritten(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let refused = client.bad("PUT", "/logs", "").await;
        assert_eq!(refused, "503 status_exception: the audit log cannot be written");
        assert_eq!(client.call("HEAD", "/logs", "").await.status, 404);
        // An index that a write makes is one, documents are none.
        let refused = client.bad("PUT", "/d/_doc/1", "{}").await;
        assert_eq!(refused, "503 status_exception: the audit log cannot be written");
        assert_eq!(client.call("HEAD", "/d", "").await.status, 404);
        assert_eq!(
            client.call("POST", "/_bulk", "{\"index\":{\"_index\":\"d\"}}\n{}\n").await.status,
            200
        );
        assert_eq!(client.call("HEAD", "/d", "").await.status, 404);
    });
}

/// Such a line told who wrote and nothing of the request, and nothing followed where no index was made.
#[test]
fn in_strict_mode_an_index_for_documents_begins_with_its_request() {
    with_strict(|mut client, log| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let template = r#"{"index_patterns":["s-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/s", template).await;
        log.taken();
        let doc = r#"{"@timestamp":"2026-01-01T00:00:00Z"}"#;
        let same = ["request_id", "address", "method", "path", "user", "realm", "action"];
        for name in ["d", "s-1"] {
            client.good("POST", &format!("/{name}/_doc"), doc).await;
            let lines = log.taken();
            let told: Vec<_> =
                lines.iter().map(|line| ["event", "outcome"].map(|key| text(line, key))).collect();
            assert_eq!(told, [["change", "begun"], ["access_granted", "ok"]], "{lines:?}");
            assert!(lines.iter().all(|line| names(line) == [name]), "{lines:?}");
            for key in same {
                assert!(!text(&lines[0], key).is_empty(), "{key}: {lines:?}");
                assert_eq!(text(&lines[0], key), text(&lines[1], key), "{key}");
            }
        }
        // There is no room for another shard.
        let few = r#"{"persistent":{"cluster.max_shards_per_node":1}}"#;
        client.good("PUT", "/_cluster/settings", few).await;
        log.taken();
        let refused = client.bad("POST", "/e/_doc", doc).await;
        let lines = log.taken();
        let told: Vec<_> =
            lines.iter().map(|line| ["event", "outcome"].map(|key| text(line, key))).collect();
        assert_eq!(told, [["change", "begun"], ["change", "failed"]], "{refused}");
        assert!(lines.iter().all(|line| names(line) == ["e"]), "{lines:?}");
        for key in same {
            assert_eq!(text(&lines[0], key), text(&lines[1], key), "{key}");
        }
        assert!(refused.ends_with(text(&lines[1], "reason")), "{refused}: {lines:?}");
        // What does not begin waits for nothing, and others of its request are kept.
        log.takes(0);
        let both = "{\"index\":{\"_index\":\"f\"}}\n{}\n{\"index\":{\"_index\":\"d\"}}\n{}\n";
        let answer = client.good("POST", "/_bulk", both).await;
        let items = at(&answer, &["items"]).as_array().expect("items");
        let status = |item: &Value| at(item, &["index", "status"]).as_u64();
        assert_eq!(items.iter().map(status).collect::<Vec<_>>(), [Some(503), Some(201)]);
        log.takes(usize::MAX);
        assert!(log.taken().is_empty());
    });
}

/// What the body of a change named was not told before it.
#[test]
fn in_strict_mode_what_is_meant_is_named_before() {
    with_strict(|mut client, log| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/a", "").await;
        client.good("PUT", "/b", "").await;
        let template = r#"{"index_patterns":["s-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/s", template).await;
        client.good("PUT", "/_data_stream/s-1", "").await;
        log.taken();
        let (alias, delete) = ("indices:admin/aliases", "indices:admin/delete");
        let modify = "indices:admin/data_stream/modify";
        let swap =
            r#"{"actions":[{"remove_index":{"index":"a"}},{"add":{"index":"b","alias":"x"}}]}"#;
        let mapped = r#"{"mappings":{"properties":{"@timestamp":{"type":"date"}}}}"#;
        client.good("PUT", "/c", mapped).await;
        log.taken();
        let add = r#"{"actions":[{"add_backing_index":{"data_stream":"s-1","index":"c"}}]}"#;
        for (method, target, body, wanted) in [
            ("PUT", "/_alias/z", r#"{"index":"b"}"#, vec![(alias, vec!["b"])]),
            ("DELETE", "/b/_alias/z", "", vec![(alias, vec!["b"])]),
            ("POST", "/_aliases", swap, vec![(alias, vec!["a", "b"]), (delete, vec!["a"])]),
            ("POST", "/_data_stream/_modify", add, vec![(modify, vec!["c", "s-1"])]),
        ] {
            // While the log takes nothing, nothing is done.
            log.takes(0);
            assert_eq!(
                client.bad(method, target, body).await,
                "503 status_exception: the audit log cannot be written",
                "{target}"
            );
            log.takes(usize::MAX);
            log.taken();
            client.good(method, target, body).await;
            let lines = log.taken();
            let (begun, done) = lines.split_at(wanted.len());
            let told: Vec<_> =
                begun.iter().map(|line| (text(line, "action"), names(line))).collect();
            assert_eq!(told, wanted, "{lines:?}");
            assert!(begun.iter().all(|line| text(line, "outcome") == "begun"), "{lines:?}");
            assert!(done.iter().all(|line| text(line, "outcome") == "ok"), "{lines:?}");
            assert_eq!(done.len(), begun.len(), "{lines:?}");
        }
        let privileges =
            r#"{"app":{"one":{"actions":["data:a/*"]},"two":{"actions":["data:b/*"]}}}"#;
        client.good("PUT", "/_security/privilege", privileges).await;
        let lines = log.taken();
        assert_eq!(text(&lines[0], "outcome"), "begun");
        assert_eq!(text(&lines[0], "target_privilege"), "app/one,app/two");
        let whose = r#"{"username":"ann","realm_name":"native"}"#;
        client.call("DELETE", "/_security/oauth2/token", whose).await;
        let lines = log.taken();
        let told = ["outcome", "target_user", "target_realm"].map(|key| text(&lines[0], key));
        assert_eq!(told, ["begun", "ann", "native"]);
    });
}

/// Sessions that others pushed out, and those that one form ended, ended without a line.
#[test]
fn sessions_that_end_are_told() {
    with_oauth_set(&[("oauth.limit.login", "0")], |mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let user = r#"{"password":"ann-knows-this","roles":[]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let outs = || {
            let said = ["outcome", "user", "count", "reason"];
            let lines = told.of("logout");
            lines.iter().map(|line| said.map(|key| text(line, key).to_owned())).collect::<Vec<_>>()
        };
        let mut ann = Browser::default();
        for at in 0..51 {
            ann = Browser::default();
            let page = ann.ask(&mut client, "/login", &[]).await;
            let mut form = fields(&page, "/login");
            form.push(("username".into(), "ann".into()));
            form.push(("password".into(), "ann-knows-this".into()));
            assert_eq!(ann.post(&mut client, "/login", &form).await.status, 303);
            let why = "there are more than 50 sessions of this account";
            let wanted = if at < 50 { vec![] } else { vec![["ok", "ann", "1", why]] };
            assert_eq!(outs(), wanted, "{at}");
        }
        let page = ann.ask(&mut client, "/account/sessions", &[]).await;
        let mut form = fields(&page, "/account/sessions");
        form.push(("action".into(), "sign_out_everywhere".into()));
        assert_eq!(ann.post(&mut client, "/account/sessions", &form).await.status, 303);
        assert_eq!(outs(), [["ok", "ann", "50", ""]]);
    });
}

/// In strict mode the line before had the path alone: what a pattern would meet was for the reader to guess.
#[test]
fn in_strict_mode_what_a_pattern_meets_is_named_before() {
    with_strict(|mut client, log| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let free = r#"{"persistent":{"action.destructive_requires_name":false}}"#;
        client.good("PUT", "/_cluster/settings", free).await;
        let template = r#"{"index_patterns":["s-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/s", template).await;
        client.good("PUT", "/_data_stream/s-1", "").await;
        for index in ["/a-1", "/a-2"] {
            client.good("PUT", index, "").await;
        }
        let doc = r#"{"@timestamp":1}"#;
        let unwritten = "503 status_exception: the audit log cannot be written";
        for (method, target, body, action, wanted) in [
            ("PUT", "/a*/_settings", r#"{"index.priority":2}"#, "settings/update", "a-1 a-2"),
            ("DELETE", "/*,-s*", "", "delete", "a-1 a-2"),
            ("POST", "/s-1/_rollover?lazy=true", "", "rollover", "s-1"),
        ] {
            log.takes(0);
            assert_eq!(client.bad(method, target, body).await, unwritten, "{target}");
            log.takes(usize::MAX);
            log.taken();
            client.good(method, target, body).await;
            let lines = log.taken();
            assert_eq!(lines.len(), 2, "{target}: {lines:?}");
            for (line, outcome) in lines.iter().zip(["begun", "ok"]) {
                assert_eq!(text(line, "outcome"), outcome);
                assert_eq!(text(line, "action"), format!("indices:admin/{action}"));
                assert_eq!(names(line).join(" "), wanted, "{outcome} {target}");
                assert_eq!(text(line, "request_id"), text(&lines[0], "request_id"));
            }
        }
        // The index that a rollover makes for a document has its line before it, too.
        log.takes(0);
        let refused = client.bad("POST", "/s-1/_doc", doc).await;
        assert_eq!(refused, unwritten);
        log.takes(usize::MAX);
        log.taken();
        client.good("POST", "/s-1/_doc", doc).await;
        let lines = log.taken();
        assert_eq!(lines.len(), 2, "{lines:?}");
        let lazy = "indices:admin/data_stream/lazy_rollover";
        assert!(lines.iter().all(|line| text(line, "action") == lazy), "{lines:?}");
        assert_eq!(text(&lines[0], "outcome"), "begun");
        assert_eq!(names(&lines[1]), names(&lines[0]), "{lines:?}");
        // Who is refused begins nothing.
        assert_eq!(client.call("DELETE", "/none", "").await.status, 404);
        let told: Vec<Value> = log.taken();
        let outcomes: Vec<_> = told.iter().map(|line| text(line, "outcome")).collect();
        assert_eq!(outcomes, ["failed"], "{told:?}");
    });
}

/// While a strict log took no line nobody could look at a user, a key or a client, nor could a program read where the
/// server's endpoints are.
#[test]
fn in_strict_mode_what_only_looks_goes_on() {
    with_strict(|mut client, log| async move {
        let elastic = basic("elastic", "secret");
        client.authorize(Some(&elastic));
        let user = r#"{"password":"ann-knows-this","roles":[]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        log.takes(0);
        let words = "503 status_exception: the audit log cannot be written";
        assert_eq!(client.bad("DELETE", "/_security/user/ann", "").await, words);
        for target in [
            "/_security/user",
            "/_security/user/ann",
            "/_security/role/viewer",
            "/_security/api_key",
            "/_security/_authenticate",
            "/_security/user/_privileges",
            "/_security/privilege/_builtin",
            "/_oauth/client",
            "/_oauth/grant",
        ] {
            client.good("GET", target, "").await;
        }
        let asked = r#"{"cluster":["monitor"]}"#;
        client.good("POST", "/_security/user/_has_privileges", asked).await;
        client.good("POST", "/_security/_query/api_key", "").await;
        assert_eq!(client.call("GET", "/_oauth/client/none", "").await.status, 404);
        client.authorize(None);
        client.good("GET", "/.well-known/oauth-authorization-server", "").await;
        client.good("GET", "/.well-known/oauth-protected-resource", "").await;
        for file in ["style.css", "icon.svg"] {
            assert_eq!(client.call("GET", &format!("/login/{file}"), "").await.status, 200);
        }
        // A form would lead nowhere.
        assert_eq!(client.call("GET", "/login", "").await.status, 503);
        // What has a line of its own waits for it: somebody who is not let in, or may not.
        for (name, password) in [("ann", "guessed"), ("ann", "ann-knows-this")] {
            client.authorize(Some(&basic(name, password)));
            let refused = client.bad("GET", "/_security/user", "").await;
            assert_eq!(refused, words, "{password}");
        }
        client.authorize(Some(&elastic));
        let app = r#"{"client_name":"App","redirect_uris":["https://a.example/cb"]}"#;
        assert_eq!(client.bad("POST", "/_oauth/client", app).await, words);
        log.takes(usize::MAX);
        client.good("GET", "/_security/user/ann", "").await;
        let known = client.good("GET", "/_oauth/client", "").await;
        assert_eq!(at(&known, &["clients"]).as_array().map(<[_]>::len), Some(0));
    });
}

/// What was refused before it was read, as by a log that was full already, said of whom or what it was in its path
/// alone.
#[test]
fn in_strict_mode_what_is_refused_names_what_it_is_of() {
    with_strict(|mut client, log| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let user = r#"{"password":"ann-knows-this","roles":[]}"#;
        let made = client.good("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
        let id = at(&made, &["id"]).as_str().expect("an id").to_owned();
        let key = format!("/_security/api_key/{id}");
        for (method, target, body, event, fact, of) in [
            ("PUT", "/_security/user/eve", user, "user_changed", "target_user", "eve"),
            ("PUT", "/_security/user/e%C3%A9", user, "user_changed", "target_user", "eé"),
            ("DELETE", "/_security/user/eve", "", "user_deleted", "target_user", "eve"),
            ("PUT", "/_security/user/eve/_disable", "", "user_disabled", "target_user", "eve"),
            (
                "PUT",
                "/_security/user/eve/_password",
                r#"{"password":"eve-knows-that"}"#,
                "password_reset",
                "target_user",
                "eve",
            ),
            ("PUT", "/_security/role/r", "{}", "role_changed", "target_role", "r"),
            ("DELETE", "/_security/role/r", "", "role_deleted", "target_role", "r"),
            ("PUT", &key, r#"{"metadata":{"a":1}}"#, "api_key_changed", "target_key", &id),
        ] {
            log.takes(0);
            // The first finds out that there is no room, the second knows.
            for _ in 0..2 {
                assert_eq!(client.call(method, target, body).await.status, 503, "{target}");
            }
            log.takes(usize::MAX);
            let lines = log.taken();
            let failed: Vec<_> = lines.iter().filter(|line| text(line, "event") == event).collect();
            assert_eq!(failed.len(), 2, "{lines:?}");
            for line in failed {
                assert_eq!(
                    ["outcome", fact].map(|key| text(line, key)),
                    ["failed", of],
                    "{line:?}"
                );
            }
        }
        // As does one whose body is not good.
        assert_eq!(client.call("PUT", "/_security/user/eve", "{}").await.status, 400);
        let lines = log.taken();
        assert_eq!(text(&lines[0], "target_user"), "eve", "{lines:?}");
    });
}

/// While a strict log took no line, each guess at a key had whatever others asked for at that moment answered 503.
#[test]
fn in_strict_mode_the_events_of_others_refuse_nobody() {
    let sim = Sim::new(1);
    let (env, sim) = (sim.env(), &sim);
    with_strict_clients_on(sim, 2, |mut clients, log| async move {
        let [owner, other] = &mut clients[..] else { panic!("two") };
        owner.authorize(Some(&basic("elastic", "secret")));
        owner.good("PUT", "/d", "").await;
        log.taken();
        log.takes(0);
        let json = [("Content-Type", "application/json")];
        other.authorize(Some("ApiKey YTpi"));
        // A document takes as long as the disk does, a bad key no time.
        let disk = Duration::from_millis(50);
        sim.set_latency(disk, disk);
        owner.send("PUT", "/d/_doc/1", &json, b"{}").await;
        env.clock().sleep(disk / 2).await;
        let guessed = other.call("GET", "/d/_search", "").await;
        assert_eq!(guessed.status, 503, "it has a line: {}", guessed.text());
        let written = owner.answer("PUT", "/d/_doc/1").await;
        assert_eq!(written.status, 201, "{}", written.text());
        log.takes(usize::MAX);
        let lines = log.taken();
        let told: Vec<_> = lines.iter().map(|line| text(line, "event")).collect();
        assert_eq!(told, ["login_failed"]);
    });
}

/// The path alone told which token, mapping or privilege it was.
#[test]
fn what_a_change_of_security_is_of_stands_beside_it() {
    with_audited(|mut client, told| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let mapping = r#"{"roles":["viewer"],"enabled":true,"rules":{"field":{"username":"*"}}}"#;
        let token = "/_security/service/elastic/kibana/credential/token";
        let privileges = r#"{"app":{"p":{"actions":["data:read"]}}}"#;
        for (method, target, body, event, fact, of) in [
            (
                "PUT",
                &*format!("{token}/t1"),
                "",
                "service_token_created",
                "target_token",
                "elastic/kibana/t1",
            ),
            (
                "DELETE",
                &*format!("{token}/t1"),
                "",
                "service_token_deleted",
                "target_token",
                "elastic/kibana/t1",
            ),
            (
                "PUT",
                "/_security/role_mapping/m",
                mapping,
                "role_mapping_changed",
                "target_role_mapping",
                "m",
            ),
            (
                "DELETE",
                "/_security/role_mapping/m",
                "",
                "role_mapping_deleted",
                "target_role_mapping",
                "m",
            ),
            (
                "PUT",
                "/_security/privilege",
                privileges,
                "privilege_changed",
                "target_privilege",
                "app/p",
            ),
            (
                "DELETE",
                "/_security/privilege/app/p",
                "",
                "privilege_deleted",
                "target_privilege",
                "app/p",
            ),
        ] {
            client.good(method, target, body).await;
            let lines = told.of(event);
            assert_eq!(at(&lines[0], &[fact]).as_str(), Some(of), "{event}: {lines:?}");
        }
        let made = client.good("POST", token, "").await;
        let name = at(&made, &["token", "name"]).as_str().expect("a name").to_owned();
        let lines = told.of("service_token_created");
        let target = at(&lines[lines.len() - 1], &["target_token"]).as_str();
        assert_eq!(target, Some(&*format!("elastic/kibana/{name}")));
    });
}
