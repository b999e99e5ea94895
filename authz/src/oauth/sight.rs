//! What an owner's own roles hide of documents that a scope opens: a token shows no more than its owner sees,
//! and whoever decides about it should read so.
//!
//! Always true
//! 1. What is not told to be hidden may be shown of every name: where one grant hides and another, for the
//!    same action, lifts that on all names of the pattern, nothing is hidden.
//! 2. A field is told to be hidden where no grant shows it, or any member of it, on any name.
//!
//! Not here: which documents are hidden. The filter is the administrator's, who may not want it told.

use json::fields::FieldRule;

use super::reach::Reach;
use super::scope::{Action, Scope};
use crate::record::role::IndexGrant;

/// Actions on documents, each of which has limits of its own.
const READS: [&str; 2] = ["indices:data/read/search", "indices:data/read/get"];
const ADDS: [&str; 1] = ["indices:data/write/index:op_type/create"];
const CHANGES: [&str; 3] = [
    "indices:data/write/index:op_type/index",
    "indices:data/write/update",
    "indices:data/write/delete",
];

/// What is hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// Some documents.
    pub documents: bool,
    /// Some fields.
    pub fields: bool,
    /// The rules of all grants that show documents; `None` is of a grant that shows every field.
    rules: Vec<Option<FieldRule>>,
}

/// A grant that reaches names of a pattern.
struct Met<'r> {
    grant: &'r IndexGrant,
    /// It reaches all of them.
    covers: bool,
}

impl Sight {
    /// Of what these roles open of the scopes.
    pub fn of(reach: &Reach, scopes: &[Scope]) -> Self {
        let mut sight = Self::default();
        let hides = |grant: &IndexGrant| grant.query.is_some() || grant.fields.is_some();
        // Patterns are compared last, and those of most owners never: that takes the longest.
        if !reach.index_grants().any(hides) {
            return sight;
        }
        for scope in scopes {
            let Scope::Index { pattern, action } = scope else { continue };
            let actions: Vec<&str> = actions(*action).collect();
            let opens = |grant: &&IndexGrant| actions.iter().any(|one| grant.actions.hold(one));
            // What is reached by an alias is seen as by that.
            let lends = |grant: &IndexGrant| reach.lends(grant, pattern);
            let meets = |grant: &&IndexGrant| {
                grant.names.iter().any(|name| name.overlaps_plain(pattern)) || lends(grant)
            };
            let met: Vec<Met<'_>> = reach
                .index_grants()
                .filter(opens)
                .filter(meets)
                .map(|grant| {
                    let covers = grant.names.iter().any(|name| name.covers(pattern))
                        || (!pattern.contains('*') && lends(grant));
                    Met { grant, covers }
                })
                .collect();
            actions.iter().for_each(|action| sight.add(&met, action));
        }
        sight
    }

    fn add(&mut self, met: &[Met<'_>], action: &str) {
        let of = || met.iter().filter(|one| one.grant.actions.hold(action));
        let is_limited = |is_it: fn(&IndexGrant) -> bool| {
            of().any(|one| is_it(one.grant)) && !of().any(|one| one.covers && !is_it(one.grant))
        };
        self.documents |= is_limited(|grant| grant.query.is_some());
        self.fields |= is_limited(|grant| grant.fields.is_some());
        self.rules.extend(of().map(|one| one.grant.fields.clone()));
    }

    /// Is a field, as an application asks for it, hidden wherever it may be?
    pub fn hides(&self, field: &str) -> bool {
        self.fields
            && !self.rules.iter().any(|rule| rule.as_ref().is_none_or(|rule| may_show(rule, field)))
    }
}

fn actions(action: Action) -> impl Iterator<Item = &'static str> {
    let (reads, adds, changes) = match action {
        Action::Read => (true, false, false),
        Action::Create => (false, true, false),
        Action::Write => (false, true, true),
        Action::Manage => (false, false, false),
        Action::All => (true, true, true),
    };
    let list = |is_it: bool, list: &'static [&'static str]| if is_it { list } else { &[] };
    list(reads, &READS).iter().chain(list(adds, &ADDS)).chain(list(changes, &CHANGES)).copied()
}

/// May the rule show the field, or a member of it? (True also where a pattern leaves that open.)
fn may_show(rule: &FieldRule, field: &str) -> bool {
    if field.contains(['*', '?', '\\']) || rule.permits(field) {
        return true;
    }
    let all_but = FieldRule { grant: None, except: rule.except.clone() };
    let below = format!("{field}.");
    all_but.permits(field)
        && rule.grant.iter().flatten().any(|one| {
            let literal = &one[..one.find(['*', '?', '\\']).unwrap_or(one.len())];
            literal.starts_with(&below) || (literal.len() < one.len() && below.starts_with(literal))
        })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::role::{Descriptor, IndexEntry, Role};

    /// An entry of a role: names, privilege, filter, fields granted.
    type Entry<'a> = (&'a str, &'a str, Option<&'a str>, Option<&'a [&'a str]>);

    fn sight(entries: &[Entry<'_>], scope: &str) -> Sight {
        let indices = entries.iter().map(|(names, privilege, query, fields)| IndexEntry {
            query: query.map(str::to_owned),
            grant: fields.map(|fields| fields.iter().map(|&field| field.to_owned()).collect()),
            ..IndexEntry::plain(&[names], &[privilege])
        });
        let descriptor = Descriptor { indices: indices.collect(), ..Descriptor::default() };
        let reach = Reach::new(Arc::from([Arc::new(Role::new("r", descriptor))]));
        Sight::of(&reach, &[Scope::parse(scope).expect("a scope")])
    }

    const MINE: Option<&str> = Some(r#"{"term":{"owner":"ann"}}"#);

    #[test]
    fn what_is_hidden_on_some_name_is_told() {
        let ab: Option<&[&str]> = Some(&["a", "b"]);
        for (entries, scope, expected) in [
            (&[("*", "read", None, None)][..], "index:*:read", (false, false)),
            (&[("*", "read", MINE, None)], "index:a-*:read", (true, false)),
            (&[("*", "read", None, ab)], "index:a-*:read", (false, true)),
            (&[("*", "read", MINE, ab)], "index:a-*:all", (true, true)),
            (
                &[("b-*", "read", MINE, ab), ("a-*", "read", None, None)],
                "index:a-*:read",
                (false, false),
            ),
            // Lifted on all names, or on some of them.
            (
                &[("a-*", "read", MINE, ab), ("a*", "all", None, None)],
                "index:a-*:read",
                (false, false),
            ),
            (
                &[("a-*", "read", MINE, ab), ("a-1", "all", None, None)],
                "index:a-*:read",
                (true, true),
            ),
            (
                &[("a-*", "read", MINE, ab), ("a-1", "all", None, None)],
                "index:a-1:read",
                (false, false),
            ),
            (
                &[("a-*", "read", MINE, None), ("a-*", "read", None, ab)],
                "index:a-*:read",
                (false, false),
            ),
            // A right to something else lifts nothing.
            (
                &[("a-*", "read", MINE, ab), ("*", "write", None, None)],
                "index:a-*:all",
                (true, true),
            ),
            (
                &[("a-*", "read", MINE, ab), ("*", "write", None, None)],
                "index:a-*:write",
                (false, false),
            ),
            (&[("a-*", "all", MINE, ab)], "index:a-*:manage", (false, false)),
            (&[(".a-*", "all", MINE, ab)], "index:*:read", (false, false)),
        ] {
            let sight = sight(entries, scope);
            assert_eq!((sight.documents, sight.fields), expected, "{entries:?} {scope}");
        }
    }

    /// Of an index that opens by an alias alone the page told nothing of what the role of the alias hides.
    #[test]
    fn what_is_lent_by_an_alias_is_seen_as_by_it() {
        let entry = |names: &str, query: Option<&str>| IndexEntry {
            query: query.map(str::to_owned),
            ..IndexEntry::plain(&[names], &["read"])
        };
        for (entries, expected) in [
            (vec![entry("fal", MINE)], true),
            (vec![entry("fal", None)], false),
            (vec![entry("fal", MINE), entry("flt", None)], false),
            (vec![entry("fal", MINE), entry("x", None)], true),
        ] {
            let descriptor = Descriptor { indices: entries, ..Descriptor::default() };
            let asked = ["index:f*:read", "index:a-1:read"].map(|it| Scope::parse(it).expect(it));
            let behind = |alias: &str| alias.starts_with('f').then(|| vec!["a-1".to_owned()]);
            let reach = Reach::new(Arc::from([Arc::new(Role::new("r", descriptor))]));
            let reach = reach.with_aliases(&asked, &behind);
            assert_eq!(Sight::of(&reach, &asked[1..]).documents, expected);
            assert_eq!(reach.lenders(&asked[1]).first(), Some(&"fal"));
            assert!(reach.lenders(&asked[0]).is_empty(), "a pattern");
        }
    }

    /// The page named an alias of which the owner may only write, beside what is read by another.
    #[test]
    fn who_lends_other_rights_alone_is_not_named() {
        let entries = [("fal", "read"), ("fbl", "index")];
        let entries = entries.map(|(names, right)| IndexEntry::plain(&[names], &[right])).to_vec();
        let descriptor = Descriptor { indices: entries, ..Descriptor::default() };
        let asked = ["index:f*:all", "index:a-1:read", "index:a-1:write"];
        let asked = asked.map(|it| Scope::parse(it).expect(it));
        let behind = |alias: &str| alias.starts_with('f').then(|| vec!["a-1".to_owned()]);
        let reach = Reach::new(Arc::from([Arc::new(Role::new("r", descriptor))]));
        let reach = reach.with_aliases(&asked, &behind);
        assert_eq!(reach.lenders(&asked[1]), ["fal"]);
        assert_eq!(reach.lenders(&asked[2]), ["fbl"]);
    }

    #[test]
    fn a_field_that_no_grant_shows_is_hidden() {
        let shown: Option<&[&str]> = Some(&["id", "place.city", "n*"]);
        let entries: &[Entry<'_>] =
            &[("a-*", "read", None, shown), ("a-1", "read", MINE, Some(&["total"]))];
        let sight = sight(entries, "index:a-*:read");
        for (field, is_hidden) in [
            ("id", false),
            ("total", false),
            ("place", false),
            ("place.city", false),
            ("place.street", true),
            ("name", false),
            ("salary", true),
            ("s*", false),
        ] {
            assert_eq!(sight.hides(field), is_hidden, "{field}");
        }
        assert!(!Sight::default().hides("salary"));
    }
}
