//! A device without a keyboard shows a code; its owner types it here.

use maud::html;

use super::consent::beyond;
use super::layout::{Person, Tab, Width, app_head, badge, hidden, no_default, page, until};
use super::words::{Weight, Words};

/// The form that asks for the code.
pub fn ask(person: &Person<'_>, csrf: &str, code: &str, trouble: Option<&str>) -> String {
    let body = html! {
        section.card {
            h1 { "Connect a device" }
            p.lead { "Type the code that your device shows. Go on only if you started this on a device of your own." }
            @if let Some(trouble) = trouble { div.note.stop #trouble role="alert" { (trouble) } }
            form method="post" action="/device" {
                (hidden("csrf_token", csrf))
                div.field {
                    label for="user_code" { "Code" }
                    p.hint #code-hint { "Eight letters, for example WDJB-MJHT. Case and dash do not matter." }
                    input.code-entry #user_code type="text" name="user_code" value=(code) autocomplete="off"
                        autocapitalize="characters" spellcheck="false" required maxlength="20" autofocus
                        aria-describedby=(if trouble.is_some() { "trouble code-hint" } else { "code-hint" });
                }
                div.buttons.wide { button type="submit" { "Go on" } }
            }
        }
    };
    page("Connect a device", Some(person), Tab::None, Width::Narrow, &body)
}

/// What a device asks for.
#[derive(Debug)]
pub struct Confirm<'a> {
    /// Who is signed in.
    pub person: Person<'a>,
    /// Token of the form.
    pub csrf: &'a str,
    /// The code, as it is shown on the device.
    pub code: &'a str,
    /// The application on the device.
    pub app: &'a str,
    /// Where its logo is.
    pub logo: Option<String>,
    /// A reviewer has looked at it.
    pub reviewed: bool,
    /// What is asked.
    pub scopes: Vec<(String, Words)>,
    /// Sentences of what is asked and not to be had: the owner holds nothing of it.
    pub beyond: Vec<String>,
    /// The code is good until then, in milliseconds.
    pub end: u64,
}

/// The page that asks for the decision.
pub fn confirm(confirm: &Confirm<'_>) -> String {
    let below = html! {
        "on a device that shows " code { (confirm.code) } " · "
        @if confirm.reviewed { (badge("reviewed", "good")) } @else { (badge("not reviewed", "bad")) }
    };
    let body = html! {
        section.card {
            (app_head(confirm.app, confirm.logo.as_deref(), &below, 1))
            div.note.warn { "Go on only if you started this yourself, and the device before you shows exactly this code. Whoever holds the device gets the access." }
            form method="post" action="/device" {
                (no_default())
                (hidden("csrf_token", confirm.csrf))
                (hidden("user_code", confirm.code))
                fieldset {
                    legend { "It asks to" }
                    @for (at, (scope, words)) in confirm.scopes.iter().enumerate() {
                        @let id = format!("scope-{at}");
                        div class=(if words.weight == Weight::Changes { "choice strong" } else { "choice" }) {
                            input id=(id) type="checkbox" name="scope" value=(scope) checked;
                            label for=(id) { (words.sentence) }
                            p.hint { (words.effect) }
                        }
                    }
                    @if confirm.scopes.is_empty() { p { "nothing that you hold yourself." } }
                    (beyond(&confirm.beyond))
                }
                (until("Please decide before", confirm.end))
                div.buttons {
                    button type="submit" name="decision" value="allow" { "Allow" }
                    button.quiet type="submit" name="decision" value="deny" { "Deny" }
                }
            }
        }
    };
    page("Allow a device?", Some(&confirm.person), Tab::None, Width::Middle, &body)
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The device is let in.
    Allowed,
    /// Its person refused.
    Refused,
    /// Its person holds nothing of what was ticked.
    Nothing,
}

/// The page that tells what became of it.
pub fn done(person: &Person<'_>, done: Done) -> String {
    let (title, sentence) = match done {
        Done::Allowed => (
            "Your device is connected",
            "It goes on by itself within a few seconds. You can close this page.",
        ),
        Done::Refused => ("Refused", "The device gets no access. You can close this page."),
        Done::Nothing => (
            "Nothing to give",
            "Your account may do nothing of what the device asks for, so it gets no access.",
        ),
    };
    let body = html! {
        section.card {
            h1 { (title) }
            p { (sentence) }
            p { a href="/account/apps" { "See what has access" } }
        }
    };
    page(title, Some(person), Tab::None, Width::Narrow, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_its_person_does_not_hold_is_offered_to_no_device() {
        let page = confirm(&Confirm {
            person: Person { name: "ann", csrf: "out", reviews: false },
            csrf: "c",
            code: "WDJB-MJHT",
            app: "Player",
            logo: None,
            reviewed: true,
            scopes: Vec::new(),
            beyond: vec!["Read documents in bills-*, any that match".into()],
            end: 600_000,
        });
        assert!(page.contains("nothing that you hold yourself."), "{page}");
        assert!(page.contains("will not get it: Read documents in bills-*"), "{page}");
        assert!(!page.contains("type=\"checkbox\""), "{page}");
    }
}
