//! Who am I, and what may I do?

use std::collections::BTreeSet;

use authz::pattern::Effort;
use authz::{Keeper, Principal, Via};
use engine::{Error, Result};
use env::Env;
use json::{Object, Value, json};

use super::asked::{self, Asked};
use super::body::Body;
use super::{descriptor, desk, value};
use crate::call::Call;
use crate::oauth::ask;
use crate::reply::Reply;

/// `GET /_security/_authenticate`.
pub(super) fn authenticate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    Ok(value(200, &show(desk.principal, desk.keeper())))
}

/// A principal as `_authenticate` shows it.
pub(super) fn show(principal: &Principal, keeper: &Keeper) -> Value {
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
            // As far as its client may still have them, as everywhere.
            let state = keeper.state();
            let client = grant.client.as_deref().and_then(|id| state.client(id));
            let scopes = client.map(|client| ask::cut_all(client, &grant.scopes, &grant.details).0);
            shown.insert(
                "oauth",
                json!({
                    "client_id": (grant.client.clone()),
                    "grant_id": (keeper.keys().grant_name(grant.family())),
                    "scope": (scopes.unwrap_or_default().join(" ")),
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
    let body = Body::new(&body, &*what, asked::FIELDS)?;
    let asked = Asked::read(call, &body, &what, 1).await?;
    let (state, effort) = (desk.state(), Effort::default());
    let (held, memory) = asked.held_by(call, (&state, principal.gate()), &effort).await?;
    let body = held.written(call, principal.name()).await;
    Ok(Reply::json(200, body).counted(memory))
}

/// `GET /_security/user/_privileges`.
pub(super) fn privileges<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    if matches!(desk.principal.via(), Via::Oauth(_)) {
        // Applications ask for what they need, and learn no more of the owner.
        call.gate.cluster("cluster:admin/xpack/security/user/list_privileges")?;
    }
    let is_limited = match desk.principal.via() {
        Via::Realm | Via::Token(_) | Via::Service(_) => false,
        Via::ApiKey(key) => !key.descriptors.is_empty(),
        Via::Oauth(_) => true,
    };
    if is_limited {
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
    // One privilege an entry.
    let mut global: Vec<Value> = Vec::new();
    let given = roles.iter().filter_map(|role| role.descriptor.beside.get("global")?.as_object());
    for (category, privileges) in given.flat_map(Object::iter) {
        for (privilege, of) in privileges.as_object().into_iter().flat_map(Object::iter) {
            let mut one = Object::new();
            one.insert(privilege, of.clone());
            let mut shown = Object::new();
            shown.insert(category, Value::Object(one));
            let shown = Value::Object(shown);
            if !global.contains(&shown) {
                global.push(shown);
            }
        }
    }
    let list = |set: BTreeSet<String>| Value::from(set.into_iter().collect::<Vec<_>>());
    let answer = json!({
        "cluster": (list(cluster)),
        "global": (Value::Array(global)),
        "indices": (Value::Array(indices)),
        "applications": (Value::Array(applications)),
        "run_as": (list(run_as)),
    });
    Ok(value(200, &answer))
}
