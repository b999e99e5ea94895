//! How a kept value is shown.

use json::Value;

use super::calendar::Moment;
use super::date_format::DateFormat;
use super::number::NumberKind;
use super::zone::Zone;
use super::{Date, Field, KeywordFlavor, Kind, geo, ip, version};

impl Date {
    /// The moment of a sortable value.
    pub const fn moment(&self, sortable: i64) -> Moment {
        if self.nanos {
            let nanos = sortable.rem_euclid(1_000_000_000) as u32;
            Moment { seconds: sortable.div_euclid(1_000_000_000), nanos }
        } else {
            Moment::from_ms(sortable)
        }
    }

    /// A sortable value in a format, in UTC.
    pub fn print(&self, sortable: i64, format: &DateFormat) -> String {
        format.print(self.moment(sortable), &Zone::UTC)
    }
}

impl Field {
    /// A value of the column as `docvalue_fields` shows it: a date in its format, a float as its
    /// exact double.
    pub fn format_value(&self, sortable: i64) -> Value {
        match &self.kind {
            Kind::Date(date) => date.print(sortable, &date.format).into(),
            Kind::Boolean(_) => Value::Bool(sortable != 0),
            Kind::Number(number) => match number.number {
                NumberKind::Float | NumberKind::HalfFloat => number.double(sortable).into(),
                _ => number.value(sortable),
            },
            Kind::GeoPoint(_) => {
                let point = geo::decode(sortable);
                json::json!({
                    "type": "Point",
                    "coordinates": [point.lon, point.lat]
                })
            }
            _ => Value::Null,
        }
    }

    /// A date of the column in a format of the request; other values as [`Self::format_value`].
    pub fn format_value_as(&self, sortable: i64, format: &DateFormat) -> Value {
        match &self.kind {
            Kind::Date(date) => date.print(sortable, format).into(),
            _ => self.format_value(sortable),
        }
    }

    /// A value of the column as a sort key shows it: dates as milliseconds (or nanoseconds),
    /// booleans as 0 and 1, floats as floats.
    pub fn sort_value(&self, sortable: i64) -> Value {
        match &self.kind {
            Kind::Number(number) => number.value(sortable),
            Kind::Date(_) | Kind::Boolean(_) => sortable.into(),
            _ => Value::Null,
        }
    }

    /// A term of the column as people read it: an address, a version, the value behind a key.
    pub fn show_term(&self, term: &[u8]) -> Value {
        match &self.kind {
            Kind::Ip(_) => ip::show_term(term),
            Kind::Keyword(keyword) => match &keyword.flavor {
                KeywordFlavor::Version => version::decode(term).into_owned().into(),
                KeywordFlavor::OneKey(key) => {
                    let text =
                        term.strip_prefix(key.as_bytes()).and_then(|rest| rest.strip_prefix(b"\0"));
                    String::from_utf8_lossy(text.unwrap_or(term)).into_owned().into()
                }
                _ => String::from_utf8_lossy(term).into_owned().into(),
            },
            _ => String::from_utf8_lossy(term).into_owned().into(),
        }
    }

    /// What all terms of the column that are this field's begin with: `key\0` for one key of a
    /// `flattened` field, which shares its column with the others.
    pub fn term_prefix(&self) -> Option<Vec<u8>> {
        match &self.kind {
            Kind::Keyword(keyword) => match &keyword.flavor {
                KeywordFlavor::OneKey(key) => Some([key.as_bytes(), b"\0"].concat()),
                _ => None,
            },
            _ => None,
        }
    }
}
