//! `/_oauth/…`: clients and grants for administrators and scripts, with store credentials that hold
//! `manage_oauth`. Errors have the store's shape.

use std::sync::Arc;

use authz::oauth::details::INDEX_ACCESS;
use authz::pages::apps::{Fields, Refused};
use authz::record::client::{ApplicationType, Client, Profile, Status};
use authz::record::grant::{Grant, GrantKind};
use authz::{Command, Principal};
use engine::{Error, Result};
use env::Env;
use http::Method;
use json::{Value, Writer};

use super::form::Form;
use super::profile::Callbacks;
use super::token::{CLIENT_CREDENTIALS, GRANT_TYPES};
use super::visit::{MANAGE, Visit};
use super::{account_of, apps, profile, register, review};
use crate::admit::{self, Caller};
use crate::fail::{self, Trace};
use crate::reply::Reply;

/// Answers a request; `path` is what follows `/_oauth`, cut and decoded.
pub async fn answer<E: Env>(visit: &Visit<'_, E>, path: &[String]) -> Reply {
    let caller = match admit::caller(Some(visit.security), visit.head, visit.peer, Trace::No).await
    {
        Ok(caller) => caller,
        Err(reply) => return reply,
    };
    visit.is_admitted.set(true);
    let by = match &caller {
        Caller::Known(known) => known.principal.clone(),
        Caller::Anyone => return fail::no_handler("/_oauth", visit.head.method_text()),
    };
    let name = by.name().to_owned();
    let gate = caller.gate(visit.head);
    if let Err(error) = gate.cluster(MANAGE) {
        return caller.challenged(fail::reply(&error, Trace::No), Some(&error));
    }
    // Whose grant it was is known before it goes.
    let subject = Subject::of(visit, path);
    let made = apps::client_id(visit);
    let answered = route(visit, path, &made, &by).await;
    if let Some(event) = event(visit.head.method(), path) {
        let (outcome, reason, made) = match &answered {
            Ok(reply) if reply.status < 400 => ("ok", "", made.as_str()),
            Ok(_) => ("failed", "", ""),
            Err(error) => ("failed", error.reason.as_str(), ""),
        };
        let client = if event == "client_registered" { made } else { &subject.client };
        // What was approved, as it is now; a client that is made here is approved by that.
        let approved = known(visit, client).ok().filter(|_| {
            outcome == "ok" && matches!(event, "client_registered" | "client_approved")
        });
        let lists = approved.as_ref().map(|client| review::approved_of(&client.profile));
        let facts = [
            ("reason", reason),
            ("user", &name),
            ("client", client),
            ("grant", &subject.grant),
            ("owner", &subject.owner),
        ];
        visit.note_lists(event, outcome, &facts, &lists.unwrap_or_default());
    }
    match answered {
        Ok(reply) => reply.field("Cache-Control", "no-store").field("Pragma", "no-cache"),
        Err(error) => fail::reply(&error, Trace::No),
    }
}

/// What a call is about: for the audit log.
#[derive(Default)]
struct Subject {
    client: String,
    grant: String,
    owner: String,
}

impl Subject {
    fn of<E: Env>(visit: &Visit<'_, E>, path: &[String]) -> Self {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["client", id, ..] => {
                let known = known(visit, id).ok();
                let client = known.and_then(|client| client.client_id.clone());
                Self { client: client.unwrap_or_else(|| (*id).to_owned()), ..Self::default() }
            }
            ["grant", id] => {
                let state = visit.state();
                let known = visit.keys().grant_named(id).and_then(|id| state.grant(id).cloned());
                Self {
                    client: known
                        .as_ref()
                        .and_then(|grant| grant.client.clone())
                        .unwrap_or_default(),
                    grant: (*id).to_owned(),
                    owner: known.map(|grant| grant.user.clone()).unwrap_or_default(),
                }
            }
            _ => Self::default(),
        }
    }
}

/// What a call is in the audit log; looking is nothing.
fn event(method: Method, path: &[String]) -> Option<&'static str> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    Some(match (method, path.as_slice()) {
        (Method::Post, ["client"]) => "client_registered",
        (Method::Delete, ["client", _]) => "client_deleted",
        (Method::Post, ["client", _, "_approve"]) => "client_approved",
        (Method::Post, ["client", _, "_reject"]) => "client_rejected",
        (Method::Post, ["client", _, "_suspend"]) => "client_suspended",
        (Method::Post, ["client", _, "_rotate_secret"]) => "client_secret_rotated",
        (Method::Delete, ["grant", _]) => "consent_revoked",
        (Method::Post, ["keys", "_rotate"]) => "key_rotated",
        _ => return None,
    })
}

/// Carries out a call of `by`; a client that it makes is called `made`.
async fn route<E: Env>(
    visit: &Visit<'_, E>,
    path: &[String],
    made: &str,
    by: &Principal,
) -> Result<Reply> {
    let method = visit.head.method();
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match (method, path.as_slice()) {
        (Method::Post, ["client"]) => create(visit, made, by).await,
        (Method::Get, ["client"]) => Ok(list(visit)),
        (Method::Get, ["client", id]) => one(visit, id),
        (Method::Delete, ["client", id]) => delete(visit, id).await,
        (Method::Post, ["client", id, "_rotate_secret"]) => rotate(visit, id, by).await,
        (Method::Post, ["client", id, verb @ ("_approve" | "_reject" | "_suspend")]) => {
            decide(visit, id, verb, by).await
        }
        (Method::Get, ["grant"]) => grants(visit),
        (Method::Delete, ["grant", id]) => revoke(visit, id).await,
        (Method::Post, ["keys", "_rotate"]) => {
            visit.ask(Command::RotateKeys {}).await.map_err(down)?;
            Ok(Reply::json(200, br#"{"acknowledged":true}"#.to_vec()))
        }
        _ => {
            let allowed = match path.as_slice() {
                ["client"] => "GET, POST",
                ["client", _] => "DELETE, GET",
                ["client", _, "_approve" | "_reject" | "_suspend" | "_rotate_secret"]
                | ["keys", "_rotate"] => "POST",
                ["grant"] => "GET",
                ["grant", _] => "DELETE",
                _ => "",
            };
            let uri = String::from_utf8_lossy(visit.head.target()).into_owned();
            if allowed.is_empty() {
                return Ok(fail::no_handler(&uri, visit.head.method_text()));
            }
            let sentence = format!(
                "Incorrect HTTP method for uri [{uri}] and method [{}], allowed: [{allowed}]",
                visit.head.method_text()
            );
            Ok(fail::plain(405, &sentence).field("Allow", allowed))
        }
    }
}

/// State refuses, or cannot be written.
fn down(error: authz::Error) -> Error {
    match error {
        authz::Error::Changed => Error::new(
            409,
            "version_conflict_engine_exception",
            "the client is not at the version that this is about: look at it again",
        ),
        other => Error::new(503, "status_exception", other.to_string()),
    }
}

fn missing(what: &str, id: &str) -> Error {
    Error::new(404, "resource_not_found_exception", format!("{what} [{id}] does not exist"))
}

/// The client of this id or reference.
fn known<E: Env>(visit: &Visit<'_, E>, id: &str) -> Result<Arc<Client>> {
    let state = visit.state();
    let client = state.client(id).or_else(|| state.clients.get(id));
    client.cloned().ok_or_else(|| missing("client", id))
}

async fn create<E: Env>(visit: &Visit<'_, E>, id: &str, by: &Principal) -> Result<Reply> {
    let value = json::parse(visit.body)
        .ok()
        .filter(|value| value.as_object().is_some())
        .ok_or_else(|| Error::parse("request body is required, as a JSON object"))?;
    let mut client = read(visit, &value)?;
    account_of::check_client(by, (&visit.state(), &visit.core.state()), &client)?;
    client.client_id = Some(id.to_owned());
    let secret = client.profile.confidential.then(|| {
        let (shown, kept) = apps::secret(visit);
        client.secrets = vec![kept];
        shown
    });
    visit.ask(Command::PutClient { client, version: 0 }).await.map_err(down)?;
    Ok(told(201, &*known(visit, id)?, secret.as_deref()))
}

/// Fields of a client, as RFC 7591 names them, and ours.
const FIELDS: &[&str] = &[
    "allow_insecure_redirect",
    "application_type",
    "authorization_details_types",
    "client_name",
    "client_uri",
    "contacts",
    "default_scope",
    "description",
    "grant_types",
    "owner",
    "policy_uri",
    "redirect_uris",
    "require_pkce",
    "require_pushed_authorization_requests",
    "response_types",
    "scope",
    "scope_reason",
    "service_account",
    "software_id",
    "software_version",
    "status",
    "token_endpoint_auth_method",
    "tos_uri",
    "web_origins",
    "logo_uri",
];

/// Reads a client.
fn read<E: Env>(visit: &Visit<'_, E>, value: &Value) -> Result<Client> {
    let bad = |field: &str, why: &str| Error::illegal_argument(format!("[{field}] {why}"));
    if let Some(unknown) =
        value.as_object().and_then(|object| object.keys().find(|key| !FIELDS.contains(key)))
    {
        return Err(bad(unknown, "is not known"));
    }
    let text = |field: &'static str| match value.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(bad(field, "must be a text")),
    };
    let truth = |field: &'static str| match value.get(field) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(truth)) => Ok(*truth),
        Some(_) => Err(bad(field, "must be true or false")),
    };
    let texts = |field: &'static str| -> Result<Option<Vec<String>>> {
        match value.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(list)) => list
                .iter()
                .map(|one| one.as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
                .map(Some)
                .ok_or_else(|| bad(field, "must be a list of texts")),
            Some(_) => Err(bad(field, "must be a list of texts")),
        }
    };
    let application_type = text("application_type")?;
    let auth_method = match text("token_endpoint_auth_method")? {
        None => "client_secret_basic",
        Some(method @ ("client_secret_basic" | "client_secret_post" | "none")) => method,
        Some(_) => {
            return Err(bad(
                "token_endpoint_auth_method",
                "must be client_secret_basic, client_secret_post or none",
            ));
        }
    };
    let grant_types = texts("grant_types")?;
    let grants_code = grant_types
        .as_ref()
        .is_none_or(|kinds| kinds.iter().any(|kind| kind == "authorization_code"));
    if let Some(types) = texts("response_types")?
        && !register::is_offered(&types, grants_code)
    {
        return Err(bad("response_types", "must be [code] where the code grant is used"));
    }
    let redirect_uris = texts("redirect_uris")?.unwrap_or_default();
    let grants_itself = grant_types.iter().flatten().any(|kind| kind == CLIENT_CREDENTIALS);
    if grants_itself && auth_method == "none" {
        return Err(bad(
            "grant_types",
            "has client_credentials, which need a client that keeps a secret",
        ));
    }
    let usual = if grants_itself { ApplicationType::Service } else { ApplicationType::Web };
    let application_type = application_type.unwrap_or(usual.as_str());
    if grants_itself && application_type != ApplicationType::Service.as_str() {
        return Err(bad(
            "grant_types",
            "has client_credentials, which are for the [application_type] service alone",
        ));
    }
    let fields = Fields {
        application_type: application_type.to_owned(),
        client_name: text("client_name")?.unwrap_or_default().to_owned(),
        redirect_uris: redirect_uris.join("\n"),
        client_uri: text("client_uri")?.unwrap_or_default().to_owned(),
        description: text("description")?.unwrap_or_default().to_owned(),
        policy_uri: text("policy_uri")?.unwrap_or_default().to_owned(),
        tos_uri: text("tos_uri")?.unwrap_or_default().to_owned(),
        contacts: texts("contacts")?.unwrap_or_default().join(" "),
        scope: text("scope")?.unwrap_or_default().to_owned(),
        scope_reason: text("scope_reason")?.unwrap_or_default().to_owned(),
        public: auth_method == "none",
        require_pkce: truth("require_pkce")?,
    };
    let insecure = truth("allow_insecure_redirect")?;
    let callbacks = if grants_code { Callbacks::Wanted } else { Callbacks::Unused };
    let checked = check(visit, &fields, callbacks, insecure)?;
    let web_origins = texts("web_origins")?.unwrap_or_default();
    profile::check_origins(&web_origins).map_err(refused)?;
    let grant_types = match grant_types {
        None => apps::grant_types(&checked),
        Some(kinds) if kinds.iter().all(|kind| GRANT_TYPES.contains(&kind.as_str())) => kinds,
        Some(_) => return Err(bad("grant_types", "has one that is not offered")),
    };
    let default_scope = profile::scopes(text("default_scope")?.unwrap_or_default())
        .ok_or_else(|| bad("default_scope", "is malformed"))?;
    let ceiling = authz::oauth::scope::stored(&checked.scopes);
    if !authz::oauth::scope::stored(&default_scope).iter().all(|one| {
        *one == authz::oauth::scope::Scope::Own || ceiling.iter().any(|own| own.holds(one))
    }) {
        return Err(bad("default_scope", "must lie within [scope]"));
    }
    let status = match text("status")? {
        None | Some("approved") => Status::Approved,
        Some("pending") => Status::Pending,
        Some(_) => return Err(bad("status", "must be approved or pending")),
    };
    let owner = text("owner")?.map(str::to_owned);
    let service_account = text("service_account")?.map(str::to_owned);
    let state = visit.state();
    for (field, name) in [("owner", &owner), ("service_account", &service_account)] {
        if name.as_ref().is_some_and(|name| state.user(name).is_none()) {
            return Err(bad(field, "names a user that does not exist"));
        }
    }
    let details_types = texts("authorization_details_types")?.unwrap_or_default();
    if details_types.iter().any(|kind| kind != INDEX_ACCESS) {
        return Err(bad("authorization_details_types", "has one that is not known"));
    }
    Ok(Client {
        status,
        owner,
        auth_method: auth_method.to_owned(),
        grant_types,
        default_scope,
        allow_insecure_redirect: insecure,
        require_par: truth("require_pushed_authorization_requests")?,
        web_origins,
        details_types,
        service_account,
        ..Client::new(apps::reference(visit), checked, visit.now())
    })
}

/// The rules of the form; a client without the code grant needs no callback address, and what a
/// reviewer would set is set by whoever calls.
fn check<E: Env>(
    visit: &Visit<'_, E>,
    fields: &Fields,
    callbacks: Callbacks,
    insecure: bool,
) -> Result<Profile> {
    let origin = visit.settings.origin();
    let checked = profile::check(fields, None, &origin, callbacks).map_err(refused)?;
    if !insecure && checked.redirect_uris.iter().any(|uri| super::redirect::is_insecure(uri)) {
        return Err(Error::illegal_argument(
            "[redirect_uris] plain HTTP needs [allow_insecure_redirect]",
        ));
    }
    Ok(checked)
}

fn refused(refused: Refused) -> Error {
    // What the form calls so is told here by the way the client says who it is.
    let field = match refused.field {
        "confidential" => "token_endpoint_auth_method",
        field => field,
    };
    Error::illegal_argument(format!("[{field}] {}", refused.why))
}

fn write(writer: &mut Writer<'_>, client: &Client) {
    writer.field_str("reference", &client.reference);
    if let Some(id) = &client.client_id {
        writer.field_str("client_id", id);
    }
    writer.key("client_id_issued_at").u64(client.created / 1000);
    writer.field_str("status", client.status.as_str());
    writer.key("version").u64(client.version);
    if let Some(owner) = &client.owner {
        writer.field_str("owner", owner);
    }
    register::write(writer, client);
    writer.field_str("default_scope", &client.default_scope.join(" "));
    writer.field_bool("require_pkce", client.profile.require_pkce);
    writer.field_bool("allow_insecure_redirect", client.allow_insecure_redirect);
    writer.field_bool("unreviewed", client.unreviewed);
    if let Some(account) = &client.service_account {
        writer.field_str("service_account", account);
    }
    for (name, values) in [
        ("web_origins", &client.web_origins),
        ("authorization_details_types", &client.details_types),
    ] {
        writer.key(name).begin_array();
        for value in values {
            writer.str(value);
        }
        writer.end_array();
    }
    write_proposal(writer, client);
}

/// The change that waits for a reviewer: what would be registered.
fn write_proposal(writer: &mut Writer<'_>, client: &Client) {
    let Some(profile) = client.proposal.clone() else { return };
    let mut changed = Client { profile, ..client.clone() };
    if let Some(terms) = &client.proposal_terms {
        changed.auth_method.clone_from(&terms.auth_method);
        changed.grant_types.clone_from(&terms.grant_types);
        changed.require_par = terms.require_par;
    }
    writer.key("proposal").begin_object();
    register::write(writer, &changed);
    writer.field_bool("require_pkce", changed.profile.require_pkce).end_object();
}

fn told(status: u16, client: &Client, secret: Option<&str>) -> Reply {
    let mut body = Vec::with_capacity(1024);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    write(&mut writer, client);
    if let Some(secret) = secret {
        writer.field_str("client_secret", secret).key("client_secret_expires_at").u64(0);
    }
    writer.end_object();
    Reply::json(status, body)
}

fn list<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let state = visit.state();
    let mut body = Vec::with_capacity(4096);
    let mut writer = Writer::new(&mut body);
    writer.begin_object().key("clients").begin_array();
    for client in state.clients.values() {
        writer.begin_object();
        write(&mut writer, client);
        writer.end_object();
    }
    writer.end_array().end_object();
    Reply::json(200, body)
}

fn one<E: Env>(visit: &Visit<'_, E>, id: &str) -> Result<Reply> {
    Ok(told(200, &*known(visit, id)?, None))
}

async fn delete<E: Env>(visit: &Visit<'_, E>, id: &str) -> Result<Reply> {
    let reference = known(visit, id)?.reference.clone();
    visit.ask(Command::DeleteClient { reference }).await.map_err(down)?;
    Ok(Reply::json(200, br#"{"found":true}"#.to_vec()))
}

async fn rotate<E: Env>(visit: &Visit<'_, E>, id: &str, by: &Principal) -> Result<Reply> {
    let client = known(visit, id)?;
    if !client.profile.confidential || client.client_id.is_none() {
        return Err(Error::illegal_argument(format!("client [{id}] has no secret")));
    }
    account_of::check_client(by, (&visit.state(), &visit.core.state()), &client)?;
    let (shown, kept) = apps::secret(visit);
    let secrets = apps::with_secret(&client.secrets, kept, visit.now());
    let changed = Client { secrets, ..(*client).clone() };
    let command = Command::PutClient { client: changed, version: client.version };
    visit.ask(command).await.map_err(down)?;
    Ok(told(200, &*known(visit, id)?, Some(&shown)))
}

async fn decide<E: Env>(
    visit: &Visit<'_, E>,
    id: &str,
    verb: &str,
    by: &Principal,
) -> Result<Reply> {
    let client = known(visit, id)?;
    // What was looked at is what is decided about, or nothing is.
    let version = version_of(visit)?.unwrap_or(client.version);
    let changed = match verb {
        "_approve" => {
            // One call, one answer: what ends a suspension takes no change over that waits beside it.
            let approved = match client.status {
                Status::Suspended => Client { status: Status::Approved, ..(*client).clone() },
                _ => review::approved(visit, &client),
            };
            account_of::check_client(by, (&visit.state(), &visit.core.state()), &approved)?;
            approved
        }
        "_reject" => review::rejected(&client),
        _ if client.client_id.is_none() => {
            return Err(Error::illegal_argument(format!("client [{id}] was never approved")));
        }
        _ => Client { status: Status::Suspended, ..(*client).clone() },
    };
    visit.ask(Command::PutClient { client: changed.clone(), version }).await.map_err(down)?;
    let mut body = Vec::with_capacity(96);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    writer.field_str("client_id", changed.client_id.as_deref().unwrap_or_default());
    writer.field_str("status", changed.status.as_str());
    writer.end_object();
    Ok(Reply::json(200, body))
}

/// `?version=`: the version that a decision is about, where the caller names one.
fn version_of<E: Env>(visit: &Visit<'_, E>) -> Result<Option<u64>> {
    let form = Form::parse(visit.query)
        .map_err(|_| Error::illegal_argument("the query cannot be read"))?;
    let given = form.one("version").map_err(|_| Error::illegal_argument("[version] came twice"))?;
    given
        .map(|text| text.parse().map_err(|_| Error::illegal_argument("[version] must be a number")))
        .transpose()
}

/// `GET /_oauth/grant?username=&client_id=`: grants that still stand.
fn grants<E: Env>(visit: &Visit<'_, E>) -> Result<Reply> {
    let form = Form::parse(visit.query)
        .map_err(|_| Error::illegal_argument("the query cannot be read"))?;
    let (state, now) = (visit.state(), visit.now());
    let (user, client) = (form.first("username"), form.first("client_id"));
    let is_wanted = |grant: &Grant| {
        grant.kind != GrantKind::Service
            && grant.parent.is_none()
            && user.is_none_or(|user| grant.user == user)
            && client.is_none_or(|client| grant.client.as_deref() == Some(client))
            && now < grant.absolute_end
            && (!grant.refreshes || now < grant.idle_end)
            && state.grant(grant.id).is_some()
    };
    let mut body = Vec::with_capacity(1024);
    let mut writer = Writer::new(&mut body);
    writer.begin_object().key("grants").begin_array();
    for grant in state.grants.values().filter(|grant| is_wanted(grant)) {
        writer.begin_object();
        writer
            .field_str("id", &visit.keys().grant_name(grant.id))
            .field_str("username", &grant.user);
        writer.field_str("client_id", grant.client.as_deref().unwrap_or_default());
        writer.field_str("scope", &grant.scopes.join(" "));
        writer.key("authorization_details").value(&Value::Array(grant.details.clone()));
        writer.key("created").u64(grant.created).key("last_used");
        match grant.last_used {
            Some(at) => writer.u64(at),
            None => writer.null(),
        };
        writer.end_object();
    }
    writer.end_array().end_object();
    Ok(Reply::json(200, body))
}

async fn revoke<E: Env>(visit: &Visit<'_, E>, id: &str) -> Result<Reply> {
    let state = visit.state();
    let known = visit.keys().grant_named(id).filter(|id| state.grant(*id).is_some());
    let Some(grant) = known else { return Err(missing("grant", id)) };
    visit.ask(Command::Revoke { grants: vec![grant], consents: true }).await.map_err(down)?;
    Ok(Reply::json(200, br#"{"found":true}"#.to_vec()))
}
