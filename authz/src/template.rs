//! Role queries that name their user: `{"template":{"source":{"term":{"owner":"{{_user.username}}"}}}}`.
//!
//! Known are `_user.username`, `_user.full_name`, `_user.email`, `_user.metadata.KEY` and the
//! template's own `params`, each the whole or a part of a string (in two braces or three), and
//! `{{#toJson}}NAME{{/toJson}}` of any of these or of `_user.roles`, where a value may stand. Anything
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
    /// What stands for what is not noted: of nobody in particular.
    pub noted: Option<Value>,
}

const BEGIN: &str = "{{#toJson}}";
const END: &str = "{{/toJson}}";

/// A template: its source as a tree, and what it may name beside the user.
struct Template {
    source: Value,
    params: Object,
}

/// The template that `query` is; none where it is a query.
fn template(query: &Value) -> Option<Result<Template, String>> {
    let template = query.get("template")?;
    if query.as_object().is_none_or(|object| object.len() != 1) {
        return None;
    }
    Some(read(template))
}

fn read(template: &Value) -> Result<Template, String> {
    let members = template.as_object().ok_or("a template is an object")?;
    if let Some(other) =
        members.keys().find(|key| !matches!(*key, "source" | "params" | "lang" | "options"))
    {
        return Err(format!("a template has no [{other}]"));
    }
    let source = match members.get("source") {
        Some(Value::String(text)) => {
            // A value stands where it stands in JSON, without quotes or in them.
            let mut quoted = String::new();
            let mut rest = text.as_str();
            while let Some((before, after)) = rest.split_once(BEGIN) {
                let (name, after) = after.split_once(END).ok_or("a [{{#toJson}}] has no end")?;
                let is_bare = !before.ends_with('"') || !after.starts_with('"');
                let quote = if is_bare { "\"" } else { "" };
                quoted.push_str(&format!("{before}{quote}{BEGIN}{name}{END}{quote}"));
                rest = after;
            }
            quoted.push_str(rest);
            json::parse(quoted.as_bytes()).map_err(|error| error.to_string())?
        }
        Some(value @ Value::Object(_)) => value.clone(),
        _ => return Err("a template wants a [source]".to_owned()),
    };
    let params = members.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
    Ok(Template { source, params })
}

/// The query with its names filled in.
pub fn fill<'q>(query: &'q Value, facts: &Facts) -> Cow<'q, Value> {
    match template(query) {
        None => Cow::Borrowed(query),
        Some(template) => {
            let filled =
                template.and_then(|template| fill_in(&template.source, facts, &template.params));
            // Checked when the role was stored; damage shows nothing.
            Cow::Owned(filled.unwrap_or_else(|_| json::json!({"match_none": {}})))
        }
    }
}

/// Checks a query that is perhaps a template, and gives what it means for some users: what is noted of
/// people may be one value or several, of which one alone may be what the query wants.
///
/// # Errors
/// Why a template does not read.
pub fn samples(query: &Value) -> Result<Vec<Value>, String> {
    let Some(template) = template(query) else { return Ok(vec![query.clone()]) };
    let Template { source, params } = template?;
    let noted = [Value::from(vec!["x"]), Value::from("x"), Value::from(1), Value::from(true)];
    let facts = noted.into_iter().map(|noted| Facts {
        username: "x".into(),
        noted: Some(noted),
        ..Facts::default()
    });
    facts.map(|facts| fill_in(&source, &facts, &params)).collect()
}

fn fill_in(value: &Value, facts: &Facts, params: &Object) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => fill_text(text, facts, params)?,
        Value::Array(items) => Value::Array(
            items.iter().map(|item| fill_in(item, facts, params)).collect::<Result<_, _>>()?,
        ),
        Value::Object(object) => {
            let mut filled = Object::new();
            for (key, value) in object.iter() {
                filled.insert(key, fill_in(value, facts, params)?);
            }
            Value::Object(filled)
        }
        other => other.clone(),
    })
}

fn fill_text(text: &str, facts: &Facts, params: &Object) -> Result<Value, String> {
    if let Some(name) = text.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END)) {
        return Ok(named(name.trim(), facts, params)?.unwrap_or_default());
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (open, close) = match after.strip_prefix('{') {
            Some(inside) => (inside, "}}}"),
            None => (after, "}}"),
        };
        let (name, after) = open.split_once(close).ok_or("a template's [{{] has no end")?;
        match named(name.trim(), facts, params)? {
            Some(Value::String(text)) => out.push_str(&text),
            Some(Value::Null) | None => {}
            Some(other) => out.push_str(&json::to_string(&other)),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(Value::String(out))
}

/// What a name stands for; none where the user has no such thing.
fn named(name: &str, facts: &Facts, params: &Object) -> Result<Option<Value>, String> {
    let at = |whole: Value, path: &str| {
        let parts: Vec<&str> = path.split('.').collect();
        whole.at(&parts).cloned()
    };
    Ok(match name {
        "_user.username" => Some(Value::from(facts.username.as_str())),
        "_user.full_name" => facts.full_name.as_deref().map(Value::from),
        "_user.email" => facts.email.as_deref().map(Value::from),
        "_user.roles" => Some(Value::from(facts.roles.clone())),
        other => match other.strip_prefix("_user.metadata.") {
            Some(path) => {
                at(Value::Object(facts.metadata.clone()), path).or_else(|| facts.noted.clone())
            }
            None => {
                let found = at(Value::Object(params.clone()), other);
                Some(found.ok_or_else(|| format!("a template cannot name [{other}]"))?)
            }
        },
    })
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
        let source = r#"{"terms":{"t":{{#toJson}}_user.metadata.teams{{/toJson}}}}"#;
        let query = json!({"template": {"source": source, "lang": "mustache"}});
        let with_list =
            Facts { metadata: [("teams", vec!["x", "y"])].into_iter().collect(), ..facts.clone() };
        assert_eq!(*fill(&query, &with_list), json!({"terms": {"t": ["x", "y"]}}));
        let query = json!({"template": {"source": {"term": {"k": "{{{kind}}}-{{_user.email}}"}},
            "params": {"kind": "a\"b"}}});
        assert_eq!(*fill(&query, &facts), json!({"term": {"k": "a\"b-"}}));
        let plain = json!({"term": {"a": "{{_user.username}}"}});
        assert_eq!(*fill(&plain, &facts), plain);
    }

    #[test]
    fn what_cannot_be_filled_is_refused_and_shows_nothing() {
        for source in ["{{_user.password}}", "{{x", "{{#if}}"] {
            let query = json!({"template": {"source": {"term": {"a": source}}}});
            assert!(samples(&query).is_err(), "{source}");
            assert_eq!(*fill(&query, &Facts::default()), json!({"match_none": {}}));
        }
        // What is noted of people may be several values, or one.
        let source = r#"{"terms":{"t":{{#toJson}}_user.metadata.teams{{/toJson}}}}"#;
        let found = samples(&json!({"template": {"source": source}})).expect("it reads");
        assert_eq!(found[0], json!({"terms": {"t": ["x"]}}));
        assert_eq!(found[1], json!({"terms": {"t": "x"}}));
        assert!(samples(&json!({"template": {}})).is_err());
        assert!(samples(&json!({"template": {"id": "stored"}})).is_err());
        assert!(
            samples(&json!({"template": {"source": "{\"a\":{{#toJson}}_user.roles"}})).is_err()
        );
    }
}
