//! Merges the terms of a field: those of several segments, with their documents renumbered.
//!
//! Always true
//! 1. Terms none of whose documents is kept are left out.
//! 2. Damage in an input ends the merge with its error: nothing is lost in silence.
//! 3. Memory: one block of terms and one of postings for each input.
//! 4. Where documents of the inputs stand between one another, so do those of each term.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::DocId;

use super::{Posting, TermCursor, TermOptions, TermSource, Terms};
use crate::docmap::InputMap;
use crate::error::Result;
use crate::postings::Need;
use crate::postings::merge::{MergedPart, posting};
use crate::steps::Steps;

/// Terms between two questions whether to go on.
const STEP_TERMS: u32 = 256;

/// The terms of one field of several segments, as those of one.
pub struct MergedTerms<'a, 's> {
    inputs: Vec<Input<'a>>,
    options: TermOptions,
    /// The current term, if there was any.
    term: Vec<u8>,
    has_term: bool,
    /// Inputs that have it and were not yet read, the last first.
    waiting: Vec<usize>,
    part: Option<MergedPart<'a>>,
    /// Where documents of the inputs stand between one another: the parts of all inputs that have
    /// the term, each at its next document.
    between: Option<Between<'a>>,
    /// The term's first document, read to know that there is one.
    first: Option<(DocId, u32)>,
    positions: Vec<u32>,
    steps: &'a mut Steps<'s>,
    step_terms: u32,
    step_bytes: u64,
}

struct Input<'a> {
    terms: Terms,
    map: &'a InputMap,
    cursor: TermCursor,
    is_at_end: bool,
}

impl<'a, 's> MergedTerms<'a, 's> {
    /// The terms of `inputs`, in the order of the document map, each with where its documents go.
    pub fn new(
        inputs: impl IntoIterator<Item = (Terms, &'a InputMap)>,
        steps: &'a mut Steps<'s>,
    ) -> Result<Self> {
        let mut merged = Self {
            inputs: Vec::new(),
            options: TermOptions::TEXT,
            term: Vec::new(),
            has_term: false,
            waiting: Vec::new(),
            part: None,
            between: None,
            first: None,
            positions: Vec::new(),
            steps,
            step_terms: 0,
            step_bytes: 0,
        };
        for (terms, map) in inputs {
            let mut cursor = terms.cursor();
            let is_at_end = !cursor.next()?;
            // What one input does not keep, the result cannot.
            merged.options.freqs &= terms.options().freqs;
            merged.options.positions &= terms.options().positions;
            if map.new_docs().is_none() {
                merged.between.get_or_insert_default();
            }
            merged.inputs.push(Input { terms, map, cursor, is_at_end });
        }
        Ok(merged)
    }

    /// What all inputs keep, and so the result.
    pub fn options(&self) -> TermOptions {
        self.options
    }

    /// Moves to the lowest term of all inputs; false where there is none.
    fn advance(&mut self) -> Result<bool> {
        let alive = self.inputs.iter().filter(|input| !input.is_at_end);
        let Some(lowest) = alive.map(|input| input.cursor.term()).min() else {
            return Ok(false);
        };
        if self.has_term && *lowest <= *self.term {
            let input = self.inputs.iter().find(|input| !input.is_at_end);
            let input = input.expect("one of them has the lowest term");
            return Err(input.terms.malformed("terms do not rise"));
        }
        self.has_term = true;
        self.term.clear();
        self.term.extend_from_slice(lowest);
        self.waiting.clear();
        for (at, input) in self.inputs.iter().enumerate().rev() {
            if !input.is_at_end && input.cursor.term() == self.term {
                self.waiting.push(at);
            }
        }
        Ok(true)
    }

    /// The next document of the current term.
    fn read(&mut self) -> Result<Option<(DocId, u32)>> {
        if self.between.is_some() {
            while let Some(part) = self.open()? {
                self.between.get_or_insert_default().add(part);
            }
            let between = self.between.get_or_insert_default();
            return Ok(between.next(&mut self.positions));
        }
        loop {
            if let Some(part) = &mut self.part {
                if let Some(found) = part.next(&mut self.positions) {
                    return Ok(Some(found));
                }
                self.part = None;
            }
            self.part = self.open()?;
            if self.part.is_none() {
                return Ok(None);
            }
        }
    }

    /// The documents of the next input that has the current term.
    fn open(&mut self) -> Result<Option<MergedPart<'a>>> {
        let Some(at) = self.waiting.pop() else { return Ok(None) };
        let input = &mut self.inputs[at];
        let info = input.cursor.info()?;
        self.step_bytes += u64::from(info.postings_len) + info.positions_len;
        let need = match self.options {
            TermOptions { positions: true, .. } => Need::Positions,
            TermOptions { freqs: true, .. } => Need::Freqs,
            _ => Need::Docs,
        };
        let postings = input.terms.postings(&info, need);
        input.is_at_end = !input.cursor.next()?;
        Ok(Some(MergedPart::new(postings, input.map, need)))
    }
}

/// The documents of one term in several inputs, in the order of the result.
#[derive(Default)]
struct Between<'a> {
    parts: Vec<Part<'a>>,
    heads: BinaryHeap<Reverse<(DocId, usize)>>,
}

/// One input's documents of a term, at one of them.
struct Part<'a> {
    rest: MergedPart<'a>,
    freq: u32,
    positions: Vec<u32>,
}

impl<'a> Between<'a> {
    /// Adds the documents of one more input.
    fn add(&mut self, mut rest: MergedPart<'a>) {
        let mut positions = Vec::new();
        if let Some((doc, freq)) = rest.next(&mut positions) {
            self.heads.push(Reverse((doc, self.parts.len())));
            self.parts.push(Part { rest, freq, positions });
        }
    }

    /// The next document; its positions go to `positions`.
    fn next(&mut self, positions: &mut Vec<u32>) -> Option<(DocId, u32)> {
        let Some(Reverse((doc, at))) = self.heads.pop() else {
            self.parts.clear();
            return None;
        };
        let part = &mut self.parts[at];
        std::mem::swap(positions, &mut part.positions);
        let found = (doc, part.freq);
        if let Some((doc, freq)) = part.rest.next(&mut part.positions) {
            part.freq = freq;
            self.heads.push(Reverse((doc, at)));
        }
        Some(found)
    }
}

impl TermSource for MergedTerms<'_, '_> {
    fn positions_bytes(&self) -> usize {
        let sections = self.inputs.iter().filter_map(|input| input.terms.positions_bytes());
        let bytes: u64 = sections.sum();
        if self.options.positions { usize::try_from(bytes).unwrap_or(0) } else { 0 }
    }

    fn next_term(&mut self) -> Result<Option<&[u8]>> {
        loop {
            // Whoever did not take all documents of the term passes them now.
            while self.read()?.is_some() {}
            for input in &self.inputs {
                input.terms.fault()?;
            }
            self.step_terms += 1;
            if self.step_terms == STEP_TERMS {
                self.steps.step(self.step_bytes)?;
                (self.step_terms, self.step_bytes) = (0, 0);
            }
            if !self.advance()? {
                return Ok(None);
            }
            self.first = self.read()?;
            if self.first.is_some() {
                return Ok(Some(&self.term));
            }
        }
    }

    fn next_posting(&mut self) -> Result<Option<Posting<'_>>> {
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => self.read()?,
        };
        Ok(next.map(|next| posting(next, &self.positions)))
    }
}
