//! Bytes that change behind our back: told as corruption, or as a torn tail where nobody was
//! promised anything; never a shorter log, never other records.

mod story;

use std::rc::Rc;

use proptest::prelude::*;
use sim::Sim;
use story::{DIR, config, machine_with_batches, read_all, record};
use wal::{Error, LogPosition, Reader};

const FILE: &str = "/shard/log-000001";

/// Reads the whole log; the records' numbers.
fn read(sim: &Sim) -> Result<Vec<u64>, Error> {
    let env = sim.env();
    let (batches, _) = sim.run(async move { read_all(&env, LogPosition::ZERO).await })?;
    let records = batches.into_iter().flat_map(|batch| batch.records);
    Ok(records
        .map(|found| {
            assert_eq!(found, record(found.first_seq_no.0, 100));
            found.first_seq_no.0
        })
        .collect())
}

#[test]
fn any_flipped_bit_of_a_batch_is_corruption_once_the_log_has_said_that_it_is_synced() {
    // The head, three batches, the word of the idle log.
    let (sim, _) = machine_with_batches(1, 3, true);
    let bytes = sim.bytes(FILE).expect("it was made");
    let used = [0..64, 4096..4096 + 232, 8192..8192 + 232, 12288..12288 + 232];
    for at in used.into_iter().flatten() {
        let sim = Sim::new(1);
        sim.plant(FILE, &bytes);
        sim.rot(FILE, at, 1 << (at % 8));
        let error = read(&sim).expect_err("a bit is flipped");
        let version = matches!(error, Error::Version { .. });
        assert!(version || matches!(error, Error::Corrupt { .. }), "byte {at}: {error}");
        if !version {
            // It stays that way, and the file is kept.
            assert_eq!(sim.names(DIR), ["log-000001.corrupt"], "byte {at}");
            assert!(matches!(read(&sim), Err(Error::Corrupt { .. })));
        }
    }
}

#[test]
fn the_last_batch_of_a_log_that_said_nothing_may_be_torn() {
    let (sim, _) = machine_with_batches(1, 3, false);
    sim.rot(FILE, 3 * 4096 + 150, 1);
    // The third batch knew that the second was synced; nothing says so of the third.
    assert_eq!(read(&sim), Ok(vec![0, 1]));
    let (sim, _) = machine_with_batches(1, 3, false);
    sim.rot(FILE, 2 * 4096 + 150, 1);
    assert!(matches!(read(&sim), Err(Error::Corrupt { .. })));
}

#[test]
fn a_lost_batch_is_not_skipped() {
    let (sim, _) = machine_with_batches(1, 4, true);
    let mut bytes = sim.bytes(FILE).expect("it was made");
    bytes[2 * 4096..3 * 4096].fill(0);
    sim.plant(FILE, &bytes);
    assert!(matches!(read(&sim), Err(Error::Corrupt { .. })));
}

#[test]
fn a_batch_in_another_ones_place_is_not_believed() {
    let (sim, _) = machine_with_batches(1, 4, true);
    let good = sim.bytes(FILE).expect("it was made");
    // Swapped, doubled, and from the same place of another log.
    let mut swapped = good.clone();
    swapped.copy_within(2 * 4096..3 * 4096, 4096);
    swapped[2 * 4096..3 * 4096].copy_from_slice(&good[4096..2 * 4096]);
    let mut doubled = good.clone();
    doubled.copy_within(2 * 4096..3 * 4096, 3 * 4096);
    let (other, _) = machine_with_batches(2, 4, true);
    let other = other.bytes(FILE).expect("it was made");
    let mut foreign = good.clone();
    foreign[2 * 4096..3 * 4096].copy_from_slice(&other[2 * 4096..3 * 4096]);
    for bytes in [swapped, doubled, foreign] {
        let sim = Sim::new(3);
        sim.plant(FILE, &bytes);
        assert!(matches!(read(&sim), Err(Error::Corrupt { .. })));
    }
}

#[test]
fn a_batch_of_an_abandoned_end_is_not_believed() {
    // The log ends with batch 3, which a cut takes; the next life writes another batch 3.
    let (sim, model) = machine_with_batches(1, 3, false);
    let first_life = sim.bytes(FILE).expect("it was made");
    let mut cut = first_life.clone();
    cut[3 * 4096..4 * 4096].fill(0);
    sim.kill();
    sim.plant(FILE, &cut);
    model.borrow_mut().promised = 2;
    model.borrow_mut().positions.pop();
    let (env, theirs) = (sim.env(), Rc::clone(&model));
    sim.run(async move {
        let (writer, _) = story::reopen(&env, &theirs, "second life").await;
        for _ in 0..2 {
            story::append(&writer, &theirs, 100).await.expect("a healthy disk");
        }
        writer.close().await.expect("a healthy disk");
    });
    assert_eq!(read(&sim), Ok(vec![0, 1, 2, 3]));
    // Its old bytes come back: all checksums are right, but batch 4 follows another one.
    let mut bytes = sim.bytes(FILE).expect("it was made");
    bytes[3 * 4096..4 * 4096].copy_from_slice(&first_life[3 * 4096..4 * 4096]);
    sim.plant(FILE, &bytes);
    assert!(matches!(read(&sim), Err(Error::Corrupt { .. })));
}

#[test]
fn a_missing_file_is_not_skipped() {
    let (sim, _) = machine_with_batches(1, 40, true);
    let names = sim.names(DIR);
    assert!(names.len() >= 2, "{names:?}");
    let second = sim.bytes("/shard/log-000002").expect("it was made");
    // The second file alone: what was before is gone.
    let sim = Sim::new(2);
    sim.plant("/shard/log-000002", &second);
    assert!(matches!(read(&sim), Err(Error::Gap { .. })));
    // A hole in the row.
    let (sim, _) = machine_with_batches(1, 3, true);
    let first = sim.bytes(FILE).expect("it was made");
    let sim = Sim::new(3);
    sim.plant(FILE, &first);
    sim.plant("/shard/log-000003", &second);
    assert!(matches!(read(&sim), Err(Error::Corrupt { .. })));
}

#[test]
fn the_log_of_another_shard_is_not_read() {
    let (sim, _) = machine_with_batches(1, 2, true);
    let env = sim.env();
    let error = sim.run(async move {
        let mut config = config();
        config.shard.number = 7;
        Reader::open(&env, config, LogPosition::ZERO).await.err()
    });
    assert!(matches!(error, Some(Error::Corrupt { .. })));
}

#[test]
fn a_newer_version_is_named_and_nothing_is_touched() {
    let (sim, _) = machine_with_batches(1, 2, true);
    sim.rot(FILE, 4, 3);
    let error = read(&sim).expect_err("version 2");
    let Error::Version { found, expected, .. } = error else { panic!("{error}") };
    assert_eq!((found, expected), (2, 1));
    assert_eq!(sim.names(DIR), ["log-000001"]);
}

#[test]
fn what_is_not_ours_is_not_touched() {
    let (sim, _) = machine_with_batches(1, 2, true);
    sim.plant("/shard/manifest-0", b"theirs");
    sim.plant("/shard/log-000002.tmp", b"half made");
    assert_eq!(read(&sim), Ok(vec![0, 1]));
    assert_eq!(sim.names(DIR), ["log-000001", "manifest-0"]);
}

#[test]
fn the_disks_errors_are_not_taken_for_corruption() {
    let (sim, _) = machine_with_batches(1, 2, true);
    for nth in 1..4 {
        sim.fail(sim::Call::Read, FILE, nth, env::ErrorKind::Io);
        let error = read(&sim).expect_err("the read fails");
        assert!(matches!(error, Error::Disk(_)), "{error}");
        sim.heal();
    }
    assert_eq!(read(&sim), Ok(vec![0, 1]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever happens to the bytes: records that were written, in order from the first, or an
    /// error. (A shorter log only where the last batches are hit, of which none said that they
    /// were synced.)
    #[test]
    fn changed_bytes_never_give_other_records(
        changes in prop::collection::vec((0..36_864usize, any::<u8>(), 0..3u8), 1..6),
    ) {
        let (sim, model) = machine_with_batches(1, 6, true);
        let sent = model.borrow().sent.len() as u64;
        let mut bytes = sim.bytes(FILE).expect("it was made");
        for (at, byte, what) in changes {
            match what {
                0 => bytes[at] = byte,
                1 => bytes[at / 512 * 512..][..512].fill(byte),
                _ => {
                    let source = usize::from(byte) % 64 * 512;
                    bytes.copy_within(source..source + 512, at / 512 * 512);
                }
            }
        }
        let sim = Sim::new(2);
        sim.plant(FILE, &bytes);
        if let Ok(found) = read(&sim) {
            prop_assert_eq!(&found, &(0..found.len() as u64).collect::<Vec<_>>());
            prop_assert!(found.len() as u64 <= sent);
        }
    }

    #[test]
    fn foreign_bytes_never_panic(
        mut bytes in prop::collection::vec(any::<u8>(), 0..20_000),
        aligned: bool,
        with_head: bool,
    ) {
        if aligned {
            bytes.resize(bytes.len().next_multiple_of(4096).max(8192), 0);
        }
        if with_head && bytes.len() >= 4096 {
            let (good, _) = machine_with_batches(1, 0, true);
            let good = good.bytes(FILE).expect("it was made");
            bytes[..4096].copy_from_slice(&good[..4096]);
            bytes.resize(good.len(), 0);
        }
        let sim = Sim::new(3);
        sim.plant(FILE, &bytes);
        if let Ok(found) = read(&sim) {
            prop_assert_eq!(found, Vec::<u64>::new());
        }
    }
}

#[test]
fn a_model_is_shared() {
    // The helper's promise that the tests above lean on.
    let (_, model) = machine_with_batches(1, 3, false);
    assert_eq!(model.borrow().promised, 3);
    assert_eq!(Rc::strong_count(&model), 1);
}
