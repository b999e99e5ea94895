//! What a search sees: an unchanging list of segments, each with its alive documents.
//!
//! Always true
//! 1. A view never changes; the home core publishes the next one, and who holds this one keeps its
//!    segments open.
//! 2. Segments stand in the order of their documents' age, so equal scores and equal sort keys
//!    order by (segment, document).
//! 3. `base` of a segment is the number of documents of all before it, deleted ones included.
//! 4. Nested documents count as deleted: what a search finds stands for itself. Who joins nested
//!    documents with theirs reads their postings without asking whether they are alive; the
//!    document they belong to answers that.

use std::sync::Arc;

use base::{DocId, FieldNo};

use crate::error::{Error, Result};
use crate::live::Live;
use crate::reader::Segment;

/// Number of the field in which the sequence number of each document stands.
pub const SEQ_NO: FieldNo = FieldNo(1);

/// A segment in a view.
#[derive(Clone)]
pub struct ViewSegment {
    /// The segment.
    pub segment: Segment,
    /// Its alive documents that stand for themselves; `None` where all do.
    pub live: Option<Arc<Live>>,
    /// Number of the segment's first document in the view.
    pub base: u32,
}

/// An unchanging list of segments.
#[derive(Clone)]
pub struct View {
    /// The segments, oldest documents first.
    pub segments: Vec<ViewSegment>,
    /// Rises with each view of a shard.
    pub generation: u64,
    /// Number of alive documents that stand for themselves.
    pub doc_count: u32,
    /// Number of deleted and nested documents.
    pub deleted_count: u32,
}

/// Counts over a field in all segments. Deleted documents count until they are merged away, as in
/// Lucene: scores move a little when a merge comes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldStats {
    /// Documents that have a term of the field.
    pub doc_count: u64,
    /// Sum of the terms' document counts.
    pub doc_freq_sum: u64,
    /// Sum of the terms' occurrences: by `doc_count`, the average length.
    pub term_freq_sum: u64,
}

impl View {
    /// A view of `segments`, oldest documents first.
    ///
    /// # Panics
    ///
    /// Where the live documents are another segment's.
    pub fn new(
        generation: u64,
        segments: impl IntoIterator<Item = (Segment, Option<Arc<Live>>)>,
    ) -> Result<Self> {
        let own = segments.into_iter().map(|(segment, live)| {
            let live = live.filter(|live| live.deleted_count() > 0);
            if let Some(live) = &live {
                assert_eq!(live.doc_count(), segment.doc_count(), "live documents of the segment");
            }
            let live = match segment.parents() {
                None => live,
                Some(parents) => Some(Arc::new(match live {
                    Some(live) => live.only(parents.bits()),
                    None => Live::all(segment.doc_count()).only(parents.bits()),
                })),
            };
            (segment, live)
        });
        Self::showing(generation, own)
    }

    /// The segments of this view with all of their documents, nested ones too: for who looks inside
    /// of a document that lives.
    pub fn inside(&self) -> Result<Self> {
        let all = self.segments.iter().map(|at| (at.segment.clone(), None));
        Self::showing(self.generation, all)
    }

    fn showing(
        generation: u64,
        segments: impl IntoIterator<Item = (Segment, Option<Arc<Live>>)>,
    ) -> Result<Self> {
        let mut view = Self { segments: Vec::new(), generation, doc_count: 0, deleted_count: 0 };
        for (segment, live) in segments {
            let base = view.doc_count + view.deleted_count;
            let found = u64::from(base) + u64::from(segment.doc_count());
            if found > u64::from(u32::MAX) {
                let limit = u64::from(u32::MAX);
                return Err(Error::Limit { what: "number of documents of a shard", limit, found });
            }
            let deleted = live.as_ref().map_or(0, |live| live.deleted_count());
            view.doc_count += segment.doc_count() - deleted;
            view.deleted_count += deleted;
            view.segments.push(ViewSegment { segment, live, base });
        }
        Ok(view)
    }

    /// A view of nothing.
    pub fn empty() -> Self {
        Self { segments: Vec::new(), generation: 0, doc_count: 0, deleted_count: 0 }
    }

    /// Number of documents, deleted ones included.
    pub fn max_doc(&self) -> u32 {
        self.doc_count + self.deleted_count
    }

    /// The segment, by its place in the list, and the document there, of a document of the view.
    pub fn locate(&self, doc: u32) -> Option<(usize, DocId)> {
        let after = self.segments.partition_point(|segment| segment.base <= doc);
        let at = after.checked_sub(1)?;
        let within = doc - self.segments[at].base;
        (within < self.segments[at].segment.doc_count()).then_some((at, DocId(within)))
    }

    /// The alive document with `id`, by the place of its segment in the list.
    pub fn find(&self, id: &[u8]) -> Result<Option<(usize, DocId)>> {
        // The newest first: an id that was written again is dead in older segments. Within a
        // segment the highest document with an id is the newest, and `find` gives that.
        for (at, segment) in self.segments.iter().enumerate().rev() {
            if let Some(doc) = segment.segment.ids().find(id)?
                && segment.is_alive(doc)
            {
                return Ok(Some((at, doc)));
            }
        }
        Ok(None)
    }

    /// Counts over the terms of a field.
    pub fn field_stats(&self, field: FieldNo) -> FieldStats {
        let mut stats = FieldStats::default();
        for terms in self.segments.iter().filter_map(|segment| segment.segment.terms(field)) {
            stats.doc_count += u64::from(terms.doc_count());
            stats.doc_freq_sum += terms.doc_freq_sum();
            stats.term_freq_sum += terms.term_freq_sum();
        }
        stats
    }

    /// The highest sequence number of any document, deleted ones included; `None` without one.
    pub fn seq_no_max(&self) -> Option<u64> {
        let columns = self.segments.iter().filter_map(|segment| segment.segment.numeric(SEQ_NO));
        columns.map(|column| column.max() as u64).max()
    }

    /// Length of all segment files.
    pub fn len_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.segment.len_bytes()).sum()
    }

    /// The first damage that any reader of a segment met. Ask after each step.
    pub fn fault(&self) -> Option<&Error> {
        self.segments.iter().find_map(|segment| segment.segment.fault())
    }
}

impl ViewSegment {
    /// Whether a document is alive.
    #[inline]
    pub fn is_alive(&self, doc: DocId) -> bool {
        match &self.live {
            Some(live) => live.is_alive(doc),
            None => doc.get() < self.segment.doc_count(),
        }
    }

    /// Number of alive documents.
    pub fn live_count(&self) -> u32 {
        self.live.as_ref().map_or(self.segment.doc_count(), |live| live.live_count())
    }
}
