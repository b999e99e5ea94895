//! Can a shard match at all? Asked before a search, by the mapping and by the least and the greatest
//! moment that each segment holds, as Elasticsearch's `can_match` asks: what follows is that a shard is
//! told as skipped, and costs nothing.
//!
//! Always true: a shard of which this says no has no match. Only moments are looked at, for it is moments
//! by which shards are told apart; other numbers are cheap to look up where they are asked for.

use mapping::{Kind as Type, Mapping};
use segment::View;

use super::bound::{Bool, Bound, Node, Numbers};
use crate::aggs::spec::Kind;
use crate::request::SearchRequest;

/// Is it worth asking? Not where every document matches, nor where documents that do not match count.
pub fn is_of_use(request: &SearchRequest) -> bool {
    let sees_all = |kind: &Kind| match kind {
        Kind::Global => true,
        Kind::Terms(terms) => terms.min_doc_count == 0,
        _ => false,
    };
    let matches_all = match &request.query {
        None => true,
        Some(query) => matches!(query.node, crate::ast::Node::MatchAll),
    };
    !matches_all
        && request.suggest.is_empty()
        && !request.aggs.aggs.iter().any(|agg| sees_all(&agg.kind))
}

/// May some document of the view match?
pub fn may_match(bound: &Bound, mapping: &Mapping, view: &View) -> bool {
    let asked = Asked { mapping, view };
    // What narrows the hits alone (`post_filter`) takes nothing from aggregations.
    let wide = bound.aggs.as_ref().and_then(|aggs| aggs.query.as_ref());
    asked.may(&wide.unwrap_or(&bound.query).node)
}

struct Asked<'a> {
    mapping: &'a Mapping,
    view: &'a View,
}

impl Asked<'_> {
    fn may(&self, node: &Node) -> bool {
        match node {
            Node::None => false,
            Node::Numbers(numbers) => self.may_be_between(numbers),
            Node::Constant(filter) => self.may(&filter.node),
            Node::Boosting { positive, .. } => self.may(&positive.node),
            Node::DisMax { clauses, .. } => clauses.iter().any(|clause| self.may(&clause.node)),
            Node::Function(function) => self.may(&function.query.node),
            Node::ScriptScore(score) => self.may(&score.query.node),
            Node::Bool(Bool { must, filter, should, minimum, .. }) => {
                let needed = must.iter().chain(filter);
                let optional = should.iter().filter(|clause| self.may(&clause.node)).count();
                let least = match (must.is_empty() && filter.is_empty(), should.is_empty()) {
                    (true, false) => (*minimum).max(1),
                    _ => *minimum,
                };
                needed.into_iter().all(|clause| self.may(&clause.node)) && optional >= least
            }
            _ => true,
        }
    }

    /// Does some segment hold moments between the ends of a range?
    fn may_be_between(&self, numbers: &Numbers) -> bool {
        let known = self.mapping.field_by_no(numbers.field);
        if !known.is_some_and(|field| matches!(field.kind, Type::Date(_))) {
            return true;
        }
        let mut segments = self.view.segments.iter();
        segments.any(|at| {
            let segment = &at.segment;
            match segment.numeric(numbers.field) {
                Some(column) => {
                    let (least, most) = (column.min(), column.max());
                    numbers.ranges.iter().any(|(low, high)| *low <= most && least <= *high)
                }
                // Without a column, points alone tell; without both there is no moment.
                None => segment.points(numbers.field).is_some(),
            }
        })
    }
}
