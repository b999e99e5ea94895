//! `_cat` tables of the cluster's state: health, count, aliases, templates, tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cluster::{ComponentTemplate, TemplateKind};
use engine::Result;
use engine::ops::IndicesOptions;
use engine::ops::observe::{HealthReply, HealthWait, NodeInfo};
use engine::ops::template::Template;
use engine::task::TaskRow;
use env::{Clock, Env, Spawn};
use json::path::glob;
use json::{Object, Value};
use search::dsl::COUNT_PARAMS;

use super::{answer, wish};
use crate::call::Call;
use crate::params::flag;
use crate::render::cat::{Cell, Column, Row, Table, hidden, left, right};
use crate::render::units;
use crate::reply::Reply;
use crate::rest::alias;
use crate::rest::cluster::Counts;
use crate::rest::task::{Wanted, begin_listing};

/// The cluster's health.
struct HealthLine {
    cluster: String,
    now_ms: i64,
    counts: Counts,
    reply: HealthReply,
}

impl Row for HealthLine {}

fn health_table() -> Vec<Column<HealthLine>> {
    #[rustfmt::skip]
    let table = vec![
        left("epoch", &["t", "time"], "seconds since 1970-01-01 00:00:00", |l: &HealthLine| l.now_ms.div_euclid(1_000).into()),
        left("timestamp", &["ts", "hms", "hhmmss"], "time in HH:MM:SS", |l| units::time_of_day(l.now_ms).into()),
        left("cluster", &["cl"], "cluster name", |l| l.cluster.as_str().into()),
        left("status", &["st"], "health status", |l| l.reply.status.as_str().into()),
        right("node.total", &["nt", "nodeTotal"], "total number of nodes", |_| 1u64.into()),
        right("node.data", &["nd", "nodeData"], "number of nodes that can store data", |_| 1u64.into()),
        right("shards", &["t", "sh", "shards.total", "shardsTotal"], "total number of shards", |l| l.counts.active.into()),
        right("pri", &["p", "shards.primary", "shardsPrimary"], "number of primary shards", |l| l.counts.active.into()),
        right("relo", &["r", "shards.relocating", "shardsRelocating"], "number of relocating nodes", |_| 0u64.into()),
        right("init", &["i", "shards.initializing", "shardsInitializing"], "number of initializing nodes", |l| l.counts.initializing.into()),
        right("unassign", &["u", "shards.unassigned", "shardsUnassigned"], "number of unassigned shards", |l| l.counts.unassigned.into()),
        right("unassign.pri", &["up", "shards.unassigned.primary", "shardsUnassignedPrimary"], "number of unassigned primary shards", |l| l.counts.unassigned_primaries.into()),
        right("pending_tasks", &["pt", "pendingTasks"], "number of pending tasks", |_| 0u64.into()),
        right("max_task_wait_time", &["mtwt", "maxTaskWaitTime"], "wait time of longest task pending", |_| "-".into()),
        right("active_shards_percent", &["asp", "activeShardsPercent"], "active number of shards in percent", |l| units::percent(l.counts.active, l.counts.total()).into()),
    ];
    table
}

/// `GET /_cat/health`.
pub(in crate::rest) async fn health<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let mut columns = health_table();
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    let all =
        IndicesOptions { expand_closed: true, expand_hidden: true, ..IndicesOptions::default() };
    let reply = call.core.cluster_health(call.gate, "", all, &HealthWait::default()).await?;
    let row = HealthLine {
        cluster: call.core.shared().config.info.cluster_name.clone(),
        now_ms: call.core.env().clock().unix_ms(),
        counts: Counts::all(&reply.indices),
        reply,
    };
    if !call.params.text("ts").map_or(Ok(true), flag)? {
        columns.drain(..2);
    }
    answer(call, Table { columns, rows: vec![row] }, wish).await
}

/// A count, and when it was counted.
struct CountLine {
    now_ms: i64,
    count: u64,
}

impl Row for CountLine {}

/// `GET /_cat/count`, `/_cat/count/{index}`.
pub(in crate::rest) async fn count<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let mut columns = vec![
        left("epoch", &["t", "time"], "seconds since 1970-01-01 00:00:00", |l: &CountLine| l.now_ms.div_euclid(1_000).into()),
        left("timestamp", &["ts", "hms", "hhmmss"], "time in HH:MM:SS", |l| units::time_of_day(l.now_ms).into()),
        left("count", &["dc", "docs.count", "docsCount"], "the document count", |l| l.count.into()),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    let search = crate::rest::search::request(call, &COUNT_PARAMS)?;
    let reply = call.core.count(call.gate, &search).await?;
    let row = CountLine { now_ms: call.core.env().clock().unix_ms(), count: reply.count };
    if !call.params.text("ts").map_or(Ok(true), flag)? {
        columns.drain(..2);
    }
    answer(call, Table { columns, rows: vec![row] }, wish).await
}

/// An alias of one index.
struct AliasLine {
    alias: String,
    index: String,
    facts: cluster::Alias,
}

impl Row for AliasLine {
    fn long_bytes(&self) -> usize {
        let routing = [&self.facts.index_routing, &self.facts.search_routing].into_iter();
        routing.flatten().map(|text| text.len()).sum()
    }
}

fn or_dash(text: Option<&str>) -> Cell {
    text.unwrap_or("-").into()
}

/// `GET /_cat/aliases`, `/_cat/aliases/{name}`.
pub(in crate::rest) async fn aliases<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("alias", &["a"], "alias name", |l: &AliasLine| l.alias.as_str().into()),
        left("index", &["i", "idx"], "index alias points to", |l| l.index.as_str().into()),
        left("filter", &["f", "fi"], "filter", |l| if l.facts.filter.is_some() { "*" } else { "-" }.into()),
        left("routing.index", &["ri", "routingIndex"], "index routing", |l| or_dash(l.facts.index_routing.as_deref())),
        left("routing.search", &["rs", "routingSearch"], "search routing", |l| or_dash(l.facts.search_routing.as_deref())),
        left("is_write_index", &["w", "isWriteIndex"], "write index", |l| or_dash(l.facts.is_write_index.map(|flag| if flag { "true" } else { "false" }))),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    let mut rows = Vec::new();
    for (index, aliases) in alias::view(call).await?.indices {
        let line = |(alias, facts)| AliasLine { alias, index: index.clone(), facts };
        rows.extend(aliases.into_iter().map(line));
    }
    answer(call, Table { columns, rows }, wish).await
}

/// Does a comma list of names and wildcards, with exclusions, name this?
pub(super) fn chosen(list: &str, name: &str) -> bool {
    let mut chosen = false;
    for part in list.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.strip_prefix('-') {
            Some(out) if glob(out.as_bytes(), name.as_bytes()) => chosen = false,
            _ if glob(part.as_bytes(), name.as_bytes()) => chosen = true,
            _ => {}
        }
    }
    chosen
}

/// A template.
struct TemplateLine {
    name: Arc<str>,
    template: Template,
}

impl Row for TemplateLine {
    fn long_bytes(&self) -> usize {
        self.patterns().iter().chain(self.composed_of()).map(|text| text.len() + 2).sum()
    }
}

impl TemplateLine {
    fn patterns(&self) -> &[String] {
        match &self.template {
            Template::Index(template) => &template.patterns,
            Template::Legacy(template) => &template.patterns,
            Template::Component(_) => &[],
        }
    }

    fn composed_of(&self) -> &[String] {
        match &self.template {
            Template::Index(template) => &template.composed_of,
            _ => &[],
        }
    }

    /// One that tells no priority has that of 0.
    fn order(&self) -> Cell {
        match &self.template {
            Template::Index(template) => template.priority.unwrap_or_default().into(),
            Template::Legacy(template) => template.order.into(),
            Template::Component(_) => Cell::Empty,
        }
    }

    fn version(&self) -> Cell {
        Cell::option(match &self.template {
            Template::Index(template) => template.version,
            Template::Legacy(template) => template.version,
            Template::Component(template) => template.version,
        })
    }
}

/// `GET /_cat/templates`, `/_cat/templates/{name}`.
pub(in crate::rest) async fn templates<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("name", &["n"], "template name", |l: &TemplateLine| (&*l.name).into()),
        left("index_patterns", &["t"], "template index patterns", |l| format!("[{}]", l.patterns().join(", ")).into()),
        left("order", &["o", "p"], "template application order/priority number", TemplateLine::order),
        left("version", &["v"], "version", TemplateLine::version),
        left("composed_of", &["c"], "component templates comprising index template", |l| match l.template {
            Template::Index(_) => format!("[{}]", l.composed_of().join(", ")).into(),
            _ => "".into(),
        }),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    let names = call.path.get("name").unwrap_or("*");
    let mut rows = Vec::new();
    for kind in [TemplateKind::Legacy, TemplateKind::Index] {
        let found = call.core.templates(call.gate, kind, "")?.into_iter();
        let chosen = found.filter(|(name, _)| chosen(names, name));
        rows.extend(chosen.map(|(name, template)| TemplateLine { name, template }));
    }
    answer(call, Table { columns, rows }, wish).await
}

/// A component template.
struct ComponentLine {
    name: Arc<str>,
    template: Arc<ComponentTemplate>,
    /// Index templates that hold it, each once.
    included_in: Vec<Arc<str>>,
}

impl Row for ComponentLine {
    fn long_bytes(&self) -> usize {
        self.included_in.iter().map(|name| name.len() + 2).sum()
    }
}

impl ComponentLine {
    /// Members of what stands in the mappings: of a list those of its values, of anything else itself.
    fn mappings(&self) -> Cell {
        fn count(value: &Value) -> u64 {
            match value {
                Value::Object(object) => object.len() as u64,
                Value::Array(items) => items.iter().map(count).sum(),
                _ => 1,
            }
        }
        let object = self.template.template.mappings.as_ref().and_then(Value::as_object);
        object.map_or(0, |object| object.values().map(count).sum::<u64>()).into()
    }

    fn settings(&self) -> Cell {
        let settings = self.template.template.settings.as_ref();
        settings.map_or(0, |settings| settings.iter().count()).into()
    }

    fn aliases(&self) -> Cell {
        self.template.template.aliases.as_ref().map_or(0, BTreeMap::len).into()
    }

    fn metadata(&self) -> Cell {
        self.template.meta.as_ref().and_then(Value::as_object).map_or(0, Object::len).into()
    }
}

/// `GET /_cat/component_templates`, `/_cat/component_templates/{name}`.
pub(in crate::rest) async fn component_templates<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        left("name", &["n"], "component template name", |l: &ComponentLine| (&*l.name).into()),
        left("version", &["v"], "version", |l| Cell::option(l.template.version)),
        left("alias_count", &["a"], "number of aliases", ComponentLine::aliases),
        left("mapping_count", &["m"], "number of mappings", ComponentLine::mappings),
        left("settings_count", &["s"], "number of settings", ComponentLine::settings),
        left("metadata_count", &["me"], "number of metadata", ComponentLine::metadata),
        left("included_in", &["i"], "index templates that hold it", |l| format!("[{}]", l.included_in.join(", ")).into()),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    let names = call.path.get("name").unwrap_or("*");
    let mut rows: BTreeMap<Arc<str>, ComponentLine> = BTreeMap::new();
    for (name, template) in call.core.templates(call.gate, TemplateKind::Component, "")? {
        if let Template::Component(template) = template
            && chosen(names, &name)
        {
            let line = ComponentLine { name: Arc::clone(&name), template, included_in: Vec::new() };
            rows.insert(name, line);
        }
    }
    for (name, template) in call.core.templates(call.gate, TemplateKind::Index, "")? {
        let Template::Index(template) = template else { continue };
        for (at, part) in template.composed_of.iter().enumerate() {
            if let Some(line) = rows.get_mut(&**part)
                && line.included_in.last().is_none_or(|last| *last != name)
            {
                line.included_in.push(Arc::clone(&name));
            }
            if at.is_multiple_of(1_000) {
                call.core.env().spawn().yield_if_needed().await;
            }
        }
    }
    answer(call, Table { columns, rows: rows.into_values().collect() }, wish).await
}

/// Nothing: changes of the cluster state are not queued for long enough to be seen.
struct PendingLine;

impl Row for PendingLine {}

/// `GET /_cat/pending_tasks`.
pub(in crate::rest) async fn pending_tasks<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    #[rustfmt::skip]
    let columns = vec![
        right("insertOrder", &["o"], "task insertion order", |_: &PendingLine| Cell::Empty),
        right("timeInQueue", &["t"], "how long task has been in queue", |_| Cell::Empty),
        left("priority", &["p"], "task priority", |_| Cell::Empty),
        left("source", &["s"], "task source", |_| Cell::Empty),
    ];
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    call.gate.cluster("cluster:monitor/task")?;
    answer(call, Table { columns, rows: Vec::new() }, wish).await
}

/// A task.
struct TaskLine {
    node: NodeInfo,
    row: TaskRow,
    /// So much of the node's id is shown by itself.
    id_characters: usize,
}

impl Row for TaskLine {
    fn long_bytes(&self) -> usize {
        self.row.spec.held_bytes()
    }
}

impl TaskLine {
    fn id(&self, number: u64) -> String {
        format!("{}:{number}", self.node.id)
    }

    fn opaque_id(&self) -> Option<&str> {
        let headers = &self.row.spec.headers;
        let named = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("x-opaque-id");
        headers.iter().find(named).map(|(_, value)| value.as_str())
    }
}

/// `GET /_cat/tasks`.
pub(in crate::rest) async fn tasks<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let detailed = call.params.flag("detailed", false)?;
    let id_characters = if call.params.flag("full_id", false)? { usize::MAX } else { 4 };
    #[rustfmt::skip]
    let mut columns: Vec<Column<TaskLine>> = vec![
        hidden(left("id", &[], "id of the task with the node", |l: &TaskLine| l.row.number.into())),
        left("action", &["ac"], "task action", |l| l.row.spec.action.into()),
        left("task_id", &["ti"], "unique task id", |l| l.id(l.row.number).into()),
        left("parent_task_id", &["pti"], "parent task id", |l| or_dash(l.row.spec.parent.map(|parent| l.id(parent)).as_deref())),
        left("type", &["ty"], "task type", |l| l.row.spec.kind.into()),
        left("start_time", &["start"], "start time in ms", |l| l.row.start_ms.into()),
        left("timestamp", &["ts", "hms", "hhmmss"], "start time in HH:MM:SS", |l| units::time_of_day(l.row.start_ms).into()),
        hidden(left("running_time_ns", &["time"], "running time ns", |l| l.row.running_ns.into())),
        left("running_time", &["time"], "running time", |l| Cell::Nanos(l.row.running_ns)),
        hidden(left("node_id", &["ni"], "unique node id", |l| l.node.id.chars().take(l.id_characters).collect::<String>().into())),
        left("ip", &["i"], "ip address", |l| super::nodes::host(&l.node.transport_address).into()),
        hidden(left("port", &["po"], "bound transport port", |l| super::nodes::port(&l.node.transport_address).into())),
        left("node", &["n"], "node name", |l| l.node.name.as_str().into()),
        hidden(left("version", &["v"], "es version", |_| crate::rest::info::VERSION.into())),
        hidden(left("x_opaque_id", &["x"], "X-Opaque-ID header", |l| or_dash(l.opaque_id()))),
    ];
    if detailed {
        columns.push(left("description", &["desc"], "task description", |l: &TaskLine| {
            l.row.spec.description.as_str().into()
        }));
    }
    let wish = match wish(call, &columns)? {
        Ok(wish) => wish,
        Err(help) => return Ok(help),
    };
    call.gate.cluster("cluster:monitor/tasks/lists")?;
    let wanted = Wanted::read(call)?;
    let node = &call.core.shared().config.info;
    let running = begin_listing(call);
    let rows = wanted.rows(call).await;
    drop(running);
    let lines =
        in_groups(rows).into_iter().map(|row| TaskLine { node: node.clone(), row, id_characters });
    answer(call, Table { columns, rows: lines.collect() }, wish).await
}

/// Tasks in the order in which they began, each with its parts behind it.
fn in_groups(mut rows: Vec<TaskRow>) -> Vec<TaskRow> {
    rows.sort_by_key(|row| (row.start_ms, row.number));
    let there: BTreeSet<u64> = rows.iter().map(|row| row.number).collect();
    let mut of: BTreeMap<Option<u64>, Vec<TaskRow>> = BTreeMap::new();
    for row in rows {
        let parent = row.spec.parent.filter(|parent| there.contains(parent));
        of.entry(parent).or_default().push(row);
    }
    let mut grouped = Vec::with_capacity(there.len());
    let mut next = of.remove(&None).unwrap_or_default();
    next.reverse();
    while let Some(row) = next.pop() {
        next.extend(of.remove(&Some(row.number)).unwrap_or_default().into_iter().rev());
        grouped.push(row);
    }
    grouped
}
