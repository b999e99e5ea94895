//! Requests to a whole node, on a simulated machine: each is answered, with JSON, and with no failure that only we can
//! mean. The bodies that have no target of their own are read here, and everything behind them runs.
//!
//! An input is requests with a record separator (0x1e) between them. The first byte of each picks a route
//! from [`ROUTES`], what follows to the end of the line is its query string, and the rest is its body.
#![no_main]

use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use json::Value;
use libfuzzer_sys::fuzz_target;
use oracle::node::{Answer, Client, with_node};

/// Seeds name routes by their place: add at the end.
const ROUTES: &[(&str, &str)] = &[
    ("POST", "/_msearch"),
    ("POST", "/a/_msearch"),
    ("POST", "/_reindex"),
    ("POST", "/a/_rank_eval"),
    ("POST", "/_mtermvectors"),
    ("POST", "/a/_termvectors/1"),
    ("POST", "/_cluster/reroute"),
    ("POST", "/_security/_query/user"),
    ("POST", "/_security/_query/role"),
    ("POST", "/_security/_query/api_key"),
    ("PUT", "/_security/role/r"),
    ("POST", "/_security/role"),
    ("POST", "/_security/api_key"),
    ("PUT", "/_security/role_mapping/m"),
    ("PUT", "/_security/user/u"),
    ("POST", "/_security/user/_has_privileges"),
    ("PUT", "/_security/privilege"),
    ("POST", "/a/_search"),
    ("POST", "/_search"),
    ("POST", "/a/_count"),
    ("POST", "/_bulk"),
    ("POST", "/a/_bulk"),
    ("POST", "/_mget"),
    ("PUT", "/a/_doc/2"),
    ("POST", "/a/_update/1"),
    ("POST", "/a/_update_by_query"),
    ("POST", "/a/_delete_by_query"),
    ("POST", "/a/_explain/1"),
    ("POST", "/a/_validate/query"),
    ("POST", "/a/_field_caps"),
    ("PUT", "/b"),
    ("PUT", "/a/_mapping"),
    ("PUT", "/a/_settings"),
    ("POST", "/_aliases"),
    ("PUT", "/a/_alias/x"),
    ("PUT", "/_index_template/t"),
    ("PUT", "/_component_template/t"),
    ("PUT", "/_template/t"),
    ("POST", "/_index_template/_simulate"),
    ("POST", "/_index_template/_simulate_index/s-1"),
    ("POST", "/x/_rollover"),
    ("POST", "/a/_clone/c"),
    ("PUT", "/_data_stream/s-1"),
    ("POST", "/_data_stream/_modify"),
    ("POST", "/a/_analyze"),
    ("PUT", "/_cluster/settings"),
    ("POST", "/_cluster/allocation/explain"),
    ("POST", "/a/_search/template"),
    ("POST", "/_render/template"),
    ("POST", "/_msearch/template"),
    ("PUT", "/_scripts/s"),
    ("POST", "/_scripts/painless/_execute"),
    ("POST", "/_search/scroll"),
    ("POST", "/a/_pit"),
    ("DELETE", "/_pit"),
    ("DELETE", "/_security/api_key"),
    ("PUT", "/_security/api_key/none"),
    ("POST", "/_security/api_key/grant"),
    ("POST", "/_security/oauth2/token"),
    ("POST", "/_security/profile/_activate"),
    ("POST", "/_security/profile/_has_privileges"),
    ("POST", "/_security/profile/_suggest"),
    ("POST", "/_oauth/client"),
    ("POST", "/_security/cross_cluster/api_key"),
    ("GET", "/_cat/indices"),
    ("GET", "/_tasks"),
    ("GET", "/_cluster/health"),
    ("GET", "/_resolve/index/*"),
];

/// Inputs that share a node: starting one takes longer than an input.
const INPUTS_MAX: usize = 200;
/// Requests of an input that are looked at.
const REQUESTS_MAX: usize = 8;

/// What the node of now was asked so far, for who has to find out what led to a failure.
static HISTORY: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// The way to the thread of the node, and back.
struct Node {
    inputs: Sender<Vec<u8>>,
    done: Receiver<()>,
    asked: usize,
}

thread_local! {
    static NODE: RefCell<Option<Node>> = const { RefCell::new(None) };
}

fn init() {
    base::hash::fix_seed();
    let known = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if let Ok(history) = HISTORY.try_lock() {
            for input in history.iter() {
                eprintln!("the node was asked: {}", input.escape_ascii());
            }
        }
        known(info);
    }));
}

fuzz_target!(init: init(), |bytes: &[u8]| {
    NODE.with_borrow_mut(|node| {
        if node.as_ref().is_none_or(|node| node.asked == INPUTS_MAX) {
            *node = Some(start());
        }
        let node = node.as_mut().expect("just made");
        node.asked += 1;
        HISTORY.lock().expect("no panic goes on").push(bytes.to_vec());
        node.inputs.send(bytes.to_vec()).expect("the node waits");
        node.done.recv().expect("the node answers");
    });
});

fn start() -> Node {
    HISTORY.lock().expect("no panic goes on").clear();
    let (inputs, coming) = channel::<Vec<u8>>();
    let (answered, done) = channel();
    thread::spawn(move || {
        with_node(1, true, async |mut client| {
            client.authorize(Some("Basic ZWxhc3RpYzpzZWNyZXQ="));
            while let Ok(input) = coming.recv() {
                one(&mut client, &input).await;
                answered.send(()).expect("the fuzzer waits");
            }
        });
    });
    Node { inputs, done, asked: 0 }
}

async fn one(client: &mut Client, input: &[u8]) {
    for (method, target, body) in [
        ("DELETE", "/*,-.*?expand_wildcards=all", ""),
        ("PUT", "/_cluster/settings", r#"{"persistent":{"*":null},"transient":{"*":null}}"#),
        (
            "PUT",
            "/a",
            r#"{"aliases":{"x":{}},"mappings":{"properties":{"t":{"type":"text"},"k":{"type":"keyword"},"n":{"type":"long"},"d":{"type":"date"},"o":{"type":"nested"}}}}"#,
        ),
        (
            "PUT",
            "/a/_doc/1?refresh=true",
            r#"{"t":"some words here","k":"word","n":1,"d":"2026-01-01","o":[{"n":2}]}"#,
        ),
    ] {
        client.call(method, target, body).await;
    }
    for request in input.split(|byte| *byte == 0x1e).take(REQUESTS_MAX) {
        let Some((route, rest)) = request.split_first() else { continue };
        let (method, path) = ROUTES[usize::from(*route) % ROUTES.len()];
        let (query, body) = match rest.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &rest[..0]),
        };
        let target = format!("{path}?{}", shown(query));
        // Bodies are text in this client; what is no UTF-8 is the readers' own matter (`json_reader`).
        let Ok(body) = std::str::from_utf8(body) else { continue };
        let answer = client.call(method, &target, body).await;
        check(method, &target, body, &answer);
    }
}

/// A query string that may stand in a request's first line.
fn shown(query: &[u8]) -> String {
    let mut text = String::new();
    for byte in query {
        match byte {
            b'!'..=b'~' if *byte != b'#' => text.push(char::from(*byte)),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

fn check(method: &str, target: &str, body: &str, answer: &Answer) {
    let told = || format!("{method} {target} {body:?}: {} {}", answer.status, answer.text);
    assert!(answer.status < 500 || is_meant(&answer.text), "{}", told());
    let json = answer.field("content-type").is_some_and(|kind| kind.contains("json"));
    if json && !answer.text.is_empty() {
        assert!(json::parse(answer.text.as_bytes()).is_ok(), "no JSON: {}", told());
    }
    if answer.status >= 400 && !answer.text.is_empty() && json {
        assert!(
            answer.body.get("status").is_some()
                || answer.body.get("error").is_some()
                || told_else(&answer.body),
            "{}",
            told()
        );
    }
}

/// Failures that Elasticsearch answers with 500 or 503, too: shards that fail, wait or are not there, and
/// its own checks that say 500.
fn is_meant(text: &str) -> bool {
    MEANT.iter().any(|kind| text.contains(kind))
}

const MEANT: &[&str] = &[
    "illegal_state_exception",
    "process_cluster_event_timeout_exception",
    "search_phase_execution_exception",
    "unavailable_shards_exception",
    "unsupported_operation_exception",
    "no_shard_available_action_exception",
];

/// Answers of another form than an error's: health that was waited for in vain, an explanation of no document.
fn told_else(body: &Value) -> bool {
    [
        "timed_out",
        "matched",
        "found",
        "valid",
        "acknowledged",
        "failures",
        "result",
        "errors",
        "invalidated_api_keys",
    ]
    .iter()
    .any(|name| body.get(name).is_some())
}
