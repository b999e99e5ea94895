//! Why a message is refused before anyone routes it.

use std::fmt;

/// A refusal. The connection ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request line is longer than so many bytes.
    LineTooLong(usize),
    /// The header fields, or the trailers, are longer than so many bytes.
    HeadTooLong(usize),
    /// The body is longer than so many bytes.
    BodyTooLong(usize),
    /// An `Expect` that nobody can meet.
    Expectation,
    /// The rest of a message that has begun did not come in time.
    TooSlow,
    /// What the grammar of HTTP/1.1 does not allow, or allows to be read in two ways.
    Malformed(&'static str),
}

impl Fault {
    /// Status of the refusal.
    pub const fn status(self) -> u16 {
        match self {
            Self::LineTooLong(_) | Self::HeadTooLong(_) | Self::Malformed(_) => 400,
            Self::BodyTooLong(_) => 413,
            Self::Expectation => 417,
            Self::TooSlow => 408,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LineTooLong(max) => write!(f, "An HTTP line is larger than {max} bytes."),
            Self::HeadTooLong(max) => write!(f, "HTTP header is larger than {max} bytes."),
            Self::BodyTooLong(max) => write!(f, "the body is larger than {max} bytes"),
            Self::Expectation => f.write_str("the expectation cannot be met"),
            Self::TooSlow => f.write_str("the rest of the message did not come in time"),
            Self::Malformed(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Fault {}
