//! Leaf blocks of a BKD tree: up to 512 points that share a cell.
//!
//! Always true
//! 1. Points are sorted by the leaf's sort dimension, ties by document.
//! 2. `count >= 1`; an empty cell has no leaf.
//! 3. A leaf is read whole; nothing points into its middle.
//! 4. A document handed out is below the segment's document count, whatever the bytes say.
//!
//! Layout (little-endian)
//!
//! | bytes       | what                                     |
//! |-------------|------------------------------------------|
//! | 2           | count                                    |
//! | 1           | sort dimension                           |
//! | dims        | length of the prefix shared, each dim    |
//! | sum of them | the shared prefixes                      |
//! | rest        | doc ids, then value suffixes, run-length |
//!
//! The documents are one of
//!
//! | kind | bytes after it      | what                                                       |
//! |------|---------------------|------------------------------------------------------------|
//! | 0    | 4                   | the first; each next one is the document after             |
//! | 1    | 4, 1, packed        | the first, a width, `count - 1` gaps between rising ones   |
//! | 2    | 4, 1, packed        | the lowest, a width, `count` distances from it             |
//!
//! (a gap is stored less one; packed as in `bytes/packed`), and the values one of
//!
//! | kind | bytes after it           | what                                                  |
//! |------|--------------------------|-------------------------------------------------------|
//! | 0    | count * suffix           | the suffix of each point, dimension after dimension   |
//! | 1    | 2, runs * (2 + suffix)   | number of runs; for each, the count of points before its end, then the suffix its points share |
//!
//! Entries have one size in both, so that one dimension is searched by halving.
//!
//! Example: the points 7→0x0101 and 9→0x0103 in one dimension of two bytes are
//! `02 00 | 00 | 01 | 01 | 01 07 00 00 00 01 01 | 00 01 03`.
//!
//! Not here: choosing cells (`build`) and walking them (`tree`).

use std::ops::Range;

use super::point::{Bounds, Shape, doc_of, number};
use super::{DIMS_MAX, LEAF_POINTS, WIDTH_MAX};
use crate::bytes::packed::{self, Packed};

const DOCS_CONSECUTIVE: u8 = 0;
const DOCS_RISING: u8 = 1;
const DOCS_ANY: u8 = 2;

const VALUES_PLAIN: u8 = 0;
const VALUES_RUNS: u8 = 1;

/// What is wrong with a leaf's bytes.
pub type Malformed = &'static str;

/// Appends the leaf of `records`, which are sorted by `sort_dim`.
pub fn write(shape: Shape, sort_dim: usize, records: &[u8], out: &mut Vec<u8>) {
    let size = shape.record_bytes();
    let count = records.len() / size;
    assert!((1..=LEAF_POINTS).contains(&count), "a leaf has 1 to 512 points");
    assert!(sort_dim < shape.dims(), "a dimension of the shape");
    let prefixes = shared_prefixes(shape, records);
    let first = &records[..size];
    out.extend_from_slice(&(count as u16).to_le_bytes());
    out.push(sort_dim as u8);
    out.extend(prefixes[..shape.dims()].iter().map(|&len| len as u8));
    for (dim, &len) in prefixes[..shape.dims()].iter().enumerate() {
        out.extend_from_slice(&first[dim * shape.width()..][..len]);
    }
    write_docs(records.chunks_exact(size).map(doc_of).collect(), out);
    write_values(shape, &prefixes, records, out);
}

/// For each dimension, how many first bytes all records share.
fn shared_prefixes(shape: Shape, records: &[u8]) -> [usize; DIMS_MAX] {
    let (size, width) = (shape.record_bytes(), shape.width());
    let mut prefixes = [0; DIMS_MAX];
    prefixes[..shape.dims()].fill(width);
    for record in records[size..].chunks_exact(size) {
        for (dim, len) in prefixes[..shape.dims()].iter_mut().enumerate() {
            let at = dim * width;
            let pairs = records[at..at + *len].iter().zip(&record[at..at + *len]);
            *len = pairs.take_while(|(one, other)| one == other).count();
        }
    }
    prefixes
}

/// Appends the documents of a leaf in the smallest form that can hold them.
fn write_docs(docs: Vec<u32>, out: &mut Vec<u8>) {
    let rising = docs.windows(2).all(|pair| pair[0] < pair[1]);
    let (first, last) = (docs[0], docs[docs.len() - 1]);
    if rising && (last - first) as usize == docs.len() - 1 {
        out.push(DOCS_CONSECUTIVE);
        out.extend_from_slice(&first.to_le_bytes());
        return;
    }
    let (kind, base, numbers): (u8, u32, Vec<u64>) = if rising {
        let gaps = docs.windows(2).map(|pair| u64::from(pair[1] - pair[0] - 1));
        (DOCS_RISING, first, gaps.collect())
    } else {
        let lowest = docs.iter().copied().min().expect("a leaf has a point");
        (DOCS_ANY, lowest, docs.iter().map(|doc| u64::from(doc - lowest)).collect())
    };
    let bits = packed::width(numbers.iter().copied().max().unwrap_or(0));
    out.push(kind);
    out.extend_from_slice(&base.to_le_bytes());
    out.push(bits);
    packed::write(&numbers, bits, out);
}

/// Appends the values of a leaf, as runs where that is smaller.
fn write_values(shape: Shape, prefixes: &[usize], records: &[u8], out: &mut Vec<u8>) {
    let (size, width) = (shape.record_bytes(), shape.width());
    let count = records.len() / size;
    let suffix: usize = prefixes[..shape.dims()].iter().map(|len| width - len).sum();
    let value = |index: usize| &records[index * size..][..shape.value_bytes()];
    let push_suffix = |index: usize, out: &mut Vec<u8>| {
        for (dim, &len) in prefixes[..shape.dims()].iter().enumerate() {
            out.extend_from_slice(&value(index)[dim * width + len..(dim + 1) * width]);
        }
    };
    let ends: Vec<usize> =
        (1..=count).filter(|&end| end == count || value(end) != value(end - 1)).collect();
    if 2 + ends.len() * (2 + suffix) < count * suffix {
        out.push(VALUES_RUNS);
        out.extend_from_slice(&(ends.len() as u16).to_le_bytes());
        for end in ends {
            out.extend_from_slice(&(end as u16).to_le_bytes());
            push_suffix(end - 1, out);
        }
    } else {
        out.push(VALUES_PLAIN);
        for index in 0..count {
            push_suffix(index, out);
        }
    }
}

/// A leaf's bytes, looked through once: all lengths are right, all counts inside their limits.
#[derive(Clone, Debug)]
pub struct Leaf<'a> {
    shape: Shape,
    count: usize,
    sort_dim: usize,
    doc_count: u32,
    /// Length of the shared prefix, each dimension.
    prefixes: [usize; DIMS_MAX],
    /// A value whose prefixes are filled in.
    template: [u8; DIMS_MAX * WIDTH_MAX],
    docs: Docs<'a>,
    values: Values<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Docs<'a> {
    Consecutive { first: u32 },
    Rising { first: u32, gaps: Packed<'a> },
    Any { lowest: u32, distances: Packed<'a> },
}

#[derive(Clone, Copy, Debug)]
struct Values<'a> {
    entries: &'a [u8],
    /// Bytes of an entry's suffix.
    suffix: usize,
    /// Number of runs; `None` where each point has its own entry.
    runs: Option<usize>,
}

impl<'a> Leaf<'a> {
    /// Looks through the bytes of a leaf of a segment of `doc_count` documents.
    pub fn parse(shape: Shape, bytes: &'a [u8], doc_count: u32) -> Result<Self, Malformed> {
        const SHORT: Malformed = "a leaf is cut short";
        let (count, rest) = bytes.split_first_chunk::<2>().ok_or(SHORT)?;
        let count = usize::from(u16::from_le_bytes(*count));
        if !(1..=LEAF_POINTS).contains(&count) {
            return Err("a leaf has 1 to 512 points");
        }
        let (&sort_dim, rest) = rest.split_first().ok_or(SHORT)?;
        let sort_dim = usize::from(sort_dim);
        if sort_dim >= shape.dims() {
            return Err("a leaf's sort dimension is one of its dimensions");
        }
        let (lens, mut rest) = rest.split_at_checked(shape.dims()).ok_or(SHORT)?;
        let mut prefixes = [0; DIMS_MAX];
        let mut template = [0; DIMS_MAX * WIDTH_MAX];
        let mut suffix = 0;
        for (dim, &len) in lens.iter().enumerate() {
            let len = usize::from(len);
            if len > shape.width() {
                return Err("a shared prefix is no longer than the number");
            }
            let prefix;
            (prefix, rest) = rest.split_at_checked(len).ok_or(SHORT)?;
            template[dim * shape.width()..][..len].copy_from_slice(prefix);
            prefixes[dim] = len;
            suffix += shape.width() - len;
        }
        let (docs, rest) = Docs::parse(rest, count, doc_count)?;
        let values = Values::parse(rest, count, suffix)?;
        Ok(Self { shape, count, sort_dim, doc_count, prefixes, template, docs, values })
    }

    /// How many points there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Dimension by which the points are sorted.
    pub fn sort_dim(&self) -> usize {
        self.sort_dim
    }

    /// The documents of all points, in the leaf's order, in the front of `out`.
    #[inline]
    pub fn docs<'o>(&self, out: &'o mut [u32; LEAF_POINTS]) -> Result<&'o [u32], Malformed> {
        let docs = &mut out[..self.count];
        match self.docs {
            Docs::Consecutive { first } => {
                for (doc, to) in (first..).zip(docs.iter_mut()) {
                    *to = doc;
                }
                // The last was compared with the count when the leaf was looked through.
                return Ok(docs);
            }
            Docs::Rising { first, gaps } => {
                gaps.read_u32(&mut docs[1..]);
                docs[0] = first;
                let mut doc = first;
                for to in &mut docs[1..] {
                    doc = doc.wrapping_add(*to).wrapping_add(1);
                    *to = doc;
                }
            }
            Docs::Any { lowest, distances } => {
                distances.read_u32(docs);
                for to in docs.iter_mut() {
                    *to = to.wrapping_add(lowest);
                }
            }
        }
        // A fold compiles to vector code; stopping at the first would not.
        if docs.iter().fold(0, |most, &doc| most.max(doc)) >= self.doc_count {
            return Err("a point's document is one of the segment's");
        }
        Ok(docs)
    }

    /// Gives the ranges of points that lie inside `bounds` to `each`, in order.
    #[inline]
    pub fn matching(&self, bounds: &Bounds, mut each: impl FnMut(Range<usize>)) {
        debug_assert_eq!(bounds.shape(), self.shape);
        if self.shape.dims() == 1 {
            let range = self.matching_in_one_dimension(bounds);
            if !range.is_empty() {
                each(range);
            }
            return;
        }
        if let Some([(south, north), (west, east)]) = bounds.pair() {
            return self
                .pairs(|a, b| (south..=north).contains(&a) & (west..=east).contains(&b), each);
        }
        self.holding_any(|value| bounds.contains(value), each);
    }

    /// Gives the ranges of points whose packed values `holds` says yes to, in order.
    #[inline]
    pub fn holding(&self, holds: impl Fn(&[u8]) -> bool, each: impl FnMut(Range<usize>)) {
        if self.shape == Shape::PAIR {
            return self
                .pairs(|a, b| holds(&(u64::from(a) << 32 | u64::from(b)).to_be_bytes()), each);
        }
        self.holding_any(holds, each);
    }

    /// As [`Leaf::holding`], for points of any shape.
    fn holding_any(&self, holds: impl Fn(&[u8]) -> bool, mut each: impl FnMut(Range<usize>)) {
        let mut value = self.template;
        for entry in 0..self.values.len(self.count) {
            self.fill(entry, &mut value);
            if holds(&value[..self.shape.value_bytes()]) {
                each(self.values.points(entry));
            }
        }
    }

    /// As [`Leaf::holding`], for points of two numbers of four bytes: an entry is read as one
    /// number, as all entries of a leaf are cut in the same places.
    #[inline]
    fn pairs(&self, holds: impl Fn(u32, u32) -> bool, mut each: impl FnMut(Range<usize>)) {
        let first = u32::from_be_bytes(*self.template.first_chunk().expect("two numbers"));
        let second = u32::from_be_bytes(*self.template[4..].first_chunk().expect("two numbers"));
        // Bits of the suffixes: 0 to 32 each, the first before the second.
        let bits = [32 - 8 * self.prefixes[0] as u32, 32 - 8 * self.prefixes[1] as u32];
        for entry in 0..self.values.len(self.count) {
            let bytes = u64::from_be_bytes(self.values.eight(entry));
            // In two steps, as none may be by 64.
            let high = bytes >> 1 >> (63 - bits[0]);
            let low = bytes << bits[0] >> 1 >> (63 - bits[1]);
            if holds(first | high as u32, second | low as u32) {
                each(self.values.points(entry));
            }
        }
    }

    /// The points of a sorted leaf that lie inside `bounds`.
    fn matching_in_one_dimension(&self, bounds: &Bounds) -> Range<usize> {
        let (low, high) = bounds.range(0);
        let len = self.values.len(self.count);
        let first = self.first_entry(0..len, |value| value >= low);
        let end = self.first_entry(first..len, |value| value > high);
        if first == end {
            return 0..0;
        }
        self.values.points(first).start..self.values.points(end - 1).end
    }

    /// The first entry of a range for which `reached` holds; it must hold for all after it.
    fn first_entry(&self, range: Range<usize>, reached: impl Fn(u128) -> bool) -> usize {
        let mut value = self.template;
        let width = self.shape.width();
        let (mut start, mut end) = (range.start, range.end);
        while start < end {
            let middle = start + (end - start) / 2;
            self.fill(middle, &mut value);
            if reached(number(&value[..width])) {
                end = middle;
            } else {
                start = middle + 1;
            }
        }
        start
    }

    /// Gives each point's packed value and place in the leaf to `each`, in order.
    pub fn for_each_value(&self, mut each: impl FnMut(&[u8], usize)) {
        let mut value = self.template;
        for entry in 0..self.values.len(self.count) {
            self.fill(entry, &mut value);
            for point in self.values.points(entry) {
                each(&value[..self.shape.value_bytes()], point);
            }
        }
    }

    /// Puts the suffixes of an entry behind the prefixes in `value`.
    #[inline]
    fn fill(&self, entry: usize, value: &mut [u8; DIMS_MAX * WIDTH_MAX]) {
        let mut suffix = self.values.suffix_of(entry);
        let width = self.shape.width();
        for (dim, &prefix) in self.prefixes[..self.shape.dims()].iter().enumerate() {
            let (here, rest) = suffix.split_at(width - prefix);
            value[dim * width + prefix..(dim + 1) * width].copy_from_slice(here);
            suffix = rest;
        }
    }
}

impl<'a> Docs<'a> {
    /// Takes the documents off the front of `bytes`.
    fn parse(bytes: &'a [u8], count: usize, doc_count: u32) -> Result<(Self, &'a [u8]), Malformed> {
        const SHORT: Malformed = "a leaf's documents are cut short";
        let (&kind, rest) = bytes.split_first().ok_or(SHORT)?;
        let (base, rest) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
        let base = u32::from_le_bytes(*base);
        if kind == DOCS_CONSECUTIVE {
            if u64::from(base) + count as u64 > u64::from(doc_count) {
                return Err("a point's document is one of the segment's");
            }
            return Ok((Self::Consecutive { first: base }, rest));
        }
        let (&bits, rest) = rest.split_first().ok_or(SHORT)?;
        if bits > 32 {
            return Err("a document has at most 32 bits");
        }
        match kind {
            DOCS_RISING => {
                let (gaps, rest) = Packed::new(rest, count - 1, bits).ok_or(SHORT)?;
                Ok((Self::Rising { first: base, gaps }, rest))
            }
            DOCS_ANY => {
                let (distances, rest) = Packed::new(rest, count, bits).ok_or(SHORT)?;
                Ok((Self::Any { lowest: base, distances }, rest))
            }
            _ => Err("a leaf's documents have one of three forms"),
        }
    }
}

impl<'a> Values<'a> {
    /// Takes the values, which end the leaf.
    fn parse(bytes: &'a [u8], count: usize, suffix: usize) -> Result<Self, Malformed> {
        const LENGTH: Malformed = "a leaf's values have another length than their count says";
        let (&kind, rest) = bytes.split_first().ok_or(LENGTH)?;
        match kind {
            VALUES_PLAIN => {
                if rest.len() != count * suffix {
                    return Err(LENGTH);
                }
                Ok(Self { entries: rest, suffix, runs: None })
            }
            VALUES_RUNS => {
                let (runs, entries) = rest.split_first_chunk::<2>().ok_or(LENGTH)?;
                let runs = usize::from(u16::from_le_bytes(*runs));
                if !(1..=count).contains(&runs) || entries.len() != runs * (2 + suffix) {
                    return Err(LENGTH);
                }
                let values = Self { entries, suffix, runs: Some(runs) };
                let rising = (1..runs).all(|run| values.end(run - 1) < values.end(run));
                if !rising || values.end(0) == 0 || values.end(runs - 1) != count {
                    return Err("the runs of a leaf end one after another, the last at its count");
                }
                Ok(values)
            }
            _ => Err("a leaf's values have one of two forms"),
        }
    }

    /// How many entries there are.
    fn len(&self, count: usize) -> usize {
        self.runs.unwrap_or(count)
    }

    /// The points that an entry stands for.
    #[inline]
    fn points(&self, entry: usize) -> Range<usize> {
        match self.runs {
            None => entry..entry + 1,
            Some(_) if entry == 0 => 0..self.end(0),
            Some(_) => self.end(entry - 1)..self.end(entry),
        }
    }

    /// The suffix of an entry.
    #[inline]
    fn suffix_of(&self, entry: usize) -> &'a [u8] {
        let head = if self.runs.is_some() { 2 } else { 0 };
        &self.entries[entry * (head + self.suffix) + head..][..self.suffix]
    }

    /// Eight bytes from the suffix of an entry on, which has no more; what follows it means nothing.
    #[inline]
    fn eight(&self, entry: usize) -> [u8; 8] {
        let head = if self.runs.is_some() { 2 } else { 0 };
        let rest = &self.entries[entry * (head + self.suffix) + head..];
        rest.first_chunk().copied().unwrap_or_else(|| {
            let mut eight = [0; 8];
            eight[..rest.len()].copy_from_slice(rest);
            eight
        })
    }

    /// Number of points before the end of a run.
    #[inline]
    fn end(&self, run: usize) -> usize {
        let bytes = self.entries[run * (2 + self.suffix)..].first_chunk::<2>();
        usize::from(u16::from_le_bytes(*bytes.expect("the entries' length was checked")))
    }
}

#[cfg(test)]
mod tests;
