//! The manifest: the shard's single commit point. It names the files that count and the place in
//! the log from which a replay starts.
//!
//! Always true
//! 1. There are two slots, `manifest-0` and `manifest-1`; generation `g` lies in slot `g % 2`, so a
//!    write never touches the newest valid one. The newest valid slot wins.
//! 2. What a manifest names is durable before the manifest is written; what it stops naming is
//!    removed after.
//! 3. While the shard is open, the manifest says "not clean". Only an orderly stop writes "clean",
//!    and opening takes that back before the first operation is decided.
//!
//! Layout (little-endian; vint: `base::vint`), format 1
//!
//! | at | bytes | what                                                            |
//! |----|-------|-----------------------------------------------------------------|
//! | 0  | 4     | magic `CLMF`                                                    |
//! | 4  | 2     | format                                                          |
//! | 6  | 2     | flags: 1 the stop was clean                                     |
//! | 8  | 8     | length of the file                                              |
//! | 16 | 8     | generation                                                      |
//! | 24 | 16    | unique id of the index                                          |
//! | 40 | 4     | number of the shard                                             |
//! | 44 | 8     | primary term                                                    |
//! | 52 | 8     | log position: all up to this index of the log is in the segments |
//! | 60 | 8     | one above the highest sequence number of those                  |
//! | 68 | 8     | version of the mapping when it was written                      |
//! | 76 | 8     | the next segment's number                                       |
//! | 84 | vint  | number of segments, then those, in the order of the view        |
//! | …  | vint  | number of tombstones, then those                                |
//! | …  | 4     | checksum of all before it                                       |
//!
//! A segment is vints: number, length of its file, checksum of its body, number of documents,
//! generation of its live file (0: none), and with one: its length and checksum.
//! A tombstone is vints: milliseconds since the delete, sequence number, primary term, version, and
//! length of the id with the id.
//!
//! Not here: when it is written (`flush`), what is done with it (`recover`).

use std::path::Path;
use std::sync::Arc;

use base::checksum::checksum;
use base::planted::{Fault, planted};
use base::{PrimaryTerm, SegmentId, SeqNo, ShardId, vint};
use env::leftovers::Leaving;
use env::{Bytes, Disk, Env, ErrorKind};

use crate::error::{Error, Result};
use crate::file;

/// The format written and read.
pub const FORMAT: u16 = 1;

const MAGIC: [u8; 4] = *b"CLMF";
const CLEAN: u16 = 1;
const HEAD_BYTES: usize = 84;
const CHECKSUM_BYTES: usize = 4;

/// Most segments that a manifest names; a reader refuses more.
const SEGMENT_COUNT_MAX: u64 = 1 << 20;

/// What a shard stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Rises with each manifest of the shard, from 1.
    pub generation: u64,
    /// The shard.
    pub shard: ShardId,
    /// The shard was stopped in order after this manifest.
    pub clean: bool,
    /// The reign.
    pub primary_term: PrimaryTerm,
    /// All up to this index of the log is in the segments.
    pub log_index: u64,
    /// One above the highest sequence number of those.
    pub seq_no_next: SeqNo,
    /// Version of the mapping when it was written.
    pub mapping_version: u64,
    /// The next segment's number.
    pub segment_next: SegmentId,
    /// The segments, in the order of the view.
    pub segments: Vec<SegmentFile>,
    /// Deletes that are still remembered, oldest first.
    pub tombstones: Deletes,
}

/// A segment's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    /// Number of the segment.
    pub id: SegmentId,
    /// Length of its file.
    pub len_bytes: u64,
    /// Checksum of the file's body, as its footer has it.
    pub checksum: u32,
    /// Number of documents, deleted ones included.
    pub doc_count: u32,
    /// The file of its live documents, where some are deleted.
    pub live: Option<LiveFile>,
}

/// The file of a segment's live documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveFile {
    /// Its generation: at least 1.
    pub generation: u64,
    /// Its length.
    pub len_bytes: u64,
    /// Checksum of its body, as its footer has it.
    pub checksum: u32,
}

/// A delete that is remembered for a while, so that versions go on counting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// How long before the manifest it was applied.
    pub age_ms: u64,
    /// Place of the delete.
    pub seq_no: SeqNo,
    /// Reign of the delete.
    pub term: PrimaryTerm,
    /// Version after the delete.
    pub version: u64,
    /// The document's id.
    pub id: String,
}

/// Deletes that are remembered. A hundred thousand of them were copied and given back on a core, 50 ms; they are
/// shared, and go elsewhere where they are many.
pub type Deletes = Arc<Leaving<Vec<Tombstone>>>;

/// So many go in a moment: some 100 µs.
const DELETES_FEW: usize = 1 << 10;

impl Tombstone {
    /// All of a manifest.
    pub fn all(deletes: Vec<Self>) -> Deletes {
        Arc::new(Leaving::new(deletes, |deletes| deletes.len() > DELETES_FEW))
    }
}

impl Manifest {
    /// The bytes of its slot.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(if self.clean { CLEAN } else { 0 }).to_le_bytes());
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&self.generation.to_le_bytes());
        bytes.extend_from_slice(&self.shard.index);
        bytes.extend_from_slice(&self.shard.number.to_le_bytes());
        bytes.extend_from_slice(&self.primary_term.get().to_le_bytes());
        bytes.extend_from_slice(&self.log_index.to_le_bytes());
        bytes.extend_from_slice(&self.seq_no_next.get().to_le_bytes());
        bytes.extend_from_slice(&self.mapping_version.to_le_bytes());
        bytes.extend_from_slice(&self.segment_next.get().to_le_bytes());
        assert_eq!(bytes.len(), HEAD_BYTES, "the table above");
        vint::write(&mut bytes, self.segments.len() as u64);
        for segment in &self.segments {
            assert!(segment.id < self.segment_next, "numbers are given once");
            vint::write(&mut bytes, segment.id.get());
            vint::write(&mut bytes, segment.len_bytes);
            vint::write(&mut bytes, u64::from(segment.checksum));
            vint::write(&mut bytes, u64::from(segment.doc_count));
            match segment.live {
                None => vint::write(&mut bytes, 0),
                Some(live) => {
                    assert!(live.generation > 0, "0 says that there is none");
                    vint::write(&mut bytes, live.generation);
                    vint::write(&mut bytes, live.len_bytes);
                    vint::write(&mut bytes, u64::from(live.checksum));
                }
            }
        }
        vint::write(&mut bytes, self.tombstones.len() as u64);
        for tombstone in self.tombstones.iter() {
            vint::write(&mut bytes, tombstone.age_ms);
            vint::write(&mut bytes, tombstone.seq_no.get());
            vint::write(&mut bytes, tombstone.term.get());
            vint::write(&mut bytes, tombstone.version);
            vint::write_bytes(&mut bytes, tombstone.id.as_bytes());
        }
        let len = (bytes.len() + CHECKSUM_BYTES) as u64;
        bytes[8..16].copy_from_slice(&len.to_le_bytes());
        let checksum = checksum(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a slot.
    pub fn decode(bytes: &[u8]) -> std::result::Result<Self, ManifestError> {
        let malformed = ManifestError::Malformed;
        if bytes.len() < HEAD_BYTES + CHECKSUM_BYTES || bytes[..4] != MAGIC {
            return Err(malformed("it is no manifest"));
        }
        let format = u16::from_le_bytes([bytes[4], bytes[5]]);
        if format != FORMAT {
            return Err(ManifestError::Format(format));
        }
        let (body, sum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
        let u64_at = |at: usize| {
            u64::from_le_bytes(*body[at..].first_chunk().expect("the head's length is checked"))
        };
        let u32_of =
            |bytes: &[u8]| u32::from_le_bytes(*bytes.first_chunk().expect("the length is checked"));
        if u64_at(8) != bytes.len() as u64 {
            return Err(malformed("its length is another"));
        }
        if checksum(body) != u32_of(sum) && !planted(Fault::SkipManifestChecksum) {
            return Err(malformed("its checksum is wrong"));
        }
        let flags = u16::from_le_bytes([body[6], body[7]]);
        if flags & !CLEAN != 0 {
            return Err(malformed("it has unknown flags"));
        }
        let mut rest = &body[HEAD_BYTES..];
        let segment_next = SegmentId(u64_at(76));
        let segments =
            segments(&mut rest, segment_next).ok_or(malformed("its segments are unreadable"))?;
        let tombstones = tombstones(&mut rest).ok_or(malformed("its deletes are unreadable"))?;
        if !rest.is_empty() {
            return Err(malformed("bytes are left over"));
        }
        Ok(Self {
            generation: u64_at(16),
            shard: ShardId {
                index: *body[24..].first_chunk().expect("the head's length is checked"),
                number: u32_of(&body[40..]),
            },
            clean: flags & CLEAN != 0,
            primary_term: PrimaryTerm(u64_at(44)),
            log_index: u64_at(52),
            seq_no_next: SeqNo(u64_at(60)),
            mapping_version: u64_at(68),
            segment_next,
            segments,
            tombstones: Tombstone::all(tombstones),
        })
    }

    /// Whether it names a file.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.segments.iter().any(|segment| {
            let live = segment.live.map(|live| file::live_name(segment.id, live.generation));
            file::segment_name(segment.id) == name || live.as_deref() == Some(name)
        })
    }

    /// Makes it the shard's commit point; durable when this returns.
    pub async fn save<E: Env>(&self, env: &E, dir: &Path) -> Result<()> {
        self.save_bytes(env, dir, self.encode()).await
    }

    /// As [`Manifest::save`] where the bytes are made already.
    pub(crate) async fn save_bytes<E: Env>(
        &self,
        env: &E,
        dir: &Path,
        bytes: Vec<u8>,
    ) -> Result<()> {
        debug_assert_eq!(Self::decode(&bytes).as_ref(), Ok(self), "what is written can be read");
        let path = dir.join(slot_name(self.generation % 2));
        let (disk, bytes) = (env.disk(), Bytes::from(bytes));
        let full = match disk.save(&path, bytes.clone()).await {
            Err(error) if error.kind == ErrorKind::NoSpace => error,
            saved => return Ok(saved?),
        };
        // What stands in this slot is older than the other slot, which alone counts: its room is given
        // up, so that a shard can be opened, and a flush ended, without one free block.
        match disk.remove(&path).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Err(full.into()),
            removed => removed?,
        }
        disk.sync_dir(dir).await?;
        Ok(disk.save(&path, bytes).await?)
    }

    /// The newest valid slot, and what is wrong with the other one, where something is: that may have been newer.
    pub async fn load<E: Env>(env: &E, dir: &Path) -> Result<(Self, Option<Doubt>)> {
        let mut newest: Option<Self> = None;
        let (mut doubt, mut is_damaged) = (None, false);
        for slot in 0..2 {
            let path = dir.join(slot_name(slot));
            let doubted = |what: &str| {
                Some(Doubt { file: path.display().to_string(), what: what.to_owned() })
            };
            let Some(bytes) = read(env, &path).await? else {
                doubt = doubt.or(doubted("it is missing"));
                continue;
            };
            match Self::decode(&bytes) {
                Ok(manifest) => {
                    let wins = newest.as_ref().is_none_or(|other| {
                        (other.generation < manifest.generation) != planted(Fault::WrongSlotWins)
                    });
                    if wins {
                        newest = Some(manifest);
                    }
                }
                // It may well be the newer one, so the other must not stand in for it.
                Err(ManifestError::Format(found)) => {
                    return Err(Error::Version {
                        file: path.display().to_string(),
                        found: u32::from(found),
                        expected: u32::from(FORMAT),
                    });
                }
                Err(ManifestError::Malformed(what)) => {
                    is_damaged = true;
                    doubt = doubted(what);
                }
            }
        }
        match (newest, doubt) {
            // The first has no other beside it.
            (Some(manifest), Some(_)) if manifest.generation == 1 && !is_damaged => {
                Ok((manifest, None))
            }
            (Some(manifest), doubt) => Ok((manifest, doubt)),
            (None, Some(Doubt { file, what })) if is_damaged => Err(Error::Corrupt { file, what }),
            (None, _) => Err(Error::NoManifest { dir: dir.display().to_string() }),
        }
    }
}

/// A slot that tells nothing, beside one that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The slot.
    pub file: String,
    /// What is wrong with it.
    pub what: String,
}

impl Doubt {
    /// The slot is what is wrong, where the other one does not go with what lies in the folder.
    pub(crate) fn blamed(self, error: &Error) -> Error {
        let what = format!("{}, and the other one cannot stand in: {error}", self.what);
        Error::Corrupt { file: self.file, what }
    }
}

/// What is wrong with a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestError {
    /// It has another format.
    Format(u16),
    /// It is not what was written.
    Malformed(&'static str),
}

/// Name of a slot.
pub fn slot_name(slot: u64) -> String {
    format!("manifest-{slot}")
}

/// The bytes of a file; `None` where there is none.
async fn read<E: Env>(env: &E, path: &Path) -> Result<Option<Bytes>> {
    use env::File;
    let file = match env.disk().open(path).await {
        Ok(file) => file,
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let len = file.len().await?;
    Ok(Some(file.read_at(0, len as usize).await?))
}

fn segments(rest: &mut &[u8], next: SegmentId) -> Option<Vec<SegmentFile>> {
    let count = vint::read(rest)?;
    if count > SEGMENT_COUNT_MAX || count > rest.len() as u64 {
        return None;
    }
    let mut segments = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let id = SegmentId(vint::read(rest)?);
        let len_bytes = vint::read(rest)?;
        let checksum = vint::read_u32(rest)?;
        let doc_count = vint::read_u32(rest)?;
        let live = match vint::read(rest)? {
            0 => None,
            generation => Some(LiveFile {
                generation,
                len_bytes: vint::read(rest)?,
                checksum: vint::read_u32(rest)?,
            }),
        };
        if id >= next {
            return None;
        }
        segments.push(SegmentFile { id, len_bytes, checksum, doc_count, live });
    }
    let mut ids: Vec<SegmentId> = segments.iter().map(|segment| segment.id).collect();
    ids.sort_unstable();
    let named_twice = ids.windows(2).any(|pair| pair[0] == pair[1]);
    (!named_twice).then_some(segments)
}

fn tombstones(rest: &mut &[u8]) -> Option<Vec<Tombstone>> {
    let count = vint::read(rest)?;
    // Each takes five bytes at least, so the count cannot make us allocate much.
    if count > rest.len() as u64 {
        return None;
    }
    let mut tombstones = Vec::with_capacity(count as usize);
    for _ in 0..count {
        tombstones.push(Tombstone {
            age_ms: vint::read(rest)?,
            seq_no: SeqNo(vint::read(rest)?),
            term: PrimaryTerm(vint::read(rest)?),
            version: vint::read(rest)?,
            id: std::str::from_utf8(vint::read_bytes(rest)?).ok()?.to_owned(),
        });
    }
    Some(tombstones)
}

#[cfg(test)]
mod tests;
