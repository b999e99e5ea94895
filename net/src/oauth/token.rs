//! `POST /token`: codes, refresh tokens, device codes and clients' own rights become access tokens.
//!
//! Order: form, grant type, client, rate, grant type allowed, parameters; only then is anything
//! looked up, and one command decides, durably, before the answer leaves.

use std::sync::Arc;
use std::time::Duration;

use authz::command::Waiting;
use authz::oauth::scope;
use authz::record::client::{ApplicationType, Client};
use authz::record::grant::{Code, Device, DeviceState, Grant, GrantKind};
use authz::record::proof::Proof;
use authz::token::Content;
use authz::token::text::Kind;
use authz::{Command, Outcome};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use env::Env;
use json::{Value, Writer};

use super::ask;
use super::authorize::within_reach;
use super::client_auth::{self, Proven};
use super::fail::{Fail, answer, of_state};
use super::form::Form;
use super::limit::{Of, place};
use super::visit::Visit;
use crate::reply::Reply;

/// The device grant's name.
pub const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The grant of a client that acts for itself.
pub const CLIENT_CREDENTIALS: &str = "client_credentials";

/// Grant types there are.
pub const GRANT_TYPES: &[&str] =
    &["authorization_code", "refresh_token", CLIENT_CREDENTIALS, DEVICE];

/// Tokens of its own that one client has at a time; beyond, the oldest end. So many machines of one service may each
/// have one.
const OWN_MAX: u64 = 500;

/// Narrowed tokens that one refresh token's access has at a time; beyond, the oldest end.
const NARROWED_MAX: u64 = 50;

/// Answers a request.
pub async fn post<E: Env>(visit: &Visit<'_, E>) -> Reply {
    match grant(visit).await {
        Ok(reply) => reply,
        Err(fail) => fail.reply(),
    }
}

/// What was presented in vain: for the audit log.
struct Tried<'t> {
    /// The code or refresh token.
    token: &'t str,
    /// The grant that it belongs to, or became.
    grant: Option<u64>,
    /// Whose it is.
    user: String,
    /// It is a refresh token.
    refresh: bool,
}

/// A client's words for a refusal of state; the audit log hears which it was.
fn refused<E: Env>(
    visit: &Visit<'_, E>,
    client: &Proven,
    error: &authz::Error,
    tried: &Tried<'_>,
) -> Fail {
    let refresh = tried.refresh;
    let event = match (error, refresh) {
        (authz::Error::Reused, true) => "refresh_reuse",
        (authz::Error::Reused, false) => "code_replayed",
        (_, true) => "token_refreshed",
        (_, false) => "code_redeemed",
    };
    let reason = format!("{error:?}");
    let grant = tried.grant.map(|grant| visit.keys().grant_name(grant)).unwrap_or_default();
    let facts = [
        ("user", tried.user.as_str()),
        ("client", &client.id),
        ("grant", &grant),
        ("token", &visit.keys().public_id(tried.token)),
        ("reason", &reason),
    ];
    visit.note(event, "failed", &facts);
    of_state(error)
}

/// Notes a token that was used or issued: by its public id, never the token.
fn noted<E: Env>(visit: &Visit<'_, E>, event: &str, grant: &Grant, token: &str) {
    let (id, scope) = (visit.keys().grant_name(grant.family()), grant.scopes.join(" "));
    let public = visit.keys().public_id(token);
    let facts = [
        ("user", grant.user.as_str()),
        ("client", grant.client.as_deref().unwrap_or_default()),
        ("grant", &id),
        ("token", &public),
        ("scope", &scope),
    ];
    visit.note(event, "ok", &facts);
}

/// The form of a request to an endpoint for programs.
pub fn form<E: Env>(visit: &Visit<'_, E>) -> Result<Form, Fail> {
    if !visit.query.is_empty() {
        return Err(Fail::request("Parameters belong into the body"));
    }
    let posted = visit.posted().filter(Form::is_one_line);
    let form = posted.ok_or(Fail::request("The body must be a form, in UTF-8"))?;
    match form.repeats_protocol() {
        true => Err(Fail::request("A parameter appears more than once")),
        false => Ok(form),
    }
}

/// Refuses a proof of possession: whoever sends one wants a token that is bound to its key, and there is
/// none here to be had.
pub fn without_proof<E: Env>(visit: &Visit<'_, E>, client: &Proven) -> Result<(), Fail> {
    if visit.head.all("dpop").count() == 0 {
        return Ok(());
    }
    let facts = [("client", client.id.as_str()), ("reason", "DPoP is not offered")];
    visit.note("dpop_rejected", "failed", &facts);
    Err(Fail::new("invalid_dpop_proof", "DPoP is not offered here"))
}

async fn grant<E: Env>(visit: &Visit<'_, E>) -> Result<Reply, Fail> {
    let form = form(visit)?;
    let kind = form.first("grant_type").ok_or(Fail::request("The grant_type is missing"))?;
    // Only who is proven spends a client's rate: who merely uses its name spends that of strangers.
    let limit = visit.settings.limits.token.saturating_mul(2);
    let (window, now) = (Duration::from_secs(2), visit.monotonic());
    let paced = |key: &str| match visit.limiter.count(Of::Token, key, limit, window, now) {
        Some(seconds) => Err(Fail::slow(seconds)),
        None => Ok(()),
    };
    let client = match client_auth::prove(visit, &form) {
        Ok(client) => client,
        Err(fail) => {
            paced(&format!("nobody {}", place(visit.peer)))?;
            return Err(fail);
        }
    };
    paced(&client.rate(visit.peer))?;
    if !GRANT_TYPES.contains(&kind) || (kind == DEVICE && !visit.settings.device) {
        return Err(Fail::new("unsupported_grant_type", "This grant_type does not exist here"));
    }
    if !client.client.may(kind) {
        return Err(Fail::new("unauthorized_client", "This client may not use this grant_type"));
    }
    present(&form, kind)?;
    without_proof(visit, &client)?;
    let outcome = match kind {
        "authorization_code" => code(visit, &form, &client).await?,
        "refresh_token" => return refresh(visit, &form, &client).await,
        CLIENT_CREDENTIALS => own(visit, &form, &client).await?,
        _ => device(visit, &form, &client).await?,
    };
    let Outcome::Granted(grant, serial) = outcome else { return Err(Fail::grant()) };
    if kind == "authorization_code" {
        noted(visit, "code_redeemed", &grant, form.text("code"));
    }
    // Its owner, or who lent the account, has just been asked.
    let left = ask::cut_all(&client.client, &grant.scopes, &grant.details);
    Ok(tokens(visit, &grant, serial, &grant, "token_issued", left))
}

/// Is there what a grant is asked for with?
///
/// # Errors
/// `invalid_request` where it is not.
fn present(form: &Form, kind: &str) -> Result<(), Fail> {
    let (name, missing) = match kind {
        "authorization_code" => ("code", CODE_MISSING),
        "refresh_token" => ("refresh_token", REFRESH_MISSING),
        DEVICE => ("device_code", DEVICE_MISSING),
        _ => return Ok(()),
    };
    form.first(name).map(drop).ok_or(missing)
}

const CODE_MISSING: Fail = Fail::request("The code is missing");
const REFRESH_MISSING: Fail = Fail::request("The refresh_token is missing");
const DEVICE_MISSING: Fail = Fail::request("The device_code is missing");

/// An authorization code.
async fn code<E: Env>(visit: &Visit<'_, E>, form: &Form, client: &Proven) -> Result<Outcome, Fail> {
    let code = form.first("code").ok_or(CODE_MISSING)?;
    let verifier = form.first("code_verifier").map(challenge_of).transpose()?;
    check_resources(visit, form)?;
    without_details(form)?;
    let settings = visit.settings;
    let confidential = client.client.profile.confidential;
    let hash = visit.hash("code", code);
    // A replay ends its grant, so whose it was is looked up before.
    let known = visit.state().codes.get(&hash).cloned();
    let tried = Tried {
        token: code,
        grant: known.as_ref().and_then(|known| known.spent),
        user: known.as_ref().map(|known| known.user.clone()).unwrap_or_default(),
        refresh: false,
    };
    // The client had a secret, or no need of PKCE, when it asked; now nothing would tie the code to who asked.
    let is_bare = |known: &Arc<Code>| {
        known.challenge.is_none() && ask::needs_challenge(settings, &client.client)
    };
    // Whoever has the address now may have got the code; and a token for nothing is none.
    let is_lost = |known: &Arc<Code>| {
        known.client == client.id
            && known.spent.is_none()
            && (!ask::may_lead_to(&client.client, &known.redirect)
                || is_bare(known)
                || is_nothing(&ask::cut_all(&client.client, &known.scopes, &known.details)))
    };
    if known.as_ref().is_some_and(is_lost) {
        return Err(refused(visit, client, &authz::Error::InvalidGrant, &tried));
    }
    let redirect = form.first("redirect_uri").map(str::to_owned);
    // The state lets whoever proves PKCE leave it out. Where the operator does not, it is compared all the same:
    // with what no address is, so that it fails as any wrong one.
    let was_sent = known.as_ref().is_some_and(|known| known.redirect_sent);
    let redirect = redirect.or_else(|| (settings.strict_redirect && was_sent).then(String::new));
    let command = Command::Redeem {
        code: hash,
        client: client.id.clone(),
        redirect,
        may_omit_redirect: confidential && !settings.strict_redirect,
        verifier,
        resource: Vec::new(),
        refreshes: client.client.may("refresh_token"),
        idle: settings.refresh_idle,
        absolute: settings.refresh_absolute,
        life: settings.access_token,
        address: Some(visit.address()),
        now: visit.now(),
    };
    visit.ask(command).await.map_err(|error| refused(visit, client, &error, &tried))
}

/// The challenge that follows from a verifier (RFC 7636).
fn challenge_of(verifier: &str) -> Result<String, Fail> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if !(43..=128).contains(&verifier.len()) || !verifier.bytes().all(legal) {
        return Err(Fail::request("The code_verifier is malformed"));
    }
    Ok(URL_SAFE_NO_PAD.encode(authz::secret::sha256(verifier.as_bytes())))
}

/// Is each resource that is named this store? There is no other, so that none is kept with a grant.
///
/// # Errors
/// `invalid_target`.
pub fn check_resources<E: Env>(visit: &Visit<'_, E>, form: &Form) -> Result<(), Fail> {
    match form.all("resource").all(|one| ask::is_ours(visit.settings, one)) {
        true => Ok(()),
        false => Err(Fail::new("invalid_target", "The resource is unknown")),
    }
}

/// Where nobody is asked by a page there is nobody to show entries of `authorization_details` to; and what was shown
/// and allowed is not chosen from again by the client. Passed over, they would give more than was asked for.
pub fn without_details(form: &Form) -> Result<(), Fail> {
    match form.first("authorization_details") {
        None => Ok(()),
        Some(_) => Err(Fail::new(
            "invalid_authorization_details",
            "The authorization_details are taken by /authorize and /par alone",
        )),
    }
}

/// A refresh token.
async fn refresh<E: Env>(
    visit: &Visit<'_, E>,
    form: &Form,
    client: &Proven,
) -> Result<Reply, Fail> {
    let token = form.first("refresh_token").ok_or(REFRESH_MISSING)?;
    let state = visit.state();
    let content = opened(visit, token, Kind::Refresh).ok_or(Fail::grant())?;
    let tried = |known: Option<&Grant>| Tried {
        token,
        grant: Some(content.grant),
        user: known.map(|known| known.user.clone()).unwrap_or_default(),
        refresh: true,
    };
    let Some(known) = state.grant(content.grant).cloned() else {
        return Err(refused(visit, client, &authz::Error::InvalidGrant, &tried(None)));
    };
    if known.client.as_deref() != Some(client.id.as_str()) {
        return Err(refused(visit, client, &authz::Error::Foreign, &tried(Some(&known))));
    }
    let settings = visit.settings;
    let command = |narrowed| Command::Refresh {
        grant: content.grant,
        counter: content.serial,
        client: Some(client.id.clone()),
        narrowed,
        most: Some(NARROWED_MAX),
        idle: settings.refresh_idle,
        life: settings.access_token,
        window: settings.reuse_interval,
        now: visit.now(),
    };
    if known.is_rotated_out(content.serial, settings.reuse_interval, visit.now()) {
        // Whatever else is wrong with the request: it is a theft, and ends the family.
        if !state.user(&known.user).is_some_and(|owner| owner.enabled) {
            // Who is disabled may be enabled again, and would find it alive.
            let grants = vec![content.grant];
            let ended = visit.ask(Command::Revoke { grants, consents: false }).await;
            ended.map_err(|error| of_state(&error))?;
            return Err(refused(visit, client, &authz::Error::Reused, &tried(Some(&known))));
        }
        let outcome = visit.ask(command(None)).await;
        outcome.map_err(|error| refused(visit, client, &error, &tried(Some(&known))))?;
        return Err(Fail::grant());
    }
    check_resources(visit, form)?;
    without_details(form)?;
    const SCOPE: Fail =
        Fail::new("invalid_scope", "A scope is malformed, unknown or was not granted");
    // What the client may have no more is as if it had not been granted.
    let (left, details) = ask::cut_all(&client.client, &known.scopes, &known.details);
    if left.is_empty() && details.is_empty() {
        return Err(SCOPE);
    }
    let wanted = match form.first("scope") {
        None => None,
        Some(text) => {
            let wanted = scope::parse_list(text).map_err(|_| SCOPE)?;
            if !scope::holds_all(&scope::stored(&left), &wanted) {
                let grant = visit.keys().grant_name(known.family());
                let facts = [
                    ("user", known.user.as_str()),
                    ("client", &client.id),
                    ("grant", &grant),
                    ("scope", text),
                ];
                visit.note("scope_escalation_attempt", "failed", &facts);
                return Err(SCOPE);
            }
            let words: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            (words != known.scopes).then_some(words)
        }
    };
    let outcome = visit.ask(command(wanted)).await;
    let outcome = outcome.map_err(|error| refused(visit, client, &error, &tried(Some(&known))))?;
    let Outcome::Granted(grant, serial) = outcome else { return Err(Fail::grant()) };
    // A narrowed access token has a grant of its own; the refresh token stays the family's.
    let family = match grant.parent {
        None => Arc::clone(&grant),
        Some(parent) => visit.state().grant(parent).cloned().ok_or(Fail::grant())?,
    };
    let left = held(visit, &client.client, &grant);
    Ok(tokens(visit, &grant, serial, &family, "token_refreshed", left))
}

/// A client that acts for itself.
async fn own<E: Env>(visit: &Visit<'_, E>, form: &Form, client: &Proven) -> Result<Outcome, Fail> {
    without_details(form)?;
    let record = &client.client;
    let is_service =
        record.profile.confidential && record.profile.application_type == ApplicationType::Service;
    let state = visit.state();
    let (Some(account), true) = (state.account_of(record), is_service) else {
        return Err(Fail::new("unauthorized_client", "This client acts for nobody of its own"));
    };
    if !account.enabled {
        return Err(Fail::grant());
    }
    const SCOPE: Fail =
        Fail::new("invalid_scope", "A scope is malformed, unknown or not allowed for this client");
    check_resources(visit, form)?;
    let scopes = match form.first("scope") {
        None => ask::default_scopes(record).ok_or(SCOPE)?,
        Some(text) => {
            let wanted = scope::parse_list(text).map_err(|_| SCOPE)?;
            let ceiling = scope::stored(&record.profile.scopes);
            let is_fine = |one: &scope::Scope| {
                *one != scope::Scope::Offline && ask::is_within(&ceiling, record, one)
            };
            if !wanted.iter().all(is_fine) {
                return Err(SCOPE);
            }
            wanted.iter().map(ToString::to_string).collect()
        }
    };
    // Approved was what the account held then; what it holds no more is not promised again.
    let (scopes, _) = within_reach(visit, account, scopes, Vec::new());
    if scopes.is_empty() {
        return Err(SCOPE);
    }
    let now = visit.now();
    let end = now + visit.settings.access_token;
    let grant = Grant {
        id: 0,
        kind: GrantKind::Client,
        user: account.name.clone(),
        uid: account.uid,
        client: Some(client.id.clone()),
        scopes,
        details: Vec::new(),
        resource: Vec::new(),
        created: now,
        last_used: Some(now),
        last_address: Some(visit.address()),
        code: None,
        refreshes: false,
        counter: 0,
        rotated: now,
        idle_end: end,
        absolute_end: end,
        serial: 0,
        revoked: Vec::new(),
        parent: None,
        issued: None,
        access_end: None,
        maker: None,
    };
    let by = Some(Proof::Client { id: client.id.clone() });
    let most = Some(OWN_MAX);
    visit.ask(Command::Mint { grant, by, most, now }).await.map_err(|error| of_state(&error))
}

/// A device that asks whether its person has answered.
async fn device<E: Env>(
    visit: &Visit<'_, E>,
    form: &Form,
    client: &Proven,
) -> Result<Outcome, Fail> {
    let code = form.first("device_code").ok_or(DEVICE_MISSING)?;
    check_resources(visit, form)?;
    let settings = visit.settings;
    let id = visit.hash("device code", code);
    // As with a code: what was allowed may lie beyond the client's ceiling by now.
    let is_lost = |known: &Arc<Device>| {
        known.client == client.id
            && known.state == DeviceState::Allowed
            && visit.now() < known.end
            && is_nothing(&ask::cut_all(&client.client, &known.scopes, &[]))
    };
    if let Some(known) = visit.state().devices.get(&id).filter(|known| is_lost(known)) {
        let user = known.user.clone().unwrap_or_default();
        let tried = Tried { token: code, grant: None, user, refresh: false };
        return Err(refused(visit, client, &authz::Error::InvalidGrant, &tried));
    }
    let command = Command::PollDevice {
        id,
        client: client.id.clone(),
        refreshes: client.client.may("refresh_token"),
        idle: settings.refresh_idle,
        absolute: settings.refresh_absolute,
        life: settings.access_token,
        now: visit.now(),
    };
    match visit.ask(command).await.map_err(|error| of_state(&error))? {
        Outcome::Wait(waiting) => Err(match waiting {
            Waiting::Pending => Fail::new("authorization_pending", "Nobody has answered yet"),
            Waiting::TooFast => Fail::new("slow_down", "Ask less often: five seconds more"),
            Waiting::Refused => Fail::new("access_denied", "The owner refused"),
            Waiting::Expired => Fail::new("expired_token", "The device code has expired"),
        }),
        outcome => Ok(outcome),
    }
}

/// What a sealed token says, where it is one of ours of this kind.
pub fn opened<E: Env>(visit: &Visit<'_, E>, token: &str, kind: Kind) -> Option<Content> {
    let read = visit.keys().read(token).filter(|read| read.kind == kind)?;
    match kind {
        Kind::Access => visit.keys().access(visit.state().epoch).open(&read.body),
        Kind::Refresh => visit.keys().refresh().open(&read.body),
        _ => None,
    }
}

/// Scopes and entries of details.
type Given = (Vec<String>, Vec<Value>);

fn is_nothing((scopes, details): &Given) -> bool {
    scopes.is_empty() && details.is_empty()
}

/// The scopes of a grant within its client's ceiling of which the owner holds a part today; all of them where nothing
/// is left, for a role may come back (oauth.md, section 24). And the entries within that ceiling.
fn held<E: Env>(visit: &Visit<'_, E>, client: &Client, grant: &Grant) -> Given {
    let granted = ask::cut_all(client, &grant.scopes, &grant.details);
    let state = visit.state();
    let Some(owner) = state.user(&grant.user) else { return granted };
    let (scopes, details) = granted.clone();
    let left = within_reach(visit, owner, scopes, details);
    if is_nothing(&left) { granted } else { (left.0, granted.1) }
}

/// The answer with the tokens of a grant.
fn tokens<E: Env>(
    visit: &Visit<'_, E>,
    grant: &Grant,
    serial: u32,
    family: &Grant,
    event: &str,
    (scopes, details): Given,
) -> Reply {
    let now = visit.now();
    let end = (now + visit.settings.access_token).min(family.absolute_end);
    let sealed =
        visit.keys().access(visit.state().epoch).seal(Content { grant: grant.id, end, serial });
    let access = visit.keys().write(Kind::Access, &sealed);
    let mut body = Vec::with_capacity(320);
    let mut writer = Writer::new(&mut body);
    writer.begin_object().field_str("access_token", &access).field_str("token_type", "Bearer");
    writer.key("expires_in").u64(end.saturating_sub(now).div_ceil(1000));
    noted(visit, event, grant, &access);
    if family.refreshes {
        let content = Content { grant: family.id, end: 0, serial: family.counter };
        let sealed = visit.keys().refresh().seal(content);
        writer.field_str("refresh_token", &visit.keys().write(Kind::Refresh, &sealed));
    }
    writer.field_str("scope", &scopes.join(" "));
    if !details.is_empty() {
        writer.key("authorization_details").value(&Value::Array(details));
    }
    writer.end_object();
    answer(200, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_gives_the_challenge_of_the_standard() {
        assert_eq!(
            challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            Ok("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned())
        );
        for bad in ["", "short", &"x".repeat(129), &format!("{}!", "x".repeat(50))] {
            assert!(challenge_of(bad).is_err(), "{bad}");
        }
    }
}
