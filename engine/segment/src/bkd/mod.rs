//! Points: numbers of one or more dimensions, found by range through a BKD tree.
//!
//! The tree of Procopiuc, Agarwal, Arge and Vitter, "Bkd-tree: a dynamic scalable kd-tree" (2003),
//! as Lucene uses it: built once from all points, balanced, with up to 512 points a leaf. Segments
//! take the part of the paper's forest of trees.
//!
//! Always true
//! 1. A point is `dims` unsigned big-endian integers of `width` bytes each; who wants signed
//!    numbers flips their sign bit first ([`key`]).
//! 2. All leaves but the last hold [`LEAF_POINTS`] points, so the points below any inner node are
//!    known from the numbers of its leaves.
//! 3. In one dimension the leaves stand in the order of (value, document).
//!
//! | file     | question                                          |
//! |----------|---------------------------------------------------|
//! | `select` | which points are the smallest half?               |
//! | `build`  | how do points become cells?                       |
//! | `leaf`   | how do the points of one cell lie in bytes?       |
//! | `inner`  | how do the cells' boxes lie in bytes?             |
//! | `region` | what can be asked for?                            |
//! | `tree`   | which documents lie in a range?                   |
//! | `merge`  | how do the points of several segments become one? |
//!
//! Not here: what a number means (`mapping/types`).

pub mod build;
pub mod inner;
pub mod leaf;
pub mod merge;
pub mod point;
pub mod region;
pub mod select;
pub mod sink;
pub mod tree;

#[cfg(test)]
mod tests;

pub use point::{Bounds, Points, Relation, Shape, key, unkey};
pub use region::Region;
pub use sink::{DocBits, DocList, Sink, WindowBits};
pub use tree::{Bkd, Progress, Walk};

/// Points of a full leaf. Lucene's choice: a leaf decodes in about a microsecond, and the boxes of
/// all leaves stay small enough to be resident.
pub const LEAF_POINTS: usize = 512;

/// Most dimensions of a point.
pub const DIMS_MAX: usize = 8;

/// Most bytes of one dimension: an IPv6 address.
pub const WIDTH_MAX: usize = 16;
