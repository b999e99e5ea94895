//! What is kept of the documents that match.

pub mod top;
