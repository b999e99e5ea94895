//! Aggregations over records in memory: which there are, and how they meet the fields.
//!
//! What Elasticsearch allows over API keys is answered: `terms`, `filter`, `filters`, `range`, `date_range`,
//! `missing`, `cardinality`, `value_count` and `composite`, each below the others. The parser of searches reads
//! them, [`super::tally`] counts, and they are ordered, cut and shown as those of a search are.
//!
//! Always true
//! 1. Only records that the caller may see and that the query means are counted: `global`, which would count more,
//!    is refused, as are scripts.

use std::cmp::Reverse;
use std::sync::Arc;

use engine::{Error, Result};
use json::Value;
use mapping::types::DateFormat;
use mapping::types::date_format::Round;
use mapping::types::date_math::Zone;
use search::aggs::choice::{self, Choice};
use search::aggs::format::Format;
use search::aggs::metric::distinct::{hash_bytes, hash_long};
use search::aggs::partial::{self, Between, KeyKind};
use search::aggs::paths;
use search::aggs::rounding::Rounding;
use search::aggs::source::Form;
use search::aggs::spec::{
    Agg, Aggs, Composite, CompositeKind, CompositeSource, IncludeExclude, Kind as AggKind, Metric,
    OrderBy, Range, Terms, Values,
};
use search::ast::Scalar;

use super::clause::{self, Test, WORD_BYTES_MAX};
use super::field::{self, Dates, Fields, Key, Kind};
use super::told;

/// Dates as they are shown, unless a request says otherwise.
const DATES: &str = "epoch_millis";

/// A part of the key of a bucket, in the order in which buckets stand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// No value, before all others.
    NoneFirst,
    /// A value.
    Up(Key),
    /// A value, the greatest first.
    Down(Reverse<Key>),
    /// No value, behind all others.
    NoneLast,
}

impl Part {
    /// A place among filters or ranges.
    pub fn place(place: usize) -> Self {
        Self::Up(Key::Number(i64::try_from(place).unwrap_or(i64::MAX)))
    }

    /// As aggregations of a search have it.
    pub fn shown(&self) -> partial::Key {
        match self {
            Self::NoneFirst | Self::NoneLast => partial::Key::Null,
            Self::Up(key) | Self::Down(Reverse(key)) => match key {
                Key::Number(number) => partial::Key::Long(*number),
                Key::Word(word) => partial::Key::Bytes(word.as_bytes().into()),
            },
        }
    }
}

/// A field whose values are counted.
#[derive(Debug)]
pub(super) struct Looked {
    name: String,
    kind: Kind,
    /// Stands for no value.
    missing: Option<Key>,
    /// How values are shown.
    pub format: Format,
}

impl Looked {
    fn of(values: &Values, agg: &str, (known, now_ms): (Fields, i64)) -> Result<Self> {
        if values.script.is_some() {
            return Err(Error::illegal_argument(format!(
                "Unsupported script value source for [{agg}] agg"
            )));
        }
        let (name, kind) = (values.field.clone(), known.kind(&values.field)?);
        let zone = values.time_zone.as_deref().map(Zone::parse).transpose();
        let zone = zone.map_err(|error| Error::illegal_argument(error.reason))?;
        let format = match (kind, &values.format) {
            (Kind::Date, format) => {
                let format = DateFormat::parse_pattern(format.as_deref().unwrap_or(DATES));
                let format = format.map_err(|error| Error::illegal_argument(error.reason))?;
                let zone = zone.unwrap_or(Zone::UTC);
                Format::Date { format: Arc::new(format), zone, nanos: false }
            }
            (_, Some(_)) => {
                return Err(Error::illegal_argument(format!(
                    "Field [{name}] of type [{}] does not support custom formats",
                    type_name(kind)
                )));
            }
            (Kind::Truth, None) => Format::Boolean,
            (_, None) => Format::Raw,
        };
        let missing = values.missing.as_ref().map(|value| key(kind, value, values, now_ms));
        Ok(Self { name, kind, missing: missing.transpose()?, format })
    }

    /// The values of a record, each once, least first.
    pub fn values(&self, data: &Value) -> Vec<Key> {
        let mut keys = field::values(data, &self.name, self.kind);
        // As where they are looked for: what is longer than a term is not found.
        keys.retain(|key| !matches!(key, Key::Word(word) if word.len() > WORD_BYTES_MAX));
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() {
            keys.extend(self.missing.clone());
        }
        keys
    }

    /// What its keys are.
    pub fn key_kind(&self) -> KeyKind {
        if self.is_number() { KeyKind::Long } else { KeyKind::Bytes }
    }

    fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Date | Kind::Truth)
    }

    fn unsupported(&self, agg: &str) -> Error {
        Error::illegal_argument(format!(
            "Field [{}] of type [{}] is not supported for aggregation [{agg}]",
            self.name,
            type_name(self.kind)
        ))
    }
}

/// What Elasticsearch calls such a field.
fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Word => "keyword",
        Kind::Text => "text",
        Kind::Date => "date",
        Kind::Truth => "boolean",
        Kind::Object => "flattened",
    }
}

/// A value of a request as a field has it.
fn key(kind: Kind, value: &Scalar, values: &Values, now_ms: i64) -> Result<Key> {
    match kind {
        Kind::Word | Kind::Text | Kind::Object => Ok(Key::Word(value.text().to_owned())),
        Kind::Truth => field::truth(value.text()),
        Kind::Date => moment(value, values, now_ms).map(Key::Number),
    }
}

fn moment(value: &Scalar, values: &Values, now_ms: i64) -> Result<i64> {
    match (value, value.text().parse()) {
        (Scalar::Number(_), Ok(moment)) => Ok(moment),
        _ => {
            let zone = values.time_zone.as_deref();
            Dates::new(values.format.as_deref(), zone, now_ms)?.read(value.text(), Round::Down)
        }
    }
}

/// A part of the key of a page.
#[derive(Debug)]
pub(super) struct Source {
    /// The field.
    pub looked: Looked,
    rounding: Option<Rounding>,
    descending: bool,
    /// What stands for no value; none where such a record does not count.
    none: Option<Part>,
}

impl Source {
    fn of(source: &CompositeSource, agg: &str, known: (Fields, i64)) -> Result<Self> {
        if source.values.script.is_some() {
            return Err(Error::illegal_argument(format!(
                "Unsupported script value source for [{}] of composite agg [{agg}]",
                source.name
            )));
        }
        let mut looked = Looked::of(&source.values, agg, known)?;
        if looked.kind == Kind::Date && source.values.format.is_none() {
            // Keys are milliseconds unless a format is asked for.
            looked.format = Format::Raw;
        }
        let zone = source.values.time_zone.as_deref().map_or(Ok(Zone::UTC), Zone::parse);
        let zone = zone.map_err(|error| Error::illegal_argument(error.reason))?;
        let rounding = match source.kind {
            CompositeKind::Terms => None,
            CompositeKind::Date(interval, offset_ms) if looked.kind == Kind::Date => {
                Some(Rounding { interval, zone, offset_ms })
            }
            CompositeKind::Date(..) => return Err(looked.unsupported("composite")),
            CompositeKind::Histogram(_) | CompositeKind::GeoTile(_) => {
                return Err(Error::illegal_argument(format!(
                    "Unsupported value source for [{}] of composite agg [{agg}]",
                    source.name
                )));
            }
        };
        let is_first = source.missing_first.unwrap_or(!source.descending);
        let none = if is_first { Part::NoneFirst } else { Part::NoneLast };
        Ok(Self {
            looked,
            rounding,
            descending: source.descending,
            none: source.missing_bucket.then_some(none),
        })
    }

    fn part(&self, key: Key) -> Part {
        if self.descending { Part::Down(Reverse(key)) } else { Part::Up(key) }
    }

    /// Those of a record; none where it does not count.
    pub fn parts(&self, data: &Value) -> Vec<Part> {
        let round = |key| match (&self.rounding, key) {
            (Some(rounding), Key::Number(moment)) => Key::Number(rounding.round(moment)),
            (_, key) => key,
        };
        let mut keys: Vec<Key> = self.looked.values(data).into_iter().map(round).collect();
        keys.dedup();
        let mut parts: Vec<Part> = keys.into_iter().map(|key| self.part(key)).collect();
        if parts.is_empty() {
            parts.extend(self.none.clone());
        }
        parts
    }
}

/// What one aggregation does.
#[derive(Debug)]
pub(super) enum What {
    /// Counts values.
    Count(Looked),
    /// Counts different values, exactly below so many.
    Distinct(Looked, u32),
    /// Records without a value.
    Missing(Looked),
    /// Records that are meant.
    Filter(Box<Test>),
    /// Records that are meant by each; with the rest where it is wanted.
    Filters(Vec<Test>, bool),
    /// Records between numbers.
    Ranges(Looked, Arc<Vec<Between>>),
    /// A bucket for each value that is chosen.
    Terms(Looked, Option<Choice>),
    /// A bucket for each combination of values, behind a key, so many.
    Pages(Vec<Source>, Option<Vec<Part>>, usize),
}

/// An aggregation that has met the fields.
#[derive(Debug)]
pub(super) struct Bound {
    pub what: What,
    /// Places of those below it.
    pub subs: Vec<usize>,
    /// Buckets that it shows where nothing was counted, with all below them.
    pub empty: usize,
}

/// Buckets that these show where nothing was counted.
pub(super) fn empty(bound: &[Bound], places: &[usize]) -> usize {
    let bound = places.iter().filter_map(|place| bound.get(*place));
    bound.fold(0, |sum, bound| sum.saturating_add(bound.empty))
}

/// Meets aggregations with the fields; gives places of the outermost.
///
/// # Errors
/// In Elasticsearch's words: a kind that is not there, a field that may not be asked for, a script.
pub(super) fn bind(
    aggs: &Aggs,
    parent: Option<&Agg>,
    known: (Fields, i64),
    bound: &mut Vec<Bound>,
) -> Result<Vec<usize>> {
    if let Some(pipe) = aggs.pipes.first() {
        return Err(Error::illegal_argument(format!(
            "Unsupported aggregation of type [{}]",
            pipe.kind.type_name()
        )));
    }
    let mut places = Vec::with_capacity(aggs.aggs.len());
    for agg in &aggs.aggs {
        let what = what(agg, parent, known)?;
        let subs = bind(&agg.subs, Some(agg), known, bound)?;
        let own = match &what {
            What::Missing(_) | What::Filter(_) => 1,
            What::Filters(tests, other) => tests.len() + usize::from(*other),
            What::Ranges(_, ranges) => ranges.len(),
            What::Count(_) | What::Distinct(..) | What::Terms(..) | What::Pages(..) => 0,
        };
        let empty = empty(bound, &subs).saturating_add(1).saturating_mul(own);
        places.push(bound.len());
        bound.push(Bound { what, subs, empty });
    }
    Ok(places)
}

fn what(agg: &Agg, parent: Option<&Agg>, known: (Fields, i64)) -> Result<What> {
    let looked = |values: &Values| Looked::of(values, &agg.name, known);
    let test = |query| Test::of(query, known.0, known.1);
    Ok(match &agg.kind {
        AggKind::Metric(Metric::ValueCount, values) => What::Count(looked(values)?),
        AggKind::Metric(Metric::Cardinality { precision }, values) => {
            What::Distinct(looked(values)?, *precision)
        }
        AggKind::Missing(values) => What::Missing(looked(values)?),
        AggKind::Filter(query) => What::Filter(Box::new(test(query)?)),
        AggKind::Filters(filters) => {
            let tests = filters.filters.iter().map(|(_, query)| test(query));
            What::Filters(tests.collect::<Result<_>>()?, filters.other.is_some())
        }
        AggKind::Range(range) => {
            let looked = looked(&range.values)?;
            let ranges = ranges(agg, range, &looked, known.1)?;
            What::Ranges(looked, Arc::new(ranges))
        }
        AggKind::Terms(terms) => {
            let looked = looked(&terms.values)?;
            let choice = chosen(agg, terms, &looked)?;
            What::Terms(looked, choice)
        }
        AggKind::Composite(composite) => pages(agg, composite, parent, known)?,
        other => {
            return Err(Error::illegal_argument(format!(
                "Unsupported API Keys agg [{}] of type [{}]",
                agg.name,
                other.type_name()
            )));
        }
    })
}

fn ranges(agg: &Agg, range: &Range, looked: &Looked, now_ms: i64) -> Result<Vec<Between>> {
    let fits = if range.dates { looked.kind == Kind::Date } else { looked.is_number() };
    if !fits {
        return Err(looked.unsupported(agg.kind.type_name()));
    }
    if range.ranges.is_empty() {
        return Err(Error::illegal_argument(format!(
            "No [ranges] specified for the [{}] aggregation",
            agg.name
        )));
    }
    let end = |end: &Option<Scalar>, open: f64| -> Result<f64> {
        let Some(value) = end else { return Ok(open) };
        match (looked.kind, value.text().parse::<f64>()) {
            (Kind::Date, Err(_)) => moment(value, &range.values, now_ms).map(|it| it as f64),
            (Kind::Date, Ok(_)) if matches!(value, Scalar::String(_)) => {
                moment(value, &range.values, now_ms).map(|it| it as f64)
            }
            (_, Ok(number)) => Ok(number),
            (_, Err(_)) => {
                Err(Error::illegal_argument(format!("For input string: \"{}\"", value.text())))
            }
        }
    };
    let between = |one: &search::aggs::spec::RangeOf| {
        Ok((one.key.clone(), end(&one.from, f64::NEG_INFINITY)?, end(&one.to, f64::INFINITY)?))
    };
    let mut ranges = range.ranges.iter().map(between).collect::<Result<Vec<Between>>>()?;
    ranges.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2)));
    Ok(ranges)
}

fn chosen(agg: &Agg, terms: &Terms, looked: &Looked) -> Result<Option<Choice>> {
    for (by, _) in &terms.order {
        if let OrderBy::Path(path) = by {
            paths::check(agg, path).map_err(|error| told(&error))?;
        }
    }
    if terms.min_doc_count == 0 {
        return Err(Error::illegal_argument(format!(
            "[min_doc_count] of [0] is not supported for the [{}] aggregation of API keys",
            agg.name
        )));
    }
    let filter = &terms.filter;
    if looked.is_number() && *filter != IncludeExclude::default() {
        return Err(Error::illegal_argument(format!(
            "[include] and [exclude] are not supported for the [{}] aggregation of API keys, whose \
             field [{}] is of type [{}]",
            agg.name,
            looked.name,
            type_name(looked.kind)
        )));
    }
    choice::of_words(filter).map_err(|error| told(&error))
}

fn pages(
    agg: &Agg,
    composite: &Composite,
    parent: Option<&Agg>,
    known: (Fields, i64),
) -> Result<What> {
    if let Some(parent) = parent.filter(|parent| !matches!(parent.kind, AggKind::Filter(_))) {
        return Err(Error::illegal_argument(format!(
            "[composite] aggregation cannot be used with a parent aggregation of type: \
             [{}AggregatorFactory]",
            paths::java_name(&parent.kind)
        )));
    }
    let sources = composite.sources.iter().map(|source| Source::of(source, &agg.name, known));
    let sources = sources.collect::<Result<Vec<Source>>>()?;
    let after = match &composite.after {
        None => None,
        Some(after) => {
            let mut parts = Vec::with_capacity(after.len());
            for ((value, source), spec) in after.iter().zip(&sources).zip(&composite.sources) {
                parts.push(match value {
                    Some(value) => {
                        source.part(key(source.looked.kind, value, &spec.values, known.1)?)
                    }
                    None => source.none.clone().unwrap_or(Part::NoneFirst),
                });
            }
            Some(parts)
        }
    };
    Ok(What::Pages(sources, after, composite.size as usize))
}

/// Is a value chosen?
pub(super) fn allows(choice: Option<&Choice>, key: &Key) -> bool {
    choice.is_none_or(|choice| match key {
        Key::Word(word) => choice.allows_term(word.as_bytes()),
        Key::Number(number) => choice.allows_number(Form::Long, *number),
    })
}

/// The hash of a value among different ones.
pub(super) fn hash(key: &Key) -> u64 {
    match key {
        Key::Word(word) => hash_bytes(word.as_bytes()),
        Key::Number(number) => hash_long(*number),
    }
}

/// Refuses queries of filters that are legal elsewhere, in aggregations as they came. Their depth was bounded when
/// they were read.
///
/// # Errors
/// In Elasticsearch's words.
pub(super) fn check_kinds(aggs: &Value) -> Result<()> {
    for agg in aggs.as_object().into_iter().flat_map(|aggs| aggs.values()) {
        for (name, body) in agg.as_object().into_iter().flat_map(|agg| agg.iter()) {
            match name {
                "aggs" | "aggregations" => check_kinds(body)?,
                "filter" => clause::check_kinds(body)?,
                "filters" => match body.get("filters") {
                    Some(Value::Array(filters)) => {
                        filters.iter().try_for_each(clause::check_kinds)?;
                    }
                    Some(Value::Object(filters)) => {
                        filters.values().try_for_each(clause::check_kinds)?;
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }
    Ok(())
}
