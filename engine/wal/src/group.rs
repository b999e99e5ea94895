//! Those who wait for one batch.

use std::cell::RefCell;
use std::task::{Context, Poll, Waker};

use crate::{LogPosition, Result};

/// Shared by all whose records lie in one batch; told once.
#[derive(Default)]
pub(crate) struct Group {
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    outcome: Option<Result<LogPosition>>,
    wakers: Vec<Waker>,
}

impl Group {
    /// Tells all who wait. Later calls change nothing.
    pub(crate) fn tell(&self, outcome: Result<LogPosition>) {
        let wakers = {
            let mut inner = self.inner.borrow_mut();
            if inner.outcome.is_some() {
                return;
            }
            inner.outcome = Some(outcome);
            std::mem::take(&mut inner.wakers)
        };
        for waker in wakers {
            waker.wake();
        }
    }

    /// Asks for the outcome; `slot` remembers this waiter between two calls.
    pub(crate) fn poll(
        &self,
        slot: &mut Option<usize>,
        context: &mut Context<'_>,
    ) -> Poll<Result<LogPosition>> {
        let mut inner = self.inner.borrow_mut();
        if let Some(outcome) = &inner.outcome {
            return Poll::Ready(outcome.clone());
        }
        match slot {
            Some(at) => inner.wakers[*at].clone_from(context.waker()),
            None => {
                *slot = Some(inner.wakers.len());
                inner.wakers.push(context.waker().clone());
            }
        }
        Poll::Pending
    }

    /// Waits for the outcome.
    pub(crate) async fn wait(&self) -> Result<LogPosition> {
        let mut slot = None;
        std::future::poll_fn(|context| self.poll(&mut slot, context)).await
    }
}
