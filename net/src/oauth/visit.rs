//! One request at the OAuth half: who knocks, with which cookies, and what every answer carries.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use authz::audit::CHANGE;
use authz::form::Hash;
use authz::oauth::reach::{Reach, Share, There, Today};
use authz::pages::language::{Language, Texts};
use authz::pages::layout;
use authz::pages::problem;
use authz::record::client::Client;
use authz::record::grant::Consent;
use authz::record::proof::Proof;
use authz::record::session::Session;
use authz::record::user::User;
use authz::token::Keys;
use authz::{Command, Error, Need, Outcome, Principal, Right, State};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine::Core;
use env::{Clock, Env, Random};
use http::Head;

use super::cookie;
use super::form::Form;
use super::limit::Limiter;
use super::settings::Settings;
use crate::admit::Security;
use crate::audit::begun::{self, Facts};
use crate::audit::{Strangers, request_id};
use crate::reply::Reply;

/// Sessions are noted as seen at most this often.
const SEEN_EVERY_MS: u64 = 60_000;

/// A request.
pub struct Visit<'a, E: Env> {
    /// The engine: which indices are there.
    pub core: &'a Rc<Core<E>>,
    /// Users, clients, grants.
    pub security: &'a Security<E>,
    /// How this half is set up.
    pub settings: &'a Settings,
    /// Counters.
    pub limiter: &'a Limiter,
    /// Head of the request.
    pub head: &'a Head,
    /// Its query.
    pub query: &'a [u8],
    /// Its body.
    pub body: &'a [u8],
    /// Address of the other side, as `host:port`.
    pub peer: &'a str,
    /// By which its lines in the audit log are found together.
    pub id: OnceCell<String>,
    /// The client that showed who it is, once it has.
    pub proven: OnceCell<Arc<Client>>,
    /// The store let the caller in.
    pub is_admitted: Cell<bool>,
    /// Callers without any credential, for the audit log.
    pub strangers: &'a Strangers,
    /// Something was noted of it in the audit log.
    pub is_told: Cell<bool>,
    /// The language that it asks for, once that was looked at: see [`language`](super::language).
    pub asked_language: OnceCell<Option<Language>>,
    /// Why it was refused, for the audit log, where nobody else says so.
    pub why: RefCell<String>,
    /// What whoever asks must hold as each of its commands is carried out: administrators, and developers of
    /// applications.
    pub right: OnceCell<Right>,
    /// For whom an application will act that is made or changed, or gets a secret: whoever asks must be able to.
    pub account: OnceCell<String>,
}

/// Somebody who is signed in.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// The session.
    pub session: Arc<Session>,
    /// Who.
    pub user: Arc<User>,
    /// May review applications and administer clients.
    pub reviews: bool,
    /// Token of the form that signs out.
    pub sign_out: String,
}

impl SignedIn {
    /// By what a client is let in without a question: this consent, which its person gave before.
    pub fn remembrance(&self, consent: &Consent) -> Proof {
        let (client, seen) = (consent.client.clone(), Some(consent.clone()));
        Proof::Consent { session: self.session.id, client, seen }
    }

    /// By what its person gives commands.
    pub fn proof(&self) -> Proof {
        Proof::Session { id: self.session.id }
    }

    /// The person's right, in this state and by this session, to what `need` says.
    pub fn right(&self, state: &State, need: Need) -> Right {
        let principal = Principal::user_of(Arc::clone(&self.user), state);
        Right { session: Some(self.session.id), ..Right::new(principal, need, 0) }
    }
}

/// The action that reviewers and administrators of clients may do.
pub const MANAGE: &str = "cluster:admin/oauth/manage";

impl<E: Env> Visit<'_, E> {
    /// Authz state as it is now.
    pub fn state(&self) -> Arc<State> {
        self.security.keeper.state()
    }

    /// The keys of this node.
    pub fn keys(&self) -> &Keys {
        self.security.keeper.keys()
    }

    /// Milliseconds since 1970.
    pub fn now(&self) -> u64 {
        u64::try_from(self.unix_ms()).unwrap_or(0)
    }

    /// The clock that counters go by.
    pub fn monotonic(&self) -> Duration {
        self.core.env().clock().monotonic()
    }

    /// Host of the other side.
    pub fn address(&self) -> String {
        super::limit::host(self.peer).to_owned()
    }

    /// Thirty-two bytes that nobody can guess.
    pub fn random(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.core.env().random().fill(&mut bytes);
        bytes
    }

    /// The same as text for a URL or a cookie.
    pub fn random_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.random())
    }

    /// How a value handed out is kept.
    pub fn hash(&self, purpose: &str, value: &str) -> Hash {
        self.keys().hash(purpose, value.as_bytes())
    }

    /// Has a change of state made, durably. In strict mode it has a line in the audit log by then.
    ///
    /// # Errors
    /// What the state refuses, why it cannot be written, or that the log takes no line.
    pub async fn ask(&self, command: Command) -> Result<Outcome, Error> {
        let command = opened(&self.state(), command);
        let keeper = &self.security.keeper;
        let is_strict = keeper.audit().strict_count().is_some();
        let facts = is_strict.then(|| begun::facts(&command, self.keys(), &self.state())).flatten();
        if let Some(facts) = &facts
            && !keeper.audit().begin(self.unix_ms(), &self.with_request(facts)).await
        {
            return Err(self.unmade(facts, Error::Unnoted));
        }
        let done = match self.right.get() {
            None => keeper.ask(command).await,
            Some(right) => {
                let is_lent = matches!(
                    command,
                    Command::PutClient { .. }
                        | Command::OpenClient { .. }
                        | Command::RotateSecret { .. }
                );
                let account = self.account.get().filter(|_| is_lent).cloned();
                let right = Right { account, now_ms: self.now(), ..right.clone() };
                keeper.ask_by_right(command, right).await
            }
        };
        // A code or token that comes in vain has an event of its own, and may have ended others.
        let is_told =
            |error: &Error| matches!(error, Error::InvalidGrant | Error::Foreign | Error::Reused);
        done.map_err(|error| match &facts {
            Some(facts) if !is_told(&error) => self.unmade(facts, error),
            _ => error,
        })
    }

    /// Notes that a change was not made whose line says that it began.
    fn unmade(&self, facts: &Facts, error: Error) -> Error {
        let reason = error.to_string();
        let mut facts = self.with_request(facts);
        facts.push(("reason", &reason));
        self.security.keeper.audit().note(self.unix_ms(), CHANGE, "failed", &facts);
        error
    }

    /// These, and what lines tell of every request.
    fn with_request<'f>(&'f self, facts: &'f Facts) -> Vec<(&'f str, &'f str)> {
        let mut all: Vec<_> = facts.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.tell_request(&mut all);
        all
    }

    fn tell_request<'f>(&'f self, facts: &mut Vec<(&'f str, &'f str)>) {
        facts.extend([
            ("address", super::limit::host(self.peer)),
            ("user_agent", self.head.text("user-agent").unwrap_or_default()),
            ("request_id", self.id.get_or_init(|| request_id(self.core.env()))),
            ("opaque_id", self.head.text("x-opaque-id").unwrap_or_default()),
        ]);
    }

    fn unix_ms(&self) -> i64 {
        self.core.env().clock().unix_ms()
    }

    /// Is anything written into an audit log?
    pub fn is_audited(&self) -> bool {
        self.security.keeper.audit().is_on()
    }

    /// Writes a line into the audit log: what happened, what came of it, and what is known of it.
    pub fn note(&self, event: &str, outcome: &str, facts: &[(&str, &str)]) {
        self.note_lists(event, outcome, facts, &[]);
    }

    /// The same, where several values of a kind are known of it.
    pub fn note_lists(
        &self,
        event: &str,
        outcome: &str,
        facts: &[(&str, &str)],
        lists: &[(&str, &[String])],
    ) {
        self.is_told.set(true);
        let audit = self.security.keeper.audit();
        if !audit.is_on() {
            return;
        }
        let mut all = facts.to_vec();
        self.tell_request(&mut all);
        audit.note_lists(self.unix_ms(), event, outcome, &all, lists);
    }

    /// Has whoever asks shown who it is? A client without a secret cannot: anybody may know its name.
    pub fn is_of_known(&self) -> bool {
        self.is_admitted.get()
            || self.proven.get().is_some_and(|client| client.profile.confidential)
            || self.signed_in().is_some()
    }

    /// Who is signed in in this browser.
    pub fn signed_in(&self) -> Option<SignedIn> {
        let value = cookie::value(self.head, cookie::SESSION)?;
        let id = self.hash("session", value);
        let (state, now) = (self.state(), self.now());
        let session = Arc::clone(state.sessions.get(&id)?);
        let idle_end = session.seen.saturating_add(self.settings.session_idle);
        if now >= session.end || now >= idle_end {
            return None;
        }
        let user = Arc::clone(state.user(&session.user)?);
        if !user.enabled || user.uid != session.uid {
            return None;
        }
        let reviews = Principal::user_of(Arc::clone(&user), &state).gate().cluster(MANAGE).is_ok();
        let sign_out = self.token_of(&id, "sign out");
        Some(SignedIn { session, user, reviews, sign_out })
    }

    /// Notes that a session was seen, at most once a minute.
    pub async fn see(&self, signed_in: &SignedIn) {
        let (id, seen, now) = (signed_in.session.id, signed_in.session.seen, self.now());
        if now >= seen + SEEN_EVERY_MS.min(self.settings.session_idle / 4) {
            // The next request notes it again where this one could not.
            self.ask(Command::SeeSession { id, now }).await.ok();
        }
    }

    /// What this browser is called before somebody signs in.
    pub fn anchor(&self) -> Option<Hash> {
        cookie::value(self.head, cookie::ANCHOR).map(|value| self.hash("browser", value))
    }

    /// Token of a form on a page of this session or browser, for one purpose.
    pub fn token_of(&self, of: &Hash, purpose: &str) -> String {
        let mut bytes = of.0.to_vec();
        bytes.extend_from_slice(purpose.as_bytes());
        URL_SAFE_NO_PAD.encode(self.keys().hash("csrf", &bytes).0)
    }

    /// Whether a form was posted from a page of ours that carried this token.
    pub fn is_own_form(&self, form: &Form, token: &str) -> bool {
        let given = form.text("csrf_token");
        self.is_own_origin() && authz::secret::is_equal(given.as_bytes(), token.as_bytes())
    }

    /// Whether the browser says that the request comes from a page of ours. Under our policy of no
    /// referrer browsers call even our own origin `null`; then `Sec-Fetch-Site` must speak for it.
    fn is_own_origin(&self) -> bool {
        match self.head.text("origin").filter(|origin| *origin != "null") {
            Some(origin) => self.settings.is_own_origin(origin),
            None => self.head.text("sec-fetch-site") == Some("same-origin"),
        }
    }

    /// Whether a browser says that a page which is not ours sent the request. Who is no browser says nothing of it.
    pub fn is_from_elsewhere(&self) -> bool {
        match (self.head.text("origin"), self.head.text("sec-fetch-site")) {
            (None, None | Some("none")) => false,
            _ => !self.is_own_origin(),
        }
    }

    /// How much a pattern matches now: for a reviewer, who is nobody's owner, and hears of all.
    pub fn there_today(&self, pattern: &str) -> Today {
        let state = self.core.state();
        Today::of(there(&state).filter(|one| one.fits(pattern)))
    }

    /// On how much a scope is held now by an owner who reaches so far.
    pub fn held_today(&self, reach: &Reach, share: &Share) -> Today {
        let state = self.core.state();
        reach.today(share, there(&state))
    }

    /// The body as a form. One that is said to be of several types is of none.
    pub fn posted(&self) -> Option<Form> {
        if self.head.all("content-type").count() > 1 {
            return None;
        }
        let kind = self.head.text("content-type")?.split(';').next()?.trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return None;
        }
        Form::parse(self.body).ok()
    }

    /// A page.
    pub fn page(&self, status: u16, html: String) -> Reply {
        self.page_to(status, html, None)
    }

    /// The answer to a form whose first button was pressed by a key: the browser stays where it is.
    pub fn undecided(&self) -> Reply {
        guarded(Reply::empty(204))
    }

    /// Leads the browser on to a page of ours, after a form.
    pub fn see_other(&self, path: &str) -> Reply {
        let location = format!("{}{}", self.settings.base_path(), self.onward(path));
        guarded(Reply::empty(303).field("Location", location))
    }

    /// A page from whose form the browser may be led on to `target`, as a content policy names it.
    pub fn page_to(&self, status: u16, html: String, target: Option<&str>) -> Reply {
        let target = target.map(|target| format!(" {target}")).unwrap_or_default();
        let policy = format!(
            "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; \
             form-action 'self'{target}; frame-ancestors 'none'; base-uri 'none'"
        );
        let html = match self.asked_language() {
            Some(language) => layout::onward(&html, language),
            None => html,
        };
        let html = layout::below(html, self.settings.base_path());
        let mut reply = Reply { status, body: html.into_bytes(), ..Reply::default() };
        reply.content_type = Some("text/html;charset=UTF-8".into());
        reply = guarded(reply)
            .field("Content-Language", self.language().tag())
            .field("Vary", "Accept-Language")
            .field("Content-Security-Policy", policy)
            .field("X-Frame-Options", "DENY")
            .field("X-Content-Type-Options", "nosniff")
            .field("Cross-Origin-Opener-Policy", "same-origin")
            .field("Permissions-Policy", PERMISSIONS);
        if !self.settings.is_address() {
            reply = reply.field("Strict-Transport-Security", "max-age=31536000");
        }
        reply
    }

    /// Keeps for the audit log why the request is refused, in English, in which it is written.
    pub fn because(&self, why: &str) {
        why.clone_into(&mut self.why.borrow_mut());
    }

    /// A page that says what went wrong.
    pub fn problem(&self, status: u16, title: Texts, sentence: Texts, todo: Texts) -> Reply {
        self.because(Language::English.say(title));
        let signed_in = self.signed_in();
        let person = signed_in.as_ref().map(|signed_in| self.person(signed_in));
        let language = self.language();
        let [title, sentence, todo] = [title, sentence, todo].map(|texts| language.say(texts));
        self.page(status, problem::render(language, title, sentence, todo, person.as_ref()))
    }

    /// The page for a form that did not come from a page of ours.
    pub fn foreign_form(&self) -> Reply {
        self.problem(
            403,
            ["This form is not valid", "Dieses Formular ist nicht gültig"],
            [
                "It did not come from a page of this server, or it was open for too long.",
                "Es kam nicht von einer Seite dieses Servers, oder es war zu lange offen.",
            ],
            [
                "Go back, load the page again, and send it once more.",
                "Gehen Sie zurück, laden Sie die Seite neu und senden Sie es noch einmal ab.",
            ],
        )
    }

    /// The page for state that cannot be written.
    pub fn down(&self) -> Reply {
        self.problem(
            503,
            ["Not now", "Im Augenblick nicht"],
            ["The server cannot keep its state at this moment. Nothing was changed.", "Der Server kann seinen Zustand im Augenblick nicht speichern. Es wurde nichts geändert."],
            ["Please try again in a few seconds.", "Bitte versuchen Sie es in einigen Sekunden noch einmal."],
        )
        .field("Retry-After", "1")
    }

    /// The page for a request that is unknown, over, or decided already: 400 where an address names it, 403 where a form
    /// does.
    pub fn dead_request(&self) -> Reply {
        let is_form = matches!(self.head.method(), http::Method::Post);
        self.problem(
            if is_form { 403 } else { 400 },
            ["This request is over", "Diese Anfrage ist nicht mehr gültig"],
            ["It took too long, was decided already, or belongs to another browser.", "Sie hat zu lange gedauert, wurde schon entschieden oder gehört zu einem anderen Browser."],
            ["Go back to the application and begin again.", "Gehen Sie zurück zur Anwendung und beginnen Sie von vorn."],
        )
    }
}

/// A client that has no secret any more: what it was granted while it had one was granted to whoever proves to have it
/// (oauth.md, section 9), and ends.
fn opened(state: &State, command: Command) -> Command {
    match command {
        Command::PutClient { client, version } if is_opened(state, &client) => {
            Command::OpenClient { client, version }
        }
        other => other,
    }
}

/// Had the client a secret that it has no more? Whoever changes it from another version is refused.
fn is_opened(state: &State, client: &Client) -> bool {
    let known = state.clients.get(&client.reference);
    !client.profile.confidential && known.is_some_and(|known| known.profile.confidential)
}

/// Indices, data streams and aliases; the indices of a stream begin with a dot, and are counted nowhere.
pub fn there(state: &cluster::State) -> impl Iterator<Item = There<'_>> {
    let indices = state.indices.keys().map(|name| There::Index(name));
    let streams = state.data_streams.keys().map(|name| There::Stream(name));
    indices.chain(streams).chain(state.aliases.keys().map(|name| There::Alias(name)))
}

/// Everything off but what pages of ours may use.
const PERMISSIONS: &str = "accelerometer=(), ambient-light-sensor=(), attribution-reporting=(), \
                           autoplay=(), battery=(), bluetooth=(), browsing-topics=(), camera=(), \
                           clipboard-read=(), clipboard-write=(), compute-pressure=(), \
                           cross-origin-isolated=(), display-capture=(), document-domain=(), \
                           encrypted-media=(), fullscreen=(), gamepad=(), geolocation=(), gyroscope=(), \
                           hid=(), identity-credentials-get=(), idle-detection=(), keyboard-map=(), \
                           local-fonts=(), magnetometer=(), microphone=(), midi=(), otp-credentials=(), \
                           payment=(), picture-in-picture=(), publickey-credentials-create=(), \
                           screen-wake-lock=(), serial=(), speaker-selection=(), storage-access=(), \
                           sync-xhr=(), usb=(), web-share=(), window-management=(), \
                           xr-spatial-tracking=(), publickey-credentials-get=(self)";

/// Leads the browser back to a client.
pub fn found(location: String) -> Reply {
    guarded(Reply::empty(302).field("Location", location))
}

/// Nothing of it stays in caches or goes on in referrers.
fn guarded(reply: Reply) -> Reply {
    reply
        .field("Cache-Control", "no-store")
        .field("Pragma", "no-cache")
        .field("Referrer-Policy", "no-referrer")
}
