//! The OAuth half of HTTP: pages for people, endpoints for programs.
//!
//! A request whose path begins with one of [`RESERVED`] is answered here and never reaches the
//! store; a session's cookie opens pages and nothing else. Decisions are authz's: an endpoint
//! reads and checks its request, has one command carried out on the core that keeps the state, and
//! answers when that is durable.
//!
//! | file | is |
//! |---|---|
//! | [`settings`], [`limit`], [`waiting`], [`places`], [`proxy`] | how it is set up, how often something may be done, how much may wait of whom and may be held, who asks |
//! | [`form`], [`multipart`], [`cookie`], [`known`] | what browsers send, and which of them are known |
//! | [`visit`], [`language`], [`answer`], [`fail`], [`refusal`] | one request, and in which language its pages are; answers through the browser; refusals to programs, and in the audit log |
//! | [`ask`], [`redirect`], [`profile`], [`picture`] | rules: a request, an address, what a client says of itself, its logo |
//! | [`authorize`], [`login`], [`consent`], [`account`], [`apps`], [`review`], [`device`] | pages |
//! | [`token`], [`revoke`], [`push`], [`register`], [`metadata`] | endpoints for programs |
//! | [`client_auth`] | who calls them |
//! | [`touch`] | when a grant was last used |
//! | [`admin`] | `/_oauth/…` |

pub mod account;
pub mod account_of;
pub mod admin;
pub mod answer;
pub mod apps;
pub mod ask;
pub mod authorize;
pub mod client_auth;
pub mod consent;
pub mod cookie;
pub mod device;
pub mod fail;
pub mod form;
pub mod guess;
pub mod known;
pub mod language;
pub mod limit;
pub mod login;
pub mod metadata;
pub mod multipart;
pub mod picture;
pub mod places;
pub mod profile;
pub mod proxy;
pub mod push;
pub mod redirect;
pub mod refusal;
pub mod register;
pub mod review;
pub mod revoke;
pub mod settings;
pub mod throttle;
pub mod token;
pub mod touch;
pub mod visit;
pub mod waiting;
pub mod whole;

use std::sync::Arc;

use authz::pages::language::Texts;
use authz::record::client::Client;
use env::Env;
use http::target::{Plus, decode};
use http::{Method, Target};

use fail::Fail;
pub use limit::Limiter;
use settings::Registration;
pub use settings::Settings;
use visit::{SignedIn, Visit};

use crate::reply::Reply;

/// First segments of paths that are answered here; no index may be called so.
pub const RESERVED: &[&str] = &[
    ".well-known",
    "_oauth",
    "account",
    "admin",
    "apps",
    "authorize",
    "consent",
    "device",
    "device_authorization",
    "end_session",
    "introspect",
    "jwks",
    "login",
    "logo",
    "logout",
    "par",
    "register",
    "revoke",
    "token",
    "userinfo",
];

/// Body of a form.
const FORM_BYTES_MAX: usize = 64 << 10;

/// Body of a form with a logo.
const UPLOAD_BYTES_MAX: usize = 512 << 10;

/// What all cores share of this half.
#[derive(Clone, Debug)]
pub struct Oauth {
    /// How it is set up.
    pub settings: Arc<Settings>,
    /// Counters.
    pub limiter: Arc<Limiter>,
}

impl Oauth {
    /// Set up so, with fresh counters.
    pub fn new(settings: Settings) -> Self {
        Self { settings: Arc::new(settings), limiter: Arc::default() }
    }

    /// Whether a path is answered here: below the issuer's path, and at the root, for a proxy that takes
    /// that path away.
    pub fn owns(&self, target: &Target<'_>) -> bool {
        self.begins(target, RESERVED)
    }

    /// Whether it is a call of `/_oauth`, which answers as the store does.
    pub fn administers(&self, target: &Target<'_>) -> bool {
        self.begins(target, &["_oauth"])
    }

    fn begins(&self, target: &Target<'_>, words: &[&str]) -> bool {
        let is_one =
            |first: Option<&[u8]>| read(first).is_some_and(|first| words.contains(&&*first));
        let base = self.settings.base_path();
        if is_one(target.segments().next()) || base.is_empty() {
            return is_one(target.segments().next());
        }
        let mut segments = target.segments();
        base[1..].split('/').all(|own| read(segments.next()).as_deref() == Some(own))
            && is_one(segments.next())
    }
}

/// A segment of a path as it is meant, however it is written; none where it cannot be read.
fn read(segment: Option<&[u8]>) -> Option<std::borrow::Cow<'_, str>> {
    decode(segment?, Plus::Plus).ok()
}

/// What an endpoint is, for wrong methods and for faults.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A page.
    Page,
    /// An endpoint for programs.
    Machine,
}

/// The methods of a path, and what it is; none for a path that is not there.
fn known(path: &[&str]) -> Option<(Kind, &'static [Method])> {
    use Method::{Delete, Get, Post, Put};
    const GET: &[Method] = &[Get];
    const POST: &[Method] = &[Post];
    const BOTH: &[Method] = &[Get, Post];
    Some(match path {
        ["authorize"] | ["login", "style.css" | "icon.svg"] | ["apps", _, "logo"] | ["logo", _] => {
            (Kind::Page, GET)
        }
        ["login" | "consent" | "logout" | "device"]
        | ["account", "apps" | "sessions" | "security"]
        | ["admin", "apps"]
        | ["apps", _] => (Kind::Page, BOTH),
        ["apps"] => (Kind::Page, GET),
        ["token" | "revoke" | "introspect" | "par" | "device_authorization" | "register"] => {
            (Kind::Machine, POST)
        }
        ["register", _] => (Kind::Machine, &[Get, Put, Delete]),
        [".well-known", "oauth-authorization-server" | "oauth-protected-resource", ..] => {
            (Kind::Machine, GET)
        }
        _ => return None,
    })
}

/// First segments of paths at which only programs knock.
const FOR_PROGRAMS: &[&str] = &[
    ".well-known",
    "device_authorization",
    "introspect",
    "jwks",
    "par",
    "register",
    "revoke",
    "token",
    "userinfo",
];

/// Is a description asked for that is there? That of the server stands between the host and the path of the
/// issuer (RFC 8414, 3.1), and at the plain address: whoever asks under another path thinks of another issuer.
/// That of the store stands at the plain address alone, for there is the store (RFC 9728, 3.1).
fn is_of_issuer(settings: &Settings, path: &[&str]) -> bool {
    match path {
        [".well-known", "oauth-protected-resource", inserted @ ..] => matches!(inserted, [] | [""]),
        [".well-known", _, inserted @ ..] if !inserted.is_empty() => {
            let (_, rest) = settings.issuer.split_once("://").unwrap_or_default();
            let (_, own) = rest.split_once('/').unwrap_or_default();
            own.split('/').eq(inserted.iter().copied())
        }
        _ => true,
    }
}

/// Is it switched on? What is not is not there, whatever is asked of it.
fn is_on(settings: &Settings, path: &[&str]) -> bool {
    match path {
        ["register", ..] => settings.registration != Registration::Closed,
        ["device_authorization"] => settings.device,
        _ => true,
    }
}

/// The path of an endpoint, without the issuer's path where it stands before it.
fn inside(settings: &Settings, segments: Vec<String>) -> Vec<String> {
    let base = settings.base_path();
    let is_reserved = segments.first().is_some_and(|first| RESERVED.contains(&first.as_str()));
    if base.is_empty() || is_reserved {
        return segments;
    }
    let own = base[1..].split('/');
    let count = own.clone().count();
    match segments.iter().take(count).map(String::as_str).eq(own) {
        true => segments[count..].to_vec(),
        false => segments,
    }
}

/// Answers a request of this half.
pub async fn answer<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let target = Target::new(visit.head.target());
    let segments: Option<Vec<String>> = target
        .path()
        .strip_prefix(b"/")
        .unwrap_or_default()
        .split(|byte| *byte == b'/')
        .map(|segment| decode(segment, Plus::Plus).ok().map(std::borrow::Cow::into_owned))
        .collect();
    let Some(segments) = segments else {
        return visit.problem(
            400,
            ["This address cannot be read", "Diese Adresse ist nicht lesbar"],
            ["It is malformed.", "Sie ist falsch geschrieben."],
            ["Check it.", "Bitte prüfen Sie sie."],
        );
    };
    let segments = inside(visit.settings, segments);
    let reply = answer_at(visit, &segments).await;
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    refusal::note(visit, &path, &reply);
    reply
}

async fn answer_at<E: Env>(visit: &Visit<'_, E>, segments: &[String]) -> Reply {
    if segments.first().is_some_and(|first| first == "_oauth") {
        return admin::answer(visit, &segments[1..]).await;
    }
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    let is_there = is_of_issuer(visit.settings, &path) && is_on(visit.settings, &path);
    let Some((kind, methods)) = known(&path).filter(|_| is_there) else {
        if path.first().is_some_and(|first| FOR_PROGRAMS.contains(first)) {
            return Fail::request("There is no such endpoint").status(404).reply();
        }
        return visit.problem(
            404,
            NOTHING,
            ["This address leads nowhere.", "Diese Adresse führt nirgendwohin."],
            [
                "Go back, or begin at your account.",
                "Gehen Sie zurück, oder beginnen Sie bei Ihrem Konto.",
            ],
        );
    };
    let method = visit.head.method();
    if !only_looks(method, kind, &path) && !crate::audit::is_ready(Some(visit.security)).await {
        return match kind {
            Kind::Machine => Fail::down().reply(),
            Kind::Page => visit.down(),
        };
    }
    if method == Method::Options && kind == Kind::Machine {
        return preflight(visit, &path);
    }
    if !methods.contains(&method) {
        return wrong_method(visit, kind, methods);
    }
    if let Some(reply) = too_large(visit, &path, kind) {
        return reply;
    }
    let reply = match kind {
        Kind::Machine => machine(visit, &path).await,
        Kind::Page => page(visit, &path).await,
    };
    with_cors(visit, &path, reply)
}

/// Does a request change nothing, so that it goes on while a strict audit log takes no line? A page with a form is
/// none: whoever fills it in would be told only then that nothing can be done.
fn only_looks(method: Method, kind: Kind, path: &[&str]) -> bool {
    match kind {
        Kind::Machine => matches!(method, Method::Get | Method::Options),
        Kind::Page => {
            matches!(path, ["login", "style.css" | "icon.svg"] | ["apps", _, "logo"] | ["logo", _])
        }
    }
}

/// 405; `HEAD` changes nothing, so it is not offered at all.
fn wrong_method<E: Env>(visit: &Visit<'_, E>, kind: Kind, methods: &[Method]) -> Reply {
    let names: Vec<&str> = methods.iter().map(|method| method.as_str()).collect();
    let reply = match kind {
        Kind::Machine => Fail::request("This method is not allowed here").status(405).reply(),
        Kind::Page => visit.problem(
            405,
            ["This cannot be done here", "Das geht hier nicht"],
            ["The method is not allowed.", "Diese Methode ist nicht erlaubt."],
            GO_BACK,
        ),
    };
    reply.field("Allow", names.join(", "))
}

fn too_large<E: Env>(visit: &Visit<'_, E>, path: &[&str], kind: Kind) -> Option<Reply> {
    let most = if path.first() == Some(&"apps") { UPLOAD_BYTES_MAX } else { FORM_BYTES_MAX };
    if visit.body.len() <= most {
        return None;
    }
    Some(match kind {
        Kind::Machine => Fail::request("The body is too large").status(413).reply(),
        Kind::Page => visit.problem(
            413,
            ["This is too large", "Das ist zu groß"],
            [
                "What was sent is larger than this page takes.",
                "Was gesendet wurde, ist größer, als diese Seite annimmt.",
            ],
            [
                "Go back and send less; a logo may have 256 KiB.",
                "Gehen Sie zurück und senden Sie weniger; ein Logo darf 256 KiB haben.",
            ],
        ),
    })
}

async fn machine<E: Env>(visit: &Visit<'_, E>, path: &[&str]) -> Reply {
    match path {
        ["token"] => token::post(visit).await,
        ["revoke"] => revoke::revoke(visit).await,
        ["introspect"] => revoke::introspect(visit).await,
        ["par"] => push::par(visit).await,
        ["device_authorization"] => push::device(visit).await,
        ["register"] => register::create(visit).await,
        ["register", id] => register::manage(visit, id).await,
        [_, "oauth-authorization-server", ..] => metadata::server(visit),
        _ => metadata::resource(visit),
    }
}

async fn page<E: Env>(visit: &Visit<'_, E>, path: &[&str]) -> Reply {
    let posts = visit.head.method() == Method::Post;
    match (path, posts) {
        (["authorize"], _) => return authorize::get(visit).await,
        (["login", "style.css"], _) => {
            return public("text/css;charset=UTF-8", authz::pages::STYLE);
        }
        (["login", "icon.svg"], _) => return public("image/svg+xml", authz::pages::layout::ICON),
        (["login"], false) => return login::get(visit),
        (["login"], true) => return login::post(visit).await,
        (["logout"], false) => return login::ask_out(visit),
        (["logout"], true) => return login::out(visit).await,
        (["consent"], false) => return consent::get(visit),
        (["consent"], true) => return consent::post(visit).await,
        (["logo", id], _) => return apps::public_logo(visit, id),
        _ => {}
    }
    let Some(signed_in) = visit.signed_in() else {
        let is_device = path == ["device"] && !posts;
        return match is_device.then(|| device::code_of(visit)).flatten() {
            Some(code) => visit.see_other(&format!("/login?user_code={code}")),
            None => visit.see_other("/login"),
        };
    };
    visit.see(&signed_in).await;
    own_page(visit, path, posts, &signed_in).await
}

/// What pages say of addresses that lead nowhere.
const NOTHING: Texts = ["There is nothing here", "Hier ist nichts"];
const GO_BACK: Texts = ["Go back.", "Gehen Sie zurück."];

/// Pages of somebody who is signed in.
async fn own_page<E: Env>(
    visit: &Visit<'_, E>,
    path: &[&str],
    posts: bool,
    signed_in: &SignedIn,
) -> Reply {
    match (path, posts) {
        (["account", "apps"], false) => account::apps(visit, signed_in),
        (["account", "apps"], true) => account::revoke(visit, signed_in).await,
        (["account", "sessions"], false) => account::sessions(visit, signed_in),
        (["account", "sessions"], true) => account::end_sessions(visit, signed_in).await,
        (["account", _], false) => account::security(visit, signed_in),
        (["account", _], true) => account::change_password(visit, signed_in).await,
        (["device"], _) if !visit.settings.device => visit.problem(
            404,
            NOTHING,
            ["Devices are not let in here.", "Geräte werden hier nicht zugelassen."],
            GO_BACK,
        ),
        (["device"], false) => device::get(visit, signed_in),
        (["device"], true) => device::post(visit, signed_in).await,
        (["apps"], _) => apps::list(visit, signed_in),
        (["apps", "new"], false) => apps::new(visit, signed_in),
        (["apps", "new"], true) => apps::create(visit, signed_in).await,
        (["apps", reference], false) => apps::get(visit, reference, signed_in),
        (["apps", reference], true) => apps::post(visit, reference, signed_in).await,
        (["apps", reference, _], _) => apps::own_logo(visit, reference, signed_in),
        _ if !signed_in.reviews => review::not_for(visit),
        (_, false) => review::get(visit, signed_in),
        (_, true) => review::post(visit, signed_in).await,
    }
}

/// What all pages use: public, the same for everybody.
fn public(content_type: &'static str, text: &str) -> Reply {
    let mut reply = Reply { status: 200, body: text.as_bytes().to_vec(), ..Reply::default() };
    reply.content_type = Some(content_type.into());
    reply.field("X-Content-Type-Options", "nosniff").field("Cache-Control", "public, max-age=3600")
}

/// Endpoints that scripts in a browser may call.
const FOR_SCRIPTS: &[&str] = &["token", "revoke", "par", "device_authorization"];

/// Has an approved client registered this origin?
fn is_of(client: &Client, origin: &str) -> bool {
    client.is_approved()
        && (client.web_origins.iter().any(|known| known == origin)
            || client.profile.redirect_uris.iter().any(|uri| redirect::origin(uri) == origin))
}

/// The origin of a request, where the client that showed who it is has registered it. Whoever was refused
/// before that, or could not show it, reads nothing.
fn script_origin<'v, E: Env>(visit: &'v Visit<'_, E>) -> Option<&'v str> {
    let origin = visit.head.text("origin")?;
    visit.proven.get().is_some_and(|client| is_of(client, origin)).then_some(origin)
}

fn preflight<E: Env>(visit: &Visit<'_, E>, path: &[&str]) -> Reply {
    let first = path.first().copied().unwrap_or_default();
    if first == ".well-known" {
        return Reply::empty(204)
            .field("Access-Control-Allow-Origin", "*")
            .field("Access-Control-Allow-Methods", "GET");
    }
    // The browser does not say yet which client it is, so any approved public client's will do.
    let state = visit.state();
    let public = |origin: &&str| {
        let mut clients = state.clients.values();
        clients.any(|client| !client.profile.confidential && is_of(client, origin))
    };
    if FOR_SCRIPTS.contains(&first)
        && let Some(origin) = visit.head.text("origin").filter(public)
    {
        return fail::unkept(Reply::empty(204))
            .field("Access-Control-Allow-Origin", origin.to_owned())
            .field("Access-Control-Allow-Methods", "POST")
            .field("Access-Control-Allow-Headers", "authorization, content-type")
            .field("Access-Control-Max-Age", "600")
            .field("Vary", "Origin");
    }
    let methods = known(path).map_or(&[][..], |(_, methods)| methods);
    wrong_method(visit, Kind::Machine, methods)
}

/// Lets the script of a registered origin read the answer.
fn with_cors<E: Env>(visit: &Visit<'_, E>, path: &[&str], reply: Reply) -> Reply {
    let first = path.first().copied().unwrap_or_default();
    if !FOR_SCRIPTS.contains(&first) {
        return reply;
    }
    let reply = reply.field("Vary", "Origin");
    match script_origin(visit) {
        Some(origin) => reply.field("Access-Control-Allow-Origin", origin.to_owned()),
        None => reply,
    }
}
