//! A device without a keyboard shows a code; its owner types it here.

use maud::html;

use super::consent::{ALLOW, ASKS, DENY, NOTHING_HELD, beyond, reviewed};
use super::language::Texts;
use super::layout::{Person, Step, Tab, Width, app_head, hidden, no_default, page, until};
use super::words::{Weight, Words};

/// The form that asks for the code.
pub fn ask(person: &Person<'_>, csrf: &str, code: &str, trouble: Option<&str>) -> String {
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let title = say(["Connect a device", "Ein Gerät verbinden"]);
    let body = html! {
        section.card {
            h1 { (title) }
            p.lead { (say(["Type the code that your device shows. Go on only if you started this on a device of your own.", "Geben Sie den Code ein, den Ihr Gerät anzeigt. Fahren Sie nur fort, wenn Sie dies auf einem eigenen Gerät begonnen haben."])) }
            @if let Some(trouble) = trouble { div.note.stop #trouble role="alert" { (trouble) } }
            form method="post" action="/device" {
                (hidden("csrf_token", csrf))
                div.field {
                    label for="user_code" { "Code" }
                    p.hint #code-hint { (say(["Eight letters, for example WDJB-MJHT. Case and dash do not matter.", "Acht Buchstaben, zum Beispiel WDJB-MJHT. Groß- und Kleinschreibung und der Bindestrich spielen keine Rolle."])) }
                    input.code-entry #user_code type="text" name="user_code" value=(code) autocomplete="off"
                        autocapitalize="characters" spellcheck="false" required maxlength="20" autofocus
                        aria-describedby=(if trouble.is_some() { "trouble code-hint" } else { "code-hint" });
                }
                div.buttons.wide { button type="submit" { (say(["Go on", "Weiter"])) } }
            }
        }
    };
    page(language, title, Some(person), Tab::None, Width::Narrow, &body)
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
    let language = confirm.person.language;
    let say = |texts: Texts| language.say(texts);
    let below = html! {
        (say(["on a device that shows ", "auf einem Gerät, das diesen Code anzeigt: "])) code { (confirm.code) } " · "
        (reviewed(language, confirm.reviewed))
    };
    let body = html! {
        section.card {
            (app_head(confirm.app, confirm.logo.as_deref(), &below, 1))
            div.note.warn { (say(["Go on only if you started this yourself, and the device before you shows exactly this code. Whoever holds the device gets the access.", "Fahren Sie nur fort, wenn Sie dies selbst begonnen haben und das Gerät vor Ihnen genau diesen Code anzeigt. Wer das Gerät in der Hand hat, erhält den Zugriff."])) }
            form method="post" action="/device" {
                (no_default(language))
                (hidden("csrf_token", confirm.csrf))
                (hidden("user_code", confirm.code))
                fieldset {
                    legend { (say(ASKS)) }
                    @for (at, (scope, words)) in confirm.scopes.iter().enumerate() {
                        @let id = format!("scope-{at}");
                        div class=(if words.weight == Weight::Changes { "choice strong" } else { "choice" }) {
                            input id=(id) type="checkbox" name="scope" value=(scope) checked;
                            label for=(id) { (words.sentence) }
                            p.hint { (words.effect) }
                        }
                    }
                    @if confirm.scopes.is_empty() { p { (say(NOTHING_HELD)) } }
                    (beyond(language, &confirm.beyond))
                }
                (until(language, Step::Decide, confirm.end))
                div.buttons {
                    button type="submit" name="decision" value="allow" { (say(ALLOW)) }
                    button.quiet type="submit" name="decision" value="deny" { (say(DENY)) }
                }
            }
        }
    };
    page(
        language,
        say(["Allow a device?", "Ein Gerät zulassen?"]),
        Some(&confirm.person),
        Tab::None,
        Width::Middle,
        &body,
    )
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
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let (title, sentence) = match done {
        Done::Allowed => (
            ["Your device is connected", "Ihr Gerät ist verbunden"],
            [
                "It goes on by itself within a few seconds. You can close this page.",
                "Es macht in wenigen Sekunden von selbst weiter. Sie können diese Seite schließen.",
            ],
        ),
        Done::Refused => (
            ["Refused", "Abgelehnt"],
            [
                "The device gets no access. You can close this page.",
                "Das Gerät erhält keinen Zugriff. Sie können diese Seite schließen.",
            ],
        ),
        Done::Nothing => (
            ["Nothing to give", "Nichts zu gewähren"],
            [
                "Your account may do nothing of what the device asks for, so it gets no access.",
                "Ihr Konto darf nichts von dem, was das Gerät verlangt; deshalb erhält es keinen Zugriff.",
            ],
        ),
    };
    let (title, sentence) = (say(title), say(sentence));
    let body = html! {
        section.card {
            h1 { (title) }
            p { (sentence) }
            p { a href="/account/apps" { (say(["See what has access", "Ansehen, was Zugriff hat"])) } }
        }
    };
    page(language, title, Some(person), Tab::None, Width::Narrow, &body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::language::Language;

    #[test]
    fn what_its_person_does_not_hold_is_offered_to_no_device() {
        let page = confirm(&Confirm {
            person: Person {
                name: "ann",
                csrf: "out",
                reviews: false,
                language: Language::English,
            },
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
