//! `dfs_query_then_fetch`: the counts of all shards together decide what terms are worth.
//!
//! Each shard is weighed twice: first to tell what it counts, then by the sums. Fields are known by
//! their names, as indices number them each on their own.

use base::hash::Map;
use std::sync::Arc;

use base::FieldNo;
use env::Env;
use search::plan::gather::Gathered;
use search::plan::weigh::{Among, Statistics};
use search::plan::{Bound, Plan};
use search::score::bm25::FieldStats;
use search::score::model::TermCount;
use segment::View;

use super::meaning::{State, Target};
use crate::core::Core;
use crate::error::Result;

/// What a shard counts, and the terms of patterns in it.
pub(super) struct Counts {
    statistics: Statistics,
    terms: Gathered,
}

impl<E: Env> Core<E> {
    /// The sums of what all targets count, for each in the numbers of its index.
    ///
    /// # Errors
    /// Damage, or too little memory.
    pub(super) async fn count_together(&self, targets: &[Target]) -> Result<Vec<Counts>> {
        let mut fields: Map<String, FieldStats> = Map::default();
        let mut terms: Map<(String, Box<[u8]>), TermCount> = Map::default();
        let mut told: Vec<Counts> = Vec::with_capacity(targets.len());
        for target in targets {
            let mut own = Counts { statistics: Statistics::default(), terms: Gathered::new() };
            if let State::Ready(view, meaning) = &target.state {
                let bound = meaning.bound();
                own.terms = self.gather(bound, view, view).await?;
                let (terms, own) = (&own.terms, &mut own.statistics);
                self.weigh_as(bound, view, terms, |own| Among::Tell(own), own)?;
            }
            for (no, stats) in &own.statistics.fields {
                let sum = fields.entry(name(target, *no)).or_default();
                sum.doc_count += stats.doc_count;
                sum.term_freq_sum += stats.term_freq_sum;
            }
            for ((no, term), count) in &own.statistics.terms {
                let sum = terms.entry((name(target, *no), term.clone())).or_default();
                sum.docs += count.docs;
                sum.times += count.times;
            }
            told.push(own);
        }
        for (target, Counts { statistics: own, .. }) in targets.iter().zip(&mut told) {
            for (no, stats) in &mut own.fields {
                *stats = fields.get(&name(target, *no)).copied().unwrap_or(*stats);
            }
            for ((no, term), freq) in &mut own.terms {
                let sum = terms.get(&(name(target, *no), term.clone()));
                *freq = sum.copied().unwrap_or(*freq);
            }
        }
        Ok(told)
    }

    /// Weights of a shard by counts that are given.
    ///
    /// # Errors
    /// Damage.
    pub(super) fn weigh_by(
        &self,
        bound: &Arc<Bound>,
        view: &Arc<View>,
        given: &mut Counts,
    ) -> Result<Arc<Plan>> {
        let (terms, sums) = (&given.terms, &mut given.statistics);
        self.weigh_as(bound, view, terms, |sums| Among::Given(sums), sums)
    }
}

fn name(target: &Target, no: FieldNo) -> String {
    let field = target.index.mapping.field_by_no(no);
    field.map_or_else(|| format!("#{}", no.get()), |field| field.path.to_string())
}
