//! API keys: found, listed, invalidated.

use std::sync::Arc;

use authz::privilege::fits;
use authz::record::key::ApiKey;
use authz::record::role::Role;
use authz::{Command, State, Via};
use engine::{Error, Result};
use env::Env;
use json::{Object, Value, json};

use super::body::Body;
use super::keys::{is_own, own_or};
use super::users::profile_of;
use super::{Desk, descriptor, desk, now, query as queries, told, value};
use crate::call::Call;
use crate::reply::Reply;

/// Which keys are meant.
#[derive(Default)]
struct Select {
    ids: Vec<String>,
    name: Option<String>,
    owner: bool,
    realm: Option<String>,
    username: Option<String>,
}

impl Select {
    fn holds(&self, key: &ApiKey) -> bool {
        (self.ids.is_empty() || self.ids.contains(&key.id))
            && self.name.as_ref().is_none_or(|name| name.is_empty() || fits(name, &key.name))
            && self.realm.as_ref().is_none_or(|realm| *realm == key.realm.0)
            && self.username.as_ref().is_none_or(|user| *user == key.owner)
    }

    fn is_empty(&self) -> bool {
        self.ids.is_empty()
            && self.name.is_none()
            && self.realm.is_none()
            && self.username.is_none()
    }
}

/// The keys that the caller may look after among those meant.
fn find<E: Env>(
    call: &Call<'_, E>,
    desk: &Desk<'_, E>,
    select: &Select,
) -> Result<Vec<Arc<ApiKey>>> {
    if let Via::ApiKey(own) = desk.principal.via()
        && select.ids == [own.id.clone()]
        && call.route.privilege.ends_with("/get")
    {
        // A key may always look at itself.
        let state = desk.state();
        return Ok(state.keys.get(&own.id).cloned().into_iter().collect());
    }
    let manages_all = call.gate.cluster(call.route.privilege);
    if let Err(denied) = manages_all.as_ref() {
        if !desk.principal.gate().own_keys() {
            own_or(call, desk)?;
            return Err(denied.clone());
        }
        // Without the wide privilege: one's own, and only when asked for as such. A key sees itself.
        let is_self = match desk.principal.via() {
            Via::ApiKey(own) => select.owner || select.ids == [own.id.clone()],
            _ => select.owner || select.username.as_deref() == Some(desk.principal.name()),
        };
        if !is_self {
            return Err(denied.clone());
        }
    }
    let own_only = select.owner || manages_all.is_err();
    let state = desk.state();
    let keys = state
        .keys
        .values()
        .filter(|key| select.holds(key) && (!own_only || is_own(desk.principal, key)));
    Ok(keys.cloned().collect())
}

/// `GET /_security/api_key`.
pub(super) fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    let text = |name: &str| call.params.text(name).map(str::to_owned);
    let select = Select {
        ids: text("id").into_iter().collect(),
        name: text("name"),
        owner: call.params.flag("owner", false)?,
        realm: text("realm_name"),
        username: text("username"),
    };
    if select.owner && (select.realm.is_some() || select.username.is_some()) {
        return Err(Error::validation(&[
            "neither username nor realm-name may be specified when retrieving owned API keys",
        ]));
    }
    let limited = call.params.flag("with_limited_by", false)?;
    let active = call.params.flag("active_only", false)?;
    if limited && matches!(desk.principal.via(), Via::ApiKey(_)) {
        call.gate.cluster(call.route.privilege)?;
    }
    let now = now(call);
    let found = find(call, &desk, &select)?;
    let with_profile = call.params.flag("with_profile_uid", false)?;
    let state = desk.state();
    let shown: Vec<Value> = found
        .iter()
        .filter(|key| !active || key.is_live(now))
        .map(|key| Value::Object(show_with(key, limited, &state, with_profile)))
        .collect();
    let is_missing = shown.is_empty() && !select.ids.is_empty();
    let status = if is_missing { 404 } else { 200 };
    Ok(value(status, &json!({"api_keys": (Value::Array(shown))})))
}

fn show_with(key: &ApiKey, limited: bool, state: &State, with_profile: bool) -> Object {
    let mut shown = show(key, limited);
    if let (true, Some(uid)) = (with_profile, profile_of(state, &key.owner, &key.realm.0)) {
        shown.insert("profile_uid", uid);
    }
    shown
}

fn show(key: &ApiKey, limited: bool) -> Object {
    let mut shown = Object::new();
    shown.insert("id", key.id.as_str());
    shown.insert("name", key.name.as_str());
    shown.insert("type", key.kind.as_str());
    shown.insert("creation", key.creation);
    if let Some(end) = key.expiration {
        shown.insert("expiration", end);
    }
    shown.insert("invalidated", key.invalidation.is_some());
    if let Some(when) = key.invalidation {
        shown.insert("invalidation", when);
    }
    shown.insert("username", key.owner.as_str());
    shown.insert("realm", key.realm.0.as_str());
    shown.insert("realm_type", key.realm.1.as_str());
    shown.insert("metadata", Value::Object(key.metadata.clone()));
    let roles = |roles: &[Arc<Role>]| -> Object {
        roles.iter().map(|role| (role.name.as_str(), descriptor::show(role))).collect()
    };
    shown.insert("role_descriptors", Value::Object(roles(&key.descriptors)));
    if limited && key.kind == "rest" {
        shown.insert("limited_by", vec![Value::Object(roles(&key.limited_by))]);
    }
    if let Some(access) = &key.access {
        shown.insert("access", access.clone());
    }
    shown
}

/// `GET|POST /_security/_query/api_key`.
pub(super) fn query<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    let limited = call.params.flag("with_limited_by", false)?;
    let with_profile = call.params.flag("with_profile_uid", false)?;
    let all = call.gate.cluster(call.route.privilege);
    if all.is_err() {
        own_or(call, &desk)?;
    }
    let state = desk.state();
    let fields = [
        "name",
        "type",
        "creation",
        "expiration",
        "invalidated",
        "invalidation",
        "username",
        "realm",
        "realm_name",
        "realm_type",
        "metadata",
    ];
    let rows =
        state.keys.values().filter(|key| all.is_ok() || is_own(desk.principal, key)).map(|key| {
            let shown = show_with(key, limited, &state, with_profile);
            let mut data = shown.clone();
            data.insert("realm_name", key.realm.0.as_str());
            (key.id.clone(), Value::Object(data), Value::Object(shown))
        });
    queries::answer(call, "api_keys", &fields, rows.collect())
}

/// `DELETE /_security/api_key`.
pub(super) async fn invalidate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    let body = call.required_map()?;
    let fields = ["ids", "id", "name", "realm_name", "username", "owner"];
    let body = Body::new(&body, "invalidate api key request", &fields)?;
    let text = |name: &str| body.text(name).map(|text| text.map(str::to_owned));
    let select = Select {
        ids: match text("id")? {
            Some(id) => vec![id],
            None => body.texts("ids")?.unwrap_or_default(),
        },
        name: text("name")?,
        owner: body.flag("owner")?.unwrap_or_default(),
        realm: text("realm_name")?,
        username: text("username")?,
    };
    if select.is_empty() && !select.owner {
        return Err(Error::validation(&[
            "One of [api key id(s), api key name, username, realm name] must be specified if \
             [owner] flag is false",
        ]));
    }
    if select.owner && (select.realm.is_some() || select.username.is_some()) {
        return Err(Error::validation(&[
            "neither username nor realm-name may be specified when invalidating owned API keys",
        ]));
    }
    if !select.ids.is_empty() && select.name.is_some() {
        return Err(Error::validation(&[
            "only one of [api key id(s), api key name] can be specified",
        ]));
    }
    let found = find(call, &desk, &select)?;
    let (live, dead): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|key| key.invalidation.is_none());
    let ids: Vec<String> = live.iter().map(|key| key.id.clone()).collect();
    if !ids.is_empty() {
        let command = Command::InvalidateKeys { ids: ids.clone(), now: now(call) };
        desk.keeper().ask(command).await.map_err(told)?;
    }
    call.told.borrow_mut().names("target_key", &ids);
    call.told.borrow_mut().names("target_key_name", live.iter().map(|key| &key.name));
    // Only those asked for by their id are told when they were invalid already.
    let before: Vec<String> = dead
        .iter()
        .filter(|key| select.ids.contains(&key.id) || select.ids.is_empty())
        .map(|key| key.id.clone())
        .collect();
    let status =
        if ids.is_empty() && before.is_empty() && !select.ids.is_empty() { 404 } else { 200 };
    let answer = json!({
        "invalidated_api_keys": ids,
        "previously_invalidated_api_keys": before,
        "error_count": 0,
    });
    Ok(value(status, &answer))
}
