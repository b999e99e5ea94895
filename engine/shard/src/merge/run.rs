//! Doing merges: on a worker, one at a time for each shard, switched in one step.
//!
//! Always true
//! 1. The new segment takes the place of its first input and keeps document order.
//! 2. A document deleted while the merge ran is deleted in its result: what was published, what
//!    waits for the refresh under way, and what waits for the next, each stays what it was.
//! 3. A large result is written to its file before the switch, so that memory never holds it.
//!    Inputs leave the disk only after a manifest that names them no more (`flush`).
//! 4. A large result leaves room on the disk for what waits for its flush: a merge frees room only after
//!    the next manifest.
//! 5. The merge runs in the workers' lane for long jobs, so a refresh never waits behind it.
//!
//! Not here: which segments (`policy`).

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::hash::Set;
use base::planted::{Fault, planted};
use base::{DocId, SegmentId};
use env::budget::Holder;
use env::{Bytes, Clock, Env, Spawn};
use segment::bytes::zblock::Dictionary;
use segment::{Check, DocMap, Live, Segment, stored};

use crate::error::{Error, Result};
use crate::flush;
use crate::held::Held;
use crate::merge::{Aim, policy};
use crate::shard::{BUSY_PAUSE, Inner, Phase};

/// A result above this is written to its file at once.
const IN_MEMORY_BYTES_MAX: usize = 2 << 20;
/// Sources that are worth a dictionary do not make a smaller file.
const TRAINS_ABOVE_BYTES: u64 = 64 << 10;
/// No merge but a forced one takes more than one part in so many of all memory.
const MERGE_PART: u64 = 4;
/// After a merge that failed, the next one waits so long.
const RETRY_PAUSE: Duration = Duration::from_secs(10);

/// A segment as a merge reads it.
#[derive(Clone)]
struct Input {
    segment: Segment,
    live: Option<Arc<Live>>,
}

impl Input {
    fn live_count(&self) -> u64 {
        let all = self.segment.doc_count();
        u64::from(self.live.as_ref().map_or(all, |live| live.live_count()))
    }
}

/// What a merge made.
struct Merged {
    /// The new segment and its file, where it has one; `None` where no document lived.
    segment: Option<(Segment, Option<crate::manifest::SegmentFile>)>,
    map: DocMap,
}

impl<E: Env> Inner<E> {
    /// Merges what the policy wants merged, if anything, without anybody waiting for it.
    pub(crate) fn merge_soon(self: &Rc<Self>) {
        if self.phase.get() != Phase::Open
            || self.merge_is_due.get()
            || self.choose(None, Aim::Tidy).is_none()
        {
            return;
        }
        self.merge_is_due.set(true);
        let inner = Rc::clone(self);
        self.env.spawn().spawn(async move {
            if inner.merge_all().await.is_err() && inner.phase.get() == Phase::Open {
                // The disk may be full; the inputs stand as they stood.
                inner.env.clock().sleep(RETRY_PAUSE).await;
            }
            inner.merge_is_due.set(false);
            inner.after_change();
        });
    }

    /// Merges until the policy is content.
    async fn merge_all(self: &Rc<Self>) -> Result<()> {
        let _pass = self.merging.pass().await;
        while self.phase.get() == Phase::Open
            && let Some(chosen) = self.choose(None, Aim::Tidy)
        {
            let merged = self.merge_once(&chosen, Aim::Tidy).await;
            merged.inspect_err(|error| self.note_merge_error(error))?;
        }
        Ok(())
    }

    /// Merges until the segments that stand now are as `aim` says.
    pub(crate) async fn force_merge(self: &Rc<Self>, aim: Aim) -> Result<()> {
        let inner = Rc::clone(self);
        self.run(async move {
            inner.refresh().await?;
            let _pass = inner.merging.pass().await;
            let mut scope: Set<SegmentId> =
                inner.state.borrow().segments.iter().map(Held::id).collect();
            loop {
                if inner.phase.get() != Phase::Open {
                    return Err(Error::Cancelled);
                }
                let chosen = match aim {
                    Aim::Tidy => inner.choose(None, aim),
                    Aim::Deletes | Aim::Count(_) => inner.choose(Some(&scope), aim),
                };
                let Some(chosen) = chosen else {
                    inner.flush_where_due();
                    return Ok(());
                };
                let merged = inner.merge_once(&chosen, aim).await;
                if let Err(error) = &merged {
                    inner.note_merge_error(error);
                }
                scope.extend(merged?);
            }
        })
        .await
    }

    /// The segments to merge next, so that those of `scope` become as `aim` says.
    fn choose(&self, scope: Option<&Set<SegmentId>>, aim: Aim) -> Option<Vec<SegmentId>> {
        let state = self.state.borrow();
        let segments: Vec<&Held> = match scope {
            None => state.segments.iter().filter(|held| !held.is_alone).collect(),
            Some(scope) => {
                let is_in = |held: &&Held| scope.contains(&held.id()) && !held.is_alone;
                state.segments.iter().filter(is_in).collect()
            }
        };
        let candidates: Vec<policy::Candidate> =
            segments.iter().map(|held| held.candidate()).collect();
        // The result is made in memory.
        let most = self.lease.total_bytes() as u64 / MERGE_PART;
        let mut config = self.config.borrow().merge;
        config.segment_bytes_max = config.segment_bytes_max.min(most);
        let config = &config;
        let chosen = match aim {
            Aim::Tidy => policy::choose(&candidates, config),
            Aim::Deletes => policy::choose_expunge(&candidates, config),
            Aim::Count(count_max) => policy::choose_forced(&candidates, count_max),
        };
        chosen.map(|chosen| chosen.into_iter().map(|at| segments[at].id()).collect())
    }

    /// Damage ends the shard; a full disk or a cancel does not.
    fn note_merge_error(&self, error: &Error) {
        if matches!(error, Error::Corrupt { .. } | Error::Version { .. }) {
            self.fail(error);
        }
    }

    /// Merges these segments; gives the new one, if a document lived.
    async fn merge_once(
        self: &Rc<Self>,
        chosen: &[SegmentId],
        aim: Aim,
    ) -> Result<Option<SegmentId>> {
        let started = self.env.clock().monotonic();
        let (inputs, id) = {
            let mut state = self.state.borrow_mut();
            let id = state.segment_next;
            state.segment_next = id.next();
            let mut inputs = Vec::with_capacity(chosen.len());
            for held in state.segments.iter_mut().filter(|held| chosen.contains(&held.id())) {
                held.is_merging = true;
                inputs.push(Input { segment: held.segment.clone(), live: held.live.clone() });
            }
            (inputs, id)
        };
        // Who merges by force wants nothing left of what was deleted, in dictionaries neither.
        let dictionary = match aim {
            Aim::Tidy => self.dictionary(inputs.iter().map(Input::live_count).sum()),
            Aim::Deletes | Aim::Count(_) => None,
        };
        let made = self.make(&inputs, id, dictionary).await;
        let Ok(Some((merged, bytes))) = made else {
            let mut state = self.state.borrow_mut();
            for held in state.segments.iter_mut().filter(|held| chosen.contains(&held.id())) {
                held.is_merging = false;
                held.is_alone |= made.is_ok();
            }
            return made.map(|_| None);
        };
        let is_made = merged.segment.is_some();
        let docs = u64::from(merged.map.doc_count());
        self.switch(&inputs, merged)?;
        {
            let mut counters = self.counters.borrow_mut();
            counters.merge_docs += docs;
            counters.merge_bytes += bytes;
        }
        self.count(started, |counters| &mut counters.merge);
        Ok(is_made.then_some(id))
    }

    /// Merges on a worker, and writes a large result to its file. Gives the bytes read, too; nothing where the
    /// result would be beyond what a segment holds.
    async fn make(
        &self,
        inputs: &[Input],
        id: SegmentId,
        dictionary: Option<Dictionary>,
    ) -> Result<Option<(Merged, u64)>> {
        let bytes: u64 = inputs.iter().map(|input| input.segment.len_bytes()).sum();
        let trains = dictionary.is_none() && bytes > TRAINS_ABOVE_BYTES;
        let training = if trains { stored::TRAINING_BYTES } else { 0 };
        let room = segment::merge::room_bytes(inputs.iter().map(|input| &input.segment));
        let room = usize::try_from(room).unwrap_or(usize::MAX).saturating_add(training);
        // Callers have their eighth: they are refused where nothing is left, and a merge only waits.
        let Some(_room) = self.lease.of(Holder::Merges).take_leaving(room) else {
            let why = format!(
                "a merge of {bytes} bytes makes its result in memory, of which so much is not free; \
                 `indices.memory` says how much there is"
            );
            return Err(env::Error::new(env::ErrorKind::Busy, why).into());
        };
        let stop = Arc::clone(&self.merge_stop);
        let parts: Vec<(Segment, Option<Arc<Live>>)> =
            inputs.iter().map(|input| (input.segment.clone(), input.live.clone())).collect();
        let job = move || {
            let mut watch = |_| match stop.get() {
                0 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            };
            segment::merge::merge(&parts, id, dictionary.as_ref(), &mut watch)
        };
        let made = loop {
            match self.env.spawn().work_long(job.clone()).await {
                Err(error) if error.kind == env::ErrorKind::Busy => {
                    self.env.clock().sleep(BUSY_PAUSE).await;
                }
                made => break made?,
            }
        };
        let (mut file, map) = match made {
            Err(segment::Error::Limit { .. }) => return Ok(None),
            made => made.map_err(|error| Error::in_segment(id, &error))?,
        };
        if map.doc_count() == 0 {
            return Ok(Some((Merged { segment: None, map }, bytes)));
        }
        let is_large = file.len() > IN_MEMORY_BYTES_MAX;
        if !is_large {
            // It is kept, and counted by its length.
            file.shrink_to_fit();
        }
        let segment = Segment::open(id, Bytes::from(file), Check::Lazy)
            .map_err(|error| Error::in_segment(id, &error))?;
        if !is_large {
            return Ok(Some((Merged { segment: Some((segment, None)), map }, bytes)));
        }
        // What is to be flushed goes before.
        self.find_room(segment.len_bytes(), self.lease.held_by_all() as u64).await?;
        let named = flush::save_segment(&self.env, &self.dir, &segment).await?;
        drop(segment);
        let segment = self.map_segment(&named).await?;
        Ok(Some((Merged { segment: Some((segment, Some(named))), map }, bytes)))
    }

    /// Puts the result in the place of its inputs, in one step.
    fn switch(&self, inputs: &[Input], merged: Merged) -> Result<()> {
        let mut state = self.state.borrow_mut();
        let is_input = |held: &Held| inputs.iter().any(|it| it.segment.id() == held.id());
        let at = state.segments.iter().position(is_input);
        let at = at.expect("segments that are merged stay until the switch");
        let (outgoing, kept): (Vec<Held>, Vec<Held>) =
            std::mem::take(&mut state.segments).into_iter().partition(is_input);
        assert_eq!(outgoing.len(), inputs.len(), "none of them left meanwhile");
        state.segments = kept;
        let mut carried = Carried::default();
        for (number, held) in outgoing.into_iter().enumerate() {
            let before = &inputs[number];
            assert_eq!(before.segment.id(), held.id(), "in the order of the view");
            if !planted(Fault::ForgetDeletesInMerge) {
                carried.take(&merged.map, number, before.live.as_deref(), &held);
            }
            if let Some(file) = &held.file {
                state.retire(file);
            }
        }
        if let Some((segment, file)) = merged.segment {
            let doc_count = segment.doc_count();
            let live = (!carried.dead.is_empty())
                .then(|| Arc::new(Live::all(doc_count).without(carried.dead)));
            // A small result: what refused it memory now would refuse it for ever.
            let small = || self.lease.take(segment.len_bytes() as usize).into_iter().collect();
            let taken = if file.is_none() { small() } else { Vec::new() };
            let mut held = Held::in_memory(segment, carried.pending, taken);
            held.dying = carried.dying;
            held.live = live;
            held.file = file;
            state.segments.insert(at, held);
        }
        drop(state);
        self.republish()
    }
}

/// Deletes that came while the merge ran, by documents of its result.
#[derive(Default)]
struct Carried {
    /// Published.
    dead: Vec<DocId>,
    /// Waiting for the refresh under way.
    dying: Vec<DocId>,
    /// Waiting for the next refresh.
    pending: Vec<DocId>,
}

impl Carried {
    /// Adds the deletes of input `number`, whose living documents were `before` when it began.
    fn take(&mut self, map: &DocMap, number: usize, before: Option<&Live>, held: &Held) {
        let carry = |doc: DocId| map.new_doc(number, doc);
        if let Some(live) = &held.live {
            self.dead.extend(deleted_since(live, before).filter_map(carry));
        }
        self.dying.extend(held.dying.iter().copied().filter_map(carry));
        self.pending.extend(held.pending.iter().copied().filter_map(carry));
    }
}

/// Documents dead in `now` that lived `before` (`None`: all lived), found word by word: the core
/// waits for this.
fn deleted_since<'a>(now: &'a Live, before: Option<&'a Live>) -> impl Iterator<Item = DocId> {
    let words = now.bits().words().iter().enumerate();
    words
        .flat_map(move |(at, alive)| {
            let lived = before.map_or(u64::MAX, |before| before.bits().words()[at]);
            let mut died = lived & !alive;
            std::iter::from_fn(move || {
                let bit = (died != 0).then(|| died.trailing_zeros())?;
                died &= died - 1;
                Some(DocId(at as u32 * 64 + bit))
            })
        })
        .filter(|doc| doc.get() < now.doc_count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn deletes_since_are_those_that_segment_tells(
            count in 1u32..300, first: Vec<u32>, second: Vec<u32>, from_all: bool,
        ) {
            let all = Live::all(count);
            let before = all.without(first.into_iter().map(|doc| DocId(doc % count)));
            let now = before.without(second.into_iter().map(|doc| DocId(doc % count)));
            let model = if from_all { &all } else { &before };
            let expected: Vec<DocId> = now.deleted_since(model).collect();
            let found: Vec<DocId> =
                deleted_since(&now, (!from_all).then_some(&before)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
