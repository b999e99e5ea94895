//! Reading a log that is in use from its first batch to the last that is synced, and believing
//! nothing: for the round through the whole store.
//!
//! Always true
//! 1. Files are opened apart from those that are written to, past the page cache, and only read.
//! 2. What is looked at was synced before the look began, so it does not change any more; a file
//!    that is removed meanwhile is not needed any more.
//!
//! Not here: what lies behind the last synced batch (the next opening judges it).

use std::path::Path;

use env::{Env, ErrorKind, File, Pace};

use crate::file::{Kind, LogFile, kind};
use crate::frame::{BLOCK, HEADER_BYTES, Header};
use crate::writer::Inner;
use crate::{Error, LogPosition, Result, Writer};

impl<E: Env> Writer<E> {
    /// Reads what is synced now. [`Error::Corrupt`] names the file and the place.
    pub async fn scrub(&self, pace: &Pace<E>) -> Result<()> {
        let inner = self.inner();
        let (paths, synced) = {
            let state = inner.state.borrow();
            state.check_open()?;
            (state.files.paths(), state.synced())
        };
        for path in paths {
            if scrub_file(inner, &path, synced, pace).await? {
                break;
            }
        }
        Ok(())
    }
}

/// Reads one file; true where it holds the batch `synced`.
async fn scrub_file<E: Env>(
    inner: &Inner<E>,
    path: &Path,
    synced: LogPosition,
    pace: &Pace<E>,
) -> Result<bool> {
    let name = path.file_name().and_then(|name| name.to_str()).map(kind);
    let Some(Kind::Log(number)) = name else { return Ok(false) };
    let file = match LogFile::open(&inner.env, &inner.config.dir, inner.config.shard, number).await
    {
        Err(Error::Disk(error)) if error.kind == ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    let corrupt = |offset: u64, what: &str| Error::Corrupt {
        file: path.to_string_lossy().into_owned(),
        offset,
        what: what.to_owned(),
    };
    let mut offset = BLOCK as u64;
    while offset + BLOCK as u64 <= file.len {
        let block = file.file.read_at(offset, BLOCK).await?;
        let (header, _) = match Header::decode(&block) {
            Ok(decoded) => decoded,
            // A full file may end in a block that no batch fitted into.
            Err(_) if block.iter().all(|byte| *byte == 0) => return Ok(false),
            Err(_) => return Err(corrupt(offset, "a batch whose header is not good")),
        };
        if header.file != file.id || header.shard != inner.config.shard {
            return Err(corrupt(offset, "a batch of another file"));
        }
        if header.position > synced {
            return Ok(true);
        }
        let bytes = header.batch_bytes();
        if offset + bytes as u64 > file.len {
            return Err(corrupt(offset, "a batch beyond the end of its file"));
        }
        let batch = file.file.read_at(offset, bytes).await?;
        let payload = &batch[HEADER_BYTES..HEADER_BYTES + header.payload_len as usize];
        if header.records(payload).is_none() {
            return Err(corrupt(offset, "a batch whose payload is not good"));
        }
        if header.position == synced {
            return Ok(true);
        }
        offset += bytes as u64;
        pace.took(bytes).await;
    }
    Ok(false)
}
