//! Replaying a shard: what the log holds beyond the manifest is applied again.
//!
//! Always true
//! 1. Replay decides nothing: numbers and versions are those of the log. An operation that the
//!    manifest's segments show already is passed over by its number; after those the numbers go on
//!    without a gap, or the log is corrupt.
//! 2. Chunks are applied in the order of the log, each when the one before is.
//! 3. What was acknowledged is never refused, and passes the budget by what one replay needs: it takes
//!    its memory before it reads, or waits for others who replay, and holds nothing meanwhile. A shard
//!    that waits for nobody begins without.
//! 4. A segment for which there is no memory becomes a file at once. No manifest names it before the next
//!    flush, so what a crash leaves of it is cleared away as what a merge leaves.
//!
//! 5. No core, and no worker that others wait for, reads a document whose analyzers make much of little: how long
//!    that takes only shows as it goes. Such are read when their turn is near, several at once, each by a worker.
//!
//! Four things overlap, so that replay is no slower than the writing was: chunks are read ahead of the
//! one that is applied; a worker parses one of them; whatever no worker has begun when its turn
//! comes is parsed here, so neither side waits for the other; and buffers are sealed, by a
//! worker, while the next is filled. Those are smaller than what writing fills, because the last one
//! is sealed while nothing else is left to do.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use base::SeqNo;
use base::planted::{Fault, planted};
use consensus::{Local, LogPosition, Replay};
use env::reply::Answer;
use env::{Clock, Env, Spawn, reply};
use mapping::Mapping;
use mapping::analysis::effort::{Exhausted, within};
use mapping::document::{Arena, Entries, Mode, Parsed, Parser, STEPS_HERE};
use segment::Segment;

use crate::apply;
use crate::buffer::stored::Stamp;
use crate::error::{Error, Result};
use crate::flush;
use crate::frame::{Frame, FrameError, Logged};
use crate::manifest::SegmentFile;
use crate::shard::{BUSY_PAUSE, Inner};
use crate::state::Prior;

/// Bytes of sources that are parsed at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes of parsed documents of a chunk, about, from which on each is parsed when its turn comes.
const ARENA_BYTES: usize = 32 << 20;
/// A longer document that is parsed alone is parsed on a worker.
const ALONE_HERE_BYTES_MAX: usize = 16 << 10;
/// Steps of analysis that all documents of a chunk may take where they are parsed together: more than a megabyte of
/// plain text takes. Beyond them each may take what an executor gives; one that takes more is long.
const CHUNK_STEPS: u64 = 16 << 20;
/// Long documents that workers have at once.
const LONG_AHEAD: usize = 3;
/// Chunks that are read ahead.
const CHUNKS_AHEAD: usize = 4;
/// Chunks that workers have at once: one that is parsed, and the next.
const CHUNKS_SENT: usize = 2;
/// A buffer is sealed at one part in so many of what writing fills.
const SEAL_PART: usize = 2;
/// Buffers of that size which are held at once: the one that is filled, up to twice that size, the one
/// that is sealed, and the segment that comes of it.
const BUFFERS: usize = 4;
/// What a byte of the log takes, read and parsed: itself, and as much again, twice, of what it says.
const PARSED_PART: usize = 3;
/// What a byte of a short log takes in all: read, parsed, in a buffer, and in a segment.
const REPLAYED_PART: usize = 6;
/// A log without anything to apply is read a piece of this size at a time.
const PIECE_BYTES: usize = 1 << 20;

/// A part of the log on its way.
enum Chunk {
    /// Nobody parses it yet.
    Read(Vec<Frame>),
    /// A worker has it.
    Sent(Answer<Result<Prepared>>),
    /// It may be applied.
    Parsed(Prepared),
}

/// Chunks in the order of the log.
type Ahead = VecDeque<Chunk>;

impl<E: Env> Inner<E> {
    /// Waits for the memory of replaying a log whose files have `log_bytes` (rule 3).
    pub(crate) async fn begin_replay(&self, log_bytes: u64, is_clean: bool) {
        if planted(Fault::ReplayWithoutTurns) {
            return;
        }
        let log_bytes = usize::try_from(log_bytes).unwrap_or(usize::MAX);
        let needed = match is_clean {
            true => log_bytes.min(PIECE_BYTES),
            false => log_bytes.saturating_mul(REPLAYED_PART).min(self.replay_bytes()),
        };
        let advance = loop {
            match self.lease.advance(needed) {
                Some(advance) => break advance,
                None => self.env.clock().sleep(BUSY_PAUSE).await,
            }
        };
        *self.replaying.borrow_mut() = Some(advance);
    }

    /// Gives the memory back that replay had. Where little is left, what it made gives its own back
    /// soon, too: others wait for it.
    pub(crate) fn end_replay(self: &Rc<Self>) {
        self.replaying.take();
        if self.lease.is_scarce() {
            self.make_room();
        }
    }

    /// Memory with which a log of any length is replayed.
    fn replay_bytes(&self) -> usize {
        PIECE_BYTES
            + PARSED_PART * CHUNKS_AHEAD * CHUNK_BYTES
            + BUFFERS * self.buffer_bytes_max() / SEAL_PART
    }

    /// Waits for the memory of a chunk that is larger than others, since one batch of it is.
    async fn hold_large(&self, bytes: usize) {
        if bytes <= 2 * CHUNK_BYTES {
            return;
        }
        // It is read, and parsed or in a buffer.
        let needed = self.replay_bytes() + REPLAYED_PART * bytes;
        loop {
            if self.replaying.borrow_mut().as_mut().is_none_or(|held| held.grow_to(needed)) {
                return;
            }
            self.env.clock().sleep(BUSY_PAUSE).await;
        }
    }

    /// Accounts for the memory of a segment that replay made, or else makes a file of it (rule 4). After
    /// replay, the writes that are in it have paid for it.
    pub(crate) async fn keep_replayed(
        &self,
        segment: Segment,
    ) -> Result<(Segment, Option<SegmentFile>)> {
        if self.replaying.borrow().is_none() {
            return Ok((segment, None));
        }
        if let Some(taken) = self.lease.take(segment.len_bytes() as usize) {
            segment.charge(vec![taken]);
            return Ok((segment, None));
        }
        let saved = match self.find_room(segment.len_bytes(), 0).await {
            Ok(()) => flush::save_segment(&self.env, &self.dir, &segment).await,
            Err(full) => Err(full),
        };
        match saved {
            Ok(named) => {
                drop(segment);
                Ok((self.map_segment(&named).await?, Some(named)))
            }
            // Its memory is beyond the budget until there is room: it was acknowledged.
            Err(error) if error.is_full_disk() => Ok((segment, None)),
            Err(error) => Err(error),
        }
    }

    /// Applies what the log holds, and opens it for writing.
    pub(crate) async fn replay(
        self: &Rc<Self>,
        mut replay: Replay<E>,
        reserve: Option<consensus::Reserve<E>>,
    ) -> Result<Local<E>> {
        let mut applying = None;
        let replayed = self.replay_all(&mut replay, &mut applying).await;
        if let Some(last) = applying {
            // Where something failed: nothing goes on behind the answer that says so.
            let _: Option<Result<()>> = last.await;
        }
        replayed?;
        Ok(replay.finish(reserve).await?)
    }

    /// Applies what the log holds; `applying` is what is under way.
    async fn replay_all(
        self: &Rc<Self>,
        replay: &mut Replay<E>,
        applying: &mut Option<Answer<Result<()>>>,
    ) -> Result<()> {
        let mut ahead = Ahead::new();
        let mut is_over = false;
        loop {
            if !is_over {
                let (frames, ended) = self.read_chunk(replay).await?;
                is_over = ended;
                if !frames.is_empty() {
                    ahead.push_back(Chunk::Read(frames));
                }
                self.send_chunks(&mut ahead);
                if !is_over && ahead.len() < CHUNKS_AHEAD {
                    continue;
                }
            }
            let next = self.take_parsed(&mut ahead).await?;
            self.send_chunks(&mut ahead);
            if let Some(last) = applying.take() {
                last.await.unwrap_or(Err(Error::Closed))?;
            }
            let Some(prepared) = next else { return Ok(()) };
            let (reply, answer) = reply::channel();
            let inner = Rc::clone(self);
            self.env.spawn().spawn(async move {
                reply.send(inner.apply_prepared(&prepared).await);
            });
            *applying = Some(answer);
        }
    }

    /// Frames of the log up to a chunk's size; true at the log's end.
    async fn read_chunk(&self, replay: &mut Replay<E>) -> Result<(Vec<Frame>, bool)> {
        let (mut frames, mut bytes) = (Vec::new(), 0);
        while bytes < CHUNK_BYTES {
            let Some(batch) = replay.next().await? else {
                if planted(Fault::DropLastBatch) {
                    frames.pop();
                }
                return Ok((frames, true));
            };
            for record in batch.records {
                if record.count == 0 {
                    continue;
                }
                bytes += record.payload.len();
                let frame = Frame::decode(record);
                frames.push(frame.map_err(|error| self.frame_error(batch.position, error))?);
            }
            self.env.spawn().yield_if_needed().await;
        }
        self.hold_large(bytes).await;
        Ok((frames, false))
    }

    fn frame_error(&self, position: LogPosition, error: FrameError) -> Error {
        let file = self.dir.display().to_string();
        match error {
            FrameError::Format(found) => Error::Version {
                file,
                found: u32::from(found),
                expected: u32::from(crate::frame::FORMAT),
            },
            FrameError::Malformed(what) => {
                Error::Corrupt { file, what: format!("log entry {position}: {what}") }
            }
        }
    }

    /// Gives workers the next chunks, so that one of them always has what to do.
    fn send_chunks(self: &Rc<Self>, ahead: &mut Ahead) {
        let sent = ahead.iter().filter(|chunk| matches!(chunk, Chunk::Sent(_))).count();
        let unsent = ahead.iter_mut().filter(|chunk| matches!(chunk, Chunk::Read(_)));
        for chunk in unsent.take(CHUNKS_SENT.saturating_sub(sent)) {
            let Chunk::Read(frames) = chunk else { unreachable!("filtered above") };
            *chunk = Chunk::Sent(self.send(std::mem::take(frames)));
        }
    }

    /// Has frames parsed by a worker.
    fn send(self: &Rc<Self>, frames: Vec<Frame>) -> Answer<Result<Prepared>> {
        let (reply, answer) = reply::channel();
        let inner = Rc::clone(self);
        let mapping = self.mapping.borrow().clone();
        let shown = self.manifest.borrow().seq_no_next;
        self.env.spawn().spawn(async move {
            let frames = Arc::new(frames);
            let job = move || {
                let (mut prepared, mut parser) = (Prepared::new(frames), Parser::new());
                while prepared.step(&mut parser, shown, &mapping) {}
                prepared
            };
            reply.send(inner.work(job).await);
        });
        answer
    }

    /// The first chunk, parsed; `None` where there is none. While a worker has it, others are parsed
    /// here.
    async fn take_parsed(&self, ahead: &mut Ahead) -> Result<Option<Prepared>> {
        let mut sent = match ahead.pop_front() {
            None => return Ok(None),
            Some(Chunk::Parsed(prepared)) => return Ok(Some(prepared)),
            Some(Chunk::Read(frames)) => return Ok(Some(self.parse_here(frames).await)),
            Some(Chunk::Sent(answer)) => answer,
        };
        for chunk in ahead.iter_mut() {
            if let Some(answer) = answered(&mut sent).await {
                return answer.unwrap_or(Err(Error::Closed)).map(Some);
            }
            if let Chunk::Read(frames) = chunk {
                let frames = std::mem::take(frames);
                *chunk = Chunk::Parsed(self.parse_here(frames).await);
            }
        }
        sent.await.unwrap_or(Err(Error::Closed)).map(Some)
    }

    async fn parse_here(&self, frames: Vec<Frame>) -> Prepared {
        let mapping = self.mapping.borrow().clone();
        let shown = self.manifest.borrow().seq_no_next;
        let (mut prepared, mut parser) = (Prepared::new(Arc::new(frames)), Parser::new());
        prepared.steps = 0;
        while prepared.step(&mut parser, shown, &mapping) {
            self.env.spawn().yield_if_needed().await;
        }
        prepared
    }

    async fn apply_prepared(self: &Rc<Self>, prepared: &Prepared) -> Result<()> {
        let mut docs = prepared.docs.iter();
        let mut long = self.long_ones(prepared);
        let term_max = self.manifest.borrow().primary_term;
        let shown = self.manifest.borrow().seq_no_next;
        let seal_bytes = self.buffer_bytes_max() / SEAL_PART;
        for frame in prepared.frames.iter() {
            if frame.term > term_max {
                let what = format!(
                    "the log holds operations of term {}, the manifest knows {term_max}",
                    frame.term
                );
                return Err(Error::Corrupt { file: self.dir.display().to_string(), what });
            }
            for op in &frame.ops {
                let doc = *docs.next().expect("one entry an operation");
                if op.seq_no < shown && !planted(Fault::ReplayTwice) {
                    continue;
                }
                if op.seq_no == shown && planted(Fault::PassOverFirst) {
                    let mut state = self.state.borrow_mut();
                    state.applied = op.seq_no.get() + 1;
                    state.seq_no_next = state.applied;
                    continue;
                }
                match doc {
                    Doc::Unread => self.apply_logged(frame, op, None).await?,
                    Doc::Read(doc) => {
                        self.apply_logged(frame, op, Some(prepared.arena.entries(doc))).await?;
                    }
                    Doc::Later => {
                        let (arena, doc) = self.parse_alone(op).await?;
                        self.apply_logged(frame, op, doc.map(|doc| arena.entries(doc))).await?;
                    }
                    Doc::Long => {
                        let (arena, doc) = match self.next_long(&mut long).await? {
                            (arena, Doc::Read(doc)) => (arena, Some(doc)),
                            (arena, Doc::Unread) => (arena, None),
                            // There was no memory for several at once.
                            (_, Doc::Later | Doc::Long) => self.parse_alone(op).await?,
                        };
                        self.apply_logged(frame, op, doc.map(|doc| arena.entries(doc))).await?;
                    }
                }
                self.env.spawn().yield_if_needed().await;
            }
            self.slow_down(seal_bytes).await;
            // What sealed a buffer may have failed meanwhile.
            if let Some(error) = self.failure() {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Parses one document into an arena of its own: on a worker where it is long, or its analyzers make much of it.
    async fn parse_alone(&self, op: &Logged) -> Result<(Arena, Option<usize>)> {
        let mapping = self.mapping.borrow().clone();
        let (id, source) = (op.id.clone(), op.source.clone().unwrap_or_default());
        let bytes = mapping.reading_bytes(source.len());
        let job = move || {
            let mut arena = Arena::new();
            match parsed(&mut Parser::new(), &mapping, &id, &source, &mut arena) {
                Doc::Read(doc) => (arena, Some(doc)),
                // It had room when it was written, but for what older versions let pass.
                Doc::Unread | Doc::Later | Doc::Long => (arena, None),
            }
        };
        if bytes <= ALONE_HERE_BYTES_MAX
            && let Ok((read, _)) = within(STEPS_HERE, job.clone())
        {
            return Ok(read);
        }
        self.work_on_long_document(job).await
    }

    /// The long documents of a chunk; workers begin with the first of them.
    fn long_ones<'p>(self: &Rc<Self>, prepared: &'p Prepared) -> LongOnes<'p> {
        let ops = prepared.frames.iter().flat_map(|frame| &frame.ops).zip(&prepared.docs);
        let unsent = ops.filter(|(_, doc)| matches!(doc, Doc::Long)).map(|(op, _)| op).collect();
        let mut long = LongOnes { unsent, sent: VecDeque::new() };
        self.send_long(&mut long);
        long
    }

    /// Gives workers as many long documents as they may have.
    fn send_long(self: &Rc<Self>, long: &mut LongOnes<'_>) {
        while long.sent.len() < LONG_AHEAD
            && let Some(op) = long.unsent.pop_front()
        {
            let (reply, answer) = reply::channel();
            let inner = Rc::clone(self);
            let mapping = self.mapping.borrow().clone();
            let (id, source) = (op.id.clone(), op.source.clone().unwrap_or_default());
            let lease = self.lease.clone();
            let job = move || {
                // What it takes is paid for, since several are read at once (rule 3).
                let mut arena = Arena::bounded(lease.total_bytes() / 4).paid_by(lease);
                let doc = parsed(&mut Parser::new(), &mapping, &id, &source, &mut arena);
                (arena, doc)
            };
            self.env.spawn().spawn(async move {
                reply.send(inner.work_on_long_document(job).await);
            });
            long.sent.push_back(answer);
        }
    }

    /// The next long document, once it is read; workers go on with those behind it.
    async fn next_long(self: &Rc<Self>, long: &mut LongOnes<'_>) -> Result<(Arena, Doc)> {
        let answer = long.sent.pop_front();
        let read = match answer {
            Some(answer) => answer.await.unwrap_or(Err(Error::Closed)),
            None => Ok((Arena::new(), Doc::Later)),
        };
        self.send_long(long);
        read
    }

    async fn apply_logged(
        &self,
        frame: &Frame,
        op: &Logged,
        entries: Option<Entries<'_>>,
    ) -> Result<()> {
        let expected = self.state.borrow().applied;
        if op.seq_no.get() != expected && !planted(Fault::ReplayTwice) {
            let what =
                format!("operation {} follows in the log where {expected} was expected", op.seq_no);
            return Err(Error::Corrupt { file: self.dir.display().to_string(), what });
        }
        let version = if planted(Fault::ForgetVersion) { 1 } else { op.version };
        let stamp = Stamp { seq_no: op.seq_no, term: frame.term, version };
        let put = match &op.source {
            None => None,
            Some(source) => {
                let routing = op.routing.as_deref().filter(|_| !planted(Fault::LoseRouting));
                Some(self.enter(routing, source.clone(), entries, stamp).await)
            }
        };
        let now = self.env.clock().monotonic();
        let mut state = self.state.borrow_mut();
        let applied = apply::apply(&mut state, &op.id, stamp, Prior::Unsure, put, now);
        state.applied = op.seq_no.get() + 1;
        state.seq_no_next = state.applied;
        drop(state);
        applied.map_err(|error| self.segment_error(&error))
    }
}

/// The answer, where it is there already.
async fn answered<T>(answer: &mut Answer<T>) -> Option<Option<T>> {
    poll_fn(|context| match Pin::new(&mut *answer).poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// The document of an operation.
#[derive(Clone, Copy)]
enum Doc {
    /// None: a delete, what is not applied again, text that nothing can be read from.
    Unread,
    /// Its number in the arena.
    Read(usize),
    /// It is parsed when it is applied: those before it filled the arena. (An analyzer may make of a byte so many
    /// that a chunk of the log has more than any arena takes, or memory is there for.)
    Later,
    /// It is read by a worker for itself, shortly before it is applied: its analyzers make much of it.
    Long,
}

/// The long documents of a chunk, in its order.
struct LongOnes<'p> {
    unsent: VecDeque<&'p Logged>,
    sent: VecDeque<Answer<Result<(Arena, Doc)>>>,
}

/// What a document of the log is found by. It was acknowledged, so it stays even where nothing can be read from it.
fn parsed(
    parser: &mut Parser,
    mapping: &Mapping,
    id: &str,
    source: &[u8],
    arena: &mut Arena,
) -> Doc {
    match parser.parse(mapping, id, source, Mode::Replay, arena) {
        Ok(Parsed::Ready(doc)) => Doc::Read(doc),
        Err(error) if error.is_due_to(mapping::ErrorKind::NoMemory) => Doc::Later,
        Ok(Parsed::NeedsMapping(_)) | Err(_) => Doc::Unread,
    }
}

/// Frames, and so many of their documents as were parsed.
struct Prepared {
    frames: Arc<Vec<Frame>>,
    arena: Arena,
    /// One an operation.
    docs: Vec<Doc>,
    /// Steps of analysis that are left for all of them.
    steps: u64,
    /// The next operation: its frame, and its place there.
    next: (usize, usize),
}

impl Prepared {
    fn new(frames: Arc<Vec<Frame>>) -> Self {
        Self { frames, arena: Arena::new(), docs: Vec::new(), steps: CHUNK_STEPS, next: (0, 0) }
    }

    /// Parses the next document; false where there is none left.
    fn step(&mut self, parser: &mut Parser, shown: SeqNo, mapping: &Mapping) -> bool {
        let Some(frame) = self.frames.get(self.next.0) else { return false };
        let Some(op) = frame.ops.get(self.next.1) else {
            self.next = (self.next.0 + 1, 0);
            return true;
        };
        self.next.1 += 1;
        self.docs.push(match op.source.as_ref().filter(|_| op.seq_no >= shown) {
            None => Doc::Unread,
            Some(_) if self.arena.size_bytes() > ARENA_BYTES => Doc::Later,
            Some(source) => {
                let read = || parsed(parser, mapping, &op.id, source, &mut self.arena);
                match within(self.steps.max(STEPS_HERE), read) {
                    Ok((doc, taken)) => {
                        self.steps = self.steps.saturating_sub(taken);
                        doc
                    }
                    Err(Exhausted) => {
                        self.steps = 0;
                        Doc::Long
                    }
                }
            }
        });
        true
    }
}
