//! The cluster state as the resolver asks it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use cluster::{Alias, State};

use super::resolve::{AliasTarget, Facts, Names};

impl Names for State {
    fn bears(&self, name: &str) -> bool {
        self.indices.contains_key(name)
            || self.aliases.contains_key(name)
            || self.data_streams.contains_key(name)
    }

    fn index(&self, name: &str) -> Option<Facts> {
        let index = State::index(self, name)?;
        Some(Facts { open: index.open, hidden: index.hidden(), uuid: index.uuid })
    }

    fn alias(&self, name: &str) -> Option<Vec<AliasTarget>> {
        let names = self.aliases.get(name)?;
        let targets = names.iter().filter_map(|index| {
            let alias = State::index(self, index)?.aliases.get(name)?;
            Some(target(index, alias))
        });
        Some(targets.collect())
    }

    fn aliases_of(&self, index: &str) -> Vec<(String, AliasTarget)> {
        let aliases = State::index(self, index).into_iter().flat_map(|index| index.aliases.iter());
        aliases.map(|(name, alias)| (name.to_string(), target(index, alias))).collect()
    }

    fn indices<'n>(&'n self, prefix: &str) -> impl Iterator<Item = &'n str> {
        beginning(&self.indices, prefix).map(|(name, _)| name)
    }

    fn aliases<'n>(&'n self, prefix: &str) -> impl Iterator<Item = &'n str> {
        beginning(&self.aliases, prefix).map(|(name, _)| name)
    }

    fn stream(&self, name: &str) -> Option<Vec<String>> {
        let stream = self.data_streams.get(name)?;
        Some(stream.indices.iter().map(ToString::to_string).collect())
    }

    fn streams<'n>(&'n self, prefix: &str) -> impl Iterator<Item = (&'n str, bool)> {
        beginning(&self.data_streams, prefix).map(|(name, stream)| (name, stream.hidden))
    }
}

/// What an alias says of an index behind it.
fn target(index: &str, alias: &Alias) -> AliasTarget {
    AliasTarget {
        index: index.to_owned(),
        filter: alias.filter.clone(),
        search_routing: alias.search_routing.clone(),
        index_routing: alias.index_routing.clone(),
        is_write_index: alias.is_write_index,
        is_hidden: alias.is_hidden == Some(true),
    }
}

/// What stands under names that begin so.
pub(crate) fn beginning<'n, V>(
    all: &'n BTreeMap<Arc<str>, V>,
    prefix: &str,
) -> impl Iterator<Item = (&'n str, &'n V)> {
    let from = (Bound::Included(prefix), Bound::Unbounded);
    let names = all.range::<str, _>(from).map(|(name, value)| (&**name, value));
    names.take_while(move |(name, _)| name.starts_with(prefix))
}
