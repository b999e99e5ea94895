//! Suggestions of a search: each shard's own, joined; completions with their documents.

use search::request::SearchRequest;
use search::result::Hit;
use search::suggest::{Entry, merge};
use segment::View;

use super::failure;
use crate::error::{Error, Result};

/// The answer to one suggestion.
#[derive(Clone, Debug)]
pub struct Suggested {
    /// Its name.
    pub name: String,
    /// `term`, `phrase` or `completion`.
    pub kind: &'static str,
    /// The parts of the text, with their options.
    pub entries: Vec<Entry>,
    /// The documents of the options, parallel to them (`completion`).
    pub hits: Vec<Vec<Hit>>,
}

/// What the shards say, one suggestion after the other; a shard that fails is told to `fail`.
pub(super) fn gather(
    request: &SearchRequest,
    shards: &[(u32, &View, &[search::suggest::Bound])],
    fail: &mut dyn FnMut(u32, Error),
) -> Vec<Vec<Entry>> {
    let mut merged = Vec::with_capacity(request.suggest.len());
    for (at, suggestion) in request.suggest.iter().enumerate() {
        let mut found = Vec::with_capacity(shards.len());
        for (target, view, bound) in shards {
            match bound.get(at).map(|bound| bound.run(view, *target)) {
                Some(Ok(entries)) => found.push(entries),
                Some(Err(error)) => fail(*target, failure::of_search(error)),
                None => {}
            }
        }
        merged.push(merge(suggestion, found));
    }
    merged
}

/// The documents of completions.
pub(super) fn hits(
    entries: &[Entry],
    fetch: &mut dyn FnMut(u32, &search::result::Ranked) -> Result<Hit>,
) -> Result<Vec<Vec<Hit>>> {
    let of = |entry: &Entry, fetch: &mut dyn FnMut(u32, &search::result::Ranked) -> Result<Hit>| {
        let found = entry.options.iter().filter_map(|offer| offer.found.as_ref());
        found.map(|(target, ranked)| fetch(*target, ranked)).collect::<Result<Vec<_>>>()
    };
    entries.iter().map(|entry| of(entry, fetch)).collect()
}
