//! `/consent`: the owner sees what is asked, and decides once.

use std::sync::Arc;

use authz::oauth::reach::{Reach, Share, Today};
use authz::oauth::sight::Sight;
use authz::oauth::{details, scope};
use authz::pages::consent::{self, Condition, Consent, Detail};
use authz::pages::layout::UNDECIDED;
use authz::pages::words::{self, Weight, Words};
use authz::record::client::Client;
use authz::record::grant::Pending;
use env::Env;
use json::Value;

use super::authorize::{Denial, reach_for};
use super::form::Form;
use super::login::pending;
use super::visit::{SignedIn, Visit};
use super::whole::Whole;
use super::{ask, authorize, redirect};
use crate::reply::Reply;

/// `GET /consent`.
pub fn get<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let Ok(form) = Form::parse(visit.query) else { return visit.dead_request() };
    let request = form.text("request");
    let Some(pending) = pending(visit, request) else { return visit.dead_request() };
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
    let Some(client) = state.client(&pending.client) else { return visit.dead_request() };
    if !may_ask(visit, client, pending) {
        return outgrown(visit, 400);
    }
    let profile = &client.profile;
    let csrf = token(visit, signed_in, request, client.version);
    let links = [
        (["home", "Startseite"], &profile.client_uri),
        (["privacy", "Datenschutz"], &profile.policy_uri),
        (["terms", "Nutzungsbedingungen"], &profile.tos_uri),
    ];
    let reach = reach_for(visit, &signed_in.user, &pending.scopes, &pending.details);
    let (scopes, mut beyond) = asked(visit, &reach, &pending.scopes);
    let mut details = Vec::new();
    for (at, entry) in pending.details.iter().enumerate() {
        match held_detail(visit, &reach, at, entry) {
            Some(detail) => details.push(detail),
            // What indices there are is nobody's business who holds nothing of them.
            None => {
                let scopes = scope::widest(details::scopes(entry)).into_iter();
                beyond.extend(
                    scopes.map(|scope| words::anywhere(visit.language(), &scope.to_string())),
                );
            }
        }
    }
    let lasting = client.may("refresh_token");
    let shown = Consent {
        person: visit.person(signed_in),
        csrf: &csrf,
        request,
        app: &profile.name,
        logo: logo(client, &pending.client),
        description: profile.description.as_deref(),
        links: links
            .iter()
            .filter_map(|(name, uri)| Some((visit.say(*name), uri.as_deref()?)))
            .collect(),
        publisher: state.owner_of(client).map(|owner| owner.name.as_str()),
        reviewed: !client.unreviewed,
        host: redirect::remote_host(&pending.redirect),
        insecure: redirect::is_insecure(&pending.redirect),
        scopes,
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

/// Token of the form on a page that showed the client at this version, which stands before it.
fn token<E: Env>(
    visit: &Visit<'_, E>,
    signed_in: &SignedIn,
    request: &str,
    version: u64,
) -> String {
    let of = visit.token_of(&signed_in.session.id, &format!("consent {request} {version}"));
    format!("{version}.{of}")
}

/// The version of the client that the page of this form showed, by its token.
pub fn seen(form: &Form) -> Option<u64> {
    form.text("csrf_token").split_once('.')?.0.parse().ok()
}

/// May the client still ask for all of it, in this way? It may have lost scopes since it asked, and the page must not
/// offer what no token of it gets; or it may have to use PKCE now.
fn may_ask<E: Env>(visit: &Visit<'_, E>, client: &Client, pending: &Pending) -> bool {
    let ceiling = scope::stored(&client.profile.scopes);
    (pending.challenge.is_some() || !ask::needs_challenge(visit.settings, client))
        && scope::stored(&pending.scopes).iter().all(|one| ask::is_within(&ceiling, client, one))
        && pending.details.iter().all(|entry| scope::holds_all(&ceiling, &details::scopes(entry)))
}

/// Where a client's logo is.
pub fn logo(client: &Arc<Client>, client_id: &str) -> Option<String> {
    client.profile.logo.as_ref().map(|_| format!("/logo/{client_id}"))
}

/// Of scopes that are asked, those of which an owner who reaches so far holds something, with what they mean
/// today; and what the others would be.
pub fn asked<E: Env>(
    visit: &Visit<'_, E>,
    reach: &Reach,
    scopes: &[String],
) -> (Vec<(String, Words)>, Vec<String>) {
    let (mut held, mut beyond) = (Vec::new(), Vec::new());
    for scope in scopes {
        match reach.share(scope) {
            Some(share) => held.push((scope.clone(), told(visit, reach, &share))),
            None => beyond.push(words::anywhere(visit.language(), scope)),
        }
    }
    (held, beyond)
}

/// What is held of a scope, with what it means today.
pub fn told<E: Env>(visit: &Visit<'_, E>, reach: &Reach, share: &Share) -> Words {
    let sight = Sight::of(reach, std::slice::from_ref(&share.scope));
    counted(visit, reach, share).seen(&sight)
}

/// The same without what the owner's own roles hide.
pub fn counted<E: Env>(visit: &Visit<'_, E>, reach: &Reach, share: &Share) -> Words {
    words::held(visit.language(), share, visit.held_today(reach, share))
        .by(&reach.lenders(&share.scope))
}

/// An entry of details, the one at this place, with what it means today to an owner who reaches so far;
/// none of which nothing is held.
pub fn held_detail<E: Env>(
    visit: &Visit<'_, E>,
    reach: &Reach,
    at: usize,
    entry: &Value,
) -> Option<Detail> {
    let (mut held, mut later) = (Vec::new(), Vec::new());
    let scopes = scope::widest(details::scopes(entry));
    let sight = Sight::of(reach, &scopes);
    for scope in scopes {
        let name = scope.to_string();
        let words = reach.share_of(scope).map(|share| counted(visit, reach, &share));
        // What is not held today is granted all the same, and works as soon as it is.
        if words.as_ref().is_none_or(Words::is_part) {
            later.push(words::anywhere(visit.language(), &name));
        }
        held.extend(words);
    }
    (!held.is_empty()).then(|| detail_of(visit, (at, entry), &held, later, &sight))
}

/// The same of an entry that was granted, be it before its owner lost it all.
pub fn detail<E: Env>(visit: &Visit<'_, E>, reach: &Reach, at: usize, entry: &Value) -> Detail {
    held_detail(visit, reach, at, entry).unwrap_or_else(|| {
        let scopes = scope::widest(details::scopes(entry)).into_iter();
        let lost: Vec<Words> = scopes
            .map(|scope| words::of(visit.language(), &scope.to_string(), |_| Today::default()))
            .collect();
        detail_of(visit, (at, entry), &lost, Vec::new(), &Sight::default())
    })
}

fn detail_of<E: Env>(
    visit: &Visit<'_, E>,
    (at, entry): (usize, &Value),
    told: &[Words],
    later: Vec<String>,
    sight: &Sight,
) -> Detail {
    let sentences: Vec<&str> = told.iter().map(|words| words.sentence.as_str()).collect();
    let fields = entry.get("fields").and_then(Value::as_array).unwrap_or_default();
    let fields = fields.iter().filter_map(Value::as_str).map(str::to_owned);
    let (unseen, fields): (Vec<String>, Vec<String>) = fields.partition(|field| sight.hides(field));
    let condition = entry.get("query").map(|query| {
        let state = visit.core.state();
        let whole = Whole::of(&state, entry);
        Condition::of(visit.language(), query, &|field| whole.kept(field))
    });
    Detail {
        at,
        sentence: sentences.join("; "),
        condition,
        fields,
        unseen,
        own: words::seen(visit.language(), sight),
        later,
        weight: told.iter().map(|words| words.weight).max().unwrap_or(Weight::Slight),
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
    let Some(pending) = pending(visit, &request) else { return visit.dead_request() };
    let Some(signed_in) = present(visit, &pending) else {
        return visit.see_other(&format!("/login?request={request}"));
    };
    let Some(seen) = seen(&form) else { return visit.foreign_form() };
    let token = token(visit, &signed_in, &request, seen);
    if !visit.is_own_form(&form, &token) || form.repeated(&["scope", "detail"]).is_some() {
        return visit.foreign_form();
    }
    match form.text("decision") {
        "allow" => {
            let state = visit.state();
            let Some(client) = state.client(&pending.client) else { return visit.dead_request() };
            if !may_ask(visit, client, &pending) {
                return outgrown(visit, 409);
            }
            if client.version != seen {
                return changed(visit);
            }
            let is_asked = |ticked: &str| pending.scopes.iter().any(|asked| asked == ticked);
            if !form.all("scope").all(is_asked) {
                let facts = [("user", signed_in.user.name.as_str()), ("client", &pending.client)];
                visit.note("scope_escalation_attempt", "failed", &facts);
            }
            let (scopes, details) = ticked(&form, &pending);
            let remember = form.first("remember").map(|_| seen);
            let by = authorize::By { proof: signed_in.proof(), remember };
            authorize::allow(visit, &pending, &signed_in, scopes, details, by).await
        }
        UNDECIDED => visit.undecided(),
        "deny" => authorize::deny(visit, &pending, &signed_in, Denial::Refused).await,
        _ => visit.foreign_form(),
    }
}

/// The answer to who allowed what the client is no more.
pub fn changed<E: Env>(visit: &Visit<'_, E>) -> Reply {
    visit.problem(
        409,
        ["This application was changed while you looked at it", "Diese Anwendung wurde geändert, während Sie sie ansahen"],
        ["It may not be what the page showed, so nothing was allowed.", "Sie ist vielleicht nicht mehr, was die Seite zeigte; deshalb wurde nichts erlaubt."],
        ["Go back, load the page again, and decide about what it shows then.", "Gehen Sie zurück, laden Sie die Seite neu und entscheiden Sie über das, was sie dann zeigt."],
    )
}

/// The answer where the client may not ask for this any more: the page would be the same as often as it is loaded.
fn outgrown<E: Env>(visit: &Visit<'_, E>, status: u16) -> Reply {
    visit.problem(
        status,
        [
            "This application was changed after it sent you here",
            "Diese Anwendung wurde geändert, nachdem sie Sie hierher geschickt hatte",
        ],
        [
            "It may not ask for all of this any more, so nothing was allowed.",
            "Sie darf nicht mehr um all das bitten; deshalb wurde nichts erlaubt.",
        ],
        [
            "Go back to the application and begin again.",
            "Gehen Sie zurück zur Anwendung und beginnen Sie von vorn.",
        ],
    )
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
