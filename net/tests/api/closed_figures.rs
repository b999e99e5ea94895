//! What is told of indices that nobody reads: closed ones.

use json::Value;

use crate::place::{Client, at, with_node};

/// What `_stats` says of all shards of `c`, closed or not.
async fn figures(client: &mut Client) -> Value {
    let told = client.good("GET", "/c/_stats?forbid_closed_indices=false&level=shards", "").await;
    assert_eq!(at(&told, &["_shards", "failed"]).as_u64(), Some(0));
    told
}

/// They were zeros, and no shard of a closed index was counted as there.
#[test]
fn a_closed_index_keeps_its_figures() {
    with_node(|mut client| async move {
        let body = r#"{"settings":{"number_of_shards":2,"number_of_replicas":0}}"#;
        client.good("PUT", "/c", body).await;
        for id in 0..20 {
            let target = format!("/c/_doc/{id}?refresh=true");
            client.good("PUT", &target, r#"{"t":"some text"}"#).await;
        }
        client.good("POST", "/c/_flush", "").await;
        for id in 0..5 {
            client.good("DELETE", &format!("/c/_doc/{id}?refresh=true"), "").await;
        }
        client.good("POST", "/c/_flush", "").await;
        let open = figures(&mut client).await;
        client.good("POST", "/c/_close", "").await;
        let closed = figures(&mut client).await;
        let counted = |told: &Value, path: &[&str]| at(told, path).as_u64().expect("a count");
        for path in [
            &["_shards", "total"][..],
            &["_shards", "successful"],
            &["_all", "total", "docs", "count"],
            &["_all", "total", "shard_stats", "total_count"],
            &["indices", "c", "primaries", "docs", "count"],
            &["indices", "c", "primaries", "docs", "deleted"],
            &["indices", "c", "primaries", "docs", "total_size_in_bytes"],
            &["indices", "c", "primaries", "store", "size_in_bytes"],
            &["indices", "c", "primaries", "segments", "count"],
        ] {
            assert_eq!(counted(&closed, path), counted(&open, path), "{path:?}");
        }
        assert_eq!(counted(&closed, &["_all", "total", "docs", "count"]), 15);
        assert!(counted(&closed, &["_all", "total", "store", "size_in_bytes"]) > 0);
        assert_eq!(at(&closed, &["indices", "c", "status"]).as_str(), Some("close"));
        for number in ["0", "1"] {
            let before = at(&open, &["indices", "c", "shards", number]);
            let after = at(&closed, &["indices", "c", "shards", number]);
            let (before, after) = (before.as_array().expect("one"), after.as_array().expect("one"));
            for path in [&["docs", "count"][..], &["docs", "deleted"], &["seq_no", "max_seq_no"]] {
                assert_eq!(at(&after[0], path), at(&before[0], path), "{number} {path:?}");
            }
        }
        // What is not written down anywhere begins anew.
        assert_eq!(counted(&closed, &["_all", "total", "indexing", "index_total"]), 0);
        assert_eq!(counted(&closed, &["_all", "total", "translog", "operations"]), 0);
    });
}
