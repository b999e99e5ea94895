//! Each kind of file, made by its own writer, is told in words.

use base::{PrimaryTerm, SegmentId, SeqNo, ShardId};
use consensus::snapshot::Head;
use shard::manifest::{LiveFile, SegmentFile, Tombstone};
use wal::LogPosition;

use super::*;

fn shown(bytes: Vec<u8>) -> Shown {
    show(Path::new("some-file"), bytes, &Look::default())
}

fn fact(value: &Value, name: &str) -> String {
    value.get(name).map_or_else(|| panic!("no {name} in {value:?}"), json::to_string)
}

#[test]
fn a_manifest_names_its_segments() {
    let manifest = Manifest {
        generation: 7,
        shard: ShardId { index: [3; 16], number: 2 },
        clean: true,
        primary_term: PrimaryTerm(4),
        log_index: 99,
        seq_no_next: SeqNo(1000),
        mapping_version: 5,
        segment_next: SegmentId(9),
        segments: vec![SegmentFile {
            id: SegmentId(8),
            len_bytes: 4096,
            checksum: 0xabcd,
            doc_count: 12,
            live: Some(LiveFile { generation: 1, len_bytes: 64, checksum: 1 }),
        }],
        tombstones: Tombstone::all(Vec::new()),
    };
    let value = shown(manifest.encode()).expect("readable");
    assert_eq!(fact(&value, "kind"), "\"manifest\"");
    assert_eq!((fact(&value, "generation"), fact(&value, "clean")), ("7".into(), "true".into()));
    let text = words::of(&value);
    assert!(text.contains("segments: 1\n"), "{text}");
    assert!(text.contains("0000abcd"), "{text}");
    let mut bytes = manifest.encode();
    bytes[20] ^= 1;
    assert!(shown(bytes).is_err(), "a damaged one is not told");
}

#[test]
fn a_state_file_tells_whose_it_is() {
    let mut index = [0; 16];
    index[..5].copy_from_slice(b"authz");
    let format = <authz::State as consensus::State>::FORMAT;
    let head =
        Head { format, applied: 3, position: LogPosition(8), id: ShardId { index, number: 0 } };
    let mut form = Vec::new();
    consensus::State::encode(&authz::State::default(), &mut form);
    let value =
        shown(snapshot::write(&head, |out| out.extend_from_slice(&form))).expect("readable");
    assert_eq!(fact(&value, "of"), "\"authz\"");
    assert_eq!(fact(&value, "commands_applied"), "3");
    assert!(words::of(&value).contains("  grants: 0"), "{}", words::of(&value));
    assert!(
        shown(snapshot::write(&head, |out| out.extend_from_slice(&form))[..20].to_vec()).is_err()
    );
    assert!(
        shown(snapshot::write(&head, |out| out.extend_from_slice(b"nothing"))).is_err(),
        "its form is not read"
    );
}

#[test]
fn foreign_bytes_are_refused_in_a_sentence() {
    for bytes in [&b""[..], b"CLwf", b"CLst", b"CLMF", b"hello", &[0; 5000]] {
        let error = shown(bytes.to_vec()).expect_err("no file of ours");
        assert!(!error.0.is_empty());
    }
}

/// A file of 40 GB that is none of a store was read before it was looked at: no answer in twenty seconds.
#[test]
fn a_file_larger_than_any_is_refused_by_its_ends() {
    let dir = std::env::temp_dir().join(format!("corelode-inspect-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    for head in [&b"CLwf"[..], b"CLst", b"CLMF", b"\0\0\0\0"] {
        let path = dir.join("sparse");
        let file = File::create(&path).expect("a file");
        file.write_all_at(head, 0).expect("its head");
        file.set_len(1 << 40).expect("no bytes of the disk");
        let error = read(&path).expect_err("no file of ours");
        assert!(!error.0.is_empty());
    }
    assert!(read(&dir).is_err(), "a folder");
    let manifest = dir.join("manifest");
    std::fs::write(&manifest, b"CLMF and more").expect("written");
    assert_eq!(read(&manifest).expect("read"), b"CLMF and more");
    std::fs::remove_dir_all(&dir).expect("removed");
}
