//! What all pages share: head, bar, footer, and small pieces of forms.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::language::{Language, PARAMETER, Texts};

/// The person a page is for.
#[derive(Clone, Copy, Debug)]
pub struct Person<'a> {
    /// Name at the door.
    pub name: &'a str,
    /// Token of the form that signs out.
    pub csrf: &'a str,
    /// May review applications.
    pub reviews: bool,
    /// The language of the page.
    pub language: Language,
}

/// Where in the bar a page stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// Applications let in.
    Grants,
    /// Sessions.
    Sessions,
    /// Password.
    Security,
    /// A developer's own applications.
    Apps,
    /// What waits for a reviewer.
    Review,
    /// None of these.
    None,
}

/// How wide a page's text runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One small form.
    Narrow,
    /// Something to read and decide.
    Middle,
    /// Lists.
    Wide,
}

/// A whole page.
pub fn page(
    language: Language,
    title: &str,
    person: Option<&Person<'_>>,
    tab: Tab,
    width: Width,
    body: &Markup,
) -> String {
    let class = match width {
        Width::Narrow => "narrow",
        Width::Middle => "middle",
        Width::Wide => "",
    };
    let say = |texts: Texts| language.say(texts);
    let markup = html! {
        (DOCTYPE)
        html lang=(language.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (title) " · Corelode" }
                link rel="stylesheet" href="/login/style.css";
                link rel="icon" type="image/svg+xml" href="/login/icon.svg";
            }
            body {
                a.skip href="#main" { (say(["Skip to the content", "Zum Inhalt springen"])) }
                header.top { div {
                    span.brand { (mark()) "Corelode" }
                    @if let Some(person) = person { (bar(person, tab)) }
                } }
                main #main class=(class) { (body) }
                footer { (say(["You are at the authorization server of this Corelode store.", "Sie sind beim Autorisierungsserver dieser Corelode-Installation."])) }
            }
        }
    };
    markup.into_string()
}

/// The page for a server whose issuer has a path: its links, forms and pictures lead below `base`, such as
/// `/es`; an empty base changes nothing.
///
/// Pages are written with addresses from the root. Text of strangers cannot look like one of these
/// attributes, for its quotation marks are escaped.
pub fn below(html: String, base: &str) -> String {
    if base.is_empty() {
        return html;
    }
    let mut out = html;
    for attribute in [" href=\"", " action=\"", " src=\""] {
        out = out.replace(&format!("{attribute}/"), &format!("{attribute}{base}/"));
    }
    out
}

/// The page for somebody who asked for its language by an address: its links and forms lead on to pages in it.
///
/// Text of strangers cannot look like one of these attributes, for its quotation marks are escaped.
pub fn onward(html: &str, language: Language) -> String {
    let asked = format!("{PARAMETER}={}", language.tag());
    let mut out = html.to_owned();
    for attribute in [" href=\"/", " action=\"/"] {
        let mut pieces = out.split(attribute);
        let mut longer = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let end = piece.find('"').unwrap_or(piece.len());
            let (address, rest) = piece.split_at(end);
            longer.extend([attribute, address]);
            // The style sheet and the picture are the same in every language.
            if !address.ends_with(".css") && !address.ends_with(".svg") {
                longer.extend([if address.contains('?') { "&amp;" } else { "?" }, &asked]);
            }
            longer.push_str(rest);
        }
        out = longer;
    }
    out
}

/// What a page wants its person to do in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sign in.
    SignIn,
    /// Decide.
    Decide,
}

/// Until when something waits.
pub fn until(language: Language, step: Step, end_ms: u64) -> Markup {
    let before = language.say(match step {
        Step::SignIn => ["Please sign in before", "Zum Anmelden haben Sie Zeit bis"],
        Step::Decide => ["Please decide before", "Zum Entscheiden haben Sie Zeit bis"],
    });
    let after = language.say([
        ". After that, begin again where you came from.",
        ". Danach beginnen Sie bitte wieder dort, wo Sie hergekommen sind.",
    ]);
    html! { p.hint { (before) " " (time(end_ms)) (after) } }
}

/// What the page of a person's grants is called in the bar.
pub const ACCESS: Texts = ["Access", "Zugriffe"];

fn bar(person: &Person<'_>, tab: Tab) -> Markup {
    let language = person.language;
    let say = |texts: Texts| language.say(texts);
    let mut entries = vec![
        (Tab::Grants, "/account/apps", say(ACCESS)),
        (Tab::Sessions, "/account/sessions", say(["Sessions", "Sitzungen"])),
        (Tab::Security, "/account/security", say(["Password", "Passwort"])),
        (Tab::Apps, "/apps", say(["Your applications", "Ihre Anwendungen"])),
    ];
    if person.reviews {
        entries.push((Tab::Review, "/admin/apps", say(["Review", "Prüfung"])));
    }
    html! {
        nav aria-label=(say(["Account", "Konto"])) { ul {
            @for (of, link, words) in entries {
                li { a href=(link) aria-current=[(of == tab).then_some("page")] { (words) } }
            }
        } }
        div.who {
            span { (say(["Signed in as ", "Angemeldet als "])) strong { (person.name) } }
            form method="post" action="/logout" {
                (hidden("csrf_token", person.csrf))
                button.link type="submit" { (say(["Sign out", "Abmelden"])) }
            }
        }
    }
}

/// The lines of the mark of the house: a vein of ore through a core.
macro_rules! lines {
    () => {
        "<circle cx=\"16\" cy=\"16\" r=\"13.5\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2.5\"/>\
         <path d=\"M7 21.5l5.5-4.2 3.6 2.1L25 10.5\" fill=\"none\" stroke=\"currentColor\" \
         stroke-width=\"2.5\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/>\
         <circle cx=\"16.1\" cy=\"19.4\" r=\"2.4\" fill=\"currentColor\"/></svg>"
    };
}

/// The mark as the picture of the pages in a browser's bar.
pub const ICON: &str = concat!(
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\" color=\"#1f8a7d\">",
    lines!()
);

/// The mark of the house.
fn mark() -> Markup {
    const MARK: &str =
        concat!("<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\" focusable=\"false\">", lines!());
    PreEscaped(MARK.to_owned())
}

/// A field that is not shown.
pub fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// The value of `decision` that decides nothing: the answer is 204, at which a browser stays where it is, with
/// all that was ticked and typed.
pub const UNDECIDED: &str = "none";

/// The first button of a form whose buttons decide something. It decides nothing, and nobody sees it or comes to it.
///
/// Enter in a field, be it a check box, presses the first button of its form in the order of the document (HTML,
/// "implicit submission"). Were that one disabled, Chromium would go on to the next from a check box; were it not
/// rendered, others would. So it is there, and a key that was meant for a field does nothing.
pub fn no_default(language: Language) -> Markup {
    html! {
        button.idle type="submit" name="decision" value=(UNDECIDED) tabindex="-1" aria-hidden="true" { (language.say(["Stay on this page", "Auf dieser Seite bleiben"])) }
    }
}

/// A badge that tells where something stands.
pub fn badge(words: &str, mood: &str) -> Markup {
    html! { span class={ "badge " (mood) } { (words) } }
}

/// Head of an application: logo or first letter, name, a line below.
pub fn app_head(name: &str, logo: Option<&str>, below: &Markup, level: u8) -> Markup {
    let first: String = name.chars().next().into_iter().flat_map(char::to_uppercase).collect();
    html! {
        div.app {
            @match logo {
                Some(logo) => img src=(logo) alt="" width="58" height="58";,
                None => span.mono aria-hidden="true" { (first) },
            }
            div {
                @if level == 1 { h1 { bdi { (name) } } } @else { h2 { bdi { (name) } } }
                p { (below) }
            }
        }
    }
}

/// A time in words that need no zone: `2026-11-22 14:05 UTC`.
pub fn time(ms: u64) -> Markup {
    let (days, rest) = ((ms / 86_400_000) as i64, ms % 86_400_000);
    let (year, month, day) = base::calendar::date_of(days);
    let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
    let shown = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC");
    let machine = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}Z");
    html! { time datetime=(machine) { (shown) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::language::Language::{English, German};

    #[test]
    fn what_a_stranger_wrote_stays_text() {
        let evil = "<script>alert(1)</script>\"'&";
        let person = Person { name: evil, csrf: evil, reviews: true, language: English };
        let head = app_head(evil, None, &html! { (evil) }, 1);
        let page = page(English, evil, Some(&person), Tab::Apps, Width::Wide, &head);
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&lt;script&gt;"));
        assert!(!page.contains("style="), "inline style is refused by the content policy");
    }

    /// On a narrow screen a long name took the room, and the words were broken between letters.
    #[test]
    fn a_long_name_gives_way_to_what_signs_out() {
        let rule = |of: &str| {
            let rules = crate::pages::STYLE.lines().filter_map(|line| line.split_once(" { "));
            let found = rules.filter(|(selector, _)| *selector == of).map(|(_, rule)| rule);
            found.collect::<String>()
        };
        assert!(rule(".who form").contains("flex: none;"), "it takes the room that it needs");
        assert!(rule(".who button").contains("white-space: nowrap;"), "in one line");
        assert!(rule(".who span").contains("min-width: 0;"), "the name breaks where it must");
        assert!(rule("body").contains("overflow-wrap: anywhere;"));
    }

    #[test]
    fn the_bar_names_the_page_that_is_open() {
        let person = Person { name: "ann", csrf: "t", reviews: false, language: English };
        let page = page(English, "x", Some(&person), Tab::Sessions, Width::Wide, &html! {});
        assert!(page.contains("href=\"/account/sessions\" aria-current=\"page\""), "{page}");
        assert!(!page.contains("/admin/apps"), "only reviewers are led to the queue");
    }

    #[test]
    fn a_page_below_a_path_leads_nowhere_else() {
        let evil = " href=\"/x";
        let person = Person { name: evil, csrf: "t", reviews: true, language: English };
        let body = html! {
            (app_head(evil, Some("/logo/7"), &html! { a href="https://app.example/" { "home" } }, 1))
            form action="/apps" { input name="a" value=(evil); }
        };
        let plain = page(English, "x", Some(&person), Tab::Apps, Width::Wide, &body);
        assert_eq!(below(plain.clone(), ""), plain);
        let below = below(plain.clone(), "/es");
        for part in [" href=\"/es/login/style.css\"", " src=\"/es/logo/7\"", " action=\"/es/apps\""]
        {
            assert!(below.contains(part), "{part} is missing in {below}");
        }
        assert!(
            below.contains("href=\"https://app.example/\"") && below.contains("href=\"#main\"")
        );
        let count = |text: &str, part: &str| text.matches(part).count();
        assert_eq!(count(&below, "=\"/es/"), count(&plain, "=\"/"), "no link was left behind");
        assert!(below.contains("&quot;/x"), "what a stranger wrote stays as it is");
    }

    /// Links and forms of the page lead to pages; pictures and strangers' addresses stay as they are.
    #[test]
    fn a_language_that_was_asked_for_goes_on() {
        let evil = " href=\"/x\" action=\"/x";
        let person = Person { name: evil, csrf: "t", reviews: true, language: German };
        let body = html! {
            (app_head(evil, Some("/logo/7"), &html! { a href="https://app.example/" { "home" } }, 1))
            form action="/apps" { input name="a" value=(evil); }
            a href="/login?request=r" { "b" }
        };
        let plain = page(German, "x", Some(&person), Tab::Apps, Width::Wide, &body);
        let page = below(onward(&plain, German), "/es");
        for part in [
            "<html lang=\"de\"",
            " action=\"/es/apps?ui_locales=de\"",
            " action=\"/es/logout?ui_locales=de\"",
            " href=\"/es/login?request=r&amp;ui_locales=de\"",
            " href=\"/es/admin/apps?ui_locales=de\"",
            " href=\"/es/login/style.css\"",
            " href=\"/es/login/icon.svg\"",
            " src=\"/es/logo/7\"",
            "href=\"https://app.example/\"",
            "href=\"#main\"",
        ] {
            assert!(page.contains(part), "{part} is missing in {page}");
        }
        let evil = "&quot;/x&quot; action=&quot;/x";
        assert_eq!(page.matches(evil).count(), plain.matches(evil).count());
        let ways = plain.matches(" href=\"/").count() + plain.matches(" action=\"/").count();
        assert_eq!(page.matches("ui_locales=de").count() + 2, ways, "each but two files");
    }

    #[test]
    fn times_are_dates() {
        assert!(time(0).into_string().contains("1970-01-01 00:00 UTC"));
        assert!(time(1_795_356_300_000).into_string().contains("2026-11-22 14:05 UTC"));
        assert!(time(951_782_400_000).into_string().contains("2000-02-29"));
    }
}
