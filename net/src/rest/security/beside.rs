//! Parts of a role that are kept and shown and give nothing here: what holds on other clusters, and privileges that
//! depend on what a request holds. They are read all the same, so that a mistake is told where it is made.

use authz::privilege::{self, Kind};
use authz::record::role::IndexEntry;
use engine::{Error, Result};
use json::{Object, Value};

use super::body::Body;
use super::descriptor::unknown;

/// Privileges on other clusters.
const REMOTE_CLUSTER: &[&str] = &["monitor_enrich", "monitor_stats"];

/// Categories of `global`, each with its privilege and with what that names.
const GLOBAL: &[(&str, &str, &str)] = &[
    ("application", "manage", "applications"),
    ("profile", "write", "applications"),
    ("role", "manage", "indices"),
];

/// These parts of the role `name`, checked; `entry` reads privileges on indices.
///
/// # Errors
/// What is wrong with one of them.
pub(super) fn read(
    body: &Body<'_>,
    name: &str,
    entry: impl Fn(&Value) -> Result<IndexEntry>,
) -> Result<Object> {
    let mut beside = Object::new();
    if let Some(global) = body.value("global") {
        check_global(global)?;
        beside.insert("global", global.clone());
    }
    if let Some(remote) = body.value("remote_indices") {
        let what = format!("remote indices privileges for role [{name}]");
        for one in objects(remote, "remote_indices", &what)? {
            let mut rest = one.clone();
            let clusters = rest.remove("clusters");
            clusters_of(clusters.as_ref(), &what)?;
            let read = entry(&Value::Object(rest))?;
            let bad = read.privileges.iter().find(|one| !privilege::is_known(Kind::Index, one));
            if let Some(bad) = bad {
                return Err(Error::validation(&[unknown(Kind::Index, bad)]));
            }
        }
        beside.insert("remote_indices", remote.clone());
    }
    if let Some(remote) = body.value("remote_cluster") {
        let what = format!("remote_cluster for role [{name}]");
        for one in objects(remote, "remote_cluster", &what)? {
            let one = Value::Object(one.clone());
            let entry = Body::new(&one, &*what, &["clusters", "privileges"])?;
            clusters_of(entry.value("clusters"), &what)?;
            let privileges =
                entry.texts("privileges")?.ok_or_else(|| lacks(&what, "privileges"))?;
            let bad = privileges.iter().find(|one| !REMOTE_CLUSTER.contains(&one.as_str()));
            if let Some(bad) = bad {
                return Err(Error::illegal_argument(format!(
                    "failed to parse {what}. [{bad}] is not one of [{}]",
                    REMOTE_CLUSTER.join(", ")
                )));
            }
        }
        beside.insert("remote_cluster", remote.clone());
    }
    Ok(beside)
}

fn lacks(what: &str, field: &str) -> Error {
    Error::parse(format!("failed to parse {what}. missing required [{field}] field"))
}

/// The objects of a list.
fn objects<'v>(value: &'v Value, field: &str, what: &str) -> Result<Vec<&'v Object>> {
    let Some(items) = value.as_array() else {
        return Err(Error::parse(format!(
            "failed to parse {what}. expected field [{field}] value to be an array, but found [{}] \
             instead",
            value.token()
        )));
    };
    let object = |item: &'v Value| {
        item.as_object().ok_or_else(|| {
            Error::parse(format!(
                "failed to parse {what}. expected field [{field}] value to be an array of objects, but \
                 found an array element of type [{}]",
                item.token()
            ))
        })
    };
    items.iter().map(object).collect()
}

fn clusters_of(clusters: Option<&Value>, what: &str) -> Result<()> {
    let is_name = |one: &Value| one.as_str().is_some_and(|name| !name.is_empty());
    match clusters {
        Some(Value::Array(names)) if !names.is_empty() && names.iter().all(is_name) => Ok(()),
        Some(one) if is_name(one) => Ok(()),
        _ => Err(lacks(what, "clusters")),
    }
}

fn check_global(global: &Value) -> Result<()> {
    let wrong = |expected: &str, found: &str| {
        let reason =
            format!("failed to parse privilege. expected {expected} but found [{found}] instead");
        Err(Error::new(400, "x_content_parse_exception", reason))
    };
    let Some(categories) = global.as_object() else {
        return wrong("[START_OBJECT]", global.token());
    };
    for (category, given) in categories.iter() {
        let Some((_, privilege, names)) = GLOBAL.iter().find(|(known, ..)| *known == category)
        else {
            let known: Vec<&str> = GLOBAL.iter().map(|(known, ..)| *known).collect();
            return wrong(&format!("one of [{}]", known.join(",")), category);
        };
        let Some(given) = given.as_object() else { return wrong("[START_OBJECT]", given.token()) };
        for (name, given) in given.iter() {
            if name != *privilege {
                return wrong(&format!("field name [{privilege}]"), name);
            }
            let Some(given) = given.as_object() else {
                return wrong("[START_OBJECT]", given.token());
            };
            for (name, given) in given.iter() {
                if name != *names {
                    return wrong(&format!("field name [{names}]"), name);
                }
                if given.as_array().is_none() {
                    return wrong("[START_ARRAY]", given.token());
                }
            }
        }
    }
    Ok(())
}
