//! What a connection may take: bytes, time, requests at once. One place for all bounds.

use std::time::Duration;

/// Bounds of every connection of a core.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of one message.
    pub http: http::Limits,
    /// An idle connection of somebody who was let in is closed after this: clients hold theirs open, and some do
    /// not ask again on another when one was closed under their request (decision 13).
    pub idle: Duration,
    /// One that never made a request is closed after this: who connects has something to ask.
    pub unused: Duration,
    /// A head must be complete this long after its first byte.
    pub head: Duration,
    /// A body may be late by this much behind [`Limits::body_bytes_per_second`].
    pub body: Duration,
    /// The slowest body that is waited for; one that is brief ([`crate::conn::Service::is_brief`]) has
    /// [`Limits::body`] alone.
    pub body_bytes_per_second: u32,
    /// One piece of [`WRITE_BYTES`] must be taken by the other side in this time.
    pub write: Duration,
    /// After a refusal, bytes that still come are thrown away for this long, so that the client
    /// reads the refusal before it learns that nobody listens.
    pub linger: Duration,
    /// Requests of one connection that may run at the same time.
    pub running_max: usize,
    /// What the bodies of one caller may take on one core, where they are more than one.
    pub lane_bytes_max: usize,
    /// Connections of one core. One more takes the place of one that waits for its client; where none
    /// does it is closed at once.
    pub connections_max: usize,
}

/// Of larger bodies nothing is read before their caller is known.
pub const JUDGED_BYTES_MIN: usize = 64 * 1024;

/// A body that anybody may send is no larger: forms, and a logo. Larger than those by far, so that who sends too much
/// of them is still told on a page.
pub const ANYBODYS_BYTES_MAX: usize = 8 << 20;

/// A connection's buffer while it is idle.
pub const BUFFER_BYTES_MIN: usize = 4 * 1024;

/// A connection's buffer at most; larger bodies are read into their own place.
pub const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Answers are gathered up to this before they are written, and written in such pieces.
pub const WRITE_BYTES: usize = 256 * 1024;

/// The same of a connection nobody is known on: many of them may hold as much and never read.
pub const STRANGER_WRITE_BYTES: usize = 8 * 1024;

impl Limits {
    /// How long after its head a body may still come, of which so many bytes have.
    pub(crate) fn body_time(&self, bytes: usize, is_brief: bool) -> Duration {
        let rate = u64::from(self.body_bytes_per_second.max(1));
        let allowed = if is_brief { 0 } else { bytes as u64 / rate };
        self.body + Duration::from_secs(allowed)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            http: http::Limits::DEFAULT,
            idle: Duration::from_secs(3_600),
            unused: Duration::from_secs(60),
            head: Duration::from_secs(10),
            body: Duration::from_secs(20),
            body_bytes_per_second: 1_024,
            write: Duration::from_secs(60),
            linger: Duration::from_secs(3),
            running_max: 64,
            lane_bytes_max: usize::MAX,
            connections_max: usize::MAX,
        }
    }
}
