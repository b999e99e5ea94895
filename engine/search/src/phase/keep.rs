//! What of a window stays: documents of the part, living ones, those with score enough.

use super::*;

/// A filter of so many times fewer documents than there are leaves few to be scored.
const FEW: u64 = 8;

/// Optional terms beside filters that many documents pass: they are counted by windows of bits.
pub(super) fn is_wide(node: &Node, context: Context<'_>) -> bool {
    let Node::Bool { must, filter, should, must_not, minimum: 0 } = node else { return false };
    let ([Node::Bool { must: inner, filter: beside, should: some, .. }], true, true) =
        (must.as_slice(), should.is_empty(), must_not.is_empty())
    else {
        return false;
    };
    let doc_count = u64::from(context.segment.doc_count());
    inner.is_empty()
        && beside.is_empty()
        && some.len() > 1
        && some.iter().all(counts_fast)
        && filter.iter().all(|node| {
            matches!(node, Node::Numbers { .. } | Node::Kept { .. })
                && build::cost(node, context) > doc_count / FEW
        })
}

/// Clears the bits of documents outside of the part.
pub(crate) fn keep_in_part(found: &mut Bits, window: u32, part: &Part) {
    let base = window * WINDOW;
    let start = part.docs.start.max(base) - base;
    let end = part.docs.end.min(base.saturating_add(WINDOW)).max(base) - base;
    if start > 0 || end < WINDOW {
        bits::keep_range(found, start..end.max(start));
    }
}

/// Clears the bits of deleted documents.
pub(crate) fn keep_alive(plan: &Plan, segment: u32, window: u32, found: &mut Bits) {
    let Some(live) = &plan.view.segments[segment as usize].live else { return };
    let words = &live.bits().words()[(window * WINDOW / 64) as usize..];
    for (word, alive) in found.iter_mut().zip(words) {
        *word &= alive;
    }
}

pub(super) fn drop_below(hits: &mut Hits, least: f32) {
    let mut kept = 0;
    for at in 0..hits.docs.len() {
        hits.docs[kept] = hits.docs[at];
        hits.scores[kept] = hits.scores[at];
        kept += usize::from(hits.scores[at] >= least);
    }
    hits.docs.truncate(kept);
    hits.scores.truncate(kept);
}
