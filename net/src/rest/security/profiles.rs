//! `_security/profile`: what the companion tool keeps beside people.

use authz::Command;
use authz::command::Outcome;
use authz::pattern::Effort;
use authz::principal::Via;
use authz::record::profile::Profile;
use authz::record::user::User;
use authz::{Principal, State};
use engine::{Error, Result};
use env::Env;
use json::{Object, Value, json};
use std::sync::Arc;

use super::asked::{self, Asked};
use super::body::Body;
use super::listing::Listing;
use super::{Desk, allowed, allowed_for, keys, names, now, told, value};
use crate::call::Call;
use crate::reply::Reply;

/// Suggestions without a `size`.
const SIZE: u64 = 10;

/// Suggestions at most.
const SIZE_MAX: u64 = 10_000;

/// Profiles in one request.
const UIDS_MAX: usize = 1_000;

/// Bytes of JSON that a profile may hold: labels and data together.
const BYTES_MAX: usize = 10 << 20;

/// `POST /_security/profile/_activate`.
pub(super) async fn activate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let body = call.required_map().await?;
    let fields = ["grant_type", "username", "password", "access_token"];
    let body = Body::new(&body, "activate profile request", &fields)?;
    let owner = keys::granter(call, &body).await?;
    if !matches!(owner.via(), Via::Realm | Via::Token(_)) {
        return Err(Error::illegal_argument(
            "profiles are made of users, not of keys or accounts of services",
        ));
    }
    let profile = Profile::of(owner.user(), now(call));
    let (name, realm) = (profile.user.clone(), profile.realm.clone());
    let command = Command::ActivateProfile { profile };
    desk.ask(call, command).await.map_err(told)?;
    let state = desk.state();
    let known = state.profile_of(&name, &realm).ok_or_else(|| missing(&name))?;
    Ok(value(200, &Value::Object(show(known, &Wanted::All, true))))
}

/// Which parts of the applications' data are told.
enum Wanted {
    All,
    Parts(Vec<String>),
}

fn wanted(text: Option<&str>) -> Wanted {
    let Some(text) = text else { return Wanted::Parts(Vec::new()) };
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.map(str::to_owned).collect();
    if parts.iter().any(|part| part == "*") { Wanted::All } else { Wanted::Parts(parts) }
}

fn data_of(profile: &Profile, wanted: &Wanted) -> Value {
    let Wanted::Parts(parts) = wanted else { return profile.data.clone() };
    let members = profile.data.as_object().into_iter().flat_map(Object::iter);
    let kept = members.filter(|(key, _)| parts.iter().any(|part| part == key));
    Value::Object(kept.map(|(key, value)| (key, value.clone())).collect())
}

fn show(profile: &Profile, wanted: &Wanted, whole: bool) -> Object {
    let mut user = Object::new();
    user.insert("username", profile.user.as_str());
    user.insert("roles", profile.roles.clone());
    user.insert("realm_name", profile.realm.as_str());
    if let Some(email) = &profile.email {
        user.insert("email", email.as_str());
    }
    if let Some(name) = &profile.full_name {
        user.insert("full_name", name.as_str());
    }
    let mut shown = Object::new();
    shown.insert("uid", profile.uid.as_str());
    if whole {
        shown.insert("enabled", profile.enabled);
        shown.insert("last_synchronized", profile.synchronized);
    }
    shown.insert("user", Value::Object(user));
    shown.insert("labels", profile.labels.clone());
    shown.insert("data", data_of(profile, wanted));
    if whole {
        shown.insert("_doc", json!({"_primary_term": 1, "_seq_no": (profile.seq_no)}));
    }
    shown
}

fn missing(uid: &str) -> Error {
    let reason = format!("profile document [{uid}] not found");
    Error::new(404, "resource_not_found_exception", reason)
}

/// What is told of ids that nobody has; nothing where there are none.
fn errors(unknown: &[String]) -> Option<Value> {
    if unknown.is_empty() {
        return None;
    }
    let reason = |uid: &String| {
        let error = missing(uid);
        let told = json!({"type": (error.kind.as_ref()), "reason": (error.reason.as_str())});
        (uid.clone(), told)
    };
    let details: Object = unknown.iter().map(reason).collect();
    let count = unknown.len();
    Some(json!({"count": count, "details": (Value::Object(details))}))
}

/// `GET /_security/profile/{uid}`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed(call)?.state();
    let wanted = wanted(call.params.text("data"));
    let (mut listing, mut unknown) = (Listing::new(call, "profiles")?, Vec::new());
    listing.begin(&[]);
    for uid in names(call, "uid").into_iter().take(UIDS_MAX) {
        match state.profiles.get(uid) {
            Some(profile) => listing.add(&Value::Object(show(profile, &wanted, true))).await?,
            None => unknown.push(uid.to_owned()),
        }
    }
    let errors = errors(&unknown).map(|errors| ("errors", errors));
    Ok(listing.end_with(200, errors.as_slice()))
}

/// `PUT|POST /_security/profile/{uid}/_data`.
pub(super) async fn update<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    // Who may not is not told what is wrong with a body.
    let body = call.required_map().await;
    let parts = body.iter().flat_map(|body| [body.get("labels"), body.get("data")]);
    let parts = parts.flatten().filter_map(Value::as_object).flat_map(Object::keys);
    let desk = allowed_for(call, &parts.collect::<Vec<_>>())?;
    let body = body?;
    let body = Body::new(&body, "update profile data request", &["labels", "data"])?;
    let part = |name: &str| -> Result<Option<Value>> {
        let Some(object) = body.object(name)? else { return Ok(None) };
        let problem = object.keys().find(|key| key.starts_with('_') || key.contains('.'));
        match problem {
            None => Ok(Some(Value::Object(object.clone()))),
            Some(key) => Err(Error::validation(&[format!(
                "{name} {} but found [{key}]",
                if key.starts_with('_') {
                    "must not contain keys that begin with underscore [_]"
                } else {
                    "must not contain keys that contain dots [.]"
                }
            )])),
        }
    };
    let (labels, data) = (part("labels")?, part("data")?);
    let uid = call.segment("uid").to_owned();
    if let Some(known) = desk.state().profiles.get(&uid) {
        small_enough(known, labels.as_ref(), data.as_ref())?;
    }
    let only_at = match (call.params.long("if_seq_no")?, call.params.long("if_primary_term")?) {
        (Some(seq_no), Some(1)) => Some(u64::try_from(seq_no).unwrap_or(u64::MAX)),
        (Some(_), Some(_)) => Some(u64::MAX),
        _ => None,
    };
    change(call, &desk, Command::ChangeProfile { uid, labels, data, enabled: None, only_at })
        .await?;
    Ok(call.acknowledged())
}

/// What is kept beside a person is bounded.
fn small_enough(known: &Profile, labels: Option<&Value>, data: Option<&Value>) -> Result<()> {
    let bytes = |whole: &Value, change: Option<&Value>| {
        let Some(change) = change else { return json::to_vec(whole).len() };
        let mut whole = whole.clone();
        json::patch::merge(&mut whole, change);
        json::to_vec(&whole).len()
    };
    let bytes = bytes(&known.labels, labels) + bytes(&known.data, data);
    if bytes > BYTES_MAX {
        return Err(Error::illegal_argument(format!(
            "cannot update profile [{}] because the combined profile size of [{bytes}b] exceeds the maximum of \
             [{BYTES_MAX}b]",
            known.uid
        )));
    }
    Ok(())
}

/// `PUT|POST /_security/profile/{uid}/_enable` and `…/_disable`.
pub(super) async fn enable<E: Env>(call: &Call<'_, E>, enabled: bool) -> Result<Reply> {
    let desk = allowed(call)?;
    let uid = call.segment("uid").to_owned();
    let enabled = Some(enabled);
    let command = Command::ChangeProfile { uid, labels: None, data: None, enabled, only_at: None };
    change(call, &desk, command).await?;
    Ok(call.acknowledged())
}

async fn change<E: Env>(call: &Call<'_, E>, desk: &Desk<'_, E>, command: Command) -> Result<()> {
    let uid = match &command {
        Command::ChangeProfile { uid, .. } => uid.clone(),
        _ => String::new(),
    };
    match desk.ask(call, command).await {
        Ok(Outcome::Changed) => Ok(()),
        Ok(_) => Err(missing(&uid)),
        Err(authz::Error::Changed) => Err(Error::new(
            409,
            "version_conflict_engine_exception",
            format!("[profile_{uid}]: version conflict, the profile was changed meanwhile"),
        )),
        Err(error) => Err(told(error)),
    }
}

/// `GET|POST /_security/profile/_suggest`.
pub(super) async fn suggest<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed(call)?.state();
    let body = call.map().await?.unwrap_or_else(Value::object);
    let body = Body::new(&body, "suggest profile request", &["name", "size", "data", "hint"])?;
    let words = body.text("name")?.unwrap_or_default().to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let size = body.value("size").map_or(Some(SIZE), Value::as_u64).filter(|it| *it <= SIZE_MAX);
    let size = size.ok_or_else(|| {
        Error::validation(&[format!("[size] parameter must be between 0 and {SIZE_MAX}")])
    })?;
    let parts = wanted(body.text("data")?.or_else(|| call.params.text("data")));
    let hint = match body.value("hint") {
        Some(hint) => Some(Body::new(hint, "suggest profile hint", &["uids", "labels"])?),
        None => None,
    };
    let (mut uids, mut labels) = (Vec::new(), Object::new());
    if let Some(hint) = &hint {
        uids = hint.texts("uids")?.unwrap_or_default();
        labels = hint.object("labels")?.cloned().unwrap_or_default();
        if labels.len() > 1 {
            return Err(Error::validation(&["[hint] labels supports a single key"]));
        }
    }
    let fits = |profile: &Profile| {
        let known = [Some(&profile.user), profile.full_name.as_ref(), profile.email.as_ref()];
        let known = known.into_iter().flatten().map(|text| text.to_lowercase());
        let known: Vec<String> = known.collect();
        words.iter().all(|word| {
            known.iter().any(|text| {
                text.split(|c: char| !c.is_alphanumeric()).any(|part| part.starts_with(word))
                    || text.starts_with(word)
            })
        })
    };
    // Who is hinted at comes first.
    let rank = |profile: &Profile| {
        let by_uid = uids.contains(&profile.uid);
        let by_label = labels.iter().any(|(key, wanted)| {
            let path: Vec<&str> = key.split('.').collect();
            let found = profile.labels.at(&path);
            found.is_some_and(|found| match wanted {
                Value::Array(several) => several.contains(found),
                one => one == found,
            })
        });
        u8::from(!by_uid) + u8::from(!by_label)
    };
    let mut found: Vec<&Arc<Profile>> =
        state.profiles.values().filter(|profile| profile.enabled && fits(profile)).collect();
    found.sort_by_key(|profile| (rank(profile), std::cmp::Reverse(profile.synchronized)));
    let total = found.len();
    let mut listing = Listing::new(call, "profiles")?;
    let total = json!({"value": total, "relation": "eq"});
    listing.begin(&[("took", Value::from(0_u64)), ("total", total)]);
    for profile in found.into_iter().take(usize::try_from(size).unwrap_or(usize::MAX)) {
        listing.add(&Value::Object(show(profile, &parts, false))).await?;
    }
    Ok(listing.end(200))
}

/// `GET|POST /_security/profile/_has_privileges`.
pub(super) async fn has_privileges<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed(call)?.state();
    let body = call.required_map().await?;
    let body = Body::new(&body, "profile has_privileges request", &["uids", "privileges"])?;
    let uids = body.texts("uids")?.unwrap_or_default();
    if uids.is_empty() || uids.len() > UIDS_MAX {
        return Err(Error::validation(&["uids list is empty"]));
    }
    let Some(asked) = body.value("privileges") else {
        return Err(Error::validation(&["must specify at least one privilege"]));
    };
    let what = "privileges check";
    let asked = Body::new(asked, what, asked::FIELDS)?;
    let asked = Asked::read(call, &asked, what, uids.len()).await?;
    let (mut having, mut unknown) = (Vec::new(), Vec::new());
    let effort = Effort::default();
    for uid in uids {
        let Some(user) = owner(&state, &uid) else {
            unknown.push(uid);
            continue;
        };
        if asked.held_by(call, (&state, user.gate()), &effort).await?.0.all {
            having.push(uid);
        }
    }
    let mut answer: Object = [("has_privilege_uids", Value::from(having))].into_iter().collect();
    if let Some(errors) = errors(&unknown) {
        answer.insert("errors", errors);
    }
    Ok(value(200, &Value::Object(answer)))
}

/// The user of a profile, who may still come in. Of a user of the operator's file it is who was seen last.
fn owner(state: &State, uid: &str) -> Option<Principal> {
    let profile = state.profiles.get(uid).filter(|profile| profile.enabled)?;
    if profile.is_of_file() {
        return Some(Principal::user_of(Arc::new(profile.last_seen()), state));
    }
    let is_same = |user: &&Arc<User>| user.enabled && user.realm.names().0 == profile.realm;
    let user = state.user(&profile.user).filter(is_same)?;
    Some(Principal::user_of(Arc::clone(user), state))
}
