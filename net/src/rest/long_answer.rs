//! Long answers, while they are written.

use std::sync::Arc;

use engine::Result;
use env::budget::Taken;
use env::leftovers::leave;
use env::{Env, Spawn};
use json::Writer;

use crate::call::Call;
use crate::reply::Reply;

/// An answer of so many bytes is copied by workers where it grows out of its place: to copy it takes a core longer
/// than it may be held.
pub(super) const MOVED_BYTES: usize = 1 << 20;

/// Room for what is written between two pauses.
pub(super) const ROOM_BYTES: usize = 256 << 10;

/// A place for an answer that repeats so many bytes.
pub(super) fn place(bytes: usize) -> Vec<u8> {
    let spare = if bytes >= MOVED_BYTES { ROOM_BYTES } else { 0 };
    // With what stands around them.
    Vec::with_capacity(256 + bytes + spare)
}

/// Lets others have their turn, and gives back what was written: where that is long, with room for more.
pub(super) async fn pause<E: Env>(env: &E, written: Vec<u8>) -> Vec<u8> {
    pause_before(env, written, ROOM_BYTES).await
}

/// As [`pause`], with room for so many bytes.
async fn pause_before<E: Env>(env: &E, written: Vec<u8>, bytes: usize) -> Vec<u8> {
    env.spawn().yield_if_needed().await;
    if written.len() < MOVED_BYTES || written.capacity() - written.len() >= bytes {
        return written;
    }
    let capacity = (written.len() * 2).max(written.len() + bytes);
    let written = Arc::new(written);
    let shared = Arc::clone(&written);
    let copy = move || {
        let mut larger = Vec::with_capacity(capacity);
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

/// An answer below this is not counted while it is written.
const COUNTED_BYTES: usize = 64 << 10;

/// Memory is asked for in such steps.
const STEP_BYTES: usize = 256 << 10;

/// How many small pieces are written between two looks at the room that is left.
const PIECES: usize = 16;

/// An answer as long as what it tells of, for which memory is taken before it grows: where there is none, what was
/// written goes, and the client is refused.
pub(super) struct Growing<'c, 'a, E: Env> {
    call: &'c Call<'a, E>,
    /// What it is called where it is refused.
    what: &'static str,
    memory: Option<Taken>,
    /// What comes before the next look at the room.
    coming: usize,
}

impl<'c, 'a, E: Env> Growing<'c, 'a, E> {
    /// An answer to `call`.
    pub fn new(call: &'c Call<'a, E>, what: &'static str) -> Self {
        Self { call, what, memory: None, coming: 0 }
    }

    /// Lets others have their turn; then there is room for so many bytes more, or for what they are made of.
    ///
    /// # Errors
    /// 429 where there is too little memory.
    pub async fn more(&mut self, writer: &mut Writer<'_>, bytes: usize) -> Result<()> {
        self.coming = 0;
        let long = writer.written().len().saturating_add(bytes);
        self.pay(long)?;
        let written = std::mem::take(writer.buffer());
        let room = bytes.max(ROOM_BYTES);
        *writer.buffer() = pause_before(self.call.core.env(), written, room).await;
        Ok(())
    }

    /// As [`Growing::more`], in a loop of small pieces, of which this is the one at `at`: others have their turn
    /// between a few of them.
    ///
    /// # Errors
    /// As [`Growing::more`].
    pub async fn more_at(
        &mut self,
        at: usize,
        writer: &mut Writer<'_>,
        bytes: usize,
    ) -> Result<()> {
        self.coming = self.coming.saturating_add(bytes);
        if at.is_multiple_of(PIECES) || self.coming > COUNTED_BYTES {
            return self.more(writer, bytes).await;
        }
        self.pay(writer.written().len().saturating_add(bytes))
    }

    /// Memory for an answer of so many bytes: a buffer that grows has room for twice that, or is copied meanwhile.
    fn pay(&mut self, bytes: usize) -> Result<()> {
        if bytes <= COUNTED_BYTES {
            return Ok(());
        }
        let (wanted, has) = (bytes.saturating_mul(2), self.memory.as_ref().map_or(0, Taken::bytes));
        if wanted <= has {
            return Ok(());
        }
        let lacking = (wanted - has).next_multiple_of(STEP_BYTES);
        let core = self.call.core;
        let is_there = match &mut self.memory {
            Some(memory) => memory.grow(lacking),
            none => {
                *none = Some(core.room(self.what, lacking)?);
                true
            }
        };
        if is_there { Ok(()) } else { Err(core.no_memory(self.what, has + lacking)) }
    }

    /// The answer.
    pub fn end(self, status: u16, body: Vec<u8>) -> Reply {
        let reply = Reply::json(status, body);
        match self.memory {
            Some(memory) => reply.counted(memory),
            None => reply,
        }
    }
}
