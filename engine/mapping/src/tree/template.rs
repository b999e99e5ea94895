//! Dynamic templates: what new fields become.
//!
//! Templates are asked in order; the first whose every condition holds decides. `match` and
//! `unmatch` look at the last part of the path, `path_match` and `path_unmatch` at all of it;
//! `match_mapping_type` at what the JSON value was taken for.
//!
//! Not here: runtime fields.

use json::{Object as Json, Value};

use super::define::java_text;
use super::dynamic::Detected;
use super::params;
use crate::{Error, Result, Settings};

/// One template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    /// Its name.
    pub name: String,
    names: Vec<String>,
    names_not: Vec<String>,
    paths: Vec<String>,
    paths_not: Vec<String>,
    /// Patterns of names and paths are regular expressions.
    is_regex: bool,
    kinds: Vec<String>,
    kinds_not: Vec<String>,
    mapping: Json,
    /// As Elasticsearch shows it.
    pub shown: Value,
}

impl Template {
    /// Reads `dynamic_templates`.
    pub fn parse_all(value: &Value, settings: &Settings) -> Result<Vec<Self>> {
        let Value::Array(items) = value else {
            return Err(Error::mapper_parsing(
                "Dynamic template syntax error. An array of named objects is expected.",
            ));
        };
        let mut templates: Vec<Self> = Vec::new();
        for item in items {
            let mut members = item.as_object().into_iter().flat_map(Json::iter);
            let (Some((name, body)), None) = (members.next(), members.next()) else {
                return Err(Error::mapper_parsing(
                    "A dynamic template must be defined with a name",
                ));
            };
            let Value::Object(body) = body else {
                return Err(Error::mapper_parsing(
                    "A dynamic template must be defined with a name",
                ));
            };
            let template = Self::parse(name, body)?;
            template.check(settings)?;
            match templates.iter_mut().find(|known| known.name == name) {
                Some(known) => *known = template,
                None => templates.push(template),
            }
        }
        Ok(templates)
    }

    fn parse(name: &str, body: &Json) -> Result<Self> {
        let mut template = Self {
            name: name.to_owned(),
            names: Vec::new(),
            names_not: Vec::new(),
            paths: Vec::new(),
            paths_not: Vec::new(),
            is_regex: false,
            kinds: Vec::new(),
            kinds_not: Vec::new(),
            mapping: Json::new(),
            shown: Value::Null,
        };
        let mut mapping = None;
        for (key, value) in body.iter() {
            match key {
                "match" => template.names = texts(value),
                "unmatch" => template.names_not = texts(value),
                "path_match" => template.paths = texts(value),
                "path_unmatch" => template.paths_not = texts(value),
                "match_mapping_type" => template.kinds = kinds(value)?,
                "unmatch_mapping_type" => template.kinds_not = kinds(value)?,
                "match_pattern" if value.as_str() == Some("simple") => {}
                "match_pattern" if value.as_str() == Some("regex") => template.is_regex = true,
                "match_pattern" => {
                    return Err(Error::illegal_argument(format!(
                        "No matching pattern matched on [{}]",
                        java_text(value)
                    )));
                }
                "mapping" => {
                    let Value::Object(definition) = value else {
                        return Err(Error::mapper_parsing("template [mapping] must be an object"));
                    };
                    mapping = Some(definition.clone());
                }
                _ => {
                    return Err(Error::illegal_argument(format!(
                        "Illegal dynamic template parameter: [{key}]"
                    )));
                }
            }
        }
        let Some(mut mapping) = mapping else {
            return Err(Error::mapper_parsing("template must have mapping set"));
        };
        let asks_nothing = template.names.is_empty()
            && template.paths.is_empty()
            && template.kinds.is_empty()
            && template.kinds_not.is_empty();
        if asks_nothing {
            return Err(Error::mapper_parsing(format!(
                "template must have match, path_match or match_mapping_type set {}",
                java_text(&Value::Object(body.clone()))
            )));
        }
        if template.is_regex {
            let lists =
                [&template.names, &template.names_not, &template.paths, &template.paths_not];
            for pattern in lists.into_iter().flatten() {
                crate::analysis::regex::pattern(pattern, "").map_err(|cause| {
                    Error::illegal_argument(format!(
                        "Pattern [{pattern}] of type [regex] is invalid. Cannot create dynamic \
                         template [{name}]."
                    ))
                    .caused_by(cause)
                })?;
            }
        }
        mapping.sort_keys();
        template.mapping = mapping;
        template.shown = template.render(body);
        Ok(template)
    }

    fn render(&self, body: &Json) -> Value {
        let mut shown = Json::new();
        for key in [
            "match",
            "path_match",
            "unmatch",
            "path_unmatch",
            "match_pattern",
            "match_mapping_type",
            "unmatch_mapping_type",
        ] {
            if key == "match_pattern" && !self.is_regex {
                continue;
            }
            if let Some(value) = body.get(key) {
                let value = match value {
                    Value::Array(items) if items.len() == 1 => items[0].clone(),
                    other => other.clone(),
                };
                shown.insert(key, value);
            }
        }
        shown.insert("mapping", self.mapping.clone());
        let mut named = Json::new();
        named.insert(self.name.clone(), shown);
        Value::Object(named)
    }

    /// A template for one type alone must make a good field of it.
    fn check(&self, settings: &Settings) -> Result<()> {
        if self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == "*" || kind == "object") {
            return Ok(());
        }
        let mut fault = None;
        for kind in &self.kinds {
            let Some(detected) = Detected::of_name(kind) else { continue };
            let (kind, definition) = self.definition("__dynamic__test", detected);
            match params::field(&kind, &definition, "__dynamic__test", settings) {
                Ok(_) => return Ok(()),
                Err(error) => fault = Some(error),
            }
        }
        let Some(cause) = fault else { return Ok(()) };
        let shown = self.shown.get(&self.name).map(json::to_string).unwrap_or_default();
        Err(Error::mapper_parsing(format!(
            "dynamic template [{}] has invalid content [{shown}], attempted to validate it with the \
             following match_mapping_type: [{}]",
            self.name,
            self.kinds.join(", ")
        ))
        .caused_by(cause))
    }

    /// Does it decide about a new field?
    pub fn decides(&self, path: &str, detected: Detected) -> bool {
        let name = path.rsplit('.').next().unwrap_or_default();
        let is_match = |pattern: &str, text: &str| match self.is_regex {
            // Compiled anew: new fields are rare, and templates are compared by their text.
            true => crate::analysis::regex::pattern(pattern, "")
                .is_ok_and(|regex| regex.matches_whole(text)),
            false => matches(pattern, text),
        };
        let any = |patterns: &[String], text: &str| patterns.iter().any(|p| is_match(p, text));
        let kind = |kinds: &[String]| kinds.iter().any(|k| k == "*" || k == detected.name());
        (self.paths.is_empty() || any(&self.paths, path))
            && (self.names.is_empty() || any(&self.names, name))
            && !any(&self.paths_not, path)
            && !any(&self.names_not, name)
            && (self.kinds.is_empty() || kind(&self.kinds))
            && !kind(&self.kinds_not)
    }

    /// The type and definition of a new field; type `object` for objects.
    pub fn definition(&self, name: &str, detected: Detected) -> (String, Json) {
        let filled = |text: &str| {
            text.replace("{name}", name).replace("{dynamic_type}", detected.default_type())
        };
        let mut definition = Json::new();
        for (key, value) in self.mapping.iter() {
            definition.insert(filled(key), fill(value, &filled));
        }
        let kind = match definition.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            _ => detected.default_type().to_owned(),
        };
        definition.insert("type", kind.clone());
        (kind, definition)
    }
}

fn fill(value: &Value, filled: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => filled(text).into(),
        Value::Array(items) => Value::Array(items.iter().map(|item| fill(item, filled)).collect()),
        Value::Object(object) => object
            .iter()
            .map(|(key, value)| (filled(key), fill(value, filled)))
            .collect::<Json>()
            .into(),
        other => other.clone(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(java_text).collect(),
        one => vec![java_text(one)],
    }
}

fn kinds(value: &Value) -> Result<Vec<String>> {
    let kinds = texts(value);
    for kind in &kinds {
        let known = kind == "*" || kind == "binary" || Detected::of_name(kind).is_some();
        if !known {
            return Err(Error::illegal_argument(format!(
                "No field type matched on [{kind}], possible values are [object, string, long, \
                 double, boolean, date, binary]"
            )));
        }
    }
    Ok(kinds)
}

/// Does `text` match a pattern in which `*` stands for any text?
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    json::path::glob(pattern.as_bytes(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text, want) in [
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("o.*", "o.a.b", true),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("", "", true),
            ("", "a", false),
            ("**", "é", true),
        ] {
            assert_eq!(matches(pattern, text), want, "{pattern} {text}");
        }
    }
}
