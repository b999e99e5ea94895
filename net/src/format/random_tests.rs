//! Random values, and what comes of their bytes when some are cut, turned or put in.

use json::Value;
use proptest::prelude::*;

use super::{Encoding, of_json, room, to_json};

const ENCODINGS: [Encoding; 3] = [Encoding::Yaml, Encoding::Cbor, Encoding::Smile];

/// Texts of every length that one of the encodings writes in its own way, and names that come again.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,2}",
        "\\PC{0,12}",
        "[ -~\\n\\t]{0,70}",
        Just("true".to_owned()),
        Just("0x1f".to_owned()),
        (30usize..70, "[aé]").prop_map(|(times, unit)| unit.repeat(times)),
        Just("x".repeat(256)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        (-40i64..70_000).prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        "-?[1-9][0-9]{15,60}",
        any::<f64>().prop_filter("JSON has these only", |number| number.is_finite()).prop_map(
            |number| {
                let text = format!("{number:?}");
                if text.contains(['.', 'e']) { text } else { format!("{text}.0") }
            }
        ),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(|text| json::parse(text.as_bytes()).expect("a number")),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(word(), inner, 0..6).prop_map(|members| {
                let mut object = json::Object::new();
                for (key, value) in members {
                    object.insert(key, value);
                }
                Value::Object(object)
            }),
        ]
    })
}

/// Are they the same: integers by their digits, other numbers by the double that they mean?
fn same(one: &Value, two: &Value) -> bool {
    match (one, two) {
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| same(one, two))
        }
        (Value::Object(one), Value::Object(two)) => {
            one.len() == two.len()
                && one.iter().zip(two.iter()).all(|(one, two)| one.0 == two.0 && same(one.1, two.1))
        }
        (Value::Number(_), Value::Number(_)) => {
            let (one, two) = (json::to_string(one), json::to_string(two));
            let is_whole = |text: &str| !text.contains(['.', 'e', 'E']);
            one == two || (!is_whole(&one) && one.parse::<f64>().ok() == two.parse::<f64>().ok())
        }
        _ => one == two,
    }
}

proptest! {
    #[test]
    fn any_value_is_read_as_it_was_written(value in value()) {
        let text = json::to_string(&value);
        for encoding in ENCODINGS {
            let written = of_json(encoding, text.as_bytes()).expect("JSON");
            let read = to_json(encoding, &written).map_err(|error| {
                TestCaseError::fail(format!("{encoding:?}: {error}: {text}"))
            })?;
            let read = json::parse(&read).expect("JSON");
            prop_assert!(same(&value, &read), "{:?}: {} became {}", encoding, text, json::to_string(&read));
        }
    }

    #[test]
    fn bytes_of_others_are_refused_or_json(
        value in value(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..8),
    ) {
        let text = json::to_string(&value);
        for encoding in ENCODINGS {
            let mut bytes = of_json(encoding, text.as_bytes()).expect("JSON");
            for (at, byte, kind) in &edits {
                if bytes.is_empty() {
                    break;
                }
                let at = at.index(bytes.len());
                match kind {
                    0 => bytes[at] = *byte,
                    1 => bytes.insert(at, *byte),
                    _ => bytes.truncate(at),
                }
            }
            let Ok(read) = to_json(encoding, &bytes) else { continue };
            prop_assert!(read.len() <= room(bytes.len()) + 64, "{:?}: {} bytes of {}", encoding, read.len(), bytes.len());
            if let Err(error) = json::parse(&read) {
                prop_assert!(error.to_string().to_lowercase().contains("duplicate"), "{:?}: {}", encoding, error);
            }
        }
    }
}
