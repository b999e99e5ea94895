//! Merges the postings of one term in one segment: they are decoded, renumbered, and written again,
//! because dead ones leave gaps. Documents keep their order within an input (`docmap`).

use base::DocId;

use super::{END, Need, Postings};
use crate::docmap::InputMap;
use crate::terms::Posting;

/// The documents of one term in one input.
pub(crate) struct MergedPart<'a> {
    postings: Postings,
    map: &'a InputMap,
    need: Need,
}

impl<'a> MergedPart<'a> {
    /// The documents of `postings`, renumbered by `map`.
    pub(crate) fn new(postings: Postings, map: &'a InputMap, need: Need) -> Self {
        Self { postings, map, need }
    }

    /// The next document that is kept; its positions go to `positions`.
    pub(crate) fn next(&mut self, positions: &mut Vec<u32>) -> Option<(DocId, u32)> {
        loop {
            let doc = self.postings.next();
            if doc == END {
                return None;
            }
            let Some(new) = self.map.new_doc(doc) else { continue };
            let freq = if self.need == Need::Docs { 1 } else { self.postings.freq() };
            if self.need == Need::Positions {
                self.postings.positions(positions);
                if positions.len() != freq as usize {
                    // Damaged: the fault is recorded, and ends the merge at the next term.
                    return None;
                }
            }
            return Some((new, freq));
        }
    }
}

/// A posting with what was read.
pub(crate) fn posting((doc, freq): (DocId, u32), positions: &[u32]) -> Posting<'_> {
    Posting { doc, freq, positions }
}
