//! A request, whole: what the connection hands to a service.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use engine::Left;
use env::Bytes;
use env::turns::{Crowded, Lane};
use http::{Head, Method};

use crate::admit::Caller;
use crate::conn::Memory;
use crate::reply::Reply;

/// A request with all of its body.
#[derive(Debug)]
pub struct Request {
    /// Its head.
    pub head: Head,
    /// Its body as it came, codings included.
    pub body: Bytes,
    /// The memory that the body takes, given back with the request.
    pub memory: Option<Memory>,
    /// Address of the other side, as `host:port`.
    pub peer: Rc<str>,
    /// Whose work it is, as far as was known from its head.
    pub lane: Lane,
    /// When its head was complete, on the monotonic clock.
    pub arrived: Duration,
    /// When all of it had come, and its wait for a turn began.
    pub whole: Duration,
    /// What was found before its body was read.
    pub judged: Option<Judged>,
    /// Tells when the client has left.
    pub left: Rc<Left>,
    /// To be set once its caller has shown who it is: while the answer is made the connection is no stranger's.
    pub shown: Rc<Cell<bool>>,
}

/// What is found of a request before its body is read.
#[derive(Debug)]
pub enum Judged {
    /// Who calls.
    Caller(Caller),
    /// Anybody may ask this, and nobody gives way for it.
    Anybody {
        /// Its body is no larger.
        bytes_max: usize,
    },
    /// The caller is not let in: this answer.
    Stranger(Reply),
    /// The caller has too much waiting already.
    Crowded(Crowded),
    /// There is no memory for its body now.
    NoMemory {
        /// How much it asked for.
        wanted_bytes: usize,
    },
}

impl Judged {
    /// The body is not read.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Caller(_) | Self::Anybody { .. })
    }
}

impl Request {
    /// May it run beside others of its connection? RFC 9112, section 9.3.2, allows that for safe
    /// methods alone: a `GET` after a `PUT` must see what was put.
    pub fn is_safe(&self) -> bool {
        matches!(self.head.method(), Method::Get | Method::Head | Method::Options)
    }
}
