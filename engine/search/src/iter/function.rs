//! What functions make of scores: `function_score`, features, distances, clauses counted.

use std::sync::{Arc, OnceLock};

use base::DocId;
use base::hash::murmur3;
use mapping::types::geo;
use segment::columns::Numeric;
use segment::{Live, Parents, Segment};

use super::adjusted::{Adjust, Check};
use super::area::Area;
use super::blocks::Blocks;
use super::{AnyFilter, AnyScorer, Bits, NO_MATCH, Turn, bits, window_of};
use crate::ast::{GeoPoint, MultiValue, ScoreMode};
use crate::error::{Error, Kind};
use crate::plan::function::{Form, Origin, Random, RankForm};
use crate::scripted::Runner;

/// Mean radius of the earth, as Lucene has it.
pub const EARTH_RADIUS: f64 = 6_371_008.771_4;

/// The first fault that a function met; the shard fails by it.
pub type Trouble = Arc<OnceLock<Error>>;

/// Metres between two places.
pub fn haversine(a: GeoPoint, b: GeoPoint) -> f64 {
    let (x1, x2) = (a.lat.to_radians(), b.lat.to_radians());
    let h1 = 1.0 - (x1 - x2).cos();
    let h2 = 1.0 - (a.lon - b.lon).to_radians().cos();
    let h = h1 + x1.cos() * x2.cos() * h2;
    2.0 * EARTH_RADIUS * (h * 0.5).sqrt().min(1.0).asin()
}

/// A column of numbers, read document by document.
pub struct Column {
    column: Option<Numeric>,
    form: Form,
    values: Vec<i64>,
}

impl Column {
    /// The column of a field, where the segment has it.
    pub fn new(segment: &Segment, field: base::FieldNo, form: Form) -> Self {
        Self { column: segment.numeric(field).cloned(), form, values: Vec::new() }
    }

    fn prepare(&self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        let Some(column) = &self.column else { return true };
        if turn.resident {
            return true;
        }
        let mut last = None;
        for doc in docs {
            let window = window_of(*doc);
            if last != Some(window) {
                let _ = column.need(window, turn.missing);
                last = Some(window);
            }
        }
        turn.is_ready()
    }

    /// The values of a document as they lie.
    fn raw(&mut self, doc: u32) -> &[i64] {
        self.values.clear();
        if let Some(column) = &self.column {
            column.values(DocId(doc), &mut self.values);
        }
        &self.values
    }

    fn first(&mut self, doc: u32) -> Option<f64> {
        let form = self.form;
        self.raw(doc).first().map(|value| form.double(*value))
    }
}

/// What one function computes.
pub enum Compute {
    /// 1.
    One,
    /// A number by chance.
    Random(Random, Option<Column>, Segment),
    /// A field's value: factor, modifier, what stands for none, name of the field.
    Factor(Option<Column>, f32, crate::ast::Modifier, Option<f64>, Arc<str>),
    /// A bell.
    Decay {
        column: Option<Column>,
        origin: Origin,
        form: crate::ast::DecayForm,
        scale: f64,
        offset: f64,
        multi: MultiValue,
    },
    /// What a script gives.
    Script(Box<Runner<f64>>),
}

impl Compute {
    fn prepare(&mut self, docs: &[u32], scores: &[f32], turn: &mut Turn<'_>) -> bool {
        match self {
            Self::One => true,
            Self::Script(runner) => runner.prepare(docs, scores, turn),
            Self::Random(_, column, segment) => match column {
                Some(column) => column.prepare(docs, turn),
                None if turn.resident => true,
                None => {
                    for doc in docs {
                        let _ = segment.ids().need_id_of(DocId(*doc), turn.missing);
                    }
                    turn.is_ready()
                }
            },
            Self::Factor(column, ..) | Self::Decay { column, .. } => {
                column.as_ref().is_none_or(|column| column.prepare(docs, turn))
            }
        }
    }

    fn value(&mut self, doc: u32) -> Result<f64, Error> {
        match self {
            Self::One => Ok(1.0),
            Self::Random(random, column, segment) => Ok(random.value(doc, column, segment)),
            Self::Factor(column, factor, modifier, missing, name) => {
                let found = column.as_mut().and_then(|column| column.first(doc)).or(*missing);
                let Some(value) = found else {
                    let reason = format!("Missing value for field [{name}]");
                    return Err(Error::new(Kind::Exception, reason));
                };
                let result = modifier.apply(value * f64::from(*factor));
                if result < 0.0 || result.is_nan() {
                    let printed = json::number::double_to_string(result);
                    let reason = if result.is_nan() {
                        format!(
                            "Result of field modification [{}({value:?})] must be a number",
                            modifier.name()
                        )
                    } else {
                        format!(
                            "field value function must not produce negative scores, but got: \
                             [{printed}] for field value: [{}]",
                            json::number::double_to_string(value)
                        )
                    };
                    return Err(Error::illegal(reason));
                }
                Ok(result)
            }
            Self::Decay { column, origin, form, scale, offset, multi } => {
                let distance = match column {
                    Some(column) => distance(column, origin, *offset, *multi, doc),
                    None => 0.0,
                };
                Ok(form.evaluate(distance, *scale))
            }
            Self::Script(runner) => match runner.result(doc) {
                // Nobody sees such a document.
                None => Ok(1.0),
                Some(Err(error)) => Err(error.clone()),
                Some(Ok(value)) if *value < 0.0 => Err(Error::illegal(format!(
                    "script score function must not produce negative scores, but got: [{}]",
                    json::number::double_to_string(*value)
                ))),
                Some(Ok(value)) => Ok(*value),
            },
        }
    }
}

fn distance(column: &mut Column, origin: &Origin, offset: f64, multi: MultiValue, doc: u32) -> f64 {
    let form = column.form;
    let one = |value: i64| {
        let far = match origin {
            Origin::Number(origin) => (form.double(value) - origin).abs(),
            Origin::Place(place) => haversine(place_of(value), *place),
        };
        (far - offset).max(0.0)
    };
    let values = column.raw(doc);
    if values.is_empty() {
        return 0.0;
    }
    let all = values.iter().map(|value| one(*value));
    match multi {
        MultiValue::Min => all.fold(f64::INFINITY, f64::min),
        MultiValue::Max => all.fold(0.0, f64::max),
        MultiValue::Sum => all.sum(),
        MultiValue::Avg => all.sum::<f64>() / values.len() as f64,
    }
}

fn place_of(value: i64) -> GeoPoint {
    let point = geo::decode(value);
    GeoPoint { lat: point.lat, lon: point.lon }
}

impl Random {
    fn value(&self, doc: u32, column: &mut Option<Column>, segment: &Segment) -> f64 {
        let hash = match (self.by_doc, column) {
            (true, _) => mix(doc as i32 ^ self.seed),
            (false, Some(column)) => match column.raw(doc).first() {
                Some(value) => murmur3(value.to_string().as_bytes(), self.seed as u32) as i32,
                None => self.seed,
            },
            (false, None) => match segment.ids().id_of(DocId(doc)) {
                Ok(Some(id)) => murmur3(id, self.seed as u32) as i32,
                _ => self.seed,
            },
        };
        f64::from((hash & 0x00FF_FFFF) as f32 / (1 << 24) as f32)
    }
}

/// Spreads the bits of a number.
pub fn mix(key: i32) -> i32 {
    let mut k = key as u32;
    k = (k ^ (k >> 16)).wrapping_mul(0x85eb_ca6b);
    k = (k ^ (k >> 13)).wrapping_mul(0xc2b2_ae35);
    (k ^ (k >> 16)) as i32
}

/// One function: where it applies, its factor, what it computes.
pub struct Part {
    /// Documents it applies to; absent: all.
    pub filter: Option<AnyFilter>,
    /// Factor.
    pub weight: Option<f32>,
    /// What it computes.
    pub compute: Compute,
    /// Which of the documents at hand it applies to.
    pub matches: Vec<bool>,
    /// That is known.
    pub is_probed: bool,
}

/// The functions of a `function_score`.
pub struct Functions {
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
    /// Documents that are alive and stand for themselves; absent: all.
    pub live: Option<Arc<Live>>,
    /// Where nested documents are asked about: to which of those they belong.
    pub parents: Option<Parents>,
    /// Where faults are told.
    pub trouble: Trouble,
}

impl Functions {
    /// Tells a fault, unless the document is left out in the end: whole windows are computed before it is
    /// looked who is alive, and stands for itself.
    fn tell(&self, doc: u32, error: Error) {
        let doc = match &self.parents {
            Some(parents) => parents.of(DocId(doc)),
            None => Some(DocId(doc)),
        };
        let is_alive = |doc| self.live.as_ref().is_none_or(|live| live.is_alive(doc));
        if doc.is_some_and(is_alive) {
            let _ = self.trouble.set(error);
        }
    }

    fn factor(&mut self, at: usize, doc: u32) -> Result<f64, Error> {
        let mode = self.score_mode;
        let (mut product, mut sum, mut weights) = (1.0, 0.0, 0.0);
        let mut best: Option<f64> = None;
        for part in &mut self.parts {
            if part.filter.is_some() && !part.matches[at] {
                continue;
            }
            let weight = part.weight.map_or(1.0, f64::from);
            let value = part.compute.value(doc)? * weight;
            match mode {
                ScoreMode::First => return Ok(value),
                ScoreMode::Max => best = Some(best.map_or(value, |best| best.max(value))),
                ScoreMode::Min => best = Some(best.map_or(value, |best| best.min(value))),
                ScoreMode::Multiply => product *= value,
                ScoreMode::Sum | ScoreMode::Avg => {
                    sum += value;
                    weights += weight;
                }
            }
        }
        Ok(match mode {
            ScoreMode::First => 1.0,
            ScoreMode::Max | ScoreMode::Min => best.unwrap_or(1.0),
            ScoreMode::Multiply => product,
            ScoreMode::Sum | ScoreMode::Avg if weights == 0.0 => 1.0,
            ScoreMode::Sum => sum,
            ScoreMode::Avg => sum / weights,
        })
    }
}

impl Adjust for Functions {
    fn prepare(&mut self, docs: &[u32], scores: &[f32], turn: &mut Turn<'_>) -> bool {
        let mut ready = true;
        for part in &mut self.parts {
            if let (Some(filter), false) = (&mut part.filter, part.is_probed) {
                if !filter.prepare_probe(docs, turn) {
                    ready = false;
                    continue;
                }
                part.matches.clear();
                part.matches.resize(docs.len(), false);
                filter.probe(docs, &mut part.matches);
                part.is_probed = true;
            }
            ready &= match (&mut part.compute, &part.filter) {
                // A script runs only where its function applies.
                (Compute::Script(runner), Some(_)) => {
                    let at = (0..docs.len()).filter(|at| part.matches[*at]);
                    let (docs, scores): (Vec<u32>, Vec<f32>) =
                        at.map(|at| (docs[at], scores[at])).unzip();
                    runner.prepare(&docs, &scores, turn)
                }
                (compute, _) => compute.prepare(docs, scores, turn),
            };
        }
        ready
    }

    fn adjust(&mut self, docs: &[u32], scores: &mut [f32]) {
        for part in &mut self.parts {
            part.is_probed = false;
        }
        let most = f64::from(self.max_boost);
        for (at, doc) in docs.iter().enumerate() {
            let score = f64::from(scores[at]);
            if !self.parts.is_empty() {
                let factor = match self.factor(at, *doc) {
                    Ok(factor) => factor.min(most),
                    Err(error) => {
                        self.tell(*doc, error);
                        0.0
                    }
                };
                scores[at] = match self.boost_mode {
                    ScoreMode::Multiply => score * factor,
                    ScoreMode::First => factor,
                    ScoreMode::Sum => score + factor,
                    ScoreMode::Avg => (score + factor) / 2.0,
                    ScoreMode::Max => score.max(factor),
                    ScoreMode::Min => score.min(factor),
                } as f32;
            }
            if scores[at].is_nan() || scores[at] < 0.0 {
                let printed = json::number::float_to_string(scores[at]);
                let reason = format!(
                    "function score query returned an invalid score: {printed} for doc: {doc}"
                );
                self.tell(*doc, Error::illegal(reason));
                scores[at] = 0.0;
            }
            if self.min_score.is_some_and(|least| scores[at] < least) {
                scores[at] = NO_MATCH;
            }
        }
    }

    fn bound(&self, _: f32) -> f32 {
        f32::MAX
    }
}

/// The score of a feature's value.
pub struct Feature {
    /// Where the value stands: as the frequency of a term.
    pub blocks: Blocks,
    /// What becomes of it.
    pub form: RankForm,
    /// Factor.
    pub weight: f32,
}

impl Adjust for Feature {
    fn prepare(&mut self, docs: &[u32], _: &[f32], turn: &mut Turn<'_>) -> bool {
        self.blocks.prepare_probe(docs, turn)
    }

    fn adjust(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (slot, doc) in scores.iter_mut().zip(docs) {
            *slot = match self.blocks.find(*doc) {
                true => {
                    let at = self.blocks.at;
                    let value = mapping::types::feature::decode(self.blocks.freq(at));
                    self.form.score(self.weight, value)
                }
                false => NO_MATCH,
            };
        }
    }

    fn bound(&self, _: f32) -> f32 {
        match self.form {
            RankForm::Saturation(_) | RankForm::Sigmoid(..) => self.weight,
            RankForm::Log(_) | RankForm::Linear => f32::MAX,
        }
    }
}

/// The score of how near a value is.
pub struct Distance {
    /// The column.
    pub column: Column,
    /// Where the score is best.
    pub origin: Origin,
    /// Distance at which it is half.
    pub pivot: f64,
    /// Factor.
    pub weight: f32,
}

impl Adjust for Distance {
    fn prepare(&mut self, docs: &[u32], _: &[f32], turn: &mut Turn<'_>) -> bool {
        self.column.prepare(docs, turn)
    }

    fn adjust(&mut self, docs: &[u32], scores: &mut [f32]) {
        for (slot, doc) in scores.iter_mut().zip(docs) {
            let far = distance(&mut self.column, &self.origin, 0.0, MultiValue::Min, *doc);
            *slot = (f64::from(self.weight) * (self.pivot / (self.pivot + far))) as f32;
        }
    }

    fn bound(&self, _: f32) -> f32 {
        self.weight
    }
}

/// So many of some clauses must match; their scores add up (`CoveringQuery`).
pub struct Covering {
    /// The clauses.
    pub clauses: Vec<AnyScorer>,
    /// Says how many for each document.
    pub minimum: Option<Column>,
    /// How many for all.
    pub fixed: u64,
    /// A script that says how many, and where its faults are told.
    pub script: Option<(Box<Runner<i64>>, Trouble)>,
}

impl Adjust for Covering {
    fn prepare(&mut self, docs: &[u32], _: &[f32], turn: &mut Turn<'_>) -> bool {
        let mut ready = self.script.as_mut().is_none_or(|(it, _)| it.prepare(docs, &[], turn));
        ready &= self.minimum.as_ref().is_none_or(|column| column.prepare(docs, turn));
        for clause in &mut self.clauses {
            ready &= clause.prepare_probe(docs, turn);
        }
        ready
    }

    fn adjust(&mut self, docs: &[u32], scores: &mut [f32]) {
        let mut sums = vec![(0.0f64, 0u64); docs.len()];
        let mut found = vec![NO_MATCH; docs.len()];
        for clause in &mut self.clauses {
            found.fill(NO_MATCH);
            clause.probe(docs, &mut found);
            for ((sum, count), score) in sums.iter_mut().zip(&found) {
                if *score >= 0.0 {
                    *sum += f64::from(*score);
                    *count += 1;
                }
            }
        }
        for ((doc, slot), (sum, count)) in docs.iter().zip(scores).zip(sums) {
            let needed = match (&mut self.minimum, &self.script) {
                (None, Some((script, trouble))) => match script.result(*doc) {
                    Some(Ok(least)) => u64::try_from(*least).unwrap_or(0),
                    Some(Err(error)) => {
                        let _ = trouble.set(error.clone());
                        u64::MAX
                    }
                    None => u64::MAX,
                },
                (None, None) => self.fixed,
                (Some(column), _) => match column.raw(*doc).first() {
                    Some(least) => u64::try_from(*least).unwrap_or(0),
                    // Without a number no document is covered.
                    None => u64::MAX,
                },
            };
            *slot = if count >= needed.max(1) { sum as f32 } else { NO_MATCH };
        }
    }

    fn bound(&self, _: f32) -> f32 {
        f32::MAX
    }
}

/// A place must lie inside a shape.
pub struct Inside {
    /// The column of places.
    pub column: Column,
    /// The shape.
    pub area: Area,
}

impl Check for Inside {
    fn prepare(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool {
        self.column.prepare(docs, turn)
    }

    fn matches(&mut self, doc: u32) -> bool {
        let Self { column, area } = self;
        column.raw(doc).iter().any(|value| area.holds(*value))
    }

    fn keep(&mut self, docs: &[u32], base: u32, bits: &mut Bits) {
        let Some(column) = &self.column.column else { return };
        // The window's block is taken apart once.
        let mut cursor = column.cursor();
        for doc in docs {
            if cursor.values(DocId(*doc)).any(|value| self.area.holds(value)) {
                bits::set(bits, doc - base);
            }
        }
    }
}
