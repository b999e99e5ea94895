//! What is on disk after crashes, rot and strangers: nothing acknowledged is lost in silence,
//! nothing that is not ours is touched, and no empty shard stands in for a lost one.

mod harness;

use std::collections::BTreeMap;

use harness::*;
use shard::file::{live_name, segment_name};
use shard::manifest::Manifest;
use shard::{Error, Realtime, Shard, ShardConfig};
use sim::{Sim, SimEnv};

/// The living documents: id to tag.
type Model = BTreeMap<String, String>;

/// Small enough that all kinds of files come into being within a few operations.
fn little() -> ShardConfig {
    let log_bytes = 16 << 10;
    ShardConfig {
        buffer_bytes_max: 2 << 10,
        log_file_bytes_min: log_bytes,
        log_file_bytes_max: log_bytes,
        ..config()
    }
}

/// Puts, deletes, flushes and merges a little; tells `acknowledged` what is promised.
async fn live(shard: &Shard<SimEnv>, acknowledged: &mut Vec<Op>) {
    for round in 0..3 {
        for at in 0..4 {
            let op = match (round + at) % 4 {
                3 => delete(&format!("id{at}")),
                _ => put(&format!("id{at}"), &format!("r{round}a{at}")),
            };
            if write(shard, op.clone()).await.is_err() {
                return;
            }
            acknowledged.push(op);
        }
        if shard.flush().await.is_err() {
            return;
        }
    }
    let _ = shard.force_merge(Some(1)).await;
    let last = put("last", "one");
    if write(shard, last.clone()).await.is_ok() {
        acknowledged.push(last);
    }
    let _ = shard.close().await;
}

fn model(ops: &[Op]) -> Model {
    let mut model = Model::new();
    for op in ops {
        match &op.source {
            Some(source) => drop(model.insert(op.id.clone(), source.clone())),
            None => drop(model.remove(&op.id)),
        }
    }
    model
}

/// The living documents of a shard, by get.
async fn all(shard: &Shard<SimEnv>) -> Result<Model, Error> {
    let mut found = Model::new();
    for id in ["id0", "id1", "id2", "id3", "last"] {
        if let Some(document) = shard.get(id, Realtime::Yes).await? {
            let source = String::from_utf8(document.source.to_vec()).expect("JSON is UTF-8");
            found.insert(id.to_owned(), source);
        }
    }
    Ok(found)
}

/// A machine with a shard that lived and stopped in order; what it holds.
fn lived() -> (Sim, Model) {
    let sim = Sim::new(1);
    let mut acknowledged = Vec::new();
    sim.run(async {
        let shard = Shard::create(&sim.env(), setup(little())).await.expect("a new shard");
        live(&shard, &mut acknowledged).await;
    });
    assert_eq!(acknowledged.len(), 13);
    (sim, model(&acknowledged))
}

fn open(sim: &Sim) -> Result<Model, Error> {
    let env = sim.env();
    sim.run(async {
        let shard = Shard::open(&env, setup(little())).await?;
        let found = all(&shard).await;
        shard.close().await?;
        found
    })
}

fn path(name: &str) -> String {
    format!("{DIR}/{name}")
}

#[test]
fn power_cut_at_any_call_to_the_disk_loses_nothing() {
    let mut cuts = 0;
    for nth in 1.. {
        let sim = Sim::new(nth);
        let mut acknowledged = Vec::new();
        let mut is_made = false;
        sim.cut_power_at(nth);
        let ended = sim.run_until_cut(async {
            let shard = Shard::create(&sim.env(), setup(little())).await.expect("a new shard");
            is_made = true;
            live(&shard, &mut acknowledged).await;
        });
        if ended.is_some() {
            break;
        }
        cuts += 1;
        let env = sim.env();
        sim.run(async {
            let shard = match Shard::open(&env, setup(little())).await {
                Err(Error::NoManifest { .. }) if !is_made => {
                    let made = Shard::create(&env, setup(little())).await;
                    made.unwrap_or_else(|error| panic!("cut {nth}: {error}"))
                }
                opened => opened.unwrap_or_else(|error| panic!("cut {nth}: {error}")),
            };
            let found = all(&shard).await.expect("sound");
            // One operation may have been under way.
            let mut possible = vec![model(&acknowledged)];
            let rounds = [put("last", "one")].into_iter().chain((0..12).map(|at| {
                let (round, at) = (at / 4, at % 4);
                match (round + at) % 4 {
                    3 => delete(&format!("id{at}")),
                    _ => put(&format!("id{at}"), &format!("r{round}a{at}")),
                }
            }));
            for op in rounds {
                possible.push(model(&[&acknowledged[..], &[op]].concat()));
            }
            assert!(possible.contains(&found), "cut {nth}: {found:?} of {acknowledged:?}");
            wrote(&shard, put("id0", "again")).await;
            shard.close().await.expect("in order");
        });
        assert!(open(&sim).expect("sound").get("id0").is_some_and(|it| it.contains("again")));
    }
    assert!(cuts > 50, "{cuts} cuts");
}

#[test]
fn nothing_stands_in_for_a_shard_that_is_not_there() {
    let sim = Sim::new(1);
    assert!(matches!(open(&sim), Err(Error::NoManifest { .. })));
    sim.plant(path("notes.txt"), b"mine");
    assert!(matches!(open(&sim), Err(Error::NoManifest { .. })));
    assert_eq!(sim.names(DIR), ["notes.txt"]);
    let env = sim.env();
    let made = sim.run(async { Shard::create(&env, setup(little())).await.err() });
    assert!(matches!(made, Some(Error::AlreadyExists { .. })), "{made:?}");
    assert_eq!(sim.names(DIR), ["notes.txt"]);
}

#[test]
fn shard_is_not_made_where_one_stands() {
    let (sim, expected) = lived();
    let before = sim.names(DIR);
    let env = sim.env();
    let made = sim.run(async { Shard::create(&env, setup(little())).await.err() });
    assert!(matches!(made, Some(Error::AlreadyExists { .. })), "{made:?}");
    assert_eq!(sim.names(DIR), before);
    assert_eq!(open(&sim), Ok(expected));
}

#[test]
fn shard_without_its_manifests_or_its_log_is_not_opened() {
    for lost in ["manifest-", "log-"] {
        let (sim, _) = lived();
        let env = sim.env();
        let names = sim.names(DIR);
        sim.run(async {
            for name in names.iter().filter(|name| name.starts_with(lost)) {
                env::Disk::remove(env::Env::disk(&env), path(name).as_ref()).await.expect("there");
            }
        });
        let left = sim.names(DIR);
        assert!(open(&sim).is_err(), "{lost}");
        let still = sim.names(DIR);
        assert!(left.iter().all(|name| still.contains(name)), "{lost}: {still:?}");
        let env = sim.env();
        let made = sim.run(async { Shard::create(&env, setup(little())).await.err() });
        assert!(made.is_some(), "{lost}: no empty shard over what is left");
    }
}

#[test]
fn unnamed_files_of_ours_go_and_strangers_stay() {
    let (sim, expected) = lived();
    let orphans = [
        segment_name(base::SegmentId(999)),
        live_name(base::SegmentId(999), 3),
        format!("{}.tmp", segment_name(base::SegmentId(3))),
        "manifest-0.tmp".to_owned(),
    ];
    let strangers = ["segment-1", "notes.txt", "segment-000000000000000g", "core.tmp"];
    for name in orphans.iter().map(String::as_str).chain(strangers) {
        sim.plant(path(name), b"bytes");
    }
    assert_eq!(open(&sim), Ok(expected));
    let names = sim.names(DIR);
    assert!(orphans.iter().all(|name| !names.contains(name)), "{names:?}");
    assert!(strangers.iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
}

/// Flips a bit at each of some places of each file whose name starts with `prefix`, opens, and
/// hands the answer to `judge`.
fn rot_everywhere(prefix: &str, mut judge: impl FnMut(&Sim, &str, Result<Model, Error>, &Model)) {
    let (sim, _) = lived();
    let names = sim.names(DIR);
    let mut is_any = false;
    for name in names.iter().filter(|name| name.starts_with(prefix)) {
        let len = sim.bytes(path(name)).expect("it is there").len() as u64;
        let step = (len / 40).max(1);
        for offset in (0..len).step_by(step as usize).chain([len - 1]) {
            let (sim, expected) = lived();
            sim.rot(path(name), offset, 0x10);
            judge(&sim, name, open(&sim), &expected);
            is_any = true;
        }
    }
    assert!(is_any, "there are such files");
}

#[test]
fn rot_in_a_segment_is_an_error_or_harmless_but_never_a_lost_document() {
    let mut errors = 0;
    rot_everywhere("segment-", |sim, name, found, expected| match found {
        Ok(found) => assert_eq!(found, *expected, "{name}"),
        Err(error) => {
            errors += 1;
            assert!(matches!(error, Error::Corrupt { .. } | Error::Version { .. }), "{error}");
            let still = sim.names(DIR);
            let kept = |name: &str| still.iter().any(|other| other == name);
            assert!(kept(name) || kept(&format!("{name}.corrupt")), "{still:?}");
            if kept(&format!("{name}.corrupt")) {
                assert!(matches!(open(sim), Err(Error::Corrupt { .. })), "it stays failed");
            }
        }
    });
    assert!(errors > 3, "{errors}");
}

#[test]
fn rot_in_a_manifest_is_an_error_or_harmless() {
    let mut errors = 0;
    rot_everywhere("manifest-", |sim, name, found, expected| match found {
        Ok(found) => assert_eq!(found, *expected, "{name}"),
        Err(error) => {
            errors += 1;
            let (Error::Corrupt { file, .. } | Error::Version { file, .. }) = &error else {
                panic!("{error}");
            };
            assert_eq!(*file, path(name), "{error}");
            assert!(sim.names(DIR).iter().any(|name| name.starts_with("segment-")));
        }
    });
    assert!(errors > 3, "the older one cannot stand in: {errors}");
}

/// The log no longer goes back to the older slot: that was told as a fault of the log, and what only the newer one
/// named was cleared away before.
#[test]
fn a_manifest_that_was_lost_is_named_and_nothing_is_cleared_away() {
    let (sim, _) = lived();
    let names = sim.names(DIR);
    let generation = |name: &str| {
        let bytes = sim.bytes(path(name)).expect("it is there");
        Manifest::decode(&bytes).expect("sound").generation
    };
    let newest = ["manifest-0", "manifest-1"].into_iter().max_by_key(|name| generation(name));
    let newest = newest.expect("one of two");
    let env = sim.env();
    sim.run(async {
        use env::{Disk, Env};
        env.disk().remove(std::path::Path::new(&path(newest))).await.expect("it is there");
    });
    let Err(Error::Corrupt { file, what }) = open(&sim) else { panic!("the log was cut") };
    assert_eq!(file, path(newest));
    assert!(what.contains("it is missing, and the other one cannot stand in: "), "{what}");
    let left: Vec<String> = names.into_iter().filter(|name| name != newest).collect();
    assert_eq!(sim.names(DIR), left);
}

#[test]
fn rot_in_the_log_is_an_error_or_harmless() {
    rot_everywhere("log-", |_, name, found, expected| {
        if let Ok(found) = found {
            assert_eq!(found, *expected, "{name}");
        }
    });
}

#[test]
fn rot_in_what_must_be_replayed_fails_the_shard_and_keeps_the_file() {
    let sim = Sim::new(4);
    let env = sim.env();
    let mut offset = 0;
    sim.run(async {
        let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
        wrote(&shard, put("id0", "needle")).await;
        for at in 0..8 {
            wrote(&shard, put("id1", &format!("x{at}"))).await;
        }
        let log = sim.bytes(path("log-000001")).expect("it is there");
        let at = log.windows(6).position(|window| window == b"needle");
        offset = at.expect("sources are in the log as they are") as u64;
    });
    sim.kill();
    sim.rot(path("log-000001"), offset, 1);
    assert!(matches!(open(&sim), Err(Error::Corrupt { .. })));
    let names = sim.names(DIR);
    assert!(names.contains(&"log-000001.corrupt".to_owned()), "{names:?}");
    assert!(matches!(open(&sim), Err(Error::Corrupt { .. })), "and again");
    assert_eq!(sim.names(DIR), names);
}

#[test]
fn missing_segment_is_named() {
    let (sim, _) = lived();
    let names = sim.names(DIR);
    let name = names.iter().find(|name| name.starts_with("segment-")).expect("there is one");
    let env = sim.env();
    sim.run(async {
        env::Disk::remove(env::Env::disk(&env), path(name).as_ref()).await.expect("there");
    });
    match open(&sim) {
        Err(Error::Corrupt { file, .. }) => assert_eq!(file, path(name)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn manifest_of_another_shard_or_format_is_refused() {
    let (sim, _) = lived();
    for slot in ["manifest-0", "manifest-1"] {
        let bytes = sim.bytes(path(slot)).expect("both slots are used");
        let mut manifest = Manifest::decode(&bytes).expect("sound");
        manifest.shard.number += 1;
        sim.plant(path(slot), &manifest.encode());
    }
    assert!(matches!(open(&sim), Err(Error::Corrupt { .. })));
    let (sim, _) = lived();
    let mut bytes = sim.bytes(path("manifest-0")).expect("both slots are used");
    bytes[4] = 9;
    sim.plant(path("manifest-0"), &bytes);
    match open(&sim) {
        Err(Error::Version { found: 9, expected: 1, .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn failed_save_of_a_manifest_loses_nothing_and_the_next_one_succeeds() {
    use sim::Call;
    let calls = [Call::Create, Call::Write, Call::Sync, Call::Rename].iter();
    let calls = calls.flat_map(|call| ["manifest", "segment", "live"].map(|part| (*call, part)));
    for (call, part) in calls.chain([(Call::SyncDir, "shard"), (Call::Remove, "segment")]) {
        for nth in 1..6 {
            let sim = Sim::new(nth);
            let env = sim.env();
            let mut acknowledged = Vec::new();
            sim.run(async {
                // One file of the log, for a failure there ends the shard.
                let shard = Shard::create(&env, setup(config())).await.expect("a new shard");
                sim.fail(call, part, nth, env::ErrorKind::Io);
                live_on(&shard, &mut acknowledged).await;
                sim.heal();
                shard.close().await.expect("the failure passed");
            });
            assert_eq!(open(&sim), Ok(model(&acknowledged)), "{call:?} {part} {nth}");
        }
    }
}

/// As [`live`], but does not give up where a flush fails.
async fn live_on(shard: &Shard<SimEnv>, acknowledged: &mut Vec<Op>) {
    for round in 0..6 {
        for at in 0..4 {
            let op = put(&format!("id{at}"), &format!("r{round}a{at}"));
            wrote(shard, op.clone()).await;
            acknowledged.push(op);
        }
        let _ = shard.flush().await;
    }
}
