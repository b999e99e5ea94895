//! Stories of the manifest: slots, bytes pinned, hostile bytes.

use super::*;
use proptest::prelude::*;

fn example() -> Manifest {
    Manifest {
        generation: 5,
        shard: ShardId { index: *b"0123456789abcdef", number: 2 },
        clean: true,
        primary_term: PrimaryTerm(3),
        log_index: 77,
        seq_no_next: SeqNo(1000),
        mapping_version: 4,
        segment_next: SegmentId(9),
        segments: vec![
            SegmentFile {
                id: SegmentId(8),
                len_bytes: 70_000,
                checksum: 0xdead_beef,
                doc_count: 300,
                live: Some(LiveFile { generation: 2, len_bytes: 60, checksum: 7 }),
            },
            SegmentFile {
                id: SegmentId(3),
                len_bytes: 4096,
                checksum: 1,
                doc_count: 1,
                live: None,
            },
        ],
        tombstones: Tombstone::all(vec![Tombstone {
            age_ms: 59_000,
            seq_no: SeqNo(999),
            term: PrimaryTerm(3),
            version: 12,
            id: "gone ✓".to_owned(),
        }]),
    }
}

/// The deletes of a manifest whose place another took held a core for 50 ms, and so did a copy of them.
#[test]
fn many_deletes_are_shared_and_go_elsewhere() {
    let left = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = std::rc::Rc::clone(&left);
    env::leftovers::take_by(move |_| count.set(count.get() + 1));
    for (deletes, much) in [(10_000, 1), (10, 0)] {
        let one = example().tombstones[0].clone();
        let large = Manifest { tombstones: Tombstone::all(vec![one; deletes]), ..example() };
        let lent = large.clone();
        assert!(Arc::ptr_eq(&lent.tombstones, &large.tombstones));
        drop(large);
        assert_eq!(left.get(), 0);
        drop(lent);
        assert_eq!(left.replace(0), much, "{deletes}");
    }
}

/// Puts length and checksum right, so that what lies between is judged by itself.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - CHECKSUM_BYTES);
    let len = (bytes.len() + CHECKSUM_BYTES) as u64;
    bytes[8..16].copy_from_slice(&len.to_le_bytes());
    let sum = checksum(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn golden_manifest_reads_and_writes_the_same() {
    let golden = include_bytes!("../../tests/data/manifest-1.bin");
    assert_eq!(example().encode(), golden);
    assert_eq!(Manifest::decode(golden), Ok(example()));
}

#[test]
fn each_flipped_bit_is_noticed() {
    let bytes = example().encode();
    for bit in 0..bytes.len() * 8 {
        let mut bad = bytes.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(Manifest::decode(&bad).is_err(), "bit {bit}");
    }
    for len in 0..bytes.len() {
        assert!(Manifest::decode(&bytes[..len]).is_err(), "{len}");
    }
}

#[test]
fn newer_format_is_named_whatever_follows() {
    let mut bytes = example().encode();
    bytes[4] = 2;
    assert_eq!(Manifest::decode(&bytes), Err(ManifestError::Format(2)));
}

#[test]
fn segment_above_the_next_number_or_named_twice_is_refused() {
    let mut above = example();
    above.segments[0].id = SegmentId(8);
    let bytes = above.encode();
    let mut bad = bytes.clone();
    bad[76] = 8;
    assert!(Manifest::decode(&resealed(bad)).is_err());
    let mut twice = example();
    twice.segments[1].id = SegmentId(8);
    assert!(Manifest::decode(&twice.encode()).is_err());
}

proptest! {
    #[test]
    fn foreign_bodies_with_right_checksums_never_panic(
        at in 0usize..200, tail in prop::collection::vec(any::<u8>(), 0..60), cut: bool,
    ) {
        let mut bytes = example().encode();
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at.max(HEAD_BYTES));
        }
        bytes.extend_from_slice(&tail);
        bytes.extend_from_slice(&[0; CHECKSUM_BYTES]);
        let bytes = resealed(bytes);
        if let Ok(manifest) = Manifest::decode(&bytes) {
            prop_assert_eq!(Manifest::decode(&manifest.encode()), Ok(manifest));
        }
    }

    #[test]
    fn foreign_bytes_never_panic(bytes: Vec<u8>) {
        let _ = Manifest::decode(&bytes);
    }

    #[test]
    fn changed_bytes_with_right_checksums_never_panic(at in HEAD_BYTES..200, byte: u8) {
        let mut bytes = example().encode();
        let at = at % bytes.len();
        bytes[at.max(HEAD_BYTES)] = byte;
        let _ = Manifest::decode(&resealed(bytes));
    }
}
