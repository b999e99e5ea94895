//! One token, as the chain hands it on.

/// What a tokenizer or a filter says a token is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// `word`: from every tokenizer but the grammar-based ones.
    #[default]
    Word,
    /// `<ALPHANUM>`.
    Alphanum,
    /// `<NUM>`.
    Num,
    /// `<SOUTHEAST_ASIAN>`.
    SoutheastAsian,
    /// `<IDEOGRAPHIC>`.
    Ideographic,
    /// `<HIRAGANA>`.
    Hiragana,
    /// `<KATAKANA>`.
    Katakana,
    /// `<HANGUL>`.
    Hangul,
    /// `<EMOJI>`.
    Emoji,
    /// `<URL>`.
    Url,
    /// `<EMAIL>`.
    Email,
    /// `<APOSTROPHE>`, of the classic tokenizer, as the following.
    Apostrophe,
    /// `<ACRONYM>`.
    Acronym,
    /// `<COMPANY>`.
    Company,
    /// `<HOST>`.
    Host,
    /// `<CJ>`.
    Cj,
    /// `<SINGLE>`: a character without a neighbour, of `cjk_bigram`.
    Single,
    /// `<DOUBLE>`: two characters, of `cjk_bigram`.
    Double,
    /// `SYNONYM`.
    Synonym,
    /// `shingle`.
    Shingle,
    /// `gram`, of `common_grams`.
    Gram,
    /// `fingerprint`.
    Fingerprint,
    /// `MIN_HASH`.
    MinHash,
}

/// Every kind, for parts that look kinds up by name.
const KINDS: [TokenKind; 23] = [
    TokenKind::Word,
    TokenKind::Alphanum,
    TokenKind::Num,
    TokenKind::SoutheastAsian,
    TokenKind::Ideographic,
    TokenKind::Hiragana,
    TokenKind::Katakana,
    TokenKind::Hangul,
    TokenKind::Emoji,
    TokenKind::Url,
    TokenKind::Email,
    TokenKind::Apostrophe,
    TokenKind::Acronym,
    TokenKind::Company,
    TokenKind::Host,
    TokenKind::Cj,
    TokenKind::Single,
    TokenKind::Double,
    TokenKind::Synonym,
    TokenKind::Shingle,
    TokenKind::Gram,
    TokenKind::Fingerprint,
    TokenKind::MinHash,
];

impl TokenKind {
    /// As `_analyze` shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Alphanum => "<ALPHANUM>",
            Self::Num => "<NUM>",
            Self::SoutheastAsian => "<SOUTHEAST_ASIAN>",
            Self::Ideographic => "<IDEOGRAPHIC>",
            Self::Hiragana => "<HIRAGANA>",
            Self::Katakana => "<KATAKANA>",
            Self::Hangul => "<HANGUL>",
            Self::Emoji => "<EMOJI>",
            Self::Url => "<URL>",
            Self::Email => "<EMAIL>",
            Self::Apostrophe => "<APOSTROPHE>",
            Self::Acronym => "<ACRONYM>",
            Self::Company => "<COMPANY>",
            Self::Host => "<HOST>",
            Self::Cj => "<CJ>",
            Self::Single => "<SINGLE>",
            Self::Double => "<DOUBLE>",
            Self::Synonym => "SYNONYM",
            Self::Shingle => "shingle",
            Self::Gram => "gram",
            Self::Fingerprint => "fingerprint",
            Self::MinHash => "MIN_HASH",
        }
    }

    /// The kind that `_analyze` shows so.
    pub fn named(name: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.name() == name)
    }
}

/// One token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its text.
    pub term: &'a str,
    /// Its position, from 0; several tokens may share one.
    pub position: u32,
    /// How many positions it spans: more than 1 for a token beside several others of a graph.
    pub length: u32,
    /// Where it starts in the original text, in UTF-16 units.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// What the tokenizer says it is.
    pub kind: TokenKind,
    /// Stemmers leave it alone.
    pub keyword: bool,
}

/// A token between two filters that may hold, split or join tokens: positions are told as
/// increments there, since a filter may drop or add some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tok {
    /// Its text.
    pub term: String,
    /// Positions after the token before it.
    pub inc: u32,
    /// How many positions it spans.
    pub length: u32,
    /// First UTF-16 unit of the original text.
    pub start: u32,
    /// One past the last unit.
    pub end: u32,
    /// What it is.
    pub kind: TokenKind,
    /// Stemmers leave it alone.
    pub keyword: bool,
}

impl Tok {
    /// A token as tokenizers make it.
    pub fn new(term: &str, start: u32, end: u32, kind: TokenKind) -> Self {
        Self { term: term.to_owned(), inc: 1, length: 1, start, end, kind, keyword: false }
    }

    /// The same token with another text, at the same position.
    pub fn beside(&self, term: String) -> Self {
        let Self { length, start, end, kind, keyword, .. } = *self;
        Self { term, inc: 0, length, start, end, kind, keyword }
    }
}
