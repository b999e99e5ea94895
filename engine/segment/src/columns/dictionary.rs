//! The terms of a column of ordinals: sorted, in blocks of about 4 KiB, found by rank or by bytes.
//!
//! Always true
//! 1. Terms rise and differ; the rank of a term is its place among them.
//! 2. A key of each block is resident, so that a term costs at most one block: it is above the last term of the block
//!    before and at or below the first of its own, as short as that allows; that of the first block is its first term. Opening
//!    checks that keys rise, decoding that terms rise between them. (Segments before version 4 have first terms as keys,
//!    whole.)
//! 3. A term has at most [`TERM_BYTES_MAX`] bytes, and so a block has a bound.
//!
//! Layout of a block, which may be one zstd frame: for each term
//!
//! | bytes | what                                                              |
//! |-------|-------------------------------------------------------------------|
//! | vint  | length of the prefix shared with the term before; 0 for the first |
//! | vint  | length of the rest                                                |
//! | …     | the rest                                                          |
//!
//! Layout of the resident part (little-endian)
//!
//! | bytes        | what                                       |
//! |--------------|--------------------------------------------|
//! | 4            | number of terms                            |
//! | 4            | number of blocks                           |
//! | 4            | length of all keys                         |
//! | blocks * 20  | 8 end in the body, 4 rank of the first term, 4 length decompressed (0: it is plain), 4 end of its key below |
//! | …            | the keys                                   |
//!
//! Example: the block of `tea`, `team`, `toe` is `00 03 t e a | 03 01 m | 01 02 o e`; behind one that ends in `tap` its
//! key is `te`.
//!
//! Not here: the terms by which documents are found (`terms`); they carry postings.

use std::ops::Range;

use base::{Ord, vint};
use env::Bytes;

use crate::bytes::keys::separator;
use crate::bytes::zblock::{Compressor, Decompressor};
use crate::error::{Error, Result};
use crate::footer::{u32_at, u64_at};
use crate::section::{Missing, Section};
use crate::writer::TermBlocks;

/// Longest term: Lucene's.
pub const TERM_BYTES_MAX: usize = 32_766;

/// Bytes of the keys of all blocks at most, about.
const KEYS_BYTES_MAX: usize = 1 << 30;

/// A block is ended as soon as it has so many bytes.
const BLOCK_BYTES: usize = 4096;

/// No block has more: the last term may come when all but one byte are there.
const BLOCK_BYTES_MAX: usize = BLOCK_BYTES + TERM_BYTES_MAX + 10;

/// Terms of a column at most: ranks stay below this.
const TERMS_MAX: u32 = u32::MAX;

const HEAD: usize = 12;
const LINE: usize = 20;

/// Takes terms and appends blocks.
pub(super) struct DictionaryWriter {
    /// Length of the file before the body.
    start: usize,
    compressor: Option<Compressor>,
    lines: Vec<u8>,
    keys: Vec<u8>,
    /// A key is shorter than the first term of its block.
    has_short_keys: bool,
    block: Vec<u8>,
    /// Rank of the open block's first term.
    block_first: u32,
    last: Vec<u8>,
    term_count: u32,
}

/// A finished dictionary's resident part.
pub(super) struct DictionaryHead {
    /// The bytes.
    pub(super) bytes: Vec<u8>,
    /// Number of terms.
    pub(super) term_count: u32,
    /// Readers of versions before 4 take it for damaged.
    pub(super) has_short_keys: bool,
}

impl DictionaryWriter {
    /// A dictionary of a column whose body starts at `start` of the file.
    pub(super) fn new(blocks: TermBlocks, start: usize) -> Self {
        let compressor = match blocks {
            TermBlocks::Plain => None,
            TermBlocks::Zstd => Some(Compressor::new(1)),
        };
        Self {
            start,
            compressor,
            lines: Vec::new(),
            keys: Vec::new(),
            has_short_keys: false,
            block: Vec::new(),
            block_first: 0,
            last: Vec::new(),
            term_count: 0,
        }
    }

    /// Adds the next term.
    pub(super) fn push(&mut self, term: &[u8], file: &mut Vec<u8>) -> Result<()> {
        if term.len() > TERM_BYTES_MAX {
            let (limit, found) = (TERM_BYTES_MAX as u64, term.len() as u64);
            return Err(Error::Limit { what: "length of a column's term", limit, found });
        }
        let is_first = self.term_count == 0;
        assert!(is_first || self.last.as_slice() < term, "terms rise");
        assert!(self.term_count < TERMS_MAX, "ranks have 32 bits");
        let prefix = if self.block.is_empty() {
            // The head, in which keys stand, is part of an archive with offsets of 31 bits.
            if self.keys.len() > KEYS_BYTES_MAX {
                let (limit, found) = (KEYS_BYTES_MAX as u64, self.keys.len() as u64);
                return Err(Error::Limit { what: "bytes of a dictionary's keys", limit, found });
            }
            self.block_first = self.term_count;
            let key = if is_first { term } else { separator(&self.last, term) };
            self.has_short_keys |= key.len() < term.len();
            self.keys.extend_from_slice(key);
            0
        } else {
            self.last.iter().zip(term).take_while(|(one, other)| one == other).count()
        };
        vint::write(&mut self.block, prefix as u64);
        vint::write_bytes(&mut self.block, &term[prefix..]);
        self.last.clear();
        self.last.extend_from_slice(term);
        self.term_count += 1;
        if self.block.len() >= BLOCK_BYTES {
            self.end_block(file);
        }
        Ok(())
    }

    /// Appends the open block.
    fn end_block(&mut self, file: &mut Vec<u8>) {
        assert!(self.block.len() <= BLOCK_BYTES_MAX, "a term's length was checked");
        let at = file.len();
        let mut decompressed_bytes = 0;
        if let Some(compressor) = &mut self.compressor {
            compressor.compress(&self.block, file);
            // Less than an eighth saved is not worth decompressing for.
            if (file.len() - at) * 8 <= self.block.len() * 7 {
                decompressed_bytes = self.block.len() as u32;
            } else {
                file.truncate(at);
            }
        }
        if decompressed_bytes == 0 {
            file.extend_from_slice(&self.block);
        }
        self.lines.extend_from_slice(&((file.len() - self.start) as u64).to_le_bytes());
        self.lines.extend_from_slice(&self.block_first.to_le_bytes());
        self.lines.extend_from_slice(&decompressed_bytes.to_le_bytes());
        self.lines.extend_from_slice(&(self.keys.len() as u32).to_le_bytes());
        self.block.clear();
    }

    /// Ends the dictionary.
    pub(super) fn finish(mut self, file: &mut Vec<u8>) -> DictionaryHead {
        if !self.block.is_empty() {
            self.end_block(file);
        }
        let mut bytes = Vec::with_capacity(HEAD + self.lines.len() + self.keys.len());
        bytes.extend_from_slice(&self.term_count.to_le_bytes());
        bytes.extend_from_slice(&((self.lines.len() / LINE) as u32).to_le_bytes());
        bytes.extend_from_slice(&(self.keys.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.lines);
        bytes.extend_from_slice(&self.keys);
        let Self { term_count, has_short_keys, .. } = self;
        DictionaryHead { bytes, term_count, has_short_keys }
    }
}

/// The resident part of a dictionary, looked through.
#[derive(Clone, Debug)]
pub(super) struct Dictionary {
    head: Bytes,
    term_count: u32,
    block_count: usize,
    /// Length of the resident part.
    len: usize,
}

impl Dictionary {
    /// Looks through the dictionary that begins `head`, of a body of `body_len` bytes.
    pub(super) fn open(head: Bytes, body_len: u64) -> std::result::Result<Self, &'static str> {
        const SHORT: &str = "the head of a dictionary is cut short";
        if head.len() < HEAD {
            return Err(SHORT);
        }
        let (term_count, block_count) = (u32_at(&head, 0), u32_at(&head, 4) as usize);
        let keys = u32_at(&head, 8);
        let len = HEAD as u64 + block_count as u64 * LINE as u64 + u64::from(keys);
        if len > head.len() as u64 {
            return Err(SHORT);
        }
        let dictionary = Self { head, term_count, block_count, len: len as usize };
        let (mut end, mut rank, mut key_end) = (0, 0, 0);
        for block in 0..block_count {
            let line = dictionary.line(block);
            let stored = line.end.checked_sub(end).filter(|len| *len > 0);
            let stored = stored.ok_or("blocks of terms follow one another")?;
            if line.decompressed_bytes as usize > BLOCK_BYTES_MAX || stored > BLOCK_BYTES_MAX as u64
            {
                return Err("a block of terms is larger than any");
            }
            if (block == 0) != (line.rank == 0) || (block > 0 && line.rank <= rank) {
                return Err("blocks begin with rising ranks");
            }
            if line.key_end < key_end || line.key_end > keys {
                return Err("keys follow one another");
            }
            (end, rank, key_end) = (line.end, line.rank, line.key_end);
            if block > 0 && dictionary.key(block - 1) >= dictionary.key(block) {
                return Err("keys rise");
            }
        }
        if end > body_len || key_end != keys {
            return Err("the blocks of terms lie in the body");
        }
        // Each term takes two bytes at least, so damage cannot claim more than blocks can hold.
        let room = block_count as u64 * BLOCK_BYTES_MAX as u64;
        if (term_count == 0) != (block_count == 0)
            || (block_count > 0 && term_count <= rank)
            || u64::from(term_count) > room
        {
            return Err("the number of terms is possible");
        }
        Ok(dictionary)
    }

    /// Number of terms.
    pub(super) fn term_count(&self) -> u32 {
        self.term_count
    }

    /// Length of the resident part.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Where the blocks end in the body.
    pub(super) fn body_end(&self) -> u64 {
        if self.block_count == 0 { 0 } else { self.line(self.block_count - 1).end }
    }

    /// What is known of a block.
    fn line(&self, block: usize) -> Line {
        let at = HEAD + block * LINE;
        Line {
            end: u64_at(&self.head, at),
            rank: u32_at(&self.head, at + 8),
            decompressed_bytes: u32_at(&self.head, at + 12),
            key_end: u32_at(&self.head, at + 16),
        }
    }

    /// Where a block lies in the body.
    fn range(&self, block: usize) -> Range<u64> {
        let start = if block == 0 { 0 } else { self.line(block - 1).end };
        start..self.line(block).end
    }

    /// The key of a block.
    fn key(&self, block: usize) -> &[u8] {
        let start = if block == 0 { 0 } else { self.line(block - 1).key_end };
        let keys = &self.head[HEAD + self.block_count * LINE..];
        &keys[start as usize..self.line(block).key_end as usize]
    }

    /// The ranks of a block's terms.
    fn ranks(&self, block: usize) -> Range<u32> {
        let next = block + 1;
        let end = if next == self.block_count { self.term_count } else { self.line(next).rank };
        self.line(block).rank..end
    }

    /// The block of a rank below the number of terms.
    fn block_of(&self, rank: u32) -> usize {
        // The first block begins with rank 0, so there is one at or below every rank.
        first_above(self.block_count, |block| self.line(block).rank > rank) - 1
    }

    /// The last block whose key is at or below `term`; `None` where all are above.
    fn block_for(&self, term: &[u8]) -> Option<usize> {
        first_above(self.block_count, |block| self.key(block) > term).checked_sub(1)
    }
}

struct Line {
    end: u64,
    rank: u32,
    decompressed_bytes: u32,
    key_end: u32,
}

/// The first of `0..len` for which `above` holds, which then holds for all after it.
fn first_above(len: usize, above: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut end) = (0, len);
    while start < end {
        let middle = start + (end - start) / 2;
        if above(middle) {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

/// Reads terms of one column, and remembers the block it stands in.
pub struct DictionaryReader {
    dictionary: Dictionary,
    body: Section,
    decompressor: Option<Decompressor>,
    /// The block that `text` holds, and the ranks of its terms.
    block: Option<usize>,
    ranks: Range<u32>,
    text: Vec<u8>,
    /// Where the term after the current one starts in `text`.
    at: usize,
    /// The current term and its rank; no term before the first was read.
    term: Vec<u8>,
    rank: Option<u32>,
}

impl DictionaryReader {
    /// Reads the terms of a dictionary.
    pub(super) fn new(dictionary: Dictionary, body: Section) -> Self {
        Self {
            dictionary,
            body,
            decompressor: None,
            block: None,
            ranks: 0..0,
            text: Vec::new(),
            at: 0,
            term: Vec::new(),
            rank: None,
        }
    }

    /// Number of terms.
    pub fn term_count(&self) -> u32 {
        self.dictionary.term_count
    }

    /// Names what [`DictionaryReader::term`] of `ord` will read.
    pub fn need(&self, ord: Ord, missing: &mut Missing) -> Result<()> {
        if ord.get() >= self.term_count() {
            return Ok(());
        }
        self.body.need(self.dictionary.range(self.dictionary.block_of(ord.get())), missing)
    }

    /// Names what [`DictionaryReader::lookup`] of `term` will read.
    pub fn need_lookup(&self, term: &[u8], missing: &mut Missing) -> Result<()> {
        match self.dictionary.block_for(term) {
            Some(block) => self.body.need(self.dictionary.range(block), missing),
            None => Ok(()),
        }
    }

    /// The term of rank `ord`. Rising ranks cost least: each block is decoded once.
    ///
    /// # Panics
    ///
    /// Where there is no term of that rank.
    pub fn term(&mut self, ord: Ord) -> Result<&[u8]> {
        let rank = ord.get();
        assert!(rank < self.term_count(), "the rank of a term");
        // Rising ranks stay in the block, mostly: no search for it then.
        let block = match self.block {
            Some(block) if self.ranks.contains(&rank) => block,
            _ => self.dictionary.block_of(rank),
        };
        if self.block != Some(block) || self.rank.is_none_or(|here| here > rank) {
            self.enter(block)?;
        }
        while self.rank != Some(rank) {
            self.advance(block)?;
        }
        Ok(&self.term)
    }

    /// The rank of `term`; where it is missing, the rank of the first term above it, or the number
    /// of terms.
    pub fn lookup(&mut self, term: &[u8]) -> Result<std::result::Result<Ord, Ord>> {
        let Some(block) = self.dictionary.block_for(term) else { return Ok(Err(Ord(0))) };
        if self.block != Some(block) || self.term.as_slice() > term || self.rank.is_none() {
            self.enter(block)?;
        }
        loop {
            if let Some(rank) = self.rank {
                match self.term.as_slice().cmp(term) {
                    std::cmp::Ordering::Equal => return Ok(Ok(Ord(rank))),
                    std::cmp::Ordering::Greater => return Ok(Err(Ord(rank))),
                    std::cmp::Ordering::Less if rank + 1 == self.ranks.end => {
                        return Ok(Err(Ord(self.ranks.end)));
                    }
                    std::cmp::Ordering::Less => {}
                }
            }
            self.advance(block)?;
        }
    }

    /// Brings a block, and stands before its first term.
    fn enter(&mut self, block: usize) -> Result<()> {
        if self.block != Some(block) {
            self.block = None;
            let range = self.dictionary.range(block);
            let limit = self.dictionary.line(block).decompressed_bytes as usize;
            let bytes = self.body.bytes(range.clone())?;
            if limit == 0 {
                self.text.clear();
                self.text.extend_from_slice(bytes);
            } else {
                let decompressor = self.decompressor.get_or_insert_default();
                let done = decompressor.decompress(bytes, limit, &mut self.text);
                if done.is_err() || self.text.len() != limit {
                    return Err(self.body.malformed(range.start, "a block of terms is a frame"));
                }
            }
            self.ranks = self.dictionary.ranks(block);
            self.block = Some(block);
        }
        self.at = 0;
        self.rank = None;
        self.term.clear();
        Ok(())
    }

    /// Decodes the next term of the block it stands in.
    fn advance(&mut self, block: usize) -> Result<()> {
        let ranks = self.ranks.clone();
        let next = self.rank.map_or(ranks.start, |rank| rank + 1);
        let mut rest = self.text.get(self.at..).unwrap_or_default();
        let decoded = (|| {
            let shared = usize::try_from(vint::read(&mut rest)?).ok()?;
            let suffix = vint::read_bytes(&mut rest)?;
            let fits = shared <= self.term.len() && shared + suffix.len() <= TERM_BYTES_MAX;
            (fits && next < ranks.end).then_some((shared, suffix))
        })();
        let Some((shared, suffix)) = decoded else {
            return Err(self.malformed(block, "a block of terms is decoded to its end"));
        };
        // Prefixes are as long as they can be, so the byte after one decides.
        let rises = match (self.term.get(shared), suffix.first()) {
            (Some(before), Some(byte)) => before < byte,
            (None, Some(_)) => true,
            (_, None) => self.rank.is_none(),
        };
        self.term.truncate(shared);
        self.term.extend_from_slice(suffix);
        self.at = self.text.len() - rest.len();
        let is_first = self.rank.is_none();
        self.rank = Some(next);
        let starts_right = !is_first || self.term.as_slice() >= self.dictionary.key(block);
        let ends_right = next + 1 < ranks.end
            || block + 1 == self.dictionary.block_count
            || self.term.as_slice() < self.dictionary.key(block + 1);
        if !rises || !starts_right || !ends_right {
            return Err(self.malformed(block, "terms rise"));
        }
        Ok(())
    }

    /// The error of a block that makes no sense; the reader forgets it.
    fn malformed(&mut self, block: usize, what: &'static str) -> Error {
        self.block = None;
        self.body.malformed(self.dictionary.range(block).start, what)
    }

    /// Reads and checks every term, and gives what is wrong to `damage`.
    pub(super) fn verify(&mut self, damage: &mut dyn FnMut(Error)) {
        for block in 0..self.dictionary.block_count {
            if let Err(error) = self.verify_block(block) {
                damage(error);
            }
        }
    }

    /// Decodes a block, which checks the order of its terms.
    fn verify_block(&mut self, block: usize) -> Result<()> {
        self.block = None;
        self.enter(block)?;
        for _ in self.dictionary.ranks(block) {
            self.advance(block)?;
        }
        if self.at != self.text.len() {
            return Err(self.malformed(block, "a block ends with its last term"));
        }
        Ok(())
    }
}
