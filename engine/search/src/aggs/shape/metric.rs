//! Metrics in the shape in which Elasticsearch shows them.

use super::{Fields, Out, named, number, plain, shown};
use crate::aggs::format::Format;
use crate::aggs::meter::{Meter, named_bytes};
use crate::aggs::metric::digest::Digest;
use crate::aggs::metric::matrix::Matrix;
use crate::aggs::metric::moments::Moments;
use crate::aggs::partial::Partial;
use crate::aggs::spec::{Method, Metric, TTest, TTestKind};
use crate::aggs::student;

/// Shows a metric; gives its type.
pub fn of_metric(metric: &Metric, partial: &Partial, out: &mut Fields) -> &'static str {
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
                    let digest = digest.settled();
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
                    let digest = digest.settled();
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
            shown("value", digest.median_absolute_deviation(), format, out);
        }
        (Metric::Boxplot { .. }, Partial::Digest(digest, format)) => {
            let values = boxplot(digest);
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

/// A place.
pub fn point(lat: f64, lon: f64) -> Out {
    Out::Object(vec![(plain("lat"), Out::Double(lat)), (plain("lon"), Out::Double(lon))])
}

/// Count, ends, mean and sum.
pub fn stats(moments: &Moments, format: &Format, out: &mut Fields) {
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
pub fn formatted(format: &Format, value: f64) -> Out {
    match format {
        Format::Boolean => Out::Bool(value != 0.0),
        format => Out::Text(format.double(value)),
    }
}

/// Squares and deviations.
pub fn extended(moments: &Moments, format: &Format, sigma: f64, out: &mut Fields) {
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
    let shown =
        bounds.map(|(name, value)| (plain(name), if any { Out::Double(value) } else { Out::Null }));
    out.push((plain("std_deviation_bounds"), Out::Object(shown.to_vec())));
    if any && !format.is_raw() {
        for (name, value) in values {
            out.push((named(format!("{name}_as_string")), formatted(format, value)));
        }
        let texts = bounds.map(|(name, value)| (plain(name), formatted(format, value)));
        out.push((plain("std_deviation_bounds_as_string"), Out::Object(texts.to_vec())));
    }
}

/// Percentiles by key or as a list.
pub fn percents(values: &[(f64, f64)], keyed: bool, format: &Format) -> Out {
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
        let mut fields = vec![(plain("key"), Out::Double(*key)), (plain("value"), number(*value))];
        if has_text(*value) {
            fields.push((plain("value_as_string"), text(*value)));
        }
        Out::Object(fields)
    });
    Out::List(list.collect())
}

/// Ends, quartiles and whiskers.
pub fn boxplot(digest: &Digest) -> [f64; 7] {
    let digest = digest.settled();
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

/// Places of `names` in the order in which Java's `HashMap` walks them, put in one after the other:
/// Elasticsearch lists the fields of a matrix so.
fn in_java_order(names: &[String]) -> Vec<usize> {
    let mut size = 16u32;
    while names.len() as u32 > size / 4 * 3 {
        size *= 2;
    }
    let slot = |name: &str| {
        let hash = name
            .encode_utf16()
            .fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
        (hash ^ hash >> 16) & (size - 1)
    };
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|at| slot(&names[*at]));
    order
}

/// Moments of each field, each paid before it is made: it names all others twice.
pub fn matrix_fields(fields: &[String], matrix: &Matrix, meter: &Meter<'_>) -> Out {
    let order = in_java_order(fields);
    let names: usize = fields.iter().map(|name| named_bytes(name)).sum();
    let wanted = order.iter().take_while(|_| {
        meter.takes(2 * names);
        meter.works(2 * fields.len());
        !meter.is_over()
    });
    let list = wanted.map(|&at| {
        let name = &fields[at];
        let pairs = |of: &dyn Fn(usize) -> f64| {
            let pairs = order.iter().map(|&b| (named(fields[b].clone()), Out::Double(of(b))));
            Out::Object(pairs.collect())
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
    let one_tail = student::tail(t.abs(), degrees);
    one_tail * f64::from(test.tails)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_matrix_stand_as_java_walks_a_map() {
        let names: Vec<String> = ["val1", "val2", "val3", "vals"].map(str::to_owned).to_vec();
        // As JDK 25 prints the maps' keys.
        assert_eq!(in_java_order(&[names[0].clone(), names[3].clone()]), [1, 0]);
        assert_eq!(in_java_order(&names), [2, 3, 1, 0]);
        let many: Vec<String> = (0..14).map(|at| format!("field_{at}")).collect();
        assert_eq!(in_java_order(&many), [0, 3, 10, 4, 11, 1, 12, 2, 13, 7, 8, 5, 6, 9]);
    }
}
