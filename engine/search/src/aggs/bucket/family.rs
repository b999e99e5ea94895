//! Objects below documents, and documents above objects.
//!
//! Objects stand right before the document they belong to (D5); those of an object inside another
//! right before that one. So what belongs to a document lies between it and the document of its
//! level before it.

use std::ops::Range;

use base::DocId;
use base::hash::Map;
use segment::Parents;

use super::matcher::Matcher;
use super::single::Choose;
use crate::aggs::collect::{Around, Batch};
use crate::iter::Turn;

/// Objects of a path below the documents at hand.
pub struct Below {
    parents: Parents,
    /// Objects of the path.
    objects: Matcher,
    /// The level at hand, where that is not the top.
    level: Option<Matcher>,
}

impl Below {
    /// From the level at hand to objects of a path.
    pub fn new(parents: Parents, objects: Matcher, level: Option<Matcher>) -> Self {
        Self { parents, objects, level }
    }
}

impl Choose for Below {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> Option<Range<u32>> {
        let before = self.parents.before(DocId(docs.start));
        let start = before.map_or(0, |doc| doc.get() + 1).min(docs.start);
        let wide = start..docs.end;
        let ready = self.objects.prepare(&wide, turn);
        let level = self.level.as_mut().is_none_or(|level| level.prepare(&wide, turn));
        (ready && level).then_some(wide)
    }

    fn choose(
        &mut self,
        batch: Batch<'_>,
        _around: &mut Around<'_>,
        docs: &mut Vec<u32>,
        owners: &mut Vec<u32>,
    ) {
        let mut pairs = Vec::new();
        for (at, doc) in batch.docs.iter().enumerate() {
            let mut start = self.parents.before(DocId(*doc)).map_or(0, |before| before.get() + 1);
            if let Some(level) = &self.level {
                let before = (start..*doc).rev().find(|other| level.matches(*other));
                start = before.map_or(start, |before| before + 1);
            }
            let owner = batch.owner(at);
            pairs.extend(
                (start..*doc)
                    .filter(|child| self.objects.matches(*child))
                    .map(|child| (child, owner)),
            );
        }
        // A document that stands several times gives its objects several times: in order again.
        pairs.sort_by_key(|(child, _)| *child);
        for (child, owner) in pairs {
            docs.push(child);
            owners.push(owner);
        }
    }
}

/// Documents above the objects at hand.
pub struct Above {
    parents: Parents,
    /// The level wanted, where that is not the top.
    level: Option<Matcher>,
    /// The last document that each owner has.
    last: Map<u32, u32>,
}

impl Above {
    /// From the objects at hand to a level above.
    pub fn new(parents: Parents, level: Option<Matcher>) -> Self {
        Self { parents, level, last: Map::default() }
    }
}

impl Choose for Above {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> Option<Range<u32>> {
        if docs.is_empty() {
            return Some(docs.clone());
        }
        let end = self.parents.of(DocId(docs.end - 1)).map_or(docs.end, |doc| doc.get() + 1);
        let wide = docs.start..end.max(docs.end);
        let level = self.level.as_mut().is_none_or(|level| level.prepare(&wide, turn));
        level.then_some(wide)
    }

    fn choose(
        &mut self,
        batch: Batch<'_>,
        _around: &mut Around<'_>,
        docs: &mut Vec<u32>,
        owners: &mut Vec<u32>,
    ) {
        for (at, doc) in batch.docs.iter().enumerate() {
            let Some(top) = self.parents.of(DocId(*doc)) else { continue };
            let above = match &self.level {
                None => Some(top.get()),
                Some(level) => (*doc..=top.get()).find(|other| level.matches(*other)),
            };
            let Some(above) = above else { continue };
            let owner = batch.owner(at);
            if self.last.insert(owner, above) != Some(above) {
                docs.push(above);
                owners.push(owner);
            }
        }
    }
}
