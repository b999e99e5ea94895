//! `_cat` tables of the node: nodes, fielddata, master, nodeattrs, allocation, thread_pool.

use std::sync::Arc;

use engine::Result;
use engine::meter::Scripts;
use engine::ops::observe::NodeInfo;
use engine::ops::stats::Stats;
use env::machine::{Pool, Sample};
use env::{Clock, Env};
use json::path::glob;

use super::columns::{For, columns};
use super::{answer, wish};
use crate::call::Call;
use crate::render::cat::{Cell, Column, Row, Table, hidden, left, right};
use crate::render::units;
use crate::reply::Reply;
use crate::rest::info::VERSION;
use crate::rest::nodes::{ROLE_LETTERS, is_chosen};

/// The host of `host:port`.
pub(super) fn host(address: &str) -> String {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.trim_matches(['[', ']']).to_owned()
}

/// The port of it.
pub(super) fn port(address: &str) -> String {
    address.rsplit_once(':').map_or("-", |(_, port)| port).to_owned()
}

/// The node, with all that is measured of it.
struct Line {
    info: NodeInfo,
    sample: Sample,
    stats: Stats,
    budget_used: u64,
    budget_total: u64,
    uptime_ns: u64,
    full_id: bool,
    scripts: Scripts,
}

impl Row for Line {
    fn stats(&self) -> Option<&Stats> {
        Some(&self.stats)
    }
}

fn percent(part: u64, whole: u64) -> Cell {
    Cell::option(part.saturating_mul(100).checked_div(whole))
}

fn load(line: &Line, at: usize) -> Cell {
    Cell::option(line.sample.os.load.map(|load| format!("{:.2}", load[at])))
}

fn id(info: &NodeInfo, full: bool) -> Cell {
    if full { info.id.as_str().into() } else { info.id.chars().take(4).collect::<String>().into() }
}

fn node_table() -> Vec<Column<Line>> {
    #[rustfmt::skip]
    let mut table: Vec<Column<Line>> = vec![
        hidden(left("id", &["id", "nodeId"], "unique node id", |l: &Line| id(&l.info, l.full_id))),
        hidden(left("pid", &["p"], "process id", |l| l.sample.process.pid.into())),
        left("ip", &["i"], "ip address", |l| host(&l.info.transport_address).into()),
        hidden(left("port", &["po"], "bound transport port", |l| port(&l.info.transport_address).into())),
        hidden(left("http_address", &["http"], "bound http address", |l| l.info.http_address.as_str().into())),
        hidden(left("version", &["v"], "es version", |_| VERSION.into())),
        hidden(left("flavor", &["f"], "es distribution flavor", |_| "default".into())),
        hidden(left("type", &["t"], "es distribution type", |_| "tar".into())),
        hidden(left("build", &["b"], "es build hash", |l| l.info.build_hash.as_str().into())),
        hidden(left("jdk", &["j"], "jdk version: there is none", |_| "-".into())),
        hidden(right("disk.total", &["dt", "diskTotal"], "total disk space", |l| Cell::Bytes(l.sample.volume.total_bytes))),
        hidden(right("disk.used", &["du", "diskUsed"], "used disk space", |l| Cell::Bytes(l.sample.volume.total_bytes - l.sample.volume.available_bytes.min(l.sample.volume.total_bytes)))),
        hidden(right("disk.avail", &["d", "da", "disk", "diskAvail"], "available disk space", |l| Cell::Bytes(l.sample.volume.available_bytes))),
        hidden(right("disk.used_percent", &["dup", "diskUsedPercent"], "used disk space percentage", disk_percent)),
        hidden(right("heap.current", &["hc", "heapCurrent"], "used of the memory budget", |l| Cell::Bytes(l.budget_used))),
        right("heap.percent", &["hp", "heapPercent"], "used share of the memory budget", |l| percent(l.budget_used, l.budget_total)),
        hidden(right("heap.max", &["hm", "heapMax"], "the memory budget", |l| Cell::Bytes(l.budget_total))),
        hidden(right("ram.current", &["rc", "ramCurrent"], "used machine memory", |l| Cell::Bytes(memory_used(&l.sample)))),
        right("ram.percent", &["rp", "ramPercent"], "used machine memory ratio", |l| memory_percent(&l.sample)),
        hidden(right("ram.max", &["rm", "ramMax"], "total machine memory", |l| Cell::Bytes(l.sample.os.memory_total_bytes))),
        hidden(right("file_desc.current", &["fdc", "fileDescriptorCurrent"], "used file descriptors", |l| l.sample.process.files_open.into())),
        hidden(right("file_desc.percent", &["fdp", "fileDescriptorPercent"], "used file descriptor ratio", |l| percent(l.sample.process.files_open, l.sample.process.files_max))),
        hidden(right("file_desc.max", &["fdm", "fileDescriptorMax"], "max file descriptors", |l| l.sample.process.files_max.into())),
        right("cpu", &["cpu"], "recent cpu usage", |l| Cell::option(l.sample.os.cpu_percent)),
        right("load_1m", &["l"], "1m load avg", |l| load(l, 0)),
        right("load_5m", &["l"], "5m load avg", |l| load(l, 1)),
        right("load_15m", &["l"], "15m load avg", |l| load(l, 2)),
        hidden(right("available_processors", &["ap"], "number of available processors, allocated to this node", |l| l.sample.os.processors.into())),
        hidden(right("uptime", &["u"], "node uptime", |l| Cell::Nanos(l.uptime_ns))),
        left("node.role", &["r", "role", "nodeRole"], "roles of the node, a letter each", |_| ROLE_LETTERS.into()),
        left("master", &["m"], "*: the elected master", |_| "*".into()),
        left("name", &["n"], "node name", |l| l.info.name.as_str().into()),
    ];
    let mut stats = columns(For::Nodes);
    let at = stats.iter().position(|column| column.name.starts_with("search."));
    let after = stats.split_off(at.unwrap_or(stats.len()));
    table.extend(stats);
    #[rustfmt::skip]
    table.extend([
        hidden(right("script.compilations", &["scrcc", "scriptCompilations"], "script compilations", |l: &Line| l.scripts.compilations.into())),
        hidden(right("script.cache_evictions", &["scrce", "scriptCacheEvictions"], "script cache evictions", |l| l.scripts.evictions.into())),
        hidden(right("script.compilation_limit_triggered", &["scrclt", "scriptCacheCompilationLimitTriggered"], "script cache compilation limit triggered", |l| l.scripts.refused.into())),
    ]);
    table.extend(after);
    #[rustfmt::skip]
    table.extend([
        hidden(right("shard_stats.total_count", &["sstc", "shardStatsTotalCount"], "number of shards assigned", |l: &Line| l.stats.shards.into())),
        hidden(right("mappings.total_count", &["mtc", "mappingsTotalCount"], "number of mappings", |l| l.stats.mapped_fields.unwrap_or(0).into())),
        hidden(right("mappings.total_estimated_overhead_in_bytes", &["mteo", "mappingsTotalEstimatedOverheadInBytes"], "estimated overhead in bytes of mappings", |l| Cell::Bytes(l.stats.mapped_fields.unwrap_or(0) * 1_024))),
    ]);
    table
}

fn disk_percent(line: &Line) -> Cell {
    let volume = &line.sample.volume;
    if volume.total_bytes == 0 {
        return Cell::Empty;
    }
    let used = volume.total_bytes - volume.available_bytes.min(volume.total_bytes);
    format!("{:.2}", used as f64 * 100.0 / volume.total_bytes as f64).into()
}

fn memory_used(sample: &Sample) -> u64 {
    sample.os.memory_total_bytes.saturating_sub(sample.os.memory_free_bytes)
}

fn memory_percent(sample: &Sample) -> Cell {
    let total = sample.os.memory_total_bytes;
    Cell::option((total > 0).then(|| units::whole_percent(memory_used(sample), total)))
}

/// `GET /_cat/nodes`.
pub(in crate::rest) async fn nodes<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let columns = node_table();
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    call.gate.cluster("cluster:monitor/nodes/stats")?;
    let info = call.core.shared().config.info.clone();
    let budget = &call.core.shared().budget;
    let now_ms = call.core.env().clock().unix_ms();
    let row = Line {
        sample: call.core.machine().await,
        stats: call.core.node_stats().await,
        budget_used: budget.leased_bytes() as u64,
        budget_total: budget.total_bytes() as u64,
        uptime_ns: now_ms.saturating_sub(info.started_ms).max(0) as u64 * 1_000_000,
        full_id: call.params.flag("full_id", false)?,
        scripts: call.core.shared().meters.sums().scripts,
        info,
    };
    answer(call, Table { columns, rows: vec![row] }, wish).await
}

/// What the columns of a text field's words take.
struct FieldLine {
    info: Arc<NodeInfo>,
    field: Arc<str>,
    bytes: u64,
}

impl Row for FieldLine {}

/// `GET /_cat/fielddata`, `/_cat/fielddata/{fields}`.
pub(in crate::rest) async fn fielddata<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("id", &[], "node id", |l: &FieldLine| l.info.id.as_str().into()),
        left("host", &["h"], "host name", |l| host(&l.info.transport_address).into()),
        left("ip", &[], "ip address", |l| host(&l.info.transport_address).into()),
        left("node", &["n"], "node name", |l| l.info.name.as_str().into()),
        left("field", &["f"], "field name", |l| l.field.to_string().into()),
        left("size", &["s"], "field data usage", |l| Cell::Bytes(l.bytes)),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    call.gate.cluster("cluster:monitor/nodes/stats")?;
    let mut wanted = call.params.list("fields");
    wanted.extend(call.segment("fields").split(',').filter(|it| !it.is_empty()).map(str::to_owned));
    let is_wanted = |field: &str| {
        let fits = |pattern: &String| glob(pattern.as_bytes(), field.as_bytes());
        wanted.is_empty() || wanted.iter().any(fits)
    };
    let info = Arc::new(call.core.shared().config.info.clone());
    let mut stats = call.core.node_stats().await;
    let hidden = call.core.hidden_names(call.gate).await;
    hidden.leave_out_of_node(&call.core.state(), &mut stats);
    let loaded = stats.loaded.iter().filter(|(field, one)| one.fielddata > 0 && is_wanted(field));
    let rows = loaded.map(|(field, one)| FieldLine {
        info: Arc::clone(&info),
        field: Arc::clone(field),
        bytes: one.fielddata,
    });
    answer(call, Table { columns, rows: rows.collect() }, wish).await
}

/// A node by name and address.
struct NodeLine(NodeInfo);

impl Row for NodeLine {}

/// `GET /_cat/master`.
pub(in crate::rest) async fn master<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("id", &[], "node id", |l: &NodeLine| l.0.id.as_str().into()),
        left("host", &["h"], "host name", |l| host(&l.0.transport_address).into()),
        left("ip", &[], "ip address ", |l| host(&l.0.transport_address).into()),
        left("node", &["n"], "node name", |l| l.0.name.as_str().into()),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    call.gate.cluster("cluster:monitor/state")?;
    let row = NodeLine(call.core.shared().config.info.clone());
    answer(call, Table { columns, rows: vec![row] }, wish).await
}

/// One attribute of the node.
struct AttributeLine {
    info: NodeInfo,
    pid: u32,
    name: String,
    value: String,
}

impl Row for AttributeLine {}

/// `GET /_cat/nodeattrs`.
pub(in crate::rest) async fn nodeattrs<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("node", &["name"], "node name", |l: &AttributeLine| l.info.name.as_str().into()),
        hidden(left("id", &["id", "nodeId"], "unique node id", |l| id(&l.info, false))),
        hidden(left("pid", &["p"], "process id", |l| l.pid.into())),
        left("host", &["h"], "host name", |l| host(&l.info.transport_address).into()),
        left("ip", &["i"], "ip address", |l| host(&l.info.transport_address).into()),
        hidden(left("port", &["po"], "bound transport port", |l| port(&l.info.transport_address).into())),
        left("attr", &["attr.name"], "attribute description", |l| l.name.as_str().into()),
        left("value", &["attr.value"], "attribute value", |l| l.value.as_str().into()),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    call.gate.cluster("cluster:monitor/nodes/info")?;
    let info = &call.core.shared().config.info;
    let pid = call.core.machine().await.process.pid;
    let rows = info
        .attributes
        .iter()
        .map(|(name, value)| AttributeLine {
            info: info.clone(),
            pid,
            name: name.clone(),
            value: value.clone(),
        })
        .collect();
    answer(call, Table { columns, rows }, wish).await
}

/// What one node holds; or what none does.
struct AllocationLine {
    shards: u64,
    node: Option<(NodeInfo, Sample, u64)>,
}

impl Row for AllocationLine {}

fn of_node(line: &AllocationLine, cell: fn(&NodeInfo, &Sample, u64) -> Cell) -> Cell {
    line.node.as_ref().map_or(Cell::Empty, |(info, sample, bytes)| cell(info, sample, *bytes))
}

/// `GET /_cat/allocation`, `/_cat/allocation/{node_id}`.
pub(in crate::rest) async fn allocation<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        right("shards", &["s"], "number of shards on node", |l: &AllocationLine| l.shards.into()),
        right("shards.undesired", &[], "number of shards that shall move", |l| of_node(l, |_, _, _| 0u64.into())),
        right("write_load.forecast", &["wlf", "writeLoadForecast"], "expected load of writes", |l| of_node(l, |_, _, _| "0.0".into())),
        right("disk.indices.forecast", &["dif", "diskIndicesForecast"], "expected size of indices", |l| of_node(l, |_, _, bytes| Cell::Bytes(bytes))),
        right("disk.indices", &["di", "diskIndices"], "disk used by ES indices", |l| of_node(l, |_, _, bytes| Cell::Bytes(bytes))),
        right("disk.used", &["du", "diskUsed"], "disk used (total, not just ES)", |l| of_node(l, |_, sample, _| Cell::Bytes(sample.volume.total_bytes.saturating_sub(sample.volume.available_bytes)))),
        right("disk.avail", &["da", "diskAvail"], "disk available", |l| of_node(l, |_, sample, _| Cell::Bytes(sample.volume.available_bytes))),
        right("disk.total", &["dt", "diskTotal"], "total capacity of all volumes", |l| of_node(l, |_, sample, _| Cell::Bytes(sample.volume.total_bytes))),
        right("disk.percent", &["dp", "diskPercent"], "percent disk used", |l| of_node(l, |_, sample, _| percent(sample.volume.total_bytes.saturating_sub(sample.volume.available_bytes), sample.volume.total_bytes))),
        left("host", &["h"], "host of node", |l| of_node(l, |info, _, _| host(&info.transport_address).into())),
        left("ip", &[], "ip of node", |l| of_node(l, |info, _, _| host(&info.transport_address).into())),
        left("node", &["n"], "name of node", |l| l.node.as_ref().map_or("UNASSIGNED".into(), |(info, _, _)| info.name.as_str().into())),
        left("node.role", &["r", "role", "nodeRole"], "node roles", |l| of_node(l, |_, _, _| ROLE_LETTERS.into())),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    call.gate.cluster("cluster:monitor/state")?;
    let info = call.core.shared().config.info.clone();
    let wanted = call.path.get("node_id").unwrap_or("data:true");
    let mut rows = Vec::new();
    let counts = call.core.shard_counts();
    if is_chosen(&info, wanted)? {
        let sample = call.core.machine().await;
        let bytes = call.core.node_stats().await.shard.store_bytes;
        rows.push(AllocationLine { shards: counts.assigned, node: Some((info, sample, bytes)) });
    }
    // What no node has is told whichever nodes were asked for.
    if counts.unassigned > 0 {
        rows.push(AllocationLine { shards: counts.unassigned, node: None });
    }
    answer(call, Table { columns, rows }, wish).await
}

/// A pool of threads.
struct PoolLine {
    info: NodeInfo,
    pid: u32,
    pool: Pool,
}

impl Row for PoolLine {}

/// `GET /_cat/thread_pool`, `/_cat/thread_pool/{thread_pool_patterns}`.
pub(in crate::rest) async fn thread_pool<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns: Vec<Column<PoolLine>> = vec![
        left("node_name", &["nn"], "node name", |l: &PoolLine| l.info.name.as_str().into()),
        hidden(left("node_id", &["id"], "persistent node id", |l| l.info.id.as_str().into())),
        hidden(left("ephemeral_node_id", &["eid"], "ephemeral node id", |l| l.info.ephemeral_id.as_str().into())),
        hidden(left("pid", &["p"], "process id", |l| l.pid.into())),
        hidden(left("host", &["h"], "host name", |l| host(&l.info.transport_address).into())),
        hidden(left("ip", &["i"], "ip address", |l| host(&l.info.transport_address).into())),
        hidden(left("port", &["po"], "bound transport port", |l| port(&l.info.transport_address).into())),
        left("name", &["n"], "thread pool name", |l| l.pool.name.into()),
        hidden(left("type", &["t"], "thread pool type", |_| "fixed".into())),
        right("active", &["a"], "number of active threads", |l| l.pool.active.into()),
        hidden(right("pool_size", &["psz"], "number of threads", |l| l.pool.threads.into())),
        right("queue", &["q"], "number of tasks currently in queue", |l| l.pool.waiting.into()),
        hidden(right("queue_size", &["qs"], "maximum number of tasks permitted in queue", |l| Cell::Number(l.pool.waiting_max.map_or(-1, |most| most as i64)))),
        right("rejected", &["r"], "number of rejected tasks", |l| l.pool.rejected.into()),
        hidden(right("largest", &["l"], "highest number of seen active threads", |l| l.pool.threads.into())),
        hidden(right("completed", &["c"], "number of completed tasks", |l| l.pool.completed.into())),
        hidden(right("core", &["cr"], "core number of threads in a scaling thread pool", |_| Cell::Empty)),
        hidden(right("max", &["mx"], "maximum number of threads in a scaling thread pool", |_| Cell::Empty)),
        hidden(right("size", &["sz"], "number of threads in a fixed thread pool", |l| l.pool.threads.into())),
        hidden(right("keep_alive", &["ka"], "thread keep alive time", |_| Cell::Empty)),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    call.gate.cluster("cluster:monitor/nodes/info")?;
    let info = &call.core.shared().config.info;
    let names = call.path.get("thread_pool_patterns").unwrap_or("*");
    let sample = call.core.machine().await;
    let rows = crate::rest::nodes::pools(call, &sample)
        .await
        .into_iter()
        .filter(|pool| super::cluster::chosen(names, pool.name))
        .map(|pool| PoolLine { info: info.clone(), pid: sample.process.pid, pool })
        .collect();
    answer(call, Table { columns, rows }, wish).await
}
