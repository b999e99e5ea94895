//! HTTP in, HTTP out.
//!
//! [`Server`] is the HTTP side of one core: `conn` frames requests on the core that accepted them,
//! `router` finds the row of `table`, `admit` turns the credential into a gate, `rest` asks the
//! engine, `render` writes the answer.
//!
//! Deliberately absent: decisions about documents, users or indices; sockets, TLS and threads
//! (`runtime`, `tools`).

#![forbid(unsafe_code)]

pub mod admit;
pub mod audit;
pub mod call;
pub mod conn;
pub mod fail;
pub mod format;
mod lanes;
pub mod limits;
pub mod media;
pub mod oauth;
pub mod params;
pub mod render;
mod renewed;
pub mod reply;
pub mod request;
pub mod rest;
pub mod router;
mod seldom;
pub mod server;
mod subject;
pub mod table;
mod x509;

pub use admit::Security;
pub use limits::Limits;
pub use reply::Reply;
pub use rest::VERSION;
pub use server::{Options, Server};
