//! What the files of a shard tell that is not open: its figures as of its manifest.
//!
//! Always true
//! 1. Nothing is touched, and nothing of what lies in segments is read: a manifest, and the heads of the files
//!    that say which documents are alive.

use std::path::Path;

use base::ShardId;
use env::{Disk, Env, File};
use segment::Live;

use crate::error::{Error, Result};
use crate::file;
use crate::manifest::{Manifest, SegmentFile};
use crate::stats::Stats;

/// The figures of the shard `id` in the folder `dir`: documents, bytes, segments and numbers, each as they were
/// when it was last written down, which an orderly stop does. What was counted while it was open is 0.
///
/// # Errors
/// A folder, manifest or file that cannot be read, or that is another shard's.
pub async fn resting<E: Env>(env: &E, dir: &Path, id: ShardId) -> Result<Stats> {
    let manifest = Manifest::load(env, dir).await?;
    if manifest.shard != id {
        let what = "the manifest is another shard's".to_owned();
        return Err(Error::Corrupt { file: dir.display().to_string(), what });
    }
    let last = manifest.seq_no_next.get().checked_sub(1);
    let mut stats = Stats {
        segment_count: manifest.segments.len() as u64,
        seq_no_max: last,
        seq_no_applied: last,
        seq_no_visible: last,
        primary_term: manifest.primary_term.get(),
        ..Stats::default()
    };
    for segment in &manifest.segments {
        let deleted = deleted_count(env, dir, segment).await?;
        stats.docs_count += u64::from(segment.doc_count - deleted);
        stats.docs_deleted += u64::from(deleted);
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
