//! Results in the shape in which Elasticsearch shows them: plain data, which `net` prints.
//!
//! Always true: names of aggregations carry their type, which is shown where it was asked for
//! (`typed_keys`).

use std::borrow::Cow;
use std::sync::Arc;

use super::format::{Format, ip_text};
use super::metric::digest::Digest;
use super::metric::moments::Moments;
use super::partial::{Bucket, Buckets, Key, KeyKind, Made, Partial};
use super::spec::{Agg, Aggs, Kind, Method, Metric, PipeKind, TTest, TTestKind};
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

/// Results of aggregations side by side.
pub fn all(aggs: &Aggs, bucket: &Bucket) -> Fields {
    let mut fields = Fields::with_capacity(aggs.aggs.len() + aggs.pipes.len());
    for (agg, partial) in aggs.aggs.iter().zip(&bucket.subs) {
        let (kind, inner) = one(agg, partial);
        let mut object = Fields::with_capacity(inner.len() + 1);
        if let Some(meta) = &agg.meta {
            object.push((plain("meta"), Out::Json(meta.clone())));
        }
        object.extend(inner);
        fields.push((Name::Typed(kind, agg.name.clone()), Out::Object(object)));
    }
    for (pipe, made) in aggs.pipes.iter().zip(&bucket.pipes) {
        let Some(made) = made else { continue };
        let mut object = Fields::new();
        if let Some(meta) = &pipe.meta {
            object.push((plain("meta"), Out::Json(meta.clone())));
        }
        let kind = self::made(&pipe.kind, made, &mut object);
        fields.push((Name::Typed(kind, pipe.name.clone()), Out::Object(object)));
    }
    fields
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
fn one(agg: &Agg, partial: &Partial) -> (&'static str, Fields) {
    let mut out = Fields::new();
    let kind = agg.kind.type_name();
    match (&agg.kind, partial) {
        (Kind::Metric(metric, _), partial) => {
            return (of_metric(metric, partial, &mut out), out);
        }
        (_, Partial::Weighted { sum, weight, format }) => {
            shown("value", sum.value / weight.value, format, &mut out);
        }
        (_, Partial::Matrix(matrix, fields)) => {
            out.push((plain("doc_count"), Out::Unsigned(matrix.count)));
            if matrix.count > 0 {
                out.push((plain("fields"), matrix_fields(fields, matrix)));
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
                    request: Arc::new((**request).clone()),
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
            out.extend(all(&agg.subs, bucket));
        }
        (_, Partial::Buckets(buckets)) => return (of_buckets(agg, buckets, &mut out), out),
        _ => {}
    }
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
        SortKey::Term(bytes) => Out::Text(format.bytes(bytes)),
        SortKey::Text(text) => Out::Text(text.clone()),
        #[allow(unreachable_patterns)]
        _ => Out::Null,
    }
}

fn of_metric(metric: &Metric, partial: &Partial, out: &mut Fields) -> &'static str {
    let name = metric.type_name();
    match (metric, partial) {
        (Metric::ValueCount, Partial::Moments(moments, _)) => {
            out.push((plain("value"), Out::Unsigned(moments.count)));
        }
        (Metric::Sum, Partial::Moments(moments, format)) => {
            let value = moments.sum.value;
            out.push((plain("value"), Out::Double(value)));
            if !format.is_raw() {
                out.push((plain("value_as_string"), Out::Text(format.double(value))));
            }
        }
        (Metric::Avg, Partial::Moments(moments, format)) => {
            shown("value", moments.avg(), format, out);
        }
        (Metric::Min, Partial::Moments(moments, format)) => {
            shown("value", moments.min, format, out);
        }
        (Metric::Max, Partial::Moments(moments, format)) => {
            shown("value", moments.max, format, out);
        }
        (Metric::Stats, Partial::Moments(moments, format)) => stats(moments, format, out),
        (Metric::ExtendedStats { sigma }, Partial::Moments(moments, format)) => {
            stats(moments, format, out);
            extended(moments, format, *sigma, out);
        }
        (_, Partial::Distinct(distinct)) => {
            out.push((plain("value"), Out::Unsigned(distinct.count())));
        }
        (Metric::Percentiles { percents: wanted, keyed, method }, partial) => {
            let (values, format) = match partial {
                Partial::Digest(digest, format) => {
                    let mut digest = digest.clone();
                    let values = wanted.iter().map(|q| (*q, digest.quantile(*q / 100.0)));
                    (values.collect::<Vec<_>>(), format)
                }
                Partial::Hdr(hdr, format) => {
                    (wanted.iter().map(|q| (*q, hdr.percentile(*q))).collect(), format)
                }
                _ => return name,
            };
            out.push((plain("values"), percents(&values, *keyed, format)));
            return match method {
                Method::TDigest(_) => "tdigest_percentiles",
                Method::Hdr(_) => "hdr_percentiles",
            };
        }
        (Metric::PercentileRanks { values: wanted, keyed, method }, partial) => {
            let (values, format) = match partial {
                Partial::Digest(digest, format) => {
                    let mut digest = digest.clone();
                    let values = wanted.iter().map(|x| (*x, digest.rank(*x) * 100.0));
                    (values.collect::<Vec<_>>(), format)
                }
                Partial::Hdr(hdr, format) => {
                    (wanted.iter().map(|x| (*x, hdr.rank(*x))).collect(), format)
                }
                _ => return name,
            };
            out.push((plain("values"), percents(&values, *keyed, format)));
            return match method {
                Method::TDigest(_) => "tdigest_percentile_ranks",
                Method::Hdr(_) => "hdr_percentile_ranks",
            };
        }
        (Metric::MedianAbsoluteDeviation { .. }, Partial::Digest(digest, format)) => {
            shown("value", digest.clone().median_absolute_deviation(), format, out);
        }
        (Metric::Boxplot { .. }, Partial::Digest(digest, format)) => {
            let values = boxplot(&mut digest.clone());
            let names = ["min", "max", "q1", "q2", "q3", "lower", "upper"];
            for (name, value) in names.into_iter().zip(values) {
                out.push((plain(name), Out::Double(value)));
            }
            if !format.is_raw() {
                for (name, value) in names.into_iter().zip(values) {
                    let text = Out::Text(format.double(value));
                    out.push((named(format!("{name}_as_string")), text));
                }
            }
        }
        (Metric::StringStats { show_distribution }, Partial::Strings(strings)) => {
            let count = strings.count;
            let of = |value: u64| if count > 0 { Out::Unsigned(value) } else { Out::Null };
            out.push((plain("count"), Out::Unsigned(count)));
            out.push((plain("min_length"), of(strings.min)));
            out.push((plain("max_length"), of(strings.max)));
            out.push((plain("avg_length"), number(strings.total as f64 / count as f64)));
            out.push((plain("entropy"), Out::Double(strings.entropy())));
            if *show_distribution {
                let letters = strings.distribution().into_iter();
                let letters =
                    letters.map(|(letter, share)| (named(letter.to_string()), Out::Double(share)));
                out.push((plain("distribution"), Out::Object(letters.collect())));
            }
        }
        (Metric::GeoBounds { wrap_longitude }, Partial::Bounds(bounds)) => {
            if let Some([top, left, bottom, right]) = bounds.sides(*wrap_longitude) {
                let corners = vec![
                    (plain("top_left"), point(top, left)),
                    (plain("bottom_right"), point(bottom, right)),
                ];
                out.push((plain("bounds"), Out::Object(corners)));
            }
        }
        (Metric::GeoCentroid, Partial::Centroid(lat, lon, count)) => {
            if *count > 0 {
                let n = *count as f64;
                out.push((plain("location"), point(lat.value / n, lon.value / n)));
            }
            out.push((plain("count"), Out::Unsigned(*count)));
        }
        _ => {}
    }
    name
}

fn point(lat: f64, lon: f64) -> Out {
    Out::Object(vec![(plain("lat"), Out::Double(lat)), (plain("lon"), Out::Double(lon))])
}

fn stats(moments: &Moments, format: &Format, out: &mut Fields) {
    out.push((plain("count"), Out::Unsigned(moments.count)));
    let any = moments.count > 0;
    let values = [
        ("min", moments.min),
        ("max", moments.max),
        ("avg", moments.avg()),
        ("sum", moments.sum.value),
    ];
    for (name, value) in values {
        let value = if any || name == "sum" { Out::Double(value) } else { Out::Null };
        out.push((plain(name), value));
    }
    if any && !format.is_raw() {
        for (name, value) in values {
            out.push((named(format!("{name}_as_string")), formatted(format, value)));
        }
    }
}

/// A value by its format: a boolean stays one.
fn formatted(format: &Format, value: f64) -> Out {
    match format {
        Format::Boolean => Out::Bool(value != 0.0),
        format => Out::Text(format.double(value)),
    }
}

fn extended(moments: &Moments, format: &Format, sigma: f64, out: &mut Fields) {
    let any = moments.count > 0;
    let (variance, sampling) = (moments.variance(), moments.variance_sampling());
    let values = [
        ("sum_of_squares", moments.squares.value),
        ("variance", variance),
        ("variance_population", variance),
        ("variance_sampling", sampling),
        ("std_deviation", variance.sqrt()),
        ("std_deviation_population", variance.sqrt()),
        ("std_deviation_sampling", sampling.sqrt()),
    ];
    for (name, value) in values {
        out.push((plain(name), if any { Out::Double(value) } else { Out::Null }));
    }
    let bound = |sign: f64, variance: f64| moments.avg() + sign * sigma * variance.sqrt();
    let bounds = [
        ("upper", bound(1.0, variance)),
        ("lower", bound(-1.0, variance)),
        ("upper_population", bound(1.0, variance)),
        ("lower_population", bound(-1.0, variance)),
        ("upper_sampling", bound(1.0, sampling)),
        ("lower_sampling", bound(-1.0, sampling)),
    ];
    let shown = bounds.map(|(name, value)| {
        (plain(name), if any { Out::Double(value) } else { Out::Null })
    });
    out.push((plain("std_deviation_bounds"), Out::Object(shown.to_vec())));
    if any && !format.is_raw() {
        for (name, value) in values {
            out.push((named(format!("{name}_as_string")), formatted(format, value)));
        }
        let texts = bounds.map(|(name, value)| (plain(name), formatted(format, value)));
        out.push((plain("std_deviation_bounds_as_string"), Out::Object(texts.to_vec())));
    }
}

fn percents(values: &[(f64, f64)], keyed: bool, format: &Format) -> Out {
    let text = |value: f64| Out::Text(format.double(value));
    let has_text = |value: f64| !format.is_raw() && value.is_finite();
    if keyed {
        let mut fields = Fields::new();
        for (key, value) in values {
            let key = json::number::double_to_string(*key);
            fields.push((named(key.clone()), number(*value)));
            if has_text(*value) {
                fields.push((named(format!("{key}_as_string")), text(*value)));
            }
        }
        return Out::Object(fields);
    }
    let list = values.iter().map(|(key, value)| {
        let mut fields =
            vec![(plain("key"), Out::Double(*key)), (plain("value"), number(*value))];
        if has_text(*value) {
            fields.push((plain("value_as_string"), text(*value)));
        }
        Out::Object(fields)
    });
    Out::List(list.collect())
}

/// Ends, quartiles and whiskers.
pub fn boxplot(digest: &mut Digest) -> [f64; 7] {
    let quartiles = [0.25, 0.5, 0.75].map(|q| digest.quantile(q));
    let range = quartiles[2] - quartiles[0];
    let (low, high) = (quartiles[0] - 1.5 * range, quartiles[2] + 1.5 * range);
    let kept = digest.weighted();
    let lower = kept.iter().map(|(value, _)| *value).find(|value| *value >= low);
    let upper = kept.iter().rev().map(|(value, _)| *value).find(|value| *value <= high);
    [
        digest.min(),
        digest.max(),
        quartiles[0],
        quartiles[1],
        quartiles[2],
        lower.unwrap_or(f64::NAN),
        upper.unwrap_or(f64::NAN),
    ]
}

fn matrix_fields(fields: &[String], matrix: &super::metric::matrix::Matrix) -> Out {
    let list = fields.iter().enumerate().map(|(at, name)| {
        let pairs = |of: &dyn Fn(usize) -> f64| {
            let pairs = fields.iter().enumerate();
            Out::Object(pairs.map(|(b, name)| (named(name.clone()), Out::Double(of(b)))).collect())
        };
        Out::Object(vec![
            (plain("name"), Out::Text(name.clone())),
            (plain("count"), Out::Unsigned(matrix.count)),
            (plain("mean"), Out::Double(matrix.means[at])),
            (plain("variance"), Out::Double(matrix.variance(at))),
            (plain("skewness"), Out::Double(matrix.skewness(at))),
            (plain("kurtosis"), Out::Double(matrix.kurtosis(at))),
            (plain("covariance"), pairs(&|b| matrix.covariance(at, b))),
            (plain("correlation"), pairs(&|b| matrix.correlation(at, b))),
        ])
    });
    Out::List(list.collect())
}

/// The p value of a test; NaN where there are too few values.
pub fn t_test(test: &TTest, samples: &[Moments; 3]) -> f64 {
    let [a, b, pairs] = samples;
    let (t, degrees) = match test.kind {
        TTestKind::Paired => {
            let n = pairs.count as f64;
            (pairs.avg() / (pairs.variance_sampling() / n).sqrt(), n - 1.0)
        }
        TTestKind::Homoscedastic => {
            let (n, m) = (a.count as f64, b.count as f64);
            let pooled = ((n - 1.0) * a.variance_sampling() + (m - 1.0) * b.variance_sampling())
                / (n + m - 2.0);
            ((a.avg() - b.avg()) / (pooled * (1.0 / n + 1.0 / m)).sqrt(), n + m - 2.0)
        }
        TTestKind::Heteroscedastic => {
            let (n, m) = (a.count as f64, b.count as f64);
            let (x, y) = (a.variance_sampling() / n, b.variance_sampling() / m);
            let degrees = (x + y).powi(2) / (x * x / (n - 1.0) + y * y / (m - 1.0));
            ((a.avg() - b.avg()) / (x + y).sqrt(), degrees)
        }
    };
    if t.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return f64::NAN;
    }
    let one_tail = super::student::tail(t.abs(), degrees);
    one_tail * f64::from(test.tails)
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
        Key::Bytes(bytes) => Out::Text(format.bytes(bytes)),
        Key::List(_) => Out::Null,
    }
}

fn out_text(out: &Out) -> String {
    match out {
        Out::Long(value) => value.to_string(),
        Out::Unsigned(value) => value.to_string(),
        Out::Double(value) => json::number::double_to_string(*value),
        Out::Text(text) => text.clone(),
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
            let text = |end: &Option<[u8; 16]>| {
                end.map_or_else(|| "*".to_owned(), |end| ip_text(&end))
            };
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

/// Shows buckets; gives their type.
fn of_buckets(agg: &Agg, buckets: &Buckets, out: &mut Fields) -> &'static str {
    let format = buckets.formats.first().cloned().unwrap_or_default();
    let kind = match (&agg.kind, buckets.kind) {
        (Kind::Terms(_), KeyKind::Unmapped) => "umterms",
        (Kind::Terms(_), KeyKind::Bytes) => "sterms",
        (Kind::Terms(_), KeyKind::Double) => "dterms",
        (Kind::Terms(_), _) => "lterms",
        (Kind::RareTerms(_), KeyKind::Unmapped) => "umrareterms",
        (Kind::RareTerms(_), KeyKind::Bytes) => "srareterms",
        (Kind::RareTerms(_), _) => "lrareterms",
        (Kind::Significant(_), KeyKind::Unmapped) => "umsigterms",
        (Kind::Significant(_), KeyKind::Bytes) => "sigsterms",
        (Kind::Significant(_), _) => "siglterms",
        (kind, _) => kind.type_name(),
    };
    let mut keyed = false;
    match &agg.kind {
        Kind::Terms(_) | Kind::MultiTerms(_) => {
            out.push((plain("doc_count_error_upper_bound"), Out::Long(buckets.error)));
            out.push((plain("sum_other_doc_count"), Out::Unsigned(buckets.other)));
        }
        Kind::Significant(_) => {
            out.push((plain("doc_count"), Out::Unsigned(buckets.totals.0)));
            out.push((plain("bg_count"), Out::Unsigned(buckets.totals.1)));
        }
        Kind::Composite(composite) => {
            if let Some(after) = &buckets.after {
                out.push((plain("after_key"), composite_key(composite, buckets, after)));
            }
        }
        Kind::Histogram(histogram) => keyed = histogram.keyed,
        Kind::DateHistogram(histogram) => keyed = histogram.keyed,
        Kind::Range(range) => keyed = range.keyed,
        Kind::IpRange(range) => keyed = range.keyed,
        Kind::IpPrefix(prefix) => keyed = prefix.keyed,
        Kind::GeoDistance(distance) => keyed = distance.keyed,
        Kind::Filters(filters) => keyed = filters.keyed,
        _ => {}
    }
    let mut list = Vec::with_capacity(buckets.list.len());
    let mut object = Fields::new();
    for (place, bucket) in buckets.list.iter().enumerate() {
        let mut fields = Fields::new();
        one_bucket(agg, buckets, bucket, &format, keyed, &mut fields);
        fields.extend(all(&agg.subs, bucket));
        if keyed {
            object.push((named(key_text(agg, buckets, bucket, place)), Out::Object(fields)));
        } else {
            list.push(Out::Object(fields));
        }
    }
    let shown = if keyed { Out::Object(object) } else { Out::List(list) };
    out.push((plain("buckets"), shown));
    if let (Kind::AutoDateHistogram(_), Some(Key::Bytes(name))) = (&agg.kind, &buckets.after) {
        let name = String::from_utf8_lossy(name).into_owned();
        out.push((plain("interval"), Out::Text(name)));
    }
    kind
}

fn composite_key(composite: &super::spec::Composite, buckets: &Buckets, key: &Key) -> Out {
    let Key::List(parts) = key else { return Out::Null };
    let parts = composite.sources.iter().zip(parts.iter()).enumerate();
    let parts = parts.map(|(at, (source, part))| {
        let format = buckets.formats.get(at).cloned().unwrap_or_default();
        (named(source.name.clone()), key_shown(part, &format))
    });
    Out::Object(parts.collect())
}

fn one_bucket(
    agg: &Agg,
    buckets: &Buckets,
    bucket: &Bucket,
    format: &Format,
    keyed: bool,
    out: &mut Fields,
) {
    let count = (plain("doc_count"), Out::Unsigned(bucket.count));
    match &agg.kind {
        Kind::Filters(filters) => {
            if filters.named && !keyed {
                let name = key_text(agg, buckets, bucket, 0);
                out.push((plain("key"), Out::Text(name)));
            }
            out.push(count);
        }
        Kind::Adjacency { .. } => {
            out.push((plain("key"), Out::Text(key_text(agg, buckets, bucket, 0))));
            out.push(count);
        }
        Kind::Range(_) | Kind::GeoDistance(_) => {
            if !keyed {
                out.push((plain("key"), Out::Text(key_text(agg, buckets, bucket, 0))));
            }
            let place = bucket.key.number().unwrap_or(0.0) as usize;
            if let Some((_, from, to)) = buckets.ranges.get(place) {
                for (name, end) in [("from", *from), ("to", *to)] {
                    if end.is_finite() {
                        out.push((plain(name), Out::Double(end)));
                        if !format.is_raw() {
                            let text = Out::Text(format.double(end));
                            out.push((named(format!("{name}_as_string")), text));
                        }
                    }
                }
            }
            out.push(count);
        }
        Kind::IpRange(range) => {
            if !keyed {
                out.push((plain("key"), Out::Text(key_text(agg, buckets, bucket, 0))));
            }
            let place = bucket.key.number().unwrap_or(0.0) as usize;
            if let Some(one) = range.ranges.get(place) {
                for (name, end) in [("from", one.from), ("to", one.to)] {
                    if let Some(end) = end {
                        out.push((plain(name), Out::Text(ip_text(&end))));
                    }
                }
            }
            out.push(count);
        }
        Kind::IpPrefix(prefix) => {
            let mut text = key_text(agg, buckets, bucket, 0);
            if prefix.append_length {
                text.push_str(&format!("/{}", prefix.length));
            }
            if !keyed {
                out.push((plain("key"), Out::Text(text)));
            }
            out.push((plain("is_ipv6"), Out::Bool(prefix.is_ipv6)));
            out.push(count);
            out.push((plain("prefix_length"), Out::Long(i64::from(prefix.length))));
            if !prefix.is_ipv6 {
                let bits = u32::from(prefix.length);
                let mask = if bits == 0 { 0 } else { u32::MAX << (32 - bits) };
                let text = std::net::Ipv4Addr::from(mask).to_string();
                out.push((plain("netmask"), Out::Text(text)));
            }
        }
        Kind::GeoGrid(_) => {
            out.push((plain("key"), Out::Text(key_text(agg, buckets, bucket, 0))));
            out.push(count);
        }
        Kind::Composite(composite) => {
            out.push((plain("key"), composite_key(composite, buckets, &bucket.key)));
            out.push(count);
        }
        Kind::MultiTerms(terms) => {
            if let Key::List(parts) = &bucket.key {
                let parts = parts.iter().enumerate().map(|(at, part)| {
                    let format = buckets.formats.get(at).cloned().unwrap_or_default();
                    key_shown(part, &format)
                });
                out.push((plain("key"), Out::List(parts.collect())));
            }
            let text = key_text(agg, buckets, bucket, 0);
            out.push((plain("key_as_string"), Out::Text(text)));
            out.push(count);
            if terms.show_error {
                out.push((plain("doc_count_error_upper_bound"), Out::Long(bucket.error)));
            }
        }
        Kind::VariableWidth { .. } => {
            for (name, value) in [
                ("min", bucket.extra.0),
                ("key", bucket.key.number().unwrap_or(f64::NAN)),
                ("max", bucket.extra.1),
            ] {
                shown(name, value, format, out);
            }
            out.push(count);
        }
        kind => {
            let dates = matches!(kind, Kind::DateHistogram(_) | Kind::AutoDateHistogram(_));
            let (key, text) = match &bucket.key {
                Key::Long(value) => (Out::Long(*value), format.long(*value)),
                Key::Unsigned(value) => (Out::Unsigned(*value), value.to_string()),
                Key::Double(value) => (Out::Double(*value), format.double(*value)),
                Key::Bytes(bytes) => (Out::Text(format.bytes(bytes)), String::new()),
                Key::Null | Key::List(_) => (Out::Null, String::new()),
            };
            let text = (!format.is_raw() && !matches!(bucket.key, Key::Bytes(_)))
                .then_some((plain("key_as_string"), Out::Text(text)));
            if dates {
                out.extend(text);
                out.push((plain("key"), key));
            } else {
                out.push((plain("key"), key));
                out.extend(text);
            }
            out.push(count);
            match kind {
                Kind::Terms(terms) if terms.show_error => {
                    out.push((plain("doc_count_error_upper_bound"), Out::Long(bucket.error)));
                }
                Kind::Significant(_) => {
                    out.push((plain("score"), Out::Double(bucket.extra.0)));
                    out.push((plain("bg_count"), Out::Unsigned(bucket.background)));
                }
                _ => {}
            }
        }
    }
}
