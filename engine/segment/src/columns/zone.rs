//! What is known of each window of a column without reading it: counts, bounds, and where it lies.
//!
//! Always true
//! 1. There is a zone for each window of the segment, also for those without a value; such a
//!    window has no bytes, and 0 as both bounds.
//! 2. Windows lie behind one another, without a gap, to the end of the body.
//!
//! Layout (little-endian)
//!
//! | bytes        | what                               |
//! |--------------|------------------------------------|
//! | 4            | number of windows                  |
//! | 4            | number of documents with a value   |
//! | 8            | number of values                   |
//! | windows * 32 | zones                              |
//!
//! | zone at | bytes | what                                 |
//! |---------|-------|--------------------------------------|
//! | 0       | 8     | where the window ends in the body    |
//! | 8       | 4     | documents with a value               |
//! | 12      | 4     | values                               |
//! | 16      | 8     | least value                          |
//! | 24      | 8     | greatest value                       |
//!
//! What "value" means is the column's affair: a number, an ordinal, the length of a byte string.

use std::ops::{Range, RangeInclusive};

use super::WINDOW;
use crate::footer::{u32_at, u64_at};

const HEAD: usize = 16;
const ZONE: usize = 32;

/// What is known of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// Least value; 0 where there is none.
    pub min: i64,
    /// Greatest value; 0 where there is none.
    pub max: i64,
    /// Documents with a value.
    pub doc_count: u32,
    /// Values.
    pub value_count: u32,
}

impl Zone {
    /// Whether no document has a value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.doc_count == 0
    }

    /// Whether a value may lie in `range`.
    #[inline]
    pub fn touches(&self, range: &RangeInclusive<i64>) -> bool {
        !self.is_empty() && *range.start() <= self.max && self.min <= *range.end()
    }

    /// Whether every value lies in `range`.
    #[inline]
    pub fn is_within(&self, range: &RangeInclusive<i64>) -> bool {
        *range.start() <= self.min && self.max <= *range.end()
    }
}

/// The zones of a column that is being written.
#[derive(Clone, Debug, Default)]
pub struct ZonesWriter {
    bytes: Vec<u8>,
    doc_count: u32,
    value_count: u64,
}

impl ZonesWriter {
    /// Adds the next window, which ends at `end` of the body.
    pub fn push(&mut self, zone: Zone, end: u64) {
        assert!(zone.doc_count <= WINDOW, "a window's documents");
        assert!(zone.doc_count <= zone.value_count, "each of these documents has a value");
        assert!(zone.min <= zone.max, "bounds in order");
        self.bytes.extend_from_slice(&end.to_le_bytes());
        self.bytes.extend_from_slice(&zone.doc_count.to_le_bytes());
        self.bytes.extend_from_slice(&zone.value_count.to_le_bytes());
        self.bytes.extend_from_slice(&zone.min.to_le_bytes());
        self.bytes.extend_from_slice(&zone.max.to_le_bytes());
        self.doc_count += zone.doc_count;
        self.value_count += u64::from(zone.value_count);
    }

    /// Number of windows so far.
    pub fn window_count(&self) -> u32 {
        (self.bytes.len() / ZONE) as u32
    }

    /// The bytes of all zones.
    pub fn finish(self) -> Vec<u8> {
        let mut head = Vec::with_capacity(HEAD + self.bytes.len());
        head.extend_from_slice(&self.window_count().to_le_bytes());
        head.extend_from_slice(&self.doc_count.to_le_bytes());
        head.extend_from_slice(&self.value_count.to_le_bytes());
        head.extend_from_slice(&self.bytes);
        head
    }
}

/// The zones of an open column.
#[derive(Debug)]
pub struct Zones {
    zones: Box<[Zone]>,
    /// Where each window ends in the body.
    ends: Box<[u64]>,
    /// Where the first window begins.
    start: u64,
    doc_count: u32,
    value_count: u64,
    /// The bounds of all windows.
    bounds: Option<(i64, i64)>,
}

impl Zones {
    /// Takes the zones off the front of `bytes`: those of a segment of `doc_count` documents, whose
    /// windows fill `body` of the column's body.
    pub fn open(
        bytes: &[u8],
        body: Range<u64>,
        doc_count: u32,
    ) -> Result<(Self, &[u8]), &'static str> {
        if bytes.len() < HEAD {
            return Err("zones are cut short");
        }
        let windows = doc_count.div_ceil(WINDOW);
        if u32_at(bytes, 0) != windows {
            return Err("there is a zone for each window of the segment");
        }
        let len = windows as usize * ZONE;
        let (lines, rest) = bytes[HEAD..].split_at_checked(len).ok_or("zones are cut short")?;
        let mut zones = Self {
            zones: Box::default(),
            ends: lines.chunks_exact(ZONE).map(|line| u64_at(line, 0)).collect(),
            start: body.start,
            doc_count: u32_at(bytes, 4),
            value_count: u64_at(bytes, 8),
            bounds: None,
        };
        zones.zones = lines.chunks_exact(ZONE).map(zone).collect();
        zones.check(body, doc_count)?;
        Ok((zones, rest))
    }

    /// Checks what the layout promises, and unites the bounds.
    fn check(&mut self, body: Range<u64>, doc_count: u32) -> Result<(), &'static str> {
        let mut before = body.start;
        let (mut docs, mut values) = (0u64, 0u64);
        for (window, (zone, &end)) in self.zones.iter().zip(&self.ends).enumerate() {
            let span = WINDOW.min(doc_count - window as u32 * WINDOW);
            if zone.doc_count > span || zone.doc_count > zone.value_count {
                return Err("the counts of a window are possible");
            }
            if zone.is_empty() && *zone != Zone::default() {
                return Err("a window without documents has nothing");
            }
            if end < before || zone.is_empty() != (end == before) {
                return Err("windows with values, and no others, have bytes");
            }
            if zone.min > zone.max {
                return Err("the bounds of a window are in order");
            }
            if !zone.is_empty() {
                let (min, max) = self.bounds.unwrap_or((zone.min, zone.max));
                self.bounds = Some((min.min(zone.min), max.max(zone.max)));
            }
            docs += u64::from(zone.doc_count);
            values += u64::from(zone.value_count);
            before = end;
        }
        if before != body.end {
            return Err("the last window ends with the body");
        }
        if docs != u64::from(self.doc_count) || values != self.value_count {
            return Err("the counts of all windows add up");
        }
        Ok(())
    }

    /// The zone of a window; empty beyond the segment.
    #[inline]
    pub fn get(&self, window: u32) -> Zone {
        self.zones.get(window as usize).copied().unwrap_or_default()
    }

    /// All zones, by window.
    pub fn all(&self) -> &[Zone] {
        &self.zones
    }

    /// Where a window of the segment lies in the body.
    #[inline]
    pub fn range(&self, window: u32) -> Range<u64> {
        let window = window as usize;
        let start = if window == 0 { self.start } else { self.ends[window - 1] };
        start..self.ends[window]
    }

    /// Number of documents with a value.
    #[inline]
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Number of values.
    #[inline]
    pub fn value_count(&self) -> u64 {
        self.value_count
    }

    /// Least and greatest value; `None` where there is none.
    #[inline]
    pub fn bounds(&self) -> Option<(i64, i64)> {
        self.bounds
    }
}

/// Reads one zone.
fn zone(line: &[u8]) -> Zone {
    Zone {
        doc_count: u32_at(line, 8),
        value_count: u32_at(line, 12),
        min: u64_at(line, 16) as i64,
        max: u64_at(line, 24) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_windows() -> Vec<u8> {
        let mut writer = ZonesWriter::default();
        writer.push(Zone { min: -5, max: 9, doc_count: 3, value_count: 4 }, 30);
        writer.push(Zone::default(), 30);
        writer.push(Zone { min: 2, max: 2, doc_count: 1, value_count: 1 }, 31);
        writer.finish()
    }

    #[test]
    fn zones_add_up() {
        let bytes = two_windows();
        let (zones, rest) = Zones::open(&bytes, 10..31, 2 * WINDOW + 1).unwrap();
        assert!(rest.is_empty());
        assert_eq!((zones.doc_count(), zones.value_count()), (4, 5));
        assert_eq!(zones.bounds(), Some((-5, 9)));
        assert_eq!((zones.range(0), zones.range(1), zones.range(2)), (10..30, 30..30, 30..31));
        assert!(zones.get(99).is_empty(), "beyond the segment");
    }

    #[test]
    fn a_zone_knows_how_it_lies_to_a_range() {
        let zone = Zone { min: 10, max: 20, doc_count: 2, value_count: 2 };
        assert!(zone.touches(&(20..=30)));
        assert!(!zone.touches(&(21..=30)));
        assert!(zone.is_within(&(10..=20)));
        assert!(!zone.is_within(&(11..=20)));
        assert!(!Zone::default().touches(&(i64::MIN..=i64::MAX)), "no value, nothing to touch");
    }

    #[test]
    fn each_flipped_bit_is_refused_or_is_a_bound() {
        let good = two_windows();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let within = (bit / 8).checked_sub(HEAD).map(|at| at % ZONE);
            let bound = within.is_some_and(|at| at >= 16);
            let ends = within.is_some_and(|at| at < 8);
            let open = Zones::open(&bad, 10..31, 2 * WINDOW + 1);
            assert!(open.is_err() || bound || ends, "bit {bit}");
        }
        for len in 0..good.len() {
            assert!(Zones::open(&good[..len], 10..31, 2 * WINDOW + 1).is_err());
        }
    }
}
