//! What stands for terms that only a shard knows: they are looked up when a query is weighed.
//!
//! | node        | becomes                                                          |
//! |-------------|------------------------------------------------------------------|
//! | [`Expand`]  | the terms of a pattern, scored by its [`Rewrite`]                |
//! | [`Blended`] | the best of several fields' terms, as common as the commonest    |
//! | [`Combined`]| terms of several fields that count as one                        |

use std::sync::Arc;

use base::FieldNo;

use crate::error::{Error, Result};
use crate::plan::bound::{Pattern, Term};
use automaton::{Dfa, TooComplex, levenshtein};

/// Terms of one place that count as one (`SynonymQuery`).
#[derive(Clone, Debug, PartialEq)]
pub struct Synonym {
    /// The field.
    pub field: FieldNo,
    /// The terms, sorted, each once.
    pub terms: Vec<Box<[u8]>>,
    /// The field keeps lengths.
    pub norms: bool,
}

/// Terms at given places, where some places take several terms.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiPhrase {
    /// The field.
    pub field: FieldNo,
    /// Terms of each place, the first at 0; places rise.
    pub places: Vec<(Vec<Box<[u8]>>, u32)>,
    /// How far terms may stand from their places, all together.
    pub slop: u32,
    /// The field keeps lengths.
    pub norms: bool,
    /// The terms of the last place are beginnings, of which at most so many words are taken.
    pub prefix: Option<u32>,
}

/// How the terms of a pattern are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// All alike.
    Constant,
    /// All alike, and only so many.
    ConstantBoolean,
    /// Each by BM25.
    Scoring,
    /// The best so many, each by BM25.
    Top(u32),
    /// The best so many, each by its factor.
    TopBoost(u32),
    /// The best so many, each by BM25, as if it were as common as the commonest.
    TopBlended(u32),
}

impl Rewrite {
    /// `top_terms_10`.
    ///
    /// # Errors
    /// Where there is no such name.
    pub fn parse(text: Option<&str>, default: Self) -> Result<Self> {
        let Some(text) = text else { return Ok(default) };
        let number = |prefix: &str| {
            let rest = text.strip_prefix(prefix)?;
            rest.parse::<u32>().ok().filter(|count| *count > 0)
        };
        Ok(match text {
            "constant_score" | "constant_score_blended" => Self::Constant,
            "constant_score_boolean" => Self::ConstantBoolean,
            "scoring_boolean" => Self::Scoring,
            _ => number("top_terms_blended_freqs_")
                .map(Self::TopBlended)
                .or_else(|| number("top_terms_boost_").map(Self::TopBoost))
                .or_else(|| number("top_terms_").map(Self::Top))
                .ok_or_else(|| {
                    Error::illegal(format!("Failed to parse rewrite_method [{text}]"))
                })?,
        })
    }

    /// Most terms taken.
    pub const fn most(self) -> Option<u32> {
        match self {
            Self::Top(most) | Self::TopBoost(most) | Self::TopBlended(most) => Some(most),
            Self::Constant | Self::ConstantBoolean | Self::Scoring => None,
        }
    }
}

/// How near a term is to a word.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The word.
    pub word: Vec<char>,
    /// Characters that are the same in all terms.
    pub prefix: usize,
    /// Two swapped neighbours are one edit.
    pub transpositions: bool,
    /// Most edits.
    pub edits: u32,
}

impl Near {
    /// The automaton of the terms that take at most `edits`.
    ///
    /// # Errors
    /// Where the word is far too long.
    pub fn automaton(&self, edits: u32) -> std::result::Result<Dfa, TooComplex> {
        let word: String = self.word.iter().collect();
        levenshtein::automaton(&word, self.prefix, edits, self.transpositions)
    }

    /// The greatest factor of a term that takes so many edits.
    pub fn boost_max(&self, edits: u32) -> f32 {
        self.factor(edits as usize, self.word.len())
    }

    fn factor(&self, edits: usize, len: usize) -> f32 {
        match edits {
            0 => 1.0,
            // All letters changed, or more: nothing is left, and less than nothing is no score.
            edits => (1.0 - edits as f32 / len.min(self.word.len()) as f32).max(0.0),
        }
    }

    /// The factor of a term: less the more edits it takes (`FuzzyTermsEnum`).
    pub fn boost(&self, term: &str) -> f32 {
        let chars: Vec<char> = term.chars().collect();
        let prefix = self.prefix.min(self.word.len()).min(chars.len());
        let edits = levenshtein::distance(
            &self.word[prefix..],
            &chars[prefix..],
            self.transpositions,
            self.edits as usize,
        );
        self.factor(edits, chars.len())
    }
}

/// The terms of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Expand {
    /// The field.
    pub field: FieldNo,
    /// Which terms.
    pub pattern: Arc<Pattern>,
    /// The field keeps lengths.
    pub norms: bool,
    /// How they are scored.
    pub rewrite: Rewrite,
    /// Terms differ in how near they are.
    pub near: Option<Near>,
}

/// The same word in several fields (`BlendedTermQuery`).
#[derive(Clone, Debug, PartialEq)]
pub struct Blended {
    /// Terms with their factors.
    pub terms: Vec<(Term, f32)>,
    /// Share of the scores that are not the best.
    pub tie_breaker: f32,
}

/// A word (or several for one) in several fields that count as one (`CombinedFieldQuery`).
#[derive(Clone, Debug, PartialEq)]
pub struct Combined {
    /// Fields with their factors, and whether they keep lengths.
    pub fields: Vec<(FieldNo, f32, bool)>,
    /// The terms.
    pub terms: Vec<Box<[u8]>>,
}
