//! What nobody waits for any more: a search ends on all the cores that have a part of it, a document is not begun.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use engine::ops::Refresh;
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::search::SearchCall;
use engine::{Config, Everything, Left, start_all};
use env::{Bytes, Env, Spawn};
use json::json;
use sim::Sim;

/// So many that both cores are asked.
const DOCS: usize = 110_000;

/// The other core went on with its part for as long as it took, though nobody would ever ask for it.
#[test]
fn a_part_of_a_search_ends_with_the_search() {
    let sim = Sim::new(3);
    let env = sim.env();
    sim.run(async move {
        let cores = start_all(&env, Config::new(2, "/data")).await.expect("the state opens");
        let core = &cores[0];
        let shape = json!({"settings": {"index.refresh_interval": "-1"}});
        core.create_index(&Everything, "m", &shape).await.expect("a good name");
        let source = Bytes::from(b"{}".to_vec());
        for first in (0..DOCS).step_by(10_000) {
            let items = (first..first + 10_000).map(|id| WriteItem {
                source: source.clone(),
                ..WriteItem::new(WriteAction::Index, "m", id.to_string())
            });
            let refresh = if first + 10_000 >= DOCS { Refresh::Now } else { Refresh::No };
            core.bulk(&Everything, BulkRequest { items: items.collect(), refresh }).await;
        }
        let body = json!({"query": {"script": {"script":
            "int n = 0; for (int i = 0; i < 1000000; i++) { n += i } return n > 0"}}});
        let call = SearchCall {
            indices: "m".to_owned(),
            body: Bytes::from(json::to_vec(&body)),
            partial_results: true,
            ..SearchCall::default()
        };
        {
            let mut search = pin!(core.search(&Everything, &call));
            // Until the other core has begun with its part.
            poll_fn(|context| {
                assert!(search.as_mut().poll(context).is_pending(), "it ends in minutes");
                if cores[1].turns().load().running > 0 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
        for _ in 0..100 {
            if cores[1].turns().load().running == 0 {
                return;
            }
            env.spawn().give_way().await;
        }
        panic!("it goes on");
    });
}

/// Documents of clients that had left stood before those of others until each had been read, half a minute each.
#[test]
fn a_document_is_not_begun_once_its_client_has_left() {
    let sim = Sim::new(4);
    let env = sim.env();
    sim.run(async {
        let cores = start_all(&env, Config::new(2, "/data")).await.expect("the state opens");
        let core = &cores[0];
        let shape = json!({"mappings": {"properties": {"t": {"type": "text"}}}});
        for name in ["short", "long"] {
            core.create_index(&Everything, name, &shape).await.expect("a good name");
        }
        let text =
            |bytes: usize| Bytes::from(json::to_vec(&json!({"t": ("word ".repeat(bytes / 5))})));
        let item = |index: &str, id: &str, bytes: usize| WriteItem {
            source: text(bytes),
            ..WriteItem::new(WriteAction::Index, index, id)
        };
        let left = Left::default();
        // A worker reads it.
        let long =
            core.write_for(&Everything, item("long", "1", 100_000), Refresh::No, &left).await;
        assert_eq!(long.expect("its client is there").version, 1);
        left.tell();
        let items = vec![
            item("short", "1", 10),
            item("long", "2", 10),
            item("long", "3", 100_000),
            WriteItem::new(WriteAction::Delete, "long", "1"),
        ];
        let request = BulkRequest { items, refresh: Refresh::No };
        let reply = core.bulk_within(&Everything, request, None, &left).await;
        let told: Vec<_> = reply
            .items
            .iter()
            .map(|item| item.result.as_ref().map(|_| ()).map_err(|error| error.kind.as_ref()))
            .collect();
        // Those that went to the worker together are given up together; what needs none is done.
        let gone = Err("task_cancelled_exception");
        assert_eq!(told, [Ok(()), gone, gone, Ok(())]);
        let jobs = sim.jobs();
        let alone =
            core.write_for(&Everything, item("long", "4", 100_000), Refresh::No, &left).await;
        assert_eq!(alone.expect_err("nobody waits for it").kind, "task_cancelled_exception");
        assert_eq!(sim.jobs(), jobs + 1, "it waited for a worker");
    });
}
