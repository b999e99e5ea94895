//! Who am I, and what may I do?

use std::collections::BTreeSet;

use authz::pattern::{Effort, Wanted};
use authz::privilege::{self, Kind};
use authz::token::Keys;
use authz::{Principal, Via};
use engine::{Error, Result};
use env::{Env, Spawn};
use json::{Object, Value, json};

use super::body::Body;
use super::{application, descriptor, desk, value};
use crate::call::Call;
use crate::reply::Reply;

/// `GET /_security/_authenticate`.
pub(super) fn authenticate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    Ok(value(200, &show(desk.principal, desk.keeper().keys())))
}

/// A principal as `_authenticate` shows it.
pub(super) fn show(principal: &Principal, keys: &Keys) -> Value {
    let user = principal.user();
    let (realm, kind) = principal.realm();
    let mut shown = Object::new();
    shown.insert("username", user.name.as_str());
    shown.insert("roles", user.roles.clone());
    shown.insert("full_name", user.full_name.clone());
    shown.insert("email", user.email.clone());
    if let Via::Service(token) = principal.via() {
        shown.insert(
            "token",
            json!({"name": (token.name.as_str()), "type": "_service_account_index"}),
        );
    }
    shown.insert("metadata", Value::Object(user.metadata.clone()));
    shown.insert("enabled", user.enabled);
    let own = principal.acting().map_or((realm, kind), Principal::realm);
    shown.insert("authentication_realm", json!({"name": (own.0), "type": (own.1)}));
    shown.insert("lookup_realm", json!({"name": realm, "type": kind}));
    let word = match principal.acting().unwrap_or(principal).via() {
        Via::Realm => "realm",
        Via::ApiKey(_) => "api_key",
        Via::Service(_) | Via::Token(_) | Via::Oauth(_) => "token",
    };
    shown.insert("authentication_type", word);
    match principal.via() {
        Via::ApiKey(key) => {
            shown.insert("api_key", json!({"id": (key.id.as_str()), "name": (key.name.as_str())}));
        }
        Via::Oauth(grant) => {
            shown.insert(
                "oauth",
                json!({
                    "client_id": (grant.client.clone()),
                    "grant_id": (keys.grant_name(grant.family())),
                    "scope": (grant.scopes.join(" ")),
                }),
            );
        }
        Via::Realm | Via::Service(_) | Via::Token(_) => {}
    }
    Value::Object(shown)
}

/// `GET|POST /_security/user/_has_privileges`, `/_security/user/{user}/_has_privileges`.
pub(super) async fn has_privileges<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    let principal = desk.principal;
    if let Some(user) = call.path.get("user")
        && user != principal.name()
    {
        // As Elasticsearch: for others there is run-as.
        return Err(Error::illegal_argument(
            "users may only check the privileges of their own account",
        ));
    }
    let body = call.required_map().await?;
    let what = format!("privileges check [{}]", principal.name());
    let body = Body::new(&body, &*what, &["cluster", "index", "indices", "application"])?;
    let env = call.core.env();
    let asked = check(env, principal.gate(), &body, &what, &Effort::default()).await?;
    let Asked { all, cluster, index, applications } = asked;
    let answer = json!({
        "username": (principal.name()),
        "has_all_requested": all,
        "cluster": (Value::Object(cluster)),
        "index": (Value::Object(index)),
        "application": (Value::Object(applications)),
    });
    Ok(value(200, &answer))
}

/// Which of the privileges that were asked for somebody has.
pub(super) struct Asked {
    /// All of them.
    pub all: bool,
    cluster: Object,
    index: Object,
    applications: Object,
}

/// Looks which of the privileges that a body names `access` holds.
///
/// # Errors
/// A privilege that nobody knows, a malformed body, or one that asks for nothing, or for patterns that are
/// too complex to compare.
pub(super) async fn check<E: Env>(
    env: &E,
    access: &authz::Access,
    body: &Body<'_>,
    what: &str,
    effort: &Effort,
) -> Result<Asked> {
    let mut all = true;
    let mut cluster = Object::new();
    for name in body.texts("cluster")?.unwrap_or_default() {
        if !privilege::is_known(Kind::Cluster, &name) {
            return Err(Error::illegal_argument(descriptor::unknown(Kind::Cluster, &name)));
        }
        let has = access.has_cluster(&name);
        all &= has;
        cluster.insert(name, has);
    }
    let mut index = Object::new();
    let entries = match body.list("index")? {
        None => body.list("indices")?,
        found => found,
    };
    for entry in entries.unwrap_or_default() {
        let fields = ["names", "privileges", "allow_restricted_indices"];
        let entry = Body::new(entry, what, &fields)?;
        let restricted = entry.flag("allow_restricted_indices")?.unwrap_or_default();
        let missing = |field: &str| {
            Error::parse(format!("failed to parse {what}. missing required [{field}] field"))
        };
        let names = entry.texts("names")?.ok_or_else(|| missing("names"))?;
        let privileges = entry.texts("privileges")?.ok_or_else(|| missing("privileges"))?;
        for privilege in &privileges {
            if !privilege::is_known(Kind::Index, privilege) {
                return Err(Error::illegal_argument(descriptor::unknown(Kind::Index, privilege)));
            }
        }
        for name in names {
            env.spawn().yield_if_needed().await;
            let wanted = Wanted::new(&name);
            let inner = index.get_or_insert_with(&name, Value::object);
            for privilege in &privileges {
                let has = access.has_index(privilege, &wanted, restricted, effort);
                all &= has;
                if let Some(inner) = inner.as_object_mut() {
                    inner.insert(privilege, has);
                }
            }
        }
    }
    let mut applications = Object::new();
    for entry in body.list("application")?.unwrap_or_default() {
        let entry = Body::new(entry, what, &["application", "privileges", "resources"])?;
        let missing = |field: &str| {
            Error::parse(format!("failed to parse {what}. missing required [{field}] field"))
        };
        let name = entry.text("application")?.ok_or_else(|| missing("application"))?;
        let privileges = entry.texts("privileges")?.ok_or_else(|| missing("privileges"))?;
        let resources = entry.texts("resources")?.ok_or_else(|| missing("resources"))?;
        let mut problems: Vec<String> = application::check_name(name).err().into_iter().collect();
        let named = privileges.iter();
        problems.extend(named.filter_map(|name| application::check_action(name).err()));
        if !problems.is_empty() {
            return Err(Error::validation(&problems));
        }
        let application = applications.get_or_insert_with(name, Value::object);
        for resource in resources {
            env.spawn().yield_if_needed().await;
            let wanted = Wanted::new(&resource);
            let Some(application) = application.as_object_mut() else { continue };
            let inner = application.get_or_insert_with(&resource, Value::object);
            for privilege in &privileges {
                let has = access.has_application(name, privilege, &wanted, effort);
                all &= has;
                if let Some(inner) = inner.as_object_mut() {
                    inner.insert(privilege, has);
                }
            }
        }
    }
    if effort.is_over() {
        return Err(Error::illegal_argument(format!(
            "The patterns of {what} are too complex to evaluate: ask for fewer, or for names"
        )));
    }
    if cluster.is_empty() && index.is_empty() && applications.is_empty() {
        return Err(Error::validation(&["must specify at least one privilege"]));
    }
    Ok(Asked { all, cluster, index, applications })
}

/// `GET /_security/user/_privileges`.
pub(super) fn privileges<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    if matches!(desk.principal.via(), Via::Oauth(_)) {
        // Applications ask for what they need, and learn no more of the owner.
        call.gate.cluster("cluster:admin/xpack/security/user/list_privileges")?;
    }
    if !matches!(desk.principal.via(), Via::Realm | Via::Token(_)) {
        return Err(Error::illegal_argument(
            "Cannot retrieve privileges for API keys and tokens with limits of their own. Please \
             use the Get API key information API (without query parameters) or the Has Privileges \
             API",
        ));
    }
    let state = desk.state();
    let roles = desk.principal.roles(&state);
    let (mut cluster, mut run_as) = (BTreeSet::new(), BTreeSet::new());
    let (mut indices, mut applications) = (Vec::new(), Vec::new());
    for role in &roles {
        cluster.extend(role.descriptor.cluster.iter().cloned());
        run_as.extend(role.descriptor.run_as.iter().cloned());
        for entry in &role.descriptor.indices {
            let mut shown = Object::new();
            shown.insert("names", entry.names.clone());
            shown.insert("privileges", entry.privileges.clone());
            if entry.grant.is_some() || entry.except.is_some() {
                shown.insert("field_security", vec![descriptor::field_security(entry)]);
            }
            if let Some(query) = &entry.query {
                shown.insert("query", vec![query.as_str()]);
            }
            shown.insert("allow_restricted_indices", entry.allow_restricted_indices);
            let shown = Value::Object(shown);
            if !indices.contains(&shown) {
                indices.push(shown);
            }
        }
        for entry in &role.descriptor.applications {
            let shown = descriptor::show_application(entry);
            if !applications.contains(&shown) {
                applications.push(shown);
            }
        }
    }
    let list = |set: BTreeSet<String>| Value::from(set.into_iter().collect::<Vec<_>>());
    let answer = json!({
        "cluster": (list(cluster)),
        "global": [],
        "indices": (Value::Array(indices)),
        "applications": (Value::Array(applications)),
        "run_as": (list(run_as)),
    });
    Ok(value(200, &answer))
}
