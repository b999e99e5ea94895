//! Role descriptors: from JSON, checked, and back.

use authz::pattern::{Effort, Pattern};
use authz::privilege::{self, Kind, names};
use authz::record::role::{ApplicationEntry, Descriptor, IndexEntry, Role};
use engine::{Error, Gate, Result};
use json::{Object, Value, json};

use super::body::Body;
use super::{application, beside};

/// Entries of one list.
const ENTRIES_MAX: usize = 1000;

const FIELDS: &[&str] = &[
    "cluster",
    "indices",
    "index",
    "applications",
    "run_as",
    "metadata",
    "description",
    "global",
    "remote_indices",
    "remote_cluster",
    "transient_metadata",
    "restriction",
];

/// Reads the descriptor of the role `name`, one of those of a request: they share what their expressions may
/// cost.
pub(super) fn parse(value: &Value, name: &str, effort: &Effort) -> Result<Descriptor> {
    let body = Body::new(value, format!("role [{name}]"), FIELDS)?;
    if body.value("restriction").is_some() {
        return Err(Error::illegal_argument(format!(
            "failed to parse role [{name}]. unexpected field [restriction]"
        )));
    }
    let entries = match body.list("indices")? {
        None => body.list("index")?,
        found => found,
    };
    let mut indices = Vec::new();
    for entry in few(entries.unwrap_or_default(), "indices", name)? {
        indices.push(index_entry(entry, name)?);
    }
    let mut applications = Vec::new();
    for entry in few(body.list("applications")?.unwrap_or_default(), "applications", name)? {
        let what = format!("application privileges for role [{name}]");
        let entry = Body::new(entry, &*what, &["application", "privileges", "resources"])?;
        let wanted = |field: &str| -> Result<Vec<String>> {
            entry.texts(field)?.filter(|list| !list.is_empty()).ok_or_else(|| {
                Error::parse(format!("failed to parse {what}. missing required [{field}] field"))
            })
        };
        let application = entry.text("application")?.ok_or_else(|| {
            Error::parse(format!("failed to parse {what}. missing required [application] field"))
        })?;
        applications.push(ApplicationEntry {
            application: application.to_owned(),
            privileges: wanted("privileges")?,
            resources: wanted("resources")?,
        });
    }
    let beside = beside::read(&body, name, |entry| index_entry(entry, name))?;
    let metadata = body.object("metadata")?.cloned().unwrap_or_default();
    let descriptor = Descriptor {
        cluster: body.texts("cluster")?.unwrap_or_default(),
        indices,
        applications,
        run_as: body.texts("run_as")?.unwrap_or_default(),
        metadata,
        description: body.text("description")?.map(str::to_owned),
        beside,
    };
    check(&descriptor, effort)?;
    Ok(descriptor)
}

/// The entries of a list, where it is not too long.
fn few<'v>(entries: &'v [Value], field: &str, role: &str) -> Result<&'v [Value]> {
    if entries.len() > ENTRIES_MAX {
        return Err(Error::illegal_argument(format!(
            "role [{role}] has [{}] entries in [{field}], and may have [{ENTRIES_MAX}]",
            entries.len()
        )));
    }
    Ok(entries)
}

fn index_entry(value: &Value, role: &str) -> Result<IndexEntry> {
    let what = format!("indices privileges for role [{role}]");
    let known = ["names", "privileges", "query", "field_security", "allow_restricted_indices"];
    let body = Body::new(value, &*what, &known)?;
    let wanted = |field: &str| -> Result<Vec<String>> {
        body.texts(field)?.ok_or_else(|| {
            Error::parse(format!("failed to parse {what}. missing required [{field}] field"))
        })
    };
    let (names, privileges) = (wanted("names")?, wanted("privileges")?);
    if names.is_empty() {
        return Err(Error::parse(format!(
            "failed to parse {what}. missing required [names] field"
        )));
    }
    let (mut grant, mut except) = (None, None);
    if let Some(value) = body.value("field_security") {
        let fields = Body::new(value, &*what, &["grant", "except"])?;
        grant = fields.texts("grant")?;
        except = fields.texts("except")?;
        check_fields(grant.as_deref(), except.as_deref())?;
    }
    let query = match body.value("query") {
        None => None,
        Some(Value::String(text)) if text.is_empty() => None,
        Some(query) => Some(query_text(query, role)?),
    };
    let allow_restricted_indices = body.flag("allow_restricted_indices")?.unwrap_or_default();
    Ok(IndexEntry { names, privileges, grant, except, query, allow_restricted_indices })
}

fn check_fields(grant: Option<&[String]>, except: Option<&[String]>) -> Result<()> {
    let (Some(grant), Some(except)) = (grant, except) else { return Ok(()) };
    let is_granted = |one: &String| grant.iter().any(|pattern| privilege::fits(pattern, one));
    if except.iter().all(is_granted) {
        return Ok(());
    }
    let list = |fields: &[String]| format!("[{}]", fields.join(", "));
    Err(Error::new(
        400,
        "security_exception",
        format!(
            "Exceptions for field permissions must be a subset of the granted fields but {} is not \
             a subset of {}",
            list(except),
            list(grant)
        ),
    ))
}

/// Warns whoever sets a role of what is deprecated in its queries: whoever has it never sees them.
pub(super) fn warn(gate: &dyn Gate, role: &Descriptor) {
    for text in role.indices.iter().filter_map(|entry| entry.query.as_deref()) {
        // What is no query was refused.
        let tree = json::parse(text.as_bytes()).unwrap_or_default();
        let samples = authz::template::samples(&tree).unwrap_or_default();
        let read = |sample| search::dsl::parse_query_value(sample).ok();
        let mut queries: Vec<_> = samples.iter().filter_map(read).collect();
        search::dsl::deprecated_in(&mut queries).into_iter().for_each(|it| gate.warn(it));
    }
}

/// Checks the query of a role; what is stored is its text.
fn query_text(query: &Value, role: &str) -> Result<String> {
    let failed = |why: String| {
        Error::parse(format!("failed to parse field 'query' for role [{role}]: {why}"))
    };
    let tree = match query {
        Value::String(text) => {
            json::parse(text.as_bytes()).map_err(|error| failed(error.to_string()))?
        }
        other => other.clone(),
    };
    let samples = authz::template::samples(&tree).map_err(failed)?;
    let read = samples.iter().map(|sample| {
        search::dsl::parse_query_value(sample).map_err(|error| failed(error.to_string())).map(drop)
    });
    // One of them is what it wants; where none is, the first tells why.
    if let Some(Err(error)) =
        read.reduce(|first, next| if first.is_ok() { first } else { next.or(first) })
    {
        return Err(error);
    }
    let looks_up = |query: &Value| {
        let read = search::dsl::parse_query_value(query);
        read.is_ok_and(|query| query.looks_up()).then_some(LOOKING_UP)
    };
    let found = |query: &Value| forbidden(query).or_else(|| looks_up(query));
    if let Some(kind) = samples.iter().find_map(found) {
        return Err(Error::illegal_argument(format!(
            "{kind} queries are not supported as part of a role query"
        )));
    }
    Ok(match query {
        Value::String(text) => text.clone(),
        other => json::to_string(other),
    })
}

/// A query may say so in words that are not its own (`wrapper`).
const LOOKING_UP: &str = "document lookup";

/// Queries that would look at other documents, or at the whole index.
fn forbidden(query: &Value) -> Option<&'static str> {
    match query {
        Value::Object(object) => object.iter().find_map(|(key, value)| match key {
            "has_child" => Some("has_child"),
            "has_parent" => Some("has_parent"),
            "terms"
                if value
                    .as_object()
                    .is_some_and(|terms| terms.values().any(|one| one.get("index").is_some())) =>
            {
                Some("terms with terms lookup")
            }
            "geo_shape" | "shape"
                if value.as_object().is_some_and(|shape| {
                    shape.values().any(|one| one.get("indexed_shape").is_some())
                }) =>
            {
                Some("geoshape with indexed shapes")
            }
            "percolate" => Some("percolate"),
            // A role means what stands in it, whatever others store.
            "script" if value.get("id").or_else(|| value.at(&["script", "id"])).is_some() => {
                Some("script with a stored script")
            }
            _ => forbidden(value),
        }),
        Value::Array(items) => items.iter().find_map(forbidden),
        _ => None,
    }
}

/// What is said of a privilege that nobody knows.
pub(super) fn unknown(kind: Kind, name: &str) -> String {
    let known: Vec<_> = names(kind).collect();
    let known = known.join(",");
    match kind {
        Kind::Cluster => format!(
            "unknown cluster privilege [{name}]. a privilege must be either one of the predefined \
             cluster privilege names [{known}] or a pattern over one of the available cluster actions"
        ),
        Kind::Index => format!(
            "unknown index privilege [{name}]. a privilege must be either one of the predefined fixed \
             indices privileges [{known}] or a pattern over one of the available index actions"
        ),
    }
}

/// Names of privileges and of indices that mean nothing.
fn check(descriptor: &Descriptor, effort: &Effort) -> Result<()> {
    let mut problems = Vec::new();
    let fault = |name: &String| Pattern::new_within(name, effort).err();
    for name in &descriptor.cluster {
        if !privilege::is_known(Kind::Cluster, name) {
            problems.push(unknown(Kind::Cluster, name));
        }
    }
    for entry in &descriptor.indices {
        for name in &entry.privileges {
            if !privilege::is_known(Kind::Index, name) {
                problems.push(unknown(Kind::Index, name));
            }
        }
        for name in &entry.names {
            if name.is_empty() {
                problems.push("index name [] is no name and no pattern".to_owned());
            }
        }
        for pattern in entry.grant.iter().chain(&entry.except).flatten() {
            if pattern.starts_with('/') {
                problems.push(format!(
                    "invalid field pattern [{pattern}]: fields are named with [*] and [?], not by \
                     regular expressions"
                ));
            }
        }
        problems.extend(entry.names.iter().filter_map(fault));
    }
    for entry in &descriptor.applications {
        problems.extend(application::check_pattern(&entry.application).err());
        let privileges = entry.privileges.iter();
        problems.extend(privileges.filter_map(|name| application::check_action(name).err()));
    }
    problems.extend(descriptor.run_as.iter().filter_map(fault));
    if descriptor.metadata.keys().any(|key| key.starts_with('_')) {
        problems.push("role descriptor metadata keys may not start with [_]".to_owned());
    }
    if descriptor.description.as_ref().is_some_and(|text| text.chars().count() > 1000) {
        problems.push("Role description must be less than 1000 characters.".to_owned());
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::validation(&problems)) }
}

/// A descriptor as it is shown.
pub(super) fn show(role: &Role) -> Value {
    show_descriptor(&role.descriptor)
}

pub(super) fn show_descriptor(descriptor: &Descriptor) -> Value {
    let indices: Vec<Value> = descriptor.indices.iter().map(show_entry).collect();
    let applications: Vec<Value> = descriptor.applications.iter().map(show_application).collect();
    let mut shown = Object::new();
    shown.insert("cluster", descriptor.cluster.clone());
    shown.insert("indices", indices);
    shown.insert("applications", applications);
    shown.insert("run_as", descriptor.run_as.clone());
    shown.insert("metadata", Value::Object(descriptor.metadata.clone()));
    shown.insert("transient_metadata", json!({"enabled": true}));
    for (key, value) in descriptor.beside.iter() {
        shown.insert(key, value.clone());
    }
    if let Some(text) = &descriptor.description {
        shown.insert("description", text);
    }
    Value::Object(shown)
}

fn show_entry(entry: &IndexEntry) -> Value {
    let mut shown = Object::new();
    shown.insert("names", entry.names.clone());
    shown.insert("privileges", entry.privileges.clone());
    if entry.grant.is_some() || entry.except.is_some() {
        shown.insert("field_security", field_security(entry));
    }
    if let Some(query) = &entry.query {
        shown.insert("query", query);
    }
    shown.insert("allow_restricted_indices", entry.allow_restricted_indices);
    Value::Object(shown)
}

pub(super) fn field_security(entry: &IndexEntry) -> Value {
    let mut fields = Object::new();
    if let Some(grant) = &entry.grant {
        fields.insert("grant", grant.clone());
    }
    if let Some(except) = &entry.except {
        fields.insert("except", except.clone());
    }
    Value::Object(fields)
}

pub(super) fn show_application(entry: &ApplicationEntry) -> Value {
    json!({
        "application": (entry.application.as_str()),
        "privileges": (entry.privileges.clone()),
        "resources": (entry.resources.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(value: &Value) -> Result<Descriptor> {
        parse(value, "r", &Effort::default())
    }

    #[test]
    fn a_descriptor_is_shown_as_it_was_given() {
        let given = json!({
            "cluster": ["monitor"],
            "indices": [{"names": ["a*"], "privileges": ["read"],
                "field_security": {"grant": ["x", "y"], "except": ["y"]},
                "query": {"term": {"a": 1}}}],
            "run_as": ["bob"], "metadata": {"k": 1},
        });
        let shown = show_descriptor(&parsed(&given).expect("legal"));
        assert_eq!(shown.at(&["cluster"]), given.at(&["cluster"]));
        let entry = &shown.get("indices").and_then(Value::as_array).expect("a list")[0];
        assert_eq!(entry.get("query").and_then(Value::as_str), Some(r#"{"term":{"a":1}}"#));
        assert_eq!(entry.at(&["field_security", "except"]), Some(&json!(["y"])));
        assert_eq!(entry.get("allow_restricted_indices"), Some(&Value::Bool(false)));
    }

    #[test]
    fn what_means_nothing_is_told() {
        let reason = |value: &Value| parsed(value).expect_err("wrong").reason;
        assert_eq!(reason(&json!({"foo": 1})), "failed to parse role [r]. unexpected field [foo]");
        assert!(reason(&json!({"cluster": ["foo"]})).contains("unknown cluster privilege [foo]"));
        assert!(
            reason(&json!({"indices": [{"names": ["a"], "privileges": ["foo"]}]}))
                .contains("unknown index privilege [foo]")
        );
        assert!(reason(&json!({"indices": [{"privileges": ["read"]}]})).contains("[names]"));
        let query = |query: Value| json!({"indices": [{"names": ["a"], "privileges": ["read"], "query": query}]});
        assert!(reason(&query(json!({"nope": {}}))).contains("'query'"));
        assert!(reason(&query(json!("{"))).contains("'query'"));
        let lookup = json!({"terms": {"a": {"index": "i", "id": "1", "path": "p"}}});
        assert!(parsed(&query(lookup)).is_err());
        let template = json!({"template": {"source": {"term": {"o": "{{_user.username}}"}}}});
        assert!(parsed(&query(template)).is_ok());
        let wide = json!({"indices": [{"names": ["a"], "privileges": ["read"],
            "field_security": {"grant": ["x"], "except": ["y"]}}]});
        assert!(reason(&wide).starts_with("Exceptions for field permissions must be a subset"));
    }
}
