//! Where an aggregation's values come from in one index: a column, its form, what stands for no
//! value, and how values are printed.

use std::sync::Arc;

use base::FieldNo;
use mapping::types::KeywordFlavor;
use mapping::types::date_format::DEFAULT;
use mapping::types::range::RangeKind;
use mapping::types::zone::Zone;
use mapping::types::{DateFormat, sortable};
use mapping::{Field, Kind as Type, Mapping, NumberKind};

use super::format::{Decimal, Format, Shown};
use super::geo;
use super::partial::{Key, KeyKind};
use super::spec::Values;
use crate::ast::Scalar;
use crate::error::{Error, Result};
use crate::plan::order::{self, no_fielddata, value_of};
use crate::plan::{Context, metadata};

/// What a script makes of the values of `before`, or of documents.
///
/// # Errors
/// A format that fits not.
pub fn scripted(
    number: usize,
    before: Option<&Source>,
    values: &Values,
    form: Form,
    context: &Context<'_>,
) -> Result<Source> {
    let kind = values.value_type.as_deref();
    let own = match kind {
        Some("date") => date_format(Arc::clone(&DEFAULT)),
        Some("boolean") => Format::Boolean,
        _ => Format::Raw,
    };
    let mut source = Source {
        column: Column::Script(number),
        form,
        format: before.map_or(own, |before| before.format.clone()),
        missing: None,
        mapped: true,
        field: before.and_then(|before| before.field.clone()),
    };
    format(&mut source, values)?;
    if let Some(missing) = &values.missing {
        source.missing = Some(missing_value(missing, &source, values, context)?);
    }
    Ok(source)
}

/// Values of one field in one index.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where they lie.
    pub column: Column,
    /// What they are.
    pub form: Form,
    /// How they are printed.
    pub format: Format,
    /// Stands for no value.
    pub missing: Option<Missing>,
    /// The index maps the field.
    pub mapped: bool,
    /// The field.
    pub field: Option<Arc<Field>>,
}

/// Where values lie.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Nowhere.
    None,
    /// Numbers.
    Numeric(FieldNo),
    /// Terms.
    Ordinals(FieldNo),
    /// Spans: two numbers each.
    Spans(FieldNo),
    /// Words of a text, read from the source again (`fielddata`).
    Text(FieldNo),
    /// The same term in every document.
    Constant(Box<[u8]>),
    /// What the script of that number makes.
    Script(usize),
}

/// What values are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Longs, dates, booleans.
    Long,
    /// Longs without sign.
    Unsigned,
    /// Doubles.
    Double,
    /// Floats.
    Float,
    /// Halves.
    Half,
    /// Longs by a factor.
    Scaled(f64),
    /// Nanoseconds.
    Nanos,
    /// Points.
    Point,
    /// Terms.
    Bytes,
    /// Addresses.
    Ip,
}

/// What stands for no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// A number as the column keeps it.
    Number(i64),
    /// A term.
    Bytes(Box<[u8]>),
}

/// What values an aggregation can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// Numbers, dates, booleans.
    Numbers,
    /// Terms and numbers.
    Any,
    /// Numbers and points.
    AnyOrPoints,
    /// Terms that are no addresses.
    Strings,
    /// Addresses.
    Ips,
    /// Points.
    Points,
    /// Dates and numbers.
    Dates,
    /// Numbers, and spans of them.
    NumbersOrSpans,
    /// Dates and numbers, and spans of them.
    DatesOrSpans,
    /// Terms and numbers, and words of texts.
    Words,
    /// Whatever there is.
    Everything,
}

impl Form {
    /// As a double.
    #[inline]
    pub fn double(self, raw: i64) -> f64 {
        match self {
            Self::Double => sortable::to_f64(raw),
            Self::Float => f64::from(sortable::to_f32(raw)),
            Self::Half => NumberKind::HalfFloat.double_of(raw),
            Self::Scaled(factor) => raw as f64 / factor,
            Self::Unsigned => (raw as u64 ^ (1 << 63)) as f64,
            Self::Nanos => raw.div_euclid(1_000_000) as f64,
            _ => raw as f64,
        }
    }

    /// As the column keeps it.
    pub fn raw(self, value: f64) -> i64 {
        match self {
            Self::Double => sortable::from_f64(value),
            Self::Float => sortable::from_f32(value as f32),
            Self::Half => sortable::from_f16(mapping::types::half::from_f32(value as f32)),
            Self::Scaled(factor) => (value * factor).round() as i64,
            Self::Unsigned => (value as u64 ^ (1 << 63)) as i64,
            Self::Nanos => (value as i64).saturating_mul(1_000_000),
            _ => value as i64,
        }
    }

    /// As a date in milliseconds.
    #[inline]
    pub fn millis(self, raw: i64) -> i64 {
        match self {
            Self::Nanos => raw.div_euclid(1_000_000),
            Self::Long => raw,
            other => other.double(raw) as i64,
        }
    }

    /// As a key.
    pub fn key(self, raw: i64) -> Key {
        match self {
            Self::Double | Self::Float | Self::Half | Self::Scaled(_) => {
                Key::Double(self.double(raw))
            }
            Self::Unsigned => Key::Unsigned(raw as u64 ^ (1 << 63)),
            Self::Nanos => Key::Long(self.millis(raw)),
            _ => Key::Long(raw),
        }
    }

    /// What keys are.
    pub fn key_kind(self) -> KeyKind {
        match self {
            Self::Double | Self::Float | Self::Half | Self::Scaled(_) => KeyKind::Double,
            Self::Unsigned => KeyKind::Unsigned,
            Self::Bytes | Self::Ip => KeyKind::Bytes,
            _ => KeyKind::Long,
        }
    }

    /// Values are terms.
    pub fn is_bytes(self) -> bool {
        matches!(self, Self::Bytes | Self::Ip)
    }

    /// Values have a point.
    pub fn is_floating(self) -> bool {
        matches!(self, Self::Double | Self::Float | Self::Half | Self::Scaled(_))
    }
}

/// Latitude and longitude of a point's number (Lucene's encoding).
#[inline]
pub fn point(raw: i64) -> (f64, f64) {
    let (lat, lon) = ((raw >> 32) as i32, raw as i32);
    const STEP: f64 = 180.0 / 4_294_967_296.0;
    (f64::from(lat) * STEP, f64::from(lon) * (STEP * 2.0))
}

/// Meets a field with an index.
///
/// # Errors
/// A field that the aggregation cannot read, a format that fits not.
pub fn bind(
    values: &Values,
    mapping: &Mapping,
    context: &Context<'_>,
    accepts: Accepts,
    kind: &str,
) -> Result<Source> {
    if values.field == "_index" {
        if !fits(Form::Bytes, accepts) {
            return Err(Error::illegal(format!(
                "Field [_index] of type [_index] is not supported for aggregation [{kind}]"
            )));
        }
        return Ok(constant(context.index));
    }
    let mut source = match system(&values.field)? {
        Some(field) => Source {
            column: Column::Numeric(field),
            form: Form::Long,
            format: Format::Raw,
            missing: None,
            mapped: true,
            field: None,
        },
        None => {
            match mapping.lookup(&values.field).or_else(|| metadata::column(&values.field, mapping))
            {
                Some(field) => mapped(&field, values, context)?,
                None => match mapping.known(&values.field) {
                    // Other documents alone show it: nothing is read for these, least of all their text.
                    Some(field) => {
                        Source { column: Column::None, ..mapped(&field, values, context)? }
                    }
                    None => unmapped(values, accepts)?,
                },
            }
        }
    };
    let spans = matches!(accepts, Accepts::NumbersOrSpans | Accepts::DatesOrSpans);
    let fits = match source.column {
        Column::Spans(_) => spans && source.form != Form::Ip || accepts == Accepts::Everything,
        Column::Text(_) => accepts == Accepts::Words,
        _ => fits(source.form, accepts),
    };
    if source.mapped && !fits {
        let type_name = source.field.as_ref().map_or("long", |field| field.type_name());
        return Err(Error::illegal(format!(
            "Field [{}] of type [{type_name}] is not supported for aggregation [{kind}]",
            values.field
        )));
    }
    format(&mut source, values)?;
    if let Some(missing) = &values.missing {
        source.missing = Some(missing_value(missing, &source, values, context)?);
    }
    Ok(source)
}

fn system(name: &str) -> Result<Option<FieldNo>> {
    match name {
        "_id" => Err(order::no_ids()),
        "_seq_no" => Ok(Some(FieldNo::SEQ_NO)),
        "_version" => Ok(Some(FieldNo::VERSION)),
        _ if order::has_no_column(name) => Err(order::no_column(name)),
        _ => Ok(None),
    }
}

fn constant(text: &str) -> Source {
    Source {
        column: Column::Constant(text.as_bytes().into()),
        form: Form::Bytes,
        format: Format::Raw,
        missing: None,
        mapped: true,
        field: None,
    }
}

fn mapped(field: &Arc<Field>, values: &Values, context: &Context<'_>) -> Result<Source> {
    if let Type::Text(text) = &field.kind {
        if !text.fielddata {
            return Err(no_fielddata(&values.field, context));
        }
        let column = match field.column() {
            mapping::types::Column::Ordinals => Column::Ordinals(field.no),
            _ => Column::Text(field.no),
        };
        return Ok(Source {
            column,
            form: Form::Bytes,
            format: Format::Raw,
            missing: None,
            mapped: true,
            field: Some(Arc::clone(field)),
        });
    }
    let (form, format) = form_of(field);
    let column = if let Type::ConstantKeyword(keyword) = &field.kind {
        match &keyword.value {
            Some(value) => Column::Constant(value.as_bytes().into()),
            None => Column::None,
        }
    } else {
        match field.column() {
            mapping::types::Column::Numeric => Column::Numeric(field.no),
            mapping::types::Column::Ordinals => Column::Ordinals(field.no),
            mapping::types::Column::Binary if matches!(field.kind, Type::Range(_)) => {
                Column::Spans(field.no)
            }
            _ => {
                return Err(Error::illegal(format!(
                    "Can't load fielddata on [{}] because fielddata is unsupported on fields of \
                     type [{}]. Use doc values instead.",
                    values.field,
                    field.type_name()
                )));
            }
        }
    };
    Ok(Source { column, form, format, missing: None, mapped: true, field: Some(Arc::clone(field)) })
}

/// Terms are kept otherwise than they are shown.
fn is_encoded(flavor: &KeywordFlavor) -> bool {
    matches!(flavor, KeywordFlavor::Version | KeywordFlavor::OneKey(_))
}

fn form_of(field: &Arc<Field>) -> (Form, Format) {
    match &field.kind {
        Type::Number(number) => {
            let form = match number.number {
                NumberKind::Double => Form::Double,
                NumberKind::Float => Form::Float,
                NumberKind::HalfFloat => Form::Half,
                NumberKind::ScaledFloat => Form::Scaled(number.scale),
                NumberKind::UnsignedLong => Form::Unsigned,
                _ => Form::Long,
            };
            (form, Format::Raw)
        }
        Type::Boolean(_) => (Form::Long, Format::Boolean),
        Type::Date(date) => {
            let form = if date.nanos { Form::Nanos } else { Form::Long };
            let format = Arc::clone(&date.format);
            // Aggregations count milliseconds, whatever the column keeps.
            (form, date_format(format))
        }
        Type::Range(range) => match range.kind {
            RangeKind::Date => {
                let format = range.format.clone().unwrap_or_else(|| Arc::clone(&DEFAULT));
                (Form::Long, date_format(format))
            }
            RangeKind::Float => (Form::Float, Format::Raw),
            RangeKind::Double => (Form::Double, Format::Raw),
            RangeKind::Ip => (Form::Ip, Format::Ip),
            RangeKind::Integer | RangeKind::Long => (Form::Long, Format::Raw),
        },
        Type::Ip(_) => (Form::Ip, Format::Ip),
        Type::Keyword(keyword) if is_encoded(&keyword.flavor) => {
            (Form::Bytes, Format::Terms(Shown(Arc::clone(field))))
        }
        Type::GeoPoint(_) => (Form::Point, Format::Raw),
        _ => (Form::Bytes, Format::Raw),
    }
}

fn date_format(format: Arc<DateFormat>) -> Format {
    Format::Date { format, zone: Zone::UTC, nanos: false }
}

/// What a field that the index does not map would be.
fn unmapped(values: &Values, accepts: Accepts) -> Result<Source> {
    let (form, format) = match (values.value_type.as_deref(), accepts) {
        (Some("string"), _) => (Form::Bytes, Format::Raw),
        (Some("ip"), _) | (None, Accepts::Ips) => (Form::Ip, Format::Ip),
        (Some("boolean"), _) => (Form::Long, Format::Boolean),
        (Some("date"), _) | (None, Accepts::Dates | Accepts::DatesOrSpans) => {
            (Form::Long, date_format(Arc::clone(&DEFAULT)))
        }
        (Some("double" | "float" | "number" | "numeric"), _) => (Form::Double, Format::Raw),
        (Some("unsigned_long"), _) => (Form::Unsigned, Format::Raw),
        (Some("geo_point" | "geopoint"), _) | (None, Accepts::Points) => (Form::Point, Format::Raw),
        (Some(_), _) => (Form::Long, Format::Raw),
        (None, Accepts::Numbers | Accepts::NumbersOrSpans) => (Form::Double, Format::Raw),
        (None, _) => match &values.missing {
            // As Elasticsearch: what stands for no value does not say what values are.
            Some(_) | None => (Form::Bytes, Format::Raw),
        },
    };
    Ok(Source { column: Column::None, form, format, missing: None, mapped: false, field: None })
}

fn fits(form: Form, accepts: Accepts) -> bool {
    match accepts {
        Accepts::Numbers | Accepts::Dates | Accepts::NumbersOrSpans | Accepts::DatesOrSpans => {
            !form.is_bytes() && form != Form::Point
        }
        Accepts::Any | Accepts::Words => form != Form::Point,
        Accepts::AnyOrPoints | Accepts::Everything => true,
        Accepts::Strings => form == Form::Bytes,
        Accepts::Ips => form == Form::Ip,
        Accepts::Points => form == Form::Point,
    }
}

/// The format and zone that the request names.
fn format(source: &mut Source, values: &Values) -> Result<()> {
    let refused = |source: &Source, what: &str| {
        let type_name = source.field.as_ref().map_or("keyword", |field| field.type_name());
        Error::illegal(format!(
            "Field [{}] of type [{type_name}] does not support custom {what}",
            values.field
        ))
    };
    if let Some(pattern) = &values.format {
        source.format = match (&source.format, source.form) {
            (Format::Date { zone, nanos, .. }, _) => Format::Date {
                format: Arc::new(DateFormat::parse_pattern(pattern)?),
                zone: zone.clone(),
                nanos: *nanos,
            },
            (Format::Raw, form) if !form.is_bytes() && form != Form::Point => {
                Format::Decimal(Arc::new(Decimal::parse(pattern)))
            }
            _ if source.mapped => return Err(refused(source, "formats")),
            (other, _) => other.clone(),
        };
    }
    if let Some(name) = &values.time_zone {
        match &mut source.format {
            Format::Date { zone, .. } => *zone = Zone::parse(name)?,
            _ if source.mapped => {}
            _ => {}
        }
    }
    Ok(())
}

/// What stands for no value, as the column would keep it.
fn missing_value(
    missing: &Scalar,
    source: &Source,
    values: &Values,
    context: &Context<'_>,
) -> Result<Missing> {
    match source.form {
        Form::Bytes => term_of(missing.text(), source).map(Missing::Bytes),
        Form::Ip => {
            let text = missing.text();
            let address = address(text)
                .ok_or_else(|| Error::illegal(format!("'{text}' is not an IP string literal.")))?;
            Ok(Missing::Bytes(address.as_slice().into()))
        }
        Form::Point => {
            let (lat, lon) = geo::point_of_text(missing.text()).ok_or_else(|| {
                Error::illegal(format!("failed to parse geo point [{}]", missing.text()))
            })?;
            Ok(Missing::Number(encode_point(lat, lon)))
        }
        form => number_of(missing, form, &source.format, values, context).map(Missing::Number),
    }
}

/// A term as the column keeps it.
pub fn term_of(text: &str, source: &Source) -> Result<Box<[u8]>> {
    match (&source.format, &source.field) {
        (Format::Terms(_), Some(field)) => {
            let value = json::Value::String(text.to_owned());
            Ok(field.parse_term(&value)?.into())
        }
        _ => Ok(text.as_bytes().into()),
    }
}

/// A number or date of a request as a column keeps it.
pub fn number_of(
    value: &Scalar,
    form: Form,
    format: &Format,
    values: &Values,
    context: &Context<'_>,
) -> Result<i64> {
    match (format, value) {
        (Format::Boolean, Scalar::Bool(flag)) => Ok(i64::from(*flag)),
        (Format::Boolean, Scalar::String(word)) if word == "true" => Ok(1),
        (Format::Boolean, Scalar::String(word)) if word == "false" => Ok(0),
        (Format::Boolean, _) => Err(Error::illegal(format!(
            "Cannot parse boolean [{}], expected either [true] or [false]",
            value.text()
        ))),
        (Format::Date { format, zone, .. }, Scalar::String(text)) => {
            let round = mapping::types::date_format::Round::Down;
            let now = context.now_ms;
            let ms = mapping::types::date_math::parse_ms(format, text, now, round, Some(zone))?;
            Ok(if form == Form::Nanos { ms.saturating_mul(1_000_000) } else { ms })
        }
        (_, Scalar::Bool(flag)) => Ok(form.raw(f64::from(u8::from(*flag)))),
        _ => {
            if !form.is_floating()
                && form != Form::Unsigned
                && form != Form::Nanos
                && let Ok(long) = value.text().parse::<i64>()
            {
                return Ok(long);
            }
            if form == Form::Unsigned
                && let Ok(long) = value.text().parse::<u64>()
            {
                return Ok((long ^ (1 << 63)) as i64);
            }
            let number = value.text().parse::<f64>().map_err(|_| {
                let _ = value_of(value);
                Error::number(value.text())
            });
            let _ = values;
            number.map(|number| form.raw(number))
        }
    }
}

/// An address as 16 bytes.
pub fn address(text: &str) -> Option<[u8; 16]> {
    Some(match text.parse::<std::net::IpAddr>().ok()? {
        std::net::IpAddr::V4(four) => four.to_ipv6_mapped().octets(),
        std::net::IpAddr::V6(six) => six.octets(),
    })
}

/// A point as its number.
pub fn encode_point(lat: f64, lon: f64) -> i64 {
    const STEP: f64 = 180.0 / 4_294_967_296.0;
    let lat = (lat / STEP).floor().clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32;
    let lon = (lon / (STEP * 2.0)).floor().clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32;
    (i64::from(lat) << 32) | i64::from(lon as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_turn_back_within_a_centimetre() {
        for (lat, lon) in [(48.8566, 2.3522), (-33.8688, 151.2093), (90.0, 180.0), (-90.0, -180.0)]
        {
            let (y, x) = point(encode_point(lat, lon));
            assert!((y - lat).abs() < 1e-7 && (x - lon).abs() < 1e-7, "{lat} {lon}: {y} {x}");
        }
    }

    #[test]
    fn forms_turn_back() {
        for form in [Form::Double, Form::Scaled(100.0), Form::Long, Form::Unsigned] {
            assert_eq!(form.double(form.raw(12.0)), 12.0, "{form:?}");
        }
        assert_eq!(Form::Unsigned.key(i64::MIN), Key::Unsigned(0));
    }
}
