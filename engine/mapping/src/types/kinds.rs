//! The smaller types: what each needs to know.

use std::net::Ipv6Addr;
use std::sync::Arc;

use json::Value;

use super::geo::Point;

/// Which column of a segment holds the doc values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// It has none.
    None,
    /// Sortable numbers.
    Numeric,
    /// Terms.
    Ordinals,
    /// A byte string for each document.
    Binary,
}

/// The types that are text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextFlavor {
    /// `text`.
    #[default]
    Text,
    /// `match_only_text`: neither lengths nor frequencies count, every score is 1.
    MatchOnly,
    /// `search_as_you_type`, with the longest shingle of its parts.
    SearchAsYouType(u8),
    /// A part `_2gram`, `_3gram`, …: shingles of so many words.
    Shingles(u8),
    /// The part `_index_prefix`: beginnings of shingles of at most so many words.
    Prefixes(u8),
    /// The part `_index_prefix` of a `text`: beginnings of words, of so many characters at least and at most.
    Beginnings(u8, u8),
}

impl TextFlavor {
    /// Elasticsearch's name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Beginnings(..) => "prefix",
            Self::MatchOnly => "match_only_text",
            Self::SearchAsYouType(_) | Self::Shingles(_) | Self::Prefixes(_) => {
                "search_as_you_type"
            }
        }
    }
}

/// The types that are exact words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeywordFlavor {
    /// `keyword`.
    #[default]
    Keyword,
    /// `wildcard`: a keyword that is made for patterns; every score is 1.
    Wildcard,
    /// `version`: words that sort as versions do (`super::version`).
    Version,
    /// All keys of a `flattened` field: terms are `key\0value`.
    Keyed,
    /// The ids of parents of a `join` field.
    Parent,
    /// One key of a `flattened` field; terms begin with it and `\0`.
    OneKey(Arc<str>),
}

impl KeywordFlavor {
    /// Elasticsearch's name of the type.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Wildcard => "wildcard",
            Self::Version => "version",
            Self::Keyed | Self::OneKey(_) => "flattened",
            Self::Parent => "parent",
        }
    }
}

/// An address of the Internet.
#[derive(Clone, Debug, Default)]
pub struct Ip {
    /// A bad value is left out, not refused.
    pub ignore_malformed: bool,
    /// The mapping says so itself, not the index.
    pub ignore_malformed_given: bool,
    /// Stands for an explicit null: its text and its address.
    pub null_value: Option<(Arc<str>, Ipv6Addr)>,
}

/// A place on the earth.
#[derive(Clone, Debug, Default)]
pub struct GeoPoint {
    /// A bad value is left out, not refused.
    pub ignore_malformed: bool,
    /// The mapping says so itself, not the index.
    pub ignore_malformed_given: bool,
    /// A third coordinate is refused.
    pub refuse_z: bool,
    /// The mapping says so itself.
    pub ignore_z_given: bool,
    /// Stands for an explicit null: as it was given, and the place.
    pub null_value: Option<(Value, Point)>,
}

/// Numbers that score.
#[derive(Clone, Copy, Debug, Default)]
pub struct RankFeature {
    /// `positive_score_impact: false`: less is better.
    pub negative: bool,
    /// Stands for an explicit null.
    pub null_value: Option<f32>,
}

/// One word for all documents.
#[derive(Clone, Debug, Default)]
pub struct ConstantKeyword {
    /// The word; none until the mapping or the first document says it.
    pub value: Option<Arc<str>>,
}

/// An object whose values are words.
#[derive(Clone, Debug)]
pub struct Flattened {
    /// Objects inside each other.
    pub depth_limit: u32,
    /// Longer values, in UTF-16 units, are left out.
    pub ignore_above: Option<u32>,
    /// Stands for an explicit null.
    pub null_value: Option<Arc<str>>,
    /// `split_queries_on_whitespace`.
    pub split_queries_on_whitespace: bool,
    /// `eager_global_ordinals`; without effect.
    pub eager_global_ordinals: bool,
    /// `similarity`, by name.
    pub similarity: Option<Arc<str>>,
}

impl Flattened {
    /// Objects inside each other where the mapping does not say.
    pub const DEPTH: u32 = 20;
}
