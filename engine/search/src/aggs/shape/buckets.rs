//! Buckets in the shape in which they are shown, one after the other.

use super::{Fields, Name, Out, all, key_shown, key_text, named, plain, shown, term};
use crate::aggs::format::{Format, ip_text};
use crate::aggs::meter::Meter;
use crate::aggs::partial::{Bucket, Buckets, Key, KeyKind};
use crate::aggs::spec::{Agg, Composite, Kind};

/// Buckets being shown, one after the other.
pub(super) struct Showing<'a> {
    agg: &'a Agg,
    buckets: &'a Buckets,
    format: Format,
    is_keyed: bool,
    /// What stands before the buckets.
    out: Fields,
    list: Vec<Out>,
    object: Fields,
}

impl<'a> Showing<'a> {
    /// Nothing yet but what stands before the buckets.
    pub(super) fn begin(agg: &'a Agg, buckets: &'a Buckets) -> Self {
        let (mut out, mut is_keyed) = (Fields::new(), false);
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
            Kind::Histogram(histogram) => is_keyed = histogram.keyed,
            Kind::DateHistogram(histogram) => is_keyed = histogram.keyed,
            Kind::Range(range) => is_keyed = range.keyed,
            Kind::IpRange(range) => is_keyed = range.keyed,
            Kind::IpPrefix(prefix) => is_keyed = prefix.keyed,
            Kind::GeoDistance(distance) => is_keyed = distance.keyed,
            Kind::Filters(filters) => is_keyed = filters.keyed,
            _ => {}
        }
        let format = buckets.formats.first().cloned().unwrap_or_default();
        let list = Vec::with_capacity(buckets.list.len());
        Self { agg, buckets, format, is_keyed, out, list, object: Fields::new() }
    }

    /// Shows the next bucket.
    pub(super) fn bucket(&mut self, place: usize, meter: &Meter<'_>) {
        let Self { agg, buckets, .. } = *self;
        let bucket = &buckets.list[place];
        let mut fields = Fields::new();
        one_bucket(agg, buckets, bucket, &self.format, self.is_keyed, &mut fields);
        meter.made(&fields);
        fields.extend(all(&agg.subs, bucket, meter));
        if self.is_keyed {
            let key = key_text(agg, buckets, bucket, place);
            meter.takes(size_of::<(Name, Out)>() + key.len());
            self.object.push((named(key), Out::Object(fields)));
        } else {
            self.list.push(Out::Object(fields));
        }
    }

    /// Their type, and all of it.
    pub(super) fn end(self) -> (&'static str, Fields) {
        let Self { agg, buckets, is_keyed, mut out, list, object, .. } = self;
        let shown = if is_keyed { Out::Object(object) } else { Out::List(list) };
        out.push((plain("buckets"), shown));
        if let (Kind::AutoDateHistogram(_), Some(Key::Bytes(name))) = (&agg.kind, &buckets.after) {
            let name = String::from_utf8_lossy(name).into_owned();
            out.push((plain("interval"), Out::Text(name)));
        }
        (type_of(agg, buckets), out)
    }
}

/// The type of buckets.
fn type_of(agg: &Agg, buckets: &Buckets) -> &'static str {
    match (&agg.kind, buckets.kind) {
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
    }
}

fn composite_key(composite: &Composite, buckets: &Buckets, key: &Key) -> Out {
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
                Key::Bytes(bytes) => (term(bytes, format), String::new()),
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
