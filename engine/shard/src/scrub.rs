//! The round through a shard's files, while it serves and while it is closed: each byte that a manifest stands on
//! is read from the disk and compared with its checksum, at a given pace.
//!
//! Always true
//! 1. Files are read past the page cache; checksums are reckoned on workers.
//! 2. A file that goes away under the round (a merge, a flush) is no damage, unless the newest
//!    manifest still names it. Where a closed shard was opened under the round, the round begins it anew.
//! 3. Damage fails a shard that serves, with the file's name; of one that is closed it is told.
//!
//! Not here: when a round begins, and how fast it goes (`engine`).

use std::path::Path;

use base::{SegmentId, ShardId};
use consensus::{Config, Local};
use env::pace::PIECE_BYTES;
use env::{Disk, Env, ErrorKind, File, Pace, ReadOnly, Spawn, read_only};
use segment::footer::{self, BodySum, FileKind};

use crate::error::{Error, Result};
use crate::manifest::{Manifest, SegmentFile, slot_name};
use crate::recover::footing;
use crate::shard::{Inner, Shard, until_taken};
use crate::{file, flush};

/// So often a closed shard is begun anew that is opened under the round.
const TRIES_MAX: u32 = 3;

impl<E: Env> Shard<E> {
    /// Reads and checks all files of the shard; answers how many. The error is the damage, and the
    /// shard has failed with it (but for [`Error::Closed`]).
    pub async fn scrub(&self, pace: &Pace<E>) -> Result<u64> {
        self.inner.check_readable()?;
        let scrubbed = self.inner.scrub(pace).await;
        if let Err(error) = &scrubbed
            && *error != Error::Closed
        {
            self.inner.fail(error);
        }
        scrubbed
    }
}

impl<E: Env> Inner<E> {
    async fn scrub(&self, pace: &Pace<E>) -> Result<u64> {
        let round = Round { env: &self.env, dir: &self.dir, pace };
        let mut count = self.scrub_manifest(&round).await?;
        let named = self.manifest.borrow().segments.clone();
        count += round.segments(&named, |name| self.is_named(name)).await?;
        match self.log().scrub(pace).await.map_err(Error::from) {
            // What it has no room for is not on the disk.
            Err(Error::Starved(_)) => {}
            scrubbed => scrubbed?,
        }
        Ok(count)
    }

    /// Both slots; whoever writes them waits meanwhile.
    async fn scrub_manifest(&self, round: &Round<'_, E>) -> Result<u64> {
        let _pass = self.flushing.pass().await;
        round.slots(|| self.manifest.borrow().clone()).await
    }

    /// Whether the newest manifest names a file.
    fn is_named(&self, name: &str) -> bool {
        self.manifest.borrow().names(name)
    }
}

/// Reads and checks all files of a shard that is closed; answers how many.
///
/// # Errors
/// The damage. Also what another does who opens or removes the shard meanwhile: whoever calls this knows.
pub async fn scrub_closed<E: Env>(env: &E, dir: &Path, id: ShardId, pace: &Pace<E>) -> Result<u64> {
    let mut tries = 1;
    loop {
        let (manifest, _) = footing(env, dir, id).await?;
        let scrubbed = Round { env, dir, pace }.closed(&manifest).await;
        if scrubbed.is_ok() || tries == TRIES_MAX {
            return scrubbed;
        }
        let (now, _) = footing(env, dir, id).await?;
        if now == manifest {
            return scrubbed;
        }
        tries += 1;
    }
}

/// A round in the folder of one shard.
struct Round<'a, E: Env> {
    env: &'a E,
    dir: &'a Path,
    pace: &'a Pace<E>,
}

impl<E: Env> Round<'_, E> {
    async fn closed(&self, manifest: &Manifest) -> Result<u64> {
        let count = self.slots(|| manifest.clone()).await?;
        let count = count + self.segments(&manifest.segments, |_| true).await?;
        let env = read_only(self.env.clone());
        let config = Config::new(self.dir, manifest.shard);
        let mut log = Local::<ReadOnly<E>>::open(&env, config, flush::position(manifest)).await?;
        while let Some(batch) = log.next().await? {
            self.pace.took(batch.records.iter().map(|record| record.payload.len()).sum()).await;
        }
        match log.tail().torn_bytes {
            torn if manifest.clean && torn > 0 => {
                let what = format!("it was closed in order, and {torn} bytes of its log are torn");
                Err(corrupt(self.dir, what))
            }
            _ => Ok(count),
        }
    }

    /// Both slots of the manifest, of which one holds the newest.
    async fn slots(&self, newest: impl Fn() -> Manifest) -> Result<u64> {
        let mut is_newest_there = false;
        let mut count = 0;
        for slot in 0..2 {
            let path = self.dir.join(slot_name(slot));
            let bytes = match self.env.disk().open(&path).await {
                // There is one slot until the second manifest is written.
                Err(error) if error.kind == ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
                Ok(file) => {
                    let len = file.len().await?;
                    file.read_at(0, usize::try_from(len).unwrap_or(usize::MAX)).await?
                }
            };
            count += 1;
            let found =
                Manifest::decode(&bytes).map_err(|error| corrupt(&path, format!("{error:?}")))?;
            is_newest_there |= found == newest();
        }
        if !is_newest_there {
            return Err(corrupt(self.dir, "the newest manifest is not there".to_owned()));
        }
        Ok(count)
    }

    /// Segments, and which of their documents live; whether the newest manifest still names a file is asked of `is_named`.
    async fn segments(
        &self,
        segments: &[SegmentFile],
        is_named: impl Fn(&str) -> bool,
    ) -> Result<u64> {
        let mut count = 0;
        for segment in segments {
            let SegmentFile { id, len_bytes, checksum, .. } = *segment;
            let name = file::segment_name(id);
            let what = (&*name, FileKind::Segment, id);
            count += self.file(what, len_bytes, checksum, &is_named).await?;
            if let Some(live) = segment.live {
                let name = file::live_name(id, live.generation);
                let what = (&*name, FileKind::Live, id);
                count += self.file(what, live.len_bytes, live.checksum, &is_named).await?;
            }
        }
        Ok(count)
    }

    /// Reads a file of this name, kind and segment, and compares it with what the manifest says.
    async fn file(
        &self,
        (name, kind, id): (&str, FileKind, SegmentId),
        len: u64,
        checksum: u32,
        is_named: impl Fn(&str) -> bool,
    ) -> Result<u64> {
        let path = self.dir.join(name);
        let file = match self.env.disk().open(&path).await {
            Ok(file) => file,
            Err(error) if error.kind == ErrorKind::NotFound && !is_named(name) => {
                return Ok(0);
            }
            Err(error) if error.kind == ErrorKind::NotFound => {
                let what = "the manifest names it, but it is not there".to_owned();
                return Err(corrupt(&path, what));
            }
            Err(error) => return Err(error.into()),
        };
        let found = file.len().await?;
        if found != len || len < footer::LEN as u64 {
            return Err(corrupt(&path, format!("{found} bytes, the manifest says {len}")));
        }
        let end = len - footer::LEN as u64;
        let tail = end.min(footer::TAIL as u64) as usize;
        let last = file.read_at(end - tail as u64, tail + footer::LEN).await?;
        let (tail, bytes) = last.split_at(tail);
        let bytes = bytes.first_chunk().expect("as many as were asked for");
        let footer = footer::open_end(bytes, len, kind)
            .map_err(|error| corrupt(&path, error.to_string()))?;
        let (mut sum, mut offset) = (BodySum::new(kind, footer.version, end, tail), 0);
        while offset < end {
            let wanted = (end - offset).min(PIECE_BYTES as u64) as usize;
            let piece = file.read_at(offset, wanted).await?;
            let job = {
                let (mut sum, piece) = (sum.clone(), piece.clone());
                move || {
                    sum.update(&piece);
                    sum
                }
            };
            sum = until_taken(self.env, async || self.env.spawn().work(job.clone()).await).await?;
            offset += wanted as u64;
            self.pace.took(wanted).await;
        }
        let found = sum.finish();
        if footer.id != id || footer.body_checksum != checksum {
            return Err(corrupt(&path, "it is another file than the manifest names".to_owned()));
        }
        if found != checksum {
            let what = format!("checksum of its body: expected {checksum:08x}, found {found:08x}");
            return Err(corrupt(&path, what));
        }
        Ok(1)
    }
}

fn corrupt(path: &Path, what: String) -> Error {
    Error::Corrupt { file: path.display().to_string(), what }
}
