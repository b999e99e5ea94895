//! How a kept value is shown.

use json::Value;

use super::date_format::DateFormat;
use super::number::NumberKind;
use super::{Field, Kind, sortable};

impl Field {
    /// A value of the column as `docvalue_fields` shows it: a date in its format, a float as its
    /// exact double.
    pub fn format_value(&self, sortable: i64) -> Value {
        match &self.kind {
            Kind::Date(date) => date.format.print_ms(sortable).into(),
            Kind::Boolean(_) => Value::Bool(sortable != 0),
            Kind::Number(number) => match number.number {
                NumberKind::Float => f64::from(sortable::to_f32(sortable)).into(),
                NumberKind::Double => sortable::to_f64(sortable).into(),
                _ => sortable.into(),
            },
            Kind::Text(_) | Kind::Keyword(_) => Value::Null,
        }
    }

    /// A date of the column in a format of the request; other values as [`Self::format_value`].
    pub fn format_value_as(&self, sortable: i64, format: &DateFormat) -> Value {
        match &self.kind {
            Kind::Date(_) => format.print_ms(sortable).into(),
            _ => self.format_value(sortable),
        }
    }

    /// A value of the column as a sort key shows it: dates as milliseconds, booleans as 0 and 1,
    /// floats as floats.
    pub fn sort_value(&self, sortable: i64) -> Value {
        match &self.kind {
            Kind::Number(number) => match number.number {
                NumberKind::Float => sortable::to_f32(sortable).into(),
                NumberKind::Double => sortable::to_f64(sortable).into(),
                _ => sortable.into(),
            },
            Kind::Date(_) | Kind::Boolean(_) => sortable.into(),
            Kind::Text(_) | Kind::Keyword(_) => Value::Null,
        }
    }
}
