//! Stored documents against a list of them.

use std::sync::{Arc, OnceLock};

use base::{DocId, SegmentId};
use env::Bytes;
use proptest::prelude::*;

use super::reader::Form;
use super::*;
use crate::bytes::zblock::Dictionary;
use crate::docmap::DocMap;
use crate::error::Error;
use crate::footer;
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

fn sealed_with(sources: &[Vec<u8>], dictionary: Option<&Dictionary>) -> Bytes {
    let mut writer = SegmentWriter::new(SegmentId(1), sources.len() as u32);
    let bytes = sources.iter().map(|source| source.len() as u64).sum();
    let all = || sources.iter().map(Vec::as_slice);
    writer.stored_with(all(), for_sources(all(), bytes, dictionary).as_ref()).unwrap();
    Bytes::from(writer.seal().unwrap())
}

/// Merges with this dictionary, or one that is trained.
fn merged(inputs: &[Option<&Stored>], map: &DocMap, dictionary: Option<&Dictionary>) -> Stored {
    let mut writer = SegmentWriter::new(SegmentId(9), map.doc_count());
    merge::merge_stored(&mut writer, inputs, map, dictionary, &mut Steps::unwatched()).unwrap();
    stored_of(Bytes::from(writer.seal().unwrap()))
}

/// A segment's worth of documents for a dictionary.
fn many() -> Vec<Vec<u8>> {
    (0..6000).map(|doc| source(doc, 300)).collect()
}

/// The dictionary that a merge makes of such documents.
fn dictionary() -> Dictionary {
    let one = stored_of(sealed(&many()));
    let map = DocMap::new([(6000, None)]).unwrap();
    merged(&[Some(&one)], &map, None).dictionary().expect("they have much in common").clone()
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
        let refs: Vec<Option<&Stored>> = stored.iter().map(Some).collect();
        check(&merged(&refs, &map, None), &expected);
    }

    #[test]
    fn damaged_blocks_with_right_checksums_never_panic(
        sources in sources(), at in any::<prop::sample::Index>(), byte: u8, head: bool,
    ) {
        damage(sealed(&sources), sources.len() as u32, at, byte, head);
    }

    #[test]
    fn damaged_dictionaries_with_right_checksums_never_panic(
        at in any::<prop::sample::Index>(), byte: u8, head: bool,
    ) {
        static SEALED: OnceLock<Bytes> = OnceLock::new();
        let sealed = SEALED.get_or_init(|| sealed_with(&many(), Some(&dictionary()))).clone();
        damage(sealed, 6000, at, byte, head);
    }
}

/// Reads all, after this byte of a section has changed.
fn damage(sealed: Bytes, count: u32, at: prop::sample::Index, byte: u8, head: bool) {
    let file = Arc::new(File::open(sealed, Check::Full).unwrap());
    let mut writer = SegmentWriter::new(SegmentId(1), count);
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
        for doc in 0..count {
            let _ = reader.get(DocId(doc));
        }
    }
}

#[test]
fn the_example_of_the_head_holds() {
    let stored = stored_of(sealed(&[b"{}".to_vec(), Vec::new()]));
    assert_eq!(stored.block(0).unwrap(), ([2, 0, b'{', b'}'].as_slice(), Form::Plain));
}

#[test]
fn a_merge_without_deletes_copies_blocks_as_they_are() {
    let few: Vec<Vec<u8>> = (0..800).map(|doc| source(doc, 300)).collect();
    let dictionary = dictionary();
    for (sources, dictionary) in [(few, None), (many(), Some(&dictionary))] {
        let one = stored_of(sealed_with(&sources, dictionary));
        assert_eq!((one.dictionary(), one.inherits()), (dictionary, dictionary.is_some()));
        let count = sources.len() as u32;
        let map = DocMap::new([(count, None), (count, None)]).unwrap();
        let merged = merged(&[Some(&one), Some(&one)], &map, dictionary);
        let full = one.block_count() - 1;
        for block in 0..full {
            assert!(merged.block(block).unwrap() == one.block(block).unwrap());
            // The last block of the first input is small, and stands before the second's as it was.
            let again = merged.block_count() - one.block_count() + block;
            assert!(merged.block(again).unwrap() == one.block(block).unwrap());
        }
    }
}

#[test]
fn a_large_merge_makes_a_dictionary_and_short_blocks() {
    let sources = many();
    let one = stored_of(sealed(&sources));
    assert_eq!(one.dictionary(), None);
    let map = DocMap::new([(6000, None)]).unwrap();
    let merged = merged(&[Some(&one)], &map, None);
    assert!(merged.dictionary().is_some() && !merged.inherits());
    check(&merged, &sources);
    assert!(merged.block_count() > 3 * one.block_count());
    for block in 0..merged.block_count() {
        assert!(merged.decompressed_bytes(block) < 2 * SHORT_BLOCK_BYTES as u64);
        assert!(matches!(merged.form(block), Form::Frame { has_dictionary: true, .. }));
    }
}

/// A binary of before dictionaries took such a segment for a damaged one, and put it aside.
#[test]
fn a_segment_with_a_dictionary_is_of_another_version() {
    let version = |file: &Bytes| footer::open(file, footer::FileKind::Segment).unwrap().version;
    assert_eq!(version(&sealed(&many())), 2);
    assert_eq!(
        version(&sealed_with(&many(), Some(&dictionary()))),
        footer::DICTIONARY_SEGMENT_VERSION
    );
}

#[test]
fn a_merge_packs_anew_what_has_another_dictionary() {
    let first = dictionary();
    let others: Vec<Vec<u8>> =
        (0..9000).map(|doc| format!("{{\"other\":{doc},\"field\":\"of another kind\",\"and\":{},\"more of it\":[{doc},{doc}]}}", doc * 7919).repeat(2).into_bytes()).collect();
    let alone = stored_of(sealed(&others));
    let map = DocMap::new([(9000, None)]).unwrap();
    let other = merged(&[Some(&alone)], &map, None);
    assert_ne!(other.dictionary(), Some(&first));
    let one = stored_of(sealed_with(&many(), Some(&first)));
    let map = DocMap::new([(6000, None), (9000, None)]).unwrap();
    let both = merged(&[Some(&one), Some(&other)], &map, Some(&first));
    assert_eq!(both.dictionary(), Some(&first));
    check(&both, &[many(), others].concat());
}

#[test]
fn what_is_small_has_no_dictionary_and_what_is_large_gets_one() {
    let dictionary = dictionary();
    let large = stored_of(sealed_with(&many(), None));
    assert!(large.dictionary().is_some());
    check(&large, &many());
    let sources: Vec<Vec<u8>> = (0..1000).map(|doc| source(doc, 300)).collect();
    assert_eq!(stored_of(sealed_with(&sources, Some(&dictionary))).dictionary(), None);
    // Most of a large one were deleted.
    let one = stored_of(sealed_with(&many(), Some(&dictionary)));
    let live = Live::all(6000).without((1000..6000).map(DocId));
    let map = DocMap::new([(6000, Some(Arc::new(live)))]).unwrap();
    check(&merged(&[Some(&one)], &map, Some(&dictionary)), &sources);
}

#[test]
fn a_dictionary_that_is_made_anew_holds_nothing_of_deleted_documents() {
    let mut sources = many();
    let secret = b"{\"secret\":\"correct horse battery staple, all of it\"}".repeat(8);
    sources.splice(0..3000, std::iter::repeat_n(secret.clone(), 3000));
    let holds = |stored: &Stored| {
        let bytes = stored.dictionary().expect("they have much in common").bytes();
        bytes.windows(12).any(|part| part == b"horse batter")
    };
    let map = DocMap::new([(6000, None)]).unwrap();
    let one = merged(&[Some(&stored_of(sealed(&sources)))], &map, None);
    assert!(holds(&one));
    let live = Live::all(6000).without((0..3000).map(DocId));
    let map = DocMap::new([(6000, Some(Arc::new(live)))]).unwrap();
    assert!(!holds(&merged(&[Some(&one)], &map, None)));
}

#[test]
fn small_blocks_of_many_segments_do_not_survive_their_merge() {
    let inputs: Vec<Stored> = (0..50).map(|n| stored_of(sealed(&[source(n, 900)]))).collect();
    let map = DocMap::new(inputs.iter().map(|_| (1, None))).unwrap();
    let refs: Vec<Option<&Stored>> = inputs.iter().map(Some).collect();
    assert_eq!(merged(&refs, &map, None).block_count(), 3);
}

#[test]
fn inputs_without_sources_keep_their_documents() {
    let one = stored_of(sealed(&[b"{}".to_vec()]));
    let map = DocMap::new([(2, None), (1, None)]).unwrap();
    check(&merged(&[None, Some(&one)], &map, None), &[Vec::new(), Vec::new(), b"{}".to_vec()]);
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
