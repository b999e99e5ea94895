//! `_delete_by_query`, `_update_by_query`, `_reindex`: what a search finds is written again.
//!
//! Documents are found on views that are held, batch after batch in the order of their places, so
//! the work never meets what it has written itself. Each write asks that its document still stands
//! as it was found: what changed in between is a version conflict.
//!
//! Always true
//! 1. One batch is written before the next one is read, so memory holds one batch a slice. A large one is written
//!    piece by piece: what its documents become, and what is wrong with them, is there of one piece at a time.
//! 2. Between batches the work looks whether it is to end, and waits as its speed says.
//!
//! Not here: reading the request (`net/rest/by_query`), the list of tasks (`task`).

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use env::{Clock, Env};
use script::{Context, Program};
use search::dsl;
use search::request::{SearchRequest, Tiebreak, TrackTotal};

use super::context::HeldShard;
use super::deprecated;
use super::document::VersionType;
use super::script::Script;
use super::search::{SEARCH, SearchCall};
use super::sliced::{By, sliced};
use super::slow::{Asked, Source};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate};
use crate::index::single::{One, Purpose, resolve_one};
use crate::left::Left;
use crate::task::TaskControl;

mod batch;
mod scripted;

use batch::{Piece, item};

/// Slices that `auto` makes at most.
const SLICES_AUTO_MAX: u32 = 20;

/// What a request takes where it is read, as a multiple of its text.
const REQUEST_COPIES: usize = 8;

/// Failures that are kept of one request.
const FAILURES_MAX: usize = 1_000;

/// And bytes of those of each of its slices; one is kept in any case.
const FAILURES_BYTES_MAX: usize = 1 << 20;

/// What is done with the documents that are found.
#[derive(Clone, Debug)]
pub enum Work {
    /// They are deleted.
    Delete,
    /// They are indexed again as they are, by the mapping of now.
    Update,
    /// They are written to another index.
    Reindex(Destination),
}

/// Where documents are written to.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Index or alias.
    pub index: String,
    /// Only where there is none of that id.
    pub create: bool,
    /// Who counts versions; the documents' own versions count where a caller does.
    pub version_type: VersionType,
    /// What becomes of routing values.
    pub routing: Routing,
    /// The index must be an alias.
    pub require_alias: bool,
}

/// What becomes of routing values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// They are kept.
    #[default]
    Keep,
    /// They are dropped.
    Discard,
    /// All get this one.
    Set(String),
}

/// How many slices work at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slices {
    /// As many as the index has shards.
    Auto,
    /// So many.
    Count(u32),
}

/// A whole request.
#[derive(Clone, Debug)]
pub struct ByQueryCall {
    /// What to do.
    pub work: Work,
    /// What to find: names, body, parameters.
    pub search: SearchCall,
    /// Conflicts are counted and passed over.
    pub proceed: bool,
    /// Documents at most.
    pub docs_max: Option<u64>,
    /// Documents of one batch.
    pub batch: u32,
    /// Slices.
    pub slices: Slices,
    /// Documents a second; infinite: no limit.
    pub requests_per_second: f32,
    /// Refreshes what was written at the end.
    pub refresh: bool,
    /// Says what becomes of each document.
    pub script: Option<Script>,
    /// What each document is to run through before it is written.
    pub pipeline: Option<Box<str>>,
    /// Why nothing can be written: too few copies are there.
    pub lacking: Option<Lacking>,
}

/// Copies that lack, and will not come.
#[derive(Clone, Debug)]
pub struct Lacking {
    /// So long they are waited for.
    pub wait: Duration,
    /// What each document is told then.
    pub error: Error,
}

/// How far the work is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Which slice.
    pub slice_id: Option<u32>,
    /// Documents found.
    pub total: u64,
    /// Documents written over others.
    pub updated: u64,
    /// New documents.
    pub created: u64,
    /// Documents deleted.
    pub deleted: u64,
    /// Batches read.
    pub batches: u64,
    /// Documents that had changed since they were found.
    pub version_conflicts: u64,
    /// Documents that a script left as they are.
    pub noops: u64,
    /// Writes tried again.
    pub bulk_retries: u64,
    /// For how long it has waited because of its speed.
    pub throttled_ms: u64,
    /// Its speed; -1: no limit.
    pub requests_per_second: f32,
    /// How long it will wait yet.
    pub throttled_until_ms: u64,
    /// Each slice, where there are several.
    pub slices: Vec<Status>,
    /// Why it was asked to end.
    pub cancelled: Option<String>,
}

/// A document that was not written.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Its index.
    pub index: String,
    /// Its id.
    pub id: String,
    /// Why.
    pub cause: Error,
}

impl Done {
    /// Keeps one more, unless there are many.
    fn failed(&mut self, index: String, id: Option<String>, cause: Error) {
        let id = id.unwrap_or_default();
        let bytes = index.len() + id.len() + cause.held_bytes();
        let (count, held) = (self.failures.len(), self.failures_bytes);
        if count == 0 || (count < FAILURES_MAX && held + bytes <= FAILURES_BYTES_MAX) {
            self.failures_bytes += bytes;
            self.failures.push(Failure { index, id, cause });
        }
    }
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ByQueryReply {
    /// Milliseconds it took.
    pub took_ms: u64,
    /// The search met its deadline.
    pub timed_out: bool,
    /// Counts.
    pub status: Status,
    /// Documents that were not written.
    pub failures: Vec<Failure>,
}

/// Counts of one slice while it works.
#[derive(Debug)]
pub struct Progress {
    slice_id: Option<u32>,
    status: RefCell<Status>,
    speed: Cell<f32>,
    waits_until: Cell<Option<Duration>>,
}

impl Progress {
    fn new(slice_id: Option<u32>, speed: f32) -> Self {
        let status = RefCell::new(Status { slice_id, ..Status::default() });
        Self { slice_id, status, speed: Cell::new(speed), waits_until: Cell::new(None) }
    }

    /// Documents a second from now on.
    pub(crate) fn set_speed(&self, speed: f32) {
        self.speed.set(speed);
    }

    fn count(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status.borrow_mut());
    }

    fn snapshot(&self) -> Status {
        let speed = self.speed.get();
        Status {
            slice_id: self.slice_id,
            requests_per_second: if speed.is_finite() { speed } else { -1.0 },
            ..self.status.borrow().clone()
        }
    }
}

impl Status {
    /// All slices together; each is told where there are several.
    pub(crate) fn of(progress: &[Rc<Progress>], is_sliced: bool) -> Self {
        let slices: Vec<Self> = progress.iter().map(|slice| slice.snapshot()).collect();
        if let ([one], false) = (slices.as_slice(), is_sliced) {
            return one.clone();
        }
        let mut all = Self::default();
        for slice in &slices {
            all.total += slice.total;
            all.updated += slice.updated;
            all.created += slice.created;
            all.deleted += slice.deleted;
            all.batches += slice.batches;
            all.version_conflicts += slice.version_conflicts;
            all.noops += slice.noops;
            all.bulk_retries += slice.bulk_retries;
            all.throttled_ms += slice.throttled_ms;
            all.throttled_until_ms = all.throttled_until_ms.max(slice.throttled_until_ms);
        }
        let limited = slices.iter().all(|slice| slice.requests_per_second >= 0.0);
        let speed: f32 = slices.iter().map(|slice| slice.requests_per_second).sum();
        all.requests_per_second = if limited { speed } else { -1.0 };
        all.slices = slices;
        all
    }
}

/// One slice of the work.
struct Part<'a> {
    call: &'a ByQueryCall,
    gate: &'a dyn Gate,
    left: &'a Left,
    request: SearchRequest,
    held: Vec<HeldShard>,
    progress: Rc<Progress>,
    docs_max: Option<u64>,
    begin: Duration,
    program: Option<Arc<Program>>,
}

/// What a slice ended with.
#[derive(Default)]
struct Done {
    failures: Vec<Failure>,
    /// About what they take.
    failures_bytes: usize,
    timed_out: bool,
    touched: BTreeSet<String>,
}

impl<E: Env> Core<E> {
    /// Does the whole of it; `control` is its task. `gate` is asked again for each batch. What is begun is done to
    /// its end when whoever asks has `left`, but it waits for no copies.
    ///
    /// # Errors
    /// A request that cannot be read, a missing index, shards that do not answer. Documents that
    /// are not written stand in the answer.
    pub async fn by_query(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &ByQueryCall,
        control: &TaskControl,
        left: &Left,
    ) -> Result<ByQueryReply> {
        let begin = self.env.clock().monotonic();
        let (request, held) = self.begin_by_query(gate, call).await?;
        let program = match &call.script {
            None => None,
            Some(script) => {
                let context = match call.work {
                    Work::Reindex(_) => &Context::REINDEX,
                    _ => &Context::UPDATE_BY_QUERY,
                };
                Some(self.compiled(script, context)?)
            }
        };
        let count = match call.slices {
            Slices::Count(count) => count,
            Slices::Auto => auto_slices(&held),
        };
        let asked = request.slice.clone();
        // A request that is one slice of its caller's is told as such; slices of our own are told apart.
        let asked_id = asked.as_ref().map(|slice| slice.id);
        let mut request = request;
        request.slice = None;
        let mut held = held;
        if let Some(slice) = asked {
            let by = match &slice.field {
                Some(field) => By::Field(field),
                None => By::Id,
            };
            sliced((self, gate), &mut held, slice.id, slice.max, by).await?;
        }
        // Each slice has the request for itself.
        let copies = call.search.body.len().saturating_mul(REQUEST_COPIES * count as usize);
        let _room = if count > 1 { Some(self.room("slices", copies)?) } else { None };
        let speed = control.speed().unwrap_or(call.requests_per_second) / count as f32;
        let mut parts = Vec::new();
        for id in 0..count {
            let mut own = held.clone();
            let several = count > 1;
            if several {
                sliced((self, gate), &mut own, id, count, By::Place).await?;
            }
            let progress = Rc::new(Progress::new(several.then_some(id).or(asked_id), speed));
            control.progress.borrow_mut().push(Rc::clone(&progress));
            // The first slices do one more where the documents cannot be shared out evenly.
            let docs_max = call.docs_max.map(|docs| {
                docs / u64::from(count) + u64::from(u64::from(id) < docs % u64::from(count))
            });
            let request = request.clone();
            let program = program.clone();
            let held = own;
            parts.push(Part {
                call,
                gate,
                left,
                request,
                held,
                progress,
                docs_max,
                begin,
                program,
            });
        }
        if count > 1 {
            control.set_sliced();
        }
        drop(held);
        // Each of several slices is a task of its own, as long as it works.
        let slices: Vec<_> =
            parts.iter().filter(|_| count > 1).map(|_| control.part(self)).collect();
        let mut slices = slices.into_iter();
        let works = parts.iter().map(|part| {
            let slice = slices.next();
            if let Some(slice) = &slice {
                slice.control().progress.borrow_mut().push(Rc::clone(&part.progress));
            }
            Box::pin(async move {
                let control = slice.as_ref().map_or(control, |slice| slice.control());
                self.do_part(part, control).await
            })
        });
        let works = works.collect();
        let mut all = Done::default();
        for done in env::join_in_turns(self.env.clock(), works).await {
            let done = done?;
            all.failures.extend(done.failures);
            all.timed_out |= done.timed_out;
            all.touched.extend(done.touched);
        }
        all.failures.truncate(FAILURES_MAX);
        if call.refresh {
            self.refresh_touched(&all.touched).await;
        }
        let took = self.env.clock().monotonic().saturating_sub(begin);
        let mut status = Status::of(&control.progress.borrow(), count > 1);
        status.cancelled = control.cancelled();
        Ok(ByQueryReply {
            took_ms: took.as_millis() as u64,
            timed_out: all.timed_out,
            status,
            failures: all.failures,
        })
    }

    /// Reads the request and holds what it is to read.
    async fn begin_by_query(
        self: &Rc<Self>,
        gate: &dyn Gate,
        call: &ByQueryCall,
    ) -> Result<(SearchRequest, Vec<HeldShard>)> {
        let search = &call.search;
        let mut request =
            self.read_request(&search.body, &search.params, dsl::parse_search).await?;
        request.warnings.iter().for_each(|sentence| gate.warn(sentence));
        if request.slice.is_some() && call.slices != Slices::Count(1) {
            return Err(Error::validation(&[
                "can't specify both manual and automatic slicing at the same time",
            ]));
        }
        if matches!(call.work, Work::Reindex(_)) && !request.sort.is_empty() {
            deprecated::reindex_sort(gate);
        }
        if request.sort.is_empty() {
            request.sort = dsl::sort_of_url("_shard_doc");
        } else {
            request.tiebreak = Tiebreak::Hidden;
        }
        request.scrolls = true;
        request.total = TrackTotal::Exact;
        request.version = true;
        request.seq_no_primary_term = true;
        let held = self.hold(gate, SEARCH, search).await?;
        let writes = match &call.work {
            Work::Delete => Some("indices:data/write/delete/byquery"),
            Work::Update => Some("indices:data/write/update/byquery"),
            Work::Reindex(_) => None,
        };
        // Whoever may not write is told so before anything is looked for.
        if let Some(action) = writes {
            for shard in &held {
                gate::ask(gate, action, &shard.name, &shard.via)?;
            }
        }
        if matches!(call.work, Work::Update) {
            for shard in &held {
                let limits = gate::ask(gate, SEARCH, &shard.name, &shard.via)?;
                if limits.each().iter().any(|kind| kind.fields.is_some()) {
                    return Err(hidden_fields());
                }
            }
        }
        if let Work::Reindex(to) = &call.work {
            self.check_destination(gate, to, &held)?;
        }
        Ok((request, held))
    }

    /// A reindex into what it reads would never end, were it not for the views; Elasticsearch
    /// refuses it.
    fn check_destination(
        &self,
        gate: &dyn Gate,
        to: &Destination,
        held: &[HeldShard],
    ) -> Result<()> {
        let state = self.state();
        // Who may not write there is told so by the first write, and not where the name leads.
        if !gate.sees("indices:data/write/bulk[s]", &to.index) {
            return Ok(());
        }
        let target = match resolve_one(&*state, &to.index, self.now_ms(), Purpose::Write) {
            Ok(One::Index { name, .. } | One::Missing { name }) => name,
            // The first write will tell what is wrong with the name.
            Err(_) => return Ok(()),
        };
        if held.iter().any(|shard| *shard.name == *target) {
            return Err(Error::validation(&[format!(
                "reindex cannot write into an index its reading from [{}]",
                to.index
            )]));
        }
        Ok(())
    }

    async fn do_part(self: &Rc<Self>, part: &Part<'_>, control: &TaskControl) -> Result<Done> {
        let mut done = Done::default();
        let mut request = Arc::new(part.request.clone());
        let mut left = part.docs_max;
        loop {
            if control.cancelled().is_some() {
                return Ok(done);
            }
            let size = u64::from(part.call.batch).min(left.unwrap_or(u64::MAX));
            if size == 0 {
                return Ok(done);
            }
            Arc::make_mut(&mut request).size = size as u32;
            let begun = self.env.clock().monotonic();
            let asked = Asked::new(part.gate, &request, Source::Call(&part.call.search), false);
            let run = self.find(asked, &part.held, part.begin).await?;
            // The rights are those of this batch, not of the first.
            if matches!(part.call.work, Work::Update) && run.cuts() {
                return Err(hidden_fields());
            }
            let last = run.merged.winners.last().map(|last| last.ranked.keys.as_slice().into());
            let reply = self.bring(asked, run, part.begin).await?;
            if last.is_some() {
                Arc::make_mut(&mut request).resume = last;
            }
            done.timed_out |= reply.timed_out;
            if request.total == TrackTotal::Exact {
                let found = reply.result.total.map_or(0, |total| total.value);
                let total = found.min(part.docs_max.unwrap_or(u64::MAX));
                part.progress.count(|status| status.total = total);
                Arc::make_mut(&mut request).total = TrackTotal::No;
            }
            let hits = reply.result.stay().hits;
            if hits.is_empty() {
                return Ok(done);
            }
            let (count, is_last) = (hits.len() as u64, (hits.len() as u64) < size);
            part.progress.count(|status| status.batches += 1);
            let mut piece = Piece::default();
            for hit in hits {
                let item = match &part.program {
                    None => item(part.call, hit),
                    Some(program) => self.scripted_item(part, program, hit).await?,
                };
                let made = item.as_ref().map_or(0, |item| item.source.len());
                if part.program.is_some() && made > 0 {
                    self.pay_for_made((part, control), made, &mut piece, &mut done).await?;
                }
                piece.take(item);
                // Copies that lack are waited for once.
                if piece.is_full() && part.call.lacking.is_none() {
                    self.write_piece((part, control), std::mem::take(&mut piece), &mut done).await;
                }
            }
            self.write_piece((part, control), piece, &mut done).await;
            left = left.map(|left| left.saturating_sub(count));
            if !done.failures.is_empty() || done.timed_out || is_last || left == Some(0) {
                return Ok(done);
            }
            self.throttle((part, control), begun, count).await;
        }
    }
}

/// What is written again is what was read: hidden fields would be lost.
fn hidden_fields() -> Error {
    let reason = "Can't execute an update request if field or document level security is enabled";
    Error::new(403, "security_exception", reason)
}

/// As many slices as the smallest index asked has shards.
fn auto_slices(held: &[HeldShard]) -> u32 {
    let shards = held.chunk_by(|a, b| a.index == b.index).map(<[HeldShard]>::len).min();
    (shards.unwrap_or(1) as u32).clamp(1, SLICES_AUTO_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_added_up() {
        let (one, two) = (Progress::new(Some(0), 5.0), Progress::new(Some(1), 5.0));
        one.count(|status| status.updated = 3);
        two.count(|status| (status.updated, status.total) = (4, 9));
        let all = Status::of(&[Rc::new(one), Rc::new(two)], true);
        assert_eq!((all.updated, all.total, all.slices.len()), (7, 9, 2));
        assert_eq!(all.requests_per_second, 10.0);
        let free = Status::of(&[Rc::new(Progress::new(None, f32::INFINITY))], false);
        assert_eq!((free.requests_per_second, free.slices.len()), (-1.0, 0));
    }
}
