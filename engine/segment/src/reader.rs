//! An open segment: what is in it, and the doors to its parts.
//!
//! Always true
//! 1. Opening reads footer, list of sections and structure, no bulk. What it reads by the number of
//!    documents are lengths and the filter of ids, a byte or two for each: 160 µs for the 65 MB of
//!    terms and ids of 320,000 passages.
//! 2. A `Segment` never changes; any core reads it, and clones are one counter.
//! 3. Structure was checked when the segment was opened, bulk is checked at its first read.
//!
//! Not here: which documents are alive (`live`), and the list of segments (`view`).

use std::sync::{Arc, OnceLock};

use base::{FieldNo, SegmentId};
use env::Bytes;
use env::budget::Taken;

use crate::error::{Error, Result};
use crate::fields::{Field, Fields};
use crate::ids::Ids;
use crate::meta::Meta;
use crate::norms::Norms;
use crate::order::SortOrder;
use crate::parents::Parents;
use crate::section::{Check, File, Section};
use crate::stored::Stored;
use crate::terms::Terms;
use crate::toc::SectionKind;

/// An open segment.
#[derive(Clone)]
pub struct Segment(Arc<Inner>);

struct Inner {
    file: Arc<File>,
    fields: Fields,
    ids: Ids,
    stored: Option<Stored>,
    parents: Option<Parents>,
    order: Option<SortOrder>,
    merged_count: u32,
    /// What its bytes are charged to, until the last who holds the segment drops it.
    charge: OnceLock<Vec<Taken>>,
}

impl Segment {
    /// Opens segment `id` from the bytes of its file.
    pub fn open(id: SegmentId, bytes: Bytes, check: Check) -> Result<Self> {
        Self::from_file(id, File::open(bytes, check)?)
    }

    /// Opens segment `id` from an open file, as tests of readiness do ([`File::missing_once`]).
    pub fn from_file(id: SegmentId, file: File) -> Result<Self> {
        if file.id() != id {
            return Err(Error::Footer { what: "the file of another segment" });
        }
        let file = Arc::new(file);
        let meta = file
            .section(SectionKind::Meta, FieldNo(0))
            .ok_or(Error::Footer { what: "section of facts missing" })?;
        let facts = meta.archive::<Meta>()?;
        if facts.get().doc_count.to_native() != file.doc_count() {
            return Err(meta.malformed(0, "number of documents differs from the trailer's"));
        }
        if file.doc_count() > crate::writer::DOC_COUNT_MAX {
            return Err(meta.malformed(0, "more documents than a segment holds"));
        }
        let fields = Fields::open(&file)?;
        let ids = Ids::open(&file)?;
        let stored = Stored::open(&file)?;
        let parents = Parents::open(&file)?;
        let order = SortOrder::open(&file)?;
        let merged_count = facts.get().merged_count.to_native();
        let charge = OnceLock::new();
        Ok(Self(Arc::new(Inner {
            file,
            fields,
            ids,
            stored,
            parents,
            order,
            merged_count,
            charge,
        })))
    }

    /// The same file, opened anew: nothing that was read of it before is believed. A map shows what the
    /// kernel has now, which may be another page than the one that was compared with its checksum once.
    ///
    /// # Errors
    /// Those of [`Segment::open`].
    pub fn afresh(&self) -> Result<Self> {
        Self::open(self.id(), self.file().whole().clone(), Check::Lazy)
    }

    /// Lets the segment hold the memory that its bytes take: views hold it for as long as they
    /// like. Only the first charge counts.
    pub fn charge(&self, taken: Vec<Taken>) {
        // A second charge is dropped: the first stands for all bytes.
        let _ = self.0.charge.set(taken);
    }

    /// Number of the segment.
    pub fn id(&self) -> SegmentId {
        self.0.file.id()
    }

    /// Number of documents, dead ones included.
    pub fn doc_count(&self) -> u32 {
        self.0.file.doc_count()
    }

    /// How many segments were merged into it; 0 for a sealed buffer.
    pub fn merged_count(&self) -> u32 {
        self.0.merged_count
    }

    /// Length of the file.
    pub fn len_bytes(&self) -> u64 {
        self.0.file.len_bytes()
    }

    /// The file.
    pub fn file(&self) -> &Arc<File> {
        &self.0.file
    }

    /// The first damage that any reader of this segment met, on any core. Ask after each step.
    pub fn fault(&self) -> Option<&Error> {
        self.0.file.fault()
    }

    /// A section by what it holds.
    pub fn section(&self, kind: SectionKind, field: FieldNo) -> Option<Section> {
        self.0.file.section(kind, field)
    }

    /// The fields that have any section, by number.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.0.fields.iter()
    }

    /// What there is of a field.
    pub(crate) fn field(&self, field: FieldNo) -> Option<&Field> {
        self.0.fields.get(field)
    }

    /// Ids of the documents.
    pub fn ids(&self) -> &Ids {
        &self.0.ids
    }

    /// The stored documents; `None` where the segment keeps none.
    pub fn stored(&self) -> Option<&Stored> {
        self.0.stored.as_ref()
    }

    /// Which documents stand for themselves; `None` where all do.
    pub fn parents(&self) -> Option<&Parents> {
        self.0.parents.as_ref()
    }

    /// The order in which the documents stand; `None` where it is that of their arrival.
    pub fn order(&self) -> Option<&SortOrder> {
        self.0.order.as_ref()
    }

    /// The terms of a field; `None` where it has none.
    pub fn terms(&self, field: FieldNo) -> Option<Terms> {
        self.0.fields.get(field)?.terms()
    }

    /// The lengths of a field; `None` where no document has it, or it keeps none.
    pub fn norms(&self, field: FieldNo) -> Option<Norms> {
        self.0.fields.get(field)?.norms()
    }
}
