//! Queries on text.

use super::Scalar;

/// How the words of a text are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// All of them.
    And,
    /// One of them.
    #[default]
    Or,
}

/// What matches where the analyzer leaves no word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZeroTerms {
    /// Nothing.
    #[default]
    None,
    /// Everything.
    All,
}

/// How many edits a word may differ by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fuzziness {
    /// So many.
    Edits(u32),
    /// By length: none below the first number of characters, one below the second, else two.
    Auto(u32, u32),
}

impl Fuzziness {
    /// `AUTO`.
    pub const AUTO: Self = Self::Auto(3, 6);

    /// Edits for a word.
    pub fn edits(self, word: &str) -> u32 {
        match self {
            Self::Edits(edits) => edits.min(2),
            Self::Auto(low, high) => {
                let len = word.chars().count() as u32;
                u32::from(len >= low) + u32::from(len >= high)
            }
        }
    }
}

/// How words are expanded to those near them.
#[derive(Clone, Debug, PartialEq)]
pub struct FuzzyOptions {
    /// By how many edits; absent: not at all.
    pub fuzziness: Option<Fuzziness>,
    /// Characters at the beginning that must be the same.
    pub prefix_length: u32,
    /// Words taken, the nearest first.
    pub max_expansions: u32,
    /// Two swapped neighbours are one edit.
    pub transpositions: bool,
    /// How the words are scored.
    pub rewrite: Option<String>,
}

impl Default for FuzzyOptions {
    fn default() -> Self {
        Self {
            fuzziness: None,
            prefix_length: 0,
            max_expansions: 50,
            transpositions: true,
            rewrite: None,
        }
    }
}

/// `match`, `match_bool_prefix`.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The field.
    pub field: String,
    /// The text or value.
    pub query: Scalar,
    /// How words are joined.
    pub operator: Operator,
    /// How many must match, as it was written.
    pub minimum_should_match: Option<String>,
    /// Analyzer that takes the place of the field's.
    pub analyzer: Option<String>,
    /// A value of the wrong type matches nothing.
    pub lenient: bool,
    /// What no word matches.
    pub zero_terms: ZeroTerms,
    /// Words near those asked for match too.
    pub fuzzy: FuzzyOptions,
    /// Synonyms of several words are phrases.
    pub synonym_phrases: bool,
    /// The last word may go on.
    pub prefix: bool,
}

impl Match {
    /// With nothing but a field and its text.
    pub fn new(field: impl Into<String>, query: Scalar) -> Self {
        Self {
            field: field.into(),
            query,
            operator: Operator::Or,
            minimum_should_match: None,
            analyzer: None,
            lenient: false,
            zero_terms: ZeroTerms::None,
            fuzzy: FuzzyOptions::default(),
            synonym_phrases: true,
            prefix: false,
        }
    }
}

/// `match_phrase`.
#[derive(Clone, Debug, PartialEq)]
pub struct Phrase {
    /// The field.
    pub field: String,
    /// The text or value.
    pub query: Scalar,
    /// How far words may stand from their places, all together.
    pub slop: u32,
    /// Analyzer that takes the place of the field's.
    pub analyzer: Option<String>,
    /// What no word matches.
    pub zero_terms: ZeroTerms,
}

/// `match_phrase_prefix`.
#[derive(Clone, Debug, PartialEq)]
pub struct PhrasePrefix {
    /// The phrase.
    pub phrase: Phrase,
    /// Words that the last one may be.
    pub max_expansions: u32,
}

/// How several fields are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MultiKind {
    /// The best field counts.
    #[default]
    BestFields,
    /// All fields count.
    MostFields,
    /// Each word in any field.
    CrossFields,
    /// Phrases, the best counts.
    Phrase,
    /// Phrases whose last word may go on, the best counts.
    PhrasePrefix,
    /// Words whose last may go on; all fields count.
    BoolPrefix,
}

impl MultiKind {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BestFields => "best_fields",
            Self::MostFields => "most_fields",
            Self::CrossFields => "cross_fields",
            Self::Phrase => "phrase",
            Self::PhrasePrefix => "phrase_prefix",
            Self::BoolPrefix => "bool_prefix",
        }
    }

    /// Share of the scores of fields that are not the best.
    pub const fn tie_breaker(self) -> f32 {
        match self {
            Self::MostFields | Self::BoolPrefix => 1.0,
            Self::BestFields | Self::CrossFields | Self::Phrase | Self::PhrasePrefix => 0.0,
        }
    }
}

/// `multi_match`.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiMatch {
    /// Fields or patterns of them, with their factors; empty: `index.query.default_field`.
    pub fields: Vec<(String, f32)>,
    /// The text or value.
    pub query: Scalar,
    /// How fields are joined.
    pub kind: MultiKind,
    /// How words are joined.
    pub operator: Operator,
    /// How many must match, as it was written.
    pub minimum_should_match: Option<String>,
    /// Analyzer that takes the place of the fields'.
    pub analyzer: Option<String>,
    /// A value of the wrong type matches nothing.
    pub lenient: Option<bool>,
    /// What no word matches.
    pub zero_terms: ZeroTerms,
    /// Share of the scores that are not the best.
    pub tie_breaker: Option<f32>,
    /// How far words of a phrase may stand from their places.
    pub slop: u32,
    /// Words near those asked for match too.
    pub fuzzy: FuzzyOptions,
    /// Synonyms of several words are phrases.
    pub synonym_phrases: bool,
}

/// `combined_fields`.
#[derive(Clone, Debug, PartialEq)]
pub struct CombinedFields {
    /// Fields or patterns of them, with their factors.
    pub fields: Vec<(String, f32)>,
    /// The text.
    pub query: Scalar,
    /// How words are joined.
    pub operator: Operator,
    /// How many must match, as it was written.
    pub minimum_should_match: Option<String>,
    /// What no word matches.
    pub zero_terms: ZeroTerms,
    /// Synonyms of several words are phrases.
    pub synonym_phrases: bool,
}

/// `query_string`.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryString {
    /// The text.
    pub query: String,
    /// Field of words that name none.
    pub default_field: Option<String>,
    /// Fields of words that name none.
    pub fields: Vec<(String, f32)>,
    /// How clauses without operator are joined.
    pub operator: Operator,
    /// How fields are joined.
    pub kind: MultiKind,
    /// Share of the scores that are not the best.
    pub tie_breaker: Option<f32>,
    /// Analyzer that takes the place of the fields'.
    pub analyzer: Option<String>,
    /// The same, of phrases.
    pub quote_analyzer: Option<String>,
    /// Put behind the names of fields for phrases.
    pub quote_field_suffix: Option<String>,
    /// `*` and `?` may stand first.
    pub allow_leading_wildcard: bool,
    /// Words with wildcards are analysed.
    pub analyze_wildcard: bool,
    /// Edits of `word~`.
    pub fuzziness: Fuzziness,
    /// How such words are expanded.
    pub fuzzy: FuzzyOptions,
    /// Slop of phrases that name none.
    pub phrase_slop: u32,
    /// Zone of dates that name none.
    pub time_zone: Option<String>,
    /// A value of the wrong type matches nothing.
    pub lenient: Option<bool>,
    /// Nothing but words: all operators are escaped.
    pub escape: bool,
    /// Work allowed for one expression.
    pub max_determinized_states: usize,
    /// How many must match, as it was written.
    pub minimum_should_match: Option<String>,
    /// How terms of patterns are scored.
    pub rewrite: Option<String>,
    /// Synonyms of several words are phrases.
    pub synonym_phrases: bool,
}

impl QueryString {
    /// With nothing but its text.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            default_field: None,
            fields: Vec::new(),
            operator: Operator::Or,
            kind: MultiKind::BestFields,
            tie_breaker: None,
            analyzer: None,
            quote_analyzer: None,
            quote_field_suffix: None,
            allow_leading_wildcard: true,
            analyze_wildcard: false,
            fuzziness: Fuzziness::AUTO,
            fuzzy: FuzzyOptions::default(),
            phrase_slop: 0,
            time_zone: None,
            lenient: None,
            escape: false,
            max_determinized_states: 10_000,
            minimum_should_match: None,
            rewrite: None,
            synonym_phrases: true,
        }
    }
}

/// `simple_query_string`.
#[derive(Clone, Debug, PartialEq)]
pub struct SimpleQueryString {
    /// The text.
    pub query: String,
    /// Fields or patterns of them, with their factors; empty: `index.query.default_field`.
    pub fields: Vec<(String, f32)>,
    /// How clauses without operator are joined.
    pub operator: Operator,
    /// Which operators there are.
    pub flags: u32,
    /// Analyzer that takes the place of the fields'.
    pub analyzer: Option<String>,
    /// Put behind the names of fields for phrases.
    pub quote_field_suffix: Option<String>,
    /// Words with wildcards are analysed.
    pub analyze_wildcard: bool,
    /// A value of the wrong type matches nothing.
    pub lenient: Option<bool>,
    /// How `word~` is expanded.
    pub fuzzy: FuzzyOptions,
    /// How many must match, as it was written.
    pub minimum_should_match: Option<String>,
    /// Synonyms of several words are phrases.
    pub synonym_phrases: bool,
}

/// `regexp`.
#[derive(Clone, Debug, PartialEq)]
pub struct Regexp {
    /// The field.
    pub field: String,
    /// The expression.
    pub value: String,
    /// Which operators there are.
    pub flags: u32,
    /// Letters match either case (ASCII).
    pub case_insensitive: bool,
    /// Work allowed.
    pub max_determinized_states: usize,
    /// How its terms are scored.
    pub rewrite: Option<String>,
}

/// `fuzzy`.
#[derive(Clone, Debug, PartialEq)]
pub struct FuzzyTerm {
    /// The field.
    pub field: String,
    /// The word.
    pub value: Scalar,
    /// How near.
    pub options: FuzzyOptions,
    /// Why no such words can be looked for; told where the field is known.
    pub flaw: Option<&'static str>,
}
