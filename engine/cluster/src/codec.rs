//! State and commands as bytes: one JSON object each, keys as written below.
//!
//! JSON, since both are small, rarely written, and hold mappings and settings that are JSON
//! themselves; `corelode inspect` shows them as they lie. The format version and the checksums are
//! those of the log's batches and of the snapshot (`consensus`).
//!
//! Example of a command: `{"delete_indices":{"uuids":["AAAAAAAAAAAAAAAAAAAAAA"]}}`.

use std::collections::BTreeMap;
use std::sync::Arc;

use consensus::Decode;
use json::{Object, Value};
use mapping::{Delta, Mapping};

use crate::apply::{Outcome, apply};
use crate::command::Command;
use crate::settings::IndexSettings;
use crate::state::{Alias, Index, State, uuid_from_text, uuid_text};

/// The version of both forms that is written.
pub const FORMAT: u32 = 1;

type Result<T> = std::result::Result<T, Decode>;

fn damaged(what: impl Into<String>) -> Decode {
    Decode(what.into())
}

impl consensus::State for State {
    type Command = Command;
    type Outcome = Outcome;

    const FORMAT: u32 = FORMAT;

    fn apply(&self, command: &Command) -> (Self, Outcome) {
        apply(self, command)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(json::to_string(&state_json(self)).as_bytes());
    }

    fn decode(_format: u32, bytes: &[u8]) -> Result<Self> {
        read_state(&parse(bytes)?)
    }

    fn encode_command(command: &Command, out: &mut Vec<u8>) {
        out.extend_from_slice(json::to_string(&command_json(command)).as_bytes());
    }

    fn decode_command(_format: u32, bytes: &[u8]) -> Result<Command> {
        read_command(&parse(bytes)?)
    }
}

fn parse(bytes: &[u8]) -> Result<Value> {
    json::parse(bytes).map_err(|error| damaged(error.to_string()))
}

fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let mut object = Object::with_capacity(N);
    for (key, value) in entries {
        object.insert(key, value);
    }
    Value::Object(object)
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value.get(key).and_then(Value::as_str).ok_or_else(|| damaged(format!("no text [{key}]")))
}

fn part<'a>(value: &'a Value, key: &str) -> Result<&'a Value> {
    value.get(key).ok_or_else(|| damaged(format!("no [{key}]")))
}

fn flag(value: &Value, key: &str) -> Result<bool> {
    value.get(key).and_then(Value::as_bool).ok_or_else(|| damaged(format!("no flag [{key}]")))
}

fn uuid(value: &Value, key: &str) -> Result<[u8; 16]> {
    uuid_from_text(text(value, key)?).ok_or_else(|| damaged(format!("[{key}] is no id")))
}

fn uuids_json(uuids: &[[u8; 16]]) -> Value {
    Value::Array(uuids.iter().map(|&uuid| Value::from(uuid_text(uuid))).collect())
}

fn uuids(value: &Value) -> Result<Vec<[u8; 16]>> {
    part(value, "uuids")?
        .as_array()
        .ok_or_else(|| damaged("[uuids] is no list"))?
        .iter()
        .map(|item| item.as_str().and_then(uuid_from_text).ok_or_else(|| damaged("a bad id")))
        .collect()
}

fn command_json(command: &Command) -> Value {
    let (name, body) = match command {
        Command::Bootstrap { uuid } => ("bootstrap", object([("uuid", uuid_text(*uuid).into())])),
        Command::CreateIndex { name, uuid, created_ms, settings, mappings, aliases } => (
            "create_index",
            object([
                ("name", name.into()),
                ("uuid", uuid_text(*uuid).into()),
                ("created_ms", (*created_ms).into()),
                ("settings", settings.clone()),
                ("mappings", mappings.clone()),
                ("aliases", aliases.clone()),
            ]),
        ),
        Command::DeleteIndices { uuids } => {
            ("delete_indices", object([("uuids", uuids_json(uuids))]))
        }
        Command::PutMapping { uuids, mappings } => {
            ("put_mapping", object([("uuids", uuids_json(uuids)), ("mappings", mappings.clone())]))
        }
        Command::AddFields { deltas } => {
            let list = deltas
                .iter()
                .map(|(uuid, delta)| {
                    object([("uuid", uuid_text(*uuid).into()), ("fields", delta.to_json().clone())])
                })
                .collect();
            ("add_fields", object([("deltas", Value::Array(list))]))
        }
        Command::PutSettings { uuids, settings, preserve } => (
            "put_settings",
            object([
                ("uuids", uuids_json(uuids)),
                ("settings", settings.clone()),
                ("preserve", (*preserve).into()),
            ]),
        ),
        Command::SetOpen { uuids, open } => {
            ("set_open", object([("uuids", uuids_json(uuids)), ("open", (*open).into())]))
        }
    };
    object([(name, body)])
}

fn read_command(value: &Value) -> Result<Command> {
    let (name, body) = value
        .as_object()
        .filter(|object| object.len() == 1)
        .and_then(|object| object.iter().next())
        .ok_or_else(|| damaged("not one command"))?;
    Ok(match name {
        "bootstrap" => Command::Bootstrap { uuid: uuid(body, "uuid")? },
        "create_index" => Command::CreateIndex {
            name: text(body, "name")?.to_owned(),
            uuid: uuid(body, "uuid")?,
            created_ms: part(body, "created_ms")?.as_i64().ok_or_else(|| damaged("no time"))?,
            settings: part(body, "settings")?.clone(),
            mappings: part(body, "mappings")?.clone(),
            aliases: part(body, "aliases")?.clone(),
        },
        "delete_indices" => Command::DeleteIndices { uuids: uuids(body)? },
        "put_mapping" => {
            Command::PutMapping { uuids: uuids(body)?, mappings: part(body, "mappings")?.clone() }
        }
        "add_fields" => Command::AddFields {
            deltas: part(body, "deltas")?
                .as_array()
                .ok_or_else(|| damaged("[deltas] is no list"))?
                .iter()
                .map(|item| {
                    Ok((uuid(item, "uuid")?, Delta::from_json(part(item, "fields")?.clone())))
                })
                .collect::<Result<_>>()?,
        },
        "put_settings" => Command::PutSettings {
            uuids: uuids(body)?,
            settings: part(body, "settings")?.clone(),
            preserve: flag(body, "preserve")?,
        },
        "set_open" => Command::SetOpen { uuids: uuids(body)?, open: flag(body, "open")? },
        other => return Err(damaged(format!("unknown command [{other}]"))),
    })
}

fn state_json(state: &State) -> Value {
    let indices = state
        .indices
        .values()
        .map(|index| {
            let mut fields = Object::new();
            fields.insert("name", &*index.name);
            fields.insert("uuid", index.uuid_text());
            fields.insert("settings", index.settings.to_flat());
            fields.insert("mapping", index.mapping.to_state_json());
            fields.insert("aliases", index.aliases_json());
            fields.insert("open", index.open);
            fields.insert("created_ms", index.created_ms);
            Value::Object(fields)
        })
        .collect();
    object([
        ("version", state.version.into()),
        ("uuid", uuid_text(state.uuid).into()),
        ("indices", Value::Array(indices)),
    ])
}

fn read_state(value: &Value) -> Result<State> {
    let mut indices = BTreeMap::new();
    for item in part(value, "indices")?.as_array().ok_or_else(|| damaged("no indices"))? {
        let index = decode_index(item)?;
        if indices.insert(Arc::clone(&index.name), Arc::new(index)).is_some() {
            return Err(damaged("one name, two indices"));
        }
    }
    let empty = State { uuid: uuid(value, "uuid")?, ..State::default() };
    let mut state = empty.with_indices(indices, true);
    state.version =
        part(value, "version")?.as_u64().ok_or_else(|| damaged("[version] is no number"))?;
    Ok(state)
}

fn decode_index(item: &Value) -> Result<Index> {
    let settings = IndexSettings::from_flat(part(item, "settings")?);
    let for_mapping = settings.for_mapping().map_err(|error| damaged(error.to_string()))?;
    let mapping = Mapping::from_state_json(part(item, "mapping")?, for_mapping)
        .map_err(|error| damaged(error.to_string()))?;
    let mut aliases = BTreeMap::new();
    for (name, body) in
        part(item, "aliases")?.as_object().ok_or_else(|| damaged("no aliases"))?.iter()
    {
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
        let flag = |key: &str| body.get(key).and_then(Value::as_bool);
        let alias = Alias {
            filter: body.get("filter").cloned(),
            index_routing: text("index_routing"),
            search_routing: text("search_routing"),
            is_write_index: flag("is_write_index"),
            is_hidden: flag("is_hidden"),
        };
        aliases.insert(Arc::from(name), alias);
    }
    Ok(Index {
        name: Arc::from(text(item, "name")?),
        uuid: uuid(item, "uuid")?,
        settings: Arc::new(settings),
        mapping: Arc::new(mapping),
        aliases: Arc::new(aliases),
        open: flag(item, "open")?,
        created_ms: part(item, "created_ms")?.as_i64().ok_or_else(|| damaged("no time"))?,
    })
}
