//! Analyzers by name: those built in, and those of an index's `settings.analysis`.
//!
//! `settings.analysis` names parts: `tokenizer`, `filter`, `analyzer`, `normalizer`, each an object
//! of definitions with a `type`. A custom analyzer joins them: `{"tokenizer": "standard",
//! "filter": ["lowercase", "my_stop"]}`. Settings come as text as often as in their own JSON type,
//! and lists as `"a,b"`, so both are read.
//!
//! Not here yet: char filters, and every part beyond those of the tables below, which are answered
//! as Elasticsearch answers names it does not know.

use std::collections::BTreeMap;
use std::sync::Arc;

use json::Value;

use super::analyzer::{Analyzer, Tokenizer};
use super::filter::{Filter, StopWords};
use super::tokenizer::MAX_TOKEN_LENGTH;
use crate::{Error, Result};

/// The analyzers, tokenizers, filters and normalizers that an index knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    analyzers: BTreeMap<String, Arc<Analyzer>>,
    normalizers: BTreeMap<String, Arc<Analyzer>>,
    tokenizers: BTreeMap<String, Part<Tokenizer>>,
    filters: BTreeMap<String, Filter>,
}

/// A tokenizer by name may bring a filter along (`lowercase`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<T> {
    /// The part itself.
    pub part: T,
    /// Filters that come with it.
    pub filters: Vec<Filter>,
}

impl Default for Registry {
    /// The built-in ones alone.
    fn default() -> Self {
        let mut registry = Self {
            analyzers: BTreeMap::new(),
            normalizers: BTreeMap::new(),
            tokenizers: BTreeMap::new(),
            filters: BTreeMap::new(),
        };
        for name in ["standard", "simple", "whitespace", "keyword", "stop", "english"] {
            let built = built_in_analyzer(name, name, &Value::object());
            let analyzer = built.ok().flatten().expect("a built-in analyzer needs no settings");
            registry.analyzers.insert(name.to_owned(), Arc::new(analyzer));
        }
        let lower = Analyzer::new("lowercase", Tokenizer::Keyword, vec![Filter::Lowercase]);
        registry.normalizers.insert("lowercase".to_owned(), Arc::new(lower));
        registry
    }
}

impl Registry {
    /// Reads `settings.analysis`: `{"analyzer":{…},"tokenizer":{…},"filter":{…},…}`.
    ///
    /// # Errors
    /// In Elasticsearch's words, as at index creation.
    pub fn parse(analysis: &Value) -> Result<Self> {
        let mut registry = Self::default();
        if let Some((name, definition)) = definitions(analysis, "char_filter").next() {
            let kind = type_of("char_filter", name, definition)?;
            return Err(unknown_type("char_filter", &kind, name));
        }
        for (name, definition) in definitions(analysis, "tokenizer") {
            let kind = type_of("tokenizer", name, definition)?;
            let part = tokenizer_of(&kind, definition)?
                .ok_or_else(|| unknown_type("tokenizer", &kind, name))?;
            registry.tokenizers.insert(name.to_owned(), part);
        }
        for (name, definition) in definitions(analysis, "filter") {
            let kind = type_of("filter", name, definition)?;
            let filter =
                filter_of(&kind, definition)?.ok_or_else(|| unknown_type("filter", &kind, name))?;
            registry.filters.insert(name.to_owned(), filter);
        }
        for (name, definition) in definitions(analysis, "normalizer") {
            let kind = text(definition, "type").unwrap_or_else(|| "custom".to_owned());
            if kind != "custom" {
                return Err(unknown_type("normalizer", &kind, name));
            }
            let normalizer = registry.normalizer_of(name, definition)?;
            registry.normalizers.insert(name.to_owned(), Arc::new(normalizer));
        }
        for (name, definition) in definitions(analysis, "analyzer") {
            let analyzer = registry.analyzer_of(name, definition)?;
            registry.analyzers.insert(name.to_owned(), Arc::new(analyzer));
        }
        Ok(registry)
    }

    /// The analyzer `name`.
    pub fn analyzer(&self, name: &str) -> Option<&Arc<Analyzer>> {
        self.analyzers.get(name)
    }

    /// The normalizer `name`.
    pub fn normalizer(&self, name: &str) -> Option<&Arc<Analyzer>> {
        self.normalizers.get(name)
    }

    /// The tokenizer `name`.
    pub fn tokenizer(&self, name: &str) -> Option<Part<Tokenizer>> {
        let built_in = || tokenizer_of(name, &Value::object()).ok().flatten();
        self.tokenizers.get(name).cloned().or_else(built_in)
    }

    /// The token filter `name`.
    pub fn filter(&self, name: &str) -> Option<Filter> {
        let built_in = || filter_of(name, &Value::object()).ok().flatten();
        self.filters.get(name).cloned().or_else(built_in)
    }

    /// The analyzer of fields that name none: `default` of the settings, else `standard`.
    pub fn default_analyzer(&self) -> &Arc<Analyzer> {
        let standard = || self.analyzers.get("standard");
        self.analyzers.get("default").or_else(standard).expect("standard is built in")
    }

    /// The analyzer of queries on fields that name none: `default_search`, where there is one.
    pub fn default_search_analyzer(&self) -> Option<&Arc<Analyzer>> {
        self.analyzers.get("default_search")
    }

    fn analyzer_of(&self, name: &str, definition: &Value) -> Result<Analyzer> {
        let kind = match text(definition, "type") {
            Some(kind) => kind,
            None if definition.get("tokenizer").is_some() => "custom".to_owned(),
            None => return Err(no_type("analyzer", name)),
        };
        if kind != "custom" {
            return built_in_analyzer(&kind, name, definition)?
                .ok_or_else(|| unknown_type("analyzer", &kind, name));
        }
        let Some(tokenizer) = text(definition, "tokenizer") else {
            return Err(Error::illegal_argument(format!(
                "analyzer [{name}] must specify either an analyzer type, or a tokenizer"
            )));
        };
        let custom = format!("Custom Analyzer [{name}]");
        let Some(Part { part, mut filters }) = self.tokenizer(&tokenizer) else {
            return Err(missing(&custom, "tokenizer", &tokenizer));
        };
        if let Some(char_filter) = list(definition, "char_filter").into_iter().next() {
            return Err(missing(&custom, "char_filter", &char_filter));
        }
        for filter in list(definition, "filter") {
            let found = self.filter(&filter);
            filters.push(found.ok_or_else(|| missing(&custom, "filter", &filter))?);
        }
        let gap = number(definition, "position_increment_gap")?.unwrap_or(Analyzer::GAP);
        Ok(Analyzer::new(name, part, filters).with_gap(gap))
    }

    fn normalizer_of(&self, name: &str, definition: &Value) -> Result<Analyzer> {
        let custom = format!("Custom normalizer [{name}]");
        if let Some(char_filter) = list(definition, "char_filter").into_iter().next() {
            return Err(missing(&custom, "char_filter", &char_filter));
        }
        let mut filters = Vec::new();
        for filter in list(definition, "filter") {
            match self.filter(&filter) {
                None => return Err(missing(&custom, "filter", &filter)),
                Some(found @ (Filter::Lowercase | Filter::Uppercase)) => filters.push(found),
                Some(_) => {
                    return Err(Error::illegal_argument(format!(
                        "{custom} may not use filter [{filter}]"
                    )));
                }
            }
        }
        Ok(Analyzer::new(name, Tokenizer::Keyword, filters))
    }
}

/// An analyzer of a built-in type; `None` where there is no such type.
fn built_in_analyzer(kind: &str, name: &str, settings: &Value) -> Result<Option<Analyzer>> {
    let max = number(settings, "max_token_length")?.unwrap_or(MAX_TOKEN_LENGTH);
    let stop =
        |words: StopWords| (!words.is_empty()).then(|| Filter::Stop(Arc::new(words))).into_iter();
    let (tokenizer, filters) = match kind {
        "standard" => {
            let words = stop_words(settings, "stopwords", "_none_", false)?;
            let mut filters = vec![Filter::Lowercase];
            filters.extend(stop(words));
            (Tokenizer::Standard(max), filters)
        }
        "simple" => (Tokenizer::Letter(MAX_TOKEN_LENGTH), vec![Filter::Lowercase]),
        "whitespace" => (Tokenizer::Whitespace(max), Vec::new()),
        "keyword" => (Tokenizer::Keyword, Vec::new()),
        "stop" => {
            let words = stop_words(settings, "stopwords", "_english_", false)?;
            let mut filters = vec![Filter::Lowercase];
            filters.extend(stop(words));
            (Tokenizer::Letter(MAX_TOKEN_LENGTH), filters)
        }
        "english" => {
            let words = stop_words(settings, "stopwords", "_english_", false)?;
            let kept = list(settings, "stem_exclusion");
            let mut filters = vec![Filter::Possessive, Filter::Lowercase];
            filters.extend(stop(words));
            filters.push(if kept.is_empty() {
                Filter::Porter
            } else {
                Filter::PorterExcept(Arc::new(StopWords::new(kept, false)))
            });
            (Tokenizer::Standard(MAX_TOKEN_LENGTH), filters)
        }
        _ => return Ok(None),
    };
    Ok(Some(Analyzer::new(name, tokenizer, filters)))
}

/// A tokenizer of a type; `None` where there is no such type.
pub(super) fn tokenizer_of(kind: &str, settings: &Value) -> Result<Option<Part<Tokenizer>>> {
    let max = number(settings, "max_token_length")?.unwrap_or(MAX_TOKEN_LENGTH);
    let (part, filters) = match kind {
        "standard" => (Tokenizer::Standard(max), Vec::new()),
        "letter" => (Tokenizer::Letter(MAX_TOKEN_LENGTH), Vec::new()),
        "lowercase" => (Tokenizer::Letter(MAX_TOKEN_LENGTH), vec![Filter::Lowercase]),
        "whitespace" => (Tokenizer::Whitespace(max), Vec::new()),
        "keyword" => (Tokenizer::Keyword, Vec::new()),
        _ => return Ok(None),
    };
    Ok(Some(Part { part, filters }))
}

/// A token filter of a type; `None` where there is no such type.
pub(super) fn filter_of(kind: &str, settings: &Value) -> Result<Option<Filter>> {
    Ok(Some(match kind {
        "lowercase" if text(settings, "language").is_none() => Filter::Lowercase,
        "uppercase" => Filter::Uppercase,
        "stop" => {
            let ignore_case = text(settings, "ignore_case").is_some_and(|value| value == "true");
            let words = stop_words(settings, "stopwords", "_english_", ignore_case)?;
            Filter::Stop(Arc::new(words))
        }
        "porter_stem" => Filter::Porter,
        "stemmer" => {
            let language = text(settings, "language").or_else(|| text(settings, "name"));
            match language.as_deref().unwrap_or("porter") {
                "english" | "porter" => Filter::Porter,
                "possessive_english" | "possessiveEnglish" => Filter::Possessive,
                other => {
                    return Err(Error::illegal_argument(format!(
                        "Invalid stemmer class specified: {other}"
                    )));
                }
            }
        }
        _ => return Ok(None),
    }))
}

/// The definitions of one kind of part, by name.
fn definitions<'a>(
    analysis: &'a Value,
    kind: &str,
) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
    analysis.get(kind).and_then(Value::as_object).into_iter().flat_map(|parts| parts.iter())
}

fn type_of(part: &str, name: &str, definition: &Value) -> Result<String> {
    text(definition, "type").ok_or_else(|| no_type(part, name))
}

fn no_type(part: &str, name: &str) -> Error {
    Error::illegal_argument(format!(
        "{part} [{name}] must specify either an analyzer type, or a tokenizer"
    ))
}

fn unknown_type(part: &str, kind: &str, name: &str) -> Error {
    Error::illegal_argument(format!("Unknown {part} type [{kind}] for [{name}]"))
}

fn missing(whole: &str, part: &str, name: &str) -> Error {
    Error::illegal_argument(format!("{whole} failed to find {part} under name [{name}]"))
}

/// A setting as text.
fn text(settings: &Value, key: &str) -> Option<String> {
    match settings.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.text().to_owned()),
        _ => None,
    }
}

/// A setting as a list: an array, or text with commas.
fn list(settings: &Value, key: &str) -> Vec<String> {
    match settings.get(key) {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| match item {
                Value::String(text) => Some(text.clone()),
                Value::Bool(value) => Some(value.to_string()),
                Value::Number(number) => Some(number.text().to_owned()),
                _ => None,
            })
            .collect(),
        Some(Value::String(text)) => {
            text.split(',').map(|item| item.trim().to_owned()).filter(|i| !i.is_empty()).collect()
        }
        _ => Vec::new(),
    }
}

/// A setting as a number that is not negative.
fn number(settings: &Value, key: &str) -> Result<Option<u32>> {
    let Some(text) = text(settings, key) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        Error::illegal_argument(format!("Failed to parse value [{text}] for setting [{key}]"))
            .caused_by(Error::number_format(&text))
    })
}

/// Lists of stop words that Lucene has and this crate has not yet.
const LISTS_MISSING: [&str; 34] = [
    "_arabic_",
    "_armenian_",
    "_basque_",
    "_bengali_",
    "_brazilian_",
    "_bulgarian_",
    "_catalan_",
    "_czech_",
    "_danish_",
    "_dutch_",
    "_estonian_",
    "_finnish_",
    "_french_",
    "_galician_",
    "_german_",
    "_greek_",
    "_hindi_",
    "_hungarian_",
    "_indonesian_",
    "_irish_",
    "_italian_",
    "_latvian_",
    "_lithuanian_",
    "_norwegian_",
    "_persian_",
    "_portuguese_",
    "_romanian_",
    "_russian_",
    "_serbian_",
    "_sorani_",
    "_spanish_",
    "_swedish_",
    "_thai_",
    "_turkish_",
];

fn stop_words(settings: &Value, key: &str, default: &str, ignore_case: bool) -> Result<StopWords> {
    let mut names = list(settings, key);
    if settings.get(key).is_none() {
        names.push(default.to_owned());
    }
    let mut words = Vec::new();
    for name in names {
        match name.as_str() {
            "_none_" => {}
            "_english_" => words.extend(super::filter::ENGLISH.map(str::to_owned)),
            // Elasticsearch knows these; taken as words they would silently stop nothing.
            known if LISTS_MISSING.contains(&known) => {
                return Err(Error::illegal_argument(format!("unknown stop words [{known}]")));
            }
            _ => words.push(name),
        }
    }
    Ok(StopWords::new(words, ignore_case))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(analyzer: &Analyzer, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        analyzer
            .tokens(text, &mut |token| words.push(format!("{}@{}", token.term, token.position)));
        words
    }

    #[test]
    fn custom_chains_are_joined_from_named_parts() {
        let analysis = json::json!({
            "tokenizer": {"short": {"type": "standard", "max_token_length": "5"}},
            "filter": {"mine": {"type": "stop", "stopwords": ["quick", "_english_"]}},
            "analyzer": {
                "default": {"type": "standard", "stopwords": "_english_"},
                "a": {"type": "custom", "tokenizer": "short", "filter": ["lowercase", "mine"]},
                "b": {"tokenizer": "lowercase", "filter": "porter_stem", "position_increment_gap": 0}
            },
            "normalizer": {"up": {"filter": ["uppercase"]}}
        });
        let registry = Registry::parse(&analysis).expect("all parts are known");
        let a = registry.analyzer("a").expect("given");
        assert_eq!(words(a, "The QUICK foxxes"), ["foxxe@2", "s@3"]);
        let b = registry.analyzer("b").expect("given");
        assert_eq!(words(b, "Running 2 dogs"), ["run@0", "dog@1"]);
        assert_eq!(b.gap(), 0);
        assert_eq!(words(registry.default_analyzer(), "The fox"), ["fox@1"]);
        let mut buffer = String::new();
        let up = registry.normalizer("up").expect("given");
        assert_eq!(up.normalize("a b", &mut buffer), "A B");
    }

    #[test]
    fn unknown_names_are_refused_in_elasticsearchs_words() {
        let refused = |analysis: Value| Registry::parse(&analysis).expect_err("refused").reason;
        for (analysis, want) in [
            (
                json::json!({"analyzer": {"x": {"tokenizer": "foo"}}}),
                "Custom Analyzer [x] failed to find tokenizer under name [foo]",
            ),
            (
                json::json!({"analyzer": {"x": {"tokenizer": "standard", "filter": ["foo"]}}}),
                "Custom Analyzer [x] failed to find filter under name [foo]",
            ),
            (
                json::json!({"analyzer": {"x": {"type": "foo"}}}),
                "Unknown analyzer type [foo] for [x]",
            ),
            (
                json::json!({"analyzer": {"x": {"filter": ["lowercase"]}}}),
                "analyzer [x] must specify either an analyzer type, or a tokenizer",
            ),
            (
                json::json!({"tokenizer": {"x": {"type": "foo"}}}),
                "Unknown tokenizer type [foo] for [x]",
            ),
            (json::json!({"filter": {"x": {"type": "foo"}}}), "Unknown filter type [foo] for [x]"),
        ] {
            assert_eq!(refused(analysis), want);
        }
    }
}
