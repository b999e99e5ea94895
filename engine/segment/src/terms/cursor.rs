//! Walks the terms of a field in byte order: for prefixes, ranges and merges.
//!
//! A prefix is walked by `seek_ceil(prefix)`, and `next` while the term begins with it.
//!
//! Always true
//! 1. Fresh, it stands before the first term.
//! 2. It holds one block: a plain one as it lies, else its own copy.
//! 3. Infos are parsed when one of their group is asked for: most terms of a walk match nothing.

use std::sync::Arc;

use base::vint;
use env::Bytes;

use super::block::GROUP;
use super::reader::{FieldTerms, Stored};
use super::{TERM_LEN_MAX, TermInfo};
use crate::bytes::zblock::Decompressor;
use crate::error::Result;
use crate::section::Missing;

/// Bytes that are copied at once, wanted or not: most terms add fewer, and a copy of a length that is
/// not known before is a call.
const COPIED: usize = 16;

/// Walks terms in byte order.
pub struct TermCursor {
    terms: Arc<FieldTerms>,
    decompressor: Option<Decompressor>,
    /// The block held, and its bytes.
    block: Option<usize>,
    held: Held,
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

/// The bytes of a block.
#[derive(Default)]
struct Held {
    /// As they lie; absent where they had to be decoded.
    plain: Option<Bytes>,
    decoded: Vec<u8>,
}

impl Held {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.plain.as_deref().unwrap_or(&self.decoded)
    }
}

impl TermCursor {
    pub(crate) fn new(terms: Arc<FieldTerms>) -> Self {
        Self {
            terms,
            decompressor: None,
            block: None,
            held: Held::default(),
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
        let at = match self.block {
            // Plans mostly move on a little.
            Some(at) if self.terms.may_hold(at, target) => at,
            _ => self.terms.block_of(target),
        };
        let is_here = self.block == Some(at);
        if !is_here {
            self.load(at)?;
        }
        let common = self.term.iter().zip(target).take_while(|(a, b)| a == b).count();
        let is_ahead = is_here && self.term[common..] < target[common..];
        let (group, count, found, added) = {
            let damaged = |what| self.terms.damaged(at, what);
            let block = self.terms.parse(at, self.held.bytes())?;
            let here = self.place / GROUP;
            let (group, found) = if is_ahead && block.ends_above(here, target).map_err(damaged)? {
                let from = (self.place % GROUP, self.terms_at);
                (here, block.ceil_after(here, from, target, common).map_err(damaged)?)
            } else {
                let group = block.group_of(target).map_err(damaged)?;
                (group, block.ceil_in_group(group, target).map_err(damaged)?)
            };
            let start = self.held.bytes().as_ptr().addr();
            let from = found.added.as_ptr().addr().wrapping_sub(start);
            self.terms_at = found.next.as_ptr().addr() - start;
            (
                group,
                block.group_len(group),
                (found.place, found.shared),
                from..from + found.added.len(),
            )
        };
        let (place, shared) = found;
        self.infos.clear();
        self.place = group * GROUP + place;
        if place == count {
            // All of the group are below: the next group begins above.
            self.place -= 1;
            return self.next();
        }
        if shared + added.len() > TERM_LEN_MAX {
            return Err(self.terms.damaged(at, "term longer than it may be"));
        }
        self.shared = common;
        if common >= shared {
            let rest = self.term[shared..].iter().zip(&self.held.bytes()[added.clone()]);
            self.shared = shared + rest.take_while(|(a, b)| a == b).count();
        }
        self.term.clear();
        self.term.extend_from_slice(&target[..shared]);
        self.term.extend_from_slice(&self.held.bytes()[added]);
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

    /// Moves to the next term; those of the group that share the first `len` bytes of this one are
    /// passed over unread. False where there is none.
    pub fn next_apart(&mut self, len: usize) -> Result<bool> {
        let mut rest = self.held.bytes().get(self.terms_at..).unwrap_or(&[]);
        let start = rest.len();
        let mut passed = 0;
        // A group's first term tells nothing of what it shares, and damage is met by `next`.
        while self.place + passed + 1 < self.count
            && !(self.place + passed + 1).is_multiple_of(GROUP)
        {
            let mut after = rest;
            let shared = vint::read_short(&mut after);
            if shared.is_none_or(|shared| shared < len as u64)
                || vint::read_bytes(&mut after).is_none()
            {
                break;
            }
            rest = after;
            passed += 1;
        }
        self.terms_at += start - rest.len();
        self.place += passed;
        self.next()
    }

    /// The term it stands on; empty before the first and after the last.
    pub fn term(&self) -> &[u8] {
        &self.term
    }

    /// At least so many bytes of the term are those of the one that it moved here from.
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
        let block = self.terms.parse(at, self.held.bytes())?;
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
        self.held.plain = self.terms.plain(at)?;
        if self.held.plain.is_none()
            && let Stored::Compressed(frame) = self.terms.stored(at)?
        {
            let decompressor = self.decompressor.get_or_insert_with(Decompressor::new);
            self.terms.decode(at, frame, decompressor, &mut self.held.decoded)?;
        }
        self.count = self.terms.parse(at, self.held.bytes())?.count();
        self.place = 0;
        self.block = Some(at);
        Ok(())
    }

    /// Stands on the first term of a group of the block decoded.
    fn enter_group(&mut self, at: usize, group: usize) -> Result<()> {
        self.infos.clear();
        {
            let block = self.terms.parse(at, self.held.bytes())?;
            let terms = block.terms(group).map_err(|what| self.terms.damaged(at, what))?;
            self.terms_at = terms.as_ptr().addr() - self.held.bytes().as_ptr().addr();
        }
        self.place = group * GROUP;
        self.read_term(at)
    }

    /// Reads the term at `place` behind the one before.
    fn read_term(&mut self, at: usize) -> Result<()> {
        let mut rest = &self.held.bytes()[self.terms_at..];
        let len = rest.len();
        let is_first = self.place.is_multiple_of(GROUP);
        let shared = if is_first { Some(0) } else { vint::read_short(&mut rest) };
        let added = vint::read_bytes(&mut rest);
        let (Some(shared), Some(added)) = (shared, added) else {
            return Err(self.terms.damaged(at, "block of terms cut short"));
        };
        let mut shared = shared as usize;
        if is_first {
            // It is told in full; what it shares is seen.
            shared = self.term.iter().zip(added).take_while(|(a, b)| a == b).count();
            self.term.clear();
            self.term.extend_from_slice(added);
            self.shared = shared;
            self.terms_at += len - rest.len();
            return if added.len() > TERM_LEN_MAX {
                Err(self.terms.damaged(at, "term longer than it may be"))
            } else {
                Ok(())
            };
        }
        if shared > self.term.len() || shared + added.len() > TERM_LEN_MAX {
            return Err(self.terms.damaged(at, "term longer than it may be"));
        }
        self.shared = shared;
        self.term.truncate(shared);
        let from = self.terms_at + len - rest.len() - added.len();
        match self.held.bytes()[from..].first_chunk::<COPIED>() {
            Some(more) if added.len() <= COPIED => {
                self.term.extend_from_slice(more);
                self.term.truncate(shared + added.len());
            }
            _ => self.term.extend_from_slice(added),
        }
        self.terms_at += len - rest.len();
        Ok(())
    }
}
