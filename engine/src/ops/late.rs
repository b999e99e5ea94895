//! Searches whose time ends before their plans are made: what was not planned by then finds nothing, and the
//! answer says so (`timed_out`); or the search fails, where no part of an answer is taken.
//!
//! Always true
//! 1. A deadline that has passed stays so: where one plan was given up, no slice of the search takes a step.
//! 2. The answer has its shape: aggregations of a shard that was given up are empty, not absent.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use env::{Clock, Env};
use search::SearchRequest;
use search::ast::{Node, Query};

use crate::core::Core;
use crate::error::Error;

/// Nobody sets an alarm for what is further away.
const ALARM_MAX: Duration = Duration::from_secs(3_600);

impl<E: Env> Core<E> {
    /// Has the time of a search ended?
    pub(super) fn is_late(&self, deadline: Option<Duration>) -> bool {
        deadline.is_some_and(|deadline| self.env.clock().monotonic() >= deadline)
    }

    /// What the future gives; none where the time of the search ends before, and then the future is dropped.
    pub(super) async fn in_time<T>(
        &self,
        deadline: Option<Duration>,
        future: impl Future<Output = T>,
    ) -> Option<T> {
        let left = deadline.map(|it| it.saturating_sub(self.env.clock().monotonic()));
        let Some(left) = left.filter(|left| *left <= ALARM_MAX) else {
            return Some(future.await);
        };
        let (mut future, mut alarm) = (pin!(future), pin!(self.env.clock().sleep(left)));
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(given) => Poll::Ready(Some(given)),
            Poll::Pending => alarm.as_mut().poll(context).map(|()| None),
        })
        .await
    }
}

/// A shard had no time left, and who asked takes no part of an answer.
pub(super) fn too_late() -> Error {
    Error::new(504, "search_timeout_exception", "Time exceeded")
}

/// The request as an index meets it for which no time is left: nothing is looked for.
pub(super) fn without_query(request: &SearchRequest) -> SearchRequest {
    SearchRequest {
        query: Some(Query::new(Node::MatchNone)),
        post_filter: None,
        rescore: Vec::new(),
        highlight: None,
        ..request.clone()
    }
}
