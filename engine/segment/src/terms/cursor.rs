//! Walks the terms of a field in byte order: for prefixes, ranges and merges.
//!
//! A prefix is walked by `seek_ceil(prefix)`, and `next` while the term begins with it.
//!
//! Always true
//! 1. Fresh, it stands before the first term.
//! 2. It holds one block decoded, its own copy.
//! 3. Infos are parsed when one of their group is asked for: most terms of a walk match nothing.

use std::sync::Arc;

use base::vint;

use super::block::GROUP;
use super::reader::{FieldTerms, Stored};
use super::{TERM_LEN_MAX, TermInfo};
use crate::bytes::zblock::Decompressor;
use crate::error::Result;
use crate::section::Missing;

/// Walks terms in byte order.
pub struct TermCursor {
    terms: Arc<FieldTerms>,
    decompressor: Option<Decompressor>,
    /// The block decoded, and its bytes.
    block: Option<usize>,
    bytes: Vec<u8>,
    /// Terms of the block, and the number of the one it stands on.
    count: usize,
    place: usize,
    /// Where in `bytes` the next term of the group lies, and the infos of the group.
    terms_at: usize,
    infos: Vec<TermInfo>,
    term: Vec<u8>,
    /// How many bytes it shares with the one before, as far as is known.
    shared: usize,
}

impl TermCursor {
    pub(crate) fn new(terms: Arc<FieldTerms>) -> Self {
        Self {
            terms,
            decompressor: None,
            block: None,
            bytes: Vec::new(),
            count: 0,
            place: 0,
            terms_at: 0,
            infos: Vec::with_capacity(GROUP),
            term: Vec::new(),
            shared: 0,
        }
    }

    /// Moves to the first term at or above `target`; false where there is none. May move back.
    pub fn seek_ceil(&mut self, target: &[u8]) -> Result<bool> {
        let at = self.terms.block_of(target);
        if self.block != Some(at) {
            self.load(at)?;
        }
        let group = {
            let block = self.terms.parse(at, &self.bytes)?;
            block.group_of(target).map_err(|what| self.terms.damaged(at, what))?
        };
        self.enter_group(at, group)?;
        while *self.term < *target {
            if !self.next()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves to the next term; false where there is none.
    #[expect(clippy::should_implement_trait, reason = "leaf cursors say next and seek")]
    pub fn next(&mut self) -> Result<bool> {
        let Some(at) = self.block else {
            return self.enter_block(0);
        };
        if self.place + 1 >= self.count {
            return self.enter_block(at + 1);
        }
        if (self.place + 1).is_multiple_of(GROUP) {
            self.enter_group(at, (self.place + 1) / GROUP)?;
        } else {
            self.place += 1;
            self.read_term(at)?;
        }
        Ok(true)
    }

    /// The term it stands on; empty before the first and after the last.
    pub fn term(&self) -> &[u8] {
        &self.term
    }

    /// At least so many bytes of the term are those of the one that `next` came from.
    #[inline]
    pub fn shared(&self) -> usize {
        self.shared
    }

    /// What is known of the term it stands on; callers stand on one.
    ///
    /// # Errors
    /// Where the group's infos are damaged.
    pub fn info(&mut self) -> Result<TermInfo> {
        if self.infos.is_empty() {
            self.read_infos()?;
        }
        Ok(*self.infos.get(self.place % GROUP).expect("callers stand on a term"))
    }

    /// Parses the infos of the group.
    fn read_infos(&mut self) -> Result<()> {
        let (at, group) = (self.block.expect("callers stand on a term"), self.place / GROUP);
        let block = self.terms.parse(at, &self.bytes)?;
        let mut infos = block.infos(group).map_err(|what| self.terms.damaged(at, what))?;
        for _ in 0..block.group_len(group) {
            let info = infos.next().map_err(|what| self.terms.damaged(at, what))?;
            self.infos.push(self.terms.check(at, info)?);
        }
        Ok(())
    }

    /// Names what `seek_ceil` of `target` will read: its block, and the one after it, where the
    /// first term above may be.
    pub fn need(&self, target: &[u8], missing: &mut Missing) -> Result<()> {
        let at = self.terms.block_of(target);
        self.terms.need_block(at, missing)?;
        if at + 1 < self.terms.block_count() {
            self.terms.need_block(at + 1, missing)?;
        }
        Ok(())
    }

    /// Names what `next` will read, if it leaves the block.
    pub fn need_next(&self, missing: &mut Missing) -> Result<()> {
        let next = self.block.map_or(0, |at| at + 1);
        if self.place + 1 >= self.count && next < self.terms.block_count() {
            self.terms.need_block(next, missing)?;
        }
        Ok(())
    }

    /// Stands on the first term of a block; false where there is no such block.
    fn enter_block(&mut self, at: usize) -> Result<bool> {
        if at >= self.terms.block_count() {
            self.block = Some(self.terms.block_count());
            (self.count, self.place) = (0, 0);
            self.term.clear();
            self.infos.clear();
            return Ok(false);
        }
        self.load(at)?;
        self.enter_group(at, 0)?;
        Ok(true)
    }

    /// Decodes a block.
    fn load(&mut self, at: usize) -> Result<()> {
        self.block = None;
        match self.terms.stored(at)? {
            Stored::Plain(bytes) => {
                self.bytes.clear();
                self.bytes.extend_from_slice(bytes);
            }
            Stored::Compressed(frame) => {
                let decompressor = self.decompressor.get_or_insert_with(Decompressor::new);
                self.terms.decode(at, frame, decompressor, &mut self.bytes)?;
            }
        }
        self.count = self.terms.parse(at, &self.bytes)?.count();
        self.place = 0;
        self.block = Some(at);
        Ok(())
    }

    /// Stands on the first term of a group of the block decoded.
    fn enter_group(&mut self, at: usize, group: usize) -> Result<()> {
        self.infos.clear();
        {
            let block = self.terms.parse(at, &self.bytes)?;
            let terms = block.terms(group).map_err(|what| self.terms.damaged(at, what))?;
            self.terms_at = terms.as_ptr().addr() - self.bytes.as_ptr().addr();
        }
        self.place = group * GROUP;
        self.term.clear();
        self.read_term(at)
    }

    /// Reads the term at `place` behind the one before.
    fn read_term(&mut self, at: usize) -> Result<()> {
        let mut rest = &self.bytes[self.terms_at..];
        let len = rest.len();
        let is_first = self.place.is_multiple_of(GROUP);
        let shared = if is_first { Some(0) } else { vint::read(&mut rest) };
        let added = vint::read_bytes(&mut rest);
        let (Some(shared), Some(added)) = (shared, added) else {
            return Err(self.terms.damaged(at, "block of terms cut short"));
        };
        let shared = shared as usize;
        if shared > self.term.len() || shared + added.len() > TERM_LEN_MAX {
            return Err(self.terms.damaged(at, "term longer than it may be"));
        }
        self.shared = shared;
        self.term.truncate(shared);
        self.term.extend_from_slice(added);
        self.terms_at += len - rest.len();
        Ok(())
    }
}
