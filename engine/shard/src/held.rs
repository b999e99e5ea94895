//! The segments of a shard as its home holds them: with deletes that no view shows yet, and with
//! what is known of their files.
//!
//! Always true
//! 1. `live` is what the published view shows. `dying` are documents deleted before the refresh
//!    under way began, `pending` those deleted since; the next publish takes up the former.
//! 2. The bytes of a segment never change; swapping memory for a mapped file changes no answer.
//!
//! Not here: choosing merges (`merge/policy`), writing files (`flush`).

use std::sync::Arc;

use base::{DocId, FieldNo, PrimaryTerm, SegmentId, SeqNo};
use env::budget::Taken;
use segment::{Live, Segment};

use crate::buffer::stored::Stamp;
use crate::manifest::SegmentFile;
use crate::merge::policy::Candidate;

/// One segment.
pub(crate) struct Held {
    /// The segment.
    pub(crate) segment: Segment,
    /// Its living documents, as published; `None`: all.
    pub(crate) live: Option<Arc<Live>>,
    /// Deleted before the refresh under way began.
    pub(crate) dying: Vec<DocId>,
    /// Deleted since.
    pub(crate) pending: Vec<DocId>,
    /// Its file; `None` while only memory (and the log) holds it.
    pub(crate) file: Option<SegmentFile>,
    /// The living documents that the file's `live` tells.
    pub(crate) live_on_disk: Option<Arc<Live>>,
    /// A merge reads it.
    pub(crate) is_merging: bool,
    /// A merge with it would be beyond what a segment holds: it is left as it is until the shard opens again.
    pub(crate) is_alone: bool,
}

impl Held {
    /// A segment that only memory holds, with the memory accounted for.
    pub(crate) fn in_memory(segment: Segment, pending: Vec<DocId>, taken: Vec<Taken>) -> Self {
        segment.charge(taken);
        Self {
            segment,
            live: None,
            dying: Vec::new(),
            pending,
            file: None,
            live_on_disk: None,
            is_merging: false,
            is_alone: false,
        }
    }

    /// A segment that a manifest names.
    pub(crate) fn on_disk(segment: Segment, live: Option<Arc<Live>>, file: SegmentFile) -> Self {
        Self {
            segment,
            live: live.clone(),
            dying: Vec::new(),
            pending: Vec::new(),
            file: Some(file),
            live_on_disk: live,
            is_merging: false,
            is_alone: false,
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> SegmentId {
        self.segment.id()
    }

    /// Documents that the published view shows as deleted.
    pub(crate) fn deleted_count(&self) -> u32 {
        self.live.as_ref().map_or(0, |live| live.deleted_count())
    }

    /// Whether its live file, if it needs one, says what `live` says.
    pub(crate) fn is_live_saved(&self) -> bool {
        match (&self.live, &self.live_on_disk) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// What the merge policy asks.
    pub(crate) fn candidate(&self) -> Candidate {
        Candidate {
            bytes: self.segment.len_bytes(),
            doc_count: self.segment.doc_count(),
            deleted_count: self.deleted_count(),
            merging: self.is_merging,
            inherits: self.segment.stored().is_some_and(|stored| stored.inherits()),
        }
    }

    /// The living document with this id, by what the published view shows.
    pub(crate) fn find(&self, id: &[u8]) -> segment::Result<Option<DocId>> {
        find(&self.segment, self.live.as_deref(), id)
    }

    /// Takes the dying documents out; false where there were none.
    pub(crate) fn bury(&mut self) -> bool {
        if self.dying.is_empty() {
            return false;
        }
        let dying = std::mem::take(&mut self.dying);
        let next = match &self.live {
            Some(live) => live.without(dying),
            None => Live::all(self.segment.doc_count()).without(dying),
        };
        self.live = Some(Arc::new(next));
        true
    }
}

/// The living document of a segment with this id.
pub(crate) fn find(
    segment: &Segment,
    live: Option<&Live>,
    id: &[u8],
) -> segment::Result<Option<DocId>> {
    let found = segment.ids().find(id)?;
    Ok(found.filter(|doc| live.is_none_or(|live| live.is_alive(*doc))))
}

/// What was stamped on a document of a segment.
pub(crate) fn stamp(segment: &Segment, doc: DocId) -> segment::Result<Stamp> {
    let number = |field: FieldNo| -> segment::Result<u64> {
        let value = segment.numeric(field).and_then(|column| column.first(doc));
        match (value, segment.fault()) {
            (Some(value), _) => Ok(value as u64),
            (None, Some(fault)) => Err(fault.clone()),
            (None, None) => Err(segment::Error::Footer { what: "a document without a stamp" }),
        }
    };
    Ok(Stamp {
        seq_no: SeqNo(number(FieldNo::SEQ_NO)?),
        term: PrimaryTerm(number(FieldNo::PRIMARY_TERM)?),
        version: number(FieldNo::VERSION)?,
    })
}

/// The words of a document in a column of words.
pub(crate) fn words(segment: &Segment, field: FieldNo, doc: DocId) -> segment::Result<Vec<String>> {
    let Some(column) = segment.ordinals(field) else { return Ok(Vec::new()) };
    let mut ranks = Vec::new();
    column.values(doc, &mut ranks);
    if let Some(fault) = segment.fault() {
        return Err(fault.clone());
    }
    let mut terms = column.terms();
    let mut words = Vec::with_capacity(ranks.len());
    for rank in ranks {
        words.push(String::from_utf8_lossy(terms.term(rank)?).into_owned());
    }
    Ok(words)
}
