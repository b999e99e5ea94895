//! The contract of what collects documents of one segment.
//!
//! A collector is made for each segment; it keeps something for each bucket of the collector above
//! it (its *owners*, numbered from 0), and gives one [`Partial`] for each when the segment ends.
//!
//! Always true
//! 1. Documents of one batch rise; a document may stand several times, for several owners.
//! 2. `prepare` comes before `collect` and covers its documents.

use std::ops::Range;

use base::{DocId, FieldNo};
use segment::Segment;
use segment::columns::Numeric;

use super::partial::Partial;
pub use crate::account::Account;
use crate::iter::{Turn, window_of};

/// Documents and the buckets they fall into.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Documents, rising.
    pub docs: &'a [u32],
    /// The owner beside each; empty: all are of owner 0.
    pub owners: &'a [u32],
}

impl<'a> Batch<'a> {
    /// The owner of the document at a place.
    #[inline]
    pub fn owner(&self, at: usize) -> u32 {
        if self.owners.is_empty() { 0 } else { self.owners[at] }
    }

    /// The same in parts of at most so many documents.
    pub fn parts(self, most: usize) -> impl Iterator<Item = Batch<'a>> {
        (0..self.docs.len()).step_by(most.max(1)).map(move |from| {
            let part = from..(from + most).min(self.docs.len());
            let owners = if self.owners.is_empty() { &[] } else { &self.owners[part.clone()] };
            Batch { docs: &self.docs[part], owners }
        })
    }
}

/// For how many each document of a segment counts in buckets (`_doc_count`).
#[derive(Clone, Debug, Default)]
pub struct Multitudes(Option<Numeric>);

impl Multitudes {
    /// Those of a segment.
    pub fn of(segment: &Segment) -> Self {
        Self(segment.numeric(FieldNo::DOC_COUNT).cloned())
    }

    /// Every document counts for one.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.0.is_none()
    }

    /// For how many a document counts; one inside of another counts for one.
    #[inline]
    pub fn count(&self, doc: u32) -> u64 {
        let said = self.0.as_ref().and_then(|column| column.first(DocId(doc)));
        said.map_or(1, |count| count.max(1) as u64)
    }

    /// Names what [`Multitudes::count`] will read of documents; false where it must wait.
    pub fn prepare(&self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        let Some(column) = &self.0 else { return true };
        if turn.resident || docs.is_empty() {
            return true;
        }
        for window in window_of(docs.start)..=window_of(docs.end - 1) {
            // What cannot be named is damaged; reading finds and records it.
            let _ = column.need(window, turn.missing);
        }
        turn.is_ready()
    }
}

/// What stands around a batch.
pub struct Around<'a> {
    /// For how many each document counts.
    pub multitudes: &'a Multitudes,
    /// Scores of the documents at hand; NaN where none were computed.
    pub scores: &'a Scores,
    /// Memory.
    pub account: &'a mut Account,
}

/// Scores of the documents at hand.
#[derive(Debug, Default)]
pub struct Scores {
    docs: Vec<u32>,
    scores: Vec<f32>,
}

impl Scores {
    /// Forgets all, and takes those of documents that rise.
    pub fn set(&mut self, docs: &[u32], scores: &[f32]) {
        self.docs.clear();
        self.scores.clear();
        if docs.len() == scores.len() {
            self.docs.extend_from_slice(docs);
            self.scores.extend_from_slice(scores);
        }
    }

    /// The score of a document; NaN where none was computed.
    pub fn of(&self, doc: u32) -> f32 {
        match self.docs.binary_search(&doc) {
            Ok(at) => self.scores[at],
            Err(_) => f32::NAN,
        }
    }
}

/// Collects documents of one segment.
pub trait Collector: Send {
    /// Names what collecting `docs` will read; false where it must wait.
    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool;

    /// Takes documents.
    fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>);

    /// Whether it can tell what all documents of the segment would make of it without taking them:
    /// each of them alive, counting for one, and none inside of another.
    fn knows_all(&self) -> bool {
        false
    }

    /// In place of taking all documents: goes on until the turn is over or blocks are missing; true
    /// when it is as if all were taken. Asked only where [`Collector::knows_all`].
    ///
    /// # Errors
    /// Where the segment is damaged.
    fn take_all(&mut self, turn: &mut Turn<'_>, account: &mut Account) -> segment::Result<bool> {
        let _ = (turn, account);
        Ok(true)
    }

    /// Buckets and documents that are held until the segment ends, and buckets that so many owners are given then, about.
    fn size(&self, owners: usize) -> usize {
        let _ = owners;
        0
    }

    /// All documents of the segment are in: names what [`Collector::finish`] will read.
    fn leave(&mut self, turn: &mut Turn<'_>, account: &mut Account) -> segment::Result<bool> {
        let _ = (turn, account);
        Ok(true)
    }

    /// What was found, for each of so many owners.
    ///
    /// # Errors
    /// Where the segment is damaged.
    fn finish(&mut self, owners: usize, account: &mut Account) -> segment::Result<Vec<Partial>>;
}

/// A collector of any kind.
pub type AnyCollector = Box<dyn Collector>;

/// Collectors side by side.
#[derive(Default)]
pub struct Group(pub Vec<AnyCollector>);

impl Group {
    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All name what they will read.
    pub fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        let mut ready = true;
        for one in &mut self.0 {
            ready &= one.prepare(docs, turn);
        }
        ready
    }

    /// All take documents.
    pub fn collect(&mut self, batch: Batch<'_>, around: &mut Around<'_>) {
        for one in &mut self.0 {
            around.account.meet(batch.docs.len());
            if around.account.is_over() {
                return;
            }
            one.collect(batch, around);
        }
    }

    /// Buckets and documents that all hold, or make in the end.
    pub fn size(&self, owners: usize) -> usize {
        self.0.iter().map(|one| one.size(owners)).fold(0, usize::saturating_add)
    }

    /// There is one at least, and each can tell without documents.
    pub fn knows_all(&self) -> bool {
        !self.is_empty() && self.0.iter().all(|one| one.knows_all())
    }

    /// All are as if all documents were taken; false where the turn is over before.
    pub fn take_all(
        &mut self,
        turn: &mut Turn<'_>,
        account: &mut Account,
    ) -> segment::Result<bool> {
        for one in &mut self.0 {
            if !one.take_all(turn, account)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// All name what they need to finish.
    pub fn leave(&mut self, turn: &mut Turn<'_>, account: &mut Account) -> segment::Result<bool> {
        let mut ready = true;
        for one in &mut self.0 {
            ready &= one.leave(turn, account)?;
        }
        Ok(ready)
    }

    /// For each owner what each found.
    pub fn finish(
        &mut self,
        owners: usize,
        account: &mut Account,
    ) -> segment::Result<Vec<Vec<Partial>>> {
        let mut all: Vec<Vec<Partial>> =
            (0..owners).map(|_| Vec::with_capacity(self.0.len())).collect();
        for one in &mut self.0 {
            let found = one.finish(owners, account)?;
            debug_assert_eq!(found.len(), owners, "one for each owner");
            for (of_owner, partial) in all.iter_mut().zip(found) {
                of_owner.push(partial);
            }
        }
        Ok(all)
    }
}
