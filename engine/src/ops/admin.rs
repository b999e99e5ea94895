//! Indices and mappings: looking at them; refresh, flush, merge.
//!
//! Making and deleting stand in `create`, settings in `index_settings`, aliases in `alias`.

use std::rc::Rc;
use std::sync::Arc;

use base::ShardId;
use cluster::{Alias, Command, Index, Outcome};
use env::{Env, Spawn};
use json::{Object, Value};
use mapping::Mapping;

use super::create::is_typed;
use super::reached::Reached;
use super::since::{self, Since};
use super::{IndicesOptions, Shards, failure};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Named};
use crate::host::call::{Called, ShardCall};
use crate::index::block::{self, Level};
use crate::index::resolve::{Call, resolve};
use crate::index::single::{One, Purpose, resolve_one};
use crate::task::TaskSpec;

pub use shard::Aim;

/// What `GET /{index}` tells of one index.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    /// Concrete name.
    pub name: String,
    /// Its aliases, as far as the caller may see them.
    pub aliases: Vec<(String, Alias)>,
    /// The data stream that it is part of.
    pub stream: Option<String>,
    /// The index itself.
    pub index: Arc<Index>,
    /// Fields are hidden from the caller.
    is_limited: bool,
}

impl IndexInfo {
    /// `{"index":{…}}`, all values text. Made when asked for, as the mapping is.
    pub fn settings(&self) -> Value {
        let mut settings = self.index.settings.shown().to_nested();
        if self.is_limited {
            cut(&mut settings, &self.index.mapping);
        }
        settings
    }

    /// The mapping as Elasticsearch shows it. Made when asked for: it may be large.
    pub fn mappings(&self) -> Value {
        self.index.mapping.to_json()
    }

    /// About how many bytes the mapping takes while it is shown, as text and as what that is made of.
    pub fn shown_bytes(&self) -> usize {
        shown_bytes(&self.index)
    }

    /// About how many bytes the settings take while they are shown, with what counts where nothing is set.
    pub fn settings_bytes(&self) -> usize {
        self.index.settings.shown_bytes() + DEFAULTS_BYTES
    }

    /// About how many bytes the aliases take while they are shown.
    pub fn aliases_bytes(&self) -> usize {
        self.aliases.iter().map(|(name, alias)| alias.shown_bytes(name)).sum()
    }
}

/// What the settings that are not set take while they are shown.
const DEFAULTS_BYTES: usize = 32 << 10;

/// About how many bytes the mapping of an index takes while it is shown: it is made whole.
pub fn shown_bytes(index: &Index) -> usize {
    index.mapping.text_bytes() + index.mapping.tree_bytes()
}

/// Takes out of an index's settings what names other fields than those of `seen`.
fn cut(settings: &mut Value, seen: &Mapping) {
    let shows = |field: &Value| {
        let name = field.as_str().map(|field| field.split('^').next().unwrap_or(field));
        name.is_some_and(|name| name == "*" || seen.lookup(name).is_some())
    };
    let shows_all = |fields: &Value| match fields {
        Value::Array(fields) => fields.iter().all(shows),
        field => shows(field),
    };
    let Value::Object(settings) = settings else { return };
    let Some(Value::Object(index)) = settings.get_mut("index") else { return };
    for (group, list) in [("sort", "field"), ("query", "default_field")] {
        let fields = index.get(group).and_then(|group| group.get(list));
        if !fields.is_none_or(shows_all)
            && let Some(Value::Object(found)) = index.get_mut(group)
        {
            match group {
                // Its lists belong together.
                "sort" => *found = Object::new(),
                _ => drop(found.remove(list)),
            }
            if found.is_empty() {
                index.remove(group);
            }
        }
    }
}

/// The names of these indices, as [`Gate::begins`] takes them.
pub(super) fn names_of(indices: &[Arc<Index>]) -> Vec<String> {
    indices.iter().map(|index| index.name.to_string()).collect()
}

/// Of the indices that are asked for mappings of single fields, those whose metadata is blocked are left out.
pub const FIELD_MAPPINGS: &str = "indices:admin/mappings/fields/get";

/// A call to all shards of the indices that an expression names.
struct Wide<'a> {
    gate: &'a dyn Gate,
    action: &'static str,
    expression: &'a str,
    options: IndicesOptions,
}

impl<E: Env> Core<E> {
    /// What the named indices are.
    ///
    /// # Errors
    /// A missing index.
    pub async fn index_infos(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<IndexInfo>> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let mut indices = self.reached(gate, action, expression, call).await?;
        if action == FIELD_MAPPINGS {
            // Elasticsearch asks each index for itself, and tells of those that answer.
            indices.retain(|reached| block::check(&reached.index, Level::MetadataRead).is_ok());
        } else {
            block::check_all(indices.iter().map(|reached| &*reached.index), Level::MetadataRead)?;
        }
        indices.sort_by(|a, b| a.index.name.cmp(&b.index.name));
        let state = self.state();
        let mut infos = Vec::with_capacity(indices.len());
        for reached in indices {
            self.env.spawn().yield_if_needed().await;
            let aliases = reached.shown_aliases(gate, action);
            let Reached { index, limits, .. } = reached;
            let is_limited = limits.fields.is_some();
            let index = match is_limited {
                // A caller with limits sees the fields that it may see.
                true => {
                    let mapping = self.shown_mapping(&index, &limits);
                    Arc::new(cluster::Index { mapping, ..(*index).clone() })
                }
                false => index,
            };
            infos.push(IndexInfo {
                name: index.name.to_string(),
                aliases,
                stream: state.data_stream_of(&index.name).map(|stream| stream.name.to_string()),
                index,
                is_limited,
            });
        }
        Ok(infos)
    }

    /// Is every named index (or alias) there?
    ///
    /// # Errors
    /// What the gate says, and a block.
    pub async fn indices_exist(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<bool> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        match self.indices(gate, "indices:admin/get", expression, call).await {
            // A wildcard without match is an empty success, as it is for GET.
            Ok(indices) => {
                block::check_all(indices.iter().map(|index| &**index), Level::MetadataRead)?;
                Ok(true)
            }
            Err(error) if error.status == 404 => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Works a mapping into indices, all or none; perhaps only into those that take the writes of
    /// the aliases and data streams that are named.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn put_mapping(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        write_index_only: bool,
        body: Value,
    ) -> Result<()> {
        if is_typed(&body) {
            return Err(Error::illegal_argument(
                "Types cannot be provided in put mapping requests",
            ));
        }
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let writers;
        let expression = if write_index_only {
            writers = self.writers(expression)?;
            &writers
        } else {
            expression
        };
        let reached = self.reached(gate, "indices:admin/mapping/put", expression, call).await?;
        for one in &reached {
            one.check_mapping(gate, &body)?;
        }
        let indices: Vec<Arc<Index>> = reached.into_iter().map(|one| one.index).collect();
        let names = indices.iter().map(|index| &*index.name);
        block::check_cluster_of(&self.state(), names, Level::MetadataWrite)?;
        block::check_all(indices.iter().map(|index| &**index), Level::MetadataWrite)?;
        let uuids = indices.iter().map(|index| index.uuid).collect();
        gate.begins("indices:admin/mapping/put", names_of(&indices)).await?;
        self.done(Command::PutMapping { uuids, mappings: body }).await
    }

    /// The expression with each alias and data stream replaced by the index that takes its writes.
    fn writers(&self, expression: &str) -> Result<String> {
        let state = self.state();
        let mut names = Vec::new();
        for part in expression.split(',') {
            let known = state.aliases.contains_key(part) || state.data_streams.contains_key(part);
            names.push(if known {
                match resolve_one(&*state, part, self.now_ms(), Purpose::Write)? {
                    One::Index { name, .. } | One::Missing { name } => name,
                }
            } else {
                part.to_owned()
            });
        }
        Ok(names.join(","))
    }

    /// Makes everything that was written searchable.
    ///
    /// # Errors
    /// A missing index.
    pub async fn refresh(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Shards> {
        let wide = Wide { gate, action: "indices:admin/refresh", expression, options };
        let indices = self.met(&wide).await?;
        self.broadcast_to(&wide, &indices, |reply| ShardCall::Refresh { reply }).await
    }

    /// Writes everything to files.
    ///
    /// # Errors
    /// A missing index.
    pub async fn flush(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Shards> {
        let wide = Wide { gate, action: "indices:admin/flush", expression, options };
        let indices = self.met(&wide).await?;
        self.broadcast_to(&wide, &indices, |reply| ShardCall::Flush { reply }).await
    }

    /// Merges segments until each shard is as `aim` says.
    ///
    /// # Errors
    /// A missing index, a block.
    pub async fn force_merge(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        aim: Aim,
        flush: bool,
    ) -> Result<Shards> {
        let wide = Wide { gate, action: "indices:admin/forcemerge", expression, options };
        let indices = self.to_merge(&wide).await?;
        let call = |reply| ShardCall::ForceMerge { aim, flush, reply };
        self.broadcast_to(&wide, &indices, call).await
    }

    /// As [`Core::force_merge`], but goes on alone: the number of the task that does it.
    ///
    /// # Errors
    /// As [`Core::force_merge`].
    pub async fn begin_force_merge(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        aim: Aim,
        flush: bool,
    ) -> Result<u64> {
        let wide = Wide { gate, action: "indices:admin/forcemerge", expression, options };
        let indices = self.to_merge(&wide).await?;
        let names: Vec<&str> = indices.iter().map(|index| &*index.name).collect();
        let count = match aim {
            Aim::Count(count) => count as i64,
            Aim::Tidy | Aim::Deletes => -1,
        };
        let running = self.begin_task(TaskSpec {
            kind: "transport",
            action: "indices:admin/forcemerge",
            description: format!(
                "Force-merge indices [{}], maxSegments[{count}], onlyExpungeDeletes[{}], \
                 flush[{flush}]",
                names.join(", "),
                aim == Aim::Deletes
            ),
            owner: gate.owner().to_owned(),
            ..TaskSpec::default()
        });
        let number = running.control().number();
        let core = Rc::clone(self);
        self.env.spawn().spawn(async move {
            let call = |reply| ShardCall::ForceMerge { aim, flush, reply };
            let (shards, _) = core.broadcast(&indices, call).await;
            let ended = running.ended(Ok(shards));
            running.keep(ended);
        });
        Ok(number)
    }

    async fn to_merge(self: &Rc<Self>, wide: &Wide<'_>) -> Result<Vec<Arc<Index>>> {
        let indices = self.met(wide).await?;
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        block::check_all(indices.iter().map(|index| &**index), Level::MetadataWrite)?;
        Ok(indices)
    }

    /// The indices whose analyzers would be read again, sorted by name; there is none that is read from a file.
    ///
    /// # Errors
    /// A missing or closed index, a block.
    pub async fn reload_analyzers(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<Arc<Index>>> {
        let wide = Wide { gate, action: "indices:admin/reload_analyzers", expression, options };
        let mut indices = self.met(&wide).await?;
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        block::check_all(indices.iter().map(|index| &**index), Level::MetadataWrite)?;
        indices.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(indices)
    }

    /// Says which shards a clearing of caches would reach; there are none to clear.
    ///
    /// # Errors
    /// A missing index, a block.
    pub async fn clear_cache(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        answers: bool,
    ) -> Result<Shards> {
        let wide = Wide { gate, action: "indices:admin/cache/clear", expression, options };
        let indices = self.met(&wide).await?;
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        block::check_all(indices.iter().map(|index| &**index), Level::MetadataWrite)?;
        let (directory, pause) = (self.directory(), self.pause());
        let (mut shards, mut is_any_gone) = (Shards::default(), false);
        let mut cleared = Vec::new();
        for index in &indices {
            pause().await;
            if !matches!(since::of(&self.state(), index), Since::Same) {
                is_any_gone = true;
                continue;
            }
            for number in 0..index.settings.shard_count() {
                shards.total += 1 + index.settings.replica_count();
                let shard = ShardId { index: index.uuid, number };
                if matches!(directory.shards.get(&shard), Some(crate::node::Entry::Open(_))) {
                    shards.successful += 1;
                    cleared.push(shard);
                }
            }
        }
        if answers {
            self.clear_answers(&cleared).await;
        }
        self.answered(&wide, shards, is_any_gone).await
    }

    /// The indices that a call to all shards is for.
    async fn met(self: &Rc<Self>, wide: &Wide<'_>) -> Result<Vec<Arc<Index>>> {
        let &Wide { gate, action, expression, options } = wide;
        self.indices(gate, action, expression, Call::new(options)).await
    }

    /// Asks every shard of some indices at the same time, and answers.
    async fn broadcast_to(
        self: &Rc<Self>,
        wide: &Wide<'_>,
        indices: &[Arc<Index>],
        call: impl Fn(env::reply::Reply<Called<()>>) -> ShardCall,
    ) -> Result<Shards> {
        let (shards, is_any_gone) = self.broadcast(indices, call).await;
        self.answered(wide, shards, is_any_gone).await
    }

    /// The answer where some of the indices may be gone, whose shards are not counted: whoever named one is
    /// told so, as who asks now.
    async fn answered(
        self: &Rc<Self>,
        wide: &Wide<'_>,
        shards: Shards,
        is_any_gone: bool,
    ) -> Result<Shards> {
        if is_any_gone {
            self.met(wide).await?;
        }
        Ok(shards)
    }

    /// Asks every shard of some indices at the same time. Those of indices that are deleted or closed
    /// meanwhile count as nothing; true where there are any.
    async fn broadcast(
        self: &Rc<Self>,
        indices: &[Arc<Index>],
        call: impl Fn(env::reply::Reply<Called<()>>) -> ShardCall,
    ) -> (Shards, bool) {
        let (mut shards, pause) = (Shards::default(), self.pause());
        let mut under_way = Vec::with_capacity(indices.len());
        for index in indices {
            let mut asked = Vec::new();
            for number in 0..index.settings.shard_count() {
                pause().await;
                let shard = ShardId { index: index.uuid, number };
                asked.push(match self.settled(shard).await {
                    Ok(()) => Ok(self.send(shard, &call)),
                    Err(down) => Err(down),
                });
            }
            under_way.push((index, asked));
        }
        let mut is_any_gone = false;
        for (index, asked) in under_way {
            let mut own = Shards::default();
            for (number, sent) in (0..).zip(asked) {
                pause().await;
                let answer = match sent {
                    Ok(sent) => sent.answer().await,
                    Err(down) => Err(down),
                };
                own.total += 1 + index.settings.replica_count();
                match answer {
                    Ok(()) => own.successful += 1,
                    Err(down) => own.miss(&self.state(), index, number, &down),
                }
            }
            match since::of(&self.state(), index) {
                Since::Deleted | Since::Closed(_)
                    if own.successful < index.settings.shard_count() =>
                {
                    is_any_gone = true;
                }
                _ => shards.add(own),
            }
        }
        (shards, is_any_gone)
    }

    /// The indices that an expression names and the caller may use so.
    pub(crate) async fn indices(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        expression: &str,
        call: Call,
    ) -> Result<Vec<Arc<Index>>> {
        let indices = self.reached(gate, action, expression, call).await?;
        Ok(indices.into_iter().map(|reached| reached.index).collect())
    }

    /// The same, with what the caller may see of each: by its rights on the index, or on the alias
    /// that led there.
    pub(crate) async fn reached(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        expression: &str,
        call: Call,
    ) -> Result<Vec<Reached>> {
        let state = self.state();
        let sees = gate::sees(gate, action, &*state);
        let now_ms = self.now_ms();
        let asked = Named { action, expression, names: &*state, now_ms };
        let told = |error| gate::told(gate, &asked, error);
        let pause = self.pause();
        let resolved = resolve(&*state, expression, call, now_ms, sees, &pause).await;
        let resolved = resolved.map_err(told)?;
        let mut indices = Vec::with_capacity(resolved.len());
        for one in resolved {
            pause().await;
            let limits = match gate::ask(gate, action, &one.index, &one.via) {
                Ok(limits) => limits,
                Err(_) if call.options.ignore_unavailable => continue,
                Err(error) => return Err(told(error)),
            };
            if let Some(index) = state.index(&one.index) {
                indices.push(Reached { index: Arc::clone(index), via: one.via, limits });
            }
        }
        Ok(indices)
    }

    /// Does a change that is done or refused as a whole.
    pub(crate) async fn done(&self, command: Command) -> Result<()> {
        match self.change(command).await? {
            Outcome::Refused(error) => Err(failure::of_cluster(error)),
            Outcome::Done | Outcome::Fields(_) => Ok(()),
        }
    }
}
