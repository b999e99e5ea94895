//! What waits for a reviewer: everything that must be seen before saying yes.

use maud::{Markup, html};

use super::language::{Language, Texts};
use super::layout::{Person, Tab, Width, app_head, badge, hidden, no_default, page};
use super::words::{Weight, Words};

/// One line of facts: what stood there before, if something did, and what stands there now.
#[derive(Clone, Debug)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// What stood there in the approved version.
    pub before: Option<String>,
    /// What would stand there.
    pub now: String,
}

/// A callback address and the host it leads to.
#[derive(Clone, Debug)]
pub struct Callback {
    /// The address.
    pub uri: String,
    /// Its host.
    pub host: String,
    /// Answers would travel unprotected.
    pub insecure: bool,
}

/// A change of a logo: where the one before and the one that would be are, of those there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoChange {
    /// The one of the approved version.
    pub before: Option<String>,
    /// The one that would be.
    pub now: Option<String>,
}

/// What the form of an entry has to say, and what was typed in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Typed {
    /// Why the account is refused.
    pub trouble: Option<String>,
    /// The note to the developer.
    pub note: String,
}

/// One entry of the queue.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its reference number.
    pub reference: String,
    /// The version that is shown: a decision is about that one alone.
    pub version: u64,
    /// The name asked for.
    pub name: String,
    /// Where its logo is.
    pub logo: Option<String>,
    /// What became of the logo, where it changes.
    pub logo_change: Option<LogoChange>,
    /// The account that it would act for, as far as one is named; none where it does not act for itself.
    pub account: Option<String>,
    /// What its form has to say.
    pub typed: Typed,
    /// Who sent it.
    pub owner: String,
    /// It changes an approved application.
    pub change: bool,
    /// That application is suspended, and stays so whatever is decided about the change.
    pub suspended: bool,
    /// It has a secret.
    pub confidential: bool,
    /// It will be held to PKCE.
    pub pkce: bool,
    /// Its addresses.
    pub callbacks: Vec<Callback>,
    /// What it asks for.
    pub scopes: Vec<(String, Words)>,
    /// Why.
    pub reason: Option<String>,
    /// Everything else, with what stood there before.
    pub facts: Vec<Fact>,
    /// Names that look like its own.
    pub alike: Vec<String>,
}

/// The queue; `changed` names the application of which nothing was decided, for it has changed since it was
/// looked at.
pub fn render(person: &Person<'_>, csrf: &str, entries: &[Entry], changed: Option<&str>) -> String {
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let title = say(["Applications to review", "Anwendungen zur Prüfung"]);
    let body = html! {
        h1 { (title) }
        p.lead { (say(["Whoever is approved here may ask every owner for access. Nobody sees the secrets.", "Was hier genehmigt wird, darf jeden Eigentümer um Zugriff bitten. Die Geheimnisse sieht niemand."])) }
        @if let Some(name) = changed {
            div.note.stop role="alert" {
                (say(["Nothing was decided: ", "Es wurde nichts entschieden: "])) strong { bdi { (name) } }
                (say([" has changed since you looked at it. Look at it again, as it is now.", " hat sich geändert, seit Sie diese Anwendung angesehen haben. Sehen Sie sie noch einmal an, so wie sie jetzt ist."]))
            }
        }
        @if entries.is_empty() { section.card { p { (say(["Nothing waits.", "Zurzeit wartet nichts."])) } } }
        @for entry in entries { (article(language, csrf, entry)) }
    };
    page(language, title, Some(person), Tab::Review, Width::Middle, &body)
}

fn article(language: Language, csrf: &str, entry: &Entry) -> Markup {
    let say = |texts: Texts| language.say(texts);
    let below = html! {
        (say(["sent by ", "gesendet von "])) strong { bdi { (entry.owner) } } " "
        (badge(say(if entry.change { ["change", "Änderung"] } else { ["new", "neu"] }), "wait")) " "
        @if entry.suspended { (badge(say(["suspended", "gesperrt"]), "bad")) " " }
        (badge(say(if entry.confidential { ["keeps a secret", "wahrt ein Geheimnis"] } else { ["public", "öffentlich"] }), if entry.confidential { "good" } else { "wait" })) " "
        (badge(say(if entry.pkce { ["PKCE", "PKCE"] } else { ["no PKCE", "ohne PKCE"] }), if entry.pkce { "good" } else { "bad" }))
    };
    let (note, pkce) = (format!("note-{}", entry.reference), format!("pkce-{}", entry.reference));
    html! {
        article.card {
            (app_head(&entry.name, entry.logo.as_deref(), &below, 2))
            p.hint { (say(["Reference ", "Referenznummer "])) code { (entry.reference) } }
            @if entry.suspended {
                div.note.stop { strong { (say(["This application is suspended. ", "Diese Anwendung ist gesperrt. "])) }
                    (say(["Approving takes the change over; the suspension stays until an administrator ends it.", "Mit der Genehmigung wird die Änderung übernommen; die Sperre bleibt, bis ein Administrator sie aufhebt."])) }
            }
            @if !entry.alike.is_empty() {
                div.note.stop { strong { (say(["Its name looks like ", "Der Name sieht aus wie "])) }
                    @for (at, name) in entry.alike.iter().enumerate() { @if at > 0 { ", " } bdi { (name) } } "." }
            }
            h3 { (say(["Callback addresses", "Rücksprungadressen"])) }
            ul {
                @for callback in &entry.callbacks {
                    li { strong { (callback.host) } " " code { (callback.uri) }
                        @if callback.insecure { " " span.insecure { (say(["unprotected: approving allows plain HTTP for this application", "ungeschützt: Mit der Genehmigung wird dieser Anwendung unverschlüsseltes HTTP erlaubt"])) } } }
                }
                @if entry.callbacks.is_empty() { li { (say(["none", "keine"])) } }
            }
            h3 { (say(["It may ask to", "Worum sie bitten darf"])) }
            ul {
                @for (scope, words) in &entry.scopes {
                    li { (words.sentence) " " code { (scope) } @if words.weight == Weight::Changes { " " (badge(say(["changes things", "ändert etwas"]), "bad")) }
                        br; span.hint { (words.effect) } }
                }
                @if entry.scopes.is_empty() { li { (say(["nothing but know who its person is", "nichts, außer zu wissen, wer die Person ist"])) } }
            }
            @if let Some(reason) = &entry.reason { p { strong { (say(["Why: ", "Wozu: "])) } bdi { (reason) } } }
            dl.facts {
                @for fact in &entry.facts {
                    dt { (fact.name) }
                    dd {
                        @match &fact.before {
                            Some(before) if *before != fact.now => { del { bdi { (before) } } " " ins { bdi { (fact.now) } } },
                            _ => (fact.now),
                        }
                    }
                }
                @if let Some(change) = &entry.logo_change { dt { "Logo" } dd { (logo_change(language, change)) } }
            }
            form method="post" action="/admin/apps" {
                (no_default(language))
                (hidden("csrf_token", csrf))
                (hidden("app", &entry.reference))
                (hidden("version", &entry.version.to_string()))
                @if entry.confidential {
                    div.field {
                        label for=(pkce) { "PKCE" }
                        select id=(pkce) name="require_pkce" {
                            option value="true" selected[entry.pkce] { (say(["must be used", "muss verwendet werden"])) }
                            option value="false" selected[!entry.pkce] { (say(["may be left out", "darf entfallen"])) }
                        }
                    }
                }
                @if let Some(name) = &entry.account { (account(language, &entry.reference, name, entry.typed.trouble.as_deref())) }
                div.field {
                    label for=(note) { (say(["Note to the developer", "Hinweis an die Entwickler"])) }
                    textarea id=(note) name="note" maxlength="1000" { (entry.typed.note) }
                }
                div.buttons {
                    button type="submit" name="decision" value="approve" { (say(["Approve", "Genehmigen"])) }
                    // What is rejected needs no account.
                    button.danger type="submit" name="decision" value="reject" formnovalidate { (say(["Reject", "Ablehnen"])) }
                }
            }
        }
    }
}

/// The logo before and after, in pictures and in words.
fn logo_change(language: Language, change: &LogoChange) -> Markup {
    let say = |texts: Texts| language.say(texts);
    let words = match (&change.before, &change.now) {
        (Some(_), Some(_)) => ["another picture", "ein anderes Bild"],
        (None, _) => ["a picture, where there was none", "ein Bild, wo vorher keines war"],
        (Some(_), None) => ["taken away", "entfernt"],
    };
    html! {
        @if let Some(before) = &change.before {
            del { img.logo src=(before) alt=(say(["the logo before", "das bisherige Logo"])) width="58" height="58"; } " "
        }
        ins {
            @if let Some(now) = &change.now {
                img.logo src=(now) alt=(say(["the logo as it would be", "das Logo, wie es dann wäre"])) width="58" height="58"; " "
            }
            (say(words))
        }
    }
}

/// The field for the account that a service acts for.
fn account(language: Language, reference: &str, name: &str, trouble: Option<&str>) -> Markup {
    let say = |texts: Texts| language.say(texts);
    let id = format!("account-{reference}");
    let (hint, why) = (format!("{id}-hint"), format!("{id}-trouble"));
    let described = if trouble.is_some() { format!("{why} {hint}") } else { hint.clone() };
    html! {
        div.field {
            label for=(id) { (say(["Account that it acts for", "Konto, für das sie handelt"])) }
            p.hint id=(hint) { (say(["A service acts for itself with the roles of this account. Its scopes must lie within them.", "Ein Dienst handelt für sich selbst mit den Rollen dieses Kontos. Seine Berechtigungen müssen innerhalb dieser Rollen liegen."])) }
            @if let Some(trouble) = trouble { p.note.stop id=(why) role="alert" { (trouble) } }
            input id=(id) type="text" name="service_account" value=(name) required maxlength="1024" autocomplete="off"
                autocapitalize=(say(["none", "keine"])) spellcheck="false" aria-describedby=(described)
                aria-invalid=[trouble.map(|_| "true")] autofocus[trouble.is_some()];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oauth::reach::Today;
    use crate::pages::language::Language::English;
    use crate::pages::words;

    #[test]
    fn a_reviewer_sees_what_is_risky() {
        let person = Person { name: "rev", csrf: "t", reviews: true, language: English };
        let entry = Entry {
            reference: "A-1".into(),
            version: 7,
            name: "Chart".into(),
            logo: None,
            logo_change: Some(LogoChange { before: Some("/before".into()), now: None }),
            account: Some("an\"n".into()),
            typed: Typed { trouble: Some("not so".into()), note: "<b>".into() },
            owner: "dev".into(),
            change: true,
            suspended: true,
            confidential: true,
            pkce: false,
            callbacks: vec![Callback {
                uri: "http://app.example/cb".into(),
                host: "app.example".into(),
                insecure: true,
            }],
            scopes: vec![(
                "index:*:all".into(),
                words::of(English, "index:*:all", |_| Today { whole: 4, ..Today::default() }),
            )],
            reason: None,
            facts: vec![Fact { name: "Name", before: Some("Old".into()), now: "Chart".into() }],
            alike: vec!["Charts".into()],
        };
        let page = render(&person, "c", &[entry], None);
        for part in [
            "<article",
            "name=\"app\" value=\"A-1\"",
            "name=\"version\" value=\"7\"",
            "value=\"approve\"",
            "value=\"reject\"",
            "unprotected",
            "changes things",
            "<del><bdi>Old</bdi></del>",
            "looks like",
            "no PKCE",
            "This application is suspended",
            "src=\"/before\"",
            "taken away",
            "name=\"service_account\" value=\"an&quot;n\"",
            "not so",
            "&lt;b&gt;</textarea>",
            "<option value=\"false\" selected>",
        ] {
            assert!(page.contains(part), "{part} is missing in {page}");
        }
        assert!(render(&person, "c", &[], None).contains("Nothing waits"));
    }
}
