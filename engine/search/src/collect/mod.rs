//! What is kept of the documents that match.

pub mod sort;
pub mod top;
