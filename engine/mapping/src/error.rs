//! What may be wrong with a mapping, an analyzer or a document, in Elasticsearch's words.
//!
//! The sentences are part of the interface: clients match on them. So each failure carries its
//! sentence and the kind of exception Elasticsearch would name; the status is given at the edge.

use std::fmt;

/// Answer of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The exceptions that mappings, analyzers and documents can raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A document does not fit its mapping.
    DocumentParsing,
    /// A new field where the mapping is strict.
    StrictDynamicMapping,
    /// A mapping definition is wrong.
    MapperParsing,
    /// A mapping operation is wrong in itself.
    Mapper,
    /// A value, name or parameter is not allowed.
    IllegalArgument,
    /// An analyzer that is named and not there, which another part of a template may bring.
    AnalyzerMissing,
    /// A request that makes no sense in this state.
    IllegalState,
    /// Text that is no number.
    NumberFormat,
    /// A number beyond its type.
    Arithmetic,
    /// Text that is no date.
    DateTimeParse,
    /// A date or another small language inside a value is wrong.
    Parse,
    /// JSON of the wrong shape.
    XContentParse,
    /// JSON that ends too early.
    XContentEof,
    /// Text that is no JSON.
    JsonParse,
    /// A term that is too long to be stored.
    MaxBytesLengthExceeded,
    /// A word behind the greatest position that Lucene can keep.
    PositionTooGreat,
    /// A date that cannot be, an offset of the wrong form.
    DateTime,
    /// A name of a time zone that nobody knows.
    ZoneRules,
    /// A request that lacks something.
    Validation,
    /// There is no memory for it now.
    NoMemory,
}

impl ErrorKind {
    /// Elasticsearch's name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DocumentParsing => "document_parsing_exception",
            Self::NoMemory => "circuit_breaking_exception",
            Self::StrictDynamicMapping => "strict_dynamic_mapping_exception",
            Self::MapperParsing => "mapper_parsing_exception",
            Self::Mapper => "mapper_exception",
            Self::IllegalArgument | Self::AnalyzerMissing | Self::PositionTooGreat => {
                "illegal_argument_exception"
            }
            Self::IllegalState => "illegal_state_exception",
            Self::Arithmetic => "arithmetic_exception",
            Self::NumberFormat => "number_format_exception",
            Self::DateTimeParse => "date_time_parse_exception",
            Self::Parse => "parse_exception",
            Self::XContentParse => "x_content_parse_exception",
            Self::XContentEof => "x_content_e_o_f_exception",
            Self::JsonParse => "json_parse_exception",
            Self::MaxBytesLengthExceeded => "max_bytes_length_exceeded_exception",
            Self::DateTime => "date_time_exception",
            Self::ZoneRules => "zone_rules_exception",
            Self::Validation => "action_request_validation_exception",
        }
    }
}

/// Longest sentence that is not cut, in bytes.
const REASON_MAX: usize = 4_096;
/// Bytes kept of its beginning.
const REASON_HEAD: usize = 1_024;
/// Bytes kept of its end.
const REASON_TAIL: usize = 512;

/// One failure, with the failure that caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The exception's kind.
    pub kind: ErrorKind,
    /// Elasticsearch's sentence.
    pub reason: String,
    /// The failure below this one.
    pub caused_by: Option<Box<Error>>,
}

impl Error {
    /// A failure of `kind`.
    #[cold]
    pub fn new(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), caused_by: None }
    }

    /// An `illegal_argument_exception`.
    #[cold]
    pub fn illegal_argument(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::IllegalArgument, reason)
    }

    /// A `mapper_parsing_exception`.
    #[cold]
    pub fn mapper_parsing(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::MapperParsing, reason)
    }

    /// Java's `NumberFormatException` about `text`.
    #[cold]
    pub fn number_format(text: &str) -> Self {
        Self::new(ErrorKind::NumberFormat, format!("For input string: \"{text}\""))
    }

    /// Names the failure below.
    #[must_use]
    pub fn caused_by(mut self, cause: Error) -> Self {
        self.caused_by = Some(Box::new(cause));
        self
    }

    /// Is it, or what caused it, of `kind`? The sentences quote what the caller wrote, so they tell nothing
    /// of that.
    pub fn is_due_to(&self, kind: ErrorKind) -> bool {
        self.kind == kind || self.caused_by.as_ref().is_some_and(|cause| cause.is_due_to(kind))
    }

    /// The failure with its sentences cut: they may quote values of many megabytes, which would be
    /// copied into each answer and log.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        if self.reason.len() > REASON_MAX {
            let cut = |at: usize| (0..=at).rev().find(|at| self.reason.is_char_boundary(*at));
            let head = cut(REASON_HEAD).unwrap_or(0);
            let tail = cut(self.reason.len() - REASON_TAIL).unwrap_or(self.reason.len());
            self.reason = format!("{}...{}", &self.reason[..head], &self.reason[tail..]);
        }
        self.caused_by = self.caused_by.map(|cause| Box::new(cause.shortened()));
        self
    }

    /// The failure as create index and templates show it: `Failed to parse mapping: …` around it, but around what
    /// is only known of the whole, its limits, nothing.
    #[must_use]
    pub fn in_create(self) -> Self {
        if crate::tree::limits::is_exceeded(&self.reason) {
            return self;
        }
        let reason = format!("Failed to parse mapping: {}", self.reason);
        Self::new(ErrorKind::MapperParsing, reason).caused_by(self)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.caused_by.as_deref().map(|cause| cause as _)
    }
}
