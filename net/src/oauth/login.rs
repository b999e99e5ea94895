//! `/login` and `/logout`.
//!
//! One message and one time for an unknown name, a wrong password, a locked and a disabled account.
//! No account is locked for good: anyone could lock anyone. Delays grow instead ([`super::throttle`]).

use std::sync::Arc;

use authz::form::Hash;
use authz::pages::login::{self, Login, Trouble};
use authz::pages::problem;
use authz::record::proof::Proof;
use authz::record::session::Session;
use authz::record::user::{Realm, User};
use authz::{AuthError, Command, Principal, Secret};
use env::Env;
use unicode_normalization::UnicodeNormalization as _;

use super::form::Form;
use super::limit::host;
use super::throttle::{Trying, Who};
use super::visit::{SignedIn, Visit};
use super::{ask, authorize, cookie, device, known, redirect};
use crate::reply::Reply;

/// Where a person goes on after signing in.
struct Way<'a> {
    /// The request that waits; empty where none does.
    request: &'a str,
    /// The code of a device, as it came with the address that the device showed.
    code: Option<String>,
}

/// `GET /login`.
pub fn get<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let Ok(form) = Form::parse(visit.query) else { return visit.dead_request() };
    let request = form.text("request").to_owned();
    if !request.is_empty() && pending(visit, &request).is_none() {
        return visit.dead_request();
    }
    let hint =
        pending(visit, &request).and_then(|pending| pending.hint.clone()).unwrap_or_default();
    let way = Way { request: &request, code: device::code_in(&form) };
    show(visit, 200, &way, &hint, Trouble::None)
}

/// The request of this browser that waits under this id.
pub fn pending<E: Env>(
    visit: &Visit<'_, E>,
    request: &str,
) -> Option<Arc<authz::record::grant::Pending>> {
    let state = visit.state();
    let pending = state.pending.get(&visit.hash("pending", request))?;
    let is_ours = visit.anchor() == Some(pending.browser) && visit.now() < pending.end;
    // Its client may have been suspended since, or have lost the address to which it would lead.
    let client = state.client(&pending.client).filter(|client| client.is_approved());
    let is_open = client.is_some_and(|client| ask::may_lead_to(client, &pending.redirect));
    // A handle is used up by the first decision, whichever tab makes it.
    let is_spent = pending.handle.is_some_and(|handle| !state.pushed.contains(&handle));
    (is_ours && is_open && !is_spent).then(|| Arc::clone(pending))
}

/// The form; a browser without an anchor gets one.
fn show<E: Env>(
    visit: &Visit<'_, E>,
    status: u16,
    way: &Way<'_>,
    username: &str,
    trouble: Trouble,
) -> Reply {
    visit.because("the sign-in failed");
    let request = way.request;
    let (anchor, set_cookie) = match visit.anchor() {
        Some(anchor) => (anchor, None),
        None => {
            let value = visit.random_text();
            (visit.hash("browser", &value), Some(cookie::set(cookie::ANCHOR, &value)))
        }
    };
    let state = visit.state();
    let waiting = pending(visit, request);
    let app = waiting.as_ref().and_then(|pending| state.client(&pending.client));
    let csrf = visit.token_of(&anchor, &format!("login {request}"));
    let html = login::render(&Login {
        language: visit.language(),
        csrf: &csrf,
        request,
        user_code: way.code.as_deref().unwrap_or_default(),
        username,
        app: app.map(|client| client.profile.name.as_str()),
        end: waiting.as_ref().map(|pending| pending.end),
        trouble,
    });
    // Where consent is remembered the browser is led on to the client at once, and some browsers hold the
    // redirect that follows a form to the policy of its page.
    let target = waiting.as_ref().map(|pending| redirect::policy_source(&pending.redirect));
    let mut reply = visit.page_to(status, html, target.as_deref());
    if let Trouble::Wait(seconds) = trouble {
        reply = reply.field("Retry-After", seconds.to_string());
    }
    if trouble == Trouble::Busy {
        reply = reply.field("Retry-After", "1");
    }
    match set_cookie {
        Some(set_cookie) => reply.field("Set-Cookie", set_cookie),
        None => reply,
    }
}

/// `POST /login`.
pub async fn post<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let Some(form) = visit.posted() else { return visit.foreign_form() };
    let request = form.text("request").to_owned();
    let Some(anchor) = visit.anchor() else { return visit.foreign_form() };
    if !visit.is_own_form(&form, &visit.token_of(&anchor, &format!("login {request}"))) {
        return visit.foreign_form();
    }
    if form.repeated(&[]).is_some() || (!request.is_empty() && pending(visit, &request).is_none()) {
        return visit.dead_request();
    }
    let way = Way { request: &request, code: device::code_in(&form) };
    let (name, password) = (form.text("username"), form.text("password"));
    let account = account(name);
    let device = known::of_account(visit, &account);
    let who = Who { account: &account, peer: visit.peer, device };
    let now = visit.monotonic();
    // Before the password is looked at: attempts at once count as those one after another.
    let trying = match Trying::begin(visit.limiter, &visit.settings.limits, &who, now) {
        Ok(trying) => trying,
        Err(seconds) => return throttled(visit, &way, name, seconds),
    };
    let checked = visit
        .security
        .authenticator
        .password(name.to_owned(), Secret::new(password.to_owned()), host(visit.peer))
        .await;
    let principal = match checked {
        Ok(principal) => principal,
        Err(AuthError::Busy) => {
            trying.undo();
            return show(visit, 503, &way, name, Trouble::Busy);
        }
        Err(_) => {
            visit.note("login_failed", "failed", &[("user", name)]);
            trying.failed(visit.monotonic());
            return show(visit, 400, &way, name, Trouble::Wrong);
        }
    };
    if principal.user().realm == Realm::File {
        // Grants and sessions hang on a user of the state, which this is not.
        trying.undo();
        visit.note("login_failed", "failed", &[("user", name), ("reason", "a user of the file")]);
        return show(visit, 400, &way, name, Trouble::FileAccount);
    }
    let begun = match session(visit, principal, password).await {
        Ok(begun) => begun,
        Err(authz::Error::Busy) => {
            trying.undo();
            return show(visit, 503, &way, name, Trouble::Busy);
        }
        Err(authz::Error::Lapsed) => {
            visit.note("login_failed", "failed", &[("user", name)]);
            trying.failed(visit.monotonic());
            return show(visit, 400, &way, name, Trouble::Wrong);
        }
        Err(_) => {
            trying.undo();
            return visit.down();
        }
    };
    trying.succeeded(visit.monotonic());
    visit.note("login_ok", "ok", &[("user", name)]);
    go_on(visit, begun, &way).await
}

/// Somebody gives the person a password in the moment in which it is looked at, mostly the same one (a tool that
/// sets up users sets them up again): it is looked at again, so often in all.
const ATTEMPTS_MAX: usize = 3;

/// A session of who was let in by this password, with its cookie's value.
///
/// # Errors
/// `Lapsed` where the password is another one by now.
async fn session<E: Env>(
    visit: &Visit<'_, E>,
    principal: Principal,
    password: &str,
) -> Result<(Arc<User>, Session, String), authz::Error> {
    let mut user = Arc::clone(principal.user_record());
    for _ in 1..ATTEMPTS_MAX {
        match renew(visit, &user, user.proof()).await {
            Err(authz::Error::Lapsed) => {}
            renewed => return renewed.map(|(session, value)| (user, session, value)),
        }
        let secret = Secret::new(password.to_owned());
        let door = &visit.security.authenticator;
        let again = door.password(user.name.clone(), secret, host(visit.peer)).await;
        let again = again.map_err(|error| ended_by(&error))?;
        if !again.user().is(&user) {
            return Err(authz::Error::Lapsed);
        }
        user = Arc::clone(again.user_record());
    }
    let (session, value) = renew(visit, &user, user.proof()).await?;
    Ok((user, session, value))
}

/// Why who was let in a moment ago gets no session, by the answer to its second look. A line that is full says nothing
/// of the password.
fn ended_by(error: &AuthError) -> authz::Error {
    match error {
        AuthError::Busy | AuthError::Slow { .. } => authz::Error::Busy,
        _ => authz::Error::Lapsed,
    }
}

/// The answer to who has to wait.
fn throttled<E: Env>(visit: &Visit<'_, E>, way: &Way<'_>, name: &str, seconds: u64) -> Reply {
    visit.note("login_throttled", "failed", &[("user", name)]);
    show(visit, 429, way, name, Trouble::Wait(seconds))
}

/// Keeps a new session in place of the browser's old one, for who is let in by `by`; answers it and its cookie's
/// value.
pub async fn renew<E: Env>(
    visit: &Visit<'_, E>,
    user: &User,
    by: Proof,
) -> Result<(Session, String), authz::Error> {
    let value = visit.random_text();
    let now = visit.now();
    let old = visit.signed_in().map(|signed_in| signed_in.session.id);
    let session = Session {
        id: visit.hash("session", &value),
        user: user.name.clone(),
        uid: user.uid,
        auth_time: now,
        seen: now,
        end: now + visit.settings.session_absolute,
        agent: visit.head.text("user-agent").map(|agent| agent.chars().take(200).collect()),
        address: Some(visit.address()),
    };
    let kept = session.clone();
    visit.ask(Command::PutSession { session: kept, instead_of: old, by: Some(by), now }).await?;
    make_room(visit, user, session.id).await;
    Ok((session, value))
}

/// Sessions that one account has at most; beyond, the one that was seen least lately ends.
const SESSIONS_MAX: usize = 50;

/// Ends others where with `new`, which is kept by now, there are too many. Of several that come at once each sees
/// itself and all that were kept before, so the last of them sees all; what two of them end is the same.
async fn make_room<E: Env>(visit: &Visit<'_, E>, user: &User, new: Hash) {
    let state = visit.state();
    let others = state.sessions_of(user, visit.now()).filter(|session| session.id != new);
    let mut others: Vec<(u64, Hash)> = others.map(|session| (session.seen, session.id)).collect();
    others.sort_unstable();
    let over = (others.len() + 1).saturating_sub(SESSIONS_MAX);
    let ids: Vec<Hash> = others.into_iter().take(over).map(|(_, id)| id).collect();
    if !ids.is_empty() {
        // Where it cannot be written the next sign-in ends them.
        let count = ids.len().to_string();
        if visit.ask(Command::EndSessions { ids }).await.is_ok() {
            let reason = format!("there are more than {SESSIONS_MAX} sessions of this account");
            let facts =
                [("user", user.name.as_str()), ("count", count.as_str()), ("reason", &reason)];
            visit.note("logout", "ok", &facts);
        }
    }
}

/// Goes on where the person was led from, with a new session and its cookie's value.
async fn go_on<E: Env>(
    visit: &Visit<'_, E>,
    (user, session, value): (Arc<User>, Session, String),
    way: &Way<'_>,
) -> Reply {
    let request = way.request;
    let session = Arc::new(session);
    let signed_in =
        SignedIn { session, user: Arc::clone(&user), reviews: false, sign_out: String::new() };
    let reply = match pending(visit, request) {
        None => match &way.code {
            Some(code) if visit.settings.device => {
                visit.see_other(&format!("/device?user_code={code}"))
            }
            _ => visit.see_other("/account/apps"),
        },
        Some(pending) => match authorize::allow_again(visit, &pending, &signed_in).await {
            Some(mut reply) => {
                if reply.status == 302 {
                    // A password was posted: the browser must not post it again.
                    reply.status = 303;
                }
                reply
            }
            None => visit.see_other(&format!("/consent?request={request}")),
        },
    };
    let remembered = known::remember(visit, &account(&user.name));
    reply.field("Set-Cookie", cookie::set(cookie::SESSION, &value)).field("Set-Cookie", remembered)
}

/// `GET /logout`: only a button.
pub fn ask_out<E: Env>(visit: &Visit<'_, E>) -> Reply {
    match visit.signed_in() {
        Some(signed_in) => visit.page(200, problem::sign_out(&visit.person(&signed_in))),
        None => visit.see_other("/login"),
    }
}

/// `POST /logout`.
pub async fn out<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let Some(signed_in) = visit.signed_in() else { return visit.see_other("/login") };
    let Some(form) = visit.posted() else { return visit.foreign_form() };
    if !visit.is_own_form(&form, &signed_in.sign_out) || form.repeated(&[]).is_some() {
        return visit.foreign_form();
    }
    let ids = vec![signed_in.session.id];
    if visit.ask(Command::EndSessions { ids }).await.is_err() {
        return visit.down();
    }
    visit.note("logout", "ok", &[("user", &signed_in.user.name)]);
    visit.see_other("/login").field("Set-Cookie", cookie::clear(cookie::SESSION))
}

/// Name under which an account's failures are counted, also where it does not exist.
pub fn account(name: &str) -> String {
    name.trim().nfkc().flat_map(char::to_lowercase).take(512).collect()
}

/// The counter of an account's attempts: of those in the same network, or of the browser's own where it signed in
/// before.
pub fn counter<E: Env>(visit: &Visit<'_, E>, name: &str) -> String {
    let account = account(name);
    let device = known::of_account(visit, &account);
    Who { account: &account, peer: visit.peer, device }.person()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the line was full at the second look the page said that the password is wrong.
    #[test]
    fn a_full_line_is_no_wrong_password() {
        assert_eq!(ended_by(&AuthError::Busy), authz::Error::Busy);
        assert_eq!(ended_by(&AuthError::Slow { seconds: 5 }), authz::Error::Busy);
        let wrong = AuthError::Wrong { user: "ann".into() };
        assert_eq!(ended_by(&wrong), authz::Error::Lapsed);
    }
}
