//! Makes one column of those of several segments, window by window.
//!
//! Always true
//! 1. Values of dropped documents are dropped, and with them the terms that no kept document has.
//! 2. In memory are one window, and for terms four bytes for each term of an input.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::{DocId, FieldNo, Ord};

use super::binary::{Binary, BinaryWriter};
use super::block::Block;
use super::dictionary::{DictionaryReader, DictionaryWriter};
use super::ordinal::Ordinals;
use super::reader::Numeric;
use super::writer::WindowsWriter;
use super::{WINDOW, WINDOW_WORDS};
use crate::bytes::bitmap::{self, Bitmap};
use crate::docmap::{DocMap, InputMap};
use crate::error::Result;
use crate::steps::Steps;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

/// What is wrong with a rank that no term has.
const OUTSIDE: &str = "every rank has a term";

/// Writes the numbers of a field of several segments, each with its number in `map`.
pub fn merge_numeric(
    writer: &mut SegmentWriter,
    field: FieldNo,
    inputs: &[(usize, &Numeric)],
    map: &DocMap,
    steps: &mut Steps<'_>,
) -> Result<()> {
    let mut body = Vec::new();
    let mut windows = WindowsWriter::new(map.doc_count(), 0);
    for &(number, column) in inputs {
        each_kept(column, map.input(number), steps, |doc, value| {
            windows.push(doc, value, &mut body);
        })?;
    }
    if !windows.is_empty() {
        let head = windows.finish(&mut body);
        writer.put(SectionKind::NumericBody, field, &body);
        writer.put(SectionKind::NumericHead, field, &head);
    }
    Ok(())
}

/// Gives the values of kept documents, with their new documents, to `each`.
fn each_kept(
    column: &Numeric,
    map: &InputMap,
    steps: &mut Steps<'_>,
    mut each: impl FnMut(DocId, i64),
) -> Result<()> {
    for window in 0..column.window_count() {
        if let Some(block) = column.block(window)? {
            each_kept_of(&block, window, map, &mut each)
                .map_err(|what| column.malformed(window, what))?;
        }
        steps.step(column.window_bytes(window))?;
    }
    Ok(())
}

/// The same for one window. Writing asserts the order that reading takes on trust, so it is
/// checked between them.
fn each_kept_of(
    block: &Block<'_>,
    window: u32,
    map: &InputMap,
    each: &mut impl FnMut(DocId, i64),
) -> std::result::Result<(), &'static str> {
    let mut last = None;
    let mut new = None;
    let mut sorted = true;
    block.for_each(|place, value| {
        sorted &= last.is_none_or(|last| last <= (place, value));
        // The values of a document stand side by side, so its new number is asked for once.
        if last.is_none_or(|(last, _)| last != place) {
            new = map.new_doc(DocId(window * WINDOW + place));
        }
        last = Some((place, value));
        if let Some(doc) = new
            && sorted
        {
            each(doc, value);
        }
    });
    if sorted { Ok(()) } else { Err("values stand by document, then by value") }
}

/// Writes the terms of a field of several segments, each with its number in `map`.
pub fn merge_ordinals(
    writer: &mut SegmentWriter,
    field: FieldNo,
    inputs: &[(usize, &Ordinals)],
    map: &DocMap,
    steps: &mut Steps<'_>,
) -> Result<()> {
    let mut body = Vec::new();
    let mut dictionary = DictionaryWriter::new(writer.term_blocks, 0);
    let ranks = merge_terms(inputs, map, steps, |term| dictionary.push(term, &mut body))?;
    let mut head = dictionary.finish(&mut body);
    let mut windows = WindowsWriter::new(map.doc_count(), 0);
    for (&(number, column), ranks) in inputs.iter().zip(&ranks) {
        let mut all_inside = true;
        each_kept(column.ranks(), map.input(number), steps, |doc, rank| {
            match usize::try_from(rank).ok().and_then(|rank| ranks.get(rank)) {
                Some(&rank) => windows.push(doc, i64::from(rank), &mut body),
                None => all_inside = false,
            }
        })?;
        if !all_inside {
            return Err(column.ranks().malformed(0, OUTSIDE));
        }
    }
    if !windows.is_empty() {
        head.bytes.extend_from_slice(&windows.finish(&mut body));
        writer.put(SectionKind::OrdinalBody, field, &body);
        writer.put(SectionKind::OrdinalHead, field, &head.bytes);
    }
    Ok(())
}

/// Gives the terms that kept documents have to `push`, rising, each once; the answer is, for each
/// input, the new rank of each old one.
fn merge_terms(
    inputs: &[(usize, &Ordinals)],
    map: &DocMap,
    steps: &mut Steps<'_>,
    mut push: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Vec<Vec<u32>>> {
    let mut streams = Vec::with_capacity(inputs.len());
    let mut heap = BinaryHeap::with_capacity(inputs.len());
    for (at, &(number, column)) in inputs.iter().enumerate() {
        let used = used_ranks(column, map.input(number), steps)?;
        let mut stream = TermStream { terms: column.terms(), used, next: 0, rank: 0 };
        let mut term = Vec::new();
        if stream.next(&mut term)? {
            heap.push(Reverse((term, at)));
        }
        streams.push(stream);
    }
    let mut ranks: Vec<Vec<u32>> =
        inputs.iter().map(|(_, column)| vec![0; column.term_count() as usize]).collect();
    let mut next_rank = 0u32;
    let mut last: Option<Vec<u8>> = None;
    while let Some(Reverse((mut term, at))) = heap.pop() {
        if last.as_deref() != Some(&term) {
            push(&term)?;
            let last = last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(&term);
            next_rank += 1;
        }
        ranks[at][streams[at].rank as usize] = next_rank - 1;
        if streams[at].next(&mut term)? {
            heap.push(Reverse((term, at)));
        }
    }
    Ok(ranks)
}

/// The ranks that kept documents have; `None` where every document is kept, and so every rank.
fn used_ranks(column: &Ordinals, map: &InputMap, steps: &mut Steps<'_>) -> Result<Option<Bitmap>> {
    if map.keeps_all() {
        return Ok(None);
    }
    let mut used = Bitmap::new(column.term_count());
    for window in 0..column.ranks().window_count() {
        if let Some(block) = column.ranks().block(window)? {
            let malformed = |what| column.ranks().malformed(window, what);
            let mut all_inside = true;
            each_kept_of(&block, window, map, &mut |_, rank| match u32::try_from(rank) {
                Ok(rank) if rank < used.len() => {
                    used.insert(rank);
                }
                _ => all_inside = false,
            })
            .map_err(malformed)?;
            if !all_inside {
                return Err(malformed(OUTSIDE));
            }
        }
        // The same windows are read once more for their values, and counted then.
        steps.step(0)?;
    }
    Ok(Some(used))
}

/// The terms of one input that are used, rising.
struct TermStream {
    terms: DictionaryReader,
    used: Option<Bitmap>,
    /// The first rank not looked at.
    next: u32,
    /// The rank of the term given last.
    rank: u32,
}

impl TermStream {
    /// Puts the next term into `term`; false where there is none.
    fn next(&mut self, term: &mut Vec<u8>) -> Result<bool> {
        while let Some(used) = &self.used
            && self.next < self.terms.term_count()
            && !used.has(self.next)
        {
            self.next += 1;
        }
        if self.next >= self.terms.term_count() {
            return Ok(false);
        }
        self.rank = self.next;
        self.next += 1;
        term.clear();
        term.extend_from_slice(self.terms.term(Ord(self.rank))?);
        Ok(true)
    }
}

/// Writes the strings of a field of several segments, each with its number in `map`.
pub fn merge_binary(
    writer: &mut SegmentWriter,
    field: FieldNo,
    inputs: &[(usize, &Binary)],
    map: &DocMap,
    steps: &mut Steps<'_>,
) -> Result<()> {
    let mut body = Vec::new();
    let mut merged = BinaryWriter::new(map.doc_count(), writer.term_blocks);
    for &(number, column) in inputs {
        let (map, mut reader) = (map.input(number), column.reader());
        for window in 0..column.window_count() {
            let mut bits = [0; WINDOW_WORDS];
            column.presence(window, &mut bits)?;
            for place in bitmap::ones(&bits) {
                let old = DocId(window * WINDOW + place);
                if let Some(doc) = map.new_doc(old)
                    && let Some(bytes) = reader.get(old)?
                {
                    merged.push(doc, bytes, &mut body)?;
                }
            }
            steps.step(column.window_bytes(window))?;
        }
    }
    if let Some(head) = merged.finish(&mut body) {
        writer.put(SectionKind::BinaryBody, field, &body);
        writer.put(SectionKind::BinaryHead, field, &head);
    }
    Ok(())
}
