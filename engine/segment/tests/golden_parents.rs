//! The bytes that tell which documents are nested do not drift.
//!
//! `data/parents-2.segment` was written by [`write`] of this very file when the format was at version
//! 2; if this test fails, either the change was not meant, or the version in `footer` must rise. To
//! write it: `GOLDEN=write cargo test -p corelode-segment --test golden_parents -- --test-threads 1`.
//!
//! Its `-rotten` twin has one bit of the section turned.

use std::path::PathBuf;
use std::sync::Arc;

use base::{DocId, FieldNo, SegmentId};
use env::Bytes;
use segment::verify::verify;
use segment::{Check, Live, SectionKind, Segment, SegmentWriter, View};

const ID: SegmentId = SegmentId(42);

/// Documents in each block: as many as its number, the last stands for itself.
const BLOCKS: [u32; 6] = [1, 3, 1, 64, 1, 2];

/// The documents that stand for themselves.
fn parents() -> Vec<DocId> {
    let mut next = 0;
    let ends = BLOCKS.iter().map(|len| {
        next += len;
        DocId(next - 1)
    });
    ends.collect()
}

/// The golden segment.
fn write() -> Vec<u8> {
    let mut writer = SegmentWriter::new(ID, BLOCKS.iter().sum());
    let parents = parents();
    let ids: Vec<String> = parents.iter().map(|doc| format!("{:04}", doc.get())).collect();
    let ids = ids.iter().map(String::as_bytes).zip(parents.iter().copied());
    writer.ids(ids).expect("ids rise");
    writer.parents(parents.iter().copied());
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
    let entry = segment.file().entries().iter().find(|entry| entry.kind == SectionKind::Parents);
    entry.expect("the section").offset as usize
}

#[test]
fn golden_file_is_written_as_ever() {
    let file = write();
    if std::env::var_os("GOLDEN").is_some() {
        std::fs::write(path("parents-2.segment"), &file).expect("a file");
        let mut rotten = file.clone();
        rotten[section_offset(&file)] ^= 1 << 2;
        std::fs::write(path("parents-2-rotten.segment"), rotten).expect("a file");
    }
    assert!(file == golden("parents-2.segment"), "other bytes");
}

#[test]
fn golden_file_reads_as_it_was_written() {
    let file = Bytes::from(golden("parents-2.segment"));
    assert_eq!(verify(ID, file.clone()), []);
    let segment = Segment::open(ID, file, Check::Full).expect("a segment");
    let found = segment.parents().expect("nested documents");
    let own: Vec<DocId> = (0..segment.doc_count()).map(DocId).filter(|d| found.has(*d)).collect();
    assert_eq!(own, parents());
    assert_eq!(segment.section(SectionKind::Parents, FieldNo(0)).map(|it| it.len()), Some(16));
    for (doc, len) in parents().into_iter().zip(BLOCKS) {
        assert_eq!(segment.block(doc).count() as u32, len);
    }
    let gone = Live::all(segment.doc_count()).without(segment.block(DocId(68)));
    let view = View::new(1, [(segment, Some(Arc::new(gone)))]).expect("a view");
    assert_eq!(view.doc_count as usize, BLOCKS.len() - 1);
}

#[test]
fn rotten_twin_is_told() {
    let file = Bytes::from(golden("parents-2-rotten.segment"));
    let damages = verify(ID, file);
    let names = |damage: &segment::verify::Damage| {
        damage.sections.iter().any(|(kind, _)| *kind == SectionKind::Parents)
    };
    assert!(damages.iter().any(names), "{damages:?}");
}
