//! The automata of one request: each is made once, whatever number of indices, fields and clauses ask for it.
//!
//! An automaton of a word takes a hundred microseconds and ten kilobytes, one of a long expression a millisecond and
//! ninety kilobytes; a request over two hundred indices made each two hundred times.

use std::sync::{Mutex, PoisonError};

use automaton::{Dfa, levenshtein, regexp};
use base::hash::Map;
use mapping::analysis::effort;

use crate::error::{Error, Kind, Result};

/// What an automaton is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// Of the words near this one: with so many characters that stay, within so many edits, swaps counted as one.
    Near(String, usize, u32, bool),
    /// Of an expression: its operators, whether either case matches, the work that it may take.
    Expression(String, u32, bool, usize),
}

/// Automata that were made so far.
#[derive(Debug, Default)]
pub struct Automata {
    known: Mutex<Map<Key, Dfa>>,
}

impl Automata {
    /// That of the words within `edits` of `word`; none where it is more than the request may do: what is made of it is
    /// dropped then.
    ///
    /// # Errors
    /// The word is too long.
    pub fn near(&self, word: &str, prefix: usize, edits: u32, swaps: bool) -> Result<Option<Dfa>> {
        let key = Key::Near(word.to_owned(), prefix, edits, swaps);
        if let Some(known) = self.known(&key) {
            return Ok(Some(known));
        }
        if !effort::may_make_near(word.chars().count().saturating_sub(prefix), edits) {
            return Ok(None);
        }
        let made = levenshtein::automaton(word, prefix, edits, swaps);
        let made = made.map_err(|_| Error::illegal(format!("word [{word}] is too long")))?;
        Ok(Some(self.keep(key, made)))
    }

    /// That of an expression in Lucene's syntax, made within `limit` of work.
    ///
    /// # Errors
    /// It is none, or would take more.
    pub fn expression(&self, text: &str, flags: u32, any_case: bool, limit: usize) -> Result<Dfa> {
        let key = Key::Expression(text.to_owned(), flags, any_case, limit);
        if let Some(known) = self.known(&key) {
            return Ok(known);
        }
        let made = regexp::automaton(text, flags, any_case, limit).map_err(|fault| match fault {
            regexp::Fault::Syntax(reason) => Error::illegal(reason),
            regexp::Fault::TooComplex => Error::new(
                Kind::TooComplex,
                format!(
                    "Determinizing automaton for [{text}] would require more than {limit} effort."
                ),
            ),
        })?;
        Ok(self.keep(key, made))
    }

    fn known(&self, key: &Key) -> Option<Dfa> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn keep(&self, key: Key, made: Dfa) -> Dfa {
        if !effort::may_hold(made.held_bytes()) {
            return Dfa::default();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key, made.clone());
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_costs_nothing_more() {
        let automata = Automata::default();
        let near = |edits| automata.near("handbook", 0, edits, true).map(|dfa| dfa.is_some());
        let ask = |edits| {
            effort::within(1 << 20, || near(edits)).map(|(made, took)| (made.is_ok(), took))
        };
        let first = ask(2).expect("few steps");
        assert!(first.0 && first.1 > 0, "{first:?}");
        assert_eq!(ask(2), Ok((true, 0)));
        let other = ask(1).expect("few steps");
        assert!(other.1 > 0, "another number of edits is another automaton: {other:?}");
        assert!(effort::within(1, || automata.near("textbook", 0, 2, true)).is_err());
        let made = automata.near("textbook", 0, 2, true).ok().flatten();
        assert!(made.is_some_and(|dfa| dfa.matches("text book")), "what was too much was not kept");
    }

    #[test]
    fn expressions_that_differ_in_anything_are_apart() {
        let automata = Automata::default();
        let made = |text, any_case| {
            automata.expression(text, regexp::ALL, any_case, 10_000).expect("an expression")
        };
        for _ in 0..2 {
            assert!(made("a[bc]+", false).matches("abcb"));
            assert!(!made("a[bc]+", false).matches("ABC"));
            assert!(made("a[bc]+", true).matches("ABC"));
            assert!(automata.expression("(", regexp::ALL, false, 10_000).is_err());
            assert!(automata.expression("a{900}", regexp::ALL, false, 10).is_err());
        }
        // What is held counts: an expression of nine hundred letters takes more than this many steps allow.
        let long = "x".repeat(900);
        let ask = || automata.expression(&long, regexp::ALL, false, 10_000).is_ok();
        assert!(effort::within(100_000, ask).is_err());
        assert_eq!(effort::within(1_000_000, ask).map(|(made, _)| made), Ok(true));
    }
}
