//! Keys that are values: terms of a column by rank, and numbers.

use std::ops::Range;
use std::sync::Arc;

use super::census::Census;
use super::keyed::Keys;
use crate::aggs::choice::Choice;
use crate::aggs::partial::Key;
use crate::aggs::read::{MISSING_ORD, Numbers, Terms, Words};
use crate::aggs::source::Form;
use crate::iter::{Turn, WINDOW};

/// Terms of a column.
pub struct ByTerm {
    terms: Terms,
    words: Words,
    choice: Option<Arc<Choice>>,
    /// Also terms without documents.
    all: bool,
    /// Counts the documents of each without looking at them.
    census: Option<Census>,
}

impl ByTerm {
    /// The terms that `choice` allows.
    pub fn new(terms: Terms, words: Words, choice: Option<Arc<Choice>>, all: bool) -> Self {
        Self { terms, words, choice, all, census: None }
    }

    /// Where all documents count, they are counted by it.
    #[must_use]
    pub fn with_census(mut self, census: Option<Census>) -> Self {
        self.census = census;
        self
    }
}

impl Keys for ByTerm {
    fn span(&self) -> usize {
        self.terms.term_count() as usize
    }

    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.terms.prepare(docs, turn)
    }

    #[inline]
    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], mut give: F) {
        self.terms.each(docs, |at, ord| give(at, i64::from(ord)));
    }

    fn knows_counts(&self) -> bool {
        self.census.is_some()
    }

    fn count_all(&mut self, counts: &mut [u32], turn: &mut Turn<'_>) -> segment::Result<bool> {
        self.census.as_mut().map_or(Ok(true), |census| census.step(counts, turn))
    }

    fn leave(&mut self, keys: &[(u32, i64)], turn: &mut Turn<'_>) -> segment::Result<bool> {
        if turn.resident {
            return Ok(true);
        }
        if self.all {
            for ord in self.terms.ranks() {
                self.words.need(ord, turn)?;
            }
        } else {
            for (_, ord) in keys {
                self.words.need(*ord as u32, turn)?;
            }
        }
        Ok(turn.is_ready())
    }

    fn key(&mut self, key: i64) -> segment::Result<Option<Key>> {
        let word = self.words.get(key as u32)?;
        let allowed = self.choice.as_ref().is_none_or(|choice| choice.allows_term(word));
        Ok(allowed.then(|| Key::Bytes(word.into())))
    }

    fn always_max(&self) -> usize {
        if self.all { self.terms.term_count() as usize } else { 0 }
    }

    fn always(&mut self) -> segment::Result<Vec<i64>> {
        Ok(if self.all { self.terms.ranks().map(i64::from).collect() } else { Vec::new() })
    }
}

/// Numbers.
pub struct ByNumber {
    numbers: Numbers,
    choice: Option<Arc<Choice>>,
    /// Windows of the segment, where also numbers without documents count.
    all: Option<u32>,
}

impl ByNumber {
    /// The numbers that `choice` allows; with `windows` all that the segment has.
    pub fn new(numbers: Numbers, choice: Option<Arc<Choice>>, all: Option<u32>) -> Self {
        Self { numbers, choice, all }
    }
}

impl Keys for ByNumber {
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.numbers.prepare(docs, turn)
    }

    #[inline]
    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], mut give: F) {
        let choice = self.choice.as_deref();
        let form = self.numbers.form;
        let mut last = (usize::MAX, 0);
        self.numbers.each(docs, |at, value| {
            // A document has each value once.
            if last == (at, value) {
                return;
            }
            last = (at, value);
            if choice.is_none_or(|choice| choice.allows_number(form, value)) {
                give(at, value);
            }
        });
    }

    fn leave(&mut self, _keys: &[(u32, i64)], turn: &mut Turn<'_>) -> segment::Result<bool> {
        if let (Some(windows), Some(column), false) =
            (self.all, self.numbers.column(), turn.resident)
        {
            for window in 0..windows {
                column.need(window, turn.missing)?;
            }
        }
        Ok(turn.is_ready())
    }

    fn key(&mut self, key: i64) -> segment::Result<Option<Key>> {
        Ok(Some(self.numbers.form.key(key)))
    }

    fn always_max(&self) -> usize {
        // At most one a document.
        self.all.map_or(0, |windows| windows as usize * WINDOW as usize)
    }

    fn always(&mut self) -> segment::Result<Vec<i64>> {
        let (Some(windows), Some(column)) = (self.all, self.numbers.column()) else {
            return Ok(Vec::new());
        };
        let mut values = Vec::new();
        let mut pairs = segment::columns::Pairs::default();
        for window in 0..windows {
            column.pairs(window, &mut pairs);
            values.extend_from_slice(&pairs.values);
            values.sort_unstable();
            values.dedup();
        }
        let form = self.numbers.form;
        if let Some(choice) = &self.choice {
            values.retain(|value| choice.allows_number(form, *value));
        }
        Ok(values)
    }
}

/// A value of any kind: parts of keys of several fields.
pub enum Part {
    /// A term.
    Term(Box<(Terms, Words)>),
    /// A number.
    Number(Box<Numbers>),
}

impl Part {
    /// Names what [`Part::each`] will read.
    pub fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        match self {
            Self::Term(term) => term.0.prepare(docs, turn),
            Self::Number(numbers) => numbers.prepare(docs, turn),
        }
    }

    /// Gives each value of each document as a number.
    pub fn each(&mut self, docs: &[u32], mut give: impl FnMut(usize, i64)) {
        match self {
            Self::Term(term) => term.0.each(docs, |at, ord| give(at, i64::from(ord))),
            Self::Number(numbers) => {
                let mut last = (usize::MAX, 0);
                numbers.each(docs, |at, value| {
                    if last != (at, value) {
                        last = (at, value);
                        give(at, value);
                    }
                });
            }
        }
    }

    /// Names what [`Part::key`] will read.
    pub fn need(&self, value: i64, turn: &mut Turn<'_>) -> segment::Result<()> {
        match self {
            Self::Term(term) if value != i64::from(MISSING_ORD) => term.1.need(value as u32, turn),
            _ => Ok(()),
        }
    }

    /// A value as it is merged.
    pub fn key(&mut self, value: i64) -> segment::Result<Key> {
        match self {
            Self::Term(term) => Ok(Key::Bytes(term.1.get(value as u32)?.into())),
            Self::Number(numbers) => Ok(numbers.form.key(value)),
        }
    }

    /// What its numbers are.
    pub fn form(&self) -> Form {
        match self {
            Self::Term(_) => Form::Bytes,
            Self::Number(numbers) => numbers.form,
        }
    }
}
