//! How frequent the values of `significant_terms` are elsewhere: in the whole shard, or among the
//! documents of `background_filter`.
//!
//! Asked once for each shard, after its segments are merged, of each value found: so the count is
//! the shard's, whatever segments the value was met in.

use segment::bkd::Bounds;
use segment::{BlockCache, Missing};

use super::bound::{BoundAgg, What};
use super::partial::{Buckets, Key, Partial};
use super::source::{Column, Source};
use super::spec::{Agg, Kind};
use crate::iter::build::{self, Context};
use crate::iter::{Bits, Turn, WINDOW, bits, window_of};
use crate::plan::weigh::{Node, Plan};

/// Fills in counts elsewhere, wherever significance is asked for below `agg`, which stands at
/// `place` of the request.
pub fn fill(agg: &Agg, place: usize, plan: &Plan, partial: &mut Partial) {
    let Some(bound) = plan.bound.aggs.as_ref().and_then(|aggs| aggs.aggs.get(place)) else {
        return;
    };
    if has_any(agg) {
        walk(bound, plan, partial);
    }
}

fn has_any(agg: &Agg) -> bool {
    matches!(agg.kind, Kind::Significant(_)) || agg.subs.aggs.iter().any(has_any)
}

fn walk(bound: &BoundAgg, plan: &Plan, partial: &mut Partial) {
    match partial {
        Partial::Single(bucket) => {
            for (bound, partial) in bound.subs.iter().zip(&mut bucket.subs) {
                walk(bound, plan, partial);
            }
        }
        Partial::Buckets(buckets) => {
            if matches!(bound.spec.kind, Kind::Significant(_)) {
                count(bound, plan, buckets);
            }
            for bucket in &mut buckets.list {
                for (bound, partial) in bound.subs.iter().zip(&mut bucket.subs) {
                    walk(bound, plan, partial);
                }
            }
        }
        _ => {}
    }
}

fn count(bound: &BoundAgg, plan: &Plan, buckets: &mut Buckets) {
    let filter = match &bound.background {
        Some(number) => plan.aggs.as_ref().map(|aggs| &aggs.filters[*number]),
        None => None,
    };
    let filtered: Option<Vec<Vec<Bits>>> = filter.map(|node| {
        (0..plan.view.segments.len()).map(|number| matches(plan, node, number)).collect()
    });
    let all = match &filtered {
        Some(segments) => {
            segments.iter().flatten().map(|window| u64::from(bits::count(window))).sum()
        }
        // How many objects inside of others there are is not told to whom something is hidden.
        None if plan.bound.order.veil.is_some() => u64::from(plan.view.doc_count),
        // As Lucene counts: deleted documents and objects inside of others, too.
        None => u64::from(plan.view.max_doc()),
    };
    buckets.totals.1 += all;
    let mut cache = BlockCache::new(1 << 20);
    for bucket in &mut buckets.list {
        bucket.background = match &bound.what {
            What::Terms { source, .. } => {
                of_value(source, &bucket.key, plan, filtered.as_deref(), &mut cache)
            }
            What::Words { field, .. } => match &bucket.key {
                Key::Bytes(word) => of_word(field.no, word, plan, filtered.as_deref(), &mut cache),
                _ => 0,
            },
            _ => 0,
        };
    }
}

/// All matches of a filter in a segment, deleted documents left out, by window.
fn matches(plan: &Plan, node: &Node, number: usize) -> Vec<Bits> {
    let at = &plan.view.segments[number];
    let context = Context { segment: &at.segment, number };
    let mut filter = build::any_filter(node, context);
    let doc_count = at.segment.doc_count();
    let mut windows = vec![bits::NONE; doc_count.div_ceil(WINDOW) as usize];
    let mut missing = Missing::new();
    let mut pos = 0;
    loop {
        let next = filter.next(pos);
        if next >= doc_count {
            break;
        }
        let window = window_of(next);
        let resident = at.segment.file().is_resident();
        let ready = filter.prepare(window, &mut Turn::new(&mut missing, u32::MAX, resident));
        if !ready {
            missing.fetch();
            continue;
        }
        filter.fill(window, &mut windows[window as usize]);
        if let Some(live) = &at.live {
            let words = &live.bits().words()[(window * WINDOW / 64) as usize..];
            for (word, alive) in windows[window as usize].iter_mut().zip(words) {
                *word &= alive;
            }
        }
        pos = (window + 1).saturating_mul(WINDOW);
    }
    windows
}

fn shared(found: &[Bits], filtered: &[Bits]) -> u64 {
    let pairs = found.iter().zip(filtered);
    let words = pairs.flat_map(|(a, b)| a.iter().zip(b.iter()));
    words.map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

fn of_word(
    field: base::FieldNo,
    word: &[u8],
    plan: &Plan,
    filtered: Option<&[Vec<Bits>]>,
    cache: &mut BlockCache,
) -> u64 {
    let mut infos = Vec::with_capacity(plan.view.segments.len());
    let mut missing = Missing::new();
    for at in &plan.view.segments {
        let terms = at.segment.terms(field);
        infos.push(terms.and_then(|terms| {
            if !at.segment.file().is_resident() {
                terms.need(word, &mut missing).ok()?;
                missing.fetch();
            }
            terms.find(word, cache).ok().flatten()
        }));
    }
    let Some(filtered) = filtered else {
        return infos.iter().flatten().map(|info| u64::from(info.doc_freq)).sum();
    };
    let node = Node::Term { field, term: word.into(), infos, weight: None };
    (0..plan.view.segments.len())
        .map(|number| shared(&matches(plan, &node, number), &filtered[number]))
        .sum()
}

fn of_value(
    source: &Source,
    key: &Key,
    plan: &Plan,
    filtered: Option<&[Vec<Bits>]>,
    cache: &mut BlockCache,
) -> u64 {
    match (&source.column, key) {
        (Column::Ordinals(field), Key::Bytes(word)) => of_word(*field, word, plan, filtered, cache),
        (Column::Constant(_), _) => match filtered {
            Some(segments) => {
                segments.iter().flatten().map(|window| u64::from(bits::count(window))).sum()
            }
            None => u64::from(plan.view.doc_count),
        },
        (Column::Numeric(field), key) => {
            let raw = match key {
                Key::Long(value) => *value,
                Key::Unsigned(value) => (*value ^ (1 << 63)) as i64,
                _ => return 0,
            };
            let numbers = crate::plan::bound::Numbers {
                field: *field,
                access: crate::plan::bound::Access { index: true, column: true },
                ranges: vec![(raw, raw)],
            };
            if filtered.is_none() {
                let points = plan.view.segments.iter().filter_map(|at| at.segment.points(*field));
                let counts = points.map(|points| points.count(&Bounds::longs(raw..=raw)));
                return counts.map(|count| count.unwrap_or(0)).sum();
            }
            let node = Node::Numbers { numbers: std::sync::Arc::new(numbers), score: 1.0 };
            let filtered = filtered.unwrap_or_default();
            (0..plan.view.segments.len())
                .map(|number| shared(&matches(plan, &node, number), &filtered[number]))
                .sum()
        }
        _ => 0,
    }
}
