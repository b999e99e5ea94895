//! Blocks of terms: about 4 KiB of terms that stand together, each told by what it adds to the
//! one before.
//!
//! Always true
//! 1. Terms rise in byte order; a block has at least one.
//! 2. Groups of 16 begin with a term in full, so that a search halves groups and then walks one.
//! 3. A group's terms lie apart from their infos: a search passes over bytes of terms alone.
//!
//! Layout, `n` terms in `⌈n / 16⌉` groups (little-endian)
//!
//! | bytes        | what                                                              |
//! |--------------|-------------------------------------------------------------------|
//! | 2            | `n`                                                               |
//! | 4 each group | offset in the block of its terms (2), of its infos (2)            |
//! | groups       | terms, then infos                                                 |
//!
//! A term: vint of the length shared with the one before (not for the first of a group), vint of
//! the length that follows, bytes.
//!
//! Infos: vints of where the first term's postings, skips and positions begin; then for each term
//!
//! | vint or bytes                | where                                              |
//! |------------------------------|----------------------------------------------------|
//! | documents                    | always                                             |
//! | occurrences less documents   | F: the field keeps frequencies                     |
//! | the document                 | one document                                       |
//! | length of the postings       | more than one document                             |
//! | 1, 2 or 4 impacts (2 bytes)  | F, 2..=127 documents (2..=7, 8..=31, 32..)         |
//! | length of the positions      | P: the field keeps positions                       |
//!
//! What follows begins where the one before ended; skips have a length known by the documents.
//!
//! In the section a block is either `00` and these bytes, or `01` and a zstd frame of them.
//!
//! Example: terms `cat` (document 5) and `catch` (document 7) of a field that keeps documents
//! alone: `02 00 | 06 00 0e 00 | 03 c a t | 03 02 c h | 00 00 00 | 01 05 | 01 07`.

use std::ops::Range;

use base::vint;

use super::{TERM_LEN_MAX, TermInfo, TermOptions};
use crate::postings::{self, Shape};

/// Terms of a group.
pub(crate) const GROUP: usize = 16;

/// A block ends with the term that brings it to this length.
pub(crate) const LEN_TARGET: usize = 4096;

/// The longest block: one short of the target, then the longest term with its info.
pub(crate) const LEN_MAX: usize = 2 * LEN_TARGET + TERM_LEN_MAX;

const _: () = assert!(LEN_MAX <= u16::MAX as usize, "offsets in a block have 16 bits");

/// Why a block cannot be read.
pub(crate) type Damage = &'static str;

const SHORT: Damage = "block of terms cut short";

/// Gathers a block.
pub(crate) struct BlockWriter {
    options: TermOptions,
    count: usize,
    last: Vec<u8>,
    groups: Vec<(usize, usize)>,
    /// Finished groups, terms and infos.
    body: Vec<u8>,
    /// Infos of the group that is open; its terms are at the end of `body`.
    infos: Vec<u8>,
}

impl BlockWriter {
    pub(crate) fn new(options: TermOptions) -> Self {
        Self {
            options,
            count: 0,
            last: Vec::new(),
            groups: Vec::new(),
            body: Vec::new(),
            infos: Vec::new(),
        }
    }

    /// Number of terms gathered.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether the block has reached its length.
    pub(crate) fn is_full(&self) -> bool {
        2 + 4 * self.groups.len() + self.body.len() + self.infos.len() >= LEN_TARGET
    }

    /// Takes the next term.
    pub(crate) fn add(&mut self, term: &[u8], info: &TermInfo) {
        assert!(term.len() <= TERM_LEN_MAX, "longer terms are refused before");
        assert!(self.count == 0 || *self.last < *term, "terms rise");
        if self.count.is_multiple_of(GROUP) {
            self.end_group();
            self.groups.push((self.body.len(), 0));
            vint::write_bytes(&mut self.body, term);
            for start in [info.postings, info.skips, info.positions] {
                vint::write(&mut self.infos, start);
            }
        } else {
            let shared = self.last.iter().zip(term).take_while(|(a, b)| a == b).count();
            vint::write(&mut self.body, shared as u64);
            vint::write_bytes(&mut self.body, &term[shared..]);
        }
        self.write_info(info);
        self.last.clear();
        self.last.extend_from_slice(term);
        self.count += 1;
    }

    fn write_info(&mut self, info: &TermInfo) {
        let infos = &mut self.infos;
        vint::write(infos, u64::from(info.doc_freq));
        if self.options.freqs {
            vint::write(infos, info.total_freq - u64::from(info.doc_freq));
        }
        match info.single {
            Some(doc) => vint::write(infos, u64::from(doc)),
            None => vint::write(infos, u64::from(info.postings_len)),
        }
        if self.options.freqs && (info.doc_freq as usize) < postings::BLOCK {
            infos.extend_from_slice(&info.impacts[..2 * TermInfo::pairs(info.doc_freq)]);
        }
        if self.options.positions {
            vint::write(infos, info.positions_len);
        }
    }

    fn end_group(&mut self) {
        if let Some((_, infos)) = self.groups.last_mut() {
            *infos = self.body.len();
            self.body.append(&mut self.infos);
        }
    }

    /// Ends the block, and puts it into `out`, whose old content goes.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        assert!(self.count > 0, "a block has a term");
        self.end_group();
        let head = 2 + 4 * self.groups.len();
        out.clear();
        out.extend_from_slice(&(self.count as u16).to_le_bytes());
        for (terms, infos) in self.groups.drain(..) {
            for at in [terms, infos] {
                let at = u16::try_from(head + at).expect("LEN_MAX is below 2^16");
                out.extend_from_slice(&at.to_le_bytes());
            }
        }
        out.append(&mut self.body);
        assert!(out.len() <= LEN_MAX, "a block ends with the term that fills it");
        self.count = 0;
        self.last.clear();
    }
}

/// A block, in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    bytes: &'a [u8],
    count: usize,
    groups: &'a [[u8; 4]],
    options: TermOptions,
}

impl<'a> Block<'a> {
    pub(crate) fn parse(bytes: &'a [u8], options: TermOptions) -> Result<Self, Damage> {
        let count = usize::from(u16::from_le_bytes(*bytes.first_chunk().ok_or(SHORT)?));
        let groups = bytes.get(2..2 + 4 * count.div_ceil(GROUP)).ok_or(SHORT)?;
        if count == 0 {
            return Err("block of no terms");
        }
        Ok(Self { bytes, count, groups: groups.as_chunks().0, options })
    }

    /// Number of terms.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Number of terms in a group.
    pub(crate) fn group_len(&self, group: usize) -> usize {
        (self.count - group * GROUP).min(GROUP)
    }

    /// Where a group's terms begin, and where its infos do.
    fn group(&self, group: usize) -> (usize, usize) {
        let [a, b, c, d] = self.groups[group];
        (usize::from(u16::from_le_bytes([a, b])), usize::from(u16::from_le_bytes([c, d])))
    }

    /// The bytes from a group's first term on.
    pub(crate) fn terms(&self, group: usize) -> Result<&'a [u8], Damage> {
        let (terms, infos) = self.group(group);
        self.bytes.get(terms..infos).ok_or("terms outside of their block")
    }

    /// A group's infos.
    pub(crate) fn infos(&self, group: usize) -> Result<Infos<'a>, Damage> {
        let (_, at) = self.group(group);
        let mut bytes = self.bytes.get(at..).ok_or("infos outside of their block")?;
        let mut start = || vint::read(&mut bytes).ok_or(SHORT);
        let (postings, skips, positions) = (start()?, start()?, start()?);
        Ok(Infos { bytes, options: self.options, postings, skips, positions })
    }

    /// The last group whose first term is at or below `target`; 0 where there is none.
    pub(crate) fn group_of(&self, target: &[u8]) -> Result<usize, Damage> {
        let (mut low, mut high) = (0, self.groups.len());
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let first = vint::read_bytes(&mut self.terms(middle)?).ok_or(SHORT)?;
            if first <= target {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The first term of a group at or above `target`.
    pub(crate) fn ceil_in_group(&self, group: usize, target: &[u8]) -> Result<Ceil<'a>, Damage> {
        ceil_in_group(self.terms(group)?, self.group_len(group), target)
    }

    /// Does every group after `group` begin above `target`?
    pub(crate) fn ends_above(&self, group: usize, target: &[u8]) -> Result<bool, Damage> {
        if group + 1 >= self.groups.len() {
            return Ok(true);
        }
        let first = vint::read_bytes(&mut self.terms(group + 1)?).ok_or(SHORT)?;
        Ok(first > target)
    }

    /// As [`Block::ceil_in_group`], from the term after number `place` on, which lies at byte `at` of the
    /// block: number `place` is below `target` and shares `matched` bytes with it.
    pub(crate) fn ceil_after(
        &self,
        group: usize,
        (place, at): (usize, usize),
        target: &[u8],
        matched: usize,
    ) -> Result<Ceil<'a>, Damage> {
        let (_, infos) = self.group(group);
        let rest = self.bytes.get(at..infos).ok_or("terms outside of their block")?;
        ceil_from(rest, place + 1..self.group_len(group), target, matched)
    }

    /// What is known of `target`.
    pub(crate) fn find(&self, target: &[u8]) -> Result<Option<TermInfo>, Damage> {
        let group = self.group_of(target)?;
        let Some(place) = place_in_group(self.terms(group)?, self.group_len(group), target)? else {
            return Ok(None);
        };
        let mut infos = self.infos(group)?;
        for _ in 0..place {
            infos.next()?;
        }
        infos.next().map(Some)
    }
}

/// A term at or above another, as it is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceil<'a> {
    /// Its number in the group; that of the group's terms where all are below.
    pub(crate) place: usize,
    /// So many of its bytes are those of the term before it, and of the one looked for.
    pub(crate) shared: usize,
    /// The bytes that follow.
    pub(crate) added: &'a [u8],
    /// What follows the term.
    pub(crate) next: &'a [u8],
}

/// The first of the `count` terms in `bytes` that is at or above `target`.
fn ceil_in_group<'a>(bytes: &'a [u8], count: usize, target: &[u8]) -> Result<Ceil<'a>, Damage> {
    ceil_from(bytes, 0..count, target, 0)
}

/// The first of the terms with these numbers, which lie in `bytes`, that is at or above `target`.
///
/// No term is put together: while walking, `matched` bytes of `target` agree with the term before,
/// which is below `target`. A term that shares more with it is below as well, one that shares less
/// is above, and only one that shares just as much has to be looked at.
fn ceil_from<'a>(
    mut bytes: &'a [u8],
    places: Range<usize>,
    target: &[u8],
    mut matched: usize,
) -> Result<Ceil<'a>, Damage> {
    let count = places.end;
    for place in places {
        let shared =
            if place == 0 { 0 } else { vint::read_short(&mut bytes).ok_or(SHORT)? as usize };
        let added = vint::read_bytes(&mut bytes).ok_or(SHORT)?;
        if shared > matched {
            continue;
        }
        let found = Ceil { place, shared, added, next: bytes };
        if shared < matched {
            return Ok(found);
        }
        let rest = &target[matched..];
        let same = added.iter().zip(rest).take_while(|(a, b)| a == b).count();
        match (added.get(same), rest.get(same)) {
            (_, None) => return Ok(found),
            (Some(theirs), Some(ours)) if theirs > ours => return Ok(found),
            _ => matched += same,
        }
    }
    Ok(Ceil { place: count, shared: 0, added: &[], next: bytes })
}

/// Which of the `count` terms in `bytes` is `target`, found as [`ceil_in_group`] does.
fn place_in_group(mut bytes: &[u8], count: usize, target: &[u8]) -> Result<Option<usize>, Damage> {
    let mut matched = 0;
    for place in 0..count {
        let shared =
            if place == 0 { 0 } else { vint::read_short(&mut bytes).ok_or(SHORT)? as usize };
        let added = vint::read_bytes(&mut bytes).ok_or(SHORT)?;
        if shared > matched {
            continue;
        }
        if shared < matched {
            return Ok(None);
        }
        let rest = &target[matched..];
        let same = added.iter().zip(rest).take_while(|(a, b)| a == b).count();
        matched += same;
        match (added.get(same), rest.get(same)) {
            (None, None) => return Ok(Some(place)),
            (Some(_), None) => return Ok(None),
            (Some(theirs), Some(ours)) if theirs > ours => return Ok(None),
            _ => {}
        }
    }
    Ok(None)
}

/// Reads the infos of a group, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Infos<'a> {
    bytes: &'a [u8],
    options: TermOptions,
    postings: u64,
    skips: u64,
    positions: u64,
}

impl Infos<'_> {
    /// The next term's.
    pub(crate) fn next(&mut self) -> Result<TermInfo, Damage> {
        const HIGH: Damage = "postings of a term outside of the section";
        let bytes = &mut self.bytes;
        let doc_freq = vint::read_u32(bytes).filter(|count| *count > 0).ok_or(SHORT)?;
        let mut total_freq = u64::from(doc_freq);
        if self.options.freqs {
            let more = vint::read(bytes).ok_or(SHORT)?;
            total_freq = total_freq.checked_add(more).ok_or("occurrences above all")?;
        }
        let number = vint::read_u32(bytes).ok_or(SHORT)?;
        let single = (doc_freq == 1).then_some(number);
        let postings_len = if doc_freq == 1 { 0 } else { number };
        let mut impacts = [0; 8];
        if self.options.freqs && (doc_freq as usize) < postings::BLOCK {
            let len = 2 * TermInfo::pairs(doc_freq);
            let (kept, rest) = bytes.split_at_checked(len).ok_or(SHORT)?;
            impacts[..len].copy_from_slice(kept);
            *bytes = rest;
        }
        let positions_len =
            if self.options.positions { vint::read(bytes).ok_or(SHORT)? } else { 0 };
        let info = TermInfo {
            doc_freq,
            total_freq,
            single,
            postings: self.postings,
            postings_len,
            skips: self.skips,
            positions: self.positions,
            positions_len,
            impacts,
        };
        let skips_len = Shape::new(doc_freq, self.options).len_bytes(doc_freq) as u64;
        self.postings = self.postings.checked_add(u64::from(postings_len)).ok_or(HIGH)?;
        self.skips = self.skips.checked_add(skips_len).ok_or(HIGH)?;
        self.positions = self.positions.checked_add(positions_len).ok_or(HIGH)?;
        Ok(info)
    }
}
