//! `_cluster/state`: what of it is told of which index.

use json::json;

use crate::place::{at, with_node};

/// Of named indices alone the blocks were told; Elasticsearch narrows metadata and routing by names, and no blocks.
#[test]
fn blocks_are_those_of_all_indices_whichever_are_named() {
    with_node(|mut client| async move {
        for name in ["a", "b", "c"] {
            client.good("PUT", &format!("/{name}"), "").await;
        }
        client.good("PUT", "/b/_block/write", "").await;
        client.good("POST", "/c/_close", "").await;
        let read_only = json!({"persistent": {"cluster.blocks.read_only_allow_delete": true}});
        client.good("PUT", "/_cluster/settings", &json::to_string(&read_only)).await;
        for target in ["/_cluster/state/blocks/a", "/_cluster/state/blocks,metadata/a,b"] {
            let state = client.good("GET", target, "").await;
            let blocks = at(&state, &["blocks", "indices"]).as_object().expect("by index");
            assert_eq!(blocks.keys().collect::<Vec<_>>(), ["b", "c"], "{target}");
            assert!(at(&state, &["blocks", "global"]).get("13").is_some(), "{target}");
        }
        let state = client.good("GET", "/_cluster/state/metadata/a", "").await;
        assert!(state.get("blocks").is_none());
        let indices = at(&state, &["metadata", "indices"]).as_object().expect("by name");
        assert_eq!(indices.keys().collect::<Vec<_>>(), ["a"]);
    });
}
