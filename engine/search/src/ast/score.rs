//! Queries that change scores or look at values: functions, features, places, likeness.

use super::{Query, Scalar, Script};

/// `terms` with the place of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct TermsLookup {
    /// The field.
    pub field: String,
    /// Index of the document.
    pub index: String,
    /// The document.
    pub id: String,
    /// Where in it the values stand.
    pub path: String,
    /// Its routing.
    pub routing: Option<String>,
}

/// `terms_set`.
#[derive(Clone, Debug, PartialEq)]
pub struct TermsSet {
    /// The field.
    pub field: String,
    /// The values.
    pub values: Vec<Scalar>,
    /// Field that says how many must match.
    pub minimum_field: Option<String>,
    /// How many must match, as it was written.
    pub minimum_should_match: Option<String>,
    /// Script that says how many must match.
    pub minimum_script: Option<Box<Script>>,
}

/// How scores of functions are joined, or of functions and the query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoreMode {
    /// All multiplied.
    #[default]
    Multiply,
    /// All added.
    Sum,
    /// Their mean, by weight.
    Avg,
    /// The first that applies; of two: the functions' alone (`replace`).
    First,
    /// The greatest.
    Max,
    /// The least.
    Min,
}

impl ScoreMode {
    /// As `score_mode` writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Multiply => "multiply",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::First => "first",
            Self::Max => "max",
            Self::Min => "min",
        }
    }
}

/// `function_score`.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionScore {
    /// What matches.
    pub query: Query,
    /// The functions.
    pub functions: Vec<Function>,
    /// How they are joined.
    pub score_mode: ScoreMode,
    /// How their score and the query's are joined; `First` stands for `replace`.
    pub boost_mode: ScoreMode,
    /// Most that the functions may give.
    pub max_boost: f32,
    /// Documents below do not match.
    pub min_score: Option<f32>,
    /// It was written without `functions`.
    pub single: bool,
}

/// One function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Documents it applies to; absent: all.
    pub filter: Option<Query>,
    /// Factor.
    pub weight: Option<f32>,
    /// What it computes; absent: 1.
    pub kind: Option<FunctionKind>,
}

/// What a function computes.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionKind {
    /// A number by chance: seed and field.
    Random(Option<i64>, Option<String>),
    /// A field's value.
    Factor(Factor),
    /// A bell over a field's value.
    Decay(Decay),
    /// What a script makes of a document.
    Script(Box<Script>),
}

/// `field_value_factor`.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The field.
    pub field: String,
    /// Multiplied before the modifier.
    pub factor: f32,
    /// What is made of the product.
    pub modifier: Modifier,
    /// Stands for no value.
    pub missing: Option<f64>,
}

/// What is made of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they compute")]
pub enum Modifier {
    #[default]
    None,
    Log,
    Log1p,
    Log2p,
    Ln,
    Ln1p,
    Ln2p,
    Square,
    Sqrt,
    Reciprocal,
}

impl Modifier {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Log => "log",
            Self::Log1p => "log1p",
            Self::Log2p => "log2p",
            Self::Ln => "ln",
            Self::Ln1p => "ln1p",
            Self::Ln2p => "ln2p",
            Self::Square => "square",
            Self::Sqrt => "sqrt",
            Self::Reciprocal => "reciprocal",
        }
    }

    /// The value changed.
    pub fn apply(self, value: f64) -> f64 {
        match self {
            Self::None => value,
            Self::Log => value.log10(),
            Self::Log1p => (value + 1.0).log10(),
            Self::Log2p => (value + 2.0).log10(),
            Self::Ln => value.ln(),
            Self::Ln1p => value.ln_1p(),
            Self::Ln2p => (value + 1.0).ln_1p(),
            Self::Square => value * value,
            Self::Sqrt => value.sqrt(),
            Self::Reciprocal => 1.0 / value,
        }
    }
}

/// The form of a bell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they compute")]
pub enum DecayForm {
    Gauss,
    Exp,
    Linear,
}

/// Which of several distances counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MultiValue {
    /// The least.
    #[default]
    Min,
    /// The greatest.
    Max,
    /// Their mean.
    Avg,
    /// Their sum.
    Sum,
}

/// `gauss`, `exp`, `linear`.
#[derive(Clone, Debug, PartialEq)]
pub struct Decay {
    /// Its form.
    pub form: DecayForm,
    /// The field.
    pub field: String,
    /// Where the bell has its top: a number, a date or a place.
    pub origin: Option<json::Value>,
    /// How wide it is.
    pub scale: Option<Scalar>,
    /// How far its top is flat.
    pub offset: Option<Scalar>,
    /// Height at the scale.
    pub decay: f64,
    /// Which of several distances counts.
    pub multi: MultiValue,
}

/// How scores of documents inside are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NestedScore {
    /// Their mean.
    #[default]
    Avg,
    /// Their sum.
    Sum,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// None.
    None,
}

/// `nested`.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested {
    /// Path of the documents inside.
    pub path: String,
    /// What they must match.
    pub query: Query,
    /// How their scores are joined.
    pub score_mode: NestedScore,
    /// A path that the index does not map matches nothing.
    pub ignore_unmapped: bool,
    /// `inner_hits`, as it was given; read where hits are fetched.
    pub inner_hits: Option<json::Value>,
}

/// How a feature's value becomes a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RankFunction {
    /// `S / (S + pivot)`; the pivot is told from the index where absent.
    Saturation(Option<f32>),
    /// `ln(scaling_factor + S)`.
    Log(f32),
    /// `S^exponent / (S^exponent + pivot^exponent)`: pivot, exponent.
    Sigmoid(f32, f32),
    /// `S`.
    Linear,
}

/// `rank_feature`.
#[derive(Clone, Debug, PartialEq)]
pub struct RankFeature {
    /// The field.
    pub field: String,
    /// How its value becomes a score.
    pub function: RankFunction,
}

/// `distance_feature`.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceFeature {
    /// The field.
    pub field: String,
    /// Where the score is best.
    pub origin: json::Value,
    /// Distance at which it is half.
    pub pivot: String,
}

/// A place: latitude, longitude.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GeoPoint {
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
}

/// What points must lie in.
#[derive(Clone, Debug, PartialEq)]
pub enum GeoShape {
    /// A box: its north-western and south-eastern corners.
    Box(GeoPoint, GeoPoint),
    /// A circle: its middle, its radius in metres.
    Circle(GeoPoint, f64),
    /// A polygon.
    Polygon(Vec<GeoPoint>),
}

/// `geo_bounding_box`, `geo_distance`, `geo_polygon`.
#[derive(Clone, Debug, PartialEq)]
pub struct GeoWithin {
    /// Its name.
    pub query: &'static str,
    /// The field.
    pub field: String,
    /// What points must lie in.
    pub shape: GeoShape,
    /// A field that the index does not map matches nothing.
    pub ignore_unmapped: bool,
    /// Distances as on a plane.
    pub plane: bool,
    /// Places that cannot be are refused.
    pub strict: bool,
}

/// What documents should be like.
#[derive(Clone, Debug, PartialEq)]
pub enum Like {
    /// A text.
    Text(String),
    /// A document of an index.
    Item {
        /// The index; absent: the one searched.
        index: Option<String>,
        /// The document.
        id: String,
        /// Its routing.
        routing: Option<String>,
        /// Fields of it; absent: those of the query.
        fields: Option<Vec<String>>,
    },
    /// A document that is given.
    Doc(json::Value, Option<Vec<String>>),
}

/// `more_like_this`.
#[derive(Clone, Debug, PartialEq)]
pub struct MoreLikeThis {
    /// Fields; absent: all.
    pub fields: Option<Vec<String>>,
    /// What documents should be like.
    pub like: Vec<Like>,
    /// What they should not be like.
    pub unlike: Vec<Like>,
    /// Words taken, the best first.
    pub max_query_terms: u32,
    /// Rarer words of the text do not count.
    pub min_term_freq: u32,
    /// Words of fewer documents do not count.
    pub min_doc_freq: u32,
    /// Words of more documents do not count.
    pub max_doc_freq: u32,
    /// Shorter words do not count.
    pub min_word_length: u32,
    /// Longer words do not count; 0: no bound.
    pub max_word_length: u32,
    /// Words that do not count.
    pub stop_words: Vec<String>,
    /// Analyzer of texts.
    pub analyzer: Option<String>,
    /// How many must match, as it was written.
    pub minimum_should_match: String,
    /// Factor by which words are boosted; 0: not at all.
    pub boost_terms: f32,
    /// The documents given may match too.
    pub include: bool,
    /// A field of another type is an error.
    pub fail_on_unsupported_field: bool,
    /// Documents that were looked up: index where it was named, and id.
    pub known: Vec<(Option<String>, String)>,
}

/// `pinned`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pinned {
    /// What matches beside.
    pub organic: Box<Query>,
    /// Documents that come first, in this order: index where it matters, and id.
    pub docs: Vec<(Option<String>, String)>,
}
