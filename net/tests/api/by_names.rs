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

/// With `index_filter`, whoever has a right on an alias alone was refused by the name of the index behind it.
#[test]
fn a_filter_of_field_caps_is_asked_by_the_name_that_opens() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        for (name, value, is_kept) in
            [("year", 1, true), ("year", 7, false), ("few", 2, true), ("few", 1, false)]
        {
            be(&mut client, "own", &[(name, None)]).await;
            let body = format!("{{\"index_filter\":{{\"term\":{{\"a\":{value}}}}}}}");
            let found = client.good("POST", &format!("/{name}/_field_caps?fields=a"), &body).await;
            let expected = if is_kept { json!(["i"]) } else { json!([]) };
            assert_eq!(at(&found, &["indices"]), &expected, "{name}: {value}");
        }
        // All names that lead there count together, and what is seen by its own does not.
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/i/_alias/one", r#"{"filter":{"term":{"a":1}}}"#).await;
        be(
            &mut client,
            "own",
            &[("one", None), ("few", None), ("i", Some(json!({"term": {"a": 0}})))],
        )
        .await;
        for (names, value, is_kept) in
            [("one,few", 1, true), ("one,few", 2, true), ("one,few", 0, false), ("i", 0, true)]
        {
            let body = format!("{{\"index_filter\":{{\"term\":{{\"a\":{value}}}}}}}");
            let found = client.good("POST", &format!("/{names}/_field_caps?fields=a"), &body).await;
            let expected = if is_kept { json!(["i"]) } else { json!([]) };
            assert_eq!(at(&found, &["indices"]), &expected, "{names}: {value}");
        }
    });
}

/// An exclusion, the boost of an index, a removal, a condition on a name said whether an alias is there.
#[test]
fn what_may_not_be_asked_for_is_as_if_it_were_not_there() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        client.good("PUT", "/shut", "").await;
        client.good("POST", "/shut/_close", "").await;
        be(&mut client, "own", &[("i", None)]).await;
        let boost = |name: &str| format!("{{\"indices_boost\":[{{\"{name}\":7}}]}}");
        let removed = |name: &str| {
            format!(
                "{{\"actions\":[{{\"remove\":{{\"index\":\"i\",\"alias\":\"{name}\",\"must_exist\":false}}}}]}}"
            )
        };
        let gone = "?ignore_unavailable=true&allow_no_indices=false";
        for (there, not) in [("year", "zzzz"), ("few", "zzz"), ("ds-a", "zz-a"), ("shut", "zzzz")] {
            let mut told = Vec::new();
            for name in [there, not] {
                let calls = [
                    ("GET", format!("/*,-{name}/_count"), String::new()),
                    ("GET", format!("/*,-{}*/_count", &name[..2]), String::new()),
                    ("GET", format!("/*,-*{}/_count", &name[1..]), String::new()),
                    (
                        "POST",
                        "/i/_search?filter_path=hits.max_score".into(),
                        boost(&format!("{}*", &name[..2])),
                    ),
                    ("POST", "/i/_search?filter_path=hits.max_score".into(), boost(name)),
                    ("GET", format!("/{name}/_search{gone}"), String::new()),
                    ("GET", format!("/i,{name}/_count?ignore_unavailable=true"), String::new()),
                    ("GET", format!("/{name}/_count"), String::new()),
                    ("GET", format!("/{name}/_mapping"), String::new()),
                    ("POST", format!("/{name}/_refresh{gone}"), String::new()),
                    ("DELETE", format!("/{name}{gone}"), String::new()),
                    ("POST", format!("/{name}/_doc?require_alias=true"), "{}".into()),
                    ("POST", "/_aliases".into(), removed(name)),
                    ("DELETE", format!("/i/_alias/{name}"), String::new()),
                    (
                        "POST",
                        "/_reindex".into(),
                        format!(
                            "{{\"source\":{{\"index\":\"i\"}},\"dest\":{{\"index\":\"{name}\"}}}}"
                        ),
                    ),
                ];
                let mut answers = Vec::new();
                for (method, target, body) in calls {
                    let answer = client.call(method, &target, &body).await;
                    let text = answer.text().replace(name, "NAME");
                    // How long it took is told where documents are copied, and whose they are in what came of it.
                    let text = if target == "/_reindex" { String::new() } else { text };
                    answers.push((
                        target
                            .replace(name, "NAME")
                            .replace(&name[..2], "NA")
                            .replace(&name[1..], "AME"),
                        answer.status,
                        text,
                    ));
                }
                told.push(answers);
            }
            for (one, other) in told[0].iter().zip(&told[1]) {
                assert_eq!((one.1, &one.2), (other.1, &other.2), "{there}: {}", one.0);
            }
        }
    });
}

/// Who held a stream, or an alias, could not roll it over without a right on the index that it makes.
#[test]
fn who_manages_a_name_rolls_it_over() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        client.good("PUT", "/roll-000001", r#"{"aliases":{"roll":{}}}"#).await;
        client.good("PUT", "/taken", "").await;
        let role = json!({"indices": [{"names": ["ds-a", "roll"], "privileges": ["manage"]}]});
        client.good("PUT", "/_security/role/managing", &json::to_string(&role)).await;
        let user = r#"{"password":"nobody-knows-this","roles":["managing"]}"#;
        client.good("PUT", "/_security/user/managing", user).await;
        client.authorize(Some(&basic("managing", "nobody-knows-this")));
        for name in ["ds-a", "roll"] {
            let done = client.good("POST", &format!("/{name}/_rollover"), "").await;
            assert_eq!(at(&done, &["rolled_over"]).as_bool(), Some(true), "{name}");
        }
        // Another name than the next one must be granted, be it there or not.
        for name in ["taken", "free"] {
            for more in ["", "?dry_run=true"] {
                let answer =
                    client.call("POST", &format!("/roll/_rollover/{name}{more}"), "").await;
                assert_eq!(answer.status, 403, "{name}: {}", answer.text());
            }
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
