//! What was attempted on each document, and what was told: all that the oracle knows.
//!
//! Always true
//! 1. Each attempt that puts or changes a document has a tag of its own, which the document carries:
//!    whoever reads a document knows which attempt made it.
//! 2. Beginnings and ends have one order, by ticks. What had not ended when its life ended is over
//!    then: it was carried out before, or never will be.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

/// A document as its attempts made it: all its fields follow from these two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Doc {
    /// The attempt that put or changed it last.
    pub tag: u64,
    /// The attempt that put it as a whole.
    pub base: u64,
}

/// Place in the history of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stamp {
    /// Reign.
    pub term: u64,
    /// Sequence number.
    pub seq_no: u64,
}

/// A document as somebody read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What it holds.
    pub doc: Doc,
    /// Its version.
    pub version: u64,
    /// Its last operation.
    pub stamp: Stamp,
}

/// A condition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// None.
    None,
    /// It must still be at this operation.
    At(Stamp),
    /// The caller counts versions.
    External(u64),
}

/// What is attempted on one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Put it.
    Put {
        /// Of the attempt.
        tag: u64,
        /// Only where it is not there.
        create: bool,
        /// Only so.
        condition: Condition,
    },
    /// Change a part of it.
    Update {
        /// Of the attempt.
        tag: u64,
        /// Put it where it is not there.
        upsert: bool,
    },
    /// Take it away.
    Delete {
        /// Only so.
        condition: Condition,
    },
    /// Take it away where it carries this tag.
    DeleteTagged(u64),
    /// Write it again as it is where it carries this tag.
    TouchTagged(u64),
    /// Read it.
    Look,
}

/// What was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing, or that nobody knows.
    Unknown,
    /// It was done.
    Written {
        /// There was a document before.
        was_there: bool,
        /// The version after it.
        version: u64,
        /// Its place.
        stamp: Stamp,
    },
    /// It was done; its place was not told.
    Done,
    /// A condition did not hold.
    Conflict,
    /// There is no document.
    Missing,
    /// It was not done, and never will be.
    Refused,
    /// This was read.
    Saw(Option<Seen>),
}

/// One attempt.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// What.
    pub what: What,
    /// What was told.
    pub answer: Answer,
    /// When it began.
    pub begin: u64,
    /// When it was over.
    pub end: u64,
    /// When it began, by the machine's clock.
    pub begin_time: Duration,
    /// When it was over, likewise.
    pub end_time: Duration,
    /// In which life of the process.
    pub life: u32,
}

/// Names an attempt.
#[derive(Clone, Debug)]
pub struct Attempt {
    key: (String, String),
    at: usize,
}

/// Attempts on one document, in the order in which they began.
pub type Events = Vec<Event>;

/// Attempts on all documents.
#[derive(Default)]
pub struct History {
    docs: RefCell<BTreeMap<(String, String), Events>>,
    tick: Cell<u64>,
    tag: Cell<u64>,
    life: Cell<u32>,
    acknowledged: Cell<u64>,
    /// Documents that searches without a refresh have shown.
    glimpses: RefCell<Vec<((String, String), Seen)>>,
    /// Whether the process ended without a clean stop, by lives.
    unclean: RefCell<Vec<bool>>,
}

impl History {
    /// A tag that nobody else has.
    pub fn tag(&self) -> u64 {
        self.tag.set(self.tag.get() + 1);
        self.tag.get()
    }

    /// The last tag that was given.
    pub fn last_tag(&self) -> u64 {
        self.tag.get()
    }

    /// The newest moment.
    pub fn tick(&self) -> u64 {
        self.tick.set(self.tick.get() + 1);
        self.tick.get()
    }

    /// Notes that something begins.
    pub fn begin(&self, index: &str, id: &str, what: What, now: Duration) -> Attempt {
        let begin = self.tick();
        self.add(index, id, what, Answer::Unknown, begin, (now, Duration::MAX))
    }

    /// Notes what was read between `begin` and now.
    pub fn saw(&self, index: &str, id: &str, seen: Option<Seen>, begin: u64, now: Duration) {
        let attempt =
            self.add(index, id, What::Look, Answer::Unknown, begin, (Duration::ZERO, now));
        self.end(&attempt, Answer::Saw(seen), now);
    }

    /// Notes what a search without a refresh has shown: it was there at some moment.
    pub fn glimpse(&self, index: &str, id: &str, seen: Seen) {
        self.glimpses.borrow_mut().push(((index.to_owned(), id.to_owned()), seen));
    }

    /// What such a search has shown that never was; `None`: nothing.
    pub fn phantom(&self) -> Option<String> {
        let docs = self.docs.borrow();
        let glimpses = self.glimpses.borrow();
        let phantom = glimpses.iter().find(|(key, seen)| {
            let events = docs.get(key).into_iter().flatten();
            !events.clone().any(|event| {
                let tag = match event.what {
                    What::Put { tag, .. } | What::Update { tag, .. } => tag,
                    _ => return false,
                };
                let was_done = match event.answer {
                    Answer::Written { stamp, .. } => stamp <= seen.stamp,
                    answer => answer == Answer::Unknown,
                };
                tag == seen.doc.tag && was_done
            })
        });
        phantom.map(|(key, seen)| format!("{}/{}: {seen:?}", key.0, key.1))
    }

    fn add(
        &self,
        index: &str,
        id: &str,
        what: What,
        answer: Answer,
        begin: u64,
        (begin_time, end_time): (Duration, Duration),
    ) -> Attempt {
        let key = (index.to_owned(), id.to_owned());
        let mut docs = self.docs.borrow_mut();
        let events = docs.entry(key.clone()).or_default();
        let life = self.life.get();
        events.push(Event { what, answer, begin, end: u64::MAX, begin_time, end_time, life });
        Attempt { key, at: events.len() - 1 }
    }

    /// Notes what was told.
    pub fn end(&self, attempt: &Attempt, answer: Answer, now: Duration) {
        let end = self.tick();
        if matches!(answer, Answer::Written { .. } | Answer::Done) {
            self.acknowledged.set(self.acknowledged.get() + 1);
        }
        let mut docs = self.docs.borrow_mut();
        let event = &mut docs.get_mut(&attempt.key).expect("it began")[attempt.at];
        // Nobody was told: whether it is done now, later or never, it will be before the life ends.
        if answer != Answer::Unknown {
            (event.answer, event.end, event.end_time) = (answer, end, now);
        }
    }

    /// The process is over: so is whatever was under way.
    pub fn end_life(&self, now: Duration, is_clean: bool) {
        let end = self.tick();
        for event in self.docs.borrow_mut().values_mut().flatten() {
            if event.end == u64::MAX {
                (event.end, event.end_time) = (end, now);
            }
        }
        self.unclean.borrow_mut().push(!is_clean);
        self.life.set(self.life.get() + 1);
    }

    /// Whether the process ended without a clean stop in one of the lives `from..to`.
    pub fn crashed_between(&self, from: u32, to: u32) -> bool {
        self.unclean.borrow()[from as usize..to as usize].contains(&true)
    }

    /// Writes that were acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.get()
    }

    /// Looks at all of it.
    pub fn each(&self, mut look: impl FnMut(&str, &str, &Events)) {
        for ((index, id), events) in self.docs.borrow().iter() {
            look(index, id, events);
        }
    }
}
