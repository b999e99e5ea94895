//! Aliases: what may be set, and what is refused.

use std::collections::BTreeSet;

use json::{Value, json};

use crate::place::{Client, at, at_once, value, with_clients, with_node};

/// An answer that refuses: status, outer reason, and the kind and reason of its cause.
async fn refused(client: &mut Client, method: &str, target: &str, body: &str) -> String {
    let reply = client.call(method, target, body).await;
    let told = value(&reply);
    let text = |path: &[&str]| at(&told, path).as_str().unwrap_or("nothing").to_owned();
    format!(
        "{} {}; {}: {}",
        reply.status,
        text(&["error", "reason"]),
        text(&["error", "caused_by", "type"]),
        text(&["error", "caused_by", "reason"])
    )
}

fn begins(told: &str, wanted: &str) {
    assert!(told.starts_with(wanted), "{told}, not {wanted}");
}

/// Filters that are queries, but none that the index can answer: an alias took them, and every search
/// through it failed.
#[test]
fn a_filter_that_its_index_cannot_answer_is_refused() {
    const MAPPINGS: &str = r#""mappings":{"properties":{"n":{"type":"integer"},"d":{"type":"date"},
        "ip":{"type":"ip"},"t":{"type":"text"}}}"#;
    const FILTERS: &[(&str, &str)] = &[
        (r#"{"range":{"n":{"gte":"abc"}}}"#, r#"number_format_exception: For input string: "abc""#),
        (r#"{"term":{"n":"abc"}}"#, r#"number_format_exception: For input string: "abc""#),
        (
            r#"{"term":{"d":"junk"}}"#,
            "parse_exception: failed to parse date field [junk] with format \
             [strict_date_optional_time||epoch_millis]",
        ),
        (
            r#"{"term":{"ip":"junk"}}"#,
            "illegal_argument_exception: 'junk' is not an IP string literal.",
        ),
        (
            r#"{"nested":{"path":"gone","query":{"match_all":{}}}}"#,
            "illegal_state_exception: [nested] failed to find nested object under path [gone]",
        ),
        (r#"{"query_string":{"query":"(a"}}"#, "query_shard_exception: Failed to parse query [(a]"),
        (
            r#"{"geo_distance":{"distance":"1km","where":[0,0]}}"#,
            "query_shard_exception: failed to find geo field [where]",
        ),
        (
            r#"{"terms":{"n":{"index":"f","id":"1","path":"n"}}}"#,
            "illegal_state_exception: async actions are left after rewrite",
        ),
    ];
    with_node(|mut client| async move {
        client.good("PUT", "/f", &format!("{{{MAPPINGS}}}")).await;
        for (filter, why) in FILTERS {
            let told = format!("400 failed to parse filter for alias [x]; {why}");
            let body = format!(r#"{{"filter":{filter}}}"#);
            begins(&refused(&mut client, "PUT", "/f/_alias/x", &body).await, &told);
            // Nothing of a request happens of which a part cannot.
            let body = format!(
                r#"{{"actions":[{{"add":{{"index":"f","alias":"y"}}}},
                    {{"add":{{"index":"f","alias":"x","filter":{filter}}}}}]}}"#
            );
            begins(&refused(&mut client, "POST", "/_aliases", &body).await, &told);
            let body = format!(r#"{{{MAPPINGS},"aliases":{{"x":{{"filter":{filter}}}}}}}"#);
            begins(&refused(&mut client, "PUT", "/g", &body).await, &told);
            let body = format!(
                r#"{{"index_patterns":["g*"],"template":{{{MAPPINGS},"aliases":{{"x":{{"filter":{filter}}}}}}}}}"#
            );
            assert_eq!(
                refused(&mut client, "PUT", "/_index_template/g", &body).await,
                "400 composable template [g] template after composition is invalid; \
                 illegal_argument_exception: failed to parse filter for alias [x]"
            );
        }
        let regexp = r#"{"filter":{"regexp":{"t":"a("}}}"#;
        let told = refused(&mut client, "PUT", "/f/_alias/x", regexp).await;
        begins(&told, "400 failed to parse filter for alias [x]; illegal_argument_exception: ");
        assert_eq!(client.good("GET", "/f/_alias", "").await, json!({"f": {"aliases": {}}}));
        assert_eq!(client.call("HEAD", "/g", "").await.status, 404);
        assert_eq!(client.call("HEAD", "/_index_template/g", "").await.status, 404);
        // A field that is not there is no fault of the query: it finds nothing.
        for filter in [
            r#"{"term":{"gone":"abc"}}"#,
            r#"{"range":{"n":{"gte":7}}}"#,
            r#"{"geo_distance":{"distance":"1km","where":[0,0],"ignore_unmapped":true}}"#,
        ] {
            client.good("PUT", "/f/_alias/x", &format!(r#"{{"filter":{filter}}}"#)).await;
        }
    });
}

/// What a template of the old kind, a rollover or a first document makes is asked the same.
#[test]
fn an_index_made_by_others_takes_no_filter_that_it_cannot_answer() {
    with_node(|mut client| async move {
        let filter = r#"{"geo_distance":{"distance":"1km","where":[0,0]}}"#;
        let told = "400 failed to parse filter for alias [x]; query_shard_exception: failed to find \
                    geo field [where]";
        let body =
            format!(r#"{{"index_patterns":["o-*"],"aliases":{{"x":{{"filter":{filter}}}}}}}"#);
        client.good("PUT", "/_template/o", &body).await;
        assert_eq!(refused(&mut client, "PUT", "/o-1", "").await, told);
        assert_eq!(refused(&mut client, "PUT", "/o-1/_doc/1", "{}").await, told);
        let body = format!(
            r#"{{"mappings":{{"properties":{{"where":{{"type":"geo_point"}}}}}},
                "aliases":{{"x":{{"filter":{filter},"is_write_index":true}}}}}}"#
        );
        client.good("PUT", "/r-1", &body).await;
        assert_eq!(refused(&mut client, "POST", "/x/_rollover", "").await, told);
        let left: Value = client.good("GET", "/_alias/x", "").await;
        assert_eq!(at(&left, &["r-1", "aliases", "x", "is_write_index"]), &json!(true));
    });
}

/// They were passed over, so that a misspelt filter made an alias without one.
#[test]
fn what_the_body_of_an_alias_names_is_known() {
    with_node(|mut client| async move {
        client.good("PUT", "/u", "").await;
        for (body, told) in [
            (r#"{"foo":1}"#, "400 illegal_argument_exception: Unsupported field [foo]"),
            (
                r#"{"fliter":{"match_all":{}}}"#,
                "400 illegal_argument_exception: Unsupported field [fliter]",
            ),
            (r#"{"routing":[1]}"#, "400 parsing_exception: Unexpected token [START_ARRAY]"),
        ] {
            for (method, target) in [("PUT", "/u/_alias/x"), ("POST", "/u/_aliases/x")] {
                assert_eq!(client.bad(method, target, body).await, told);
            }
        }
        assert_eq!(client.call("HEAD", "/_alias/x", "").await.status, 404);
        let body =
            r#"{"index":"u","alias":"x","index-routing":1,"searchRouting":"2","is_hidden":true}"#;
        client.good("PUT", "/_alias", body).await;
        let said = json!({"index_routing": "1", "search_routing": "2", "is_hidden": true});
        assert_eq!(
            client.good("GET", "/u/_alias", "").await,
            json!({"u": {"aliases": {"x": said}}})
        );
    });
}

/// Each removes the alias from both indices and gives it to one: whatever the order, one has it. Once a
/// removal was judged when it was asked, and what another swap had set meanwhile stayed.
#[test]
fn swaps_at_the_same_time_leave_the_alias_to_one_index() {
    const REMOVES: &[&str] = &[
        r#"{"indices":["sw1","sw2"],"alias":"sv","must_exist":false}"#,
        r#"{"index":"sw*","alias":"sv"}"#,
        r#"{"index":"sw*","alias":"s*","must_exist":true}"#,
        r#"{"index":"*","aliases":["none","sv"]}"#,
    ];
    for (seed, remove) in (1..).zip(REMOVES) {
        with_clients(seed, 4, |mut clients| async move {
            for index in ["sw1", "sw2"] {
                clients[0].good("PUT", &format!("/{index}"), "").await;
            }
            clients[0].good("PUT", "/sw1/_alias/sv", r#"{"is_write_index":true}"#).await;
            for round in 0..12 {
                let swap = |at: usize| {
                    let to = (at + round) % 2 + 1;
                    let add = format!(r#"{{"index":"sw{to}","alias":"sv","is_write_index":true}}"#);
                    format!(r#"{{"actions":[{{"remove":{remove}}},{{"add":{add}}}]}}"#)
                };
                for reply in at_once(&mut clients, "POST", "/_aliases", swap).await {
                    assert_eq!(reply.status, 200, "{remove}: {}", reply.text());
                    assert!(reply.text().contains(r#""errors":false"#), "{}", reply.text());
                }
                let told = clients[round % 4].good("GET", "/_alias/sv", "").await;
                assert_eq!(told.as_object().map(json::Object::len), Some(1), "{remove}: {told:?}");
            }
        });
    }
}

/// The first swap finds nothing to remove, and the second what the first has set.
#[test]
fn a_removal_of_what_is_not_there_yet_is_kept() {
    with_clients(1, 2, |mut clients| async move {
        for index in ["sw1", "sw2"] {
            clients[0].good("PUT", &format!("/{index}"), "").await;
        }
        for name in ["sv", "s*"] {
            let swap = |at: usize| {
                format!(
                    r#"{{"actions":[
                        {{"remove":{{"index":"sw*","alias":"{name}","must_exist":false}}}},
                        {{"add":{{"index":"sw{}","alias":"sv"}}}}]}}"#,
                    at + 1
                )
            };
            for reply in at_once(&mut clients, "POST", "/_aliases", swap).await {
                assert_eq!(reply.status, 200, "{}", reply.text());
            }
            let told = clients[0].good("GET", "/_alias/sv", "").await;
            assert_eq!(told.as_object().map(json::Object::len), Some(1), "{name}: {told:?}");
            clients[0].good("DELETE", "/sw*/_alias/sv", "").await;
        }
        // Of two that take away the same, one finds nothing.
        clients[0].good("PUT", "/sw1/_alias/sv", "").await;
        let gone = at_once(&mut clients, "DELETE", "/sw1/_alias/sv", |_| String::new()).await;
        let mut told: Vec<u16> = gone.iter().map(|reply| reply.status).collect();
        told.sort_unstable();
        assert_eq!(told, [200, 404]);
    });
}

/// A wildcard passed over data streams, so an alias was put on a part of what it had been asked for.
#[test]
fn a_pattern_that_meets_data_streams_sets_no_alias() {
    with_node(|mut client| async move {
        let client = &mut client;
        let template = r#"{"index_patterns":["logs-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/logs-s", "").await;
        for index in ["m", "logsold"] {
            client.good("PUT", &format!("/{index}"), "").await;
        }
        let action = |kind: &str, list: &str| {
            let alias = if kind == "remove_index" { "" } else { r#","alias":"x""# };
            format!(r#"{{"actions":[{{"{kind}":{{"indices":{list}{alias}}}}}]}}"#)
        };
        let stream = "400 illegal_argument_exception: [logs-s] is a data stream, and aliases of data \
                      streams are not supported";
        for (list, told) in [
            (r#"["*"]"#, "[*]"),
            (r#"["_all"]"#, "[_all]"),
            (r#"["logs*","-m"]"#, "[logs*, -m]"),
            (r#"["m","logs-s"]"#, "[m, logs-s]"),
        ] {
            let told = format!(
                "400 illegal_argument_exception: expressions {told} that match with both data streams \
                 and regular indices are disallowed"
            );
            assert_eq!(client.bad("POST", "/_aliases", &action("add", list)).await, told);
            assert_eq!(
                client.bad("POST", "/_aliases", &action("remove_index", list)).await,
                "400 illegal_argument_exception: Unsupported action [REMOVE_INDEX]"
            );
        }
        assert_eq!(client.bad("PUT", "/logs-*/_alias/x", "").await, stream);
        // What is taken out is not met.
        let without = action("add", r#"["logs*","-logs-s"]"#);
        client.good("POST", "/_aliases", &without).await;
        let backing = action("add", r#"[".ds-logs*","m"]"#);
        let told = client.bad("POST", "/_aliases", &backing).await;
        begins(
            &told,
            "400 illegal_argument_exception: The provided expressions [.ds-logs*,m] match a backing index \
             belonging to data stream [logs-s]. Data stream",
        );
        // To be taken away an alias may be looked for everywhere.
        client.good("POST", "/_aliases", &action("remove", r#"["*"]"#)).await;
        let left = client.good("GET", "/_alias", "").await;
        assert_eq!(at(&left, &["logsold", "aliases"]), &json!({}));
    });
}

/// The documents of one request were of two indices, where their alias was moved while it was answered; and the
/// shard that was asked could be of the one, the document of the other.
#[test]
fn term_vectors_of_a_request_are_of_one_index() {
    for seed in 0..8 {
        with_clients(seed, 2, |clients| async move {
            let [mut mover, mut reader]: [Client; 2] = clients.try_into().ok().expect("two");
            for index in ["a", "b"] {
                mover.good("PUT", &format!("/{index}/_doc/1?refresh"), r#"{"t":"word"}"#).await;
            }
            mover.good("PUT", "/a/_alias/m", "").await;
            let body = json::to_string(&json!({"ids": (vec!["1"; 60])}));
            let moves = |from: &str, to: &str| {
                format!(
                    r#"{{"actions":[{{"remove":{{"index":"{from}","alias":"m"}}}},{{"add":{{"index":"{to}","alias":"m"}}}}]}}"#
                )
            };
            let json = [("content-type", "application/json")];
            for (from, to) in [("a", "b"), ("b", "a"), ("a", "b"), ("b", "a")] {
                mover.send("POST", "/_aliases", &json, moves(from, to).as_bytes()).await;
                for _ in 0..4 {
                    let told = reader.good("POST", "/m/_mtermvectors", &body).await;
                    let docs = at(&told, &["docs"]).as_array().expect("a list");
                    let names: BTreeSet<&str> =
                        docs.iter().filter_map(|doc| at(doc, &["_index"]).as_str()).collect();
                    assert_eq!(names.len(), 1, "seed {seed}: {names:?}");
                }
                assert_eq!(mover.answer("POST", "/_aliases").await.status, 200);
            }
        });
    }
}

/// A pattern took closed indices along: with `remove_index` it deleted what nobody had named.
#[test]
fn a_pattern_means_open_indices() {
    with_node(|mut client| async move {
        let client = &mut client;
        for index in ["q-open", "q-closed", "r-closed"] {
            client.good("PUT", &format!("/{index}"), r#"{"aliases":{"was":{}}}"#).await;
        }
        client.good("POST", "/q-closed,r-closed/_close", "").await;
        client.good("PUT", "/q-*/_alias/x", "").await;
        client.good("DELETE", "/q-*/_alias/was", "").await;
        let seen = client.good("GET", "/q-*/_alias?expand_wildcards=all", "").await;
        assert!(at(&seen, &["q-open", "aliases"]).get("x").is_some(), "{seen:?}");
        assert!(at(&seen, &["q-open", "aliases"]).get("was").is_none(), "{seen:?}");
        assert!(at(&seen, &["q-closed", "aliases"]).get("x").is_none(), "{seen:?}");
        assert!(at(&seen, &["q-closed", "aliases"]).get("was").is_some(), "{seen:?}");
        let remove =
            |index: &str| format!(r#"{{"actions":[{{"remove_index":{{"index":"{index}"}}}}]}}"#);
        let told = client.bad("POST", "/_aliases", &remove("r-*")).await;
        begins(&told, "404 index_not_found_exception: no such index [r-*]");
        client.good("POST", "/_aliases", &remove("q-*")).await;
        assert_eq!(client.call("HEAD", "/q-open", "").await.status, 404);
        assert_eq!(client.call("HEAD", "/q-closed", "").await.status, 200);
        // Whoever means a closed index names it.
        client.good("PUT", "/q-closed/_alias/x", "").await;
        client.good("POST", "/_aliases", &remove("q-closed")).await;
        assert_eq!(client.call("HEAD", "/q-closed", "").await.status, 404);
    });
}

/// What the body says of an alias counted for nothing where the path had said it; `HEAD` was 404 where `GET` was 200.
#[test]
fn an_alias_is_named_by_its_body_before_its_path() {
    with_node(|mut client| async move {
        for index in ["a1", "a2"] {
            client.good("PUT", &format!("/{index}"), "").await;
        }
        client.good("PUT", "/a1/_alias/d8", r#"{"alias":"d9"}"#).await;
        client.good("PUT", "/a1/_alias/x", r#"{"index":"a2"}"#).await;
        let all = client.good("GET", "/_alias", "").await;
        let none = json!({});
        let expected =
            json!({"a1": {"aliases": {"d9": (none.clone())}}, "a2": {"aliases": {"x": none}}});
        assert_eq!(all, expected);
        for (target, status) in [
            ("/_alias/nope*", 200),
            ("/a1/_alias/zz*", 200),
            ("/zz*/_alias", 200),
            ("/a1/_alias/d9", 200),
            ("/_alias/d8", 404),
            ("/zz/_alias", 404),
        ] {
            for method in ["GET", "HEAD"] {
                assert_eq!(
                    client.call(method, target, "").await.status,
                    status,
                    "{method} {target}"
                );
            }
        }
        let remove = r#"{"actions":[{"remove_index":{"index":"a1","must_exist":true}}]}"#;
        let told = client.call("POST", "/_aliases", remove).await;
        assert_eq!(told.status, 400);
        let text = told.text();
        assert!(text.contains("[remove_index] unknown field [must_exist]"), "{text}");
    });
}
