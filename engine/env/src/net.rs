//! Byte streams: what TLS leaves for the floors above.

use crate::Result;

/// A connection between two sides, TLS already ended.
#[allow(async_fn_in_trait, reason = "futures stay on the core that made them")]
pub trait Stream: 'static {
    /// Reads some bytes into `buffer`; 0 where the other side has closed.
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize>;

    /// Writes all bytes and flushes them.
    async fn write_all(&mut self, bytes: &[u8]) -> Result<()>;

    /// Tells the other side that no more comes, and stays open for what it still sends.
    async fn finish(&mut self) -> Result<()>;

    /// Tells the other side that no more comes, and closes.
    async fn close(&mut self) -> Result<()>;

    /// Has the other side said that no more comes, or gone? What it sent before may still be unread;
    /// asking reads nothing and does not wait.
    fn has_left(&self) -> bool;

    /// Has the other side sent something that was not read yet? Asking reads nothing and does not wait. It may be
    /// less than what a read needs to give anything (a part of a record of TLS).
    fn has_more(&self) -> bool;

    /// Address of the other side, as `host:port`.
    fn peer(&self) -> &str;
}
