//! `_resolve/index` and `_search_shards`: what names stand for.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use cluster::{Index, State};
use env::Env;
use json::Value;

use super::IndicesOptions;
use super::reached::Reached;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate};
use crate::index::block::{self, Level};
use crate::index::names::beginning;
use crate::index::preference::Preference;
use crate::index::resolve::{
    Call, Effort, Parts, Pattern, is_whole, no_such_cluster, read, resolve,
};
use crate::index::route::Route;

/// What an expression names, by kind, each sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedNames {
    /// Indices.
    pub indices: Vec<ResolvedIndex>,
    /// Aliases, each with its indices.
    pub aliases: Vec<(String, Vec<String>)>,
    /// Data streams, each with its indices.
    pub streams: Vec<(String, Vec<String>)>,
}

/// One index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedIndex {
    /// Its name.
    pub name: String,
    /// Its aliases, sorted.
    pub aliases: Vec<String>,
    /// `open`, `closed`, `hidden`.
    pub attributes: Vec<&'static str>,
    /// The data stream that it is part of.
    pub stream: Option<String>,
}

/// A shard that a search would ask.
#[derive(Clone, Debug)]
pub struct SearchShard {
    /// Its index.
    pub index: Arc<Index>,
    /// Its number.
    pub number: u32,
}

/// Answer of `_search_shards`.
#[derive(Clone, Debug, Default)]
pub struct SearchShards {
    /// Each index with the aliases that led there, and the filter that they lay on it.
    pub indices: Vec<(String, Vec<String>, Option<Value>)>,
    /// The shards, in order.
    pub shards: Vec<SearchShard>,
}

impl<E: Env> Core<E> {
    /// What `expression` names.
    ///
    /// # Errors
    /// A concrete name that nothing bears.
    pub async fn resolve_names(
        &self,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<ResolvedNames> {
        let state = self.state();
        let pause = self.pause();
        let mut named = Named {
            state: &state,
            gate,
            call: Call::new(options),
            indices: BTreeMap::new(),
            aliases: BTreeMap::new(),
            streams: BTreeMap::new(),
            effort: Effort::new(&pause),
        };
        // Two stars, as Elasticsearch has it: they mean aliases, too, and are a name where nothing expands.
        let all = is_whole(expression) || expression == "*";
        let expression = if all { "**" } else { expression };
        read(expression, named.call, self.now_ms(), &mut named).await?;
        let Named { indices, aliases, streams, .. } = named;
        Ok(ResolvedNames {
            indices: indices
                .into_iter()
                .map(|(name, index)| ResolvedIndex {
                    name: name.to_owned(),
                    aliases: index
                        .aliases
                        .keys()
                        .filter(|alias| gate.sees(RESOLVE, alias))
                        .map(ToString::to_string)
                        .collect(),
                    attributes: attributes(index),
                    stream: state.data_stream_of(name).map(|stream| stream.name.to_string()),
                })
                .collect(),
            aliases: aliases.into_iter().map(|(name, list)| (name.to_owned(), list)).collect(),
            streams: streams.into_iter().map(|(name, list)| (name.to_owned(), list)).collect(),
        })
    }

    /// The shards that a search of `expression` with these routing values and this preference
    /// would ask.
    ///
    /// # Errors
    /// A missing index; what the gate says.
    pub async fn search_shards(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        (routing, preference): (&[String], &Preference),
    ) -> Result<SearchShards> {
        const ACTION: &str = "indices:admin/shards/search_shards";
        let state = self.state();
        let sees = gate::sees(gate, ACTION, &*state);
        let now_ms = self.now_ms();
        let asked = gate::Named { action: ACTION, expression, names: &*state, now_ms };
        let told = |error| gate::told(gate, &asked, error);
        // A closed index has its shards, too.
        let (names, pause) = (Call { forbid_closed: false, ..Call::new(options) }, self.pause());
        let resolved = resolve(&*state, expression, names, now_ms, sees, &pause).await;
        let mut resolved = resolved.map_err(told)?;
        let aliases = aliases_of(&state, expression, now_ms, &pause).await?;
        resolved.sort_by(|a, b| a.index.cmp(&b.index));
        let mut reply = SearchShards::default();
        for one in &resolved {
            pause().await;
            let limits = match gate::ask(gate, ACTION, &one.index, &one.via) {
                Ok(limits) => limits,
                Err(_) if options.ignore_unavailable => continue,
                Err(error) => return Err(told(error)),
            };
            let Some(index) = state.index(&one.index) else { continue };
            block::check(index, Level::MetadataRead)?;
            let reached = Reached { index: Arc::clone(index), via: one.via.clone(), limits };
            let named: Vec<String> = index
                .aliases
                .keys()
                .filter(|name| aliases.contains(&***name) && gate.sees(ACTION, name))
                .map(ToString::to_string)
                .collect();
            let filter = match one.filters.as_slice() {
                [] => None,
                _ if reached.is_limited(gate) => None,
                [only] => Some(only.clone()),
                several => Some(json::json!({"bool": {"should": (several.to_vec())}})),
            };
            reply.indices.push((one.index.clone(), named, filter));
            let count = index.settings.shard_count();
            let routing = one.routing(routing);
            let mut numbers: Vec<u32> = if routing.is_empty() {
                (0..count).collect()
            } else {
                let route = Route::of(&index.settings);
                routing.iter().flat_map(|value| route.shards(value)).collect()
            };
            numbers.sort_unstable();
            numbers.dedup();
            for number in numbers {
                if !preference.takes(&index.name, number)? {
                    continue;
                }
                reply.shards.push(SearchShard { index: Arc::clone(index), number });
            }
        }
        Ok(reply)
    }
}

/// The aliases that an expression means, which is read without regard for what is missing: as Elasticsearch
/// does, by whatever its options find the indices.
async fn aliases_of<'s>(
    state: &'s State,
    expression: &str,
    now_ms: i64,
    pause: &impl AsyncFn(),
) -> Result<BTreeSet<&'s str>> {
    let options = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::default() };
    let call = Call::new(options);
    let mut meant = Meant { state, call, aliases: BTreeSet::new(), effort: Effort::new(pause) };
    read(expression, call, now_ms, &mut meant).await?;
    Ok(meant.aliases)
}

/// The aliases that the parts of an expression mean so far.
struct Meant<'s, 'p, P> {
    state: &'s State,
    call: Call,
    aliases: BTreeSet<&'s str>,
    effort: Effort<'p, P>,
}

impl<P: AsyncFn()> Parts for Meant<'_, '_, P> {
    async fn part(&mut self) -> Result<()> {
        self.effort.part().await
    }

    fn name(&mut self, name: &str) -> Result<()> {
        self.aliases.extend(self.state.aliases.get_key_value(name).map(|(name, _)| &**name));
        Ok(())
    }

    fn except_name(&mut self, name: &str) {
        self.aliases.remove(name);
    }

    async fn pattern(&mut self, pattern: &Pattern<'_>) -> bool {
        self.wildcard(pattern, false).await
    }

    async fn except_pattern(&mut self, pattern: &Pattern<'_>) -> bool {
        self.wildcard(pattern, true).await
    }

    async fn excepted(&mut self) {}
}

impl<P: AsyncFn()> Meant<'_, '_, P> {
    /// Adds what a pattern meets, or takes it away. Always true: that a pattern meets nothing is no error here.
    async fn wildcard(&mut self, pattern: &Pattern<'_>, excludes: bool) -> bool {
        let (state, call) = (self.state, self.call);
        for (name, members) in beginning(&state.aliases, pattern.prefix) {
            self.effort.look().await;
            if pattern.fits(name) && pattern.shows(name, is_hidden(state, name, members), call) {
                match excludes {
                    true => self.aliases.remove(name),
                    false => self.aliases.insert(name),
                };
            }
        }
        true
    }
}

/// Is an alias passed over by wildcards?
fn is_hidden(state: &State, name: &str, members: &[Arc<str>]) -> bool {
    members.iter().all(|index| {
        let alias = state.index(index).and_then(|it| it.aliases.get(name));
        alias.is_some_and(|alias| alias.is_hidden == Some(true))
    })
}

/// What the gate is asked of names that are resolved.
const RESOLVE: &str = "indices:admin/resolve/index";

/// What the parts of an expression name so far, by kind.
struct Named<'s, P> {
    state: &'s State,
    gate: &'s dyn Gate,
    call: Call,
    indices: BTreeMap<&'s str, &'s Arc<Index>>,
    aliases: BTreeMap<&'s str, Vec<String>>,
    streams: BTreeMap<&'s str, Vec<String>>,
    effort: Effort<'s, P>,
}

impl<P: AsyncFn()> Parts for Named<'_, P> {
    async fn part(&mut self) -> Result<()> {
        self.effort.part().await
    }

    fn name(&mut self, name: &str) -> Result<()> {
        let state = self.state;
        if let Some((cluster, _)) = name.split_once(':') {
            return Err(no_such_cluster(cluster));
        }
        // Asked before it is looked up: whether a hidden name exists is nobody's business.
        self.gate.index(RESOLVE, name)?;
        if let Some((name, index)) = state.indices.get_key_value(name) {
            self.indices.insert(name, index);
        } else if let Some((name, members)) = state.aliases.get_key_value(name) {
            let reached = self.reached(name, members);
            if let (true, Some(first)) = (reached.is_empty(), members.first()) {
                self.gate.index_by_alias(RESOLVE, first, name)?;
            }
            self.aliases.insert(name, reached);
        } else if let Some((name, stream)) = state.data_streams.get_key_value(name) {
            let reached = self.reached(name, &stream.indices);
            self.streams.insert(name, reached);
        } else if !self.call.options.ignore_unavailable {
            return Err(Error::index_not_found(name, self.call.resource_type));
        }
        Ok(())
    }

    fn except_name(&mut self, name: &str) {
        self.indices.remove(name);
        self.aliases.remove(name);
        self.streams.remove(name);
    }

    async fn pattern(&mut self, pattern: &Pattern<'_>) -> bool {
        self.wildcard(pattern, false).await
    }

    async fn except_pattern(&mut self, pattern: &Pattern<'_>) -> bool {
        self.wildcard(pattern, true).await
    }

    async fn excepted(&mut self) {}
}

impl<P: AsyncFn()> Named<'_, P> {
    /// Adds what a pattern meets, or takes it away. True where it met something that the caller may see.
    async fn wildcard(&mut self, pattern: &Pattern<'_>, excludes: bool) -> bool {
        let (state, gate, call) = (self.state, self.gate, self.call);
        let IndicesOptions { allow_no_indices, expand_open, expand_closed, .. } = call.options;
        let shows = |name: &str, hidden| pattern.shows(name, hidden, call);
        // Whether what is taken away may be seen is asked only where that makes an error.
        let sees = |name: &str| excludes && allow_no_indices || gate.sees(RESOLVE, name);
        let mut met = false;
        for (name, index) in beginning(&state.indices, pattern.prefix) {
            self.effort.look().await;
            let expands = if index.open { expand_open } else { expand_closed };
            if expands && pattern.fits(name) && shows(name, index.hidden()) {
                match excludes {
                    true => self.indices.remove(name),
                    false if sees(name) => self.indices.insert(name, index),
                    false => continue,
                };
                met |= !excludes || sees(name);
            }
        }
        for (name, members) in beginning(&state.aliases, pattern.prefix) {
            self.effort.look().await;
            if !pattern.fits(name) || !shows(name, is_hidden(state, name, members)) {
                continue;
            }
            if excludes {
                self.aliases.remove(name);
                met |= sees(name);
            } else if sees(name) {
                let reached = self.reached(name, members);
                if !reached.is_empty() {
                    self.aliases.insert(name, reached);
                    met = true;
                }
            }
        }
        for (name, stream) in beginning(&state.data_streams, pattern.prefix) {
            self.effort.look().await;
            if !pattern.fits(name) || !shows(name, stream.hidden) {
                continue;
            }
            if excludes {
                self.streams.remove(name);
            } else if sees(name) {
                let reached = self.reached(name, &stream.indices);
                self.streams.insert(name, reached);
            }
            met |= sees(name);
        }
        met
    }

    /// Who was granted the name of an alias was not granted all that it leads to.
    fn reached(&self, name: &str, members: &[Arc<str>]) -> Vec<String> {
        let leads = |index: &&Arc<str>| self.gate.sees_by_alias(RESOLVE, index, name);
        members.iter().filter(leads).map(ToString::to_string).collect()
    }
}

fn attributes(index: &Index) -> Vec<&'static str> {
    let mut attributes = vec![if index.open { "open" } else { "closed" }];
    if index.hidden() {
        attributes.push("hidden");
    }
    attributes.sort_unstable();
    attributes
}
