//! A query that has met one index: names became field numbers, terms and sortable numbers.
//!
//! Always true
//! 1. Nothing here depends on a shard: statistics come when it is weighed (`weigh`).
//! 2. Boosts are still apart; they multiply on the way down, outermost last, as Lucene's do.
//! 3. What cannot match has become [`Node::None`] and is gone from compounds that it decides.

use base::FieldNo;
use std::sync::Arc;

use automaton::{Dfa, Next};
use mapping::{Field, KeywordFlavor, Kind as Type};

use crate::plan::expand::{Blended, Combined, Expand, MultiPhrase, Synonym};
use crate::plan::function;
use crate::plan::order::Order;
use crate::request::TrackTotal;
use crate::scripted::Bound as Scripted;

/// A request that has met one index.
#[derive(Clone, Debug)]
pub struct Bound {
    /// What to find, narrowed by `post_filter`; documents that the caller may not see are out.
    pub query: Clause,
    /// How hits are ordered; slices share it.
    pub order: Arc<Order>,
    /// Hits that a shard must bring.
    pub window: usize,
    /// Clauses of all queries, and words that documents are compared by; terms of patterns left out.
    pub clauses: usize,
    /// How far to count.
    pub total: TrackTotal,
    /// Hits below this score do not count.
    pub min_score: Option<f32>,
    /// Documents a shard collects at most; 0: all.
    pub terminate_after: u32,
    /// Scores are needed.
    pub scores: bool,
    /// Queries with a name, each as a filter.
    pub named: Vec<(String, Clause)>,
    /// Their scores are wanted.
    pub named_scores: bool,
    /// How fields score that do not score by the usual BM25.
    pub similarities: base::hash::Map<FieldNo, mapping::Similarity>,
    /// Which documents inside count for keys of the order.
    pub sort_filters: Vec<Clause>,
    /// Documents that the caller may see, where scripts are not to run on others.
    pub guard: Option<Clause>,
    /// Documents that the caller may see, where terms are gathered: those that no such document holds do not
    /// count. Where the query is narrowed to them, by clones of this.
    pub seen: Option<Clause>,
    /// Aggregations; absent where none was asked for.
    pub aggs: Option<Arc<crate::aggs::bound::BoundAggs>>,
}

/// A node and the factor of its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// What must hold.
    pub node: Node,
    /// Factor of the score.
    pub boost: f32,
}

impl Clause {
    /// `node`, without factor.
    pub fn new(node: Node) -> Self {
        Self { node, boost: 1.0 }
    }

    /// No document.
    pub fn none() -> Self {
        Self::new(Node::None)
    }

    /// Matches nothing.
    pub fn is_none(&self) -> bool {
        self.node == Node::None
    }
}

impl From<Node> for Clause {
    fn from(node: Node) -> Self {
        Self::new(node)
    }
}

/// What must hold of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Nothing: every document matches, with a constant score.
    All,
    /// No document matches.
    None,
    /// One term, scored by BM25.
    Term(Term),
    /// Terms at given places, scored by BM25.
    Phrase(Phrase),
    /// Terms of one place that count as one.
    Synonym(Synonym),
    /// Terms at given places, several for some.
    MultiPhrase(Arc<MultiPhrase>),
    /// Terms that only a shard knows.
    Expand(Arc<Expand>),
    /// The same word in several fields, the best counts.
    Blended(Blended),
    /// Words of several fields that count as one.
    Combined(Arc<Combined>),
    /// One of these terms, sorted, each once; constant score.
    Terms {
        /// The field.
        field: FieldNo,
        /// Where it is found.
        access: Access,
        /// The terms; shards share them.
        terms: Arc<[Box<[u8]>]>,
    },
    /// A term that this describes; constant score.
    Pattern {
        /// The field.
        field: FieldNo,
        /// Where it is found.
        access: Access,
        /// Which terms.
        pattern: Arc<Pattern>,
    },
    /// A number in one of these ranges, which are sorted and apart; constant score.
    Numbers(Numbers),
    /// A point of two dimensions between two corners, both included; constant score.
    Box {
        /// The field.
        field: FieldNo,
        /// The least of each dimension.
        low: Box<[u8]>,
        /// The greatest of each dimension.
        high: Box<[u8]>,
    },
    /// A boolean, scored by BM25 as the term that it is in Elasticsearch.
    Flag {
        /// The field.
        field: FieldNo,
        /// 0 or 1.
        value: i64,
    },
    /// The field is there, in one of these ways; constant score.
    Exists(Vec<Presence>),
    /// One of these ids, sorted, each once; constant score.
    Ids(Arc<[Box<[u8]>]>),
    /// Scores changed by functions.
    Function(Arc<function::FunctionScore>),
    /// A score by the value of a feature.
    Feature(function::Feature),
    /// A score by how near a value is.
    Near(function::Near),
    /// Places inside a shape; constant score.
    Inside {
        /// The field.
        field: FieldNo,
        /// Where it is found.
        access: Access,
        /// The shape.
        shape: Arc<function::Shape>,
    },
    /// So many of some clauses.
    Covering {
        /// The clauses.
        clauses: Vec<Clause>,
        /// A field that says how many.
        minimum: Option<FieldNo>,
        /// How many, where no field does.
        fixed: u64,
        /// A script that says how many.
        script: Option<Arc<Scripted>>,
    },
    /// Documents for which a script says yes; constant score.
    Script(Arc<Scripted>),
    /// Scores that a script makes.
    ScriptScore(Arc<ScriptScore>),
    /// Parents of documents inside.
    Nested(Arc<Nested>),
    /// Documents that share words with others.
    Alike(Arc<Alike>),
    /// Words at places that rules describe.
    Places(Arc<crate::plan::places::Places>),
    /// Clauses joined.
    Bool(Bool),
    /// A filter; constant score.
    Constant(Box<Clause>),
    /// The best of several, and a share of the others.
    DisMax {
        /// Of which one must match.
        clauses: Vec<Clause>,
        /// Share of the scores that are not the best.
        tie_breaker: f32,
    },
    /// The first's documents, scored down where the second matches too.
    Boosting {
        /// What matches.
        positive: Box<Clause>,
        /// What is scored down.
        negative: Box<Clause>,
        /// By this factor.
        negative_boost: f32,
    },
}

impl Node {
    /// Are scores of others put together here, so that candidates of a window are kept meanwhile?
    pub fn combines_scores(&self) -> bool {
        match self {
            Self::Bool(bool) => bool.must.len() + bool.should.len() > 1,
            Self::Boosting { .. }
            | Self::Function(_)
            | Self::Covering { .. }
            | Self::ScriptScore(_)
            | Self::Nested(_) => true,
            _ => false,
        }
    }

    /// Calls `each` for the clauses right below.
    pub fn for_each_clause<'a>(&'a self, each: &mut dyn FnMut(&'a Clause)) {
        match self {
            Self::Bool(bool) => {
                let all = [&bool.must, &bool.filter, &bool.should, &bool.must_not];
                all.into_iter().flatten().for_each(each);
            }
            Self::Constant(filter) => each(filter),
            Self::DisMax { clauses, .. } => clauses.iter().for_each(each),
            Self::Boosting { positive, negative, .. } => {
                each(positive);
                each(negative);
            }
            Self::Function(function) => {
                each(&function.query);
                function.parts.iter().filter_map(|part| part.filter.as_ref()).for_each(each);
            }
            Self::Covering { clauses, .. } => clauses.iter().for_each(each),
            Self::ScriptScore(score) => each(&score.query),
            Self::Nested(nested) => each(&nested.children),
            _ => {}
        }
    }
}

/// Scores that a script makes.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptScore {
    /// What matches.
    pub query: Clause,
    /// What it scores.
    pub script: Arc<Scripted>,
    /// Documents below do not match.
    pub min_score: Option<f32>,
}

/// Parents of documents inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested {
    /// Path of the documents inside.
    pub path: Arc<str>,
    /// Path of their parents; absent: documents that stand for themselves.
    pub parent: Option<Arc<str>>,
    /// What the documents inside must match.
    pub children: Clause,
    /// How their scores are joined.
    pub mode: crate::ast::NestedScore,
}

/// Words of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct AlikeWords {
    /// The field, and whether it keeps lengths.
    pub field: (FieldNo, bool),
    /// Others in which each word is looked for, too, where it came from no field of theirs: the one counts that has it
    /// in most documents.
    pub others: Vec<(FieldNo, bool)>,
    /// Each word, with how often it occurs.
    pub words: Vec<(Box<[u8]>, u32)>,
}

/// Documents that share words with others (`MoreLikeThis`).
#[derive(Clone, Debug, PartialEq)]
pub struct Alike {
    /// Groups of words are queries of their own, of which one must match.
    pub groups: Vec<Vec<AlikeWords>>,
    /// Words of each field that are taken, the best first.
    pub most_terms: usize,
    /// Words are chosen by how many documents hold them. Not so for a caller who does not see all of those:
    /// then every word counts, whatever the bounds say, the oftener it stands in what is compared the better.
    pub counted: bool,
    /// Words of fewer documents do not count.
    pub least_docs: u64,
    /// Words of more documents do not count.
    pub most_docs: u64,
    /// Factor by which words are boosted; 0: not at all.
    pub boost: f32,
    /// How many must match, as it was written.
    pub minimum: String,
}

/// Where a field's values are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// It has terms or points.
    pub index: bool,
    /// It has a column.
    pub column: bool,
}

/// One term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The field.
    pub field: FieldNo,
    /// The term.
    pub term: Box<[u8]>,
    /// The field keeps lengths.
    pub norms: bool,
}

/// Terms at given places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// The field.
    pub field: FieldNo,
    /// Terms with their places, the first at 0, in the order of their places.
    pub terms: Vec<(Box<[u8]>, u32)>,
    /// How far terms may stand from their places, all together.
    pub slop: u32,
    /// The field keeps lengths.
    pub norms: bool,
}

/// Ranges of sortable numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The field.
    pub field: FieldNo,
    /// Where it is found.
    pub access: Access,
    /// From the first to the second, both included; sorted, apart from each other.
    pub ranges: Vec<(i64, i64)>,
}

/// One way in which a field can be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// A column of numbers.
    Numeric(FieldNo),
    /// A column of terms.
    Ordinals(FieldNo),
    /// A length.
    Norms(FieldNo),
    /// Its number among `_field_names`.
    FieldNames(FieldNo),
}

/// Which terms of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Those that begin so.
    Prefix {
        /// The beginning.
        prefix: Box<[u8]>,
        /// ASCII letters match either case.
        case_insensitive: bool,
    },
    /// Those of this shape.
    Wildcard(base::wildcard::Wildcard),
    /// Those that an automaton matches.
    Automaton {
        /// What matches.
        dfa: Dfa,
        /// What all of them begin with.
        prefix: String,
    },
    /// Those between two ends; `true` includes the end.
    Range {
        /// Lower end.
        lower: Option<(Box<[u8]>, bool)>,
        /// Upper end.
        upper: Option<(Box<[u8]>, bool)>,
    },
    /// Those of versions whose text this matches: their terms sort otherwise than their texts.
    Version(Box<Self>),
}

impl Pattern {
    /// A pattern of texts as one of the terms of a field.
    pub fn of_texts(self, field: &Field) -> Self {
        match &field.kind {
            Type::Keyword(keyword) if keyword.flavor == KeywordFlavor::Version => {
                Self::Version(Box::new(self))
            }
            _ => self,
        }
    }

    /// The terms of an automaton.
    pub fn of_automaton(dfa: Dfa) -> Self {
        let prefix = dfa.prefix();
        Self::Automaton { dfa, prefix }
    }

    /// What a term of the dictionary means for a walk through it.
    pub fn look(&self, term: &[u8]) -> Next {
        match self {
            Self::Automaton { dfa, .. } => dfa.next(term),
            _ if self.is_past(term) => Next::End,
            _ if self.matches(term) => Next::Match,
            _ => Next::Step,
        }
    }
}

/// Clauses joined. Holds at least one clause, and one of `must`, `filter`, `should`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bool {
    /// All match; they score.
    pub must: Vec<Clause>,
    /// All match; they do not score.
    pub filter: Vec<Clause>,
    /// Some match; those that do, score.
    pub should: Vec<Clause>,
    /// None matches.
    pub must_not: Vec<Clause>,
    /// How many of `should`; 0 also where at least one must match because nothing else does.
    pub minimum: usize,
}

impl Bool {
    /// The optional clauses that have a say in which documents match: none beside something required, unless so
    /// many of them must. Of other kinds than plain ones all stay: to meet a shard may show that they ask for too
    /// much.
    pub fn deciding(&self) -> &[Clause] {
        let is_plain = |clause: &Clause| {
            let node = &clause.node;
            matches!(node, Node::Term(_) | Node::Phrase(_) | Node::Synonym(_) | Node::Numbers(_))
        };
        let is_required = self.must.len() + self.filter.len() > 0;
        match is_required && self.minimum == 0 && self.should.iter().all(is_plain) {
            true => &[],
            false => &self.should,
        }
    }
}
