//! What an application asks for, and who it is: the page on which an owner decides.

use maud::{Markup, html};

use super::condition::{self, Told, Whole};
use super::language::{Language, Texts};
use super::layout::{
    ACCESS, Person, Step, Tab, Width, app_head, badge, hidden, no_default, page, until,
};
use super::quoted;
use super::words::{Weight, Words, duration};

/// What the page shows.
#[derive(Debug)]
pub struct Consent<'a> {
    /// Who is signed in.
    pub person: Person<'a>,
    /// Token of the form.
    pub csrf: &'a str,
    /// The request that is decided.
    pub request: &'a str,
    /// The application's name.
    pub app: &'a str,
    /// Where its logo is.
    pub logo: Option<String>,
    /// What it says of itself.
    pub description: Option<&'a str>,
    /// Its pages, as name and address: home, privacy, terms.
    pub links: Vec<(&'static str, &'a str)>,
    /// Who published it.
    pub publisher: Option<&'a str>,
    /// A reviewer has looked at it.
    pub reviewed: bool,
    /// Host to which the browser goes afterwards; none for this computer.
    pub host: Option<&'a str>,
    /// The answer travels unprotected.
    pub insecure: bool,
    /// What is asked, scope by scope.
    pub scopes: Vec<(String, Words)>,
    /// Entries with filters.
    pub details: Vec<Detail>,
    /// Sentences of what is asked and not to be had: the owner holds nothing of it.
    pub beyond: Vec<String>,
    /// A scope gives more than an entry's filter would leave.
    pub swallows: bool,
    /// Remembering the decision is offered.
    pub may_remember: bool,
    /// Access goes on until it is revoked.
    pub lasting: bool,
    /// How long it goes on at most, in milliseconds.
    pub life: u64,
    /// The request waits until then, in milliseconds.
    pub end: u64,
}

/// An entry of `authorization_details` in words.
#[derive(Clone, Debug)]
pub struct Detail {
    /// Its place among those that were asked.
    pub at: usize,
    /// What may be done, where.
    pub sentence: String,
    /// What documents must be like, in words where there are some that say it.
    pub condition: Option<Condition>,
    /// The fields that may be seen; none where all may, or none of those that were asked for.
    pub fields: Vec<String>,
    /// Fields that it asks for and that its owner does not see.
    pub unseen: Vec<String>,
    /// Of what its owner sees a part alone.
    pub own: Option<&'static str>,
    /// What it will let happen beside that, once its owner holds it.
    pub later: Vec<String>,
    /// How much it lets happen.
    pub weight: Weight,
}

impl Detail {
    /// Does it narrow nothing?
    fn is_whole(&self) -> bool {
        self.condition.is_none() && self.fields.is_empty() && self.unseen.is_empty()
    }
}

/// A filter on documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It leaves nothing out.
    All,
    /// What follows "where", or "gilt:" in German.
    Words(String),
    /// The filter, as JSON text in which nothing is hidden.
    Text(String),
}

impl Condition {
    /// Of a query, on fields of which some hold values whole.
    pub fn of(language: Language, query: &json::Value, whole: Whole<'_>) -> Self {
        match condition::in_words(language, query, whole) {
            Some(Told::All) => Self::All,
            Some(Told::Where(words)) => Self::Words(words),
            None => Self::Text(quoted::technical(query)),
        }
    }
}

/// What allows, and what denies.
pub(super) const ALLOW: Texts = ["Allow", "Erlauben"];
pub(super) const DENY: Texts = ["Deny", "Ablehnen"];

/// Over what is asked.
pub(super) const ASKS: Texts = ["It asks to", "Die Anwendung möchte"];

/// Where its person holds nothing of what is asked.
pub(super) const NOTHING_HELD: Texts =
    ["nothing that you hold yourself.", "nichts, wozu Sie selbst berechtigt sind."];

/// Whether a reviewer has looked at an application.
pub(super) fn reviewed(language: Language, is_reviewed: bool) -> Markup {
    match is_reviewed {
        true => badge(language.say(["reviewed", "geprüft"]), "good"),
        false => badge(language.say(["not reviewed", "nicht geprüft"]), "bad"),
    }
}

/// The page.
pub fn render(consent: &Consent<'_>) -> String {
    let language = consent.person.language;
    let say = |texts: Texts| language.say(texts);
    let below = html! {
        (say(["wants access to your documents · ", "möchte Zugriff auf Ihre Dokumente · "]))
        (reviewed(language, consent.reviewed))
        @if let Some(publisher) = consent.publisher { (say([" · published by ", " · veröffentlicht von "])) bdi { (publisher) } }
    };
    let body = html! {
        section.card {
            (app_head(consent.app, consent.logo.as_deref(), &below, 1))
            @if !consent.reviewed {
                div.note.stop { strong { (say(["Nobody has reviewed this application. ", "Niemand hat diese Anwendung geprüft. "])) } (say(["Go on only if you trust whoever sent you here.", "Fahren Sie nur fort, wenn Sie dem vertrauen, der Sie hierher geschickt hat."])) }
            }
            @if let Some(description) = consent.description {
                p.hint { (say(["The application says of itself:", "Die Anwendung sagt über sich selbst:"])) }
                blockquote { p { (description) } }
            }
            (facts(consent))
            form method="post" action="/consent" {
                (no_default(language))
                (hidden("csrf_token", consent.csrf))
                (hidden("request", consent.request))
                (permissions(consent))
                (lasts(consent))
                @if consent.may_remember {
                    div.choice {
                        input #remember type="checkbox" name="remember" value="true";
                        label for="remember" { (say(["Do not ask again", "Nicht noch einmal fragen"])) }
                        p.hint { (say(["For this application and no more than these permissions.", "Für diese Anwendung und für nicht mehr als diese Berechtigungen."])) }
                    }
                }
                (until(language, Step::Decide, consent.end))
                div.buttons {
                    button type="submit" name="decision" value="allow" { (say(ALLOW)) }
                    button.quiet type="submit" name="decision" value="deny" { (say(DENY)) }
                }
            }
        }
    };
    page(
        language,
        say(["Allow access?", "Zugriff erlauben?"]),
        Some(&consent.person),
        Tab::None,
        Width::Middle,
        &body,
    )
}

/// How long the access lasts, and where it is revoked.
fn lasts(consent: &Consent<'_>) -> Markup {
    let language = consent.person.language;
    let life = duration(language, consent.life);
    let access = html! { a href="/account/apps" { (language.say(ACCESS)) } };
    html! {
        p.hint {
            @match (language, consent.lasting) {
                (Language::English, true) => { "It keeps this access until you revoke it under " (access) ", for " (life) " at most." }
                (Language::English, false) => { "This access ends after " (life) ". You can revoke it earlier under " (access) "." }
                (Language::German, true) => { "Die Anwendung behält diesen Zugriff, bis Sie ihn unter " (access) " widerrufen, höchstens aber " (life) " lang." }
                (Language::German, false) => { "Dieser Zugriff endet von selbst: Er gilt " (life) " lang. Sie können ihn unter " (access) " auch früher widerrufen." }
            }
        }
    }
}

fn facts(consent: &Consent<'_>) -> Markup {
    let language = consent.person.language;
    let say = |texts: Texts| language.say(texts);
    html! {
        dl.facts {
            dt { (say(["You are", "Sie sind"])) }
            dd { strong { (consent.person.name) } " · "
                a href={ "/login?request=" (consent.request) } { (say(["use another account", "anderes Konto verwenden"])) } }
            dt { (say(["You return to", "Sie kehren zurück zu"])) }
            dd {
                @match consent.host {
                    Some(host) => strong { (host) },
                    None => strong { (say(["this computer", "diesem Rechner"])) },
                }
                @if consent.insecure {
                    " " span.insecure { (say(["over an unprotected connection: others on the way can read the answer", "über eine ungeschützte Verbindung: Andere können die Antwort unterwegs mitlesen"])) }
                }
            }
            @if !consent.links.is_empty() {
                dt { (say(["Its pages", "Seiten der Anwendung"])) }
                dd { @for (at, (name, address)) in consent.links.iter().enumerate() {
                    @if at > 0 { " · " }
                    a href=(address) rel="noopener noreferrer nofollow" { (name) }
                } }
            }
        }
    }
}

fn permissions(consent: &Consent<'_>) -> Markup {
    let language = consent.person.language;
    let say = |texts: Texts| language.say(texts);
    let (strong, mild): (Vec<_>, Vec<_>) =
        consent.scopes.iter().partition(|(_, words)| words.weight == Weight::Changes);
    let (changing, reading): (Vec<&Detail>, Vec<&Detail>) =
        consent.details.iter().partition(|detail| detail.weight == Weight::Changes);
    let is_strong = !strong.is_empty() || !changing.is_empty();
    let is_mild = !mild.is_empty() || !reading.is_empty();
    html! {
        @if is_mild || !is_strong {
            fieldset {
                legend { (say(ASKS)) }
                @for (at, (scope, words)) in mild.iter().enumerate() {
                    (choice("scope", scope, &format!("scope-{at}"), words, false))
                }
                @for detail in reading { (entry(language, detail)) }
                @if !is_mild && consent.beyond.is_empty() {
                    p { (say(["nothing beyond knowing that you are here.", "nichts weiter als zu wissen, dass Sie hier sind."])) }
                } @else if !is_mild {
                    p { (say(NOTHING_HELD)) }
                }
            }
        }
        @if is_strong {
            fieldset {
                legend { @if is_mild { (say(["And to change things", "Außerdem möchte sie Änderungen vornehmen"])) } @else { (say(["It asks to change things", "Die Anwendung möchte Änderungen vornehmen"])) } }
                @for (at, (scope, words)) in strong.iter().enumerate() {
                    (choice("scope", scope, &format!("strong-{at}"), words, true))
                }
                @for detail in changing { (entry(language, detail)) }
            }
        }
        (beyond(language, &consent.beyond))
        @if consent.swallows {
            div.note.warn { (say(["One of the permissions above covers the same indices without a filter: while it is ticked, the filter keeps nothing back.", "Eine der Berechtigungen oben umfasst dieselben Indizes ohne Filter: Solange sie angekreuzt ist, hält der Filter nichts zurück."])) }
        }
    }
}

/// What is asked and not to be had, where there is any; each thing once, however often it was asked.
pub(super) fn beyond(language: Language, sentences: &[String]) -> Markup {
    let say = |texts: Texts| language.say(texts);
    let sentences = once(sentences);
    html! {
        @if !sentences.is_empty() {
            p.hint { (say(["It also asked for what you do not hold yourself, and will not get it: ", "Verlangt wurde auch, wozu Sie selbst nicht berechtigt sind; das wird nicht gewährt: "])) (sentences.join("; ")) "." }
        }
    }
}

/// Each of these once, in order.
pub fn once(sentences: &[String]) -> Vec<&str> {
    let mut known: Vec<&str> = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        if !known.contains(&sentence.as_str()) {
            known.push(sentence);
        }
    }
    known
}

fn choice(name: &str, value: &str, id: &str, words: &Words, strong: bool) -> Markup {
    let class = if strong { "choice strong" } else { "choice" };
    html! {
        div class=(class) {
            input id=(id) type="checkbox" name=(name) value=(value) checked;
            label for=(id) { (words.sentence) }
            p.hint { (words.effect) }
        }
    }
}

fn entry(language: Language, detail: &Detail) -> Markup {
    let say = |texts: Texts| language.say(texts);
    let id = format!("detail-{}", detail.at);
    let class = if detail.weight == Weight::Changes { "choice strong" } else { "choice" };
    html! {
        div class=(class) {
            input id=(id) type="checkbox" name="detail" value=(detail.at) checked;
            label for=(id) { (detail.sentence) }
            @let has_nothing = detail.fields.is_empty() && !detail.unseen.is_empty();
            p.hint {
                @match &detail.condition {
                    Some(Condition::All) => { (say(["All documents: the filter leaves nothing out. ", "Alle Dokumente: Der Filter lässt nichts aus. "])) }
                    Some(Condition::Words(words)) => { (say(["Only documents where ", "Nur Dokumente, für die gilt: "])) (words) ". " }
                    Some(Condition::Text(text)) => { (say(["Only documents that meet this technical condition: ", "Nur Dokumente, die diese technische Bedingung erfüllen: "])) code { (text) } ". " }
                    None => {}
                }
                @if has_nothing { (say(["No fields of them. ", "Keine Felder davon. "])) }
                @if !detail.fields.is_empty() { (say(["Only the fields ", "Nur die Felder "])) (names(language, &detail.fields)) ". " }
                @if detail.is_whole() {
                    (say(["Whole documents, as you see them yourself.", "Ganze Dokumente, so wie Sie selbst sie sehen."]))
                } @else if let Some(own) = detail.own.filter(|_| !has_nothing) {
                    (say(["Of that only ", "Davon nur "])) (own) (say([" that you may see yourself.", ", die Sie selbst sehen dürfen."]))
                }
            }
            @if !detail.unseen.is_empty() {
                p.hint { (say(["It also asked for fields that you do not see yourself, and will not get them: ", "Verlangt wurden auch Felder, die Sie selbst nicht sehen; diese werden nicht gewährt: "])) (names(language, &detail.unseen)) "." }
            }
            @if !detail.later.is_empty() {
                p.hint { (say(["You hold less than it asks for. When your rights change, so does this, up to: ", "Sie dürfen weniger, als verlangt wird. Ändern sich Ihre Rechte, so ändert sich auch dies, höchstens bis zu: "])) (once(&detail.later).join("; ")) "." }
            }
        }
    }
}

/// Names of fields, each shown so that it cannot be taken for words of the page.
fn names(language: Language, fields: &[String]) -> Markup {
    html! {
        @for (at, field) in fields.iter().enumerate() {
            @if at > 0 { ", " }
            code { (quoted::field(language, field)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oauth::reach::Today;
    use crate::pages::kept::Kept;
    use crate::pages::language::Language::English;
    use crate::pages::words;

    fn consent<'a>() -> Consent<'a> {
        Consent {
            person: Person { name: "ann", csrf: "out", reviews: false, language: English },
            csrf: "c",
            request: "r",
            app: "Chart <b>",
            logo: None,
            description: None,
            links: vec![("Home", "https://app.example/")],
            publisher: Some("bob"),
            reviewed: true,
            host: Some("app.example"),
            insecure: false,
            scopes: ["index:orders-*:read", "index:orders-*:write"]
                .map(|scope| {
                    (
                        scope.to_owned(),
                        words::of(English, scope, |_| Today { whole: 2, ..Today::default() }),
                    )
                })
                .to_vec(),
            details: Vec::new(),
            beyond: Vec::new(),
            swallows: false,
            may_remember: true,
            lasting: true,
            life: 90 * 86_400_000,
            end: 600_000,
        }
    }

    #[test]
    fn each_scope_has_a_ticked_box_and_changes_stand_apart() {
        let page = render(&consent());
        assert!(page.contains("name=\"scope\" value=\"index:orders-*:read\" checked"), "{page}");
        let strong = page.find("And to change things").expect("a group of its own");
        assert!(page.find("value=\"index:orders-*:write\"").expect("asked") > strong);
        assert!(
            page.contains("Please decide before <time datetime=\"1970-01-01T00:10Z\">"),
            "{page}"
        );
        assert!(page.contains("Chart &lt;b&gt;") && page.contains("app.example"));
        assert!(page.contains("value=\"allow\"") && page.contains("value=\"deny\""));
    }

    #[test]
    fn a_stranger_is_called_one() {
        let mut stranger = consent();
        (stranger.reviewed, stranger.host, stranger.insecure) = (false, None, true);
        let page = render(&stranger);
        assert!(page.contains("Nobody has reviewed") && page.contains("this computer"));
        assert!(page.contains("unprotected connection"));
    }

    #[test]
    fn an_entry_shows_its_filter_in_words_or_as_it_is() {
        let shown = |query: &str| {
            let mut consent = consent();
            let query = json::parse(query.as_bytes()).expect("JSON");
            consent.details = vec![Detail {
                later: vec!["Do everything with orders-*".into()],
                at: 0,
                sentence: "Read documents in orders-*".into(),
                condition: Some(Condition::of(English, &query, &|_| Kept::WHOLE)),
                fields: vec!["id".into(), "total".into()],
                unseen: vec!["salary".into()],
                own: Some("documents"),
                weight: Weight::Reads,
            }];
            render(&consent)
        };
        let page = shown(r#"{"term":{"customer.keyword":"a<b"}}"#);
        assert!(page.contains("name=\"detail\" value=\"0\" checked"), "{page}");
        assert!(page.contains("Only documents where customer.keyword is “a&lt;b”. "), "{page}");
        assert!(page.contains("Only the fields <code>id</code>, <code>total</code>. "), "{page}");
        assert!(page.contains("Of that only documents that you may see yourself."), "{page}");
        assert!(page.contains("will not get them: <code>salary</code>."), "{page}");
        let page = shown(r#"{"match":{"text":"a word"}}"#);
        assert!(page.contains("so does this, up to: Do everything with orders-*."), "{page}");
        assert!(page.contains("technical condition: <code>{&quot;match&quot;"), "{page}");
    }

    /// "It asks to" stood over nothing where all that was asked changes things.
    #[test]
    fn no_heading_stands_over_nothing() {
        let legends = |scopes: &[&str]| {
            let mut consent = consent();
            consent.scopes.retain(|(scope, _)| scopes.contains(&scope.as_str()));
            consent.beyond = vec!["Read x".into(), "Read x".into()];
            let page = render(&consent);
            assert_eq!(page.matches("Read x").count(), 1, "{page}");
            let legends = page.split("<legend>").skip(1);
            let legends =
                legends.map(|rest| rest.split("</legend>").next().expect("its end").to_owned());
            legends.collect::<Vec<_>>()
        };
        let (reads, writes) = ("index:orders-*:read", "index:orders-*:write");
        assert_eq!(legends(&[reads, writes]), ["It asks to", "And to change things"]);
        assert_eq!(legends(&[reads]), ["It asks to"]);
        assert_eq!(legends(&[writes]), ["It asks to change things"]);
        assert_eq!(legends(&[]), ["It asks to"]);
    }

    #[test]
    fn the_page_tells_how_long_and_what_is_beyond_the_owner() {
        let mut consent = consent();
        consent.beyond = vec!["See how the store is doing".into()];
        let page = render(&consent);
        assert!(page.contains("for 90 days at most"), "{page}");
        assert!(page.contains("will not get it: See how the store is doing."), "{page}");
        (consent.lasting, consent.life) = (false, 900_000);
        assert!(render(&consent).contains("This access ends after 15 minutes."));
    }
}
