//! Who may see and do what: random rights, random requests on every path, and the plainest judge.
//!
//! Every value of a document carries a mark, a word that stands at that one place of that one document
//! ([`marks`]): whatever a node answers, each mark in it must be one that the caller may see. Counts are held
//! against [`crate::find`], which reads the same request over what the caller may see and nothing else.
//!
//! [`judge`] reads descriptors as they were written; [`ask`] makes a case from a seed; [`run`] runs one;
//! [`door`] gets credentials as people do.

pub mod ask;
pub mod door;
pub mod judge;
pub mod marks;
pub mod reads;
pub mod run;
pub mod searches;
pub mod writes;
