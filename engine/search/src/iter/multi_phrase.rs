//! Words in order, where some places take several words.
//!
//! The place with the fewest documents leads; in each of its documents the others are looked up.
//! Positions are read last: those of all words of a place together. Documents with many of them are
//! walked in steps while one prepares (`long`). Of a place of many words it is told which stand in each
//! document (`members`).

use std::ops::Range;

use base::DocId;
use segment::{Need, Norms, Segment, TermInfo};

use super::blocks::Blocks;
use super::long::{self, Allowance, Long, Walked};
use super::members::{self, Members};
use super::sloppy::Sloppy;
use super::term::{Weight, window_range};
use super::{Bits, END, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits, window_of};
use crate::plan::expand::MultiPhrase;
use crate::score::bm25;

/// Words of one place.
struct Place {
    words: Vec<Blocks>,
    members: Members,
    offset: u32,
    positions: Vec<u32>,
    one: Vec<u32>,
}

/// Finds the phrase.
struct Matcher {
    places: Vec<Place>,
    /// The place with the fewest documents.
    lead: usize,
    sloppy: Option<Sloppy>,
    starts: Vec<u32>,
    /// Documents that the lead holds, while they are gone through.
    docs: Vec<u32>,
    /// Documents may take long.
    is_long: bool,
    long: Long,
    /// It is enough to know whether the phrase is there.
    first: bool,
}

impl Matcher {
    fn new(segment: &Segment, phrase: &MultiPhrase, infos: &[Vec<TermInfo>]) -> Option<Self> {
        let terms = segment.terms(phrase.field)?;
        let mut places = Vec::with_capacity(infos.len());
        for (infos, (_, offset)) in infos.iter().zip(&phrase.places) {
            if infos.is_empty() {
                return None;
            }
            let words = infos.iter().map(|info| Blocks::new(terms.postings(info, Need::Positions)));
            places.push(Place {
                words: words.collect(),
                members: Members::default(),
                offset: *offset,
                positions: Vec::new(),
                one: Vec::new(),
            });
        }
        let lead = (0..places.len()).min_by_key(|at| places[*at].cost())?;
        let sloppy = (phrase.slop > 0).then(|| {
            // Places with the same words share them; others do not.
            let named: Vec<(Vec<u8>, u32)> =
                phrase.places.iter().map(|(words, at)| (words.join(&b"\0"[..]), *at)).collect();
            let terms: Vec<(&[u8], u32)> =
                named.iter().map(|(name, at)| (name.as_slice(), *at)).collect();
            Sloppy::new(&terms, phrase.slop)
        });
        let words: Vec<&Blocks> = places.iter().flat_map(|place| &place.words).collect();
        Some(Self {
            is_long: long::may_be(words.into_iter()),
            places,
            lead,
            sloppy,
            starts: Vec::new(),
            docs: Vec::new(),
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
        self.places[self.lead].cost()
    }

    fn next(&self, from: u32) -> u32 {
        self.places[self.lead].words.iter().map(|word| word.next(from)).min().unwrap_or(END)
    }

    /// Readies the documents of `range`: their blocks, then those that take long.
    fn prepare(&mut self, range: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        let mut ready = true;
        for word in self.places.iter().flat_map(|place| &place.words) {
            ready &= word.prepare(range.clone(), turn);
        }
        if !ready {
            return false;
        }
        if !self.tell(range, turn) {
            return false;
        }
        if !self.is_long {
            return true;
        }
        let mut docs = std::mem::take(&mut self.docs);
        docs.clear();
        self.candidates(range, &mut docs);
        let done = self.walk_all(&docs, turn);
        self.docs = docs;
        done
    }

    /// As [`Self::prepare`], for documents that are looked up.
    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * 8);
        let most = self.places.iter().map(|place| place.words.len()).max();
        if let Some(range) = members::range_of(docs, most.unwrap_or(0)) {
            let mut ready = true;
            for word in self.places.iter().flat_map(|place| &place.words) {
                ready &= word.prepare(range.clone(), turn);
            }
            let ready = ready && self.tell(&range, turn);
            return ready && (!self.is_long || self.walk_all(docs, turn));
        }
        let mut ready = true;
        for word in self.places.iter().flat_map(|place| &place.words) {
            ready &= word.prepare_probe(docs, turn);
        }
        ready && (!self.is_long || self.walk_all(docs, turn))
    }

    /// Finds which words stand in the documents of `range`; false where the turn is over before.
    fn tell(&mut self, range: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.places.iter_mut().all(|place| place.members.tell(&mut place.words, range, turn))
    }

    /// Walks through those of the documents that take long; false where the turn is over before.
    fn walk_all(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let Some(first) = docs.first() else { return true };
        self.long.forget_before(*first);
        let mut allowance = Allowance::default();
        docs.iter().all(|doc| self.walk(*doc, &mut allowance, turn))
    }

    fn walk(&mut self, doc: u32, allowance: &mut Allowance, turn: &mut Turn<'_>) -> bool {
        let mut positions = 0;
        for place in &mut self.places {
            turn.spend(place.asked_count(doc));
            match place.count(doc) {
                0 => return true,
                count => positions += count,
            }
        }
        if self.sloppy.is_some() {
            positions = positions.saturating_mul(self.places.len() as u64);
        }
        if allowance.leaves(positions) {
            return true;
        }
        let Self { places, sloppy, long, first, .. } = self;
        long.walk(doc, turn, || {
            let places = places.iter_mut().map(|place| place.walk(doc)).collect::<Option<_>>()?;
            Some(match sloppy {
                None => Walked::exact(places, *first),
                Some(sloppy) => Walked::sloppy(sloppy.clone(), places),
            })
        })
    }

    /// Documents of the range that the lead holds.
    fn candidates(&mut self, range: &Range<u32>, out: &mut Vec<u32>) {
        if range.is_empty() {
            return;
        }
        let base = window_of(range.start) * WINDOW;
        let mut found: Bits = bits::NONE;
        for word in &mut self.places[self.lead].words {
            word.postings.fill_bits(base..range.end, &mut found);
        }
        bits::keep_range(&mut found, range.start - base..range.end - base);
        bits::list(&found, base, out);
    }

    /// How often the phrase is in a document.
    fn freq(&mut self, doc: u32) -> f32 {
        if let Some(freq) = self.long.freq(doc) {
            return freq;
        }
        for place in &mut self.places {
            if !place.read(doc) {
                return 0.0;
            }
        }
        if let Some(sloppy) = &mut self.sloppy {
            let places: Vec<Vec<u32>> =
                self.places.iter_mut().map(|place| std::mem::take(&mut place.positions)).collect();
            let freq = sloppy.freq(&places);
            for (place, positions) in self.places.iter_mut().zip(places) {
                place.positions = positions;
            }
            return freq;
        }
        self.starts.clear();
        for (at, place) in self.places.iter().enumerate() {
            if at == 0 {
                let starts = place.positions.iter().filter_map(|it| it.checked_sub(place.offset));
                self.starts.extend(starts);
            } else {
                let (positions, offset) = (&place.positions, place.offset);
                self.starts.retain(|start| positions.binary_search(&(start + offset)).is_ok());
            }
        }
        self.starts.len() as f32
    }
}

impl Place {
    fn cost(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.postings.doc_freq())).sum()
    }

    /// How many words are asked about a document.
    fn asked_count(&self, doc: u32) -> usize {
        self.members.of(doc).map_or(self.words.len(), |members| members.len() + 1)
    }

    /// At how many places the words stand in a document, those that share one counted each.
    fn count(&mut self, doc: u32) -> u64 {
        let mut count = 0;
        self.members.each_found(&mut self.words, doc, |word| {
            count += u64::from(word.freq(word.at));
            true
        });
        count
    }

    /// The words that stand in a document, to be walked.
    fn walk(&mut self, doc: u32) -> Option<long::Place> {
        let mut walks = Vec::new();
        let all = self.members.each_found(&mut self.words, doc, |word| {
            let walk = word.walk(word.block, word.at);
            let is_there = walk.is_some();
            walks.extend(walk);
            is_there
        });
        all.then(|| long::Place::new(walks, self.offset))
    }

    /// Reads the positions of all words in a document; false where there is none.
    fn read(&mut self, doc: u32) -> bool {
        self.positions.clear();
        let (positions, one) = (&mut self.positions, &mut self.one);
        self.members.each_found(&mut self.words, doc, |word| {
            word.positions(word.block, word.at, one);
            positions.extend_from_slice(one);
            true
        });
        if self.words.len() > 1 {
            self.positions.sort_unstable();
            self.positions.dedup();
        }
        !self.positions.is_empty()
    }
}

/// The phrase with its scores.
pub struct MultiPhraseScorer {
    matcher: Matcher,
    norms: Option<Norms>,
    weight: Weight,
    docs: Vec<u32>,
}

impl MultiPhraseScorer {
    /// A phrase with the words of each place that are in the segment.
    pub fn new(
        segment: &Segment,
        phrase: &MultiPhrase,
        infos: &[Vec<TermInfo>],
        weight: Weight,
    ) -> Option<Self> {
        let matcher = Matcher::new(segment, phrase, infos)?;
        let norms = segment.norms(phrase.field).filter(|_| weight.norms);
        Some(Self { matcher, norms, weight, docs: Vec::new() })
    }

    fn score(&mut self, doc: u32) -> f32 {
        match self.matcher.freq(doc) {
            0.0 => NO_MATCH,
            freq => {
                let norm = self.norms.as_ref().map_or(bm25::NO_NORM, |norms| norms.get(DocId(doc)));
                self.weight.score(freq, self.weight.inverse(norm))
            }
        }
    }
}

impl Scorer for MultiPhraseScorer {
    fn cost(&self) -> u64 {
        self.matcher.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.matcher.next(from)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        turn.spend(4);
        if self.weight.weight < bar {
            return Window::NONE;
        }
        match self.matcher.next(from) {
            END => Window::NONE,
            start => Window { start, end: (window_of(start) + 1).saturating_mul(WINDOW), bar },
        }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        if range.is_empty() || self.matcher.next(range.start) >= range.end {
            return 0.0;
        }
        self.weight.weight
    }

    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool {
        turn.spend(1024);
        self.matcher.prepare(&window.range(), turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        let mut docs = std::mem::take(&mut self.docs);
        docs.clear();
        self.matcher.candidates(&window.range(), &mut docs);
        for doc in &docs {
            let score = self.score(*doc);
            if score >= 0.0 && score >= window.bar {
                hits.docs.push(*doc);
                hits.scores.push(score);
            }
        }
        self.docs = docs;
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.matcher.prepare_probe(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (slot, doc) in scores.iter_mut().zip(docs) {
            *slot = self.score(*doc);
        }
    }
}

/// The phrase without scores.
pub struct MultiPhraseFilter {
    matcher: Matcher,
    doc_count: u32,
    docs: Vec<u32>,
}

impl MultiPhraseFilter {
    /// A phrase with the words of each place that are in the segment.
    pub fn new(segment: &Segment, phrase: &MultiPhrase, infos: &[Vec<TermInfo>]) -> Option<Self> {
        let matcher = Matcher::new(segment, phrase, infos)?.unscored();
        Some(Self { matcher, doc_count: segment.doc_count(), docs: Vec::new() })
    }
}

impl Filter for MultiPhraseFilter {
    fn cost(&self) -> u64 {
        self.matcher.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        self.matcher.next(from)
    }

    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool {
        turn.spend(1024);
        self.matcher.prepare(&window_range(window, self.doc_count), turn)
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        let range = window_range(window, self.doc_count);
        let mut docs = std::mem::take(&mut self.docs);
        docs.clear();
        self.matcher.candidates(&range, &mut docs);
        for doc in &docs {
            if self.matcher.freq(*doc) > 0.0 {
                bits::set(bits, doc - window * WINDOW);
            }
        }
        self.docs = docs;
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.matcher.prepare_probe(docs, turn)
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        for (slot, doc) in matches.iter_mut().zip(docs) {
            *slot = self.matcher.freq(*doc) > 0.0;
        }
    }
}
