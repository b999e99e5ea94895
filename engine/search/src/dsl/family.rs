//! Queries about families: `has_child`, `has_parent`, `parent_id`.

use json::spanned::{Kind as Json, Node};

use super::aggs::long;
use super::context::{Fault, Read, boolean, boost, is_value, members, text, unsupported};
use super::query;
use super::special::nested_score;
use crate::ast::{Family, FamilyRelation as Relation, NestedScore, Node as Ask, ParentId, Query};

/// `has_child`.
pub fn has_child(body: &Node, depth: u32) -> Read<Query> {
    const NAME: &str = "has_child";
    let (mut kind, mut inner) = (None, None);
    let (mut score_mode, mut ignore_unmapped) = (NestedScore::None, false);
    let (mut least, mut most) = (1, i64::from(i32::MAX));
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("query", Json::Object(_)) => inner = Some(query::read(value, depth)?),
            ("type", _) if is_value(value) => kind = Some(text(value)?),
            ("score_mode", _) if is_value(value) => score_mode = nested_score(value)?,
            ("boost", _) if is_value(value) => factor = boost(value)?,
            ("min_children", _) if is_value(value) => least = long(value)?,
            ("max_children", _) if is_value(value) => most = long(value)?,
            ("ignore_unmapped", _) if is_value(value) => ignore_unmapped = boolean(value)?,
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let wrong = |reason: &str| Fault::illegal(body.end, reason);
    let kind = kind.ok_or_else(|| wrong("[has_child] requires 'type' field"))?;
    let query = inner.ok_or_else(|| wrong("[has_child] requires 'query' field"))?;
    if least <= 0 {
        return Err(wrong("[has_child] requires positive 'min_children' field"));
    }
    if most <= 0 {
        return Err(wrong("[has_child] requires positive 'max_children' field"));
    }
    if most < least {
        return Err(wrong("[has_child] 'max_children' is less than 'min_children'"));
    }
    let bounded = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    let family = Family {
        relation: Relation::Child,
        kind,
        query,
        score_mode,
        least: bounded(least),
        most: bounded(most),
        ignore_unmapped,
        found: None,
    };
    Ok(Query { node: Ask::Family(Box::new(family)), boost: factor, name })
}

/// `has_parent`.
pub fn has_parent(body: &Node, depth: u32) -> Read<Query> {
    const NAME: &str = "has_parent";
    let (mut kind, mut inner) = (None, None);
    let (mut scored, mut ignore_unmapped) = (false, false);
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match (key, &value.kind) {
            ("query", Json::Object(_)) => inner = Some(query::read(value, depth)?),
            ("parent_type", _) if is_value(value) => kind = Some(text(value)?),
            ("score", _) if is_value(value) => scored = boolean(value)?,
            ("boost", _) if is_value(value) => factor = boost(value)?,
            ("ignore_unmapped", _) if is_value(value) => ignore_unmapped = boolean(value)?,
            ("_name", _) if is_value(value) => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let wrong = |reason: &str| Fault::illegal(body.end, reason);
    let family = Family {
        relation: Relation::Parent,
        kind: kind.ok_or_else(|| wrong("[has_parent] requires 'parent_type' field"))?,
        query: inner.ok_or_else(|| wrong("[has_parent] requires 'query' field"))?,
        score_mode: if scored { NestedScore::Max } else { NestedScore::None },
        least: 1,
        most: u32::MAX,
        ignore_unmapped,
        found: None,
    };
    Ok(Query { node: Ask::Family(Box::new(family)), boost: factor, name })
}

/// `parent_id`.
pub fn parent_id(body: &Node) -> Read<Query> {
    const NAME: &str = "parent_id";
    let (mut kind, mut id, mut ignore_unmapped) = (None, None, false);
    let (mut factor, mut name) = (1.0, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "type" if is_value(value) => kind = Some(text(value)?),
            "id" if is_value(value) => id = Some(text(value)?),
            "ignore_unmapped" if is_value(value) => ignore_unmapped = boolean(value)?,
            "boost" if is_value(value) => factor = boost(value)?,
            "_name" if is_value(value) => name = Some(text(value)?),
            _ => return Err(unsupported(NAME, key, value)),
        }
    }
    let wrong = |reason: &str| Fault::illegal(body.end, reason);
    let found = ParentId {
        kind: kind.ok_or_else(|| wrong("[parent_id] requires 'type' field"))?,
        id: id.ok_or_else(|| wrong("[parent_id] requires 'id' field"))?,
        ignore_unmapped,
    };
    Ok(Query { node: Ask::ParentId(found), boost: factor, name })
}
