//! Values of columns and of `fields` as a hit shows them, and dates that a request tells by numbers.

use json::{Value, json};

use crate::place::{Client, at, with_node};

async fn found(client: &mut Client, index: &str, body: &Value) -> Vec<Value> {
    let target = format!("/{index}/_search");
    let answer = client.good("POST", &target, &json::to_string(body)).await;
    at(&answer, &["hits", "hits"]).as_array().expect("a list").to_vec()
}

async fn ids(client: &mut Client, index: &str, query: &Value) -> Vec<String> {
    let body = json!({"query": query.clone(), "sort": ["_doc"]});
    let hits = found(client, index, &body).await;
    hits.iter().map(|hit| at(hit, &["_id"]).as_str().expect("an id").to_owned()).collect()
}

/// A number was read by the format of its field: 2000 was a year, and an epoch in seconds a date of another age.
#[test]
fn numbers_that_are_compared_with_dates_are_milliseconds() {
    with_node(|mut client| async move {
        let index = r#"{"mappings":{"properties":{"d":{"type":"date"},"n":{"type":"date_nanos"},
            "y":{"type":"date","format":"yyyy-MM-dd"},"s":{"type":"date","format":"epoch_second"}}}}"#;
        client.good("PUT", "/a", index).await;
        let first = r#"{"d":"1970-01-01T00:00:02Z","n":"1970-01-01T00:00:02Z","y":"2024-01-01","s":1704067200}"#;
        client.good("PUT", "/a/_doc/1", first).await;
        client.good("PUT", "/a/_doc/2?refresh", r#"{"d":"2024-01-01T00:00:00Z"}"#).await;
        for (query, expected) in [
            (json!({"range": {"d": {"gt": 1000, "lt": 3000}}}), vec!["1"]),
            (json!({"range": {"d": {"gt": "1000", "lt": "3000"}}}), vec!["1", "2"]),
            (json!({"range": {"n": {"gte": 2000, "lte": 2000}}}), vec!["1"]),
            (json!({"term": {"d": 2000}}), vec!["1"]),
            (json!({"terms": {"d": [1, 2000]}}), vec!["1"]),
            (json!({"term": {"d": "2024"}}), vec!["2"]),
            // A text that a number became is read by the format.
            (json!({"match": {"d": 2024}}), vec!["2"]),
            (json!({"query_string": {"query": "d:2024"}}), vec!["2"]),
            (json!({"range": {"y": {"gte": 1_704_067_200_000_i64}}}), vec!["1"]),
            (json!({"term": {"y": 1_704_067_200_000_i64}}), vec!["1"]),
            (json!({"range": {"s": {"lte": 1_704_067_200_000_i64}}}), vec!["1"]),
            (json!({"range": {"s": {"gte": 1_704_067_200, "lte": 1_704_067_200}}}), vec![]),
            // A format of the request is for numbers, too.
            (json!({"range": {"s": {"gte": 1_704_067_200, "format": "epoch_second"}}}), vec!["1"]),
        ] {
            assert_eq!(ids(&mut client, "a", &query).await, expected, "{query:?}");
        }
        // Of a `range` aggregation numbers are milliseconds, and texts are read by the format.
        let ends = json!([{"from": 2000, "to": "2023"}, {"from": "2024"}]);
        let body = json!({"size": 0, "aggs": {"a": {"range": {"field": "d", "ranges": ends}}}});
        let told = client.good("POST", "/a/_search", &json::to_string(&body)).await;
        let buckets = at(&told, &["aggregations", "a", "buckets"]).as_array().expect("a list");
        let keys: Vec<_> = buckets.iter().map(|one| at(one, &["key"]).as_str()).collect();
        let first = "1970-01-01T00:00:02.000Z-2023-01-01T00:00:00.000Z";
        assert_eq!(keys, [Some(first), Some("2024-01-01T00:00:00.000Z-*")]);
        assert!(buckets.iter().all(|one| at(one, &["doc_count"]).as_u64() == Some(1)));
        let mixed = json!({"query": {"range": {"d": {"gte": 1, "lte": "2024-01-02"}}}});
        let told = client.call("POST", "/a/_search", &json::to_string(&mixed)).await.text();
        assert!(
            told.contains("failed to parse date field [2024-01-02] with format [epoch_millis]"),
            "{told}"
        );
    });
}

/// Addresses and versions came as the bytes of their columns, damaged on the way.
#[test]
fn columns_are_shown_as_their_types_show_them() {
    with_node(|mut client| async move {
        let index = r#"{"mappings":{"properties":{"ip":{"type":"ip"},"v":{"type":"version"},
            "flat":{"type":"flattened"},"x":{"type":"double"},"n":{"type":"long"},
            "h":{"type":"half_float"},"u":{"type":"unsigned_long"},"b":{"type":"boolean"}}}}"#;
        client.good("PUT", "/a", index).await;
        let first = r#"{"ip":["1.2.3.4","::1"],"v":"1.2.0","flat":{"k":"one","l":"two"},
            "x":1234.5678,"n":7,"h":1.5,"u":9,"b":true}"#;
        client.good("PUT", "/a/_doc/1", first).await;
        client.good("PUT", "/a/_doc/2?refresh", r#"{"x":2,"n":8}"#).await;
        let wanted = json!({"query": {"ids": {"values": ["1"]}}, "docvalue_fields": [
            "ip", "v", "flat.k", {"field": "x", "format": "#,##0.0"}, {"field": "n", "format": "000"},
            {"field": "h", "format": "0.00"}, {"field": "u", "format": "000"}
        ]});
        let hits = found(&mut client, "a", &wanted).await;
        let expected = json!({"ip": ["::1", "1.2.3.4"], "v": ["1.2.0"], "flat.k": ["one"],
            "x": ["1,234.6"], "n": ["007"], "h": ["1.50"], "u": [9]});
        assert_eq!(at(&hits[0], &["fields"]), &expected);
        let wrong = r#"{"docvalue_fields":[{"field":"b","format":"0"}]}"#;
        let told = client.call("POST", "/a/_search", wrong).await.text();
        assert!(
            told.contains("Field [b] of type [boolean] does not support custom formats"),
            "{told}"
        );

        let mut sorted = json!({"sort": [{"x": {"order": "asc", "format": "#,##0.0"}}, {"n": {"format": "000"}}]});
        let hits = found(&mut client, "a", &sorted).await;
        let keys: Vec<Value> = hits.iter().map(|hit| at(hit, &["sort"]).clone()).collect();
        assert_eq!(keys, [json!(["2.0", "008"]), json!(["1,234.6", "007"])]);
        // What was told is taken back.
        json::patch::merge(&mut sorted, &json!({"search_after": keys[0].clone()}));
        let hits = found(&mut client, "a", &sorted).await;
        assert_eq!(hits.len(), 1);
        assert_eq!(at(&hits[0], &["_id"]).as_str(), Some("1"));
    });
}

/// What a field passed over was nowhere but in the source, and what stands for nothing was not among `fields`.
#[test]
fn fields_tell_what_they_passed_over_and_what_stands_for_nothing() {
    with_node(|mut client| async move {
        let index = r#"{"mappings":{"properties":{
            "n":{"type":"integer","ignore_malformed":true},"k":{"type":"keyword","ignore_above":3},
            "d":{"type":"date","null_value":"2024-01-01"},"ip":{"type":"ip","null_value":"1.2.3.4"},
            "l":{"type":"long","null_value":5}}}}"#;
        client.good("PUT", "/a", index).await;
        client.good("PUT", "/a/_doc/1", r#"{"n":["bad",1],"k":"long value","d":null}"#).await;
        client
            .good(
                "PUT",
                "/a/_doc/2?refresh",
                r#"{"d":null,"ip":null,"l":[null],"n":null,"k":null}"#,
            )
            .await;
        let hits = found(&mut client, "a", &json!({"fields": ["*"], "sort": ["_doc"]})).await;
        assert_eq!(
            at(&hits[0], &["fields"]),
            &json!({"d": ["2024-01-01T00:00:00.000Z"], "n": [1]})
        );
        assert_eq!(
            at(&hits[0], &["ignored_field_values"]),
            &json!({"k": ["long value"], "n": ["bad"]})
        );
        let expected = json!({"d": ["2024-01-01T00:00:00.000Z"], "ip": ["1.2.3.4"], "l": [5]});
        assert_eq!(at(&hits[1], &["fields"]), &expected);
        assert!(hits[1].get("ignored_field_values").is_none());

        // Of what was taken in as it is, nothing was passed over.
        let index = r#"{"mappings":{"properties":{"r":{"type":"date_range"},"g":{"type":"geo_point"},
            "f":{"type":"flattened"},"c":{"type":"completion"},"rf":{"type":"rank_features"},
            "one":{"type":"rank_feature"},"w":{"type":"wildcard"},"bin":{"type":"binary"},
            "say":{"type":"search_as_you_type"},"tc":{"type":"token_count","analyzer":"standard"},
            "sf":{"type":"scaled_float","scaling_factor":10},"ck":{"type":"constant_keyword"},
            "o":{"type":"nested","properties":{"k":{"type":"keyword"}}},"m":{"type":"match_only_text"},
            "off":{"type":"object","enabled":false},"j":{"type":"join","relations":{"p":"q"}}}}}"#;
        client.good("PUT", "/b", index).await;
        let whole = r#"{"r":{"gte":"2024-01-01","lt":"2024-02-01"},"g":[[1,2],[3,4]],"f":{"a":{"b":1}},
            "c":{"input":["x","y"],"weight":2},"rf":{"a":1.5},"one":2,"w":"x*","bin":"AAEC",
            "say":"some words","tc":"some words","sf":1.25,"ck":"c","o":[{"k":"1"},{"k":["2","3"]}],
            "m":"text","off":{"a":[1,{"b":2}]},"j":"p","dyn":{"t":"text","n":1.5,"b":true}}"#;
        client.good("PUT", "/b/_doc/1?refresh", whole).await;
        let hits = found(&mut client, "b", &json!({"fields": ["*"]})).await;
        assert!(hits[0].get("ignored_field_values").is_none(), "{:?}", hits[0]);
        assert!(hits[0].get("fields").is_some());
    });
}
