//! Terms that must all match: the rarest leads block by block, the others are looked up.
//!
//! `and` joins clauses of any kind by windows. Terms need none: a block of the rarest gives 128
//! candidates, each other term takes out those it has not, and what is left is scored on the way.
//! Frequencies of a term are decoded only in blocks that hold a document that could still be good
//! enough, by the bound of the block. Only for segments whose blocks are all there.
//!
//! Always true
//! 1. Without scores each match is given, with a score of 0, and no frequency is read.
//! 2. With [`Scorer::count_below`] each match is given, and those below the bar may be given 0.
//! 3. Sums are made in f64 and rounded once, so the order of the terms does not matter.
//!
//! Filters beside the terms are asked about a block's candidates first ([`AllTerms::with_filters`]): a
//! look at a bit or a column costs less than one into another term's block.

use std::ops::Range;

use base::DocId;
use segment::postings::BLOCK;
use segment::{Norms, Terms};

use super::blockmax::needed;
use super::blocks::{Blocks, Met};
use super::term::{Bounds, Weight};
use super::{AnyFilter, END, Hits, NO_MATCH, Scorer, Turn, Window, bound};
use crate::score::bm25::NO_NORM;

/// Blocks of the lead that a window without a bar takes together.
const BLOCKS_A_WINDOW: u32 = 8;

/// One of the terms.
struct Word {
    blocks: Blocks,
    /// What its scores are made of; absent where none are wanted.
    score: Option<Score>,
}

struct Score {
    norms: Option<Norms>,
    weight: Weight,
    bounds: Bounds,
    /// Bound in the whole segment.
    all: f32,
    /// Bound in the window at hand.
    here: f32,
}

impl Score {
    #[inline]
    fn inverse(&self, doc: u32) -> f32 {
        match &self.norms {
            Some(norms) => match norms.dense() {
                Some(norms) => self.weight.inverses[usize::from(norms[doc as usize])],
                None => self.weight.inverse(norms.get(DocId(doc))),
            },
            None => self.weight.inverse(NO_NORM),
        }
    }
}

/// A term to be joined.
pub struct Part {
    /// Where its postings are.
    pub terms: Terms,
    /// Which they are.
    pub info: segment::TermInfo,
    /// Its lengths, and what its scores are made of; absent where none are wanted.
    pub score: Option<(Option<Norms>, Weight)>,
}

/// Terms that must all match.
pub struct AllTerms {
    /// The rarest first.
    words: Vec<Word>,
    scored: bool,
    /// Matches that score less may be given any score below.
    dull: f32,
    /// The range that the words' bounds are of.
    bounded: Range<u32>,
    /// Candidates of a block of the lead, and their sums: negative where one only counts.
    docs: [u32; BLOCK],
    sums: [f64; BLOCK],
    met: Met,
    scores: [f32; BLOCK],
    /// What else must match, the one with the fewest matches first.
    filters: Vec<AnyFilter>,
    matches: Vec<bool>,
    /// Blocks that the next window without a bar takes together.
    taken: u32,
}

impl AllTerms {
    /// At least one term, all with scores or all without; every block is there.
    pub fn new(mut parts: Vec<Part>) -> Self {
        parts.sort_by_key(|part| part.info.doc_freq);
        let mut words: Vec<Word> = parts.into_iter().map(Word::new).collect();
        words[0].blocks.settle();
        let scored = words.iter().all(|word| word.score.is_some());
        Self {
            words,
            scored,
            dull: 0.0,
            bounded: 0..0,
            docs: [0; BLOCK],
            met: Met::default(),
            sums: [0.0; BLOCK],
            scores: [0.0; BLOCK],
            filters: Vec::new(),
            matches: Vec::new(),
            taken: 1,
        }
    }

    /// Of the matches those that `filters` match too. Filters that, once they said they are ready for
    /// any probe, are so for each.
    #[must_use]
    pub fn with_filters(mut self, mut filters: Vec<AnyFilter>) -> Self {
        filters.sort_by_key(|filter| filter.cost());
        self.filters = filters;
        self
    }

    /// Documents of a block of the lead that lie in `range` and pass the filters, in `docs` with
    /// their places in the block; answers how many. The filters are ready.
    fn candidates(
        lead: &Blocks,
        taken: Range<usize>,
        (filters, matches): (&mut [AnyFilter], &mut Vec<bool>),
        docs: &mut [u32; BLOCK],
        places: &mut [u8; BLOCK],
    ) -> usize {
        let mut count = taken.len();
        docs[..count].copy_from_slice(&lead.docs[taken.clone()]);
        for (slot, at) in places.iter_mut().zip(taken) {
            *slot = at as u8;
        }
        for filter in filters {
            matches.clear();
            matches.resize(count, false);
            filter.probe(&docs[..count], matches);
            let candidates = std::mem::take(&mut count);
            for at in 0..candidates {
                (docs[count], places[count]) = (docs[at], places[at]);
                count += usize::from(matches[at]);
            }
        }
        count
    }

    /// The bound of all terms but the lead in the whole segment.
    fn rest(&self) -> f64 {
        self.words[1..]
            .iter()
            .filter_map(|word| word.score.as_ref())
            .map(|it| f64::from(it.all))
            .sum()
    }

    /// Computes each term's bound in `range`; answers the bound of their sum.
    fn bound_words(&mut self, range: &Range<u32>) -> f32 {
        if self.bounded != *range {
            for Word { blocks, score } in &mut self.words {
                if let Some(score) = score {
                    score.here = score.bounds.over(blocks, range.clone());
                }
            }
            self.bounded = range.clone();
        }
        bound(self.words.iter().map(|word| f64::from(word.here())).sum())
    }

    /// Appends the matches of a block of the lead that lie in `range`.
    fn join(&mut self, block: u32, range: &Range<u32>, bar: f32, hits: &mut Hits) {
        let Self { words, docs, sums, scores, scored, dull, met, filters, matches, .. } = self;
        let Some((lead, others)) = words.split_first_mut() else { return };
        lead.blocks.enter(block);
        let taken = lead.blocks.places(range);
        let mut count = taken.len();
        let mut rest: f64 = others.iter().map(|word| f64::from(word.here())).sum();
        if filters.is_empty() {
            docs[..count].copy_from_slice(&lead.blocks.docs[taken.clone()]);
            if *scored {
                lead.score_places(taken, scores);
            }
        } else {
            let mut places = [0; BLOCK];
            let rules = (filters.as_mut_slice(), matches);
            count = Self::candidates(&lead.blocks, taken, rules, docs, &mut places);
            if count == 0 {
                return;
            }
            if *scored {
                lead.score_some(&docs[..count], &places, scores);
            }
        }
        if *scored {
            for (sum, score) in sums.iter_mut().zip(&scores[..count]) {
                *sum = f64::from(*score);
            }
            if bar > 0.0 {
                count = keep_reaching(&mut docs[..count], sums, rest, bar);
            }
        }
        for word in others {
            rest -= f64::from(word.here());
            let (candidates, mut from) = (count, 0);
            count = 0;
            while from < candidates {
                let looked = match *scored {
                    true => word.blocks.meet::<true>(&docs[from..candidates], met),
                    false => word.blocks.meet::<false>(&docs[from..candidates], met),
                };
                if *scored {
                    count = word.take(met, docs, sums, from, count, Bar { bar, rest, dull: *dull });
                } else {
                    for which in &met.which[..met.count] {
                        docs[count] = docs[from + usize::from(*which)];
                        count += 1;
                    }
                }
                from += looked;
            }
        }
        if !*scored {
            hits.docs.extend_from_slice(&docs[..count]);
            hits.scores.resize(hits.docs.len(), 0.0);
            return;
        }
        for (doc, sum) in docs[..count].iter().zip(sums.iter()) {
            let score = sum.max(0.0) as f32;
            if score >= bar {
                hits.docs.push(*doc);
                hits.scores.push(score);
            }
        }
    }
}

/// What sums are held against.
#[derive(Clone, Copy)]
struct Bar {
    /// Below it a document is dropped.
    bar: f32,
    /// Below it a document only counts.
    dull: f32,
    /// What terms still to come add at most.
    rest: f64,
}

/// Keeps the documents whose sums reach the bar with `rest` more; sums move along.
#[inline]
fn keep_reaching(docs: &mut [u32], sums: &mut [f64; BLOCK], rest: f64, bar: f32) -> usize {
    let mut kept = 0;
    for at in 0..docs.len().min(BLOCK) {
        let sum = sums[at];
        docs[kept] = docs[at];
        sums[kept] = sum;
        kept += usize::from(bound(sum + rest) >= bar);
    }
    kept
}

impl Word {
    fn new(part: Part) -> Self {
        let need = if part.score.is_some() { segment::Need::Freqs } else { segment::Need::Docs };
        let blocks = Blocks::new(part.terms.postings(&part.info, need));
        let score = part.score.map(|(norms, weight)| {
            let norms = norms.filter(|_| weight.norms);
            let mut bounds = Bounds::new(&blocks, weight.clone());
            let all = bounds.all(&blocks);
            Score { norms, weight, bounds, all, here: all }
        });
        Self { blocks, score }
    }

    /// The bound in the window at hand.
    #[inline]
    fn here(&self) -> f32 {
        self.score.as_ref().map_or(0.0, |score| score.here)
    }

    /// Scores of places of the block entered.
    fn score_places(&mut self, places: Range<usize>, out: &mut [f32; BLOCK]) {
        let Some(score) = &self.score else { return };
        let (docs, freqs) = self.blocks.both(places);
        let out = &mut out[..docs.len()];
        match score.norms.as_ref().map(Norms::dense) {
            Some(Some(norms)) => {
                for (slot, doc) in out.iter_mut().zip(docs) {
                    *slot = score.weight.inverses[usize::from(norms[*doc as usize])];
                }
            }
            _ => {
                for (slot, doc) in out.iter_mut().zip(docs) {
                    *slot = score.inverse(*doc);
                }
            }
        }
        score.weight.scores(freqs, out);
    }

    /// Scores of some documents of the block entered, by their places.
    fn score_some(&mut self, docs: &[u32], places: &[u8; BLOCK], out: &mut [f32; BLOCK]) {
        let Some(score) = &self.score else { return };
        let block = self.blocks.block;
        let freqs = self.blocks.freqs(block);
        for ((slot, doc), at) in out.iter_mut().zip(docs).zip(places) {
            let freq = freqs[usize::from(*at) % BLOCK] as f32;
            *slot = score.weight.score(freq, score.inverse(*doc));
        }
    }

    /// Adds the scores of the documents met, which stand at `from` and after, to their sums; keeps
    /// those worth it from place `kept` on, and answers the place after them.
    #[inline]
    fn take(
        &mut self,
        met: &Met,
        docs: &mut [u32; BLOCK],
        sums: &mut [f64; BLOCK],
        from: usize,
        mut kept: usize,
        Bar { bar, dull, rest }: Bar,
    ) -> usize {
        let Some(score) = &mut self.score else { return kept };
        if met.count == 0 {
            return kept;
        }
        let least = bar.max(dull);
        let most = match least > 0.0 {
            true => f64::from(score.bounds.block(&self.blocks, self.blocks.block)) + rest,
            false => f64::INFINITY,
        };
        for (which, place) in met.which[..met.count].iter().zip(&met.places) {
            let at = from + usize::from(*which);
            let (doc, sum) = (docs[at], sums[at]);
            if sum < 0.0 || bound(sum + most) < least {
                if bar <= 0.0 {
                    (docs[kept], sums[kept]) = (doc, -1.0);
                    kept += 1;
                }
                continue;
            }
            let freq = self.blocks.freq(usize::from(*place)) as f32;
            let more = score.weight.score(freq, score.inverse(doc));
            (docs[kept], sums[kept]) = (doc, sum + f64::from(more));
            kept += 1;
        }
        kept
    }
}

impl Scorer for AllTerms {
    fn cost(&self) -> u64 {
        let lead = u64::from(self.words[0].blocks.postings.doc_freq());
        self.filters.first().map_or(lead, |filter| filter.cost().min(lead))
    }

    fn next(&mut self, from: u32) -> u32 {
        let words = self.words.iter();
        words.fold(from, |at, word| if at == END { END } else { word.blocks.next(at) })
    }

    fn window(&mut self, mut from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        loop {
            let rest = self.rest();
            let lead = &mut self.words[0];
            let mut block = lead.blocks.block_of(from);
            if let Some(score) = &mut lead.score
                && bar > 0.0
            {
                let first = block;
                block = score.bounds.worthy(&lead.blocks, block, needed(bar, rest));
                turn.spend((block - first) as usize);
            }
            turn.spend(16);
            if block >= lead.blocks.count {
                return Window::NONE;
            }
            let start = match block {
                0 => from,
                block => from.max(lead.blocks.postings.block_last(block - 1).get() + 1),
            };
            // The first blocks may set a bar for all others.
            let taken = match (bar > 0.0, self.scored) {
                (true, _) => 1,
                (false, true) => self.taken,
                (false, false) => BLOCKS_A_WINDOW,
            };
            self.taken = (taken * 2).min(BLOCKS_A_WINDOW);
            let last = (block + taken).min(lead.blocks.count) - 1;
            let end = lead.blocks.postings.block_last(last).get() + 1;
            let window = Window { start, end: end.max(start), bar };
            if bar <= 0.0 || self.bound_words(&window.range()) >= bar {
                return window;
            }
            from = window.end;
            if turn.is_over() {
                return Window { start: from, end: from, bar };
            }
        }
    }

    fn max_score(&mut self, range: Range<u32>) -> f32 {
        self.bound_words(&range)
    }

    fn prepare(&mut self, _window: &Window, turn: &mut Turn<'_>) -> bool {
        turn.spend(256 * self.words.len());
        // Blocks are there; what filters gather first may take longer than one turn.
        self.filters.iter_mut().all(|filter| filter.prepare_probe(&[], turn))
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        let range = window.range();
        if range.is_empty() {
            return;
        }
        if self.scored && window.bar.max(self.dull) > 0.0 {
            self.bound_words(&range);
        }
        let mut block = self.words[0].blocks.block_of(range.start);
        while block < self.words[0].blocks.count {
            let lead = &self.words[0].blocks.postings;
            if block > 0 && lead.block_last(block - 1).get() + 1 >= range.end {
                break;
            }
            self.join(block, &range, window.bar, hits);
            block += 1;
        }
    }

    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        turn.spend(docs.len() * 2);
        self.filters.iter_mut().all(|filter| filter.prepare_probe(docs, turn))
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        scores.fill(0.0);
        for filter in &mut self.filters {
            self.matches.clear();
            self.matches.resize(docs.len(), false);
            filter.probe(docs, &mut self.matches);
            for (slot, matches) in scores.iter_mut().zip(&self.matches) {
                *slot = if *matches { *slot } else { NO_MATCH };
            }
        }
        for (slot, doc) in scores.iter_mut().zip(docs) {
            if *slot < 0.0 {
                continue;
            }
            let mut sum = 0.0;
            let matches = self.words.iter_mut().all(|word| {
                let found = word.blocks.find(*doc);
                if found && let Some(score) = &word.score {
                    let freq = word.blocks.freq(word.blocks.at) as f32;
                    sum += f64::from(score.weight.score(freq, score.inverse(*doc)));
                }
                found
            });
            *slot = if matches { sum as f32 } else { NO_MATCH };
        }
    }

    fn count_below(&mut self, bar: f32) {
        self.dull = bar;
    }
}
