//! A page that says what went wrong, where no redirect may happen.

use maud::html;

use super::layout::{Person, Tab, Width, page};

/// A problem page. `todo` tells the person what can be done about it.
pub fn render(title: &str, sentence: &str, todo: &str, person: Option<&Person<'_>>) -> String {
    let body = html! {
        section.card {
            h1 { (title) }
            p { (sentence) }
            p.hint { (todo) }
        }
    };
    page(title, person, Tab::None, Width::Narrow, &body)
}

/// A page that asks for nothing but a confirmation to sign out.
pub fn sign_out(person: &Person<'_>) -> String {
    let body = html! {
        section.card {
            h1 { "Sign out?" }
            p { "You are signed in as " strong { (person.name) } ". Applications that you let in keep their access." }
            form method="post" action="/logout" {
                (super::layout::hidden("csrf_token", person.csrf))
                div.buttons {
                    button type="submit" { "Sign out" }
                    a.button.quiet href="/account/apps" { "Stay" }
                }
            }
        }
    };
    page("Sign out", Some(person), Tab::None, Width::Narrow, &body)
}
