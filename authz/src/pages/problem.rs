//! A page that says what went wrong, where no redirect may happen.

use maud::html;

use super::language::{Language, Texts};
use super::layout::{Person, Tab, Width, page};

/// A problem page. `todo` tells the person what can be done about it.
pub fn render(
    language: Language,
    title: &str,
    sentence: &str,
    todo: &str,
    person: Option<&Person<'_>>,
) -> String {
    let body = html! {
        section.card {
            h1 { (title) }
            p { (sentence) }
            p.hint { (todo) }
        }
    };
    page(language, title, person, Tab::None, Width::Narrow, &body)
}

/// A page that asks for nothing but a confirmation to sign out.
pub fn sign_out(person: &Person<'_>) -> String {
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let title = say(["Sign out", "Abmelden"]);
    let body = html! {
        section.card {
            h1 { (say(["Sign out?", "Abmelden?"])) }
            p {
                (say(["You are signed in as ", "Sie sind angemeldet als "])) strong { (person.name) }
                (say([". Applications that you let in keep their access.", ". Anwendungen, die Sie zugelassen haben, behalten ihren Zugriff."]))
            }
            form method="post" action="/logout" {
                (super::layout::hidden("csrf_token", person.csrf))
                div.buttons {
                    button type="submit" { (title) }
                    a.button.quiet href="/account/apps" { (say(["Stay", "Angemeldet bleiben"])) }
                }
            }
        }
    };
    page(language, title, Some(person), Tab::None, Width::Narrow, &body)
}
