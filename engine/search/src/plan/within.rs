//! Queries on places meet an index: `geo_bounding_box`, `geo_distance`, `geo_polygon`.

use std::sync::Arc;

use mapping::Kind as Type;

use crate::ast::{self, GeoPoint};
use crate::error::{Error, Kind, Result};
use crate::plan::bind::Binder;
use crate::plan::bound::{Clause, Node};
use crate::plan::function::{Shape, split};

/// `geo_bounding_box`, `geo_distance`, `geo_polygon`.
pub fn within(binder: &mut Binder<'_>, query: &ast::GeoWithin) -> Result<Clause> {
    let Some(field) = binder.field(&query.field) else {
        if query.ignore_unmapped {
            return Ok(Clause::none());
        }
        let field = &query.field;
        return Err(Error::shard(format!("failed to find geo field [{field}]")));
    };
    if !matches!(field.kind, Type::GeoPoint(_)) {
        return Err(Error::shard(format!(
            "Field [{}] is of unsupported type [{}] for [{}] query",
            query.field,
            field.type_name(),
            query.query
        )));
    }
    if query.strict {
        check(query)?;
    }
    let shape = match &query.shape {
        ast::GeoShape::Box(north_west, south_east) => {
            let (south, north) = (south_east.lat, north_west.lat);
            Shape::Boxes(split(south, north, north_west.lon, south_east.lon))
        }
        ast::GeoShape::Circle(middle, radius) => {
            let mut middle = *middle;
            middle.lon = (middle.lon + 540.0).rem_euclid(360.0) - 180.0;
            Shape::Circle(middle, *radius)
        }
        ast::GeoShape::Polygon(points) => {
            let mut points = points.clone();
            if points.first() != points.last() {
                points.extend(points.first().copied());
            }
            Shape::Polygon(points)
        }
    };
    let access = crate::plan::leaf::check_access(&field)?;
    Ok(Node::Inside { field: field.no, access, shape: Arc::new(shape) }.into())
}

/// Places that cannot be are refused.
fn check(query: &ast::GeoWithin) -> Result<()> {
    let name = query.query;
    let printed = json::number::double_to_string;
    let lat = |point: &GeoPoint| !(-90.0..=90.0).contains(&point.lat);
    let lon = |point: &GeoPoint| !(-180.0..=180.0).contains(&point.lon);
    let faults = match &query.shape {
        // Each point of a polygon is looked at for itself.
        ast::GeoShape::Polygon(points) => {
            for point in points {
                let (what, value) = match (lat(point), lon(point)) {
                    (true, _) => ("latitude", point.lat),
                    (false, true) => ("longitude", point.lon),
                    (false, false) => continue,
                };
                let value = printed(value);
                return Err(Error::shard(format!("illegal {what} value [{value}] for [{name}]")));
            }
            return Ok(());
        }
        ast::GeoShape::Box(a, b) => vec![
            (lat(a), "top latitude", a.lat),
            (lon(a), "left longitude", a.lon),
            (lat(b), "bottom latitude", b.lat),
            (lon(b), "right longitude", b.lon),
        ],
        ast::GeoShape::Circle(middle, _) => vec![
            (lat(middle), "center point latitude", middle.lat),
            (lon(middle), "center point longitude", middle.lon),
        ],
    };
    let told = faults.into_iter().filter(|(is_wrong, ..)| *is_wrong).zip(1..);
    let told: String = told
        .map(|((_, what, value), number)| {
            format!("{number}: {what} is invalid: {};", printed(value))
        })
        .collect();
    if told.is_empty() {
        return Ok(());
    }
    let cause = Error::new(Kind::QueryValidation, format!("Validation Failed: {told}"));
    Err(Error::shard("couldn't validate latitude/ longitude values").caused_by(cause))
}
