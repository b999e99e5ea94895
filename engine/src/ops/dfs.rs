//! `dfs_query_then_fetch`: the counts of all shards together decide what terms are worth.
//!
//! Each shard is weighed twice: first to tell what it counts, then by the sums. Fields are known by
//! their names, as indices number them each on their own.

use base::hash::Map;
use std::sync::Arc;
use std::time::Duration;

use base::FieldNo;
use env::{Env, Spawn};
use search::plan::weigh::{Among, Statistics};
use search::plan::{Bound, Plan};
use search::score::bm25::FieldStats;
use search::score::model::TermCount;
use segment::View;

use super::made::Made;
use super::meaning::{State, Target};
use super::weigh::Known;
use crate::core::Core;
use crate::error::Result;

impl<E: Env> Core<E> {
    /// The sums of what all targets count, for each in the numbers of its index; of no more targets than were
    /// counted when the deadline passed.
    ///
    /// # Errors
    /// Damage, or too little memory.
    pub(super) async fn count_together(
        &self,
        targets: &[Target],
        deadline: Option<Duration>,
        made: &mut Made,
    ) -> Result<Vec<Known>> {
        let mut fields: Map<String, FieldStats> = Map::default();
        let mut terms: Map<(String, Box<[u8]>), TermCount> = Map::default();
        let mut told: Vec<Known> = Vec::with_capacity(targets.len());
        for target in targets {
            let mut own = Known::default();
            if let State::Ready(view, meaning) = &target.state {
                if self.is_late(deadline) {
                    break;
                }
                let bound = meaning.bound();
                let gathered = self.gather(bound, view, view, deadline).await?;
                let Some(gathered) = gathered else { break };
                let known = (gathered, Statistics::default());
                let weighed = self.weigh_as(bound, view, known, |own| Among::Tell(own), deadline);
                let Some((plan, known)) = weighed.await? else { break };
                made.pay(self, plan.held_bytes)?;
                own = known;
            }
            let (_, statistics) = &own;
            for (no, stats) in &statistics.fields {
                let sum = fields.entry(name(target, *no)).or_default();
                sum.doc_count += stats.doc_count;
                sum.term_freq_sum += stats.term_freq_sum;
            }
            for (round, ((no, term), count)) in statistics.terms.iter().enumerate() {
                self.env.spawn().yield_at(round).await;
                let sum = terms.entry((name(target, *no), term.clone())).or_default();
                sum.docs += count.docs;
                sum.times += count.times;
            }
            told.push(own);
        }
        for (target, (_, own)) in targets.iter().zip(&mut told) {
            for (no, stats) in &mut own.fields {
                *stats = fields.get(&name(target, *no)).copied().unwrap_or(*stats);
            }
            for (round, ((no, term), freq)) in own.terms.iter_mut().enumerate() {
                self.env.spawn().yield_at(round).await;
                let sum = terms.get(&(name(target, *no), term.clone()));
                *freq = sum.copied().unwrap_or(*freq);
            }
        }
        Ok(told)
    }

    /// Weights of a shard by counts that are given; none where the deadline passes before.
    ///
    /// # Errors
    /// Damage, or too little memory.
    pub(super) async fn weigh_by(
        &self,
        bound: &Arc<Bound>,
        view: &Arc<View>,
        given: Known,
        deadline: Option<Duration>,
    ) -> Result<Option<Arc<Plan>>> {
        let made = self.weigh_as(bound, view, given, |sums| Among::Given(sums), deadline);
        Ok(made.await?.map(|(plan, _)| plan))
    }
}

fn name(target: &Target, no: FieldNo) -> String {
    let field = target.index.mapping.field_by_no(no);
    field.map_or_else(|| format!("#{}", no.get()), |field| field.path.to_string())
}
