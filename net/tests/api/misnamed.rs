//! Settings that are misspelt, out of bounds or were unknown, and what those do that were.

use crate::place::{Client, at, with_node};

/// Why every shard refuses a search.
async fn refused(client: &mut Client, search: &str) -> String {
    let answer = client.call("POST", "/a/_search", search).await;
    assert_eq!(answer.status, 400);
    let told = json::parse(&answer.body).expect("JSON");
    let causes = at(&told, &["error", "root_cause"]).as_array().expect("causes");
    assert_eq!(at(&causes[0], &["type"]).as_str(), Some("illegal_argument_exception"));
    at(&causes[0], &["reason"]).as_str().expect("a text").to_owned()
}

/// The aggregation named a setting that nobody could set.
#[test]
fn so_many_top_metrics_are_told_as_the_index_says() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"settings":{"number_of_shards":1}}"#).await;
        for number in 0..12 {
            let target = format!("/a/_doc/{number}");
            client.good("PUT", &target, &format!(r#"{{"n":{number}}}"#)).await;
        }
        client.good("POST", "/a/_refresh", "").await;
        let search = |size: usize| {
            format!(
                r#"{{"size":0,"aggs":{{"t":{{"top_metrics":{{"metrics":{{"field":"n"}},
                    "sort":{{"n":"desc"}},"size":{size}}}}}}}}}"#
            )
        };
        let too_many = |most: usize, size: usize| {
            format!(
                "[top_metrics.size] must not be more than [{most}] but was [{size}]. This limit can be set by changing \
                 the [index.top_metrics_max_size] index level setting."
            )
        };
        assert_eq!(refused(&mut client, &search(11)).await, too_many(10, 11));
        client.good("PUT", "/a/_settings", r#"{"index.top_metrics_max_size":11}"#).await;
        let found = client.good("POST", "/a/_search", &search(11)).await;
        let top = at(&found, &["aggregations", "t", "top"]).as_array().expect("documents");
        assert_eq!(top.len(), 11);
        assert_eq!(refused(&mut client, &search(12)).await, too_many(11, 12));
    });
}

/// The mode could not be switched off.
#[test]
fn phrases_are_marked_word_by_word_where_the_index_says_so() {
    with_node(|mut client| async move {
        client.good("PUT", "/a/_doc/1?refresh", r#"{"t":"a quick brown fox"}"#).await;
        let search =
            r#"{"query":{"match_phrase":{"t":"quick brown"}},"highlight":{"fields":{"t":{}}}}"#;
        let mut marked = Vec::new();
        for set in ["{}", r#"{"index.highlight.weight_matches_mode.enabled":false}"#] {
            if set != "{}" {
                client.good("PUT", "/a/_settings", set).await;
            }
            let found = client.good("POST", "/a/_search", search).await;
            let hits = at(&found, &["hits", "hits"]).as_array().expect("hits");
            marked.push(json::to_string(at(&hits[0], &["highlight", "t"])));
        }
        assert_eq!(
            marked,
            [r#"["a <em>quick brown</em> fox"]"#, r#"["a <em>quick</em> <em>brown</em> fox"]"#]
        );
    });
}

/// The one name that was nearest was told, of the cluster's settings too; a star anywhere took settings back.
#[test]
fn names_that_nobody_knows_are_refused_as_elasticsearch_refuses_them() {
    with_node(|mut client| async move {
        let told = client.bad("PUT", "/x", r#"{"settings":{"index.blocks.foo":1}}"#).await;
        assert_eq!(
            told,
            "400 illegal_argument_exception: unknown setting [index.blocks.foo] did you mean any of \
             [index.blocks.read, index.blocks.write]?"
        );
        let one = r#"{"persistent":{"search.max_buckets":7}}"#;
        client.good("PUT", "/_cluster/settings", one).await;
        for name in ["search.max_bucket", "search.*_buckets"] {
            for layer in ["persistent", "transient"] {
                let body = format!(r#"{{"{layer}":{{"{name}":null}}}}"#);
                let told = client.bad("PUT", "/_cluster/settings", &body).await;
                let wanted = format!(
                    "400 illegal_argument_exception: {layer} setting [{name}], not recognized"
                );
                assert_eq!(told, wanted);
            }
        }
        let got = client.good("GET", "/_cluster/settings?flat_settings", "").await;
        assert_eq!(json::to_string(at(&got, &["persistent"])), r#"{"search.max_buckets":"7"}"#);
        client.good("PUT", "/_cluster/settings", r#"{"persistent":{"search.max_b*":null}}"#).await;
        let got = client.good("GET", "/_cluster/settings?flat_settings", "").await;
        assert_eq!(json::to_string(at(&got, &["persistent"])), "{}");
        let known = r#"{"persistent":{"xpack.monitoring.elasticsearch.collection.enabled":false}}"#;
        client.good("PUT", "/_cluster/settings", known).await;
    });
}

/// The cause was not told of a time, and a size below zero was no fault of the request's form.
#[test]
fn what_is_no_number_is_told_of_times() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        for (method, target, body) in [
            ("PUT", "/x", r#"{"settings":{"refresh_interval":"1.5s"}}"#),
            ("PUT", "/a/_settings", r#"{"index.refresh_interval":"1.5s"}"#),
            ("POST", "/a/_search?timeout=1.5s", "{}"),
        ] {
            let answer = client.call(method, target, body).await;
            let told = json::parse(&answer.body).expect("JSON");
            let text = |path: &[&str]| at(&told, path).as_str().map(str::to_owned);
            let reason = "failed to parse [1.5s], fractional time values are not supported";
            assert_eq!(text(&["error", "reason"]).as_deref(), Some(reason), "{target}");
            let cause =
                [text(&["error", "caused_by", "type"]), text(&["error", "caused_by", "reason"])];
            let cause = cause.map(Option::unwrap_or_default);
            assert_eq!(cause, ["number_format_exception", "For input string: \"1.5\""], "{target}");
        }
        assert_eq!(
            client.bad("GET", "/_health_report?size=-1", "").await,
            "400 action_request_validation_exception: Validation Failed: 1: The size parameter must be a positive \
             integer;"
        );
    });
}

/// All were refused where the metadata of one is blocked.
#[test]
fn mappings_of_fields_are_told_of_the_indices_whose_metadata_is_not_blocked() {
    with_node(|mut client| async move {
        for index in ["a", "b"] {
            let mapping = r#"{"mappings":{"properties":{"f":{"type":"keyword"}}}}"#;
            client.good("PUT", &format!("/{index}"), mapping).await;
        }
        client.good("PUT", "/b/_settings", r#"{"index.blocks.metadata":true}"#).await;
        let got = client.call("GET", "/b/_mapping/field/f", "").await;
        assert_eq!((got.status, &got.body[..]), (404, &b"{}"[..]));
        let got = client.good("GET", "/a,b/_mapping/field/f", "").await;
        let names: Vec<&str> =
            got.as_object().expect("indices").iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a"]);
        let told = client.bad("GET", "/b/_mapping", "").await;
        assert!(told.starts_with("403 cluster_block_exception"), "{told}");
    });
}

/// The lines of the body stood in the source.
#[test]
fn bytes_of_a_body_in_yaml_are_one_line_of_the_source() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"b":{"type":"binary"}}}}"#;
        client.good("PUT", "/y", mapping).await;
        let fields = [("Content-Type", "application/yaml"), ("Accept", "application/json")];
        let body = b"b: !!binary |\n  aGVs\n  bG8=\n";
        let put = client.call_with("PUT", "/y/_doc/1", &fields, body).await;
        assert_eq!(put.status, 201);
        let got = client.call("GET", "/y/_source/1", "").await;
        assert_eq!(got.body, br#"{"b":"aGVsbG8="}"#);
    });
}
