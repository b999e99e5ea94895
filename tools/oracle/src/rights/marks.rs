//! Marks: words that stand at one place of one document alone.

use json::{Value, json};

use crate::chance::Chance;
use crate::find::words::MARK;

/// A letter for each place, and the field that it is.
pub const PLACES: &[(char, &str)] =
    &[('t', "t1"), ('a', "k1"), ('m', "m"), ('o', "o.k"), ('n', "nest.k"), ('w', "nest.t")];

/// The mapping of every index of a case.
pub fn mapping() -> Value {
    json!({"dynamic": false, "properties": {
        "uid": {"type": "long"},
        "least": {"type": "integer"},
        "one": {"type": "keyword"},
        "t1": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
        "k1": {"type": "keyword"},
        "k2": {"type": "keyword"},
        "m": {"type": "keyword"},
        "f_integer": {"type": "integer"},
        "f_boolean": {"type": "boolean"},
        "f_date": {"type": "date"},
        "o": {"properties": {"k": {"type": "keyword"}, "n": {"type": "integer"}}},
        "nest": {"type": "nested", "properties": {
            "k": {"type": "keyword"}, "n": {"type": "integer"}, "t": {"type": "text"}
        }}
    }})
}

/// A word for a place of a document.
pub fn mark(doc: usize, place: char) -> String {
    format!("{MARK}{doc:03}{place}")
}

/// The id of a document is a mark too.
pub fn id(doc: usize) -> String {
    mark(doc, 'i')
}

/// A document whose values carry its marks.
pub fn document(chance: &mut Chance, doc: usize) -> Value {
    let pieces = ["quick", "brown", "fox", "dog", "lazy", "red", "blue"];
    let words = |chance: &mut Chance, place| {
        format!("{} {} {}", chance.pick(&pieces), mark(doc, place), chance.pick(&pieces))
    };
    let colours = ["red", "green", "blue", "teal"];
    let nested: Vec<Value> = (0..chance.below(3))
        .map(|_| {
            json!({
                "k": [(mark(doc, 'n')), (chance.pick(&colours))],
                "n": (chance.below(5)),
                "t": (words(chance, 'w'))
            })
        })
        .collect();
    json!({
        "uid": doc,
        "least": (chance.below(3)),
        "one": (chance.pick(&colours)),
        "t1": (words(chance, 't')),
        "k1": [(chance.pick(&colours)), (mark(doc, 'a'))],
        "k2": (chance.pick(&colours)),
        "m": (mark(doc, 'm')),
        "f_integer": (chance.below(6)),
        "f_boolean": (chance.one_in(2)),
        "f_date": (format!("2024-0{}-10", chance.between(1, 9))),
        "o": {"k": (mark(doc, 'o')), "n": (chance.below(5))},
        "nest": nested
    })
}

/// All marks in a text: document and place. Case is nothing.
pub fn found(text: &str) -> Vec<(usize, char)> {
    let text = text.to_lowercase();
    let mut all = Vec::new();
    for (at, _) in text.match_indices(MARK) {
        let rest = &text[at + MARK.len()..];
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let place = rest[digits.len()..].chars().next();
        // Three digits: less may stand in any random text.
        if digits.len() != 3 {
            continue;
        }
        if let (Ok(doc), Some(place)) = (digits.parse(), place) {
            all.push((doc, place));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The field of a place; `None` for the id.
pub fn field(place: char) -> Option<&'static str> {
    PLACES.iter().find(|(letter, _)| *letter == place).map(|(_, field)| *field)
}
