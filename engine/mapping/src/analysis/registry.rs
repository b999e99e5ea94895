//! Analyzers by name: those built in, and those of an index's `settings.analysis`.
//!
//! `settings.analysis` names parts: `char_filter`, `tokenizer`, `filter`, `analyzer`, `normalizer`, each
//! an object of definitions with a `type`. A custom analyzer joins them: `{"tokenizer": "standard",
//! "filter": ["lowercase", "my_stop"]}`. Token filters are made anew for each chain: what a synonym rule
//! means depends on what stands before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use json::Value;

use super::analyzer::{Analyzer, Named, Tokenizer};
use super::build::{Place, filter_of};
use super::char_filter::CharFilter;
use super::cutters::{char_filter_of, tokenizer_of};
use super::filter::Filter;
use super::holding;
use super::languages::{self, built_in};
use super::options::{list, number, text};
use crate::{Error, Result};

/// How far apart the sizes of grams may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GramLimits {
    /// `index.max_ngram_diff`.
    pub ngram: u32,
    /// `index.max_shingle_diff`.
    pub shingle: u32,
}

impl Default for GramLimits {
    fn default() -> Self {
        Self { ngram: 1, shingle: 3 }
    }
}

impl GramLimits {
    pub(super) fn check_ngram(self, min: u32, max: u32, part: &str) -> Result<()> {
        let (limit, diff) = (self.ngram, max - min);
        if diff <= limit {
            return Ok(());
        }
        Err(Error::illegal_argument(format!(
            "The difference between max_gram and min_gram in NGram {part} must be less than or \
             equal to: [{limit}] but was [{diff}]. This limit can be set by changing the \
             [index.max_ngram_diff] index level setting."
        )))
    }

    pub(super) fn check_shingle(self, min: u32, max: u32, unigrams: bool) -> Result<()> {
        let limit = self.shingle;
        let diff = i64::from(max) - i64::from(min) + i64::from(unigrams);
        if diff <= i64::from(limit) {
            return Ok(());
        }
        Err(Error::illegal_argument(format!(
            "In Shingle TokenFilter the difference between max_shingle_size and min_shingle_size \
             (and +1 if outputting unigrams) must be less than or equal to: [{limit}] but was \
             [{diff}]. This limit can be set by changing the [index.max_shingle_diff] index level \
             setting."
        )))
    }
}

/// The analyzers, tokenizers, filters and normalizers that an index knows.
#[derive(Clone, Debug)]
pub struct Registry {
    analyzers: BTreeMap<String, Arc<Analyzer>>,
    normalizers: BTreeMap<String, Arc<Analyzer>>,
    tokenizers: BTreeMap<String, Part<Tokenizer>>,
    char_filters: BTreeMap<String, CharFilter>,
    /// Type and settings of the index's own token filters.
    filters: BTreeMap<String, (String, Value)>,
    pub(super) limits: GramLimits,
    /// Bytes of rules and lists of words in its chains, about.
    held_bytes: usize,
}

/// A tokenizer by name may bring a filter along (`lowercase`).
#[derive(Clone, Debug)]
pub struct Part<T> {
    /// The part itself.
    pub part: T,
    /// Filters that come with it.
    pub filters: Vec<Filter>,
}

/// What stands before a token filter in its chain.
pub(super) type Before<'b> = Option<(&'b [CharFilter], &'b Tokenizer, &'b [Filter])>;

impl Default for Registry {
    /// The built-in ones alone.
    fn default() -> Self {
        let mut registry = Self {
            analyzers: BTreeMap::new(),
            normalizers: BTreeMap::new(),
            tokenizers: BTreeMap::new(),
            char_filters: BTreeMap::new(),
            filters: BTreeMap::new(),
            limits: GramLimits::default(),
            held_bytes: 0,
        };
        for (name, analyzer) in BUILT_IN.iter() {
            registry.analyzers.insert((*name).to_owned(), Arc::clone(analyzer));
        }
        let lower = Analyzer::new("lowercase", Tokenizer::Keyword, vec![Filter::Lowercase]);
        registry.normalizers.insert("lowercase".to_owned(), Arc::new(lower));
        registry
    }
}

/// The built-in analyzers, made once: lists of stop words are large.
static BUILT_IN: std::sync::LazyLock<Vec<(&str, Arc<Analyzer>)>> = std::sync::LazyLock::new(|| {
    let build = |name| built_in(name, name, &Value::object()).ok().flatten();
    languages::NAMES.iter().filter_map(|name| Some((*name, Arc::new(build(name)?)))).collect()
});

impl Registry {
    /// Reads `settings.analysis`: `{"analyzer":{…},"tokenizer":{…},"filter":{…},…}`.
    ///
    /// # Errors
    /// In Elasticsearch's words, as at index creation.
    pub fn parse(analysis: &Value) -> Result<Self> {
        Self::parse_with(analysis, GramLimits::default())
    }

    /// As [`Self::parse`], under an index's own limits.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_with(analysis: &Value, limits: GramLimits) -> Result<Self> {
        let mut registry = Self { limits, ..Self::default() };
        let before = holding::held();
        for (name, definition) in definitions(analysis, "char_filter") {
            let kind = type_of("char_filter", name, definition)?;
            let filter = char_filter_of(&kind, definition)?
                .ok_or_else(|| unknown_type("char_filter", &kind, name))?;
            registry.char_filters.insert(name.to_owned(), filter);
        }
        for (name, definition) in definitions(analysis, "tokenizer") {
            let kind = type_of("tokenizer", name, definition)?;
            let part = tokenizer_of(&kind, definition, &registry)?
                .ok_or_else(|| unknown_type("tokenizer", &kind, name))?;
            registry.tokenizers.insert(name.to_owned(), part);
        }
        for (name, definition) in definitions(analysis, "filter") {
            let kind = type_of("filter", name, definition)?;
            registry.filters.insert(name.to_owned(), (kind, definition.clone()));
        }
        for (name, (kind, definition)) in &registry.filters {
            // Rules of synonyms are read where they stand in a chain.
            let settled = matches!(kind.as_str(), "synonym" | "synonym_graph" | "multiplexer");
            let place = Place { registry: &registry, before: None };
            if !settled && filter_of(kind, definition, &place)?.is_none() {
                return Err(unknown_type("filter", kind, name));
            }
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
        registry.held_bytes = holding::held().saturating_sub(before);
        Ok(registry)
    }

    /// About how many bytes the rules and lists of words take that stand in its chains.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
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
        let built_in = || tokenizer_of(name, &Value::object(), self).ok().flatten();
        self.tokenizers.get(name).cloned().or_else(built_in)
    }

    /// The char filter `name`.
    pub fn char_filter(&self, name: &str) -> Option<CharFilter> {
        let built_in = || char_filter_of(name, &Value::object()).ok().flatten();
        self.char_filters.get(name).cloned().or_else(built_in)
    }

    /// The token filter `name`, in its place.
    ///
    /// # Errors
    /// What is wrong with its definition.
    pub(super) fn filter(&self, name: &str, before: Before<'_>) -> Result<Option<Vec<Filter>>> {
        let place = Place { registry: self, before };
        match self.filters.get(name) {
            Some((kind, definition)) => {
                // Each chain has its own of it.
                holding::hold(definition.held_bytes())?;
                filter_of(kind, definition, &place)
            }
            None => Ok(filter_of(name, &Value::object(), &place).ok().flatten()),
        }
    }

    /// The token filter that a request defines, in its place.
    ///
    /// # Errors
    /// What is wrong with its definition.
    pub(super) fn defined_filter(
        &self,
        kind: &str,
        definition: &Value,
        before: Before<'_>,
    ) -> Result<Option<Vec<Filter>>> {
        holding::hold(definition.held_bytes())?;
        filter_of(kind, definition, &Place { registry: self, before })
    }

    /// The tokenizer that a request defines.
    ///
    /// # Errors
    /// What is wrong with its definition.
    pub(super) fn defined_tokenizer(
        &self,
        kind: &str,
        definition: &Value,
    ) -> Result<Option<Part<Tokenizer>>> {
        tokenizer_of(kind, definition, self)
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
            return built_in(&kind, name, definition)?
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
        let mut named = Named { tokenizer: (tokenizer, filters.len()), ..Named::default() };
        let mut char_filters = Vec::new();
        for filter in list(definition, "char_filter") {
            let found = self.char_filter(&filter);
            char_filters.push(found.ok_or_else(|| missing(&custom, "char_filter", &filter))?);
            named.char_filters.push(filter);
        }
        for filter in list(definition, "filter") {
            let found = self.filter(&filter, Some((&char_filters, &part, &filters)))?;
            let found = found.ok_or_else(|| missing(&custom, "filter", &filter))?;
            named.filters.push((filter, found.len()));
            filters.extend(found);
        }
        let gap = number(definition, "position_increment_gap")?.unwrap_or(Analyzer::GAP);
        let whole = Analyzer::whole(name, char_filters, part, filters);
        Ok(whole.with_gap(gap).with_names(named))
    }

    fn normalizer_of(&self, name: &str, definition: &Value) -> Result<Analyzer> {
        let custom = format!("Custom normalizer [{name}]");
        let mut char_filters = Vec::new();
        for char_filter in list(definition, "char_filter") {
            match self.char_filter(&char_filter) {
                None => return Err(missing(&custom, "char_filter", &char_filter)),
                Some(found) if found.normalizes() => char_filters.push(found),
                Some(_) => {
                    return Err(Error::illegal_argument(format!(
                        "{custom} may not use char filter [{char_filter}]"
                    )));
                }
            }
        }
        let mut filters = Vec::new();
        for filter in list(definition, "filter") {
            match self.filter(&filter, None)? {
                None => return Err(missing(&custom, "filter", &filter)),
                Some(found) if found.iter().all(Filter::normalizes) => filters.extend(found),
                Some(_) => {
                    return Err(Error::illegal_argument(format!(
                        "{custom} may not use filter [{filter}]"
                    )));
                }
            }
        }
        Ok(Analyzer::whole(name, char_filters, Tokenizer::Keyword, filters))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Room;

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
        assert_eq!(up.normalize("a b", &mut buffer, &Room::default()), Some("A B"));
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
