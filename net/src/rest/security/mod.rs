//! `_security`: who am I, users, roles, keys, tokens.
//!
//! Each handler reads its body, asks the gate for the action under Elasticsearch's name, and hands a
//! finished command to authz. What every caller may do to itself (see who it is, change its password,
//! look after its own keys) is said where it is done.

mod application;
mod asked;
mod beside;
mod body;
mod descriptor;
mod enroll;
mod has;
mod key_select;
mod keys;
mod listing;
mod privileges;
mod profiles;
mod query;
mod roles;
mod service;
mod tokens;
mod users;

pub use enroll::NAME as ENROLL_KEY;

use authz::{Command, Keeper, Need, Outcome, Principal, Right, State};
use engine::{Error, Result};
use env::{Env, Random};
use json::{Object, Value, Writer, json};
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::admit::{self, Caller, Security};
use crate::audit;
use crate::call::Call;
use crate::oauth::fail::unkept;
use crate::reply::Reply;
use crate::rest::long_answer::Growing;

/// What answers a route of this family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in Elasticsearch's specification")]
pub enum Op {
    Authenticate,
    ChangePassword,
    PutUser,
    GetUser,
    DeleteUser,
    EnableUser,
    DisableUser,
    QueryUser,
    PutRole,
    GetRole,
    DeleteRole,
    BulkPutRole,
    BulkDeleteRole,
    QueryRole,
    PutRoleMapping,
    GetRoleMapping,
    DeleteRoleMapping,
    PutPrivileges,
    GetPrivileges,
    DeletePrivileges,
    BuiltinPrivileges,
    HasPrivileges,
    UserPrivileges,
    CreateApiKey,
    GrantApiKey,
    GetApiKey,
    QueryApiKeys,
    UpdateApiKey,
    BulkUpdateApiKeys,
    InvalidateApiKey,
    CreateCrossClusterApiKey,
    UpdateCrossClusterApiKey,
    GetToken,
    InvalidateToken,
    GetServiceAccounts,
    GetServiceCredentials,
    CreateServiceToken,
    DeleteServiceToken,
    ClearCache,
    EnrollNode,
    EnrollKibana,
    ActivateProfile,
    GetProfile,
    UpdateProfile,
    EnableProfile,
    DisableProfile,
    SuggestProfiles,
    ProfileHasPrivileges,
}

/// Answers a call of this family; who is who, keys and tokens are kept by no cache.
pub(super) async fn answer<E: Env>(op: Op, call: &Call<'_, E>) -> Result<Reply> {
    carry_out(op, call).await.map(unkept)
}

async fn carry_out<E: Env>(op: Op, call: &Call<'_, E>) -> Result<Reply> {
    // What it says is true of any change here; what it cannot say is refused as everywhere.
    super::document::refresh(call)?;
    if audit::changed(op).is_some() {
        tell_target(op, call);
        // Before anything is done for it that costs something. The line of what does begin stands before it in any case.
        if !audit::is_ready(call.security).await {
            return Err(audit::refusal());
        }
    }
    match op {
        Op::Authenticate => has::authenticate(call),
        Op::ChangePassword => users::change_password(call).await,
        Op::PutUser => users::put(call).await,
        Op::GetUser => users::get(call).await,
        Op::DeleteUser => users::delete(call).await,
        Op::EnableUser => users::enable(call, true).await,
        Op::DisableUser => users::enable(call, false).await,
        Op::QueryUser => users::query(call).await,
        Op::PutRole => roles::put(call).await,
        Op::GetRole => roles::get(call).await,
        Op::DeleteRole => roles::delete(call).await,
        Op::BulkPutRole => roles::bulk_put(call).await,
        Op::BulkDeleteRole => roles::bulk_delete(call).await,
        Op::QueryRole => roles::query(call).await,
        Op::PutRoleMapping => roles::put_mapping(call).await,
        Op::GetRoleMapping => roles::get_mapping(call).await,
        Op::DeleteRoleMapping => roles::delete_mapping(call).await,
        Op::PutPrivileges => privileges::put(call).await,
        Op::GetPrivileges => privileges::get(call).await,
        Op::DeletePrivileges => privileges::delete(call).await,
        Op::BuiltinPrivileges => privileges::builtin(call),
        Op::HasPrivileges => has::has_privileges(call).await,
        Op::UserPrivileges => has::privileges(call),
        Op::CreateApiKey => keys::create(call).await,
        Op::GrantApiKey => keys::grant(call).await,
        Op::GetApiKey => key_select::get(call).await,
        Op::QueryApiKeys => key_select::query(call).await,
        Op::UpdateApiKey => keys::update(call).await,
        Op::BulkUpdateApiKeys => keys::bulk_update(call).await,
        Op::InvalidateApiKey => key_select::invalidate(call).await,
        Op::CreateCrossClusterApiKey => keys::create_cross(call).await,
        Op::UpdateCrossClusterApiKey => keys::update_cross(call).await,
        Op::GetToken => tokens::create(call).await,
        Op::InvalidateToken => tokens::invalidate(call).await,
        Op::GetServiceAccounts => service::accounts(call),
        Op::GetServiceCredentials => service::credentials(call),
        Op::CreateServiceToken => service::create(call).await,
        Op::DeleteServiceToken => service::delete(call).await,
        Op::ClearCache => clear_cache(call),
        Op::EnrollNode => enroll::node(call).await,
        Op::EnrollKibana => enroll::kibana(call).await,
        Op::ActivateProfile => profiles::activate(call).await,
        Op::GetProfile => profiles::get(call).await,
        Op::UpdateProfile => profiles::update(call).await,
        Op::EnableProfile => profiles::enable(call, true).await,
        Op::DisableProfile => profiles::enable(call, false).await,
        Op::SuggestProfiles => profiles::suggest(call).await,
        Op::ProfileHasPrivileges => profiles::has_privileges(call).await,
    }
}

/// Tells the log what a change is of, where its path says so: also of one that is refused before it is read.
fn tell_target<E: Env>(op: Op, call: &Call<'_, E>) {
    let (fact, parts): (_, &[&str]) = match op {
        Op::PutUser | Op::DeleteUser | Op::EnableUser | Op::DisableUser | Op::ChangePassword => {
            ("target_user", &["username"])
        }
        Op::PutRole | Op::DeleteRole => ("target_role", &["name"]),
        Op::PutRoleMapping | Op::DeleteRoleMapping => ("target_role_mapping", &["name"]),
        Op::DeletePrivileges => ("target_privilege", &["application", "name"]),
        Op::UpdateApiKey | Op::UpdateCrossClusterApiKey => ("target_key", &["id"]),
        // Of one that gets its name here, that is told once it has one.
        Op::CreateServiceToken | Op::DeleteServiceToken => {
            ("target_token", &["namespace", "service", "name"])
        }
        _ => return,
    };
    let names: Option<Vec<&str>> = parts.iter().map(|part| call.path.get(part)).collect();
    if let Some(names) = names {
        call.told.borrow_mut().fact(fact, names.join("/"));
    }
}

/// Who calls, and who judges callers.
struct Desk<'a, E: Env> {
    principal: &'a Principal,
    security: &'a Security<E>,
}

impl<E: Env> Desk<'_, E> {
    fn keeper(&self) -> &Keeper {
        &self.security.keeper
    }

    fn state(&self) -> Arc<State> {
        self.keeper().state()
    }

    /// Has a command carried out, if the caller still holds the right that its route takes where the state is kept,
    /// right before it. In strict mode it has a line in the audit log by then.
    async fn ask(&self, call: &Call<'_, E>, command: Command) -> authz::Result<Outcome> {
        self.ask_for(call, Some(Need::Action(call.route.privilege)), command).await
    }

    /// The same with another right; none of what everybody may do to itself.
    async fn ask_for(
        &self,
        call: &Call<'_, E>,
        need: Option<Need>,
        command: Command,
    ) -> authz::Result<Outcome> {
        let right = need.map(|need| Right {
            applications: command.applications(),
            ..Right::new(self.principal.clone(), need, now(call))
        });
        self.ask_by(call, right, command).await
    }

    /// The same with all that is to be judged there.
    async fn ask_by(
        &self,
        call: &Call<'_, E>,
        right: Option<Right>,
        command: Command,
    ) -> authz::Result<Outcome> {
        audit::begin(call).await?;
        let Some(right) = right else { return self.keeper().ask(command).await };
        self.keeper().ask_by_right(command, Right { now_ms: now(call), ..right }).await
    }
}

/// The desk of a call; without security there is none.
fn desk<'a, E: Env>(call: &'a Call<'_, E>) -> Result<Desk<'a, E>> {
    match (call.caller, call.security) {
        (Caller::Known(known), Some(security)) => {
            Ok(Desk { principal: &known.principal, security })
        }
        _ => Err(off()),
    }
}

/// The desk of a call that the gate lets do what its route's privilege says.
fn allowed<'a, E: Env>(call: &'a Call<'_, E>) -> Result<Desk<'a, E>> {
    let desk = desk(call)?;
    call.gate.cluster(call.route.privilege)?;
    Ok(desk)
}

/// As [`allowed`], of a call that is about these applications.
fn allowed_for<'a, E: Env>(call: &'a Call<'_, E>, applications: &[&str]) -> Result<Desk<'a, E>> {
    let desk = desk(call)?;
    call.gate.applications(call.route.privilege, applications)?;
    Ok(desk)
}

/// May the caller still, once what takes long is done? A password hashes for longer than it takes to end a right.
/// Where the command is carried out both is judged once more ([`Desk::ask`]).
async fn still_allowed<E: Env>(call: &Call<'_, E>, privilege: &'static str) -> Result<()> {
    let (caller, come) = (call.caller.clone(), (call.peer, now(call)));
    let again = admit::again(call.security, caller, call.head, come, call.trace).await;
    let caller = again.map_err(|_| told(authz::Error::Lapsed))?;
    caller.gate(call.head, call.core, call.security, Vec::new()).cluster(privilege)
}

/// The answer where security is off: there is no such thing.
fn off() -> Error {
    Error::illegal_argument("security is not enabled on this node")
}

/// A failure of authz, as the store tells it.
fn told(error: authz::Error) -> Error {
    match error {
        authz::Error::UnknownUser { name } => {
            Error::validation(&[format!("user [{name}] does not exist")])
        }
        authz::Error::Refused { reason } => Error::illegal_argument(reason),
        heavy @ authz::Error::Heavy { .. } => Error::illegal_argument(heavy.to_string()),
        authz::Error::NoMemory { what, bytes, bytes_max } => {
            Error::no_memory(what, bytes, bytes_max)
        }
        authz::Error::Denied(denied) => admit::denied(&denied),
        authz::Error::Busy => Error::rejected("too many passwords wait to be hashed"),
        authz::Error::Lapsed => {
            keys::not_let_in(&authz::AuthError::Unknown { detail: None, bearer: false })
        }
        full @ authz::Error::Full { .. } => Error::rejected(full.brief()),
        other => Error::new(503, "status_exception", other.brief()),
    }
}

/// Milliseconds since 1970.
fn now<E: Env>(call: &Call<'_, E>) -> u64 {
    u64::try_from(call.now_ms()).unwrap_or_default()
}

/// Random bytes in the alphabet of URLs.
fn random_text<E: Env, const N: usize>(call: &Call<'_, E>) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(random::<E, N>(call))
}

fn random<E: Env, const N: usize>(call: &Call<'_, E>) -> [u8; N] {
    let mut bytes = [0; N];
    call.core.env().random().fill(&mut bytes);
    bytes
}

fn value(status: u16, value: &Value) -> Reply {
    Reply::json(status, json::to_vec(value))
}

/// Named things as members of an object, of which each is made by itself, and memory taken for it before the answer
/// grows. 404 where some were asked for by name and none is there.
///
/// # Errors
/// 429 where there is too little memory.
async fn named<'n, E: Env, S: FnOnce() -> Value>(
    call: &Call<'_, E>,
    what: &'static str,
    is_all: bool,
    found: impl Iterator<Item = (&'n str, S)>,
) -> Result<Reply> {
    let mut growing = Growing::new(call, what);
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    let mut seen = BTreeSet::new();
    writer.begin_object();
    for (name, show) in found {
        if seen.insert(name) {
            let shown = show();
            growing.more_at(seen.len(), &mut writer, name.len() + shown.held_bytes()).await?;
            writer.field(name, &shown);
        }
    }
    writer.end_object();
    let status = if seen.is_empty() && !is_all { 404 } else { 200 };
    Ok(growing.end(status, body))
}

/// Names in a part of the path, or in the query of the same name, apart at commas.
fn names<'a, E: Env>(call: &'a Call<'_, E>, part: &str) -> Vec<&'a str> {
    let text = call.path.get(part).or_else(|| call.params.text(part)).unwrap_or_default();
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// Nothing is cached beyond a change of what it came from, so there is nothing to clear.
fn clear_cache<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    allowed(call)?;
    Ok(value(200, &nodes(call)))
}

/// The answer of this one node.
fn nodes<E: Env>(call: &Call<'_, E>) -> Value {
    let info = &call.core.shared().config.info;
    let node: Object =
        [(info.id.as_str(), json!({"name": (info.name.as_str())}))].into_iter().collect();
    json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": (info.cluster_name.as_str()),
        "nodes": (Value::Object(node)),
    })
}
