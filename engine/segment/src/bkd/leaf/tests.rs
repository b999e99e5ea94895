//! Leaves against lists of points.

use super::super::Points;
use super::super::select::{Key, sort};
use super::*;
use base::DocId;
use proptest::prelude::*;

/// A leaf and its points, sorted by the leaf's dimension.
fn leaf(shape: Shape, sort_dim: usize, points: &[(Vec<u8>, u32)]) -> (Vec<u8>, Vec<u8>) {
    let mut gathered = Points::new(shape);
    for (value, doc) in points {
        gathered.push(value, DocId(*doc));
    }
    let mut records = gathered.into_records();
    sort(&mut records, Key::new(shape, sort_dim));
    let mut bytes = Vec::new();
    write(shape, sort_dim, &records, &mut bytes);
    (bytes, records)
}

#[test]
fn the_example_of_the_head_holds() {
    let shape = Shape::new(1, 2).unwrap();
    let (bytes, _) = leaf(shape, 0, &[(vec![1, 1], 7), (vec![1, 3], 9)]);
    let expected = [2, 0, 0, 1, 1, DOCS_RISING, 7, 0, 0, 0, 1, 1, VALUES_PLAIN, 1, 3];
    assert_eq!(bytes, expected);
}

#[test]
fn points_of_one_value_and_neighbouring_documents_take_no_room() {
    let points: Vec<_> = (100..612).map(|doc| (vec![0, 0, 0, 5], doc)).collect();
    let (bytes, _) = leaf(Shape::new(1, 4).unwrap(), 0, &points);
    assert_eq!(bytes.len(), 2 + 1 + 1 + 4 + 5 + 1);
}

fn points() -> impl Strategy<Value = (Shape, usize, Vec<(Vec<u8>, u32)>)> {
    (1usize..=3, 1usize..=3, 0usize..3, 1u8..=255, 1u32..5000).prop_flat_map(
        |(dims, width, sort_dim, spread, docs)| {
            let shape = Shape::new(dims, width).unwrap();
            let value = prop::collection::vec(0..spread, shape.value_bytes());
            let points = prop::collection::vec((value, 0..docs), 1..=LEAF_POINTS);
            (Just(shape), Just(sort_dim % dims), points)
        },
    )
}

proptest! {
    #[test]
    fn written_points_are_read((shape, sort_dim, points) in points()) {
        let (bytes, records) = leaf(shape, sort_dim, &points);
        let parsed = Leaf::parse(shape, &bytes, 5000).unwrap();
        let mut docs = [0; LEAF_POINTS];
        let docs = parsed.docs(&mut docs).unwrap();
        let mut read = Vec::new();
        parsed.for_each_value(|value, point| {
            read.extend_from_slice(value);
            read.extend_from_slice(&docs[point].to_be_bytes());
        });
        prop_assert_eq!(read, records);
        prop_assert_eq!(parsed.count(), points.len());
        prop_assert_eq!(parsed.sort_dim(), sort_dim);
        // A document beyond the segment is never handed out.
        let most = docs.iter().copied().max().unwrap();
        let short = Leaf::parse(shape, &bytes, most);
        prop_assert!(short.is_err() || short.unwrap().docs(&mut [0; LEAF_POINTS]).is_err());
    }

    #[test]
    fn matching_points_are_those_of_a_plain_filter(
        (shape, sort_dim, points) in points(), low: [u8; 9], high: [u8; 9],
    ) {
        let (bytes, records) = leaf(shape, sort_dim, &points);
        let len = shape.value_bytes();
        let bounds = Bounds::new(shape, &low[..len], &high[..len]);
        let mut found = Vec::new();
        let parsed = Leaf::parse(shape, &bytes, 5000).unwrap();
        parsed.matching(&bounds, |range| found.extend(range));
        let plain: Vec<usize> = records
            .chunks_exact(shape.record_bytes())
            .enumerate()
            .filter(|(_, record)| bounds.contains(&record[..len]))
            .map(|(index, _)| index)
            .collect();
        prop_assert_eq!(found, plain);
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_without_a_panic(
        (shape, sort_dim, points) in points(),
        harm in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut bytes, _) = leaf(shape, sort_dim, &points);
        for (at, byte) in harm {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len() + 1)]] {
            let Ok(leaf) = Leaf::parse(shape, bytes, 5000) else { continue };
            let mut docs = [0; LEAF_POINTS];
            if let Ok(docs) = leaf.docs(&mut docs) {
                prop_assert!(docs.iter().all(|&doc| doc < 5000));
            }
            leaf.for_each_value(|_, _| {});
            let bounds = Bounds::new(shape, &[0; 9][..shape.value_bytes()], &[9; 9][..shape.value_bytes()]);
            leaf.matching(&bounds, |range| assert!(range.end <= leaf.count()));
        }
    }
}
