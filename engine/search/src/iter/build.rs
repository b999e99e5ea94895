//! A plan meets a segment: nodes become filters and scorers.
//!
//! Structure decides the last bit of a score, so scoring compounds are built as Lucene 9.12's
//! `Boolean2ScorerSupplier` builds them; filters are built as is fastest.

use std::sync::Arc;

use base::FieldNo;
use segment::bkd::Bounds;
use segment::{Need, Segment, TermInfo};

use super::adapt::{Constant, Demoted, Optional};
use super::adjusted::{Adjusted, Scored};
use super::all::{All, Nothing};
use super::all_terms::AllTerms;
use super::and::{AllOf, Conjunction};
use super::blockmax::BlockMax;
use super::blocks::Blocks;
use super::column::{InRanges, Present, Ranked};
use super::function::{Column, Compute, Covering, Distance, Feature, Functions, Part};
use super::gathered;
use super::kept::KeptDocs;
use super::multi_phrase::{MultiPhraseFilter, MultiPhraseScorer};
use super::nested::{Nested, NestedFilter, Parents};
use super::not::{ScoredWithout, Without};
use super::or::{AnyOf, AtLeast, DisMax, ScoredAtLeast};
use super::phrase::{PhraseFilter, PhraseScorer};
use super::places::Placed;
use super::script::{self, Chosen, ScriptScore};
use super::set::{Ids, Lookup, Set, Source, Walker};
use super::summed::Summed;
use super::term::{TermFilter, TermScorer};
use super::{AnyFilter, AnyScorer};
use crate::plan::bound::{Access, Numbers, Pattern, Presence};
use crate::plan::function::{self as plan, Form};
use crate::plan::places::{Leaf, Places, Source as Rule};
use crate::plan::weigh::Node;
use crate::scripted::Site;

mod inside;
mod lists;
mod sums;

use inside::inside_filter;
pub use lists::{Rest, Split, joins, known_count, lister, split_count};
use sums::{bool_scorer, scorers};

/// A segment and its place in the view.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The segment.
    pub segment: &'a Segment,
    /// Its place in the view.
    pub number: usize,
}

impl Context<'_> {
    fn doc_count(&self) -> u32 {
        self.segment.doc_count()
    }
}

/// A filter for `node`; one that matches nothing where nothing can.
pub fn any_filter(node: &Node, context: Context<'_>) -> AnyFilter {
    filter(node, context, u64::MAX).unwrap_or_else(|| Box::new(Nothing))
}

/// A filter for `node`; `None` where nothing can match. `lead` is about how many documents it will
/// be asked about.
fn filter(node: &Node, context: Context<'_>, lead: u64) -> Option<AnyFilter> {
    let segment = context.segment;
    let doc_count = context.doc_count();
    Some(match node {
        Node::None => return None,
        Node::All { .. } => Box::new(All::new(doc_count)),
        Node::Term { field, infos, .. } => term_filter(context, *field, &infos[context.number]?)?,
        Node::Phrase { phrase, infos, .. } => {
            let infos = infos[context.number].as_deref()?;
            Box::new(PhraseFilter::new(segment, phrase, infos)?)
        }
        Node::MultiPhrase { phrase, infos, .. } => {
            Box::new(MultiPhraseFilter::new(segment, phrase, &infos[context.number])?)
        }
        Node::Combined { combined, infos, .. } => {
            let infos = infos[context.number].iter();
            one_of(
                infos
                    .filter_map(|(at, info)| term_filter(context, combined.fields[*at].0, info))
                    .collect(),
            )?
        }
        // What a function may take out is told by its score.
        Node::Function { function, query, .. } if function.min_score.is_none() => {
            filter(query, context, lead)?
        }
        Node::Script { site, .. } => {
            let trouble = Arc::clone(&site.trouble);
            Box::new(Chosen::new(site.runner(context, script::flag), trouble, doc_count))
        }
        Node::ScriptScore { query, min_score: None, .. } => filter(query, context, lead)?,
        Node::Function { .. }
        | Node::ScriptScore { .. }
        | Node::Covering { .. }
        | Node::Places { .. } => Box::new(Scored::new(scorer_of(node, context, lead)?, doc_count)),
        Node::Feature { field, infos, .. } => {
            term_filter(context, *field, &infos[context.number]?)?
        }
        Node::Near { near, .. } => Box::new(Present::numeric(segment, near.field)?),
        Node::Inside { field, access, shape, .. } => {
            inside_filter(context, *field, *access, shape, lead)?
        }
        Node::Nested { .. } => Box::new(NestedFilter(nested(node, context)?)),
        Node::FewTerms { field, infos, .. } | Node::Synonym { field, infos, .. } => {
            let infos = &infos[context.number];
            one_of(infos.iter().filter_map(|info| term_filter(context, *field, info)).collect())?
        }
        Node::Terms { field, access, terms, .. } => {
            if access.index {
                let source = Source::Lookup(Lookup::new(&segment.terms(*field)?, terms));
                let cost = (terms.len() as u64 * 8).min(u64::from(doc_count));
                Box::new(Set::new(source, segment, cost))
            } else {
                Box::new(Ranked::terms(segment, *field, terms)?)
            }
        }
        Node::Pattern { field, access, pattern, .. } => {
            pattern_filter(context, *field, *access, pattern)?
        }
        Node::Numbers { numbers, .. } => numbers_filter(context, numbers, lead)?,
        Node::Box { field, low, high, .. } => {
            let points = segment.points(*field)?;
            let bounds = box_of(points, low, high)?;
            let cost = points.estimate(&bounds);
            Box::new(Set::points(points, &[bounds], segment, cost))
        }
        Node::Kept { inner, docs } => match &docs[context.number] {
            None => filter(inner, context, lead)?,
            Some(docs) if docs.count() == 0 => return None,
            Some(docs) if docs.count() == u64::from(doc_count) => Box::new(All::new(doc_count)),
            Some(docs) => Box::new(KeptDocs::new(Arc::clone(docs))),
        },
        Node::Exists { ways, .. } => exists_filter(context, ways)?,
        Node::Ids { ids, .. } => Box::new(Ids::new(segment.clone(), Arc::clone(ids))),
        Node::Constant { filter: inner, .. } => filter(inner, context, lead)?,
        Node::DisMax { clauses, .. } => one_of(filters(clauses, context, lead))?,
        Node::Boosting { positive, .. } => filter(positive, context, lead)?,
        Node::Bool { must, filter: filters_of, should, must_not, minimum } => {
            bool_filter(context, [must, filters_of], should, must_not, *minimum, lead)?
        }
    })
}

/// The bounds of a box; none where the points have another shape.
fn box_of(points: &segment::Bkd, low: &[u8], high: &[u8]) -> Option<Bounds> {
    let shape = points.shape();
    let fits = low.len() == shape.value_bytes() && high.len() == shape.value_bytes();
    fits.then(|| Bounds::new(shape, low, high))
}

/// Filters for those of `nodes` that can match.
fn filters(nodes: &[Node], context: Context<'_>, lead: u64) -> Vec<AnyFilter> {
    nodes.iter().filter_map(|node| filter(node, context, lead)).collect()
}

/// One of `filters`.
fn one_of(mut filters: Vec<AnyFilter>) -> Option<AnyFilter> {
    match filters.len() {
        0 => None,
        1 => filters.pop(),
        _ => Some(Box::new(AnyOf::new(filters))),
    }
}

fn bool_filter(
    context: Context<'_>,
    required: [&Vec<Node>; 2],
    should: &[Node],
    must_not: &[Node],
    minimum: usize,
    lead: u64,
) -> Option<AnyFilter> {
    let doc_count = context.doc_count();
    let lead = required
        .iter()
        .flat_map(|nodes| nodes.iter())
        .map(|node| cost(node, context))
        .fold(lead, u64::min);
    let mut all = Vec::new();
    for node in required.into_iter().flatten() {
        all.push(filter(node, context, lead)?);
    }
    // Beside required clauses, optional ones decide nothing unless some are asked for.
    if minimum > 0 || all.is_empty() {
        let some = filters(should, context, lead);
        if some.len() < minimum {
            return None;
        }
        if minimum > 1 && some.len() == minimum {
            all.extend(some);
        } else if minimum > 1 {
            all.push(Box::new(AtLeast::new(some, minimum)));
        } else {
            all.push(one_of(some)?);
        }
    }
    let base: AnyFilter = match all.len() {
        1 => all.remove(0),
        _ => Box::new(AllOf::new(all, doc_count)),
    };
    Some(match one_of(filters(must_not, context, lead)) {
        Some(not) => Box::new(Without::new(base, not, doc_count)),
        None => base,
    })
}

fn term_filter(context: Context<'_>, field: FieldNo, info: &TermInfo) -> Option<AnyFilter> {
    let terms = context.segment.terms(field)?;
    if info.doc_freq == context.doc_count() {
        return Some(Box::new(All::new(context.doc_count())));
    }
    Some(Box::new(TermFilter::new(&terms, info, context.doc_count())))
}

fn pattern_filter(
    context: Context<'_>,
    field: FieldNo,
    access: Access,
    pattern: &Arc<Pattern>,
) -> Option<AnyFilter> {
    let segment = context.segment;
    if !access.index {
        return Some(Box::new(Ranked::pattern(segment, field, pattern)?));
    }
    let terms = segment.terms(field)?;
    let source = Source::Pattern(Box::new(Walker::new(&terms, Arc::clone(pattern))));
    Some(Box::new(Set::new(source, segment, u64::from(terms.doc_count()))))
}

/// Where a column is read faster than points: when more than one in so many documents matches.
const COLUMN_FROM: u64 = 8;

/// Ranges whose points are estimated to know what their documents take; more may be of any.
const RANGES_ESTIMATED: usize = 64;

/// What a range takes while its points are walked through, about.
const RANGE_BYTES: usize = 256;

/// What the documents of these ranges take while they are gathered, about.
pub fn numbers_bytes(segment: &Segment, numbers: &Numbers) -> usize {
    let points = if numbers.access.index { segment.points(numbers.field) } else { None };
    let (Some(points), doc_count) = (points, segment.doc_count()) else { return 0 };
    let ranges = numbers.ranges.len();
    let walks = ranges * RANGE_BYTES;
    if ranges > RANGES_ESTIMATED {
        return walks + gathered::len_bytes(u64::MAX, doc_count);
    }
    let bounds = numbers.ranges.iter().map(|(from, to)| Bounds::longs(*from..=*to));
    let cost: u64 = bounds.map(|bounds| points.estimate(&bounds)).sum();
    // As below: then its column is read.
    let is_read = numbers.access.column && segment.numeric(numbers.field).is_some();
    match is_read && ranges == 1 && cost > u64::from(doc_count) / COLUMN_FROM {
        true => 0,
        false => walks + gathered::len_bytes(cost, doc_count),
    }
}

fn numbers_filter(context: Context<'_>, numbers: &Numbers, lead: u64) -> Option<AnyFilter> {
    let segment = context.segment;
    let doc_count = context.doc_count();
    let column = if numbers.access.column { segment.numeric(numbers.field) } else { None };
    let points = if numbers.access.index { segment.points(numbers.field) } else { None };
    if let Some(column) = column {
        let touches = |(from, to): &(i64, i64)| *from <= column.max() && column.min() <= *to;
        if !numbers.ranges.iter().any(touches) {
            return None;
        }
        let covers = |(from, to): &(i64, i64)| *from <= column.min() && column.max() <= *to;
        if numbers.ranges.iter().any(covers) {
            if column.is_dense() {
                return Some(Box::new(All::new(doc_count)));
            }
            return Present::numeric(segment, numbers.field).map(|it| Box::new(it) as AnyFilter);
        }
    }
    let bounds: Vec<Bounds> =
        numbers.ranges.iter().map(|(from, to)| Bounds::longs(*from..=*to)).collect();
    let cost = match (points, column) {
        (Some(points), _) => bounds.iter().map(|bounds| points.estimate(bounds)).sum(),
        (None, Some(column)) => u64::from(column.doc_count()),
        (None, None) => return None,
    };
    if let Some(column) = column {
        let follows = lead < cost / COLUMN_FROM;
        let many = cost > u64::from(doc_count) / COLUMN_FROM && bounds.len() == 1;
        if points.is_none() || follows || many {
            let counted = points.filter(|_| segment.file().is_resident()).cloned();
            let (column, ranges) = (column.clone(), &numbers.ranges);
            return Some(Box::new(InRanges::numbers(column, counted, ranges, doc_count, cost)));
        }
    }
    let points = points?;
    if cost == 0 {
        return None;
    }
    Some(Box::new(Set::points(points, &bounds, segment, cost)))
}

fn exists_filter(
    context: Context<'_>,
    ways: &[(Presence, Vec<Option<TermInfo>>)],
) -> Option<AnyFilter> {
    let segment = context.segment;
    let mut some: Vec<AnyFilter> = Vec::new();
    for (way, infos) in ways {
        let present = match way {
            Presence::Numeric(field) => Present::numeric(segment, *field),
            Presence::Ordinals(field) => Present::ordinals(segment, *field),
            Presence::Norms(field) => Present::norms(segment, *field),
            Presence::FieldNames(_) => {
                let info = infos[context.number];
                some.extend(
                    info.and_then(|info| term_filter(context, FieldNo::FIELD_NAMES, &info)),
                );
                continue;
            }
        };
        if let Some(present) = present {
            if present.present_count() == context.doc_count() {
                return Some(Box::new(All::new(context.doc_count())));
            }
            some.push(Box::new(present));
        }
    }
    one_of(some)
}

/// Documents that hold the words that rules need.
fn candidates(
    source: &Rule,
    places: &Places,
    infos: &[Vec<TermInfo>],
    context: Context<'_>,
) -> Option<AnyFilter> {
    let all = |sources: &[Rule]| -> Option<AnyFilter> {
        let mut all = Vec::with_capacity(sources.len());
        for source in sources {
            all.push(candidates(source, places, infos, context)?);
        }
        Some(match all.len() {
            1 => all.remove(0),
            _ => Box::new(AllOf::new(all, context.doc_count())),
        })
    };
    match source {
        Rule::Nothing => None,
        Rule::Leaf(at) => {
            let field = match &places.leaves[*at] {
                Leaf::Term(field, _) => *field,
                Leaf::Pattern(expand, _) => expand.field,
            };
            let terms = infos[*at].iter();
            one_of(terms.filter_map(|info| term_filter(context, field, info)).collect())
        }
        Rule::Ordered(sources, _) | Rule::Unordered(sources, _) | Rule::Near(sources, ..) => {
            all(sources)
        }
        Rule::Or(sources) => one_of(
            sources
                .iter()
                .filter_map(|source| candidates(source, places, infos, context))
                .collect(),
        ),
        Rule::Lies(source, ..) | Rule::Not(source, ..) | Rule::First(source, _) => {
            candidates(source, places, infos, context)
        }
    }
}

/// Parents of documents inside.
fn nested(node: &Node, context: Context<'_>) -> Option<Nested> {
    let Node::Nested { children, parents, mode, boost } = node else { return None };
    let segment = context.segment;
    segment.parents()?;
    let parents = match parents {
        None => Parents::Root,
        Some(infos) => {
            let info = infos[context.number]?;
            let terms = segment.terms(FieldNo::NESTED_PATH)?;
            Parents::Path(Box::new(terms.postings(&info, Need::Docs)), Vec::new())
        }
    };
    let children = scorer_of(children, context, u64::MAX)?;
    Some(Nested::new(children, parents, segment, *mode, *boost))
}

/// What a function computes in a segment.
fn compute(compute: &plan::Compute, site: Option<&Site>, context: Context<'_>) -> Compute {
    let segment = context.segment;
    let column = |field: &Option<(FieldNo, Form)>| {
        field.map(|(field, form)| Column::new(segment, field, form))
    };
    match compute {
        plan::Compute::One => Compute::One,
        plan::Compute::Script(_) => match site {
            Some(site) => Compute::Script(Box::new(site.runner(context, script::double))),
            None => Compute::One,
        },
        plan::Compute::Random(random, field) => {
            let column = field.map(|field| Column::new(segment, field, Form::Long));
            Compute::Random(*random, column, segment.clone())
        }
        plan::Compute::Factor { field, name, factor, modifier, missing } => {
            Compute::Factor(column(field), *factor, *modifier, *missing, Arc::clone(name))
        }
        plan::Compute::Decay { field, origin, form, scale, offset, multi } => Compute::Decay {
            column: column(field),
            origin: *origin,
            form: *form,
            scale: *scale,
            offset: *offset,
            multi: *multi,
        },
    }
}

/// About how many documents match.
pub fn cost(node: &Node, context: Context<'_>) -> u64 {
    let all = u64::from(context.doc_count());
    let sum = |nodes: &[Node]| nodes.iter().map(|node| cost(node, context)).sum::<u64>();
    match node {
        Node::None => 0,
        Node::All { .. } | Node::Exists { .. } | Node::Pattern { .. } => all,
        Node::Term { infos, .. } => {
            infos[context.number].map_or(0, |info| u64::from(info.doc_freq))
        }
        Node::Phrase { infos, .. } => infos[context.number].as_ref().map_or(0, |infos| {
            infos.iter().map(|info| u64::from(info.doc_freq)).min().unwrap_or(0)
        }),
        Node::Function { query, .. } | Node::ScriptScore { query, .. } => cost(query, context),
        Node::Script { .. } => all,
        Node::Feature { infos, .. } => {
            infos[context.number].map_or(0, |info| u64::from(info.doc_freq))
        }
        Node::Near { .. } | Node::Inside { .. } => all,
        Node::Places { infos, .. } => {
            let words = infos[context.number].iter();
            words.flatten().map(|info| u64::from(info.doc_freq)).sum()
        }
        Node::Covering { clauses, .. } => sum(clauses),
        Node::Nested { children, .. } => cost(children, context),
        Node::MultiPhrase { infos, .. } => {
            let sum =
                |infos: &Vec<TermInfo>| infos.iter().map(|info| u64::from(info.doc_freq)).sum();
            infos[context.number].iter().map(sum).min().unwrap_or(0)
        }
        Node::Combined { infos, .. } => {
            infos[context.number].iter().map(|(_, info)| u64::from(info.doc_freq)).sum()
        }
        Node::FewTerms { infos, .. } | Node::Synonym { infos, .. } => {
            infos[context.number].iter().map(|info| u64::from(info.doc_freq)).sum()
        }
        Node::Terms { terms, .. } => (terms.len() as u64 * 8).min(all),
        Node::Numbers { numbers, .. } => match context.segment.points(numbers.field) {
            Some(points) => numbers
                .ranges
                .iter()
                .take(64)
                .map(|(from, to)| points.estimate(&Bounds::longs(*from..=*to)))
                .sum(),
            None => all,
        },
        Node::Box { field, low, high, .. } => match context.segment.points(*field) {
            Some(points) => box_of(points, low, high).map_or(0, |bounds| points.estimate(&bounds)),
            None => 0,
        },
        Node::Kept { inner, docs } => match &docs[context.number] {
            Some(docs) => docs.count(),
            None => cost(inner, context),
        },
        Node::Ids { ids, .. } => ids.len() as u64,
        Node::Constant { filter, .. } => cost(filter, context),
        Node::DisMax { clauses, .. } => sum(clauses),
        Node::Boosting { positive, .. } => cost(positive, context),
        Node::Bool { must, filter, should, .. } => {
            let required = must.iter().chain(filter).map(|node| cost(node, context)).min();
            required.unwrap_or_else(|| sum(should))
        }
    }
    .min(all)
}

/// A scorer for `node`; `None` where nothing can match.
pub fn scorer(node: &Node, context: Context<'_>) -> Option<AnyScorer> {
    scorer_of(node, context, u64::MAX)
}

fn scorer_of(node: &Node, context: Context<'_>, lead: u64) -> Option<AnyScorer> {
    let segment = context.segment;
    Some(match node {
        Node::Term { field, infos, weight: Some(weight), .. } => {
            let info = infos[context.number]?;
            let terms = segment.terms(*field)?;
            let (norms, resident) = (segment.norms(*field), segment.file().is_resident());
            Box::new(TermScorer::new(&terms, &info, norms, weight.clone(), resident))
        }
        Node::Phrase { phrase, infos, weight: Some(weight) } => {
            let infos = infos[context.number].as_deref()?;
            Box::new(PhraseScorer::new(segment, phrase, infos, weight.clone())?)
        }
        Node::ScriptScore { query, site, min_score, boost } => {
            let base = scorer_of(query, context, lead)?;
            let score = ScriptScore {
                runner: site.runner(context, script::double),
                min_score: *min_score,
                boost: *boost,
                trouble: Arc::clone(&site.trouble),
            };
            Box::new(Adjusted::new(base, Box::new(score)))
        }
        Node::Function { query, function, filters, sites, lives, trouble } => {
            let base = scorer_of(query, context, lead)?;
            let parts = function.parts.iter().zip(filters).zip(sites);
            let parts = parts.map(|((part, filter), site)| Part {
                filter: filter.as_ref().map(|filter| any_filter(filter, context)),
                weight: part.weight,
                compute: compute(&part.compute, site.as_ref(), context),
                matches: Vec::new(),
                is_probed: false,
            });
            let functions = Functions {
                parts: parts.collect(),
                score_mode: function.score_mode,
                boost_mode: function.boost_mode,
                max_boost: function.max_boost,
                min_score: function.min_score,
                live: lives[context.number].clone(),
                parents: segment.parents().filter(|_| function.is_inside).cloned(),
                trouble: Arc::clone(trouble),
            };
            Box::new(Adjusted::new(base, Box::new(functions)))
        }
        Node::Feature { field, infos, form, score } => {
            let info = infos[context.number]?;
            let terms = segment.terms(*field)?;
            let base = Constant::new(filter(node, context, lead)?, 0.0);
            let blocks = Blocks::new(terms.postings(&info, Need::Freqs));
            let feature = Feature { blocks, form: *form, weight: *score };
            Box::new(Adjusted::new(Box::new(base), Box::new(feature)))
        }
        Node::Near { near, score } => {
            let base = Constant::new(filter(node, context, lead)?, 0.0);
            let distance = Distance {
                column: Column::new(segment, near.field, near.form),
                origin: near.origin,
                pivot: near.pivot,
                weight: *score,
            };
            Box::new(Adjusted::new(Box::new(base), Box::new(distance)))
        }
        Node::Covering { clauses, minimum, fixed, site } => {
            let some = scorers(clauses, context, lead);
            let base = one_of(filters(clauses, context, lead))?;
            let covering = Covering {
                clauses: some,
                minimum: minimum.map(|field| Column::new(segment, field, Form::Long)),
                fixed: *fixed,
                script: site.as_ref().map(|site| {
                    let trouble = Arc::clone(&site.trouble);
                    (Box::new(site.runner(context, script::long)), trouble)
                }),
            };
            Box::new(Adjusted::new(Box::new(Constant::new(base, 0.0)), Box::new(covering)))
        }
        Node::Nested { .. } => Box::new(nested(node, context)?),
        Node::Places { places, infos, weight, score } => {
            let infos = &infos[context.number];
            let base = candidates(&places.source, places, infos, context)?;
            let placed = Placed::new(segment, places, infos, *score, weight.clone());
            Box::new(Adjusted::new(Box::new(Constant::new(base, 0.0)), Box::new(placed)))
        }
        Node::Synonym { field, infos, weight: Some(weight) } => {
            let infos = &infos[context.number];
            let terms = segment.terms(*field)?;
            let norms = segment.norms(*field);
            match infos.as_slice() {
                [] => return None,
                [info] => {
                    let resident = segment.file().is_resident();
                    Box::new(TermScorer::new(&terms, info, norms, weight.clone(), resident))
                }
                infos => Box::new(Summed::of_field(&terms, infos, norms, weight.clone())),
            }
        }
        Node::MultiPhrase { phrase, infos, weight: Some(weight) } => {
            let infos = &infos[context.number];
            Box::new(MultiPhraseScorer::new(segment, phrase, infos, weight.clone())?)
        }
        Node::Combined { combined, infos, weight: Some(weight) } => {
            let mut found = Vec::new();
            for (at, info) in &infos[context.number] {
                let (field, factor, _) = combined.fields[*at];
                found.push((segment.terms(field)?, *info, factor));
            }
            if found.is_empty() {
                return None;
            }
            let fields = combined.fields.iter();
            let norms = fields.map(|(field, factor, _)| (segment.norms(*field), *factor)).collect();
            Box::new(Summed::of_fields(&found, norms, weight.clone()))
        }
        Node::Bool { must, filter, should, must_not, minimum } => {
            bool_scorer(context, must, filter, should, must_not, *minimum, lead)?
        }
        Node::DisMax { clauses, tie_breaker } => {
            let mut some = scorers(clauses, context, lead);
            match some.len() {
                0 => return None,
                1 => some.remove(0),
                _ => Box::new(DisMax::new(some, *tie_breaker)),
            }
        }
        Node::Boosting { positive, negative, negative_boost, boost } => {
            let positive = scorer_of(positive, context, lead)?;
            let negative = any_filter(negative, context);
            Box::new(Demoted::new(positive, negative, *negative_boost, *boost))
        }
        node => Box::new(Constant::new(filter(node, context, lead)?, constant_score(node))),
    })
}

/// The score of each match of a node that does not tell them apart.
fn constant_score(node: &Node) -> f32 {
    match node {
        Node::All { score }
        | Node::FewTerms { score, .. }
        | Node::Terms { score, .. }
        | Node::Pattern { score, .. }
        | Node::Numbers { score, .. }
        | Node::Box { score, .. }
        | Node::Exists { score, .. }
        | Node::Ids { score, .. }
        | Node::Inside { score, .. }
        | Node::Script { score, .. }
        | Node::Constant { score, .. } => *score,
        Node::Kept { inner, .. } => constant_score(inner),
        Node::None
        | Node::Term { .. }
        | Node::Phrase { .. }
        | Node::Synonym { .. }
        | Node::MultiPhrase { .. }
        | Node::Combined { .. }
        | Node::Function { .. }
        | Node::ScriptScore { .. }
        | Node::Feature { .. }
        | Node::Near { .. }
        | Node::Covering { .. }
        | Node::Places { .. }
        | Node::Nested { .. }
        | Node::Bool { .. }
        | Node::DisMax { .. }
        | Node::Boosting { .. } => 0.0,
    }
}
