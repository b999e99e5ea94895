//! Deciding batches: judge, number, log. One task of the shard does it, in the order of arrival.
//!
//! Always true
//! 1. Whether there is memory for a batch, and room for it among what waits for its sync, is decided
//!    before anything of it is: a batch that is refused is nowhere. One that was let in waits for
//!    the log where it must, part by part.
//! 2. Sequence numbers are given without a gap, in the order in which the log takes the operations.
//!    What the log refuses is taken back before the next operation is judged.
//! 3. The answer of a batch waits for the batches before it, for a conflict may rest on them.
//!
//! A batch is cut into parts of at most [`PART_BYTES`], each one record of the log, so that a large
//! one neither holds the core nor asks the log for a huge record.
//!
//! Not here: the rules (`decide`), what follows when a part is durable (`apply`).

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use base::SeqNo;
use consensus::Log;
use env::budget::Taken;
use env::reply::Reply;
use env::{Bytes, Clock, Env, Spawn};
use mapping::document::Arena;

use crate::apply::{Commit, DecidedOp, LoggedPart, Place, Updated};
use crate::buffer::stored::Stamp;
use crate::config::Durability;
use crate::decide::{self, Wish};
use crate::error::{Error, WriteError};
use crate::frame::FrameWriter;
use crate::operation::{Answers, Kind, Operation, Outcome, WriteBatch, Written};
use crate::shard::{Inner, Phase};
use crate::versions::{Decision, Standing, Text};

/// A part ends above this.
const PART_BYTES: usize = 4 << 20;
/// Room in the log that a part needs, but for one of a single huge operation.
const PART_ROOM: usize = 2 * PART_BYTES;
/// A part ends at this many operations.
const PART_OPS: usize = 4096;
/// Bytes of a source that are copied at a go: some tens of microseconds.
const COPY_BYTES: usize = 256 << 10;
/// Memory that an operation takes beside its bytes, at most: stamps, tables, a few postings.
const OP_BYTES: usize = 256;

/// A batch that waits to be decided.
pub(crate) struct Incoming {
    pub(crate) batch: WriteBatch,
    pub(crate) reply: Reply<Answers>,
    pub(crate) current: UnderWay,
}

/// Counts the operations of a batch as under way, from when it is taken in until it is answered.
pub(crate) struct UnderWay {
    current: Rc<Cell<(u64, u64)>>,
    /// Those that index, those that delete.
    own: (u64, u64),
}

impl UnderWay {
    pub(crate) fn begin(current: &Rc<Cell<(u64, u64)>>, batch: &WriteBatch) -> Self {
        let deletes = batch.ops.iter().filter(|op| matches!(op.kind, Kind::Delete)).count();
        let own = ((batch.ops.len() - deletes) as u64, deletes as u64);
        let (index, delete) = current.get();
        current.set((index + own.0, delete + own.1));
        Self { current: Rc::clone(current), own }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let (index, delete) = self.current.get();
        self.current.set((index - self.own.0, delete - self.own.1));
    }
}

/// A batch that is being done.
pub(crate) struct Job {
    pub(crate) arena: Arena,
    /// Answers so far; `None` where an operation is under way.
    pub(crate) answers: RefCell<Vec<Option<Result<Written, WriteError>>>>,
    pub(crate) reply: RefCell<Option<Reply<Answers>>>,
    /// Memory accounted for it.
    pub(crate) taken: RefCell<Vec<Taken>>,
    /// Any of it was applied.
    pub(crate) is_applied: Cell<bool>,
    /// An update needs fields first: nothing after it is tried.
    pub(crate) is_stopped: Cell<bool>,
    /// Goes when it is answered.
    pub(crate) current: Cell<Option<UnderWay>>,
}

impl Job {
    /// Bytes that were reckoned for it.
    pub(crate) fn needed_bytes(&self) -> u64 {
        self.taken.borrow().iter().map(Taken::bytes).sum::<usize>() as u64
    }
}

impl WriteBatch {
    /// Bytes that doing it takes, at most.
    pub fn needed_bytes(&self) -> usize {
        let ops = self.ops.iter().map(Operation::needed_bytes);
        ops.sum::<usize>() + self.arena_bytes()
    }

    /// The part of [`WriteBatch::needed_bytes`] that is its arena's.
    pub fn arena_bytes(&self) -> usize {
        2 * self.arena.size_bytes()
    }
}

impl Operation {
    /// Bytes that doing it takes, at most, beside what its document takes in the arena.
    pub fn needed_bytes(&self) -> usize {
        let source = match &self.kind {
            // Kept until the refresh, and copied into the log's record on the way there.
            Kind::Index { source, .. } => 2 * source.len(),
            // What stands there and what it becomes are taken when they are known (`update`).
            Kind::Update(_) | Kind::Delete => 0,
        };
        OP_BYTES + self.id.len() + self.routing.as_ref().map_or(0, String::len) + source
    }
}

/// Undoes the deciding of one operation.
struct Undo {
    id: String,
    before: Option<Decision>,
    /// Its place in the batch.
    at: usize,
}

impl<E: Env> Inner<E> {
    /// Takes a batch in, and sees to it that it is decided.
    pub(crate) fn take_in(self: &Rc<Self>, incoming: Incoming) {
        if let Err(error) = self.check_usable() {
            let failed = || WriteError::Failed { error: error.clone(), durable_unknown: false };
            let answers = incoming.batch.ops.iter().map(|_| Err(failed())).collect();
            return incoming.reply.send(answers);
        }
        self.incoming.borrow_mut().push_back(incoming);
        if !self.is_deciding.replace(true) {
            let inner = Rc::clone(self);
            self.env.spawn().spawn(async move {
                loop {
                    let next = inner.incoming.borrow_mut().pop_front();
                    let Some(incoming) = next else { break };
                    inner.decide_batch(incoming).await;
                }
                inner.is_deciding.set(false);
                inner.quiet.end();
            });
        }
    }

    async fn decide_batch(self: &Rc<Self>, incoming: Incoming) {
        let Incoming { mut batch, reply, current } = incoming;
        let refusal = self.refusal(&mut batch);
        let WriteBatch { mapping_version, arena, ops, .. } = batch;
        let count = ops.len();
        let taken = match refusal {
            Ok(taken) => taken,
            Err(error) => {
                self.counters.borrow_mut().refused += count as u64;
                return reply.send((0..count).map(|_| Err(error.clone())).collect());
            }
        };
        let job = Rc::new(Job {
            arena,
            answers: RefCell::new((0..count).map(|_| None).collect()),
            reply: RefCell::new(Some(reply)),
            taken: RefCell::new(taken),
            is_applied: Cell::new(false),
            is_stopped: Cell::new(false),
            current: Cell::new(Some(current)),
        });
        let mut ops = ops.into_iter().enumerate().peekable();
        loop {
            let part = self.decide_part(&job, mapping_version, &mut ops).await;
            let is_last = ops.peek().is_none();
            self.push_logged(LoggedPart { job: Rc::clone(&job), is_last, ..part });
            if is_last {
                return;
            }
            if !self.log().admits(PART_ROOM) {
                // The batch was let in as a whole. A log that fails tells so at the next part.
                self.log().sync().await.ok();
            }
        }
    }

    /// Memory for the batch, or the answer that all its operations get.
    fn refusal(self: &Rc<Self>, batch: &mut WriteBatch) -> Result<Vec<Taken>, WriteError> {
        if self.phase.get() == Phase::Closed {
            return Err(WriteError::Failed { error: Error::Closed, durable_unknown: false });
        }
        if let Some(error) = self.failure() {
            return Err(WriteError::Failed { error, durable_unknown: false });
        }
        let needed_bytes = batch.needed_bytes();
        let gc_deletes = self.config.borrow().gc_deletes;
        let now = self.env.clock().monotonic();
        let has_room = {
            let mut state = self.state.borrow_mut();
            state.prune(now, gc_deletes);
            state.hold_tombstones(&self.lease)
        };
        // Half of it is the record.
        if !self.log().admits(needed_bytes / 2) {
            return Err(WriteError::Rejected { needed_bytes });
        }
        let mut taken = std::mem::take(&mut batch.room);
        let mut lacking = needed_bytes;
        for piece in &mut taken {
            piece.shrink_to(lacking);
            piece.hand_to(self.lease.holder());
            lacking -= piece.bytes();
        }
        let rest = self.lease.take(lacking);
        let taken = rest.map(|rest| {
            taken.push(rest);
            taken
        });
        match taken {
            Some(taken) if has_room => Ok(taken),
            _ => {
                self.make_room();
                Err(WriteError::Rejected { needed_bytes })
            }
        }
    }

    /// Judges and numbers operations until the part is full, and hands it to the log.
    async fn decide_part(
        self: &Rc<Self>,
        job: &Rc<Job>,
        mapping_version: u64,
        ops: &mut impl Iterator<Item = (usize, Operation)>,
    ) -> LoggedPart {
        let (term, first) = {
            let state = self.state.borrow();
            (state.term, state.seq_no_next)
        };
        let mut frame = FrameWriter::new(mapping_version, term, SeqNo(first));
        let mut decided: Vec<DecidedOp> = Vec::new();
        let mut undo: Vec<Undo> = Vec::new();
        let mut updated = Updated::default();
        let mut judged = Vec::new();
        let mut seen = 0;
        while frame.len_bytes() < PART_BYTES && seen < PART_OPS {
            let Some((at, op)) = ops.next() else { break };
            seen += 1;
            let decision = match op.kind {
                _ if job.is_stopped.get() => Err(WriteError::NotTried),
                Kind::Update(_) => self.decide_update(op, at, job, &mut frame, &mut updated).await,
                Kind::Index { .. } | Kind::Delete => {
                    self.decide_one(op, at, Place::Batch).map(Some)
                }
            };
            match decision {
                Ok(Some((op, before))) => {
                    let source = op.source.as_ref().map(|(source, _)| &source[..]);
                    let source_bytes = source.map(<[u8]>::len);
                    frame.begin(op.stamp.version, &op.id, op.routing.as_deref(), source_bytes);
                    for (number, piece) in source.unwrap_or_default().chunks(COPY_BYTES).enumerate()
                    {
                        if number > 0 {
                            self.env.spawn().yield_if_needed().await;
                        }
                        frame.extend(piece);
                    }
                    undo.push(Undo { id: op.id.clone(), before, at });
                    decided.push(op);
                }
                // Nothing is to be written: it is answered already.
                Ok(None) => {}
                Err(error) => {
                    job.is_stopped
                        .set(job.is_stopped.get() || matches!(error, WriteError::NeedsFields(_)));
                    if matches!(error, WriteError::Conflict(_) | WriteError::Missing) {
                        judged.push(at);
                    }
                    job.answers.borrow_mut()[at] = Some(Err(error));
                }
            }
            self.env.spawn().yield_if_needed().await;
        }
        let commit = if decided.is_empty() { Ok(Commit::Done) } else { self.append(frame) };
        let commit = match commit {
            Ok(commit) => {
                let mut state = self.state.borrow_mut();
                state.logged = state.seq_no_next;
                commit
            }
            Err(error) => {
                judged.append(&mut updated.noops);
                self.take_back(job, undo, &judged, first, &error);
                decided.clear();
                Commit::Done
            }
        };
        let job = Rc::clone(job);
        LoggedPart { job, ops: decided, updated, commit, is_last: false }
    }

    /// Judges one operation, and numbers it where it is to be done.
    pub(crate) fn decide_one(
        &self,
        op: Operation,
        at: usize,
        place: fn(u32) -> Place,
    ) -> Result<(DecidedOp, Option<Decision>), WriteError> {
        let Operation { id, routing, kind, check } = op;
        let mut state = self.state.borrow_mut();
        let (standing, prior) = match state.standing(&id) {
            Ok(found) => found,
            Err(error) => {
                drop(state);
                let error = self.segment_error(&error);
                return Err(WriteError::Failed { error, durable_unknown: false });
            }
        };
        let wish = match kind {
            Kind::Index { create: false, .. } => Wish::Index,
            Kind::Index { create: true, .. } => Wish::Create,
            Kind::Delete => Wish::Delete,
            Kind::Update(_) => unreachable!("an update becomes an index operation first"),
        };
        let verdict = decide::judge(wish, check, standing).map_err(|conflict| {
            // Deletes that meet another version are no failed indexing.
            self.counters.borrow_mut().conflicts += u64::from(wish != Wish::Delete);
            WriteError::Conflict(conflict)
        })?;
        let seq_no = SeqNo(state.seq_no_next);
        state.seq_no_next += 1;
        let stamp = Stamp { seq_no, term: state.term, version: verdict.version };
        let next = match wish {
            Wish::Delete => Standing::Deleted(stamp),
            Wish::Index | Wish::Create => Standing::Present(stamp),
        };
        let source: Option<(Bytes, Place)> = match kind {
            Kind::Index { source, doc, .. } => Some((source, place(doc))),
            Kind::Update(_) | Kind::Delete => None,
        };
        let text = source.as_ref().map(|(source, _)| Text {
            source: source.clone(),
            routing: routing.as_deref().map(Into::into),
        });
        let before = state.decided.put(&id, (next, text));
        Ok((DecidedOp { at, id, routing, source, stamp, outcome: verdict.outcome, prior }, before))
    }

    fn append(&self, frame: FrameWriter) -> consensus::Result<Commit> {
        let (durability, sync_interval) = {
            let config = self.config.borrow();
            (config.durability, config.sync_interval)
        };
        let record = frame.finish();
        match durability {
            Durability::Request => Ok(Commit::Pending(self.log().append(record)?)),
            Durability::Async => {
                self.log().append_within(record, sync_interval)?;
                Ok(Commit::Done)
            }
        }
    }

    /// Takes the decisions of a part back that the log did not take.
    fn take_back(
        &self,
        job: &Job,
        undo: Vec<Undo>,
        judged: &[usize],
        first: u64,
        error: &consensus::Error,
    ) {
        let count = undo.len();
        let error = self.log_refusal(error, job);
        let mut state = self.state.borrow_mut();
        assert_eq!(state.seq_no_next, first + count as u64, "one task decides");
        state.seq_no_next = first;
        let applied = state.applied;
        let mut answers = job.answers.borrow_mut();
        for Undo { id, before, at } in undo.into_iter().rev() {
            state.decided.take_back(&id, before, applied);
            answers[at] = Some(Err(error.clone()));
        }
        // What changed nothing, met another version or found no document may have looked at what is taken back.
        judged.iter().for_each(|&at| answers[at] = Some(Err(error.clone())));
        drop((state, answers));
        self.counters.borrow_mut().refused += count as u64;
    }

    /// What the operations of a part get that the log did not take.
    fn log_refusal(&self, error: &consensus::Error, job: &Job) -> WriteError {
        use consensus::Error::Log;
        match error {
            Log(wal::Error::NoSpace { needed_bytes }) => {
                WriteError::NoSpace { needed_bytes: *needed_bytes }
            }
            Log(wal::Error::Full { .. }) => {
                let needed_bytes = job.taken.borrow().iter().map(Taken::bytes).sum();
                WriteError::Rejected { needed_bytes }
            }
            Log(wal::Error::TooLarge { bytes, bytes_max }) => {
                WriteError::TooLarge { bytes: *bytes, bytes_max: *bytes_max }
            }
            other => {
                let error = Error::from(other.clone());
                self.fail(&error);
                WriteError::Failed { error, durable_unknown: true }
            }
        }
    }

    /// Notes damage found in a segment: the shard serves no more.
    pub(crate) fn segment_error(&self, error: &segment::Error) -> Error {
        let error = self.failure().unwrap_or_else(|| Error::Corrupt {
            file: self.dir.display().to_string(),
            what: error.to_string(),
        });
        self.fail(&error);
        error
    }
}

/// The words of an outcome count.
impl Outcome {
    /// Whether a document was put.
    pub(crate) fn is_put(self) -> bool {
        matches!(self, Self::Created | Self::Updated)
    }
}
