//! `_resolve/index` and `_search_shards`: what names stand for.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;

use cluster::Index;
use env::Env;
use json::Value;

use super::IndicesOptions;
use super::reached::Reached;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate, Named};
use crate::index::block::{self, Level};
use crate::index::date_math;
use crate::index::names::beginning;
use crate::index::preference::Preference;
use crate::index::resolve::{Call, Effort, Pattern, matches, no_such_cluster, reserved, resolve};
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
        const ACTION: &str = "indices:admin/resolve/index";
        let state = self.state();
        let call = Call::new(options);
        let mut indices: BTreeMap<&str, &Arc<Index>> = BTreeMap::new();
        let mut aliases: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut streams: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let admits = |index: &Index| {
            if index.open { options.expand_open } else { options.expand_closed }
        };
        // Who was granted the name of an alias was not granted all that it leads to.
        let reached = |name: &str, members: &[Arc<str>]| -> Vec<String> {
            let members = members.iter().filter(|index| gate::leads(gate, ACTION, index, name));
            members.map(ToString::to_string).collect()
        };
        let pause = self.pause();
        let mut effort = Effort::new(&pause);
        let mut starred = false;
        let mut found_any = false;
        let whole = matches!(expression, "" | "_all");
        let parts = if whole { "*" } else { expression };
        for part in parts.split(',').filter(|part| !part.is_empty()) {
            let part = date_math::resolve(part, self.now_ms())?;
            let part = &*part;
            effort.check()?;
            effort.look().await;
            if let (Some(excluded), true) = (part.strip_prefix('-'), starred) {
                let excluded = Pattern::new(excluded);
                take_away(&mut indices, &excluded, &mut effort).await;
                take_away(&mut aliases, &excluded, &mut effort).await;
                take_away(&mut streams, &excluded, &mut effort).await;
                continue;
            }
            // `_all` in a list among them.
            if part.starts_with('_') {
                return Err(reserved(part));
            }
            if part.contains('*') {
                starred = true;
                let pattern = Pattern::new(part);
                let shows = |name: &str, hidden| pattern.shows(name, hidden, call);
                for (name, index) in beginning(&state.indices, pattern.prefix) {
                    effort.look().await;
                    if pattern.fits(name)
                        && shows(name, index.hidden())
                        && admits(index)
                        && gate.sees(ACTION, name)
                    {
                        indices.insert(name, index);
                    }
                }
                for (name, members) in beginning(&state.aliases, pattern.prefix) {
                    effort.look().await;
                    let is_hidden = || {
                        members.iter().all(|index| {
                            let alias = state.index(index).and_then(|it| it.aliases.get(name));
                            alias.is_some_and(|alias| alias.is_hidden == Some(true))
                        })
                    };
                    if pattern.fits(name) && shows(name, is_hidden()) && gate.sees(ACTION, name) {
                        let members = reached(name, members);
                        if !members.is_empty() {
                            aliases.insert(name, members);
                        }
                    }
                }
                for (name, stream) in beginning(&state.data_streams, pattern.prefix) {
                    effort.look().await;
                    if pattern.fits(name) && shows(name, stream.hidden) && gate.sees(ACTION, name) {
                        streams.insert(name, reached(name, &stream.indices));
                    }
                }
                found_any |= !(indices.is_empty() && aliases.is_empty() && streams.is_empty());
                continue;
            }
            if let Some((cluster, _)) = part.split_once(':') {
                return Err(no_such_cluster(cluster));
            }
            // Asked before it is looked up: whether a hidden name exists is nobody's business.
            gate.index(ACTION, part)?;
            if let Some((name, index)) = state.indices.get_key_value(part) {
                indices.insert(name, index);
            } else if let Some((name, members)) = state.aliases.get_key_value(part) {
                let reached = reached(name, members);
                if let (true, Some(first)) = (reached.is_empty(), members.first()) {
                    gate.index_by_alias(ACTION, first, name)?;
                }
                aliases.insert(name, reached);
            } else if let Some((name, stream)) = state.data_streams.get_key_value(part) {
                streams.insert(name, reached(name, &stream.indices));
            } else if !options.ignore_unavailable {
                return Err(Error::index_not_found(part, "index_or_alias"));
            } else {
                continue;
            }
            found_any = true;
        }
        if !found_any && !options.allow_no_indices {
            return Err(Error::index_not_found(expression, "index_or_alias"));
        }
        Ok(ResolvedNames {
            indices: indices
                .into_iter()
                .map(|(name, index)| ResolvedIndex {
                    name: name.to_owned(),
                    aliases: index
                        .aliases
                        .keys()
                        .filter(|alias| gate.sees(ACTION, alias))
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
    /// A missing index.
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
        let asked = Named { action: ACTION, expression, names: &*state, now_ms };
        let told = |error| gate::told(gate, &asked, error);
        let (names, pause) = (Call::new(options), self.pause());
        let resolved = resolve(&*state, expression, names, now_ms, sees, &pause).await;
        let mut resolved = resolved.map_err(told)?;
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
            let named: Vec<String> = expression
                .split(',')
                .flat_map(|part| index.aliases.keys().filter(move |name| matches(part, name)))
                .filter(|name| gate.sees(ACTION, name))
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

/// Takes away what a pattern means.
async fn take_away<V>(
    found: &mut BTreeMap<&str, V>,
    excluded: &Pattern<'_>,
    effort: &mut Effort<'_, impl AsyncFn()>,
) {
    let mut gone = Vec::new();
    for (name, _) in found.range::<str, _>((Bound::Included(excluded.prefix), Bound::Unbounded)) {
        effort.look().await;
        if !name.starts_with(excluded.prefix) {
            break;
        }
        if excluded.fits(name) {
            gone.push(*name);
        }
    }
    for name in gone {
        found.remove(name);
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
