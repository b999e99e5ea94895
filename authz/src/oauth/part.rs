//! What scopes on indices give, part by part, as people tell it apart.
//!
//! An owner may hold less than an application asks for; what is granted then is what both hold. Whoever
//! tells of it needs to know which parts those are: a part is a few of the store's actions that mean the
//! same to a person.
//!
//! Always true
//! 1. An action that is of no use by itself is in no part: a scroll without its search, the envelope of a
//!    bulk request ([`HELPERS`]).
//! 2. So is the creation of an index by its first document, for whoever adds none ([`Held::of_use`]).
//! 3. What remains of two sets of rights is told by the actions that both hold, not by the parts: two
//!    halves of one part have nothing in common.

use super::scope::Action;
use crate::privilege::Actions;

/// To what a part is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// Documents, whichever.
    Documents,
    /// Documents whose ids are known.
    Single,
    /// The indices themselves.
    Indices,
    /// Something that indices have.
    Of(&'static str),
}

/// One part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What is done.
    pub verb: &'static str,
    /// To what.
    pub object: Object,
    /// The actions, any of which is a right to it.
    actions: &'static [&'static str],
}

/// Parts that make a greater one, where all of them are there.
struct Whole {
    verb: &'static str,
    object: Object,
    of: std::ops::Range<usize>,
}

const fn part(verb: &'static str, object: Object, actions: &'static [&'static str]) -> Part {
    Part { verb, object, actions }
}

use Object::{Documents, Indices, Of, Single};

/// Every part, in the order in which they are told.
#[rustfmt::skip]
const PARTS: [Part; 22] = [
    part("search", Documents, &["indices:data/read/search"]),
    part("read", Single, &[
        "indices:data/read/get", "indices:data/read/mget[shard]", "indices:data/read/tv",
        "indices:data/read/explain",
    ]),
    part("add", Documents, &["indices:data/write/index:op_type/create"]),
    part("overwrite", Documents, &["indices:data/write/index:op_type/index"]),
    part("update", Documents, &["indices:data/write/update"]),
    part("delete", Documents, &["indices:data/write/delete"]),
    part("create", Indices, &[
        "indices:admin/create", "indices:admin/auto_create", "indices:admin/data_stream/create",
    ]),
    part("change", Of("fields"), &["indices:admin/mapping/put"]),
    part("change", Of("settings"), &["indices:admin/settings/update", "indices:admin/block/add"]),
    part("change", Of("aliases"), &["indices:admin/aliases"]),
    part("change", Of("streams"), &["indices:admin/data_stream/modify", "indices:admin/data_stream/migrate"]),
    part("open", Indices, &["indices:admin/open", "indices:admin/freeze"]),
    part("close", Indices, &["indices:admin/close"]),
    part("roll over", Indices, &["indices:admin/rollover"]),
    part("copy", Indices, &["indices:admin/resize"]),
    part("delete", Indices, &["indices:admin/delete", "indices:admin/data_stream/delete"]),
    part("maintain", Indices, &[
        "indices:admin/refresh", "indices:admin/flush", "indices:admin/forcemerge",
        "indices:admin/cache/clear", "indices:admin/reload_analyzers",
    ]),
    part("see", Of("names"), &[
        "indices:admin/resolve/index", "indices:admin/data_stream/get", "indices:admin/get",
        "indices:admin/shards/search_shards", "indices:admin/resolve/cluster",
    ]),
    part("see", Of("aliases"), &["indices:admin/aliases/get", "indices:admin/get"]),
    part("see", Of("fields"), &[
        "indices:admin/mappings/get", "indices:admin/mappings/fields/get", "indices:data/read/field_caps",
        "indices:admin/get", "indices:admin/analyze", "indices:admin/validate/query",
    ]),
    part("see", Of("settings"), &["indices:monitor/settings/get", "indices:admin/get"]),
    part("see", Of("statistics"), &[
        "indices:monitor/stats", "indices:monitor/segments", "indices:monitor/recovery",
        "indices:monitor/shard_stores", "indices:monitor/field_usage_stats",
        "indices:monitor/data_stream/stats", "indices:admin/analyze_disk_usage",
    ]),
];

/// What makes a greater one.
const WHOLES: [Whole; 3] = [
    Whole { verb: "read", object: Documents, of: 0..2 },
    Whole { verb: "change", object: Documents, of: 3..5 },
    Whole { verb: "change", object: Indices, of: 7..15 },
];

/// Actions that give nothing without one of a part.
pub const HELPERS: &[&str] = &[
    "indices:admin/mapping/auto_put",
    "indices:data/read/close_point_in_time",
    "indices:data/read/mget",
    "indices:data/read/msearch",
    "indices:data/read/msearch/template",
    "indices:data/read/mtv",
    "indices:data/read/open_point_in_time",
    "indices:data/read/rank_eval",
    "indices:data/read/scroll",
    "indices:data/read/scroll/clear",
    "indices:data/read/search/template",
    "indices:data/write/bulk",
    "indices:data/write/delete/byquery",
    "indices:data/write/index",
    "indices:data/write/reindex",
    "indices:data/write/update/byquery",
];

/// Adding a document, whether or not there is one of its id.
const ADDS: u64 =
    bits(&["indices:data/write/index:op_type/create", "indices:data/write/index:op_type/index"]);

/// The creation of an index by its first document.
const FIRST: u64 = bits(&["indices:admin/auto_create"]);

/// The bits of these actions, each of which is in a part.
const fn bits(wanted: &[&str]) -> u64 {
    let (mut bits, mut found, mut bit, mut at) = (0, 0, 0, 0);
    while at < PARTS.len() {
        let mut of = 0;
        while of < PARTS[at].actions.len() {
            let mut one = 0;
            while one < wanted.len() {
                if is_same(wanted[one].as_bytes(), PARTS[at].actions[of].as_bytes()) {
                    bits |= 1 << bit;
                    found += 1;
                }
                one += 1;
            }
            bit += 1;
            of += 1;
        }
        at += 1;
    }
    assert!(found == wanted.len(), "each action is in one part");
    bits
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Actions of all parts, one after the other: each is a bit of [`Held`].
fn actions() -> impl Iterator<Item = (usize, &'static str)> {
    PARTS.iter().flat_map(|part| part.actions).copied().enumerate()
}

const _: () = {
    let (mut count, mut at) = (0, 0);
    while at < PARTS.len() {
        count += PARTS[at].actions.len();
        at += 1;
    }
    assert!(count <= 64, "an action is a bit of 64");
};

/// Is the action in a part?
pub fn is_told(action: &str) -> bool {
    actions().any(|(_, known)| known == action)
}

/// Every part, and every greater one, as they are told.
#[cfg(test)]
pub fn every() -> impl Iterator<Item = (&'static str, Object)> {
    let parts = PARTS.iter().map(|part| (part.verb, part.object));
    parts.chain(WHOLES.iter().map(|whole| (whole.verb, whole.object)))
}

/// Which of the actions of all parts are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held(u64);

impl Held {
    /// Of these actions.
    pub fn of(held: &Actions) -> Self {
        let bits = actions().filter(|(_, action)| held.hold(action));
        Self(bits.fold(0, |bits, (at, _)| bits | 1 << at))
    }

    /// Of a scope's action.
    pub fn of_scope(action: Action) -> Self {
        Self::of(&action.actions())
    }

    /// What both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What either holds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without what is of no use beside the rest: an index that its first document makes comes by whoever
    /// adds one.
    #[must_use]
    pub fn of_use(self) -> Self {
        if self.0 & ADDS == 0 { Self(self.0 & !FIRST) } else { self }
    }

    /// Is it nothing?
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// As it is told: what is done, and to what. Whoever reads documents sees what fields there are anyway,
    /// so that this is not told beside.
    pub fn told(self) -> Vec<(&'static str, Object)> {
        let mut at = 0;
        let held: Vec<bool> = PARTS
            .iter()
            .map(|part| {
                let bits = ((1 << part.actions.len()) - 1) << at;
                at += part.actions.len();
                self.0 & bits != 0
            })
            .collect();
        let is_implied = |part: &Part| {
            part.verb == "see" && part.object != Of("statistics") && (held[0] || held[1])
        };
        let mut told = Vec::new();
        for (at, part) in PARTS.iter().enumerate() {
            let whole = WHOLES.iter().find(|whole| whole.of.contains(&at));
            match whole.filter(|whole| held[whole.of.clone()].iter().all(|held| *held)) {
                Some(whole) if whole.of.start == at => told.push((whole.verb, whole.object)),
                Some(_) => {}
                None if held[at] && !is_implied(part) => told.push((part.verb, part.object)),
                None => {}
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privilege::Kind;

    fn left(privileges: &[&str], action: Action) -> Vec<(&'static str, Object)> {
        let privileges: Vec<String> = privileges.iter().map(|&name| name.to_owned()).collect();
        let owner = Held::of(&Actions::of(Kind::Index, &privileges));
        owner.and(Held::of_scope(action)).told()
    }

    #[test]
    fn what_remains_of_a_scope_is_told_by_its_parts() {
        use Action::{All, Create, Manage, Read, Write};
        let see = |things: &[&'static str]| -> Vec<(&str, Object)> {
            things.iter().map(|thing| ("see", Of(thing))).collect()
        };
        for (privilege, action, expected) in [
            ("read", Read, vec![("read", Documents)]),
            ("all", Read, vec![("read", Documents)]),
            ("view_index_metadata", Read, see(&["names", "aliases", "fields", "settings"])),
            ("monitor", Read, see(&["settings"])),
            ("indices:data/read/get", Read, vec![("read", Single)]),
            ("indices:data/read/search", Read, vec![("search", Documents)]),
            ("indices:data/read/scroll", Read, vec![]),
            ("write", Read, vec![]),
            ("create_doc", Create, vec![("add", Documents)]),
            ("create", Write, vec![("add", Documents), ("overwrite", Documents)]),
            ("index", Write, vec![("add", Documents), ("change", Documents)]),
            ("delete", Write, vec![("delete", Documents)]),
            ("create_index", Manage, vec![("create", Indices)]),
            ("delete_index", Manage, vec![("delete", Indices)]),
            ("maintenance", Manage, vec![("maintain", Indices)]),
            ("monitor", Manage, see(&["settings", "statistics"])),
            ("manage_follow_index", Manage, vec![("close", Indices)]),
            ("write", Manage, vec![]),
            // One half of a part each, which have nothing in common.
            ("indices:data/read/field_caps", Manage, vec![]),
            ("read", All, vec![("read", Documents)]),
        ] {
            assert_eq!(left(&[privilege], action), expected, "{privilege} {action:?}");
        }
        let whole = left(&["manage"], Manage);
        assert_eq!(whole[..3], [("create", Indices), ("change", Indices), ("delete", Indices)]);
        assert_eq!(whole, left(&["all"], Manage));
    }

    /// An action that no scope gives, or that is in a part and a helper too, would be a slip of the pen.
    #[test]
    fn each_action_of_a_part_is_given_by_some_scope_and_is_no_helper() {
        let all = Action::All.actions();
        for (_, action) in actions() {
            assert!(all.hold(action), "{action}");
            assert!(!HELPERS.contains(&action), "{action}");
        }
        for whole in &WHOLES {
            assert!(whole.of.end <= PARTS.len());
            assert!(whole.of.len() > 1);
        }
    }
}
