//! Stories of names.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::index::single::{One, Purpose, resolve_one};

/// Indices: a1, a2, b (hidden), .sys, shut (closed); aliases: both → a1, a2; one → a1 filtered and routed.
struct Sample;

impl Names for Sample {
    fn index(&self, name: &str) -> Option<Facts> {
        match name {
            "a1" | "a2" | ".sys" => Some(Facts { open: true, hidden: false, uuid: [0; 16] }),
            "b" => Some(Facts { open: true, hidden: true, uuid: [0; 16] }),
            "shut" => Some(Facts { open: false, hidden: false, uuid: [0; 16] }),
            _ => None,
        }
    }

    fn alias(&self, name: &str) -> Option<Vec<AliasTarget>> {
        let target = |index: &str, filter| AliasTarget {
            index: index.to_owned(),
            filter,
            search_routing: None,
            index_routing: None,
            is_write_index: None,
            is_hidden: false,
        };
        match name {
            "both" => Some(vec![target("a1", None), target("a2", None)]),
            "one" => {
                let one = target("a1", Some(Arc::new(Value::Null)));
                Some(vec![AliasTarget { search_routing: Some("1".into()), ..one }])
            }
            _ => None,
        }
    }

    fn indices<'n>(&'n self, prefix: &str) -> impl Iterator<Item = &'n str> {
        let all = [".sys", "a1", "a2", "b", "shut"];
        all.into_iter().filter(move |name| name.starts_with(prefix))
    }

    fn aliases<'n>(&'n self, prefix: &str) -> impl Iterator<Item = &'n str> {
        ["both", "one"].into_iter().filter(move |name| name.starts_with(prefix))
    }
}

/// Resolves without a pause.
fn resolve(
    names: &impl Names,
    expression: &str,
    call: Call,
    now_ms: i64,
    sees: impl Fn(&str) -> bool,
) -> Result<Vec<Resolved>> {
    at_once(super::resolve(names, expression, call, now_ms, sees, &async || {}))
}

/// The value of a future that waits for nothing.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

fn names(expression: &str, options: IndicesOptions) -> Result<Vec<String>> {
    resolve(&Sample, expression, Call::new(options), 0, |_| true)
        .map(|list| list.into_iter().map(|resolved| resolved.index).collect())
}

#[test]
fn lists_wildcards_and_exclusions() {
    let options = IndicesOptions::default();
    assert_eq!(names("a*", options), Ok(vec!["a1".into(), "a2".into()]));
    assert_eq!(names("a*,-a1", options), Ok(vec!["a2".into()]));
    assert_eq!(names("a2,a1,a2", options), Ok(vec!["a2".into(), "a1".into()]));
    assert_eq!(names("", options), Ok(vec![".sys".into(), "a1".into(), "a2".into()]));
    assert_eq!(names("_all", options), names("*", options));
    assert_eq!(names("both", options), Ok(vec!["a1".into(), "a2".into()]));
    assert_eq!(names("nope*", options), Ok(vec![]));
}

/// It walked through all aliases, of which there may be a hundred thousand; the longer way (two stars) still does.
#[test]
fn a_star_alone_means_what_it_did() {
    let all = ["a1", "a2", "b", ".sys", "shut", "both", "one"];
    for seen in 0..1u32 << all.len() {
        let sees = |name: &str| {
            all.iter().position(|it| *it == name).is_some_and(|at| seen >> at & 1 == 1)
        };
        for expand_hidden in [false, true] {
            for [short, long] in
                [["*", "**"], ["*,-one", "**,-one"], ["a*,-*", "a*,-**"], ["*,-a1", "**,-a1"]]
            {
                let options = IndicesOptions { expand_hidden, ..IndicesOptions::default() };
                let list = |expression| {
                    let mut list = resolve(&Sample, expression, Call::new(options), 0, sees)
                        .expect("resolves");
                    list.sort_by(|a, b| a.index.cmp(&b.index));
                    list
                };
                assert_eq!(list(short), list(long), "{short} {seen:b}");
            }
        }
    }
}

#[test]
fn a_hidden_index_hides_from_wildcards_only() {
    let options = IndicesOptions::default();
    assert_eq!(names("b", options), Ok(vec!["b".into()]));
    let hidden = IndicesOptions { expand_hidden: true, ..options };
    assert_eq!(names("b,*,-b*", options).map(|list| list.contains(&"b".into())), Ok(true));
    assert_eq!(names("b*", hidden), Ok(vec!["b".into(), "a1".into(), "a2".into()]));
}

#[test]
fn what_is_missing_is_named() {
    let options = IndicesOptions::default();
    let error = names("a1,gone", options).expect_err("gone is missing");
    assert_eq!((error.status, error.reason.as_str()), (404, "no such index [gone]"));
    let error = names("-a1", options).expect_err("an exclusion needs a wildcard before it");
    assert_eq!(error.reason, "no such index [-a1]");
    assert_eq!(
        names("a1,gone", IndicesOptions { ignore_unavailable: true, ..options }),
        Ok(vec!["a1".into()])
    );
    let strict = IndicesOptions { allow_no_indices: false, ..options };
    // Each wildcard must match, an exclusion too.
    for expression in ["nope*", "a1,nope*", "a*,nope*", "nope*,a*", "a*,-nope*"] {
        let error = names(expression, strict).expect_err("no match");
        assert_eq!(error.reason, "no such index [nope*]", "{expression}");
    }
    // Of what met nothing as a whole, a list is told as it was asked for.
    let lenient = IndicesOptions { ignore_unavailable: true, ..strict };
    for (expression, reason, id) in [
        ("gone", "no such index [gone]", json::json!("gone")),
        ("gone,lost", "no such index [null]", json::json!(["gone", "lost"])),
        ("gone,-a1", "no such index [null]", json::json!(["gone", "-a1"])),
        ("a*,-a*", "no such index [null]", json::json!(["a*", "-a*"])),
    ] {
        let error = names(expression, lenient).expect_err("nothing met");
        let told = |key: &str| error.meta.iter().find(|(known, _)| known == key);
        assert_eq!(error.reason, reason, "{expression}");
        assert_eq!(told("resource.id").map(|(_, told)| told), Some(&id), "{expression}");
        assert_eq!(told("index").is_some(), !expression.contains(','), "{expression}");
    }
    let none = IndicesOptions { expand_open: false, expand_closed: false, ..strict };
    for expression in ["_all", ""] {
        let error = names(expression, none).expect_err("nothing met");
        assert_eq!(error.reason, "no such index [_all] and no indices exist", "{expression}");
    }
    assert_eq!(
        names("x:y", options).expect_err("no remote").kind,
        "no_such_remote_cluster_exception"
    );
    assert_eq!(names("_foo", options).expect_err("bad name").kind, "invalid_index_name_exception");
}

#[test]
fn a_closed_index_is_refused_by_name_and_skipped_by_wildcard() {
    let options = IndicesOptions::default();
    assert_eq!(names("shut", options).expect_err("closed").kind, "index_closed_exception");
    assert_eq!(names("s*", options), Ok(vec![]));
    let closed_too = IndicesOptions { expand_closed: true, ..options };
    assert_eq!(names("s*", closed_too).expect_err("asked for").kind, "index_closed_exception");
    let passed = IndicesOptions { ignore_unavailable: true, ..closed_too };
    assert_eq!(names("s*", passed), Ok(vec![]));
    let shown = Call { forbid_closed: false, ..Call::new(closed_too) };
    let list = resolve(&Sample, "s*", shown, 0, |_| true).expect("resolves");
    assert_eq!(list[0].index, "shut");
}

#[test]
fn what_is_excluded_may_be_closed() {
    let options = IndicesOptions { expand_closed: true, ..IndicesOptions::default() };
    assert!(names("*", options).is_err());
    for expression in ["*,-shut", "*,-s*", "a*,s*,-sh*"] {
        let open = names(expression, options).expect("the closed one is excluded");
        assert!(open.contains(&"a1".into()) && !open.contains(&"shut".into()), "{expression}");
    }
}

#[test]
fn an_exclusion_takes_names_away_or_what_its_wildcard_meets() {
    for (expression, left) in [
        ("a1,a*,-<a2>", vec!["a1"]),
        // An alias by its name: what else led to its indices stays.
        ("a*,-both", vec!["a1", "a2"]),
        ("bot*,-both", vec!["a1", "a2"]),
        ("a1*,both,-both", vec!["a1"]),
        // By a wildcard: the indices behind what it meets.
        ("*,-bot*", vec![".sys"]),
        ("a*,-on*", vec!["a2"]),
        // A name that was written out goes by that name alone.
        ("both,a*,-a1", vec!["a1", "a2"]),
        ("one,a*,-a*", vec!["a1"]),
        ("a*,a1,-a1", vec!["a2"]),
        ("a*,-a1,a1", vec!["a2", "a1"]),
    ] {
        let found = names(expression, IndicesOptions::default()).expect("resolves");
        assert_eq!(found, left, "{expression}");
    }
}

#[test]
fn an_excluded_alias_takes_its_filter_along() {
    let call = Call::new(IndicesOptions::default());
    let list = resolve(&Sample, "on*,-one", call, 0, |_| true).expect("resolves");
    assert!(list[0].filters.is_empty() && list[0].via.is_empty());
    // Whoever sees the alias alone is left with nothing, not with the whole index.
    let list = resolve(&Sample, "on*,-one", call, 0, |name| name == "one").expect("resolves");
    assert_eq!(list, []);
}

#[test]
fn an_alias_leads_by_its_routing_only_where_it_is_named() {
    let call = Call::new(IndicesOptions::default());
    let routing = |expression: &str| {
        let list = resolve(&Sample, expression, call, 0, |_| true).expect("resolves");
        (list[0].routing.clone(), list[0].filters.clone())
    };
    assert_eq!(routing("one"), (vec!["1".to_owned()], vec![Value::Null]));
    assert_eq!(routing("on*"), (vec![], vec![Value::Null]));
    assert_eq!(routing("one,on*"), (vec![], vec![Value::Null, Value::Null]));
}

#[test]
fn names_of_our_own_and_empty_ones_are_refused_whatever_is_ignored() {
    let options = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::default() };
    for expression in ["_foo", "a1,_all", "_all,a1", "_f*", "a1,_f*"] {
        let error = names(expression, options).expect_err(expression);
        assert_eq!((error.status, error.kind.as_ref()), (400, "invalid_index_name_exception"));
    }
    for expression in [",a1", "a1,,a2"] {
        let error = names(expression, options).expect_err(expression);
        assert_eq!((error.status, error.reason.as_str()), (404, "no such index []"));
    }
    assert_eq!(names("a1,,", options), Ok(vec!["a1".into()]));
    assert_eq!(names(",", options), names("", options));
}

#[test]
fn a_way_without_filter_shows_everything() {
    let call = Call::new(IndicesOptions::default());
    let by_alias = resolve(&Sample, "one", call, 0, |_| true).expect("resolves");
    assert_eq!(by_alias[0].filters, [Value::Null]);
    let both_ways = resolve(&Sample, "one,a1", call, 0, |_| true).expect("resolves");
    assert!(both_ways[0].filters.is_empty());
}

#[test]
fn wildcards_name_only_what_the_caller_may_see() {
    let call = Call::new(IndicesOptions::default());
    let list = resolve(&Sample, "a*", call, 0, |name| name == "a2").expect("resolves");
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].index, "a2");
}

#[test]
fn writes_go_to_one_index() {
    let write = |name| resolve_one(&Sample, name, 0, Purpose::Write);
    let one =
        One::Index { name: "a1".into(), routing: None, via: Some("one".into()), is_stream: false };
    assert_eq!(write("one"), Ok(one));
    assert!(
        write("both").expect_err("two indices").reason.starts_with("no write index is defined")
    );
    assert_eq!(write("new"), Ok(One::Missing { name: "new".into() }));
    let read = resolve_one(&Sample, "both", 0, Purpose::Read).expect_err("two indices");
    assert!(read.reason.contains("more than one index associated with it [a1, a2]"));
}

#[test]
fn stars_match_as_a_plain_search_would() {
    for (pattern, name, expected) in [
        ("*", "", true),
        ("a*b*c", "aXbYc", true),
        ("a*b*c", "aXbY", false),
        ("*a", "ba", true),
        ("*a*a", "a", false),
        ("a", "ab", false),
        ("**", "x", true),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}

/// As many indices as asked for, and as many aliases of the first. It counts how often it is asked.
struct Many {
    indices: BTreeSet<String>,
    aliases: BTreeSet<String>,
    asked: Cell<usize>,
}

impl Many {
    fn new(many: usize) -> Self {
        let named = |first: char| (0..many).map(|at| format!("{first}{at:05}")).collect();
        Self { indices: named('i'), aliases: named('a'), asked: Cell::default() }
    }

    fn beginning<'n>(
        &'n self,
        all: &'n BTreeSet<String>,
        prefix: &str,
    ) -> impl Iterator<Item = &'n str> {
        let names = all.range(prefix.to_owned()..).map(String::as_str);
        names.take_while(move |name| name.starts_with(prefix)).inspect(|_| self.count())
    }

    fn count(&self) {
        self.asked.set(self.asked.get() + 1);
    }
}

impl Names for Many {
    fn index(&self, name: &str) -> Option<Facts> {
        let facts = Facts { open: true, hidden: false, uuid: [0; 16] };
        self.indices.contains(name).then_some(facts)
    }

    fn alias(&self, name: &str) -> Option<Vec<AliasTarget>> {
        let target = AliasTarget {
            index: "i00000".to_owned(),
            filter: None,
            search_routing: None,
            index_routing: None,
            is_write_index: None,
            is_hidden: false,
        };
        self.aliases.contains(name).then(|| vec![target])
    }

    fn indices<'n>(&'n self, prefix: &str) -> impl Iterator<Item = &'n str> {
        self.beginning(&self.indices, prefix)
    }

    fn aliases<'n>(&'n self, prefix: &str) -> impl Iterator<Item = &'n str> {
        self.beginning(&self.aliases, prefix)
    }
}

/// A list of `many` names or patterns, each made of its number.
fn list(many: usize, name: impl Fn(usize) -> String) -> String {
    (0..many).map(name).collect::<Vec<_>>().join(",")
}

/// A hundred thousand aliases of one index took a core 44 s: each was looked for among those before. A line of
/// patterns, each of which met all names anew, took as long with a fifth of them.
#[test]
fn the_work_of_an_expression_is_bounded() {
    let call = Call::new(IndicesOptions::default());
    let resolved =
        |many: usize, expression: &str| resolve(&Many::new(many), expression, call, 0, |_| true);
    let one = resolved(50_000, "a*").expect("one pattern is always read");
    assert_eq!((one.len(), one[0].via.len()), (1, 50_000));
    // What is said twice is read once.
    let again = format!("{}{}", "*,".repeat(1_000), "-*,".repeat(1_000));
    assert_eq!(resolved(2_000, &again), Ok(Vec::new()));
    assert!(resolved(1_000, &list(1_000, |at| format!("*x{at}*"))).is_ok());
    for sign in ["", "-"] {
        let many = list(1_000, |at| format!("{sign}*x{at}*"));
        let error = resolved(20_000, &format!("*,{many}")).expect_err("too much");
        assert!(error.reason.starts_with("the index expression is too costly"), "{}", error.reason);
    }
}

/// Each pattern was held against all names, and each exclusion looked through all that was met.
#[test]
fn a_pattern_looks_at_what_begins_as_it_does_and_exclusions_go_together() {
    let call = Call::new(IndicesOptions::default());
    let many = Many::new(20_000);
    let found = resolve(&many, &list(1_000, |at| format!("i{at:05}*")), call, 0, |_| true);
    assert_eq!(found.expect("it is no work").len(), 1_000);
    assert_eq!(many.asked.get(), 1_000);
    for sign in ["", "*"] {
        let each = list(4_000, |at| format!("-i{at:05}{sign}"));
        let found = resolve(&many, &format!("i*,{each}"), call, 0, |_| true);
        let found = found.expect("it is no work");
        assert_eq!((found.len(), found[0].index.as_str()), (16_000, "i04000"));
    }
}

/// One expression held a core for 100 ms.
#[test]
fn others_have_their_turn_while_an_expression_is_read() {
    let call = Call::new(IndicesOptions::default());
    for expression in [
        "*".to_owned(),
        "a*".to_owned(),
        format!("*,{}", list(40, |at| format!("-*{at}"))),
        format!("*,{}", list(7_000, |at| format!("-a{at:05}"))),
        list(10, |at| format!("*,-i*{at}")),
        list(9_000, |at| format!("a{at:05}")),
    ] {
        let (many, asked, longest) = (Many::new(20_000), Cell::new(0), Cell::new(0));
        let pause = async || {
            longest.set(longest.get().max(asked.replace(0)));
            longest.set(longest.get().max(many.asked.replace(0)));
        };
        let sees = |_: &str| {
            asked.set(asked.get() + 1);
            true
        };
        let found = at_once(super::resolve(&many, &expression, call, 0, sees, &pause));
        let which = &expression[..expression.len().min(20)];
        assert!(found.is_ok(), "{which}");
        let left = asked.get().max(many.asked.get());
        assert!(longest.get().max(left) <= 64, "{which}: {}", longest.get());
    }
}

/// A pattern that met an alias found what is behind it for whoever may see the index, not the alias; and an alias
/// that was written out beside its index was not asked for.
#[test]
fn what_led_to_an_index_is_what_the_caller_may_ask_for() {
    let by = |expression: &str, seen: &[&str]| {
        let call = Call::new(IndicesOptions::default());
        let found = resolve(&Sample, expression, call, 0, |name| seen.contains(&name));
        let found = found.expect("resolves").into_iter();
        found.map(|one| format!("{} {}", one.index, one.via.join("+"))).collect::<Vec<_>>()
    };
    assert_eq!(by("on*", &["a1"]), Vec::<String>::new());
    assert_eq!(by("on*", &["one"]), ["a1 one"]);
    assert_eq!(by("*", &["both"]), ["a1 both", "a2 both"]);
    assert_eq!(by("*", &["a1", "both"]), ["a1 ", "a2 both"]);
    assert_eq!(by("*1,o*", &["a1", "one"]), ["a1 "]);
    assert_eq!(by("one,a1", &["a1", "one"]), ["a1 one+a1"]);
    assert_eq!(by("a1,both,o*", &["a1", "both", "one"]), ["a1 both+a1", "a2 both"]);
    assert_eq!(by("both,one", &["both", "one"]), ["a1 both+one", "a2 both"]);
    // What may not be asked for takes nothing away.
    assert_eq!(by("*,-on*,-one,-bot*", &["a1"]), ["a1 "]);
    assert_eq!(by("on*,-a*,-a1", &["one"]), ["a1 one"]);
    assert_eq!(by("*,-on*", &["a1", "one"]), Vec::<String>::new());
    let call = Call::new(IndicesOptions { ignore_unavailable: true, ..IndicesOptions::default() });
    let left = resolve(&Sample, "one,a2,none", call, 0, |name| name == "a2").expect("resolves");
    assert_eq!(left.iter().map(|one| &*one.index).collect::<Vec<_>>(), ["a2"]);
}

/// Patterns that meet the same names filled the memory with them.
#[test]
fn what_several_patterns_meet_is_kept_once() {
    let call = Call::new(IndicesOptions::default());
    let list = resolve(&Sample, "on*,o*,-x,*e,o*e", call, 0, |_| true).expect("resolves");
    let one = list.iter().find(|one| one.index == "a1").expect("it is met");
    assert_eq!(one.filters, [Value::Null], "one filter of one alias");
    assert_eq!(one.via, ["one"]);
}

#[test]
fn what_is_said_again_after_an_exclusion_counts_again() {
    let options = IndicesOptions::default();
    assert_eq!(names("a*,-a1,a*", options), Ok(vec!["a2".into(), "a1".into()]));
    assert_eq!(names("a*,-a1,a*,-a1", options), Ok(vec!["a2".into()]));
}
