//! Values and ranges of queries, against plain comparison where there is one.

use std::sync::Arc;

use json::json;

use super::*;
use crate::{ErrorKind, Mapping};

const NOW: i64 = 1_718_461_845_123; // 2024-06-15T14:30:45.123Z

fn mapping() -> Mapping {
    let mappings = json!({"properties": {
        "long": {"type": "long"}, "integer": {"type": "integer"}, "byte": {"type": "byte"},
        "double": {"type": "double"}, "float": {"type": "float"}, "boolean": {"type": "boolean"},
        "date": {"type": "date"}, "year": {"type": "date", "format": "yyyy"},
        "keyword": {"type": "keyword"}, "lower": {"type": "keyword", "normalizer": "lowercase"},
        "text": {"type": "text"}
    }});
    Mapping::parse(&mappings, Arc::default()).expect("a good mapping")
}

fn term(field: &str, value: Value) -> Result<QueryValue> {
    mapping().field(field).expect("there").parse_query_value(&value, NOW)
}

fn ms(text: &str) -> i64 {
    super::super::date_format::DEFAULT.parse_ms(text).expect("a date")
}

#[test]
fn terms_are_what_the_field_would_have_kept() {
    let bytes = |text: &str| Ok(QueryValue::Term(text.as_bytes().to_vec()));
    assert_eq!(term("keyword", json!("Ab")), bytes("Ab"));
    assert_eq!(term("keyword", json!(true)), bytes("true"));
    assert_eq!(term("lower", json!("Ab")), bytes("ab"));
    assert_eq!(term("text", json!("Ab c")), bytes("Ab c"));
    assert_eq!(term("long", json!("12")), Ok(QueryValue::Number(12)));
    assert_eq!(term("long", json!(12.0)), Ok(QueryValue::Number(12)));
    assert_eq!(term("integer", json!(10.5)), Ok(QueryValue::Nothing));
    assert_eq!(term("integer", json!(3_000_000_000_i64)), Ok(QueryValue::Nothing));
    assert_eq!(term("byte", json!(-128)), Ok(QueryValue::Number(-128)));
    assert_eq!(term("float", json!(4.5)), Ok(QueryValue::Number(sortable::from_f32(4.5))));
    assert_eq!(term("double", json!("1e400")), Ok(QueryValue::Nothing));
    assert_eq!(term("boolean", json!("true")), Ok(QueryValue::Number(1)));
    assert_eq!(
        term("date", json!("2024-02-01")),
        Ok(QueryValue::Numbers(ms("2024-02-01"), ms("2024-02-01T23:59:59.999")))
    );
    assert_eq!(term("date", json!(5)), Ok(QueryValue::Numbers(5, 5)));
    assert_eq!(
        term("year", json!("2024")),
        Ok(QueryValue::Numbers(ms("2024"), ms("2024-01-01T23:59:59.999")))
    );
    // A number is milliseconds, whatever the format.
    assert_eq!(term("year", json!(2024)), Ok(QueryValue::Numbers(2024, 2024)));
    for (field, value, reason, kind) in [
        ("long", json!("abc"), "For input string: \"abc\"", ErrorKind::NumberFormat),
        ("double", json!("abc"), "For input string: \"abc\"", ErrorKind::NumberFormat),
        (
            "boolean",
            json!("foo"),
            "Can't parse boolean value [foo], expected [true] or [false]",
            ErrorKind::IllegalArgument,
        ),
        (
            "date",
            json!("foo"),
            "failed to parse date field [foo] with format [strict_date_optional_time||epoch_millis]: [failed to parse date field [foo] with format [strict_date_optional_time||epoch_millis]]",
            ErrorKind::Parse,
        ),
    ] {
        let error = term(field, value).expect_err("refused");
        assert_eq!((error.reason.as_str(), error.kind), (reason, kind));
    }
}

fn range(
    field: &str,
    lower: Option<(Value, bool)>,
    upper: Option<(Value, bool)>,
) -> Result<Bounds> {
    let options = RangeOptions { now_ms: NOW, ..RangeOptions::default() };
    range_with(field, lower, upper, &options)
}

fn range_with(
    field: &str,
    lower: Option<(Value, bool)>,
    upper: Option<(Value, bool)>,
    options: &RangeOptions<'_>,
) -> Result<Bounds> {
    let lower = lower.as_ref().map(|(value, included)| (value, *included));
    let upper = upper.as_ref().map(|(value, included)| (value, *included));
    mapping().field(field).expect("there").parse_range(lower, upper, options)
}

#[test]
fn decimal_ends_of_integers_move_inwards() {
    let bounds = |lower: Value, upper: Value| {
        range("integer", Some((lower, true)), Some((upper, true))).expect("good ends")
    };
    assert_eq!(bounds(json!(1.5), json!(3.5)), Bounds::Numbers(2, 3));
    assert_eq!(bounds(json!(-1.5), json!(-0.5)), Bounds::Numbers(-1, -1));
    assert_eq!(bounds(json!("2"), json!("2.0")), Bounds::Numbers(2, 2));
    assert_eq!(bounds(json!(5), json!(4)), Bounds::Nothing);
    assert_eq!(
        range("integer", Some((json!(5), false)), Some((json!(5), false))),
        Ok(Bounds::Nothing)
    );
    assert_eq!(range("long", Some((json!(i64::MAX), false)), None), Ok(Bounds::Nothing));
    assert_eq!(range("long", None, None), Ok(Bounds::Numbers(i64::MIN, i64::MAX)));
    assert_eq!(
        range("byte", Some((json!(1000), true)), None),
        Ok(Bounds::Numbers(1000, i64::from(i32::MAX)))
    );
    let error =
        range("integer", Some((json!(3_000_000_000_i64), true)), None).expect_err("refused");
    assert_eq!(error.reason, "Value [3000000000] is out of range for an integer");
}

#[test]
fn terms_of_whole_numbers_must_fit_their_type() {
    let mapping = mapping();
    let terms = |field: &str, value: Value| {
        let read = mapping.field(field).expect("there").parse_terms_value(&value, NOW);
        read.map_err(|error| error.reason)
    };
    let refused =
        |text: &str, kind: &str| Err(format!("Value [{text}] is out of range for {kind}"));
    assert_eq!(terms("integer", json!(2_147_483_647_i64)), Ok(QueryValue::Number(2_147_483_647)));
    assert_eq!(terms("integer", json!(2_147_483_648_i64)), refused("2147483648", "an integer"));
    assert_eq!(terms("integer", json!(1.5)), Ok(QueryValue::Nothing));
    assert_eq!(terms("byte", json!(200)), Ok(QueryValue::Nothing));
    assert_eq!(
        terms("long", json!("99999999999999999999")),
        refused("99999999999999999999", "a long")
    );
    assert_eq!(terms("long", json!(1e30)), refused("1.0E30", "a long"));
}

/// The plainest reading of a range over an integer field: try each number.
#[test]
fn integer_ranges_hold_what_comparing_doubles_holds() {
    proptest::proptest!(|(low in -8f64..8.0, high in -8f64..8.0, cut: bool, gte: bool, lte: bool)| {
        let (low, high) = if cut { (low.trunc(), high.trunc()) } else { (low, high) };
        let bounds = range("long", Some((json!(low), gte)), Some((json!(high), lte))).expect("good ends");
        for n in -10i64..10 {
            let value = n as f64;
            let above = if gte { value >= low } else { value > low };
            let below = if lte { value <= high } else { value < high };
            let inside = matches!(bounds, Bounds::Numbers(least, most) if least <= n && n <= most);
            proptest::prop_assert_eq!(inside, above && below, "{} {:?}", n, bounds);
        }
    });
}

#[test]
fn float_ranges_end_at_the_next_float() {
    let at = sortable::from_f64;
    assert_eq!(
        range("double", Some((json!(1.0), false)), Some((json!(2.0), true))),
        Ok(Bounds::Numbers(at(1.0) + 1, at(2.0)))
    );
    assert_eq!(
        range("double", None, None),
        Ok(Bounds::Numbers(at(f64::NEG_INFINITY), at(f64::INFINITY)))
    );
    assert_eq!(
        range("float", None, Some((json!(0.1), false))),
        Ok(Bounds::Numbers(sortable::from_f32(f32::NEG_INFINITY), sortable::from_f32(0.1) - 1))
    );
}

#[test]
fn date_ends_round_by_their_sign() {
    let days = |lower: bool, upper: bool| {
        range("date", Some((json!("2024-01-01"), lower)), Some((json!("2024-01-03"), upper)))
    };
    assert_eq!(
        days(true, true),
        Ok(Bounds::Numbers(ms("2024-01-01"), ms("2024-01-03T23:59:59.999")))
    );
    assert_eq!(days(false, false), Ok(Bounds::Numbers(ms("2024-01-02"), ms("2024-01-03") - 1)));
    assert_eq!(
        range("date", Some((json!("now-1d/d"), true)), Some((json!("now/d"), false))),
        Ok(Bounds::Numbers(ms("2024-06-14"), ms("2024-06-15") - 1))
    );
    let options =
        RangeOptions { format: Some("dd/MM/yyyy||yyyy"), time_zone: Some("+05:00"), now_ms: NOW };
    assert_eq!(
        range_with(
            "date",
            Some((json!("01/02/2019"), true)),
            Some((json!("2020"), true)),
            &options
        ),
        Ok(Bounds::Numbers(ms("2019-02-01T00:00:00+05:00"), ms("2020-01-01T23:59:59.999+05:00")))
    );
    let foo = RangeOptions { time_zone: Some("foo"), ..RangeOptions::default() };
    let error = range_with("date", Some((json!("now"), true)), None, &foo).expect_err("refused");
    assert_eq!(error.reason, "Unknown time-zone ID: foo");
    let foo = RangeOptions { format: Some("foo"), ..RangeOptions::default() };
    let error = range_with("date", Some((json!("now"), true)), None, &foo).expect_err("refused");
    assert_eq!(error.reason, "Invalid format: [foo]: Unknown pattern letter: f");
}

#[test]
fn words_are_compared_as_bytes() {
    assert_eq!(
        range("lower", Some((json!("D"), true)), None),
        Ok(Bounds::Terms { lower: Some((b"d".to_vec(), true)), upper: None })
    );
}

#[test]
fn kept_values_are_shown_as_elasticsearch_shows_them() {
    let mapping = mapping();
    let shown = |field: &str, sortable: i64| {
        let field = mapping.field(field).expect("there");
        let (value, sort) = (field.format_value(sortable), field.sort_value(sortable));
        assert_eq!(field.parse_sort_value(&sort), Ok(sortable), "{sort:?}");
        (json::to_string(&value), json::to_string(&sort))
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(shown("long", 5), pair("5", "5"));
    assert_eq!(shown("double", sortable::from_f64(1.0)), pair("1.0", "1.0"));
    assert_eq!(shown("float", sortable::from_f32(0.0001)), pair("9.999999747378752E-5", "1.0E-4"));
    assert_eq!(shown("boolean", 1), pair("true", "1"));
    assert_eq!(
        shown("date", 1_582_970_400_123),
        pair("\"2020-02-29T10:00:00.123Z\"", "1582970400123")
    );
}
