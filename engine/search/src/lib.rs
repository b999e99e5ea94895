//! Reading: from a request to ranked answers.
//!
//! A request passes through in this order, each step plain code that never waits:
//!
//! | step      | does                                                              |
//! |-----------|-------------------------------------------------------------------|
//! | [`dsl`]   | JSON text becomes an [`ast`] and a [`request`]; no index is known |
//! | [`plan`]  | names become terms, numbers and columns of one index; then weights of one shard |
//! | `iter`    | a plan meets a segment: matches in windows, blocks named before they are read |
//! | `collect` | the best are kept, all are counted                                |
//! | [`phase`] | one slice of one plan, in bounded steps; merging what slices found |
//! | [`fetch`] | winners become hits: source, versions, sort values                |
//!
//! [`scripted`] runs scripts wherever one of these steps asks for a value of a document.
//!
//! Always true
//! 1. Nothing here waits, reads a clock or knows a runtime: a step names blocks that are not there,
//!    and the host fetches them (D6).
//! 2. Scores are Lucene's, float for float, times 2.2 as Elasticsearch 8 keeps it ([`score`]).
//! 3. Skipping never changes an answer: hits, their order and their scores are those of a plain
//!    reading of all documents.
//!
//! Not here: JSON of answers (`net/render`), cutting work over cores (`engine/ops`).

#![forbid(unsafe_code)]

pub mod account;
pub mod aggs;
pub mod ast;
pub mod collect;
pub mod dsl;
pub mod error;
pub mod fetch;
pub mod highlight;
pub mod iter;
pub mod judge;
pub mod kept;
pub mod phase;
pub mod plan;
pub mod request;
pub mod result;
pub mod score;
pub mod scripted;
pub mod suggest;
pub mod vectors;

pub use error::{Error, Result};
pub use request::SearchRequest;
