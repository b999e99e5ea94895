//! Callers to whom documents or fields are hidden, on paths that show or change an index as a whole.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};

use crate::place::{Client, at, failure, value, with_security};

/// A field that `docs` is not told of, and documents that it does not see.
const MAPPING: &str = r#"{"properties":{
    "customer":{"type":"keyword"},"note":{"type":"text"},"copied":{"type":"keyword"},
    "secret":{"type":"keyword"},"seen":{"type":"completion"},"unseen":{"type":"completion"}}}"#;

fn basic(user: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{}", password(user))))
}

fn password(user: &str) -> String {
    if user == "elastic" { "secret".to_owned() } else { format!("{user}-knows-this") }
}

async fn person(client: &mut Client, name: &str, indices: Value) {
    let role = json::to_string(&json!({"indices": indices}));
    client.good("PUT", &format!("/_security/role/{name}"), &role).await;
    let user = json!({"password": (password(name)), "roles": [name]});
    client.good("PUT", &format!("/_security/user/{name}"), &json::to_string(&user)).await;
}

/// An index `w` of which `docs` sees one customer's documents, `fields` three fields, `keeper` nothing
/// though it manages it, and `whole` everything; each may do all to `t*`.
async fn stage(client: &mut Client) {
    client.authorize(Some(&basic("elastic")));
    let body = format!(
        r#"{{"settings":{{"number_of_shards":2,"number_of_replicas":0}},"mappings":{MAPPING}}}"#
    );
    client.good("PUT", "/w", &body).await;
    for (id, doc) in [
        (
            "v1",
            r#"{"customer":"acme","note":"red apple","secret":"zebra","seen":"a","unseen":"b"}"#,
        ),
        ("v2", r#"{"customer":"acme","note":"green pear"}"#),
        ("h1", r#"{"customer":"other","note":"red zulu zulu"}"#),
    ] {
        client.good("PUT", &format!("/w/_doc/{id}?routing=one"), doc).await;
    }
    client.good("POST", "/w/_refresh", "").await;
    let all = json!({"names": ["t*"], "privileges": ["all"]});
    let some = json!(["read", "manage", "view_index_metadata"]);
    let query = json!({"term": {"customer": "acme"}});
    let docs = json!({"names": ["w*"], "privileges": (some.clone()), "query": query});
    person(client, "docs", json!([docs, (all.clone())])).await;
    let grant = json!({"grant": ["customer", "copied", "seen"]});
    let fields = json!({"names": ["w*"], "privileges": (some.clone()), "field_security": grant});
    person(client, "fields", json!([fields, (all.clone())])).await;
    let keeper = json!({"names": ["w*"], "privileges": ["manage"]});
    person(client, "keeper", json!([keeper, (all.clone())])).await;
    let whole = json!({"names": ["w*"], "privileges": some});
    person(client, "whole", json!([whole, all])).await;
}

/// `_clone` and kin copied what the one who made the copy could not read.
#[test]
fn an_index_is_copied_by_who_may_read_all_of_it() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        client.good("PUT", "/w/_settings", r#"{"index.blocks.write":true}"#).await;
        for (kind, shards) in [("_clone", 2), ("_shrink", 1), ("_split", 4)] {
            let body = format!(r#"{{"settings":{{"index.number_of_shards":{shards}}}}}"#);
            let target = format!("/w/{kind}/t{shards}");
            for who in ["docs", "fields", "keeper"] {
                client.authorize(Some(&basic(who)));
                let refused = client.bad("POST", &target, &body).await;
                assert!(refused.starts_with("403 security_exception"), "{who} {kind}: {refused}");
                assert_eq!(client.call("HEAD", &format!("/t{shards}"), "").await.status, 404);
            }
            client.authorize(Some(&basic("whole")));
            client.good("POST", &target, &body).await;
        }
    });
}

/// Who looked after an index set it another name, by which a role let read; or put it into a data stream.
#[test]
fn another_name_gives_no_more_of_an_index() {
    const MORE: &str = "403 security_exception: Adding an alias is not allowed when the alias has more \
                        permissions than any of the indices";
    with_security(|mut client| async move {
        stage(&mut client).await;
        let template = r#"{"index_patterns":["t-stream"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/t-stream", "").await;
        let time = r#"{"properties":{"@timestamp":{"type":"date"}}}"#;
        client.good("PUT", "/w/_mapping", time).await;
        let add = r#"{"actions":[{"add_backing_index":{"data_stream":"t-stream","index":"w"}}]}"#;
        let shut = "403 security_exception: index [w] cannot be a part of data stream";
        for who in ["docs", "fields", "keeper"] {
            client.authorize(Some(&basic(who)));
            assert_eq!(client.bad("PUT", "/w/_alias/t-name", "").await, MORE, "{who}");
            let refused = client.bad("POST", "/_data_stream/_modify", add).await;
            assert!(refused.starts_with(shut), "{who}: {refused}");
            // A name by which it may no more.
            client.good("PUT", "/w/_alias/w-name", "").await;
            client.good("DELETE", "/w/_alias/w-name", "").await;
            client.authorize(Some(&basic("elastic")));
            client.good("PUT", "/w/_alias/t-moved", "").await;
            client.authorize(Some(&basic(who)));
            // Reading by an alias is what its role gives; where the index is named, too, that holds.
            let moved = client.call("POST", "/_data_stream/_migrate/t-moved", "").await;
            assert_ne!(moved.status, 200, "{who}: {}", moved.text());
            client.authorize(Some(&basic("elastic")));
            client.good("DELETE", "/w/_alias/t-moved", "").await;
        }
        client.authorize(Some(&basic("whole")));
        assert_eq!(client.bad("PUT", "/w/_alias/t-name", "").await, MORE, "it may not write");
        client.good("POST", "/_data_stream/_modify", add).await;
    });
}

/// A filter of terms told whether documents that the caller does not see hold a word.
#[test]
fn terms_are_judged_without_hidden_documents() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        client.authorize(Some(&basic("docs")));
        for filter in [
            r#"{"min_doc_freq":1}"#,
            r#"{"max_doc_freq":1}"#,
            r#"{"min_doc_freq":1,"max_num_terms":1}"#,
            r#"{"max_num_terms":5}"#,
        ] {
            let mut answers = Vec::new();
            for word in ["zulu", "zunu"] {
                let body = format!(
                    r#"{{"doc":{{"note":"apple {word}"}},"filter":{filter},"term_statistics":true}}"#
                );
                let found = client.good("POST", "/w/_termvectors?routing=one", &body).await;
                let terms = at(&found, &["term_vectors", "note"]);
                answers.push(json::to_string(terms).replace(word, "WORD"));
                let body =
                    format!(r#"{{"docs":[{{"doc":{{"note":"{word}"}},"filter":{filter}}}]}}"#);
                let found = client.good("POST", "/w/_mtermvectors?routing=one", &body).await;
                let docs = at(&found, &["docs"]).as_array().expect("a list");
                answers
                    .push(json::to_string(at(&docs[0], &["term_vectors"])).replace(word, "WORD"));
            }
            assert_eq!(answers[..2], answers[2..], "{filter}");
        }
        // Who sees all is told what is common.
        client.authorize(Some(&basic("whole")));
        let body = r#"{"doc":{"note":"zulu zunu"},"filter":{"min_doc_freq":1}}"#;
        let found = client.good("POST", "/w/_termvectors?routing=one", body).await;
        let terms = at(&found, &["term_vectors", "note", "terms"]);
        assert!(terms.get("zulu").is_some() && terms.get("zunu").is_none());
    });
}

/// Which words of a text counted was decided by all documents, so that a match told of hidden ones.
#[test]
fn likeness_is_decided_without_hidden_documents() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        client.authorize(Some(&basic("docs")));
        for more in [
            r#""max_query_terms":1,"min_doc_freq":1"#,
            r#""minimum_should_match":"100%","min_doc_freq":1"#,
            r#""minimum_should_match":1,"min_doc_freq":2"#,
            r#""minimum_should_match":1,"max_doc_freq":1"#,
        ] {
            let mut answers = Vec::new();
            for like in ["red zulu", "red zunu"] {
                let body = format!(
                    r#"{{"_source":false,"query":{{"more_like_this":{{"fields":["note"],"like":"{like}","min_term_freq":1,{more}}}}}}}"#
                );
                let found =
                    client.good("POST", "/w/_search?filter_path=hits.hits._id", &body).await;
                answers.push(json::to_string(&found));
            }
            assert_eq!(answers[0], answers[1], "{more}");
        }
        let body =
            r#"{"query":{"more_like_this":{"fields":["note"],"like":"red","min_term_freq":1}}}"#;
        let found = client.good("POST", "/w/_search", body).await;
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1));
    });
}

/// Who managed an index could copy a hidden field into one that is seen, and was told its type.
#[test]
fn a_mapping_reaches_no_hidden_field() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        client.authorize(Some(&basic("fields")));
        for (there, other) in [
            (
                r#""secret":{"type":"keyword","copy_to":"copied"}"#,
                r#""nosuch":{"type":"keyword","copy_to":"copied"}"#,
            ),
            (r#""secret":{"type":"long"}"#, r#""nosuch":{"type":"long"}"#),
            (
                r#""copied":{"type":"keyword","copy_to":"secret"}"#,
                r#""copied":{"type":"keyword","copy_to":"nosuch"}"#,
            ),
        ] {
            let mut told = Vec::new();
            for (properties, name) in [(there, "secret"), (other, "nosuch")] {
                let body = format!(r#"{{"properties":{{{properties}}}}}"#);
                let refused = client.bad("PUT", "/w/_mapping", &body).await;
                assert!(refused.starts_with("403 security_exception"), "{refused}");
                told.push(refused.replace(name, "NAME"));
            }
            assert_eq!(told[0], told[1]);
        }
        client.good("PUT", "/w/_mapping", r#"{"properties":{"copied":{"type":"keyword"}}}"#).await;
        // To whom documents are hidden it says nothing at all of a mapping.
        client.authorize(Some(&basic("docs")));
        let more = r#"{"properties":{"more":{"type":"keyword"}}}"#;
        let refused = client.bad("PUT", "/w/_mapping", more).await;
        assert!(refused.starts_with("403 security_exception"), "{refused}");
    });
}

/// Lists of aliases named those of others, with filters that name hidden fields and values.
#[test]
fn aliases_are_told_to_whom_they_were_granted() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        let add = json!({"actions": [
            {"add": {"index": "w", "alias": "private", "filter": {"term": {"secret": "zulu"}}}},
            {"add": {"index": "w", "alias": "w-view", "filter": {"term": {"secret": "zebra"}}}}
        ]});
        client.good("POST", "/_aliases", &json::to_string(&add)).await;
        for who in ["fields", "docs", "whole"] {
            client.authorize(Some(&basic(who)));
            for target in [
                "/w/_alias",
                "/w",
                "/_alias",
                "/_cat/aliases?format=json",
                "/_resolve/index/w",
                "/_alias/*",
                "/w-view/_search_shards",
            ] {
                let answer = client.call("GET", target, "").await;
                assert_eq!(answer.status, 200, "{who} {target} {}", answer.text());
                let text = answer.text();
                assert!(
                    !text.contains("private") && !text.contains("zulu"),
                    "{who} {target} {text}"
                );
                assert!(text.contains("w-view"), "{who} {target} {text}");
                let is_cat = target.starts_with("/_cat");
                let tells = text.contains("zebra") || (is_cat && text.contains(r#""filter":"*""#));
                let shows_filters = who == "whole" && target != "/_resolve/index/w";
                assert_eq!(tells, shows_filters, "{who} {target} {text}");
            }
            let refused = client.bad("GET", "/_alias/private", "").await;
            assert!(refused.starts_with("403 security_exception"), "{refused}");
            assert_eq!(
                refused.replace("private", "nosuch"),
                client.bad("GET", "/_alias/nosuch", "").await
            );
        }
    });
}

/// What completion fields keep was told by their names.
#[test]
fn statistics_name_no_hidden_field() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        let target = "/w/_stats/completion?completion_fields=*";
        assert!(client.call("GET", target, "").await.text().contains("unseen"));
        client.authorize(Some(&basic("fields")));
        let text = client.call("GET", target, "").await.text();
        assert!(text.contains("seen") && !text.contains("unseen"), "{text}");
    });
}

/// A life below zero made a key without end.
#[test]
fn a_key_lives_for_a_time_or_for_ever() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic")));
        for life in ["-1d", "-1", "0s", "-5m"] {
            let body = format!(r#"{{"name":"k","expiration":"{life}"}}"#);
            let answer = client.call("POST", "/_security/api_key", &body).await;
            assert_eq!(answer.status, 400, "{life}: {}", failure(&answer));
        }
        let made =
            client.good("POST", "/_security/api_key", r#"{"name":"k","expiration":"1d"}"#).await;
        assert!(at(&made, &["expiration"]).as_u64().is_some());
        let made = client.call("POST", "/_security/api_key", r#"{"name":"k"}"#).await;
        assert!(value(&made).get("expiration").is_none());
    });
}

/// A mapping, the filter of a role, and documents that it hides and that it shows.
type Judged = (Value, Value, &'static [&'static str], &'static [&'static str]);

/// Whether a document may be written was judged by other rules than those by which it is found: what
/// was hidden could be read back by an update, and deleted.
#[test]
fn a_write_is_judged_as_a_search_finds() {
    let of = |kind: &str| json!({"properties": {"f": {"type": kind}}});
    let table: Vec<Judged> = vec![
        (
            of("long"),
            json!({"term": {"f": 9007199254740992_u64}}),
            &[r#"{"f":9007199254740993}"#, r#"{"f":1}"#, "{}"],
            &[r#"{"f":9007199254740992}"#, r#"{"f":"9007199254740992"}"#],
        ),
        (
            of("long"),
            json!({"terms": {"f": [9007199254740992_u64]}}),
            &[r#"{"f":9007199254740993}"#],
            &[r#"{"f":[1,9007199254740992]}"#],
        ),
        (
            of("long"),
            json!({"range": {"f": {"lte": 9007199254740992_u64}}}),
            &[r#"{"f":9007199254740993}"#],
            &[r#"{"f":9007199254740992}"#],
        ),
        (
            of("keyword"),
            json!({"bool": {"must_not": {"term": {"f": {"value": "evil", "case_insensitive": true}}}}}),
            &[r#"{"f":"EVIL"}"#, r#"{"f":"evil"}"#],
            &[r#"{"f":"good"}"#, "{}"],
        ),
        (
            of("wildcard"),
            json!({"bool": {"must_not": {"term": {"f": {"value": "evil", "case_insensitive": true}}}}}),
            &[r#"{"f":"EVIL"}"#],
            &[r#"{"f":"good"}"#],
        ),
        (
            of("unsigned_long"),
            json!({"term": {"f": 18446744073709551614_u64}}),
            &[r#"{"f":18446744073709551615}"#],
            &[r#"{"f":18446744073709551614}"#],
        ),
        (
            of("float"),
            json!({"bool": {"must_not": {"term": {"f": 0.1}}}}),
            &[r#"{"f":0.1}"#, r#"{"f":0.100000001}"#],
            &[r#"{"f":0.2}"#],
        ),
        (
            of("half_float"),
            json!({"range": {"f": {"lt": 2049}}}),
            &[r#"{"f":2050.9}"#],
            &[r#"{"f":2047}"#],
        ),
        (
            of("keyword"),
            json!({"bool": {"should": [{"term": {"f": "me"}}], "minimum_should_match": 0,
                "filter": {"exists": {"field": "f"}}}}),
            &["{}"],
            &[r#"{"f":"other"}"#],
        ),
        (
            json!({"properties": {"f": {"type": "nested", "properties": {"k": {"type": "keyword"}}}}}),
            json!({"term": {"f.k": "me"}}),
            &[r#"{"f":{"k":"me"}}"#],
            &[],
        ),
        (of("keyword"), json!({"term": {"f": 5}}), &[r#"{"f":5.0}"#], &[r#"{"f":"5"}"#]),
        (
            json!({"properties": {"f": {"type": "keyword", "index": false, "doc_values": false}}}),
            json!({"exists": {"field": "f"}}),
            &[r#"{"f":"any"}"#],
            &[],
        ),
        (
            of("long"),
            json!({"bool": {"must_not": {"range": {"f": {"gte": 5, "lte": 9, "boost": 2}}}}}),
            &[r#"{"f":7}"#],
            &[r#"{"f":4}"#],
        ),
        (
            of("keyword"),
            json!({"bool": {"must_not": [{"term": {"f": "x"}}], "adjust_pure_negative": false}}),
            &[r#"{"f":"x"}"#],
            &[],
        ),
        // A field that the mapping does not know before the document brings it.
        (
            json!({"properties": {"g": {"type": "keyword"}}}),
            json!({"bool": {"must_not": {"term": {"f": 5}}}}),
            &[r#"{"f":5}"#],
            &[r#"{"f":6}"#],
        ),
        (
            of("text"),
            json!({"match": {"f": "red"}}),
            &[r#"{"f":"blue"}"#],
            &[r#"{"f":"Red ones"}"#],
        ),
    ];
    for (at, (mapping, filter, hidden, shown)) in table.into_iter().enumerate() {
        with_security(move |mut client| async move {
            client.authorize(Some(&basic("elastic")));
            let body = json!({"mappings": mapping, "settings": {"number_of_replicas": 0}});
            client.good("PUT", "/w", &json::to_string(&body)).await;
            let all = json!(["read", "write"]);
            let entry = json!({"names": ["w"], "privileges": all, "query": (filter.clone())});
            person(&mut client, "limited", json!([entry])).await;
            let told = |doc: &str| format!("{at}: {filter:?} {doc}");
            for doc in hidden {
                client.authorize(Some(&basic("limited")));
                // Before it is there, and so before the mapping knows its fields.
                let answer = client.call("PUT", "/w/_doc/new", doc).await;
                assert_eq!(answer.status, 403, "{} {}", told(doc), answer.text());
                let answer = client.call("POST", "/w/_doc", doc).await;
                assert_eq!(answer.status, 403, "{} {}", told(doc), answer.text());
            }
            for doc in hidden {
                client.authorize(Some(&basic("elastic")));
                client.good("PUT", "/w/_doc/1", doc).await;
                client.authorize(Some(&basic("limited")));
                assert_eq!(client.call("GET", "/w/_doc/1", "").await.status, 404, "{}", told(doc));
                for (method, target, body, status) in [
                    ("POST", "/w/_update/1?_source=true", r#"{"doc":{"other":1}}"#, 404),
                    ("DELETE", "/w/_doc/1", "", 403),
                    ("PUT", "/w/_doc/1", shown.first().copied().unwrap_or(doc), 403),
                ] {
                    let answer = client.call(method, target, body).await;
                    assert_eq!(answer.status, status, "{} {method} {}", told(doc), answer.text());
                }
            }
            for doc in shown {
                client.authorize(Some(&basic("limited")));
                client.good("PUT", "/w/_doc/2", doc).await;
                client.good("GET", "/w/_doc/2", "").await;
                client.good("POST", "/w/_update/2?_source=true", r#"{"doc":{"other":1}}"#).await;
                let moved = hidden.iter().filter(|hidden| **hidden != "{}");
                for hidden in moved {
                    let body = format!(r#"{{"doc":{hidden}}}"#);
                    let answer = client.call("POST", "/w/_update/2", &body).await;
                    assert_eq!(answer.status, 403, "{} {}", told(doc), answer.text());
                }
                client.good("DELETE", "/w/_doc/2", "").await;
            }
        });
    }
}

/// The filter of an alias was asked of hidden fields: who set it read them letter by letter, and who used
/// it was shown it.
#[test]
fn filters_of_aliases_tell_nothing_hidden() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        let add = json!({"actions": [{"add": {"index": "w", "alias": "w-kept",
            "filter": {"term": {"secret": "zebra"}}}}]});
        client.good("POST", "/_aliases", &json::to_string(&add)).await;
        client.authorize(Some(&basic("fields")));
        for filter in [
            json!({"prefix": {"secret": "z"}}),
            json!({"bool": {"must": [{"exists": {"field": "secret"}}]}}),
            json!({"query_string": {"query": "secret:z*"}}),
            json!({"script": {"script": "throw new RuntimeException(doc['secret'].value)"}}),
        ] {
            let said = json!({"filter": (filter.clone())});
            let action = json!({"add": {"index": "w", "alias": "w-a", "filter": (filter.clone())}});
            let made = json!({"aliases": {"w-b": (said.clone())}});
            for (method, target, body) in [
                ("PUT", "/w/_alias/w-a", &said),
                ("POST", "/_aliases", &json!({"actions": [action]})),
                ("PUT", "/w-new", &made),
            ] {
                let refused = client.bad(method, target, &json::to_string(body)).await;
                assert!(refused.starts_with("403 security_exception"), "{filter:?} {refused}");
            }
        }
        // On what is seen it may filter, and who sees all by anything.
        let fine = r#"{"filter":{"term":{"customer":"acme"}}}"#;
        client.good("PUT", "/w/_alias/w-fine", fine).await;
        let kept = r#"{"query":{"match_all":{}}}"#;
        for (who, tells) in [("fields", false), ("docs", false), ("whole", true)] {
            client.authorize(Some(&basic(who)));
            for target in [
                "/w-kept/_validate/query?explain=true",
                "/w-kept/_explain/v1?routing=one",
                "/w-kept/_search?explain=true",
            ] {
                let answer = client.call("POST", target, kept).await;
                let told = answer.text();
                assert_eq!(answer.status, 200, "{who} {target} {told}");
                assert_eq!(
                    told.contains("zebra"),
                    // Its own documents may hold the word.
                    tells || (who == "docs" && target.contains("_search")),
                    "{who} {target} {told}"
                );
            }
            let profiled = r#"{"profile":true,"query":{"match_all":{}}}"#;
            let answer = client.call("POST", "/w-kept/_search", profiled).await;
            assert_eq!(answer.status == 200, tells, "{who} {}", answer.text());
        }
        // A document out of the alias's sight is not explained through it.
        client.authorize(Some(&basic("docs")));
        let answer = client.call("POST", "/w-kept/_explain/v2?routing=one", kept).await;
        assert_eq!(at(&value(&answer), &["matched"]), &Value::Bool(false));
    });
}

/// A caller who does not see one field could change no other of a document that has it, and learned by that
/// which documents have it.
#[test]
fn an_update_leaves_hidden_fields_alone() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic")));
        let code = r#"{"mappings":{"properties":{"code":{"type":"long"}}}}"#;
        client.good("PUT", "/u", code).await;
        client.good("PUT", "/u/_doc/1", r#"{"n":1,"secret":"s","o":{"x":"h","y":2}}"#).await;
        client.good("PUT", "/u/_doc/2?refresh=true", r#"{"n":1,"o":{"y":2}}"#).await;
        let hides = json!({"grant": ["*"], "except": ["secret", "o.x", "code"]});
        let rights =
            json!({"names": ["u"], "privileges": ["read", "write"], "field_security": hides});
        person(&mut client, "some", json!([rights])).await;
        for id in ["1", "2"] {
            let path = format!("/u/_update/{id}");
            client.authorize(Some(&basic("some")));
            for (change, status) in [
                (r#"{"n":5,"o":{"y":3}}"#, 200),
                (r#"{"secret":"s"}"#, 403),
                (r#"{"secret":null}"#, 403),
                (r#"{"o":{"x":"h"}}"#, 403),
                (r#"{"o":null}"#, 403),
                (r#"{"o":[]}"#, 403),
                // Whether it changes anything would tell of an object with hidden members alone.
                (r#"{"o":{}}"#, 403),
                // The mapping's words about a value would tell what the field is.
                (r#"{"code":"no number"}"#, 403),
            ] {
                let answer = client.call("POST", &path, &format!(r#"{{"doc":{change}}}"#)).await;
                assert_eq!(answer.status, status, "{id} {change}");
            }
            let again = client.good("POST", &path, r#"{"doc":{"n":5},"_source":true}"#).await;
            assert_eq!(at(&again, &["result"]).as_str(), Some("noop"), "it sees all that it names");
            let shown = at(&again, &["get", "_source"]);
            assert_eq!(json::to_string(shown), r#"{"n":5,"o":{"y":3}}"#, "{id}");
            let lines = format!(
                "{{\"update\":{{\"_index\":\"u\",\"_id\":\"{id}\"}}}}\n{{\"doc\":{{\"n\":6}}}}\n"
            );
            let answer = client.good("POST", "/_bulk", &lines).await;
            assert_eq!(at(&answer, &["errors"]).as_bool(), Some(false));
        }
        for (method, path, body) in [
            ("PUT", "/u/_doc/3", r#"{"code":"no number"}"#),
            ("POST", "/u/_update/3", r#"{"doc":{"n":1},"upsert":{"code":"no number"}}"#),
        ] {
            assert_eq!(client.call(method, path, body).await.status, 403, "{method} {path}");
        }
        client.authorize(Some(&basic("elastic")));
        let whole = client.good("GET", "/u/_source/1", "").await;
        assert_eq!(json::to_string(&whole), r#"{"n":6,"secret":"s","o":{"x":"h","y":3}}"#);
    });
}

/// The whole document was read before it was judged, and what was wrong with it was told with its hidden
/// values, to who may not read it at all, too.
#[test]
fn an_update_that_fails_tells_nothing_hidden() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic")));
        let mapping = json!({"mappings": {"properties": {
            "fl": {"type": "flattened"}, "r": {"type": "integer_range"}, "rf": {"type": "rank_features"},
            "c": {"type": "completion"}, "n": {"type": "integer"},
        }}});
        client.good("PUT", "/px", &json::to_string(&mapping)).await;
        let source = r#"{"s":"SECRETX","fl":{"h":"SECRETX","p":"1"},"r":{"gte":4242,"lte":5000},"rf":{"h":4242,"p":1},"c":{"input":["a"],"weight":4242},"n":1}"#;
        client.good("PUT", "/px/_doc/1?refresh=true", source).await;
        let except = ["s", "fl.h", "r.gte", "rf.h", "c.weight"];
        let except = Value::from(except.map(Value::from).to_vec());
        let rule = json!({"grant": ["*"], "except": except});
        let both = json!({"names": ["px"], "privileges": ["read", "write"]});
        let mut fields = both.clone();
        fields.as_object_mut().expect("an object").insert("field_security", rule);
        let mut filtered = both.clone();
        let other = json!({"term": {"n": 77}});
        filtered.as_object_mut().expect("an object").insert("query", other);
        let blind = json!({"names": ["px"], "privileges": ["write"]});
        person(&mut client, "fields", json!([fields])).await;
        person(&mut client, "filtered", json!([filtered])).await;
        person(&mut client, "blind", json!([blind])).await;
        person(&mut client, "both", json!([both])).await;
        let long = format!(r#"{{"fl":{{"p":"{}"}}}}"#, "x".repeat(33_000));
        for who in ["fields", "filtered", "blind", "both"] {
            client.authorize(Some(&basic(who)));
            let mut places = Vec::new();
            for change in [
                long.as_str(),
                r#"{"r":{"lte":"bad"}}"#,
                r#"{"r":{"lte":1}}"#,
                r#"{"rf":{"p":"bad"}}"#,
                r#"{"c":{"input":[1]}}"#,
                r#"{"n":"bad"}"#,
            ] {
                let body = format!(r#"{{"doc":{change}}}"#);
                let one = client.call("POST", "/px/_update/1", &body).await;
                let line = format!("{{\"update\":{{\"_index\":\"px\",\"_id\":\"1\"}}}}\n{body}\n");
                let bulk = client.call("POST", "/_bulk", &line).await;
                let answers = [one.text(), bulk.text()].map(|text| text.to_string());
                let told =
                    answers.iter().any(|text| text.contains("4242") || text.contains("SECRETX"));
                if who == "both" {
                    assert!(told || change.contains("bad"), "{change} {answers:?}");
                    continue;
                }
                assert!(!told, "{who} {change} {answers:?}");
                let wanted = if who == "filtered" { vec![404] } else { vec![400, 403] };
                assert!(wanted.contains(&one.status), "{who} {change} {answers:?}");
                places.push(answers[0].clone());
            }
            // Where it stands in the document would tell how long that is.
            if let Some(last) = places.last().filter(|_| who != "filtered") {
                assert!(last.contains("[1:6] failed to parse field [n]"), "{who} {last}");
            }
        }
    });
}
