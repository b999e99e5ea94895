//! `_tasks`: long work, listed, waited for and cancelled.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::ops::Refresh;
use engine::ops::document::{GetRequest, SourceFilter, VersionType, WriteAction, WriteItem};
use engine::task::{Ended, Running, TaskRow, TaskSpec, TaskState};
use engine::{Core, Error, Everything, Result};
use env::{Bytes, Clock, Env};
use json::Writer;

use super::long_answer::Growing;
use crate::call::Call;
use crate::fail;
use crate::render::by_query::{self, Of};
use crate::render::{document, units};
use crate::reply::Reply;
use crate::rest::nodes::is_chosen;

/// How long `wait_for_completion` waits where no timeout is given.
const TIMEOUT_MS: u64 = 30_000;

/// What a caller names: node and number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskId {
    node: String,
    /// No task has one below 0.
    number: i64,
}

/// A number that no task has.
const NOBODYS: u64 = u64::MAX;

impl TaskId {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let malformed = || Error::illegal_argument(format!("malformed task id {text}"));
        let (node, number) = text.split_once(':').ok_or_else(malformed)?;
        let number = number.parse().map_err(|_| {
            let reason = format!("For input string: \"{number}\"");
            malformed().caused_by(Error::new(400, "number_format_exception", reason))
        })?;
        Ok(Self { node: node.to_owned(), number })
    }

    /// Its number, where it is of this node.
    pub(super) fn number_here<E: Env>(&self, call: &Call<'_, E>) -> Option<u64> {
        (self.node == call.core.shared().config.info.id)
            .then(|| u64::try_from(self.number).unwrap_or(NOBODYS))
    }
}

/// Headers of a request that its tasks keep, for whoever may list them; secrets in them are nobody's to see.
pub(super) fn headers<E: Env>(call: &Call<'_, E>) -> Vec<(String, String)> {
    let origin = call.gate.origin();
    [("X-Opaque-Id", &origin.opaque_id), ("trace.id", &origin.trace_id)]
        .into_iter()
        .filter_map(|(shown, value)| Some((shown.to_owned(), value.clone()?)))
        .collect()
}

/// What the tasks of listings are called, and their parts.
const LISTING: &str = "cluster:monitor/tasks/lists";

/// The tasks of a request that lists tasks, which are among them: its own, and its part on this node.
pub(super) fn begin_listing<E: Env>(call: &Call<'_, E>) -> [Running<E>; 2] {
    let spec = TaskSpec {
        kind: "transport",
        action: LISTING,
        headers: headers(call),
        owner: call.gate.owner().to_owned(),
        ..TaskSpec::default()
    };
    let own = call.core.begin_task(spec.clone());
    let part = call.core.begin_task(TaskSpec {
        kind: "direct",
        action: "cluster:monitor/tasks/lists[n]",
        parent: Some(own.control().number()),
        ..spec
    });
    [own, part]
}

/// `GET /_tasks`.
pub(super) async fn list<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster(call.route.privilege)?;
    check_groups(call)?;
    let _own = begin_listing(call);
    let rows = Wanted::read(call)?.rows(call).await;
    if call.params.flag("wait_for_completion", false)? {
        let timeout_ms = call.params.time_ms("timeout")?.unwrap_or(TIMEOUT_MS);
        // Listings would wait for each other, and each for itself.
        let awaited = rows.iter().filter(|row| !row.spec.action.starts_with(LISTING));
        if !all_over(call, awaited, Duration::from_millis(timeout_ms)).await {
            return late(call, timeout_ms).await;
        }
    }
    let detailed = call.params.flag("detailed", false).unwrap_or_default();
    listed(call, &rows, None, detailed).await
}

/// Waits until all of these have ended, so long at most. Have they?
async fn all_over<'a, E: Env>(
    call: &Call<'_, E>,
    rows: impl Iterator<Item = &'a TaskRow>,
    timeout: Duration,
) -> bool {
    let now = || call.core.env().clock().monotonic();
    let until = now().saturating_add(timeout);
    for row in rows {
        if !call.core.task_over(row.number, until.saturating_sub(now())).await {
            return false;
        }
    }
    true
}

/// A listing whose tasks took longer than it would wait: its node tells none.
async fn late<E: Env>(call: &Call<'_, E>, timeout_ms: u64) -> Result<Reply> {
    let node = call.core.shared().config.info.id.as_str();
    let time = units::millis(timeout_ms);
    let reason = format!("timed out after [{time}/{timeout_ms}ms]");
    let failed = failed_node(node, Error::new(429, "timeout_exception", reason));
    listed(call, &[], Some(&failed), false).await
}

/// `GET /_tasks/{task_id}`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    call.gate.cluster(call.route.privilege)?;
    let text = call.segment("task_id");
    let id = TaskId::parse(text)?;
    let missing = || {
        let reason = format!("task [{text}] isn't running and hasn't stored its results");
        Error::new(404, "resource_not_found_exception", reason)
    };
    let Some(number) = id.number_here(call) else {
        let reason = format!(
            "task [{text}] belongs to the node [{}] which isn't part of the cluster and there is \
             no record of the task",
            id.node
        );
        return Err(Error::new(404, "resource_not_found_exception", reason).caused_by(missing()));
    };
    // Work of others is none to whoever may not watch it.
    let known = call.core.task(number).await;
    let owner = known.as_ref().map_or("", |state| state.row.spec.owner.as_str());
    if !call.gate.watches(owner) {
        return Err(missing());
    }
    if call.params.flag("wait_for_completion", false)? {
        let timeout_ms = call.params.time_ms("timeout")?.unwrap_or(TIMEOUT_MS);
        if !call.core.task_over(number, Duration::from_millis(timeout_ms)).await {
            // As 8.19 answers a request that took longer than it asked for.
            return Err(Error::new(
                429,
                "timeout_exception",
                format!("Timed out waiting for completion of task [{text}] after {timeout_ms}ms"),
            ));
        }
    }
    if let Some(state) = call.core.task(number).await {
        let node = &call.core.shared().config.info.id;
        return Ok(call.json(200, |writer| told(writer, node, &state, call.human, call.trace)));
    }
    match stored(call, text).await {
        Some(source) => Ok(Reply::json(200, source.to_vec())),
        None => Err(missing()),
    }
}

/// The index that keeps what became of tasks that nobody waited for.
const INDEX: &str = ".tasks";

/// Writes what became of a task where it outlives the node. Where that fails, memory keeps it.
pub(super) async fn store<E: Env>(core: &Rc<Core<E>>, ended: &TaskState) {
    if core.state().index(INDEX).is_none() {
        let body = json::json!({
            "settings": {"index": {"hidden": true, "number_of_replicas": 0}},
            "mappings": {"dynamic": false, "properties": {
                "completed": {"type": "boolean"},
                "task": {"properties": {
                    "action": {"type": "keyword"},
                    "cancellable": {"type": "boolean"},
                    "cancelled": {"type": "boolean"},
                    "description": {"type": "text"},
                    "headers": {"type": "object", "enabled": false},
                    "id": {"type": "long"},
                    "node": {"type": "keyword"},
                    "parent_task_id": {"type": "keyword"},
                    "running_time_in_nanos": {"type": "long"},
                    "start_time_in_millis": {"type": "long"},
                    "status": {"type": "object", "enabled": false},
                    "type": {"type": "keyword"}
                }},
                "response": {"type": "object", "enabled": false},
                "error": {"type": "object", "enabled": false}
            }}
        });
        // Another task may make it at this moment.
        let _ = core.create_index(&Everything, INDEX, &body).await;
    }
    let node = &core.shared().config.info.id;
    let mut source = Vec::with_capacity(1024);
    told(&mut Writer::new(&mut source), node, ended, false, fail::Trace::No);
    let item = WriteItem {
        source: Bytes::from(source),
        ..WriteItem::new(WriteAction::Index, INDEX, format!("{node}:{}", ended.row.number))
    };
    let _ = core.write(&Everything, item, Refresh::Now).await;
}

/// What was written of a task.
async fn stored<E: Env>(call: &Call<'_, E>, id: &str) -> Option<Bytes> {
    let request = GetRequest {
        index: INDEX.to_owned(),
        id: id.to_owned(),
        routing: None,
        realtime: true,
        refresh: false,
        version: None,
        version_type: VersionType::Internal,
        source: SourceFilter::default(),
        stored_fields: Arc::default(),
    };
    call.core.get(&Everything, &request).await.ok()?.found?.source
}

/// How tasks are listed is judged before any is looked for.
pub(super) fn check_groups<E: Env>(call: &Call<'_, E>) -> Result<()> {
    match call.params.text("group_by") {
        None | Some("nodes" | "parents" | "none") => Ok(()),
        Some(other) => Err(Error::illegal_argument(format!(
            "[group_by] must be one of [nodes], [parents] or [none] but was [{other}]"
        ))),
    }
}

/// `POST /_tasks/_cancel`, `/_tasks/{task_id}/_cancel`.
pub(super) async fn cancel<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    const REASON: &str = "by user request";
    call.gate.cluster(call.route.privilege)?;
    check_groups(call)?;
    if call.path.get("task_id").is_some() {
        let id = TaskId::parse(call.segment("task_id"))?;
        let wanted = Wanted::read(call)?;
        let running = match id.number_here(call) {
            Some(number) => call.core.task(number).await.filter(|state| state.outcome.is_none()),
            None => None,
        };
        // Work of others is none to whoever may not watch it.
        let running = running.filter(|state| call.gate.watches(&state.row.spec.owner));
        if running.as_ref().is_some_and(|state| !wanted.fits(call, &state.row)) {
            return unfit(call, &id).await;
        }
        let row = match running {
            Some(state) => call.core.cancel_task(state.row.number, REASON).await,
            None => None,
        };
        let row = match row {
            Some(row) if !row.spec.cancellable => {
                return Err(Error::illegal_argument(format!(
                    "task [{}] is not cancellable",
                    call.segment("task_id")
                )));
            }
            row => row,
        };
        if let (Some(row), true) = (&row, call.params.flag("wait_for_completion", false)?) {
            all_over(call, std::iter::once(row), Duration::from_millis(TIMEOUT_MS)).await;
        }
        return of_one(call, &id, row, false).await;
    }
    let wanted = Wanted::read(call)?;
    let mut cancelled = Vec::new();
    for row in wanted.rows(call).await.into_iter().filter(|row| row.spec.cancellable) {
        cancelled.extend(call.core.cancel_task(row.number, REASON).await);
    }
    if call.params.flag("wait_for_completion", false)? {
        all_over(call, cancelled.iter(), Duration::from_millis(TIMEOUT_MS)).await;
    }
    listed(call, &cancelled, None, false).await
}

/// Which tasks are asked for.
pub(super) struct Wanted {
    actions: Vec<String>,
    /// This node is among those that are asked.
    is_here: bool,
    parent: Option<TaskId>,
}

impl Wanted {
    /// What the request says.
    ///
    /// # Errors
    /// A parent that is no id of a task; a role that a node is neither to have nor not to have.
    pub(super) fn read<E: Env>(call: &Call<'_, E>) -> Result<Self> {
        let parent = call.params.text("parent_task_id").filter(|text| !text.is_empty());
        let nodes = call.params.text("nodes").filter(|text| !text.is_empty());
        Ok(Self {
            actions: call.params.list("actions"),
            is_here: is_chosen(&call.core.shared().config.info, nodes.unwrap_or("_all"))?,
            parent: parent.map(TaskId::parse).transpose()?,
        })
    }

    /// Those that run, by number; none of whom the caller may not watch.
    pub(super) async fn rows<E: Env>(&self, call: &Call<'_, E>) -> Vec<TaskRow> {
        if !self.is_here {
            return Vec::new();
        }
        let mut rows = call.core.tasks().await;
        rows.retain(|row| self.fits(call, row) && call.gate.watches(&row.spec.owner));
        rows
    }

    /// Is it of one of the actions, and a part of the task that was named?
    fn fits<E: Env>(&self, call: &Call<'_, E>, row: &TaskRow) -> bool {
        let action = row.spec.action.as_bytes();
        let mut actions = self.actions.iter();
        (self.actions.is_empty()
            || actions.any(|pattern| json::path::glob(pattern.as_bytes(), action)))
            && self.parent.as_ref().is_none_or(|parent| {
                parent.number_here(call).is_some_and(|number| row.spec.parent == Some(number))
            })
    }
}

/// How much of a task is shown.
#[derive(Clone, Copy)]
struct Shown {
    /// What it does, and how far it is.
    detailed: bool,
    /// Times as people read them stand beside.
    human: bool,
}

/// Tasks as the caller wants them grouped, after why the node could not tell them.
async fn listed<E: Env>(
    call: &Call<'_, E>,
    rows: &[TaskRow],
    failed: Option<&Error>,
    detailed: bool,
) -> Result<Reply> {
    let shown = Shown { detailed, human: call.human };
    let node = call.core.shared().config.info.id.as_str();
    let mut growing = Growing::new(call, "tasks");
    let mut body = Vec::with_capacity(1024);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    if let Some(failed) = failed {
        node_failure(&mut writer, failed, call.trace);
    }
    match call.params.text("group_by") {
        Some("none") => {
            writer.key("tasks").begin_array();
            for (at, row) in rows.iter().enumerate() {
                growing.more_at(at, &mut writer, shown_bytes(row)).await?;
                writer.begin_object();
                task(&mut writer, node, row, shown);
                writer.end_object();
            }
            writer.end_array();
        }
        Some("parents") => {
            writer.key("tasks").begin_object();
            let parts = Parts::of(rows);
            let is_root = |row: &&TaskRow| !row.spec.parent.is_some_and(|it| parts.lists(it));
            for (at, row) in rows.iter().filter(is_root).enumerate() {
                growing.more_at(at, &mut writer, parts.shown_bytes(row)).await?;
                writer.key(&format!("{node}:{}", row.number)).begin_object();
                task(&mut writer, node, row, shown);
                parts.write(&mut writer, node, row.number, shown);
                writer.end_object();
            }
            writer.end_object();
        }
        _ => {
            writer.key("nodes").begin_object();
            if !rows.is_empty() {
                begin_node(&mut writer, call);
                for (at, row) in rows.iter().enumerate() {
                    growing.more_at(at, &mut writer, shown_bytes(row)).await?;
                    writer.key(&format!("{node}:{}", row.number)).begin_object();
                    task(&mut writer, node, row, shown);
                    writer.end_object();
                }
                writer.end_object().end_object();
            }
            writer.end_object();
        }
    }
    writer.end_object();
    Ok(growing.end(200, body))
}

/// About how many bytes a task takes as it is shown.
fn shown_bytes(row: &TaskRow) -> usize {
    const PLAIN_BYTES: usize = 1 << 10;
    let headers = row.spec.headers.iter();
    let headers: usize = headers.map(|(name, value)| name.len() + json::str_bytes(value)).sum();
    PLAIN_BYTES + json::str_bytes(&row.spec.description) + headers
}

/// The parts of tasks, by the task that they are of.
struct Parts<'r> {
    listed: BTreeSet<u64>,
    of: BTreeMap<u64, Vec<&'r TaskRow>>,
}

impl<'r> Parts<'r> {
    fn of(rows: &'r [TaskRow]) -> Self {
        let listed = rows.iter().map(|row| row.number).collect();
        let mut of: BTreeMap<u64, Vec<&TaskRow>> = BTreeMap::new();
        for row in rows {
            if let Some(parent) = row.spec.parent {
                of.entry(parent).or_default().push(row);
            }
        }
        Self { listed, of }
    }

    fn lists(&self, number: u64) -> bool {
        self.listed.contains(&number)
    }

    fn of_task(&self, number: u64) -> &[&'r TaskRow] {
        self.of.get(&number).map_or(&[], Vec::as_slice)
    }

    fn shown_bytes(&self, row: &TaskRow) -> usize {
        let parts = self.of_task(row.number).iter().map(|part| self.shown_bytes(part));
        shown_bytes(row) + parts.sum::<usize>()
    }

    fn write(&self, writer: &mut Writer<'_>, node: &str, parent: u64, shown: Shown) {
        let own = self.of_task(parent);
        if own.is_empty() {
            return;
        }
        writer.key("children").begin_array();
        for row in own {
            writer.begin_object();
            task(writer, node, row, shown);
            // A part has no parts of its own here, so this ends.
            self.write(writer, node, row.number, shown);
            writer.end_object();
        }
        writer.end_array();
    }
}

/// The node, as far as its tasks.
fn begin_node<E: Env>(writer: &mut Writer<'_>, call: &Call<'_, E>) {
    let info = &call.core.shared().config.info;
    let address = info.transport_address.as_str();
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    writer
        .key(&info.id)
        .begin_object()
        .field_str("name", &info.name)
        .field_str("transport_address", address)
        .field_str("host", host.trim_matches(['[', ']']))
        .field_str("ip", address)
        .key("roles")
        .begin_array()
        .str("data")
        .str("ingest")
        .str("master")
        .end_array()
        .key("tasks")
        .begin_object();
}

/// One task of a node, or why it was not found.
pub(super) async fn of_one<E: Env>(
    call: &Call<'_, E>,
    id: &TaskId,
    row: Option<TaskRow>,
    detailed: bool,
) -> Result<Reply> {
    let Some(row) = row else {
        let cause = match id.number_here(call) {
            Some(_) => Error::new(
                404,
                "resource_not_found_exception",
                format!("task [{}:{}] is not found", id.node, id.number),
            ),
            None => {
                Error::new(404, "no_such_node_exception", format!("No such node [{}]", id.node))
                    .with("node_id", id.node.as_str())
            }
        };
        return not_done(call, id, cause).await;
    };
    listed(call, &[row], None, detailed).await
}

/// A task that runs, and is not of the kind that was asked for.
pub(super) async fn unfit<E: Env>(call: &Call<'_, E>, id: &TaskId) -> Result<Reply> {
    let reason = format!("task [{}] doesn't support this operation", call.segment("task_id"));
    not_done(call, id, Error::illegal_argument(reason)).await
}

/// Why a node did not do what was asked of a task of its own.
async fn not_done<E: Env>(call: &Call<'_, E>, id: &TaskId, cause: Error) -> Result<Reply> {
    listed(call, &[], Some(&failed_node(&id.node, cause)), false).await
}

/// A node that could not tell of its tasks.
fn failed_node(node: &str, cause: Error) -> Error {
    Error::new(500, "failed_node_exception", format!("Failed node [{node}]"))
        .with("node_id", node)
        .caused_by(cause)
}

fn node_failure(writer: &mut Writer<'_>, failed: &Error, trace: fail::Trace) {
    writer.key("node_failures").begin_array();
    fail::inner(writer, failed, trace);
    writer.end_array();
}

/// The members of a task.
fn task(writer: &mut Writer<'_>, node: &str, row: &TaskRow, shown: Shown) {
    writer
        .field_str("node", node)
        .field_u64("id", row.number)
        .field_str("type", row.spec.kind)
        .field_str("action", row.spec.action);
    if shown.detailed {
        if let Some(status) = &row.status {
            writer.key("status").begin_object();
            by_query::counts(writer, status, Of::All, shown.human);
            writer.end_object();
        }
        writer.field_str("description", &row.spec.description);
    }
    if shown.human {
        writer.field_str("start_time", &units::date(row.start_ms));
    }
    writer.key("start_time_in_millis").i64(row.start_ms);
    if shown.human {
        writer.field_str("running_time", &units::nanos(row.running_ns));
    }
    writer
        .field_u64("running_time_in_nanos", row.running_ns)
        .field_bool("cancellable", row.spec.cancellable);
    if row.spec.cancellable {
        writer.field_bool("cancelled", row.cancelled);
    }
    if let Some(parent) = row.spec.parent {
        writer.field_str("parent_task_id", &format!("{node}:{parent}"));
    }
    writer.key("headers").begin_object();
    for (name, value) in &row.spec.headers {
        writer.field_str(name, value);
    }
    writer.end_object();
}

/// One task, and what became of it.
fn told(writer: &mut Writer<'_>, node: &str, state: &TaskState, human: bool, trace: fail::Trace) {
    writer.begin_object().field_bool("completed", state.outcome.is_some());
    writer.key("task").begin_object();
    task(writer, node, &state.row, Shown { detailed: true, human });
    writer.end_object();
    match &state.outcome {
        None => {}
        Some(Ok(Ended::Work(reply))) => {
            writer.key("response").begin_object();
            // Elasticsearch keeps results with the times as people read them.
            by_query::answer(writer, reply, Of::All, true, trace);
            writer.end_object();
        }
        Some(Ok(Ended::Shards(shards))) => {
            writer.key("response");
            document::broadcast(writer, shards, trace);
        }
        Some(Err(error)) => {
            writer.key("error");
            fail::inner(writer, error, trace);
        }
    }
    writer.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_ids_are_node_and_number() {
        let id = TaskId::parse("abc:12").expect("good");
        assert_eq!((id.node.as_str(), id.number), ("abc", 12));
        assert_eq!(TaskId::parse("abc:-5").expect("a number").number, -5);
        for (bad, number) in [
            ("foo", None),
            ("foo:", Some("")),
            ("foo:x", Some("x")),
            ("foo:bar:1", Some("bar:1")),
            ("", None),
        ] {
            let error = TaskId::parse(bad).expect_err(bad);
            assert_eq!(error.reason, format!("malformed task id {bad}"));
            let cause = error.caused_by.map(|cause| (cause.kind.to_string(), cause.reason));
            let wanted = number.map(|text| {
                ("number_format_exception".to_owned(), format!("For input string: \"{text}\""))
            });
            assert_eq!(cause, wanted, "{bad}");
        }
    }
}
