//! Hidden documents answer as those that are not there, whoever asks for them by their ids.

use json::json;

use crate::browser::basic;
use crate::place::{Client, at, with_security};

async fn stage(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
    let body = r#"{"mappings":{"properties":{"customer":{"type":"keyword"},
        "t":{"type":"text"},"kept":{"type":"keyword","store":true}}}}"#;
    client.good("PUT", "/x", body).await;
    let own = r#"{"customer":"acme","t":"red apple","kept":"k"}"#;
    client.good("PUT", "/x/_doc/own?refresh=true", own).await;
    client.good("PUT", "/x/_doc/fresh", own).await;
    let big = json::to_string(&json!({"customer": "other", "t": ("red zulu ".repeat(20_000))}));
    client.good("PUT", "/x/_doc/hidden", &big).await;
    let query = json!({"term": {"customer": "acme"}});
    let entry = json!({"names": ["x"], "privileges": ["read", "write"], "query": query});
    let role = json::to_string(&json!({"indices": [entry]}));
    client.good("PUT", "/_security/role/docs", &role).await;
    let user = r#"{"password":"docs-know-this","roles":["docs"]}"#;
    client.good("PUT", "/_security/user/docs", user).await;
}

#[test]
fn hidden_documents_answer_as_absent_ones() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        client.authorize(Some(&basic("docs", "docs-know-this")));
        for (method, path, body) in [
            ("GET", "/x/_doc/ID", ""),
            ("GET", "/x/_doc/ID?realtime=false", ""),
            ("GET", "/x/_doc/ID?_source=false", ""),
            ("GET", "/x/_doc/ID?version=7", ""),
            ("HEAD", "/x/_doc/ID", ""),
            ("GET", "/x/_source/ID", ""),
            ("HEAD", "/x/_source/ID", ""),
            ("POST", "/x/_mget", r#"{"ids":["ID","own","ID"]}"#),
            ("POST", "/x/_mget?_source=false", r#"{"ids":["ID","own","ID"]}"#),
            ("POST", "/x/_mget?stored_fields=kept", r#"{"ids":["ID"]}"#),
            ("GET", "/x/_termvectors/ID?filter_path=found,term_vectors", ""),
            (
                "POST",
                "/x/_mtermvectors?filter_path=docs.found,docs.term_vectors",
                r#"{"ids":["ID"]}"#,
            ),
            ("POST", "/x/_explain/ID?_source=true", r#"{"query":{"match_all":{}}}"#),
            (
                "POST",
                "/x/_search?filter_path=hits",
                r#"{"query":{"more_like_this":{"fields":["t"],"like":{"_id":"ID"},"min_term_freq":1,"min_doc_freq":1}}}"#,
            ),
            (
                "POST",
                "/x/_search?filter_path=hits",
                r#"{"query":{"terms":{"customer":{"index":"x","id":"ID","path":"customer"}}}}"#,
            ),
        ] {
            let mut answers = Vec::new();
            for id in ["hidden", "nosuch"] {
                let (path, body) = (path.replace("ID", id), body.replace("ID", id));
                let found = client.call(method, &path, &body).await;
                let text = String::from_utf8_lossy(&found.body).replace(id, "ID");
                answers.push((found.status, text));
            }
            assert_eq!(answers[0], answers[1], "{method} {path} {body}");
        }
    });
}

/// What may be seen is read, where it is asked for: also what no refresh has shown.
#[test]
fn documents_that_may_be_seen_are_read_whole() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        for (user, password) in [("elastic", "secret"), ("docs", "docs-know-this")] {
            client.authorize(Some(&basic(user, password)));
            for id in ["own", "fresh"] {
                let found = client.good("GET", &format!("/x/_doc/{id}"), "").await;
                assert_eq!(
                    at(&found, &["_source", "t"]).as_str(),
                    Some("red apple"),
                    "{user} {id}"
                );
                let path = format!("/x/_doc/{id}?_source=false");
                let found = client.good("GET", &path, "").await;
                assert!(found.get("_source").is_none() && found.get("_version").is_some());
                let path = format!("/x/_doc/{id}?_source=false&stored_fields=kept");
                let found = client.good("GET", &path, "").await;
                let kept = json::to_string(at(&found, &["fields", "kept"]));
                assert_eq!(kept, r#"["k"]"#, "{user} {id}");
            }
        }
    });
}

/// An update of a hidden document was refused, of an absent one it found nothing: that told which there are.
#[test]
fn hidden_documents_are_changed_no_more_than_absent_ones() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        let before = client.good("GET", "/x/_doc/hidden", "").await;
        let seq_no = at(&before, &["_seq_no"]).as_u64().expect("a place");
        let right = format!("if_seq_no={seq_no}&if_primary_term=1");
        client.authorize(Some(&basic("docs", "docs-know-this")));
        let own = r#"{"customer":"acme"}"#;
        for (method, path, body) in [
            ("POST", "/x/_update/ID", r#"{"doc":{"t":"new"}}"#),
            ("POST", "/x/_update/ID?_source=true", r#"{"doc":{"customer":"acme"}}"#),
            ("POST", "/x/_update/ID?RIGHT", r#"{"doc":{"t":"new"}}"#),
            ("POST", "/x/_update/ID?if_seq_no=77&if_primary_term=1", r#"{"doc":{"t":"new"}}"#),
            ("POST", "/x/_update/ID", r#"{"script":"ctx._source.t='x'"}"#),
            ("POST", "/x/_update/ID", r#"{"doc":{},"upsert":{"customer":"other"}}"#),
            ("POST", "/x/_update/ID", r#"{"doc":{},"upsert":{"customer":{"a":1}}}"#),
            ("DELETE", "/x/_doc/ID?RIGHT", ""),
            ("DELETE", "/x/_doc/ID?if_seq_no=77&if_primary_term=1", ""),
            ("PUT", "/x/_doc/ID?RIGHT", own),
            ("PUT", "/x/_doc/ID?if_seq_no=77&if_primary_term=1", own),
            (
                "POST",
                "/x/_bulk?filter_path=errors,items",
                "{\"update\":{\"_id\":\"ID\"}}\n{\"doc\":{\"t\":\"new\"}}\n\
                 {\"delete\":{\"_id\":\"ID\",\"if_seq_no\":77,\"if_primary_term\":1}}\n",
            ),
        ] {
            let mut answers = Vec::new();
            for id in ["hidden", "nosuch"] {
                let path = path.replace("ID", id).replace("RIGHT", &right);
                let found = client.call(method, &path, &body.replace("ID", id)).await;
                let text = String::from_utf8_lossy(&found.body).replace(id, "ID");
                answers.push((found.status, text));
            }
            assert_eq!(answers[0], answers[1], "{method} {path} {body}");
            assert!(answers[0].0 >= 400 || path.contains("_bulk"), "{method} {path} {body}");
        }
        client.authorize(Some(&basic("elastic", "secret")));
        assert_eq!(client.good("GET", "/x/_doc/hidden", "").await, before);
        let nothing = client.call("GET", "/x/_doc/nosuch", "").await;
        assert_eq!(nothing.status, 404);
    });
}
