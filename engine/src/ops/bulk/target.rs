//! Where an item of a write goes: the index that its name leads to, made where it is missing, and the shard in it.

use std::collections::btree_map::Entry;

use super::super::data_stream;
use super::*;

/// There are no pipelines: whatever names one names one that is missing.
fn no_pipeline(name: &str) -> Error {
    Error::illegal_argument(format!("pipeline with id [{name}] does not exist"))
}

/// What stands for no pipeline.
const NO_PIPELINE: &str = "_none";

/// Has the item a whole document, that it puts or may put?
fn has_document(item: &WriteItem) -> bool {
    match (item.action, &item.update) {
        (WriteAction::Index | WriteAction::Create, _) => true,
        (WriteAction::Update, Some(update)) => update.upsert.is_some(),
        _ => false,
    }
}

/// The pipeline that the item names for its document.
fn named_pipeline(item: &WriteItem) -> Option<&str> {
    item.pipeline.as_deref().filter(|name| *name != NO_PIPELINE && has_document(item))
}

/// The pipelines that the index names run before each document that an item may put, but where the item names
/// another in place of the first.
fn check_pipelines(index: &Index, item: &WriteItem) -> Result<()> {
    // A part that may stand for the whole runs through those of the index, and through none that a request names.
    let is_upsert = item.update.as_ref().is_some_and(|update| update.doc_as_upsert);
    if !is_upsert && !has_document(item) {
        return Ok(());
    }
    let of_index = |setting| index.settings.text(setting).filter(|name| *name != NO_PIPELINE);
    let first = of_index("index.default_pipeline").filter(|_| item.pipeline.is_none());
    match first.or_else(|| of_index("index.final_pipeline")) {
        Some(name) => Err(no_pipeline(name)),
        None => Ok(()),
    }
}

/// What a block answers.
const BLOCKED: &str = "cluster_block_exception";

/// Why an item came to no shard.
pub(super) struct Astray {
    /// The id that was made for it by then.
    pub(super) id: Option<String>,
    pub(super) error: Error,
}

impl From<Error> for Astray {
    fn from(error: Error) -> Self {
        Self { id: None, error }
    }
}

/// What of an item says which index it goes to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name<'a> {
    index: &'a str,
    /// It must be an alias.
    alias: bool,
    /// It must be a data stream.
    stream: bool,
    /// It is made where it is missing.
    makes: bool,
    /// What its document is to run through first.
    pipeline: Option<&'a str>,
}

impl<'a> Name<'a> {
    pub(super) fn of(item: &'a WriteItem) -> Self {
        Self {
            index: &item.index,
            alias: item.require_alias,
            stream: item.require_data_stream,
            // A delete makes no index, unless the caller counts versions.
            makes: item.action != WriteAction::Delete || item.version_type != VersionType::Internal,
            pipeline: named_pipeline(item),
        }
    }
}

/// An index that a name of the request led to.
pub(super) struct Target {
    pub(super) index: Arc<Index>,
    pub(super) routing: Option<String>,
    /// The name was a data stream.
    pub(super) stream: Option<Arc<DataStream>>,
    /// The alias or data stream that led here.
    pub(super) via: Option<String>,
    /// Why the index takes no writes; told where nothing is wrong with the item itself.
    pub(super) blocked: Option<Error>,
}

impl Target {
    /// Does the data stream take no such write?
    pub(super) fn refuses(&self, item: &WriteItem) -> bool {
        self.stream.as_ref().is_some_and(|stream| data_stream::check_write(stream, item).is_err())
    }
}

impl<E: Env> Core<E> {
    /// The index behind each name of the request, made where it is missing.
    pub(super) async fn targets<'a>(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        items: &'a [WriteItem],
    ) -> BTreeMap<Name<'a>, Result<Target>> {
        let mut targets = BTreeMap::new();
        let mut missing = Vec::new();
        let before = self.state();
        for (at, item) in items.iter().enumerate() {
            self.env.spawn().yield_at(at).await;
            let name = Name::of(item);
            if let Entry::Vacant(entry) = targets.entry(name) {
                let target = entry.insert(self.target(gate, action, item, name).await);
                if !name.makes && matches!(target, Err(error) if error.status == 404) {
                    missing.push(item);
                }
            }
        }
        // What an item makes is there for those before it, too.
        if !missing.is_empty() && !Arc::ptr_eq(&before, &self.state()) {
            for (at, item) in missing.into_iter().enumerate() {
                self.env.spawn().yield_at(at).await;
                let name = Name::of(item);
                targets.insert(name, self.target(gate, action, item, name).await);
            }
        }
        targets
    }

    async fn target(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        item: &WriteItem,
        name: Name<'_>,
    ) -> Result<Target> {
        let mut state = self.state();
        // Rights come before what the request says of the name, and before a stream rolls over.
        let mut one = self.found(gate, action, &item.index, &state)?;
        if let Some(pipeline) = name.pipeline {
            may_there(gate, item.action, &one)?;
            return Err(no_pipeline(pipeline));
        }
        if let One::Index { name, is_stream: true, .. } = &one
            && let stream = state.data_streams.get(item.index.as_str())
            && let Some(stream) = stream.or_else(|| state.data_stream_of(name))
            && stream.rollover_on_write
        {
            self.roll_for_write(gate, &stream.name.clone()).await?;
            state = self.state();
            one = self.found(gate, action, &item.index, &state)?;
        }
        let makes = name.makes;
        let (name, routing, via, is_stream) = match one {
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
            One::Index { name, routing, via, is_stream } => (name, routing, via, is_stream),
            One::Missing { name } => {
                if !makes {
                    return Err(Error::index_not_found(&name, "index_expression"));
                }
                may_make(gate, item.action, &name)?;
                let only_stream = item.require_data_stream;
                self.auto_create(gate, &item.index, &name, only_stream).await?;
                // A template may have made a data stream of it.
                match self.found(gate, action, &name, &self.state())? {
                    One::Index { name, routing, via, is_stream } => (name, routing, via, is_stream),
                    One::Missing { name } => {
                        return Err(Error::index_not_found(&name, "index_or_alias"));
                    }
                }
            }
        };
        if item.require_data_stream && !is_stream {
            return Err(data_stream::is_none(&item.index));
        }
        let state = self.state();
        let index =
            state.index(&name).ok_or_else(|| Error::index_not_found(&name, "index_or_alias"))?;
        block::check_cluster(&state, Level::Write)?;
        let blocked = block::check(index, Level::Write).err();
        let stream = match is_stream {
            true => {
                state.data_streams.get(item.index.as_str()).or_else(|| state.data_stream_of(&name))
            }
            false => None,
        };
        let stream = stream.map(Arc::clone);
        Ok(Target { index: Arc::clone(index), routing, stream, via, blocked })
    }

    /// Where a name leads as things stand, for a caller who may do `action` there.
    fn found(
        &self,
        gate: &dyn Gate,
        action: &'static str,
        expression: &str,
        state: &State,
    ) -> Result<One> {
        let now_ms = self.now_ms();
        let asked = Named { action, expression, names: state, now_ms };
        let told = |error| gate::told(gate, &asked, error);
        let one = resolve_one(state, expression, now_ms, Purpose::Write).map_err(told)?;
        let limits = match &one {
            One::Index { name, via, .. } => gate::ask(gate, action, name, via.as_slice()),
            One::Missing { name } => gate.index(action, name),
        };
        limits.map_err(told)?;
        Ok(one)
    }

    /// May the caller do this write, alone or as an item of a bulk request? Asked where it is refused for what
    /// its caller has no part in: who may not write hears of that.
    ///
    /// # Errors
    /// The 403 to send.
    pub fn may_write(&self, gate: &dyn Gate, item: &WriteItem, is_alone: bool) -> Result<()> {
        let action = if is_alone { alone_action(item.action) } else { BULK_ITEMS };
        match self.found(gate, action, &item.index, &self.state()) {
            Ok(one) => may_there(gate, item.action, &one),
            Err(denied) if denied.status == 403 => Err(denied),
            // What is wrong with the name is told by the write itself.
            Err(_) => Ok(()),
        }
    }

    /// Checks one item and finds its group.
    pub(super) fn aim(
        &self,
        item: &WriteItem,
        targets: &BTreeMap<Name<'_>, Result<Target>>,
        groups: &mut Vec<Group>,
        by_shard: &mut Map<ShardId, usize>,
    ) -> std::result::Result<Aim, Astray> {
        document::validate(item)?;
        let target = match targets.get(&Name::of(item)) {
            Some(Ok(target)) => target,
            Some(Err(error)) => {
                // A block is met by a document that has its id by then.
                let is_blocked = error.kind == BLOCKED;
                let id = (is_blocked && item.id.is_none()).then(|| self.make_id());
                return Err(Astray { id, error: error.clone() });
            }
            None => return Err(Error::internal("a name that was not resolved").into()),
        };
        let index = &target.index;
        check_pipelines(index, item)?;
        if let Some(stream) = &target.stream {
            data_stream::check_write(stream, item)?;
        }
        let routing = match (&item.routing, &target.routing) {
            (Some(own), Some(alias)) if own != alias => {
                return Err(Error::illegal_argument(format!(
                    "Alias [{}] has index routing associated with it [{alias}], and was provided \
                     with routing value [{own}], rejecting operation",
                    item.index
                ))
                .into());
            }
            (own, alias) => own.clone().or_else(|| alias.clone()),
        };
        let id = item.id.clone().unwrap_or_else(|| self.make_id());
        if routing.is_none() && index.mapping.routing_required() {
            let error = routing_missing(&index.name, &id);
            return Err(Astray { id: Some(id), error });
        }
        if let Some(error) = &target.blocked {
            let is_made = item.id.is_none() && error.kind == BLOCKED;
            return Err(Astray { id: is_made.then_some(id), error: error.clone() });
        }
        if target.stream.is_some() {
            data_stream::check_timestamp(&item.source)?;
        }
        // A deletion keeps nothing of it.
        if let Some(routing) =
            routing.as_deref().filter(|text| text.len() > mapping::TERM_BYTES_MAX)
            && item.action != WriteAction::Delete
        {
            let error = mapping::document::immense("_routing", routing.as_bytes());
            return Err(Astray { id: Some(id), error: failure::of_mapping(error) });
        }
        let number = Route::of(&index.settings).shard(&id, routing.as_deref());
        let shard = ShardId { index: index.uuid, number };
        let group = *by_shard.entry(shard).or_insert_with(|| {
            groups.push(Group { index: Arc::clone(index), number, members: Vec::new() });
            groups.len() - 1
        });
        Ok(Aim { group, id, routing })
    }
}

/// May the caller write so where a name led, or make what it did not lead to?
fn may_there(gate: &dyn Gate, action: WriteAction, one: &One) -> Result<()> {
    match one {
        One::Index { name, via, .. } => limited::ask(gate, action, name, via.as_slice()).map(drop),
        One::Missing { name } => may_make(gate, action, name),
    }
}

/// May the caller make an index of this name by such a write?
fn may_make(gate: &dyn Gate, action: WriteAction, name: &str) -> Result<()> {
    gate.index(limited::item_action(action), name)?;
    gate.index("indices:admin/auto_create", name).map(drop)
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
