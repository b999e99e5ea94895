//! A walk of an automaton through a sorted dictionary, which remembers its way: a term that begins
//! as the one before is read on from where they part.
//!
//! Always true
//! 1. `path[n]` is the state after `n` bytes of the term looked at last, for as many bytes as were
//!    `read`; inside of a character it is [`INSIDE`].
//! 2. Terms that are no UTF-8 match nothing.

use super::dfa::Dfa;

/// There is no way on.
const NONE: u32 = u32::MAX;

/// Inside of a character.
const INSIDE: u32 = u32::MAX - 1;

/// Labels with a place in a row.
const ROW: usize = 128;

/// What a term means for a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It matches.
    Match,
    /// It does not, and the one after it may.
    Step,
    /// Neither it nor any term that begins as it does, up to and including the character at byte
    /// `0`: the field tells which.
    Fail(usize),
}

/// Where a walk stands.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// Where each state's row begins in `table`; [`NONE`] until it is needed.
    rows: Vec<u32>,
    /// Where ASCII labels lead.
    table: Vec<u32>,
    path: Vec<u32>,
    read: usize,
    look: Option<Look>,
}

impl Walk {
    /// What `term` means, whose first `shared` bytes are those of the term looked at before.
    pub fn look(&mut self, dfa: &Dfa, term: &[u8], shared: usize) -> Look {
        if dfa.is_empty() {
            return Look::Fail(0);
        }
        if self.path.is_empty() {
            self.path.push(0);
            self.rows.resize(dfa.len(), NONE);
        }
        if let Some(failed @ Look::Fail(at)) = self.look
            && shared > at
            && term[at] < 0x80
        {
            return failed;
        }
        let mut at = shared.min(self.read);
        while self.path[at] == INSIDE {
            at -= 1;
        }
        self.path.truncate(at + 1);
        let mut state = self.path[at];
        let look = loop {
            let Some(byte) = term.get(at).copied() else {
                let accepts = dfa.states()[state as usize].accept;
                break if accepts { Look::Match } else { Look::Step };
            };
            if byte < 0x80 {
                state = self.go(dfa, state, byte);
                if state == NONE {
                    break Look::Fail(at);
                }
                at += 1;
            } else {
                let Some(c) = char_at(&term[at..]) else { break Look::Step };
                let Some(next) = dfa.go(state, u32::from(c)) else { break Look::Fail(at) };
                state = next;
                self.path.resize(at + c.len_utf8(), INSIDE);
                at += c.len_utf8();
            }
            self.path.push(state);
        };
        self.read = at;
        self.look = Some(look);
        look
    }

    /// After a term failed: the least text above it that may begin a match, in `target`; false where
    /// there is none. `term` begins as the one that failed, up to where it did.
    pub fn leap(&self, dfa: &Dfa, term: &[u8], target: &mut Vec<u8>) -> bool {
        let mut at = self.read;
        loop {
            if let (Some(state), Some(c)) = (self.path.get(at), char_at(&term[at..]))
                && let Some(above) = above(dfa, *state, u32::from(c))
            {
                target.clear();
                target.extend_from_slice(&term[..at]);
                target.extend_from_slice(above.encode_utf8(&mut [0; 4]).as_bytes());
                return true;
            }
            if at == 0 {
                return false;
            }
            at -= 1;
            while self.path[at] == INSIDE {
                at -= 1;
            }
        }
    }

    #[inline]
    fn go(&mut self, dfa: &Dfa, state: u32, byte: u8) -> u32 {
        let mut row = self.rows[state as usize];
        if row == NONE {
            row = self.table.len() as u32;
            self.rows[state as usize] = row;
            self.table.resize(row as usize + ROW, NONE);
            for way in &dfa.states()[state as usize].moves {
                let labels = way.from as usize..(way.to as usize + 1).min(ROW);
                if let Some(slots) = self.table[row as usize..].get_mut(labels) {
                    slots.fill(way.state);
                }
            }
        }
        self.table[row as usize + usize::from(byte)]
    }
}

/// The least character above `label` that leads on from a state.
fn above(dfa: &Dfa, state: u32, label: u32) -> Option<char> {
    let moves = &dfa.states()[state as usize].moves;
    let at = moves.partition_point(|way| way.to <= label);
    let next = moves.get(at)?.from.max(label + 1);
    // Labels that are no characters lie between two that are.
    char::from_u32(next).or_else(|| (next < 0xE000).then_some('\u{E000}'))
}

/// The first character of `bytes`.
#[inline]
fn char_at(bytes: &[u8]) -> Option<char> {
    let len = match bytes.first()? {
        byte @ 0..0x80 => return Some(char::from(*byte)),
        0..0xE0 => 2,
        0..0xF0 => 3,
        _ => 4,
    };
    std::str::from_utf8(bytes.get(..len)?).ok()?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dfa::Next, levenshtein};
    use proptest::prelude::*;

    /// Terms that a walk finds, by leaps where `leaps` says so.
    fn walked(dfa: &Dfa, terms: &[Vec<u8>], leaps: &[bool]) -> Vec<usize> {
        let (mut walk, mut found, mut target) = (Walk::default(), Vec::new(), Vec::new());
        let (mut at, mut before): (usize, &[u8]) = (0, &[]);
        while let Some(term) = terms.get(at) {
            let shared = term.iter().zip(before).take_while(|(a, b)| a == b).count();
            let look = walk.look(dfa, term, shared);
            before = term;
            match look {
                Look::Match => found.push(at),
                Look::Fail(_) if leaps[at % leaps.len()] => {
                    if !walk.leap(dfa, term, &mut target) {
                        break;
                    }
                    assert!(*target > **term);
                    at += terms[at..].partition_point(|term| **term < *target);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    fn plain(dfa: &Dfa, terms: &[Vec<u8>]) -> Vec<usize> {
        (0..terms.len()).filter(|at| dfa.next(&terms[*at]) == Next::Match).collect()
    }

    proptest! {
        #[test]
        fn finds_what_each_term_alone_says(
            word in "[abcä]{0,6}", edits in 0u32..=2, prefix in 0usize..3,
            terms in prop::collection::btree_set("[abcdäß€]{0,7}", 0..200),
            leaps in prop::collection::vec(any::<bool>(), 1..9),
        ) {
            let dfa = levenshtein::automaton(&word, prefix, edits, true).expect("short");
            let terms: Vec<Vec<u8>> = terms.into_iter().map(String::into_bytes).collect();
            prop_assert_eq!(walked(&dfa, &terms, &leaps), plain(&dfa, &terms));
        }

        #[test]
        fn terms_of_any_bytes_are_stepped_over(
            terms in prop::collection::btree_set(prop::collection::vec(prop_oneof![97u8..100, 0xC2u8..0xC5, 0x80u8..0x83, any::<u8>()], 0..6), 0..200),
            leaps in prop::collection::vec(any::<bool>(), 1..9),
        ) {
            let dfa = levenshtein::automaton("abc", 0, 2, true).expect("short");
            let terms: Vec<Vec<u8>> = terms.into_iter().collect();
            prop_assert_eq!(walked(&dfa, &terms, &leaps), plain(&dfa, &terms));
        }
    }

    #[test]
    fn nothing_matches_an_empty_automaton() {
        let dfa = Dfa::default();
        let mut walk = Walk::default();
        assert_eq!(walk.look(&dfa, b"a", 0), Look::Fail(0));
    }
}
