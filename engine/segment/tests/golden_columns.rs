//! The bytes of columns, points, stored documents and live documents do not drift.
//!
//! `data/columns-4.segment` and `data/live-1.live` were written by [`write`] and [`live`] of this
//! very file when the format was at version 4 (`columns-2.segment` when it was at 2, with whole first terms as keys). Files of users look like them: if this test fails,
//! either the change was not meant, or the version in `footer` must rise, and new golden files be
//! put beside under new names. To write them:
//! `GOLDEN=write cargo test -p corelode-segment --test golden_columns -- --test-threads 1`.
//! (A new zstd may compress otherwise; then reading still passes, and the files may be written anew
//! under their names.)
//!
//! The `-rotten` twins have one bit turned: in a value of a column, and in a deleted document.

use std::path::PathBuf;

use base::{DocId, FieldNo, Ord, SegmentId};
use env::Bytes;
use segment::bkd::{Bounds, DocList, Points, Shape};
use segment::columns::{WINDOW, WINDOW_WORDS};
use segment::verify::verify;
use segment::writer::TermBlocks;
use segment::{Check, Error, Live, SectionKind, Segment, SegmentWriter};

const ID: SegmentId = SegmentId(42);

/// A full window, and one of 904 documents.
const DOC_COUNT: u32 = 5000;

/// A column that takes more than two pages.
const WIDE: FieldNo = FieldNo(19);

/// A field, and the values of a document there.
type Column = (FieldNo, fn(u32) -> Vec<i64>);

/// A column of numbers in each form of values and of presence.
const COLUMNS: [Column; 6] = [
    // A line in all documents, as sequence numbers are.
    (FieldNo(1), |doc| vec![i64::from(doc) + 7]),
    // One value in few documents.
    (FieldNo(16), |doc| if doc % 100 == 3 { vec![-1] } else { Vec::new() }),
    // Distances in every third document: whole days.
    (FieldNo(17), |doc| {
        if doc.is_multiple_of(3) {
            vec![86_400_000 * i64::from(doc * doc % 365)]
        } else {
            Vec::new()
        }
    }),
    // A table of far-apart values, several a document.
    (FieldNo(18), |doc| {
        let mut values = vec![[3, 1 << 40, -(1 << 50)][doc as usize % 3]; 1 + doc as usize % 2];
        values.extend(doc.is_multiple_of(5).then_some(i64::MAX));
        values
    }),
    // Wide values, in the first window only.
    (WIDE, |doc| {
        let value = i64::from(doc).wrapping_mul(0x5851_f42d_4c95_7f2d);
        if doc < 1200 { vec![value] } else { Vec::new() }
    }),
    // In the last document only.
    (FieldNo(20), |doc| if doc == DOC_COUNT - 1 { vec![0] } else { Vec::new() }),
];

const TAG: FieldNo = FieldNo(30);
const SKETCH: FieldNo = FieldNo(31);
const PRICE: FieldNo = FieldNo(32);
const PLACE: FieldNo = FieldNo(33);

fn tag(rank: u32) -> String {
    format!("a prefix that is shared {rank:04}")
}

/// The tags of a document, by rank; there are 300.
fn tags(doc: u32) -> Vec<u32> {
    let mut tags: Vec<u32> = (0..doc % 3).map(|at| (doc / 3 + at * 77) % 300).collect();
    tags.sort_unstable();
    tags
}

fn sketch(doc: u32) -> Option<Vec<u8>> {
    doc.is_multiple_of(7).then(|| doc.to_le_bytes().repeat(doc as usize % 4))
}

fn price(doc: u32) -> i64 {
    i64::from(doc % 250) - 100
}

fn place(doc: u32) -> [u8; 6] {
    let [a, b, ..] = (doc * 7919 % 5003).to_be_bytes().map(|byte| byte.rotate_left(3));
    [0, b, a, (doc % 50) as u8, 1, (doc / 100) as u8]
}

fn place_shape() -> Shape {
    Shape::new(2, 3).expect("a legal shape")
}

fn source(doc: u32) -> Vec<u8> {
    if doc % 50 == 9 { Vec::new() } else { format!("{{\"n\":{}}}", doc % 10).into_bytes() }
}

/// The golden segment.
fn write() -> Vec<u8> {
    let mut writer = SegmentWriter::new(ID, DOC_COUNT).merged(3, TermBlocks::Zstd);
    let docs = || (0..DOC_COUNT).map(|doc| (doc, DocId(doc)));
    for (field, values) in COLUMNS {
        let values: Vec<_> = docs()
            .flat_map(|(doc, at)| {
                let mut values = values(doc);
                values.sort_unstable();
                values.into_iter().map(move |value| (at, value))
            })
            .collect();
        writer.numeric(field, &values);
    }
    let terms: Vec<String> = (0..300).map(tag).collect();
    let ords: Vec<_> =
        docs().flat_map(|(doc, at)| tags(doc).into_iter().map(move |tag| (at, Ord(tag)))).collect();
    writer.ordinals(TAG, terms.iter().map(String::as_bytes), &ords).expect("short terms");
    let sketches: Vec<_> = docs().filter_map(|(doc, at)| Some((at, sketch(doc)?))).collect();
    let sketches = sketches.iter().map(|(at, sketch)| (*at, sketch.as_slice()));
    writer.binary(SKETCH, sketches);
    let mut prices = Points::new(Shape::LONG);
    let mut places = Points::new(place_shape());
    for (doc, at) in docs() {
        prices.push_long(price(doc), at);
        places.push(&place(doc), at);
    }
    writer.points(PRICE, prices);
    writer.points(PLACE, places);
    let sources: Vec<Vec<u8>> = (0..DOC_COUNT).map(source).collect();
    writer.stored(sources.iter().map(Vec::as_slice)).expect("short sources");
    writer.seal().expect("sealed in memory")
}

/// The golden live documents: half dead, so bits; a second file has few dead, so gaps.
fn live() -> [(&'static str, Live); 2] {
    let all = Live::all(DOC_COUNT);
    [
        ("live-1-bits", all.without((0..DOC_COUNT).filter(|doc| doc.is_multiple_of(2)).map(DocId))),
        ("live-1-gaps", all.without([5, 6, 4000, DOC_COUNT - 1].map(DocId))),
    ]
}

/// The file `name` of `data`; where asked to, first written with `bytes`.
fn golden(name: &str, bytes: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    if std::env::var("GOLDEN").is_ok_and(|wish| wish == "write") {
        std::fs::write(&path, bytes()).expect("data folder is writable");
    }
    std::fs::read(&path).expect("golden file is there")
}

#[test]
fn what_is_written_is_the_golden_file() {
    let golden = golden("columns-4.segment", write);
    assert!(golden == write(), "the format drifted: see the head of this test");
    assert_eq!(verify(ID, Bytes::from(golden)), []);
}

#[test]
fn golden_columns_are_read() {
    let bytes = Bytes::from(golden("columns-4.segment", write));
    let segment = Segment::open(ID, bytes, Check::Full).expect("golden");
    for (field, values) in COLUMNS {
        let column = segment.numeric(field).expect("golden");
        for doc in 0..DOC_COUNT {
            let mut expected = values(doc);
            expected.sort_unstable();
            let mut found = Vec::new();
            column.values(DocId(doc), &mut found);
            assert_eq!(found, expected, "field {field}, document {doc}");
        }
    }
    let column = segment.ordinals(TAG).expect("golden");
    let mut terms = column.terms();
    for rank in 0..300 {
        assert_eq!(terms.term(Ord(rank)).expect("golden"), tag(rank).as_bytes());
    }
    let mut sketches = segment.binary(SKETCH).expect("golden").reader();
    let mut stored = segment.stored().expect("golden").reader();
    for doc in 0..DOC_COUNT {
        let mut found = Vec::new();
        column.values(DocId(doc), &mut found);
        assert!(found.iter().map(|ord| ord.get()).eq(tags(doc)));
        assert_eq!(sketches.get(DocId(doc)).expect("golden").map(<[u8]>::to_vec), sketch(doc));
        assert_eq!(stored.get(DocId(doc)).expect("golden"), source(doc));
    }
}

#[test]
fn golden_points_are_found() {
    let bytes = Bytes::from(golden("columns-4.segment", write));
    let segment = Segment::open(ID, bytes, Check::Lazy).expect("golden");
    let find = |field, bounds: Bounds| {
        let mut list = DocList::default();
        segment.points(field).expect("golden").visit(&bounds, &mut list).expect("golden");
        list.sorted()
    };
    let expected = (0..DOC_COUNT).filter(|doc| (-7..=99).contains(&price(*doc)));
    assert!(find(PRICE, Bounds::longs(-7..=99)).into_iter().eq(expected));
    let bounds = Bounds::new(place_shape(), &[0, 0, 0, 10, 0, 5], &[0, 99, 0, 30, 1, 20]);
    let expected = (0..DOC_COUNT).filter(|doc| bounds.contains(&place(*doc)));
    assert!(find(PLACE, bounds).into_iter().eq(expected));
}

#[test]
fn the_rotten_twin_is_told() {
    // One bit in the middle of the widest column, where its page holds nothing else.
    let rot = || {
        let mut bytes = write();
        let segment = Segment::open(ID, Bytes::from(bytes.clone()), Check::Lazy).expect("whole");
        let body = segment.section(SectionKind::NumericBody, WIDE).expect("written");
        bytes[body.entry().offset as usize + 4800] ^= 4;
        bytes
    };
    let bytes = Bytes::from(golden("columns-4-rotten.segment", rot));
    assert!(Segment::open(ID, bytes.clone(), Check::Full).is_err());
    let damages = verify(ID, bytes.clone());
    let told =
        damages.iter().any(|damage| damage.sections.contains(&(SectionKind::NumericBody, WIDE)));
    assert!(told, "{damages:?}");
    // Opened for queries, the damage is met when the window is read, and then it is known.
    let segment = Segment::open(ID, bytes, Check::Lazy).expect("heads are whole");
    assert_eq!(segment.fault(), None);
    let column = segment.numeric(WIDE).expect("golden");
    let mut values = Box::new([0; WINDOW as usize]);
    let mut presence = [0; WINDOW_WORDS];
    column.fill(0, &mut values, &mut presence);
    assert_eq!(presence, [0; WINDOW_WORDS], "a damaged window has no values");
    assert!(matches!(segment.fault(), Some(Error::Checksum { .. })));
}

#[test]
fn golden_live_documents_are_read() {
    for (name, live) in live() {
        let bytes = golden(&format!("{name}.live"), || live.encode(ID, 9));
        assert_eq!(bytes, live.encode(ID, 9), "the format drifted: see the head of this test");
        assert_eq!(Live::decode(&bytes, ID, DOC_COUNT), Ok((live, 9)));
        let rot = || {
            let mut bytes = bytes.clone();
            bytes[20] ^= 1;
            bytes
        };
        let rotten = golden(&format!("{name}-rotten.live"), rot);
        let answer = Live::decode(&rotten, ID, DOC_COUNT);
        assert!(matches!(answer, Err(Error::Checksum { .. })), "{answer:?}");
    }
}
