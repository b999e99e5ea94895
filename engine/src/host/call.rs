//! Messages between cores: plain data with a place for the answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base::{SeqNo, ShardId};
use cluster::{Command, Index, Outcome, State};
use env::reply::Reply;
use env::turns::Lane;
use mapping::Mapping;
use search::phase::Slice;
use shard::{
    Answers, Found, Reader, Reading, Realtime, SegmentStats, ShardConfig, Stats, WriteBatch,
};

use crate::error::{Error, Result};
use crate::index::resolve;
use crate::ops::Refresh;
use crate::ops::context::ContextCall;
use crate::ops::rolling::Pass;
use crate::ops::slices::Part;
use crate::task::TaskCall;

/// What one core asks of another.
pub enum Message {
    /// Something of a shard, asked of its home.
    Shard {
        /// Which shard.
        shard: ShardId,
        /// What.
        call: ShardCall,
        /// When, on the monotonic clock.
        sent: Duration,
    },
    /// Opens a shard, asked of its home by the keeper.
    Open(Box<OpenCall>),
    /// Closes a shard, asked of its home by the keeper.
    Close {
        /// Which shard.
        shard: ShardId,
        /// Its index is gone: nothing is flushed, and its folder is removed.
        remove: bool,
        /// When it is closed.
        reply: Reply<()>,
    },
    /// Opens a shard again whose log had no room, asked of the keeper by its home.
    Reopen(ShardId),
    /// A shard stands on damaged bytes and serves no more, told to the keeper by its home.
    Damaged {
        /// Which shard.
        shard: ShardId,
        /// What is wrong, and where.
        why: Arc<str>,
    },
    /// Looks again at shards of closed indices, asked of the keeper by whoever found their files changed.
    LookAgain {
        /// Which shards.
        shards: Vec<ShardId>,
        /// When the directory says what was found.
        reply: Reply<()>,
    },
    /// Changes the cluster state, asked of the keeper.
    Change {
        /// The change.
        command: Command,
        /// What became of it.
        reply: Reply<Result<Outcome>>,
    },
    /// The turn to roll something over, asked of the keeper.
    Roll {
        /// The alias or data stream.
        target: String,
        /// The turn, once it has come.
        reply: Reply<Pass>,
    },
    /// What the shards of a core have counted, closed ones too.
    Stats {
        /// Their sum.
        reply: Reply<crate::ops::stats::Stats>,
    },
    /// Something of the tasks of a core.
    Task(TaskCall),
    /// Something of the open scrolls and points in time, asked of the keeper.
    Context(Box<ContextCall>),
    /// A part of a search that this core is to do.
    Slices(Box<SliceCall>),
    /// Closes all shards of the core; nothing is asked of it afterwards.
    Stop {
        /// When they are closed.
        reply: Reply<()>,
    },
}

/// Slices of one search.
pub struct SliceCall {
    /// Which of the shards asked, and a slice of its plan.
    pub slices: Vec<(u32, Slice)>,
    /// When to stop and bring what is there, on the monotonic clock.
    pub deadline: Option<Duration>,
    /// Whose work it is.
    pub lane: Lane,
    /// What they found, in the same order.
    pub reply: Reply<Vec<Part>>,
}

/// Which of the batches that one request writes to a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The first, which counts as the batch that Elasticsearch writes.
    First,
    /// What was left of it: it waited for fields, or for what was written before.
    Later,
}

/// What is asked of a shard.
pub enum ShardCall {
    /// Writes a batch.
    Write {
        /// The operations, prepared.
        batch: WriteBatch,
        /// The mapping they were prepared with.
        mapping: Arc<Mapping>,
        /// When the answer may leave.
        refresh: Refresh,
        /// Is it one that counts?
        turn: Turn,
        /// The answers.
        reply: Reply<Called<WriteAnswer>>,
    },
    /// Makes visible what was written up to a sequence number, or waits until it is; answers whether a refresh was
    /// forced for it.
    Show {
        /// The sequence number.
        seq_no: SeqNo,
        /// How.
        refresh: Refresh,
        /// Whether a refresh was forced.
        reply: Reply<Called<bool>>,
    },
    /// Reads a document.
    Get {
        /// Its id.
        id: String,
        /// Whether unrefreshed writes count.
        realtime: Realtime,
        /// How much of it.
        reading: Reading,
        /// Refreshes first.
        refresh: bool,
        /// The document.
        reply: Reply<Called<Option<Found>>>,
    },
    /// Makes everything searchable.
    Refresh {
        /// When it is.
        reply: Reply<Called<()>>,
    },
    /// Writes everything to files.
    Flush {
        /// When it is.
        reply: Reply<Called<()>>,
    },
    /// Merges.
    ForceMerge {
        /// How far.
        aim: shard::Aim,
        /// Flushes afterwards.
        flush: bool,
        /// When it is done.
        reply: Reply<Called<()>>,
    },
    /// Counts.
    Stats {
        /// The counts.
        reply: Reply<Called<Stats>>,
    },
    /// Reads all its files and compares them with their checksums.
    Scrub {
        /// Bytes a second.
        rate: u64,
        /// Files read; a damaged shard has failed.
        reply: Reply<Called<u64>>,
    },
    /// Tells of the segments.
    Segments {
        /// What they are.
        reply: Reply<Called<Vec<SegmentStats>>>,
    },
    /// Counts a part of a search under names.
    CountGroups {
        /// The names.
        names: Arc<[String]>,
        /// Which part.
        part: crate::ops::groups::Part,
        /// How long it took.
        took: Duration,
        /// When it is counted.
        reply: Reply<Called<()>>,
    },
    /// What was counted under names.
    Groups {
        /// By name.
        reply: Reply<Called<crate::ops::groups::Groups>>,
    },
    /// Takes the settings of its index as the state has them now.
    Configure {
        /// When they count.
        reply: Reply<Called<()>>,
    },
}

impl ShardCall {
    /// Bytes it keeps in a mailbox.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Write { batch, .. } => {
                let sources: usize = batch.ops.iter().map(operation_bytes).sum();
                256 + batch.arena.size_bytes() + sources
            }
            _ => 256,
        }
    }
}

fn operation_bytes(op: &shard::Operation) -> usize {
    let source = match &op.kind {
        shard::Kind::Index { source, .. } => source.len(),
        shard::Kind::Delete => 0,
        // Its size as text is not known any more; trees of it are small beside their requests.
        shard::Kind::Update(update) => 512 + update.upsert.as_ref().map_or(0, |text| text.len()),
    };
    128 + op.id.len() + source
}

/// Answer of a shard, or why there is none.
pub type Called<T> = std::result::Result<T, Down>;

/// Why a shard does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Down {
    /// Its home does not have it: its index was deleted or closed, or is being closed or opened.
    Gone,
    /// It still replays.
    Opening,
    /// It has failed before.
    Failed(Arc<str>),
    /// It failed at what it was asked for.
    Broke(Arc<str>),
    /// The home core has no room for the call.
    Full,
    /// It serves, but lacks what this call needs now: memory.
    Busy(Arc<str>),
    /// A block came while the call was on its way.
    Blocked {
        /// Its HTTP status.
        status: u16,
        /// Which blocks.
        reason: Arc<str>,
    },
}

impl fmt::Display for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("it was just closed or opened"),
            Self::Opening => f.write_str("it is recovering"),
            Self::Failed(why)
            | Self::Broke(why)
            | Self::Busy(why)
            | Self::Blocked { reason: why, .. } => f.write_str(why),
            Self::Full => f.write_str("the queue of its core is full"),
        }
    }
}

/// What was asked of a shard: whoever asked is told in the words of that where it does not serve.
#[derive(Clone, Copy, Debug)]
pub enum Ask<'a> {
    /// To look at it.
    Read,
    /// For one document, in these words.
    Document {
        /// `get`, `explain`.
        verb: &'a str,
        /// As it was named.
        index: &'a str,
        /// Its id.
        id: &'a str,
        /// As it was given.
        routing: Option<&'a str>,
    },
    /// To write.
    Write,
}

impl Ask<'_> {
    /// No copy of the shard answers.
    fn in_vain(self, index: &Index, shard: u32, why: Option<&str>) -> Error {
        match self {
            Self::Read => Error::no_shard(why),
            Self::Document { verb, index, id, routing } => {
                Error::no_shard_for(verb, index, id, routing, why)
            }
            Self::Write => Error::primary_inactive(&index.name, shard),
        }
    }
}

impl Down {
    /// Whether the shard has no copy that serves, or none yet: a call to all shards counts it as neither done nor
    /// failed.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Gone | Self::Opening | Self::Failed(_))
    }

    /// As Elasticsearch says it. Whoever asked met `index` in the cluster as it was; of a shard that is not
    /// there, what became of the index since says why: a closed one is no missing one. Its shards are closed
    /// after the state that says so is published, so `after`, looked at now, knows.
    pub fn error(&self, after: &State, index: &Index, shard: u32, ask: Ask<'_>) -> Error {
        let name = &*index.name;
        match self {
            Self::Gone => match after.index_by_uuid(index.uuid) {
                None => Error::index_not_found(name, "index_or_alias"),
                Some(index) if !index.open => resolve::closed(name, index.uuid),
                Some(_) => ask.in_vain(index, shard, None),
            },
            Self::Opening => ask.in_vain(index, shard, None),
            Self::Failed(why) => ask.in_vain(index, shard, Some(why)),
            Self::Broke(why) => Error::primary_failed(name, shard, why),
            Self::Full => Error::rejected(format!(
                "rejected execution of an operation on [{name}][{shard}]: the queue of its core \
                 is full"
            )),
            Self::Busy(why) => Error::rejected(format!(
                "rejected execution of an operation on [{name}][{shard}]: {why}"
            )),
            Self::Blocked { status, reason } => {
                Error::new(*status, "cluster_block_exception", &**reason)
            }
        }
    }
}

/// What a write batch answers.
pub struct WriteAnswer {
    /// One an operation, in order.
    pub answers: Answers,
    /// A refresh was forced for them.
    pub forced_refresh: bool,
}

impl WriteAnswer {
    /// The highest sequence number given.
    pub(crate) fn seq_no_max(answers: &Answers) -> Option<SeqNo> {
        let written = answers.iter().filter_map(|answer| answer.as_ref().ok());
        written.filter(|done| done.outcome != shard::Outcome::Noop).map(|done| done.seq_no).max()
    }
}

/// What opening a shard needs.
pub struct OpenCall {
    /// Which shard.
    pub shard: ShardId,
    /// It is new: there must be no data.
    pub create: bool,
    /// Settings.
    pub config: ShardConfig,
    /// The index's mapping.
    pub mapping: Arc<Mapping>,
    /// What searching cores hold, or why it failed.
    pub reply: Reply<std::result::Result<Reader, NotOpened>>,
}

/// Why a shard could not be opened.
pub struct NotOpened {
    /// For people.
    pub why: Arc<str>,
    /// Room on the disk is all that is missing.
    pub is_full_disk: bool,
}
