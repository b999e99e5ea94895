//! What `_resolve/index` says of an expression: read as by every other call that takes one.

use json::Value;

use crate::place::{Client, at, with_node};

/// The names in one list of an answer.
fn names<'a>(found: &'a Value, kind: &str) -> Vec<&'a str> {
    let list = found.get(kind).and_then(Value::as_array).expect("a list");
    list.iter().map(|one| one.get("name").and_then(Value::as_str).expect("a name")).collect()
}

async fn resolved(client: &mut Client, asked: &str) -> Value {
    client.good("GET", &format!("/_resolve/index/{asked}"), "").await
}

fn missing(name: &str) -> String {
    format!("404 index_not_found_exception: no such index [{name}]")
}

async fn stage(client: &mut Client) {
    for (name, body) in [
        ("a1", r#"{"aliases":{"both":{}}}"#),
        ("a2", r#"{"aliases":{"both":{}}}"#),
        ("shut", r#"{"aliases":{"old":{}}}"#),
        (".hid", r#"{"settings":{"index.hidden":true}}"#),
        ("veiled", r#"{"settings":{"index.hidden":true}}"#),
        ("%3Cd-%7Bnow%7Byyyy%7D%7D%3E", ""),
    ] {
        client.good("PUT", &format!("/{name}"), body).await;
    }
    client.good("POST", "/shut/_close", "").await;
}

/// The date in an exclusion was not read, so that nothing was excluded.
#[test]
fn dates_are_read_in_exclusions() {
    with_node(|mut client| async move {
        stage(&mut client).await;
        let all = resolved(&mut client, "*").await;
        assert_eq!(names(&all, "indices").len(), 3, "a1, a2 and the one with the date");
        assert_eq!(client.good("POST", "/_resolve/index/*", "").await, all);
        let rest = resolved(&mut client, "*,-%3Cd-%7Bnow%7Byyyy%7D%7D%3E").await;
        assert_eq!(names(&rest, "indices"), ["a1", "a2"]);
    });
}

/// A star was one whatever the caller said.
#[test]
fn a_star_is_a_letter_where_nothing_expands() {
    with_node(|mut client| async move {
        stage(&mut client).await;
        for (asked, name) in [("a*", "a*"), ("*", "**"), ("_all", "**"), ("a1,b*", "b*")] {
            for words in ["none", "hidden"] {
                let target = format!("/_resolve/index/{asked}?expand_wildcards={words}");
                assert_eq!(client.bad("GET", &target, "").await, missing(name), "{target}");
                let found = resolved(
                    &mut client,
                    &format!("{asked}?expand_wildcards={words}&ignore_unavailable=true"),
                )
                .await;
                let is_named: &[&str] = if asked == "a1,b*" { &["a1"] } else { &[] };
                assert_eq!(names(&found, "indices"), is_named, "{target}");
                assert!(names(&found, "aliases").is_empty(), "{target}");
            }
        }
        // Hidden ones are those that are open or closed, too.
        for (words, expected) in [
            ("open,hidden", &["veiled"][..]),
            ("all", &["veiled"]),
            ("closed,hidden", &[]),
            ("open", &[]),
        ] {
            let found = resolved(&mut client, &format!("v*?expand_wildcards={words}")).await;
            assert_eq!(names(&found, "indices"), expected, "{words}");
        }
    });
}

/// What hides was met by no pattern of a search either, but as if it were not there.
#[test]
fn hidden_alone_expands_nothing() {
    with_node(|mut client| async move {
        stage(&mut client).await;
        for (method, target) in [
            ("GET", "/v*/_search"),
            ("GET", "/v*/_count"),
            ("GET", "/v*"),
            ("GET", "/v*/_settings"),
            ("POST", "/v*/_refresh"),
        ] {
            let hidden = format!("{target}?expand_wildcards=hidden");
            let none = format!("{target}?expand_wildcards=none");
            let told = client.bad(method, &none, "").await;
            assert_eq!(told, missing("v*"), "{none}");
            assert_eq!(client.bad(method, &hidden, "").await, told, "{hidden}");
        }
        let found = client.good("GET", "/_search?expand_wildcards=hidden", "").await;
        assert_eq!(at(&found, &["_shards", "total"]).as_u64(), Some(0));
    });
}

/// Only an expression of which nothing at all was found was refused.
#[test]
fn each_pattern_must_find_something_where_the_caller_says_so() {
    with_node(|mut client| async move {
        stage(&mut client).await;
        for (asked, name) in [
            ("a*,nope*", "nope*"),
            ("a*,-nope*", "nope*"),
            // What is closed or hidden is not met.
            ("a*,sh*", "sh*"),
            ("a*,-v*", "v*"),
        ] {
            let target = format!("/_resolve/index/{asked}?allow_no_indices=false");
            assert_eq!(client.bad("GET", &target, "").await, missing(name), "{target}");
            let allowed = resolved(&mut client, asked).await;
            assert_eq!(names(&allowed, "indices"), ["a1", "a2"], "{asked}");
        }
        // Something was met, whatever is left; an alias is there, whatever it leads to.
        for asked in ["a*,-a*", "old*"] {
            let found = resolved(&mut client, &format!("{asked}?allow_no_indices=false")).await;
            assert!(names(&found, "indices").is_empty(), "{asked}");
        }
        let found = resolved(&mut client, "old*").await;
        assert_eq!(names(&found, "aliases"), ["old"]);
    });
}

/// An exclusion took away what its pattern does not meet.
#[test]
fn an_exclusion_takes_what_its_pattern_meets() {
    with_node(|mut client| async move {
        stage(&mut client).await;
        for (asked, indices, aliases) in [
            (".h*", &[".hid"][..], &[][..]),
            (".h*,-*", &[".hid"], &[]),
            (".h*,-.*", &[], &[]),
            ("shut,a*,-s*", &["a1", "a2", "shut"], &[]),
            ("shut,a*,-shut", &["a1", "a2"], &[]),
            ("a*,both,-b*", &["a1", "a2"], &[]),
            ("a*,both,-a*", &[], &["both"]),
            ("veiled,a*,-v*", &["a1", "a2", "veiled"], &[]),
        ] {
            let found = resolved(&mut client, asked).await;
            assert_eq!(names(&found, "indices"), indices, "{asked}");
            assert_eq!(names(&found, "aliases"), aliases, "{asked}");
        }
    });
}

/// The place of what is wrong was not told, or was always the first.
#[test]
fn a_broken_date_is_told_with_its_place() {
    with_node(|mut client| async move {
        for (asked, told) in [
            ("%3Ca-%7Bnow%3E", "[a-{now>]. date math placeholder is open ended"),
            (
                "%3Cab%7D%3E",
                "[ab}>]. invalid character at position [3]. `{` and `}` are reserved characters and \
                 should be escaped when used as part of the index name using `\\` (e.g. `\\{text\\}`)",
            ),
            (
                "%3Ca-%7Bnow%7Byy%7Byy%7D%7D%3E",
                "[a-{now{yy{yy}}>]. invalid character in placeholder at position [10]",
            ),
            ("%3Ca-%7Bnow%7B%7D%7D%3E", "[now{}]. missing date format"),
            (
                "%3Ca-%7Bnow%7Byyyy%7Dx%7D%3E",
                "[now{yyyy}x]. missing closing `}` for date math format",
            ),
        ] {
            let told = format!("400 parse_exception: invalid dynamic name expression {told}");
            for (method, target) in [
                ("GET", format!("/_resolve/index/{asked}")),
                ("GET", format!("/{asked}/_search")),
                ("PUT", format!("/{asked}")),
            ] {
                assert_eq!(client.bad(method, &target, "").await, told, "{method} {target}");
            }
        }
        let told = client.bad("GET", "/%3C%3E/_search", "").await;
        assert_eq!(told, "400 parse_exception: nothing captured");
    });
}
