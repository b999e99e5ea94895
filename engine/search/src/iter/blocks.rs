//! The documents of one term in blocks of 128: decoded into arrays, or left as bits.
//!
//! Who leads enters a block and reads it whole; who follows looks documents up ([`Blocks::find`]):
//! resident skips name the block; there either one decode and a search among 128, or, where the
//! block lies as bits, a look at one of them.

use std::ops::Range;

use base::DocId;
use segment::Postings;
use segment::postings::{BLOCK, Entered, WORDS, Walk};

use super::{END, Turn};

/// A block and the way to the next.
///
/// A block that is entered is decoded; one that is only looked into may be left as bits.
pub struct Blocks {
    /// The term's postings, read by blocks.
    pub postings: Postings,
    /// Number of blocks.
    pub count: u32,
    /// The block entered; `END` before the first.
    pub block: u32,
    /// Last document that the block may hold.
    last: u32,
    /// Documents of the block; `END` in the places after the last.
    pub docs: [u32; BLOCK],
    /// Number of documents decoded; 0 where the block is left as bits.
    pub len: usize,
    /// Frequencies of block `freqs_of`.
    freqs: [u32; BLOCK],
    /// The block whose frequencies were decoded; `END` before the first.
    freqs_of: u32,
    /// Where in the block the last search ended.
    pub at: usize,
    bits: Left,
}

/// Which of some documents are there.
pub struct Met {
    /// Their places among those asked about.
    pub which: [u8; BLOCK],
    /// Their places in the block; void where these were not asked for.
    pub places: [u8; BLOCK],
    /// Number of those there.
    pub count: usize,
}

impl Default for Met {
    fn default() -> Self {
        Self { which: [0; BLOCK], places: [0; BLOCK], count: 0 }
    }
}

/// A block left as bits.
struct Left {
    /// The document of the first bit.
    first: u32,
    words: [u64; WORDS],
    /// Number of words; 0 where the block is decoded.
    len: usize,
    /// How many bits are set before this word.
    counted: (usize, usize),
}

impl Left {
    /// Is the bit at `place` set?
    #[inline]
    fn has(&self, place: usize) -> bool {
        self.words[place / 64 % WORDS] >> (place % 64) & 1 == 1
    }

    /// How many bits are set before `place`.
    #[inline]
    fn rank(&mut self, place: usize) -> usize {
        let word = place / 64 % WORDS;
        let (mut from, mut count) = self.counted;
        if from > word {
            (from, count) = (0, 0);
        }
        count += self.words[from..word].iter().map(|it| it.count_ones() as usize).sum::<usize>();
        self.counted = (word, count);
        count + (self.words[word] & ((1 << (place % 64)) - 1)).count_ones() as usize
    }
}

impl Blocks {
    /// Before the first block.
    pub fn new(postings: Postings) -> Self {
        let count = postings.block_count();
        Self {
            postings,
            count,
            block: END,
            last: 0,
            docs: [END; BLOCK],
            len: 0,
            freqs: [0; BLOCK],
            freqs_of: END,
            at: 0,
            bits: Left { first: 0, words: [0; WORDS], len: 0, counted: (0, 0) },
        }
    }

    /// The first block that may hold documents at or after `from`.
    #[inline]
    pub fn block_of(&self, from: u32) -> u32 {
        let near = match self.block {
            END => 0,
            block if from > self.last => block + 1,
            0 => return 0,
            block if self.postings.block_last(block - 1).get() < from => return block,
            _ => 0,
        };
        self.postings.block_of(near, DocId(from))
    }

    /// The first document at or after `from` that may be there, told without decoding.
    #[inline]
    pub fn next(&self, from: u32) -> u32 {
        if self.block != END && self.len > 0 {
            // Inside the decoded block it is known exactly.
            if from <= self.docs[self.len - 1] && (from >= self.docs[0] || self.block == 0) {
                let at = place_of(&self.docs, from);
                return self.docs[at];
            }
            if self.count == 1 {
                return if from > self.docs[self.len - 1] { END } else { self.docs[0] };
            }
        }
        let block = self.block_of(from);
        if block >= self.count {
            return END;
        }
        match block {
            0 => from,
            block => from.max(self.postings.block_last(block - 1).get() + 1),
        }
    }

    /// May the block entered hold a document of `range`? Exact where it is decoded.
    #[inline]
    pub(super) fn touches(&self, range: &Range<u32>) -> bool {
        if self.len == 0 {
            return true;
        }
        let at = place_of(&self.docs, range.start);
        at < self.len && self.docs[at] < range.end
    }

    /// Decodes a term of one block, so that its documents are known exactly. Only where every
    /// block is there.
    pub fn settle(&mut self) {
        if self.count == 1 {
            self.enter(0);
        }
    }

    /// Decodes the documents of a block.
    #[inline]
    pub fn enter(&mut self, block: u32) {
        if self.block == block && self.len > 0 {
            return;
        }
        if self.block != block {
            self.at = 0;
        }
        self.len = self.postings.docs(block, &mut self.docs);
        self.stand(block);
    }

    /// Decodes the documents and frequencies of a block.
    #[inline]
    pub fn enter_with_freqs(&mut self, block: u32) {
        if self.block == block && self.freqs_of == block && self.len > 0 {
            return;
        }
        if self.block != block {
            self.at = 0;
        }
        self.len = self.postings.docs_and_freqs(block, &mut self.docs, &mut self.freqs);
        self.stand(block);
        self.freqs_of = block;
    }

    /// A block was decoded.
    #[inline]
    fn stand(&mut self, block: u32) {
        self.block = block;
        self.last = self.postings.block_last(block).get();
        self.bits.len = 0;
    }

    /// Enters a block to look documents up in it.
    fn look(&mut self, block: u32) {
        self.at = 0;
        self.block = block;
        self.last = self.postings.block_last(block).get();
        match self.postings.look(block, &mut self.bits.words, &mut self.docs) {
            Entered::Docs(len) => (self.len, self.bits.len) = (len, 0),
            Entered::Words(first, len) => {
                self.len = 0;
                self.bits.len = len;
                (self.bits.first, self.bits.counted) = (first, (0, 0));
            }
        }
    }

    /// The frequency at a place of the block entered.
    #[inline]
    pub fn freq(&mut self, at: usize) -> u32 {
        self.freqs(self.block)[at]
    }

    /// The frequencies of a block, which need not be the one entered.
    #[inline]
    pub fn freqs(&mut self, block: u32) -> &[u32; BLOCK] {
        if self.freqs_of != block {
            self.postings.freqs(block, &mut self.freqs);
            self.freqs_of = block;
        }
        &self.freqs
    }

    /// Documents and frequencies at places of the block entered, which is decoded.
    #[inline]
    pub fn both(&mut self, places: Range<usize>) -> (&[u32], &[u32]) {
        self.freqs(self.block);
        (&self.docs[places.clone()], &self.freqs[places])
    }

    /// Where the term stands in the document at place `at` of a block, which need not be the one
    /// entered; replaces what `out` held.
    #[inline]
    pub fn positions(&mut self, block: u32, at: usize, out: &mut Vec<u32>) {
        self.freqs(block);
        self.postings.positions_of(block, at, &self.freqs, out);
    }

    /// As [`Self::positions`], the distances between them, the first from zero; `None` where they do not
    /// lie together.
    #[inline]
    pub fn distances(&mut self, block: u32, at: usize) -> Option<&[u32]> {
        self.freqs(block);
        self.postings.distances_of(block, at, &self.freqs)
    }

    /// As [`Self::positions`], a few at a time; `None` where they are damaged.
    pub fn walk(&mut self, block: u32, at: usize) -> Option<Walk> {
        self.freqs(block);
        self.postings.walk_of(block, at, &self.freqs)
    }

    /// Is `target` there? Then the block is entered and `at` is its place. Cheapest where targets
    /// rise.
    #[inline]
    pub fn find(&mut self, target: u32) -> bool {
        self.find_place::<true>(target)
    }

    /// Is `target` there? Its place is not told.
    #[inline]
    pub fn has(&mut self, target: u32) -> bool {
        self.find_place::<false>(target)
    }

    #[inline]
    fn find_place<const PLACE: bool>(&mut self, target: u32) -> bool {
        if self.block == END || target > self.last {
            let block = self.block_of(target);
            if block >= self.count {
                return false;
            }
            self.look(block);
        } else if self.is_before(target) {
            let block = self.block_of(target);
            if block != self.block {
                self.look(block);
            }
        }
        if self.bits.len > 0 {
            let Some(place) = target.checked_sub(self.bits.first) else { return false };
            let place = place as usize;
            if !self.bits.has(place) {
                return false;
            }
            if PLACE {
                self.at = self.bits.rank(place);
            }
            return true;
        }
        if self.len == 0 {
            return false;
        }
        // The end of a small term is not known before it is read.
        self.at = place_of(&self.docs, target).min(self.len - 1);
        self.docs[self.at] == target
    }

    /// Looks up the first of `docs`, which rise, and those after it that fall into the same block;
    /// answers how many that were. `met` tells which of them are there.
    #[inline]
    pub fn meet<const PLACES: bool>(&mut self, docs: &[u32], met: &mut Met) -> usize {
        met.count = 0;
        let Some(target) = docs.first().copied() else { return 0 };
        if self.block == END || target > self.last || self.is_before(target) {
            let block = self.block_of(target);
            if block >= self.count {
                return docs.len();
            }
            if block != self.block {
                self.look(block);
            }
        }
        let taken = docs.iter().take(BLOCK).take_while(|doc| **doc <= self.last).count();
        let docs = &docs[..taken];
        let mut count = 0;
        if self.bits.len > 0 {
            for (at, doc) in docs.iter().enumerate() {
                let place = doc.wrapping_sub(self.bits.first) as usize;
                met.which[count % BLOCK] = at as u8;
                count += usize::from(place < WORDS * 64 && self.bits.has(place));
            }
            if PLACES {
                for at in 0..count.min(BLOCK) {
                    let doc = docs[usize::from(met.which[at])];
                    met.places[at] = self.bits.rank((doc - self.bits.first) as usize) as u8;
                }
            }
        } else if self.len > 0 {
            for (at, doc) in docs.iter().enumerate() {
                let place = place_of(&self.docs, *doc).min(BLOCK - 1);
                met.which[count % BLOCK] = at as u8;
                met.places[count % BLOCK] = place as u8;
                count += usize::from(self.docs[place] == *doc);
            }
        }
        met.count = count;
        taken
    }

    /// Is `target` before the first document of the block entered?
    #[inline]
    fn is_before(&self, target: u32) -> bool {
        match self.len {
            0 => target < self.bits.first,
            _ => target < self.docs[0],
        }
    }

    /// Places of the entered block that lie in `range`.
    #[inline]
    pub fn places(&self, range: &Range<u32>) -> Range<usize> {
        let docs = &self.docs[..self.len];
        let start = match docs.first() {
            Some(first) if *first < range.start => place_of(&self.docs, range.start),
            _ => 0,
        };
        let end = match docs.last() {
            Some(last) if *last >= range.end => place_of(&self.docs, range.end),
            _ => self.len,
        };
        start.min(self.len)..end.min(self.len)
    }

    /// Names the blocks that hold documents of `range`.
    pub fn prepare(&self, range: Range<u32>, turn: &mut Turn<'_>) -> bool {
        if turn.resident || range.is_empty() {
            return true;
        }
        let first = self.postings.block_of(0, DocId(range.start));
        let end = self.postings.block_of(first, DocId(range.end - 1)).saturating_add(1);
        self.need(first..end.min(self.count), turn)
    }

    /// Names the blocks that may hold one of `docs`.
    pub fn prepare_probe(&self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        if turn.resident {
            return true;
        }
        let mut block = 0;
        let mut named = END;
        for doc in docs {
            block = self.postings.block_of(block, DocId(*doc));
            if block >= self.count {
                break;
            }
            if block != named {
                self.need(block..block + 1, turn);
                named = block;
            }
        }
        turn.is_ready()
    }

    fn need(&self, blocks: Range<u32>, turn: &mut Turn<'_>) -> bool {
        // A block that cannot even be named is met again, and recorded, when it is read.
        let _ = self.postings.need_blocks(blocks, turn.missing);
        turn.is_ready()
    }
}

/// The first place whose document is at or after `target`; `BLOCK` where there is none. Places
/// after the last document hold the highest number.
#[inline]
pub fn place_of(docs: &[u32; BLOCK], target: u32) -> usize {
    // Halves without a branch: where the search ends cannot be foretold, and a wrong guess costs more than
    // all of it. To compare all, a vector at a time, takes twice as long.
    let mut at = 0;
    for half in [64, 32, 16, 8, 4, 2, 1] {
        at += usize::from(docs[at + half - 1] < target) * half;
    }
    at + usize::from(docs[at] < target)
}
