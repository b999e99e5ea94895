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
                // Nor what seems to have nothing to do with it.
                ("PUT", "/x/_mapping", other, 403),
                ("PUT", "/x-4", &made_other, 403),
                ("PUT", "/x-4", r#"{"mappings":{"enabled":false}}"#, 403),
                ("POST", "/x-now/_rollover/x-4", r#"{"mappings":{"enabled":false}}"#, 403),
                // What says nothing of a mapping is the caller's to change.
                ("PUT", "/x/_mapping", r#"{"properties":{}}"#, 200),
                ("PUT", "/x/_settings", r#"{"index.refresh_interval":"2s"}"#, 200),
                ("PUT", "/x-4", r#"{"mappings":{},"settings":{"number_of_replicas":0}}"#, 200),
                ("POST", "/x-now/_rollover/x-5", "", 200),
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

/// What a filter finds hangs on more than on fields of the names that it reads: an alias leads to another field, a
/// copy is taken away, an object on the way becomes a nested one. Each showed documents that were hidden.
#[test]
fn whoever_sees_some_documents_changes_nothing_that_leads_to_what_its_filter_reads() {
    with_security(|mut client| async move {
        let hidden = json!({"query": {"bool": {"must_not": [
            {"match": {"label": "secret"}}, {"term": {"tags": "secret"}}, {"term": {"a.hide": "yes"}}
        ]}}});
        person(&mut client, "some", hidden).await;
        client.authorize(Some(&basic("elastic")));
        let index = r#"{"mappings":{"properties":{"real":{"type":"text"},
            "label":{"type":"alias","path":"real"},"tags":{"type":"keyword"},
            "kind":{"type":"keyword","copy_to":"tags"}}}}"#;
        client.good("PUT", "/x", index).await;
        client.good("PUT", "/x/_doc/1?refresh", r#"{"real":"a secret"}"#).await;
        let calls = [
            r#"{"properties":{"real":{"type":"text","search_analyzer":"keyword"}}}"#,
            r#"{"properties":{"x":{"type":"text","copy_to":"real"}}}"#,
            r#"{"properties":{"kind":{"type":"keyword"}}}"#,
            r#"{"properties":{"kind":{"type":"keyword","copy_to":"tags","ignore_above":1}}}"#,
            r#"{"properties":{"a":{"type":"nested","properties":{"z":{"type":"keyword"}}}}}"#,
        ];
        let calls = calls.map(|body| ("PUT", "/x/_mapping", body, 403));
        statuses(&mut client, "some", &calls).await;
        assert_eq!(count(&mut client, "some", "x").await, 0);
    });
}

/// Rights to manage an index by its name met no filter of an alias by which the caller reads it, and filters of
/// such aliases were told.
#[test]
fn whoever_reads_by_an_alias_is_limited_by_the_name_of_the_index_too() {
    with_security(|mut client| async move {
        for (name, limits) in [
            ("docs", json!({"query": {"term": {"own": "me"}}})),
            ("part", json!({"field_security": {"grant": ["*"], "except": ["sec"]}})),
        ] {
            client.authorize(Some(&basic("elastic")));
            let mut entry = json!({"names": ["pub"], "privileges": ["read"]});
            json::patch::merge(&mut entry, &limits);
            let manage = json!({"names": ["x*"], "privileges": ["manage"]});
            let role = json!({"indices": [entry, manage]});
            client.good("PUT", &format!("/_security/role/{name}"), &json::to_string(&role)).await;
            let password = format!("{name}-is-here");
            let user = json!({"password": password.as_str(), "roles": [name]});
            client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
        }
        client.authorize(Some(&basic("elastic")));
        let index = r#"{"mappings":{"properties":{"own":{"type":"text"},"sec":{"type":"keyword"}}},
            "aliases":{"pub":{"filter":{"bool":{"must_not":{"term":{"sec":"hid"}}}}}}}"#;
        client.good("PUT", "/x", index).await;
        let copied = r#"{"properties":{"vis":{"type":"keyword"},
            "sec":{"type":"keyword","copy_to":"vis"}}}"#;
        let analysis = r#"{"analysis":{"analyzer":{"a":{"tokenizer":"keyword"}}}}"#;
        let other = r#"{"properties":{"own":{"type":"text","search_analyzer":"keyword"}}}"#;
        statuses(
            &mut client,
            "docs",
            &[
                ("PUT", "/x/_mapping", other, 403),
                ("POST", "/x/_close", "", 200),
                ("PUT", "/x/_settings", analysis, 403),
                ("POST", "/x/_open", "", 200),
            ],
        )
        .await;
        // What is not of the hidden field is the caller's.
        let calls = [("PUT", "/x/_mapping", copied, 403), ("PUT", "/x/_mapping", other, 200)];
        statuses(&mut client, "part", &calls).await;
        for who in ["docs", "part"] {
            client.authorize(Some(&basic(who)));
            for target in ["/x/_alias", "/x"] {
                let told = json::to_string(&client.good("GET", target, "").await);
                assert!(!told.contains("must_not"), "{who}: {told}");
            }
        }
    });
}

/// An index of the caller's own was copied, with its mapping, to a name under which others write.
#[test]
fn no_copy_is_made_into_a_name_of_which_a_part_is_hidden() {
    with_security(|mut client| async move {
        person(&mut client, "some", json!({"query": {"term": {"own": "me"}}})).await;
        client.authorize(Some(&basic("elastic")));
        let role = r#"{"indices":[{"names":["mine*"],"privileges":["all"]}]}"#;
        client.good("PUT", "/_security/role/mine", role).await;
        let user = r#"{"password":"some-is-here","roles":["some","mine"]}"#;
        client.good("PUT", "/_security/user/some", user).await;
        let body = r#"{"settings":{"index.blocks.write":true,"number_of_shards":2},
            "mappings":{"properties":{"own":{"type":"constant_keyword","value":"me"}}}}"#;
        let four = r#"{"settings":{"index.number_of_shards":4}}"#;
        let one = r#"{"settings":{"index.number_of_shards":1}}"#;
        let calls = [
            ("PUT", "/x-2", body, 403),
            ("PUT", "/mine", body, 200),
            ("PUT", "/mine/_clone/x-2", "", 403),
            ("PUT", "/mine/_split/x-2", four, 403),
            ("PUT", "/mine/_shrink/x-2", one, 403),
            ("PUT", "/mine/_clone/mine-2", "", 200),
        ];
        statuses(&mut client, "some", &calls).await;
    });
}

/// The name of the index was asked for alone, and not the aliases that it is made with.
#[test]
fn an_index_is_made_under_an_alias_as_under_its_name() {
    with_security(|mut client| async move {
        person(&mut client, "some", json!({"query": {"term": {"own": "me"}}})).await;
        client.authorize(Some(&basic("elastic")));
        let role = r#"{"indices":[{"names":["mine*"],"privileges":["all"]},
            {"names":["src*"],"privileges":["manage"]}]}"#;
        client.good("PUT", "/_security/role/mine", role).await;
        let user = r#"{"password":"some-is-here","roles":["some","mine"]}"#;
        client.good("PUT", "/_security/user/some", user).await;
        let template = r#"{"index_patterns":["src-t*"],"template":{"aliases":{"x-t":{}}}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        let plain = r#"{"aliases":{"x-1":{}}}"#;
        let mapped = r#"{"mappings":{"dynamic":false},"aliases":{"x-1":{}}}"#;
        let analyzed =
            r#"{"settings":{"index.mapping.total_fields.limit":2},"aliases":{"x-1":{}}}"#;
        let source = r#"{"settings":{"index.blocks.write":true},"mappings":{"dynamic":false}}"#;
        let calls = [
            ("PUT", "/src-1", mapped, 403),
            ("PUT", "/src-1", analyzed, 403),
            ("PUT", "/src-t", r#"{"mappings":{"dynamic":false}}"#, 403),
            ("PUT", "/mine", source, 200),
            ("PUT", "/mine/_clone/src-1", plain, 403),
            ("PUT", "/mine-2", r#"{"aliases":{"mine-now":{}}}"#, 200),
            ("POST", "/mine-now/_rollover/src-1", mapped, 403),
            ("PUT", "/src-1", plain, 200),
            ("PUT", "/src-3", r#"{"mappings":{"dynamic":false}}"#, 200),
        ];
        statuses(&mut client, "some", &calls).await;
    });
}

/// A query of a role that looks something up found nothing, and where that is excluded, all.
#[test]
fn a_filter_that_would_look_documents_up_shows_none() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic")));
        client.good("PUT", "/acl/_doc/1?refresh", r#"{"v":["1"]}"#).await;
        client.good("PUT", "/x/_doc/1?refresh", r#"{"id":"1"}"#).await;
        let lookup = json!({"terms": {"id": {"index": "acl", "id": "1", "path": "v"}}});
        let wrapped = STANDARD.encode(json::to_string(&lookup));
        let like = json!({"like": [{"_index": "acl", "_id": "1"}], "fields": ["v"]});
        let role = |query: Value| {
            let entry = json!({"names": ["x*"], "privileges": ["read"], "query": query});
            json::to_string(&json!({"indices": [entry]}))
        };
        for query in [
            lookup,
            json!({"wrapper": {"query": wrapped.as_str()}}),
            json!({"more_like_this": like}),
        ] {
            let body = role(json!({"bool": {"must_not": query}}));
            let told = client.bad("PUT", "/_security/role/wraps", &body).await;
            assert!(told.starts_with("400 illegal_argument_exception"), "{told}");
        }
        let source =
            r#"{"bool":{"must_not":{"terms":{"id":{{#toJson}}_user.metadata.ids{{/toJson}}}}}}"#;
        let query = json!({"template": {"source": source}});
        client.good("PUT", "/_security/role/made", &role(query)).await;
        let user = r#"{"password":"made-is-here","roles":["made"],
            "metadata":{"ids":{"index":"acl","id":"1","path":"v"}}}"#;
        client.good("PUT", "/_security/user/made", user).await;
        client.authorize(Some(&basic("made")));
        for target in ["/x/_count", "/x/_search", "/x/_doc/1"] {
            let answer = client.call("GET", target, "").await;
            assert_eq!(answer.status, 400, "{target}: {}", answer.text());
        }
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

/// It put an object in the place of such a field, or filled the index with fields until that one was left out.
#[test]
fn a_document_leaves_a_place_for_what_its_writers_filter_reads() {
    with_security(|mut client| async move {
        let shown = json!({"query": {"bool": {"must_not": {"term": {"hide": true}}}}});
        person(&mut client, "some", shown).await;
        client.authorize(Some(&basic("elastic")));
        client.good("PUT", "/x", "").await;
        let few = r#"{"settings":{"index.mapping.total_fields.limit":3,
            "index.mapping.total_fields.ignore_dynamic_beyond_limit":true}}"#;
        client.good("PUT", "/x-2", few).await;
        let calls = [
            ("PUT", "/x/_doc/1", r#"{"hide":{}}"#, 403),
            ("PUT", "/x/_doc/1", r#"{"hide":{"deep":1}}"#, 403),
            ("PUT", "/x/_doc/1", r#"{"other":{"deep":1}}"#, 201),
            ("PUT", "/x-2/_doc/1", r#"{"a":1,"b":1,"c":1,"d":1}"#, 403),
        ];
        statuses(&mut client, "some", &calls).await;
        client.authorize(Some(&basic("elastic")));
        for index in ["x", "x-2"] {
            let target = format!("/{index}/_doc/2?refresh");
            client.good("PUT", &target, r#"{"hide":true}"#).await;
        }
        assert_eq!(count(&mut client, "some", "x").await, 1);
        assert_eq!(count(&mut client, "some", "x-2").await, 0);
        // Once it is there, the rest is anybody's.
        let more = [("PUT", "/x-2/_doc/3", r#"{"a":1,"b":1,"c":1}"#, 201)];
        statuses(&mut client, "some", &more).await;
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
