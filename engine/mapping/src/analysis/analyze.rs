//! `_analyze`: what a text becomes, for people to look at.
//!
//! The body names an `analyzer`, a `field`, a `normalizer`, or parts (`tokenizer`, `filter`) by name
//! or definition, and the `text`, one or several. Positions and offsets run on from text to text,
//! as they would for the values of one field.

use json::Value;

use super::analyzer::{Analyzer, OwnedToken, Tokenizer};
use super::registry::{Part, Registry, filter_of, tokenizer_of};
use crate::tree::Mapping;
use crate::types::Kind;
use crate::{Error, ErrorKind, Result};

/// `index.analyze.max_token_count`, where the index does not say otherwise.
pub const TOKENS_MAX: usize = 10_000;

/// Answers an `_analyze` request; `index` is the mapping of the index named in it.
///
/// # Errors
/// In Elasticsearch's words, where the body is wrong, names what is not there, or gives more than
/// `tokens_max` tokens.
pub fn analyze(
    body: &Value,
    index: Option<&Mapping>,
    tokens_max: usize,
) -> Result<Vec<OwnedToken>> {
    let keys = body.as_object().map(|body| body.keys()).into_iter().flatten();
    for key in keys {
        if !matches!(
            key,
            "analyzer" | "field" | "normalizer" | "tokenizer" | "filter" | "char_filter" | "text"
        ) {
            return Err(Error::illegal_argument(format!(
                "[analyze_request] unknown field [{key}]"
            )));
        }
    }
    let texts = texts(body)?;
    let chain = chain(body, index)?;
    let mut tokens = Vec::new();
    let (mut position, mut offset) = (0u32, 0u32);
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            position = position.saturating_add(chain.gap());
            offset = offset.saturating_add(1);
        }
        let mut too_many = false;
        let done = chain.tokens(text, &mut |token| {
            if tokens.len() >= tokens_max {
                too_many = true;
                return;
            }
            tokens.push(OwnedToken {
                term: token.term.to_owned(),
                position: position.saturating_add(token.position),
                start: offset.saturating_add(token.start),
                end: offset.saturating_add(token.end),
                kind: token.kind,
            });
        });
        if too_many {
            return Err(Error::new(
                ErrorKind::IllegalState,
                format!(
                    "The number of tokens produced by calling _analyze has exceeded the allowed \
                     maximum of [{tokens_max}]. This limit can be set by changing the \
                     [index.analyze.max_token_count] index level setting."
                ),
            ));
        }
        position = position.saturating_add(done.position_end);
        offset = offset.saturating_add(done.offset_end);
    }
    Ok(tokens)
}

fn texts(body: &Value) -> Result<Vec<&str>> {
    let none = || Error::new(ErrorKind::Validation, "Validation Failed: 1: text is missing;");
    match body.get("text") {
        Some(Value::String(text)) => Ok(vec![text]),
        Some(Value::Array(items)) if !items.is_empty() => items
            .iter()
            .map(|item| {
                item.as_str().ok_or_else(|| {
                    Error::illegal_argument("text array element should only contain text")
                })
            })
            .collect(),
        _ => Err(none()),
    }
}

/// The chain that the body asks for.
fn chain(body: &Value, index: Option<&Mapping>) -> Result<Analyzer> {
    let default = Registry::default();
    let registry = index.map_or(&default, |mapping| &mapping.settings().analysis);
    // Outside an index the values of one text follow each other without a gap.
    let gap = |analyzer: &Analyzer| {
        let gap = if index.is_some() { analyzer.gap() } else { 0 };
        analyzer.clone().with_gap(gap)
    };
    let name = |key: &str| body.get(key).and_then(Value::as_str);
    if let Some(name) = name("normalizer") {
        if index.is_none() {
            return Err(Error::new(
                ErrorKind::Validation,
                "Validation Failed: 1: index is required if normalizer is specified;",
            ));
        }
        return registry.normalizer(name).map(|found| gap(found)).ok_or_else(|| {
            Error::illegal_argument(format!("failed to find normalizer under [{name}]"))
        });
    }
    if let Some(name) = name("analyzer") {
        return registry.analyzer(name).map(|found| gap(found)).ok_or_else(|| {
            let place = if index.is_some() { "" } else { "global " };
            Error::illegal_argument(format!("failed to find {place}analyzer [{name}]"))
        });
    }
    if let Some(field) = name("field") {
        let Some(mapping) = index else {
            return Err(Error::illegal_argument(
                "analysis based on a specific field requires an index",
            ));
        };
        return Ok(match mapping.field(field).map(|field| &field.kind) {
            Some(Kind::Text(text)) => {
                Analyzer::clone(&text.analyzer).with_gap(text.position_increment_gap)
            }
            Some(Kind::Keyword(keyword)) => match &keyword.normalizer {
                Some(normalizer) => Analyzer::clone(normalizer),
                None => Analyzer::new("keyword", Tokenizer::Keyword, Vec::new()),
            },
            Some(_) => {
                return Err(Error::illegal_argument(format!(
                    "Can't process field [{field}], Analysis requests are only supported on \
                     tokenized fields"
                )));
            }
            None => Analyzer::clone(registry.default_analyzer()),
        });
    }
    if body.get("tokenizer").is_none() && body.get("filter").is_none() {
        return Ok(gap(registry.default_analyzer()));
    }
    parts(body, registry, index.is_some())
}

/// A chain of parts, each by name or definition.
fn parts(body: &Value, registry: &Registry, of_index: bool) -> Result<Analyzer> {
    let place = if of_index { "" } else { "global " };
    let missing = |kind: &str, name: &str| {
        Error::illegal_argument(format!("failed to find {place}{kind} under [{name}]"))
    };
    if let Some(value) = body.get("char_filter") {
        let first = value.as_array().map_or(Some(value), <[Value]>::first);
        if let Some(first) = first {
            let name = first.as_str().or_else(|| first.get("type").and_then(Value::as_str));
            return Err(missing("char_filter", name.unwrap_or_default()));
        }
    }
    let Part { part: tokenizer, mut filters } = match body.get("tokenizer") {
        None => Part { part: Tokenizer::Keyword, filters: Vec::new() },
        Some(Value::String(name)) => {
            registry.tokenizer(name).ok_or_else(|| missing("tokenizer", name))?
        }
        Some(definition) => {
            let kind = definition.get("type").and_then(Value::as_str).unwrap_or_default();
            tokenizer_of(kind, definition)?.ok_or_else(|| missing("tokenizer", kind))?
        }
    };
    let named = match body.get("filter") {
        None => &[],
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    for filter in named {
        filters.push(match filter {
            Value::String(name) => registry.filter(name).ok_or_else(|| missing("filter", name))?,
            definition => {
                let kind = definition.get("type").and_then(Value::as_str).unwrap_or_default();
                filter_of(kind, definition)?.ok_or_else(|| missing("filter", kind))?
            }
        });
    }
    Ok(Analyzer::new("_custom_", tokenizer, filters).with_gap(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(body: &Value) -> Vec<String> {
        let tokens = analyze(body, None, TOKENS_MAX).expect("a good request");
        tokens
            .iter()
            .map(|t| format!("{} {}-{} {} {}", t.term, t.start, t.end, t.kind.name(), t.position))
            .collect()
    }

    #[test]
    fn texts_run_on_as_elasticsearch_shows_them() {
        assert_eq!(
            show(&json::json!({"analyzer": "standard", "text": ["one two", "three"]})),
            ["one 0-3 <ALPHANUM> 0", "two 4-7 <ALPHANUM> 1", "three 8-13 <ALPHANUM> 2"]
        );
        assert_eq!(
            show(
                &json::json!({"tokenizer": "standard", "filter": ["lowercase", {"type": "stop", "stopwords": ["a"]}], "text": "A 𝒳 é"})
            ),
            ["𝒳 2-4 <ALPHANUM> 1", "é 5-6 <ALPHANUM> 2"]
        );
    }

    #[test]
    fn faults_are_told_in_elasticsearchs_words() {
        for (body, want) in [
            (json::json!({"analyzer": "zz", "text": "x"}), "failed to find global analyzer [zz]"),
            (
                json::json!({"tokenizer": "zz", "text": "x"}),
                "failed to find global tokenizer under [zz]",
            ),
            (
                json::json!({"filter": ["zz"], "text": "x"}),
                "failed to find global filter under [zz]",
            ),
            (json::json!({"analyzer": "standard"}), "Validation Failed: 1: text is missing;"),
        ] {
            assert_eq!(analyze(&body, None, TOKENS_MAX).expect_err("refused").reason, want);
        }
        let two = json::json!({"text": "one two"});
        let reason = analyze(&two, None, 1).expect_err("too many").reason;
        assert!(reason.contains("allowed maximum of [1]"), "{reason}");
    }
}
