//! What a document says under a mapping: values of each field, nested objects apart.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use json::Value;

use super::schema::{Field, Schema};
use super::time;
use super::words::{self, Token};
use super::{Read, skip};

/// A value as a field keeps it.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// A whole number, a moment (milliseconds, or nanoseconds), an address, true (1) or false.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// A term.
    Text(String),
    /// A range of numbers, both ends included.
    Range(f64, f64),
    /// Latitude and longitude.
    Point(f64, f64),
}

impl Val {
    /// As a number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Order of values of one field.
    pub fn compare(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (a, b) => {
                let (a, b) = (a.number().unwrap_or(0.0), b.number().unwrap_or(0.0));
                a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal)
            }
        }
    }
}

/// What one document says in one field.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// Values, sorted; of terms each once.
    pub values: Vec<Val>,
    /// Words of text with their places.
    pub tokens: Vec<Token>,
    /// Where the next text of the field begins.
    next_place: i64,
    /// Some value was there, be it without a word.
    pub exists: bool,
}

/// A document, or a nested object of one.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its id; of nested objects too.
    pub id: String,
    /// For how many documents it counts in buckets (`_doc_count`).
    pub multitude: u64,
    /// What it says, by field.
    pub said: BTreeMap<String, Said>,
    /// Nested objects, by the whole name of their field.
    pub nested: BTreeMap<String, Vec<Block>>,
    /// Fields that are not shown of it: whether a script knows them depends on what else is shown.
    pub hidden: BTreeSet<String>,
}

impl Default for Block {
    fn default() -> Self {
        let (said, nested) = (BTreeMap::new(), BTreeMap::new());
        Self { id: String::new(), multitude: 1, said, nested, hidden: BTreeSet::new() }
    }
}

impl Block {
    /// Values of a field.
    pub fn values(&self, field: &str) -> &[Val] {
        self.said.get(field).map_or(&[], |said| &said.values)
    }

    /// Words of a field.
    pub fn tokens(&self, field: &str) -> &[Token] {
        self.said.get(field).map_or(&[], |said| &said.tokens)
    }

    /// Itself and all its nested objects, at any depth.
    pub fn all(&self) -> Vec<&Block> {
        let mut all = vec![self];
        for block in self.nested.values().flatten() {
            all.extend(block.all());
        }
        all
    }
}

/// Reads a document.
pub fn read(schema: &Schema, id: &str, source: &Value) -> Read<Block> {
    let multitude = source.get("_doc_count").and_then(Value::as_u64).unwrap_or(1);
    let mut block = Block { id: id.to_owned(), multitude, ..Block::default() };
    walk(schema, &mut block, "", source)?;
    // A field that always says the same says it of every document.
    for field in schema.fields.values().filter(|field| field.kind == "constant_keyword") {
        let said = block.said.entry(field.name.clone()).or_default();
        said.values.extend(field.text("value").map(|value| Val::Text(value.to_owned())));
    }
    finish(schema, &mut block);
    Ok(block)
}

fn finish(schema: &Schema, block: &mut Block) {
    for (name, said) in &mut block.said {
        said.values.sort_by(Val::compare);
        let kind = schema.fields.get(name).map_or("", |field| field.kind.as_str());
        if matches!(kind, "keyword" | "ip" | "wildcard" | "constant_keyword") {
            said.values.dedup();
        }
    }
    for nested in block.nested.values_mut().flatten() {
        finish(schema, nested);
    }
}

fn walk(schema: &Schema, block: &mut Block, prefix: &str, source: &Value) -> Read<()> {
    let Some(members) = source.as_object() else { return Ok(()) };
    for (key, value) in members.iter() {
        let name = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        if schema.nested.contains(&name) {
            for object in flat(value) {
                if object.is_null() {
                    continue;
                }
                let mut inner = Block { id: block.id.clone(), ..Block::default() };
                walk(schema, &mut inner, &name, object)?;
                block.nested.entry(name.clone()).or_default().push(inner);
            }
            continue;
        }
        let Some(field) = schema.fields.get(&name) else {
            for object in flat(value) {
                walk(schema, block, &name, object)?;
            }
            continue;
        };
        if field.kind == "geo_point" || field.is_range() {
            for one in places(value) {
                put(schema, block, field, one)?;
            }
            continue;
        }
        for one in flat(value) {
            put(schema, block, field, one)?;
        }
    }
    Ok(())
}

/// The values of an array of arrays.
pub fn flat(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(all) => all.iter().flat_map(flat).collect(),
        one => vec![one],
    }
}

/// Places or ranges of an array; two numbers are one place.
fn places(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(all) if all.first().is_none_or(|one| one.as_f64().is_none()) => {
            all.iter().flat_map(places).collect()
        }
        one => vec![one],
    }
}

/// A value into a field, its sub-fields, and the fields it is copied to.
fn put(schema: &Schema, block: &mut Block, field: &Field, value: &Value) -> Read<()> {
    put_one(block, field, value)?;
    for name in &field.subs {
        put_one(block, &schema.fields[name], value)?;
    }
    for name in &field.copies {
        if !value.is_null() {
            put(schema, block, &schema.fields[name], value)?;
        }
    }
    Ok(())
}

fn put_one(block: &mut Block, field: &Field, value: &Value) -> Read<()> {
    let null = field.params.get("null_value");
    let value = match (value, null) {
        (Value::Null, Some(instead)) => instead,
        (Value::Null, None) => return Ok(()),
        (value, _) => value,
    };
    if field.kind == "text" {
        let text = plain(value);
        let analyzer = field.text("analyzer").unwrap_or("standard");
        let (tokens, last) = words::analyze(analyzer, &text)?;
        let said = block.said.entry(field.name.clone()).or_default();
        let begin = said.next_place;
        said.tokens.extend(tokens.into_iter().map(|(word, place)| (word, begin + place)));
        said.next_place = begin + last + 1 + 100;
        said.exists = true;
        return Ok(());
    }
    let Some(kept) = keep(field, value)? else { return Ok(()) };
    let said = block.said.entry(field.name.clone()).or_default();
    said.values.push(kept);
    said.exists = true;
    Ok(())
}

/// A value as text.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => json::to_string(other),
    }
}

/// A value as its field keeps it; `None` where the field ignores it.
pub fn keep(field: &Field, value: &Value) -> Read<Option<Val>> {
    let text = plain(value);
    let number = || text.parse::<f64>().map_err(|_| super::Skip(format!("a number [{text}]")));
    let malformed = field.flag("ignore_malformed", false);
    Ok(Some(match field.kind.as_str() {
        "keyword" | "wildcard" => {
            let most = field.params.get("ignore_above").and_then(Value::as_u64);
            if most.is_some_and(|most| text.chars().count() as u64 > most) {
                return Ok(None);
            }
            Val::Text(normal(field, &text))
        }
        "constant_keyword" => Val::Text(text),
        "boolean" => match text.as_str() {
            "true" => Val::Int(1),
            "false" | "" => Val::Int(0),
            _ if malformed => return Ok(None),
            _ => return skip(format!("a boolean [{text}]")),
        },
        "ip" => match address(&text) {
            Some(address) => Val::Int(address),
            None if malformed => return Ok(None),
            None => return skip(format!("an address [{text}]")),
        },
        "date" => match time::parse(&text, "") {
            Ok((first, _)) => Val::Int(i128::from(first)),
            Err(_) if malformed => return Ok(None),
            Err(error) => return Err(error),
        },
        "date_nanos" => Val::Int(i128::from(time::parse(&text, "")?.0) * 1_000_000),
        "geo_point" => point(value)?,
        _ if field.is_range() => range(field, value)?,
        _ if field.is_number() => match number() {
            Ok(number) => numeric(field, &text, number),
            Err(_) if malformed => return Ok(None),
            Err(error) => return Err(error),
        },
        other => return skip(format!("an unknown type [{other}]")),
    }))
}

/// A keyword's text as its normalizer makes it.
pub fn normal(field: &Field, text: &str) -> String {
    match field.text("normalizer") {
        Some("lowercase") => text.to_lowercase(),
        _ => text.to_owned(),
    }
}

/// A number as its field keeps it.
pub fn numeric(field: &Field, text: &str, number: f64) -> Val {
    match field.kind.as_str() {
        "float" => Val::Float(f64::from(number as f32)),
        "scaled_float" => Val::Float(whole(number * scale(field)) / scale(field)),
        // Half floats in questions need no rounding.
        "double" | "half_float" => Val::Float(number),
        _ => Val::Int(text.parse().unwrap_or(number.trunc() as i128)),
    }
}

/// The nearest whole number; of two the larger, as Java's `Math.round` has it.
pub fn whole(number: f64) -> f64 {
    (number + 0.5).floor()
}

/// The factor of a `scaled_float`.
pub fn scale(field: &Field) -> f64 {
    field.params.get("scaling_factor").and_then(Value::as_f64).unwrap_or(1.0)
}

/// An address as a number: those of version 4 as they are mapped into version 6.
pub fn address(text: &str) -> Option<i128> {
    let number = match text.parse::<IpAddr>().ok()? {
        IpAddr::V4(old) => u128::from(old.to_ipv6_mapped()),
        IpAddr::V6(new) => u128::from(new),
    };
    i128::try_from(number).ok()
}

/// A place on the earth.
pub fn point(value: &Value) -> Read<Val> {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    let pair = match value {
        Value::Object(_) => number(value.get("lat")).zip(number(value.get("lon"))),
        Value::Array(all) => number(all.get(1)).zip(number(all.first())),
        Value::String(text) => text
            .split_once(',')
            .and_then(|(lat, lon)| lat.trim().parse().ok().zip(lon.trim().parse().ok())),
        _ => None,
    };
    match pair {
        Some((lat, lon)) => Ok(Val::Point(lat, lon)),
        None => skip(format!("a place [{}]", json::to_string(value))),
    }
}

fn range(field: &Field, value: &Value) -> Read<Val> {
    let whole = !matches!(field.kind.as_str(), "float_range" | "double_range");
    let end = |text: String, upper: bool| -> Read<f64> {
        if field.kind == "date_range" {
            let (first, last) = time::parse(&text, "")?;
            return Ok(if upper { last } else { first } as f64);
        }
        text.parse().map_err(|_| super::Skip(format!("a number [{text}]")))
    };
    let step = |value: f64, up: bool| match (whole, up) {
        (true, true) => value + 1.0,
        (true, false) => value - 1.0,
        (false, true) => value.next_up(),
        (false, false) => value.next_down(),
    };
    let get = |key: &str| value.get(key).filter(|value| !value.is_null()).map(plain);
    let dates = field.kind == "date_range";
    let low = match (get("gte"), get("gt")) {
        (Some(text), _) => end(text, false)?,
        // A date that means a span: what is beyond it.
        (None, Some(text)) => step(end(text, dates)?, true),
        _ => f64::NEG_INFINITY,
    };
    let high = match (get("lte"), get("lt")) {
        (Some(text), _) => end(text, true)?,
        (None, Some(text)) => step(end(text, false)?, false),
        _ => f64::INFINITY,
    };
    Ok(Val::Range(low, high))
}
