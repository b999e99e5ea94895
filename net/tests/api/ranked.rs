//! `_rank_eval`: searches judged by ratings.

use json::{Value, json};

use crate::place::{Client, at, failure, with_node};

/// Four documents, of which three are about Amsterdam; the fewer words, the higher.
async fn fill(client: &mut Client) {
    let lines = concat!(
        "{\"index\":{\"_id\":\"doc1\"}}\n{\"text\":\"berlin\",\"year\":1}\n",
        "{\"index\":{\"_id\":\"doc2\"}}\n{\"text\":\"amsterdam\",\"year\":2}\n",
        "{\"index\":{\"_id\":\"doc3\"}}\n{\"text\":\"amsterdam at night\",\"year\":3}\n",
        "{\"index\":{\"_id\":\"doc4\"}}\n{\"text\":\"amsterdam and its many canals\",\"year\":4}\n",
    );
    client.good("POST", "/foo/_bulk?refresh", lines).await;
}

fn rated(id: &str, word: &str, ratings: &[(&str, i64)]) -> Value {
    let ratings: Vec<Value> = ratings
        .iter()
        .map(|(id, rating)| json!({"_index": "foo", "_id": *id, "rating": *rating}))
        .collect();
    let search = json!({"query": {"match": {"text": word}}});
    json!({"id": id, "request": search, "ratings": ratings})
}

fn body(requests: Vec<Value>, metric: Value) -> String {
    json::to_string(&json!({"requests": requests, "metric": metric}))
}

fn amsterdam() -> Value {
    rated("amsterdam", "amsterdam", &[("doc2", 3), ("doc3", 0), ("doc1", 1)])
}

async fn score(client: &mut Client, metric: Value) -> (f64, Value) {
    let answer = client.good("POST", "/foo/_rank_eval", &body(vec![amsterdam()], metric)).await;
    let details = at(&answer, &["details", "amsterdam", "metric_details"]).clone();
    (at(&answer, &["metric_score"]).as_f64().expect("a number"), details)
}

#[test]
fn searches_are_judged_by_their_ratings() {
    with_node(|mut client| async move {
        fill(&mut client).await;
        let berlin = rated("berlin", "berlin", &[("doc1", 1)]);
        let metric = json!({"precision": {"ignore_unlabeled": true}});
        let asked = body(vec![amsterdam(), berlin], metric);
        let answer =
            client.good("GET", "/foo/_rank_eval?search_type=query_then_fetch", &asked).await;
        assert_eq!(at(&answer, &["metric_score"]).as_f64(), Some(0.75), "one half and one");
        let one = at(&answer, &["details", "amsterdam"]);
        assert_eq!(at(one, &["metric_score"]).as_f64(), Some(0.5));
        assert_eq!(at(one, &["unrated_docs"]), &json!([{"_index": "foo", "_id": "doc4"}]));
        let detail = json!({"precision": {"relevant_docs_retrieved": 1, "docs_retrieved": 2}});
        assert_eq!(at(one, &["metric_details"]), &detail);
        let hits = at(one, &["hits"]).as_array().expect("a list");
        let told: Vec<_> = hits
            .iter()
            .map(|hit| (at(hit, &["hit", "_id"]).as_str(), at(hit, &["rating"]).as_i64()))
            .collect();
        assert_eq!(told, [(Some("doc2"), Some(3)), (Some("doc3"), Some(0)), (Some("doc4"), None)]);
        assert!(at(&hits[0], &["hit"]).get("_source").is_none());
        assert_eq!(at(&answer, &["failures"]), &json!({}));

        // The metric says how many hits are looked at.
        let (found, _) = score(&mut client, json!({"precision": {"k": 1}})).await;
        assert_eq!(found, 1.0);
        let (found, detail) = score(&mut client, json!({"recall": {"k": 5}})).await;
        assert_eq!(found, 0.5);
        let expected = json!({"recall": {"relevant_docs_retrieved": 1, "relevant_docs": 2}});
        assert_eq!(detail, expected);
        let metric = json!({"mean_reciprocal_rank": {"relevant_rating_threshold": 4}});
        let (found, detail) = score(&mut client, metric).await;
        assert_eq!((found, detail), (0.0, json!({"mean_reciprocal_rank": {"first_relevant": -1}})));
        let (found, detail) = score(&mut client, json!({"dcg": {}})).await;
        assert_eq!((found, detail), (7.0, json!({"dcg": {"dcg": 7.0, "unrated_docs": 1}})));
        let metric = json!({"expected_reciprocal_rank": {"maximum_relevance": "3"}});
        let (found, detail) = score(&mut client, metric).await;
        assert_eq!(
            (found, detail),
            (0.875, json!({"expected_reciprocal_rank": {"unrated_docs": 1}}))
        );
    });
}

#[test]
fn templates_are_filled_and_failures_stand_beside_the_others() {
    with_node(|mut client| async move {
        fill(&mut client).await;
        let template = json!({"source": {"query": {"match": {"text": "{{word}}"}}}});
        let ratings = json!([{"_index": "foo", "_id": "doc1", "rating": 1}]);
        let filled = |id: &str, params: Value| {
            json!({"id": id, "template_id": "t", "params": params, "ratings": ratings.clone(),
                "summary_fields": ["text"]})
        };
        let asked = json!({
            "templates": [{"id": "t", "template": template}],
            "requests": [
                filled("good", json!({"word": "berlin"})),
                filled("bad", json!({"word": "\"}"})),
            ],
            "metric": {"mean_reciprocal_rank": {}},
        });
        let answer = client.good("POST", "/_rank_eval", &json::to_string(&asked)).await;
        let hits = at(&answer, &["details", "good", "hits"]).as_array().expect("a list");
        assert_eq!(at(&hits[0], &["hit", "_source"]), &json!({"text": "berlin"}));

        let asked = body(vec![amsterdam()], json!({"precision": {}}));
        let answer = client.good("POST", "/gone/_rank_eval", &asked).await;
        assert_eq!(at(&answer, &["metric_score"]).as_str(), Some("NaN"), "there was nothing");
        let error = at(&answer, &["failures", "amsterdam", "error", "type"]).as_str();
        assert_eq!(error, Some("index_not_found_exception"));
    });
}

#[test]
fn what_cannot_be_judged_is_told_where_it_stands() {
    with_node(|mut client| async move {
        let good = json::to_string(&amsterdam());
        let twice = json::to_string(&rated("a", "x", &[("1", 0), ("1", 1)]));
        let precision = r#"{"precision":{}}"#;
        let parsed = "400 x_content_parse_exception: ";
        for (requests, metric, told, causes) in [
            (
                format!("[{good}]"),
                r#"{"foo":{}}"#,
                "failed to parse field [metric]",
                vec!["unknown field [foo]"],
            ),
            (
                format!("[{good}]"),
                r#"{"precision":{"k":0}}"#,
                "failed to parse field [metric]",
                vec![
                    "Failed to build [precision] after last required field arrived",
                    "Window size k must be positive.",
                ],
            ),
            (
                "[]".to_owned(),
                precision,
                "Failed to build [rank_eval]",
                vec![
                    "Cannot evaluate ranking if no search requests with rated results are provided. Seen: []",
                ],
            ),
            (
                r#"[{"id":"x","request":{}}]"#.to_owned(),
                precision,
                "failed to parse field [requests]",
                vec!["Required [ratings]"],
            ),
            (
                format!("[{twice}]"),
                precision,
                "failed to parse field [requests]",
                vec![
                    "Failed to build [request] after last required field arrived",
                    "Found duplicate rated document key [{\"_index\":\"foo\",\"_id\":\"1\"}] in evaluation request [a]",
                ],
            ),
            (
                r#"[{"id":"x","request":{"aggs":{"a":{"max":{"field":"n"}}}},"ratings":[]}]"#
                    .to_owned(),
                precision,
                "failed to parse field [requests]",
                vec![
                    "Failed to build [request]",
                    "Query in rated requests should not contain aggregations.",
                ],
            ),
            (
                r#"[{"id":"x","ratings":[]}]"#.to_owned(),
                precision,
                "failed to parse field [requests]",
                vec![
                    "Failed to build [request]",
                    "Need to set at least test request or test request template parameters.",
                ],
            ),
        ] {
            let asked = format!(r#"{{"requests":{requests},"metric":{metric}}}"#);
            let response = client.call("POST", "/_rank_eval", &asked).await;
            let reason = failure(&response);
            assert!(reason.starts_with(parsed) && reason.contains(told), "{asked}: {reason}");
            let body = crate::place::value(&response);
            let mut error = at(&body, &["error"]);
            for cause in causes {
                error = at(error, &["caused_by"]);
                let reason = at(error, &["reason"]).as_str().expect("a text");
                assert!(reason.contains(cause), "{asked}: {reason}");
            }
        }
        let none = client.bad("POST", "/_rank_eval", "").await;
        assert_eq!(none, "400 parse_exception: request body or source parameter is required");
        let unknown = client.bad("POST", "/_rank_eval", r#"{"foo":1}"#).await;
        assert_eq!(unknown, format!("{parsed}[1:2] [rank_eval] unknown field [foo]"));
    });
}
