//! Logs from foreign bytes: an error, or one unbroken chain of batches that can be gone on with.
//!
//! A first byte of 0: the rest is the file as it stands. Else the rest is a list of doings to a
//! file with a right head, because checksums would refuse nearly all that a fuzzer makes of raw
//! bytes: one byte tells what, the next ones how.
#![no_main]

use std::time::Duration;

use base::{SeqNo, ShardId};
use libfuzzer_sys::fuzz_target;
use sim::Sim;
use wal::frame::{self, BLOCK, FileId, Place};
use wal::{Batch, Config, LogPosition, Reader, Record, Writer};

const DIR: &str = "/shard";
const FILE: &str = "/shard/log-000001";
const SHARD: ShardId = ShardId { index: [0xaa; 16], number: 0 };
const FILE_BYTES: usize = 64 << 10;

fuzz_target!(init: base::hash::fix_seed(), |input: &[u8]| {
    let Some((&mode, rest)) = input.split_first() else { return };
    let sim = Sim::new(1);
    let bytes = match mode {
        0 => rest.to_vec(),
        _ => made(rest, &sim),
    };
    sim.plant(FILE, &bytes);
    let after = LogPosition(u64::from(mode) / 100);
    let Some(batches) = read(&sim, after) else { return };
    for pair in batches.windows(2) {
        assert_eq!(pair[0].position.next(), pair[1].position, "no gap");
        assert!(pair[0].term <= pair[1].term, "terms do not fall");
    }

    // What was read is there when the log goes on, also after a cut.
    let record = Record { first_seq_no: SeqNo(1), count: 1, ..Record::default() };
    let (env, theirs) = (sim.env(), record.clone());
    sim.run(async move {
        let mut reader = Reader::open(&env, config(), after).await.expect("read just now");
        while reader.next().await.expect("read just now").is_some() {}
        let Some(term) = reader.term().checked_add(1) else { return };
        let writer = reader.into_writer(term, None).await.expect("a healthy disk");
        let append = writer.append(theirs).expect("there is room");
        append.await.expect("a healthy disk");
        writer.close().await.expect("a healthy disk");
    });
    sim.crash();
    let again = read(&sim, after).expect("it was read before");
    assert_eq!(again[..batches.len()], batches, "what was read stays");
    if let Some(batch) = again.get(batches.len()) {
        assert_eq!(batch.records, [record], "and then comes the new one");
    }
});

fn config() -> Config {
    Config {
        file_bytes_min: FILE_BYTES as u64,
        idle_after: Duration::from_secs(1),
        ..Config::new(DIR, SHARD)
    }
}

fn read(sim: &Sim, after: LogPosition) -> Option<Vec<Batch>> {
    let env = sim.env();
    sim.run(async move {
        let mut reader = Reader::open(&env, config(), after).await.ok()?;
        let mut batches = Vec::new();
        while let Some(batch) = reader.next().await.ok()? {
            batches.push(batch);
        }
        Some(batches)
    })
}

/// A file with a right head, and whatever the doings of `input` make of the rest.
fn made(input: &[u8], sim: &Sim) -> Vec<u8> {
    let env = sim.env();
    sim.run(async move {
        drop(Writer::create(&env, config(), 1, None).await.expect("a fresh disk"));
    });
    let mut bytes = sim.bytes(FILE).expect("just made");
    sim.crash();
    let mut id = FileId::default();
    id.copy_from_slice(&bytes[8..24]);

    let mut input = input.iter().copied();
    let mut next = move || input.next();
    let (mut at, mut position, mut term, mut previous_checksum) = (BLOCK, 1u64, 1u64, 0);
    let mut records_before = LogPosition::ZERO;
    while let (Some(what), Some(how)) = (next(), next()) {
        let how = usize::from(how);
        match what % 8 {
            // A batch, as the writer would put it, or with another position or term.
            0..=3 => {
                match what >> 4 {
                    1 => position += how as u64 % 6,
                    2 => position = position.saturating_sub(how as u64 % 6).max(1),
                    3 => term = how as u64,
                    _ => {}
                }
                let payload = vec![what; how * 40];
                let record = Record {
                    first_seq_no: SeqNo(how as u64),
                    count: 1,
                    mapping_version: 1,
                    payload,
                };
                let records = if how == 0 { vec![] } else { vec![record] };
                let len = frame::batch_bytes(records.iter().map(frame::record_bytes).sum());
                if at + len > bytes.len() {
                    continue;
                }
                let position_of = LogPosition(position);
                let behind = 1 + u64::from(what >> 6);
                let place = Place {
                    position: position_of,
                    term,
                    synced: LogPosition(position.saturating_sub(behind)),
                    file: id,
                    shard: SHARD,
                    previous_checksum,
                    records_before: records_before.min(position_of.previous()),
                };
                bytes[at..at + len].fill(0);
                previous_checksum = frame::write(&place, &records, &mut bytes[at..at + len]);
                if !records.is_empty() {
                    records_before = position_of;
                }
                at += len;
                position += 1;
            }
            // A block is skipped, or gone back to.
            4 => at = (at + BLOCK).min(bytes.len() - BLOCK),
            5 => at = BLOCK * (1 + how % 15),
            // A sector is lost, or a byte changed.
            6 => {
                let sector = (BLOCK + how * 512) % (bytes.len() - 512);
                bytes[sector..sector + 512].fill(what >> 3);
            }
            _ => {
                let spot = (BLOCK + how * 233) % bytes.len();
                bytes[spot] ^= what;
            }
        }
    }
    bytes
}
