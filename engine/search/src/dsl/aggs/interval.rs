//! Histograms: their intervals, offsets and bounds.

use json::spanned::{Kind as Json, Node};

use super::super::context::{Fault, Read, Takes, boolean, object, scalar, text};
use super::terms::order;
use super::values::{Knows, double, natural, positive, values_object};
use crate::aggs::rounding;
use crate::aggs::spec::{
    AutoDateHistogram, DateHistogram, Ends, Histogram, Interval, Kind, OrderBy, Unit,
};
use crate::ast::Scalar;
use crate::error::{Error, Result};
use crate::request::Order;

/// `histogram`.
pub fn histogram(name: &str, node: &Node) -> Read<Kind> {
    let own = [
        ("interval", Takes::Number),
        ("offset", Takes::Number),
        ("order", Takes::Any),
        ("keyed", Takes::Bool),
        ("min_doc_count", Takes::Number),
        ("extended_bounds", Takes::Object),
        ("hard_bounds", Takes::Object),
    ];
    let mut found = Histogram {
        values: Default::default(),
        interval: 0.0,
        offset: 0.0,
        order: vec![(OrderBy::Key, Order::Ascending)],
        keyed: false,
        min_doc_count: 0,
        extended: Ends::default(),
        hard: Ends::default(),
    };
    let values = values_object(Knows::new("histogram"), &own, node, |key, value| {
        match key {
            "interval" => {
                found.interval = double(value)?;
                if found.interval.is_nan() || found.interval <= 0.0 {
                    let reason =
                        format!("[interval] must be >0 for histogram aggregation [{name}]");
                    return Err(Fault::illegal(value.at, reason));
                }
            }
            "offset" => found.offset = double(value)?,
            "order" => found.order = order(value)?,
            "keyed" => found.keyed = boolean(value)?,
            "min_doc_count" => found.min_doc_count = natural("min_doc_count", name, value)?,
            "extended_bounds" => found.extended = double_ends("extended_bounds", value)?,
            _ => found.hard = double_ends("hard_bounds", value)?,
        }
        Ok(())
    })?;
    found.values = values;
    Ok(Kind::Histogram(Box::new(found)))
}

fn double_ends(parser: &str, node: &Node) -> Read<Ends<f64>> {
    let mut ends = Ends::default();
    let fields = [("min", Takes::Value), ("max", Takes::Value)];
    object(parser, &fields, node, |key, value| {
        let end = if value.is_null() { None } else { Some(double(value)?) };
        match key {
            "min" => ends.min = end,
            _ => ends.max = end,
        }
        Ok(())
    })?;
    if let (Some(min), Some(max)) = (ends.min, ends.max) {
        if !min.is_finite() || !max.is_finite() {
            return Err(Fault::illegal(node.end, "min and max bounds must be finite"));
        }
        if max < min {
            let reason = format!("max bound [{max:?}] must be greater than min bound [{min:?}]");
            return Err(Fault::illegal(node.end, reason));
        }
    }
    Ok(ends)
}

/// `date_histogram`.
pub fn date_histogram(name: &str, node: &Node) -> Read<Kind> {
    let own = [
        ("calendar_interval", Takes::String),
        ("fixed_interval", Takes::String),
        ("offset", Takes::Value),
        ("order", Takes::Any),
        ("keyed", Takes::Bool),
        ("min_doc_count", Takes::Number),
        ("extended_bounds", Takes::Object),
        ("hard_bounds", Takes::Object),
    ];
    let mut found = DateHistogram {
        values: Default::default(),
        interval: None,
        offset_ms: 0,
        order: vec![(OrderBy::Key, Order::Ascending)],
        keyed: false,
        min_doc_count: 0,
        extended: None,
        hard: None,
    };
    let values = values_object(Knows::new("date_histogram").zoned(), &own, node, |key, value| {
        match key {
            "calendar_interval" | "fixed_interval" => {
                set_interval(&mut found.interval, key, value)?;
            }
            "offset" => found.offset_ms = offset(value)?,
            "order" => found.order = order(value)?,
            "keyed" => found.keyed = boolean(value)?,
            "min_doc_count" => found.min_doc_count = natural("min_doc_count", name, value)?,
            "extended_bounds" => found.extended = Some(ends("extended_bounds", value)?),
            _ => found.hard = Some(ends("hard_bounds", value)?),
        }
        Ok(())
    })?;
    found.values = values;
    Ok(Kind::DateHistogram(Box::new(found)))
}

/// Takes one of the two intervals.
pub fn set_interval(interval: &mut Option<Interval>, key: &str, value: &Node) -> Read<()> {
    let found = interval_of(key, &text(value)?).map_err(|error| Fault { error, at: value.at })?;
    match (&interval, &found) {
        (Some(Interval::Fixed(_)), Interval::Calendar(_)) => {
            return Err(Fault::illegal(
                value.at,
                "Cannot use [calendar_interval] with [fixed_interval] configuration option.",
            ));
        }
        (Some(Interval::Calendar(_)), Interval::Fixed(_)) => {
            return Err(Fault::illegal(
                value.at,
                "Cannot use [fixed_interval] with [calendar_interval] configuration option.",
            ));
        }
        _ => {}
    }
    *interval = Some(found);
    Ok(())
}

fn interval_of(key: &str, text: &str) -> Result<Interval> {
    if key == "fixed_interval" {
        let ms = time_ms(text, "date_histogram.fixedInterval")?;
        if ms <= 0 {
            return Err(Error::illegal("Zero or negative time interval not supported"));
        }
        return Ok(Interval::Fixed(ms));
    }
    let unit = match text {
        "second" | "1s" => Unit::Second,
        "minute" | "1m" => Unit::Minute,
        "hour" | "1h" => Unit::Hour,
        "day" | "1d" => Unit::Day,
        "week" | "1w" => Unit::Week,
        "month" | "1M" => Unit::Month,
        "quarter" | "1q" => Unit::Quarter,
        "year" | "1y" => Unit::Year,
        _ => {
            return Err(Error::illegal(format!(
                "The supplied interval [{text}] could not be parsed as a calendar interval."
            )));
        }
    };
    Ok(Interval::Calendar(unit))
}

/// A time with its unit in whole milliseconds, which may be negative.
pub fn time_ms(text: &str, setting: &str) -> Result<i64> {
    const UNITS: [(&str, i64); 5] =
        [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let failed = |what: &str| {
        Error::illegal(format!(
            "failed to parse setting [{setting}] with value [{text}] as a time value: {what}"
        ))
    };
    let trimmed = text.trim();
    if trimmed == "0" || trimmed == "-1" {
        return Ok(trimmed.parse().unwrap_or(0));
    }
    // `M` is a month nowhere here; other units may be written in capitals.
    let lower = if trimmed.ends_with('M') { trimmed.to_owned() } else { trimmed.to_lowercase() };
    if let Some(digits) = lower.strip_suffix("nanos").or_else(|| lower.strip_suffix("micros")) {
        let count: i64 =
            digits.trim().parse().map_err(|_| failed("unit is missing or unrecognized"))?;
        return Ok(count / if lower.ends_with("nanos") { 1_000_000 } else { 1_000 });
    }
    let unit = UNITS.iter().find(|(unit, _)| lower.ends_with(unit));
    let Some((unit, factor)) = unit else {
        return Err(failed("unit is missing or unrecognized"));
    };
    let digits = lower[..lower.len() - unit.len()].trim();
    let count: i64 = digits.parse().map_err(|_| match digits.parse::<f64>() {
        Ok(_) => Error::illegal(format!(
            "failed to parse [{text}], fractional time values are not supported"
        )),
        Err(_) => {
            Error::illegal(format!("failed to parse [{text}]")).caused_by(Error::number(digits))
        }
    })?;
    if count < -1 {
        return Err(failed("negative durations are not supported"));
    }
    count.checked_mul(*factor).ok_or_else(|| failed("the value is too large"))
}

/// `+6h`, `-1d`, or milliseconds.
pub fn offset(value: &Node) -> Read<i64> {
    if let Json::Number(number) = &value.kind {
        return Ok(number.as_i64().unwrap_or(number.as_f64() as i64));
    }
    let word = text(value)?;
    let name = "DateHistogramAggregationBuilder.parseOffset";
    let parsed = match word.split_at_checked(1) {
        Some(("-", rest)) => time_ms(rest, name).map(|ms| -ms),
        Some(("+", rest)) => time_ms(rest, name),
        _ => time_ms(&word, name),
    };
    parsed.map_err(|error| Fault { error, at: value.at })
}

fn ends(parser: &str, node: &Node) -> Read<Ends<Scalar>> {
    let mut ends = Ends { min: None, max: None };
    let fields = [("min", Takes::Value), ("max", Takes::Value)];
    object(parser, &fields, node, |key, value| {
        let end = scalar(value)?;
        match key {
            "min" => ends.min = end,
            _ => ends.max = end,
        }
        Ok(())
    })?;
    Ok(ends)
}

/// `auto_date_histogram`.
pub fn auto_date_histogram(name: &str, node: &Node) -> Read<Kind> {
    let own = [("buckets", Takes::Number), ("minimum_interval", Takes::String)];
    let (mut buckets, mut minimum) = (10, 0);
    let knows = Knows::new("auto_date_histogram").zoned();
    let values = values_object(knows, &own, node, |key, value| {
        match key {
            "buckets" => {
                let count = super::super::context::int(value)?;
                if count <= 0 {
                    let reason = format!("numBuckets must be greater than 0 for [{name}]");
                    return Err(Fault::illegal(value.at, reason));
                }
                // Elasticsearch: the bucket limit by the greatest count of inner intervals.
                if i64::from(count) > 65_536 / 30 {
                    let reason = format!("buckets must be less than {}", 65_536 / 30);
                    return Err(Fault::illegal(value.at, reason));
                }
                buckets = count as u32;
            }
            _ => {
                let word = text(value)?;
                let place = rounding::AUTO.iter().position(|step| step.name == word);
                minimum = place.ok_or_else(|| {
                    let names: Vec<&str> = rounding::AUTO.iter().map(|step| step.name).collect();
                    let reason = format!("minimum_interval must be one of [{}]", names.join(", "));
                    Fault::illegal(value.at, reason)
                })?;
            }
        }
        Ok(())
    })?;
    Ok(Kind::AutoDateHistogram(Box::new(AutoDateHistogram { values, buckets, minimum })))
}

/// `variable_width_histogram`.
pub fn variable_width(name: &str, node: &Node) -> Read<Kind> {
    let own = [
        ("buckets", Takes::Number),
        ("shard_size", Takes::Number),
        ("initial_buffer", Takes::Number),
    ];
    let (mut buckets, mut shard_size, mut buffer) = (10, None, None);
    let knows = Knows::new("variable_width_histogram");
    let values = values_object(knows, &own, node, |key, value| {
        match key {
            "buckets" => {
                buckets = positive("buckets", name, value)?;
                if buckets > 65_536 / 2 {
                    return Err(Fault::illegal(
                        value.at,
                        format!("buckets must be less than {}", 65_536 / 2),
                    ));
                }
            }
            "shard_size" => {
                let size = positive("shard_size", name, value)?;
                if size == 1 {
                    return Err(Fault::illegal(value.at, "shard_size must be greater than 1"));
                }
                shard_size = Some(size);
            }
            _ => buffer = Some(positive("initial_buffer", name, value)?),
        }
        Ok(())
    })?;
    let shard_size = shard_size.unwrap_or(buckets.saturating_mul(50));
    if shard_size < buckets {
        return Err(Fault::illegal(
            node.end,
            format!("shard_size must be at least as large as buckets, got {shard_size}"),
        ));
    }
    let initial_buffer = buffer.unwrap_or_else(|| shard_size.saturating_mul(10).min(50_000));
    Ok(Kind::VariableWidth { values, buckets, shard_size, initial_buffer })
}
