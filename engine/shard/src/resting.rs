//! What the files of a shard tell that is not open: whether it stands, and its figures as of its manifest.
//!
//! Always true
//! 1. Nothing is changed, and nothing of what lies in segments or in the log is read: a manifest, the heads of the
//!    files that say which documents are alive, and those of the log's files.
//! 2. What was read goes with the mark that its folder and its files had before ([`Disk::marks`]): as long as that
//!    stays, it need not be read again.

use std::path::Path;
use std::sync::Arc;

use base::ShardId;
use env::disk::{Entry, Watched};
use env::{Disk, Env, File};
use segment::Live;

use crate::error::{Error, Result};
use crate::file;
use crate::manifest::{Manifest, SegmentFile};
use crate::recover::{check_files, footing};
use crate::stats::Stats;

/// What was found of a shard that is not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resting {
    /// Documents, bytes, segments and numbers, each as they were when it was last written down, which an
    /// orderly stop does. What was counted while it was open is 0.
    pub stats: Stats,
    /// What lay in its folder.
    pub watched: Watched,
    /// What that was marked with before.
    pub mark: u64,
}

/// The marks of what was watched of some shards, to be compared with those of [`Resting`].
///
/// # Errors
/// Nobody has time to look.
pub async fn marks<E: Env>(env: &E, watched: Vec<Watched>) -> Result<Vec<u64>> {
    Ok(env.disk().marks(watched).await?)
}

/// Looks whether a shard that is not open stands, as far as can be told without reading what lies in its segments
/// and its log: its manifest reads, the files that it names are there, as are those of the log without which it
/// cannot be opened, none was set aside as damaged.
///
/// # Errors
/// What is missing or damaged; a folder that cannot be read.
pub async fn look<E: Env>(env: &E, dir: &Path, id: ShardId) -> Result<Resting> {
    // Of a folder that is not there the manifest is missed.
    let names = names_of(&env.disk().list(dir).await.unwrap_or_default());
    let watched = Watched { folder: dir.to_owned(), names };
    let mark = marks(env, vec![watched.clone()]).await?.first().copied().unwrap_or_default();
    let (manifest, entries) = footing(env, dir, id).await?;
    // What came in between is not in the mark, so it is looked at again.
    let mark = if names_of(&entries) == watched.names { mark } else { 0 };
    check_files(dir, &manifest, &entries)?;
    wal::look(env, dir, id, &entries).await.map_err(consensus::Error::from)?;
    Ok(Resting { stats: figures(env, dir, &manifest).await?, watched, mark })
}

fn names_of(entries: &[Entry]) -> Arc<[String]> {
    entries.iter().map(|entry| entry.name.clone()).collect()
}

async fn figures<E: Env>(env: &E, dir: &Path, manifest: &Manifest) -> Result<Stats> {
    let last = manifest.seq_no_next.get().checked_sub(1);
    let mut stats = Stats {
        segment_count: manifest.segments.len() as u64,
        seq_no_max: last,
        seq_no_applied: last,
        seq_no_visible: last,
        primary_term: manifest.primary_term.get(),
        commit_generation: manifest.generation,
        ..Stats::default()
    };
    for segment in &manifest.segments {
        let deleted = deleted_count(env, dir, segment).await?;
        stats.docs_count += u64::from(segment.doc_count - deleted);
        stats.docs_deleted += u64::from(deleted);
        stats.commit_docs_count += u64::from(segment.doc_count - deleted);
        stats.segment_bytes += segment.len_bytes;
        stats.store_bytes += segment.len_bytes + segment.live.map_or(0, |live| live.len_bytes);
    }
    Ok(stats)
}

/// Deleted documents of a segment: never more than it has.
async fn deleted_count<E: Env>(env: &E, dir: &Path, segment: &SegmentFile) -> Result<u32> {
    let Some(live) = segment.live else { return Ok(0) };
    let path = dir.join(file::live_name(segment.id, live.generation));
    let head = env.disk().open(&path).await?.read_at(0, Live::HEAD_BYTES as usize).await?;
    Live::deleted_count_of(&head, segment.doc_count).ok_or_else(|| Error::Corrupt {
        file: path.display().to_string(),
        what: "its head is another's".to_owned(),
    })
}
