//! Makes one tree of several: in one dimension by running along all of them, else by building anew.
//!
//! Always true
//! 1. Points of dropped documents are dropped; the others get their new documents.
//! 2. In one dimension at most a leaf of each input and one of the output are in memory, beside
//!    the output itself. In several, all points are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::FieldNo;

use crate::docmap::{DocMap, InputMap};
use crate::error::Result;
use crate::steps::Steps;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

use super::build::{TreeWriter, build};
use super::point::{DOC_BYTES, Points, Shape, doc_of};
use super::{Bkd, LEAF_POINTS, WIDTH_MAX};

/// A record in one dimension, padded with zeros; all records compared have one length.
type Record = [u8; WIDTH_MAX + DOC_BYTES];

/// Writes the points of a field of several segments. `inputs` are trees of one shape, each with the
/// number of its segment in `map`.
pub fn merge_points(
    writer: &mut SegmentWriter,
    field: FieldNo,
    inputs: &[(usize, Bkd)],
    map: &DocMap,
    steps: &mut Steps<'_>,
) -> Result<()> {
    if inputs.is_empty() {
        return Ok(());
    }
    let sections = (SectionKind::PointsBody, SectionKind::PointsHead);
    writer.put_with_head(sections, field, |file| merge(inputs, map, file, steps))
}

/// Bytes that the points of a tree take while they are merged, all of them where it has several dimensions.
pub fn all_points_bytes(tree: &Bkd) -> u64 {
    let shape = tree.shape();
    if shape.dims() == 1 { 0 } else { points_of(tree) * shape.record_bytes() as u64 }
}

/// How many points a tree says it has: never more than its leaves, which it has, can hold.
fn points_of(tree: &Bkd) -> u64 {
    tree.point_count().min((tree.leaf_count() * LEAF_POINTS) as u64)
}

/// Appends the leaves of the merged tree to `body`, and gives its resident part; `None` where no
/// point is left.
fn merge(
    inputs: &[(usize, Bkd)],
    map: &DocMap,
    body: &mut Vec<u8>,
    steps: &mut Steps<'_>,
) -> Result<Option<Vec<u8>>> {
    let Some((_, first)) = inputs.first() else { return Ok(None) };
    let shape = first.shape();
    if let Some((_, tree)) = inputs.iter().find(|(_, tree)| tree.shape() != shape) {
        return Err(tree.malformed(0, "a field's points have one shape"));
    }
    if shape.dims() == 1 {
        run_along(inputs, shape, map, body, steps)
    } else {
        let count = inputs.iter().map(|(_, tree)| points_of(tree)).sum::<u64>();
        let mut points = Points::with_room(shape, usize::try_from(count).unwrap_or(0));
        let mut records = Vec::new();
        for (number, tree) in inputs {
            for leaf in 0..tree.leaf_count() {
                read_leaf(tree, leaf, map.input(*number), &mut records)?;
                for record in records.chunks_exact(shape.record_bytes()) {
                    let (value, _) = record.split_at(shape.value_bytes());
                    points.push(value, base::DocId(doc_of(record)));
                }
                steps.step(tree.leaf_bytes(leaf))?;
            }
        }
        Ok(build(points, map.doc_count(), body))
    }
}

/// Puts the points of a leaf whose documents are kept into `records`, with their new documents.
fn read_leaf(tree: &Bkd, number: usize, map: &InputMap, records: &mut Vec<u8>) -> Result<()> {
    records.clear();
    let leaf = tree.leaf(number)?;
    let mut docs = [0; LEAF_POINTS];
    let docs = leaf.docs(&mut docs).map_err(|what| tree.malformed(number, what))?;
    leaf.for_each_value(|value, point| {
        if let Some(doc) = map.new_doc(base::DocId(docs[point])) {
            records.extend_from_slice(value);
            records.extend_from_slice(&doc.get().to_be_bytes());
        }
    });
    Ok(())
}

/// The points of one input, in order.
struct Stream<'a> {
    tree: &'a Bkd,
    map: &'a InputMap,
    next_leaf: usize,
    /// Records of the current leaf, and how far they were taken.
    records: Vec<u8>,
    at: usize,
    /// The record taken last: the order of the output rests on that of the inputs.
    last: Record,
}

impl Stream<'_> {
    /// The next record.
    fn next(&mut self, shape: Shape, steps: &mut Steps<'_>) -> Result<Option<Record>> {
        let size = shape.record_bytes();
        while self.at == self.records.len() {
            if self.next_leaf == self.tree.leaf_count() {
                return Ok(None);
            }
            read_leaf(self.tree, self.next_leaf, self.map, &mut self.records)?;
            self.at = 0;
            steps.step(self.tree.leaf_bytes(self.next_leaf))?;
            self.next_leaf += 1;
        }
        let mut record = [0; WIDTH_MAX + DOC_BYTES];
        record[..size].copy_from_slice(&self.records[self.at..self.at + size]);
        self.at += size;
        if record < self.last {
            return Err(self.tree.malformed(self.next_leaf - 1, "points stand in order"));
        }
        self.last = record;
        Ok(Some(record))
    }
}

/// Merges sorted trees of one dimension.
fn run_along(
    inputs: &[(usize, Bkd)],
    shape: Shape,
    map: &DocMap,
    body: &mut Vec<u8>,
    steps: &mut Steps<'_>,
) -> Result<Option<Vec<u8>>> {
    let size = shape.record_bytes();
    let mut streams: Vec<Stream<'_>> = inputs
        .iter()
        .map(|(number, tree)| {
            let map = map.input(*number);
            let last = [0; WIDTH_MAX + DOC_BYTES];
            Stream { tree, map, next_leaf: 0, records: Vec::new(), at: 0, last }
        })
        .collect();
    let mut heap = BinaryHeap::with_capacity(streams.len());
    for (number, stream) in streams.iter_mut().enumerate() {
        if let Some(record) = stream.next(shape, steps)? {
            heap.push(Reverse((record, number)));
        }
    }
    let mut writer = TreeWriter::new(shape, map.doc_count(), body);
    let mut leaf: Vec<u8> = Vec::with_capacity(LEAF_POINTS * size);
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((record, number)) = *top;
        leaf.extend_from_slice(&record[..size]);
        match streams[number].next(shape, steps)? {
            // Writing through `peek_mut` sifts once, where pop and push would sift twice.
            Some(next) => *top = Reverse((next, number)),
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
        if leaf.len() == LEAF_POINTS * size {
            writer.leaf(0, &leaf);
            leaf.clear();
        }
    }
    if !leaf.is_empty() {
        writer.leaf(0, &leaf);
    }
    Ok(if writer.is_empty() { None } else { Some(writer.finish()) })
}
