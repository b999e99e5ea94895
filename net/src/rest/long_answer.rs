//! Long answers, while they are written.

use std::sync::Arc;

use env::leftovers::leave;
use env::{Env, Spawn};

/// An answer of so many bytes is copied by workers where it grows out of its place: to copy it takes a core longer
/// than it may be held.
const MOVED_BYTES: usize = 1 << 20;

/// Room for what is written between two pauses.
const ROOM_BYTES: usize = 256 << 10;

/// A place for an answer that repeats so many bytes.
pub(super) fn place(bytes: usize) -> Vec<u8> {
    let spare = if bytes >= MOVED_BYTES { ROOM_BYTES } else { 0 };
    // With what stands around them.
    Vec::with_capacity(256 + bytes + spare)
}

/// Lets others have their turn, and gives back what was written: where that is long, with room for more.
pub(super) async fn pause<E: Env>(env: &E, written: Vec<u8>) -> Vec<u8> {
    env.spawn().yield_if_needed().await;
    if written.len() < MOVED_BYTES || written.capacity() - written.len() >= ROOM_BYTES {
        return written;
    }
    let written = Arc::new(written);
    let shared = Arc::clone(&written);
    let copy = move || {
        let mut larger = Vec::with_capacity(shared.len() * 2);
        larger.extend_from_slice(&shared);
        larger
    };
    let larger = match env.spawn().work_short_or_back(copy).await {
        Ok(larger) => larger,
        Err(Some(copy)) => copy(),
        Err(None) => written.to_vec(),
    };
    leave(written);
    larger
}
