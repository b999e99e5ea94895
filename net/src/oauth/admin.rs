//! `/_oauth/…`: clients and grants for administrators and scripts, with store credentials that hold
//! `manage_oauth`. Errors have the store's shape.

mod asked;
mod call;
mod decide;

use std::sync::Arc;

use authz::record::client::{Client, Status};
use authz::record::grant::{Grant, GrantKind};
use authz::{Command, Need, Principal, Right, State};
use engine::{Error, Result};
use env::Env;
use json::{Value, Writer};

use self::call::{Asked, Call, Op};
use self::decide::{Step, Verb};
use super::fail::unkept;
use super::visit::{MANAGE, Visit};
use super::{account_of, apps, ask, refusal, register, review};
use crate::admit::{self, Caller};
use crate::audit;
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
    let gate = caller.gate(visit.head, visit.core, Some(visit.security), Vec::new());
    if let Err(error) = gate.cluster(MANAGE) {
        if let Caller::Known(known) = &caller {
            refusal::denied(visit, known, &error);
        }
        return caller.challenged(fail::reply(&error, Trace::No), Some(&error));
    }
    let right = Right::new(by.clone(), Need::Action(MANAGE), visit.now());
    visit.right.get_or_init(|| right);
    let Some(call) = call::find(visit.head.method(), path) else {
        return unkept(no_call(visit, path));
    };
    // Whose grant it was is known before it goes.
    let subject = Subject::of(visit, path);
    let made = apps::client_id(visit);
    let answered = match call.event.is_none() || audit::is_ready(Some(visit.security)).await {
        true => carry_out(visit, call, path, &made, &by).await,
        false => Err(audit::refusal()),
    };
    if let Some(event) = call.event {
        let (outcome, reason, made) = match &answered {
            Ok(reply) if reply.status < 400 => ("ok", "", made.as_str()),
            Ok(_) => ("failed", "", ""),
            Err(error) => ("failed", error.reason.as_str(), ""),
        };
        let client = if event == "client_registered" { made } else { &subject.client };
        // What was approved, as it is now; a client that is made here is approved by that.
        let approved = known(visit, client).ok().filter(|_| {
            outcome == "ok"
                && matches!(event, "client_registered" | "client_approved" | "client_changed")
        });
        let lists = approved.as_ref().map(|client| review::approved_of(client));
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
        Ok(reply) => unkept(reply),
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

/// Carries out a call of `by`; a client that it makes is called `made`.
async fn carry_out<E: Env>(
    visit: &Visit<'_, E>,
    call: &'static Call,
    path: &[String],
    made: &str,
    by: &Principal,
) -> Result<Reply> {
    if call.event.is_some() && visit.is_from_elsewhere() {
        // A browser adds what it knows of the person's credentials to whatever any page sends.
        return Err(Error::new(
            403,
            "security_exception",
            "a page of another origin may not change anything here",
        ));
    }
    let asked = match Asked::read(visit, call)? {
        Ok(asked) => asked,
        Err(reply) => return Ok(reply),
    };
    let id = path.get(1).map_or("", String::as_str);
    match call.op {
        Op::Create => create(visit, made, by).await,
        Op::List => Ok(list(visit)),
        Op::Show => one(visit, id),
        Op::Delete => delete(visit, id).await,
        Op::Decide(verb) => decide(visit, id, (verb, asked.version()?), by).await,
        Op::Lend => lend(visit, id, asked.version()?, by).await,
        Op::RotateSecret => rotate(visit, id, by).await,
        Op::Grants => Ok(grants(visit, &asked)),
        Op::Revoke => revoke(visit, id).await,
        Op::RotateKeys => {
            visit.ask(Command::RotateKeys {}).await.map_err(down)?;
            Ok(Reply::json(200, br#"{"acknowledged":true}"#.to_vec()))
        }
    }
}

/// The answer to a path that no call has, or a method that it does not take.
fn no_call<E: Env>(visit: &Visit<'_, E>, path: &[String]) -> Reply {
    let uri = String::from_utf8_lossy(visit.head.target());
    let method = visit.head.method_text();
    let allowed = call::methods(path).join(", ");
    if allowed.is_empty() {
        return fail::no_handler(&uri, method);
    }
    let sentence = format!(
        "Incorrect HTTP method for uri [{uri}] and method [{method}], allowed: [{allowed}]"
    );
    fail::plain(405, &sentence).field("Allow", allowed)
}

/// State refuses, or cannot be written.
fn down(error: authz::Error) -> Error {
    match error {
        authz::Error::Changed => Error::new(
            409,
            "version_conflict_engine_exception",
            "the client is not at the version that this is about: look at it again",
        ),
        // The right, or what let the caller in, ended on the way.
        authz::Error::Denied(denied) => admit::denied(&denied),
        lost @ authz::Error::NotForAccount { .. } => {
            Error::new(403, "security_exception", lost.to_string())
        }
        authz::Error::Lapsed => Error::new(
            401,
            "security_exception",
            authz::AuthError::Unknown { detail: None, bearer: false }.to_string(),
        ),
        other => Error::new(503, "status_exception", other.brief()),
    }
}

/// A change of the client of this id was not made: it may be gone by now.
fn lost<E: Env>(visit: &Visit<'_, E>, id: &str, error: authz::Error) -> Error {
    match (error, known(visit, id)) {
        (authz::Error::Changed, Err(missing)) => missing,
        (error, _) => down(error),
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
    let mut client = asked::read(visit, &value)?;
    account_of::lends(visit, by, &client)?;
    client.client_id = Some(id.to_owned());
    let secret = client.profile.confidential.then(|| {
        let (shown, kept) = apps::secret(visit);
        client.secrets = vec![kept];
        shown
    });
    visit.ask(Command::PutClient { client, version: 0 }).await.map_err(down)?;
    Ok(told(201, &*known(visit, id)?, secret.as_deref()))
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
    if client.status == Status::Rejected {
        return Err(decide::conflict("rotate the secret of", id, &client));
    }
    account_of::lends(visit, by, &client)?;
    let (shown, secret) = apps::secret(visit);
    let (reference, now) = (client.reference.clone(), visit.now());
    let command = Command::RotateSecret { reference, secret, beside: None, now };
    visit.ask(command).await.map_err(|error| lost(visit, id, error))?;
    Ok(told(200, &*known(visit, id)?, Some(&shown)))
}

async fn decide<E: Env>(
    visit: &Visit<'_, E>,
    id: &str,
    (verb, version): (Verb, Option<u64>),
    by: &Principal,
) -> Result<Reply> {
    let account = asked::account(visit.body)?;
    let client = known(visit, id)?;
    let step = decide::step(&client, verb).ok_or_else(|| decide::refusal(id, &client, verb))?;
    let mut changed = match step {
        Step::TakeOver => review::approved(visit, &client),
        Step::Resume => Client { status: Status::Approved, ..(*client).clone() },
        Step::Refuse => review::rejected(&client),
        Step::Suspend => Client { status: Status::Suspended, ..(*client).clone() },
        Step::Stay => (*client).clone(),
    };
    match (&account, step) {
        (Some(account), Step::TakeOver) if account_of::is_service(&changed) => {
            give(&mut changed, account, &visit.state())?;
        }
        (None, Step::TakeOver)
            if account_of::is_service(&changed) && changed.service_account.is_none() =>
        {
            return Err(Error::illegal_argument(
                "[service_account] is needed: whoever approves a service names the account that it acts for",
            ));
        }
        (None, _) => {}
        (Some(_), _) => {
            return Err(Error::illegal_argument(
                "[service_account] is named where a service is approved; _service_account gives one another",
            ));
        }
    }
    if verb == Verb::Approve {
        account_of::lends(visit, by, &changed)?;
    }
    let any = version.is_none();
    // What was looked at is what is decided about, or nothing is; but whoever suspends has seen enough, and a
    // client that changes all the time must not keep it off.
    let version = version.unwrap_or(client.version);
    match step {
        Step::Suspend if any => {
            let reference = client.reference.clone();
            let done = visit.ask(Command::SuspendClient { reference }).await;
            done.map_err(|error| lost(visit, id, error))?;
        }
        Step::Stay if version != client.version => return Err(down(authz::Error::Changed)),
        Step::Stay => {}
        _ => {
            let client = changed.clone();
            let done = visit.ask(Command::PutClient { client, version }).await;
            done.map_err(|error| lost(visit, id, error))?;
            account_of::end_others(visit, &changed.reference).await.map_err(down)?;
        }
    }
    let mut body = Vec::with_capacity(96);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    writer.field_str("client_id", changed.client_id.as_deref().unwrap_or_default());
    writer.field_str("status", changed.status.as_str());
    writer.end_object();
    Ok(Reply::json(200, body))
}

/// Lends a client this account.
fn give(client: &mut Client, account: &str, state: &State) -> Result<()> {
    account_of::lend(client, account, state)
        .map_err(|_| Error::illegal_argument("[service_account] names a user that does not exist"))
}

/// `POST /_oauth/client/{id}/_service_account`: a service acts for another account from now on; what it got for
/// itself as the one before is over.
async fn lend<E: Env>(
    visit: &Visit<'_, E>,
    id: &str,
    version: Option<u64>,
    by: &Principal,
) -> Result<Reply> {
    let account = asked::account(visit.body)?
        .ok_or_else(|| Error::illegal_argument("[service_account] is needed"))?;
    let client = known(visit, id)?;
    if !account_of::is_service(&client) {
        return Err(Error::illegal_argument(
            "[service_account] is for a client whose [application_type] is service",
        ));
    }
    if client.status == Status::Rejected {
        return Err(decide::conflict("change the account of", id, &client));
    }
    let mut changed = (*client).clone();
    give(&mut changed, &account, &visit.state())?;
    account_of::lends(visit, by, &changed)?;
    let version = version.unwrap_or(client.version);
    if changed != *client {
        let done = visit.ask(Command::PutClient { client: changed, version }).await;
        done.map_err(|error| lost(visit, id, error))?;
    } else if version != client.version {
        return Err(down(authz::Error::Changed));
    }
    account_of::end_others(visit, &client.reference).await.map_err(down)?;
    Ok(told(200, &*known(visit, id)?, None))
}

/// `GET /_oauth/grant?username=&client_id=`: grants that still let somebody in.
fn grants<E: Env>(visit: &Visit<'_, E>, asked: &Asked) -> Reply {
    let (state, now) = (visit.state(), visit.now());
    let (user, client) = (asked.text("username"), asked.text("client_id"));
    let is_wanted = |grant: &Grant| {
        grant.kind != GrantKind::Service
            && grant.parent.is_none()
            && user.is_none_or(|user| grant.user == user)
            && client.is_none_or(|client| grant.client.as_deref() == Some(client))
            && grant.is_live(now)
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
        // As introspection tells it: what the client may have no more opens nothing.
        let client = grant.client.as_deref().and_then(|id| state.client(id));
        let (scopes, details) = client
            .map(|client| ask::cut_all(client, &grant.scopes, &grant.details))
            .unwrap_or_default();
        writer.field_str("scope", &scopes.join(" "));
        writer.key("authorization_details").value(&Value::Array(details));
        writer.key("created").u64(grant.created).key("last_used");
        match grant.last_used {
            Some(at) => writer.u64(at),
            None => writer.null(),
        };
        writer.end_object();
    }
    writer.end_array().end_object();
    Reply::json(200, body)
}

async fn revoke<E: Env>(visit: &Visit<'_, E>, id: &str) -> Result<Reply> {
    let state = visit.state();
    let known = visit.keys().grant_named(id).filter(|id| state.grant(*id).is_some());
    let Some(grant) = known else { return Err(missing("grant", id)) };
    visit.ask(Command::Revoke { grants: vec![grant], consents: true }).await.map_err(down)?;
    Ok(Reply::json(200, br#"{"found":true}"#.to_vec()))
}
