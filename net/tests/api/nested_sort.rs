//! Sort keys of documents inside: which of them count, and how many (`MultiValueMode`).

use json::{Value, json};

use crate::place::{Client, at, value, with_node};

const MAPPING: &str = r#"{"mappings":{"properties":{"n":{"type":"nested","properties":{
    "v":{"type":"long"},"d":{"type":"double"},"k":{"type":"keyword"},"g":{"type":"geo_point"},
    "m":{"type":"nested","properties":{"w":{"type":"long"}}}}},
    "p":{"type":"nested","include_in_root":true,"properties":{"v":{"type":"long"},
        "q":{"type":"nested","include_in_parent":true,"properties":{"w":{"type":"long"}}}}}}}}"#;

async fn load(client: &mut Client, docs: &[(&str, &str)]) {
    client.good("PUT", "/i", MAPPING).await;
    for (id, source) in docs {
        client.good("PUT", &format!("/i/_doc/{id}?refresh=true"), source).await;
    }
}

/// Ids and the values that they are sorted by.
async fn sorted(client: &mut Client, key: &str) -> Vec<(String, Value)> {
    let body = format!(r#"{{"sort":[{key}]}}"#);
    let found = client.good("POST", "/i/_search", &body).await;
    let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
    let pair = |hit: &Value| {
        let id = at(hit, &["_id"]).as_str().expect("text").to_owned();
        (id, at(hit, &["sort"]).as_array().expect("a list")[0].clone())
    };
    hits.iter().map(pair).collect()
}

async fn expect(client: &mut Client, key: &str, wanted: &[(&str, Value)]) {
    let found = sorted(client, key).await;
    let wanted: Vec<_> = wanted.iter().map(|(id, key)| ((*id).to_owned(), key.clone())).collect();
    assert_eq!(found, wanted, "{key}");
}

/// Objects of a deeper path stand before theirs, and one of them used up how many count: the value
/// of document 1 was that of none.
#[test]
fn objects_of_a_deeper_path_do_not_use_up_how_many_count() {
    with_node(|mut client| async move {
        let docs = [("1", r#"{"n":[{"v":7,"m":[{"w":1}]}]}"#), ("2", r#"{"n":[{"v":9}]}"#)];
        load(&mut client, &docs).await;
        let key = r#"{"n.v":{"nested":{"path":"n","max_children":1}}}"#;
        expect(&mut client, key, &[("1", json!(7)), ("2", json!(9))]).await;
        // The outermost says how many count of the innermost.
        client.good("PUT", "/i/_doc/1?refresh=true", r#"{"n":[{"m":[{"w":5},{"w":3}]}]}"#).await;
        let key = r#"{"n.m.w":{"nested":{"path":"n","max_children":1,"nested":{"path":"n.m"}}}}"#;
        let none = json!(i64::MAX);
        expect(&mut client, key, &[("1", json!(5)), ("2", none.clone())]).await;
        // Values of a deeper path are not those of this one.
        let key = r#"{"n.m.w":{"nested":{"path":"n"}}}"#;
        expect(&mut client, key, &[("2", none.clone()), ("1", none)]).await;
    });
}

#[test]
fn values_that_stand_in_two_paths_count_once() {
    with_node(|mut client| async move {
        load(&mut client, &[("1", r#"{"p":[{"v":1,"q":[{"w":4},{"w":5}]}]}"#)]).await;
        let key = r#"{"p.q.w":{"mode":"sum","nested":{"path":"p"}}}"#;
        expect(&mut client, key, &[("1", json!(9))]).await;
        let key = r#"{"p.q.w":{"mode":"sum","nested":{"path":"p","nested":{"path":"p.q"}}}}"#;
        expect(&mut client, key, &[("1", json!(9))]).await;
    });
}

/// Only those with a value use up how many count, whatever the key is made of.
#[test]
fn objects_without_a_value_do_not_use_up_how_many_count() {
    with_node(|mut client| async move {
        let source = r#"{"n":[{"m":{"w":1}},{"v":3,"d":0.5,"k":"c","g":"0,3"},
            {"m":{"w":1}},{"v":9,"d":1.5,"k":"a","g":"0,1"},{"v":1,"d":4.0,"k":"b","g":"0,2"}]}"#;
        load(&mut client, &[("1", source)]).await;
        let none = json!(i64::MAX);
        for (mode, values) in [("min", [3, 3, 1]), ("max", [3, 9, 9]), ("sum", [3, 12, 13])] {
            for (count, wanted) in (1..).zip(values) {
                let key = format!(
                    r#"{{"n.v":{{"mode":"{mode}","nested":{{"path":"n","max_children":{count}}}}}}}"#
                );
                expect(&mut client, &key, &[("1", json!(wanted))]).await;
            }
        }
        // Of a negative number Elasticsearch says nothing either: the first is one too many.
        for (count, wanted) in [(r#""1""#, json!(3)), ("0", none.clone()), ("-1", none)] {
            let key = format!(r#"{{"n.v":{{"nested":{{"path":"n","max_children":{count}}}}}}}"#);
            expect(&mut client, &key, &[("1", wanted)]).await;
        }
        let filtered = r#"{"n.v":{"mode":"sum","nested":{"path":"n","max_children":1,
            "filter":{"range":{"n.v":{"lt":9}}}}}}"#;
        expect(&mut client, filtered, &[("1", json!(3))]).await;
        let double = r#"{"n.d":{"mode":"avg","nested":{"path":"n","max_children":2}}}"#;
        expect(&mut client, double, &[("1", json!(1.0))]).await;
        for (mode, word) in [("min", "a"), ("max", "c")] {
            let key = format!(
                r#"{{"n.k":{{"mode":"{mode}","nested":{{"path":"n","max_children":2}}}}}}"#
            );
            expect(&mut client, &key, &[("1", json!(word))]).await;
        }
        let place = r#"{"_geo_distance":{"n.g":"0,0","unit":"km","mode":"max",
            "nested":{"path":"n","max_children":1}}}"#;
        let far = sorted(&mut client, place).await[0].1.as_f64().expect("a number");
        assert!((far - 333.585).abs() < 0.01, "{far}");
    });
}

/// A script has a value for each object of the path, and for no other.
#[test]
fn scripts_run_for_objects_of_the_path_alone() {
    with_node(|mut client| async move {
        let source = r#"{"n":[{"v":3,"m":[{"w":1},{"w":1}]},{"v":9}]}"#;
        load(&mut client, &[("1", source)]).await;
        let script = |kind: &str, script: &str, more: &str| {
            format!(
                r#"{{"_script":{{"type":"{kind}","script":"{script}","nested":{{"path":"n"{more}}}{}}}}}"#,
                if kind == "number" { r#","mode":"sum""# } else { "" }
            )
        };
        expect(&mut client, &script("number", "doc['n.v'].value", ""), &[("1", json!(12.0))]).await;
        let one = r#","max_children":1"#;
        expect(&mut client, &script("number", "doc['n.v'].value", one), &[("1", json!(3.0))]).await;
        let text = script("string", "'' + doc['n.v'].value", one);
        expect(&mut client, &text, &[("1", json!("3"))]).await;
    });
}

/// Hits of an aggregation were sorted by all objects, whatever its filter was.
#[test]
fn hits_of_aggregations_are_sorted_by_the_objects_that_count() {
    with_node(|mut client| async move {
        let docs = [
            ("1", r#"{"n":[{"m":[{"w":1}]},{"v":7,"k":"a"},{"v":1,"k":"b"}]}"#),
            ("2", r#"{"n":[{"v":9,"k":"b"},{"v":5,"k":"a"}]}"#),
        ];
        load(&mut client, &docs).await;
        for (nested, wanted) in [
            (r#""filter":{"term":{"n.k":"a"}}"#, [5, 7]),
            (r#""max_children":1"#, [7, 9]),
            (r#""max_children":2"#, [1, 5]),
        ] {
            let sort = format!(r#"[{{"n.v":{{"nested":{{"path":"n",{nested}}}}}}}]"#);
            // A key of the request has a filter of its own, and another one stands before.
            let body = format!(
                r#"{{"size":0,"sort":[{{"n.v":{{"nested":{{"path":"n","filter":{{"term":{{"n.k":"b"}}}}}}}}}}],
                "aggs":{{"f":{{"filter":{{"match_all":{{}}}},"aggs":{{"t":{{"top_hits":{{"sort":{sort}}}}}}}}}}}}}"#
            );
            let found = client.good("POST", "/i/_search", &body).await;
            let hits = at(&found, &["aggregations", "f", "t", "hits", "hits"]);
            let keys = hits.as_array().expect("a list").iter().map(|hit| {
                at(hit, &["sort"]).as_array().expect("a list")[0].as_i64().expect("a number")
            });
            assert!(keys.eq(wanted), "{nested}: {}", json::to_string(hits));
        }
    });
}

#[test]
fn what_elasticsearch_refuses_is_refused() {
    with_node(|mut client| async move {
        load(&mut client, &[("1", r#"{"a":1}"#)]).await;
        let median = r#"{"sort":[{"n.v":{"mode":"median","nested":{"path":"n"}}}]}"#;
        // Where nothing stands inside, nothing is asked for.
        client.good("POST", "/i/_search", median).await;
        client.good("PUT", "/i/_doc/2?refresh=true", r#"{"n":[{"v":1},{"v":2}]}"#).await;
        let deep = r#"{"sort":[{"n.m.w":{"nested":{"path":"n","nested":{"path":"n.m","max_children":1}}}}]}"#;
        let place =
            r#"{"sort":[{"_geo_distance":{"n.g":"0,0","mode":"median","nested":{"path":"n"}}}]}"#;
        let script = r#"{"sort":[{"_script":{"type":"number","script":"1","mode":"median","nested":{"path":"n"}}}]}"#;
        let unsupported = ("illegal_argument_exception", "Unsupported sort mode: MEDIAN");
        let too_deep =
            ("query_shard_exception", "max_children is only supported on top level of nested sort");
        for (body, (kind, reason)) in
            [(median, unsupported), (place, unsupported), (script, unsupported), (deep, too_deep)]
        {
            let answer = client.call("POST", "/i/_search", body).await;
            assert_eq!(answer.status, 400, "{body}");
            let error = value(&answer);
            let root = &at(&error, &["error", "root_cause"]).as_array().expect("a list")[0];
            assert_eq!(at(root, &["type"]).as_str(), Some(kind), "{body}");
            assert_eq!(at(root, &["reason"]).as_str(), Some(reason), "{body}");
        }
    });
}
