//! What the values of a query mean for a field.
//!
//! A term names one value; a date's text names a span, so does a range. Both are answered in
//! sortable numbers or bytes, so that `search` needs to know no type.

use json::Value;

use super::date_format::{DateFormat, Round};
use super::date_math::{self, Zone};
use super::number::{NumberKind, java_double, java_float, long_of_text};
use super::scalar::Scalar;
use super::{Date, Field, Kind, boolean, sortable};
use crate::{Error, Result};

/// What a term query's value means for a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryValue {
    /// A term of the inverted index.
    Term(Vec<u8>),
    /// A sortable number.
    Number(i64),
    /// Sortable numbers from the first to the second, both included (a date that names a day).
    Numbers(i64, i64),
    /// Nothing can equal it: a decimal for an integer field, a number out of range.
    Nothing,
}

/// What a range query's ends mean for a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Sortable numbers from the first to the second, both included.
    Numbers(i64, i64),
    /// Terms between ends that may be open; `true` includes the end.
    Terms {
        /// Lower end.
        lower: Option<(Vec<u8>, bool)>,
        /// Upper end.
        upper: Option<(Vec<u8>, bool)>,
    },
    /// Nothing lies between.
    Nothing,
}

/// What a range query says beside its ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct RangeOptions<'a> {
    /// `format`: how dates of the query are read.
    pub format: Option<&'a str>,
    /// `time_zone`: of dates that name none.
    pub time_zone: Option<&'a str>,
    /// What `now` means, in milliseconds.
    pub now_ms: i64,
}

/// One end of a range; `true` includes it.
type End<'a> = Option<(&'a Value, bool)>;

impl Field {
    /// What the value of a term query means here. Search puts `failed to create query: ` before
    /// the reason of an error.
    ///
    /// # Errors
    /// In Elasticsearch's words: `For input string: "x"`.
    pub fn parse_query_value(&self, value: &Value, now_ms: i64) -> Result<QueryValue> {
        let scalar = scalar(value)?;
        Ok(match &self.kind {
            Kind::Text(_) => QueryValue::Term(scalar.java_text().into_bytes()),
            Kind::Keyword(keyword) => {
                let text = scalar.java_text();
                let mut buffer = String::new();
                let term = match &keyword.normalizer {
                    Some(normalizer) => normalizer.normalize(&text, &mut buffer),
                    None => &text,
                };
                QueryValue::Term(term.as_bytes().to_vec())
            }
            Kind::Number(number) => number_term(number.number, scalar)?,
            Kind::Boolean(_) => QueryValue::Number(i64::from(boolean::parse_query(scalar)?)),
            Kind::Date(date) => {
                let text = scalar.java_text();
                let at = |round| date_math::parse_ms(&date.format, &text, now_ms, round, None);
                QueryValue::Numbers(at(Round::Down)?, at(Round::Up)?)
            }
        })
    }

    /// What the ends of a range query mean here; `true` includes the end.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub fn parse_range(
        &self,
        lower: End<'_>,
        upper: End<'_>,
        options: &RangeOptions<'_>,
    ) -> Result<Bounds> {
        match &self.kind {
            Kind::Text(_) | Kind::Keyword(_) => {
                let term = |end: End<'_>| {
                    end.map(|(value, included)| {
                        Ok(match self.parse_query_value(value, options.now_ms)? {
                            QueryValue::Term(term) => (term, included),
                            _ => (Vec::new(), included),
                        })
                    })
                    .transpose()
                };
                Ok(Bounds::Terms { lower: term(lower)?, upper: term(upper)? })
            }
            Kind::Number(number) if number.number.is_float() => {
                float_range(number.number, lower, upper)
            }
            Kind::Number(number) => integer_range(number.number, lower, upper),
            Kind::Boolean(_) => {
                let end = |end: End<'_>| {
                    end.map(|(value, included)| {
                        Ok((i64::from(boolean::parse_query(scalar(value)?)?), included))
                    })
                    .transpose()
                };
                let least = end(lower)?.map_or(0, |(value, incl)| value + i64::from(!incl));
                let most = end(upper)?.map_or(1, |(value, incl)| value - i64::from(!incl));
                Ok(numbers(least, most))
            }
            Kind::Date(date) => date_range(date, lower, upper, options),
        }
    }

    /// The sortable value of a `search_after` key.
    ///
    /// # Errors
    /// Where the key is no value of this type.
    pub fn parse_sort_value(&self, value: &Value) -> Result<i64> {
        let scalar = scalar(value)?;
        match &self.kind {
            Kind::Date(date) => match scalar {
                Scalar::Integer(ms) => Ok(ms),
                other => {
                    date_math::parse_ms(&date.format, &other.java_text(), 0, Round::Down, None)
                }
            },
            Kind::Boolean(_) => match scalar {
                Scalar::Integer(value) => Ok(value),
                other => boolean::parse_query(other).map(i64::from),
            },
            Kind::Number(number) if number.number.is_float() => float_of(number.number, scalar),
            Kind::Number(_) => match scalar {
                Scalar::Integer(value) => Ok(value),
                other => long_of_text(&other.java_text(), true),
            },
            Kind::Text(_) | Kind::Keyword(_) => {
                Err(Error::illegal_argument(format!("[{}] is no number", self.path)))
            }
        }
    }
}

fn scalar(value: &Value) -> Result<Scalar<'_>> {
    Scalar::of_value(value).ok_or_else(|| Error::illegal_argument("value cannot be null"))
}

/// The double that a query's value means.
fn double_of(scalar: Scalar<'_>) -> Result<f64> {
    match scalar {
        Scalar::Integer(value) => Ok(value as f64),
        Scalar::Decimal(value, _) => Ok(value),
        other => java_double(&other.java_text()),
    }
}

/// The sortable value of a float type, infinities included.
fn float_of(kind: NumberKind, scalar: Scalar<'_>) -> Result<i64> {
    if kind == NumberKind::Float {
        return Ok(sortable::from_f32(match scalar {
            Scalar::Text(text) => java_float(text)?,
            other => double_of(other)? as f32,
        }));
    }
    Ok(sortable::from_f64(double_of(scalar)?))
}

fn has_decimals(scalar: Scalar<'_>) -> Result<bool> {
    match scalar {
        Scalar::Integer(_) => Ok(false),
        other => {
            let value = double_of(other)?;
            Ok(value % 1.0 != 0.0)
        }
    }
}

fn number_term(kind: NumberKind, scalar: Scalar<'_>) -> Result<QueryValue> {
    if kind.is_float() {
        let value = float_of(kind, scalar)?;
        let finite = if kind == NumberKind::Float {
            sortable::to_f32(value).is_finite()
        } else {
            sortable::to_f64(value).is_finite()
        };
        return Ok(if finite { QueryValue::Number(value) } else { QueryValue::Nothing });
    }
    if has_decimals(scalar)? {
        return Ok(QueryValue::Nothing);
    }
    Ok(match integer_of(kind, scalar) {
        Ok(value) => QueryValue::Number(value),
        Err(Fault::Range(_)) => QueryValue::Nothing,
        Err(Fault::Form(error)) => return Err(error),
    })
}

/// Why a query's value is no integer of a type.
enum Fault {
    Range(Error),
    Form(Error),
}

/// The integer that a query's value means, decimals cut.
fn integer_of(kind: NumberKind, scalar: Scalar<'_>) -> std::result::Result<i64, Fault> {
    let text = || scalar.java_text();
    let value = match scalar {
        Scalar::Integer(value) => value,
        other => {
            let double = double_of(other).map_err(Fault::Form)?;
            let (least, most) = kind.range();
            if double < least as f64 || double > most as f64 {
                return Err(Fault::Range(kind.out_of_range(&text())));
            }
            match other {
                // Longs lose no digit.
                Scalar::Text(text) if kind == NumberKind::Long => {
                    long_of_text(text, true).map_err(Fault::Range)?
                }
                Scalar::Big(origin) => long_of_text(origin.text(), true).map_err(Fault::Range)?,
                _ => double as i64,
            }
        }
    };
    let (least, most) = kind.range();
    if value < least || value > most {
        return Err(Fault::Range(kind.out_of_range(&text())));
    }
    Ok(value)
}

fn numbers(least: i64, most: i64) -> Bounds {
    if least <= most { Bounds::Numbers(least, most) } else { Bounds::Nothing }
}

/// Ends of an integer range: a decimal end is moved inwards to the next integer.
fn integer_range(kind: NumberKind, lower: End<'_>, upper: End<'_>) -> Result<Bounds> {
    // A short or byte is compared as an int.
    let kind = if kind == NumberKind::Long { kind } else { NumberKind::Integer };
    let read = |value: &Value| -> Result<(i64, bool, f64)> {
        let scalar = scalar(value)?;
        let at = integer_of(kind, scalar).map_err(|fault| match fault {
            Fault::Range(error) | Fault::Form(error) => error,
        })?;
        Ok((at, has_decimals(scalar)?, double_of(scalar)?))
    };
    let (mut least, mut most) = kind.range();
    if let Some((value, included)) = lower {
        let (at, decimals, double) = read(value)?;
        least = at;
        if (!decimals && !included) || (decimals && double > 0.0) {
            let Some(next) = at.checked_add(1) else { return Ok(Bounds::Nothing) };
            least = next;
        }
    }
    if let Some((value, included)) = upper {
        let (at, decimals, double) = read(value)?;
        most = at;
        if (!decimals && !included) || (decimals && double < 0.0) {
            let Some(next) = at.checked_sub(1) else { return Ok(Bounds::Nothing) };
            most = next;
        }
    }
    Ok(numbers(least, most))
}

fn float_range(kind: NumberKind, lower: End<'_>, upper: End<'_>) -> Result<Bounds> {
    let infinity = kind.sortable_of(f64::INFINITY);
    let (mut least, mut most) = (kind.sortable_of(f64::NEG_INFINITY), infinity);
    if let Some((value, included)) = lower {
        // Sortable neighbours are the next floats, -0.0 and 0.0 included.
        least = float_of(kind, scalar(value)?)?;
        least = if included { least } else { least.saturating_add(1) };
    }
    if let Some((value, included)) = upper {
        most = float_of(kind, scalar(value)?)?;
        most = if included { most } else { most.saturating_sub(1) };
    }
    Ok(numbers(least, most.min(infinity)))
}

fn date_range(
    date: &Date,
    lower: End<'_>,
    upper: End<'_>,
    options: &RangeOptions<'_>,
) -> Result<Bounds> {
    let own = options.format.map(DateFormat::parse_pattern).transpose()?;
    let format = own.as_ref().unwrap_or(&date.format);
    let zone = options.time_zone.map(Zone::parse).transpose()?;
    let read = |value: &Value, round| {
        let text = scalar(value)?.java_text();
        date_math::parse_ms(format, &text, options.now_ms, round, zone.as_ref())
    };
    let (mut least, mut most) = (i64::MIN, i64::MAX);
    if let Some((value, included)) = lower {
        least = read(value, if included { Round::Down } else { Round::Up })?;
        if !included {
            let Some(next) = least.checked_add(1) else { return Ok(Bounds::Nothing) };
            least = next;
        }
    }
    if let Some((value, included)) = upper {
        most = read(value, if included { Round::Up } else { Round::Down })?;
        if !included {
            let Some(next) = most.checked_sub(1) else { return Ok(Bounds::Nothing) };
            most = next;
        }
    }
    Ok(numbers(least, most))
}

#[cfg(test)]
mod tests;
