//! State and commands as bytes: one JSON object each, keys as written below.
//!
//! JSON, since both are small, rarely written, and hold mappings and settings that are JSON
//! themselves; `corelode inspect` shows them as they lie. The format version and the checksums are
//! those of the log's batches and of the snapshot (`consensus`).
//!
//! Version 3 brought the command `at`, the action `remove_any`, `tombstones` of a state, and `added` and
//! `turned_ms` of an index; version 4 the commands `start_stream`, `migrate_alias`, `modify_streams`, `roll_stream`,
//! `mark_stream` and `add_voting_exclusions`; version 5 the command `roll_alias`;
//! version 6 the key `rules` of `put_settings`; version 7 the same of `put_cluster_settings` and `set_open`;
//! version 8 other rules of settings, and the key of `create_index`.
//! Versions before are read: what they lack is as where there is none.
//!
//! Example of a command: `{"delete_indices":{"uuids":["AAAAAAAAAAAAAAAAAAAAAA"]}}`.

use base::planted::{Fault, planted};
use consensus::Decode;
use json::{Object, Value};
use mapping::Delta;

use crate::alias::{Alias, AliasAction};
use crate::apply::{Outcome, apply};
use crate::command::{Command, NewIndex, Rules, TemplateKind};
use crate::data_stream::StreamChange;
use crate::state::{Rollover, State, uuid_from_text, uuid_text};
use crate::template::{ComponentTemplate, IndexTemplate, LegacyTemplate};

mod whole;

use whole::{read_state, read_stream, write_state};

/// The version of both forms that is written. It rises with each key and each command: whoever does not
/// know them must refuse the whole, and not read it as damaged or pass them over.
pub const FORMAT: u32 = 8;

/// The rules by which settings of indices are changed, as they are written: those of before, where there are, and
/// those of today.
const INDEX_RULES: Written = (Some(6), 8);

/// Those by which settings of the cluster are changed.
const CLUSTER_RULES: Written = (Some(7), 8);

/// Those by which indices are opened and closed.
const OPEN_RULES: Written = (None, 7);

/// Those by which indices are made.
const NEW_RULES: Written = (None, 8);

/// How a command writes [`Rules::Former`] and [`Rules::Now`].
type Written = (Option<u64>, u64);

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

    fn is_long(&self, command: &Command) -> bool {
        self.takes_long(command)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        write_state(self, out);
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
    uuids_at(value, "uuids")
}

fn uuids_at(value: &Value, key: &str) -> Result<Vec<[u8; 16]>> {
    list(value, key)?
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

/// A command that says by which rules it is done; those of before say nothing.
fn ruled(mut body: Value, rules: Rules, (former, now): Written) -> Value {
    let number = match rules {
        Rules::Before => None,
        Rules::Former => former,
        Rules::Now => Some(now),
    };
    if let (Some(number), Value::Object(members)) = (number, &mut body) {
        members.insert("rules", number);
    }
    body
}

/// By which rules this command is done, which are written so.
fn rules(body: &Value, (former, now): Written) -> Result<Rules> {
    match body.get("rules").map(Value::as_u64) {
        None => Ok(Rules::Before),
        Some(told) if told == Some(now) => Ok(Rules::Now),
        Some(told) if told.is_some() && told == former => Ok(Rules::Former),
        Some(_) => Err(damaged("[rules] is unknown")),
    }
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
        Command::PutSettings { uuids, settings, preserve, rules } => {
            let body = object([
                ("uuids", uuids_json(uuids)),
                ("settings", settings.clone()),
                ("preserve", (*preserve).into()),
            ]);
            ("put_settings", ruled(body, *rules, INDEX_RULES))
        }
        Command::PutScript { id, script } => {
            ("put_script", object([("id", id.into()), ("script", script.clone())]))
        }
        Command::DeleteScript { id } => ("delete_script", object([("id", id.into())])),
        Command::PutClusterSettings { persistent, transient, rules } => {
            let both = [("persistent", persistent.clone()), ("transient", transient.clone())];
            ("put_cluster_settings", ruled(object(both), *rules, CLUSTER_RULES))
        }
        Command::AddVotingExclusions { nodes, most } => (
            "add_voting_exclusions",
            object([("nodes", pairs_json(nodes)), ("most", (*most).into())]),
        ),
        Command::SetVotingExclusions { nodes } => {
            ("set_voting_exclusions", object([("nodes", pairs_json(nodes))]))
        }
        Command::SetOpen { uuids, open, rules } => {
            let body = object([("uuids", uuids_json(uuids)), ("open", (*open).into())]);
            ("set_open", ruled(body, *rules, OPEN_RULES))
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
        Command::StartStream { name, index } => (
            "start_stream",
            object([("name", name.as_str().into()), ("index", index.as_str().into())]),
        ),
        Command::MigrateAlias { name } => {
            ("migrate_alias", object([("name", name.as_str().into())]))
        }
        Command::ModifyStreams { changes } => {
            let change_json = |change: &StreamChange| {
                object([
                    ("add", change.add.into()),
                    ("stream", change.stream.as_str().into()),
                    ("index", change.index.as_str().into()),
                ])
            };
            let changes = changes.iter().map(change_json).collect();
            ("modify_streams", object([("changes", Value::Array(changes))]))
        }
        Command::RollStream { name, from, index, generation } => (
            "roll_stream",
            object([
                ("name", name.as_str().into()),
                ("from", from.as_str().into()),
                ("index", index.as_str().into()),
                ("generation", (*generation).into()),
            ]),
        ),
        Command::RollAlias { name, from, index } => (
            "roll_alias",
            object([
                ("name", name.as_str().into()),
                ("from", uuid_text(*from).into()),
                ("index", index.as_str().into()),
            ]),
        ),
        Command::MarkStream { name } => ("mark_stream", object([("name", name.as_str().into())])),
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
        Command::At { now_ms, command } => {
            ("at", object([("now_ms", (*now_ms).into()), ("command", command_json(command))]))
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
    ruled(Value::Object(fields), new.rules, NEW_RULES)
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
        rules: rules(body, NEW_RULES)?,
    })
}

/// Milliseconds since 1970.
fn time(value: &Value, key: &str) -> Result<i64> {
    part(value, key)?.as_i64().ok_or_else(|| damaged(format!("[{key}] is no time")))
}

fn rollover_json(rollover: &Rollover) -> Value {
    object([("met", rollover.met.clone()), ("time_ms", rollover.time_ms.into())])
}

fn read_rollover(value: &Value) -> Result<Rollover> {
    Ok(Rollover { met: part(value, "met")?.clone(), time_ms: time(value, "time_ms")? })
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
        AliasAction::RemoveAny { uuids, names, must_exist } => object([
            ("remove_any", uuids_json(uuids)),
            ("names", names.iter().map(String::as_str).collect::<Value>()),
            ("must_exist", (*must_exist).into()),
        ]),
        AliasAction::RemoveIndex { uuid } => object([("remove_index", uuid_text(*uuid).into())]),
    }
}

fn read_action(value: &Value) -> Result<AliasAction> {
    if value.get("remove_index").is_some() {
        return Ok(AliasAction::RemoveIndex { uuid: uuid(value, "remove_index")? });
    }
    if value.get("remove_any").is_some() {
        return Ok(AliasAction::RemoveAny {
            uuids: uuids_at(value, "remove_any")?,
            names: names(value)?,
            must_exist: flag(value, "must_exist")?,
        });
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

fn stream_changes(value: &Value) -> Result<Vec<StreamChange>> {
    let changes = part(value, "changes")?.as_array();
    let changes = changes.ok_or_else(|| damaged("[changes] is no list"))?.iter().map(|change| {
        Ok(StreamChange {
            add: flag(change, "add")?,
            stream: text(change, "stream")?.to_owned(),
            index: text(change, "index")?.to_owned(),
        })
    });
    changes.collect()
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
            rules: rules(body, INDEX_RULES)?,
        },
        "put_script" => Command::PutScript {
            id: text(body, "id")?.to_owned(),
            script: part(body, "script")?.clone(),
        },
        "delete_script" => Command::DeleteScript { id: text(body, "id")?.to_owned() },
        "put_cluster_settings" => Command::PutClusterSettings {
            persistent: part(body, "persistent")?.clone(),
            transient: part(body, "transient")?.clone(),
            rules: rules(body, CLUSTER_RULES)?,
        },
        "add_voting_exclusions" => Command::AddVotingExclusions {
            nodes: pairs(body, "nodes")?,
            most: part(body, "most")?.as_u64().ok_or_else(|| damaged("[most] is no number"))?,
        },
        "set_voting_exclusions" => Command::SetVotingExclusions { nodes: pairs(body, "nodes")? },
        "set_open" => Command::SetOpen {
            uuids: uuids(body)?,
            open: flag(body, "open")?,
            rules: rules(body, OPEN_RULES)?,
        },
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
        "start_stream" => Command::StartStream {
            name: text(body, "name")?.to_owned(),
            index: text(body, "index")?.to_owned(),
        },
        "migrate_alias" => Command::MigrateAlias { name: text(body, "name")?.to_owned() },
        "modify_streams" => Command::ModifyStreams { changes: stream_changes(body)? },
        "roll_stream" => Command::RollStream {
            name: text(body, "name")?.to_owned(),
            from: text(body, "from")?.to_owned(),
            index: text(body, "index")?.to_owned(),
            generation: part(body, "generation")?
                .as_u64()
                .ok_or_else(|| damaged("[generation] is no number"))?,
        },
        "roll_alias" => Command::RollAlias {
            name: text(body, "name")?.to_owned(),
            from: uuid(body, "from")?,
            index: text(body, "index")?.to_owned(),
        },
        "mark_stream" => Command::MarkStream { name: text(body, "name")?.to_owned() },
        "put_data_stream" => Command::PutDataStream {
            stream: read_stream(part(body, "stream")?)?,
            create: flag(body, "create")?,
        },
        "delete_data_streams" => Command::DeleteDataStreams { names: names(body)? },
        "at" => Command::At {
            now_ms: time(body, "now_ms")?,
            command: Box::new(read_command(part(body, "command")?)?),
        },
        "batch" => {
            Command::Batch(list(body, "commands")?.iter().map(read_command).collect::<Result<_>>()?)
        }
        other => return Err(damaged(format!("unknown command [{other}]"))),
    })
}
