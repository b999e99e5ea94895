//! Mappings read, shown, changed and refused, told as stories.

use std::sync::Arc;

use json::{Value, json};

use super::*;
use crate::analysis::Registry;
use crate::{Error, ErrorKind, Limits};

fn parsed(mappings: &Value) -> Result<Mapping> {
    Mapping::parse(mappings, Arc::default())
}

fn mapping(mappings: Value) -> Mapping {
    parsed(&mappings).expect("a good mapping")
}

fn refused(mappings: Value) -> Error {
    parsed(&mappings).expect_err("refused")
}

#[test]
fn mappings_are_shown_as_elasticsearch_shows_them() {
    // Defaults that are given are left out, names are sorted, a lone target becomes a list.
    let shown = mapping(json!({
        "properties": {
            "z": {"type": "text", "index": true, "norms": false, "analyzer": "english", "position_increment_gap": "5"},
            "a": {"properties": {"b.c": {"type": "keyword", "ignore_above": "20", "doc_values": "false"}}},
            "k": {"type": "keyword", "copy_to": "z", "null_value": "n", "eager_global_ordinals": true},
            "n": {"type": "long", "coerce": true, "null_value": "5", "store": true},
            "f": {"type": "float", "null_value": 1},
            "d": {"type": "date", "format": "yyyy", "null_value": "2024", "locale": "en"},
            "b": {"type": "boolean", "null_value": false, "ignore_malformed": true, "meta": {"unit": "x"}},
            "e": {"type": "object"},
            "off": {"enabled": false},
            "s": {"type": "text", "fields": {"raw": {"type": "keyword"}, "en": {"type": "text", "analyzer": "english"}}}
        },
        "dynamic": "STRICT",
        "date_detection": false,
        "numeric_detection": true,
        "dynamic_date_formats": ["yyyy"],
        "_meta": {"x": [1]},
        "_routing": {"required": true},
        "_source": {"enabled": true}
    }));
    let want = r#"{"dynamic":"strict","_meta":{"x":[1]},"_routing":{"required":true},"dynamic_date_formats":["yyyy"],"date_detection":false,"numeric_detection":true,"properties":{"a":{"properties":{"b":{"properties":{"c":{"type":"keyword","doc_values":false,"ignore_above":20}}}}},"b":{"type":"boolean","null_value":false,"ignore_malformed":true,"meta":{"unit":"x"}},"d":{"type":"date","format":"yyyy","locale":"en","null_value":"2024"},"e":{"type":"object"},"f":{"type":"float","null_value":1.0},"k":{"type":"keyword","null_value":"n","eager_global_ordinals":true,"copy_to":["z"]},"n":{"type":"long","store":true,"coerce":true,"null_value":5},"off":{"type":"object","enabled":false},"s":{"type":"text","fields":{"en":{"type":"text","analyzer":"english"},"raw":{"type":"keyword"}}},"z":{"type":"text","norms":false,"analyzer":"english","position_increment_gap":5}}}"#;
    assert_eq!(json::to_string(&shown.to_json()), want);
    assert!(shown.routing_required());
    // What is shown is read as the same.
    let again = mapping(shown.to_json());
    assert_eq!(json::to_string(&again.to_json()), want);
    assert_eq!(json::to_string(&mapping(json!({})).to_json()), "{}");
    assert_eq!(json::to_string(&mapping(json!({"properties": []})).to_json()), "{}");
    let empty = mapping(json!({"properties": {"a": [], "b": {"type": "long"}}}));
    assert_eq!(json::to_string(&empty.to_json()), r#"{"properties":{"b":{"type":"long"}}}"#);
}

#[test]
fn bad_definitions_are_refused_in_elasticsearchs_words() {
    for (mappings, kind, reason) in [
        (
            json!({"properties": {"a": {"type": "foo"}}}),
            ErrorKind::MapperParsing,
            "The mapper type [foo] declared on field [a] does not exist. It might have been created within a future version or requires a plugin to be installed. Check the documentation.",
        ),
        (
            json!({"properties": {"a": {"type": 1}}}),
            ErrorKind::MapperParsing,
            "The mapper type [1] declared on field [a] does not exist. It might have been created within a future version or requires a plugin to be installed. Check the documentation.",
        ),
        (
            json!({"properties": {"o": {"properties": {"a": {"type": {"x": [true]}}}}}}),
            ErrorKind::MapperParsing,
            "The mapper type [{x=[true]}] declared on field [a] does not exist. It might have been created within a future version or requires a plugin to be installed. Check the documentation.",
        ),
        (
            json!({"properties": {"t": {"type": "text", "fields": {"a": {"type": ["keyword"]}}}}}),
            ErrorKind::MapperParsing,
            "The mapper type [[keyword]] declared on field [a] does not exist. It might have been created within a future version or requires a plugin to be installed. Check the documentation.",
        ),
        (
            json!({"properties": {"a": {"type": null}}}),
            ErrorKind::MapperParsing,
            "No type specified for field [a]",
        ),
        (
            json!({"properties": {"t": {"type": "text", "fields": {"a": {"type": null}}}}}),
            ErrorKind::MapperParsing,
            "no type specified for property [a]",
        ),
        (
            json!({"properties": {"a": {}}}),
            ErrorKind::MapperParsing,
            "No type specified for field [a]",
        ),
        (
            json!({"properties": {"a": "text"}}),
            ErrorKind::MapperParsing,
            "Expected map for property [fields] on field [a] but got a class java.lang.String",
        ),
        (
            json!({"properties": {"a": null}}),
            ErrorKind::MapperParsing,
            "Expected map for property [fields] on field [a] but got a class java.lang.String",
        ),
        (
            json!({"properties": {"a.b": [1]}}),
            ErrorKind::MapperParsing,
            "Expected map for property [fields] on field [a.b] but got a class java.lang.String",
        ),
        (
            json!({"properties": {"o": {"properties": {"a": {"type": "text", "foo": 1}}}}}),
            ErrorKind::MapperParsing,
            "unknown parameter [foo] on mapper [a] of type [text]",
        ),
        (
            json!({"foo": {}}),
            ErrorKind::MapperParsing,
            "Root mapping definition has unsupported parameters:  [foo : {}]",
        ),
        (
            json!({"properties": {"o": {"properties": {}, "foo": {"a": [1, "x"]}}}}),
            ErrorKind::MapperParsing,
            "Mapping definition for [o] has unsupported parameters:  [foo : {a=[1, x]}]",
        ),
        (
            json!({"_doc": {"properties": {}}}),
            ErrorKind::IllegalArgument,
            "The mapping definition cannot be nested under a type",
        ),
        (
            json!({"properties": {"a": {"type": "long", "index": "maybe"}}}),
            ErrorKind::IllegalArgument,
            "Failed to parse value [maybe] as only [true] or [false] are allowed.",
        ),
        (
            json!({"properties": {"a": {"type": "text", "analyzer": "foo"}}}),
            ErrorKind::AnalyzerMissing,
            "analyzer [foo] has not been configured in mappings",
        ),
        (
            json!({"properties": {"a": {"type": "date", "format": "foo"}}}),
            ErrorKind::IllegalArgument,
            "Error parsing [format] on field [a]: Invalid format: [foo]: Unknown pattern letter: f",
        ),
        (
            json!({"properties": {"a": {"type": "keyword", "ignore_above": -1}}}),
            ErrorKind::IllegalArgument,
            "[ignore_above] must be positive, got [-1]",
        ),
        (
            json!({"properties": {"a": {"type": "long", "store": null}}}),
            ErrorKind::MapperParsing,
            "[store] on mapper [a] of type [long] must not have a [null] value",
        ),
        (
            json!({"properties": {"a": {"type": "long", "copy_to": "o"}, "o": {"properties": {"x": {"type": "long"}}}}}),
            ErrorKind::IllegalArgument,
            "Cannot copy to field [o] since it is mapped as an object",
        ),
        (
            json!({"properties": {"a": {"type": "long", "copy_to": "s.raw"}, "s": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}),
            ErrorKind::IllegalArgument,
            "[copy_to] may not be used to copy to a multi-field: [s.raw]",
        ),
        (
            json!({"dynamic_templates": [{"x": {"match_mapping_type": "foo", "mapping": {}}}]}),
            ErrorKind::IllegalArgument,
            "No field type matched on [foo], possible values are [object, string, long, double, boolean, date, binary]",
        ),
        (
            json!({"properties": {"a": {"type": "text", "similarity": "foo"}}}),
            ErrorKind::MapperParsing,
            "Unknown Similarity type [foo] for field [a]",
        ),
    ] {
        let error = refused(mappings.clone());
        assert_eq!(error.reason, reason, "{mappings:?}");
        assert_eq!(error.kind, kind, "{mappings:?}");
    }
    let wrapped = refused(json!({"foo": {}})).in_create();
    assert_eq!(
        wrapped.reason,
        "Failed to parse mapping: Root mapping definition has unsupported parameters:  [foo : {}]"
    );
    let deep = Error::illegal_argument("Limit of mapping depth [20] has been exceeded");
    assert_eq!(deep.clone().in_create(), deep, "a limit of the whole");
}

#[test]
fn a_parameter_not_here_yet_is_one_that_nobody_knows() {
    for (kind, parameter, value) in [
        ("text", "doc_values", json!(true)),
        ("keyword", "boost", json!(2)),
        ("wildcard", "doc_values", json!(false)),
        ("version", "null_value", json!("1")),
        ("binary", "index", json!(true)),
        ("unsigned_long", "coerce", json!(true)),
        ("token_count", "coerce", json!(true)),
        ("match_only_text", "norms", json!(true)),
        ("rank_feature", "index", json!(true)),
        ("constant_keyword", "ignore_above", json!(1)),
        ("integer_range", "null_value", json!(1)),
        ("completion", "index", json!(true)),
        ("flattened", "normalizer", json!("x")),
        ("long", "script", json!("x")),
        ("long", "time_series_metric", json!("gauge")),
        ("long", "ignore_above", json!(1)),
        ("date", "coerce", json!(true)),
    ] {
        let mut definition = json!({"type": kind});
        definition.as_object_mut().expect("an object").insert(parameter, value);
        let error = refused(json!({"properties": {"f": definition}}));
        assert_eq!(
            error.reason,
            format!("unknown parameter [{parameter}] on mapper [f] of type [{kind}]")
        );
    }
    for kind in ["geo_shape", "shape", "point", "percolator", "dense_vector", "sparse_vector"] {
        assert!(
            refused(json!({"properties": {"f": {"type": kind}}}))
                .reason
                .starts_with("The mapper type [")
        );
    }
}

#[test]
fn updates_replace_what_may_change_and_refuse_the_rest() {
    let old = mapping(json!({"properties": {
        "k": {"type": "keyword", "ignore_above": 10, "fields": {"t": {"type": "text"}}},
        "t": {"type": "text"}, "n": {"type": "long", "ignore_malformed": true},
        "o": {"properties": {"x": {"type": "long"}}}
    }}));
    let merged = |update: Value| old.merge(&update).expect("allowed");
    let next = merged(json!({"properties": {
        "k": {"type": "keyword", "fields": {"u": {"type": "text"}}},
        "t": {"type": "text", "search_analyzer": "simple", "norms": false},
        "n": {"type": "long"},
        "o": {"dynamic": false, "properties": {"y": {"type": "date"}}}
    }}));
    assert_eq!(
        next.to_json(),
        json!({"properties": {
            "k": {"type": "keyword", "fields": {"t": {"type": "text"}, "u": {"type": "text"}}},
            "n": {"type": "long"},
            "o": {"dynamic": "false", "properties": {"x": {"type": "long"}, "y": {"type": "date"}}},
            "t": {"type": "text", "norms": false, "analyzer": "default",
                  "search_analyzer": "simple"}
        }})
    );
    assert_eq!(next.version(), 2);
    for (update, reason) in [
        (
            json!({"properties": {"t": {"type": "long"}}}),
            "mapper [t] cannot be changed from type [text] to [long]",
        ),
        (
            json!({"properties": {"k": {"type": "keyword", "index": false, "doc_values": false, "null_value": "x"}}}),
            "Mapper for [k] conflicts with existing mapper:\n\tCannot update parameter [index] from [true] to [false]\n\tCannot update parameter [doc_values] from [true] to [false]\n\tCannot update parameter [null_value] from [null] to [x]",
        ),
        (
            json!({"properties": {"t": {"type": "text", "analyzer": "english"}}}),
            "Mapper for [t] conflicts with existing mapper:\n\tCannot update parameter [analyzer] from [default] to [english]",
        ),
        (
            json!({"properties": {"t": {"properties": {"a": {"type": "long"}}}}}),
            "can't merge a non object mapping [t] with an object mapping",
        ),
        (
            json!({"properties": {"o": {"type": "long"}}}),
            "can't merge a non object mapping [o] with an object mapping",
        ),
        (
            json!({"properties": {"o": {"enabled": false}}}),
            "the [enabled] parameter can't be updated for the object mapping [o]",
        ),
        (
            json!({"properties": {"k": {"type": "keyword", "fields": {"t": {"type": "long"}}}}}),
            "mapper [k.t] cannot be changed from type [text] to [long]",
        ),
    ] {
        assert_eq!(old.merge(&update).expect_err("refused").reason, reason);
    }
    let norms = next.merge(
        &json!({"properties": {"t": {"type": "text", "search_analyzer": "simple", "norms": true}}}),
    );
    assert_eq!(
        norms.expect_err("refused").reason,
        "Mapper for [t] conflicts with existing mapper:\n\tCannot update parameter [norms] from [false] to [true]"
    );
}

#[test]
fn what_is_said_of_the_systems_fields_stays() {
    let routed = json!({"_routing": {"required": true}});
    let hidden = json!({"_source": {"enabled": false}});
    let (plain, fixed) = (json!({}), "Mapper for [_routing] conflicts with existing mapper:\n\t");
    for (before, update, reason) in [
        (&plain, json!({"_routing": {"required": true}}), "[required] from [false] to [true]"),
        (&routed, json!({"_routing": {"required": false}}), "[required] from [true] to [false]"),
        (&routed, json!({"_routing": {}}), "[required] from [true] to [false]"),
        (
            &plain,
            json!({"_source": {"enabled": false}, "_routing": {"required": true}}),
            "[required] from [false] to [true]",
        ),
    ] {
        let error = mapping(before.clone()).merge(&update).expect_err("refused");
        assert_eq!(error.reason, format!("{fixed}Cannot update parameter {reason}"));
    }
    let enabled = mapping(hidden.clone()).merge(&json!({"_source": {}})).expect_err("refused");
    assert_eq!(
        enabled.reason,
        "Mapper for [_source] conflicts with existing mapper:\n\tCannot update parameter [enabled] \
         from [false] to [true]"
    );
    for (before, update) in [
        (&routed, json!({"_routing": {"required": true}})),
        (&plain, json!({"_routing": {"required": false}})),
        (&plain, json!({"_source": {}})),
        (&plain, json!({"_doc_count": {}})),
    ] {
        let old = mapping(before.clone());
        let next = old.merge(&update).expect("says nothing new");
        assert_eq!((next.to_json(), next.version()), (old.to_json(), old.version()), "{update:?}");
    }
    let id = mapping(plain).merge(&json!({"_id": {}})).expect_err("refused");
    assert_eq!(id.reason, "_id is not configurable");
}

#[test]
fn what_changes_nothing_is_the_same_mapping() {
    let old = mapping(
        json!({"dynamic": "true", "properties": {"a": {"type": "text"}, "o": {"properties": {"x": {"type": "long"}}}}}),
    );
    let same = old.merge(&old.to_json()).expect("allowed");
    assert_eq!(same.version(), old.version());
    assert!(Arc::ptr_eq(old.field("o.x").expect("there"), same.field("o.x").expect("there")));
    // An object that stays is shared, however the others change.
    let more = old.merge(&json!({"properties": {"b": {"type": "long"}}})).expect("allowed");
    assert!(Arc::ptr_eq(old.field("o.x").expect("there"), more.field("o.x").expect("there")));
    assert_eq!(more.version(), old.version() + 1);
}

#[test]
fn numbers_are_given_once_in_the_order_of_paths() {
    let no = |mapping: &Mapping, path: &str| mapping.field(path).expect("there").no.get();
    let one = mapping(
        json!({"properties": {"b": {"type": "text", "fields": {"raw": {"type": "keyword"}}}, "a": {"properties": {"z": {"type": "long"}}}}}),
    );
    assert_eq!((no(&one, "a.z"), no(&one, "b"), no(&one, "b.raw")), (16, 17, 18));
    let two = one.merge(&json!({"properties": {"a": {"properties": {"y": {"type": "long"}}}, "b": {"type": "text", "fields": {"k": {"type": "keyword"}}}}})).expect("allowed");
    assert_eq!((no(&two, "a.z"), no(&two, "b"), no(&two, "b.raw")), (16, 17, 18));
    assert_eq!((no(&two, "a.y"), no(&two, "b.k")), (19, 20));
    assert_eq!(two.field_by_no(base::FieldNo(20)).expect("there").path.as_ref(), "b.k");
    let state = two.to_state_json();
    let again = Mapping::from_state_json(&state, Arc::default()).expect("a good state");
    assert_eq!(again.to_state_json(), state);
    assert_eq!(no(&again, "b.k"), 20);
    let three = again.merge(&json!({"properties": {"0": {"type": "long"}}})).expect("allowed");
    assert_eq!(no(&three, "0"), 21, "a number is never given twice");
    for (key, value) in
        [("field_nos", json!({})), ("next_field_no", json!(3)), ("version", Value::Null)]
    {
        let mut damaged = state.clone();
        damaged.as_object_mut().expect("an object").insert(key, value);
        assert!(Mapping::from_state_json(&damaged, Arc::default()).is_err(), "{key}");
    }
}

#[test]
fn what_a_document_adds_never_changes_what_is_there() {
    let old = mapping(
        json!({"properties": {"a": {"type": "text"}, "o": {"properties": {"x": {"type": "long"}}}}}),
    );
    let delta = Delta::from_json(json!({"properties": {
        "a": {"type": "long"}, "o": {"type": "date"}, "b": {"type": "long"}
    }}));
    let next = old.apply_delta(&delta).expect("room");
    assert_eq!(
        next.to_json(),
        json!({"properties": {"a": {"type": "text"}, "b": {"type": "long"}, "o": {"properties": {"x": {"type": "long"}}}}})
    );
    let again = next.apply_delta(&delta).expect("room");
    assert_eq!(again.version(), next.version(), "the same once more changes nothing");
}

/// A bulk request of two thousand documents, each with a field of its own, made two thousand tables of up to as
/// many fields, and held the core that keeps the cluster's state for a second.
#[test]
fn what_many_documents_add_is_worked_in_at_once() {
    let limits = Limits { total_fields: 40, ..Limits::default() };
    let settings = Arc::new(Settings { limits, ..Settings::default() });
    let old = json!({"properties": {
        "a": {"type": "text"}, "k": {"type": "constant_keyword"}, "o": {"properties": {"x": {"type": "long"}}}
    }});
    let old = Mapping::parse(&old, settings).expect("a good mapping");
    let text = json!({"type": "text", "fields": {"keyword": {"type": "keyword"}}});
    let mut deltas = vec![
        json!({"properties": {"z": (text.clone()), "b": {"type": "long"}}}),
        json!({"properties": {"o": {"properties": {"y": {"type": "date"}, "p": {"properties": {"q": (text.clone())}}}}}}),
        json!({"properties": {"a": {"type": "long"}, "b": {"type": "date"}}}),
        json!({"properties": {"n": {"properties": {"one": {"type": "long"}}}}}),
        json!({"properties": {"n": {"properties": {"two": {"type": "long"}, "a": {"type": "long"}}}}}),
        json!({"properties": {"o": {"type": "date"}, "k": {"type": "constant_keyword", "value": "v"}}}),
        json!({"properties": {"k": {"type": "constant_keyword", "value": "w"}, "aa": (text)}}),
    ];
    for number in 0..10 {
        let mut field = json::Object::new();
        field.insert(format!("f{number}"), json!({"type": "long"}));
        deltas.push(json!({"properties": (Value::Object(field))}));
    }
    let deltas: Vec<Delta> = deltas.into_iter().map(Delta::from_json).collect();
    let one_by_one = |deltas: &[&Delta]| {
        let mut mapping = old.clone();
        let mut answers = Vec::new();
        for delta in deltas {
            let grown = mapping.apply_delta(delta);
            answers.push(grown.map(|grown| mapping = grown));
        }
        (mapping, answers)
    };
    // The last ones are beyond the limit, and refused each by itself.
    let wide = |count: usize| {
        let field = |at: usize| (format!("w{at}"), json!({"type": "long"}));
        let mut body = json::Object::new();
        body.insert("properties", Value::Object((0..count).map(field).collect()));
        Delta::from_json(Value::Object(body))
    };
    let (too_wide, fits) = (wide(30), wide(2));
    for from in 0..deltas.len() {
        let mut some: Vec<&Delta> = deltas[from..].iter().chain(&deltas[..from]).collect();
        let (want, _) = one_by_one(&some);
        assert!(grow::all(&old, &some).expect("all fit").is_same(&want), "from {from}");
        some.extend([&too_wide, &fits]);
        let (want, refusals) = one_by_one(&some);
        let (grown, answers) = old.apply_deltas(&some);
        assert!(grown.is_same(&want), "from {from}");
        assert_eq!(answers, refusals);
        assert!(answers[deltas.len()].is_err() && answers[deltas.len() + 1].is_ok());
    }
}

#[test]
fn a_byte_that_many_fields_read_counts_for_many() {
    let bytes = |properties: Value| {
        let mut body = json::Object::new();
        body.insert("properties", properties);
        mapping(Value::Object(body)).reading_bytes(1)
    };
    let raw = json!({"type": "text", "fields": {"keyword": {"type": "keyword"}}});
    assert_eq!(
        bytes(json!({"t": raw, "n": {"type": "long"}, "d": {"type": "date"}})),
        1,
        "as usual"
    );
    let texts = |count: usize| -> Value {
        Value::Object((0..count).map(|at| (format!("f{at}"), json!({"type": "text"}))).collect())
    };
    assert_eq!(bytes(json!({"t": {"type": "text", "fields": (texts(900))}})), 901);
    let mut copied = texts(900);
    let names: Value = (0..900).map(|at| Value::from(format!("f{at}"))).collect();
    let copied_object = copied.as_object_mut().expect("fields");
    copied_object.insert("src", json!({"type": "keyword", "copy_to": names}));
    assert_eq!(bytes(copied), 900);
    let formats = vec!["yyyy-MM-dd HH:mm:ss"; 200].join("||");
    assert_eq!(bytes(json!({"d": {"type": "date", "format": formats}})), 100);
}

#[test]
fn limits_are_told_in_elasticsearchs_words() {
    let settings = |limits| Arc::new(Settings { limits, ..Settings::default() });
    let limited = |limits, mappings: Value| {
        Mapping::parse(&mappings, settings(limits)).expect_err("refused").reason
    };
    assert_eq!(
        limited(
            Limits { total_fields: 2, ..Limits::default() },
            json!({"properties": {"a": {"type": "text", "fields": {"k": {"type": "keyword"}}}, "b": {"type": "long"}}})
        ),
        "Limit of total fields [2] has been exceeded"
    );
    assert_eq!(
        limited(
            Limits { depth: 2, ..Limits::default() },
            json!({"properties": {"a": {"properties": {"b": {"properties": {"c": {"type": "long"}}}}}}})
        ),
        "Limit of mapping depth [2] has been exceeded due to object field [a.b]"
    );
    assert_eq!(
        limited(
            Limits { field_name_length: 3, ..Limits::default() },
            json!({"properties": {"abcd": {"type": "long"}}})
        ),
        "Field name [abcd] is longer than the limit of [3] characters"
    );
    let wide = Limits { depth: u64::MAX, ..Limits::default() };
    let dotted = ["a"; 100_000].join(".");
    let mut properties = json::Object::new();
    properties.insert(dotted, json!({"type": "long"}));
    assert!(
        limited(wide, json!({"properties": properties}))
            .starts_with("Limit of mapping depth [500]")
    );
}

#[test]
fn fields_are_found_by_path_pattern_and_object() {
    let mapping = mapping(json!({"properties": {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "tag": {"type": "keyword"}, "o": {"properties": {"t": {"type": "long"}, "p": {"properties": {"q": {"type": "long"}}}}}
    }}));
    let paths =
        |fields: Vec<&Arc<Field>>| fields.iter().map(|f| f.path.to_string()).collect::<Vec<_>>();
    assert_eq!(paths(mapping.expand("t*")), ["tag", "title", "title.raw"]);
    assert_eq!(paths(mapping.expand("*.t")), ["o.t"]);
    assert_eq!(paths(mapping.expand("tag")), ["tag"]);
    assert_eq!(paths(mapping.expand("nope")), Vec::<String>::new());
    assert_eq!(paths(mapping.fields_in("o")), ["o.p.q", "o.t"]);
    assert_eq!(paths(mapping.fields_in("title")), Vec::<String>::new());
    assert!(mapping.is_object("o.p") && !mapping.is_object("title") && !mapping.is_object("o.t"));
    assert_eq!(mapping.total_fields(), 7);
}

#[test]
fn text_fields_find_their_analyzers_in_elasticsearchs_order() {
    let analysis = Registry::parse(&json!({"analyzer": {
        "default": {"type": "simple"}, "default_search": {"type": "whitespace"}, "mine": {"tokenizer": "keyword", "position_increment_gap": 7}
    }}));
    let settings =
        Settings { analysis: Arc::new(analysis.expect("known parts")), ..Settings::default() };
    let mapping = Mapping::parse(
        &json!({"properties": {
            "a": {"type": "text"}, "b": {"type": "text", "analyzer": "mine"},
            "c": {"type": "text", "analyzer": "mine", "search_analyzer": "english", "position_increment_gap": 1}
        }}),
        Arc::new(settings),
    )
    .expect("a good mapping");
    let names = |path: &str| match &mapping.field(path).expect("there").kind {
        crate::Kind::Text(text) => (
            text.analyzer.name().to_owned(),
            text.search_analyzer.name().to_owned(),
            text.search_quote_analyzer.name().to_owned(),
            text.position_increment_gap,
        ),
        _ => panic!("texts only"),
    };
    let want = |a: &str, b: &str, c: &str, gap| (a.to_owned(), b.to_owned(), c.to_owned(), gap);
    assert_eq!(names("a"), want("default", "default_search", "default_search", 100));
    assert_eq!(names("b"), want("mine", "default_search", "default_search", 7));
    assert_eq!(names("c"), want("mine", "english", "english", 1));
}

proptest::proptest! {
    #[test]
    fn hostile_definitions_never_panic(text in "[\\[\\]{}:,\"a-z0-9. ]{0,60}") {
        if let Ok(value) = json::parse(text.as_bytes()) {
            let _ = parsed(&value);
            let _ = parsed(&json!({"properties": value}));
        }
    }
}

#[test]
fn every_type_is_read_and_shown() {
    for definition in [
        json!({"type": "binary"}),
        json!({"type": "binary", "doc_values": true, "store": true}),
        json!({"type": "ip", "null_value": "::1", "ignore_malformed": true}),
        json!({"type": "unsigned_long", "null_value": 18446744073709551615u64}),
        json!({"type": "scaled_float", "scaling_factor": 100.0, "coerce": false}),
        json!({"type": "half_float", "index": false}),
        json!({"type": "date_nanos"}),
        json!({"type": "date_nanos", "format": "strict_date_optional_time"}),
        json!({"type": "constant_keyword"}),
        json!({"type": "constant_keyword", "value": "x"}),
        json!({"type": "wildcard", "ignore_above": 10, "null_value": "-"}),
        json!({"type": "version"}),
        json!({"type": "match_only_text", "fields": {"raw": {"type": "keyword"}}}),
        json!({"type": "search_as_you_type", "doc_values": false, "max_shingle_size": 3}),
        json!({"type": "token_count", "analyzer": "standard", "enable_position_increments": false}),
        json!({"type": "rank_feature", "positive_score_impact": false}),
        json!({"type": "rank_features"}),
        json!({"type": "geo_point", "ignore_z_value": false, "null_value": "1,2"}),
        json!({"type": "flattened", "depth_limit": 3, "ignore_above": 9}),
        json!({"type": "integer_range", "coerce": false}),
        json!({"type": "date_range", "format": "yyyy"}),
        json!({"type": "ip_range", "doc_values": false}),
        json!({"type": "nested", "include_in_root": true, "properties": {"a": {"type": "long"}}}),
        json!({"type": "object", "subobjects": false}),
        json!({"type": "join", "eager_global_ordinals": true,
               "relations": {"question": ["answer", "vote"], "answer": "comment"}}),
        json!({"type": "keyword", "norms": true, "similarity": "boolean",
               "split_queries_on_whitespace": true}),
        json!({"type": "text", "index_prefixes": {"min_chars": 2, "max_chars": 4},
               "index_phrases": true, "fielddata": true, "similarity": "BM25"}),
        json!({"type": "completion", "analyzer": "simple", "preserve_separators": true,
               "preserve_position_increments": true, "max_input_length": 50,
               "contexts": [{"name": "kind", "type": "CATEGORY"}]}),
    ] {
        let mut properties = json::Object::new();
        properties.insert("f", definition.clone());
        let mut mappings = json::Object::new();
        mappings.insert("properties", Value::Object(properties));
        let given = Value::Object(mappings);
        let lower = json::parse(json::to_string(&given).replace("CATEGORY", "category").as_bytes());
        let mapping = Mapping::parse(&lower.expect("JSON"), Arc::default()).expect("a mapping");
        let shown = mapping.to_json();
        let found = shown.at(&["properties", "f"]).expect("the field").clone();
        assert_eq!(sorted(&found), sorted(&definition));
        let state = mapping.to_state_json();
        let again = Mapping::from_state_json(&state, Arc::default());
        let again = again.unwrap_or_else(|error| panic!("{} {error}", json::to_string(&state)));
        assert_eq!(again.to_state_json(), state);
        let same = mapping.merge(&shown).expect("what is shown is taken");
        assert_eq!(same.version(), mapping.version(), "{}", json::to_string(&shown));
    }
}

/// An object with its keys in order.
fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(object) = value.as_object_mut() {
        object.sort_keys();
    }
    value
}

#[test]
fn aliases_keys_and_parts_are_found_by_name() {
    let mapping = mapping(json!({"properties": {
        "author": {"type": "keyword"},
        "writer": {"type": "alias", "path": "author"},
        "labels": {"type": "flattened"},
        "typed": {"type": "search_as_you_type"},
        "o": {"type": "nested", "properties": {
            "p": {"type": "nested", "properties": {"x": {"type": "long"}}},
            "y": {"type": "long"},
        }},
    }}));
    let path = |name: &str| mapping.lookup(name).map(|field| field.path.to_string());
    assert_eq!(path("writer").as_deref(), Some("author"));
    assert_eq!(path("labels").as_deref(), Some("labels"));
    let key = mapping.lookup("labels.a.b").expect("a key");
    assert_eq!(key.term_prefix(), Some(b"a.b\0".to_vec()));
    assert_eq!(key.show_term(b"a.b\0v"), json!("v"));
    assert_ne!(key.no, mapping.lookup("labels").expect("a field").no);
    assert!(path("typed._2gram").is_some());
    assert!(path("typed._3gram").is_some());
    assert!(path("typed._4gram").is_none());
    assert!(path("typed._index_prefix").is_some());
    assert!(mapping.is_alias("writer"));
    let names: Vec<String> =
        mapping.expand_names("*r").into_iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["author", "writer"]);
    assert_eq!(mapping.nested_of("o.p.x"), Some("o.p"));
    assert_eq!(mapping.nested_of("o.y"), Some("o"));
    assert_eq!(mapping.nested_of("o"), None);
    assert!(mapping.is_nested("o.p"));
}

#[test]
fn aliases_and_nested_objects_change_as_elasticsearch_lets_them() {
    let mapping = mapping(json!({"properties": {
        "a": {"type": "keyword"},
        "b": {"type": "alias", "path": "a"},
        "n": {"type": "nested", "properties": {"x": {"type": "keyword"}}},
        "o": {"properties": {"x": {"type": "keyword"}}},
        "c": {"type": "constant_keyword", "value": "one"},
    }}));
    for (change, want) in [
        (
            json!({"b": {"type": "keyword"}}),
            "Cannot merge a field alias mapping [b] with a mapping",
        ),
        (
            json!({"b": {"type": "alias", "path": "b"}}),
            "Invalid [path] value [b] for field alias [b]",
        ),
        (
            json!({"b": {"type": "alias", "path": "zz"}}),
            "Invalid [path] value [zz] for field alias",
        ),
        (
            json!({"b": {"type": "alias", "path": "n.x"}}),
            "Invalid [path] value [n.x] for field alias",
        ),
        (json!({"n": {"properties": {}}}), "can't merge a non-nested mapping [n] with a nested"),
        (json!({"o": {"type": "nested"}}), "can't merge a non-nested mapping [o] with a nested"),
        (
            json!({"c": {"type": "constant_keyword", "value": "two"}}),
            "Mapper for [c] conflicts with existing mapper:\n\tCannot update parameter [value] from \
             [one] to [two]",
        ),
        (json!({"_id": {"type": "keyword"}}), "Field [_id] is defined more than once"),
        (json!({"": {"type": "keyword"}}), "field name cannot be an empty string"),
    ] {
        let mut update = json::Object::new();
        update.insert("properties", change);
        let error = mapping.merge(&Value::Object(update)).expect_err("refused");
        assert!(error.reason.starts_with(want), "{}", error.reason);
    }
}

/// Four thousand words were tried by each of three thousand formats on a core, for 0.6 s: whoever reads a request
/// asks first how many there are.
#[test]
fn the_date_with_the_most_formats_is_known() {
    let formats = vec!["yyyy"; 300].join("||");
    let with = mapping(json!({"properties": {
        "k": {"type": "keyword"},
        "o": {"properties": {"d": {"type": "date", "format": formats}}},
        "r": {"type": "date_range", "format": "yyyy||epoch_millis"},
    }}));
    assert_eq!(with.date_formats_max(), 300);
    let plain =
        mapping(json!({"properties": {"d": {"type": "date"}, "r": {"type": "date_range"}}}));
    assert_eq!(plain.date_formats_max(), 2);
    assert_eq!(mapping(json!({})).date_formats_max(), 0);
}
