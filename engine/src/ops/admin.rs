//! Indices and mappings: create, delete, look, change; refresh, flush, merge; analyze.

use std::rc::Rc;
use std::sync::Arc;

use base::ShardId;
use cluster::{Command, Index, Outcome};
use env::Env;
use json::{Object, Value};

use super::{IndicesOptions, ShardFailure, Shards, failure};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::host::call::{Called, ShardCall};
use crate::index::resolve::{Call, resolve};

/// What `GET /{index}` tells of one index.
#[derive(Clone, Debug)]
pub struct IndexInfo {
    /// Concrete name.
    pub name: String,
    /// `{"alias":{…}}`.
    pub aliases: Value,
    /// The mapping as Elasticsearch shows it.
    pub mappings: Value,
    /// `{"index":{…}}`, all values text.
    pub settings: Value,
}

/// Answer of index creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Concrete name.
    pub index: String,
    /// Its shards opened.
    pub shards_acknowledged: bool,
}

impl<E: Env> Core<E> {
    /// Makes an index; `body` is the request's object with `settings`, `mappings`, `aliases`.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn create_index(
        self: &Rc<Self>,
        gate: &dyn Gate,
        name: &str,
        body: &Value,
    ) -> Result<Created> {
        let name = crate::index::date_math::resolve(name, self.now_ms())?.into_owned();
        gate.index("indices:admin/create", &name)?;
        let part = |key: &str| match body.get(key) {
            None => Ok(Value::object()),
            Some(value @ Value::Object(_)) => Ok(value.clone()),
            Some(_) => Err(Error::parse(format!("key [{key}] must be an object"))),
        };
        if let Some(object) = body.as_object()
            && let Some(unknown) =
                object.keys().find(|key| !["settings", "mappings", "aliases"].contains(key))
        {
            return Err(Error::parse(format!("unknown key [{unknown}] for create index")));
        }
        let aliases = part("aliases")?;
        check_filters(&aliases)?;
        let uuid = self.uuid();
        let command = Command::CreateIndex {
            name: name.clone(),
            uuid,
            created_ms: self.now_ms(),
            settings: part("settings")?,
            mappings: part("mappings")?,
            aliases,
        };
        self.done(command).await?;
        let shards_acknowledged = self
            .health_rows(|index| index.uuid == uuid)
            .await
            .iter()
            .all(|row| row.active == row.primaries);
        Ok(Created { index: name, shards_acknowledged })
    }

    /// Takes indices away; wildcards are refused, as Elasticsearch does by default.
    ///
    /// # Errors
    /// A missing index, a wildcard, an alias.
    pub async fn delete_index(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<()> {
        let state = self.state();
        for part in expression.split(',') {
            if part == "_all" || part.contains('*') {
                return Err(Error::illegal_argument(
                    "Wildcard expressions or all indices are not allowed",
                ));
            }
            if state.aliases.contains_key(part) {
                return Err(Error::illegal_argument(format!(
                    "The provided expression [{part}] matches an alias, specify the corresponding \
                     concrete indices instead."
                )));
            }
        }
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let indices = self.indices(gate, "indices:admin/delete", expression, call)?;
        if indices.is_empty() {
            return Ok(());
        }
        let uuids = indices.iter().map(|index| index.uuid).collect();
        self.done(Command::DeleteIndices { uuids }).await
    }

    /// What the named indices are.
    ///
    /// # Errors
    /// A missing index.
    pub fn index_infos(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<IndexInfo>> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let mut indices = self.indices(gate, action, expression, call)?;
        indices.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(indices
            .into_iter()
            .map(|index| IndexInfo {
                name: index.name.to_string(),
                aliases: index.aliases_json(),
                mappings: index.mapping.to_json(),
                settings: index.settings.to_nested(),
            })
            .collect())
    }

    /// Is every named index (or alias) there?
    ///
    /// # Errors
    /// Only what the gate says.
    pub fn indices_exist(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<bool> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        match self.indices(gate, "indices:admin/get", expression, call) {
            // A wildcard without match is an empty success, as it is for GET.
            Ok(_) => Ok(true),
            Err(error) if error.status == 404 => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Works a mapping into indices, all or none.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn put_mapping(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        body: &Value,
    ) -> Result<()> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let indices = self.indices(gate, "indices:admin/mapping/put", expression, call)?;
        let uuids = indices.iter().map(|index| index.uuid).collect();
        self.done(Command::PutMapping { uuids, mappings: body.clone() }).await
    }

    /// Changes settings of indices, all or none.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn put_settings(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        body: &Value,
        preserve: bool,
    ) -> Result<()> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let indices = self.indices(gate, "indices:admin/settings/update", expression, call)?;
        let uuids: Vec<[u8; 16]> = indices.iter().map(|index| index.uuid).collect();
        let settings = body.get("settings").unwrap_or(body).clone();
        if settings.as_object().is_some_and(Object::is_empty) {
            return Err(Error::validation(&["no settings to update"]));
        }
        self.done(Command::PutSettings { uuids: uuids.clone(), settings, preserve }).await?;
        let state = self.state();
        for index in uuids.iter().filter_map(|&uuid| state.index_by_uuid(uuid)) {
            let config = crate::index::settings::shard_config(&index.settings);
            for number in 0..index.settings.shard_count() {
                let shard = ShardId { index: index.uuid, number };
                let config = config.clone();
                // A shard that does not serve reads its settings when it opens.
                let _gone: Called<()> =
                    self.ask(shard, |reply| ShardCall::Configure { config, reply }).await;
            }
        }
        Ok(())
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
        let indices =
            self.indices(gate, "indices:admin/refresh", expression, Call::new(options))?;
        Ok(self.broadcast(&indices, |reply| ShardCall::Refresh { reply }).await)
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
        let indices = self.indices(gate, "indices:admin/flush", expression, Call::new(options))?;
        Ok(self.broadcast(&indices, |reply| ShardCall::Flush { reply }).await)
    }

    /// Merges segments until at most `segments_max` are left in each shard.
    ///
    /// # Errors
    /// A missing index.
    pub async fn force_merge(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        segments_max: Option<usize>,
        flush: bool,
    ) -> Result<Shards> {
        let indices =
            self.indices(gate, "indices:admin/forcemerge", expression, Call::new(options))?;
        let call = |reply| ShardCall::ForceMerge { segments_max, flush, reply };
        Ok(self.broadcast(&indices, call).await)
    }

    /// Asks every shard of some indices at the same time.
    async fn broadcast(
        self: &Rc<Self>,
        indices: &[Arc<Index>],
        call: impl Fn(env::reply::Reply<Called<()>>) -> ShardCall,
    ) -> Shards {
        let mut shards = Shards::default();
        let mut under_way = Vec::new();
        for index in indices {
            for number in 0..index.settings.shard_count() {
                let shard = ShardId { index: index.uuid, number };
                shards.total += 1 + index.settings.replica_count();
                let sent = match self.settled(shard).await {
                    Ok(()) => Ok(self.send(shard, &call)),
                    Err(down) => Err(down),
                };
                under_way.push((index, number, sent));
            }
        }
        for (index, number, sent) in under_way {
            let answer = match sent {
                Ok(sent) => sent.answer().await,
                Err(down) => Err(down),
            };
            match answer {
                Ok(()) => shards.successful += 1,
                Err(down) => {
                    shards.failed += 1;
                    shards.failures.push(ShardFailure {
                        shard: number,
                        index: index.name.to_string(),
                        reason: down.error(&index.name, number),
                    });
                }
            }
        }
        shards
    }

    /// The indices that an expression names and the caller may use so.
    pub(crate) fn indices(
        self: &Rc<Self>,
        gate: &dyn Gate,
        action: &'static str,
        expression: &str,
        call: Call,
    ) -> Result<Vec<Arc<Index>>> {
        let state = self.state();
        let sees = |name: &str| gate.sees(action, name);
        let resolved = resolve(&*state, expression, call, self.now_ms(), sees)?;
        let mut indices = Vec::with_capacity(resolved.len());
        for one in resolved {
            gate.index(action, &one.index)?;
            if let Some(index) = state.index(&one.index) {
                indices.push(Arc::clone(index));
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

/// Filters of aliases must be queries.
fn check_filters(aliases: &Value) -> Result<()> {
    let Some(object) = aliases.as_object() else { return Ok(()) };
    for (name, alias) in object.iter() {
        let Some(filter) = alias
            .get("filter")
            .filter(|filter| filter.as_object().is_some_and(|filter| !filter.is_empty()))
        else {
            continue;
        };
        let text = json::to_vec(filter);
        search::dsl::parse_query(&text).map_err(|error| {
            Error::illegal_argument(format!("failed to parse filter for alias [{name}]"))
                .caused_by(failure::of_search(error))
        })?;
    }
    Ok(())
}
