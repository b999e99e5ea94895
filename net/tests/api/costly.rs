//! What analyzers do beside queries and documents that are written: marks, tokens to look at, rules of roles, copies
//! of an index. They are as dear there, and as bounded.

use json::{Value, json};
use sim::Sim;

use crate::aside::COSTLY;
use crate::browser::basic;
use crate::place::{Client, at, with_memory, with_oauth_on};

/// A word that takes the normalizer of [`COSTLY`] longer than a core may be held.
fn long_word() -> String {
    "ab".repeat(1_000)
}

/// The most steps that a request may take are a second of an optimized build: so many letters are more.
fn endless_word() -> String {
    "ab".repeat(4_000_000)
}

async fn set_up(client: &mut Client) {
    client.authorize(Some(&basic("elastic", "secret")));
    client.good("PUT", "/i", COSTLY).await;
}

/// A text of a few kilobytes was worked on for as long as it took, on the core.
#[test]
fn costly_texts_are_analyzed_on_a_worker_and_too_costly_ones_refused() {
    let sim = Sim::new(1);
    let jobs = || sim.jobs();
    with_oauth_on(&sim, async |mut client| {
        set_up(&mut client).await;
        let body = |text: String| json::to_string(&json!({"normalizer": "slow", "text": text}));
        let mut analyze = async |text: String| {
            let before = jobs();
            let got = client.call("POST", "/i/_analyze", &body(text)).await;
            (got, jobs() - before)
        };
        let (short, for_short) = analyze("ab".to_owned()).await;
        let (long, for_long) = analyze(long_word()).await;
        assert_eq!((short.status, long.status), (200, 200));
        assert_eq!(for_long, for_short + 1);
        let (refused, _) = analyze(endless_word()).await;
        let told: String = refused.text().chars().take(400).collect();
        assert_eq!(refused.status, 400, "{told}");
        assert!(told.contains("the texts of the request are too costly"), "{told}");
    });
}

/// Marks around the words of a hit, and of the hits inside of it, were made on the core whatever they took.
#[test]
fn costly_marks_are_made_on_a_worker() {
    let sim = Sim::new(1);
    let jobs = || sim.jobs();
    with_oauth_on(&sim, async |mut client| {
        set_up(&mut client).await;
        let inside = r#"{"properties":{"c":{"type":"nested","properties":{"k":{"type":"keyword","normalizer":"slow"}}}}}"#;
        client.good("PUT", "/i/_mapping", &inside.replace("\"c\":", "\"n\":")).await;
        for (id, word) in [("short", "ab".to_owned()), ("long", long_word())] {
            let document = json!({"k": (word.clone()), "n": [{"k": (word)}]});
            let target = format!("/i/_doc/{id}?refresh");
            client.good("PUT", &target, &json::to_string(&document)).await;
        }
        let ids = |id: &str| json!({"ids": {"values": [id]}});
        let marked = |id: &str| json!({"query": (ids(id)), "highlight": {"fields": {"k": {"highlight_query": {"prefix": {"k": "c"}}}}}});
        let inner = |id: &str| {
            let marks = json!({"highlight": {"fields": {"n.k": {"highlight_query": {"prefix": {"n.k": "c"}}}}}});
            let nested =
                json!({"nested": {"path": "n", "query": {"match_all": {}}, "inner_hits": marks}});
            json!({"_source": false, "query": {"bool": {"must": [nested], "filter": [(ids(id))]}}})
        };
        let top = |id: &str| {
            let hits = json!({"top_hits": {"highlight": {"fields": {"k": {"highlight_query": {"prefix": {"k": "c"}}}}}}});
            json!({"size": 0, "query": (ids(id)), "aggs": {"h": hits}})
        };
        let mut search = async |body: Value| {
            let before = jobs();
            let got = client.call("POST", "/i/_search", &json::to_string(&body)).await;
            assert_eq!(got.status, 200, "{}", got.text());
            assert!(got.text().contains("<em>"), "{}", got.text());
            jobs() - before
        };
        assert_eq!(search(marked("long")).await, search(marked("short")).await + 1);
        assert_eq!(search(inner("long")).await, search(inner("short")).await + 1);
        assert_eq!(search(top("long")).await, search(top("short")).await + 1);
    });
}

/// The rule of a role met the index of each document that was written, on the core.
#[test]
fn costly_rules_of_roles_meet_an_index_on_a_worker() {
    let sim = Sim::new(1);
    let jobs = || sim.jobs();
    with_oauth_on(&sim, async |mut client| {
        set_up(&mut client).await;
        for (name, count) in [("few", 1), ("many", 200)] {
            let values: Vec<String> =
                (0..count).map(|at| format!("{}{at}", "ab".repeat(20))).collect();
            let rule = json!({"terms": {"k": values}});
            let role = json!({"indices": [{"names": ["i"], "privileges": ["all"], "query": rule}]});
            let target = format!("/_security/role/{name}");
            client.good("PUT", &target, &json::to_string(&role)).await;
            let user = json!({"password": "long enough", "roles": [name]});
            let target = format!("/_security/user/{name}");
            client.good("PUT", &target, &json::to_string(&user)).await;
        }
        let document = format!(r#"{{"k":"{}0"}}"#, "ab".repeat(20));
        let mut write = async |user: &str| {
            client.authorize(Some(&basic(user, "long enough")));
            let target = format!("/i/_doc/{user}");
            client.good("PUT", &target, &document).await;
            // The password is known now.
            let before = jobs();
            client.good("PUT", &target, &document).await;
            jobs() - before
        };
        let few = write("few").await;
        let many = write("many").await;
        assert!(many > few, "{many}, {few}");
    });
}

/// The documents of an index that is copied were parsed on the core, each for as long as it took.
#[test]
fn costly_documents_are_copied_by_a_worker() {
    let sim = Sim::new(1);
    let jobs = || sim.jobs();
    with_oauth_on(&sim, async |mut client| {
        set_up(&mut client).await;
        let mut copy = async |round: usize, words: usize| {
            for id in 0..5 {
                let words = if id == 2 { words } else { 1 };
                let document = format!(r#"{{"t":"{}"}}"#, "alpha ".repeat(words));
                client.good("PUT", &format!("/i/_doc/{id}"), &document).await;
            }
            client.good("PUT", "/i/_settings", r#"{"index.blocks.write":true}"#).await;
            let before = jobs();
            client.good("PUT", &format!("/i/_clone/c{round}"), "").await;
            let for_copy = jobs() - before;
            client.good("PUT", "/i/_settings", r#"{"index.blocks.write":null}"#).await;
            client.good("POST", &format!("/c{round}/_refresh"), "").await;
            let query = r#"{"query":{"term":{"t":"ahpla"}}}"#;
            let found = client.good("POST", &format!("/c{round}/_count"), query).await;
            assert_eq!(at(&found, &["count"]).as_u64(), Some(5));
            for_copy
        };
        let plain = copy(0, 1).await;
        assert_eq!(copy(1, 1).await, plain);
        assert_eq!(copy(2, 500).await, plain + 1);
    });
}

/// What rules of synonyms take, in each analyzer that names them, was counted by nobody.
#[test]
fn rules_of_synonyms_are_counted_as_memory() {
    with_memory(64 << 20, async |mut client, _| {
        // 200 KB of rules, of which each analyzer makes three times as much.
        let rule = |at: usize| format!("{}{at}, same{at}", "w".repeat(2_000));
        let rules: Vec<String> = (0..100).map(rule).collect();
        let filter = json!({"same": {"type": "synonym", "synonyms": rules}});
        let index = |analyzers: usize| {
            let one = |at| {
                let analyzer = json!({"tokenizer": "keyword", "filter": ["same"]});
                (format!("a{at}"), analyzer)
            };
            let analyzers: json::Object = (0..analyzers).map(one).collect();
            let analyzers = Value::Object(analyzers);
            let analysis = json!({"filter": (filter.clone()), "analyzer": analyzers});
            json::to_string(&json!({"settings": {"analysis": analysis}}))
        };
        // Of 64 MiB the whole state may take a quarter.
        let refused = client.call("PUT", "/s", &index(30)).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        let told = "would take more than [16777216] bytes";
        assert!(refused.text().contains(told), "{}", refused.text());
        assert_eq!(client.call("HEAD", "/s", "").await.status, 404);
        client.good("PUT", "/s", &index(7)).await;
    });
}

/// The documents that a nested sort counts were looked for from the beginning with each turn: where that takes longer
/// than a turn, the search never ended; and a script was run for the documents around them, too.
#[test]
fn a_nested_sort_whose_filter_takes_many_turns_comes_to_an_end() {
    with_memory(1 << 30, async |mut client, _| {
        let mapping = r#"{"mappings":{"properties":{"in":{"type":"nested","properties":{
            "n":{"type":"long"},"m":{"type":"long"}}}}}}"#;
        client.good("PUT", "/n", mapping).await;
        let inner: Vec<String> = (0..20).map(|m| format!(r#"{{"n":{m},"m":{m}}}"#)).collect();
        let line = format!("{{\"index\":{{}}}}\n{{\"in\":[{}]}}\n", inner.join(","));
        client.good("POST", "/n/_bulk?refresh=true", &line.repeat(400)).await;
        let script = "int x = 0; for (int i = 0; i < 500; i++) { x += i } return doc['in.m'].value > 4 && x > 0";
        let body = json!({"size": 1, "sort": [{"in.n": {"order": "asc", "nested": {
            "path": "in", "filter": {"script": {"script": script}}}}}]});
        let found = client.good("POST", "/n/_search", &json::to_string(&body)).await;
        let hits = at(&found, &["hits", "hits"]).as_array().expect("hits");
        assert_eq!(at(&hits[0], &["sort"]), &json!([5]));
    });
}

/// Thirty words with two edits each held the core for 15 ms while the query met its index.
#[test]
fn many_words_near_words_meet_an_index_on_a_worker() {
    let sim = Sim::new(1);
    let jobs = || sim.jobs();
    with_oauth_on(&sim, async |mut client| {
        client.authorize(Some(&basic("elastic", "secret")));
        client.good("PUT", "/i", r#"{"mappings":{"properties":{"t":{"type":"text"}}}}"#).await;
        client.good("PUT", "/i/_doc/1?refresh", r#"{"t":"letters"}"#).await;
        let mut ask = async |words: usize| {
            let endings = ('a'..='z').flat_map(|a| ['s', 'x'].map(|b| format!("lettr{a}{b}")));
            let words = endings.take(words).collect::<Vec<_>>().join(" ");
            let query = json!({"query": {"match": {"t": {"query": words, "fuzziness": 2}}}});
            let before = jobs();
            let found = client.good("POST", "/i/_search", &json::to_string(&query)).await;
            assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1));
            jobs() - before
        };
        let (few, many) = (ask(1).await, ask(30).await);
        assert_eq!(many, few + 1);
    });
}
