//! What was found becomes hits: documents are read, fields shown, memory paid for.

use std::collections::BTreeSet;

use search::request::Stored;

use super::*;

impl<E: Env> Core<E> {
    /// Winners become hits.
    pub(in crate::ops) async fn present(
        self: &Rc<Self>,
        request: &Arc<SearchRequest>,
        run: Run,
        partial_results: bool,
        begin: Duration,
    ) -> Result<SearchReply> {
        let Run {
            targets,
            mut shards,
            reduce_phases,
            mut merged,
            mut aggs,
            mut profile,
            memory: mut more_memory,
            ranks,
        } = run;
        let asked: Vec<u32> = {
            let mut asked: Vec<u32> = merged.winners.iter().map(|winner| winner.target).collect();
            asked.sort_unstable();
            asked.dedup();
            asked
        };
        let ids = request.stored != Stored::None;
        let mut winners: Vec<ShardId> = Vec::new();
        for target in asked.iter().map(|at| &targets[*at as usize]) {
            if winners.last() == Some(&target.shard()) {
                continue;
            }
            winners.push(target.shard());
            if let State::Planned(_, columns, _) = &target.state {
                self.count_fields(target.shard(), &columns.uses(ids));
            }
        }
        let mut watched = self.watch(winners, Phase::Fetch);
        // All of them at once, before the first: many searches at work each had their part.
        let mut memory = None;
        self.pay(&mut memory, "fetched_hits", merged.winners.len() * HIT_BYTES)?;
        let hits: Vec<(ShardId, Hit)> = Vec::with_capacity(merged.winners.len());
        let mut hits = Leaving::new(hits, |hits| hits.len() > HITS_FEW);
        let mut lost: BTreeSet<ShardId> = BTreeSet::new();
        let (mut inside, mut opens) = (InsidePlans::default(), OpenPlans::default());
        let asking = Asking::new(request);
        // Each goes when it is a hit: by a thousand keys, a thousand of them take a while.
        let mut winners = one_by_one(std::mem::take(&mut merged.winners));
        for winner in &mut *winners {
            let start = request.profile.then(|| self.env.clock().monotonic());
            let target = &targets[winner.target as usize];
            let open = opens.of(self, request, winner.target, target).await;
            let made = match open {
                Ok(open) => self.hit(&asking, target, &winner.ranked, open.as_ref()).await,
                Err(error) => Err(error),
            };
            let made = match (made, &target.state) {
                (Ok(mut hit), State::Planned(plan, columns, _)) => {
                    self.script_fields(columns, plan, &winner.ranked, &mut hit).await.map(|()| hit)
                }
                (made, _) => made,
            };
            let made = made.map(|mut made| {
                if made.explanation.is_some() {
                    let shard = format!("[{}][{}]", target.index.name, target.number);
                    made.place = Some((shard, self.shared().config.info.id.clone()));
                }
                made
            });
            let made = match (made, &target.state) {
                (Ok(mut hit), State::Planned(plan, columns, _)) if !columns.inner.is_empty() => {
                    match inside.of(self, winner.target, &plan.view, columns).await {
                        Ok(plans) => {
                            let fetch = Fetch::new(request, &target.index.name, columns);
                            let pace =
                                Pace::of(&fetch, plan, &winner.ranked).unwrap_or(Pace::Short);
                            let (columns, ranked) = (Arc::clone(columns), winner.ranked.clone());
                            let bytes = || fetch.needed_bytes(plan, &winner.ranked);
                            let job = move || {
                                inside_hits(&columns, &plans, &ranked, &mut hit).map(|()| hit)
                            };
                            self.fetch_at(pace, bytes, job).await
                        }
                        Err(error) => Err(error),
                    }
                }
                (made, _) => made,
            };
            match made {
                Ok(hit) => {
                    self.pay(&mut memory, "fetched_hits", hit_bytes(&hit) - HIT_BYTES)?;
                    hits.push((target.shard(), hit));
                }
                Err(error) => {
                    lost.insert(target.shard());
                    if error.kind == "corrupt_index_exception" {
                        self.look_after(target.shard());
                    }
                    watched.fail(target.shard());
                    shards.note(target, error);
                }
            }
            if let (Some(start), Some(profile)) = (start, profile.get_mut(winner.target as usize)) {
                let took = self.env.clock().monotonic().saturating_sub(start);
                *profile.fetch.get_or_insert_default() += took;
            }
            self.env.spawn().yield_if_needed().await;
        }
        // A shard that fails tells nothing, also not what it had read by then.
        hits.retain(|(shard, _)| !lost.contains(shard));
        let hits = hits.stay().into_iter().map(|(_, hit)| hit).collect();
        let (total, max_score) = (merged.total, merged.max_score);
        let mut result = SearchResult { total, max_score, hits, aggs: None }.leaving();
        if let Some(aggs) = &mut aggs {
            let failed = (&mut shards, &mut watched);
            self.fetch_tops(aggs, &targets, failed, &mut memory).await?;
        }
        drop(ranks);
        watched.done();
        // Beside a query it is a part of that, and not counted by itself.
        let mut watched = request
            .suggest_only
            .then(|| self.watch_span(shards_of(&targets).map(Target::shard), |uses| &uses.suggest));
        let deadline = request.timeout_ms.map(|ms| begin + Duration::from_millis(ms));
        let mut both = (memory.take(), std::mem::take(&mut more_memory));
        let watching = watched.as_mut();
        let suggest = self.suggested(request, &targets, &mut shards, watching, deadline, &mut both);
        let (suggest, is_late) = suggest.await?;
        (memory, more_memory) = both;
        if let Some(watched) = watched {
            watched.done();
        }
        merged.timed_out |= is_late;
        if is_late && !partial_results {
            for target in shards_of(&targets) {
                shards.note(target, late::too_late());
            }
        }
        if shards.failed > 0 && (!partial_results || shards.successful == 0) {
            // Of one shard alone Elasticsearch fetches as soon as it has found.
            let phase = if shards.total > 1 { "fetch" } else { "query" };
            return Err(self.failed_in(phase, &shards));
        }
        result.aggs = aggs;
        let took = self.env.clock().monotonic().saturating_sub(begin);
        Ok(SearchReply {
            took_ms: took.as_millis() as u64,
            timed_out: merged.timed_out,
            terminated_early: merged.terminated_early,
            shards,
            reduce_phases,
            result,
            suggest,
            profile,
            scroll_id: None,
            pit_id: None,
            memory: memory.map(Arc::new),
            more_memory,
        })
    }
}
