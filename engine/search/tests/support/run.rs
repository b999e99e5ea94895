//! Runs a request over a view the way a node does: bind, weigh, slices in steps, merge, fetch.

use std::sync::Arc;

use mapping::Mapping;
use search::fetch::{self, Fetch};
use search::phase::{self, Parts, Progress, Shared, Slice};
use search::plan::{self, Context, Plan};
use search::request::SearchRequest;
use search::result::{Hit, Merged, Partial};
use segment::{BlockCache, Missing, View};

/// 2024-06-15T12:00:00Z.
pub const NOW_MS: i64 = 1_718_452_800_000;

pub struct How {
    pub work: u32,
    pub slices: usize,
}

impl Default for How {
    fn default() -> Self {
        Self { work: phase::STEP_WORK, slices: 1 }
    }
}

pub fn plan(request: &SearchRequest, mapping: &Mapping, view: &Arc<View>) -> Arc<Plan> {
    let context = Context::new("books", NOW_MS);
    let bound = plan::bind(request, mapping, &context).expect("a good request");
    let mut cache = BlockCache::new(1 << 20);
    loop {
        let mut missing = Missing::new();
        match plan::weigh(&bound, view, &mut cache, &mut missing).expect("whole segments") {
            Some(plan) => return plan,
            None => missing.fetch(),
        }
    }
}

pub fn slice(plan: &Arc<Plan>, parts: Parts, shared: &Arc<Shared>, work: u32) -> Partial {
    let mut slice = Slice::new(Arc::clone(plan), parts, Arc::clone(shared));
    loop {
        match slice.step(work).expect("whole segments") {
            Progress::More => {}
            Progress::Missing(mut missing) => missing.fetch(),
            Progress::Done => return slice.finish(),
        }
    }
}

pub fn search(
    request: &SearchRequest,
    mapping: &Mapping,
    view: &Arc<View>,
    how: &How,
) -> (Merged, Arc<Plan>) {
    let plan = plan(request, mapping, view);
    let shared = Arc::new(Shared::default());
    let cuts = plan.cut(how.slices);
    let partials: Vec<(u32, Partial)> =
        cuts.into_iter().map(|parts| (0, slice(&plan, parts, &shared, how.work))).collect();
    (phase::merge(request, partials), plan)
}

pub fn hits(request: &SearchRequest, mapping: &Mapping, view: &Arc<View>, how: &How) -> Vec<Hit> {
    let (merged, plan) = search(request, mapping, view, how);
    fetch_all(request, mapping, &merged, &plan)
}

pub fn fetch_all(
    request: &SearchRequest,
    mapping: &Mapping,
    merged: &Merged,
    plan: &Plan,
) -> Vec<Hit> {
    let context = Context::new("books", NOW_MS);
    let columns = fetch::bind_columns(request, mapping, &context).expect("columns");
    let fetch = Fetch::new(request, "books", &columns);
    merged
        .winners
        .iter()
        .map(|winner| {
            loop {
                let mut missing = Missing::new();
                match fetch::hit(&fetch, plan, &winner.ranked, &mut missing).expect("whole") {
                    Some(hit) => return hit,
                    None => missing.fetch(),
                }
            }
        })
        .collect()
}
