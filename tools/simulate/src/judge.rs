//! Was there an order? A linearizability checker for the attempts on one document.
//!
//! Each attempt that was answered must have happened at one moment between its beginning and its end;
//! one that was never answered happened at one moment before its life ended, or not at all; and each
//! answer must be what the plainest model of a document says at that moment (Herlihy and Wing 1990;
//! the search is Wing and Gong's, with Lowe's memory of what was tried).

use std::collections::HashSet;
use std::time::Duration;

use crate::history::{Answer, Condition, Doc, Event, Stamp, What};

/// Moments that are tried before the search gives up.
const STEPS_MAX: usize = 200_000;

/// How long the version of a deleted document is remembered at least (`index.gc_deletes`).
const REMEMBERED: Duration = Duration::from_secs(60);

/// What is known of the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Version {
    /// There never was one.
    Never,
    /// It is this.
    Known(u64),
    /// There may be one.
    Unsure,
}

/// How a document stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    doc: Option<Doc>,
    version: Version,
    /// Its last operation, where its place is known.
    stamp: Option<Stamp>,
    /// The highest place seen so far.
    floor: Option<Stamp>,
    /// When it was deleted at the earliest.
    deleted: Option<Duration>,
}

/// What the search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is an order.
    Fine,
    /// There is none: the search never got beyond these many attempts.
    Violated {
        /// Attempts that some order explains.
        explained: usize,
    },
    /// Too many orders to try.
    Undecided,
}

/// Judges the attempts on one document, in the order in which they began.
pub fn judge(events: &[Event]) -> Verdict {
    let mut events: Vec<Event> =
        events.iter().filter(|event| event.answer != Answer::Refused).copied().collect();
    // Searches note what they saw when they end.
    events.sort_by_key(|event| event.begin);
    Search { events, tried: HashSet::new(), steps: 0, explained: 0 }.run()
}

struct Search {
    events: Vec<Event>,
    tried: HashSet<(usize, u128, State)>,
    steps: usize,
    explained: usize,
}

/// What has happened so far: all attempts below `low`, and those of `mask` above it.
#[derive(Clone, Copy)]
struct Past {
    low: usize,
    mask: u128,
    /// The latest beginning of what has happened.
    latest: u64,
    state: State,
}

impl Search {
    fn run(mut self) -> Verdict {
        let state =
            State { doc: None, version: Version::Never, stamp: None, floor: None, deleted: None };
        let mut open = vec![Past { low: 0, mask: 0, latest: 0, state }];
        while let Some(past) = open.pop() {
            let past = self.advance(past);
            if past.low == self.events.len() {
                return Verdict::Fine;
            }
            self.explained = self.explained.max(past.low);
            if !self.tried.insert((past.low, past.mask, past.state)) {
                continue;
            }
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return Verdict::Undecided;
            }
            self.nexts(past, &mut open);
        }
        Verdict::Violated { explained: self.explained }
    }

    fn is_optional(&self, at: usize) -> bool {
        self.events[at].answer == Answer::Unknown
    }

    /// Moves over what has happened, and over what can happen no more and need not.
    fn advance(&self, mut past: Past) -> Past {
        while past.low < self.events.len() {
            let missed = self.is_optional(past.low) && self.events[past.low].end < past.latest;
            if past.mask & 1 == 0 && !missed {
                break;
            }
            past.mask >>= 1;
            past.low += 1;
        }
        if (past.low..self.events.len()).all(|at| {
            let inside = at - past.low;
            self.is_optional(at) || inside < 128 && past.mask >> inside & 1 == 1
        }) {
            past.low = self.events.len();
        }
        past
    }

    /// Each attempt that may happen next.
    fn nexts(&self, past: Past, open: &mut Vec<Past>) {
        let has_happened = |at: usize| past.mask >> (at - past.low) & 1 == 1;
        let window = past.low..self.events.len().min(past.low + 128);
        let earliest_end = window
            .clone()
            .filter(|at| !has_happened(*at) && !self.is_optional(*at))
            .map(|at| self.events[at].end)
            .min()
            .unwrap_or(u64::MAX);
        for at in window.rev() {
            let event = &self.events[at];
            if has_happened(at) || event.begin > earliest_end || event.end < past.latest {
                continue;
            }
            let mut push = |state: State| {
                open.push(Past {
                    mask: past.mask | 1 << (at - past.low),
                    latest: past.latest.max(event.begin),
                    state,
                    ..past
                });
            };
            step(&past.state, event, &mut push);
        }
    }
}

impl State {
    /// May the next version of a counted operation be this?
    fn may_count_to(&self, version: u64, event: &Event) -> bool {
        match self.version {
            Version::Never => version == 1,
            Version::Known(known) => {
                version == known + 1 || (self.may_be_forgotten(event) && version == 1)
            }
            Version::Unsure => true,
        }
    }

    /// The next version where nobody was told.
    fn counted(&self, event: &Event) -> Version {
        match self.version {
            Version::Never => Version::Known(1),
            Version::Known(_) if self.may_be_forgotten(event) => Version::Unsure,
            Version::Known(known) => Version::Known(known + 1),
            Version::Unsure => Version::Unsure,
        }
    }

    fn may_be_forgotten(&self, event: &Event) -> bool {
        self.deleted.is_some_and(|deleted| event.end_time >= deleted.saturating_add(REMEMBERED))
    }

    /// Is this place above all before?
    fn rises(&self, stamp: Stamp) -> bool {
        self.floor.is_none_or(|floor| floor < stamp)
    }

    /// May a condition hold?
    fn may_hold(&self, condition: Condition, event: &Event) -> bool {
        match condition {
            Condition::None => true,
            Condition::At(stamp) => self.doc.is_some() && self.stamp.is_none_or(|is| is == stamp),
            Condition::External(version) => match self.version {
                Version::Never | Version::Unsure => true,
                Version::Known(known) => known < version || self.may_be_forgotten(event),
            },
        }
    }

    /// May a condition fail?
    fn may_fail(&self, condition: Condition) -> bool {
        match condition {
            Condition::None => false,
            Condition::At(stamp) => self.doc.is_none() || self.stamp != Some(stamp),
            Condition::External(version) => match self.version {
                Version::Never => false,
                Version::Unsure => true,
                Version::Known(known) => known >= version,
            },
        }
    }
}

/// The states after an attempt that happens now, if it can happen now.
fn step(state: &State, event: &Event, push: &mut impl FnMut(State)) {
    let put = |doc: Doc| State { doc: Some(doc), deleted: None, ..*state };
    let gone = || State { doc: None, deleted: Some(event.begin_time), ..*state };
    let place = |state: State, version: Version, stamp: Option<Stamp>| State {
        version,
        stamp,
        floor: stamp.or(state.floor),
        ..state
    };
    match (event.what, event.answer) {
        (What::Look, Answer::Saw(None)) if state.doc.is_none() => push(*state),
        (What::Look, Answer::Saw(Some(seen))) if state.doc == Some(seen.doc) => {
            let is_version = match state.version {
                Version::Never => false,
                Version::Known(known) => known == seen.version,
                Version::Unsure => true,
            };
            let is_place = match state.stamp {
                Some(stamp) => stamp == seen.stamp,
                None => state.rises(seen.stamp),
            };
            if is_version && is_place {
                push(place(*state, Version::Known(seen.version), Some(seen.stamp)));
            }
        }
        (What::Put { create, condition, .. }, Answer::Conflict)
            if (create && state.doc.is_some()) || state.may_fail(condition) =>
        {
            push(*state);
        }
        (What::Delete { condition }, Answer::Conflict) if state.may_fail(condition) => {
            push(*state);
        }
        (What::Update { upsert: false, .. }, Answer::Missing) if state.doc.is_none() => {
            push(*state);
        }
        (what, Answer::Written { was_there, version, stamp }) => {
            if was_there != state.doc.is_some() || !state.rises(stamp) {
                return;
            }
            let (after, condition) = match what {
                What::Put { tag, create, condition } => {
                    if create && was_there {
                        return;
                    }
                    (put(Doc { tag, base: tag }), condition)
                }
                What::Update { tag, upsert } => {
                    if !upsert && !was_there {
                        return;
                    }
                    let base = state.doc.map_or(tag, |doc| doc.base);
                    (put(Doc { tag, base }), Condition::None)
                }
                What::Delete { condition } => (gone(), condition),
                What::DeleteTagged(_) | What::TouchTagged(_) | What::Look => return,
            };
            let is_version = match condition {
                Condition::External(given) => version == given,
                _ => state.may_count_to(version, event),
            };
            if is_version && state.may_hold(condition, event) {
                push(place(after, Version::Known(version), Some(stamp)));
            }
        }
        (what, Answer::Done | Answer::Unknown) => {
            let (after, condition) = match what {
                What::Put { tag, create, condition } => {
                    if create && state.doc.is_some() {
                        return;
                    }
                    (put(Doc { tag, base: tag }), condition)
                }
                What::Update { tag, upsert } => match state.doc {
                    None if !upsert => return,
                    doc => {
                        (put(Doc { tag, base: doc.map_or(tag, |doc| doc.base) }), Condition::None)
                    }
                },
                What::Delete { condition } => (gone(), condition),
                What::DeleteTagged(tag) if state.doc.is_some_and(|doc| doc.tag == tag) => {
                    (gone(), Condition::None)
                }
                What::TouchTagged(tag) => match state.doc {
                    Some(doc) if doc.tag == tag => (put(doc), Condition::None),
                    _ => return,
                },
                What::DeleteTagged(_) | What::Look => return,
            };
            if state.may_hold(condition, event) {
                let version = match condition {
                    Condition::External(given) => Version::Known(given),
                    _ => state.counted(event),
                };
                push(place(after, version, None));
            }
        }
        // It is there under another tag, or was changed meanwhile: nothing is known of it.
        (What::DeleteTagged(_) | What::TouchTagged(_), Answer::Conflict) => push(*state),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Seen;

    fn event(what: What, answer: Answer, begin: u64, end: u64) -> Event {
        let (begin_time, end_time) = (Duration::from_millis(begin), Duration::from_millis(end));
        Event { what, answer, begin, end, begin_time, end_time, life: 0 }
    }

    fn stamp(seq_no: u64) -> Stamp {
        Stamp { term: 1, seq_no }
    }

    fn put(tag: u64) -> What {
        What::Put { tag, create: false, condition: Condition::None }
    }

    fn written(was_there: bool, version: u64, seq_no: u64) -> Answer {
        Answer::Written { was_there, version, stamp: stamp(seq_no) }
    }

    fn saw(tag: u64, version: u64, seq_no: u64) -> Answer {
        let doc = Doc { tag, base: tag };
        Answer::Saw(Some(Seen { doc, version, stamp: stamp(seq_no) }))
    }

    fn is_fine(events: &[Event]) -> bool {
        judge(events) == Verdict::Fine
    }

    #[test]
    fn what_was_acknowledged_must_be_read() {
        let wrote = event(put(1), written(false, 1, 0), 1, 2);
        assert!(is_fine(&[wrote, event(What::Look, saw(1, 1, 0), 3, 4)]));
        assert!(!is_fine(&[wrote, event(What::Look, Answer::Saw(None), 3, 4)]));
        assert!(is_fine(&[wrote, event(What::Look, Answer::Saw(None), 0, 4)]), "at the same time");
    }

    #[test]
    fn what_was_never_answered_happens_at_once_or_never() {
        let lost = event(put(1), Answer::Unknown, 1, 10);
        let none = |begin| event(What::Look, Answer::Saw(None), begin, begin + 1);
        let there = |begin| event(What::Look, saw(1, 1, 0), begin, begin + 1);
        assert!(is_fine(&[lost, none(2), there(4), there(20)]));
        assert!(is_fine(&[lost, none(2), none(20)]));
        assert!(!is_fine(&[lost, there(2), none(4)]), "what was read is lost");
        assert!(!is_fine(&[lost, none(20), there(22)]), "its life is over");
    }

    #[test]
    fn an_older_document_does_not_come_back() {
        let events = [
            event(put(1), written(false, 1, 0), 1, 2),
            event(put(2), written(true, 2, 1), 3, 4),
            event(What::Look, saw(1, 1, 0), 5, 6),
        ];
        assert!(!is_fine(&events));
        assert!(is_fine(&events[..2]));
    }

    #[test]
    fn numbers_and_versions_count() {
        let first = event(put(1), written(false, 1, 5), 1, 2);
        assert!(!is_fine(&[first, event(put(2), written(true, 2, 5), 3, 4)]), "a number twice");
        assert!(!is_fine(&[first, event(put(2), written(true, 1, 6), 3, 4)]), "a version twice");
        assert!(!is_fine(&[first, event(put(2), written(false, 2, 6), 3, 4)]), "created twice");
        let gone = event(What::Delete { condition: Condition::None }, written(true, 2, 6), 3, 4);
        assert!(is_fine(&[first, gone, event(put(2), written(false, 3, 7), 5, 6)]));
        assert!(!is_fine(&[first, gone, event(put(2), written(false, 1, 7), 5, 6)]));
        assert!(is_fine(&[first, gone, event(put(2), written(false, 1, 7), 5, 70_000)]));
    }

    #[test]
    fn two_creates_cannot_both_win() {
        let create = |tag| What::Put { tag, create: true, condition: Condition::None };
        let events = [
            event(create(1), written(false, 1, 0), 1, 9),
            event(create(2), written(false, 2, 1), 2, 8),
        ];
        assert!(!is_fine(&events));
        assert!(is_fine(&[events[0], event(create(2), Answer::Conflict, 2, 8)]));
        assert!(!is_fine(&[event(create(2), Answer::Conflict, 2, 8)]));
    }

    #[test]
    fn conditions_hold_or_fail_as_they_must() {
        let first = event(put(1), written(false, 1, 0), 1, 2);
        let at =
            |seq_no| What::Put { tag: 2, create: false, condition: Condition::At(stamp(seq_no)) };
        assert!(is_fine(&[first, event(at(0), written(true, 2, 1), 3, 4)]));
        assert!(!is_fine(&[first, event(at(0), Answer::Conflict, 3, 4)]));
        assert!(is_fine(&[first, event(at(7), Answer::Conflict, 3, 4)]));
        assert!(!is_fine(&[first, event(at(7), written(true, 2, 1), 3, 4)]));
    }

    #[test]
    fn an_update_keeps_what_it_does_not_change() {
        let first = event(put(1), written(false, 1, 0), 1, 2);
        let update = event(What::Update { tag: 2, upsert: false }, written(true, 2, 1), 3, 4);
        let seen = |base| {
            let doc = Doc { tag: 2, base };
            let seen = Seen { doc, version: 2, stamp: stamp(1) };
            event(What::Look, Answer::Saw(Some(seen)), 5, 6)
        };
        assert!(is_fine(&[first, update, seen(1)]));
        assert!(!is_fine(&[first, update, seen(2)]));
    }
}
