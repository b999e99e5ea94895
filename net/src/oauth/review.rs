//! `/admin/apps`: reviewers approve or reject applications, and changes of them.

use authz::pages::apps::KINDS;
use authz::pages::language::{Language, Texts};
use authz::pages::layout::UNDECIDED;
use authz::pages::quoted::is_unseen;
use authz::pages::review::{self, Callback, Entry, Fact, LogoChange, Typed};
use authz::pages::words;
use authz::record::client::{ApplicationType, Client, Profile, Status};
use authz::{Command, Need, Principal, State};
use env::Env;

use super::visit::{MANAGE, SignedIn, Visit};
use super::{account_of, apps, profile, redirect};
use crate::reply::Reply;

/// Characters of a note.
const NOTE_CHARACTERS_MAX: usize = 1000;

/// `GET /admin/apps`.
pub fn get<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    queue(visit, signed_in, 200, &Said::default())
}

/// What the queue has to say of a decision that was not taken.
#[derive(Default)]
struct Said<'a> {
    /// The application that is another one by now.
    changed: Option<&'a str>,
    /// The form that was refused.
    refused: Option<Refused<'a>>,
}

/// A form that was refused, as it was sent: nothing that was chosen in it is lost.
struct Refused<'a> {
    /// Of which application.
    app: &'a str,
    /// The account that was named.
    account: &'a str,
    /// PKCE must be used.
    pkce: bool,
    /// Note, and trouble.
    typed: Typed,
}

/// The queue as it is now.
fn queue<E: Env>(
    visit: &Visit<'_, E>,
    signed_in: &SignedIn,
    status: u16,
    said: &Said<'_>,
) -> Reply {
    let state = visit.state();
    let mut waiting: Vec<_> = state
        .clients
        .values()
        .filter(|client| client.status == Status::Pending || client.proposal.is_some())
        .collect();
    waiting.sort_by_key(|client| client.created);
    let approved: Vec<(&str, &str)> = state
        .clients
        .values()
        .filter(|client| client.is_approved())
        .map(|client| (client.reference.as_str(), client.profile.name.as_str()))
        .collect();
    let mut entries: Vec<Entry> =
        waiting.iter().map(|client| entry(visit, client, &approved)).collect();
    if let Some(form) = &said.refused
        && let Some(entry) = entries.iter_mut().find(|entry| entry.reference == form.app)
    {
        entry.typed = form.typed.clone();
        entry.pkce = form.pkce;
        entry.account = entry.account.is_some().then(|| form.account.to_owned());
    }
    let csrf = visit.token_of(&signed_in.session.id, "review");
    visit.page(status, review::render(&visit.person(signed_in), &csrf, &entries, said.changed))
}

/// What was decided about is not what waits now: the reviewer sees the new one first.
fn look_again<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn, name: &str) -> Reply {
    queue(visit, signed_in, 409, &Said { changed: Some(name), refused: None })
}

fn entry<E: Env>(visit: &Visit<'_, E>, client: &Client, approved: &[(&str, &str)]) -> Entry {
    let state = visit.state();
    let now = client.proposal.as_ref().unwrap_or(&client.profile);
    let before = client.proposal.as_ref().map(|_| &client.profile);
    let callbacks = now.redirect_uris.iter().map(|uri| Callback {
        uri: uri.clone(),
        host: redirect::remote_host(uri)
            .unwrap_or(visit.say(["this computer", "dieser Rechner"]))
            .to_owned(),
        insecure: redirect::is_insecure(uri),
    });
    let alike = approved.iter().filter(|(reference, name)| {
        *reference != client.reference && profile::is_alike(name, &now.name)
    });
    Entry {
        reference: client.reference.clone(),
        version: client.version,
        name: now.name.clone(),
        logo: now.logo.as_ref().map(|_| apps::logo_at(client, before.is_some())),
        logo_change: before.filter(|before| before.logo != now.logo).map(|before| LogoChange {
            before: before.logo.as_ref().map(|_| apps::logo_at(client, false)),
            now: now.logo.as_ref().map(|_| apps::logo_at(client, true)),
        }),
        account: (now.application_type == ApplicationType::Service).then(|| {
            let account = state.account_of(client);
            account.map(|user| user.name.clone()).unwrap_or_default()
        }),
        typed: Typed::default(),
        owner: match (&client.owner, state.owner_of(client)) {
            (None, _) => visit.say(["an administrator", "einem Administrator"]).to_owned(),
            (Some(name), Some(_)) => name.clone(),
            (Some(name), None) => {
                let gone =
                    visit.say(["an account that is gone", "ein Konto, das es nicht mehr gibt"]);
                format!("{name} ({gone})")
            }
        },
        change: before.is_some(),
        suspended: client.status == Status::Suspended,
        confidential: now.confidential,
        pkce: now.require_pkce,
        callbacks: callbacks.collect(),
        scopes: now
            .scopes
            .iter()
            .map(|scope| {
                (scope.clone(), words::of(visit.language(), scope, |it| visit.there_today(it)))
            })
            .collect(),
        reason: now.scope_reason.clone(),
        facts: facts(visit.language(), before, now)
            .into_iter()
            .chain(terms(visit.language(), client))
            .collect(),
        alike: alike.map(|(_, name)| (*name).to_owned()).collect(),
    }
}

fn facts(language: Language, before: Option<&Profile>, now: &Profile) -> Vec<Fact> {
    type Part = fn(Language, &Profile) -> String;
    let parts: [(Texts, Part); 11] = [
        (["Name", "Name"], |_, profile| profile.name.clone()),
        (["Kind", "Art"], |language, profile| kind(language, profile.application_type).to_owned()),
        (["Callbacks", "Rücksprungadressen"], |_, profile| profile.redirect_uris.join(" ")),
        (["Scopes", "Berechtigungen"], |_, profile| profile.scopes.join(" ")),
        (["Keeps a secret", "Wahrt ein Geheimnis"], |language, profile| {
            yes(language, profile.confidential)
        }),
        (["Must use PKCE", "Muss PKCE verwenden"], |language, profile| {
            yes(language, profile.require_pkce)
        }),
        (["Its page", "Seite der Anwendung"], |_, profile| {
            profile.client_uri.clone().unwrap_or_default()
        }),
        (["Description", "Beschreibung"], |_, profile| {
            profile.description.clone().unwrap_or_default()
        }),
        (["Privacy", "Datenschutz"], |_, profile| profile.policy_uri.clone().unwrap_or_default()),
        (["Terms", "Nutzungsbedingungen"], |_, profile| {
            profile.tos_uri.clone().unwrap_or_default()
        }),
        (["Contact", "Kontakt"], |_, profile| profile.contacts.join(" ")),
    ];
    parts
        .into_iter()
        .map(|(name, part)| Fact {
            name: language.say(name),
            before: before.map(|before| part(language, before)),
            now: part(language, now),
        })
        .filter(|fact| !fact.now.is_empty() || fact.before.is_some())
        .collect()
}

fn yes(language: Language, is_so: bool) -> String {
    language.say(if is_so { ["yes", "ja"] } else { ["no", "nein"] }).to_owned()
}

/// What kind of application it is: in English by the word that programs use.
fn kind(language: Language, kind: ApplicationType) -> &'static str {
    let word = kind.as_str();
    let known = KINDS.iter().find(|(known, _)| *known == word);
    language.say([word, known.map_or(word, |(_, texts)| Language::German.say(*texts))])
}

/// The ways to tokens of a change that came by registration, and those of before.
fn terms(language: Language, client: &Client) -> Vec<Fact> {
    let Some(terms) = &client.proposal_terms else { return Vec::new() };
    vec![
        Fact {
            name: language.say(["Grant types", "Wege zu Token"]),
            before: Some(client.grant_types.join(" ")),
            now: terms.grant_types.join(" "),
        },
        Fact {
            name: language.say(["Must push its requests", "Muss Anfragen vorab senden"]),
            before: Some(yes(language, client.require_par)),
            now: yes(language, terms.require_par),
        },
    ]
}

/// The page for somebody who is no reviewer.
pub fn not_for<E: Env>(visit: &Visit<'_, E>) -> Reply {
    visit.problem(
        403,
        ["This page is for reviewers", "Diese Seite ist für Prüfer"],
        [
            "Your account may not decide about applications.",
            "Ihr Konto darf nicht über Anwendungen entscheiden.",
        ],
        [
            "Ask an administrator for the role oauth_admin.",
            "Bitten Sie einen Administrator um die Rolle oauth_admin.",
        ],
    )
}

/// `POST /admin/apps`.
pub async fn post<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let Some(form) = visit.posted() else { return visit.foreign_form() };
    let csrf = visit.token_of(&signed_in.session.id, "review");
    if !visit.is_own_form(&form, &csrf) || form.repeated(&[]).is_some() {
        return visit.foreign_form();
    }
    if form.text("decision") == UNDECIDED {
        return visit.undecided();
    }
    let state = visit.state();
    // Who reviews, and by which session, is judged once more where the state is kept.
    visit.right.get_or_init(|| signed_in.right(&state, Need::Action(MANAGE)));
    let waiting = state
        .clients
        .get(form.text("app"))
        .filter(|client| client.status == Status::Pending || client.proposal.is_some());
    let Some(client) = waiting else {
        return visit.problem(
            404,
            ["Nothing to decide", "Nichts zu entscheiden"],
            [
                "This application does not wait for a reviewer any more.",
                "Diese Anwendung wartet nicht mehr auf eine Prüfung.",
            ],
            ["Look at the queue again.", "Sehen Sie sich die Liste noch einmal an."],
        );
    };
    let is_yes = form.text("decision") == "approve";
    let event = if is_yes { "client_approved" } else { "client_rejected" };
    let named = &client.proposal.as_ref().unwrap_or(&client.profile).name;
    // The developer may have sent another one since the page was made, which nobody looked at. A form that
    // names no version is about none that is kept.
    let version = form.text("version").parse().unwrap_or_default();
    // What turns other letters round, or is not seen, is no part of what is said.
    let said = form.text("note").chars().filter(|c| *c == '\n' || !is_unseen(*c));
    let note: String = said.take(NOTE_CHARACTERS_MAX).collect();
    let note = (!note.trim().is_empty()).then(|| note.trim().to_owned());
    let changed = match form.text("decision") {
        "approve" => {
            let mut approved = Client { note, ..approved(visit, client) };
            match form.first("require_pkce") {
                None => {}
                // A client without a secret has nothing else to hold on to.
                Some("false") => approved.profile.require_pkce = !approved.profile.confidential,
                Some(_) => approved.profile.require_pkce = true,
            }
            let named = form.text("service_account").trim();
            if account_of::is_service(&approved)
                && let Err(why) = lend(&mut approved, named, &state)
            {
                visit.because(Language::English.say(why));
                let note = approved.note.unwrap_or_default();
                let typed = Typed { trouble: Some(visit.say(why).to_owned()), note };
                let (app, pkce) = (form.text("app"), approved.profile.require_pkce);
                let refused = Some(Refused { app, account: named, pkce, typed });
                return queue(visit, signed_in, 400, &Said { changed: None, refused });
            }
            let by = Principal::user_of(signed_in.user.clone(), &state);
            if account_of::lends(visit, &by, &approved).is_err() {
                return not_yours(visit);
            }
            approved
        }
        "reject" => Client { note, ..rejected(client) },
        _ => return visit.foreign_form(),
    };
    let id = changed.client_id.clone().unwrap_or_default();
    let command = Command::PutClient { client: changed.clone(), version };
    let said = changed.note.clone().unwrap_or_default();
    let decided = visit.ask(command).await;
    // Nothing is noted as done that was not.
    let (outcome, reason, lists) = match &decided {
        // What the reviewer wrote of it.
        Ok(_) if is_yes => ("ok", said, approved_of(&changed)),
        Ok(_) => ("ok", said, Approved::default()),
        Err(error) => ("failed", error.to_string(), Approved::default()),
    };
    let facts = [
        ("reason", reason.as_str()),
        ("user", signed_in.user.name.as_str()),
        ("client", &id),
        ("application", &client.reference),
    ];
    visit.note_lists(event, outcome, &facts, &lists);
    if decided.is_ok() && account_of::end_others(visit, &client.reference).await.is_err() {
        return visit.down();
    }
    match decided {
        Ok(_) => visit.see_other("/admin/apps"),
        // Somebody else decided, or it was changed, at the same moment: the queue shows what is left.
        Err(authz::Error::Changed) => look_again(visit, signed_in, named),
        Err(authz::Error::Denied(_)) => not_for(visit),
        Err(authz::Error::NotForAccount { .. }) => not_yours(visit),
        Err(authz::Error::Lapsed) => visit.see_other("/login"),
        Err(_) => visit.down(),
    }
}

fn not_yours<E: Env>(visit: &Visit<'_, E>) -> Reply {
    visit.problem(
        403,
        ["This is not yours to approve", "Sie können dies nicht genehmigen"],
        ["The application acts as an account for which you may not act, or wants more than that account may do.", "Die Anwendung handelt als ein Konto, für das Sie nicht handeln dürfen, oder will mehr, als dieses Konto darf."],
        ["Reject it, or ask an administrator who may act for that account.", "Lehnen Sie sie ab, oder bitten Sie einen Administrator, der für dieses Konto handeln darf."],
    )
}

/// What the audit log keeps of an approval.
pub type Approved<'p> = [(&'static str, &'p [String]); 3];

/// Scopes, callbacks and the account that it acts for, as they are from now on: each a value of its own, so that
/// a long one hides none.
pub fn approved_of(client: &Client) -> Approved<'_> {
    [
        ("scope", &client.profile.scopes),
        ("redirect_uris", &client.profile.redirect_uris),
        ("service_account", client.service_account.as_slice()),
    ]
}

/// Lends a service the account that the reviewer names; one that has an account may go on with it.
fn lend(client: &mut Client, named: &str, state: &State) -> Result<(), Texts> {
    match named {
        "" if state.account_of(client).is_some() => Ok(()),
        "" => Err([
            "Please name the account that it acts for.",
            "Bitte nennen Sie das Konto, für das sie handelt.",
        ]),
        named => account_of::lend(client, named, state).map_err(|_| {
            [
                "There is no user of this name in this store.",
                "In dieser Installation gibt es niemanden mit diesem Benutzernamen.",
            ]
        }),
    }
}

/// The client as it is after approval: its id comes into being. One that is suspended stays so: a change of
/// it is one question, the suspension another.
pub fn approved<E: Env>(visit: &Visit<'_, E>, client: &Client) -> Client {
    let mut client = client.clone();
    if let Some(proposal) = client.proposal.take() {
        match client.proposal_terms.take() {
            Some(terms) => {
                client.auth_method = terms.auth_method;
                client.grant_types = terms.grant_types;
                client.require_par = terms.require_par;
            }
            None => {
                client.auth_method = apps::auth_method(&proposal).to_owned();
                if client.profile.application_type != proposal.application_type {
                    client.grant_types = apps::grant_types(&proposal);
                }
            }
        }
        client.profile = proposal;
    }
    account_of::give_back(&mut client);
    if !client.profile.confidential {
        // Should it become confidential once more, its owner is shown another one.
        client.secrets.clear();
    }
    if client.status != Status::Suspended {
        client.status = Status::Approved;
    }
    client.allow_insecure_redirect |=
        client.profile.redirect_uris.iter().any(|uri| redirect::is_insecure(uri));
    if client.client_id.is_none() {
        client.client_id = Some(apps::client_id(visit));
    }
    client
}

/// The client as it is after a refusal: what was approved before goes on.
pub fn rejected(client: &Client) -> Client {
    let mut client = client.clone();
    client.proposal_terms = None;
    if client.proposal.take().is_none() {
        client.status = Status::Rejected;
    }
    client
}
