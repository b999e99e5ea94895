//! The plainest model of a shard: what each of several clients knows of its own documents.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use shard::{Check, Outcome};

use super::Op;

/// Clients of a shard.
pub const CLIENTS: usize = 4;
/// Ids of each client.
pub const IDS: u64 = 6;

/// How a document stands, as far as its client knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Doc {
    /// The document's tag; `None`: it was deleted or never there.
    pub tag: Option<String>,
    /// Version, number and term of the last operation on it; `None`: there was none.
    pub stamp: Option<(u64, u64, u64)>,
    /// When it was deleted, by the machine's clock.
    pub deleted_at: Option<Duration>,
    /// It is not there, and the shard may remember a version that nobody was told, or none.
    pub is_unsure: bool,
}

/// What a client knows.
#[derive(Default)]
pub struct Client {
    pub docs: BTreeMap<String, Doc>,
    /// What is under way: the operations, and how the documents stand if it is done.
    pub under_way: Option<Vec<Op>>,
}

/// What outlives the process: the clients and those who look on.
#[derive(Default)]
pub struct World {
    pub clients: [RefCell<Client>; CLIENTS],
    /// Tag of the operation that each (term, number) was given to; deletes have a made-up one.
    pub given: RefCell<BTreeMap<(u64, u64), String>>,
    /// Documents that a reader has seen: id, to number and tag.
    pub seen: RefCell<BTreeMap<String, (u64, String)>>,
    /// Tags that were sent, by id.
    pub sent: RefCell<BTreeSet<(String, String)>>,
    pub next_tag: Cell<u64>,
    pub acknowledged: Cell<u64>,
}

impl World {
    pub fn tag(&self) -> String {
        self.next_tag.set(self.next_tag.get() + 1);
        format!("t{}", self.next_tag.get())
    }

    /// Notes that an operation was given its place in history.
    pub fn give(&self, term: u64, seq_no: u64, what: &str) {
        let before = self.given.borrow_mut().insert((term, seq_no), what.to_owned());
        if let Some(before) = before {
            assert_eq!(before, what, "({term}, {seq_no}) was given twice");
        }
    }

    /// Notes that a reader has seen a document.
    pub fn see(&self, id: &str, seq_no: u64, source: &str) {
        let tag = tag_of(source);
        assert!(self.sent.borrow().contains(&(id.to_owned(), tag.clone())), "[{id}] {tag} unsent");
        let mut seen = self.seen.borrow_mut();
        let known = seen.entry(id.to_owned()).or_insert((seq_no, tag.clone()));
        if known.0 <= seq_no {
            *known = (seq_no, tag);
        }
    }
}

pub fn tag_of(source: &str) -> String {
    let value = json::parse(source.as_bytes()).expect("what was sent is JSON");
    value.get("tag").and_then(|tag| tag.as_str()).expect("each has a tag").to_owned()
}

/// What the model says of an operation: its version and outcome, or that it conflicts.
pub fn predict(doc: &Doc, op: &Op) -> Option<(u64, Outcome)> {
    let is_there = doc.tag.is_some();
    let version = doc.stamp.map(|stamp| stamp.0);
    if op.create && is_there {
        return None;
    }
    let next = match op.check {
        Check::Absent if is_there => return None,
        Check::None | Check::Absent => version.unwrap_or(0) + 1,
        Check::SeqNo { seq_no, term } => {
            let (version, at, reign) = doc.stamp.filter(|_| is_there)?;
            if (at, reign) != (seq_no.get(), term.get()) {
                return None;
            }
            version + 1
        }
        Check::External(given) if version.is_none_or(|version| version < given) => given,
        Check::ExternalGte(given) if version.is_none_or(|version| version <= given) => given,
        Check::External(_) | Check::ExternalGte(_) => return None,
    };
    let outcome = match (&op.source, is_there) {
        (Some(_), true) => Outcome::Updated,
        (Some(_), false) => Outcome::Created,
        (None, true) => Outcome::Deleted,
        (None, false) => Outcome::NotFound,
    };
    Some((next, outcome))
}

/// A delete may be forgotten after a minute.
pub fn forget(doc: &mut Doc, now: Duration) {
    if doc.deleted_at.is_some_and(|at| now.saturating_sub(at) >= Duration::from_secs(60)) {
        doc.stamp = None;
        doc.deleted_at = None;
        doc.is_unsure = true;
    }
}

/// Puts an operation into the model.
pub fn perform(world: &World, doc: &mut Doc, op: &Op, stamp: (u64, u64, u64), now: Duration) {
    let (_, seq_no, term) = stamp;
    let tag = op.source.as_deref().map(tag_of);
    let what = tag.clone().unwrap_or_else(|| format!("delete {}", op.id));
    world.give(term, seq_no, &what);
    doc.deleted_at = tag.is_none().then_some(now);
    doc.tag = tag;
    doc.stamp = Some(stamp);
    doc.is_unsure = false;
}
