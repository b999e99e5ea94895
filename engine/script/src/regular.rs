//! What an automaton finds as a whole, and what that costs.
//!
//! Each search is linear in what it reads, and all of them together may be quadratic in the text: what is read beyond
//! a match is read again by the next search. How far that goes is told from the pattern where that is near
//! ([`Reach`]), and else by following the automaton ([`Automaton`]).

use std::sync::OnceLock;

use crate::automaton::{Automaton, Read};
use crate::backtrack::{Effort, LOOK, Span};
use crate::reach::{self, Reach};

/// So the engine prints what an automaton finds as a whole.
const REGULAR: &str = "wrapped Regex \"";

/// Behind it stands whether it reads on behind the end of a match, to see that something follows.
const AHEAD: &str = "\", explicit_capture_group_0: ";

/// What a search costs, however near it ends.
const SEARCH: u64 = 2 * LOOK;

/// What it costs to read a byte, with following it.
const READ: u64 = 4;

/// What it costs to find the groups, for a byte that they are in.
const GROUPED: u64 = 40;

/// So few bytes are not worth to be followed.
const NEAR_BYTES: usize = 256;

/// Bytes of a character at most.
const CHAR_BYTES: usize = 4;

/// A pattern of so many bytes, or that repeats so often, may have more states than its text has bytes.
const LARGE_BYTES: usize = 2048;

/// As [`LARGE_BYTES`].
const LARGE_TIMES: u64 = 64;

/// A pattern that an automaton finds as a whole.
#[derive(Debug)]
pub(crate) struct Regular {
    /// In the words of automata.
    pattern: String,
    reach: Reach,
    /// Groups reach as far as it reads.
    looks_ahead: bool,
    /// It may be slow.
    is_large: bool,
    automaton: OnceLock<Option<Box<Automaton>>>,
}

impl Regular {
    /// Of a program as the engine prints it, where an automaton finds all of it.
    pub(crate) fn of(program: &str) -> Option<Self> {
        let (shown, ahead) = program.strip_prefix(REGULAR)?.rsplit_once(AHEAD)?;
        Some(Self {
            reach: Reach::of_part(shown),
            is_large: shown.len() > LARGE_BYTES || reach::times(shown) >= LARGE_TIMES,
            pattern: unquoted(shown),
            looks_ahead: ahead.trim() == "true",
            automaton: OnceLock::new(),
        })
    }

    /// How far a search from `from` on reads.
    fn read(&self, text: &str, from: usize) -> Read {
        let automaton = self.automaton.get_or_init(|| Automaton::new(&self.pattern).map(Box::new));
        automaton.as_ref().map_or(Read::Unknown(LOOK), |automaton| automaton.read(text, from))
    }

    /// Does `search` find it somewhere?
    pub(crate) fn is_match(
        &self,
        text: &str,
        effort: &impl Effort,
        search: impl FnOnce() -> bool,
    ) -> bool {
        if !effort.counts() {
            return search();
        }
        let (bytes, steps) = match self.is_large.then(|| self.read(text, 0)) {
            Some(Read::Unknown(steps)) => (text.len(), steps),
            Some(Read::To(to)) => (to, READ),
            None => (text.len(), 1),
        };
        effort.spend(self.way(effort, bytes as u64, steps)) && search()
    }

    /// What the way through so many bytes counts as.
    fn way<E: Effort>(&self, _effort: &E, bytes: u64, steps: u64) -> u64 {
        let is_slow = self.is_large && steps > READ;
        if E::COUNTS_WAY || is_slow {
            SEARCH.saturating_add(bytes.saturating_mul(steps))
        } else {
            0
        }
    }

    /// Runs `search`, which looks for the next match from `from` on and answers where that is. `false` where there is
    /// none, or no effort for it.
    pub(crate) fn find(
        &self,
        text: &str,
        from: usize,
        effort: &impl Effort,
        search: impl FnOnce() -> Option<Span>,
    ) -> bool {
        if !effort.counts() {
            return search().is_some();
        }
        let rest = text.len() - from;
        let is_far = matches!(self.reach, Reach::Line | Reach::End) && rest > NEAR_BYTES;
        let mut read = (is_far || self.is_large).then(|| self.read(text, from));
        let least = match read {
            Some(Read::To(to)) => self.way(effort, (to - from) as u64, READ),
            // Slower ways there may be many of.
            Some(Read::Unknown(steps)) if self.is_large => self.way(effort, rest as u64, steps),
            _ => 0,
        };
        if !effort.has(least) {
            effort.spend(least);
            return false;
        }
        let found = search();
        let (start, end) = found.unwrap_or((text.len(), text.len()));
        let behind = &text[end..];
        // To look for the end of what is far would cost what it spares.
        let near = self.reach.bytes_on(&behind[..behind.floor_char_boundary(NEAR_BYTES + 1)]);
        if near > NEAR_BYTES - CHAR_BYTES && read.is_none() {
            read = Some(self.read(text, from));
        }
        let (to, steps) = match read {
            // The engine may have found the end of it in another way.
            Some(Read::To(to)) => (to.max(end), READ),
            Some(Read::Unknown(steps)) => (end + self.reach.bytes_on(behind), steps),
            None => (end + near, READ),
        };
        let ahead = if self.looks_ahead && found.is_some() { to - end } else { 0 };
        let beyond = (to - end) as u64 * steps + ahead as u64 * GROUPED;
        let way = self.way(effort, (end - from) as u64, steps);
        let grouped = if way == 0 { 0 } else { (end - start) as u64 * GROUPED };
        effort.spend(way.saturating_add(grouped).saturating_add(beyond)) && found.is_some()
    }
}

/// A text as it was before it was shown with its quotes.
pub(crate) fn unquoted(shown: &str) -> String {
    let mut text = String::with_capacity(shown.len());
    let mut chars = shown.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('0') => text.push('\0'),
            Some('u') => {
                let digits = chars.by_ref().take_while(|c| *c != '}').filter(|c| *c != '{');
                let code = u32::from_str_radix(&digits.collect::<String>(), 16).ok();
                text.extend(code.and_then(char::from_u32));
            }
            escaped => text.extend(escaped),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_shown_is_read_again() {
        for text in ["a\\b\"c", "\n\r\t\0'", "\u{7f}\u{301}é日\u{200b}", "", "\\u{41}"] {
            let shown = format!("{text:?}");
            assert_eq!(unquoted(&shown[1..shown.len() - 1]), text, "{shown}");
        }
    }
}
