//! Checks what queries believe without seeing: that bounds hold, and that blocks end where they say.

use base::DocId;

use super::block::BLOCK;
use super::{Impacts, Postings, Probe};

/// Whether each document of a term is bounded by its block and its group, and found in its block.
/// `norm` answers the length byte of a document as scores see it.
pub(crate) fn bounds_hold(postings: &Postings, norm: impl Fn(DocId) -> u8) -> bool {
    let (mut docs, mut freqs) = ([0; BLOCK], [0; BLOCK]);
    for block in 0..postings.block_count() {
        let count = postings.docs_and_freqs(block, &mut docs, &mut freqs);
        let bounds =
            [postings.block_impacts(block), postings.group_impacts(postings.group_of(block))];
        for (at, (doc, freq)) in docs.iter().zip(freqs).take(count).enumerate() {
            let norm = norm(DocId(*doc));
            let is_bounded = bounds.iter().all(|bound| bounds_one(bound, freq, norm));
            let is_found = match postings.probe(block, DocId(*doc)) {
                Probe::Unknown => true,
                found => found == Probe::At(at),
            };
            if !is_bounded || !is_found || postings.block_of(0, DocId(*doc)) != block {
                return false;
            }
        }
    }
    true
}

/// Whether some pair is at least as good.
fn bounds_one(bound: &Impacts, freq: u32, norm: u8) -> bool {
    bound.iter().any(|(best, shortest)| best >= freq && shortest <= norm)
}
