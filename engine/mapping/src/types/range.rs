//! Spans of numbers, dates or addresses, and how a query's span may lie beside them.
//!
//! A span is kept as its two ends, both inside, each as unsigned big-endian bytes whose order is the
//! order of the values: eight of a sortable number with its sign flipped, sixteen of an address.
//! The points of a field have two dimensions, `from` and `to`; the column's byte string is the spans
//! of a document behind one another, `from` then `to`, sorted, each once.
//!
//! Example: the integers from 1 to 3 are `80 00×6 01 | 80 00×6 03`.

use std::net::Ipv6Addr;
use std::sync::Arc;

use json::Value;

use super::date_format::{DEFAULT, DateFormat, Round};
use super::number::{NumberKind, java_double, java_float, long_of_text};
use super::query::{End, RangeOptions};
use super::scalar::Scalar;
use super::{date_math, ip, sortable, zone::Zone};
use crate::{Error, ErrorKind, Result};

/// A field of spans.
#[derive(Clone, Debug)]
pub struct Range {
    /// Of what.
    pub kind: RangeKind,
    /// Takes strings and cuts decimals.
    pub coerce: bool,
    /// The mapping says so itself, not the index.
    pub coerce_given: bool,
    /// How dates are read, where the mapping says.
    pub format: Option<Arc<DateFormat>>,
    /// `locale`, as it was given.
    pub locale: Option<Arc<str>>,
}

/// The types of spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RangeKind {
    /// 32-bit integers.
    Integer,
    /// 64-bit integers.
    Long,
    /// 32-bit floats.
    Float,
    /// 64-bit floats.
    Double,
    /// Milliseconds.
    Date,
    /// Addresses.
    Ip,
}

/// How a document's span lies to the query's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relation {
    /// They share a value.
    #[default]
    Intersects,
    /// The document's holds the query's.
    Contains,
    /// The query's holds the document's.
    Within,
}

/// A span: both ends inside, as numbers that sort as the values do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The least value.
    pub from: u128,
    /// The greatest value.
    pub to: u128,
}

impl RangeKind {
    /// All.
    pub const ALL: [Self; 6] =
        [Self::Integer, Self::Long, Self::Float, Self::Double, Self::Date, Self::Ip];

    /// Elasticsearch's name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer_range",
            Self::Long => "long_range",
            Self::Float => "float_range",
            Self::Double => "double_range",
            Self::Date => "date_range",
            Self::Ip => "ip_range",
        }
    }

    /// The type of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Bytes of an end.
    pub const fn width(self) -> usize {
        if matches!(self, Self::Ip) { 16 } else { 8 }
    }

    /// The numbers of it.
    const fn number(self) -> NumberKind {
        match self {
            Self::Integer => NumberKind::Integer,
            Self::Float => NumberKind::Float,
            Self::Double => NumberKind::Double,
            Self::Long | Self::Date | Self::Ip => NumberKind::Long,
        }
    }

    /// All values.
    fn all(self) -> Span {
        let (from, to) = match self {
            Self::Ip => return Span { from: 0, to: u128::MAX },
            Self::Float => {
                (sortable::from_f32(f32::NEG_INFINITY), sortable::from_f32(f32::INFINITY))
            }
            Self::Double => {
                (sortable::from_f64(f64::NEG_INFINITY), sortable::from_f64(f64::INFINITY))
            }
            Self::Integer | Self::Long | Self::Date => self.number().range(),
        };
        Span { from: key(from), to: key(to) }
    }

    /// The bytes of an end.
    pub fn push_end(self, end: u128, out: &mut Vec<u8>) {
        out.extend_from_slice(&end.to_be_bytes()[16 - self.width()..]);
    }
}

/// A sortable number as one without sign.
const fn key(sortable: i64) -> u128 {
    ((sortable as u64) ^ (1 << 63)) as u128
}

/// The sortable number of an end.
pub const fn sortable_of(end: u128) -> i64 {
    (end as u64 ^ (1 << 63)) as i64
}

impl Span {
    /// The bytes of its point.
    pub fn point(self, kind: RangeKind) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 * kind.width());
        kind.push_end(self.from, &mut bytes);
        kind.push_end(self.to, &mut bytes);
        bytes
    }

    /// The spans of a column's byte string.
    pub fn read(bytes: &[u8], kind: RangeKind) -> impl Iterator<Item = Self> + '_ {
        let width = kind.width();
        let end = |bytes: &[u8]| bytes.iter().fold(0u128, |end, byte| end << 8 | u128::from(*byte));
        bytes
            .chunks_exact(2 * width)
            .map(move |span| Self { from: end(&span[..width]), to: end(&span[width..]) })
    }

    /// The lowest and highest point of the spans that lie so to this one.
    pub fn bounds(self, relation: Relation, kind: RangeKind) -> (Vec<u8>, Vec<u8>) {
        let most = if kind.width() == 16 { u128::MAX } else { u128::from(u64::MAX) };
        let (low, high) = match relation {
            Relation::Intersects => ((0, self.from), (self.to, most)),
            Relation::Contains => ((0, self.to), (self.from, most)),
            Relation::Within => ((self.from, self.from), (self.to, self.to)),
        };
        let point = |(from, to)| Self { from, to }.point(kind);
        (point(low), point(high))
    }

    /// Does a document's span lie so to this one?
    pub const fn is_met_by(self, doc: Self, relation: Relation) -> bool {
        match relation {
            Relation::Intersects => doc.from <= self.to && self.from <= doc.to,
            Relation::Contains => doc.from <= self.from && self.to <= doc.to,
            Relation::Within => self.from <= doc.from && doc.to <= self.to,
        }
    }
}

impl Range {
    /// How dates are read and shown.
    pub fn date_format(&self) -> &Arc<DateFormat> {
        self.format.as_ref().unwrap_or(&DEFAULT)
    }

    /// The span of a document's value; none for null.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub fn parse(&self, value: &Value, name: &str) -> Result<Option<Span>> {
        let ends = match value {
            Value::Null => return Ok(None),
            Value::Object(ends) => ends,
            Value::String(text) if self.kind == RangeKind::Ip => {
                let (address, length) = text.split_once('/').unwrap_or((text, ""));
                let (from, to) = ip::cidr(text, address, length)?;
                return Ok(Some(Span { from: from.into(), to: to.into() }));
            }
            _ => {
                return Err(Error::new(
                    ErrorKind::DocumentParsing,
                    format!("error parsing field [{name}], expected an object but got {name}"),
                ));
            }
        };
        let all = self.kind.all();
        let (mut from, mut to) = (Some(all.from), Some(all.to));
        for (key, value) in ends.iter() {
            let given = !value.is_null();
            match key {
                "gt" if given => from = self.end(value)?.checked_add(1),
                "gte" if given => from = Some(self.end(value)?),
                "lt" if given => to = self.end(value)?.checked_sub(1),
                "lte" if given => to = Some(self.end(value)?),
                "gt" => from = all.from.checked_add(1).or(Some(all.from)),
                "lt" => to = all.to.checked_sub(1).or(Some(all.to)),
                "gte" | "lte" => {}
                _ => {
                    return Err(Error::new(
                        ErrorKind::DocumentParsing,
                        format!("error parsing field [{name}], with unknown parameter [{key}]"),
                    ));
                }
            }
        }
        match (from, to) {
            (Some(from), Some(to)) if from <= to => Ok(Some(Span { from, to })),
            (from, to) => {
                let show = |end: Option<u128>| end.map_or_else(String::new, |end| self.show(end));
                Err(Error::illegal_argument(format!(
                    "min value ({}) is greater than max value ({})",
                    show(from),
                    show(to)
                )))
            }
        }
    }

    /// One end of a document's value.
    fn end(&self, value: &Value) -> Result<u128> {
        let scalar = Scalar::of_value(value).ok_or_else(|| {
            Error::illegal_argument(format!("Can't get text on a {}", value.token()))
        })?;
        match self.kind {
            RangeKind::Ip => Ok(ip::parse(&scalar.java_text())?.into()),
            RangeKind::Date => {
                let text = scalar.java_text();
                if text.starts_with("now") {
                    return Err(Error::illegal_argument("now is not used at indexing time"));
                }
                date_math::parse_ms(self.date_format(), &text, 0, Round::Down, None).map(key)
            }
            kind => kind.number().parse(scalar, self.coerce).map(key),
        }
    }

    /// A document's value as `fields` shows it: each end read, and shown, dates in `format` where that is given;
    /// none where it cannot be read.
    pub fn shown(&self, value: &Value, format: Option<&DateFormat>) -> Option<Value> {
        match value {
            Value::Object(ends) => {
                let one = |(key, value): (&str, &Value)| {
                    Some((key.to_owned(), self.shown_end(value, format)?))
                };
                ends.iter().map(one).collect::<Option<_>>().map(Value::Object)
            }
            Value::String(text) if self.kind == RangeKind::Ip => {
                let (address, length) = text.split_once('/')?;
                let address = ip::show(ip::parse(address).ok()?);
                Some(format!("{address}/{length}").into())
            }
            _ => None,
        }
    }

    fn shown_end(&self, value: &Value, format: Option<&DateFormat>) -> Option<Value> {
        if value.is_null() {
            return Some(Value::Null);
        }
        let end = self.end(value).ok()?;
        match (self.kind, format) {
            (RangeKind::Date, Some(format)) => Some(format.print_ms(sortable_of(end)).into()),
            (RangeKind::Date | RangeKind::Ip, _) => Some(self.show(end).into()),
            _ => json::parse(self.show(end).as_bytes()).ok(),
        }
    }

    /// The span of a query; none where nothing lies between its ends.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub fn parse_query(
        &self,
        lower: End<'_>,
        upper: End<'_>,
        options: &RangeOptions<'_>,
    ) -> Result<Option<Span>> {
        let all = self.kind.all();
        let own = options.format.map(DateFormat::parse_pattern).transpose()?;
        let format = own.as_ref().unwrap_or(self.date_format());
        let zone = options.time_zone.map(Zone::parse).transpose()?;
        let read = |value: &Value, round: Round| -> Result<u128> {
            let scalar = Scalar::of_value(value)
                .ok_or_else(|| Error::illegal_argument("value cannot be null"))?;
            match self.kind {
                RangeKind::Ip => Ok(ip::parse(&scalar.java_text())?.into()),
                RangeKind::Date => {
                    let text = scalar.java_text();
                    date_math::parse_ms(format, &text, options.now_ms, round, zone.as_ref())
                        .map(key)
                }
                kind => query_number(kind.number(), scalar).map(key),
            }
        };
        let down = |included| if included { Round::Down } else { Round::Up };
        let up = |included| if included { Round::Up } else { Round::Down };
        let from = match lower {
            None => Some(all.from),
            Some((value, true)) => Some(read(value, down(true))?),
            Some((value, false)) => read(value, down(false))?.checked_add(1),
        };
        let to = match upper {
            None => Some(all.to),
            Some((value, true)) => Some(read(value, up(true))?),
            Some((value, false)) => read(value, up(false))?.checked_sub(1),
        };
        Ok(match (from, to) {
            (Some(from), Some(to)) if from <= to => Some(Span { from, to }),
            _ => None,
        })
    }

    /// An end as text.
    pub fn show(&self, end: u128) -> String {
        let sortable = sortable_of(end);
        match self.kind {
            RangeKind::Ip => ip::show(Ipv6Addr::from(end)),
            RangeKind::Date => self.date_format().print_ms(sortable),
            RangeKind::Float => json::number::float_to_string(sortable::to_f32(sortable)),
            RangeKind::Double => json::number::double_to_string(sortable::to_f64(sortable)),
            RangeKind::Integer | RangeKind::Long => sortable.to_string(),
        }
    }
}

/// A number of a query, without coercion.
fn query_number(kind: NumberKind, scalar: Scalar<'_>) -> Result<i64> {
    let text = scalar.java_text();
    match kind {
        NumberKind::Float => java_float(&text).map(sortable::from_f32),
        NumberKind::Double => java_double(&text).map(sortable::from_f64),
        _ => {
            if let Scalar::Integer(value) = scalar
                && (kind.range().0..=kind.range().1).contains(&value)
            {
                return Ok(value);
            }
            let double = java_double(&text)?;
            if double % 1.0 != 0.0 {
                return Err(Error::illegal_argument(format!("Value [{text}] has a decimal part")));
            }
            let (least, most) = kind.range();
            if double < least as f64 || double > most as f64 {
                return Err(kind.out_of_range(&text));
            }
            long_of_text(&text, true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    fn range(kind: RangeKind) -> Range {
        Range { kind, coerce: true, coerce_given: false, format: None, locale: None }
    }

    fn shown(kind: RangeKind, value: Value) -> std::result::Result<(String, String), String> {
        let range = range(kind);
        match range.parse(&value, "f") {
            Ok(span) => {
                let span = span.expect("no null");
                Ok((range.show(span.from), range.show(span.to)))
            }
            Err(error) => Err(error.reason),
        }
    }

    #[test]
    fn spans_are_read() {
        use RangeKind::*;
        for (kind, value, from, to) in [
            (Integer, json!({"gte": 1, "lt": 5}), "1", "4"),
            (Integer, json!({"gt": "1", "lte": 5.7}), "2", "5"),
            (Integer, json!({"gte": null, "lte": 5}), "-2147483648", "5"),
            (Long, json!({"gt": 1}), "2", "9223372036854775807"),
            (Float, json!({"gte": 0.5, "lte": 1.5}), "0.5", "1.5"),
            (Double, json!({"lte": 1.5}), "-Infinity", "1.5"),
            (
                Date,
                json!({"gte": "2024-01-01", "lt": "2024-02-01"}),
                "2024-01-01T00:00:00.000Z",
                "2024-01-31T23:59:59.999Z",
            ),
            (Ip, json!("10.0.0.0/8"), "10.0.0.0", "10.255.255.255"),
            (Ip, json!({"gt": "10.0.0.1", "lt": "10.0.0.9"}), "10.0.0.2", "10.0.0.8"),
        ] {
            assert_eq!(shown(kind, value), Ok((from.to_owned(), to.to_owned())));
        }
        assert_eq!(
            shown(Integer, json!({"gte": 5, "lte": 1})),
            Err("min value (5) is greater than max value (1)".to_owned())
        );
        assert_eq!(
            shown(Integer, json!({"from": 5})),
            Err("error parsing field [f], with unknown parameter [from]".to_owned())
        );
        assert!(shown(Integer, json!(5)).is_err());
        assert!(shown(Date, json!({"gte": "now"})).is_err());
    }

    #[test]
    fn bytes_read_back() {
        let one = Span { from: key(1), to: key(3) };
        let bytes = one.point(RangeKind::Integer);
        assert_eq!(bytes, [0x80, 0, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(Span::read(&bytes, RangeKind::Integer).collect::<Vec<_>>(), [one]);
    }

    proptest::proptest! {
        #[test]
        fn bounds_hold_exactly_the_spans_that_lie_so(
            query in (0u64..20, 0u64..20), doc in (0u64..20, 0u64..20),
        ) {
            let span = |(a, b): (u64, u64)| Span { from: a.min(b).into(), to: a.max(b).into() };
            let (query, doc) = (span(query), span(doc));
            for relation in [Relation::Intersects, Relation::Contains, Relation::Within] {
                let (low, high) = query.bounds(relation, RangeKind::Long);
                let point = doc.point(RangeKind::Long);
                let inside = (0..2).all(|dim| {
                    let part = dim * 8..dim * 8 + 8;
                    low[part.clone()] <= point[part.clone()] && point[part.clone()] <= high[part]
                });
                proptest::prop_assert_eq!(inside, query.is_met_by(doc, relation));
            }
        }
    }
}
