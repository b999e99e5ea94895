//! Settings of indices, blocks, opening and closing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::ShardId;
use cluster::{Command, Index, Rules};
use env::{Clock, Env};
use json::{Object, Value};

use super::admin::names_of;
use super::reached::check_settings;
use super::{IndicesOptions, deprecated};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::host::call::{Called, ShardCall};
use crate::index::block::{self, Level};
use crate::index::resolve::Call;

/// How `PUT _settings` treats what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SettingsChange {
    /// What is set stays.
    pub preserve: bool,
    /// What only a closed index takes is given to open ones too.
    pub reopen: bool,
}

/// Settings that are to be set, each by its whole name.
#[derive(Clone, Debug)]
pub struct NewSettings {
    settings: Value,
    /// They may take a block of an index back.
    unblocks: bool,
    /// Some are deprecated.
    warns: bool,
    /// Sizes of numbers that are not whole.
    fractions: Vec<(String, String)>,
    /// A name with a star that takes nothing back: it has a value, or the star is not at its end.
    starred: Option<String>,
    /// Why they cannot be, of what is told first where nothing is wrong with its name.
    wrong: Option<Error>,
}

impl NewSettings {
    /// Reads a body: settings, perhaps below `settings`. That goes through all of it, so a long one belongs on a
    /// worker ([`Core::read_text`]).
    ///
    /// # Errors
    /// What is no setting by its shape; none at all.
    pub fn read(body: &Value) -> Result<Self> {
        let settings = match body.get("settings") {
            Some(settings @ Value::Object(_)) => settings,
            _ => body,
        };
        let named = cluster::settings::flatten(settings).map_err(super::failure::of_cluster)?;
        if named.is_empty() {
            return Err(Error::validation(&["no settings to update"]));
        }
        let mut flat = BTreeMap::new();
        let mut starred: Option<String> = None;
        for (name, value) in named {
            let takes_back = value.is_null() && name.ends_with('*');
            if name.contains('*') && !takes_back {
                let name = if name.ends_with('*') { name } else { whole_name(&name) };
                starred =
                    Some(starred.map_or_else(|| name.clone(), |first| first.min(name.clone())));
            } else if takes_back {
                flat.extend(whole_patterns(&name).into_iter().map(|name| (name, Value::Null)));
            } else {
                flat.insert(whole_name(&name), value);
            }
        }
        let has = |name: &str| flat.contains_key(name);
        let unblocks = has("index.blocks.read_only")
            || has("index.blocks.read_only_allow_delete")
            || (has("index.blocks.metadata") && flat.len() == 1);
        let warns = deprecated::names_any(flat.keys().map(String::as_str));
        let given = flat.iter().map(|(name, value)| (name.as_str(), value));
        let fractions = deprecated::fractions(given, cluster::settings::fraction);
        let settings = Value::Object(flat.into_iter().collect());
        let (settings, wrong) = match cluster::settings::plain(&settings) {
            Ok(Cow::Owned(other)) => (other, None),
            Ok(Cow::Borrowed(_)) => (settings, None),
            Err(error) => (settings, Some(super::failure::of_cluster(error))),
        };
        Ok(Self { settings, unblocks, warns, fractions, starred, wrong })
    }
}

/// What the names of all settings of an index begin with.
const PREFIX: &str = "index.";

/// The name of a setting with its prefix.
fn whole_name(name: &str) -> String {
    if name.starts_with(PREFIX) { name.to_owned() } else { format!("{PREFIX}{name}") }
}

/// Elasticsearch puts no prefix before a pattern: what it means among names that have one may be several
/// patterns, or none.
fn whole_patterns(name: &str) -> Vec<String> {
    if name.starts_with(PREFIX) {
        return vec![name.to_owned()];
    }
    let letters = name.as_bytes();
    // Where the pattern may stand when it has matched so much of the prefix.
    let mut places = BTreeSet::from([0]);
    for letter in PREFIX.bytes() {
        let mut next = BTreeSet::new();
        for mut place in places {
            if letters.get(place) == Some(&b'*') {
                next.insert(place);
            }
            // Several stars are as one.
            while letters.get(place) == Some(&b'*') {
                place += 1;
            }
            if letters.get(place) == Some(&letter) {
                next.insert(place + 1);
            }
        }
        places = next;
    }
    places.into_iter().map(|place| format!("{PREFIX}{}", &name[place..])).collect()
}

/// Answer of opening, closing, and of setting a block: names, and whether it was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switched {
    /// In order.
    pub indices: Vec<String>,
}

/// Why settings of which one is `starred` cannot be: what is wrong with the others is told first.
fn not_recognized(settings: &Value, index: &Index, change: SettingsChange, starred: &str) -> Error {
    let plain: Object = settings
        .as_object()
        .into_iter()
        .flat_map(|all| all.iter())
        .filter(|(name, _)| !name.contains('*'))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    let label = format!("{}/{}", index.name, index.uuid_text());
    let open = index.open && !change.reopen;
    match index.settings.update(&Value::Object(plain), change.preserve, (open, Rules::Now), &label)
    {
        Err(error) => super::failure::of_cluster(error),
        Ok(_) => {
            Error::illegal_argument(format!("{} setting [{starred}], not recognized", index.name))
        }
    }
}

/// How long is waited for writes that passed a block before it was there.
const QUIET_WAIT: Duration = Duration::from_secs(30);

/// How often it is looked.
const QUIET_POLL: Duration = Duration::from_millis(2);

/// Blocks that may be set by name.
const BLOCKS: [&str; 4] = ["metadata", "read", "read_only", "write"];

impl<E: Env> Core<E> {
    /// Changes settings of indices, all or none.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn put_settings(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        new: NewSettings,
        change: SettingsChange,
    ) -> Result<()> {
        let NewSettings { settings, unblocks, warns, fractions, starred, wrong } = new;
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let action = "indices:admin/settings/update";
        let reached = self.reached(gate, action, expression, call).await?;
        for one in &reached {
            check_settings(&one.seen(gate), (action, &one.index.name), &settings)?;
        }
        let indices: Vec<Arc<Index>> = reached.into_iter().map(|one| one.index).collect();
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        // Whoever takes a block of an index back must get through it.
        if !unblocks {
            block::check_all(indices.iter().map(|index| &**index), Level::MetadataWrite)?;
        }
        if let (Some(starred), Some(first)) = (starred, indices.first()) {
            return Err(not_recognized(&settings, first, change, &starred));
        }
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let uuids: Vec<[u8; 16]> = indices.iter().map(|index| index.uuid).collect();
        let put = Command::PutSettings {
            uuids: uuids.clone(),
            settings,
            preserve: change.preserve,
            rules: Rules::Now,
        };
        let open: Vec<[u8; 16]> =
            indices.iter().filter(|index| index.open).map(|index| index.uuid).collect();
        let command = if change.reopen && !open.is_empty() {
            // One change, so that nobody meets a closed index; of its settings that one alone is counted.
            let rules = Rules::Before;
            Command::Batch(vec![
                Command::SetOpen { uuids: open.clone(), open: false, rules },
                put,
                Command::SetOpen { uuids: open, open: true, rules },
            ])
        } else {
            put
        };
        gate.begins("indices:admin/settings/update", names_of(&indices)).await?;
        self.done(command).await?;
        fractions.iter().for_each(|(name, text)| deprecated::fraction(gate, name, text));
        for &uuid in uuids.iter().filter(|_| warns) {
            self.warn_of_settings(gate, uuid);
        }
        self.configure(&uuids).await;
        Ok(())
    }

    /// Lets the shards of these indices take their settings as they are in the state by then: another change
    /// of them may come meanwhile, and end before this one.
    async fn configure(self: &Rc<Self>, uuids: &[[u8; 16]]) {
        let state = self.state();
        for index in uuids.iter().filter_map(|&uuid| state.index_by_uuid(uuid)) {
            if !index.open {
                continue;
            }
            for number in 0..index.settings.shard_count() {
                let shard = ShardId { index: index.uuid, number };
                // A shard that does not serve reads its settings when it opens.
                let _gone: Called<()> =
                    self.ask(shard, |reply| ShardCall::Configure { reply }).await;
            }
        }
    }

    /// Closes indices: they keep their documents and serve nobody.
    ///
    /// # Errors
    /// A missing index, a wildcard where none is allowed, a block.
    pub async fn close_indices(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Switched> {
        self.refuse_destructive(expression)?;
        if !self.state().settings.flag("cluster.indices.close.enable") {
            return Err(Error::new(
                500,
                "illegal_state_exception",
                "closing indices is disabled - set [cluster.indices.close.enable: true] to enable \
                 it. NOTE: closed indices still consume a significant amount of diskspace",
            ));
        }
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let indices = self.indices(gate, "indices:admin/close", expression, call).await?;
        let names = indices.iter().map(|index| &*index.name);
        block::check_cluster_of(&self.state(), names, Level::MetadataWrite)?;
        block::check_all(indices.iter().map(|index| &**index), Level::MetadataWrite)?;
        // What is copied would have no place to go.
        indices.iter().try_for_each(|index| block::check_whole(index))?;
        let open: Vec<&Arc<Index>> = indices.iter().filter(|index| index.open).collect();
        let uuids: Vec<[u8; 16]> = open.iter().map(|index| index.uuid).collect();
        let names: Vec<String> = open.iter().map(|index| index.name.to_string()).collect();
        if !uuids.is_empty() {
            gate.begins("indices:admin/close", names.clone()).await?;
            self.done(Command::SetOpen { uuids, open: false, rules: Rules::Now }).await?;
        }
        Ok(Switched { indices: names })
    }

    /// Thaws indices. None is ever frozen, so nothing is done, and that is told where some must be.
    ///
    /// # Errors
    /// A missing index, a block, and where one must be found.
    pub async fn thaw_indices(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<()> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let indices = self.indices(gate, "indices:admin/freeze", expression, call).await?;
        let names = indices.iter().map(|index| &*index.name);
        block::check_cluster_of(&self.state(), names, Level::MetadataWrite)?;
        block::check_all(indices.iter().map(|index| &**index), Level::MetadataWrite)?;
        if options.allow_no_indices {
            return Ok(());
        }
        Err(Error::new(404, "resource_not_found_exception", "no index found to unfreeze"))
    }

    /// Opens indices; true where all their shards serve. Those that were open already are named too.
    ///
    /// # Errors
    /// A missing index, a wildcard where none is allowed, a block.
    pub async fn open_indices(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<(Switched, bool)> {
        self.refuse_destructive(expression)?;
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let indices = self.indices(gate, "indices:admin/open", expression, call).await?;
        let names = indices.iter().map(|index| &*index.name);
        block::check_cluster_of(&self.state(), names, Level::MetadataWrite)?;
        block::check_all(indices.iter().map(|index| &**index), Level::MetadataWrite)?;
        let uuids: Vec<[u8; 16]> = indices.iter().map(|index| index.uuid).collect();
        let names = names_of(&indices);
        if !uuids.is_empty() {
            gate.begins("indices:admin/open", names.clone()).await?;
            let rules = Rules::Now;
            self.done(Command::SetOpen { uuids: uuids.clone(), open: true, rules }).await?;
        }
        Ok((Switched { indices: names }, uuids.iter().all(|&uuid| self.is_whole(uuid))))
    }

    /// Sets a block, and waits for the writes that came before it.
    ///
    /// # Errors
    /// An unknown block, a missing index, the write index of a data stream, another block.
    pub async fn add_block(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        name: &str,
    ) -> Result<Switched> {
        if name == "read_only_allow_delete" {
            return Err(Error::validation(&[
                "read_only_allow_delete block is for internal use only",
            ]));
        }
        if !BLOCKS.contains(&name) {
            return Err(Error::illegal_argument(format!("No block found with name {name}")));
        }
        self.refuse_destructive(expression)?;
        let call = Call { forbid_closed: false, ..Call::new(options) };
        let indices = self.indices(gate, "indices:admin/block/add", expression, call).await?;
        let state = self.state();
        let names = indices.iter().map(|index| &*index.name);
        block::check_cluster_of(&state, names, Level::MetadataWrite)?;
        // One that forbids changes may stand beside another that does.
        if matches!(name, "read" | "write") {
            block::check_all(indices.iter().map(|index| &**index), Level::MetadataWrite)?;
        }
        let takes_writes = |name: &str| {
            state.data_stream_of(name).is_some_and(|stream| stream.write_index() == name)
        };
        let written: Vec<&str> =
            indices.iter().map(|index| &*index.name).filter(|name| takes_writes(name)).collect();
        if !written.is_empty() {
            return Err(Error::illegal_argument(format!(
                "cannot add a block to the following data stream write indices [{}]",
                written.join(",")
            )));
        }
        let uuids: Vec<[u8; 16]> = indices.iter().map(|index| index.uuid).collect();
        if uuids.is_empty() {
            return Ok(Switched::default());
        }
        let mut settings = Object::new();
        settings.insert(format!("index.blocks.{name}"), "true");
        let settings = Value::Object(settings);
        gate.begins("indices:admin/block/add", names_of(&indices)).await?;
        self.done(Command::PutSettings { uuids, settings, preserve: false, rules: Rules::Now })
            .await?;
        for index in &indices {
            self.quiet(index).await;
        }
        Ok(Switched { indices: names_of(&indices) })
    }

    /// Ends when the index's shards have nothing under way: what was written before a block is
    /// applied then. A shard that never rests is given up after a while.
    pub(crate) async fn quiet(self: &Rc<Self>, index: &Index) {
        if !index.open {
            return;
        }
        let begin = self.env.clock().monotonic();
        for number in 0..index.settings.shard_count() {
            let shard = ShardId { index: index.uuid, number };
            let mut last = None;
            loop {
                let stats: Called<shard::Stats> =
                    self.ask(shard, |reply| ShardCall::Stats { reply }).await;
                let Ok(stats) = stats else { break };
                let now = (stats.seq_no_max, stats.seq_no_applied);
                // Twice the same, and nothing decided that is not applied.
                if now.0 == now.1 && last == Some(now) {
                    break;
                }
                last = Some(now);
                if self.env.clock().monotonic().saturating_sub(begin) > QUIET_WAIT {
                    return;
                }
                self.env.clock().sleep(QUIET_POLL).await;
            }
        }
    }
}
