//! Answers at an edge: of bounds, of words, of numbers, of what a type can be asked.

use json::{Value, json};

use crate::place::{Client, at, value, with_node};

pub async fn load(client: &mut Client, index: &str, docs: &[Value]) {
    let mut lines = String::new();
    for (at, doc) in docs.iter().enumerate() {
        lines.push_str(&format!("{{\"index\":{{\"_index\":\"{index}\",\"_id\":\"{at}\"}}}}\n"));
        lines.push_str(&format!("{}\n", json::to_string(doc)));
    }
    let done = client.good("POST", "/_bulk?refresh=true", &lines).await;
    assert_eq!(at(&done, &["errors"]).as_bool(), Some(false), "{}", json::to_string(&done));
}

/// Key and count of each bucket of an aggregation over an index.
pub async fn buckets(client: &mut Client, index: &str, agg: Value) -> Vec<(f64, u64)> {
    buckets_of(client, index, json!({"match_all": {}}), agg).await
}

async fn buckets_of(client: &mut Client, index: &str, query: Value, agg: Value) -> Vec<(f64, u64)> {
    let body = json!({"size": 0, "query": query, "aggs": {"a": agg}});
    let found = client.good("POST", &format!("/{index}/_search"), &json::to_string(&body)).await;
    let buckets = at(&found, &["aggregations", "a", "buckets"]).as_array().expect("a list");
    let one = |bucket: &Value| {
        let key = at(bucket, &["key"]).as_f64().expect("a number");
        (key, at(bucket, &["doc_count"]).as_u64().expect("a count"))
    };
    buckets.iter().map(one).collect()
}

/// Ids of hits, each with its score.
pub async fn hits(client: &mut Client, index: &str, query: Value) -> Vec<(String, f64)> {
    let body = json::to_string(&json!({"query": query}));
    let found = client.good("POST", &format!("/{index}/_search"), &body).await;
    let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
    let one = |hit: &Value| {
        let id = at(hit, &["_id"]).as_str().expect("text").to_owned();
        (id, at(hit, &["_score"]).as_f64().unwrap_or(f64::NAN))
    };
    hits.iter().map(one).collect()
}

async fn ids(client: &mut Client, index: &str, query: Value) -> Vec<String> {
    hits(client, index, query).await.into_iter().map(|(id, _)| id).collect()
}

/// Why the first shard failed: `500 illegal_state_exception: reason`.
pub async fn shard_failure(client: &mut Client, index: &str, body: Value) -> String {
    let target = format!("/{index}/_search");
    let response = client.call("POST", &target, &json::to_string(&body)).await;
    let failed = value(&response);
    let failures = at(&failed, &["error", "failed_shards"]).as_array().expect("a list");
    let text = |key: &str| at(&failures[0], &["reason", key]).as_str().expect("text").to_owned();
    format!("{} {}: {}", response.status, text("type"), text("reason"))
}

/// Hard bounds were rounded as buckets are, with their offset: the bucket of the upper end was lost, and
/// one before the lower end shown. Extended bounds began an empty bucket too early.
#[test]
fn bounds_of_dates_are_rounded_without_the_offset() {
    with_node(|mut client| async move {
        let day = |day: u32| json!({"d": (format!("2024-01-{day:02}"))});
        let docs: Vec<Value> = (1..=25).map(day).collect();
        load(&mut client, "d", &docs).await;
        let agg = json!({"date_histogram": {"field": "d", "fixed_interval": "7d", "offset": "+12h",
            "hard_bounds": {"min": "2024-01-03", "max": "2024-01-18"}}});
        let found = buckets(&mut client, "d", agg).await;
        let want = [(1_703_764_800_000., 4), (1_704_369_600_000., 7), (1_704_974_400_000., 7)];
        assert_eq!(found, want);
        let agg = json!({"date_histogram": {"field": "d", "calendar_interval": "week",
            "offset": "-1d", "time_zone": "-05:00",
            "hard_bounds": {"min": "2024-01-03", "max": "2024-01-15"}}});
        let found = buckets(&mut client, "d", agg).await;
        let keys: Vec<f64> = found.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, [1_704_603_600_000., 1_705_208_400_000.]);
        // 2024-02-01T06:00Z and a day later.
        let agg = json!({"date_histogram": {"field": "d", "calendar_interval": "day",
            "offset": "+6h", "extended_bounds": {"min": "2024-02-01", "max": "2024-02-02"}}});
        let found = buckets_of(&mut client, "d", json!({"match_none": {}}), agg).await;
        assert_eq!(found, [(1_706_767_200_000., 0), (1_706_853_600_000., 0)]);
    });
}

/// Of numbers a bucket counts where it begins between the hard bounds; it was enough that it reached into
/// them. A range reaches into its buckets.
#[test]
fn hard_bounds_of_numbers_hold_the_begin_of_a_bucket() {
    with_node(|mut client| async move {
        let mapping = json!({"mappings": {"properties": {
            "r": {"type": "integer_range"}, "s": {"type": "date_range"}}}});
        client.good("PUT", "/n", &json::to_string(&mapping)).await;
        let mut docs: Vec<Value> = (-8..=16).map(|n| json!({"n": n})).collect();
        docs.push(json!({"r": {"gte": -8, "lte": 16},
            "s": {"gte": "2024-01-01", "lte": "2024-01-05"}}));
        load(&mut client, "n", &docs).await;
        let bounds = json!({"min": -5, "max": 10});
        let agg = |field: &str, interval: f64, offset: f64, bounds: &Value| {
            json!({"histogram": {"field": field, "interval": interval, "offset": offset,
                "hard_bounds": bounds.clone()}})
        };
        let found = buckets(&mut client, "n", agg("n", 7.5, 0., &bounds)).await;
        assert_eq!(found, [(0., 8), (7.5, 7)]);
        // It is held against where the bucket began without the offset.
        let from_0 = json!({"min": 0, "max": 10});
        let found = buckets(&mut client, "n", agg("n", 10., 5., &from_0)).await;
        assert_eq!(found, [(5., 10), (15., 2)]);
        let found = buckets(&mut client, "n", agg("r", 7.5, 0., &bounds)).await;
        assert_eq!(found, [(-7.5, 1), (0., 1), (7.5, 1)]);
        let agg = json!({"date_histogram": {"field": "s", "calendar_interval": "day",
            "hard_bounds": {"min": "2024-01-02", "max": "2024-01-04"}}});
        let found = buckets(&mut client, "n", agg).await;
        let want = [(1_704_153_600_000., 1), (1_704_240_000_000., 1), (1_704_326_400_000., 1)];
        assert_eq!(found, want);
    });
}

/// Only those of numbers with both ends were looked at.
#[test]
fn extended_bounds_lie_inside_of_hard_ones() {
    with_node(|mut client| async move {
        load(&mut client, "e", &[json!({"n": 1, "d": "2024-01-01"})]).await;
        for (agg, told) in [
            (
                json!({"date_histogram": {"field": "d", "calendar_interval": "day",
                    "hard_bounds": {"min": "2024-01-03", "max": "2024-01-10"},
                    "extended_bounds": {"min": "2024-01-01", "max": "2024-01-20"}}}),
                "hard bounds: [2024-01-03--2024-01-10], extended bounds: [2024-01-01--2024-01-20]",
            ),
            (
                json!({"histogram": {"field": "n", "interval": 5, "hard_bounds": {"min": 3},
                    "extended_bounds": {"min": 2, "max": 20}}}),
                "hard bounds: [3.0--], extended bounds: [2.0--20.0]",
            ),
        ] {
            let body = json!({"size": 0, "aggs": {"a": agg}});
            let wanted = format!(
                "400 illegal_argument_exception: Extended bounds have to be inside hard bounds, {told}"
            );
            assert_eq!(shard_failure(&mut client, "e", body).await, wanted);
        }
    });
}

/// 65,536 buckets were shown, and no word that there are more.
#[test]
fn a_range_of_too_many_buckets_is_refused() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"r":{"type":"long_range"}}}}"#;
        client.good("PUT", "/m", mapping).await;
        load(&mut client, "m", &[json!({"r": {"gte": 0}}), json!({"r": {"lte": 9}})]).await;
        let agg = json!({"histogram": {"field": "r", "interval": 5}});
        let body = json!({"size": 0, "aggs": {"a": agg}});
        let told = shard_failure(&mut client, "m", body).await;
        let begin = "400 too_many_buckets_exception: Trying to create too many buckets. Must be less \
                     than or equal to: [65536]";
        assert!(told.starts_with(begin), "{told}");
        let agg = json!({"histogram": {"field": "r", "interval": 5,
            "hard_bounds": {"min": 0, "max": 10}}});
        let found = buckets(&mut client, "m", agg).await;
        assert_eq!(found, [(0., 2), (5., 2), (10., 1)]);
    });
}

/// Whole windows are scored before it is looked who stands for itself and lives: what has no value there
/// failed the search.
#[test]
fn a_factor_is_asked_of_no_nested_and_no_deleted_document() {
    with_node(|mut client| async move {
        let mapping =
            r#"{"mappings":{"properties":{"ord":{"type":"integer"},"n":{"type":"nested"}}}}"#;
        client.good("PUT", "/g", mapping).await;
        let docs = [
            json!({"ord": 1, "n": [{"a": 1}]}),
            json!({"ord": 2, "n": [{"a": 2}, {"a": 3}]}),
            json!({"n": []}),
        ];
        load(&mut client, "g", &docs).await;
        let query = json!({"function_score": {"field_value_factor": {"field": "ord"}}});
        let body = json!({"query": query.clone()});
        let told = shard_failure(&mut client, "g", body).await;
        assert_eq!(told, "400 exception: Missing value for field [ord]");
        client.good("DELETE", "/g/_doc/2?refresh=true", "").await;
        let found = hits(&mut client, "g", query).await;
        assert_eq!(found, [("1".to_owned(), 2.0), ("0".to_owned(), 1.0)]);
        // Of nested documents it is asked where they are meant.
        let inner = json!({"function_score": {"field_value_factor": {"field": "ord"}}});
        let body = json!({"query": {"nested": {"path": "n", "query": inner}}});
        let told = shard_failure(&mut client, "g", body).await;
        assert_eq!(told, "400 exception: Missing value for field [ord]");
        let inner = json!({"function_score": {"field_value_factor": {"field": "n.a"},
            "boost_mode": "replace"}});
        let query = json!({"nested": {"path": "n", "query": inner, "score_mode": "sum"}});
        let found = hits(&mut client, "g", query).await;
        assert_eq!(found, [("1".to_owned(), 5.0), ("0".to_owned(), 1.0)]);
    });
}

#[test]
fn words_near_one_are_not_scored_in_a_field_that_only_matches() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"t":{"type":"match_only_text"}}}}"#;
        client.good("PUT", "/o", mapping).await;
        let docs = [json!({"t": "fox"}), json!({"t": "box"}), json!({"t": "bird"})];
        load(&mut client, "o", &docs).await;
        for query in [
            json!({"fuzzy": {"t": "fox"}}),
            json!({"match": {"t": {"query": "fox", "fuzziness": 1}}}),
        ] {
            let found = hits(&mut client, "o", query).await;
            assert_eq!(found, [("0".to_owned(), 1.0), ("1".to_owned(), 1.0)]);
        }
    });
}

/// By its bare name, too, it makes beginnings of one and of two letters.
#[test]
fn the_filter_edge_ngram_makes_beginnings() {
    with_node(|mut client| async move {
        for (filter, want) in [
            (json!("edge_ngram"), &["Q", "Qu", "f", "fo"][..]),
            (json!({"type": "edge_ngram"}), &["Q", "Qu", "f", "fo"]),
        ] {
            let body = json!({"tokenizer": "standard", "filter": [filter], "text": "Quick fox"});
            let told = client.good("POST", "/_analyze", &json::to_string(&body)).await;
            let tokens = at(&told, &["tokens"]).as_array().expect("a list").iter();
            let words: Vec<&str> =
                tokens.map(|token| at(token, &["token"]).as_str().expect("text")).collect();
            assert_eq!(words, want);
        }
    });
}

/// A beginning found nothing under a key, and was refused of all keys; a shape found nothing; a range
/// of one end met the words of other keys.
#[test]
fn a_key_of_a_flattened_field_is_asked_for_what_begins() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"f":{"type":"flattened"}}}}"#;
        client.good("PUT", "/h", mapping).await;
        let docs = [
            json!({"f": {"a": "1.2", "b": "x"}}),
            json!({"f": {"a": "2.1", "b": "1.3"}}),
            json!({"f": {"a": "1.4"}}),
        ];
        load(&mut client, "h", &docs).await;
        for (query, want) in [
            (json!({"prefix": {"f.a": "1."}}), &["0", "2"][..]),
            (json!({"prefix": {"f": "1."}}), &["0", "1", "2"]),
            (json!({"query_string": {"query": "f.a:1.*"}}), &["0", "2"]),
            (json!({"match_bool_prefix": {"f.a": "1."}}), &["0", "2"]),
            (json!({"wildcard": {"f": "?.3"}}), &["1"]),
            (json!({"range": {"f.a": {"gte": "1", "lt": "2"}}}), &["0", "2"]),
        ] {
            let mut found = ids(&mut client, "h", query.clone()).await;
            found.sort_unstable();
            assert_eq!(found, want, "{}", json::to_string(&query));
        }
        for (name, query) in [
            ("wildcard", json!({"wildcard": {"f.a": "1*"}})),
            ("regexp", json!({"regexp": {"f.a": "1.*"}})),
            ("fuzzy", json!({"fuzzy": {"f.a": "1.2"}})),
        ] {
            let told = shard_failure(&mut client, "h", json!({"query": query})).await;
            let wanted = format!(
                "400 query_shard_exception: failed to create query: [{name}] queries are not \
                 currently supported on keyed [flattened] fields."
            );
            assert_eq!(told, wanted);
        }
        let body = json!({"query": {"range": {"f.a": {"gte": "1"}}}});
        let told = shard_failure(&mut client, "h", body).await;
        assert!(told.ends_with("fields must include both an upper and a lower bound."), "{told}");
    });
}

/// Of all fields those of ranges were left out.
#[test]
fn a_text_in_all_fields_is_looked_for_in_ranges_too() {
    with_node(|mut client| async move {
        let mapping = json!({"mappings": {"properties": {"i": {"type": "integer_range"},
            "d": {"type": "date_range"}, "a": {"type": "ip_range"}, "t": {"type": "text"}}}});
        client.good("PUT", "/q", &json::to_string(&mapping)).await;
        let docs = [
            json!({"i": {"gte": 1, "lte": 10}}),
            json!({"d": {"gte": "2024-01-01", "lte": "2024-02-01"}}),
            json!({"a": "10.0.0.0/8"}),
            json!({"t": "6"}),
        ];
        load(&mut client, "q", &docs).await;
        for (text, want) in
            [("6", &["0", "3"][..]), ("2024-01-05", &["1"]), ("10.0.0.1", &["2"]), ("zz", &[])]
        {
            for query in [
                json!({"query_string": {"query": (format!("\"{text}\""))}}),
                json!({"simple_query_string": {"query": text}}),
                json!({"multi_match": {"query": text}}),
                json!({"multi_match": {"query": text, "fields": ["*"]}}),
            ] {
                let mut found = ids(&mut client, "q", query.clone()).await;
                found.sort_unstable();
                assert_eq!(found, want, "{}", json::to_string(&query));
            }
        }
    });
}

/// Buckets were put in order by what has no number, and by keys that nothing has.
#[test]
fn buckets_are_put_in_order_by_numbers() {
    with_node(|mut client| async move {
        load(&mut client, "p", &[json!({"k": "a", "n": 1})]).await;
        let no_number = "Buckets can only be sorted on a sub-aggregator path that is built out of zero \
                         or more single-bucket aggregations within the path and a final \
                         single-bucket or a metrics aggregation at the path end.";
        for (path, why) in [
            ("th", no_number),
            (
                "f._count",
                "Ordering on a single-bucket aggregation can only be done on its doc_count. Either \
                 drop the key (a la \"f\") or change it to \"doc_count\" (a la \"f.doc_count\") or \
                 \"key\".",
            ),
            (
                "m.foo",
                "Ordering on a single-value metrics aggregation can only be done on its value. Either \
                 drop the key (a la \"m\") or change it to \"value\" (a la \"m.value\")",
            ),
            ("f", ""),
            ("f.doc_count", ""),
            ("m", ""),
            ("m.value", ""),
        ] {
            let body = json!({"size": 0, "aggs": {"a": {
                "terms": {"field": "k.keyword", "order": {(path): "asc"}},
                "aggs": {
                    "th": {"top_hits": {}},
                    "f": {"filter": {"match_all": {}}},
                    "m": {"avg": {"field": "n"}}}}}});
            if why.is_empty() {
                client.good("POST", "/p/_search", &json::to_string(&body)).await;
                continue;
            }
            let told = shard_failure(&mut client, "p", body).await;
            let reason = format!("Invalid aggregation order path [{path}]. {why}");
            assert!(told.ends_with(&reason), "{told}");
            assert!(told.contains(" aggregation_execution_exception: "), "{told}");
        }
    });
}

/// Fractions and raised digits were kept as numbers.
#[test]
fn a_half_is_no_digit() {
    with_node(|mut client| async move {
        for (body, want) in [
            (json!({"tokenizer": "keyword", "filter": ["word_delimiter_graph"]}), &["a", "b"][..]),
            (json!({"tokenizer": "keyword", "filter": ["word_delimiter"]}), &["a", "b"]),
            (json!({"tokenizer": "classic"}), &["a", "b"]),
        ] {
            let mut body = body;
            if let Value::Object(members) = &mut body {
                members.insert("text", "a ½ ² b");
            }
            let told = client.good("POST", "/_analyze", &json::to_string(&body)).await;
            let tokens = at(&told, &["tokens"]).as_array().expect("a list").iter();
            let words: Vec<&str> =
                tokens.map(|token| at(token, &["token"]).as_str().expect("text")).collect();
            assert_eq!(words, want, "{}", json::to_string(&body));
        }
        let body = json!({"tokenizer": "classic", "text": "٣ ５"});
        let told = client.good("POST", "/_analyze", &json::to_string(&body)).await;
        let count = at(&told, &["tokens"]).as_array().map(<[_]>::len);
        assert_eq!(count, Some(2), "digits of other scripts are some");
    });
}

/// Patterns were held against the bytes by which versions sort, and found none.
#[test]
fn versions_are_found_by_patterns_of_their_texts() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"v":{"type":"version"}}}}"#;
        client.good("PUT", "/v", mapping).await;
        let docs = [
            json!({"v": "1.2.3"}),
            json!({"v": "1.10"}),
            json!({"v": "foo"}),
            json!({"v": "2.0.0-rc.1"}),
        ];
        load(&mut client, "v", &docs).await;
        for (query, want) in [
            (json!({"prefix": {"v": "1."}}), &["0", "1"][..]),
            (json!({"prefix": {"v": {"value": "FO", "case_insensitive": true}}}), &["2"]),
            (json!({"wildcard": {"v": "1.*"}}), &["0", "1"]),
            (json!({"wildcard": {"v": "1.2.3"}}), &["0"]),
            (json!({"wildcard": {"v": "*-rc*"}}), &["3"]),
            (json!({"regexp": {"v": "1.*"}}), &["0", "1"]),
            (json!({"regexp": {"v": "[a-z]+"}}), &["2"]),
            (json!({"fuzzy": {"v": "fox"}}), &["2"]),
            (json!({"fuzzy": {"v": {"value": "1.10", "fuzziness": 0}}}), &["1"]),
            (json!({"query_string": {"query": "v:1.*"}}), &["0", "1"]),
            (json!({"range": {"v": {"gt": "1.2.3", "lt": "2.0.0"}}}), &["1", "3"]),
        ] {
            let mut found = ids(&mut client, "v", query.clone()).await;
            found.sort_unstable();
            assert_eq!(found, want, "{}", json::to_string(&query));
        }
    });
}

/// All words counted, so a text that repeats one scored lower than Lucene lets it.
#[test]
fn a_text_without_frequencies_is_as_long_as_it_has_different_words() {
    with_node(|mut client| async move {
        let mapping = json!({"mappings": {"properties": {
            "t": {"type": "text", "index_options": "docs"}}}});
        client.good("PUT", "/t", &json::to_string(&mapping)).await;
        let texts = [
            "fox fox fox dog",
            "fox dog",
            "cat cat cat cat fox",
            "dog dog",
            "bird",
            "fox cat dog bird fish",
        ];
        let docs: Vec<Value> = texts.iter().map(|text| json!({"t": *text})).collect();
        load(&mut client, "t", &docs).await;
        let found = hits(&mut client, "t", json!({"match": {"t": "fox"}})).await;
        let found: Vec<(&str, i64)> =
            found.iter().map(|(id, score)| (id.as_str(), (score * 1e5).round() as i64)).collect();
        assert_eq!(found, [("0", 45_619), ("1", 45_619), ("2", 45_619), ("5", 28_785)]);
    });
}

/// The last word was taken for a beginning, whatever stood behind it.
#[test]
fn a_last_word_is_whole_where_something_stands_behind_it() {
    with_node(|mut client| async move {
        let index = json!({
            "settings": {"analysis": {
                "filter": {"same": {"type": "synonym", "synonyms": ["bro, brother"]}},
                "analyzer": {"same": {"tokenizer": "standard", "filter": ["lowercase", "same"]}}}},
            "mappings": {"properties": {"t": {"type": "text", "fields": {
                "stop": {"type": "text", "analyzer": "stop"},
                "same": {"type": "text", "search_analyzer": "same", "analyzer": "standard"}}}}}});
        client.good("PUT", "/w", &json::to_string(&index)).await;
        let docs = [json!({"t": "a brown fox jumps"}), json!({"t": "one jumpsuit"})];
        load(&mut client, "w", &docs).await;
        for (field, query, want) in [
            ("t", "jumps", &["0", "1"][..]),
            ("t", "jumps-", &["0"]),
            ("t", "one jump ", &["1"]),
            ("t", "bro", &["0"]),
            ("t", "bro,", &[]),
            ("t.stop", "bro", &["0"]),
            ("t.stop", "bro the", &[]),
            // Words for one another are whole, too.
            ("t.same", "bro", &[]),
            ("t.same", "brow", &["0"]),
        ] {
            let mut found =
                ids(&mut client, "w", json!({"match_bool_prefix": {field: query}})).await;
            found.sort_unstable();
            assert_eq!(found, want, "{field}: {query}");
            let several =
                json!({"multi_match": {"query": query, "type": "bool_prefix", "fields": [field]}});
            let mut found = ids(&mut client, "w", several).await;
            found.sort_unstable();
            assert_eq!(found, want, "{field}: {query}");
        }
    });
}

/// Longs were printed as doubles.
#[test]
fn every_digit_of_a_long_is_shown_by_a_pattern() {
    with_node(|mut client| async move {
        load(&mut client, "l", &[json!({"l": 9_007_199_254_740_993_i64})]).await;
        let body = json!({"docvalue_fields": [{"field": "l", "format": "000.0"}],
            "aggs": {"a": {"terms": {"field": "l", "format": "#,##0"}}}});
        let found = client.good("POST", "/l/_search", &json::to_string(&body)).await;
        let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
        assert_eq!(at(&hits[0], &["fields", "l"]), &json!(["9007199254740993.0"]));
        let buckets = at(&found, &["aggregations", "a", "buckets"]).as_array().expect("a list");
        assert_eq!(at(&buckets[0], &["key_as_string"]).as_str(), Some("9,007,199,254,740,993"));
    });
}

#[test]
fn explain_asks_for_the_routing_that_documents_need() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"_routing":{"required":true}}}"#;
        client.good("PUT", "/rr", mapping).await;
        client.good("PUT", "/rr/_doc/1?routing=a&refresh=true", r#"{"n":1}"#).await;
        let query = r#"{"query":{"match_all":{}}}"#;
        // It was said that there is no such document.
        let told = client.bad("GET", "/rr/_explain/1", query).await;
        assert_eq!(told, "400 routing_missing_exception: routing is required for [rr]/[1]");
        let found = client.good("GET", "/rr/_explain/1?routing=a", query).await;
        assert_eq!(at(&found, &["matched"]).as_bool(), Some(true));
    });
}

#[test]
fn work_by_query_on_one_slice_names_it() {
    with_node(|mut client| async move {
        let docs: Vec<Value> = (0..20).map(|n| json!({"n": n})).collect();
        load(&mut client, "b", &docs).await;
        let mut deleted = 0;
        for id in 0..2 {
            let body = json!({"slice": {"id": id, "max": 2}});
            let done = client
                .good("POST", "/b/_update_by_query?refresh=true", &json::to_string(&body))
                .await;
            assert_eq!(at(&done, &["slice_id"]).as_u64(), Some(id));
            // What `_update_by_query` takes in its body, this takes too.
            let body = json!({"slice": {"id": id, "max": 2}, "query": {"match_all": {}},
                "conflicts": "proceed"});
            let target = "/b/_delete_by_query?refresh=true";
            let done = client.good("POST", target, &json::to_string(&body)).await;
            assert_eq!(at(&done, &["slice_id"]).as_u64(), Some(id));
            deleted += at(&done, &["deleted"]).as_u64().expect("a count");
        }
        assert_eq!(deleted, 20);
        let whole = client.good("POST", "/b/_update_by_query", "").await;
        assert!(whole.get("slice_id").is_none(), "{}", json::to_string(&whole));
    });
}

#[test]
fn a_type_is_not_asked_what_it_cannot_say() {
    with_node(|mut client| async move {
        let mapping = json!({"mappings": {"properties": {
            "o": {"properties": {"f": {"type": "rank_features"}}},
            "say": {"type": "search_as_you_type"}, "t": {"type": "text"}}}});
        client.good("PUT", "/k", &json::to_string(&mapping)).await;
        load(&mut client, "k", &[json!({"o": {"f": {"a": 1}}, "say": "a fox", "t": "a fox"})])
            .await;
        // All of these found the document.
        let features = "400 query_shard_exception: failed to create query: [rank_features] fields do \
                        not support [exists] queries";
        for name in ["o.f", "o", "o*"] {
            let body = json!({"query": {"exists": {"field": name}}});
            assert_eq!(shard_failure(&mut client, "k", body).await, features, "{name}");
        }
        let combined = |field: &str| json!({"query": {"combined_fields": {"query": "fox", "fields": [field]}}});
        for field in ["say", "say._2gram"] {
            let told = format!(
                "400 query_shard_exception: failed to create query: Field [{field}] of type \
                 [search_as_you_type] does not support [combined_fields] queries"
            );
            assert_eq!(shard_failure(&mut client, "k", combined(field)).await, told);
        }
        let found = client.good("POST", "/k/_search", &json::to_string(&combined("t"))).await;
        assert_eq!(at(&found, &["hits", "total", "value"]).as_u64(), Some(1));
    });
}

#[test]
fn a_text_is_refused_what_its_words_do_not_keep() {
    with_node(|mut client| async move {
        let told = client
            .bad(
                "PUT",
                "/x",
                r#"{"mappings":{"properties":{"f":{"type":"text","index":false,"index_prefixes":{}}}}}"#,
            )
            .await;
        assert_eq!(
            told,
            "400 mapper_parsing_exception: Failed to parse mapping: Cannot set index_prefixes on \
             unindexed field [f]"
        );
    });
}

/// The first of several values was taken.
#[test]
fn a_hit_is_collapsed_by_one_value() {
    with_node(|mut client| async move {
        let mapping = json!({"mappings": {"properties": {"k": {"type": "keyword"}}}});
        client.good("PUT", "/c", &json::to_string(&mapping)).await;
        let docs = [json!({"k": "a", "n": 1}), json!({"k": ["a", "a"], "n": 2}), json!({"n": 3})];
        load(&mut client, "c", &docs).await;
        for field in ["k", "n"] {
            let body = json!({"collapse": {"field": field}});
            client.good("POST", "/c/_search", &json::to_string(&body)).await;
        }
        load(&mut client, "c", &[json!({"k": ["a", "b"], "n": [1, 2]})]).await;
        for field in ["k", "n"] {
            let body = json!({"collapse": {"field": field}});
            let told = shard_failure(&mut client, "c", body).await;
            let rest = told.strip_prefix("500 illegal_state_exception: failed to extract doc:");
            let end = rest.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
            assert_eq!(end, Some(", the grouping field must be single valued"), "{told}");
        }
    });
}

/// The beginning of one word was scored as a phrase: the rarities of all words that begin so were added up for each hit.
#[test]
fn a_beginning_of_one_word_scores_the_words_that_are_there() {
    with_node(|mut client| async move {
        let docs = ["run", "runner", "run runner rune", "x", "fox"];
        load(&mut client, "mp", &docs.map(|text| json!({"t": text}))).await;
        let begins = json!({"match_phrase_prefix": {"t": "run"}});
        let each = ["run", "rune", "runner"].map(|word| json!({"match": {"t": word}}));
        let words = json!({"bool": {"should": (each.to_vec())}});
        let found = hits(&mut client, "mp", begins).await;
        assert_eq!(found.len(), 3);
        assert_eq!(found, hits(&mut client, "mp", words).await);
    });
}

/// A word in several fields is one clause: of two of them a document that has it in one had none.
#[test]
fn of_one_word_in_several_fields_none_is_counted() {
    with_node(|mut client| async move {
        let docs = [json!({"t": "fox", "u": "dog"}), json!({"t": "fox", "u": "fox"})];
        load(&mut client, "sq", &docs).await;
        let asked = async |client: &mut Client, text: &str, fields: &[&str]| {
            let fields: Vec<json::Value> = fields.iter().map(|&name| name.into()).collect();
            let query = json!({"simple_query_string": {
                "query": text, "fields": fields, "minimum_should_match": "100%"
            }});
            hits(client, "sq", query).await.len()
        };
        assert_eq!(asked(&mut client, "fox", &["t", "u"]).await, 2);
        assert_eq!(asked(&mut client, "fox dog", &["t", "u"]).await, 1, "words are counted");
        assert_eq!(asked(&mut client, "fox-dog", &["t"]).await, 0, "so are those of one field");
    });
}

#[test]
fn a_composite_of_more_buckets_than_there_may_be_is_refused() {
    with_node(|mut client| async move {
        load(&mut client, "cm", &[json!({"n": 1})]).await;
        let sources = json!([{"n": {"terms": {"field": "n"}}}]);
        let body =
            json!({"size": 0, "aggs": {"c": {"composite": {"size": 70_000, "sources": sources}}}});
        let told = shard_failure(&mut client, "cm", body).await;
        let wanted = "400 too_many_buckets_exception: Trying to create too many buckets. Must be less than or \
                      equal to: [65536] but was [70000].";
        assert!(told.starts_with(wanted), "{told}");
    });
}

/// A text was looked for in the first field alone; each word counts in the field that has it in most documents.
#[test]
fn a_text_is_looked_for_in_the_field_that_most_have_it_in() {
    with_node(|mut client| async move {
        let mut docs = vec![json!({"t": "fox", "u": "y"}); 2];
        docs.extend(vec![json!({"t": "x", "u": "fox"}); 5]);
        load(&mut client, "ml", &docs).await;
        let query = json!({"more_like_this": {
            "fields": ["t", "u"], "like": "fox", "min_term_freq": 1, "min_doc_freq": 1
        }});
        assert_eq!(ids(&mut client, "ml", query).await, ["2", "3", "4", "5", "6"]);
    });
}

/// A field and another name of it each counted where all fields were meant: what they have scored twice.
#[test]
fn another_name_of_a_field_is_no_field_of_its_own() {
    with_node(|mut client| async move {
        let properties =
            r#"{"n":{"type":"integer"},"m":{"type":"integer"},"ali":{"type":"alias","path":"n"}}"#;
        let mapping = format!(r#"{{"mappings":{{"properties":{properties}}}}}"#);
        client.good("PUT", "/al", &mapping).await;
        load(&mut client, "al", &[json!({"n": 5, "m": 4}), json!({"n": 1, "m": 5})]).await;
        for query in [
            json!({"simple_query_string": {"query": "5"}}),
            json!({"multi_match": {"query": "5", "type": "most_fields", "lenient": true}}),
        ] {
            let found = hits(&mut client, "al", query).await;
            assert_eq!(found, [("0".to_owned(), 1.0), ("1".to_owned(), 1.0)]);
        }
        // One that is named alone means its field.
        let named = json!({"multi_match": {"query": "5", "fields": ["al*"]}});
        assert_eq!(ids(&mut client, "al", named).await, ["0"]);
    });
}
