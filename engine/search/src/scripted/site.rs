//! A script at its place in a plan: with what its caller may see of each segment.

use std::sync::Arc;

use segment::Live;

use super::{Bound, Runner, Take};
use crate::iter::build::{Context, any_filter};
use crate::iter::function::Trouble;
use crate::plan::weigh::Node;

/// A script in a plan.
pub struct Site {
    /// The script.
    pub bound: Arc<Bound>,
    /// Documents that are alive, by segment; `None`: all.
    pub lives: Arc<[Option<Arc<Live>>]>,
    /// Only these documents may be seen.
    pub guard: Option<Arc<Node>>,
    /// Where faults are told.
    pub trouble: Trouble,
}

impl Site {
    /// The script over a segment.
    pub fn runner<T>(&self, context: Context<'_>, take: Take<T>) -> Runner<T> {
        let live = self.lives.get(context.number).cloned().flatten();
        let guard = self.guard.as_ref().map(|guard| any_filter(guard, context));
        Runner::new(Arc::clone(&self.bound), context.segment, live, guard, take)
    }
}
