//! Makes a BKD tree of all points: sorts one dimension, halves several until a leaf is left.
//!
//! Always true
//! 1. All leaves but the last are full, because a left half is a whole number of leaves.
//! 2. Nothing is held but the records themselves and the boxes of the leaves.
//!
//! In several dimensions a cell is split across the dimension in which it is widest, counted in the
//! numbers' own units, as Lucene does; a leaf is sorted by the dimension whose numbers differ
//! least, so that its runs are long.
//!
//! Not here: joining sorted trees (`merge`).

use base::FieldNo;
use env::breath::breathe;

use super::inner::{InnerWriter, Node, root};
use super::point::{Points, Shape, doc_of};
use super::select::{Key, select, sort};
use super::{LEAF_POINTS, leaf};
use crate::bytes::bitmap::Bitmap;
use crate::toc::SectionKind;
use crate::writer::SegmentWriter;

impl SegmentWriter {
    /// Points of a field; nothing where there are none.
    ///
    /// # Panics
    ///
    /// Where a document is none of the segment's.
    pub fn points(&mut self, field: FieldNo, points: Points) {
        if points.is_empty() {
            return;
        }
        let doc_count = self.doc_count();
        let head =
            self.put_with(SectionKind::PointsBody, field, |body| build(points, doc_count, body));
        self.put(SectionKind::PointsHead, field, &head.expect("there is a point"));
    }
}

/// Appends the leaves of `points` to `body`, and gives the resident part; `None` where there is no
/// point.
///
/// # Panics
///
/// Where a document is not below `doc_count`.
pub fn build(points: Points, doc_count: u32, body: &mut Vec<u8>) -> Option<Vec<u8>> {
    let shape = points.shape();
    let mut records = points.into_records();
    if records.is_empty() {
        return None;
    }
    let mut writer = TreeWriter::new(shape, doc_count, body);
    if shape.dims() == 1 {
        sort(&mut records, Key::new(shape, 0));
        for leaf in records.chunks(LEAF_POINTS * shape.record_bytes()) {
            writer.leaf(0, leaf);
        }
    } else {
        let leaf_count = (records.len() / shape.record_bytes()).div_ceil(LEAF_POINTS);
        split(root(leaf_count), &mut records, shape, &mut writer);
    }
    Some(writer.finish())
}

/// Writes the leaves of the node that holds `records`. As deep as the tree: 23.
fn split(node: Node, records: &mut [u8], shape: Shape, writer: &mut TreeWriter<'_>) {
    let Some(_) = node.leaf() else {
        let (left, right) = node.halves();
        let key = Key::new(shape, widest(shape, records));
        let points = left.leaves().len() * LEAF_POINTS;
        select(records, key, points);
        let (low, high) = records.split_at_mut(points * shape.record_bytes());
        split(left, low, shape, writer);
        split(right, high, shape, writer);
        return;
    };
    let dim = narrowest(shape, records);
    sort(records, Key::new(shape, dim));
    writer.leaf(dim, records);
}

/// The dimension in which records lie farthest apart.
fn widest(shape: Shape, records: &[u8]) -> usize {
    let spread = |dim: usize| {
        let numbers = records.chunks_exact(shape.record_bytes());
        let numbers = numbers.map(|record| shape.number(record, dim));
        let (low, high) =
            numbers.fold((u128::MAX, 0), |(low, high), number| (number.min(low), number.max(high)));
        high - low
    };
    // The last of equal ones would do as well; the first keeps trees the same from run to run.
    let mut best = 0;
    for dim in 1..shape.dims() {
        if spread(dim) > spread(best) {
            best = dim;
        }
    }
    best
}

/// The dimension with the fewest different numbers.
fn narrowest(shape: Shape, records: &[u8]) -> usize {
    let different = |dim: usize| {
        let numbers = records.chunks_exact(shape.record_bytes());
        let mut numbers: Vec<u128> = numbers.map(|record| shape.number(record, dim)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len()
    };
    (0..shape.dims()).min_by_key(|&dim| different(dim)).expect("a shape has a dimension")
}

/// Takes leaf after leaf.
pub(super) struct TreeWriter<'a> {
    shape: Shape,
    body: &'a mut Vec<u8>,
    /// Length of `body` before the first leaf.
    start: usize,
    inner: InnerWriter,
    docs: Bitmap,
}

impl<'a> TreeWriter<'a> {
    /// A tree without leaves, of a segment of `doc_count` documents.
    pub(super) fn new(shape: Shape, doc_count: u32, body: &'a mut Vec<u8>) -> Self {
        let start = body.len();
        Self { shape, body, start, inner: InnerWriter::new(shape), docs: Bitmap::new(doc_count) }
    }

    /// Adds a leaf of records sorted by `sort_dim`.
    pub(super) fn leaf(&mut self, sort_dim: usize, records: &[u8]) {
        breathe();
        leaf::write(self.shape, sort_dim, records, self.body);
        self.inner.leaf(records, (self.body.len() - self.start) as u64);
        for record in records.chunks_exact(self.shape.record_bytes()) {
            self.docs.insert(doc_of(record));
        }
    }

    /// Whether there is no leaf yet.
    pub(super) fn is_empty(&self) -> bool {
        self.inner.leaf_count() == 0
    }

    /// The resident part.
    pub(super) fn finish(self) -> Vec<u8> {
        self.inner.finish(self.docs.count())
    }
}
