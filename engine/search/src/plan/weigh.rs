//! A query that has met its index meets a shard: statistics become weights, terms find their
//! postings.
//!
//! Counts are the shard's, over all segments of its view, deleted documents included; so every
//! slice of a shard scores alike, and scores of two shards may differ a little, as in
//! Elasticsearch's `query_then_fetch`.

mod flag;
mod gathers;
mod node;

use std::sync::Arc;

use base::FieldNo;
use base::hash::Map;
use mapping::Similarity;
use segment::bkd::{Bounds, DocBits};
use segment::{BlockCache, Live, Missing, View};

use crate::ast::NestedScore;
use crate::iter::function::Trouble;
use crate::plan::bound::{self, Access, Bound, Clause, Numbers, Phrase, Presence};
use crate::plan::function::Compute;
use crate::plan::gather::{Gather, Gathered};
use crate::score::bm25::{self, FieldStats, NO_NORM};
use crate::score::model::TermCount;
use crate::scripted::{Bound as Scripted, Site};

pub use node::Node;

/// Terms up to this number are looked up one by one and stay apart.
pub const TERMS_APART_MAX: usize = 16;

/// Terms of a dictionary looked at between two looks at what is missing.
const GATHER_STEP: usize = 4096;

/// A query with the weights of one shard.
pub struct Plan {
    /// What it came from.
    pub bound: Arc<Bound>,
    /// The segments it is for.
    pub view: Arc<View>,
    /// The query.
    pub root: Node,
    /// Queries with a name.
    pub named: Vec<(String, Node)>,
    /// Which documents inside count for keys of the order.
    pub sort_filters: Vec<Node>,
    /// What aggregations look for; absent where none was asked for.
    pub aggs: Option<AggNodes>,
    /// The first fault that a function met while it ran.
    pub trouble: Trouble,
    /// Terms and columns that are looked into, in each segment; words at places count thrice.
    pub lookups: usize,
    /// What sets of documents take that are gathered, in the segment where that is most.
    pub gathered_bytes: usize,
    /// What it holds on the heap beside what it came from, where whoever made it has measured that.
    pub held_bytes: usize,
}

/// What aggregations look for.
pub struct AggNodes {
    /// Filters, by number.
    pub filters: Vec<Node>,
    /// What the query finds, where the hits are narrowed further.
    pub query: Option<Node>,
    /// All documents that may be seen, where some aggregation is over all.
    pub all: Option<Node>,
}

/// Meets a bound query with a shard. `None`: blocks are missing; bring them and call again.
///
/// # Errors
/// Where a segment is damaged.
pub fn weigh(
    bound: &Arc<Bound>,
    view: &Arc<View>,
    cache: &mut BlockCache,
    missing: &mut Missing,
) -> segment::Result<Option<Arc<Plan>>> {
    weigh_among(bound, view, cache, missing, Among::Alone, None)
}

/// Counts of several shards together, by the fields' numbers in one index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Of fields.
    pub fields: Map<FieldNo, FieldStats>,
    /// How common terms are.
    pub terms: Map<(FieldNo, Box<[u8]>), TermCount>,
}

/// Whose counts decide (`dfs_query_then_fetch`).
pub enum Among<'a> {
    /// The shard's own.
    Alone,
    /// The shard's own, and they are told.
    Tell(&'a mut Statistics),
    /// These.
    Given(&'a Statistics),
}

/// As [`weigh`], with the counts of other shards, and the terms of patterns where they were gathered
/// before.
///
/// # Errors
/// Where a segment is damaged.
pub fn weigh_among(
    bound: &Arc<Bound>,
    view: &Arc<View>,
    cache: &mut BlockCache,
    missing: &mut Missing,
    among: Among<'_>,
    gathered: Option<&Gathered>,
) -> segment::Result<Option<Arc<Plan>>> {
    let own;
    let mut excess = None;
    let gathered = match gathered {
        Some(gathered) => gathered,
        None => {
            let mut gather = Gather::new(bound, view);
            while !gather.step(view, cache, missing, GATHER_STEP)? {
                if !missing.is_empty() {
                    return Ok(None);
                }
            }
            excess = gather.trouble();
            own = gather.finish();
            &own
        }
    };
    let mut weigher = Weigher::new(bound, view, cache, missing, gathered, among);
    if let Some(error) = excess {
        // It is the first.
        let _ = weigher.trouble.set(error);
    }
    if let Some(guard) = &bound.guard {
        weigher.guard = Some(Arc::new(weigher.node(guard, 1.0, false)?));
    }
    let scored = bound.scores || bound.aggs.as_ref().is_some_and(|aggs| aggs.scores);
    let root = weigher.node(&bound.query, 1.0, scored)?;
    let mut named = Vec::with_capacity(bound.named.len());
    for (name, clause) in &bound.named {
        named.push((name.clone(), weigher.node(clause, 1.0, bound.named_scores)?));
    }
    let mut sort_filters = Vec::with_capacity(bound.sort_filters.len());
    for clause in &bound.sort_filters {
        sort_filters.push(weigher.node(clause, 1.0, false)?);
    }
    let aggs = match &bound.aggs {
        None => None,
        Some(aggs) => {
            let mut filters = Vec::with_capacity(aggs.filters.len());
            for clause in &aggs.filters {
                filters.push(weigher.node(clause, 1.0, false)?);
            }
            let mut one = |clause: &Option<Clause>, scored| {
                clause.as_ref().map(|clause| weigher.node(clause, 1.0, scored)).transpose()
            };
            let query = one(&aggs.query, aggs.scores || bound.min_score.is_some())?;
            let all = one(&aggs.all, false)?;
            Some(AggNodes { filters, query, all })
        }
    };
    let gathered_bytes = weigher.gathered_bytes.iter().copied().max().unwrap_or(0);
    let (trouble, lookups) = (weigher.trouble, weigher.lookups);
    if !missing.is_empty() {
        return Ok(None);
    }
    let (bound, view) = (Arc::clone(bound), Arc::clone(view));
    Ok(Some(Arc::new(Plan {
        bound,
        view,
        root,
        named,
        sort_filters,
        aggs,
        trouble,
        lookups,
        gathered_bytes,
        held_bytes: 0,
    })))
}

/// The rule of which documents may be seen meets a shard. `None`: blocks are missing.
pub(super) fn seen(
    bound: &Bound,
    view: &View,
    cache: &mut BlockCache,
    missing: &mut Missing,
    gathered: &Gathered,
) -> segment::Result<Option<Node>> {
    let Some(rule) = &bound.seen else { return Ok(Some(Node::All { score: 1.0 })) };
    let mut weigher = Weigher::new(bound, view, cache, missing, gathered, Among::Alone);
    let node = weigher.node(rule, 1.0, false)?;
    Ok(missing.is_empty().then_some(node))
}

pub(super) struct Weigher<'a> {
    pub(super) view: &'a View,
    /// Terms of patterns.
    pub(super) gathered: &'a Gathered,
    pub(super) trouble: Trouble,
    pub(super) among: Among<'a>,
    pub(super) cache: &'a mut BlockCache,
    pub(super) missing: &'a mut Missing,
    pub(super) stats: Map<FieldNo, FieldStats>,
    pub(super) inverses: Map<(u32, (u32, u32)), Arc<bm25::Inverses>>,
    pub(super) similarities: &'a Map<FieldNo, Similarity>,
    /// Documents that the caller may see; scripts run on no others.
    guard: Option<Arc<Node>>,
    /// Documents that are alive, by segment.
    lives: Arc<[Option<Arc<Live>>]>,
    /// Of terms that were gathered, postings may be left out in segments where only hidden documents hold
    /// them.
    pub(super) judged: bool,
    /// Terms and columns met.
    pub(super) lookups: usize,
    /// What sets take that are gathered, and windows that are kept, by segment.
    gathered_bytes: Vec<usize>,
}

impl<'a> Weigher<'a> {
    fn new(
        bound: &'a Bound,
        view: &'a View,
        cache: &'a mut BlockCache,
        missing: &'a mut Missing,
        gathered: &'a Gathered,
        among: Among<'a>,
    ) -> Self {
        Self {
            view,
            gathered,
            trouble: Trouble::default(),
            among,
            cache,
            missing,
            stats: Map::default(),
            inverses: Map::default(),
            similarities: &bound.similarities,
            guard: None,
            lives: view.segments.iter().map(|at| at.live.clone()).collect(),
            judged: bound.seen.is_some(),
            lookups: 0,
            gathered_bytes: vec![0; view.segments.len()],
        }
    }
}

impl Weigher<'_> {
    /// A script at its place.
    fn site(&self, script: &Arc<Scripted>) -> Site {
        Site {
            bound: Arc::clone(script),
            lives: Arc::clone(&self.lives),
            guard: self.guard.clone(),
            trouble: Arc::clone(&self.trouble),
        }
    }

    /// The clause with weights; `outer` is the factor of all that is around it.
    fn node(&mut self, clause: &Clause, outer: f32, scored: bool) -> segment::Result<Node> {
        let score = clause.boost * outer;
        if scored && clause.node.combines_scores() {
            self.keeps_window();
        }
        Ok(match &clause.node {
            bound::Node::All => Node::All { score },
            bound::Node::None => Node::None,
            bound::Node::Term(term) => self.term(term, score, scored)?,
            bound::Node::Phrase(phrase) => self.phrase(phrase, score, scored)?,
            bound::Node::Synonym(synonym) => self.synonym(synonym, score, scored)?,
            bound::Node::MultiPhrase(phrase) => self.multi_phrase(phrase, score, scored)?,
            bound::Node::Expand(expand) => self.expand(expand, score, scored)?,
            bound::Node::Blended(blended) => self.blended(blended, score, scored)?,
            bound::Node::Combined(combined) => self.combined(combined, score, scored)?,
            bound::Node::Function(function) => {
                // A least score is asked for in filters too.
                let scored = scored || function.min_score.is_some();
                let query = Box::new(self.node(&function.query, score, scored)?);
                let mut filters = Vec::with_capacity(function.parts.len());
                for part in &function.parts {
                    filters.push(match &part.filter {
                        Some(filter) => Some(self.node(filter, 1.0, false)?),
                        None => None,
                    });
                }
                let sites = function.parts.iter().map(|part| match &part.compute {
                    Compute::Script(script) => Some(self.site(script)),
                    _ => None,
                });
                let sites = sites.collect();
                let (function, trouble) = (Arc::clone(function), Arc::clone(&self.trouble));
                let lives = Arc::clone(&self.lives);
                Node::Function { query, function, filters, sites, lives, trouble }
            }
            bound::Node::Feature(feature) => self.feature(feature, score)?,
            bound::Node::Near(near) => Node::Near { near: near.clone(), score },
            bound::Node::Inside { field, access, shape } => {
                self.gathers_any();
                let (field, access, shape) = (*field, *access, Arc::clone(shape));
                Node::Inside { field, access, shape, score }
            }
            bound::Node::Script(script) => Node::Script { site: self.site(script), score },
            bound::Node::ScriptScore(asked) => {
                let scored =
                    asked.script.program.uses_score && (scored || asked.min_score.is_some());
                Node::ScriptScore {
                    query: Box::new(self.node(&asked.query, 1.0, scored)?),
                    site: self.site(&asked.script),
                    min_score: asked.min_score,
                    boost: score,
                }
            }
            bound::Node::Covering { clauses, minimum, fixed, script } => Node::Covering {
                clauses: clauses
                    .iter()
                    .map(|clause| self.node(clause, score, scored))
                    .collect::<segment::Result<_>>()?,
                minimum: *minimum,
                fixed: *fixed,
                site: script.as_ref().map(|script| self.site(script)),
            },
            bound::Node::Nested(nested) => {
                let path = self.find(FieldNo::NESTED_PATH, nested.path.as_bytes())?;
                let term = nested.path.as_bytes().into();
                let path =
                    Node::Term { field: FieldNo::NESTED_PATH, term, infos: path, weight: None };
                let scored = scored && nested.mode != NestedScore::None;
                let inner = self.node(&nested.children, 1.0, scored)?;
                let parents = match &nested.parent {
                    Some(parent) => Some(self.find(FieldNo::NESTED_PATH, parent.as_bytes())?),
                    None => None,
                };
                let children = Box::new(Node::Bool {
                    must: vec![inner],
                    filter: vec![path],
                    should: Vec::new(),
                    must_not: Vec::new(),
                    minimum: 0,
                });
                Node::Nested { children, parents, mode: nested.mode, boost: score }
            }
            bound::Node::Places(places) => self.places(places, score)?,
            bound::Node::Alike(alike) => self.alike(alike, score, scored)?,
            bound::Node::Terms { field, access, terms } => {
                self.terms(*field, *access, terms, score)?
            }
            bound::Node::Pattern { field, access, pattern } => {
                let (field, access) = (*field, *access);
                if access.index {
                    self.gathers_any();
                }
                Node::Pattern { field, access, pattern: Arc::clone(pattern), score }
            }
            bound::Node::Numbers(numbers) => self.numbers(Arc::new(numbers.clone()), score),
            bound::Node::Box { field, low, high } => {
                self.gathers_any();
                let (low, high) = (Arc::from(&**low), Arc::from(&**high));
                Node::Box { field: *field, low, high, score }
            }
            bound::Node::Flag { field, value } => self.flag(*field, *value, score, scored)?,
            bound::Node::Exists(ways) => self.exists(ways, score)?,
            bound::Node::Ids(ids) => Node::Ids { ids: Arc::clone(ids), score },
            bound::Node::Bool(bool) => {
                let mut nodes = |clauses: &[Clause], outer: f32, scored: bool| {
                    clauses
                        .iter()
                        .map(|clause| self.node(clause, outer, scored))
                        .collect::<segment::Result<Vec<_>>>()
                };
                let should = if scored { &bool.should[..] } else { bool.deciding() };
                Node::Bool {
                    must: nodes(&bool.must, score, scored)?,
                    filter: nodes(&bool.filter, 1.0, false)?,
                    should: nodes(should, score, scored)?,
                    must_not: nodes(&bool.must_not, 1.0, false)?,
                    minimum: bool.minimum,
                }
            }
            bound::Node::Constant(filter) => {
                let filter = Box::new(self.node(filter, 1.0, false)?);
                Node::Constant { filter, score }
            }
            bound::Node::DisMax { clauses, tie_breaker } => Node::DisMax {
                clauses: clauses
                    .iter()
                    .map(|clause| self.node(clause, score, scored))
                    .collect::<segment::Result<_>>()?,
                tie_breaker: *tie_breaker,
            },
            bound::Node::Boosting { positive, negative, negative_boost } => Node::Boosting {
                positive: Box::new(self.node(positive, 1.0, scored)?),
                negative: Box::new(self.node(negative, 1.0, false)?),
                negative_boost: *negative_boost,
                boost: score,
            },
        })
    }

    fn term(&mut self, term: &bound::Term, boost: f32, scored: bool) -> segment::Result<Node> {
        let infos = self.find(term.field, &term.term)?;
        let weight = scored.then(|| {
            let freq = self.freq(term.field, &term.term, &infos);
            let stats = self.stats(term.field);
            self.term_weight(term.field, boost, freq, stats, term.norms)
        });
        Ok(Node::Term { field: term.field, term: term.term.clone(), infos, weight })
    }

    fn phrase(&mut self, phrase: &Phrase, boost: f32, scored: bool) -> segment::Result<Node> {
        let mut found = Vec::with_capacity(phrase.terms.len());
        for (term, _) in &phrase.terms {
            found.push(self.find(phrase.field, term)?);
        }
        let weight = scored.then(|| {
            let stats = self.stats(phrase.field);
            let terms = phrase.terms.iter().zip(&found);
            let counts =
                terms.map(|((term, _), infos)| self.freq(phrase.field, term, infos)).collect();
            self.phrase_weight(phrase.field, boost, counts, stats, phrase.norms)
        });
        let infos = (0..self.view.segments.len())
            .map(|segment| found.iter().map(|infos| infos[segment]).collect())
            .collect();
        Ok(Node::Phrase { phrase: Arc::new(phrase.clone()), infos, weight })
    }

    fn exists(&mut self, ways: &[Presence], score: f32) -> segment::Result<Node> {
        self.lookups += ways.len();
        let mut out = Vec::with_capacity(ways.len());
        for way in ways {
            let infos = match way {
                Presence::FieldNames(field) => {
                    self.find(FieldNo::FIELD_NAMES, &field.get().to_be_bytes())?
                }
                _ => Vec::new(),
            };
            out.push((*way, infos));
        }
        Ok(Node::Exists { ways: out, score })
    }
}
