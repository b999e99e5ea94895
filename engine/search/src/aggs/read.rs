//! Values of documents, read from the columns of one segment.
//!
//! Where most documents of a window are asked for, the window is decoded whole; else each by
//! itself.

use std::ops::Range;
use std::sync::Arc;

use base::DocId;
use segment::columns::{Numeric, Ordinals, WINDOW, WindowWords};
use segment::{Missing as Absent, Segment, columns};

use super::metric::distinct::hash_bytes;
use super::scripted::Board;
use super::source::{Column, Form, Missing, Source};
use crate::iter::{Turn, window_of};

/// One in so many documents of a window: it is decoded whole.
const WHOLE_FROM: usize = 8;

/// Names the windows that `docs` lie in.
fn need(column: &Numeric, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
    if turn.resident || docs.is_empty() {
        return true;
    }
    for window in window_of(docs.start)..=window_of(docs.end - 1) {
        if column.need(window, turn.missing).is_err() {
            // Whoever drives finds the fault.
            return true;
        }
    }
    turn.is_ready()
}

/// Numbers of one column.
pub struct Numbers {
    /// What they are.
    pub form: Form,
    column: Option<Numeric>,
    missing: Option<i64>,
    values: Box<[i64; WINDOW as usize]>,
    present: WindowWords,
    /// Which window `values` holds.
    window: u32,
    /// Values of a run of documents.
    gathered: Vec<i64>,
    /// The number of the script that makes the values.
    script: Option<usize>,
    /// What it made of the documents at hand.
    board: Option<Arc<Board>>,
}

impl Numbers {
    /// The numbers of `source` in a segment.
    pub fn open(source: &Source, segment: &Segment) -> Self {
        let column = match source.column {
            Column::Numeric(field) => segment.numeric(field).cloned(),
            _ => None,
        };
        let missing = match source.missing {
            Some(Missing::Number(value)) => Some(value),
            _ => None,
        };
        Self {
            form: source.form,
            column,
            missing,
            values: Box::new([0; WINDOW as usize]),
            present: [0; WINDOW as usize / 64],
            window: u32::MAX,
            gathered: Vec::new(),
            script: match source.column {
                Column::Script(number) => Some(number),
                _ => None,
            },
            board: None,
        }
    }

    /// No document has a value.
    pub fn is_empty(&self) -> bool {
        self.script.is_none() && self.column.is_none() && self.missing.is_none()
    }

    /// The column.
    pub fn column(&self) -> Option<&Numeric> {
        self.column.as_ref()
    }

    /// Least and greatest of all values, what stands for no value included.
    pub fn ends(&self) -> Option<(i64, i64)> {
        if self.script.is_some() {
            return None;
        }
        let column = self.column.as_ref().map(|column| (column.min(), column.max()));
        let missing = self.missing.map(|value| (value, value));
        let ends = column.into_iter().chain(missing);
        ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// No document has two.
    pub fn is_single(&self) -> bool {
        self.script.is_none() && self.column.as_ref().is_none_or(Numeric::is_single)
    }

    /// Names what [`Numbers::each`] will read.
    pub fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        if self.script.is_some() {
            self.board.clone_from(&turn.board);
        }
        self.column.as_ref().is_none_or(|column| need(column, docs, turn))
    }

    /// Gives each value of each document, rising, with the document's place in `docs`.
    #[inline]
    pub fn each(&mut self, docs: &[u32], mut give: impl FnMut(usize, i64)) {
        if let (Some(script), Some(board)) = (self.script, &self.board) {
            for (at, doc) in docs.iter().enumerate() {
                let made = board.of(script, *doc);
                let numbers = made.map_or(&[][..], |made| made.numbers.as_slice());
                let texts = made.map_or(&[][..], |made| made.texts.as_slice());
                numbers.iter().for_each(|number| give(at, self.form.raw(*number)));
                texts.iter().for_each(|text| give(at, hash_bytes(text) as i64));
                if let (true, Some(missing)) =
                    (numbers.is_empty() && texts.is_empty(), self.missing)
                {
                    give(at, missing);
                }
            }
            return;
        }
        let Some(column) = &self.column else {
            if let Some(missing) = self.missing {
                (0..docs.len()).for_each(|at| give(at, missing));
            }
            return;
        };
        let mut at = 0;
        while at < docs.len() {
            let window = window_of(docs[at]);
            let base = window * WINDOW;
            let len = docs[at..].partition_point(|doc| window_of(*doc) == window);
            let run = &docs[at..at + len];
            let zone = column.zone(window);
            let single = zone.doc_count == zone.value_count;
            if single && run.len() * WHOLE_FROM >= zone.doc_count as usize {
                if self.window != window {
                    column.fill(window, &mut self.values, &mut self.present);
                    self.window = window;
                }
                for (within, doc) in run.iter().enumerate() {
                    let place = (doc - base) as usize;
                    if self.present[place / 64] >> (place % 64) & 1 == 1 {
                        give(at + within, self.values[place]);
                    } else if let Some(missing) = self.missing {
                        give(at + within, missing);
                    }
                }
            } else {
                let mut cursor = column.cursor();
                for (within, doc) in run.iter().enumerate() {
                    let mut any = false;
                    for value in cursor.values(DocId(*doc)) {
                        any = true;
                        give(at + within, value);
                    }
                    if let (false, Some(missing)) = (any, self.missing) {
                        give(at + within, missing);
                    }
                }
            }
            at += len;
        }
    }

    /// Gives all values of all documents, rising, many at once.
    pub fn runs(&mut self, docs: &[u32], mut give: impl FnMut(&[i64])) {
        let mut rest = docs;
        while let Some(&first) = rest.first() {
            let window = window_of(first);
            let len = rest.partition_point(|doc| window_of(*doc) == window);
            let (run, after) = rest.split_at(len);
            rest = after;
            let mut gathered = std::mem::take(&mut self.gathered);
            gathered.clear();
            let whole = self.column.as_ref().filter(|column| {
                let zone = column.zone(window);
                zone.doc_count == zone.value_count
                    && run.len() * WHOLE_FROM >= zone.doc_count as usize
            });
            let Some(column) = whole else {
                self.each(run, |_, value| gathered.push(value));
                give(&gathered);
                self.gathered = gathered;
                continue;
            };
            if self.window != window {
                column.fill(window, &mut self.values, &mut self.present);
                self.window = window;
            }
            // Each value is written; where it does not count, the next one takes its place.
            gathered.resize(run.len(), 0);
            let mut end = 0;
            for doc in run {
                let place = (doc - window * WINDOW) as usize;
                let is_present = self.present[place / 64] >> (place % 64) & 1 == 1;
                gathered[end] = match (is_present, self.missing) {
                    (false, Some(missing)) => missing,
                    _ => self.values[place],
                };
                end += usize::from(is_present || self.missing.is_some());
            }
            give(&gathered[..end]);
            self.gathered = gathered;
        }
    }
}

/// Stands for what stands for no term.
pub const MISSING_ORD: u32 = u32::MAX;

/// Terms of one column, by rank.
pub struct Terms {
    column: Option<Ordinals>,
    missing: bool,
    /// Every document has the rank 0.
    constant: bool,
    /// Only these ranks: the terms of one key of a `flattened` field.
    within: Option<Range<u32>>,
    /// Documents with a byte string have the rank 0.
    strings: Option<columns::Binary>,
    ords: Box<[u32; WINDOW as usize]>,
    present: WindowWords,
    window: u32,
}

impl Terms {
    /// The terms of `source` in a segment.
    pub fn open(source: &Source, segment: &Segment) -> Self {
        let column = match source.column {
            Column::Ordinals(field) => segment.ordinals(field).cloned(),
            _ => None,
        };
        let prefix = source.field.as_ref().and_then(|field| field.term_prefix());
        let within = column.as_ref().zip(prefix);
        let within = within.map(|(column, prefix)| ranks_from(column, &prefix));
        Self {
            column,
            within,
            missing: source.missing.is_some(),
            strings: match source.column {
                Column::Spans(field) => segment.binary(field).cloned(),
                _ => None,
            },
            constant: matches!(source.column, Column::Constant(_)),
            ords: Box::new([0; WINDOW as usize]),
            present: [0; WINDOW as usize / 64],
            window: u32::MAX,
        }
    }

    /// The column.
    pub fn column(&self) -> Option<&Ordinals> {
        self.column.as_ref()
    }

    /// Number of ranks; those of what stands for no value left out.
    pub fn term_count(&self) -> u32 {
        match &self.column {
            Some(column) => column.term_count(),
            None => u32::from(self.constant),
        }
    }

    /// The ranks that count.
    pub fn ranks(&self) -> Range<u32> {
        self.within.clone().unwrap_or(0..self.term_count())
    }

    /// No document has two.
    pub fn is_single(&self) -> bool {
        self.column.as_ref().is_none_or(Ordinals::is_single)
    }

    /// Names what [`Terms::each`] will read.
    pub fn prepare(&self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        if let (Some(strings), false, false) = (&self.strings, turn.resident, docs.is_empty()) {
            for window in window_of(docs.start)..=window_of(docs.end - 1) {
                if strings.need(window, turn.missing).is_err() {
                    return true;
                }
            }
            return turn.is_ready();
        }
        let Some(column) = &self.column else { return true };
        if turn.resident || docs.is_empty() {
            return true;
        }
        for window in window_of(docs.start)..=window_of(docs.end - 1) {
            if column.need(window, turn.missing).is_err() {
                return true;
            }
        }
        turn.is_ready()
    }

    /// Gives the rank of each term of each document, rising, with the document's place in `docs`.
    #[inline]
    pub fn each(&mut self, docs: &[u32], mut give: impl FnMut(usize, u32)) {
        if let Some(strings) = &self.strings {
            for (at, doc) in docs.iter().enumerate() {
                let window = window_of(*doc);
                if self.window != window {
                    self.present.fill(0);
                    // Damage is found by whoever drives.
                    let _ = strings.presence(window, &mut self.present);
                    self.window = window;
                }
                let place = (doc % WINDOW) as usize;
                if self.present[place / 64] >> (place % 64) & 1 == 1 {
                    give(at, 0);
                }
            }
            return;
        }
        let Some(column) = &self.column else {
            if self.constant || self.missing {
                let ord = if self.constant { 0 } else { MISSING_ORD };
                (0..docs.len()).for_each(|at| give(at, ord));
            }
            return;
        };
        let mut at = 0;
        while at < docs.len() {
            let window = window_of(docs[at]);
            let base = window * WINDOW;
            let len = docs[at..].partition_point(|doc| window_of(*doc) == window);
            let run = &docs[at..at + len];
            let zone = column.zone(window);
            let single = zone.doc_count == zone.value_count && self.within.is_none();
            if single && run.len() * WHOLE_FROM >= zone.doc_count as usize {
                if self.window != window {
                    column.fill(window, &mut self.ords, &mut self.present);
                    self.window = window;
                }
                for (within, doc) in run.iter().enumerate() {
                    let place = (doc - base) as usize;
                    if self.present[place / 64] >> (place % 64) & 1 == 1 {
                        give(at + within, self.ords[place]);
                    } else if self.missing {
                        give(at + within, MISSING_ORD);
                    }
                }
            } else {
                let last = i64::from(column.term_count()) - 1;
                let mut cursor = column.cursor();
                for (within, doc) in run.iter().enumerate() {
                    let mut any = false;
                    for rank in cursor.values(DocId(*doc)) {
                        // Damage must not lead beyond the terms.
                        let rank = rank.clamp(0, last) as u32;
                        if self.within.as_ref().is_some_and(|ranks| !ranks.contains(&rank)) {
                            continue;
                        }
                        any = true;
                        give(at + within, rank);
                    }
                    if !any && self.missing {
                        give(at + within, MISSING_ORD);
                    }
                }
            }
            at += len;
        }
    }
}

/// The ranks of the terms that begin with `prefix`, which ends with a byte below 255.
pub(crate) fn ranks_from(column: &Ordinals, prefix: &[u8]) -> Range<u32> {
    let mut end = prefix.to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    rank_of(column, prefix)..rank_of(column, &end)
}

/// The rank of the first term at or above `term`.
fn rank_of(column: &Ordinals, term: &[u8]) -> u32 {
    let mut reader = column.terms();
    let mut missing = Absent::new();
    loop {
        // Damage is found by whoever drives.
        if reader.need_lookup(term, &mut missing).is_err() {
            return 0;
        }
        if missing.is_empty() {
            break;
        }
        missing.fetch();
    }
    match reader.lookup(term) {
        Ok(Ok(rank) | Err(rank)) => rank.get(),
        Err(_) => 0,
    }
}

/// Reads the terms of ranks.
pub struct Words {
    reader: Option<columns::DictionaryReader>,
    constant: Option<Box<[u8]>>,
    missing: Option<Box<[u8]>>,
}

impl Words {
    /// The words of `source` in a segment.
    pub fn open(source: &Source, segment: &Segment) -> Self {
        let reader = match source.column {
            Column::Ordinals(field) => segment.ordinals(field).map(Ordinals::terms),
            _ => None,
        };
        let constant = match &source.column {
            Column::Constant(term) => Some(term.clone()),
            _ => None,
        };
        let missing = match &source.missing {
            Some(Missing::Bytes(term)) => Some(term.clone()),
            _ => None,
        };
        Self { reader, constant, missing }
    }

    /// Names what [`Words::get`] will read.
    pub fn need(&self, ord: u32, turn: &mut Turn<'_>) -> segment::Result<()> {
        match &self.reader {
            Some(reader) if ord != MISSING_ORD => reader.need(base::Ord(ord), turn.missing),
            _ => Ok(()),
        }
    }

    /// The word of a rank; rising ranks cost least.
    pub fn get(&mut self, ord: u32) -> segment::Result<&[u8]> {
        if ord == MISSING_ORD {
            return Ok(self.missing.as_deref().unwrap_or_default());
        }
        if let Some(constant) = &self.constant {
            return Ok(constant);
        }
        match &mut self.reader {
            Some(reader) => reader.term(base::Ord(ord)),
            None => Ok(&[]),
        }
    }

    /// The rank of a word.
    pub fn find(&mut self, word: &[u8]) -> segment::Result<Option<u32>> {
        if let Some(constant) = &self.constant {
            return Ok((**constant == *word).then_some(0));
        }
        match &mut self.reader {
            Some(reader) => Ok(reader.lookup(word)?.ok().map(base::Ord::get)),
            None => Ok(None),
        }
    }
}
