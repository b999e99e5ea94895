//! Damage: a byte that rots while the process is down, a write about which the disk lied, a file that holds
//! what another of its name and length held. What may follow is narrow: an answer that is right, or a failure that says so; never a wrong answer.
//!
//! One loss cannot be seen on one node: the newest writes of a log, where the disk lied about just
//! those. Then what is there must still be a beginning of the shard's history, without a hole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sim::{Lie, Sim};

use crate::history::{Answer, History, Seen, Stamp, What};

/// What a batch of a log begins with, and where one may begin.
const BATCH: &[u8] = b"CLwb";
const BLOCK: usize = 4096;
/// The part of a batch's head that is never without meaning.
const HEADER_BYTES: u64 = 64;
/// More than may be under way at once.
const BATCHES_AFTER: usize = 8;

/// Damage of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// One bit is another.
    Rot(PathBuf, u64),
    /// The disk lied about writes to this file.
    Lie(Lie, PathBuf),
    /// A segment of one shard holds the bytes of one of another.
    Exchanged(PathBuf, PathBuf),
}

impl Damage {
    /// Lets one bit of a file of this machine rot. After an unclean stop the last batches of a log
    /// are spared: they would be a torn tail.
    pub fn rot(sim: &Sim, is_clean: bool) -> Option<Self> {
        let is_log = |path: &Path| name(path).starts_with("log-");
        let files: Vec<PathBuf> = sim
            .files()
            .into_iter()
            .filter(|(path, len)| *len > 0 && !name(path).starts_with("reserve"))
            .map(|(path, _)| path)
            .collect();
        if files.is_empty() {
            return None;
        }
        // Most files are small ones of indices that pass; what documents rest on comes as often.
        let is_deep = |path: &Path| {
            sim.bytes(path).is_some_and(|bytes| batches(&bytes).len() > BATCHES_AFTER)
        };
        let named = |part: &str| files.iter().filter(|path| name(path).starts_with(part)).collect();
        let chosen: Vec<&PathBuf> = match sim.below(5) {
            0 | 1 if !is_clean => {
                files.iter().filter(|path| is_log(path) && is_deep(path)).collect()
            }
            2 => named("segment-"),
            3 => named("manifest-"),
            _ => Vec::new(),
        };
        let path = match chosen.len() {
            0 => files[sim.below(files.len() as u64) as usize].clone(),
            count => chosen[sim.below(count as u64) as usize].clone(),
        };
        let bytes = sim.bytes(&path)?;
        let mut offset = sim.below(bytes.len() as u64);
        if sim.below(8) != 0 {
            // Most bytes of a log are zeros of no use.
            let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) as u64 + 1;
            offset = sim.below(used);
        }
        if is_log(&path) && !is_clean {
            // Only where so many batches follow that this one is known to have been synced.
            let starts = batches(&bytes);
            let early = starts.len().checked_sub(BATCHES_AFTER).filter(|count| *count > 0)?;
            offset = sim.below(starts[early - 1] as u64 + HEADER_BYTES);
        }
        sim.rot(&path, offset, 1 << sim.below(8));
        Some(Self::Rot(path, offset))
    }

    /// The first lie that was told.
    pub fn lie(sim: &Sim) -> Option<Self> {
        let (lie, path) = sim.lies_told().into_iter().next()?;
        Some(Self::Lie(lie, path.into()))
    }

    /// Puts the bytes of a segment in the place of another of its name and length, where there are two
    /// that differ: each is sound, and in the wrong place.
    pub fn exchange(sim: &Sim) -> Option<Self> {
        let files = sim.files().into_iter().filter(|(path, _)| name(path).starts_with("segment-"));
        let files: Vec<(PathBuf, u64)> = files.collect();
        let mut pairs = Vec::new();
        for (one, len) in &files {
            let others = files.iter().filter(|(other, other_len)| {
                other != one && other_len == len && name(other) == name(one)
            });
            let differ = |other: &&(PathBuf, u64)| sim.bytes(&other.0) != sim.bytes(one);
            pairs.extend(others.filter(differ).map(|(other, _)| (one.clone(), other.clone())));
        }
        let chosen = sim.below(pairs.len().max(1) as u64) as usize;
        let (path, other) = pairs.into_iter().nth(chosen)?;
        sim.plant(&path, &sim.bytes(&other)?);
        Some(Self::Exchanged(path, other))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Rot(path, _) | Self::Lie(_, path) | Self::Exchanged(path, _) => path,
        }
    }

    /// May the newest writes of something be lost without a word?
    pub fn may_lose_a_tail(&self) -> bool {
        matches!(self, Self::Lie(..)) && name(self.path()).starts_with("log-")
    }

    /// May what was agreed on about names or secrets be lost without a word?
    pub fn may_lose_state(&self) -> bool {
        let is_state = |part: &str| self.path().starts_with(Path::new("/data").join(part));
        self.may_lose_a_tail() && (is_state("cluster") || is_state("authz"))
    }
}

/// Where batches of a log begin.
fn batches(bytes: &[u8]) -> Vec<usize> {
    let blocks = bytes.chunks(BLOCK).enumerate();
    blocks.filter(|(_, block)| block.starts_with(BATCH)).map(|(at, _)| at * BLOCK).collect()
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// What is read of an index with one shard has no hole: where the newest of it is, all before it that
/// was acknowledged is too.
pub fn check_no_hole(history: &History, index: &str, read: &BTreeMap<String, Option<Seen>>) {
    let newest: Option<Stamp> = read.values().flatten().map(|seen| seen.stamp).max();
    let Some(newest) = newest else { return };
    history.each(|of, id, events| {
        let Some(found) = read.get(id).filter(|_| of == index) else { return };
        let last = events
            .iter()
            .filter_map(|event| match (event.what, event.answer) {
                (what, Answer::Written { stamp, .. }) if stamp <= newest => Some((stamp, what)),
                _ => None,
            })
            .max_by_key(|(stamp, _)| *stamp);
        let Some((stamp, what)) = last else { return };
        let may_be_gone = events.iter().any(|event| {
            let deletes = matches!(event.what, What::Delete { .. } | What::DeleteTagged(_));
            let may_have_been = match event.answer {
                Answer::Unknown | Answer::Done => true,
                // Newer than all that is read: it may be the newest of all that is there.
                Answer::Written { stamp, .. } => stamp > newest,
                _ => false,
            };
            deletes && may_have_been
        });
        match (found, what) {
            (Some(seen), _) => assert!(
                seen.stamp >= stamp,
                "{index}/{id}: {seen:?} is read, {stamp:?} was acknowledged, and {newest:?} is there"
            ),
            (None, What::Delete { .. }) => {}
            (None, _) => assert!(
                may_be_gone,
                "{index}/{id}: {stamp:?} was acknowledged and is gone, while {newest:?} is there"
            ),
        }
    });
}
