//! What is asked at such length that workers answer parts of it is answered as what is short.

use json::{Value, json};

use crate::place::{Client, at, with_node};

const COUNT: usize = 200;

/// Two hundred documents in four indices.
async fn fill(client: &mut Client) {
    let mut lines = String::new();
    for number in 0..COUNT {
        lines +=
            &format!("{{\"index\":{{\"_index\":\"many-{}\",\"_id\":\"{number}\"}}}}\n", number % 4);
        let (group, text) = (number % 10, ["a b", "b a", "a c b"][number % 3]);
        lines +=
            &format!("{{\"n\":{number},\"g\":{group},\"k\":\"k{number}\",\"t\":\"{text}\"}}\n");
    }
    client.good("POST", "/_bulk?refresh", &lines).await;
}

fn ids(answer: &Value) -> Vec<&str> {
    let hits = at(answer, &["hits", "hits"]).as_array().expect("a list");
    hits.iter().map(|hit| at(hit, &["_id"]).as_str().expect("a text")).collect()
}

async fn found(client: &mut Client, body: &Value) -> Value {
    client.good("POST", "/many-*/_search", &json::to_string(body)).await
}

#[test]
fn hits_by_many_keys_come_in_the_order_of_the_first_and_show_all() {
    with_node(|mut client| async move {
        fill(&mut client).await;
        let by = |keys: usize| {
            let mut sort: Vec<Value> = vec![json!({"g": "desc"}); keys];
            sort.push(json!({"n": "asc"}));
            json!({"size": COUNT, "sort": sort, "_source": false})
        };
        let few = found(&mut client, &by(1)).await;
        let many = found(&mut client, &by(150)).await;
        assert_eq!(ids(&many), ids(&few));
        assert_eq!(ids(&many)[..2], ["9", "19"]);
        for hit in at(&many, &["hits", "hits"]).as_array().expect("a list") {
            let keys = at(hit, &["sort"]).as_array().expect("a list");
            assert_eq!(keys.len(), 151);
            assert!(keys[..150].iter().all(|key| *key == keys[0]));
        }
        let page = json!({"from": 190, "size": 20, "sort": at(&by(150), &["sort"]).clone()});
        assert_eq!(ids(&found(&mut client, &page).await), ids(&few)[190..]);
    });
}

#[test]
fn a_long_query_means_in_many_indices_what_a_short_one_does() {
    with_node(|mut client| async move {
        fill(&mut client).await;
        let terms = |count: usize| {
            let terms: Vec<Value> = (0..count).map(|at| json!(format!("k{}", at * 3))).collect();
            json!({"size": COUNT, "query": {"terms": {"k.keyword": terms}}, "sort": ["n"]})
        };
        let (short, long) = (terms(COUNT), terms(9_000));
        let short = found(&mut client, &short).await;
        assert_eq!(ids(&short).len(), 67);
        assert_eq!(ids(&found(&mut client, &long).await), ids(&short));
        let count = json::to_string(&json!({"query": at(&long, &["query"]).clone()}));
        let count = client.good("POST", "/many-*/_count", &count).await;
        assert_eq!(at(&count, &["count"]).as_i64(), Some(67));
    });
}

#[test]
fn many_clauses_are_explained_each_as_it_is_alone() {
    with_node(|mut client| async move {
        fill(&mut client).await;
        let phrase = json!({"match_phrase": {"t": {"query": "b a", "slop": 2}}});
        let explain = |query: &Value| json::to_string(&json!({"query": query.clone()}));
        let one = client.good("POST", "/many-0/_explain/0", &explain(&phrase)).await;
        assert_eq!(at(&one, &["matched"]).as_bool(), Some(true));
        let word = json!({"match": {"t": "a"}});
        let word_alone = client.good("POST", "/many-0/_explain/0", &explain(&word)).await;
        let mut clauses = vec![phrase; 20];
        clauses.push(word);
        let all = json!({"bool": {"must": clauses}});
        let all = client.good("POST", "/many-0/_explain/0", &explain(&all)).await;
        let details = at(&all, &["explanation", "details"]).as_array().expect("a list");
        assert_eq!(details.len(), 21);
        assert!(details[..20].iter().all(|it| it == at(&one, &["explanation"])));
        assert_eq!(&details[20], at(&word_alone, &["explanation"]));
        let all = explain(&json!({"match_all": {}}));
        assert_eq!(client.call("POST", "/many-1/_explain/0", &all).await.status, 404);
    });
}

#[test]
fn of_many_queries_with_names_those_that_match_are_told() {
    with_node(|mut client| async move {
        fill(&mut client).await;
        let named = |number: usize| json!({"term": {"n": {"value": number, "_name": format!("q{number:03}")}}});
        let should: Vec<Value> = (0..100).map(named).collect();
        let body = json!({"size": COUNT, "query": {"bool": {"should": should}}, "sort": ["n"]});
        let answer = found(&mut client, &body).await;
        let hits = at(&answer, &["hits", "hits"]).as_array().expect("a list");
        assert_eq!(hits.len(), 100);
        for (number, hit) in hits.iter().enumerate() {
            assert_eq!(at(hit, &["matched_queries"]), &json!([format!("q{number:03}")]));
        }
    });
}

#[test]
fn a_long_query_is_shown_whole_where_it_is_profiled_or_validated() {
    with_node(|mut client| async move {
        fill(&mut client).await;
        let should: Vec<Value> =
            (0..600).map(|at| json!({"term": {"k.keyword": format!("k{at}")}})).collect();
        let query = json!({"bool": {"should": should}});
        let body = json!({"profile": true, "size": 1, "query": query.clone()});
        let answer = found(&mut client, &body).await;
        let shards = at(&answer, &["profile", "shards"]).as_array().expect("a list");
        assert_eq!(shards.len(), 4);
        let text = json::to_string(&shards[0]);
        assert!(text.contains("k.keyword:k0 k.keyword:k1 ") && text.contains("k.keyword:k599"));
        let asked = json::to_string(&json!({"query": query}));
        let answer = client.good("POST", "/many-0/_validate/query?explain", &asked).await;
        let shown = at(&answer, &["explanations"]).as_array().expect("a list");
        let shown = at(&shown[0], &["explanation"]).as_str().expect("a text");
        assert!(shown.contains("k.keyword:k0 k.keyword:k1 ") && shown.contains("k.keyword:k599"));
    });
}

/// A script beside so many words that asking for its documents spends a whole turn ran for none of them, turn after
/// turn: such a search never ended.
#[test]
fn a_script_beside_many_words_comes_to_its_end() {
    with_node(|mut client| async move {
        const DOCS: usize = 4_200;
        let text: String = (0..40).map(|at| format!("w{at} ")).collect();
        let mut lines = String::new();
        for number in 0..DOCS {
            let word = format!("w{}", number % 40);
            let text = if number % 100 == 0 { &text } else { &word };
            lines += &format!("{{\"index\":{{}}}}\n{{\"t\":\"{text}\"}}\n");
        }
        client.good("POST", "/scripted/_bulk?refresh", &lines).await;
        let script = json!({"script_score": {
            "query": {"match_all": {}},
            "script": {"source": "2.5"},
        }});
        let words: Value = text.trim().into();
        let query = json!({"bool": {
            "must": {"match_all": {}},
            "should": [{"match": {"t": words}}, script],
        }});
        let body = json::to_string(&json!({"size": 3, "query": query, "track_total_hits": true}));
        let answer = client.good("POST", "/scripted/_search", &body).await;
        assert_eq!(at(&answer, &["hits", "total", "value"]).as_i64(), Some(DOCS as i64));
        let best = at(&answer, &["hits", "max_score"]).as_f64().expect("a score");
        assert!(best > 3.5, "all words, the script and one: {best}");
    });
}

#[test]
fn settings_of_many_names_are_set_and_refused_as_few_are() {
    // Once a core read, named and checked them for as long as they are many: 50,000 held it for 20 to 46 ms.
    with_node(|mut client| async move {
        client.good("PUT", "/named", "").await;
        let names = |count: usize, prefix: &str| {
            let named = |at: usize| (format!("{prefix}n{at}"), Value::from("v"));
            Value::Object((0..count).map(named).collect())
        };
        const BAD: &str = "index.nothing.of.the.kind.";
        for count in [2, 2_000] {
            let body = json::to_string(&names(count, "routing.allocation.exclude."));
            client.good("PUT", "/named/_settings", &body).await;
            let set = client.good("GET", "/named/_settings", "").await;
            let path = ["named", "settings", "index", "routing", "allocation", "exclude"];
            assert_eq!(at(&set, &path).as_object().map(json::Object::len), Some(count));
            let body = json::to_string(&names(count, BAD));
            let refused = client.bad("PUT", "/named/_settings", &body).await;
            assert!(refused.contains("unknown setting [index.nothing.of.the.kind."), "{refused}");
            let mixed = json!({"settings": {"a": "b"}, "others": names(count, "")});
            let refused = client.bad("PUT", "/named/_settings", &json::to_string(&mixed)).await;
            assert!(refused.ends_with("mix of settings map and top-level properties"), "{refused}");

            let layer = names(count, "cluster.routing.allocation.exclude.");
            let body = json::to_string(&json!({"persistent": layer.clone()}));
            let set = client.good("PUT", "/_cluster/settings?flat_settings", &body).await;
            assert_eq!(at(&set, &["persistent"]), &layer);
            let other = json!({"persistent": layer, "others": {}});
            let refused = client.bad("PUT", "/_cluster/settings", &json::to_string(&other)).await;
            assert!(refused.contains("others"), "{refused}");
            let none = json::to_string(&json!({"persistent": {}, "transient": null}));
            let refused = client.bad("PUT", "/_cluster/settings", &none).await;
            assert!(refused.contains("no settings to update"), "{refused}");
        }
    });
}

/// As many patterns as a body holds were held against all fields, which had a core for more than a minute. Names are
/// no patterns, however many.
#[test]
fn the_fields_that_may_be_asked_about_by_patterns_are_bounded() {
    with_node(|mut client| async move {
        let properties: Vec<String> =
            (0..400).map(|at| format!(r#""field_{at}":{{"type":"long"}}"#)).collect();
        let mappings = format!(r#"{{"mappings":{{"properties":{{{}}}}}}}"#, properties.join(","));
        client.good("PUT", "/many", &mappings).await;
        let ask = |fields: Vec<String>| json::to_string(&json!({"fields": fields}));
        let others = (0..1_000).map(|at| format!("{at}{}*", "z".repeat(4_000))).collect();
        let told = client.call("POST", "/many/_field_caps", &ask(others)).await;
        assert_eq!(told.status, 400, "{}", told.text());
        assert!(told.text().contains("[1000] patterns"), "{}", told.text());
        for (fields, count) in [
            ((0..100_000).map(|at| format!("field_{}", 2 * at)).collect(), 200),
            (vec!["field_1*".to_owned(), "field_399".to_owned()], 112),
            (vec!["zzz".to_owned(), "*".to_owned()], 400),
        ] {
            let told = client.good("POST", "/many/_field_caps", &ask(fields)).await;
            let names = at(&told, &["fields"]).as_object().expect("an object").iter();
            assert_eq!(names.filter(|(name, _)| name.starts_with("field_")).count(), count);
        }
    });
}
