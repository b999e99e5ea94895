//! Fields: what each type takes, keeps, and answers to a query.
//!
//! [`Field`] is the contract: number, path, and a [`Kind`] with what the type needs to know. How a
//! value of a document is read is told by [`number`], [`boolean`] and [`date_format`]; what a query's
//! value means by [`query`]; how a kept value is shown by [`show`]. Numbers, dates and booleans are
//! kept as sortable `i64` ([`sortable`]), words as UTF-8. What each type keeps where:
//!
//! | type                                   | terms                    | points           | column            |
//! |----------------------------------------|--------------------------|------------------|-------------------|
//! | text, match_only_text, search_as_you_type | words, with positions | -                | -                 |
//! | keyword, wildcard, version, ip         | the value ([`ip`], [`version`]) | -         | terms             |
//! | numbers, dates, boolean, token_count   | -                        | sortable, 1 × 8  | numbers           |
//! | geo_point                              | -                        | 2 × 4 ([`geo`])  | numbers           |
//! | ranges                                 | -                        | 2 × 8, ip 2 × 16 ([`range`]) | byte strings |
//! | rank_feature, rank_features            | a feature, its value as frequency ([`feature`]) | - | -        |
//! | completion                             | input and surface form ([`completion`]) | - | -                 |
//! | flattened                              | values; `key\0value` in a field of its own | - | terms, of both |
//! | join                                   | names; ids of parents in fields of their own ([`join`]) | - | terms, of both |
//! | binary                                 | -                        | -                | byte strings      |
//! | constant_keyword                       | nothing: the mapping has it | -             | -                 |

pub mod boolean;
pub mod calendar;
pub mod completion;
pub mod date_format;
pub mod date_math;
pub mod feature;
pub mod geo;
pub mod half;
pub mod ip;
pub mod join;
mod kinds;
pub mod number;
mod numeric;
pub mod query;
pub mod range;
pub mod scalar;
pub mod shingle;
mod show;
pub mod sortable;
pub mod version;
pub mod zone;

use std::sync::Arc;

use base::FieldNo;
use json::Value;

pub use completion::{Completion, ContextKind, Contexts};
pub use date_format::DateFormat;
pub use join::Join;
pub use kinds::{
    Column, ConstantKeyword, Flattened, GeoPoint, Ip, KeywordFlavor, RankFeature, TextFlavor,
};
pub use number::NumberKind;
pub use query::{Bounds, QueryValue, RangeOptions};
pub use range::{Range, RangeKind, Relation, Span};
pub use scalar::Scalar;

use crate::analysis::Analyzer;

/// Longest term, in bytes of UTF-8.
pub const TERM_BYTES_MAX: usize = 32_766;

/// One field of an index; multi-fields are fields of their own.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its number in this index.
    pub no: FieldNo,
    /// Its full dotted path.
    pub path: Arc<str>,
    /// Its type.
    pub kind: Kind,
    /// Can it be searched by term or point?
    pub index: bool,
    /// Has it a column (doc values)?
    pub doc_values: bool,
    /// `store`: shown by `stored_fields`; the value is taken from the source.
    pub store: bool,
    /// Fields that get its values too, by path.
    pub copy_to: Vec<Arc<str>>,
    /// The same values, otherwise typed; sorted by name.
    pub multi_fields: Vec<Arc<Field>>,
    /// Fields that its type makes beside it: `_2gram`, `_index_prefix`, the keys of `flattened`.
    pub parts: Vec<Arc<Field>>,
    /// `meta`, as it was given.
    pub meta: Option<Value>,
}

/// A type with what it needs to know.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Full text.
    Text(Text),
    /// An exact word.
    Keyword(Keyword),
    /// A number.
    Number(Number),
    /// True or false.
    Boolean(Boolean),
    /// A moment, in milliseconds or nanoseconds.
    Date(Date),
    /// An address of the Internet.
    Ip(Ip),
    /// A place on the earth.
    GeoPoint(GeoPoint),
    /// A span of numbers, dates or addresses.
    Range(Range),
    /// Bytes in base64.
    Binary,
    /// One number that scores.
    RankFeature(RankFeature),
    /// Named numbers that score.
    RankFeatures(RankFeature),
    /// Texts to be completed.
    Completion(Box<Completion>),
    /// One word for all documents.
    ConstantKeyword(ConstantKeyword),
    /// An object whose values are words.
    Flattened(Flattened),
    /// The place of a document in its family.
    Join(Join),
}

/// What the inverted index keeps of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexOptions {
    /// Documents alone.
    Docs,
    /// How often, too.
    Freqs,
    /// Where, too.
    Positions,
    /// Offsets, too.
    Offsets,
}

/// Full text.
#[derive(Clone, Debug)]
pub struct Text {
    /// Makes the words of documents.
    pub analyzer: Arc<Analyzer>,
    /// Makes the words of queries.
    pub search_analyzer: Arc<Analyzer>,
    /// Makes the words of quoted phrases.
    pub search_quote_analyzer: Arc<Analyzer>,
    /// The names that the mapping gives, of the three above: none is the default.
    pub names: [Option<Arc<str>>; 3],
    /// Keeps lengths.
    pub norms: bool,
    /// What postings keep.
    pub index_options: IndexOptions,
    /// Positions between two values of one document.
    pub position_increment_gap: u32,
    /// The mapping says so itself, not the analyzer.
    pub position_increment_gap_given: bool,
    /// `term_vector`; vectors are made from the source when asked for.
    pub term_vector: Option<Arc<str>>,
    /// Which of the types of text it is.
    pub flavor: TextFlavor,
    /// `index_prefixes`: fewest and most characters of a prefix.
    pub index_prefixes: Option<(u32, u32)>,
    /// `index_phrases`; phrases are found by positions.
    pub index_phrases: bool,
    /// `fielddata`.
    pub fielddata: bool,
    /// `eager_global_ordinals`; without effect.
    pub eager_global_ordinals: bool,
    /// `similarity`, by name.
    pub similarity: Option<Arc<str>>,
}

/// An exact word.
#[derive(Clone, Debug)]
pub struct Keyword {
    /// Longer values, in UTF-16 units, are left out.
    pub ignore_above: Option<u32>,
    /// Stands for an explicit null.
    pub null_value: Option<Arc<str>>,
    /// Changes values before they are kept.
    pub normalizer: Option<Arc<Analyzer>>,
    /// `eager_global_ordinals`; without effect.
    pub eager_global_ordinals: bool,
    /// Which of the types of words it is.
    pub flavor: KeywordFlavor,
    /// Keeps lengths.
    pub norms: bool,
    /// `index_options`: documents, or frequencies too.
    pub index_options: IndexOptions,
    /// `split_queries_on_whitespace`.
    pub split_queries_on_whitespace: bool,
    /// `similarity`, by name.
    pub similarity: Option<Arc<str>>,
}

/// A number.
#[derive(Clone, Debug)]
pub struct Number {
    /// Its width.
    pub number: NumberKind,
    /// Takes strings and cuts decimals.
    pub coerce: bool,
    /// The mapping says so itself, not the index.
    pub coerce_given: bool,
    /// A bad value is left out, not refused.
    pub ignore_malformed: bool,
    /// The mapping says so itself, not the index.
    pub ignore_malformed_given: bool,
    /// Stands for an explicit null, sortable.
    pub null_value: Option<i64>,
    /// `scaling_factor` of a `scaled_float`; 1 of all others.
    pub scale: f64,
    /// A `token_count`: the number is how many words this makes of a text.
    pub counts: Option<Counts>,
}

/// How a `token_count` counts.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Makes the words.
    pub analyzer: Arc<Analyzer>,
    /// The mapping names it, as it must.
    pub analyzer_given: bool,
    /// `enable_position_increments`: gaps count, too.
    pub position_increments: bool,
}

/// True or false.
#[derive(Clone, Debug)]
pub struct Boolean {
    /// A bad value is left out, not refused.
    pub ignore_malformed: bool,
    /// The mapping says so itself, not the index.
    pub ignore_malformed_given: bool,
    /// Stands for an explicit null.
    pub null_value: Option<bool>,
}

/// A moment.
#[derive(Clone, Debug)]
pub struct Date {
    /// How it is read and printed.
    pub format: Arc<DateFormat>,
    /// `locale`, as it was given.
    pub locale: Option<Arc<str>>,
    /// A bad value is left out, not refused.
    pub ignore_malformed: bool,
    /// The mapping says so itself, not the index.
    pub ignore_malformed_given: bool,
    /// Stands for an explicit null: its text and its sortable value.
    pub null_value: Option<(Arc<str>, i64)>,
    /// A `date_nanos`: its sortable value counts nanoseconds.
    pub nanos: bool,
}

impl Field {
    /// Elasticsearch's name of the type: `long`.
    pub fn type_name(&self) -> &'static str {
        self.kind.name()
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('.').map_or(&*self.path, |(_, name)| name)
    }

    /// The field of this name that its type makes beside it.
    pub fn part(&self, name: &str) -> Option<&Arc<Field>> {
        let is = |path: &str| {
            let rest = path.strip_prefix(&*self.path).and_then(|rest| rest.strip_prefix('.'));
            rest == Some(name)
        };
        self.parts.iter().find(|part| is(&part.path))
    }

    /// Are its terms beginnings of words (`index_prefixes`)?
    pub fn is_of_beginnings(&self) -> bool {
        matches!(&self.kind, Kind::Text(text) if matches!(text.flavor, TextFlavor::Beginnings(..)))
    }

    /// By how many formats a value is tried, where it is a date.
    pub(crate) fn date_formats(&self) -> Option<usize> {
        match &self.kind {
            Kind::Date(date) => Some(date.format.alternative_count()),
            Kind::Range(range) => range.format.as_ref().map(|format| format.alternative_count()),
            _ => None,
        }
    }

    /// How it scores, where it says so itself: the name of a similarity.
    pub fn similarity(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => text.similarity.as_deref(),
            Kind::Keyword(keyword) => keyword.similarity.as_deref(),
            _ => None,
        }
    }

    /// Does the inverted index keep lengths of it?
    pub fn has_norms(&self) -> bool {
        match &self.kind {
            Kind::Text(text) => text.norms && self.index,
            Kind::Keyword(keyword) => keyword.norms && self.index,
            _ => false,
        }
    }

    /// Does `_field_names` tell of its presence, for want of a column and of norms?
    pub fn presence_by_name(&self) -> bool {
        let is_text = matches!(self.kind, Kind::Text(_));
        let has_column = !is_text && matches!(self.column(), Column::Numeric | Column::Ordinals);
        let tells = has_column || self.has_norms();
        !tells && (self.index || self.store || self.doc_values)
    }

    /// Which column of a segment holds its doc values.
    pub fn column(&self) -> Column {
        match &self.kind {
            Kind::Text(text) if text.fielddata && self.index => Column::Ordinals,
            _ if !self.doc_values => Column::None,
            Kind::Keyword(_) | Kind::Ip(_) | Kind::Flattened(_) | Kind::Join(_) => Column::Ordinals,
            Kind::Number(_) | Kind::Boolean(_) | Kind::Date(_) | Kind::GeoPoint(_) => {
                Column::Numeric
            }
            Kind::Range(_) | Kind::Binary => Column::Binary,
            _ => Column::None,
        }
    }

    /// Is a bad value left out, not refused?
    pub fn ignores_malformed(&self) -> bool {
        match &self.kind {
            Kind::Number(number) => number.ignore_malformed,
            Kind::Boolean(boolean) => boolean.ignore_malformed,
            Kind::Date(date) => date.ignore_malformed,
            Kind::Ip(ip) => ip.ignore_malformed,
            Kind::GeoPoint(point) => point.ignore_malformed,
            _ => false,
        }
    }

    /// Stands for numbers in column and points?
    pub fn is_numeric(&self) -> bool {
        matches!(self.kind, Kind::Number(_) | Kind::Boolean(_) | Kind::Date(_))
    }
}

impl Kind {
    /// Elasticsearch's name of the type.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Text(text) => text.flavor.name(),
            Self::Keyword(keyword) => keyword.flavor.name(),
            Self::Number(Number { counts: Some(_), .. }) => "token_count",
            Self::Number(number) => number.number.name(),
            Self::Boolean(_) => "boolean",
            Self::Date(date) => {
                if date.nanos {
                    "date_nanos"
                } else {
                    "date"
                }
            }
            Self::Ip(_) => "ip",
            Self::GeoPoint(_) => "geo_point",
            Self::Range(range) => range.kind.name(),
            Self::Binary => "binary",
            Self::RankFeature(_) => "rank_feature",
            Self::RankFeatures(_) => "rank_features",
            Self::Completion(_) => "completion",
            Self::ConstantKeyword(_) => "constant_keyword",
            Self::Flattened(_) => "flattened",
            Self::Join(_) => "join",
        }
    }
}

impl IndexOptions {
    /// As mappings write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Freqs => "freqs",
            Self::Positions => "positions",
            Self::Offsets => "offsets",
        }
    }
}
