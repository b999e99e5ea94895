//! Queries on single terms that are described: `prefix`, `wildcard`, `regexp`, `fuzzy`; and
//! `terms_set`.

use json::spanned::{Kind as Json, Node};

use super::context::{
    Fault, OneField, Read, boolean, boost, int, is_value, members, scalar, text, text_or_null,
    unsupported,
};
use super::query_string::states;
use super::script;
use super::text::fuzziness;
use crate::ast::{
    Fuzziness, FuzzyOptions, FuzzyTerm, Node as Ask, Pattern, Query, Regexp, TermsSet,
};
use automaton::regexp;

/// `prefix`.
pub fn prefix(body: &Node) -> Read<Query> {
    pattern("prefix", &["value"], body, Ask::Prefix)
}

/// `wildcard`.
pub fn wildcard(body: &Node) -> Read<Query> {
    pattern("wildcard", &["value", "wildcard"], body, Ask::Wildcard)
}

/// `prefix` and `wildcard` are read alike.
fn pattern(
    query: &str,
    value_keys: &[&str],
    body: &Node,
    make: impl FnOnce(Pattern) -> Ask,
) -> Read<Query> {
    let mut field = OneField::default();
    let mut found = None;
    let (mut case_insensitive, mut rewrite) = (false, None);
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        field.set(query, &member.key, member.value.at)?;
        let Json::Object(options) = &member.value.kind else {
            found = Some(text(&member.value)?);
            continue;
        };
        for option in options {
            let (key, value) = (option.key.as_str(), &option.value);
            match key {
                _ if value_keys.contains(&key) => found = Some(text(value)?),
                "boost" => factor = boost(value)?,
                "rewrite" => rewrite = text_or_null(value)?,
                "case_insensitive" => case_insensitive = boolean(value)?,
                "_name" => name = Some(text(value)?),
                _ => return Err(unsupported(query, key, value)),
            }
        }
    }
    let field = field.required(body.end)?;
    let Some(value) = found else {
        return Err(Fault::illegal(body.end, "value cannot be null"));
    };
    let node = make(Pattern { field, value, case_insensitive, rewrite });
    Ok(Query { node, boost: factor, name })
}

/// `regexp`.
pub fn regexp(body: &Node) -> Read<Query> {
    const NAME: &str = "regexp";
    let mut field = OneField::default();
    let mut value = None;
    let mut found = Regexp {
        field: String::new(),
        value: String::new(),
        flags: regexp::ALL,
        case_insensitive: false,
        max_determinized_states: 10_000,
        rewrite: None,
    };
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        field.set(NAME, &member.key, member.value.at)?;
        let Json::Object(options) = &member.value.kind else {
            value = Some(text(&member.value)?);
            continue;
        };
        for option in options {
            let (key, node) = (option.key.as_str(), &option.value);
            match key {
                "value" => value = Some(text(node)?),
                "boost" => factor = boost(node)?,
                "rewrite" => found.rewrite = text_or_null(node)?,
                "flags" => found.flags = regexp_flags(node)?,
                "flags_value" => found.flags = int(node)? as u32,
                "max_determinized_states" => {
                    found.max_determinized_states = states(int(node)?, node)?;
                }
                "case_insensitive" => found.case_insensitive = boolean(node)?,
                "_name" => name = Some(text(node)?),
                _ => return Err(unsupported(NAME, key, node)),
            }
        }
    }
    found.field = field.required(body.end)?;
    let Some(value) = value else {
        return Err(Fault::illegal(body.end, "value cannot be null"));
    };
    found.value = value;
    Ok(Query { node: Ask::Regexp(found), boost: factor, name })
}

fn regexp_flags(node: &Node) -> Read<u32> {
    const NAMES: [(&str, u32); 7] = [
        ("ALL", regexp::ALL),
        ("NONE", 0),
        ("INTERSECTION", regexp::INTERSECTION),
        ("COMPLEMENT", regexp::COMPLEMENT),
        ("EMPTY", regexp::EMPTY),
        ("ANYSTRING", regexp::ANYSTRING),
        ("INTERVAL", regexp::INTERVAL),
    ];
    if matches!(node.kind, Json::Number(_)) {
        return Ok(int(node)? as u32);
    }
    let words = text(node)?;
    if words.is_empty() {
        return Ok(regexp::ALL);
    }
    let mut found = 0;
    for word in words.split('|').filter(|word| !word.is_empty()) {
        let upper = word.to_uppercase();
        match NAMES.iter().find(|(name, _)| *name == upper) {
            Some(("ALL", flag)) => return Ok(*flag),
            Some((_, flag)) => found |= flag,
            None => {
                let reason = format!("Unknown regexp flag [{word}]");
                return Err(Fault::illegal(node.at, reason));
            }
        }
    }
    Ok(found)
}

/// `fuzzy`.
pub fn fuzzy(body: &Node) -> Read<Query> {
    const NAME: &str = "fuzzy";
    let mut field = OneField::default();
    let mut value = None;
    let mut options = FuzzyOptions { fuzziness: Some(Fuzziness::AUTO), ..FuzzyOptions::default() };
    let (mut prefix_length, mut max_expansions) = (0, 50);
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        field.set(NAME, &member.key, member.value.at)?;
        let Json::Object(keys) = &member.value.kind else {
            value = scalar(&member.value)?;
            continue;
        };
        for option in keys {
            let (key, node) = (option.key.as_str(), &option.value);
            match key {
                _ if !is_value(node) && !node.is_null() => {
                    let reason =
                        format!("[fuzzy] unexpected token [{}] after [{key}]", node.token());
                    return Err(Fault::parsing(node.at, reason));
                }
                "term" | "value" => value = scalar(node)?,
                "boost" => factor = boost(node)?,
                "fuzziness" => options.fuzziness = Some(fuzziness(node)?),
                "prefix_length" => prefix_length = int(node)?,
                "max_expansions" => max_expansions = int(node)?,
                "transpositions" => options.transpositions = boolean(node)?,
                "rewrite" => options.rewrite = text_or_null(node)?,
                "_name" => name = Some(text(node)?),
                _ => return Err(unsupported(NAME, key, node)),
            }
        }
    }
    let field = field.required(body.end)?;
    let Some(value) = value else {
        return Err(Fault::illegal(body.end, "query value cannot be null"));
    };
    // As Lucene's `FuzzyQuery` looks at them, in its order.
    let flaw = match (prefix_length, max_expansions) {
        (..0, _) => Some("prefixLength cannot be negative."),
        (_, ..=0) => Some("maxExpansions must be positive."),
        _ => None,
    };
    options.prefix_length = u32::try_from(prefix_length).unwrap_or(0);
    options.max_expansions = u32::try_from(max_expansions).unwrap_or(0);
    let node = Ask::Fuzzy(FuzzyTerm { field, value, options, flaw });
    Ok(Query { node, boost: factor, name })
}

/// `terms_set`.
pub fn terms_set(body: &Node) -> Read<Query> {
    const NAME: &str = "terms_set";
    let Some([member]) = body.as_object() else {
        return Err(Fault::parsing(body.end, "[terms_set] unknown token [END_OBJECT]"));
    };
    let Json::Object(options) = &member.value.kind else {
        let reason = format!("[terms_set] unknown token [{}]", member.value.token());
        return Err(Fault::parsing(member.value.at, reason));
    };
    let mut found = TermsSet {
        field: member.key.clone(),
        values: Vec::new(),
        minimum_field: None,
        minimum_should_match: None,
        minimum_script: None,
    };
    let (mut factor, mut name) = (1.0, None);
    for option in options {
        let (key, value) = (option.key.as_str(), &option.value);
        match (key, &value.kind) {
            ("terms", Json::Array(nodes)) => {
                for node in nodes {
                    let Some(value) = scalar(node)? else {
                        let reason = "No value specified for terms query";
                        return Err(Fault::parsing(node.at, reason));
                    };
                    found.values.push(value);
                }
            }
            ("minimum_should_match_field", _) if is_value(value) => {
                found.minimum_field = Some(text(value)?);
            }
            ("minimum_should_match", _) if is_value(value) => {
                found.minimum_should_match = Some(text(value)?);
            }
            ("minimum_should_match_script", Json::Object(_) | Json::String(_)) => {
                found.minimum_script = Some(Box::new(script::read(value)?));
            }
            ("boost", _) if is_value(value) => factor = boost(value)?,
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let named = [
        found.minimum_field.is_some(),
        found.minimum_should_match.is_some(),
        found.minimum_script.is_some(),
    ];
    match named.into_iter().filter(|named| *named).count() {
        0 => {
            let reason = "No minimum should match has been specified";
            return Err(Fault::illegal(body.end, reason));
        }
        2.. => {
            let reason = "Only one of [minimum_should_match], [minimum_should_match_field] and \
                          [minimum_should_match_script] can be specified";
            return Err(Fault::illegal(body.end, reason));
        }
        _ => {}
    }
    Ok(Query { node: Ask::TermsSet(found), boost: factor, name })
}
