//! Points, distances, and the cells of grids.

/// Radius of the earth as Lucene takes it, in metres.
const EARTH_METRES: f64 = 6_371_008.771_4;

/// Names of units and their metres.
pub const UNITS: [(&str, f64); 22] = [
    ("m", 1.0),
    ("meters", 1.0),
    ("km", 1000.0),
    ("kilometers", 1000.0),
    ("cm", 0.01),
    ("centimeters", 0.01),
    ("mm", 0.001),
    ("millimeters", 0.001),
    ("mi", 1609.344),
    ("miles", 1609.344),
    ("yd", 0.9144),
    ("yards", 0.9144),
    ("ft", 0.3048),
    ("feet", 0.3048),
    ("in", 0.0254),
    ("inch", 0.0254),
    ("NM", 1852.0),
    ("nmi", 1852.0),
    ("nauticalmiles", 1852.0),
    ("kilometer", 1000.0),
    ("meter", 1.0),
    ("mile", 1609.344),
];

/// Metres of a unit.
pub fn unit(name: &str) -> Option<f64> {
    UNITS.iter().find(|(known, _)| *known == name).map(|(_, metres)| *metres)
}

/// A distance with its unit (metres where there is none), in metres.
pub fn distance_of_text(text: &str) -> Option<f64> {
    let text = text.trim();
    let split =
        text.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, name) = text.split_at(split);
    let factor = if name.is_empty() { 1.0 } else { unit(name)? };
    number.trim().parse::<f64>().ok().map(|number| number * factor)
}

/// `lat,lon`, `POINT (lon lat)` or a geohash. Latitude first.
pub fn point_of_text(text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    if let Some((lat, lon)) = text.split_once(',') {
        return Some((lat.trim().parse().ok()?, lon.split(',').next()?.trim().parse().ok()?));
    }
    if text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("point")) {
        let inside = text[5..].trim().strip_prefix('(')?.strip_suffix(')')?;
        let mut numbers = inside.split_whitespace();
        let lon = numbers.next()?.parse().ok()?;
        return Some((numbers.next()?.parse().ok()?, lon));
    }
    center_of_hash(text)
}

/// `BBOX (left, right, top, bottom)`, as top, left, bottom, right.
pub fn envelope_of_text(text: &str) -> Option<[f64; 4]> {
    let text = text.trim();
    let rest =
        text.get(..4).filter(|word| word.eq_ignore_ascii_case("bbox")).map(|_| &text[4..])?;
    let inside = rest.trim().strip_prefix('(')?.strip_suffix(')')?;
    let numbers: Vec<f64> =
        inside.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    let [left, right, top, bottom] = numbers.as_slice() else { return None };
    Some([*top, *left, *bottom, *right])
}

/// Metres along the sphere between two points (Lucene's `SloppyMath.haversinMeters`, but exact).
pub fn arc_metres(from: (f64, f64), to: (f64, f64)) -> f64 {
    let (lat1, lat2) = (from.0.to_radians(), to.0.to_radians());
    let (x, y) = ((lat2 - lat1) / 2.0, (to.1 - from.1).to_radians() / 2.0);
    let h = x.sin().powi(2) + lat1.cos() * lat2.cos() * y.sin().powi(2);
    2.0 * EARTH_METRES * h.sqrt().min(1.0).asin()
}

/// Metres as on a flat map.
pub fn plane_metres(from: (f64, f64), to: (f64, f64)) -> f64 {
    let x = (to.1 - from.1).to_radians() * ((from.0 + to.0).to_radians() / 2.0).cos();
    let y = (to.0 - from.0).to_radians();
    (x * x + y * y).sqrt() * EARTH_METRES
}

const BASE32: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// The geohash cell of a point: its bits, and below them the level (as Elasticsearch's long
/// encoding, so that cells order as their names do within a level).
pub fn hash_cell(lat: f64, lon: f64, level: u8) -> i64 {
    let mut bits: u64 = 0;
    let (mut south, mut north) = (-90.0, 90.0);
    let (mut west, mut east) = (-180.0, 180.0);
    for at in 0..u32::from(level) * 5 {
        bits <<= 1;
        if at % 2 == 0 {
            let middle = (west + east) / 2.0;
            if lon >= middle {
                bits |= 1;
                west = middle;
            } else {
                east = middle;
            }
        } else {
            let middle = (south + north) / 2.0;
            if lat >= middle {
                bits |= 1;
                south = middle;
            } else {
                north = middle;
            }
        }
    }
    ((bits << 4) | u64::from(level)) as i64
}

/// Name of a geohash cell.
pub fn hash_text(cell: i64) -> String {
    let (bits, level) = (cell as u64 >> 4, (cell & 15) as u32);
    let letters = (0..level).rev().map(|at| BASE32[(bits >> (at * 5) & 31) as usize] as char);
    letters.collect()
}

/// South, west, north, east of a geohash by name.
fn hash_box(text: &str) -> Option<[f64; 4]> {
    if text.is_empty() || text.len() > 12 {
        return None;
    }
    let (mut south, mut north, mut west, mut east) = (-90.0, 90.0, -180.0, 180.0);
    let mut even = true;
    for letter in text.bytes() {
        let bits = BASE32.iter().position(|known| *known == letter.to_ascii_lowercase())?;
        for at in (0..5).rev() {
            let high = bits >> at & 1 == 1;
            let (low, top) = if even { (&mut west, &mut east) } else { (&mut south, &mut north) };
            let middle = (*low + *top) / 2.0;
            if high {
                *low = middle;
            } else {
                *top = middle;
            }
            even = !even;
        }
    }
    Some([south, west, north, east])
}

fn center_of_hash(text: &str) -> Option<(f64, f64)> {
    let [south, west, north, east] = hash_box(text)?;
    Some(((south + north) / 2.0, (west + east) / 2.0))
}

/// The level whose cells are about so many metres wide (`GeoUtils.geoHashLevelsForPrecision`).
pub fn hash_level(metres: f64) -> u8 {
    const EQUATOR: f64 = 40_075_016.685_578_49;
    const POLES: f64 = 39_940_652.742_242_04;
    if metres <= 0.0 {
        return 12;
    }
    let width = metres / (1.0 + POLES / EQUATOR);
    let bits = (EQUATOR / width).ceil().log2().ceil().max(0.0) as u32;
    let (full, left) = (bits / 5, bits % 5);
    let levels = 2 * full + u32::from(left > 0) + u32::from(left > 3);
    levels.clamp(1, 12) as u8
}

/// Greatest latitude of a tile.
const TILE_LAT_MAX: f64 = 85.051_128_779_806_59;

/// The tile of a point: level, column and row in one number.
pub fn tile_cell(lat: f64, lon: f64, level: u8) -> i64 {
    let tiles = (1u64 << level) as f64;
    let x = ((lon + 180.0) / 360.0 * tiles).floor();
    let sine = lat.clamp(-TILE_LAT_MAX, TILE_LAT_MAX).to_radians().sin();
    let y = 0.5 - (((1.0 + sine) / (1.0 - sine)).ln() / (4.0 * std::f64::consts::PI));
    let y = (y * tiles).floor();
    let last = tiles - 1.0;
    let (x, y) = (x.clamp(0.0, last) as i64, y.clamp(0.0, last) as i64);
    (i64::from(level) << 58) | (x << 29) | y
}

/// `level/column/row`.
pub fn tile_text(cell: i64) -> String {
    let (level, x, y) = (cell as u64 >> 58, cell >> 29 & 0x1fff_ffff, cell & 0x1fff_ffff);
    format!("{level}/{x}/{y}")
}

/// The tile of a name.
pub fn tile_of_text(text: &str) -> Option<i64> {
    let mut parts = text.split('/');
    let level: i64 = parts.next()?.parse().ok()?;
    let (x, y): (i64, i64) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    if parts.next().is_some() || !(0..=29).contains(&level) {
        return None;
    }
    let tiles = 1i64 << level;
    let inside = (0..tiles).contains(&x) && (0..tiles).contains(&y);
    inside.then_some((level << 58) | (x << 29) | y)
}

/// Whether a point lies in top, left, bottom, right; the box may cross the date line.
pub fn in_box(sides: &[f64; 4], lat: f64, lon: f64) -> bool {
    let [top, left, bottom, right] = *sides;
    let across =
        if left <= right { (left..=right).contains(&lon) } else { lon >= left || lon <= right };
    (bottom..=top).contains(&lat) && across
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_their_names() {
        assert_eq!(hash_text(hash_cell(57.64911, 10.40744, 11)), "u4pruydqqvj");
        assert_eq!(hash_text(hash_cell(48.86, 2.35, 5)), "u09tv");
        assert_eq!(tile_text(tile_cell(48.86, 2.35, 7)), "7/64/44");
        assert_eq!(tile_of_text("7/64/44"), Some(tile_cell(48.86, 2.35, 7)));
        assert_eq!(tile_text(tile_cell(90.0, 180.0, 2)), "2/3/0");
        assert_eq!(tile_of_text("1/2/0"), None);
    }

    #[test]
    fn points_are_read_in_all_forms() {
        assert_eq!(point_of_text("48.86,2.35"), Some((48.86, 2.35)));
        assert_eq!(point_of_text("POINT (2.35 48.86)"), Some((48.86, 2.35)));
        let (lat, lon) = point_of_text("u4pruydqqvj").expect("a hash");
        assert!((lat - 57.64911).abs() < 1e-4 && (lon - 10.40744).abs() < 1e-4);
        assert_eq!(point_of_text("il"), None);
    }

    #[test]
    fn paris_and_london_are_344_kilometres_apart() {
        let (paris, london) = ((48.8566, 2.3522), (51.5074, -0.1278));
        assert!((arc_metres(paris, london) - 343_556.0).abs() < 100.0);
        assert!((plane_metres(paris, london) - 343_600.0).abs() < 500.0);
    }

    #[test]
    fn levels_follow_sizes() {
        assert_eq!(hash_level(1.0), 11);
        assert_eq!(hash_level(1000.0), 7);
        assert_eq!(hash_level(0.0), 12);
        assert_eq!(distance_of_text("1km"), Some(1000.0));
    }
}
