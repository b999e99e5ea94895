//! Random roles, keys, grants, documents and questions, against the plainest judge there is.
//!
//! The judge reads descriptors as they were written, matches names by trying every way, and asks of
//! each document and field by itself; the access under test gives one filter and one set of fields.

use std::sync::Arc;

use authz::access::Layer;
use authz::oauth::scope::{self, Scope};
use authz::record::role::{Descriptor, IndexEntry, Role};
use authz::{Access, Name};
use json::Value;
use proptest::prelude::*;

/// Names, and the data streams of which they are indices: what an index is called tells nothing of that.
const INDICES: &[(&str, Option<&str>)] = &[
    ("a", None),
    ("ab", None),
    ("b", None),
    ("ba", None),
    (".hidden", None),
    (".security-7", None),
    (".ds-a-2026.01.01-000001", Some("a")),
    (".ds-a-2026.01.01-000002", None),
    ("xb", Some("a")),
];
const ACTIONS: &[&str] = &[
    "indices:data/read/search",
    "indices:data/read/get",
    "indices:data/write/index:op_type/create",
    "indices:data/write/index:op_type/index",
    "indices:data/write/delete",
    "indices:admin/delete",
    "indices:admin/mappings/get",
];
const FIELDS: &[&str] = &["x", "x.raw", "y", "y.z", "yy", "_id"];

/// A document: the value of its one field that filters ask for.
type Doc = u8;

/// Which of [`ACTIONS`] a privilege grants, written down by hand.
fn grants(privilege: &str, action: &str) -> bool {
    let wanted: &[usize] = match privilege {
        "all" => &[0, 1, 2, 3, 4, 5, 6],
        "read" => &[0, 1],
        "write" => &[2, 3, 4],
        "index" => &[2, 3],
        "create_doc" => &[2],
        "delete" => &[4],
        "manage" => &[5, 6],
        "view_index_metadata" => &[6],
        _ => &[],
    };
    wanted.iter().any(|at| ACTIONS[*at] == action)
}

fn fits(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=text.len()).any(|skip| fits(rest, &text[skip..])),
        (Some((a, rest)), Some((b, more))) => a == b && fits(rest, more),
        _ => false,
    }
}

fn names(entry: &IndexEntry, (index, stream): (&str, Option<&str>)) -> bool {
    if index.starts_with(".security") && !entry.allow_restricted_indices {
        return false;
    }
    [Some(index), stream]
        .into_iter()
        .flatten()
        .any(|name| entry.names.iter().any(|pattern| fits(pattern.as_bytes(), name.as_bytes())))
}

fn sees_field(entry: &IndexEntry, field: &str) -> bool {
    if field.starts_with('_') {
        return true;
    }
    let any = |list: &Option<Vec<String>>, path: &str| {
        list.iter().flatten().any(|pattern| fits(pattern.as_bytes(), path.as_bytes()))
    };
    let granted = entry.grant.is_none() || any(&entry.grant, field);
    let mut above = vec![field];
    above.extend(field.match_indices('.').map(|(at, _)| &field[..at]));
    granted && !above.iter().any(|path| any(&entry.except, path))
}

fn passes(entry: &IndexEntry, doc: Doc) -> bool {
    let Some(query) = &entry.query else { return true };
    holds(&json::parse(query.as_bytes()).expect("made below"), doc)
}

/// Does a document pass a filter? Only what the test and the access make is known.
fn holds(filter: &Value, doc: Doc) -> bool {
    if let Some(wanted) = filter.at(&["term", "v"]) {
        return wanted.as_u64() == Some(u64::from(doc));
    }
    let list = |key: &str| filter.at(&["bool", key]).and_then(Value::as_array);
    let all = list("filter").is_none_or(|all| all.iter().all(|one| holds(one, doc)));
    let any = list("should").is_none_or(|any| any.iter().any(|one| holds(one, doc)));
    assert!(filter.get("bool").is_some(), "an unknown filter: {filter:?}");
    all && any
}

fn entry() -> impl Strategy<Value = IndexEntry> {
    let pattern = prop_oneof![Just("*"), Just("a*"), Just("a"), Just("*b"), Just("b*"), Just(".*")];
    let privilege = prop_oneof![
        Just("all"),
        Just("read"),
        Just("write"),
        Just("index"),
        Just("create_doc"),
        Just("delete"),
        Just("manage"),
        Just("view_index_metadata"),
        Just("none"),
    ];
    let fields = || {
        let field =
            prop_oneof![Just("*"), Just("x"), Just("x.*"), Just("y*"), Just("y"), Just("yy")];
        prop::option::of(prop::collection::vec(field.prop_map(str::to_owned), 0..3))
    };
    (
        prop::collection::vec(pattern.prop_map(str::to_owned), 1..3),
        prop::collection::vec(privilege.prop_map(str::to_owned), 1..3),
        fields(),
        fields(),
        prop::option::of(0u8..3),
        any::<bool>(),
    )
        .prop_map(|(names, privileges, grant, except, value, restricted)| IndexEntry {
            names,
            privileges,
            grant,
            except,
            query: value.map(|value| format!("{{\"term\":{{\"v\":{value}}}}}")),
            allow_restricted_indices: restricted,
        })
}

fn layer() -> impl Strategy<Value = Vec<Vec<IndexEntry>>> {
    prop::collection::vec(prop::collection::vec(entry(), 0..4), 0..3)
}

fn made(roles: &[Vec<IndexEntry>]) -> Layer {
    let roles = roles.iter().map(|indices| {
        let indices = indices.clone();
        Arc::new(Role::new("r", Descriptor { indices, ..Descriptor::default() }))
    });
    Layer { roles: roles.collect(), strict: false }
}

/// Entries of a layer that grant an action on an index.
fn granting<'e>(
    roles: &'e [Vec<IndexEntry>],
    action: &'e str,
    index: (&'e str, Option<&'e str>),
) -> impl Iterator<Item = &'e IndexEntry> {
    roles.iter().flatten().filter(move |entry| {
        names(entry, index) && entry.privileges.iter().any(|privilege| grants(privilege, action))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    /// Users have one layer, keys two, tokens of the OAuth half three.
    #[test]
    fn access_says_what_the_judge_says(layers in prop::collection::vec(layer(), 1..4)) {
        let access = Access::new(
            "user [ann]".into(),
            layers.iter().map(|roles| made(roles)).collect(),
            Arc::default(),
        );
        for &(index, stream) in INDICES {
            let named = Name { text: index, stream };
            let index = (index, stream);
            for action in ACTIONS {
                let granted = layers.iter().all(|roles| granting(roles, action, index).next().is_some());
                let found = access.index(action, named);
                prop_assert_eq!(found.is_ok(), granted, "{} on {:?}", action, index);
                let Ok(limits) = found else { continue };
                for doc in 0..3 {
                    let expected = layers
                        .iter()
                        .all(|roles| granting(roles, action, index).any(|entry| passes(entry, doc)));
                    let seen = limits.filter.as_ref().is_none_or(|filter| holds(filter, doc));
                    prop_assert_eq!(seen, expected, "{} on {:?}: document {}", action, index, doc);
                }
                for field in FIELDS {
                    let expected = layers.iter().all(|roles| {
                        granting(roles, action, index).any(|entry| sees_field(entry, field))
                    });
                    let seen = limits.fields.as_ref().is_none_or(|fields| fields.permits(field));
                    prop_assert_eq!(seen, expected, "{} on {:?}: field {}", action, index, field);
                }
            }
        }
    }

    /// A scope that holds another grants whatever the other grants, on every index and action.
    #[test]
    fn what_a_scope_holds_it_grants(
        own in "index:(\\*|a\\*|a|\\*b|ab|b\\*a):(read|create|write|manage|all)",
        wanted in "index:(\\*|a\\*|a|\\*b|ab|b\\*a):(read|create|write|manage|all)",
    ) {
        let own = Scope::parse(&own).expect("legal");
        let wanted = Scope::parse(&wanted).expect("legal");
        let access = |scope: &Scope| {
            let roles = Arc::from([Arc::new(scope::role(std::slice::from_ref(scope)))]);
            Access::new("client".into(), vec![Layer { roles, strict: true }], Arc::default())
        };
        let (wide, narrow) = (access(&own), access(&wanted));
        if own.holds(&wanted) {
            for &(text, stream) in INDICES {
                let index = Name { text, stream };
                for action in ACTIONS {
                    let granted = narrow.index(action, index).is_ok();
                    prop_assert!(!granted || wide.index(action, index).is_ok(), "{action} on {index:?}");
                }
            }
        }
        for index in [".hidden", ".security-7"] {
            prop_assert!(wide.index("indices:data/read/get", index).is_err(), "{}", index);
        }
    }
}
