//! The form that asks who is there.

use maud::html;

use super::language::{Language, Texts};
use super::layout::{Step, Tab, Width, hidden, page, until};

/// What the form has to say beside its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// Name or password is wrong; the same for unknown, locked and disabled accounts.
    Wrong,
    /// Too many attempts: wait for so many seconds.
    Wait(u64),
    /// Too many people sign in at this moment.
    Busy,
    /// The account is right, but one of the server's own file, which has no pages.
    FileAccount,
}

/// What the form is made of.
#[derive(Clone, Copy, Debug)]
pub struct Login<'a> {
    /// Its language.
    pub language: Language,
    /// Token of the form.
    pub csrf: &'a str,
    /// The request that waits, if any.
    pub request: &'a str,
    /// The code of a device that waits, if any: the way leads on to it.
    pub user_code: &'a str,
    /// A name to begin with.
    pub username: &'a str,
    /// Name of the application that sent the person here.
    pub app: Option<&'a str>,
    /// The request waits until then, in milliseconds; none where nothing waits.
    pub end: Option<u64>,
    /// What went wrong the last time.
    pub trouble: Trouble,
}

/// To who tries too often.
pub fn wait(language: Language, seconds: u64) -> String {
    match language {
        Language::English => format!("Too many attempts. Please wait {seconds} s and try again."),
        Language::German => format!(
            "Zu viele Versuche. Bitte warten Sie {seconds} s und versuchen Sie es dann noch einmal."
        ),
    }
}

/// To whoever comes when too many do.
pub const BUSY: Texts = [
    "Many people sign in at this moment. Please try again.",
    "Gerade melden sich viele Menschen an. Bitte versuchen Sie es noch einmal.",
];

/// The page.
pub fn render(login: &Login<'_>) -> String {
    let language = login.language;
    let say = |texts: Texts| language.say(texts);
    let title = say(["Sign in", "Anmelden"]);
    let message = match login.trouble {
        Trouble::None => None,
        Trouble::Wrong => Some(
            say([
                "Name or password is wrong. Please try again.",
                "Name oder Passwort ist falsch. Bitte versuchen Sie es noch einmal.",
            ])
            .to_owned(),
        ),
        Trouble::Wait(seconds) => Some(wait(language, seconds)),
        Trouble::Busy => Some(say(BUSY).to_owned()),
        Trouble::FileAccount => Some(
            say([
                "This account is kept in a file of the server. It is good for the store, not for these pages. \
                 Please sign in with another one.",
                "Dieses Konto steht in einer Datei des Servers. Es gilt für die Installation, nicht für diese \
                 Seiten. Bitte melden Sie sich mit einem anderen an.",
            ])
            .to_owned(),
        ),
    };
    let invalid = (login.trouble == Trouble::Wrong).then_some("true");
    let described = message.is_some().then_some("trouble");
    let at_password = login.trouble != Trouble::None || !login.username.is_empty();
    let body = html! {
        section.card {
            h1 { (title) }
            @match login.app {
                Some(app) => p.lead { (say(["Sign in to go on with ", "Melden Sie sich an, um mit "])) strong { bdi { (app) } } (say([".", " fortzufahren."])) },
                None => p.lead { (say(["Use your account of this store.", "Verwenden Sie Ihr Konto bei dieser Installation."])) },
            }
            @if let Some(message) = &message {
                div.note.stop #trouble role="alert" { (message) }
            }
            form method="post" action="/login" {
                (hidden("csrf_token", login.csrf))
                (hidden("request", login.request))
                @if !login.user_code.is_empty() { (hidden("user_code", login.user_code)) }
                div.field {
                    label for="username" { (say(["User name", "Benutzername"])) }
                    input #username type="text" name="username" value=(login.username) autocomplete="username"
                        autocapitalize="none" spellcheck="false" required maxlength="1024"
                        aria-invalid=[invalid] aria-describedby=[described] autofocus[!at_password];
                }
                div.field {
                    label for="password" { (say(["Password", "Passwort"])) }
                    input #password type="password" name="password" autocomplete="current-password" required
                        aria-invalid=[invalid] aria-describedby=[described] autofocus[at_password];
                }
                @if let Some(end) = login.end { (until(language, Step::SignIn, end)) }
                div.buttons.wide { button type="submit" { (title) } }
            }
        }
    };
    page(language, title, None, Tab::None, Width::Narrow, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: Login<'_> = Login {
        language: Language::English,
        csrf: "c",
        request: "r",
        user_code: "",
        username: "",
        app: None,
        end: None,
        trouble: Trouble::None,
    };

    #[test]
    fn failures_differ_from_each_other_in_nothing_but_the_sentence() {
        let wrong = render(&Login { trouble: Trouble::Wrong, username: "ann", ..FORM });
        assert!(wrong.contains("aria-describedby=\"trouble\"") && wrong.contains("role=\"alert\""));
        assert!(wrong.contains("value=\"ann\""));
        assert!(render(&Login { trouble: Trouble::Wait(8), ..FORM }).contains("wait 8 s"));
        assert!(!render(&FORM).contains("role=\"alert\"") && !render(&FORM).contains("<time"));
        let waiting = render(&Login { end: Some(600_000), ..FORM });
        assert!(waiting.contains("Please sign in before <time"), "{waiting}");
    }

    #[test]
    fn fields_are_named_and_labelled() {
        let page = render(&FORM);
        for part in [
            "name=\"csrf_token\" value=\"c\"",
            "name=\"request\" value=\"r\"",
            "label for=\"username\"",
            "autocomplete=\"username\"",
            "autocomplete=\"current-password\"",
        ] {
            assert!(page.contains(part), "{part} is missing in {page}");
        }
    }
}
