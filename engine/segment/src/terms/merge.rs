//! Merges the terms of a field: those of several segments, with their documents renumbered.
//!
//! Always true
//! 1. Terms none of whose documents is kept are left out.
//! 2. Damage in an input ends the merge with its error: nothing is lost in silence.
//! 3. Memory: one block of terms and one of postings for each input.

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
        loop {
            if let Some(part) = &mut self.part {
                if let Some(found) = part.next(&mut self.positions) {
                    return Ok(Some(found));
                }
                self.part = None;
            }
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
            self.part = Some(MergedPart::new(postings, input.map, need));
        }
    }
}

impl TermSource for MergedTerms<'_, '_> {
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
