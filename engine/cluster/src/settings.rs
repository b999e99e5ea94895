//! Settings of one index: flat names with text values, validated in Elasticsearch's words, and the
//! typed ones that our floors read.
//!
//! Nested and dotted keys mean the same, with or without the prefix `index.`. Values are kept as
//! text (lists as lists of text), as Elasticsearch shows them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use json::{Object, Value};

use crate::error::{Error, Result};
use crate::settings_table::{Kind, Type, find};

pub use crate::settings_table::{Known, TABLE};

/// Settings of one index, checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexSettings {
    flat: BTreeMap<String, Value>,
}

impl IndexSettings {
    /// Reads the `settings` of a create request.
    ///
    /// # Errors
    /// An unknown or private setting, or a value that cannot be read.
    pub fn parse(settings: &Value) -> Result<Self> {
        let flat = flatten(settings)?;
        for (name, value) in &flat {
            check(name, value, Change::Create)?;
        }
        let made = Self { flat };
        let shards = made.shard_count();
        if let Some(routing) = made.int("index.number_of_routing_shards")
            && (routing < u64::from(shards) || routing % u64::from(shards) != 0)
        {
            return Err(Error::argument(format!(
                "the number of source shards [{shards}] must be a factor of [{routing}]"
            )));
        }
        Ok(made)
    }

    /// Restores what [`IndexSettings::to_flat`] gave.
    pub fn from_flat(settings: &Value) -> Self {
        let flat = settings
            .as_object()
            .map(|object| {
                object.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
            })
            .unwrap_or_default();
        Self { flat }
    }

    /// These settings with `update` worked in; a null takes a setting back to its default.
    ///
    /// # Errors
    /// A setting that cannot be changed while the index is `open`, named with `index`
    /// (`name/uuid`); an unknown one; a value that cannot be read.
    pub fn update(&self, update: &Value, preserve: bool, open: bool, index: &str) -> Result<Self> {
        let mut flat = self.flat.clone();
        let mut fixed = Vec::new();
        for (name, value) in flatten(update)? {
            let change = if open { Change::Open } else { Change::Closed };
            match check(&name, &value, change) {
                Ok(()) => {}
                Err(Refusal::Fixed) => {
                    fixed.push(name);
                    continue;
                }
                Err(Refusal::Wrong(error)) => return Err(error),
            }
            if preserve && flat.contains_key(&name) {
                continue;
            }
            if value.is_null() {
                flat.remove(&name);
            } else {
                flat.insert(name, value);
            }
        }
        if !fixed.is_empty() {
            if !open {
                return Err(Error::argument(format!(
                    "final {} setting [{}], not updateable",
                    index.split('/').next().unwrap_or(index),
                    fixed[0]
                )));
            }
            return Err(Error::argument(format!(
                "Can't update non dynamic settings [[{}]] for open indices [[{index}]]",
                fixed.join(", ")
            )));
        }
        Ok(Self { flat })
    }

    /// Sets what only the server sets.
    pub(crate) fn set_private(&mut self, name: &str, value: impl Into<Value>) {
        debug_assert!(find(name).is_some_and(|known| known.kind == Kind::Private));
        self.flat.insert(name.to_owned(), value.into());
    }

    /// Flat names, values as text: for the state.
    pub fn to_flat(&self) -> Value {
        Value::Object(self.flat.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Nested: `{"index":{"number_of_shards":"1",…}}`, as `GET /{index}` shows it.
    pub fn to_nested(&self) -> Value {
        let mut root = Object::new();
        for (name, value) in &self.flat {
            place(&mut root, name, value);
        }
        Value::Object(root)
    }

    /// The text of one setting, where it is set.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.flat.get(name).and_then(Value::as_str)
    }

    /// `index.number_of_shards`.
    pub fn shard_count(&self) -> u32 {
        self.int("index.number_of_shards").unwrap_or(1) as u32
    }

    /// `index.number_of_replicas`.
    pub fn replica_count(&self) -> u32 {
        self.int("index.number_of_replicas").unwrap_or(1) as u32
    }

    /// `index.number_of_routing_shards`, else Elasticsearch's default: the shards doubled as often
    /// as stays within 1024, at least once.
    pub fn routing_shard_count(&self) -> u32 {
        let shards = self.shard_count();
        self.int("index.number_of_routing_shards").map_or_else(
            || {
                let bits = 32 - (shards - 1).leading_zeros();
                shards << 10_u32.saturating_sub(bits).max(1)
            },
            |count| count as u32,
        )
    }

    /// An integer setting, its default where it has one.
    pub fn int(&self, name: &str) -> Option<u64> {
        let text = self.text(name).or_else(|| find(name).map(|known| known.default))?;
        text.parse().ok()
    }

    /// A boolean setting.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name).or_else(|| find(name).map(|known| known.default)) == Some("true")
    }

    /// A time: `None` where not set, `Some(None)` for `-1`.
    pub fn time(&self, name: &str) -> Option<Option<Duration>> {
        let text = self.text(name)?;
        if text == "-1" {
            return Some(None);
        }
        parse_time(text).ok().map(Some)
    }

    /// A size in bytes, its default where it has one.
    pub fn bytes(&self, name: &str) -> Option<u64> {
        let text = self.text(name).or_else(|| find(name).map(|known| known.default))?;
        parse_bytes(text)
    }

    /// What the mapping asks of the settings.
    ///
    /// # Errors
    /// Where `analysis` is wrong, in Elasticsearch's words.
    pub fn for_mapping(&self) -> Result<Arc<mapping::Settings>> {
        let mut analysis = Object::new();
        for (name, value) in self.flat.range("index.analysis.".to_owned()..) {
            let Some(path) = name.strip_prefix("index.analysis.") else { break };
            // group.name.key: the key may hold dots of its own, a name cannot.
            let mut parts = path.splitn(3, '.');
            let (Some(group), Some(part), Some(key)) = (parts.next(), parts.next(), parts.next())
            else {
                return Err(Error::argument(format!("unknown setting [{name}]")));
            };
            let group = analysis.get_or_insert_with(group, Value::object);
            if let Some(part) =
                group.as_object_mut().map(|group| group.get_or_insert_with(part, Value::object))
                && let Some(part) = part.as_object_mut()
            {
                part.insert(key, value.clone());
            }
        }
        let registry = mapping::analysis::Registry::parse(&Value::Object(analysis))?;
        Ok(Arc::new(mapping::Settings {
            analysis: Arc::new(registry),
            limits: mapping::Limits {
                total_fields: self.int("index.mapping.total_fields.limit").unwrap_or(1000),
                depth: self.int("index.mapping.depth.limit").unwrap_or(20),
                field_name_length: self
                    .int("index.mapping.field_name_length.limit")
                    .unwrap_or(u64::MAX),
                ignore_dynamic_beyond: self
                    .flag("index.mapping.total_fields.ignore_dynamic_beyond_limit"),
            },
            ignore_malformed: self.flag("index.mapping.ignore_malformed"),
            no_coerce: !self.flag("index.mapping.coerce"),
        }))
    }
}

/// Puts a value at a dotted name. `a.b.c` beside a value at `a.b` stays dotted from there on, as
/// Elasticsearch does it.
fn place(object: &mut Object, name: &str, value: &Value) {
    let Some((head, rest)) = name.split_once('.') else {
        object.insert(name, value.clone());
        return;
    };
    match object.get_or_insert_with(head, Value::object) {
        Value::Object(inner) => place(inner, rest, value),
        _ => {
            object.insert(name, value.clone());
        }
    }
}

/// At which moment a setting is set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Create,
    Open,
    Closed,
}

/// Why a setting is refused.
enum Refusal {
    /// Not at this moment.
    Fixed,
    /// Never.
    Wrong(Error),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Wrong(error) => error,
            Refusal::Fixed => Error::argument("the setting cannot be set now"),
        }
    }
}

fn check(name: &str, value: &Value, change: Change) -> std::result::Result<(), Refusal> {
    if name.starts_with("index.analysis.") {
        return if change == Change::Open { Err(Refusal::Fixed) } else { Ok(()) };
    }
    let Some(known) = find(name) else {
        return Err(Refusal::Wrong(unknown(name)));
    };
    match (known.kind, change) {
        (Kind::Private, _) => {
            return Err(Refusal::Wrong(Error::argument(format!(
                "private index setting [{name}] can not be set explicitly"
            ))));
        }
        (Kind::Final, Change::Open | Change::Closed) | (Kind::Static, Change::Open) => {
            return Err(Refusal::Fixed);
        }
        _ => {}
    }
    if value.is_null() {
        return Ok(());
    }
    let Some(text) = value.as_str() else {
        if known.ty == Type::List && value.as_array().is_some() {
            return Ok(());
        }
        return Err(Refusal::Wrong(Error::argument(format!(
            "Failed to parse value [{}] for setting [{name}]",
            json::to_string(value)
        ))));
    };
    check_text(known, text).map_err(Refusal::Wrong)
}

fn check_text(known: &Known, text: &str) -> Result<()> {
    let name = known.name;
    match known.ty {
        Type::Int(min, max) => {
            let Ok(number) = text.parse::<i64>() else {
                return Err(Error::Argument {
                    reason: format!("Failed to parse value [{text}] for setting [{name}]"),
                    number: Some(text.to_owned()),
                });
            };
            let bound = match () {
                () if number < min => format!("must be >= {min}"),
                () if number > max => format!("must be <= {max}"),
                () => return Ok(()),
            };
            Err(Error::argument(format!(
                "Failed to parse value [{text}] for setting [{name}] {bound}"
            )))
        }
        Type::Bool if text != "true" && text != "false" => Err(Error::argument(format!(
            "Failed to parse value [{text}] as only [true] or [false] are allowed."
        ))),
        Type::Time { never } => {
            if never && text == "-1" {
                return Ok(());
            }
            parse_time(text).map(drop).map_err(|why| {
                Error::argument(format!(
                    "failed to parse setting [{name}] with value [{text}] as a time value: {why}"
                ))
            })
        }
        Type::Bytes if parse_bytes(text).is_none() => Err(Error::argument(format!(
            "failed to parse setting [{name}] with value [{text}] as a size in bytes: unit is \
             missing or unrecognized"
        ))),
        Type::Word(words) if !words.contains(&text) => Err(Error::argument(match name {
            "index.codec" => format!(
                "unknown value for [index.codec] must be one of [default, best_compression] but \
                 was: {text}"
            ),
            "index.translog.durability" => format!(
                "No enum constant org.elasticsearch.index.translog.Translog.Durability.{}",
                text.to_uppercase()
            ),
            _ => format!("Failed to parse value [{text}] for setting [{name}]"),
        })),
        Type::Float if text.parse::<f64>().is_err() => Err(Error::Argument {
            reason: format!("Failed to parse value [{text}] for setting [{name}]"),
            number: Some(text.to_owned()),
        }),
        _ => Ok(()),
    }
}

/// The refusal of an unknown setting, with the nearest known name where one is near.
fn unknown(name: &str) -> Error {
    let near = TABLE
        .iter()
        .map(|known| (similarity(name, known.name), known.name))
        .filter(|(score, _)| *score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    Error::argument(match near {
        Some((_, near)) => format!("unknown setting [{name}] did you mean [{near}]?"),
        None => format!(
            "unknown setting [{name}] please check that any required plugins are installed, or \
             check the breaking changes documentation for removed settings"
        ),
    })
}

/// One less the edit distance over the longer length, as Lucene's spell checker scores.
fn similarity(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let longest = a.len().max(b.len());
    if longest == 0 || longest > 512 {
        return 0.0;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    1.0 - row[b.len()] as f64 / longest as f64
}

/// Flattens nested keys, adds the prefix, turns scalars into text.
fn flatten(settings: &Value) -> Result<BTreeMap<String, Value>> {
    let mut flat = BTreeMap::new();
    let Some(object) = settings.as_object() else {
        return Err(Error::Parse { reason: "key [settings] must be an object".to_owned() });
    };
    walk("", object, &mut flat, 0)?;
    Ok(flat
        .into_iter()
        .map(|(name, value)| {
            if name.starts_with("index.") {
                (name, value)
            } else {
                (format!("index.{name}"), value)
            }
        })
        .collect())
}

fn walk(
    prefix: &str,
    object: &Object,
    flat: &mut BTreeMap<String, Value>,
    depth: usize,
) -> Result<()> {
    if depth > 32 {
        return Err(Error::argument("settings are nested too deeply"));
    }
    for (key, value) in object.iter() {
        let name = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(inner) => walk(&name, inner, flat, depth + 1)?,
            Value::Array(items) => {
                let texts: Option<Vec<Value>> =
                    items.iter().map(|item| scalar(item).map(Value::from)).collect();
                let texts = texts.ok_or_else(|| {
                    Error::argument(format!("setting [{name}] must be a list of texts"))
                })?;
                flat.insert(name, Value::Array(texts));
            }
            Value::Null => {
                flat.insert(name, Value::Null);
            }
            other => {
                let text = scalar(other).unwrap_or_default();
                flat.insert(name, Value::from(text));
            }
        }
    }
    Ok(())
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.text().to_owned()),
        _ => None,
    }
}

/// Reads `500ms`, `1s`, `2h`; a bare `0` is allowed.
///
/// # Errors
/// What is wrong, in Elasticsearch's words.
pub fn parse_time(text: &str) -> std::result::Result<Duration, &'static str> {
    const WRONG: &str = "unit is missing or unrecognized";
    let text = text.trim().to_ascii_lowercase();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let digits = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let nanos: u128 = match unit.trim() {
        "nanos" => 1,
        "micros" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(WRONG),
    };
    let number: u64 = number.parse().map_err(|_| WRONG)?;
    let nanos = u64::try_from(u128::from(number) * nanos).map_err(|_| WRONG)?;
    Ok(Duration::from_nanos(nanos))
}

/// Reads `512mb`, `10gb`, `100b`; a bare number is refused, as Elasticsearch does.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|char: char| !char.is_ascii_digit() && char != '.')?;
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim() {
        "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        "p" | "pb" => 50,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    let bytes = number * (1u64 << shift) as f64;
    (bytes.is_finite() && bytes < u64::MAX as f64).then_some(bytes as u64)
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
