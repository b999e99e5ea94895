//! HTTP in, HTTP out: connections, routes, and results as bytes.

#![forbid(unsafe_code)]

pub mod conn;
pub mod limits;
pub mod reply;
pub mod request;
