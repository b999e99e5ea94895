//! What authz state is made of: one kind of record a file.

pub mod role;
pub mod user;
