//! Every page, in each language, with all that it may say.

use std::collections::BTreeSet;

use super::account::{self, Changed, Given, Stolen};
use super::apps::{self, App, Fields, Refused, Time};
use super::consent::{self, Condition, Consent, Detail};
use super::device::{self, Confirm, Done};
use super::kept::{Exact, Kept};
use super::language::Language;
use super::layout::Person;
use super::login::{self, Login, Trouble};
use super::problem;
use super::review::{self, Callback, Entry, Fact, LogoChange, Typed};
use super::words::{self, Weight, Words};
use crate::oauth::reach::{Remains, Share, Today};
use crate::oauth::scope::Scope;
use crate::oauth::sight::Sight;

/// What strangers wrote, in whatever language; no text of ours holds it.
const STRANGER: &str = "QX9";

fn stranger() -> String {
    STRANGER.to_owned()
}

fn person(l: Language) -> Person<'static> {
    Person { name: STRANGER, csrf: "t", reviews: true, language: l }
}

const SCOPES: [&str; 8] = [
    "self",
    "cluster:monitor",
    "offline_access",
    "index:a-*:read",
    "index:*:create",
    "index:a:write",
    "index:b-*:manage",
    "index:*:all",
];

/// What stands for a number of indices, none and some.
const TODAY: [Today; 3] = [
    Today { whole: 0, streams: 0, aliases: 0, part: 0, is_narrow: false },
    Today { whole: 1, streams: 1, aliases: 1, part: 1, is_narrow: true },
    Today { whole: 2, streams: 2, aliases: 2, part: 2, is_narrow: false },
];

fn sight(documents: bool, fields: bool) -> Sight {
    let mut sight = Sight::default();
    (sight.documents, sight.fields) = (documents, fields);
    sight
}

fn scopes(l: Language) -> Vec<(String, Words)> {
    let some = |scope: &&str| (*scope).to_owned();
    let mut told: Vec<(String, Words)> = Vec::new();
    for today in TODAY {
        told.extend(SCOPES.iter().map(|scope| (some(scope), words::of(l, scope, |_| today))));
    }
    let seen = Remains::Cluster(vec!["statistics", "license"]);
    let part = Share { scope: Scope::Monitor, remains: seen };
    told.push(("cluster:monitor".into(), words::held(l, &part, TODAY[0])));
    let read = words::of(l, "index:c:read", |_| TODAY[1]);
    let hidden = [sight(true, true), sight(true, false)];
    told.push(("index:c:read".into(), read.clone().by(&["QX9a"]).seen(&hidden[0])));
    told.push(("index:c:read".into(), read.by(&["QX9a", "QX9b"]).seen(&hidden[1])));
    told
}

fn beyond(l: Language) -> Vec<String> {
    SCOPES.iter().map(|scope| words::anywhere(l, scope)).collect()
}

fn details(l: Language) -> Vec<Detail> {
    let query = |text: &str| {
        let query = json::parse(text.as_bytes()).expect("JSON");
        Some(Condition::of(l, &query, &|field| numbers(field)))
    };
    let whole = Detail {
        at: 0,
        sentence: words::anywhere(l, "index:a-*:read"),
        condition: None,
        fields: Vec::new(),
        unseen: Vec::new(),
        own: None,
        later: Vec::new(),
        weight: Weight::Reads,
    };
    let range = r#"{"bool":{"filter":[{"exists":{"field":"QX9"}},{"terms":{"QX9":["QX9","QX9b"]}},{"range":{"n":{"gt":1,"lte":2}}},{"range":{"n":{"gte":1.5,"lt":2}}}]}}"#;
    vec![
        Detail {
            condition: query(range),
            fields: vec![stranger(), stranger()],
            unseen: vec![stranger()],
            own: words::seen(l, &sight(false, true)),
            later: beyond(l),
            weight: Weight::Changes,
            ..whole.clone()
        },
        Detail { condition: query(r#"{"match":{"QX9":"QX9"}}"#), ..whole.clone() },
        Detail { condition: query(r#"{"match_all":{}}"#), ..whole.clone() },
        whole,
    ]
}

/// Of one field numbers, of others words.
fn numbers(field: &str) -> Kept {
    let values = if field == "n" { Exact::Double } else { Exact::Word };
    Kept { values, ..Kept::WHOLE }
}

fn consents(l: Language) -> Vec<String> {
    let full = |is_full: bool| Consent {
        person: person(l),
        csrf: "c",
        request: "r",
        app: STRANGER,
        logo: None,
        description: Some(STRANGER),
        links: vec![(STRANGER, "https://app.example/")],
        publisher: is_full.then_some(STRANGER),
        reviewed: is_full,
        host: is_full.then_some(STRANGER),
        insecure: is_full,
        scopes: if is_full { scopes(l) } else { Vec::new() },
        details: if is_full { details(l) } else { Vec::new() },
        beyond: if is_full { beyond(l) } else { Vec::new() },
        swallows: is_full,
        may_remember: is_full,
        lasting: is_full,
        life: if is_full { 90 * 86_400_000 } else { 3_600_000 },
        end: 600_000,
    };
    let nothing = Consent { beyond: beyond(l), life: 61_000, ..full(false) };
    let mut changing = full(true);
    changing.scopes.retain(|(_, words)| words.weight == Weight::Changes);
    changing.details.clear();
    [full(true), full(false), nothing, changing].iter().map(consent::render).collect()
}

const TIME: Time = Time { end: 1_800_000, idle: 1_800_000, made: 7 };

fn refused(field: &'static str) -> Refused {
    Refused { field, why: [stranger(), stranger()] }
}

fn applications(l: Language) -> Vec<String> {
    let row = |status| apps::Row {
        reference: stranger(),
        name: stranger(),
        logo: None,
        status,
        changing: true,
    };
    let statuses = ["approved", "pending", "rejected", "suspended"];
    let (fields, own) = (Fields::default(), person(l));
    let mut pages = vec![
        apps::list(&own, &statuses.map(row)),
        apps::list(&own, &[]),
        apps::new(&own, "c", &fields, None, TIME),
        apps::new(&own, "c", &fields, Some(&refused("")), TIME),
    ];
    let named = [
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
    ];
    pages.extend(named.map(|it| apps::new(&own, "c", &fields, Some(&refused(it)), TIME)));
    pages.extend(statuses.map(|status| {
        apps::app(&App {
            person: own,
            csrf: "c",
            reference: STRANGER,
            name: STRANGER,
            logo: None,
            status,
            changing: true,
            note: Some(STRANGER),
            client_id: Some(STRANGER),
            secret: (status == "suspended").then_some(STRANGER),
            may_show: status == "approved",
            may_rotate: true,
            newest_secret: "",
            is_stale: true,
            version: 3,
            is_outdated: true,
            has_logo: true,
            proposed_logo: Some("/logo".into()),
            time: TIME,
            fields: fields.clone(),
            refused: None,
        })
    }));
    pages
}

fn reviews(l: Language) -> Vec<String> {
    let entry = |is_full: bool, now: Option<&str>, before: Option<&str>| Entry {
        reference: stranger(),
        version: 7,
        name: stranger(),
        logo: None,
        logo_change: Some(LogoChange {
            before: before.map(str::to_owned),
            now: now.map(str::to_owned),
        }),
        account: Some(stranger()),
        typed: Typed { trouble: Some(stranger()), note: stranger() },
        owner: stranger(),
        change: is_full,
        suspended: is_full,
        confidential: is_full,
        pkce: !is_full,
        callbacks: if is_full {
            vec![Callback { uri: stranger(), host: stranger(), insecure: true }]
        } else {
            Vec::new()
        },
        scopes: if is_full { scopes(l) } else { Vec::new() },
        reason: Some(stranger()),
        facts: vec![Fact { name: STRANGER, before: Some(stranger()), now: "QX9b".into() }],
        alike: vec![stranger()],
    };
    let full = [
        entry(true, Some("/a"), Some("/b")),
        entry(true, None, Some("/b")),
        entry(false, Some("/a"), None),
    ];
    let own = person(l);
    vec![review::render(&own, "c", &full, Some(STRANGER)), review::render(&own, "c", &[], None)]
}

fn accounts(l: Language) -> Vec<String> {
    let grant = account::Row {
        given: Given::Grant("7".into()),
        app: stranger(),
        logo: None,
        permissions: beyond(l),
        created: Some(0),
        last_used: Some(0),
        last_address: Some(stranger()),
        end: Some(86_400_000),
    };
    let kept = account::Row {
        given: Given::Consent("c1".into()),
        created: None,
        last_used: None,
        ..grant.clone()
    };
    let seen = |this, agent: Option<&str>| account::Visit {
        agent: agent.map(str::to_owned),
        address: Some(stranger()),
        seen: 0,
        this,
    };
    let own = person(l);
    vec![
        account::grants(&own, "c", &[grant, kept], &[Stolen { app: stranger(), at: 0 }]),
        account::grants(&own, "c", &[], &[]),
        account::sessions(&own, "c", &[seen(true, Some(STRANGER)), seen(false, None)]),
        account::password(&own, "c", Changed::No),
        account::password(&own, "c", Changed::Yes),
        account::password(&own, "c", Changed::Refused("password", STRANGER)),
        problem::sign_out(&own),
        problem::render(l, STRANGER, STRANGER, STRANGER, Some(&own)),
    ]
}

fn logins(l: Language) -> Vec<String> {
    let form = Login {
        language: l,
        csrf: "c",
        request: "r",
        user_code: "",
        username: "",
        app: None,
        end: None,
        trouble: Trouble::None,
    };
    let troubles =
        [Trouble::None, Trouble::Wrong, Trouble::Wait(8), Trouble::Busy, Trouble::FileAccount];
    let (app, end) = (Some(STRANGER), Some(600_000));
    troubles
        .into_iter()
        .flat_map(|trouble| [Login { trouble, ..form }, Login { trouble, app, end, ..form }])
        .map(|form| login::render(&form))
        .collect()
}

fn devices(l: Language) -> Vec<String> {
    let own = person(l);
    let asked = |reviewed: bool| Confirm {
        person: own,
        csrf: "c",
        code: STRANGER,
        app: STRANGER,
        logo: None,
        reviewed,
        scopes: if reviewed { scopes(l) } else { Vec::new() },
        beyond: beyond(l),
        end: 600_000,
    };
    vec![
        device::ask(&own, "c", STRANGER, Some(STRANGER)),
        device::ask(&own, "c", "", None),
        device::confirm(&asked(true)),
        device::confirm(&asked(false)),
        device::done(&own, Done::Allowed),
        device::done(&own, Done::Refused),
        device::done(&own, Done::Nothing),
    ]
}

/// All of them.
fn pages(l: Language) -> Vec<String> {
    let groups = [accounts(l), applications(l), consents(l), devices(l), logins(l), reviews(l)];
    groups.concat()
}

/// What a person reads on a page, or hears: texts, and attributes that stand for some. Times and code are nobody's
/// language.
fn texts(page: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut inside = String::new();
    for piece in page.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("a tag ends");
        for name in [" aria-label=\"", " alt=\"", " title=\"", " placeholder=\""] {
            if let Some((_, value)) = tag.split_once(name) {
                texts.push(value.split('"').next().unwrap_or_default().to_owned());
            }
        }
        if !tag.starts_with('/') {
            inside = tag.split(' ').next().unwrap_or_default().to_owned();
        }
        let is_ours = !matches!(&*inside, "time" | "code") || tag.starts_with('/');
        if is_ours {
            texts.push(text.trim().to_owned());
        }
    }
    texts.retain(|text| text.chars().any(char::is_alphabetic) && text != STRANGER);
    texts
}

/// What is the same in both languages: names, and what strangers wrote.
const ALIKE: [&str; 8] =
    ["Code", "Corelode", "Logo", "Name", "PKCE", "Q", "QX9 · Corelode", "QX9b"];

/// A text that was forgotten stood in English on a German page.
#[test]
fn no_page_says_a_thing_in_another_language() {
    let [english, german] = Language::ALL.map(pages);
    assert_eq!(english.len(), german.len());
    let mut alike = BTreeSet::new();
    for (english, german) in english.iter().zip(&german) {
        assert!(english.contains("<html lang=\"en\">") && german.contains("<html lang=\"de\">"));
        let (ours, others) = (texts(english), texts(german));
        assert!(ours.len() > 8, "{english}");
        alike.extend(others.into_iter().filter(|text| ours.contains(text)));
    }
    assert_eq!(alike.iter().map(String::as_str).collect::<Vec<_>>(), ALIKE);
}

/// What is a letter of German is seen as one, and quotation marks are those of the language.
#[test]
fn each_language_has_its_own_marks() {
    let [english, german] = Language::ALL.map(|language| pages(language).concat());
    let (english, german) = (texts(&english).join("\n"), texts(&german).join("\n"));
    assert!(english.contains("“QX9”") && !english.contains('„'));
    assert!(german.contains("„QX9“") && !german.contains('”'));
    for letter in ['ä', 'ö', 'ü', 'ß'] {
        assert!(german.contains(letter) && !english.contains(letter), "{letter}");
    }
    for piece in ["ae", "oe", "ue"].map(|piece| format!("f{piece}r ")) {
        assert!(!german.contains(&piece), "{piece}");
    }
}
