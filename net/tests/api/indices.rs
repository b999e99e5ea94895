//! Indices, their mappings and settings, and how they do.

use json::{Value, json};

use crate::place::{at, value, with_node};

#[test]
fn an_index_comes_and_goes() {
    with_node(|mut client| async move {
        let body = r#"{"settings":{"number_of_replicas":0},"mappings":{"properties":{"a":{"type":"long"}}},"aliases":{"al":{}}}"#;
        let made = client.good("PUT", "/a", body).await;
        assert_eq!(made, json!({"acknowledged": true, "shards_acknowledged": true, "index": "a"}));
        let got = client.good("GET", "/a", "").await;
        assert_eq!(at(&got, &["a", "aliases"]), &json!({"al": {}}));
        assert_eq!(at(&got, &["a", "mappings", "properties", "a", "type"]).as_str(), Some("long"));
        let index = at(&got, &["a", "settings", "index"]);
        assert_eq!(at(index, &["number_of_replicas"]).as_str(), Some("0"));
        assert_eq!(at(index, &["uuid"]).as_str().map(str::len), Some(22));
        let some = client.good("GET", "/a?features=aliases", "").await;
        assert_eq!(some, json!({"a": {"aliases": {"al": {}}}}));
        assert_eq!(client.call("HEAD", "/a", "").await.status, 200);
        assert_eq!(client.call("HEAD", "/b", "").await.status, 404);
        let told = client.bad("PUT", "/a", "").await;
        assert!(told.starts_with("400 resource_already_exists_exception: index [a/"), "{told}");
        assert_eq!(
            client.bad("DELETE", "/*", "").await,
            "400 illegal_argument_exception: Wildcard expressions or all indices are not allowed"
        );
        assert_eq!(client.good("DELETE", "/a", "").await, json!({"acknowledged": true}));
        assert_eq!(
            client.bad("GET", "/a", "").await,
            "404 index_not_found_exception: no such index [a]"
        );
        assert_eq!(client.good("GET", "/a*", "").await, json!({}));
    });
}

#[test]
fn bad_bodies_are_named() {
    with_node(|mut client| async move {
        for (method, target, body, told) in [
            (
                "PUT",
                "/b",
                r#"{"foo":{}}"#,
                "400 parse_exception: unknown key [foo] for create index",
            ),
            ("PUT", "/b", "[]", "400 parse_exception: Failed to parse content to map"),
            ("PUT", "/b", "{", "400 parse_exception: Failed to parse content to map"),
            (
                "PUT",
                "/b",
                r#"{"mappings":[]}"#,
                "400 parse_exception: key [mappings] must be an object",
            ),
            ("PUT", "/a/_mapping", "", "400 parse_exception: request body is required"),
            (
                "PUT",
                "/A",
                "",
                "400 invalid_index_name_exception: Invalid index name [A], must be lowercase",
            ),
            (
                "GET",
                "/_foo",
                "",
                "400 invalid_index_name_exception: Invalid index name [_foo], must not start with \
                 '_'.",
            ),
            (
                "GET",
                "/a?features=foo",
                "",
                "400 illegal_argument_exception: Invalid features specified [foo]",
            ),
            (
                "POST",
                "/_analyze",
                "{}",
                "400 action_request_validation_exception: Validation Failed: 1: text is missing;",
            ),
            (
                "POST",
                "/_forcemerge?max_num_segments=1&only_expunge_deletes",
                "",
                "400 action_request_validation_exception: Validation Failed: 1: cannot set \
                 only_expunge_deletes and max_num_segments at the same time, those two parameters \
                 are mutually exclusive;",
            ),
            (
                "GET",
                "/_cluster/health?wait_for_status=foo",
                "",
                "400 illegal_argument_exception: No enum constant \
                 org.elasticsearch.cluster.health.ClusterHealthStatus.FOO",
            ),
            (
                "GET",
                "/_cluster/health?wait_for_status=green&timeout=-1s",
                "",
                "400 illegal_argument_exception: duration cannot be negative, was given [-1000]",
            ),
        ] {
            assert_eq!(client.bad(method, target, body).await, told, "{method} {target}");
        }
    });
}

#[test]
fn mappings_grow_and_settings_are_shown() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        let empty = client.good("GET", "/a/_mapping", "").await;
        assert_eq!(empty, json!({"a": {"mappings": {}}}));
        let grow = r#"{"properties":{"k":{"type":"keyword"}}}"#;
        assert_eq!(client.good("PUT", "/a/_mapping", grow).await, json!({"acknowledged": true}));
        let grown = client.good("GET", "/_mapping", "").await;
        assert_eq!(grown, json!({"a": {"mappings": {"properties": {"k": {"type": "keyword"}}}}}));
        let told =
            client.bad("PUT", "/a/_mapping", r#"{"properties":{"k":{"type":"long"}}}"#).await;
        assert_eq!(
            told,
            "400 illegal_argument_exception: mapper [k] cannot be changed from type [keyword] to \
             [long]"
        );
        let named = client.good("GET", "/a/_settings/index.number_of_*?flat_settings", "").await;
        let shown = at(&named, &["a", "settings"]).as_object().expect("an object");
        assert_eq!(shown.get("index.number_of_shards"), Some(&json!("1")));
        assert!(shown.keys().all(|key| key.starts_with("index.number_of_")));
        let human = client.good("GET", "/a/_settings?human", "").await;
        assert!(human.at(&["a", "settings", "index", "creation_date_string"]).is_some());
    });
}

/// Such an index once was made, and one of the two definitions was lost without a word.
#[test]
fn a_mapping_that_contradicts_itself_makes_no_index() {
    with_node(|mut client| async move {
        let object = |path: &str| {
            format!("can't merge a non object mapping [{path}] with an object mapping")
        };
        let nested = "can't merge a non-nested mapping [a] with a nested mapping".to_owned();
        for (properties, reason) in [
            (r#""a.b":{"type":"text"},"a":{"type":"long"}"#, object("a")),
            (r#""a":{"type":"long"},"a.b":{"type":"text"}"#, object("a")),
            (
                r#""a.b":{"type":"text"},"a":{"properties":{"b":{"type":"long"}}}"#,
                "mapper [a.b] cannot be changed from type [text] to [long]".to_owned(),
            ),
            (r#""a.b":{"type":"text"},"a.b.c":{"type":"long"}"#, object("a.b")),
            (r#""a":{"type":"nested"},"a.b":{"type":"long"}"#, nested.clone()),
            (r#""a.b":{"type":"long"},"a":{"type":"nested"}"#, nested.clone()),
        ] {
            let mappings = format!(r#"{{"mappings":{{"properties":{{{properties}}}}}}}"#);
            let told = format!("400 mapper_parsing_exception: Failed to parse mapping: {reason}");
            assert_eq!(client.bad("PUT", "/m", &mappings).await, told, "{properties}");
            let body = format!(r#"{{"index_patterns":["m*"],"template":{mappings}}}"#);
            let refused = client.call("PUT", "/_index_template/t", &body).await;
            assert_eq!(refused.status, 400, "{properties}");
            assert!(refused.text().contains(&reason), "{}", refused.text());
            let body = format!(r#"{{"template":{mappings}}}"#);
            let refused = client.call("PUT", "/_component_template/t", &body).await;
            assert_eq!(refused.status, 400, "{properties}");
        }
        let twice = r#"{"mappings":{"properties":{
            "a.b":{"type":"text"},"a":{"dynamic":"strict","properties":{"b":{"type":"text"}}}}}}"#;
        client.good("PUT", "/m", twice).await;
        let shown = client.good("GET", "/m/_mapping", "").await;
        assert_eq!(
            at(&shown, &["m", "mappings", "properties"]),
            &json!({"a": {"dynamic": "strict", "properties": {"b": {"type": "text"}}}})
        );
        let flat = r#"{"mappings":{"subobjects":false,"properties":{
            "a":{"type":"long"},"a.b":{"type":"text"}}}}"#;
        client.good("PUT", "/f", flat).await;
        let shown = client.good("GET", "/f/_mapping", "").await;
        assert_eq!(
            at(&shown, &["f", "mappings", "properties"]),
            &json!({"a": {"type": "long"}, "a.b": {"type": "text"}})
        );
    });
}

/// Each made an index: one without fields, one whose null was cut, dates of no format.
#[test]
fn what_a_mapping_may_not_say_makes_no_index() {
    with_node(|mut client| async move {
        let map = "properties must be a map type";
        let decimal = "Value [1.5] has a decimal part";
        let parts = |pattern: &str| {
            format!(
                "Error parsing [format] on field [f]: Cannot have empty element in multi date format \
                 pattern: {pattern}"
            )
        };
        let field = |said: &str| format!(r#""properties":{{"f":{{{said}}}}}"#);
        client.good("PUT", "/there", "").await;
        for (mappings, reason) in [
            (r#""properties":"x""#.to_owned(), map.to_owned()),
            (r#""properties":null"#.to_owned(), map.to_owned()),
            (r#""properties":[1]"#.to_owned(), map.to_owned()),
            (r#""properties":true"#.to_owned(), map.to_owned()),
            (field(r#""type":"object","properties":5"#), map.to_owned()),
            (field(r#""type":"long","null_value":1.5"#), decimal.to_owned()),
            (field(r#""type":"integer","null_value":"1.5""#), decimal.to_owned()),
            (field(r#""type":"short","null_value":1.5"#), decimal.to_owned()),
            (field(r#""properties":{"g":{"type":"byte","null_value":1.5}}"#), decimal.to_owned()),
            (
                field(r#""type":"text","fields":{"g":{"type":"long","null_value":1.5}}"#),
                decimal.to_owned(),
            ),
            (field(r#""type":"date","format":"yyyy||""#), parts("yyyy||")),
            (field(r#""type":"date_range","format":"||""#), parts("||")),
            (
                r#""dynamic_date_formats":["yyyy||||MM"]"#.to_owned(),
                "Cannot have empty element in multi date format pattern: yyyy||||MM".to_owned(),
            ),
            (field(r#""type":"keyword","ignore_above":3000000000"#), "integer overflow".to_owned()),
            (
                field(r#""type":"text","position_increment_gap":"3000000000""#),
                r#"For input string: "3000000000""#.to_owned(),
            ),
            (
                field(r#""type":"keyword","ignore_above":5.5"#),
                "5.5 is not an integer value".to_owned(),
            ),
        ] {
            let wrapped =
                format!("400 mapper_parsing_exception: Failed to parse mapping: {reason}");
            let body = format!(r#"{{"mappings":{{{mappings}}}}}"#);
            assert_eq!(client.bad("PUT", "/m", &body).await, wrapped, "{mappings}");
            let template = format!(r#"{{"template":{body}}}"#);
            let told = client.bad("PUT", "/_component_template/t", &template).await;
            assert_eq!(told, wrapped, "{mappings}");
            let template = format!(r#"{{"index_patterns":["q*"],"template":{body}}}"#);
            let told = client.call("PUT", "/_index_template/t", &template).await;
            assert_eq!(told.status, 400, "{mappings}");
            assert!(told.text().contains(&json::to_string(&json!(reason.as_str()))));
            let legacy = format!(r#"{{"index_patterns":["q*"],{}"#, &body[1..]);
            assert_eq!(client.bad("PUT", "/_template/t", &legacy).await, wrapped, "{mappings}");
            let told = client.bad("PUT", "/there/_mapping", &format!("{{{mappings}}}")).await;
            assert!(told.starts_with("400 ") && told.ends_with(&reason), "{told}");
        }
        // What would be refused anyway is told first.
        let told = client.bad("PUT", "/there", r#"{"mappings":{"properties":"x"}}"#).await;
        assert!(told.contains("resource_already_exists_exception"), "{told}");
        let fine = r#"{"mappings":{"properties":{
            "a":{"type":"long","null_value":2.0},"b":{"type":"double","null_value":1.5},
            "c":{"type":"keyword","ignore_above":5.0},"d":{"properties":[]},
            "e":{"type":"date","format":"yyyy||epoch_millis"}}}}"#;
        client.good("PUT", "/m", fine).await;
    });
}

#[test]
fn health_is_told_in_words_and_tables() {
    with_node(|mut client| async move {
        let empty = client.good("GET", "/_cluster/health", "").await;
        assert_eq!(at(&empty, &["status"]).as_str(), Some("green"));
        assert_eq!(at(&empty, &["active_shards_percent_as_number"]), &json!(100.0));
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":2}}"#).await;
        let yellow = client.good("GET", "/_cluster/health?level=shards", "").await;
        assert_eq!(at(&yellow, &["status"]).as_str(), Some("yellow"));
        assert_eq!(at(&yellow, &["active_primary_shards"]).as_u64(), Some(2));
        assert_eq!(at(&yellow, &["unassigned_shards"]).as_u64(), Some(2));
        assert_eq!(
            at(&yellow, &["indices", "a", "shards", "1", "primary_active"]).as_bool(),
            Some(true)
        );
        let late =
            client.call("GET", "/_cluster/health?wait_for_status=green&timeout=1s", "").await;
        assert_eq!(late.status, 408);
        let late = client.call("GET", "/_cluster/health?wait_for_nodes=2&timeout=1s", "").await;
        assert_eq!(late.status, 408);
        let rows =
            client.good("GET", "/_cat/indices?format=json&h=index,pri,rep,docs.count", "").await;
        assert_eq!(rows, json!([{"index": "a", "pri": "2", "rep": "1", "docs.count": "0"}]));
        let text = client.call("GET", "/_cat/indices?v&h=health,index,pri", "").await;
        assert_eq!(text.text(), "health index pri\nyellow a       2\n");
        assert_eq!(text.field("content-type"), Some("text/plain; charset=UTF-8"));
        let health = client.call("GET", "/_cat/health?ts=false&v", "").await;
        assert!(health.text().starts_with("cluster  status node.total"), "{}", health.text());
        let help = client.call("GET", "/_cat/indices?help", "").await;
        assert!(help.text().contains("docs.count"));
    });
}

#[test]
fn text_is_analyzed() {
    with_node(|mut client| async move {
        let body = client
            .good("GET", "/_analyze", r#"{"analyzer":"standard","text":"The QUICK 2 fox"}"#)
            .await;
        assert_eq!(
            at(&body, &["tokens"]).as_array().and_then(|tokens| tokens.get(1)),
            Some(
                &json!({"token": "quick", "start_offset": 4, "end_offset": 9, "type": "<ALPHANUM>", "position": 1})
            )
        );
    });
}

#[test]
fn each_change_that_makes_shards_waits_for_their_copies() {
    with_node(|mut client| async move {
        let wait = "wait_for_active_shards=2&timeout=50ms";
        let none = r#"{"settings":{"number_of_replicas":0}}"#;
        let told = |asked: u32, copies: u32| {
            format!(
                "400 illegal_argument_exception: invalid wait_for_active_shards[{asked}]: cannot be \
                 greater than number of shard copies [{copies}]"
            )
        };
        assert_eq!(client.bad("PUT", &format!("/w?{wait}"), none).await, told(2, 1));
        assert_eq!(client.call("HEAD", "/w", "").await.status, 404);
        let more = "/w?wait_for_active_shards=3&timeout=50ms";
        assert_eq!(client.bad("PUT", more, "").await, told(3, 2));
        client.good("PUT", "/w", none).await;
        let acknowledged = |answer: &json::Value| at(answer, &["shards_acknowledged"]).as_bool();
        for what in ["_close", "_open"] {
            let late = client.good("POST", &format!("/w/{what}?{wait}"), "").await;
            assert_eq!(acknowledged(&late), Some(false), "{what}");
        }
        for what in ["_close", "_open"] {
            let done = client.good("POST", &format!("/w/{what}"), "").await;
            assert_eq!(acknowledged(&done), Some(true), "{what}");
        }
        client.good("PUT", "/w/_block/write", "").await;
        let one = r#"{"settings":{"number_of_replicas":1,"index.blocks.write":null}}"#;
        assert_eq!(client.bad("PUT", &format!("/w/_clone/c?{wait}"), none).await, told(2, 1));
        let late = client.good("PUT", &format!("/w/_clone/c?{wait}"), one).await;
        assert_eq!(acknowledged(&late), Some(false));
        client.good("PUT", "/r-1", r#"{"aliases":{"r":{}}}"#).await;
        let late = client.good("POST", &format!("/r/_rollover?{wait}"), "").await;
        assert_eq!(acknowledged(&late), Some(false));
        let done = client.good("POST", "/r/_rollover", "").await;
        assert_eq!(acknowledged(&done), Some(true));

        let told = "400 illegal_argument_exception: invalid index.write.wait_for_active_shards[5]: \
                    cannot be greater than number of shard copies [1]";
        let setting = r#"{"index.write.wait_for_active_shards":5}"#;
        assert_eq!(client.bad("PUT", "/w/_settings", setting).await, told);
        let both =
            r#"{"settings":{"number_of_replicas":0,"index.write.wait_for_active_shards":5}}"#;
        assert_eq!(client.bad("PUT", "/x", both).await, told);
        client.good("PUT", "/w/_settings", r#"{"index.write.wait_for_active_shards":"all"}"#).await;
    });
}

#[test]
fn a_lazy_rollover_waits_for_the_next_write() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ds*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/ds1", "").await;
        client.good("PUT", "/i-1", r#"{"aliases":{"al":{}}}"#).await;
        let told = client.bad("POST", "/al/_rollover?lazy=true", "").await;
        assert_eq!(
            told,
            "400 illegal_argument_exception: Lazy rollover can be applied only on a data stream. Please \
             remove the query parameter 'lazy'."
        );
        let conditions = r#"{"conditions":{"max_docs":1}}"#;
        let told = client.bad("POST", "/al/_rollover?lazy=true", conditions).await;
        assert!(told.contains("only on a data stream with no conditions. Please"), "{told}");
        let told = client.bad("POST", "/ds1/_rollover?lazy=true", conditions).await;
        assert_eq!(
            told,
            "400 illegal_argument_exception: Lazy rollover can be used only without any conditions. Please \
             remove the conditions from the request body or the query parameter 'lazy'."
        );
        for body in [
            r#"{"settings":{"index.number_of_replicas":0}}"#,
            r#"{"aliases":{"a":{}}}"#,
            r#"{"mappings":{"properties":{"a":{"type":"long"}}}}"#,
        ] {
            assert_eq!(
                client.bad("POST", "/ds1/_rollover", body).await,
                "400 illegal_argument_exception: aliases, mappings, and index settings may not be \
                 specified when rolling over a data stream",
                "{body}"
            );
        }
        let answer = client.good("POST", "/ds1/_rollover?lazy=true", "").await;
        for (key, value) in [
            ("acknowledged", true),
            ("shards_acknowledged", false),
            ("rolled_over", false),
            ("dry_run", false),
            ("lazy", true),
        ] {
            assert_eq!(at(&answer, &[key]).as_bool(), Some(value), "{key}");
        }
        let next = at(&answer, &["new_index"]).as_str().expect("a name").to_owned();
        for (flag, generation) in [(true, 1), (false, 2)] {
            let got = client.good("GET", "/_data_stream/ds1", "").await;
            let stream = &at(&got, &["data_streams"]).as_array().expect("a list")[0];
            assert_eq!(at(stream, &["rollover_on_write"]).as_bool(), Some(flag));
            assert_eq!(at(stream, &["generation"]).as_u64(), Some(generation));
            let done = client.good("POST", "/ds1/_doc", r#"{"@timestamp":1}"#).await;
            assert_eq!(at(&done, &["_index"]).as_str(), Some(next.as_str()));
        }
    });
}

#[test]
fn words_of_settings_and_levels_are_read_in_any_letters() {
    with_node(|mut client| async move {
        client.good("PUT", "/i", r#"{"settings":{"index.translog.durability":"ASYNC"}}"#).await;
        for (name, value) in [
            ("index.translog.durability", "REQUEST"),
            ("index.routing.allocation.enable", "ALL"),
            ("index.routing.rebalance.enable", "None"),
        ] {
            client.good("PUT", "/i/_settings", &format!("{{\"{name}\":\"{value}\"}}")).await;
            let got = client.good("GET", "/i/_settings?flat_settings", "").await;
            assert_eq!(at(&got, &["i", "settings", name]).as_str(), Some(value), "as it was set");
        }
        for (name, value) in [
            ("cluster.routing.allocation.enable", "ALL"),
            ("cluster.routing.rebalance.enable", "Primaries"),
            ("cluster.routing.allocation.allow_rebalance", "ALWAYS"),
        ] {
            let body = format!("{{\"persistent\":{{\"{name}\":\"{value}\"}}}}");
            client.good("PUT", "/_cluster/settings", &body).await;
        }
        let got = client.good("GET", "/_stats/docs?level=INDICES", "").await;
        at(&got, &["indices", "i"]);
        let got = client.good("GET", "/_cluster/health?level=Shards", "").await;
        at(&got, &["indices", "i", "shards"]);
        let got = client.good("GET", "/_nodes/stats/indices?level=INDICES", "").await;
        let node = at(&got, &["nodes"]).as_object().and_then(|nodes| nodes.iter().next());
        at(node.expect("a node").1, &["indices", "indices", "i"]);
        let told = client.bad("PUT", "/i/_settings", r#"{"index.codec":"DEFAULT"}"#).await;
        assert!(told.starts_with("400"), "{told}");
        let told = client.bad("GET", "/_stats?level=Nodes", "").await;
        assert!(told.ends_with("but was [Nodes]"), "{told}");
    });
}

/// `include_empty_fields=false` was taken, and changed nothing.
#[test]
fn fields_without_a_value_are_left_out_where_that_is_asked() {
    with_node(|mut client| async move {
        let body = r#"{"mappings":{"properties":{"never":{"type":"long"},"o":{"properties":{"n":{"type":"keyword"}}},
            "said":{"type":"text"},"one":{"type":"constant_keyword","value":"x"}}}}"#;
        client.good("PUT", "/fe", body).await;
        client.good("PUT", "/fe/_doc/1?refresh", r#"{"said":"a word"}"#).await;
        for (asked, expected) in [
            ("", ["never", "o", "o.n", "one", "said"].as_slice()),
            ("&include_empty_fields=true", &["never", "o", "o.n", "one", "said"]),
            ("&include_empty_fields=false", &["one", "said"]),
        ] {
            let target = format!("/fe/_field_caps?fields=*&filters=-metadata{asked}");
            let caps = client.good("GET", &target, "").await;
            let fields = at(&caps, &["fields"]).as_object().expect("an object");
            let mut names: Vec<&str> = fields.iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            assert_eq!(names, expected, "{asked}");
        }
    });
}

#[test]
fn a_copy_takes_the_settings_of_its_source() {
    with_node(|mut client| async move {
        let body = r#"{"settings":{"number_of_shards":4,"number_of_replicas":2,"auto_expand_replicas":"0-1",
            "index.routing.allocation.require.zone":"a","index.allocation.max_retries":7,
            "index.priority":3,"index.blocks.write":true}}"#;
        client.good("PUT", "/rs", body).await;
        let shrink = r#"{"settings":{"number_of_shards":2,"index.priority":4}}"#;
        client.good("POST", "/rs/_shrink/rs2", shrink).await;
        let got = client.good("GET", "/rs2/_settings?flat_settings", "").await;
        let settings = at(&got, &["rs2", "settings"]);
        for (name, value) in [
            ("index.auto_expand_replicas", Some("0-1")),
            ("index.routing.allocation.require.zone", Some("a")),
            ("index.allocation.max_retries", None),
            ("index.priority", Some("4")),
            ("index.blocks.write", Some("true")),
            ("index.number_of_shards", Some("2")),
        ] {
            assert_eq!(settings.get(name).and_then(Value::as_str), value, "{name}");
        }
    });
}

#[test]
fn an_index_has_the_standard_mode_or_none() {
    with_node(|mut client| async move {
        let shape = |mode: &str| format!(r#"{{"settings":{{"index.mode":"{mode}"}}}}"#);
        client.good("PUT", "/plain", &shape("standard")).await;
        for mode in ["lookup", "logsdb", "time_series"] {
            let expected = format!(
                "400 illegal_argument_exception: unsupported value [{mode}] for setting \
                 [index.mode]: of the index modes only [standard] is there"
            );
            assert_eq!(client.bad("PUT", "/other", &shape(mode)).await, expected);
            let template = format!(r#"{{"index_patterns":["o*"],"template":{}}}"#, shape(mode));
            let told = client.bad("PUT", "/_index_template/t", &template).await;
            assert!(told.contains("of the index modes only [standard] is there"), "{told}");
        }
        let told = client.bad("PUT", "/other", &shape("foo")).await;
        let expected = "400 illegal_argument_exception: [foo] is an invalid index mode, valid modes \
                        are: [standard]";
        assert_eq!(told, expected);
    });
}

#[test]
fn fields_are_shown_one_by_one_with_aliases_and_those_of_the_system() {
    with_node(|mut client| async move {
        let body = r#"{"mappings":{"properties":{"k":{"type":"keyword"},"ka":{"type":"alias","path":"k"},
            "o":{"properties":{"y":{"type":"alias","path":"k"}}}}}}"#;
        client.good("PUT", "/m", body).await;
        let alias = |name: &str, leaf: &str| json!({"full_name": name, "mapping": {leaf: {"type": "alias", "path": "k"}}});
        let got = client.good("GET", "/m/_mapping/field/ka,o.y,_id", "").await;
        let expected = json!({
            "ka": (alias("ka", "ka")),
            "o.y": (alias("o.y", "y")),
            "_id": {"full_name": "_id", "mapping": {}}
        });
        assert_eq!(at(&got, &["m", "mappings"]), &expected);
        let got = client.good("GET", "/m/_mapping/field/*", "").await;
        for name in ["k", "ka", "o.y", "_source", "_routing", "_version"] {
            at(&got, &["m", "mappings", name]);
        }
        let got = client.good("GET", "/m/_mapping/field/nope", "").await;
        assert_eq!(got, json!({"m": {"mappings": {}}}));
    });
}

#[test]
fn no_template_of_all_indices_hides_them_and_shadowed_ones_are_told() {
    with_node(|mut client| async move {
        let sentence = "global composable templates may not specify the setting index.hidden";
        for settings in
            [r#"{"index.hidden":true}"#, r#"{"index":{"hidden":false}}"#, r#"{"hidden":true}"#]
        {
            let body = format!(
                "{{\"index_patterns\":[\"a\",\"*\"],\"template\":{{\"settings\":{settings}}}}}"
            );
            assert_eq!(
                client.bad("PUT", "/_index_template/g", &body).await,
                format!(
                    "400 action_request_validation_exception: Validation Failed: 1: {sentence};"
                )
            );
        }
        let some = r#"{"index_patterns":["a*"],"template":{"settings":{"index.hidden":true}}}"#;
        client.good("PUT", "/_index_template/some", some).await;
        let old = r#"{"index_patterns":["*"],"settings":{"index.hidden":true}}"#;
        assert_eq!(
            client.bad("PUT", "/_template/g", old).await,
            "400 invalid_index_template_exception: index_template [g] invalid, cause [Validation \
             Failed: 1: global templates may not specify the setting index.hidden;]"
        );
        let hides = r#"{"template":{"settings":{"index.hidden":true}}}"#;
        client.good("PUT", "/_component_template/c", r#"{"template":{}}"#).await;
        client.good("PUT", "/_component_template/h", hides).await;
        let with = |part: &str| {
            format!("{{\"index_patterns\":[\"*\"],\"priority\":7,\"composed_of\":[\"{part}\"]}}")
        };
        let told = client.bad("PUT", "/_index_template/g", &with("h")).await;
        assert!(told.contains(sentence), "{told}");
        client.good("PUT", "/_index_template/g", &with("c")).await;
        let told = client.bad("PUT", "/_component_template/c", hides).await;
        assert!(told.contains("the following global templates") && told.contains("[g]"), "{told}");

        client.good("PUT", "/_template/l2", r#"{"index_patterns":["ll*"]}"#).await;
        client.good("PUT", "/_template/l1", r#"{"index_patterns":["ll*","x"]}"#).await;
        let put = r#"{"index_patterns":["llx*","zz"]}"#;
        let warned = client.call("PUT", "/_index_template/lll", put).await;
        let warning = warned.field("warning").expect("it is told");
        let text = "index template [lll] has index patterns [llx*, zz] matching patterns from \
                    existing older templates [l1,l2] with patterns (l1 => [ll*, x],l2 => [ll*]); \
                    this template [lll] will take precedence during new index creation";
        assert!(warning.starts_with("299 Elasticsearch-") && warning.contains(text), "{warning}");
        let warned = client.call("PUT", "/_template/l3", r#"{"index_patterns":["zz"]}"#).await;
        let warnings =
            warned.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("warning"));
        let is_told =
            |text: &str| text.contains("legacy template [l3]") && text.contains("may be ignored");
        assert_eq!(warnings.filter(|(_, text)| is_told(text)).count(), 1);
        let quiet = client.call("PUT", "/_index_template/q", r#"{"index_patterns":["q*"]}"#).await;
        assert_eq!(quiet.field("warning"), None);
    });
}

#[test]
fn small_answers_are_elasticsearchs() {
    with_node(|mut client| async move {
        client.good("PUT", "/i", "").await;
        let body = r#"{"index":"i","shard":-1,"primary":true}"#;
        let answer = client.call("POST", "/_cluster/allocation/explain", body).await;
        assert_eq!(answer.status, 404);
        assert_eq!(at(&value(&answer), &["error", "shard"]).as_str(), Some("-1"));
        client.good("PUT", "/z", r#"{"settings":{"index.mapping.total_fields.limit":0}}"#).await;
        let got = client.good("GET", "/nope/_search_shards", "").await;
        assert_eq!(got, json!({"nodes": {}, "indices": {}, "shards": []}));
        let strict = "/nope/_search_shards?ignore_unavailable=false";
        assert!(client.bad("GET", strict, "").await.starts_with("404"));
        // Whoever waits is told whether that was in vain, first of all.
        for (version, keys) in [
            (1, &["wait_for_timed_out", "cluster_name", "cluster_uuid", "master_node"][..]),
            (9_999, &["wait_for_timed_out", "cluster_name"]),
        ] {
            let wait = format!("wait_for_metadata_version={version}&wait_for_timeout=10ms");
            let target = format!("/_cluster/state/master_node?{wait}");
            let got = client.good("GET", &target, "").await;
            assert_eq!(at(&got, &["wait_for_timed_out"]).as_bool(), Some(version > 1));
            assert_eq!(got.as_object().expect("an object").keys().collect::<Vec<_>>(), keys);
        }
        let got = client.good("GET", "/_cluster/state/metadata/nope", "").await;
        assert_eq!(at(&got, &["metadata", "indices"]), &json!({}));
        assert_eq!(
            client.bad("GET", "/_nodes/stats/_all/docs", "").await,
            "400 illegal_argument_exception: request [/_nodes/stats/_all/docs] contains index \
             metrics [docs] but all stats requested"
        );
        client.good("GET", "/_nodes/stats/_all/_all", "").await;
        assert_eq!(
            client.bad("GET", "/_resolve/index/r:x", "").await,
            "404 no_such_remote_cluster_exception: no such remote cluster: [r]"
        );
        let seeds = r#"{"persistent":{"cluster.remote.foo.seeds":["127.0.0.1:9300","h:1"]}}"#;
        client.good("PUT", "/_cluster/settings", seeds).await;
        let got = client.good("GET", "/_cluster/settings?flat_settings", "").await;
        let held = at(&got, &["persistent", "cluster.remote.foo.seeds"]);
        assert_eq!(held, &json!(["127.0.0.1:9300", "h:1"]));
        let text = r#"{"persistent":{"cluster.remote.foo.seeds":"h:1,h:2"}}"#;
        client.good("PUT", "/_cluster/settings", text).await;
        for (name, hosts) in [("seeds", r#"["x"]"#), ("seeds", r#""h:1,x""#)] {
            let body = format!("{{\"persistent\":{{\"cluster.remote.foo.{name}\":{hosts}}}}}");
            assert_eq!(
                client.bad("PUT", "/_cluster/settings", &body).await,
                "400 illegal_argument_exception: remote hosts need to be configured as \
                 [host:port], found [x] instead"
            );
        }
    });
}

/// A data stream of one index, and an alias of one, were copied as if they were that index.
#[test]
fn an_index_is_copied_by_its_own_name() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ds*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/ds1", "").await;
        client.good("PUT", "/ds1/_settings", r#"{"index.blocks.write":true}"#).await;
        let body = r#"{"settings":{"blocks.write":true},"aliases":{"al":{}}}"#;
        client.good("PUT", "/i1", body).await;
        for source in ["ds1", "al", "i*", "none"] {
            let told = client.bad("PUT", &format!("/{source}/_clone/c"), "").await;
            assert_eq!(told, format!("404 index_not_found_exception: no such index [{source}]"));
        }
        assert_eq!(client.call("HEAD", "/c", "").await.status, 404);
        client.good("PUT", "/i1/_clone/c", "").await;
    });
}

/// A copy takes what its source holds, as Elasticsearch's does, which copies segments: a mapping that became
/// stricter refused all of it.
#[test]
fn a_copy_takes_documents_that_would_be_refused_today() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"dynamic":false,"properties":{"f":{"type":"long"}}}}"#;
        client.good("PUT", "/co", mapping).await;
        client.good("PUT", "/co/_doc/1", r#"{"f":"12","b":"text"}"#).await;
        client.good("PUT", "/co/_doc/2?refresh=true", r#"{"f":13}"#).await;
        let stricter = r#"{"dynamic":"strict","properties":{"f":{"type":"long","coerce":false},"b":{"type":"long"}}}"#;
        client.good("PUT", "/co/_mapping", stricter).await;
        client.good("PUT", "/co/_settings", r#"{"index.blocks.write":true}"#).await;
        client.good("POST", "/co/_clone/copy", "").await;
        let found = client.good("GET", "/copy/_search", "").await;
        assert_eq!(at(&found, &["hits", "total", "value"]), &json::json!(2));
        let kept = client.good("GET", "/copy/_doc/1", "").await;
        assert_eq!(at(&kept, &["_source"]), &json::json!({"f": "12", "b": "text"}));
    });
}
