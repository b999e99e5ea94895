//! Stored documents against a list of them.

use std::sync::Arc;

use base::{DocId, SegmentId};
use env::Bytes;
use proptest::prelude::*;

use super::*;
use crate::docmap::DocMap;
use crate::error::Error;
use crate::live::Live;
use crate::section::{Check, File, Missing};
use crate::steps::Steps;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;
use base::FieldNo;

fn sealed(sources: &[Vec<u8>]) -> Bytes {
    let mut writer = SegmentWriter::new(SegmentId(1), sources.len() as u32);
    writer.stored(sources.iter().map(Vec::as_slice)).unwrap();
    Bytes::from(writer.seal().unwrap())
}

fn stored_of(bytes: Bytes) -> Stored {
    Stored::open(&Arc::new(File::open(bytes, Check::Full).unwrap())).unwrap().unwrap()
}

fn damages(stored: &Stored) -> Vec<Error> {
    let mut damages = Vec::new();
    stored.verify(&mut |error| damages.push(error));
    damages
}

/// All that stored documents promise.
fn check(stored: &Stored, sources: &[Vec<u8>]) {
    assert_eq!(damages(stored), []);
    let mut reader = stored.reader();
    for (doc, source) in sources.iter().enumerate() {
        assert_eq!(reader.get(DocId(doc as u32)).unwrap(), source, "document {doc}");
    }
    for (doc, source) in sources.iter().enumerate().rev().step_by(37) {
        assert_eq!(&stored.get(DocId(doc as u32)).unwrap(), source, "document {doc}");
    }
}

/// A document that compresses like JSON does.
fn source(doc: usize, len: usize) -> Vec<u8> {
    let mut text = format!("{{\"id\":{doc},\"text\":\"");
    let mut state = doc as u64;
    while text.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        text.push_str(["shard ", "segment ", "view ", "refresh "][(state >> 60) as usize % 4]);
    }
    text.push_str("\"}");
    text.into_bytes()
}

fn sources() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let one = prop_oneof![
        4 => (any::<u16>(), 0usize..900).prop_map(|(doc, len)| source(doc.into(), len)),
        1 => Just(Vec::new()),
        1 => prop::collection::vec(any::<u8>(), 0..2000),
    ];
    prop::collection::vec(one, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn written_documents_are_read(sources in sources()) {
        check(&stored_of(sealed(&sources)), &sources);
    }

    #[test]
    fn merged_documents_are_the_kept_ones_in_order(
        inputs in prop::collection::vec((sources(), prop::collection::vec(any::<u32>(), 0..3)), 1..5),
    ) {
        let stored: Vec<Stored> = inputs.iter().map(|(sources, _)| stored_of(sealed(sources))).collect();
        let map = DocMap::new(inputs.iter().map(|(sources, dead)| {
            let count = sources.len() as u32;
            let dead = dead.iter().filter(|_| count > 0).map(|doc| DocId(doc % count.max(1)));
            (count, Some(Arc::new(Live::all(count).without(dead))))
        })).unwrap();
        let mut expected = Vec::new();
        for (number, (sources, _)) in inputs.iter().enumerate() {
            let kept = map.input(number).kept();
            expected.extend(kept.map(|(old, _)| sources[old.index()].clone()));
        }
        let mut writer = SegmentWriter::new(SegmentId(9), map.doc_count());
        let refs: Vec<Option<&Stored>> = stored.iter().map(Some).collect();
        merge::merge_stored(&mut writer, &refs, &map, &mut Steps::unwatched()).unwrap();
        check(&stored_of(Bytes::from(writer.seal().unwrap())), &expected);
    }

    #[test]
    fn damaged_blocks_with_right_checksums_never_panic(
        sources in sources(), at in any::<prop::sample::Index>(), byte: u8, head: bool,
    ) {
        let file = Arc::new(File::open(sealed(&sources), Check::Full).unwrap());
        let mut writer = SegmentWriter::new(SegmentId(1), sources.len() as u32);
        for kind in [SectionKind::StoredHead, SectionKind::StoredBody] {
            let mut bytes = file.section(kind, FieldNo(0)).unwrap().all().unwrap().to_vec();
            if kind.resident() == head && !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            writer.put(kind, FieldNo(0), &bytes);
        }
        let bytes = Bytes::from(writer.seal().unwrap());
        let file = Arc::new(File::open(bytes, Check::Full).unwrap());
        if let Ok(Some(stored)) = Stored::open(&file) {
            let _ = damages(&stored);
            let mut reader = stored.reader();
            for doc in 0..sources.len() as u32 {
                let _ = reader.get(DocId(doc));
            }
        }
    }
}

#[test]
fn the_example_of_the_head_holds() {
    let stored = stored_of(sealed(&[b"{}".to_vec(), Vec::new()]));
    assert_eq!(stored.block(0).unwrap(), ([2, 0, b'{', b'}'].as_slice(), 0));
}

#[test]
fn a_merge_without_deletes_copies_blocks_as_they_are() {
    let sources: Vec<Vec<u8>> = (0..4000).map(|doc| source(doc, 300)).collect();
    let one = stored_of(sealed(&sources));
    let map = DocMap::new([(4000, None), (4000, None)]).unwrap();
    let mut writer = SegmentWriter::new(SegmentId(9), 8000);
    let steps = &mut Steps::unwatched();
    merge::merge_stored(&mut writer, &[Some(&one), Some(&one)], &map, steps).unwrap();
    let merged = stored_of(Bytes::from(writer.seal().unwrap()));
    let full = one.block_count() - 1;
    for block in 0..full {
        assert_eq!(merged.block(block).unwrap(), one.block(block).unwrap());
        // The last block of the first input is small, and stands before the second's as it was.
        let again = merged.block_count() - one.block_count() + block;
        assert_eq!(merged.block(again).unwrap(), one.block(block).unwrap());
    }
}

#[test]
fn small_blocks_of_many_segments_do_not_survive_their_merge() {
    let inputs: Vec<Stored> = (0..50).map(|n| stored_of(sealed(&[source(n, 900)]))).collect();
    let map = DocMap::new(inputs.iter().map(|_| (1, None))).unwrap();
    let mut writer = SegmentWriter::new(SegmentId(9), 50);
    let refs: Vec<Option<&Stored>> = inputs.iter().map(Some).collect();
    merge::merge_stored(&mut writer, &refs, &map, &mut Steps::unwatched()).unwrap();
    let merged = stored_of(Bytes::from(writer.seal().unwrap()));
    assert_eq!(merged.block_count(), 3);
}

#[test]
fn inputs_without_sources_keep_their_documents() {
    let one = stored_of(sealed(&[b"{}".to_vec()]));
    let map = DocMap::new([(2, None), (1, None)]).unwrap();
    let mut writer = SegmentWriter::new(SegmentId(9), 3);
    merge::merge_stored(&mut writer, &[None, Some(&one)], &map, &mut Steps::unwatched()).unwrap();
    let merged = stored_of(Bytes::from(writer.seal().unwrap()));
    check(&merged, &[Vec::new(), Vec::new(), b"{}".to_vec()]);
}

#[test]
fn a_document_needs_the_pages_of_its_block_alone() {
    let sources: Vec<Vec<u8>> = (0..400u32)
        .map(|doc| doc.to_le_bytes().iter().cycle().take(900).copied().collect())
        .collect();
    let file = Arc::new(File::missing_once(sealed(&sources)).unwrap());
    let stored = Stored::open(&file).unwrap().unwrap();
    let mut missing = Missing::new();
    stored.need(DocId(399), &mut missing).unwrap();
    assert!(!missing.is_empty());
    missing.fetch();
    assert_eq!(&stored.get(DocId(399)).unwrap(), &sources[399]);
}
