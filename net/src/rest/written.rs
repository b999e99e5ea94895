//! An answer whose length only shows as it is written: memory is taken before it grows.
//!
//! Always true: what was written is thrown away as soon as there is no memory for more of it, and the request is
//! refused ([`Writing::end`]); whoever writes need not know.

use std::cell::{Cell, RefCell};

use engine::{Error, Result};
use env::Env;
use env::budget::Taken;

use super::long_answer::{self, MOVED_BYTES, ROOM_BYTES};
use crate::call::Call;
use crate::reply::Reply;

/// An answer below this is not counted by what it takes beyond what was known.
const COUNTED_BYTES: usize = 64 << 10;

/// What stands around what is repeated.
const AROUND_BYTES: usize = 1 << 10;

/// Memory is asked for in such steps.
const STEP_BYTES: usize = 256 << 10;

/// An answer that is written.
pub(super) struct Writing<'c, 'a, E: Env> {
    call: &'c Call<'a, E>,
    memory: RefCell<Taken>,
    /// There was no memory for so many bytes.
    refused: Cell<Option<usize>>,
}

impl<'c, 'a, E: Env> Writing<'c, 'a, E> {
    /// An answer that repeats so many bytes at least, and the place for it.
    ///
    /// # Errors
    /// 429 where there is too little memory.
    pub fn begin(call: &'c Call<'a, E>, bytes: usize) -> Result<(Self, Vec<u8>)> {
        let memory = RefCell::new(call.core.room("fetched_hits", bytes)?);
        let writing = Self { call, memory, refused: Cell::new(None) };
        Ok((writing, long_answer::place(bytes)))
    }

    /// As [`long_answer::pause`], where there is memory for what comes next.
    pub async fn pause(&self, written: Vec<u8>) -> Vec<u8> {
        let env = self.call.core.env();
        if self.refused.get().is_some() || !self.has_room(&written) {
            env::leftovers::leave(written);
            return long_answer::pause(env, Vec::new()).await;
        }
        long_answer::pause(env, written).await
    }

    /// Memory for what the buffer takes, and where it is about to be copied for the copy, too.
    fn has_room(&self, written: &Vec<u8>) -> bool {
        let (len, capacity) = (written.len(), written.capacity());
        let left = capacity - len;
        let wanted = match len < MOVED_BYTES {
            // The list grows by itself.
            true if left < COUNTED_BYTES => capacity.saturating_mul(2),
            false if left < ROOM_BYTES => capacity.saturating_add(len.saturating_mul(2)),
            _ => capacity,
        };
        let mut memory = self.memory.borrow_mut();
        let lacking = wanted.saturating_sub(memory.bytes());
        if wanted <= COUNTED_BYTES || lacking <= AROUND_BYTES {
            return true;
        }
        let has = memory.grow(lacking.next_multiple_of(STEP_BYTES));
        if !has {
            self.refused.set(Some(wanted));
        }
        has
    }

    /// The answer.
    ///
    /// # Errors
    /// 429 where there was too little memory for it.
    pub fn end(self, status: u16, body: Vec<u8>) -> Result<Reply> {
        match self.refused.get() {
            Some(bytes) => Err(self.refusal(bytes)),
            None => {
                let mut memory = self.memory.into_inner();
                memory.shrink_to(body.capacity());
                Ok(Reply::json(status, body).counted(memory))
            }
        }
    }

    fn refusal(&self, bytes: usize) -> Error {
        self.call.core.no_memory("search_answer", bytes)
    }
}
