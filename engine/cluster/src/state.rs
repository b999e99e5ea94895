//! The value that commands change: indices by name, aliases by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use json::Value;
use mapping::Mapping;

pub use crate::alias::Alias;
use crate::cluster_settings::ClusterSettings;
use crate::data_stream::DataStream;
use crate::error::Error;
use crate::graveyard::Tombstone;
use crate::settings::IndexSettings;
use crate::share::shared;
use crate::template::Templates;
use crate::vacancy::Added;

/// Everything that all cores must agree on. Cloning copies pointers.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Rises with each change.
    pub version: u64,
    /// Unique id of the cluster; all zero before the first command.
    pub uuid: [u8; 16],
    /// When the cluster was made, milliseconds since 1970; none of one from before that was kept, until
    /// it starts anew.
    pub created_ms: Option<i64>,
    /// Indices by name.
    pub indices: Arc<BTreeMap<Arc<str>, Arc<Index>>>,
    /// Name of the index of each id: derived from `indices`.
    pub(crate) names: Arc<BTreeMap<[u8; 16], Arc<str>>>,
    /// Names of the indices behind each alias, sorted: derived from `indices`.
    pub aliases: Arc<Aliases>,
    /// What new indices begin with.
    pub templates: Arc<Templates>,
    /// Data streams by name.
    pub data_streams: Arc<BTreeMap<Arc<str>, Arc<DataStream>>>,
    /// Name of the data stream of each index that is part of one: derived from `data_streams`.
    pub streams_of: Arc<BTreeMap<Arc<str>, Arc<str>>>,
    /// Stored scripts by id: language and source.
    pub scripts: Arc<BTreeMap<Arc<str>, Arc<Value>>>,
    /// Settings of the whole cluster.
    pub settings: Arc<ClusterSettings>,
    /// Nodes that shall have no vote, by id and name (`_absent_` for what is not known).
    pub voting_exclusions: Arc<[(String, String)]>,
    /// The last indices that were deleted, oldest first.
    pub tombstones: Arc<[Tombstone]>,
}

/// Names of the indices behind each alias, sorted.
pub type Aliases = BTreeMap<Arc<str>, Arc<[Arc<str>]>>;

/// One index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its name.
    pub name: Arc<str>,
    /// Its unique id: folders and shards are named by it.
    pub uuid: [u8; 16],
    /// Its settings.
    pub settings: Arc<IndexSettings>,
    /// What its documents mean.
    pub mapping: Arc<Mapping>,
    /// Its aliases by name.
    pub aliases: Arc<BTreeMap<Arc<str>, Alias>>,
    /// Open for reading and writing.
    pub open: bool,
    /// Created, milliseconds since 1970.
    pub created_ms: i64,
    /// Rises with each change of the settings, from 1.
    pub settings_version: u64,
    /// Rises with each change of the aliases, from 1.
    pub aliases_version: u64,
    /// Documents of another index are being copied into it: it serves nobody yet.
    pub copying: bool,
    /// What took its writes away, by alias or data stream.
    pub rollovers: Arc<BTreeMap<Arc<str>, Rollover>>,
    /// Closed or opened last, milliseconds since 1970; none where it never was, or before that was kept.
    pub turned_ms: Option<i64>,
    /// Replicas that came to be wanted since it was made, closed or opened, oldest first.
    pub added: Arc<[Added]>,
}

/// A rollover that an index has behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollover {
    /// The conditions that held, as they were asked: `{"max_docs":5,"max_age":"7d"}`.
    pub met: Value,
    /// When, in milliseconds since 1970.
    pub time_ms: i64,
}

impl State {
    /// The index of that name.
    pub fn index(&self, name: &str) -> Option<&Arc<Index>> {
        self.indices.get(name)
    }

    /// The index with that id.
    pub fn index_by_uuid(&self, uuid: [u8; 16]) -> Option<&Arc<Index>> {
        self.indices.get(self.names.get(&uuid)?)
    }

    /// There is no such index any more: it is told by the name that it had, where that is known.
    pub fn gone(&self, uuid: [u8; 16]) -> Error {
        let buried = || self.tombstones.iter().find(|one| one.uuid == uuid);
        let known = self.index_by_uuid(uuid).map(|index| index.name.to_string());
        let name = known.or_else(|| buried().map(|one| one.name.to_string()));
        Error::NotFound { name: name.unwrap_or_else(|| uuid_text(uuid)) }
    }

    /// Shards that count for `cluster.max_shards_per_node`: of open indices that are not hidden. Replicas
    /// take no room where they have no place.
    pub fn counted_shards(&self) -> u64 {
        let counted = self.indices.values().filter(|index| index.open && !index.hidden());
        counted.map(|index| u64::from(index.settings.shard_count())).sum()
    }

    /// Why so many more counted shards are too many, if they are.
    pub fn beyond_shards(&self, coming: u64) -> Option<Error> {
        let most = self.settings.int("cluster.max_shards_per_node").unwrap_or(i64::MAX);
        let there = self.counted_shards();
        let fits = i64::try_from(there.saturating_add(coming)).is_ok_and(|all| all <= most);
        (coming > 0 && !fits).then(|| Error::Invalid {
            problems: vec![format!(
                "this action would add [{coming}] shards, but this cluster currently has \
                 [{there}]/[{most}] maximum normal shards open"
            )],
        })
    }

    /// Shards of open indices, hidden ones too.
    pub fn open_shards(&self) -> u64 {
        let open = self.indices.values().filter(|index| index.open);
        open.map(|index| u64::from(index.settings.shard_count())).sum()
    }

    /// The first name that nothing bears for an index of a data stream, from `generation` on, and the
    /// generation that it is named by.
    pub fn next_backing_name(&self, stream: &str, generation: u64, now_ms: i64) -> (String, u64) {
        let named = |generation| DataStream::backing_name(stream, generation, now_ms);
        let is_free = |name: &str| {
            let is_other = self.aliases.contains_key(name) || self.data_streams.contains_key(name);
            self.index(name).is_none() && !is_other
        };
        let mut names = (generation..).map(|generation| (named(generation), generation));
        names.find(|(name, _)| is_free(name)).expect("there are more numbers than indices")
    }

    /// The index to which an alias writes, and whether it says so; none where no index of several is said
    /// to take writes, or the only one is said not to.
    pub fn writer_of(&self, alias: &str) -> Option<(&Arc<Index>, bool)> {
        let indices = self.aliases.get(alias)?;
        let said = |index: &str| self.index(index)?.aliases.get(alias)?.is_write_index;
        match indices.iter().find(|index| said(index) == Some(true)) {
            Some(index) => Some((self.index(index)?, true)),
            None => match &**indices {
                [only] if said(only).is_none() => Some((self.index(only)?, false)),
                _ => None,
            },
        }
    }

    /// The data stream that an index is part of.
    pub fn data_stream_of(&self, index: &str) -> Option<&Arc<DataStream>> {
        self.data_streams.get(self.streams_of.get(index)?)
    }

    /// This state with another set of data streams, derived parts renewed.
    #[must_use]
    pub(crate) fn with_streams(self, streams: BTreeMap<Arc<str>, Arc<DataStream>>) -> Self {
        let members = |stream: &Arc<DataStream>| {
            let name = Arc::clone(&stream.name);
            let indices = stream.indices.clone();
            indices.into_iter().map(move |index| (index, Arc::clone(&name)))
        };
        let streams_of = Arc::new(streams.values().flat_map(members).collect());
        Self { data_streams: Arc::new(streams), streams_of, ..self }
    }

    /// This state with `index` put in (or replaced), derived parts renewed, version raised.
    #[must_use]
    pub(crate) fn with_index(&self, index: Index) -> Self {
        let aliases_changed = self
            .indices
            .get(&index.name)
            .map_or(!index.aliases.is_empty(), |old| !Arc::ptr_eq(&old.aliases, &index.aliases));
        let mut indices = (*self.indices).clone();
        let index = shared(&self.indices, index);
        indices.insert(Arc::clone(&index.name), Arc::new(index));
        self.with_indices(indices, aliases_changed)
    }

    /// This state with another set of indices.
    #[must_use]
    pub(crate) fn with_indices(
        &self,
        indices: BTreeMap<Arc<str>, Arc<Index>>,
        aliases_changed: bool,
    ) -> Self {
        let aliases =
            if aliases_changed { derive_aliases(&indices) } else { Arc::clone(&self.aliases) };
        let names = match are_named_alike(&self.indices, &indices) {
            true => Arc::clone(&self.names),
            false => {
                let named = indices.values().map(|index| (index.uuid, Arc::clone(&index.name)));
                Arc::new(named.collect())
            }
        };
        let indices = Arc::new(indices);
        Self { version: self.version + 1, indices, names, aliases, ..self.clone() }
    }
}

/// Are these the same indices, whatever else is said of them?
fn are_named_alike(
    one: &BTreeMap<Arc<str>, Arc<Index>>,
    two: &BTreeMap<Arc<str>, Arc<Index>>,
) -> bool {
    let mut both = one.values().zip(two.values());
    one.len() == two.len()
        && both.all(|(a, b)| Arc::ptr_eq(a, b) || (a.uuid == b.uuid && a.name == b.name))
}

fn derive_aliases(indices: &BTreeMap<Arc<str>, Arc<Index>>) -> Arc<Aliases> {
    let mut lists: BTreeMap<Arc<str>, Vec<Arc<str>>> = BTreeMap::new();
    for index in indices.values() {
        for alias in index.aliases.keys() {
            lists.entry(Arc::clone(alias)).or_default().push(Arc::clone(&index.name));
        }
    }
    Arc::new(lists.into_iter().map(|(alias, list)| (alias, list.into())).collect())
}

impl Index {
    /// The id as Elasticsearch shows ids: 22 characters of URL-safe base64.
    pub fn uuid_text(&self) -> String {
        uuid_text(self.uuid)
    }

    /// Hidden from wildcards.
    pub fn hidden(&self) -> bool {
        self.settings.flag("index.hidden")
    }

    /// `{"alias":{…}}`, as `GET /{index}` shows it.
    pub fn aliases_json(&self) -> Value {
        Value::Object(
            self.aliases.iter().map(|(name, alias)| (name.to_string(), alias.to_json())).collect(),
        )
    }
}

/// 16 bytes as 22 characters of URL-safe base64 without padding.
pub fn uuid_text(uuid: [u8; 16]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let number = u128::from_be_bytes(uuid);
    (0..22)
        .map(|at| {
            // 128 bits in groups of six from the top; the last group holds two.
            let shift = 122 - 6 * at;
            let six = if shift >= 0 { number >> shift } else { number << -shift };
            char::from(ALPHABET[(six & 63) as usize])
        })
        .collect()
}

/// Undoes [`uuid_text`].
pub fn uuid_from_text(text: &str) -> Option<[u8; 16]> {
    if text.len() != 22 {
        return None;
    }
    let mut number = 0u128;
    for (at, byte) in text.bytes().enumerate() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        let shift = 122 - 6 * at as i32;
        if shift >= 0 {
            number |= u128::from(six) << shift;
        } else if six & 15 == 0 {
            number |= u128::from(six >> 4);
        } else {
            return None;
        }
    }
    Some(number.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_uuid_reads_back(uuid: [u8; 16]) {
            let text = uuid_text(uuid);
            prop_assert_eq!(text.len(), 22);
            prop_assert_eq!(uuid_from_text(&text), Some(uuid));
        }

        #[test]
        fn foreign_text_never_panics(text: String) {
            let _ = uuid_from_text(&text);
        }
    }

    #[test]
    fn known_text() {
        assert_eq!(uuid_text([0; 16]), "AAAAAAAAAAAAAAAAAAAAAA");
        assert_eq!(uuid_text([0xff; 16]), "_____________________w");
    }
}
