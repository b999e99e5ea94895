//! A query as it was asked: names, not yet terms; no index has been looked at.
//!
//! Always true
//! 1. `boost >= 0` and finite: `dsl` refuses others.
//! 2. Depth is bounded: `dsl` counts it.
//!
//! Not here: reading JSON (`dsl`), meeting an index (`plan`).

use std::sync::Arc;

mod family;
mod names;
mod place;
mod score;
mod script;
mod text;
mod visit;

pub use family::{Family, Found, ParentId, Relation as FamilyRelation};
pub use place::{Intervals, Lies, PatternKind, Rule, RuleKind, Span};
pub use score::{
    Decay, DecayForm, DistanceFeature, Factor, Function, FunctionKind, FunctionScore, GeoPoint,
    GeoShape, GeoWithin, Like, Modifier, MoreLikeThis, MultiValue, Nested, NestedScore, Pinned,
    RankFeature, RankFunction, ScoreMode, TermsLookup, TermsSet,
};
pub use script::{EachScript, Script, ScriptScore, ScriptSource};
pub use text::{
    CombinedFields, Fuzziness, FuzzyOptions, FuzzyTerm, Match, MultiKind, MultiMatch, Operator,
    Phrase, PhrasePrefix, QueryString, Regexp, SimpleQueryString, ZeroTerms,
};

/// One query with what every query may carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// What is asked.
    pub node: Node,
    /// Factor of its score.
    pub boost: f32,
    /// `_name`: told in `matched_queries` of the hits that match.
    pub name: Option<String>,
}

impl Query {
    /// `node` without boost or name.
    pub fn new(node: Node) -> Self {
        Self { node, boost: 1.0, name: None }
    }

    /// All documents.
    pub fn all() -> Self {
        Self::new(Node::MatchAll)
    }
}

impl From<Node> for Query {
    fn from(node: Node) -> Self {
        Self::new(node)
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Every document.
    MatchAll,
    /// No document.
    MatchNone,
    /// Analysed text, joined by an operator.
    Match(Match),
    /// Analysed text, in order.
    Phrase(Phrase),
    /// Analysed text, in order; the last word may go on.
    PhrasePrefix(PhrasePrefix),
    /// Text in several fields.
    MultiMatch(MultiMatch),
    /// Text in several fields that count as one.
    CombinedFields(CombinedFields),
    /// A text in the query language of users.
    QueryString(QueryString),
    /// A text in the query language that forgives.
    SimpleQueryString(SimpleQueryString),
    /// One exact value.
    Term(Term),
    /// One of several exact values.
    Terms(Terms),
    /// One of the values that stand in a document.
    TermsLookup(TermsLookup),
    /// So many of several exact values.
    TermsSet(TermsSet),
    /// Values between two bounds.
    Range(Range),
    /// Documents that have the field.
    Exists(String),
    /// Documents of these ids.
    Ids(Vec<String>),
    /// Clauses joined.
    Bool(Bool),
    /// A filter with a constant score.
    Constant(Box<Query>),
    /// The best of several.
    DisMax(DisMax),
    /// Hits of one, scored down where another matches too.
    Boosting(Boosting),
    /// Terms that begin so.
    Prefix(Pattern),
    /// Terms of this shape: `*` any text, `?` any character.
    Wildcard(Pattern),
    /// Terms that an expression matches.
    Regexp(Regexp),
    /// Terms within so many edits.
    Fuzzy(FuzzyTerm),
    /// Scores changed by functions.
    FunctionScore(Box<FunctionScore>),
    /// Documents for which a script says yes.
    Script(Box<Script>),
    /// Scores that a script makes.
    ScriptScore(Box<ScriptScore>),
    /// Documents inside a document.
    Nested(Box<Nested>),
    /// Documents by the others of their families.
    Family(Box<Family>),
    /// Children of one parent.
    ParentId(ParentId),
    /// A score by the value of a feature.
    RankFeature(RankFeature),
    /// A score by how near a date or place is.
    DistanceFeature(DistanceFeature),
    /// Points inside a shape.
    Geo(GeoWithin),
    /// Documents that share words.
    MoreLikeThis(Box<MoreLikeThis>),
    /// Some documents first, then those of a query.
    Pinned(Pinned),
    /// Words at places that rules describe.
    Intervals(Box<Intervals>),
    /// Words at places, the older way.
    Span(Box<Span>),
}

/// A value given in a query: any scalar of JSON but null.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `true`, `false`.
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// A string.
    String(String),
}

impl Scalar {
    /// As the text that Elasticsearch makes of it.
    pub fn text(&self) -> &str {
        match self {
            Self::Bool(true) => "true",
            Self::Bool(false) => "false",
            Self::Number(text) | Self::String(text) => text,
        }
    }
}

/// `term`.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The field.
    pub field: String,
    /// The value.
    pub value: Scalar,
    /// ASCII letters match either case.
    pub case_insensitive: bool,
}

/// `terms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The field.
    pub field: String,
    /// The values. There may be tens of thousands, which every copy of the query shares.
    pub values: Arc<[Scalar]>,
}

/// One end of a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The value.
    pub value: Scalar,
    /// The value itself belongs to the range.
    pub inclusive: bool,
}

/// How a range field's value must lie to the range asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relation {
    /// They share a value.
    #[default]
    Intersects,
    /// The field's lies inside.
    Within,
    /// The field's holds the whole range.
    Contains,
}

/// `range`.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The field.
    pub field: String,
    /// Lower end; open where absent.
    pub lower: Option<Bound>,
    /// Upper end; open where absent.
    pub upper: Option<Bound>,
    /// Date format that takes the place of the field's.
    pub format: Option<String>,
    /// Zone of dates that name none.
    pub time_zone: Option<String>,
    /// Only for range fields.
    pub relation: Relation,
}

/// `bool`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bool {
    /// All must match; they score.
    pub must: Vec<Query>,
    /// All must match; they do not score.
    pub filter: Vec<Query>,
    /// Some must match; those that do, score.
    pub should: Vec<Query>,
    /// None may match.
    pub must_not: Vec<Query>,
    /// How many of `should`, as it was written.
    pub minimum_should_match: Option<String>,
    /// With nothing but `must_not`, all other documents match; else none does.
    pub adjust_pure_negative: bool,
}

impl Default for Bool {
    fn default() -> Self {
        Self {
            must: Vec::new(),
            filter: Vec::new(),
            should: Vec::new(),
            must_not: Vec::new(),
            minimum_should_match: None,
            adjust_pure_negative: true,
        }
    }
}

/// `dis_max`.
#[derive(Clone, Debug, PartialEq)]
pub struct DisMax {
    /// Of which one must match.
    pub queries: Vec<Query>,
    /// Share of the scores that are not the best.
    pub tie_breaker: f32,
}

/// `boosting`.
#[derive(Clone, Debug, PartialEq)]
pub struct Boosting {
    /// What matches.
    pub positive: Box<Query>,
    /// What is scored down.
    pub negative: Box<Query>,
    /// By this factor.
    pub negative_boost: f32,
}

/// `prefix` and `wildcard`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The field.
    pub field: String,
    /// The beginning or the shape.
    pub value: String,
    /// Letters match either case (ASCII).
    pub case_insensitive: bool,
    /// How its terms are scored.
    pub rewrite: Option<String>,
}
