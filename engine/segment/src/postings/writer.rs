//! Writes the postings of a field, term by term: blocks, skips, impacts, positions.
//!
//! Memory: the blocks of the field go straight to their section; skips and positions are held
//! until the field ends; of a term no more than one block is waiting.

use env::breath::breathe;

use super::block::{self, BLOCK, FREQ_MAX};
use super::impact::{BLOCK_PAIRS, Frontier, GROUP_PAIRS, NORM_NONE};
use super::skip::{GROUP, SkipWriter};
use crate::error::{Error, Result};
use crate::norms::decode_len;
use crate::positions::PositionWriter;
use crate::terms::{Posting, TermInfo, TermOptions};

/// Writes the terms of one field.
pub(crate) struct PostingWriter<'a> {
    options: TermOptions,
    doc_count: u32,
    /// The byte of each document, where the field has lengths.
    norms: Option<&'a [u8]>,
    len_average: f32,
    /// A bit for each document that has any term.
    present: Vec<u64>,

    docs: [u32; BLOCK],
    freqs: [u32; BLOCK],
    waiting: usize,
    /// The last document of the block before the waiting ones.
    before: Option<u32>,
    doc_freq: u32,
    total_freq: u64,
    /// Where the term's blocks, of this field's, begin.
    start: usize,
    block_frontier: Frontier,
    group_frontier: Frontier,
    term_skips: SkipWriter,

    skips: Vec<u8>,
    positions: PositionWriter,
}

/// What is left when a field ends.
pub(crate) struct Written {
    /// The section of skips.
    pub(crate) skips: Vec<u8>,
    /// The section of positions.
    pub(crate) positions: Vec<u8>,
    /// Number of documents with any term.
    pub(crate) doc_count: u32,
}

impl<'a> PostingWriter<'a> {
    /// Begins a field of a segment of `doc_count` documents.
    pub(crate) fn new(options: TermOptions, doc_count: u32, norms: Option<&'a [u8]>) -> Self {
        assert!(options.freqs || !options.positions, "positions need frequencies");
        Self {
            options,
            doc_count,
            norms,
            len_average: norms.map_or(1.0, len_average),
            present: vec![0; (doc_count as usize).div_ceil(64)],
            docs: [0; BLOCK],
            freqs: [0; BLOCK],
            waiting: 0,
            before: None,
            doc_freq: 0,
            total_freq: 0,
            start: 0,
            block_frontier: Frontier::new(),
            group_frontier: Frontier::new(),
            term_skips: SkipWriter::default(),
            skips: Vec::new(),
            positions: PositionWriter::new(),
        }
    }

    /// Makes room for so many bytes of positions.
    pub(crate) fn make_room(&mut self, positions_bytes: usize) {
        self.positions.make_room(positions_bytes);
    }

    /// Takes the next document of the term; full blocks go to `out`, whose length is `base` where
    /// the field begins.
    pub(crate) fn add(
        &mut self,
        posting: Posting<'_>,
        base: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let doc = posting.doc.get();
        assert!(doc < self.doc_count, "document {doc} is not one of {}", self.doc_count);
        let last = if self.waiting > 0 { Some(self.docs[self.waiting - 1]) } else { self.before };
        assert!(last.is_none_or(|last| last < doc), "documents of a term rise");
        let freq = if self.options.freqs { posting.freq } else { 1 };
        assert!(freq > 0, "a document of a term has it");
        assert!(freq <= FREQ_MAX, "a document is shorter than that");
        if self.waiting == 0 && self.options.positions {
            let (offset, first) = self.positions.place();
            self.term_skips.positions(narrow("positions of a term in bytes", offset)?, first);
        }
        self.present[doc as usize / 64] |= 1 << (doc % 64);
        self.docs[self.waiting] = doc;
        self.freqs[self.waiting] = freq;
        self.waiting += 1;
        self.doc_freq += 1;
        self.total_freq += u64::from(freq);
        if self.options.freqs {
            let norm = self.norms.map_or(NORM_NONE, |norms| norms[doc as usize]);
            self.block_frontier.add(freq, norm);
        }
        if self.options.positions {
            assert_eq!(posting.positions.len(), freq as usize, "a position for each occurrence");
            self.positions.add(posting.positions);
        }
        if self.waiting == BLOCK {
            let freqs = self.options.freqs.then_some(&self.freqs);
            block::write_full(self.before, &self.docs, freqs, out);
            self.end_block(out.len() - base)?;
        }
        Ok(())
    }

    /// Ends the term.
    pub(crate) fn finish_term(&mut self, base: usize, out: &mut Vec<u8>) -> Result<TermInfo> {
        breathe();
        assert!(self.doc_freq > 0, "a term has documents");
        let is_long = self.doc_freq as usize >= BLOCK;
        let mut impacts = [0; 2 * BLOCK_PAIRS];
        let single = self.docs[0];
        if !is_long && self.options.freqs && self.doc_freq > 1 {
            let pairs = TermInfo::pairs(self.doc_freq);
            let mut bytes = Vec::with_capacity(impacts.len());
            self.block_frontier.write(pairs, self.len_average, &mut bytes);
            impacts[..bytes.len()].copy_from_slice(&bytes);
        }
        if self.doc_freq > 1 && self.waiting > 0 {
            let freqs = self.options.freqs.then_some(&self.freqs[..self.waiting]);
            block::write_rest(self.before, &self.docs[..self.waiting], freqs, out);
            self.end_block(out.len() - base)?;
        }
        let skips = self.skips.len() as u64;
        if is_long {
            if self.options.freqs && !self.term_skips.block_count().is_multiple_of(GROUP as usize) {
                self.end_group();
            }
            self.term_skips.write(self.doc_freq, self.options, &mut self.skips);
        }
        let (positions, positions_len) = self.positions.finish();
        let end = out.len() - base;
        let info = TermInfo {
            doc_freq: self.doc_freq,
            total_freq: self.total_freq,
            single: (self.doc_freq == 1).then_some(single),
            postings: self.start as u64,
            postings_len: narrow("postings of a term in bytes", end - self.start)?,
            skips,
            positions: positions as u64,
            positions_len: positions_len as u64,
            impacts,
        };
        self.start = end;
        self.waiting = 0;
        self.before = None;
        (self.doc_freq, self.total_freq) = (0, 0);
        self.block_frontier.clear();
        self.group_frontier.clear();
        self.term_skips.clear();
        Ok(info)
    }

    /// Ends the field.
    pub(crate) fn finish(self) -> Written {
        Written {
            skips: self.skips,
            positions: self.positions.into_bytes(),
            doc_count: self.present.iter().map(|word| word.count_ones()).sum(),
        }
    }

    /// Notes the block that ends at `end` of the field's postings.
    fn end_block(&mut self, end: usize) -> Result<()> {
        breathe();
        let last = self.docs[self.waiting - 1];
        self.term_skips.block(last, narrow("postings of a term in bytes", end - self.start)?);
        if self.options.freqs {
            self.block_frontier.write(BLOCK_PAIRS, self.len_average, self.term_skips.impacts());
            self.group_frontier.add_all(&self.block_frontier);
            self.block_frontier.clear();
            if self.term_skips.block_count().is_multiple_of(GROUP as usize) {
                self.end_group();
            }
        }
        self.before = Some(last);
        self.waiting = 0;
        Ok(())
    }

    fn end_group(&mut self) {
        self.group_frontier.write(GROUP_PAIRS, self.len_average, self.term_skips.group_impacts());
        self.group_frontier.clear();
    }
}

/// The average length of the documents that have the field.
fn len_average(norms: &[u8]) -> f32 {
    let present = norms.iter().filter(|norm| **norm != 0);
    let (sum, count) = present
        .fold((0u64, 0u64), |(sum, count), norm| (sum + u64::from(decode_len(*norm)), count + 1));
    sum.max(1) as f32 / count.max(1) as f32
}

/// `value` in 32 bits, which the format has for it.
fn narrow(what: &'static str, value: usize) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::Limit {
        what,
        limit: u64::from(u32::MAX),
        found: value as u64,
    })
}
