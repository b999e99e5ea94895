//! The byte layout, pinned: `tests/data/log-000001` is read as what was written, and the same
//! batches written today are the same bytes. `log-000001.rotten` is its twin with one bit flipped
//! in the payload of batch 2.
//!
//! Both files were made by a script written from the words in `frame` and `file` alone, with the file
//! id `10 11 … 1f`. A change of the layout needs a new version, new files and new words in `frame`.

use base::{SeqNo, ShardId};
use sim::Sim;
use wal::frame::{self, BLOCK, Place};
use wal::{Batch, Config, Error, LogPosition, Reader, Record};

const GOLDEN: &[u8] = include_bytes!("data/log-000001");
const ROTTEN: &[u8] = include_bytes!("data/log-000001.rotten");

const SHARD: ShardId = ShardId { index: *b"golden index id.", number: 3 };

fn record(first_seq_no: u64, count: u32, mapping_version: u64, payload: &[u8]) -> Record {
    Record { first_seq_no: SeqNo(first_seq_no), count, mapping_version, payload: payload.to_vec() }
}

fn batches() -> Vec<Batch> {
    let batch = |position, term, records| Batch { position: LogPosition(position), term, records };
    vec![
        batch(1, 1, vec![record(7, 2, 1, b"ab")]),
        batch(2, 1, vec![record(9, 1, 1, &[0xcd; 5000]), record(10, 300, 2, b"")]),
        batch(3, 2, vec![]),
    ]
}

fn read(bytes: &[u8]) -> Result<Vec<Batch>, Error> {
    let sim = Sim::new(1);
    sim.plant("/golden/log-000001", bytes);
    let env = sim.env();
    sim.run(async move {
        let config = Config::new("/golden", SHARD);
        let mut reader = Reader::open(&env, config, LogPosition::ZERO).await?;
        let mut batches = Vec::new();
        while let Some(batch) = reader.next().await? {
            batches.push(batch);
        }
        assert_eq!(reader.tail().torn_bytes, 0);
        Ok(batches)
    })
}

#[test]
fn the_golden_file_is_read_as_what_was_written() {
    assert_eq!(read(GOLDEN), Ok(batches()));
}

#[test]
fn its_rotten_twin_is_corrupt() {
    let differing = GOLDEN.iter().zip(ROTTEN).filter(|(good, bad)| good != bad).count();
    assert_eq!((differing, GOLDEN.len()), (1, ROTTEN.len()));
    assert!(matches!(read(ROTTEN), Err(Error::Corrupt { .. })));
}

#[test]
fn the_golden_file_is_what_is_written_today() {
    let mut file = [0; 16];
    file.copy_from_slice(&GOLDEN[8..24]);
    let mut written = GOLDEN[..BLOCK].to_vec();
    let (mut previous_checksum, mut records_before) = (0, LogPosition::ZERO);
    for Batch { position, term, records } in batches() {
        let payload_len = records.iter().map(frame::record_bytes).sum();
        let mut block = vec![0; frame::batch_bytes(payload_len)];
        let synced = position.previous();
        let shard = SHARD;
        let place =
            Place { position, term, synced, file, shard, previous_checksum, records_before };
        previous_checksum = frame::write(&place, &records, &mut block);
        if !records.is_empty() {
            records_before = position;
        }
        written.extend_from_slice(&block);
    }
    written.resize(written.len() + BLOCK, 0);
    assert!(written == GOLDEN, "the layout has changed");
}
