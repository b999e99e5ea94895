//! A request, whole: what the connection hands to a service.

use std::rc::Rc;

use env::Bytes;
use env::budget::Taken;
use http::{Head, Method};

/// A request with all of its body.
#[derive(Debug)]
pub struct Request {
    /// Its head.
    pub head: Head,
    /// Its body as it came, codings included.
    pub body: Bytes,
    /// The memory that the body takes, given back with the request.
    pub memory: Option<Taken>,
    /// Address of the other side, as `host:port`.
    pub peer: Rc<str>,
}

impl Request {
    /// May it run beside others of its connection? RFC 9112, section 9.3.2, allows that for safe
    /// methods alone: a `GET` after a `PUT` must see what was put.
    pub fn is_safe(&self) -> bool {
        matches!(self.head.method(), Method::Get | Method::Head | Method::Options)
    }
}
