//! Values of each type, and nested documents, as entries.

use super::*;

/// The entries of a document under a mapping of one field `f`.
fn of(definition: Value, value: &str) -> Vec<String> {
    let mut properties = json::Object::new();
    properties.insert("f", definition);
    let mut mappings = json::Object::new();
    mappings.insert("properties", Value::Object(properties));
    let mapping = mapping(Value::Object(mappings));
    let source = format!("{{\"f\":{value}}}");
    let mut arena = Arena::new();
    match parse(&mapping, &source, Mode::Strict, &mut arena) {
        Ok(Parsed::Ready(doc)) => show(&mapping, &arena, doc),
        Ok(Parsed::NeedsMapping(delta)) => vec![json::to_string(delta.to_json())],
        Err(error) => {
            let cause = error.caused_by.as_ref().map_or(&error.reason, |cause| &cause.reason);
            vec![format!("error: {cause}")]
        }
    }
}

#[test]
fn each_type_makes_its_entries() {
    let kind = |name: &str| json!({ "type": name });
    for (definition, value, want) in [
        (kind("ip"), r#""::1""#, vec!["f: keyword \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\u{1}"]),
        (kind("ip"), r#""x""#, vec!["error: 'x' is not an IP string literal."]),
        (kind("unsigned_long"), "0", vec!["f: number -9223372036854775808"]),
        (kind("half_float"), "1.5", vec!["f: number 15872"]),
        (
            kind("half_float"),
            "70000",
            vec!["error: [half_float] supports only finite values, but got [70000.0]"],
        ),
        (json!({"type": "scaled_float", "scaling_factor": 100}), "1.239", vec!["f: number 124"]),
        (json!({"type": "token_count", "analyzer": "standard"}), r#""a b c""#, vec!["f: number 3"]),
        (kind("date_nanos"), r#""1970-01-01T00:00:00.000000001Z""#, vec!["f: number 1"]),
        (
            kind("date_nanos"),
            r#""1969-01-01""#,
            vec![
                "error: date[1969-01-01T00:00:00Z] is before the epoch in 1970 and cannot be \
                 stored in nanosecond resolution",
            ],
        ),
        (kind("binary"), r#""U29tZQ==""#, vec![]),
        (
            json!({"type": "binary", "doc_values": true}),
            r#""AAE=""#,
            vec!["f: bytes [02, 00, 01]", "f: exists"],
        ),
        (kind("wildcard"), r#""a*b""#, vec!["f: keyword a*b"]),
        (kind("version"), r#""1.2""#, vec!["f: keyword \u{1}\u{fffd}1.\u{1}\u{fffd}2\u{3}"]),
        (kind("rank_feature"), "10", vec!["f: \"\" 33344", "f: exists"]),
        (
            kind("rank_feature"),
            "-1",
            vec![
                "error: featureValue must be a positive normal float, got: -1.0 for feature f on \
                 field _feature which is less than the minimum positive normal float: \
                 1.1754944E-38",
            ],
        ),
        (
            kind("rank_feature"),
            "[1, 2]",
            vec![
                "error: [rank_feature] fields do not support indexing multiple values for the same \
                 field [f] in the same document",
            ],
        ),
        (
            kind("rank_features"),
            r#"{"a":1,"b":2}"#,
            vec!["f: \"a\" 32512", "f: \"b\" 32768", "f: exists"],
        ),
        (
            kind("geo_point"),
            r#"{"lat":0,"lon":0}"#,
            vec!["f: point [80, 00, 00, 00, 80, 00, 00, 00]", "f: number 0 unindexed"],
        ),
        (
            kind("geo_point"),
            "[[0, 0], [0, 0]]",
            vec![
                "f: point [80, 00, 00, 00, 80, 00, 00, 00]",
                "f: number 0 unindexed",
                "f: point [80, 00, 00, 00, 80, 00, 00, 00]",
                "f: number 0 unindexed",
            ],
        ),
        (kind("geo_point"), r#""91,0""#, vec!["error: illegal latitude value [91.0] for f"]),
        (
            json!({"type": "geo_point", "ignore_malformed": true}),
            r#"{"lat": true}"#,
            vec!["f: ignored"],
        ),
        (
            json!({"type": "integer_range", "doc_values": false}),
            r#"{"gte":-1,"lt":1}"#,
            vec![
                "f: point [7f, ff, ff, ff, ff, ff, ff, ff, 80, 00, 00, 00, 00, 00, 00, 00]",
                "f: exists",
            ],
        ),
        (
            kind("constant_keyword"),
            r#""x""#,
            vec![r#"{"properties":{"f":{"type":"constant_keyword","value":"x"}}}"#],
        ),
        (json!({"type": "constant_keyword", "value": "x"}), r#""x""#, vec![]),
        (
            json!({"type": "constant_keyword", "value": "x"}),
            r#""y""#,
            vec![
                "error: [constant_keyword] field [f] only accepts values that are equal to the \
                 value defined in the mappings [x], but got [y]",
            ],
        ),
        (
            kind("flattened"),
            r#"{"a":{"b":1},"c":["x",null]}"#,
            vec![
                "f: keyword 1",
                "f._keyed: keyword a.b\u{0}1",
                "f: keyword x",
                "f._keyed: keyword c\0x",
            ],
        ),
        (
            kind("completion"),
            r#"{"input":["Night Watch","a"],"weight":28}"#,
            vec!["f: \"night\\u{1f}watch\\0Night Watch\" 29", "f: \"a\\0a\" 29", "f: exists"],
        ),
        (
            json!({"type": "completion", "contexts": [{"name": "k", "type": "category"}]}),
            r#"{"input":"a","contexts":{"k":["x","y"]}}"#,
            vec!["f: \"x\\u{1d}a\\0a\" 2", "f: \"y\\u{1d}a\\0a\" 2", "f: exists"],
        ),
        (
            json!({"type": "join", "relations": {"p": "c"}}),
            r#""p""#,
            vec!["f#p: keyword 1", "f: keyword p"],
        ),
        (
            json!({"type": "join", "relations": {"p": "c"}}),
            r#"{"name":"c","parent":"7"}"#,
            vec!["f#p: keyword 7", "f: keyword c"],
        ),
        (
            json!({"type": "join", "relations": {"p": "c"}}),
            r#""c""#,
            vec!["error: [parent] is missing for join field [f]"],
        ),
        (
            json!({"type": "search_as_you_type", "max_shingle_size": 2}),
            r#""a b""#,
            vec![
                "f._2gram: text a b@0 /1",
                "f._index_prefix: text a@0 a @0 a b@0 b@1 b @1 /2",
                "f._index_prefix: exists",
                "f: text a@0 b@1 /2",
            ],
        ),
    ] {
        assert_eq!(of(definition.clone(), value), want, "{} {value}", json::to_string(&definition));
    }
}

#[test]
fn nested_documents_stand_before_theirs() {
    let mapping = mapping(json!({"properties": {
        "k": {"type": "keyword", "copy_to": "all"},
        "all": {"type": "keyword"},
        "n": {"type": "nested", "properties": {
            "a": {"type": "long", "copy_to": ["all", "n.b"]},
            "b": {"type": "long"},
            "t": {"type": "text"},
            "m": {"type": "nested", "include_in_root": true, "properties": {"z": {"type": "long"}}},
        }},
    }}));
    assert_eq!(
        read(
            &mapping,
            r#"{"k":"x","n":[{"a":1,"m":[{"z":5},{"z":6}],"t":"one"},{"t":"two"}],"all":"y"}"#
        ),
        [
            "n.m.z: number 5",
            "n.m: child",
            "n.m.z: number 6",
            "n.m: child",
            "n.a: number 1",
            "n.b: number 1",
            "n.t: text one@0 /1",
            "n: child",
            "n.t: text two@0 /1",
            "n: child",
            "k: keyword x",
            "all: keyword x",
            "all: keyword y",
            "all: keyword 1",
            "n.m.z: number 5",
            "n.m.z: number 6",
        ]
    );
    let grown = grown(&mapping, r#"{"n":{"new":1}}"#);
    assert!(grown.field("n.new").is_some());
    assert_eq!(grown.nested_of("n.new"), Some("n"));
    let error = refused(&mapping, r#"{"n":[1]}"#);
    assert!(error.reason.contains("object mapping for [n] tried to parse field [null] as object"));
}

#[test]
fn nested_documents_are_bounded() {
    let settings = Settings {
        limits: crate::Limits { nested_objects: 2, ..crate::Limits::default() },
        ..Settings::default()
    };
    let mappings = json!({"properties": {"n": {"type": "nested"}}});
    let mapping = Mapping::parse(&mappings, Arc::new(settings)).expect("a mapping");
    assert_eq!(read(&mapping, r#"{"n":[{},{}]}"#), ["n: child", "n: child"]);
    let error = refused(&mapping, r#"{"n":[{},{},{}]}"#);
    assert!(
        error
            .reason
            .contains("The number of nested documents has exceeded the allowed limit of [2].")
    );
}

#[test]
fn objects_without_subobjects_keep_whole_names() {
    let start = mapping(json!({"properties": {"m": {"type": "object", "subobjects": false}}}));
    let grown = grown(&start, r#"{"m":{"time":1,"time.min":2,"time.max":{"p":3}},"m.x.y":4}"#);
    let paths: Vec<&str> = grown.fields().map(|field| &*field.path).collect();
    assert_eq!(paths, ["m.time", "m.time.max.p", "m.time.min", "m.x.y"]);
    assert_eq!(
        read(&grown, r#"{"m":{"time":1,"time.min":2,"time.max":{"p":3}},"m.x.y":4}"#),
        ["m.time: number 1", "m.time.min: number 2", "m.time.max.p: number 3", "m.x.y: number 4"]
    );
    let root = super::grown(&mapping(json!({"subobjects": false})), r#"{"a":1,"a.b":{"c":2}}"#);
    let paths: Vec<&str> = root.fields().map(|field| &*field.path).collect();
    assert_eq!(paths, ["a", "a.b.c"]);
}

#[test]
fn what_a_document_counts_for_is_kept() {
    let mapping = mapping(json!({"dynamic": false}));
    let mut arena = Arena::new();
    let parsed = parse(&mapping, r#"{"_doc_count":7}"#, Mode::Strict, &mut arena);
    let Ok(Parsed::Ready(doc)) = parsed else { panic!("{parsed:?}") };
    let entry = arena.entries(doc).next();
    assert!(matches!(entry, Some(Entry::Number { field: base::FieldNo::DOC_COUNT, value: 7, .. })));
    for bad in ["0", "-1", "1.5", "\"x\"", "[1]"] {
        refused(&mapping, &format!("{{\"_doc_count\":{bad}}}"));
    }
}

#[test]
fn sentences_do_not_quote_megabytes() {
    let mapping = mapping(json!({"properties": {"d": {"type": "date"}, "n": {"type": "long"}}}));
    for field in ["d", "n"] {
        let value = "x".repeat(5_000_000);
        let error = refused(&mapping, &format!("{{\"{field}\":\"{value}\"}}"));
        let cause = error.caused_by.expect("a cause");
        assert!(error.reason.len() < 5_000);
        assert!(cause.reason.len() < 5_000);
    }
}
