//! The order of the hits: sort keys that have met one index.

use std::sync::Arc;

use base::FieldNo;
use json::Value;
use mapping::types::{DateFormat, sortable};
use mapping::{Field, KeywordFlavor, Kind as Type, Mapping, NumberKind};

use crate::aggs::format::Decimal;
use crate::ast::Scalar;
use crate::error::{Error, Kind, Result};
use crate::plan::distance::Distance;
use crate::plan::inside::{Filter, Inside};
use crate::plan::page::{place, resumed};
use crate::plan::veil::Veil;
use crate::plan::{Context, metadata};
use crate::request::{
    self, Missing, Mode, NumericType, ScriptKind, SearchRequest, Sort, SortBy, Tiebreak,
};

pub use crate::plan::numeric::{NANOS_MS_MAX, NumberForm, Numeric, beyond_nanos};

/// How hits are ordered.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Keys, the first decides; empty: by score.
    pub keys: Vec<Key>,
    /// Only hits after this place; parallel to `keys`, or one score where they are empty.
    pub after: Option<Vec<Place>>,
    /// One hit for each value of this column.
    pub collapse: Option<Collapse>,
    /// Hides the places of hits where they are told, and reveals those of `after`.
    pub veil: Option<Veil>,
}

/// A column whose values are told once each.
#[derive(Clone, Debug)]
pub struct Collapse {
    /// The field.
    pub field: Arc<Field>,
    /// The column holds terms, not numbers.
    pub has_terms: bool,
}

/// One key of the order.
#[derive(Clone, Debug)]
pub struct Key {
    /// What is compared.
    pub source: Source,
    /// Greatest first.
    pub descending: bool,
    /// The values are those of documents inside.
    pub inside: Option<Inside>,
}

/// What is compared.
#[derive(Clone, Debug)]
pub enum Source {
    /// The score.
    Score,
    /// The place in the index.
    Doc,
    /// The place among all shards.
    ShardDoc,
    /// A column of numbers.
    Numeric(Numeric),
    /// A column of terms.
    Ordinals(Ordinals),
    /// How far the places of a column are from others.
    Distance(Arc<Distance>),
    /// What a script gives.
    Script(Scripted),
}

/// A key that a script makes.
#[derive(Clone, Debug)]
pub struct Scripted {
    /// The script.
    pub script: Arc<crate::scripted::Bound>,
    /// What it gives.
    pub kind: ScriptKind,
    /// Which of the values of documents inside counts.
    pub mode: Mode,
}

impl Scripted {
    /// A string as it is compared.
    pub fn term(&self, text: &str) -> Vec<u8> {
        match self.kind {
            ScriptKind::Version => mapping::types::version::encode(text),
            _ => text.as_bytes().to_vec(),
        }
    }

    /// The number of a document without a value: after all others.
    pub fn missing(&self, descending: bool) -> i64 {
        sortable::from_f64(if descending { f64::NEG_INFINITY } else { f64::INFINITY })
    }

    pub(super) fn missing_place(&self, descending: bool) -> Place {
        match self.kind {
            ScriptKind::Number => Place::Number(self.missing(descending)),
            _ => Place::Term(None),
        }
    }
}

/// A key from a column of terms.
#[derive(Clone, Debug)]
pub struct Ordinals {
    /// The column; absent where the index does not map the field.
    pub field: Option<FieldNo>,
    /// The greatest of several values counts, else the smallest.
    pub greatest: bool,
    /// Where documents without a value stand.
    pub missing: MissingTerm,
    /// The field, where its terms are shown otherwise than they are kept.
    pub shown: Option<Arc<Field>>,
    /// Only terms that begin so count: those of one key of a `flattened` field.
    pub prefix: Option<Box<[u8]>>,
}

/// Where documents without a term stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingTerm {
    /// Before all others, in either direction.
    First,
    /// After all others, in either direction.
    Last,
    /// As if they had this one.
    Term(Arc<[u8]>),
}

/// One value of the place after which the page begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A score.
    Score(f32),
    /// A place in the index.
    Doc(u64),
    /// A sortable number, in the key's form.
    Number(i64),
    /// A term; `None` for no value.
    Term(Option<Box<[u8]>>),
}

/// Can hits of several indices be put in one order? Longs without sign and other numbers cannot.
///
/// # Errors
/// Where they cannot.
pub fn check_alike<'a>(orders: impl Iterator<Item = &'a Order>) -> Result<()> {
    let mut seen: Vec<[bool; 2]> = Vec::new();
    for order in orders {
        seen.resize(seen.len().max(order.keys.len()), [false; 2]);
        for (key, seen) in order.keys.iter().zip(&mut seen) {
            match &key.source {
                Source::Numeric(Numeric { field: Some(_), form, .. }) => {
                    seen[usize::from(*form == NumberForm::Unsigned)] = true;
                }
                Source::Ordinals(Ordinals { field: Some(_), .. }) => seen[0] = true,
                _ => {}
            }
        }
    }
    if seen.contains(&[true; 2]) {
        return Err(Error::illegal(
            "Can't do sort across indices, as a field has [unsigned_long] type in one index, and \
             different type in another index!",
        ));
    }
    Ok(())
}

/// Can the hits that several indices have be put in one order? Words, longs, floats and doubles are not
/// compared with each other; an index without hits does not matter.
///
/// # Errors
/// Where they cannot, as Elasticsearch says it.
pub fn check_comparable<'a>(
    request: &SearchRequest,
    orders: impl Iterator<Item = &'a Order>,
) -> Result<()> {
    let mut first: Option<&Order> = None;
    for order in orders {
        let first = *first.get_or_insert(order);
        for ((one, other), sort) in first.keys.iter().zip(&order.keys).zip(&request.sort) {
            let (one, other) = (one.source.kind(), other.source.kind());
            if one == other {
                continue;
            }
            let name = match &sort.by {
                SortBy::Field(name) => name.as_str(),
                // They are of one kind in each index.
                _ => continue,
            };
            return Err(Error::illegal(format!(
                "Can't sort on field [{name}]; the field has incompatible sort types: [{one}] and \
                 [{other}] across shards!"
            )));
        }
    }
    Ok(())
}

impl Source {
    /// Lucene's word for what is compared.
    fn kind(&self) -> &'static str {
        match self {
            Self::Score => "SCORE",
            // One key may be both, by index.
            Self::Doc | Self::ShardDoc => "DOC",
            Self::Numeric(numeric) => match numeric.form {
                NumberForm::Double | NumberForm::Scaled(_) => "DOUBLE",
                NumberForm::Float | NumberForm::Half => "FLOAT",
                NumberForm::Long
                | NumberForm::Unsigned
                | NumberForm::Millis
                | NumberForm::Nanos => "LONG",
            },
            Self::Ordinals(_) => "STRING",
            Self::Distance(_) => "DOUBLE",
            Self::Script(script) => match script.kind {
                ScriptKind::Number => "DOUBLE",
                _ => "STRING",
            },
        }
    }
}

/// Meets the sort keys of a request with an index.
pub fn bind(request: &SearchRequest, mapping: &Mapping, context: &Context<'_>) -> Result<Order> {
    // By score alone, best first, is the order without keys; no sort values are shown then.
    let sorts = if request.sorts_by_score() { &[] } else { request.sort.as_slice() };
    let mut keys =
        sorts.iter().map(|sort| key(sort, mapping, context)).collect::<Result<Vec<_>>>()?;
    let nested = keys.iter_mut().zip(sorts).filter(|(_, sort)| sort.nested.is_some());
    for (at, (key, _)) in nested.enumerate() {
        if let Some(inside) = &mut key.inside {
            inside.filter = Filter::OfSort(at);
        }
    }
    let veil = context.veil.copied();
    let tiebreak = crate::dsl::by_name("_shard_doc");
    if request.tiebreak != Tiebreak::None {
        if keys.is_empty() {
            keys.push(Key { source: Source::Score, descending: true, inside: None });
        }
        keys.push(Key { source: Source::ShardDoc, descending: false, inside: None });
    }
    if let Some(last) = &request.resume {
        let places = keys.iter().zip(&**last).map(|(key, last)| resumed(key, last));
        let after = Some(places.collect::<Result<_>>()?);
        return Ok(Order { keys, after, collapse: None, veil });
    }
    let after = match &request.search_after {
        None => None,
        Some(_) if keys.is_empty() => {
            return Err(Error::illegal("Sort must contain at least one field."));
        }
        Some(values) if values.len() != keys.len() => {
            return Err(Error::illegal(format!(
                "search_after has {} value(s) but sort has {}.",
                values.len(),
                keys.len()
            )));
        }
        Some(values) => {
            let sorts = request.sort.iter().chain([&tiebreak]);
            let places = keys.iter().zip(sorts).zip(values);
            Some(
                places
                    .map(|((key, sort), value)| place(key, sort, value, context.veil))
                    .collect::<Result<_>>()?,
            )
        }
    };
    let collapse = match &request.collapse {
        None => None,
        Some(collapse) => {
            if keys.is_empty() {
                keys.push(Key { source: Source::Score, descending: true, inside: None });
            }
            Some(self::collapse(collapse, mapping)?)
        }
    };
    Ok(Order { keys, after, collapse, veil })
}

fn collapse(asked: &request::Collapse, mapping: &Mapping) -> Result<Collapse> {
    let name = &asked.field;
    let Some(field) = mapping.known(name) else {
        let reason = match mapping::is_metadata(name) {
            true => format!(
                "unknown type for collapse field `{name}`, only keywords and numbers are accepted"
            ),
            false => format!("no mapping found for `{name}` in order to collapse on"),
        };
        return Err(Error::illegal(reason));
    };
    let has_terms = match &field.kind {
        Type::Keyword(keyword) if !matches!(keyword.flavor, KeywordFlavor::OneKey(_)) => true,
        Type::Number(_) => false,
        _ => {
            return Err(Error::illegal(format!(
                "unknown type for collapse field `{name}`, only keywords and numbers are accepted"
            )));
        }
    };
    if !field.doc_values {
        return Err(Error::illegal(format!(
            "cannot collapse on field `{name}` without `doc_values`"
        )));
    }
    if !field.index && !asked.inner_hits.is_empty() {
        return Err(Error::illegal(format!(
            "cannot expand `inner_hits` for collapse field `{name}`, only indexed field can retrieve \
             `inner_hits`"
        )));
    }
    Ok(Collapse { field, has_terms })
}

fn key(sort: &Sort, mapping: &Mapping, context: &Context<'_>) -> Result<Key> {
    let descending = sort.order == request::Order::Descending;
    let source = match &sort.by {
        SortBy::Score => Source::Score,
        // How the documents of several shards lie between each other tells how many there are.
        SortBy::Doc if context.veil.is_some() => Source::ShardDoc,
        SortBy::Doc => Source::Doc,
        SortBy::ShardDoc => Source::ShardDoc,
        SortBy::Distance(asked) => {
            Source::Distance(Arc::new(Distance::bind(asked, sort, mapping)?))
        }
        SortBy::Field(name) => field(name, sort, descending, mapping, context)?,
        SortBy::Script(asked) => {
            let (kind, is_inside) = (asked.kind, sort.nested.is_some());
            let script = crate::scripted::Bound::new(
                &asked.script,
                kind.context(),
                mapping,
                context.index,
                is_inside,
            )?;
            let mode = sort.mode.unwrap_or(if descending { Mode::Max } else { Mode::Min });
            Source::Script(Scripted { script: Arc::new(script), kind, mode })
        }
    };
    let inside = Inside::bind(sort, mapping)?;
    Ok(Key { source, descending, inside })
}

fn field(
    name: &str,
    sort: &Sort,
    descending: bool,
    mapping: &Mapping,
    context: &Context<'_>,
) -> Result<Source> {
    match name {
        "_id" => return Err(no_ids()),
        "_seq_no" | "_version" => {
            let field = if name == "_seq_no" { FieldNo::SEQ_NO } else { FieldNo::VERSION };
            return numeric(Some(field), NumberForm::Long, (None, None), false, sort, descending);
        }
        "_index" => return index_name(sort, descending, context),
        _ if has_no_column(name) => return Err(no_column(name)),
        _ => {}
    }
    let Some(field) = mapping.known(name).or_else(|| metadata::column(name, mapping)) else {
        return match &sort.unmapped_type {
            None => Err(Error::shard(format!("No mapping found for [{name}] in order to sort on"))),
            Some(kind) => unmapped(kind, sort, descending),
        };
    };
    let fielddata = matches!(&field.kind, Type::Text(text) if text.fielddata);
    if matches!(field.kind, Type::Text(_)) && !fielddata {
        return Err(no_fielddata(name, context));
    }
    if !field.doc_values && !fielddata {
        return Err(Error::illegal(format!(
            "Can't load fielddata on [{name}] because fielddata is unsupported on fields of type \
             [{}]. Use doc values instead.",
            field.type_name()
        )));
    }
    match &field.kind {
        _ if field.column() == mapping::Column::Ordinals => {
            ordinals(Some(&field), sort, descending)
        }
        Type::GeoPoint(_) => Err(Error::illegal(
            "can't sort on geo_point field without using specific sorting feature, like geo_distance",
        )),
        _ if field.column() != mapping::Column::Numeric => Err(Error::illegal(format!(
            "Sorting by [{}] field [{name}] isn't supported",
            field.type_name()
        ))),
        Type::Date(date) => {
            let formats = match &sort.format {
                Some(pattern) => {
                    let format = Arc::new(DateFormat::parse_pattern(pattern)?);
                    (Some(Arc::clone(&format)), Some(format))
                }
                None => (Some(Arc::clone(&date.format)), None),
            };
            let stored = match (date.nanos, sort.numeric_type) {
                (false, Some(NumericType::DateNanos)) => NumberForm::Millis,
                // A double is one of milliseconds, whatever the field counts.
                (true, Some(NumericType::Date | NumericType::Double)) => NumberForm::Nanos,
                _ => NumberForm::Long,
            };
            numeric(Some(field.no), stored, formats, date.nanos, sort, descending)
        }
        kind => {
            if sort.format.is_some() && !matches!(kind, Type::Number(_)) {
                return Err(Error::illegal(format!(
                    "Field [{name}] of type [{}] does not support custom formats",
                    field.type_name()
                )));
            }
            let form = match kind {
                Type::Number(number) if number.number == NumberKind::ScaledFloat => {
                    NumberForm::Scaled(number.scale.to_bits())
                }
                Type::Number(number) => form(number.number),
                _ => NumberForm::Long,
            };
            let source = numeric(Some(field.no), form, (None, None), false, sort, descending)?;
            Ok(match kind {
                Type::Number(number) if is_narrow(number.number) => {
                    narrowed(source, sort, descending)
                }
                Type::Boolean(_) => flags(source),
                _ => source,
            })
        }
    }
}

/// A column of terms that all documents lack, with the index's name in place of each.
fn index_name(sort: &Sort, descending: bool, context: &Context<'_>) -> Result<Source> {
    if sort.numeric_type.is_some() {
        return Err(Error::shard(
            "[numeric_type] option cannot be set on a non-numeric field, got _index",
        ));
    }
    if sort.format.is_some() {
        return Err(Error::illegal(
            "Field [_index] of type [_index] does not support custom formats",
        ));
    }
    let asked = Sort { missing: Missing::Last, ..sort.clone() };
    Ok(match ordinals(None, &asked, descending)? {
        Source::Ordinals(found) => Source::Ordinals(Ordinals {
            missing: MissingTerm::Term(context.index.as_bytes().into()),
            ..found
        }),
        other => other,
    })
}

/// Ids are no column, unless a setting says so that this program lacks.
pub fn no_ids() -> Error {
    Error::illegal(
        "Fielddata access on the _id field is disallowed, you can re-enable it by updating the \
         dynamic cluster setting: indices.id_field_data.enabled",
    )
}

/// Fields of the system's that nothing is sorted, grouped or shown by.
pub fn has_no_column(name: &str) -> bool {
    matches!(name, "_doc_count" | "_field_names" | "_nested_path" | "_routing" | "_source")
}

/// A field of the system's has no column that a search may read.
pub fn no_column(name: &str) -> Error {
    Error::illegal(format!("Fielddata is not supported on field [{name}] of type [{name}]"))
}

fn is_narrow(kind: NumberKind) -> bool {
    matches!(kind, NumberKind::Integer | NumberKind::Short | NumberKind::Byte)
}

/// A key of booleans, which a request may call by their names.
fn flags(source: Source) -> Source {
    match source {
        Source::Numeric(numeric) if numeric.form == NumberForm::Long => {
            Source::Numeric(Numeric { flag: true, ..numeric })
        }
        source => source,
    }
}

/// A key of at most 32 bits, unless another type was asked for; a sum may have more.
fn narrowed(source: Source, sort: &Sort, descending: bool) -> Source {
    let fits = sort.numeric_type.is_none() && sort.mode != Some(Mode::Sum);
    match source {
        Source::Numeric(mut numeric) if fits => {
            numeric.narrow = true;
            if !matches!(sort.missing, Missing::Value(_)) {
                let first = (sort.missing == Missing::First) != descending;
                numeric.missing = missing_end(numeric.form, true, first);
            }
            Source::Numeric(numeric)
        }
        source => source,
    }
}

/// A text has no column.
pub fn no_fielddata(name: &str, context: &Context<'_>) -> Error {
    Error::illegal(no_fielddata_in(name, context.index))
}

/// The same in words alone.
pub fn no_fielddata_in(name: &str, index: &str) -> String {
    format!(
        "Fielddata is disabled on [{name}] in [{}]. Text fields are not optimised for operations \
         that require per-document field data like aggregations and sorting, so these operations \
         are disabled by default. Please use a keyword field instead. Alternatively, set \
         fielddata=true on [{name}] in order to load field data by uninverting the inverted index. \
         Note that this can use significant memory.",
        index
    )
}

fn form(kind: NumberKind) -> NumberForm {
    match kind {
        NumberKind::Double => NumberForm::Double,
        NumberKind::Float => NumberForm::Float,
        NumberKind::HalfFloat => NumberForm::Half,
        NumberKind::UnsignedLong => NumberForm::Unsigned,
        _ => NumberForm::Long,
    }
}

/// A field that this index does not map, but others do.
fn unmapped(kind: &str, sort: &Sort, descending: bool) -> Result<Source> {
    match kind {
        "keyword" => ordinals(None, sort, descending),
        "long" | "boolean" | "date" | "date_nanos" => {
            numeric(None, NumberForm::Long, (None, None), false, sort, descending)
        }
        "integer" | "short" | "byte" => {
            numeric(None, NumberForm::Long, (None, None), false, sort, descending)
                .map(|source| narrowed(source, sort, descending))
        }
        "double" => numeric(None, NumberForm::Double, (None, None), false, sort, descending),
        "float" => numeric(None, NumberForm::Float, (None, None), false, sort, descending),
        _ => Err(Error::illegal(format!("No mapper found for type [{kind}]"))),
    }
}

fn numeric(
    field: Option<FieldNo>,
    stored: NumberForm,
    (read, print): (Option<Arc<DateFormat>>, Option<Arc<DateFormat>>),
    nanos: bool,
    sort: &Sort,
    descending: bool,
) -> Result<Source> {
    let form = match sort.numeric_type {
        None => stored.compared(),
        Some(NumericType::Double) => NumberForm::Double,
        Some(NumericType::DateNanos) if field.is_some() && read.is_none() => {
            return Err(Error::illegal(
                "trying to convert a known date time formatter to a nanosecond one, wrong field \
                 used?",
            ));
        }
        Some(NumericType::Long | NumericType::Date | NumericType::DateNanos) => NumberForm::Long,
    };
    let nanos = match sort.numeric_type {
        Some(NumericType::Date | NumericType::Double) => false,
        Some(NumericType::DateNanos) => true,
        _ => nanos,
    };
    let mode = sort.mode.unwrap_or(if descending { Mode::Max } else { Mode::Min });
    let first = (sort.missing == Missing::First) != descending;
    let missing = missing_end(form, false, first);
    let (narrow, flag) = (false, false);
    // A date has its own formats, and so has what no index maps.
    let is_date = field.is_none() || read.is_some();
    let pattern = sort.format.as_ref().filter(|_| !is_date && form != NumberForm::Unsigned);
    let decimal = pattern.map(|pattern| Arc::new(Decimal::parse(pattern)));
    let mut numeric =
        Numeric { field, mode, stored, form, missing, read, print, decimal, nanos, narrow, flag };
    if let Missing::Value(value) = &sort.missing {
        numeric.missing = crate::plan::numeric::missing(&numeric, value)?;
    }
    Ok(Source::Numeric(numeric))
}

/// What stands for no value: not more than any number of the form, or not less. `narrow`: of 32 bits.
pub(super) fn missing_end(form: NumberForm, narrow: bool, least: bool) -> i64 {
    match (form, least) {
        (_, true) if narrow => i64::from(i32::MIN),
        (_, false) if narrow => i64::from(i32::MAX),
        (NumberForm::Double, true) => sortable::from_f64(f64::NEG_INFINITY),
        (NumberForm::Double, false) => sortable::from_f64(f64::INFINITY),
        (NumberForm::Float, true) => sortable::from_f32(f32::NEG_INFINITY),
        (NumberForm::Float, false) => sortable::from_f32(f32::INFINITY),
        (_, true) => i64::MIN,
        (_, false) => i64::MAX,
    }
}

fn ordinals(field: Option<&Arc<Field>>, sort: &Sort, descending: bool) -> Result<Source> {
    if sort.numeric_type.is_some() {
        let type_name = field.map_or("keyword", |field| field.type_name());
        return Err(Error::shard(format!(
            "[numeric_type] option cannot be set on a non-numeric field, got {type_name}"
        )));
    }
    let greatest = match sort.mode {
        None => descending,
        Some(Mode::Min) => false,
        Some(Mode::Max) => true,
        Some(_) => {
            return Err(Error::shard("we only support AVG, MEDIAN and SUM on number based fields"));
        }
    };
    if let (Some(field), Some(_)) = (field, &sort.format) {
        return Err(Error::illegal(format!(
            "Field [{}] of type [{}] does not support custom formats",
            field.path,
            field.type_name()
        )));
    }
    let missing = match &sort.missing {
        Missing::First => MissingTerm::First,
        Missing::Last => MissingTerm::Last,
        Missing::Value(value) => MissingTerm::Term(term_of(field, value)?.into()),
    };
    let shown = field.filter(|field| match &field.kind {
        Type::Keyword(keyword) => keyword.flavor != KeywordFlavor::Keyword,
        _ => true,
    });
    let shown = shown.cloned();
    let prefix = field.and_then(|field| field.term_prefix()).map(Into::into);
    let field = field.map(|field| field.no);
    Ok(Source::Ordinals(Ordinals { field, greatest, missing, shown, prefix }))
}

/// The term that a value of the request means.
pub(super) fn term_of(field: Option<&Arc<Field>>, value: &Scalar) -> Result<Box<[u8]>> {
    match field {
        None => Ok(value.text().as_bytes().into()),
        Some(field) => Ok(field.parse_term(&value_of(value))?.into()),
    }
}

/// A scalar as JSON, as the mapping takes values.
pub fn value_of(scalar: &Scalar) -> Value {
    match scalar {
        Scalar::Bool(value) => Value::Bool(*value),
        Scalar::String(text) => Value::String(text.clone()),
        Scalar::Number(text) => {
            json::Number::from_text(text).map_or_else(|| Value::String(text.clone()), Value::Number)
        }
    }
}

impl From<mapping::Error> for Error {
    fn from(error: mapping::Error) -> Self {
        use mapping::ErrorKind as From;
        let kind = match error.kind {
            From::NumberFormat => Kind::NumberFormat,
            From::DateTimeParse => Kind::DateTimeParse,
            From::Parse => Kind::Parse,
            From::DateTime => Kind::DateTime,
            From::ZoneRules => Kind::ZoneRules,
            From::XContentParse => Kind::XContent,
            From::IllegalState => Kind::IllegalState,
            _ => Kind::IllegalArgument,
        };
        let outer = Self::new(kind, error.reason);
        match error.caused_by {
            Some(cause) => outer.caused_by((*cause).into()),
            None => outer,
        }
    }
}
