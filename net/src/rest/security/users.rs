//! `_security/user`: users of the native realm.

use std::sync::Arc;

use authz::command::{Outcome, Withdrawal};
use authz::password::PasswordHash;
use authz::record::builtin;
use authz::record::user::{Realm, User};
use authz::{Command, Need, Secret, State};
use engine::{Error, Result};
use env::Env;
use json::{Value, json};

use super::body::{Body, check_name};
use super::{allowed, desk, named, names, query, still_allowed, told, value};
use crate::call::Call;
use crate::reply::Reply;

/// What it takes to change the password of somebody else.
const CHANGE_PASSWORD: &str = "cluster:admin/xpack/security/user/change_password";

/// `PUT|POST /_security/user/{username}`.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let name = call.segment("username");
    check_name("User", name)?;
    let body = call.required_map().await?;
    let known = [
        "username",
        "password",
        "password_hash",
        "roles",
        "full_name",
        "email",
        "metadata",
        "enabled",
    ];
    let body = Body::new(&body, "add user request", &known)?;
    if body.text("username")?.is_some_and(|other| other != name) {
        return Err(Error::illegal_argument(
            "the username in the body must equal the one in the path",
        ));
    }
    let hash = given_hash(call, &body).await?;
    still_allowed(call, call.route.privilege).await?;
    let metadata = body.object("metadata")?.cloned().unwrap_or_default();
    if metadata.keys().any(|key| key.starts_with('_')) {
        return Err(Error::validation(&["metadata keys may not start with [_]"]));
    }
    let state = desk.state();
    let before = state.user(name);
    if before.is_some_and(|user| user.is_reserved()) || builtin::is_user(name) {
        return Err(Error::validation(&[format!(
            "user [{name}] is reserved and only the password can be changed"
        )]));
    }
    let roles = match (body.texts("roles")?, before) {
        (Some(roles), _) => roles,
        (None, _) => return Err(Error::validation(&["roles are missing"])),
    };
    if hash.is_none() && before.is_none() {
        let reason = "password must be specified unless you are updating an existing user";
        let mut error = Error::validation(&[reason]);
        error.kind = "validation_exception".into();
        return Err(error);
    }
    let user = User {
        name: name.to_owned(),
        password: hash.clone().unwrap_or_else(PasswordHash::nobody),
        roles,
        full_name: body.text("full_name")?.map(str::to_owned),
        email: body.text("email")?.map(str::to_owned),
        metadata,
        realm: Realm::Native,
        enabled: body.flag("enabled")?.unwrap_or(true),
        uid: 0,
        password_version: 0,
    };
    let is_own = before.is_some_and(|user| desk.principal.user().is(user));
    let (withdraws, by) = (taken_back(is_own), desk.principal.proof());
    let command = Command::PutUser { user, keep_password: hash.is_none(), withdraws, by };
    let outcome = desk.ask(call, command).await.map_err(told)?;
    Ok(value(200, &json!({"created": (outcome == Outcome::Created)})))
}

/// The hash of the password in a body; hashing runs on a worker.
async fn given_hash<E: Env>(call: &Call<'_, E>, body: &Body<'_>) -> Result<Option<PasswordHash>> {
    match (body.text("password")?, body.text("password_hash")?) {
        (Some(_), Some(_)) => {
            Err(Error::validation(&["password_hash and password cannot both be specified"]))
        }
        (None, None) => Ok(None),
        (None, Some(hash)) => PasswordHash::brought(hash).map(Some).ok_or_else(|| {
            Error::illegal_argument(
                "The provided password hash is not a hash or it could not be resolved to a \
                 supported hash algorithm. The supported password hash algorithms are [argon2id, bcrypt, \
                 pbkdf2, pbkdf2_stretch], with no more work than others can wait for: bcrypt of cost 4 to 10, \
                 argon2id of 96 MiB times passes, pbkdf2 of 100000 rounds",
            )
        }),
        (Some(password), None) => {
            let password = Secret::new(password.to_owned());
            authz::store::check_length(&password).map_err(|error| short(&error))?;
            authz::store::hash(call.core.env(), password).await.map(Some).map_err(told)
        }
    }
}

fn short(error: &authz::Error) -> Error {
    Error::validation(&[error.to_string()])
}

/// `GET /_security/user[/{username}]`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed(call)?.state();
    let wanted = names(call, "username");
    let with_profile = call.params.flag("with_profile_uid", false)?;
    let found: Vec<&Arc<User>> = match wanted.is_empty() {
        true => state.users.values().collect(),
        false => wanted.iter().filter_map(|name| state.user(name)).collect(),
    };
    let shown = found.into_iter().map(|user| {
        let show = || show_with(user, &state, with_profile);
        (user.name.as_str(), show)
    });
    named(call, "users", wanted.is_empty(), shown).await
}

/// The id of the profile of the user of this name whom this realm knows, where there is one.
pub(super) fn profile_of(state: &authz::State, user: &str, realm: &str) -> Option<String> {
    state.profile_of(user, realm).map(|profile| profile.uid.clone())
}

fn show_with(user: &User, state: &authz::State, with_profile: bool) -> Value {
    let mut shown = show(user);
    if let (true, Some(object)) = (with_profile, shown.as_object_mut())
        && let Some(uid) = profile_of(state, &user.name, user.realm.names().0)
    {
        object.insert("profile_uid", uid);
    }
    shown
}

fn show(user: &User) -> Value {
    json!({
        "username": (user.name.as_str()),
        "roles": (user.roles.clone()),
        "full_name": (user.full_name.clone()),
        "email": (user.email.clone()),
        "metadata": (Value::Object(user.metadata.clone())),
        "enabled": (user.enabled),
    })
}

/// `DELETE /_security/user/{username}`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let name = call.segment("username");
    if builtin::is_user(name) {
        return Err(Error::illegal_argument(format!(
            "user [{name}] is reserved and cannot be deleted"
        )));
    }
    let command = Command::DeleteUser { name: name.to_owned() };
    let found = desk.ask(call, command).await.map_err(told)? == Outcome::Changed;
    Ok(value(if found { 200 } else { 404 }, &json!({"found": found})))
}

/// `PUT|POST /_security/user/{username}/_enable` and `…/_disable`.
pub(super) async fn enable<E: Env>(call: &Call<'_, E>, enabled: bool) -> Result<Reply> {
    let desk = allowed(call)?;
    let name = call.segment("username");
    // By the name alone, as Elasticsearch: this only refuses.
    if name == desk.principal.name() {
        return Err(Error::illegal_argument(
            "users may not update the enabled status of their own account",
        ));
    }
    if builtin::is_user(name) {
        return Err(Error::illegal_argument(format!(
            "user [{name}] is reserved and only the password can be changed"
        )));
    }
    let command = Command::EnableUser { name: name.to_owned(), enabled };
    match desk.ask(call, command).await {
        Ok(_) => Ok(Reply::json(200, b"{}".to_vec())),
        Err(authz::Error::UnknownUser { .. }) => {
            let word = if enabled { "enabled" } else { "disabled" };
            let mut error = Error::validation(&[format!("only existing users can be {word}")]);
            error.kind = "validation_exception".into();
            Err(error)
        }
        Err(error) => Err(told(error)),
    }
}

/// `PUT|POST /_security/user/_password`, `/_security/user/{username}/_password`.
pub(super) async fn change_password<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    let name = call.path.get("username").unwrap_or(desk.principal.name());
    let state = desk.state();
    // A user of the file is no stored one of the same name, and has no password that could be changed here.
    let is_own = state.user(name).is_some_and(|user| desk.principal.user().is(user));
    // Everybody may change the own password; by name and password, not by a token of it, nor by a key that acts in
    // its name: the change would outlive both.
    let came = desk.principal.acting().unwrap_or(desk.principal);
    let needs_right = !is_own || !matches!(came.via(), authz::Via::Realm);
    if needs_right {
        call.gate.cluster(CHANGE_PASSWORD)?;
    }
    let body = call.required_map().await?;
    if let Some(unknown) = body
        .as_object()
        .and_then(|object| object.keys().find(|key| !matches!(*key, "password" | "password_hash")))
    {
        return Err(Error::new(
            400,
            "x_content_parse_exception",
            format!("unexpected field [{unknown}]"),
        ));
    }
    let body = Body::new(&body, "change password request", &["password", "password_hash"])?;
    let Some(password) = given_hash(call, &body).await? else {
        return Err(Error::validation(&["password is missing"]));
    };
    if needs_right {
        still_allowed(call, CHANGE_PASSWORD).await?;
    }
    let user = name.to_owned();
    let (withdraws, by) = (taken_back(is_own), desk.principal.proof());
    call.told.borrow_mut().fact("target_user", name);
    let command =
        Command::SetPassword { user, password, instead_of: None, keep: None, withdraws, by };
    let need = needs_right.then_some(Need::Action(CHANGE_PASSWORD));
    match desk.ask_for(call, need, command).await {
        Ok(_) => Ok(Reply::json(200, b"{}".to_vec())),
        Err(authz::Error::UnknownUser { .. }) => {
            let mut told = Error::validation(&["user must exist in order to change password"]);
            told.status = 404;
            Err(told)
        }
        // Somebody gave another one while this one was hashed: it came with what is an old password by now.
        Err(authz::Error::Lapsed) => {
            let uri = String::from_utf8_lossy(call.head.target());
            let caller = desk.principal.acting().unwrap_or(desk.principal);
            let wrong = authz::AuthError::Wrong { user: caller.name().to_owned() };
            let reason = format!("{wrong} for REST request [{uri}]");
            Err(Error::new(401, "security_exception", reason))
        }
        Err(error) => Err(told(error)),
    }
}

/// Where somebody else's hand gives a user another password, whoever had the old one keeps nothing.
fn taken_back(is_own: bool) -> Option<Withdrawal> {
    (!is_own).then_some(Withdrawal::All)
}

/// `GET|POST /_security/_query/user`.
pub(super) async fn query<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed(call)?.state();
    const FIELDS: query::Fields = query::Fields(&[
        ("username", query::Kind::Word),
        ("roles", query::Kind::Word),
        ("full_name", query::Kind::Text),
        ("email", query::Kind::Text),
        ("enabled", query::Kind::Truth),
    ]);
    let with_profile = call.params.flag("with_profile_uid", false)?;
    let users: Vec<Arc<User>> =
        state.users.values().filter(|user| !user.is_reserved()).cloned().collect();
    query::answer(call, "users", FIELDS, (Queried { state, with_profile }, users)).await
}

/// How users are looked at and shown.
struct Queried {
    state: Arc<State>,
    with_profile: bool,
}

impl query::Records for Queried {
    type One = Arc<User>;

    fn id<'r>(&self, user: &'r Arc<User>) -> &'r str {
        &user.name
    }

    fn data(&self, user: &Arc<User>) -> Value {
        show(user)
    }

    fn shown(&self, user: &Arc<User>) -> Value {
        show_with(user, &self.state, self.with_profile)
    }
}
