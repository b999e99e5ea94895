//! Deciding an update: what stands there is read, changed and judged in one step, so nothing can come
//! between, and operations of one id never conflict with each other for being in flight together.
//!
//! What stands there is what the next decision reads: the text of an operation under way, else what
//! is applied. The document that results is parsed here, by the newest mapping the shard knows. Where
//! it needs fields that the mapping lacks, the batch stops: the caller asks the cluster for them, and
//! sends the rest again (decision 2).
//!
//! A long document is read, changed and parsed by a worker, for which this one waits: one task decides,
//! so nothing else is decided meanwhile, and what is applied meanwhile was decided before.
//!
//! Always true: what is logged is the whole document. A replay knows no updates.

use std::sync::Arc;

use base::{PrimaryTerm, SeqNo};
use env::{Bytes, Clock, Env};
use json::Value;
use mapping::Mapping;
use mapping::analysis::effort::{Exhausted, within};
use mapping::document::{
    Arena, Mode, Parsed, Parser, STEPS_FIRST, STEPS_HERE, STEPS_MAX, too_costly,
};

use base::planted::{self, planted};
use script::{Fault, Program};

use crate::apply::{DecidedOp, Place, Updated};
use crate::decide::{self, Wish};
use crate::error::{Conflict, Error, WriteError};
use crate::frame::FrameWriter;
use crate::operation::{Kind, Operation, Outcome, Reading, Scripted, Seen, Update, Written};
use crate::scripted::{self, Failed};
use crate::shard::Inner;
use crate::versions::{Decision, Standing, Text};
use crate::write::Job;

/// Memory that a document of so many bytes takes until it is applied: its text in the buffer and in
/// the log's record, its words in the arena.
const BYTES_A_BYTE: usize = 6;

/// A longer document is changed and parsed by a worker, as new ones are.
const HERE_BYTES_MAX: usize = 32 << 10;

impl<E: Env> Inner<E> {
    /// Decides one update; `None`: it changes nothing, and its answer is noted.
    pub(crate) async fn decide_update(
        &self,
        op: Operation,
        at: usize,
        job: &Job,
        frame: &mut FrameWriter,
        updated: &mut Updated,
    ) -> Result<Option<(DecidedOp, Option<Decision>)>, WriteError> {
        let Operation { id, routing, kind: Kind::Update(update), check } = op else {
            unreachable!("only updates come here");
        };
        let update: Arc<Update> = Arc::from(update);
        let started = self.env.clock().monotonic();
        let (standing, text) = self.current(&id).await?;
        // As Elasticsearch, whose updates begin with a get.
        self.count(started, |counters| &mut counters.get);
        if text.is_none() {
            self.count(started, |counters| &mut counters.get_missing);
        }
        let wants_source = update.wants_source;
        let mut unseen = None;
        let (change, routing) = match (standing, text) {
            (Standing::Present(stamp), _) if update.only_absent => {
                return Err(WriteError::Conflict(Conflict::Exists { version: stamp.version }));
            }
            (Standing::Present(_), Some(text)) => {
                decide::judge(Wish::Index, check, standing).map_err(WriteError::Conflict)?;
                let routing = text.routing.map(String::from).or(routing);
                let change = match &update.script {
                    None => {
                        let bytes = text.source.len() + update.change.text_bytes(HERE_BYTES_MAX);
                        let (update, source) = (Arc::clone(&update), text.source.clone());
                        self.aside(bytes, move || changed(&update, &source)).await??
                    }
                    Some(scripted) => {
                        let source = self.stored(&text.source).await?;
                        let mut ctx = meta(scripted, &id, routing.as_deref());
                        if let Some(stamp) = standing.stamp() {
                            ctx.insert("_version", json::Number::from(stamp.version));
                        }
                        self.scripted(scripted, ctx, "index", source).await?
                    }
                };
                if update.seen != Seen::All && update.script.is_none() {
                    unseen = Some((Arc::clone(&update), text.source.clone()));
                }
                (change.unless(text.source), routing)
            }
            _ => {
                let upsert = update.upsert.clone().ok_or(WriteError::Missing)?;
                let change = match update.script.as_ref().filter(|scripted| scripted.upserts) {
                    None => Change::Put(upsert),
                    Some(scripted) => {
                        let ctx = meta(scripted, &id, routing.as_deref());
                        let source = self.stored(&upsert).await?;
                        self.scripted(scripted, ctx, "create", source).await?
                    }
                };
                (change.unless(Bytes::empty()), routing)
            }
        };
        let source = match change {
            Change::Put(source) => source,
            Change::Delete => {
                let op = Operation { id, routing, kind: Kind::Delete, check };
                return self.decide_one(op, at, Place::Part).map(Some);
            }
            Change::Nothing(source) => {
                let stamp = standing.stamp().filter(|_| !source.is_empty());
                job.answers.borrow_mut()[at] = Some(Ok(Written {
                    seq_no: stamp.map_or(SeqNo(0), |stamp| stamp.seq_no),
                    primary_term: stamp.map_or(PrimaryTerm(0), |stamp| stamp.term),
                    version: stamp.map_or(0, |stamp| stamp.version),
                    outcome: Outcome::Noop,
                    source: wants_source.then_some(source),
                }));
                updated.noops.push(at);
                return Ok(None);
            }
        };
        let needed_bytes = BYTES_A_BYTE * source.len();
        let Some(taken) = self.lease.take(needed_bytes) else {
            return Err(WriteError::Rejected { needed_bytes });
        };
        job.taken.borrow_mut().push(taken);
        let mapping = self.mapping.borrow().clone();
        let is_routed = routing.is_some();
        let read = Made { mapping: Arc::clone(&mapping), id: id.clone(), is_routed, unseen };
        let mut here = None;
        if mapping.reading_bytes(source.len()) <= HERE_BYTES_MAX {
            let (mut parser, read) = (self.parser.borrow_mut(), read.clone());
            let read = || read.read(&mut parser, source.clone(), &mut updated.arena);
            // Else its analyzers make much of little: it is begun anew.
            here = within(STEPS_HERE, read).ok();
        }
        let (source, parsed, place): (_, _, fn(u32) -> Place) = if let Some((read, _)) = here {
            let (source, parsed) = read?;
            (source, parsed, Place::Part)
        } else {
            let lease = self.lease.clone();
            let costly = WriteError::Document(Box::new(too_costly(&id)));
            let job = move |steps: u64| {
                let mut arena = Arena::bounded(lease.total_bytes() / 4).paid_by(lease);
                let whole = || read.read(&mut Parser::new(), source, &mut arena);
                let done = within(steps, whole).map(|(done, _)| done);
                arena.settle();
                done.map(|done| (done, arena))
            };
            let again = job.clone();
            let mut done = self.away(move || job(STEPS_FIRST)).await?;
            if done.is_err() {
                // It is long, and is begun anew where such never have all workers.
                let long = self.work_on_long_document(move || again(STEPS_MAX)).await;
                done =
                    long.map_err(|error| WriteError::Failed { error, durable_unknown: false })?;
            }
            let (read, arena) = done.map_err(|Exhausted| costly)?;
            let (source, parsed) = read?;
            // It has an arena for itself: its number is that.
            let parsed = parsed.map(|parsed| match parsed {
                Parsed::Ready(_) => {
                    updated.aside.push(arena);
                    Parsed::Ready(updated.aside.len() - 1)
                }
                needs => needs,
            });
            (source, parsed, Place::Aside)
        };
        let doc = match parsed {
            Ok(Parsed::Ready(doc)) => doc as u32,
            Ok(Parsed::NeedsMapping(delta)) => {
                return Err(WriteError::NeedsFields(Box::new(delta)));
            }
            Err(error) => return Err(WriteError::Document(Box::new(error))),
        };
        frame.raise_mapping_version(mapping.version());
        if wants_source {
            updated.shown.push(at);
        }
        let kind = Kind::Index { create: false, source, doc };
        self.decide_one(Operation { id, routing, kind, check }, at, place).map(Some)
    }

    /// Does what takes about as long as so many bytes are many: a worker, where that is too long.
    async fn aside<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce() -> T + Clone + Send + 'static,
    ) -> Result<T, WriteError> {
        if bytes <= HERE_BYTES_MAX {
            return Ok(job());
        }
        self.away(job).await
    }

    /// Has a worker read or change a document.
    async fn away<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Clone + Send + 'static,
    ) -> Result<T, WriteError> {
        let done = self.work_on_document(job).await;
        done.map_err(|error| WriteError::Failed { error, durable_unknown: false })
    }

    /// A stored text, read.
    async fn stored(&self, source: &Bytes) -> Result<Value, WriteError> {
        let (bytes, source) = (source.len(), source.clone());
        self.aside(bytes, move || stored(&source)).await?
    }

    /// What a script makes of a document.
    async fn scripted(
        &self,
        scripted: &Scripted,
        ctx: json::Object,
        op: &str,
        source: Value,
    ) -> Result<Change, WriteError> {
        let outside = (&self.env, &self.lease);
        let before = ctx.clone();
        let left = scripted::run(outside, &scripted.program, &scripted.params, ctx, op, source);
        let left = left.await.map_err(|failed| match failed {
            Failed::Script(error) => WriteError::Script(error),
            Failed::Memory { needed_bytes } => WriteError::Rejected { needed_bytes },
        })?;
        if let Some(fault) = moved(&before, &left.meta) {
            let Program { source, statements, .. } = &*scripted.program;
            let error = script::Error::runtime(source, statements, fault);
            return Err(WriteError::Script(Box::new(error)));
        }
        Ok(match left.op.as_str() {
            "delete" if op == "index" => Change::Delete,
            done if done == op => Change::Put(Bytes::from(json::to_vec(&left.source))),
            // What Elasticsearch does not know, it passes over with a word in its log.
            _ => Change::Nothing(Bytes::empty()),
        })
    }

    /// How a document stands for the next decision, with its text where it is there.
    async fn current(&self, id: &str) -> Result<(Standing, Option<Text>), WriteError> {
        let failed = |error| WriteError::Failed {
            error: self.segment_error(&error),
            durable_unknown: false,
        };
        let standing = {
            let state = self.state.borrow();
            if let Some(standing) = state.decided.get(id)
                && !planted(planted::Fault::LoseUpdate)
            {
                return Ok((standing, state.decided.text(id).cloned()));
            }
            state.standing(id)
        };
        let (standing, _) = standing.map_err(failed)?;
        if !matches!(standing, Standing::Present(_)) {
            return Ok((standing, None));
        }
        let found = self.get_applied(id, Reading::Whole).await.map_err(|error| match error {
            Error::NoMemory { needed_bytes } => {
                WriteError::Rejected { needed_bytes: needed_bytes as usize }
            }
            error => WriteError::Failed { error, durable_unknown: false },
        })?;
        let text = found
            .map(|found| Text { source: found.source, routing: found.routing.map(Into::into) });
        Ok((standing, text))
    }
}

/// What is needed to read a document that an update made.
#[derive(Clone)]
struct Made {
    mapping: Arc<Mapping>,
    id: String,
    is_routed: bool,
    /// The update and what stood there, where its caller does not see all of that.
    unseen: Option<(Arc<Update>, Bytes)>,
}

impl Made {
    /// Reads the document into `arena`; what was made of it, and what its mapping says.
    fn read(
        self,
        parser: &mut Parser,
        source: Bytes,
        arena: &mut Arena,
    ) -> Result<(Bytes, mapping::Result<Parsed>), WriteError> {
        let Self { mapping, id, is_routed, unseen } = self;
        parser.set_routed(is_routed);
        let parsed = parser.parse(&mapping, &id, &source, Mode::Strict, arena);
        match (parsed, unseen) {
            (Err(_), Some((update, standing))) => {
                apart(parser, &mapping, (&id, is_routed), &update, &standing, arena)
            }
            (parsed, _) => Ok((source, parsed)),
        }
    }
}

/// What an update makes of a document that is not good with it, where its caller does not see all of that:
/// whether it is put depends on the change alone.
fn apart(
    parser: &mut Parser,
    mapping: &Mapping,
    (id, is_routed): (&str, bool),
    update: &Update,
    standing: &[u8],
    arena: &mut Arena,
) -> Result<(Bytes, mapping::Result<Parsed>), WriteError> {
    // Whether a routing is wanted is no question of the part.
    parser.set_routed(true);
    let own = json::to_vec(&update.change);
    let own = parser.parse(mapping, id, &own, Mode::Strict, arena);
    parser.set_routed(is_routed);
    if !matches!(own, Ok(Parsed::Ready(_))) {
        return Ok((Bytes::empty(), own));
    }
    // It was only to be judged, with no more room than the whole has.
    arena.forget_last();
    let mut whole = stored(standing)?;
    if update.seen == Seen::Nothing {
        let mut whole = whole.clone();
        let is_one = |path: &str| mapping.is_one_value(path);
        json::patch::merge_but(&mut whole, &update.change, &is_one);
        let text = json::to_vec(&whole);
        let parsed = parser.parse(mapping, id, &text, Mode::Strict, arena);
        if parsed.is_ok() {
            return Ok((Bytes::from(text), parsed));
        }
    }
    json::patch::merge(&mut whole, &update.change);
    let text = json::to_vec(&whole);
    let parsed = parser.parse(mapping, id, &text, Mode::Replay, arena);
    Ok((Bytes::from(text), parsed))
}

/// What becomes of a document.
enum Change {
    /// It gets this text.
    Put(Bytes),
    /// It goes.
    Delete,
    /// It stays as it is: its text.
    Nothing(Bytes),
}

impl Change {
    /// Where nothing changes, the text is this.
    fn unless(self, source: Bytes) -> Self {
        match self {
            Self::Nothing(_) => Self::Nothing(source),
            other => other,
        }
    }
}

/// What a script sees of a document beside its source.
fn meta(scripted: &Scripted, id: &str, routing: Option<&str>) -> json::Object {
    let mut ctx = json::Object::new();
    ctx.insert("_index", scripted.index.as_str());
    ctx.insert("_id", id);
    ctx.insert("_type", "_doc");
    if let Some(routing) = routing {
        ctx.insert("_routing", routing);
    }
    ctx.insert("_now", json::Number::from(scripted.now_ms));
    ctx
}

/// What a script changed that an update leaves where it is: the name of a document, its version, its place.
fn moved(before: &json::Object, after: &json::Object) -> Option<Fault> {
    if let Some((key, _)) = before.iter().find(|(key, _)| after.get(key).is_none()) {
        return Some(Fault::illegal(format!("{key} cannot be removed")));
    }
    let (key, _) = after.iter().find(|(key, value)| before.get(key) != Some(*value))?;
    Some(Fault::illegal(format!("{key} cannot be updated")))
}

/// A stored text, read.
fn stored(source: &[u8]) -> Result<Value, WriteError> {
    if source.is_empty() {
        return Err(WriteError::NoSource);
    }
    // Only what was read as JSON is stored.
    json::parse(source).map_err(|error| WriteError::Failed {
        error: crate::Error::Corrupt { file: "a document".into(), what: error.to_string() },
        durable_unknown: false,
    })
}

/// What an update makes of a text.
fn changed(update: &Update, source: &[u8]) -> Result<Change, WriteError> {
    let mut whole = stored(source)?;
    let is_changed = json::patch::merge(&mut whole, &update.change);
    if !is_changed && update.detect_noop {
        return Ok(Change::Nothing(Bytes::empty()));
    }
    Ok(Change::Put(Bytes::from(json::to_vec(&whole))))
}
