//! Filters of aliases that a limited caller sets: they are asked of all documents with all fields, so a
//! filter that names a hidden field would say by what it finds what stands there.
//!
//! Always true: what is not known to name only what its body shows (scripts, expressions of words, fields
//! by patterns) is refused to whom anything is hidden.

use std::cell::RefCell;

use json::{Object, Value};
use mapping::Mapping;

use crate::error::{Error, Result};
use crate::gate::{Fields, Limits};

/// May a caller of these limits let an alias have this filter?
///
/// # Errors
/// 403 with what is beyond the limits, as the caller wrote it.
pub(super) fn check(
    limits: &[Limits],
    mapping: Option<&Mapping>,
    alias: &str,
    filter: Option<&Value>,
) -> Result<()> {
    let limits: Vec<&Limits> = limits.iter().filter(|limits| !limits.is_unlimited()).collect();
    let Some(filter) = filter.filter(|filter| filter.as_object().is_some_and(|it| !it.is_empty()))
    else {
        return Ok(());
    };
    if limits.is_empty() {
        return Ok(());
    }
    let permits = |path: &str| {
        let mut fields = limits.iter().filter_map(|limits| limits.fields.as_ref());
        // It may be another name of a field, or one whose members are hidden.
        let known = mapping.filter(|mapping| mapping.lookup(path).is_some());
        let is_seen = |fields: &Fields| {
            known.is_none_or(|mapping| mapping.visible(fields).lookup(path).is_some())
        };
        fields.all(|fields| fields.permits(path) && is_seen(fields))
    };
    match beyond(filter, &permits) {
        None => Ok(()),
        Some(what) => {
            let reason = format!(
                "the filter of the alias [{alias}] asks for [{what}], which is beyond what the caller may see"
            );
            Err(Error::new(403, "security_exception", reason))
        }
    }
}

/// What the filters of a caller read, by which its documents are chosen: it may not decide what that means.
pub(super) struct Reads {
    names: Vec<String>,
    /// Of one it cannot be said.
    is_open: bool,
}

impl Reads {
    /// What the filters of these limits read; none where no document is hidden.
    pub(super) fn of(limits: &[Limits]) -> Option<Self> {
        let all = limits.iter().flat_map(|limits| std::iter::once(limits).chain(&limits.kinds));
        let filters: Vec<&Value> = all.filter_map(|limits| limits.filter.as_deref()).collect();
        if filters.is_empty() {
            return None;
        }
        let names = RefCell::new(Vec::new());
        let note = |path: &str| {
            names.borrow_mut().push(path.to_owned());
            true
        };
        let is_open = filters.iter().any(|filter| beyond(filter, &note).is_some());
        Some(Self { names: names.into_inner(), is_open })
    }

    /// Does a filter read the field at this path, one in it, or an object that it is in?
    pub(super) fn meets(&self, path: &str) -> bool {
        self.holds(path) || self.names.iter().any(|name| is_in(name, path))
    }

    /// Does a filter read the field at this path, or an object that it is in?
    pub(super) fn holds(&self, path: &str) -> bool {
        self.is_open || self.names.iter().any(|name| is_in(path, name))
    }

    /// Does a filter read a field that is yet to come?
    pub(super) fn waits(&self, mapping: &Mapping) -> bool {
        let is_there = |name: &String| mapping.lookup(name).is_some() || mapping.is_object(name);
        self.is_open || !self.names.iter().all(is_there)
    }
}

/// Is this path the other, or below it?
fn is_in(path: &str, other: &str) -> bool {
    path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Parameters of queries of one field that stand beside its name.
const BESIDE: &[&str] =
    &["boost", "_name", "distance", "distance_type", "validation_method", "ignore_unmapped"];

/// The first thing in a query that is not permitted, or of which it cannot be said what it reads.
fn beyond(query: &Value, permits: &dyn Fn(&str) -> bool) -> Option<String> {
    let Some((kind, body)) = only(query) else { return Some("a query".to_owned()) };
    let below = |keys: &[&str]| {
        keys.iter().find_map(|key| match body.get(key) {
            Some(Value::Array(queries)) => queries.iter().find_map(|query| beyond(query, permits)),
            Some(query) => beyond(query, permits),
            None => None,
        })
    };
    let named = |path: &str| {
        let is_one = !path.contains('*') && !path.starts_with('_');
        (!(is_one && permits(path))).then(|| path.to_owned())
    };
    match kind {
        "match_all" | "match_none" | "ids" => None,
        "bool" => below(&["must", "filter", "should", "must_not"]),
        "constant_score" => below(&["filter"]),
        "dis_max" => below(&["queries"]),
        "nested" => match body.get("path").and_then(Value::as_str) {
            Some(path) => named(path).or_else(|| below(&["query"])),
            None => Some(kind.to_owned()),
        },
        "exists" => match body.get("field").and_then(Value::as_str) {
            Some(field) => named(field),
            None => Some(kind.to_owned()),
        },
        "term"
        | "terms"
        | "range"
        | "prefix"
        | "wildcard"
        | "regexp"
        | "fuzzy"
        | "match"
        | "match_phrase"
        | "match_phrase_prefix"
        | "match_bool_prefix"
        | "geo_bounding_box"
        | "geo_distance"
        | "geo_polygon" => {
            let Some(body) = body.as_object() else { return Some(kind.to_owned()) };
            let is_looked_up = |value: &Value| value.as_object().is_some();
            if kind == "terms" && body.iter().any(|(_, value)| is_looked_up(value)) {
                return Some("a lookup of terms".to_owned());
            }
            body.keys().filter(|key| !BESIDE.contains(key)).find_map(named)
        }
        other => Some(other.to_owned()),
    }
}

/// The one member of an object.
fn only(query: &Value) -> Option<(&str, &Value)> {
    query.as_object().filter(|object: &&Object| object.len() == 1)?.iter().next()
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn what_filters_read_is_met_under_each_name() {
        let reads = |filter: Value| {
            let limits = Limits { filter: Some(filter.into()), ..Limits::default() };
            Reads::of(&[Limits::default(), limits]).expect("documents are hidden")
        };
        let one =
            reads(json!({"bool": {"filter": [{"term": {"a.b": 1}}, {"exists": {"field": "c"}}]}}));
        for path in ["a", "a.b", "a.b.c", "c", "c.x"] {
            assert!(one.meets(path), "{path}");
        }
        for path in ["ab", "a.bc", "b", "cx"] {
            assert!(!one.meets(path), "{path}");
        }
        assert!(one.holds("c.x") && one.holds("a.b") && !one.holds("a"));
        assert!(reads(json!({"query_string": {"query": "x"}})).meets("anything"));
        assert!(Reads::of(&[Limits::default()]).is_none());
    }

    #[test]
    fn a_filter_names_no_hidden_field_and_nothing_unknown() {
        let refused = |query: Value| beyond(&query, &|path| path != "sec");
        for fine in [
            json!({"term": {"pub": "x"}}),
            json!({"bool": {"must_not": {"exists": {"field": "pub"}}, "boost": 2}}),
            json!({"geo_distance": {"distance": "1km", "where": [0, 0]}}),
            json!({"match_all": {}}),
        ] {
            assert_eq!(refused(fine.clone()), None, "{fine:?}");
        }
        for (query, what) in [
            (json!({"prefix": {"sec": "S"}}), "sec"),
            (json!({"bool": {"filter": [{"match_all": {}}, {"term": {"sec": 1}}]}}), "sec"),
            (json!({"constant_score": {"filter": {"exists": {"field": "sec"}}}}), "sec"),
            (json!({"exists": {"field": "s*"}}), "s*"),
            (json!({"term": {"_ignored": "sec"}}), "_ignored"),
            (json!({"script": {"script": "true"}}), "script"),
            (json!({"query_string": {"query": "sec:S*"}}), "query_string"),
            (json!({"terms": {"pub": {"index": "i"}}}), "a lookup of terms"),
            (json!({"nested": {"path": "sec", "query": {"match_all": {}}}}), "sec"),
        ] {
            assert_eq!(refused(query).as_deref(), Some(what));
        }
    }
}
