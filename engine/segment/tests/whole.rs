//! Whole segments against lists of documents: sealed, read, merged, seen as a view.

mod model;

use std::ops::ControlFlow;
use std::sync::Arc;

use base::{DocId, SegmentId};
use env::Bytes;
use model::{Doc, doc, open, read, seal};
use proptest::prelude::*;
use segment::merge::merge;
use segment::verify::verify;
use segment::{Error, Live, Segment, SegmentWriter, View};

const NEW: SegmentId = SegmentId(99);

/// Documents by their numbers, in the order given.
fn docs(numbers: &[u32]) -> Vec<Doc> {
    numbers.iter().map(|&number| doc(number)).collect()
}

/// The watch that never breaks.
fn go_on(_: segment::steps::Done) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_segment_gives_back_its_documents(count in 0u32..400, start in 0u32..1000) {
        let docs: Vec<Doc> = (start..start + count).map(doc).collect();
        let bytes = seal(SegmentId(1), &docs);
        prop_assert_eq!(verify(SegmentId(1), Bytes::from(bytes.clone())), []);
        prop_assert_eq!(read(&open(SegmentId(1), bytes)), docs);
    }

    #[test]
    fn a_merged_segment_holds_the_alive_documents_in_order(
        inputs in prop::collection::vec((0u32..250, prop::collection::vec(any::<u32>(), 0..40)), 1..5),
    ) {
        let mut segments = Vec::new();
        let mut expected = Vec::new();
        let mut number = 0;
        for (at, (count, dead)) in inputs.iter().enumerate() {
            let docs: Vec<Doc> = (number..number + count).map(doc).collect();
            number += count;
            let id = SegmentId(at as u64);
            let dead = dead.iter().filter(|_| *count > 0).map(|doc| DocId(doc % count.max(&1)));
            let live = Live::all(*count).without(dead);
            let alive = docs.iter().zip((0..).map(DocId)).filter(|(_, doc)| live.is_alive(*doc));
            expected.extend(alive.map(|(doc, _)| doc.clone()));
            segments.push((open(id, seal(id, &docs)), Some(Arc::new(live))));
        }
        let (bytes, map) = merge(&segments, NEW, None, &mut go_on).unwrap();
        prop_assert_eq!(map.doc_count() as usize, expected.len());
        prop_assert_eq!(verify(NEW, Bytes::from(bytes.clone())), []);
        prop_assert_eq!(read(&open(NEW, bytes)), expected);
    }
}

#[test]
fn merging_merged_segments_gives_the_bytes_of_merging_all_at_once() {
    // Blocks of stored documents are cut as they come, so it takes documents of one block each.
    let ids = [SegmentId(1), SegmentId(2), SegmentId(3)];
    let parts: Vec<(Segment, Option<Arc<Live>>)> = ids
        .iter()
        .map(|id| (open(*id, seal(*id, &docs(&[id.get() as u32 * 10, 1]))), None))
        .collect();
    let (first, _) = merge(&parts[..2], NEW, None, &mut go_on).unwrap();
    let stepwise = [(open(NEW, first), None), parts[2].clone()];
    let (stepwise, _) = merge(&stepwise, NEW, None, &mut go_on).unwrap();
    let (at_once, _) = merge(&parts, NEW, None, &mut go_on).unwrap();
    let (stepwise, at_once) = (open(NEW, stepwise), open(NEW, at_once));
    assert_eq!(read(&stepwise), read(&at_once));
    for entry in at_once.file().entries() {
        // The facts tell how many segments were merged, and that differs.
        if entry.kind != segment::SectionKind::Meta {
            let bytes = |segment: &Segment| {
                let section = segment.section(entry.kind, entry.field).unwrap();
                section.all().unwrap().to_vec()
            };
            assert_eq!(bytes(&stepwise), bytes(&at_once), "{entry:?}");
        }
    }
}

#[test]
fn a_file_keeps_no_room_that_it_does_not_need() {
    let is_exact = |file: &Vec<u8>| file.capacity() <= file.len() + file.len() / 8;
    let roomy = SegmentWriter::new(NEW, 0).with_room(1 << 20).seal().unwrap();
    assert!(is_exact(&roomy), "{} for {}", roomy.capacity(), roomy.len());
    let parts = [SegmentId(1), SegmentId(2)].map(|id| {
        let file = seal(id, &docs(&[id.get() as u32]));
        assert!(is_exact(&file), "{} for {}", file.capacity(), file.len());
        (open(id, file), None)
    });
    // A merge leaves that to whoever keeps its result: most are written to a file and let go.
    let (mut merged, _) = merge(&parts, NEW, None, &mut go_on).unwrap();
    let inputs: u64 = parts.iter().map(|(segment, _): &(Segment, _)| segment.len_bytes()).sum();
    assert!(merged.capacity() as u64 <= inputs + 16, "{} for {inputs}", merged.capacity());
    merged.shrink_to_fit();
    assert!(is_exact(&merged), "{} for {}", merged.capacity(), merged.len());
}

#[test]
fn a_merge_of_dead_documents_is_an_empty_segment() {
    let part = open(SegmentId(1), seal(SegmentId(1), &docs(&[1, 2])));
    let live = Arc::new(Live::all(2).without([DocId(0), DocId(1)]));
    let (bytes, map) = merge(&[(part, Some(live))], NEW, None, &mut go_on).unwrap();
    assert_eq!(map.doc_count(), 0);
    assert_eq!(verify(NEW, Bytes::from(bytes.clone())), []);
    assert!(read(&open(NEW, bytes)).is_empty());
}

#[test]
fn a_merge_tells_how_far_it_is_and_ends_when_nobody_wants_it() {
    let part = open(SegmentId(1), seal(SegmentId(1), &(0..3000).map(doc).collect::<Vec<_>>()));
    let inputs = [(part.clone(), None), (part, None)];
    let mut seen = Vec::new();
    merge(&inputs, NEW, None, &mut |done| {
        seen.push(done);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(seen.len() > 20, "a step for each block");
    assert!(seen.windows(2).all(|pair| pair[0].bytes <= pair[1].bytes), "progress rises");
    let last = seen.last().unwrap();
    assert!(last.bytes <= last.total_bytes);
    assert!(last.bytes * 10 >= last.total_bytes * 7, "most of the inputs is behind: {last:?}");
    for stop in [1, 5, seen.len()] {
        let mut asked = 0;
        let answer = merge(&inputs, NEW, None, &mut |_| {
            asked += 1;
            if asked == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(answer.err(), Some(Error::Cancelled));
        assert_eq!(asked, stop);
    }
}

#[test]
fn a_view_finds_the_newest_alive_document_of_an_id() {
    // The same id in two segments, and twice in the second.
    let old = open(SegmentId(1), seal(SegmentId(1), &docs(&[1, 2])));
    let new = open(SegmentId(2), seal(SegmentId(2), &docs(&[2, 3, 2])));
    let dead_old = Arc::new(Live::all(2).without([DocId(1)]));
    let dead_new = Arc::new(Live::all(3).without([DocId(0)]));
    let view =
        View::new(7, [(old.clone(), Some(dead_old)), (new.clone(), Some(dead_new))]).unwrap();
    assert_eq!((view.doc_count, view.deleted_count, view.max_doc()), (3, 2, 5));
    assert_eq!(view.find(b"doc-2"), Ok(Some((1, DocId(2)))));
    assert_eq!(view.find(b"doc-1"), Ok(Some((0, DocId(0)))));
    assert_eq!(view.find(b"doc-4"), Ok(None));
    assert_eq!(view.seq_no_max(), Some(3));
    let places: Vec<_> = (0..6).map(|doc| view.locate(doc)).collect();
    let expected = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)];
    let expected = expected.iter().map(|(at, doc)| Some((*at, DocId(*doc)))).chain([None]);
    assert!(places.into_iter().eq(expected));
    let stats = view.field_stats(model::TEXT);
    let all = docs(&[1, 2, 2, 3, 2]);
    assert_eq!(stats.term_freq_sum as usize, all.iter().map(|doc| doc.words.len()).sum::<usize>());
    assert_eq!(stats.doc_count as usize, all.iter().filter(|doc| !doc.words.is_empty()).count());
}

#[test]
fn each_flipped_byte_is_found_and_told_where_it_is() {
    let bytes = seal(SegmentId(1), &docs(&[1, 2, 3, 4, 5, 6, 7]));
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        let damages = verify(SegmentId(1), Bytes::from(bad));
        assert!(!damages.is_empty(), "byte {at}");
    }
    // A section is told by name.
    let segment = open(SegmentId(1), bytes.clone());
    let entry = segment
        .file()
        .entries()
        .iter()
        .find(|entry| entry.kind == segment::SectionKind::StoredBody);
    let mut bad = bytes.clone();
    bad[entry.unwrap().offset as usize] ^= 1;
    let damages = verify(SegmentId(1), Bytes::from(bad));
    assert!(damages[0].to_string().contains("StoredBody"), "{}", damages[0]);
    assert_eq!(verify(SegmentId(2), Bytes::from(bytes)).len(), 1, "another segment's file");
}
