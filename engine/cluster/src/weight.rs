//! What a cluster state takes in memory, about: names, settings, fields, templates, scripts.
//!
//! Always true
//! 1. What several states or indices share counts once; but as text, which is what a snapshot takes while it is
//!    written, each index counts whole.
//! 2. A weight looks only into what the weight before did not know: a change costs a walk over the names.
//!
//! Not here: what shards keep for their documents, and how much a state may take.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::hash::Map;
use json::Value;

use crate::cluster_settings::ClusterSettings;
use crate::command::Command;
use crate::data_stream::DataStream;
use crate::settings::{IndexSettings, prefixed};
use crate::state::{Alias, Index, State};
use crate::template::{ComponentTemplate, IndexTemplate, LegacyTemplate, Part};

/// An index without fields, with what each core and each shard knows of it.
const INDEX_BYTES: usize = 2 << 10;

/// A shard that is open and at rest: its log, its view, its counters.
const SHARD_BYTES: usize = 16 << 10;

/// A name with its place in a table.
const NAME_BYTES: usize = 96;

/// A field that a document brings, until it is weighed in its place.
const NEW_FIELD_BYTES: usize = 1 << 10;

impl IndexTemplate {
    /// About how many bytes it takes.
    pub fn held_bytes(&self) -> usize {
        index_template_bytes(self)
    }
}

impl ComponentTemplate {
    /// About how many bytes it takes.
    pub fn held_bytes(&self) -> usize {
        component_bytes(self)
    }
}

impl LegacyTemplate {
    /// About how many bytes it takes.
    pub fn held_bytes(&self) -> usize {
        legacy_bytes(self)
    }
}

impl IndexSettings {
    /// About how many bytes they take while they are shown: as they stand, as a tree, and as text.
    pub fn shown_bytes(&self) -> usize {
        self.iter().map(|(name, value)| shown_bytes(name, value)).sum()
    }
}

impl ClusterSettings {
    /// About how many bytes they take while they are shown, as those of an index.
    pub fn shown_bytes(&self) -> usize {
        let layers = [self.persistent(), self.transient()].into_iter();
        layers.flat_map(|layer| layer.iter()).map(|(name, value)| shown_bytes(name, value)).sum()
    }
}

fn shown_bytes(name: &str, value: &Value) -> usize {
    2 * (NAME_BYTES + name.len() + value.held_bytes()) + value.text_bytes(usize::MAX)
}

impl Alias {
    /// About how many bytes it takes while it is shown under its name, as a tree and as text.
    pub fn shown_bytes(&self, name: &str) -> usize {
        let routing = [&self.index_routing, &self.search_routing].into_iter().flatten();
        let routing: usize = routing.map(|text| text.len() + json::str_bytes(text)).sum();
        let filter = self.filter.as_ref();
        let filter = filter.map_or(0, |filter| filter.held_bytes() + filter.text_bytes(usize::MAX));
        2 * (NAME_BYTES + name.len()) + routing + filter
    }
}

/// See the head of the file.
pub struct Weight {
    bytes: usize,
    /// Of each part, by its address.
    parts: Map<usize, usize>,
    /// Keeps the addresses from being given to something else.
    state: Arc<State>,
}

impl Weight {
    /// Weighs a state, of which `before` may know parts.
    pub fn of(state: &Arc<State>, before: Option<&Self>) -> Self {
        let mut weighing = Weighing { before, bytes: 0, parts: Map::default() };
        for index in state.indices.values() {
            weighing.add(Arc::as_ptr(index).addr(), || index_bytes(index));
            weighing.add(index.mapping.tree(), || index.mapping.tree_bytes());
            let analysis = &index.mapping.settings().analysis;
            weighing.add(Arc::as_ptr(analysis).addr(), || analysis.held_bytes());
        }
        let templates = &state.templates;
        weighing.add_all(&templates.index, index_template_bytes);
        weighing.add_all(&templates.component, component_bytes);
        weighing.add_all(&templates.legacy, legacy_bytes);
        weighing.add_all(&state.data_streams, stream_bytes);
        weighing.add_all(&state.scripts, Value::held_bytes);
        weighing
            .add(Arc::as_ptr(&state.settings).addr(), || cluster_settings_bytes(&state.settings));
        let nodes = state.voting_exclusions.iter().map(|(id, name)| id.len() + name.len());
        let bytes = weighing.bytes + nodes.map(|bytes| bytes + NAME_BYTES).sum::<usize>();
        Self { bytes, parts: weighing.parts, state: Arc::clone(state) }
    }

    /// Version of the state that was weighed.
    pub fn version(&self) -> u64 {
        self.state.version
    }

    /// All of it.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

struct Weighing<'a> {
    before: Option<&'a Weight>,
    bytes: usize,
    parts: Map<usize, usize>,
}

impl Weighing<'_> {
    fn add(&mut self, address: usize, weigh: impl FnOnce() -> usize) {
        if self.parts.contains_key(&address) {
            return;
        }
        let known = self.before.and_then(|before| before.parts.get(&address)).copied();
        let bytes = known.unwrap_or_else(weigh);
        self.parts.insert(address, bytes);
        self.bytes += bytes;
    }

    fn add_all<T>(&mut self, all: &BTreeMap<Arc<str>, Arc<T>>, weigh: fn(&T) -> usize) {
        for (name, one) in all {
            self.add(Arc::as_ptr(one).addr(), || NAME_BYTES + name.len() + weigh(one));
        }
    }
}

/// By how much a change may make a state grow.
pub enum Growth {
    /// Not at all.
    None,
    /// By about so much.
    About(usize),
    /// It must be tried.
    Unknown,
}

impl Command {
    /// By how much a state may grow by this.
    pub fn growth(&self) -> Growth {
        match self {
            Self::At { command, .. } => command.growth(),
            Self::AddFields { deltas } => {
                let fields: usize = deltas.iter().map(|(_, delta)| delta.len()).sum();
                Growth::About(fields.saturating_mul(NEW_FIELD_BYTES))
            }
            // A block that a full disk calls for passes always. Of other settings some have names that the caller
            // chooses; what they replace is told when the state is weighed.
            Self::PutSettings { uuids, settings, .. } => match sets_blocks(settings) {
                true => Growth::None,
                false => Growth::About(settings.held_bytes().saturating_mul(uuids.len())),
            },
            Self::Bootstrap { .. }
            | Self::DeleteIndices { .. }
            | Self::DeleteDataStreams { .. }
            | Self::DeleteTemplates { .. }
            | Self::DeleteScript { .. }
            | Self::SetOpen { .. }
            | Self::EndCopy { .. }
            | Self::NoteRollover { .. } => Growth::None,
            _ => Growth::Unknown,
        }
    }
}

/// Are all of these settings blocks, of which there are a few?
fn sets_blocks(settings: &Value) -> bool {
    let flat = prefixed(settings);
    flat.is_ok_and(|flat| flat.keys().all(|name| name.starts_with("index.blocks.")))
}

fn index_bytes(index: &Index) -> usize {
    let shards = if index.open { index.settings.shard_count() as usize } else { 0 };
    let names = 2 * index.name.len();
    let own = INDEX_BYTES + names + shards * SHARD_BYTES + settings_bytes(&index.settings);
    let rollovers = index.rollovers.iter();
    let rollovers =
        rollovers.map(|(name, rolled)| NAME_BYTES + name.len() + rolled.met.held_bytes());
    own + index.mapping.text_bytes()
        + aliases_bytes(index.aliases.iter().map(|(name, alias)| (&**name, alias)))
        + rollovers.sum::<usize>()
}

fn settings_bytes(settings: &IndexSettings) -> usize {
    settings.iter().map(|(name, value)| NAME_BYTES + name.len() + value.held_bytes()).sum()
}

fn aliases_bytes<'a>(aliases: impl Iterator<Item = (&'a str, &'a Alias)>) -> usize {
    let one = |(name, alias): (&str, &Alias)| {
        let routing = [&alias.index_routing, &alias.search_routing].into_iter().flatten();
        let routing: usize = routing.map(|text| text.len()).sum();
        // Its name stands in a table of the state, too.
        let filter = alias.filter.as_ref().map_or(0, |filter| filter.held_bytes());
        2 * (NAME_BYTES + name.len()) + size_of::<Alias>() + routing + filter
    };
    aliases.map(one).sum()
}

fn value_bytes(value: &Option<Value>) -> usize {
    value.as_ref().map_or(0, Value::held_bytes)
}

fn part_bytes(part: &Part) -> usize {
    let aliases = part.aliases.iter().flatten();
    part.settings.as_ref().map_or(0, settings_bytes)
        + value_bytes(&part.mappings)
        + aliases_bytes(aliases.map(|(name, alias)| (name.as_str(), alias)))
}

fn index_template_bytes(template: &IndexTemplate) -> usize {
    let missing = template.ignore_missing.iter().flatten();
    let names = template.patterns.iter().chain(&template.composed_of).chain(missing);
    let names: usize = names.map(|name| NAME_BYTES + name.len()).sum();
    let part = template.template.as_ref().map_or(0, part_bytes);
    size_of::<IndexTemplate>() + names + part + value_bytes(&template.meta)
}

fn component_bytes(template: &ComponentTemplate) -> usize {
    size_of::<ComponentTemplate>() + part_bytes(&template.template) + value_bytes(&template.meta)
}

fn legacy_bytes(template: &LegacyTemplate) -> usize {
    let names: usize = template.patterns.iter().map(|name| NAME_BYTES + name.len()).sum();
    size_of::<LegacyTemplate>() + names + part_bytes(&template.part)
}

fn stream_bytes(stream: &DataStream) -> usize {
    let names: usize = stream.indices.iter().map(|name| NAME_BYTES + name.len()).sum();
    size_of::<DataStream>() + names + value_bytes(&stream.meta)
}

fn cluster_settings_bytes(settings: &ClusterSettings) -> usize {
    let layers = [settings.persistent(), settings.transient()].into_iter();
    let each = layers.flat_map(|layer| layer.iter());
    each.map(|(name, value)| NAME_BYTES + name.len() + value.held_bytes()).sum()
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;
    use crate::apply::apply;
    use crate::command::NewIndex;

    fn with(state: &State, number: u16, mappings: Value) -> State {
        let mut uuid = [0; 16];
        uuid[..2].copy_from_slice(&number.to_le_bytes());
        let new = NewIndex { mappings, ..NewIndex::new(&format!("i{number}"), uuid, 0) };
        apply(state, &Command::CreateIndex(new)).0
    }

    fn fields(prefix: &str, count: usize) -> Value {
        let field = |at: usize| (format!("{prefix}{at}"), json!({"type": "text"}));
        let mut body = json::Object::new();
        body.insert("properties", Value::Object((0..count).map(field).collect()));
        Value::Object(body)
    }

    /// What rules of synonyms take was counted by nobody.
    #[test]
    fn rules_of_analyzers_weigh_what_they_take() {
        let weigh = |analyzers: usize| {
            let words: Vec<String> = (0..100).map(|at| format!("w{at}")).collect();
            let filter = json!({"same": {"type": "synonym", "synonyms": [(words.join(","))]}});
            let one = |at| (format!("a{at}"), json!({"tokenizer": "keyword", "filter": ["same"]}));
            let analyzers: json::Object = (0..analyzers).map(one).collect();
            let analyzers = Value::Object(analyzers);
            let settings = json!({"analysis": {"filter": filter, "analyzer": analyzers}});
            let new = NewIndex { settings, ..NewIndex::new("i", [1; 16], 0) };
            let state = Arc::new(apply(&State::default(), &Command::CreateIndex(new)).0);
            assert_eq!(state.indices.len(), 1);
            Weight::of(&state, None).bytes()
        };
        let (one, two) = (weigh(1), weigh(2));
        assert!(two - one > 100 * 99 * 16, "{one}, {two}");
    }

    #[test]
    fn what_is_shared_counts_once_and_a_weight_rests_on_the_one_before() {
        let one = Arc::new(with(&State::default(), 1, fields("f", 900)));
        let first = Weight::of(&one, None);
        let tree = one.index("i1").expect("made").mapping.tree_bytes();
        assert!(first.bytes() > tree && tree > 900 * 300, "{} with {tree}", first.bytes());
        let two = Arc::new(with(&one, 2, fields("f", 900)));
        let second = Weight::of(&two, Some(&first));
        assert!(second.bytes() - first.bytes() < tree / 3, "the tree is shared");
        let three = Arc::new(with(&two, 3, fields("g", 900)));
        let third = Weight::of(&three, Some(&second));
        assert!(third.bytes() - second.bytes() > tree);
        assert_eq!(third.bytes(), Weight::of(&three, None).bytes(), "known or looked at");
    }

    #[test]
    fn large_values_weigh_wherever_they_stand() {
        let large = "x".repeat(100_000);
        let meta = json!({"_meta": {"note": (large.clone())}});
        let empty = Weight::of(&Arc::new(State::default()), None).bytes();
        let weight = |state: State| Weight::of(&Arc::new(state), None).bytes() - empty;
        assert!(weight(with(&State::default(), 1, meta)) > 100_000);
        let component =
            ComponentTemplate { meta: Some(Value::from(&*large)), ..Default::default() };
        let put =
            Command::PutComponentTemplate { name: "c".into(), template: component, create: false };
        assert!(weight(apply(&State::default(), &put).0) > 100_000);
        let put = Command::PutScript { id: "s".into(), script: Value::from(&*large) };
        assert!(weight(apply(&State::default(), &put).0) > 100_000);
    }
}
