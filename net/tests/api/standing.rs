//! Where documents stand in their shard, and what is said of fields beside them, to callers from whom some is hidden.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};

use crate::place::{self, Client, at, with_security};

fn basic(user: &str) -> String {
    let password = if user == "elastic" { "secret".to_owned() } else { format!("{user}-is-here") };
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

async fn person(client: &mut Client, name: &str, limits: Value) {
    let entry = json!({"names": ["a", "b"], "privileges": ["read", "view_index_metadata"]});
    place::person(client, (name, &format!("{name}-is-here")), &entry, &limits).await;
}

/// Documents of `mine` between others in two indices of one shard, objects inside of each; `docs` sees `mine`,
/// `fields` all documents without these objects.
async fn stage(client: &mut Client) {
    client.authorize(Some(&basic("elastic")));
    let index = r#"{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{
        "who":{"type":"keyword"},"n":{"type":"long"},
        "in":{"type":"nested","properties":{"x":{"type":"long"}}}}}}"#;
    for (name, order) in [("a", "ommomoommooom"), ("b", "mmmoooooomooo")] {
        client.good("PUT", &format!("/{name}"), index).await;
        let mut lines = String::new();
        for (at, who) in order.chars().enumerate() {
            lines += &format!("{{\"index\":{{\"_id\":\"{name}{at}\"}}}}\n");
            let who = if who == 'm' { "mine" } else { "other" };
            lines += &format!("{{\"who\":\"{who}\",\"n\":1,\"in\":[{{\"x\":1}},{{\"x\":2}}]}}\n");
        }
        client.good("POST", &format!("/{name}/_bulk?refresh=true"), &lines).await;
    }
    person(client, "docs", json!({"query": {"term": {"who": "mine"}}})).await;
    person(client, "fields", json!({"field_security": {"grant": ["*"], "except": ["in*"]}})).await;
}

/// Ids and last sort values of hits.
fn hits(answer: &Value) -> Vec<(String, u64)> {
    let hits = at(answer, &["hits", "hits"]).as_array().expect("hits");
    let hit = |hit: &Value| {
        let sort = at(hit, &["sort"]).as_array().and_then(|sort| sort.last()?.as_u64());
        (at(hit, &["_id"]).as_str().expect("an id").to_owned(), sort.expect("a number"))
    };
    hits.iter().map(hit).collect()
}

/// All hits, two by two, each page after the last hit of the page before.
async fn pages(client: &mut Client, target: &str, body: &Value) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    let mut body = body.clone();
    let object = body.as_object_mut().expect("an object");
    object.insert("size", 2);
    loop {
        let answer = client.good("POST", target, &json::to_string(&body)).await;
        let page = hits(&answer);
        let list = at(&answer, &["hits", "hits"]).as_array().expect("hits");
        let Some(last) = list.last() else { return all };
        let after = at(last, &["sort"]).clone();
        body.as_object_mut().expect("an object").insert("search_after", after);
        all.extend(page);
    }
}

/// Two numbers of places told how many documents, and objects of hidden documents, are between.
#[test]
fn a_place_tells_nothing_of_what_is_hidden_before_it() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        let by_place = json!({"sort": ["_doc"]});
        let plain = pages(&mut client, "/a,b/_search", &by_place).await;
        assert_eq!(plain.len(), 26);
        assert!(plain.iter().all(|(_, place)| *place < 39), "{plain:?}");
        for (who, count) in [("docs", 10), ("fields", 26)] {
            client.authorize(Some(&basic(who)));
            let told = pages(&mut client, "/a,b/_search", &by_place).await;
            assert_eq!(told.len(), count, "{who}");
            // Shard by shard, as how both lie between each other told as much.
            let first = told.iter().take_while(|(id, _)| id.starts_with('a')).count();
            assert!(told[first..].iter().all(|(id, _)| id.starts_with('b')), "{told:?}");
            let safe = |place: u64| (1 << 30..1 << 53).contains(&place);
            assert!(told.iter().filter(|(_, place)| safe(*place)).count() + 1 >= count, "{told:?}");
            let rises = told.windows(2).all(|pair| pair[0].1 < pair[1].1);
            assert!(!rises, "{told:?}");
            assert_eq!(pages(&mut client, "/a,b/_search", &by_place).await, told);
            let backwards = json!({"sort": [{"_doc": "desc"}]});
            let mut back = pages(&mut client, "/a,b/_search", &backwards).await;
            back.reverse();
            assert_eq!(back, told);
            // The same among the hits of an aggregation, and in a moment that is held.
            let body = r#"{"size":0,"aggs":{"t":{"top_hits":{"sort":["_doc"],"size":30}}}}"#;
            let answer = client.good("POST", "/a,b/_search", body).await;
            let top = hits(at(&answer, &["aggregations", "t"]));
            let ids = |list: &[(String, u64)]| -> Vec<String> {
                list.iter().map(|(id, _)| id.clone()).collect()
            };
            assert_eq!(ids(&top), ids(&told));
            assert!(top.iter().filter(|(_, place)| safe(*place)).count() + 1 >= count, "{top:?}");
            let pit = client.good("POST", "/a,b/_pit?keep_alive=1m", "").await;
            let pit = json!({"id": (at(&pit, &["id"]).clone())});
            let body = json!({"pit": (pit.clone()), "sort": ["n"]});
            let held = pages(&mut client, "/_search", &body).await;
            assert_eq!(held, told);
            let mut parts = Vec::new();
            for id in 0..3 {
                let body = json!({"pit": (pit.clone()), "slice": {"id": id, "max": 3}, "size": 100,
                    "sort": ["n"]});
                parts.extend(hits(&client.good("POST", "/_search", &json::to_string(&body)).await));
            }
            parts.sort();
            let mut whole = told.clone();
            whole.sort();
            assert_eq!(parts, whole, "{who}");
        }
    });
}

/// A range of places as slice told in which part of its shard a document stands.
#[test]
fn a_slice_tells_nothing_of_what_is_hidden_before_it() {
    let mut slices = Vec::new();
    for before in [0, 40] {
        let (told, tell) = std::sync::mpsc::channel();
        with_security(|mut client| async move {
            stage(&mut client).await;
            client.authorize(Some(&basic("elastic")));
            let mut lines = String::new();
            for at in 0..before {
                lines += &format!("{{\"index\":{{\"_id\":\"o{at}\"}}}}\n{{\"who\":\"other\"}}\n");
            }
            for at in 0..8 {
                lines += &format!("{{\"index\":{{\"_id\":\"m{at}\"}}}}\n{{\"who\":\"mine\"}}\n");
            }
            client.good("DELETE", "/a", "").await;
            let one = r#"{"settings":{"number_of_shards":1}}"#;
            client.good("PUT", "/a", one).await;
            client.good("POST", "/a/_bulk?refresh=true", &lines).await;
            client.good("POST", "/a/_forcemerge?max_num_segments=1", "").await;
            client.authorize(Some(&basic("docs")));
            let pit = client.good("POST", "/a/_pit?keep_alive=1m", "").await;
            let mut parts = Vec::new();
            for id in 0..2 {
                let body = json!({"pit": {"id": (at(&pit, &["id"]).clone())},
                    "slice": {"id": id, "max": 2}, "size": 100, "sort": ["_shard_doc"]});
                let answer = client.good("POST", "/_search", &json::to_string(&body)).await;
                let mut ids: Vec<String> = hits(&answer).into_iter().map(|(id, _)| id).collect();
                ids.sort();
                parts.push(ids);
            }
            told.send(parts).expect("somebody hears");
        });
        slices.push(tell.recv().expect("told"));
    }
    assert_eq!(slices[0], slices[1]);
    assert_eq!(slices[0].iter().map(Vec::len).sum::<usize>(), 8);
}

/// Explanations called a document by its place, and how far two of them lie apart told how many objects are hidden
/// between.
#[test]
fn an_explanation_tells_nothing_of_what_is_hidden_before_it() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        let number = |text: &str| {
            let (_, behind) = text.split_once("weight(who:mine in ").expect("a place in it");
            behind.split(')').next().and_then(|it| it.parse::<u64>().ok()).expect("a number")
        };
        let mut told = Vec::new();
        for who in ["elastic", "fields", "docs"] {
            client.authorize(Some(&basic(who)));
            let asked = r#"{"explain":true,"query":{"term":{"who":"mine"}}}"#;
            let answer = client.call("POST", "/a/_search", asked).await.text();
            let mut numbers: Vec<u64> = answer
                .split("_shard")
                .skip(1)
                .filter(|it| it.contains("weight"))
                .map(number)
                .collect();
            let one = client.call("GET", "/a/_explain/a1", r#"{"query":{"term":{"who":"mine"}}}"#);
            numbers.push(number(&one.await.text()));
            assert!(numbers.len() > 4, "{who}: {answer}");
            let none =
                client.call("GET", "/a/_explain/a1", r#"{"query":{"range":{"n":{"gt":5}}}}"#);
            let none = none.await.text();
            let (_, id) = none.split_once("match id ").expect("none matches");
            let id =
                id.split(|it: char| !it.is_ascii_digit()).next().unwrap_or_default().to_owned();
            assert_eq!(Some(&id.parse().expect("a number")), numbers.last(), "{who}");
            told.push(numbers);
        }
        let places: base::hash::Set<u64> = told[0].iter().copied().collect();
        for numbers in &told[1..] {
            assert!(numbers.iter().all(|number| !places.contains(number)), "{told:?}");
        }
        assert_ne!(told[1], told[2], "limits have veils of their own");
    });
}

/// The number of all in which a word is significant held the objects that are hidden.
#[test]
fn what_is_significant_tells_no_number_of_hidden_objects() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        let asked = r#"{"size":0,"aggs":{"a":{"significant_terms":{"field":"who"}}}}"#;
        for (who, all) in [("elastic", 39), ("fields", 13)] {
            client.authorize(Some(&basic(who)));
            let answer = client.good("POST", "/a/_search", asked).await;
            let found = at(&answer, &["aggregations", "a", "bg_count"]).as_u64();
            assert_eq!(found, Some(all), "{who}");
        }
    });
}

/// What nobody was told as a place is none.
#[test]
fn a_place_that_was_made_up_is_refused() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        client.authorize(Some(&basic("docs")));
        let body = r#"{"sort":["_doc"],"search_after":[9007199254740991]}"#;
        let told = client.call("POST", "/a/_search", body).await.text();
        assert!(told.contains("was given to nobody as the place of a document"), "{told}");
        let body =
            r#"{"size":0,"aggs":{"t":{"top_metrics":{"metrics":{"field":"n"},"sort":["_doc"]}}}}"#;
        let told = client.call("POST", "/a/_search", body).await.text();
        assert!(told.contains("sorting by _doc is not supported"), "{told}");
    });
}

/// A mapping and settings named fields that their reader does not see.
#[test]
fn what_is_said_beside_fields_names_no_hidden_one() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic")));
        let body = r#"{"settings":{"index.sort.field":["sec","n"],"index.query.default_field":["n","sec"]},
            "mappings":{"_source":{"excludes":["sec*"]},
            "dynamic_templates":[{"t":{"match":"sec_*","mapping":{"type":"keyword"}}}],"properties":{
            "n":{"type":"long","copy_to":["sec","m"]},"m":{"type":"long"},"sec":{"type":"long"}}}}"#;
        client.good("PUT", "/a", body).await;
        person(
            &mut client,
            "part",
            json!({"field_security": {"grant": ["*"], "except": ["sec*"]}}),
        )
        .await;
        for target in ["/a", "/a/_mapping", "/a/_settings", "/a/_settings/index.sort*"] {
            client.authorize(Some(&basic("elastic")));
            let answer = client.call("GET", target, "").await;
            assert!(answer.text().contains("sec"), "{target}");
            client.authorize(Some(&basic("part")));
            let answer = client.call("GET", target, "").await;
            assert!(!answer.text().contains("sec"), "{target} {}", answer.text());
        }
        let answer = client.good("GET", "/a/_mapping", "").await;
        let n = at(&answer, &["a", "mappings", "properties", "n"]);
        assert_eq!(*n, json!({"type": "long", "copy_to": ["m"]}));
    });
}

/// Which documents a sample holds changed as hidden ones went.
#[test]
fn a_sample_tells_nothing_of_what_is_hidden_before_it() {
    with_security(|mut client| async move {
        stage(&mut client).await;
        client.authorize(Some(&basic("elastic")));
        let mut lines = String::new();
        for at in 0..200 {
            let who = if at % 2 == 0 { "mine" } else { "other" };
            lines += &format!("{{\"index\":{{}}}}\n{{\"who\":\"{who}\",\"n\":{at}}}\n");
        }
        client.good("POST", "/a/_bulk?refresh=true", &lines).await;
        client.authorize(Some(&basic("docs")));
        let body = r#"{"size":0,"aggs":{"s":{"random_sampler":{"probability":0.5,"seed":4},
            "aggs":{"n":{"terms":{"field":"n","size":300}}}}}}"#;
        let sample = async |client: &mut Client| {
            let answer = client.good("POST", "/a/_search", body).await;
            let buckets = at(&answer, &["aggregations", "s", "n", "buckets"]).as_array();
            let keys = buckets.expect("buckets").iter().map(|it| at(it, &["key"]).as_u64());
            let mut keys: Vec<u64> = keys.map(|key| key.expect("a number")).collect();
            keys.sort_unstable();
            keys
        };
        let before = sample(&mut client).await;
        assert!((30..70).contains(&before.len()), "{before:?}");
        client.authorize(Some(&basic("elastic")));
        let others = r#"{"query":{"term":{"who":"other"}}}"#;
        client.good("POST", "/a/_delete_by_query?refresh=true", others).await;
        client.good("POST", "/a/_forcemerge?max_num_segments=1", "").await;
        client.authorize(Some(&basic("docs")));
        assert_eq!(sample(&mut client).await, before);
    });
}

/// A data stream told when its newest hidden document was.
#[test]
fn the_newest_document_of_a_stream_is_one_that_is_seen() {
    with_security(|mut client| async move {
        client.authorize(Some(&basic("elastic")));
        let template = r#"{"index_patterns":["ds*"],"data_stream":{},"template":{"mappings":{"properties":{
            "who":{"type":"keyword"}}}}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        for (who, time) in [("mine", "2020-01-01"), ("other", "2040-01-01")] {
            let doc = format!(r#"{{"@timestamp":"{time}","who":"{who}"}}"#);
            client.good("POST", "/ds/_doc?refresh", &doc).await;
        }
        let rights = ["read", "monitor", "view_index_metadata"];
        for (name, part, privileges, expected) in [
            ("some", json!({"query": {"term": {"who": "mine"}}}), &rights[..], 1_577_836_800_000),
            ("blind", json!({"query": {"term": {"who": "mine"}}}), &["monitor"], 0),
            ("part", json!({"field_security": {"grant": ["who"]}}), &rights, 0),
            ("figures", json!({}), &["monitor"], 2_208_988_800_000),
        ] {
            client.authorize(Some(&basic("elastic")));
            let entry = json!({"names": ["ds"], "privileges": (privileges.to_vec())});
            let password = format!("{name}-is-here");
            place::person(&mut client, (name, &password), &entry, &part).await;
            client.authorize(Some(&basic(name)));
            let stats = client.good("GET", "/_data_stream/ds/_stats", "").await;
            let one = &at(&stats, &["data_streams"]).as_array().expect("a list")[0];
            assert_eq!(at(one, &["maximum_timestamp"]).as_u64(), Some(expected), "{name}");
        }
    });
}
