//! Stories of the scanner: tokens, places, refusals.

use super::*;

fn all(text: &[u8]) -> Result<Vec<Event>> {
    let mut scanner = Scanner::new(text, Limits::DEFAULT)?;
    let mut events = Vec::new();
    while let Some(event) = scanner.next()? {
        events.push(event);
    }
    Ok(events)
}

fn fault(text: &str) -> (ErrorKind, String, u32) {
    let error = all(text.as_bytes()).expect_err(text);
    (error.kind, error.message, error.column)
}

#[test]
fn tokens_carry_their_bytes() {
    let text = r#"{"a":[1,"b\n"],"c":{}} "#;
    let events = all(text.as_bytes()).expect("good text");
    let shown: Vec<(&str, &str)> =
        events.iter().map(|e| (e.token.name(), &text[e.start..e.end])).collect();
    assert_eq!(
        shown,
        [
            ("START_OBJECT", "{"),
            ("FIELD_NAME", r#""a""#),
            ("START_ARRAY", "["),
            ("VALUE_NUMBER", "1"),
            ("VALUE_STRING", r#""b\n""#),
            ("END_ARRAY", "]"),
            ("FIELD_NAME", r#""c""#),
            ("START_OBJECT", "{"),
            ("END_OBJECT", "}"),
            ("END_OBJECT", "}"),
        ]
    );
}

#[test]
fn faults_speak_jacksons_words_at_jacksons_places() {
    let start_name = "was expecting double-quote to start field name";
    let table: &[(&str, String, u32)] = &[
        ("{query:{}}", format!("Unexpected character ('q' (code 113)): {start_name}"), 2),
        ("{'query':{}}", format!("Unexpected character (''' (code 39)): {start_name}"), 2),
        (r#"{"a":1,}"#, format!("Unexpected character ('}}' (code 125)): {start_name}"), 8),
        (
            r#"{"a" 1}"#,
            "Unexpected character ('1' (code 49)): was expecting a colon to separate field name \
             and value"
                .to_owned(),
            6,
        ),
        (
            "foo",
            "Unrecognized token 'foo': was expecting (JSON String, Number, Array, Object or token \
             'null', 'true' or 'false')"
                .to_owned(),
            4,
        ),
        (r#"{"size":01}"#, "Invalid numeric value: Leading zeroes not allowed".to_owned(), 10),
        (
            "[1 2]",
            "Unexpected character ('2' (code 50)): was expecting comma to separate Array entries"
                .to_owned(),
            4,
        ),
        (
            "\"a\nb\"",
            "Illegal unquoted character ((CTRL-CHAR, code 10)): has to be escaped using backslash \
             to be included in string value"
                .to_owned(),
            3,
        ),
        (r#""\x""#, "Unrecognized character escape 'x' (code 120)".to_owned(), 3),
        ("[1,]", "Unexpected character (']' (code 93)): expected a value".to_owned(), 4),
    ];
    for (text, message, column) in table {
        assert_eq!(fault(text), (ErrorKind::Syntax, message.clone(), *column), "{text}");
    }
    assert!(fault("[}").1.starts_with("Unexpected close marker '}': expected ']' (for Array "));
    assert!(fault(r#"{"size":NaN}"#).1.starts_with("Non-standard token 'NaN': enable "));
    let (kind, message, _) = fault(r#"{"a":1}}"#);
    assert_eq!(kind, ErrorKind::Syntax);
    assert!(
        message.starts_with("Unexpected close marker '}': expected ']' (for root starting at ")
    );
}

#[test]
fn early_ends_are_told_apart() {
    let (kind, message, column) = fault(r#"{"query":{}"#);
    assert_eq!((kind, column), (ErrorKind::UnexpectedEnd, 12));
    assert!(message.starts_with(
        "Unexpected end-of-input: expected close marker for Object (start marker at [Source: \
         (byte[])"
    ));
    for text in [
        "", "  ", "[", "[1", "[1,", "{\"a", "{\"a\"", "{\"a\":", "\"", "\"\\", "\"\\u00", "1.", "-",
    ] {
        assert_eq!(fault(text).0, ErrorKind::UnexpectedEnd, "{text}");
    }
}

#[test]
fn second_values_are_named() {
    assert_eq!(fault("{} {}").0, ErrorKind::Trailing("START_OBJECT"));
    assert_eq!(fault("1 true").0, ErrorKind::Trailing("VALUE_BOOLEAN"));
}

#[test]
fn depth_and_lengths_are_bounded() {
    let deep = |count: usize| "[".repeat(count) + &"]".repeat(count);
    assert!(all(deep(1_000).as_bytes()).is_ok());
    assert_eq!(fault(&deep(1_001)).0, ErrorKind::Limit);
    assert_eq!(fault(&"[".repeat(100_000)).0, ErrorKind::Limit);
    assert!(all("9".repeat(1_000).as_bytes()).is_ok());
    assert_eq!(fault(&"9".repeat(1_001)).0, ErrorKind::Limit);
    assert_eq!(fault(&format!("{{\"{}\":1}}", "k".repeat(50_001))).0, ErrorKind::Limit);
}

#[test]
fn foreign_bytes_are_refused() {
    for bytes in [&b"\"\xff\""[..], b"\"\xc3\x28\"", b"\"\xe2\x82", b"[\"\xed\xa0\x80\"]"] {
        assert_eq!(all(bytes).expect_err("not UTF-8").kind, ErrorKind::Utf8);
    }
}

#[test]
fn skipping_ends_at_the_end_of_the_value() {
    let mut scanner = Scanner::of_str(r#"[{"a":[1,[2]]},3]"#, Limits::DEFAULT);
    scanner.next().expect("good").expect("array");
    let object = scanner.next().expect("good").expect("object");
    assert_eq!(scanner.skip(object).expect("good").end, 14);
    let three = scanner.next().expect("good").expect("number");
    assert_eq!(scanner.raw(&three), "3");
}
