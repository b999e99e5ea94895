//! Templates: what may be set beside what is there.

use crate::place::{at, failure, value, with_node};

const LOST: &str = "would cause data streams [dsx1] to no longer match a data stream template";

/// A stream whose template was narrowed, or hidden behind another, had an index at its next rollover of
/// no template at all.
#[test]
fn a_data_stream_keeps_a_template_that_makes_data_streams() {
    with_node(|mut client| async move {
        let made = r#"{"index_patterns":["dsx*"],"priority":50,"data_stream":{}}"#;
        client.good("PUT", "/_index_template/d3", made).await;
        client.good("PUT", "/_data_stream/dsx1", "").await;
        for (name, body, told) in [
            (
                "d3",
                r#"{"index_patterns":["dsz*"],"priority":50,"data_stream":{}}"#,
                "composable template [d3] with index patterns [dsz*], priority [50]",
            ),
            (
                "d3",
                r#"{"index_patterns":["dsx*"],"priority":50}"#,
                "composable template [d3] with index patterns [dsx*], priority [50] and no data stream \
                 configuration",
            ),
            (
                "d4",
                r#"{"index_patterns":["dsx*"],"priority":60}"#,
                "composable template [d4] with index patterns [dsx*], priority [60] and no data stream \
                 configuration",
            ),
        ] {
            let told = format!("400 illegal_argument_exception: {told} {LOST}");
            let target = format!("/_index_template/{name}");
            assert_eq!(client.bad("PUT", &target, body).await, told);
            let target = format!("/_index_template/_simulate/{name}");
            assert_eq!(client.bad("POST", &target, body).await, told);
        }
        // Behind the stream's template it is no harm; alone it would be.
        let behind = r#"{"index_patterns":["ds*"],"priority":1}"#;
        client.good("PUT", "/_index_template/d5", behind).await;
        assert_eq!(
            client.bad("DELETE", "/_index_template/d3", "").await,
            "400 illegal_argument_exception: unable to remove composable templates [d3] as they are in \
             use by a data streams [dsx1]"
        );
        client.good("POST", "/dsx1/_rollover", "").await;
        client.good("DELETE", "/_data_stream/dsx1", "").await;
        client.good("DELETE", "/_index_template/d3", "").await;
        // An alias is made a stream only by a template that makes streams.
        client.good("PUT", "/i", r#"{"aliases":{"dsx2":{}}}"#).await;
        assert_eq!(
            client.bad("POST", "/_data_stream/_migrate/dsx2", "").await,
            "400 illegal_argument_exception: matching index template [d5] for data stream [dsx2] has no \
             data stream template"
        );
    });
}

/// They were taken, and no stream ever had them.
#[test]
fn a_template_gives_data_streams_no_aliases() {
    with_node(|mut client| async move {
        let told = |name: &str| {
            format!(
                "400 illegal_argument_exception: composable template [{name}] creates data streams and \
                 gives them the aliases [dal], and aliases of data streams are not supported"
            )
        };
        let own =
            r#"{"index_patterns":["dsx*"],"data_stream":{},"template":{"aliases":{"dal":{}}}}"#;
        assert_eq!(client.bad("PUT", "/_index_template/d3", own).await, told("d3"));
        // Those of a component come to the same, whichever is set first.
        let aliased = r#"{"template":{"aliases":{"dal":{}}}}"#;
        client.good("PUT", "/_component_template/c", aliased).await;
        let made = r#"{"index_patterns":["dsx*"],"data_stream":{},"composed_of":["c"]}"#;
        assert_eq!(client.bad("PUT", "/_index_template/d3", made).await, told("d3"));
        let plain = r#"{"template":{"aliases":{}}}"#;
        client.good("PUT", "/_component_template/c", plain).await;
        client.good("PUT", "/_index_template/d3", made).await;
        assert_eq!(client.bad("PUT", "/_component_template/c", aliased).await, told("d3"));
        let indices = r#"{"index_patterns":["i*"],"template":{"aliases":{"dal":{}}}}"#;
        client.good("PUT", "/_index_template/i", indices).await;
    });
}

/// Unknown names were taken and dropped.
#[test]
fn the_options_of_a_data_stream_are_known() {
    with_node(|mut client| async move {
        for (options, places, cause) in [
            (r#"{"hiden":true}"#, ["[1:51]", "[1:43]"], "unknown field [hiden]"),
            (
                r#"{"hidden":1}"#,
                ["[1:52]", "[1:52]"],
                "hidden doesn't support values of type: VALUE_NUMBER",
            ),
            (r#"{"hidden":"yes"}"#, ["[1:52]", "[1:52]"], "failed to parse field [hidden]"),
        ] {
            let body = format!(r#"{{"index_patterns":["abc*"],"data_stream":{options}}}"#);
            let response = client.call("PUT", "/_index_template/t2", &body).await;
            let [at_value, at_cause] = places;
            assert_eq!(
                failure(&response),
                format!(
                    "400 x_content_parse_exception: {at_value} [index_template] failed to parse field \
                     [data_stream]"
                )
            );
            let reason = value(&response);
            assert_eq!(
                at(&reason, &["error", "caused_by", "reason"]).as_str(),
                Some(&*format!("{at_cause} [data_stream_template] {cause}"))
            );
        }
        let body = r#"{"index_patterns":["abc*"],"data_stream":{"hidden":"true",
            "allow_custom_routing":false,"failure_store":true}}"#;
        client.good("PUT", "/_index_template/t2", body).await;
        let shown = client.good("GET", "/_index_template/t2", "").await;
        let shown = &at(&shown, &["index_templates"]).as_array().expect("a list")[0];
        let options = at(shown, &["index_template", "data_stream"]);
        assert_eq!(json::to_string(options), r#"{"hidden":true,"allow_custom_routing":false}"#);
    });
}

/// Any text was taken there, of a stream whose documents shall say when they happened.
#[test]
fn the_timestamp_of_a_data_stream_is_a_date() {
    const FIELD: &str = "data stream timestamp field [@timestamp]";
    with_node(|mut client| async move {
        let body = |field: &str| {
            format!(
                r#"{{"index_patterns":["kts-*"],"data_stream":{{}},"composed_of":["c"],
                "template":{{"mappings":{{"properties":{{"@timestamp":{field}}}}}}}}}"#
            )
        };
        let plain = r#"{"template":{"mappings":{}}}"#;
        client.good("PUT", "/_component_template/c", plain).await;
        for (field, why) in [
            (r#"{"type":"keyword"}"#, "is of type [keyword], but [date,date_nanos] is expected"),
            (r#"{"type":"date","index":false}"#, "is not indexed"),
            (r#"{"type":"date","store":true}"#, "has disallowed attributes: [store]"),
        ] {
            for (method, target) in
                [("PUT", "/_index_template/kts"), ("POST", "/_index_template/_simulate/kts")]
            {
                let response = client.call(method, target, &body(field)).await;
                assert_eq!(
                    failure(&response),
                    "400 illegal_argument_exception: composable template [kts] template after \
                     composition with component templates [c] is invalid"
                );
                let error = value(&response);
                let cause = at(&error, &["error", "caused_by"]);
                assert_eq!(
                    at(cause, &["reason"]).as_str(),
                    Some("invalid composite mappings for [kts]")
                );
                let cause = at(cause, &["caused_by"]);
                assert_eq!(at(cause, &["type"]).as_str(), Some("illegal_argument_exception"));
                assert_eq!(at(cause, &["reason"]).as_str(), Some(&*format!("{FIELD} {why}")));
            }
        }
        // Of what is no stream nothing is asked.
        let indices = body(r#"{"type":"keyword"}"#).replace(r#""data_stream":{},"#, "");
        client.good("PUT", "/_index_template/kts", &indices).await;
        let streams = r#"{"index_patterns":["kts-*"],"data_stream":{},"composed_of":["c"]}"#;
        client.good("PUT", "/_index_template/kts", streams).await;
        // A component comes to the same.
        let wrong = r#"{"template":{"mappings":{"properties":{"@timestamp":{"type":"long"}}}}}"#;
        let response = client.call("PUT", "/_component_template/c", wrong).await;
        assert_eq!(
            failure(&response),
            "400 illegal_argument_exception: updating component template [c] results in invalid \
             composable template [kts] after templates are merged"
        );
        // The field that is made where nothing is said of it refuses what is malformed.
        let lenient = r#"{"template":{"settings":{"index.mapping.ignore_malformed":true}}}"#;
        client.good("PUT", "/_component_template/c", lenient).await;
        client.good("PUT", "/_data_stream/kts-a", "").await;
        let told = client.bad("POST", "/kts-a/_doc", r#"{"@timestamp":"not a date"}"#).await;
        assert!(told.contains("failed to parse field [@timestamp] of type [date]"), "{told}");
        // What is there stays so.
        let malformed = r#"{"properties":{"@timestamp":{"type":"date","ignore_malformed":true}}}"#;
        assert_eq!(
            client.bad("PUT", "/kts-a/_mapping", malformed).await,
            format!(
                "400 illegal_argument_exception: {FIELD} has disallowed [ignore_malformed] attribute \
                 specified"
            )
        );
    });
}

/// Such a template was taken, and the one index that it fits could not be made.
#[test]
fn an_alias_is_no_pattern_of_its_template() {
    with_node(|mut client| async move {
        for (target, body) in [
            ("/_template/d7", r#"{"index_patterns":["a*","e2"],"aliases":{"e2":{}}}"#),
            (
                "/_index_template/d7",
                r#"{"index_patterns":["a*","e2"],"template":{"aliases":{"e2":{}}}}"#,
            ),
        ] {
            assert_eq!(
                client.bad("PUT", target, body).await,
                "400 illegal_argument_exception: alias [e2] cannot be the same as any pattern in [a*, e2]"
            );
        }
        client
            .good("PUT", "/_template/d7", r#"{"index_patterns":["e2*"],"aliases":{"e2":{}}}"#)
            .await;
    });
}

#[test]
fn a_simulated_template_names_an_index_that_might_be() {
    // Once `{index}` was taken away from the names of its aliases.
    with_node(|mut client| async move {
        let body = r#"{"index_patterns":["i*"],"template":{"aliases":{"of-{index}":{}}}}"#;
        client.good("PUT", "/_index_template/t", body).await;
        let tried = body.replace("i*", "j*");
        for (target, body) in
            [("/_index_template/_simulate/t", ""), ("/_index_template/_simulate", &*tried)]
        {
            let told = client.good("POST", target, body).await;
            let aliases = at(&told, &["template", "aliases"]).as_object().expect("aliases");
            let name = aliases.iter().next().map(|(name, _)| name.to_owned()).expect("an alias");
            let uuid = name.strip_prefix("of-simulate_template_index_").expect("an index");
            assert_eq!(uuid.len(), 22, "{name}");
            assert_eq!(uuid, uuid.to_lowercase());
        }
        let told = client.good("POST", "/_index_template/_simulate_index/i1", "").await;
        assert!(at(&told, &["template", "aliases"]).get("of-i1").is_some());
    });
}

/// It was taken, for the templates composed of it might have brought the analyzer.
#[test]
fn a_component_brings_the_analyzers_that_it_uses() {
    with_node(|mut client| async move {
        let mapping = r#""mappings":{"properties":{"a":{"type":"text","analyzer":"mine"}}}"#;
        let analysis = r#""settings":{"analysis":{"analyzer":{"mine":{"type":"simple"}}}}"#;
        let (bare, whole) = (
            format!(r#"{{"template":{{{mapping}}}}}"#),
            format!(r#"{{"template":{{{analysis},{mapping}}}}}"#),
        );
        client
            .good("PUT", "/_component_template/a", &format!(r#"{{"template":{{{analysis}}}}}"#))
            .await;
        assert_eq!(
            client.bad("PUT", "/_component_template/m", &bare).await,
            "400 mapper_parsing_exception: Failed to parse mapping: analyzer [mine] has not been \
             configured in mappings"
        );
        client.good("PUT", "/_component_template/m", &whole).await;
        // An index template is judged with its components.
        let uses =
            format!(r#"{{"index_patterns":["i*"],"composed_of":["a"],"template":{{{mapping}}}}}"#);
        client.good("PUT", "/_index_template/t", &uses).await;
    });
}

/// The first of them was named alone; lists had patterns.
#[test]
fn all_templates_that_are_missing_are_named() {
    with_node(|mut client| async move {
        let client = &mut client;
        let template = r#"{"index_patterns":["i*"],"composed_of":["c1"]}"#;
        for name in ["c1", "c2"] {
            client.good("PUT", &format!("/_component_template/{name}"), r#"{"template":{}}"#).await;
        }
        for name in ["t1", "t2"] {
            let target = format!("/_index_template/{name}?pretty");
            let body = template.replace("i*", name);
            client.good("PUT", &target, &body).await;
            client.good("PUT", &format!("/_template/{name}"), r#"{"index_patterns":["o"]}"#).await;
        }
        let missing = "404 index_template_missing_exception: index_template";
        for (target, told) in [
            ("_index_template/a,t1,b,a", format!("{missing} [a,b] missing")),
            ("_index_template/t*,t1", format!("{missing} [t*] missing")),
            ("_index_template/x*", format!("{missing} [x*] missing")),
            ("_component_template/a,c2,b", "404 resource_not_found_exception: a,b".to_owned()),
            ("_template/t1,t2", format!("{missing} [t1,t2] missing")),
            (
                "_component_template/c2,c1",
                "400 illegal_argument_exception: component templates [c1] cannot be removed as they \
                 are still in use by index templates [t1, t2]"
                    .to_owned(),
            ),
        ] {
            assert_eq!(client.bad("DELETE", &format!("/{target}"), "").await, told, "{target}");
        }
        for target in
            ["_index_template/t1,t2", "_template/t*", "_template/*", "_component_template/c*"]
        {
            client.good("DELETE", &format!("/{target}"), "").await;
        }
        let left = client.good("GET", "/_index_template", "").await;
        assert_eq!(at(&left, &["index_templates"]).as_array().map_or(9, <[_]>::len), 0);
    });
}

/// What was no object was taken, and nothing of it kept.
#[test]
fn parts_of_a_template_are_objects() {
    with_node(|mut client| async move {
        for (kind, parser) in
            [("_index_template", "index_template"), ("_component_template", "component_template")]
        {
            let patterns =
                if kind == "_index_template" { r#""index_patterns":["a*"],"# } else { "" };
            for (part, token) in [
                (
                    r#""template":[{"settings":{}}]"#,
                    "template doesn't support values of type: START_ARRAY",
                ),
                (r#""template":5"#, "template doesn't support values of type: VALUE_NUMBER"),
                (r#""template":{"settings":[]}"#, "failed to parse field [template]"),
                (r#""template":{"aliases":"x"}"#, "failed to parse field [template]"),
                (
                    r#""template":{},"_meta":"x""#,
                    "_meta doesn't support values of type: VALUE_STRING",
                ),
            ] {
                let told = client
                    .bad("PUT", &format!("/{kind}/t"), &format!("{{{patterns}{part}}}"))
                    .await;
                assert!(told.starts_with("400 x_content_parse_exception: [1:"), "{told}");
                assert!(told.contains(&format!("] [{parser}] {token}")), "{told}");
                assert_eq!(client.call("GET", &format!("/{kind}/t"), "").await.status, 404);
            }
        }
    });
}
