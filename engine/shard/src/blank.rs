//! Whether a folder holds a shard that never took an operation: what is left where the making of an
//! index was cut short.
//!
//! Always true
//! 1. Yes is said only where every file was read and understood: the log has no record and no torn
//!    tail, no slot of the manifest tells of a segment or of a number that was given. A doubt is a no.
//! 2. Nothing is touched, not even damage that is found.

use std::path::Path;

use base::{SeqNo, ShardId};
use consensus::{Config, Local, LogPosition};
use env::{Disk, Env, ReadOnly, read_only};

use crate::file;
use crate::manifest::{Manifest, slot_name};

/// See the head of the file. The longest that is read is a log without a record: a file or two of its
/// shortest length.
pub async fn is_blank<E: Env>(env: &E, dir: &Path, id: ShardId) -> bool {
    let Ok(entries) = env.disk().list(dir).await else { return false };
    let mut has_log = false;
    for entry in &entries {
        let name = &*entry.name;
        let is_slot = (0..2).any(|slot| slot_name(slot) == name);
        let is_blank = if entry.is_dir {
            false
        } else if is_slot {
            is_blank_manifest(env, &dir.join(name), id).await
        } else if name.ends_with(".tmp") {
            // A name is given once all of its bytes are synced: nobody was told of these.
            name.starts_with("log-") || file::is_disposable(name)
        } else {
            has_log |= name.starts_with("log-");
            name.starts_with("log-")
        };
        if !is_blank {
            return false;
        }
    }
    !has_log || is_blank_log(env, dir, id).await
}

async fn is_blank_manifest<E: Env>(env: &E, path: &Path, id: ShardId) -> bool {
    let Ok(bytes) = env.disk().map(path).await else { return false };
    Manifest::decode(&bytes).is_ok_and(|manifest| {
        manifest.shard == id
            && manifest.segments.is_empty()
            && manifest.tombstones.is_empty()
            && manifest.seq_no_next == SeqNo(0)
    })
}

async fn is_blank_log<E: Env>(env: &E, dir: &Path, id: ShardId) -> bool {
    let env = read_only(env.clone());
    let opened = Local::<ReadOnly<E>>::open(&env, Config::new(dir, id), LogPosition::ZERO).await;
    let Ok(mut replay) = opened else { return false };
    loop {
        match replay.next().await {
            Ok(Some(batch)) if batch.records.is_empty() => {}
            Ok(None) => return replay.tail().torn_bytes == 0,
            Ok(Some(_)) | Err(_) => return false,
        }
    }
}
