//! Fields that may be queried, and what they hold.
//!
//! Always true
//! 1. All keys of one field are of one class, so that they have a total order: what is kept beside a key is its
//!    owner's, and may be a number here and a text there.

use engine::{Error, Result};
use json::Value;
use mapping::types::date_format::{DateFormat, Round};
use mapping::types::date_math::{self, Zone};

/// Dates as they are written, unless a request says otherwise.
const DATES: &str = "strict_date_optional_time||epoch_millis";

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// Words, each taken whole.
    Word,
    /// Texts, of which each word is found.
    Text,
    /// Milliseconds since 1970.
    Date,
    /// True or false.
    Truth,
    /// An object whose values are words, whatever they are in JSON.
    Object,
}

/// The fields of a family.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Fields(pub &'static [(&'static str, Kind)]);

impl Fields {
    /// What the field of this name holds.
    ///
    /// # Errors
    /// It may not be queried.
    pub fn kind(self, name: &str) -> Result<Kind> {
        self.find(name).ok_or_else(|| {
            Error::illegal_argument(format!(
                "Field [{name}] is not allowed for querying or aggregation"
            ))
        })
    }

    fn find(self, name: &str) -> Option<Kind> {
        let is_in = |object: &str| name.strip_prefix(object).is_some_and(|it| it.starts_with('.'));
        let fits = |(known, kind): &&(&str, Kind)| {
            *known == name || (*kind == Kind::Object && is_in(known))
        };
        self.0.iter().find(fits).map(|(_, kind)| *kind)
    }

    /// The fields that a name or a pattern of a request means; none where it means none.
    pub fn expand(self, pattern: &str) -> Vec<(String, Kind)> {
        if !pattern.contains('*') {
            return self.find(pattern).map(|kind| (pattern.to_owned(), kind)).into_iter().collect();
        }
        let fits = |(name, _): &&(&str, Kind)| authz::privilege::fits(pattern, name);
        self.0.iter().filter(fits).map(|(name, kind)| ((*name).to_owned(), *kind)).collect()
    }
}

/// One value of a field, as it is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// A moment, or a truth as 0 or 1.
    Number(i64),
    /// A word.
    Word(String),
}

/// A scalar as a word.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => json::to_string(other),
    }
}

/// The words of a text.
pub(super) fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The values of a field of a record.
pub(super) fn values(data: &Value, name: &str, kind: Kind) -> Vec<Key> {
    let mut found = Vec::new();
    collect(data, name, &mut found);
    let mut keys = Vec::with_capacity(found.len());
    for value in found {
        match kind {
            Kind::Word | Kind::Object => keys.push(Key::Word(word(value))),
            Kind::Text => {
                let text = word(value);
                keys.extend(words(&text).into_iter().map(Key::Word));
                // An address is found whole, too.
                keys.push(Key::Word(text.to_lowercase()));
            }
            Kind::Date => keys.extend(value.as_i64().map(Key::Number)),
            Kind::Truth => {
                if let Value::Bool(truth) = value {
                    keys.push(Key::Number(i64::from(*truth)));
                }
            }
        }
    }
    keys
}

/// Scalars at a path: objects are entered by their keys, which may hold dots, lists one by one; an object at the
/// path's end gives all that is in it.
fn collect<'v>(value: &'v Value, path: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, found)),
        Value::Object(members) if path.is_empty() => {
            members.values().for_each(|value| collect(value, "", found));
        }
        Value::Object(members) => {
            for (key, value) in members.iter() {
                match path.strip_prefix(key) {
                    Some("") => collect(value, "", found),
                    Some(rest) => {
                        if let Some(rest) = rest.strip_prefix('.') {
                            collect(value, rest, found);
                        }
                    }
                    None => {}
                }
            }
        }
        scalar if path.is_empty() => found.push(scalar),
        _ => {}
    }
}

/// How dates of a request are read.
pub(super) struct Dates {
    format: DateFormat,
    zone: Option<Zone>,
    now_ms: i64,
}

impl Dates {
    /// In this format and zone, where they are given.
    ///
    /// # Errors
    /// Either is none.
    pub fn new(format: Option<&str>, zone: Option<&str>, now_ms: i64) -> Result<Self> {
        let failed = |error: mapping::Error| Error::illegal_argument(error.reason);
        Ok(Self {
            format: DateFormat::parse_pattern(format.unwrap_or(DATES)).map_err(failed)?,
            zone: zone.map(Zone::parse).transpose().map_err(failed)?,
            now_ms,
        })
    }

    /// The first or last moment that a text means.
    pub fn read(&self, text: &str, round: Round) -> Result<i64> {
        let read = date_math::parse_ms(&self.format, text, self.now_ms, round, self.zone.as_ref());
        read.map_err(|error| Error::parse(error.reason))
    }

    /// A moment as a text.
    pub fn print(&self, moment: i64) -> String {
        self.format.print_ms(moment)
    }
}

/// A truth of a request.
pub(super) fn truth(text: &str) -> Result<Key> {
    match text {
        "true" => Ok(Key::Number(1)),
        "false" | "" => Ok(Key::Number(0)),
        other => Err(Error::illegal_argument(format!(
            "Can't parse boolean value [{other}], expected [true] or [false]"
        ))),
    }
}
