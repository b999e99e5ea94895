//! Documents and what becomes of them, told as stories.

mod kinds;
mod random;
mod room;

use std::sync::Arc;

use json::{Value, json};

use super::*;
use crate::types::sortable;
use crate::{Error, Settings};

fn mapping(mappings: Value) -> Mapping {
    Mapping::parse(&mappings, Arc::default()).expect("a good mapping")
}

fn parse(mapping: &Mapping, source: &str, mode: Mode, arena: &mut Arena) -> Result<Parsed> {
    Parser::new().parse(mapping, "1", source.as_bytes(), mode, arena)
}

/// The document's entries in words, one a line, in the order they came.
fn show(mapping: &Mapping, arena: &Arena, doc: usize) -> Vec<String> {
    let path = |no| &*mapping.field_by_no(no).expect("fields of entries are mapped").path;
    arena
        .entries(doc)
        .map(|entry| match entry {
            Entry::Text { field, terms, length } => {
                let words: Vec<String> = terms
                    .map(|(term, at)| format!("{}@{at}", String::from_utf8_lossy(term)))
                    .collect();
                format!("{}: text {} /{length}", path(field), words.join(" "))
            }
            Entry::Keyword { field, term, indexed, column } => format!(
                "{}: keyword {}{}{}",
                path(field),
                String::from_utf8_lossy(term),
                if indexed { "" } else { " unindexed" },
                if column { "" } else { " no column" }
            ),
            Entry::Number { field, value, indexed, column } => format!(
                "{}: number {value}{}{}",
                path(field),
                if indexed { "" } else { " unindexed" },
                if column { "" } else { " no column" }
            ),
            Entry::Point { field, value } => format!("{}: point {value:02x?}", path(field)),
            Entry::Feature { field, term, freq } => {
                format!("{}: {:?} {freq}", path(field), String::from_utf8_lossy(term))
            }
            Entry::Bytes { field, bytes } => format!("{}: bytes {bytes:02x?}", path(field)),
            Entry::Child { path } => format!("{}: child", String::from_utf8_lossy(path)),
            Entry::Exists { field } => format!("{}: exists", path(field)),
            Entry::Ignored { path } => format!("{path}: ignored"),
        })
        .collect()
}

fn read(mapping: &Mapping, source: &str) -> Vec<String> {
    let mut arena = Arena::new();
    match parse(mapping, source, Mode::Strict, &mut arena) {
        Ok(Parsed::Ready(doc)) => show(mapping, &arena, doc),
        Ok(Parsed::NeedsMapping(delta)) => panic!("{:?}", delta.to_json()),
        Err(error) => panic!("{error}"),
    }
}

fn refused(mapping: &Mapping, source: &str) -> Error {
    let mut arena = Arena::new();
    let error = parse(mapping, source, Mode::Strict, &mut arena).expect_err("refused");
    assert!(arena.is_empty());
    assert_eq!(arena.begin().entries_count(), 0, "nothing is left behind");
    error
}

/// The mapping after a document has brought its fields.
fn grown(mapping: &Mapping, source: &str) -> Mapping {
    match parse(mapping, source, Mode::Strict, &mut Arena::new()).expect("a good document") {
        Parsed::NeedsMapping(delta) => mapping.apply_delta(&delta).expect("room for the fields"),
        Parsed::Ready(_) => mapping.clone(),
    }
}

#[test]
fn values_become_entries_by_the_type_of_their_field() {
    let mapping = mapping(json!({"properties": {
        "t": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 5}}},
        "k": {"type": "keyword"},
        "n": {"type": "integer"},
        "f": {"type": "float"},
        "d": {"type": "date"},
        "b": {"type": "boolean"},
        "o": {"properties": {"x": {"type": "long", "doc_values": false}}},
        "hidden": {"type": "keyword", "index": false},
        "gone": {"type": "keyword", "index": false, "doc_values": false},
        "off": {"type": "object", "enabled": false}
    }}));
    assert_eq!(
        read(
            &mapping,
            r#"{"t":"Quick fox","k":["a",1.50,true,null],"n":"3.9","f":0.5,"d":"1970-01-02",
                "b":"true","o":{"x":[5,6]},"hidden":"h","gone":"g","off":{"any":[1,{"z":2}]}}"#
        ),
        [
            "t: text quick@0 fox@1 /2",
            "t.raw: ignored",
            "k: keyword a",
            "k: keyword 1.50",
            "k: keyword true",
            "n: number 3",
            &format!("f: number {}", sortable::from_f32(0.5)),
            "d: number 86400000",
            "b: number 1",
            "o.x: number 5 no column",
            "o.x: exists",
            "o.x: number 6 no column",
            "hidden: keyword h unindexed",
        ]
    );
}

#[test]
fn values_of_one_text_are_joined_with_a_gap() {
    let mapping = mapping(json!({"properties": {
        "a": {"type": "text"},
        "b": {"type": "text", "position_increment_gap": 0},
        "s": {"type": "text", "analyzer": "stop"},
        "o": {"properties": {"t": {"type": "text"}}}
    }}));
    assert_eq!(
        read(
            &mapping,
            r#"{"a":["one two","three"],"b":["one two","three"],"s":["the end of","the","x"],
                "o":[{"t":"p"},{"t":"q"}]}"#
        ),
        [
            "a: text one@0 two@1 three@102 /3",
            "b: text one@0 two@1 three@2 /3",
            "s: text end@1 x@204 /2",
            "o.t: text p@0 q@101 /2",
        ]
    );
    // A text without a word is there all the same.
    assert_eq!(
        read(&mapping, r#"{"a":["",""],"b":"!"}"#),
        ["a: text  /0", "b: text  /0", "a: exists", "b: exists"]
    );
}

#[test]
fn nulls_and_empty_texts_stand_for_what_the_mapping_says() {
    let mapping = mapping(json!({"properties": {
        "k": {"type": "keyword", "null_value": "none"},
        "n": {"type": "long", "null_value": 7},
        "m": {"type": "long"},
        "b": {"type": "boolean", "null_value": true},
        "d": {"type": "date", "null_value": "1970-01-01T00:00:01Z"},
        "t": {"type": "text"}
    }}));
    assert_eq!(
        read(
            &mapping,
            r#"{"k":null,"n":[null,""],"m":["",null,[]],"b":[null,""],"d":null,"t":null}"#
        ),
        [
            "k: keyword none",
            "n: number 7",
            "n: number 7",
            "b: number 1",
            "b: number 0",
            "d: number 1000"
        ]
    );
}

#[test]
fn values_are_copied_where_the_mapping_says() {
    let mapping = mapping(json!({"properties": {
        "a": {"type": "keyword", "copy_to": ["all", "n"]},
        "b": {"type": "text", "copy_to": "all"},
        "all": {"type": "text", "copy_to": "never"},
        "n": {"type": "long"},
        "never": {"type": "keyword"}
    }}));
    assert_eq!(
        read(&mapping, r#"{"a":["1","2"],"b":"x y"}"#),
        [
            "a: keyword 1",
            "all: text 1@0 2@101 x@202 y@203 /4",
            "n: number 1",
            "a: keyword 2",
            "n: number 2",
            "b: text x@0 y@1 /2",
        ]
    );
}

#[test]
fn dots_in_names_are_objects() {
    let mapping = mapping(json!({"properties": {
        "a": {"properties": {"b": {"properties": {"c": {"type": "long"}}}, "d": {"type": "long"}}}
    }}));
    let want = ["a.b.c: number 1", "a.d: number 2"];
    for source in [
        r#"{"a":{"b":{"c":1},"d":2}}"#,
        r#"{"a.b.c":1,"a.d":2}"#,
        r#"{"a":{"b.c":1},"a.d":2}"#,
        r#"{"a.b":[{"c":1},null],"a":[{"d":2}]}"#,
    ] {
        assert_eq!(read(&mapping, source), want, "{source}");
    }
}

#[test]
fn every_shape_of_json_is_guessed_as_elasticsearch_does() {
    let empty = mapping(json!({}));
    let source = r#"{"s":"text","i":1,"big":9223372036854775807,"f":1.5,"e":1000.0,"b":true,
        "null":null,"d":"2020-01-01","dt":"2020-01-01T10:00:00Z","slash":"2020/01/01",
        "notdate":"2020-13-45x","arr":[1,2],"empty":[],"strs":["a","b"],
        "o":{"x":1,"y":{"z":"deep"}},"objs":[{"k":1},{"k":2,"l":"a"}],"nulls":[null],"eo":{},
        "num":"42","p.q":"2024-01-02T"}"#;
    let text =
        json!({"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}});
    let grown = grown(&empty, source);
    assert_eq!(
        grown.to_json(),
        json!({"properties": {
            "arr": {"type": "long"}, "b": {"type": "boolean"}, "big": {"type": "long"},
            "d": {"type": "date"}, "dt": {"type": "date"}, "e": {"type": "float"},
            "eo": {"type": "object"}, "f": {"type": "float"}, "i": {"type": "long"},
            "notdate": (text.clone()), "num": (text.clone()),
            "o": {"properties": {"x": {"type": "long"}, "y": {"properties": {"z": (text.clone())}}}},
            "objs": {"properties": {"k": {"type": "long"}, "l": (text.clone())}},
            "p": {"properties": {"q": {"type": "date"}}},
            "s": (text.clone()),
            "slash": {"type": "date", "format": "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis"},
            "strs": (text)
        }})
    );
    let mut arena = Arena::new();
    let again = parse(&grown, source, Mode::Strict, &mut arena).expect("it fits now");
    assert!(matches!(again, Parsed::Ready(0)));
    assert_eq!(grown.version(), 2);
}

#[test]
fn strings_of_digits_are_never_dates() {
    let empty = mapping(json!({}));
    for (text, kind) in [
        ("2024", "text"),
        ("20240102", "text"),
        ("1704153600000", "text"),
        ("2024-01", "date"),
        ("2024-01-02T03:04:05.123456789+01:00", "date"),
        ("2024/01/02 03:04:05", "date"),
        ("2024-01-02 03:04:05", "text"),
        ("2024-1-2", "text"),
        ("2024-W01-1", "text"),
        ("2024/01/02 03:04:05 +0100", "text"),
        ("NaN", "text"),
    ] {
        let grown = grown(&empty, &format!("{{\"a\":\"{text}\"}}"));
        assert_eq!(grown.field("a").expect("new").type_name(), kind, "{text}");
    }
    let numbers = mapping(json!({"numeric_detection": true, "date_detection": false}));
    for (text, kind) in [
        ("42", "long"),
        ("1e5", "float"),
        (" 12", "float"),
        ("0x10", "text"),
        ("2024-01-01", "text"),
    ] {
        let grown = grown(&numbers, &format!("{{\"a\":\"{text}\"}}"));
        assert_eq!(grown.field("a").expect("new").type_name(), kind, "{text}");
    }
    let error = refused(&numbers, r#"{"a":"NaN"}"#);
    assert!(error.reason.contains("of type [float]"), "{}", error.reason);
}

#[test]
fn what_does_not_fit_is_refused_in_elasticsearchs_words() {
    let mapping = mapping(json!({"properties": {
        "price": {"type": "long"}, "k": {"type": "keyword"}, "d": {"type": "date"},
        "b": {"type": "boolean"}, "byte": {"type": "byte"}, "o": {"properties": {}},
        "t": {"type": "text"}
    }}));
    for (source, reason, cause) in [
        (
            r#"{"price":"cheap"}"#,
            "[1:10] failed to parse field [price] of type [long] in document with id '1'. Preview of field's value: 'cheap'",
            "For input string: \"cheap\"",
        ),
        (
            r#"{"price":{"a":1}}"#,
            "[1:10] failed to parse field [price] of type [long] in document with id '1'. Preview of field's value: '{a=1}'",
            "[1:10] Current token (START_OBJECT) not numeric, can not use numeric value accessors",
        ),
        (
            r#"{"price":92233720368547758070}"#,
            "[1:10] failed to parse field [price] of type [long] in document with id '1'. Preview of field's value: '92233720368547758070'",
            "[1:10] Numeric value (92233720368547758070) out of range of long (-9223372036854775808 - 9223372036854775807)",
        ),
        (
            "{\n \"k\":{\"a\":1}}",
            "[2:6] failed to parse field [k] of type [keyword] in document with id '1'. Preview of field's value: '{a=1}'",
            "Expected text at 2:6 but found START_OBJECT",
        ),
        (
            r#"{"d":"foo"}"#,
            "[1:6] failed to parse field [d] of type [date] in document with id '1'. Preview of field's value: 'foo'",
            "failed to parse date field [foo] with format [strict_date_optional_time||epoch_millis]",
        ),
        (
            r#"{"b":"yes"}"#,
            "[1:6] failed to parse field [b] of type [boolean] in document with id '1'. Preview of field's value: 'yes'",
            "Failed to parse value [yes] as only [true] or [false] are allowed.",
        ),
        (
            r#"{"b":1}"#,
            "[1:6] failed to parse field [b] of type [boolean] in document with id '1'. Preview of field's value: '1'",
            "[1:6] Current token (VALUE_NUMBER_INT) not of boolean type",
        ),
        (
            r#"{"byte":[1,200]}"#,
            "[1:12] failed to parse field [byte] of type [byte] in document with id '1'. Preview of field's value: '200'",
            "Value [200] is out of range for a byte",
        ),
        (
            r#"{"o":5}"#,
            "[1:6] object mapping for [o] tried to parse field [o] as object, but found a concrete value",
            "",
        ),
        (
            r#"{"o":[5]}"#,
            "[1:7] object mapping for [o] tried to parse field [null] as object, but found a concrete value",
            "",
        ),
        (
            r#"{"price.x":1}"#,
            "Could not dynamically add mapping for field [price.x]. Existing mapping for [price] must be of type object but found [long].",
            "",
        ),
        (
            r#"{"":1}"#,
            "[1:5] failed to parse: field name cannot be an empty string",
            "field name cannot be an empty string",
        ),
        (r#"{" ":1}"#, "[1:6] Field name cannot contain only whitespace: [ ]", ""),
        (
            r#"{".a":1}"#,
            "[1:7] failed to parse: field name starting or ending with a [.] makes object resolution ambiguous: [.a]",
            "field name starting or ending with a [.] makes object resolution ambiguous: [.a]",
        ),
        (
            r#"{"a..b":1}"#,
            "[1:9] failed to parse: field name cannot contain only whitespace: ['a..b']",
            "field name cannot contain only whitespace: ['a..b']",
        ),
        (
            r#"{"_id":1}"#,
            "[1:8] failed to parse field [_id] of type [_id] in document with id '1'. Preview of field's value: '1'",
            "[1:8] Field [_id] is a metadata field and cannot be added inside a document. Use the index API request parameters.",
        ),
        ("[]", "[1:1] Malformed content, must start with an object", ""),
        (
            "{} {}",
            "[1:4] failed to parse: Malformed content, found extra data after parsing: START_OBJECT",
            "Malformed content, found extra data after parsing: START_OBJECT",
        ),
        ("", "[0:0] failed to parse, document is empty", ""),
        (
            r#"{"new":92233720368547758070}"#,
            "[1:8] failed to parse field [new] of type [long] in document with id '1'. Preview of field's value: '92233720368547758070'",
            "[1:8] Numeric value (92233720368547758070) out of range of long (-9223372036854775808 - 9223372036854775807)",
        ),
        (r#"{"mix":[1,2.5]}"#, "mapper [mix] cannot be changed from type [long] to [float]", ""),
        (
            r#"{"mix":["2024-01-01","x"]}"#,
            "mapper [mix] cannot be changed from type [date] to [text]",
            "",
        ),
    ] {
        let error = refused(&mapping, source);
        assert_eq!(error.reason, reason, "{source}");
        assert_eq!(error.caused_by.map_or(String::new(), |cause| cause.reason), cause, "{source}");
    }
    let error = refused(&mapping, r#"{"a":"#);
    assert_eq!(error.kind, crate::ErrorKind::DocumentParsing);
    assert!(
        error.reason.starts_with("[1:6] failed to parse: [1:6] Unexpected end-of-input"),
        "{}",
        error.reason
    );
    let cause = error.caused_by.expect("a cause");
    assert_eq!(cause.kind, crate::ErrorKind::XContentEof);
    assert_eq!(cause.caused_by.expect("another").kind, crate::ErrorKind::JsonParse);
    let error = refused(&mapping, r#"{"a":1,"a":2}"#);
    assert!(error.reason.contains("Duplicate field 'a'"), "{}", error.reason);
}

#[test]
fn immense_terms_are_refused_as_lucene_refuses_them() {
    let mapping = mapping(json!({"properties": {
        "k": {"type": "keyword"}, "w": {"type": "text", "analyzer": "keyword"}
    }}));
    let long = "a".repeat(32_767);
    for field in ["k", "w"] {
        let error = refused(&mapping, &format!("{{\"{field}\":\"{long}\"}}"));
        assert_eq!(error.kind, crate::ErrorKind::IllegalArgument);
        let start =
            format!("Document contains at least one immense term in field=\"{field}\" (whose UTF8");
        assert!(error.reason.starts_with(&start), "{}", error.reason);
        assert!(error.reason.ends_with("bytes can be at most 32766 in length; got 32767"));
    }
    let fits = format!("{{\"k\":\"{}\"}}", &long[1..]);
    assert_eq!(read(&mapping, &fits).len(), 1);
}

/// Offsets of an arena ended beyond 4 GiB, and the process with them; a phrase met what is 2^31 positions away.
#[test]
fn what_an_analyzer_makes_of_a_text_is_bounded() {
    let analysis = crate::analysis::Registry::parse(&json!({
        "tokenizer": {"pieces": {"type": "ngram", "min_gram": 600, "max_gram": 600}},
        "analyzer": {"pieces": {"tokenizer": "pieces"}}
    }));
    let analysis = Arc::new(analysis.expect("known parts"));
    let settings = Settings { analysis, ..Settings::default() };
    let fields = json!({"properties": {
        "p": {"type": "text", "analyzer": "pieces"},
        "n": {"type": "long"},
        "far": {"type": "text", "position_increment_gap": 2_147_483_647},
        "near": {"type": "text", "position_increment_gap": 2_147_483_519}
    }});
    let mapping = Mapping::parse(&fields, Arc::new(settings)).expect("a mapping");
    let mut arena = Arena::bounded(1 << 20);
    let parse = |source: &str, arena: &mut Arena| {
        Parser::new().parse(&mapping, "1", source.as_bytes(), Mode::Strict, arena)
    };
    let long = format!(r#"{{"p":"{}"}}"#, "x".repeat(3_000));
    let error = parse(&long, &mut arena).expect_err("more than a megabyte");
    assert_eq!(error.kind, crate::ErrorKind::NoMemory, "{error}");
    assert!(arena.size_bytes() < 100, "nothing is left behind");
    // Each document has that room for itself.
    let short = format!(r#"{{"p":"{}"}}"#, "x".repeat(1_500));
    for _ in 0..4 {
        assert!(matches!(parse(&short, &mut arena), Ok(Parsed::Ready(_))));
    }
    let numbers = format!(r#"{{"n":[{}]}}"#, vec!["7"; 100_000].join(","));
    let error = parse(&numbers, &mut arena).expect_err("more than a megabyte");
    assert_eq!(error.kind, crate::ErrorKind::NoMemory, "{error}");
    let error = parse(r#"{"far":["a","b c"]}"#, &mut arena).expect_err("too far");
    assert_eq!(
        error.reason,
        "position overflowed Integer.MAX_VALUE (got posIncr=1 lastPosition=0 position=-2147483648) for \
         field 'far'"
    );
    let error = parse(r#"{"near":["a","b","c"]}"#, &mut arena).expect_err("too far");
    assert_eq!(error.kind, crate::ErrorKind::PositionTooGreat, "{error}");
    // What was acknowledged is not lost.
    let mut parser = Parser::new();
    let far = br#"{"far":["a","b c"]}"#;
    assert!(parser.parse(&mapping, "1", far, Mode::Replay, &mut arena).is_ok());
}

/// Such a document was taken, and its shard served nobody from the next refresh on.
#[test]
fn what_a_document_says_of_itself_is_no_immense_term_either() {
    let long = "a".repeat(32_767);
    let mapping = mapping(json!({"properties": {
        (long.clone()): {"type": "long", "ignore_malformed": true},
        (format!("{long}k")): {"type": "keyword", "ignore_above": 1},
        (format!("{long}n")): {"type": "nested", "properties": {"n": {"type": "long", "ignore_malformed": true}}},
        "j": {"type": "join", "relations": {(long.clone()): "answer"}}
    }}));
    for (document, field) in [
        (format!("{{\"{long}\":\"x\"}}"), "_ignored"),
        (format!("{{\"{long}k\":\"xy\"}}"), "_ignored"),
        (format!("{{\"{long}n\":{{\"n\":1}}}}"), "_nested_path"),
        (format!("{{\"j\":\"{long}\"}}"), "j"),
    ] {
        let error = refused(&mapping, &document);
        let start =
            format!("Document contains at least one immense term in field=\"{field}\" (whose UTF8");
        assert!(error.reason.starts_with(&start), "{}", error.reason);
    }
    // What was taken before is not lost.
    let mut arena = Arena::new();
    let source = format!("{{\"{long}\":\"x\",\"{long}n\":{{\"n\":1}},\"j\":\"{long}\"}}");
    parse(&mapping, &source, Mode::Replay, &mut arena).expect("the document stays");
    assert_eq!(show(&mapping, &arena, 0), [""; 0]);
}

#[test]
fn dynamic_says_what_happens_to_new_fields() {
    let strict = mapping(json!({"dynamic": "strict", "properties": {
        "loose": {"dynamic": true, "properties": {}},
        "deaf": {"dynamic": false, "properties": {"a": {"type": "long"}}}
    }}));
    for source in [r#"{"zz":1}"#, r#"{"zz":null}"#, r#"{"zz":[]}"#, r#"{"zz":{}}"#, r#"{"zz.y":1}"#]
    {
        let error = refused(&strict, source);
        assert_eq!(error.kind, crate::ErrorKind::StrictDynamicMapping);
        let want =
            "mapping set to strict, dynamic introduction of [zz] within [_doc] is not allowed";
        assert!(error.reason.ends_with(want), "{}", error.reason);
        assert!(error.reason.starts_with("[1:"));
    }
    let error = refused(
        &mapping(json!({"properties": {"o": {"dynamic": "strict", "properties": {}}}})),
        r#"{"o":{"x":1}}"#,
    );
    assert!(error.reason.ends_with("introduction of [x] within [o] is not allowed"));
    assert_eq!(
        read(&strict, r#"{"deaf":{"a":1,"b":2,"c":{"d":3},"e.f":4}}"#),
        ["deaf.a: number 1"]
    );
    let grown = grown(&strict, r#"{"loose":{"x":{"y":1}}}"#);
    assert_eq!(grown.field("loose.x.y").expect("new").type_name(), "long");
}

#[test]
fn malformed_values_are_left_out_where_the_mapping_says() {
    let settings = Settings { ignore_malformed: true, ..Settings::default() };
    let mappings = json!({"properties": {
        "n": {"type": "integer"}, "d": {"type": "date"}, "b": {"type": "boolean"},
        "strict": {"type": "integer", "ignore_malformed": false}
    }});
    let mapping = Mapping::parse(&mappings, Arc::new(settings)).expect("a good mapping");
    assert_eq!(
        read(&mapping, r#"{"n":["word",1,"x"],"d":"never","b":"yes"}"#),
        ["n: ignored", "n: number 1", "d: ignored", "b: ignored"]
    );
    assert!(refused(&mapping, r#"{"strict":"word"}"#).reason.contains("[strict]"));
    assert!(
        refused(&mapping, r#"{"n":{"a":1}}"#).reason.contains("[n]"),
        "objects are refused still"
    );
}

#[test]
fn limits_bound_what_documents_add() {
    let settings = |total_fields, ignore_dynamic_beyond| {
        let limits =
            crate::Limits { total_fields, ignore_dynamic_beyond, depth: 3, ..Default::default() };
        Arc::new(Settings { limits, ..Settings::default() })
    };
    let three = Mapping::empty(settings(3, false));
    let error = refused(&three, r#"{"a":1,"b":2,"c":3,"d":4}"#);
    assert_eq!(
        error.reason,
        "[1:24] failed to parse: Limit of total fields [3] has been exceeded while adding new fields [4]"
    );
    let error = refused(&Mapping::empty(settings(10, false)), r#"{"a":{"b":{"c":{"d":1}}}}"#);
    assert_eq!(
        error.reason,
        "Limit of mapping depth [3] has been exceeded due to object field [a.b.c]"
    );
    let lenient = Mapping::empty(settings(3, true));
    let grown = grown(&lenient, r#"{"a":1,"b":2,"c":3,"d":4,"e":{"f":5}}"#);
    assert_eq!(grown.total_fields(), 3);
    assert_eq!(
        read(&grown, r#"{"a":1,"d":4,"e":{"f":5},"g":[1,2]}"#),
        ["a: number 1", "d: ignored", "e: ignored", "g: ignored"]
    );
}

#[test]
fn replay_never_loses_an_acknowledged_document() {
    let now = mapping(json!({"dynamic": "strict", "properties": {
        "n": {"type": "long"}, "o": {"properties": {"x": {"type": "date"}}}, "k": {"type": "keyword"}
    }}));
    let mut arena = Arena::new();
    let long = "a".repeat(40_000);
    let source = format!(
        r#"{{"n":"word","o":{{"x":"no date"}},"unknown":{{"a":1}},"k":["fine","{long}"],"n.y":1,"":5,"_id":3}}"#
    );
    let parsed = parse(&now, &source, Mode::Replay, &mut arena).expect("the document stays");
    assert!(matches!(parsed, Parsed::Ready(0)));
    assert_eq!(
        show(&now, &arena, 0),
        ["n: ignored", "o.x: ignored", "k: keyword fine", "k: ignored", "n: ignored"]
    );
    let parsed = parse(&now, r#"{"o":5}"#, Mode::Replay, &mut arena).expect("the document stays");
    assert!(matches!(parsed, Parsed::Ready(1)));
    assert_eq!(show(&now, &arena, 1), ["o: ignored"]);
    assert!(parse(&now, "{", Mode::Replay, &mut arena).is_err());
    assert_eq!(arena.len(), 2);
}

/// `coerce` may be turned off between the write and the replay.
#[test]
fn replay_finds_values_that_were_coerced() {
    let now = mapping(json!({"properties": {
        "n": {"type": "long", "coerce": false}, "f": {"type": "scaled_float", "scaling_factor": 10.0, "coerce": false},
        "m": {"type": "long", "coerce": false, "ignore_malformed": true}
    }}));
    let mut arena = Arena::new();
    let source = r#"{"n":["5",6.7,"","word"],"f":"1.5","m":"5"}"#;
    parse(&now, source, Mode::Replay, &mut arena).expect("the document stays");
    assert_eq!(
        show(&now, &arena, 0),
        ["n: number 5", "n: number 6", "n: ignored", "f: number 15", "m: ignored"]
    );
    refused(&now, r#"{"n":"5"}"#);
}

#[test]
fn templates_decide_what_new_fields_become() {
    let mapping = mapping(json!({"dynamic_templates": [
        {"ids": {"match": "*_id", "mapping": {"type": "keyword"}}},
        {"longs": {"match_mapping_type": "long", "unmatch": "*_big", "mapping": {"type": "integer"}}},
        {"path": {"path_match": "o.*", "path_unmatch": "o.skip", "match_mapping_type": "string", "mapping": {"type": "text", "copy_to": "all"}}},
        {"named": {"match": "n?", "mapping": {"type": "keyword"}}},
        {"raw": {"match": "raw*", "match_mapping_type": ["string", "double"], "mapping": {"type": "{dynamic_type}", "index": false}}},
        {"strings": {"match_mapping_type": "string", "mapping": {"type": "keyword", "ignore_above": 10}}}
    ]}));
    let grown = grown(
        &mapping,
        r#"{"user_id":5,"n":1,"n_big":2,"s":"abc","o":{"t":"hello world","skip":"x"},"raw1":2.5,"raw2":"q"}"#,
    );
    let shown = grown.to_json();
    assert_eq!(
        shown.get("properties"),
        Some(&json!({
            "all": {"type": "keyword", "ignore_above": 10},
            "n": {"type": "integer"},
            "n_big": {"type": "long"},
            "o": {"properties": {"skip": {"type": "keyword", "ignore_above": 10}, "t": {"type": "text", "copy_to": ["all"]}}},
            "raw1": {"type": "float", "index": false},
            "raw2": {"type": "text", "index": false},
            "s": {"type": "keyword", "ignore_above": 10},
            "user_id": {"type": "keyword"}
        }))
    );
}

/// A template for values of all kinds says something of fields, and a document with an object in it was refused.
#[test]
fn what_a_template_says_of_fields_is_passed_over_for_objects() {
    let mapping = mapping(json!({"dynamic_templates": [
        {"all": {"match": "*", "mapping": {"type": "{dynamic_type}", "index": false}}}
    ]}));
    let grown = grown(&mapping, r#"{"o":{"a":1,"b":"x"}}"#);
    assert_eq!(
        grown.to_json().get("properties"),
        Some(&json!({"o": {"properties": {
            "a": {"type": "long", "index": false},
            "b": {"type": "text", "index": false}
        }}}))
    );
}

#[test]
fn deep_documents_neither_crash_nor_grow_the_mapping() {
    let empty = mapping(json!({}));
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(900), "]".repeat(900));
    assert_eq!(grown(&empty, &deep).total_fields(), 1);
    let deep = format!("{}1{}", "{\"a\":".repeat(900), "}".repeat(900));
    let error = refused(&empty, &deep);
    assert!(
        error
            .reason
            .starts_with("Limit of mapping depth [20] has been exceeded due to object field [a.a."),
        "{}",
        error.reason
    );
    let dotted = format!("{{\"{}\":1}}", ["a"; 5_000].join("."));
    assert!(refused(&empty, &dotted).reason.contains("Limit of mapping depth"));
    let deaf = mapping(json!({"dynamic": false}));
    assert_eq!(read(&deaf, &deep), Vec::<String>::new());
}
