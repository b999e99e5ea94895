//! Suggestions of a search: each shard's own, joined; completions with their documents.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use env::{Env, Spawn};
use mapping::analysis::effort::{Exhausted, within};
use search::fetch::Columns;
use search::plan::Plan;
use search::request::SearchRequest;
use search::result::Hit;
use search::suggest::{Awaited, Entry, Suggestion, merge};

use super::effort::{self, STEPS_MAX, STEPS_SHORT};
use super::meaning::{State, Target};
use super::search::Asking;
use super::slow::Watched;
use super::{Shards, failure};
use crate::core::Core;
use crate::error::{Error, Result};

/// Too many jobs wait.
const BUSY: &str = "too many searches wait for a worker";

/// The answer to one suggestion.
#[derive(Clone, Debug)]
pub struct Suggested {
    /// Its name.
    pub name: String,
    /// `term`, `phrase` or `completion`.
    pub kind: &'static str,
    /// The parts of the text, with their options.
    pub entries: Vec<Entry>,
    /// The documents of the options, parallel to them (`completion`).
    pub hits: Vec<Vec<Hit>>,
}

impl<E: Env> Core<E> {
    /// What is suggested beside the hits, and whether the time ended before: there is nothing in it then. Walks through
    /// dictionaries take what they take, so a worker does them, as long as it is wanted.
    pub(super) async fn suggested(
        self: &Rc<Self>,
        request: &Arc<SearchRequest>,
        targets: &[Target],
        shards: &mut Shards,
        mut watched: Option<&mut Watched<E>>,
        deadline: Option<Duration>,
    ) -> Result<(Vec<Suggested>, bool)> {
        if request.suggest.is_empty() {
            return Ok((Vec::new(), false));
        }
        let mut views = Vec::with_capacity(targets.len());
        for (at, target) in targets.iter().enumerate() {
            if let State::Planned(plan, columns, ..) = &target.state {
                views.push((at as u32, Arc::clone(plan), Arc::clone(columns)));
            }
        }
        let asked = request.suggest.clone();
        // It goes where this is given up, too.
        let waiting = Arc::new(());
        let wanted = Arc::downgrade(&waiting);
        let job = move |steps: u64| {
            within(steps, || gather(&asked, &views, &|| wanted.strong_count() > 0))
        };
        let work = async {
            let (job, busy) = (Arc::new(job), |_| Error::rejected(BUSY));
            let short = Arc::clone(&job);
            let done = self.env.spawn().work_short(move || short(STEPS_SHORT)).await;
            match done.map_err(busy)? {
                Err(Exhausted) => self.work_in_turn(move || job(STEPS_MAX)).await.map_err(busy),
                done => Ok(done),
            }
        };
        let done = match self.is_late(deadline) {
            true => None,
            false => self.in_time(deadline, work).await,
        };
        drop(waiting);
        let is_late = done.is_none();
        let (merged, failed): Gathered = match done {
            Some(done) => done?.map_err(|Exhausted| effort::too_costly(STEPS_MAX))?.0,
            None => (request.suggest.iter().map(|_| Vec::new()).collect(), Vec::new()),
        };
        for (target, error) in failed {
            let target = &targets[target as usize];
            if let Some(watched) = &mut watched {
                watched.fail(target.shard());
            }
            shards.note(target, error);
        }
        let asking = Asking::new(request);
        let mut suggested = Vec::with_capacity(merged.len());
        for (suggestion, entries) in request.suggest.iter().zip(merged) {
            let mut hits = Vec::with_capacity(entries.len());
            for entry in &entries {
                let mut of_entry = Vec::new();
                // The documents of completions.
                for (at, ranked) in entry.options.iter().filter_map(|it| it.found.as_ref()) {
                    let target = &targets[*at as usize];
                    of_entry.push(self.hit(&asking, target, ranked, None).await?);
                    self.env.spawn().yield_if_needed().await;
                }
                hits.push(of_entry);
            }
            let (name, kind) = (suggestion.name.clone(), suggestion.kind.name());
            suggested.push(Suggested { name, kind, entries, hits });
        }
        Ok((suggested, is_late))
    }
}

/// Entries of each suggestion, and the shards that failed.
type Gathered = (Vec<Vec<Entry>>, Vec<(u32, Error)>);

/// What the shards say, one suggestion after the other, and the shards that failed.
fn gather(
    asked: &[Suggestion],
    shards: &[(u32, Arc<Plan>, Arc<Columns>)],
    awaited: Awaited<'_>,
) -> Gathered {
    let (mut merged, mut failed) = (Vec::with_capacity(asked.len()), Vec::new());
    for (at, suggestion) in asked.iter().enumerate() {
        let mut found = Vec::with_capacity(shards.len());
        for (target, plan, columns) in shards {
            match columns.suggest.get(at).map(|bound| bound.run(&plan.view, *target, awaited)) {
                Some(Ok(entries)) => found.push(entries),
                Some(Err(error)) => failed.push((*target, failure::of_search(error))),
                None => {}
            }
        }
        merged.push(merge(suggestion, found));
    }
    (merged, failed)
}
