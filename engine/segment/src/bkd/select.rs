//! Orders records in place: all of them, or only so far that the smallest `k` stand first.
//!
//! Both go byte by byte from the front of the key (most significant digit first), as Lucene's
//! `MSBRadixSorter` and `RadixSelector` do: no comparison function, no memory beside the records,
//! and no input that makes them slow. The sort is McIlroy, Bostic and McIlroy's American flag sort
//! ("Engineering radix sort", 1993).
//!
//! Always true
//! 1. A call permutes whole records and changes none.
//! 2. Equal keys end in any order; the tree gives the document as the key's last bytes.
//! 3. A key has at most 20 bytes, which bounds the depth of recursion.

use super::point::{DOC_BYTES, Shape};

/// Below this many records insertion beats another pass of counting.
const SMALL: usize = 24;

/// Which bytes of a record are compared: one dimension, then the document.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    dim_at: usize,
    width: usize,
    doc_at: usize,
    record_bytes: usize,
}

impl Key {
    /// Compares dimension `dim`, ties by document.
    pub fn new(shape: Shape, dim: usize) -> Self {
        assert!(dim < shape.dims(), "a dimension of the shape");
        Self {
            dim_at: dim * shape.width(),
            width: shape.width(),
            doc_at: shape.value_bytes(),
            record_bytes: shape.record_bytes(),
        }
    }

    /// Number of bytes compared.
    #[inline]
    fn len(self) -> usize {
        self.width + DOC_BYTES
    }

    /// Byte `level` of the key of the record that starts at `at`.
    #[inline]
    fn byte(self, records: &[u8], at: usize, level: usize) -> u8 {
        let within =
            if level < self.width { self.dim_at + level } else { self.doc_at + level - self.width };
        records[at + within]
    }

    /// Whether one record's key from byte `level` on is below another's.
    #[inline]
    fn less(self, records: &[u8], one: usize, other: usize, level: usize) -> bool {
        for level in level..self.len() {
            let (a, b) = (self.byte(records, one, level), self.byte(records, other, level));
            if a != b {
                return a < b;
            }
        }
        false
    }
}

/// Sorts all records.
pub fn sort(records: &mut [u8], key: Key) {
    assert_eq!(records.len() % key.record_bytes, 0, "whole records");
    sort_from(records, key, 0);
}

/// Sorts records whose keys agree in the bytes before `level`.
fn sort_from(records: &mut [u8], key: Key, mut level: usize) {
    let size = key.record_bytes;
    loop {
        if records.len() <= SMALL * size {
            insert_sort(records, key, level);
            return;
        }
        if level == key.len() {
            return;
        }
        let counts = count(records, key, level);
        // A byte that all records share says nothing: common prefixes cost one pass a byte.
        if counts.contains(&(records.len() / size)) {
            level += 1;
            continue;
        }
        let mut ends = [0usize; 256];
        let mut heads = [0usize; 256];
        let mut sum = 0;
        for byte in 0..256 {
            heads[byte] = sum * size;
            sum += counts[byte];
            ends[byte] = sum * size;
        }
        let starts = heads;
        for bucket in 0..256 {
            while heads[bucket] < ends[bucket] {
                let byte = usize::from(key.byte(records, heads[bucket], level));
                if byte != bucket {
                    swap(records, heads[bucket], heads[byte], size);
                }
                heads[byte] += size;
            }
        }
        for bucket in 0..256 {
            if counts[bucket] > 1 {
                sort_from(&mut records[starts[bucket]..ends[bucket]], key, level + 1);
            }
        }
        return;
    }
}

/// Puts the `k` smallest records before all others, in any order within both parts.
pub fn select(records: &mut [u8], key: Key, k: usize) {
    let size = key.record_bytes;
    assert_eq!(records.len() % size, 0, "whole records");
    assert!(k <= records.len() / size, "no more than there are");
    let mut records = records;
    let mut k = k;
    for level in 0..key.len() {
        if k == 0 || k * size == records.len() {
            return;
        }
        if records.len() <= SMALL * size {
            insert_sort(records, key, level);
            return;
        }
        let counts = count(records, key, level);
        // The bucket in which the `k`-th record lies decides; the others are on the right side
        // once they stand before or after it.
        let mut below = 0;
        let mut pivot = 0;
        while below + counts[pivot] <= k {
            below += counts[pivot];
            pivot += 1;
        }
        let equal = counts[pivot];
        partition(records, key, level, pivot as u8);
        records = &mut records[below * size..(below + equal) * size];
        k -= below;
    }
}

/// Puts records whose byte `level` is below `pivot` first, then the equal ones, then the rest.
fn partition(records: &mut [u8], key: Key, level: usize, pivot: u8) {
    let size = key.record_bytes;
    let (mut low, mut at, mut high) = (0, 0, records.len());
    while at < high {
        let byte = key.byte(records, at, level);
        if byte < pivot {
            swap(records, low, at, size);
            low += size;
            at += size;
        } else if byte > pivot {
            high -= size;
            swap(records, at, high, size);
        } else {
            at += size;
        }
    }
}

/// How many records have each value of byte `level`.
fn count(records: &[u8], key: Key, level: usize) -> [usize; 256] {
    let mut counts = [0usize; 256];
    for at in (0..records.len()).step_by(key.record_bytes) {
        counts[usize::from(key.byte(records, at, level))] += 1;
    }
    counts
}

/// Sorts few records.
fn insert_sort(records: &mut [u8], key: Key, level: usize) {
    let size = key.record_bytes;
    for end in (size..records.len()).step_by(size) {
        let mut at = end;
        while at > 0 && key.less(records, at, at - size, level) {
            swap(records, at, at - size, size);
            at -= size;
        }
    }
}

/// Swaps the records that start at `one` and at `other`.
#[inline]
fn swap(records: &mut [u8], one: usize, other: usize, size: usize) {
    if one == other {
        return;
    }
    let (front, back) = if one < other { (one, other) } else { (other, one) };
    let (head, tail) = records.split_at_mut(back);
    head[front..front + size].swap_with_slice(&mut tail[..size]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Records of `shape` from bytes of any number.
    fn records(shape: Shape, bytes: &[u8]) -> Vec<u8> {
        let whole = bytes.len() / shape.record_bytes() * shape.record_bytes();
        bytes[..whole].to_vec()
    }

    /// The (dimension, document) keys of records, in their order.
    fn keys(shape: Shape, dim: usize, records: &[u8]) -> Vec<(u128, u32)> {
        let chunks = records.chunks_exact(shape.record_bytes());
        chunks
            .map(|record| (shape.number(record, dim), super::super::point::doc_of(record)))
            .collect()
    }

    proptest! {
        #[test]
        fn sorted_records_are_those_of_a_plain_sort(
            dims in 1usize..4, width in 1usize..4, dim in 0usize..3,
            bytes in prop::collection::vec(0u8..4, 0..3000),
        ) {
            let shape = Shape::new(dims, width).unwrap();
            let dim = dim % dims;
            let mut ours = records(shape, &bytes);
            let mut plain: Vec<&[u8]> = Vec::new();
            let copy = ours.clone();
            plain.extend(copy.chunks_exact(shape.record_bytes()));
            plain.sort_by_key(|record| (shape.number(record, dim), super::super::point::doc_of(record)));
            sort(&mut ours, Key::new(shape, dim));
            prop_assert_eq!(keys(shape, dim, &ours), keys(shape, dim, &plain.concat()));
            // Nothing lost: the same records in any order.
            let mut one: Vec<&[u8]> = ours.chunks_exact(shape.record_bytes()).collect();
            let mut other = plain;
            one.sort();
            other.sort();
            prop_assert_eq!(one, other);
        }

        #[test]
        fn selected_records_are_the_smallest(
            dims in 1usize..4, dim in 0usize..3, k in any::<prop::sample::Index>(),
            bytes in prop::collection::vec(0u8..3, 16..3000),
        ) {
            let shape = Shape::new(dims, 2).unwrap();
            let dim = dim % dims;
            let mut ours = records(shape, &bytes);
            let mut plain = keys(shape, dim, &ours);
            plain.sort();
            let k = k.index(plain.len() + 1);
            select(&mut ours, Key::new(shape, dim), k);
            let mut found = keys(shape, dim, &ours);
            found[..k].sort();
            found[k..].sort();
            prop_assert_eq!(found, plain);
        }
    }
}
