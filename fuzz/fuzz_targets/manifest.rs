//! Manifests and log frames from foreign bytes: refused, or read and written again as the same.
//!
//! An even first byte: the rest as it stands. An odd one: with length and checksum put right, so
//! that the fuzzer gets past them. From 128 on the rest is a log record's payload.
#![no_main]

use base::SeqNo;
use base::checksum::checksum;
use libfuzzer_sys::fuzz_target;
use shard::frame::Frame;
use shard::manifest::Manifest;
use wal::Record;

fuzz_target!(init: base::hash::fix_seed(), |input: &[u8]| {
    let Some((&mode, rest)) = input.split_first() else { return };
    if mode >= 128 {
        let record = Record {
            first_seq_no: SeqNo(7),
            count: u32::from(mode) - 128,
            mapping_version: 1,
            payload: rest.to_vec(),
        };
        let _ = Frame::decode(record);
        return;
    }
    let mut bytes = rest.to_vec();
    if mode % 2 == 1 && bytes.len() >= 88 {
        bytes[..4].copy_from_slice(b"CLMF");
        bytes[4..8].copy_from_slice(&[1, 0, mode >> 1 & 1, 0]);
        let len = bytes.len() as u64;
        bytes[8..16].copy_from_slice(&len.to_le_bytes());
        let body = bytes.len() - 4;
        let sum = checksum(&bytes[..body]);
        bytes[body..].copy_from_slice(&sum.to_le_bytes());
    }
    if let Ok(manifest) = Manifest::decode(&bytes) {
        assert_eq!(Manifest::decode(&manifest.encode()), Ok(manifest), "written, read, equal");
    }
});
