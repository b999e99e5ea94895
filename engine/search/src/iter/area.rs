//! Places inside a shape, told by the whole numbers that places are kept as.
//!
//! A circle cuts each parallel in one arc around the meridian of its middle. Its [`Strips`] know, for
//! bands of neighbouring parallels, how far from that meridian all places are inside, and from where
//! on none is: two comparisons judge a place, and four a cell of the tree. Only places in between
//! have their distance computed (about one in a hundred).
//!
//! Always true
//! 1. What strips call inside or outside is so by [`Shape::holds`], float for float: their bounds
//!    leave room for far more than its rounding.
//! 2. The half width of a circle's arcs rises with the latitude up to one parallel, and falls from
//!    there on (or only rises, or only falls, where the circle holds a pole). So of some neighbouring
//!    parallels the narrowest is the first or the last.
//! 3. Strips exist for circles of a kilometre to a quarter of the way around the earth: below, the
//!    rounding of distances is seen; above, 2 does not hold.

use std::f64::consts::PI;
use std::ops::Range;
use std::sync::Arc;

use mapping::types::geo;
use segment::bkd::{Region, Relation};

use super::function::EARTH_RADIUS;
use crate::ast::GeoPoint;
use crate::plan::function::Shape;

/// Flips the sign of a place's number: then it rises as bytes do.
const SIGN: u32 = 1 << 31;

/// Radii, in metres, of circles that have strips.
const RADII: Range<f64> = 1000.0..10_000_000.0;

/// Places that make a strip worth its computation.
const PLACES_A_STRIP: u64 = 16;

/// Strips at most.
const STRIPS_MAX: u64 = 256;

/// A box, both ends inside, as points lie.
#[derive(Clone, Copy, Debug)]
struct Rectangle {
    lat: (u32, u32),
    lon: (u32, u32),
}

/// A shape that judges places as they are kept.
#[derive(Clone, Debug)]
pub struct Area {
    shape: Arc<Shape>,
    boxes: Vec<Rectangle>,
    strips: Option<Strips>,
}

impl Area {
    /// The area of a shape, among about `count` places.
    pub fn new(shape: &Arc<Shape>, count: u64) -> Self {
        let boxes = shape.boxes().into_iter().map(|[south, north, west, east]| Rectangle {
            lat: (
                flip(geo::encode_lat_ceil(south.clamp(-90.0, 90.0))),
                flip(geo::encode_lat(north.clamp(-90.0, 90.0))),
            ),
            lon: (
                flip(geo::encode_lon_ceil(west.clamp(-180.0, 180.0))),
                flip(geo::encode_lon(east.clamp(-180.0, 180.0))),
            ),
        });
        let boxes: Vec<Rectangle> = boxes.collect();
        let strips = match (&**shape, boxes.first()) {
            (Shape::Circle(middle, radius), Some(first))
                if RADII.contains(radius) && middle.lat.abs() <= 90.0 =>
            {
                let strips = (count / PLACES_A_STRIP).min(STRIPS_MAX);
                (strips > 1).then(|| Strips::new(*middle, *radius, first.lat, strips as u32))
            }
            _ => None,
        };
        Self { shape: Arc::clone(shape), boxes, strips }
    }

    /// Does it hold the place that a column's number stands for?
    #[inline]
    pub fn holds(&self, value: i64) -> bool {
        let (lat, lon) = geo::split(value);
        self.holds_point(flip(lat), flip(lon))
    }

    #[inline]
    fn holds_point(&self, lat: u32, lon: u32) -> bool {
        match &self.strips {
            Some(strips) => strips.look(lat, lon).unwrap_or_else(|| self.look_closely(lat, lon)),
            None => {
                self.boxes.iter().any(|area| area.holds(lat, lon)) && self.look_closely(lat, lon)
            }
        }
    }

    fn look_closely(&self, lat: u32, lon: u32) -> bool {
        let lat = geo::decode_lat((lat ^ SIGN) as i32);
        let lon = geo::decode_lon((lon ^ SIGN) as i32);
        self.shape.holds(GeoPoint { lat, lon })
    }
}

#[inline]
fn flip(number: i32) -> u32 {
    number as u32 ^ SIGN
}

impl Rectangle {
    #[inline]
    fn holds(&self, lat: u32, lon: u32) -> bool {
        (self.lat.0..=self.lat.1).contains(&lat) & (self.lon.0..=self.lon.1).contains(&lon)
    }

    #[inline]
    fn touches(&self, lat: (u32, u32), lon: (u32, u32)) -> bool {
        lat.0 <= self.lat.1 && self.lat.0 <= lat.1 && lon.0 <= self.lon.1 && self.lon.0 <= lon.1
    }
}

/// The two numbers of a packed point.
#[inline]
fn numbers(value: &[u8]) -> (u32, u32) {
    let eight: [u8; 8] = value.try_into().expect("points of places have eight bytes");
    let both = u64::from_be_bytes(eight);
    ((both >> 32) as u32, both as u32)
}

impl Region for Area {
    fn relation(&self, low: &[u8], high: &[u8]) -> Relation {
        let ((south, west), (north, east)) = (numbers(low), numbers(high));
        let (lat, lon) = ((south, north), (west, east));
        if !self.boxes.iter().any(|area| area.touches(lat, lon)) {
            return Relation::Outside;
        }
        self.strips.as_ref().map_or(Relation::Crosses, |strips| strips.relation(lat, lon))
    }

    #[inline]
    fn contains(&self, value: &[u8]) -> bool {
        let (lat, lon) = numbers(value);
        self.holds_point(lat, lon)
    }
}

/// A box around a circle of any radius that judges places at once, for those that need not be looked
/// at: whatever is outside of it is farther away than the radius.
#[derive(Clone, Copy, Debug)]
pub struct Fence {
    lat: (u32, u32),
    middle: u32,
    reach: u32,
}

impl Fence {
    /// Around all places that are so many metres away at most.
    pub fn new(middle: GeoPoint, metres: f64) -> Self {
        // A metre more hides the rounding of the shortest distances.
        let radius = (metres * (1.0 + 1e-6) + 1.0) / EARTH_RADIUS;
        let degrees = radius.to_degrees();
        let lat = (
            flip(geo::encode_lat((middle.lat - degrees).clamp(-90.0, 90.0))),
            flip(geo::encode_lat((middle.lat + degrees).clamp(-90.0, 90.0))),
        );
        let reach = if middle.lat.abs().to_radians() + radius < PI / 2.0 {
            let half = (radius.sin() / middle.lat.to_radians().cos()).clamp(-1.0, 1.0).asin();
            outward(half * (1.0 + 1e-6))
        } else {
            u32::MAX
        };
        // Longitudes of queries need not lie between -180 and 180.
        let lon = (middle.lon + 540.0).rem_euclid(360.0) - 180.0;
        Self { lat, middle: flip(geo::encode_lon(lon)), reach }
    }

    /// May the place that a column's number stands for be inside?
    #[inline]
    pub fn holds(&self, value: i64) -> bool {
        let (lat, lon) = geo::split(value);
        let away = (flip(lon).wrapping_sub(self.middle) as i32).unsigned_abs();
        (self.lat.0..=self.lat.1).contains(&flip(lat)) & (away <= self.reach)
    }
}

/// How far the arcs of some neighbouring parallels reach from the meridian of the middle.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// Places nearer than this are inside, all of them.
    inner: u32,
    /// Places farther than this are outside, all of them.
    outer: u32,
}

/// A circle, cut along parallels.
#[derive(Clone, Debug)]
struct Strips {
    /// The first number of latitude.
    first: u32,
    /// Each strip has 2 to this power of them.
    shift: u32,
    /// The longitude of the middle.
    middle: u32,
    reaches: Vec<Reach>,
}

impl Strips {
    /// About `count` strips of the circle, which lies in the latitudes `lat`.
    fn new(middle: GeoPoint, radius: f64, lat: (u32, u32), count: u32) -> Self {
        let height = lat.1 - lat.0;
        let shift = (height / count).max(1).next_power_of_two().trailing_zeros();
        let len = (height >> shift) as usize + 1;
        let arcs = Arcs::new(middle.lat.to_radians(), radius / EARTH_RADIUS);
        let degrees = |at: usize| {
            let number = u64::from(lat.0) + ((at as u64) << shift);
            // The last strip may pass the pole.
            geo::decode_lat((number.min(u64::from(u32::MAX)) as u32 ^ SIGN) as i32)
        };
        let mut reaches = Vec::with_capacity(len);
        let mut before = arcs.at(degrees(0).to_radians());
        for at in 0..len {
            let end = degrees(at + 1);
            let after = arcs.at(end.to_radians());
            let mut reach = Reach {
                inner: before.inner.min(after.inner),
                outer: before.outer.max(after.outer),
            };
            if let Some((lat, widest)) = arcs.widest
                && (degrees(at.saturating_sub(1))..=degrees(at + 2)).contains(&lat)
            {
                reach.outer = reach.outer.max(widest);
            }
            reaches.push(reach);
            before = after;
        }
        let middle = flip(geo::encode_lon(middle.lon.clamp(-180.0, 180.0)));
        Self { first: lat.0, shift, middle, reaches }
    }

    /// Is a place inside? `None` where it must be looked at closely.
    #[inline]
    fn look(&self, lat: u32, lon: u32) -> Option<bool> {
        let Some(reach) = self.strip(lat).and_then(|at| self.reaches.get(at)) else {
            return Some(false);
        };
        let away = (lon.wrapping_sub(self.middle) as i32).unsigned_abs();
        if away < reach.inner {
            return Some(true);
        }
        if away > reach.outer { Some(false) } else { None }
    }

    /// The strip of a latitude, which may lie after the last.
    #[inline]
    fn strip(&self, lat: u32) -> Option<usize> {
        lat.checked_sub(self.first).map(|above| (above >> self.shift) as usize)
    }

    /// How a cell lies to the circle.
    fn relation(&self, lat: (u32, u32), lon: (u32, u32)) -> Relation {
        let last = self.reaches.len() - 1;
        let south = self.strip(lat.0);
        let Some(north) = self.strip(lat.1) else { return Relation::Outside };
        if south.is_some_and(|south| south > last) {
            return Relation::Outside;
        }
        let (nearest, farthest) = self.away(lon);
        let mut touched = self.reaches[south.unwrap_or(0)..=north.min(last)].iter();
        if touched.all(|reach| nearest > reach.outer) {
            return Relation::Outside;
        }
        if let Some(south) = south
            && north <= last
            && farthest < self.reaches[south].inner.min(self.reaches[north].inner)
        {
            return Relation::Inside;
        }
        Relation::Crosses
    }

    /// How far from the meridian of the middle the nearest and the farthest of some longitudes are.
    fn away(&self, (west, east): (u32, u32)) -> (u32, u32) {
        let start = west.wrapping_sub(self.middle) as i32;
        let end = east.wrapping_sub(self.middle) as i32;
        let ends = (start.unsigned_abs(), end.unsigned_abs());
        if i64::from(end) - i64::from(start) == i64::from(east) - i64::from(west) {
            let nearest = if start <= 0 && 0 <= end { 0 } else { ends.0.min(ends.1) };
            return (nearest, ends.0.max(ends.1));
        }
        // They hold the meridian on the other side of the earth.
        let nearest = if start > 0 && end < 0 { ends.0.min(ends.1) } else { 0 };
        (nearest, SIGN)
    }
}

/// The arcs that a circle cuts out of parallels.
struct Arcs {
    /// Latitude of the middle.
    middle: f64,
    /// The haversine sum of the radius, less and more what rounding may change.
    inner: f64,
    outer: f64,
    /// The degrees of latitude where the arc is widest, and how far it may reach there; absent where
    /// the circle holds a pole.
    widest: Option<(f64, u32)>,
}

impl Arcs {
    /// Of a circle around latitude `middle`, both in radians.
    fn new(middle: f64, radius: f64) -> Self {
        let half = (radius / 2.0).sin();
        let sum = 2.0 * half * half;
        let holds_pole = middle.abs() + radius >= PI / 2.0;
        let widest = (!holds_pole).then(|| {
            let lat = (middle.sin() / radius.cos()).clamp(-1.0, 1.0).asin();
            let half = (radius.sin() / middle.cos()).clamp(-1.0, 1.0).asin();
            (lat.to_degrees(), outward(half * (1.0 + 1e-6)))
        });
        let (inner, outer) = (sum * (1.0 - 1e-8) - 1e-13, sum * (1.0 + 1e-8) + 1e-13);
        Self { middle, inner, outer, widest }
    }

    /// How far the arc of a latitude reaches, at least and at most.
    fn at(&self, lat: f64) -> Reach {
        let part = 1.0 - (self.middle - lat).cos();
        let scale = self.middle.cos() * lat.cos();
        let half = |sum: f64| -> Option<f64> {
            let rest = (sum - part) / scale;
            (rest >= 0.0).then(|| if rest >= 2.0 { PI } else { 2.0 * (rest / 2.0).sqrt().asin() })
        };
        Reach {
            inner: half(self.inner).map_or(0, inward),
            outer: half(self.outer).map_or(0, outward),
        }
    }
}

/// Steps of longitude in a radian.
const STEPS: f64 = (1u64 << 31) as f64 / PI;

/// So many steps of longitude and no more are surely inside of an angle. The number of the middle
/// itself is rounded down by less than one.
fn inward(angle: f64) -> u32 {
    if angle >= PI { u32::MAX } else { (angle * STEPS - 4.0).max(0.0) as u32 }
}

/// From so many steps of longitude on all is surely outside of an angle.
fn outward(angle: f64) -> u32 {
    if angle >= PI { u32::MAX } else { (angle * STEPS + 4.0) as u32 }
}

#[cfg(test)]
mod tests {
    use super::super::function::haversine;
    use super::*;
    use proptest::prelude::*;

    fn area(lat: f64, lon: f64, radius: f64, count: u64) -> Area {
        Area::new(&Arc::new(Shape::Circle(GeoPoint { lat, lon }, radius)), count)
    }

    /// A place so many metres away in a direction.
    fn toward(from: (f64, f64), direction: f64, metres: f64) -> geo::Point {
        let (lat, angle) = (from.0.to_radians(), metres / EARTH_RADIUS);
        let sine = lat.sin() * angle.cos() + lat.cos() * angle.sin() * direction.cos();
        let to = sine.clamp(-1.0, 1.0).asin();
        let east =
            (direction.sin() * angle.sin() * lat.cos()).atan2(angle.cos() - lat.sin() * to.sin());
        let lon = (from.1 + east.to_degrees() + 540.0).rem_euclid(360.0) - 180.0;
        geo::Point { lat: to.to_degrees(), lon }
    }

    #[test]
    fn most_places_need_no_distance() {
        let area = area(50.0, 10.0, 1_000_000.0, 1 << 20);
        let strips = area.strips.as_ref().expect("a wide circle");
        let all = (0..100u32).flat_map(|x| (0..100u32).map(move |y| (x, y)));
        let unsure = all.filter(|(x, y)| {
            let lat = flip(geo::encode_lat(40.0 + f64::from(*x) * 0.2));
            let lon = flip(geo::encode_lon(-5.0 + f64::from(*y) * 0.3));
            strips.look(lat, lon).is_none()
        });
        assert!(unsure.count() < 300, "of 10,000");
    }

    #[test]
    fn cell_across_the_date_line_is_judged_from_its_middle() {
        let area = area(0.0, 179.9, 100_000.0, 1 << 20);
        let cell = |south, west, north, east| {
            let bytes = |lat, lon| geo::point_bytes(geo::encode(geo::Point { lat, lon }));
            area.relation(&bytes(south, west), &bytes(north, east))
        };
        assert_eq!(cell(-0.1, 179.8, 0.1, 179.99), Relation::Inside);
        assert_eq!(cell(-0.1, -179.99, 0.1, -179.8), Relation::Inside);
        assert_eq!(cell(-0.1, -179.99, 0.1, -179.0), Relation::Crosses);
        assert_eq!(cell(-0.1, -179.99, 0.1, 179.99), Relation::Crosses);
        assert_eq!(cell(-0.1, -170.0, 0.1, 170.0), Relation::Outside);
        assert_eq!(cell(5.0, 179.0, 6.0, 179.9), Relation::Outside);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn strips_say_what_the_distance_says(
            lat in prop_oneof![-90.0..=90.0, Just(90.0), Just(-90.0), 80.0..90.0, -0.01..0.01],
            lon in prop_oneof![-180.0..180.0, Just(180.0), Just(-180.0), 179.9..180.0],
            radius in prop_oneof![1000.0..2000.0, 1000.0..100_000.0, 1000.0..9_999_999.0],
            count in prop_oneof![Just(40u64), Just(1 << 20)],
            direction in 0.0..6.3,
            near in prop_oneof![0.0..3.0, 0.999_999..1.000_001, 0.99..1.01, Just(1.0)],
        ) {
            let area = area(lat, lon, radius, count);
            prop_assert!(area.strips.is_some());
            let value = geo::encode(toward((lat, lon), direction, radius * near));
            let place = geo::decode(value);
            let place = GeoPoint { lat: place.lat, lon: place.lon };
            prop_assert_eq!(area.holds(value), area.shape.holds(place));
            prop_assert_eq!(area.contains(&geo::point_bytes(value)), area.shape.holds(place));
        }

        #[test]
        fn fence_keeps_all_that_is_near(
            lat in prop_oneof![-90.0..=90.0, Just(90.0), Just(-90.0), 89.0..90.0],
            lon in -540.0..540.0, other_lat in -90.0..=90.0, other_lon in -180.0..180.0,
            direction in 0.0..6.3, metres in prop_oneof![0.0..10.0, 0.0..1e4, 0.0..2.1e7],
        ) {
            let middle = GeoPoint { lat, lon };
            for place in [toward((lat, lon), direction, metres), geo::Point { lat: other_lat, lon: other_lon }] {
                let value = geo::encode(place);
                let kept = geo::decode(value);
                let far = haversine(middle, GeoPoint { lat: kept.lat, lon: kept.lon });
                prop_assert!(Fence::new(middle, far).holds(value), "{} m", far);
            }
        }

        #[test]
        fn cells_say_what_their_places_say(
            lat in -90.0..=90.0f64, lon in -180.0..180.0f64,
            radius in prop_oneof![1000.0..100_000.0f64, 1000.0..9_999_999.0f64],
            direction in 0.0..6.3f64, near in 0.0..2.0f64,
            height in 0.0..1.0f64, width in 0.0..1.0f64,
            inside in prop::collection::vec((0.0..=1.0f64, 0.0..=1.0f64), 8),
        ) {
            let area = area(lat, lon, radius, 1 << 20);
            let corner = toward((lat, lon), direction, radius * near);
            let degrees = radius / 111_000.0;
            let north = (corner.lat + height * degrees).min(90.0);
            let east = (corner.lon + width * degrees * 2.0).min(180.0);
            let bytes = |lat, lon| geo::point_bytes(geo::encode(geo::Point { lat, lon }));
            let relation = area.relation(&bytes(corner.lat, corner.lon), &bytes(north, east));
            let mut places = vec![(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
            places.extend(inside);
            for (up, right) in places {
                let lat = corner.lat + (north - corner.lat) * up;
                let lon = corner.lon + (east - corner.lon) * right;
                let holds = area.contains(&bytes(lat, lon));
                match relation {
                    Relation::Inside => prop_assert!(holds),
                    Relation::Outside => prop_assert!(!holds),
                    Relation::Crosses => {}
                }
            }
        }
    }
}
