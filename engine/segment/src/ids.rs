//! Ids of the documents, both ways: from an id to its document, and back.
//!
//! Always true
//! 1. Ids are sorted by bytes, ties by document. An id may stand there more than once (a document
//!    that was written over before the segment was sealed): the highest document is the newest.
//! 2. The filter answers for ids that are there always, for others once in a hundred.
//! 3. Documents without an id (nested ones) have rank `u32::MAX`.
//!
//! A look-up that misses reads one line of the filter, which is why an update asks cheaply in
//! each segment. One that hits reads the resident index and one block, uncompressed.
//!
//! Layout (little-endian). Blocks hold 64 ids, the last what is left; `n` of them:
//!
//! | section  | bytes        | what                                                         |
//! |----------|--------------|--------------------------------------------------------------|
//! | blocks   | 4 n          | document of each id                                          |
//! |          | 2 n          | where each id ends in the bytes that follow                  |
//! |          | …            | ids                                                          |
//! | index    | rkyv         | number of ids, first keys of blocks (`bytes/keys`)           |
//! | filter   | 64 each line | bits: 10 for each id; an id sets six bits of its line        |
//! | ranks    | 4 each doc   | the place of the document's id among all                     |
//!
//! The hash of an id, all 64-bit: begin with its length xor `e7037ed1a0b428db`; with each eight bytes (little-endian; the
//! last zero to seven filled up with zeros to one more word, which is there always), xor the word in and fold by
//! `a0761d6478bd642f`; at last fold by `8ebc6af09c88c6e3`. To fold is to multiply to 128 bits and xor the halves.
//!
//! The line of an id is the high half of its hash times the number of lines, over 2³²; its bits are
//! the six lowest nines of bits of the hash times the odd number `BITS`.
//!
//! Example: ids `a` (document 1) and `b` (document 0): the block is
//! `01 00 00 00 | 00 00 00 00 | 01 00 | 02 00 | a b`, the ranks `01 00 00 00 | 00 00 00 00`.

use std::sync::Arc;

use base::{DocId, FieldNo};
use env::Bytes;
use env::breath::breathe;
use rkyv::{Archive, Deserialize, Serialize};

use crate::bytes::archive::{self, Checked};
use crate::bytes::keys::KeyIndex;
use crate::docmap::InputMap;
use crate::error::{Error, Result};
use crate::section::{File, Missing, Section};
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

/// Ids of a block.
const BLOCK: usize = 64;

/// The longest id in bytes: Elasticsearch's.
pub const ID_LEN_MAX: usize = 512;

const _: () = assert!(BLOCK * ID_LEN_MAX <= u16::MAX as usize, "ends in a block have 16 bits");

/// Bits of the filter for each id.
const FILTER_BITS: usize = 10;

/// Bytes of a line of the filter: one line of the processor's cache.
const LINE: usize = 64;

/// Bits an id sets.
const PROBES: u32 = 6;

const BITS: u64 = 0x9e37_79b9_7f4a_7c15;

/// The index, as stored.
#[derive(Archive, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct IdIndex {
    /// Number of ids.
    pub count: u32,
    /// The blocks.
    pub blocks: KeyIndex,
}

/// Ids of the documents. Clones are one counter.
#[derive(Clone, Debug)]
pub struct Ids(Option<Arc<Inner>>);

struct Inner {
    index: Checked<IdIndex>,
    filter: Bytes,
    blocks: Section,
    ranks: Section,
    doc_count: u32,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ids({})", self.index.get().count)
    }
}

impl Ids {
    /// Opens the ids of a segment; a segment without them has none.
    pub(crate) fn open(file: &Arc<File>) -> Result<Self> {
        let Some(section) = file.section(SectionKind::IdIndex, FieldNo::ID) else {
            return Ok(Self(None));
        };
        let index: Checked<IdIndex> = section.archive()?;
        let count = index.get().count.to_native() as usize;
        let part = |kind| {
            let missing = || section.malformed(0, "ids without a section that belongs to them");
            file.section(kind, FieldNo::ID).ok_or_else(missing)
        };
        let filter = part(SectionKind::IdFilter)?.shared()?;
        let ranks = part(SectionKind::IdRanks)?;
        if !index.get().blocks.is_sound()
            || index.get().blocks.block_count() != count.div_ceil(BLOCK)
            || filter.is_empty()
            || !filter.len().is_multiple_of(LINE)
            || ranks.len() != 4 * u64::from(file.doc_count())
        {
            return Err(section.malformed(0, "sections of ids do not fit each other"));
        }
        let blocks = part(SectionKind::IdBlocks)?;
        let doc_count = file.doc_count();
        Ok(Self(Some(Arc::new(Inner { index, filter, blocks, ranks, doc_count }))))
    }

    /// Number of ids, those of dead documents included.
    pub fn len(&self) -> u32 {
        self.0.as_ref().map_or(0, |inner| inner.index.get().count.to_native())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The newest document with this id: the highest, where one id was written several times.
    pub fn find(&self, id: &[u8]) -> Result<Option<DocId>> {
        match &self.0 {
            Some(inner) if may_hold(&inner.filter, hash(id)) => inner.find(id),
            _ => Ok(None),
        }
    }

    /// The id of `doc`; `None` for a document without one.
    pub fn id_of(&self, doc: DocId) -> Result<Option<&[u8]>> {
        let Some(inner) = &self.0 else { return Ok(None) };
        let Some(rank) = inner.rank(doc)? else { return Ok(None) };
        inner.block(rank / BLOCK)?.id(rank % BLOCK).map(|(id, _)| Some(id))
    }

    /// Names what `find` will read.
    pub fn need(&self, id: &[u8], missing: &mut Missing) -> Result<()> {
        let Some(inner) = &self.0 else { return Ok(()) };
        if !may_hold(&inner.filter, hash(id)) {
            return Ok(());
        }
        let blocks = &inner.index.get().blocks;
        inner.blocks.need(blocks.block(blocks.block_of(id)), missing)
    }

    /// Names what `id_of` will read. The first round may bring only where the id lies: ask again
    /// until nothing is missing.
    pub fn need_id_of(&self, doc: DocId, missing: &mut Missing) -> Result<()> {
        let Some(inner) = &self.0 else { return Ok(()) };
        let at = 4 * u64::from(doc.get());
        let before = missing.len();
        inner.ranks.need(at..at + 4, missing)?;
        if missing.len() > before {
            return Ok(());
        }
        match inner.rank(doc)? {
            Some(rank) => inner.blocks.need(inner.index.get().blocks.block(rank / BLOCK), missing),
            None => Ok(()),
        }
    }

    /// All ids in order, each with its document: for merges and checks.
    pub fn cursor(&self) -> IdCursor {
        IdCursor { ids: self.clone(), next: 0, block: Vec::new() }
    }
}

impl Inner {
    fn find(&self, id: &[u8]) -> Result<Option<DocId>> {
        let block = self.block(self.index.get().blocks.block_of(id))?;
        let (mut low, mut high) = (0, block.count);
        while low < high {
            let middle = usize::midpoint(low, high);
            if block.id(middle)?.0 <= id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(last) = low.checked_sub(1) else { return Ok(None) };
        let (found, doc) = block.id(last)?;
        Ok((found == id).then_some(doc))
    }

    /// The place of a document's id.
    fn rank(&self, doc: DocId) -> Result<Option<usize>> {
        let at = 4 * u64::from(doc.get());
        let bytes = self.ranks.bytes(at..at + 4)?;
        match u32::from_le_bytes(*bytes.first_chunk().expect("four bytes were asked for")) {
            u32::MAX => Ok(None),
            rank if rank < self.index.get().count.to_native() => Ok(Some(rank as usize)),
            _ => Err(self.ranks.malformed(at, "rank above all ids")),
        }
    }

    fn block(&self, at: usize) -> Result<Block<'_>> {
        let index = self.index.get();
        let range = index.blocks.block(at);
        let count = (index.count.to_native() as usize - at * BLOCK).min(BLOCK);
        Block::parse(self, range.start, self.blocks.bytes(range)?, count)
    }
}

/// A block, in place.
struct Block<'a> {
    owner: &'a Inner,
    offset: u64,
    count: usize,
    docs: &'a [[u8; 4]],
    ends: &'a [[u8; 2]],
    ids: &'a [u8],
}

impl<'a> Block<'a> {
    fn parse(owner: &'a Inner, offset: u64, bytes: &'a [u8], count: usize) -> Result<Self> {
        let parts = bytes.split_at_checked(4 * count).and_then(|(docs, rest)| {
            let (ends, ids) = rest.split_at_checked(2 * count)?;
            Some((docs.as_chunks().0, ends.as_chunks().0, ids))
        });
        let (docs, ends, ids) =
            parts.ok_or_else(|| owner.blocks.malformed(offset, "block of ids cut short"))?;
        Ok(Self { owner, offset, count, docs, ends, ids })
    }

    /// An id and its document.
    #[inline]
    fn id(&self, at: usize) -> Result<(&'a [u8], DocId)> {
        let start = if at == 0 { 0 } else { u16::from_le_bytes(self.ends[at - 1]) };
        let end = u16::from_le_bytes(self.ends[at]);
        let doc = u32::from_le_bytes(self.docs[at]);
        match self.ids.get(usize::from(start)..usize::from(end)) {
            Some(id) if doc < self.owner.doc_count => Ok((id, DocId(doc))),
            _ => Err(self.owner.blocks.malformed(self.offset, "id or document outside")),
        }
    }
}

/// Walks all ids in order.
pub struct IdCursor {
    ids: Ids,
    next: u32,
    block: Vec<(Vec<u8>, DocId)>,
}

impl IdCursor {
    /// The next id and its document.
    #[expect(clippy::should_implement_trait, reason = "what it lends does not outlive the step")]
    pub fn next(&mut self) -> Result<Option<(&[u8], DocId)>> {
        let Some(inner) = &self.ids.0 else { return Ok(None) };
        if self.next == inner.index.get().count.to_native() {
            return Ok(None);
        }
        let at = self.next as usize;
        if at.is_multiple_of(BLOCK) {
            let block = inner.block(at / BLOCK)?;
            self.block.clear();
            for place in 0..block.count {
                let (id, doc) = block.id(place)?;
                self.block.push((id.to_vec(), doc));
            }
        }
        self.next += 1;
        let (id, doc) = &self.block[at % BLOCK];
        Ok(Some((id, *doc)))
    }
}

/// Whether an id with this hash may be there.
#[inline]
fn may_hold(filter: &[u8], hash: u64) -> bool {
    let line = &filter.as_chunks::<LINE>().0[line_of(hash, filter.len() / LINE)];
    bits_of(hash).all(|bit| line[bit / 8] >> (bit % 8) & 1 == 1)
}

#[inline]
fn line_of(hash: u64, lines: usize) -> usize {
    (((hash >> 32) * lines as u64) >> 32) as usize
}

#[inline]
fn bits_of(hash: u64) -> impl Iterator<Item = usize> {
    let bits = hash.wrapping_mul(BITS);
    (0..PROBES).map(move |probe| (bits >> (9 * probe) & 511) as usize)
}

/// The filter over ids with these hashes.
fn filter(hashes: &[u64]) -> Vec<u8> {
    let lines = (hashes.len() * FILTER_BITS).div_ceil(8 * LINE).max(1);
    let mut filter = vec![0; lines * LINE];
    for hash in hashes {
        let line = &mut filter[line_of(*hash, lines) * LINE..][..LINE];
        for bit in bits_of(*hash) {
            line[bit / 8] |= 1 << (bit % 8);
        }
    }
    filter
}

/// A hash of an id that is part of the format: eight bytes at a time, each mixed in by the two
/// halves of a 128-bit product (as wyhash does). It spreads; it does not resist an attacker, who
/// could at worst make the filter useless for ids of his own choice.
fn hash(id: &[u8]) -> u64 {
    const STEP: u64 = 0xa076_1d64_78bd_642f;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let (words, tail) = id.as_chunks::<8>();
    let mut hash = id.len() as u64 ^ 0xe703_7ed1_a0b4_28db;
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), STEP);
    }
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    fold(fold(hash ^ u64::from_le_bytes(last), STEP), 0x8ebc_6af0_9c88_c6e3)
}

/// Ids as a writer takes them.
pub trait IdSource {
    /// The next id and its document: sorted by bytes, ties by document.
    fn next_id(&mut self) -> Result<Option<(&[u8], DocId)>>;
}

/// Ids that are in memory.
struct Listed<'a, I: Iterator<Item = (&'a [u8], DocId)>>(I);

impl<'a, I: Iterator<Item = (&'a [u8], DocId)>> IdSource for Listed<'a, I> {
    fn next_id(&mut self) -> Result<Option<(&[u8], DocId)>> {
        Ok(self.0.next())
    }
}

/// The ids of several segments, as those of one: dead documents are left out.
pub struct MergedIds<'a> {
    inputs: Vec<MergedInput<'a>>,
    current: Option<usize>,
}

struct MergedInput<'a> {
    cursor: IdCursor,
    map: &'a InputMap,
    id: Vec<u8>,
    /// The new document of `id`; `None` at the end.
    doc: Option<DocId>,
}

impl<'a> MergedIds<'a> {
    /// The ids of `inputs`, each with where its documents go.
    pub fn new(inputs: impl IntoIterator<Item = (Ids, &'a InputMap)>) -> Result<Self> {
        let mut merged = Self { inputs: Vec::new(), current: None };
        for (ids, map) in inputs {
            let mut input = MergedInput { cursor: ids.cursor(), map, id: Vec::new(), doc: None };
            input.advance()?;
            merged.inputs.push(input);
        }
        Ok(merged)
    }
}

impl MergedInput<'_> {
    /// Moves to the next id whose document is kept.
    fn advance(&mut self) -> Result<()> {
        self.doc = None;
        while let Some((id, doc)) = self.cursor.next()? {
            if let Some(doc) = self.map.new_doc(doc) {
                self.id.clear();
                self.id.extend_from_slice(id);
                self.doc = Some(doc);
                break;
            }
        }
        Ok(())
    }
}

impl IdSource for MergedIds<'_> {
    fn next_id(&mut self) -> Result<Option<(&[u8], DocId)>> {
        if let Some(current) = self.current.take() {
            self.inputs[current].advance()?;
        }
        let lowest = (0..self.inputs.len())
            .filter(|at| self.inputs[*at].doc.is_some())
            .min_by_key(|at| (self.inputs[*at].id.as_slice(), self.inputs[*at].doc));
        self.current = lowest;
        Ok(lowest.and_then(|at| Some((self.inputs[at].id.as_slice(), self.inputs[at].doc?))))
    }
}

impl SegmentWriter {
    /// Ids of the documents, sorted by bytes, ties by document; each document has one at most.
    pub fn ids<'a>(&mut self, ids: impl IntoIterator<Item = (&'a [u8], DocId)>) -> Result<()> {
        self.ids_from(&mut Listed(ids.into_iter()))
    }

    /// As [`SegmentWriter::ids`], one after the other.
    pub fn ids_from(&mut self, source: &mut impl IdSource) -> Result<()> {
        let mut ranks = vec![u32::MAX; self.doc_count() as usize];
        let mut hashes = Vec::with_capacity(ranks.len());
        let mut index = KeyIndex::default();
        self.put_with(SectionKind::IdBlocks, FieldNo::ID, |out| {
            write_blocks(source, &mut ranks, &mut hashes, &mut index, out)
        })?;
        if hashes.is_empty() {
            self.take_back();
            return Ok(());
        }
        let index = IdIndex { count: hashes.len() as u32, blocks: index.finish() };
        self.put(SectionKind::IdIndex, FieldNo::ID, &archive::write(&index));
        self.put(SectionKind::IdFilter, FieldNo::ID, &filter(&hashes));
        self.put_with(SectionKind::IdRanks, FieldNo::ID, |out| {
            out.extend(ranks.iter().flat_map(|rank| rank.to_le_bytes()));
        });
        Ok(())
    }
}

/// Takes all ids of `source`, and appends their blocks.
fn write_blocks(
    source: &mut impl IdSource,
    ranks: &mut [u32],
    hashes: &mut Vec<u64>,
    index: &mut KeyIndex,
    out: &mut Vec<u8>,
) -> Result<()> {
    let base = out.len();
    let mut docs: Vec<u32> = Vec::with_capacity(BLOCK);
    let mut ends: Vec<u16> = Vec::with_capacity(BLOCK);
    let mut ids: Vec<u8> = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    loop {
        let next = source.next_id()?;
        if docs.len() == BLOCK || (next.is_none() && !docs.is_empty()) {
            breathe();
            out.extend(docs.iter().flat_map(|doc| doc.to_le_bytes()));
            out.extend(ends.iter().flat_map(|end| end.to_le_bytes()));
            out.extend_from_slice(&ids);
            index.check_room()?;
            index.add(&last, &ids[..usize::from(ends[0])], (out.len() - base) as u64);
            let start = ends.len().checked_sub(2).map_or(0, |at| usize::from(ends[at]));
            last.clear();
            last.extend_from_slice(&ids[start..]);
            docs.clear();
            ends.clear();
            ids.clear();
        }
        let Some((id, doc)) = next else { return Ok(()) };
        if id.len() > ID_LEN_MAX {
            let found = id.len() as u64;
            let what = "length of an id in bytes";
            return Err(Error::Limit { what, limit: ID_LEN_MAX as u64, found });
        }
        let start = ends.len().checked_sub(2).map_or(0, |at| usize::from(ends[at]));
        let before = if docs.is_empty() { &last[..] } else { &ids[start..] };
        // The ids of a merge come from files: these are no assertions.
        let rank = ranks.get_mut(doc.index()).filter(|rank| **rank == u32::MAX);
        let Some(rank) = rank.filter(|_| hashes.is_empty() || before <= id) else {
            return Err(Error::Malformed {
                section: SectionKind::IdBlocks,
                field: FieldNo::ID,
                offset: 0,
                what: "ids do not rise, or a document has two",
            });
        };
        *rank = hashes.len() as u32;
        hashes.push(hash(id));
        docs.push(doc.get());
        ids.extend_from_slice(id);
        ends.push(ids.len() as u16);
    }
}

#[cfg(test)]
mod tests;
