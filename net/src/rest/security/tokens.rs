//! `_security/oauth2/token`: the token service of Elasticsearch's clients. It mints into the same
//! registry as the OAuth half.

use authz::command::Outcome;
use authz::record::grant::{Grant, GrantKind};
use authz::token::Content;
use authz::token::text::Kind;
use authz::{Command, Need, Principal};
use engine::{Error, Result};
use env::Env;
use json::{Object, Value, json};

use super::body::Body;
use super::{Desk, allowed, desk, has, keys, now, told, value};
use crate::call::Call;
use crate::reply::Reply;

/// How long an access token lives, in milliseconds.
const LIFE_MS: u64 = 20 * 60 * 1000;

/// How long a refresh token lives.
const REFRESH_MS: u64 = 24 * 60 * 60 * 1000;

/// How long the same refresh token may come again.
const WINDOW_MS: u64 = 30 * 1000;

/// Somebody gives the owner a password in the moment in which it is looked at, mostly the same one (a tool that
/// sets up users sets them up again): it is looked at again, so often in all.
const ATTEMPTS_MAX: usize = 3;

fn failed(error: &str, description: &str) -> Reply {
    value(400, &json!({"error": error, "error_description": description}))
}

/// `POST /_security/oauth2/token`.
pub(super) async fn create<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let body = call.required_map().await?;
    let fields =
        ["grant_type", "username", "password", "kerberos_ticket", "scope", "refresh_token"];
    let body = Body::new(&body, "token request", &fields)?;
    let kind = body.text("grant_type")?;
    let invalid =
        |reason: String| Ok(failed("invalid_request", &format!("Validation Failed: 1: {reason};")));
    let unsupported =
        |kind: &str, field: &str| format!("{field} is not supported with the {kind} grant_type");
    match kind {
        Some(kind @ "password") => {
            let (Some(user), Some(password)) = (body.text("username")?, body.text("password")?)
            else {
                let field = if body.text("username")?.is_none() { "username" } else { "password" };
                return invalid(format!("{field} is missing"));
            };
            if body.value("refresh_token").is_some() {
                return invalid(unsupported(kind, "refresh_token"));
            }
            for _ in 0..ATTEMPTS_MAX {
                let known = keys::by_password_if_right(call, desk.security, user, password).await?;
                let Ok(owner) = known else { break };
                if let Some(made) = mint(call, &desk, &owner, true).await? {
                    return Ok(made);
                }
            }
            let mut told = call.told.borrow_mut();
            told.fact("target_user", user);
            told.fact("reason", "wrong password");
            Ok(failed("invalid_grant", "the user name or the password is wrong"))
        }
        Some(kind @ "client_credentials") => {
            for field in ["username", "password", "refresh_token"] {
                if body.value(field).is_some() {
                    return invalid(unsupported(kind, field));
                }
            }
            let made = mint(call, &desk, desk.principal, false).await?;
            made.ok_or_else(|| told(authz::Error::Lapsed))
        }
        Some(kind @ "refresh_token") => {
            for field in ["username", "password"] {
                if body.value(field).is_some() {
                    return invalid(unsupported(kind, field));
                }
            }
            let Some(token) = body.text("refresh_token")? else {
                return invalid("refresh_token is missing".to_owned());
            };
            refresh(call, &desk, token).await
        }
        Some("_kerberos") => Ok(failed("unauthorized", "no Kerberos realm is configured")),
        Some(other) => invalid(format!(
            "grant_type only supports the values: [password, _kerberos, refresh_token, \
             client_credentials] but was [{other}]"
        )),
        None => invalid(
            "grant_type only supports the values: [password, _kerberos, refresh_token, \
             client_credentials]"
                .to_owned(),
        ),
    }
}

/// A token for its owner; none where what let that one in ended meanwhile.
async fn mint<E: Env>(
    call: &Call<'_, E>,
    desk: &Desk<'_, E>,
    owner: &Principal,
    refreshes: bool,
) -> Result<Option<Reply>> {
    let state = desk.state();
    // Tokens name a user of ours, who may be disabled or deleted at any time.
    let Some(user) = owner.stored(&state) else {
        return Err(Error::illegal_argument(
            "tokens are given to users of the reserved and native realms only",
        ));
    };
    let now = now(call);
    let grant = Grant {
        id: 0,
        kind: GrantKind::Service,
        user: user.name.clone(),
        uid: user.uid,
        client: None,
        maker: Some(maker(desk.principal)),
        scopes: Vec::new(),
        details: Vec::new(),
        resource: Vec::new(),
        created: now,
        last_used: None,
        last_address: None,
        code: None,
        refreshes,
        counter: 0,
        rotated: now,
        idle_end: now + REFRESH_MS,
        absolute_end: now + if refreshes { REFRESH_MS } else { LIFE_MS },
        serial: 0,
        revoked: Vec::new(),
        parent: None,
        issued: None,
        access_end: None,
    };
    let mint = Command::Mint { grant, by: owner.proof(), most: None, now };
    let done = desk.ask(call, mint).await;
    let (grant, serial) = match done {
        Ok(Outcome::Granted(grant, serial)) => (grant, serial),
        Ok(_) => return Err(Error::internal("no token was made")),
        Err(authz::Error::Lapsed) => return Ok(None),
        Err(error) => return Err(told(error)),
    };
    let shown = has::show(owner, desk.keeper());
    answer(call, desk, &grant, serial, Some(shown)).map(Some)
}

/// By what a grant knows who asked for its tokens, who alone may have them renewed: whose tokens they are
/// may be another.
fn maker(principal: &Principal) -> String {
    format!("{} {} {}", principal.realm().0, principal.user().uid, principal.name())
}

/// The answer with fresh tokens.
fn answer<E: Env>(
    call: &Call<'_, E>,
    desk: &Desk<'_, E>,
    grant: &Grant,
    serial: u32,
    authentication: Option<Value>,
) -> Result<Reply> {
    let keys = desk.keeper().keys();
    let content = Content { grant: grant.id, end: now(call) + LIFE_MS, serial };
    let access = keys.access(desk.state().epoch).seal(content);
    let mut answer = Object::new();
    let access = keys.write(Kind::Access, &access);
    call.told.borrow_mut().fact("target_token", keys.public_id(&access));
    call.told.borrow_mut().fact("target_grant", keys.grant_name(grant.family()));
    call.told.borrow_mut().fact("target_user", grant.user.as_str());
    answer.insert("access_token", access);
    answer.insert("type", "Bearer");
    answer.insert("expires_in", LIFE_MS / 1000);
    if grant.refreshes {
        let content = Content { grant: grant.id, end: 0, serial: grant.counter };
        answer.insert("refresh_token", keys.write(Kind::Refresh, &keys.refresh().seal(content)));
    }
    if let Some(authentication) = authentication {
        answer.insert("authentication", authentication);
    }
    Ok(value(200, &Value::Object(answer)))
}

async fn refresh<E: Env>(call: &Call<'_, E>, desk: &Desk<'_, E>, token: &str) -> Result<Reply> {
    let invalid = || Ok(failed("invalid_grant", "could not refresh the requested token"));
    let read = desk.keeper().keys().read(token).filter(|read| read.kind == Kind::Refresh);
    let content = read.and_then(|read| desk.keeper().keys().refresh().open(&read.body));
    let Some(content) = content else { return invalid() };
    let state = desk.state();
    let grant = state.grant(content.grant).filter(|grant| grant.kind == GrantKind::Service);
    if grant.is_some_and(|grant| grant.maker.as_ref() != Some(&maker(desk.principal))) {
        return Ok(failed("invalid_grant", "tokens must be refreshed by the creating client"));
    }
    let user = grant.and_then(|grant| state.user(&grant.user));
    let Some(user) = user.filter(|user| user.enabled).cloned() else { return invalid() };
    let command = Command::Refresh {
        grant: content.grant,
        counter: content.serial,
        client: None,
        narrowed: None,
        most: None,
        idle: REFRESH_MS,
        life: LIFE_MS,
        window: WINDOW_MS,
        now: now(call),
    };
    match desk.ask(call, command).await {
        Ok(Outcome::Granted(grant, serial)) => {
            let owner = Principal::user_of(user, &desk.state());
            answer(call, desk, &grant, serial, Some(has::show(&owner, desk.keeper())))
        }
        Ok(_) | Err(authz::Error::InvalidGrant | authz::Error::Foreign) => invalid(),
        Err(authz::Error::Reused) => {
            Ok(failed("invalid_grant", "token has already been refreshed"))
        }
        Err(error) => Err(told(error)),
    }
}

/// `DELETE /_security/oauth2/token`. Whoever holds a token may end that very one.
pub(super) async fn invalidate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = desk(call)?;
    let body = call.required_map().await?;
    let fields = ["token", "refresh_token", "realm_name", "username"];
    let body = Body::new(&body, "invalidate token request", &fields)?;
    let (token, refresh) = (body.text("token")?, body.text("refresh_token")?);
    let (realm, user) = (body.text("realm_name")?, body.text("username")?);
    let is_its_own = token.is_some_and(|token| is_own(call, token));
    if !is_its_own {
        call.gate.cluster(call.route.privilege)?;
    }
    let need = (!is_its_own).then_some(Need::Action(call.route.privilege));
    let count = u8::from(token.is_some()) + u8::from(refresh.is_some());
    if count > 1 || (count == 1 && (realm.is_some() || user.is_some())) {
        return Err(Error::validation(&[
            "only one of [token, refresh_token] or [realm_name, username] can be specified",
        ]));
    }
    if count == 0 && realm.is_none() && user.is_none() {
        return Err(Error::validation(&["token string must be provided"]));
    }
    for (fact, given) in [("target_realm", realm), ("target_user", user)] {
        if let Some(name) = given {
            call.told.borrow_mut().fact(fact, name);
        }
    }
    let state = desk.state();
    let keys = desk.keeper().keys();
    let (mut invalidated, mut before) = (0, 0);
    // What is no token of ours may be a secret in the wrong place.
    if let Some(given) = token.or(refresh).filter(|given| keys.read(given).is_some()) {
        call.told.borrow_mut().fact("target_token", keys.public_id(given));
    }
    if let Some(token) = token {
        let read = keys.read(token).filter(|read| read.kind == Kind::Access);
        let content = read.and_then(|read| keys.access(state.epoch).open(&read.body));
        // One whose time is over needs no ending.
        let known = content.filter(|content| now(call) < content.end);
        if let Some(content) = known {
            let Content { grant, serial, .. } = content;
            let command =
                Command::RevokeAccess { grant, serial, end: content.end_s(), now: now(call) };
            match desk.ask_for(call, need, command).await.map_err(told)? {
                Outcome::Changed => invalidated = 1,
                _ => before = 1,
            }
        }
    } else {
        let grants: Vec<u64> = match refresh {
            Some(refresh) => {
                let read = keys.read(refresh).filter(|read| read.kind == Kind::Refresh);
                let content = read.and_then(|read| keys.refresh().open(&read.body));
                content.map(|content| content.grant).into_iter().collect()
            }
            None => state
                .grants
                .values()
                .filter(|grant| grant.kind == GrantKind::Service)
                .filter(|grant| user.is_none_or(|user| user == grant.user))
                .filter(|grant| {
                    realm.is_none_or(|realm| {
                        state.user(&grant.user).is_some_and(|user| user.realm.names().0 == realm)
                    })
                })
                .map(|grant| grant.id)
                .collect(),
        };
        let count = grants.len();
        let names: Vec<String> = grants.iter().map(|grant| keys.grant_name(*grant)).collect();
        call.told.borrow_mut().names("target_grant", &names);
        let command = Command::Revoke { grants, consents: false };
        if let Outcome::Ended(ended) = desk.ask_for(call, need, command).await.map_err(told)? {
            (invalidated, before) = (ended.len(), count - ended.len());
        }
    }
    let answer = json!({
        "invalidated_tokens": invalidated,
        "previously_invalidated_tokens": before,
        "error_count": 0,
    });
    Ok(value(if invalidated + before == 0 { 404 } else { 200 }, &answer))
}

/// Is it the very token that came with this request?
fn is_own<E: Env>(call: &Call<'_, E>, token: &str) -> bool {
    let given = call.head.text("authorization").and_then(|header| header.trim().split_once(' '));
    given.is_some_and(|(scheme, given)| {
        scheme.eq_ignore_ascii_case("Bearer")
            && authz::secret::is_equal(given.trim().as_bytes(), token.as_bytes())
    })
}
