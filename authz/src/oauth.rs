//! The OAuth half without HTTP: what scopes mean, what an authorization request must satisfy, what
//! the endpoints decide. `net` dresses it.

pub mod details;
pub mod scope;
