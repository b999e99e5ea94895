//! What answers show beside the matter: the node of a failure, the id of a refused document, shares
//! of nothing, names of commits, the names behind a block.

use json::{Value, json};

use crate::place::{Client, at, with_node};

/// The body of an answer, whatever its status.
async fn body(client: &mut Client, method: &str, target: &str, body: &str) -> (u16, Value) {
    let answer = client.call(method, target, body).await;
    (answer.status, json::parse(&answer.body).expect("JSON"))
}

/// `failed_shards` once told no node, and a search that is gone a shard of number 2³²-1.
#[test]
fn failed_shards_name_their_node() {
    with_node(|mut client| async move {
        let mapping = r#"{"mappings":{"properties":{"t":{"type":"text"}}}}"#;
        client.good("PUT", "/a", mapping).await;
        let nodes = client.good("GET", "/_nodes", "").await;
        let nodes = at(&nodes, &["nodes"]).as_object().expect("nodes");
        let id = nodes.keys().next().expect("a node").to_owned();
        let bad = r#"{"sort":[{"t":"asc"}]}"#;
        let (status, alone) = body(&mut client, "POST", "/a/_search", bad).await;
        assert_eq!(status, 400);
        let pair = format!("{{}}\n{bad}\n");
        let many = client.good("POST", "/a/_msearch", &pair).await;
        let many = at(&many, &["responses"]).as_array().expect("a list")[0].clone();
        for answer in [alone, many] {
            let shards = at(&answer, &["error", "failed_shards"]).as_array().expect("a list");
            assert_eq!(at(&shards[0], &["index"]).as_str(), Some("a"));
            assert_eq!(at(&shards[0], &["node"]).as_str(), Some(&*id));
        }
        let found = client.good("POST", "/a/_search?scroll=1m", "").await;
        let scroll = at(&found, &["_scroll_id"]).as_str().expect("an id");
        let again = format!(r#"{{"scroll_id":"{scroll}"}}"#);
        client.good("DELETE", "/_search/scroll", &again).await;
        let (status, gone) = body(&mut client, "POST", "/_search/scroll", &again).await;
        assert_eq!(status, 404);
        let shards = at(&gone, &["error", "failed_shards"]).as_array().expect("a list");
        assert_eq!(at(&shards[0], &["shard"]).as_i64(), Some(-1));
        assert_eq!(at(&shards[0], &["index"]), &Value::Null);
        assert!(shards[0].get("node").is_none());
    });
}
