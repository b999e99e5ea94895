//! `POST /revoke` (RFC 7009) and `POST /introspect` (RFC 7662).

use std::sync::Arc;

use authz::Command;
use authz::authenticate::bearer;
use authz::record::grant::Grant;
use authz::record::user::User;
use authz::token::text::Kind;
use env::Env;
use json::{Value, Writer};

use super::ask;
use super::client_auth::{self, Tally, basic};
use super::fail::{Fail, answer, of_state};
use super::form::Form;
use super::guess::{Guess, Refused};
use super::refusal;
use super::token::{form, opened};
use super::visit::Visit;
use crate::audit::claimed;
use crate::reply::Reply;

/// `POST /revoke`. An unknown, dead or foreign token is no error: nobody learns what exists.
pub async fn revoke<E: Env>(visit: &Visit<'_, E>) -> Reply {
    match try_revoke(visit).await {
        // Empty, and yet of the type of all answers: there are clients that read no other.
        Ok(()) => answer(200, Vec::new()),
        Err(fail) => fail.reply(),
    }
}

async fn try_revoke<E: Env>(visit: &Visit<'_, E>) -> Result<(), Fail> {
    let form = form(visit)?;
    let client = client_auth::prove(visit, &form)?;
    let token = form.first("token").ok_or(Fail::request("The token is missing"))?;
    let state = visit.state();
    let refresh = opened(visit, token, Kind::Refresh);
    let Some(content) = refresh.or_else(|| opened(visit, token, Kind::Access)) else {
        return Ok(());
    };
    let Some(grant) = state.grant(content.grant) else { return Ok(()) };
    let (user, id) = (grant.user.clone(), visit.keys().grant_name(grant.family()));
    if grant.client.as_deref() != Some(client.id.as_str()) {
        let facts = [("client", client.id.as_str()), ("grant", &id), ("reason", "Foreign")];
        visit.note("token_revoked", "failed", &facts);
        return Ok(());
    }
    let command = match refresh {
        Some(_) => Command::Revoke { grants: vec![grant.id], consents: false },
        None => Command::RevokeAccess {
            grant: grant.id,
            serial: content.serial,
            end: content.end_s(),
            now: visit.now(),
        },
    };
    match visit.ask(command).await.map_err(|error| of_state(&error)) {
        Err(fail) if fail.status == 503 => Err(fail),
        _ => {
            let facts = [
                ("user", user.as_str()),
                ("client", &client.id),
                ("grant", &id),
                ("token", &visit.keys().public_id(token)),
            ];
            visit.note("token_revoked", "ok", &facts);
            Ok(())
        }
    }
}

/// Who asks about a token.
enum Asker {
    /// A client, about its own.
    Client(String),
    /// A resource server: a store user with `introspect_token`.
    Server(String),
}

/// `POST /introspect`.
pub async fn introspect<E: Env>(visit: &Visit<'_, E>) -> Reply {
    match try_introspect(visit).await {
        Ok(body) => answer(200, body),
        Err(fail) => fail.reply(),
    }
}

/// The action of a resource server.
const INTROSPECT: &str = "cluster:admin/oauth/introspect";

async fn try_introspect<E: Env>(visit: &Visit<'_, E>) -> Result<Vec<u8>, Fail> {
    let form = form(visit)?;
    let asker = asker(visit, &form).await?;
    let token = form.first("token").ok_or(Fail::request("The token is missing"))?;
    let mut body = Vec::with_capacity(256);
    let active = active(visit, token, &asker);
    if visit.is_audited() {
        let grant = active.as_ref().map(|active| visit.keys().grant_name(active.grant.family()));
        let grant = grant.unwrap_or_default();
        let owner = active.as_ref().map_or("", |active| active.user.name.as_str());
        let by = match &asker {
            Asker::Client(id) => ("client", id.as_str()),
            Asker::Server(name) => ("asker", name.as_str()),
        };
        let facts =
            [by, ("user", owner), ("grant", &grant), ("token", &visit.keys().public_id(token))];
        visit.note("token_introspected", if active.is_some() { "ok" } else { "failed" }, &facts);
    }
    match active {
        Some(active) => write(visit, &mut body, token, &active, &asker),
        None => body.extend_from_slice(br#"{"active":false}"#),
    }
    Ok(body)
}

async fn asker<E: Env>(visit: &Visit<'_, E>, form: &Form) -> Result<Asker, Fail> {
    const TWO_WAYS: Fail = Fail::request("The caller authenticates in two ways at once");
    if visit.head.all("authorization").count() > 1 {
        return Err(TWO_WAYS);
    }
    let header = visit.head.text("authorization");
    let is_client = match header.and_then(basic) {
        Some((name, _)) => visit.state().client(&name).is_some(),
        None => header.is_none(),
    };
    if is_client {
        let proven = client_auth::prove(visit, form)?;
        return match proven.client.profile.confidential {
            true => Ok(Asker::Client(proven.id)),
            // Whoever knows its id, which is no secret.
            false => {
                Tally::nobody(visit).check(visit)?;
                Err(Tally::nobody(visit).failed(visit))
            }
        };
    }
    if ["client_secret", "secret", "client_assertion"].iter().any(|it| form.first(it).is_some()) {
        return Err(TWO_WAYS);
    }
    // A store credential of any kind but an OAuth token, which may not call this half.
    let done = Guess::authenticate(visit.security, (header, None), visit.peer).await;
    let given = header.map(|given| claimed(visit.security, given)).unwrap_or_default();
    let refused = |event: &str, user: &str, reason: &str| {
        refusal::told(visit, event, &[("reason", reason), ("user", user)]);
    };
    let principal = done.map_err(|error| match error {
        Refused::Slow(seconds) => {
            refused("login_throttled", &given, crate::admit::TOO_MANY);
            Fail::slow(seconds)
        }
        Refused::Wrong(authz::AuthError::Busy) => Fail::down(),
        Refused::Wrong(error) => {
            let reason = match error {
                authz::AuthError::Wrong { .. } => "the user or the password is wrong".to_owned(),
                other => other.to_string(),
            };
            refused("login_failed", &given, &reason);
            Tally::nobody(visit).failed(visit)
        }
    })?;
    let is_oauth = matches!(principal.via(), authz::principal::Via::Oauth { .. });
    let denied = principal.gate().cluster(INTROSPECT).err().map(|denied| denied.to_string());
    let denied = denied.or_else(|| is_oauth.then(|| "a token may not ask".to_owned()));
    if let Some(reason) = denied {
        refused("access_denied", principal.name(), &reason);
        return Err(Fail::client());
    }
    Ok(Asker::Server(principal.name().to_owned()))
}

/// A token that is good now.
struct Active {
    grant: Arc<Grant>,
    user: Arc<User>,
    kind: Kind,
    /// When it was issued, in seconds.
    begun_s: u64,
    end_s: u64,
}

fn active<E: Env>(visit: &Visit<'_, E>, token: &str, asker: &Asker) -> Option<Active> {
    let state = visit.state();
    let is_seen = |grant: &Grant| match asker {
        Asker::Client(id) => grant.client.as_deref() == Some(id.as_str()),
        Asker::Server(_) => true,
    };
    if let Some(content) = opened(visit, token, Kind::Access) {
        let (grant, user) = bearer::live(&state, content)?;
        let end_s = content.end / 1000;
        // Where that is not kept, as of the oldest of many: as if by today's setting, between the grant's making
        // and the issue of one that came later, or now.
        let begun_s = grant.issued_s(content.serial).unwrap_or_else(|| {
            let begun_s = end_s.saturating_sub(visit.settings.access_token / 1000);
            let latest_s = grant.issued_by_s(content.serial).unwrap_or(visit.now() / 1000);
            begun_s.min(latest_s).max(grant.created / 1000)
        });
        let is_fresh = visit.now() < content.end && grant.client.is_some();
        return (is_fresh && is_seen(&grant)).then_some(Active {
            grant,
            user,
            kind: Kind::Access,
            begun_s,
            end_s,
        });
    }
    let content = opened(visit, token, Kind::Refresh)?;
    let grant = Arc::clone(state.grant(content.grant)?);
    // A refresh token is its own client's business alone.
    let own = matches!(asker, Asker::Client(_)) && is_seen(&grant);
    let end = grant.idle_end.min(grant.absolute_end);
    let user = Arc::clone(state.user(&grant.user)?);
    let client = state.client(grant.client.as_deref()?)?;
    let is_live = content.serial == grant.counter
        && visit.now() < end
        && user.enabled
        && user.uid == grant.uid
        && client.is_approved();
    let begun_s = grant.rotated / 1000;
    let (kind, end_s) = (Kind::Refresh, end / 1000);
    (own && is_live).then_some(Active { grant, user, kind, begun_s, end_s })
}

fn write<E: Env>(
    visit: &Visit<'_, E>,
    body: &mut Vec<u8>,
    token: &str,
    active: &Active,
    asker: &Asker,
) {
    let Active { grant, user, kind, begun_s, end_s } = active;
    // What its client may have no more opens nothing here, and may open nothing elsewhere.
    let client = grant.client.as_deref().and_then(|id| visit.state().client(id).cloned());
    let (scopes, details) = client
        .map(|client| ask::cut_all(&client, &grant.scopes, &grant.details))
        .unwrap_or_default();
    let mut writer = Writer::new(body);
    writer.begin_object().field_bool("active", true);
    writer.field_str("scope", &scopes.join(" "));
    if let Some(client) = &grant.client {
        writer.field_str("client_id", client);
    }
    if matches!(asker, Asker::Server(_)) {
        writer.field_str("username", &user.name);
    }
    writer.field_str("sub", &subject(visit, user));
    if *kind == Kind::Access {
        writer.field_str("token_type", "Bearer");
    }
    writer.key("exp").u64(*end_s);
    writer.key("iat").u64(*begun_s).key("nbf").u64(*begun_s);
    writer.field_str("aud", visit.settings.resource()).field_str("iss", &visit.settings.issuer);
    writer.field_str("jti", &visit.keys().token_name(token));
    if !details.is_empty() {
        writer.key("authorization_details").value(&Value::Array(details));
    }
    writer.end_object();
}

/// A stable name of a user that is not the login name.
fn subject<E: Env>(visit: &Visit<'_, E>, user: &User) -> String {
    let hash = visit.keys().hash("subject", &user.uid.to_be_bytes());
    hash.0[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
