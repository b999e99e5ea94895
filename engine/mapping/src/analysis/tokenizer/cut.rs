//! The tokenizers beyond those that chains are compiled with: each pushes tokens to a sink.

use std::borrow::Cow;
use std::sync::Arc;

use base::hash::Set;

use super::{Piece, classic, is_blank};
use crate::analysis::regex::{Counted, Pattern};
use crate::analysis::room::{Flow, ON, Room};
use crate::analysis::token::{Tok, TokenKind};

/// A tokenizer, ready to cut.
#[derive(Clone, Debug)]
pub enum Cut {
    /// By the grammar of Lucene's `ClassicTokenizer`; longest token in UTF-16 units.
    Classic(u32),
    /// Words, URLs and addresses.
    UrlEmail(u32),
    /// Between matches of a pattern, or its matches, or a group of it.
    Pattern(Arc<Pattern>, Option<usize>),
    /// At some characters and kinds of characters.
    CharGroup(Arc<CharGroup>, u32),
    /// Pieces of runs of characters.
    Ngram(Arc<NgramCut>),
    /// A path and the paths above it.
    Path(PathCut),
}

/// Characters that separate tokens.
#[derive(Clone, Debug, Default)]
pub struct CharGroup {
    /// Single ones.
    pub chars: Set<char>,
    /// `whitespace`.
    pub whitespace: bool,
    /// `letter`.
    pub letter: bool,
    /// `digit`.
    pub digit: bool,
    /// `punctuation`.
    pub punctuation: bool,
    /// `symbol`.
    pub symbol: bool,
}

impl CharGroup {
    /// Is `c` one of them?
    pub fn holds(&self, c: char) -> bool {
        (self.whitespace && is_blank(c))
            || (self.letter && super::classes::TABLE.is_letter(c))
            || (self.digit && is_digit(c))
            || (self.punctuation && is_punctuation(c))
            || (self.symbol && is_symbol(c))
            || self.chars.contains(&c)
    }
}

/// Java's `Character.isDigit`: general category Nd.
fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
        || (!c.is_ascii()
            && c.is_numeric()
            && super::classes::word_class(super::classes::TABLE.of(c)) == super::classes::DIGIT)
}

/// A mark of punctuation: general categories Pc, Pd, Ps, Pe, Po, Pi, Pf.
fn is_punctuation(c: char) -> bool {
    static SET: std::sync::LazyLock<Option<Pattern>> =
        std::sync::LazyLock::new(|| crate::analysis::regex::pattern(r"\p{P}", "").ok());
    if c.is_ascii() {
        return c.is_ascii_punctuation() && !is_symbol(c);
    }
    let mut buffer = [0; 4];
    SET.as_ref().is_some_and(|set| set.matches_whole_within(c.encode_utf8(&mut buffer), &Counted))
}

/// A symbol: general categories Sc, Sm, So, Sk.
fn is_symbol(c: char) -> bool {
    static SET: std::sync::LazyLock<Option<Pattern>> = std::sync::LazyLock::new(|| {
        crate::analysis::regex::pattern(r"[\p{Sc}\p{Sm}\p{So}\p{Sk}]", "").ok()
    });
    if c.is_ascii() {
        return matches!(c, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~');
    }
    let mut buffer = [0; 4];
    SET.as_ref().is_some_and(|set| set.matches_whole_within(c.encode_utf8(&mut buffer), &Counted))
}

/// Pieces of runs.
#[derive(Clone, Debug)]
pub struct NgramCut {
    /// Shortest piece, in characters.
    pub min: usize,
    /// Longest piece.
    pub max: usize,
    /// From the beginning of runs only.
    pub edge: bool,
    /// What runs are made of; everything, where nothing is said.
    pub keeps: Option<CharGroup>,
}

/// Paths.
#[derive(Clone, Copy, Debug)]
pub struct PathCut {
    /// Between the parts of the text.
    pub delimiter: char,
    /// Between the parts of tokens.
    pub replacement: char,
    /// From the end: `www.example.com`, `example.com`, `com`.
    pub reverse: bool,
    /// Parts to leave out.
    pub skip: usize,
}

/// Takes tokens, and answers whether it goes on.
type Sink<'s> = &'s mut dyn FnMut(&mut Tok) -> Flow;

impl Cut {
    /// Gives the tokens of `text` to `sink`; offsets are UTF-16 units of it.
    pub fn tokens(&self, text: &str, room: &Room, sink: Sink<'_>) -> Flow {
        match self {
            Self::Classic(max) => classic::classic(text, *max, |piece, skipped| {
                let mut token = tok(text, piece);
                token.inc += skipped;
                sink(&mut token)
            }),
            Self::UrlEmail(max) => {
                super::url_email::url_email(text, *max, |piece| sink(&mut tok(text, piece)))
            }
            Self::Pattern(pattern, group) => by_pattern(text, pattern, *group, room, sink),
            Self::CharGroup(group, max) => {
                let belongs = |c| !group.holds(c);
                super::plain::runs(text, *max, belongs, |piece| sink(&mut tok(text, piece)))
            }
            Self::Ngram(ngram) => ngrams(text, ngram, room, sink),
            Self::Path(path) => paths(text, path, sink),
        }
    }
}

fn tok(text: &str, piece: Piece) -> Tok {
    Tok::new(&text[piece.start..piece.end], piece.from, piece.to, piece.kind)
}

/// Counts UTF-16 units while walking forward.
struct Units<'t> {
    text: &'t str,
    at: usize,
    units: u32,
}

impl<'t> Units<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, units: 0 }
    }

    /// Units before byte `to`, which must not lie before the last one asked for.
    fn to(&mut self, to: usize) -> u32 {
        self.units += self.text[self.at..to].encode_utf16().count() as u32;
        self.at = to;
        self.units
    }
}

fn by_pattern(
    text: &str,
    pattern: &Pattern,
    group: Option<usize>,
    room: &Room,
    sink: Sink<'_>,
) -> Flow {
    let mut units = Units::new(text);
    let mut give = |start: usize, end: usize| {
        let from = units.to(start);
        // The end may lie behind the start of the next match of the group.
        let to = from + text[start..end].encode_utf16().count() as u32;
        sink(&mut Tok::new(&text[start..end], from, to, TokenKind::Word))
    };
    let mut flow = ON;
    match group {
        Some(group) => pattern.each_within(text, &Counted, |spans| {
            if let Some((start, end)) = spans.get(group).copied().flatten()
                && start < end
            {
                flow = give(start, end);
            }
            flow.is_continue()
        }),
        None => {
            let mut at = 0;
            pattern.each_within(text, &Counted, |spans| {
                if let Some((start, end)) = spans[0] {
                    if start > at {
                        flow = give(at, start);
                    }
                    at = end;
                }
                flow.is_continue()
            });
            // What was not looked through is no token.
            room.spend(0)?;
            if flow.is_continue() && at < text.len() {
                return give(at, text.len());
            }
        }
    }
    flow?;
    room.spend(0)
}

fn ngrams(text: &str, cut: &NgramCut, room: &Room, sink: Sink<'_>) -> Flow {
    // Bytes and units of the characters of one run.
    let mut run: Vec<(usize, u32)> = Vec::new();
    let mut held = room.hold(0)?;
    let mut units = 0u32;
    let mut flush = |run: &mut Vec<(usize, u32)>, end: (usize, u32)| {
        let len = run.len();
        run.push(end);
        let starts = if cut.edge { len.min(1) } else { len };
        for start in 0..starts {
            for size in cut.min..=cut.max.min(len - start) {
                let ((a, from), (b, to)) = (run[start], run[start + size]);
                sink(&mut Tok::new(&text[a..b], from, to, TokenKind::Word))?;
            }
        }
        run.clear();
        ON
    };
    for (at, c) in text.char_indices() {
        if cut.keeps.as_ref().is_none_or(|keeps| keeps.holds(c)) {
            held.grow(size_of::<(usize, u32)>())?;
            run.push((at, units));
        } else if !run.is_empty() {
            flush(&mut run, (at, units))?;
            held.clear();
        }
        units += c.len_utf16() as u32;
    }
    if !run.is_empty() {
        return flush(&mut run, (text.len(), units));
    }
    ON
}

/// Parts of one path at most; a longer one is cut there.
const PARTS_MAX: usize = 10_000;

fn paths(text: &str, path: &PathCut, sink: Sink<'_>) -> Flow {
    let total = text.encode_utf16().count() as u32;
    let mut first = true;
    let mut give = |term: &str, from: u32, to: u32| {
        let mut token = Tok::new(term, from, to, TokenKind::Word);
        token.inc = u32::from(std::mem::take(&mut first));
        sink(&mut token)
    };
    if !path.reverse {
        // Each token ends before a delimiter, and begins behind what is skipped.
        let delimiters: Vec<usize> =
            text.match_indices(path.delimiter).map(|(at, _)| at).take(PARTS_MAX).collect();
        let leads = delimiters.first() == Some(&0);
        // A delimiter at the very beginning belongs to the first part.
        let cuts = if leads { &delimiters[1..] } else { &delimiters };
        let start = match path.skip {
            0 => 0,
            skip => match cuts.get(skip - 1) {
                Some(at) => *at,
                None => return ON,
            },
        };
        let ends = cuts.iter().copied().filter(|end| *end > start);
        let last = (!text.is_empty()).then_some(text.len());
        let mut units = Units::new(text);
        let from = units.to(start);
        let mut term = String::new();
        let mut at = start;
        for end in ends.chain(last) {
            term.extend(
                text[at..end].chars().map(
                    |c| {
                        if c == path.delimiter { path.replacement } else { c }
                    },
                ),
            );
            at = end;
            if !term.is_empty() {
                give(&term, from, units.to(end))?;
            }
        }
        return ON;
    }
    let mut starts = vec![0];
    starts.extend(
        text.match_indices(path.delimiter)
            .map(|(at, found)| at + found.len())
            .filter(|start| *start < text.len())
            .take(PARTS_MAX),
    );
    if text.is_empty() {
        return ON;
    }
    // Parts at the end that are skipped leave their delimiter.
    let end = match path.skip {
        0 => text.len(),
        skip => {
            let mut ends: Vec<usize> = starts[1..].to_vec();
            ends.push(text.len());
            match ends.len().checked_sub(skip + 1) {
                Some(at) => ends[at],
                None => return ON,
            }
        }
    };
    let to = total - text[end..].encode_utf16().count() as u32;
    let mut units = Units::new(text);
    // Each token is the end of the one before: what stands in them is written once.
    let written: Cow<'_, str> = match path.delimiter == path.replacement {
        true => Cow::Borrowed(&text[..end]),
        false => {
            let mut replacement = [0; 4];
            Cow::Owned(
                text[..end].replace(path.delimiter, path.replacement.encode_utf8(&mut replacement)),
            )
        }
    };
    for (before, start) in starts.into_iter().enumerate().filter(|(_, start)| *start < end) {
        let from = units.to(start);
        let lengths = (path.replacement.len_utf8(), path.delimiter.len_utf8());
        let start = start + before * lengths.0 - before * lengths.1;
        give(&written[start..], from, to)?;
    }
    ON
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each was written letter by letter: a second for 160 KB of `a/`.
    #[test]
    fn paths_from_the_end_are_ends_of_one_text() {
        let tokens = |text: &str, delimiter, replacement, skip| {
            let path = PathCut { delimiter, replacement, reverse: true, skip };
            let mut found = Vec::new();
            let flow = paths(text, &path, &mut |token| {
                found.push(format!("{}@{}-{}", token.term, token.start, token.end));
                ON
            });
            assert!(flow.is_continue());
            found
        };
        assert_eq!(tokens("a.é.c", '.', '.', 0), ["a.é.c@0-5", "é.c@2-5", "c@4-5"]);
        assert_eq!(tokens("a.é.c", '.', 'ß', 0), ["aßéßc@0-5", "éßc@2-5", "c@4-5"]);
        assert_eq!(tokens("aßéßc", 'ß', '/', 0), ["a/é/c@0-5", "é/c@2-5", "c@4-5"]);
        assert_eq!(tokens("aßéßcß", 'ß', '/', 1), ["a/é/@0-4", "é/@2-4"]);
        assert_eq!(tokens("//a", '/', '日', 0), ["日日a@0-3", "日a@1-3", "a@2-3"]);
    }
}
