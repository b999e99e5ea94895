//! Where a document stands among the others: the keys of a sort.

use std::cmp::Ordering;

use json::Value;

use super::document::{Block, Val, plain, point};
use super::matching::{inside, list, only};
use super::schema::Field;
use super::statistics::Statistics;
use super::values::metres;
use super::{Read, skip};

/// One key of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// Its score, or a distance: compared with a tolerance.
    Near(f64),
    /// A value.
    Exact(Val),
    /// No value.
    Missing,
}

/// How one key is compared.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The largest first.
    pub down: bool,
    /// Documents without a value come first.
    pub missing_first: bool,
}

/// Numbers that may be the same.
pub fn near(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-5 * a.abs().max(b.abs()).max(1e-30)
}

/// The keys of a document, and the rules to compare them by. Without a sort: the score.
pub fn keys(
    reader: &Statistics<'_>,
    sort: Option<&Value>,
    block: &Block,
    score: f64,
) -> Read<(Vec<Key>, Vec<Rule>)> {
    let specs = list(sort);
    if specs.is_empty() {
        return Ok((vec![Key::Near(score)], vec![Rule { down: true, missing_first: false }]));
    }
    let (mut keys, mut rules) = (Vec::new(), Vec::new());
    let plain_options = Value::object();
    for spec in specs {
        let (name, options) = match spec {
            Value::String(name) => (name.as_str(), &plain_options),
            spec => only(spec)?,
        };
        let order = match options {
            Value::String(order) => Some(order.as_str()),
            options => options.get("order").and_then(Value::as_str),
        };
        let down = order.unwrap_or(if name == "_score" { "desc" } else { "asc" }) == "desc";
        let missing = options.get("missing");
        let missing_first = missing.and_then(Value::as_str) == Some("_first");
        let key = match name {
            "_score" => Key::Near(score),
            "_geo_distance" => distance_key(reader, options, block, down)?,
            name => field_key(reader, name, options, block, down)?,
        };
        keys.push(key);
        rules.push(Rule { down, missing_first });
    }
    Ok((keys, rules))
}

fn field_key(
    reader: &Statistics<'_>,
    name: &str,
    options: &Value,
    block: &Block,
    down: bool,
) -> Read<Key> {
    let Some(field) = reader.world.schema.field(name) else {
        return match options.get("unmapped_type") {
            Some(_) => Ok(Key::Missing),
            None => skip(format!("a sort by an unknown field [{name}]")),
        };
    };
    let mut values = Vec::new();
    match options.get("nested") {
        None => values.extend(block.values(&field.name).iter().cloned()),
        Some(nested) => {
            let path = nested.get("path").and_then(Value::as_str).unwrap_or_default();
            for inner in inside(block, path) {
                let passes = match nested.get("filter") {
                    Some(filter) => reader.eval(filter, inner, 1.0)?.is_some(),
                    None => true,
                };
                if passes {
                    values.extend(inner.values(&field.name).iter().cloned());
                }
            }
        }
    }
    if values.is_empty() {
        return Ok(match options.get("missing") {
            Some(Value::String(word)) if word.starts_with('_') => Key::Missing,
            Some(value) => match super::document::keep(field, value)? {
                Some(value) => Key::Exact(value),
                None => Key::Missing,
            },
            None => Key::Missing,
        });
    }
    values.sort_by(Val::compare);
    let mode = options.get("mode").and_then(Value::as_str);
    let value = one_of(field, &values, mode.unwrap_or(if down { "max" } else { "min" }))?;
    let first = options.get("missing").and_then(Value::as_str) == Some("_first");
    let kind = match (mode, field.kind.as_str()) {
        (Some("sum"), "integer") => "long",
        (_, kind) => kind,
    };
    Ok(if stands_for_none(kind, &value, down == first) { Key::Missing } else { Key::Exact(value) })
}

/// Nothing is sorted as the largest or the smallest number of all (for `short` and `byte` of 32 bits).
fn stands_for_none(kind: &str, value: &Val, largest: bool) -> bool {
    let ends = match kind {
        "long" => (i128::from(i64::MIN), i128::from(i64::MAX)),
        "integer" => (i128::from(i32::MIN), i128::from(i32::MAX)),
        "unsigned_long" => (0, i128::from(u64::MAX)),
        _ => return false,
    };
    *value == Val::Int(if largest { ends.1 } else { ends.0 })
}

/// The value that stands for several.
fn one_of(field: &Field, values: &[Val], mode: &str) -> Read<Val> {
    let (first, last) = (values[0].clone(), values[values.len() - 1].clone());
    let whole = matches!(first, Val::Int(_));
    let count = values.len();
    let numbers: Vec<f64> = values.iter().filter_map(Val::number).collect();
    let sum: f64 = numbers.iter().sum();
    // Whole numbers stay whole: half goes up, as Java's `Math.round` has it.
    let shown = |value: f64| match whole {
        true => Val::Int((value + 0.5).floor() as i128),
        // Sorted as floats are, however they are summed.
        false if field.kind == "float" || field.kind == "half_float" => {
            Val::Float(f64::from(value as f32))
        }
        false => Val::Float(value),
    };
    match mode {
        "min" => Ok(first),
        "max" => Ok(last),
        _ if numbers.len() < count || field.kind == "ip" => skip("a mode over terms"),
        _ if numbers.iter().any(|number| number.abs() > 1e15) => skip("a mode of large numbers"),
        "sum" => Ok(shown(sum)),
        "avg" => Ok(shown(sum / count as f64)),
        "median" if count % 2 == 1 => Ok(values[count / 2].clone()),
        "median" => Ok(shown((numbers[count / 2 - 1] + numbers[count / 2]) / 2.0)),
        other => skip(format!("a mode [{other}]")),
    }
}

fn distance_key(reader: &Statistics<'_>, options: &Value, block: &Block, down: bool) -> Read<Key> {
    let unit = options.get("unit").and_then(Value::as_str).unwrap_or("m");
    let metre = if unit == "km" { 1_000.0 } else { 1.0 };
    for (name, origin) in options.as_object().into_iter().flat_map(json::Object::iter) {
        let Some(field) = reader.world.schema.field(name) else { continue };
        let Val::Point(lat, lon) = point(origin)? else { return skip("no place") };
        let far = block.values(&field.name).iter().filter_map(|value| match value {
            Val::Point(at, along) => Some(metres((lat, lon), (*at, *along)) / metre),
            _ => None,
        });
        let choose = if down { f64::max } else { f64::min };
        // What is nowhere is farther than anything.
        let Some(far) = far.reduce(choose) else { return Ok(Key::Near(f64::INFINITY)) };
        if options.get("mode").is_some() {
            return skip("a mode of distances");
        }
        // Places are kept to some centimetres.
        return Ok(Key::Near(far.max(0.1)));
    }
    skip("no place to sort by")
}

/// Who comes first?
pub fn compare(rules: &[Rule], a: &[Key], b: &[Key]) -> Ordering {
    for ((rule, a), b) in rules.iter().zip(a).zip(b) {
        let order = match (a, b) {
            (Key::Missing, Key::Missing) => Ordering::Equal,
            (Key::Missing, _) if rule.missing_first => return Ordering::Less,
            (Key::Missing, _) => return Ordering::Greater,
            (_, Key::Missing) if rule.missing_first => return Ordering::Greater,
            (_, Key::Missing) => return Ordering::Less,
            (Key::Exact(a), Key::Exact(b)) => a.compare(b),
            (Key::Near(a), Key::Near(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
            _ => Ordering::Equal,
        };
        let order = if rule.down { order.reverse() } else { order };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// May these stand in one another's place?
pub fn alike(a: &[Key], b: &[Key]) -> bool {
    a.iter().zip(b).all(|(a, b)| match (a, b) {
        (Key::Near(a), Key::Near(b)) => a.is_nan() || b.is_nan() || near(*a, *b),
        (Key::Exact(a), Key::Exact(b)) => a.compare(b).is_eq(),
        (a, b) => a == b,
    })
}

/// Is a sort value of an answer the one that was expected?
pub fn shown(key: &Key, value: &Value) -> bool {
    match key {
        Key::Missing => {
            value.is_null()
                || value.as_str().is_some_and(|text| text.contains("Infinity"))
                || value.as_f64().is_some_and(|number| number.abs() > 1e9 || number == 0.0)
        }
        Key::Near(wanted) if wanted.is_infinite() => value.as_f64().is_none_or(f64::is_infinite),
        Key::Near(wanted) => match value.as_f64() {
            Some(found) => wanted.is_nan() || near(*wanted, found) || (wanted - found).abs() < 0.2,
            None => false,
        },
        Key::Exact(Val::Text(wanted)) => value.as_str() == Some(wanted),
        Key::Exact(Val::Int(wanted)) => {
            plain(value) == wanted.to_string()
                || value.as_bool().is_some_and(|value| i128::from(value) == *wanted)
                || value
                    .as_str()
                    .is_some_and(|text| super::document::address(text) == Some(*wanted))
        }
        Key::Exact(Val::Float(wanted)) => value.as_f64().is_some_and(|found| near(*wanted, found)),
        Key::Exact(_) => true,
    }
}
