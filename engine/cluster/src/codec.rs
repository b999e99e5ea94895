//! State and commands as bytes: one JSON object each, keys as written below.
//!
//! JSON, since both are small, rarely written, and hold mappings and settings that are JSON
//! themselves; `corelode inspect` shows them as they lie. The format version and the checksums are
//! those of the log's batches and of the snapshot (`consensus`).
//!
//! Example of a command: `{"delete_indices":{"uuids":["AAAAAAAAAAAAAAAAAAAAAA"]}}`.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::planted::{Fault, planted};
use consensus::Decode;
use json::{Object, Value};
use mapping::{Delta, Mapping};

use crate::alias::{Alias, AliasAction};
use crate::apply::{Outcome, apply};
use crate::cluster_settings::ClusterSettings;
use crate::command::{Command, NewIndex, TemplateKind};
use crate::data_stream::DataStream;
use crate::settings::IndexSettings;
use crate::state::{Index, Rollover, State, uuid_from_text, uuid_text};
use crate::template::{ComponentTemplate, IndexTemplate, LegacyTemplate, Templates};

/// The version of both forms that is written.
pub const FORMAT: u32 = 2;

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

fn pairs_json(pairs: &[(String, String)]) -> Value {
    let pair = |(one, two): &(String, String)| Value::Array(vec![one.into(), two.into()]);
    Value::Array(pairs.iter().map(pair).collect())
}

fn pairs(value: &Value, key: &str) -> Result<Vec<(String, String)>> {
    let list = part(value, key)?.as_array().ok_or_else(|| damaged(format!("no list [{key}]")))?;
    list.iter()
        .map(|pair| match pair.as_array() {
            Some([Value::String(one), Value::String(two)]) => Ok((one.clone(), two.clone())),
            _ => Err(damaged(format!("[{key}] holds no pairs of texts"))),
        })
        .collect()
}

fn insert_created(body: &mut Value, created_ms: Option<i64>) {
    if let (Some(created_ms), Value::Object(members)) = (created_ms, body) {
        members.insert("created_ms", created_ms);
    }
}

/// When the cluster was made; what is older does not say it.
fn created(body: &Value) -> Result<Option<i64>> {
    let Some(time) = body.get("created_ms") else { return Ok(None) };
    time.as_i64().map(Some).ok_or_else(|| damaged("[created_ms] is no time"))
}

fn command_json(command: &Command) -> Value {
    let (name, body) = match command {
        Command::Bootstrap { uuid, created_ms } => {
            let mut body = object([("uuid", uuid_text(*uuid).into())]);
            insert_created(&mut body, *created_ms);
            ("bootstrap", body)
        }
        Command::CreateIndex(new) => ("create_index", new_json(new)),
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
        Command::PutScript { id, script } => {
            ("put_script", object([("id", id.into()), ("script", script.clone())]))
        }
        Command::DeleteScript { id } => ("delete_script", object([("id", id.into())])),
        Command::PutClusterSettings { persistent, transient } => (
            "put_cluster_settings",
            object([("persistent", persistent.clone()), ("transient", transient.clone())]),
        ),
        Command::SetVotingExclusions { nodes } => {
            ("set_voting_exclusions", object([("nodes", pairs_json(nodes))]))
        }
        Command::SetOpen { uuids, open } => {
            ("set_open", object([("uuids", uuids_json(uuids)), ("open", (*open).into())]))
        }
        Command::EndCopy { uuid } => ("end_copy", object([("uuid", uuid_text(*uuid).into())])),
        Command::NoteRollover { uuid, target, rollover } => (
            "note_rollover",
            object([
                ("uuid", uuid_text(*uuid).into()),
                ("target", target.into()),
                ("rollover", rollover_json(rollover)),
            ]),
        ),
        Command::UpdateAliases { actions } => {
            let list = actions.iter().map(action_json).collect();
            ("update_aliases", object([("actions", Value::Array(list))]))
        }
        Command::PutIndexTemplate { name, template, create } => {
            ("put_index_template", named_json(name, template.to_json(), *create))
        }
        Command::PutComponentTemplate { name, template, create } => {
            ("put_component_template", named_json(name, template.to_json(), *create))
        }
        Command::PutLegacyTemplate { name, template, create } => {
            ("put_legacy_template", named_json(name, template.to_json(), *create))
        }
        Command::DeleteTemplates { kind, names } => {
            let kind = match kind {
                TemplateKind::Index => "index",
                TemplateKind::Component => "component",
                TemplateKind::Legacy => "legacy",
            };
            let names = names.iter().map(String::as_str).collect::<Value>();
            ("delete_templates", object([("kind", kind.into()), ("names", names)]))
        }
        Command::PutDataStream { stream, create } => (
            "put_data_stream",
            object([("stream", stream.to_json()), ("create", (*create).into())]),
        ),
        Command::DeleteDataStreams { names } => {
            let names = names.iter().map(String::as_str).collect::<Value>();
            ("delete_data_streams", object([("names", names)]))
        }
        Command::Batch(commands) => {
            let list = commands.iter().map(command_json).collect();
            ("batch", object([("commands", Value::Array(list))]))
        }
    };
    object([(name, body)])
}

fn new_json(new: &NewIndex) -> Value {
    let mut fields = Object::new();
    fields.insert("name", &*new.name);
    fields.insert("provided", &*new.provided);
    fields.insert("uuid", uuid_text(new.uuid));
    fields.insert("created_ms", new.created_ms);
    fields.insert("settings", new.settings.clone());
    fields.insert("mappings", new.mappings.clone());
    fields.insert("aliases", new.aliases.clone());
    fields.insert("composed", new.composed);
    if let Some(stream) = &new.stream {
        fields.insert("stream", stream);
    }
    if let Some(source) = new.source {
        fields.insert("source", uuid_text(source));
    }
    Value::Object(fields)
}

fn read_new(body: &Value) -> Result<NewIndex> {
    Ok(NewIndex {
        name: text(body, "name")?.to_owned(),
        provided: text(body, "provided")?.to_owned(),
        uuid: uuid(body, "uuid")?,
        created_ms: part(body, "created_ms")?.as_i64().ok_or_else(|| damaged("no time"))?,
        settings: part(body, "settings")?.clone(),
        mappings: part(body, "mappings")?.clone(),
        aliases: part(body, "aliases")?.clone(),
        composed: flag(body, "composed")?,
        stream: body.get("stream").and_then(Value::as_str).map(str::to_owned),
        source: match body.get("source") {
            None => None,
            Some(_) => Some(uuid(body, "source")?),
        },
    })
}

fn rollover_json(rollover: &Rollover) -> Value {
    object([("met", rollover.met.clone()), ("time_ms", rollover.time_ms.into())])
}

fn read_rollover(value: &Value) -> Result<Rollover> {
    Ok(Rollover {
        met: part(value, "met")?.clone(),
        time_ms: part(value, "time_ms")?.as_i64().ok_or_else(|| damaged("no time"))?,
    })
}

fn action_json(action: &AliasAction) -> Value {
    match action {
        AliasAction::Add { uuid, name, alias } => object([
            ("add", uuid_text(*uuid).into()),
            ("name", name.into()),
            ("alias", alias.to_json()),
        ]),
        AliasAction::Remove { uuid, name } => {
            object([("remove", uuid_text(*uuid).into()), ("name", name.into())])
        }
        AliasAction::RemoveIndex { uuid } => object([("remove_index", uuid_text(*uuid).into())]),
    }
}

fn read_action(value: &Value) -> Result<AliasAction> {
    if value.get("remove_index").is_some() {
        return Ok(AliasAction::RemoveIndex { uuid: uuid(value, "remove_index")? });
    }
    let name = text(value, "name")?.to_owned();
    if value.get("remove").is_some() {
        return Ok(AliasAction::Remove { uuid: uuid(value, "remove")?, name });
    }
    let alias = Alias::from_json(part(value, "alias")?);
    Ok(AliasAction::Add { uuid: uuid(value, "add")?, name, alias })
}

fn named_json(name: &str, template: Value, create: bool) -> Value {
    object([("name", name.into()), ("template", template), ("create", create.into())])
}

fn names(value: &Value) -> Result<Vec<String>> {
    part(value, "names")?
        .as_array()
        .ok_or_else(|| damaged("[names] is no list"))?
        .iter()
        .map(|name| name.as_str().map(str::to_owned).ok_or_else(|| damaged("a bad name")))
        .collect()
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value]> {
    part(value, key)?.as_array().ok_or_else(|| damaged(format!("[{key}] is no list")))
}

/// A part that its own crate reads; what it refuses is damage here.
fn read<T>(found: crate::error::Result<T>) -> Result<T> {
    found.map_err(|error| damaged(error.to_string()))
}

fn read_command(value: &Value) -> Result<Command> {
    let (name, body) = value
        .as_object()
        .filter(|object| object.len() == 1)
        .and_then(|object| object.iter().next())
        .ok_or_else(|| damaged("not one command"))?;
    Ok(match name {
        "bootstrap" => Command::Bootstrap { uuid: uuid(body, "uuid")?, created_ms: created(body)? },
        "create_index" => Command::CreateIndex(read_new(body)?),
        "delete_indices" => Command::DeleteIndices { uuids: uuids(body)? },
        "put_mapping" => {
            Command::PutMapping { uuids: uuids(body)?, mappings: part(body, "mappings")?.clone() }
        }
        "add_fields" => Command::AddFields {
            deltas: part(body, "deltas")?
                .as_array()
                .ok_or_else(|| damaged("[deltas] is no list"))?
                .iter()
                .filter(|_| !planted(Fault::ForgetNewFields))
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
        "put_script" => Command::PutScript {
            id: text(body, "id")?.to_owned(),
            script: part(body, "script")?.clone(),
        },
        "delete_script" => Command::DeleteScript { id: text(body, "id")?.to_owned() },
        "put_cluster_settings" => Command::PutClusterSettings {
            persistent: part(body, "persistent")?.clone(),
            transient: part(body, "transient")?.clone(),
        },
        "set_voting_exclusions" => Command::SetVotingExclusions { nodes: pairs(body, "nodes")? },
        "set_open" => Command::SetOpen { uuids: uuids(body)?, open: flag(body, "open")? },
        "end_copy" => Command::EndCopy { uuid: uuid(body, "uuid")? },
        "note_rollover" => Command::NoteRollover {
            uuid: uuid(body, "uuid")?,
            target: text(body, "target")?.to_owned(),
            rollover: read_rollover(part(body, "rollover")?)?,
        },
        "update_aliases" => Command::UpdateAliases {
            actions: list(body, "actions")?.iter().map(read_action).collect::<Result<_>>()?,
        },
        "put_index_template" => Command::PutIndexTemplate {
            name: text(body, "name")?.to_owned(),
            template: read(IndexTemplate::parse(part(body, "template")?))?,
            create: flag(body, "create")?,
        },
        "put_component_template" => Command::PutComponentTemplate {
            name: text(body, "name")?.to_owned(),
            template: read(ComponentTemplate::parse(part(body, "template")?))?,
            create: flag(body, "create")?,
        },
        "put_legacy_template" => Command::PutLegacyTemplate {
            name: text(body, "name")?.to_owned(),
            template: read(LegacyTemplate::parse(part(body, "template")?))?,
            create: flag(body, "create")?,
        },
        "delete_templates" => Command::DeleteTemplates {
            kind: match text(body, "kind")? {
                "index" => TemplateKind::Index,
                "component" => TemplateKind::Component,
                "legacy" => TemplateKind::Legacy,
                other => return Err(damaged(format!("unknown kind [{other}]"))),
            },
            names: names(body)?,
        },
        "put_data_stream" => Command::PutDataStream {
            stream: read_stream(part(body, "stream")?)?,
            create: flag(body, "create")?,
        },
        "delete_data_streams" => Command::DeleteDataStreams { names: names(body)? },
        "batch" => {
            Command::Batch(list(body, "commands")?.iter().map(read_command).collect::<Result<_>>()?)
        }
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
            Value::Object(fields)
        })
        .collect();
    let templates = &state.templates;
    let streams = state.data_streams.values().map(|stream| stream.to_json()).collect();
    let mut whole = object([
        ("version", state.version.into()),
        ("uuid", uuid_text(state.uuid).into()),
        ("indices", Value::Array(indices)),
        ("index_templates", map_json(&templates.index, IndexTemplate::to_json)),
        ("component_templates", map_json(&templates.component, ComponentTemplate::to_json)),
        ("legacy_templates", map_json(&templates.legacy, LegacyTemplate::to_json)),
        ("data_streams", Value::Array(streams)),
        ("settings", state.settings.to_json()),
        ("voting_exclusions", pairs_json(&state.voting_exclusions)),
    ]);
    insert_created(&mut whole, state.created_ms);
    if let (false, Value::Object(members)) = (state.scripts.is_empty(), &mut whole) {
        let scripts = state.scripts.iter().map(|(id, script)| (id.to_string(), (**script).clone()));
        members.insert("scripts", Value::Object(scripts.collect()));
    }
    whole
}

fn map_json<T>(map: &BTreeMap<Arc<str>, Arc<T>>, show: fn(&T) -> Value) -> Value {
    Value::Object(map.iter().map(|(name, one)| (name.to_string(), show(one))).collect())
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

fn read_stream(value: &Value) -> Result<DataStream> {
    DataStream::from_json(value).ok_or_else(|| damaged("a damaged data stream"))
}

fn read_state(value: &Value) -> Result<State> {
    let mut indices = BTreeMap::new();
    for item in part(value, "indices")?.as_array().ok_or_else(|| damaged("no indices"))? {
        let index = decode_index(item)?;
        if indices.insert(Arc::clone(&index.name), Arc::new(index)).is_some() {
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
        data_streams: Arc::new(data_streams),
        scripts: Arc::new(scripts),
        settings: Arc::new(ClusterSettings::from_json(part(value, "settings")?)),
        created_ms: created(value)?,
        voting_exclusions: pairs(value, "voting_exclusions")?.into(),
        ..State::default()
    };
    let mut state = empty.with_indices(indices, true);
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
    })
}
