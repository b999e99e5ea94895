//! `fingerprint`: the different tokens of a text, sorted and joined, as one token.

use std::collections::BTreeSet;

use crate::analysis::stage::{End, Fold, Next, Stage};
use crate::analysis::token::{Tok, TokenKind};

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
}

impl Fold for Fingerprint {
    fn stage(&self) -> Box<dyn Stage + '_> {
        Box::new(Gathering { of: self, words: BTreeSet::new(), size: 0 })
    }
}

impl Stage for Gathering<'_> {
    fn token(&mut self, token: &mut Tok, _next: Next<'_>) {
        if self.size > self.of.size_max {
            return;
        }
        let units: Vec<u16> = token.term.encode_utf16().collect();
        let len = units.len();
        if self.words.insert((units, std::mem::take(&mut token.term))) {
            self.size += len + usize::from(self.words.len() > 1);
        }
    }

    fn end(&mut self, end: &mut End, next: Next<'_>) {
        end.trailing = 0;
        if self.words.is_empty() || self.size > self.of.size_max {
            return;
        }
        let mut joined = String::new();
        for (_, word) in &self.words {
            if !joined.is_empty() {
                joined.push(self.of.separator);
            }
            joined.push_str(word);
        }
        next(&mut Tok::new(&joined, 0, end.offset, TokenKind::Fingerprint));
    }
}
