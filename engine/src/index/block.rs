//! Blocks: what an index, or the whole cluster, refuses although the caller may do it.

use cluster::{Index, State};
use json::Value;

use crate::error::{Error, Result};

/// What is about to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Documents are read.
    Read,
    /// Documents are written.
    Write,
    /// Settings, mappings, statistics are read.
    MetadataRead,
    /// Settings, mappings, aliases are changed; the index is opened, closed, merged.
    MetadataWrite,
    /// The index is deleted.
    Delete,
}

use Level::{Delete, MetadataRead, MetadataWrite, Read, Write};

/// Setting, status, what the refusal says, what is refused.
const BLOCKS: [(&str, u16, &str, &[Level]); 5] = [
    (
        "index.blocks.read_only",
        403,
        "FORBIDDEN/5/index read-only (api)",
        &[Write, MetadataWrite, Delete],
    ),
    ("index.blocks.read", 403, "FORBIDDEN/7/index read (api)", &[Read]),
    ("index.blocks.write", 403, "FORBIDDEN/8/index write (api)", &[Write]),
    (
        "index.blocks.metadata",
        403,
        "FORBIDDEN/9/index metadata (api)",
        &[MetadataRead, MetadataWrite, Delete],
    ),
    (
        "index.blocks.read_only_allow_delete",
        429,
        "TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has \
         read-only-allow-delete block",
        &[Write, MetadataWrite],
    ),
];

/// The cluster's own blocks: all changes, and all but deletions.
const READ_ONLY: &str = "cluster.blocks.read_only";
const ALLOW_DELETE: &str = "cluster.blocks.read_only_allow_delete";

/// Refuses what a block of the index forbids.
///
/// # Errors
/// 403 or 429 `cluster_block_exception`; of a write 503 while documents are copied into the index.
pub fn check(index: &Index, level: Level) -> Result<()> {
    check_all([index], level)
}

/// Refuses what needs all documents of an index, or its shards, while they are copied into it. Searches
/// count its shards as failed.
///
/// # Errors
/// 503.
pub fn check_whole(index: &Index) -> Result<()> {
    if !index.copying {
        return Ok(());
    }
    Err(Error::new(
        503,
        "no_shard_available_action_exception",
        format!("[{}] is being made from another index", index.name),
    ))
}

/// Refuses to take indices away while others are made of them: until those are flushed, a crash would leave
/// neither.
///
/// # Errors
/// 400, which names both.
pub fn check_uncopied<'a>(
    state: &cluster::State,
    indices: impl IntoIterator<Item = &'a Index>,
) -> Result<()> {
    let made: Vec<_> = state.indices.values().filter(|index| index.copying).collect();
    if made.is_empty() {
        return Ok(());
    }
    for index in indices {
        let uuid = index.uuid_text();
        let of_it =
            made.iter().find(|it| it.settings.text("index.resize.source.uuid") == Some(&uuid));
        if let Some(target) = of_it {
            return Err(Error::illegal_argument(format!(
                "Cannot delete index [{}/{uuid}], of which [{}] is being made. Try again when that is green, or \
                 delete it first.",
                index.name, target.name
            )));
        }
    }
    Ok(())
}

/// As [`check`], of several indices: all their blocks are told.
///
/// # Errors
/// As [`check`].
pub fn check_all<'a>(indices: impl IntoIterator<Item = &'a Index>, level: Level) -> Result<()> {
    let mut reason = String::new();
    let mut status = 429;
    for index in indices {
        if level == Write {
            check_whole(index)?;
        }
        let mut texts = Vec::new();
        for (setting, its_status, text, refused) in BLOCKS {
            if refused.contains(&level) && index.settings.flag(setting) {
                if its_status == 403 {
                    status = 403;
                }
                texts.push(text);
            }
        }
        if !texts.is_empty() {
            let texts = texts.join(", ");
            reason.push_str(&format!("index [{}] blocked by: [{texts}];", index.name));
        }
    }
    if reason.is_empty() {
        return Ok(());
    }
    Err(Error::new(status, "cluster_block_exception", reason))
}

/// Refuses what a block of the whole cluster forbids.
///
/// # Errors
/// 403 or 429 `cluster_block_exception`.
pub fn check_cluster(state: &State, level: Level) -> Result<()> {
    match cluster_texts(state, level) {
        Some(texts) => Err(blocked(format!("blocked by: [{texts}];"))),
        None => Ok(()),
    }
}

/// As [`check_cluster`], for what is done to indices of these names: the refusal names each.
///
/// # Errors
/// As [`check_cluster`]; nothing is refused where there are no names.
pub fn check_cluster_of<'a>(
    state: &State,
    names: impl IntoIterator<Item = &'a str>,
    level: Level,
) -> Result<()> {
    let Some(texts) = cluster_texts(state, level) else { return Ok(()) };
    let mut reason = String::new();
    for name in names {
        reason.push_str(&format!("index [{name}] blocked by: [{texts}];"));
    }
    if reason.is_empty() { Ok(()) } else { Err(blocked(reason)) }
}

fn blocked(reason: String) -> Error {
    Error::new(403, "cluster_block_exception", reason)
}

/// What the cluster's own blocks say to it, if anything.
fn cluster_texts(state: &State, level: Level) -> Option<String> {
    if !matches!(level, Write | MetadataWrite | Delete) {
        return None;
    }
    let mut texts = Vec::new();
    if state.settings.flag(READ_ONLY) {
        texts.push("FORBIDDEN/6/cluster read-only (api)");
    }
    if level != Delete && state.settings.flag(ALLOW_DELETE) {
        texts.push("FORBIDDEN/13/cluster read-only / allow delete (api)");
    }
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Is a change of the cluster's settings one that must pass its blocks: one block alone, or nothing
/// but blocks that are taken back?
pub fn unblocks_cluster<'a>(
    changes: impl IntoIterator<Item = (&'a str, &'a Value)> + Clone,
) -> bool {
    let is_block = |name: &str| name == READ_ONLY || name == ALLOW_DELETE;
    let all = changes.clone().into_iter().all(|(name, _)| is_block(name));
    let taken_back = |value: &Value| value.is_null() || value.as_str() == Some("false");
    all && (changes.clone().into_iter().count() == 1
        || changes.into_iter().all(|(_, value)| taken_back(value)))
}

#[cfg(test)]
mod tests {
    use cluster::{Command, NewIndex, apply};

    use super::*;

    fn blocked_by(settings: json::Value, level: Level) -> Option<(u16, String)> {
        let new = NewIndex { settings, ..NewIndex::new("t", [1; 16], 0) };
        let (state, _) = apply(&State::default(), &Command::CreateIndex(new));
        let index = state.index("t").expect("made");
        check(index, level).err().map(|error| (error.status, error.reason))
    }

    #[test]
    fn each_block_refuses_its_levels() {
        for (setting, levels) in [
            ("index.blocks.read_only", &[Write, MetadataWrite, Delete][..]),
            ("index.blocks.read", &[Read]),
            ("index.blocks.write", &[Write]),
            ("index.blocks.metadata", &[MetadataRead, MetadataWrite, Delete]),
            ("index.blocks.read_only_allow_delete", &[Write, MetadataWrite]),
        ] {
            for level in [Read, Write, MetadataRead, MetadataWrite, Delete] {
                let mut settings = json::Object::new();
                settings.insert(setting, true);
                let refused = blocked_by(json::Value::Object(settings), level);
                assert_eq!(refused.is_some(), levels.contains(&level), "{setting} {level:?}");
            }
        }
    }

    #[test]
    fn the_words_are_elasticsearchs() {
        let both = json::json!({"blocks": {"read_only_allow_delete": true, "write": true}});
        let (status, reason) = blocked_by(both, Write).expect("blocked");
        assert_eq!(status, 403);
        let both = "index [t] blocked by: [FORBIDDEN/8/index write (api), TOO_MANY_REQUESTS/12/";
        assert!(reason.starts_with(both), "{reason}");
        let flood = json::json!({"index.blocks.read_only_allow_delete": true});
        assert_eq!(blocked_by(flood, Write).map(|refused| refused.0), Some(429));
    }
}
