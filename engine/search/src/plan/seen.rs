//! Documents that a caller may see, as bits, and whether a term stands in one of them.
//!
//! Where only some terms of a pattern are taken, or only so many may be, those that hidden documents
//! alone hold must not count: which terms are left out would tell what they are.
//!
//! Always true: a document inside of another has the bit of the one that it belongs to; a deleted one
//! has none.
//!
//! Not here: the terms themselves (`gather`).

use std::sync::Arc;

use base::DocId;
use segment::bytes::bitmap;
use segment::postings::BLOCK;
use segment::{BlockCache, Missing, Need, Postings, Segment, TermInfo, Terms, View, ViewSegment};

use super::bound::Bound;
use super::gather::Gathered;
use super::weigh::{self, Node};
use crate::iter::build::{self, Context};
use crate::iter::{AnyFilter, Bits, Turn, WINDOW, bits};

/// Looking at a term of a dictionary costs about so many documents read in order.
const TERM_WORK: usize = 16;

/// Blocks of postings cost about so many terms of a dictionary.
const BLOCK_TERMS: usize = 2;

/// The documents that may be seen, by segment.
pub(super) struct Seen(Vec<Vec<u64>>);

impl Seen {
    /// Those of one segment, a bit for each document.
    pub fn of(&self, segment: usize) -> &[u64] {
        self.0.get(segment).map_or(&[], Vec::as_slice)
    }
}

/// Gathers the documents that may be seen, in steps.
pub(super) struct Looking {
    bound: Arc<Bound>,
    /// Where they are looked for: who is alive is told there.
    view: Arc<View>,
    node: Option<Node>,
    /// What finds them in the segment at hand.
    filter: Option<AnyFilter>,
    window: u32,
    words: Vec<u64>,
    done: Vec<Vec<u64>>,
}

impl Looking {
    pub fn new(bound: &Arc<Bound>, view: &Arc<View>) -> Self {
        Self {
            bound: Arc::clone(bound),
            view: Arc::clone(view),
            node: None,
            filter: None,
            window: 0,
            words: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Room that the bits take.
    pub fn len_bytes(&self) -> usize {
        self.view.max_doc() as usize / 8
    }

    /// Goes on for about as much work as `left` terms; true when all is gathered. With blocks missing it
    /// waits. Terms of patterns in the rule itself are among those `gathered`.
    pub fn step(
        &mut self,
        gathered: &Gathered,
        cache: &mut BlockCache,
        missing: &mut Missing,
        left: &mut usize,
    ) -> segment::Result<bool> {
        let node = match &self.node {
            Some(node) => node,
            None => match weigh::seen(&self.bound, &self.view, cache, missing, gathered)? {
                Some(node) => self.node.insert(node),
                None => return Ok(false),
            },
        };
        while let Some(at) = self.view.segments.get(self.done.len()) {
            let segment = &at.segment;
            let context = Context { segment, number: self.done.len() };
            let filter = self.filter.get_or_insert_with(|| build::any_filter(node, context));
            let work = u32::try_from(*left * TERM_WORK).unwrap_or(u32::MAX);
            let mut turn = Turn::new(missing, work, segment.file().is_resident());
            while self.window * WINDOW < segment.doc_count() {
                if turn.is_over() || !filter.prepare(self.window, &mut turn) {
                    *left = turn.left() / TERM_WORK;
                    return Ok(false);
                }
                let mut found: Bits = bits::NONE;
                filter.fill(self.window, &mut found);
                add(&mut self.words, &mut found, at);
                turn.spend(64);
                self.window += 1;
            }
            *left = turn.left() / TERM_WORK;
            self.done.push(std::mem::take(&mut self.words));
            self.filter = None;
            self.window = 0;
        }
        Ok(true)
    }

    pub fn finish(self) -> Seen {
        Seen(self.done)
    }
}

/// Appends the living documents of a window, and gives theirs to those inside of them.
fn add(words: &mut Vec<u64>, found: &mut Bits, at: &ViewSegment) {
    let first = words.len();
    if let Some(live) = &at.live {
        let alive = live.bits().words().get(first..).unwrap_or_default();
        for (place, word) in found.iter_mut().enumerate() {
            *word &= alive.get(place).copied().unwrap_or(0);
        }
    }
    words.extend_from_slice(found);
    let Some(parents) = at.segment.parents() else { return };
    for (place, word) in found.iter().enumerate() {
        let mut word = *word;
        while word != 0 {
            let doc = (first + place) as u32 * 64 + word.trailing_zeros();
            word &= word - 1;
            // They stand before it, so their words are here.
            for inside in parents.nested(DocId(doc)) {
                words[inside as usize / 64] |= 1 << (inside % 64);
            }
        }
    }
}

/// A term of which it is to be told whether a document that may be seen holds it.
pub(super) struct Judging {
    /// The term.
    pub info: TermInfo,
    postings: Postings,
    block: u32,
}

impl Judging {
    /// A term of a field of one segment.
    pub fn new(terms: &Terms, info: TermInfo) -> Self {
        Self { info, postings: terms.postings(&info, Need::Docs), block: 0 }
    }

    /// Goes on; `None`: the turn is over, or blocks are missing.
    pub fn step(
        &mut self,
        seen: &[u64],
        segment: &Segment,
        missing: &mut Missing,
        left: &mut usize,
    ) -> segment::Result<Option<bool>> {
        let mut docs = [0; BLOCK];
        while self.block < self.postings.block_count() {
            if *left == 0 {
                return Ok(None);
            }
            *left = left.saturating_sub(BLOCK_TERMS);
            if !segment.file().is_resident() {
                self.postings.need_blocks(self.block..self.block + 1, missing)?;
                if !missing.is_empty() {
                    return Ok(None);
                }
            }
            let count = self.postings.docs(self.block, &mut docs);
            if docs[..count].iter().any(|doc| bitmap::has(seen, *doc)) {
                return Ok(Some(true));
            }
            self.block += 1;
        }
        Ok(Some(false))
    }
}
