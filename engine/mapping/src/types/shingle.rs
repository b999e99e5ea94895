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

use super::kinds::TextFlavor;
use crate::analysis::{Analyzed, Analyzer, Scratch};

/// Longest prefix kept, in characters; a whole shingle is kept however long.
pub const PREFIX_MAX: usize = 20;

/// Gives the words of `text` with their positions to `sink`.
pub fn words(
    flavor: TextFlavor,
    analyzer: &Analyzer,
    text: &str,
    scratch: &mut Scratch,
    mut sink: impl FnMut(&str, u32),
) -> Analyzed {
    if let TextFlavor::Beginnings(least, most) = flavor {
        return beginnings((least, most), analyzer, text, scratch, sink);
    }
    let (size, prefixes) = match flavor {
        TextFlavor::Shingles(size) => (size, false),
        TextFlavor::Prefixes(size) => (size, true),
        _ => return analyzer.tokens_with(text, scratch, |token| sink(token.term, token.position)),
    };
    let size = usize::from(size.max(1));
    let mut tokens: Vec<(String, u32)> = Vec::new();
    let mut done = analyzer
        .tokens_with(text, scratch, |token| tokens.push((token.term.to_owned(), token.position)));
    done.count = 0;
    let mut shingle = String::new();
    for at in 0..tokens.len() {
        let rest = &tokens[at..];
        if rest.len() < size && !prefixes {
            break;
        }
        shingle.clear();
        for step in 0..size {
            if step > 0 {
                shingle.push(' ');
            }
            shingle.push_str(rest.get(step).map_or("", |(term, _)| term));
        }
        let position = rest[0].1;
        if !prefixes {
            done.count += 1;
            sink(&shingle, position);
            continue;
        }
        let mut ends = shingle.char_indices().map(|(start, c)| start + c.len_utf8());
        let mut last = 0;
        for end in ends.by_ref().take(PREFIX_MAX) {
            last = end;
            done.count += 1;
            sink(&shingle[..end], position);
        }
        if last < shingle.len() {
            done.count += 1;
            sink(&shingle, position);
        }
    }
    done
}

/// Gives the beginnings of each word, shortest first, at the place of the word.
fn beginnings(
    (least, most): (u8, u8),
    analyzer: &Analyzer,
    text: &str,
    scratch: &mut Scratch,
    mut sink: impl FnMut(&str, u32),
) -> Analyzed {
    let mut count = 0;
    let mut done = analyzer.tokens_with(text, scratch, |token| {
        let ends = token.term.char_indices().map(|(start, c)| start + c.len_utf8());
        let fits = ends.take(usize::from(most)).skip(usize::from(least.max(1)) - 1);
        for end in fits {
            count += 1;
            sink(&token.term[..end], token.position);
        }
    });
    done.count = count;
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Registry;

    fn of(flavor: TextFlavor, text: &str) -> Vec<(String, u32)> {
        let registry = Registry::default();
        let mut words = Vec::new();
        let sink = |word: &str, position| words.push((word.to_owned(), position));
        super::words(flavor, registry.default_analyzer(), text, &mut Scratch::default(), sink);
        words
    }

    fn plain(words: &[(&str, u32)]) -> Vec<(String, u32)> {
        words.iter().map(|(word, at)| ((*word).to_owned(), *at)).collect()
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
