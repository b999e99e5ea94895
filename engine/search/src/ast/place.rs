//! Queries on where words stand: `intervals` and the span queries.

use super::{Fuzziness, Query, Scalar};

/// `intervals`.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// The field.
    pub field: String,
    /// What must stand in it.
    pub rule: Rule,
}

/// A rule of `intervals`, and what narrows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What must stand there.
    pub kind: RuleKind,
    /// How that must lie to something else.
    pub filter: Option<Box<(Lies, Rule)>>,
}

/// How places must lie to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they ask")]
pub enum Lies {
    After,
    Before,
    ContainedBy,
    Containing,
    NotContainedBy,
    NotContaining,
    NotOverlapping,
    Overlapping,
}

/// What must stand there.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleKind {
    /// Words of a text.
    Match {
        /// The text.
        query: String,
        /// Positions between them; absent: any.
        max_gaps: Option<u32>,
        /// In this order.
        ordered: bool,
        /// Analyzer that takes the place of the field's.
        analyzer: Option<String>,
        /// Field whose words are looked at.
        use_field: Option<String>,
    },
    /// Words that begin so, have a shape, that an expression matches, that are near.
    Pattern {
        /// Which words.
        kind: PatternKind,
        /// Analyzer that takes the place of the field's.
        analyzer: Option<String>,
        /// Field whose words are looked at.
        use_field: Option<String>,
    },
    /// All rules.
    AllOf {
        /// The rules.
        rules: Vec<Rule>,
        /// Positions between them; absent: any.
        max_gaps: Option<u32>,
        /// In this order.
        ordered: bool,
    },
    /// One of the rules.
    AnyOf(Vec<Rule>),
}

/// Words that are described.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// By their beginning.
    Prefix(String),
    /// By their shape.
    Wildcard(String),
    /// By an expression.
    Regexp(String, bool),
    /// By how near they are: word, edits, characters that are the same, swaps.
    Fuzzy(String, Fuzziness, u32, bool),
}

/// A span query.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// One term: field, value.
    Term(String, Scalar, f32),
    /// Near each other.
    Near {
        /// The clauses.
        clauses: Vec<Span>,
        /// Positions between them, all together.
        slop: i64,
        /// In this order.
        in_order: bool,
    },
    /// One of several.
    Or(Vec<Span>),
    /// One that does not overlap another, nor comes so near to it.
    Not {
        /// What matches.
        include: Box<Span>,
        /// What must not be there.
        exclude: Box<Span>,
        /// Positions before.
        pre: u32,
        /// Positions after.
        post: u32,
    },
    /// One that ends at or before a position.
    First(Box<Span>, u32),
    /// The big one that holds the little one.
    Containing(Box<Span>, Box<Span>),
    /// The little one that lies within the big one.
    Within(Box<Span>, Box<Span>),
    /// Terms of a query: prefix, wildcard, regexp, fuzzy, range.
    Multi(Box<Query>),
    /// As if it were of another field.
    Masked(Box<Span>, String),
}
