//! Aggregations that come to numbers.

use json::{Object, Value, json};

use super::aggregate::Row;
use super::document::Val;
use super::matching::list;
use super::statistics::term_text;
use super::world::World;
use super::{Read, skip};

/// One metric over these documents.
pub fn one(world: &World, kind: &str, body: &Value, rows: &[Row<'_>]) -> Read<Value> {
    let name = body.get("field").and_then(Value::as_str).unwrap_or_default();
    let Some(field) = world.schema.field(name) else { return skip("a metric of no field") };
    if !field.has_column() {
        return skip("a metric without a column");
    }
    let instead = match body.get("missing") {
        Some(value) => super::document::keep(field, value)?,
        None => None,
    };
    let mut values: Vec<Val> = Vec::new();
    for row in rows {
        let own = row.at.values(&field.name);
        values.extend(own.iter().cloned());
        if own.is_empty() {
            values.extend(instead.clone());
        }
    }
    match kind {
        "value_count" => return Ok(json!({"value": (values.len())})),
        "cardinality" => {
            let mut terms: Vec<String> = values.iter().map(term_text).collect();
            terms.sort();
            terms.dedup();
            return Ok(json!({"value": (terms.len())}));
        }
        _ => {}
    }
    // Aggregations see nanoseconds as milliseconds.
    let unit = if field.kind == "date_nanos" { 1e6 } else { 1.0 };
    let mut numbers: Vec<f64> =
        values.iter().filter_map(Val::number).map(|value| (value / unit).trunc_if(unit)).collect();
    if numbers.len() < values.len() || field.kind == "ip" {
        return skip(format!("[{kind}] of something else"));
    }
    numbers.sort_by(f64::total_cmp);
    // What is left of sums of the largest numbers depends on their order.
    if !matches!(kind, "min" | "max" | "percentiles")
        && numbers.iter().any(|number| number.abs() > 1e15)
    {
        return skip("sums of large numbers");
    }
    let count = numbers.len() as f64;
    let sum: f64 = numbers.iter().sum();
    let some = |value: f64| if numbers.is_empty() { Value::Null } else { Value::from(value) };
    let (min, max) = (
        some(numbers.first().copied().unwrap_or(0.0)),
        some(numbers.last().copied().unwrap_or(0.0)),
    );
    Ok(match kind {
        "min" => json!({"value": min}),
        "max" => json!({"value": max}),
        "sum" => json!({"value": sum}),
        "avg" => json!({"value": (some(sum / count))}),
        "stats" => {
            json!({"count": count, "min": min, "max": max, "avg": (some(sum / count)), "sum": sum})
        }
        "extended_stats" => {
            let squares: f64 = numbers.iter().map(|value| value * value).sum();
            let mean = sum / count;
            let variance = numbers.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            // Large numbers that are near one another: a sum of squares forgets their difference.
            if !numbers.is_empty() && squares / count > 1e9 * variance {
                return skip("squares too large");
            }
            let bessel = if numbers.len() < 2 {
                Value::Null
            } else {
                Value::from(variance * count / (count - 1.0))
            };
            let mut all = json!({"count": count, "min": min, "max": max, "sum": sum});
            if let (Some(all), false) = (all.as_object_mut(), numbers.is_empty()) {
                all.insert("sum_of_squares", squares);
                all.insert("variance", variance);
                all.insert("std_deviation", variance.sqrt());
                if !bessel.is_null() {
                    all.insert("variance_sampling", bessel);
                }
            }
            all
        }
        "percentiles" => percentiles(body, &numbers),
        other => return skip(format!("an unknown aggregation [{other}]")),
    })
}

/// A digest may be off by some ranks, never by more.
fn percentiles(body: &Value, sorted: &[f64]) -> Value {
    let wanted: Vec<f64> = match body.get("percents") {
        Some(percents) => list(Some(percents)).into_iter().filter_map(Value::as_f64).collect(),
        None => vec![1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0],
    };
    let mut values = Object::new();
    for percent in wanted {
        let key = format!("{percent:?}");
        if sorted.is_empty() {
            values.insert(key, Value::Null);
            continue;
        }
        let last = sorted.len() as f64 - 1.0;
        let rank = percent / 100.0 * last;
        let slack = 1.5_f64.max(sorted.len() as f64 * 0.02);
        let at = |rank: f64| sorted[rank.clamp(0.0, last) as usize];
        values.insert(
            key,
            json!({"$between": [(at((rank - slack).floor())), (at((rank + slack).ceil()))]}),
        );
    }
    json!({"values": values})
}

trait Truncated {
    fn trunc_if(self, unit: f64) -> f64;
}

impl Truncated for f64 {
    fn trunc_if(self, unit: f64) -> f64 {
        if unit == 1.0 { self } else { self.floor() }
    }
}
