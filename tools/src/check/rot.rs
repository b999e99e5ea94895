//! Rot: each byte of a small store flipped, one at a time. A store has an index of two kinds of
//! segments (with and without deletes), operations in its log that no segment has, a second index,
//! cluster and authz state; the process was killed.
//!
//! Always true, whatever byte is flipped:
//! 1. `check` names the file, or the byte is not in use: behind the end of a log, in a batch that
//!    the manifest has let go of, between the end of a batch and its block's, in the last batch of
//!    a log that was not stopped in order, which nobody has called synced yet.
//! 2. A node that starts on it either refuses with the file's name (cluster, authz), or answers each
//!    question rightly or with a failure that names the file; the other index is always whole.
//! 3. Nothing panics, and what is not found is told by all that comes later: no wrong hit.
//!
//! `cargo test -p corelode rot` tries a part of the bytes; all of them, told by kind of file:
//! `ROT=all cargo test -p corelode rot -- --nocapture`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use authz::{Secret, Store};
use base::checksum::checksum;
use engine::ops::bulk::BulkRequest;
use engine::ops::document::{GetRequest, SourceFilter, VersionType, WriteAction, WriteItem};
use engine::ops::search::SearchCall;
use engine::ops::{IndicesOptions, Refresh};
use engine::{Config, Core, Everything, start_all};
use env::{Bytes, Clock, Env, read_only};
use sim::{Sim, SimEnv};

use super::{Report, store};

type Node = Rc<Core<SimEnv>>;

/// The files of the store.
type Image = BTreeMap<PathBuf, Vec<u8>>;

const DATA: &str = "/data";
const INDICES: [&str; 2] = ["one", "two"];

/// What is asked of each index.
const BODIES: &[&str] = &[
    r#"{"size":100,"track_total_hits":true,"sort":["number"]}"#,
    r#"{"size":100,"query":{"match":{"text":"common"}}}"#,
    r#"{"size":100,"query":{"match_phrase":{"text":"word7 common"}}}"#,
    r#"{"size":100,"query":{"prefix":{"tag":"t"}}}"#,
    r#"{"size":100,"query":{"range":{"number":{"gte":3,"lt":9}}}}"#,
    r#"{"size":0,"aggs":{"tags":{"terms":{"field":"tag"}},"sum":{"sum":{"field":"number"}}}}"#,
];

async fn start(env: &SimEnv) -> Result<(Node, Store<SimEnv>), String> {
    let mut cores =
        start_all(env, Config::new(1, DATA)).await.map_err(|error| error.to_string())?;
    let node = cores.pop().expect("one core");
    let authz = Path::new(DATA).join("authz");
    let preset = Some(Secret::new("correct horse".into()));
    let (store, _) =
        Store::open(env.clone(), &authz, preset).await.map_err(|error| error.to_string())?;
    Ok((node, store))
}

async fn write(node: &Node, index: &str, ids: std::ops::Range<u64>, action: WriteAction) {
    let items = ids.map(|id| WriteItem {
        source: Bytes::from(
            format!(
                r#"{{"number":{id},"tag":"t{}","text":"word{id} common text of {index}"}}"#,
                id % 3
            )
            .into_bytes(),
        ),
        ..WriteItem::new(action, index, id.to_string())
    });
    let request = BulkRequest { items: items.collect(), refresh: Refresh::No };
    let reply = node.bulk(&Everything, request).await;
    assert!(reply.items.iter().all(|item| item.result.is_ok()), "a healthy disk");
}

/// The store, as a kill leaves it. Files of the log are cut to what they hold and a little more: they
/// are made long so that they need not be made often.
fn image() -> Image {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async {
        let (node, _store) = start(&env).await.expect("a healthy disk");
        for index in INDICES {
            let body = json::json!({
                "settings": {"number_of_shards": 1},
                "mappings": {"properties": {
                    "number": {"type": "long"},
                    "tag": {"type": "keyword"},
                    "text": {"type": "text"},
                }},
            });
            node.create_index(&Everything, index, &body).await.expect("a healthy disk");
        }
        let flush = async |index| {
            let flushed = node.flush(&Everything, index, IndicesOptions::default()).await;
            flushed.expect("a healthy disk");
        };
        write(&node, "one", 0..12, WriteAction::Index).await;
        flush("one").await;
        write(&node, "one", 2..4, WriteAction::Delete).await;
        write(&node, "one", 12..15, WriteAction::Index).await;
        flush("one").await;
        write(&node, "one", 15..18, WriteAction::Index).await;
        write(&node, "two", 0..5, WriteAction::Index).await;
        flush("two").await;
        // The logs say in an empty batch that all is synced.
        env.clock().sleep(Duration::from_secs(20)).await;
    });
    sim.kill();
    let mut image = Image::new();
    for (path, _) in sim.files() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("reserve") {
            continue;
        }
        let bytes = sim.bytes(&path).expect("it is listed");
        let bytes = if name.starts_with("log-") { shortened(bytes) } else { bytes };
        image.insert(path, bytes);
    }
    image
}

/// A file of a log with two unwritten blocks behind its batches, and a head that says so.
fn shortened(mut bytes: Vec<u8>) -> Vec<u8> {
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    let len = used.next_multiple_of(4096) + 2 * 4096;
    bytes.truncate(len);
    bytes[52..60].copy_from_slice(&(len as u64).to_le_bytes());
    let sum = checksum(&bytes[..60]);
    bytes[60..64].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn plant(image: &Image) -> Sim {
    let sim = Sim::new(2);
    for (path, bytes) in image {
        sim.plant(path, bytes);
    }
    // Enough for a log, too little for room to be kept back.
    sim.set_free_bytes(5 << 20);
    sim
}

/// What `check` finds.
fn checked(sim: &Sim) -> Report {
    let env = read_only(sim.env());
    sim.run(async move {
        let mut report = Report::default();
        store::check(&env, Path::new(DATA), true, &mut report).await;
        report
    })
}

/// An answer that can be compared: what was found, or why it failed.
type Answer = Result<String, String>;

/// What a node that starts on the store answers, by index; the error is why it does not start.
fn asked(sim: &Sim) -> Result<BTreeMap<&'static str, Vec<Answer>>, String> {
    let env = sim.env();
    sim.run(async move {
        let (node, _store) = start(&env).await?;
        let mut answers = BTreeMap::new();
        for index in INDICES {
            let told: &mut Vec<Answer> = answers.entry(index).or_default();
            for id in 0..20 {
                told.push(get(&node, index, id).await);
            }
            for body in BODIES {
                told.push(search(&node, index, body).await);
            }
        }
        Ok(answers)
    })
}

async fn get(node: &Node, index: &str, id: u64) -> Answer {
    let request = GetRequest {
        index: index.to_owned(),
        id: id.to_string(),
        routing: None,
        realtime: true,
        refresh: true,
        version: None,
        version_type: VersionType::Internal,
        source: SourceFilter::default(),
        stored_fields: std::sync::Arc::default(),
    };
    match node.get(&Everything, &request).await {
        Ok(reply) => {
            let source =
                reply.found.map(|it| (it.version, it.seq_no, it.source.as_deref().map(text)));
            Ok(format!("{source:?}"))
        }
        Err(error) => Err(match error.caused_by {
            Some(cause) => format!("{}: {}", error.reason, cause.reason),
            None => error.reason,
        }),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn search(node: &Node, index: &str, body: &str) -> Answer {
    let call = SearchCall {
        indices: index.to_owned(),
        body: Bytes::from(body.as_bytes().to_vec()),
        partial_results: true,
        ..SearchCall::default()
    };
    match node.search(&Everything, &call).await {
        Ok(reply) if reply.shards.failed > 0 => {
            Err(reply.shards.failures.iter().map(|it| format!("{} ", it.reason.reason)).collect())
        }
        Ok(reply) => match reply.result.hits.iter().find_map(|hit| hit.failed.as_ref()) {
            Some(error) => Err(error.to_string()),
            None => {
                let sources = reply.result.hits.iter().filter_map(|hit| hit.source.as_deref());
                let sources: Vec<String> = sources.map(text).collect();
                Ok(format!("{:?} {sources:?}", reply.result))
            }
        },
        Err(error) => {
            let inner = error.root_causes.iter().map(|cause| cause.reason.as_str());
            Err(inner.chain([error.reason.as_str()]).collect::<Vec<_>>().join(" "))
        }
    }
}

/// Where a byte lies, for the table.
fn place(path: &Path, bytes: &[u8], at: usize) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kind = name.split('-').next().unwrap_or_default();
    let owner = if path.starts_with("/data/indices") {
        "shard"
    } else {
        path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default()
    };
    let is_written = kind != "log" || bytes[at / 4096 * 4096..].iter().any(|byte| *byte != 0);
    format!("{owner} {kind}{}", if is_written { "" } else { ", unwritten" })
}

/// Why a byte may rot unseen.
fn is_unused(path: &Path, bytes: &[u8], at: usize) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.starts_with("log-") {
        // When the last round ended, and nothing else, stands outside of these.
        return path.starts_with("/data/node");
    }
    if at < 4096 {
        // Behind the 64 bytes of a head are zeros.
        return at >= 64;
    }
    // Batches: header, payload, zeros. The last one is called synced by nothing that follows.
    let mut offset = 4096;
    while let Some((header, _)) =
        bytes.get(offset..offset + 128).and_then(|block| wal::frame::Header::decode(block).ok())
    {
        let next = offset + header.batch_bytes();
        let is_last = bytes.get(next..next + 4).is_none_or(|magic| magic == [0; 4]);
        if (offset..next).contains(&at) {
            let payload_end = offset + 128 + header.payload_len as usize;
            return is_last || at >= payload_end.next_multiple_of(512);
        }
        offset = next;
    }
    true
}

/// What became of a flipped byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// `check` names the file.
    Checked,
    /// A node names the file, `check` does not.
    Used,
    /// Nobody sees it, and every answer is right.
    Unseen,
}

fn flip(image: &Image, path: &Path, at: usize, truth: &BTreeMap<&str, Vec<Answer>>) -> Fate {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let short = path.strip_prefix(DATA).expect("all lie there").display().to_string();
    let mask = 1 << (at % 8);
    let sim = plant(image);
    sim.rot(path, at as u64, mask);
    let report = checked(&sim);
    let is_checked = !report.damages.is_empty();
    if is_checked {
        let named = report.damages.iter().any(|damage| damage.file.starts_with(&short));
        assert!(named, "{short} at {at}: {:?}", report.damages);
    }
    // The folder of the shard is named where the damage lies between its files.
    let folder = path.parent().expect("none lies at the root").display().to_string();
    let names_it = |why: &str| why.contains(&name) || why.contains(&folder);
    let unused = is_unused(path, &image[path], at);
    if unused && !is_checked && !at.is_multiple_of(64) {
        // The readers are the same for all of them: a node is asked about some.
        return Fate::Unseen;
    }
    let mut is_used = false;
    match asked(&sim) {
        Err(why) => {
            is_used = true;
            assert!(!short.starts_with("indices/"), "{short} at {at}: no start: {why}");
            assert!(names_it(&why), "{short} at {at}: {why}");
        }
        Ok(answers) => {
            for (index, answers) in answers {
                for (number, (answer, right)) in answers.iter().zip(&truth[index]).enumerate() {
                    match answer {
                        Ok(_) => {
                            assert_eq!(answer, right, "{short} at {at}: {index}, question {number}")
                        }
                        Err(why) => {
                            is_used = true;
                            assert!(
                                names_it(why),
                                "{short} at {at}: {index}, question {number}: {why}"
                            );
                        }
                    }
                }
            }
        }
    }
    if !is_checked {
        assert!(unused, "{short} at {at}: it is in use, and `check` missed it (used: {is_used})");
    }
    match (is_checked, is_used) {
        (true, _) => Fate::Checked,
        (false, true) => Fate::Used,
        (false, false) => Fate::Unseen,
    }
}

#[test]
fn a_shard_that_is_gone_is_missed() {
    let mut image = image();
    let is_second = |path: &Path| path.to_string_lossy().contains("manifest");
    let gone = image.keys().find(|path| is_second(path)).and_then(|path| path.parent());
    let gone = gone.expect("there are shards").to_owned();
    image.retain(|path, _| !path.starts_with(&gone));
    let damages = checked(&plant(&image)).damages;
    let named = gone.strip_prefix(DATA).expect("it lies there").display().to_string();
    assert_eq!(damages.len(), 1, "{damages:?}");
    assert_eq!(damages[0].file, named);
    assert!(damages[0].what.contains("it is missing"), "{damages:?}");
}

/// Exchanged slots of one shard were "sound".
#[test]
fn a_manifest_that_stands_elsewhere_is_told() {
    let image = image();
    let is_slot = |path: &&PathBuf| path.to_string_lossy().contains("manifest-");
    let slots: Vec<&PathBuf> = image.keys().filter(is_slot).collect();
    let mut pairs = 0;
    for (at, a) in slots.iter().enumerate() {
        for b in slots[at + 1..].iter().filter(|b| image[**b] != image[*a]) {
            let mut exchanged = image.clone();
            exchanged.insert((*a).clone(), image[*b].clone());
            exchanged.insert((*b).clone(), image[*a].clone());
            let report = checked(&plant(&exchanged)).damages;
            for path in [a, b] {
                let told = path.strip_prefix(DATA).expect("it lies there").display().to_string();
                assert!(report.iter().any(|damage| damage.file == told), "{told}: {report:?}");
            }
            pairs += 1;
        }
    }
    assert!(pairs >= 6, "{pairs} pairs of {} slots", slots.len());
}

/// Each of these was "sound": what was behind a link was not read, users were gone, a file of a name
/// could not be written any more.
#[test]
fn what_is_missing_or_of_another_kind_is_told() {
    let image = image();
    let shard =
        image.keys().find(|path| path.ends_with("manifest-0")).and_then(|path| path.parent());
    let shard = shard.expect("there are shards").to_owned();
    let mut without = image.clone();
    without.retain(|path, _| !path.starts_with("/data/authz"));
    let report = checked(&plant(&without)).damages;
    assert_eq!(report.len(), 1, "{report:?}");
    assert_eq!(report[0].file, "authz");
    for (planted, told) in [
        (shard.with_file_name("7"), shard.with_file_name("7")),
        (
            PathBuf::from("/data/indices/AAAAAAAAAAAAAAAAAAAAAA"),
            "/data/indices/AAAAAAAAAAAAAAAAAAAAAA".into(),
        ),
        (shard.join("manifest-0.tmp/file"), shard.join("manifest-0.tmp")),
        (shard.join("segment-00000000000000ff/file"), shard.join("segment-00000000000000ff")),
        (PathBuf::from("/data/cluster/log-000009/file"), "/data/cluster/log-000009".into()),
        (PathBuf::from("/data/node/reserve-0/file"), "/data/node/reserve-0".into()),
        (PathBuf::from("/data/authz/reserve/file"), "/data/authz/reserve".into()),
        (PathBuf::from("/data/cluster/reserve/file"), "/data/cluster/reserve".into()),
    ] {
        let sim = plant(&image);
        sim.plant(&planted, b"x");
        let report = checked(&sim).damages;
        let told = told.strip_prefix(DATA).expect("it lies there").display().to_string();
        assert!(report.iter().any(|damage| damage.file == told), "{told}: {report:?}");
    }
}

#[test]
fn documents_that_no_cluster_state_names_are_told() {
    let image = image();
    let is_state = |path: &Path| path.starts_with(Path::new(DATA).join("cluster"));
    let sim = plant(&image);
    // Where no room can be kept back no index is made.
    sim.set_free_bytes(1 << 30);
    let env = sim.env();
    sim.run(async move {
        let (node, _store) = start(&env).await.expect("a healthy disk");
        write(&node, "three", 0..1, WriteAction::Index).await;
        let made = node.create_index(&Everything, "four", &json::json!({})).await;
        made.expect("a healthy disk");
    });
    sim.kill();
    assert_eq!(checked(&sim).damages, []);
    let mut older: Image = sim
        .files()
        .into_iter()
        .filter_map(|(path, _)| Some((path.clone(), sim.bytes(path)?)))
        .collect();
    older.retain(|path, _| !is_state(path));
    let told = checked(&plant(&older)).damages;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].file, "cluster");
    assert!(told[0].what.contains("it is missing, while indices/"), "{told:?}");
    older.extend(image.into_iter().filter(|(path, _)| is_state(path)));
    let told = checked(&plant(&older)).damages;
    assert_eq!(told.len(), 1, "the one that is empty is what a cut creation leaves: {told:?}");
    assert!(told[0].file.starts_with("indices/"), "{told:?}");
    assert!(told[0].what.contains("belongs to no index of the cluster state"), "{told:?}");
}

#[test]
fn no_flipped_byte_gives_a_wrong_answer_and_each_that_counts_is_named() {
    let image = image();
    let whole = plant(&image);
    assert_eq!(checked(&whole).damages, []);
    let truth = asked(&whole).expect("nothing is damaged");
    assert!(truth.values().flatten().all(Result::is_ok), "{truth:?}");
    assert!(truth["one"][16].as_ref().is_ok_and(|found| found.contains("word16")), "{truth:?}");
    let all = std::env::var("ROT").is_ok_and(|what| what == "all");
    let mut fates: BTreeMap<(String, Fate), u64> = BTreeMap::new();
    let mut count = 0;
    for (path, bytes) in &image {
        // A part: more of small files than of large ones, at places that no structure repeats.
        let stride = if all { 1 } else { (bytes.len() / 20).max(1) | 1 };
        for at in (0..bytes.len()).step_by(stride) {
            let fate = flip(&image, path, at, &truth);
            *fates.entry((place(path, bytes, at), fate)).or_default() += 1;
            count += 1;
        }
    }
    println!("{count} bytes of {} files", image.len());
    for ((place, fate), count) in fates {
        println!("{place}: {fate:?} {count}");
    }
}
