//! Which indices a call means where its wildcards say nothing of open, closed and hidden ones, and what it makes of
//! names and patterns that meet nothing: each as Elasticsearch 8's own request has it.

use json::Value;

use crate::place::{Client, at, with_node};

/// An open index, a closed one, a hidden one, and one that is both: `o`, `c`, `h`, `b`. The shards of each are a
/// power of two, so that a count of shards tells which they are of.
const INDICES: [(&str, char, u64); 4] =
    [("w-open", 'o', 1), ("w-closed", 'c', 2), ("w-hidden", 'h', 4), ("w-both", 'b', 8)];

/// A call, with `@` for its indices; whom its wildcards mean; what a pattern that meets nothing, and a name that
/// nothing bears, are answered.
type Row = (&'static str, &'static str, &'static str, u16, u16);

const ROWS: &[Row] = &[
    ("GET", "/@", "o", 200, 404),
    ("GET", "/@/_settings", "o", 200, 404),
    ("GET", "/@/_mapping", "o", 200, 404),
    ("GET", "/@/_mapping/field/*", "o", 404, 404),
    ("GET", "/@/_alias", "ochb", 200, 404),
    ("GET", "/@/_stats", "o", 200, 404),
    ("GET", "/@/_segments", "o", 200, 404),
    ("GET", "/@/_recovery", "oc", 200, 404),
    ("GET", "/@/_shard_stores?status=all", "ochb", 200, 404),
    ("POST", "/@/_disk_usage?run_expensive_tasks=true", "o", 200, 404),
    ("GET", "/@/_field_usage_stats", "o", 200, 404),
    ("GET", "/@/_field_caps?fields=*", "o", 200, 404),
    ("GET", "/@/_search_shards", "o", 200, 200),
    ("GET", "/@/_validate/query", "o", 404, 404),
    ("GET", "/@/_search", "o", 200, 404),
    ("GET", "/@/_count", "o", 200, 404),
    ("POST", "/@/_refresh", "o", 200, 404),
    ("POST", "/@/_flush", "o", 200, 404),
    ("POST", "/@/_forcemerge", "o", 200, 404),
    ("POST", "/@/_cache/clear", "o", 200, 404),
    ("POST", "/@/_reload_search_analyzers", "o", 200, 404),
    ("GET", "/_resolve/index/@", "o", 200, 404),
    ("GET", "/_cluster/health/@?level=indices&timeout=1ms", "ochb", 200, 408),
    ("GET", "/_cluster/state/metadata/@", "o", 200, 200),
    ("GET", "/_cat/indices/@", "oc", 200, 404),
    ("GET", "/_cat/shards/@", "ochb", 200, 404),
    ("GET", "/_cat/segments/@", "o", 200, 404),
    ("GET", "/_cat/recovery/@", "oc", 200, 404),
    ("GET", "/_cat/count/@?h=count", "o", 200, 404),
];

/// Whom an answer tells of: by their names, by their documents, or by their shards.
fn told(body: &str) -> String {
    let named: String = INDICES
        .iter()
        .filter(|(name, ..)| body.contains(name))
        .map(|(_, letter, _)| letter)
        .collect();
    let by_bits = |bits: u64| -> String {
        INDICES.iter().filter(|(.., bit)| bits & bit != 0).map(|(_, letter, _)| letter).collect()
    };
    let tree = json::parse(body.as_bytes()).unwrap_or_default();
    match tree.at(&["_shards", "total"]).and_then(Value::as_u64) {
        _ if !named.is_empty() => named,
        Some(total) => by_bits(total),
        None => by_bits(body.trim().parse().unwrap_or_default()),
    }
}

async fn stage(client: &mut Client) {
    let free = r#"{"persistent":{"action.destructive_requires_name":false}}"#;
    client.good("PUT", "/_cluster/settings", free).await;
    for (name, letter, bit) in INDICES {
        let hidden = matches!(letter, 'h' | 'b');
        let body = format!(
            r#"{{"settings":{{"number_of_shards":{bit},"number_of_replicas":0,"index.hidden":{hidden}}},
                "mappings":{{"properties":{{"n":{{"type":"long"}}}}}},"aliases":{{"al-{name}":{{}}}}}}"#
        );
        client.good("PUT", &format!("/{name}"), &body).await;
        // As many documents as shards, for whoever counts those.
        for id in 0..bit {
            client.good("PUT", &format!("/{name}/_doc/{id}"), r#"{"n":1}"#).await;
        }
        client.good("POST", &format!("/{name}/_flush"), "").await;
        client.good("POST", &format!("/{name}/_refresh"), "").await;
    }
    client.good("POST", "/w-closed,w-both/_close", "").await;
}

#[test]
fn wildcards_mean_by_default_what_they_mean_in_elasticsearch() {
    with_node(async |mut client| {
        let client = &mut client;
        stage(client).await;
        for &(method, target, meant, without, missing) in ROWS {
            let answer = client.call(method, &target.replace('@', "w-*"), "").await;
            assert_eq!(answer.status, 200, "{target}: {}", answer.text());
            assert_eq!(told(&answer.text()), meant, "{target}: {}", answer.text());
            for (names, status) in [("none-*", without), ("none", missing)] {
                let answer = client.call(method, &target.replace('@', names), "").await;
                assert_eq!(answer.status, status, "{target} {names}: {}", answer.text());
            }
        }
    });
}

/// What changes indices is told by what it changed.
#[test]
fn changes_mean_by_default_what_they_mean_in_elasticsearch() {
    with_node(async |mut client| {
        let client = &mut client;
        stage(client).await;
        let all = "expand_wildcards=all";
        for (method, target, body, look, mark, meant, without) in [
            (
                "PUT",
                "/@/_settings",
                r#"{"priority":7}"#,
                "_settings",
                r#""priority":"7""#,
                "oc",
                404,
            ),
            (
                "PUT",
                "/@/_mapping",
                r#"{"properties":{"added":{"type":"ip"}}}"#,
                "_mapping",
                "added",
                "oc",
                404,
            ),
            ("PUT", "/@/_block/write", "", "_settings", r#""write":"true""#, "o", 200),
            ("PUT", "/@/_alias/new", "", "_alias", r#""new""#, "o", 404),
            ("POST", "/@/_close", "", "_settings", r#""verified_before_close""#, "ocb", 200),
            ("POST", "/@/_open", "", "_settings", r#""verified_before_close""#, "b", 200),
        ] {
            let answer = client.call(method, &target.replace('@', "none-*"), body).await;
            assert_eq!(answer.status, without, "{method} {target}: {}", answer.text());
            client.good(method, &target.replace('@', "w-*"), body).await;
            let told = client.good("GET", &format!("/w-*/{look}?{all}"), "").await;
            let has =
                |name: &str| told.get(name).is_some_and(|it| json::to_string(it).contains(mark));
            let changed: String = INDICES
                .iter()
                .filter(|(name, ..)| has(name))
                .map(|(_, letter, _)| letter)
                .collect();
            assert_eq!(changed, meant, "{method} {target}");
        }
        client.good("POST", "/w-closed/_close", "").await;
        client.good("DELETE", "/w-*", "").await;
        let left = client.good("GET", &format!("/w-*?{all}"), "").await;
        let mut names: Vec<&str> = left.as_object().expect("indices").keys().collect();
        names.sort_unstable();
        assert_eq!(names, ["w-both", "w-hidden"]);
        assert_eq!(
            at(&client.good("DELETE", "/none-*", "").await, &["acknowledged"]).as_bool(),
            Some(true)
        );
    });
}
