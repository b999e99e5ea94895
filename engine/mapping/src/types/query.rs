//! What the values of a query mean for a field.
//!
//! A term names one value; a date's text names a span, so does a range. Both are answered in
//! sortable numbers or bytes, so that `search` needs to know no type.

use json::Value;

use super::calendar::Moment;
use super::date_format::{DateFormat, EPOCH_MILLIS, Round};
use super::date_math::{self, Zone};
use super::number::{NumberKind, java_double, java_float, long_of_text};
use super::range::Span;
use super::scalar::Scalar;
use super::{Date, Field, Keyword, KeywordFlavor, Kind, boolean, ip, sortable, version};
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
    /// Terms from the first to the second, both included: a block of addresses.
    Terms(Vec<u8>, Vec<u8>),
    /// Spans that share a value with this one.
    Span(Span),
    /// Every document: the field's only value.
    All,
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
    /// A span; how spans of documents lie to it, the query says ([`Span::bounds`]).
    Span(Span),
    /// Every document.
    All,
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
pub(super) type End<'a> = Option<(&'a Value, bool)>;

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
            Kind::Keyword(keyword) => QueryValue::Term(keyword.term(&scalar.java_text())),
            Kind::Number(number) => number.term(scalar)?,
            Kind::Boolean(_) => QueryValue::Number(i64::from(boolean::parse_query(scalar)?)),
            Kind::Date(date) => {
                let text = scalar.java_text();
                let format = date.asked_in(scalar.is_number());
                let at = |round| date.bound(format, &text, now_ms, round, None);
                QueryValue::Numbers(at(Round::Down)?, at(Round::Up)?)
            }
            Kind::Ip(_) => {
                let (from, to) = ip::parse_query(&scalar.java_text())?;
                let (from, to) = (from.octets().to_vec(), to.octets().to_vec());
                if from == to { QueryValue::Term(from) } else { QueryValue::Terms(from, to) }
            }
            Kind::Range(range) => {
                let options = RangeOptions { now_ms, ..RangeOptions::default() };
                let end = Some((value, true));
                let span = range.parse_query(end, end, &options)?;
                span.map_or(QueryValue::Nothing, QueryValue::Span)
            }
            Kind::ConstantKeyword(constant) => match &constant.value {
                Some(value) if **value == *scalar.java_text() => QueryValue::All,
                _ => QueryValue::Nothing,
            },
            Kind::Flattened(_) | Kind::Join(_) => QueryValue::Term(scalar.java_text().into_bytes()),
            Kind::GeoPoint(_) => {
                return Err(Error::illegal_argument(format!(
                    "Geometry fields do not support exact searching, use dedicated geometry \
                     queries instead: [{}]",
                    self.path
                )));
            }
            Kind::Binary => {
                return Err(Error::illegal_argument("Binary fields do not support searching"));
            }
            Kind::RankFeature(_) | Kind::RankFeatures(_) => {
                return Err(Error::illegal_argument(format!(
                    "Queries on [{}] fields are not supported",
                    self.type_name()
                )));
            }
            Kind::Completion(_) => QueryValue::Nothing,
        })
    }

    /// What one value of a `terms` query means: as for [`Field::parse_query_value`], but a whole
    /// number that the field's type cannot hold is refused. (`short` and `byte` are asked as
    /// `integer` is, in Elasticsearch too.)
    ///
    /// # Errors
    /// As there; `Value [2147483648] is out of range for an integer`.
    pub fn parse_terms_value(&self, value: &Value, now_ms: i64) -> Result<QueryValue> {
        if let Kind::Number(number) = &self.kind {
            let kind = match number.number {
                NumberKind::Byte | NumberKind::Short => NumberKind::Integer,
                kind => kind,
            };
            let scalar = scalar(value)?;
            if matches!(kind, NumberKind::Integer | NumberKind::Long)
                && !has_decimals(scalar)?
                && let Err(Fault::Range(error)) = integer_of(kind, scalar)
            {
                return Err(error);
            }
        }
        self.parse_query_value(value, now_ms)
    }

    /// The term that a request means: a key of `search_after`, a value to include, what stands for
    /// a missing one. The way back from [`Field::show_term`].
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub fn parse_term(&self, value: &Value) -> Result<Vec<u8>> {
        let text = scalar(value)?.java_text();
        Ok(match &self.kind {
            Kind::Ip(_) => ip::parse(&text)?.octets().to_vec(),
            Kind::Keyword(keyword) if keyword.flavor != KeywordFlavor::Keyword => {
                keyword.term(&text)
            }
            _ => text.into_bytes(),
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
            Kind::Text(_) | Kind::Keyword(_) | Kind::Ip(_) | Kind::Flattened(_) | Kind::Join(_) => {
                self.term_range(lower, upper)
            }
            Kind::Number(number) => number.range(lower, upper),
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
            Kind::Range(range) => {
                let span = range.parse_query(lower, upper, options)?;
                Ok(span.map_or(Bounds::Nothing, Bounds::Span))
            }
            Kind::ConstantKeyword(constant) => {
                let Some(value) = &constant.value else { return Ok(Bounds::Nothing) };
                let beyond = |end: End<'_>, above: bool| -> Result<bool> {
                    let Some((bound, included)) = end else { return Ok(false) };
                    let bound = scalar(bound)?.java_text();
                    let order = (**value).cmp(bound.as_str());
                    Ok(if above { order.is_gt() } else { order.is_lt() }
                        || order.is_eq() && !included)
                };
                let outside = beyond(lower, false)? || beyond(upper, true)?;
                Ok(if outside { Bounds::Nothing } else { Bounds::All })
            }
            _ => Err(Error::illegal_argument(format!(
                "Field [{}] of type [{}] does not support range queries",
                self.path,
                self.type_name()
            ))),
        }
    }

    /// Terms between two ends.
    fn term_range(&self, lower: End<'_>, upper: End<'_>) -> Result<Bounds> {
        let term = |end: End<'_>| {
            let read = |(value, included)| match &self.kind {
                Kind::Keyword(keyword) => Ok((keyword.term(&scalar(value)?.java_text()), included)),
                _ => Ok((self.parse_term(value)?, included)),
            };
            end.map(read).transpose()
        };
        let (mut lower, mut upper) = (term(lower)?, term(upper)?);
        // One key's terms end where the next key's begin.
        if let Some(prefix) = self.term_prefix() {
            lower = lower.or_else(|| Some((prefix.clone(), true)));
            upper = upper.or_else(|| {
                let mut after = prefix;
                *after.last_mut()? = 1;
                Some((after, false))
            });
        }
        Ok(Bounds::Terms { lower, upper })
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
                other => date.bound(&date.format, &other.java_text(), 0, Round::Down, None),
            },
            Kind::Boolean(_) => match scalar {
                Scalar::Integer(value) => Ok(value),
                other => boolean::parse_query(other).map(i64::from),
            },
            Kind::Number(number) if number.number.is_float() => float_of(number.number, scalar),
            Kind::Number(number) if number.number == NumberKind::ScaledFloat => {
                double_of(scalar).map(|value| number.sortable_of(value))
            }
            Kind::Number(number) if number.number == NumberKind::UnsignedLong => {
                number.parse(scalar, true)
            }
            Kind::Number(_) => match scalar {
                Scalar::Integer(value) => Ok(value),
                other => long_of_text(&other.java_text(), true),
            },
            _ => Err(Error::illegal_argument(format!("[{}] is no number", self.path))),
        }
    }
}

impl Keyword {
    /// The term that a text means; one that no document can have where its normalizer makes more of it than
    /// there is room for.
    pub fn term(&self, text: &str) -> Vec<u8> {
        let mut buffer = String::new();
        let text = match &self.normalizer {
            Some(normalizer) => normalizer.normal_term(text, &mut buffer),
            None => text,
        };
        match &self.flavor {
            KeywordFlavor::Version => version::encode(text),
            KeywordFlavor::OneKey(key) => [key.as_bytes(), b"\0", text.as_bytes()].concat(),
            _ => text.as_bytes().to_vec(),
        }
    }
}

impl Date {
    /// The format in which a request that names none tells a date: its own, and milliseconds where a number does,
    /// whatever the field's format.
    fn asked_in(&self, is_number: bool) -> &DateFormat {
        if is_number { &EPOCH_MILLIS } else { &self.format }
    }

    /// The sortable value of a date with math, as an end of a range.
    ///
    /// # Errors
    /// In Elasticsearch's words (`parse_exception`).
    pub fn bound(
        &self,
        format: &DateFormat,
        text: &str,
        now_ms: i64,
        round: Round,
        zone: Option<&Zone>,
    ) -> Result<i64> {
        if !self.nanos {
            return date_math::parse_ms(format, text, now_ms, round, zone);
        }
        let moment = date_math::parse(format, text, now_ms, round, zone)?;
        // What cannot be kept lies beyond all that is.
        Ok(moment.to_nanos().unwrap_or(if moment.seconds < 0 { 0 } else { i64::MAX }).max(0))
    }

    /// The sortable value of a document's text.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub fn parse(&self, text: &str) -> Result<i64> {
        if !self.nanos {
            return self.format.parse_ms(text);
        }
        nanos_of(self.format.parse(text, None, Round::Down)?)
    }
}

/// Nanoseconds since 1970, as columns keep them.
///
/// # Errors
/// In Elasticsearch's words, where the moment lies before 1970 or beyond 64 bits.
pub fn nanos_of(moment: Moment) -> Result<i64> {
    let shown = || {
        let text = super::date_format::NANOS.print(moment, &Zone::UTC);
        // As Java's `Instant` prints itself: no fraction where there is none.
        match text.strip_suffix(".000Z") {
            Some(whole) => format!("{whole}Z"),
            None => text,
        }
    };
    if moment.seconds < 0 {
        return Err(Error::illegal_argument(format!(
            "date[{}] is before the epoch in 1970 and cannot be stored in nanosecond resolution",
            shown()
        )));
    }
    moment.to_nanos().ok_or_else(|| {
        Error::illegal_argument(format!(
            "date[{}] is after 2262-04-11T23:47:16.854775807 and cannot be stored in nanosecond \
             resolution",
            shown()
        ))
    })
}

pub(super) fn scalar(value: &Value) -> Result<Scalar<'_>> {
    Scalar::of_value(value).ok_or_else(|| Error::illegal_argument("value cannot be null"))
}

/// The double that a query's value means.
pub(super) fn double_of(scalar: Scalar<'_>) -> Result<f64> {
    match scalar {
        Scalar::Integer(value) => Ok(value as f64),
        Scalar::Decimal(value, _) => Ok(value),
        other => java_double(&other.java_text()),
    }
}

/// The sortable value of a float type, infinities included.
fn float_of(kind: NumberKind, scalar: Scalar<'_>) -> Result<i64> {
    if matches!(kind, NumberKind::Float | NumberKind::HalfFloat) {
        let float = match scalar {
            Scalar::Text(text) => java_float(text)?,
            other => double_of(other)? as f32,
        };
        return kind.finite_float(float);
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

pub(super) fn number_term(kind: NumberKind, scalar: Scalar<'_>) -> Result<QueryValue> {
    if kind.is_float() {
        let value = float_of(kind, scalar)?;
        let finite = kind.double_of(value).is_finite();
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

pub(super) fn numbers(least: i64, most: i64) -> Bounds {
    if least <= most { Bounds::Numbers(least, most) } else { Bounds::Nothing }
}

/// Ends of an integer range: a decimal end is moved inwards to the next integer.
pub(super) fn integer_range(kind: NumberKind, lower: End<'_>, upper: End<'_>) -> Result<Bounds> {
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

pub(super) fn float_range(kind: NumberKind, lower: End<'_>, upper: End<'_>) -> Result<Bounds> {
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
    // Both ends are read alike.
    let is_number = |end: End<'_>| end.is_some_and(|(value, _)| value.as_number().is_some());
    let asked_in = date.asked_in(is_number(lower) || is_number(upper));
    let format = own.as_ref().unwrap_or(asked_in);
    let zone = options.time_zone.map(Zone::parse).transpose()?;
    let read = |value: &Value, round| {
        let text = scalar(value)?.java_text();
        date.bound(format, &text, options.now_ms, round, zone.as_ref())
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
