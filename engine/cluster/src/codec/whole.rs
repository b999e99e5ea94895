//! The state itself as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use json::{Object, Value};
use mapping::Mapping;

use super::{
    Result, created, damaged, flag, list, object, pairs, pairs_json, part, read, read_rollover,
    rollover_json, text, time, uuid,
};
use crate::alias::Alias;
use crate::cluster_settings::ClusterSettings;
use crate::data_stream::DataStream;
use crate::graveyard::{self, Tombstone};
use crate::settings::IndexSettings;
use crate::share::Known;
use crate::state::{Index, State, uuid_text};
use crate::template::{ComponentTemplate, IndexTemplate, LegacyTemplate, Templates};
use crate::vacancy::Added;

/// Writes a state, one part after the other: a tree of all of it would take several times what it takes itself.
pub(super) fn write_state(state: &State, out: &mut Vec<u8>) {
    let mut members = Members { out, open: b'{' };
    members.add("version", &state.version.into());
    members.add("uuid", &uuid_text(state.uuid).into());
    members.add_list("indices", state.indices.values().map(|index| index_json(index)));
    let templates = &state.templates;
    members.add_map("index_templates", &templates.index, IndexTemplate::to_json);
    members.add_map("component_templates", &templates.component, ComponentTemplate::to_json);
    members.add_map("legacy_templates", &templates.legacy, LegacyTemplate::to_json);
    members.add_list("data_streams", state.data_streams.values().map(|stream| stream.to_json()));
    members.add("settings", &state.settings.to_json());
    members.add("voting_exclusions", &pairs_json(&state.voting_exclusions));
    if let Some(created_ms) = state.created_ms {
        members.add("created_ms", &created_ms.into());
    }
    if !state.scripts.is_empty() {
        members.add_map("scripts", &state.scripts, Value::clone);
    }
    if !state.tombstones.is_empty() {
        members.add_list("tombstones", state.tombstones.iter().map(tombstone_json));
    }
    out.push(b'}');
}

/// An object that is written member by member.
struct Members<'a> {
    out: &'a mut Vec<u8>,
    /// What stands before the next member.
    open: u8,
}

impl Members<'_> {
    fn key(&mut self, key: &str) {
        self.out.push(std::mem::replace(&mut self.open, b','));
        self.value(&key.into());
        self.out.push(b':');
    }

    fn value(&mut self, value: &Value) {
        self.out.extend_from_slice(json::to_string(value).as_bytes());
    }

    fn add(&mut self, key: &str, value: &Value) {
        self.key(key);
        self.value(value);
    }

    fn add_list(&mut self, key: &str, values: impl Iterator<Item = Value>) {
        self.key(key);
        self.out.push(b'[');
        for (at, value) in values.enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            self.value(&value);
        }
        self.out.push(b']');
    }

    fn add_map<T>(&mut self, key: &str, map: &BTreeMap<Arc<str>, Arc<T>>, show: fn(&T) -> Value) {
        self.key(key);
        let mut inner = Members { out: self.out, open: b'{' };
        map.iter().for_each(|(name, one)| inner.add(name, &show(one)));
        if inner.open == b'{' {
            self.out.push(b'{');
        }
        self.out.push(b'}');
    }
}

fn index_json(index: &Index) -> Value {
    let mut fields = Object::new();
    fields.insert("name", &*index.name);
    fields.insert("uuid", index.uuid_text());
    fields.insert("settings", index.settings.to_flat());
    fields.insert("mapping", index.mapping.to_state_json());
    fields.insert("aliases", index.aliases_json());
    fields.insert("open", index.open);
    fields.insert("created_ms", index.created_ms);
    fields.insert("settings_version", index.settings_version);
    fields.insert("aliases_version", index.aliases_version);
    fields.insert("copying", index.copying);
    if let Some(count) = index.settings.routing_shards_kept() {
        fields.insert("routing_shards", count);
    }
    if !index.rollovers.is_empty() {
        let rollovers = index.rollovers.iter();
        let rollovers = rollovers.map(|(name, one)| (name.to_string(), rollover_json(one)));
        fields.insert("rollovers", Value::Object(rollovers.collect()));
    }
    if let Some(turned_ms) = index.turned_ms {
        fields.insert("turned_ms", turned_ms);
    }
    if !index.added.is_empty() {
        fields.insert("added", added_json(&index.added));
    }
    Value::Object(fields)
}

fn read_map<T>(
    value: &Value,
    key: &str,
    parse: fn(&Value) -> crate::error::Result<T>,
) -> Result<BTreeMap<Arc<str>, Arc<T>>> {
    part(value, key)?
        .as_object()
        .ok_or_else(|| damaged(format!("[{key}] is no object")))?
        .iter()
        .map(|(name, body)| Ok((Arc::from(name), Arc::new(read(parse(body))?))))
        .collect()
}

pub(super) fn read_stream(value: &Value) -> Result<DataStream> {
    DataStream::from_json(value).ok_or_else(|| damaged("a damaged data stream"))
}

pub(super) fn read_state(value: &Value) -> Result<State> {
    let mut indices = BTreeMap::new();
    let mut known = Known::default();
    for item in part(value, "indices")?.as_array().ok_or_else(|| damaged("no indices"))? {
        let index = known.shared(decode_index(item)?);
        if indices.insert(Arc::clone(&index.name), index).is_some() {
            return Err(damaged("one name, two indices"));
        }
    }
    let mut data_streams = BTreeMap::new();
    for item in list(value, "data_streams")? {
        let stream = read_stream(item)?;
        data_streams.insert(Arc::clone(&stream.name), Arc::new(stream));
    }
    let mut scripts = BTreeMap::new();
    // States from before scripts have none.
    if let Some(stored) = value.get("scripts").and_then(Value::as_object) {
        for (id, script) in stored.iter() {
            scripts.insert(Arc::from(id), Arc::new(script.clone()));
        }
    }
    let empty = State {
        uuid: uuid(value, "uuid")?,
        templates: Arc::new(Templates {
            index: read_map(value, "index_templates", IndexTemplate::parse)?,
            component: read_map(value, "component_templates", ComponentTemplate::parse)?,
            legacy: read_map(value, "legacy_templates", LegacyTemplate::parse)?,
        }),
        scripts: Arc::new(scripts),
        settings: Arc::new(ClusterSettings::from_json(part(value, "settings")?)),
        created_ms: created(value)?,
        voting_exclusions: pairs(value, "voting_exclusions")?.into(),
        tombstones: match value.get("tombstones") {
            // What is older kept none.
            None => Arc::default(),
            Some(_) => {
                let all = list(value, "tombstones")?.iter().map(read_tombstone);
                graveyard::bounded(all.collect::<Result<_>>()?)
            }
        },
        ..State::default()
    };
    let mut state = empty.with_indices(indices, true).with_streams(data_streams);
    state.version =
        part(value, "version")?.as_u64().ok_or_else(|| damaged("[version] is no number"))?;
    Ok(state)
}

fn decode_index(item: &Value) -> Result<Index> {
    let number = |key: &str| {
        part(item, key)?.as_u64().ok_or_else(|| damaged(format!("[{key}] is no number")))
    };
    let mut settings = IndexSettings::from_flat(part(item, "settings")?);
    if item.get("routing_shards").is_some() {
        settings.keep_routing_shards(u32::try_from(number("routing_shards")?).ok());
    }
    let for_mapping = settings.for_mapping().map_err(|error| damaged(error.to_string()))?;
    let mapping = Mapping::from_state_json(part(item, "mapping")?, for_mapping)
        .map_err(|error| damaged(error.to_string()))?;
    let mut aliases = BTreeMap::new();
    for (name, body) in
        part(item, "aliases")?.as_object().ok_or_else(|| damaged("no aliases"))?.iter()
    {
        aliases.insert(Arc::from(name), Alias::from_json(body));
    }
    let mut rollovers = BTreeMap::new();
    // Those from before have none.
    if let Some(kept) = item.get("rollovers").and_then(Value::as_object) {
        for (target, body) in kept.iter() {
            rollovers.insert(Arc::from(target), read_rollover(body)?);
        }
    }
    Ok(Index {
        name: Arc::from(text(item, "name")?),
        uuid: uuid(item, "uuid")?,
        settings: Arc::new(settings),
        mapping: Arc::new(mapping),
        aliases: Arc::new(aliases),
        open: flag(item, "open")?,
        created_ms: part(item, "created_ms")?.as_i64().ok_or_else(|| damaged("no time"))?,
        settings_version: number("settings_version")?,
        aliases_version: number("aliases_version")?,
        copying: flag(item, "copying")?,
        rollovers: Arc::new(rollovers),
        turned_ms: item.get("turned_ms").map(|_| time(item, "turned_ms")).transpose()?,
        added: match item.get("added") {
            None => Arc::default(),
            Some(_) => list(item, "added")?.iter().map(read_added).collect::<Result<_>>()?,
        },
    })
}

fn added_json(added: &[Added]) -> Value {
    let one = |added: &Added| {
        object([("count", u64::from(added.count).into()), ("at_ms", added.at_ms.into())])
    };
    Value::Array(added.iter().map(one).collect())
}

fn read_added(item: &Value) -> Result<Added> {
    let count = part(item, "count")?.as_u64().and_then(|count| u32::try_from(count).ok());
    let count = count.ok_or_else(|| damaged("[count] is no number of replicas"))?;
    Ok(Added { count, at_ms: time(item, "at_ms")? })
}

fn tombstone_json(one: &Tombstone) -> Value {
    object([
        ("name", (&*one.name).into()),
        ("uuid", uuid_text(one.uuid).into()),
        ("deleted_ms", one.deleted_ms.into()),
    ])
}

fn read_tombstone(item: &Value) -> Result<Tombstone> {
    Ok(Tombstone {
        name: Arc::from(text(item, "name")?),
        uuid: uuid(item, "uuid")?,
        deleted_ms: time(item, "deleted_ms")?,
    })
}
