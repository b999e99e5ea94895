//! `/register`: clients that register by themselves (RFC 7591, 7592), where the operator lets them.
//!
//! Mode `open` takes anyone; such a client is not reviewed, so it must use PKCE, may only read, is
//! asked about every time, and wears a banner. Mode `token` wants the operator's token first.

use std::time::Duration;

use authz::Command;
use authz::form::Hash;
use authz::oauth::scope::{self, Action, Scope};
use authz::pages::language::Language;
use authz::record::client::{ApplicationType, Client, Profile, Status, Terms};
use env::Env;
use json::{Value, Writer};

use super::fail::{Fail, answer};
use super::limit::{Of, place};
use super::settings::Registration;
use super::token::{CLIENT_CREDENTIALS, DEVICE, GRANT_TYPES};
use super::visit::Visit;
use super::{account_of, apps, profile};
use crate::reply::Reply;

/// Body of a registration.
const BODY_BYTES_MAX: usize = 64 << 10;

const URIS: Fail = Fail::new("invalid_redirect_uri", "A redirect URI is missing or not allowed");

/// Those that nobody uses go after a while ([`Client::UNUSED_MS`]).
const CROWDED: Fail = Fail::new(
    "temporarily_unavailable",
    "As many applications have registered by themselves and were never used as there may be: try again \
     later, or ask an administrator to make room",
)
.status(429);

const fn metadata(description: &'static str) -> Fail {
    Fail::new("invalid_client_metadata", description)
}

/// `POST /register`.
pub async fn create<E: Env>(visit: &Visit<'_, E>) -> Reply {
    match try_create(visit).await {
        Ok(reply) => reply,
        Err(refusal) => refusal,
    }
}

async fn try_create<E: Env>(visit: &Visit<'_, E>) -> Result<Reply, Reply> {
    // Where nobody registers there is nothing to count.
    let hour = Duration::from_secs(3600);
    let limit = visit.settings.limits.register;
    let now = visit.monotonic();
    let from = place(visit.peer);
    if let Some(seconds) = visit.limiter.count(Of::Register, &from, limit, hour, now) {
        return Err(Fail::slow(seconds).reply());
    }
    let is_open = visit.settings.registration == Registration::Open;
    if !is_open {
        let wanted = visit.settings.registration_token.as_deref().unwrap_or_default();
        let given = bearer(visit).unwrap_or_default();
        if wanted.is_empty() || !authz::secret::is_equal(wanted.as_bytes(), given.as_bytes()) {
            return Err(stranger());
        }
    }
    let asked = read(visit, is_open).map_err(Fail::reply)?;
    let manage = visit.random_text();
    let mut client = Client {
        client_id: Some(apps::client_id(visit)),
        status: Status::Approved,
        auth_method: asked.auth_method,
        grant_types: asked.grant_types,
        require_par: asked.require_par,
        unreviewed: is_open,
        registration: Some(visit.hash("registration", &manage)),
        ..Client::new(apps::reference(visit), asked.profile, visit.now())
    };
    let secret = client.profile.confidential.then(|| {
        let (shown, kept) = apps::secret(visit);
        client.secrets = vec![kept];
        shown
    });
    let command = match visit.settings.limits.unused {
        room if is_open && room > 0 => Command::AddClient { client: client.clone(), room },
        _ => Command::PutClient { client: client.clone(), version: 0 },
    };
    visit.ask(command).await.map_err(|error| match error {
        authz::Error::Crowded { .. } => {
            Fail { retry_after: Some(until_room(visit)), ..CROWDED }.reply()
        }
        _ => Fail::down().reply(),
    })?;
    note(visit, "client_registered", &client);
    Ok(told(visit, 201, &client, secret.as_deref(), Some(&manage)))
}

/// Seconds until the first of those that nobody ever used goes.
fn until_room<E: Env>(visit: &Visit<'_, E>) -> u64 {
    let (state, now) = (visit.state(), visit.now());
    let unused = state.clients.values().filter(|one| one.unreviewed && one.last_used.is_none());
    let first = unused.map(|one| one.created.saturating_add(Client::UNUSED_MS)).min();
    first.unwrap_or(now).saturating_sub(now).div_ceil(1000).max(1)
}

/// What was asked, checked.
struct Registered {
    profile: Profile,
    auth_method: String,
    grant_types: Vec<String>,
    require_par: bool,
}

fn read<E: Env>(visit: &Visit<'_, E>, is_open: bool) -> Result<Registered, Fail> {
    const BODY: Fail = metadata("The body must be a JSON object of at most 64 KiB");
    if visit.body.len() > BODY_BYTES_MAX {
        return Err(BODY.status(413));
    }
    let value = json::parse(visit.body).map_err(|_| BODY)?;
    if value.as_object().is_none() {
        return Err(BODY);
    }
    of_json(visit, &value, is_open)
}

/// A field, where it is given: one that is null is left out (RFC 7592, 2.2).
fn given<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).filter(|value| !value.is_null())
}

fn of_json<E: Env>(visit: &Visit<'_, E>, value: &Value, is_open: bool) -> Result<Registered, Fail> {
    let texts = |name: &'static str, wrong: Fail| -> Result<Option<Vec<String>>, Fail> {
        let Some(list) = given(value, name) else { return Ok(None) };
        let list = list.as_array().ok_or(wrong)?;
        let texts: Option<Vec<String>> =
            list.iter().map(|one| one.as_str().map(str::to_owned)).collect();
        texts.map(Some).ok_or(wrong)
    };
    let text = |name: &'static str| -> Result<Option<&str>, Fail> {
        match given(value, name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(metadata("A field is not of the type that the standard wants")),
        }
    };
    let application_type = match text("application_type")?.unwrap_or("web") {
        "web" => ApplicationType::Web,
        "native" => ApplicationType::Native,
        _ => return Err(metadata("The application_type is web or native")),
    };
    let auth_method = text("token_endpoint_auth_method")?.unwrap_or("client_secret_basic");
    if !matches!(auth_method, "client_secret_basic" | "client_secret_post" | "none") {
        return Err(metadata("The token_endpoint_auth_method is not offered"));
    }
    let confidential = auth_method != "none";
    const GRANTS: Fail = metadata("A grant type is not offered");
    let grant_types =
        texts("grant_types", GRANTS)?.unwrap_or_else(|| vec!["authorization_code".to_owned()]);
    let offered = |kind: &String| {
        GRANT_TYPES.contains(&kind.as_str())
            && kind != CLIENT_CREDENTIALS
            && (kind != DEVICE || visit.settings.device)
    };
    if grant_types.is_empty() || !grant_types.iter().all(offered) {
        return Err(GRANTS);
    }
    let needs_uri = grant_types.iter().any(|kind| kind == "authorization_code");
    const RESPONSES: Fail = metadata("The only response type is code");
    let response_types = texts("response_types", RESPONSES)?;
    if response_types.is_some_and(|types| !is_offered(&types, needs_uri)) {
        return Err(RESPONSES);
    }
    if ["jwks", "jwks_uri"].iter().any(|name| given(value, name).is_some()) {
        return Err(metadata("Keys are of no use here: private_key_jwt is not offered"));
    }
    if text("software_statement")?.is_some() {
        return Err(Fail::new(
            "unapproved_software_statement",
            "No software statement is trusted here",
        ));
    }
    if value.get("dpop_bound_access_tokens").is_some_and(|bound| !is_no(bound)) {
        return Err(metadata("DPoP is not offered"));
    }
    let redirect_uris = profile::once(texts("redirect_uris", URIS)?.unwrap_or_default());
    if redirect_uris.is_empty() && needs_uri {
        return Err(URIS);
    }
    let origin = visit.settings.origin();
    // Nobody looks at plain HTTP here, so it is for loopback addresses alone.
    profile::check_redirects(&redirect_uris, application_type, false, &origin).map_err(|_| URIS)?;
    let scopes = profile::scopes(text("scope")?.unwrap_or_default())
        .ok_or(metadata("A scope is malformed or unknown"))?;
    if is_open && !scope::stored(&scopes).iter().all(is_read) {
        return Err(metadata("Clients that register by themselves may only read"));
    }
    let page = |name: &'static str| -> Result<Option<String>, Fail> {
        let Some(text) = text(name)? else { return Ok(None) };
        if super::redirect::is_page(text) {
            Ok(Some(text.to_owned()))
        } else {
            Err(metadata("An https address is needed"))
        }
    };
    let name = match text("client_name")? {
        Some(name) => profile::name(name).map_err(|why| metadata(Language::English.say(why)))?,
        None => "An application without a name".to_owned(),
    };
    const CONTACTS: Fail =
        metadata("The contacts are up to ten ways to reach people, of 254 bytes each");
    let contacts = texts("contacts", CONTACTS)?.unwrap_or_default();
    if contacts.len() > profile::CONTACTS_MAX
        || !contacts.iter().all(|one| profile::is_plain_contact(one))
    {
        return Err(CONTACTS);
    }
    let profile = Profile {
        redirect_uris,
        client_uri: page("client_uri")?,
        policy_uri: page("policy_uri")?,
        tos_uri: page("tos_uri")?,
        contacts,
        scopes,
        confidential,
        require_pkce: is_open || !confidential,
        ..Profile::new(application_type, name)
    };
    let truth = |name: &'static str| match given(value, name) {
        None => Ok(false),
        Some(Value::Bool(truth)) => Ok(*truth),
        Some(_) => Err(metadata("A field is not of the type that the standard wants")),
    };
    Ok(Registered {
        profile,
        auth_method: auth_method.to_owned(),
        grant_types,
        require_par: truth("require_pushed_authorization_requests")?,
    })
}

/// Is it nothing, or `false`?
fn is_no(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false))
}

/// May a client register these response types? `code`, where it uses the code grant; else it may have
/// none.
pub fn is_offered(response_types: &[String], grants_code: bool) -> bool {
    response_types == ["code"] || (response_types.is_empty() && !grants_code)
}

fn is_read(scope: &Scope) -> bool {
    match scope {
        Scope::Index { action, .. } => *action == Action::Read,
        Scope::Own | Scope::Offline => true,
        Scope::Monitor => false,
    }
}

/// The token of a request; none where it is not clear which one that is.
fn bearer<'v, E: Env>(visit: &'v Visit<'_, E>) -> Option<&'v str> {
    if visit.head.all("authorization").count() > 1 {
        return None;
    }
    let (scheme, token) = visit.head.text("authorization")?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim())
}

/// 401 for whoever has no right to register or to look.
fn stranger() -> Reply {
    let fail = Fail {
        status: 401,
        error: "invalid_token",
        description: "The token is missing or invalid",
        retry_after: None,
        challenge: Some("Bearer error=\"invalid_token\""),
    };
    fail.reply()
}

/// `GET`, `PUT` and `DELETE /register/{client_id}`.
pub async fn manage<E: Env>(visit: &Visit<'_, E>, id: &str) -> Reply {
    let state = visit.state();
    let given = visit.hash("registration", bearer(visit).unwrap_or_default());
    let known = state.client(id).filter(|client| is_keeper(client.registration.as_ref(), &given));
    let Some(client) = known else { return stranger() };
    match visit.head.method() {
        http::Method::Get => told(visit, 200, client, None, bearer(visit)),
        http::Method::Delete => {
            let reference = client.reference.clone();
            match visit.ask(Command::DeleteClient { reference }).await {
                Ok(_) => {
                    note(visit, "client_deleted", client);
                    answer(204, Vec::new())
                }
                Err(_) => Fail::down().reply(),
            }
        }
        _ => match replace(visit, id, &given).await {
            Ok(reply) | Err(reply) => reply,
        },
    }
}

fn is_keeper(known: Option<&Hash>, given: &Hash) -> bool {
    known.is_some_and(|known| authz::secret::is_equal(&known.0, &given.0))
}

/// A client that is changed meanwhile is looked at again, so often: each time somebody else's change was made.
const ATTEMPTS_MAX: usize = 16;

/// `PUT`: each replaces everything, so the last of several at once counts. `given` is the hash of the token.
async fn replace<E: Env>(visit: &Visit<'_, E>, id: &str, given: &Hash) -> Result<Reply, Reply> {
    let value = replacement(visit, id)?;
    for _ in 0..ATTEMPTS_MAX {
        let state = visit.state();
        let client = state.client(id);
        let client = client.filter(|client| is_keeper(client.registration.as_ref(), given));
        let (changed, secret) = changed(visit, client.ok_or_else(stranger)?, &value)?;
        let command = Command::PutClient { version: changed.version, client: changed.clone() };
        match visit.ask(command).await {
            Ok(_) => {
                note(visit, "client_changed", &changed);
                return Ok(told(visit, 200, &changed, secret.as_deref(), bearer(visit)));
            }
            Err(authz::Error::Changed) => {}
            Err(_) => return Err(Fail::down().reply()),
        }
    }
    Err(Fail::down().reply())
}

/// The body of a `PUT` that is for this client.
fn replacement<E: Env>(visit: &Visit<'_, E>, id: &str) -> Result<Value, Reply> {
    const BODY: Fail = metadata("The body must be a JSON object of at most 64 KiB");
    if visit.body.len() > BODY_BYTES_MAX {
        return Err(BODY.status(413).reply());
    }
    let value = json::parse(visit.body).map_err(|_| BODY.reply())?;
    if value.get("client_id").and_then(Value::as_str) != Some(id) {
        return Err(metadata("The client_id must be repeated").reply());
    }
    const OURS: [&str; 4] = [
        "registration_access_token",
        "registration_client_uri",
        "client_secret_expires_at",
        "client_id_issued_at",
    ];
    if OURS.iter().any(|name| given(&value, name).is_some()) {
        return Err(metadata("A field that only the server sets is there").reply());
    }
    Ok(value)
}

/// The client as it is to be, or with a proposal of it; and a secret, where it gets its first.
fn changed<E: Env>(
    visit: &Visit<'_, E>,
    client: &Client,
    value: &Value,
) -> Result<(Client, Option<String>), Reply> {
    // Whoever sends a secret along means the client that has it (RFC 7592, 2.2).
    let is_own = match given(value, "client_secret") {
        None => true,
        Some(secret) => {
            secret.as_str().is_some_and(|secret| client.knows(secret.as_bytes(), visit.now()))
        }
    };
    if !is_own {
        return Err(metadata("The client_secret is not the client's").reply());
    }
    let mut asked = of_json(visit, value, client.unreviewed).map_err(Fail::reply)?;
    // What these words cannot say stays as it is.
    asked.profile.require_pkce |= client.profile.require_pkce;
    asked.profile.logo.clone_from(&client.profile.logo);
    asked.profile.description.clone_from(&client.profile.description);
    asked.profile.scope_reason.clone_from(&client.profile.scope_reason);
    let needs_review =
        profile::needs_review(&client.profile, &asked.profile) || has_more_ways(client, &asked);
    if !client.unreviewed && needs_review {
        let terms = Terms {
            auth_method: asked.auth_method,
            grant_types: asked.grant_types,
            require_par: asked.require_par,
        };
        let changed =
            Client { proposal: Some(asked.profile), proposal_terms: Some(terms), ..client.clone() };
        return Ok((changed, None));
    }
    let mut changed = Client {
        profile: asked.profile,
        auth_method: asked.auth_method,
        grant_types: asked.grant_types,
        require_par: asked.require_par,
        // It replaces everything, also a change that waits.
        proposal: None,
        proposal_terms: None,
        ..client.clone()
    };
    account_of::give_back(&mut changed);
    let mut secret = None;
    if !changed.profile.confidential {
        // Should it become confidential once more, it is given another one.
        changed.secrets.clear();
    } else if changed.secrets.is_empty() {
        let (shown, kept) = apps::secret(visit);
        changed.secrets = vec![kept];
        secret = Some(shown);
    }
    Ok((changed, secret))
}

/// May it come to tokens in a way that it may not as it is?
fn has_more_ways(client: &Client, asked: &Registered) -> bool {
    asked.grant_types.iter().any(|kind| !client.grant_types.contains(kind))
        || (client.require_par && !asked.require_par)
}

/// Writes what became of a client to the audit log.
fn note<E: Env>(visit: &Visit<'_, E>, event: &str, client: &Client) {
    let id = client.client_id.as_deref().unwrap_or_default();
    visit.note(event, "ok", &[("client", id), ("application", &client.reference)]);
}

/// What is registered, in the words of RFC 7591.
fn told<E: Env>(
    visit: &Visit<'_, E>,
    status: u16,
    client: &Client,
    secret: Option<&str>,
    manage: Option<&str>,
) -> Reply {
    let mut body = Vec::with_capacity(1024);
    let mut writer = Writer::new(&mut body);
    writer.begin_object();
    let id = client.client_id.as_deref().unwrap_or_default();
    writer.field_str("client_id", id).key("client_id_issued_at").u64(client.created / 1000);
    if let Some(secret) = secret {
        writer.field_str("client_secret", secret).key("client_secret_expires_at").u64(0);
    }
    if let Some(manage) = manage {
        writer.field_str("registration_access_token", manage);
        let uri = format!("{}/register/{id}", visit.settings.issuer);
        writer.field_str("registration_client_uri", &uri);
    }
    write(&mut writer, client);
    writer.end_object();
    answer(status, body)
}

/// The metadata of a client.
pub fn write(writer: &mut Writer<'_>, client: &Client) {
    let profile = &client.profile;
    let list = |writer: &mut Writer<'_>, name: &str, values: &[String]| {
        writer.key(name).begin_array();
        for value in values {
            writer.str(value);
        }
        writer.end_array();
    };
    writer.field_str("client_name", &profile.name);
    writer.field_str("application_type", profile.application_type.as_str());
    list(writer, "redirect_uris", &profile.redirect_uris);
    writer.field_str("token_endpoint_auth_method", &client.auth_method);
    list(writer, "grant_types", &client.grant_types);
    let code = client.may("authorization_code").then(|| "code".to_owned());
    list(writer, "response_types", code.as_slice());
    writer.field_str("scope", &profile.scopes.join(" "));
    let pages = [
        ("client_uri", &profile.client_uri),
        ("policy_uri", &profile.policy_uri),
        ("tos_uri", &profile.tos_uri),
    ];
    for (name, page) in pages {
        if let Some(page) = page {
            writer.field_str(name, page);
        }
    }
    if !profile.contacts.is_empty() {
        list(writer, "contacts", &profile.contacts);
    }
    writer.field_bool("require_pushed_authorization_requests", client.require_par);
}

#[cfg(test)]
mod tests {
    use authz::token::text::{self, Kind};
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn strangers_may_only_read() {
        let reads = |text: &str| scope::parse_list(text).expect(text).iter().all(is_read);
        assert!(reads("index:a*:read self offline_access"));
        for text in ["index:a:write", "index:a:all", "cluster:monitor", "index:a:manage"] {
            assert!(!reads(text), "{text}");
        }
    }

    #[test]
    fn a_management_token_is_not_a_token_of_another_kind() {
        let text = URL_SAFE_NO_PAD.encode([7; 32]);
        assert!(
            text::read(&text).is_none()
                && text::read(&text::write(Kind::Secret, &[7; 32])).is_some()
        );
    }
}
