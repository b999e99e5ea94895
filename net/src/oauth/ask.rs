//! An authorization request: read and checked in the order of the specification.
//!
//! Two kinds of refusal are kept apart by type: a [`Stop`] is told to the person on a page, for
//! nobody knows yet whether the redirect URI is the client's; a [`Refusal`] goes back to the client.

use std::sync::Arc;

use authz::State;
use authz::oauth::{details, scope};
use authz::pages::language::{Language, Texts};
use authz::record::client::{ApplicationType, Client};
use json::Value;

use super::form::Form;
use super::redirect;
use super::settings::Settings;

/// Parameters of a request that mean something here, beside the client's id and those that are refused.
pub const NAMES: &[&str] = &[
    "authorization_details",
    "code_challenge",
    "code_challenge_method",
    "login_hint",
    "max_age",
    "prompt",
    "redirect_uri",
    "resource",
    "response_mode",
    "response_type",
    "scope",
    "state",
    "ui_locales",
];

/// Longest `state`.
const STATE_BYTES_MAX: usize = 2048;

/// Why the person is told, and nobody is redirected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No such client, or it may not ask; one page for all of them.
    Client,
    /// The redirect URI is not one of the client's.
    Redirect,
    /// The client did not say where to go, and has several places.
    RedirectMissing,
    /// The handle is unknown, over, used, or another client's.
    Handle,
    /// The client must push its requests.
    HandleMissing,
}

/// What goes back to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The word of the standard.
    pub error: &'static str,
    /// A sentence for the developer; where a person is shown it, in their language.
    pub said: Texts,
}

impl Refusal {
    const fn new(error: &'static str, said: Texts) -> Self {
        Self { error, said }
    }

    const fn request(said: Texts) -> Self {
        Self::new("invalid_request", said)
    }

    /// The sentence as programs get it.
    pub const fn description(&self) -> &'static str {
        Language::English.say(self.said)
    }
}

/// To whom the answer goes.
#[derive(Clone, Debug)]
pub struct Target {
    /// The client.
    pub client: Arc<Client>,
    /// Its id.
    pub client_id: String,
    /// Where the answer goes.
    pub redirect: String,
    /// The request named that place.
    pub redirect_sent: bool,
}

/// What `prompt` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Show nothing.
    pub none: bool,
    /// Ask for the password again.
    pub login: bool,
    /// Ask for consent again.
    pub consent: bool,
}

/// A request that may be put before a person.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What is asked.
    pub scopes: Vec<String>,
    /// Entries of `authorization_details`.
    pub details: Vec<Value>,
    /// For which resources.
    pub resource: Vec<String>,
    /// The PKCE challenge.
    pub challenge: Option<String>,
    /// What is to be shown.
    pub prompt: Prompt,
    /// A login within so many seconds counts.
    pub max_age: Option<u64>,
    /// A name for the login form.
    pub hint: Option<String>,
}

/// The client of a request, if it may ask.
pub fn client<'s>(state: &'s State, form: &Form) -> Result<(&'s Arc<Client>, String), Stop> {
    let id = form.one("client_id").map_err(|_| Stop::Client)?.ok_or(Stop::Client)?;
    let client = state.client(id).filter(|client| client.is_approved()).ok_or(Stop::Client)?;
    Ok((client, id.to_owned()))
}

/// Client and redirect URI: the checks after which a redirect is safe.
pub fn target(client: &Arc<Client>, client_id: String, form: &Form) -> Result<Target, Stop> {
    let sent = form.one("redirect_uri").map_err(|_| Stop::Redirect)?;
    let redirect = match (sent, client.profile.redirect_uris.as_slice()) {
        (Some(sent), _) => sent,
        (None, [only]) => only,
        (None, _) => return Err(Stop::RedirectMissing),
    };
    if !may_lead_to(client, redirect) {
        return Err(Stop::Redirect);
    }
    Ok(Target {
        client: Arc::clone(client),
        client_id,
        redirect: redirect.to_owned(),
        redirect_sent: sent.is_some(),
    })
}

/// Do answers to this client go there, as it is now? An address may be taken from it at any time.
pub fn may_lead_to(client: &Client, redirect: &str) -> bool {
    let native = client.profile.application_type == ApplicationType::Native;
    redirect::is_registered(&client.profile.redirect_uris, redirect, native)
        && (client.allow_insecure_redirect || !redirect::is_insecure(redirect))
}

/// Everything else.
pub fn check(settings: &Settings, client: &Client, form: &Form) -> Result<Asked, Refusal> {
    if form.repeats_protocol() {
        return Err(Refusal::request([
            "A parameter appears more than once",
            "Ein Parameter kommt mehr als einmal vor",
        ]));
    }
    if form.first("state").is_some_and(|state| state.len() > STATE_BYTES_MAX) {
        return Err(Refusal::request(["The state is too long", "Der Parameter state ist zu lang"]));
    }
    match form.first("response_type") {
        None => {
            return Err(Refusal::request([
                "The response_type is missing",
                "Der Parameter response_type fehlt",
            ]));
        }
        Some("code") => {}
        Some(_) => {
            return Err(Refusal::new(
                "unsupported_response_type",
                ["The only response_type is code", "Der einzige response_type ist code"],
            ));
        }
    }
    if !client.may("authorization_code") {
        return Err(Refusal::new(
            "unauthorized_client",
            [
                "This client may not use the code grant",
                "Diese Anwendung darf nicht um einen Code bitten",
            ],
        ));
    }
    if form.first("response_mode").is_some_and(|mode| mode != "query") {
        return Err(Refusal::request([
            "The only response_mode is query",
            "Der einzige response_mode ist query",
        ]));
    }
    let challenge = challenge(settings, client, form)?;
    let scopes = scopes(client, form)?;
    let resource: Vec<String> = form.all("resource").map(str::to_owned).collect();
    if resource.iter().any(|resource| !is_ours(settings, resource)) {
        return Err(Refusal::new(
            "invalid_target",
            ["The resource is unknown", "Der Parameter resource nennt Unbekanntes"],
        ));
    }
    let details = details(settings, client, form)?;
    let scopes = match scopes {
        Some(scopes) => scopes,
        None if !details.is_empty() => Vec::new(),
        None => default_scopes(client).ok_or(SCOPE)?,
    };
    if form.first("request").is_some() {
        return Err(Refusal::new(
            "request_not_supported",
            [
                "Request objects are not supported",
                "Anfragen als Objekte (request) werden nicht unterstützt",
            ],
        ));
    }
    if form.first("request_uri").is_some() {
        return Err(Refusal::new(
            "request_uri_not_supported",
            [
                "Only handles of pushed requests are supported",
                "Als request_uri werden nur Kennungen vorab gesendeter Anfragen unterstützt",
            ],
        ));
    }
    if form.first("dpop_jkt").is_some() {
        return Err(Refusal::request(["DPoP is not supported", "DPoP wird nicht unterstützt"]));
    }
    let max_age = match form.first("max_age") {
        None => None,
        // A number may be written with a sign elsewhere.
        Some(text) => Some(
            text.parse::<u64>()
                .ok()
                .filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
                .ok_or(Refusal::request([
                    "The max_age is no number of seconds",
                    "Der Parameter max_age ist keine Zahl von Sekunden",
                ]))?,
        ),
    };
    Ok(Asked {
        scopes,
        details,
        resource,
        challenge,
        prompt: prompt(form.text("prompt"))?,
        max_age,
        hint: form.first("login_hint").map(|hint| hint.chars().take(256).collect()),
    })
}

/// `resource` names the store, with or without a slash: at the root, or, where a proxy takes the path of the
/// issuer away, below it.
pub fn is_ours(settings: &Settings, resource: &str) -> bool {
    let resource = resource.strip_suffix('/').unwrap_or(resource);
    resource == settings.resource() || resource == settings.issuer
}

fn prompt(text: &str) -> Result<Prompt, Refusal> {
    let mut prompt = Prompt::default();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match word {
            "none" => prompt.none = true,
            "login" => prompt.login = true,
            "consent" => prompt.consent = true,
            _ => {
                return Err(Refusal::request([
                    "The prompt is unknown",
                    "Der Parameter prompt nennt Unbekanntes",
                ]));
            }
        }
    }
    if prompt.none && (prompt.login || prompt.consent) {
        return Err(Refusal::request([
            "The prompt none stands alone",
            "Im Parameter prompt steht none nur allein",
        ]));
    }
    Ok(prompt)
}

/// Must this client use PKCE, as it is now?
pub fn needs_challenge(settings: &Settings, client: &Client) -> bool {
    !client.profile.confidential
        || client.unreviewed
        || client.profile.require_pkce
        || settings.pkce_required
}

/// PKCE: `S256` and nothing else (RFC 7636).
fn challenge(settings: &Settings, client: &Client, form: &Form) -> Result<Option<String>, Refusal> {
    let method = form.first("code_challenge_method");
    let Some(challenge) = form.first("code_challenge") else {
        if method.is_some() {
            return Err(Refusal::request([
                "The code_challenge is missing",
                "Der Parameter code_challenge fehlt",
            ]));
        }
        return match needs_challenge(settings, client) {
            true => Err(Refusal::request([
                "PKCE is required: the code_challenge is missing",
                "PKCE wird verlangt: Der Parameter code_challenge fehlt",
            ])),
            false => Ok(None),
        };
    };
    if method != Some("S256") {
        return Err(Refusal::request([
            "The only code_challenge_method is S256",
            "Die einzige code_challenge_method ist S256",
        ]));
    }
    let is_legal = challenge.len() == 43
        && challenge.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !is_legal {
        return Err(Refusal::request([
            "The code_challenge is malformed",
            "Der Parameter code_challenge ist fehlerhaft",
        ]));
    }
    Ok(Some(challenge.to_owned()))
}

const SCOPE: Refusal = Refusal::new(
    "invalid_scope",
    [
        "A scope is malformed, unknown or not allowed for this client",
        "Eine Berechtigung ist fehlerhaft, unbekannt oder dieser Anwendung nicht erlaubt",
    ],
);

/// The scopes that are named, within the client's ceiling; none where none is.
fn scopes(client: &Client, form: &Form) -> Result<Option<Vec<String>>, Refusal> {
    let Some(text) = form.first("scope") else { return Ok(None) };
    let ceiling = scope::stored(&client.profile.scopes);
    let scopes = scope::parse_list(text).map_err(|_| SCOPE)?;
    if !scopes.iter().all(|one| is_within(&ceiling, client, one)) {
        return Err(SCOPE);
    }
    Ok(Some(scopes.iter().map(ToString::to_string).collect()))
}

/// Entries of `authorization_details`, within the client's ceiling.
fn details(settings: &Settings, client: &Client, form: &Form) -> Result<Vec<Value>, Refusal> {
    const DETAILS: Refusal = Refusal::new(
        "invalid_authorization_details",
        [
            "The authorization_details are malformed or not allowed for this client",
            "Die authorization_details sind fehlerhaft oder dieser Anwendung nicht erlaubt",
        ],
    );
    let Some(text) = form.first("authorization_details") else { return Ok(Vec::new()) };
    if !client.details_types.iter().any(|kind| kind == details::INDEX_ACCESS) {
        return Err(DETAILS);
    }
    let ceiling = scope::stored(&client.profile.scopes);
    let entries = details::parse(text, |one| is_ours(settings, one)).map_err(|_| DETAILS)?;
    let is_fine = |entry: &Value| {
        scope::holds_all(&ceiling, &details::scopes(entry))
            && entry.get("query").is_none_or(is_readable)
    };
    if entries.iter().all(is_fine) { Ok(entries) } else { Err(DETAILS) }
}

/// Can a search read it? What none reads would be granted, and open nothing ever.
fn is_readable(query: &Value) -> bool {
    search::dsl::parse_query_value(query).is_ok()
}

/// Everybody may learn who is there; refresh tokens are for who may use them.
pub fn is_within(ceiling: &[scope::Scope], client: &Client, wanted: &scope::Scope) -> bool {
    match wanted {
        scope::Scope::Own => true,
        scope::Scope::Offline => client.may("refresh_token"),
        _ => ceiling.iter().any(|own| own.holds(wanted)),
    }
}

/// What a request without scopes asks for: what was registered for it, as far as the client may still have it. None
/// where nothing of that is left.
pub fn default_scopes(client: &Client) -> Option<Vec<String>> {
    if client.default_scope.is_empty() {
        return Some(vec![scope::Scope::Own.to_string()]);
    }
    Some(cut(client, &client.default_scope)).filter(|left| !left.is_empty())
}

/// Scopes as far as they lie within the client's ceiling, which may have been narrowed since they were asked for or
/// granted: beyond it no token opens anything.
pub fn cut(client: &Client, scopes: &[String]) -> Vec<String> {
    let mut ceiling = scope::stored(&client.profile.scopes);
    ceiling.push(scope::Scope::Own);
    if client.may("refresh_token") {
        ceiling.push(scope::Scope::Offline);
    }
    let left = scope::cut(&scope::stored(scopes), &ceiling);
    left.iter().map(ToString::to_string).collect()
}

/// The same of scopes and entries of details that were granted. Nothing where only the right to keep it for longer is
/// left.
pub fn cut_all(client: &Client, scopes: &[String], details: &[Value]) -> (Vec<String>, Vec<Value>) {
    let ceiling = scope::stored(&client.profile.scopes);
    let left = (
        cut(client, scopes),
        details.iter().flat_map(|entry| details::cut(entry, &ceiling)).collect::<Vec<_>>(),
    );
    match is_more_than_time((&left.0, &left.1), (scopes, details)) {
        true => left,
        false => Default::default(),
    }
}

/// Is anything ticked but to keep access for longer, where something else was asked for? To keep nothing is nothing.
pub fn is_more_than_time(ticked: (&[String], &[Value]), asked: (&[String], &[Value])) -> bool {
    let is_time = |(scopes, details): (&[String], &[Value])| {
        details.is_empty() && scopes.iter().all(|scope| scope == scope::OFFLINE)
    };
    !is_time(ticked) || (!ticked.0.is_empty() && is_time(asked))
}
