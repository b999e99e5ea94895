//! The words of a text field as its type wants them: as they come, as shingles, as prefixes, as beginnings of
//! each word (`index_prefixes` of `text`).
//!
//! `search_as_you_type` keeps a text three ways beside itself: words two by two, three by three
//! (joined by a blank), and each beginning of the longest shingles. At the end of a text the longest
//! shingles run out of words; those of the prefixes go on with empty words, so that the last word
//! has its beginnings too.
//!
//! Example: `a b c` by two: `a b`, `b c`. Prefixes of at most two: `a`, `a `, `a b`, `b`, `b `, `b c`,
//! `c`, `c `.

use std::collections::VecDeque;

use super::kinds::TextFlavor;
use crate::analysis::{Analyzed, Analyzer, Flow, ON, Scratch};

/// Longest prefix kept, in characters; a whole shingle is kept however long.
pub const PREFIX_MAX: usize = 20;

/// Gives the words of `text` with their positions to `sink`, until that says that it wants no more.
pub fn words(
    flavor: TextFlavor,
    analyzer: &Analyzer,
    text: &str,
    scratch: &mut Scratch,
    mut sink: impl FnMut(&str, u32) -> Flow,
) -> Analyzed {
    if let TextFlavor::Beginnings(least, most) = flavor {
        return beginnings((least, most), analyzer, text, scratch, sink);
    }
    let (size, prefixes) = match flavor {
        TextFlavor::Shingles(size) => (size, false),
        TextFlavor::Prefixes(size) => (size, true),
        _ => return analyzer.tokens_with(text, scratch, |token| sink(token.term, token.position)),
    };
    let mut window = Window {
        size: usize::from(size.max(1)),
        prefixes,
        held: VecDeque::new(),
        shingle: String::new(),
        count: 0,
    };
    let mut flow = ON;
    let mut done = analyzer.tokens_with(text, scratch, |token| {
        flow = window.take(token.term, token.position, &mut sink);
        flow
    });
    // At the end of a text the beginnings go on without words.
    while flow.is_continue() && !done.lacks_room && prefixes && !window.held.is_empty() {
        flow = window.give(&mut sink);
    }
    done.count = window.count;
    done
}

/// The words that the next shingle is made of: never more than it has.
struct Window {
    size: usize,
    prefixes: bool,
    held: VecDeque<(String, u32)>,
    shingle: String,
    count: u32,
}

impl Window {
    /// Takes a word, and gives the shingle that it ends.
    fn take(
        &mut self,
        term: &str,
        position: u32,
        sink: &mut impl FnMut(&str, u32) -> Flow,
    ) -> Flow {
        self.held.push_back((term.to_owned(), position));
        if self.held.len() < self.size { ON } else { self.give(sink) }
    }

    /// Gives what begins with the first word, and forgets that word.
    fn give(&mut self, sink: &mut impl FnMut(&str, u32) -> Flow) -> Flow {
        let Self { size, prefixes, held, shingle, count } = self;
        shingle.clear();
        for step in 0..*size {
            if step > 0 {
                shingle.push(' ');
            }
            shingle.push_str(held.get(step).map_or("", |(term, _)| term));
        }
        let Some((_, position)) = held.pop_front() else { return ON };
        let mut give = |text: &str| {
            *count += 1;
            sink(text, position)
        };
        if !*prefixes {
            return give(shingle);
        }
        let ends = shingle.char_indices().map(|(start, c)| start + c.len_utf8());
        let mut last = 0;
        for end in ends.take(PREFIX_MAX) {
            last = end;
            give(&shingle[..end])?;
        }
        if last < shingle.len() { give(shingle) } else { ON }
    }
}

/// Gives the beginnings of each word, shortest first, at the place of the word.
fn beginnings(
    (least, most): (u8, u8),
    analyzer: &Analyzer,
    text: &str,
    scratch: &mut Scratch,
    mut sink: impl FnMut(&str, u32) -> Flow,
) -> Analyzed {
    let mut count = 0;
    let mut done = analyzer.tokens_with(text, scratch, |token| {
        let ends = token.term.char_indices().map(|(start, c)| start + c.len_utf8());
        let fits = ends.take(usize::from(most)).skip(usize::from(least.max(1)) - 1);
        for end in fits {
            count += 1;
            sink(&token.term[..end], token.position)?;
        }
        ON
    });
    done.count = count;
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Registry, STOP};

    fn of(flavor: TextFlavor, text: &str) -> Vec<(String, u32)> {
        let registry = Registry::default();
        let mut words = Vec::new();
        let sink = |word: &str, position| {
            words.push((word.to_owned(), position));
            ON
        };
        super::words(flavor, registry.default_analyzer(), text, &mut Scratch::default(), sink);
        words
    }

    fn plain(words: &[(&str, u32)]) -> Vec<(String, u32)> {
        words.iter().map(|(word, at)| ((*word).to_owned(), *at)).collect()
    }

    /// All words of a text were held before the first was asked for.
    #[test]
    fn a_sink_that_is_full_ends_the_analysis() {
        let registry = Registry::default();
        for flavor in [
            TextFlavor::Text,
            TextFlavor::Shingles(2),
            TextFlavor::Prefixes(3),
            TextFlavor::Beginnings(1, 5),
        ] {
            let mut given = 0;
            let sink = |_: &str, _| {
                given += 1;
                if given < 4 { ON } else { STOP }
            };
            let (analyzer, text) = (registry.default_analyzer(), "ab cd ".repeat(1_000));
            let done = super::words(flavor, analyzer, &text, &mut Scratch::default(), sink);
            assert!(!done.lacks_room && done.position_end < 10, "{flavor:?} {done:?}");
            assert_eq!(given, 4, "{flavor:?}");
        }
    }

    #[test]
    fn shingles_and_prefixes_are_those_of_the_head() {
        assert_eq!(of(TextFlavor::Text, "a b"), plain(&[("a", 0), ("b", 1)]));
        assert_eq!(of(TextFlavor::Shingles(2), "a b c"), plain(&[("a b", 0), ("b c", 1)]));
        assert_eq!(of(TextFlavor::Shingles(3), "a b"), plain(&[]));
        assert_eq!(
            of(TextFlavor::Prefixes(2), "a b c"),
            plain(&[
                ("a", 0),
                ("a ", 0),
                ("a b", 0),
                ("b", 1),
                ("b ", 1),
                ("b c", 1),
                ("c", 2),
                ("c ", 2)
            ])
        );
        assert_eq!(
            of(TextFlavor::Beginnings(2, 3), "a bé cdef"),
            plain(&[("bé", 1), ("cd", 2), ("cde", 2)])
        );
        let long = "abcdefghijklmnopqrstuvwxyz";
        let words = of(TextFlavor::Prefixes(1), long);
        assert_eq!(words.len(), PREFIX_MAX + 1);
        assert_eq!(words.last().map(|(word, _)| word.as_str()), Some(long));
    }
}
