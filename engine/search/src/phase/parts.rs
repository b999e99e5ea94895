//! The view of a plan cut into parts, one slice's worth each.
//!
//! Always true: all parts together are the whole view, each document once; cuts lie between windows.

use std::ops::Range;

use crate::iter::WINDOW;
use crate::iter::build::{self, Context};
use crate::plan::weigh::Plan;

/// A range of documents of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which segment of the view.
    pub segment: u32,
    /// Which of its documents.
    pub docs: Range<u32>,
}

/// The parts of a view that one slice reads: ordered, apart from each other.
pub type Parts = Vec<Part>;

impl Plan {
    /// About how many documents will be looked at.
    pub fn cost(&self) -> u64 {
        let segments = self.view.segments.iter().enumerate();
        segments
            .map(|(number, segment)| {
                build::cost(&self.root, Context { segment: &segment.segment, number })
            })
            .sum()
    }

    /// All parts of the view, as one slice.
    pub fn whole(&self) -> Parts {
        let segments = self.view.segments.iter().zip(0u32..);
        segments
            .filter(|(segment, _)| segment.segment.doc_count() > 0)
            .map(|(segment, number)| Part { segment: number, docs: 0..segment.segment.doc_count() })
            .collect()
    }

    /// The view cut into at most `count` slices of about equal numbers of documents. Cuts lie
    /// between windows. One slice where documents are counted one by one until enough are found.
    pub fn cut(&self, count: usize) -> Vec<Parts> {
        let whole = self.whole();
        if count <= 1 || self.bound.terminate_after > 0 || whole.is_empty() {
            return vec![whole];
        }
        let total: u64 = whole.iter().map(|part| u64::from(part.docs.end)).sum();
        let share = total.div_ceil(count as u64).max(u64::from(WINDOW));
        let mut slices = vec![Parts::new()];
        let mut left = share;
        for part in whole {
            let mut start = part.docs.start;
            while start < part.docs.end {
                if left == 0 {
                    slices.push(Parts::new());
                    left = share;
                }
                let most =
                    (u64::from(start) + left).div_ceil(u64::from(WINDOW)) * u64::from(WINDOW);
                let end = most.min(u64::from(part.docs.end)) as u32;
                left = left.saturating_sub(u64::from(end - start));
                if let Some(slice) = slices.last_mut() {
                    slice.push(Part { segment: part.segment, docs: start..end });
                }
                start = end;
            }
        }
        slices
    }
}
