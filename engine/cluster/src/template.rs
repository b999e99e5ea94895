//! Templates: what new indices begin with. Three kinds: index templates, the component templates
//! they are put together from, and those of the old kind.
//!
//! Always true
//! 1. What is kept was judged: settings are known, mappings can be read, components are there.
//! 2. Two index templates of one priority never fit the same name.
//!
//! Not here: which fit a name, and what they give together (`compose`); the judging (`check`).

use std::collections::BTreeMap;
use std::sync::Arc;

use json::{Object, Value};
use mapping::types::boolean;

use crate::alias::Alias;
use crate::error::{Error, Result};
use crate::name;
use crate::settings::IndexSettings;

pub mod check;
pub mod compose;
mod merge;

pub use compose::{Composed, fits, overlap, overlap_steps};

/// All templates.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    /// Index templates by name.
    pub index: BTreeMap<Arc<str>, Arc<IndexTemplate>>,
    /// Component templates by name.
    pub component: BTreeMap<Arc<str>, Arc<ComponentTemplate>>,
    /// Those of the old kind by name.
    pub legacy: BTreeMap<Arc<str>, Arc<LegacyTemplate>>,
}

/// What a template puts into an index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Settings.
    pub settings: Option<IndexSettings>,
    /// Mappings, as they were sent.
    pub mappings: Option<Value>,
    /// Aliases by name.
    pub aliases: Option<BTreeMap<String, Alias>>,
}

/// `_component_template`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComponentTemplate {
    /// What it puts into an index.
    pub template: Part,
    /// The user's number.
    pub version: Option<i64>,
    /// The user's notes.
    pub meta: Option<Value>,
    /// Whoever uses it is warned.
    pub deprecated: Option<bool>,
}

/// `_index_template`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexTemplate {
    /// Names it fits.
    pub patterns: Vec<String>,
    /// What it puts into an index itself.
    pub template: Option<Part>,
    /// Component templates, in order.
    pub composed_of: Vec<String>,
    /// Component templates that may be missing.
    pub ignore_missing: Option<Vec<String>>,
    /// The highest wins.
    pub priority: Option<u64>,
    /// The user's number.
    pub version: Option<i64>,
    /// The user's notes.
    pub meta: Option<Value>,
    /// It makes data streams.
    pub data_stream: Option<StreamOptions>,
    /// May a write make an index by it?
    pub allow_auto_create: Option<bool>,
    /// Whoever uses it is warned.
    pub deprecated: Option<bool>,
}

/// `data_stream` of an index template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// The stream hides from wildcards.
    pub hidden: bool,
    /// Documents may bring a routing value.
    pub allow_custom_routing: bool,
}

/// `_template`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LegacyTemplate {
    /// Names it fits.
    pub patterns: Vec<String>,
    /// Later ones are worked in over earlier ones.
    pub order: i64,
    /// The user's number.
    pub version: Option<i64>,
    /// What it puts into an index.
    pub part: Part,
}

/// Keys of each kind of body, for those who check names and places.
pub const INDEX_KEYS: &[&str] = &[
    "index_patterns",
    "template",
    "composed_of",
    "priority",
    "version",
    "_meta",
    "data_stream",
    "allow_auto_create",
    "ignore_missing_component_templates",
    "deprecated",
];

/// As [`INDEX_KEYS`], of `data_stream` in it. Elasticsearch 8 takes `failure_store` there and forgets it.
pub const STREAM_KEYS: &[&str] = &["hidden", "allow_custom_routing", "failure_store"];

/// As [`INDEX_KEYS`], of a component template.
pub const COMPONENT_KEYS: &[&str] = &["template", "version", "_meta", "deprecated"];

impl Part {
    /// Reads `settings`, `mappings`, `aliases`; other keys are somebody else's.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn parse(body: &Value) -> Result<Self> {
        let object = |key: &str| match body.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value @ Value::Object(_)) => Ok(Some(value)),
            // Mappings may come as text.
            Some(_) => Err(Error::Parse { reason: format!("key [{key}] must be an object") }),
        };
        let mut aliases = None;
        if let Some(map) = object("aliases")?.and_then(Value::as_object) {
            let mut found = BTreeMap::new();
            for (alias, said) in map.iter() {
                name::check_alias(alias)?;
                found.insert(alias.to_owned(), Alias::parse(alias, said)?);
            }
            aliases = Some(found);
        }
        Ok(Self {
            settings: object("settings")?.map(IndexSettings::parse_part).transpose()?,
            mappings: object("mappings")?.map(|mappings| untyped(mappings).clone()),
            aliases,
        })
    }

    /// As it is shown, into `object`.
    pub fn show(&self, object: &mut Object) {
        if let Some(settings) = &self.settings {
            object.insert("settings", settings.to_nested());
        }
        if let Some(mappings) = &self.mappings {
            object.insert("mappings", mappings.clone());
        }
        if let Some(aliases) = &self.aliases {
            object.insert("aliases", aliases_json(aliases));
        }
    }

    fn to_json(&self) -> Value {
        let mut object = Object::new();
        self.show(&mut object);
        Value::Object(object)
    }
}

/// `{"name":{…}}`.
pub(crate) fn aliases_json(aliases: &BTreeMap<String, Alias>) -> Value {
    Value::Object(aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json())).collect())
}

/// Mappings without the level `_doc` that older clients put around them.
fn untyped(mappings: &Value) -> &Value {
    match mappings.as_object() {
        Some(object) if object.len() == 1 => mappings.get("_doc").unwrap_or(mappings),
        _ => mappings,
    }
}

fn texts(body: &Value, key: &str) -> Result<Option<Vec<String>>> {
    match body.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(vec![text.clone()])),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
            .map(Some)
            .ok_or_else(|| Error::Parse { reason: format!("[{key}] must be a list of texts") }),
        Some(_) => Err(Error::Parse { reason: format!("[{key}] must be a list of texts") }),
    }
}

fn integer(body: &Value, key: &str) -> Result<Option<i64>> {
    match body.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_i64()
            .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
            .map(Some)
            .ok_or_else(|| Error::argument(format!("Malformed [{key}] value, should be a number"))),
    }
}

fn flag(body: &Value, key: &str) -> Result<Option<bool>> {
    match body.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(Value::String(text)) if text == "true" || text == "false" => Ok(Some(text == "true")),
        Some(other) => {
            let text = other.as_str().map_or_else(|| json::to_string(other), str::to_owned);
            Err(Error::argument(boolean::neither(&text)))
        }
    }
}

fn meta(body: &Value) -> Option<Value> {
    body.get("_meta").filter(|meta| matches!(meta, Value::Object(_))).cloned()
}

impl ComponentTemplate {
    /// Reads the body of a request, or what [`ComponentTemplate::to_json`] gave.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn parse(body: &Value) -> Result<Self> {
        let template = body
            .get("template")
            .filter(|part| matches!(part, Value::Object(_)))
            .ok_or_else(|| Error::argument("Required [template]"))?;
        Ok(Self {
            template: Part::parse(template)?,
            version: integer(body, "version")?,
            meta: meta(body),
            deprecated: flag(body, "deprecated")?,
        })
    }

    /// As it is shown.
    pub fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("template", self.template.to_json());
        if let Some(version) = self.version {
            object.insert("version", version);
        }
        if let Some(meta) = &self.meta {
            object.insert("_meta", meta.clone());
        }
        if let Some(deprecated) = self.deprecated {
            object.insert("deprecated", deprecated);
        }
        Value::Object(object)
    }
}

impl IndexTemplate {
    /// Reads the body of a request, or what [`IndexTemplate::to_json`] gave.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn parse(body: &Value) -> Result<Self> {
        let priority = integer(body, "priority")?;
        if priority.is_some_and(|priority| priority < 0) {
            return Err(Error::Invalid {
                problems: vec!["index template priority must be >= 0".to_owned()],
            });
        }
        let data_stream = match body.get("data_stream") {
            None | Some(Value::Null) => None,
            Some(options @ Value::Object(_)) => Some(StreamOptions {
                hidden: flag(options, "hidden")?.unwrap_or(false),
                allow_custom_routing: flag(options, "allow_custom_routing")?.unwrap_or(false),
            }),
            Some(_) => {
                return Err(Error::Parse { reason: "[data_stream] must be an object".to_owned() });
            }
        };
        Ok(Self {
            patterns: texts(body, "index_patterns")?
                .ok_or_else(|| Error::argument("Required [index_patterns]"))?,
            template: match body.get("template") {
                None | Some(Value::Null) => None,
                Some(part) => Some(Part::parse(part)?),
            },
            composed_of: texts(body, "composed_of")?.unwrap_or_default(),
            ignore_missing: texts(body, "ignore_missing_component_templates")?,
            priority: priority.map(|priority| priority as u64),
            version: integer(body, "version")?,
            meta: meta(body),
            data_stream,
            allow_auto_create: flag(body, "allow_auto_create")?,
            deprecated: flag(body, "deprecated")?,
        })
    }

    /// As it is shown.
    pub fn to_json(&self) -> Value {
        let list = |names: &[String]| names.iter().map(String::as_str).collect::<Value>();
        let mut object = Object::new();
        object.insert("index_patterns", list(&self.patterns));
        if let Some(template) = &self.template {
            object.insert("template", template.to_json());
        }
        object.insert("composed_of", list(&self.composed_of));
        if let Some(priority) = self.priority {
            object.insert("priority", priority);
        }
        if let Some(version) = self.version {
            object.insert("version", version);
        }
        if let Some(meta) = &self.meta {
            object.insert("_meta", meta.clone());
        }
        if let Some(options) = &self.data_stream {
            object.insert("data_stream", options.to_json());
        }
        if let Some(allow) = self.allow_auto_create {
            object.insert("allow_auto_create", allow);
        }
        if let Some(names) = &self.ignore_missing {
            object.insert("ignore_missing_component_templates", list(names));
        }
        if let Some(deprecated) = self.deprecated {
            object.insert("deprecated", deprecated);
        }
        Value::Object(object)
    }
}

impl StreamOptions {
    fn to_json(self) -> Value {
        let mut object = Object::new();
        object.insert("hidden", self.hidden);
        object.insert("allow_custom_routing", self.allow_custom_routing);
        Value::Object(object)
    }
}

impl LegacyTemplate {
    /// Reads the body of a request, or what [`LegacyTemplate::to_json`] gave.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn parse(body: &Value) -> Result<Self> {
        const KEYS: [&str; 6] =
            ["index_patterns", "order", "version", "settings", "mappings", "aliases"];
        let unknown = body
            .as_object()
            .and_then(|object| object.keys().find(|key| !KEYS.contains(key)).map(str::to_owned));
        if let Some(key) = unknown {
            return Err(Error::Parse { reason: format!("unknown key [{key}] in the template ") });
        }
        Ok(Self {
            patterns: texts(body, "index_patterns")?.unwrap_or_default(),
            order: integer(body, "order")?.unwrap_or(0),
            version: integer(body, "version")?,
            part: Part::parse(body)?,
        })
    }

    /// As it is shown.
    pub fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("order", self.order);
        if let Some(version) = self.version {
            object.insert("version", version);
        }
        object
            .insert("index_patterns", self.patterns.iter().map(String::as_str).collect::<Value>());
        let empty = Value::object;
        object.insert(
            "settings",
            self.part.settings.as_ref().map_or_else(empty, IndexSettings::to_nested),
        );
        object.insert("mappings", self.part.mappings.clone().unwrap_or_else(empty));
        object.insert("aliases", self.part.aliases.as_ref().map_or_else(empty, aliases_json));
        Value::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn templates_read_back_as_they_are_shown() {
        let index = json!({
            "index_patterns": ["a*"],
            "template": {
                "settings": {"index": {"number_of_shards": "2"}},
                "mappings": {"properties": {"x": {"type": "long"}}},
                "aliases": {"al": {}},
            },
            "composed_of": ["c"],
            "priority": 3,
            "version": 1,
            "_meta": {"by": "me"},
            "data_stream": {"hidden": false, "allow_custom_routing": false},
            "allow_auto_create": true,
            "ignore_missing_component_templates": ["c"],
        });
        assert_eq!(IndexTemplate::parse(&index).expect("reads").to_json(), index);
        let component = json!({"template": {"settings": {"index": {"hidden": "true"}}}});
        assert_eq!(ComponentTemplate::parse(&component).expect("reads").to_json(), component);
        let legacy = json!({
            "order": 1, "index_patterns": ["y*"], "settings": {}, "mappings": {}, "aliases": {},
        });
        assert_eq!(LegacyTemplate::parse(&legacy).expect("reads").to_json(), legacy);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let reason = |body: Value| IndexTemplate::parse(&body).expect_err("wrong").to_string();
        assert_eq!(reason(json!({})), "Required [index_patterns]");
        assert!(reason(json!({"index_patterns": 1})).contains("list of texts"));
        assert!(reason(json!({"index_patterns": "a", "priority": -1})).contains("must be >= 0"));
        let unknown = json!({"index_patterns": "a", "template": {"settings": {"foo": 1}}});
        assert!(reason(unknown).starts_with("unknown setting [index.foo]"));
        let error = ComponentTemplate::parse(&json!({})).expect_err("no template");
        assert_eq!(error.to_string(), "Required [template]");
    }
}
