//! Trees against the plainest model: a list of points, filtered.

use std::ops::ControlFlow;
use std::sync::Arc;

use base::{DocId, FieldNo, SegmentId};
use env::Bytes;
use proptest::prelude::*;

use super::*;
use crate::DocMap;
use crate::error::Error;
use crate::live::Live;
use crate::section::{Check, File, Missing};
use crate::steps::Steps;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

const FIELD: FieldNo = FieldNo(20);

type Point = (Vec<u8>, u32);

/// The bytes of a segment whose one field has `points`.
fn sealed(shape: Shape, points: &[Point], doc_count: u32) -> Vec<u8> {
    let mut gathered = Points::new(shape);
    for (value, doc) in points {
        gathered.push(value, DocId(*doc));
    }
    let mut writer = SegmentWriter::new(SegmentId(1), doc_count);
    writer.points(FIELD, gathered);
    writer.seal().unwrap()
}

/// The tree of an open file.
fn tree_of(file: File) -> Bkd {
    let file = Arc::new(file);
    Bkd::open(&file, FIELD).unwrap().unwrap()
}

/// The tree of some points, of which there must be one.
fn tree(shape: Shape, points: &[Point], doc_count: u32) -> Bkd {
    let bytes = Bytes::from(sealed(shape, points, doc_count));
    tree_of(File::open(bytes, Check::Full).unwrap())
}

/// The documents inside `bounds` by looking at every point; one for each point.
fn plain(points: &[Point], bounds: &Bounds) -> Vec<u32> {
    let inside = points.iter().filter(|(value, _)| bounds.contains(value));
    let mut docs: Vec<u32> = inside.map(|(_, doc)| *doc).collect();
    docs.sort_unstable();
    docs
}

/// All that a tree promises about `bounds`.
fn check(tree: &Bkd, points: &[Point], bounds: &Bounds) {
    let expected = plain(points, bounds);
    let mut list = DocList::default();
    tree.visit(bounds, &mut list).unwrap();
    let mut found = list.0.clone();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(tree.count(bounds), Ok(expected.len() as u64));
    // An estimate is off by at most half of the leaves that cross.
    let estimate = tree.estimate(bounds);
    assert!(estimate <= points.len() as u64);
    if expected.len() == points.len() && !points.is_empty() {
        assert!(estimate > 0);
    }
}

/// Verifies a tree; its damages.
fn damages(tree: &Bkd) -> Vec<Error> {
    let mut damages = Vec::new();
    tree.verify(&mut |error| damages.push(error));
    damages
}

/// A shape, its number of documents, and points.
fn points() -> impl Strategy<Value = (Shape, u32, Vec<Point>)> {
    (1usize..=3, 1usize..=2, 1u8..=60, 1u32..4000).prop_flat_map(|(dims, width, spread, docs)| {
        let shape = Shape::new(dims, width).unwrap();
        let value = prop::collection::vec(0..spread, shape.value_bytes());
        let points = prop::collection::vec((value, 0..docs), 1..2500);
        (Just(shape), Just(docs), points)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn found_points_are_those_of_a_plain_filter(
        (shape, docs, points) in points(),
        ranges in prop::collection::vec((prop::array::uniform6(0u8..64), prop::array::uniform6(0u8..64)), 8),
    ) {
        let tree = tree(shape, &points, docs);
        prop_assert_eq!(damages(&tree), []);
        prop_assert_eq!(tree.point_count(), points.len() as u64);
        let distinct: std::collections::BTreeSet<u32> = points.iter().map(|point| point.1).collect();
        prop_assert_eq!(tree.doc_count() as usize, distinct.len());
        let len = shape.value_bytes();
        for (low, high) in &ranges {
            check(&tree, &points, &Bounds::new(shape, &low[..len], &high[..len]));
        }
        let (low, high) = tree.range();
        check(&tree, &points, &Bounds::new(shape, low, high));
    }

    #[test]
    fn a_walk_in_small_steps_over_missing_pages_finds_the_same(
        (shape, docs, points) in points(), low: [u8; 6], leaves in 1usize..4,
    ) {
        let file = File::missing_once(Bytes::from(sealed(shape, &points, docs))).unwrap();
        let tree = tree_of(file);
        let len = shape.value_bytes();
        let low: Vec<u8> = low.iter().map(|byte| byte % 16).collect();
        let bounds = Bounds::new(shape, &low[..len], &[255; 6][..len]);
        let mut walk = tree.walk(bounds);
        let mut list = DocList::default();
        loop {
            // A host asks until nothing is missing; one round is enough here.
            let mut missing = Missing::new();
            walk.prepare(leaves, &mut missing).unwrap();
            missing.fetch();
            walk.prepare(leaves, &mut missing).unwrap();
            prop_assert!(missing.is_empty());
            if walk.step(leaves, &mut list).unwrap() == Progress::Done {
                break;
            }
        }
        let mut found = list.0;
        found.sort_unstable();
        prop_assert_eq!(found, plain(&points, &bounds));
    }

    #[test]
    fn a_merged_tree_holds_the_points_of_kept_documents(
        shape_and in points(), cut in any::<prop::sample::Index>(), dead: [u32; 20],
    ) {
        // Two segments out of one list, the second with deletes.
        let (shape, docs, points) = shape_and;
        let (first, second) = points.split_at(cut.index(points.len()));
        let live = Live::all(docs).without(dead.map(|doc| DocId(doc % docs)));
        let map = DocMap::new([(docs, None), (docs, Some(Arc::new(live.clone())))]).unwrap();
        let mut inputs = Vec::new();
        let mut expected = Vec::new();
        for (number, part) in [first, second].into_iter().enumerate() {
            if !part.is_empty() {
                inputs.push((number, tree(shape, part, docs)));
            }
            for (value, doc) in part {
                if let Some(doc) = map.new_doc(number, DocId(*doc)) {
                    expected.push((value.clone(), doc.get()));
                }
            }
        }
        let mut writer = SegmentWriter::new(SegmentId(3), map.doc_count());
        merge::merge_points(&mut writer, FIELD, &inputs, &map, &mut Steps::unwatched()).unwrap();
        let file = File::open(Bytes::from(writer.seal().unwrap()), Check::Full).unwrap();
        if expected.is_empty() {
            prop_assert!(file.entries().iter().all(|entry| entry.field != FIELD));
            return Ok(());
        }
        let merged = tree_of(file);
        prop_assert_eq!(damages(&merged), []);
        let len = shape.value_bytes();
        for high in [0u8, 10, 30, 255] {
            check(&merged, &expected, &Bounds::new(shape, &[0; 6][..len], &vec![high; len]));
        }
        // A tree built anew of the same points is the same, byte for byte, in one dimension.
        if shape.dims() == 1 {
            let anew = sealed(shape, &expected, map.doc_count());
            let anew = tree_of(File::open(Bytes::from(anew), Check::Full).unwrap());
            prop_assert_eq!(anew.range(), merged.range());
            prop_assert_eq!(anew.leaf_count(), merged.leaf_count());
            for leaf in 0..anew.leaf_count() {
                prop_assert_eq!(anew.leaf_bytes(leaf), merged.leaf_bytes(leaf));
            }
        }
    }
}

#[test]
fn signed_numbers_are_found_by_their_order() {
    let mut points = Points::new(Shape::LONG);
    for (doc, value) in [i64::MIN, -7, -1, 0, 1, 99, i64::MAX].into_iter().enumerate() {
        points.push_long(value, DocId(doc as u32));
    }
    let mut writer = SegmentWriter::new(SegmentId(1), 7);
    writer.points(FIELD, points);
    let bytes = Bytes::from(writer.seal().unwrap());
    let tree = tree_of(File::open(bytes, Check::Lazy).unwrap());
    let find = |range| {
        let mut bits = DocBits::new(7);
        tree.visit(&Bounds::longs(range), &mut bits).unwrap();
        bits.0.iter().collect::<Vec<u32>>()
    };
    assert_eq!(find(-7..=1), [1, 2, 3, 4]);
    assert_eq!(find(i64::MIN..=i64::MAX), [0, 1, 2, 3, 4, 5, 6]);
    assert!(find(2..=98).is_empty());
    #[allow(clippy::reversed_empty_ranges, reason = "an empty range is what is asked about")]
    let nothing = find(5..=4);
    assert!(nothing.is_empty());
}

#[test]
fn a_window_takes_its_own_documents_only() {
    let points: Vec<Point> = (0..1000).map(|doc| (vec![(doc % 7) as u8], doc)).collect();
    let shape = Shape::new(1, 1).unwrap();
    let tree = tree(shape, &points, 1000);
    let mut words = [0u64; 2];
    let mut window = WindowBits::new(DocId(300), &mut words);
    tree.visit(&Bounds::new(shape, &[3], &[3]), &mut window).unwrap();
    let found: Vec<u32> = crate::bytes::bitmap::ones(&words).map(|bit| bit + 300).collect();
    let expected: Vec<u32> = (300..428).filter(|doc| doc % 7 == 3).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_merge_that_nobody_wants_ends_early() {
    let points: Vec<Point> = (0..2000).map(|doc| (vec![(doc % 251) as u8], doc)).collect();
    let tree = tree(Shape::new(1, 1).unwrap(), &points, 2000);
    let map = DocMap::new([(2000, None)]).unwrap();
    let mut asked = 0;
    let mut watch = |_| {
        asked += 1;
        if asked == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut writer = SegmentWriter::new(SegmentId(3), 2000);
    let mut steps = Steps::new(1000, &mut watch);
    let inputs = [(0, tree)];
    let answer = merge::merge_points(&mut writer, FIELD, &inputs, &map, &mut steps);
    assert_eq!(answer, Err(Error::Cancelled));
    assert_eq!(asked, 2);
}

#[test]
fn a_leaf_whose_points_leave_its_box_is_found_by_verify() {
    // Checksums are right, so only a look at the meaning can tell.
    let shape = Shape::new(1, 1).unwrap();
    let points: Vec<Point> = (0..600).map(|doc| (vec![(doc % 100) as u8], doc)).collect();
    let mut gathered = Points::new(shape);
    points.iter().for_each(|(value, doc)| gathered.push(value, DocId(*doc)));
    let mut body = Vec::new();
    let mut head = build::build(gathered, 600, &mut body).unwrap();
    // The second leaf's lowest point, after the counts, two ends and the first leaf's box.
    head[24 + 16 + 2] += 1;
    let mut writer = SegmentWriter::new(SegmentId(1), 600);
    writer.put(SectionKind::PointsBody, FIELD, &body);
    writer.put(SectionKind::PointsHead, FIELD, &head);
    let tree = tree_of(File::open(Bytes::from(writer.seal().unwrap()), Check::Full).unwrap());
    assert_eq!(damages(&tree).len(), 2, "the point, and the documents of its leaf");
}
