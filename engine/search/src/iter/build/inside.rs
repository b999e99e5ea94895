//! Places inside a shape.

use std::sync::Arc;

use base::FieldNo;
use mapping::types::geo;
use segment::bkd::Bounds;

use super::{Context, box_of};
use crate::iter::AnyFilter;
use crate::iter::adjusted::Checked;
use crate::iter::column::Present;
use crate::iter::function::{Column, Inside};
use crate::iter::set::Set;
use crate::plan::bound::Access;
use crate::plan::function::{Form, Shape};

/// Places inside a shape: those of the boxes around it, looked at once more.
pub(super) fn inside_filter(
    context: Context<'_>,
    field: FieldNo,
    access: Access,
    shape: &Arc<Shape>,
) -> Option<AnyFilter> {
    let segment = context.segment;
    let points = if access.index { segment.points(field) } else { None };
    let base: AnyFilter = match points {
        Some(points) => {
            let boxes: Vec<Bounds> =
                shape.boxes().into_iter().filter_map(|area| area_of(points, area)).collect();
            let cost = boxes.iter().map(|bounds| points.estimate(bounds)).sum();
            Box::new(Set::points(points, &boxes, segment, cost))
        }
        None => Box::new(Present::numeric(segment, field)?),
    };
    // The points of boxes are compared as they lie, as Lucene does: nothing is left to look at.
    let is_exact = points.is_some() && matches!(&**shape, Shape::Boxes(_));
    if is_exact || segment.numeric(field).is_none() {
        return Some(base);
    }
    let column = Column::new(segment, field, Form::Long);
    let check = Inside { column, shape: Arc::clone(shape) };
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
