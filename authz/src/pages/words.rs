//! Scopes in plain words: what would really be possible.

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

/// A scope in words; `indices_today` tells how many of the reader's indices a pattern matches now.
pub fn of(scope: &str, indices_today: impl Fn(&str) -> usize) -> Words {
    said(scope, |pattern| Some(indices_today(pattern)))
}

/// A scope as one sentence, for somebody who may not know which indices there are.
pub fn anywhere(scope: &str) -> String {
    said(scope, |_| None).sentence
}

fn said(scope: &str, indices_today: impl Fn(&str) -> Option<usize>) -> Words {
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
    let place = place(pattern, indices_today(pattern));
    let (verb, effect, weight) = match action {
        "read" => ("Read documents in", "Search and read; nothing can be changed.", Weight::Reads),
        "create" => (
            "Add documents to",
            "New documents only; existing ones can be neither read, changed nor deleted.",
            Weight::Changes,
        ),
        "write" => (
            "Add, change and delete documents in",
            "Existing documents can be overwritten and deleted.",
            Weight::Changes,
        ),
        "manage" => (
            "Create, change and delete the indices",
            "An index can be deleted with everything in it; documents cannot be read.",
            Weight::Changes,
        ),
        _ => (
            "Do everything with",
            "Read, change and delete documents, and delete the indices themselves.",
            Weight::Changes,
        ),
    };
    words(format!("{verb} {place}"), effect.to_owned(), weight)
}

/// A part of what a scope on indices may give.
struct Part {
    verb: &'static str,
    /// Else the indices themselves.
    on_documents: bool,
    /// An action of the store that goes with it.
    probe: &'static str,
}

const fn part(verb: &'static str, on_documents: bool, probe: &'static str) -> Part {
    Part { verb, on_documents, probe }
}

/// What scopes give, as people tell it apart: reading, adding, changing and deleting documents; making,
/// changing and deleting indices.
const PARTS: [Part; 7] = [
    part("read", true, "indices:data/read/search"),
    part("add", true, "indices:data/write/index"),
    part("change", true, "indices:data/write/update"),
    part("delete", true, "indices:data/write/delete"),
    part("create", false, "indices:admin/create"),
    part("change", false, "indices:admin/settings/update"),
    part("delete", false, "indices:admin/delete"),
];

/// Those of an action.
fn parts(action: &str) -> &'static [Part] {
    match action {
        "read" => &PARTS[..1],
        "create" => &PARTS[1..2],
        "write" => &PARTS[1..4],
        "manage" => &PARTS[4..],
        _ => &PARTS,
    }
}

/// The effect of what is held in part begins so.
const MORE: &str = "It asked for more, which you do not hold yourself. When your rights change, so does this, up to: ";

impl Words {
    /// Is less held than it asks for?
    pub fn is_part(&self) -> bool {
        self.effect.starts_with(MORE)
    }
}

/// As [`of`], told to somebody who may hold only a part of it: `holds` says whether an action is held on
/// any index of the scope.
pub fn held(
    scope: &str,
    indices_today: impl Fn(&str) -> usize,
    holds: impl Fn(&str) -> bool,
) -> Words {
    let whole = of(scope, &indices_today);
    let Some((pattern, action)) = index_scope(scope) else { return whole };
    let asked = parts(action);
    let kept: Vec<&Part> = asked.iter().filter(|part| holds(part.probe)).collect();
    if kept.is_empty() || kept.len() == asked.len() {
        return whole;
    }
    let verbs = |on_documents: bool| -> Vec<&str> {
        kept.iter().filter(|it| it.on_documents == on_documents).map(|it| it.verb).collect()
    };
    let (documents, indices) = (verbs(true), verbs(false));
    let place = place(pattern, Some(indices_today(pattern)));
    let sentence = match (documents.as_slice(), indices.as_slice()) {
        ([], indices) => format!("{} the indices {place}", capital(&list(indices, "and"))),
        (["add"], []) => format!("Add documents to {place}"),
        (documents, []) => format!("{} documents in {place}", capital(&list(documents, "and"))),
        (documents, indices) => format!(
            "{} documents in {place}; {} the indices themselves",
            capital(&list(documents, "and")),
            list(indices, "and")
        ),
    };
    let weight =
        if documents == ["read"] && indices.is_empty() { Weight::Reads } else { Weight::Changes };
    Words { sentence, effect: format!("{MORE}{}.", whole.sentence), weight }
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

/// Where; of how many indices that is today, where it may be told.
fn place(pattern: &str, today: Option<usize>) -> String {
    let Some(today) = today else {
        return match pattern {
            "*" => "every index".to_owned(),
            pattern if pattern.contains('*') => format!("{pattern}, any that match"),
            pattern => pattern.to_owned(),
        };
    };
    let indices = match today {
        0 => "no index today".to_owned(),
        1 => "1 index today".to_owned(),
        count => format!("{count} indices today"),
    };
    match (pattern, today) {
        ("*", _) => format!("every index: {indices}, and any that come later"),
        (pattern, _) if pattern.contains('*') => {
            format!("{pattern}: {indices}, and any that match later")
        }
        (pattern, 0) => format!("{pattern}, of which you have none today"),
        (pattern, _) => pattern.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_says_what_it_does_and_where() {
        let shown = of("index:orders-*:read", |_| 3);
        assert_eq!(
            shown.sentence,
            "Read documents in orders-*: 3 indices today, and any that match later"
        );
        assert_eq!(shown.weight, Weight::Reads);
        let shown = of("index:bills:write", |_| 1);
        assert_eq!(shown.sentence, "Add, change and delete documents in bills");
        assert_eq!(shown.weight, Weight::Changes);
        let shown = of("index:*:all", |_| 1);
        assert_eq!(
            shown.sentence,
            "Do everything with every index: 1 index today, and any that come later"
        );
        assert_eq!(
            of("index:new:create", |_| 0).sentence,
            "Add documents to new, of which you have none today"
        );
        assert_eq!(anywhere("index:bills-*:read"), "Read documents in bills-*, any that match");
        assert_eq!(anywhere("index:bills:all"), "Do everything with bills");
        assert_eq!(of("self", |_| 0).weight, Weight::Slight);
    }

    #[test]
    fn who_holds_a_part_is_told_of_that_part() {
        let told = |scope: &str, actions: &[&str]| {
            let words = held(scope, |_| 2, |probe| actions.contains(&probe));
            (words.sentence, words.weight)
        };
        let today = "orders-*: 2 indices today, and any that match later";
        let (read, write) = ("indices:data/read/search", "indices:data/write/index");
        for (scope, actions, expected, weight) in [
            (
                "index:orders-*:all",
                &[read][..],
                format!("Read documents in {today}"),
                Weight::Reads,
            ),
            (
                "index:orders-*:all",
                &[read, write, "indices:data/write/update", "indices:admin/create"],
                format!("Read, add and change documents in {today}; create the indices themselves"),
                Weight::Changes,
            ),
            (
                "index:orders-*:write",
                &[write],
                format!("Add documents to {today}"),
                Weight::Changes,
            ),
            (
                "index:orders-*:manage",
                &["indices:admin/create", "indices:admin/settings/update"],
                format!("Create and change the indices {today}"),
                Weight::Changes,
            ),
        ] {
            assert_eq!(told(scope, actions), (expected, weight), "{scope} {actions:?}");
        }
        let part = held("index:orders-*:all", |_| 2, |probe| probe == read);
        let grows =
            format!("When your rights change, so does this, up to: Do everything with {today}.");
        assert!(part.is_part() && part.effect.ends_with(&grows), "{}", part.effect);
        let whole = held("index:orders-*:all", |_| 2, |_| true);
        assert_eq!(whole, of("index:orders-*:all", |_| 2));
    }
}
