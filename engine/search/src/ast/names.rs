//! The names by which queries are asked for.

use std::collections::BTreeSet;

use super::family::Relation;
use super::place::Span;
use super::{Node, Query};

impl Query {
    /// Adds the names of this query and of all in it. Queries that the DSL writes as others are named
    /// as what they became.
    pub fn names(&self, names: &mut BTreeSet<&'static str>) {
        names.insert(name(&self.node));
        let mut all = |queries: &[Query]| queries.iter().for_each(|query| query.names(names));
        match &self.node {
            Node::Bool(bool) => {
                for clauses in [&bool.must, &bool.filter, &bool.should, &bool.must_not] {
                    all(clauses);
                }
            }
            Node::DisMax(dis_max) => all(&dis_max.queries),
            Node::Constant(filter) => filter.names(names),
            Node::Boosting(boosting) => {
                boosting.positive.names(names);
                boosting.negative.names(names);
            }
            Node::FunctionScore(score) => {
                score.query.names(names);
                let filters = score.functions.iter().filter_map(|it| it.filter.as_ref());
                filters.for_each(|query| query.names(names));
            }
            Node::ScriptScore(score) => score.query.names(names),
            Node::Nested(nested) => nested.query.names(names),
            Node::Family(family) => family.query.names(names),
            Node::Pinned(pinned) => pinned.organic.names(names),
            _ => {}
        }
    }
}

fn name(node: &Node) -> &'static str {
    match node {
        Node::MatchAll => "match_all",
        Node::MatchNone => "match_none",
        Node::Match(text) if text.prefix => "match_bool_prefix",
        Node::Match(_) => "match",
        Node::Phrase(_) => "match_phrase",
        Node::PhrasePrefix(_) => "match_phrase_prefix",
        Node::MultiMatch(_) => "multi_match",
        Node::CombinedFields(_) => "combined_fields",
        Node::QueryString(_) => "query_string",
        Node::SimpleQueryString(_) => "simple_query_string",
        Node::Term(_) => "term",
        Node::Terms(_) | Node::TermsLookup(_) => "terms",
        Node::TermsSet(_) => "terms_set",
        Node::Range(_) => "range",
        Node::Exists(_) => "exists",
        Node::Ids(_) => "ids",
        Node::Bool(_) => "bool",
        Node::Constant(_) => "constant_score",
        Node::DisMax(_) => "dis_max",
        Node::Boosting(_) => "boosting",
        Node::Prefix(_) => "prefix",
        Node::Wildcard(_) => "wildcard",
        Node::Regexp(_) => "regexp",
        Node::Fuzzy(_) => "fuzzy",
        Node::FunctionScore(_) => "function_score",
        Node::Script(_) => "script",
        Node::ScriptScore(_) => "script_score",
        Node::Nested(_) => "nested",
        Node::Family(family) => match family.relation {
            Relation::Child => "has_child",
            Relation::Parent => "has_parent",
        },
        Node::ParentId(_) => "parent_id",
        Node::RankFeature(_) => "rank_feature",
        Node::DistanceFeature(_) => "distance_feature",
        Node::Geo(within) => within.query,
        Node::MoreLikeThis(_) => "more_like_this",
        Node::Pinned(_) => "pinned",
        Node::Intervals(_) => "intervals",
        Node::Span(span) => match &**span {
            Span::Term(..) => "span_term",
            Span::Near { .. } => "span_near",
            Span::Or(_) => "span_or",
            Span::Not { .. } => "span_not",
            Span::First(..) => "span_first",
            Span::Containing(..) => "span_containing",
            Span::Within(..) => "span_within",
            Span::Multi(_) => "span_multi",
            Span::Masked(..) => "span_field_masking",
        },
    }
}
