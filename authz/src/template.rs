//! Role queries that name their user: `{"template":{"source":{"term":{"owner":"{{_user.username}}"}}}}`.
//!
//! Known are `_user.username`, `_user.full_name`, `_user.email` and `_user.metadata.KEY`, each the
//! whole or a part of a string, and a string that is `{{#toJson}}_user.roles{{/toJson}}`. Anything
//! else is refused when the role is stored. Values are put into the finished tree, so none of them
//! can become syntax.

use std::borrow::Cow;

use json::{Object, Value};

/// What a query may name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Name at the door.
    pub username: String,
    /// Name for people.
    pub full_name: Option<String>,
    /// Address for letters.
    pub email: Option<String>,
    /// Names of roles.
    pub roles: Vec<String>,
    /// What the operator notes.
    pub metadata: Object,
}

/// The source of a template, where `query` is one.
fn source(query: &Value) -> Option<Result<Value, String>> {
    let template = query.get("template")?;
    if query.as_object().is_none_or(|object| object.len() != 1) {
        return None;
    }
    Some(match template.get("source") {
        Some(Value::String(text)) => {
            // The list of roles stands for an array, so it may stand without quotes.
            let text = text.replace(
                "{{#toJson}}_user.roles{{/toJson}}",
                "\"{{#toJson}}_user.roles{{/toJson}}\"",
            );
            json::parse(text.as_bytes()).map_err(|error| error.to_string())
        }
        Some(value @ Value::Object(_)) => Ok(value.clone()),
        _ => Err("a template wants a [source]".to_owned()),
    })
}

/// The query with its names filled in.
pub fn fill<'q>(query: &'q Value, facts: &Facts) -> Cow<'q, Value> {
    match source(query) {
        None => Cow::Borrowed(query),
        Some(source) => {
            let filled = source.and_then(|source| fill_in(&source, facts));
            // Checked when the role was stored; damage shows nothing.
            Cow::Owned(filled.unwrap_or_else(|_| json::json!({"match_none": {}})))
        }
    }
}

/// Checks a query that is perhaps a template, and gives what it means for some user.
///
/// # Errors
/// Why a template does not read.
pub fn sample(query: &Value) -> Result<Value, String> {
    match source(query) {
        None => Ok(query.clone()),
        Some(source) => fill_in(&source?, &Facts { username: "x".into(), ..Facts::default() }),
    }
}

fn fill_in(value: &Value, facts: &Facts) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => fill_text(text, facts)?,
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| fill_in(item, facts)).collect::<Result<_, _>>()?)
        }
        Value::Object(object) => {
            let mut filled = Object::new();
            for (key, value) in object.iter() {
                filled.insert(key, fill_in(value, facts)?);
            }
            Value::Object(filled)
        }
        other => other.clone(),
    })
}

fn fill_text(text: &str, facts: &Facts) -> Result<Value, String> {
    if text == "{{#toJson}}_user.roles{{/toJson}}" {
        return Ok(Value::from(facts.roles.clone()));
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, after) = after.split_once("}}").ok_or("a template's [{{] has no end")?;
        match name.trim() {
            "_user.username" => out.push_str(&facts.username),
            "_user.full_name" => out.push_str(facts.full_name.as_deref().unwrap_or_default()),
            "_user.email" => out.push_str(facts.email.as_deref().unwrap_or_default()),
            other => match other.strip_prefix("_user.metadata.") {
                Some(path) => {
                    let parts: Vec<&str> = path.split('.').collect();
                    let whole = Value::Object(facts.metadata.clone());
                    match whole.at(&parts) {
                        Some(Value::String(text)) => out.push_str(text),
                        Some(Value::Null) | None => {}
                        Some(other) => out.push_str(&json::to_string(other)),
                    }
                }
                None => return Err(format!("a template cannot name [{other}]")),
            },
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(Value::String(out))
}

#[cfg(test)]
mod tests {
    use json::json;

    use super::*;

    #[test]
    fn names_are_filled_in_and_never_become_syntax() {
        let facts = Facts {
            username: r#"ann","x":"#.into(),
            roles: vec!["a".into(), "b".into()],
            metadata: [("team", "red")].into_iter().collect(),
            ..Facts::default()
        };
        let query = json!({"template": {"source": {"term": {"o": "{{_user.username}}"}}}});
        let expected = json!({"term": {"o": r#"ann","x":"#}});
        assert_eq!(*fill(&query, &facts), expected);
        let source = r#"{"terms":{"r":{{#toJson}}_user.roles{{/toJson}}}}"#;
        let query = json!({"template": {"source": source}});
        assert_eq!(*fill(&query, &facts), json!({"terms": {"r": ["a", "b"]}}));
        let query =
            json!({"template": {"source": "{\"term\":{\"t\":\"{{_user.metadata.team}}!\"}}"}});
        assert_eq!(*fill(&query, &facts), json!({"term": {"t": "red!"}}));
        let plain = json!({"term": {"a": "{{_user.username}}"}});
        assert_eq!(*fill(&plain, &facts), plain);
    }

    #[test]
    fn what_cannot_be_filled_is_refused_and_shows_nothing() {
        for source in ["{{_user.password}}", "{{x", "{{#if}}"] {
            let query = json!({"template": {"source": {"term": {"a": source}}}});
            assert!(sample(&query).is_err(), "{source}");
            assert_eq!(*fill(&query, &Facts::default()), json!({"match_none": {}}));
        }
        assert!(sample(&json!({"template": {}})).is_err());
    }
}
