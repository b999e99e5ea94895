//! What queries may not ask, and what they ask of the parts of a field.

use json::{Value, json};

use crate::edged::{buckets, hits, load, shard_failure};
use crate::place::{Client, at, with_node};

/// Why a search was not read.
async fn unread(client: &mut Client, query: Value) -> String {
    client.bad("POST", "/i/_search", &json::to_string(&json!({"query": query}))).await
}

async fn index(client: &mut Client) {
    let mapping = json!({"mappings": {"properties": {
        "d": {"type": "date"}, "dn": {"type": "date_nanos"}, "g": {"type": "geo_point"},
        "k": {"type": "keyword"}, "n": {"type": "long"}, "b": {"type": "boolean"},
        "in": {"type": "nested"}}}});
    client.good("PUT", "/i", &json::to_string(&mapping)).await;
    let doc = json!({"d": "2024-01-01", "dn": "2024-01-01", "g": "1,2", "k": "a", "n": 1, "b": true,
        "in": [{"a": 1}]});
    load(client, "i", &[doc]).await;
}

/// All of these were taken, but for the weights, which failed where a document was scored.
#[test]
fn what_is_no_query_is_not_read() {
    with_node(|mut client| async move {
        index(&mut client).await;
        let all = json!({"match_all": {}});
        assert_eq!(
            unread(&mut client, json!({"dis_max": {"queries": []}})).await,
            "400 parsing_exception: [_na] query malformed, must start with start_object"
        );
        let weight = "400 illegal_argument_exception: [weight] cannot be negative for a filtering \
                      function";
        for body in [json!({"weight": -1}), json!({"functions": [{"weight": -1}]})] {
            assert_eq!(unread(&mut client, json!({"function_score": body})).await, weight);
        }
        let inner = |hits: Value| json!({"nested": {"path": "in", "query": all.clone(), "inner_hits": hits}});
        for (hits, told) in [
            (json!({"foo": 1}), "[inner_hits] unknown field [foo]"),
            (json!({"size": -1}), "[inner_hits] failed to parse field [size]"),
            (json!({"from": "x"}), "[inner_hits] failed to parse field [from]"),
            (
                json!({"explain": 1}),
                "[inner_hits] explain doesn't support values of type: VALUE_NUMBER",
            ),
            (
                json!({"collapse": {"field": "n", "inner_hits": {}}}),
                "[inner_hits] failed to parse field [collapse]",
            ),
        ] {
            let found = unread(&mut client, inner(hits)).await;
            assert!(found.starts_with("400 x_content_parse_exception: [1:"), "{found}");
            assert!(found.ends_with(&format!("] {told}")), "{found}");
        }
        let good = json!({"query": inner(json!({"sort": "in.a", "size": 1, "_source": false}))});
        client.good("POST", "/i/_search", &json::to_string(&good)).await;
    });
}

/// Numbers that make no query were taken, or told elsewhere.
#[test]
fn what_a_field_cannot_be_asked_is_told_by_its_shard() {
    with_node(|mut client| async move {
        index(&mut client).await;
        let near = |field: &str, origin: &str, pivot: &str| json!({"distance_feature": {"field": field, "origin": origin, "pivot": pivot}});
        let all = json!({"match_all": {}});
        let prefix = |field: &str, text: &str| json!({"match_phrase_prefix": {field: text}});
        let tie = "tieBreakerMultiplier must be in [0, 1]";
        let ties = |query: &str, kind: &str, share: f64| json!({query: {"query": "1", "fields": ["k", "n"], "type": kind, "tie_breaker": share}});
        let negative = "failed to parse setting [distance_feature.pivot] with value [-2d] as a time \
                        value: negative durations are not supported";
        let phrase = |field: &str, kind: &str| {
            format!(
                "Can only use phrase prefix queries on text fields - not on [{field}] which is of type \
                 [{kind}]"
            )
        };
        let cases = [
            (near("d", "now", "0d"), "pivotDistance must be > 0, got 0".to_owned()),
            (near("d", "now", "-1d"), "pivotDistance must be > 0, got -86400000".to_owned()),
            (near("d", "now", "-2d"), negative.to_owned()),
            (near("dn", "now", "-1ms"), "pivotDistance must be > 0, got -1000000".to_owned()),
            (near("g", "1,2", "0m"), "pivotDistance must be > 0, got 0.0".to_owned()),
            (near("g", "1,2", "-1m"), "pivotDistance must be > 0, got -1.0".to_owned()),
            (
                json!({"fuzzy": {"k": {"value": "a", "prefix_length": -1}}}),
                "prefixLength cannot be negative.".to_owned(),
            ),
            (
                json!({"fuzzy": {"k": {"value": "a", "max_expansions": 0}}}),
                "maxExpansions must be positive.".to_owned(),
            ),
            (json!({"dis_max": {"queries": [all], "tie_breaker": 2}}), tie.to_owned()),
            (ties("multi_match", "best_fields", 2.0), tie.to_owned()),
            (ties("multi_match", "best_fields", -0.5), tie.to_owned()),
            (ties("query_string", "best_fields", 1.5), tie.to_owned()),
            (prefix("n", "1"), phrase("n", "long")),
            (prefix("d", "2024"), phrase("d", "date")),
            (prefix("b", "true"), phrase("b", "boolean")),
            (prefix("k", "a"), phrase("k", "keyword")),
        ];
        for (query, told) in cases {
            let found = shard_failure(&mut client, "i", json!({"query": query.clone()})).await;
            let told = format!("400 query_shard_exception: failed to create query: {told}");
            assert_eq!(found, told, "{}", json::to_string(&query));
        }
        let words = r#"{"mappings":{"properties":{"k":{"type":"text"},"n":{"type":"text"}}}}"#;
        client.good("PUT", "/words", words).await;
        let across = json!({"query": ties("multi_match", "cross_fields", 2.0)});
        let found = shard_failure(&mut client, "words", across).await;
        assert_eq!(found, format!("400 query_shard_exception: failed to create query: {tie}"));
        // What no field is asked is no fault.
        let nobody = json!({"fuzzy": {"zz": {"value": "a", "prefix_length": -1}}});
        assert!(hits(&mut client, "i", nobody).await.is_empty());
        assert_eq!(
            hits(&mut client, "i", near("d", "2024-01-01T00:00:00.000Z", "1d")).await[0].1,
            1.0
        );
    });
}

#[test]
fn places_that_cannot_be_are_counted() {
    with_node(|mut client| async move {
        index(&mut client).await;
        for (query, told) in [
            (
                json!({"geo_distance": {"distance": "1km", "g": "95,202"}}),
                "Validation Failed: 1: center point latitude is invalid: 95.0;2: center point \
                 longitude is invalid: 202.0;",
            ),
            (
                json!({"geo_bounding_box": {"g": {"top_left": "95,2", "bottom_right": "1,3"}}}),
                "Validation Failed: 1: top latitude is invalid: 95.0;",
            ),
        ] {
            let body = json::to_string(&json!({"query": query}));
            let response = client.call("POST", "/i/_search", &body).await;
            let failed = crate::place::value(&response);
            let failures = at(&failed, &["error", "failed_shards"]).as_array().expect("a list");
            let text = |path: &[&str]| at(&failures[0], path).as_str().expect("text").to_owned();
            assert_eq!(text(&["reason", "reason"]), "couldn't validate latitude/ longitude values");
            assert_eq!(text(&["reason", "caused_by", "type"]), "query_validation_exception");
            assert_eq!(text(&["reason", "caused_by", "reason"]), told);
        }
    });
}

/// Words in order were looked for in the field itself, whose scores are others.
#[test]
fn words_in_order_are_asked_of_shingles() {
    with_node(|mut client| async move {
        let mapping = json!({"mappings": {"properties": {"s": {"type": "search_as_you_type"}}}});
        client.good("PUT", "/s", &json::to_string(&mapping)).await;
        let docs = [
            json!({"s": "one"}),
            json!({"s": "one two"}),
            json!({"s": "one two three"}),
            json!({"s": ["one", "two three", "four five six"]}),
            json!({"s": "the one two three four"}),
            json!({"s": "two thrice two three"}),
        ];
        load(&mut client, "s", &docs).await;
        for (asked, part) in [
            (
                json!({"match_phrase": {"s": "two three"}}),
                json!({"term": {"s._2gram": "two three"}}),
            ),
            (
                json!({"match_phrase": {"s": "one two three four"}}),
                json!({"match_phrase": {"s._3gram": "one two three four"}}),
            ),
            (
                json!({"match_phrase_prefix": {"s": "two thr"}}),
                json!({"term": {"s._index_prefix": "two thr"}}),
            ),
            (
                json!({"match_phrase_prefix": {"s._2gram": "two thr"}}),
                json!({"term": {"s._index_prefix": "two thr"}}),
            ),
            (
                json!({"multi_match": {"query": "two three f", "type": "phrase_prefix", "fields": ["s"]}}),
                json!({"term": {"s._index_prefix": "two three f"}}),
            ),
        ] {
            let found = hits(&mut client, "s", asked.clone()).await;
            assert!(!found.is_empty(), "{}", json::to_string(&asked));
            let expected = hits(&mut client, "s", part).await;
            assert_eq!(found, expected, "{}", json::to_string(&asked));
        }
        // More words than a shingle has: the last begins so, behind the others.
        for (query, ids) in [
            ("one two three fo", &["4"][..]),
            ("one two three four", &["4"]),
            ("two three four five", &[]),
            ("one two th", &["2", "4"]),
        ] {
            let asked = json!({"match_phrase_prefix": {"s": query}});
            let mut found: Vec<String> =
                hits(&mut client, "s", asked).await.into_iter().map(|(id, _)| id).collect();
            found.sort();
            assert_eq!(found, ids, "{query}");
        }
        // Words that may stand apart, and a single one, are asked of the field itself.
        for (query, count) in [
            (json!({"match_phrase": {"s": {"query": "one three", "slop": 1}}}), 2),
            (json!({"match_phrase_prefix": {"s": "thr"}}), 4),
        ] {
            assert_eq!(hits(&mut client, "s", query).await.len(), count);
        }
        let body = json!({"query": {"match_phrase": {"s._index_prefix": "one two three four"}}});
        assert_eq!(
            shard_failure(&mut client, "s", body).await,
            "400 query_shard_exception: failed to create query: Can only use phrase queries on text \
             fields - not on [s._index_prefix] which is of type [prefix]"
        );
    });
}

/// The simple fragmenter left no short rest either, and words of a phrase with a slop were marked in their
/// order alone.
#[test]
fn the_plain_highlighter_cuts_and_marks_as_it_is_asked_to() {
    with_node(|mut client| async move {
        let mapping = json!({"mappings": {"properties": {"t": {"type": "text"}}}});
        client.good("PUT", "/h", &json::to_string(&mapping)).await;
        let long = format!("{}quick", "foxes ".repeat(40));
        let docs = [json!({"t": long}), json!({"t": "a fox was quick as a quick fox and a fox"})];
        load(&mut client, "h", &docs).await;
        let marked = async |client: &mut Client, query: Value, field: Value| -> Vec<String> {
            let body = json!({"query": query, "highlight": {"fields": {"t": field}}});
            let found = client.good("POST", "/h/_search", &json::to_string(&body)).await;
            let hits = at(&found, &["hits", "hits"]).as_array().expect("a list");
            let parts = at(&hits[0], &["highlight", "t"]).as_array().expect("a list");
            parts.iter().map(|part| part.as_str().expect("text").to_owned()).collect()
        };
        let one = json!({"bool": {"filter": {"ids": {"values": ["0"]}}, "must": {"match": {"t": "quick"}}}});
        let plain = |fragmenter: &str, fragments: u32| {
            json!({"type": "plain", "fragment_size": 30, "fragmenter": fragmenter,
                "number_of_fragments": fragments})
        };
        assert_eq!(marked(&mut client, one.clone(), plain("simple", 5)).await, [" <em>quick</em>"]);
        assert_eq!(
            marked(&mut client, one, plain("span", 5)).await,
            [" foxes foxes foxes foxes foxes <em>quick</em>"]
        );
        let phrase = json!({"match_phrase": {"t": {"query": "quick fox", "slop": 1}}});
        let whole = plain("span", 0);
        assert_eq!(
            marked(&mut client, phrase, whole).await,
            ["a <em>fox</em> was <em>quick</em> as a <em>quick</em> <em>fox</em> and a fox"]
        );
    });
}

/// What a document has too many of was told as soon as 65,536 were made; what a setting forbids was made first.
#[test]
fn a_range_has_as_many_buckets_as_the_cluster_allows() {
    with_node(|mut client| async move {
        let mapping = json!({"mappings": {"properties": {
            "l": {"type": "long_range"}, "d": {"type": "date_range"}}}});
        client.good("PUT", "/r", &json::to_string(&mapping)).await;
        let doc = json!({"l": {"gte": 0, "lt": 70_000}, "d": {"gte": 0, "lt": 70_000}});
        load(&mut client, "r", &[doc]).await;
        let width = json!({"histogram": {"field": "l", "interval": 1}});
        let time = json!({"date_histogram": {"field": "d", "fixed_interval": "1ms"}});
        let told = |most: u32| {
            format!(
                "400 too_many_buckets_exception: Trying to create too many buckets. Must be less than \
                 or equal to: [{most}] but this number of buckets was exceeded. This limit can be set by \
                 changing the [search.max_buckets] cluster level setting."
            )
        };
        for agg in [&width, &time] {
            let body = json!({"size": 0, "aggs": {"a": agg.clone()}});
            assert_eq!(shard_failure(&mut client, "r", body).await, told(65_536));
        }
        let set = json!({"persistent": {"search.max_buckets": 10}});
        client.good("PUT", "/_cluster/settings", &json::to_string(&set)).await;
        for agg in [width, time] {
            let body = json!({"size": 0, "aggs": {"a": agg}});
            assert_eq!(shard_failure(&mut client, "r", body).await, told(10));
        }
    });
}

/// Letters were made small one by one.
#[test]
fn a_sigma_at_the_end_is_another_letter() {
    with_node(|mut client| async move {
        for filter in ["german_stem", "brazilian_stem"] {
            let body = json!({"tokenizer": "standard", "filter": [filter], "text": "ΕΛΛΆΣ"});
            let made = client.good("POST", "/_analyze", &json::to_string(&body)).await;
            let tokens = at(&made, &["tokens"]).as_array().expect("a list");
            assert_eq!(at(&tokens[0], &["token"]).as_str(), Some("ελλάς"), "{filter}");
        }
    });
}

/// Gaps between buckets were filled by a sum that grew no more: a search of one document never ended.
#[test]
fn buckets_of_numbers_beyond_what_a_double_counts_are_filled() {
    with_node(|mut client| async move {
        let mapping = json!({"mappings": {"properties": {
            "l": {"type": "long_range"}, "n": {"type": "long"}}}});
        client.good("PUT", "/b", &json::to_string(&mapping)).await;
        let far = 1_i64 << 62;
        load(&mut client, "b", &[json!({"l": {"gte": far, "lte": far + 5}, "n": far})]).await;
        for field in ["l", "n"] {
            let agg = json!({"histogram": {"field": field, "interval": 1}});
            assert_eq!(buckets(&mut client, "b", agg).await, [(far as f64, 1)], "{field}");
        }
        load(&mut client, "b", &[json!({"n": far}), json!({"n": far + 2048})]).await;
        let agg = json!({"histogram": {"field": "n", "interval": 1}});
        let found = buckets(&mut client, "b", agg).await;
        let counts: Vec<u64> = found.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [1, 0, 1]);
    });
}
