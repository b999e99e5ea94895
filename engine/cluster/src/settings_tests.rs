//! Stories of settings.

use super::*;

fn parse(text: &str) -> Result<IndexSettings> {
    IndexSettings::parse(&json::parse(text.as_bytes()).expect("valid JSON"))
}

fn refusal(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

#[test]
fn nested_dotted_and_prefixed_names_mean_the_same() {
    let one = parse(r#"{"number_of_shards":3}"#).expect("reads");
    assert_eq!(one, parse(r#"{"index":{"number_of_shards":"3"}}"#).expect("reads"));
    assert_eq!(one, parse(r#"{"index.number_of_shards":3}"#).expect("reads"));
    assert_eq!(one.shard_count(), 3);
    assert_eq!(json::to_string(&one.to_nested()), r#"{"index":{"number_of_shards":"3"}}"#);
    assert_eq!(IndexSettings::from_flat(&one.to_flat()), one);
}

#[test]
fn wrong_values_are_named_in_elasticsearchs_words() {
    assert_eq!(
        refusal(r#"{"number_of_shards":0}"#),
        "Failed to parse value [0] for setting [index.number_of_shards] must be >= 1"
    );
    assert_eq!(
        refusal(r#"{"number_of_shards":1025}"#),
        "Failed to parse value [1025] for setting [index.number_of_shards] must be <= 1024"
    );
    assert_eq!(
        refusal(r#"{"number_of_replicas":"x"}"#),
        "Failed to parse value [x] for setting [index.number_of_replicas]"
    );
    assert_eq!(
        refusal(r#"{"refresh_interval":"1x"}"#),
        "failed to parse setting [index.refresh_interval] with value [1x] as a time value: unit is missing or unrecognized"
    );
    assert_eq!(
        refusal(r#"{"number_of_shard":1}"#),
        "unknown setting [index.number_of_shard] did you mean [index.number_of_shards]?"
    );
    assert_eq!(
        refusal(r#"{"foo":1}"#),
        "unknown setting [index.foo] please check that any required plugins are installed, or check the breaking changes documentation for removed settings"
    );
    assert_eq!(
        refusal(r#"{"hidden":"yes"}"#),
        "Failed to parse value [yes] as only [true] or [false] are allowed."
    );
}

/// Numbers of more than 32 bits were told to be too large, and lists as JSON.
#[test]
fn what_is_no_number_of_a_setting_is_told_as_java_reads_it() {
    let refused = |text: &str| match parse(text).expect_err(text) {
        Error::Argument { reason, number } => (reason, number),
        error => panic!("{error}"),
    };
    for (name, value, text) in [
        ("max_result_window", "2147483648", "2147483648"),
        ("max_result_window", "\"-99999999999\"", "-99999999999"),
        ("number_of_shards", "99999999999", "99999999999"),
        ("max_result_window", "[1,2]", "[1, 2]"),
        ("max_result_window", "[]", "[]"),
        ("merge.policy.segments_per_tier", "[true,1.5]", "[true, 1.5]"),
        ("mapping.total_fields.limit", "[\"a\"]", "[a]"),
        ("mapping.total_fields.limit", "9223372036854775808", "9223372036854775808"),
    ] {
        let reason = format!("Failed to parse value [{text}] for setting [index.{name}]");
        let told = refused(&format!(r#"{{"{name}":{value}}}"#));
        assert_eq!(told, (reason, Some(text.to_owned())), "{name}: {value}");
    }
    for (text, reason) in [
        (
            r#"{"max_result_window":2147483647,"number_of_shards":2147483647}"#,
            "Failed to parse value [2147483647] for setting [index.number_of_shards] must be <= 1024",
        ),
        (
            r#"{"hidden":["true"]}"#,
            "Failed to parse value [[true]] as only [true] or [false] are allowed.",
        ),
        (
            r#"{"refresh_interval":["1s","2s"]}"#,
            "failed to parse setting [index.refresh_interval] with value [[1s, 2s]] as a time value: \
             unit is missing or unrecognized",
        ),
        (
            r#"{"default_pipeline":["a"]}"#,
            "Failed to parse value [[a]] for setting [index.default_pipeline]",
        ),
    ] {
        assert_eq!(refused(text), (reason.to_owned(), None), "{text}");
    }
    for (value, number) in [("99999999999", true), ("-99999999999", true), ("-1", false)] {
        let told = refused(&format!(r#"{{"write.wait_for_active_shards":"{value}"}}"#));
        let reason = match number {
            true => format!("cannot parse ActiveShardCount[{value}]"),
            false => "shard count cannot be a negative value".to_owned(),
        };
        assert_eq!(told, (reason, number.then(|| value.to_owned())));
    }
}

/// What of it is no number was not told.
#[test]
fn a_range_of_replicas_names_what_is_no_number() {
    let refused = |value: &str| {
        let error = parse(&format!(r#"{{"auto_expand_replicas":"{value}"}}"#)).expect_err(value);
        let Error::Argument { reason, number } = error else { panic!("{error}") };
        (reason, number)
    };
    for (value, at, number) in [
        ("x", -1, None),
        ("x-1", 1, Some("x")),
        ("0-x", 1, Some("x")),
        ("10-y1", 2, Some("y1")),
        ("-1", 0, Some("")),
        ("0-99999999999", 1, Some("99999999999")),
    ] {
        let reason = format!(
            "failed to parse [index.auto_expand_replicas] from value: [{value}] at index {at}"
        );
        assert_eq!(refused(value), (reason, number.map(str::to_owned)), "{value}");
    }
    let turned = "[index.auto_expand_replicas] minReplicas must be =< maxReplicas but wasn't";
    assert_eq!(refused("0--1"), (format!("{turned} 0 > -1"), None));
    assert_eq!(refused("2-1"), (format!("{turned} 2 > 1"), None));
    for good in ["0-1", "0-all", "1-1", "false"] {
        parse(&format!(r#"{{"auto_expand_replicas":"{good}"}}"#)).expect(good);
    }
}

/// Tools copy settings of other clusters; these were refused there as unknown.
#[test]
fn settings_that_change_nothing_are_taken_and_judged() {
    for good in [
        r#"{"format":7,"compound_format":"TRUE","percolator.map_unmapped_fields_as_text":true}"#,
        r#"{"compound_format":"1gb","mapping.synthetic_source_keep":"arrays"}"#,
        r#"{"compound_format":0.25,"merge.policy":{"type":"time_based","merge_factor":2}}"#,
        r#"{"merge.policy.type":"UNSET","store.fs.fs_lock":"simple","data_path":null}"#,
    ] {
        parse(good).expect(good);
    }
    for (wrong, reason) in [
        (r#"{"format":"x"}"#, "Failed to parse value [x] for setting [index.format]"),
        (
            r#"{"compound_format":"many"}"#,
            "index.compound_format must be a boolean, a non-negative byte size or a ratio in the \
             interval [0..1] but was: [many]",
        ),
        (
            r#"{"compound_format":2}"#,
            "index.compound_format must be a boolean, a non-negative byte size or a ratio in the \
             interval [0..1] but was: [2.0]",
        ),
        (
            r#"{"compound_format":"NaN"}"#,
            "index.compound_format must be a boolean, a non-negative byte size or a ratio in the \
             interval [0..1] but was: [NaN]",
        ),
        (
            r#"{"percolator.map_unmapped_fields_as_text":"yes"}"#,
            "Failed to parse value [yes] as only [true] or [false] are allowed.",
        ),
        (
            r#"{"mapping.synthetic_source_keep":"all"}"#,
            "index.mapping.synthetic_source_keep can't be set to [all]",
        ),
        (
            r#"{"merge.policy.type":"log"}"#,
            "No enum constant org.elasticsearch.index.MergePolicyConfig.Type.LOG",
        ),
        (
            r#"{"merge.policy.merge_factor":1}"#,
            "Failed to parse value [1] for setting [index.merge.policy.merge_factor] must be >= 2",
        ),
        (
            r#"{"store.fs.fs_lock":"none"}"#,
            "unrecognized [index.store.fs.fs_lock] \"none\": must be native or simple",
        ),
    ] {
        assert_eq!(refusal(wrong), reason);
    }
    for (wrong, problem) in [
        (
            r#"{"data_path":"/mnt"}"#,
            "per-index custom data path using setting [index.data_path] is no longer supported on \
             new indices",
        ),
        (
            r#"{"allocation.existing_shards_allocator":"gateway_allocator"}"#,
            "private index setting [index.allocation.existing_shards_allocator] can not be set \
             explicitly",
        ),
    ] {
        let refused = parse(wrong).expect_err(wrong);
        assert_eq!(refused, Error::Invalid { problems: vec![problem.to_owned()] });
    }
}

/// Defaults that are reckoned, that are lists, or that only the server sets were not shown.
#[test]
fn what_was_asked_of_routing_shards_is_not_shown() {
    let settings = parse(r#"{"number_of_shards":2,"number_of_routing_shards":8}"#).expect("reads");
    let shown = json::to_string(&settings.shown().to_nested());
    assert_eq!(shown, r#"{"index":{"number_of_shards":"2"}}"#);
    let defaults = settings.defaults_to_nested(1);
    assert_eq!(defaults.at(&["index", "number_of_routing_shards"]), Some(&Value::from("1")));
    assert_eq!(settings.routing_shard_count(), 8);
}

#[test]
fn a_normalizer_has_no_tokenizer() {
    let of = |kind: &str, part: &str| {
        let text = format!(
            r#"{{"analysis":{{"{kind}":{{"x":{{"type":"custom","{part}":"standard"}}}}}}}}"#
        );
        let settings = parse(&text).expect("reads");
        settings.check_normalizers().map_err(|error| error.to_string())
    };
    let refused = "Custom normalizer [x] cannot configure a tokenizer".to_owned();
    assert_eq!(of("normalizer", "tokenizer"), Err(refused));
    assert_eq!(of("analyzer", "tokenizer"), Ok(()));
}

#[test]
fn all_defaults_are_shown() {
    let settings = parse(r#"{"number_of_shards":3,"sort.field":"k"}"#).expect("reads");
    let shown = settings.defaults_to_nested(6);
    let index = shown.get("index").expect("an object");
    let at = |path: &str| {
        let found = path.split('.').try_fold(index, |object, name| object.get(name));
        json::to_string(found.unwrap_or(&Value::Null))
    };
    for (path, want) in [
        ("merge.scheduler.max_thread_count", r#""3""#),
        ("merge.scheduler.max_merge_count", r#""8""#),
        ("number_of_routing_shards", r#""1""#),
        ("sort.field", "null"),
        ("sort.order", "[]"),
        ("sort.mode", "[]"),
        ("sort.missing", "[]"),
        ("query.default_field", r#"["*"]"#),
        ("search.throttled", r#""false""#),
        ("verified_before_close", r#""false""#),
        ("allocation.existing_shards_allocator", r#""gateway_allocator""#),
        ("store.type", r#""""#),
        ("store.preload", "[]"),
        ("data_path", r#""""#),
        ("lifecycle.name", r#""""#),
        ("translog.durability", r#""REQUEST""#),
        ("number_of_shards", "null"),
        ("uuid", "null"),
        ("resize", "null"),
    ] {
        assert_eq!(at(path), want, "{path}");
    }
    // One thread at least, four at most.
    for (processors, threads) in [(1, r#""1""#), (64, r#""4""#)] {
        let shown = settings.defaults_to_nested(processors);
        let text = json::to_string(&shown);
        assert!(text.contains(&format!(r#""max_thread_count":{threads}"#)), "{text}");
    }
}

#[test]
fn the_default_of_routing_shards_is_elasticsearchs() {
    for (shards, routing) in [(1, 1024), (2, 1024), (3, 768), (5, 640), (7, 896), (33, 528 * 2)] {
        let settings = parse(&format!(r#"{{"number_of_shards":{shards}}}"#)).expect("reads");
        // 33: ceil(log2) is 6, so 33 * 2^4 = 528.
        let expected = if shards == 33 { 528 } else { routing };
        assert_eq!(settings.routing_shard_count(), expected, "{shards}");
    }
}

#[test]
fn only_dynamic_settings_change_on_an_open_index() {
    let settings = parse(r#"{"number_of_shards":1}"#).expect("reads");
    let update = json::parse(br#"{"number_of_shards":2}"#).expect("valid JSON");
    let error = settings.update(&update, false, (true, Rules::Now), "i/uuid").expect_err("final");
    assert_eq!(
        error.to_string(),
        "Can't update non dynamic settings [[index.number_of_shards]] for open indices [[i/uuid]]"
    );
    let error = settings.update(&update, false, (false, Rules::Now), "i/uuid").expect_err("final");
    assert_eq!(error.to_string(), "final i setting [index.number_of_shards], not updateable");

    let update = json::parse(br#"{"refresh_interval":"5s"}"#).expect("valid JSON");
    let settings = settings.update(&update, false, (true, Rules::Now), "i/uuid").expect("dynamic");
    assert_eq!(settings.time("index.refresh_interval"), Some(Some(Duration::from_secs(5))));
    let back = json::parse(br#"{"refresh_interval":null}"#).expect("valid JSON");
    let settings = settings.update(&back, false, (true, Rules::Now), "i/uuid").expect("dynamic");
    assert_eq!(settings.time("index.refresh_interval"), None);
}

/// One name was told of several.
#[test]
fn all_names_that_are_near_are_told() {
    for (settings, meant) in [
        (
            r#"{"blocks.foo":1}"#,
            "[index.blocks.foo] did you mean any of [index.blocks.read, index.blocks.write]?",
        ),
        (
            r#"{"blocks.raed":1}"#,
            "[index.blocks.raed] did you mean any of [index.blocks.read, index.blocks.write]?",
        ),
        (r#"{"prority":1}"#, "[index.prority] did you mean [index.priority]?"),
    ] {
        assert_eq!(refusal(settings), format!("unknown setting {meant}"));
    }
}

/// These were none, told seconds for other units, or did not tell what is no number.
#[test]
fn bounds_of_times_and_sizes_are_told_in_their_own_units() {
    for good in [
        r#"{"top_metrics_max_size":1,"translog.flush_threshold_age":"60m","flush_after_merge":0}"#,
        r#"{"highlight.weight_matches_mode.enabled":false,"translog.flush_threshold_age":"1s"}"#,
    ] {
        parse(good).expect(good);
    }
    let too = |name: &str, value: &str, bound: &str| {
        format!("failed to parse value [{value}] for setting [index.{name}], must be {bound}")
    };
    for (name, value, bound) in [
        ("search.idle.after", "-1", ">= [0m]"),
        ("unassigned.node_left.delayed_timeout", "-1", ">= [0ms]"),
        ("soft_deletes.retention_lease.period", "-1", ">= [0ms]"),
        ("translog.flush_threshold_age", "999ms", ">= [1s]"),
        ("translog.flush_threshold_age", "-1", ">= [1s]"),
        ("translog.flush_threshold_age", "61m", "<= [1h]"),
        ("flush_after_merge", "-1", ">= [0b]"),
    ] {
        assert_eq!(refusal(&format!(r#"{{"{name}":"{value}"}}"#)), too(name, value, bound));
    }
    assert_eq!(
        refusal(r#"{"top_metrics_max_size":0}"#),
        "Failed to parse value [0] for setting [index.top_metrics_max_size] must be >= 1"
    );
    assert_eq!(refusal(r#"{"store.type":"zz"}"#), "Unknown store type [zz]");
    let fractional = "fractional time values are not supported";
    for (name, value, reason, number) in [
        ("refresh_interval", "1.5s", format!("failed to parse [1.5s], {fractional}"), "1.5"),
        ("refresh_interval", "X Ms", "failed to parse [X Ms]".to_owned(), "x"),
        ("search.idle.after", "0.5M", format!("failed to parse [0.5M], {fractional}"), "0.5"),
    ] {
        let error = parse(&format!(r#"{{"{name}":"{value}"}}"#)).expect_err(value);
        let Error::Argument { reason: told, number: none } = error else { panic!("{error}") };
        assert_eq!((told, none.as_deref()), (reason, Some(number)));
    }
}
