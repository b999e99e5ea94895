//! What goes wrong with a script: while it is read, or while it runs.
//!
//! Elasticsearch shows both as `script_exception`: the piece of source where it happened, an arrow
//! under the place, and the Java exception as the cause.

use std::borrow::Cow;
use std::fmt;

/// What went wrong at one place of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Offset into the source, in characters as Java counts them once shown; bytes here.
    pub at: u32,
    /// The exception in snake case: `arithmetic_exception`.
    pub kind: Cow<'static, str>,
    /// Its message; some of Java's have none.
    pub message: Option<String>,
    /// A script may catch it.
    pub is_caught: bool,
}

impl Fault {
    /// With as much of its message as is told.
    fn shortened(mut self) -> Self {
        if let Some(message) = &mut self.message
            && message.len() > SHOWN_BYTES_MAX
        {
            *message = shown(message);
        }
        self
    }

    /// An exception without a place yet.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { at: u32::MAX, kind: kind.into(), message: Some(message.into()), is_caught: true }
    }

    /// `illegal_argument_exception`.
    pub fn illegal(message: impl Into<String>) -> Self {
        Self::new("illegal_argument_exception", message)
    }

    /// `class_cast_exception`.
    pub fn cast(message: impl Into<String>) -> Self {
        Self::new("class_cast_exception", message)
    }

    /// `null_pointer_exception`.
    pub fn null(message: impl Into<String>) -> Self {
        Self::new("null_pointer_exception", message)
    }

    /// `unsupported_operation_exception`, as of a collection that may not be changed.
    pub fn frozen() -> Self {
        Self {
            at: u32::MAX,
            kind: "unsupported_operation_exception".into(),
            message: None,
            is_caught: true,
        }
    }

    /// One that no script can catch: a limit.
    pub fn limit(kind: &'static str, message: impl Into<String>) -> Self {
        Self { is_caught: false, ..Self::new(kind, message) }
    }

    /// The same at a place, where it has none.
    #[must_use]
    pub fn or_at(mut self, at: u32) -> Self {
        if self.at == u32::MAX {
            self.at = at;
        }
        self
    }
}

/// When it went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The source could not be read.
    Compile,
    /// It failed while it ran.
    Runtime,
}

/// A fault as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// When.
    pub stage: Stage,
    /// The piece of source and the arrow under it.
    pub stack: Vec<String>,
    /// The whole source.
    pub source: String,
    /// Language.
    pub lang: &'static str,
    /// Where it happened, and from where to where the piece goes, in UTF-16 units.
    pub position: Option<Position>,
    /// The exception below.
    pub cause: Fault,
}

/// A place in a source, in UTF-16 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The place itself.
    pub offset: usize,
    /// Begin of the piece shown.
    pub start: usize,
    /// After its end.
    pub end: usize,
}

/// Characters shown on either side of an error of reading.
const AROUND: usize = 25;

impl Error {
    /// A source that could not be read.
    pub fn compile(source: &str, cause: Fault) -> Self {
        let units: Vec<u16> = source.encode_utf16().collect();
        let offset = units_before(source, cause.at).min(units.len());
        let (start, end) = (offset.saturating_sub(AROUND), (offset + AROUND).min(units.len()));
        let mut piece = String::new();
        let mut arrow = String::new();
        if start > 0 {
            piece.push_str("... ");
            arrow.push_str("    ");
        }
        piece.push_str(&String::from_utf16_lossy(&units[start..end]));
        if end < units.len() {
            piece.push_str(" ...");
        }
        arrow.extend(std::iter::repeat_n(' ', offset - start));
        arrow.push_str("^---- HERE");
        Self {
            stage: Stage::Compile,
            stack: vec![piece, arrow],
            source: shown(source),
            lang: "painless",
            position: Some(Position { offset, start, end }),
            cause: cause.shortened(),
        }
    }

    /// A run that failed; `statements` are the offsets where statements begin, rising.
    pub fn runtime(source: &str, statements: &[u32], cause: Fault) -> Self {
        let at = if cause.at == u32::MAX { 0 } else { cause.at };
        let next = statements.partition_point(|start| *start <= at);
        let start = next.checked_sub(1).map_or(0, |before| statements[before] as usize);
        let end = statements.get(next).map_or(source.len(), |end| *end as usize);
        let clamp = |place: usize| {
            let mut place = place.min(source.len());
            while !source.is_char_boundary(place) {
                place -= 1;
            }
            place
        };
        let (start, end) = (clamp(start), clamp(end));
        let position = Position {
            offset: units_before(source, at),
            start: units_before(source, start as u32),
            end: units_before(source, end as u32),
        };
        let mut arrow = " ".repeat(position.offset.saturating_sub(position.start));
        arrow.push_str("^---- HERE");
        Self {
            stage: Stage::Runtime,
            stack: vec![shown(&source[start..end.max(start)]), shown(&arrow)],
            source: shown(source),
            lang: "painless",
            position: Some(position),
            cause: cause.shortened(),
        }
    }
}

/// Of a longer text so much is told: each shard, and each item of a request, may fail with it.
const SHOWN_BYTES_MAX: usize = 4_000;

fn shown(text: &str) -> String {
    match text.len() > SHOWN_BYTES_MAX {
        false => text.to_owned(),
        true => format!("{}...", &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)]),
    }
}

/// UTF-16 units before a byte offset.
fn units_before(source: &str, at: u32) -> usize {
    let mut at = (at as usize).min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    source[..at].encode_utf16().count()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Compile => "compile error",
            Stage::Runtime => "runtime error",
        };
        write!(f, "{stage}: {}", self.cause.kind)?;
        match &self.cause.message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
