//! Answers whose length only shows as they are written, and bodies that become many times what they are, where there
//! is little memory.

use env::budget::{CHUNK_BYTES, Lease, Taken};

use crate::place::{at, with_memory};

/// Takes all but what a core keeps at hand, and so many of the chunks in which it fetches more.
fn leave(lease: &Lease, chunks: usize) -> Vec<Taken> {
    // Two chunks stay at hand where it came from.
    let kept = lease.take((2 + chunks) * CHUNK_BYTES + 1).expect("there is as much");
    let mut held = Vec::new();
    for step in [1 << 20, 1 << 15] {
        held.extend(std::iter::from_fn(|| lease.take(step)));
    }
    drop(kept);
    held
}

/// Keys of 90 MB were copied for their buckets, for what is shown of them, and twice for the text: 230 MiB of 128 for
/// one search, which then was refused.
#[test]
fn the_text_of_long_keys_is_paid_for_as_it_grows() {
    with_memory(128 << 20, |mut client, lease| async move {
        let fields = r#"{"mappings":{"properties":{"k":{"type":"keyword"}}}}"#;
        client.good("PUT", "/k", fields).await;
        for batch in 0..10 {
            let line = |at: usize| {
                format!("{{\"index\":{{}}}}\n{{\"k\":\"{:0>30000}\"}}\n", batch * 10 + at)
            };
            let lines: String = (0..10).map(line).collect();
            client.good("POST", "/k/_bulk", &lines).await;
        }
        client.good("POST", "/k/_refresh", "").await;
        client.good("POST", "/k/_flush", "").await;
        let all = r#"{"size":0,"aggs":{"a":{"terms":{"field":"k","size":1000}}}}"#;
        let found = client.good("POST", "/k/_search", all).await;
        let buckets = at(&found, &["aggregations", "a", "buckets"]).as_array().map(<[_]>::len);
        assert_eq!(buckets, Some(100));
        // Enough for the keys (3 MB), and not for the text, which has room for as much again while it grows.
        let held = leave(&lease, 1);
        let told = client.bad("POST", "/k/_search", all).await;
        assert!(told.starts_with("429 circuit_breaking_exception: "), "{told}");
        assert!(told.contains("data for [<search_answer>] would be"), "{told}");
        let two = format!("{{}}\n{all}\n");
        let told = client.bad("POST", "/k/_msearch", &two).await;
        assert!(told.contains("data for [<search_answer>] would be"), "{told}");
        let few = r#"{"size":0,"aggs":{"a":{"terms":{"field":"k","size":2}}}}"#;
        client.good("POST", "/k/_search", few).await;
        drop(held);
        client.good("POST", "/k/_search", all).await;
    });
}

/// Hundreds of bodies of 57 KB, of three thousand clauses each, took 516 MiB of 128 while they waited.
#[test]
fn a_body_of_many_clauses_is_paid_for_as_what_it_becomes() {
    with_memory(64 << 20, |mut client, lease| async move {
        client.good("PUT", "/i", "").await;
        let clause = r#"{"term":{"n":1}}"#;
        let should = vec![clause; 3_000].join(",");
        let many = format!(r#"{{"query":{{"bool":{{"should":[{should}]}}}}}}"#);
        assert!(many.len() < 64 << 10);
        client.good("POST", "/i/_search", &many).await;
        let _held = leave(&lease, 0);
        let told = client.bad("POST", "/i/_search", &many).await;
        assert!(told.starts_with("429 circuit_breaking_exception: "), "{told}");
        let few = r#"{"query":{"bool":{"should":[{"term":{"n":1}},{"term":{"n":2}}]}}}"#;
        client.good("POST", "/i/_search", few).await;
    });
}
