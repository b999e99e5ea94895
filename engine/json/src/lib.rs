//! JSON as text: read strictly, kept exactly, written as Elasticsearch writes it.
//!
//! Two readers share one grammar (RFC 8259): [`scan::Scanner`], our own, which knows where every
//! token stands and what its text is; and [`tape`], a fast view over simd-json for documents, which
//! falls back to the scanner whenever exact text or place is asked for. Trees are [`Value`]
//! (owned, order kept, numbers keep their text) and [`spanned::Node`] (the same with places).
//!
//! Always true
//! 1. Whatever is read is bounded ([`Limits`]) and valid UTF-8; a key stands once in its object.
//! 2. Errors speak Jackson's words and count lines and columns from 1, columns in bytes.
//! 3. No recursion is deeper than the depth limit.
//!
//! Not here: YAML, CBOR and Smile; what a document means (`mapping`).

#![forbid(unsafe_code)]

pub mod error;
pub mod fields;
pub mod lexeme;
pub mod limits;
mod macros;
pub mod number;
pub mod parser;
pub mod patch;
pub mod path;
pub mod pretty;
pub mod scan;
pub mod spanned;
pub mod tape;
pub mod value;
pub mod write;

pub use error::{Error, ErrorKind, Place, Result};
pub use limits::Limits;
pub use number::Number;
pub use parser::{parse, parse_with};
pub use pretty::{pretty, pretty_len};
pub use value::{Object, Value};
pub use write::{Writer, str_bytes, to_string, to_vec};

/// An array for the macro to fill.
#[doc(hidden)]
pub const fn no_elements() -> Vec<Value> {
    Vec::new()
}
