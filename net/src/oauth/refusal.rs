//! Refusals in the audit log: whatever of this half refuses a request, there is a line of it.
//!
//! Who knows most of a refusal notes it; of every other one [`note`] does, through which all answers go, so that
//! none can be forgotten. Nothing is told of what is no refusal: a path or method that is not there, a device that
//! is to wait for its person, a server that cannot at this moment.

use authz::Via;
use engine::Error;
use env::Env;
use http::{Method, Target};
use json::Value;

use super::client_auth::named;
use super::visit::Visit;
use crate::admit::Known;
use crate::audit;
use crate::reply::Reply;

/// What a device hears while its person has not decided.
const WAITING: &[&str] = &["authorization_pending", "slow_down"];

/// Notes an answer that refuses, where nothing was noted of its request; `path` is the endpoint's, cut.
pub fn note<E: Env>(visit: &Visit<'_, E>, path: &[&str], reply: &Reply) {
    if !visit.is_audited() || visit.is_told.get() || !is_refusal(path, reply.status) {
        return;
    }
    if path.first() == Some(&"_oauth") {
        if !visit.is_admitted.get() {
            let (env, security) = (visit.core.env(), Some(visit.security));
            audit::refused(env, security, visit.strangers, visit.head, visit.peer, reply);
        }
        return;
    }
    let body = json::parse(&reply.body).unwrap_or_default();
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    if WAITING.contains(&text("error")) {
        return;
    }
    let why = visit.why.borrow();
    let status = format!("answered {}", reply.status);
    let reason = [why.as_str(), text("error_description"), &status];
    let reason = reason.into_iter().find(|reason| !reason.is_empty()).unwrap_or_default();
    let signed_in = visit.signed_in();
    let proven = visit.proven.get().and_then(|client| client.client_id.as_deref());
    let client = match path {
        ["register", id] => named(id),
        _ => proven.unwrap_or_default(),
    };
    let user = signed_in.as_ref().map_or("", |signed_in| signed_in.user.name.as_str());
    let facts = [("reason", reason), ("user", user), ("client", client)];
    told(visit, event(visit.head.method(), path, reply.status), &facts);
}

/// Notes that a request was refused: what it was, and what is known of it.
pub fn told<E: Env>(visit: &Visit<'_, E>, event: &str, facts: &[(&str, &str)]) {
    let path = String::from_utf8_lossy(Target::new(visit.head.target()).path()).into_owned();
    let path = match path.rsplit_once('/') {
        // What is no id by its form may be a secret in the wrong place.
        Some((before, id)) if before.ends_with("/register") && named(id).is_empty() => before,
        _ => path.as_str(),
    };
    let mut facts = facts.to_vec();
    facts.extend([("method", visit.head.method_text()), ("path", path)]);
    visit.note(event, "failed", &facts);
}

/// Notes that somebody who was let in may not do this.
pub fn denied<E: Env>(visit: &Visit<'_, E>, known: &Known, error: &Error) {
    if !visit.is_audited() {
        return;
    }
    let (key, client, grant) = match known.via() {
        Via::ApiKey(key) => (key.id.clone(), String::new(), String::new()),
        Via::Oauth(grant) | Via::Token(grant) => {
            let name = visit.keys().grant_name(grant.family());
            (String::new(), grant.client.clone().unwrap_or_default(), name)
        }
        Via::Realm | Via::Service(_) => Default::default(),
    };
    let facts = [
        ("reason", error.reason.as_str()),
        ("user", known.name()),
        ("realm", known.realm().0),
        ("run_by", known.acting().map_or("", authz::Principal::name)),
        ("api_key", &key),
        ("client", &client),
        ("grant", &grant),
    ];
    told(visit, "access_denied", &facts);
}

/// Was somebody refused, who asked for something that is there?
fn is_refusal(path: &[&str], status: u16) -> bool {
    match status {
        // Of what belongs to people, "there is none" says that it is not the asker's.
        404 => matches!(path, ["account" | "apps" | "admin", _]),
        405 => false,
        status => (400..500).contains(&status),
    }
}

/// What was not done.
fn event(method: Method, path: &[&str], status: u16) -> &'static str {
    let posts = method == Method::Post;
    match (path, status) {
        (["token"], _) => "token_issued",
        (["revoke"], _) => "token_revoked",
        (["introspect"], _) => "token_introspected",
        (["par" | "device_authorization" | "authorize" | "consent"], _) => "authorize_rejected",
        (["register"], _) | (["apps", "new"], 400 | 429) => "client_registered",
        (["register", _], _) if method == Method::Put => "client_changed",
        (["register", _], _) if method == Method::Delete => "client_deleted",
        (["apps", _], 400) if posts => "client_changed",
        (["device"], 400 | 429) => "device_code_failed",
        (["login"], 429) => "login_throttled",
        (["login"], _) if posts => "login_failed",
        (["login"], _) => "authorize_rejected",
        (["account", "security"], 400) => "password_changed",
        _ => "access_denied",
    }
}
