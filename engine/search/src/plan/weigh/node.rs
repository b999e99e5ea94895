//! What must hold of a document, with the weights of a shard.

use std::sync::Arc;

use base::FieldNo;
use segment::{Live, TermInfo};

use crate::ast::NestedScore;
use crate::iter::function::Trouble;
use crate::iter::term::Weight;
use crate::kept::Docs;
use crate::plan::bound::{Access, Numbers, Pattern, Phrase, Presence};
use crate::plan::expand::{Combined, MultiPhrase};
use crate::plan::function::{FunctionScore, Near, RankForm, Shape};
use crate::plan::places::Places;
use crate::scripted::Site;

/// What must hold of a document, with weights. Postings stand by segment of the view.
pub enum Node {
    /// Every document.
    All {
        /// Score of each.
        score: f32,
    },
    /// No document.
    None,
    /// One term.
    Term {
        /// The field.
        field: FieldNo,
        /// The term.
        term: Box<[u8]>,
        /// Its postings, by segment.
        infos: Vec<Option<TermInfo>>,
        /// What it scores; absent in a filter.
        weight: Option<Weight>,
    },
    /// Terms at given places.
    Phrase {
        /// The terms.
        phrase: Arc<Phrase>,
        /// Postings of all terms, by segment; `None` where one is missing.
        infos: Vec<Option<Vec<TermInfo>>>,
        /// What it scores; absent in a filter.
        weight: Option<Weight>,
    },
    /// Terms of one place that count as one.
    Synonym {
        /// The field.
        field: FieldNo,
        /// Postings of those there are, by segment.
        infos: Vec<Vec<TermInfo>>,
        /// What they score; absent in a filter.
        weight: Option<Weight>,
    },
    /// Terms at given places, several for some.
    MultiPhrase {
        /// The terms.
        phrase: Arc<MultiPhrase>,
        /// Postings of each place's terms, by segment.
        infos: Vec<Vec<Vec<TermInfo>>>,
        /// What it scores; absent in a filter.
        weight: Option<Weight>,
    },
    /// Terms of several fields that count as one.
    Combined {
        /// Fields and terms.
        combined: Arc<Combined>,
        /// Postings by segment: which of the fields, and the term's.
        infos: Vec<Vec<(usize, TermInfo)>>,
        /// What they score; absent in a filter.
        weight: Option<Weight>,
    },
    /// Scores changed by functions.
    Function {
        /// What matches.
        query: Box<Node>,
        /// What it came from.
        function: Arc<FunctionScore>,
        /// The functions' filters.
        filters: Vec<Option<Node>>,
        /// Scripts of the functions.
        sites: Vec<Option<Site>>,
        /// Documents that are alive, by segment.
        lives: Arc<[Option<Arc<Live>>]>,
        /// Where faults are told.
        trouble: Trouble,
    },
    /// Documents for which a script says yes.
    Script {
        /// The script.
        site: Site,
        /// Score of each document.
        score: f32,
    },
    /// Scores that a script makes.
    ScriptScore {
        /// What matches.
        query: Box<Node>,
        /// The script.
        site: Site,
        /// Documents below do not match.
        min_score: Option<f32>,
        /// Factor of the score.
        boost: f32,
    },
    /// A score by the value of a feature.
    Feature {
        /// The field.
        field: FieldNo,
        /// Its postings, by segment.
        infos: Vec<Option<TermInfo>>,
        /// What becomes of the value.
        form: RankForm,
        /// Factor of the score.
        score: f32,
    },
    /// A score by how near a value is.
    Near {
        /// Field, origin, pivot.
        near: Near,
        /// Factor of the score.
        score: f32,
    },
    /// Places inside a shape.
    Inside {
        /// The field.
        field: FieldNo,
        /// Where it is found.
        access: Access,
        /// The shape.
        shape: Arc<Shape>,
        /// Score of each document.
        score: f32,
    },
    /// Words at places that rules describe.
    Places {
        /// The words and the rules.
        places: Arc<Places>,
        /// Postings of each word's terms, by segment.
        infos: Vec<Vec<Vec<TermInfo>>>,
        /// What spans score.
        weight: Option<Weight>,
        /// Factor of what intervals score.
        score: f32,
    },
    /// So many of some clauses.
    Covering {
        /// The clauses.
        clauses: Vec<Node>,
        /// A field that says how many.
        minimum: Option<FieldNo>,
        /// How many, where no field does.
        fixed: u64,
        /// A script that says how many.
        site: Option<Site>,
    },
    /// Parents of documents inside.
    Nested {
        /// What the documents inside must match.
        children: Box<Node>,
        /// The path of the parents, by segment; absent: documents that stand for themselves.
        parents: Option<Vec<Option<TermInfo>>>,
        /// How scores are joined.
        mode: NestedScore,
        /// Factor of the scores.
        boost: f32,
    },
    /// One of few terms.
    FewTerms {
        /// The field.
        field: FieldNo,
        /// Postings of those there are, by segment.
        infos: Vec<Vec<TermInfo>>,
        /// Score of each document.
        score: f32,
    },
    /// One of many terms, or of terms of a column.
    Terms {
        /// The field.
        field: FieldNo,
        /// Where it is found.
        access: Access,
        /// The terms, sorted.
        terms: Arc<[Box<[u8]>]>,
        /// Score of each document.
        score: f32,
    },
    /// A term that this describes.
    Pattern {
        /// The field.
        field: FieldNo,
        /// Where it is found.
        access: Access,
        /// Which terms.
        pattern: Arc<Pattern>,
        /// Score of each document.
        score: f32,
    },
    /// A number in ranges.
    Numbers {
        /// The ranges.
        numbers: Arc<Numbers>,
        /// Score of each document.
        score: f32,
    },
    /// A point of two dimensions.
    Box {
        /// The field.
        field: FieldNo,
        /// The least of each dimension.
        low: Arc<[u8]>,
        /// The greatest of each dimension.
        high: Arc<[u8]>,
        /// Score of each document.
        score: f32,
    },
    /// A rule whose documents were found before.
    Kept {
        /// The rule.
        inner: Box<Node>,
        /// Its documents, by segment; absent: they are looked for.
        docs: Vec<Option<Arc<Docs>>>,
    },
    /// The field is there.
    Exists {
        /// In one of these ways, with the postings of `_field_names` by segment.
        ways: Vec<(Presence, Vec<Option<TermInfo>>)>,
        /// Score of each document.
        score: f32,
    },
    /// One of these ids.
    Ids {
        /// The ids, sorted.
        ids: Arc<[Box<[u8]>]>,
        /// Score of each document.
        score: f32,
    },
    /// Clauses joined.
    Bool {
        /// All match; they score.
        must: Vec<Node>,
        /// All match; they do not score.
        filter: Vec<Node>,
        /// Some match.
        should: Vec<Node>,
        /// None matches.
        must_not: Vec<Node>,
        /// How many of `should`.
        minimum: usize,
    },
    /// A filter with a constant score.
    Constant {
        /// The filter.
        filter: Box<Node>,
        /// Score of each document.
        score: f32,
    },
    /// The best of several.
    DisMax {
        /// Of which one must match.
        clauses: Vec<Node>,
        /// Share of the scores that are not the best.
        tie_breaker: f32,
    },
    /// Scored down.
    Boosting {
        /// What matches.
        positive: Box<Node>,
        /// What is scored down.
        negative: Box<Node>,
        /// By this factor.
        negative_boost: f32,
        /// Factor of all scores.
        boost: f32,
    },
}
