//! `inspect`: shows one file of a store in words: sections, sizes, counts, bits per posting.
//!
//! What a file is, its first bytes tell (a segment's and a live file's, their footer). The file is
//! read alone, but for the names of a segment's fields, which stand in the cluster's state ([`names`]).
//! Showing is not verifying: that is `check`.

mod log;
mod names;
mod segment;
mod words;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use consensus::snapshot::{self, NoSnapshot};
use consensus::{Decode, State as _};
use env::Bytes;
use json::{Value, json};
use shard::manifest::{Manifest, ManifestError};

use crate::command;
use crate::failure::{Code, Failure, Result};

/// A file that does not read as what it seems to be.
#[derive(Debug)]
pub struct Unreadable(pub String);

type Shown = std::result::Result<Value, Unreadable>;

/// What to show of a segment beside its parts.
#[derive(Debug, Default)]
pub struct Look<'a> {
    /// A field by name (by number where names are not known), and a term of it.
    pub term: Option<(&'a str, &'a str)>,
    /// A document by its id.
    pub doc: Option<&'a str>,
}

/// Runs the command.
pub fn run(options: &command::Inspect) -> Result<()> {
    let failed =
        |what: &str| Failure::new(Code::Failed, format!("{}: {what}", options.file.display()));
    let bytes = read(&options.file).map_err(|error| failed(&error.0))?;
    let look = Look {
        term: options.term.as_deref().and_then(|pair| match pair {
            [field, term] => Some((field.as_str(), term.as_str())),
            _ => None,
        }),
        doc: options.doc.as_deref(),
    };
    let value = show(&options.file, bytes, &look).map_err(|error| failed(&error.0))?;
    let mut text = if options.json { json::to_string(&value) } else { words::of(&value) };
    text.push('\n');
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| failed(&error.to_string()))
}

/// No manifest, no state and no file of a log is larger.
const READ_MAX: u64 = 1 << 30;

/// The bytes of a file, where its first or its last ones say that it is one of a store: what is none may be larger
/// than any memory.
fn read(path: &Path) -> std::result::Result<Vec<u8>, Unreadable> {
    let failed = |error: io::Error| Unreadable(error.to_string());
    // Nobody waits for the other end of a pipe.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Unreadable("this is no file".into()));
    }
    let file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    let mut first = [0; 4];
    let is_headed =
        file.read_exact_at(&mut first, 0).is_ok() && matches!(&first, b"CLMF" | b"CLst" | b"CLwf");
    if is_headed && len > READ_MAX {
        return Err(Unreadable(format!("{len} bytes are more than such a file ever has")));
    }
    if !is_headed {
        segment::check_end(path, &file, len)?;
    }
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn show(path: &Path, bytes: Vec<u8>, look: &Look<'_>) -> Shown {
    match bytes.first_chunk::<4>() {
        Some(b"CLMF") => manifest(&bytes),
        Some(b"CLst") => state(&bytes),
        Some(b"CLwf") => log::show(&bytes),
        _ => segment::show(path, Bytes::from(bytes), look),
    }
}

fn manifest(bytes: &[u8]) -> Shown {
    let manifest = Manifest::decode(bytes).map_err(|error| match error {
        ManifestError::Format(found) => Unreadable(format!("a manifest of format {found}")),
        ManifestError::Malformed(what) => Unreadable(format!("a manifest, but {what}")),
    })?;
    let segments: Vec<Value> = manifest
        .segments
        .iter()
        .map(|file| {
            let live = file
                .live
                .map(|live| json!({"generation": live.generation, "bytes": live.len_bytes}));
            json!({
                "id": (file.id.get()),
                "bytes": file.len_bytes,
                "documents": file.doc_count,
                "checksum": (format!("{:08x}", file.checksum)),
                "live": live,
            })
        })
        .collect();
    Ok(json!({
        "kind": "manifest",
        "generation": manifest.generation,
        "index": (cluster::state::uuid_text(manifest.shard.index)),
        "shard": (manifest.shard.number),
        "clean": manifest.clean,
        "primary_term": (manifest.primary_term.get()),
        "log_position": manifest.log_index,
        "seq_no_next": (manifest.seq_no_next.get()),
        "mapping_version": manifest.mapping_version,
        "segment_next": (manifest.segment_next.get()),
        "tombstones": (manifest.tombstones.len() as u64),
        "segments": segments,
    }))
}

fn state(bytes: &[u8]) -> Shown {
    // The file does not say by name whose it is; the id is the name, padded with zeros.
    let id = snapshot_id(bytes).ok_or_else(|| Unreadable("a snapshot cut short".into()))?;
    let (head, form) = snapshot::read(bytes, id).map_err(|error| match error {
        NoSnapshot::Version(found) => Unreadable(format!("a snapshot of version {found}")),
        NoSnapshot::Corrupt(what) => Unreadable(format!("a snapshot, but {what}")),
    })?;
    let name: Vec<u8> = head.id.index.into_iter().take_while(|&byte| byte != 0).collect();
    let name = String::from_utf8_lossy(&name).into_owned();
    let holds = match name.as_str() {
        "cluster" => held(cluster::State::decode(head.format, form), cluster_holds),
        "authz" => held(authz::State::decode(head.format, form), authz_holds),
        _ => Ok(Value::Null),
    }?;
    Ok(json!({
        "kind": "state",
        "of": name,
        "format": head.format,
        "commands_applied": head.applied,
        "log_position": (head.position.0),
        "form_bytes": (form.len() as u64),
        "holds": holds,
    }))
}

/// What a state holds, where its form can be read.
fn held<S>(decoded: std::result::Result<S, Decode>, tell: impl Fn(&S) -> Value) -> Shown {
    match decoded {
        Ok(state) => Ok(tell(&state)),
        Err(Decode(what)) => Err(Unreadable(format!("a snapshot, but {what}"))),
    }
}

fn cluster_holds(state: &cluster::State) -> Value {
    let indices: Vec<Value> = state
        .indices
        .values()
        .map(|index| {
            json!({
                "index": (index.name.to_string()),
                "folder": (cluster::state::uuid_text(index.uuid)),
                "shards": (index.settings.shard_count()),
                "open": (index.open),
                "mapping_version": (index.mapping.version()),
            })
        })
        .collect();
    json!({
        "version": state.version,
        "aliases": (state.aliases.len() as u64),
        "data_streams": (state.data_streams.len() as u64),
        "settings": ((state.settings.persistent().len() + state.settings.transient().len()) as u64),
        "indices": indices,
    })
}

/// Counts only: who may do what is nobody's business who has a file in hand.
fn authz_holds(state: &authz::State) -> Value {
    json!({
        "version": state.version,
        "users": (state.users.len() as u64),
        "roles": (state.roles.len() as u64),
        "role_mappings": (state.mappings.len() as u64),
        "api_keys": (state.keys.len() as u64),
        "service_tokens": (state.service_tokens.len() as u64),
        "clients": (state.clients.len() as u64),
        "grants": (state.grants.len() as u64),
        "sessions": (state.sessions.len() as u64),
    })
}

fn snapshot_id(bytes: &[u8]) -> Option<base::ShardId> {
    let index = bytes.get(28..44)?.try_into().ok()?;
    let number = u32::from_le_bytes(bytes.get(44..48)?.try_into().ok()?);
    Some(base::ShardId { index, number })
}

#[cfg(test)]
mod tests;
