//! Segments of older versions, as they lie with whoever wrote them, are read and judged as before; and what
//! version 2 is there for.

use std::path::PathBuf;

use base::{FieldNo, Ord, SegmentId};
use env::Bytes;
use segment::footer::{self, FileKind, LEN};
use segment::verify::verify;
use segment::{Check, Segment, SegmentWriter};

const GOLDEN: [&str; 4] = ["text", "columns", "order", "parents"];

fn golden(name: &str) -> Bytes {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    Bytes::from(std::fs::read(data.join(name)).expect("golden file is there"))
}

#[test]
fn segments_of_version_1_are_read_and_their_damage_is_found() {
    for name in GOLDEN {
        let whole = golden(&format!("{name}-1.segment"));
        let footer = footer::open(&whole, FileKind::Segment).expect("version 1 is known");
        assert_eq!(footer.version, 1, "{name}");
        Segment::open(footer.id, whole.clone(), Check::Full).expect("it is whole");
        assert_eq!(verify(footer.id, whole), [], "{name}");
        let rotten = golden(&format!("{name}-1-rotten.segment"));
        assert_ne!(verify(footer.id, rotten.clone()), [], "{name}");
        assert!(Segment::open(footer.id, rotten, Check::Full).is_err(), "{name}");
    }
}

#[test]
fn columns_with_whole_first_terms_are_read_and_their_damage_is_found() {
    let whole = golden("columns-2.segment");
    let footer = footer::open(&whole, FileKind::Segment).expect("version 2 is known");
    assert_eq!(footer.version, 2);
    let segment = Segment::open(footer.id, whole.clone(), Check::Full).expect("it is whole");
    let mut terms = segment.ordinals(FieldNo(30)).expect("it is whole").terms();
    for rank in 0..300 {
        let term = format!("a prefix that is shared {rank:04}");
        assert_eq!(terms.lookup(term.as_bytes()), Ok(Ok(Ord(rank))));
    }
    assert_eq!(verify(footer.id, whole), []);
    assert_ne!(verify(footer.id, golden("columns-2-rotten.segment")), []);
}

/// The checksum by which the manifest tells one file from another of its length was that of bytes
/// with their own checksum behind them, which is the same for all bytes.
#[test]
fn other_documents_have_another_checksum() {
    let mut seen = std::collections::BTreeSet::new();
    let mut lengths = std::collections::BTreeSet::new();
    for number in 0..50u8 {
        let mut writer = SegmentWriter::new(SegmentId(1), 1);
        let source = format!(r#"{{"n":"{}"}}"#, char::from(b'0' + number));
        writer.stored([source.as_bytes()]).expect("a short source");
        let bytes = writer.seal().expect("sealed in memory");
        lengths.insert(bytes.len());
        seen.insert(footer::open(&bytes, FileKind::Segment).expect("sealed").body_checksum);
        let mut other = bytes.clone();
        let at = other.len() - LEN - 1;
        other[at] ^= 1;
        let footer = footer::open(&other, FileKind::Segment).expect("the footer is whole");
        assert!(Segment::open(footer.id, Bytes::from(other), Check::Full).is_err(), "{footer:?}");
    }
    assert_eq!(lengths.len(), 1, "all are of one length");
    assert_eq!(seen.len(), 50);
}
