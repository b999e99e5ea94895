//! Identity and permission: who stands at the door, and what may they do?
//!
//! Authz has a state of its own, changed only by commands through a replicated log and published
//! to every core ([`state`], [`command`], [`apply`]); so checking a caller needs no hop and no
//! wait, and no `DELETE /_all` can take it away. [`authenticate`] turns a header into a
//! [`Principal`], whose [`Access`] answers the gate's questions.
//!
//! Deliberately absent: HTTP, indices, documents.

#![forbid(unsafe_code)]

pub mod access;
mod application;
pub mod apply;
pub mod audit;
pub mod authenticate;
pub mod command;
pub mod error;
pub mod file_realm;
mod foreign;
pub mod form;
mod holdings;
pub mod map;
pub mod network;
pub mod oauth;
pub mod pages;
pub mod password;
pub mod pattern;
pub mod principal;
pub mod privilege;
pub mod record;
mod refusals;
mod right;
pub mod secret;
pub mod state;
pub mod store;
pub mod template;
pub mod tidy;
pub mod token;

pub use access::{Access, Denied, Fields, Limits};
pub use authenticate::{AuthError, Authenticator};
pub use command::{Command, Outcome};
pub use error::{Error, Result};
pub use file_realm::FileRealm;
pub use principal::{Principal, Via};
pub use record::role::Name;
pub use right::{Need, Right};
pub use secret::Secret;
pub use state::State;
pub use store::{Keeper, Store};
