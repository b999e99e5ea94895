//! Numbers as sort keys: what a column keeps, as what it is compared, and how it is told.

use std::sync::Arc;

use base::FieldNo;
use mapping::NumberKind;
use mapping::types::calendar::Moment;
use mapping::types::date_format::Round;
use mapping::types::query::nanos_of;
use mapping::types::zone::Zone;
use mapping::types::{DateFormat, date_math, sortable};

use crate::aggs::format::Decimal;
use crate::ast::Scalar;
use crate::error::{Error, Kind, Result};
use crate::request::Mode;
use crate::result;

/// A key from a column of numbers.
#[derive(Clone, Debug)]
pub struct Numeric {
    /// The column; absent where the index does not map the field.
    pub field: Option<FieldNo>,
    /// Which of several values counts.
    pub mode: Mode,
    /// What the column's numbers are.
    pub stored: NumberForm,
    /// What they are compared as.
    pub form: NumberForm,
    /// Stands for no value, in `form`.
    pub missing: i64,
    /// How dates of the request are read.
    pub read: Option<Arc<DateFormat>>,
    /// How they are printed; as milliseconds where absent.
    pub print: Option<Arc<DateFormat>>,
    /// How other numbers are printed; as they are where absent.
    pub decimal: Option<Arc<Decimal>>,
    /// Dates count nanoseconds.
    pub nanos: bool,
    /// Compared as 32 bits: no value is the least or greatest of these, as since Elasticsearch 8.19.
    pub narrow: bool,
    /// The column holds booleans, as 1 and 0.
    pub flag: bool,
}

/// What a sortable number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberForm {
    /// A long, a boolean, milliseconds.
    Long,
    /// A double.
    Double,
    /// A float.
    Float,
    /// A float of 16 bits.
    Half,
    /// A long without sign.
    Unsigned,
    /// A decimal times a factor, whose bits these are.
    Scaled(u64),
    /// Milliseconds of a column, compared as nanoseconds.
    Millis,
    /// Nanoseconds of a column, compared as milliseconds.
    Nanos,
}

impl NumberForm {
    /// The number as a double.
    pub(super) fn double(self, value: i64) -> f64 {
        match self {
            Self::Long | Self::Millis | Self::Nanos => value as f64,
            Self::Double => sortable::to_f64(value),
            Self::Float => f64::from(sortable::to_f32(value)),
            Self::Half => NumberKind::HalfFloat.double_of(value),
            Self::Unsigned => sortable::to_u64(value) as f64,
            Self::Scaled(factor) => value as f64 / f64::from_bits(factor),
        }
    }

    /// The number of a double.
    pub(super) fn of_double(self, value: f64) -> i64 {
        match self {
            Self::Long | Self::Millis | Self::Nanos => value as i64,
            Self::Double => sortable::from_f64(value),
            Self::Float => sortable::from_f32(value as f32),
            Self::Half => NumberKind::HalfFloat.sortable_of(value),
            Self::Unsigned => sortable::from_u64(value as u64),
            Self::Scaled(factor) => (value * f64::from_bits(factor)).round() as i64,
        }
    }

    /// As what it is compared where the request does not say.
    pub(super) const fn compared(self) -> Self {
        match self {
            Self::Half => Self::Float,
            Self::Scaled(_) => Self::Double,
            Self::Millis | Self::Nanos => Self::Long,
            other => other,
        }
    }

    /// Compared as whole numbers?
    pub(super) const fn is_whole(self) -> bool {
        matches!(self, Self::Long | Self::Unsigned)
    }
}

impl Numeric {
    /// The number as it crosses cores: it still compares as the number does.
    pub fn comparable(&self, value: i64) -> result::Key {
        match self.form {
            NumberForm::Long | NumberForm::Unsigned => result::Key::Long(value),
            NumberForm::Float => result::Key::Float(sortable::to_f32(value)),
            form => result::Key::Double(form.double(value)),
        }
    }

    /// A comparable key as it is printed.
    pub fn printed(&self, key: result::Key) -> result::Key {
        let print = |format: &DateFormat, value: i64| {
            if !self.nanos {
                return result::Key::Text(format.print_ms(value));
            }
            let (seconds, nanos) = (value.div_euclid(NANOS), value.rem_euclid(NANOS) as u32);
            result::Key::Text(format.print(Moment { seconds, nanos }, &Zone::UTC))
        };
        if let Some(pattern) = &self.decimal {
            return match key {
                result::Key::Long(value) => result::Key::Text(pattern.print_long(value)),
                result::Key::Float(value) => result::Key::Text(pattern.print(f64::from(value))),
                result::Key::Double(value) => result::Key::Text(pattern.print(value)),
                key => key,
            };
        }
        match (&self.print, key) {
            (Some(format), result::Key::Long(value)) => print(format, value),
            (Some(format), result::Key::Double(value)) => print(format, value as i64),
            (_, result::Key::Long(value)) if self.form == NumberForm::Unsigned => {
                result::Key::Unsigned(sortable::to_u64(value))
            }
            (_, key) => key,
        }
    }

    /// A stored number in the form in which it is compared.
    #[inline]
    pub fn cast(&self, value: i64) -> i64 {
        convert(self.stored, self.form, value)
    }

    /// One number of several, which rise, in the form in which it is compared (`MultiValueMode`).
    pub fn combine(&self, values: &[i64]) -> i64 {
        let count = values.len();
        if self.form == NumberForm::Unsigned && self.stored == NumberForm::Unsigned {
            return combine_unsigned(self.mode, values);
        }
        match self.mode {
            Mode::Min => self.cast(values[0]),
            Mode::Max => self.cast(values[count - 1]),
            Mode::Sum | Mode::Avg => {
                if self.form.is_whole() {
                    let sum = values.iter().fold(0i64, |sum, v| sum.wrapping_add(self.cast(*v)));
                    return match self.mode {
                        Mode::Avg if count > 1 => base::java::round(sum as f64 / count as f64),
                        _ => sum,
                    };
                }
                let sum: f64 = values.iter().map(|value| self.double(self.cast(*value))).sum();
                self.sortable(if self.mode == Mode::Avg { sum / count as f64 } else { sum })
            }
            Mode::Median => {
                let middle = self.cast(values[count / 2]);
                if count % 2 == 1 {
                    return middle;
                }
                let below = self.cast(values[count / 2 - 1]);
                if self.form.is_whole() {
                    return base::java::round((below as f64 + middle as f64) / 2.0);
                }
                self.sortable((self.double(below) + self.double(middle)) / 2.0)
            }
        }
    }

    fn double(&self, value: i64) -> f64 {
        self.form.double(value)
    }

    fn sortable(&self, value: f64) -> i64 {
        self.form.of_double(value)
    }
}

/// One unsigned long of several, which rise; no digit is lost.
fn combine_unsigned(mode: Mode, values: &[i64]) -> i64 {
    let count = values.len();
    let at = |place: usize| u128::from(sortable::to_u64(values[place]));
    let sum = || (0..count).map(at).sum::<u128>();
    let number = match mode {
        Mode::Min => at(0),
        Mode::Max => at(count - 1),
        Mode::Sum => sum(),
        // Halves are rounded up.
        Mode::Avg => (2 * sum() / count as u128).div_ceil(2),
        Mode::Median if count % 2 == 1 => at(count / 2),
        Mode::Median => (at(count / 2 - 1) + at(count / 2)).div_ceil(2),
    };
    sortable::from_u64(number as u64)
}

/// Nanoseconds of a second.
const NANOS: i64 = 1_000_000_000;

/// Nanoseconds of a millisecond.
const MILLI_NANOS: i64 = 1_000_000;

/// Why milliseconds cannot be told as nanoseconds; `None` where they can.
pub fn beyond_nanos(ms: i64) -> Option<Error> {
    let wrong = match ms {
        0..=NANOS_MS_MAX => return None,
        ..0 => "before the epoch in 1970",
        _ => "after 2262-04-11T23:47:16.854775807",
    };
    Some(Error::illegal(format!(
        "milliSeconds [{ms}] are {wrong} and cannot be converted to nanoseconds"
    )))
}

/// The last millisecond that 64 bits of nanoseconds reach.
pub const NANOS_MS_MAX: i64 = i64::MAX / MILLI_NANOS;

/// A number of one form in another.
pub(super) fn convert(from: NumberForm, to: NumberForm, value: i64) -> i64 {
    match from {
        _ if from == to => return value,
        // What lies beyond 64 bits is refused where documents are read.
        NumberForm::Millis => return value.saturating_mul(MILLI_NANOS),
        NumberForm::Nanos => return convert(NumberForm::Long, to, value / MILLI_NANOS),
        _ => {}
    }
    to.of_double(from.double(value))
}

/// What stands for no value, as a key compares it.
pub(super) fn missing(numeric: &Numeric, value: &Scalar) -> Result<i64> {
    read(numeric, value, |format, text| Ok(format.parse(text, None, Round::Down)?))
}

/// A value of `search_after` as a key compares it; dates may be reckoned with, but from no `now`.
pub(super) fn after(numeric: &Numeric, value: &Scalar) -> Result<i64> {
    read(numeric, value, date_with_math)
}

fn date_with_math(format: &DateFormat, text: &str) -> Result<Moment> {
    if text.starts_with("now") {
        let cause = Error::new(Kind::IllegalState, "now() is not allowed in [search_after] key");
        return Err(
            Error::new(Kind::Parse, "could not read the current timestamp").caused_by(cause)
        );
    }
    Ok(date_math::parse(format, text, 0, Round::Down, None)?)
}

fn read(
    numeric: &Numeric,
    value: &Scalar,
    date: impl FnOnce(&DateFormat, &str) -> Result<Moment>,
) -> Result<i64> {
    if let (Some(pattern), Scalar::String(text)) = (&numeric.decimal, value)
        && let Some(value) = pattern.read(text)
    {
        return Ok(numeric.form.of_double(value));
    }
    let (Some(format), Scalar::String(text)) = (&numeric.read, value) else {
        return number(numeric.form, value);
    };
    let count = match (date(format, text), text.parse()) {
        (Ok(moment), _) if numeric.nanos => nanos_of(moment)?,
        (Ok(moment), _) => moment.to_ms().ok_or_else(|| Error::illegal("long overflow"))?,
        // A number that a client put into quotes.
        (Err(_), Ok(count)) => count,
        (Err(error), Err(_)) => return Err(error),
    };
    Ok(convert(NumberForm::Long, numeric.form, count))
}

/// A number of the request in a form.
pub(super) fn number(form: NumberForm, value: &Scalar) -> Result<i64> {
    let text = match value {
        // Columns of booleans hold 1 and 0, and no value of the request is told otherwise.
        Scalar::Bool(_) => return Err(Error::number(value.text())),
        Scalar::Number(text) | Scalar::String(text) => text.as_str(),
    };
    let double = || text.parse::<f64>().map_err(|_| Error::number(text));
    match form {
        // A long is not squeezed through a double unless it was written as one.
        NumberForm::Long | NumberForm::Millis | NumberForm::Nanos => {
            text.parse::<i64>().or_else(|_| double().map(|value| value as i64))
        }
        NumberForm::Double => double().map(sortable::from_f64),
        NumberForm::Float => {
            text.parse::<f32>().map(sortable::from_f32).map_err(|_| Error::number(text))
        }
        NumberForm::Unsigned => match text.parse::<u64>() {
            Ok(value) => Ok(sortable::from_u64(value)),
            Err(_) => double().map(|value| form.of_double(value)),
        },
        NumberForm::Half | NumberForm::Scaled(_) => double().map(|value| form.of_double(value)),
    }
}
