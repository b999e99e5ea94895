//! Queries on places: `geo_bounding_box`, `geo_distance`, `geo_polygon`; and how a place and a
//! distance are written.

use json::spanned::{Kind as Json, Node};

use super::context::{Fault, Read, boolean, boost, is_value, members, text, unsupported};
use super::function::double;
use crate::ast::{GeoPoint, GeoShape, GeoWithin, Node as Ask, Query};
use crate::error::{Error, Kind};

/// Metres of a unit.
const UNITS: [(&str, f64); 22] = [
    ("inch", 0.0254),
    ("in", 0.0254),
    ("yards", 0.9144),
    ("yd", 0.9144),
    ("feet", 0.3048),
    ("ft", 0.3048),
    ("kilometers", 1000.0),
    ("km", 1000.0),
    ("nauticalmiles", 1852.0),
    ("NM", 1852.0),
    ("nmi", 1852.0),
    ("millimeters", 0.001),
    ("mm", 0.001),
    ("centimeters", 0.01),
    ("cm", 0.01),
    ("miles", 1609.344),
    ("mi", 1609.344),
    ("meters", 1.0),
    ("m", 1.0),
    ("yard", 0.9144),
    ("mile", 1609.344),
    ("kilometer", 1000.0),
];

/// A distance with its unit, in metres; `unit` where it names none.
pub fn metres(distance: &str, unit: &str) -> crate::Result<f64> {
    let found = UNITS.iter().find(|(name, _)| distance.ends_with(name));
    let (digits, factor) = match found {
        Some((name, factor)) => (&distance[..distance.len() - name.len()], *factor),
        None => (distance, self::unit(unit)?),
    };
    let digits = digits.trim();
    digits.parse::<f64>().map(|number| number * factor).map_err(|_| Error::number(distance))
}

/// Metres of a unit by its name.
pub fn unit(name: &str) -> crate::Result<f64> {
    let found = UNITS.iter().find(|(unit, _)| *unit == name);
    found
        .map(|(_, metres)| *metres)
        .ok_or_else(|| Error::illegal(format!("No distance unit match [{name}]")))
}

/// A place: an object, `[lon, lat]`, `"lat,lon"`, `"POINT (lon lat)"` or a geohash.
pub fn point(node: &Node) -> Read<GeoPoint> {
    let parse = |reason: String| Fault { error: Error::new(Kind::Parse, reason), at: node.at };
    match &node.kind {
        Json::Array(values) => {
            let mut numbers = Vec::with_capacity(2);
            for value in values {
                numbers.push(double(value)?);
            }
            match numbers.as_slice() {
                [lon, lat] | [lon, lat, _] => Ok(GeoPoint { lat: *lat, lon: *lon }),
                _ => Err(parse("field type does not accept > 3 dimensions".into())),
            }
        }
        Json::String(word) => point_of(word).map_err(|error| Fault { error, at: node.at }),
        Json::Object(keys) => {
            let (mut lat, mut lon, mut hash) = (None, None, None);
            let mut coordinates = None;
            for member in keys {
                match member.key.as_str() {
                    "lat" => lat = Some(double(&member.value)?),
                    "lon" => lon = Some(double(&member.value)?),
                    "geohash" => hash = Some(text(&member.value)?),
                    "coordinates" => coordinates = Some(point(&member.value)?),
                    "type" => {}
                    _ => {
                        return Err(parse(
                            "field must be either [lon], [lat], [geohash], [type] or \
                             [coordinates]"
                                .into(),
                        ));
                    }
                }
            }
            if let Some(point) = coordinates {
                return Ok(point);
            }
            if let Some(hash) = hash {
                return geohash(&hash).map_err(|error| Fault { error, at: node.at });
            }
            match (lat, lon) {
                (Some(lat), Some(lon)) => Ok(GeoPoint { lat, lon }),
                (None, _) => Err(parse("field [lat] missing".into())),
                (_, None) => Err(parse("field [lon] missing".into())),
            }
        }
        _ => Err(parse("geo_point expected".into())),
    }
}

/// `"lat,lon"`, `"POINT (lon lat)"` or a geohash.
pub fn point_of(word: &str) -> crate::Result<GeoPoint> {
    let number = |text: &str, what: &str| {
        text.trim()
            .parse::<f64>()
            .map_err(|_| Error::new(Kind::Parse, format!("{what} must be a number")))
    };
    if let Some((lat, lon)) = word.split_once(',') {
        let lon = lon.split(',').next().unwrap_or_default();
        return Ok(GeoPoint { lat: number(lat, "latitude")?, lon: number(lon, "longitude")? });
    }
    let upper = word.trim().to_ascii_uppercase();
    if let Some(rest) = upper.strip_prefix("POINT") {
        let inner = rest.trim().trim_start_matches('(').trim_end_matches(')');
        let mut parts = inner.split_ascii_whitespace();
        if let (Some(lon), Some(lat)) = (parts.next(), parts.next()) {
            return Ok(GeoPoint { lat: number(lat, "latitude")?, lon: number(lon, "longitude")? });
        }
    }
    geohash(word)
}

/// The south-western corner of a geohash's cell, as Elasticsearch reads a geohash as a place.
pub fn geohash(hash: &str) -> crate::Result<GeoPoint> {
    const DIGITS: &str = "0123456789bcdefghjkmnpqrstuvwxyz";
    let (mut lat, mut lon) = ((-90.0f64, 90.0f64), (-180.0f64, 180.0f64));
    let mut even = true;
    for c in hash.chars() {
        let Some(digit) = DIGITS.find(c.to_ascii_lowercase()) else {
            return Err(Error::new(
                Kind::Parse,
                format!("unsupported symbol [{c}] in geohash [{hash}]"),
            ));
        };
        for bit in (0..5).rev() {
            let side = if even { &mut lon } else { &mut lat };
            let middle = (side.0 + side.1) / 2.0;
            if digit >> bit & 1 == 1 {
                side.0 = middle
            } else {
                side.1 = middle
            }
            even = !even;
        }
    }
    Ok(GeoPoint { lat: lat.0, lon: lon.0 })
}

/// What the three queries share beside their shapes.
struct Options {
    factor: f32,
    name: Option<String>,
    ignore_unmapped: bool,
    plane: bool,
    strict: bool,
}

impl Options {
    const fn new() -> Self {
        Self { factor: 1.0, name: None, ignore_unmapped: false, plane: false, strict: true }
    }

    /// Takes a key that all share; false for any other.
    fn take(&mut self, key: &str, value: &Node) -> Read<bool> {
        match key {
            "boost" => self.factor = boost(value)?,
            "_name" => self.name = Some(text(value)?),
            "ignore_unmapped" => self.ignore_unmapped = boolean(value)?,
            "validation_method" => {
                let word = text(value)?;
                self.strict = match word.to_ascii_uppercase().as_str() {
                    "STRICT" => true,
                    "COERCE" | "IGNORE_MALFORMED" => false,
                    _ => {
                        let reason = format!(
                            "No enum constant \
                             org.elasticsearch.index.query.GeoValidationMethod.{word}"
                        );
                        return Err(Fault::illegal(value.at, reason));
                    }
                };
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn query(self, query: &'static str, field: String, shape: GeoShape) -> Query {
        let Self { factor, name, ignore_unmapped, plane, strict } = self;
        let node = GeoWithin { query, field, shape, ignore_unmapped, plane, strict };
        Query { node: Ask::Geo(node), boost: factor, name }
    }
}

fn one_field(query: &str, found: Option<&str>, key: &str, value: &Node) -> Read<()> {
    match found {
        Some(first) => Err(Fault::parsing(
            value.at,
            format!("[{query}] query doesn't support multiple fields, found [{first}] and [{key}]"),
        )),
        None => Ok(()),
    }
}

/// `geo_distance`.
pub fn geo_distance(body: &Node) -> Read<Query> {
    const NAME: &str = "geo_distance";
    let mut options = Options::new();
    let (mut distance, mut unit) = (None, "m".to_owned());
    let mut place: Option<(String, GeoPoint)> = None;
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        if value.is_null() {
            continue;
        }
        match key {
            "distance" if is_value(value) => distance = Some((text(value)?, value.at)),
            "unit" if is_value(value) => unit = text(value)?,
            "distance_type" if is_value(value) => {
                let word = text(value)?;
                options.plane = match word.to_ascii_lowercase().as_str() {
                    "plane" => true,
                    "arc" => false,
                    _ => {
                        let reason = format!("No geo distance for [{word}]");
                        return Err(Fault::illegal(value.at, reason));
                    }
                };
            }
            _ if is_value(value) && options.take(key, value)? => {}
            _ => {
                one_field(NAME, place.as_ref().map(|(field, _)| field.as_str()), key, value)?;
                place = Some((key.to_owned(), point(value)?));
            }
        }
    }
    let Some((field, middle)) = place else {
        return Err(Fault::illegal(body.end, "fieldName must not be null or empty"));
    };
    let Some((distance, at)) = distance else {
        return Err(Fault::parsing(body.end, "geo_distance requires 'distance' to be specified"));
    };
    let radius = metres(&distance, &unit).map_err(|error| Fault { error, at })?;
    if radius <= 0.0 || radius.is_nan() {
        return Err(Fault::illegal(at, "distance must be greater than zero"));
    }
    Ok(options.query(NAME, field, GeoShape::Circle(middle, radius)))
}

/// `geo_bounding_box`.
pub fn geo_bounding_box(body: &Node) -> Read<Query> {
    const NAME: &str = "geo_bounding_box";
    let mut options = Options::new();
    let mut found: Option<(String, GeoPoint, GeoPoint)> = None;
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match &value.kind {
            Json::Object(_) => {
                one_field(NAME, found.as_ref().map(|(field, ..)| field.as_str()), key, value)?;
                let (north_west, south_east) = corners(value)?;
                found = Some((key.to_owned(), north_west, south_east));
            }
            _ if key == "type" && is_value(value) => {}
            _ if is_value(value) && options.take(key, value)? => {}
            _ => {
                let reason = format!("failed to parse [{NAME}] query. unexpected field [{key}]");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    let Some((field, north_west, south_east)) = found else {
        let reason = format!("failed to parse [{NAME}] query. bounding box not provided");
        return Err(Fault::parsing(body.end, reason));
    };
    let (top, bottom) = (north_west.lat, south_east.lat);
    if options.strict && top < bottom {
        let reason = format!("top is below bottom corner: {top:?} vs. {bottom:?}");
        return Err(Fault::illegal(body.end, reason));
    }
    Ok(options.query(NAME, field, GeoShape::Box(north_west, south_east)))
}

/// The north-western and south-eastern corners, however they are named.
fn corners(body: &Node) -> Read<(GeoPoint, GeoPoint)> {
    let (mut top, mut bottom, mut left, mut right) = (None, None, None, None);
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match key {
            "top" => top = Some(double(value)?),
            "bottom" => bottom = Some(double(value)?),
            "left" => left = Some(double(value)?),
            "right" => right = Some(double(value)?),
            "top_left" | "top_right" | "bottom_left" | "bottom_right" => {
                let place = point(value)?;
                if key.starts_with("top") {
                    top = Some(place.lat)
                } else {
                    bottom = Some(place.lat)
                }
                if key.ends_with("left") { left = Some(place.lon) } else { right = Some(place.lon) }
            }
            "wkt" => {
                let word = text(value)?;
                let [west, east, north, south] = bbox(&word).ok_or_else(|| {
                    let reason = format!("failed to parse WKT bounding box: [{word}]");
                    Fault { error: Error::new(Kind::Parse, reason), at: value.at }
                })?;
                (left, right, top, bottom) = (Some(west), Some(east), Some(north), Some(south));
            }
            _ => {
                let reason = format!("failed to parse bounding box. unexpected field [{key}]");
                return Err(Fault { error: Error::new(Kind::Parse, reason), at: value.at });
            }
        }
    }
    let need = |side: Option<f64>, name: &str| {
        side.ok_or_else(|| {
            let reason = format!("failed to parse bounding box. [{name}] is missing");
            Fault { error: Error::new(Kind::Parse, reason), at: body.end }
        })
    };
    Ok((
        GeoPoint { lat: need(top, "top")?, lon: need(left, "left")? },
        GeoPoint { lat: need(bottom, "bottom")?, lon: need(right, "right")? },
    ))
}

/// `BBOX (west, east, north, south)`.
fn bbox(text: &str) -> Option<[f64; 4]> {
    let upper = text.trim().to_ascii_uppercase();
    let rest = upper.strip_prefix("BBOX").or_else(|| upper.strip_prefix("ENVELOPE"))?;
    let inner = rest.trim().strip_prefix('(')?.strip_suffix(')')?;
    let numbers: Vec<f64> =
        inner.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// `geo_polygon`.
pub fn geo_polygon(body: &Node) -> Read<Query> {
    const NAME: &str = "geo_polygon";
    let mut options = Options::new();
    let mut found: Option<(String, Vec<GeoPoint>)> = None;
    for member in members(body) {
        let (key, value) = (member.key.as_str(), &member.value);
        match &value.kind {
            Json::Object(inside) => {
                let mut points = Vec::new();
                for member in inside {
                    match (member.key.as_str(), &member.value.kind) {
                        ("points", Json::Array(nodes)) => {
                            points = nodes.iter().map(point).collect::<Read<_>>()?;
                        }
                        (inner, _) => return Err(unsupported(NAME, inner, &member.value)),
                    }
                }
                found = Some((key.to_owned(), points));
            }
            _ if is_value(value) && options.take(key, value)? => {}
            _ => {
                let reason = format!("[{NAME}] query does not support [{key}]");
                return Err(Fault::parsing(value.at, reason));
            }
        }
    }
    let Some((field, points)) = found else {
        return Err(Fault::illegal(body.end, "fieldName must not be null"));
    };
    if points.is_empty() {
        return Err(Fault::illegal(body.end, "polygon must not be null or empty"));
    }
    let closed = points.first() == points.last();
    let least = if closed { 4 } else { 3 };
    if points.len() < least {
        return Err(Fault::illegal(body.end, "too few points defined for geo_polygon query"));
    }
    Ok(options.query(NAME, field, GeoShape::Polygon(points)))
}
