//! A column of terms, open: each document's terms by rank, and the terms of the ranks.
//!
//! Always true
//! 1. Ranks order as their terms do, so sorting and counting within one segment look at no bytes.
//!    Ranks of two segments say nothing about each other.
//! 2. Every term belongs to a document (which may be deleted).
//!
//! Layout: the head is the resident part of the dictionary and then the zones; the body is the
//! blocks of the dictionary and then the windows (`dictionary`, `zone`, `block`).

use std::ops::RangeInclusive;
use std::sync::Arc;

use base::{DocId, FieldNo, Ord};

use super::dictionary::{Dictionary, DictionaryReader};
use super::reader::{Cursor, Numeric};
use super::zone::Zone;
use super::{WINDOW, WindowWords};
use crate::bytes::bitmap::Bitmap;
use crate::error::{Error, Result};
use crate::reader::Segment;
use crate::section::{File, Missing, Section};
use crate::toc::SectionKind;

/// A column of terms. Clones are one counter.
#[derive(Clone, Debug)]
pub struct Ordinals(Arc<Open>);

#[derive(Debug)]
struct Open {
    dictionary: Dictionary,
    ranks: Numeric,
    body: Section,
}

/// Every rank of a window with its document.
#[derive(Clone, Debug, Default)]
pub struct OrdPairs {
    /// Places in the window, rising; a document with several terms several times.
    pub places: Vec<u16>,
    /// The rank beside each place.
    pub ords: Vec<u32>,
}

impl Segment {
    /// The column of terms of a field; `None` where no document has one.
    pub fn ordinals(&self, field: FieldNo) -> Option<&Ordinals> {
        self.field(field)?.ordinals()
    }
}

impl Ordinals {
    /// Opens the column of `field`, if the file has one.
    pub(crate) fn open(file: &Arc<File>, field: FieldNo) -> Result<Option<Self>> {
        let Some(head) = file.section(SectionKind::OrdinalHead, field) else { return Ok(None) };
        let body = file
            .section(SectionKind::OrdinalBody, field)
            .ok_or_else(|| head.malformed(0, "a column has a head and a body"))?;
        let bytes = head.shared()?;
        let dictionary =
            Dictionary::open(bytes.clone(), body.len()).map_err(|what| head.malformed(0, what))?;
        let windows = dictionary.body_end()..body.len();
        let zones = &bytes[dictionary.len()..];
        let (ranks, rest) = Numeric::with_zones(zones, windows, body.clone(), &head)?;
        if !rest.is_empty() {
            return Err(head.malformed(0, "the zones end the head"));
        }
        if ranks.min() < 0 || ranks.max() >= i64::from(dictionary.term_count()) {
            return Err(head.malformed(0, "every rank has a term"));
        }
        Ok(Some(Self(Arc::new(Open { dictionary, ranks, body }))))
    }

    /// Number of documents with a term, deleted ones included.
    pub fn doc_count(&self) -> u32 {
        self.0.ranks.doc_count()
    }

    /// Number of pairs of document and term.
    pub fn value_count(&self) -> u64 {
        self.0.ranks.value_count()
    }

    /// Number of terms: ranks are below it.
    pub fn term_count(&self) -> u32 {
        self.0.dictionary.term_count()
    }

    /// Whether no document has more than one term.
    pub fn is_single(&self) -> bool {
        self.0.ranks.is_single()
    }

    /// What is known of a window without reading it: its bounds are ranks.
    #[inline]
    pub fn zone(&self, window: u32) -> Zone {
        self.0.ranks.zone(window)
    }

    /// Names the bytes of a window that are not there.
    pub fn need(&self, window: u32, missing: &mut Missing) -> Result<()> {
        self.0.ranks.need(window, missing)
    }

    /// Reads terms by rank and ranks by term. Keep it: it remembers where it stands.
    pub fn terms(&self) -> DictionaryReader {
        DictionaryReader::new(self.0.dictionary.clone(), self.0.body.clone())
    }

    /// The rank of a document's least term; who asks for many in order takes a cursor.
    #[inline]
    pub fn first(&self, doc: DocId) -> Option<Ord> {
        self.0.ranks.first(doc).map(|rank| self.ord(rank))
    }

    /// The rank of a document's greatest term.
    #[inline]
    pub fn last(&self, doc: DocId) -> Option<Ord> {
        self.0.ranks.last(doc).map(|rank| self.ord(rank))
    }

    /// Appends the ranks of a document's terms, rising, to `out`.
    pub fn values(&self, doc: DocId, out: &mut Vec<Ord>) {
        out.extend(self.0.ranks.cursor().values(doc).map(|rank| self.ord(rank)));
    }

    /// A reader of ranks, as numbers, that remembers the window it stands in.
    pub fn cursor(&self) -> Cursor<'_> {
        self.0.ranks.cursor()
    }

    /// Puts the rank of each document's least term at its place in `ords`, and sets exactly the
    /// bits of these documents in `presence`. Other places keep what stood there.
    pub fn fill(&self, window: u32, ords: &mut [u32; WINDOW as usize], presence: &mut WindowWords) {
        presence.fill(0);
        let Some(block) = self.0.ranks.block_or_fault(window) else { return };
        block.presence().fill(presence);
        block.for_each_first(|place, rank| ords[place as usize] = self.ord(rank).get());
    }

    /// As [`Ordinals::fill`] with each document's greatest term.
    pub fn fill_last(
        &self,
        window: u32,
        ords: &mut [u32; WINDOW as usize],
        presence: &mut WindowWords,
    ) {
        presence.fill(0);
        let Some(block) = self.0.ranks.block_or_fault(window) else { return };
        block.presence().fill(presence);
        block.for_each_last(|place, rank| ords[place as usize] = self.ord(rank).get());
    }

    /// Replaces `pairs` by every rank of a window with its document's place.
    pub fn pairs(&self, window: u32, pairs: &mut OrdPairs) {
        pairs.places.clear();
        pairs.ords.clear();
        let Some(block) = self.0.ranks.block_or_fault(window) else { return };
        block.for_each(|place, rank| {
            pairs.places.push(place as u16);
            pairs.ords.push(self.ord(rank).get());
        });
    }

    /// Sets the bits of the documents of a window that have a term; other bits stay.
    pub fn presence(&self, window: u32, bits: &mut WindowWords) {
        self.0.ranks.presence(window, bits);
    }

    /// Sets the bits of the documents of a window one of whose ranks lies in `range`; other bits
    /// stay.
    pub fn matching(&self, window: u32, range: RangeInclusive<Ord>, bits: &mut WindowWords) {
        let range = i64::from(range.start().get())..=i64::from(range.end().get());
        self.0.ranks.matching(window, &range, bits);
    }

    /// A rank as it was written. Damage inside a window can give numbers that no term has; the
    /// greatest rank stands for them, so that nobody indexes beyond the terms.
    #[inline]
    fn ord(&self, rank: i64) -> Ord {
        Ord((rank as u64).min(u64::from(self.term_count()) - 1) as u32)
    }

    /// The ranks as a column of numbers.
    pub(crate) fn ranks(&self) -> &Numeric {
        &self.0.ranks
    }

    /// Reads and checks everything, and gives what is wrong to `damage`.
    pub(crate) fn verify(&self, damage: &mut dyn FnMut(Error)) {
        self.terms().verify(damage);
        self.0.ranks.verify(damage);
        let mut used = Bitmap::new(self.term_count());
        let mut twice = false;
        for window in 0..self.0.ranks.window_count() {
            // A damaged window was told above; here its ranks are merely missing.
            let Ok(Some(block)) = self.0.ranks.block(window) else { continue };
            let mut before = None;
            block.for_each(|place, rank| {
                let pair = Some((place, rank));
                twice |= before == pair;
                before = pair;
                used.insert(self.ord(rank).get());
            });
        }
        if twice {
            damage(self.0.body.malformed(0, "a document has a term once"));
        }
        if used.count() != self.term_count() {
            damage(self.0.body.malformed(0, "every term belongs to a document"));
        }
    }
}
