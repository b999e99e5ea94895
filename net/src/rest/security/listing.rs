//! A list of records in an answer, for which memory is taken as it grows.

use engine::Result;
use env::budget::Taken;
use env::{Env, Rounds};
use json::Value;

use crate::call::Call;
use crate::reply::Reply;

/// What the text of a record takes more than its bytes, while the body around it grows.
const COPIES: usize = 2;

/// An object with a list in it, as it is written.
pub(super) struct Listing<'c, 'a, E: Env> {
    call: &'c Call<'a, E>,
    /// What is listed, as the answer names it.
    kind: String,
    memory: Taken,
    rounds: Rounds,
    body: Vec<u8>,
    is_first: bool,
}

impl<'c, 'a, E: Env> Listing<'c, 'a, E> {
    /// A list of this name.
    ///
    /// # Errors
    /// 429 where there is no memory at all.
    pub fn new(call: &'c Call<'a, E>, kind: &str) -> Result<Self> {
        let (memory, rounds) = (call.core.room(kind, 0)?, Rounds::default());
        Ok(Self { call, kind: kind.to_owned(), memory, rounds, body: Vec::new(), is_first: true })
    }

    /// Takes memory that is needed until the answer is sent.
    ///
    /// # Errors
    /// 429 where there is too little.
    pub fn pay(&mut self, bytes: usize) -> Result<()> {
        match self.memory.grow(bytes) {
            true => Ok(()),
            false => Err(self.call.core.no_memory(&self.kind, self.memory.bytes() + bytes)),
        }
    }

    /// Writes what stands before the list.
    pub fn begin(&mut self, members: &[(&str, Value)]) {
        self.body.push(b'{');
        for (name, value) in members {
            self.body.extend_from_slice(format!("\"{name}\":").as_bytes());
            self.body.extend_from_slice(&json::to_vec(value));
            self.body.push(b',');
        }
        self.body.extend_from_slice(format!("\"{}\":[", self.kind).as_bytes());
    }

    /// Writes a record.
    ///
    /// # Errors
    /// As [`Listing::pay`].
    pub async fn add(&mut self, record: &Value) -> Result<()> {
        let text = json::to_vec(record);
        self.pay((text.len() + 1).saturating_mul(COPIES))?;
        if !std::mem::take(&mut self.is_first) {
            self.body.push(b',');
        }
        self.body.extend_from_slice(&text);
        self.rounds.done(self.call.core.env().spawn(), text.len()).await;
        Ok(())
    }

    /// Is nothing listed?
    pub fn is_empty(&self) -> bool {
        self.is_first
    }

    /// The answer.
    pub fn end(self, status: u16) -> Reply {
        self.end_with(status, &[])
    }

    /// The answer, with what stands behind the list.
    pub fn end_with(mut self, status: u16, members: &[(&str, Value)]) -> Reply {
        self.close();
        for (name, value) in members {
            self.body.extend_from_slice(format!(",\"{name}\":").as_bytes());
            self.body.extend_from_slice(&json::to_vec(value));
        }
        self.end_as_is(status)
    }

    /// Ends the list: members may stand behind it.
    pub fn close(&mut self) {
        self.body.push(b']');
    }

    /// Writes the members of an object, as they stand in its text, behind the list.
    ///
    /// # Errors
    /// As [`Listing::pay`].
    pub fn add_members(&mut self, object: &[u8]) -> Result<()> {
        self.pay(object.len().saturating_mul(COPIES))?;
        let members = object.strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}"));
        if let Some(members) = members.filter(|members| !members.is_empty()) {
            self.body.push(b',');
            self.body.extend_from_slice(members);
        }
        Ok(())
    }

    /// The answer, whose list was closed.
    pub fn end_as_is(mut self, status: u16) -> Reply {
        self.body.push(b'}');
        Reply::json(status, self.body).counted(self.memory)
    }
}
