//! What the audit log tells of administrators.

use json::Value;

use crate::browser::basic;
use crate::place::{at, with_audited, with_unwritten};

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
        assert!(told.of("access_granted").is_empty());
        // Who may not is denied, as ever.
        let body = r#"{"password":"knows-this","roles":[]}"#;
        client.good("PUT", "/_security/user/nobody", body).await;
        client.authorize(Some(&basic("nobody", "knows-this")));
        assert_eq!(client.call("DELETE", "/d", "").await.status, 403);
        let lines = told.of("access_denied");
        assert_eq!((lines.len(), text(&lines[0], "path")), (1, "/d".to_owned()));
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
        // Documents are no event.
        assert_eq!(client.call("PUT", "/d/_doc/1", "{}").await.status, 201);
    });
}
