//! Updates of callers who do not see all of what stands there: whether one fails tells nothing of the rest.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};

use crate::place::{Client, at, value, with_security};

fn basic(user: &str) -> String {
    let password = if user == "elastic" { "secret".to_owned() } else { format!("{user}-is-here") };
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

async fn person(client: &mut Client, name: &str, rights: &[&str], fields: Option<Value>) {
    let mut role = json!({"names": ["u"], "privileges": (rights.to_vec())});
    if let Some(fields) = fields {
        role.as_object_mut().expect("an object").insert("field_security", fields);
    }
    let role = json::to_string(&json!({"indices": [role]}));
    client.good("PUT", &format!("/_security/role/{name}"), &role).await;
    let user = json!({"password": (format!("{name}-is-here")), "roles": [name]});
    client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
}

/// An index `u`; `blind` may write alone, `some` does not see these fields.
async fn stage(client: &mut Client, mappings: Value, except: &[&str]) {
    client.authorize(Some(&basic("elastic")));
    let settings = json!({"number_of_shards": 1, "number_of_replicas": 0,
        "mapping": {"nested_objects": {"limit": 4}}});
    let body = json!({"settings": settings, "mappings": {"properties": mappings}});
    client.good("PUT", "/u", &json::to_string(&body)).await;
    person(client, "blind", &["write"], None).await;
    let rule = json!({"grant": ["*"], "except": (except.to_vec())});
    person(client, "some", &["read", "write"], Some(rule)).await;
}

/// The answers to one change of each of these documents, each as it was put.
async fn changed(client: &mut Client, who: &str, docs: &[Value], change: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for doc in docs {
        client.authorize(Some(&basic("elastic")));
        client.good("PUT", "/u/_doc/0?refresh=true", &json::to_string(doc)).await;
        client.authorize(Some(&basic(who)));
        let body = format!(r#"{{"doc":{change}}}"#);
        let answer = client.call("POST", "/u/_update/0", &body).await;
        answers.push(match answer.status {
            200 => "200".to_owned(),
            _ => format!("{} {}", answer.status, answer.text()),
        });
    }
    answers
}

/// Asks that all documents answer alike, with this status.
async fn alike(client: &mut Client, who: &str, docs: &[Value], change: &str, status: &str) {
    let answers = changed(client, who, docs, change).await;
    assert!(answers[0].starts_with(status), "{who} {change} {answers:?}");
    assert!(answers.iter().all(|one| *one == answers[0]), "{who} {change} {answers:?}");
}

/// One end of a range was tried against the other, until the hidden value was found.
#[test]
fn a_range_is_no_scale_for_its_hidden_end() {
    with_security(|mut client| async move {
        let mappings = json!({"r": {"type": "integer_range"}, "whole": {"type": "integer_range"},
            "n": {"type": "integer"}});
        stage(&mut client, mappings, &["r.lte"]).await;
        let docs = [
            json!({"r": {"gte": 1, "lte": 10}, "n": 1}),
            json!({"r": {"gte": 1, "lte": 1000}, "n": 1}),
            json!({"r": [{"gte": 1, "lte": 10}], "n": 1}),
            json!({"r": {"gte": 60, "gt": 70, "lte": 80}, "n": 1}),
        ];
        for who in ["blind", "some"] {
            for change in [
                r#"{"r":{"gte":50}}"#,
                r#"{"r":{"gt":50}}"#,
                r#"{"r":{"gte":50,"gt":51}}"#,
                r#"{"r":{"gte":50,"lte":null}}"#,
            ] {
                alike(&mut client, who, &docs, change, "403").await;
            }
            alike(&mut client, who, &docs, r#"{"n":2}"#, "200").await;
        }
        // All of it may be given; and what is wrong by itself is told.
        let all = r#"{"r":{"gte":50,"lte":55}}"#;
        alike(&mut client, "blind", &docs, all, "200").await;
        alike(&mut client, "some", &docs, all, "403").await;
        alike(&mut client, "blind", &docs, r#"{"r":{"gte":50,"lte":5}}"#, "400").await;
        client.authorize(Some(&basic("elastic")));
        client.good("POST", "/u/_refresh", "").await;
        // Where all of a range is seen, it is merged.
        let docs = [json!({"r": {"gte": 1, "lte": 9}, "whole": {"gte": 1, "lte": 9}})];
        alike(&mut client, "some", &docs, r#"{"whole":{"gte":5}}"#, "200").await;
        alike(&mut client, "some", &docs, r#"{"whole":{"gte":10}}"#, "400").await;
        client.authorize(Some(&basic("blind")));
        let body = r#"{"doc":{"whole":{"gte":4,"lte":5}}}"#;
        client.good("POST", "/u/_update/0?refresh=true", body).await;
        client.authorize(Some(&basic("elastic")));
        let query = r#"{"query":{"term":{"whole":5}}}"#;
        let found = client.good("POST", "/u/_count", query).await;
        assert_eq!(at(&found, &["count"]).as_u64(), Some(1));
    });
}

/// Whether a completion had what narrows it told whether a hidden field is there.
#[test]
fn a_completion_tells_not_whether_its_context_is_there() {
    with_security(|mut client| async move {
        let context = |path: &str| json!([{"name": "x", "type": "category", "path": path}]);
        let mappings = json!({"secret": {"type": "keyword"}, "open": {"type": "keyword"},
            "c": {"type": "completion", "contexts": (context("secret"))},
            "d": {"type": "completion", "contexts": (context("open"))},
            "from": {"type": "keyword", "copy_to": "c"},
            "t": {"type": "keyword",
                "fields": {"c": {"type": "completion", "contexts": (context("secret"))}}}});
        stage(&mut client, mappings, &["secret"]).await;
        let docs = [json!({"secret": "s", "open": "o"}), json!({"open": "o"})];
        for who in ["blind", "some"] {
            for change in [r#"{"c":"hello"}"#, r#"{"from":"hello"}"#, r#"{"t":"hello"}"#] {
                alike(&mut client, who, &docs, change, "400").await;
            }
            let given = r#"{"c":{"input":"hello","contexts":{"x":"own"}}}"#;
            alike(&mut client, who, &docs, given, "200").await;
        }
        // What narrows this one is seen by one of them.
        alike(&mut client, "some", &docs, r#"{"d":"hello"}"#, "200").await;
        alike(&mut client, "blind", &docs, r#"{"d":"hello"}"#, "400").await;
        // The other way: what is taken away may be what narrows one.
        let docs = [json!({"open": "o", "d": "hello"}), json!({"open": "o"})];
        alike(&mut client, "blind", &docs, r#"{"open":null}"#, "200").await;
        let answers = changed(&mut client, "some", &docs, r#"{"open":null}"#).await;
        assert!(answers[0].starts_with("400") && answers[1] == "200", "it sees why: {answers:?}");
    });
}

/// A list gives way to an object, and did so only where nothing hidden stood in it.
#[test]
fn an_object_takes_no_place_that_is_not_seen() {
    with_security(|mut client| async move {
        let nest = json!({"type": "nested",
            "properties": {"a": {"type": "integer"}, "h": {"type": "keyword"}}});
        stage(&mut client, json!({"nest": nest, "g": {"type": "geo_point"}}), &["nest.h"]).await;
        let grant = json!({"grant": ["nest.a"]});
        client.authorize(Some(&basic("elastic")));
        person(&mut client, "granted", &["read", "write"], Some(grant)).await;
        let listed = [json!({"nest": [{"a": 1, "h": "x"}]}), json!({"nest": [{"a": 1}]})];
        let unseen = [json!({"nest": [{"h": "x"}]}), json!({"nest": {"h": "x"}}), json!({})];
        let merged = [json!({"nest": {"a": 1, "h": "x"}}), json!({"nest": {"a": 1}})];
        for who in ["some", "granted"] {
            for change in [r#"{"nest":{"a":1}}"#, r#"{"nest":{"a":2}}"#] {
                alike(&mut client, who, &listed, change, "403").await;
                alike(&mut client, who, &unseen, change, "403").await;
                alike(&mut client, who, &merged, change, "200").await;
            }
        }
        // A place is one value, in whatever form it stands there.
        let places = [
            json!({"g": {"lat": 1, "lon": 2}}),
            json!({"g": {"geohash": "u33d"}}),
            json!({"g": {"type": "Point", "coordinates": [1, 2]}}),
            json!({"g": "1,2"}),
            json!({}),
        ];
        alike(&mut client, "blind", &places, r#"{"g":{"lat":5,"lon":6}}"#, "200").await;
        alike(&mut client, "blind", &places, r#"{"g":{"lat":5}}"#, "400").await;
        let body =
            json!({"query": {"geo_distance": {"distance": "1km", "g": {"lat": 5, "lon": 6}}}});
        let elastic = basic("elastic");
        for (place, doc) in places.iter().enumerate() {
            client.authorize(Some(&elastic));
            client.good("PUT", &format!("/u/_doc/{place}"), &json::to_string(doc)).await;
            client.authorize(Some(&basic("blind")));
            let path = format!("/u/_update/{place}?refresh=true");
            client.good("POST", &path, r#"{"doc":{"g":{"lat":5,"lon":6}}}"#).await;
        }
        client.authorize(Some(&elastic));
        let found = client.good("POST", "/u/_count", &json::to_string(&body)).await;
        assert_eq!(at(&found, &["count"]).as_u64(), Some(places.len() as u64));
    });
}

/// The bound on nested documents counts those of all fields together.
#[test]
fn hidden_nested_documents_are_not_counted() {
    with_security(|mut client| async move {
        let nested = json!({"type": "nested", "properties": {"a": {"type": "integer"}}});
        let mappings = json!({"seen": (nested.clone()), "hid": nested});
        stage(&mut client, mappings, &["hid"]).await;
        let of = |count: usize| Value::from(vec![json!({"a": 1}); count]);
        let docs = [json!({"hid": (of(4))}), json!({"hid": (of(1))}), json!({})];
        for who in ["blind", "some"] {
            for (count, status) in [(1, "200"), (4, "200"), (5, "400")] {
                let change = json::to_string(&json!({"seen": (of(count))}));
                alike(&mut client, who, &docs, &change, status).await;
            }
        }
        // Who sees all hears of all.
        client.authorize(Some(&basic("elastic")));
        let body = json::to_string(&json!({"doc": {"seen": (of(4)), "hid": (of(1))}}));
        let answer = client.call("POST", "/u/_update/0", &body).await;
        assert_eq!(answer.status, 400, "{}", json::to_string(&value(&answer)));
    });
}
