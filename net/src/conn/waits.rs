//! The connections of a core that wait for their clients, and which of them end when others need their places.
//!
//! A client that connects and says nothing, or half a head, or half a body, or asks and does not take the
//! answer, costs a place for as long as it likes, and there are as many places as memory and descriptors
//! allow. So where all are taken, one more takes the place of one that waits.
//!
//! Always true
//! 1. Of one standing, who waits for longest ends first. Bytes that come or go do not make it shorter, only an
//!    answer does, and not to a stranger: many who ask and ask would never have waited.
//! 2. Strangers that take no answer end before all others. Other strangers end next, unless they are few
//!    ([`STRANGERS_PART`]): whoever comes is one for a moment, and whoever is served often keeps the connection.
//! 3. Who has just come is spared for a moment ([`GRACE`]), but not where somebody who is known would end
//!    instead; and nobody who is known ends while strangers are many, be it that none of them waits just now.
//! 4. What runs does not wait; and whose first request runs is no stranger once it has shown who it is.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use base::hash::Map;

/// Who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// A stranger that asked and does not take its answer.
    Deaf,
    /// It has had no answer yet, or none but those that anybody gets.
    Stranger,
    /// It has had an answer, after it had shown who it is.
    Served,
    /// It sends a body or takes an answer, and it is known who it is.
    Busy,
}

/// That a connection waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) standing: Standing,
    /// Since it came, or, of one that is known, had its last answer.
    pub(crate) since: Duration,
    /// Since when it has had the chance to do what is waited for; its grace counts from then.
    pub(crate) asked: Duration,
}

struct Waiting {
    waker: Waker,
    wait: Wait,
    /// No bytes have come or gone since.
    is_waiting: bool,
    is_dismissed: bool,
}

/// Strangers keep one in so many places while others wait, too.
const STRANGERS_PART: usize = 4;

/// A stranger has so long to begin.
const GRACE: Duration = Duration::from_millis(5);

/// The connections that wait, by their numbers.
#[derive(Default)]
pub(crate) struct Waits {
    all: RefCell<Map<u64, Waiting>>,
    /// Whose first request runs, and whether somebody asks it who has shown who it is.
    running: RefCell<Map<u64, Rc<Cell<bool>>>>,
    leaving: Cell<usize>,
}

impl Waits {
    /// A connection waits, to be woken when it is to end: is it to end now?
    pub(crate) fn poll(&self, number: u64, wait: Wait, context: &mut Context<'_>) -> bool {
        let mut all = self.all.borrow_mut();
        match all.get_mut(&number) {
            Some(known) => {
                (known.wait, known.is_waiting) = (wait, true);
                known.waker.clone_from(context.waker());
                known.is_dismissed
            }
            None => {
                let waker = context.waker().clone();
                let known = Waiting { waker, wait, is_waiting: true, is_dismissed: false };
                all.insert(number, known);
                false
            }
        }
    }

    /// Bytes have come for it, or were taken.
    pub(crate) fn has_come(&self, number: u64) {
        if let Some(known) = self.all.borrow_mut().get_mut(&number) {
            known.is_waiting = false;
            if std::mem::take(&mut known.is_dismissed) {
                self.leaving.set(self.leaving.get() - 1);
            }
        }
    }

    /// A request of a connection runs that had no answer yet; `shown` is set once its caller is known.
    pub(crate) fn runs(&self, number: u64, shown: &Rc<Cell<bool>>) {
        self.running.borrow_mut().insert(number, Rc::clone(shown));
    }

    /// It has run.
    pub(crate) fn has_run(&self, number: u64) {
        self.running.borrow_mut().remove(&number);
    }

    /// Those whose first request runs for somebody known, and that are not counted as known otherwise.
    fn shown_count(&self, all: &Map<u64, Waiting>) -> usize {
        let is_strange = |number: &u64| {
            let standing = all.get(number).map(|known| known.wait.standing);
            !matches!(standing, Some(Standing::Served | Standing::Busy))
        };
        let running = self.running.borrow();
        running.iter().filter(|(number, shown)| shown.get() && is_strange(number)).count()
    }

    /// It has ended.
    pub(crate) fn remove(&self, number: u64) {
        self.has_run(number);
        if self.all.borrow_mut().remove(&number).is_some_and(|known| known.is_dismissed) {
            self.leaving.set(self.leaving.get() - 1);
        }
    }

    /// Wakes all, which ask again.
    pub(crate) fn wake_all(&self) {
        let wakers: Vec<Waker> =
            self.all.borrow().values().map(|waiting| waiting.waker.clone()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Is it to end because another needs its place?
    pub(crate) fn is_dismissed(&self, number: u64) -> bool {
        self.all.borrow().get(&number).is_some_and(|known| known.is_dismissed)
    }

    /// Those that were dismissed and have not ended yet.
    pub(crate) fn leaving_count(&self) -> usize {
        self.leaving.get()
    }

    /// Ends so many of those that wait, of one standing, where `open` are open; false where none of it
    /// waits, or, where it is urgent, none that may end at all (rule 3).
    pub(crate) fn dismiss(&self, open: usize, at_once: usize, when: (Duration, bool)) -> bool {
        let (now, is_urgent) = when;
        let mut all = self.all.borrow_mut();
        // Who has never waited is a stranger, too. Each counts, whether it waits just now or not: of many who
        // leave at once nobody waits for a moment.
        let staying = || all.values().filter(|known| !known.is_dismissed);
        let count = |standing| staying().filter(|known| known.wait.standing == standing).count();
        let (served, busy) = (count(Standing::Served), count(Standing::Busy));
        let shown = self.shown_count(&all);
        let strangers = open.saturating_sub(self.leaving.get() + served + busy + shown);
        let are_many = strangers > open / STRANGERS_PART;
        let first = match (strangers, served) {
            (1.., 0) => Standing::Stranger,
            _ if are_many => Standing::Stranger,
            (_, 1..) => Standing::Served,
            _ => Standing::Busy,
        };
        let mut waiting = waiting_of(&all, Standing::Deaf, (now, GRACE));
        if waiting.is_empty() {
            waiting = waiting_of(&all, first, (now, GRACE));
        }
        if waiting.is_empty() && is_urgent {
            waiting = waiting_in_need(&all, now, are_many);
        }
        self.end(&mut all, waiting, at_once)
    }

    /// Ends so many strangers, those first that take no answer, and others only after so long a grace; false
    /// where none waits.
    pub(crate) fn dismiss_strangers(
        &self,
        at_once: usize,
        (now, grace): (Duration, Duration),
    ) -> bool {
        let mut all = self.all.borrow_mut();
        let mut waiting = waiting_of(&all, Standing::Deaf, (now, GRACE));
        if waiting.is_empty() {
            waiting = waiting_of(&all, Standing::Stranger, (now, grace));
        }
        self.end(&mut all, waiting, at_once)
    }

    /// Ends so many of these, the oldest first; false where there are none.
    fn end(
        &self,
        all: &mut Map<u64, Waiting>,
        mut waiting: Vec<(Duration, u64)>,
        at_once: usize,
    ) -> bool {
        if waiting.is_empty() {
            return false;
        }
        let ending = at_once.min(waiting.len());
        waiting.select_nth_unstable(ending - 1);
        for (_, number) in &waiting[..ending] {
            let known = all.get_mut(number).expect("it was there");
            known.is_dismissed = true;
            known.waker.wake_by_ref();
        }
        self.leaving.set(self.leaving.get() + ending);
        true
    }
}

/// Those of one standing that end where it is urgent, and of whose turn it was none waits.
fn waiting_in_need(all: &Map<u64, Waiting>, now: Duration, are_many: bool) -> Vec<(Duration, u64)> {
    let of = |standing, grace| waiting_of(all, standing, (now, grace));
    let strangers = of(Standing::Stranger, GRACE);
    if !strangers.is_empty() {
        return strangers;
    }
    let mut known = of(Standing::Served, GRACE);
    if known.is_empty() {
        known = of(Standing::Busy, GRACE);
    }
    // Of newcomers alone none takes the place of another: nobody would have the time to begin.
    if known.is_empty() {
        return known;
    }
    // Of a crowd that comes again and again, or that all were told at once to end, each is within its grace.
    let mut newest = of(Standing::Stranger, Duration::ZERO);
    newest.extend(of(Standing::Deaf, Duration::ZERO));
    match newest.is_empty() {
        true if are_many => Vec::new(),
        true => known,
        false => newest,
    }
}

/// Those of one standing that wait and are not dismissed, with their times; a stranger only after its grace.
fn waiting_of(
    all: &Map<u64, Waiting>,
    standing: Standing,
    (now, grace): (Duration, Duration),
) -> Vec<(Duration, u64)> {
    let is_strange = matches!(standing, Standing::Deaf | Standing::Stranger);
    let is_one = |known: &Waiting| {
        known.is_waiting
            && !known.is_dismissed
            && known.wait.standing == standing
            && (!is_strange || now >= known.wait.asked + grace)
    };
    let one = all.iter().filter(|(_, known)| is_one(known));
    one.map(|(number, known)| (known.wait.since, *number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not urgently, and long after all came.
    const LATER: (Duration, bool) = (Duration::from_secs(100), false);

    fn waiting(all: &[(u64, Standing, u64)]) -> Waits {
        let waits = Waits::default();
        for (number, standing, since) in all {
            let since = Duration::from_secs(*since);
            let wait = Wait { standing: *standing, since, asked: since };
            assert!(!waits.poll(*number, wait, &mut Context::from_waker(Waker::noop())));
        }
        waits
    }

    /// Who ends, one after the other, where so many more are strangers that do not wait.
    fn ending(waits: &Waits, others: usize) -> Vec<u64> {
        let mut all = Vec::new();
        let open = |waits: &Waits| waits.all.borrow().len() + others;
        while waits.dismiss(open(waits), 1, LATER) {
            let mut known: Vec<u64> = waits.all.borrow().keys().copied().collect();
            known.retain(|number| waits.is_dismissed(*number));
            assert_eq!((waits.leaving_count(), known.len()), (1, 1));
            known.iter().for_each(|number| waits.remove(*number));
            all.extend(known);
        }
        assert_eq!(waits.leaving_count(), 0);
        all
    }

    #[test]
    fn strangers_end_before_others_unless_they_are_few() {
        use Standing::{Busy, Deaf, Served, Stranger};
        let all =
            [(1, Served, 5), (2, Stranger, 7), (3, Served, 3), (4, Stranger, 6), (5, Busy, 1)];
        // Two of five are many, one of four is not.
        assert_eq!(ending(&waiting(&all), 0), [4, 3, 2, 1, 5]);
        // Others leave, and who was served is not ended for them, however long that lasts.
        let waits = waiting(&all);
        assert_eq!(ending(&waits, 40), [4, 2]);
        assert!(!waits.dismiss(43, 1, (LATER.0, true)));
        assert!(waits.dismiss(3, 1, (LATER.0, true)) && waits.is_dismissed(3));
        // Who takes no answer ends first, be it the only one, and came it last.
        let mixed =
            [(1, Served, 0), (2, Stranger, 2), (3, Served, 1), (4, Deaf, 8), (5, Served, 1)];
        assert_eq!(ending(&waiting(&mixed), 0)[..2], [4, 1]);
        // Who has just come is spared.
        let soon = Duration::from_secs(7) + GRACE / 2;
        assert!(!waiting(&all[1..2]).dismiss(1, 1, (soon, true)));
        assert_eq!(ending(&waiting(&[(5, Busy, 1)]), 0), [5]);
        assert!(!waiting(&[]).dismiss(8, 1, (LATER.0, true)));
    }

    /// Two thousand strangers were told at one moment that they are too slow, which was a new grace for each of
    /// them: for the next that came somebody who had been let in was ended.
    #[test]
    fn nobody_known_ends_while_strangers_wait_for_however_short() {
        use Standing::{Busy, Deaf, Served, Stranger};
        let now = Duration::from_secs(50);
        for known in [Served, Busy] {
            let waits = waiting(&[(1, known, 0)]);
            for (number, standing, since) in [(2, Deaf, 9), (3, Stranger, 8), (4, Stranger, 10)] {
                let wait = Wait { standing, since: Duration::from_secs(since), asked: now };
                waits.poll(number, wait, &mut Context::from_waker(Waker::noop()));
            }
            // Who waits for longest, whatever it is that it waits for.
            for next in [3, 2] {
                assert!(!waits.dismiss(4, 1, (now, false)), "there is still time");
                assert!(waits.dismiss(4, 1, (now, true)) && waits.is_dismissed(next));
            }
            (2..5).for_each(|number| waits.remove(number));
            assert!(waits.dismiss(1, 1, (now, true)) && waits.is_dismissed(1), "none is left");
        }
        // Nobody has more rights than they: each may begin.
        let newcomers = waiting(&[]);
        let wait = Wait { standing: Stranger, since: now, asked: now };
        newcomers.poll(1, wait, &mut Context::from_waker(Waker::noop()));
        assert!(!newcomers.dismiss(1, 1, (now, true)));
    }

    #[test]
    fn for_memory_strangers_alone_end_and_have_their_grace() {
        use Standing::{Busy, Deaf, Served, Stranger};
        let all = [(1, Served, 1), (2, Stranger, 9), (3, Deaf, 10), (4, Busy, 1), (5, Deaf, 11)];
        let waits = waiting(&all);
        let when = |now| (Duration::from_secs(now), Duration::from_secs(4));
        let ended = |waits: &Waits| -> Vec<u64> {
            all.iter().map(|(number, ..)| *number).filter(|it| waits.is_dismissed(*it)).collect()
        };
        assert!(waits.dismiss_strangers(1, when(12)));
        assert_eq!(ended(&waits), [3]);
        assert!(waits.dismiss_strangers(8, when(12)));
        assert_eq!(ended(&waits), [3, 5]);
        assert!(!waits.dismiss_strangers(8, when(12)), "it may still say who it is");
        assert!(waits.dismiss_strangers(8, when(13)));
        assert_eq!(ended(&waits), [2, 3, 5]);
        assert!(!waits.dismiss_strangers(8, when(99)), "nobody who was served");
        // Who came long ago and is given an answer only now has its moment to take it.
        let fresh = waiting(&[]);
        let (since, asked) = (Duration::from_secs(1), Duration::from_secs(12));
        let wait = Wait { standing: Deaf, since, asked };
        assert!(!fresh.poll(7, wait, &mut Context::from_waker(Waker::noop())));
        assert!(!fresh.dismiss_strangers(1, when(12)));
        assert!(!fresh.dismiss(1, 1, (Duration::from_secs(12), true)));
        assert!(fresh.dismiss_strangers(1, when(13)));
    }

    #[test]
    fn who_waits_for_longest_ends_and_whose_bytes_come_goes_on() {
        let all: Vec<_> = (0..10).map(|at| (at, Standing::Served, 9 - at)).collect();
        let waits = waiting(&all);
        assert!(waits.dismiss(10, 5, LATER));
        assert_eq!(waits.leaving_count(), 5);
        assert!((0..10).all(|number| waits.is_dismissed(number) == (number > 4)));
        waits.has_come(9);
        assert!(!waits.is_dismissed(9) && waits.leaving_count() == 4);
    }
}
