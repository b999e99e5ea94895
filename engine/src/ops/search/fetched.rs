//! One winner is read: here, or by a worker where that may take long.

use mapping::analysis::effort::{Exhausted, within};

use super::super::effort::{self, STEPS_HERE, STEPS_MAX};
use super::*;

/// A request on whose behalf winners are read.
pub(in crate::ops) struct Asking<'a> {
    pub(in crate::ops) request: &'a Arc<SearchRequest>,
}

impl<'a> Asking<'a> {
    pub(in crate::ops) fn new(request: &'a Arc<SearchRequest>) -> Self {
        Self { request }
    }
}

impl<E: Env> Core<E> {
    /// Makes a hit of a winner.
    ///
    /// # Errors
    /// What cannot be shown; a damaged segment; too many documents that wait for a worker.
    pub(in crate::ops) async fn hit(
        &self,
        asking: &Asking<'_>,
        target: &Target,
        ranked: &Ranked,
        open: Option<&Arc<Plan>>,
    ) -> Result<Hit> {
        let request = asking.request;
        let State::Planned(plan, columns, _) = &target.state else {
            return Err(Error::internal("a hit of a shard that failed"));
        };
        let fetch = Fetch::new(request, &target.index.name, columns);
        let pace = Pace::of(&fetch, plan, ranked)?;
        let here = match pace {
            Pace::Short => within(STEPS_HERE, || fetched(&fetch, plan, ranked)).ok(),
            Pace::Long { .. } | Pace::Dear { .. } => None,
        };
        let mut hit = if let Some((made, _)) = here {
            made?
        } else {
            let pace = pace.of_worker(|| fetch.needed_bytes(plan, ranked));
            let (request, index) = (Arc::clone(asking.request), Arc::clone(&target.index));
            let (columns, plan, ranked) = (Arc::clone(columns), Arc::clone(plan), ranked.clone());
            let job = move || fetched(&Fetch::new(&request, &index.name, &columns), &plan, &ranked);
            Box::pin(self.fetch_away(pace, job)).await?
        };
        if request.explain {
            let place = (ranked.segment, ranked.doc);
            let mut explained = self.why(open.unwrap_or(plan), target, place).await?;
            for (asked, second) in request.rescore.iter().zip(&target.rescored) {
                let again = match second.docs.contains(&place) {
                    true => Some(self.why(&second.plan, target, place).await?),
                    false => None,
                };
                explained = explain::rescored(asked, explained, again);
            }
            hit.explanation = Some(explained.explanation);
        }
        Ok(hit)
    }

    /// Reads what a job reads: a worker, where that would hold this core; `bytes` of memory it takes then. What is
    /// short by its length, and long by what its analyzers do, is begun anew there.
    ///
    /// # Errors
    /// Those of the job; its analyzers would do too much; no memory; too many wait for a worker.
    pub(in crate::ops) async fn fetch_at<T: Send + 'static>(
        &self,
        pace: Pace,
        bytes: impl FnOnce() -> usize,
        job: impl FnOnce() -> Result<T> + Clone + Send + 'static,
    ) -> Result<T> {
        if pace == Pace::Short
            && let Ok((made, _)) = within(STEPS_HERE, job.clone())
        {
            return made;
        }
        Box::pin(self.fetch_away(pace.of_worker(bytes), job)).await
    }

    /// Reads what a job reads on a worker. Its memory is counted from when that begins until what was wanted of the
    /// document is left.
    async fn fetch_away<T: Send + 'static>(
        &self,
        pace: OfWorker,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let job = move || match within(STEPS_MAX, job) {
            Ok((made, _)) => made,
            Err(Exhausted) => Err(effort::too_costly_to_show()),
        };
        match pace {
            OfWorker::Long(bytes) => self.presented(bytes, job).await,
            OfWorker::Dear(bytes) => self.presented_in_turn(bytes, job).await,
        }
    }
}

/// What a worker does, with the memory that it takes meanwhile, in bytes.
enum OfWorker {
    Long(usize),
    Dear(usize),
}

/// How long a winner takes to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum Pace {
    /// Not so long that it would hold a core.
    Short,
    /// It is for a worker.
    Long {
        /// Memory that it takes meanwhile.
        bytes: usize,
    },
    /// It is for a worker, for all that is asked about it.
    Dear {
        /// Memory that it takes meanwhile.
        bytes: usize,
    },
}

impl Pace {
    /// On a worker; what seemed short, and was not, is as dear as what its analyzers do, and takes `bytes`.
    fn of_worker(self, bytes: impl FnOnce() -> usize) -> OfWorker {
        match self {
            Self::Short => OfWorker::Dear(bytes()),
            Self::Long { bytes } => OfWorker::Long(bytes),
            Self::Dear { bytes } => OfWorker::Dear(bytes),
        }
    }

    /// Of this winner.
    ///
    /// # Errors
    /// A damaged segment.
    pub(in crate::ops) fn of(fetch: &Fetch<'_>, plan: &Plan, ranked: &Ranked) -> Result<Self> {
        if fetch::asks_much(plan) {
            return Ok(Self::Dear { bytes: fetch.needed_bytes(plan, ranked) });
        }
        let is_long = fetch.is_long(plan, ranked).map_err(|error| damaged(&error))?;
        Ok(match is_long {
            true => Self::Long { bytes: fetch.needed_bytes(plan, ranked) },
            false => Self::Short,
        })
    }
}

/// Makes a hit, waiting for what is not there.
pub(in crate::ops) fn fetched(wanted: &Fetch<'_>, plan: &Plan, ranked: &Ranked) -> Result<Hit> {
    let mut missing = Missing::new();
    loop {
        let hit = fetch::hit(wanted, plan, ranked, &mut missing);
        match hit.map_err(|error| damaged(&error))? {
            Some(mut hit) => match hit.failed.take() {
                Some(error) => return Err(failure::of_search(error)),
                None => return Ok(hit),
            },
            None => missing.fetch(),
        }
    }
}
