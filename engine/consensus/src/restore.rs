//! Waking a replicated value: its snapshot, then the commands that its log holds beyond.
//!
//! Always true
//! 1. Where a snapshot is missing or damaged, nothing is opened and nothing touched: an empty value
//!    never takes the place of a lost one.
//! 2. What an interrupted `create` leaves is a log without a batch and no snapshot. Nothing was
//!    ever acknowledged there, because the snapshot comes before the first command.

use std::path::Path;

use base::{ShardId, vint};
use env::{Disk, Env, ErrorKind, Spawn};
use wal::{LogPosition, Record, Reserve};

use crate::snapshot::{self, Head, NoSnapshot};
use crate::{Decode, Error, Local, Replay, Result, Setup, State};

/// A value that was read, with its log at its end.
pub(crate) struct Found<E: Env, S: State> {
    replay: Replay<E>,
    pub(crate) value: S,
    applied: u64,
    position: LogPosition,
}

/// A value that was woken.
pub(crate) struct Restored<E: Env, S: State> {
    pub(crate) log: Local<E>,
    pub(crate) value: S,
    /// Commands applied.
    pub(crate) applied: u64,
    /// Log entries up to here hold only commands that are applied.
    pub(crate) position: LogPosition,
}

/// Whether a value was made in the folder of `setup`.
pub(crate) async fn exists<E: Env>(env: &E, setup: &Setup) -> Result<bool> {
    let entries = match env.disk().list(&setup.dir).await {
        Err(error) if error.kind == ErrorKind::NotFound => return Ok(false),
        listed => listed?,
    };
    if entries.iter().any(|entry| entry.name == snapshot::NAME) {
        return Ok(true);
    }
    // Without a snapshot, only a log in which nothing was ever written is a leftover.
    match Local::open(env, setup.log(), LogPosition::ZERO).await {
        Err(Error::Log(wal::Error::NoLog { .. })) => Ok(false),
        Err(Error::Disk(error)) => Err(Error::Disk(error)),
        Err(Error::Log(wal::Error::Disk(error))) => Err(Error::Disk(error)),
        Err(_) => Ok(true),
        Ok(mut replay) => match replay.next().await {
            Ok(None) => Ok(false),
            Err(Error::Log(wal::Error::Disk(error))) => Err(Error::Disk(error)),
            Ok(Some(_)) | Err(_) => Ok(true),
        },
    }
}

/// Removes what an interrupted `create` left; only where [`exists`] says that nothing was made.
pub(crate) async fn clear<E: Env>(env: &E, setup: &Setup) -> Result<()> {
    env.disk().create_dir(&setup.dir).await?;
    for entry in env.disk().list(&setup.dir).await? {
        let ours = entry.name.starts_with("log-") || entry.name.starts_with(snapshot::NAME);
        if ours && !entry.is_dir {
            env.disk().remove(&setup.dir.join(entry.name)).await?;
        }
    }
    Ok(env.disk().sync_dir(&setup.dir).await?)
}

/// Wakes the value of `setup`.
pub(crate) async fn restore<E: Env, S: State>(
    env: &E,
    setup: &Setup,
    reserve: Option<Reserve<E>>,
) -> Result<Restored<E, S>> {
    let Found { replay, value, applied, position } = find(env, setup).await?;
    let log = replay.finish(reserve).await?;
    Ok(Restored { log, value, applied, position })
}

/// Reads the value of `setup`: its snapshot, then the commands after it.
pub(crate) async fn find<E: Env, S: State>(env: &E, setup: &Setup) -> Result<Found<E, S>> {
    let path = setup.dir.join(snapshot::NAME);
    let bytes = match env.disk().map(&path).await {
        Err(error) if error.kind == ErrorKind::NotFound => {
            if exists(env, setup).await? {
                let what = "it is missing, while its log stands".to_owned();
                return Err(Error::Corrupt { file: text(&path), what });
            }
            return Err(Error::NotFound { dir: text(&setup.dir) });
        }
        mapped => mapped?,
    };
    let id = setup.id;
    let read = move || read_snapshot::<S>(&path, &bytes, id);
    let (head, mut value) = env.spawn().work_short_or_here(read).await?;

    let mut applied = head.applied;
    let mut replay = Local::open(env, setup.log(), head.position).await?;
    let mut position = head.position;
    while let Some(batch) = replay.next().await? {
        let setup = setup.clone();
        let apply = move || apply_all(&setup, value, applied, &batch.records);
        (value, applied) = env.spawn().work_short_or_here(apply).await?;
        position = batch.position;
    }
    Ok(Found { replay, value, applied, position })
}

/// The value of a snapshot.
fn read_snapshot<S: State>(path: &Path, bytes: &[u8], id: ShardId) -> Result<(Head, S)> {
    let (head, form) = snapshot::read(bytes, id).map_err(|error| match error {
        NoSnapshot::Version(found) => Error::Version { file: text(path), found, expected: 1 },
        NoSnapshot::Corrupt(what) => Error::Corrupt { file: text(path), what },
    })?;
    check_format::<S>(path, head.format)?;
    let value = S::decode(head.format, form)
        .map_err(|Decode(what)| Error::Corrupt { file: text(path), what })?;
    Ok((head, value))
}

/// The value after the commands of an entry, and how many were applied by then.
fn apply_all<S: State>(
    setup: &Setup,
    mut value: S,
    mut applied: u64,
    records: &[Record],
) -> Result<(S, u64)> {
    for record in records {
        if record.first_seq_no.0 < applied {
            // Applied before the snapshot was taken, in an entry that was not whole then.
            continue;
        }
        let command = read_command::<S>(setup, record, applied)?;
        value = value.apply(&command).0;
        applied += 1;
    }
    Ok((value, applied))
}

fn read_command<S: State>(setup: &Setup, record: &Record, number: u64) -> Result<S::Command> {
    let file = setup.dir.join("log-");
    let corrupt = |what: String| Error::Corrupt { file: text(&file), what };
    if record.first_seq_no.0 != number || record.count != 1 {
        let found = record.first_seq_no;
        return Err(corrupt(format!("command {number} expected, found {found}")));
    }
    let mut form = record.payload.as_slice();
    let format = vint::read_u32(&mut form)
        .ok_or_else(|| corrupt(format!("command {number} has no version")))?;
    check_format::<S>(&file, format)?;
    S::decode_command(format, form)
        .map_err(|Decode(what)| corrupt(format!("command {number}: {what}")))
}

fn check_format<S: State>(path: &Path, found: u32) -> Result<()> {
    if found > S::FORMAT {
        return Err(Error::Version { file: text(path), found, expected: S::FORMAT });
    }
    Ok(())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
