//! `GET /authorize`: from a client's request to a person's decision.
//!
//! It never shows a form: it leads to the login or the consent page, or back to the client. What
//! leads back is decided only after client and redirect URI were found good.

use std::sync::Arc;
use std::time::Duration;

use authz::oauth::reach::Reach;
use authz::oauth::{details, scope};
use authz::pages::language::Texts;
use authz::record::client::Client;
use authz::record::grant::{Code, Consent, Pending};
use authz::record::proof::Proof;
use authz::record::user::User;
use authz::token::text::Kind;
use authz::{Command, Outcome, Principal};
use env::Env;
use json::Value;

use super::ask::{self, Asked, Refusal, Stop, Target};
use super::form::Form;
use super::limit::{Of, owned};
use super::visit::{SignedIn, Visit};
use super::waiting::From;
use super::{answer, cookie, known, redirect};
use crate::reply::Reply;

/// What handles of pushed requests begin with.
pub const HANDLE: &str = "urn:ietf:params:oauth:request_uri:";

/// Answers a request.
pub async fn get<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let Some(form) = Form::parse(visit.query).ok().filter(Form::is_one_line) else {
        return visit.problem(
            400,
            ["This request cannot be read", "Diese Anfrage ist nicht lesbar"],
            [
                "The address that the application sent you to is malformed.",
                "Die Adresse, zu der die Anwendung Sie geschickt hat, ist fehlerhaft.",
            ],
            TELL_THEM,
        );
    };
    match read(visit, &form) {
        Ok((target, asked, state, handle)) => {
            let scope = asked.scopes.join(" ");
            let facts = [("client", target.client_id.as_str()), ("scope", &scope)];
            visit.note("authorize_request", "ok", &facts);
            go_on(visit, target, asked, state, handle).await
        }
        Err(Trouble::Stop(stop)) => stopped(visit, stop),
        Err(Trouble::Refusal(target, refusal, state)) => {
            refused(visit, &target, refusal, state.as_deref())
        }
    }
}

/// Why a request does not go on.
enum Trouble {
    Stop(Stop),
    Refusal(Target, Refusal, Option<String>),
}

type Read = (Target, Asked, Option<String>, Option<authz::form::Hash>);

fn read<E: Env>(visit: &Visit<'_, E>, form: &Form) -> Result<Read, Trouble> {
    let state = visit.state();
    let (client, id) = ask::client(&state, form).map_err(Trouble::Stop)?;
    let sent = form.one("request_uri").map_err(|_| Trouble::Stop(Stop::Handle))?;
    let handle = sent.filter(|sent| sent.starts_with(HANDLE));
    let (form, handle) = match handle {
        Some(text) => {
            let hash = visit.hash("par", text);
            let pushed = state
                .pushed
                .get(&hash)
                .filter(|pushed| pushed.client == id && visit.now() < pushed.end)
                .ok_or(Trouble::Stop(Stop::Handle))?;
            let pushed = Form::of(pushed.params.clone());
            visit.is_as_pushed(&pushed);
            (pushed, Some(hash))
        }
        None if client.require_par || visit.settings.par_required => {
            return Err(Trouble::Stop(Stop::HandleMissing));
        }
        None => (form.clone(), None),
    };
    let target = ask::target(client, id, &form).map_err(Trouble::Stop)?;
    // A state that came twice is nobody's.
    let opaque = form.one("state").ok().flatten().map(str::to_owned);
    match ask::check(visit.settings, client, &form) {
        Ok(asked) => Ok((target, asked, opaque, handle)),
        Err(refusal) => Err(Trouble::Refusal(target, refusal, opaque)),
    }
}

fn stopped<E: Env>(visit: &Visit<'_, E>, stop: Stop) -> Reply {
    visit.note("authorize_rejected", "failed", &[("reason", &format!("{stop:?}"))]);
    let (title, sentence) = match stop {
        Stop::Client => (
            ["This application is not known", "Diese Anwendung ist nicht bekannt"],
            [
                "It is not registered here, or may not ask for access at this time.",
                "Sie ist hier nicht registriert oder darf zurzeit nicht um Zugriff bitten.",
            ],
        ),
        Stop::Redirect => (
            [
                "This application sent you with a wrong return address",
                "Diese Anwendung hat Sie mit einer falschen Rücksprungadresse geschickt",
            ],
            [
                "The address to which you would return is not one that the application registered.",
                "Die Adresse, zu der Sie zurückkehren würden, hat die Anwendung nicht registriert.",
            ],
        ),
        Stop::RedirectMissing => (
            [
                "This application did not say where to return",
                "Diese Anwendung hat nicht gesagt, wohin Sie zurückkehren sollen",
            ],
            [
                "It has registered several return addresses, so it has to name one.",
                "Sie hat mehrere Rücksprungadressen registriert, also muss sie eine nennen.",
            ],
        ),
        Stop::Handle => (
            ["This request is over", "Diese Anfrage ist nicht mehr gültig"],
            [
                "The application's request is unknown, too old, or was used already.",
                "Die Anfrage der Anwendung ist unbekannt, zu alt oder wurde schon benutzt.",
            ],
        ),
        Stop::HandleMissing => (
            [
                "This application asked in a wrong way",
                "Diese Anwendung hat auf falsche Weise gefragt",
            ],
            [
                "It has to send its request to this server before it sends you.",
                "Sie muss ihre Anfrage an diesen Server senden, bevor sie Sie hierher schickt.",
            ],
        ),
    };
    let todo = [
        "You were not sent on, for your safety. Go back to the application and begin again, or \
         tell the people who make it.",
        "Zu Ihrer Sicherheit wurden Sie nicht weitergeleitet. Gehen Sie zurück zur Anwendung und beginnen Sie \
         von vorn, oder sagen Sie denen Bescheid, die sie entwickeln.",
    ];
    visit.problem(400, title, sentence, todo)
}

/// Tells the client; a client that nobody reviewed is told on a page, so that strangers cannot use
/// us to send people anywhere.
fn refused<E: Env>(
    visit: &Visit<'_, E>,
    target: &Target,
    refusal: Refusal,
    state: Option<&str>,
) -> Reply {
    let facts = [("client", target.client_id.as_str()), ("reason", refusal.error)];
    visit.note("authorize_rejected", "failed", &facts);
    if target.client.unreviewed {
        return visit.problem(400, IMPOSSIBLE, refusal.said, TELL_THEM);
    }
    led_back(visit, target, (refusal.error, refusal.description()), state)
}

const TELL_THEM: Texts = [
    "Tell the people who make the application.",
    "Sagen Sie denen Bescheid, die die Anwendung entwickeln.",
];

const IMPOSSIBLE: Texts = [
    "This application asked for something impossible",
    "Diese Anwendung hat etwas Unmögliches verlangt",
];

/// Tells the client, by leading the browser back.
fn led_back<E: Env>(
    visit: &Visit<'_, E>,
    target: &Target,
    (error, description): (&str, &str),
    state: Option<&str>,
) -> Reply {
    let issuer = &visit.settings.issuer;
    answer::error(&target.redirect, error, description, state, issuer)
}

/// The request is good: who is there, and was it decided before?
async fn go_on<E: Env>(
    visit: &Visit<'_, E>,
    target: Target,
    asked: Asked,
    state: Option<String>,
    handle: Option<authz::form::Hash>,
) -> Reply {
    let now = visit.now();
    let prompt = asked.prompt;
    let signed_in = visit.signed_in().filter(|signed_in| {
        let age = now.saturating_sub(signed_in.session.auth_time);
        !prompt.login && asked.max_age.is_none_or(|most| age <= most.saturating_mul(1000))
    });
    let silent = |error: &'static str, description: &'static str| {
        let facts = [("client", target.client_id.as_str()), ("reason", error)];
        visit.note("authorize_rejected", "failed", &facts);
        if target.client.unreviewed {
            // Nobody decided anything: a link with this in it would lead anybody anywhere.
            return visit.problem(
                400,
                IMPOSSIBLE,
                [
                    "It wants an answer without showing you anything, and nobody here has reviewed it.",
                    "Sie will eine Antwort, ohne Ihnen etwas zu zeigen, und niemand hier hat sie geprüft.",
                ],
                [
                    "You were not sent on, for your safety. Go back to the application and begin again.",
                    "Zu Ihrer Sicherheit wurden Sie nicht weitergeleitet. Gehen Sie zurück zur Anwendung und \
                     beginnen Sie von vorn.",
                ],
            );
        }
        led_back(visit, &target, (error, description), state.as_deref())
    };
    if prompt.none {
        let Some(signed_in) = &signed_in else {
            return silent("login_required", "Nobody is signed in");
        };
        let known = remembered(
            visit,
            &target.client,
            &target.client_id,
            &target.redirect,
            &asked.scopes,
            &asked.details,
            signed_in,
        );
        if known.is_none() {
            return silent("consent_required", "The owner has to be asked");
        }
    }
    // Behind one address there are many people: who is known is counted by himself.
    let user = signed_in.as_ref().map(|signed_in| signed_in.user.name.as_str());
    let of = known::counted_as(visit, user);
    if let Some(seconds) = too_often(visit, &of) {
        let facts = [("client", target.client_id.as_str()), ("reason", "Too many requests")];
        visit.note("authorize_rejected", "failed", &facts);
        let reply = visit.problem(
            429,
            ["Too many requests came from your network", "Aus Ihrem Netz kamen zu viele Anfragen"],
            ["More applications were started from there within a minute than this server takes.", "Von dort wurden innerhalb einer Minute mehr Anwendungen gestartet, als dieser Server annimmt."],
            ["Wait a minute, go back to the application, and begin again.", "Warten Sie eine Minute, gehen Sie zurück zur Anwendung und beginnen Sie von vorn."],
        );
        return reply.field("Retry-After", seconds.to_string());
    }
    let (anchor, set_cookie) = match visit.anchor() {
        Some(anchor) => (anchor, None),
        None => {
            let value = visit.random_text();
            (visit.hash("browser", &value), Some(cookie::set(cookie::ANCHOR, &value)))
        }
    };
    let request = visit.random_text();
    let pending = Pending {
        redirect_sent: target.redirect_sent,
        scopes: asked.scopes,
        details: asked.details,
        resource: asked.resource,
        state: state.clone(),
        challenge: asked.challenge,
        handle,
        relogin: prompt.login,
        reconsent: prompt.consent,
        max_age: asked.max_age,
        hint: asked.hint,
        ..Pending::new(
            visit.hash("pending", &request),
            anchor,
            target.client_id.clone(),
            target.redirect.clone(),
            now,
        )
    };
    let pending = Arc::new(pending);
    match keep(visit, &pending, &of, now).await {
        Ok(_) => {}
        // Its handle ended, or was used up, since it was looked up.
        Err(authz::Error::Gone) => return stopped(visit, Stop::Handle),
        Err(_) if target.client.unreviewed => return visit.down(),
        Err(_) => return led_back(visit, &target, TEMPORARY, state.as_deref()),
    }
    let again = match &signed_in {
        None => None,
        Some(signed_in) => allow_again(visit, &pending, signed_in).await,
    };
    let mut reply = match again {
        Some(reply) => reply,
        // What stood as the request came has ended since.
        None if prompt.none && visit.signed_in().is_none() => {
            silent("login_required", "Nobody is signed in")
        }
        None if prompt.none => silent("consent_required", "The owner has to be asked"),
        None if signed_in.is_none() => visit.see_other(&format!("/login?request={request}")),
        None => visit.see_other(&format!("/consent?request={request}")),
    };
    if let Some(set_cookie) = set_cookie {
        reply = reply.field("Set-Cookie", set_cookie);
    }
    reply
}

/// Seconds to wait where too many requests of this came to wait within a minute.
fn too_often<E: Env>(visit: &Visit<'_, E>, of: &str) -> Option<u64> {
    let (limit, minute) = (visit.settings.limits.authorize, Duration::from_secs(60));
    visit.limiter.count(Of::Authorize, of, limit, minute, visit.monotonic())
}

/// Keeps a request that waits, counted as one of `of`. Where there are too many, others end before: of those who
/// have most.
async fn keep<E: Env>(
    visit: &Visit<'_, E>,
    pending: &Pending,
    of: &str,
    now: u64,
) -> Result<Outcome, authz::Error> {
    let (waiting, most) = (&visit.limiter.waiting, visit.settings.limits.waiting as usize);
    let from = From { network: &owned(visit.peer), of };
    for over in waiting.enter(pending, &from, most, &visit.state().pending) {
        let (code, consent, by) = (None, None, None);
        // It may have been decided or be over by now.
        visit.ask(Command::Decide { pending: over, code, consent, by, now }).await.ok();
    }
    let kept = visit.ask(Command::PutPending { pending: pending.clone(), now }).await;
    waiting.entered(pending.id, kept.is_ok());
    kept
}

/// State cannot be written: a page with 503 could not be led back.
const TEMPORARY: (&str, &str) =
    ("temporarily_unavailable", "The server cannot keep its state at this moment");

/// Carries out "allow" where an earlier decision covers a request that waits, and still stands as the code is made;
/// none where its owner must be asked.
pub async fn allow_again<E: Env>(
    visit: &Visit<'_, E>,
    pending: &Pending,
    signed_in: &SignedIn,
) -> Option<Reply> {
    let state = visit.state();
    let client = state.client(&pending.client).filter(|_| !pending.reconsent)?;
    let consent = remembered(
        visit,
        client,
        &pending.client,
        &pending.redirect,
        &pending.scopes,
        &pending.details,
        signed_in,
    )?;
    let (scopes, details) = (pending.scopes.clone(), pending.details.clone());
    let by = By { proof: signed_in.remembrance(&consent), remember: None };
    let reply = give(visit, pending, signed_in, scopes, details, by).await?;
    let facts = [("user", signed_in.user.name.as_str()), ("client", &pending.client)];
    visit.note("consent_reused", "ok", &facts);
    Some(reply)
}

/// The consent that covers this.
fn remembered<E: Env>(
    visit: &Visit<'_, E>,
    client: &Client,
    client_id: &str,
    redirect: &str,
    scopes: &[String],
    details: &[Value],
    signed_in: &SignedIn,
) -> Option<Arc<Consent>> {
    let state = visit.state();
    let user = &signed_in.user;
    let known = state.consents.get(&(user.name.clone(), client_id.to_owned()))?;
    let (granted, wanted) = (scope::stored(&known.scopes), scope::stored(scopes));
    let covers = known.uid == user.uid
        && known.version == client.version
        && known.origin == redirect::origin(redirect)
        && may_remember(client, redirect)
        && details.is_empty()
        && wanted.len() == scopes.len()
        && scope::holds_all(&granted, &wanted);
    covers.then(|| Arc::clone(known))
}

/// Whether a decision may be remembered: only for clients that can prove who they are.
pub fn may_remember(client: &Client, redirect: &str) -> bool {
    client.profile.confidential && !client.unreviewed && redirect::remote_host(redirect).is_some()
}

/// On whose word something is allowed.
pub struct By {
    /// The session's, or that of a consent that is remembered.
    pub proof: Proof,
    /// It is not asked for again, of the client as it was at this version, which its owner has seen.
    pub remember: Option<u64>,
}

/// The client of a request that is answered now, where its answer may still go where it was to.
fn led_to<'s>(state: &'s authz::State, pending: &Pending) -> Option<&'s Arc<Client>> {
    state.client(&pending.client).filter(|client| ask::may_lead_to(client, &pending.redirect))
}

/// Carries out "allow": what the owner cannot give falls away; nothing left is a refusal.
pub async fn allow<E: Env>(
    visit: &Visit<'_, E>,
    pending: &Pending,
    signed_in: &SignedIn,
    scopes: Vec<String>,
    details: Vec<Value>,
    by: By,
) -> Reply {
    let given = give(visit, pending, signed_in, scopes, details, by).await;
    given.unwrap_or_else(|| visit.dead_request())
}

/// The same; none where that on whose word it was ends before it is done.
async fn give<E: Env>(
    visit: &Visit<'_, E>,
    pending: &Pending,
    signed_in: &SignedIn,
    scopes: Vec<String>,
    details: Vec<Value>,
    By { proof, remember }: By,
) -> Option<Reply> {
    let state = visit.state();
    let now = visit.now();
    let user = &signed_in.user;
    let asked = (&*pending.scopes, &*pending.details);
    let is_ticked = ask::is_more_than_time((&scopes, &details), asked);
    let (scopes, details) = within_reach(visit, user, scopes, details);
    if !is_ticked || (scopes.is_empty() && details.is_empty()) {
        let why = if is_ticked { Denial::NothingToGive } else { Denial::Refused };
        return Some(deny(visit, pending, signed_in, why).await);
    }
    let is_fine = |client: &&Arc<Client>| {
        pending.challenge.is_some() || !ask::needs_challenge(visit.settings, client)
    };
    let Some(client) = led_to(&state, pending).filter(is_fine) else {
        return Some(visit.dead_request());
    };
    let code = visit.keys().write(Kind::Code, &visit.random());
    let earlier = match &proof {
        Proof::Consent { seen, .. } => seen.as_ref().and_then(|seen| seen.without_refresh),
        _ => None,
    };
    let without_refresh = scope::keeps_back(&pending.scopes, &scopes).or(earlier);
    let seen = remember.filter(|_| details.is_empty() && may_remember(client, &pending.redirect));
    let consent = seen.map(|version| Consent {
        user: user.name.clone(),
        uid: user.uid,
        client: pending.client.clone(),
        version,
        origin: redirect::origin(&pending.redirect),
        scopes: scopes.clone(),
        without_refresh,
    });
    let kept = Code {
        hash: visit.hash("code", &code),
        client: pending.client.clone(),
        redirect: pending.redirect.clone(),
        redirect_sent: pending.redirect_sent,
        user: user.name.clone(),
        uid: user.uid,
        scopes,
        details,
        resource: pending.resource.clone(),
        challenge: pending.challenge.clone(),
        end: now + visit.settings.code,
        spent: None,
        burnt: false,
        without_refresh,
        begun: Some(now),
    };
    let granted = kept.scopes.join(" ");
    let facts = [("user", user.name.as_str()), ("client", &pending.client), ("scope", &granted)];
    let by = Some(proof);
    let command = Command::Decide { pending: pending.id, code: Some(kept), consent, by, now };
    let (opaque, issuer) = (pending.state.as_deref(), visit.settings.issuer.as_str());
    Some(match visit.ask(command).await {
        Ok(_) => {
            visit.note("consent_granted", "ok", &facts);
            visit.note("code_issued", "ok", &facts);
            answer::code(&pending.redirect, &code, opaque, issuer)
        }
        Err(authz::Error::Lapsed) => return None,
        Err(authz::Error::Gone) => visit.dead_request(),
        Err(_) => {
            let (error, description) = TEMPORARY;
            answer::error(&pending.redirect, error, description, opaque, issuer)
        }
    })
}

/// Why a client gets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The owner said no, or ticked nothing.
    Refused,
    /// The owner said yes to what they do not hold themselves.
    NothingToGive,
}

impl Denial {
    /// For the client, and for the audit log.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Refused => "The owner refused",
            Self::NothingToGive => "The owner holds nothing of what was asked for",
        }
    }
}

/// Carries out "deny".
pub async fn deny<E: Env>(
    visit: &Visit<'_, E>,
    pending: &Pending,
    signed_in: &SignedIn,
    why: Denial,
) -> Reply {
    if led_to(&visit.state(), pending).is_none() {
        return visit.dead_request();
    }
    let now = visit.now();
    let by = Some(signed_in.proof());
    let command = Command::Decide { pending: pending.id, code: None, consent: None, by, now };
    let (opaque, issuer) = (pending.state.as_deref(), visit.settings.issuer.as_str());
    match visit.ask(command).await {
        Ok(_) => {
            let asked = pending.scopes.join(" ");
            let facts = [
                ("reason", why.description()),
                ("user", signed_in.user.name.as_str()),
                ("client", &pending.client),
                ("scope", &asked),
            ];
            visit.note("consent_denied", "ok", &facts);
            answer::error(&pending.redirect, "access_denied", why.description(), opaque, issuer)
        }
        Err(authz::Error::Gone | authz::Error::Lapsed) => visit.dead_request(),
        Err(_) => visit.down(),
    }
}

/// How far what an owner holds today reaches.
pub fn reach_of(state: &authz::State, user: &Arc<User>) -> Reach {
    Reach::new(Principal::user_of(Arc::clone(user), state).roles(state).into())
}

/// How far it reaches for an application that asks for this: what lies behind an alias that is asked for with it
/// counts where the owner's roles write the alias's very name.
pub fn reach_for<E: Env>(
    visit: &Visit<'_, E>,
    user: &Arc<User>,
    scopes: &[String],
    details: &[Value],
) -> Reach {
    let mut asked = scope::stored(scopes);
    asked.extend(details.iter().flat_map(details::scopes));
    let state = visit.core.state();
    let behind = |alias: &str| {
        let indices = state.aliases.get(alias)?.iter();
        Some(indices.map(|index| index.to_string()).collect())
    };
    reach_of(&visit.state(), user).with_aliases(&asked, &behind)
}

/// Scopes and details of which the owner holds at least a part today.
pub fn within_reach<E: Env>(
    visit: &Visit<'_, E>,
    user: &Arc<User>,
    scopes: Vec<String>,
    details: Vec<Value>,
) -> (Vec<String>, Vec<Value>) {
    let reach = reach_for(visit, user, &scopes, &details);
    let asked_count = scopes.len() + details.len();
    let mut scopes: Vec<String> = scopes.into_iter().filter(|text| reach.holds_any(text)).collect();
    let details: Vec<Value> =
        details.into_iter().filter(|entry| reach.holds_any_of(entry)).collect();
    let has_lost = scopes.len() + details.len() < asked_count;
    if has_lost && details.is_empty() && scopes.iter().all(|it| it == scope::OFFLINE) {
        // To keep nothing for longer is nothing.
        scopes.clear();
    }
    (scopes, details)
}
