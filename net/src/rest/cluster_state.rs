//! `_cluster/state`: the state that all cores agree on, and where the shards are.

use std::sync::Arc;
use std::time::Duration;

use cluster::{Index, State};
use engine::Result;
use engine::node::{Directory, Primary};
use engine::ops::IndicesOptions;
use engine::ops::admin::shown_bytes;
use env::{Clock, Env};
use json::{Value, Writer};

use super::long_answer::Growing;
use super::nodes::described;
use crate::call::Call;
use crate::params::time_ms;
use crate::reply::Reply;

mod customs;
pub(in crate::rest) mod unassigned;

use unassigned::Lack;

/// What may be asked for.
const METRICS: [&str; 8] = [
    "version",
    "master_node",
    "blocks",
    "nodes",
    "metadata",
    "routing_table",
    "routing_nodes",
    "customs",
];

/// What is wanted.
struct Wish<'a> {
    metrics: &'a str,
    indices: Vec<Arc<Index>>,
    /// Those whose blocks are told: all that the caller may know of, whichever are named.
    blocked: Vec<Arc<Index>>,
    /// Only some indices were named.
    narrowed: bool,
    flat: bool,
}

impl Wish<'_> {
    fn has(&self, metric: &str) -> bool {
        self.metrics.split(',').any(|part| part == metric || part == "_all")
    }
}

/// `GET /_cluster/state`, `/_cluster/state/{metric}`, `/_cluster/state/{metric}/{index}`.
pub(super) async fn state<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster("cluster:monitor/state")?;
    let wait = call.params.long("wait_for_metadata_version")?;
    let limit = match call.params.text("wait_for_timeout") {
        None => 60_000,
        Some(text) => time_ms("wait_for_timeout", text)?.unwrap_or(u64::from(u32::MAX)),
    };
    if let Some(version) = wait {
        if version < 1 {
            return Err(engine::Error::validation(&[
                "waitForMetadataVersion should be >= 1 but instead is ".to_owned()
                    + &version.to_string(),
            ]));
        }
        if !reached(call, version as u64, Duration::from_millis(limit)).await {
            let name = call.core.shared().config.info.cluster_name.clone();
            return Ok(call.json(200, |writer| {
                writer
                    .begin_object()
                    .field_bool("wait_for_timed_out", true)
                    .field_str("cluster_name", &name)
                    .end_object();
            }));
        }
    }
    let metrics = call.path.get("metric").unwrap_or("_all");
    let expression = call.indices();
    let base = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::default() };
    let all = IndicesOptions { expand_closed: true, expand_hidden: true, ..base };
    let narrowed = !matches!(expression, "" | "_all");
    let asked = call.params.indices_options(base)?;
    // What patterns meet is said of names: who gives none gets all.
    let options = if narrowed { asked } else { all };
    let action = "cluster:monitor/state";
    let indices = call.core.named_indices(call.gate, action, expression, options).await?;
    let flat = call.params.flag("flat_settings", false)?;
    let blocked = match narrowed && metrics.split(',').any(|it| matches!(it, "blocks" | "_all")) {
        true => call.core.named_indices(call.gate, action, "*", all).await?,
        false => indices.clone(),
    };
    let wish = Wish { metrics, indices, blocked, narrowed, flat };
    let mut growing = Growing::new(call, "cluster_state");
    let mut out = Vec::with_capacity(1024);
    let mut writer = Writer::new(&mut out);
    writer.begin_object();
    if wait.is_some() {
        writer.field_bool("wait_for_timed_out", false);
    }
    writer.field_str("cluster_name", &call.core.shared().config.info.cluster_name);
    writer.field_str("cluster_uuid", &call.core.shared().config.info.cluster_uuid);
    body(call, &mut writer, &wish, &mut growing).await?;
    writer.end_object();
    Ok(growing.end(200, out))
}

/// Waits for the metadata to reach a version.
async fn reached<E: Env>(call: &Call<'_, E>, version: u64, limit: Duration) -> bool {
    let clock = call.core.env().clock();
    let until = clock.monotonic() + limit;
    loop {
        let seen = call.core.seen();
        if call.core.state().version >= version {
            return true;
        }
        if clock.monotonic() >= until {
            return false;
        }
        call.core.changed(seen, until).await;
    }
}

async fn body<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    wish: &Wish<'_>,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    if wish.has("routing_table") || wish.has("routing_nodes") {
        call.core.look_after_all_closed().await;
    }
    let state = call.core.state();
    let info = &call.core.shared().config.info;
    for metric in METRICS.into_iter().filter(|metric| wish.has(metric)) {
        match metric {
            "version" => {
                writer.field_u64("version", state.version);
                writer.field_str("state_uuid", &state_uuid(&state));
            }
            "master_node" => {
                writer.field_str("master_node", &info.id);
            }
            "blocks" => {
                growing.more(writer, BLOCKS_BYTES * (1 + wish.blocked.len())).await?;
                blocks(writer, &state, wish);
            }
            "nodes" => {
                writer.key("nodes").begin_object().key(&info.id).begin_object();
                described(writer, info).end_object().end_object();
            }
            "metadata" => metadata(call, writer, &state, wish, growing).await?,
            "routing_table" => {
                writer.key("routing_table").begin_object().key("indices").begin_object();
                for index in &wish.indices {
                    writer.key(&index.name).begin_object().key("shards").begin_object();
                    for number in 0..index.settings.shard_count() {
                        writer.key(&number.to_string()).begin_array();
                        copies(call, writer, (index, number), Which::All, growing).await?;
                        writer.end_array();
                    }
                    writer.end_object().end_object();
                }
                writer.end_object().end_object();
            }
            "routing_nodes" => routing_nodes(call, writer, wish, growing).await?,
            _ => {}
        }
    }
    Ok(())
}

/// What the blocks of an index take at most.
const BLOCKS_BYTES: usize = 1 << 10;

/// What a copy of a shard takes beside the name of its index, and an index beside its mapping and its settings.
const COPY_BYTES: usize = 768;
const INDEX_BYTES: usize = 4 << 10;

/// What the shards of an index take in its metadata, each.
const SHARD_BYTES: usize = 96;

/// A text that is another for each version of each cluster.
fn state_uuid(state: &State) -> String {
    let mut uuid = state.uuid;
    for (byte, other) in uuid.iter_mut().zip(state.version.to_be_bytes()) {
        *byte ^= other;
    }
    cluster::state::uuid_text(uuid)
}

/// A block that a setting sets: the setting's last part, id, words, levels.
type Block = (&'static str, &'static str, &'static str, &'static [&'static str]);

const BLOCKS: [Block; 5] = [
    ("read_only", "5", "index read-only (api)", &["write", "metadata_write"]),
    ("read", "7", "index read (api)", &["read"]),
    ("write", "8", "index write (api)", &["write"]),
    ("metadata", "9", "index metadata (api)", &["metadata_write", "metadata_read"]),
    (
        "read_only_allow_delete",
        "12",
        "disk usage exceeded flood-stage watermark, index has read-only-allow-delete block",
        &["write", "metadata_write"],
    ),
];

const GLOBAL_BLOCKS: [Block; 2] = [
    ("cluster.blocks.read_only", "6", "cluster read-only (api)", &["write", "metadata_write"]),
    (
        "cluster.blocks.read_only_allow_delete",
        "13",
        "cluster read-only / allow delete (api)",
        &["write", "metadata_write"],
    ),
];

fn block(writer: &mut Writer<'_>, (_, id, words, levels): Block) {
    writer.key(id).begin_object().field_str("description", words);
    writer.field_bool("retryable", false).key("levels").begin_array();
    for level in levels {
        writer.str(level);
    }
    writer.end_array().end_object();
}

fn blocks(writer: &mut Writer<'_>, state: &State, wish: &Wish<'_>) {
    writer.key("blocks").begin_object();
    let global: Vec<Block> =
        GLOBAL_BLOCKS.into_iter().filter(|block| state.settings.flag(block.0)).collect();
    if !global.is_empty() {
        writer.key("global").begin_object();
        global.into_iter().for_each(|one| block(writer, one));
        writer.end_object();
    }
    let of_index = |index: &Index| -> Vec<Block> {
        let closed = ("", "4", "index closed", &["read", "write"][..]);
        let set = BLOCKS
            .into_iter()
            .filter(|block| index.settings.flag(&format!("index.blocks.{}", block.0)));
        (!index.open).then_some(closed).into_iter().chain(set).collect()
    };
    let blocked: Vec<(&Arc<Index>, Vec<Block>)> = wish
        .blocked
        .iter()
        .map(|index| (index, of_index(index)))
        .filter(|(_, blocks)| !blocks.is_empty())
        .collect();
    if !blocked.is_empty() {
        writer.key("indices").begin_object();
        for (index, blocks) in blocked {
            writer.key(&index.name).begin_object();
            blocks.into_iter().for_each(|one| block(writer, one));
            writer.end_object();
        }
        writer.end_object();
    }
    writer.end_object();
}

async fn metadata<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    state: &State,
    wish: &Wish<'_>,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    let info = &call.core.shared().config.info;
    writer
        .key("metadata")
        .begin_object()
        .field_str("cluster_uuid", &info.cluster_uuid)
        .field_bool("cluster_uuid_committed", true)
        .key("cluster_coordination")
        .begin_object()
        .field_u64("term", 1);
    for key in ["last_committed_config", "last_accepted_config"] {
        writer.key(key).begin_array().str(&info.id).end_array();
    }
    writer.key("voting_config_exclusions").begin_array();
    for (id, name) in state.voting_exclusions.iter() {
        writer.begin_object().field_str("node_id", id).field_str("node_name", name).end_object();
    }
    writer.end_array().end_object();
    if !state.settings.persistent().is_empty() && !wish.narrowed {
        let persistent = state.settings.persistent();
        let values = persistent.iter().map(|(name, value)| name.len() + value.held_bytes());
        growing.more(writer, values.sum()).await?;
        writer.field("settings", &cluster::cluster_settings::render(persistent, wish.flat));
    }
    customs::legacy_templates(writer, state, wish, growing).await?;
    writer.key("indices").begin_object();
    for index in &wish.indices {
        let shards = index.settings.shard_count() as usize * SHARD_BYTES;
        let own = INDEX_BYTES + shards + settings_bytes(index);
        growing.more(writer, own + shown_bytes(index)).await?;
        writer.key(&index.name);
        index_metadata(call, writer, index, wish.flat);
    }
    writer.end_object();
    customs::graveyard(call, writer, state, growing).await?;
    if !wish.narrowed {
        customs::templates(writer, state, wish.flat, growing).await?;
        customs::data_streams(call, writer, state, growing).await?;
    }
    writer.end_object();
    Ok(())
}

/// About how many bytes the settings of an index take while they are shown, with its aliases and what rolled it over.
fn settings_bytes(index: &Index) -> usize {
    let settings = index.settings.iter().map(|(name, value)| 2 * name.len() + value.held_bytes());
    let aliases = index.aliases.keys().map(|alias| alias.len() + 8);
    let rollovers = index.rollovers.iter().map(|(name, one)| name.len() + one.met.held_bytes());
    settings.sum::<usize>() + aliases.sum::<usize>() + rollovers.sum::<usize>()
}

fn index_metadata<E: Env>(call: &Call<'_, E>, writer: &mut Writer<'_>, index: &Index, flat: bool) {
    let directory = call.core.directory();
    let mapping_version = index.mapping.version();
    let changes = mapping_version + index.settings_version + index.aliases_version;
    let settings = index.settings.shown();
    let settings = if flat { settings.to_flat() } else { settings.to_nested() };
    writer
        .begin_object()
        // It rises with each of them.
        .field_u64("version", changes.saturating_sub(2))
        .field_u64("mapping_version", mapping_version)
        .field_u64("settings_version", index.settings_version)
        .field_u64("aliases_version", index.aliases_version)
        .field_u64("routing_num_shards", u64::from(index.settings.routing_shard_count()))
        .field_str("state", if index.open { "open" } else { "close" })
        .field("settings", &settings)
        .key("mappings")
        .begin_object()
        .field("_doc", &index.mapping.to_json())
        .end_object()
        .key("aliases")
        .begin_array();
    for alias in index.aliases.keys() {
        writer.str(alias);
    }
    writer.end_array().key("primary_terms").begin_object();
    for number in 0..index.settings.shard_count() {
        // The first is the least that it may be.
        let term = directory.primary_term(index, number).unwrap_or(1);
        writer.field_u64(&number.to_string(), term);
    }
    writer.end_object().key("in_sync_allocations").begin_object();
    for number in 0..index.settings.shard_count() {
        writer.key(&number.to_string()).begin_array();
        writer.str(&allocation_id(index, number)).end_array();
    }
    writer.end_object().key("rollover_info").begin_object();
    for (target, rollover) in index.rollovers.iter() {
        writer
            .key(target)
            .begin_object()
            .field("met_conditions", &rollover.met)
            .field("time", &Value::from(rollover.time_ms))
            .end_object();
    }
    writer.end_object().field_bool("system", false).end_object();
}

/// A copy of a shard is named by its shard: there is never a second one.
pub(super) fn allocation_id(index: &Index, number: u32) -> String {
    let mut uuid = index.uuid;
    for (byte, other) in uuid.iter_mut().rev().zip(number.to_le_bytes()) {
        *byte ^= other;
    }
    cluster::state::uuid_text(uuid)
}

/// Which copies are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Assigned,
    Unassigned,
}

/// Elasticsearch's word for the primary of a shard that has a place.
fn standing(directory: &Directory, index: &Index, number: u32) -> Option<&'static str> {
    match directory.primary(index, number) {
        Primary::Started(_) | Primary::Closed => Some("STARTED"),
        Primary::Initializing => Some("INITIALIZING"),
        Primary::Failed(_) => None,
    }
}

/// The copies of a shard.
async fn copies<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    (index, number): (&Index, u32),
    which: Which,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    let bytes = COPY_BYTES + index.name.len();
    growing.more(writer, bytes).await?;
    let is_assigned = standing(&call.core.directory(), index, number).is_some();
    if which == Which::All || is_assigned == (which == Which::Assigned) {
        primary(call, writer, index, number);
    }
    if which != Which::Assigned {
        for (at, lack) in unassigned::replicas(call, index).enumerate() {
            growing.more_at(at, writer, bytes).await?;
            unassigned::write(writer, index, number, lack);
        }
    }
    Ok(())
}

/// The primary of a shard, as routing tables show it.
pub(super) fn primary<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    index: &Index,
    number: u32,
) {
    let directory = call.core.directory();
    let Some(state) = standing(&directory, index, number) else {
        let failure = directory.failure(index, number);
        return unassigned::write(writer, index, number, Lack::primary(call, index, failure));
    };
    writer
        .begin_object()
        .field_str("state", state)
        .field_bool("primary", true)
        .field_str("node", &call.core.shared().config.info.id)
        .key("relocating_node")
        .null()
        .field_u64("shard", u64::from(number))
        .field_str("index", &index.name)
        .key("allocation_id")
        .begin_object()
        .field_str("id", &allocation_id(index, number))
        .end_object()
        .key("relocation_failure_info")
        .begin_object()
        .field_u64("failed_attempts", 0)
        .end_object()
        .end_object();
}

async fn routing_nodes<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    wish: &Wish<'_>,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    writer.key("routing_nodes").begin_object().key("unassigned").begin_array();
    all_copies(call, writer, wish, Which::Unassigned, growing).await?;
    writer.end_array().key("nodes").begin_object();
    writer.key(&call.core.shared().config.info.id).begin_array();
    all_copies(call, writer, wish, Which::Assigned, growing).await?;
    writer.end_array().end_object().end_object();
    Ok(())
}

async fn all_copies<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    wish: &Wish<'_>,
    which: Which,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    for index in &wish.indices {
        for number in 0..index.settings.shard_count() {
            copies(call, writer, (index, number), which, growing).await?;
        }
    }
    Ok(())
}

/// The state that `_cluster/reroute` shows.
pub(super) async fn write_rerouted<E: Env>(
    call: &Call<'_, E>,
    writer: &mut Writer<'_>,
    metrics: &str,
    growing: &mut Growing<'_, '_, E>,
) -> Result<()> {
    let options =
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::default() };
    let indices = call.core.named_indices(call.gate, "cluster:admin/reroute", "*", options).await?;
    let blocked = indices.clone();
    let wish = Wish { metrics, indices, blocked, narrowed: false, flat: false };
    writer.key("state").begin_object();
    writer.field_str("cluster_uuid", &call.core.shared().config.info.cluster_uuid);
    body(call, writer, &wish, growing).await?;
    writer.end_object();
    Ok(())
}
