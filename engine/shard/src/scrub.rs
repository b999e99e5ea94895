//! The round through a shard's files while it serves: each byte that a manifest stands on is read
//! from the disk and compared with its checksum, at a given pace.
//!
//! Always true
//! 1. Files are read past the page cache; checksums are reckoned on workers.
//! 2. A file that goes away under the round (a merge, a flush) is no damage, unless the newest
//!    manifest still names it.
//! 3. Damage fails the shard, with the file's name.
//!
//! Not here: when a round begins, and how fast it goes (`engine`).

use std::path::Path;

use base::SegmentId;
use env::pace::PIECE_BYTES;
use env::{Disk, Env, ErrorKind, File, Pace};
use segment::footer::{self, BodySum, FileKind};

use crate::error::{Error, Result};
use crate::file;
use crate::manifest::{Manifest, SegmentFile, slot_name};
use crate::shard::{Inner, Shard};

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
        let mut count = self.scrub_manifest().await?;
        let named = self.manifest.borrow().segments.clone();
        for segment in named {
            let SegmentFile { id, len_bytes, checksum, .. } = segment;
            let name = file::segment_name(id);
            count +=
                self.scrub_file((&name, FileKind::Segment, id), len_bytes, checksum, pace).await?;
            if let Some(live) = segment.live {
                let name = file::live_name(id, live.generation);
                let what = (&*name, FileKind::Live, id);
                count += self.scrub_file(what, live.len_bytes, live.checksum, pace).await?;
            }
        }
        match self.log().scrub(pace).await.map_err(Error::from) {
            // What it has no room for is not on the disk.
            Err(Error::Starved(_)) => {}
            scrubbed => scrubbed?,
        }
        Ok(count)
    }

    /// Both slots; whoever writes them waits meanwhile.
    async fn scrub_manifest(&self) -> Result<u64> {
        let _pass = self.flushing.pass().await;
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
            is_newest_there |= found == *self.manifest.borrow();
        }
        if !is_newest_there {
            return Err(corrupt(&self.dir, "the newest manifest is not there".to_owned()));
        }
        Ok(count)
    }

    /// Whether the newest manifest names a file.
    fn is_named(&self, name: &str) -> bool {
        let manifest = self.manifest.borrow();
        manifest.segments.iter().any(|segment| {
            let live = segment.live.map(|live| file::live_name(segment.id, live.generation));
            file::segment_name(segment.id) == name || live.as_deref() == Some(name)
        })
    }

    /// Reads a file of this name, kind and segment, and compares it with what the manifest says.
    async fn scrub_file(
        &self,
        (name, kind, id): (&str, FileKind, SegmentId),
        len: u64,
        checksum: u32,
        pace: &Pace<E>,
    ) -> Result<u64> {
        let path = self.dir.join(name);
        let file = match self.env.disk().open(&path).await {
            Ok(file) => file,
            Err(error) if error.kind == ErrorKind::NotFound && !self.is_named(name) => {
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
            sum = self.work(job).await?;
            offset += wanted as u64;
            pace.took(wanted).await;
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
