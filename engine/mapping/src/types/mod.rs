//! Fields: what each type takes, keeps, and answers to a query.

pub mod calendar;
pub mod date_format;
pub mod date_math;
pub mod sortable;
pub mod zone;

use std::sync::Arc;

use base::FieldNo;
use json::Value;

pub use date_format::DateFormat;

use crate::Result;
use crate::analysis::Analyzer;

/// One field of an index; multi-fields are fields of their own.
#[derive(Debug)]
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
    /// Fields that get its values too.
    pub copy_to: Vec<Arc<str>>,
    /// The same values, otherwise typed; sorted by name.
    pub multi_fields: Vec<Arc<Field>>,
}

/// A type with what it needs to know.
#[derive(Debug)]
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
#[derive(Debug)]
pub struct Text {
    /// Makes the words of documents.
    pub analyzer: Arc<Analyzer>,
    /// Makes the words of queries.
    pub search_analyzer: Arc<Analyzer>,
    /// Makes the words of quoted phrases.
    pub search_quote_analyzer: Arc<Analyzer>,
    /// Keeps lengths.
    pub norms: bool,
    /// What postings keep.
    pub index_options: IndexOptions,
    /// Positions between two values of one document.
    pub position_increment_gap: u32,
}

/// An exact word.
#[derive(Debug)]
pub struct Keyword {
    /// Longer values, in UTF-16 units, are left out.
    pub ignore_above: u32,
    /// Stands for an explicit null.
    pub null_value: Option<String>,
    /// Changes values before they are kept.
    pub normalizer: Option<Arc<Analyzer>>,
}

/// Widths and kinds of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// 64-bit integer.
    Long,
    /// 32-bit integer.
    Integer,
    /// 16-bit integer.
    Short,
    /// 8-bit integer.
    Byte,
    /// 64-bit float.
    Double,
    /// 32-bit float.
    Float,
}

/// A number.
#[derive(Debug)]
pub struct Number {
    /// Its width.
    pub number: NumberKind,
    /// Takes strings and cuts decimals.
    pub coerce: bool,
    /// A bad value is left out, not refused.
    pub ignore_malformed: bool,
    /// Stands for an explicit null, sortable.
    pub null_value: Option<i64>,
}

/// True or false.
#[derive(Debug)]
pub struct Boolean {
    /// A bad value is left out, not refused.
    pub ignore_malformed: bool,
    /// Stands for an explicit null.
    pub null_value: Option<bool>,
}

/// A moment.
#[derive(Debug)]
pub struct Date {
    /// How it is read and printed.
    pub format: Arc<DateFormat>,
    /// A bad value is left out, not refused.
    pub ignore_malformed: bool,
    /// Stands for an explicit null, in milliseconds.
    pub null_value: Option<i64>,
}

/// What a term query's value means for a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryValue {
    /// A term of the inverted index.
    Term(Vec<u8>),
    /// A sortable number.
    Number(i64),
    /// Sortable numbers from the first to the second, both included (a date that names a day).
    Numbers(i64, i64),
    /// Nothing can equal it: a decimal for an integer field, a number out of range.
    Nothing,
}

/// What a range query's ends mean for a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Sortable numbers from the first to the second, both included.
    Numbers(i64, i64),
    /// Terms between ends that may be open; `true` includes the end.
    Terms {
        /// Lower end.
        lower: Option<(Vec<u8>, bool)>,
        /// Upper end.
        upper: Option<(Vec<u8>, bool)>,
    },
    /// Nothing lies between.
    Nothing,
}

/// What a range query says beside its ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct RangeOptions<'a> {
    /// `format`: how dates of the query are read.
    pub format: Option<&'a str>,
    /// `time_zone`: of dates that name none.
    pub time_zone: Option<&'a str>,
    /// What `now` means, in milliseconds.
    pub now_ms: i64,
}

impl Field {
    /// Elasticsearch's name of the type: `long`.
    pub fn type_name(&self) -> &'static str {
        todo!()
    }

    /// What the value of a term query means here. Search puts `failed to create query: ` before
    /// the reason of an error.
    ///
    /// # Errors
    /// In Elasticsearch's words: `For input string: "x"`.
    pub fn parse_query_value(&self, _value: &Value, _now_ms: i64) -> Result<QueryValue> {
        todo!()
    }

    /// What the ends of a range query mean here; `true` includes the end.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub fn parse_range(
        &self,
        _lower: Option<(&Value, bool)>,
        _upper: Option<(&Value, bool)>,
        _options: &RangeOptions<'_>,
    ) -> Result<Bounds> {
        todo!()
    }

    /// A value of the column as `docvalue_fields` shows it: a date in its format, a float as its
    /// exact double.
    pub fn format_value(&self, _sortable: i64) -> Value {
        todo!()
    }

    /// A value of the column as a sort key shows it: dates as milliseconds, floats as floats.
    pub fn sort_value(&self, _sortable: i64) -> Value {
        todo!()
    }

    /// The sortable value of a `search_after` key.
    ///
    /// # Errors
    /// Where the key is no value of this type.
    pub fn parse_sort_value(&self, _value: &Value) -> Result<i64> {
        todo!()
    }
}
