//! `/account`: what has access, where somebody is signed in, the password.

use authz::pages::account::{self, Changed, Row, Stolen, Visit as Seen};
use authz::pages::words;
use authz::record::grant::GrantKind;
use authz::{Command, Secret};
use env::Env;

use super::consent;
use super::visit::{SignedIn, Visit, see_other};
use crate::reply::Reply;

fn token<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> String {
    visit.token_of(&signed_in.session.id, "account")
}

/// The person's grants that still stand.
fn grants<E: Env>(
    visit: &Visit<'_, E>,
    name: &str,
) -> Vec<std::sync::Arc<authz::record::grant::Grant>> {
    let (state, now) = (visit.state(), visit.now());
    state
        .grants_of(name, None)
        .filter(|grant| grant.kind == GrantKind::Oauth && grant.parent.is_none())
        .filter(|grant| now < grant.absolute_end && (!grant.refreshes || now < grant.idle_end))
        .cloned()
        .collect()
}

/// `GET /account/apps`.
pub fn apps<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let state = visit.state();
    let rows: Vec<Row> = grants(visit, &signed_in.user.name)
        .iter()
        .filter_map(|grant| {
            let client_id = grant.client.as_deref()?;
            let client = state.client(client_id)?;
            let today = |pattern: &str| visit.indices_today(Some(&signed_in.user), pattern);
            let scopes = grant.scopes.iter().map(|scope| words::of(scope, today).sentence);
            let details = grant.details.iter().map(|entry| {
                let detail = consent::detail(visit, &signed_in.user, entry);
                match detail.filter {
                    Some(filter) => format!("{}, only where {filter}", detail.sentence),
                    None => detail.sentence,
                }
            });
            Some(Row {
                id: visit.keys().grant_name(grant.id),
                app: client.profile.name.clone(),
                logo: consent::logo(client, client_id),
                permissions: scopes.chain(details).collect(),
                created: grant.created,
                last_used: grant.last_used,
                last_address: grant.last_address.clone(),
                end: Some(grant.absolute_end),
            })
        })
        .collect();
    let csrf = token(visit, signed_in);
    let told = state.notices_of(&signed_in.user, visit.now());
    let stolen: Vec<Stolen> =
        told.map(|notice| Stolen { app: notice.app.clone(), at: notice.at }).collect();
    visit.page(200, account::grants(&signed_in.person(), &csrf, &rows, &stolen))
}

/// `POST /account/apps`.
pub async fn revoke<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let Some(form) = visit.posted() else { return visit.foreign_form() };
    if !visit.is_own_form(&form, &token(visit, signed_in)) || form.repeated(&[]).is_some() {
        return visit.foreign_form();
    }
    let own: Vec<u64> = grants(visit, &signed_in.user.name).iter().map(|grant| grant.id).collect();
    let ended = match form.text("action") {
        "understood" => {
            let state = visit.state();
            let told = state.notices_of(&signed_in.user, visit.now());
            let grants = told.map(|notice| notice.grant).collect();
            return match visit.ask(Command::DropNotices { grants }).await {
                Ok(_) => see_other("/account/apps"),
                Err(_) => visit.down(),
            };
        }
        "revoke_all" => own,
        "revoke" => match visit.keys().grant_named(form.text("grant")) {
            Some(id) if own.contains(&id) => vec![id],
            _ => {
                return visit.problem(
                    404,
                    "There is no such access",
                    "It ended already, or was given by somebody else.",
                    "Look at the list again.",
                );
            }
        },
        _ => return visit.foreign_form(),
    };
    let told: Vec<String> = ended.iter().map(|id| visit.keys().grant_name(*id)).collect();
    match visit.ask(Command::Revoke { grants: ended, consents: true }).await {
        Ok(_) => {
            let facts = [("user", signed_in.user.name.as_str()), ("grant", &told.join(" "))];
            visit.note("consent_revoked", "ok", &facts);
            see_other("/account/apps")
        }
        Err(_) => visit.down(),
    }
}

/// `GET /account/sessions`.
pub fn sessions<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let (state, now) = (visit.state(), visit.now());
    let mut seen: Vec<Seen> = state
        .sessions_of(&signed_in.user, now)
        .filter(|session| now < session.seen + visit.settings.session_idle)
        .map(|session| Seen {
            agent: session.agent.clone(),
            address: session.address.clone(),
            seen: session.seen,
            this: session.id == signed_in.session.id,
        })
        .collect();
    seen.sort_by_key(|session| std::cmp::Reverse((session.this, session.seen)));
    let csrf = token(visit, signed_in);
    visit.page(200, account::sessions(&signed_in.person(), &csrf, &seen))
}

/// `POST /account/sessions`.
pub async fn end_sessions<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let Some(form) = visit.posted() else { return visit.foreign_form() };
    if !visit.is_own_form(&form, &token(visit, signed_in))
        || form.text("action") != "sign_out_everywhere"
    {
        return visit.foreign_form();
    }
    let state = visit.state();
    let ids = state.sessions_of(&signed_in.user, visit.now()).map(|session| session.id).collect();
    match visit.ask(Command::EndSessions { ids }).await {
        Ok(_) => {
            see_other("/login").field("Set-Cookie", super::cookie::clear(super::cookie::SESSION))
        }
        Err(_) => visit.down(),
    }
}

/// `GET /account/security`.
pub fn security<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    form(visit, 200, signed_in, Changed::No)
}

fn form<E: Env>(
    visit: &Visit<'_, E>,
    status: u16,
    signed_in: &SignedIn,
    changed: Changed<'_>,
) -> Reply {
    let csrf = token(visit, signed_in);
    visit.page(status, account::password(&signed_in.person(), &csrf, changed))
}

/// Passwords that everybody tries first.
const COMMON: &[&str] = &[
    "password",
    "12345678",
    "123456789",
    "1234567890",
    "qwertyuiop",
    "iloveyou",
    "password1",
    "password123",
    "11111111",
    "00000000",
    "sunshine",
    "princess",
    "football",
    "baseball",
    "trustno1",
    "superman",
    "letmein1",
    "changeme",
    "administrator",
    "corelode",
    "elasticsearch",
    "qwerty123",
    "1q2w3e4r",
    "1qaz2wsx",
    "abcd1234",
    "passw0rd",
    "welcome1",
    "88888888",
];

/// `POST /account/security`.
pub async fn change_password<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let Some(posted) = visit.posted() else { return visit.foreign_form() };
    if !visit.is_own_form(&posted, &token(visit, signed_in)) || posted.repeated(&[]).is_some() {
        return visit.foreign_form();
    }
    let refuse = |why: &str| form(visit, 400, signed_in, Changed::Refused(why));
    let (old, new) = (posted.text("password"), posted.text("new_password"));
    if new != posted.text("new_password_again") {
        return refuse("The two new passwords differ.");
    }
    if !(8..=512).contains(&new.chars().count()) {
        return refuse("The new password needs at least 8 characters.");
    }
    let plain = new.to_lowercase();
    if COMMON.contains(&plain.as_str()) || plain == signed_in.user.name.to_lowercase() {
        return refuse("The new password is one of those that are tried first.");
    }
    let name = &signed_in.user.name;
    let now = visit.monotonic();
    let key = format!("account {}", name.to_lowercase());
    if let Some(seconds) = visit.limiter.delay(&key, now) {
        return refuse("Too many attempts. Please wait a little.")
            .field("Retry-After", seconds.to_string());
    }
    let old = Secret::new(old.to_owned());
    if visit.security.authenticator.password(name.clone(), old).await.is_err() {
        visit.limiter.failed(&key, visit.settings.limits.login_failures, now);
        return refuse("The current password is wrong.");
    }
    let new = Secret::new(new.to_owned());
    let Ok(hash) = authz::store::hash(visit.core.env(), new).await else { return visit.down() };
    let command = Command::SetPassword {
        user: name.clone(),
        password: hash,
        instead_of: None,
        keep: Some(signed_in.session.id),
    };
    if visit.ask(command).await.is_err() {
        return visit.down();
    }
    visit.note("password_changed", "ok", &[("user", name)]);
    if posted.first("revoke_grants").is_some() {
        let own = grants(visit, name).iter().map(|grant| grant.id).collect();
        if visit.ask(Command::Revoke { grants: own, consents: true }).await.is_err() {
            return visit.down();
        }
    }
    let Ok((session, value)) = super::login::renew(visit, &signed_in.user).await else {
        return visit.down();
    };
    let sign_out = visit.token_of(&session.id, "sign out");
    let renewed = SignedIn { session: session.into(), sign_out, ..signed_in.clone() };
    form(visit, 200, &renewed, Changed::Yes)
        .field("Set-Cookie", super::cookie::set(super::cookie::SESSION, &value))
}
