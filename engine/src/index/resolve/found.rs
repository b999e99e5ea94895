//! What the parts of an expression led to: the ways to indices, in order, each once.
//!
//! Exclusions that stand side by side are done in one pass: each only takes away, so their order says
//! nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::hash::{Map, Set};
use json::Value;

use super::effort::Effort;
use super::{AliasTarget, Call, Resolved, closed};
use crate::error::Result;

/// What the parts of an expression led to so far, in order.
#[derive(Default)]
pub(super) struct Found {
    list: Vec<Met>,
    /// The ways by wildcards in `list`, as alias and index: patterns that meet the same are as one.
    known: Set<(Option<String>, String)>,
}

/// One way to one index.
pub(super) struct Met {
    pub index: String,
    /// The name that was written out; `None` for a wildcard's.
    pub by: Option<String>,
    /// What the way says; `None` where the alias that it led through was excluded afterwards.
    pub way: Option<Way>,
    /// Id of a closed index where closed ones are refused: what is excluded later is no error.
    pub shut: Option<[u8; 16]>,
}

/// What the way that led to an index says of it.
#[derive(Default)]
pub(super) struct Way {
    filter: Option<Arc<Value>>,
    routing: Option<Arc<str>>,
    /// The alias or data stream.
    alias: Option<String>,
}

impl Way {
    /// That of an alias that was named.
    pub fn of(alias: &str, target: &AliasTarget) -> Self {
        Self {
            filter: target.filter.clone(),
            routing: target.search_routing.clone(),
            alias: Some(alias.to_owned()),
        }
    }

    /// That of a data stream.
    pub fn of_stream(stream: &str) -> Self {
        Self { alias: Some(stream.to_owned()), ..Self::default() }
    }

    /// The alias's routing leads a search only where the alias itself was named.
    pub fn by_wildcard(alias: &str, target: &AliasTarget) -> Self {
        Self { routing: None, ..Self::of(alias, target) }
    }
}

/// Exclusions side by side.
#[derive(Default)]
pub(super) struct Excluded {
    /// Names that were written out.
    pub names: Set<String>,
    /// The indices behind what the patterns meet.
    pub indices: Set<String>,
}

impl Excluded {
    /// A wildcard's index goes by its name, or by a pattern that meets it; a name that was written out by
    /// itself alone. The indices behind an alias stay where a wildcard met them.
    fn takes(&self, met: &Met) -> bool {
        match &met.by {
            None => self.names.contains(&met.index) || self.indices.contains(&met.index),
            Some(by) => {
                self.names.contains(by) || *by == met.index && self.indices.contains(&met.index)
            }
        }
    }
}

impl Found {
    /// A way of a name that was written out.
    pub fn add(&mut self, met: Met) {
        self.list.push(met);
    }

    /// A way by a wildcard, unless it is known.
    pub fn add_once(&mut self, met: Met) {
        if self.known.insert(key(&met)) {
            self.list.push(met);
        }
    }

    /// Takes away what is excluded.
    pub async fn exclude(&mut self, excluded: &Excluded, effort: &mut Effort<'_, impl AsyncFn()>) {
        self.known.clear();
        for mut met in std::mem::take(&mut self.list) {
            effort.look().await;
            if excluded.takes(&met) {
                continue;
            }
            if met.by.is_none() {
                let through = met.way.as_ref().and_then(|way| way.alias.as_ref());
                if through.is_some_and(|alias| excluded.names.contains(alias)) {
                    met.way = None;
                }
                if met.way.is_some() {
                    self.known.insert(key(&met));
                }
            }
            self.list.push(met);
        }
    }

    /// The indices, each once.
    ///
    /// # Errors
    /// A closed one.
    pub async fn resolved(
        self,
        call: Call,
        sees: &impl Fn(&str) -> bool,
        effort: &mut Effort<'_, impl AsyncFn()>,
    ) -> Result<Vec<Resolved>> {
        let mut list: Vec<Resolved> = Vec::new();
        // Where an index stands, and what led to it.
        let mut places: BTreeMap<String, (usize, Led)> = BTreeMap::new();
        let mut led: Set<String> = Set::default();
        if self.list.iter().any(|met| met.way.is_none()) {
            for met in self.list.iter().filter(|met| met.way.is_some()) {
                effort.look().await;
                led.insert(met.index.clone());
            }
        }
        for met in self.list {
            effort.look().await;
            let way = match met.way {
                Some(way) => way,
                // Without its alias the index stands for itself, unless another way is left, or
                // only the alias was to be seen.
                None if led.contains(&met.index) || !sees(&met.index) => continue,
                None => Way::default(),
            };
            match met.shut {
                Some(_) if call.options.ignore_unavailable => continue,
                Some(uuid) => return Err(closed(&met.index, uuid)),
                None => {}
            }
            let is_written = met.by.is_some();
            match places.get_mut(&met.index) {
                Some((place, ways)) => {
                    ways.add(way.alias.as_deref(), is_written);
                    also(&mut list[*place], way);
                }
                None => {
                    let mut ways = Led::default();
                    ways.add(way.alias.as_deref(), is_written);
                    places.insert(met.index.clone(), (list.len(), ways));
                    list.push(Resolved {
                        routing: values(&way),
                        filters: way.filter.into_iter().map(Arc::unwrap_or_clone).collect(),
                        via: Vec::new(),
                        index: met.index,
                    });
                }
            }
        }
        for (index, (place, ways)) in places {
            effort.look().await;
            list[place].via = ways.names(&index);
        }
        Ok(list)
    }
}

/// What led to one index.
#[derive(Default)]
struct Led {
    /// Its own name did.
    own: bool,
    /// Aliases and data streams, in order, each once, and whether it was written out.
    others: Vec<(String, bool)>,
    places: Map<String, usize>,
}

impl Led {
    /// One more way, by another name than the index' own where there is one.
    fn add(&mut self, other: Option<&str>, is_written: bool) {
        let Some(name) = other else {
            self.own = true;
            return;
        };
        match self.places.get(name) {
            Some(&place) => self.others[place].1 |= is_written,
            None => {
                self.places.insert(name.to_owned(), self.others.len());
                self.others.push((name.to_owned(), is_written));
            }
        }
    }

    /// The names by which the caller came ([`Resolved::via`]).
    fn names(self, index: &str) -> Vec<String> {
        let own = self.own;
        let others = self.others.into_iter().filter(|(_, is_written)| *is_written || !own);
        let mut names: Vec<String> = others.map(|(name, _)| name).collect();
        if own && !names.is_empty() {
            names.push(index.to_owned());
        }
        names
    }
}

/// By what a wildcard's way is known.
fn key(met: &Met) -> (Option<String>, String) {
    (met.way.as_ref().and_then(|way| way.alias.clone()), met.index.clone())
}

/// The routing values of a way.
fn values(way: &Way) -> Vec<String> {
    let values = way.routing.as_deref().unwrap_or_default().split(',');
    values.filter(|value| !value.is_empty()).map(str::to_owned).collect()
}

/// Another way to a known index.
fn also(known: &mut Resolved, way: Way) {
    let values = values(&way);
    // A way without a filter shows everything; one without routing leads to all shards.
    match way.filter {
        None => known.filters.clear(),
        Some(filter) if !known.filters.is_empty() => {
            known.filters.push(Arc::unwrap_or_clone(filter))
        }
        Some(_) => {}
    }
    if values.is_empty() {
        known.routing.clear();
    } else if !known.routing.is_empty() {
        known.routing.extend(values);
    }
}
