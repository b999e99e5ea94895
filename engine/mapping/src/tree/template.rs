//! Dynamic templates: what new fields become.
//!
//! Templates are asked in order; the first whose every condition holds decides. `match` and
//! `unmatch` look at the last part of the path, `path_match` and `path_unmatch` at all of it;
//! `match_mapping_type` at what the JSON value was taken for.
//!
//! Not here: runtime fields.

use json::{Object as Json, Value};

use super::define::{self, java_text};
use super::dynamic::Detected;
use super::params;
use crate::analysis::regex;
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
    pub fn parse_all(value: &Value) -> Result<Vec<Self>> {
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
        if template.is_regex {
            let lists =
                [&template.names, &template.names_not, &template.paths, &template.paths_not];
            for pattern in lists.into_iter().flatten() {
                regex::pattern(pattern, "").map_err(|cause| {
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

    /// Must make a good field of one kind of value that it may decide about, at least. Where the name
    /// of the field is a part of it, nobody knows before there is a field.
    ///
    /// # Errors
    /// `dynamic template [t] has invalid content […]`, because of what the last kind is refused for.
    pub fn admit(&self, settings: &Settings) -> Result<()> {
        if has_name(&self.mapping) {
            return Ok(());
        }
        let is_in = |kinds: &[String], kind| kinds.iter().any(|name| name == "*" || name == kind);
        let judged = KINDS.iter().filter(|(kind, _)| {
            (self.kinds.is_empty() || is_in(&self.kinds, kind)) && !is_in(&self.kinds_not, kind)
        });
        let judged: Vec<_> = judged.collect();
        let mut fault = None;
        for (_, default_type) in &judged {
            match self.judge(default_type, settings) {
                Ok(()) => return Ok(()),
                Err(error) => fault = Some(error),
            }
        }
        let Some(cause) = fault else { return Ok(()) };
        let shown = self.shown.get(&self.name).map(json::to_string).unwrap_or_default();
        let kinds: Vec<&str> = judged.iter().map(|(kind, _)| *kind).collect();
        Err(Error::mapper_parsing(format!(
            "dynamic template [{}] has invalid content [{shown}], attempted to validate it with the \
             following match_mapping_type: [{}]",
            self.name,
            kinds.join(", ")
        ))
        .caused_by(cause))
    }

    /// Does it make a field where `default_type` is what it would become without a template?
    fn judge(&self, default_type: &str, settings: &Settings) -> Result<()> {
        let name = format!("__dynamic__{}", self.name);
        let (mut kind, definition) = self.definition(&name, default_type);
        if let Some(no_name) = self.mapping.get("type").filter(|kind| kind.as_str().is_none()) {
            kind = java_text(no_name);
        }
        if !matches!(&*kind, "object" | "nested" | "alias") && !params::is_type(&kind, settings) {
            return Err(Error::illegal_argument(format!("No mapper found for type [{kind}]")));
        }
        define::judge(&name, &definition, settings)
    }

    /// Does it decide about a new field?
    pub fn decides(&self, path: &str, detected: Detected) -> bool {
        // One that asks for nothing is there to be named by requests.
        let asks = [&self.names, &self.paths, &self.kinds, &self.kinds_not];
        if asks.iter().all(|words| words.is_empty()) {
            return false;
        }
        let name = path.rsplit('.').next().unwrap_or_default();
        let is_match = |pattern: &str, text: &str| match self.is_regex {
            // Compiled anew: new fields are rare, and templates are compared by their text.
            true => regex::pattern(pattern, "")
                .is_ok_and(|pattern| pattern.matches_whole_within(text, &regex::Counted)),
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

    /// The type and definition of a new field, which without a template would be of `default_type`;
    /// type `object` for objects.
    pub fn definition(&self, name: &str, default_type: &str) -> (String, Json) {
        let filled = |text: &str| text.replace(NAME, name).replace("{dynamic_type}", default_type);
        let mut definition = Json::new();
        for (key, value) in self.mapping.iter() {
            definition.insert(filled(key), fill(value, &filled));
        }
        let kind = match definition.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            // No new template says anything else; see `judge`.
            _ => default_type.to_owned(),
        };
        definition.insert("type", kind.clone());
        (kind, definition)
    }
}

/// Stands for the name of the field.
const NAME: &str = "{name}";

/// What a value may be taken for, as templates name it, with the type that its field gets. No value of
/// JSON is taken for `binary`.
const KINDS: [(&str, &str); 7] = [
    of(Detected::Object),
    of(Detected::String),
    of(Detected::Long),
    of(Detected::Double),
    of(Detected::Boolean),
    of(Detected::Date),
    ("binary", "binary"),
];

const fn of(detected: Detected) -> (&'static str, &'static str) {
    (detected.name(), detected.default_type())
}

/// Does the name of the field stand anywhere in a definition?
fn has_name(definition: &Json) -> bool {
    fn within(value: &Value) -> bool {
        match value {
            Value::String(text) => text.contains(NAME),
            Value::Array(items) => items.iter().any(within),
            Value::Object(object) => has_name(object),
            _ => false,
        }
    }
    definition.iter().any(|(key, value)| key.contains(NAME) || within(value))
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
        let known = kind == "*" || KINDS.iter().any(|(known, _)| known == kind);
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

    fn admitted(template: &Value) -> Result<()> {
        let mappings = json::json!({"dynamic_templates": [{"t": template.clone()}]});
        let mapping = crate::Mapping::parse(&mappings, std::sync::Arc::default())?;
        // What is there is not asked again.
        assert_eq!(mapping.admit_templates(Some(&mapping)), Ok(()));
        mapping.admit_templates(None)
    }

    #[test]
    fn templates_that_can_fit_nothing_are_refused() {
        for (mapping, cause) in [
            (r#"{"type":"foo"}"#, "No mapper found for type [foo]"),
            (r#"{"type":1}"#, "No mapper found for type [1]"),
            (r#"{"type":["text"]}"#, "No mapper found for type [[text]]"),
            (r#"{"type":null}"#, "No mapper found for type [null]"),
            (r#"{"type":"x{dynamic_type}"}"#, "No mapper found for type [xbinary]"),
            (
                r#"{"foo":1,"type":"keyword"}"#,
                "unknown parameter [foo] on mapper [__dynamic__t] of type [keyword]",
            ),
            (
                r#"{"analyzer":"nope","type":"text"}"#,
                "analyzer [nope] has not been configured in mappings",
            ),
            (
                r#"{"format":"qqqqqqqq","type":"date"}"#,
                "Error parsing [format] on field [__dynamic__t]: Invalid format: [qqqqqqqq]: Too many pattern letters: q",
            ),
            (r#"{"null_value":"x","type":"long"}"#, "For input string: \"x\""),
            (
                r#"{"fields":{"a":{"type":"foo"}},"type":"text"}"#,
                "The mapper type [foo] declared on field [a] does not exist. It might have been created within a future version or requires a plugin to be installed. Check the documentation.",
            ),
        ] {
            for (conditions, kinds) in [
                (r#""match":"*""#, "object, string, long, double, boolean, date, binary"),
                (
                    r#""match_mapping_type":"*""#,
                    "object, string, long, double, boolean, date, binary",
                ),
                (r#""match_mapping_type":["object","binary"]"#, "object, binary"),
                (
                    r#""path_match":"a.*","unmatch_mapping_type":["string","date"]"#,
                    "object, long, double, boolean, binary",
                ),
            ] {
                let shown = format!(r#"{{{conditions},"mapping":{mapping}}}"#);
                let template = json::parse(shown.as_bytes()).expect("JSON");
                let error = admitted(&template).expect_err(&shown);
                assert_eq!(
                    error.reason,
                    format!(
                        "dynamic template [t] has invalid content [{shown}], attempted to validate \
                         it with the following match_mapping_type: [{kinds}]"
                    )
                );
                assert_eq!(error.kind, crate::ErrorKind::MapperParsing);
                assert_eq!(error.caused_by.expect("a cause").reason, cause, "{shown}");
            }
        }
    }

    #[test]
    fn templates_that_fit_one_kind_of_value_are_good() {
        for template in [
            r#"{"match":"*","mapping":{}}"#,
            r#"{"match":"*","mapping":{"index":false}}"#,
            r#"{"match":"*","mapping":{"type":"object","dynamic":false}}"#,
            r#"{"match":"*","mapping":{"type":"nested","include_in_root":true}}"#,
            r#"{"match":"*","mapping":{"type":"{dynamic_type}","doc_values":false}}"#,
            r#"{"match":"*","mapping":{"type":"{dynamic_type}","format":"yyyy"}}"#,
            r#"{"match":"*","mapping":{"type":"{name}"}}"#,
            r#"{"match":"*","mapping":{"type":"text","analyzer":"{name}"}}"#,
            r#"{"match_mapping_type":"binary","mapping":{"store":true}}"#,
            r#"{"match_mapping_type":"string","unmatch_mapping_type":"*","mapping":{"type":"foo"}}"#,
        ] {
            assert_eq!(
                admitted(&json::parse(template.as_bytes()).expect("JSON")),
                Ok(()),
                "{template}"
            );
        }
        // What these ask of the kind of a value is all that it is judged by.
        let text = r#"{"match_mapping_type":["string","object"],"mapping":{"doc_values":false}}"#;
        assert!(admitted(&json::parse(text.as_bytes()).expect("JSON")).is_err());
    }

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
