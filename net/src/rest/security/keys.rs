//! API keys: made, granted to others, changed.

use std::sync::Arc;

use authz::command::Outcome;
use authz::pattern::Effort;
use authz::record::key::{ApiKey, Salted};
use authz::record::role::Role;
use authz::{Command, Need, Principal, Right, Via};
use engine::{Error, Gate, Result};
use env::Env;
use json::{Object, Value, json};

use super::body::Body;
use super::{
    Desk, allowed, descriptor, desk, now, random, random_text, still_allowed, told, value,
};
use crate::admit::{Security, TOO_MANY};
use crate::call::Call;
use crate::oauth::guess::{Guess, Refused};
use crate::oauth::limit::host;
use crate::params::time_ms;
use crate::reply::Reply;

/// Keys in one update.
const UPDATE_MAX: usize = 10_000;

/// Bytes of JSON that a key may bring along.
const KEY_BYTES_MAX: usize = 1 << 20;

/// What a request says of a key.
struct Wish {
    name: Option<String>,
    expiration: Option<u64>,
    descriptors: Option<Vec<Arc<Role>>>,
    metadata: Option<Object>,
}

const WISH: &[&str] = &["name", "expiration", "role_descriptors", "metadata"];

fn wish<E: Env>(call: &Call<'_, E>, body: &Body<'_>) -> Result<Wish> {
    let expiration = match body.text("expiration")? {
        None => None,
        Some(text) => {
            let life = time_ms("expiration", text)?;
            // A time below zero would be one without end.
            let life = life.filter(|life| *life > 0).ok_or_else(|| {
                Error::illegal_argument(format!(
                    "failed to parse setting [expiration] with value [{text}] as a time value: it must be \
                     greater than 0"
                ))
            })?;
            Some(now(call).saturating_add(life))
        }
    };
    let descriptors = match body.object("role_descriptors")? {
        None => None,
        Some(given) => {
            let (mut roles, effort) = (Vec::new(), Effort::default());
            for (name, given) in given.iter() {
                let parsed = descriptor::parse(given, name, &effort)?;
                descriptor::warn(call.gate, &parsed);
                roles.push(Arc::new(Role::new(name, parsed)));
            }
            Some(roles)
        }
    };
    let metadata = body.object("metadata")?.cloned();
    if metadata.as_ref().is_some_and(|metadata| metadata.keys().any(|key| key.starts_with('_'))) {
        return Err(Error::validation(&["API key metadata keys may not start with [_]"]));
    }
    short_enough([body.value("metadata"), body.value("role_descriptors")])?;
    let name = body.text("name")?.map(str::to_owned);
    Ok(Wish { name, expiration, descriptors, metadata })
}

/// Keys are kept in memory and in the state, and may be made by whoever may make any of their own.
fn short_enough(noted: [Option<&Value>; 2]) -> Result<()> {
    let bytes: usize = noted.into_iter().flatten().map(|noted| json::to_vec(noted).len()).sum();
    if bytes > KEY_BYTES_MAX {
        return Err(Error::validation(&[format!(
            "API key metadata and role descriptors may be at most [{KEY_BYTES_MAX}] bytes long together, but were \
             [{bytes}]"
        )]));
    }
    Ok(())
}

/// The name of a new key.
fn named(name: Option<String>) -> Result<String> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Err(Error::validation(&["api key name is required"]));
    };
    let mut problems = Vec::new();
    if name.chars().count() > 256 {
        problems.push("api key name may not be more than 256 characters long");
    }
    if name.trim() != name {
        problems.push("api key name may not begin or end with whitespace");
    }
    if name.starts_with('_') {
        problems.push("api key name may not begin with an underscore");
    }
    if problems.is_empty() { Ok(name) } else { Err(Error::validation(&problems)) }
}

/// May the caller look after keys of its own, or of everybody?
pub(super) fn own_or<E: Env>(call: &Call<'_, E>, desk: &Desk<'_, E>) -> Result<()> {
    if desk.principal.gate().own_keys() {
        return Ok(());
    }
    call.gate.cluster(call.route.privilege).map_err(|mut error| {
        // The list of privileges that would do holds the narrow one too.
        error.reason = error.reason.replace(
            "the cluster privileges [manage_api_key",
            "the cluster privileges [manage_own_api_key,manage_api_key",
        );
        error
    })
}

/// `POST|PUT /_security/api_key`.
pub(super) async fn create<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    own_or(call, &desk)?;
    let body = call.required_map().await?;
    let body = Body::new(&body, "create api key request", WISH)?;
    let wish = wish(call, &body)?;
    let need = Need::OwnKeysOr(call.route.privilege);
    make(call, &desk, (desk.principal, need), wish, "rest", None).await
}

/// Makes a key, if the caller holds the right that it takes as the key is kept.
async fn make<E: Env>(
    call: &Call<'_, E>,
    desk: &Desk<'_, E>,
    (owner, need): (&Principal, Need),
    wish: Wish,
    kind: &str,
    access: Option<Value>,
) -> Result<Reply> {
    let name = named(wish.name)?;
    let descriptors = wish.descriptors.unwrap_or_default();
    if matches!(owner.via(), Via::ApiKey(_)) {
        let is_empty = |role: &Arc<Role>| role.descriptor.is_empty();
        if descriptors.len() != 1 || !descriptors.iter().all(is_empty) {
            return Err(Error::illegal_argument(
                "creating derived api keys requires an explicit role descriptor that is empty (has \
                 no privileges)",
            ));
        }
    }
    let (id, secret) = (random_text::<E, 15>(call), random_text::<E, 16>(call));
    let (realm, realm_kind) = owner.realm();
    let state = desk.state();
    let key = ApiKey {
        id: id.clone(),
        name: name.clone(),
        secret: Salted::new(random::<E, 32>(call), secret.as_bytes()),
        kind: kind.to_owned(),
        owner: owner.name().to_owned(),
        realm: (realm.to_owned(), realm_kind.to_owned()),
        creation: now(call),
        expiration: wish.expiration,
        invalidation: None,
        metadata: wish.metadata.unwrap_or_default(),
        descriptors,
        limited_by: owner.roles(&state),
        creator: Some(owner.creator()),
        access,
    };
    let by = desk.principal.proof();
    let granted_by = owner.proof().filter(|proof| by.as_ref() != Some(proof));
    let command = Command::PutKey { key, by, granted_by };
    {
        let mut told = call.told.borrow_mut();
        told.fact("target_key", id.as_str());
        told.fact("target_key_name", name.as_str());
        told.fact("target_user", owner.name());
    }
    let right =
        Right { owner: Some(owner.clone()), ..Right::new(desk.principal.clone(), need, now(call)) };
    desk.ask_by(call, Some(right), command).await.map_err(told)?;
    let mut answer = Object::new();
    answer.insert("id", id.as_str());
    answer.insert("name", name);
    if let Some(end) = wish.expiration {
        answer.insert("expiration", end);
    }
    answer.insert("api_key", secret.as_str());
    answer.insert("encoded", encoded(&id, &secret));
    Ok(value(200, &Value::Object(answer)))
}

/// What stands behind `Authorization: ApiKey`.
pub(super) fn encoded(id: &str, secret: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(format!("{id}:{secret}"))
}

/// `POST /_security/api_key/grant`.
pub(super) async fn grant<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let body = call.required_map().await?;
    let fields = ["grant_type", "access_token", "username", "password", "api_key", "run_as"];
    let body = Body::new(&body, "grant api key request", &fields)?;
    let Some(given) = body.value("api_key") else {
        return Err(Error::validation(&["api key name is required"]));
    };
    let given = Body::new(given, "api key", WISH)?;
    let wish = wish(call, &given)?;
    let owner = granter(call, &body).await?;
    let owner = match body.text("run_as")? {
        None => owner,
        Some(name) => {
            let state = desk.state();
            let user = state.user(name);
            if !owner.gate().run_as(name) || user.is_some_and(|user| !owner.may_act_as(user)) {
                return Err(Error::new(
                    403,
                    "security_exception",
                    format!(
                        "action [cluster:admin/xpack/security/user/authenticate] is unauthorized \
                         for user [{}] run as [{name}]",
                        owner.name()
                    ),
                ));
            }
            let user = user.filter(|user| user.enabled).ok_or_else(|| {
                Error::new(400, "security_exception", format!("no user [{name}] to run as"))
            })?;
            Principal::run_as(Arc::clone(user), &owner, &state)
        }
    };
    let need = Need::Action(call.route.privilege);
    make(call, &desk, (&owner, need), wish, "rest", None).await
}

/// Who is named by the credential in a body.
pub(super) async fn granter<E: Env>(call: &Call<'_, E>, body: &Body<'_>) -> Result<Principal> {
    let desk = desk(call)?;
    let missing = |field: &str, kind: &str| {
        Error::validation(&[format!("[{field}] is required for grant_type [{kind}]")])
    };
    let kind = body.text("grant_type")?.unwrap_or_default();
    let unsupported: &[&str] = match kind {
        "password" => &["access_token"],
        "access_token" => &["username", "password"],
        _ => &[],
    };
    for field in unsupported {
        if body.text(field)?.is_some_and(|text| !text.is_empty()) {
            let reason = format!("[{field}] is not supported for grant_type [{kind}]");
            return Err(Error::validation(&[reason]));
        }
    }
    match kind {
        "password" => {
            let user = body.text("username")?.ok_or_else(|| missing("username", kind))?;
            let password = body.text("password")?.ok_or_else(|| missing("password", kind))?;
            by_password(call, desk.security, user, password).await
        }
        "access_token" => {
            let token = body.text("access_token")?.ok_or_else(|| missing("access_token", kind))?;
            let header = format!("Bearer {token}");
            let found =
                desk.security.authenticator.authenticate(Some(&header), host(call.peer)).await;
            let owner = found.map_err(|error| not_let_in(&error))?;
            // A key would hold all roles of the owner: more than an application was granted.
            match owner.via() {
                Via::Oauth(_) => {
                    Err(not_let_in(&authz::AuthError::Unknown { detail: None, bearer: true }))
                }
                _ => Ok(owner),
            }
        }
        other => Err(Error::validation(&[format!("grant_type [{other}] is not supported")])),
    }
}

/// Whose name and password these are, for a caller who still may do what the route is for. Who guesses here is
/// counted with who guesses at the door.
pub(super) async fn by_password<E: Env>(
    call: &Call<'_, E>,
    security: &Security<E>,
    user: &str,
    password: &str,
) -> Result<Principal> {
    let known = by_password_if_right(call, security, user, password).await?;
    known.map_err(|wrong| not_let_in(&wrong))
}

/// The same; that the password is wrong is no error of the request.
pub(super) async fn by_password_if_right<E: Env>(
    call: &Call<'_, E>,
    security: &Security<E>,
    user: &str,
    password: &str,
) -> Result<std::result::Result<Principal, authz::AuthError>> {
    let known = match Guess::password(security, user, password, call.peer).await {
        Ok(found) => Ok(found),
        Err(Refused::Slow(seconds)) => {
            call.wait_seconds.set(Some(seconds));
            return Err(Error::rejected(TOO_MANY));
        }
        Err(Refused::Wrong(busy @ authz::AuthError::Busy)) => return Err(not_let_in(&busy)),
        Err(Refused::Wrong(wrong)) => Err(wrong),
    };
    // Who lost the right meanwhile does not hear whether it was right.
    still_allowed(call, call.route.privilege).await?;
    Ok(known)
}

pub(super) fn not_let_in(error: &authz::AuthError) -> Error {
    match error {
        busy @ (authz::AuthError::Busy | authz::AuthError::Slow { .. }) => {
            Error::rejected(busy.to_string())
        }
        other => Error::new(401, "security_exception", other.to_string()),
    }
}

/// Is the key the caller's own?
pub(super) fn is_own(principal: &Principal, key: &ApiKey) -> bool {
    match principal.via() {
        Via::ApiKey(own) => own.id == key.id,
        _ => key.owner == principal.name() && key.realm.0 == principal.realm().0,
    }
}

/// `PUT /_security/api_key/{id}`.
pub(super) async fn update<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let id = call.segment("id").to_owned();
    let body = call.map().await?.unwrap_or_else(Value::object);
    let body = Body::new(&body, "update api key request", &WISH[1..])?;
    let wish = wish(call, &body)?;
    let need = Need::OwnKeysOr(call.route.privilege);
    let updated = change(call, (&[id], need), wish, "rest", None).await?;
    match updated.into_iter().next() {
        Some((_, Ok(updated))) => Ok(value(200, &json!({"updated": updated}))),
        Some((_, Err(error))) => Err(error),
        None => Err(Error::internal("no key was changed")),
    }
}

/// `POST /_security/api_key/_bulk_update`.
pub(super) async fn bulk_update<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let body = call.required_map().await?;
    let fields = ["ids", "expiration", "role_descriptors", "metadata"];
    let body = Body::new(&body, "bulk update api key request", &fields)?;
    let ids = body.texts("ids")?.unwrap_or_default();
    if ids.is_empty() {
        return Err(Error::validation(&["Field [ids] cannot be empty"]));
    }
    if ids.len() > UPDATE_MAX {
        return Err(Error::validation(&[format!(
            "Field [ids] may hold at most [{UPDATE_MAX}] ids, but holds [{}]",
            ids.len()
        )]));
    }
    let wish = wish(call, &body)?;
    let (mut updated, mut noops, mut failures) = (Vec::new(), Vec::new(), Object::new());
    let need = Need::OwnKeysOr(call.route.privilege);
    for (id, outcome) in change(call, (&ids, need), wish, "rest", None).await? {
        match outcome {
            Ok(true) => updated.push(id),
            Ok(false) => noops.push(id),
            Err(error) => {
                let reason =
                    json!({"type": (error.kind.as_ref()), "reason": (error.reason.as_str())});
                failures.insert(id, reason);
            }
        }
    }
    let mut answer = Object::new();
    answer.insert("updated", updated);
    answer.insert("noops", noops);
    if !failures.is_empty() {
        let count = failures.len();
        answer.insert("errors", json!({"count": count, "details": (Value::Object(failures))}));
    }
    Ok(value(200, &Value::Object(answer)))
}

/// Changes keys of the caller, if it holds the right that this takes; what became of each.
async fn change<E: Env>(
    call: &Call<'_, E>,
    (ids, need): (&[String], Need),
    wish: Wish,
    kind: &str,
    access: Option<Value>,
) -> Result<Vec<(String, Result<bool>)>> {
    let desk = desk(call)?;
    own_or(call, &desk)?;
    if matches!(desk.principal.via(), Via::ApiKey(_)) {
        return Err(Error::illegal_argument(
            "authentication via API key not supported: only the owner user can update an API key",
        ));
    }
    let state = desk.state();
    let mut outcomes: Vec<(String, Result<bool>)> = Vec::new();
    let mut good = Vec::new();
    for id in ids {
        let failure = |reason: String| Err(Error::illegal_argument(reason));
        match state.keys.get(id).filter(|key| is_own(desk.principal, key)) {
            None => {
                let reason = format!("no API key owned by requesting user found for ID [{id}]");
                let error = Error::new(404, "resource_not_found_exception", reason);
                outcomes.push((id.clone(), Err(error)));
            }
            Some(key) if key.kind != kind => {
                let reason = format!(
                    "cannot update API key of type [{}] while expected type is [{kind}]",
                    key.kind
                );
                outcomes.push((id.clone(), failure(reason)));
            }
            Some(key) if key.invalidation.is_some() => {
                outcomes.push((
                    id.clone(),
                    failure(format!("cannot update invalidated API key [{id}]")),
                ));
            }
            Some(key) if !key.is_live(now(call)) => {
                outcomes
                    .push((id.clone(), failure(format!("cannot update expired API key [{id}]"))));
            }
            Some(_) => good.push(id.clone()),
        }
    }
    if !good.is_empty() {
        let command = Command::UpdateKeys {
            ids: good.clone(),
            descriptors: wish.descriptors,
            limited_by: desk.principal.roles(&state),
            creator: Some(desk.principal.creator()),
            metadata: wish.metadata,
            expiration: wish.expiration,
            access,
            by: desk.principal.proof(),
        };
        call.told.borrow_mut().names("target_key", &good);
        let right = Right {
            owner: Some(desk.principal.clone()),
            ..Right::new(desk.principal.clone(), need, now(call))
        };
        let outcome = desk.ask_by(call, Some(right), command).await.map_err(told)?;
        let Outcome::Each(changed) = outcome else {
            return Err(Error::internal("no key was changed"));
        };
        outcomes.extend(good.into_iter().zip(changed.into_iter().map(Ok)));
    }
    Ok(outcomes)
}

const CROSS: &[&str] = &["name", "expiration", "metadata", "access"];

/// Kinds of access of a cross-cluster key: the privilege on the cluster of each, and those on the indices that its
/// entries name.
const ACCESS: [(&str, &str, &[&str]); 2] = [
    ("search", "cross_cluster_search", &["read", "read_cross_cluster", "view_index_metadata"]),
    (
        "replication",
        "cross_cluster_replication",
        &["cross_cluster_replication", "cross_cluster_replication_internal"],
    ),
];

/// What a cross-cluster key opens, as the role that Elasticsearch makes of it.
fn cross_roles(gate: &dyn Gate, access: &Value) -> Result<Vec<Arc<Role>>> {
    short_enough([Some(access), None])?;
    let body = Body::new(access, "access", &["search", "replication"])?;
    let (mut cluster, mut entries) = (Vec::new(), Vec::new());
    let is_replicated = body.list("replication")?.is_some_and(|list| !list.is_empty());
    for (kind, of_cluster, privileges) in ACCESS {
        let given = body.list(kind)?.unwrap_or_default();
        if !given.is_empty() {
            cluster.push(of_cluster);
        }
        for entry in given {
            let mut entry = entry.as_object().cloned().ok_or_else(|| {
                Error::parse(format!("failed to parse access. [{kind}] wants objects"))
            })?;
            // They follow from the kind: passed over, others would be believed to hold.
            if entry.contains_key("privileges") {
                return Err(Error::parse(
                    "failed to parse indices privileges for role [cross_cluster]. \
                     field [privileges] must not present",
                ));
            }
            let is_limited = ["query", "field_security"]
                .iter()
                .any(|name| entry.get(name).is_some_and(|value| !matches!(value, Value::Null)));
            if is_limited && is_replicated {
                // What is copied whole is limited by nothing.
                return Err(Error::illegal_argument(match kind {
                    "replication" => {
                        "replication does not support document or field level security"
                    }
                    _ => {
                        "search does not support document or field level security if replication is assigned"
                    }
                }));
            }
            entry.insert("privileges", Value::from(privileges.to_vec()));
            entries.push(Value::Object(entry));
        }
    }
    if entries.is_empty() {
        return Err(Error::illegal_argument(
            "must specify non-empty access for either [search] or [replication]",
        ));
    }
    let mut given = Object::new();
    given.insert("cluster", cluster);
    given.insert("indices", entries);
    let parsed = descriptor::parse(&Value::Object(given), "cross_cluster", &Effort::default())?;
    descriptor::warn(gate, &parsed);
    Ok(vec![Arc::new(Role::new("cross_cluster", parsed))])
}

/// `POST /_security/cross_cluster/api_key`.
pub(super) async fn create_cross<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let body = call.required_map().await?;
    let body = Body::new(&body, "create cross cluster api key request", CROSS)?;
    let mut wish = wish(call, &body)?;
    let Some(access) = body.value("access") else {
        return Err(Error::validation(&["access is required"]));
    };
    wish.descriptors = Some(cross_roles(call.gate, access)?);
    if matches!(desk.principal.via(), Via::ApiKey(_)) {
        return Err(Error::illegal_argument(
            "authentication via API key not supported: An API key cannot be used to create a \
             cross-cluster API key",
        ));
    }
    let need = Need::Action(call.route.privilege);
    make(call, &desk, (desk.principal, need), wish, "cross_cluster", Some(access.clone())).await
}

/// `PUT /_security/cross_cluster/api_key/{id}`.
pub(super) async fn update_cross<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    allowed(call)?;
    let body = call.required_map().await?;
    let body = Body::new(&body, "update cross cluster api key request", &CROSS[1..])?;
    let mut wish = wish(call, &body)?;
    let access = body.value("access").cloned();
    if let Some(access) = &access {
        wish.descriptors = Some(cross_roles(call.gate, access)?);
    }
    if access.is_none() && wish.metadata.is_none() {
        return Err(Error::validation(&[
            "must update either [access] or [metadata] for cross-cluster API keys",
        ]));
    }
    let id = call.segment("id").to_owned();
    let need = Need::Action(call.route.privilege);
    match change(call, (&[id], need), wish, "cross_cluster", access).await?.into_iter().next() {
        Some((_, Ok(updated))) => Ok(value(200, &json!({"updated": updated}))),
        Some((_, Err(error))) => Err(error),
        None => Err(Error::internal("no key was changed")),
    }
}
