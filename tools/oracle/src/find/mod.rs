//! The plainest reading of a search: document by document, no index.
//!
//! [`schema`] reads the mapping, [`document`] what a document says under it, [`matching`] whether it
//! matches a query and with which score, [`order`] where it stands among the others, [`aggregate`] what
//! many of them come to, [`world`] keeps what was written and checks whole answers.
//!
//! What a reader would have to guess (the exact score of expanded terms, say) it leaves open: a score
//! that is not known is NaN, a request that is not understood is [`Skip`].

pub mod aggregate;
pub mod bucket;
pub mod check;
pub mod document;
pub mod functions;
pub mod matching;
pub mod metric;
pub mod order;
pub mod patterns;
pub mod run;
pub mod schema;
pub mod statistics;
pub mod time;
pub mod values;
pub mod words;
pub mod world;

/// This reading has no opinion, because of this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip(pub String);

/// What is read, or why not.
pub type Read<T> = Result<T, Skip>;

/// No opinion.
pub fn skip<T>(why: impl Into<String>) -> Read<T> {
    Err(Skip(why.into()))
}
