//! A numeric field: its width, its scale, its null.
//!
//! A `scaled_float` keeps the number times its factor, rounded to a whole one; a `token_count` keeps
//! how many words a text has. What the width says of a number is told by `number`.

use json::Value;

use super::number::{self, NumberKind};
use super::query::{Bounds, End, QueryValue};
use super::scalar::Scalar;
use super::{Counts, Number, half, sortable};
use crate::analysis::{ON, STOP, Scratch};
use crate::{Error, Result};

impl Number {
    /// A number of a width, with nothing said about it.
    pub fn plain(number: NumberKind, coerce: bool, ignore_malformed: bool) -> Self {
        Self {
            number,
            coerce,
            coerce_given: false,
            ignore_malformed,
            ignore_malformed_given: false,
            null_value: None,
            scale: 1.0,
            counts: None,
        }
    }

    /// The sortable value of a document's value.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    #[inline]
    pub fn parse(&self, value: Scalar<'_>, coerce: bool) -> Result<i64> {
        if self.number == NumberKind::ScaledFloat {
            let value = match value {
                Scalar::Text(text) if !coerce => {
                    let _ = text;
                    return Err(Error::illegal_argument("Double value passed as String"));
                }
                value => NumberKind::Double.parse(value, coerce),
            };
            let double = value.map_err(|mut error| {
                error.reason =
                    error.reason.replace("[double] supports", "[scaled_float] only supports");
                error.reason = error.reason.replace("only supports only", "only supports");
                error
            })?;
            return Ok(self.scaled(sortable::to_f64(double)));
        }
        self.number.parse(value, coerce)
    }

    /// What is kept of a double: Java's `Math.round`.
    fn scaled(&self, value: f64) -> i64 {
        base::java::round(value * self.scale)
    }

    /// A kept value as JSON: a sort key, a value of a column.
    pub fn value(&self, sortable: i64) -> Value {
        match self.number {
            NumberKind::HalfFloat => half::to_f32(sortable::to_f16(sortable)).into(),
            NumberKind::Float => sortable::to_f32(sortable).into(),
            NumberKind::Double => sortable::to_f64(sortable).into(),
            NumberKind::ScaledFloat => self.double(sortable).into(),
            NumberKind::UnsignedLong => sortable::to_u64(sortable).into(),
            _ => sortable.into(),
        }
    }

    /// A kept value as a double.
    pub fn double(&self, sortable: i64) -> f64 {
        match self.number {
            NumberKind::ScaledFloat => sortable as f64 / self.scale,
            kind => kind.double_of(sortable),
        }
    }

    /// The sortable value of a double; for aggregations, sort keys and missing values.
    pub fn sortable_of(&self, value: f64) -> i64 {
        match self.number {
            NumberKind::ScaledFloat => self.scaled(value),
            kind => kind.sortable_of(value),
        }
    }

    /// What the value of a term query means.
    pub(super) fn term(&self, scalar: Scalar<'_>) -> Result<QueryValue> {
        match self.number {
            NumberKind::ScaledFloat => {
                let value = super::query::double_of(scalar)?;
                Ok(if value.is_finite() {
                    QueryValue::Number(self.scaled(value))
                } else {
                    QueryValue::Nothing
                })
            }
            NumberKind::UnsignedLong => Ok(match unsigned_end(scalar)? {
                (value, false) => u64::try_from(value).map_or(QueryValue::Nothing, |value| {
                    QueryValue::Number(sortable::from_u64(value))
                }),
                _ => QueryValue::Nothing,
            }),
            kind => super::query::number_term(kind, scalar),
        }
    }

    /// What the ends of a range query mean.
    pub(super) fn range(&self, lower: End<'_>, upper: End<'_>) -> Result<Bounds> {
        match self.number {
            NumberKind::ScaledFloat => self.scaled_range(lower, upper),
            NumberKind::UnsignedLong => unsigned_range(lower, upper),
            kind if kind.is_float() => super::query::float_range(kind, lower, upper),
            kind => super::query::integer_range(kind, lower, upper),
        }
    }

    fn scaled_range(&self, lower: End<'_>, upper: End<'_>) -> Result<Bounds> {
        let (mut least, mut most) = (i64::MIN, i64::MAX);
        let read = |value: &Value| -> Result<f64> {
            Ok(super::query::double_of(super::query::scalar(value)?)? * self.scale)
        };
        if let Some((value, included)) = lower {
            let value = read(value)?;
            least = (if included { value } else { value.next_up() }).ceil() as i64;
        }
        if let Some((value, included)) = upper {
            let value = read(value)?;
            most = (if included { value } else { value.next_down() }).floor() as i64;
        }
        Ok(super::query::numbers(least, most))
    }
}

/// What a word counts for beside its text, as in an index.
const WORD_BYTES: usize = 2;

impl Counts {
    /// How many words a text has; gaps count where positions do. `None` where they have more than `bytes_max`
    /// together, or there is no room for what makes them.
    pub fn count(&self, text: &str, scratch: &mut Scratch, bytes_max: usize) -> Option<i64> {
        let (mut places, mut last, mut left) = (0u32, None, Some(bytes_max));
        let done = self.analyzer.tokens_with(text, scratch, |token| {
            places += u32::from(last != Some(token.position));
            last = Some(token.position);
            left = left.and_then(|left| left.checked_sub(token.term.len() + WORD_BYTES));
            if left.is_some() { ON } else { STOP }
        });
        let count = if self.position_increments { done.position_end } else { places };
        (left.is_some() && !done.lacks_room).then_some(i64::from(count))
    }
}

/// What Elasticsearch makes of an unsigned long in a document.
///
/// # Errors
/// `For input string: "x"`.
pub(super) fn parse_unsigned(value: Scalar<'_>) -> Result<i64> {
    let bad = |text: &str| Error::illegal_argument(format!("For input string: \"{text}\""));
    let parsed = match value {
        Scalar::Integer(value) => u64::try_from(value).ok(),
        Scalar::Big(origin) => origin.text().parse::<u64>().ok(),
        Scalar::Decimal(_, origin) => {
            return Err(Error::illegal_argument(format!("For input string: [{}].", origin.text())));
        }
        Scalar::Text(text) => {
            let digits = text.strip_prefix('+').unwrap_or(text);
            return digits.parse::<u64>().map(sortable::from_u64).map_err(|_| bad(text));
        }
        other @ Scalar::Bool(_) => return Err(number::not_numeric_token(other.token())),
    };
    parsed.map(sortable::from_u64).ok_or_else(|| {
        let mut buffer = String::new();
        Error::illegal_argument(format!("For input string: [{}].", value.text(&mut buffer)))
    })
}

/// A query's end for unsigned longs, and whether decimals were cut off (towards zero).
fn unsigned_end(scalar: Scalar<'_>) -> Result<(i128, bool)> {
    match scalar {
        Scalar::Integer(value) => Ok((value.into(), false)),
        other => {
            let text = other.java_text();
            if let Ok(value) = text.parse::<i128>() {
                return Ok((value, false));
            }
            let double = number::java_double(&text)?;
            Ok((double as i128, double.fract() != 0.0))
        }
    }
}

fn unsigned_range(lower: End<'_>, upper: End<'_>) -> Result<Bounds> {
    let (mut least, mut most) = (0i128, i128::from(u64::MAX));
    if let Some((value, included)) = lower {
        let (value, cut) = unsigned_end(super::query::scalar(value)?)?;
        let up = if cut { value >= 0 } else { !included };
        least = least.max(value + i128::from(up));
    }
    if let Some((value, included)) = upper {
        let (value, cut) = unsigned_end(super::query::scalar(value)?)?;
        let down = if cut { value < 0 } else { !included };
        most = most.min(value - i128::from(down));
    }
    Ok(match (u64::try_from(least), u64::try_from(most)) {
        (Ok(least), Ok(most)) => {
            super::query::numbers(sortable::from_u64(least), sortable::from_u64(most))
        }
        _ => Bounds::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    fn scaled(scale: f64) -> Number {
        Number { scale, ..Number::plain(NumberKind::ScaledFloat, true, false) }
    }

    #[test]
    fn scaled_floats_are_rounded_as_java_rounds() {
        let number = scaled(100.0);
        let kept = |text: &str| number.parse(Scalar::Text(text), true).expect("a number");
        assert_eq!(kept("1.239"), 124);
        assert_eq!(kept("-1.234"), -123);
        assert_eq!(kept("0.58"), 58);
        assert_eq!(number.value(124), json!(1.24));
        let ends = |lower, upper| number.range(lower, upper).expect("numbers");
        let (one, two) = (json!(1.0), json!(2.005));
        assert_eq!(ends(Some((&one, true)), Some((&two, true))), Bounds::Numbers(100, 200));
        assert_eq!(ends(Some((&one, false)), None), Bounds::Numbers(101, i64::MAX));
    }

    #[test]
    fn unsigned_longs_reach_to_the_top() {
        let number = Number::plain(NumberKind::UnsignedLong, true, false);
        let kept =
            |text: &str| number.parse(Scalar::Text(text), true).map(|kept| number.value(kept));
        assert_eq!(kept("18446744073709551615"), Ok(json!(18_446_744_073_709_551_615u64)));
        assert_eq!(kept("0"), Ok(json!(0)));
        assert!(kept("-1").is_err());
        assert!(kept("18446744073709551616").is_err());
        let (low, high) = (json!(-5), json!(1.5));
        assert_eq!(
            number.range(Some((&low, true)), Some((&high, true))),
            Ok(Bounds::Numbers(sortable::from_u64(0), sortable::from_u64(1)))
        );
        assert_eq!(number.range(None, Some((&low, true))), Ok(Bounds::Nothing));
    }
}
