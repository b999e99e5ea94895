//! A point, many points being gathered, and a range of points.
//!
//! Always true
//! 1. A record is the point's value bytes, dimension after dimension, then the document as four
//!    big-endian bytes. So in one dimension the order of records as bytes is the order of
//!    (value, document).
//! 2. A [`Shape`] has 1 to 8 dimensions of 1 to 16 bytes.

use std::ops::RangeInclusive;

use base::DocId;

use super::{DIMS_MAX, WIDTH_MAX};

/// Bytes of a document in a record.
pub(super) const DOC_BYTES: usize = 4;

/// How many dimensions the points of a field have, and how many bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    dims: u8,
    width: u8,
}

impl Shape {
    /// The shape of a `long`: one dimension of eight bytes.
    pub const LONG: Self = Self { dims: 1, width: 8 };

    /// The shape of a place: two dimensions of four bytes.
    pub const PAIR: Self = Self { dims: 2, width: 4 };

    /// A shape; `None` where it is outside the limits of [`super`].
    pub fn new(dims: usize, width: usize) -> Option<Self> {
        let legal = (1..=DIMS_MAX).contains(&dims) && (1..=WIDTH_MAX).contains(&width);
        legal.then_some(Self { dims: dims as u8, width: width as u8 })
    }

    /// Number of dimensions.
    #[inline]
    pub fn dims(self) -> usize {
        usize::from(self.dims)
    }

    /// Bytes of one dimension.
    #[inline]
    pub fn width(self) -> usize {
        usize::from(self.width)
    }

    /// Bytes of a point's value.
    #[inline]
    pub fn value_bytes(self) -> usize {
        self.dims() * self.width()
    }

    /// Bytes of a record: value and document.
    #[inline]
    pub fn record_bytes(self) -> usize {
        self.value_bytes() + DOC_BYTES
    }

    /// Dimension `dim` of a point's value.
    #[inline]
    pub fn number(self, value: &[u8], dim: usize) -> u128 {
        let width = self.width();
        number(&value[dim * width..][..width])
    }
}

/// An unsigned big-endian integer of at most 16 bytes.
#[inline]
pub(super) fn number(bytes: &[u8]) -> u128 {
    if let Ok(eight) = <[u8; 8]>::try_from(bytes) {
        return u128::from(u64::from_be_bytes(eight));
    }
    let mut all = [0u8; WIDTH_MAX];
    all[WIDTH_MAX - bytes.len()..].copy_from_slice(bytes);
    u128::from_be_bytes(all)
}

/// A signed number as bytes whose order is the number's order.
#[inline]
pub fn key(value: i64) -> [u8; 8] {
    (value ^ i64::MIN).to_be_bytes()
}

/// Undoes [`key`].
#[inline]
pub fn unkey(bytes: [u8; 8]) -> i64 {
    i64::from_be_bytes(bytes) ^ i64::MIN
}

/// The document of a record.
#[inline]
pub(super) fn doc_of(record: &[u8]) -> u32 {
    let bytes = record.last_chunk::<DOC_BYTES>().expect("a record ends in its document");
    u32::from_be_bytes(*bytes)
}

/// Points of one field, gathered in any order.
#[derive(Clone, Debug)]
pub struct Points {
    shape: Shape,
    records: Vec<u8>,
}

impl Points {
    /// No points of `shape`.
    pub fn new(shape: Shape) -> Self {
        Self { shape, records: Vec::new() }
    }

    /// As [`Points::new`], with room for `count` points.
    pub fn with_room(shape: Shape, count: usize) -> Self {
        Self { shape, records: Vec::with_capacity(count * shape.record_bytes()) }
    }

    /// Adds a point.
    ///
    /// # Panics
    ///
    /// Where `value` has not [`Shape::value_bytes`] bytes.
    #[inline]
    pub fn push(&mut self, value: &[u8], doc: DocId) {
        assert_eq!(value.len(), self.shape.value_bytes(), "a value of the points' shape");
        self.records.extend_from_slice(value);
        self.records.extend_from_slice(&doc.get().to_be_bytes());
    }

    /// Adds a signed number to points of [`Shape::LONG`].
    #[inline]
    pub fn push_long(&mut self, value: i64, doc: DocId) {
        self.push(&key(value), doc);
    }

    /// The shape of all points.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.records.len() / self.shape.record_bytes()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The records, for `build`.
    pub(super) fn into_records(self) -> Vec<u8> {
        self.records
    }
}

/// A box of points: in each dimension a lowest and a highest number, both inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    shape: Shape,
    ranges: [(u128, u128); DIMS_MAX],
}

impl Bounds {
    /// From the packed lowest and highest point.
    ///
    /// # Panics
    ///
    /// Where either has not [`Shape::value_bytes`] bytes.
    pub fn new(shape: Shape, low: &[u8], high: &[u8]) -> Self {
        assert_eq!(low.len(), shape.value_bytes(), "a lowest point of the shape");
        assert_eq!(high.len(), shape.value_bytes(), "a highest point of the shape");
        let mut ranges = [(0, 0); DIMS_MAX];
        for (dim, range) in ranges.iter_mut().enumerate().take(shape.dims()) {
            *range = (shape.number(low, dim), shape.number(high, dim));
        }
        Self { shape, ranges }
    }

    /// A range of signed numbers, for points of [`Shape::LONG`]. May be empty.
    pub fn longs(range: RangeInclusive<i64>) -> Self {
        Self::new(Shape::LONG, &key(*range.start()), &key(*range.end()))
    }

    /// The shape of the points asked for.
    #[inline]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Lowest and highest number of dimension `dim`.
    #[inline]
    pub fn range(&self, dim: usize) -> (u128, u128) {
        self.ranges[dim]
    }

    /// Whether no point can lie inside.
    pub fn is_empty(&self) -> bool {
        self.dims().any(|(low, high)| low > high)
    }

    /// The bounds of points of two numbers of four bytes each, as these numbers.
    #[inline]
    pub(super) fn pair(&self) -> Option<[(u32, u32); 2]> {
        let narrow = |(low, high): (u128, u128)| (low as u32, high as u32);
        (self.shape == Shape::PAIR).then(|| [narrow(self.ranges[0]), narrow(self.ranges[1])])
    }

    /// Whether a packed value lies inside.
    #[inline]
    pub fn contains(&self, value: &[u8]) -> bool {
        self.dims().enumerate().all(|(dim, (low, high))| {
            let number = self.shape.number(value, dim);
            low <= number && number <= high
        })
    }

    /// How a box, given by its packed lowest and highest point, lies to these bounds.
    #[inline]
    pub fn relation(&self, low: &[u8], high: &[u8]) -> Relation {
        let mut relation = Relation::Inside;
        for (dim, (bound_low, bound_high)) in self.dims().enumerate() {
            let (low, high) = (self.shape.number(low, dim), self.shape.number(high, dim));
            if high < bound_low || bound_high < low {
                return Relation::Outside;
            }
            if low < bound_low || bound_high < high {
                relation = Relation::Crosses;
            }
        }
        relation
    }

    /// The ranges of all dimensions.
    #[inline]
    fn dims(&self) -> impl Iterator<Item = (u128, u128)> + '_ {
        self.ranges[..self.shape.dims()].iter().copied()
    }
}

/// How a cell lies to the region asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Every point of the cell is asked for.
    Inside,
    /// Its points must be looked at.
    Crosses,
    /// None is.
    Outside,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shapes_outside_the_limits_are_refused() {
        assert!(Shape::new(0, 8).is_none());
        assert!(Shape::new(9, 8).is_none());
        assert!(Shape::new(1, 17).is_none());
        assert_eq!(Shape::new(8, 16).map(Shape::record_bytes), Some(132));
    }

    #[test]
    fn a_box_is_inside_or_outside_or_crosses() {
        let bounds = Bounds::longs(10..=20);
        let relation = |low, high| bounds.relation(&key(low), &key(high));
        assert_eq!(relation(10, 20), Relation::Inside);
        assert_eq!(relation(9, 20), Relation::Crosses);
        assert_eq!(relation(15, 99), Relation::Crosses);
        assert_eq!(relation(-5, 9), Relation::Outside);
        assert_eq!(relation(21, 99), Relation::Outside);
        assert!(!bounds.is_empty());
        #[allow(clippy::reversed_empty_ranges, reason = "an empty range is what is asked about")]
        let nothing = Bounds::longs(1..=0);
        assert!(nothing.is_empty());
    }

    proptest! {
        #[test]
        fn keys_keep_the_order_of_numbers(one: i64, other: i64) {
            prop_assert_eq!(one.cmp(&other), key(one).cmp(&key(other)));
            prop_assert_eq!(unkey(key(one)), one);
        }
    }
}
