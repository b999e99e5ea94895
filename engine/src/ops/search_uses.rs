//! How searches are asked: which queries, which parts of a body, which aggregations over which kinds
//! of values.
//!
//! Each core counts in a table of its own; who asks adds the tables up. As on Elasticsearch, queries and parts
//! count once a search; an aggregation counts each time that it is asked for, and once for each shard that it reads,
//! which those that read other aggregations do not.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::CoreId;
use env::Env;
use mapping::Mapping;
use mapping::types::Kind;
use search::aggs::spec::{Agg, Aggs};
use search::request::SearchRequest;

use crate::core::Core;

/// What was counted since the node started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Searches.
    pub total: u64,
    /// Searches that asked a query of this name.
    pub queries: BTreeMap<&'static str, u64>,
    /// Searches whose body had this part.
    pub sections: BTreeMap<&'static str, u64>,
    /// Aggregations that searches asked for, also those that read others, by name.
    pub asked: BTreeMap<&'static str, u64>,
    /// Aggregations that shards did, by name and by kind of their values.
    pub aggs: BTreeMap<(&'static str, &'static str), u64>,
}

impl std::ops::AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Self) {
        self.total += other.total;
        for (mine, others) in [
            (&mut self.queries, &other.queries),
            (&mut self.sections, &other.sections),
            (&mut self.asked, &other.asked),
        ] {
            others.iter().for_each(|(name, count)| *mine.entry(name).or_default() += count);
        }
        other.aggs.iter().for_each(|(of, count)| *self.aggs.entry(*of).or_default() += count);
    }
}

/// A table for each core.
pub struct SearchUses {
    cores: Vec<Mutex<Counts>>,
}

impl SearchUses {
    pub(crate) fn new(cores: u16) -> Self {
        Self { cores: (0..cores).map(|_| Mutex::default()).collect() }
    }

    /// All cores together.
    pub fn sum(&self) -> Counts {
        let mut sum = Counts::default();
        (0..self.cores.len()).for_each(|core| sum += &*self.table(core));
        sum
    }

    /// A table; nobody holds one for longer than it takes to count.
    fn table(&self, core: usize) -> MutexGuard<'_, Counts> {
        self.cores[core].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, core: CoreId) -> MutexGuard<'_, Counts> {
        self.table(usize::from(core.get()))
    }
}

impl<E: Env> Core<E> {
    /// Counts a search that was asked.
    pub(crate) fn count_search(&self, request: &SearchRequest) {
        let mut counts = self.shared.search_uses.of(self.id);
        counts.total += 1;
        for name in &request.kinds {
            *counts.queries.entry(*name).or_default() += 1;
        }
        for section in sections(request) {
            *counts.sections.entry(section).or_default() += 1;
        }
        each_asked(&request.aggs, &mut counts.asked);
    }

    /// Counts the aggregations of a search at a shard of an index with this mapping.
    pub(crate) fn count_aggs(&self, aggs: &Aggs, mapping: &Mapping) {
        if !aggs.is_empty() {
            each(aggs, mapping, &mut self.shared.search_uses.of(self.id));
        }
    }
}

fn each(aggs: &Aggs, mapping: &Mapping, counts: &mut Counts) {
    for agg in &aggs.aggs {
        let of = (agg.kind.type_name(), kind_of_values(agg, mapping));
        *counts.aggs.entry(of).or_default() += 1;
        each(&agg.subs, mapping, counts);
    }
}

fn each_asked(aggs: &Aggs, counts: &mut BTreeMap<&'static str, u64>) {
    for agg in &aggs.aggs {
        *counts.entry(agg.kind.type_name()).or_default() += 1;
        each_asked(&agg.subs, counts);
    }
    for pipe in &aggs.pipes {
        *counts.entry(pipe.kind.type_name()).or_default() += 1;
    }
}

/// Elasticsearch's word for where an aggregation takes its values from.
fn kind_of_values(agg: &Agg, mapping: &Mapping) -> &'static str {
    let field = agg.kind.values().and_then(|values| mapping.lookup(&values.field));
    match field.as_ref().map(|field| &field.kind) {
        Some(Kind::Number(_)) => "numeric",
        Some(Kind::Boolean(_)) => "boolean",
        Some(Kind::Date(_)) => "date",
        Some(Kind::Ip(_)) => "ip",
        Some(Kind::GeoPoint(_)) => "geopoint",
        Some(Kind::Range(_)) => "range",
        Some(
            Kind::Text(_)
            | Kind::Keyword(_)
            | Kind::ConstantKeyword(_)
            | Kind::Flattened(_)
            | Kind::Join(_),
        ) => "keyword",
        _ => "other",
    }
}

/// The parts that a body had, by name.
fn sections(request: &SearchRequest) -> impl Iterator<Item = &'static str> {
    [
        ("aggs", !request.aggs.is_empty()),
        ("collapse", request.collapse.is_some()),
        ("docvalue_fields", !request.docvalue_fields.is_empty()),
        ("fields", !request.fields.is_empty()),
        ("highlight", request.highlight.is_some()),
        ("indices_boost", !request.indices_boost.is_empty()),
        ("min_score", request.min_score.is_some()),
        ("pit", request.pit.is_some()),
        ("post_filter", request.post_filter.is_some()),
        ("query", request.query.is_some()),
        ("rescore", !request.rescore.is_empty()),
        ("script_fields", !request.script_fields.is_empty()),
        ("search_after", request.search_after.is_some()),
        ("slice", request.slice.is_some()),
        ("sort", !request.sort.is_empty()),
        ("suggest", !request.suggest.is_empty()),
        ("terminate_after", request.terminate_after > 0),
    ]
    .into_iter()
    .filter_map(|(name, is_there)| is_there.then_some(name))
}
