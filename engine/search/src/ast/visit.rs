//! Walking through a query and the queries in it.

use super::{Like, Node, Query};

impl Query {
    /// Calls `each` for this query and all below it, the outer first.
    pub fn visit_mut(&mut self, each: &mut dyn FnMut(&mut Query)) {
        each(self);
        match &mut self.node {
            Node::Bool(bool) => {
                for clauses in
                    [&mut bool.must, &mut bool.filter, &mut bool.should, &mut bool.must_not]
                {
                    clauses.iter_mut().for_each(|query| query.visit_mut(each));
                }
            }
            Node::Constant(filter) => filter.visit_mut(each),
            Node::DisMax(dis_max) => {
                dis_max.queries.iter_mut().for_each(|query| query.visit_mut(each));
            }
            Node::Boosting(boosting) => {
                boosting.positive.visit_mut(each);
                boosting.negative.visit_mut(each);
            }
            Node::FunctionScore(score) => {
                score.query.visit_mut(each);
                let filters = score.functions.iter_mut().filter_map(|it| it.filter.as_mut());
                filters.for_each(|query| query.visit_mut(each));
            }
            Node::ScriptScore(score) => score.query.visit_mut(each),
            Node::Nested(nested) => nested.query.visit_mut(each),
            Node::Pinned(pinned) => pinned.organic.visit_mut(each),
            _ => {}
        }
    }

    /// Documents must be looked up before it meets an index.
    pub fn looks_up(&self) -> bool {
        let all = |queries: &[Query]| queries.iter().any(Query::looks_up);
        match &self.node {
            Node::TermsLookup(_) => true,
            Node::MoreLikeThis(like) => {
                like.like.iter().chain(&like.unlike).any(|it| matches!(it, Like::Item { .. }))
            }
            Node::Bool(bool) => {
                all(&bool.must) || all(&bool.filter) || all(&bool.should) || all(&bool.must_not)
            }
            Node::Constant(filter) => filter.looks_up(),
            Node::DisMax(dis_max) => all(&dis_max.queries),
            Node::Boosting(boosting) => {
                boosting.positive.looks_up() || boosting.negative.looks_up()
            }
            Node::FunctionScore(score) => {
                let mut filters = score.functions.iter().filter_map(|it| it.filter.as_ref());
                score.query.looks_up() || filters.any(Query::looks_up)
            }
            Node::ScriptScore(score) => score.query.looks_up(),
            Node::Nested(nested) => nested.query.looks_up(),
            Node::Pinned(pinned) => pinned.organic.looks_up(),
            _ => false,
        }
    }
}
