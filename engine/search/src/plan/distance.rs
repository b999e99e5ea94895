//! A sort key: how far the places of a field are from others.

use base::FieldNo;
use mapping::types::{geo, sortable};
use mapping::{Kind as Type, Mapping};

use crate::aggs::geo::plane_metres;
use crate::ast::GeoPoint;
use crate::error::{Error, Result};
use crate::iter::area::Fence;
use crate::iter::function::haversine;
use crate::request::{DistanceSort, Mode, Order, Sort};

/// How far places are.
#[derive(Clone, Debug)]
pub struct Distance {
    /// The column; absent where the index does not map the field.
    pub field: Option<FieldNo>,
    origins: Vec<GeoPoint>,
    /// Metres of the unit in which it is told.
    unit: f64,
    is_flat: bool,
    mode: Mode,
}

impl Distance {
    /// Meets an index.
    ///
    /// # Errors
    /// A field that holds no places, or that nobody knows.
    pub fn bind(asked: &DistanceSort, sort: &Sort, mapping: &Mapping) -> Result<Self> {
        let field = match mapping.known(&asked.field) {
            Some(field) if matches!(field.kind, Type::GeoPoint(_)) => Some(field.no),
            Some(field) => {
                return Err(Error::illegal(format!(
                    "Expected [geo_point] field but got [{}]",
                    field.type_name()
                )));
            }
            None if asked.ignore_unmapped => None,
            None => {
                return Err(Error::illegal(format!(
                    "failed to find mapper for [{}] for geo distance based sort",
                    asked.field
                )));
            }
        };
        let descending = sort.order == Order::Descending;
        Ok(Self {
            field,
            origins: asked.origins.clone(),
            unit: asked.unit,
            is_flat: asked.is_flat,
            mode: sort.mode.unwrap_or(if descending { Mode::Max } else { Mode::Min }),
        })
    }

    /// What need not be looked at because it is farther than a sortable distance; `None` where that
    /// cannot be told by a box. For columns with one place a document.
    pub fn fence(&self, farthest: i64) -> Option<Fence> {
        let [origin] = self.origins.as_slice() else { return None };
        let metres = sortable::to_f64(farthest) * self.unit;
        let is_on_earth = origin.lat.abs() <= 90.0 && origin.lon.is_finite();
        (!self.is_flat && is_on_earth && metres.is_finite()).then(|| Fence::new(*origin, metres))
    }

    fn metres(&self, origin: GeoPoint, place: i64) -> f64 {
        let place = geo::decode(place);
        let place = GeoPoint { lat: place.lat, lon: place.lon };
        match self.is_flat {
            true => plane_metres((origin.lat, origin.lon), (place.lat, place.lon)),
            false => haversine(origin, place),
        }
    }

    /// The sortable distance of places of a column, in the unit; `None` without a place.
    pub fn of(&self, places: &[i64]) -> Option<i64> {
        if let ([place], [origin]) = (places, self.origins.as_slice()) {
            return Some(sortable::from_f64(self.metres(*origin, *place) / self.unit));
        }
        let mut all: Vec<f64> = Vec::with_capacity(places.len() * self.origins.len());
        for place in places {
            for origin in &self.origins {
                all.push(self.metres(*origin, *place) / self.unit);
            }
        }
        all.sort_unstable_by(f64::total_cmp);
        let count = all.len();
        let (first, last) = (all.first()?, all.last()?);
        Some(sortable::from_f64(match self.mode {
            Mode::Min => *first,
            Mode::Max => *last,
            Mode::Sum => all.iter().sum(),
            Mode::Avg => all.iter().sum::<f64>() / count as f64,
            Mode::Median if count % 2 == 1 => all[count / 2],
            Mode::Median => (all[count / 2 - 1] + all[count / 2]) / 2.0,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(mode: Mode, is_flat: bool) -> Distance {
        let origins = vec![GeoPoint { lat: 0.0, lon: 0.0 }, GeoPoint { lat: 0.0, lon: 1.0 }];
        Distance { field: None, origins, unit: 1000.0, is_flat, mode }
    }

    #[test]
    fn one_of_several_distances_counts() {
        let place = geo::encode(geo::Point { lat: 0.0, lon: 3.0 });
        let km = |mode, is_flat| sortable::to_f64(to(mode, is_flat).of(&[place]).expect("a place"));
        assert!((km(Mode::Min, false) - 222.39).abs() < 0.01);
        assert!((km(Mode::Max, false) - 333.585).abs() < 0.01);
        assert!((km(Mode::Avg, false) - 277.99).abs() < 0.01);
        assert!((km(Mode::Max, true) - 333.585).abs() < 0.01);
        assert_eq!(to(Mode::Min, false).of(&[]), None);
    }

    /// Degrees of longitude counted as those of latitude, so 248.92 km were told.
    #[test]
    fn degrees_of_longitude_are_shorter_towards_the_poles() {
        let origins = vec![GeoPoint { lat: 41.0, lon: -72.0 }];
        let distance =
            Distance { field: None, origins, unit: 1000.0, is_flat: true, mode: Mode::Min };
        let place = geo::encode(geo::Point { lat: 40.0, lon: -70.0 });
        let km = sortable::to_f64(distance.of(&[place]).expect("a place"));
        assert!((km - 202.39).abs() < 0.01, "{km}");
    }
}
