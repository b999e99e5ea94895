//! `fingerprint`: the different tokens of a text, sorted and joined, as one token.

use std::collections::BTreeSet;

use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::stage::{End, Fold, Next, Stage};
use crate::analysis::token::{Tok, TokenKind};

/// Bytes that a tree needs for an entry beside its texts, about.
const ENTRY_BYTES: usize = 64;

/// The filter.
#[derive(Debug)]
pub struct Fingerprint {
    /// Stands between tokens.
    pub separator: char,
    /// A longer fingerprint, in UTF-16 units, is none.
    pub size_max: usize,
}

struct Gathering<'f> {
    of: &'f Fingerprint,
    /// Sorted as UTF-16.
    words: BTreeSet<(Vec<u16>, String)>,
    size: usize,
    room: &'f Room,
    /// Bytes of the words.
    bytes: usize,
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        self.room.give_back(self.bytes);
    }
}

impl Fold for Fingerprint {
    fn stage<'s>(&'s self, room: &'s Room) -> Box<dyn Stage + 's> {
        Box::new(Gathering { of: self, words: BTreeSet::new(), size: 0, room, bytes: 0 })
    }
}

impl Stage for Gathering<'_> {
    fn token(&mut self, token: &mut Tok, _next: Next<'_>) -> Flow {
        if self.size > self.of.size_max {
            return ON;
        }
        let units: Vec<u16> = token.term.encode_utf16().collect();
        let len = units.len();
        // Both forms, and what is joined of them.
        let bytes = 2 * len + 2 * token.term.len() + ENTRY_BYTES;
        self.room.take(bytes)?;
        if self.words.insert((units, std::mem::take(&mut token.term))) {
            self.bytes += bytes;
            self.size += len + usize::from(self.words.len() > 1);
        } else {
            self.room.give_back(bytes);
        }
        ON
    }

    fn end(&mut self, end: &mut End, next: Next<'_>) -> Flow {
        end.trailing = 0;
        if self.words.is_empty() || self.size > self.of.size_max {
            return ON;
        }
        let mut joined = String::new();
        for (_, word) in &self.words {
            if !joined.is_empty() {
                joined.push(self.of.separator);
            }
            joined.push_str(word);
        }
        next(&mut Tok::new(&joined, 0, end.offset, TokenKind::Fingerprint))
    }
}
