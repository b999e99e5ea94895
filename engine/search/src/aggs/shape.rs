//! Results in the shape in which Elasticsearch shows them: plain data, which `net` prints.
//!
//! Always true: names of aggregations carry their type, which is shown where it was asked for
//! (`typed_keys`).

use std::borrow::Cow;
use std::sync::Arc;

use env::leftovers::Leaving;

mod buckets;
mod metric;

use buckets::Showing;
pub use metric::{boxplot, t_test};
use metric::{extended, matrix_fields, of_metric, percents, stats};

use super::format::{Format, ip_text};
use super::meter::Meter;
use super::partial::{Bucket, Buckets, Key, Made, Partial, spend};
use super::spec::{Agg, Aggs, Kind, PipeKind};
use crate::request::SearchRequest;
use crate::result::{Hit, Key as SortKey, Winner};

/// A value that is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A long.
    Long(i64),
    /// A long without sign.
    Unsigned(u64),
    /// A double.
    Double(f64),
    /// A float.
    Float(f32),
    /// Text.
    Text(String),
    /// The term that is a bucket's key, which it shares.
    Term(Arc<[u8]>),
    /// What the request gave.
    Json(json::Value),
    /// Several.
    List(Vec<Out>),
    /// By name.
    Object(Fields),
    /// Documents.
    Hits(Box<Hits>),
}

/// Names and values.
pub type Fields = Vec<(Name, Out)>;

/// What is shown of all aggregations: not where others wait does much of it go.
pub type Answer = Leaving<Fields>;

/// So many values go in a moment: some 100 µs.
pub const FEW: usize = 2048;

/// Pieces of a document.
const HIT: usize = 8;

impl Out {
    /// These, which go elsewhere where they are many.
    pub fn leaving(fields: Fields) -> Answer {
        Leaving::new(fields, |fields| {
            !Self::are_few(fields.iter().map(|(_, out)| out), &mut { FEW })
        })
    }

    /// These values hold little together: what they hold is taken from what is `left`. Looks no further than it must.
    pub fn are_few<'a>(mut outs: impl Iterator<Item = &'a Self>, left: &mut usize) -> bool {
        outs.all(|out| out.is_within(left))
    }

    fn is_within(&self, left: &mut usize) -> bool {
        spend(left, 1)
            && match self {
                Self::List(list) => list.iter().all(|out| out.is_within(left)),
                Self::Object(fields) => fields.iter().all(|(_, out)| out.is_within(left)),
                Self::Hits(found) => {
                    spend(left, HIT.saturating_mul(found.hits.len() + found.winners.len()))
                }
                _ => true,
            }
    }
}

/// Name of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Name {
    /// As it is.
    Plain(Cow<'static, str>),
    /// Of an aggregation, with its type.
    Typed(&'static str, String),
}

/// Documents of a `top_hits`, fetched or not yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    /// How they were asked for.
    pub request: Arc<SearchRequest>,
    /// Documents in the bucket.
    pub total: u64,
    /// Best score.
    pub max_score: Option<f32>,
    /// Which documents.
    pub winners: Vec<Winner>,
    /// The documents.
    pub hits: Vec<Hit>,
}

fn plain(name: &'static str) -> Name {
    Name::Plain(Cow::Borrowed(name))
}

fn named(name: impl Into<String>) -> Name {
    Name::Plain(Cow::Owned(name.into()))
}

fn number(value: f64) -> Out {
    if value.is_finite() { Out::Double(value) } else { Out::Null }
}

/// Results of aggregations side by side; where there is no memory for all of it, the beginning.
pub fn all(aggs: &Aggs, bucket: &Bucket, meter: &Meter<'_>) -> Fields {
    let mut fields = Fields::with_capacity(aggs.aggs.len() + aggs.pipes.len());
    for (agg, partial) in aggs.aggs.iter().zip(&bucket.subs) {
        if meter.is_over() {
            return fields;
        }
        let shown = one(agg, partial, meter);
        push(agg, shown, meter, &mut fields);
    }
    pipes(aggs, bucket, meter, &mut fields);
    fields
}

/// As [`all`], with a `pause` behind each bucket of the outermost aggregations: others may have the core there.
pub async fn all_in_steps(
    aggs: &Aggs,
    bucket: &Bucket,
    meter: &Meter<'_>,
    pause: &impl AsyncFn(),
) -> Fields {
    let mut fields = Fields::with_capacity(aggs.aggs.len() + aggs.pipes.len());
    for (agg, partial) in aggs.aggs.iter().zip(&bucket.subs) {
        if meter.is_over() {
            return fields;
        }
        let shown = match partial {
            Partial::Buckets(buckets) => {
                let mut showing = Showing::begin(agg, buckets);
                for place in 0..buckets.list.len() {
                    if meter.is_over() {
                        break;
                    }
                    showing.bucket(place, meter);
                    pause().await;
                }
                showing.end()
            }
            partial => one(agg, partial, meter),
        };
        push(agg, shown, meter, &mut fields);
        pause().await;
    }
    pipes(aggs, bucket, meter, &mut fields);
    fields
}

/// Adds what is shown of an aggregation.
fn push(agg: &Agg, (kind, inner): (&'static str, Fields), meter: &Meter<'_>, fields: &mut Fields) {
    let meta = agg.meta.as_ref().map_or(0, json::Value::held_bytes);
    meter.takes(size_of::<(Name, Out)>() + agg.name.len() + meta);
    let mut object = Fields::with_capacity(inner.len() + 1);
    if let Some(meta) = &agg.meta {
        object.push((plain("meta"), Out::Json(meta.clone())));
    }
    object.extend(inner);
    fields.push((Name::Typed(kind, agg.name.clone()), Out::Object(object)));
}

/// Adds what pipelines made.
fn pipes(aggs: &Aggs, bucket: &Bucket, meter: &Meter<'_>, fields: &mut Fields) {
    for (pipe, made) in aggs.pipes.iter().zip(&bucket.pipes) {
        let Some(made) = made else { continue };
        if meter.is_over() {
            return;
        }
        let mut object = Fields::new();
        if let Some(meta) = &pipe.meta {
            object.push((plain("meta"), Out::Json(meta.clone())));
        }
        let kind = self::made(&pipe.kind, made, &mut object);
        meter.made(&object);
        fields.push((Name::Typed(kind, pipe.name.clone()), Out::Object(object)));
    }
}

fn made(kind: &PipeKind, made: &Made, out: &mut Fields) -> &'static str {
    match made {
        Made::Value(value, text) => {
            value_of(*value, text, out);
            "simple_value"
        }
        Made::Derivative(value, normalized, text) => {
            value_of(*value, text, out);
            if let Some(normalized) = normalized {
                out.push((plain("normalized_value"), number(*normalized)));
            }
            "derivative"
        }
        Made::Keyed(value, text, keys) => {
            value_of(*value, text, out);
            let keys = keys.iter().map(|key| Out::Text(key.clone())).collect();
            out.push((plain("keys"), Out::List(keys)));
            "bucket_metric_value"
        }
        Made::Stats(moments, format) => {
            if let PipeKind::ExtendedStatsBucket { sigma } = kind {
                stats(moments, format, out);
                extended(moments, format, *sigma, out);
                return "extended_stats_bucket";
            }
            stats(moments, format, out);
            "stats_bucket"
        }
        Made::Percentiles(values, format) => {
            let keyed = !matches!(kind, PipeKind::PercentilesBucket { keyed: false, .. });
            out.push((plain("values"), percents(values, keyed, format)));
            "percentiles_bucket"
        }
    }
}

fn value_of(value: f64, text: &Option<String>, out: &mut Fields) {
    out.push((plain("value"), number(value)));
    if let Some(text) = text.as_ref().filter(|_| value.is_finite()) {
        out.push((plain("value_as_string"), Out::Text(text.clone())));
    }
}

/// A number under a name, and its text where its format has one.
fn shown(name: &'static str, value: f64, format: &Format, out: &mut Fields) {
    out.push((plain(name), number(value)));
    if value.is_finite() && !format.is_raw() {
        out.push((named(format!("{name}_as_string")), Out::Text(format.double(value))));
    }
}

/// Type and value of one aggregation.
fn one(agg: &Agg, partial: &Partial, meter: &Meter<'_>) -> (&'static str, Fields) {
    let mut out = Fields::new();
    let kind = agg.kind.type_name();
    match (&agg.kind, partial) {
        (Kind::Metric(metric, _), partial) => {
            let kind = of_metric(metric, partial, &mut out);
            meter.made(&out);
            return (kind, out);
        }
        (_, Partial::Weighted { sum, weight, format }) => {
            shown("value", sum.value / weight.value, format, &mut out);
        }
        (_, Partial::Matrix(matrix, fields)) => {
            out.push((plain("doc_count"), Out::Unsigned(matrix.count)));
            if matrix.count > 0 {
                let fields = (plain("fields"), matrix_fields(fields, matrix, meter));
                meter.made(&out);
                out.push(fields);
                return (kind, out);
            }
        }
        (Kind::TTest(test), Partial::Samples(samples)) => {
            out.push((plain("value"), number(t_test(test, samples))));
        }
        (Kind::TopHits(request), Partial::TopHits(top)) => {
            let from = (request.from as usize).min(top.hits.len());
            let score = Some(top.max_score).filter(|score| !score.is_nan());
            out.push((
                plain("hits"),
                Out::Hits(Box::new(Hits {
                    request: Arc::clone(request),
                    total: top.total,
                    max_score: score.filter(|_| request.sorts_by_score() || request.track_scores),
                    winners: top.hits[from..].to_vec(),
                    hits: Vec::new(),
                })),
            ));
        }
        (Kind::TopMetrics(top), Partial::TopMetrics(found)) => {
            let list = found.iter().map(|one| {
                let metrics = top.metrics.iter().zip(&one.metrics).map(|(metric, value)| {
                    let value = match value {
                        None => Out::Null,
                        Some((key, format)) => key_shown(key, format),
                    };
                    (named(metric.field.clone()), value)
                });
                Out::Object(vec![
                    (plain("sort"), Out::List(vec![sort_key(&one.sort, &one.format)])),
                    (plain("metrics"), Out::Object(metrics.collect())),
                ])
            });
            out.push((plain("top"), Out::List(list.collect())));
        }
        (_, Partial::Single(bucket)) => {
            out.push((plain("doc_count"), Out::Unsigned(bucket.count)));
            out.extend(all(&agg.subs, bucket, meter));
            return (kind, out);
        }
        (_, Partial::Buckets(buckets)) => {
            let mut showing = Showing::begin(agg, buckets);
            for place in 0..buckets.list.len() {
                if meter.is_over() {
                    break;
                }
                showing.bucket(place, meter);
            }
            return showing.end();
        }
        _ => {}
    }
    meter.made(&out);
    (kind, out)
}

fn sort_key(key: &SortKey, format: &Format) -> Out {
    match key {
        SortKey::Null => Out::Null,
        SortKey::Long(value) => match format {
            Format::Raw => Out::Long(*value),
            format => Out::Text(format.long(*value)),
        },
        SortKey::Unsigned(value) => Out::Text(value.to_string()),
        SortKey::Double(value) => Out::Double(*value),
        SortKey::Float(value) => Out::Double(f64::from(*value)),
        SortKey::Score(value) => Out::Double(f64::from(*value)),
        SortKey::Term(bytes) => term(bytes, format),
        SortKey::Text(text) => Out::Text(text.clone()),
        #[allow(unreachable_patterns)]
        _ => Out::Null,
    }
}

/// A term: no copy where it is shown as it is kept.
fn term(bytes: &Arc<[u8]>, format: &Format) -> Out {
    match format {
        Format::Ip | Format::Terms(_) => Out::Text(format.bytes(bytes)),
        _ => Out::Term(Arc::clone(bytes)),
    }
}

/// A key alone, with its format.
fn key_shown(key: &Key, format: &Format) -> Out {
    match key {
        Key::Null => Out::Null,
        Key::Long(value) => match format {
            Format::Raw => Out::Long(*value),
            Format::Boolean => Out::Bool(*value != 0),
            format => Out::Text(format.long(*value)),
        },
        Key::Unsigned(value) => Out::Unsigned(*value),
        Key::Double(value) => match format {
            Format::Raw => Out::Double(*value),
            format => Out::Text(format.double(*value)),
        },
        Key::Bytes(bytes) => term(bytes, format),
        Key::List(_) => Out::Null,
    }
}

fn out_text(out: &Out) -> String {
    match out {
        Out::Long(value) => value.to_string(),
        Out::Unsigned(value) => value.to_string(),
        Out::Double(value) => json::number::double_to_string(*value),
        Out::Text(text) => text.clone(),
        Out::Term(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Out::Bool(value) => value.to_string(),
        _ => "null".to_owned(),
    }
}

/// The name of a bucket, as paths and keyed answers show it.
pub fn key_text(agg: &Agg, buckets: &Buckets, bucket: &Bucket, place: usize) -> String {
    let format = buckets.formats.first().cloned().unwrap_or_default();
    match (&agg.kind, &bucket.key) {
        (Kind::Filters(filters), Key::Long(at)) => {
            let at = *at as usize;
            match filters.filters.get(at) {
                Some((name, _)) if filters.named => name.clone(),
                Some(_) => place.to_string(),
                None => filters.other.clone().unwrap_or_default(),
            }
        }
        (Kind::Adjacency { filters, separator }, Key::Long(at)) => {
            let (a, b) = (*at as usize / filters.len(), *at as usize % filters.len());
            match a == b {
                true => filters[a].0.clone(),
                false => format!("{}{separator}{}", filters[a].0, filters[b].0),
            }
        }
        (Kind::Range(_) | Kind::GeoDistance(_), Key::Long(at)) => {
            let Some((name, from, to)) = buckets.ranges.get(*at as usize) else {
                return String::new();
            };
            let distance = matches!(agg.kind, Kind::GeoDistance(_));
            let open = |value: f64| value.is_infinite() || (distance && value == 0.0);
            let text = |value: f64| match value.is_infinite() {
                true => "*".to_owned(),
                false => format.double(value),
            };
            let from = if open(*from) { "*".to_owned() } else { text(*from) };
            name.clone().unwrap_or_else(|| format!("{from}-{}", text(*to)))
        }
        (Kind::IpRange(range), Key::Long(at)) => {
            let Some(one) = range.ranges.get(*at as usize) else { return String::new() };
            let text =
                |end: &Option<[u8; 16]>| end.map_or_else(|| "*".to_owned(), |end| ip_text(&end));
            let made = format!("{}-{}", text(&one.from), text(&one.to));
            one.key.clone().unwrap_or(made)
        }
        (_, Key::List(parts)) => {
            let parts = parts.iter().enumerate().map(|(at, part)| {
                let format = buckets.formats.get(at).cloned().unwrap_or_default();
                out_text(&key_shown(part, &format))
            });
            parts.collect::<Vec<_>>().join("|")
        }
        (_, Key::Double(value)) => format.double(*value),
        (_, Key::Long(value)) => format.long(*value),
        (_, key) => out_text(&key_shown(key, &format)),
    }
}
