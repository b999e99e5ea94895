//! A query meets an index: what its names mean there.
//!
//! A field that the mapping (or the caller's view of it) does not know matches nothing. A value that
//! the field cannot take is an error, as in Elasticsearch: `failed to create query: …`.

use std::sync::Arc;

use base::FieldNo;
use base::hash::Map;
use mapping::{Field, Mapping, Similarity};

use crate::aggs::bound::BoundAggs;
use crate::aggs::cut::BUCKETS_MAX;
use crate::ast::{self, Node as Ask, Query};
use crate::error::{Error, Kind, Result};
use crate::plan::automata::Automata;
use crate::plan::bound::{Bool, Bound, Clause, Node, Term};
use crate::plan::graph::WordBytes;
use crate::plan::purse::Purse;
use crate::plan::veil::Veil;
use crate::plan::{
    alike, family, function, gather, inside, join, leaf, metadata, minimum, multi, order, places,
    query_string, rewrite, simple, text, within, words,
};
use crate::request::{RESULT_WINDOW, SearchRequest};

/// Clauses that one query may hold, all levels together (`indices.query.bool.max_clause_count`,
/// which Elasticsearch computes from its heap, never below 1024).
pub const CLAUSES_MAX: usize = 4096;

/// Clauses that all queries of a request may hold together (filters of aggregations may be thousands of
/// queries): each takes memory while it is looked for.
pub(super) const REQUEST_CLAUSES_MAX: usize = 16 * CLAUSES_MAX;

/// What a query must know of its index beside the mapping.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Name of the index, for messages and `_index`.
    pub index: &'a str,
    /// What `now` means, in milliseconds.
    pub now_ms: i64,
    /// `index.max_docvalue_fields_search`.
    pub docvalue_fields_max: usize,
    /// `index.max_script_fields`.
    pub script_fields_max: usize,
    /// `index.max_inner_result_window`.
    pub inner_window: u64,
    /// `index.top_metrics_max_size`.
    pub top_metrics_max: u64,
    /// Path of the documents inside that are asked for; none: those that stand for themselves.
    pub scope: Option<&'a Arc<str>>,
    /// Only these documents are found.
    pub filter: Option<&'a Query>,
    /// The documents that the caller may see, where others are hidden from it, found or not: no words of
    /// those count. Where there is a filter, too, both are the same.
    pub seen: Option<&'a Query>,
    /// Hides places in the shard from a caller from whom something of it is hidden.
    pub veil: Option<&'a Veil>,
    /// What the filter's names mean, where the caller's view of the mapping hides some of them.
    pub filter_mapping: Option<&'a Mapping>,
    /// Which fields of a source the caller may see; none: all.
    pub sees: Option<&'a json::fields::Fields>,
    /// `index.max_result_window`.
    pub result_window: u64,
    /// `index.max_terms_count`.
    pub terms_max: usize,
    /// `index.query.default_field`; empty: all.
    pub default_fields: &'a [String],
    /// `index.max_regex_length`.
    pub regexp_max: usize,
    /// `search.allow_expensive_queries`.
    pub expensive: bool,
    /// Factor of all scores of the index (`indices_boost`).
    pub boost: f32,
    /// `index.highlight.max_analyzed_offset`.
    pub highlight_max: u32,
    /// `index.highlight.weight_matches_mode.enabled`.
    pub highlight_whole: bool,
    /// `search.max_buckets`.
    pub buckets_max: usize,
    /// Automata that other indices asked for; none: each index makes its own.
    pub automata: Option<&'a Automata>,
    /// Pays for what is made.
    pub purse: Purse<'a>,
}

impl<'a> Context<'a> {
    /// With the default limits, and without a filter.
    pub fn new(index: &'a str, now_ms: i64) -> Self {
        Self {
            index,
            now_ms,
            docvalue_fields_max: 100,
            script_fields_max: 32,
            inner_window: 100,
            top_metrics_max: 10,
            scope: None,
            filter: None,
            seen: None,
            veil: None,
            filter_mapping: None,
            sees: None,
            result_window: RESULT_WINDOW,
            terms_max: 65_536,
            default_fields: &[],
            regexp_max: 1000,
            expensive: true,
            boost: 1.0,
            highlight_max: 1_000_000,
            highlight_whole: true,
            buckets_max: BUCKETS_MAX,
            automata: None,
            purse: Purse::default(),
        }
    }
}

/// Meets a request with an index.
///
/// # Errors
/// Belong to each shard of the index.
pub fn bind(
    request: &SearchRequest,
    mapping: &Mapping,
    context: &Context<'_>,
) -> Result<Arc<Bound>> {
    check_window(request, context)?;
    let mut binder = Binder::new(mapping, context);
    binder.scope = context.scope.cloned();
    let mut query = match &request.query {
        Some(query) => binder.top(query)?,
        None => Clause::new(Node::All),
    };
    // As Lucene's boosts: no number below zero, and -0 is one.
    if !context.boost.is_finite() || context.boost.is_sign_negative() {
        let shown = json::number::float_to_string(context.boost);
        return Err(Error::illegal(format!("boost must be a positive float, got {shown}")));
    }
    if !query.is_none() {
        query.boost *= context.boost;
    }
    let query = match context.scope {
        None => query,
        Some(path) => restricted(query, objects(path)),
    };
    let mut aggs = match request.aggs.is_empty() {
        true => None,
        false => {
            let named = std::mem::take(&mut binder.named);
            let aggs = crate::aggs::bind::bind(&request.aggs, &mut binder)?;
            binder.named = named;
            Some(aggs)
        }
    };
    // Aggregations see what the query finds, whatever the hits are narrowed to.
    let wide = aggs.as_ref().and(request.post_filter.as_ref()).map(|_| query.clone());
    let query = match &request.post_filter {
        Some(filter) => restricted(query, binder.top(filter)?),
        None => query,
    };
    for rescore in &request.rescore {
        // Bound for its names alone: the query has a plan of its own.
        binder.top(&rescore.query)?;
    }
    let named = std::mem::take(&mut binder.named);
    let mut sort_filters = Vec::new();
    for nested in request.sort.iter().filter_map(|sort| sort.nested.as_ref()) {
        sort_filters.push(inside::clause(nested, &mut binder)?);
    }
    binder.named.clear();
    // The caller may not see by which fields its documents are limited: the filter knows them all.
    binder.mapping = context.filter_mapping.unwrap_or(mapping);
    let (mut query, mut wide, mut all) = (query, wide, Clause::new(Node::All));
    let mut guard = None;
    let gathers = context.seen.is_some() && gathers(&query, &named, &sort_filters, aggs.as_ref());
    let mut seen = None;
    if let Some(filter) = context.filter {
        let has_scripts = binder.has_scripts;
        let filter = binder.top(filter)?;
        guard = has_scripts.then(|| filter.clone());
        seen = gathers.then(|| filter.clone());
        wide = wide.map(|wide| restricted(wide, filter.clone()));
        all = restricted(all, filter.clone());
        query = restricted(query, filter);
    } else if let Some(rule) = context.seen.filter(|_| gathers) {
        seen = Some(binder.top(rule)?);
    }
    if let Some(aggs) = &mut aggs {
        aggs.query = wide;
        aggs.all = (!aggs.globals.is_empty()).then_some(all);
    }
    let order = order::bind(request, mapping, context)?;
    Ok(Arc::new(Bound {
        query,
        order: Arc::new(order),
        window: request.window(),
        total: request.total,
        min_score: request.min_score,
        terminate_after: request.terminate_after,
        scores: request.needs_scores(),
        named,
        named_scores: request.named_scores,
        similarities: similarities(mapping),
        sort_filters,
        guard,
        seen,
        clauses: binder.request_count + binder.compared,
        aggs: aggs.map(Arc::new),
    }))
}

/// Are terms gathered for any of these?
fn gathers(
    query: &Clause,
    named: &[(String, Clause)],
    sort_filters: &[Clause],
    aggs: Option<&BoundAggs>,
) -> bool {
    let mut all = std::iter::once(query).chain(named.iter().map(|(_, clause)| clause));
    all.any(gather::asks)
        || sort_filters.iter().any(gather::asks)
        || aggs.is_some_and(|aggs| aggs.filters.iter().any(gather::asks))
}

/// How the fields score that say so themselves, or all where the index changes the default.
fn similarities(mapping: &Mapping) -> Map<FieldNo, Similarity> {
    let pair = |field: &Arc<Field>| (field.no, similarity(mapping, field));
    // Nearly no index changes the default, and it may have thousands of fields.
    match named(mapping, "default") {
        Some(_) => mapping.fields().map(pair).collect(),
        None => mapping.similar_fields().iter().map(pair).collect(),
    }
}

/// How a field scores.
pub(super) fn similarity(mapping: &Mapping, field: &Field) -> Similarity {
    named(mapping, field.similarity().unwrap_or("default")).unwrap_or_default()
}

/// A similarity of the index, by its name.
fn named(mapping: &Mapping, name: &str) -> Option<Similarity> {
    if name == "boolean" {
        return Some(Similarity::Boolean);
    }
    let mut all = mapping.settings().similarities.iter();
    all.find(|(known, _)| **known == *name).map(|(_, similarity)| *similarity)
}

/// What one query means in an index, without any filter around it.
///
/// # Errors
/// As [`bind`].
pub fn bind_query(query: &Query, mapping: &Mapping, context: &Context<'_>) -> Result<Clause> {
    Binder::new(mapping, context).top(query)
}

/// Can the index answer this query? What is wrong is told as it is, not as the failure of a search.
///
/// # Errors
/// As [`bind`], but without `failed to create query` around it.
pub fn check_query(query: &Query, mapping: &Mapping, context: &Context<'_>) -> Result<()> {
    let mut binder = Binder::new(mapping, context);
    binder.is_bare = true;
    binder.clause(query).map(drop)
}

/// A date that is none fails the making of a query of a value; only that of a range is met before, while the query
/// is rewritten.
fn created<T>(made: Result<T>, is_bare: bool) -> Result<T> {
    made.map_err(|error| match error.kind {
        Kind::Parse if !is_bare => error.create_query(),
        _ => error,
    })
}

/// What a query of more than [`CLAUSES_MAX`] clauses is told.
pub(super) fn too_many_nested() -> Error {
    let reason =
        format!("Query contains too many nested clauses; maxClauseCount is set to {CLAUSES_MAX}");
    Error::new(Kind::TooManyNestedClauses, reason)
}

/// What a request is told whose queries have more than [`REQUEST_CLAUSES_MAX`] clauses together.
pub(super) fn too_many_in_request() -> Error {
    let reason = format!(
        "The queries of the request contain too many clauses; at most {REQUEST_CLAUSES_MAX} may \
         be there together"
    );
    Error::new(Kind::TooManyNestedClauses, reason)
}

fn check_window(request: &SearchRequest, context: &Context<'_>) -> Result<()> {
    let window = u64::from(request.from) + u64::from(request.size);
    if window <= context.result_window || request.whole {
        return Ok(());
    }
    if request.scrolls {
        return Err(Error::illegal(format!(
            "Batch size is too large, size must be less than or equal to: [{}] but was [{window}]. \
             Scroll batch sizes cost as much memory as result windows so they are controlled by the \
             [index.max_result_window] index level setting.",
            context.result_window
        )));
    }
    Err(Error::illegal(format!(
        "Result window is too large, from + size must be less than or equal to: [{}] but was \
         [{window}]. See the scroll api for a more efficient way to request large data sets. This \
         limit can be set by changing the [index.max_result_window] index level setting.",
        context.result_window
    )))
}

/// `query`, of which only documents of `filter` may be seen; scores stay what they are.
pub(super) fn restricted(query: Clause, filter: Clause) -> Clause {
    let joined = Bool { must: vec![query], filter: vec![filter], ..Bool::default() };
    rewrite::simplify(joined, 1.0)
}

/// The objects of a nested path.
pub(crate) fn objects(path: &str) -> Clause {
    let (field, term) = (FieldNo::NESTED_PATH, path.as_bytes().into());
    Node::Term(Term { field, term, norms: false }).into()
}

/// Binds the clauses of one request, counting them and keeping those with names.
pub struct Binder<'a> {
    pub mapping: &'a Mapping,
    pub context: &'a Context<'a>,
    named: Vec<(String, Clause)>,
    clause_count: usize,
    /// Of all queries of the request.
    request_count: usize,
    /// Words of documents that others are to be like.
    pub(super) compared: usize,
    /// What the words of its texts took.
    pub(super) word_bytes: WordBytes,
    /// Path of the documents inside that the clause at hand is asked of.
    pub scope: Option<Arc<str>>,
    /// A script was met.
    pub(crate) has_scripts: bool,
    /// What is wrong is told as it is.
    is_bare: bool,
    /// Automata, where the request brings none.
    own_automata: Automata,
}

impl<'a> Binder<'a> {
    fn new(mapping: &'a Mapping, context: &'a Context<'a>) -> Self {
        Self {
            mapping,
            context,
            named: Vec::new(),
            clause_count: 0,
            request_count: 0,
            compared: 0,
            word_bytes: WordBytes::default(),
            scope: None,
            has_scripts: false,
            is_bare: false,
            own_automata: Automata::default(),
        }
    }
}

impl Binder<'_> {
    /// The automata of the request.
    pub(super) fn automata(&self) -> &Automata {
        self.context.automata.unwrap_or(&self.own_automata)
    }

    /// A whole query: what goes wrong inside is `failed to create query`.
    pub(crate) fn top(&mut self, query: &Query) -> Result<Clause> {
        self.clause_count = 0;
        self.clause(query).map_err(|error| match error.kind {
            // Elasticsearch meets these while rewriting, before it creates the query.
            Kind::Parse | Kind::QueryShard | Kind::Exception => error,
            Kind::IllegalArgument if error.reason.starts_with("The number of terms [") => error,
            _ => error.create_query(),
        })
    }

    /// One query. Where its analyzers had too much to do already, or there is no memory for what was bound, nothing:
    /// that is dropped then.
    pub fn clause(&mut self, query: &Query) -> Result<Clause> {
        if !self.context.purse.goes_on() {
            return Ok(Clause::none());
        }
        let mut clause = self.node(&query.node)?;
        if let Some(name) = &query.name {
            self.named.push((name.clone(), clause.clone()));
        }
        if !clause.is_none() {
            clause.boost *= query.boost;
        }
        Ok(clause)
    }

    fn clauses(&mut self, queries: &[Query]) -> Result<Vec<Clause>> {
        queries.iter().map(|query| self.clause(query)).collect()
    }

    fn node(&mut self, node: &Ask) -> Result<Clause> {
        metadata::check(node)?;
        let leaf = match node {
            Ask::MatchAll => Clause::new(Node::All),
            Ask::MatchNone => Clause::none(),
            Ask::Match(query) => created(text::match_(self, query), self.is_bare)?,
            Ask::Phrase(query) => created(text::phrase(self, query), self.is_bare)?,
            Ask::Term(query) => created(leaf::term(self, query), self.is_bare)?.into(),
            Ask::Terms(query) => created(leaf::terms(self, query), self.is_bare)?.into(),
            Ask::Range(query) => leaf::range(self, query)?.into(),
            Ask::Exists(field) => leaf::exists(self, field)?.into(),
            Ask::Ids(ids) => leaf::ids(ids).into(),
            Ask::Prefix(query) => words::prefix(self, query)?,
            Ask::Wildcard(query) => words::wildcard(self, query)?,
            Ask::Regexp(query) => words::regexp(self, query)?,
            Ask::Fuzzy(query) => words::fuzzy_term(self, query)?,
            Ask::PhrasePrefix(query) => created(text::phrase_prefix(self, query), self.is_bare)?,
            Ask::MultiMatch(query) => created(multi::multi_match(self, query), self.is_bare)?,
            Ask::CombinedFields(query) => multi::combined_fields(self, query)?,
            Ask::QueryString(query) => {
                created(query_string::query_string(self, query), self.is_bare)?
            }
            Ask::SimpleQueryString(query) => {
                created(simple::simple_query_string(self, query), self.is_bare)?
            }
            Ask::Bool(query) => return self.bool(query),
            Ask::Constant(filter) => {
                let filter = self.clause(filter)?;
                return Ok(if filter.is_none() {
                    filter
                } else {
                    Node::Constant(Box::new(filter)).into()
                });
            }
            Ask::DisMax(query) => return self.dis_max(query),
            Ask::Boosting(query) => return self.boosting(query),
            // Looked up before; what is not was not there.
            Ask::TermsLookup(_) => Clause::none(),
            Ask::TermsSet(query) => join::terms_set(self, query)?,
            Ask::FunctionScore(query) => return function::function_score(self, query),
            Ask::Script(script) => join::script(self, script)?,
            Ask::ScriptScore(query) => return function::script_score(self, query),
            Ask::Nested(query) => return join::nested(self, query),
            Ask::Family(query) => family::family(self, query)?,
            Ask::ParentId(query) => family::parent_id(self, query)?,
            Ask::RankFeature(query) => function::rank_feature(self, query)?,
            Ask::DistanceFeature(query) => function::distance_feature(self, query)?,
            Ask::Geo(query) => within::within(self, query)?,
            Ask::Intervals(query) => places::intervals(self, query)?,
            Ask::Span(query) => places::span(self, query)?,
            Ask::MoreLikeThis(query) => alike::more_like_this(self, query)?,
            Ask::Pinned(query) => return join::pinned(self, query),
        };
        self.count(1)?;
        Ok(leaf)
    }

    /// The field that a name means.
    pub fn field(&self, name: &str) -> Option<Arc<Field>> {
        self.mapping.known(name).or_else(|| metadata::words(name, self.mapping))
    }

    /// The fields that a pattern means, under the names that it matches.
    pub fn expand(&self, pattern: &str) -> Vec<(Arc<str>, Arc<Field>)> {
        self.mapping.expand_names(pattern)
    }

    /// The best of several clauses, and a share of the others.
    ///
    /// # Errors
    /// A share below none or beyond all.
    pub fn best_of(&self, mut clauses: Vec<Clause>, tie_breaker: f32) -> Result<Clause> {
        if clauses.len() > 1 {
            check_tie_breaker(tie_breaker)?;
        }
        clauses.retain(|clause| !clause.is_none());
        if tie_breaker == 1.0 && clauses.len() > 1 {
            // All scores count in full: a sum, as Lucene rewrites it.
            return Ok(rewrite::simplify(Bool { should: clauses, ..Bool::default() }, 1.0));
        }
        Ok(match clauses.len() {
            0 => Clause::none(),
            1 => clauses.remove(0),
            _ => Node::DisMax { clauses, tie_breaker }.into(),
        })
    }

    /// Counts clauses that will be looked up.
    pub fn count(&mut self, clauses: usize) -> Result<()> {
        self.clause_count += clauses;
        self.request_count += clauses;
        if self.request_count > REQUEST_CLAUSES_MAX {
            return Err(too_many_in_request());
        }
        if self.clause_count <= CLAUSES_MAX {
            return Ok(());
        }
        Err(too_many_nested())
    }

    fn bool(&mut self, query: &ast::Bool) -> Result<Clause> {
        let mut bound = Bool {
            must: self.clauses(&query.must)?,
            must_not: self.clauses(&query.must_not)?,
            should: self.clauses(&query.should)?,
            filter: self.clauses(&query.filter)?,
            minimum: 0,
        };
        if bound.must.is_empty()
            && bound.must_not.is_empty()
            && bound.should.is_empty()
            && bound.filter.is_empty()
        {
            return Ok(Node::All.into());
        }
        if let Some(spec) = &query.minimum_should_match {
            bound.minimum = minimum::minimum(spec, bound.should.len())?;
        }
        let negative = bound.must.is_empty() && bound.should.is_empty() && bound.filter.is_empty();
        if negative && query.adjust_pure_negative {
            // Elasticsearch builds it anew, and leaves its minimum behind.
            bound.minimum = 0;
            bound.filter.push(Node::All.into());
        }
        Ok(rewrite::simplify(bound, 1.0))
    }

    fn dis_max(&mut self, query: &ast::DisMax) -> Result<Clause> {
        let clauses = self.clauses(&query.queries)?;
        check_tie_breaker(query.tie_breaker)?;
        self.best_of(clauses, query.tie_breaker)
    }

    fn boosting(&mut self, query: &ast::Boosting) -> Result<Clause> {
        let positive = self.clause(&query.positive)?;
        let negative = self.clause(&query.negative)?;
        if positive.is_none() {
            return Ok(positive);
        }
        Ok(Node::Boosting {
            positive: Box::new(positive),
            negative: Box::new(negative),
            negative_boost: query.negative_boost,
        }
        .into())
    }
}

/// As Lucene's `DisjunctionMaxQuery` looks at it.
pub(super) fn check_tie_breaker(tie_breaker: f32) -> Result<()> {
    if (0.0..=1.0).contains(&tie_breaker) {
        return Ok(());
    }
    Err(Error::illegal("tieBreakerMultiplier must be in [0, 1]"))
}
