//! What authz state is made of: one kind of record a file.

pub mod builtin;
pub mod client;
pub mod companion;
pub mod grant;
pub mod key;
pub mod profile;
pub mod proof;
pub mod role;
pub mod session;
pub mod user;
