//! Makes one column of those of several segments, window by window.
//!
//! Always true
//! 1. Values of dropped documents are dropped, and with them the terms that no kept document has.
//! 2. In memory are one window (one of each input where documents stand between one another), and for
//!    terms four bytes for each term of an input.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use base::{DocId, FieldNo, Ord};

use super::binary::{Binary, BinaryReader, BinaryWriter};
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
    if inputs.is_empty() {
        return Ok(());
    }
    let sections = (SectionKind::NumericBody, SectionKind::NumericHead);
    writer.put_with_head(sections, field, |file| {
        let mut windows = WindowsWriter::new(map.doc_count(), file.len());
        let columns: Vec<_> = inputs.iter().map(|(number, it)| (map.input(*number), *it)).collect();
        each_of_all(&columns, steps, |_, doc, value| {
            windows.push(doc, value, file);
            true
        })?;
        Ok(if windows.is_empty() { None } else { Some(windows.finish(file)) })
    })
}

/// Gives the values of the kept documents of all columns, new documents rising, to `each`, with the
/// number of the column; where that says false, a rank has no term.
fn each_of_all(
    columns: &[(&InputMap, &Numeric)],
    steps: &mut Steps<'_>,
    mut each: impl FnMut(usize, DocId, i64) -> bool,
) -> Result<()> {
    let outside = |at: usize| Err(columns[at].1.malformed(0, OUTSIDE));
    if columns.iter().all(|(map, _)| map.new_docs().is_some()) {
        for (at, (map, column)) in columns.iter().enumerate() {
            let mut all_inside = true;
            each_kept(column, map, steps, |doc, value| all_inside &= each(at, doc, value))?;
            if !all_inside {
                return outside(at);
            }
        }
        return Ok(());
    }
    interleave(
        columns.len(),
        |at, window, values| {
            let (map, column) = columns[at];
            if window >= column.window_count() {
                return Ok(false);
            }
            if let Some(block) = column.block(window)? {
                each_kept_of(&block, window, map, &mut |doc, value| values.push_back((doc, value)))
                    .map_err(|what| column.malformed(window, what))?;
            }
            steps.step(column.window_bytes(window))?;
            Ok(true)
        },
        |at, doc, value| if each(at, doc, value) { Ok(()) } else { outside(at) },
    )
}

/// Takes what inputs give window after window, each with rising documents, in the order of the
/// documents. `read` appends what a window of an input holds, and says false behind the last.
fn interleave<T>(
    input_count: usize,
    mut read: impl FnMut(usize, u32, &mut VecDeque<(DocId, T)>) -> Result<bool>,
    mut take: impl FnMut(usize, DocId, T) -> Result<()>,
) -> Result<()> {
    let mut windows = vec![0; input_count];
    let mut waiting: Vec<VecDeque<(DocId, T)>> =
        (0..input_count).map(|_| VecDeque::new()).collect();
    let mut heads: BinaryHeap<Reverse<(DocId, usize)>> = BinaryHeap::with_capacity(input_count);
    let mut refill = |at: usize, waiting: &mut VecDeque<(DocId, T)>| -> Result<Option<DocId>> {
        while waiting.is_empty() {
            if !read(at, windows[at], waiting)? {
                return Ok(None);
            }
            windows[at] += 1;
        }
        Ok(waiting.front().map(|(doc, _)| *doc))
    };
    for (at, waiting) in waiting.iter_mut().enumerate() {
        heads.extend(refill(at, waiting)?.map(|doc| Reverse((doc, at))));
    }
    while let Some(Reverse((_, at))) = heads.pop() {
        // The values of a document stand side by side, and no other input has that document.
        if let Some((doc, value)) = waiting[at].pop_front() {
            take(at, doc, value)?;
        }
        heads.extend(refill(at, &mut waiting[at])?.map(|doc| Reverse((doc, at))));
    }
    Ok(())
}

/// For each input, the rank of each of its terms among those of all.
pub(crate) fn merged_ranks(
    inputs: &[(usize, &Ordinals)],
    steps: &mut Steps<'_>,
) -> Result<Vec<Vec<u32>>> {
    let streams = inputs.iter().map(|(_, column)| TermStream::all(column)).collect();
    rank_terms(inputs, streams, steps, |_| Ok(()))
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
    let blocks = writer.term_blocks;
    let head = writer.put_with(SectionKind::OrdinalBody, field, |body| -> Result<_> {
        let start = body.len();
        let mut dictionary = DictionaryWriter::new(blocks, start);
        let ranks = merge_terms(inputs, map, steps, |term| dictionary.push(term, body))?;
        let mut head = dictionary.finish(body);
        let mut windows = WindowsWriter::new(map.doc_count(), start);
        let columns: Vec<_> =
            inputs.iter().map(|(number, it)| (map.input(*number), it.ranks())).collect();
        each_of_all(&columns, steps, |input, doc, rank| {
            match usize::try_from(rank).ok().and_then(|rank| ranks[input].get(rank)) {
                Some(&rank) => windows.push(doc, i64::from(rank), body),
                None => return false,
            }
            true
        })?;
        if windows.is_empty() {
            // No document that is kept has a term, so there is none.
            return Ok(None);
        }
        head.bytes.extend_from_slice(&windows.finish(body));
        Ok(Some(head))
    })?;
    match head {
        Some(head) => writer.ordinal_head(field, &head),
        None => writer.take_back(),
    }
    Ok(())
}

/// Gives the terms that kept documents have to `push`, rising, each once; the answer is, for each
/// input, the new rank of each old one.
fn merge_terms(
    inputs: &[(usize, &Ordinals)],
    map: &DocMap,
    steps: &mut Steps<'_>,
    push: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Vec<Vec<u32>>> {
    let mut streams = Vec::with_capacity(inputs.len());
    for &(number, column) in inputs {
        let used = used_ranks(column, map.input(number), steps)?;
        streams.push(TermStream { used, ..TermStream::all(column) });
    }
    rank_terms(inputs, streams, steps, push)
}

/// The terms of all streams, rising, each once: to `push`; and their new ranks.
fn rank_terms(
    inputs: &[(usize, &Ordinals)],
    mut streams: Vec<TermStream>,
    steps: &mut Steps<'_>,
    mut push: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Vec<Vec<u32>>> {
    let mut heap = BinaryHeap::with_capacity(inputs.len());
    for (at, stream) in streams.iter_mut().enumerate() {
        let mut term = Vec::new();
        if stream.next(&mut term)? {
            heap.push(Reverse((term, at)));
        }
    }
    steps.step(0)?;
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
    /// Those of all documents.
    fn all(column: &Ordinals) -> Self {
        Self { terms: column.terms(), used: None, next: 0, rank: 0 }
    }

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
    if inputs.is_empty() {
        return Ok(());
    }
    let (doc_count, blocks) = (map.doc_count(), writer.term_blocks);
    let sections = (SectionKind::BinaryBody, SectionKind::BinaryHead);
    writer.put_with_head(sections, field, |file| {
        let mut merged = BinaryWriter::new(doc_count, blocks, file.len());
        push_all(inputs, map, steps, |doc, bytes| merged.push(doc, bytes, file))?;
        Ok(merged.finish(file))
    })
}

/// Gives the strings of kept documents, with their new documents, to `push`.
fn push_all(
    inputs: &[(usize, &Binary)],
    map: &DocMap,
    steps: &mut Steps<'_>,
    mut push: impl FnMut(DocId, &[u8]),
) -> Result<()> {
    if map.sequence().is_some() {
        let mut readers: Vec<_> = inputs.iter().map(|(_, column)| column.reader()).collect();
        interleave(
            inputs.len(),
            |at, window, values| {
                let (number, column) = inputs[at];
                each_string(column, window, map.input(number), &mut readers[at], |doc, bytes| {
                    values.push_back((doc, bytes.to_vec()));
                })?;
                let is_there = window < column.window_count();
                steps.step(if is_there { column.window_bytes(window) } else { 0 })?;
                Ok(is_there)
            },
            |_, doc, bytes: Vec<u8>| {
                push(doc, &bytes);
                Ok(())
            },
        )?;
    } else {
        for &(number, column) in inputs {
            let (map, mut reader) = (map.input(number), column.reader());
            for window in 0..column.window_count() {
                each_string(column, window, map, &mut reader, &mut push)?;
                steps.step(column.window_bytes(window))?;
            }
        }
    }
    Ok(())
}

/// Gives the strings of the kept documents of a window, if there is such a one.
fn each_string(
    column: &Binary,
    window: u32,
    map: &InputMap,
    reader: &mut BinaryReader,
    mut each: impl FnMut(DocId, &[u8]),
) -> Result<()> {
    if window >= column.window_count() {
        return Ok(());
    }
    let mut bits = [0; WINDOW_WORDS];
    column.presence(window, &mut bits)?;
    for place in bitmap::ones(&bits) {
        let old = DocId(window * WINDOW + place);
        if let Some(doc) = map.new_doc(old)
            && let Some(bytes) = reader.get(old)?
        {
            each(doc, bytes);
        }
    }
    Ok(())
}
