//! What reading a request or binding it to an index may fail with, in Elasticsearch's words.
//!
//! Always true
//! 1. The caller asked wrongly: nothing here is a fault of the disk or of ours.
//! 2. An error of `dsl` belongs to the request, one of `plan` to a shard (Elasticsearch then says
//!    `all shards failed` around it); the function that failed tells which, the error does not.
//!
//! Not here: HTTP status and the JSON form. `engine` gives [`Kind::name`] its status.

use std::fmt;

pub use json::Place;

/// Answer of this crate's doors.
pub type Result<T> = std::result::Result<T, Error>;

/// The sort of a failure: each is one of Elasticsearch's exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A query or a body key that cannot be read; carries its place.
    Parsing,
    /// An object's parser met something it does not know; the place stands in the reason.
    XContent,
    /// The body ends too early.
    XContentEnd,
    /// What the JSON reader says about a body that is no JSON.
    JsonParse,
    /// What the JSON reader says about a body that ends too early.
    JsonEnd,
    /// A name that no registry holds.
    NamedObject,
    /// An argument without sense.
    IllegalArgument,
    /// Something that this state does not allow.
    IllegalState,
    /// A number that is none.
    NumberFormat,
    /// A query that this index cannot answer.
    QueryShard,
    /// A value (mostly a date) that cannot be read.
    Parse,
    /// A date that no pattern fits.
    DateTimeParse,
    /// An offset that cannot be.
    DateTime,
    /// A time zone that nobody knows.
    ZoneRules,
    /// The request contradicts itself; reasons are joined by the constructor.
    Validation,
    /// A query contradicts what can be; reasons are joined by the constructor.
    QueryValidation,
    /// More clauses than allowed.
    TooManyClauses,
    /// More clauses than allowed, counted through nested queries.
    TooManyNestedClauses,
    /// An expression that would take too much work.
    TooComplex,
    /// An aggregation that cannot stand where it stands.
    AggregationInit,
    /// An aggregation that cannot be computed.
    AggregationExecution,
    /// More buckets than allowed.
    TooManyBuckets,
    /// More memory than there is.
    CircuitBreaking,
    /// A script that could not be read, or failed; it carries how.
    Script,
    /// Something named that is not there.
    ResourceNotFound,
    /// Something that is never done.
    Unsupported,
    /// A failure without a better name.
    Exception,
}

impl Kind {
    /// Elasticsearch's name of the exception.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parsing => "parsing_exception",
            Self::XContent => "x_content_parse_exception",
            Self::XContentEnd => "x_content_e_o_f_exception",
            Self::JsonParse => "json_parse_exception",
            Self::JsonEnd => "json_e_o_f_exception",
            Self::NamedObject => "named_object_not_found_exception",
            Self::IllegalArgument => "illegal_argument_exception",
            Self::IllegalState => "illegal_state_exception",
            Self::NumberFormat => "number_format_exception",
            Self::QueryShard => "query_shard_exception",
            Self::Parse => "parse_exception",
            Self::DateTimeParse => "date_time_parse_exception",
            Self::DateTime => "date_time_exception",
            Self::ZoneRules => "zone_rules_exception",
            Self::Validation => "action_request_validation_exception",
            Self::QueryValidation => "query_validation_exception",
            Self::TooManyClauses => "too_many_clauses",
            Self::TooManyNestedClauses => "too_many_nested_clauses",
            Self::TooComplex => "too_complex_to_determinize_exception",
            Self::AggregationInit => "aggregation_initialization_exception",
            Self::AggregationExecution => "aggregation_execution_exception",
            Self::TooManyBuckets => "too_many_buckets_exception",
            Self::CircuitBreaking => "circuit_breaking_exception",
            Self::Script => "script_exception",
            Self::ResourceNotFound => "resource_not_found_exception",
            Self::Unsupported => "unsupported_operation_exception",
            Self::Exception => "exception",
        }
    }
}

/// Of a longer reason so much is told: each shard has one of its own, and often it quotes what was asked for.
const REASON_BYTES_MAX: usize = 4_000;

/// One failure, with the failure below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// Which exception.
    pub kind: Kind,
    /// For people; whole, with any `[line:col] ` prefix that belongs to it.
    pub reason: String,
    /// The keys `line` and `col`, of those that carry them.
    pub place: Option<Place>,
    /// The failure below this one.
    pub cause: Option<Box<Error>>,
    /// Of a script: how it failed.
    pub script: Option<Box<script::Error>>,
}

impl Error {
    /// A failure that carries no place.
    pub fn new(kind: Kind, reason: impl Into<String>) -> Self {
        let mut reason = reason.into();
        // What a request as a whole is told of is told once.
        if reason.len() > REASON_BYTES_MAX
            && !matches!(kind, Kind::Validation | Kind::QueryValidation)
        {
            reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
            reason.push_str("...");
            reason.shrink_to_fit();
        }
        Self { kind, reason, place: None, cause: None, script: None }
    }

    /// `parsing_exception` at `place`.
    pub fn parsing(place: Place, reason: impl Into<String>) -> Self {
        Self { place: Some(place), ..Self::new(Kind::Parsing, reason) }
    }

    /// `x_content_parse_exception`: the place goes in front of `reason`.
    pub fn content(place: Place, reason: impl fmt::Display) -> Self {
        Self::new(Kind::XContent, format!("{place} {reason}"))
    }

    /// `what` would take more than `limit` bytes.
    pub fn too_large(what: &str, limit: usize) -> Self {
        let reason = format!(
            "[request] Data too large, data for [<{what}>] would be larger than the limit of [{limit}b]"
        );
        Self::new(Kind::CircuitBreaking, reason)
    }

    /// There is no memory for `what` now.
    pub fn no_memory(what: &str) -> Self {
        let reason = format!(
            "[parent] Data too large, data for [<{what}>] would be larger than what is left of the memory"
        );
        Self::new(Kind::CircuitBreaking, reason)
    }

    /// `illegal_argument_exception`.
    pub fn illegal(reason: impl Into<String>) -> Self {
        Self::new(Kind::IllegalArgument, reason)
    }

    /// `script_exception`.
    pub fn script(error: script::Error) -> Self {
        let reason = match error.stage {
            script::Stage::Compile => "compile error",
            script::Stage::Runtime => "runtime error",
        };
        Self { script: Some(Box::new(error)), ..Self::new(Kind::Script, reason) }
    }

    /// `number_format_exception` about `text`, in Java's words.
    pub fn number(text: &str) -> Self {
        let reason = match text {
            "" => "empty String".to_owned(),
            text => format!("For input string: \"{text}\""),
        };
        Self::new(Kind::NumberFormat, reason)
    }

    /// `query_shard_exception` with these words.
    pub fn shard(reason: impl Into<String>) -> Self {
        Self::new(Kind::QueryShard, reason)
    }

    /// `action_request_validation_exception`, the problems counted from 1.
    pub fn validation(problems: &[String]) -> Self {
        let mut reason = String::from("Validation Failed: ");
        for (at, problem) in problems.iter().enumerate() {
            reason.push_str(&format!("{}: {problem};", at + 1));
        }
        Self::new(Kind::Validation, reason)
    }

    /// `query_shard_exception` around a failure of another kind, as Elasticsearch wraps whatever
    /// goes wrong while a query meets an index.
    #[must_use]
    pub fn create_query(self) -> Self {
        if self.kind == Kind::QueryShard {
            return self;
        }
        let mut outer = Self::shard(format!("failed to create query: {}", self.reason));
        outer.cause = Some(Box::new(self));
        outer
    }

    /// Names the failure below.
    #[must_use]
    pub fn caused_by(mut self, cause: Error) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.reason)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_while_binding_is_wrapped_once() {
        let inner = Error::number("abc");
        let outer = inner.clone().create_query();
        assert_eq!(outer.reason, "failed to create query: For input string: \"abc\"");
        let long = Error::number(&"é".repeat(1 << 20)).create_query();
        let below = long.cause.expect("a cause");
        assert!(below.reason.ends_with("éé...") && below.reason.len() <= REASON_BYTES_MAX + 3);
        assert!(long.reason.len() <= REASON_BYTES_MAX + 3 && long.reason.capacity() < 5_000);
        assert_eq!(outer.cause.as_deref(), Some(&inner));
        assert_eq!(outer.clone().create_query(), outer);
    }

    #[test]
    fn an_object_parsers_failure_begins_with_its_place() {
        let place = Place { line: 1, column: 24 };
        let error = Error::content(place, "[match_all] unknown field [foo]");
        assert_eq!(error.reason, "[1:24] [match_all] unknown field [foo]");
        assert_eq!(error.place, None);
    }
}
