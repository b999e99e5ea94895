//! Ids, written and found again.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{DocId, SegmentId};
use proptest::prelude::*;

use super::*;
use crate::docmap::DocMap;
use crate::live::Live;
use crate::reader::Segment;
use crate::section::Check;

fn sorted(ids: &[String]) -> Vec<(&[u8], DocId)> {
    let mut pairs: Vec<_> =
        ids.iter().zip(0..).map(|(id, doc)| (id.as_bytes(), DocId(doc))).collect();
    pairs.sort();
    pairs
}

fn file(ids: &[String], id: u64) -> Vec<u8> {
    let mut writer = SegmentWriter::new(SegmentId(id), ids.len() as u32);
    writer.ids(sorted(ids)).expect("sorted");
    writer.seal().expect("sealed")
}

fn segment(ids: &[String], id: u64) -> Segment {
    Segment::open(SegmentId(id), Bytes::from(file(ids, id)), Check::Lazy).expect("just sealed")
}

#[test]
fn two_ids_lie_as_the_head_says() {
    let segment = segment(&["b".into(), "a".into()], 1);
    let bytes = |kind| {
        let section = segment.section(kind, FieldNo::ID).expect("written");
        section.all().expect("sound").to_vec()
    };
    assert_eq!(bytes(SectionKind::IdBlocks), [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, b'a', b'b']);
    assert_eq!(bytes(SectionKind::IdRanks), [1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn segment_without_ids_finds_none() {
    let segment = segment(&[], 1);
    assert!(segment.ids().is_empty());
    assert_eq!(segment.ids().find(b"a"), Ok(None));
    assert_eq!(segment.ids().id_of(DocId(0)), Ok(None));
}

#[test]
fn filter_rejects_ninety_eight_of_a_hundred_strangers() {
    let ids: Vec<String> = (0..20_000).map(|at| format!("passage-{at}")).collect();
    let segment = segment(&ids, 1);
    let inner = segment.ids().0.as_ref().expect("has ids");
    let passed = (0..20_000)
        .filter(|at| may_hold(&inner.filter, hash(format!("stranger-{at}").as_bytes())))
        .count();
    assert!(passed < 400, "{passed} of 20000 strangers pass");
}

#[test]
fn hash_is_part_of_the_format() {
    let found = [hash(b""), hash(b"a"), hash(b"12345678"), hash(b"123456789")];
    assert_eq!(found, PINNED);
}

/// Made by this very hash: a change would make filters of files that exist useless.
const PINNED: [u64; 4] = [
    11_912_144_113_143_032_851,
    13_305_391_211_405_349_494,
    11_150_289_306_634_649_144,
    17_155_095_828_997_685_602,
];

#[test]
fn each_page_misses_once_and_is_named_before() {
    let ids: Vec<String> = (0..3000).map(|at| format!("id-{}", at * 7919 % 3000)).collect();
    let file = crate::section::File::missing_once(Bytes::from(file(&ids, 1))).expect("sealed");
    let segment = Segment::from_file(SegmentId(1), file).expect("sealed");
    let mut missing = Missing::new();
    let mut rounds = 0;
    for (id, doc) in sorted(&ids) {
        loop {
            segment.ids().need(id, &mut missing).expect("sound");
            segment.ids().need_id_of(doc, &mut missing).expect("sound");
            if missing.is_empty() {
                break;
            }
            missing.fetch();
            rounds += 1;
        }
        assert_eq!(segment.ids().find(id), Ok(Some(doc)));
        assert_eq!(segment.ids().id_of(doc), Ok(Some(id)));
    }
    assert!(rounds > 10, "pages were missing");
}

proptest! {
    #[test]
    fn ids_are_found_both_ways(
        ids in prop::collection::vec("[ab]{0,8}", 0..400),
        strangers in prop::collection::vec("[ab]{0,9}", 0..40),
    ) {
        let segment = segment(&ids, 1);
        let newest: BTreeMap<&[u8], DocId> = sorted(&ids).into_iter().collect();
        for (id, doc) in sorted(&ids) {
            prop_assert_eq!(segment.ids().id_of(doc), Ok(Some(id)));
            prop_assert_eq!(segment.ids().find(id), Ok(newest.get(id).copied()));
        }
        for id in &strangers {
            prop_assert_eq!(segment.ids().find(id.as_bytes()), Ok(newest.get(id.as_bytes()).copied()));
        }
        let mut cursor = segment.ids().cursor();
        for pair in sorted(&ids) {
            prop_assert_eq!(cursor.next(), Ok(Some(pair)));
        }
        prop_assert_eq!(cursor.next(), Ok(None));
    }

    #[test]
    fn merged_ids_are_those_that_live(
        inputs in prop::collection::vec(prop::collection::vec(("[ab]{0,5}", any::<bool>()), 0..150), 1..4),
    ) {
        let mut segments = Vec::new();
        let mut lives = Vec::new();
        let mut model = Vec::new();
        for (number, input) in inputs.iter().enumerate() {
            let ids: Vec<String> = input.iter().map(|(id, _)| id.clone()).collect();
            segments.push(segment(&ids, number as u64));
            let dead = (0..).zip(input).filter(|(_, (_, dead))| *dead).map(|(doc, _)| DocId(doc));
            lives.push(Arc::new(Live::all(ids.len() as u32).without(dead)));
            for (id, _) in input.iter().filter(|(_, dead)| !dead) {
                model.push((id.clone().into_bytes(), DocId(model.len() as u32)));
            }
        }
        model.sort();
        let map = DocMap::new(segments.iter().zip(lives).map(|(segment, live)| (segment.doc_count(), Some(live)))).expect("few");
        let mut merged = MergedIds::new(segments.iter().map(|segment| segment.ids().clone()).zip(map.inputs())).expect("sound");
        for (id, doc) in &model {
            prop_assert_eq!(merged.next_id(), Ok(Some((id.as_slice(), *doc))));
        }
        prop_assert_eq!(merged.next_id(), Ok(None));
    }
}
