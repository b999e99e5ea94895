//! Sets of terms as automata: regular expressions, words within so many edits.
//!
//! | file          | what                                                             |
//! |---------------|------------------------------------------------------------------|
//! | `nfa`         | pieces joined by empty moves; made deterministic within a limit  |
//! | `dfa`         | the deterministic form: walks a dictionary by leaps              |
//! | `regexp`      | Lucene's syntax becomes an automaton                             |
//! | `levenshtein` | all words within one or two edits of a word                      |
//! | `walk`        | goes through a dictionary, reading only where terms differ       |
//!
//! Labels are code points; UTF-8 orders bytes as code points are ordered, so a walk in the order of
//! the dictionary is a walk in the order of labels.
//!
//! Always true: work and memory are bounded while an automaton is built, not afterwards.

pub mod dfa;
pub mod levenshtein;
pub mod nfa;
pub mod regexp;
pub mod walk;

pub use dfa::{Dfa, Next};
pub use walk::{Look, Walk};

/// Highest code point.
pub const LABEL_MAX: u32 = 0x10_FFFF;

/// An automaton would take more work than is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooComplex;
