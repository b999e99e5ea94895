//! Stories of a frame's bytes.

use proptest::prelude::*;

use super::*;

fn place() -> Place {
    Place {
        position: LogPosition(3),
        term: 2,
        synced: LogPosition(1),
        file: [7; 16],
        shard: ShardId { index: [9; 16], number: 4 },
        previous_checksum: 0xdead_beef,
        records_before: LogPosition(2),
    }
}

fn record(first_seq_no: u64, count: u32, payload: &[u8]) -> Record {
    Record {
        first_seq_no: SeqNo(first_seq_no),
        count,
        mapping_version: 1,
        payload: payload.to_vec(),
    }
}

fn batch(records: &[Record]) -> Vec<u8> {
    let payload_len: usize = records.iter().map(record_bytes).sum();
    let mut block = vec![0; batch_bytes(payload_len)];
    write(&place(), records, &mut block);
    block
}

fn read(block: &[u8]) -> Option<(Header, Vec<Record>)> {
    let (header, _) = Header::decode(block).ok()?;
    let payload = block.get(HEADER_BYTES..HEADER_BYTES + header.payload_len as usize)?;
    let records = header.records(payload)?;
    Some((header, records))
}

#[test]
fn the_example_of_the_head() {
    let block = batch(&[record(7, 2, b"ab")]);
    assert_eq!(block.len(), BLOCK);
    assert_eq!(block[128..134], [0x02, 0x07, 0x01, 0x02, 0x61, 0x62]);
    let (header, records) = read(&block).expect("just written");
    assert_eq!(records, [record(7, 2, b"ab")]);
    assert_eq!(header.seq_nos, Some((SeqNo(7), SeqNo(8))));
    assert_eq!((header.position, header.synced), (LogPosition(3), LogPosition(1)));
    assert_eq!(header.previous_checksum, 0xdead_beef);
}

#[test]
fn an_empty_batch_has_no_sequence_numbers() {
    let (header, records) = read(&batch(&[])).expect("just written");
    assert_eq!((header.seq_nos, records.len()), (None, 0));
    let (header, _) = read(&batch(&[record(5, 0, b"x")])).expect("just written");
    assert_eq!(header.seq_nos, None, "a record may hold no operation");
}

#[test]
fn every_flipped_bit_of_header_and_payload_is_seen() {
    let block = batch(&[record(1, 1, b"first"), record(2, 3, b"second")]);
    let (header, _) = read(&block).expect("just written");
    for bit in 0..(HEADER_BYTES + header.payload_len as usize) * 8 {
        let mut rotten = block.clone();
        rotten[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(read(&rotten), None, "bit {bit}");
    }
}

#[test]
fn a_claimed_length_above_the_limit_is_refused() {
    let (mut header, _) = Header::decode(&batch(&[])).expect("just written");
    header.payload_len = PAYLOAD_BYTES_MAX as u32 + 1;
    assert_eq!(Header::decode(&header.encode()), Err(NoHeader::Value("payload length")));
    header.payload_len = 0;
    header.synced = header.position;
    assert_eq!(Header::decode(&header.encode()), Err(NoHeader::Value("synced position")));
}

#[test]
fn a_record_whose_operations_have_no_numbers_is_refused() {
    // Valid checksums, but the last sequence number would pass the end of its type.
    let mut payload = Vec::new();
    for value in [u64::from(u32::MAX), u64::MAX - 5, 0, 0] {
        vint::write(&mut payload, value);
    }
    let (mut header, _) = Header::decode(&batch(&[])).expect("just written");
    header.payload_len = payload.len() as u32;
    header.payload_checksum = checksum(&payload);
    header.record_count = 1;
    assert_eq!(header.records(&payload), None);
}

proptest! {
    #[test]
    fn written_is_read(
        parts in prop::collection::vec(
            (0..u64::MAX / 2, 0..1000u32, any::<u64>(), prop::collection::vec(any::<u8>(), 0..300)),
            0..20,
        ),
    ) {
        let records: Vec<Record> = parts
            .into_iter()
            .map(|(first_seq_no, count, mapping_version, payload)| Record {
                first_seq_no: SeqNo(first_seq_no), count, mapping_version, payload,
            })
            .collect();
        let (header, read) = read(&batch(&records)).expect("just written");
        prop_assert_eq!(read, records);
        let (again, _) = Header::decode(&header.encode()).expect("just written");
        prop_assert_eq!(again, header);
    }

    #[test]
    fn foreign_bytes_are_refused_or_read_never_more(bytes: Vec<u8>, valid_sum: bool) {
        let mut bytes = bytes;
        if valid_sum && bytes.len() >= HEADER_BYTES {
            bytes[..4].copy_from_slice(&MAGIC);
            bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
            let sum = checksum(&bytes[..124]).to_le_bytes();
            bytes[124..128].copy_from_slice(&sum);
        }
        let _ = read(&bytes);
    }

    #[test]
    fn foreign_payloads_with_a_right_checksum_are_refused_or_read(payload: Vec<u8>) {
        let (mut header, _) = Header::decode(&batch(&[])).expect("just written");
        header.payload_len = payload.len() as u32;
        header.payload_checksum = checksum(&payload);
        let _ = header.records(&payload);
    }
}
