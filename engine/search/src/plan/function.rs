//! Functions, features and distances that have met an index.

use std::sync::Arc;

use base::FieldNo;
use mapping::types::date_format::Round;
use mapping::types::{date_math, geo};
use mapping::{Field, Kind as Type, NumberKind};

use crate::ast::{
    self, DecayForm, FunctionKind, GeoPoint, Modifier, MultiValue, RankFunction, ScoreMode,
};
use crate::dsl::{geo as written, signed_time_ms, time_ms};
use crate::error::{Error, Kind, Result};
use crate::iter::function::{EARTH_RADIUS, haversine, mix};
use crate::plan::bind::{self, Binder};
use crate::plan::bound::{Clause, Node, ScriptScore};
use crate::scripted::Bound as Scripted;

/// What a column's numbers are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Dates in milliseconds, booleans, places.
    Long,
    /// Dates in nanoseconds.
    Nanos,
    /// Numbers of a kind, kept as so many parts of one.
    Number(NumberKind, f64),
}

impl Form {
    /// Of a field; `None` where it has no column of numbers.
    pub fn of(field: &Field) -> Option<Self> {
        if field.column() != mapping::Column::Numeric {
            return None;
        }
        Some(match &field.kind {
            Type::Number(number) => Self::Number(number.number, number.scale),
            Type::Date(date) if date.nanos => Self::Nanos,
            _ => Self::Long,
        })
    }

    /// A number as a double; dates in milliseconds.
    pub fn double(self, value: i64) -> f64 {
        match self {
            Self::Long => value as f64,
            Self::Nanos => value as f64 / 1e6,
            Self::Number(NumberKind::ScaledFloat, scale) => value as f64 / scale,
            Self::Number(kind, _) => kind.double_of(value),
        }
    }
}

/// Where a bell has its top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// A number, a date in milliseconds.
    Number(f64),
    /// A place.
    Place(GeoPoint),
}

/// A number by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Random {
    /// Salted.
    pub seed: i32,
    /// By the place in the index, not by a value.
    pub by_doc: bool,
}

impl DecayForm {
    fn scale(self, scale: f64, decay: f64) -> f64 {
        match self {
            Self::Gauss => 0.5 * scale.powi(2) / decay.ln(),
            Self::Exp => decay.ln() / scale,
            Self::Linear => scale / (1.0 - decay),
        }
    }

    /// The height at a distance; `scale` was made ready for the form.
    pub fn evaluate(self, distance: f64, scale: f64) -> f64 {
        match self {
            Self::Gauss => (0.5 * distance.powi(2) / scale).exp(),
            Self::Exp => (scale * distance).exp(),
            Self::Linear => ((scale - distance) / scale).max(0.0),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Gauss => "gauss",
            Self::Exp => "exp",
            Self::Linear => "linear",
        }
    }
}

/// What one function computes.
#[derive(Clone, Debug, PartialEq)]
pub enum Compute {
    /// 1.
    One,
    /// A number by chance, of a field's value where one is named.
    Random(Random, Option<FieldNo>),
    /// A field's value.
    Factor {
        /// The field.
        field: Option<(FieldNo, Form)>,
        /// Its name.
        name: Arc<str>,
        /// Multiplied before the modifier.
        factor: f32,
        /// What is made of the product.
        modifier: Modifier,
        /// Stands for no value.
        missing: Option<f64>,
    },
    /// A bell.
    Decay {
        /// The field.
        field: Option<(FieldNo, Form)>,
        /// Where its top is.
        origin: Origin,
        /// Its form.
        form: DecayForm,
        /// How wide it is, made ready for the form.
        scale: f64,
        /// How far its top is flat.
        offset: f64,
        /// Which of several distances counts.
        multi: MultiValue,
    },
    /// What a script gives.
    Script(Arc<Scripted>),
}

/// One function.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Documents it applies to; absent: all.
    pub filter: Option<Clause>,
    /// Factor.
    pub weight: Option<f32>,
    /// What it computes.
    pub compute: Compute,
}

/// `function_score`.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionScore {
    /// What matches.
    pub query: Clause,
    /// The functions.
    pub parts: Vec<Part>,
    /// How they are joined.
    pub score_mode: ScoreMode,
    /// How their score and the query's are joined.
    pub boost_mode: ScoreMode,
    /// Most that the functions may give.
    pub max_boost: f32,
    /// Documents below do not match.
    pub min_score: Option<f32>,
    /// It is asked of objects inside of documents.
    pub is_inside: bool,
}

/// `function_score`.
pub fn function_score(binder: &mut Binder<'_>, query: &ast::FunctionScore) -> Result<Clause> {
    let inner = binder.clause(&query.query)?;
    let mut parts = Vec::with_capacity(query.functions.len());
    for function in &query.functions {
        let filter = match &function.filter {
            Some(filter) => Some(binder.clause(filter)?).filter(|filter| filter.node != Node::All),
            None => None,
        };
        let compute = match &function.kind {
            None => Compute::One,
            Some(kind) => compute(binder, kind)?,
        };
        parts.push(Part { filter, weight: function.weight, compute });
    }
    if inner.is_none() {
        return Ok(inner);
    }
    // One function for all documents is not joined with any other.
    let score_mode = match parts.as_slice() {
        [Part { filter: None, .. }] => ScoreMode::First,
        _ => query.score_mode,
    };
    // A function fails by what it is asked of, so it is asked of nothing else.
    let scope = binder.scope.clone();
    let inner = match &scope {
        Some(path) => bind::restricted(inner, bind::objects(path)),
        None => inner,
    };
    Ok(Node::Function(Arc::new(FunctionScore {
        query: inner,
        is_inside: scope.is_some(),
        parts,
        score_mode,
        boost_mode: query.boost_mode,
        max_boost: query.max_boost,
        min_score: query.min_score,
    }))
    .into())
}

/// `script_score`.
pub fn script_score(binder: &mut Binder<'_>, query: &ast::ScriptScore) -> Result<Clause> {
    if !binder.context.expensive {
        return Err(Error::new(
            Kind::Exception,
            "[script score] queries cannot be executed when 'search.allow_expensive_queries' is set \
             to false.",
        ));
    }
    let script = binder.script(&query.script, &script::Context::SCORE)?;
    let inner = binder.clause(&query.query)?;
    if inner.is_none() {
        return Ok(inner);
    }
    let min_score = query.min_score;
    Ok(Node::ScriptScore(Arc::new(ScriptScore { query: inner, script, min_score })).into())
}

fn compute(binder: &mut Binder<'_>, kind: &FunctionKind) -> Result<Compute> {
    match kind {
        FunctionKind::Random(seed, field) => random(binder, *seed, field.as_deref()),
        FunctionKind::Factor(factor) => {
            let field = binder.field(&factor.field);
            let column = match &field {
                None if factor.missing.is_some() => None,
                None => {
                    return Err(Error::new(
                        Kind::Exception,
                        format!(
                            "Unable to find a field mapper for field [{}]. No 'missing' value \
                             defined.",
                            factor.field
                        ),
                    ));
                }
                Some(field) => Some((field.no, numeric(field)?)),
            };
            Ok(Compute::Factor {
                field: column,
                name: factor.field.as_str().into(),
                factor: factor.factor,
                modifier: factor.modifier,
                missing: factor.missing,
            })
        }
        FunctionKind::Decay(decay) => bell(binder, decay),
        FunctionKind::Script(script) => {
            Ok(Compute::Script(binder.script(script, &script::Context::SCORE)?))
        }
    }
}

fn numeric(field: &Field) -> Result<Form> {
    Form::of(field).filter(|_| !matches!(field.kind, Type::GeoPoint(_))).ok_or_else(|| {
        Error::illegal(format!(
            "Can't load fielddata on [{}] because fielddata is unsupported on fields of type [{}]. \
             Use doc values instead.",
            field.path,
            field.type_name()
        ))
    })
}

fn random(binder: &mut Binder<'_>, seed: Option<i64>, field: Option<&str>) -> Result<Compute> {
    let name = binder.context.index;
    let hash = name
        .encode_utf16()
        .fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    let salt = hash << 10;
    let now = binder.context.now_ms;
    let by_now = (now ^ (now >> 32)) as i32;
    let seed = seed.map_or(by_now, |seed| seed as i32);
    let random = |by_doc| Random { seed: mix(seed ^ salt), by_doc };
    match field {
        None => Ok(Compute::Random(random(false), None)),
        Some("_seq_no") => Ok(Compute::Random(random(false), Some(FieldNo::SEQ_NO))),
        Some("_id") => Ok(Compute::Random(random(false), None)),
        Some(name) => match binder.field(name) {
            Some(field) => Ok(Compute::Random(random(false), Some(field.no))),
            None => Err(Error::illegal(format!(
                "Field [{name}] is not mapped on [{}] and cannot be used as a source of random \
                 numbers.",
                binder.context.index
            ))),
        },
    }
}

fn bell(binder: &mut Binder<'_>, decay: &ast::Decay) -> Result<Compute> {
    let Some(field) = binder.field(&decay.field) else {
        return Err(Error::new(Kind::Parse, format!("unknown field [{}]", decay.field)));
    };
    let illegal = |what: String| Error::illegal(what);
    if decay.decay <= 0.0 || decay.decay >= 1.0 {
        let reason =
            format!("{} : decay must be in the range [0..1].", decay.form.name().to_uppercase());
        return Err(illegal(reason));
    }
    let now = binder.context.now_ms;
    let (origin, scale, offset) = match &field.kind {
        Type::GeoPoint(_) => {
            let (Some(origin), Some(scale)) = (&decay.origin, &decay.scale) else {
                return Err(Error::new(
                    Kind::Parse,
                    "both [origin] and [scale] must be set for geo fields.",
                ));
            };
            let place = place(origin)?;
            let metres = |value: &ast::Scalar| written::metres(value.text(), "m");
            let offset = decay.offset.as_ref().map(metres).transpose()?.unwrap_or(0.0);
            (Origin::Place(place), metres(scale)?, offset)
        }
        Type::Date(date) => {
            let Some(scale) = &decay.scale else {
                return Err(Error::new(Kind::Parse, "[scale] must be set for date fields."));
            };
            let origin = match &decay.origin {
                None => now,
                Some(value) => {
                    let text = text_of(value);
                    date_math::parse_ms(&date.format, &text, now, Round::Down, None)?
                }
            };
            let time = |value: &ast::Scalar, what: &str| -> Result<f64> {
                Ok(time_ms(value.text(), what)?.unwrap_or(0) as f64)
            };
            let offset =
                decay.offset.as_ref().map(|it| time(it, "offset")).transpose()?.unwrap_or(0.0);
            (Origin::Number(origin as f64), time(scale, "scale")?, offset)
        }
        _ if Form::of(&field).is_some() => {
            let (Some(origin), Some(scale)) = (&decay.origin, &decay.scale) else {
                return Err(Error::new(
                    Kind::Parse,
                    "both [scale] and [origin] must be set for numeric fields.",
                ));
            };
            let number = |text: &str| text.trim().parse::<f64>().map_err(|_| Error::number(text));
            let offset = decay.offset.as_ref().map(|it| number(it.text())).transpose()?;
            let origin = number(&text_of(origin))?;
            (Origin::Number(origin), number(scale.text())?, offset.unwrap_or(0.0))
        }
        _ => {
            return Err(Error::new(
                Kind::Parse,
                format!(
                    "field [{}] is of type [{}], but only numeric types are supported.",
                    decay.field,
                    field.type_name()
                ),
            ));
        }
    };
    let class = decay.form.name().to_uppercase();
    if scale <= 0.0 {
        return Err(illegal(format!("{class} : scale must be > 0.0.")));
    }
    if offset < 0.0 {
        return Err(illegal(format!("{class} : offset must be > 0.0.")));
    }
    Ok(Compute::Decay {
        field: Form::of(&field).map(|form| (field.no, form)),
        origin,
        form: decay.form,
        scale: decay.form.scale(scale, decay.decay),
        offset,
        multi: decay.multi,
    })
}

fn text_of(value: &json::Value) -> String {
    match value {
        json::Value::String(text) => text.clone(),
        json::Value::Number(number) => number.text().to_owned(),
        other => json::to_string(other),
    }
}

fn place(value: &json::Value) -> Result<GeoPoint> {
    let point = geo::parse_point(value, true)?;
    Ok(GeoPoint { lat: point.lat, lon: point.lon })
}

/// What becomes of a feature's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RankForm {
    /// With its pivot.
    Saturation(f32),
    /// With its factor.
    Log(f32),
    /// Pivot and exponent.
    Sigmoid(f32, f32),
    /// As it is.
    Linear,
}

impl RankForm {
    /// The score of a value.
    pub fn score(self, weight: f32, value: f32) -> f32 {
        match self {
            // As Lucene writes it, so that it never falls where the value rises.
            Self::Saturation(pivot) => weight * (1.0 - pivot / (value + pivot)),
            Self::Log(factor) => (f64::from(weight) * f64::from(factor + value).ln()) as f32,
            Self::Sigmoid(pivot, exponent) => {
                let (a, k) = (f64::from(exponent), f64::from(pivot).powf(f64::from(exponent)));
                (f64::from(weight) * (1.0 - k / (f64::from(value).powf(a) + k))) as f32
            }
            Self::Linear => weight * value,
        }
    }
}

/// A feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// The field.
    pub field: FieldNo,
    /// The feature's name; empty of a field that is one.
    pub term: Box<[u8]>,
    /// What becomes of its value; absent: a saturation whose pivot the shard tells.
    pub form: Option<RankForm>,
}

/// `rank_feature`.
pub fn rank_feature(binder: &mut Binder<'_>, query: &ast::RankFeature) -> Result<Clause> {
    let whole = binder.field(&query.field);
    let (field, term): (Arc<Field>, Box<[u8]>) = match whole {
        Some(field) => (field, Box::default()),
        None => {
            let inside = query.field.rsplit_once('.').and_then(|(parent, name)| {
                let field = binder.field(parent)?;
                let is_features = matches!(field.kind, Type::RankFeatures(_));
                is_features.then(|| (field, name.as_bytes().into()))
            });
            match inside {
                Some(found) => found,
                None => return Ok(Clause::none()),
            }
        }
    };
    let positive = match &field.kind {
        Type::RankFeature(feature) | Type::RankFeatures(feature) => !feature.negative,
        _ => {
            return Err(Error::illegal(format!(
                "[rank_feature] query only works on [rank_feature] fields and features of \
                 [rank_features] fields, not [{}]",
                field.type_name()
            )));
        }
    };
    let form = match query.function {
        RankFunction::Saturation(None) => None,
        RankFunction::Saturation(Some(pivot)) => Some(RankForm::Saturation(pivot)),
        RankFunction::Sigmoid(pivot, exponent) => Some(RankForm::Sigmoid(pivot, exponent)),
        RankFunction::Log(_) if !positive => {
            return Err(Error::illegal(
                "Cannot use the [log] function with a field that has a negative score impact as \
                 it would trigger negative scores",
            ));
        }
        RankFunction::Log(factor) => Some(RankForm::Log(factor)),
        RankFunction::Linear => Some(RankForm::Linear),
    };
    Ok(Node::Feature(Feature { field: field.no, term, form }).into())
}

/// How near a value is.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The field.
    pub field: FieldNo,
    /// What its column's numbers are.
    pub form: Form,
    /// Where the score is best.
    pub origin: Origin,
    /// Distance at which it is half.
    pub pivot: f64,
}

/// `distance_feature`.
pub fn distance_feature(binder: &mut Binder<'_>, query: &ast::DistanceFeature) -> Result<Clause> {
    let Some(field) = binder.field(&query.field) else { return Ok(Clause::none()) };
    let form = Form::of(&field);
    let (origin, pivot) = match (&field.kind, form) {
        (Type::Date(date), Some(_)) => {
            let text = text_of(&query.origin);
            let now = binder.context.now_ms;
            let origin = date_math::parse_ms(&date.format, &text, now, Round::Up, None)?;
            let pivot = signed_time_ms(&query.pivot, "distance_feature.pivot")?;
            if pivot <= 0 {
                let found = pivot.saturating_mul(if date.nanos { 1_000_000 } else { 1 });
                return Err(no_pivot(found));
            }
            (Origin::Number(origin as f64), pivot as f64)
        }
        (Type::GeoPoint(_), Some(_)) => {
            let origin = place(&query.origin)?;
            let pivot = written::metres(&query.pivot, "m")?;
            if pivot <= 0.0 {
                return Err(no_pivot(json::number::double_to_string(pivot)));
            }
            (Origin::Place(origin), pivot)
        }
        _ => {
            return Err(Error::illegal(format!(
                "Illegal data type of [{}]![distance_feature] query can only be run on a date, \
                 date_nanos or geo_point field type!",
                field.type_name()
            )));
        }
    };
    let Some(form) = form else { return Ok(Clause::none()) };
    Ok(Node::Near(Near { field: field.no, form, origin, pivot }).into())
}

fn no_pivot(found: impl std::fmt::Display) -> Error {
    Error::illegal(format!("pivotDistance must be > 0, got {found}"))
}

/// What places must lie in.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Boxes: least and greatest latitude and longitude.
    Boxes(Vec<[f64; 4]>),
    /// A circle: its middle, its radius in metres.
    Circle(GeoPoint, f64),
    /// A polygon, closed.
    Polygon(Vec<GeoPoint>),
}

impl Shape {
    /// Does it hold a place?
    pub fn holds(&self, place: GeoPoint) -> bool {
        match self {
            Self::Boxes(boxes) => boxes.iter().any(|[south, north, west, east]| {
                (*south..=*north).contains(&place.lat) && (*west..=*east).contains(&place.lon)
            }),
            Self::Circle(middle, radius) => {
                is_near(*middle, place, *radius) || haversine(*middle, place) <= *radius
            }
            Self::Polygon(points) => {
                let mut inside = false;
                for pair in points.windows(2) {
                    let (a, b) = (pair[0], pair[1]);
                    if (a.lat > place.lat) != (b.lat > place.lat) {
                        let lon = (b.lon - a.lon) * (place.lat - a.lat) / (b.lat - a.lat) + a.lon;
                        inside ^= place.lon < lon;
                    }
                }
                inside
            }
        }
    }

    /// Boxes that hold all of it.
    pub fn boxes(&self) -> Vec<[f64; 4]> {
        match self {
            Self::Boxes(boxes) => boxes.clone(),
            Self::Circle(middle, radius) => {
                let lat = (radius / 111_000.0) * 1.01;
                let (south, north) = ((middle.lat - lat).max(-90.0), (middle.lat + lat).min(90.0));
                let widest = south.abs().max(north.abs()).min(89.9).to_radians().cos();
                let lon = lat / widest;
                if north >= 90.0 || south <= -90.0 || lon >= 180.0 {
                    return vec![[south, north, -180.0, 180.0]];
                }
                split(south, north, middle.lon - lon, middle.lon + lon)
            }
            Self::Polygon(points) => {
                let mut all = [90.0, -90.0, 180.0, -180.0f64];
                for point in points {
                    all[0] = point.lat.min(all[0]);
                    all[1] = point.lat.max(all[1]);
                    all[2] = point.lon.min(all[2]);
                    all[3] = point.lon.max(all[3]);
                }
                vec![all]
            }
        }
    }
}

/// Is a place within `radius` metres even along the parallel and then the meridian, which is never
/// shorter than straight? Tells most places of a circle with one cosine. The margin is far wider than
/// the error of [`haversine`] over distances of a kilometre and more.
#[inline]
fn is_near(middle: GeoPoint, place: GeoPoint, radius: f64) -> bool {
    let lat = (middle.lat - place.lat).abs().to_radians();
    let lon = (middle.lon - place.lon).abs().to_radians();
    let way = EARTH_RADIUS * (lat + lon * middle.lat.to_radians().cos());
    radius >= 1000.0 && way <= radius * (1.0 - 1e-6)
}

/// A box that may cross the date line.
pub(super) fn split(south: f64, north: f64, west: f64, east: f64) -> Vec<[f64; 4]> {
    if west < -180.0 {
        return vec![[south, north, west + 360.0, 180.0], [south, north, -180.0, east]];
    }
    if east > 180.0 {
        return vec![[south, north, west, 180.0], [south, north, -180.0, east - 360.0]];
    }
    if west > east {
        return vec![[south, north, west, 180.0], [south, north, -180.0, east]];
    }
    vec![[south, north, west, east]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_inside() {
        let mut state = 7u64;
        let mut chance = |low: f64, high: f64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            low + (high - low) * ((state >> 11) as f64 / (1u64 << 53) as f64)
        };
        let mut near = 0;
        for _ in 0..200_000 {
            let middle = GeoPoint { lat: chance(-89.0, 89.0), lon: chance(-180.0, 180.0) };
            let radius = 10f64.powf(chance(3.0, 6.5));
            let reach = radius / 111_000.0;
            let lat = (middle.lat + chance(-reach, reach)).clamp(-90.0, 90.0);
            let lon = (middle.lon + chance(-reach, reach)).clamp(-180.0, 180.0);
            let place = GeoPoint { lat, lon };
            if is_near(middle, place, radius) {
                near += 1;
                assert!(haversine(middle, place) <= radius, "{middle:?} {place:?} {radius}");
            }
        }
        assert!(near > 50_000, "the way tells many: {near}");
    }
}
