//! `_source`: what of the documents is returned.

use json::spanned::{Kind as Json, Node};

use super::context::{Fault, Read, members, text};
use crate::request::SourceFilter;

/// A boolean, a pattern, a list of patterns, or both lists by name.
pub fn read(node: &Node) -> Read<SourceFilter> {
    match &node.kind {
        Json::Bool(enabled) => Ok(SourceFilter { enabled: *enabled, ..SourceFilter::default() }),
        Json::String(pattern) => Ok(including(vec![pattern.clone()])),
        Json::Array(nodes) => Ok(including(patterns(nodes)?)),
        Json::Object(_) => lists(node),
        _ => {
            let reason = format!(
                "Expected one of [VALUE_BOOLEAN, VALUE_STRING, START_ARRAY, START_OBJECT] but \
                 found [{}]",
                node.token()
            );
            Err(Fault::parsing(node.at, reason))
        }
    }
}

fn including(includes: Vec<String>) -> SourceFilter {
    SourceFilter { includes, ..SourceFilter::default() }
}

fn patterns(nodes: &[Node]) -> Read<Vec<String>> {
    nodes
        .iter()
        .map(|node| match &node.kind {
            Json::String(pattern) => Ok(pattern.clone()),
            _ => {
                let reason = format!("Unknown key for a {} in [null].", node.token());
                Err(Fault::parsing(node.at, reason))
            }
        })
        .collect()
}

fn lists(node: &Node) -> Read<SourceFilter> {
    let mut filter = SourceFilter::default();
    for member in members(node) {
        let (key, value) = (member.key.as_str(), &member.value);
        let list = match key {
            "includes" | "include" => &mut filter.includes,
            "excludes" | "exclude" => &mut filter.excludes,
            _ => {
                let reason = format!("Unknown key for a {} in [{key}].", value.token());
                return Err(Fault::parsing(value.at, reason));
            }
        };
        match &value.kind {
            Json::Array(nodes) => {
                *list = nodes
                    .iter()
                    .map(|node| match &node.kind {
                        Json::String(pattern) => Ok(pattern.clone()),
                        _ => Err(unknown(key, node)),
                    })
                    .collect::<Read<_>>()?;
            }
            Json::String(_) => *list = vec![text(value)?],
            _ => return Err(unknown(key, value)),
        }
    }
    Ok(filter)
}

fn unknown(key: &str, value: &Node) -> Fault {
    Fault::parsing(value.at, format!("Unknown key for a {} in [{key}].", value.token()))
}
