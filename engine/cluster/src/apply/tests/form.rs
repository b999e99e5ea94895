//! The state as bytes, of older versions too.

use super::*;
use crate::data_stream::StreamChange;

#[test]
fn foreign_bytes_are_refused() {
    for bytes in
        [&b""[..], b"{}", b"[]", b"{\"nothing\":{}}", b"{\"bootstrap\":{\"uuid\":1}}", b"\xff"]
    {
        assert!(State::decode_command(State::FORMAT, bytes).is_err(), "{bytes:?}");
        assert!(State::decode(State::FORMAT, bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn a_state_from_before_rollovers_were_kept_is_read() {
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    let mut bytes = Vec::new();
    state.encode(&mut bytes);
    let text = String::from_utf8(bytes.clone()).expect("JSON");
    assert!(!text.contains("rollovers"), "what is not there takes no room: {text}");
    assert!(State::decode(State::FORMAT, &bytes).is_ok());
}

/// What a folder of before has: it opens, and what is not there yet is as where there is none.
#[test]
fn the_form_of_version_2_is_read() {
    let state = br#"{"version":3,"uuid":"AQEBAQEBAQEBAQEBAQEBAQ","indices":[{"name":"a",
        "uuid":"AQEBAQEBAQEBAQEBAQEBAQ","settings":{"index.number_of_replicas":"1",
        "index.number_of_shards":"1"},"mapping":{"version":1,"next_field_no":16,"mappings":{},"field_nos":{}},"aliases":{"x":{}},
        "open":true,"created_ms":5,"settings_version":1,"aliases_version":1,"copying":false}],
        "index_templates":{},"component_templates":{},"legacy_templates":{},"data_streams":[],
        "settings":{"persistent":{},"transient":{}},"voting_exclusions":[]}"#;
    let state = State::decode(2, state).expect("version 2");
    assert_eq!(vacancies(&state), [("INDEX_CREATED", 5)]);
    assert!(state.tombstones.is_empty());
    let remove =
        br#"{"update_aliases":{"actions":[{"remove":"AQEBAQEBAQEBAQEBAQEBAQ","name":"x"}]}}"#;
    let state = done(&state, &State::decode_command(2, remove).expect("version 2"));
    assert!(state.aliases.is_empty());
}

/// What was refused and is allowed now is refused again where a log of before has it: what others made of the
/// state since then was made without it.
#[test]
fn settings_of_a_log_of_before_are_judged_as_they_were() {
    let mut new = NewIndex::new("a", [1; 16], 5);
    new.settings = json(r#"{"fielddata.cache":"none"}"#);
    let state = done(&State::default(), &Command::CreateIndex(new));
    let closed = done_at(
        &state,
        6,
        Command::SetOpen { uuids: vec![[1; 16]], open: false, rules: Rules::Now },
    );
    let put = |settings: &str, rules: &str| {
        let text = format!(
            r#"{{"put_settings":{{"uuids":["AQEBAQEBAQEBAQEBAQEBAQ"],"settings":{settings},"preserve":false{rules}}}}}"#
        );
        let command = State::decode_command(State::FORMAT, text.as_bytes()).expect("reads");
        let mut bytes = Vec::new();
        State::encode_command(&command, &mut bytes);
        assert_eq!(String::from_utf8_lossy(&bytes), text);
        command
    };
    let wide = "9223372036854775807";
    for (name, value, refused) in [
        ("mapping.total_fields.limit", wide, "Failed to parse value [9223372036854775807]"),
        ("mapping.nested_fields.limit", wide, "Failed to parse value [9223372036854775807]"),
        ("mapping.nested_objects.limit", wide, "Failed to parse value [9223372036854775807]"),
        ("mapping.depth.limit", wide, "Failed to parse value [9223372036854775807]"),
        ("mapping.dimension_fields.limit", wide, "Failed to parse value [9223372036854775807]"),
        ("fielddata.cache", "node", "final a setting [index.fielddata.cache], not updateable"),
    ] {
        let settings = format!(r#"{{"index.{name}":"{value}"}}"#);
        let (after, outcome) = apply(&closed, &put(&settings, ""));
        let Outcome::Refused(error) = outcome else { panic!("{name}: {outcome:?}") };
        assert!(error.to_string().contains(refused), "{name}: {error}");
        assert_eq!(after.version, closed.version);
        let after = done(&closed, &put(&settings, r#","rules":6"#));
        let index = after.index("a").expect("there");
        assert_eq!(index.settings.text(&format!("index.{name}")), Some(value));
    }
    // A pattern takes back what may be changed.
    let all = r#"{"index.f*":null}"#;
    let kept = |state: &State| {
        state.index("a").expect("there").settings.text("index.fielddata.cache").map(str::to_owned)
    };
    assert_eq!(kept(&done(&closed, &put(all, ""))).as_deref(), Some("none"));
    assert_eq!(kept(&done(&closed, &put(all, r#","rules":6"#))), None);
    let unknown = br#"{"put_settings":{"uuids":[],"settings":{},"preserve":false,"rules":7}}"#;
    assert!(State::decode_command(State::FORMAT, unknown).is_err());
}

/// A command as a log has it, which is written again as it was read.
fn read(text: &str) -> Command {
    let command = State::decode_command(State::FORMAT, text.as_bytes()).expect("reads");
    let mut bytes = Vec::new();
    State::encode_command(&command, &mut bytes);
    assert_eq!(String::from_utf8_lossy(&bytes), text);
    command
}

/// What was refused, or was counted as no change, is so again where a log of before has it.
#[test]
fn what_logs_before_version_7_say_means_what_it_meant() {
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    let version = |state: &State| state.index("a").expect("there").settings_version;
    for (rules, versions) in [("", [1, 1]), (r#","rules":7"#, [2, 3])] {
        let turn = |open: bool| {
            let uuids = r#"["AQEBAQEBAQEBAQEBAQEBAQ"]"#;
            read(&format!(r#"{{"set_open":{{"uuids":{uuids},"open":{open}{rules}}}}}"#))
        };
        let closed = done(&state, &turn(false));
        let opened = done(&closed, &turn(true));
        assert_eq!([version(&closed), version(&opened)], versions, "{rules}");
        // Twice is once.
        assert_eq!(version(&done(&closed, &turn(false))), versions[0]);
    }
    for (name, value) in [
        ("cluster.routing.allocation.exclude._ip", r#"["10.0.0.1","10.0.0.2"]"#),
        ("cluster.routing.allocation.exclude._name", r#"["a"]"#),
        ("cluster.metadata.x", r#"["a"]"#),
        ("cluster.indices.validate_ignored_dot_patterns", r#"["a"]"#),
        ("indices.recovery.max_bytes_per_sec", r#""-1b""#),
    ] {
        let put = |rules: &str| {
            read(&format!(
                r#"{{"put_cluster_settings":{{"persistent":{{"{name}":{value}}},"transient":null{rules}}}}}"#
            ))
        };
        let (after, outcome) = apply(&state, &put(""));
        assert!(matches!(outcome, Outcome::Refused(_)), "{name}: {outcome:?}");
        assert_eq!(after.version, state.version);
        let after = done(&state, &put(r#","rules":7"#));
        assert_eq!(after.settings.persistent().get(name), Some(&json(value)), "{name}");
    }
    let wrong = r#"{"put_cluster_settings":{"persistent":{"cluster.routing.allocation.exclude._ip":["no"]},"transient":null,"rules":7}}"#;
    let (_, outcome) = apply(&state, &read(wrong));
    let Outcome::Refused(error) = outcome else { panic!("{outcome:?}") };
    let told = "invalid IP address [no] for [cluster.routing.allocation.exclude._ip]";
    assert_eq!(error.to_string(), told);
    // What an index is made with is judged as ever.
    let mut made = NewIndex::new("b", [2; 16], 5);
    made.settings = json(r#"{"translog.retention.size":"-1b"}"#);
    let (_, outcome) = apply(&state, &Command::CreateIndex(made));
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
}

/// A name that is known since version 8 is none where a log of before has it.
#[test]
fn names_of_settings_that_are_new_are_none_to_logs_before_version_8() {
    let uuids = r#"["AQEBAQEBAQEBAQEBAQEBAQ"]"#;
    let refused = |state: &State, text: &str, why: &str| {
        let (after, outcome) = apply(state, &read(text));
        let Outcome::Refused(error) = outcome else { panic!("{text}: {outcome:?}") };
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert_eq!(after.version, state.version);
    };
    let state = done(&State::default(), &create_command("a", 1, "{}", "{}"));
    for (name, value) in [
        ("index.flush_after_merge", "1gb"),
        ("index.highlight.weight_matches_mode.enabled", "false"),
        ("index.top_metrics_max_size", "20"),
        ("index.translog.flush_threshold_age", "5m"),
    ] {
        let put = |rules: &str| {
            format!(
                r#"{{"put_settings":{{"uuids":{uuids},"settings":{{"{name}":"{value}"}},"preserve":false{rules}}}}}"#
            )
        };
        let make = |rules: &str| {
            format!(
                r#"{{"create_index":{{"name":"b","provided":"b","uuid":"AgICAgICAgICAgICAgICAg","created_ms":5,"settings":{{"{name}":"{value}"}},"mappings":{{}},"aliases":{{}},"composed":true{rules}}}}}"#
            )
        };
        for old in [put(""), put(r#","rules":6"#), make("")] {
            refused(&state, &old, &format!("unknown setting [{name}]"));
        }
        let rules = r#","rules":8"#;
        for (new, index) in [(put(rules), "a"), (make(rules), "b")] {
            let after = done(&state, &read(&new));
            let index = after.index(index).expect("there");
            assert_eq!(index.settings.text(name), Some(value));
        }
    }
    for (name, value) in [
        ("health.node.enabled", "false"),
        ("xpack.monitoring.elasticsearch.collection.enabled", "false"),
        ("http.tracer.include", "*"),
    ] {
        let put = |rules: &str| {
            format!(
                r#"{{"put_cluster_settings":{{"persistent":{{"{name}":"{value}"}},"transient":null{rules}}}}}"#
            )
        };
        for old in [put(""), put(r#","rules":7"#)] {
            refused(&state, &old, &format!("persistent setting [{name}], not recognized"));
        }
        let after = done(&state, &read(&put(r#","rules":8"#)));
        assert_eq!(after.settings.text(name), Some(value));
    }
    // A star within a pattern takes back what a log says; nobody may ask for it any more.
    let set = r#"{"put_cluster_settings":{"persistent":{"search.max_buckets":1},"transient":null,"rules":7}}"#;
    let back = r#"{"put_cluster_settings":{"persistent":{"search.*_buckets":null},"transient":null,"rules":7}}"#;
    let after = done(&done(&state, &read(set)), &read(back));
    assert!(after.settings.persistent().is_empty());
}

/// Whoever changes this has changed what is written: the version must rise with it, or a program of before
/// takes it for damaged, or passes it over.
#[test]
fn the_form_of_version_8_is_pinned() {
    let mut new = NewIndex::new("a", [1; 16], 5);
    new.settings = json(r#"{"number_of_replicas":1}"#);
    let state = done(&State::default(), &Command::CreateIndex(new));
    let state = done(&state, &create_command("b", 2, "{}", "{}"));
    let state = done_at(
        &state,
        6,
        Command::SetOpen { uuids: vec![[1; 16]], open: false, rules: Rules::Now },
    );
    let state = done_at(&state, 7, replicas(2));
    let gone = Command::DeleteIndices { uuids: vec![[2; 16]] }.at(8);
    let state = done(&state, &gone);
    let mut bytes = Vec::new();
    state.encode(&mut bytes);
    let form = concat!(
        r#"{"version":5,"uuid":"AAAAAAAAAAAAAAAAAAAAAA","indices":[{"name":"a","uuid":"AQEBAQEBAQEBAQEBAQEBAQ","#,
        r#""settings":{"index.creation_date":"5","index.number_of_replicas":"2","index.number_of_shards":"1","#,
        r#""index.provided_name":"a","index.routing.allocation.include._tier_preference":"data_content","#,
        r#""index.uuid":"AQEBAQEBAQEBAQEBAQEBAQ","index.verified_before_close":"true","index.version.created":"8536000"},"#,
        r#""mapping":{"version":1,"next_field_no":16,"mappings":{},"field_nos":{}},"#,
        r#""aliases":{},"open":false,"created_ms":5,"settings_version":3,"aliases_version":1,"copying":false,"#,
        r#""turned_ms":6,"added":[{"count":1,"at_ms":7}]}],"#,
        r#""index_templates":{},"component_templates":{},"legacy_templates":{},"data_streams":[],"#,
        r#""settings":{"persistent":{},"transient":{}},"voting_exclusions":[],"#,
        r#""tombstones":[{"name":"b","uuid":"AgICAgICAgICAgICAgICAg","deleted_ms":8}]}"#,
    );
    assert_eq!(String::from_utf8_lossy(&bytes), form);
    let actions = vec![AliasAction::RemoveAny {
        uuids: vec![[1; 16]],
        names: vec!["x".into()],
        must_exist: true,
    }];
    let (name, index) = ("s".to_owned(), "i".to_owned());
    let change = StreamChange { add: true, stream: name.clone(), index: index.clone() };
    let put = Command::PutSettings {
        uuids: vec![[1; 16]],
        settings: json(r#"{"priority":2}"#),
        preserve: false,
        rules: Rules::Now,
    };
    let open = Command::SetOpen { uuids: vec![[1; 16]], open: true, rules: Rules::Now };
    let (persistent, transient) = (json(r#"{"search.max_buckets":1}"#), Value::Null);
    let whole = Command::PutClusterSettings { persistent, transient, rules: Rules::Now };
    let commands = [
        gone,
        put,
        open,
        whole,
        Command::UpdateAliases { actions },
        Command::StartStream { name: name.clone(), index: index.clone() },
        Command::MigrateAlias { name: name.clone() },
        Command::ModifyStreams { changes: vec![change] },
        Command::RollStream {
            name: name.clone(),
            from: "h".into(),
            index: index.clone(),
            generation: 2,
        },
        Command::RollAlias { name: name.clone(), from: [1; 16], index },
        Command::MarkStream { name },
        Command::AddVotingExclusions { nodes: vec![("n".into(), "node".into())], most: 9 },
    ];
    let text = commands.map(|command| {
        let mut bytes = Vec::new();
        State::encode_command(&command, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    assert_eq!(
        text,
        [
            r#"{"at":{"now_ms":8,"command":{"delete_indices":{"uuids":["AgICAgICAgICAgICAgICAg"]}}}}"#,
            r#"{"put_settings":{"uuids":["AQEBAQEBAQEBAQEBAQEBAQ"],"settings":{"priority":2},"preserve":false,"rules":8}}"#,
            r#"{"set_open":{"uuids":["AQEBAQEBAQEBAQEBAQEBAQ"],"open":true,"rules":7}}"#,
            r#"{"put_cluster_settings":{"persistent":{"search.max_buckets":1},"transient":null,"rules":8}}"#,
            r#"{"update_aliases":{"actions":[{"remove_any":["AQEBAQEBAQEBAQEBAQEBAQ"],"names":["x"],"must_exist":true}]}}"#,
            r#"{"start_stream":{"name":"s","index":"i"}}"#,
            r#"{"migrate_alias":{"name":"s"}}"#,
            r#"{"modify_streams":{"changes":[{"add":true,"stream":"s","index":"i"}]}}"#,
            r#"{"roll_stream":{"name":"s","from":"h","index":"i","generation":2}}"#,
            r#"{"roll_alias":{"name":"s","from":"AQEBAQEBAQEBAQEBAQEBAQ","index":"i"}}"#,
            r#"{"mark_stream":{"name":"s"}}"#,
            r#"{"add_voting_exclusions":{"nodes":[["n","node"]],"most":9}}"#,
        ]
    );
    assert_eq!(State::FORMAT, 8);
}
