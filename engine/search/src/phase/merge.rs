//! Merging what the slices of all shards found: the page, the total, the best score.
//!
//! Always true: hits come in the request's order; among equals by target, segment, document.

use std::cmp::Ordering;
use std::sync::Arc;

use base::hash::Set;
use base::number::Number;

use crate::request::{self, SearchRequest, SortBy, TrackTotal};
use crate::result::{Key, Merged, Partial, Ranked, Relation, Total, Winner, compare_terms};

/// So many keys of hits are put in order where they are found: about a millisecond.
const KEYS_HERE_MAX: usize = 16 << 10;

/// Is it long work to [`merge`] these, as they are many hits by many keys?
pub fn merges_long(partials: &[(u32, Partial)]) -> bool {
    let keys = |partial: &Partial| {
        partial.hits.len().saturating_mul(partial.hits.first().map_or(0, |hit| hit.keys.len()))
    };
    partials.iter().map(|(_, partial)| keys(partial)).sum::<usize>() > KEYS_HERE_MAX
}

/// Merges what the slices of all shards found. Parts of one target come in the order of its
/// slices; targets are numbered in the order of indices and shards.
pub fn merge(request: &SearchRequest, partials: Vec<(u32, Partial)>) -> Merged {
    let mut merged = Merged::default();
    let (mut count, mut skipped) = (0u64, false);
    let mut all: Vec<Winner> = Vec::new();
    let mut best = f32::NAN;
    let mut early = false;
    for (target, partial) in partials {
        count = count.saturating_add(partial.count);
        skipped |= partial.skipped;
        early |= partial.terminated_early;
        merged.timed_out |= partial.timed_out;
        if let Some(score) = partial.max_score {
            best = best.max(score);
        }
        all.extend(partial.hits.into_iter().map(|ranked| Winner { target, ranked }));
    }
    let by_score = request.ranks_by_score();
    all.sort_by(|a, b| compare(request, by_score, false, a, b));
    if by_score && let Some(first) = all.first() {
        best = first.ranked.score;
    }
    merged.max_score = Some(best).filter(|best| !best.is_nan() && request.size > 0);
    if !by_score && !request.track_scores {
        merged.max_score = None;
    }
    merged.total = total(request.total, count, skipped);
    merged.terminated_early = (request.terminate_after > 0).then_some(early);
    if request.collapse.is_some() {
        keep_first_of_each(&mut all);
    }
    let from = (request.from as usize).min(all.len());
    all.drain(..from);
    all.truncate(request.size as usize);
    merged.winners = all;
    merged
}

/// The best hits by score of one shard's slices, as many as a page or a rescorer needs; they are
/// taken out of the partials.
pub fn best_of_shard(window: usize, partials: &mut [&mut Partial]) -> Vec<Ranked> {
    let mut all: Vec<Ranked> = Vec::new();
    for partial in partials {
        all.append(&mut partial.hits);
    }
    all.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then((a.segment, a.doc).cmp(&(b.segment, b.doc)))
    });
    all.truncate(window);
    all
}

/// One hit for each value: the last key tells it.
fn keep_first_of_each(all: &mut Vec<Winner>) {
    let mut seen: Set<Value> = Set::default();
    all.retain(|winner| {
        seen.insert(match winner.ranked.keys.last() {
            Some(Key::Long(number)) => Value::Number(*number),
            Some(Key::Term(term)) => Value::Term(term.clone()),
            _ => Value::None,
        })
    });
}

#[derive(PartialEq, Eq, Hash)]
enum Value {
    None,
    Number(i64),
    Term(Arc<[u8]>),
}

/// What of a count is told.
fn total(track: TrackTotal, count: u64, skipped: bool) -> Option<Total> {
    match track {
        TrackTotal::No => None,
        TrackTotal::Exact => {
            let relation = if skipped { Relation::Gte } else { Relation::Eq };
            Some(Total { value: count, relation })
        }
        TrackTotal::UpTo(limit) if count > u64::from(limit) => {
            Some(Total { value: u64::from(limit), relation: Relation::Gte })
        }
        TrackTotal::UpTo(_) => Some(Total { value: count, relation: Relation::Eq }),
    }
}

/// Which of two hits comes first. `by_shard`: places in the index count within their shard alone.
pub fn compare(
    request: &SearchRequest,
    by_score: bool,
    by_shard: bool,
    a: &Winner,
    b: &Winner,
) -> Ordering {
    let place = |winner: &Winner| (winner.target, winner.ranked.segment, winner.ranked.doc);
    if by_score {
        return b.ranked.score.total_cmp(&a.ranked.score).then(place(a).cmp(&place(b)));
    }
    for (at, sort) in request.sort.iter().enumerate() {
        let (Some(x), Some(y)) = (a.ranked.keys.get(at), b.ranked.keys.get(at)) else { break };
        let order = match sort.by {
            SortBy::Doc if by_shard => a.target.cmp(&b.target),
            _ => Ordering::Equal,
        };
        let order = order.then_with(|| compare_keys(sort, x, y));
        if order != Ordering::Equal {
            return order;
        }
    }
    place(a).cmp(&place(b))
}

/// Two keys in the order that one sort asks for: a total one, whatever the kinds.
pub fn compare_keys(sort: &request::Sort, a: &Key, b: &Key) -> Ordering {
    let first = sort.missing == request::Missing::First;
    let order = match (a, b) {
        (Key::Null, Key::Null) => return Ordering::Equal,
        // Without a value: at one end in either direction.
        (Key::Null, _) => return if first { Ordering::Less } else { Ordering::Greater },
        (_, Key::Null) => return if first { Ordering::Greater } else { Ordering::Less },
        (Key::Long(a), Key::Long(b)) => a.cmp(b),
        (Key::Term(a), Key::Term(b)) => compare_terms(a, b),
        (Key::Text(a), Key::Text(b)) => a.cmp(b),
        // Indices that map a field differently.
        (a, b) => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.order(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => is_text(a).cmp(&is_text(b)),
        },
    };
    match sort.order {
        request::Order::Ascending => order,
        request::Order::Descending => order.reverse(),
    }
}

fn number(key: &Key) -> Option<Number> {
    match key {
        Key::Long(value) => Some(Number::Whole(i128::from(*value))),
        Key::Unsigned(value) => Some(Number::Whole(i128::from(*value))),
        Key::Double(value) => Some(Number::Real(*value)),
        Key::Float(value) | Key::Score(value) => Some(Number::Real(f64::from(*value))),
        Key::Null | Key::Term(_) | Key::Text(_) => None,
    }
}

fn is_text(key: &Key) -> bool {
    matches!(key, Key::Text(_))
}
