//! Scopes in English sentences.

use super::{AND, Clause, Place, capital, counted, list};
use crate::oauth::part::Object;
use crate::oauth::reach::Today;
use crate::pages::language::Language::English;

/// All that a scope's action gives.
pub(super) fn whole(action: &str, place: Place<'_>) -> String {
    let at = where_(place);
    match action {
        "read" => format!("Read documents in {at}"),
        "create" => format!("Add documents to {at}"),
        "write" => format!("Add, change and delete documents in {at}"),
        "manage" => format!("Create, change and delete {}", indices(place)),
        _ => format!("Do everything with {at}"),
    }
}

/// A part of it; the place stands in the first clause.
pub(super) fn part(clauses: &[Clause], place: Place<'_>) -> String {
    let clauses = clauses.iter().enumerate().map(|(at, clause)| {
        let (verbs, things) = (row(&clause.verbs), row(&clause.things));
        match (clause.kind, at) {
            (Object::Documents, 0) if verbs == "add" => {
                format!("add documents to {}", where_(place))
            }
            (Object::Documents, 0) => format!("{verbs} documents in {}", where_(place)),
            (Object::Documents, _) => format!("{verbs} documents"),
            (Object::Single, 0) => {
                format!("{verbs} single documents by their ids in {}", where_(place))
            }
            (Object::Single, _) => format!("{verbs} single documents by their ids"),
            (Object::Indices, 0) => format!("{verbs} {}", indices(place)),
            (Object::Indices, _) => format!("{verbs} the indices themselves"),
            (Object::Of(_), 0) => format!("{verbs} the {things} of {}", indices(place)),
            (Object::Of(_), _) => format!("{verbs} the {things} of the indices"),
        }
    });
    capital(&clauses.collect::<Vec<_>>().join("; "))
}

/// What is seen of how the store does.
pub(super) fn cluster(seen: &[&'static str]) -> String {
    format!("See the {} of the store", row(seen))
}

fn row(words: &[&str]) -> String {
    list(words, English.say(AND))
}

/// The indices of a pattern, as what something is done to.
fn indices(place: Place<'_>) -> String {
    match place.pattern {
        "*" => where_(place),
        pattern if pattern.contains('*') => format!("the indices {}", where_(place)),
        _ => format!("the index {}", where_(place)),
    }
}

/// Where; of how many indices, data streams and aliases that is today, where it may be told.
fn where_(Place { pattern, today }: Place<'_>) -> String {
    let Some(today) = today else {
        return match pattern {
            "*" => "every index".to_owned(),
            pattern if pattern.contains('*') => format!("{pattern}, any that match"),
            pattern => pattern.to_owned(),
        };
    };
    let counted = counted(English, today);
    let counted: Vec<&str> = counted.iter().map(String::as_str).collect();
    let counted = match counted.as_slice() {
        [] => "no index today".to_owned(),
        some => format!("{} today", row(some)),
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

    fn place(pattern: &str, today: Option<Today>) -> String {
        where_(Place { pattern, today })
    }

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
}
