//! A person's own pages: applications let in, sessions, the password.

use maud::{Markup, html};

use super::language::{Language, Texts};
use super::layout::{Person, Tab, Width, app_head, hidden, page, time};

/// What a row's form takes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// One grant, by its name.
    Grant(String),
    /// Whatever an application was given that holds no token now, by its client id: a consent that is
    /// remembered, a code on its way.
    Consent(String),
}

/// One access, in words.
#[derive(Clone, Debug)]
pub struct Row {
    /// What is taken back, for the form.
    pub given: Given,
    /// The application's name.
    pub app: String,
    /// Where its logo is.
    pub logo: Option<String>,
    /// What it may do, a sentence each.
    pub permissions: Vec<String>,
    /// When it was given, in milliseconds, where that is known.
    pub created: Option<u64>,
    /// When it was last used.
    pub last_used: Option<u64>,
    /// From where.
    pub last_address: Option<String>,
    /// When it ends by itself.
    pub end: Option<u64>,
}

/// An access that ended because a token of it was used twice.
#[derive(Clone, Debug)]
pub struct Stolen {
    /// The application's name.
    pub app: String,
    /// When, in milliseconds.
    pub at: u64,
}

/// Applications that were let in, and what happened to some of them.
pub fn grants(person: &Person<'_>, csrf: &str, rows: &[Row], stolen: &[Stolen]) -> String {
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let title = say(["Applications with access", "Anwendungen mit Zugriff"]);
    let body = html! {
        h1 { (title) }
        p.lead { (say(["Each of them may do what stands beside it, in your name, until you revoke it.", "Jede von ihnen darf in Ihrem Namen tun, was bei ihr steht, bis Sie es widerrufen."])) }
        @if !stolen.is_empty() {
            section.note.stop aria-labelledby="stolen" {
                h2 #stolen { (say(["Access that was ended for your safety", "Zugriff, der zu Ihrer Sicherheit beendet wurde"])) }
                ul { @for one in stolen {
                    li { strong { bdi { (one.app) } } ", " (time(one.at)) (say([
                        ": a key of this application was used twice. It may have been stolen, so nothing of it works any more. You can let the application in again.",
                        ": Ein Schlüssel dieser Anwendung wurde zweimal verwendet. Er könnte gestohlen worden sein, deshalb funktioniert nichts mehr davon. Sie können der Anwendung erneut Zugriff geben.",
                    ])) }
                } }
                form method="post" action="/account/apps" {
                    (hidden("csrf_token", csrf))
                    div.buttons { button type="submit" name="action" value="understood" { (say(["Understood", "Verstanden"])) } }
                }
            }
        }
        @if rows.is_empty() {
            section.card { p { (say(["No application has access to your documents.", "Keine Anwendung hat Zugriff auf Ihre Dokumente."])) } }
        }
        div.grid {
            @for row in rows { (grant(language, csrf, row)) }
        }
        @if !rows.is_empty() {
            form method="post" action="/account/apps" {
                (hidden("csrf_token", csrf))
                div.buttons { button.danger type="submit" name="action" value="revoke_all" { (say(["Revoke all", "Alle widerrufen"])) } }
            }
        }
    };
    page(language, title, Some(person), Tab::Grants, Width::Wide, &body)
}

fn grant(language: Language, csrf: &str, row: &Row) -> Markup {
    let say = |texts: Texts| language.say(texts);
    let since = html! {
        @match row.created {
            Some(at) => { (say(["since ", "seit "])) (time(at)) },
            None => (say([
                "you let it in; it holds no token now, and gets one without asking you again",
                "von Ihnen zugelassen; sie hat zurzeit kein Token und erhält eines, ohne Sie noch einmal zu fragen",
            ])),
        }
    };
    html! {
        article.card {
            (app_head(&row.app, row.logo.as_deref(), &since, 2))
            ul { @for permission in &row.permissions { li { (permission) } } }
            dl.facts {
                dt { (say(["Last use", "Zuletzt genutzt"])) }
                dd {
                    @match row.last_used { Some(at) => (time(at)), None => (say(["never", "nie"])) }
                    @if let Some(address) = &row.last_address { (say(FROM)) (address) }
                }
                @if let Some(end) = row.end { dt { (say(["Ends", "Endet"])) } dd { (time(end)) } }
            }
            form method="post" action="/account/apps" {
                (hidden("csrf_token", csrf))
                @match &row.given {
                    Given::Grant(id) => (hidden("grant", id)),
                    Given::Consent(client) => (hidden("client", client)),
                }
                button.danger type="submit" name="action" value="revoke" aria-label={ (say(["Revoke ", "Widerrufen: "])) (row.app) } { (say(["Revoke", "Widerrufen"])) }
            }
        }
    }
}

/// Before an address from which somebody came.
const FROM: Texts = [" from ", " von der Adresse "];

/// One session.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The browser, as it calls itself.
    pub agent: Option<String>,
    /// From where.
    pub address: Option<String>,
    /// When it was last seen, in milliseconds.
    pub seen: u64,
    /// It is the one that shows this page.
    pub this: bool,
}

/// Where the person is signed in.
pub fn sessions(person: &Person<'_>, csrf: &str, visits: &[Visit]) -> String {
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let title = say(["Sessions", "Sitzungen"]);
    let body = html! {
        h1 { (title) }
        p.lead { (say(["Browsers in which you are signed in.", "Browser, in denen Sie angemeldet sind."])) }
        section.card {
            ul.plain {
                @for visit in visits {
                    li {
                        strong { (visit.agent.as_deref().unwrap_or(say(["A browser without a name", "Ein Browser ohne Namen"]))) }
                        @if visit.this { " " (super::layout::badge(say(["this browser", "dieser Browser"]), "good")) }
                        br;
                        span.hint { (say(["last seen ", "zuletzt gesehen: "])) (time(visit.seen))
                            @if let Some(address) = &visit.address { (say(FROM)) (address) } }
                    }
                }
            }
        }
        form method="post" action="/account/sessions" {
            (hidden("csrf_token", csrf))
            div.buttons { button.danger type="submit" name="action" value="sign_out_everywhere" { (say(["Sign out everywhere", "Überall abmelden"])) } }
        }
    };
    page(language, title, Some(person), Tab::Sessions, Width::Middle, &body)
}

/// What the password form has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed<'a> {
    /// Nothing yet.
    No,
    /// It was changed.
    Yes,
    /// It was not: which field is to be filled again, and why.
    Refused(&'static str, &'a str),
}

/// The password form.
pub fn password(person: &Person<'_>, csrf: &str, changed: Changed<'_>) -> String {
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let title = say(["Change your password", "Ihr Passwort ändern"]);
    let wrong = match changed {
        Changed::Refused(field, _) => field,
        Changed::No | Changed::Yes => "",
    };
    let body = html! {
        section.card {
            h1 { (title) }
            @match changed {
                Changed::No => {},
                Changed::Yes => div.note role="status" { (say(["Your password was changed. All other sessions have ended.", "Ihr Passwort wurde geändert. Alle anderen Sitzungen sind beendet."])) },
                Changed::Refused(_, why) => div.note.stop #trouble role="alert" { (why) },
            }
            form method="post" action="/account/security" {
                (hidden("csrf_token", csrf))
                (super::layout::hidden("username", person.name))
                (secret("password", say(["Current password", "Aktuelles Passwort"]), "current-password", wrong))
                (secret("new_password", say(["New password", "Neues Passwort"]), "new-password", wrong))
                (secret("new_password_again", say(["New password again", "Neues Passwort noch einmal"]), "new-password", wrong))
                div.choice {
                    input #revoke type="checkbox" name="revoke_grants" value="true";
                    label for="revoke" { (say(["Also revoke all applications", "Auch den Zugriff aller Anwendungen widerrufen"])) }
                    p.hint { (say(["If you think that somebody knew your password.", "Falls Sie vermuten, dass jemand Ihr Passwort kannte."])) }
                }
                div.buttons.wide { button type="submit" name="action" value="change_password" { (say(["Change the password", "Passwort ändern"])) } }
            }
        }
    };
    page(language, title, Some(person), Tab::Security, Width::Narrow, &body)
}

fn secret(name: &str, label: &str, complete: &str, wrong: &str) -> Markup {
    let is_wrong = name == wrong;
    html! {
        div.field {
            label for=(name) { (label) }
            input id=(name) type="password" name=(name) autocomplete=(complete) required
                aria-invalid=[is_wrong.then_some("true")] aria-describedby=[is_wrong.then_some("trouble")]
                autofocus[is_wrong];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::language::Language::English;

    const PERSON: Person<'_> = Person { name: "ann", csrf: "t", reviews: false, language: English };

    #[test]
    fn each_grant_has_a_form_of_its_own() {
        let row = Row {
            given: Given::Grant("7".into()),
            app: "Chart".into(),
            logo: None,
            permissions: vec!["Read documents in orders".into()],
            created: Some(0),
            last_used: None,
            last_address: None,
            end: Some(86_400_000),
        };
        let kept = Row { given: Given::Consent("c1".into()), created: None, ..row.clone() };
        let page = grants(&PERSON, "c", &[kept], &[]);
        assert_eq!(page.matches("value=\"revoke_all\"").count(), 1, "also of one: {page}");
        assert!(page.contains("name=\"client\" value=\"c1\"") && page.contains("without asking"));
        let page = grants(&PERSON, "c", &[row.clone(), row], &[]);
        assert_eq!(page.matches("name=\"grant\" value=\"7\"").count(), 2);
        assert_eq!(page.matches("value=\"revoke_all\"").count(), 1);
        assert!(page.contains("never") && page.contains("1970-01-02"));
        assert!(grants(&PERSON, "c", &[], &[]).contains("No application"));
        let stolen = Stolen { app: "<b>Chart".into(), at: 0 };
        let page = grants(&PERSON, "c", &[], &[stolen]);
        assert!(page.contains("&lt;b&gt;Chart") && page.contains("value=\"understood\""));
    }

    #[test]
    fn a_refused_password_says_why() {
        let page = password(&PERSON, "c", Changed::Refused("new_password", "too short"));
        assert!(page.contains("too short"));
        assert_eq!(page.matches("aria-describedby=\"trouble\" autofocus").count(), 1, "{page}");
        let at = page.find("autofocus").expect("the focus is there");
        let id = page[..at].rfind(" id=\"").expect("an element with an id");
        assert!(page[id..].starts_with(" id=\"new_password\""), "{}", &page[id..at]);
        assert!(!password(&PERSON, "c", Changed::No).contains("autofocus"));
    }
}
