//! One step of a slice: so much work, or so much time.

use std::sync::Arc;
use std::time::Duration;

use segment::Missing;

use super::{Progress, Slice};
use crate::iter::Turn;

/// A step of hits ends after the window or piece in which this is over.
const STEP_MAX: Duration = Duration::from_micros(250);

impl Slice {
    /// Goes on for about `work` documents.
    ///
    /// # Errors
    /// Where a segment is damaged: what the slice found is not to be believed.
    pub fn step(&mut self, work: u32) -> segment::Result<Progress> {
        self.step_by(work, None)
    }

    pub(super) fn step_by(
        &mut self,
        work: u32,
        clock: Option<&dyn Fn() -> Duration>,
    ) -> segment::Result<Progress> {
        if self.part < self.parts.len() {
            let progress = self.step_hits(work, clock)?;
            return Ok(match (progress, &self.aggs) {
                (Progress::Done, Some(_)) => Progress::More,
                (progress, _) => progress,
            });
        }
        let Some(run) = &mut self.aggs else { return Ok(Progress::Done) };
        let mut missing = Missing::new();
        let segment = run.segment().map(|at| &self.plan.view.segments[at as usize].segment);
        let resident = segment.is_none_or(|segment| segment.file().is_resident());
        let mut turn = Turn::new(&mut missing, work, resident).with_clock(clock);
        turn.on_core = self.on_core;
        run.step(&mut turn)?;
        self.is_left = turn.is_left;
        if let Some(fault) = segment.and_then(|segment| segment.fault()) {
            return Err(fault.clone());
        }
        Ok(match (missing.is_empty(), run.is_done()) {
            (false, _) => Progress::Missing(missing),
            (true, false) => Progress::More,
            (true, true) => Progress::Done,
        })
    }

    /// Goes on looking for hits.
    fn step_hits(
        &mut self,
        work: u32,
        clock: Option<&dyn Fn() -> Duration>,
    ) -> segment::Result<Progress> {
        let begun = clock.map(|clock| clock());
        let mut missing = Missing::new();
        let plan = Arc::clone(&self.plan);
        let resident =
            |segment: u32| plan.view.segments[segment as usize].segment.file().is_resident();
        let is_resident = self.parts.get(self.part).is_none_or(|part| resident(part.segment));
        let keys = u32::try_from(self.keys_of_hit()).unwrap_or(u32::MAX);
        let mut turn = Turn::new(&mut missing, (work / keys.max(1)).max(1), is_resident);
        turn.on_core = self.on_core;
        self.is_left = false;
        while !turn.is_over() {
            let Some(part) = self.parts.get(self.part) else { return Ok(Progress::Done) };
            turn.resident = resident(part.segment);
            let done = self.advance(&plan, &mut turn)?;
            self.is_left |= turn.is_left;
            if self.lacks_memory() {
                return Ok(Progress::Done);
            }
            let part = &self.parts[self.part];
            let segment = &plan.view.segments[part.segment as usize].segment;
            if let Some(fault) = segment.fault() {
                return Err(fault.clone());
            }
            if !turn.is_ready() {
                return Ok(Progress::Missing(missing));
            }
            if done {
                self.part += 1;
                self.run = None;
                self.entered = false;
            }
            // What is done with a hit costs from nanoseconds to microseconds.
            let time = begun.zip(clock).map(|(begun, clock)| clock().saturating_sub(begun));
            if time.is_some_and(|time| time > STEP_MAX) {
                break;
            }
        }
        Ok(if self.part < self.parts.len() { Progress::More } else { Progress::Done })
    }
}
