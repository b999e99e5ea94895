//! Which documents inside of another count for a sort key.

use mapping::Mapping;

use crate::error::{Error, Result};
use crate::plan::bind::{Binder, objects, restricted};
use crate::plan::bound::Clause;
use crate::plan::weigh::{Node, Plan};
use crate::request::{Mode, NestedSort, Sort};

/// Which documents inside count.
#[derive(Clone, Copy, Debug)]
pub struct Inside {
    /// Those that match this filter.
    pub filter: Filter,
    /// So many of them that have a value, at most.
    pub count_max: u32,
    /// Of several values the middle one is asked for: no document may have any inside.
    pub is_median: bool,
}

/// A filter of a plan, by its number.
#[derive(Clone, Copy, Debug)]
pub enum Filter {
    /// Among those of the sort keys.
    OfSort(usize),
    /// Among those of the aggregations.
    OfAggs(usize),
}

impl Inside {
    /// Meets an index; `None` where the key is not of documents inside.
    ///
    /// # Errors
    /// A path that is none, and a path inside that says how many count.
    pub fn bind(sort: &Sort, mapping: &Mapping) -> Result<Option<Self>> {
        let Some(nested) = &sort.nested else { return Ok(None) };
        if nested.has_inner_max {
            return Err(Error::shard("max_children is only supported on top level of nested sort"));
        }
        if mapping.is_nested(&nested.path) {
            let is_median = sort.mode == Some(Mode::Median);
            let (filter, count_max) = (Filter::OfSort(0), nested.max_children);
            return Ok(Some(Self { filter, count_max, is_median }));
        }
        // These documents have none inside that are seen, and the field no value.
        if mapping.lacks_nested(&nested.path) {
            return Ok(None);
        }
        Err(Error::shard(format!(
            "[nested] failed to find nested object under path [{}]",
            nested.path
        )))
    }

    /// Its filter.
    pub fn node<'a>(&self, plan: &'a Plan) -> &'a Node {
        match self.filter {
            Filter::OfSort(at) => &plan.sort_filters[at],
            Filter::OfAggs(at) => &plan.aggs.as_ref().expect("it is one of theirs").filters[at],
        }
    }
}

/// What finds the documents that count: those of the very path, and of no deeper one.
pub fn clause(nested: &NestedSort, binder: &mut Binder<'_>) -> Result<Clause> {
    let objects = objects(&nested.path);
    let Some(filter) = &nested.filter else { return Ok(objects) };
    let outer = binder.scope.replace(nested.path.as_str().into());
    let filter = binder.top(filter);
    binder.scope = outer;
    // Of no other document it is asked: a script may fail there.
    Ok(restricted(filter?, objects))
}
