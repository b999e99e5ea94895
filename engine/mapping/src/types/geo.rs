//! Places on the earth: how they are read, kept and shown.
//!
//! A place is kept as Lucene keeps it: latitude and longitude as signed 32-bit integers, each in
//! steps of 180° (360°) over 2³², rounded down; 90° and 180° go to the greatest integer. The column's
//! number is the latitude's integer in the upper half, the longitude's in the lower. A point is
//! the two integers, big-endian, sign flipped, latitude first.
//!
//! Example: latitude 0, longitude 180 is `0x0000_0000_7fff_ffff`, the point `80 00 00 00 ff ff ff ff`.
//!
//! A value may be an object `{"lat": 1, "lon": 2}`, `{"geohash": "…"}` or GeoJSON, an array
//! `[lon, lat]`, a text `lat,lon`, `POINT (lon lat)` or a geohash.

use json::Value;

use super::number::java_double;
use super::scalar::Scalar;
use crate::{Error, ErrorKind, Result};

/// Bytes of a point: two dimensions of four.
pub const POINT_BYTES: usize = 8;

/// Degrees of one step of latitude.
const LAT_STEP: f64 = 180.0 / (1u64 << 32) as f64;
/// Degrees of one step of longitude.
const LON_STEP: f64 = 360.0 / (1u64 << 32) as f64;

/// Digits of a geohash.
const BASE_32: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
/// Longest geohash that says more than the one before.
const HASH_LEN_MAX: usize = 12;

/// A place, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// North of the equator.
    pub lat: f64,
    /// East of Greenwich.
    pub lon: f64,
}

/// The integer of a latitude, which lies from -90 to 90.
pub fn encode_lat(lat: f64) -> i32 {
    // The last step ends at the pole.
    let lat = if lat == 90.0 { lat.next_down() } else { lat };
    (lat / LAT_STEP).floor() as i32
}

/// The integer of a longitude, which lies from -180 to 180.
pub fn encode_lon(lon: f64) -> i32 {
    let lon = if lon == 180.0 { lon.next_down() } else { lon };
    (lon / LON_STEP).floor() as i32
}

/// The least integer whose latitude is not below `lat`.
pub fn encode_lat_ceil(lat: f64) -> i32 {
    let lat = if lat == 90.0 { lat.next_down() } else { lat };
    (lat / LAT_STEP).ceil() as i32
}

/// The least integer whose longitude is not below `lon`.
pub fn encode_lon_ceil(lon: f64) -> i32 {
    let lon = if lon == 180.0 { lon.next_down() } else { lon };
    (lon / LON_STEP).ceil() as i32
}

/// The latitude of an integer.
pub fn decode_lat(lat: i32) -> f64 {
    f64::from(lat) * LAT_STEP
}

/// The longitude of an integer.
pub fn decode_lon(lon: i32) -> f64 {
    f64::from(lon) * LON_STEP
}

/// The number of a place in a column.
pub fn encode(point: Point) -> i64 {
    join(encode_lat(point.lat), encode_lon(point.lon))
}

/// The place of a column's number, as near as it was kept.
pub fn decode(value: i64) -> Point {
    let (lat, lon) = split(value);
    Point { lat: decode_lat(lat), lon: decode_lon(lon) }
}

/// Both integers as one.
pub const fn join(lat: i32, lon: i32) -> i64 {
    (lat as i64) << 32 | (lon as i64 & 0xffff_ffff)
}

/// Latitude and longitude of a column's number.
pub const fn split(value: i64) -> (i32, i32) {
    ((value >> 32) as i32, value as i32)
}

/// The bytes of a point of the tree.
pub const fn point_bytes(value: i64) -> [u8; POINT_BYTES] {
    ((value as u64) ^ 0x8000_0000_8000_0000).to_be_bytes()
}

/// The bytes of one dimension of a point.
pub const fn dimension(value: i32) -> [u8; 4] {
    ((value as u32) ^ 0x8000_0000).to_be_bytes()
}

/// Reads a place of a query or a mapping. An array of places is not one.
///
/// # Errors
/// In Elasticsearch's words (`parse_exception`).
pub fn parse_point(value: &Value, ignore_z: bool) -> Result<Point> {
    match value {
        Value::Object(object) => {
            let mut parts = Parts::default();
            for (key, value) in object.iter() {
                parts.take(key, value, ignore_z)?;
            }
            parts.finish()
        }
        Value::Array(items) => {
            let mut coordinates = Vec::new();
            for item in items.iter().take(4) {
                match item {
                    Value::Number(number) => coordinates.push(number.as_f64()),
                    _ => return Err(fault("numeric value expected")),
                }
            }
            of_coordinates(&coordinates, ignore_z)
        }
        Value::String(text) => parse_text(text, ignore_z),
        _ => Err(fault("geo_point expected")),
    }
}

#[cold]
fn fault(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::Parse, reason)
}

/// What an object says of a place.
#[derive(Debug, Default)]
struct Parts {
    lat: Option<f64>,
    lon: Option<f64>,
    geohash: Option<String>,
    kind: Option<String>,
    coordinates: Option<Vec<f64>>,
    ignore_z: bool,
}

impl Parts {
    fn take(&mut self, key: &str, value: &Value, ignore_z: bool) -> Result<()> {
        self.ignore_z = ignore_z;
        let text = |name: &str| match value {
            Value::String(text) => Ok(text.clone()),
            _ => Err(fault(format!("[{name}] must be a string"))),
        };
        match key {
            "lat" => self.lat = number(value, "latitude")?,
            "lon" => self.lon = number(value, "longitude")?,
            "z" => {
                if let Some(z) = number(value, "z")? {
                    check_z(z, ignore_z)?;
                }
            }
            "type" => self.kind = Some(text("type")?),
            "geohash" => self.geohash = Some(text("geohash")?),
            "coordinates" => {
                let Value::Array(items) = value else {
                    return Err(fault("[coordinates] must be an array"));
                };
                let mut coordinates = Vec::new();
                for item in items.iter().take(4) {
                    coordinates.push(number(item, "coordinates")?.unwrap_or(f64::NAN));
                }
                self.coordinates = Some(coordinates);
            }
            _ => {
                return Err(fault(format!(
                    "field [{key}] not supported - must be one of: lon, lat, z, type, \
                     coordinates, geohash"
                )));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Point> {
        const ONE_FORM: &str = "field must be either lat/lon, geohash string or type/coordinates";
        let has_json = self.coordinates.is_some() && self.kind.is_some();
        let has_both = self.lat.is_some() && self.lon.is_some();
        let mut found = Vec::new();
        for (is_there, name) in
            [(self.geohash.is_some(), "geohash"), (has_both, "lon/lat"), (has_json, "GeoJSON")]
        {
            if is_there {
                found.push(name);
            }
        }
        if found.len() > 1 {
            return Err(fault(format!(
                "fields matching more than one point format found: [{}]",
                found.join(", ")
            )));
        }
        let required = |name: &str| Err(fault(format!("field [{name}] missing")));
        if let Some(hash) = &self.geohash {
            let others = self.lat.is_some()
                || self.lon.is_some()
                || self.kind.is_some()
                || self.coordinates.is_some();
            return if others { Err(fault(ONE_FORM)) } else { of_geohash(hash) };
        }
        match (self.lat, self.lon, self.coordinates, self.kind) {
            (_, _, Some(coordinates), Some(kind)) => {
                if !kind.eq_ignore_ascii_case("point") {
                    return Err(fault("[type] for geo_point can only be 'Point'"));
                }
                if coordinates.len() < 2 {
                    return Err(fault("[coordinates] must contain at least two values"));
                }
                of_coordinates(&coordinates, self.ignore_z)
            }
            (Some(lat), Some(lon), ..) => Ok(Point { lat, lon }),
            (None, Some(_), ..) => required("lat"),
            (Some(_), None, ..) => required("lon"),
            (_, _, Some(_), None) => required("type"),
            (_, _, None, Some(_)) => required("coordinates"),
            _ => Err(fault(ONE_FORM)),
        }
    }
}

/// A number, perhaps as text; none for what is no number (`NaN`).
fn number(value: &Value, name: &str) -> Result<Option<f64>> {
    let number = match Scalar::of_value(value) {
        Some(Scalar::Text(text)) => java_double(text).map_err(|cause| {
            fault(format!("[{name}] must be a valid double value")).caused_by(cause)
        })?,
        Some(Scalar::Integer(value)) => value as f64,
        Some(Scalar::Decimal(value, _)) => value,
        Some(Scalar::Big(origin)) => java_double(origin.text())?,
        Some(Scalar::Bool(_)) | None => return Err(fault(format!("{name} must be a number"))),
    };
    Ok((!number.is_nan()).then_some(number))
}

fn check_z(z: f64, ignore_z: bool) -> Result<()> {
    if ignore_z {
        return Ok(());
    }
    Err(fault(format!(
        "Exception parsing coordinates: found Z value [{}] but [ignore_z_value] parameter is \
         [false]",
        json::number::double_to_string(z)
    )))
}

/// `[lon, lat]`, perhaps with a height.
fn of_coordinates(coordinates: &[f64], ignore_z: bool) -> Result<Point> {
    if coordinates.len() > 3 {
        return Err(fault("[geo_point] field type does not accept > 3 dimensions"));
    }
    if let Some(z) = coordinates.get(2) {
        check_z(*z, ignore_z)?;
    }
    let at = |index: usize| coordinates.get(index).copied().unwrap_or(f64::NAN);
    Ok(Point { lat: at(1), lon: at(0) })
}

/// Reads `lat,lon`, `POINT (lon lat)` or a geohash.
///
/// # Errors
/// In Elasticsearch's words (`parse_exception`).
pub fn parse_text(text: &str, ignore_z: bool) -> Result<Point> {
    if text.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("point")) {
        return of_wkt(text, ignore_z);
    }
    if !text.contains(',') {
        return of_geohash(text);
    }
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(fault(format!(
            "failed to parse [{text}], expected 2 or 3 coordinates but found: [{}]",
            parts.len()
        )));
    }
    let part = |index: usize, name: &str| {
        java_double(parts[index].trim()).map_err(|_| fault(format!("{name} must be a number")))
    };
    let (lat, lon) = (part(0, "latitude")?, part(1, "longitude")?);
    if parts.len() > 2 {
        check_z(part(2, "z")?, ignore_z)?;
    }
    Ok(Point { lat, lon })
}

fn of_wkt(text: &str, ignore_z: bool) -> Result<Point> {
    let invalid = || fault("Invalid WKT format");
    let inner = text[5..].trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let mut coordinates = Vec::new();
    for part in inner.ok_or_else(invalid)?.split_ascii_whitespace().take(4) {
        coordinates.push(part.parse::<f64>().map_err(|_| invalid())?);
    }
    if coordinates.len() < 2 {
        return Err(invalid());
    }
    of_coordinates(&coordinates, ignore_z)
}

/// The cell of a geohash: its south-west and north-east corners.
///
/// # Errors
/// Where a character is none of a geohash's.
pub fn geohash_cell(hash: &str) -> Result<(Point, Point)> {
    let unsupported =
        |c: char| Error::illegal_argument(format!("unsupported symbol [{c}] in geohash [{hash}]"));
    let (mut lat, mut lon) = ((-90.0, 90.0), (-180.0, 180.0));
    let mut is_lon = true;
    for c in hash.chars().take(HASH_LEN_MAX) {
        let digit = u8::try_from(c).ok().and_then(|c| BASE_32.iter().position(|d| *d == c));
        let digit = digit.ok_or_else(|| unsupported(c))?;
        for bit in (0..5).rev() {
            let side = if is_lon { &mut lon } else { &mut lat };
            let middle = (side.0 + side.1) / 2.0;
            if digit >> bit & 1 == 1 {
                side.0 = middle;
            } else {
                side.1 = middle;
            }
            is_lon = !is_lon;
        }
    }
    Ok((Point { lat: lat.0, lon: lon.0 }, Point { lat: lat.1, lon: lon.1 }))
}

/// A geohash means its south-west corner.
fn of_geohash(hash: &str) -> Result<Point> {
    if hash.is_empty() {
        return Err(fault("empty geohash"));
    }
    match geohash_cell(hash) {
        Ok((corner, _)) => Ok(corner),
        Err(cause) => Err(fault(cause.reason.clone()).caused_by(cause)),
    }
}

/// The geohash of a place, of `len` digits.
pub fn geohash(point: Point, len: usize) -> String {
    let (mut lat, mut lon) = ((-90.0, 90.0), (-180.0, 180.0));
    let mut is_lon = true;
    let mut hash = String::with_capacity(len);
    for _ in 0..len.min(HASH_LEN_MAX) {
        let mut digit = 0;
        for _ in 0..5 {
            let (side, at) = if is_lon { (&mut lon, point.lon) } else { (&mut lat, point.lat) };
            let middle = (side.0 + side.1) / 2.0;
            digit <<= 1;
            if at >= middle {
                digit |= 1;
                side.0 = middle;
            } else {
                side.1 = middle;
            }
            is_lon = !is_lon;
        }
        hash.push(char::from(BASE_32[digit]));
    }
    hash
}

/// Is it a place on the earth? Names the field of a document.
///
/// # Errors
/// `illegal latitude value [91.0] for place`.
pub fn check(point: Point, path: &str) -> Result<()> {
    let illegal = |what: &str, value: f64| {
        let value = json::number::double_to_string(value);
        let of = if path.is_empty() { String::new() } else { format!(" for {path}") };
        Err(Error::illegal_argument(format!("illegal {what} value [{value}]{of}")))
    };
    if !(-90.0..=90.0).contains(&point.lat) {
        return illegal("latitude", point.lat);
    }
    if !(-180.0..=180.0).contains(&point.lon) {
        return illegal("longitude", point.lon);
    }
    Ok(())
}

/// Brings a place that went around the earth back onto it; none where it is no number.
pub fn normalize(point: Point) -> Option<Point> {
    if !point.lat.is_finite() || !point.lon.is_finite() {
        return None;
    }
    let mut lat = point.lat;
    let mut lon = point.lon;
    if !(-90.0..=90.0).contains(&lat) {
        // Over a pole one comes down on the other side.
        lat = (lat + 180.0).rem_euclid(360.0) - 180.0;
        if lat < -90.0 {
            lat = -180.0 - lat;
            lon += 180.0;
        } else if lat > 90.0 {
            lat = 180.0 - lat;
            lon += 180.0;
        }
    }
    if !(-180.0..=180.0).contains(&lon) {
        lon = (lon + 180.0).rem_euclid(360.0) - 180.0;
        if lon == -180.0 {
            lon = 180.0;
        }
    }
    Some(Point { lat, lon })
}

#[cfg(test)]
mod tests {
    use super::*;
    use json::json;

    fn read(value: Value) -> std::result::Result<(f64, f64), String> {
        parse_point(&value, true).map(|p| (p.lat, p.lon)).map_err(|error| error.reason)
    }

    #[test]
    fn every_form_is_read() {
        for value in [
            json!({"lat": 41.12, "lon": -71.34}),
            json!({"lat": "41.12", "lon": "-71.34", "z": 3}),
            json!([-71.34, 41.12]),
            json!([-71.34, 41.12, 5]),
            json!("41.12,-71.34"),
            json!(" 41.12 , -71.34 , 7 "),
            json!("POINT (-71.34 41.12)"),
            json!("point(-71.34 41.12 9)"),
            json!({"type": "Point", "coordinates": [-71.34, 41.12]}),
        ] {
            assert_eq!(read(value.clone()), Ok((41.12, -71.34)), "{value:?}");
        }
        let (lat, lon) = read(json!("drm3btev3e86")).expect("a geohash");
        assert!((lat - 41.12).abs() < 1e-5);
        assert!((lon + 71.34).abs() < 1e-5);
        assert_eq!(read(json!({"geohash": "s"})), Ok((0.0, 0.0)));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for (value, want) in [
            (json!({"lat": 1}), "field [lon] missing"),
            (json!({"lon": 1}), "field [lat] missing"),
            (json!({}), "field must be either lat/lon, geohash string or type/coordinates"),
            (json!({"lat": "x", "lon": 1}), "[latitude] must be a valid double value"),
            (json!({"lat": true, "lon": 1}), "latitude must be a number"),
            (
                json!({"lat": 1, "lon": 1, "geohash": "s"}),
                "fields matching more than one point format found: [geohash, lon/lat]",
            ),
            (
                json!({"foo": 1}),
                "field [foo] not supported - must be one of: lon, lat, z, type, coordinates, \
                 geohash",
            ),
            (
                json!("1,2,3,4"),
                "failed to parse [1,2,3,4], expected 2 or 3 coordinates but found: [4]",
            ),
            (json!("a"), "unsupported symbol [a] in geohash [a]"),
            (json!(true), "geo_point expected"),
            (json!([1, "x"]), "numeric value expected"),
        ] {
            assert_eq!(read(value.clone()), Err(want.to_owned()), "{value:?}");
        }
        assert!(parse_point(&json!([1, 2, 3]), false).is_err());
        assert!(check(Point { lat: 91.0, lon: 0.0 }, "p").is_err());
        assert!(check(Point { lat: 0.0, lon: f64::NAN }, "p").is_err());
    }

    #[test]
    fn edges_of_the_earth_are_kept() {
        assert_eq!(encode(Point { lat: 0.0, lon: 180.0 }), 0x7fff_ffff);
        assert_eq!(encode_lat(90.0), i32::MAX);
        assert_eq!(encode_lat(-90.0), i32::MIN);
        assert_eq!(encode_lon(-180.0), i32::MIN);
        assert_eq!(point_bytes(join(0, i32::MAX)), [0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    }

    proptest::proptest! {
        #[test]
        fn places_come_back_a_step_away(lat in -90f64..=90.0, lon in -180f64..=180.0) {
            let back = decode(encode(Point { lat, lon }));
            proptest::prop_assert!((0.0..=LAT_STEP).contains(&(lat - back.lat)));
            proptest::prop_assert!((0.0..=LON_STEP).contains(&(lon - back.lon)));
        }

        #[test]
        fn a_place_lies_in_the_cell_of_its_geohash(lat in -89f64..89.0, lon in -179f64..179.0) {
            let (low, high) = geohash_cell(&geohash(Point { lat, lon }, 9)).expect("digits");
            proptest::prop_assert!(low.lat <= lat && lat <= high.lat);
            proptest::prop_assert!(low.lon <= lon && lon <= high.lon);
        }

        #[test]
        fn normal_places_lie_on_the_earth(lat in -1000f64..1000.0, lon in -1000f64..1000.0) {
            let point = normalize(Point { lat, lon }).expect("finite");
            proptest::prop_assert!(check(point, "").is_ok());
        }
    }
}
