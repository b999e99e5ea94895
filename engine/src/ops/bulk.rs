//! Many writes in one request, and the single one.
//!
//! Documents are parsed here, on the core that took the request, into one arena for each shard;
//! the shard's home decides. Operations of one shard keep their order. New fields of all items are
//! one change of the cluster state (decision 2): documents are parsed by the mapping that this
//! change would give, and parsed again only where another change came in between.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;
use std::sync::Arc;

use base::hash::Map;
use base::{PrimaryTerm, SeqNo, ShardId};
use cluster::{Command, Index, Outcome as ClusterOutcome};
use env::{Clock, Env, Random, Spawn};
use json::Value;
use mapping::document::{Arena, Mode, Parsed, Parser};
use mapping::{Delta, Mapping};
use shard::{Check, Kind, Operation, WriteBatch};

use super::Refresh;
use super::document::{self, VersionType, WriteAction, WriteItem, WriteResult, Written};
use super::failure;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::host::call::{ShardCall, WriteAnswer};
use crate::index::resolve::{One, Purpose, resolve_one};
use crate::index::route::shard_of;

/// How often documents are prepared again because the mapping changed under them.
const ROUNDS_MAX: usize = 3;

/// A bulk request.
#[derive(Clone, Debug)]
pub struct BulkRequest {
    /// In request order.
    pub items: Vec<WriteItem>,
    /// When it is to be searchable.
    pub refresh: Refresh,
}

/// Answer of one item; `index` and `id` are echoed where it failed.
#[derive(Clone, Debug)]
pub struct BulkOutcome {
    /// What the item asked for.
    pub action: WriteAction,
    /// The name as given.
    pub index: String,
    /// The id given or made.
    pub id: Option<String>,
    /// What became of it.
    pub result: Result<Written>,
}

/// Answer of a bulk request, in request order.
#[derive(Clone, Debug)]
pub struct BulkReply {
    /// Milliseconds it took.
    pub took_ms: u64,
    /// One a request item.
    pub items: Vec<BulkOutcome>,
}

/// The items of one shard, on their way.
struct Group {
    index: Arc<Index>,
    number: u32,
    /// Positions in the request, in order.
    members: Vec<usize>,
}

/// What a group sends: operations, the mapping they were prepared with, and each one's position in
/// the request.
type Prepared = (WriteBatch, Arc<Mapping>, Vec<usize>);

/// An item that names an existing index.
struct Aim {
    group: usize,
    id: String,
    routing: Option<String>,
}

impl<E: Env> Core<E> {
    /// Does many writes. Items stand alone: one that fails leaves the others unharmed.
    pub async fn bulk(self: &Rc<Self>, gate: &dyn Gate, request: BulkRequest) -> BulkReply {
        let begin = self.env.clock().monotonic();
        let results = self.write_all(gate, "indices:data/write/bulk[s]", &request).await;
        let items = request
            .items
            .into_iter()
            .zip(results)
            .map(|(item, (id, result))| BulkOutcome {
                action: item.action,
                index: item.index,
                id: id.or(item.id),
                result,
            })
            .collect();
        let took = self.env.clock().monotonic().saturating_sub(begin);
        BulkReply { took_ms: took.as_millis() as u64, items }
    }

    /// Does one write.
    ///
    /// # Errors
    /// Why it was not done.
    pub async fn write(
        self: &Rc<Self>,
        gate: &dyn Gate,
        item: WriteItem,
        refresh: Refresh,
    ) -> Result<Written> {
        let action = match item.action {
            WriteAction::Delete => "indices:data/write/delete",
            WriteAction::Index | WriteAction::Create => "indices:data/write/index",
        };
        let request = BulkRequest { items: vec![item], refresh };
        let mut results = self.write_all(gate, action, &request).await;
        match results.pop() {
            Some((_, result)) => result,
            None => Err(Error::internal("a write without an answer")),
        }
    }

    /// The id (where one was made) and the answer of each item, in order.
    async fn write_all(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        request: &BulkRequest,
    ) -> Vec<(Option<String>, Result<Written>)> {
        let items = &request.items;
        let mut results: Vec<Option<Result<Written>>> = items.iter().map(|_| None).collect();
        let targets = self.targets(gate, action, items).await;
        let mut groups: Vec<Group> = Vec::new();
        let mut by_shard: Map<ShardId, usize> = Map::default();
        let mut aims: Vec<Option<Aim>> = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            match self.aim(item, &targets, &mut groups, &mut by_shard) {
                Ok(aim) => {
                    groups[aim.group].members.push(at);
                    aims.push(Some(aim));
                }
                Err(error) => {
                    results[at] = Some(Err(error));
                    aims.push(None);
                }
            }
        }
        let mut prepared = self.prepare(items, &aims, &mut groups, &mut results).await;
        let mut under_way = Vec::new();
        for (group, batch) in groups.iter().zip(prepared.drain(..)) {
            let Some((batch, mapping, members)) = batch else { continue };
            let shard = ShardId { index: group.index.uuid, number: group.number };
            let refresh = request.refresh;
            let sent = match self.settled(shard).await {
                Ok(()) => Ok(self.send(shard, |reply| ShardCall::Write {
                    batch,
                    mapping,
                    refresh,
                    reply,
                })),
                Err(down) => Err(down),
            };
            under_way.push((group, members, sent));
        }
        for (group, members, sent) in under_way {
            let answer = match sent {
                Ok(sent) => sent.answer().await,
                Err(down) => Err(down),
            };
            let WriteAnswer { answers, forced_refresh } = match answer {
                Ok(answer) => answer,
                Err(down) => {
                    for at in members {
                        results[at] = Some(Err(down.error(&group.index.name, group.number)));
                    }
                    continue;
                }
            };
            debug_assert_eq!(answers.len(), members.len(), "one answer an operation");
            for (at, answer) in members.into_iter().zip(answers) {
                let id = aims[at].as_ref().map(|aim| aim.id.as_str()).unwrap_or_default();
                results[at] = Some(match answer {
                    Ok(done) => Ok(written(&group.index, id, done, forced_refresh)),
                    Err(error) => Err(failure::of_write(&group.index, group.number, id, error)),
                });
            }
        }
        aims.into_iter()
            .zip(results)
            .map(|(aim, result)| {
                let lost = || Err(Error::internal("a write without an answer"));
                (aim.map(|aim| aim.id), result.unwrap_or_else(lost))
            })
            .collect()
    }

    /// The index behind each name of the request, made where it is missing.
    async fn targets<'a>(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        items: &'a [WriteItem],
    ) -> BTreeMap<(&'a str, bool, bool), Result<Target>> {
        let mut targets = BTreeMap::new();
        for item in items {
            // A delete makes no index, unless the caller counts versions.
            let makes =
                item.action != WriteAction::Delete || item.version_type != VersionType::Internal;
            let key = (item.index.as_str(), item.require_alias, makes);
            if let Entry::Vacant(entry) = targets.entry(key) {
                entry.insert(self.target(gate, action, item, makes).await);
            }
        }
        targets
    }

    async fn target(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        item: &WriteItem,
        makes: bool,
    ) -> Result<Target> {
        let state = self.state();
        let one = resolve_one(&*state, &item.index, self.now_ms(), Purpose::Write)?;
        let (name, routing) = match one {
            One::Index { name, .. } | One::Missing { name }
                if item.require_alias
                    && !state.aliases.contains_key(name.as_str())
                    && !state.aliases.contains_key(item.index.as_str()) =>
            {
                return Err(Error::new(
                    404,
                    "index_not_found_exception",
                    format!(
                        "no such index [{}] and [require_alias] request flag is [true] and [{}] is \
                         not an alias",
                        item.index, item.index
                    ),
                )
                .with("index_uuid", "_na_")
                .with("index", item.index.as_str()));
            }
            One::Index { name, routing, .. } => (name, routing),
            One::Missing { name } => {
                if !makes {
                    return Err(Error::index_not_found(&name, "index_expression"));
                }
                gate.index(action, &name)?;
                gate.index("indices:admin/auto_create", &name)?;
                self.auto_create(&name).await?;
                (name, None)
            }
        };
        gate.index(action, &name)?;
        let state = self.state();
        let index =
            state.index(&name).ok_or_else(|| Error::index_not_found(&name, "index_or_alias"))?;
        blocked(index)?;
        Ok(Target { index: Arc::clone(index), routing })
    }

    /// Makes an index for a first document; another request may have been faster.
    async fn auto_create(self: &Rc<Self>, name: &str) -> Result<()> {
        let command = Command::CreateIndex {
            name: name.to_owned(),
            uuid: self.uuid(),
            created_ms: self.now_ms(),
            settings: Value::object(),
            mappings: Value::object(),
            aliases: Value::object(),
        };
        match self.change(command).await? {
            ClusterOutcome::Refused(cluster::Error::Exists { .. }) => Ok(()),
            ClusterOutcome::Refused(error) => Err(failure::of_cluster(error)),
            _ => Ok(()),
        }
    }

    /// Checks one item and finds its group.
    fn aim(
        &self,
        item: &WriteItem,
        targets: &BTreeMap<(&str, bool, bool), Result<Target>>,
        groups: &mut Vec<Group>,
        by_shard: &mut Map<ShardId, usize>,
    ) -> Result<Aim> {
        document::validate(item)?;
        let makes =
            item.action != WriteAction::Delete || item.version_type != VersionType::Internal;
        let key = (item.index.as_str(), item.require_alias, makes);
        let target = match targets.get(&key) {
            Some(Ok(target)) => target,
            Some(Err(error)) => return Err(error.clone()),
            None => return Err(Error::internal("a name that was not resolved")),
        };
        let index = &target.index;
        let routing = match (&item.routing, &target.routing) {
            (Some(own), Some(alias)) if own != alias => {
                return Err(Error::illegal_argument(format!(
                    "Alias [{}] has index routing associated with it [{alias}], and was provided \
                     with routing value [{own}], rejecting operation",
                    item.index
                )));
            }
            (own, alias) => own.clone().or_else(|| alias.clone()),
        };
        let id = item.id.clone().unwrap_or_else(|| self.make_id());
        if routing.is_none() && index.mapping.routing_required() {
            return Err(routing_missing(&index.name, &id));
        }
        let settings = &index.settings;
        let number = shard_of(
            routing.as_deref().unwrap_or(&id),
            settings.shard_count(),
            settings.routing_shard_count(),
        );
        let shard = ShardId { index: index.uuid, number };
        let group = *by_shard.entry(shard).or_insert_with(|| {
            groups.push(Group { index: Arc::clone(index), number, members: Vec::new() });
            groups.len() - 1
        });
        Ok(Aim { group, id, routing })
    }

    /// Parses every document; what each group sends, with the positions of its members.
    async fn prepare(
        self: &Rc<Self>,
        items: &[WriteItem],
        aims: &[Option<Aim>],
        groups: &mut [Group],
        results: &mut [Option<Result<Written>>],
    ) -> Vec<Option<Prepared>> {
        let mut out: Vec<Option<Prepared>> = groups.iter().map(|_| None).collect();
        let mut todo: Vec<usize> = (0..groups.len()).collect();
        for round in 0..ROUNDS_MAX {
            let mut sketches: Map<[u8; 16], Sketch> = Map::default();
            for &at in &todo {
                let group = &groups[at];
                let sketch =
                    sketches.entry(group.index.uuid).or_insert_with(|| Sketch::new(&group.index));
                let batch = self.parse_group(items, aims, group, sketch, results).await;
                out[at] = Some(batch);
            }
            let deltas: Vec<([u8; 16], Delta)> = sketches
                .iter_mut()
                .flat_map(|(uuid, sketch)| {
                    std::mem::take(&mut sketch.deltas).into_iter().map(|delta| (*uuid, delta))
                })
                .collect();
            if deltas.is_empty() {
                break;
            }
            let change = self.change(Command::AddFields { deltas }).await;
            let state = self.state();
            let refused = match change {
                Ok(ClusterOutcome::Fields(_)) => None,
                Ok(_) => Some(Error::internal("an unexpected answer of the cluster state")),
                Err(error) => Some(error),
            };
            todo.retain(|&at| {
                let uuid = groups[at].index.uuid;
                let Some(sketch) = sketches.get(&uuid) else { return false };
                let fail = |error: Error, results: &mut [Option<Result<Written>>]| {
                    for &member in &groups[at].members {
                        results[member].get_or_insert(Err(error.clone()));
                    }
                };
                if !sketch.grew {
                    return false;
                }
                let Some(index) = state.index_by_uuid(uuid) else {
                    fail(Error::index_not_found(&groups[at].index.name, "index_or_alias"), results);
                    out[at] = None;
                    return false;
                };
                if let Some(error) = &refused {
                    fail(error.clone(), results);
                    out[at] = None;
                    return false;
                }
                if index.mapping.to_state_json() == sketch.mapping.to_state_json() {
                    // What was sketched is what the cluster agreed on.
                    if let Some((batch, mapping, _)) = &mut out[at] {
                        batch.mapping_version = index.mapping.version();
                        *mapping = Arc::clone(&index.mapping);
                    }
                    return false;
                }
                if round + 1 == ROUNDS_MAX {
                    let text = "the mapping changed too often while the document was prepared";
                    fail(Error::new(503, "process_cluster_event_timeout_exception", text), results);
                    out[at] = None;
                    return false;
                }
                true
            });
            for &at in &todo {
                if let Some(index) = state.index_by_uuid(groups[at].index.uuid) {
                    groups[at].index = Arc::clone(index);
                }
            }
            if todo.is_empty() {
                break;
            }
        }
        out.into_iter().map(|batch| batch.filter(|(batch, ..)| !batch.ops.is_empty())).collect()
    }

    /// Parses the documents of one group by the sketched mapping, which grows on the way.
    async fn parse_group(
        self: &Rc<Self>,
        items: &[WriteItem],
        aims: &[Option<Aim>],
        group: &Group,
        sketch: &mut Sketch,
        results: &mut [Option<Result<Written>>],
    ) -> Prepared {
        let mut parser = self.parser.take();
        let mut arena = Arena::new();
        let mut ops = Vec::with_capacity(group.members.len());
        let mut members = Vec::with_capacity(group.members.len());
        for &at in &group.members {
            let (item, Some(aim)) = (&items[at], &aims[at]) else { continue };
            let kind = if item.action == WriteAction::Delete {
                Ok(Kind::Delete)
            } else {
                sketch.parse(&mut parser, &aim.id, &item.source, &mut arena).map(|doc| {
                    Kind::Index {
                        create: item.action == WriteAction::Create
                            || (item.id.is_none() && item.if_seq_no.is_none()),
                        source: item.source.clone(),
                        doc,
                    }
                })
            };
            match kind {
                Ok(kind) => {
                    results[at] = None;
                    members.push(at);
                    ops.push(Operation {
                        id: aim.id.clone(),
                        routing: aim.routing.clone(),
                        kind,
                        check: check(item),
                    });
                }
                Err(error) => results[at] = Some(Err(failure::of_mapping(error))),
            }
            self.env.spawn().yield_if_needed().await;
        }
        self.parser.replace(parser);
        let batch = WriteBatch { mapping_version: sketch.mapping.version(), arena, ops };
        (batch, Arc::clone(&sketch.mapping), members)
    }

    /// An id as Elasticsearch makes them: 20 characters of URL-safe base64 over 15 bytes, time
    /// first, so that ids of one moment lie side by side.
    fn make_id(&self) -> String {
        let mut bytes = [0; 15];
        self.env.random().fill(&mut bytes);
        let now = self.now_ms().to_be_bytes();
        bytes[..6].copy_from_slice(&now[2..]);
        const ALPHABET: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let mut id = String::with_capacity(20);
        for three in bytes.chunks_exact(3) {
            let number = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            for shift in [18, 12, 6, 0] {
                id.push(char::from(ALPHABET[(number >> shift & 63) as usize]));
            }
        }
        id
    }
}

/// An index that a name of the request led to.
struct Target {
    index: Arc<Index>,
    routing: Option<String>,
}

/// The mapping as it will be when the request's new fields are added.
struct Sketch {
    mapping: Arc<Mapping>,
    deltas: Vec<Delta>,
    grew: bool,
}

impl Sketch {
    fn new(index: &Index) -> Self {
        Self { mapping: Arc::clone(&index.mapping), deltas: Vec::new(), grew: false }
    }

    /// Parses one document; its new fields join the sketch only if the whole of it fits.
    fn parse(
        &mut self,
        parser: &mut Parser,
        id: &str,
        source: &[u8],
        arena: &mut Arena,
    ) -> mapping::Result<u32> {
        let mut trial = Arc::clone(&self.mapping);
        let mut added = Vec::new();
        loop {
            match parser.parse(&trial, id, source, Mode::Strict, arena)? {
                Parsed::Ready(doc) => {
                    if !added.is_empty() {
                        self.mapping = trial;
                        self.deltas.append(&mut added);
                        self.grew = true;
                    }
                    return Ok(doc as u32);
                }
                Parsed::NeedsMapping(delta) => {
                    // Each round adds what the last one lacked; a document that lacks again and
                    // again would be our own error.
                    assert!(added.len() < 8, "a document whose new fields never suffice");
                    trial = Arc::new(trial.apply_delta(&delta)?);
                    added.push(delta);
                }
            }
        }
    }
}

fn check(item: &WriteItem) -> Check {
    let version = item.version.unwrap_or(0).max(0) as u64;
    match (item.version_type, item.if_seq_no, item.if_primary_term) {
        (VersionType::External, ..) => Check::External(version),
        (VersionType::ExternalGte, ..) => Check::ExternalGte(version),
        (VersionType::Internal, Some(seq_no), Some(term)) => {
            Check::SeqNo { seq_no: SeqNo(seq_no), term: PrimaryTerm(term) }
        }
        _ => Check::None,
    }
}

fn written(index: &Index, id: &str, done: shard::Written, forced_refresh: bool) -> Written {
    Written {
        index: index.name.to_string(),
        id: id.to_owned(),
        version: done.version,
        result: match done.outcome {
            shard::Outcome::Created => WriteResult::Created,
            shard::Outcome::Updated => WriteResult::Updated,
            shard::Outcome::Deleted => WriteResult::Deleted,
            shard::Outcome::NotFound => WriteResult::NotFound,
        },
        shards_total: 1 + index.settings.replica_count(),
        shards_successful: 1,
        seq_no: done.seq_no.get(),
        primary_term: done.primary_term.get(),
        forced_refresh,
    }
}

/// 400 where the mapping asks for a routing value and none came.
pub(crate) fn routing_missing(index: &str, id: &str) -> Error {
    Error::new(
        400,
        "routing_missing_exception",
        format!("routing is required for [{index}]/[{id}]"),
    )
    .with("index_uuid", "_na_")
    .with("index", index)
}

/// 403 where a block of the index forbids writes.
fn blocked(index: &Index) -> Result<()> {
    for (setting, block) in [
        ("index.blocks.read_only", "FORBIDDEN/5/index read-only (api)"),
        ("index.blocks.write", "FORBIDDEN/8/index write (api)"),
        (
            "index.blocks.read_only_allow_delete",
            "TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has \
             read-only-allow-delete block",
        ),
    ] {
        if index.settings.flag(setting) {
            let status = if setting.ends_with("allow_delete") { 429 } else { 403 };
            return Err(Error::new(
                status,
                "cluster_block_exception",
                format!("index [{}] blocked by: [{block}];", index.name),
            ));
        }
    }
    Ok(())
}
