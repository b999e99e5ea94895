//! Settings of one index: flat names with text values, validated in Elasticsearch's words, and the
//! typed ones that our floors read.
//!
//! Nested and dotted keys mean the same, with or without the prefix `index.`. Values are kept as
//! text (lists as lists of text), as Elasticsearch shows them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::units;
use json::{Object, Value};
use mapping::similarity::{self, Similarity};

use crate::command::Rules;
use crate::error::{Error, Result};
use crate::settings_table::{Kind, Type, find};

mod check;
mod door;
mod read;
mod sort;
mod values;

pub use crate::settings_table::{Known, TABLE};
use check::{Change, Refusal, check_by};
pub(crate) use check::{check_as, check_text, no_text};
pub(crate) use door::is_time;
pub use door::plain;
pub use read::{flatten, prefixed};
pub(crate) use values::{Share, addresses, fraction as fraction_as, host, takes_sizes};

/// Beginnings of the settings that a mapping is made with.
const ASKED_BY_MAPPINGS: [&str; 6] = [
    "index.analysis.",
    "index.mapping.",
    "index.max_ngram_diff",
    "index.max_shingle_diff",
    "index.similarity.",
    "index.sort.",
];

const ROUTING_SHARDS: &str = "index.number_of_routing_shards";

/// Settings of one index, checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexSettings {
    flat: BTreeMap<String, Value>,
    /// Of an index that was made from another's shards: the routing shards of that one.
    routing_shards: Option<u32>,
}

impl IndexSettings {
    /// Reads the `settings` of a create request.
    ///
    /// # Errors
    /// An unknown or private setting, or a value that cannot be read.
    pub fn parse(settings: &Value) -> Result<Self> {
        Self::parse_by(Rules::Now, settings)
    }

    /// As [`IndexSettings::parse`], by these rules.
    ///
    /// # Errors
    /// As there.
    pub fn parse_by(rules: Rules, settings: &Value) -> Result<Self> {
        // What changed once a setting was there counts for updates alone.
        let rules = if rules == Rules::Before { Rules::Former } else { rules };
        let mut flat = prefixed(settings)?;
        for (name, value) in &flat {
            check_by(rules, name, value, Change::Create)?;
        }
        flat.retain(|_, value| !value.is_null());
        let made = Self { flat, routing_shards: None };
        let shards = made.shard_count();
        if let Some(routing) = made.int(ROUTING_SHARDS)
            && (routing < u64::from(shards) || routing % u64::from(shards) != 0)
        {
            if routing < u64::from(shards) {
                return Err(Error::argument(format!(
                    "index.number_of_routing_shards [{routing}] must be >= \
                     index.number_of_shards [{shards}]"
                )));
            }
            return Err(Error::argument(format!(
                "the number of source shards [{shards}] must be a factor of [{routing}]"
            )));
        }
        sort::read(&made)?;
        made.similarities()?;
        made.check_copies()?;
        Ok(made)
    }

    /// Restores what [`IndexSettings::to_flat`] gave.
    pub fn from_flat(settings: &Value) -> Self {
        let flat = settings
            .as_object()
            .map(|object| {
                object.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
            })
            .unwrap_or_default();
        Self { flat, routing_shards: None }
    }

    /// Those of a template: names and values are judged, nothing is completed.
    ///
    /// # Errors
    /// As [`IndexSettings::parse`].
    pub fn parse_part(settings: &Value) -> Result<Self> {
        let flat = prefixed(settings)?;
        for (name, value) in &flat {
            check_by(Rules::Now, name, value, Change::Create)?;
        }
        Ok(Self { flat, routing_shards: None })
    }

    /// These settings with `update` worked in by `rules`; a null takes a setting back to its default.
    ///
    /// # Errors
    /// A setting that cannot be changed while the index is `open`, named with `index`
    /// (`name/uuid`); an unknown one; a value that cannot be read.
    pub fn update(
        &self,
        update: &Value,
        preserve: bool,
        (open, rules): (bool, Rules),
        index: &str,
    ) -> Result<Self> {
        let mut flat = self.flat.clone();
        let mut fixed = Vec::new();
        let change = if open { Change::Open } else { Change::Closed };
        let check = |name: &str, value: &Value| check_by(rules, name, value, change);
        for (name, value) in prefixed(update)? {
            if value.is_null() && name.contains('*') {
                // A pattern takes everything back that it names and that may be changed now.
                flat.retain(|known, _| {
                    !json::path::glob(name.as_bytes(), known.as_bytes())
                        || check(known, &Value::Null).is_err()
                });
                continue;
            }
            match check(&name, &value) {
                Ok(()) => {}
                Err(Refusal::Fixed) => {
                    fixed.push(name);
                    continue;
                }
                Err(Refusal::Wrong(error)) => return Err(error),
            }
            if preserve && flat.contains_key(&name) {
                continue;
            }
            if value.is_null() {
                flat.remove(&name);
            } else {
                flat.insert(name, value);
            }
        }
        if !fixed.is_empty() {
            if !open {
                return Err(Error::argument(format!(
                    "final {} setting [{}], not updateable",
                    index.split('/').next().unwrap_or(index),
                    fixed[0]
                )));
            }
            return Err(Error::argument(format!(
                "Can't update non dynamic settings [[{}]] for open indices [[{index}]]",
                fixed.join(", ")
            )));
        }
        let changed = Self { flat, routing_shards: self.routing_shards };
        changed.similarities()?;
        changed.check_copies()?;
        Ok(changed)
    }

    /// No write may wait for more copies than there can be.
    fn check_copies(&self) -> Result<()> {
        const NAME: &str = "index.write.wait_for_active_shards";
        let copies = u64::from(self.replica_count()) + 1;
        match self.text(NAME).and_then(|text| text.parse::<u64>().ok()) {
            Some(asked) if asked > copies => Err(Error::argument(format!(
                "invalid {NAME}[{asked}]: cannot be greater than number of shard copies [{copies}]"
            ))),
            _ => Ok(()),
        }
    }

    /// Routing shards that were taken over from another index.
    pub(crate) fn routing_shards_kept(&self) -> Option<u32> {
        self.routing_shards
    }

    /// Takes over another index's routing shards.
    pub(crate) fn keep_routing_shards(&mut self, count: Option<u32>) {
        self.routing_shards = count;
    }

    /// Copies are as many as `index.auto_expand_replicas` says for one node.
    pub(crate) fn expand_replicas(&mut self) {
        let lowest = match self.text("index.auto_expand_replicas") {
            None | Some("false") => return,
            Some(range) => range.split('-').next().unwrap_or("0").to_owned(),
        };
        self.flat.insert("index.number_of_replicas".to_owned(), Value::from(lowest));
    }

    /// Says that the index was closed in order, or no more.
    pub(crate) fn set_verified_before_close(&mut self, closed: bool) {
        const NAME: &str = "index.verified_before_close";
        if closed {
            self.set_private(NAME, "true");
        } else {
            self.flat.remove(NAME);
        }
    }

    /// Flat names, values as text: those that match none of `names` left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.flat.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// What counts where nothing is set: nested, of every setting that is not set here, on a node
    /// of so many `processors`. Lists are lists, and empty where nothing counts.
    pub fn defaults_to_nested(&self, processors: u32) -> Value {
        // Elasticsearch reckons the defaults without what is set: a limit that is derived from
        // another setting is that of the other's default.
        let merge_threads = (processors / 2).clamp(1, 4);
        let mut root = Object::new();
        let is_shown = |name: &str| name != ROUTING_SHARDS && self.flat.contains_key(name);
        for known in TABLE.iter().filter(|known| !is_shown(known.name)) {
            let value = match known.name {
                "index.merge.scheduler.max_thread_count" => merge_threads.to_string().into(),
                "index.merge.scheduler.max_merge_count" => (merge_threads + 5).to_string().into(),
                ROUTING_SHARDS => "1".into(),
                // What is not set is true all the same, as its fields have it.
                "index.mapping.coerce" => "false".into(),
                // What the server alone sets is there, or says nothing.
                _ if known.kind == Kind::Private && known.default.is_empty() => continue,
                _ if known.ty == Type::List => {
                    let all = known.default.split(',').filter(|one| !one.is_empty());
                    Value::Array(all.map(Value::from).collect())
                }
                _ => known.default.into(),
            };
            place(&mut root, known.name, &value);
        }
        Value::Object(root)
    }

    /// Sets what only the server sets.
    pub(crate) fn set_private(&mut self, name: &str, value: impl Into<Value>) {
        debug_assert!(find(name).is_some_and(|known| known.kind == Kind::Private));
        self.flat.insert(name.to_owned(), value.into());
    }

    /// Sets what nobody has set.
    pub(crate) fn fill(&mut self, name: &str, value: &str) {
        if !self.flat.contains_key(name) {
            self.flat.insert(name.to_owned(), Value::from(value));
        }
    }

    /// Those that an index shows: what was asked of its routing shards counts while it is made, and is told as their
    /// number afterwards.
    pub fn shown(&self) -> Self {
        let mut shown = self.clone();
        shown.flat.remove(ROUTING_SHARDS);
        shown
    }

    /// A normalizer makes one word of a value: it has no tokenizer. That is asked of new indices.
    pub(crate) fn check_normalizers(&self) -> Result<()> {
        let part = |name: &str| {
            let part = name.strip_prefix("index.analysis.normalizer.")?;
            part.strip_suffix(".tokenizer").map(str::to_owned)
        };
        match self.flat.keys().find_map(|name| part(name)) {
            Some(name) => Err(Error::argument(format!(
                "Custom normalizer [{name}] cannot configure a tokenizer"
            ))),
            None => Ok(()),
        }
    }

    /// Flat names, values as text: for the state.
    pub fn to_flat(&self) -> Value {
        Value::Object(self.flat.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Nested: `{"index":{"number_of_shards":"1",…}}`, as `GET /{index}` shows it.
    pub fn to_nested(&self) -> Value {
        let mut root = Object::new();
        for (name, value) in &self.flat {
            place(&mut root, name, value);
        }
        Value::Object(root)
    }

    /// The text of one setting, where it is set.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.flat.get(name).and_then(Value::as_str)
    }

    /// The texts of a setting that may hold several; none where it is not set.
    pub fn list(&self, name: &str) -> Vec<String> {
        match self.flat.get(name) {
            Some(Value::String(text)) => {
                text.split(',').map(|part| part.trim().to_owned()).collect()
            }
            Some(Value::Array(all)) => {
                all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    /// `index.number_of_shards`.
    pub fn shard_count(&self) -> u32 {
        self.int("index.number_of_shards").unwrap_or(1) as u32
    }

    /// `index.number_of_replicas`.
    pub fn replica_count(&self) -> u32 {
        self.int("index.number_of_replicas").unwrap_or(1) as u32
    }

    /// `index.number_of_routing_shards`, else Elasticsearch's default: the shards doubled as often
    /// as stays within 1024, at least once. An index that was made from another's shards keeps
    /// that one's.
    pub fn routing_shard_count(&self) -> u32 {
        if let Some(count) = self.routing_shards {
            return count;
        }
        let shards = self.shard_count();
        self.int(ROUTING_SHARDS).map_or_else(
            || {
                let bits = 32 - (shards - 1).leading_zeros();
                shards << 10_u32.saturating_sub(bits).max(1)
            },
            |count| count as u32,
        )
    }

    /// An integer setting, its default where it has one.
    pub fn int(&self, name: &str) -> Option<u64> {
        let text = self.text(name).or_else(|| find(name).map(|known| known.default))?;
        text.parse().ok()
    }

    /// A boolean setting.
    pub fn flag(&self, name: &str) -> bool {
        self.text(name).or_else(|| find(name).map(|known| known.default)) == Some("true")
    }

    /// A time: `None` where not set, `Some(None)` for `-1`.
    pub fn time(&self, name: &str) -> Option<Option<Duration>> {
        units::time(name, self.text(name)?).ok()
    }

    /// A size in bytes, its default where it has one.
    pub fn bytes(&self, name: &str) -> Option<u64> {
        let text = self.text(name).or_else(|| find(name).map(|known| known.default))?;
        units::bytes(name, text).ok().flatten()
    }

    /// Would [`Self::for_mapping`] be the same of `other`?
    pub(crate) fn means_the_same_to_mappings(&self, other: &Self) -> bool {
        let asked = |(name, _): &(&String, &Value)| {
            ASKED_BY_MAPPINGS.iter().any(|part| name.starts_with(part))
        };
        self.flat.iter().filter(asked).eq(other.flat.iter().filter(asked))
    }

    /// What the mapping asks of the settings: of those alone whose names begin as [`ASKED_BY_MAPPINGS`] says.
    ///
    /// # Errors
    /// Where `analysis` is wrong, in Elasticsearch's words.
    pub fn for_mapping(&self) -> Result<Arc<mapping::Settings>> {
        let mut analysis = Object::new();
        for (name, value) in self.flat.range("index.analysis.".to_owned()..) {
            let Some(path) = name.strip_prefix("index.analysis.") else { break };
            // group.name.key: the key may hold dots of its own, a name cannot.
            let mut parts = path.splitn(3, '.');
            let (Some(group), Some(part), Some(key)) = (parts.next(), parts.next(), parts.next())
            else {
                return Err(Error::argument(format!("unknown setting [{name}]")));
            };
            let group = analysis.get_or_insert_with(group, Value::object);
            if let Some(part) =
                group.as_object_mut().map(|group| group.get_or_insert_with(part, Value::object))
                && let Some(part) = part.as_object_mut()
            {
                part.insert(key, value.clone());
            }
        }
        let limit =
            |name: &str| self.int(name).map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        let default = mapping::analysis::GramLimits::default();
        let limits = mapping::analysis::GramLimits {
            ngram: limit("index.max_ngram_diff").unwrap_or(default.ngram),
            shingle: limit("index.max_shingle_diff").unwrap_or(default.shingle),
        };
        let registry = mapping::analysis::Registry::parse_with(&Value::Object(analysis), limits)?;
        Ok(Arc::new(mapping::Settings {
            analysis: Arc::new(registry),
            limits: mapping::Limits {
                total_fields: self.int("index.mapping.total_fields.limit").unwrap_or(1000),
                depth: self.int("index.mapping.depth.limit").unwrap_or(20),
                field_name_length: self
                    .int("index.mapping.field_name_length.limit")
                    .unwrap_or(u64::MAX),
                nested_fields: self.int("index.mapping.nested_fields.limit").unwrap_or(50),
                nested_objects: self.int("index.mapping.nested_objects.limit").unwrap_or(10_000),
                ignore_dynamic_beyond: self
                    .flag("index.mapping.total_fields.ignore_dynamic_beyond_limit"),
            },
            ignore_malformed: self.flag("index.mapping.ignore_malformed"),
            no_coerce: !self.flag("index.mapping.coerce"),
            ignore_above: self
                .int("index.mapping.ignore_above")
                .and_then(|most| u32::try_from(most).ok())
                .filter(|most| *most < i32::MAX as u32),
            source_mode: self
                .text("index.mapping.source.mode")
                .and_then(mapping::SourceMode::of_name)
                .unwrap_or_default(),
            keep_arrays: self
                .text("index.mapping.synthetic_source_keep")
                .is_some_and(|what| what.eq_ignore_ascii_case("arrays")),
            sort: sort::read(self)?,
            similarities: self.similarities()?,
        }))
    }

    /// The similarities that the index defines, by name.
    ///
    /// # Errors
    /// A definition that is none, in Elasticsearch's words.
    fn similarities(&self) -> Result<Vec<(Arc<str>, Similarity)>> {
        const PREFIX: &str = "index.similarity.";
        let mut definitions: BTreeMap<&str, similarity::Settings<'_>> = BTreeMap::new();
        for (setting, value) in self.flat.range(PREFIX.to_owned()..) {
            let Some(path) = setting.strip_prefix(PREFIX) else { break };
            // A name has no dots, its settings may.
            let (name, key) = path.split_once('.').ok_or_else(|| {
                Error::argument(format!("Invalid settings group: [{setting}] has no name and key"))
            })?;
            let text = value
                .as_str()
                .ok_or_else(|| Error::argument(format!("setting [{setting}] must be a text")))?;
            definitions.entry(name).or_default().insert(key, text);
        }
        definitions
            .iter()
            .map(|(name, settings)| {
                let similarity = Similarity::parse(name, settings).map_err(Error::Mapping)?;
                Ok(((*name).into(), similarity))
            })
            .collect()
    }
}

/// May an index have a setting of this name that somebody sets?
pub fn is_known(name: &str) -> bool {
    find(name).is_some_and(|known| known.kind != Kind::Private)
}

/// The text of a value of this setting of an index that is a size of a number that is not whole: `1.5gb`.
pub fn fraction<'v>(name: &str, value: &'v Value) -> Option<&'v str> {
    fraction_as(find(name)?.ty, value)
}

/// Is it set by the server only?
pub fn is_private(name: &str) -> bool {
    find(name).is_some_and(|known| known.kind == Kind::Private)
}

/// Puts a value at a dotted name. `a.b.c` beside a value at `a.b` stays dotted from there on, as
/// Elasticsearch does it.
pub(crate) fn place(object: &mut Object, name: &str, value: &Value) {
    let Some((head, rest)) = name.split_once('.') else {
        object.insert(name, value.clone());
        return;
    };
    match object.get_or_insert_with(head, Value::object) {
        Value::Object(inner) => place(inner, rest, value),
        _ => {
            object.insert(name, value.clone());
        }
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
