//! Sealing: a frozen buffer becomes the bytes of a segment.
//!
//! Always true
//! 1. Dead documents are left out; the living keep their order, or stand in that of the index where
//!    it is sorted: documents that are equal in it keep the order of their arrival.
//! 2. The same buffer and dictionary give the same bytes, whatever core or worker does it.
//!
//! Not here: which worker (`refresh`), documents that die while this runs (they are carried over
//! at the switch, through [`Renumbered`]).

use std::ops::Range;

use base::{DocId, FieldNo, Ord, SegmentId};
use mapping::{IndexOptions, Kind, Mapping};
use segment::bkd::{Points, Shape};
use segment::bytes::zblock::Dictionary;
use segment::norms::encode_len;
use segment::{Posting, Result, SegmentWriter, SortOrder, TermOptions, TermSource};

use super::Buffer;
use super::columns::{Numbers, Places, Strings};
use super::sort;
use super::terms::{FieldTerms, Words};

/// Room is made beforehand for a file that may become so long.
const ROOM_BYTES_MIN: usize = 1 << 20;

/// A sealed buffer.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// The segment's file; `None` where no document lived.
    pub(crate) file: Option<Vec<u8>>,
    /// Where the documents went.
    pub(crate) renumbered: Renumbered,
}

/// Where the documents of a buffer went in its segment.
#[derive(Clone, Debug)]
pub(crate) struct Renumbered {
    /// The new number of each old document, `u32::MAX` for a dead one; `None`: all keep theirs.
    map: Option<Vec<u32>>,
    /// The old number of each new document, where they were sorted.
    sorted: Option<Vec<u32>>,
    live_count: u32,
}

impl Renumbered {
    fn of(buffer: &Buffer, order: Option<&SortOrder>) -> Self {
        let docs = buffer.docs();
        let live_count = docs.live_count() as u32;
        if let Some(order) = order {
            let living = (0..docs.len() as u32).filter(|doc| !docs.is_dead(*doc)).collect();
            let sorted = sort::sorted(buffer, order, living);
            let mut map = vec![u32::MAX; docs.len()];
            for (new, old) in (0u32..).zip(&sorted) {
                map[*old as usize] = new;
            }
            return Self { map: Some(map), sorted: Some(sorted), live_count };
        }
        if docs.live_count() == docs.len() {
            return Self { map: None, sorted: None, live_count };
        }
        let mut next = 0;
        let map = (0..docs.len() as u32).map(|doc| {
            if docs.is_dead(doc) {
                return u32::MAX;
            }
            next += 1;
            next - 1
        });
        Self { map: Some(map.collect()), sorted: None, live_count }
    }

    /// The new number of a document; `None` where it was dead.
    #[inline]
    pub(crate) fn new_doc(&self, doc: u32) -> Option<DocId> {
        match &self.map {
            None => Some(DocId(doc)),
            Some(map) => Some(map[doc as usize]).filter(|new| *new != u32::MAX).map(DocId),
        }
    }

    /// The living of `len` documents, old and new, the new ones rising.
    fn living(&self, len: usize) -> Box<dyn Iterator<Item = (u32, DocId)> + '_> {
        match &self.sorted {
            Some(sorted) => Box::new(sorted.iter().copied().zip((0..).map(DocId))),
            None => Box::new((0..len as u32).filter_map(|doc| Some((doc, self.new_doc(doc)?)))),
        }
    }

    /// Puts what stands by old documents in the order of the new ones.
    fn restore_order<T>(&self, docs: &mut [(DocId, T)]) {
        if self.sorted.is_some() {
            docs.sort_by_key(|(doc, _)| *doc);
        }
    }
}

/// Makes segment `id` of a buffer, whose sources are compressed with the `dictionary` of its shard.
pub(crate) fn seal(
    buffer: &Buffer,
    id: SegmentId,
    mapping: &Mapping,
    dictionary: Option<&Dictionary>,
) -> Result<Sealed> {
    let order = sort::order_of(mapping);
    // A sorted index has no nested documents; were there any, they would have to stay together.
    let order = order.filter(|_| !buffer.docs().has_nested());
    let renumbered = Renumbered::of(buffer, order.as_ref());
    if renumbered.live_count == 0 {
        return Ok(Sealed { file: None, renumbered });
    }
    let mut writer = SegmentWriter::new(id, renumbered.live_count);
    // What a buffer holds lies in its segment once or twice, and mostly packed. A long file that moves as it grows is
    // there twice meanwhile; what it does not come to goes back at its end.
    let room = buffer.size_bytes() + buffer.size_bytes() / 2;
    if room >= ROOM_BYTES_MIN {
        writer = writer.with_room(room);
    }
    if let Some(order) = &order {
        writer.order(order);
    }
    documents(buffer, &renumbered, dictionary, &mut writer)?;
    let mut terms: Vec<&(FieldNo, FieldTerms)> = buffer.terms.iter().collect();
    terms.sort_unstable_by_key(|(field, _)| *field);
    for (field, terms) in terms {
        words(*field, terms, &buffer.words, &renumbered, mapping, &mut writer)?;
    }
    let mut numbers: Vec<&(FieldNo, Numbers)> = buffer.numbers.iter().collect();
    numbers.sort_unstable_by_key(|(field, _)| *field);
    for (field, numbers) in numbers {
        values(*field, numbers, &renumbered, &mut writer);
    }
    for (field, places) in sorted(&buffer.places) {
        points(*field, places, &renumbered, &mut writer);
    }
    for (field, strings) in sorted(&buffer.strings) {
        let kind = mapping.field_by_no(*field).map(|field| &field.kind);
        let spans = match kind {
            Some(Kind::Range(range)) => Some(2 * range.kind.width()),
            _ => None,
        };
        bytes(*field, strings, spans, &renumbered, &mut writer);
    }
    Ok(Sealed { file: Some(writer.seal()?), renumbered })
}

/// Ids, stamps and sources.
fn documents(
    buffer: &Buffer,
    renumbered: &Renumbered,
    dictionary: Option<&Dictionary>,
    writer: &mut SegmentWriter,
) -> Result<()> {
    let docs = buffer.docs();
    let living = || renumbered.living(docs.len());
    let owners = living().filter(|(doc, _)| !docs.is_nested(*doc));
    let mut ids: Vec<(&[u8], DocId)> = owners.map(|(doc, new)| (docs.id(doc), new)).collect();
    ids.sort_unstable();
    debug_assert!(ids.windows(2).all(|pair| pair[0].0 != pair[1].0), "one living document an id");
    writer.ids(ids)?;
    let stamps = |of: fn(&super::stored::Stamp) -> u64| {
        living().map(|(doc, new)| (new, of(&docs.stamp(doc)) as i64)).collect::<Vec<_>>()
    };
    writer.numeric(FieldNo::SEQ_NO, &stamps(|stamp| stamp.seq_no.get()));
    writer.numeric(FieldNo::VERSION, &stamps(|stamp| stamp.version));
    writer.numeric(FieldNo::PRIMARY_TERM, &stamps(|stamp| stamp.term.get()));
    if docs.has_nested() {
        writer.parents(living().filter(|(doc, _)| !docs.is_nested(*doc)).map(|(_, new)| new));
    }
    let sources = || living().map(|(doc, _)| &docs.source(doc)[..]);
    let bytes = sources().map(|source| source.len() as u64).sum();
    let dictionary = segment::stored::for_sources(sources(), bytes, dictionary);
    writer.stored_with(sources(), dictionary.as_ref())
}

/// Fields in the order of their numbers.
fn sorted<T>(fields: &[(FieldNo, T)]) -> Vec<&(FieldNo, T)> {
    let mut sorted: Vec<&(FieldNo, T)> = fields.iter().collect();
    sorted.sort_unstable_by_key(|(field, _)| *field);
    sorted
}

/// Points of two dimensions of one field.
fn points(field: FieldNo, places: &Places, renumbered: &Renumbered, writer: &mut SegmentWriter) {
    let Some(shape) = Shape::new(2, places.width() / 2) else { return };
    let mut points = Points::new(shape);
    for (doc, value) in places.iter() {
        if let Some(doc) = renumbered.new_doc(doc) {
            points.push(value, doc);
        }
    }
    writer.points(field, points);
}

/// The column of byte strings of one field; where they are spans of `spans` bytes, those of a
/// document are sorted, each once.
fn bytes(
    field: FieldNo,
    strings: &Strings,
    spans: Option<usize>,
    renumbered: &Renumbered,
    writer: &mut SegmentWriter,
) {
    let mut docs: Vec<(DocId, Vec<u8>)> = Vec::new();
    for (doc, bytes) in strings.iter() {
        let Some(doc) = renumbered.new_doc(doc) else { continue };
        match docs.last_mut() {
            Some((last, joined)) if *last == doc => joined.extend_from_slice(bytes),
            _ => docs.push((doc, bytes.to_vec())),
        }
    }
    renumbered.restore_order(&mut docs);
    if let Some(len) = spans {
        for (_, bytes) in docs.iter_mut().filter(|(_, bytes)| bytes.len() > len) {
            let mut spans: Vec<&[u8]> = bytes.chunks_exact(len).collect();
            spans.sort_unstable();
            spans.dedup();
            *bytes = spans.concat();
        }
    }
    writer.binary(field, docs.iter().map(|(doc, bytes)| (*doc, &bytes[..])));
}

/// Lengths, terms and column of one field of words.
fn words(
    field: FieldNo,
    terms: &FieldTerms,
    words: &Words,
    renumbered: &Renumbered,
    mapping: &Mapping,
    writer: &mut SegmentWriter,
) -> Result<()> {
    let is_text = !terms.lengths().is_empty();
    let mut options = TermOptions { freqs: is_text, positions: is_text };
    let mut keeps_norms = is_text;
    if let Some(known) = mapping.field_by_no(field)
        && let Kind::Text(text) = &known.kind
    {
        options.freqs &= text.index_options >= IndexOptions::Freqs;
        options.positions &= text.index_options >= IndexOptions::Positions;
        keeps_norms &= text.norms;
    }
    let kind = mapping.field_by_no(field).map(|field| &field.kind);
    let are_features =
        matches!(kind, Some(Kind::RankFeature(_) | Kind::RankFeatures(_) | Kind::Completion(_)));
    options.freqs |= are_features;
    if keeps_norms {
        let mut norms = vec![0; renumbered.live_count as usize];
        if options.freqs {
            for (doc, length) in terms.lengths().iter() {
                if let Some(doc) = renumbered.new_doc(*doc) {
                    norms[doc.index()] = encode_len(*length);
                }
            }
        } else {
            for (norm, count) in norms.iter_mut().zip(different(terms, words, renumbered)) {
                *norm = encode_len(count);
            }
        }
        if norms.iter().any(|norm| *norm != 0) {
            writer.norms(field, &norms)?;
        }
    }
    let sorted = terms.sorted(words);
    let mut source = Source::new(terms, words, &sorted, renumbered, options, are_features);
    if source.advance() {
        writer.terms(field, options, &mut source)?;
    }
    if let Some(Kind::Text(text)) = kind
        && text.fielddata
    {
        return fielddata(field, terms, words, &sorted, renumbered, writer);
    }
    ordinals(field, terms, words, &sorted, renumbered, writer)
}

/// Different words of each document: the length of a text that tells not how often a word occurs
/// (Lucene's `Similarity.computeNorm`, of `IndexOptions.DOCS`).
fn different(terms: &FieldTerms, words: &Words, renumbered: &Renumbered) -> Vec<u32> {
    let mut counts = vec![0; renumbered.live_count as usize];
    let mut scratch = Vec::new();
    for number in 0..terms.len() as u32 {
        terms.postings(words, number, &mut scratch, |doc, _| {
            if let Some(doc) = renumbered.new_doc(doc) {
                counts[doc.index()] += 1;
            }
        });
    }
    counts
}

/// The column of a text with `fielddata`: its words.
fn fielddata(
    field: FieldNo,
    terms: &FieldTerms,
    words: &Words,
    sorted: &[u32],
    renumbered: &Renumbered,
    writer: &mut SegmentWriter,
) -> Result<()> {
    let mut docs: Vec<(DocId, Ord)> = Vec::new();
    let mut used: Vec<u32> = Vec::with_capacity(sorted.len());
    let mut scratch = Vec::new();
    for &number in sorted {
        let before = docs.len();
        let rank = Ord(used.len() as u32);
        terms.postings(words, number, &mut scratch, |doc, _| {
            docs.extend(renumbered.new_doc(doc).map(|doc| (doc, rank)));
        });
        if docs.len() > before {
            used.push(number);
        }
    }
    docs.sort_unstable();
    writer.ordinals(field, used.iter().map(|number| terms.bytes(words, *number)), &docs)
}

/// The column of one field of words.
fn ordinals(
    field: FieldNo,
    terms: &FieldTerms,
    words: &Words,
    sorted: &[u32],
    renumbered: &Renumbered,
    writer: &mut SegmentWriter,
) -> Result<()> {
    const UNUSED: u32 = u32::MAX;
    let mut ranks = vec![UNUSED; terms.len()];
    let mut docs = Vec::with_capacity(terms.column().len());
    for (doc, number) in terms.column().iter() {
        if let Some(doc) = renumbered.new_doc(*doc) {
            ranks[*number as usize] = 0;
            docs.push((doc, *number));
        }
    }
    if docs.is_empty() {
        return Ok(());
    }
    renumbered.restore_order(&mut docs);
    let used: Vec<u32> =
        sorted.iter().copied().filter(|number| ranks[*number as usize] != UNUSED).collect();
    for (rank, number) in used.iter().enumerate() {
        ranks[*number as usize] = rank as u32;
    }
    let mut docs: Vec<(DocId, Ord)> =
        docs.into_iter().map(|(doc, number)| (doc, Ord(ranks[number as usize]))).collect();
    sort_within_docs(&mut docs);
    docs.dedup();
    writer.ordinals(field, used.iter().map(|number| terms.bytes(words, *number)), &docs)
}

/// Column and points of one field of numbers.
fn values(field: FieldNo, numbers: &Numbers, renumbered: &Renumbered, writer: &mut SegmentWriter) {
    let mut docs: Vec<(DocId, i64)> = Vec::with_capacity(numbers.len());
    docs.extend(numbers.iter().filter_map(|(doc, value)| Some((renumbered.new_doc(doc)?, value))));
    renumbered.restore_order(&mut docs);
    if numbers.indexed {
        let mut points = Points::new(Shape::LONG);
        for (doc, value) in &docs {
            points.push_long(*value, *doc);
        }
        writer.points(field, points);
    }
    if numbers.column {
        sort_within_docs(&mut docs);
        writer.numeric(field, &docs);
    }
}

/// Sorts the values of each document; the documents stand in order already.
fn sort_within_docs<T: std::cmp::Ord + Copy>(docs: &mut [(DocId, T)]) {
    for values in docs.chunk_by_mut(|one, other| one.0 == other.0) {
        if values.len() > 1 {
            values.sort_unstable_by_key(|(_, value)| *value);
        }
    }
}

/// The words of a field in order, as the segment's writer takes them.
struct Source<'a> {
    terms: &'a FieldTerms,
    words: &'a Words,
    sorted: &'a [u32],
    renumbered: &'a Renumbered,
    options: TermOptions,
    /// Where positions would stand, there stands the frequency.
    are_features: bool,
    /// The word that `advance` found and `next_term` has not given yet, or gave last.
    current: Option<u32>,
    /// Whether `next_term` has yet to give `current`.
    is_waiting: bool,
    /// Postings of `current`: document, frequency, where its positions stand.
    postings: Vec<(DocId, u32, Range<usize>)>,
    positions: Vec<u32>,
    /// Posting that `next_posting` gives next.
    at: usize,
    scratch: Vec<u32>,
}

impl<'a> Source<'a> {
    fn new(
        terms: &'a FieldTerms,
        words: &'a Words,
        sorted: &'a [u32],
        renumbered: &'a Renumbered,
        options: TermOptions,
        are_features: bool,
    ) -> Self {
        Self {
            terms,
            words,
            sorted,
            renumbered,
            options,
            are_features,
            current: None,
            is_waiting: false,
            postings: Vec::new(),
            positions: Vec::new(),
            at: 0,
            scratch: Vec::new(),
        }
    }

    /// Moves to the next word that a living document has; false where there is none.
    fn advance(&mut self) -> bool {
        self.current = None;
        while let Some((number, rest)) = self.sorted.split_first() {
            self.sorted = rest;
            if self.gather(*number) {
                self.current = Some(*number);
                self.is_waiting = true;
                return true;
            }
        }
        false
    }

    /// Reads the postings of a word; false where no living document has it.
    fn gather(&mut self, number: u32) -> bool {
        self.postings.clear();
        self.positions.clear();
        self.at = 0;
        let (postings, positions) = (&mut self.postings, &mut self.positions);
        let (renumbered, keeps_positions) = (self.renumbered, self.options.positions);
        let are_features = self.are_features;
        self.terms.postings(self.words, number, &mut self.scratch, |doc, here| {
            if let Some(doc) = renumbered.new_doc(doc) {
                let start = positions.len();
                if keeps_positions {
                    positions.extend_from_slice(here);
                }
                let freq = match here.last() {
                    Some(freq) if are_features => *freq,
                    _ => here.len().max(1) as u32,
                };
                postings.push((doc, freq, start..positions.len()));
            }
        });
        if renumbered.sorted.is_some() {
            postings.sort_unstable_by_key(|(doc, _, _)| *doc);
        }
        !self.postings.is_empty()
    }
}

impl TermSource for Source<'_> {
    fn next_term(&mut self) -> Result<Option<&[u8]>> {
        if !self.is_waiting && !self.advance() {
            return Ok(None);
        }
        self.is_waiting = false;
        Ok(self.current.map(|number| self.terms.bytes(self.words, number)))
    }

    fn next_posting(&mut self) -> Result<Option<Posting<'_>>> {
        let Some((doc, freq, places)) = self.postings.get(self.at) else { return Ok(None) };
        self.at += 1;
        let freq = if self.options.freqs { *freq } else { 1 };
        Ok(Some(Posting { doc: *doc, freq, positions: &self.positions[places.clone()] }))
    }
}

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;
