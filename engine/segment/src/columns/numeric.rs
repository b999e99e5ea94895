//! The numbers of a window, in the smallest of four forms; any of them is read alone.
//!
//! Always true
//! 1. Every form reads a number in constant time: no form must be read from its start.
//! 2. Arithmetic wraps, so that damaged bytes give wrong numbers and no panic.
//!
//! Layout (little-endian): one byte tells the form, then
//!
//! | form | name      | bytes                 | number `i`                            |
//! |------|-----------|-----------------------|---------------------------------------|
//! | 0    | one       | none                  | the zone's least                      |
//! | 1    | distances | 8 factor, 1 width, packed | least + factor * packed            |
//! | 2    | line      | 8 base, 8 slope, 1 width, packed | base + (slope * i) / 2²⁰ + packed |
//! | 3    | table     | 1 entries less one, 8 each entry, 1 width, packed | the entry at packed |
//!
//! Packed is `bytes/packed`. Distances are the frame of reference of Zukowski, Héman, Nes and
//! Boncz, "Super-scalar RAM-CPU cache compression" (2006), with the greatest common divisor that
//! Lucene takes out of dates that are whole days; the line fits sequence numbers and timestamps;
//! the table few, far-apart numbers.
//!
//! Example: 10, 20, 40 with the least 10 are `01 | 0a 00×7 | 02 | 34 …`: 0, 1 and 3 at 2 bits.

use crate::bytes::packed::{self, Packed};
use crate::footer::u64_at;

const ONE: u8 = 0;
const DISTANCES: u8 = 1;
const LINE: u8 = 2;
const TABLE: u8 = 3;

/// Entries of a table at most: more would not fit in a cache line or two of hot values.
const TABLE_MAX: usize = 256;

/// Binary places of a slope.
const SLOPE_BITS: u32 = 20;

/// Fewer numbers than this are not worth a line's 17 bytes.
const LINE_MIN: usize = 16;

/// Appends `values`, of which there is at least one.
pub fn write(values: &[i64], out: &mut Vec<u8>) {
    let (min, max) = bounds(values).expect("a window without values is not written");
    if min == max {
        out.push(ONE);
        return;
    }
    let (factor, bits) = distances(values, min, max);
    let size = |bits: u8, head: usize| packed::byte_count(values.len(), bits) + head;
    let mut best = (size(bits, 9), DISTANCES);
    let line = line(values);
    if let Some(line) = &line {
        best = best.min((size(line.bits, 17), LINE));
    }
    let table = table(values);
    if let Some(table) = &table {
        let bits = packed::width(table.len() as u64 - 1);
        best = best.min((size(bits, 2 + table.len() * 8), TABLE));
    }
    out.push(best.1);
    match (best.1, line, table) {
        (LINE, Some(line), _) => {
            out.extend_from_slice(&line.base.to_le_bytes());
            out.extend_from_slice(&line.slope.to_le_bytes());
            let numbers = values.iter().enumerate();
            let rest = numbers.map(|(i, value)| value.wrapping_sub(line.at(i)) as u64);
            write_packed(rest.collect(), line.bits, out);
        }
        (TABLE, _, Some(table)) => {
            out.push((table.len() - 1) as u8);
            out.extend(table.iter().flat_map(|entry| entry.to_le_bytes()));
            let entry = |value: &i64| table.binary_search(value).expect("every value is in it");
            let entries = values.iter().map(|value| entry(value) as u64);
            write_packed(entries.collect(), packed::width(table.len() as u64 - 1), out);
        }
        _ => {
            out.extend_from_slice(&factor.to_le_bytes());
            let distances = values.iter().map(|value| value.wrapping_sub(min) as u64 / factor);
            write_packed(distances.collect(), bits, out);
        }
    }
}

/// Appends a width and packed numbers.
fn write_packed(numbers: Vec<u64>, bits: u8, out: &mut Vec<u8>) {
    out.push(bits);
    packed::write(&numbers, bits, out);
}

/// Least and greatest value.
pub fn bounds(values: &[i64]) -> Option<(i64, i64)> {
    let first = *values.first()?;
    Some(values.iter().fold((first, first), |(min, max), &value| (min.min(value), max.max(value))))
}

/// The greatest common divisor of all distances from `min`, and the width of what it leaves.
fn distances(values: &[i64], min: i64, max: i64) -> (u64, u8) {
    let mut factor = 0;
    for value in values {
        factor = gcd(factor, value.wrapping_sub(min) as u64);
        if factor == 1 {
            break;
        }
    }
    (factor, packed::width(max.wrapping_sub(min) as u64 / factor))
}

/// Euclid's; `gcd(0, b)` is `b`.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A line below all values, and the width of their distances from it.
#[derive(Clone, Copy, Debug)]
struct Line {
    base: i64,
    slope: i64,
    bits: u8,
}

impl Line {
    /// The line at `index`.
    #[inline]
    fn at(&self, index: usize) -> i64 {
        self.base.wrapping_add(rise(self.slope, index))
    }
}

/// How far a line has risen at `index`.
#[inline]
fn rise(slope: i64, index: usize) -> i64 {
    ((i128::from(slope) * index as i128) >> SLOPE_BITS) as i64
}

/// The line from the first value to the last, lowered under all of them; `None` where numbers are
/// few or too far apart.
fn line(values: &[i64]) -> Option<Line> {
    if values.len() < LINE_MIN {
        return None;
    }
    let (first, last) = (values[0], values[values.len() - 1]);
    let rise_all = (i128::from(last) - i128::from(first)) << SLOPE_BITS;
    let slope = i64::try_from(rise_all / (values.len() as i128 - 1)).ok()?;
    let (mut least, mut most) = (i128::MAX, i128::MIN);
    for (index, &value) in values.iter().enumerate() {
        let on_line = (i128::from(slope) * index as i128) >> SLOPE_BITS;
        let distance = i128::from(value) - i128::from(first) - on_line;
        least = least.min(distance);
        most = most.max(distance);
    }
    let bits = packed::width(u64::try_from(most - least).ok()?);
    let base = i64::try_from(i128::from(first) + least).ok()?;
    Some(Line { base, slope, bits })
}

/// The different values, rising; `None` where there are too many.
fn table(values: &[i64]) -> Option<Vec<i64>> {
    let mut entries: Vec<i64> = Vec::new();
    for value in values {
        if let Err(at) = entries.binary_search(value) {
            if entries.len() == TABLE_MAX {
                return None;
            }
            entries.insert(at, *value);
        }
    }
    Some(entries)
}

/// A view of a window's numbers.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    form: Form<'a>,
    count: usize,
}

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    One { value: i64 },
    Distances { min: i64, factor: u64, packed: Packed<'a> },
    Line { line: Line, packed: Packed<'a> },
    Table { entries: &'a [[u8; 8]], packed: Packed<'a> },
}

impl<'a> Values<'a> {
    /// Looks at `count` numbers, the least of which is `min`; they end the bytes.
    #[inline]
    pub fn parse(bytes: &'a [u8], count: usize, min: i64) -> Result<Self, &'static str> {
        const SHORT: &str = "the numbers of a window are cut short";
        let (&form, rest) = bytes.split_first().ok_or(SHORT)?;
        let packed = |rest: &'a [u8]| -> Result<Packed<'a>, &'static str> {
            let (&bits, rest) = rest.split_first().ok_or(SHORT)?;
            let (packed, rest) = Packed::new(rest, count, bits).ok_or(SHORT)?;
            if rest.is_empty() { Ok(packed) } else { Err("the numbers end their window") }
        };
        let form = match form {
            ONE if rest.is_empty() => Form::One { value: min },
            DISTANCES => {
                let (factor, rest) = rest.split_first_chunk::<8>().ok_or(SHORT)?;
                let factor = u64::from_le_bytes(*factor);
                Form::Distances { min, factor, packed: packed(rest)? }
            }
            LINE => {
                let (head, rest) = rest.split_first_chunk::<16>().ok_or(SHORT)?;
                let (base, slope) = (u64_at(head, 0) as i64, u64_at(head, 8) as i64);
                Form::Line { line: Line { base, slope, bits: 0 }, packed: packed(rest)? }
            }
            TABLE => {
                let (&last, rest) = rest.split_first().ok_or(SHORT)?;
                let len = (usize::from(last) + 1) * 8;
                let (entries, rest) = rest.split_at_checked(len).ok_or(SHORT)?;
                Form::Table { entries: entries.as_chunks().0, packed: packed(rest)? }
            }
            _ => return Err("numbers have one of four forms"),
        };
        Ok(Self { form, count })
    }

    /// Number `index`, which must be below the count.
    #[inline]
    pub fn get(&self, index: usize) -> i64 {
        debug_assert!(index < self.count);
        match self.form {
            Form::One { value } => value,
            Form::Distances { min, factor, packed } => {
                min.wrapping_add(factor.wrapping_mul(packed.get(index)) as i64)
            }
            Form::Line { line, packed } => line.at(index).wrapping_add(packed.get(index) as i64),
            Form::Table { entries, packed } => entry(entries, packed.get(index)),
        }
    }

    /// The least number and the distances of all from it, where these have at most 32 bits.
    #[inline]
    pub fn narrow(&self) -> Option<(i64, &Packed<'a>)> {
        match &self.form {
            Form::Distances { min, factor: 1, packed } if packed.is_narrow() => {
                Some((*min, packed))
            }
            _ => None,
        }
    }

    /// Gives all numbers in order to `each`, in batches with the index of their first.
    #[inline]
    pub fn for_each_batch(&self, mut each: impl FnMut(usize, &[i64])) {
        const BATCH: usize = 128;
        let mut numbers = [0i64; BATCH];
        match self.form {
            Form::One { value } => {
                numbers.fill(value);
                let mut start = 0;
                while start < self.count {
                    let len = BATCH.min(self.count - start);
                    each(start, &numbers[..len]);
                    start += len;
                }
            }
            Form::Distances { min, factor: 1, packed } => packed.for_each_batch(|start, batch| {
                for (to, &distance) in numbers.iter_mut().zip(batch) {
                    *to = min.wrapping_add(distance as i64);
                }
                each(start, &numbers[..batch.len()]);
            }),
            Form::Distances { min, factor, packed } => packed.for_each_batch(|start, batch| {
                for (to, &distance) in numbers.iter_mut().zip(batch) {
                    *to = min.wrapping_add(factor.wrapping_mul(distance) as i64);
                }
                each(start, &numbers[..batch.len()]);
            }),
            Form::Line { line, packed } => packed.for_each_batch(|start, batch| {
                for (within, (to, &distance)) in numbers.iter_mut().zip(batch).enumerate() {
                    *to = line.at(start + within).wrapping_add(distance as i64);
                }
                each(start, &numbers[..batch.len()]);
            }),
            Form::Table { entries, packed } => packed.for_each_batch(|start, batch| {
                for (to, &index) in numbers.iter_mut().zip(batch) {
                    *to = entry(entries, index);
                }
                each(start, &numbers[..batch.len()]);
            }),
        }
    }
}

/// Entry `index` of a table; the last for an index beyond it, which only damage gives.
#[inline]
fn entry(entries: &[[u8; 8]], index: u64) -> i64 {
    let index = (index as usize).min(entries.len() - 1);
    i64::from_le_bytes(entries[index])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes and reads in both ways; gives the form.
    fn check(values: &[i64]) -> (u8, usize) {
        let mut bytes = Vec::new();
        write(values, &mut bytes);
        let (min, _) = bounds(values).unwrap();
        let read = Values::parse(&bytes, values.len(), min).unwrap();
        let alone: Vec<i64> = (0..values.len()).map(|index| read.get(index)).collect();
        assert_eq!(alone, values);
        let mut batched = Vec::new();
        read.for_each_batch(|start, batch| {
            assert_eq!(start, batched.len());
            batched.extend_from_slice(batch);
        });
        assert_eq!(batched, values);
        (bytes[0], bytes.len())
    }

    #[test]
    fn each_form_is_taken_where_it_pays() {
        assert_eq!(check(&[7; 100]), (ONE, 1));
        // Days in milliseconds leave their factor out: 10 bits each.
        let days: Vec<i64> = (0..1000).map(|n| (n * 617 % 1000) * 86_400_000).collect();
        assert_eq!(check(&days), (DISTANCES, 1 + 9 + 1250));
        // Sequence numbers take no bits at all.
        let sequence: Vec<i64> = (5_000_000..5_004_096).collect();
        assert_eq!(check(&sequence), (LINE, 18));
        // Three prices far apart.
        let prices: Vec<i64> = (0..1000).map(|n| [3, 1_000_003, -77_777_777][n % 3]).collect();
        assert_eq!(check(&prices), (TABLE, 1 + 1 + 24 + 1 + 250));
    }

    #[test]
    fn the_example_of_the_head_holds() {
        let mut bytes = Vec::new();
        write(&[10, 20, 40], &mut bytes);
        assert_eq!(bytes, [1, 10, 0, 0, 0, 0, 0, 0, 0, 2, 0b11_01_00]);
    }

    #[test]
    fn the_ends_of_the_range_survive() {
        check(&[i64::MIN, i64::MAX]);
        check(&[i64::MAX, i64::MIN, 0, -1, 1]);
        check(&(0..100).map(|n| i64::MIN + n * 3).collect::<Vec<_>>());
        let step = u64::MAX / 99;
        let steep: Vec<i64> = (0..100).map(|n| (n * step) as i64 ^ i64::MIN).collect();
        check(&steep);
    }

    fn values() -> impl Strategy<Value = Vec<i64>> {
        let wide = prop::collection::vec(any::<i64>(), 1..600);
        let small = prop::collection::vec(-300i64..300, 1..600);
        let few =
            prop::collection::vec(prop::sample::select(vec![0i64, 1 << 40, -9, i64::MIN]), 1..600);
        let rising =
            (any::<i32>(), prop::collection::vec(0i64..5000, 1..600)).prop_map(|(start, gaps)| {
                let mut at = i64::from(start);
                gaps.into_iter()
                    .map(|gap| {
                        at += gap;
                        at
                    })
                    .collect()
            });
        let scaled = (1i64..1_000_000, prop::collection::vec(-1000i64..1000, 1..300))
            .prop_map(|(factor, values)| values.into_iter().map(|value| value * factor).collect());
        prop_oneof![wide, small, few, rising, scaled]
    }

    proptest! {
        #[test]
        fn written_numbers_are_read(values in values()) {
            check(&values);
        }

        #[test]
        fn foreign_bytes_never_panic(form in 0u8..5, bytes: Vec<u8>, count in 1usize..300, min: i64) {
            let bytes = [&[form], bytes.as_slice()].concat();
            if let Ok(values) = Values::parse(&bytes, count, min) {
                let mut last = 0;
                values.for_each_batch(|_, batch| last = batch[batch.len() - 1]);
                prop_assert_eq!(last, values.get(count - 1));
            }
        }
    }
}
