//! Words of hidden documents, which patterns that take only some words may not tell.
//!
//! Each search is asked of two indices that look the same to the caller: one has hidden documents beside.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};

use crate::place::{Client, at, with_security};

const MAPPING: &str = r#"{"properties":{"customer":{"type":"keyword"},"t":{"type":"text"},
    "k":{"type":"keyword"},"in":{"type":"nested","properties":{"k":{"type":"keyword"}}}}}"#;

fn basic(user: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{user}-knows-this")))
}

async fn person(client: &mut Client, name: &str, query: Value) {
    let entry = json!({"names": ["x*"], "privileges": ["read"], "query": query});
    let role = json::to_string(&json!({"indices": [entry]}));
    client.good("PUT", &format!("/_security/role/{name}"), &role).await;
    let user = json!({"password": (format!("{name}-knows-this")), "roles": [name]});
    client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
}

fn admin() -> String {
    format!("Basic {}", STANDARD.encode("elastic:secret"))
}

/// Makes an index of one customer's documents in several segments, with those of another between them.
async fn stage(client: &mut Client, index: &str, others: bool) {
    let settings = r#"{"number_of_shards":2,"number_of_replicas":0}"#;
    let body = format!(r#"{{"settings":{settings},"mappings":{MAPPING}}}"#);
    client.good("PUT", &format!("/{index}"), &body).await;
    let hide = |from: u32, to: u32| {
        let words: Vec<String> = (from..to).map(|n| format!("pre{n:04}")).collect();
        let text = words.join(" ");
        let words: Vec<Value> = words.into_iter().map(Value::from).collect();
        let inside = json!({"k": (words[..10].to_vec())});
        json!({"customer": "other", "t": text, "k": words, "in": inside})
    };
    let own = |word: &str| json!({"customer": "acme", "t": (format!("quick {word}")), "k": word, "in": [{"k": word}]});
    let gone = own("preaa");
    let parts = [
        (true, "h1", hide(0, 2500)),
        (false, "own", own("prezz")),
        (true, "h2", hide(2400, 5000)),
        // Of the same words as own ones, near to what is looked for.
        (
            true,
            "h3",
            json!({"customer": "other", "t": "quick preza prezz", "k": ["preza", "prezz"]}),
        ),
        (true, "gone", gone),
        (false, "own2", own("prezzz")),
    ];
    for (is_other, id, doc) in &parts {
        if others || !is_other {
            let path = format!("/{index}/_doc/{id}?routing=one&refresh=true");
            client.good("PUT", &path, &json::to_string(doc)).await;
        }
    }
    if others {
        client.good("DELETE", &format!("/{index}/_doc/gone?routing=one&refresh=true"), "").await;
    }
}

/// What of an answer may not depend on hidden documents.
fn told(found: &Value) -> String {
    let hits = at(found, &["hits", "hits"]).as_array().expect("a list");
    let hits = hits.iter().map(|hit| {
        let inside = hit.get("inner_hits").map(|it| at(it, &["in", "hits", "total"]).clone());
        let named = hit.get("matched_queries").cloned();
        let id = at(hit, &["_id"]).clone();
        json!({"id": id, "inside": (inside.unwrap_or_default()), "named": (named.unwrap_or_default())})
    });
    let hits: Vec<Value> = hits.collect();
    let aggs = found.get("aggregations").cloned().unwrap_or_default();
    json::to_string(
        &json!({"total": (at(found, &["hits", "total"]).clone()), "hits": hits, "aggs": aggs}),
    )
}

fn bodies() -> Vec<String> {
    let mut queries: Vec<String> = Vec::new();
    for field in ["t", "k"] {
        for (kind, name, word) in [
            ("prefix", "value", "pre"),
            ("wildcard", "value", "pr*"),
            ("regexp", "value", "pre.*"),
            ("fuzzy", "value", "prez"),
        ] {
            for rewrite in
                ["top_terms_1", "top_terms_boost_1", "top_terms_blended_freqs_1", "scoring_boolean"]
            {
                queries.push(format!(
                    r#"{{"{kind}":{{"{field}":{{"{name}":"{word}","rewrite":"{rewrite}"}}}}}}"#
                ));
            }
        }
        for query in [
            r#"{"fuzzy":{"F":{"value":"prezy","max_expansions":1}}}"#,
            r#"{"match":{"F":{"query":"prezy","fuzziness":1,"max_expansions":1}}}"#,
            r#"{"query_string":{"query":"F:pre*","rewrite":"top_terms_1"}}"#,
            r#"{"query_string":{"query":"F:prezy~1","fuzzy_max_expansions":1}}"#,
            r#"{"simple_query_string":{"query":"prezy~1","fields":["F"],"fuzzy_max_expansions":1}}"#,
        ] {
            queries.push(query.replace('F', field));
        }
    }
    queries.extend(
        [
            r#"{"match_phrase_prefix":{"t":"quick pre"}}"#,
            r#"{"match_phrase_prefix":{"t":{"query":"quick pre","max_expansions":1}}}"#,
            r#"{"multi_match":{"query":"pre","type":"phrase_prefix","fields":["t"],"max_expansions":1}}"#,
            r#"{"multi_match":{"query":"quick prezy pre","type":"bool_prefix","fields":["t"],"fuzziness":1,"max_expansions":1,"operator":"and"}}"#,
            r#"{"match_bool_prefix":{"t":{"query":"prezy pre","fuzziness":1,"max_expansions":1,"operator":"and"}}}"#,
            r#"{"intervals":{"t":{"prefix":{"prefix":"pre"}}}}"#,
            r#"{"intervals":{"t":{"wildcard":{"pattern":"pre*"}}}}"#,
            r#"{"span_multi":{"match":{"prefix":{"t":"pre"}}}}"#,
            r#"{"span_multi":{"match":{"prefix":{"t":{"value":"pre","rewrite":"top_terms_1"}}}}}"#,
            r#"{"bool":{"must_not":{"prefix":{"k":{"value":"pre","rewrite":"top_terms_1"}}}}}"#,
            r#"{"nested":{"path":"in","inner_hits":{},"query":{"prefix":{"in.k":{"value":"pre","rewrite":"top_terms_1"}}}}}"#,
            r#"{"nested":{"path":"in","inner_hits":{},"query":{"prefix":{"in.k":{"value":"pre","rewrite":"scoring_boolean"}}}}}"#,
        ]
        .map(str::to_owned),
    );
    let mut bodies: Vec<String> =
        queries.iter().map(|query| format!(r#"{{"sort":"_doc","query":{query}}}"#)).collect();
    let narrow = r#"{"prefix":{"k":{"value":"pre","rewrite":"top_terms_1"}}}"#;
    bodies.extend([
        format!(r#"{{"sort":"_doc","post_filter":{narrow}}}"#),
        format!(r#"{{"size":0,"aggs":{{"a":{{"filter":{narrow}}}}}}}"#),
        r#"{"sort":"_doc","query":{"bool":{"should":[{"match_all":{}},
            {"prefix":{"k":{"value":"pre","rewrite":"top_terms_1","_name":"n"}}}]}}}"#
            .to_owned(),
        r#"{"query":{"match_all":{}},"rescore":{"window_size":10,"query":{"rescore_query":
            {"prefix":{"k":{"value":"pre","rewrite":"top_terms_boost_1"}}}}}}"#
            .to_owned(),
        r#"{"query":{"match_all":{}},"rescore":{"window_size":10,"query":{"rescore_query":
            {"more_like_this":{"fields":["t"],"like":"quick prezz","min_term_freq":1,"min_doc_freq":3}}}}}"#
            .to_owned(),
    ]);
    bodies
}

#[test]
fn patterns_take_no_words_of_hidden_documents() {
    with_security(|mut client| async move {
        client.authorize(Some(&admin()));
        stage(&mut client, "x-plain", false).await;
        stage(&mut client, "x-mixed", true).await;
        person(&mut client, "docs", json!({"term": {"customer": "acme"}})).await;
        client.authorize(Some(&basic("docs")));
        for body in bodies() {
            for how in ["", "?search_type=dfs_query_then_fetch"] {
                let path = |index: &str| format!("/{index}/_search{how}");
                let plain = told(&client.good("POST", &path("x-plain"), &body).await);
                let mixed = told(&client.good("POST", &path("x-mixed"), &body).await);
                assert_eq!(plain, mixed, "{body}");
                assert!(plain.contains(r#""own"#) || body.contains(r#""size":0"#), "{body}");
            }
        }
        for query in [
            r#"{"prefix":{"k":{"value":"pre","rewrite":"top_terms_1"}}}"#,
            r#"{"match_phrase_prefix":{"t":"quick pre"}}"#,
            r#"{"more_like_this":{"fields":["t"],"like":"prezz","min_term_freq":1,"min_doc_freq":2}}"#,
        ] {
            let mut matched = Vec::new();
            for index in ["x-plain", "x-mixed"] {
                let path = format!("/{index}/_explain/own?routing=one");
                let found = client.good("POST", &path, &format!(r#"{{"query":{query}}}"#)).await;
                matched.push(at(&found, &["matched"]).as_bool());
                let path = format!("/{index}/_search?routing=one");
                let body = format!(
                    r#"{{"explain":true,"query":{{"bool":{{"must":{{"ids":{{"values":["own"]}}}},"should":{query}}}}}}}"#
                );
                let found = client.good("POST", &path, &body).await;
                let hits = at(&found, &["hits", "hits"]).as_array().expect("a list").len();
                assert_eq!(hits, 1, "{body}");
            }
            assert_eq!(matched, [Some(true); 2], "{query}");
        }
    });
}

/// What says which documents may be seen looks at all of them, as its author does.
#[test]
fn a_rule_takes_words_of_all_documents() {
    with_security(|mut client| async move {
        client.authorize(Some(&admin()));
        stage(&mut client, "x", true).await;
        let first = json!({"prefix": {"k": {"value": "prezz", "rewrite": "top_terms_1"}}});
        let rule = json!({"bool": {"must": {"term": {"customer": "acme"}}, "must_not": first}});
        person(&mut client, "odd", rule).await;
        client.authorize(Some(&basic("odd")));
        for query in [
            r#"{"match_all":{}}"#,
            r#"{"prefix":{"k":{"value":"pre","rewrite":"top_terms_1"}}}"#,
            r#"{"match_phrase_prefix":{"t":{"query":"quick pre","max_expansions":1}}}"#,
        ] {
            let body = format!(r#"{{"query":{query}}}"#);
            let found = client.good("POST", "/x/_search?filter_path=hits.hits._id", &body).await;
            let found = json::to_string(&found);
            assert_eq!(found, r#"{"hits":{"hits":[{"_id":"own2"}]}}"#, "{query}");
        }
    });
}
