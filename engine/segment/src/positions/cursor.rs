//! Reads the positions of a term, forward from any document whose place is known.

use std::ops::Range;

use base::vint;

use super::REST;
use crate::bytes::bitpack::{self, BLOCK};
use crate::error::Result;
use crate::section::Section;

/// Bytes of a packed block at most.
pub(crate) const PACKED_LEN_MAX: u64 = 1 + 4 * BLOCK as u64;

/// Walks the positions of a term.
pub(crate) struct PositionCursor {
    section: Section,
    /// The term's part of the section.
    range: Range<u64>,
    /// Positions of the term, where they are fewer than a block and so have no header.
    short: Option<usize>,
    /// Offset of the block after the one in `values`.
    next: u64,
    /// Offset of the block in `values`; `u64::MAX` before the first.
    current: u64,
    values: Box<[u32; BLOCK]>,
    /// Values not yet taken are `values[at..count]`.
    at: usize,
    count: usize,
}

impl PositionCursor {
    /// Stands before the first position of the term whose `total` positions lie in `range`.
    pub(crate) fn new(section: Section, range: Range<u64>, total: u64) -> Self {
        let short = usize::try_from(total).ok().filter(|total| *total < BLOCK);
        let values = Box::new([0; BLOCK]);
        Self { section, range, short, next: 0, current: u64::MAX, values, at: 0, count: 0 }
    }

    /// Moves to the first value of the packed block at `offset` of the term. What lies there is read
    /// when it is asked for: the skip that follows may pass it.
    pub(crate) fn jump(&mut self, offset: u64) {
        if self.current == offset {
            self.at = 0;
        } else {
            self.current = u64::MAX;
            (self.next, self.at, self.count) = (offset, 0, 0);
        }
    }

    /// Passes `count` positions.
    #[inline]
    pub(crate) fn skip(&mut self, count: u64) -> Result<()> {
        if count <= (self.count - self.at) as u64 {
            self.at += count as usize;
            return Ok(());
        }
        self.skip_blocks(count)
    }

    fn skip_blocks(&mut self, mut count: u64) -> Result<()> {
        while count > (self.count - self.at) as u64 {
            count -= (self.count - self.at) as u64;
            self.at = self.count;
            // Whole blocks are passed by their length alone.
            while count >= BLOCK as u64
                && let Some(len) = self.packed_len(self.next)?
            {
                self.next += len;
                count -= BLOCK as u64;
            }
            if count == 0 {
                return Ok(());
            }
            self.load(self.next)?;
        }
        self.at += count as usize;
        Ok(())
    }

    /// The distances between the next `count` positions, which are those of one document, each from the
    /// one before and the first from zero; passes them. `None`, and nothing passed, where they lie in more
    /// than one block.
    #[inline]
    pub(crate) fn distances(&mut self, count: u32) -> Result<Option<&[u32]>> {
        if self.at == self.count && count > 0 {
            self.load(self.next)?;
        }
        let (start, count) = (self.at, count as usize);
        if count > self.count - start {
            return Ok(None);
        }
        self.at += count;
        Ok(Some(&self.values[start..self.at]))
    }

    /// Appends the next `count` positions, which are those of one document.
    pub(crate) fn read(&mut self, count: u32, out: &mut Vec<u32>) -> Result<()> {
        self.read_from(0, count, out)
    }

    /// Appends the next `count` positions of a document of which those up to `last` were read.
    pub(crate) fn read_from(
        &mut self,
        last: u32,
        mut count: u32,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        let mut position = u64::from(last);
        while count > 0 {
            if self.at == self.count {
                self.load(self.next)?;
            }
            let len = (self.count - self.at).min(count as usize);
            out.extend(self.values[self.at..self.at + len].iter().map(|distance| {
                position += u64::from(*distance);
                position as u32
            }));
            self.at += len;
            count -= len as u32;
        }
        if position > u64::from(u32::MAX) {
            return Err(self.malformed(self.current, "position above all"));
        }
        Ok(())
    }

    /// The length of the block at `offset` if it is a full one, header included.
    fn packed_len(&self, offset: u64) -> Result<Option<u64>> {
        if self.short.is_some() {
            return Ok(None);
        }
        match *self.bytes(offset, 1)? {
            [width] if width <= bitpack::WIDTH_MAX => {
                Ok(Some(1 + bitpack::packed_len(width) as u64))
            }
            _ => Ok(None),
        }
    }

    /// Reads the block at `offset`.
    fn load(&mut self, offset: u64) -> Result<()> {
        self.current = u64::MAX;
        (self.at, self.count) = (0, 0);
        let values = &mut self.values;
        let all = self.range.end - self.range.start;
        let (rest_at, count) = match self.short {
            Some(count) if offset == 0 && count > 0 => (0, count),
            Some(_) => return Err(self.malformed(offset, "more positions than the term has")),
            None => {
                let at = self.range.start.saturating_add(offset);
                let header = at..at.saturating_add(1).min(self.range.end);
                let Some(header) = self.section.bytes(header)?.first().copied() else {
                    return Err(self.malformed(offset, "more positions than the term has"));
                };
                if header <= bitpack::WIDTH_MAX {
                    let len = bitpack::packed_len(header) as u64;
                    let end = at + 1 + len;
                    if end > self.range.end {
                        return Err(self.malformed(offset, "block of positions cut short"));
                    }
                    let packed = self.section.bytes(at + 1..end)?;
                    if bitpack::unpack(packed, header, values).is_none() {
                        return Err(self.malformed(offset, "block of positions cut short"));
                    }
                    self.count = BLOCK;
                    self.next = offset + 1 + len;
                    self.current = offset;
                    return Ok(());
                }
                if header <= REST {
                    return Err(self.malformed(offset, "width of positions above 32"));
                }
                (offset + 1, usize::from(header - REST))
            }
        };
        let mut bytes = self.section.bytes(self.range.start + rest_at..self.range.end)?;
        for value in &mut values[..count] {
            let Some(distance) = vint::read_u32(&mut bytes) else {
                return Err(self.malformed(offset, "rest of positions cut short"));
            };
            *value = distance;
        }
        self.count = count;
        self.next = all;
        self.current = offset;
        Ok(())
    }

    fn bytes(&self, offset: u64, len: u64) -> Result<&[u8]> {
        let start = self.range.start.saturating_add(offset);
        if start.saturating_add(len) > self.range.end {
            return Err(self.malformed(offset, "more positions than the term has"));
        }
        self.section.bytes(start..start + len)
    }

    fn malformed(&self, offset: u64, what: &'static str) -> crate::error::Error {
        self.section.malformed(self.range.start.saturating_add(offset), what)
    }
}
