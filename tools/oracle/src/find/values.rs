//! Has a field a value, one within bounds, one near a place?

use json::Value;

use super::document::{Block, Val, address, normal, plain, point, scale};
use super::matching::{folded, words_of};
use super::schema::Field;
use super::statistics::Statistics;
use super::{Read, skip, time};

/// Has a field this value?
pub fn term_matches(field: &Field, block: &Block, value: &Value, insensitive: bool) -> Read<bool> {
    let text = plain(value);
    let values = block.values(&field.name);
    let any = |wanted: Val| values.contains(&wanted);
    match field.kind.as_str() {
        "text" | "keyword" | "wildcard" | "constant_keyword" => {
            let wanted = folded(&normal(field, &text), insensitive);
            Ok(words_of(field, block)?.iter().any(|term| folded(term, insensitive) == wanted))
        }
        "boolean" => Ok(any(Val::Int(i128::from(text == "true")))),
        "ip" => match text.split_once('/') {
            None => match address(&text) {
                Some(address) => Ok(any(Val::Int(address))),
                None => skip("no address"),
            },
            Some((base, bits)) => {
                let four = base.contains('.');
                let bits: u32 = bits.parse().map_err(|_| super::Skip("no mask".into()))?;
                let shift = if four { 32 - bits } else { 128 - bits };
                let Some(base) = address(base) else { return skip("no address") };
                let under = |value: &Val| match value {
                    Val::Int(address) if shift >= 127 => *address >= 0,
                    Val::Int(address) => address >> shift == base >> shift,
                    _ => false,
                };
                Ok(values.iter().any(under))
            }
        },
        "date" | "date_nanos" => {
            let (first, last) = moments(field, &text, "")?;
            let during = |value: &Val| matches!(value, Val::Int(at) if first <= *at && *at <= last);
            Ok(values.iter().any(during))
        }
        _ if field.is_range() => {
            let (first, last) = match field.kind.as_str() {
                "date_range" => {
                    let (first, last) = time::parse(&text, "")?;
                    (first as f64, last as f64)
                }
                _ => {
                    let one = text.parse().map_err(|_| super::Skip("no number".into()))?;
                    (one, one)
                }
            };
            let holds = |value: &Val| matches!(value, Val::Range(low, high) if *low <= last && first <= *high);
            Ok(values.iter().any(holds))
        }
        _ if field.is_number() => {
            let wanted: f64 = text.parse().map_err(|_| super::Skip("no number".into()))?;
            if field.is_whole() {
                return Ok(match text.parse::<i128>() {
                    Ok(wanted) => any(Val::Int(wanted)),
                    Err(_) => wanted.fract() == 0.0 && any(Val::Int(wanted as i128)),
                });
            }
            Ok(any(super::document::numeric(field, &text, wanted)))
        }
        other => skip(format!("a term of [{other}]")),
    }
}

/// The first and last moment that a text means, in the field's unit.
fn moments(field: &Field, text: &str, zone: &str) -> Read<(i128, i128)> {
    let (first, last) = time::parse(text, zone)?;
    let (first, last) = (i128::from(first), i128::from(last));
    Ok(match field.kind.as_str() {
        "date_nanos" => {
            let fine = if first == last { 0 } else { 999_999 };
            (first * 1_000_000, last * 1_000_000 + fine)
        }
        _ => (first, last),
    })
}

/// Has a field a value between these?
pub fn range_matches(field: &Field, block: &Block, options: &Value) -> Read<bool> {
    let get = |key: &str| options.get(key).filter(|value| !value.is_null()).map(plain);
    let zone = get("time_zone").unwrap_or_default();
    let values = block.values(&field.name);
    let bad = |_| super::Skip("no number".to_owned());
    if field.is_range() {
        let end = |text: String, up: bool| -> Read<f64> {
            if field.kind == "date_range" {
                let (first, last) = time::parse(&text, &zone)?;
                return Ok(if up { last } else { first } as f64);
            }
            text.parse().map_err(bad)
        };
        let whole = field.kind != "double_range";
        let after = |value: f64| if whole { value + 1.0 } else { value.next_up() };
        let before = |value: f64| if whole { value - 1.0 } else { value.next_down() };
        let low = match (get("gte"), get("gt")) {
            (Some(text), _) => end(text, false)?,
            (None, Some(text)) => after(end(text, true)?),
            _ => f64::NEG_INFINITY,
        };
        let high = match (get("lte"), get("lt")) {
            (Some(text), _) => end(text, true)?,
            (None, Some(text)) => before(end(text, false)?),
            _ => f64::INFINITY,
        };
        if low > high {
            return skip("an empty range of ranges");
        }
        let relation = get("relation").unwrap_or_default().to_lowercase();
        let fits = |value: &Val| {
            let Val::Range(from, to) = value else { return false };
            match relation.as_str() {
                "within" => low <= *from && *to <= high,
                "contains" => *from <= low && high <= *to,
                _ => *from <= high && low <= *to,
            }
        };
        return Ok(values.iter().any(fits));
    }
    // Each bound by itself: below or above which values?
    type Bound = Box<dyn Fn(&Val) -> bool>;
    let mut bounds: Vec<Bound> = Vec::new();
    for (key, lower, inclusive) in
        [("gt", true, false), ("gte", true, true), ("lt", false, false), ("lte", false, true)]
    {
        let Some(text) = get(key) else { continue };
        let wanted = if field.is_date() {
            let (first, last) = moments(field, &text, &zone)?;
            Val::Int(if key == "gt" || key == "lte" { last } else { first })
        } else if field.kind == "ip" {
            match address(&text) {
                Some(address) => Val::Int(address),
                None => return skip("no address"),
            }
        } else if field.kind == "boolean" {
            Val::Int(i128::from(text == "true"))
        } else if field.is_number() {
            let number: f64 = text.parse().map_err(bad)?;
            match field.kind.as_str() {
                "float" => Val::Float(f64::from(number as f32)),
                "scaled_float" => Val::Float(number * scale(field)),
                _ => text.parse::<i128>().map_or(Val::Float(number), Val::Int),
            }
        } else {
            Val::Text(normal(field, &text))
        };
        let factor = if field.kind == "scaled_float" { scale(field) } else { 1.0 };
        bounds.push(Box::new(move |value: &Val| {
            let value = match value {
                Val::Float(value) => Val::Float((value * factor).round_ties_even_if(factor != 1.0)),
                other => other.clone(),
            };
            let order = value.compare(&wanted);
            match (lower, inclusive) {
                _ if order.is_eq() => inclusive,
                (true, _) => order.is_gt(),
                (false, _) => order.is_lt(),
            }
        }));
    }
    if matches!(field.kind.as_str(), "text" | "keyword" | "wildcard" | "constant_keyword") {
        let terms = words_of(field, block)?;
        return Ok(terms
            .into_iter()
            .map(Val::Text)
            .any(|value| bounds.iter().all(|bound| bound(&value))));
    }
    Ok(values.iter().any(|value| bounds.iter().all(|bound| bound(value))))
}

trait Rounded {
    fn round_ties_even_if(self, whole: bool) -> f64;
}

impl Rounded for f64 {
    fn round_ties_even_if(self, whole: bool) -> f64 {
        if whole { super::document::whole(self) } else { self }
    }
}

/// Metres on a sphere of the earth's mean radius.
pub fn metres(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (lat_a, lat_b) = (a.0.to_radians(), b.0.to_radians());
    let (dlat, dlon) = (lat_b - lat_a, (b.1 - a.1).to_radians());
    let h = (dlat / 2.0).sin().powi(2) + lat_a.cos() * lat_b.cos() * (dlon / 2.0).sin().powi(2);
    2.0 * 6_371_008.771_4 * h.sqrt().min(1.0).asin()
}

/// A distance such as `12km`.
pub fn distance(value: &Value) -> Read<f64> {
    let text = plain(value);
    let bad = |_| super::Skip(format!("a distance [{text}]"));
    match text.strip_suffix("km") {
        Some(number) => Ok(number.parse::<f64>().map_err(bad)? * 1_000.0),
        None => text.strip_suffix('m').unwrap_or(&text).parse::<f64>().map_err(bad),
    }
}

pub fn geo_distance(reader: &Statistics<'_>, body: &Value, block: &Block) -> Read<bool> {
    let Some(far) = body.get("distance") else { return skip("no distance") };
    let far = distance(far)?;
    for (name, place) in body.as_object().into_iter().flat_map(json::Object::iter) {
        let Some(field) = reader.world.schema.field(name) else { continue };
        let Val::Point(lat, lon) = point(place)? else { return skip("no place") };
        for value in block.values(&field.name) {
            let Val::Point(at, along) = value else { continue };
            let distance = metres((lat, lon), (*at, *along));
            if (distance - far).abs() < 1.0 {
                return skip("too near the edge");
            }
            if distance < far {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

pub fn geo_box(reader: &Statistics<'_>, body: &Value, block: &Block) -> Read<bool> {
    for (name, corners) in body.as_object().into_iter().flat_map(json::Object::iter) {
        let Some(field) = reader.world.schema.field(name) else { continue };
        let (Some(first), Some(second)) = (corners.get("top_left"), corners.get("bottom_right"))
        else {
            return skip("no corners");
        };
        let (Val::Point(top, left), Val::Point(bottom, right)) = (point(first)?, point(second)?)
        else {
            return skip("no corners");
        };
        for value in block.values(&field.name) {
            let Val::Point(lat, lon) = value else { continue };
            let across = if left > right {
                *lon >= left || *lon <= right
            } else {
                left <= *lon && *lon <= right
            };
            if bottom <= *lat && *lat <= top && across {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
