//! Aggregations meet an index: names become columns, formats and filters.
//!
//! A field that the mapping does not know gives an empty result. A field of another type, a format
//! that does not fit and an order path that leads nowhere are errors, as in Elasticsearch.

mod histogram;

use std::sync::Arc;

use base::hash::Set;
use mapping::types::zone::Zone;

use super::bound::{AggScript, BoundAgg, BoundAggs, What};
use super::choice;
use super::empty;
use super::format::Format;
use super::partial::{Between, Key};
use super::paths;
use super::rounding::Rounding;
use super::source::{self, Accepts, Form, Source, number_of};
use super::spec::{
    Agg, Aggs, CompositeKind, DateHistogram, Ends, Histogram, Kind, Metric, OrderBy, Values,
};
use crate::ast::{Query, Scalar, Script};
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::plan::bind::{Binder, objects};
use crate::plan::bound::Clause;
use crate::plan::inside::{self, Filter};
use crate::plan::order::{self, Order};
use crate::request::{SearchRequest, Sort, SortBy};

/// Meets the aggregations of a request with an index.
///
/// # Errors
/// Belong to each shard of the index.
pub fn bind(aggs: &Aggs, binder: &mut Binder<'_>) -> Result<BoundAggs> {
    let mut bound = BoundAggs::default();
    let mut scope = Scope { binder, filters: Vec::new(), scores: false, scripts: Vec::new() };
    for (place, agg) in aggs.aggs.iter().enumerate() {
        bound.aggs.push(scope.agg(agg, None, None)?);
        if matches!(agg.kind, Kind::Global) {
            bound.globals.push(place);
        }
    }
    bound.scores = scope.scores;
    bound.filters = scope.filters;
    bound.scripts = scope.scripts;
    bound.buckets_max = binder.context.buckets_max;
    empty::check(&bound.aggs, bound.buckets_max)?;
    Ok(bound)
}

/// Aggregations whose values a script may make.
const SCRIPTED: [&str; 18] = [
    "avg",
    "boxplot",
    "cardinality",
    "date_histogram",
    "date_range",
    "extended_stats",
    "histogram",
    "max",
    "median_absolute_deviation",
    "min",
    "percentile_ranks",
    "percentiles",
    "range",
    "stats",
    "sum",
    "terms",
    "value_count",
    "weighted_avg",
];

struct Scope<'a, 'b> {
    binder: &'a mut Binder<'b>,
    filters: Vec<Clause>,
    scores: bool,
    scripts: Vec<AggScript>,
}

impl Scope<'_, '_> {
    fn source(&mut self, values: &Values, accepts: Accepts, kind: &str) -> Result<Source> {
        if let Some(script) = &values.script {
            return self.scripted(values, script, accepts, kind);
        }
        source::bind(values, self.binder.mapping, self.binder.context, accepts, kind)
    }

    /// Values that a script makes.
    fn scripted(
        &mut self,
        values: &Values,
        script: &Script,
        accepts: Accepts,
        kind: &str,
    ) -> Result<Source> {
        if !SCRIPTED.contains(&kind) {
            return Err(Error::illegal(format!("[{kind}] does not support scripts")));
        }
        let (mapping, context) = (self.binder.mapping, self.binder.context);
        let before = match values.field.is_empty() {
            true => None,
            false => {
                let plain = Values { script: None, missing: None, format: None, ..values.clone() };
                Some(source::bind(&plain, mapping, context, accepts, kind)?)
            }
        };
        let counts = matches!(kind, "value_count" | "cardinality");
        let whole = matches!(
            values.value_type.as_deref(),
            Some("long" | "integer" | "short" | "byte" | "date" | "boolean")
        );
        let is_text = match (&before, values.value_type.as_deref()) {
            (Some(before), _) => before.form.is_bytes(),
            (None, None | Some("string" | "ip")) => counts || kind == "terms",
            (None, Some(_)) => counts,
        };
        let form = match (is_text, counts) {
            (true, true) => Form::Long,
            (true, false) => Form::Bytes,
            (false, _) if whole && before.is_none() => Form::Long,
            (false, _) => Form::Double,
        };
        let bound = self.binder.script(script, &script::Context::AGGS)?;
        self.scores |= bound.program.uses_score;
        let number = self.scripts.len();
        let is_long = matches!(kind, "date_histogram");
        self.scripts.push(AggScript { script: bound, before: before.clone(), is_text, is_long });
        source::scripted(number, before.as_ref(), values, form, context)
    }

    fn filter(&mut self, query: &Query) -> Result<usize> {
        let clause = self.binder.top(query)?;
        self.filters.push(clause);
        Ok(self.filters.len() - 1)
    }

    /// The filter of the objects of a path.
    fn objects(&mut self, path: &str) -> usize {
        self.filters.push(objects(path));
        self.filters.len() - 1
    }

    /// One aggregation below `parent`; `level` is the path of the objects at hand.
    fn agg(&mut self, agg: &Agg, parent: Option<&Agg>, level: Option<&str>) -> Result<BoundAgg> {
        if let (Some(parent), Kind::Global) = (parent, &agg.kind) {
            return Err(Error::new(
                ErrorKind::AggregationExecution,
                format!(
                    "Aggregation [{}] cannot have a global sub-aggregation [{}]. Global \
                     aggregations can only be defined as top level aggregations",
                    parent.name, agg.name
                ),
            ));
        }
        if !self.binder.context.purse.goes_on() {
            return Err(Error::illegal("what is bound is dropped"));
        }
        let what = self.what(agg, parent, level)?;
        let below = match &agg.kind {
            Kind::Nested(path) => Some(path.as_str()),
            Kind::ReverseNested(path) => path.as_deref(),
            _ => level,
        };
        // Queries below ask about the objects at hand: nested ones among them are those inside.
        let outer = std::mem::replace(&mut self.binder.scope, below.map(Into::into));
        let mut subs = Vec::with_capacity(agg.subs.aggs.len());
        for sub in &agg.subs.aggs {
            subs.push(self.agg(sub, Some(agg), below)?);
        }
        self.binder.scope = outer;
        check_order(agg)?;
        let background = match &agg.kind {
            Kind::Significant(sig) => {
                sig.background.as_ref().map(|query| self.filter(query)).transpose()?
            }
            _ => None,
        };
        Ok(BoundAgg { spec: Arc::new(agg.clone()), what, subs, background })
    }

    fn what(&mut self, agg: &Agg, parent: Option<&Agg>, level: Option<&str>) -> Result<What> {
        let kind = agg.kind.type_name();
        Ok(match &agg.kind {
            Kind::Metric(metric, values) => {
                let accepts = match metric {
                    Metric::ValueCount => Accepts::Everything,
                    Metric::Cardinality { .. } => Accepts::AnyOrPoints,
                    Metric::StringStats { .. } => Accepts::Strings,
                    Metric::GeoBounds { .. } | Metric::GeoCentroid => Accepts::Points,
                    _ => Accepts::Numbers,
                };
                What::Metric(self.source(values, accepts, kind)?)
            }
            Kind::WeightedAvg { value, weight, format } => {
                let value = self.source(value, Accepts::Numbers, kind)?;
                let weight = self.source(weight, Accepts::Numbers, kind)?;
                let shown = match format {
                    Some(pattern) => {
                        Format::Decimal(Arc::new(super::format::Decimal::parse(pattern)))
                    }
                    None => value.format.clone(),
                };
                What::Weighted(value, weight, shown)
            }
            Kind::MatrixStats { fields, missing, mode } => {
                let mut sources = Vec::with_capacity(fields.len());
                let mut names = Vec::with_capacity(fields.len());
                // One that stands twice is one, as in Elasticsearch: each has a reader, and a row.
                let mut known = Set::default();
                for field in fields {
                    if !known.insert(field.as_str()) {
                        continue;
                    }
                    let missing = missing.iter().find(|(name, _)| name == field);
                    let values = Values {
                        field: field.clone(),
                        missing: missing.map(|(_, value)| Scalar::Number(value.to_string())),
                        ..Values::default()
                    };
                    let source = self.source(&values, Accepts::Numbers, kind)?;
                    if source.mapped || source.missing.is_some() {
                        sources.push(source);
                        names.push(field.clone());
                    }
                }
                What::Matrix(sources, *mode, names.into())
            }
            Kind::TTest(test) => {
                let a = self.source(&test.a.0, Accepts::Numbers, kind)?;
                let b = self.source(&test.b.0, Accepts::Numbers, kind)?;
                let mut filter = |query: &Option<Query>| -> Result<Option<usize>> {
                    query.as_ref().map(|query| self.filter(query)).transpose()
                };
                What::Samples(a, b, [filter(&test.a.1)?, filter(&test.b.1)?])
            }
            Kind::TopHits(request) => {
                let window = u64::from(request.from) + u64::from(request.size);
                let most = self.binder.context.inner_window;
                if window > most {
                    return Err(Error::illegal(format!(
                        "Top hits result window is too large, the top hits aggregator [{}]'s from \
                         + size must be less than or equal to: [{most}] but was [{window}]. This \
                         limit can be set by changing the [index.max_inner_result_window] index \
                         level setting.",
                        agg.name
                    )));
                }
                self.scores |= request.sort.is_empty()
                    || request.track_scores
                    || request.sort.iter().any(|sort| sort.by == SortBy::Score);
                What::TopHits(Arc::new(self.order(request)?), request.window())
            }
            Kind::TopMetrics(top) => {
                let most = self.binder.context.top_metrics_max;
                if u64::from(top.size) > most {
                    return Err(Error::illegal(format!(
                        "[top_metrics.size] must not be more than [{most}] but was [{}]. This \
                         limit can be set by changing the [index.top_metrics_max_size] index \
                         level setting.",
                        top.size
                    )));
                }
                self.scores |= top.sort.iter().any(|sort| sort.by == SortBy::Score);
                let request = SearchRequest { sort: top.sort.clone(), ..SearchRequest::default() };
                let mut metrics = Vec::with_capacity(top.metrics.len());
                for values in &top.metrics {
                    metrics.push(self.source(values, Accepts::Any, kind)?);
                }
                let format = self.sort_format(&top.sort[0])?;
                let order = Arc::new(self.order(&request)?);
                What::TopMetrics { order, format, metrics, size: top.size as usize }
            }
            Kind::Terms(terms) => {
                let source = self.source(&terms.values, Accepts::Words, kind)?;
                let choice = self.choice(&terms.filter, &agg.name, &source, &terms.values)?;
                if let Some(words) = words(&source, &choice, &terms.values) {
                    return Ok(words);
                }
                What::Terms { source, choice, zero: terms.min_doc_count == 0 }
            }
            Kind::RareTerms(terms) => {
                let source = self.source(&terms.values, Accepts::Any, kind)?;
                if source.form.is_floating() {
                    return Err(Error::illegal(
                        "RareTerms aggregation does not support floating point fields.",
                    ));
                }
                let choice = self.choice(&terms.filter, &agg.name, &source, &terms.values)?;
                What::Terms { source, choice, zero: false }
            }
            Kind::Significant(sig) => return self.significant(agg, sig),
            Kind::MultiTerms(terms) => {
                let mut sources = Vec::with_capacity(terms.terms.len());
                for values in &terms.terms {
                    sources.push(self.source(values, Accepts::Any, kind)?);
                }
                What::Several(sources)
            }
            Kind::Histogram(histogram) => self.histogram(histogram, kind)?,
            Kind::DateHistogram(histogram) => self.date_histogram(histogram, kind)?,
            Kind::AutoDateHistogram(auto) => {
                What::Auto(self.source(&auto.values, Accepts::Dates, kind)?, zone(&auto.values)?)
            }
            Kind::VariableWidth { values, .. } => {
                if let Some(parent) = parent.filter(|parent| !parent.kind.is_single()) {
                    return Err(Error::illegal(format!(
                        "VariableWidthHistogram aggregation cannot be used as a sub-aggregation \
                         of [{}]",
                        parent.name
                    )));
                }
                What::Values(self.source(values, Accepts::Numbers, kind)?)
            }
            Kind::Range(range) => {
                let accepts = if range.dates { Accepts::Dates } else { Accepts::Numbers };
                let source = self.source(&range.values, accepts, kind)?;
                if range.ranges.is_empty() {
                    return Err(Error::illegal(format!(
                        "No [ranges] specified for the [{}] aggregation",
                        agg.name
                    )));
                }
                let mut ranges = Vec::with_capacity(range.ranges.len());
                for one in &range.ranges {
                    let from = self.end(&one.from, &source, &range.values, range.dates)?;
                    let to = self.end(&one.to, &source, &range.values, range.dates)?;
                    let shown = |end: &Option<Scalar>| match end {
                        Some(end) => end.text().parse::<f64>().map_or_else(
                            |_| end.text().to_owned(),
                            |number| source.format.double(number),
                        ),
                        None => "*".to_owned(),
                    };
                    // A float's ends are floats, but its bucket is named as it was asked for.
                    let made = (source.form == Form::Float)
                        .then(|| format!("{}-{}", shown(&one.from), shown(&one.to)));
                    ranges.push((
                        one.key.clone().or(made),
                        from.unwrap_or(f64::NEG_INFINITY),
                        to.unwrap_or(f64::INFINITY),
                    ));
                }
                What::Ranges(source, sorted(ranges))
            }
            Kind::IpRange(range) => {
                What::Addresses(self.source(&range.values, Accepts::Ips, kind)?)
            }
            Kind::IpPrefix(prefix) => {
                What::Addresses(self.source(&prefix.values, Accepts::Ips, kind)?)
            }
            Kind::GeoDistance(distance) => {
                let ranges = distance.ranges.iter();
                let ranges = ranges
                    .map(|(key, from, to)| {
                        (key.clone(), from.unwrap_or(0.0), to.unwrap_or(f64::INFINITY))
                    })
                    .collect();
                let source = self.source(&distance.values, Accepts::Points, kind)?;
                What::Distances(source, sorted(ranges))
            }
            Kind::GeoGrid(grid) => What::Cells(self.source(&grid.values, Accepts::Points, kind)?),
            Kind::Filter(query) => What::Filter(self.filter(query)?),
            Kind::Filters(filters) => {
                let mut numbers = Vec::with_capacity(filters.filters.len());
                for (_, query) in &filters.filters {
                    numbers.push(self.filter(query)?);
                }
                What::Filters(numbers)
            }
            Kind::Adjacency { filters, .. } => {
                let mut numbers = Vec::with_capacity(filters.len());
                for (_, query) in filters {
                    numbers.push(self.filter(query)?);
                }
                What::Filters(numbers)
            }
            Kind::Missing(values) => {
                What::Lacking(self.source(values, Accepts::Everything, kind)?)
            }
            Kind::Global => What::Everything,
            Kind::Nested(path) => {
                if !self.binder.mapping.is_nested(path) {
                    return Ok(What::Below(None));
                }
                let objects = self.objects(path);
                let level = level
                    .filter(|level| self.binder.mapping.is_nested(level))
                    .map(|level| self.objects(level));
                What::Below(Some((objects, level)))
            }
            Kind::ReverseNested(path) => {
                if level.is_none() {
                    return Err(Error::illegal(format!(
                        "Reverse nested aggregation [{}] can only be used inside a [nested] \
                         aggregation",
                        agg.name
                    )));
                }
                match path {
                    None => What::Above(Some(None)),
                    Some(path) if self.binder.mapping.is_nested(path) => {
                        What::Above(Some(Some(self.objects(path))))
                    }
                    Some(_) => What::Above(None),
                }
            }
            Kind::Sampler { diversity, .. } => {
                self.scores = true;
                What::Sampler(match diversity {
                    Some((values, _)) => Some(self.source(values, Accepts::Any, kind)?),
                    None => None,
                })
            }
            Kind::RandomSampler { seed, .. } => {
                let seed = u64::from(*seed as u32) << 20;
                match self.binder.context.veil {
                    None => What::Chance { seed, by: None },
                    // A place tells how many documents are before it; the number of a change is told anyway.
                    Some(veil) => {
                        let by = Values { field: "_seq_no".to_owned(), ..Values::default() };
                        let by = Some(self.source(&by, Accepts::Any, kind)?);
                        What::Chance { seed: veil.seed(seed), by }
                    }
                }
            }
            Kind::Composite(composite) => {
                if let Some(parent) = parent
                    && !matches!(
                        parent.kind,
                        Kind::Nested(_) | Kind::ReverseNested(_) | Kind::Filter(_)
                    )
                {
                    return Err(Error::illegal(format!(
                        "[composite] aggregation cannot be used with a parent aggregation of \
                         type: [{}AggregatorFactory]",
                        paths::java_name(&parent.kind)
                    )));
                }
                return self.composite(composite);
            }
        })
    }

    fn choice(
        &self,
        filter: &super::spec::IncludeExclude,
        name: &str,
        source: &Source,
        values: &Values,
    ) -> Result<Option<Arc<choice::Choice>>> {
        let found = choice::bind(filter, name, source, values, self.binder.context)?;
        Ok(found.map(Arc::new))
    }

    fn order(&mut self, request: &SearchRequest) -> Result<Order> {
        if request.sort.iter().any(|sort| matches!(sort.by, SortBy::Script(_))) {
            return Err(Error::illegal("aggregations do not sort their hits by a script"));
        }
        let mut order = order::bind(request, self.binder.mapping, self.binder.context)?;
        for (key, sort) in order.keys.iter_mut().zip(&request.sort) {
            if let (Some(inside), Some(nested)) = (&mut key.inside, &sort.nested) {
                inside.filter = Filter::OfAggs(self.filters.len());
                self.filters.push(inside::clause(nested, self.binder)?);
            }
        }
        Ok(order)
    }

    /// How a sort key is printed.
    fn sort_format(&mut self, sort: &Sort) -> Result<Format> {
        let SortBy::Field(name) = &sort.by else { return Ok(Format::Raw) };
        let values = Values { field: name.clone(), ..Values::default() };
        Ok(self.source(&values, Accepts::AnyOrPoints, "top_metrics")?.format)
    }

    fn significant(&mut self, agg: &Agg, sig: &super::spec::Significant) -> Result<What> {
        if !sig.text {
            let source = self.source(&sig.values, Accepts::Words, "significant_terms")?;
            if source.form.is_floating() {
                return Err(Error::illegal("No support for examining floating point numerics"));
            }
            let choice = self.choice(&sig.filter, &agg.name, &source, &sig.values)?;
            if let Some(words) = words(&source, &choice, &sig.values) {
                return Ok(words);
            }
            return Ok(What::Terms { source, choice, zero: false });
        }
        let Some(field) = self.binder.mapping.lookup(&sig.values.field) else {
            return Err(Error::illegal(format!(
                "Field [{}] does not exist, SignificantText requires an analyzed field",
                sig.values.field
            )));
        };
        if !matches!(field.kind, mapping::Kind::Text(_)) {
            return Err(Error::illegal(format!(
                "Field [{}] has no analyzer, but SignificantText requires an analyzed field",
                sig.values.field
            )));
        }
        let words = Source {
            column: source::Column::None,
            form: Form::Bytes,
            format: Format::Raw,
            missing: None,
            mapped: true,
            field: Some(Arc::clone(&field)),
        };
        let choice = self.choice(&sig.filter, &agg.name, &words, &sig.values)?;
        let mut paths = match sig.source_fields.is_empty() {
            true => vec![sig.values.field.clone()],
            false => sig.source_fields.clone(),
        };
        if let Some(fields) = self.binder.context.sees {
            let mapping = self.binder.mapping;
            paths.retain(|path| fields.permits_parts(path, &mapping.members(path)));
        }
        Ok(What::Words { field, choice, paths, filter_duplicates: sig.filter_duplicates })
    }

    fn composite(&mut self, composite: &super::spec::Composite) -> Result<What> {
        let (size, most) = (composite.size as usize, self.binder.context.buckets_max);
        if size > most {
            return Err(Error::new(
                ErrorKind::TooManyBuckets,
                format!(
                    "Trying to create too many buckets. Must be less than or equal to: [{most}] but was \
                     [{size}]. This limit can be set by changing the [search.max_buckets] cluster level \
                     setting."
                ),
            ));
        }
        let mut sources = Vec::with_capacity(composite.sources.len());
        let mut roundings = Vec::with_capacity(composite.sources.len());
        for one in &composite.sources {
            let accepts = match one.kind {
                CompositeKind::Terms => Accepts::Any,
                CompositeKind::Histogram(_) => Accepts::Numbers,
                CompositeKind::Date(..) => Accepts::Dates,
                CompositeKind::GeoTile(_) => Accepts::Points,
            };
            let mut source = self.source(&one.values, accepts, "composite")?;
            let rounding = match one.kind {
                CompositeKind::Date(interval, offset_ms) => {
                    if one.values.format.is_none() {
                        // Keys are milliseconds unless a format is asked for.
                        source.format = Format::Raw;
                    }
                    Some(Rounding { interval, zone: zone(&one.values)?, offset_ms })
                }
                _ => None,
            };
            if matches!(one.kind, CompositeKind::Terms)
                && one.values.format.is_none()
                && matches!(source.format, Format::Date { .. })
            {
                source.format = Format::Raw;
            }
            sources.push(source);
            roundings.push(rounding);
        }
        let after = match &composite.after {
            None => None,
            Some(values) => {
                let mut parts = Vec::with_capacity(values.len());
                for ((value, source), one) in values.iter().zip(&sources).zip(&composite.sources) {
                    parts.push(match value {
                        None => Key::Null,
                        Some(value) => self.after(value, source, one)?,
                    });
                }
                Some(Key::List(parts.into()))
            }
        };
        Ok(What::Pages(sources, roundings, after))
    }

    /// One part of the key behind which the page begins.
    fn after(
        &self,
        value: &Scalar,
        source: &Source,
        one: &super::spec::CompositeSource,
    ) -> Result<Key> {
        let context = self.binder.context;
        let bad = || {
            Error::illegal(format!(
                "invalid value, expected string, got {}",
                match value {
                    Scalar::Number(_) => "Number",
                    Scalar::Bool(_) => "Boolean",
                    Scalar::String(_) => "String",
                }
            ))
        };
        Ok(match (one.kind, source.form) {
            (CompositeKind::GeoTile(_), _) => {
                let cell = super::geo::tile_of_text(value.text()).ok_or_else(bad)?;
                Key::Long(cell)
            }
            (CompositeKind::Histogram(_), _) => {
                let number = value.text().parse::<f64>();
                Key::Double(number.map_err(|_| Error::number(value.text()))?)
            }
            (_, Form::Bytes) => Key::Bytes(source::term_of(value.text(), source)?.into()),
            (_, Form::Ip) => {
                let address = source::address(value.text()).ok_or_else(bad)?;
                Key::Bytes(address.as_slice().into())
            }
            (CompositeKind::Date(..), form) => {
                let raw = number_of(value, form, &source.format, &one.values, context)?;
                Key::Long(match value {
                    Scalar::Number(_) => raw,
                    _ => form.millis(raw),
                })
            }
            (_, form) => form.key(number_of(value, form, &source.format, &one.values, context)?),
        })
    }
}

/// Words of a text, where a text is what the source is.
fn words(source: &Source, choice: &Option<Arc<choice::Choice>>, values: &Values) -> Option<What> {
    let (source::Column::Text(_), Some(field)) = (&source.column, &source.field) else {
        return None;
    };
    Some(What::Words {
        field: Arc::clone(field),
        choice: choice.clone(),
        paths: vec![text_path(field, values)],
        filter_duplicates: false,
    })
}

/// Where the text of a field stands in the source: a part of another field has none of its own.
fn text_path(field: &mapping::Field, values: &Values) -> String {
    let _ = values;
    field.path.to_string()
}

/// Ranges in the order of their ends, as they are shown.
fn sorted(mut ranges: Vec<Between>) -> Arc<Vec<Between>> {
    ranges.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2)));
    Arc::new(ranges)
}

/// The zone that the request names; UTC without.
fn zone(values: &Values) -> Result<Zone> {
    match &values.time_zone {
        Some(name) => Ok(Zone::parse(name)?),
        None => Ok(Zone::UTC),
    }
}

/// Checks that an order leads to a number.
fn check_order(agg: &Agg) -> Result<()> {
    let order = match &agg.kind {
        Kind::Terms(terms) => &terms.order,
        Kind::MultiTerms(terms) => &terms.order,
        Kind::Histogram(histogram) => &histogram.order,
        Kind::DateHistogram(histogram) => &histogram.order,
        _ => return Ok(()),
    };
    for (by, _) in order {
        if let OrderBy::Path(path) = by {
            paths::check(agg, path)?;
        }
    }
    Ok(())
}

/// What stands in a bucket of `agg` without documents.
pub fn empties(agg: &BoundAgg) -> Arc<Vec<super::partial::Partial>> {
    Arc::new(agg.subs.iter().map(empty::of).collect())
}
