//! The shard: owns all the rest.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use base::{PrimaryTerm, SeqNo, ShardId};
use env::Env;
use env::budget::Lease;
use mapping::Mapping;
use segment::View;

use crate::config::ShardConfig;
use crate::error::{Error, Result};
use crate::operation::{Answers, Found, Realtime, WriteBatch};
use crate::reader::Reader;
use crate::stats::Stats;

/// What a shard is opened with.
#[derive(Clone)]
pub struct Setup {
    /// Which shard.
    pub id: ShardId,
    /// Its folder, of its own.
    pub dir: PathBuf,
    /// Settings.
    pub config: ShardConfig,
    /// The index's mapping: replay parses by it.
    pub mapping: Arc<Mapping>,
    /// Where the memory of buffers comes from.
    pub lease: Lease,
}

/// One shard on its home core; clones are the same shard.
pub struct Shard<E: Env> {
    inner: Rc<Inner<E>>,
}

impl<E: Env> Clone for Shard<E> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner) }
    }
}

struct Inner<E: Env> {
    env: E,
}

impl<E: Env> Shard<E> {
    /// Makes a new, empty shard. [`Error::AlreadyExists`] where data stands in the folder; what an
    /// interrupted `create` left is cleared away.
    pub async fn create(env: &E, setup: Setup) -> Result<Self> {
        let _ = (env, setup);
        todo!()
    }

    /// Opens a shard that was created before: manifest, files, replay of the log. Never makes an
    /// empty one: [`Error::NoManifest`].
    pub async fn open(env: &E, setup: Setup) -> Result<Self> {
        let _ = (env, setup);
        todo!()
    }

    /// Decides, logs, commits, applies; answers in the batch's order once all of it is durable and
    /// applied. What was handed in is done even if the future is dropped.
    pub async fn write(&self, batch: WriteBatch) -> Answers {
        let _ = batch;
        todo!()
    }

    /// The document with this id.
    pub async fn get(&self, id: &str, realtime: Realtime) -> Result<Option<Found>> {
        let _ = (id, realtime);
        todo!()
    }

    /// Makes all that is applied searchable, and answers the view that shows it.
    pub async fn refresh(&self) -> Result<Arc<View>> {
        todo!()
    }

    /// Ends when `seq_no` is searchable: true where a refresh was forced because too many wait.
    pub async fn wait_for(&self, seq_no: SeqNo) -> Result<bool> {
        let _ = seq_no;
        todo!()
    }

    /// Writes all segments to files, then the manifest, and shortens the log.
    pub async fn flush(&self) -> Result<()> {
        todo!()
    }

    /// Merges until at most `segments_max` segments are left (or, where `None`, until the policy is
    /// content), then flushes where `flush`.
    pub async fn force_merge(&self, segments_max: Option<usize>) -> Result<()> {
        let _ = segments_max;
        todo!()
    }

    /// Flushes, marks the stop as clean, and lets go of everything. Later calls answer
    /// [`Error::Closed`].
    pub async fn close(&self) -> Result<()> {
        todo!()
    }

    /// Tells the shard that it is searched; refreshes first where it slept, and answers the view.
    pub async fn search_touched(&self) -> Result<Arc<View>> {
        todo!()
    }

    /// What searching cores hold.
    pub fn reader(&self) -> Reader {
        todo!()
    }

    /// The mapping that replay and later work read by.
    pub fn set_mapping(&self, mapping: Arc<Mapping>) {
        let _ = mapping;
        todo!()
    }

    /// Changes settings; they count from now on.
    pub fn set_config(&self, config: ShardConfig) {
        let _ = config;
        todo!()
    }

    /// The reign.
    pub fn primary_term(&self) -> PrimaryTerm {
        todo!()
    }

    /// Counts.
    pub fn stats(&self) -> Stats {
        todo!()
    }

    /// Why the shard serves no more, where it does not: a damaged block, a failed log.
    pub fn failure(&self) -> Option<Error> {
        let _ = &self.inner.env;
        todo!()
    }
}
