//! How fast the round through the whole store reads: so many bytes a second, counted as they are.
//!
//! Always true: after `n` bytes, at least `n / rate` seconds have passed since the round began, so
//! whatever else reads the disk keeps it nearly to itself.

use std::sync::Arc;
use std::time::Duration;

use crate::meter::Counter;
use crate::{Clock, Env};

/// Bytes read in one go.
pub const PIECE_BYTES: usize = 1 << 20;

/// The pace of one reader, on one core.
pub struct Pace<E: Env> {
    env: E,
    bytes_a_second: u64,
    read: Arc<Counter>,
}

impl<E: Env> Pace<E> {
    /// Reads `bytes_a_second` at most, and counts them at `read`.
    pub fn new(env: &E, bytes_a_second: u64, read: Arc<Counter>) -> Self {
        Self { env: env.clone(), bytes_a_second: bytes_a_second.max(1), read }
    }

    /// Notes that `bytes` were read, and waits for as long as they should have taken.
    pub async fn took(&self, bytes: usize) {
        self.read.add(bytes as u64);
        let nanos = (bytes as u128 * 1_000_000_000) / u128::from(self.bytes_a_second);
        let pause = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        self.env.clock().sleep(pause).await;
    }
}
