//! Making an index: templates first, then the request, then what only the server says.

use std::collections::BTreeMap;
use std::sync::Arc;

use json::Value;
use mapping::Mapping;

use super::{INDEX_VERSION, aliases};
use crate::command::{Command, NewIndex};
use crate::error::{Error, Result};
use crate::name;
use crate::settings::IndexSettings;
use crate::state::{Alias, Index, State, uuid_text};
use crate::template::Templates;

/// The command with templates worked into the indices that it makes, so that it means the same
/// whenever it is applied: for whoever must know the index before it is there. Its moment is set later, when
/// its turn has come ([`Command::at`]).
///
/// # Errors
/// Where no index can be made of it.
pub fn compose(state: &State, command: Command) -> Result<Command> {
    Ok(match command {
        Command::CreateIndex(new) => Command::CreateIndex(composed(state, new)?),
        Command::Batch(commands) => {
            let commands = commands
                .into_iter()
                .map(|command| compose(state, command))
                .collect::<Result<Vec<_>>>()?;
            Command::Batch(commands)
        }
        other => other,
    })
}

fn composed(state: &State, new: NewIndex) -> Result<NewIndex> {
    if new.composed {
        return Ok(new);
    }
    let hidden = IndexSettings::parse_part(&new.settings)?.flag("index.hidden");
    let asked = new.stream.as_deref().unwrap_or(&new.name);
    let found = state.templates.find(asked, hidden && new.stream.is_none());
    let mut whole = match found {
        Some((template, body)) => {
            if body.data_stream.is_some() && new.stream.is_none() {
                return Err(Error::argument(format!(
                    "cannot create index with name [{}], because it matches with template \
                     [{template}] that creates data streams only, use create data stream api \
                     instead",
                    new.name
                )));
            }
            state.templates.compose(body)
        }
        None => Templates::compose_legacy(&state.templates.find_legacy(asked, hidden)),
    };
    if new.stream.is_some() {
        whole.add_timestamp()?;
        // Aliases of such a template are the stream's, not its indices'.
        whole.aliases.clear();
        whole.settings.insert("index.hidden".to_owned(), Value::from("true"));
    }
    whole.request(&new.settings, &new.mappings, &new.aliases)?;
    // Asked here and not where commands are applied again: an index that once was made so stays.
    check_soft_deletes(whole.settings.get("index.soft_deletes.enabled"))?;
    let aliases: BTreeMap<String, Value> = whole
        .aliases
        .iter()
        .map(|(alias, said)| (alias.replace("{index}", &new.name), said.clone()))
        .collect();
    whole.aliases = aliases;
    Ok(NewIndex {
        settings: whole.settings_json(),
        mappings: whole.mappings.clone(),
        aliases: whole.aliases_json(),
        composed: true,
        ..new
    })
}

/// `index.soft_deletes.enabled` of a new index.
///
/// # Errors
/// It is switched off.
pub fn check_soft_deletes(value: Option<&Value>) -> Result<()> {
    match value {
        Some(Value::Bool(false)) => {}
        Some(Value::String(text)) if text == "false" => {}
        _ => return Ok(()),
    }
    Err(Error::argument(
        "Creating indices with soft-deletes disabled is no longer supported. Please do not specify \
         a value for setting [index.soft_deletes.enabled].",
    ))
}

/// May a new index have this name?
///
/// # Errors
/// It is no name of an index, or somebody has it.
pub fn check_new_name(state: &State, name: &str) -> Result<()> {
    name::check_index(name)?;
    if let Some(index) = state.index(name) {
        return Err(Error::Exists { name: name.to_owned(), uuid: index.uuid_text() });
    }
    let taken = if state.aliases.contains_key(name) {
        Some("already exists as alias")
    } else if state.data_streams.contains_key(name) {
        Some("already exists as data stream")
    } else {
        None
    };
    if let Some(why) = taken {
        return Err(Error::IndexName { name: name.to_owned(), why: why.to_owned() });
    }
    Ok(())
}

/// The state with the index in it.
pub(super) fn create(state: &State, new: &NewIndex) -> Result<State> {
    let name = new.name.as_str();
    check_new_name(state, name)?;
    let new = composed(state, new.clone())?;
    let mut settings = IndexSettings::parse_by(new.rules, &new.settings)?;
    check_room(state, &settings)?;
    settings.set_private("index.provided_name", &*new.provided);
    settings.set_private("index.creation_date", new.created_ms.to_string());
    settings.set_private("index.uuid", uuid_text(new.uuid));
    settings.set_private("index.version.created", INDEX_VERSION);
    let mut mapping = None;
    if let Some(uuid) = new.source {
        let source = state.index_by_uuid(uuid).ok_or_else(|| state.gone(uuid))?;
        settings.set_private("index.resize.source.name", &*source.name);
        settings.set_private("index.resize.source.uuid", source.uuid_text());
        // One shard may be split as one likes; more must keep where documents go.
        if source.settings.shard_count() > 1 || settings.shard_count() == 1 {
            settings.keep_routing_shards(Some(source.settings.routing_shard_count()));
        }
        let for_mapping = settings.for_mapping()?;
        mapping = Some(Mapping::from_state_json(&source.mapping.to_state_json(), for_mapping)?);
    }
    let mapping = match mapping {
        Some(mapping) => mapping,
        None => Mapping::parse(&new.mappings, settings.for_mapping()?)
            .map_err(|error| Error::Mapping(error.in_create()))?,
    };
    mapping.check_sort().map_err(Error::Mapping)?;
    check_partition(name, &settings, &mapping)?;
    let found = parse_aliases(state, name, &new.aliases)?;
    let touched: Vec<String> = found.keys().map(ToString::to_string).collect();
    let after = state.with_index(Index {
        name: Arc::from(name),
        uuid: new.uuid,
        settings: Arc::new(with_defaults(settings)),
        mapping: Arc::new(mapping),
        aliases: Arc::new(found),
        open: true,
        created_ms: new.created_ms,
        settings_version: 1,
        aliases_version: 1,
        copying: new.source.is_some(),
        rollovers: Arc::default(),
        turned_ms: None,
        added: Arc::default(),
    });
    aliases::check(&after, touched.iter().map(String::as_str))?;
    Ok(after)
}

/// `index.routing_partition_size`: without a routing value nobody would know where a document is, and a
/// family would not stay together.
fn check_partition(name: &str, settings: &IndexSettings, mapping: &Mapping) -> Result<()> {
    let size = settings.int("index.routing_partition_size").unwrap_or(1);
    if size == 1 {
        return Ok(());
    }
    let shards = settings.routing_shard_count();
    if size >= u64::from(shards) {
        return Err(Error::argument(format!(
            "routing partition size [{size}] should be a positive number less than the number of \
             routing shards [{shards}] for [{name}]"
        )));
    }
    if !mapping.routing_required() {
        return Err(Error::argument(format!(
            "mapping type [_doc] must have routing required for partitioned index [{name}]"
        )));
    }
    let mut fields = mapping.fields();
    match fields.find(|field| matches!(field.kind, mapping::Kind::Join(_))) {
        None => Ok(()),
        Some(field) => Err(Error::argument(format!(
            "cannot create join field [{}] for the partitioned index [{name}]",
            field.path
        ))),
    }
}

/// `cluster.max_shards_per_node` beside [`State::counted_shards`].
fn check_room(state: &State, new: &IndexSettings) -> Result<()> {
    if new.flag("index.hidden") {
        return Ok(());
    }
    state.beyond_shards(u64::from(new.shard_count())).map_or(Ok(()), Err)
}

/// Settings that Elasticsearch shows although nobody set them.
pub(super) fn with_defaults(mut settings: IndexSettings) -> IndexSettings {
    for (name, default) in [
        ("index.number_of_shards", "1"),
        ("index.number_of_replicas", "1"),
        ("index.routing.allocation.include._tier_preference", "data_content"),
    ] {
        settings.fill(name, default);
    }
    settings.expand_replicas();
    settings
}

/// Reads the `aliases` of a create request.
fn parse_aliases(state: &State, index: &str, aliases: &Value) -> Result<BTreeMap<Arc<str>, Alias>> {
    let Some(object) = aliases.as_object() else {
        return Err(Error::Parse { reason: "key [aliases] must be an object".to_owned() });
    };
    let mut found = BTreeMap::new();
    for (name, body) in object.iter() {
        aliases::check_name(state, name)?;
        if name == index {
            return Err(aliases::is_index(name));
        }
        found.insert(Arc::from(name), Alias::parse(name, body)?);
    }
    Ok(found)
}
