//! How far an automaton reads a text before it knows its next match.
//!
//! What is regular is found in time linear in the text, each time: to find all places of `a.*b|a` in a text without
//! a `b` reads it to its end once for each `a`. The engine does not say how far it read. So the same automaton is
//! followed here, state by state, until nothing may change what it found.

use std::sync::Mutex;

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;

use crate::backtrack::{LOOK, PATTERN_BYTES_MAX};

/// The states that are made on the way, in bytes. Beyond it they are dropped.
const CACHE_BYTES: usize = 1 << 20;

/// So often it drops them before it looks whether that is of use.
const DROPS: usize = 3;

/// It is of use where a state serves for so many bytes.
const BYTES_A_STATE: usize = 10;

/// Bytes between two counts of them.
const STRIDE: usize = 4096;

/// An automaton to follow.
#[derive(Debug)]
pub(crate) struct Automaton {
    dfa: DFA,
    states: u64,
    /// What it knows from before.
    cache: Mutex<Option<Box<Cache>>>,
}

/// How far a search reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// To this byte.
    To(usize),
    /// That cannot be told, and the engine takes slower ways: so many steps for a byte.
    Unknown(u64),
}

impl Automaton {
    /// Of a pattern in the words of automata.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        let config = DFA::config()
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true)
            .cache_capacity(CACHE_BYTES)
            .minimum_cache_clear_count(Some(DROPS))
            .minimum_bytes_per_state(Some(BYTES_A_STATE));
        let limit = thompson::Config::new().nfa_size_limit(Some(PATTERN_BYTES_MAX));
        let dfa = DFA::builder().configure(config).thompson(limit).build(pattern).ok()?;
        let states = dfa.get_nfa().states().len() as u64;
        Some(Self { dfa, states, cache: Mutex::new(None) })
    }

    /// How far a search for the first match from `from` on reads.
    pub(crate) fn read(&self, text: &str, from: usize) -> Read {
        let held = self.cache.lock().ok().and_then(|mut cache| cache.take());
        let mut cache = held.unwrap_or_else(|| Box::new(self.dfa.create_cache()));
        let read = self.follow(&mut cache, text, from);
        if let Ok(mut held) = self.cache.lock() {
            *held = Some(cache);
        }
        read
    }

    fn follow(&self, cache: &mut Cache, text: &str, from: usize) -> Read {
        // Every state of it may be alive at each byte.
        let gave_up = Read::Unknown(self.states.max(LOOK));
        let input = Input::new(text).range(from..);
        let Ok(mut state) = self.dfa.start_state_forward(cache, &input) else { return gave_up };
        cache.search_start(from);
        let mut at = from;
        let read = 'read: {
            for stride in text.as_bytes()[from..].chunks(STRIDE) {
                for byte in stride {
                    let Ok(next) = self.dfa.next_state(cache, state, *byte) else {
                        break 'read gave_up;
                    };
                    at += 1;
                    state = next;
                    if state.is_tagged() {
                        if state.is_dead() {
                            break 'read Read::To(at);
                        }
                        if state.is_quit() {
                            break 'read Read::Unknown(LOOK);
                        }
                    }
                }
                cache.search_update(at);
            }
            Read::To(at)
        };
        cache.search_finish(at);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, text: &str, from: usize) -> Read {
        Automaton::new(pattern).expect("a pattern").read(text, from)
    }

    #[test]
    fn it_ends_where_nothing_may_change() {
        for (pattern, text, from, to) in [
            ("a.*b|a", "aaaa", 0, 4),
            ("a.*b|a", "aaaa", 2, 4),
            ("a.*b|a", "aa\naa", 0, 3),
            // The second byte behind a match tells that no other comes.
            ("a|a.*b", "aaaa", 0, 3),
            ("a*?", "aaaa", 0, 2),
            ("x", "aaaa", 1, 4),
            (",", "a,b,c", 0, 4),
            (",", "a,b,c", 2, 5),
            ("\"[^\"]*\"", "x \"y\" z", 0, 7),
            ("a", "", 0, 0),
        ] {
            assert_eq!(
                read(pattern, text, from),
                Read::To(to),
                "{pattern} in {text:?} from {from}"
            );
        }
    }

    #[test]
    fn what_it_cannot_follow_it_tells() {
        assert_eq!(read(r"\ba+", "é a", 0), Read::Unknown(LOOK));
        // Each place may be the one that counts: there are more states than bytes.
        let mut random = 1u64;
        let text: String = (0..200_000)
            .map(|_| {
                random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                if random >> 63 == 0 { 'a' } else { 'b' }
            })
            .collect();
        let found = read("[ab]*a[ab]{1000}c", &text, 0);
        assert!(matches!(found, Read::Unknown(steps) if steps > 1_000), "{found:?}");
    }
}
