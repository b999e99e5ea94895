//! Suggestions of a search: each shard's own, joined; completions with their documents.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use env::budget::{Lease, Taken};
use env::leftovers::Leaving;
use env::{Env, Spawn};
use mapping::analysis::effort::{Exhausted, within};
use search::fetch::Columns;
use search::plan::Plan;
use search::request::SearchRequest;
use search::result::{Hit, Memory};
use search::suggest::{Entry, Suggestion, merge};

use super::effort::{self, STEPS_MAX, STEPS_SHORT};
use super::footprint::hit_bytes;
use super::made::{Lacks, Meter};
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
    /// dictionaries take what they take, so a worker does them, as long as it is wanted and there is memory for what
    /// they find; that is added to `memory`.
    pub(super) async fn suggested(
        self: &Rc<Self>,
        request: &Arc<SearchRequest>,
        targets: &[Target],
        shards: &mut Shards,
        mut watched: Option<&mut Watched<E>>,
        deadline: Option<Duration>,
        memory: &mut (Option<Taken>, Memory),
    ) -> Result<(Leaving<Vec<Suggested>>, bool)> {
        if request.suggest.is_empty() {
            return Ok((Leaving::known(Vec::new(), false), false));
        }
        let mut views = Vec::with_capacity(targets.len());
        for (at, target) in targets.iter().enumerate() {
            if let State::Planned(plan, columns, ..) = &target.state {
                views.push((at as u32, Arc::clone(plan), Arc::clone(columns)));
            }
        }
        let (asked, lease) = (request.suggest.clone(), self.lease.clone());
        // It goes where this is given up, too.
        let waiting = Arc::new(());
        let wanted = Arc::downgrade(&waiting);
        let job = move |steps: u64| {
            let is_wanted = || wanted.strong_count() > 0;
            within(steps, || gather(&asked, &views, &lease, &is_wanted))
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
        let Gathered { merged, failed, memory: taken } = match done {
            Some(done) => {
                let (gathered, _) = done?.map_err(|Exhausted| effort::too_costly(STEPS_MAX))?;
                gathered.map_err(|Lacks(bytes)| self.no_memory("suggestions", bytes))?
            }
            None => Gathered::nothing(&request.suggest),
        };
        let is_large = taken.is_some();
        memory.1.hold(taken.map(Arc::new));
        let merged = Leaving::known(merged, is_large);
        for (target, error) in failed {
            let target = &targets[target as usize];
            if let Some(watched) = &mut watched {
                watched.fail(target.shard());
            }
            shards.note(target, error);
        }
        let asking = Asking::new(request);
        let suggested = Vec::with_capacity(merged.len());
        let mut suggested = Leaving::new(suggested, |suggested| is_long(suggested));
        for (suggestion, entries) in request.suggest.iter().zip(merged.stay()) {
            let (name, kind) = (suggestion.name.clone(), suggestion.kind.name());
            suggested.push(Suggested { name, kind, entries, hits: Vec::new() });
            let Some(Suggested { entries, hits, .. }) = suggested.last_mut() else { continue };
            for entry in entries {
                let mut of_entry = Vec::new();
                // The documents of completions.
                for (at, ranked) in entry.options.iter().filter_map(|it| it.found.as_ref()) {
                    let target = &targets[*at as usize];
                    let hit = self.hit(&asking, target, ranked, None).await?;
                    self.pay(&mut memory.0, "fetched_hits", hit_bytes(&hit))?;
                    of_entry.push(hit);
                    self.env.spawn().yield_if_needed().await;
                }
                hits.push(of_entry);
            }
        }
        Ok((suggested, is_late))
    }
}

/// More options than these, with their documents, go elsewhere.
const OPTIONS_FEW: usize = 500;

/// Are there so many options that it takes a moment until they are gone?
fn is_long(suggested: &[Suggested]) -> bool {
    let entries = suggested.iter().flat_map(|one| &one.entries);
    entries.map(|entry| 1 + entry.options.len()).sum::<usize>() > OPTIONS_FEW
}

/// What the shards say.
struct Gathered {
    /// Entries of each suggestion.
    merged: Vec<Vec<Entry>>,
    /// The shards that failed.
    failed: Vec<(u32, Error)>,
    /// The memory for all this.
    memory: Option<Taken>,
}

impl Gathered {
    /// Of each that is asked for nothing.
    fn nothing(asked: &[Suggestion]) -> Self {
        let merged = asked.iter().map(|_| Vec::new()).collect();
        Self { merged, failed: Vec::new(), memory: None }
    }
}

/// What the shards say, one suggestion after the other, and the shards that failed; until nobody waits any more, or
/// there is no memory left.
fn gather(
    asked: &[Suggestion],
    shards: &[(u32, Arc<Plan>, Arc<Columns>)],
    lease: &Lease,
    is_wanted: &dyn Fn() -> bool,
) -> std::result::Result<Gathered, Lacks> {
    let meter = Meter::new(lease);
    let awaited = &|| is_wanted() && meter.goes_on();
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
        if !meter.goes_on() {
            break;
        }
    }
    let memory = meter.end()?;
    Ok(Gathered { merged, failed, memory })
}
