//! Applying what is durable: one task of the shard does it, in the order of the log.
//!
//! Always true
//! 1. Nothing is applied, so nothing is read, before the log says that it is committed (but for
//!    `async` durability, whose promise is weaker).
//! 2. Operations are applied in the order of their sequence numbers.
//! 3. A batch is answered when the last of it is applied.
//!
//! Not here: replay, which applies by [`apply`] too (`replay`).

use std::rc::Rc;
use std::time::Duration;

use base::planted::{Fault, planted};
use consensus::Pending;
use env::{Bytes, Clock, Env, Spawn};
use mapping::document::{Arena, Entries};

use crate::buffer::stored::Stamp;
use crate::error::{Error, WriteError};
use crate::operation::{Outcome, Written};
use crate::shard::Inner;
use crate::state::{Prior, State};
use crate::stats::Work;
use crate::write::Job;

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

/// What an operation puts in the place of what stood there.
pub(crate) struct Put<'a> {
    pub(crate) routing: Option<&'a str>,
    pub(crate) source: Bytes,
    /// Its fields; `None` where nothing could be read from it.
    pub(crate) entries: Option<Entries<'a>>,
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
        Some(Put { routing, source, entries }) => {
            state.tombstones.remove(id);
            let entries = entries.into_iter().flatten();
            state.buffer.add(id.as_bytes(), routing, source, stamp, entries);
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
    }

    async fn apply_ops(self: &Rc<Self>, job: &Job, ops: Vec<DecidedOp>, updated: &Updated) {
        let mut begun = self.env.clock().monotonic();
        let limit = self.buffer_bytes_max();
        let mut ops = ops.into_iter();
        while let Some(op) = ops.next() {
            let (at, is_put) = (op.at, op.outcome.is_put());
            if let Err(error) = self.apply_op(job, op, updated) {
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

    /// Applies one operation and notes its answer.
    fn apply_op(&self, job: &Job, op: DecidedOp, updated: &Updated) -> segment::Result<()> {
        let DecidedOp { at, id, routing, source, stamp, outcome, prior } = op;
        let now = self.env.clock().monotonic();
        let mut state = self.state.borrow_mut();
        assert_eq!(stamp.seq_no.get(), state.applied, "in the order of the log");
        let shown = source.as_ref().filter(|_| updated.shown.binary_search(&at).is_ok());
        let shown = shown.map(|(source, _)| source.clone());
        let put = source.map(|(source, place)| Put {
            routing: routing.as_deref(),
            source: self.mapping.borrow().kept_source(source),
            entries: Some(match place {
                Place::Batch(doc) => job.arena.entries(doc as usize),
                Place::Part(doc) => updated.arena.entries(doc as usize),
            }),
        });
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
