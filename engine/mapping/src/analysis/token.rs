//! One token, as the chain hands it on.

/// What a tokenizer says a token is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TokenKind {
    /// `word`: from every tokenizer but the standard one.
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
}

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
        }
    }
}

/// One token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Its text.
    pub term: &'a str,
    /// Its position, from 0; several tokens may share one.
    pub position: u32,
    /// Where it starts in the original text, in UTF-16 units.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// What the tokenizer says it is.
    pub kind: TokenKind,
}
