//! Applying what is durable: one task of the shard does it, in the order of the log.
//!
//! Always true
//! 1. Nothing is applied, so nothing is read, before the log says that it is committed (but for
//!    `async` durability, whose promise is weaker).
//! 2. Operations are applied in the order of their sequence numbers.
//! 3. A batch is answered when the last of it is applied.
//! 4. A document enters the buffer in steps ([`Inner::enter`]), so one of millions of words holds no
//!    core; what makes it count is one step still. Gets find what stood there before until then. A
//!    refresh that comes in between freezes the buffer when the document is whole.
//!
//! Not here: replay, which applies by [`apply`] too (`replay`).

use std::rc::Rc;
use std::time::Duration;

use base::planted::{Fault, planted};
use consensus::Pending;
use env::queue::Pass;
use env::{Bytes, Clock, Env, Spawn};
use mapping::document::{Arena, Entries};

use crate::buffer::Adding;
use crate::buffer::stored::Stamp;
use crate::error::{Error, WriteError};
use crate::operation::{Outcome, Written};
use crate::shard::Inner;
use crate::state::{Prior, State};
use crate::stats::Work;
use crate::write::Job;

/// Bytes of words that enter the buffer at a go: some tens of microseconds.
const STEP_BYTES: usize = 16 << 10;

/// What is kept of a larger text is made by a worker, where it is not the text itself.
const KEEP_HERE_BYTES_MAX: usize = 32 << 10;

/// More memory than this is let go by a worker: to unmap a hundred megabytes takes milliseconds.
const LET_GO_HERE_BYTES_MAX: usize = 4 << 20;

/// Decided operations of one record of the log.
pub(crate) struct LoggedPart {
    pub(crate) job: Rc<Job>,
    pub(crate) ops: Vec<DecidedOp>,
    pub(crate) updated: Updated,
    pub(crate) commit: Commit,
    /// The batch is answered after this part.
    pub(crate) is_last: bool,
}

/// What deciding the updates of a part made.
#[derive(Debug, Default)]
pub(crate) struct Updated {
    /// Documents that updates made.
    pub(crate) arena: Arena,
    /// Long ones, each by itself.
    pub(crate) aside: Vec<Arena>,
    /// Updates that changed nothing, by their places in the batch.
    pub(crate) noops: Vec<usize>,
    /// Updates whose answers bring the document's text, likewise.
    pub(crate) shown: Vec<usize>,
}

/// Where a prepared document lies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In the batch's arena: it came so.
    Batch(u32),
    /// In the part's: an update made it.
    Part(u32),
    /// Alone in one of those aside.
    Aside(u32),
}

/// Whether a part is committed.
pub(crate) enum Commit {
    /// When the log says so.
    Pending(Pending),
    /// It is (or nothing of it needs to be).
    Done,
}

/// An operation that will be done.
pub(crate) struct DecidedOp {
    /// Its place in the batch.
    pub(crate) at: usize,
    pub(crate) id: String,
    pub(crate) routing: Option<String>,
    /// Source and its place in an arena; `None`: it deletes.
    pub(crate) source: Option<(Bytes, Place)>,
    pub(crate) stamp: Stamp,
    pub(crate) outcome: Outcome,
    pub(crate) prior: Prior,
}

/// What an operation puts in the place of what stood there: a document whose fields are in the buffer.
pub(crate) struct Put<'a> {
    pub(crate) routing: Option<&'a str>,
    pub(crate) source: Bytes,
    adding: Adding<'a>,
    /// Nobody freezes the buffer before this is applied.
    _pass: Pass,
}

/// Applies one operation; `put` is `None` where it deletes.
pub(crate) fn apply(
    state: &mut State,
    id: &str,
    stamp: Stamp,
    prior: Prior,
    put: Option<Put<'_>>,
    now: Duration,
) -> segment::Result<()> {
    state.displace(id, prior)?;
    match put {
        Some(Put { routing, source, adding, _pass }) => {
            state.tombstones.remove(id);
            state.buffer.end(&adding, id.as_bytes(), routing, source);
        }
        None => state.tombstones.put(id, stamp, now),
    }
    Ok(())
}

impl<E: Env> Inner<E> {
    /// Takes a part in that was handed to the log, and sees to it that it is applied.
    pub(crate) fn push_logged(self: &Rc<Self>, part: LoggedPart) {
        self.logged.borrow_mut().push_back(part);
        if !self.is_applying.replace(true) {
            let inner = Rc::clone(self);
            self.env.spawn().spawn(async move {
                loop {
                    let next = inner.logged.borrow_mut().pop_front();
                    let Some(part) = next else { break };
                    inner.apply_part(part).await;
                }
                inner.is_applying.set(false);
                inner.quiet.end();
            });
        }
    }

    async fn apply_part(self: &Rc<Self>, part: LoggedPart) {
        let LoggedPart { job, mut ops, updated, commit, is_last } = part;
        if planted(Fault::PublishEarly) {
            self.apply_ops(&job, std::mem::take(&mut ops), &updated).await;
        }
        let mut is_unwritten = None;
        let committed = match commit {
            Commit::Done => Ok(()),
            Commit::Pending(pending) => pending.await.map(drop).map_err(|error| {
                if let consensus::Error::Log(wal::Error::NoRoom(_)) = error {
                    is_unwritten = Some(WriteError::NoSpace { needed_bytes: job.needed_bytes() });
                }
                Error::from(error)
            }),
        };
        // After one failure nothing is applied any more: what follows may rest on what is lost.
        let committed = committed.and_then(|()| match &*self.failure.borrow() {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        });
        match committed {
            Ok(()) => {
                self.counters.borrow_mut().noop_updates += updated.noops.len() as u64;
                self.apply_ops(&job, ops, &updated).await;
            }
            Err(error) => {
                self.fail(&error);
                let mut answers = job.answers.borrow_mut();
                // What was refused may have been judged by what is lost now.
                let rests_on_it = |answer: &Option<Result<Written, WriteError>>| {
                    matches!(answer, Some(Err(WriteError::Conflict(_) | WriteError::Missing)))
                };
                let judged: Vec<usize> =
                    (0..answers.len()).filter(|&at| rests_on_it(&answers[at])).collect();
                let lost = ops.iter().map(|op| op.at).chain(updated.noops);
                for at in lost.chain(judged) {
                    let error = error.clone();
                    let failed = WriteError::Failed { error, durable_unknown: true };
                    answers[at] = Some(Err(is_unwritten.clone().unwrap_or(failed)));
                }
            }
        }
        if is_last {
            self.answer(&job);
        }
        updated.aside.into_iter().for_each(|arena| self.let_go(arena));
        self.let_go(updated.arena);
        if let Some(job) = Rc::into_inner(job) {
            self.let_go(job.arena);
        }
    }

    /// Lets go of what a batch's documents were read into.
    fn let_go(self: &Rc<Self>, arena: Arena) {
        if arena.size_bytes() <= LET_GO_HERE_BYTES_MAX {
            return;
        }
        let inner = Rc::clone(self);
        self.env.spawn().spawn(async move {
            // If the workers are busy, it is let go here.
            let _ = inner.env.spawn().work(move || drop(arena)).await;
        });
    }

    async fn apply_ops(self: &Rc<Self>, job: &Job, ops: Vec<DecidedOp>, updated: &Updated) {
        let mut begun = self.env.clock().monotonic();
        let limit = self.buffer_bytes_max();
        let mut ops = ops.into_iter();
        while let Some(op) = ops.next() {
            let (at, is_put) = (op.at, op.outcome.is_put());
            if let Err(error) = self.apply_op(job, op, updated).await {
                let error = self.segment_error(&error);
                let failed = || WriteError::Failed { error: error.clone(), durable_unknown: true };
                let mut answers = job.answers.borrow_mut();
                answers[at] = Some(Err(failed()));
                ops.for_each(|op| answers[op.at] = Some(Err(failed())));
                return;
            }
            let now = self.env.clock().monotonic();
            let time_us = now.saturating_sub(begun).as_micros() as u64;
            begun = now;
            {
                let mut counters = self.counters.borrow_mut();
                let work = if is_put { &mut counters.index } else { &mut counters.delete };
                *work += Work { count: 1, time_us };
            }
            self.slow_down(limit).await;
            self.env.spawn().yield_if_needed().await;
        }
        self.appliers.rise(self.state.borrow().applied);
        self.schedule_refresh();
        self.after_operations();
    }

    /// Takes a document's fields into the buffer; [`apply`] makes it count. `entries` are `None` where
    /// nothing could be read from it.
    pub(crate) async fn enter<'a>(
        &self,
        routing: Option<&'a str>,
        source: Bytes,
        entries: Option<Entries<'a>>,
        stamp: Stamp,
    ) -> Put<'a> {
        let source = self.kept_source(source).await;
        let mut adding = Adding::new(entries, stamp);
        let pass = self.entering.pass().await;
        while !self.state.borrow_mut().buffer.step(&mut adding, STEP_BYTES) {
            self.env.spawn().yield_if_needed().await;
        }
        Put { routing, source, adding, _pass: pass }
    }

    /// What is kept of a document's text.
    async fn kept_source(&self, source: Bytes) -> Bytes {
        let mapping = self.mapping.borrow().clone();
        if mapping.keeps_source_whole() || source.len() <= KEEP_HERE_BYTES_MAX {
            return mapping.kept_source(source);
        }
        let lent = (mapping.clone(), source.clone());
        let kept = self.work(move || lent.0.kept_source(lent.1)).await;
        kept.unwrap_or_else(|_| mapping.kept_source(source))
    }

    /// Applies one operation and notes its answer.
    async fn apply_op(&self, job: &Job, op: DecidedOp, updated: &Updated) -> segment::Result<()> {
        let DecidedOp { at, id, routing, source, stamp, outcome, prior } = op;
        let shown = source.as_ref().filter(|_| updated.shown.binary_search(&at).is_ok());
        let shown = shown.map(|(source, _)| source.clone());
        let put = match source {
            None => None,
            Some((source, place)) => {
                let entries = match place {
                    Place::Batch(doc) => job.arena.entries(doc as usize),
                    Place::Part(doc) => updated.arena.entries(doc as usize),
                    Place::Aside(at) => updated.aside[at as usize].entries(0),
                };
                Some(self.enter(routing.as_deref(), source, Some(entries), stamp).await)
            }
        };
        let now = self.env.clock().monotonic();
        let mut state = self.state.borrow_mut();
        assert_eq!(stamp.seq_no.get(), state.applied, "in the order of the log");
        apply(&mut state, &id, stamp, prior, put, now)?;
        state.decided.settle(&id, stamp);
        state.applied = stamp.seq_no.get() + 1;
        if self.is_asleep.get() {
            self.touch.deferred.raise(state.applied);
        }
        job.is_applied.set(true);
        let Stamp { seq_no, term, version } = stamp;
        job.answers.borrow_mut()[at] =
            Some(Ok(Written { seq_no, primary_term: term, version, outcome, source: shown }));
        Ok(())
    }

    /// Answers a batch all of which is done.
    fn answer(&self, job: &Job) {
        let answers = std::mem::take(&mut *job.answers.borrow_mut());
        let answers = answers.into_iter().map(|answer| answer.expect("each part is done"));
        let rejects = planted(Fault::RejectWhatIsDone) && job.is_applied.get();
        let is_rejected = |at: usize| rejects && at > 1;
        let answers = answers.enumerate().map(|(at, answer)| match is_rejected(at) {
            true => Err(WriteError::Rejected { needed_bytes: 1 }),
            false => answer,
        });
        let mut taken = job.taken.take();
        if job.is_applied.get() {
            // The record of the log and the arena are gone; the rest stays taken until the documents
            // leave the buffer.
            taken.iter_mut().for_each(|piece| piece.shrink_to(piece.bytes().div_ceil(2)));
            self.state.borrow_mut().buffer_taken.append(&mut taken);
        }
        // Before the answer: whoever has it finds nothing of it under way.
        drop(job.current.take());
        if let Some(reply) = job.reply.borrow_mut().take() {
            reply.send(answers.collect());
        }
    }

    /// Sees to it that the buffer is sealed when it holds more than `limit` bytes, and waits where
    /// sealing falls behind.
    pub(crate) async fn slow_down(self: &Rc<Self>, limit: usize) {
        let (bytes, visible, is_sealing) = {
            let state = self.state.borrow();
            (state.buffer.size_bytes(), state.visible, state.frozen.is_some())
        };
        if bytes <= limit {
            return;
        }
        if !is_sealing {
            self.refresh_soon();
        } else if bytes > limit.saturating_mul(2) {
            // Told at the next publish, or when the shard fails.
            let _ = self.listeners.wait(visible).await;
        }
    }
}
