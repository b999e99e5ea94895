//! What an application asks for, and who it is: the page on which an owner decides.

use maud::{Markup, html};

use super::condition::{self, Told, Whole};
use super::layout::{Person, Tab, Width, app_head, badge, hidden, no_default, page, until};
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
    /// What follows "where".
    Words(String),
    /// The filter, as JSON text in which nothing is hidden.
    Text(String),
}

impl Condition {
    /// Of a query, on fields of which some hold values whole.
    pub fn of(query: &json::Value, whole: Whole<'_>) -> Self {
        match condition::in_words(query, whole) {
            Some(Told::All) => Self::All,
            Some(Told::Where(words)) => Self::Words(words),
            None => Self::Text(quoted::technical(query)),
        }
    }
}

/// The page.
pub fn render(consent: &Consent<'_>) -> String {
    let below = html! {
        "wants access to your documents · "
        @if consent.reviewed { (badge("reviewed", "good")) } @else { (badge("not reviewed", "bad")) }
        @if let Some(publisher) = consent.publisher { " · published by " bdi { (publisher) } }
    };
    let body = html! {
        section.card {
            (app_head(consent.app, consent.logo.as_deref(), &below, 1))
            @if !consent.reviewed {
                div.note.stop { strong { "Nobody has reviewed this application. " } "Go on only if you trust whoever sent you here." }
            }
            @if let Some(description) = consent.description { p { (description) } }
            (facts(consent))
            form method="post" action="/consent" {
                (no_default())
                (hidden("csrf_token", consent.csrf))
                (hidden("request", consent.request))
                (permissions(consent))
                @if consent.lasting {
                    p.hint { "It keeps this access until you revoke it under " a href="/account/apps" { "Access" } ", for " (duration(consent.life)) " at most." }
                } @else {
                    p.hint { "This access ends after " (duration(consent.life)) ". You can revoke it earlier under " a href="/account/apps" { "Access" } "." }
                }
                @if consent.may_remember {
                    div.choice {
                        input #remember type="checkbox" name="remember" value="true";
                        label for="remember" { "Do not ask again" }
                        p.hint { "For this application and no more than these permissions." }
                    }
                }
                (until("Please decide before", consent.end))
                div.buttons {
                    button type="submit" name="decision" value="allow" { "Allow" }
                    button.quiet type="submit" name="decision" value="deny" { "Deny" }
                }
            }
        }
    };
    page("Allow access?", Some(&consent.person), Tab::None, Width::Middle, &body)
}

fn facts(consent: &Consent<'_>) -> Markup {
    html! {
        dl.facts {
            dt { "You are" }
            dd { strong { (consent.person.name) } " · "
                a href={ "/login?request=" (consent.request) } { "use another account" } }
            dt { "You return to" }
            dd {
                @match consent.host {
                    Some(host) => strong { (host) },
                    None => strong { "this computer" },
                }
                @if consent.insecure {
                    " " span.insecure { "over an unprotected connection: others on the way can read the answer" }
                }
            }
            @if !consent.links.is_empty() {
                dt { "Its pages" }
                dd { @for (at, (name, address)) in consent.links.iter().enumerate() {
                    @if at > 0 { " · " }
                    a href=(address) rel="noopener noreferrer nofollow" { (name) }
                } }
            }
        }
    }
}

fn permissions(consent: &Consent<'_>) -> Markup {
    let (strong, mild): (Vec<_>, Vec<_>) =
        consent.scopes.iter().partition(|(_, words)| words.weight == Weight::Changes);
    let (changing, reading): (Vec<&Detail>, Vec<&Detail>) =
        consent.details.iter().partition(|detail| detail.weight == Weight::Changes);
    let is_strong = !strong.is_empty() || !changing.is_empty();
    let is_mild = !mild.is_empty() || !reading.is_empty();
    html! {
        @if is_mild || !is_strong {
            fieldset {
                legend { "It asks to" }
                @for (at, (scope, words)) in mild.iter().enumerate() {
                    (choice("scope", scope, &format!("scope-{at}"), words, false))
                }
                @for detail in reading { (entry(detail)) }
                @if !is_mild && consent.beyond.is_empty() {
                    p { "nothing beyond knowing that you are here." }
                } @else if !is_mild {
                    p { "nothing that you hold yourself." }
                }
            }
        }
        @if is_strong {
            fieldset {
                legend { @if is_mild { "And to change things" } @else { "It asks to change things" } }
                @for (at, (scope, words)) in strong.iter().enumerate() {
                    (choice("scope", scope, &format!("strong-{at}"), words, true))
                }
                @for detail in changing { (entry(detail)) }
            }
        }
        (beyond(&consent.beyond))
        @if consent.swallows {
            div.note.warn { "One of the permissions above covers the same indices without a filter: while it is ticked, the filter keeps nothing back." }
        }
    }
}

/// What is asked and not to be had, where there is any; each thing once, however often it was asked.
pub(super) fn beyond(sentences: &[String]) -> Markup {
    let sentences = once(sentences);
    html! {
        @if !sentences.is_empty() {
            p.hint { "It also asked for what you do not hold yourself, and will not get it: " (sentences.join("; ")) "." }
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

fn entry(detail: &Detail) -> Markup {
    let id = format!("detail-{}", detail.at);
    let class = if detail.weight == Weight::Changes { "choice strong" } else { "choice" };
    html! {
        div class=(class) {
            input id=(id) type="checkbox" name="detail" value=(detail.at) checked;
            label for=(id) { (detail.sentence) }
            p.hint {
                @match &detail.condition {
                    Some(Condition::All) => { "All documents: the filter leaves nothing out. " }
                    Some(Condition::Words(words)) => { "Only documents where " (words) ". " }
                    Some(Condition::Text(text)) => { "Only documents that meet this technical condition: " code { (text) } ". " }
                    None => {}
                }
                @if !detail.fields.is_empty() { "Only the fields " (names(&detail.fields)) ". " }
                @if detail.is_whole() {
                    "Whole documents, as you see them yourself."
                } @else if let Some(own) = detail.own {
                    "Of that only " (own) " that you may see yourself."
                }
            }
            @if !detail.unseen.is_empty() {
                p.hint { "It also asked for fields that you do not see yourself, and will not get them: " (names(&detail.unseen)) "." }
            }
            @if !detail.later.is_empty() {
                p.hint { "You hold less than it asks for. When your rights change, so does this, up to: " (once(&detail.later).join("; ")) "." }
            }
        }
    }
}

/// Names of fields, each shown so that it cannot be taken for words of the page.
fn names(fields: &[String]) -> Markup {
    html! {
        @for (at, field) in fields.iter().enumerate() {
            @if at > 0 { ", " }
            code { (quoted::field(field)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oauth::reach::Today;
    use crate::pages::kept::Kept;
    use crate::pages::words;

    fn consent<'a>() -> Consent<'a> {
        Consent {
            person: Person { name: "ann", csrf: "out", reviews: false },
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
                    (scope.to_owned(), words::of(scope, |_| Today { whole: 2, ..Today::default() }))
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
                condition: Some(Condition::of(&query, &|_| Kept::WHOLE)),
                fields: vec!["id".into(), "total".into()],
                unseen: vec!["salary".into()],
                own: Some("documents"),
                weight: Weight::Reads,
            }];
            render(&consent)
        };
        let page = shown(r#"{"term":{"customer.keyword":"a<b"}}"#);
        assert!(page.contains("name=\"detail\" value=\"0\" checked"), "{page}");
        assert!(page.contains("Only documents where customer is “a&lt;b”. "), "{page}");
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
