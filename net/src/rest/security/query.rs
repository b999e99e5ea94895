//! `_security/_query/…`: a small part of the query language over a few records in memory.
//!
//! Known are `match_all`, `term`, `terms`, `prefix`, `wildcard`, `range`, `exists`, `ids`, `match`,
//! `simple_query_string` (words that each must begin some field) and `bool`. Anything else is
//! refused.

use std::cmp::Ordering;

use engine::{Error, Result};
use env::Env;
use json::{Object, Value};

use super::body::Body;
use super::value;
use crate::call::Call;
use crate::reply::Reply;

/// The most that `from` and `size` may reach.
const WINDOW_MAX: u64 = 10_000;

/// Clauses nest this deep at most.
const DEPTH_MAX: usize = 20;

/// An id, what is queried, what is shown.
pub(super) type Row = (String, Value, Value);

/// Answers a query over `rows`; `kind` names them in the answer.
pub(super) fn answer<E: Env>(
    call: &Call<'_, E>,
    kind: &str,
    fields: &[&str],
    mut rows: Vec<Row>,
) -> Result<Reply> {
    let body = call.map()?.unwrap_or_else(Value::object);
    let known = ["query", "from", "size", "sort", "search_after"];
    let body = Body::new(&body, "query request", &known)?;
    let number = |name: &str, default: u64| match body.value(name) {
        None => Ok(default),
        Some(value) => value
            .as_u64()
            .ok_or_else(|| Error::validation(&[format!("[{name}] parameter cannot be negative")])),
    };
    let (from, size) = (number("from", 0)?, number("size", 10)?);
    if from.saturating_add(size) > WINDOW_MAX {
        return Err(Error::validation(&[format!(
            "Result window is too large, from + size must be less than or equal to: [{WINDOW_MAX}] \
             but was [{}]",
            from.saturating_add(size)
        )]));
    }
    if let Some(query) = body.value("query") {
        let mut kept = Vec::new();
        for row in rows {
            if matches(query, fields, &row, DEPTH_MAX)? {
                kept.push(row);
            }
        }
        rows = kept;
    }
    let orders = orders(body.value("sort"), fields)?;
    rows.sort_by(|a, b| {
        let by = orders.iter().map(|(field, descending)| {
            let order = compare(lookup(&a.1, field), lookup(&b.1, field));
            if *descending { order.reverse() } else { order }
        });
        by.fold(Ordering::Equal, Ordering::then).then_with(|| a.0.cmp(&b.0))
    });
    if let Some(after) = body.list("search_after")? {
        rows.retain(|row| {
            let by = orders.iter().zip(after).map(|((field, descending), after)| {
                let order = compare(lookup(&row.1, field), Some(after));
                if *descending { order.reverse() } else { order }
            });
            by.fold(Ordering::Equal, Ordering::then) == Ordering::Greater
        });
    }
    let total = rows.len();
    let page: Vec<Value> = rows
        .into_iter()
        .skip(from as usize)
        .take(size as usize)
        .map(|(_, data, mut shown)| {
            if !orders.is_empty()
                && let Some(shown) = shown.as_object_mut()
            {
                let sort: Vec<Value> = orders
                    .iter()
                    .map(|(field, _)| lookup(&data, field).cloned().unwrap_or_default())
                    .collect();
                shown.insert("_sort", sort);
            }
            shown
        })
        .collect();
    let mut answer = Object::new();
    answer.insert("total", total);
    answer.insert("count", page.len());
    answer.insert(kind, page);
    Ok(value(200, &Value::Object(answer)))
}

/// Fields to sort by, and whether downward.
fn orders(sort: Option<&Value>, fields: &[&str]) -> Result<Vec<(String, bool)>> {
    let items: Vec<&Value> = match sort {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().collect(),
        Some(one) => vec![one],
    };
    let mut orders = Vec::new();
    for item in items {
        let (field, order) = match item {
            Value::String(field) => (field.as_str(), None),
            Value::Object(object) if object.len() == 1 => {
                let (field, order) = object.iter().next().unwrap_or(("", &Value::Null));
                (field, order.get("order").and_then(Value::as_str).or(order.as_str()))
            }
            _ => return Err(Error::illegal_argument("malformed sort")),
        };
        check_field(field, fields)?;
        orders.push((field.to_owned(), order == Some("desc")));
    }
    Ok(orders)
}

fn check_field(field: &str, fields: &[&str]) -> Result<()> {
    let root = field.split('.').next().unwrap_or_default();
    if fields.contains(&field) || (root == "metadata" && fields.contains(&"metadata")) {
        return Ok(());
    }
    Err(Error::illegal_argument(format!(
        "Field [{field}] is not allowed for querying or aggregation"
    )))
}

fn lookup<'v>(data: &'v Value, field: &str) -> Option<&'v Value> {
    if let Some(value) = data.get(field) {
        return Some(value);
    }
    let parts: Vec<&str> = field.split('.').collect();
    data.at(&parts)
}

/// Missing values come last.
fn compare(a: Option<&Value>, b: Option<&Value>) -> Ordering {
    let plain = |value: Option<&Value>| value.filter(|value| !value.is_null()).cloned();
    match (plain(a), plain(b)) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(a), Some(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => text(&a).cmp(&text(&b)),
        },
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => json::to_string(other),
    }
}

fn matches(query: &Value, fields: &[&str], row: &Row, depth: usize) -> Result<bool> {
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| Error::illegal_argument("the query is nested too deeply"))?;
    let malformed = || Error::parse("malformed query, expected one query clause");
    let object = query.as_object().filter(|object| object.len() == 1).ok_or_else(malformed)?;
    let (kind, clause) = object.iter().next().ok_or_else(malformed)?;
    let field = || -> Result<(&str, &Value)> {
        let clause = clause.as_object().ok_or_else(malformed)?;
        let mut members = clause.iter().filter(|(key, _)| *key != "boost");
        let (field, value) = members.next().ok_or_else(malformed)?;
        check_field(field, fields)?;
        Ok((field, value))
    };
    let any = |field: &str, test: &dyn Fn(&str) -> bool| match lookup(&row.1, field) {
        Some(Value::Array(items)) => items.iter().any(|item| test(&text(item))),
        Some(Value::Null) | None => false,
        Some(value) => test(&text(value)),
    };
    let inner = |value: &Value, key: &str| text(value.get(key).unwrap_or(value));
    Ok(match kind {
        "match_all" => true,
        "match_none" => false,
        "ids" => clause
            .get("values")
            .and_then(Value::as_array)
            .is_some_and(|ids| ids.iter().any(|id| id.as_str() == Some(&row.0))),
        "term" => {
            let (field, value) = field()?;
            let wanted = inner(value, "value");
            any(field, &|found| found == wanted)
        }
        "terms" => {
            let (field, values) = field()?;
            let values = values.as_array().ok_or_else(malformed)?;
            any(field, &|found| values.iter().any(|wanted| text(wanted) == found))
        }
        "match" => {
            let (field, value) = field()?;
            let wanted = inner(value, "query").to_lowercase();
            any(field, &|found| {
                let found = found.to_lowercase();
                wanted.split_whitespace().any(|word| found.split_whitespace().any(|f| f == word))
            })
        }
        "prefix" => {
            let (field, value) = field()?;
            let wanted = inner(value, "value");
            any(field, &|found| found.starts_with(&wanted))
        }
        "wildcard" => {
            let (field, value) = field()?;
            let wanted = text(value.get("value").or(value.get("wildcard")).unwrap_or(value));
            any(field, &|found| authz::privilege::fits(&wanted, found))
        }
        "exists" => {
            let field = clause.get("field").and_then(Value::as_str).ok_or_else(malformed)?;
            check_field(field, fields)?;
            any(field, &|_| true)
        }
        "range" => {
            let (field, bounds) = field()?;
            let found = lookup(&row.1, field);
            let Some(found) = found.filter(|found| !found.is_null()) else { return Ok(false) };
            bounds.as_object().ok_or_else(malformed)?.iter().all(|(key, bound)| {
                let order = compare(Some(found), Some(bound));
                match key {
                    "gt" => order == Ordering::Greater,
                    "gte" | "from" => order != Ordering::Less,
                    "lt" => order == Ordering::Less,
                    "lte" | "to" => order != Ordering::Greater,
                    _ => true,
                }
            })
        }
        "simple_query_string" => {
            let words = clause.get("query").and_then(Value::as_str).ok_or_else(malformed)?;
            words.split_whitespace().any(|word| {
                let word = word.trim_end_matches('*').trim_matches('"');
                fields.iter().any(|field| any(field, &|found| found.starts_with(word)))
            })
        }
        "bool" => {
            let list = |key: &str| -> Vec<&Value> {
                match clause.get(key) {
                    None => Vec::new(),
                    Some(Value::Array(items)) => items.iter().collect(),
                    Some(one) => vec![one],
                }
            };
            for clause in list("must").into_iter().chain(list("filter")) {
                if !matches(clause, fields, row, depth)? {
                    return Ok(false);
                }
            }
            for clause in list("must_not") {
                if matches(clause, fields, row, depth)? {
                    return Ok(false);
                }
            }
            let should = list("should");
            let needed = match clause.get("minimum_should_match").and_then(Value::as_u64) {
                Some(needed) => needed,
                None => u64::from(
                    !should.is_empty() && list("must").is_empty() && list("filter").is_empty(),
                ),
            };
            let mut found = 0;
            for clause in should {
                found += u64::from(matches(clause, fields, row, depth)?);
            }
            found >= needed
        }
        other => {
            return Err(Error::illegal_argument(format!(
                "Query type [{other}] is not currently supported in this context"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn clauses_match_what_they_say() {
        let data =
            json!({"name": "my key", "size": 3, "roles": ["a", "b"], "metadata": {"x": "y"}});
        let row = ("id1".to_owned(), data.clone(), data);
        let fields = ["name", "size", "roles", "metadata"];
        for (query, expected) in [
            (json!({"match_all": {}}), true),
            (json!({"term": {"name": "my key"}}), true),
            (json!({"term": {"roles": {"value": "b"}}}), true),
            (json!({"terms": {"size": [1, 3]}}), true),
            (json!({"prefix": {"name": "my"}}), true),
            (json!({"wildcard": {"name": "*ke*"}}), true),
            (json!({"match": {"name": "KEY"}}), true),
            (json!({"exists": {"field": "nothing"}}), false),
            (json!({"range": {"size": {"gt": 2, "lte": 3}}}), true),
            (json!({"ids": {"values": ["id1"]}}), true),
            (json!({"term": {"metadata.x": "y"}}), true),
            (json!({"bool": {"must_not": {"term": {"size": 3}}}}), false),
            (json!({"bool": {"should": [{"term": {"size": 4}}, {"term": {"size": 3}}]}}), true),
            (json!({"bool": {"should": [{"term": {"size": 4}}]}}), false),
        ] {
            let found = matches(&query, &fields, &row, DEPTH_MAX);
            let found = found.or_else(|error| {
                if error.reason.contains("[nothing] is not allowed") {
                    Ok(false)
                } else {
                    Err(error)
                }
            });
            assert_eq!(found, Ok(expected), "{query:?}");
        }
        assert!(matches(&json!({"script": {}}), &fields, &row, DEPTH_MAX).is_err());
        assert!(matches(&json!({"term": {"secret": "x"}}), &fields, &row, DEPTH_MAX).is_err());
    }
}
