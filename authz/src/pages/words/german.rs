//! Scopes in German sentences: what is done stands at their end, so that the number of indices does not come between
//! but behind, in brackets. (A pattern of names holds neither brackets nor spaces.)

use super::{AND, Clause, Place, capital, counted, list};
use crate::oauth::part::Object;
use crate::oauth::reach::Today;
use crate::pages::language::Language::German;

/// All that a scope's action gives.
pub(super) fn whole(action: &str, place: Place<'_>) -> String {
    let (names, count) = (names(place), count(place));
    let done = match action {
        "read" => format!("Dokumente in {names} lesen"),
        "create" => format!("Dokumente zu {names} hinzufügen"),
        "write" => format!("Dokumente in {names} hinzufügen, ändern und löschen"),
        "manage" => format!("{} anlegen, ändern und löschen", indices(place)),
        _ => format!("Mit {names} alles tun"),
    };
    capital(&format!("{done}{count}"))
}

/// A part of it; the place stands in the first clause.
pub(super) fn part(clauses: &[Clause], place: Place<'_>) -> String {
    let clauses = clauses.iter().enumerate().map(|(at, clause)| {
        let verbs: Vec<&str> = clause.verbs.iter().map(|verb| verb_of(verb)).collect();
        let things: Vec<&str> = clause.things.iter().map(|thing| thing_of(thing)).collect();
        let (verbs, things, names) = (row(&verbs), row(&things), names(place));
        let done = match (clause.kind, at) {
            (Object::Documents, 0) if clause.verbs == ["add"] => {
                format!("Dokumente zu {names} {verbs}")
            }
            (Object::Documents, 0) => format!("Dokumente in {names} {verbs}"),
            (Object::Documents, _) => format!("Dokumente {verbs}"),
            (Object::Single, 0) => {
                format!("einzelne Dokumente in {names} anhand ihrer ID {verbs}")
            }
            (Object::Single, _) => format!("einzelne Dokumente anhand ihrer ID {verbs}"),
            (Object::Indices, 0) => format!("{} {verbs}", indices(place)),
            (Object::Indices, _) => format!("die Indizes selbst {verbs}"),
            (Object::Of(_), 0) => format!("die {things} {} {verbs}", of_indices(place)),
            (Object::Of(_), _) => format!("die {things} der Indizes {verbs}"),
        };
        if at == 0 { format!("{done}{}", count(place)) } else { done }
    });
    capital(&clauses.collect::<Vec<_>>().join("; "))
}

/// What is seen of how the store does.
pub(super) fn cluster(seen: &[&'static str]) -> String {
    let seen: Vec<&str> = seen.iter().map(|thing| thing_of(thing)).collect();
    format!("Von der Installation sehen: {}", row(&seen))
}

/// What is done, by its English word.
fn verb_of(verb: &'static str) -> &'static str {
    match verb {
        "search" => "durchsuchen",
        "read" => "lesen",
        "add" => "hinzufügen",
        "overwrite" => "überschreiben",
        "update" => "aktualisieren",
        "delete" => "löschen",
        "create" => "anlegen",
        "change" => "ändern",
        "open" => "öffnen",
        "close" => "schließen",
        "roll over" => "durch neue fortsetzen",
        "copy" => "kopieren",
        "maintain" => "pflegen",
        "see" => "ansehen",
        other => other,
    }
}

/// What the indices, or the whole installation, have, by its English word.
fn thing_of(thing: &'static str) -> &'static str {
    match thing {
        "fields" => "Felder",
        "settings" => "Einstellungen",
        "aliases" => "Aliasse",
        "streams" => "Datenströme",
        "names" => "Namen",
        "statistics" => "Statistiken",
        "health" => "Zustand",
        "name and version" => "Name und Version",
        "running work" => "laufende Arbeiten",
        "license" => "Lizenz",
        other => other,
    }
}

fn row(words: &[&str]) -> String {
    list(words, German.say(AND))
}

/// The names of a pattern, behind "in", "zu" and "mit".
fn names(place: Place<'_>) -> &str {
    if place.pattern == "*" { "allen Indizes" } else { place.pattern }
}

/// The indices of a pattern, as what something is done to.
fn indices(place: Place<'_>) -> String {
    match place.pattern {
        "*" => "alle Indizes".to_owned(),
        pattern if pattern.contains('*') => format!("die Indizes {pattern}"),
        pattern => format!("den Index {pattern}"),
    }
}

/// The indices of a pattern, as whose something is.
fn of_indices(place: Place<'_>) -> String {
    match place.pattern {
        "*" => "aller Indizes".to_owned(),
        pattern if pattern.contains('*') => format!("der Indizes {pattern}"),
        pattern => format!("des Index {pattern}"),
    }
}

/// How many indices, data streams and aliases that is today, where it may be told.
fn count(Place { pattern, today }: Place<'_>) -> String {
    let Some(today) = today else {
        let is_open = pattern.contains('*') && pattern != "*";
        return if is_open { " (alle, die dazu passen)".to_owned() } else { String::new() };
    };
    if !pattern.contains('*') {
        return match today == Today::default() {
            true => " (einen solchen Index haben Sie heute nicht)".to_owned(),
            false => String::new(),
        };
    }
    let counted = counted(German, today);
    let counted: Vec<&str> = counted.iter().map(String::as_str).collect();
    let (counted, more) = match counted.as_slice() {
        [] => ("kein Index".to_owned(), ["", ""]),
        some => (row(some), [" weiteren", "auch "]),
    };
    let [more, also] = more;
    let part = match today.part {
        0 => String::new(),
        1 => format!(", in einem{more} nur ein Teil davon"),
        part => format!(", in {part}{more} nur ein Teil davon"),
    };
    let later = match (today.is_narrow, pattern) {
        (true, _) => "weitere, soweit Ihre eigenen Rechte reichen",
        (false, "*") => "alle, die noch hinzukommen",
        (false, _) => "alle, die dann dazu passen",
    };
    format!(" (heute {counted}{part}, später {also}{later})")
}

#[cfg(test)]
mod tests {
    use super::super::{anywhere, held, of};
    use super::*;
    use crate::oauth::part::{Held, every};
    use crate::oauth::reach::{Remains, Share};
    use crate::oauth::scope::{MONITOR, Scope};
    use crate::privilege::{Actions, Kind};

    /// So many indices.
    fn some(whole: usize) -> Today {
        Today { whole, ..Today::default() }
    }

    #[test]
    fn a_scope_says_what_it_does_and_where() {
        for (scope, today, expected) in [
            (
                "index:orders-*:read",
                some(3),
                "Dokumente in orders-* lesen (heute 3 Indizes, später auch alle, die dann dazu passen)",
            ),
            ("index:bills:write", some(1), "Dokumente in bills hinzufügen, ändern und löschen"),
            (
                "index:*:all",
                some(1),
                "Mit allen Indizes alles tun (heute 1 Index, später auch alle, die noch hinzukommen)",
            ),
            (
                "index:new:create",
                some(0),
                "Dokumente zu new hinzufügen (einen solchen Index haben Sie heute nicht)",
            ),
            (
                "index:a-*:manage",
                Today { streams: 2, aliases: 1, part: 1, ..some(3) },
                "Die Indizes a-* anlegen, ändern und löschen (heute 3 Indizes, 2 Datenströme und 1 Alias, in einem \
                 weiteren nur ein Teil davon, später auch alle, die dann dazu passen)",
            ),
            ("index:a:manage", some(1), "Den Index a anlegen, ändern und löschen"),
            (
                "index:*:read",
                Today { is_narrow: true, part: 2, ..some(0) },
                "Dokumente in allen Indizes lesen (heute kein Index, in 2 nur ein Teil davon, später \
                 weitere, soweit Ihre eigenen Rechte reichen)",
            ),
            (
                "index:a-*:read",
                some(0),
                "Dokumente in a-* lesen (heute kein Index, später alle, die dann dazu passen)",
            ),
        ] {
            assert_eq!(of(German, scope, |_| today).sentence, expected);
        }
        let bills = anywhere(German, "index:bills-*:read");
        assert_eq!(bills, "Dokumente in bills-* lesen (alle, die dazu passen)");
        assert_eq!(anywhere(German, "index:bills:all"), "Mit bills alles tun");
        assert_eq!(anywhere(German, "index:*:manage"), "Alle Indizes anlegen, ändern und löschen");
    }

    fn told(scope: &str, privileges: &[&str]) -> String {
        let Some(Scope::Index { action, .. }) = Scope::parse(scope) else { panic!("{scope}") };
        let privileges: Vec<String> = privileges.iter().map(|&name| name.to_owned()).collect();
        let owner = Held::of(&Actions::of(Kind::Index, &privileges));
        let remains = Remains::Indices(owner.and(Held::of_scope(action)));
        let share = Share { scope: Scope::parse(scope).expect("a scope"), remains };
        let words = held(German, &share, some(2));
        assert!(words.is_part(), "{scope}");
        assert!(words.effect.starts_with("Verlangt wurde mehr"), "{}", words.effect);
        words.sentence
    }

    #[test]
    fn who_holds_a_part_is_told_of_that_part() {
        let count = " (heute 2 Indizes, später auch alle, die dann dazu passen)";
        for (scope, privileges, before, after) in [
            ("index:a-*:all", &["read"][..], "Dokumente in a-* lesen", ""),
            (
                "index:a-*:all",
                &["read", "index", "create_index"],
                "Dokumente in a-* lesen, hinzufügen und ändern",
                "; die Indizes selbst anlegen",
            ),
            ("index:a-*:write", &["create_doc"], "Dokumente zu a-* hinzufügen", ""),
            ("index:a-*:manage", &["delete_index"], "Die Indizes a-* löschen", ""),
            (
                "index:a-*:manage",
                &["monitor"],
                "Die Einstellungen und Statistiken der Indizes a-* ansehen",
                "",
            ),
            (
                "index:a-*:read",
                &["indices:data/read/get"],
                "Einzelne Dokumente in a-* anhand ihrer ID lesen",
                "",
            ),
        ] {
            assert_eq!(told(scope, privileges), format!("{before}{count}{after}"));
        }
    }

    /// A part that comes anew would be told in English among German words.
    #[test]
    fn every_part_has_a_word_of_its_own() {
        for (verb, object) in every() {
            assert_ne!(verb_of(verb), verb);
            if let Object::Of(thing) = object {
                assert_ne!(thing_of(thing), thing);
            }
        }
        for (_, word) in MONITOR {
            assert_ne!(thing_of(word), word);
        }
        assert_eq!(
            cluster(&["health", "license"]),
            "Von der Installation sehen: Zustand und Lizenz"
        );
    }
}
