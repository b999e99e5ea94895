//! The OAuth half without HTTP: what scopes mean, what an authorization request must satisfy, what
//! the endpoints decide. `net` dresses it.

pub mod details;
pub mod part;
pub mod reach;
pub mod scope;
pub mod sight;

/// A text is not what it should be; whoever sent it is not told which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;
