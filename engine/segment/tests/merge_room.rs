//! What a merge holds while it runs, as the allocator counts it: its result once, and little beside.

mod model;

use std::alloc::System;
use std::ops::ControlFlow;
use std::sync::Arc;

use base::SegmentId;
use env::heap::{self, Counting};
use model::Doc;
use segment::merge::{merge, room_bytes};
use segment::{Live, Segment};

#[global_allocator]
static ALLOCATOR: Counting<System> = Counting(System);

const DOCS: u64 = 20_000;

/// A segment of documents with words, prices and places, and sources that do not compress.
fn input(number: u64) -> Segment {
    let mut seed = number + 1;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 11
    };
    let docs: Vec<Doc> = (0..DOCS)
        .map(|at| Doc {
            id: format!("{:020}", number * DOCS + at).into_bytes(),
            seq_no: at as i64,
            words: (0..30).map(|_| format!("word{}", random() % 3_000)).collect(),
            prices: vec![random() as i64],
            places: vec![(random() as u32).to_be_bytes()],
            source: (0..40).flat_map(|_| random().to_le_bytes()).collect(),
            ..Doc::default()
        })
        .collect();
    model::open(SegmentId(number), model::seal(SegmentId(number), &docs))
}

/// The story: memory for as much as the inputs was taken, and a merge held twice that at its end, in a file that had
/// doubled as it grew and was copied when it was whole. Searches were refused for it.
#[test]
fn a_merge_holds_no_more_than_it_says() {
    let inputs: Vec<(Segment, Option<Arc<Live>>)> =
        (0..3).map(|number| (input(number), None)).collect();
    let total: u64 = inputs.iter().map(|(segment, _)| segment.len_bytes()).sum();
    let room = room_bytes(inputs.iter().map(|(segment, _)| segment));
    assert!(room < total + total / 4, "{room} for {total}");
    let before = heap::held();
    let mut most = 0;
    let mut watch = |_| {
        most = most.max(heap::held() - before);
        ControlFlow::Continue(())
    };
    let (file, map) = merge(&inputs, SegmentId(9), None, &mut watch).expect("merged");
    assert_eq!(u64::from(map.doc_count()), 3 * DOCS);
    let training = segment::stored::TRAINING_BYTES as u64;
    assert!(most as u64 <= room + training, "{most} of {room} and {training} for a dictionary");
    assert!(file.capacity() as u64 <= total + total / 100, "{} for {total}", file.capacity());
}
