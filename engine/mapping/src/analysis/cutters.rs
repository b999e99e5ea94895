//! Tokenizers and char filters of a type, from their settings. `None` where there is no such type.

use std::sync::Arc;

use json::Value;

use super::analyzer::Tokenizer;
use super::char_filter::{CharFilter, HtmlStrip, Mappings, PatternReplaceChars};
use super::filter::Filter;
use super::options::{character, flag, list, no_path, number, number_or, rules, text};
use super::regex::{Pattern, Replacement};
use super::registry::{Part, Registry};
use super::tokenizer::{CharGroup, Cut, MAX_TOKEN_LENGTH, NgramCut, PathCut};
use crate::{Error, Result};

/// A tokenizer of a type.
pub(super) fn tokenizer_of(
    kind: &str,
    settings: &Value,
    registry: &Registry,
) -> Result<Option<Part<Tokenizer>>> {
    let max = number_or(settings, "max_token_length", MAX_TOKEN_LENGTH)?;
    let (part, filters) = match kind {
        "standard" => (Tokenizer::Standard(max), Vec::new()),
        "letter" => (Tokenizer::Letter(MAX_TOKEN_LENGTH), Vec::new()),
        "lowercase" => (Tokenizer::Letter(MAX_TOKEN_LENGTH), vec![Filter::Lowercase]),
        "whitespace" => (Tokenizer::Whitespace(max), Vec::new()),
        "keyword" => (Tokenizer::Keyword, Vec::new()),
        "classic" => (Tokenizer::Cut(Cut::Classic(max)), Vec::new()),
        "uax_url_email" => (Tokenizer::Cut(Cut::UrlEmail(max)), Vec::new()),
        "pattern" => {
            let pattern = text(settings, "pattern").unwrap_or_else(|| r"\W+".to_owned());
            let flags = text(settings, "flags").unwrap_or_default();
            let pattern = Arc::new(crate::analysis::regex::pattern(&pattern, &flags)?);
            let group = match text(settings, "group") {
                None => None,
                Some(group) if group == "-1" => None,
                Some(_) => number(settings, "group")?.map(|group| group as usize),
            };
            if group.is_some_and(|group| group > pattern.group_count()) {
                return Err(Error::illegal_argument(format!(
                    "invalid group specified: pattern only has: {} capturing groups",
                    pattern.group_count()
                )));
            }
            (Tokenizer::Cut(Cut::Pattern(pattern, group)), Vec::new())
        }
        "simple_pattern" | "simple_pattern_split" => {
            let pattern = text(settings, "pattern").unwrap_or_default();
            let pattern = Arc::new(crate::analysis::regex::pattern(&pattern, "")?);
            let group = (kind == "simple_pattern").then_some(0);
            (Tokenizer::Cut(Cut::Pattern(pattern, group)), Vec::new())
        }
        "char_group" => {
            let group = char_group(&rules(settings, "tokenize_on_chars"))?;
            (Tokenizer::Cut(Cut::CharGroup(Arc::new(group), max)), Vec::new())
        }
        "ngram" | "edge_ngram" => {
            let (min, max) = grams(settings)?;
            let edge = kind == "edge_ngram";
            if !edge {
                registry.limits.check_ngram(min, max, "Tokenizer")?;
            }
            let keeps = token_chars(settings)?;
            let cut = NgramCut { min: min as usize, max: max as usize, edge, keeps };
            (Tokenizer::Cut(Cut::Ngram(Arc::new(cut))), Vec::new())
        }
        "path_hierarchy" | "PathHierarchy" => {
            let delimiter = character(settings, "delimiter", '/')?;
            let path = PathCut {
                delimiter,
                replacement: character(settings, "replacement", delimiter)?,
                reverse: flag(settings, "reverse", false)?,
                skip: number_or(settings, "skip", 0)? as usize,
            };
            (Tokenizer::Cut(Cut::Path(path)), Vec::new())
        }
        _ => return Ok(None),
    };
    Ok(Some(Part { part, filters }))
}

/// `min_gram` and `max_gram`.
pub(super) fn grams(settings: &Value) -> Result<(u32, u32)> {
    let min = number_or(settings, "min_gram", 1)?;
    let max = number_or(settings, "max_gram", 2)?;
    if min < 1 {
        return Err(Error::illegal_argument("minGram must be greater than zero"));
    }
    if min > max {
        return Err(Error::illegal_argument("minGram must not be greater than maxGram"));
    }
    Ok((min, max))
}

fn token_chars(settings: &Value) -> Result<Option<CharGroup>> {
    let mut group = CharGroup::default();
    let names = list(settings, "token_chars");
    if names.is_empty() {
        return Ok(None);
    }
    for name in names {
        match name.trim().to_ascii_lowercase().as_str() {
            "letter" => group.letter = true,
            "digit" => group.digit = true,
            "whitespace" => group.whitespace = true,
            "punctuation" => group.punctuation = true,
            "symbol" => group.symbol = true,
            "custom" => {
                let own = text(settings, "custom_token_chars").ok_or_else(|| {
                    Error::illegal_argument(
                        "Token type: 'custom' requires setting `custom_token_chars`",
                    )
                })?;
                group.chars.extend(own.chars());
            }
            other => {
                return Err(Error::illegal_argument(format!(
                    "Unknown token type: '{other}', must be one of [letter, digit, whitespace, \
                     punctuation, symbol, custom]"
                )));
            }
        }
    }
    Ok(Some(group))
}

fn char_group(items: &[String]) -> Result<CharGroup> {
    let mut group = CharGroup::default();
    for item in items {
        let mut chars = item.chars();
        match (chars.next(), chars.next(), chars.next()) {
            (None, ..) => {
                return Err(Error::illegal_argument(
                    "[tokenize_on_chars] cannot contain empty characters",
                ));
            }
            (Some(c), None, None) => {
                group.chars.insert(c);
            }
            (Some('\\'), Some(escaped), None) => {
                group.chars.insert(match escaped {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    other => other,
                });
            }
            (Some('\\'), Some('u'), _) => {
                let code = u32::from_str_radix(&item[2..], 16).ok().and_then(char::from_u32);
                group.chars.extend(code);
            }
            _ => match item.as_str() {
                "letter" => group.letter = true,
                "digit" => group.digit = true,
                "whitespace" => group.whitespace = true,
                "punctuation" => group.punctuation = true,
                "symbol" => group.symbol = true,
                other => {
                    return Err(Error::illegal_argument(format!(
                        "Invalid escaped char in [{other}]"
                    )));
                }
            },
        }
    }
    Ok(group)
}

/// A char filter of a type.
pub(super) fn char_filter_of(kind: &str, settings: &Value) -> Result<Option<CharFilter>> {
    Ok(Some(match kind {
        "html_strip" | "htmlStrip" => {
            CharFilter::Html(Arc::new(HtmlStrip::new(list(settings, "escaped_tags"))))
        }
        "mapping" => {
            no_path(settings, "mappings")?;
            if settings.get("mappings").is_none() {
                return Err(Error::illegal_argument(
                    "mapping requires either `mappings` or `mappings_path` to be configured",
                ));
            }
            let mappings = Mappings::parse(&rules(settings, "mappings"));
            CharFilter::Mapping(Arc::new(mappings.map_err(Error::illegal_argument)?))
        }
        "pattern_replace" => {
            let (pattern, replacement) = pattern_replacement(settings, "char filter")?;
            CharFilter::Pattern(Arc::new(PatternReplaceChars { pattern, replacement }))
        }
        _ => return Ok(None),
    }))
}

pub(super) fn pattern_replacement(settings: &Value, part: &str) -> Result<(Pattern, Replacement)> {
    let Some(pattern) = text(settings, "pattern").filter(|pattern| !pattern.is_empty()) else {
        let name = text(settings, "type").unwrap_or_default();
        return Err(Error::illegal_argument(format!(
            "pattern is missing for [{name}] {part} of type 'pattern_replace'"
        )));
    };
    let flags = text(settings, "flags").unwrap_or_default();
    let pattern = crate::analysis::regex::pattern(&pattern, &flags)?;
    let replacement = text(settings, "replacement").unwrap_or_default();
    let replacement = crate::analysis::regex::replacement(&replacement, &pattern)?;
    Ok((pattern, replacement))
}
