//! What `_validate/query` says of a query that cannot be.

use json::json;

use crate::place::{at, with_node};

/// One failure ended with a semicolon, and the cause of another was not told by itself.
#[test]
fn a_failure_is_told_with_its_causes_as_elasticsearch_prints_it() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", r#"{"mappings":{"properties":{"n":{"type":"long"}}}}"#).await;
        let ask = "/a/_validate/query?explain";
        let told = client.good("POST", ask, r#"{"query":{"match":{}}}"#).await;
        let alone = at(&told, &["error"]).as_str().expect("an error");
        assert!(alone.starts_with("ParsingException[") && alone.ends_with(']'), "{alone}");
        assert_eq!(at(&told, &["valid"]).as_bool(), Some(false));

        let told = client.good("POST", ask, r#"{"query":{"foo":{}}}"#).await;
        assert_eq!(
            told,
            json!({"valid": false, "error": "ParsingException[unknown query [foo]]; nested: \
                NamedObjectNotFoundException[[1:17] unknown field [foo]];; \
                org.elasticsearch.xcontent.NamedObjectNotFoundException: [1:17] unknown field [foo]"})
        );

        let uuid = client.good("GET", "/a/_settings?flat_settings", "").await;
        let uuid = at(&uuid, &["a", "settings", "index.uuid"]).as_str().expect("an id");
        let told = client.good("POST", ask, r#"{"query":{"term":{"n":"abc"}}}"#).await;
        let number = "For input string: \"abc\"";
        assert_eq!(
            told,
            json!({
                "_shards": {"total": 1, "successful": 1, "failed": 0},
                "valid": false,
                "explanations": [{"index": "a", "valid": false, "error": (format!(
                    "[a/{uuid}] QueryShardException[failed to create query: {number}]; nested: \
                     NumberFormatException[{number}];; java.lang.NumberFormatException: {number}"
                ))}]
            })
        );
        let told = client.good("POST", ask, r#"{"query":{"match_all":{}}}"#).await;
        assert_eq!(
            at(&told, &["explanations"]),
            &json!([{"index": "a", "valid": true, "explanation": "*:*"}])
        );
    });
}

/// As in Elasticsearch 8.19, which asks for blocks after it has read the query; OpenSearch calls the query not valid.
#[test]
fn a_block_on_reads_refuses_a_query_that_can_be_read() {
    with_node(|mut client| async move {
        client.good("PUT", "/a", "").await;
        client.good("PUT", "/a/_block/read", "").await;
        assert_eq!(
            client.bad("GET", "/a/_validate/query?explain", "").await,
            "403 cluster_block_exception: index [a] blocked by: [FORBIDDEN/7/index read (api)];"
        );
        let told = client.good("POST", "/a/_validate/query", r#"{"query":{"foo":{}}}"#).await;
        assert_eq!(told, json!({"valid": false}));
    });
}
