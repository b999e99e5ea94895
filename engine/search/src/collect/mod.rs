//! What is kept of the documents that match.

mod group;
mod read;
pub mod sort;
pub mod top;
