//! Where the documents of merged segments went: old segment and document to new document.
//!
//! Always true
//! 1. Inputs follow one another in the new segment in the order they were given, or stand between
//!    one another where the segment is sorted; each keeps its own document order, without the
//!    documents that were dead when the merge began.
//! 2. New documents are numbered without a gap from 0.
//!
//! A bit and a half for each old document (a bitmap with counts), nothing for an input without
//! deletes; in a sorted segment eight bytes more. Not here: deletes that arrive during the merge; `shard` sends them through the map.

use std::ops::Range;
use std::sync::Arc;

use base::DocId;

use crate::bytes::bitmap::Ranked;
use crate::error::{Error, Result};
use crate::live::Live;

/// The documents of a merge.
#[derive(Clone, Debug)]
pub struct DocMap {
    inputs: Vec<InputMap>,
    doc_count: u32,
    /// The input of each new document, where they stand between one another.
    sequence: Option<Vec<u32>>,
}

/// The documents of one input of a merge.
#[derive(Clone, Debug)]
pub struct InputMap {
    base: u32,
    doc_count: u32,
    live_count: u32,
    /// Alive documents, where not all are.
    alive: Option<Ranked>,
    /// The new document of each kept one, rising, where those of other inputs stand between them.
    seats: Option<Vec<u32>>,
}

impl DocMap {
    /// Lays the inputs, each with its number of documents and its live ones, behind one another.
    pub fn new(inputs: impl IntoIterator<Item = (u32, Option<Arc<Live>>)>) -> Result<Self> {
        let mut map = Self { inputs: Vec::new(), doc_count: 0, sequence: None };
        for (doc_count, live) in inputs {
            let live = live.filter(|live| live.deleted_count() > 0);
            let live_count = live.as_ref().map_or(doc_count, |live| live.live_count());
            if let Some(live) = &live {
                assert_eq!(live.doc_count(), doc_count, "live documents of this very segment");
            }
            map.inputs.push(InputMap {
                base: map.doc_count,
                doc_count,
                live_count,
                alive: live.map(|live| Ranked::new(live.bits().clone())),
                seats: None,
            });
            let found = u64::from(map.doc_count) + u64::from(live_count);
            map.doc_count = u32::try_from(found).map_err(|_| Error::Limit {
                what: "number of documents of a segment",
                limit: u64::from(u32::MAX),
                found,
            })?;
        }
        Ok(map)
    }

    /// The same documents, sorted by what they compare as: `values` are, by input and key, a number
    /// for each document. `None` where those of an input do not rise: it is not sorted itself.
    pub(crate) fn sorted(mut self, values: &[Vec<Vec<i64>>]) -> Option<Self> {
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(self.doc_count as usize);
        for (number, input) in self.inputs.iter().enumerate() {
            order.extend(input.kept().map(|(old, _)| (number as u32, old.get())));
        }
        let at = |key: usize, (number, doc): (u32, u32)| values[number as usize][key][doc as usize];
        let key_count = values.first().map_or(0, Vec::len);
        // Each input is a run, and the sort finds runs; equal documents keep the order of inputs.
        order.sort_by(|one, other| {
            let keys = (0..key_count).map(|key| at(key, *one).cmp(&at(key, *other)));
            keys.reduce(std::cmp::Ordering::then).unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut last: Vec<Option<u32>> = vec![None; self.inputs.len()];
        for input in &mut self.inputs {
            input.seats = Some(Vec::with_capacity(input.live_count as usize));
        }
        let mut sequence = Vec::with_capacity(order.len());
        for (new, (number, old)) in (0u32..).zip(order) {
            let input = number as usize;
            if last[input] >= Some(old) {
                return None;
            }
            last[input] = Some(old);
            if let Some(seats) = &mut self.inputs[input].seats {
                seats.push(new);
            }
            sequence.push(number);
        }
        self.sequence = Some(sequence);
        Some(self)
    }

    /// The input of each new document, where they stand between one another; else they follow one
    /// another.
    pub fn sequence(&self) -> Option<&[u32]> {
        self.sequence.as_deref()
    }

    /// Number of documents of the new segment.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// The map of input `number`, in the order given.
    pub fn input(&self, number: usize) -> &InputMap {
        &self.inputs[number]
    }

    /// All inputs, in order.
    pub fn inputs(&self) -> &[InputMap] {
        &self.inputs
    }

    /// The alive documents of the new segment, when those of the inputs are `now`: what was deleted
    /// while the merge ran is deleted in its result. `None` where nothing was.
    ///
    /// # Panics
    ///
    /// Where `now` are not those of the inputs.
    pub fn carry(&self, now: &[Option<Arc<Live>>]) -> Option<Live> {
        assert_eq!(now.len(), self.inputs.len(), "the live documents of each input");
        let mut deleted = Vec::new();
        for (input, live) in self.inputs.iter().zip(now) {
            let Some(live) = live else { continue };
            assert_eq!(live.doc_count(), input.doc_count, "live documents of this very segment");
            // Those that were dead when the merge began have no new document.
            let dead = (0..live.doc_count()).map(DocId).filter(|&doc| !live.is_alive(doc));
            deleted.extend(dead.filter_map(|doc| input.new_doc(doc)));
        }
        (!deleted.is_empty()).then(|| Live::all(self.doc_count).without(deleted))
    }

    /// Where a document of input `number` went; `None` where it was dropped.
    #[inline]
    pub fn new_doc(&self, number: usize, doc: DocId) -> Option<DocId> {
        self.inputs[number].new_doc(doc)
    }
}

impl InputMap {
    /// Where a document went; `None` where it was dropped, or is none of this input.
    #[inline]
    pub fn new_doc(&self, doc: DocId) -> Option<DocId> {
        let rank = match &self.alive {
            None if doc.get() < self.doc_count => doc.get(),
            None => return None,
            Some(alive) => alive.rank(doc.get())?,
        };
        Some(DocId(match &self.seats {
            None => self.base + rank,
            Some(seats) => seats[rank as usize],
        }))
    }

    /// Number of documents of the old segment.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Number of documents that are kept.
    pub fn live_count(&self) -> u32 {
        self.live_count
    }

    /// The new documents of this input; `None` where those of others stand between them.
    pub fn new_docs(&self) -> Option<Range<u32>> {
        self.seats.is_none().then(|| self.base..self.base + self.live_count)
    }

    /// Whether every document is kept.
    pub fn keeps_all(&self) -> bool {
        self.alive.is_none()
    }

    /// Whether every document of a range is kept.
    pub fn keeps(&self, docs: Range<u32>) -> bool {
        match &self.alive {
            None => docs.end <= self.doc_count,
            Some(alive) => docs.into_iter().all(|doc| alive.bits().has(doc)),
        }
    }

    /// The kept documents: old and new, rising.
    pub fn kept(&self) -> impl Iterator<Item = (DocId, DocId)> + '_ {
        let olds = (0..self.doc_count)
            .filter(|&doc| self.alive.as_ref().is_none_or(|alive| alive.bits().has(doc)));
        olds.zip(0..).map(|(old, rank): (u32, u32)| {
            let new = match &self.seats {
                None => self.base + rank,
                Some(seats) => seats[rank as usize],
            };
            (DocId(old), DocId(new))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_follow_one_another_without_their_dead() {
        let live = Arc::new(Live::all(4).without([DocId(0), DocId(2)]));
        let untouched = Arc::new(Live::all(2));
        let map = DocMap::new([(3, None), (4, Some(live)), (2, Some(untouched))]).unwrap();
        assert_eq!(map.doc_count(), 7);
        assert_eq!(map.new_doc(0, DocId(2)), Some(DocId(2)));
        assert_eq!(map.new_doc(0, DocId(3)), None, "no such document");
        assert_eq!(map.new_doc(1, DocId(0)), None, "dead");
        assert_eq!(map.new_doc(1, DocId(1)), Some(DocId(3)));
        assert_eq!(map.new_doc(1, DocId(3)), Some(DocId(4)));
        assert_eq!(map.new_doc(2, DocId(1)), Some(DocId(6)));
        assert!(map.input(2).keeps_all());
        assert!(map.input(1).keeps(3..4));
        assert!(!map.input(1).keeps(1..3));
        assert_eq!(map.input(1).new_docs(), Some(3..5));
        let kept: Vec<_> = map.input(1).kept().collect();
        assert_eq!(kept, [(DocId(1), DocId(3)), (DocId(3), DocId(4))]);
    }

    #[test]
    fn deletes_during_the_merge_are_carried_over() {
        let before = Arc::new(Live::all(4).without([DocId(0)]));
        let map = DocMap::new([(2, None), (4, Some(Arc::clone(&before)))]).unwrap();
        assert_eq!(map.carry(&[None, Some(Arc::clone(&before))]), None, "nothing new");
        let now = Arc::new(before.without([DocId(2)]));
        let live = map.carry(&[Some(Arc::new(Live::all(2).without([DocId(1)]))), Some(now)]);
        let expected = Live::all(5).without([DocId(1), DocId(3)]);
        assert_eq!(live, Some(expected));
    }

    #[test]
    fn sorted_inputs_stand_between_one_another() {
        let live = Arc::new(Live::all(3).without([DocId(1)]));
        let map = || DocMap::new([(3, None), (3, Some(Arc::clone(&live)))]).unwrap();
        let sorted = map().sorted(&[vec![vec![1, 4, 4]], vec![vec![0, 2, 4]]]).expect("both rise");
        let kept = |number: usize| sorted.input(number).kept().map(|(_, new)| new.get());
        assert_eq!(kept(0).collect::<Vec<_>>(), [1, 2, 3], "of equal ones the first input's first");
        assert_eq!(kept(1).collect::<Vec<_>>(), [0, 4]);
        assert_eq!(sorted.sequence(), Some(&[1, 0, 0, 0, 1][..]));
        assert_eq!(sorted.new_doc(1, DocId(2)), Some(DocId(4)));
        assert_eq!(sorted.new_doc(1, DocId(1)), None, "dead");
        assert_eq!(sorted.input(0).new_docs(), None);
        assert!(map().sorted(&[vec![vec![1, 0, 4]], vec![vec![0, 2, 4]]]).is_none());
    }

    #[test]
    fn more_documents_than_a_segment_holds_are_refused() {
        assert!(DocMap::new([(u32::MAX, None), (1, None)]).is_err());
    }
}
