//! What a walk through a tree asks for: a box of points, or any other shape that can judge cells.
//!
//! Always true
//! 1. Where a cell is `Inside`, every point of its box is contained; where it is `Outside`, none is.
//!    What lies between may always be called `Crosses`: it costs a look at the leaf's points.

use std::ops::Range;

use super::leaf::Leaf;
use super::point::{Bounds, Relation};

/// Judges cells and points.
pub trait Region {
    /// How a box, given by its packed lowest and highest point, lies to the region.
    fn relation(&self, low: &[u8], high: &[u8]) -> Relation;

    /// Whether a packed value lies inside.
    fn contains(&self, value: &[u8]) -> bool;

    /// Gives the ranges of a leaf's points that lie inside to `each`, in order.
    #[inline]
    fn matching(&self, leaf: &Leaf<'_>, each: impl FnMut(Range<usize>))
    where
        Self: Sized,
    {
        leaf.holding(|value| self.contains(value), each);
    }
}

impl Region for Bounds {
    #[inline]
    fn relation(&self, low: &[u8], high: &[u8]) -> Relation {
        self.relation(low, high)
    }

    #[inline]
    fn contains(&self, value: &[u8]) -> bool {
        self.contains(value)
    }

    #[inline]
    fn matching(&self, leaf: &Leaf<'_>, each: impl FnMut(Range<usize>)) {
        leaf.matching(self, each);
    }
}

impl<R: Region> Region for &R {
    #[inline]
    fn relation(&self, low: &[u8], high: &[u8]) -> Relation {
        (**self).relation(low, high)
    }

    #[inline]
    fn contains(&self, value: &[u8]) -> bool {
        (**self).contains(value)
    }

    #[inline]
    fn matching(&self, leaf: &Leaf<'_>, each: impl FnMut(Range<usize>)) {
        (**self).matching(leaf, each);
    }
}
