//! Filters that change one token, or drop it, and need little of their own.

use base::hash::{Map, Set};

use super::{StopWords, Term};
use crate::analysis::effort::Cost;
use crate::analysis::regex::{Counted, PATTERN, Pattern, Replacement, TooLong};
use crate::analysis::token::TokenKind;

/// Kinds to keep, or to drop.
#[derive(Clone, Debug)]
pub struct KeepTypes {
    kinds: Set<TokenKind>,
    keeps: bool,
}

impl KeepTypes {
    /// Keeps the kinds named, or drops them. Names that no part gives match nothing.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>, keeps: bool) -> Self {
        Self { kinds: names.into_iter().filter_map(TokenKind::named).collect(), keeps }
    }

    pub(super) fn keeps(&self, kind: TokenKind) -> bool {
        self.kinds.contains(&kind) == self.keeps
    }
}

/// Which tokens stemmers must leave alone.
#[derive(Clone, Debug)]
pub enum Marker {
    /// The words of a list.
    Words(StopWords),
    /// Words that a pattern matches whole.
    Pattern(Pattern),
}

impl Marker {
    pub(super) fn marks(&self, text: &str) -> bool {
        match self {
            Self::Words(words) => words.contains(text),
            Self::Pattern(pattern) => pattern.matches_whole_within(text, &Counted),
        }
    }

    /// What it costs to look at a token.
    pub(super) const fn cost(&self) -> Cost {
        match self {
            Self::Words(_) => Cost::PLAIN,
            Self::Pattern(_) => PATTERN,
        }
    }
}

/// Stems of some words.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    stems: Map<Box<str>, Box<str>>,
}

impl Overrides {
    /// From pairs of a word and its stem; the first pair of a word counts.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut stems = Map::default();
        for (word, stem) in pairs {
            stems.entry(word.into()).or_insert_with(|| stem.into());
        }
        Self { stems }
    }

    pub(super) fn apply(&self, term: &mut Term<'_>) {
        if term.keyword {
            return;
        }
        if let Some(stem) = self.stems.get(term.as_str()) {
            term.set(stem);
            term.keyword = true;
        }
    }
}

/// Replaces what a pattern finds.
#[derive(Clone, Debug)]
pub struct PatternReplace {
    /// What to find.
    pub pattern: Pattern,
    /// What to put there.
    pub replacement: Replacement,
    /// Every place, or the first only.
    pub all: bool,
}

impl PatternReplace {
    pub(super) fn apply(&self, term: &mut Term<'_>) {
        let Self { pattern, replacement, all } = self;
        let done = pattern.replace_within(term.as_str(), replacement, *all, term.most, &Counted);
        match done {
            Ok(Some(done)) => term.set(&done),
            Ok(None) => {}
            Err(TooLong) => term.lacks_room = true,
        }
    }
}

/// Cuts to `max` UTF-16 units; a pair of units is not torn.
pub(super) fn truncate(term: &mut Term<'_>, max: u32) {
    let mut units = 0;
    for (at, c) in term.as_str().char_indices() {
        units += c.len_utf16() as u32;
        if units > max {
            term.truncate(at);
            return;
        }
    }
}

/// Java's `Character.isWhitespace` at both ends.
pub(super) fn trim(term: &mut Term<'_>) {
    let text = term.as_str();
    let blank = crate::analysis::tokenizer::is_blank;
    let trimmed = text.trim_matches(blank);
    if trimmed.len() < text.len() {
        let trimmed = trimmed.to_owned();
        term.set(&trimmed);
    }
}

pub(super) fn reverse(term: &mut Term<'_>) {
    let turned: String = term.as_str().chars().rev().collect();
    term.set(&turned);
}

pub(super) fn elision(term: &mut Term<'_>, articles: &StopWords) {
    let text = term.as_str();
    let Some(at) = text.find(['\'', '\u{2019}']) else { return };
    if articles.contains(&text[..at]) {
        let mut rest = text[at..].chars();
        rest.next();
        let rest = rest.as_str().to_owned();
        term.set(&rest);
    }
}

pub(super) fn apostrophe(term: &mut Term<'_>) {
    if let Some(at) = term.as_str().find(['\'', '\u{2019}']) {
        term.truncate(at);
    }
}

pub(super) fn classic(term: &mut Term<'_>) {
    match term.kind {
        TokenKind::Apostrophe => {
            let text = term.as_str();
            if text.len() >= 2 && (text.ends_with("'s") || text.ends_with("'S")) {
                let len = text.len() - 2;
                term.truncate(len);
            }
        }
        TokenKind::Acronym => {
            let bare = term.as_str().replace('.', "");
            term.set(&bare);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, change: impl Fn(&mut Term<'_>)) -> String {
        let mut buffer = String::new();
        let mut term = Term::new(text, &mut buffer);
        change(&mut term);
        term.as_str().to_owned()
    }

    #[test]
    fn ends_are_cut_as_lucene_cuts_them() {
        let articles = StopWords::new(["l", "qu"], true);
        assert_eq!(after("L'avion", |term| elision(term, &articles)), "avion");
        assert_eq!(after("d'or", |term| elision(term, &articles)), "d'or");
        assert_eq!(after("qu\u{2019}il", |term| elision(term, &articles)), "il");
        assert_eq!(after("Türkiye'nin", apostrophe), "Türkiye");
        assert_eq!(after("a𝒳b", |term| truncate(term, 2)), "a");
        assert_eq!(after("a𝒳b", |term| truncate(term, 3)), "a𝒳");
        assert_eq!(after(" \ta b\n", trim), "a b");
        assert_eq!(after("añb", reverse), "bña");
    }

    #[test]
    fn the_first_override_of_a_word_counts() {
        let pairs = [("mice", "mouse"), ("mice", "mus")].map(|(a, b)| (a.into(), b.into()));
        let overrides = Overrides::new(pairs);
        let mut buffer = String::new();
        let mut term = Term::new("mice", &mut buffer);
        overrides.apply(&mut term);
        assert!(term.keyword);
        assert_eq!(term.as_str(), "mouse");
    }
}
