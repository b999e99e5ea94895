//! Places inside a shape.

use std::sync::Arc;

use base::FieldNo;
use mapping::types::geo;
use segment::bkd::{Bounds, Shape as Points};

use super::{Context, box_of};
use crate::iter::AnyFilter;
use crate::iter::adjusted::Checked;
use crate::iter::area::Area;
use crate::iter::column::Present;
use crate::iter::function::{Column, Inside};
use crate::iter::set::Set;
use crate::plan::bound::Access;
use crate::plan::function::{Form, Shape};

/// A lead with so many times fewer documents has their columns looked at, instead of gathering all
/// that lie inside.
const FOLLOWS_FROM: u64 = 8;

/// Places inside a shape, found among the points; or, for few documents, by their columns.
pub(super) fn inside_filter(
    context: Context<'_>,
    field: FieldNo,
    access: Access,
    shape: &Arc<Shape>,
    lead: u64,
) -> Option<AnyFilter> {
    let segment = context.segment;
    let points = if access.index { segment.points(field) } else { None };
    let has_column = segment.numeric(field).is_some();
    let mut cost = u64::from(context.doc_count());
    if let Some(points) = points.filter(|points| points.shape() == Points::PAIR) {
        let boxes: Vec<Bounds> =
            shape.boxes().into_iter().filter_map(|area| area_of(points, area)).collect();
        cost = boxes.iter().map(|bounds| points.estimate(bounds)).sum();
        if cost == 0 {
            return None;
        }
        if !has_column || lead >= cost / FOLLOWS_FROM {
            // The points of boxes are compared as they lie, as Lucene does.
            return Some(match &**shape {
                Shape::Boxes(_) => Box::new(Set::points(points, &boxes, segment, cost)),
                _ => Box::new(Set::area(points, Area::new(shape, cost), segment)),
            });
        }
    }
    let base = Box::new(Present::numeric(segment, field)?);
    let column = Column::new(segment, field, Form::Long);
    let check = Inside { column, area: Area::new(shape, lead.min(cost)) };
    Some(Box::new(Checked::new(base, Box::new(check))))
}

/// A box of places as points lie.
fn area_of(points: &segment::Bkd, [south, north, west, east]: [f64; 4]) -> Option<Bounds> {
    let mut low = geo::dimension(geo::encode_lat_ceil(south.clamp(-90.0, 90.0))).to_vec();
    low.extend(geo::dimension(geo::encode_lon_ceil(west.clamp(-180.0, 180.0))));
    let mut high = geo::dimension(geo::encode_lat(north.clamp(-90.0, 90.0))).to_vec();
    high.extend(geo::dimension(geo::encode_lon(east.clamp(-180.0, 180.0))));
    box_of(points, &low, &high)
}
