//! `/apps`: developers register applications, change them, and see id and secret.

use std::sync::Arc;

use authz::form::Form as _;
use authz::pages::apps::{self, App, Refused, Row, Time};
use authz::pages::language::Language;
use authz::record::client::{ApplicationType, Client, ClientSecret, Profile, Status};
use authz::record::key::Salted;
use authz::token::text::Kind;
use authz::{Command, Need, State};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use env::{Env, Random, Spawn};

use super::form::Form;
use super::multipart::{self, Parts};
use super::profile::Callbacks;
use super::token::{CLIENT_CREDENTIALS, DEVICE};
use super::visit::{SignedIn, Visit};
use super::{account_of, consent, profile};
use crate::reply::Reply;

/// Letters of a reference number.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// `GET /apps`.
pub fn list<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let state = visit.state();
    let own = state.clients.values().filter(|client| is_owner(&state, client, signed_in));
    let rows: Vec<Row> = own
        .map(|client| Row {
            reference: client.reference.clone(),
            name: client.profile.name.clone(),
            logo: logo(client),
            status: client.status.as_str(),
            changing: client.proposal.is_some(),
        })
        .collect();
    visit.page(200, apps::list(&visit.person(signed_in), &rows))
}

/// Is it the person's? Not that of an earlier user of the same name.
fn is_owner(state: &State, client: &Client, signed_in: &SignedIn) -> bool {
    state.owner_of(client).is_some_and(|owner| owner.uid == signed_in.user.uid)
}

/// Where an application's logo is, for its owner.
pub fn logo(client: &Client) -> Option<String> {
    client.profile.logo.as_ref().map(|_| format!("/apps/{}/logo", client.reference))
}

fn token<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> String {
    visit.token_of(&signed_in.session.id, "apps")
}

/// `GET /apps/new`.
pub fn new<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let fields = apps::Fields {
        application_type: "web".into(),
        require_pkce: true,
        ..apps::Fields::default()
    };
    let csrf = token(visit, signed_in);
    visit.page(
        200,
        apps::new(&visit.person(signed_in), &csrf, &fields, None, time(visit, signed_in)),
    )
}

/// How long a form of this page can be sent: another page that is opened meanwhile makes it longer.
fn time<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Time {
    let (state, idle) = (visit.state(), visit.settings.session_idle);
    // That the page was asked for may have been noted by now.
    let session = state.sessions.get(&signed_in.session.id).unwrap_or(&signed_in.session);
    let end = session.end.min(session.seen.saturating_add(idle));
    Time { end, idle, made: visit.now() }
}

/// The posted form, with its files.
fn parts<E: Env>(visit: &Visit<'_, E>) -> Option<Parts> {
    let kind = visit.head.text("content-type")?;
    match multipart::boundary(kind) {
        Some(boundary) => multipart::parse(visit.body, boundary),
        None => visit.posted().map(|form| Parts { form, files: Vec::new() }),
    }
}

/// Reads the form; `before` keeps its logo where none is sent.
async fn read<E: Env>(
    visit: &Visit<'_, E>,
    parts: &Parts,
    before: Option<&Profile>,
) -> Result<Profile, Refused> {
    let file = parts.files.iter().find(|file| file.field == "logo");
    let logo = match (file, parts.form.first("remove_logo")) {
        (Some(_), Some(_)) => {
            let why = [
                "send another picture, or have the one there taken away; both at once cannot be",
                "senden Sie ein anderes Bild, oder lassen Sie das vorhandene entfernen; beides zugleich geht nicht",
            ];
            return Err(profile::refused("logo", why));
        }
        (None, Some(_)) => None,
        (Some(file), None) => {
            // A picture is unpacked to be looked at, which takes its time.
            let file = file.clone();
            let looked = visit.core.env().spawn().work_on_body(move || profile::logo(&file)).await;
            let busy = |_| {
                let why = [
                    "the server is busy; please send it again",
                    "der Server ist beschäftigt; bitte senden Sie es noch einmal",
                ];
                profile::refused("logo", why)
            };
            Some(looked.map_err(busy)??)
        }
        (None, None) => before.and_then(|before| before.logo.clone()),
    };
    if !matches!(parts.form.text("confidential"), "" | "confidential" | "public") {
        return Err(profile::refused(
            "confidential",
            ["choose one of the two", "wählen Sie eines von beiden"],
        ));
    }
    let fields = profile::fields(&parts.form);
    profile::check(&fields, logo, &visit.settings.origin(), Callbacks::Wanted)
}

/// `POST /apps/new`.
pub async fn create<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let Some(parts) = parts(visit) else { return visit.foreign_form() };
    let csrf = token(visit, signed_in);
    if !visit.is_own_form(&parts.form, &csrf) || parts.form.repeated(&[]).is_some() {
        return visit.foreign_form();
    }
    by_person(visit, signed_in);
    let profile = match read(visit, &parts, None).await {
        Ok(profile) => profile,
        Err(refused) => {
            visit.because(&words_of(&refused));
            let fields = profile::fields(&parts.form);
            let time = time(visit, signed_in);
            return visit.page(
                400,
                apps::new(&visit.person(signed_in), &csrf, &fields, Some(&refused), time),
            );
        }
    };
    let made = parts.form.text(apps::MADE).parse().ok();
    let number = match number_of(visit, signed_in, &profile, made) {
        Number::Free(number) => number,
        // It was sent twice.
        Number::Taken(number) => return visit.see_other(&format!("/apps/{number}")),
    };
    let client = Client {
        owner: Some(signed_in.user.name.clone()),
        owner_uid: Some(signed_in.user.uid),
        auth_method: auth_method(&profile).to_owned(),
        grant_types: grant_types(&profile),
        details_types: vec![authz::oauth::details::INDEX_ACCESS.to_owned()],
        ..Client::new(number, profile.clone(), visit.now())
    };
    let location = format!("/apps/{}", client.reference);
    let command = match visit.settings.limits.unapproved {
        0 => Command::PutClient { client, version: 0 },
        room => Command::AddClient { client, room },
    };
    let done = visit.ask(command).await;
    // The same was sent at the same moment, and came first.
    if done.is_err()
        && let Number::Taken(number) = number_of(visit, signed_in, &profile, made)
    {
        return visit.see_other(&format!("/apps/{number}"));
    }
    match done {
        Err(authz::Error::Crowded { room }) => {
            let (kind, german) = match room {
                1 => ("application", "Anwendung, die noch niemand genehmigt hat"),
                _ => ("applications", "Anwendungen, die noch niemand genehmigt hat"),
            };
            let why = [
                format!(
                    "This one was not taken: you have {room} {kind} that no reviewer has approved, which is as \
                     many as an account may have. Wait until they were looked at, or ask an administrator to \
                     remove some."
                ),
                format!(
                    "Diese wurde nicht angenommen: Sie haben {room} {german}, und mehr darf ein Konto davon nicht \
                     haben. Warten Sie, bis sie geprüft sind, oder bitten Sie einen Administrator, einige zu \
                     entfernen."
                ),
            ];
            visit.because("too many of the account wait");
            // No field is at fault.
            let refused = Refused { field: "", why };
            let fields = profile::fields(&parts.form);
            let time = time(visit, signed_in);
            visit
                .page(
                    429,
                    apps::new(&visit.person(signed_in), &csrf, &fields, Some(&refused), time),
                )
                .field("Retry-After", ROOM_S.to_string())
        }
        Ok(_) => {
            let facts = [("user", signed_in.user.name.as_str()), ("application", &location[6..])];
            visit.note("client_registered", "ok", &facts);
            visit.see_other(&location)
        }
        Err(authz::Error::Lapsed) => visit.see_other("/login"),
        Err(_) => visit.down(),
    }
}

/// Why a form was refused, for the audit log, which is in English.
fn words_of(refused: &Refused) -> String {
    format!("[{}] {}", refused.field, refused.why(Language::English))
}

/// There is room when a reviewer has decided; nobody knows when that is.
const ROOM_S: u64 = 3600;

/// How a client of this kind says who it is.
pub fn auth_method(profile: &Profile) -> &'static str {
    if profile.confidential { "client_secret_basic" } else { "none" }
}

/// What a reviewed client of this kind may do.
pub fn grant_types(profile: &Profile) -> Vec<String> {
    let kinds: &[&str] = match profile.application_type {
        ApplicationType::Service => &[CLIENT_CREDENTIALS],
        ApplicationType::Native => &["authorization_code", "refresh_token", DEVICE],
        _ => &["authorization_code", "refresh_token"],
    };
    kinds.iter().map(|kind| (*kind).to_owned()).collect()
}

/// A number that a person can read to another.
pub fn reference<E: Env>(visit: &Visit<'_, E>) -> String {
    written(&visit.random())
}

fn written(bytes: &[u8; 32]) -> String {
    let letters = bytes[..10].iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    format!("R-{}", letters.collect::<String>())
}

/// The number of an application that is sent.
enum Number {
    /// It gets this one.
    Free(String),
    /// The very same of its owner has this one: it waits for a reviewer, or came by the same form.
    Taken(String),
}

/// What is the same gets the same number, so that a form that is sent twice, be it at one moment, makes one
/// application: state refuses a second one of a number. Where that one was decided, or changed, what is sent is
/// another one, and gets the next; but not where the form is of before it, as its page says (`made`): then it made
/// that one, and is sent once more, as by going back or loading anew.
fn number_of<E: Env>(
    visit: &Visit<'_, E>,
    signed_in: &SignedIn,
    profile: &Profile,
    made: Option<u64>,
) -> Number {
    let mut of = signed_in.user.uid.to_be_bytes().to_vec();
    of.extend_from_slice(json::to_string(&profile.to_json()).as_bytes());
    let state = visit.state();
    let is_same = |client: &Client| {
        let waits = client.status == Status::Pending && client.profile == *profile;
        let came_by_it = made.is_some_and(|made| made <= client.created);
        (waits || came_by_it) && is_owner(&state, client, signed_in)
    };
    let end = of.len();
    let mut at = 0u64;
    loop {
        of.truncate(end);
        of.extend_from_slice(&at.to_be_bytes());
        let number = written(&visit.keys().hash("registration", &of).0);
        match state.clients.get(&number) {
            None => return Number::Free(number),
            Some(client) if is_same(client) => return Number::Taken(number),
            Some(_) => at += 1,
        }
    }
}

/// A client's id: 128 random bits.
pub fn client_id<E: Env>(visit: &Visit<'_, E>) -> String {
    let mut bytes = [0; 16];
    visit.core.env().random().fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A new secret, as text for its owner and as it is kept.
pub fn secret<E: Env>(visit: &Visit<'_, E>) -> (String, ClientSecret) {
    let shown = visit.keys().write(Kind::Secret, &visit.random());
    let secret = Salted::new(visit.random(), shown.as_bytes());
    (shown, ClientSecret { secret, end: None })
}

/// The application of this number, if the person may see it.
fn of<E: Env>(visit: &Visit<'_, E>, reference: &str, signed_in: &SignedIn) -> Option<Arc<Client>> {
    let state = visit.state();
    state.clients.get(reference).filter(|client| is_owner(&state, client, signed_in)).cloned()
}

/// `GET /apps/{reference}`.
pub fn get<E: Env>(visit: &Visit<'_, E>, reference: &str, signed_in: &SignedIn) -> Reply {
    match of(visit, reference, signed_in) {
        Some(client) => show(visit, 200, &client, signed_in, Say::default()),
        None => nothing(visit),
    }
}

fn nothing<E: Env>(visit: &Visit<'_, E>) -> Reply {
    visit.problem(
        404,
        ["There is no such application", "Diese Anwendung gibt es nicht"],
        ["Or it belongs to somebody else.", "Oder sie gehört jemand anderem."],
        [
            "Look at the list of your applications.",
            "Sehen Sie in der Liste Ihrer Anwendungen nach.",
        ],
    )
}

/// What the page of an application has to say beside what is kept of it.
#[derive(Default)]
struct Say<'a> {
    /// Its secret, the one time that it is shown.
    secret: Option<&'a str>,
    /// A new one was asked for by a page of before the one that it has.
    is_stale: bool,
    /// A change was sent by a page of before a decision, or of before another change.
    is_outdated: bool,
    /// A field of a change that was refused.
    refused: Option<Refused>,
    /// What was typed.
    posted: Option<&'a Form>,
}

/// What tells the newest secret of a client from others, on pages of this session.
fn newest<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn, client: &Client) -> String {
    let salt = client.secrets.last().map(|one| one.secret.salt.0).unwrap_or_default();
    let salt: String = salt.iter().map(|byte| format!("{byte:02x}")).collect();
    visit.token_of(&signed_in.session.id, &format!("secret {salt}"))
}

fn show<E: Env>(
    visit: &Visit<'_, E>,
    status: u16,
    client: &Client,
    signed_in: &SignedIn,
    say: Say<'_>,
) -> Reply {
    let has_secret =
        client.profile.confidential && client.client_id.is_some() && client.is_approved();
    let csrf = token(visit, signed_in);
    let shown = client.proposal.as_ref().unwrap_or(&client.profile);
    let proposed = client
        .proposal
        .as_ref()
        .filter(|proposal| proposal.logo.is_some() && proposal.logo != client.profile.logo);
    let page = apps::app(&App {
        person: visit.person(signed_in),
        csrf: &csrf,
        reference: &client.reference,
        name: &client.profile.name,
        logo: logo(client),
        status: client.status.as_str(),
        changing: client.proposal.is_some(),
        note: client.note.as_deref(),
        client_id: client.client_id.as_deref(),
        secret: say.secret,
        may_show: has_secret && client.secrets.is_empty(),
        may_rotate: has_secret && !client.secrets.is_empty(),
        newest_secret: &newest(visit, signed_in, client),
        is_stale: say.is_stale,
        version: client.version,
        is_outdated: say.is_outdated,
        has_logo: shown.logo.is_some(),
        proposed_logo: proposed.map(|_| logo_at(client, true)),
        time: time(visit, signed_in),
        fields: say.posted.map_or_else(|| profile::shown(shown), profile::fields),
        refused: say.refused,
    });
    visit.page(status, page)
}

/// `POST /apps/{reference}`.
pub async fn post<E: Env>(visit: &Visit<'_, E>, reference: &str, signed_in: &SignedIn) -> Reply {
    let Some(parts) = parts(visit) else { return visit.foreign_form() };
    if !visit.is_own_form(&parts.form, &token(visit, signed_in)) {
        return visit.foreign_form();
    }
    let Some(client) = of(visit, reference, signed_in) else { return nothing(visit) };
    by_person(visit, signed_in);
    match parts.form.text("action") {
        "show_secret" | "rotate_secret" => renew(visit, &client, signed_in, &parts.form).await,
        _ => change(visit, &client, signed_in, &parts).await,
    }
}

/// What is asked for is done only while the session goes on, in which its person asks for it: a picture takes time to
/// unpack, and whoever signs in anew after a theft would find an application changed, or a secret made, behind it.
fn by_person<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) {
    visit.right.get_or_init(|| signed_in.right(&visit.state(), Need::Nothing));
}

/// Shows a new secret: the first one, or one that replaces it.
async fn renew<E: Env>(
    visit: &Visit<'_, E>,
    client: &Arc<Client>,
    signed_in: &SignedIn,
    form: &Form,
) -> Reply {
    let is_first = client.secrets.is_empty();
    let wants_first = form.text("action") == "show_secret";
    let may = client.profile.confidential && client.client_id.is_some() && client.is_approved();
    if !may || is_first != wants_first {
        return show(visit, 200, client, signed_in, Say::default());
    }
    // A page that was sent twice would end the secret that the first time made, and that may be in use by now.
    let stale = || Say { is_stale: true, ..Say::default() };
    if !is_first && form.text("newest_secret") != newest(visit, signed_in, client) {
        visit.because("there is a newer secret than the page knew");
        return show(visit, 409, client, signed_in, stale());
    }
    let (shown, kept) = secret(visit);
    let command = Command::RotateSecret {
        reference: client.reference.clone(),
        secret: kept,
        beside: Some(client.secrets.clone()),
        now: visit.now(),
    };
    match visit.ask(command).await {
        Ok(_) => {
            let facts =
                [("user", signed_in.user.name.as_str()), ("application", &client.reference)];
            visit.note("client_secret_rotated", "ok", &facts);
            let state = visit.state();
            let changed = state.clients.get(&client.reference).unwrap_or(client);
            show(visit, 200, changed, signed_in, Say { secret: Some(&shown), ..Say::default() })
        }
        // Two tabs at once: one of them has shown it.
        Err(authz::Error::Changed) => get(visit, &client.reference, signed_in),
        Err(authz::Error::Lapsed) => visit.see_other("/login"),
        Err(_) => visit.down(),
    }
}

/// Takes a change: at once where nobody relies on it, else for review.
async fn change<E: Env>(
    visit: &Visit<'_, E>,
    client: &Arc<Client>,
    signed_in: &SignedIn,
    parts: &Parts,
) -> Reply {
    // Where no picture is sent, the one of the version that the form showed stays.
    let shown = client.proposal.as_ref().unwrap_or(&client.profile);
    let after = match read(visit, parts, Some(shown)).await {
        Ok(after) => after,
        Err(refused) => {
            visit.because(&words_of(&refused));
            let say = Say { refused: Some(refused), posted: Some(&parts.form), ..Say::default() };
            return show(visit, 400, client, signed_in, say);
        }
    };
    if parts.form.text("version").parse() != Ok(client.version) {
        // It was sent twice, and the first one is what is kept.
        if after == *shown && client.status != Status::Rejected {
            return visit.see_other(&format!("/apps/{}", client.reference));
        }
        visit.because("the page was of another version of the application");
        return outdated(visit, client, signed_in, &parts.form);
    }
    let mut changed = (**client).clone();
    let is_trusted = matches!(client.status, Status::Approved | Status::Suspended);
    if is_trusted && profile::needs_review(&client.profile, &after) {
        changed.proposal = Some(after);
        changed.proposal_terms = None;
    } else {
        if client.status == Status::Rejected {
            changed.status = Status::Pending;
        }
        changed.auth_method = auth_method(&after).to_owned();
        // Another kind has grants of its own.
        if client.profile.application_type != after.application_type {
            changed.grant_types = grant_types(&after);
        }
        changed.profile = after;
        changed.proposal = None;
        changed.proposal_terms = None;
        account_of::give_back(&mut changed);
    }
    changed.note = None;
    match visit.ask(Command::PutClient { client: changed, version: client.version }).await {
        Ok(_) => {
            let facts =
                [("user", signed_in.user.name.as_str()), ("application", &client.reference)];
            visit.note("client_changed", "ok", &facts);
            visit.see_other(&format!("/apps/{}", client.reference))
        }
        Err(authz::Error::Changed) => match of(visit, &client.reference, signed_in) {
            Some(client) => outdated(visit, &client, signed_in, &parts.form),
            None => nothing(visit),
        },
        Err(authz::Error::Lapsed) => visit.see_other("/login"),
        Err(_) => visit.down(),
    }
}

/// The application as it stands, and what was sent of a version that is no more: nothing typed is lost, and nothing
/// that was decided is asked for again by a page that is sent twice.
fn outdated<E: Env>(
    visit: &Visit<'_, E>,
    client: &Client,
    signed_in: &SignedIn,
    form: &Form,
) -> Reply {
    let say = Say { is_outdated: true, posted: Some(form), ..Say::default() };
    show(visit, 409, client, signed_in, say)
}

/// Where the logo of this version of an application is, for owner and reviewers: no browser takes one that it
/// kept of another version for it.
pub fn logo_at(client: &Client, proposed: bool) -> String {
    let which = if proposed { "proposed&" } else { "" };
    format!("/apps/{}/logo?{which}version={}", client.reference, client.version)
}

/// `GET /apps/{reference}/logo`, for owner and reviewers. `?proposed` is the one under review.
pub fn own_logo<E: Env>(visit: &Visit<'_, E>, reference: &str, signed_in: &SignedIn) -> Reply {
    let state = visit.state();
    let client = state
        .clients
        .get(reference)
        .filter(|client| is_owner(&state, client, signed_in) || signed_in.reviews);
    let proposed = visit.query.split(|byte| *byte == b'&').next() == Some(b"proposed");
    let profile = client.and_then(|client| match proposed {
        true => client.proposal.as_ref(),
        false => Some(&client.profile),
    });
    picture(visit, profile)
}

/// `GET /logo/{client_id}`, for the consent page.
pub fn public_logo<E: Env>(visit: &Visit<'_, E>, client_id: &str) -> Reply {
    let state = visit.state();
    let client = state.client(client_id).filter(|client| client.is_approved());
    debug_assert!(client.is_none_or(
        |client| consent::logo(client, client_id).is_some() == client.profile.logo.is_some()
    ));
    picture(visit, client.map(|client| &client.profile))
}

/// A logo with the type that it was recognised as, and no way to be anything else.
fn picture<E: Env>(visit: &Visit<'_, E>, profile: Option<&Profile>) -> Reply {
    let logo = profile.and_then(|profile| profile.logo.as_ref());
    let Some((logo, bytes)) = logo.and_then(|logo| Some((logo, STANDARD.decode(&logo.data).ok()?)))
    else {
        return nothing(visit);
    };
    let mut reply = Reply { status: 200, body: bytes, ..Reply::default() };
    reply.content_type = Some(logo.kind.clone().into());
    reply
        .field("X-Content-Type-Options", "nosniff")
        .field("Content-Security-Policy", "default-src 'none'; sandbox")
        .field("Cache-Control", "private, max-age=300")
}
