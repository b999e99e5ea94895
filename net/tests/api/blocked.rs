//! Blocks: what each refuses, and where one may be set.

use crate::place::{at, with_node};

/// A block on the index that takes a stream's writes stopped all of them until somebody rolled it over.
#[test]
fn the_index_that_takes_a_streams_writes_is_not_blocked() {
    with_node(|mut client| async move {
        let template = r#"{"index_patterns":["ds*"],"data_stream":{}}"#;
        client.good("PUT", "/_index_template/t", template).await;
        client.good("PUT", "/_data_stream/ds1", "").await;
        client.good("POST", "/ds1/_rollover", "").await;
        let stream = client.good("GET", "/_data_stream/ds1", "").await;
        let indices = at(&stream, &["data_streams"]).as_array().expect("one")[0].clone();
        let indices = at(&indices, &["indices"]).as_array().expect("two").to_vec();
        let name = |number: usize| at(&indices[number], &["index_name"]).as_str().expect("named");
        let told = format!(
            "400 illegal_argument_exception: cannot add a block to the following data stream write indices [{}]",
            name(1)
        );
        for target in ["ds1", name(1)] {
            assert_eq!(client.bad("PUT", &format!("/{target}/_block/write"), "").await, told);
        }
        client.good("PUT", &format!("/{}/_block/write", name(0)), "").await;
        client.good("POST", "/ds1/_doc", r#"{"@timestamp":1}"#).await;
    });
}

/// A second block was refused by the first where it forbids what the first does.
#[test]
fn a_block_of_changes_stands_beside_another() {
    with_node(|mut client| async move {
        for first in ["read_only", "metadata", "read_only_allow_delete"] {
            for (second, is_refused) in
                [("read_only", false), ("metadata", false), ("read", true), ("write", true)]
            {
                let index = format!("/{first}-{second}");
                let body = format!(r#"{{"settings":{{"index.blocks.{first}":true}}}}"#);
                client.good("PUT", &index, &body).await;
                let answer = client.call("PUT", &format!("{index}/_block/{second}"), "").await;
                assert_eq!(answer.status != 200, is_refused, "{second} beside {first}");
            }
        }
    });
}

/// Caches were cleared of an index that nobody may change, and how its shards came was told by its metadata.
#[test]
fn caches_and_recoveries_are_judged_as_elasticsearch_does() {
    with_node(|mut client| async move {
        for (block, clear, recovery) in [
            ("read_only", 403, 200),
            ("read_only_allow_delete", 429, 200),
            ("metadata", 403, 200),
            ("read", 200, 403),
            ("write", 200, 200),
        ] {
            client
                .good("PUT", "/t", &format!(r#"{{"settings":{{"index.blocks.{block}":true}}}}"#))
                .await;
            let status = client.call("POST", "/t/_cache/clear", "").await.status;
            assert_eq!(status, clear, "{block}");
            for target in ["/t/_recovery", "/_recovery", "/_cat/recovery"] {
                assert_eq!(
                    client.call("GET", target, "").await.status,
                    recovery,
                    "{block} {target}"
                );
            }
            client
                .good("PUT", "/t/_settings", &format!(r#"{{"index.blocks.{block}":null}}"#))
                .await;
            client.good("DELETE", "/t", "").await;
        }
    });
}
