//! Documents inside documents: what their children match, and how well.
//!
//! Children stand before their parent (D5). The matches of a segment are gathered whole, in steps,
//! when the first window is asked for: each child's score goes to the next parent after it.

use std::ops::Range;

use base::DocId;
use segment::{Postings, Segment};

use super::{
    AnyScorer, Bits, END, Filter, Hits, NO_MATCH, Scorer, Turn, WINDOW, Window, bits, window_of,
};
use crate::ast::NestedScore;

/// Who the parent of a child is.
pub enum Parents {
    /// The document that stands for itself.
    Root,
    /// Those of a path inside: a bit for each document.
    Path(Box<Postings>, Vec<u64>),
}

/// Parents of children that match.
pub struct Nested {
    children: AnyScorer,
    parents: Parents,
    segment: Segment,
    mode: NestedScore,
    boost: f32,
    /// Where the next window of children is looked for.
    pos: u32,
    window: Option<Window>,
    hits: Hits,
    docs: Vec<u32>,
    scores: Vec<f32>,
    /// Of the parent at hand: sum, least, greatest, count.
    open: Option<(u32, f64, f32, f32, u32)>,
    done: bool,
    most: f32,
}

impl Nested {
    /// Parents of what `children` match in a segment.
    pub fn new(
        children: AnyScorer,
        parents: Parents,
        segment: &Segment,
        mode: NestedScore,
        boost: f32,
    ) -> Self {
        Self {
            children,
            parents,
            segment: segment.clone(),
            mode,
            boost,
            pos: 0,
            window: None,
            hits: Hits::default(),
            docs: Vec::new(),
            scores: Vec::new(),
            open: None,
            done: false,
            most: 0.0,
        }
    }

    fn parent_of(&self, child: u32) -> Option<u32> {
        match &self.parents {
            Parents::Root => self.segment.parents()?.of(DocId(child)).map(|parent| parent.get()),
            Parents::Path(_, words) => {
                let mut at = child as usize / 64;
                let mut word = words.get(at)? & (u64::MAX << (child % 64));
                while word == 0 {
                    at += 1;
                    word = *words.get(at)?;
                }
                Some(at as u32 * 64 + word.trailing_zeros())
            }
        }
    }

    fn gather(&mut self, turn: &mut Turn<'_>) -> bool {
        if let Parents::Path(postings, words) = &mut self.parents
            && words.is_empty()
        {
            if !turn.resident {
                let _ = postings.need_blocks(0..postings.block_count(), turn.missing);
                if !turn.is_ready() {
                    return false;
                }
            }
            let count = self.segment.doc_count();
            words.resize(count.div_ceil(64) as usize, 0);
            postings.fill_bits(0..count, words);
        }
        while !self.done {
            let window = match self.window {
                Some(window) => window,
                None => {
                    let window = self.children.window(self.pos, 0.0, turn);
                    if window.start == END || window.start >= self.segment.doc_count() {
                        self.close();
                        self.done = true;
                        break;
                    }
                    self.pos = window.start;
                    if window.start >= window.end {
                        if turn.is_over() {
                            return false;
                        }
                        continue;
                    }
                    self.window = Some(window);
                    window
                }
            };
            if !self.children.prepare(&window, turn) {
                return false;
            }
            let mut hits = std::mem::take(&mut self.hits);
            hits.clear();
            self.children.fill(&window, &mut hits);
            turn.spend(hits.docs.len() * 4 + 16);
            for (child, score) in hits.docs.iter().zip(&hits.scores) {
                if let Some(parent) = self.parent_of(*child) {
                    self.add(parent, *score);
                }
            }
            self.hits = hits;
            self.window = None;
            self.pos = window.end;
            if turn.is_over() {
                return false;
            }
        }
        true
    }

    fn add(&mut self, parent: u32, score: f32) {
        match &mut self.open {
            Some((at, sum, least, most, count)) if *at == parent => {
                *sum += f64::from(score);
                *least = least.min(score);
                *most = most.max(score);
                *count += 1;
            }
            _ => {
                self.close();
                self.open = Some((parent, f64::from(score), score, score, 1));
            }
        }
    }

    fn close(&mut self) {
        let Some((parent, sum, least, most, count)) = self.open.take() else { return };
        let score = match self.mode {
            NestedScore::Avg => (sum / f64::from(count)) as f32,
            NestedScore::Sum => sum as f32,
            NestedScore::Max => most,
            NestedScore::Min => least,
            NestedScore::None => 0.0,
        };
        let score = score * self.boost;
        self.most = self.most.max(score);
        self.docs.push(parent);
        self.scores.push(score);
    }

    fn places(&self, range: &Range<u32>) -> Range<usize> {
        let start = self.docs.partition_point(|doc| *doc < range.start);
        let end = self.docs.partition_point(|doc| *doc < range.end);
        start..end.max(start)
    }
}

impl Scorer for Nested {
    fn cost(&self) -> u64 {
        self.children.cost()
    }

    fn next(&mut self, from: u32) -> u32 {
        if !self.done {
            return if from < self.segment.doc_count() { from } else { END };
        }
        let at = self.docs.partition_point(|doc| *doc < from);
        self.docs.get(at).copied().unwrap_or(END)
    }

    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window {
        turn.spend(1);
        match self.next(from) {
            END => Window::NONE,
            start => Window { start, end: (window_of(start) + 1).saturating_mul(WINDOW), bar },
        }
    }

    fn max_score(&mut self, _: Range<u32>) -> f32 {
        if self.done { self.most } else { f32::MAX }
    }

    fn prepare(&mut self, _: &Window, turn: &mut Turn<'_>) -> bool {
        self.gather(turn)
    }

    fn fill(&mut self, window: &Window, hits: &mut Hits) {
        for at in self.places(&window.range()) {
            if self.scores[at] >= window.bar {
                hits.docs.push(self.docs[at]);
                hits.scores.push(self.scores[at]);
            }
        }
    }

    fn prepare_probe(&mut self, _: &[u32], turn: &mut Turn<'_>) -> bool {
        self.gather(turn)
    }

    fn probe(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (slot, doc) in scores.iter_mut().zip(docs) {
            *slot = match self.docs.binary_search(doc) {
                Ok(at) => self.scores[at],
                Err(_) => NO_MATCH,
            };
        }
    }
}

/// The same without scores.
pub struct NestedFilter(pub Nested);

impl Filter for NestedFilter {
    fn cost(&self) -> u64 {
        Scorer::cost(&self.0)
    }

    fn next(&mut self, from: u32) -> u32 {
        Scorer::next(&mut self.0, from)
    }

    fn prepare(&mut self, _: u32, turn: &mut Turn<'_>) -> bool {
        self.0.gather(turn)
    }

    fn fill(&mut self, window: u32, bits: &mut Bits) {
        let base = window * WINDOW;
        for at in self.0.places(&(base..base.saturating_add(WINDOW))) {
            bits::set(bits, self.0.docs[at] - base);
        }
    }

    fn prepare_probe(&mut self, _: &[u32], turn: &mut Turn<'_>) -> bool {
        self.0.gather(turn)
    }

    fn probe(&mut self, docs: &[u32], matches: &mut [bool]) {
        for (slot, doc) in matches.iter_mut().zip(docs) {
            *slot = self.0.docs.binary_search(doc).is_ok();
        }
    }
}
