//! The resident part of a BKD tree: its shape, where each leaf ends, and the boxes of all cells.
//!
//! Always true
//! 1. An inner node of `n` leaves has the first `n / 2` of them on its left. The tree is balanced
//!    and needs no links: a node is known by its first leaf, its number of leaves and its place
//!    among the inner nodes, which stand in pre-order.
//! 2. A box is the smallest that holds the cell's points: its packed lowest point, then its packed
//!    highest. So more cells lie wholly inside a range than with the planes that split them.
//! 3. In one dimension inner nodes have no bytes: the box of some leaves is the lowest point of the
//!    first and the highest of the last.
//!
//! Layout (little-endian)
//!
//! | bytes                    | what                                              |
//! |--------------------------|---------------------------------------------------|
//! | 1                        | dims                                              |
//! | 1                        | width                                             |
//! | 2                        | zero                                              |
//! | 4                        | number of leaves, at least 1                      |
//! | 8                        | number of points                                  |
//! | 4                        | number of documents that have a point             |
//! | 4                        | zero                                              |
//! | leaves * 8               | where each leaf ends in the body                  |
//! | leaves * 2 * dims * width | boxes of the leaves                              |
//! | (leaves - 1) * 2 * dims * width | boxes of the inner nodes; none in one dimension |
//!
//! Not here: the leaves (`leaf`), and walking (`tree`).

use std::ops::Range;

use env::Bytes;

use super::LEAF_POINTS;
use super::leaf::Malformed;
use super::point::Shape;
use crate::footer::{u32_at, u64_at};

const HEAD: usize = 24;

/// Leaves of a tree at most: 2³² points, and an index that fits in 32 bits.
const LEAVES_MAX: usize = 1 << 23;

/// A cell of the tree: some neighbouring leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    first: u32,
    leaves: u32,
    /// Place among the inner nodes, for a node of several leaves.
    index: u32,
}

impl Node {
    /// Its only leaf, where it has one alone.
    #[inline]
    pub fn leaf(self) -> Option<usize> {
        (self.leaves == 1).then_some(self.first as usize)
    }

    /// Its leaves.
    #[inline]
    pub fn leaves(self) -> Range<usize> {
        self.first as usize..(self.first + self.leaves) as usize
    }

    /// Its left and right half.
    ///
    /// # Panics
    ///
    /// Where it is a leaf.
    #[inline]
    pub fn halves(self) -> (Self, Self) {
        assert!(self.leaves > 1, "a leaf has no halves");
        let left = self.leaves / 2;
        (
            Self { first: self.first, leaves: left, index: self.index + 1 },
            // The left half takes `left - 1` inner nodes after this one.
            Self { first: self.first + left, leaves: self.leaves - left, index: self.index + left },
        )
    }
}

/// The tree's root, for a number of leaves.
#[inline]
pub fn root(leaf_count: usize) -> Node {
    Node { first: 0, leaves: leaf_count as u32, index: 0 }
}

/// Gathers the resident part while leaves are written.
#[derive(Debug)]
pub struct InnerWriter {
    shape: Shape,
    ends: Vec<u8>,
    boxes: Vec<u8>,
    point_count: u64,
}

impl InnerWriter {
    /// No leaves yet.
    pub fn new(shape: Shape) -> Self {
        Self { shape, ends: Vec::new(), boxes: Vec::new(), point_count: 0 }
    }

    /// Number of leaves so far.
    pub fn leaf_count(&self) -> usize {
        self.ends.len() / 8
    }

    /// Adds the leaf of `records`, which ends at `end` of the body.
    pub fn leaf(&mut self, records: &[u8], end: u64) {
        let count = records.len() / self.shape.record_bytes();
        assert!(count > 0, "an empty cell has no leaf");
        let earlier = (self.leaf_count() * LEAF_POINTS) as u64;
        assert_eq!(self.point_count, earlier, "all leaves but the last are full");
        self.point_count += count as u64;
        self.ends.extend_from_slice(&end.to_le_bytes());
        let start = self.boxes.len();
        let len = self.shape.value_bytes();
        self.boxes.extend_from_slice(&records[..len]);
        self.boxes.extend_from_slice(&records[..len]);
        let (low, high) = self.boxes[start..].split_at_mut(len);
        for record in records.chunks_exact(self.shape.record_bytes()).skip(1) {
            widen(self.shape, low, high, &record[..len], &record[..len]);
        }
    }

    /// The bytes of the resident part.
    pub fn finish(self, doc_count: u32) -> Vec<u8> {
        let leaf_count = self.leaf_count();
        assert!((1..=LEAVES_MAX).contains(&leaf_count), "a tree has a leaf, and its limit");
        let mut out = vec![self.shape.dims() as u8, self.shape.width() as u8, 0, 0];
        out.extend_from_slice(&(leaf_count as u32).to_le_bytes());
        out.extend_from_slice(&self.point_count.to_le_bytes());
        out.extend_from_slice(&doc_count.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        assert_eq!(out.len(), HEAD);
        out.extend_from_slice(&self.ends);
        out.extend_from_slice(&self.boxes);
        if self.shape.dims() > 1 && leaf_count > 1 {
            let size = 2 * self.shape.value_bytes();
            let mut inner = vec![0; (leaf_count - 1) * size];
            self.unite(root(leaf_count), &mut inner);
            out.extend_from_slice(&inner);
        }
        out
    }

    /// Fills the boxes of a node and of those below, and gives its own. As deep as the tree: 23.
    fn unite(&self, node: Node, inner: &mut [u8]) -> Vec<u8> {
        let size = 2 * self.shape.value_bytes();
        if let Some(leaf) = node.leaf() {
            return self.boxes[leaf * size..][..size].to_vec();
        }
        let (left, right) = node.halves();
        let mut union = self.unite(left, inner);
        let other = self.unite(right, inner);
        let (low, high) = union.split_at_mut(size / 2);
        widen(self.shape, low, high, &other[..size / 2], &other[size / 2..]);
        inner[node.index as usize * size..][..size].copy_from_slice(&union);
        union
    }
}

/// Widens the box `low` to `high` so that it holds another.
fn widen(shape: Shape, low: &mut [u8], high: &mut [u8], other_low: &[u8], other_high: &[u8]) {
    let width = shape.width();
    for at in (0..shape.value_bytes()).step_by(width) {
        let dim = at..at + width;
        if other_low[dim.clone()] < low[dim.clone()] {
            low[dim.clone()].copy_from_slice(&other_low[dim.clone()]);
        }
        if other_high[dim.clone()] > high[dim.clone()] {
            high[dim.clone()].copy_from_slice(&other_high[dim]);
        }
    }
}

/// The resident part, looked through.
#[derive(Clone, Debug)]
pub struct Inner {
    shape: Shape,
    leaf_count: usize,
    point_count: u64,
    doc_count: u32,
    bytes: Bytes,
}

impl Inner {
    /// Looks through the resident part of a tree whose body has `body_len` bytes, of a segment of
    /// `doc_count` documents.
    pub fn open(bytes: Bytes, body_len: u64, doc_count: u32) -> Result<Self, Malformed> {
        if bytes.len() < HEAD {
            return Err("the head is cut short");
        }
        let shape = Shape::new(usize::from(bytes[0]), usize::from(bytes[1]))
            .ok_or("points have 1 to 8 dimensions of 1 to 16 bytes")?;
        let leaf_count = u32_at(&bytes, 4) as usize;
        if !(1..=LEAVES_MAX).contains(&leaf_count) {
            return Err("a tree has a leaf, and its limit");
        }
        let inner_count = if shape.dims() == 1 { 0 } else { leaf_count - 1 };
        let boxes = (leaf_count + inner_count) * 2 * shape.value_bytes();
        if bytes.len() != HEAD + leaf_count * 8 + boxes {
            return Err("the head has another length than its number of leaves says");
        }
        let point_count = u64_at(&bytes, 8);
        let full = (leaf_count - 1) as u64 * LEAF_POINTS as u64;
        if point_count <= full || point_count > full + LEAF_POINTS as u64 {
            return Err("all leaves but the last are full");
        }
        let with_point = u32_at(&bytes, 16);
        if with_point == 0 || with_point > doc_count || u64::from(with_point) > point_count {
            return Err("the number of documents with a point is possible");
        }
        let inner = Self { shape, leaf_count, point_count, doc_count: with_point, bytes };
        let mut before = 0;
        for leaf in 0..leaf_count {
            let end = inner.end(leaf);
            if end <= before {
                return Err("leaves end one after another");
            }
            before = end;
        }
        if before != body_len {
            return Err("the last leaf ends with the body");
        }
        Ok(inner)
    }

    /// The shape of the points.
    #[inline]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of leaves.
    #[inline]
    pub fn leaf_count(&self) -> usize {
        self.leaf_count
    }

    /// Number of points.
    #[inline]
    pub fn point_count(&self) -> u64 {
        self.point_count
    }

    /// Number of documents that have a point.
    #[inline]
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Where a leaf lies in the body.
    #[inline]
    pub fn leaf_range(&self, leaf: usize) -> Range<u64> {
        let start = if leaf == 0 { 0 } else { self.end(leaf - 1) };
        start..self.end(leaf)
    }

    /// Points of some leaves.
    #[inline]
    pub fn points_of(&self, leaves: Range<usize>) -> u64 {
        let full = leaves.len() as u64 * LEAF_POINTS as u64;
        if leaves.end < self.leaf_count {
            return full;
        }
        full + self.point_count - self.leaf_count as u64 * LEAF_POINTS as u64
    }

    /// Lowest and highest packed point of a node.
    #[inline]
    pub fn bounds(&self, node: Node) -> (&[u8], &[u8]) {
        let len = self.shape.value_bytes();
        if node.leaves > 1 && self.shape.dims() > 1 {
            return self.cell(self.leaf_count + node.index as usize).split_at(len);
        }
        let leaves = node.leaves();
        (&self.cell(leaves.start)[..len], &self.cell(leaves.end - 1)[len..])
    }

    /// Lowest and highest packed point of a leaf.
    pub fn leaf_bounds(&self, leaf: usize) -> (&[u8], &[u8]) {
        self.cell(leaf).split_at(self.shape.value_bytes())
    }

    /// Box number `index`.
    #[inline]
    fn cell(&self, index: usize) -> &[u8] {
        let size = 2 * self.shape.value_bytes();
        &self.bytes[HEAD + self.leaf_count * 8 + index * size..][..size]
    }

    /// Where a leaf ends in the body.
    #[inline]
    fn end(&self, leaf: usize) -> u64 {
        u64_at(&self.bytes, HEAD + leaf * 8)
    }

    /// Checks what opening takes on trust: boxes are not inside out, each inner box is the union
    /// of its halves', and in one dimension leaves follow one another. For `verify`.
    pub fn verify(&self) -> Result<(), Malformed> {
        let mut stack = vec![root(self.leaf_count)];
        while let Some(node) = stack.pop() {
            let (low, high) = self.bounds(node);
            for dim in 0..self.shape.dims() {
                if self.shape.number(low, dim) > self.shape.number(high, dim) {
                    return Err("a box has its lowest point below its highest");
                }
            }
            if node.leaf().is_some() {
                continue;
            }
            let (left, right) = node.halves();
            let (mut union_low, mut union_high) = {
                let (low, high) = self.bounds(left);
                (low.to_vec(), high.to_vec())
            };
            let (right_low, right_high) = self.bounds(right);
            if self.shape.dims() == 1 && union_high.as_slice() > right_low {
                return Err("leaves of one dimension follow one another");
            }
            widen(self.shape, &mut union_low, &mut union_high, right_low, right_high);
            if union_low != low || union_high != high {
                return Err("an inner box is the union of its halves' boxes");
            }
            stack.push(left);
            stack.push(right);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_nodes_of_every_small_tree_have_places_of_their_own() {
        for leaf_count in 1..200 {
            let mut places = vec![false; leaf_count - 1];
            let mut leaves = vec![false; leaf_count];
            let mut stack = vec![root(leaf_count)];
            while let Some(node) = stack.pop() {
                if let Some(leaf) = node.leaf() {
                    assert!(!std::mem::replace(&mut leaves[leaf], true));
                    continue;
                }
                assert!(!std::mem::replace(&mut places[node.index as usize], true));
                let (left, right) = node.halves();
                assert_eq!(left.leaves().end, right.leaves().start);
                stack.extend([left, right]);
            }
            assert!(places.iter().all(|&taken| taken), "{leaf_count} leaves");
            assert!(leaves.iter().all(|&taken| taken), "{leaf_count} leaves");
        }
    }

    #[test]
    fn damaged_heads_are_refused_or_read_without_a_panic() {
        let shape = Shape::new(2, 1).unwrap();
        let mut writer = InnerWriter::new(shape);
        let records: Vec<u8> = (0..LEAF_POINTS as u32)
            .flat_map(|n| [[n as u8, (n / 2) as u8].as_slice(), &n.to_be_bytes()].concat())
            .collect();
        writer.leaf(&records, 10);
        writer.leaf(&records[..shape.record_bytes() * 3], 15);
        let head = writer.finish(512);
        let open = |bytes: &[u8]| Inner::open(Bytes::from(bytes.to_vec()), 15, 1000);
        assert_eq!(open(&head).map(|inner| inner.verify()), Ok(Ok(())));
        for len in 0..head.len() {
            assert!(open(&head[..len]).is_err());
        }
        for at in 0..head.len() {
            for byte in [0, 1, 2, 0x7f, 0x80, 0xff] {
                let mut bad = head.clone();
                bad[at] = byte;
                if let Ok(inner) = open(&bad) {
                    let _ = inner.verify();
                    let _ = inner.points_of(0..inner.leaf_count());
                }
            }
        }
    }
}
