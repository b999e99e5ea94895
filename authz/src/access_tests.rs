//! Stories of what roles, keys and tokens open.

use super::*;
use crate::record::builtin;
use crate::record::role::{Descriptor, IndexEntry};

fn entry(names: &str, query: Option<&str>, fields: Option<&[&str]>) -> IndexEntry {
    IndexEntry {
        query: query.map(str::to_owned),
        grant: fields.map(|fields| fields.iter().map(|&field| field.to_owned()).collect()),
        ..IndexEntry::plain(&[names], &["read"])
    }
}

fn layer(indices: Vec<IndexEntry>) -> Layer {
    let descriptor =
        Descriptor { cluster: vec!["monitor".into()], indices, ..Descriptor::default() };
    Layer { roles: Arc::from([Arc::new(Role::new("r", descriptor))]), strict: false }
}

fn access(layers: Vec<Layer>) -> Access {
    Access::new("user [ann]".into(), layers, Arc::default()).with_roles(&["r".into()])
}

const SEARCH: &str = "indices:data/read/search";

#[test]
fn superuser_may_do_everything_and_sees_everything() {
    let role = builtin::role("superuser").expect("built in");
    let layer = Layer { roles: Arc::from([role]), strict: false };
    let access = Access::new("user [elastic]".into(), vec![layer], Arc::default());
    assert_eq!(access.cluster("cluster:admin/settings/update"), Ok(()));
    let seen = access.index("indices:data/write/bulk", ".anything").expect("granted");
    assert_eq!(seen, Limits::default());
    assert!(access.has_index("all", &Wanted::new("create"), false, &Effort::default()));
    assert!(access.own_keys() && access.run_as("ann"));
}

#[test]
fn a_request_that_means_restricted_indices_is_answered_for_those_that_it_names() {
    let access = access(vec![layer(vec![entry("logs-*", None, None), entry(".*", None, None)])]);
    let effort = Effort::default();
    for (pattern, has) in [
        ("logs-1", true),
        ("logs-*", true),
        (".kibana*", true),
        (".s*", false),
        (".security-7", false),
        (".security*", false),
        (".*", false),
        ("other", false),
        ("/logs-[a-z]+/", true),
        (r"logs\-1", true),
        ("logs-?", true),
        ("/[.]sec.*/", false),
    ] {
        assert_eq!(
            access.has_index("read", &Wanted::new(pattern), true, &effort),
            has,
            "{pattern}"
        );
    }
    // Without the flag patterns mean none of them.
    for (pattern, has) in
        [("logs-*", true), (".*", true), ("/[.]security.*/", false), (r"\.security*", false)]
    {
        assert_eq!(
            access.has_index("read", &Wanted::new(pattern), false, &effort),
            has,
            "{pattern}"
        );
    }
}

#[test]
fn what_no_role_grants_is_denied_in_elasticsearchs_words() {
    let access = access(vec![layer(vec![entry("logs-*", None, None)])]);
    assert!(access.cluster("cluster:monitor/health").is_ok());
    let denied = access.index("indices:data/write/bulk[s]", "logs-1").expect_err("read only");
    assert_eq!(
        denied.to_string(),
        "action [indices:data/write/bulk[s]] is unauthorized for user [ann] with effective \
         roles [r] on indices [logs-1], this action is granted by the index privileges \
         [create_doc,create,delete,index,write,all]"
    );
    assert!(access.index(SEARCH, "other").is_err());
    let denied = access.cluster("cluster:admin/reroute").expect_err("not granted");
    assert_eq!(
        denied.to_string(),
        "action [cluster:admin/reroute] is unauthorized for user [ann] with effective roles \
         [r], this action is granted by the cluster privileges [manage,all]"
    );
}

#[test]
fn roles_that_do_not_exist_are_told() {
    let access = Access::new("user [bob]".into(), vec![layer(vec![])], Arc::default())
        .with_roles(&["r".into(), "gone".into()]);
    let denied = access.cluster("cluster:admin/reroute").expect_err("not granted").to_string();
    assert!(denied.contains("[r] (assigned roles [gone] were not found)"), "{denied}");
}

#[test]
fn limits_of_several_grants_are_alternatives() {
    let (one, other) = (r#"{"term":{"a":1}}"#, r#"{"term":{"a":2}}"#);
    let both = access(vec![layer(vec![
        entry("i", Some(one), Some(&["b", "a"])),
        entry("*", Some(other), Some(&["a", "c*"])),
    ])]);
    let seen = both.index(SEARCH, "i").expect("granted");
    let expected = json!({"bool": {"should": [{"term": {"a": 1}}, {"term": {"a": 2}}],
        "minimum_should_match": 1}});
    assert_eq!(seen.filter.as_deref(), Some(&expected));
    let fields = seen.fields.as_ref().expect("limited");
    assert!(["a", "b", "cd"].iter().all(|path| fields.permits(path)));
    assert!(!fields.permits("d"));
    assert_eq!(seen.key, both.index("indices:data/read/get", "i").expect("granted").key);
    let narrower = both.index(SEARCH, "j").expect("granted");
    assert_ne!(seen.key, narrower.key);
    assert_ne!(narrower.key, 0);
    let lifted =
        access(vec![layer(vec![entry("i", Some(one), Some(&["a"])), entry("*", None, None)])]);
    let seen = lifted.index(SEARCH, "i").expect("granted");
    assert_eq!(seen, Limits::default(), "a grant without limits lifts them");
}

#[test]
fn limits_of_layers_add_up() {
    let (one, other) = (r#"{"term":{"a":1}}"#, r#"{"term":{"a":2}}"#);
    let both = access(vec![
        layer(vec![entry("i", Some(one), Some(&["a", "b"]))]),
        layer(vec![entry("*", Some(other), Some(&["b", "c"]))]),
    ]);
    let seen = both.index(SEARCH, "i").expect("granted");
    let expected = json!({"bool": {"filter": [{"term": {"a": 1}}, {"term": {"a": 2}}]}});
    assert_eq!(seen.filter.as_deref(), Some(&expected));
    let fields = seen.fields.expect("limited");
    assert!(fields.permits("b"));
    assert!(!fields.permits("a"));
    assert!(!fields.permits("c"));
    assert!(both.index(SEARCH, "j").is_err(), "one layer is not enough");
}

/// Two grants with documents and fields of their own, in one strict layer.
fn two_kinds() -> Limits {
    let mut layer = layer(vec![
        entry("i", Some(r#"{"term":{"a":1}}"#), Some(&["a", "b"])),
        entry("i", Some(r#"{"term":{"a":2}}"#), Some(&["b", "c"])),
    ]);
    layer.strict = true;
    access(vec![layer]).index(SEARCH, "i").expect("granted")
}

#[test]
fn a_strict_layer_mixes_no_fields_of_different_documents() {
    let fields = two_kinds().fields.expect("limited");
    assert!(fields.permits("b"));
    assert!(!fields.permits("a"));
    assert!(!fields.permits("c"));
}

#[test]
fn each_grant_of_a_strict_layer_shows_its_own_fields_of_its_own_documents() {
    let kinds = two_kinds().kinds;
    let (one, other) = (json!({"term": {"a": 1}}), json!({"term": {"a": 2}}));
    let seen = |own: Vec<Value>, not: Vec<Value>| {
        let documents = json!({"bool": {"filter": own, "must_not": not}});
        let kind = kinds.iter().find(|kind| kind.filter.as_deref() == Some(&documents));
        let fields = kind.expect("such documents").fields.clone().expect("limited");
        ["a", "b", "c"].map(|path| fields.permits(path))
    };
    assert_eq!(seen(vec![one.clone()], vec![other.clone()]), [true, true, false]);
    assert_eq!(seen(vec![other.clone()], vec![one.clone()]), [false, true, true]);
    assert_eq!(seen(vec![one, other], vec![]), [true; 3], "what passes both");
    assert_eq!(kinds.len(), 3);
}

/// A role that names an alias of an index that no role names; the scope holds some names.
#[test]
fn an_alias_that_a_role_writes_out_leads_a_token_to_its_index() {
    let by = |role: &str, query: Option<&str>, scope: &str| {
        let mut granted = layer(vec![entry(scope, None, None)]);
        granted.strict = true;
        let access = access(vec![layer(vec![entry(role, query, None)]), granted]);
        assert!(access.index(SEARCH, "sales-2026").is_err(), "by its own name");
        assert!(!access.sees(SEARCH, "sales-2026"));
        let found = access.index_by_alias(SEARCH, "sales-2026", "sales", &|_| None);
        let is_seen = access.sees_by_alias(SEARCH, "sales-2026", "sales");
        assert_eq!(is_seen, found.is_ok(), "the short answer is the long one's");
        found
    };
    let mine = r#"{"term":{"a":1}}"#;
    let seen = by("sales", Some(mine), "sales*").expect("granted");
    assert_eq!(seen.filter.as_deref(), Some(&json!({"term": {"a": 1}})), "the role's documents");
    let denied = by("sales", None, "sales").expect_err("the scope holds no index");
    assert_eq!(denied.indices, ["sales"], "what is behind the alias is not told");
    assert!(by("sales", None, "sales-*").is_err(), "the scope does not hold the alias");
    assert!(by("sale?", None, "sales*").is_err(), "no role writes the alias");
    assert!(by("other", None, "sales*").is_err());
}

/// A role on an index opened each of its aliases, and limited what a role on the alias showed in full.
#[test]
fn roles_open_the_names_alone_that_they_hold() {
    let mine = r#"{"term":{"a":1}}"#;
    let by = |roles: &[(&str, Option<&str>)]| {
        let entries = roles.iter().map(|(name, query)| entry(name, *query, None)).collect();
        let access = access(vec![layer(entries)]);
        let found = access.index_by_alias(SEARCH, "sales-2026", "year", &|_| None);
        assert_eq!(access.sees_by_alias(SEARCH, "sales-2026", "year"), found.is_ok());
        found.map(|seen| seen.filter.as_deref().cloned())
    };
    let denied = by(&[("sales-*", None)]).expect_err("the alias is not held");
    assert_eq!(denied.indices, ["year"], "what is behind the alias is not told");
    assert_eq!(by(&[("year", None), ("sales-*", Some(mine))]), Ok(None));
    assert_eq!(by(&[("ye*", Some(mine)), ("sales-*", None)]), Ok(Some(json!({"term": {"a": 1}}))));
    // Each layer of a key holds it.
    let both = |one: &str, other: &str| {
        let layers = [one, other].map(|name| layer(vec![entry(name, None, None)]));
        access(layers.into()).index_by_alias(SEARCH, "sales-2026", "year", &|_| None).is_ok()
    };
    assert!(both("year", "y*"));
    assert!(!both("year", "sales-2026"));
    // A data stream is a name, too: a right on what is behind it is none on the stream.
    let backing = Name { text: ".ds-logs-1", stream: Some("logs") };
    let held = |name: &str| {
        let access = access(vec![layer(vec![entry(name, None, None)])]);
        let by_name = access.index_by_alias(SEARCH, backing, "logs", &|_| None).is_ok();
        (by_name, access.index(SEARCH, backing).is_ok())
    };
    assert_eq!(held("logs"), (true, true));
    assert_eq!(held(".ds-logs-*"), (false, true));
}

/// What a token shows through an alias lies in what its owner's roles show by the alias and by the index.
#[test]
fn a_token_sees_through_an_alias_what_both_names_show() {
    let (one, other) = (r#"{"term":{"a":1}}"#, r#"{"term":{"a":2}}"#);
    let by = |roles: &[(&str, Option<&str>)]| {
        let entries = roles.iter().map(|(name, query)| entry(name, *query, None)).collect();
        let mut granted = layer(vec![entry("*", None, None)]);
        granted.strict = true;
        let access = access(vec![layer(entries), granted]);
        let found = access.index_by_alias(SEARCH, "sales-2026", "year", &|_| None);
        assert_eq!(access.sees_by_alias(SEARCH, "sales-2026", "year"), found.is_ok());
        found.map(|seen| seen.filter.as_deref().cloned())
    };
    assert!(by(&[("sales-*", None)]).is_err(), "the owner is not let in by the alias");
    assert!(by(&[("y*", None)]).is_err(), "a pattern that happens to fit");
    let both = json!({"bool": {"filter": [{"term": {"a": 1}}, {"term": {"a": 2}}]}});
    assert_eq!(by(&[("y*", Some(one)), ("sales-*", Some(other))]), Ok(Some(both)));
    assert_eq!(by(&[("y*", None), ("sales-*", Some(other))]), Ok(Some(json!({"term": {"a": 2}}))));
    assert_eq!(by(&[("year", None), ("sales-*", Some(other))]), Ok(None), "it is written out");
}

#[test]
fn a_grant_without_any_limit_lifts_those_of_a_strict_layer() {
    let mut layer =
        layer(vec![entry("i", Some(r#"{"term":{"a":1}}"#), Some(&["a"])), entry("i", None, None)]);
    layer.strict = true;
    assert_eq!(access(vec![layer]).index(SEARCH, "i"), Ok(Limits::default()));
}

#[test]
fn a_grant_of_all_documents_leaves_no_kind_without_it() {
    let mut layer =
        layer(vec![entry("i", Some(r#"{"term":{"a":1}}"#), None), entry("i", None, Some(&["b"]))]);
    layer.strict = true;
    let kinds = access(vec![layer]).index(SEARCH, "i").expect("granted").kinds;
    let fields: Vec<bool> = kinds.iter().map(|kind| kind.fields.is_some()).collect();
    assert_eq!(fields, [true, false], "others by `b` alone, its own with all fields");
}
