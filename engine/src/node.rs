//! What all cores of a process share, made before the executors start.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use base::hash::Map;
use base::{CoreId, ShardId};
use cluster::Index;
use env::budget::Budget;
use env::mailbox::{self, Receiver, Sender};
use env::published::Published;
use shard::{Reader, Resting};

use crate::host::call::Message;
use crate::host::scrub::Scrubbing;
use crate::meter::Meters;
use crate::ops::observe::NodeInfo;

/// Weight, in bytes, that the messages waiting for one core may have together.
const MAILBOX_BYTES: usize = 64 << 20;

/// How a node is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Executors.
    pub cores: u16,
    /// The data folder.
    pub data: PathBuf,
    /// What the node tells about itself.
    pub info: NodeInfo,
    /// Memory of buffers, caches and requests in flight.
    pub memory_bytes: usize,
    /// Takes a sentence for the log.
    pub warn: fn(&str),
    /// Names that no index may have: first segments of paths that somebody else answers.
    pub reserved_names: &'static [&'static str],
    /// Shards that may be open before no index is made or opened any more: each holds a file open, its log.
    pub shards_max: u64,
    /// A log of the cluster state longer than this is cut by a snapshot.
    pub state_log_bytes: u64,
}

impl Config {
    /// `cores` executors on the data folder `data`; 256 MiB, and nobody hears warnings.
    pub fn new(cores: u16, data: impl Into<PathBuf>) -> Self {
        Self {
            cores,
            data: data.into(),
            info: NodeInfo::default(),
            memory_bytes: 256 << 20,
            warn: |_| {},
            reserved_names: &[],
            shards_max: u64::MAX,
            state_log_bytes: 4 << 20,
        }
    }
}

/// What all cores share.
pub struct Shared {
    /// How the node is set up.
    pub config: Config,
    /// The newest cluster state.
    pub state: Arc<Published<cluster::State>>,
    /// Where the shards are.
    pub directory: Arc<Published<Directory>>,
    /// Memory.
    pub budget: Budget,
    /// What the cores count.
    pub meters: Meters,
    /// The rounds through the store.
    pub scrubbing: Scrubbing,
    /// How fields are used.
    pub(crate) field_uses: crate::ops::field_uses::FieldUses,
    /// How searches are asked.
    pub search_uses: crate::ops::search_uses::SearchUses,
    /// Gives callers their numbers, the same on every core.
    pub hasher: base::hash::State,
    /// Hides places in shards from callers with limits, the same on every core.
    pub(crate) veil: OnceLock<search::plan::Veil>,
    pub(crate) cores: Vec<Sender<Message>>,
}

/// Where each shard is, and how it does.
#[derive(Clone, Default)]
pub struct Directory {
    /// By shard.
    pub shards: Map<ShardId, Entry>,
    /// What was found of shards of closed indices, by shard.
    pub(crate) resting: Arc<Map<ShardId, Arc<Resting>>>,
}

impl Directory {
    /// How the primary of a shard stands. What tells somebody of a shard asks this, not [`Self::shards`]: a
    /// shard that documents are copied into is open for those who copy alone.
    #[must_use]
    pub fn primary(&self, index: &Index, number: u32) -> Primary<'_> {
        match self.shards.get(&ShardId { index: index.uuid, number }) {
            Some(Entry::Failed(failure)) => Primary::Failed(failure),
            Some(Entry::Open(reader)) if !index.copying => Primary::Started(reader),
            Some(Entry::Open(_) | Entry::Opening) => Primary::Initializing,
            None if index.open => Primary::Initializing,
            None => Primary::Closed,
        }
    }

    /// Why the primary of a shard has no place, where it failed.
    #[must_use]
    pub fn failure(&self, index: &Index, number: u32) -> Option<&Failure> {
        match self.primary(index, number) {
            Primary::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// What was found of the primary of a shard, where its index is closed and nothing is known to be wrong
    /// with its files.
    pub(crate) fn resting(&self, index: &Index, number: u32) -> Option<&Arc<Resting>> {
        match self.primary(index, number) {
            Primary::Closed => self.resting.get(&ShardId { index: index.uuid, number }),
            _ => None,
        }
    }

    /// The reign of the primary of a shard: of one that serves, and of one whose index is closed as its files tell.
    /// None of one that does not serve yet, or no more.
    #[must_use]
    pub fn primary_term(&self, index: &Index, number: u32) -> Option<u64> {
        match self.shards.get(&ShardId { index: index.uuid, number }) {
            Some(Entry::Open(reader)) => Some(reader.opening().primary_term.get()),
            _ => self.resting(index, number).map(|resting| resting.stats.primary_term),
        }
    }

    /// Whether the primary of a shard has a place: it serves, or its index is closed and nothing is known
    /// to be wrong with its files.
    #[must_use]
    pub fn has_place(&self, index: &Index, number: u32) -> bool {
        matches!(self.primary(index, number), Primary::Started(_) | Primary::Closed)
    }
}

/// How the primary of a shard stands.
#[derive(Clone, Copy)]
pub enum Primary<'a> {
    /// It serves.
    Started(&'a Reader),
    /// It opens or replays, or another's documents are copied into it, or its core begins with it in a moment.
    Initializing,
    /// It serves no more.
    Failed(&'a Failure),
    /// Its index is closed: its files lie there.
    Closed,
}

/// One shard of the directory.
#[derive(Clone)]
pub enum Entry {
    /// Opens or replays.
    Opening,
    /// Serves.
    Open(Reader),
    /// Serves no more.
    Failed(Failure),
}

/// Why a shard serves no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong, and where.
    pub why: Arc<str>,
    /// When it was found out, in milliseconds since 1970.
    pub at_ms: i64,
    /// How often it failed from then on without serving in between; at least 1.
    pub attempts: u32,
}

/// The mailbox of one core, to be given to [`crate::Core::start`].
pub struct Inbox(pub(crate) Receiver<Message>);

/// Makes what the cores share, and a mailbox for each.
pub fn prepare(config: Config) -> (Arc<Shared>, Vec<Inbox>) {
    let mut senders = Vec::new();
    let mut inboxes = Vec::new();
    for _ in 0..config.cores {
        let (sender, receiver) = mailbox::channel(MAILBOX_BYTES);
        senders.push(sender);
        inboxes.push(Inbox(receiver));
    }
    let shared = Shared {
        state: Arc::new(Published::new(Arc::new(cluster::State::default()))),
        directory: Arc::new(Published::new(Arc::new(Directory::default()))),
        budget: Budget::new(config.memory_bytes),
        meters: Meters::new(config.cores),
        scrubbing: Scrubbing::default(),
        field_uses: crate::ops::field_uses::FieldUses::new(config.cores),
        search_uses: crate::ops::search_uses::SearchUses::new(config.cores),
        hasher: base::hash::State::default(),
        veil: OnceLock::new(),
        cores: senders,
        config,
    };
    (Arc::new(shared), inboxes)
}

impl Shared {
    /// The mailbox of a core.
    pub(crate) fn core(&self, core: CoreId) -> &Sender<Message> {
        &self.cores[usize::from(core.get())]
    }

    /// The folder of a shard.
    pub(crate) fn shard_dir(&self, shard: ShardId) -> PathBuf {
        self.index_dir(shard.index).join(shard.number.to_string())
    }

    /// What the floors below say of files, for callers: each is named by its place in the store. Where that lies on
    /// the machine is told to its log alone.
    pub(crate) fn told(&self, text: &str) -> String {
        let data = self.config.data.display().to_string();
        let folder = format!("{}/", data.trim_end_matches('/'));
        if self.config.data.is_absolute() { text.replace(&folder, "") } else { text.to_owned() }
    }

    /// The folder of an index.
    pub(crate) fn index_dir(&self, uuid: [u8; 16]) -> PathBuf {
        self.config.data.join("indices").join(cluster::state::uuid_text(uuid))
    }
}
