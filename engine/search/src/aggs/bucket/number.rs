//! Keys that are made of numbers: widths, times, ranges, cells.

use std::ops::Range;

use mapping::types::sortable;

use super::keyed::Keys;
use super::once::{Once, Places};
use crate::aggs::geo;
use crate::aggs::partial::Key;
use crate::aggs::read::Numbers;
use crate::aggs::rounding::{Beat, Rounder};
use crate::aggs::source::point;
use crate::iter::Turn;

/// What a number's key is.
pub enum Scale {
    /// Width, offset, and hard bounds.
    Width {
        /// Width of a bucket.
        interval: f64,
        /// Where buckets begin.
        offset: f64,
        /// Only buckets that would begin between these if there were no offset.
        hard: (f64, f64),
    },
    /// Beginning of a bucket of time, in milliseconds, between hard bounds.
    Time(Box<Rounder>, (i64, i64)),
    /// Place of a bucket of time, all of one length, between the least and the greatest value.
    Beat(Box<Beat>),
    /// Cell of geohashes.
    GeoHash(u8, Option<[f64; 4]>),
    /// Tile.
    GeoTile(u8, Option<[f64; 4]>),
    /// The number itself, as a double.
    Value,
}

/// Numbers on a scale.
pub struct ByScale {
    numbers: Numbers,
    scale: Scale,
}

impl ByScale {
    /// Numbers on `scale`.
    pub fn new(numbers: Numbers, scale: Scale) -> Self {
        Self { numbers, scale }
    }

    /// Moments in buckets of time, between hard bounds.
    pub fn time(numbers: Numbers, rounder: Rounder, hard: (i64, i64)) -> Self {
        let ends = numbers.ends().map(|(low, high)| {
            let (low, high) = (numbers.form.millis(low), numbers.form.millis(high));
            (low.min(high), low.max(high))
        });
        let beat = ends.and_then(|(low, high)| rounder.beat(low, high));
        // Keys between hard bounds are judged one by one.
        let scale = match beat.filter(|beat| hard.0 <= beat.start(0) && high_of(beat) < hard.1) {
            Some(beat) => Scale::Beat(Box::new(beat)),
            None => Scale::Time(Box::new(rounder), hard),
        };
        Self { numbers, scale }
    }
}

/// The beginning of its last bucket.
fn high_of(beat: &Beat) -> i64 {
    beat.start(beat.span as i64 - 1)
}

impl Keys for ByScale {
    fn span(&self) -> usize {
        match &self.scale {
            Scale::Beat(beat) => beat.span,
            _ => 0,
        }
    }

    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.numbers.prepare(docs, turn)
    }

    #[inline]
    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], mut give: F) {
        let form = self.numbers.form;
        // Values of a document rise, so equal keys follow one another (but for cells of points).
        let mut last = (usize::MAX, 0);
        let mut push = |at: usize, key: i64| {
            if last != (at, key) {
                last = (at, key);
                give(at, key);
            }
        };
        match &mut self.scale {
            Scale::Width { interval, offset, hard } => {
                self.numbers.each(docs, |at, raw| {
                    let key = ((form.double(raw) - *offset) / *interval).floor();
                    let plain = key * *interval;
                    if hard.0 <= plain && plain <= hard.1 {
                        push(at, sortable::from_f64(key));
                    }
                });
            }
            Scale::Beat(beat) => {
                self.numbers.each(docs, |at, raw| push(at, beat.place(form.millis(raw))));
            }
            Scale::Time(rounder, hard) => {
                self.numbers.each(docs, |at, raw| {
                    let key = rounder.round(form.millis(raw));
                    if hard.0 <= key && key < hard.1 {
                        push(at, key);
                    }
                });
            }
            Scale::Value => self.numbers.each(docs, |at, raw| {
                push(at, sortable::from_f64(form.double(raw)));
            }),
            Scale::GeoHash(level, bounds) | Scale::GeoTile(level, bounds) => {
                let (level, bounds) = (*level, *bounds);
                let tiles = matches!(self.scale, Scale::GeoTile(..));
                let mut cells = Once::default();
                self.numbers.each(docs, |at, raw| {
                    let (lat, lon) = point(raw);
                    if bounds.is_some_and(|sides| !geo::in_box(&sides, lat, lon)) {
                        return;
                    }
                    let cell = match tiles {
                        true => geo::tile_cell(lat, lon, level),
                        false => geo::hash_cell(lat, lon, level),
                    };
                    if cells.is_new(at, cell) {
                        push(at, cell);
                    }
                });
            }
        }
    }

    fn key(&mut self, key: i64) -> segment::Result<Option<Key>> {
        Ok(Some(match &self.scale {
            Scale::Width { interval, offset, .. } => {
                Key::Double(sortable::to_f64(key) * interval + offset + 0.0)
            }
            Scale::Value => Key::Double(sortable::to_f64(key)),
            Scale::Beat(beat) => Key::Long(beat.start(key)),
            Scale::Time(..) | Scale::GeoHash(..) | Scale::GeoTile(..) => Key::Long(key),
        }))
    }
}

/// What is measured of a value before it meets ranges.
pub enum Measure {
    /// The number.
    Number,
    /// Distance from a point in units of so many metres.
    Distance {
        /// From where.
        origin: (f64, f64),
        /// Metres of a unit.
        metres: f64,
        /// On the plane.
        plane: bool,
    },
}

/// Ranges of numbers: the key is the place of the range.
pub struct ByRange {
    numbers: Numbers,
    measure: Measure,
    /// Lower end inside, upper end outside; sorted.
    ranges: Vec<(f64, f64)>,
    given: Places,
}

impl ByRange {
    /// Ranges, sorted by both ends.
    pub fn new(numbers: Numbers, measure: Measure, ranges: Vec<(f64, f64)>) -> Self {
        Self { numbers, measure, ranges, given: Places::default() }
    }
}

impl Keys for ByRange {
    fn span(&self) -> usize {
        self.ranges.len()
    }

    fn keys_max(&self) -> usize {
        self.ranges.len()
    }

    fn bytes(&self) -> usize {
        self.given.bytes()
    }

    fn prepare(&mut self, docs: &Range<u32>, turn: &mut Turn<'_>) -> bool {
        self.numbers.prepare(docs, turn)
    }

    #[inline]
    fn each<F: FnMut(usize, i64)>(&mut self, docs: &[u32], mut give: F) {
        let form = self.numbers.form;
        let mut seen = usize::MAX;
        let Self { ranges, given, .. } = self;
        let measure = &self.measure;
        self.numbers.each(docs, |at, raw| {
            let value = match measure {
                Measure::Number => form.double(raw),
                Measure::Distance { origin, metres, plane } => {
                    let to = point(raw);
                    let far = match plane {
                        true => geo::plane_metres(*origin, to),
                        false => geo::arc_metres(*origin, to),
                    };
                    far / metres
                }
            };
            if seen != at {
                seen = at;
                given.begin();
            }
            for (place, (from, to)) in ranges.iter().enumerate() {
                if *from > value {
                    break;
                }
                if value < *to && given.is_new(place) {
                    give(at, place as i64);
                }
            }
        });
    }

    fn key(&mut self, key: i64) -> segment::Result<Option<Key>> {
        Ok(Some(Key::Long(key)))
    }

    fn always_max(&self) -> usize {
        self.ranges.len()
    }

    fn always(&mut self) -> segment::Result<Vec<i64>> {
        Ok((0..self.ranges.len() as i64).collect())
    }
}
