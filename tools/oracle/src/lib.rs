//! Random questions to a whole node, and the plainest reading of what it must answer.
//!
//! The node runs in this process on a simulated machine ([`node`]); requests and answers are bytes of
//! HTTP, so nothing that a user's request passes is left out. Two judges stand beside it, and share no
//! code with what they judge:
//! - [`find`] reads mappings, documents, queries, sorts and aggregations one document at a time;
//! - [`rights`] reads roles, keys and grants, and says which documents, fields and actions there may be.
//!
//! A case is a JSON value made from a seed ([`ask`] and `rights` make them), so it can be printed,
//! shrunk ([`shrink`]) and run again.
//!
//! Not here: the crate `search`, or any part of the engine but the door to start it.

#![forbid(unsafe_code)]

pub mod ask;
pub mod chance;
pub mod find;
pub mod node;
pub mod rights;
pub mod shrink;
