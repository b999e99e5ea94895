//! `dfs_query_then_fetch`: the counts of all shards together decide what terms are worth.
//!
//! Each shard is weighed twice: first to tell what it counts, then by the sums. Fields are known by
//! their names, as indices number them each on their own.

use base::hash::Map;
use std::sync::Arc;

use base::FieldNo;
use env::Env;
use search::plan::weigh::{Among, Statistics, weigh_among};
use search::plan::{Bound, Plan};
use search::score::bm25::FieldStats;
use search::score::model::TermCount;
use segment::View;
use segment::section::Missing;

use super::meaning::{State, Target};
use crate::core::Core;

impl<E: Env> Core<E> {
    /// The sums of what all targets count, for each in the numbers of its index.
    pub(super) fn count_together(
        &self,
        targets: &[Target],
    ) -> Result<Vec<Statistics>, segment::Error> {
        let mut fields: Map<String, FieldStats> = Map::default();
        let mut terms: Map<(String, Box<[u8]>), TermCount> = Map::default();
        let mut told: Vec<Statistics> = Vec::with_capacity(targets.len());
        for target in targets {
            let mut own = Statistics::default();
            if let State::Ready(view, meaning) = &target.state {
                self.weigh_as(meaning.bound(), view, |own| Among::Tell(own), &mut own)?;
            }
            for (no, stats) in &own.fields {
                let sum = fields.entry(name(target, *no)).or_default();
                sum.doc_count += stats.doc_count;
                sum.term_freq_sum += stats.term_freq_sum;
            }
            for ((no, term), count) in &own.terms {
                let sum = terms.entry((name(target, *no), term.clone())).or_default();
                sum.docs += count.docs;
                sum.times += count.times;
            }
            told.push(own);
        }
        for (target, own) in targets.iter().zip(&mut told) {
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
    pub(super) fn weigh_by(
        &self,
        bound: &Arc<Bound>,
        view: &Arc<View>,
        given: &mut Statistics,
    ) -> Result<Arc<Plan>, segment::Error> {
        self.weigh_as(bound, view, |given| Among::Given(given), given)
    }

    fn weigh_as(
        &self,
        bound: &Arc<Bound>,
        view: &Arc<View>,
        among: impl for<'a> Fn(&'a mut Statistics) -> Among<'a>,
        statistics: &mut Statistics,
    ) -> Result<Arc<Plan>, segment::Error> {
        let mut blocks = self.blocks.borrow_mut();
        let mut missing = Missing::new();
        loop {
            let counts = among(statistics);
            if let Some(plan) = weigh_among(bound, view, &mut blocks, &mut missing, counts, None)? {
                return Ok(plan);
            }
            missing.fetch();
        }
    }
}

fn name(target: &Target, no: FieldNo) -> String {
    let field = target.index.mapping.field_by_no(no);
    field.map_or_else(|| format!("#{}", no.get()), |field| field.path.to_string())
}
