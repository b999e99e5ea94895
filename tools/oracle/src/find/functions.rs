//! `function_score`: what functions make of a score.

use json::Value;

use super::document::{Block, Val};
use super::matching::{Match, list};
use super::statistics::Statistics;
use super::{Read, skip};

const NAMES: &[&str] = &["weight", "field_value_factor", "linear", "exp", "gauss"];

/// A `function_score` for one document.
pub fn eval(reader: &Statistics<'_>, body: &Value, block: &Block, boost: f64) -> Read<Match> {
    let base = match body.get("query") {
        Some(query) => reader.eval(query, block, boost)?,
        None => Some(boost),
    };
    let Some(base) = base else { return Ok(None) };
    let mut functions = list(body.get("functions"));
    if functions.is_empty() && NAMES.iter().any(|name| body.get(name).is_some()) {
        functions.push(body);
    }
    if functions.is_empty() {
        return least(body, base);
    }
    let mut values = Vec::new();
    for function in &functions {
        let applies = match function.get("filter") {
            Some(filter) => reader.eval(filter, block, 1.0)?.is_some(),
            None => true,
        };
        if applies {
            let weight = function.get("weight").and_then(Value::as_f64).unwrap_or(1.0);
            values.push((one(reader, function, block)? * weight, weight));
            if body.get("score_mode").and_then(Value::as_str) == Some("first") {
                break;
            }
        }
    }
    let factors = values.iter().map(|(value, _)| *value);
    // One function for all documents is no list of them.
    let everything = json::json!({"match_all": {}});
    let single = functions.len() == 1
        && functions[0].get("filter").is_none_or(|filter| *filter == everything);
    let mode = body.get("score_mode").and_then(Value::as_str).unwrap_or("multiply");
    let factor = match if single { "first" } else { mode } {
        _ if values.is_empty() => 1.0,
        "multiply" => factors.product(),
        "sum" => factors.sum(),
        "first" => values[0].0,
        "max" => factors.fold(f64::NEG_INFINITY, f64::max),
        "min" => factors.fold(f64::INFINITY, f64::min),
        "avg" => factors.sum::<f64>() / values.iter().map(|(_, weight)| weight).sum::<f64>(),
        other => return skip(format!("a score mode [{other}]")),
    };
    let most = body.get("max_boost").and_then(Value::as_f64).unwrap_or(f64::MAX);
    let factor = factor.min(most);
    let score = match body.get("boost_mode").and_then(Value::as_str).unwrap_or("multiply") {
        "multiply" => base * factor,
        "replace" => factor,
        "sum" => base + factor,
        "avg" => (base + factor) / 2.0,
        "max" => {
            if base.is_nan() {
                base
            } else {
                base.max(factor)
            }
        }
        "min" => {
            if base.is_nan() {
                base
            } else {
                base.min(factor)
            }
        }
        other => return skip(format!("a boost mode [{other}]")),
    };
    least(body, score)
}

/// What is left of a score under `min_score`.
fn least(body: &Value, score: f64) -> Read<Match> {
    match body.get("min_score").and_then(Value::as_f64) {
        Some(least) if score.is_nan() || (score - least).abs() < 1e-4 * least => {
            skip("too near min_score")
        }
        Some(least) if score < least => Ok(None),
        _ => Ok(Some(score)),
    }
}

fn one(reader: &Statistics<'_>, function: &Value, block: &Block) -> Read<f64> {
    if let Some(options) = function.get("field_value_factor") {
        let name = options.get("field").and_then(Value::as_str).unwrap_or_default();
        let Some(field) = reader.world.schema.field(name) else { return skip("no field") };
        let number = |key: &str| options.get(key).and_then(Value::as_f64);
        let value = block.values(&field.name).first().and_then(Val::number);
        let Some(value) = value.or(number("missing")) else { return skip("no value") };
        let value = value * number("factor").unwrap_or(1.0);
        let value = match options.get("modifier").and_then(Value::as_str).unwrap_or("none") {
            "none" => value,
            "log1p" => (value + 1.0).log10(),
            "log2p" => (value + 2.0).log10(),
            "ln1p" => value.ln_1p(),
            "ln2p" => (value + 2.0).ln(),
            "square" => value * value,
            "sqrt" => value.sqrt(),
            "reciprocal" => 1.0 / value,
            other => return skip(format!("a modifier [{other}]")),
        };
        if !value.is_finite() || value < 0.0 {
            return skip("a factor that is refused");
        }
        return Ok(value);
    }
    for kind in ["linear", "exp", "gauss"] {
        let Some(options) = function.get(kind) else { continue };
        let (name, options) = super::matching::only(options)?;
        let Some(field) = reader.world.schema.field(name) else { return skip("no field") };
        if !field.is_number() {
            return skip("a decay over something else");
        }
        let number = |key: &str, otherwise: f64| {
            options.get(key).and_then(Value::as_f64).unwrap_or(otherwise)
        };
        let (origin, scale) = (number("origin", 0.0), number("scale", 1.0));
        let (offset, decay) = (number("offset", 0.0), number("decay", 0.5));
        let far = |value: &Val| {
            let value = value.number().unwrap_or(0.0);
            ((value - origin).abs() - offset).max(0.0)
        };
        let values = block.values(&field.name);
        if values.is_empty() {
            return Ok(1.0);
        }
        let distance = values.iter().map(far).fold(f64::INFINITY, f64::min);
        return Ok(match kind {
            "linear" => {
                let s = scale / (1.0 - decay);
                ((s - distance) / s).max(0.0)
            }
            "exp" => (decay.ln() / scale * distance).exp(),
            _ => (distance * distance * decay.ln() / (scale * scale)).exp(),
        });
    }
    Ok(1.0)
}
