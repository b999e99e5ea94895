//! The cluster state as the resolver asks it.

use std::borrow::Cow;

use cluster::State;

use super::resolve::{AliasTarget, Facts, Names};

impl Names for State {
    fn index(&self, name: &str) -> Option<Facts> {
        let index = State::index(self, name)?;
        Some(Facts { open: index.open, hidden: index.hidden(), uuid: index.uuid })
    }

    fn alias(&self, name: &str) -> Option<Vec<AliasTarget>> {
        let names = self.aliases.get(name)?;
        let targets = names.iter().filter_map(|index| {
            let alias = State::index(self, index)?.aliases.get(name)?;
            Some(AliasTarget {
                index: index.to_string(),
                filter: alias.filter.clone(),
                search_routing: alias.search_routing.clone(),
                index_routing: alias.index_routing.clone(),
                is_write_index: alias.is_write_index,
                is_hidden: alias.is_hidden == Some(true),
            })
        });
        Some(targets.collect())
    }

    fn indices(&self) -> Vec<Cow<'_, str>> {
        self.indices.keys().map(|name| Cow::from(&**name)).collect()
    }

    fn aliases(&self) -> Vec<Cow<'_, str>> {
        self.aliases.keys().map(|name| Cow::from(&**name)).collect()
    }

    fn stream(&self, name: &str) -> Option<Vec<String>> {
        let stream = self.data_streams.get(name)?;
        Some(stream.indices.iter().map(ToString::to_string).collect())
    }

    fn streams(&self) -> Vec<(Cow<'_, str>, bool)> {
        self.data_streams.iter().map(|(name, stream)| (Cow::from(&**name), stream.hidden)).collect()
    }
}
