//! Which templates fit a name, and what they give together.

use std::collections::{BTreeMap, BTreeSet};

use json::{Object, Value};

use super::{IndexTemplate, LegacyTemplate, Part, StreamOptions, Templates, aliases_json, merge};
use crate::alias::Alias;
use crate::data_stream::TIMESTAMP;
use crate::error::{Error, Result};
use crate::patterns::STEPS_MAX;
use crate::settings::{IndexSettings, prefixed};

/// What templates, and perhaps a request, give together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Composed {
    /// Flat names; a null takes back what an earlier part said.
    pub settings: BTreeMap<String, Value>,
    /// Mappings.
    pub mappings: Value,
    /// Aliases by name; of the templates first, then of the request.
    pub aliases: BTreeMap<String, Value>,
}

impl Composed {
    fn new() -> Self {
        Self { mappings: Value::object(), ..Self::default() }
    }

    /// Settings as an object of flat names.
    pub fn settings_json(&self) -> Value {
        Value::Object(
            self.settings.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        )
    }

    /// Aliases as an object.
    pub fn aliases_json(&self) -> Value {
        Value::Object(
            self.aliases.iter().map(|(name, alias)| (name.clone(), alias.clone())).collect(),
        )
    }

    /// The settings nested, as a simulation shows them.
    pub fn settings_nested(&self) -> Value {
        let mut flat = self.settings.clone();
        flat.retain(|_, value| !value.is_null());
        IndexSettings::from_flat(&Value::Object(flat.into_iter().collect())).to_nested()
    }

    fn part(&mut self, part: &Part, mappings: fn(&mut Value, &Value)) {
        if let Some(settings) = &part.settings {
            let flat = settings.iter().map(|(name, value)| (name.to_owned(), value.clone()));
            self.settings.extend(flat);
        }
        if let Some(over) = &part.mappings {
            mappings(&mut self.mappings, over);
        }
        if let Some(aliases) = &part.aliases {
            let shown = aliases.iter().map(|(name, alias)| (name.clone(), alias.to_json()));
            self.aliases.extend(shown);
        }
    }

    /// Adds the field by which documents of a data stream say when they happened, where nothing is said
    /// of it. It takes nothing malformed, whatever the index's setting says of others.
    ///
    /// # Errors
    /// As [`Composed::request`].
    pub fn add_timestamp(&mut self) -> Result<()> {
        if self.mappings.at(&["properties", TIMESTAMP]).is_some() {
            return Ok(());
        }
        let takes_malformed = match self.settings.get("index.mapping.ignore_malformed") {
            Some(Value::Bool(takes)) => *takes,
            Some(Value::String(text)) => text == "true",
            _ => false,
        };
        let mut field = Object::new();
        field.insert("type", "date");
        if takes_malformed {
            field.insert("ignore_malformed", false);
        }
        let mut properties = Object::new();
        properties.insert(TIMESTAMP, Value::Object(field));
        let mut mappings = Object::new();
        mappings.insert("properties", Value::Object(properties));
        self.request(&Value::object(), &Value::Object(mappings), &Value::object())
    }

    /// A request over what the templates say.
    ///
    /// # Errors
    /// Settings that are no object.
    pub fn request(&mut self, settings: &Value, mappings: &Value, aliases: &Value) -> Result<()> {
        self.settings.extend(prefixed(settings)?);
        merge::composable(&mut self.mappings, mappings);
        if let Some(object) = aliases.as_object() {
            self.aliases.extend(object.iter().map(|(name, said)| (name.to_owned(), said.clone())));
        }
        Ok(())
    }
}

impl Templates {
    /// The index template for a new index or data stream of that name.
    pub fn find(&self, name: &str, hidden: bool) -> Option<(&str, &IndexTemplate)> {
        self.index
            .iter()
            .filter(|(_, template)| {
                template
                    .patterns
                    .iter()
                    .any(|pattern| (!hidden || pattern != "*") && fits(pattern, name))
            })
            // Names in order and the last of the highest would win: the first shall.
            .rev()
            .max_by_key(|(_, template)| template.priority.unwrap_or(0))
            .map(|(name, template)| (&**name, &**template))
    }

    /// The index template that makes the data stream of that name, and the next index of it.
    ///
    /// # Errors
    /// In Elasticsearch's words, where there is none.
    pub fn for_stream(&self, name: &str) -> Result<(&IndexTemplate, StreamOptions)> {
        let Some((template, body)) = self.find(name, false) else {
            return Err(Error::argument(format!(
                "no matching index template found for data stream [{name}]"
            )));
        };
        match body.data_stream {
            Some(options) => Ok((body, options)),
            None => Err(Error::argument(format!(
                "matching index template [{template}] for data stream [{name}] has no data stream \
                 template"
            ))),
        }
    }

    /// Old templates for a new index of that name, in the order in which they are worked in.
    pub fn find_legacy(&self, name: &str, hidden: bool) -> Vec<(&str, &LegacyTemplate)> {
        let mut found: Vec<(&str, &LegacyTemplate)> = self
            .legacy
            .iter()
            .filter(|(_, template)| {
                template
                    .patterns
                    .iter()
                    .any(|pattern| (!hidden || pattern != "*") && fits(pattern, name))
            })
            .map(|(name, template)| (&**name, &**template))
            .collect();
        found.sort_by_key(|(_, template)| template.order);
        found
    }

    /// What an index template gives with its components.
    pub fn compose(&self, template: &IndexTemplate) -> Composed {
        let mut composed = Composed::new();
        // A component that is named again says the same again: its last place is the one that counts.
        let mut known = BTreeSet::new();
        let mut parts: Vec<_> = template.composed_of.iter().rev().collect();
        parts.retain(|name| known.insert(name.as_str()));
        for name in parts.into_iter().rev() {
            if let Some(component) = self.component.get(name.as_str()) {
                composed.part(&component.template, merge::composable);
            }
        }
        if let Some(part) = &template.template {
            composed.part(part, merge::composable);
        }
        composed
    }

    /// What old templates give together.
    pub fn compose_legacy(templates: &[(&str, &LegacyTemplate)]) -> Composed {
        let mut composed = Composed::new();
        for (_, template) in templates {
            composed.part(&template.part, merge::legacy);
        }
        composed
    }

    /// Names of other templates whose patterns meet those of template `name`, with their patterns.
    ///
    /// # Errors
    /// To tell it would take more than [`STEPS_MAX`].
    pub fn overlapping(&self, name: &str, patterns: &[String]) -> Result<Vec<Overlapping>> {
        let legacy = self.legacy.iter().map(|(name, legacy)| (name, &legacy.patterns));
        let others = self.index.iter().filter(|(other, _)| &***other != name);
        let others = others.map(|(name, template)| (name, &template.patterns));
        let (mut met, mut left) = (Vec::new(), STEPS_MAX);
        for (other, theirs) in legacy.chain(others) {
            let Some(steps) = overlap_steps(patterns, theirs, left) else {
                return Err(too_many_patterns(name, patterns, "templates"));
            };
            left -= steps;
            if theirs.iter().any(|other| patterns.iter().any(|pattern| overlap(pattern, other))) {
                met.push((other.to_string(), theirs.clone()));
            }
        }
        Ok(met)
    }
}

/// Another template, and its patterns.
pub type Overlapping = (String, Vec<String>);

/// A template whose patterns cannot be compared with those of `others` in good time.
pub(crate) fn too_many_patterns(name: &str, patterns: &[String], others: &str) -> Error {
    Error::argument(format!(
        "template [{name}] has [{}] index patterns, more than can be compared with those of all other \
         {others}",
        patterns.len()
    ))
}

/// Aliases of a template as they are shown.
pub fn shown_aliases(aliases: &BTreeMap<String, Alias>) -> Value {
    aliases_json(aliases)
}

/// Does `pattern`, in which `*` stands for any text, fit `name`?
pub fn fits(pattern: &str, name: &str) -> bool {
    json::path::glob(pattern.as_bytes(), name.as_bytes())
}

/// Is there a name that both patterns fit?
pub fn overlap(one: &str, two: &str) -> bool {
    let (one, two) = (one.as_bytes(), two.as_bytes());
    if !ends_agree(one, two) {
        return false;
    }
    // meets[j]: the rest of `one` from here and the rest of `two` from j have a common name.
    let mut below = vec![false; two.len() + 1];
    let mut meets = below.clone();
    for i in (0..=one.len()).rev() {
        for j in (0..=two.len()).rev() {
            meets[j] = match (one.get(i), two.get(j)) {
                (None, None) => true,
                (Some(b'*'), None) => below[j],
                (None, Some(b'*')) => meets[j + 1],
                (Some(b'*'), Some(_)) => below[j] || meets[j + 1],
                (Some(_), Some(b'*')) => meets[j + 1] || below[j],
                (Some(a), Some(b)) => a == b && below[j + 1],
                _ => false,
            };
        }
        std::mem::swap(&mut below, &mut meets);
    }
    below[0]
}

/// May the letters before the first star of each, and those behind the last, be of one name? Most patterns are
/// told apart by them.
fn ends_agree(one: &[u8], two: &[u8]) -> bool {
    fn agree<'a>(one: impl Iterator<Item = &'a u8>, two: impl Iterator<Item = &'a u8>) -> bool {
        let mut both = one.zip(two).take_while(|(a, b)| **a != b'*' && **b != b'*');
        both.all(|(a, b)| a == b)
    }
    agree(one.iter(), two.iter()) && agree(one.iter().rev(), two.iter().rev())
}

/// Steps that it takes at most to tell which of two lists of patterns overlap, about; `None`: more than `most`.
pub fn overlap_steps(one: &[String], two: &[String], most: usize) -> Option<usize> {
    let mut steps = 0usize;
    for (one, two) in one.iter().flat_map(|one| two.iter().map(move |two| (one, two))) {
        let (one, two) = (one.as_bytes(), two.as_bytes());
        steps += if ends_agree(one, two) { (one.len() + 1) * (two.len() + 1) } else { 4 };
        if steps > most {
            return None;
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use json::json;

    use super::super::ComponentTemplate;
    use super::*;

    #[test]
    fn patterns_meet_where_a_name_fits_both() {
        for (one, two, expected) in [
            ("a*", "ab*", true),
            ("a*", "b*", false),
            ("*a", "b*", true),
            ("a*c", "abc", true),
            ("a*c", "abd", false),
            ("*", "x", true),
            ("a", "a", true),
            ("a", "b", false),
            ("tt*", "ttt*", true),
            ("", "*", true),
            ("a*b*c", "a*d", false),
            ("a*b", "a*b*", true),
            ("*ab", "*b", true),
            ("*ab", "*cb", false),
            ("ab*ba", "aba", false),
            ("ab*ba", "abba", true),
        ] {
            assert_eq!(overlap(one, two), expected, "{one} {two}");
            assert_eq!(overlap(two, one), expected, "{two} {one}");
        }
    }

    /// Two templates of 2,000 patterns each, of two priorities, kept whoever tried one out for seconds.
    #[test]
    fn no_more_patterns_are_compared_than_in_good_time() {
        let of = |shape: &dyn Fn(usize) -> String, count: usize| -> Vec<String> {
            (0..count).map(shape).collect()
        };
        let wide = |at: usize| format!("*x{at}*y*z*");
        let put = |templates: &mut Templates, name: &str, patterns: Vec<String>| {
            let patterns: Value = patterns.iter().map(String::as_str).collect();
            let body = json!({"index_patterns": (patterns), "priority": (name.len() as u64)});
            let template = IndexTemplate::parse(&body).expect("reads");
            templates.index.insert(name.into(), Arc::new(template));
        };
        let mut templates = Templates::default();
        put(&mut templates, "a", of(&wide, 150));
        put(&mut templates, "another", of(&wide, 2_000));
        let told = templates.overlapping("new", &of(&wide, 2_000)).expect_err("too many");
        assert_eq!(
            told.to_string(),
            "template [new] has [2000] index patterns, more than can be compared with those of all other \
             templates"
        );
        let met = templates.overlapping("another", &of(&wide, 2_000)).expect("few enough");
        assert_eq!(met.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a"]);
        // Names that begin otherwise are told apart at once.
        let mut templates = Templates::default();
        put(&mut templates, "logs", of(&|at| format!("logs-{at}-*"), 2_000));
        let metrics = of(&|at| format!("metrics-{at}-*"), 2_000);
        assert_eq!(templates.overlapping("new", &metrics), Ok(Vec::new()));
    }

    #[test]
    fn the_highest_priority_wins_and_parts_follow_each_other() {
        let mut templates = Templates::default();
        let component = |text: Value| Arc::new(ComponentTemplate::parse(&text).expect("reads"));
        let index = |text: Value| Arc::new(IndexTemplate::parse(&text).expect("reads"));
        templates.component.insert(
            "c".into(),
            component(json!({"template": {
                "settings": {"number_of_replicas": 0, "number_of_shards": 2},
                "mappings": {"properties": {"z": {"type": "keyword"}, "y": {"type": "long"}}},
            }})),
        );
        templates
            .index
            .insert("low".into(), index(json!({"index_patterns": ["x*"], "priority": 1})));
        templates.index.insert(
            "high".into(),
            index(json!({
                "index_patterns": ["x1*", "*"], "priority": 2, "composed_of": ["c", "gone"],
                "template": {"settings": {"number_of_shards": 3},
                             "mappings": {"properties": {"z": {"type": "date"}}}},
            })),
        );
        let refused = |templates: &Templates, name: &str| {
            templates.for_stream(name).expect_err("no template for it").to_string()
        };
        assert_eq!(
            refused(&templates, "x15"),
            "matching index template [high] for data stream [x15] has no data stream template"
        );
        assert_eq!(
            refused(&Templates::default(), "x15"),
            "no matching index template found for data stream [x15]"
        );
        let (name, template) = templates.find("x15", false).expect("fits");
        assert_eq!(name, "high");
        assert_eq!(templates.find("x2", true).map(|found| found.0), Some("low"));
        let mut composed = templates.compose(template);
        composed
            .request(&json!({"number_of_replicas": null}), &json!({}), &json!({"al": {}}))
            .expect("reads");
        assert_eq!(
            composed.settings_nested(),
            json!({"index": {"number_of_shards": "3"}}),
            "a null of the request takes back what a template said"
        );
        assert_eq!(composed.mappings.at(&["properties", "z", "type"]), Some(&json!("date")));
        assert_eq!(composed.mappings.at(&["properties", "y", "type"]), Some(&json!("long")));
        assert_eq!(composed.aliases.len(), 1);
    }
}
