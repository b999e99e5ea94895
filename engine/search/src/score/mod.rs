//! How well a document matches, in numbers.

pub mod bm25;
pub mod explain;
mod explain_model;
pub mod model;
