//! Data streams: what writes to them, and what they take.

use http::client::Response;
use json::Value;

use crate::browser::basic;
use crate::place::{at, at_once, failure, value, with_clients, with_node, with_security};

/// It was answered with 404 for every data stream; of a bulk request even as a whole.
#[test]
fn a_write_may_ask_for_a_data_stream() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ds-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/ds-m", "").await;
        client.good("PUT", "/i", r#"{"aliases":{"al":{}}}"#).await;
        let doc = r#"{"@timestamp":1}"#;
        client.good("POST", "/ds-m/_doc?require_data_stream=true", doc).await;
        client.good("PUT", "/ds-m/_create/q1?require_data_stream=true", doc).await;
        // The write may make the stream.
        client.good("POST", "/ds-n/_doc?require_data_stream", doc).await;
        let found = client.good("GET", "/_data_stream/ds-n", "").await;
        assert_eq!(at(&found, &["data_streams"]).as_array().map_or(0, <[_]>::len), 1);
        for name in ["i", "al"] {
            assert_eq!(
                client.bad("POST", &format!("/{name}/_doc?require_data_stream=true"), doc).await,
                format!(
                    "404 resource_not_found_exception: [require_data_stream] request flag is [true] and \
                     [{name}] is not a data stream"
                )
            );
        }
        let none = "no such index [x] and the index creation request requires a data stream, but no \
                    matching index template with data stream template was found for it";
        assert_eq!(
            client.bad("POST", "/x/_doc?require_data_stream=true", doc).await,
            format!("404 index_not_found_exception: {none}")
        );
        let body = r#"{"create":{"_index":"ds-m"}}
{"@timestamp":1}
{"create":{"_index":"ds-o"}}
{"@timestamp":1}
{"index":{"_index":"x"}}
{}
{"index":{"_index":"i"}}
{}
{"index":{"_index":"i","require_data_stream":false}}
{}
{"delete":{"_index":"i","_id":"1"}}
"#;
        let done = client.good("POST", "/_bulk?require_data_stream=true", body).await;
        let items = at(&done, &["items"]).as_array().expect("items");
        let told: Vec<(u64, String)> = items
            .iter()
            .filter_map(|item| {
                let (_, item) = item.as_object()?.iter().next()?;
                let reason = item.at(&["error", "reason"]).and_then(|reason| reason.as_str());
                Some((item.get("status")?.as_u64()?, reason.unwrap_or_default().to_owned()))
            })
            .collect();
        let plain = "[require_data_stream] request flag is [true] and [i] is not a data stream";
        assert_eq!(
            told,
            [(201, ""), (201, ""), (404, none), (404, plain), (201, ""), (404, "")]
                .map(|(status, reason)| (status, reason.to_owned()))
        );
        // In the action line alone.
        let line = r#"{"create":{"_index":"ds-m","require_data_stream":true}}
{"@timestamp":1}
"#;
        let done = client.good("POST", "/_bulk", line).await;
        assert_eq!(at(&done, &["errors"]).as_bool(), Some(false));
        // What adds nothing knows no such parameter.
        for (method, target) in [("DELETE", "/i/_doc/1"), ("POST", "/i/_update/1")] {
            let target = format!("{target}?require_data_stream=true");
            let told = client.bad(method, &target, "").await;
            assert!(told.contains("unrecognized parameter: [require_data_stream]"), "{told}");
        }
    });
}

/// Any index was taken, whatever its documents hold and whatever else it is called.
#[test]
fn what_becomes_a_backing_index_says_when_it_happened() {
    const ILLEGAL: &str = "400 illegal_argument_exception:";
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ds-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        for name in ["m", "n"] {
            client.good("PUT", &format!("/_data_stream/ds-{name}"), "").await;
        }
        let dated = r#"{"properties":{"@timestamp":{"type":"date"}}}"#;
        for (name, mappings, aliases) in [
            ("bare", "{}", ""),
            ("text", r#"{"properties":{"@timestamp":{"type":"keyword"}}}"#, ""),
            ("other", r#"{"properties":{"a":{"type":"date"}}}"#, ""),
            ("one", dated, r#""z":{}"#),
            ("two", dated, r#""z":{},"y":{}"#),
            ("good", dated, ""),
        ] {
            let body = format!(r#"{{"mappings":{mappings},"aliases":{{{aliases}}}}}"#);
            client.good("PUT", &format!("/{name}"), &body).await;
        }
        let add = |index: &str, stream: &str| {
            format!(r#"{{"add_backing_index":{{"data_stream":"{stream}","index":"{index}"}}}}"#)
        };
        const FIELD: &str = "data stream timestamp field [@timestamp]";
        for (name, told) in [
            ("bare", "backing index [bare] must have mappings for a timestamp field".to_owned()),
            ("text", format!("{FIELD} is of type [keyword], but [date,date_nanos] is expected")),
            ("other", format!("{FIELD} does not exist")),
            (
                "one",
                "cannot add index [one] to data stream [ds-m] until its alias [z] is removed"
                    .into(),
            ),
            (
                "two",
                "cannot add index [two] to data stream [ds-m] until its aliases [y,z] are removed"
                    .into(),
            ),
        ] {
            let body = format!(r#"{{"actions":[{}]}}"#, add(name, "ds-m"));
            let found = client.bad("POST", "/_data_stream/_modify", &body).await;
            assert_eq!(found, format!("{ILLEGAL} {told}"));
        }
        // To one stream only, in one request too; once there it stays.
        let both = format!(r#"{{"actions":[{},{}]}}"#, add("good", "ds-m"), add("good", "ds-n"));
        assert_eq!(
            client.bad("POST", "/_data_stream/_modify", &both).await,
            format!(
                "{ILLEGAL} cannot add index [good] to data stream [ds-n] because it is already a \
                 backing index on data stream [ds-m]"
            )
        );
        let twice = format!(r#"{{"actions":[{},{}]}}"#, add("good", "ds-m"), add("good", "ds-m"));
        client.good("POST", "/_data_stream/_modify", &twice).await;
        let found = client.good("GET", "/_data_stream/ds-m", "").await;
        let stream = &at(&found, &["data_streams"]).as_array().expect("a list")[0];
        assert_eq!(at(stream, &["indices"]).as_array().map_or(0, <[_]>::len), 2);
        // From one to the other.
        let moved = format!(
            r#"{{"actions":[{{"remove_backing_index":{{"data_stream":"ds-m","index":"good"}}}},{}]}}"#,
            add("good", "ds-n")
        );
        client.good("POST", "/_data_stream/_modify", &moved).await;
        // An alias is made a stream by the same rule.
        client.good("PUT", "/x", r#"{"aliases":{"ds-x":{}}}"#).await;
        assert_eq!(
            client.bad("POST", "/_data_stream/_migrate/ds-x", "").await,
            format!("{ILLEGAL} backing index [x] must have mappings for a timestamp field")
        );
        client.good("PUT", "/x/_mapping", r#"{"properties":{"@timestamp":{"type":"ip"}}}"#).await;
        assert_eq!(
            client.bad("POST", "/_data_stream/_migrate/ds-x", "").await,
            format!("{ILLEGAL} {FIELD} is of type [ip], but [date,date_nanos] is expected")
        );
    });
}

/// `allow_custom_routing: false` was shown and not obeyed.
#[test]
fn a_routing_value_is_taken_where_the_template_allows_it() {
    with_node(|mut client| async move {
        let no = r#"{"index_patterns":["ds-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", no).await;
        let yes = r#"{"index_patterns":["dr-*"],"data_stream":{"allow_custom_routing":true}}"#;
        client.good("PUT", "/_index_template/r", yes).await;
        let doc = r#"{"@timestamp":1}"#;
        let why = "index request targeting data stream [ds-m] specifies a custom routing but the \
                   [allow_custom_routing] setting was not enabled in the data stream's template.";
        let told = format!("400 illegal_argument_exception: {why}");
        assert_eq!(client.bad("PUT", "/ds-m/_create/1?routing=x", doc).await, told);
        assert_eq!(client.bad("POST", "/ds-m/_doc?routing=x&op_type=create", doc).await, told);
        client.good("PUT", "/dr-m/_create/1?routing=x", doc).await;
        let got = client.good("GET", "/dr-m/_doc/1?routing=x", "").await;
        assert_eq!(at(&got, &["_routing"]).as_str(), Some("x"));
        let body = r#"{"create":{"_index":"ds-m","routing":"x"}}
{"@timestamp":1}
{"create":{"_index":"dr-m","routing":"x"}}
{"@timestamp":1}
{"create":{"_index":"ds-m"}}
{"@timestamp":1}
"#;
        let done = client.good("POST", "/_bulk", body).await;
        let items = at(&done, &["items"]).as_array().expect("items");
        let reason = at(&items[0], &["create", "error", "reason"]);
        assert_eq!(reason.as_str(), Some(why));
        for item in &items[1..] {
            assert_eq!(at(item, &["create", "status"]).as_u64(), Some(201));
        }
    });
}

/// Calls without a name roll over one after the other. Once all but the first were told that the index of
/// the first exists.
#[test]
fn rollovers_at_the_same_time_are_done_one_after_the_other() {
    with_clients(3, 8, |mut clients| async move {
        clients[0].good("PUT", "/rq-000001", r#"{"aliases":{"rq":{"is_write_index":true}}}"#).await;
        clients[0].good("PUT", "/sole-1", r#"{"aliases":{"sole":{}}}"#).await;
        clients[0]
            .good("PUT", "/_index_template/d", r#"{"index_patterns":["ds"],"data_stream":{}}"#)
            .await;
        clients[0].good("PUT", "/_data_stream/ds", "").await;
        for target in ["rq", "sole", "ds"] {
            let path = format!("/{target}/_rollover");
            let mut last = Vec::new();
            for reply in at_once(&mut clients, "POST", &path, |_| String::new()).await {
                assert_eq!(reply.status, 200, "{}", reply.text());
                let told = value(&reply);
                assert_eq!(at(&told, &["rolled_over"]).as_bool(), Some(true), "{told:?}");
                last.push(at(&told, &["new_index"]).as_str().expect("a name").to_owned());
            }
            last.sort();
            let numbers: Vec<&str> = last.iter().map(|name| &name[name.len() - 6..]).collect();
            let wanted: Vec<String> = (2..10).map(|number| format!("{number:06}")).collect();
            assert_eq!(numbers, wanted, "{target}");
        }
    });
}

/// Whoever was slower finds that the newest index has not come so far.
#[test]
fn rollovers_whose_conditions_another_has_met_do_nothing() {
    with_clients(4, 8, |mut clients| async move {
        clients[0].good("PUT", "/rq-000001", r#"{"aliases":{"rq":{"is_write_index":true}}}"#).await;
        clients[0].good("PUT", "/rq/_doc/1?refresh=true", "{}").await;
        let condition = |_| r#"{"conditions":{"max_docs":1}}"#.to_owned();
        let told = at_once(&mut clients, "POST", "/rq/_rollover", condition).await;
        let mut rolled = 0;
        for reply in &told {
            assert_eq!(reply.status, 200, "{}", reply.text());
            rolled += u32::from(at(&value(reply), &["rolled_over"]).as_bool() == Some(true));
        }
        assert_eq!(rolled, 1);
        // A name that is given is taken once.
        let named = at_once(&mut clients, "POST", "/rq/_rollover/rq-x", |_| String::new()).await;
        let mut told: Vec<u16> = named.iter().map(|reply| reply.status).collect();
        told.sort_unstable();
        assert_eq!(told, [200, 400, 400, 400, 400, 400, 400, 400]);
    });
}

/// A change of a stream's indices that was worked out before a rollover took the index away to which the writes
/// went by then, or was refused, or had the rollover refused, with 500.
#[test]
fn a_stream_is_changed_and_rolled_over_at_the_same_time() {
    for seed in 0..6 {
        with_clients(seed, 5, |mut clients| async move {
            let template = r#"{"index_patterns":["ds"],"data_stream":{}}"#;
            clients[0].good("PUT", "/_index_template/d", template).await;
            clients[0].good("PUT", "/_data_stream/ds", "").await;
            let dated = r#"{"mappings":{"properties":{"@timestamp":{"type":"date"}}}}"#;
            for number in 0..12 {
                clients[0].good("PUT", &format!("/m{number}"), dated).await;
            }
            let add = |first: usize| {
                let action = |number: usize| {
                    format!(r#"{{"add_backing_index":{{"data_stream":"ds","index":"m{number}"}}}}"#)
                };
                format!(r#"{{"actions":[{},{}]}}"#, action(first), action(first + 1))
            };
            for round in 0..3 {
                // Two change it, one rolls it over, one has the next write do so, and one writes.
                let calls = clients.iter_mut().enumerate().map(|(at, client)| {
                    let (method, target, body) = match at {
                        0 | 1 => ("POST", "/_data_stream/_modify", add(4 * round + 2 * at)),
                        2 => ("POST", "/ds/_rollover", String::new()),
                        3 => ("POST", "/ds/_rollover?lazy=true", String::new()),
                        _ => ("POST", "/ds/_doc", r#"{"@timestamp":1}"#.to_owned()),
                    };
                    Box::pin(async move {
                        for _ in 0..if at == 4 { 4 } else { 1 } {
                            client.good(method, target, &body).await;
                        }
                    })
                });
                env::join_all(calls.collect()).await;
            }
            let told = clients[0].good("GET", "/_data_stream/ds", "").await;
            let stream = &at(&told, &["data_streams"]).as_array().expect("a list")[0];
            let indices = at(stream, &["indices"]).as_array().expect("a list");
            let names: Vec<&str> =
                indices.iter().filter_map(|one| at(one, &["index_name"]).as_str()).collect();
            for number in 0..12 {
                assert!(names.contains(&format!("m{number}").as_str()), "seed {seed}: {names:?}");
            }
            let own = names.iter().filter(|name| name.starts_with(".ds-")).count();
            let made = clients[0].good("GET", "/.ds-*?expand_wildcards=all", "").await;
            assert_eq!(
                made.as_object().map_or(0, json::Object::len),
                own,
                "seed {seed}: {names:?}"
            );
            assert!(own >= 4, "seed {seed}: {names:?}");
            clients[0].good("POST", "/ds/_refresh", "").await;
            let found = clients[0].good("GET", "/ds/_count", "").await;
            assert_eq!(at(&found, &["count"]).as_u64(), Some(12), "seed {seed}: what was written");
        });
    }
}

/// It was refused for ever.
#[test]
fn a_rollover_passes_over_names_that_are_taken() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ds"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/d", template).await;
        client.good("PUT", "/_data_stream/ds", "").await;
        let told = client.good("GET", "/_data_stream/ds", "").await;
        let first = &at(&told, &["data_streams"]).as_array().expect("a list")[0];
        let first = &at(first, &["indices"]).as_array().expect("a list")[0];
        let first = at(first, &["index_name"]).as_str().expect("a name").to_owned();
        let name = |number: u32| first.replace("-000001", &format!("-{number:06}"));
        client.good("PUT", &format!("/{}", name(2)), "").await;
        let aliased = format!(r#"{{"aliases":{{"{}":{{}}}}}}"#, name(3));
        client.good("PUT", "/x", &aliased).await;
        let rolled = client.good("POST", "/ds/_rollover", "").await;
        assert_eq!(at(&rolled, &["new_index"]).as_str(), Some(name(4).as_str()));
        let told = client.good("GET", "/_data_stream/ds", "").await;
        let stream = &at(&told, &["data_streams"]).as_array().expect("a list")[0];
        assert_eq!(at(stream, &["generation"]).as_u64(), Some(4));
        let rolled = client.good("POST", "/ds/_rollover", "").await;
        assert_eq!(at(&rolled, &["new_index"]).as_str(), Some(name(5).as_str()));
    });
}

/// Two streams that were given one index at the same time both had it: with the one went the documents of the
/// other. An alias that was set meanwhile stayed, too.
#[test]
fn an_index_is_of_one_data_stream_and_has_no_alias() {
    for seed in 0..6 {
        with_clients(seed, 3, |mut clients| async move {
            let template = r#"{"index_patterns":["ds*"],"data_stream":{}}"#;
            clients[0].good("PUT", "/_index_template/d", template).await;
            let dated = r#"{"mappings":{"properties":{"@timestamp":{"type":"date"}}}}"#;
            for path in ["/_data_stream/ds1", "/_data_stream/ds2"] {
                clients[0].good("PUT", path, "").await;
            }
            clients[0].good("PUT", "/m", dated).await;
            let add = |at: usize| match at {
                0 | 1 => format!(
                    r#"{{"actions":[{{"add_backing_index":{{"data_stream":"ds{}","index":"m"}}}}]}}"#,
                    at + 1
                ),
                _ => r#"{"actions":[{"add":{"index":"m","alias":"al"}}]}"#.to_owned(),
            };
            let calls = clients.iter_mut().enumerate().map(|(at, client)| {
                let target = if at == 2 { "/_aliases" } else { "/_data_stream/_modify" };
                Box::pin(async move { client.call("POST", target, &add(at)).await })
            });
            let told: Vec<Response> = env::join_all(calls.collect()).await;
            let done = told.iter().filter(|one| one.status == 200).count();
            assert_eq!(done, 1, "seed {seed}");
            for one in told.iter().filter(|one| one.status != 200) {
                let told = failure(one);
                let words =
                    ["cannot add index [m] to data stream", "match a backing index belonging"];
                assert!(
                    told.starts_with("400 illegal_argument_exception: "),
                    "seed {seed}: {told}"
                );
                assert!(words.iter().any(|words| told.contains(words)), "seed {seed}: {told}");
            }
        });
    }
    // From one to the other in one request, whichever comes first by its name.
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ds*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/d", template).await;
        let dated = r#"{"mappings":{"properties":{"@timestamp":{"type":"date"}}}}"#;
        client.good("PUT", "/m", dated).await;
        for name in ["ds1", "ds2"] {
            client.good("PUT", &format!("/_data_stream/{name}"), "").await;
        }
        let action = |what: &str, stream: &str| {
            format!(r#"{{"{what}":{{"data_stream":"{stream}","index":"m"}}}}"#)
        };
        let add = |stream| action("add_backing_index", stream);
        for (from, to) in [("", "ds1"), ("ds1", "ds2"), ("ds2", "ds1")] {
            let actions = match from {
                "" => add(to),
                from => format!("{},{}", action("remove_backing_index", from), add(to)),
            };
            let body = format!(r#"{{"actions":[{actions}]}}"#);
            client.good("POST", "/_data_stream/_modify", &body).await;
            let told = client.good("GET", "/m", "").await;
            assert_eq!(at(&told, &["m", "data_stream"]).as_str(), Some(to));
        }
    });
}

/// All but one were told that its first index exists.
#[test]
fn a_data_stream_is_made_once() {
    with_clients(7, 4, |mut clients| async move {
        let template = r#"{"index_patterns":["ds"],"data_stream":{}}"#;
        clients[0].good("PUT", "/_index_template/d", template).await;
        let told = at_once(&mut clients, "PUT", "/_data_stream/ds", |_| String::new()).await;
        let refused: Vec<String> =
            told.iter().filter(|one| one.status != 200).map(failure).collect();
        let there = "400 resource_already_exists_exception: data_stream [ds] already exists";
        assert_eq!(refused, [there; 3]);
    });
}

/// Rights on a stream reached what was called like an index of it, though it was taken out, and not what was
/// put in under another name.
#[test]
fn rights_on_a_stream_reach_the_indices_that_it_has() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let template = r#"{"index_patterns":["ds"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/d", template).await;
        client.good("PUT", "/ds/_create/old?refresh", r#"{"@timestamp":1,"n":1}"#).await;
        let rolled = client.good("POST", "/ds/_rollover", "").await;
        let first = at(&rolled, &["old_index"]).as_str().expect("a name").to_owned();
        client.good("PUT", "/ds/_create/new?refresh", r#"{"@timestamp":2,"n":1}"#).await;
        let dated = r#"{"mappings":{"properties":{"@timestamp":{"type":"date"}}}}"#;
        client.good("PUT", "/archive", dated).await;
        client.good("PUT", "/archive/_doc/kept?refresh", r#"{"@timestamp":0,"n":1,"m":1}"#).await;
        client.good("PUT", "/archive/_doc/not?refresh", r#"{"@timestamp":0,"n":2,"m":1}"#).await;
        let role = r#"{"indices":[{"names":["ds"],"privileges":["read"],"query":{"term":{"n":1}},
            "field_security":{"grant":["@timestamp","n"]}}]}"#;
        client.good("PUT", "/_security/role/r", role).await;
        let user = r#"{"password":"long-enough","roles":["r"]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let (admin, ann) = (basic("elastic", "secret"), basic("ann", "long-enough"));
        let modify = |what: &str, index: &str| {
            format!(r#"{{"actions":[{{"{what}":{{"data_stream":"ds","index":"{index}"}}}}]}}"#)
        };
        let denied = "403 security_exception";
        for round in 0..2 {
            let (inside, outside, found) = match round {
                0 => (first.as_str(), "archive", ["new", "old"]),
                _ => ("archive", first.as_str(), ["kept", "new"]),
            };
            client.authorize(Some(&ann));
            let told = client.good("GET", "/ds/_search", "").await;
            let hits = at(&told, &["hits", "hits"]).as_array().expect("hits");
            let mut ids: Vec<&str> =
                hits.iter().filter_map(|hit| at(hit, &["_id"]).as_str()).collect();
            ids.sort_unstable();
            assert_eq!(ids, found);
            for hit in hits {
                assert!(at(hit, &["_source"]).get("m").is_none(), "a field that is hidden");
            }
            let told = client.good("GET", &format!("/{inside}/_search"), "").await;
            assert_eq!(at(&told, &["hits", "total", "value"]).as_u64(), Some(1), "{inside}");
            let told = client.bad("GET", &format!("/{outside}/_search"), "").await;
            assert!(told.starts_with(denied), "{outside}: {told}");
            let body = format!(r#"{{"docs":[{{"_index":"{outside}","_id":"old"}}]}}"#);
            let told = client.good("POST", "/_mget", &body).await;
            let doc = &at(&told, &["docs"]).as_array().expect("a list")[0];
            assert_eq!(at(doc, &["error", "type"]).as_str(), Some("security_exception"));
            client.authorize(Some(&admin));
            if round == 0 {
                let changes = [("add_backing_index", "archive"), ("remove_backing_index", &first)];
                for (what, index) in changes {
                    client.good("POST", "/_data_stream/_modify", &modify(what, index)).await;
                }
            }
        }
        // What a write makes of a stream is the stream's at once.
        let role = r#"{"indices":[{"names":["ds"],"privileges":["create_doc","auto_configure"]}]}"#;
        client.good("PUT", "/_security/role/r", role).await;
        client.good("POST", "/ds/_rollover?lazy", "").await;
        client.authorize(Some(&ann));
        client.good("POST", "/ds/_doc", r#"{"@timestamp":3}"#).await;
    });
}

/// A block was told of a write that is wrong in itself, which no block must be lifted for.
#[test]
fn what_is_wrong_with_a_write_is_told_before_a_block() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ds"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/ds", "").await;
        client.good("PUT", "/ds/_settings", r#"{"index.blocks.write":true}"#).await;
        let told = client.bad("POST", "/ds/_doc", r#"{"@timestamp":1}"#).await;
        assert!(told.starts_with("403 cluster_block_exception: index [.ds-ds-"), "{told}");
        // What is in the document is not looked at any more.
        let told = client.bad("POST", "/ds/_doc", "{}").await;
        assert!(told.starts_with("403 cluster_block_exception"), "{told}");
        let told = client.bad("PUT", "/ds/_doc/1", r#"{"@timestamp":1}"#).await;
        let wrong = "400 illegal_argument_exception: only write ops with an op_type of create are allowed in data \
                     streams";
        assert_eq!(told, wrong);
        let told = client.bad("POST", "/ds/_doc?routing=x", r#"{"@timestamp":1}"#).await;
        assert!(
            told.starts_with("400 illegal_argument_exception: index request targeting"),
            "{told}"
        );
        let lines = "{\"index\":{}}\n{\"@timestamp\":1}\n{\"create\":{}}\n{\"@timestamp\":1}\n";
        let bulk = client.good("POST", "/ds/_bulk", lines).await;
        let items = at(&bulk, &["items"]).as_array().expect("two");
        let kind = |item: &Value, action: &str| at(item, &[action, "error", "type"]).clone();
        assert_eq!(kind(&items[0], "index").as_str(), Some("illegal_argument_exception"));
        assert_eq!(kind(&items[1], "create").as_str(), Some("cluster_block_exception"));
        assert!(at(&items[1], &["create", "_id"]).as_str().is_some(), "it has its id by then");
    });
}

/// To judge it a limited caller's write was made one that asks that nothing stands there, which a data stream takes.
#[test]
fn who_sees_a_part_writes_no_more_than_others() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        // What its filter reads is mapped by others.
        let template = r#"{"index_patterns":["ds"],"data_stream":{},
            "template":{"mappings":{"properties":{"a":{"type":"long"}}}}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/ds", "").await;
        let role = r#"{"indices":[{"names":["ds"],"privileges":["read","write"],
            "query":{"term":{"a":1}}}]}"#;
        client.good("PUT", "/_security/role/some", role).await;
        let user = r#"{"password":"some-of-it-seen","roles":["some"]}"#;
        client.good("PUT", "/_security/user/some", user).await;
        client.authorize(Some(&basic("some", "some-of-it-seen")));
        let document = r#"{"@timestamp":1,"a":1}"#;
        let wrong = "400 illegal_argument_exception: only write ops with an op_type of create are allowed in data \
                     streams";
        assert_eq!(client.bad("PUT", "/ds/_doc/1", document).await, wrong);
        assert_eq!(client.bad("DELETE", "/ds/_doc/1", "").await, wrong);
        let upsert = format!(r#"{{"doc":{document},"doc_as_upsert":true}}"#);
        assert_eq!(client.bad("POST", "/ds/_update/1", &upsert).await, wrong);
        client.good("PUT", "/ds/_create/1", document).await;
    });
}

/// A data stream that was excluded by its name stayed, where a wildcard meant it.
#[test]
fn an_excluded_stream_goes() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["log-*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        for stream in ["log-a", "log-b"] {
            let target = format!("/{stream}/_doc?refresh");
            client.good("POST", &target, r#"{"@timestamp":"2026-01-01T00:00:00Z"}"#).await;
        }
        for (expression, count) in [
            ("log-*", 2),
            ("log-*,-log-a", 1),
            ("log-*,-log-a,-log-b", 0),
            ("log-a,log-*,-log-a", 1),
        ] {
            let told = client.good("GET", &format!("/{expression}/_count"), "").await;
            assert_eq!(at(&told, &["count"]).as_u64(), Some(count), "{expression}");
        }
    });
}
