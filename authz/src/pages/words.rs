//! Scopes in plain words: what would really be possible.
//!
//! What is told is worked out here, for all languages; how a sentence is made of it, each language knows by itself
//! ([`english`], [`german`]), for they put their words in different orders.

mod english;
mod german;

use super::language::{Language, Texts};
use super::quoted;
use crate::oauth::part::{Held, Object};
use crate::oauth::reach::{Remains, Share, Today};
use crate::oauth::scope::Scope;
use crate::oauth::sight::Sight;

/// How much a permission lets happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Nothing of the owner's documents.
    Slight,
    /// Reads documents.
    Reads,
    /// Changes documents, or the indices themselves.
    Changes,
}

/// A scope for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// In this language.
    language: Language,
    /// What is allowed, as one sentence.
    pub sentence: String,
    /// What that means.
    pub effect: String,
    /// How much it lets happen.
    pub weight: Weight,
    /// Less is held than it asks for.
    is_part: bool,
}

/// A scope in words; `today` tells how much a pattern matches now.
pub fn of(language: Language, scope: &str, today: impl Fn(&str) -> Today) -> Words {
    said(language, scope, |pattern| Some(today(pattern)))
}

/// A scope as one sentence, for somebody who may not know which indices there are.
pub fn anywhere(language: Language, scope: &str) -> String {
    said(language, scope, |_| None).sentence
}

/// The indices that something is done to.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// Their pattern.
    pattern: &'a str,
    /// How many that is today, where it may be told.
    today: Option<Today>,
}

fn said(language: Language, scope: &str, today: impl Fn(&str) -> Option<Today>) -> Words {
    let words = |sentence: String, effect: &str, weight| Words {
        language,
        sentence,
        effect: effect.to_owned(),
        weight,
        is_part: false,
    };
    let plain = |sentence: Texts, effect: Texts| {
        words(language.say(sentence).to_owned(), language.say(effect), Weight::Slight)
    };
    let Some((pattern, action)) = index_scope(scope) else {
        return match scope {
            "self" => plain(
                ["Know who you are here", "Wissen, wer Sie hier sind"],
                [
                    "Your user name and roles; no documents.",
                    "Ihr Benutzername und Ihre Rollen; keine Dokumente.",
                ],
            ),
            "cluster:monitor" => plain(
                ["See how the store is doing", "Sehen, wie es um die Installation steht"],
                [
                    "Health and statistics of the whole store; no documents.",
                    "Zustand und Statistiken der ganzen Installation; keine Dokumente.",
                ],
            ),
            "offline_access" => plain(
                [
                    "Keep access while you are away",
                    "Den Zugriff behalten, während Sie nicht da sind",
                ],
                [
                    "It may renew its access by itself until you revoke it.",
                    "Die Anwendung kann ihren Zugriff selbst erneuern, bis Sie ihn widerrufen.",
                ],
            ),
            _ => words(scope.to_owned(), "", Weight::Changes),
        };
    };
    let (effect, weight) = match action {
        "read" => (
            [
                "Search and read; nothing can be changed.",
                "Durchsuchen und lesen; geändert werden kann nichts.",
            ],
            Weight::Reads,
        ),
        "create" => (
            [
                "New documents only; existing ones can be neither read, changed nor deleted.",
                "Nur neue Dokumente; vorhandene können weder gelesen noch geändert noch gelöscht werden.",
            ],
            Weight::Changes,
        ),
        "write" => (
            [
                "Existing documents can be overwritten and deleted.",
                "Vorhandene Dokumente können überschrieben und gelöscht werden.",
            ],
            Weight::Changes,
        ),
        "manage" => (
            [
                "An index can be deleted with everything in it; documents cannot be read.",
                "Ein Index kann mit allem, was darin ist, gelöscht werden; Dokumente können nicht gelesen werden.",
            ],
            Weight::Changes,
        ),
        _ => (
            [
                "Read, change and delete documents, and delete the indices themselves.",
                "Dokumente lesen, ändern und löschen, und auch die Indizes selbst löschen.",
            ],
            Weight::Changes,
        ),
    };
    let place = Place { pattern, today: today(pattern) };
    let sentence = match language {
        Language::English => english::whole(action, place),
        Language::German => german::whole(action, place),
    };
    words(sentence, language.say(effect), weight)
}

/// The effect of what is held in part begins so.
const MORE: Texts = [
    "It asked for more, which you do not hold yourself. When your rights change, so does this, up to: ",
    "Verlangt wurde mehr, wozu Sie selbst nicht berechtigt sind. Ändern sich Ihre Rechte, so ändert sich auch dies, \
     höchstens bis zu: ",
];

impl Words {
    /// Of an index that opens by these aliases alone, where there are any.
    #[must_use]
    pub fn by(mut self, aliases: &[&str]) -> Self {
        let names: Vec<_> = aliases.iter().map(|name| quoted::isolated(name)).collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let any = list(&names, self.language.say(OR));
        let told = match (self.language, names.len()) {
            (_, 0) => return self,
            (Language::English, 1) => format!(", by the alias {any} alone"),
            (Language::English, _) => format!(", by the aliases {any} alone"),
            (Language::German, 1) => format!(", nur über den Alias {any}"),
            (Language::German, _) => format!(", nur über die Aliasse {any}"),
        };
        self.sentence.push_str(&told);
        self
    }

    /// With what its owner's own roles hide of it.
    #[must_use]
    pub fn seen(mut self, sight: &Sight) -> Self {
        if let Some(what) = seen(self.language, sight) {
            self.effect.push_str(&match self.language {
                Language::English => format!(" Only {what} that you may see yourself."),
                Language::German => format!(" Nur {what}, die Sie selbst sehen dürfen."),
            });
        }
        self
    }

    /// Is less held than it asks for?
    pub fn is_part(&self) -> bool {
        self.is_part
    }
}

/// Of what a part alone is seen; none where all is.
pub fn seen(language: Language, sight: &Sight) -> Option<&'static str> {
    let what = match (sight.documents, sight.fields) {
        (false, false) => return None,
        (true, false) => ["documents", "Dokumente"],
        (false, true) => ["fields", "Felder"],
        (true, true) => ["documents and fields", "Dokumente und Felder"],
    };
    Some(language.say(what))
}

/// A scope in words, told to somebody who may hold only a part of it, and on how many indices today.
pub fn held(language: Language, share: &Share, today: Today) -> Words {
    let scope = &share.scope.to_string();
    let part = |sentence: String, weight| Words {
        language,
        sentence,
        effect: format!("{}{}.", language.say(MORE), anywhere(language, scope)),
        weight,
        is_part: true,
    };
    let whole = said(language, scope, |_| Some(today));
    match (&share.remains, &share.scope) {
        (Remains::Indices(held), Scope::Index { pattern, action }) => {
            let told = held.told();
            if told.is_empty() || told == Held::of_scope(*action).told() {
                return whole;
            }
            let place = Place { pattern, today: Some(today) };
            let sentence = match language {
                Language::English => english::part(&clauses(&told), place),
                Language::German => german::part(&clauses(&told), place),
            };
            part(sentence, weight(&told))
        }
        (Remains::Cluster(seen), Scope::Monitor)
            if !["health", "statistics"].iter().all(|it| seen.contains(it)) =>
        {
            let sentence = match language {
                Language::English => english::cluster(seen),
                Language::German => german::cluster(seen),
            };
            part(sentence, Weight::Slight)
        }
        _ => whole,
    }
}

/// What is told of a part of a scope, and is alike.
struct Clause {
    /// What is done, in English.
    verbs: Vec<&'static str>,
    /// To what the indices have, where it is done to that; in English.
    things: Vec<&'static str>,
    /// To what it is done.
    kind: Object,
}

/// What is told of a part of a scope: what is alike in one clause.
fn clauses(told: &[(&'static str, Object)]) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    for &(verb, object) in told {
        let (kind, thing) = match object {
            Object::Of(thing) => (Object::Of(""), Some(thing)),
            other => (other, None),
        };
        let known = clauses
            .iter_mut()
            .find(|known| known.kind == kind && (thing.is_none() || known.verbs.contains(&verb)));
        match known {
            Some(known) if thing.is_some() => known.things.extend(thing),
            Some(known) => known.verbs.push(verb),
            None => {
                let (verbs, things) = (vec![verb], thing.into_iter().collect());
                clauses.push(Clause { verbs, things, kind });
            }
        }
    }
    clauses
}

/// How much of it all happens.
fn weight(told: &[(&'static str, Object)]) -> Weight {
    let of = |&(verb, object): &(&str, Object)| match (verb, object) {
        ("see", _) => Weight::Slight,
        ("search" | "read", Object::Documents | Object::Single) => Weight::Reads,
        _ => Weight::Changes,
    };
    told.iter().map(of).max().unwrap_or(Weight::Slight)
}

/// Before the last word of a row.
pub(super) const AND: Texts = ["and", "und"];
pub(super) const OR: Texts = ["or", "oder"];

/// Words in a row: `a, b and c`.
pub(super) fn list(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// A time in its largest whole unit: `90 days`, `90 Tage`.
pub(super) fn duration(language: Language, ms: u64) -> String {
    let units: [(u64, Texts, Texts); 4] = [
        (86_400_000, ["day", "Tag"], ["days", "Tage"]),
        (3_600_000, ["hour", "Stunde"], ["hours", "Stunden"]),
        (60_000, ["minute", "Minute"], ["minutes", "Minuten"]),
        (1_000, ["second", "Sekunde"], ["seconds", "Sekunden"]),
    ];
    let whole = |(unit, ..): &&(u64, Texts, Texts)| ms >= *unit && ms.is_multiple_of(*unit);
    let (unit, one, many) = units.iter().find(whole).unwrap_or(&units[3]);
    match ms / unit {
        1 => format!("1 {}", language.say(*one)),
        count => format!("{count} {}", language.say(*many)),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Pattern and action of a scope on indices.
pub fn index_scope(scope: &str) -> Option<(&str, &str)> {
    scope.strip_prefix("index:")?.rsplit_once(':')
}

/// Kinds of names that are counted apart, in the order in which they are told: how many, and what one and many are
/// called.
fn counted(language: Language, today: Today) -> Vec<String> {
    let kinds: [(usize, Texts, Texts); 3] = [
        (today.whole, ["index", "Index"], ["indices", "Indizes"]),
        (today.streams, ["data stream", "Datenstrom"], ["data streams", "Datenströme"]),
        (today.aliases, ["alias", "Alias"], ["aliases", "Aliasse"]),
    ];
    let counted = kinds.iter().filter_map(|(count, one, many)| match count {
        0 => None,
        1 => Some(format!("1 {}", language.say(*one))),
        count => Some(format!("{count} {}", language.say(*many))),
    });
    counted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::language::Language::English;

    fn share(scope: &str, remains: Remains) -> Share {
        Share { scope: Scope::parse(scope).expect("a scope"), remains }
    }
    use crate::privilege::{Actions, Kind};

    /// So many indices.
    fn some(whole: usize) -> Today {
        Today { whole, ..Today::default() }
    }

    #[test]
    fn a_scope_says_what_it_does_and_where() {
        let shown = of(English, "index:orders-*:read", |_| some(3));
        assert_eq!(
            shown.sentence,
            "Read documents in orders-*: 3 indices today, and any that match later"
        );
        assert_eq!(shown.weight, Weight::Reads);
        let shown = of(English, "index:bills:write", |_| some(1));
        assert_eq!(shown.sentence, "Add, change and delete documents in bills");
        assert_eq!(shown.weight, Weight::Changes);
        let shown = of(English, "index:*:all", |_| some(1));
        assert_eq!(
            shown.sentence,
            "Do everything with every index: 1 index today, and any that come later"
        );
        assert_eq!(
            of(English, "index:new:create", |_| some(0)).sentence,
            "Add documents to new, of which you have none today"
        );
        assert_eq!(
            anywhere(English, "index:bills-*:read"),
            "Read documents in bills-*, any that match"
        );
        assert_eq!(anywhere(English, "index:bills:all"), "Do everything with bills");
        assert_eq!(of(English, "self", |_| some(0)).weight, Weight::Slight);
    }

    #[test]
    fn indices_are_managed_in_words_that_read_well() {
        let manage = "Create, change and delete";
        for (pattern, expected) in [
            ("*", "every index: 2 indices today, and any that come later"),
            ("a-*", "the indices a-*: 2 indices today, and any that match later"),
            ("a", "the index a"),
        ] {
            let scope = format!("index:{pattern}:manage");
            assert_eq!(of(English, &scope, |_| some(2)).sentence, format!("{manage} {expected}"));
        }
        assert_eq!(anywhere(English, "index:*:manage"), format!("{manage} every index"));
    }

    fn told(scope: &str, privileges: &[&str], today: Today) -> Words {
        let Some(Scope::Index { action, .. }) = Scope::parse(scope) else { panic!("{scope}") };
        let privileges: Vec<String> = privileges.iter().map(|&name| name.to_owned()).collect();
        let owner = Held::of(&Actions::of(Kind::Index, &privileges));
        held(English, &share(scope, Remains::Indices(owner.and(Held::of_scope(action)))), today)
    }

    /// Who may see the fields of an index alone was told that documents are read.
    #[test]
    fn who_holds_a_part_is_told_of_that_part() {
        let two = some(2);
        let at = "a-*: 2 indices today, and any that match later";
        for (action, privileges, expected, weight) in [
            ("all", &["read"][..], "Read documents in AT", Weight::Reads),
            (
                "all",
                &["read", "index", "create_index"],
                "Read, add and change documents in AT; create the indices themselves",
                Weight::Changes,
            ),
            ("write", &["create_doc"], "Add documents to AT", Weight::Changes),
            ("write", &["create"], "Add and overwrite documents in AT", Weight::Changes),
            (
                "manage",
                &["create_index", "delete_index"],
                "Create and delete the indices AT",
                Weight::Changes,
            ),
            ("manage", &["delete_index"], "Delete the indices AT", Weight::Changes),
            ("manage", &["maintenance"], "Maintain the indices AT", Weight::Changes),
            (
                "manage",
                &["monitor"],
                "See the settings and statistics of the indices AT",
                Weight::Slight,
            ),
            (
                "manage",
                &[
                    "maintenance",
                    "monitor",
                    "indices:admin/settings/update",
                    "indices:admin/aliases",
                ],
                "Change the settings and aliases of the indices AT; maintain the indices themselves; \
                 see the aliases, settings and statistics of the indices",
                Weight::Changes,
            ),
            (
                "read",
                &["view_index_metadata"],
                "See the names, aliases, fields and settings of the indices AT",
                Weight::Slight,
            ),
            (
                "read",
                &["indices:data/read/get"],
                "Read single documents by their ids in AT",
                Weight::Reads,
            ),
            ("read", &["indices:data/read/search"], "Search documents in AT", Weight::Reads),
        ] {
            let words = told(&format!("index:a-*:{action}"), privileges, two);
            assert_eq!(words.sentence, expected.replace("AT", at), "{action} {privileges:?}");
            assert_eq!(words.weight, weight, "{action} {privileges:?}");
            assert!(words.is_part(), "{action} {privileges:?}");
        }
        let part = told("index:a-*:all", &["read"], two);
        let grows =
            "When your rights change, so does this, up to: Do everything with a-*, any that match.";
        assert!(part.effect.ends_with(grows), "{}", part.effect);
        for (action, privilege) in
            [("all", "all"), ("manage", "manage"), ("write", "write"), ("read", "read")]
        {
            let scope = format!("index:a-*:{action}");
            assert_eq!(told(&scope, &[privilege], two), of(English, &scope, |_| some(2)));
        }
    }

    #[test]
    fn indices_on_which_less_is_held_count_apart() {
        let words = told("index:*:read", &["read"], Today { part: 2, ..some(1) });
        let expected = "Read documents in every index: 1 index today, a part of it in 2 more, and any \
                        that come later";
        assert_eq!(words.sentence, expected);
    }

    #[test]
    fn later_indices_are_promised_as_far_as_they_will_be_held() {
        let narrow = Today { is_narrow: true, ..some(2) };
        let words = told("index:*:read", &["read"], narrow);
        let expected = "Read documents in every index: 2 indices today, and later ones as far as your own \
                        rights reach";
        assert_eq!(words.sentence, expected);
    }

    #[test]
    fn who_sees_a_part_of_how_the_store_does_is_told_which() {
        let told = |seen: &[&'static str]| {
            held(
                English,
                &share("cluster:monitor", Remains::Cluster(seen.to_vec())),
                Today::default(),
            )
        };
        assert_eq!(told(&["statistics"]).sentence, "See the statistics of the store");
        assert!(told(&["statistics"]).is_part());
        assert_eq!(told(&["health", "statistics"]).sentence, "See how the store is doing");
    }
}
