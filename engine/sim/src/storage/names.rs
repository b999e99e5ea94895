//! One folder's names: those that are seen, those that are safe, and the changes between.

use std::collections::{BTreeMap, BTreeSet};

use super::FileId;
use crate::chance::Chance;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    File(FileId),
    Folder,
}

/// A change of names that happens wholly or not at all.
#[derive(Clone, Debug)]
pub(crate) enum NameChange {
    Link(String, Node),
    Unlink(String),
    Rename(String, String),
}

impl NameChange {
    /// The names whose entries it writes.
    fn names(&self) -> impl Iterator<Item = &str> {
        let (one, other) = match self {
            NameChange::Link(name, _) | NameChange::Unlink(name) => (name, None),
            NameChange::Rename(from, to) => (from, Some(to)),
        };
        std::iter::once(one).chain(other).map(String::as_str)
    }
}

/// The names of a folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folder {
    pub(crate) volatile: BTreeMap<String, Node>,
    pub(crate) safe: BTreeMap<String, Node>,
    unsynced: Vec<(u64, NameChange)>,
}

impl Folder {
    pub(crate) fn files(&self) -> impl Iterator<Item = FileId> {
        self.volatile.values().filter_map(|node| match node {
            Node::File(id) => Some(*id),
            Node::Folder => None,
        })
    }

    pub(crate) fn change(&mut self, stamp: u64, change: NameChange) {
        carry_out(&mut self.volatile, &change);
        self.unsynced.push((stamp, change));
    }

    pub(crate) fn sync(&mut self, stamp: u64) {
        let later = self.unsynced.split_off(self.unsynced.partition_point(|(s, _)| *s <= stamp));
        for (_, change) in std::mem::replace(&mut self.unsynced, later) {
            carry_out(&mut self.safe, &change);
        }
    }

    /// The power goes: some unsynced changes are kept, either the first few (a journal) or any of them, but of those
    /// that touch one name only the first few: an entry is written over, never in another order.
    pub(crate) fn settle(&mut self, chance: &mut Chance) {
        let changes = std::mem::take(&mut self.unsynced);
        let journal = chance.percent(50);
        let first = chance.between(0, changes.len() as u64);
        let mut lost: BTreeSet<&str> = BTreeSet::new();
        for (at, (_, change)) in changes.iter().enumerate() {
            let drawn = if journal { (at as u64) < first } else { chance.percent(50) };
            if drawn && !change.names().any(|name| lost.contains(name)) {
                carry_out(&mut self.safe, change);
            } else {
                lost.extend(change.names());
            }
        }
        self.volatile = self.safe.clone();
    }
}

fn carry_out(names: &mut BTreeMap<String, Node>, change: &NameChange) {
    match change {
        NameChange::Link(name, node) => {
            names.insert(name.clone(), *node);
        }
        NameChange::Unlink(name) => {
            names.remove(name);
        }
        NameChange::Rename(from, to) => {
            // Where the source's own creation was lost, the rename is lost with it.
            if let Some(node) = names.remove(from) {
                names.insert(to.clone(), node);
            }
        }
    }
}
