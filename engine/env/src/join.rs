//! Several futures driven by one task.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Runs all at the same time; answers in their order. Each wake looks at each that is not done, so
/// this is for a handful.
pub async fn join_all<F: Future + Unpin>(mut works: Vec<F>) -> Vec<F::Output> {
    let mut answers: Vec<Option<F::Output>> = works.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut is_pending = false;
        for (work, answer) in works.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match Pin::new(work).poll(context) {
                    Poll::Ready(value) => *answer = Some(value),
                    Poll::Pending => is_pending = true,
                }
            }
        }
        if is_pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}
