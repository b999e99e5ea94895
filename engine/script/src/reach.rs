//! How far a pattern reads beyond what it finds, told from its text alone.
//!
//! An automaton that looks for `a.*b` reads on to the end of the line, and one that looks for `\w+` to the end of
//! the word, whether or not that is of use. A bound from above is enough: who needs it exactly follows the automaton
//! ([`crate::automaton`]).

use std::ops::ControlFlow;

/// A part that repeats something at least so often may as well do so without end.
const TIMES_MANY: u64 = 64;

/// How far a part of a pattern reads that an automaton finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// As far as the part is long.
    Part,
    /// To the end of so many words, or of the blanks between them.
    Words(u64),
    /// To the end of the line.
    Line,
    /// To the end of the text.
    End,
}

impl Reach {
    /// Of all parts of a program that are handed to automata, as the engine prints it.
    pub(crate) fn of(program: &str) -> Self {
        parts(program).map(Self::of_part).fold(Self::Part, Self::or)
    }

    /// Of the groups that a program compares the text with, found in the pattern that it was made of.
    pub(crate) fn of_groups(program: &str, pattern: &str) -> Self {
        let mut all = None;
        let referred = program.split("Backref { slot: ").skip(1);
        let slots = referred.map(|rest| rest.split(',').next().and_then(|slot| slot.parse().ok()));
        slots.fold(Self::Part, |reach, slot: Option<usize>| {
            let groups = all.get_or_insert_with(|| groups(pattern));
            let group = slot.and_then(|slot| (slot / 2).checked_sub(1));
            let part = group.and_then(|group| groups.get(group));
            reach.or(part.map_or(Self::End, |part| Self::of_part(part)))
        })
    }

    /// Of one part, whose backslashes may be doubled.
    pub(crate) fn of_part(part: &str) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| part.contains(word));
        let open = part.matches(['*', '+']).count() + part.matches(",}").count();
        let repeats = open + usize::from(times(part) >= TIMES_MANY);
        if repeats == 0 {
            return Self::Part;
        }
        // They match letters and blanks alike, or may.
        let mixed = [
            "(?s", "[^", "[:", "&&", "\\S", "\\D", "\\W", "\\P", "\\H", "\\N", "\\X", "\\x", "\\u",
        ];
        let classes = part.split("\\p{").skip(1);
        let is_mixed = has(&mixed)
            || classes.into_iter().any(|class| !class.starts_with(['L', 'N', 'M', 'l', 'n', 'm']));
        let has_blanks = part.contains(char::is_whitespace)
            || has(&["\\s", "\\h", "\\v", "\\t", "\\n", "\\r", "\\R", "\\f"]);
        // Together they may be repeated: then words and blanks follow each other to the end.
        let together = has(&["[", ")*", ")+", "){"]);
        // A dot ends with its line.
        let has_dot = part.contains('.');
        match (is_mixed || (has_blanks && (together || has_dot)), has_dot) {
            (true, _) => Self::End,
            (false, true) => Self::Line,
            (false, false) => Self::Words(repeats as u64),
        }
    }

    /// The farther of both.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::End, _) | (_, Self::End) => Self::End,
            (Self::Line, _) | (_, Self::Line) => Self::Line,
            (Self::Words(one), Self::Words(two)) => Self::Words(one.max(two)),
            (Self::Part, other) => other,
            (one, Self::Part) => one,
        }
    }

    /// Bytes of this text, at most, wherever it begins.
    pub(crate) fn bytes(self, text: &str) -> u64 {
        match self {
            Self::Part => 0,
            Self::Words(count) => longest_run(text).saturating_mul(count),
            Self::Line => text.split('\n').map(str::len).max().unwrap_or(0) as u64,
            Self::End => text.len() as u64,
        }
    }

    /// Bytes that it reads of this text from its begin on, at most.
    pub(crate) fn bytes_on(self, text: &str) -> usize {
        match self {
            Self::Part => 0,
            Self::Words(count) => {
                let mut left = count;
                let mut end = text.len();
                let _ = runs(text, |_, at| {
                    end = at;
                    left = left.saturating_sub(1);
                    if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                end
            }
            Self::Line => text.find('\n').unwrap_or(text.len()),
            Self::End => text.len(),
        }
    }
}

/// The parts that a program hands to automata, as it is printed: an instruction a line, backslashes doubled.
fn parts(program: &str) -> impl Iterator<Item = &str> {
    program.lines().filter_map(|line| {
        let (_, rest) = line.split_once("pattern: \"")?;
        Some(rest.split("\", capture_groups").next().unwrap_or(rest).trim_end_matches("\" })"))
    })
}

/// How often a part repeats something at most, with what is repeated in what is: the product of all of its counts.
pub(crate) fn times(part: &str) -> u64 {
    let counts = part.split('{').skip(1).filter_map(|rest| {
        let (count, _) = rest.split_once('}')?;
        count.split(',').filter_map(|bound| bound.trim().parse::<u64>().ok()).max()
    });
    counts.fold(1, |times, count| times.saturating_mul(count.max(1)))
}

/// The most bytes in a row that are all blank, or all not.
fn longest_run(text: &str) -> u64 {
    let mut longest = 0;
    let _ = runs(text, |from, to| {
        longest = longest.max(to - from);
        ControlFlow::<()>::Continue(())
    });
    longest as u64
}

/// Gives each row of bytes that are all blank, or all not, until it is told to stop.
fn runs<B>(text: &str, mut each: impl FnMut(usize, usize) -> ControlFlow<B>) -> ControlFlow<B> {
    let (mut begun, mut was_blank) = (0, text.starts_with(char::is_whitespace));
    for (at, c) in text.char_indices() {
        if c.is_whitespace() != was_blank {
            each(begun, at)?;
            (begun, was_blank) = (at, !was_blank);
        }
    }
    each(begun, text.len())
}

/// What stands in the groups of a pattern that are numbered, in order.
fn groups(pattern: &str) -> Vec<&str> {
    let mut groups = Vec::new();
    // Where each begins that is open, and which group it is.
    let mut open = Vec::new();
    let mut depth = 0u32;
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => {
                let rest = &pattern[at + 1..];
                let is_named = rest.starts_with("?P<")
                    || (rest.starts_with("?<")
                        && !rest.starts_with("?<=")
                        && !rest.starts_with("?<!"));
                let group = (is_named || !rest.starts_with('?')).then(|| {
                    groups.push(rest);
                    groups.len() - 1
                });
                open.push((at + 1, group));
            }
            ')' if depth == 0 => {
                if let Some((from, Some(group))) = open.pop() {
                    groups[group] = &pattern[from..at];
                }
            }
            _ => {}
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_of_blanks_or_of_none() {
        assert_eq!(longest_run("ab  cde\u{3000} é"), 4);
        assert_eq!((longest_run(""), longest_run("   "), longest_run("aaaa")), (0, 3, 4));
        for (reach, text, bytes) in [
            (Reach::Part, "abc", 0),
            (Reach::Words(1), "abc de", 3),
            (Reach::Words(1), "  de", 2),
            (Reach::Words(3), "abc de fg", 6),
            (Reach::Words(9), "abc de", 6),
            (Reach::Words(1), "", 0),
            (Reach::Line, "a b\nc", 3),
            (Reach::Line, "a b", 3),
            (Reach::End, "a b\nc", 5),
        ] {
            assert_eq!(reach.bytes_on(text), bytes, "{reach:?} in {text:?}");
        }
    }

    /// Thirty thousand times is as good as without end.
    #[test]
    fn what_is_counted_may_be_far() {
        assert_eq!(
            (times("a{3}b{2,4}c"), times("a{7,}"), times("a{,x}"), times("abc")),
            (12, 7, 1, 1)
        );
        assert_eq!(Reach::of_part("[0-9]{4}-[0-9]{2}-[0-9]{2}"), Reach::Part);
        assert_eq!(Reach::of_part("[ab]{0,30000}c"), Reach::Words(1));
        assert_eq!(Reach::of_part("[^ab]{0,30000}c"), Reach::End);
    }

    #[test]
    fn groups_are_found_in_a_pattern() {
        assert_eq!(
            groups(r"(a(?:b)(c[)(]\)))(?<x>d)(?<=e)(?=f)"),
            [r"a(?:b)(c[)(]\))", r"c[)(]\)", "?<x>d"]
        );
        assert_eq!(groups("(?s:a)"), [""; 0]);
    }
}
