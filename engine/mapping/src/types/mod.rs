//! Fields: what each type takes, keeps, and answers to a query.
//!
//! [`Field`] is the contract: number, path, and a [`Kind`] with what the type needs to know. How a
//! value of a document is read is told by [`number`], [`boolean`] and [`date_format`]; what a query's
//! value means by [`query`]; how a kept value is shown by [`show`]. Numbers, dates and booleans are
//! kept as sortable `i64` ([`sortable`]), words as UTF-8.

pub mod boolean;
pub mod calendar;
pub mod date_format;
pub mod date_math;
pub mod number;
pub mod query;
pub mod scalar;
mod show;
pub mod sortable;
pub mod zone;

use std::sync::Arc;

use base::FieldNo;
use json::Value;

pub use date_format::DateFormat;
pub use number::NumberKind;
pub use query::{Bounds, QueryValue, RangeOptions};
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
    /// A moment, in milliseconds.
    Date(Date),
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
    /// Stands for an explicit null: its text and its milliseconds.
    pub null_value: Option<(Arc<str>, i64)>,
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

    /// Does the inverted index keep lengths of it?
    pub fn has_norms(&self) -> bool {
        matches!(&self.kind, Kind::Text(text) if text.norms && self.index)
    }

    /// Does `_field_names` tell of its presence, for want of a column and of norms?
    pub fn presence_by_name(&self) -> bool {
        !self.doc_values && !self.has_norms() && (self.index || self.store)
    }

    /// Is a bad value left out, not refused?
    pub fn ignores_malformed(&self) -> bool {
        match &self.kind {
            Kind::Number(number) => number.ignore_malformed,
            Kind::Boolean(boolean) => boolean.ignore_malformed,
            Kind::Date(date) => date.ignore_malformed,
            Kind::Text(_) | Kind::Keyword(_) => false,
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
            Self::Text(_) => "text",
            Self::Keyword(_) => "keyword",
            Self::Number(number) => number.number.name(),
            Self::Boolean(_) => "boolean",
            Self::Date(_) => "date",
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
