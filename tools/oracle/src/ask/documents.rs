//! Random documents under a mapping: arrays, missing values, nulls, nested objects.

use json::{Number, Object, Value, json};

use crate::chance::Chance;
use crate::find::words::PIECES;

/// Short words for keywords; some repeat in other letters.
pub const WORDS: &[&str] = &[
    "red", "Red", "green", "blue", "blues", "teal", "navy", "navyblue", "", "white", "über", "a b",
];

/// Places on a coarse grid, off the edges that questions ask for.
pub const PLACES: &[(f64, f64)] = &[
    (0.5, 0.5),
    (10.5, 20.5),
    (-30.5, 100.5),
    (52.5, 13.5),
    (52.5, 12.5),
    (-89.5, 0.5),
    (89.5, -170.5),
    (0.5, 179.5),
    (0.5, -179.5),
    (40.5, -74.5),
];

/// One item of a bulk request.
pub fn item(
    chance: &mut Chance,
    mapping: &Value,
    most: usize,
    uid: &mut u64,
    changes: bool,
) -> Value {
    let id = format!("d{}", chance.below(most));
    *uid += 1;
    match chance.below(if changes { 10 } else { 30 }) {
        0 => json!({"delete": id}),
        1 => {
            let mut doc = document(chance, mapping);
            if let Some(doc) = doc.as_object_mut() {
                let keys: Vec<String> = doc.keys().map(str::to_owned).collect();
                for key in keys {
                    // Two halves of ranges may make none.
                    if key.ends_with("_range") || !chance.one_in(4) {
                        doc.remove(&key);
                    }
                }
            }
            json!({"update": id, "doc": doc})
        }
        _ => {
            let mut doc = document(chance, mapping);
            if let Some(doc) = doc.as_object_mut() {
                doc.insert("uid", *uid);
                if chance.one_in(12) {
                    doc.insert("_doc_count", 1 + chance.below(9));
                }
            }
            json!({"index": id, "doc": doc})
        }
    }
}

fn document(chance: &mut Chance, mapping: &Value) -> Value {
    let mut doc = Object::new();
    let properties = mapping.get("properties").and_then(Value::as_object);
    for (name, params) in properties.into_iter().flat_map(Object::iter) {
        let kind = params.get("type").and_then(Value::as_str).unwrap_or("object");
        if matches!(name, "uid" | "all") || chance.one_in(5) {
            continue;
        }
        match kind {
            "nested" => {
                let count = chance.below(4);
                let all: Vec<Value> = (0..count).map(|_| document(chance, params)).collect();
                doc.insert(name, Value::Array(all));
            }
            "object" => drop(doc.insert(name, document(chance, params))),
            "alias" | "constant_keyword" => {}
            _ => drop(doc.insert(name, field(chance, name, kind, params))),
        }
    }
    if chance.one_in(10) {
        doc.insert("unknown", json!({"x": 1}));
    }
    Value::Object(doc)
}

fn field(chance: &mut Chance, name: &str, kind: &str, params: &Value) -> Value {
    let single = matches!(name, "one" | "least");
    let malformed = params.get("ignore_malformed").and_then(Value::as_bool) == Some(true);
    if malformed && chance.one_in(8) {
        return Value::from("rubbish");
    }
    match chance.below(12) {
        0 => Value::Null,
        1 if !single => Value::Array(Vec::new()),
        2 | 3 if !single => {
            let count = chance.between(1, 4);
            (0..count).map(|_| value(chance, kind)).collect()
        }
        4 if !single && kind != "geo_point" => {
            json!([null, (value(chance, kind)), [(value(chance, kind))]])
        }
        _ if name == "least" => Value::from(chance.between(-1, 4)),
        _ => value(chance, kind),
    }
}

/// Text of a few pieces.
pub fn text(chance: &mut Chance, most: usize) -> String {
    let count = chance.below(most + 1);
    let pieces: Vec<String> = (0..count)
        .map(|_| {
            let (piece, _) = chance.pick(PIECES);
            match chance.below(6) {
                0 => piece.to_uppercase(),
                1 => {
                    let mut letters = piece.chars();
                    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
                    first.unwrap_or_default() + letters.as_str()
                }
                _ => piece.to_owned(),
            }
        })
        .collect();
    pieces.join(chance.pick(&[" ", " ", "  ", "\t"]))
}

/// A moment in the years 2023 and 2024.
pub fn moment(chance: &mut Chance) -> String {
    let (year, month) = (chance.between(2023, 2024), chance.between(1, 12));
    let day = chance.between(1, 28);
    let (hour, minute) = (chance.below(24), chance.below(60));
    match chance.below(6) {
        0 => format!("{year}-{month:02}-{day:02}"),
        1 => format!("{year}-{month:02}"),
        2 => format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:07.250Z"),
        3 => format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:30+02:00"),
        // Around the two nights in which clocks are put back and forth.
        4 => format!(
            "{}T{:02}:{minute:02}:00.000Z",
            chance.pick(&["2023-03-26", "2023-10-29", "2024-03-31", "2024-10-27"]),
            chance.below(4)
        ),
        _ => format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}"),
    }
}

fn number(text: &str) -> Value {
    Number::from_text(text).map_or(Value::Null, Value::from)
}

/// A value of a type.
pub fn value(chance: &mut Chance, kind: &str) -> Value {
    let small = chance.between(-20, 60);
    let extreme = chance.one_in(12);
    match kind {
        "text" => Value::from(text(chance, chance.clone().pick(&[3, 8, 8, 60]))),
        "keyword" | "wildcard" => Value::from(chance.pick(WORDS)),
        "byte" if extreme => number(chance.pick(&["127", "-128"])),
        "short" if extreme => number(chance.pick(&["32767", "-32768"])),
        "integer" if extreme => number(chance.pick(&["2147483647", "-2147483648"])),
        "long" if extreme => number(chance.pick(&[
            "9223372036854775807",
            "-9223372036854775808",
            "9007199254740993",
        ])),
        "unsigned_long" if extreme => {
            number(chance.pick(&["18446744073709551615", "9223372036854775808", "0"]))
        }
        "unsigned_long" => Value::from(small.abs()),
        "byte" | "short" | "integer" | "long" => match chance.below(6) {
            // Taken as whole numbers.
            0 => Value::from(small.to_string()),
            1 => number(&format!("{small}.7")),
            _ => Value::from(small),
        },
        "half_float" => Value::from(small as f64 * 0.25),
        "float" | "double" => match chance.below(5) {
            0 => number(chance.pick(&["0.1", "3.14", "-2.5", "1e10", "1e-3"])),
            1 => Value::from(small),
            _ => Value::from(small as f64 * 0.5),
        },
        "scaled_float" => number(&format!("{:.2}", small as f64 * 0.13)),
        "boolean" => match chance.below(4) {
            0 => Value::from(chance.pick(&["true", "false"])),
            _ => Value::from(chance.one_in(2)),
        },
        "date" | "date_nanos" => match chance.below(6) {
            0 if kind == "date" => Value::from(1_700_000_000_000 + small * 86_400_000),
            _ => Value::from(moment(chance)),
        },
        "ip" => Value::from(chance.pick(&[
            "10.0.0.1",
            "10.0.0.2",
            "10.0.1.1",
            "192.168.0.1",
            "2001:db8::1",
            "2001:db8::ff",
            "::1",
            "0.0.0.0",
        ])),
        "geo_point" => {
            let (lat, lon) = chance.pick(PLACES);
            match chance.below(3) {
                0 => json!({"lat": lat, "lon": lon}),
                1 => json!([lon, lat]),
                _ => Value::from(format!("{lat},{lon}")),
            }
        }
        "date_range" => {
            let begin = format!(
                "2024-{:02}-{:02}T00:00:00.000Z",
                chance.between(1, 6),
                chance.between(1, 28)
            );
            let end = format!(
                "2024-{:02}-{:02}T12:00:00.000Z",
                chance.between(7, 12),
                chance.between(1, 28)
            );
            ends(chance, Value::from(begin), Value::from(end))
        }
        "double_range" => {
            let (low, high) = (small as f64 * 0.5, (small + chance.between(2, 30)) as f64 * 0.5);
            ends(chance, Value::from(low), Value::from(high))
        }
        "integer_range" | "long_range" => {
            let high = small + chance.between(3, 30);
            ends(chance, Value::from(small), Value::from(high))
        }
        _ => Value::Null,
    }
}

fn ends(chance: &mut Chance, low: Value, high: Value) -> Value {
    let mut range = Object::new();
    if !chance.one_in(8) {
        range.insert(chance.pick(&["gt", "gte"]), low);
    }
    if !chance.one_in(8) {
        range.insert(chance.pick(&["lt", "lte"]), high);
    }
    Value::Object(range)
}

/// The pieces of texts.
pub fn pieces() -> &'static [crate::find::words::Piece] {
    PIECES
}
