//! Several futures driven by one task.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use crate::Clock;

/// One poll goes on for so long, and then lets others have the core: eight searches that each took a fair step had it
/// for the sum of them.
const TURN: Duration = Duration::from_micros(300);

/// Runs all at the same time; answers in their order. Each wake looks at each that is not done, so
/// this is for a handful of short ones.
pub async fn join_all<F: Future + Unpin>(works: Vec<F>) -> Vec<F::Output> {
    drive(works, || Duration::ZERO).await
}

/// As [`join_all`], where each may have the core for a while: whoever had no time in one turn comes first in the next.
pub async fn join_in_turns<F: Future + Unpin>(clock: &impl Clock, works: Vec<F>) -> Vec<F::Output> {
    drive(works, || clock.monotonic()).await
}

async fn drive<F: Future + Unpin>(mut works: Vec<F>, now: impl Fn() -> Duration) -> Vec<F::Output> {
    let mut answers: Vec<Option<F::Output>> = works.iter().map(|_| None).collect();
    let mut first = 0;
    poll_fn(|context| {
        let (begun, count) = (now(), works.len());
        let mut is_pending = false;
        for at in (first..count).chain(0..first) {
            if answers[at].is_some() {
                continue;
            }
            match Pin::new(&mut works[at]).poll(context) {
                Poll::Ready(value) => answers[at] = Some(value),
                Poll::Pending => is_pending = true,
            }
            if now().saturating_sub(begun) > TURN {
                first = (at + 1) % count;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        if is_pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use std::task::{Context, Waker};

    use super::*;

    /// A clock that goes on by as much as somebody worked.
    #[derive(Clone, Default)]
    struct Worked(Rc<Cell<Duration>>);

    impl Clock for Worked {
        fn monotonic(&self) -> Duration {
            self.0.get()
        }

        fn unix_ms(&self) -> i64 {
            0
        }

        async fn sleep(&self, _: Duration) {}
    }

    /// All eight had a step in each poll, and the core for as long as all of them.
    #[test]
    fn one_poll_lasts_no_longer_than_a_turn_and_all_come_to_their_end() {
        let (clock, steps) = (Worked::default(), RefCell::new(Vec::new()));
        let one = |name: u32| {
            let (clock, steps, mut left) = (&clock, &steps, 3);
            Box::pin(poll_fn(move |context: &mut Context<'_>| {
                if left == 0 {
                    return Poll::Ready(name);
                }
                left -= 1;
                steps.borrow_mut().push(name);
                clock.0.set(clock.0.get() + TURN * 2 / 3);
                context.waker().wake_by_ref();
                Poll::Pending
            }))
        };
        let mut joined = Box::pin(join_in_turns(&clock, (0..4).map(one).collect()));
        let mut context = Context::from_waker(Waker::noop());
        let mut polls = 0;
        let answers = loop {
            let before = clock.monotonic();
            polls += 1;
            if let Poll::Ready(answers) = joined.as_mut().poll(&mut context) {
                break answers;
            }
            assert!(clock.monotonic() - before <= TURN * 4 / 3, "poll {polls}");
        };
        assert_eq!(answers, [0, 1, 2, 3]);
        // Nobody is passed over.
        assert_eq!(*steps.borrow(), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    }
}
