//! Several entries of one grant: each shows its own fields of its own documents, whatever is asked. What a
//! request names and only some of the documents show is, to the others, a field without a value.

use json::{Value, json};

use crate::browser::{Browser, basic, escaped, fields, location};
use crate::consented::{CALLBACK, stage};
use crate::place::{Client, at, value, with_oauth};

const MAPPING: &str = r#"{"mappings":{"properties":{
    "kind":{"type":"keyword"},"all":{"type":"long"},
    "n":{"type":"long"},"i":{"type":"integer"},"d":{"type":"double"},"s":{"type":"scaled_float","scaling_factor":10},
    "u":{"type":"unsigned_long"},"b":{"type":"boolean"},"k":{"type":"keyword"},"ip":{"type":"ip"},
    "when":{"type":"date","format":"yyyy-MM-dd"},"fine":{"type":"date_nanos"},
    "t":{"type":"text","fielddata":true,"fields":{"raw":{"type":"keyword"}}},
    "v":{"type":"version"},"f":{"type":"flattened"},"span":{"type":"integer_range"},
    "g":{"type":"geo_point"},"r":{"type":"rank_feature"},"c":{"type":"constant_keyword","value":"same"},
    "o":{"properties":{"x":{"type":"long"}}},
    "in":{"type":"nested","properties":{"w":{"type":"keyword"},"z":{"type":"long"}}},
    "family":{"type":"join","relations":{"up":"down"}},
    "also":{"type":"alias","path":"n"}}}}"#;

/// What only documents of the first kind show.
const FIRST: [&str; 25] = [
    "n",
    "i",
    "d",
    "s",
    "u",
    "b",
    "k",
    "ip",
    "when",
    "fine",
    "t",
    "t.raw",
    "v",
    "f",
    "f.*",
    "span",
    "g",
    "r",
    "c",
    "o.*",
    "in.*",
    "family",
    "family.*",
    "also",
    "family#up",
];

fn document(number: u32) -> Value {
    json!({"kind": (if number.is_multiple_of(2) { "first" } else { "other" }), "all": number,
        "n": (100 - number), "i": (number * 3 % 7), "d": (f64::from(number) / 4.0), "s": (f64::from(number) / 10.0),
        "u": (number + 7), "b": (number % 4 < 2), "k": (format!("word-{}", number % 3)),
        "ip": (format!("10.0.0.{number}")), "when": (format!("2024-01-{:02}", number + 1)),
        "fine": (format!("2024-01-{:02}T00:00:00.000000001Z", number + 1)), "t": (format!("some text{number}")),
        "v": (format!("1.{number}.0")), "f": {"a": (format!("x{}", number % 2)), "b": "y"},
        "span": {"gte": number, "lte": (number + 2)}, "g": {"lat": (number * 2), "lon": 1}, "r": (number + 1),
        "o": {"x": number}, "in": [{"w": (format!("w{number}")), "z": number}, {"w": "w", "z": 50}],
        "family": {"name": "up"}})
}

/// A token with two entries: documents of the first kind with all fields, those of the other with `all`.
async fn token(client: &mut Client) -> String {
    client.authorize(Some(&basic("elastic", "secret")));
    let body = format!(
        r#"{{"client_name":"App","redirect_uris":["{CALLBACK}"],"scope":"index:*:read",
            "authorization_details_types":["index_access"]}}"#
    );
    let made = client.good("POST", "/_oauth/client", &body).await;
    let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
    let mut first: Vec<&str> = FIRST.to_vec();
    first.extend(["kind", "all"]);
    let details = json!([
        {"type": "index_access", "indices": ["real"], "actions": ["read"],
            "query": {"term": {"kind": "first"}}, "fields": first},
        {"type": "index_access", "indices": ["real"], "actions": ["read"],
            "query": {"term": {"kind": "other"}}, "fields": ["all"]}
    ]);
    token_of(client, (&text("client_id"), &text("client_secret")), &details).await
}

/// A token of `ann` with these entries.
async fn token_of(client: &mut Client, (id, secret): (&str, &str), details: &Value) -> String {
    let target = format!(
        "/authorize?response_type=code&client_id={}&authorization_details={}",
        id,
        escaped(&json::to_string(details))
    );
    let mut browser = Browser::default();
    let (_, page) = browser.consent_to(client, "ann", &target).await;
    let mut form = fields(&page, "/consent");
    let count = details.as_array().map_or(0, <[Value]>::len);
    form.extend((0..count).map(|at| ("detail".to_owned(), at.to_string())));
    form.push(("decision".into(), "allow".into()));
    let led = location(&browser.post(client, "/consent", &form).await);
    let code = led.split_once("code=").expect("a code").1;
    let body = format!(
        "grant_type=authorization_code&code={}&client_id={}&client_secret={}",
        code.split('&').next().unwrap_or_default(),
        id,
        secret
    );
    let kind = [("Content-Type", "application/x-www-form-urlencoded")];
    let answer = client.call_with("POST", "/token", &kind, body.as_bytes()).await;
    format!("Bearer {}", at(&value(&answer), &["access_token"]).as_str().expect("a token"))
}

/// Hits with their keys, fields and sources, and aggregations: without scores, which count hidden documents,
/// and names of indices.
fn told(answer: &Value) -> String {
    let mut hits = Vec::new();
    for hit in at(answer, &["hits", "hits"]).as_array().expect("hits") {
        let part = |key: &str| hit.get(key).cloned().unwrap_or_default();
        hits.push(json!({"id": (part("_id")), "sort": (part("sort")), "source": (part("_source")),
            "fields": (part("fields")), "highlight": (part("highlight")),
            "inner": (json::to_string(&part("inner_hits")).matches("\"_source\"").count() as u64)}));
    }
    let total = at(answer, &["hits", "total"]).clone();
    let aggs = answer.get("aggregations").cloned().unwrap_or_default();
    json::to_string(&json!({"hits": hits, "total": total, "aggs": aggs}))
}

async fn both(client: &mut Client, token: &str, body: &Value) -> [(u16, String); 2] {
    let mut answers = Vec::new();
    for (who, index) in [(token, "real"), (&*basic("elastic", "secret"), "mirror")] {
        client.authorize(Some(who));
        let answer =
            client.call("POST", &format!("/{index}/_search"), &json::to_string(body)).await;
        answers.push(match answer.status {
            200 => (200, told(&value(&answer))),
            status => (status, answer.text().replace(index, "an index")),
        });
    }
    answers.try_into().expect("two")
}

/// A sort by what only one entry shows was 400 "No mapping found", and so were the other requests that name a
/// field which the index must have. What is told is what an index would tell of documents that have no more
/// fields than each entry shows.
#[test]
fn what_one_entry_shows_alone_is_missing_in_the_documents_of_the_others() {
    with_oauth(|mut client| async move {
        stage(&mut client, &[("ann", &[("*", "read")])]).await;
        client.authorize(Some(&basic("elastic", "secret")));
        for index in ["real", "mirror"] {
            client.good("PUT", &format!("/{index}"), MAPPING).await;
            for number in 0..8 {
                let mut document = document(number);
                if index == "mirror" && !number.is_multiple_of(2) {
                    document = json!({"all": number});
                }
                let target = format!("/{index}/_doc/{number}?refresh=true");
                client.good("PUT", &target, &json::to_string(&document)).await;
            }
            for (number, parent) in [(8, 0), (9, 2)] {
                let child = json!({"kind": "first", "all": number,
                    "family": {"name": "down", "parent": (parent.to_string())}});
                let target = format!("/{index}/_doc/{number}?refresh=true&routing=1");
                client.good("PUT", &target, &json::to_string(&child)).await;
            }
        }
        let token = token(&mut client).await;
        let mut bodies = Vec::new();
        let sortable = [
            "n", "i", "d", "s", "u", "b", "k", "ip", "when", "fine", "t", "t.raw", "v", "f", "f.a",
            "o.x", "also", "family",
        ];
        for field in sortable {
            for order in ["asc", "desc"] {
                for missing in ["_first", "_last"] {
                    bodies.push(
                        json!({"sort": [{(field): {"order": order, "missing": missing}}, "all"]}),
                    );
                }
            }
            bodies.push(json!({"size": 2, "sort": [(field), "all"]}));
            bodies.push(json!({"sort": [{(field): {"unmapped_type": "long"}}, "all"]}));
        }
        bodies.push(json!({"sort": [{"when": {"format": "dd.MM.yyyy"}}, "all"]}));
        bodies.push(json!({"sort": [{"n": {"missing": 97}}, "all"]}));
        bodies.push(json!({"sort": [{"k": {"missing": "word-1"}}, "all"]}));
        bodies.push(json!({"sort": [{"n": "desc"}, "all"], "search_after": [96, 4]}));
        bodies.push(json!({"sort": [{"in.z": {"nested": {"path": "in"}, "mode": "min"}}, "all"]}));
        bodies.push(json!({"sort": [{"in.z": {"order": "desc", "nested": {"path": "in",
            "filter": {"range": {"in.z": {"lt": 10}}}}}}, "all"]}));
        bodies.push(
            json!({"sort": [{"_geo_distance": {"g": {"lat": 0, "lon": 0}, "unit": "km"}}, "all"]}),
        );
        for field in ["n", "i", "k", "t.raw", "f.a", "v", "ip"] {
            let collapse = json!({"field": field});
            bodies.push(json!({"sort": ["all"], "collapse": collapse.clone()}));
            bodies.push(json!({"sort": [{(field): "desc"}, "all"], "collapse": collapse}));
        }
        bodies.push(json!({"sort": ["all"], "collapse": {"field": "k",
            "inner_hits": {"name": "those", "size": 3, "sort": ["all"]}}}));
        for query in [
            json!({"nested": {"path": "in", "query": {"term": {"in.w": "w"}}}}),
            json!({"bool": {"must_not": {"nested": {"path": "in", "query": {"match_all": {}}}}}}),
            json!({"nested": {"path": "in", "query": {"match_all": {}}, "inner_hits": {}}}),
            json!({"has_child": {"type": "down", "query": {"match_all": {}}}}),
            json!({"has_parent": {"parent_type": "up", "query": {"range": {"n": {"gte": 99}}}}}),
            json!({"parent_id": {"type": "down", "id": "2"}}),
            json!({"geo_distance": {"distance": "2000km", "g": {"lat": 0, "lon": 0}}}),
            json!({"geo_bounding_box": {"g": {"top_left": {"lat": 9, "lon": 0}, "bottom_right": {"lat": 0, "lon": 2}}}}),
            json!({"bool": {"must_not": {"geo_distance": {"distance": "2000km", "g": {"lat": 0, "lon": 0}}}}}),
            json!({"distance_feature": {"field": "when", "origin": "2024-01-03", "pivot": "2d"}}),
            json!({"distance_feature": {"field": "g", "origin": [1, 1], "pivot": "9km"}}),
            json!({"rank_feature": {"field": "r"}}),
            json!({"function_score": {"query": {"match_all": {}}, "field_value_factor": {"field": "n", "missing": 3}}}),
            json!({"function_score": {"query": {"range": {"n": {"gte": 0}}}, "field_value_factor": {"field": "n"}}}),
            json!({"function_score": {"query": {"match_all": {}},
                "gauss": {"when": {"origin": "2024-01-03", "scale": "2d"}}}}),
            json!({"function_score": {"query": {"match_all": {}}, "random_score": {"seed": 1, "field": "n"}}}),
            json!({"terms_set": {"k": {"terms": ["word-0", "word-1"], "minimum_should_match_field": "i"}}}),
            json!({"range": {"when": {"gte": "2024-01-03"}}}),
            json!({"range": {"span": {"gte": 3}}}),
            json!({"exists": {"field": "o"}}),
            json!({"exists": {"field": "in"}}),
            json!({"bool": {"must_not": {"exists": {"field": "n"}}}}),
            json!({"match": {"t": "text3 text2"}}),
            json!({"query_string": {"query": "text3 OR text2"}}),
            json!({"query_string": {"query": "n:>=0"}}),
            json!({"multi_match": {"query": "text3 text2", "fields": ["t*", "k"]}}),
            json!({"more_like_this": {"fields": ["t"], "like": "text3 text2", "min_term_freq": 1, "min_doc_freq": 1}}),
            json!({"prefix": {"k": "word"}}),
            json!({"wildcard": {"t.raw": "some*"}}),
            json!({"intervals": {"t": {"match": {"query": "some text3"}}}}),
            json!({"span_term": {"t": "text3"}}),
        ] {
            bodies.push(json!({"sort": ["all"], "query": query.clone()}));
            bodies.push(json!({"sort": ["all"], "post_filter": query}));
        }
        for script in [
            "doc['n'].size()",
            "doc['k'].size()",
            "doc.containsKey('n') ? 1 : 0",
            "doc['g'].size()",
            "doc['n'].empty ? -1 : doc['n'].value",
            "doc['in.z'].size()",
            "doc['when'].size() == 0 ? 0 : 1",
        ] {
            bodies.push(json!({"sort": ["all"], "script_fields": {"x": {"script": script}}}));
            bodies
                .push(json!({"sort": [{"_script": {"type": "number", "script": script}}, "all"]}));
        }
        for aggs in [
            json!({"sum": {"field": "n"}}),
            json!({"stats": {"field": "d", "missing": 3}}),
            json!({"terms": {"field": "n"}}),
            json!({"terms": {"field": "n", "missing": 0}}),
            json!({"terms": {"field": "k", "missing": "none"}}),
            json!({"terms": {"field": "t"}}),
            json!({"terms": {"field": "t", "missing": "none"}}),
            json!({"terms": {"field": "b"}}),
            json!({"terms": {"field": "ip", "missing": "10.0.0.9"}}),
            json!({"terms": {"field": "f.a"}}),
            json!({"terms": {"field": "u"}}),
            json!({"terms": {"field": "d"}}),
            json!({"missing": {"field": "k"}}),
            json!({"missing": {"field": "t"}}),
            json!({"missing": {"field": "span"}}),
            json!({"cardinality": {"field": "k"}}),
            json!({"date_histogram": {"field": "when", "calendar_interval": "day", "missing": "2024-01-03"}}),
            json!({"histogram": {"field": "n", "interval": 5}}),
            json!({"histogram": {"field": "span", "interval": 2}}),
            json!({"range": {"field": "n", "ranges": [{"to": 97}, {"from": 97}]}}),
            json!({"ip_range": {"field": "ip", "ranges": [{"to": "10.0.0.4"}]}}),
            json!({"geo_bounds": {"field": "g"}}),
            json!({"geohash_grid": {"field": "g", "precision": 2}}),
            json!({"composite": {"sources": [{"k": {"terms": {"field": "k", "missing_bucket": true}}},
                {"n": {"histogram": {"field": "n", "interval": 5, "missing_bucket": true}}}]}}),
            json!({"multi_terms": {"terms": [{"field": "k"}, {"field": "n"}]}}),
            json!({"top_metrics": {"metrics": [{"field": "n"}], "sort": {"i": "desc"}}}),
            json!({"string_stats": {"field": "k"}}),
            json!({"percentiles": {"field": "n"}}),
            json!({"weighted_avg": {"value": {"field": "n"}, "weight": {"field": "i", "missing": 2}}}),
        ] {
            bodies.push(json!({"size": 0, "aggs": {"a": aggs}}));
        }
        bodies.push(json!({"size": 0, "aggs": {"a": {"nested": {"path": "in"},
            "aggs": {"w": {"terms": {"field": "in.w"}}, "up": {"reverse_nested": {}}}}}}));
        bodies
            .push(json!({"sort": ["all"], "fields": ["*"], "docvalue_fields": ["n", "k", "when"],
            "highlight": {"fields": {"*": {}}}, "query": {"match": {"t": "text3 text2"}}}));
        bodies.push(
            json!({"sort": ["all"], "fields": ["*", {"field": "n"}], "docvalue_fields": ["n", "k"],
            "stored_fields": ["n"], "_source": ["n", "k", "all"]}),
        );
        let mut differ = Vec::new();
        for body in bodies {
            let [seen, expected] = both(&mut client, &token, &body).await;
            if seen != expected {
                differ.push(format!("{}\n  {seen:?}\n  {expected:?}", json::to_string(&body)));
            }
        }
        assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
        // A word that the index says of all its documents is not said of those that do not show it.
        client.authorize(Some(&token));
        for (query, expected) in [
            (json!({"exists": {"field": "c"}}), 6),
            (json!({"term": {"c": "same"}}), 6),
            (json!({"bool": {"must_not": {"term": {"c": "same"}}}}), 4),
            (json!({"script": {"script": "doc['c'].size() > 0"}}), 6),
        ] {
            let body = json::to_string(&json!({"query": query}));
            let answer = client.good("POST", "/real/_count", &body).await;
            assert_eq!(at(&answer, &["count"]).as_u64(), Some(expected), "{body}");
        }
        let body = r#"{"size":0,"aggs":{"a":{"terms":{"field":"c","missing":"none"}}}}"#;
        let answer = client.good("POST", "/real/_search", body).await;
        let buckets = json::to_string(at(&answer, &["aggregations", "a", "buckets"]));
        assert_eq!(buckets, r#"[{"key":"same","doc_count":6},{"key":"none","doc_count":4}]"#);
    });
}

/// A filter of an entry was held against fields that the owner may not see: who let in an application of their own
/// learnt from what it found what stands there.
#[test]
fn an_entry_tells_nothing_of_what_its_owner_may_not_see() {
    with_oauth(|mut client| async move {
        client.authorize(Some(&basic("elastic", "secret")));
        let mapping = r#"{"mappings":{"properties":{"salary":{"type":"long"},"number":{"type":"long"},
            "number_two":{"type":"alias","path":"salary"}}}}"#;
        client.good("PUT", "/pay", mapping).await;
        client.good("PUT", "/pay/_doc/1?refresh", r#"{"number":1,"salary":2037}"#).await;
        let role = r#"{"indices":[{"names":["pay"],"privileges":["read"],"field_security":{"grant":["number*"]}}]}"#;
        client.good("PUT", "/_security/role/ann", role).await;
        let user = r#"{"password":"ann-knows-this","roles":["ann"]}"#;
        client.good("PUT", "/_security/user/ann", user).await;
        let body = format!(
            r#"{{"client_name":"App","redirect_uris":["{CALLBACK}"],"scope":"index:*:read",
                "authorization_details_types":["index_access"]}}"#
        );
        let made = client.good("POST", "/_oauth/client", &body).await;
        let text = |key: &str| at(&made, &[key]).as_str().expect("a text").to_owned();
        for (query, seen) in [
            (json!({"range": {"number": {"lt": 5}}}), true),
            (json!({"range": {"salary": {"lt": 5000}}}), false),
            (json!({"exists": {"field": "salary"}}), false),
            (json!({"range": {"number_two": {"lt": 5000}}}), false),
            (json!({"bool": {"must_not": [{"term": {"salary": 7}}]}}), false),
        ] {
            let entry = json!({"type": "index_access", "indices": ["pay"], "actions": ["read"],
                "query": (query.clone())});
            let app = (text("client_id"), text("client_secret"));
            let token = token_of(&mut client, (&app.0, &app.1), &json!([entry])).await;
            client.authorize(Some(&token));
            let answer = client.call("GET", "/pay/_search", "").await;
            let found = answer.text().contains("\"number\":1");
            assert_eq!((answer.status, found), (200, seen), "{query:?}: {}", answer.text());
        }
    });
}
