//! Grids and distances, and points as requests write them.

use json::spanned::{Kind as Json, Node};

use super::super::context::{Fault, Read, Takes, boolean, int, object, text, text_or_null};
use super::range::end;
use super::values::{Knows, double, positive, values_object};
use crate::aggs::geo::{self, UNITS};
use crate::aggs::spec::{GeoDistance, GeoGrid, Kind};

/// `geo_distance`.
pub fn distance(name: &str, node: &Node) -> Read<Kind> {
    let own = [
        ("origin", Takes::Any),
        ("ranges", Takes::Array),
        ("unit", Takes::String),
        ("distance_type", Takes::String),
        ("keyed", Takes::Bool),
    ];
    let mut found = GeoDistance {
        values: Default::default(),
        origin: (0.0, 0.0),
        ranges: Vec::new(),
        unit_metres: 1.0,
        plane: false,
        keyed: false,
    };
    let mut origin = None;
    let knows = Knows::new("geo_distance").unformatted().unscripted();
    let values = values_object(knows, &own, node, |key, value| {
        match key {
            "origin" => origin = Some(point(value)?),
            "ranges" => {
                for node in value.as_array().unwrap_or_default() {
                    found.ranges.push(range(node)?);
                }
            }
            "unit" => {
                let word = text(value)?;
                found.unit_metres = geo::unit(&word).ok_or_else(|| {
                    Fault::illegal(value.at, format!("No distance unit match [{word}]"))
                })?;
            }
            "distance_type" => {
                let word = text(value)?;
                found.plane = match word.to_ascii_lowercase().as_str() {
                    "arc" => false,
                    "plane" => true,
                    _ => {
                        let reason = format!("No geo distance for [{word}]");
                        return Err(Fault::illegal(value.at, reason));
                    }
                };
            }
            _ => found.keyed = boolean(value)?,
        }
        Ok(())
    })?;
    found.origin = origin.ok_or_else(|| {
        Fault::illegal(node.end, format!("Aggregation [{name}] must define an [origin]."))
    })?;
    if found.ranges.is_empty() {
        let reason = format!("No [ranges] specified for the [{name}] aggregation");
        return Err(Fault::illegal(node.end, reason));
    }
    found.values = values;
    debug_assert!(UNITS.len() > 1, "units have names");
    Ok(Kind::GeoDistance(Box::new(found)))
}

type Between = (Option<String>, Option<f64>, Option<f64>);

fn range(node: &Node) -> Read<Between> {
    let fields = [("key", Takes::Value), ("from", Takes::Value), ("to", Takes::Value)];
    let mut range = (None, None, None);
    object("geo_distance", &fields, node, |key, value| {
        match key {
            "key" => range.0 = text_or_null(value)?,
            "from" => range.1 = end(value)?,
            _ => range.2 = end(value)?,
        }
        Ok(())
    })?;
    Ok(range)
}

/// A point: text, an array of longitude and latitude, or an object. Latitude first.
pub fn point(node: &Node) -> Read<(f64, f64)> {
    let bad = |what: &str| Fault::illegal(node.at, what.to_owned());
    match &node.kind {
        Json::String(text) => geo::point_of_text(text)
            .ok_or_else(|| bad(&format!("failed to parse geo point [{text}]"))),
        Json::Array(nodes) if nodes.len() >= 2 => Ok((double(&nodes[1])?, double(&nodes[0])?)),
        Json::Object(_) => {
            let (mut lat, mut lon) = (None, None);
            if let Some(pair) = node.get("coordinates").and_then(Node::as_array)
                && let [x, y, ..] = pair
            {
                return Ok((double(y)?, double(x)?));
            }
            for member in node.as_object().unwrap_or_default() {
                match member.key.as_str() {
                    "lat" => lat = Some(double(&member.value)?),
                    "lon" => lon = Some(double(&member.value)?),
                    _ => {
                        return Err(bad("field must be either [lat], [lon], or [geohash]"));
                    }
                }
            }
            match (lat, lon) {
                (Some(lat), Some(lon)) => Ok((lat, lon)),
                (None, _) => Err(bad("field [lat] missing")),
                (_, None) => Err(bad("field [lon] missing")),
            }
        }
        _ => Err(bad("geo_point expected")),
    }
}

/// `geohash_grid` and `geotile_grid`.
pub fn grid(node: &Node, tiles: bool) -> Read<Kind> {
    let own = [
        ("precision", Takes::Number),
        ("size", Takes::Number),
        ("shard_size", Takes::Number),
        ("bounds", Takes::Object),
    ];
    let mut found = GeoGrid {
        values: Default::default(),
        tiles,
        precision: if tiles { 7 } else { 5 },
        size: 10_000,
        shard_size: None,
        bounds: None,
    };
    let name = if tiles { "geotile_grid" } else { "geohash_grid" };
    let knows = Knows::new(name).unformatted();
    let values = values_object(knows, &own, node, |key, value| {
        match key {
            "precision" => found.precision = precision(value, tiles)?,
            "size" => found.size = positive("size", name, value)?,
            "shard_size" => found.shard_size = Some(positive("shardSize", name, value)?),
            _ => found.bounds = Some(bounds(value)?),
        }
        Ok(())
    })?;
    found.values = values;
    Ok(Kind::GeoGrid(Box::new(found)))
}

/// How fine a grid is: a level, or for hashes the size of a cell.
pub fn precision(value: &Node, tiles: bool) -> Read<u8> {
    let level = match &value.kind {
        Json::String(word) if !tiles && word.parse::<i32>().is_err() => {
            let metres = geo::distance_of_text(word).ok_or_else(|| {
                Fault::illegal(value.at, format!("failed to parse distance [{word}]"))
            })?;
            return Ok(geo::hash_level(metres));
        }
        _ => int(value)?,
    };
    match (tiles, level) {
        (true, 0..=29) | (false, 1..=12) => Ok(level as u8),
        (true, _) => Err(Fault::illegal(
            value.at,
            format!("Invalid geotile_grid precision of {level}. Must be between 0 and 29."),
        )),
        (false, _) => Err(Fault::illegal(
            value.at,
            format!("Invalid geohash aggregation precision of {level}. Must be between 1 and 12."),
        )),
    }
}

/// A box: corners or sides. Top, left, bottom, right.
fn bounds(node: &Node) -> Read<[f64; 4]> {
    let mut sides = [None; 4];
    for member in node.as_object().unwrap_or_default() {
        let value = &member.value;
        match member.key.as_str() {
            "top" => sides[0] = Some(double(value)?),
            "left" => sides[1] = Some(double(value)?),
            "bottom" => sides[2] = Some(double(value)?),
            "right" => sides[3] = Some(double(value)?),
            "top_left" => {
                let (lat, lon) = point(value)?;
                (sides[0], sides[1]) = (Some(lat), Some(lon));
            }
            "bottom_right" => {
                let (lat, lon) = point(value)?;
                (sides[2], sides[3]) = (Some(lat), Some(lon));
            }
            "top_right" => {
                let (lat, lon) = point(value)?;
                (sides[0], sides[3]) = (Some(lat), Some(lon));
            }
            "bottom_left" => {
                let (lat, lon) = point(value)?;
                (sides[2], sides[1]) = (Some(lat), Some(lon));
            }
            "wkt" => {
                let word = text(value)?;
                let found = geo::envelope_of_text(&word).ok_or_else(|| {
                    Fault::illegal(value.at, format!("failed to parse WKT bounding box [{word}]"))
                })?;
                return Ok(found);
            }
            other => {
                let reason = format!("failed to parse bounding box. unexpected field [{other}]");
                return Err(Fault::illegal(value.at, reason));
            }
        }
    }
    match sides {
        [Some(top), Some(left), Some(bottom), Some(right)] => {
            if top < bottom {
                let reason = format!("top is below bottom corner: {top:?} vs. {bottom:?}");
                return Err(Fault::illegal(node.end, reason));
            }
            Ok([top, left, bottom, right])
        }
        _ => Err(Fault::illegal(node.end, "failed to parse bounding box. missing corner")),
    }
}
