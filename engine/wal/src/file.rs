//! One file of a log: a head in block 0, then zeros, then batches over the zeros.
//!
//! Always true
//! 1. A file has its name only when its whole length is written with zeros and synced: a batch
//!    written later changes neither length nor allocation.
//! 2. The id is random: no file is used twice, so an old batch cannot pass for a new one.
//!
//! Layout of block 0 (little-endian)
//!
//! | at | bytes | what                              |
//! |----|-------|-----------------------------------|
//! | 0  | 4     | `CLwf`                            |
//! | 4  | 2     | format version, 1                 |
//! | 6  | 2     | 0                                 |
//! | 8  | 16    | id of the file, random            |
//! | 24 | 16    | id of the index                   |
//! | 40 | 4     | number of the shard               |
//! | 44 | 8     | number of the file, as its name   |
//! | 52 | 8     | length of the file                |
//! | 60 | 4     | CRC-32 of bytes 0 to 59           |
//! | 64 | 4032  | 0                                 |
//!
//! Example: shard 0 of the index `aa…`, first file, 1 MiB: `43 4c 77 66 01 00 00 00`, the id,
//! `aa…`, `00 00 00 00`, `01 00 …`, `00 00 10 00 …`, checksum.
//!
//! Not here: which file is written to (`files`).

use std::path::{Path, PathBuf};

use base::ShardId;
use base::checksum::checksum;
use base::planted::{Fault, planted};
use env::{Disk, Env, File, Random};

use crate::frame::{BLOCK, FileId, VERSION};
use crate::{Error, Result};

const MAGIC: [u8; 4] = *b"CLwf";
const HEAD_BYTES: usize = 64;

/// Zeros are written in pieces of this size.
const FILL_BYTES: usize = 1 << 20;

/// The longest file that is believed.
const FILE_BYTES_MAX: u64 = 1 << 40;

type FileOf<E> = <<E as Env>::Disk as Disk>::File;

/// A file of a log, open.
pub(crate) struct LogFile<E: Env> {
    pub(crate) file: FileOf<E>,
    pub(crate) path: PathBuf,
    pub(crate) number: u64,
    pub(crate) id: FileId,
    pub(crate) len: u64,
}

/// Name of the file with this number.
pub(crate) fn name(number: u64) -> String {
    format!("log-{number:06}")
}

/// What a name in a log's folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file of the log.
    Log(u64),
    /// One that was being made.
    Unfinished,
    /// One that was found corrupt.
    Corrupt,
    /// Somebody else's.
    Other,
}

/// What `name` stands for.
pub(crate) fn kind(name: &str) -> Kind {
    let Some(rest) = name.strip_prefix("log-") else { return Kind::Other };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits < 6 || (digits > 6 && rest.starts_with('0')) {
        return Kind::Other;
    }
    match (&rest[digits..], rest[..digits].parse()) {
        ("", Ok(number)) => Kind::Log(number),
        (".tmp", Ok(_)) => Kind::Unfinished,
        (".corrupt", Ok(_)) => Kind::Corrupt,
        _ => Kind::Other,
    }
}

impl<E: Env> LogFile<E> {
    /// Makes the file number `number` of `len` bytes. Where it fails, nothing is left but perhaps
    /// a file whose name ends in `.tmp`.
    pub(crate) async fn create(
        env: &E,
        dir: &Path,
        shard: ShardId,
        number: u64,
        len: u64,
    ) -> env::Result<Self> {
        assert!(len >= 2 * BLOCK as u64, "a head and one batch");
        assert_eq!(len % BLOCK as u64, 0, "whole blocks");
        let path = dir.join(name(number));
        let temporary = dir.join(format!("{}.tmp", name(number)));
        // Left by an earlier attempt that ran out of space.
        match env.disk().remove(&temporary).await {
            Err(error) if error.kind != env::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = env.disk().create(&temporary).await?;
        let mut id = FileId::default();
        env.random().fill(&mut id);
        let made = Self { file, path: path.clone(), number, id, len };
        if let Err(error) = made.fill(shard).await {
            if let Err(left) = env.disk().remove(&temporary).await {
                return Err(env::Error::new(error.kind, format!("{error}; then {left}")));
            }
            return Err(error);
        }
        env.disk().rename(&temporary, &path).await?;
        if !planted(Fault::SkipDirectorySync) {
            env.disk().sync_dir(dir).await?;
        }
        Ok(made)
    }

    async fn fill(&self, shard: ShardId) -> env::Result<()> {
        let mut offset = 0;
        while offset < self.len {
            let len = (self.len - offset).min(FILL_BYTES as u64);
            let mut buffer = self.file.buffer(len as usize);
            if offset == 0 {
                buffer.as_mut()[..HEAD_BYTES].copy_from_slice(&self.head(shard));
            }
            self.file.write_at(buffer, offset).await?;
            offset += len;
        }
        self.file.sync_all().await
    }

    fn head(&self, shard: ShardId) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(4, &VERSION.to_le_bytes());
        put(8, &self.id);
        put(24, &shard.index);
        put(40, &shard.number.to_le_bytes());
        put(44, &self.number.to_le_bytes());
        put(52, &self.len.to_le_bytes());
        let sum = checksum(&head[..60]);
        head[60..].copy_from_slice(&sum.to_le_bytes());
        head
    }

    /// Opens the file number `number`, which is there.
    pub(crate) async fn open(env: &E, dir: &Path, shard: ShardId, number: u64) -> Result<Self> {
        let path = dir.join(name(number));
        let file = env.disk().open(&path).await?;
        let len = file.len().await?;
        let corrupt = |what: String| Error::Corrupt {
            file: path.to_string_lossy().into_owned(),
            offset: 0,
            what,
        };
        if len < 2 * BLOCK as u64 || len % BLOCK as u64 != 0 || len > FILE_BYTES_MAX {
            return Err(corrupt(format!("no log file has {len} bytes")));
        }
        let head = file.read_at(0, BLOCK).await?;
        if head[..4] != MAGIC {
            return Err(corrupt("its first bytes are not those of a log".to_owned()));
        }
        let version = u16::from_le_bytes([head[4], head[5]]);
        let sum = u32::from_le_bytes([head[60], head[61], head[62], head[63]]);
        let found = checksum(&head[..60]);
        // A newer layout may keep its checksum elsewhere, so a newer version is told first.
        if version > VERSION {
            return Err(Error::Version {
                file: path.to_string_lossy().into_owned(),
                found: version.into(),
                expected: VERSION.into(),
            });
        }
        if found != sum || version != VERSION {
            return Err(corrupt(format!("checksum of its head: expected {sum:08x}, {found:08x}")));
        }
        let mut id = FileId::default();
        id.copy_from_slice(&head[8..24]);
        let opened = Self { file, path: path.clone(), number, id, len };
        if head[..HEAD_BYTES] != opened.head(shard) {
            return Err(corrupt(format!(
                "its head is that of another shard's log, or of one with another number than {number} or another \
                 length than {len} bytes"
            )));
        }
        Ok(opened)
    }

    /// Room for batches in a file of `len` bytes.
    pub(crate) fn room_of(len: u64) -> u64 {
        len - BLOCK as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        assert_eq!(name(7), "log-000007");
        assert_eq!(kind("log-000007"), Kind::Log(7));
        assert_eq!(kind(&name(12_345_678)), Kind::Log(12_345_678));
        assert_eq!(kind("log-000007.tmp"), Kind::Unfinished);
        assert_eq!(kind("log-000007.corrupt"), Kind::Corrupt);
        for other in ["log-7", "log-0000007", "log-000007.bak", "log-", "log-00000x", "manifest-0"]
        {
            assert_eq!(kind(other), Kind::Other, "{other}");
        }
        assert_eq!(kind("log-99999999999999999999999"), Kind::Other);
    }
}
