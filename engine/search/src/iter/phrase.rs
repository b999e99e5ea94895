//! Terms at given places: all in one document, then their positions.
//!
//! The rarest term leads by blocks; the others are looked up for the candidates of a block. Positions
//! are read last, and with a bar only where even the lowest of the terms' frequencies could score
//! enough: an exact phrase occurs at most as often as each of its terms. Documents with many positions
//! are walked in steps while one prepares (`long`).

use std::ops::Range;

use base::DocId;
use segment::postings::BLOCK;
use segment::{Need, Norms, Segment, TermInfo};

use super::blocks::{Blocks, Met};
use super::long::{self, Allowance, Long, Place, Walked};
use super::sloppy::Sloppy;
use super::term::{Bounds, Weight, window_range};
use super::{Bits, END, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits};
use crate::plan::bound;
use crate::score::bm25;

/// One term of the phrase.
struct Word {
    blocks: Blocks,
    offset: u32,
    positions: Vec<u32>,
    /// Where the document found stands: block, and place in it.
    spot: Spot,
    /// Where candidates stand, by their places in the lead's block.
    spots: Box<[Spot; BLOCK]>,
}

/// A block, and a place in it.
type Spot = (u32, u8);

/// Finds a phrase.
struct Matcher {
    /// By number of documents, the rarest first.
    words: Vec<Word>,
    /// Counts matches with slop; `places` are in the order of the phrase.
    sloppy: Option<Sloppy>,
    /// Where each word of the phrase stands in `words`.
    order: Vec<usize>,
    starts: Vec<u32>,
    docs: Vec<u32>,
    met: Met,
    /// Documents may take long.
    is_long: bool,
    long: Long,
    /// It is enough to know whether the phrase is there.
    first: bool,
}

impl Matcher {
    fn new(segment: &Segment, phrase: &bound::Phrase, infos: &[TermInfo]) -> Option<Self> {
        let terms = segment.terms(phrase.field)?;
        let mut words: Vec<(usize, Word)> = phrase
            .terms
            .iter()
            .zip(infos)
            .map(|((_, offset), info)| Word {
                blocks: Blocks::new(terms.postings(info, Need::Positions)),
                offset: *offset,
                positions: Vec::new(),
                spot: (0, 0),
                spots: Box::new([(0, 0); BLOCK]),
            })
            .enumerate()
            .collect();
        words.sort_by_key(|(_, word)| word.blocks.postings.doc_freq());
        let mut order = vec![0; words.len()];
        for (at, (place, _)) in words.iter().enumerate() {
            order[*place] = at;
        }
        let sloppy = (phrase.slop > 0).then(|| {
            let terms: Vec<(&[u8], u32)> =
                phrase.terms.iter().map(|(term, at)| (&**term, *at)).collect();
            Sloppy::new(&terms, phrase.slop)
        });
        let words: Vec<Word> = words.into_iter().map(|(_, word)| word).collect();
        Some(Self {
            is_long: long::may_be(words.iter().map(|word| &word.blocks)),
            words,
            sloppy,
            order,
            starts: Vec::new(),
            docs: Vec::new(),
            met: Met::default(),
            long: Long::default(),
            first: false,
        })
    }

    /// Of which only matters whether it is there.
    fn unscored(mut self) -> Self {
        self.first = true;
        self
    }

    fn cost(&self) -> u64 {
        self.words.first().map_or(0, |word| u64::from(word.blocks.postings.doc_freq()))
    }

    fn next(&self, from: u32) -> u32 {
        self.words.iter().fold(from, |at, word| if at == END { END } else { word.blocks.next(at) })
    }

    /// Readies the documents of `range`: their blocks, then those that take long.
    fn prepare(&mut self, range: Range<u32>, turn: &mut Turn<'_>) -> bool {
        if !self.name(range.clone(), turn) {
            return false;
        }
        if !self.is_long {
            return true;
        }
        self.long.forget_before(range.start);
        let (mut allowance, mut done) = (Allowance::default(), true);
        self.for_each(range, |matcher, doc| {
            done = done && matcher.walk(doc, &mut allowance, turn);
        });
        done
    }

    /// As [`Self::prepare`], for documents that are looked up.
    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * 8);
        if !self.prepare_probe_from(0, docs, turn) {
            return false;
        }
        let Some(first) = docs.first().filter(|_| self.is_long) else { return true };
        self.long.forget_before(*first);
        let mut allowance = Allowance::default();
        docs.iter().all(|doc| !self.find(*doc) || self.walk(*doc, &mut allowance, turn))
    }

    /// Walks through the document found, where it takes long; false where the turn is over before.
    fn walk(&mut self, doc: u32, allowance: &mut Allowance, turn: &mut Turn<'_>) -> bool {
        turn.spend(self.words.len());
        let mut positions = 0u64;
        for word in &mut self.words {
            let (block, at) = word.spot;
            positions += u64::from(word.blocks.freqs(block)[usize::from(at) % BLOCK]);
        }
        if self.sloppy.is_some() {
            positions = positions.saturating_mul(self.words.len() as u64);
        }
        if allowance.leaves(positions) {
            return true;
        }
        let Self { words, sloppy, order, long, first, .. } = self;
        long.walk(doc, turn, || {
            let place = |word: &mut Word| {
                let (block, at) = word.spot;
                let walk = word.blocks.walk(block, usize::from(at) % BLOCK)?;
                Some(Place::new(vec![walk], word.offset))
            };
            Some(match sloppy {
                None => Walked::exact(words.iter_mut().map(place).collect::<Option<_>>()?, *first),
                Some(sloppy) => {
                    let places = order.iter().map(|at| place(&mut words[*at]));
                    Walked::sloppy(sloppy.clone(), places.collect::<Option<_>>()?)
                }
            })
        })
    }

    /// Names the blocks for the documents of `range`; the followers' depend on the lead's.
    fn name(&mut self, range: Range<u32>, turn: &mut Turn<'_>) -> bool {
        if turn.resident {
            return true;
        }
        let lead = &mut self.words[0].blocks;
        if !lead.prepare(range.clone(), turn) {
            return false;
        }
        self.docs.clear();
        let mut block = lead.block_of(range.start);
        while block < lead.count {
            lead.enter(block);
            self.docs.extend_from_slice(&lead.docs[lead.places(&range)]);
            if lead.postings.block_last(block).get() >= range.end {
                break;
            }
            block += 1;
        }
        let docs = std::mem::take(&mut self.docs);
        let ready = self.prepare_probe_from(1, &docs, turn);
        self.docs = docs;
        ready
    }

    fn prepare_probe_from(&mut self, from: usize, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let mut ready = true;
        for word in &self.words[from..] {
            ready &= word.blocks.prepare_probe(docs, turn);
        }
        ready
    }

    /// Do all terms stand in `doc`? Then each knows where.
    #[inline]
    fn find(&mut self, doc: u32) -> bool {
        self.words.iter_mut().all(|word| {
            let found = word.blocks.find(doc);
            word.spot = (word.blocks.block, word.blocks.at as u8);
            found
        })
    }

    /// The most that the frequency can be in the document found.
    #[inline]
    fn freq_max(&mut self) -> u32 {
        let sloppy = self.sloppy.is_some();
        let mut most = if sloppy { 0 } else { u32::MAX };
        for word in &mut self.words {
            let (block, at) = word.spot;
            let freq = word.blocks.freqs(block)[usize::from(at) % BLOCK];
            most = if sloppy { most.saturating_add(freq) } else { most.min(freq) };
        }
        most
    }

    /// How often the phrase is in the document found.
    fn freq(&mut self, doc: u32) -> f32 {
        if let Some(freq) = self.long.freq(doc) {
            return freq;
        }
        match &mut self.sloppy {
            None => self.freq_exact() as f32,
            Some(_) => self.freq_sloppy(),
        }
    }

    /// At how many places all terms stand as the phrase has them; 1 at most where that is enough.
    fn freq_exact(&mut self) -> usize {
        if let [a, b] = self.words.as_mut_slice() {
            return both(a, b, self.first);
        }
        // Mostly the two rarest tell already, and their positions are not even copied.
        if let [a, b, ..] = self.words.as_mut_slice()
            && both(a, b, true) == 0
        {
            return 0;
        }
        self.starts.clear();
        for (at, word) in self.words.iter_mut().enumerate() {
            word.read_positions();
            let starts = word.positions.iter().filter_map(|place| place.checked_sub(word.offset));
            if at == 0 {
                self.starts.extend(starts);
            } else {
                intersect(&mut self.starts, &word.positions, word.offset);
            }
            if self.starts.is_empty() {
                return 0;
            }
        }
        self.starts.len()
    }

    fn freq_sloppy(&mut self) -> f32 {
        for word in &mut self.words {
            word.read_positions();
        }
        let places: Vec<Vec<u32>> =
            self.order.iter().map(|at| std::mem::take(&mut self.words[*at].positions)).collect();
        let freq = match &mut self.sloppy {
            Some(sloppy) if places.iter().all(|places| !places.is_empty()) => sloppy.freq(&places),
            _ => 0.0,
        };
        for (at, places) in self.order.iter().zip(places) {
            self.words[*at].positions = places;
        }
        freq
    }

    /// Calls `each` for the documents of `range` that hold all terms.
    fn for_each(&mut self, range: Range<u32>, mut each: impl FnMut(&mut Self, u32)) {
        if range.is_empty() {
            return;
        }
        let mut block = self.words[0].blocks.block_of(range.start);
        while block < self.words[0].blocks.count {
            let lead = &self.words[0].blocks.postings;
            if block > 0 && lead.block_last(block - 1).get() + 1 >= range.end {
                break;
            }
            self.join(block, &range, &mut each);
            block += 1;
        }
    }

    /// As [`Self::for_each`], for a block of the lead: documents first, and all of them, so that
    /// each term's blocks are entered once.
    fn join(&mut self, block: u32, range: &Range<u32>, each: &mut impl FnMut(&mut Self, u32)) {
        let Some((lead, others)) = self.words.split_first_mut() else { return };
        lead.blocks.enter(block);
        let taken = lead.blocks.places(range);
        let (mut docs, mut places) = ([0; BLOCK], [0u8; BLOCK]);
        let mut count = taken.len();
        docs[..count].copy_from_slice(&lead.blocks.docs[taken.clone()]);
        for (slot, at) in places.iter_mut().zip(taken) {
            *slot = at as u8;
        }
        for word in others {
            let (candidates, mut from) = (count, 0);
            count = 0;
            while from < candidates {
                let looked = word.blocks.meet::<true>(&docs[from..candidates], &mut self.met);
                let met = &self.met;
                for (which, at) in met.which[..met.count].iter().zip(&met.places) {
                    let which = from + usize::from(*which);
                    let place = places[which];
                    word.spots[usize::from(place) % BLOCK] = (word.blocks.block, *at);
                    (docs[count], places[count]) = (docs[which], place);
                    count += 1;
                }
                from += looked;
            }
        }
        for (doc, place) in docs[..count].iter().zip(places) {
            for word in &mut self.words[1..] {
                word.spot = word.spots[usize::from(place) % BLOCK];
            }
            self.words[0].spot = (block, place);
            each(self, *doc);
        }
    }
}

impl Word {
    #[inline]
    fn read_positions(&mut self) {
        let (block, at) = self.spot;
        self.blocks.positions(block, usize::from(at), &mut self.positions);
    }

    #[inline]
    fn distances(&mut self) -> Option<&[u32]> {
        let (block, at) = self.spot;
        self.blocks.distances(block, usize::from(at))
    }
}

/// At how many places two words stand as the phrase has them; 1 at most where that is enough.
#[inline]
fn both(a: &mut Word, b: &mut Word, first: bool) -> usize {
    let (a_offset, b_offset) = (u64::from(a.offset), u64::from(b.offset));
    if let Some(ours) = a.distances()
        && let Some(theirs) = b.distances()
    {
        return meetings(sums(ours), sums(theirs), a_offset, b_offset, first);
    }
    a.read_positions();
    b.read_positions();
    let (ours, theirs) = (a.positions.iter(), b.positions.iter());
    let wide = |place: &u32| u64::from(*place);
    meetings(ours.map(wide), theirs.map(wide), a_offset, b_offset, first)
}

/// The positions that lie at these distances.
#[inline]
fn sums(distances: &[u32]) -> impl Iterator<Item = u64> {
    distances.iter().scan(0, |place, distance| {
        *place += u64::from(*distance);
        Some(*place)
    })
}

/// How many of `ours`, less `a`, stand in `theirs`, less `b`. Both rise.
#[inline]
fn meetings(
    ours: impl Iterator<Item = u64>,
    mut theirs: impl Iterator<Item = u64>,
    a: u64,
    b: u64,
    first: bool,
) -> usize {
    let (mut count, Some(mut there)) = (0, theirs.next()) else { return 0 };
    for here in ours {
        while there + a < here + b {
            let Some(next) = theirs.next() else { return count };
            there = next;
        }
        if there + a == here + b && here >= a {
            count += 1;
            if first {
                return count;
            }
        }
    }
    count
}

/// Keeps the starts from which `offset` further a position stands. Both rise.
#[inline]
fn intersect(starts: &mut Vec<u32>, positions: &[u32], offset: u32) {
    let mut at = 0;
    starts.retain(|start| {
        let wanted = start + offset;
        while at < positions.len() && positions[at] < wanted {
            at += 1;
        }
        positions.get(at) == Some(&wanted)
    });
}

/// A phrase with its scores.
pub struct PhraseScorer {
    matcher: Matcher,
    norms: Option<Norms>,
    weight: Weight,
    /// Of each term, as if the phrase occurred as often as the term.
    bounds: Vec<Bounds>,
}

impl PhraseScorer {
    /// A phrase all of whose terms are in the segment, with these infos.
    pub fn new(
        segment: &Segment,
        phrase: &bound::Phrase,
        infos: &[TermInfo],
        weight: Weight,
    ) -> Option<Self> {
        let matcher = Matcher::new(segment, phrase, infos)?;
        let bounds = match matcher.sloppy {
            // With slop the sum of the terms' frequencies bounds the phrase's: no block tells.
            Some(_) => Vec::new(),
            None => {
                matcher.words.iter().map(|word| Bounds::new(&word.blocks, weight.clone())).collect()
            }
        };
        let norms = segment.norms(phrase.field).filter(|_| weight.norms);
        Some(Self { matcher, norms, weight, bounds })
    }

    #[inline]
    fn inverse(&self, doc: u32) -> f32 {
        match &self.norms {
            Some(norms) => self.weight.inverse(norms.get(DocId(doc))),
            None => self.weight.inverse(bm25::NO_NORM),
        }
    }

    /// The score of the document found, where it may reach `bar`.
    #[inline]
    fn score(&mut self, doc: u32, bar: f32) -> f32 {
        let inverse = self.inverse(doc);
        if bar > 0.0 {
            let most = self.matcher.freq_max() as f32;
            if self.weight.score(most, inverse) < bar {
                return NO_MATCH;
            }
        }
        match self.matcher.freq(doc) {
            0.0 => NO_MATCH,
            freq => self.weight.score(freq, inverse),
        }
    }
}

impl Scorer for PhraseScorer {
    fn cost(&self) -> u64 {
        self.matcher.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.matcher.next(from)
    }

    fn window(&mut self, mut from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        loop {
            let start = self.matcher.next(from);
            if start == END {
                return Window::NONE;
            }
            let lead = &self.matcher.words[0].blocks;
            let block = lead.block_of(start);
            if block >= lead.count {
                return Window::NONE;
            }
            let end = lead.postings.block_last(block).get() + 1;
            turn.spend(self.matcher.words.len() * 2);
            if bar <= 0.0 || self.max_score(start..end) >= bar {
                return Window { start, end, bar };
            }
            from = end;
            if turn.is_over() {
                return Window { start: from, end: from, bar };
            }
        }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        let words = self.matcher.words.iter();
        let most = self.weight.weight;
        words
            .zip(&mut self.bounds)
            .map(|(word, bounds)| bounds.over(&word.blocks, range.clone()))
            .fold(most, f32::min)
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        turn.spend(512);
        self.matcher.prepare(window.range(), turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        let Self { matcher, norms, weight, .. } = self;
        matcher.for_each(window.range(), |matcher, doc| {
            let norm = norms.as_ref().map_or(bm25::NO_NORM, |norms| norms.get(DocId(doc)));
            let inverse = weight.inverse(norm);
            if window.bar > 0.0 {
                let most = matcher.freq_max() as f32;
                if weight.score(most, inverse) < window.bar {
                    return;
                }
            }
            let freq = matcher.freq(doc);
            if freq > 0.0 {
                hits.docs.push(doc);
                hits.scores.push(weight.score(freq, inverse));
            }
        });
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.matcher.prepare_probe(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (slot, doc) in scores.iter_mut().zip(docs) {
            *slot = if self.matcher.find(*doc) { self.score(*doc, 0.0) } else { NO_MATCH };
        }
    }
}

/// A phrase without scores, in lists: for counts.
pub struct PhraseLister(Matcher);

/// Blocks of the lead that a list takes together.
const BLOCKS_A_LIST: u32 = 2;

impl PhraseLister {
    /// A phrase all of whose terms are in the segment, with these infos; every block is there.
    pub fn new(segment: &Segment, phrase: &bound::Phrase, infos: &[TermInfo]) -> Option<Self> {
        let mut matcher = Matcher::new(segment, phrase, infos)?.unscored();
        matcher.words[0].blocks.settle();
        Some(Self(matcher))
    }
}

impl Scorer for PhraseLister {
    fn cost(&self) -> u64 {
        self.0.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.0.next(from)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        turn.spend(16);
        let lead = &self.0.words[0].blocks;
        let block = lead.block_of(from);
        if block >= lead.count {
            return Window::NONE;
        }
        let last = (block + BLOCKS_A_LIST).min(lead.count) - 1;
        let end = lead.postings.block_last(last).get() + 1;
        Window { start: from, end: end.max(from), bar }
    }

    fn max_score(&mut self, _range: Range<u32>) -> f32 {
        0.0
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        turn.spend(4096);
        self.0.prepare(window.range(), turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        self.0.for_each(window.range(), |matcher, doc| {
            if matcher.freq(doc) > 0.0 {
                hits.docs.push(doc);
            }
        });
        hits.scores.resize(hits.docs.len(), 0.0);
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.0.prepare_probe(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (slot, doc) in scores.iter_mut().zip(docs) {
            *slot = if self.0.find(*doc) && self.0.freq(*doc) > 0.0 { 0.0 } else { NO_MATCH };
        }
    }
}

/// A phrase without scores.
pub struct PhraseFilter {
    matcher: Matcher,
    doc_count: u32,
}

impl PhraseFilter {
    /// A phrase all of whose terms are in the segment, with these infos.
    pub fn new(segment: &Segment, phrase: &bound::Phrase, infos: &[TermInfo]) -> Option<Self> {
        let matcher = Matcher::new(segment, phrase, infos)?.unscored();
        Some(Self { matcher, doc_count: segment.doc_count() })
    }
}

impl Filter for PhraseFilter {
    fn cost(&self) -> u64 {
        self.matcher.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.matcher.next(from)
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        turn.spend(512);
        self.matcher.prepare(window_range(window, self.doc_count), turn)
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        let range = window_range(window, self.doc_count);
        self.matcher.for_each(range, |matcher, doc| {
            if matcher.freq(doc) > 0.0 {
                bits::set(bits, doc - window * WINDOW);
            }
        });
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.matcher.prepare_probe(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        for (slot, doc) in matches.iter_mut().zip(docs) {
            *slot = self.matcher.find(*doc) && self.matcher.freq(*doc) > 0.0;
        }
    }
}
