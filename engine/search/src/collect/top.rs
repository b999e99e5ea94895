//! The best hits by score: a heap whose root is the worst hit that is kept.
//!
//! Always true
//! 1. Hits come in the order of their places (segment, document), so of two equal scores the one
//!    that came first stays: a later hit enters only with a strictly better score.
//! 2. [`Top::bar`] is the least score with which a later hit enters; it only rises. Zero while
//!    there is room.
//! 3. Scores are finite and not negative, so their bits have their order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::DocId;

/// A hit: better is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    score_bits: u32,
    /// Segment, then document: the earlier is the better.
    place: Reverse<u64>,
}

/// The `limit` best hits so far.
#[derive(Clone, Debug)]
pub struct Top {
    limit: usize,
    worst_first: BinaryHeap<Reverse<Entry>>,
    /// A later hit with less does not enter; 0 while there is room.
    bar: f32,
}

impl Top {
    /// Room for `limit` hits.
    pub fn new(limit: usize) -> Self {
        // A wish for many hits says nothing about how many there are.
        let room = limit.min(1024);
        let bar = if limit == 0 { f32::INFINITY } else { 0.0 };
        Self { limit, worst_first: BinaryHeap::with_capacity(room), bar }
    }

    /// Takes a hit, where it is good enough.
    #[inline]
    pub fn offer(&mut self, score: f32, segment: u32, doc: u32) {
        debug_assert!(score >= 0.0, "a score is not negative");
        if score >= self.bar {
            self.take(score, segment, doc);
        }
    }

    /// Takes a hit that is not below the bar. Few are: the look before stays small.
    #[inline(never)]
    fn take(&mut self, score: f32, segment: u32, doc: u32) {
        // -0.0 has other bits than 0.0 but is no other score.
        let score_bits = (score + 0.0).to_bits();
        let entry = Entry { score_bits, place: Reverse(u64::from(segment) << 32 | u64::from(doc)) };
        if self.worst_first.len() < self.limit {
            self.worst_first.push(Reverse(entry));
        } else if let Some(mut worst) = self.worst_first.peek_mut()
            && entry > worst.0
        {
            worst.0 = entry;
        }
        self.bar = self.worst().map_or(0.0, f32::next_up);
    }

    /// The least score with which a later hit enters.
    #[inline]
    pub fn bar(&self) -> f32 {
        self.bar
    }

    /// The score of the last hit kept, once there is no more room.
    #[inline]
    pub fn worst(&self) -> Option<f32> {
        if self.worst_first.len() < self.limit {
            return None;
        }
        match self.worst_first.peek() {
            Some(worst) => Some(f32::from_bits(worst.0.score_bits)),
            // Room for no hit at all: nothing enters.
            None => Some(f32::INFINITY),
        }
    }

    /// The hits, best first: score, segment, document.
    pub fn into_sorted(self) -> Vec<(f32, u32, DocId)> {
        self.worst_first
            .into_sorted_vec()
            .into_iter()
            .map(|Reverse(entry)| {
                let place = entry.place.0;
                let score = f32::from_bits(entry.score_bits);
                (score, (place >> 32) as u32, DocId(place as u32))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(top: Top) -> Vec<(f32, u32)> {
        top.into_sorted().into_iter().map(|(score, _, doc)| (score, doc.get())).collect()
    }

    #[test]
    fn of_equal_scores_the_first_stays() {
        let mut top = Top::new(2);
        for (doc, score) in [1.0, 2.0, 1.0, 2.0, 2.0].into_iter().enumerate() {
            top.offer(score, 0, doc as u32);
        }
        assert_eq!(top.bar(), 2.0f32.next_up());
        assert_eq!(scores(top), [(2.0, 1), (2.0, 3)]);
    }

    #[test]
    fn room_means_that_everything_enters() {
        let mut top = Top::new(3);
        top.offer(0.0, 0, 5);
        assert_eq!((top.bar(), top.worst()), (0.0, None));
        assert_eq!(scores(top), [(0.0, 5)]);
        let mut none = Top::new(0);
        none.offer(3.0, 0, 5);
        assert_eq!(none.worst(), Some(f32::INFINITY));
        assert_eq!(scores(none), []);
    }
}
