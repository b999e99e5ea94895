//! What many documents come to: each aggregation over a list of them, as an answer must show it.
//!
//! An expectation is JSON; members that it does not have may be there. `{"$between": [low, high]}`
//! stands for any number between.

use json::{Object, Value, json};

use super::document::Block;
use super::matching::list;
use super::statistics::Statistics;
use super::world::World;
use super::{Read, bucket, metric, skip};

/// A document, or a nested object, that an aggregation counts.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// The document.
    pub root: &'a Block,
    /// The document or the nested object.
    pub at: &'a Block,
}

/// All of a request's aggregations over these documents.
pub fn all(world: &World, aggs: &Value, rows: &[Row<'_>]) -> Read<Value> {
    let mut expected = Object::new();
    for (name, agg) in aggs.as_object().into_iter().flat_map(Object::iter) {
        expected.insert(name, one(world, agg, rows)?);
    }
    Ok(Value::Object(expected))
}

fn one(world: &World, agg: &Value, rows: &[Row<'_>]) -> Read<Value> {
    let subs = agg.get("aggs");
    let Some((kind, body)) = agg
        .as_object()
        .and_then(|agg| agg.iter().find(|(key, _)| !matches!(*key, "aggs" | "meta")))
    else {
        return skip("an aggregation without a kind");
    };
    let reader = Statistics { world, shard: None };
    let single = |rows: &[Row<'_>]| bucket::one(world, subs, rows, Object::new());
    match kind {
        "global" => {
            let all: Vec<Row<'_>> =
                world.docs().map(|(_, doc)| Row { root: doc, at: doc }).collect();
            single(&all)
        }
        "filter" => {
            let mut passed = Vec::new();
            for row in rows {
                if reader.eval(body, row.at, 1.0)?.is_some() {
                    passed.push(*row);
                }
            }
            single(&passed)
        }
        "missing" => {
            let name = body.get("field").and_then(Value::as_str).unwrap_or_default();
            let Some(field) = world.schema.field(name) else { return single(rows) };
            let without: Vec<Row<'_>> =
                rows.iter().filter(|row| row.at.values(&field.name).is_empty()).copied().collect();
            single(&without)
        }
        "nested" => {
            let path = body.get("path").and_then(Value::as_str).unwrap_or_default();
            let mut inner = Vec::new();
            for row in rows {
                let found = super::matching::inside(row.at, path);
                inner.extend(found.into_iter().map(|at| Row { root: row.root, at }));
            }
            single(&inner)
        }
        "reverse_nested" => {
            let mut outer: Vec<Row<'_>> = Vec::new();
            for row in rows {
                if !outer.iter().any(|other| std::ptr::eq(other.root, row.root)) {
                    outer.push(Row { root: row.root, at: row.root });
                }
            }
            single(&outer)
        }
        "terms" => bucket::terms(world, body, subs, rows),
        "histogram" => bucket::histogram(world, body, subs, rows),
        "date_histogram" => bucket::date_histogram(world, body, subs, rows),
        "range" | "date_range" => bucket::ranges(world, body, subs, rows, kind == "date_range"),
        "filters" => bucket::filters(world, body, subs, rows),
        "composite" => bucket::composite(world, body, subs, rows),
        "top_hits" => top_hits(world, body, rows),
        kind => metric::one(world, kind, body, rows),
    }
}

fn top_hits(world: &World, body: &Value, rows: &[Row<'_>]) -> Read<Value> {
    let reader = Statistics { world, shard: None };
    let Some(sort) = body.get("sort") else { return skip("top_hits by score") };
    let size = body.get("size").and_then(Value::as_u64).unwrap_or(3) as usize;
    let mut found = Vec::new();
    let mut rules = Vec::new();
    for row in rows {
        let (keys, by) = super::order::keys(&reader, Some(sort), row.at, f64::NAN)?;
        rules = by;
        found.push((keys, &row.at.id));
    }
    found.sort_by(|a, b| super::order::compare(&rules, &a.0, &b.0));
    let hits: Vec<Value> =
        found.iter().take(size).map(|(_, id)| json!({"_id": id.as_str()})).collect();
    Ok(json!({"hits": {"total": {"value": (found.len())}, "hits": hits}}))
}

/// How an answer differs from what was expected; `None` where it does not.
pub fn difference(expected: &Value, found: &Value, path: &str) -> Option<String> {
    let told = |found: &Value| {
        Some(format!("{path}: expected {}, found {}", json::to_string(expected), short(found)))
    };
    if let Some(bounds) = expected.get("$between") {
        let bound = |at: usize| list(Some(bounds)).get(at).and_then(|bound| bound.as_f64());
        let inside = found.as_f64().is_some_and(|value| {
            bound(0).is_none_or(|low| low - 1e-9 * low.abs() <= value)
                && bound(1).is_none_or(|high| value <= high + 1e-9 * high.abs())
        });
        return if inside { None } else { told(found) };
    }
    match (expected, found) {
        (Value::Object(expected), Value::Object(members)) => {
            for (key, wanted) in expected.iter() {
                let Some(value) = members.get(key) else {
                    return Some(format!("{path}.{key}: not there in {}", short(found)));
                };
                let inner = difference(wanted, value, &format!("{path}.{key}"));
                if inner.is_some() {
                    return inner;
                }
            }
            None
        }
        (Value::Array(wanted), Value::Array(items)) => {
            if wanted.len() != items.len() {
                return told(found);
            }
            let mut pairs = wanted.iter().zip(items).enumerate();
            pairs.find_map(|(at, (a, b))| difference(a, b, &format!("{path}[{at}]")))
        }
        (Value::Number(a), Value::Number(b)) => {
            let (x, y) = (a.as_f64(), b.as_f64());
            let same =
                a.text() == b.text() || (x - y).abs() <= 1e-6 * x.abs().max(y.abs()).max(1e-6);
            if same { None } else { told(found) }
        }
        (a, b) if a == b => None,
        _ => told(found),
    }
}

fn short(value: &Value) -> String {
    let text = json::to_string(value);
    match text.char_indices().nth(1_500) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
