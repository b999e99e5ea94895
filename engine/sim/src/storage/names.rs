//! One folder's names: those that are seen, those that are safe, and the changes between.

use std::collections::BTreeMap;

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

    /// The power goes: some unsynced changes are kept, either the first few (a journal) or any.
    pub(crate) fn settle(&mut self, chance: &mut Chance) {
        let changes = std::mem::take(&mut self.unsynced);
        let journal = chance.percent(50);
        let first = chance.between(0, changes.len() as u64);
        for (at, (_, change)) in changes.iter().enumerate() {
            let kept = if journal { (at as u64) < first } else { chance.percent(50) };
            if kept {
                carry_out(&mut self.safe, change);
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
