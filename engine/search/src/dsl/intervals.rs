//! `intervals`: rules on where words stand.

use json::spanned::{Kind as Json, Node};

use super::context::{Fault, OneField, Read, boolean, boost, int, members, text};
use super::text::fuzziness;
use crate::ast::{Fuzziness, Intervals, Lies, Node as Ask, PatternKind, Query, Rule, RuleKind};

/// Rules inside rules.
const DEPTH_MAX: u32 = 30;

/// `intervals`.
pub fn intervals(body: &Node) -> Read<Query> {
    let mut field = OneField::default();
    let (mut rule, mut factor, mut name) = (None, 1.0, None);
    for member in members(body) {
        field.set("intervals", &member.key, member.value.at)?;
        let Json::Object(keys) = &member.value.kind else {
            let reason = format!("Expected [START_OBJECT] but got [{}]", member.value.token());
            return Err(Fault::parsing(member.value.at, reason));
        };
        for inner in keys {
            match inner.key.as_str() {
                "_name" => name = Some(text(&inner.value)?),
                "boost" => factor = boost(&inner.value)?,
                kind => {
                    if rule.is_some() {
                        let reason = "Only one interval rule can be specified, found an extra one";
                        return Err(Fault::parsing(inner.key_at, reason));
                    }
                    rule = Some(self::rule(kind, &inner.value, 0)?);
                }
            }
        }
    }
    let field = field.required(body.end)?;
    let Some(rule) = rule else {
        return Err(Fault::parsing(body.end, "Missing intervals from interval query definition"));
    };
    let node = Ask::Intervals(Box::new(Intervals { field, rule }));
    Ok(Query { node, boost: factor, name })
}

/// A rule that stands alone in an object.
fn one_rule(node: &Node, depth: u32) -> Read<Rule> {
    match node.as_object() {
        Some([member]) => rule(&member.key, &member.value, depth),
        _ => Err(Fault::parsing(node.at, "Expected exactly one interval rule")),
    }
}

fn rule(kind: &str, body: &Node, depth: u32) -> Read<Rule> {
    if depth > DEPTH_MAX {
        return Err(Fault::illegal(body.at, "interval rules are nested too deeply"));
    }
    if body.as_object().is_none() {
        let reason = format!("[{kind}] expected [START_OBJECT] but got [{}]", body.token());
        return Err(Fault::parsing(body.at, reason));
    }
    let unknown = |key: &str, value: &Node, key_at| {
        Err(Fault::content(key_at, value.at, format!("[{kind}] unknown field [{key}]")))
    };
    let (mut filter, mut max_gaps, mut ordered) = (None, None, false);
    let (mut analyzer, mut use_field, mut word) = (None, None, None);
    let (mut rules, mut mode) = (Vec::new(), None);
    let (mut edits, mut prefix_length, mut swaps) = (Fuzziness::AUTO, 0, true);
    let mut any_case = false;
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (kind, key) {
            (_, "filter") if matches!(kind, "match" | "all_of" | "any_of") => {
                filter = Some(self::filter(value, depth)?);
            }
            ("match" | "all_of", "max_gaps") => max_gaps = u32::try_from(int(value)?).ok(),
            ("match" | "all_of", "ordered") => ordered = boolean(value)?,
            ("match" | "all_of", "mode") => mode = Some(text(value)?),
            ("match", "query")
            | ("prefix", "prefix")
            | ("wildcard" | "regexp", "pattern")
            | ("fuzzy", "term") => word = Some(text(value)?),
            (_, "analyzer") if !kind.ends_with("_of") => analyzer = Some(text(value)?),
            (_, "use_field") if !kind.ends_with("_of") => use_field = Some(text(value)?),
            ("fuzzy", "fuzziness") => edits = fuzziness(value)?,
            ("fuzzy", "prefix_length") => {
                prefix_length = u32::try_from(int(value)?).unwrap_or(0);
            }
            ("fuzzy", "transpositions") => swaps = boolean(value)?,
            ("regexp" | "wildcard", "case_insensitive") => any_case = boolean(value)?,
            ("all_of" | "any_of", "intervals") => {
                let Some(nodes) = value.as_array() else {
                    let reason = format!(
                        "[{kind}] intervals doesn't support values of type: {}",
                        value.token()
                    );
                    return Err(Fault::content(value.at, value.at, reason));
                };
                for node in nodes {
                    rules.push(one_rule(node, depth + 1)?);
                }
            }
            _ => return unknown(key, value, member.key_at),
        }
    }
    if mode.as_deref() == Some("ordered") {
        ordered = true;
    }
    let required = |word: Option<String>, name: &str| {
        word.ok_or_else(|| Fault::illegal(body.end, format!("Required [{name}]")))
    };
    let pattern =
        |kind| RuleKind::Pattern { kind, analyzer: analyzer.clone(), use_field: use_field.clone() };
    let kind = match kind {
        "match" => RuleKind::Match {
            query: required(word, "query")?,
            max_gaps,
            ordered,
            analyzer,
            use_field,
        },
        "prefix" => pattern(PatternKind::Prefix(required(word, "prefix")?)),
        "wildcard" => pattern(PatternKind::Wildcard(required(word, "pattern")?)),
        "regexp" => pattern(PatternKind::Regexp(required(word, "pattern")?, any_case)),
        "fuzzy" => {
            let word = required(word, "term")?;
            pattern(PatternKind::Fuzzy(word, edits, prefix_length, swaps))
        }
        "all_of" => RuleKind::AllOf { rules, max_gaps, ordered },
        "any_of" => RuleKind::AnyOf(rules),
        _ => {
            let reason = format!(
                "Unknown interval type [{kind}], expecting one of [match, any_of, all_of, prefix, \
                 wildcard, regexp, fuzzy, range]"
            );
            return Err(Fault::parsing(body.at, reason));
        }
    };
    Ok(Rule { kind, filter: filter.map(Box::new) })
}

fn filter(node: &Node, depth: u32) -> Read<(Lies, Rule)> {
    let Some([member]) = node.as_object() else {
        return Err(Fault::parsing(node.at, "Expected exactly one interval filter"));
    };
    let lies = match member.key.as_str() {
        "after" => Lies::After,
        "before" => Lies::Before,
        "contained_by" => Lies::ContainedBy,
        "containing" => Lies::Containing,
        "not_contained_by" => Lies::NotContainedBy,
        "not_containing" => Lies::NotContaining,
        "not_overlapping" => Lies::NotOverlapping,
        "overlapping" => Lies::Overlapping,
        other => {
            let reason = format!("Unknown filter type [{other}]");
            return Err(Fault::illegal(member.value.at, reason));
        }
    };
    Ok((lies, one_rule(&member.value, depth + 1)?))
}
