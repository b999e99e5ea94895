//! Callers who see some documents do not decide what the filter reads that chooses these.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};

use crate::place::{self, Client, at, with_security};

fn basic(user: &str) -> String {
    let password = if user == "elastic" { "secret".to_owned() } else { format!("{user}-is-here") };
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// A user of its own role: all on `x*` beside this.
async fn person(client: &mut Client, name: &str, limits: Value) {
    client.authorize(Some(&basic("elastic")));
    let entry = json!({"names": ["x*"], "privileges": ["all"]});
    place::person(client, (name, &format!("{name}-is-here")), &entry, &limits).await;
}

async fn statuses(client: &mut Client, who: &str, calls: &[(&str, &str, &str, u16)]) {
    client.authorize(Some(&basic(who)));
    for (method, target, body, expected) in calls {
        let answer = client.call(method, target, body).await;
        let told = answer.text();
        assert_eq!(answer.status, *expected, "{who}: {method} {target} {body}: {told}");
    }
}

async fn count(client: &mut Client, who: &str, index: &str) -> u64 {
    client.authorize(Some(&basic(who)));
    let answer = client.good("GET", &format!("/{index}/_count"), "").await;
    at(&answer, &["count"]).as_u64().expect("a number")
}

/// Another name for a field that was not there, other words of an analyzer, a copy: each let the same filter choose
/// others' documents.
#[test]
fn whoever_sees_some_documents_gives_its_filter_no_other_meaning() {
    with_security(|mut client| async move {
        person(&mut client, "pub", json!({"query": {"exists": {"field": "published"}}})).await;
        person(&mut client, "team", json!({"query": {"term": {"team": "red"}}})).await;
        person(&mut client, "words", json!({"query": {"query_string": {"query": "red"}}})).await;
        client.authorize(Some(&basic("elastic")));
        let index =
            r#"{"mappings":{"properties":{"id":{"type":"keyword"},"team":{"type":"keyword"}}}}"#;
        client.good("PUT", "/x", index).await;
        client.good("PUT", "/x/_alias/x-now", r#"{"is_write_index":true}"#).await;
        client.good("PUT", "/x/_doc/1?refresh", r#"{"id":"1","team":"blue"}"#).await;
        let alias = r#"{"properties":{"published":{"type":"alias","path":"id"}}}"#;
        let inside = r#"{"properties":{"published":{"properties":{"x":{"type":"keyword"}}}}}"#;
        let copied = r#"{"properties":{"note":{"type":"keyword","copy_to":"published"}}}"#;
        let made = |mappings: &str| format!(r#"{{"mappings":{mappings}}}"#);
        let template =
            r#"{"dynamic_templates":[{"t":{"match":"note","mapping":{"copy_to":"published"}}}]}"#;
        let (made_alias, made_copied) = (made(alias), made(copied));
        let other = r#"{"properties":{"note":{"type":"keyword"}}}"#;
        let made_other = made(other);
        statuses(
            &mut client,
            "pub",
            &[
                ("PUT", "/x/_mapping", alias, 403),
                ("PUT", "/x/_mapping", inside, 403),
                ("PUT", "/x/_mapping", copied, 403),
                ("PUT", "/x/_mapping", template, 403),
                ("PUT", "/x/_mapping", r#"{"dynamic":false}"#, 403),
                ("PUT", "/x-2", &made_alias, 403),
                ("PUT", "/x-2", &made_copied, 403),
                ("POST", "/x-now/_rollover/x-3", &made_alias, 403),
                ("PUT", "/x/_settings", r#"{"index.query.default_field":["id"]}"#, 403),
                (
                    "PUT",
                    "/x-2",
                    r#"{"settings":{"analysis":{"analyzer":{"a":{"type":"keyword"}}}}}"#,
                    403,
                ),
                // What the filter does not read is the caller's to map.
                ("PUT", "/x/_mapping", other, 200),
                ("PUT", "/x/_settings", r#"{"index.refresh_interval":"2s"}"#, 200),
                ("PUT", "/x-4", &made_other, 200),
            ],
        )
        .await;
        assert_eq!(count(&mut client, "pub", "x").await, 0);
        let analysis = r#"{"analysis":{"normalizer":{"n":{"type":"custom"}}}}"#;
        statuses(
            &mut client,
            "team",
            &[
                ("POST", "/x/_close", "", 200),
                ("PUT", "/x/_settings", analysis, 403),
                ("POST", "/x/_open", "", 200),
            ],
        )
        .await;
        // What such a filter reads cannot be said.
        statuses(&mut client, "words", &[("PUT", "/x/_mapping", other, 403)]).await;
    });
}

/// A writer mapped the field of its filter by a document, as another type than its owner meant.
#[test]
fn a_document_maps_no_field_that_its_writers_filter_reads() {
    with_security(|mut client| async move {
        person(&mut client, "low", json!({"query": {"range": {"level": {"lte": 3}}}})).await;
        person(&mut client, "red", json!({"query": {"term": {"team": "red"}}})).await;
        client.authorize(Some(&basic("elastic")));
        let index = r#"{"mappings":{"properties":{"team":{"type":"keyword"}},
            "dynamic_templates":[{"cp":{"mapping":{"type":"keyword","copy_to":"team"}}}]}}"#;
        client.good("PUT", "/x", index).await;
        statuses(&mut client, "low", &[("PUT", "/x/_doc/1?refresh", r#"{"level":"2"}"#, 403)])
            .await;
        client.authorize(Some(&basic("red")));
        let lines = "{\"index\":{\"_id\":\"1\",\"dynamic_templates\":{\"note\":\"cp\"}}}\n\
                     {\"team\":\"red\",\"note\":\"x\"}\n";
        let answer = client.good("POST", "/x/_bulk?refresh", lines).await;
        assert_eq!(at(&answer, &["errors"]).as_bool(), Some(true));
        statuses(
            &mut client,
            "red",
            &[("PUT", "/x/_doc/2?refresh", r#"{"team":"red","other":"x"}"#, 201)],
        )
        .await;
        client.authorize(Some(&basic("elastic")));
        let plain = r#"{"properties":{"level":{"type":"long"},"note":{"type":"keyword"}}}"#;
        client.good("PUT", "/x/_mapping", plain).await;
        client.good("PUT", "/x/_doc/3?refresh", r#"{"level":10,"team":"blue","note":"red"}"#).await;
        statuses(&mut client, "low", &[("PUT", "/x/_doc/4?refresh", r#"{"level":"2"}"#, 201)])
            .await;
        assert_eq!(count(&mut client, "low", "x").await, 1);
        assert_eq!(count(&mut client, "red", "x").await, 1);
    });
}

/// A new index was made with a copy of a hidden field into one that is seen, or sorted by it.
#[test]
fn an_index_is_made_without_ways_to_hidden_fields() {
    with_security(|mut client| async move {
        let limits = json!({"field_security": {"grant": ["*"], "except": ["sec*"]}});
        person(&mut client, "part", limits).await;
        client.authorize(Some(&basic("elastic")));
        client.good("PUT", "/x-1", r#"{"aliases":{"x":{"is_write_index":true}}}"#).await;
        let copied = r#"{"mappings":{"properties":{"sec":{"type":"keyword","copy_to":"vis"}}}}"#;
        let sorted = r#"{"settings":{"index.sort.field":"sec"}}"#;
        let template = r#"{"mappings":{"dynamic_templates":[{"t":{"match":"sec","mapping":{}}}]}}"#;
        let plain = r#"{"mappings":{"properties":{"vis":{"type":"keyword"}}}}"#;
        let mut calls = Vec::new();
        for body in [copied, sorted, template] {
            calls.push(("PUT", "/x-2", body, 403));
            calls.push(("POST", "/x/_rollover", body, 403));
            calls.push(("POST", "/x/_rollover/x-3", body, 403));
        }
        calls.push(("PUT", "/x-2", plain, 200));
        calls.push(("POST", "/x/_rollover/x-3", plain, 200));
        statuses(&mut client, "part", &calls).await;
    });
}
