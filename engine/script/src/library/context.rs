//! Functions of single contexts: those of scoring, and `MovingFunctions`.

use super::{Done, items, statics};
use crate::arith;
use crate::context::Context;
use crate::error::Fault;
use crate::heap::{Heap, Object, Value};
use crate::java;

type Native = fn(&mut Heap, &[Value]) -> Done<Value>;

/// Class (`#score`: a function of the scoring contexts), name, arguments, what it does.
const TABLE: &[(&str, &str, u8, Native)] = &[
    ("#score", "saturation", 2, |_, a| {
        let (value, k) = (arith::double(a[0]), arith::double(a[1]));
        Ok(Value::Double(value / (k + value)))
    }),
    ("#score", "sigmoid", 3, |_, a| {
        let (value, k, by) = (arith::double(a[0]), arith::double(a[1]), arith::double(a[2]));
        Ok(Value::Double(value.powf(by) / (k.powf(by) + value.powf(by))))
    }),
    ("#score", "decayNumericLinear", 5, |_, a| Ok(decay(a, Form::Linear))),
    ("#score", "decayNumericExp", 5, |_, a| Ok(decay(a, Form::Exp))),
    ("#score", "decayNumericGauss", 5, |_, a| Ok(decay(a, Form::Gauss))),
    ("#score", "decayDateLinear", 5, |heap, a| decay_date(heap, a, Form::Linear)),
    ("#score", "decayDateExp", 5, |heap, a| decay_date(heap, a, Form::Exp)),
    ("#score", "decayDateGauss", 5, |heap, a| decay_date(heap, a, Form::Gauss)),
    ("#score", "decayGeoLinear", 5, |heap, a| decay_geo(heap, a, Form::Linear)),
    ("#score", "decayGeoExp", 5, |heap, a| decay_geo(heap, a, Form::Exp)),
    ("#score", "decayGeoGauss", 5, |heap, a| decay_geo(heap, a, Form::Gauss)),
    ("#score", "randomScore", 1, |_, a| Ok(Value::Double(random(arith::int(a[0]))))),
    ("MovingFunctions", "max", 1, |heap, a| moving(heap, a[0], |v| fold(v, f64::max))),
    ("MovingFunctions", "min", 1, |heap, a| moving(heap, a[0], |v| fold(v, f64::min))),
    ("MovingFunctions", "sum", 1, |heap, a| {
        moving(heap, a[0], |v| if v.is_empty() { 0.0 } else { v.iter().sum() })
    }),
    ("MovingFunctions", "unweightedAvg", 1, |heap, a| moving(heap, a[0], average)),
    ("MovingFunctions", "stdDev", 2, |heap, a| {
        let average = arith::double(a[1]);
        moving(heap, a[0], |v| deviation(v, average))
    }),
    ("MovingFunctions", "linearWeightedAvg", 1, |heap, a| moving(heap, a[0], weighted)),
    ("MovingFunctions", "ewma", 2, |heap, a| {
        let alpha = arith::double(a[1]);
        moving(heap, a[0], |v| {
            v.iter()
                .fold(None, |sum, value| {
                    Some(sum.map_or(*value, |sum: f64| value * alpha + sum * (1.0 - alpha)))
                })
                .unwrap_or(f64::NAN)
        })
    }),
];

/// A function of a context.
pub(crate) fn of_context(context: &Context, name: &str, count: usize) -> Option<u16> {
    context.has_score.then(|| statics::find("#score", name, count as u8)).flatten()
}

/// The place of a function.
pub(super) fn find(class: &str, name: &str, arity: u8) -> Option<usize> {
    TABLE.iter().position(|entry| entry.0 == class && entry.1 == name && entry.2 == arity)
}

/// Calls a function by its place.
pub(super) fn call(found: usize, heap: &mut Heap, arguments: &[Value]) -> Done<Value> {
    match TABLE.get(found) {
        Some(entry) => (entry.3)(heap, arguments),
        None => Err(Fault::illegal("no such function")),
    }
}

#[derive(Clone, Copy)]
enum Form {
    Linear,
    Exp,
    Gauss,
}

/// What a distance leaves of a score, the scale and the decay being given.
fn bell(form: Form, far: f64, scale: f64, decay: f64) -> f64 {
    match form {
        Form::Linear => {
            let scaling = scale / (1.0 - decay);
            ((scaling - far) / scaling).max(0.0)
        }
        Form::Exp => (decay.ln() / scale * far).exp(),
        Form::Gauss => {
            let variance = 0.5 * scale * scale / decay.ln();
            (0.5 * far * far / variance).exp()
        }
    }
}

/// origin, scale, offset, decay, value
fn decay(a: &[Value], form: Form) -> Value {
    let [origin, scale, offset, decay, value] = [0, 1, 2, 3, 4].map(|at| arith::double(a[at]));
    let far = ((value - origin).abs() - offset).max(0.0);
    Value::Double(bell(form, far, scale, decay))
}

fn millis(heap: &Heap, value: Value) -> Done<f64> {
    let text = super::text(heap, value)?;
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = &text[..text.len() - unit.len()];
    let by = match unit {
        "" | "ms" => 1.0,
        "s" => 1e3,
        "m" => 6e4,
        "h" => 3.6e6,
        "d" => 8.64e7,
        "micros" => 1e-3,
        "nanos" => 1e-6,
        _ => f64::NAN,
    };
    number.parse::<f64>().ok().map(|number| number * by).filter(|found| !found.is_nan()).ok_or_else(
        || {
            Fault::illegal(format!(
                "failed to parse setting [scale] with value [{text}] as a time value"
            ))
        },
    )
}

fn decay_date(heap: &mut Heap, a: &[Value], form: Form) -> Done<Value> {
    let origin = super::text(heap, a[0])?;
    let origin = crate::date::Date::parse_zoned(&origin)?;
    let (scale, offset) = (millis(heap, a[1])?, millis(heap, a[2])?);
    let Some(Object::Date(value)) = heap.as_object(a[4]) else {
        return Err(Fault::cast("a date is needed"));
    };
    let (from, to) = (origin.epoch_ms().unwrap_or(0), value.epoch_ms().unwrap_or(0));
    let far = ((to - from).abs() as f64 - offset).max(0.0);
    Ok(Value::Double(bell(form, far, scale, arith::double(a[3]))))
}

fn meters_of(heap: &Heap, value: Value) -> Done<f64> {
    let text = super::text(heap, value)?;
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let by = match unit {
        "" | "m" | "meters" => 1.0,
        "km" | "kilometers" => 1e3,
        "cm" => 0.01,
        "mm" => 0.001,
        "mi" | "miles" => 1_609.344,
        "yd" | "yards" => 0.9144,
        "ft" | "feet" => 0.3048,
        "in" | "inch" => 0.0254,
        "nmi" | "NM" | "nauticalmiles" => 1_852.0,
        _ => f64::NAN,
    };
    let number = text[..text.len() - unit.len()].parse::<f64>().unwrap_or(f64::NAN) * by;
    if number.is_nan() {
        return Err(Fault::illegal(format!("cannot read the distance [{text}]")));
    }
    Ok(number)
}

fn decay_geo(heap: &mut Heap, a: &[Value], form: Form) -> Done<Value> {
    let origin = super::text(heap, a[0])?;
    let parts: Vec<f64> = origin.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    let [lat, lon] = parts[..] else {
        return Err(Fault::illegal(format!("failed to parse geo point [{origin}]")));
    };
    let (scale, offset) = (meters_of(heap, a[1])?, meters_of(heap, a[2])?);
    let Some(Object::Place(y, x)) = heap.as_object(a[4]) else {
        return Err(Fault::cast("a geo point is needed"));
    };
    let far = (metres((*y, *x), (lat, lon), true) - offset).max(0.0);
    Ok(Value::Double(bell(form, far, scale, arith::double(a[3]))))
}

/// As `randomScore(seed)` spreads one seed.
fn random(seed: i32) -> f64 {
    let mut bits = (seed ^ java::hash("score")) as u32;
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    f64::from((bits ^ (bits >> 16)) & 0x00FF_FFFF) / f64::from(1 << 24)
}

/// Metres between two places (latitude, longitude), along the sphere or on a flat map.
pub(crate) fn metres(a: (f64, f64), b: (f64, f64), arc: bool) -> f64 {
    const RADIUS: f64 = 6_371_008.771_4;
    let (x1, x2) = (a.0.to_radians(), b.0.to_radians());
    if !arc {
        let x = (b.1 - a.1).to_radians() * ((x1 + x2) / 2.0).cos();
        return (x * x + (x2 - x1) * (x2 - x1)).sqrt() * 6_378_137.0;
    }
    let h1 = 1.0 - (x1 - x2).cos();
    let h2 = 1.0 - (a.1 - b.1).to_radians().cos();
    let h = h1 + x1.cos() * x2.cos() * h2;
    2.0 * RADIUS * (h * 0.5).sqrt().min(1.0).asin()
}

fn moving(heap: &mut Heap, values: Value, with: impl Fn(&[f64]) -> f64) -> Done<Value> {
    let values = items(heap, values)?;
    let numbers: Vec<f64> =
        values.into_iter().map(arith::double).filter(|number| !number.is_nan()).collect();
    Ok(Value::Double(with(&numbers)))
}

fn fold(values: &[f64], with: fn(f64, f64) -> f64) -> f64 {
    values.iter().copied().reduce(with).unwrap_or(f64::NAN)
}

fn average(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn deviation(values: &[f64], average: f64) -> f64 {
    if average.is_nan() {
        return f64::NAN;
    }
    let squares: f64 = values.iter().map(|value| (value - average) * (value - average)).sum();
    (squares / values.len() as f64).sqrt()
}

fn weighted(values: &[f64]) -> f64 {
    let (mut sum, mut weights) = (0.0, 1.0);
    for (place, value) in values.iter().enumerate() {
        sum += value * (place + 1) as f64;
        weights += (place + 1) as f64;
    }
    if values.is_empty() { f64::NAN } else { sum / weights }
}
