//! Terms at given places: all in one document, then their positions.
//!
//! The rarest term leads by blocks; the others are looked up document by document. Positions are
//! read last, and with a bar only where even the lowest of the terms' frequencies could score
//! enough: an exact phrase occurs at most as often as each of its terms.

use std::ops::Range;

use base::DocId;
use segment::{Need, Norms, Segment, TermInfo};

use super::sloppy::Sloppy;
use super::term::{Blocks, Bounds, Weight, window_range};
use super::{Bits, END, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits};
use crate::plan::bound;
use crate::score::bm25;

/// One term of the phrase.
struct Word {
    blocks: Blocks,
    offset: u32,
    positions: Vec<u32>,
}

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
        let words = words.into_iter().map(|(_, word)| word).collect();
        Some(Self { words, sloppy, order, starts: Vec::new(), docs: Vec::new() })
    }

    fn cost(&self) -> u64 {
        self.words.first().map_or(0, |word| u64::from(word.blocks.postings.doc_freq()))
    }

    fn next(&self, from: u32) -> u32 {
        self.words.iter().fold(from, |at, word| if at == END { END } else { word.blocks.next(at) })
    }

    /// Names the blocks for the documents of `range`; the followers' depend on the lead's.
    fn prepare(&mut self, range: Range<u32>, turn: &mut Turn<'_>) -> bool {
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

    /// Do all terms stand in `doc`?
    #[inline]
    fn find(&mut self, from: usize, doc: u32) -> bool {
        self.words[from..].iter_mut().all(|word| word.blocks.find(doc))
    }

    /// The most that the frequency can be in the document found.
    #[inline]
    fn freq_max(&mut self) -> u32 {
        let sloppy = self.sloppy.is_some();
        let mut most = if sloppy { 0 } else { u32::MAX };
        for word in &mut self.words {
            let freq = word.blocks.freq(word.blocks.at);
            most = if sloppy { most.saturating_add(freq) } else { most.min(freq) };
        }
        most
    }

    /// How often the phrase is in the document found.
    fn freq(&mut self) -> f32 {
        match &mut self.sloppy {
            None => self.freq_exact() as f32,
            Some(_) => self.freq_sloppy(),
        }
    }

    /// Where the phrase may begin, by each term in turn.
    fn freq_exact(&mut self) -> usize {
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
            let lead = &mut self.words[0].blocks;
            if block > 0 && lead.postings.block_last(block - 1).get() + 1 >= range.end {
                break;
            }
            lead.enter(block);
            for at in lead.places(&range) {
                let doc = self.words[0].blocks.docs[at];
                self.words[0].blocks.at = at;
                if self.find(1, doc) {
                    each(self, doc);
                }
            }
            block += 1;
        }
    }
}

impl Word {
    #[inline]
    fn read_positions(&mut self) {
        let at = self.blocks.at;
        self.blocks.freq(at);
        let Blocks { postings, block, freqs, .. } = &mut self.blocks;
        postings.positions_of(*block, at, freqs, &mut self.positions);
    }
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
            if bm25::score(self.weight.weight, most, inverse) < bar {
                return NO_MATCH;
            }
        }
        match self.matcher.freq() {
            0.0 => NO_MATCH,
            freq => bm25::score(self.weight.weight, freq, inverse),
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
                if bm25::score(weight.weight, most, inverse) < window.bar {
                    return;
                }
            }
            let freq = matcher.freq();
            if freq > 0.0 {
                hits.docs.push(doc);
                hits.scores.push(bm25::score(weight.weight, freq, inverse));
            }
        });
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * 8);
        self.matcher.prepare_probe_from(0, docs, turn)
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (slot, doc) in scores.iter_mut().zip(docs) {
            *slot = if self.matcher.find(0, *doc) { self.score(*doc, 0.0) } else { NO_MATCH };
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
        let matcher = Matcher::new(segment, phrase, infos)?;
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
            if matcher.freq() > 0.0 {
                bits::set(bits, doc - window * WINDOW);
            }
        });
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * 8);
        self.matcher.prepare_probe_from(0, docs, turn)
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        for (slot, doc) in matches.iter_mut().zip(docs) {
            *slot = self.matcher.find(0, *doc) && self.matcher.freq() > 0.0;
        }
    }
}
