//! Token filters. Most look at one token at a time: keep it, change it, or drop it. The others
//! ([`Filter::Fold`]) hold, split or join tokens, and run as stages of their own.

mod ascii;
mod bigram;
mod capture;
mod change;
mod compound;
mod delimiter;
mod fingerprint;
mod flatten;
mod gap;
mod grams;
mod indic;
mod lowercase;
mod min_hash;
mod multi;
mod ngram;
mod normalize;
mod porter;
mod possessive;
mod shingle;
mod stop;
mod synonym;

pub use bigram::CjkBigram;
pub use capture::PatternCapture;
pub use change::{KeepTypes, Marker, Overrides, PatternReplace};
pub use compound::Decompounder;
pub use delimiter::{DelimiterOptions, WordDelimiter, type_table};
pub use fingerprint::Fingerprint;
pub use flatten::FlattenGraph;
pub use grams::CommonGrams;
pub use lowercase::{CaseOf, lowercase, uppercase};
pub use min_hash::{BUCKETS_MAX, MinHash};
pub use multi::{
    AsciiFoldingKeeping, KeywordRepeat, Limit, Multiplexer, RemoveDuplicates, SuggestStop, Unique,
};
pub(super) use ngram::expansion as ngram_expansion;
pub use ngram::{EdgeNgram, Ngram};
pub use normalize::Normalization;
pub use shingle::Shingle;
pub use stop::{ENGLISH, StopWords};
pub use synonym::{Rules, Synonyms, parse_solr, parse_wordnet};

use std::sync::Arc;

use super::effort::Cost;
use super::regex::{Expands as _, PATTERN};
use super::stage::Fold;
use super::stem::Stemmer;
use super::token::TokenKind;

/// A filter, ready to be applied.
#[derive(Clone, Debug)]
pub enum Filter {
    /// Lower case, character by character.
    Lowercase,
    /// Lower case of Greek, Irish or Turkish.
    LowercaseOf(CaseOf),
    /// Upper case, character by character.
    Uppercase,
    /// Drops the words of a list.
    Stop(Arc<StopWords>),
    /// Keeps the words of a list.
    Keep(Arc<StopWords>),
    /// Keeps or drops tokens of some kinds.
    KeepTypes(Arc<KeepTypes>),
    /// Keeps tokens of a length in UTF-16 units, both ends included.
    Length(u32, u32),
    /// Cuts tokens to a length in UTF-16 units.
    Truncate(u32),
    /// Takes blanks off both ends.
    Trim,
    /// Turns tokens around.
    Reverse,
    /// Takes an article before an apostrophe off.
    Elision(Arc<StopWords>),
    /// Takes an apostrophe and what follows off.
    Apostrophe,
    /// Takes `'s` off, and the dots of acronyms, where the classic tokenizer says so.
    Classic,
    /// Digits of every script become those of ASCII.
    DecimalDigit,
    /// Fullwidth ASCII becomes ASCII, halfwidth Katakana full.
    CjkWidth,
    /// Letters become their nearest ASCII ones.
    AsciiFolding,
    /// Replaces what a pattern finds.
    PatternReplace(Arc<PatternReplace>),
    /// Protects tokens from stemmers.
    Marker(Arc<Marker>),
    /// Gives some tokens a stem of their own, and protects it.
    Overrides(Arc<Overrides>),
    /// Cuts a payload off, behind a delimiter.
    Payload(char),
    /// Letters of a language that are written in several ways become one.
    Normalize(Normalization),
    /// Takes `'s` off the end.
    Possessive,
    /// Porter's stemmer of 1980.
    Porter,
    /// The stemmer of a language.
    Stem(Stemmer),
    /// A filter that holds, splits or joins tokens.
    Fold(Arc<dyn Fold>),
}

/// The text of a token on its way through the filters: copied when it is first changed.
#[derive(Debug)]
pub struct Term<'a> {
    text: &'a str,
    buffer: &'a mut String,
    changed: bool,
    /// Bytes that it may grow to.
    most: usize,
    /// It would have grown beyond them: it is of no use then.
    pub(super) lacks_room: bool,
    /// What the token is.
    pub kind: TokenKind,
    /// Is it protected from stemmers?
    pub keyword: bool,
}

/// What became of a term.
pub(super) struct Done {
    /// Length of the prefix of the original text; `None` where the buffer holds the text.
    pub len: Option<usize>,
    pub kind: TokenKind,
    pub keyword: bool,
}

impl<'a> Term<'a> {
    /// A token of `text`; `buffer` is used where it must change.
    pub fn new(text: &'a str, buffer: &'a mut String) -> Self {
        Self::of(text, TokenKind::Word, false, buffer)
    }

    /// A token of which more is known.
    pub fn of(text: &'a str, kind: TokenKind, keyword: bool, buffer: &'a mut String) -> Self {
        let most = super::room::ROOM_BYTES;
        Self { text, buffer, changed: false, most, lacks_room: false, kind, keyword }
    }

    /// The same token, that may grow to so many bytes.
    #[must_use]
    pub fn within(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// The text now.
    #[inline]
    pub fn as_str(&self) -> &str {
        if self.changed { self.buffer } else { self.text }
    }

    /// The text at last.
    pub fn into_str(self) -> &'a str {
        if self.changed { self.buffer } else { self.text }
    }

    pub(super) fn done(self) -> Done {
        let len = (!self.changed).then_some(self.text.len());
        Done { len, kind: self.kind, keyword: self.keyword }
    }

    /// The text, to change.
    pub fn to_mut(&mut self) -> &mut String {
        if !self.changed {
            self.buffer.clear();
            self.buffer.push_str(self.text);
            self.changed = true;
        }
        self.buffer
    }

    /// Puts another text in its place.
    pub fn set(&mut self, text: &str) {
        self.changed = true;
        self.buffer.clear();
        self.buffer.push_str(text);
    }

    /// Cuts the text to its first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        if self.changed {
            self.buffer.truncate(len);
        } else {
            self.text = &self.text[..len];
        }
    }

    /// Changes the text as `char`s, where `change` says that it did.
    pub fn rewrite(&mut self, change: impl FnOnce(&mut Vec<char>)) {
        let mut chars: Vec<char> = self.as_str().chars().collect();
        change(&mut chars);
        if self.as_str().chars().ne(chars.iter().copied()) {
            let text = self.to_mut();
            text.clear();
            text.extend(chars);
        }
    }
}

impl Filter {
    /// Applies the filter; `false` drops the token. A fold keeps every token as it is.
    #[inline]
    pub fn apply(&self, term: &mut Term<'_>) -> bool {
        match self {
            Self::Lowercase => lowercase(term),
            Self::Stop(words) => return !words.contains(term.as_str()),
            Self::Possessive => possessive::strip(term),
            Self::Porter => {
                if !term.keyword {
                    porter::stem(term);
                }
            }
            other => return other.apply_rare(term),
        }
        true
    }

    fn apply_rare(&self, term: &mut Term<'_>) -> bool {
        match self {
            Self::LowercaseOf(language) => language.lowercase(term),
            Self::Uppercase => uppercase(term),
            Self::Keep(words) => return words.contains(term.as_str()),
            Self::KeepTypes(types) => return types.keeps(term.kind),
            Self::Length(min, max) => {
                let len = term.as_str().encode_utf16().count();
                return *min as usize <= len && len <= *max as usize;
            }
            Self::Truncate(max) => change::truncate(term, *max),
            Self::Trim => change::trim(term),
            Self::Reverse => change::reverse(term),
            Self::Elision(articles) => change::elision(term, articles),
            Self::Apostrophe => change::apostrophe(term),
            Self::Classic => change::classic(term),
            Self::DecimalDigit => normalize::decimal_digit(term),
            Self::CjkWidth => normalize::cjk_width(term),
            Self::AsciiFolding => ascii::fold(term),
            Self::PatternReplace(replace) => replace.apply(term),
            Self::Marker(marker) => term.keyword |= marker.marks(term.as_str()),
            Self::Overrides(overrides) => overrides.apply(term),
            Self::Payload(delimiter) => {
                if let Some(at) = term.as_str().find(*delimiter) {
                    term.truncate(at);
                }
            }
            Self::Normalize(language) => language.apply(term),
            Self::Stem(stemmer) => {
                if !term.keyword {
                    stemmer.apply(term);
                }
            }
            Self::Lowercase | Self::Stop(_) | Self::Possessive | Self::Porter | Self::Fold(_) => {}
        }
        true
    }

    /// What it costs to apply it to a token, where it is no fold.
    fn cost(&self) -> Cost {
        match self {
            Self::PatternReplace(_) => PATTERN,
            Self::Marker(marker) => marker.cost(),
            _ => Cost::PLAIN,
        }
    }

    /// What it costs to apply some to a token, one after the other.
    pub(super) fn cost_of(filters: &[Self]) -> Cost {
        filters.iter().map(Self::cost).fold(Cost::default(), Cost::and)
    }

    /// Bytes that a chain makes of one, about: what only changes words counts where it may put much in place of
    /// little.
    pub fn expansion_of(chain: &[Self]) -> u32 {
        let each = chain.iter().map(|filter| match filter {
            Self::Fold(fold) => fold.expansion().max(1),
            Self::PatternReplace(replace) => replace.replacement.expansion(),
            _ => 1,
        });
        each.fold(1, u32::saturating_mul)
    }

    /// Does some of a chain say that its tokens stand for one another by their positions alone?
    pub fn is_flat(chain: &[Self]) -> bool {
        chain.iter().any(|filter| matches!(filter, Self::Fold(fold) if fold.is_flat()))
    }

    /// Does it need a stage of its own?
    pub const fn is_fold(&self) -> bool {
        matches!(self, Self::Fold(_))
    }

    /// Does it give the same after lower case as before it?
    pub const fn ignores_case(&self) -> bool {
        matches!(self, Self::Possessive)
    }

    /// Does it read or set the mark that keeps stemmers away?
    pub const fn knows_keywords(&self) -> bool {
        matches!(
            self,
            Self::Marker(_) | Self::Overrides(_) | Self::Porter | Self::Stem(_) | Self::Fold(_)
        )
    }

    /// Does it work on single characters, so that normalizers and prefixes may use it?
    pub const fn normalizes(&self) -> bool {
        matches!(
            self,
            Self::Lowercase
                | Self::LowercaseOf(_)
                | Self::Uppercase
                | Self::Trim
                | Self::Elision(_)
                | Self::DecimalDigit
                | Self::CjkWidth
                | Self::AsciiFolding
                | Self::PatternReplace(_)
                | Self::Normalize(_)
        )
    }
}

/// The folded text of `text`, where folding changes it.
pub(super) fn folded(text: &str) -> Option<String> {
    ascii::folded(text)
}
