//! A developer's applications: the list, the form, the state of one.

use maud::{Markup, html};

use super::language::{Language, Texts};
use super::layout::{Person, Tab, Width, app_head, badge, hidden, page, time};
use super::words::duration;

/// One application in the list.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its reference number.
    pub reference: String,
    /// Its name.
    pub name: String,
    /// Where its logo is.
    pub logo: Option<String>,
    /// Where it stands.
    pub status: &'static str,
    /// A change waits for review.
    pub changing: bool,
}

/// The list.
pub fn list(person: &Person<'_>, rows: &[Row]) -> String {
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let title = say(["Your applications", "Ihre Anwendungen"]);
    let body = html! {
        h1 { (title) }
        p.lead { (say(["An application that is approved may ask owners to let it read or write their documents.", "Eine genehmigte Anwendung darf Eigentümer bitten, sie ihre Dokumente lesen oder schreiben zu lassen."])) }
        div.grid {
            @for row in rows {
                article.card {
                    (app_head(&row.name, row.logo.as_deref(), &standing(language, row.status, row.changing), 2))
                    p.hint { (say(["Reference number ", "Referenznummer "])) code.reference { (row.reference) } }
                    a href={ "/apps/" (row.reference) } { @match language { Language::English => { "Open " bdi { (row.name) } }, Language::German => { bdi { (row.name) } " öffnen" } } }
                }
            }
        }
        @if rows.is_empty() { section.card { p { (say(["You have not registered an application.", "Sie haben keine Anwendung registriert."])) } } }
        div.buttons { a.button href="/apps/new" { (say(REGISTER)) } }
    };
    page(language, title, Some(person), Tab::Apps, Width::Wide, &body)
}

/// What leads to the form for a new application, and stands over it.
const REGISTER: Texts = ["Register an application", "Eine Anwendung registrieren"];

fn standing(language: Language, status: &'static str, changing: bool) -> Markup {
    let (german, mood) = match status {
        "approved" => ("genehmigt", "good"),
        "pending" => ("wartet auf Prüfung", "wait"),
        "rejected" => ("abgelehnt", "bad"),
        _ => ("gesperrt", "bad"),
    };
    let change = language.say(["change under review", "Änderung in Prüfung"]);
    html! { (badge(language.say([status, german]), mood)) @if changing { " " (badge(change, "wait")) } }
}

/// What stands in the fields of the form.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// `web`, `native`, `browser` or `service`.
    pub application_type: String,
    /// Name.
    pub client_name: String,
    /// Callback addresses, one a line.
    pub redirect_uris: String,
    /// Its page.
    pub client_uri: String,
    /// For the consent page.
    pub description: String,
    /// Privacy statement.
    pub policy_uri: String,
    /// Terms.
    pub tos_uri: String,
    /// Who answers questions.
    pub contacts: String,
    /// Scopes, separated by spaces.
    pub scope: String,
    /// Why they are wanted.
    pub scope_reason: String,
    /// It cannot keep a secret.
    pub public: bool,
    /// It must use PKCE.
    pub require_pkce: bool,
}

/// A field that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Name of the field; empty where none is at fault.
    pub field: &'static str,
    /// Why, in a sentence of each language.
    pub why: [String; 2],
}

impl Refused {
    /// Why, in this language.
    pub fn why(&self, language: Language) -> &str {
        language.say(self.why.each_ref().map(String::as_str))
    }
}

/// Kinds of applications, and what they are called.
pub const KINDS: [(&str, Texts); 4] = [
    ("web", ["Web application on a server", "Webanwendung auf einem Server"]),
    ("native", ["Program on a person's machine", "Programm auf dem Rechner einer Person"]),
    ("browser", ["Program in a browser", "Programm in einem Browser"]),
    ("service", ["Service that acts for itself", "Dienst, der für sich selbst handelt"]),
];

const HTTPS: Texts = ["An https address.", "Eine https-Adresse."];

/// What each field of the form is called, as its label says.
const LABELS: [(&str, Texts); 12] = [
    ("application_type", ["Kind of application", "Art der Anwendung"]),
    ("client_name", ["Name", "Name"]),
    ("redirect_uris", ["Callback addresses", "Rücksprungadressen"]),
    ("logo", ["Logo", "Logo"]),
    ("client_uri", ["Its page", "Seite der Anwendung"]),
    ("description", ["Description", "Beschreibung"]),
    ("policy_uri", ["Privacy statement", "Datenschutzerklärung"]),
    ("tos_uri", ["Terms", "Nutzungsbedingungen"]),
    ("contacts", ["Contact", "Kontakt"]),
    ("scope", ["Scopes", "Berechtigungen"]),
    ("scope_reason", ["Why it needs them", "Wozu sie gebraucht werden"]),
    ("confidential", ["Can it keep a secret?", "Kann sie ein Geheimnis wahren?"]),
];

/// What a field is called; itself where it has no label.
fn label_of(language: Language, field: &'static str) -> &'static str {
    LABELS.iter().find(|(name, _)| *name == field).map_or(field, |(_, label)| language.say(*label))
}

/// Where the form for a new application is.
const NEW: &str = "/apps/new";

/// Field of that form: when its page was made.
pub const MADE: &str = "made";

/// How long what is typed into a form can be sent: the session ends then, where nothing else is asked before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// When, in milliseconds.
    pub end: u64,
    /// A session ends by itself after so long, in milliseconds.
    pub idle: u64,
    /// When the page was made, in milliseconds: by which a form that is sent once more is known.
    pub made: u64,
}

/// The form for a new application.
pub fn new(
    person: &Person<'_>,
    csrf: &str,
    fields: &Fields,
    refused: Option<&Refused>,
    time: Time,
) -> String {
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let shown = Shown {
        language,
        csrf,
        action: NEW,
        button: say(["Send for review", "Zur Prüfung senden"]),
        fields,
        refused,
        time,
        has_logo: false,
        version: None,
    };
    let body = html! {
        h1 { (say(REGISTER)) }
        p.lead { (say(["A reviewer looks at it; then it gets its id and, if it can keep one, its secret.", "Die Anwendung wird zuerst geprüft; dann erhält sie ihre Client-ID und, wenn sie eines wahren kann, ihr Geheimnis."])) }
        section.card { (form(&shown)) }
    };
    page(language, say(REGISTER), Some(person), Tab::Apps, Width::Middle, &body)
}

/// One application, for its owner.
#[derive(Debug)]
pub struct App<'a> {
    /// Who is signed in.
    pub person: Person<'a>,
    /// Token of the forms.
    pub csrf: &'a str,
    /// Its reference number.
    pub reference: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Where its logo is.
    pub logo: Option<String>,
    /// Where it stands.
    pub status: &'static str,
    /// A change waits for review.
    pub changing: bool,
    /// What the reviewer said.
    pub note: Option<&'a str>,
    /// Its id, once it is approved.
    pub client_id: Option<&'a str>,
    /// Its secret, the one time that it is shown.
    pub secret: Option<&'a str>,
    /// It has a right to a secret that was never shown.
    pub may_show: bool,
    /// It has a secret, which can be replaced.
    pub may_rotate: bool,
    /// What tells its newest secret from others, for the form that replaces it.
    pub newest_secret: &'a str,
    /// It was asked for a new secret by a page of before the one that it has now.
    pub is_stale: bool,
    /// The version that the form is about: a change of another one is not taken.
    pub version: u64,
    /// A change was sent of a version that is no more: it was decided, or changed elsewhere.
    pub is_outdated: bool,
    /// There is a logo in the version that the form shows.
    pub has_logo: bool,
    /// Where the logo is that waits for a reviewer, where it is another one.
    pub proposed_logo: Option<String>,
    /// How long its forms can be sent.
    pub time: Time,
    /// What it says of itself.
    pub fields: Fields,
    /// A field of a change that was refused.
    pub refused: Option<Refused>,
}

/// The page of one application.
pub fn app(app: &App<'_>) -> String {
    let action = format!("/apps/{}", app.reference);
    let language = app.person.language;
    let say = |texts: Texts| language.say(texts);
    let shown = Shown {
        language,
        csrf: app.csrf,
        action: &action,
        button: say(["Send the change", "Änderung senden"]),
        fields: &app.fields,
        refused: app.refused.as_ref(),
        time: app.time,
        has_logo: app.has_logo,
        version: Some(app.version),
    };
    let body = html! {
        @if app.is_outdated {
            div.note.stop role="alert" {
                (say([
                    "Nothing was changed: a reviewer decided about this application, or it was changed, since the page was made that you sent. Look at how it stands now. The form below holds what you sent: send it again if you still want it.",
                    "Es wurde nichts geändert: Seit die Seite entstand, die Sie abgeschickt haben, wurde über diese Anwendung entschieden, oder sie wurde geändert. Sehen Sie sich an, wie sie jetzt ist. Im Formular unten steht, was Sie abgeschickt haben: Senden Sie es noch einmal, wenn Sie es immer noch möchten.",
                ]))
            }
        }
        @if app.is_stale {
            div.note.stop role="alert" {
                (say([
                    "No secret was made: there is a newer one than this page knew. Press the button again if you want to replace that one.",
                    "Es wurde kein Geheimnis erzeugt: Es gibt ein neueres als das, von dem diese Seite wusste. Betätigen Sie die Schaltfläche noch einmal, wenn Sie dieses ersetzen möchten.",
                ]))
            }
        }
        section.card {
            (app_head(app.name, app.logo.as_deref(), &standing(language, app.status, app.changing), 1))
            dl.facts {
                dt { (say(["Reference number", "Referenznummer"])) }
                dd { code.reference { (app.reference) } }
            }
            @match app.status {
                "pending" => p { (say(["It waits for a reviewer. Its id and secret come into being when it is approved.", "Die Anwendung wartet auf die Prüfung. Ihre Client-ID und ihr Geheimnis entstehen, wenn sie genehmigt wird."])) },
                "rejected" => p { (say(["It was refused. You can change it below and send it again.", "Die Anwendung wurde abgelehnt. Unten können Sie sie ändern und noch einmal senden."])) },
                "suspended" => p { (say(["It was suspended: it can neither ask for access nor use what it had.", "Die Anwendung wurde gesperrt: Weder kann sie um Zugriff bitten noch nutzen, was sie hatte."])) },
                _ => {},
            }
            @if let Some(note) = app.note { div.note { strong { (say(["The reviewer says: ", "Hinweis aus der Prüfung: "])) } bdi { (note) } } }
            @if let Some(id) = app.client_id {
                h2 { (say(["Client id", "Client-ID"])) }
                code.client_id { (id) }
            }
            @if let Some(secret) = app.secret {
                h2 { (say(["Client secret", "Client-Geheimnis"])) }
                div.note.warn role="status" { (say(["This is the only time that the secret is shown. Keep it where only your application can read it.", "Das Geheimnis wird nur dieses eine Mal angezeigt. Bewahren Sie es dort auf, wo nur Ihre Anwendung es lesen kann."])) }
                code.client_secret { (secret) }
            }
            @if app.secret.is_none() && (app.may_show || app.may_rotate) {
                form method="post" action=(action) {
                    (hidden("csrf_token", app.csrf))
                    (hidden("version", &app.version.to_string()))
                    @if app.may_show {
                        p { (say(["Its secret is shown once, when you ask for it.", "Das Geheimnis wird einmal angezeigt, wenn Sie es verlangen."])) }
                        button type="submit" name="action" value="show_secret" { (say(["Show the secret", "Geheimnis anzeigen"])) }
                    } @else {
                        (hidden("newest_secret", app.newest_secret))
                        p { (say(["A new secret works at once; the old one goes on for 24 hours.", "Ein neues Geheimnis gilt sofort; das alte gilt noch 24 Stunden weiter."])) }
                        button.quiet type="submit" name="action" value="rotate_secret" { (say(["Make a new secret", "Neues Geheimnis erzeugen"])) }
                    }
                }
            }
        }
        section.card {
            h2 { (say(["Change it", "Anwendung ändern"])) }
            p.hint { (say(["Another name, logo, callback address or wider scopes are reviewed again; until then everything works as before.", "Ein anderer Name, ein anderes Logo, eine andere Rücksprungadresse oder weiter reichende Berechtigungen werden neu geprüft; bis dahin bleibt alles, wie es war."])) }
            @if let Some(logo) = &app.proposed_logo {
                p.hint { (say(["The logo that waits for a reviewer: ", "Das Logo, das auf die Prüfung wartet: "])) img.logo src=(logo) alt=(say(["the logo under review", "das Logo in der Prüfung"])) width="58" height="58"; }
            }
            (form(&shown))
        }
    };
    page(language, app.name, Some(&app.person), Tab::Apps, Width::Middle, &body)
}

/// What the form is made of.
struct Shown<'a> {
    language: Language,
    csrf: &'a str,
    action: &'a str,
    button: &'a str,
    fields: &'a Fields,
    refused: Option<&'a Refused>,
    time: Time,
    has_logo: bool,
    /// Of the application that is changed.
    version: Option<u64>,
}

/// The form, for a new application and for changes.
fn form(shown: &Shown<'_>) -> Markup {
    let Shown { language, fields, refused, .. } = *shown;
    let say = |texts: Texts| language.say(texts);
    let text = |name: &'static str, hint: Texts, value: &str, kind: &str, required: bool| {
        field(
            language,
            name,
            hint,
            refused,
            &html! {
                input id=(name) type=(kind) name=(name) value=(value) required[required] maxlength="2048"
                    aria-invalid=[bad(name, refused)] aria-describedby=(described(name, refused))
                    autofocus[bad(name, refused).is_some()];
            },
        )
    };
    let area = |name: &'static str, hint: Texts, value: &str, required: bool| {
        field(
            language,
            name,
            hint,
            refused,
            &html! {
                textarea id=(name) name=(name) required[required] maxlength="20000" spellcheck="false"
                    aria-invalid=[bad(name, refused)] aria-describedby=(described(name, refused))
                    autofocus[bad(name, refused).is_some()] { (value) }
            },
        )
    };
    html! {
        @if let Some(refused) = refused {
            div.note.stop role="alert" {
                @if refused.field.is_empty() { (refused.why(language)) } @else {
                    (say(["Please look at ", "Bitte prüfen Sie dieses Feld: "]))
                    a href={ "#" (refused.field) } { (label_of(language, refused.field)) } (say([": ", " – "])) (refused.why(language))
                }
            }
        }
        form method="post" action=(shown.action) enctype="multipart/form-data" {
            (hidden("csrf_token", shown.csrf))
            @if let Some(version) = shown.version { (hidden("version", &version.to_string())) }
            @if shown.action == NEW { (hidden(MADE, &shown.time.made.to_string())) }
            // Said before anything is typed.
            p.hint { (say(["Please send it before ", "Zum Absenden haben Sie Zeit bis "])) (time(shown.time.end))
                (say([". You are signed out after ", ". Wenn Sie hier "])) (duration(language, shown.time.idle))
                (say([
                    " in which you open no other page here, and what you typed is lost then.",
                    " lang keine andere Seite öffnen, werden Sie abgemeldet, und was Sie eingegeben haben, geht verloren.",
                ])) }
            (field(language, "application_type", ["Where it runs decides how safely it can keep secrets.", "Wo sie läuft, entscheidet darüber, wie sicher sie Geheimnisse wahren kann."], refused, &html! {
                select #application_type name="application_type" aria-describedby=(described("application_type", refused))
                    aria-invalid=[bad("application_type", refused)] autofocus[bad("application_type", refused).is_some()] {
                    @for (value, words) in KINDS {
                        option value=(value) selected[fields.application_type == value] { (say(words)) }
                    }
                }
            }))
            (text("client_name", ["1 to 64 characters; owners see it when they decide.", "1 bis 64 Zeichen; Eigentümer sehen ihn, wenn sie entscheiden."], &fields.client_name, "text", true))
            (area("redirect_uris", ["One a line. https://…, or http://127.0.0.1/… for programs on a machine, or a private scheme such as com.example.app:/cb.", "Eine in jeder Zeile. https://…, oder http://127.0.0.1/… für Programme auf einem Rechner, oder ein eigenes Schema wie com.example.app:/cb."], &fields.redirect_uris, false))
            (field(language, "logo", ["PNG, JPEG or WebP, at most 256 KiB and 1024×1024. Leave empty to keep what is there.", "PNG, JPEG oder WebP, höchstens 256 KiB und 1024×1024. Lassen Sie es leer, um zu behalten, was da ist."], refused, &html! {
                input #logo type="file" name="logo" accept="image/png,image/jpeg,image/webp"
                    aria-invalid=[bad("logo", refused)] aria-describedby=(described("logo", refused))
                    autofocus[bad("logo", refused).is_some()];
            }))
            @if shown.has_logo {
                div.choice {
                    input #remove_logo type="checkbox" name="remove_logo" value="true";
                    label for="remove_logo" { (say(["Take the logo away", "Logo entfernen"])) }
                    p.hint { (say(["Then its first letter stands in its place.", "An seiner Stelle steht dann der erste Buchstabe des Namens."])) }
                }
            }
            (text("client_uri", HTTPS, &fields.client_uri, "url", false))
            (area("description", ["Shown to owners on the consent page.", "Wird Eigentümern auf der Zustimmungsseite gezeigt."], &fields.description, false))
            (text("policy_uri", HTTPS, &fields.policy_uri, "url", false))
            (text("tos_uri", HTTPS, &fields.tos_uri, "url", false))
            (text("contacts", ["Mail addresses, separated by spaces.", "E-Mail-Adressen, durch Leerzeichen getrennt."], &fields.contacts, "text", false))
            (text("scope", ["What it may ask for at most, separated by spaces: index:orders-*:read", "Worum sie höchstens bitten darf, durch Leerzeichen getrennt: index:orders-*:read"], &fields.scope, "text", false))
            (area("scope_reason", ["For the reviewer.", "Für die Prüfung."], &fields.scope_reason, false))
            fieldset {
                legend { (label_of(language, "confidential")) }
                @if let Some(refused) = refused.filter(|refused| refused.field == "confidential") {
                    p.note.stop #confidential-trouble { (refused.why(language)) }
                }
                div.choice {
                    input #confidential type="radio" name="confidential" value="confidential" checked[!fields.public]
                        aria-describedby=[bad("confidential", refused).map(|_| "confidential-trouble")]
                        autofocus[bad("confidential", refused).is_some()];
                    label for="confidential" { (say(["Yes, it runs where nobody else can look", "Ja, sie läuft dort, wo niemand sonst hineinsehen kann"])) }
                    p.hint { (say(["It gets a secret.", "Die Anwendung erhält ein Geheimnis."])) }
                }
                div.choice {
                    input #public type="radio" name="confidential" value="public" checked[fields.public];
                    label for="public" { (say(["No, it runs on a person's machine or in a browser", "Nein, sie läuft auf dem Rechner einer Person oder in einem Browser"])) }
                    p.hint { (say(["It gets no secret and must use PKCE.", "Die Anwendung erhält kein Geheimnis und muss PKCE verwenden."])) }
                }
            }
            div.choice {
                input #require_pkce type="checkbox" name="require_pkce" value="true" checked[fields.require_pkce];
                label for="require_pkce" { (say(["Insist on PKCE", "Auf PKCE bestehen"])) }
                p.hint { (say(["A stolen code is then worth nothing. Leave it ticked unless your application cannot do it.", "Ein gestohlener Code ist dann nichts wert. Lassen Sie das angekreuzt, es sei denn, Ihre Anwendung kann es nicht."])) }
            }
            div.buttons { button type="submit" name="action" value="submit" { (shown.button) } }
        }
    }
}

fn bad(name: &str, refused: Option<&Refused>) -> Option<&'static str> {
    refused.is_some_and(|refused| refused.field == name).then_some("true")
}

fn described(name: &str, refused: Option<&Refused>) -> String {
    match bad(name, refused) {
        Some(_) => format!("{name}-hint {name}-trouble"),
        None => format!("{name}-hint"),
    }
}

fn field(
    language: Language,
    name: &'static str,
    hint: Texts,
    refused: Option<&Refused>,
    input: &Markup,
) -> Markup {
    html! {
        div.field {
            label for=(name) { (label_of(language, name)) }
            p.hint id={ (name) "-hint" } { (language.say(hint)) }
            @if let Some(refused) = refused.filter(|refused| refused.field == name) {
                p.note.stop id={ (name) "-trouble" } { (refused.why(language)) }
            }
            (input)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::language::Language::English;

    const PERSON: Person<'_> = Person { name: "dev", csrf: "t", reviews: false, language: English };
    const TIME: Time = Time { end: 1_800_000, idle: 1_800_000, made: 7 };

    #[test]
    fn the_form_has_every_field_and_names_the_refused_one() {
        let fields = Fields { client_name: "A\"b".into(), require_pkce: true, ..Fields::default() };
        let refused = Refused {
            field: "redirect_uris",
            why: ["no fragment is allowed".into(), String::new()],
        };
        let page = new(&PERSON, "c", &fields, Some(&refused), TIME);
        for name in [
            "csrf_token",
            "application_type",
            "client_name",
            "redirect_uris",
            "logo",
            "client_uri",
            "description",
            "policy_uri",
            "tos_uri",
            "contacts",
            "scope",
            "scope_reason",
            "confidential",
            "require_pkce",
        ] {
            assert!(page.contains(&format!("name=\"{name}\"")), "{name} is missing");
        }
        assert!(page.contains("multipart/form-data") && page.contains("value=\"A&quot;b\""));
        assert!(
            page.contains("id=\"redirect_uris-trouble\"") && page.contains("aria-invalid=\"true\"")
        );
        for field in
            ["application_type", "client_name", "redirect_uris", "logo", "scope", "confidential"]
        {
            let refused = Refused { field, why: ["not so".into(), String::new()] };
            let page = new(&PERSON, "c", &fields, Some(&refused), TIME);
            assert_eq!(page.matches(" autofocus").count(), 1, "{field}");
            let at = page.find(" autofocus").expect("counted");
            let id = page[..at].rfind(" id=\"").expect("an element with an id");
            assert!(
                page[id..].starts_with(&format!(" id=\"{field}\"")),
                "{field}: {}",
                &page[id..at]
            );
        }
        let page = new(&PERSON, "c", &fields, None, TIME);
        assert!(!page.contains("autofocus") && !page.contains("remove_logo"));
        assert!(page.contains("1970-01-01 00:30 UTC") && page.contains("30 minutes"), "{page}");
    }

    #[test]
    fn the_secret_is_there_only_when_it_is_shown() {
        let mut one = App {
            person: PERSON,
            csrf: "c",
            reference: "A-1",
            name: "Chart",
            logo: None,
            status: "approved",
            changing: false,
            note: None,
            client_id: Some("id1"),
            secret: None,
            may_show: true,
            may_rotate: false,
            newest_secret: "",
            is_stale: false,
            version: 3,
            is_outdated: false,
            has_logo: true,
            proposed_logo: None,
            time: TIME,
            fields: Fields::default(),
            refused: None,
        };
        let before = app(&one);
        assert!(
            before.contains("value=\"show_secret\"") && !before.contains("class=\"client_secret\"")
        );
        assert!(before.contains("<code class=\"client_id\">id1</code>"), "{before}");
        one.secret = Some("core_cs_x");
        let shown = app(&one);
        assert!(shown.contains("core_cs_x") && !shown.contains("show_secret"));
    }
}
