//! A filter on documents in plain words, for whoever decides on it and is no programmer.
//!
//! What cannot be said in words that mean exactly the same (scores, words of texts, scripts, shapes) is not
//! said at all: the page then shows the filter as it came.

use json::Value;

use super::words::list;

/// Filters nest so deep at most.
const DEPTH_MAX: usize = 4;

/// Longer sentences help nobody.
const BYTES_MAX: usize = 600;

/// Longer lists of values, neither.
const VALUES_MAX: usize = 10;

/// What a document must be like, after "where"; `None` where words do not say it.
pub fn in_words(query: &Value) -> Option<String> {
    clause(query, 0).filter(|told| told.len() <= BYTES_MAX)
}

/// The one member of an object.
fn only(value: &Value) -> Option<(&str, &Value)> {
    let members = value.as_object()?;
    let mut members = members.iter();
    let (name, value) = members.next()?;
    members.next().is_none().then_some((name, value))
}

fn clause(query: &Value, depth: usize) -> Option<String> {
    if depth > DEPTH_MAX {
        return None;
    }
    let (kind, body) = only(query)?;
    match kind {
        "match_all" => (body.as_object()?.iter().next().is_none()).then(|| "anything".to_owned()),
        "term" => {
            let (field, value) = only(body)?;
            let value = match only(value) {
                Some(("value", value)) => value,
                Some(_) => return None,
                None => value,
            };
            Some(format!("{} is {}", name(field), scalar(value)?))
        }
        "terms" => {
            let (field, values) = only(body)?;
            let values = values.as_array()?;
            if values.is_empty() || values.len() > VALUES_MAX {
                return None;
            }
            let values: Vec<String> = values.iter().map(scalar).collect::<Option<_>>()?;
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            Some(format!("{} is {}", name(field), list(&values, "or")))
        }
        "exists" => match only(body)? {
            ("field", field) => Some(format!("{} has a value", name(field.as_str()?))),
            _ => None,
        },
        "range" => {
            let (field, bounds) = only(body)?;
            let mut told = Vec::new();
            for (bound, value) in bounds.as_object()?.iter() {
                let word = match bound {
                    "gt" => "above",
                    "gte" => "at least",
                    "lt" => "below",
                    "lte" => "at most",
                    _ => return None,
                };
                told.push(format!("{word} {}", scalar(value)?));
            }
            (!told.is_empty()).then(|| format!("{} is {}", name(field), told.join(" and ")))
        }
        "bool" => all(body, depth),
        _ => None,
    }
}

/// A `bool`: what must be, what must not be, and one of several.
fn all(body: &Value, depth: usize) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    let (mut some, mut is_required) = (Vec::new(), false);
    for (occurrence, clauses) in body.as_object()?.iter() {
        let clauses = match clauses.as_array() {
            Some(clauses) => clauses,
            None => std::slice::from_ref(clauses),
        };
        let clauses: Vec<String> =
            clauses.iter().map(|it| clause(it, depth + 1)).collect::<Option<_>>()?;
        match occurrence {
            "must" | "filter" => {
                is_required |= !clauses.is_empty();
                told.extend(clauses);
            }
            "must_not" => told.extend(clauses.into_iter().map(|it| format!("not ({it})"))),
            "should" => some = clauses,
            _ => return None,
        }
    }
    // Beside what must be, what may be leaves nothing out.
    if !some.is_empty() && !is_required {
        let one = some.join(" or ");
        told.push(if some.len() > 1 && !told.is_empty() { format!("({one})") } else { one });
    }
    match (told.len(), depth) {
        (0, _) => None,
        (1, _) => told.pop(),
        (_, 0) => Some(told.join(" and ")),
        _ => Some(format!("({})", told.join(" and "))),
    }
}

/// A field as people know it: a keyword beside a text is the same to them.
fn name(field: &str) -> &str {
    field.strip_suffix(".keyword").unwrap_or(field)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(format!("\u{201c}{text}\u{201d}")),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::Number(_) => Some(json::to_string(value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(query: &str) -> Option<String> {
        in_words(&json::parse(query.as_bytes()).expect("JSON"))
    }

    #[test]
    fn simple_filters_are_said_in_words() {
        for (query, expected) in [
            (r#"{"term":{"customer.keyword":"acme"}}"#, "customer is “acme”"),
            (r#"{"term":{"paid":{"value":true}}}"#, "paid is yes"),
            (r#"{"terms":{"state":["new","sent",3]}}"#, "state is “new”, “sent” or 3"),
            (r#"{"exists":{"field":"total"}}"#, "total has a value"),
            (r#"{"range":{"total":{"gte":10,"lt":20}}}"#, "total is at least 10 and below 20"),
            (
                r#"{"bool":{"filter":[{"term":{"a":1}}],"must_not":{"term":{"b":2}},"should":{"term":{"c":3}}}}"#,
                "a is 1 and not (b is 2)",
            ),
            (
                r#"{"bool":{"should":[{"term":{"a":1}},{"bool":{"must":[{"term":{"b":2}},{"term":{"c":3}}]}}]}}"#,
                "a is 1 or (b is 2 and c is 3)",
            ),
            (
                r#"{"bool":{"must_not":[{"exists":{"field":"x"}}],"should":[{"term":{"a":1}},{"term":{"a":2}}]}}"#,
                "not (x has a value) and (a is 1 or a is 2)",
            ),
        ] {
            assert_eq!(told(query).as_deref(), Some(expected), "{query}");
        }
    }

    #[test]
    fn what_words_would_blur_is_not_said() {
        for query in [
            r#"{"match":{"text":"words of a text"}}"#,
            r#"{"term":{"a":{"value":1,"boost":2}}}"#,
            r#"{"range":{"d":{"gte":"now-1d","time_zone":"+01:00"}}}"#,
            r#"{"bool":{"should":[{"term":{"a":1}}],"minimum_should_match":1}}"#,
            r#"{"bool":{"must":[{"script":{"script":"true"}}]}}"#,
            r#"{"terms":{"a":{"index":"i","id":"1","path":"p"}}}"#,
            r#"{"bool":{}}"#,
            "[]",
        ] {
            assert_eq!(told(query), None, "{query}");
        }
        let long = format!(r#"{{"term":{{"a":"{}"}}}}"#, "x".repeat(BYTES_MAX));
        assert_eq!(told(&long), None);
        let deep = (0..9).fold(r#"{"term":{"a":1}}"#.to_owned(), |inner, _| {
            format!(r#"{{"bool":{{"must":[{inner}]}}}}"#)
        });
        assert_eq!(told(&deep), None);
    }
}
