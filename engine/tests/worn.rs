//! A file that changes below a node that has read it: on the real runtime, where a map shows what the
//! disk has. The page was found good when it was first read; nothing that stays may come of it now.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::mpsc;

use cluster::state::uuid_text;
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{WriteAction, WriteItem};
use engine::ops::search::SearchCall;
use engine::ops::{IndicesOptions, Refresh};
use engine::{Config, Core, Everything, start_all};
use env::Bytes;
use runtime::RuntimeEnv;
use segment::toc::SectionKind;
use segment::{Check, Segment};
use shard::Aim;

type Node = Rc<Core<RuntimeEnv>>;

/// Writes documents and saves them as one segment.
async fn fill(node: &Node, ids: std::ops::Range<u64>) {
    let items = ids.map(|id| WriteItem {
        // Values that no packing makes small.
        source: Bytes::from(
            format!(r#"{{"n":{},"k":"key{}"}}"#, id.wrapping_mul(0x9e37_79b9_7f4a) >> 8, id % 900)
                .into_bytes(),
        ),
        ..WriteItem::new(WriteAction::Index, "docs", id.to_string())
    });
    let reply =
        node.bulk(&Everything, BulkRequest { items: items.collect(), refresh: Refresh::No }).await;
    assert!(reply.items.iter().all(|item| item.result.is_ok()), "a healthy disk");
    let flushed = node.flush(&Everything, "docs", IndicesOptions::default()).await;
    flushed.expect("a healthy disk");
}

async fn ask(node: &Node) {
    let body = br#"{"size":0,"aggs":{"s":{"sum":{"field":"n"}},"t":{"terms":{"field":"k"}}}}"#;
    let call = SearchCall {
        indices: "docs".to_owned(),
        body: Bytes::from(body.to_vec()),
        ..SearchCall::default()
    };
    let reply = node.search(&Everything, &call).await.expect("healthy");
    assert_eq!(reply.shards.failed, 0);
}

/// The files of the shard that hold segments, by name.
fn segments(shard: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(shard).expect("it is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it is read").path()).collect();
    paths.retain(|path| {
        path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("segment-"))
    });
    paths.sort();
    paths
}

/// Flips a bit in the middle of the longest section of this kind.
fn flip(path: &Path, kind: SectionKind) {
    let mut bytes = std::fs::read(path).expect("it is there");
    let id = segment::footer::open(&bytes, segment::footer::FileKind::Segment).expect("whole").id;
    let opened = Segment::open(id, Bytes::from(bytes.clone()), Check::Full).expect("whole");
    let sections = opened.file().entries().iter().filter(|entry| entry.kind == kind);
    let longest = sections.max_by_key(|entry| entry.len).expect("it has one");
    let at = (longest.offset + longest.len / 2) as usize;
    bytes[at] ^= 4;
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("it is there");
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes[at..=at], at as u64).expect("written");
}

async fn story(env: &RuntimeEnv, data: &Path, kind: SectionKind) {
    let node = start_all(env, Config::new(1, data)).await.expect("healthy").remove(0);
    let body = json::json!({
        "settings": {"number_of_shards": 1},
        "mappings": {"properties": {
            "n": {"type": "long", "index": false},
            "k": {"type": "keyword"},
        }},
    });
    node.create_index(&Everything, "docs", &body).await.expect("a healthy disk");
    fill(&node, 0..5000).await;
    fill(&node, 5000..5001).await;
    ask(&node).await;
    let uuid = uuid_text(node.state().index("docs").expect("made").uuid);
    let shard = data.join("indices").join(uuid).join("0");
    let before = segments(&shard);
    assert_eq!(before.len(), 2);
    flip(&before[0], kind);
    let options = IndicesOptions::default();
    let merged = node.force_merge(&Everything, "docs", options, Aim::Count(1), true).await;
    let merged = merged.expect("it is tried");
    assert_eq!(merged.failed, 1, "{kind:?}: {merged:?}");
    let name = before[0].file_name().expect("a name").to_string_lossy().into_owned();
    assert!(merged.failures[0].reason.reason.contains(&name), "{kind:?}: {merged:?}");
    assert_eq!(segments(&shard), before, "{kind:?}: what stood stands");
    node.stop().await;
}

#[test]
fn a_merge_takes_over_nothing_that_was_good_once() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("worn");
    for kind in [SectionKind::NumericBody, SectionKind::OrdinalBody, SectionKind::StoredBody] {
        let data = root.join(format!("{kind:?}"));
        drop(std::fs::remove_dir_all(&data));
        let (sender, receiver) = mpsc::channel();
        let running =
            runtime::start(vec![(sender, data)], move |core, (sender, data)| async move {
                story(&core.env, &data, kind).await;
                sender.send(()).expect("the test waits");
            })
            .expect("this machine can run an executor");
        receiver.recv().expect("the story ends well");
        running.join().expect("nothing panics");
    }
    drop(std::fs::remove_dir_all(&root));
}
