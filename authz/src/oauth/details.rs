//! `authorization_details` of the type `index_access`: a right to some documents and fields.
//!
//! ```json
//! [{"type":"index_access","indices":["orders-*"],"actions":["read"],
//!   "query":{"term":{"customer":"acme"}},"fields":["id","total"]}]
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use json::{Object, Value};

use super::Malformed;
use super::scope::{self, Action, Scope, is_pattern};
use crate::record::role::{Descriptor, Role};
use json::fields::FieldRule;

/// Bytes of the whole array.
const BYTES_MAX: usize = 8 << 10;

/// Entries of the array.
const ENTRIES_MAX: usize = 16;

/// Nesting of a query.
const QUERY_DEPTH_MAX: usize = 5;

/// The one type there is.
pub const INDEX_ACCESS: &str = "index_access";

/// Reads and checks an array; `is_ours`: does an address name this store?
///
/// # Errors
/// Where any part of it is unknown or malformed.
pub fn parse(text: &str, is_ours: impl Fn(&str) -> bool) -> Result<Vec<Value>, Malformed> {
    if text.len() > BYTES_MAX {
        return Err(Malformed);
    }
    let Ok(Value::Array(entries)) = json::parse(text.as_bytes()) else { return Err(Malformed) };
    if entries.is_empty() || entries.len() > ENTRIES_MAX {
        return Err(Malformed);
    }
    for entry in &entries {
        check(entry, &is_ours).ok_or(Malformed)?;
    }
    Ok(entries)
}

fn check(entry: &Value, is_ours: &dyn Fn(&str) -> bool) -> Option<()> {
    let object = entry.as_object()?;
    for key in object.keys() {
        if !matches!(key, "type" | "locations" | "indices" | "actions" | "query" | "fields") {
            return None;
        }
    }
    if object.get("type")?.as_str()? != INDEX_ACCESS {
        return None;
    }
    if let Some(locations) = object.get("locations") {
        let locations = locations.as_array()?;
        if locations.is_empty() || !locations.iter().all(|one| one.as_str().is_some_and(is_ours)) {
            return None;
        }
    }
    let (indices, actions) = (indices(entry)?, actions(entry)?);
    if indices.is_empty() || actions.is_empty() {
        return None;
    }
    if let Some(fields) = object.get("fields") {
        let fields = fields.as_array()?;
        let is_name = |one: &Value| one.as_str().is_some_and(|name| !name.is_empty());
        if fields.is_empty() || !fields.iter().all(is_name) {
            return None;
        }
    }
    if let Some(query) = object.get("query") {
        check_query(query, QUERY_DEPTH_MAX)?;
    }
    Some(())
}

fn indices(entry: &Value) -> Option<Vec<String>> {
    let names = entry.get("indices")?.as_array()?.iter();
    names.map(|name| name.as_str().filter(|name| is_pattern(name)).map(str::to_owned)).collect()
}

fn actions(entry: &Value) -> Option<Vec<Action>> {
    let actions = entry.get("actions")?.as_array()?.iter();
    actions.map(|action| Action::of(action.as_str()?)).collect()
}

/// Only literal conditions: no scripts, no look-ups, and nothing that is said twice. Whether a search can read
/// them is asked where there are searches.
fn check_query(query: &Value, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let object = query.as_object()?;
    if object.len() != 1 {
        return None;
    }
    let (kind, body) = object.iter().next()?;
    match kind {
        "match_all" => body.as_object()?.is_empty().then_some(()),
        "exists" => {
            let (key, field) = only(body)?;
            // Sources are no field that a search looks into.
            (key == "field" && !matches!(field.as_str()?, "" | "_source")).then_some(())
        }
        "term" => {
            let value = match of_field(body)? {
                Value::Object(options) => {
                    if !options.iter().all(|(key, value)| is_option_of_term(key, value)) {
                        return None;
                    }
                    options.get("value")?
                }
                value => value,
            };
            is_literal(value).then_some(())
        }
        "terms" => of_field(body)?.as_array()?.iter().all(is_literal).then_some(()),
        "range" => {
            let bounds = of_field(body)?.as_object()?;
            let is_fine = |(key, value): (&str, &Value)| match key {
                "gt" | "gte" | "lt" | "lte" => is_literal(value) || value.is_null(),
                "format" | "time_zone" => value.as_str().is_some(),
                _ => false,
            };
            (is_one_a_side(bounds) && bounds.iter().all(is_fine)).then_some(())
        }
        "bool" => {
            for (key, clauses) in body.as_object()?.iter() {
                match (key, clauses) {
                    ("must" | "filter" | "should" | "must_not", Value::Array(clauses)) => {
                        for clause in clauses {
                            check_query(clause, depth)?;
                        }
                    }
                    ("must" | "filter" | "should" | "must_not", one) => check_query(one, depth)?,
                    ("minimum_should_match", count) if count.as_i64().is_some() => {}
                    _ => return None,
                }
            }
            Some(())
        }
        _ => None,
    }
}

/// What a clause says of its one field, which has a name.
fn of_field(body: &Value) -> Option<&Value> {
    let (field, said) = only(body)?;
    (!field.is_empty()).then_some(said)
}

fn is_option_of_term(key: &str, value: &Value) -> bool {
    match key {
        "value" => true,
        "boost" => value.as_f64().is_some_and(|boost| boost.is_finite() && boost >= 0.0),
        "case_insensitive" => matches!(value, Value::Bool(_)),
        _ => false,
    }
}

fn is_literal(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

/// Has each side of a range one bound at most? Of `{"lte":1,"lt":100}` Elasticsearch takes the last, and an
/// owner would be told both.
pub fn is_one_a_side(bounds: &Object) -> bool {
    let both = |a: &str, b: &str| bounds.contains_key(a) && bounds.contains_key(b);
    !both("gt", "gte") && !both("lt", "lte")
}

fn only(body: &Value) -> Option<(&str, &Value)> {
    let object = body.as_object()?;
    if object.len() == 1 { object.iter().next() } else { None }
}

/// Scopes that an entry stands for, its filters aside: for the client's ceiling.
pub fn scopes(entry: &Value) -> Vec<Scope> {
    let (Some(indices), Some(actions)) = (indices(entry), actions(entry)) else {
        return Vec::new();
    };
    let pairs = indices.iter().flat_map(|pattern| {
        actions.iter().map(|action| Scope::Index { pattern: pattern.clone(), action: *action })
    });
    pairs.collect()
}

/// Pairs of an index and an action that are told of what is left of an entry.
const PAIRS_MAX: usize = 512;

/// What an entry and a ceiling have in common: the entry as it is where it lies within it, else one for the indices
/// of which the same actions are left.
pub fn cut(entry: &Value, ceiling: &[Scope]) -> Vec<Value> {
    let own = scopes(entry);
    let left = scope::cut_to(PAIRS_MAX, &own, ceiling);
    if left == own {
        return vec![entry.clone()];
    }
    let mut of_indices: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in &left {
        if let Scope::Index { pattern, action } = one {
            of_indices.entry(pattern.clone()).or_default().push(action.as_str().to_owned());
        }
    }
    let mut of_actions: BTreeMap<Vec<String>, Vec<Value>> = BTreeMap::new();
    for (pattern, actions) in of_indices {
        of_actions.entry(actions).or_default().push(pattern.into());
    }
    let made = of_actions.into_iter().map(|(actions, indices)| {
        let mut part = entry.clone();
        if let Value::Object(object) = &mut part {
            object.insert("indices", Value::Array(indices));
            let actions = actions.into_iter().map(Value::from);
            object.insert("actions", Value::Array(actions.collect()));
        }
        part
    });
    made.collect()
}

/// What entries mean at the gate: one role.
pub fn role(entries: &[Value]) -> Role {
    let mut role = Role::new("details", Descriptor::default());
    for entry in entries {
        let (Some(indices), Some(actions)) = (indices(entry), actions(entry)) else { continue };
        let query = entry.get("query").map(|query| Arc::new(query.clone()));
        let fields = entry.get("fields").and_then(Value::as_array).map(|fields| {
            let mut grant = Vec::new();
            for field in fields.iter().filter_map(Value::as_str) {
                grant.push(field.to_owned());
                // A field named is named with its parts.
                grant.push(format!("{field}.*"));
            }
            FieldRule { grant: Some(grant), except: Vec::new() }
        });
        for action in actions {
            let (query, fields) = (query.clone(), fields.clone());
            role.indices.push(scope::grant(&indices, action, query, fields));
        }
    }
    role
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: &str = "https://store.example";

    #[test]
    fn of_an_entry_is_left_what_lies_within_a_ceiling() {
        let entry = |indices: &[&str], actions: &[&str]| {
            let list = |words: &[&str]| words.iter().map(|word| Value::from(*word)).collect();
            json::json!({"type": "index_access", "indices": (Value::Array(list(indices))),
                "actions": (Value::Array(list(actions))), "fields": ["id"]})
        };
        let asked = entry(&["a-1", "b-*", "c"], &["read", "write"]);
        let left = |ceiling: &str| cut(&asked, &scope::parse_list(ceiling).expect("scopes"));
        assert_eq!(left("index:*:all"), std::slice::from_ref(&asked));
        assert_eq!(left("index:z:read"), []);
        assert_eq!(left("index:a-*:read"), [entry(&["a-1"], &["read"])]);
        let apart = left("index:a-1:read index:b-2:read index:b-3:all");
        let both = entry(&["b-3"], &["read", "write"]);
        assert_eq!(apart, [entry(&["a-1", "b-2"], &["read"]), both]);
    }

    #[test]
    fn an_entry_becomes_a_role() {
        let text = r#"[{"type":"index_access","locations":["https://store.example"],
            "indices":["orders-*"],"actions":["read"],
            "query":{"bool":{"filter":[{"term":{"customer":"acme"}},{"range":{"n":{"gte":1}}}]}},
            "fields":["id","total"]}]"#;
        let entries = parse(text, |one| one == STORE).expect("legal");
        let role = role(&entries);
        assert!(role.indices[0].holds("indices:data/read/search", "orders-1"));
        assert!(!role.indices[0].holds("indices:data/write/index", "orders-1"));
        let fields = role.indices[0].fields.as_ref().expect("limited");
        assert!(fields.permits("id") && fields.permits("total.cents"));
        assert!(!fields.permits("customer"));
        assert_eq!(scope::list_text(&scopes(&entries[0])), "index:orders-*:read");
    }

    #[test]
    fn anything_else_is_refused() {
        let with = |more: &str| {
            format!(r#"[{{"type":"index_access","indices":["a"],"actions":["read"]{more}}}]"#)
        };
        for more in [
            "",
            r#","query":{"term":{"a":{"value":"a","boost":2,"case_insensitive":true}}}"#,
            r#","query":{"range":{"a":{"gt":"2020","lte":null,"format":"yyyy","time_zone":"+01:00"}}}"#,
            r#","query":{"bool":{"should":{"exists":{"field":"a"}},"minimum_should_match":-1}}"#,
        ] {
            assert!(parse(&with(more), |one| one == STORE).is_ok(), "{more}");
        }
        for more in [
            r#","more":1"#,
            r#","locations":["https://other.example"]"#,
            r#","fields":[]"#,
            r#","query":{"script":{}}"#,
            r#","query":{"terms":{"a":{"index":"x","id":"1","path":"p"}}}"#,
            r#","query":{"term":{"a":1},"match_all":{}}"#,
            r#","query":{"query_string":{"query":"*"}}"#,
            r#","query":{"range":{"n":{"lte":1,"lt":100}}}"#,
            r#","query":{"range":{"n":{"gt":1,"gte":5}}}"#,
            r#","query":{"range":{"n":{"format":5}}}"#,
            r#","query":{"term":{"a":{"value":"a","foo":1}}}"#,
            r#","query":{"term":{"a":{"value":"a","boost":"x"}}}"#,
            r#","query":{"term":{"a":{"boost":1}}}"#,
            r#","query":{"term":{"":"a"}}"#,
            r#","query":{"terms":{"a":[null]}}"#,
            r#","query":{"exists":{"field":""}}"#,
            r#","query":{"exists":{"field":"_source"}}"#,
            r#","query":{"bool":{"should":[],"minimum_should_match":1.5}}"#,
            r#","query":{"bool":{"must":{"bool":{"must":{"bool":{"must":{"bool":{"must":{"bool":{"must":{"match_all":{}}}}}}}}}}}}"#,
        ] {
            assert!(parse(&with(more), |one| one == STORE).is_err(), "{more}");
        }
        for text in [
            "",
            "{}",
            "[]",
            r#"[{"type":"other"}]"#,
            r#"[{"type":"index_access"}]"#,
            r#"[{"type":"index_access","type":"index_access","indices":["a"],"actions":["read"]}]"#,
        ] {
            assert!(parse(text, |one| one == STORE).is_err(), "{text}");
        }
    }
}
