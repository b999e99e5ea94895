//! The bytes that tell the order of a sorted segment do not drift.
//!
//! `data/order-2.segment` was written by [`write`] of this very file when the format was at version 2;
//! if this test fails, either the change was not meant, or the version in `footer` must rise. To write
//! it: `GOLDEN=write cargo test -p corelode-segment --test golden_order -- --test-threads 1`.
//!
//! Its `-rotten` twin has one bit of the section turned.

use std::path::PathBuf;

use base::{DocId, FieldNo, SegmentId};
use env::Bytes;
use segment::verify::verify;
use segment::{Check, SectionKind, Segment, SegmentWriter, SortColumn, SortKey, SortOrder};

const ID: SegmentId = SegmentId(42);

/// The first key of each document, greatest first; the last has none.
const NUMBERS: [Option<i64>; 5] = [Some(9), Some(4), Some(4), Some(-1), None];
/// The second key, least first.
const RANKS: [u32; 5] = [1, 0, 1, 0, 0];

fn order() -> SortOrder {
    let number = SortKey {
        field: FieldNo(16),
        column: SortColumn::Numbers,
        descending: true,
        greatest: true,
        missing_first: false,
    };
    let term = SortKey {
        field: FieldNo(17),
        column: SortColumn::Terms,
        descending: false,
        greatest: false,
        missing_first: true,
    };
    SortOrder::new([number, term]).expect("two keys")
}

/// The golden segment.
fn write() -> Vec<u8> {
    let mut writer = SegmentWriter::new(ID, NUMBERS.len() as u32);
    writer.order(&order());
    let ids: Vec<String> = (0..NUMBERS.len()).map(|doc| format!("{doc:04}")).collect();
    let docs = (0..).map(DocId);
    writer.ids(ids.iter().map(String::as_bytes).zip(docs)).expect("ids rise");
    let numbers: Vec<(DocId, i64)> = NUMBERS
        .iter()
        .zip(0..)
        .filter_map(|(number, doc)| Some((DocId(doc), (*number)?)))
        .collect();
    writer.numeric(FieldNo(16), &numbers);
    let ranks: Vec<(DocId, base::Ord)> =
        RANKS.iter().zip(0..).map(|(rank, doc)| (DocId(doc), base::Ord(*rank))).collect();
    writer.ordinals(FieldNo(17), [&b"a"[..], b"b"], &ranks).expect("terms rise");
    writer.seal().expect("a small segment")
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).expect("the golden file")
}

/// Where the section lies in the file.
fn section_offset(file: &[u8]) -> usize {
    let segment = Segment::open(ID, Bytes::from(file.to_vec()), Check::Full).expect("a segment");
    let entry = segment.file().entries().iter().find(|entry| entry.kind == SectionKind::Order);
    entry.expect("the section").offset as usize
}

#[test]
fn golden_file_is_written_as_ever() {
    let file = write();
    if std::env::var_os("GOLDEN").is_some() {
        std::fs::write(path("order-2.segment"), &file).expect("a file");
        let mut rotten = file.clone();
        rotten[section_offset(&file) + 5] ^= 1;
        std::fs::write(path("order-2-rotten.segment"), rotten).expect("a file");
    }
    assert!(file == golden("order-2.segment"), "other bytes");
}

#[test]
fn golden_file_reads_as_it_was_written() {
    let file = Bytes::from(golden("order-2.segment"));
    assert_eq!(verify(ID, file.clone()), []);
    let segment = Segment::open(ID, file, Check::Full).expect("a segment");
    assert_eq!(segment.order(), Some(&order()));
    let section = segment.section(SectionKind::Order, FieldNo(0)).expect("sorted");
    let expected = [16, 0, 0, 0, 0, 3, 0, 0, 17, 0, 0, 0, 1, 4, 0, 0];
    assert_eq!(section.all().expect("sound"), expected);
}

#[test]
fn rotten_twin_is_told() {
    let damages = verify(ID, Bytes::from(golden("order-2-rotten.segment")));
    let names = |damage: &segment::verify::Damage| {
        damage.sections.iter().any(|(kind, _)| *kind == SectionKind::Order)
    };
    assert!(damages.iter().any(names), "{damages:?}");
}
