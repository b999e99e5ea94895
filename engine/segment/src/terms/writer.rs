//! Writes the terms of a field: blocks, their index, and the postings behind them.
//!
//! Order of sections: postings, then skips and positions (where there are any), blocks, index.
//! An empty field leaves no section.

use base::FieldNo;

use super::block::BlockWriter;
use super::{TERM_LEN_MAX, TermIndex, TermOptions, TermSource};
use crate::bytes::archive;
use crate::bytes::keys::KeyIndex;
use crate::bytes::zblock::Compressor;
use crate::error::{Error, Result};
use crate::postings::PostingWriter;
use crate::toc::SectionKind;
use crate::writer::{SegmentWriter, TermBlocks};

/// Level of zstd for blocks: higher ones save little on 4 KiB.
const LEVEL: i32 = 1;

/// What compressing must save. The words of texts are few beside their postings, and are walked for
/// patterns, where decompressing would take half of the time.
const WORTH: usize = 8;
const WORTH_TEXT: usize = 2;

/// Ends blocks, and indexes them.
struct Blocks {
    writer: BlockWriter,
    compressor: Option<Compressor>,
    /// A block is compressed where that saves one part of so many.
    worth: usize,
    /// First term of the open block, last term of the one before.
    first: Vec<u8>,
    last: Vec<u8>,
    plain: Vec<u8>,
    out: Vec<u8>,
    keys: KeyIndex,
    index: TermIndex,
}

impl Blocks {
    fn end_block(&mut self) {
        self.writer.finish(&mut self.plain);
        let start = self.out.len();
        if let Some(compressor) = &mut self.compressor {
            self.out.push(1);
            compressor.compress(&self.plain, &mut self.out);
        }
        let saved = self.plain.len().saturating_sub(self.out.len() - start);
        if self.compressor.is_none() || saved < self.plain.len() / self.worth {
            self.out.truncate(start);
            self.out.push(0);
            self.out.extend_from_slice(&self.plain);
        }
        self.keys.add(&self.last, &self.first, self.out.len() as u64);
    }
}

impl SegmentWriter {
    /// Terms of a field with their postings. Comes after the field's norms.
    pub fn terms(
        &mut self,
        field: FieldNo,
        options: TermOptions,
        source: &mut impl TermSource,
    ) -> Result<()> {
        let norms = self.norms_written(field)?;
        let mut postings = PostingWriter::new(options, self.doc_count(), norms.as_deref());
        postings.make_room(source.positions_bytes());
        let compressor = (self.term_blocks == TermBlocks::Zstd).then(|| Compressor::new(LEVEL));
        let mut blocks = Blocks {
            writer: BlockWriter::new(options),
            compressor,
            worth: if options.freqs { WORTH_TEXT } else { WORTH },
            first: Vec::new(),
            last: Vec::new(),
            plain: Vec::new(),
            out: Vec::new(),
            keys: KeyIndex::default(),
            index: TermIndex::new(options),
        };
        let has_terms = self.put_with(SectionKind::Postings, field, |out| {
            write_terms(source, &mut postings, &mut blocks, out)
        })?;
        if !has_terms {
            self.take_back();
            return Ok(());
        }
        let written = postings.finish();
        if !written.skips.is_empty() {
            self.put(SectionKind::Skips, field, &written.skips);
        }
        if options.positions {
            self.put(SectionKind::Positions, field, &written.positions);
        }
        self.put(SectionKind::TermBlocks, field, &blocks.out);
        blocks.index.doc_count = written.doc_count;
        blocks.index.blocks = blocks.keys.finish();
        self.put(SectionKind::TermIndex, field, &archive::write(&blocks.index));
        Ok(())
    }
}

/// Takes all terms of `source`; answers whether there was any.
fn write_terms(
    source: &mut impl TermSource,
    postings: &mut PostingWriter<'_>,
    blocks: &mut Blocks,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let base = out.len();
    let (mut term, mut before) = (Vec::new(), Vec::new());
    while let Some(next) = source.next_term()? {
        if next.len() > TERM_LEN_MAX {
            return Err(Error::Limit {
                what: "length of a term in bytes",
                limit: TERM_LEN_MAX as u64,
                found: next.len() as u64,
            });
        }
        assert!(blocks.index.term_count == 0 || *term < *next, "terms of a field rise");
        std::mem::swap(&mut term, &mut before);
        term.clear();
        term.extend_from_slice(next);
        if blocks.writer.is_full() {
            blocks.keys.check_room()?;
            blocks.end_block();
            blocks.last.clone_from(&before);
        }
        if blocks.writer.count() == 0 {
            blocks.first.clone_from(&term);
        }
        while let Some(posting) = source.next_posting()? {
            postings.add(posting, base, out)?;
        }
        let info = postings.finish_term(base, out)?;
        blocks.writer.add(&term, &info);
        blocks.index.term_count += 1;
        blocks.index.doc_freq_sum += u64::from(info.doc_freq);
        blocks.index.term_freq_sum += info.total_freq;
    }
    if blocks.writer.count() > 0 {
        blocks.end_block();
    }
    Ok(blocks.index.term_count > 0)
}
