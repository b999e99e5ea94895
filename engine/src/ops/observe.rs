//! What the node tells about itself: measured, never invented.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::ShardId;
use cluster::Index;
use env::{Clock, Env, Spawn};

use super::IndicesOptions;
use crate::core::{Core, Seen};
use crate::error::Result;
use crate::gate::{Everything, Gate};
use crate::host::call::{Called, ShardCall};
use crate::index::resolve::Call;
use crate::node::{Directory, Primary};

/// `GET /`, `_nodes/http`: fixed at start.
#[derive(Clone, Debug, Default)]
pub struct NodeInfo {
    /// Node name.
    pub name: String,
    /// Node id: 22 characters.
    pub id: String,
    /// Id of this start of the node: another after each restart.
    pub ephemeral_id: String,
    /// Cluster name.
    pub cluster_name: String,
    /// Cluster uuid: 22 characters.
    pub cluster_uuid: String,
    /// Bound HTTP address, `127.0.0.1:9200`.
    pub http_address: String,
    /// Published transport address.
    pub transport_address: String,
    /// Start, milliseconds since 1970.
    pub started_ms: i64,
    /// Commit the program was built from.
    pub build_hash: String,
    /// Date of that commit, ISO 8601.
    pub build_date: String,
    /// Attributes, `node.attr.*`.
    pub attributes: Vec<(String, String)>,
    /// Settings that were given at the start, by name, but for secrets.
    pub settings: Vec<(String, String)>,
    /// What HTTP presents; nothing where it is plain.
    pub certificates: Vec<CertificateFile>,
    /// Keeps lines about what was slow; `None`: nobody does.
    pub slow_log: Option<Arc<dyn env::lines::Lines>>,
    /// Measures machine and process; `None`: nobody does.
    pub measure: Option<Arc<dyn env::machine::Measure>>,
}

/// A file of certificates in PEM, the node's own first or those of authorities.
#[derive(Clone, Debug, Default)]
pub struct CertificateFile {
    /// Where it lies.
    pub path: PathBuf,
    /// How people know it: as the settings name it, or below the data folder.
    pub shown: String,
    /// The node has the key of the first.
    pub has_key: bool,
}

/// Colour of an index or of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// All copies there.
    Green,
    /// Replicas missing.
    Yellow,
    /// A primary missing.
    Red,
}

impl Health {
    /// Elasticsearch's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Red => "red",
        }
    }
}

/// Counts of one index for `_cluster/health` and `_cat/indices`.
#[derive(Clone, Debug)]
pub struct IndexRow {
    /// Its name.
    pub name: String,
    /// Unique id, text form.
    pub uuid: String,
    /// Colour.
    pub health: Health,
    /// Open or closed.
    pub open: bool,
    /// Hidden from wildcards.
    pub hidden: bool,
    /// Primary shards.
    pub primaries: u32,
    /// Replicas configured for each.
    pub replicas: u32,
    /// Primary shards that answer.
    pub active: u32,
    /// Primary shards that still recover.
    pub initializing: u32,
    /// How each primary shard stands, by number.
    pub shards: Vec<Standing>,
    /// Searchable documents.
    pub docs_count: u64,
    /// Deleted documents that segments still hold.
    pub docs_deleted: u64,
    /// Bytes of segments, in memory and on disk.
    pub store_bytes: u64,
    /// Bytes of all segments, those that only memory holds too.
    pub segment_bytes: u64,
    /// Created, milliseconds since 1970.
    pub created_ms: i64,
}

/// How a primary shard stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It answers, or its index is closed and its files are there.
    Active,
    /// It recovers, or another's documents are copied into it.
    Initializing,
    /// It has no place.
    Lost,
}

/// Answer of `_cluster/health`.
#[derive(Clone, Debug)]
pub struct HealthReply {
    /// Worst colour.
    pub status: Health,
    /// A wait ended without what it waited for.
    pub timed_out: bool,
    /// One an index, sorted by name.
    pub indices: Vec<IndexRow>,
}

/// What `_cluster/health` waits for.
#[derive(Clone, Debug, Default)]
pub struct HealthWait {
    /// At least this colour.
    pub status: Option<Health>,
    /// No shard initializing.
    pub no_initializing: bool,
    /// At least so many active shards.
    pub active_shards: Option<u32>,
    /// Other nodes, which will not come: the time is waited out.
    pub in_vain: bool,
    /// At most this long, in milliseconds.
    pub timeout_ms: u64,
}

/// Counts of some indices together: what a wait is judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    worst: Health,
    active: u32,
    initializing: u32,
}

impl Tally {
    const NONE: Self = Self { worst: Health::Green, active: 0, initializing: 0 };

    /// Of names that the options do not let pass: Elasticsearch answers with a colour, and with no error.
    const REFUSED: Self = Self { worst: Health::Red, ..Self::NONE };

    fn add(&mut self, (health, active, initializing): (Health, u32, u32)) {
        self.worst = self.worst.max(health);
        self.active += active;
        self.initializing += initializing;
    }
}

impl HealthWait {
    /// Is this what is waited for?
    fn is_met(&self, tally: &Tally) -> bool {
        !self.in_vain
            && self.status.is_none_or(|wanted| tally.worst <= wanted)
            && (!self.no_initializing || tally.initializing == 0)
            && self.active_shards.is_none_or(|wanted| tally.active >= wanted)
    }
}

/// So many times as long as a look took, the next waiter stands back. Looks again of all waiters
/// together thus take a tenth of the core at most, however many wait and however often the state
/// changes.
const STAND_BACK: u32 = 9;

impl<E: Env> Core<E> {
    /// What machine and process are doing now; all empty where nobody measures. Reads files of
    /// the system, on a worker.
    pub async fn machine(&self) -> env::machine::Sample {
        let Some(measure) = self.shared.config.info.measure.clone() else {
            return env::machine::Sample::default();
        };
        let data = self.shared.config.data.clone();
        let sampled = self.env.spawn().work_short(move || measure.sample(&data)).await;
        sampled.unwrap_or_default()
    }

    /// Threads of the process.
    pub async fn threads(&self) -> Vec<env::machine::Thread> {
        let Some(measure) = self.shared.config.info.measure.clone() else { return Vec::new() };
        self.env.spawn().work_short(move || measure.threads()).await.unwrap_or_default()
    }

    /// `_cluster/health`, for all or the named indices, after what is waited for (or the time).
    ///
    /// # Errors
    /// What the gate says.
    pub async fn cluster_health(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        wait: &HealthWait,
    ) -> Result<HealthReply> {
        gate.cluster("cluster:monitor/health")?;
        self.look_after_all_closed().await;
        let clock = self.env.clock();
        let until = clock.monotonic() + Duration::from_millis(wait.timeout_ms);
        loop {
            let seen = self.seen();
            let begin = clock.monotonic();
            let (tally, missing) = self.tally(gate, expression, options, seen).await?;
            let met = !missing && wait.is_met(&tally);
            if met || begin >= until {
                let known = self.health_of(gate, expression, options).await?;
                let mut told = if known.is_some() { Tally::NONE } else { Tally::REFUSED };
                let mut indices = known.unwrap_or_default();
                let directory = self.as_they_stand(&mut indices);
                let mut rows: Vec<IndexRow> =
                    indices.iter().map(|index| health_row(&directory, index)).collect();
                rows.sort_by(|a, b| a.name.cmp(&b.name));
                // Names were looked up meanwhile: colour and figures are of one moment, and that is this one.
                rows.iter().for_each(|row| told.add((row.health, row.active, row.initializing)));
                let met = !missing && wait.is_met(&told);
                if met || begin >= until {
                    let status = if missing { Health::Red } else { told.worst };
                    return Ok(HealthReply { status, timed_out: !met, indices: rows });
                }
                continue;
            }
            let took = clock.monotonic().saturating_sub(begin);
            self.changed(seen, until).await;
            let now = clock.monotonic();
            let turn = self.next_look.get().max(now);
            if now < until && turn < until {
                self.next_look.set(turn + took * STAND_BACK);
            }
            if turn > now {
                clock.sleep(turn.min(until).saturating_sub(now)).await;
            }
        }
    }

    /// Whose health is asked for, those that are there; none where the options refuse the names.
    async fn health_of(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Option<Vec<Arc<Index>>>> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let named = if expression.is_empty() {
            // The cluster is as well as all of its indices are, whatever the caller may learn of each.
            self.indices(&Everything, "cluster:monitor/health", "*", call).await
        } else {
            self.indices(gate, "cluster:monitor/health", expression, call).await
        };
        match named {
            Err(error) if error.status == 404 => Ok(None),
            named => named.map(Some),
        }
    }

    /// Counts of those whose health is asked for, and whether one that was named is missing. The
    /// whole cluster's are counted once for each change, however many wait.
    async fn tally(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        seen: Seen,
    ) -> Result<(Tally, bool)> {
        if !expression.is_empty() {
            let missing = self.lacks_index(gate, expression, options).await?;
            let indices = self.health_of(gate, expression, options).await?;
            return Ok((self.count_up(indices), missing));
        }
        let whole = options.expand_open && options.expand_closed && options.expand_hidden;
        if let Some((counted, tally)) = self.health.get()
            && whole
            && counted == seen
        {
            return Ok((tally, false));
        }
        let tally = self.count_up(self.health_of(gate, expression, options).await?);
        if whole {
            self.health.set(Some((seen, tally)));
        }
        Ok((tally, false))
    }

    /// Where their shards stand now, of those indices that are there now: names are looked up over several turns,
    /// and a shard of one that was deleted or closed meanwhile is not lost.
    fn as_they_stand(&self, indices: &mut Vec<Arc<Index>>) -> Arc<Directory> {
        // In this order: a shard leaves the directory after its index has left the state.
        let directory = self.directory();
        let state = self.state();
        indices.retain_mut(|index| {
            let now = state.index_by_uuid(index.uuid).map(Arc::clone);
            now.map(|now| *index = now).is_some()
        });
        directory
    }

    fn count_up(&self, indices: Option<Vec<Arc<Index>>>) -> Tally {
        let Some(mut indices) = indices else { return Tally::REFUSED };
        let directory = self.as_they_stand(&mut indices);
        let mut tally = Tally::NONE;
        indices.iter().for_each(|index| tally.add(standing(index, standings(&directory, index))));
        tally
    }

    /// Names the expression an index that is not there? Health waits for it, and then says so.
    async fn lacks_index(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<bool> {
        let strict =
            IndicesOptions { ignore_unavailable: false, allow_no_indices: true, ..options };
        let call = Call { forbid_closed: false, ..Call::new(strict) };
        match self.indices(gate, "cluster:monitor/health", expression, call).await {
            Ok(_) => Ok(false),
            Err(error) if error.status == 404 => {
                Ok(expression.split(',').any(|part| !part.contains('*')))
            }
            Err(error) => Err(error),
        }
    }

    /// `_cat/indices`: one row an index, counts asked of the shards.
    ///
    /// # Errors
    /// A missing index.
    pub async fn index_rows(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<IndexRow>> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let indices = self.indices(gate, "indices:monitor/stats", expression, call).await?;
        let wanted: Vec<[u8; 16]> = indices.iter().map(|index| index.uuid).collect();
        Ok(self.health_rows(|index| wanted.contains(&index.uuid)).await)
    }

    /// Rows with counts of the indices that `keep` names, sorted by name.
    pub(crate) async fn health_rows(
        self: &Rc<Self>,
        keep: impl Fn(&Index) -> bool,
    ) -> Vec<IndexRow> {
        let state = self.state();
        let mut under_way = Vec::new();
        for index in state.indices.values().filter(|index| keep(index)) {
            let sent: Vec<_> = (0..index.settings.shard_count())
                .filter(|_| index.open && !index.copying)
                .map(|number| {
                    let shard = ShardId { index: index.uuid, number };
                    self.send(shard, |reply| ShardCall::Stats { reply })
                })
                .collect();
            under_way.push((index, sent));
        }
        let directory = self.directory();
        let mut rows = Vec::with_capacity(under_way.len());
        for (index, sent) in under_way {
            let mut row = health_row(&directory, index);
            for answer in sent {
                let stats: Called<shard::Stats> = answer.answer().await;
                if let Ok(stats) = stats {
                    row.docs_count += stats.docs_count;
                    row.docs_deleted += stats.docs_deleted;
                    row.store_bytes += stats.store_bytes;
                    row.segment_bytes += stats.segment_bytes;
                }
            }
            rows.push(row);
        }
        rows
    }
}

/// A row without counts, all of it of one moment.
pub(crate) fn health_row(directory: &Directory, index: &Index) -> IndexRow {
    let shards: Vec<Standing> = standings(directory, index).collect();
    let (health, active, initializing) = standing(index, shards.iter().copied());
    IndexRow {
        name: index.name.to_string(),
        uuid: index.uuid_text(),
        health,
        open: index.open,
        hidden: index.hidden(),
        primaries: index.settings.shard_count(),
        replicas: index.settings.replica_count(),
        active,
        initializing,
        shards,
        docs_count: 0,
        docs_deleted: 0,
        store_bytes: 0,
        segment_bytes: 0,
        created_ms: index.created_ms,
    }
}

/// How the primary shards of an index stand, by number.
fn standings(directory: &Directory, index: &Index) -> impl Iterator<Item = Standing> {
    (0..index.settings.shard_count()).map(|number| match directory.primary(index, number) {
        // The files of a closed index are there, and nobody needs more of them.
        Primary::Started(_) | Primary::Closed => Standing::Active,
        Primary::Initializing => Standing::Initializing,
        Primary::Failed(_) => Standing::Lost,
    })
}

/// An index's colour, its active and its initializing shards.
fn standing(index: &Index, shards: impl Iterator<Item = Standing>) -> (Health, u32, u32) {
    let (mut active, mut initializing, mut is_lost) = (0, 0, false);
    for shard in shards {
        match shard {
            Standing::Active => active += 1,
            Standing::Initializing => initializing += 1,
            Standing::Lost => is_lost = true,
        }
    }
    (colour(index, is_lost, initializing > 0), active, initializing)
}

/// The colour of an index of whose primary shards some are lost, or recover.
pub(super) fn colour(index: &Index, is_lost: bool, is_late: bool) -> Health {
    match () {
        () if is_lost => Health::Red,
        // Nothing is lost of an index that is still being made.
        () if index.copying => Health::Yellow,
        () if is_late => Health::Red,
        () if index.settings.replica_count() > 0 => Health::Yellow,
        () => Health::Green,
    }
}
