//! The round through the whole store: every byte of it is read and compared with its checksum, a
//! little at a time, so that rot is found while something can still be done about it.
//!
//! Always true
//! 1. A round begins when `indices.scrub.interval` (7 days) has passed since the last one ended;
//!    when that was is kept in `node/scrub`, so that restarts neither skip nor repeat one.
//! 2. It reads at most `indices.scrub.max_bytes_per_sec`, one file after the other; checksums are
//!    reckoned on workers.
//! 3. A damaged shard fails with the file's name; the round goes on with the next one.
//!
//! Looked at: of each shard that serves, and of each whose index is closed, both slots of its manifest, segments, living
//! documents and the synced part of its log; the snapshot and the log of the cluster's state, and of what else
//! was named to [`Core::scrub_also`].
//!
//! Not here: reading a store that no node uses (`corelode check`), which looks deeper.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::ShardId;
use env::meter::Counter;
use env::rising::RisingNumber;
use env::{Bytes, Clock, Disk, Env, File, Pace, Spawn};

use super::call::{Down, ShardCall};
use crate::core::Core;
use crate::node::Entry;

/// How often it is looked whether a round is due.
const LOOK_PERIOD: Duration = Duration::from_secs(60);

/// Where it is kept when the last round ended: milliseconds since 1970, in digits.
const FILE: &str = "scrub";

const INTERVAL: &str = "indices.scrub.interval";
const RATE: &str = "indices.scrub.max_bytes_per_sec";

/// What the rounds have done since the node started, for all cores.
#[derive(Debug, Default)]
pub struct Scrubbing {
    /// Rounds that began.
    pub rounds_begun: Counter,
    /// Rounds that ended.
    pub rounds_ended: Counter,
    /// Bytes read.
    pub read_bytes: Arc<Counter>,
    /// Files read.
    pub files: Counter,
    /// Damages found.
    pub damages: Counter,
    /// Shards (and kept values) that the round under way has behind it, in all rounds.
    pub done: Counter,
    /// Shards (and kept values) of all rounds that began.
    pub wanted: Counter,
    /// When the last round began, in milliseconds since 1970; 0: none since the start.
    pub begun_ms: Moment,
    /// When the last round ended, in milliseconds since 1970; before the first, when the store was made: from then on
    /// the time to the next one counts.
    pub ended_ms: Moment,
}

/// A moment that is only ever set to a later one.
#[derive(Debug)]
pub struct Moment(RisingNumber);

impl Default for Moment {
    fn default() -> Self {
        Self(RisingNumber::new(0))
    }
}

impl Moment {
    /// The moment, in milliseconds since 1970.
    pub fn get(&self) -> u64 {
        self.0.get()
    }

    fn set(&self, unix_ms: i64) {
        self.0.raise(u64::try_from(unix_ms).unwrap_or(0));
    }
}

type Scrubbed = Pin<Box<dyn Future<Output = Result<u64, String>>>>;

/// Something else of the store that a round reads: files read, or the damage.
pub type Other<E> = Box<dyn Fn(Rc<Pace<E>>) -> Scrubbed>;

/// What a round looks at beside shards and the cluster's state.
pub(crate) type Others<E> = RefCell<Vec<Rc<Other<E>>>>;

impl<E: Env> Core<E> {
    /// Lets each round look at something else of the store too. To be told to core 0.
    pub fn scrub_also(&self, other: Other<E>) {
        self.others.borrow_mut().push(Rc::new(other));
    }

    /// Reads the whole store now. For core 0.
    pub async fn scrub(self: &Rc<Self>) {
        let told = &self.shared.scrubbing;
        told.rounds_begun.add(1);
        told.begun_ms.set(self.now_ms());
        let rate = self.state().settings.bytes(RATE).unwrap_or(u64::MAX);
        let shards: Vec<ShardId> = {
            let directory = self.directory();
            let open = directory.shards.iter().filter(|(_, entry)| matches!(entry, Entry::Open(_)));
            open.map(|(shard, _)| *shard).collect()
        };
        let closed = self.closed_shards();
        let others = self.others.borrow().clone();
        told.wanted.add((shards.len() + closed.len() + others.len() + 1) as u64);
        for shard in shards {
            let asked = self.ask(shard, |reply| ShardCall::Scrub { rate, reply }).await;
            match asked {
                Ok(files) => told.files.add(files),
                Err(Down::Broke(why) | Down::Failed(why)) => self.note_damage(Some(shard), &why),
                // Closed or deleted meanwhile.
                Err(_) => {}
            }
            told.done.add(1);
        }
        let pace = Rc::new(Pace::new(&self.env, rate, Arc::clone(&told.read_bytes)));
        let keeper = self.keeper.borrow().clone();
        for shard in closed {
            if let Some(keeper) = &keeper {
                match keeper.scrub_closed(shard, &pace).await {
                    Ok(files) => told.files.add(files),
                    Err(why) => self.note_damage(Some(shard), &why),
                }
            }
            told.done.add(1);
        }
        if let Some(keeper) = keeper {
            match keeper.scrub(&pace).await {
                Ok(files) => told.files.add(files),
                Err(why) => self.note_damage(None, &why),
            }
        }
        told.done.add(1);
        for other in others {
            match other(Rc::clone(&pace)).await {
                Ok(files) => told.files.add(files),
                Err(why) => self.note_damage(None, &why),
            }
            told.done.add(1);
        }
        told.rounds_ended.add(1);
        told.ended_ms.set(self.now_ms());
        self.keep_moment().await;
    }

    /// The shards of closed indices.
    fn closed_shards(&self) -> Vec<ShardId> {
        let state = self.state();
        let closed = state.indices.values().filter(|index| !index.open);
        let shards = closed.flat_map(|index| {
            (0..index.settings.shard_count()).map(|number| ShardId { index: index.uuid, number })
        });
        shards.collect()
    }

    /// Tells whoever runs the process, and sees to it that a damaged shard serves no more.
    fn note_damage(&self, shard: Option<ShardId>, why: &str) {
        self.shared.scrubbing.damages.add(1);
        self.warn(&format!("the round through the store found damage: {why}"));
        let keeper = self.keeper.borrow().clone();
        if let (Some(shard), Some(keeper)) = (shard, keeper) {
            keeper.fail_shard(shard, why);
        }
    }

    async fn keep_moment(&self) {
        let path = self.shared.config.data.join("node").join(FILE);
        let text = self.shared.scrubbing.ended_ms.get().to_string();
        if let Err(error) = self.env.disk().save(&path, Bytes::from(text.into_bytes())).await {
            self.warn(&format!("when the round through the store ended is not kept: {error}"));
        }
    }

    /// When the last round ended. Where nothing is kept, that is now: a new store is not read at once.
    async fn read_moment(&self) {
        let path = self.shared.config.data.join("node").join(FILE);
        let read = async {
            let file = self.env.disk().open(&path).await.ok()?;
            let len = file.len().await.ok()?.min(32);
            let bytes = file.read_at(0, len as usize).await.ok()?;
            str::from_utf8(&bytes).ok()?.parse::<i64>().ok()
        };
        match read.await {
            Some(ended_ms) => self.shared.scrubbing.ended_ms.set(ended_ms.min(self.now_ms())),
            None => {
                self.shared.scrubbing.ended_ms.set(self.now_ms());
                self.keep_moment().await;
            }
        }
    }
}

/// Begins a round whenever one is due, as long as the keeper's core lives.
pub(crate) fn watch<E: Env>(core: &Rc<Core<E>>) {
    let weak = Rc::downgrade(core);
    let env = core.env.clone();
    env.clone().spawn().spawn(async move {
        if let Some(core) = weak.upgrade() {
            core.read_moment().await;
        }
        loop {
            env.clock().sleep(LOOK_PERIOD).await;
            let Some(core) = weak.upgrade() else { return };
            if core.keeper.borrow().is_none() {
                return;
            }
            let Some(interval) = core.state().settings.time(INTERVAL) else { continue };
            let passed_ms = core.now_ms() - core.shared.scrubbing.ended_ms.get() as i64;
            if u128::try_from(passed_ms).is_ok_and(|passed| passed >= interval.as_millis()) {
                core.scrub().await;
            }
        }
    });
}
