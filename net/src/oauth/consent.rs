//! `/consent`: the owner sees what is asked, and decides once.

use std::sync::Arc;

use authz::oauth::reach::{Reach, Remains, Today};
use authz::oauth::{details, scope};
use authz::pages::consent::{self, Condition, Consent, Detail};
use authz::pages::words::{self, Weight};
use authz::record::client::Client;
use authz::record::grant::Pending;
use env::Env;
use json::Value;

use super::authorize::{Denial, reach_of};
use super::form::Form;
use super::login::pending;
use super::visit::{SignedIn, Visit};
use super::{authorize, redirect};
use crate::reply::Reply;

/// `GET /consent`.
pub fn get<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let Ok(form) = Form::parse(visit.query) else { return visit.dead_request(400) };
    let request = form.text("request");
    let Some(pending) = pending(visit, request) else { return visit.dead_request(400) };
    let Some(signed_in) = present(visit, &pending) else {
        return visit.see_other(&format!("/login?request={request}"));
    };
    show(visit, request, &pending, &signed_in)
}

/// Who is signed in, recently enough for this request.
fn present<E: Env>(visit: &Visit<'_, E>, pending: &Pending) -> Option<SignedIn> {
    visit.signed_in().filter(|signed_in| {
        let at = signed_in.session.auth_time;
        let age = visit.now().saturating_sub(at);
        let is_recent = pending.max_age.is_none_or(|most| age <= most.saturating_mul(1000));
        at >= pending.created || (!pending.relogin && is_recent)
    })
}

fn show<E: Env>(
    visit: &Visit<'_, E>,
    request: &str,
    pending: &Pending,
    signed_in: &SignedIn,
) -> Reply {
    let state = visit.state();
    let Some(client) = state.client(&pending.client) else { return visit.dead_request(400) };
    let profile = &client.profile;
    let csrf = visit.token_of(&signed_in.session.id, &format!("consent {request}"));
    let links = [
        ("home", &profile.client_uri),
        ("privacy", &profile.policy_uri),
        ("terms", &profile.tos_uri),
    ];
    let reach = reach_of(&state, &signed_in.user);
    let (scopes, beyond): (Vec<String>, Vec<String>) =
        pending.scopes.iter().cloned().partition(|scope| reach.holds_any(scope));
    let entries = || pending.details.iter().enumerate();
    let details = entries().filter(|(_, entry)| reach.holds_any_of(entry));
    let details = details.map(|(at, entry)| detail(visit, &reach, at, entry)).collect();
    // What indices there are is nobody's business who holds nothing of them.
    let beyond_details = entries()
        .filter(|(_, entry)| !reach.holds_any_of(entry))
        .flat_map(|(_, entry)| details::scopes(entry))
        .map(|scope| words::anywhere(&scope.to_string()));
    let beyond = beyond.iter().map(|scope| words::anywhere(scope));
    let beyond = beyond.chain(beyond_details).collect();
    let lasting = client.may("refresh_token");
    let shown = Consent {
        person: signed_in.person(),
        csrf: &csrf,
        request,
        app: &profile.name,
        logo: logo(client, &pending.client),
        description: profile.description.as_deref(),
        links: links.iter().filter_map(|(name, uri)| Some((*name, uri.as_deref()?))).collect(),
        publisher: state.owner_of(client).map(|owner| owner.name.as_str()),
        reviewed: !client.unreviewed,
        host: redirect::remote_host(&pending.redirect),
        insecure: redirect::is_insecure(&pending.redirect),
        scopes: in_words(visit, &reach, &scopes),
        details,
        beyond,
        swallows: swallows(pending),
        may_remember: pending.details.is_empty()
            && authorize::may_remember(client, &pending.redirect),
        lasting,
        life: if lasting { visit.settings.refresh_absolute } else { visit.settings.access_token },
        end: pending.end,
    };
    // Some browsers hold the redirect that follows a form to its policy.
    let target = redirect::policy_source(&pending.redirect);
    visit.page_to(200, consent::render(&shown), Some(&target))
}

/// Where a client's logo is.
pub fn logo(client: &Arc<Client>, client_id: &str) -> Option<String> {
    client.profile.logo.as_ref().map(|_| format!("/logo/{client_id}"))
}

/// Scopes with what they mean today to an owner who reaches so far.
pub fn in_words<E: Env>(
    visit: &Visit<'_, E>,
    reach: &Reach,
    scopes: &[String],
) -> Vec<(String, words::Words)> {
    scopes.iter().map(|scope| (scope.clone(), told(visit, reach, scope))).collect()
}

/// A scope with what it means today to an owner who reaches so far: what remains of it, or all of it where
/// that is nothing.
pub fn told<E: Env>(visit: &Visit<'_, E>, reach: &Reach, scope: &str) -> words::Words {
    match reach.remains(scope) {
        Some(remains @ Remains::Indices(_)) => {
            words::held(scope, &remains, visit.held_today(reach, scope))
        }
        Some(remains) => words::held(scope, &remains, Today::default()),
        None => words::of(scope, |_| Today::default()),
    }
}

/// An entry of details, the one at this place, with what it means today to an owner who reaches so far.
pub fn detail<E: Env>(visit: &Visit<'_, E>, reach: &Reach, at: usize, entry: &Value) -> Detail {
    let scopes = || details::scopes(entry).into_iter().map(|scope| scope.to_string());
    let (mut held, mut later) = (Vec::new(), Vec::new());
    for scope in scopes() {
        let words = reach.holds_any(&scope).then(|| told(visit, reach, &scope));
        // What is not held today is granted all the same, and works as soon as it is.
        if words.as_ref().is_none_or(words::Words::is_part) {
            later.push(words::anywhere(&scope));
        }
        held.extend(words);
    }
    if held.is_empty() {
        later.clear();
        // Granted before the owner lost it all.
        held = scopes().map(|scope| words::of(&scope, |_| Today::default())).collect();
    }
    let sentences: Vec<&str> = held.iter().map(|words| words.sentence.as_str()).collect();
    let fields = entry.get("fields").and_then(Value::as_array).unwrap_or_default();
    Detail {
        at,
        sentence: sentences.join("; "),
        condition: entry.get("query").map(Condition::of),
        fields: fields.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        later,
        weight: held.iter().map(|words| words.weight).max().unwrap_or(Weight::Slight),
    }
}

/// A scope gives without a filter what an entry would give with one.
fn swallows(pending: &Pending) -> bool {
    let scopes = scope::stored(&pending.scopes);
    pending
        .details
        .iter()
        .filter(|entry| entry.get("query").is_some() || entry.get("fields").is_some())
        .flat_map(details::scopes)
        .any(|part| scopes.iter().any(|scope| scope.holds(&part)))
}

/// `POST /consent`.
pub async fn post<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let Some(form) = visit.posted() else { return visit.foreign_form() };
    let request = form.text("request").to_owned();
    let Some(pending) = pending(visit, &request) else { return visit.dead_request(403) };
    let Some(signed_in) = present(visit, &pending) else {
        return visit.see_other(&format!("/login?request={request}"));
    };
    let token = visit.token_of(&signed_in.session.id, &format!("consent {request}"));
    if !visit.is_own_form(&form, &token) || form.repeated(&["scope", "detail"]).is_some() {
        return visit.foreign_form();
    }
    match form.text("decision") {
        "allow" => {
            let is_asked = |ticked: &str| pending.scopes.iter().any(|asked| asked == ticked);
            if !form.all("scope").all(is_asked) {
                let facts = [("user", signed_in.user.name.as_str()), ("client", &pending.client)];
                visit.note("scope_escalation_attempt", "failed", &facts);
            }
            let (scopes, details) = ticked(&form, &pending);
            let remember = form.first("remember").is_some();
            authorize::allow(visit, &pending, &signed_in, scopes, details, remember).await
        }
        "deny" => authorize::deny(visit, &pending, &signed_in, Denial::Refused).await,
        _ => visit.foreign_form(),
    }
}

/// What was asked and ticked; anything else that was posted is ignored.
fn ticked(form: &Form, pending: &Pending) -> (Vec<String>, Vec<Value>) {
    let scopes = pending
        .scopes
        .iter()
        .filter(|asked| form.all("scope").any(|ticked| ticked == asked.as_str()))
        .cloned()
        .collect();
    let details = pending
        .details
        .iter()
        .enumerate()
        .filter(|(at, _)| form.all("detail").any(|ticked| ticked == at.to_string()))
        .map(|(_, entry)| entry.clone())
        .collect();
    (scopes, details)
}
