//! The order of composite keys.

use std::cmp::Ordering;

use super::bucket::several::compare as compare_parts;
use super::partial::Key;
use super::spec::Composite;

/// Directions of the parts, and where documents without a value stand.
pub fn directions(composite: &Composite) -> (Vec<bool>, Vec<bool>) {
    let sources = &composite.sources;
    let descending = sources.iter().map(|source| source.descending).collect();
    let last = sources
        .iter()
        .map(|source| match source.missing_first {
            Some(first) => !first,
            // As the order says: none counts as the least.
            None => source.descending,
        })
        .collect();
    (descending, last)
}

/// Two keys in the order of the pages.
pub fn compare(composite: &Composite, a: &Key, b: &Key) -> Ordering {
    let (descending, last) = directions(composite);
    compare_parts(&descending, &last, a, b)
}
