//! Making indices: asked for, or by a first document; and deleting them.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use cluster::{Command, NewIndex, Outcome};
use env::{Env, Spawn};
use json::Value;

use super::admin::names_of;
use super::reached::{READ, check_mappings, check_settings, limits_of_new};
use super::{IndicesOptions, alias_filter, deprecated, dotted, failure, filters};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Limits, Making};
use crate::index::block::{self, Level};
use crate::index::date_math;
use crate::index::resolve::{Call, matches};

/// Answer of index creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// Concrete name.
    pub index: String,
    /// Its shards opened.
    pub shards_acknowledged: bool,
}

/// How often templates may change under what is made for a first document.
const AUTO_CREATE_ROUNDS_MAX: usize = 8;

impl<E: Env> Core<E> {
    /// Makes an index of which nobody waits for copies.
    ///
    /// # Errors
    /// As [`Core::create_index_of`].
    pub async fn create_index(
        self: &Rc<Self>,
        gate: &dyn Gate,
        name: &str,
        body: &Value,
    ) -> Result<Created> {
        self.create_index_of(gate, name, body.clone(), None).await
    }

    /// Makes an index; `body` is the request's object with `settings`, `mappings`, `aliases`. So many
    /// `copies` of each shard will be waited for: there must be as many.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn create_index_of(
        self: &Rc<Self>,
        gate: &dyn Gate,
        name: &str,
        mut body: Value,
        copies: Option<u32>,
    ) -> Result<Created> {
        let provided = name;
        let name = date_math::resolve(name, self.now_ms())?.into_owned();
        gate.index("indices:admin/create", &name)?;
        block::check_cluster_of(&self.state(), [&*name], Level::MetadataWrite)?;
        if let Some(object) = body.as_object()
            && let Some(unknown) =
                object.keys().find(|key| !["settings", "mappings", "aliases"].contains(key))
        {
            return Err(Error::parse(format!("unknown key [{unknown}] for create index")));
        }
        dotted::warn(gate, provided);
        let aliases = self.aliases_of(gate, &name, take_part(&mut body, "aliases")?).await?;
        let mappings = take_part(&mut body, "mappings")?;
        if is_typed(&mappings) {
            return Err(Error::illegal_argument(
                "The mapping definition cannot be nested under a type",
            ));
        }
        let new = NewIndex {
            provided: provided.to_owned(),
            settings: plain(take_part(&mut body, "settings")?)?,
            mappings,
            aliases,
            ..NewIndex::new(&name, self.uuid(), self.now_ms())
        };
        let limits = limits_of_new(gate, "indices:admin/create", &self.state(), &new);
        check_mappings(&limits, ("indices:admin/create", &name), &new.mappings)?;
        check_settings(&limits, ("indices:admin/create", &name), &new.settings)?;
        let uuid = new.uuid;
        deprecated::mappings(gate, Some(&new.mappings));
        self.warn_of_templates(gate, &name, &new.settings);
        let command = Command::CreateIndex(new);
        self.check_copies(&command, uuid, copies)?;
        gate.begins("indices:admin/create", vec![name.clone()]).await?;
        self.done(command).await?;
        self.warn_of_new(gate, uuid);
        Ok(Created { index: name, shards_acknowledged: self.is_whole(uuid) })
    }

    /// Would the index that `command` makes have so many copies of each shard? What is wrong with the
    /// command itself is told when it is done.
    pub(crate) fn check_copies(
        &self,
        command: &Command,
        uuid: [u8; 16],
        copies: Option<u32>,
    ) -> Result<()> {
        let Some(asked) = copies.filter(|&copies| copies > 1) else { return Ok(()) };
        let (state, _) = cluster::apply(&self.state(), command);
        let Some(index) = state.index_by_uuid(uuid) else { return Ok(()) };
        let there = index.settings.replica_count().saturating_add(1);
        if asked <= there {
            return Ok(());
        }
        Err(Error::illegal_argument(format!(
            "invalid wait_for_active_shards[{asked}]: cannot be greater than number of shard copies \
             [{there}]"
        )))
    }

    /// `aliases` of a request that makes index `name`: names worked out, filters read, and the
    /// caller asked whether it may.
    pub(crate) async fn aliases_of(
        &self,
        gate: &dyn Gate,
        name: &str,
        aliases: Value,
    ) -> Result<Value> {
        let Value::Object(object) = aliases else { return Ok(aliases) };
        let mut out = json::Object::new();
        for (alias, said) in object {
            self.env.spawn().yield_if_needed().await;
            let alias = date_math::resolve(&alias, self.now_ms())?;
            gate.index("indices:admin/aliases", name)?;
            gate::ask_alias(gate, "indices:admin/aliases", &*self.state(), &alias)?;
            alias_filter::check_query(gate, &alias, said.get("filter"))?;
            // What of such an index is hidden from the caller will be, once it is written there.
            let actions = ["indices:admin/aliases", READ].into_iter();
            let limits: Vec<Limits> =
                actions.filter_map(|action| gate.index(action, name).ok()).collect();
            filters::check(&limits, None, &alias, said.get("filter"))?;
            out.insert(&*alias, said);
        }
        Ok(Value::Object(out))
    }

    /// Do all shards of the index serve?
    pub(crate) fn is_whole(&self, uuid: [u8; 16]) -> bool {
        let state = self.state();
        let directory = self.directory();
        state.index_by_uuid(uuid).is_some_and(|index| {
            (0..index.settings.shard_count()).all(|number| {
                let shard = base::ShardId { index: uuid, number };
                matches!(directory.shards.get(&shard), Some(crate::node::Entry::Open(_)))
            })
        })
    }

    /// Makes the index `name` (or a data stream, where a template says so) for a first document, which
    /// was sent to `provided`: the same, or date math that means it. It may ask for a data stream and
    /// nothing else. Another request may have been faster. The caller has asked the gate, which hears
    /// warnings, and what was made.
    ///
    /// # Errors
    /// Where no index may be made so, in Elasticsearch's words.
    pub(crate) async fn auto_create(
        self: &Rc<Self>,
        gate: &dyn Gate,
        provided: &str,
        name: &str,
        only_stream: bool,
    ) -> Result<()> {
        dotted::warn(gate, provided);
        let mut round = 1;
        loop {
            let looked = Arc::clone(&self.state().templates);
            let made = self.create_for_document(gate, provided, name, only_stream).await;
            // Where templates came or went before the turn, it is as if nobody had looked.
            let is_told = made.is_ok() || Arc::ptr_eq(&looked, &self.state().templates);
            if is_told || round == AUTO_CREATE_ROUNDS_MAX {
                return made;
            }
            round += 1;
        }
    }

    /// As [`Core::auto_create`], by one look at the templates.
    async fn create_for_document(
        self: &Rc<Self>,
        gate: &dyn Gate,
        provided: &str,
        name: &str,
        only_stream: bool,
    ) -> Result<()> {
        let state = self.state();
        block::check_cluster(&state, Level::MetadataWrite)?;
        let template = state.templates.find(name, false).map(|(_, template)| template);
        let makes_stream = template.is_some_and(|template| template.data_stream.is_some());
        if only_stream && !makes_stream {
            return Err(not_made(
                name,
                "the index creation request requires a data stream, but no matching index template \
                 with data stream template was found for it",
            ));
        }
        match template.and_then(|template| template.allow_auto_create) {
            Some(true) => {}
            Some(false) => {
                let patterns =
                    template.map(|template| template.patterns.join(", ")).unwrap_or_default();
                return Err(not_made(
                    name,
                    &format!("composable template [{patterns}] forbids index auto creation"),
                ));
            }
            None => self.may_auto_create(name)?,
        }
        if !makes_stream {
            // A request may bring a hundred thousand names that are none: the keeper need not tell each so.
            cluster::name::check_index(name).map_err(failure::of_cluster)?;
        }
        gate.may_make(Making::Missing, name).await?;
        let made = if makes_stream {
            self.new_stream(name).await
        } else {
            let new = NewIndex {
                provided: provided.to_owned(),
                ..NewIndex::new(name, self.uuid(), self.now_ms())
            };
            self.warn_of_templates(gate, name, &new.settings);
            let uuid = new.uuid;
            let made = self.change(Command::CreateIndex(new)).await;
            self.warn_of_new(gate, uuid);
            made
        };
        match made {
            Ok(Outcome::Refused(
                exists @ (cluster::Error::Exists { .. } | cluster::Error::StreamExists { .. }),
            )) => {
                gate.not_made(Making::Missing, name, &failure::of_cluster(exists).reason);
                Ok(())
            }
            Ok(Outcome::Refused(error)) => {
                let error = failure::of_cluster(error);
                gate.not_made(Making::Missing, name, &error.reason);
                Err(error)
            }
            Err(error) => {
                gate.not_made(Making::Missing, name, &error.reason);
                Err(error)
            }
            Ok(_) => {
                gate.made(Making::Missing, name);
                Ok(())
            }
        }
    }

    /// `action.auto_create_index`: the first pattern that fits decides.
    fn may_auto_create(&self, name: &str) -> Result<()> {
        let state = self.state();
        let list = state.settings.list("action.auto_create_index");
        match list.as_slice() {
            [] => return Ok(()),
            [only] if only == "true" => return Ok(()),
            [only] if only == "false" => {
                return Err(not_made(name, "[action.auto_create_index] is [false]"));
            }
            _ => {}
        }
        for pattern in &list {
            let (allows, plain) = match pattern.strip_prefix('-') {
                Some(rest) => (false, rest),
                None => (true, pattern.strip_prefix('+').unwrap_or(pattern)),
            };
            if matches(plain, name) {
                if allows {
                    return Ok(());
                }
                return Err(not_made(
                    name,
                    &format!(
                        "[action.auto_create_index] contains [{pattern}] which forbids automatic \
                         creation of the index"
                    ),
                ));
            }
        }
        let list = list.join(",");
        Err(not_made(name, &format!("[action.auto_create_index] ([{list}]) doesn't match")))
    }

    /// Takes indices away; wildcards are refused, as Elasticsearch does by default.
    ///
    /// # Errors
    /// A missing index, a wildcard, an alias, a block.
    pub async fn delete_index(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<()> {
        if expression.is_empty() {
            return Err(Error::validation(&["index / indices is missing"]));
        }
        self.refuse_destructive(expression)?;
        let call = Call { forbid_closed: false, ignore_aliases: true, ..Call::new(options) };
        let indices = self.indices(gate, "indices:admin/delete", expression, call).await?;
        if indices.is_empty() {
            return Ok(());
        }
        let names = indices.iter().map(|index| &*index.name);
        block::check_cluster_of(&self.state(), names, Level::Delete)?;
        block::check_all(indices.iter().map(|index| &**index), Level::Delete)?;
        block::check_uncopied(&self.state(), indices.iter().map(|index| &**index))?;
        let uuids = indices.iter().map(|index| index.uuid).collect();
        let first = Arc::clone(&indices[0].name);
        gate.begins("indices:admin/delete", names_of(&indices)).await?;
        let deleted = self.done(Command::DeleteIndices { uuids }).await;
        // Another has deleted it meanwhile; it is known there by its id.
        deleted.map_err(|error| match &*error.kind {
            "index_not_found_exception" => Error::index_not_found(&first, "index_or_alias"),
            _ => error,
        })
    }

    /// `action.destructive_requires_name`: what takes away must say what.
    pub(crate) fn refuse_destructive(&self, expression: &str) -> Result<()> {
        if !self.state().settings.flag("action.destructive_requires_name") {
            return Ok(());
        }
        let parts: Vec<&str> = expression.split(',').collect();
        // Nothing at all, in a form that tools send.
        if parts == ["*", "-*"] {
            return Ok(());
        }
        if parts.iter().any(|part| *part == "_all" || part.contains('*') || part.is_empty()) {
            return Err(Error::illegal_argument(
                "Wildcard expressions or all indices are not allowed",
            ));
        }
        Ok(())
    }
}

/// Do these mappings have the level of a type, as those of Elasticsearch 6 had?
pub(crate) fn is_typed(mappings: &Value) -> bool {
    mappings.as_object().is_some_and(|object| object.len() == 1 && object.contains_key("_doc"))
}

/// As [`part`], taken out of the body.
fn take_part(body: &mut Value, key: &str) -> Result<Value> {
    match body.as_object_mut().and_then(|object| object.remove(key)) {
        None => Ok(Value::object()),
        Some(value @ Value::Object(_)) => Ok(value),
        Some(_) => Err(no_object(key)),
    }
}

/// The settings of a body as they go into a command.
pub(crate) fn settings_part(body: &Value) -> Result<Value> {
    plain(part(body, "settings")?)
}

/// Settings as they go into a command.
fn plain(settings: Value) -> Result<Value> {
    Ok(match cluster::settings::plain(&settings).map_err(failure::of_cluster)? {
        Cow::Owned(other) => other,
        Cow::Borrowed(_) => settings,
    })
}

/// A part of the body that is an object; empty where there is none.
pub(crate) fn part(body: &Value, key: &str) -> Result<Value> {
    match body.get(key) {
        None => Ok(Value::object()),
        Some(value @ Value::Object(_)) => Ok(value.clone()),
        Some(_) => Err(no_object(key)),
    }
}

fn no_object(key: &str) -> Error {
    Error::parse(format!("key [{key}] must be an object"))
}

fn not_made(name: &str, why: &str) -> Error {
    Error::new(404, "index_not_found_exception", format!("no such index [{name}] and {why}"))
        .with("index_uuid", "_na_")
        .with("index", name)
}
