//! What hits take in memory while they wait for the client, piece by piece as the allocator gives it.
//!
//! Always true
//! 1. What is told is never less than what a hit owns on the heap, and what a list of hits keeps for
//!    it: a constant in place of either was off by 3 where hits were short ones of many buckets.
//! 2. Lists of hits that are paid for by this are made with room for no more than they will hold.

use json::Value;
use search::result::{Explanation, Hit, Key, SearchResult};

/// What the allocator takes for a piece beside its bytes: its head, and rounding up.
const PIECE_BYTES: usize = 24;
/// What shared bytes take beside themselves: counts, and the list that owns them.
const SHARED_BYTES: usize = 64;

/// Bytes of a hit's place in a list, which it takes whatever it owns.
pub(super) const HIT_BYTES: usize = size_of::<Hit>();

/// Bytes that a hit takes, its place in a list with them: never less than [`HIT_BYTES`].
pub(super) fn hit_bytes(hit: &Hit) -> usize {
    let inner = hit.inner_hits.iter().map(|(_, found)| SHARED_BYTES + result(found));
    let place = hit.place.iter().map(|(shard, node)| text(shard) + text(node));
    HIT_BYTES
        + text(&hit.index)
        + hit.id.as_ref().map_or(0, text)
        + hit.routing.as_ref().map_or(0, text)
        + list(&hit.ignored, text)
        + hit.source.as_ref().map_or(0, |source| SHARED_BYTES + PIECE_BYTES + source.len())
        + list(&hit.fields, |(name, values)| text(name) + list(values, text))
        + list(&hit.ignored_values, |(name, values)| text(name) + list(values, text))
        + list(&hit.highlight, |(name, fragments)| text(name) + list(fragments, text))
        + hit.nested.as_ref().map_or(0, value)
        + piece(hit.inner_hits.capacity() * size_of::<(String, SearchResult)>())
        + inner.sum::<usize>()
        + list(&hit.matched_queries, text)
        + piece(hit.matched_scores.capacity() * size_of::<f32>())
        + place.sum::<usize>()
        + list(&hit.sort, key)
        + hit.explanation.as_ref().map_or(0, explanation)
}

fn result(found: &SearchResult) -> usize {
    let spare = found.hits.capacity() - found.hits.len();
    PIECE_BYTES + spare * size_of::<Hit>() + found.hits.iter().map(hit_bytes).sum::<usize>()
}

fn explanation(why: &Explanation) -> usize {
    text(&why.description) + list(&why.details, explanation)
}

fn key(key: &Key) -> usize {
    match key {
        Key::Term(bytes) => piece(bytes.len()),
        Key::Text(words) => text(words),
        Key::Null
        | Key::Long(_)
        | Key::Unsigned(_)
        | Key::Double(_)
        | Key::Float(_)
        | Key::Score(_) => 0,
    }
}

/// What a JSON value owns. Those of hits are a few levels deep: places of nested objects.
fn value(of: &Value) -> usize {
    match of {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(number) => PIECE_BYTES + number.text().len(),
        Value::String(words) => text(words),
        Value::Array(values) => list(values, value),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| {
                // The member, and its entry in the index of names.
                2 * (PIECE_BYTES + name.len() + size_of::<Value>()) + value(member)
            })
            .sum(),
    }
}

/// What a list and its elements own.
fn list<T>(of: &Vec<T>, each: impl Fn(&T) -> usize) -> usize {
    piece(of.capacity() * size_of::<T>()) + of.iter().map(each).sum::<usize>()
}

fn text(of: &String) -> usize {
    piece(of.capacity())
}

fn piece(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { PIECE_BYTES + bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A constant of 512 bytes for a hit let `top_hits` of 20,000 buckets take 193 MiB of 128.
    #[test]
    fn a_hit_counts_for_no_less_than_what_it_owns() {
        let empty = Hit::default();
        assert_eq!(hit_bytes(&empty), size_of::<Hit>());
        let words = |count: usize| "x".repeat(count);
        let mut hit = Hit { index: words(100), id: Some(words(200)), ..Hit::default() };
        hit.source = Some(env::Bytes::from(vec![b'x'; 10_000]));
        hit.sort = vec![Key::Term(vec![b'x'; 300].into()), Key::Long(1)];
        hit.fields = vec![(words(400), vec![words(500), words(600)])];
        hit.highlight = vec![(words(700), vec![words(800)])];
        let texts = 100 + 200 + 10_000 + 300 + 400 + 500 + 600 + 700 + 800;
        let lists = 2 * size_of::<Key>() + 2 * size_of::<(String, Vec<String>)>();
        let owned = size_of::<Hit>() + texts + lists + 3 * size_of::<String>();
        assert!(hit_bytes(&hit) >= owned, "{} of {owned}", hit_bytes(&hit));
        assert!(hit_bytes(&hit) < owned + 1_000);
    }

    #[test]
    fn hits_inside_and_the_room_kept_for_them_count() {
        let mut inside = SearchResult { hits: Vec::with_capacity(10), ..SearchResult::default() };
        inside.hits.push(Hit { index: "x".repeat(5_000), ..Hit::default() });
        let outer = Hit { inner_hits: vec![("inside".into(), inside)], ..Hit::default() };
        assert!(hit_bytes(&outer) >= 11 * size_of::<Hit>() + 5_000);
    }

    #[test]
    fn why_a_score_came_about_counts_with_all_its_parts() {
        let leaf = Explanation {
            value: search::result::Number::Count(1),
            description: "x".repeat(1_000),
            details: Vec::new(),
        };
        let why = Explanation { details: vec![leaf.clone(), leaf.clone()], ..leaf };
        let hit = Hit { explanation: Some(why), ..Hit::default() };
        assert!(hit_bytes(&hit) >= 3_000 + 2 * size_of::<Explanation>());
    }
}
