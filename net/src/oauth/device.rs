//! `/device`: a person types the code that a device shows, and decides.

use std::time::Duration;

use authz::oauth::scope;
use authz::pages::device::{self, Confirm, Done};
use authz::pages::layout::UNDECIDED;
use authz::record::grant::{Device, DeviceState};
use authz::{Command, State};
use env::Env;

use super::authorize::Denial;
use super::form::Form;
use super::limit::{Of, place};
use super::push::{shown, typed};
use super::visit::{SignedIn, Visit};
use super::{ask, authorize, consent};
use crate::reply::Reply;

/// Wrong codes that one session may type in ten minutes.
const WRONG_MAX: u64 = 5;

fn token<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> String {
    visit.token_of(&signed_in.session.id, "device")
}

/// Token of the form on a page that showed the client behind a code at this version, which stands before it.
fn token_of<E: Env>(
    visit: &Visit<'_, E>,
    signed_in: &SignedIn,
    code: &str,
    version: u64,
) -> String {
    let of = visit.token_of(&signed_in.session.id, &format!("device {code} {version}"));
    format!("{version}.{of}")
}

/// `GET /device`: the form; a code in the address only fills it in.
pub fn get<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let code = code_of(visit).unwrap_or_default();
    visit.page(200, device::ask(&visit.person(signed_in), &token(visit, signed_in), &code, None))
}

/// The code in the address, as it is shown; none where it can be none.
pub fn code_of<E: Env>(visit: &Visit<'_, E>) -> Option<String> {
    Form::parse(visit.query).ok().and_then(|form| code_in(&form))
}

/// The code of a form, as it is shown.
pub fn code_in(form: &Form) -> Option<String> {
    let code = typed(form.text("user_code"));
    (!code.is_empty()).then(|| shown(&code))
}

/// `POST /device`: the code, or the decision.
pub async fn post<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let Some(form) = visit.posted() else { return visit.foreign_form() };
    let (code, seen) = (typed(form.text("user_code")), consent::seen(&form));
    let expected = match seen {
        None => token(visit, signed_in),
        Some(version) => token_of(visit, signed_in, &code, version),
    };
    if !visit.is_own_form(&form, &expected) || form.repeated(&["scope"]).is_some() {
        return visit.foreign_form();
    }
    if form.text("decision") == UNDECIDED {
        return visit.undecided();
    }
    let now = visit.monotonic();
    let session: String = signed_in.session.id.0.iter().map(|byte| format!("{byte:02x}")).collect();
    if let Some(seconds) = visit.limiter.is_over(Of::Device, &session, WRONG_MAX - 1, now) {
        return slow(visit, signed_in, seconds);
    }
    let minute = Duration::from_secs(60);
    let limit = visit.settings.limits.device;
    if let Some(seconds) = visit.limiter.count(Of::Device, &place(visit.peer), limit, minute, now) {
        return slow(visit, signed_in, seconds);
    }
    let state = visit.state();
    let waiting = state
        .user_codes
        .get(&code)
        .and_then(|id| state.devices.get(id))
        .filter(|device| device.state == DeviceState::Waiting && visit.now() < device.end);
    let Some(waiting) = waiting else {
        // Nobody guesses for long; `count` answers only from the next one on.
        visit.limiter.count(Of::Device, &session, WRONG_MAX - 1, minute * 10, now);
        return unknown(visit, signed_in);
    };
    let decision = match (form.text("decision"), seen) {
        ("", _) => return confirm(visit, signed_in, waiting),
        ("allow", Some(seen)) => {
            let client = state.client(&waiting.client);
            if client.is_some_and(|client| client.version != seen) {
                return consent::changed(visit);
            }
            true
        }
        ("deny", Some(_)) => false,
        _ => return visit.foreign_form(),
    };
    let asked = asked(&state, waiting);
    let ticked: Vec<String> = asked
        .iter()
        .filter(|asked| form.all("scope").any(|one| one == asked.as_str()))
        .cloned()
        .collect();
    let is_ticked = decision
        && !scope::stored(&ticked).is_empty()
        && ask::is_more_than_time((&ticked, &[]), (&waiting.scopes, &[]));
    // As with a code: what the owner cannot give falls away, and nothing left is a refusal.
    let (given, _) = authorize::within_reach(visit, &signed_in.user, ticked, Vec::new());
    let allowed = is_ticked && !given.is_empty();
    let can_give = || {
        let asked = asked.clone();
        !authorize::within_reach(visit, &signed_in.user, asked, Vec::new()).0.is_empty()
    };
    let done = match (allowed, is_ticked) {
        (true, _) => Done::Allowed,
        (false, true) => Done::Nothing,
        // There was nothing to tick.
        (false, false) if decision && !can_give() => Done::Nothing,
        (false, false) => Done::Refused,
    };
    let now = visit.now();
    let command = Command::DecideDevice {
        begun: Some(now),
        user_code: code,
        user: signed_in.user.name.clone(),
        uid: signed_in.user.uid,
        without_refresh: scope::keeps_back(&waiting.scopes, &given),
        scopes: allowed.then_some(given),
        by: Some(signed_in.proof()),
        now,
    };
    let (asking, client) = (waiting.scopes.join(" "), waiting.client.clone());
    match visit.ask(command).await {
        Ok(_) => {
            let event = if allowed { "consent_granted" } else { "consent_denied" };
            let name = signed_in.user.name.as_str();
            let reason = match done {
                Done::Allowed => "",
                Done::Refused => Denial::Refused.description(),
                Done::Nothing => Denial::NothingToGive.description(),
            };
            let facts =
                [("reason", reason), ("user", name), ("client", &client), ("scope", &asking)];
            visit.note(event, "ok", &facts);
            visit.page(200, device::done(&visit.person(signed_in), done))
        }
        Err(authz::Error::Gone) => unknown(visit, signed_in),
        Err(authz::Error::Lapsed) => visit.see_other("/login"),
        Err(_) => visit.down(),
    }
}

/// What a device asks for, as far as its client may still have it.
fn asked(state: &State, device: &Device) -> Vec<String> {
    let Some(client) = state.client(&device.client) else { return Vec::new() };
    ask::cut_all(client, &device.scopes, &[]).0
}

fn confirm<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn, device: &Device) -> Reply {
    let state = visit.state();
    let Some(client) = state.client(&device.client).filter(|client| client.is_approved()) else {
        return unknown(visit, signed_in);
    };
    let wanted = asked(&state, device);
    if wanted.is_empty() {
        // Of what it asked for its client may have nothing any more.
        return unknown(visit, signed_in);
    }
    let csrf = token_of(visit, signed_in, &device.user_code, client.version);
    let code = shown(&device.user_code);
    let reach = authorize::reach_for(visit, &signed_in.user, &wanted, &[]);
    let (scopes, beyond) = consent::asked(visit, &reach, &wanted);
    let page = device::confirm(&Confirm {
        person: visit.person(signed_in),
        csrf: &csrf,
        code: &code,
        app: &client.profile.name,
        logo: consent::logo(client, &device.client),
        reviewed: !client.unreviewed,
        scopes,
        beyond,
        end: device.end,
    });
    visit.page(200, page)
}

/// One page for codes that are unknown, spent, or over.
fn unknown<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let csrf = token(visit, signed_in);
    let trouble = visit.say([
        "This code is not known, was used, or is over. Look at your device again.",
        "Dieser Code ist nicht bekannt, wurde benutzt oder ist abgelaufen. Sehen Sie noch einmal auf Ihr Gerät.",
    ]);
    visit.because("no such code");
    visit.page(400, device::ask(&visit.person(signed_in), &csrf, "", Some(trouble)))
}

fn slow<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn, seconds: u64) -> Reply {
    let csrf = token(visit, signed_in);
    let trouble = visit.say([
        "Too many codes. Please wait a little.",
        "Zu viele Codes. Bitte warten Sie ein wenig.",
    ]);
    visit.because("too many codes");
    visit
        .page(429, device::ask(&visit.person(signed_in), &csrf, "", Some(trouble)))
        .field("Retry-After", seconds.to_string())
}
