//! API keys: found, listed, invalidated.

use std::sync::Arc;

use authz::record::key::ApiKey;
use authz::record::role::Role;
use authz::{Command, Need, Principal, State, Via};
use engine::{Error, Result};
use env::Env;
use json::{Object, Value, json};

use super::body::Body;
use super::keys::{is_own, own_or};
use super::listing::Listing;
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
            && self.name.as_ref().is_none_or(|name| is_meant(name, &key.name))
            && self.realm.as_ref().is_none_or(|realm| *realm == key.realm.0)
            && self.username.as_ref().is_none_or(|user| *user == key.owner)
    }

    /// Does it ask for the caller's own keys as such? A user says that it is the owner, or names itself with its
    /// realm: there may be another of its name in another. A key owns no other, and names itself.
    fn is_own(&self, principal: &Principal) -> bool {
        match principal.via() {
            Via::ApiKey(own) => !self.ids.is_empty() && self.ids.iter().all(|id| *id == own.id),
            _ => {
                self.owner
                    || (self.username.as_deref() == Some(principal.name())
                        && self.realm.as_deref() == Some(principal.realm().0))
            }
        }
    }

    /// Does it name somebody's keys, by who owns them?
    fn names_owner(&self) -> bool {
        self.realm.is_some() || self.username.is_some()
    }
}

/// Is the key of the user who calls, or whose key calls?
fn is_owners(principal: &Principal, key: &ApiKey) -> bool {
    match principal.via() {
        Via::ApiKey(own) => key.owner == own.owner && key.realm.0 == own.realm.0,
        _ => is_own(principal, key),
    }
}

/// Does a name that was asked for mean a key of this name? A star at its end alone stands for what follows;
/// anywhere else it is itself, and so is every other character: a name must not take other keys along.
fn is_meant(asked: &str, name: &str) -> bool {
    match asked.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => asked == name,
    }
}

/// A text that says something: what is blank names nothing, and must never be taken for everything.
fn said(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
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
        if !select.is_own(desk.principal) {
            return Err(denied.clone());
        }
    }
    let state = desk.state();
    let is_meant = |key: &ApiKey| match (manages_all.is_ok(), select.owner) {
        (false, _) => is_own(desk.principal, key),
        (true, true) => is_owners(desk.principal, key),
        (true, false) => true,
    };
    let keys = state.keys.values().filter(|key| select.holds(key) && is_meant(key));
    Ok(keys.cloned().collect())
}

/// `GET /_security/api_key`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    let text = |name: &str| said(call.params.text(name));
    let select = Select {
        ids: text("id").into_iter().collect(),
        name: text("name"),
        owner: call.params.flag("owner", false)?,
        realm: text("realm_name"),
        username: text("username"),
    };
    let mut problems = Vec::new();
    if (!select.ids.is_empty() || select.name.is_some()) && select.names_owner() {
        problems.push(
            "username or realm name must not be specified when the api key id or api key name is \
             specified",
        );
    }
    if select.owner && select.names_owner() {
        problems.push(
            "neither username nor realm-name may be specified when retrieving owned API keys",
        );
    }
    if !select.ids.is_empty() && select.name.is_some() {
        problems.push("only one of [api key id, api key name] can be specified");
    }
    if !problems.is_empty() {
        return Err(Error::validation(&problems));
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
    let mut listing = Listing::new(call, "api_keys")?;
    listing.begin(&[]);
    for key in found.iter().filter(|key| !active || key.is_live(now)) {
        listing.add(&Value::Object(show_with(key, limited, &state, with_profile))).await?;
    }
    let is_missing = listing.is_empty() && !select.ids.is_empty();
    Ok(listing.end(if is_missing { 404 } else { 200 }))
}

fn show_with(key: &ApiKey, limited: bool, state: &State, with_profile: bool) -> Object {
    let mut shown = show(key, limited);
    if let (true, Some(uid)) = (with_profile, profile_of(state, &key.owner, &key.realm.0)) {
        shown.insert("profile_uid", uid);
    }
    shown
}

/// What is shown of a key but its roles.
fn head(key: &ApiKey) -> Object {
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
    shown
}

fn show(key: &ApiKey, limited: bool) -> Object {
    let mut shown = head(key);
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
pub(super) async fn query<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    let limited = call.params.flag("with_limited_by", false)?;
    let with_profile = call.params.flag("with_profile_uid", false)?;
    let all = call.gate.cluster(call.route.privilege);
    if all.is_err() {
        own_or(call, &desk)?;
    }
    let state = desk.state();
    const FIELDS: queries::Fields = queries::Fields(&[
        ("name", queries::Kind::Word),
        ("type", queries::Kind::Word),
        ("creation", queries::Kind::Date),
        ("expiration", queries::Kind::Date),
        ("invalidated", queries::Kind::Truth),
        ("invalidation", queries::Kind::Date),
        ("username", queries::Kind::Word),
        ("realm", queries::Kind::Word),
        ("realm_name", queries::Kind::Word),
        ("realm_type", queries::Kind::Word),
        ("metadata", queries::Kind::Object),
    ]);
    let mine = |key: &&Arc<ApiKey>| all.is_ok() || is_own(desk.principal, key);
    let keys: Vec<Arc<ApiKey>> = state.keys.values().filter(mine).cloned().collect();
    let records = Queried { state, limited, with_profile };
    queries::answer(call, "api_keys", FIELDS, (records, keys)).await
}

/// How keys are looked at and shown.
struct Queried {
    state: Arc<State>,
    limited: bool,
    with_profile: bool,
}

impl queries::Records for Queried {
    type One = Arc<ApiKey>;

    const AGGREGATED: bool = true;

    fn id<'r>(&self, key: &'r Arc<ApiKey>) -> &'r str {
        &key.id
    }

    fn data(&self, key: &Arc<ApiKey>) -> Value {
        let mut data = head(key);
        data.insert("realm_name", key.realm.0.as_str());
        Value::Object(data)
    }

    fn shown(&self, key: &Arc<ApiKey>) -> Value {
        Value::Object(show_with(key, self.limited, &self.state, self.with_profile))
    }
}

/// The ids in a body; none is not the same as an empty list.
fn given_ids(body: &Body<'_>) -> Result<Option<Vec<String>>> {
    let (id, ids) = (body.text("id")?, body.value("ids"));
    match (id, ids) {
        (Some(_), Some(_)) => {
            Err(Error::illegal_argument("Must use either [id] or [ids], not both at the same time"))
        }
        (Some(id), None) => Ok(Some(vec![id.to_owned()])),
        // One alone may stand without a list, and holds no commas that mean anything.
        (None, Some(Value::String(id))) => Ok(Some(vec![id.clone()])),
        (None, _) => body.texts("ids"),
    }
}

/// What Elasticsearch finds wrong with a request to invalidate keys. An empty list of ids or a blank name must
/// not come to mean all keys.
fn problems(ids: Option<&[String]>, select: &Select) -> Vec<String> {
    let mut problems = Vec::new();
    let mut wrong = |what: &str| problems.push(what.to_owned());
    if ids.is_none() && select.name.is_none() && !select.names_owner() && !select.owner {
        wrong(
            "One of [api key id(s), api key name, username, realm name] must be specified if \
             [owner] flag is false",
        );
    }
    if let Some(ids) = ids {
        let blank = ids.iter().enumerate().filter(|(_, id)| id.trim().is_empty());
        let blank: Vec<String> = blank.map(|(at, _)| at.to_string()).collect();
        if ids.is_empty() {
            wrong("Field [ids] cannot be empty");
        } else if !blank.is_empty() {
            let (id, position) =
                if blank.len() == 1 { ("id", "position") } else { ("ids", "positions") };
            wrong(&format!(
                "Field [ids] must not contain blank id, but got blank {id} at index {position}: [{}]",
                blank.join(", ")
            ));
        }
    }
    if (ids.is_some() || select.name.is_some()) && select.names_owner() {
        wrong(
            "username or realm name must not be specified when the api key id(s) or api key name are \
             specified",
        );
    }
    if select.owner && select.names_owner() {
        wrong("neither username nor realm-name may be specified when invalidating owned API keys");
    }
    if ids.is_some() && select.name.is_some() {
        wrong("only one of [api key id(s), api key name] can be specified");
    }
    problems
}

/// What `manage_security` alone allows.
const FOR_CLUSTERS: &str = "cluster:admin/xpack/security/cross_cluster/api_key/create";

/// `DELETE /_security/api_key`.
pub(super) async fn invalidate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    let body = call.required_map().await?;
    let fields = ["ids", "id", "name", "realm_name", "username", "owner"];
    let body = Body::new(&body, "invalidate api key request", &fields)?;
    let text = |name: &str| body.text(name).map(said);
    let ids = given_ids(&body)?;
    let select = Select {
        ids: ids.clone().unwrap_or_default(),
        name: text("name")?,
        owner: body.flag("owner")?.unwrap_or_default(),
        realm: text("realm_name")?,
        username: text("username")?,
    };
    let problems = problems(ids.as_deref(), &select);
    if !problems.is_empty() {
        return Err(Error::validation(&problems));
    }
    let found = find(call, &desk, &select)?;
    let (live, dead): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|key| key.invalidation.is_none());
    // Keys for other clusters end by who may make them.
    let is_for_clusters = |key: &Arc<ApiKey>| key.access.is_some();
    let (kept, live): (Vec<_>, Vec<_>) = match call.gate.cluster(FOR_CLUSTERS) {
        Ok(()) => (Vec::new(), live),
        Err(_) => live.into_iter().partition(is_for_clusters),
    };
    let ids: Vec<String> = live.iter().map(|key| key.id.clone()).collect();
    call.told.borrow_mut().names("target_key", &ids);
    call.told.borrow_mut().names("target_key_name", live.iter().map(|key| &key.name));
    if !ids.is_empty() {
        // Whoever may end all keys found those of others.
        let action = call.route.privilege;
        let need = match call.gate.cluster(action) {
            Ok(()) if live.iter().any(is_for_clusters) => Need::Action(FOR_CLUSTERS),
            Ok(()) => Need::Action(action),
            Err(_) => Need::OwnKeysOr(action),
        };
        let command = Command::InvalidateKeys { ids: ids.clone(), now: now(call) };
        desk.ask_for(call, Some(need), command).await.map_err(told)?;
    }
    // Only those asked for by their id are told when they were invalid already.
    let before: Vec<String> = dead
        .iter()
        .filter(|key| select.ids.contains(&key.id) || select.ids.is_empty())
        .map(|key| key.id.clone())
        .collect();
    let is_nothing = ids.is_empty() && before.is_empty() && kept.is_empty();
    let status = if is_nothing && !select.ids.is_empty() { 404 } else { 200 };
    let mut answer = json!({
        "invalidated_api_keys": ids,
        "previously_invalidated_api_keys": before,
        "error_count": (kept.len()),
    });
    if let (false, Some(answer)) = (kept.is_empty(), answer.as_object_mut()) {
        let refusal = |key: &Arc<ApiKey>| {
            let reason = format!(
                "Cannot invalidate cross-cluster API key [{}]. This requires [manage_security] cluster \
                 privilege or higher",
                key.id
            );
            json!({"type": "security_exception", "reason": reason})
        };
        answer.insert("error_details", kept.iter().map(refusal).collect::<Value>());
    }
    Ok(value(status, &answer))
}
