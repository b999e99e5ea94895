//! Scopes in plain words: what would really be possible.

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
    /// What is allowed, as one sentence.
    pub sentence: String,
    /// What that means.
    pub effect: String,
    /// How much it lets happen.
    pub weight: Weight,
}

/// A scope in words; `today` tells how much a pattern matches now.
pub fn of(scope: &str, today: impl Fn(&str) -> Today) -> Words {
    said(scope, |pattern| Some(today(pattern)))
}

/// A scope as one sentence, for somebody who may not know which indices there are.
pub fn anywhere(scope: &str) -> String {
    said(scope, |_| None).sentence
}

fn said(scope: &str, today: impl Fn(&str) -> Option<Today>) -> Words {
    let words = |sentence: String, effect: String, weight| Words { sentence, effect, weight };
    let plain = |sentence: &str, effect: &str, weight| {
        words(sentence.to_owned(), effect.to_owned(), weight)
    };
    let Some((pattern, action)) = index_scope(scope) else {
        return match scope {
            "self" => plain(
                "Know who you are here",
                "Your user name and roles; no documents.",
                Weight::Slight,
            ),
            "cluster:monitor" => plain(
                "See how the store is doing",
                "Health and statistics of the whole store; no documents.",
                Weight::Slight,
            ),
            "offline_access" => plain(
                "Keep access while you are away",
                "It may renew its access by itself until you revoke it.",
                Weight::Slight,
            ),
            _ => words(scope.to_owned(), String::new(), Weight::Changes),
        };
    };
    let today = today(pattern);
    let at = |verb: &str| format!("{verb} {}", place(pattern, today));
    let (sentence, effect, weight) = match action {
        "read" => {
            (at("Read documents in"), "Search and read; nothing can be changed.", Weight::Reads)
        }
        "create" => (
            at("Add documents to"),
            "New documents only; existing ones can be neither read, changed nor deleted.",
            Weight::Changes,
        ),
        "write" => (
            at("Add, change and delete documents in"),
            "Existing documents can be overwritten and deleted.",
            Weight::Changes,
        ),
        "manage" => (
            format!("Create, change and delete {}", indices(pattern, today)),
            "An index can be deleted with everything in it; documents cannot be read.",
            Weight::Changes,
        ),
        _ => (
            at("Do everything with"),
            "Read, change and delete documents, and delete the indices themselves.",
            Weight::Changes,
        ),
    };
    words(sentence, effect.to_owned(), weight)
}

/// The effect of what is held in part begins so.
const MORE: &str = "It asked for more, which you do not hold yourself. When your rights change, so does this, up to: ";

impl Words {
    /// Of an index that opens by these aliases alone, where there are any.
    #[must_use]
    pub fn by(mut self, aliases: &[&str]) -> Self {
        let names: Vec<_> = aliases.iter().map(|name| quoted::isolated(name)).collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let word = if names.len() == 1 { "alias" } else { "aliases" };
        if !names.is_empty() {
            self.sentence.push_str(&format!(", by the {word} {} alone", list(&names, "or")));
        }
        self
    }

    /// With what its owner's own roles hide of it.
    #[must_use]
    pub fn seen(mut self, sight: &Sight) -> Self {
        if let Some(what) = seen(sight) {
            self.effect.push_str(&format!(" Only {what} that you may see yourself."));
        }
        self
    }

    /// Is less held than it asks for?
    pub fn is_part(&self) -> bool {
        self.effect.starts_with(MORE)
    }
}

/// Of what a part alone is seen; none where all is.
pub fn seen(sight: &Sight) -> Option<&'static str> {
    match (sight.documents, sight.fields) {
        (false, false) => None,
        (true, false) => Some("documents"),
        (false, true) => Some("fields"),
        (true, true) => Some("documents and fields"),
    }
}

/// A scope in words, told to somebody who may hold only a part of it, and on how many indices today.
pub fn held(share: &Share, today: Today) -> Words {
    let scope = &share.scope.to_string();
    let part = |sentence: String, weight| Words {
        sentence,
        effect: format!("{MORE}{}.", anywhere(scope)),
        weight,
    };
    let whole = said(scope, |_| Some(today));
    match (&share.remains, &share.scope) {
        (Remains::Indices(held), Scope::Index { pattern, action }) => {
            let told = held.told();
            if told.is_empty() || told == Held::of_scope(*action).told() {
                return whole;
            }
            part(sentence(&told, pattern, today), weight(&told))
        }
        (Remains::Cluster(seen), Scope::Monitor)
            if !["health", "statistics"].iter().all(|it| seen.contains(it)) =>
        {
            part(format!("See the {} of the store", list(seen, "and")), Weight::Slight)
        }
        _ => whole,
    }
}

/// What is told of a part of a scope: what is alike in one clause, the place in the first.
fn sentence(told: &[(&'static str, Object)], pattern: &str, today: Today) -> String {
    let mut clauses: Vec<(Vec<&str>, Vec<&str>, Object)> = Vec::new();
    for &(verb, object) in told {
        let (kind, thing) = match object {
            Object::Of(thing) => (Object::Of(""), Some(thing)),
            other => (other, None),
        };
        let known = clauses
            .iter_mut()
            .find(|(verbs, _, known)| *known == kind && (thing.is_none() || verbs.contains(&verb)));
        match known {
            Some((_, things, _)) if thing.is_some() => things.extend(thing),
            Some((verbs, ..)) => verbs.push(verb),
            None => clauses.push((vec![verb], thing.into_iter().collect(), kind)),
        }
    }
    let today = Some(today);
    let clauses = clauses.iter().enumerate().map(|(at, (verbs, things, kind))| {
        let (verbs, things) = (list(verbs, "and"), list(things, "and"));
        match (kind, at) {
            (Object::Documents, 0) if verbs == "add" => {
                format!("add documents to {}", place(pattern, today))
            }
            (Object::Documents, 0) => format!("{verbs} documents in {}", place(pattern, today)),
            (Object::Documents, _) => format!("{verbs} documents"),
            (Object::Single, 0) => {
                format!("{verbs} single documents by their ids in {}", place(pattern, today))
            }
            (Object::Single, _) => format!("{verbs} single documents by their ids"),
            (Object::Indices, 0) => format!("{verbs} {}", indices(pattern, today)),
            (Object::Indices, _) => format!("{verbs} the indices themselves"),
            (Object::Of(_), 0) => format!("{verbs} the {things} of {}", indices(pattern, today)),
            (Object::Of(_), _) => format!("{verbs} the {things} of the indices"),
        }
    });
    capital(&clauses.collect::<Vec<_>>().join("; "))
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

/// Words in a row: `a, b and c`.
pub(super) fn list(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// A time in its largest whole unit: `90 days`.
pub(super) fn duration(ms: u64) -> String {
    let units = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")];
    let unit = units.iter().find(|(unit, _)| ms >= *unit && ms.is_multiple_of(*unit));
    let (unit, name) = unit.unwrap_or(&(1_000, "second"));
    match ms / unit {
        1 => format!("1 {name}"),
        count => format!("{count} {name}s"),
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

/// The indices of a pattern, as what something is done to.
fn indices(pattern: &str, today: Option<Today>) -> String {
    match pattern {
        "*" => place(pattern, today),
        pattern if pattern.contains('*') => format!("the indices {}", place(pattern, today)),
        pattern => format!("the index {}", place(pattern, today)),
    }
}

/// Where; of how many indices, data streams and aliases that is today, where it may be told.
fn place(pattern: &str, today: Option<Today>) -> String {
    let Some(today) = today else {
        return match pattern {
            "*" => "every index".to_owned(),
            pattern if pattern.contains('*') => format!("{pattern}, any that match"),
            pattern => pattern.to_owned(),
        };
    };
    let kinds = [
        (today.whole, "index", "indices"),
        (today.streams, "data stream", "data streams"),
        (today.aliases, "alias", "aliases"),
    ];
    let counted: Vec<String> = kinds
        .iter()
        .filter_map(|(count, one, many)| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        })
        .collect();
    let counted: Vec<&str> = counted.iter().map(String::as_str).collect();
    let counted = match counted.as_slice() {
        [] => "no index today".to_owned(),
        some => format!("{} today", list(some, "and")),
    };
    let counted = match today.part {
        0 => counted,
        part => format!("{counted}, a part of it in {part} more"),
    };
    match pattern {
        pattern if pattern.contains('*') => {
            let place = if pattern == "*" { "every index" } else { pattern };
            let later = match (today.is_narrow, pattern) {
                (true, _) => "and later ones as far as your own rights reach",
                (false, "*") => "and any that come later",
                (false, _) => "and any that match later",
            };
            format!("{place}: {counted}, {later}")
        }
        pattern if today == Today::default() => format!("{pattern}, of which you have none today"),
        pattern => pattern.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(scope: &str, remains: Remains) -> Share {
        Share { scope: Scope::parse(scope).expect("a scope"), remains }
    }
    use crate::privilege::{Actions, Kind};

    /// So many indices.
    fn some(whole: usize) -> Today {
        Today { whole, ..Today::default() }
    }

    #[test]
    fn data_streams_and_aliases_are_called_so() {
        let at = |whole, streams| place("logs-*", Some(Today { streams, ..some(whole) }));
        let later = "and any that match later";
        assert_eq!(at(0, 0), format!("logs-*: no index today, {later}"));
        assert_eq!(at(0, 1), format!("logs-*: 1 data stream today, {later}"));
        assert_eq!(at(1, 2), format!("logs-*: 1 index and 2 data streams today, {later}"));
        let mixed = Today { streams: 2, aliases: 1, ..some(3) };
        let counted = "3 indices, 2 data streams and 1 alias today";
        assert_eq!(place("logs-*", Some(mixed)), format!("logs-*: {counted}, {later}"));
        for one in
            [Today { streams: 1, ..Today::default() }, Today { aliases: 1, ..Today::default() }]
        {
            assert_eq!(place("logs-y", Some(one)), "logs-y");
        }
        assert_eq!(place("logs-y", Some(some(0))), "logs-y, of which you have none today");
    }

    #[test]
    fn a_scope_says_what_it_does_and_where() {
        let shown = of("index:orders-*:read", |_| some(3));
        assert_eq!(
            shown.sentence,
            "Read documents in orders-*: 3 indices today, and any that match later"
        );
        assert_eq!(shown.weight, Weight::Reads);
        let shown = of("index:bills:write", |_| some(1));
        assert_eq!(shown.sentence, "Add, change and delete documents in bills");
        assert_eq!(shown.weight, Weight::Changes);
        let shown = of("index:*:all", |_| some(1));
        assert_eq!(
            shown.sentence,
            "Do everything with every index: 1 index today, and any that come later"
        );
        assert_eq!(
            of("index:new:create", |_| some(0)).sentence,
            "Add documents to new, of which you have none today"
        );
        assert_eq!(anywhere("index:bills-*:read"), "Read documents in bills-*, any that match");
        assert_eq!(anywhere("index:bills:all"), "Do everything with bills");
        assert_eq!(of("self", |_| some(0)).weight, Weight::Slight);
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
            assert_eq!(of(&scope, |_| some(2)).sentence, format!("{manage} {expected}"));
        }
        assert_eq!(anywhere("index:*:manage"), format!("{manage} every index"));
    }

    fn told(scope: &str, privileges: &[&str], today: Today) -> Words {
        let Some(Scope::Index { action, .. }) = Scope::parse(scope) else { panic!("{scope}") };
        let privileges: Vec<String> = privileges.iter().map(|&name| name.to_owned()).collect();
        let owner = Held::of(&Actions::of(Kind::Index, &privileges));
        held(&share(scope, Remains::Indices(owner.and(Held::of_scope(action)))), today)
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
            assert_eq!(told(&scope, &[privilege], two), of(&scope, |_| some(2)));
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
            held(&share("cluster:monitor", Remains::Cluster(seen.to_vec())), Today::default())
        };
        assert_eq!(told(&["statistics"]).sentence, "See the statistics of the store");
        assert!(told(&["statistics"]).is_part());
        assert_eq!(told(&["health", "statistics"]).sentence, "See how the store is doing");
    }
}
