//! `/account`: what has access, where somebody is signed in, the password.

use std::collections::BTreeMap;
use std::sync::Arc;

use authz::command::{Outcome, Withdrawal};
use authz::oauth::reach::{Reach, Today};
use authz::oauth::sight::Sight;
use authz::pages::account::{self, Changed, Given, Row, Stolen, Visit as Seen};
use authz::pages::consent::{Condition, once};
use authz::pages::language::{Language, Texts};
use authz::pages::login::{BUSY, wait};
use authz::pages::quoted;
use authz::pages::words;
use authz::record::grant::{DeviceState, Grant, GrantKind};
use authz::{AuthError, Command, Secret};
use env::Env;
use unicode_normalization::UnicodeNormalization as _;

use super::limit::{Whose, host};
use super::visit::{SignedIn, Visit};
use super::{ask, authorize, consent, login};
use crate::reply::Reply;

fn token<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> String {
    visit.token_of(&signed_in.session.id, "account")
}

/// What is told of an application whose registration was narrowed to other things.
const NARROWED: Texts = [
    "nothing at the moment: it may not have any more what you allowed",
    "zurzeit nichts: Die Anwendung darf nicht mehr haben, was Sie ihr erlaubt haben",
];

/// The person's grants that still let somebody in.
fn grants<E: Env>(visit: &Visit<'_, E>, name: &str) -> Vec<Arc<Grant>> {
    let (state, now) = (visit.state(), visit.now());
    state
        .grants_of(name, None)
        .filter(|grant| grant.kind == GrantKind::Oauth && grant.parent.is_none())
        .filter(|grant| grant.is_live(now))
        .cloned()
        .collect()
}

/// Clients that hold no grant now and would be let in without a question: a consent is remembered, or a code
/// or a device is on its way. With what each may do.
fn without_grant<E: Env>(
    visit: &Visit<'_, E>,
    signed_in: &SignedIn,
    granted: &[Arc<Grant>],
) -> BTreeMap<String, Vec<String>> {
    let (state, now, user) = (visit.state(), visit.now(), &signed_in.user);
    let is_own = |name: &str, uid: u64| name == user.name && uid == user.uid;
    let mut given: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |client: &str, scopes: &[String]| {
        let holds = |grant: &Arc<Grant>| grant.client.as_deref() == Some(client);
        if state.client(client).is_some() && !granted.iter().any(holds) {
            let known = given.entry(client.to_owned()).or_default();
            known.extend(
                scopes.iter().filter(|one| !known.contains(one)).cloned().collect::<Vec<_>>(),
            );
        }
    };
    let kept = state.consents.from(&(user.name.clone(), String::new()));
    for (_, consent) in kept.take_while(|((owner, _), _)| *owner == user.name) {
        if consent.uid == user.uid {
            add(&consent.client, &consent.scopes);
        }
    }
    for code in state.codes.values() {
        if is_own(&code.user, code.uid) && code.spent.is_none() && !code.burnt && now < code.end {
            add(&code.client, &code.scopes);
        }
    }
    for device in state.devices.values() {
        let is_let_in = device.state == DeviceState::Allowed && now < device.end;
        if is_let_in && is_own(device.user.as_deref().unwrap_or_default(), device.uid) {
            add(&device.client, &device.scopes);
        }
    }
    given
}

/// `GET /account/apps`.
pub fn apps<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let state = visit.state();
    let language = visit.language();
    let own = authorize::reach_of(&state, &signed_in.user);
    let today = |reach: &Reach, scope: &String| {
        let (words, sight) = match reach.share(scope) {
            Some(share) => {
                let sight = Sight::of(reach, std::slice::from_ref(&share.scope));
                (consent::counted(visit, reach, &share), sight)
            }
            // Granted before the owner lost it all.
            None => (words::of(language, scope, |_| Today::default()), Sight::default()),
        };
        let is_part = words.is_part();
        let mut told = words.sentence;
        if let Some(own) = words::seen(language, &sight) {
            told.push_str(&own_only(language, own));
        }
        if is_part {
            told.push_str(&grows(language, &words::anywhere(language, scope)));
        }
        told
    };
    let granted = grants(visit, &signed_in.user.name);
    let mut rows: Vec<Row> = granted
        .iter()
        .filter_map(|grant| {
            let client_id = grant.client.as_deref()?;
            let client = state.client(client_id)?;
            // What the application may not have any more it does not do either.
            let (scopes, entries) = ask::cut_all(client, &grant.scopes, &grant.details);
            let reach = authorize::reach_for(visit, &signed_in.user, &scopes, &entries);
            let nothing = (scopes.is_empty() && entries.is_empty())
                .then(|| language.say(NARROWED).to_owned());
            let scopes = scopes.iter().map(|scope| today(&reach, scope));
            let details = entries.iter().enumerate().map(|(at, entry)| {
                let detail = consent::detail(visit, &reach, at, entry);
                let mut told = detail.sentence;
                match detail.condition {
                    Some(Condition::Words(words)) => {
                        told.push_str(
                            language.say([", only where ", ", nur Dokumente, für die gilt: "]),
                        );
                        told.push_str(&words);
                    }
                    Some(Condition::Text(text)) => {
                        told.push_str(language.say([
                            ", only where this technical condition is met: ",
                            ", nur Dokumente, die diese technische Bedingung erfüllen: ",
                        ]));
                        told.push_str(&text);
                    }
                    Some(Condition::All) | None => {}
                }
                if !detail.fields.is_empty() {
                    let fields = detail.fields.iter();
                    let fields: Vec<String> =
                        fields.map(|name| quoted::field(language, name)).collect();
                    told.push_str(language.say([", only the fields ", ", nur die Felder "]));
                    told.push_str(&fields.join(", "));
                }
                if detail.fields.is_empty() && !detail.unseen.is_empty() {
                    told.push_str(language.say([
                        ", without any field that you see yourself",
                        ", ohne ein Feld, das Sie selbst sehen",
                    ]));
                }
                if let Some(own) = detail.own {
                    told.push_str(&own_only(language, own));
                }
                if !detail.later.is_empty() {
                    told.push_str(&grows(language, &once(&detail.later).join("; ")));
                }
                told
            });
            Some(Row {
                given: Given::Grant(visit.keys().grant_name(grant.id)),
                app: client.profile.name.clone(),
                logo: consent::logo(client, client_id),
                permissions: scopes.chain(details).chain(nothing).collect(),
                created: Some(grant.created),
                last_used: grant.last_used,
                last_address: grant.last_address.clone(),
                end: Some(grant.absolute_end),
            })
        })
        .collect();
    for (client_id, scopes) in without_grant(visit, signed_in, &granted) {
        let Some(client) = state.client(&client_id) else { continue };
        rows.push(Row {
            app: client.profile.name.clone(),
            logo: consent::logo(client, &client_id),
            permissions: scopes.iter().map(|scope| today(&own, scope)).collect(),
            given: Given::Consent(client_id),
            created: None,
            last_used: None,
            last_address: None,
            end: None,
        });
    }
    let csrf = token(visit, signed_in);
    let told = state.notices_of(&signed_in.user, visit.now());
    let stolen: Vec<Stolen> =
        told.map(|notice| Stolen { app: notice.app.clone(), at: notice.at }).collect();
    visit.page(200, account::grants(&visit.person(signed_in), &csrf, &rows, &stolen))
}

/// What is told of something of which its owner sees a part alone.
fn own_only(language: Language, own: &str) -> String {
    match language {
        Language::English => format!(", only {own} that you may see yourself"),
        Language::German => format!(", davon nur {own}, die Sie selbst sehen dürfen"),
    }
}

/// What is told of something of which its owner holds a part, and that grows with what they hold.
fn grows(language: Language, all: &str) -> String {
    match language {
        Language::English => format!(" (as your rights grow, up to: {all})"),
        Language::German => format!(" (wenn Ihre Rechte wachsen, höchstens bis zu: {all})"),
    }
}

/// `POST /account/apps`.
pub async fn revoke<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let Some(form) = visit.posted() else { return visit.foreign_form() };
    if !visit.is_own_form(&form, &token(visit, signed_in)) || form.repeated(&[]).is_some() {
        return visit.foreign_form();
    }
    let granted = grants(visit, &signed_in.user.name);
    let user = signed_in.user.name.clone();
    let command = match form.text("action") {
        "understood" => {
            let state = visit.state();
            let told = state.notices_of(&signed_in.user, visit.now());
            let grants = told.map(|notice| notice.grant).collect();
            return match visit.ask(Command::DropNotices { grants }).await {
                Ok(_) => visit.see_other("/account/apps"),
                Err(_) => visit.down(),
            };
        }
        "revoke_all" => Command::Withdraw { user, client: None, service: false },
        "revoke" => {
            let named = visit.keys().grant_named(form.text("grant"));
            let id = named.filter(|id| granted.iter().any(|grant| grant.id == *id));
            let client = form.text("client");
            let is_given = || without_grant(visit, signed_in, &granted).contains_key(client);
            if let Some(id) = id {
                Command::Revoke { grants: vec![id], consents: true }
            } else if is_given() {
                Command::Withdraw { user, client: Some(client.to_owned()), service: false }
            } else {
                return visit.problem(
                    404,
                    ["There is no such access", "Diesen Zugriff gibt es nicht"],
                    [
                        "It ended already, or was given by somebody else.",
                        "Er ist schon zu Ende, oder jemand anders hat ihn gegeben.",
                    ],
                    ["Look at the list again.", "Sehen Sie sich die Liste noch einmal an."],
                );
            }
        }
        _ => return visit.foreign_form(),
    };
    match visit.ask(command).await {
        Ok(outcome) => {
            let ended = if let Outcome::Ended(ended) = outcome { ended } else { Vec::new() };
            let told: Vec<String> = ended.iter().map(|id| visit.keys().grant_name(*id)).collect();
            let facts = [
                ("user", signed_in.user.name.as_str()),
                ("client", form.text("client")),
                ("grant", &told.join(" ")),
            ];
            visit.note("consent_revoked", "ok", &facts);
            visit.see_other("/account/apps")
        }
        Err(_) => visit.down(),
    }
}

/// `GET /account/sessions`.
pub fn sessions<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let (state, now) = (visit.state(), visit.now());
    let mut seen: Vec<Seen> = state
        .sessions_of(&signed_in.user, now)
        .filter(|session| now < session.seen + visit.settings.session_idle)
        .map(|session| Seen {
            agent: session.agent.clone(),
            address: session.address.clone(),
            seen: session.seen,
            this: session.id == signed_in.session.id,
        })
        .collect();
    seen.sort_by_key(|session| std::cmp::Reverse((session.this, session.seen)));
    let csrf = token(visit, signed_in);
    visit.page(200, account::sessions(&visit.person(signed_in), &csrf, &seen))
}

/// `POST /account/sessions`.
pub async fn end_sessions<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let Some(form) = visit.posted() else { return visit.foreign_form() };
    if !visit.is_own_form(&form, &token(visit, signed_in))
        || form.text("action") != "sign_out_everywhere"
    {
        return visit.foreign_form();
    }
    let state = visit.state();
    let ids: Vec<_> =
        state.sessions_of(&signed_in.user, visit.now()).map(|session| session.id).collect();
    let count = ids.len().to_string();
    match visit.ask(Command::EndSessions { ids }).await {
        Ok(_) => {
            visit.note("logout", "ok", &[("user", &signed_in.user.name), ("count", &count)]);
            visit
                .see_other("/login")
                .field("Set-Cookie", super::cookie::clear(super::cookie::SESSION))
        }
        Err(_) => visit.down(),
    }
}

/// `GET /account/security`.
pub fn security<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    form(visit, 200, signed_in, Changed::No)
}

fn form<E: Env>(
    visit: &Visit<'_, E>,
    status: u16,
    signed_in: &SignedIn,
    changed: Changed<'_>,
) -> Reply {
    let csrf = token(visit, signed_in);
    visit.page(status, account::password(&visit.person(signed_in), &csrf, changed))
}

/// Passwords that everybody tries first.
const COMMON: &[&str] = &[
    "password",
    "12345678",
    "123456789",
    "1234567890",
    "qwertyuiop",
    "iloveyou",
    "password1",
    "password123",
    "11111111",
    "00000000",
    "sunshine",
    "princess",
    "football",
    "baseball",
    "trustno1",
    "superman",
    "letmein1",
    "changeme",
    "administrator",
    "corelode",
    "elasticsearch",
    "qwerty123",
    "1q2w3e4r",
    "1qaz2wsx",
    "abcd1234",
    "passw0rd",
    "welcome1",
    "88888888",
];

/// Is a password (as it is hashed) one that is tried first, for this user?
fn is_common(password: &str, user: &str) -> bool {
    let plain = login::account(password);
    COMMON.contains(&plain.as_str()) || plain == login::account(user)
}

/// `POST /account/security`.
pub async fn change_password<E: Env>(visit: &Visit<'_, E>, signed_in: &SignedIn) -> Reply {
    let Some(posted) = visit.posted() else { return visit.foreign_form() };
    if !visit.is_own_form(&posted, &token(visit, signed_in)) || posted.repeated(&[]).is_some() {
        return visit.foreign_form();
    }
    let refused = |status, field, why: Texts| {
        visit.because(Language::English.say(why));
        form(visit, status, signed_in, Changed::Refused(field, visit.say(why)))
    };
    let refuse = |field, why| refused(400, field, why);
    let busy = |field| refused(503, field, BUSY).field("Retry-After", "1");
    let (old, new) = (posted.text("password"), posted.text("new_password"));
    if new != posted.text("new_password_again") {
        return refuse(
            "new_password_again",
            ["The two new passwords differ.", "Die beiden neuen Passwörter sind verschieden."],
        );
    }
    // As it is hashed: letters of another width or composition are the same password.
    let hashed: String = new.nfkc().collect();
    if !(8..=512).contains(&hashed.chars().count()) {
        return refuse(
            "new_password",
            [
                "The new password needs 8 to 512 characters.",
                "Das neue Passwort braucht 8 bis 512 Zeichen.",
            ],
        );
    }
    if is_common(&hashed, &signed_in.user.name) {
        return refuse(
            "new_password",
            [
                "The new password is one of those that are tried first.",
                "Das neue Passwort ist eines von denen, die zuerst ausprobiert werden.",
            ],
        );
    }
    let name = &signed_in.user.name;
    let now = visit.monotonic();
    // The counter of the sign-in: a stranger's guesses elsewhere do not keep this browser out.
    let key = login::counter(visit, name);
    let attempt =
        match visit.limiter.attempt(Whose::Person, &key, visit.settings.limits.login_failures, now)
        {
            Ok(attempt) => attempt,
            Err(seconds) => {
                visit.note("login_throttled", "failed", &[("user", name)]);
                visit.because(&wait(Language::English, seconds));
                let why = wait(visit.language(), seconds);
                return form(visit, 429, signed_in, Changed::Refused("password", &why))
                    .field("Retry-After", seconds.to_string());
            }
        };
    let old = Secret::new(old.to_owned());
    let checked = visit.security.authenticator.password(name.clone(), old, host(visit.peer)).await;
    let by = match checked {
        // A user of the file who has the same name is another.
        Ok(principal) if principal.user().is(&signed_in.user) => {
            visit.limiter.succeeded(Whose::Person, &key);
            principal.user().proof()
        }
        Err(AuthError::Busy) => {
            visit.limiter.undo(Whose::Person, &key, attempt);
            return busy("password");
        }
        _ => {
            visit.note(
                "password_changed",
                "failed",
                &[("user", name), ("reason", "wrong password")],
            );
            visit.limiter.failed(Whose::Person, &key, attempt, visit.monotonic());
            return refuse(
                "password",
                ["The current password is wrong.", "Das aktuelle Passwort ist falsch."],
            );
        }
    };
    let new = Secret::new(new.to_owned());
    let Ok(hash) = authz::store::hash(visit.core.env(), new).await else {
        return busy("new_password");
    };
    let command = Command::SetPassword {
        user: name.clone(),
        password: hash,
        instead_of: None,
        keep: Some(signed_in.session.id),
        withdraws: posted.first("revoke_grants").map(|_| Withdrawal::Apps),
        by: Some(by),
    };
    match visit.ask(command).await {
        Ok(_) => {}
        // Somebody gave another one while the new one was hashed.
        Err(authz::Error::Lapsed) => {
            let facts = [("user", name.as_str()), ("reason", "wrong password")];
            visit.note("password_changed", "failed", &facts);
            return refuse(
                "password",
                ["The current password is wrong.", "Das aktuelle Passwort ist falsch."],
            );
        }
        Err(_) => return visit.down(),
    }
    visit.note("password_changed", "ok", &[("user", name)]);
    // The old session's word: a password that was given since ended it.
    let renewed = login::renew(visit, &signed_in.user, signed_in.proof()).await;
    let (session, value) = match renewed {
        Ok(renewed) => renewed,
        Err(authz::Error::Lapsed) => return visit.see_other("/login"),
        Err(_) => return visit.down(),
    };
    let sign_out = visit.token_of(&session.id, "sign out");
    let renewed = SignedIn { session: session.into(), sign_out, ..signed_in.clone() };
    form(visit, 200, &renewed, Changed::Yes)
        .field("Set-Cookie", super::cookie::set(super::cookie::SESSION, &value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Full-width letters passed the list, and were `password` when they were hashed.
    #[test]
    fn common_passwords_are_known_in_every_width() {
        for bad in
            ["password", "PassWord", "ｐａｓｓｗｏｒｄ", "Ｐａｓｓｗｏｒｄ１", "Ａnn-Example"]
        {
            let hashed: String = bad.nfkc().collect();
            assert!(is_common(&hashed, "ann-example"), "{bad}");
        }
        assert!(!is_common("correct horse", "ann-example"));
    }
}
