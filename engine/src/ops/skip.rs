//! Shards that are passed over before a search, as they cannot match (`search::plan::skip`).

use env::{Env, Spawn};
use search::plan::skip;
use search::request::{SearchRequest, SortBy, Tiebreak};

use super::meaning::{State, Target};
use crate::core::Core;

/// More shards than this are asked beforehand whether they can match, where the request does not say
/// (`pre_filter_shard_size`); one that sorts by a field, or reads what nobody may write to, asks any two.
const UNFILTERED_MAX: u32 = 128;

impl<E: Env> Core<E> {
    /// Takes away the targets that cannot match, and says how many; one stays, for the answer's shape. Where
    /// hits are told apart by their shard's number, all stay: a later page must number them alike.
    pub(super) async fn pass_over(
        &self,
        request: &SearchRequest,
        targets: &mut Vec<Target>,
    ) -> u32 {
        let sorts =
            matches!(request.sort.first(), Some(sort) if matches!(sort.by, SortBy::Field(_)));
        let is_of_use = skip::is_of_use(request) || sorts;
        if !is_of_use || request.dfs || request.profile || request.tiebreak != Tiebreak::None {
            return 0;
        }
        let at_rest = targets.iter().any(|target| target.index.settings.flag("index.blocks.write"));
        let default = if sorts || at_rest { 1 } else { UNFILTERED_MAX };
        if targets.len() as u32 <= request.shards_unfiltered_max.unwrap_or(default) {
            return 0;
        }
        let mut may = Vec::with_capacity(targets.len());
        for target in targets.iter() {
            may.push(match &target.state {
                // How many were passed over is told: dates of hidden documents must not show in it.
                State::Ready(view, meaning) => {
                    meaning.hides
                        || !skip::is_of_use(request)
                        || skip::may_match(&meaning.bound, &target.index.mapping, view)
                }
                State::Planned(..) | State::Failed(_) => true,
            });
            self.env.spawn().yield_if_needed().await;
        }
        if !may.contains(&true)
            && let Some(last) = may.last_mut()
        {
            *last = true;
        }
        let before = targets.len();
        let mut may = may.into_iter();
        targets.retain(|_| may.next().unwrap_or(true));
        (before - targets.len()) as u32
    }
}
