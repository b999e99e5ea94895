//! Does a plan find one document? Asked of that document alone, in steps.

use base::DocId;
use segment::{Missing, Segment};

use crate::iter::build::{self, Context};
use crate::iter::{AnyFilter, Turn};
use crate::plan::Plan;

/// The question.
pub struct Judge {
    filter: AnyFilter,
    segment: Segment,
    doc: u32,
}

impl Judge {
    /// Asked of a document of a segment, by its place in the plan's view; `None` where there is no such
    /// segment.
    #[must_use]
    pub fn new(plan: &Plan, number: usize, doc: DocId) -> Option<Self> {
        let segment = &plan.view.segments.get(number)?.segment;
        let filter = build::any_filter(&plan.root, Context { segment, number });
        Some(Self { filter, segment: segment.clone(), doc: doc.get() })
    }

    /// Goes on for about `work` documents; the answer, once it is known. With blocks missing it waits.
    pub fn step(&mut self, work: u32, missing: &mut Missing) -> Option<bool> {
        let mut turn = Turn::new(missing, work, self.segment.file().is_resident());
        let mut matches = [false];
        if !self.filter.prepare_probe(&[self.doc], &mut turn) {
            return None;
        }
        self.filter.probe(&[self.doc], &mut matches);
        Some(matches[0])
    }
}
