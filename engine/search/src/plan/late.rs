//! What stands for the plan of a shard where no time was left to make one.

use std::sync::Arc;

use segment::View;

use super::weigh::{AggNodes, Node, Plan};
use crate::iter::function::Trouble;
use crate::plan::bound::Bound;

impl Plan {
    /// A plan that finds nothing, in the shape of the request: its order and its aggregations are those of
    /// `bound`. It costs next to nothing to make, and no look at the view.
    pub fn of_nothing(bound: &Arc<Bound>, view: &Arc<View>) -> Arc<Self> {
        let none = |count: usize| -> Vec<Node> { (0..count).map(|_| Node::None).collect() };
        let aggs = bound.aggs.as_ref().map(|aggs| AggNodes {
            filters: none(aggs.filters.len()),
            query: aggs.query.as_ref().map(|_| Node::None),
            all: aggs.all.as_ref().map(|_| Node::None),
        });
        Arc::new(Self {
            bound: Arc::clone(bound),
            view: Arc::clone(view),
            root: Node::None,
            named: Vec::new(),
            sort_filters: none(bound.sort_filters.len()),
            aggs,
            trouble: Trouble::default(),
            lookups: 0,
            gathered_bytes: 0,
            held_bytes: 0,
        })
    }
}
