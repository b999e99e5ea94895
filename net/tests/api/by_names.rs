//! By which names an index opens: a right on an index is none on the aliases and data streams that lead to it.

use json::{Value, json};

use crate::browser::basic;
use crate::place::{Client, at, with_security};

const ALL: [&str; 2] = ["read", "write"];

/// A user with these entries, of names, privileges and filters; later calls are its.
async fn be(client: &mut Client, name: &str, entries: &[(&str, Option<Value>)]) {
    client.authorize(Some(&basic("elastic", "secret")));
    let entries = entries.iter().map(|(name, query)| {
        let entry = json!({"names": [(*name)], "privileges": (ALL.to_vec())});
        let Some(query) = query else { return entry };
        let mut entry = entry.as_object().cloned().expect("an object");
        entry.insert("query", query.clone());
        Value::Object(entry)
    });
    let role = json!({"indices": (entries.collect::<Vec<_>>())});
    client.good("PUT", &format!("/_security/role/{name}"), &json::to_string(&role)).await;
    let user = json!({"password": "nobody-knows-this", "roles": [name]});
    client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
    client.authorize(Some(&basic(name, "nobody-knows-this")));
}

/// `year` leads to `i` with six documents, `few` to two of them; so does the data stream `ds-a` to one.
async fn stage(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
    let body = r#"{"aliases":{"year":{},"few":{"filter":{"term":{"a":2}}}}}"#;
    client.good("PUT", "/i", body).await;
    for at in 0..6 {
        let body = format!("{{\"a\":{}}}", at % 3);
        client.good("PUT", &format!("/i/_doc/{at}?refresh=true"), &body).await;
    }
    let template = r#"{"index_patterns":["ds-*"],"data_stream":{}}"#;
    client.good("PUT", "/_index_template/ds", template).await;
    client.good("PUT", "/_data_stream/ds-a", "").await;
    client.good("POST", "/ds-a/_doc?refresh=true", r#"{"@timestamp":1}"#).await;
}

async fn count(client: &mut Client, names: &str) -> Option<u64> {
    let answer = client.call("GET", &format!("/{names}/_count"), "").await;
    match answer.status {
        403 => None,
        status => {
            assert_eq!(status, 200, "{names}: {}", answer.text());
            at(&crate::place::value(&answer), &["count"]).as_u64()
        }
    }
}

/// A role on an index opened each of its aliases.
#[test]
fn a_right_on_an_index_is_none_on_its_aliases() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        be(&mut client, "own", &[("i", None)]).await;
        let line = "{\"index\":{\"_index\":\"year\",\"_id\":\"8\"}}\n{}\n";
        for (method, target, body) in [
            ("GET", "/year/_search", ""),
            ("GET", "/year/_doc/1", ""),
            ("HEAD", "/year/_doc/1", ""),
            ("GET", "/year/_source/1", ""),
            ("PUT", "/year/_doc/9", r#"{"a":1}"#),
            ("POST", "/year/_update/1", r#"{"doc":{"a":1}}"#),
            ("DELETE", "/year/_doc/1", ""),
            ("POST", "/year/_delete_by_query", r#"{"query":{"match_all":{}}}"#),
            ("GET", "/year/_field_caps?fields=*", ""),
            ("GET", "/year/_explain/1", r#"{"query":{"match_all":{}}}"#),
            ("GET", "/year/_termvectors/1", ""),
            ("POST", "/year/_pit?keep_alive=1m", ""),
            ("GET", "/i,year/_search", ""),
            ("GET", "/few/_search", ""),
            ("GET", "/ds-a/_search", ""),
        ] {
            let answer = client.call(method, target, body).await;
            assert_eq!(answer.status, 403, "{method} {target}: {}", answer.text());
        }
        let answer = client.good("POST", "/_bulk", line).await;
        let item = &at(&answer, &["items"]).as_array().expect("items")[0];
        assert_eq!(item.at(&["index", "status"]).and_then(Value::as_u64), Some(403));
        let asked = r#"{"docs":[{"_index":"year","_id":"1"},{"_index":"i","_id":"1"}]}"#;
        let answer = client.good("POST", "/_mget", asked).await;
        let docs = at(&answer, &["docs"]).as_array().expect("documents");
        assert!(docs[0].get("error").is_some() && docs[1].get("error").is_none(), "{answer:?}");
        // A pattern shrinks to what may be asked for.
        for (names, found) in [("ye*", 0), ("*", 6), ("i*,y*", 6)] {
            assert_eq!(count(&mut client, names).await, Some(found), "{names}");
        }
    });
}

/// A second role, on the index behind an alias, took documents away from who had a role on the alias.
#[test]
fn those_roles_count_that_hold_the_name_that_is_asked_for() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        let one = json!({"term": {"a": 1}});
        be(&mut client, "two", &[("year", None), ("i", Some(one.clone()))]).await;
        for (names, found) in [
            ("year", Some(6)),
            ("i", Some(2)),
            // Its own name says what is seen of it; an alias that is not granted is refused beside it, too.
            ("i,year", Some(2)),
            ("i,few", None),
            ("few", None),
            ("ye*", Some(6)),
            ("i*", Some(2)),
            ("i*,y*", Some(2)),
        ] {
            assert_eq!(count(&mut client, names).await, found, "{names}");
        }
        be(&mut client, "three", &[("year", Some(one)), ("i", None)]).await;
        for (names, found) in [("year", Some(2)), ("i", Some(6)), ("i,year", Some(6))] {
            assert_eq!(count(&mut client, names).await, found, "{names}");
        }
        let answer = client.call("GET", "/year/_doc/0", "").await;
        assert_eq!(answer.status, 404, "it is hidden by this name: {}", answer.text());
        client.good("GET", "/i/_doc/0", "").await;
    });
}

/// A role on the index behind a data stream searched the stream and wrote to it.
#[test]
fn a_right_behind_a_data_stream_is_none_on_the_stream() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        be(&mut client, "behind", &[(".ds-ds-a*", None)]).await;
        let doc = r#"{"@timestamp":2}"#;
        for (method, target, body) in [
            ("GET", "/ds-a/_search", ""),
            ("POST", "/ds-a/_doc", doc),
            ("POST", "/ds-a/_rollover", ""),
            ("POST", "/ds-a/_update_by_query", ""),
        ] {
            let answer = client.call(method, target, body).await;
            assert_eq!(answer.status, 403, "{method} {target}: {}", answer.text());
        }
        assert_eq!(count(&mut client, "ds-*").await, Some(0));
        assert_eq!(count(&mut client, ".ds-ds-a*").await, Some(1));
        be(&mut client, "stream", &[("ds-*", None)]).await;
        assert_eq!(count(&mut client, "ds-a").await, Some(1));
        assert_eq!(count(&mut client, "ds-*").await, Some(1));
        assert_eq!(
            count(&mut client, ".ds-ds-a*").await,
            Some(1),
            "what a stream is granted, its indices are"
        );
        client.good("POST", "/ds-a/_doc?refresh=true", doc).await;
        assert_eq!(count(&mut client, "ds-a").await, Some(2));
    });
}
