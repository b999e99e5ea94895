//! Requests on their way in: heads, then bodies, or what is refused of them.
//!
//! Always true
//! 1. Memory for a body is taken before it is read.
//! 2. Of a large body nothing is read before its caller is known, and all requests before it are
//!    answered: they may change who the caller is.

use std::rc::Rc;
use std::time::Duration;

use env::turns::Lane;
use env::{Bytes, Clock, Env, Stream};
use http::head::{Finder, leading_blank_lines};
use http::{Body, Fault, Framing, Head, Method};

use super::door::Lack;
use super::{Connection, Memory, Refusal, Service};
use crate::limits::JUDGED_BYTES_MIN;
use crate::request::{Judged, Request};

/// Memory that is taken ahead for a body without a known length.
const CHUNKED_STEP_BYTES: usize = 256 * 1024;

/// A request whose body is on its way.
pub(super) struct Incoming {
    pub(super) head: Head,
    pub(super) body: Body,
    pub(super) memory: Option<Memory>,
    pub(super) began: Duration,
    /// So long the server did not read on, for others before it were answered: the client has that in addition.
    pub(super) kept: Duration,
    /// It has no longer than a form has, however long it is.
    pub(super) is_brief: bool,
    /// The client waits to be told to go on.
    pub(super) ask: bool,
    pub(super) lane: Lane,
    pub(super) judged: Option<Judged>,
    /// Nothing of the body is read before the caller is known.
    pub(super) is_to_judge: bool,
    /// So many bytes of memory are to be had before more of the body is read.
    pub(super) lacking: usize,
}

/// The body of a request that was refused, on its way to nowhere.
pub(super) struct Skipping {
    pub(super) body: Body,
    pub(super) began: Duration,
    pub(super) is_brief: bool,
    pub(super) bytes: usize,
}

impl<T: Stream, E: Env, S: Service> Connection<T, E, S> {
    /// The next whole request of the buffer.
    pub(super) fn next_request(&mut self) -> Result<Option<Request>, Refusal> {
        if !self.skip()? {
            return Ok(None);
        }
        if self.incoming.is_none() {
            self.incoming = self.next_head()?;
        }
        let Some(incoming) = &mut self.incoming else { return Ok(None) };
        if incoming.is_to_judge || incoming.lacking > 0 {
            return Ok(None);
        }
        let is_refused = incoming.judged.as_ref().is_some_and(Judged::is_refusal);
        if !incoming.body.is_done() && !is_refused {
            let taken = incoming.body.feed(self.input.bytes())?;
            self.input.consume(taken);
            incoming.pay();
            if incoming.lacking > 0 {
                return Ok(None);
            }
        }
        if !incoming.body.is_done() && !is_refused {
            return Ok(None);
        }
        let Some(incoming) = self.incoming.take() else { unreachable!("looked at above") };
        let Incoming { head, mut body, memory, began, kept, is_brief, ask, lane, judged, .. } =
            incoming;
        if !body.is_done() {
            if ask {
                // Told no, it may send the body or not.
                self.is_unread = true;
            } else {
                let mut rest = std::mem::replace(&mut body, Body::none());
                rest.discard();
                let began = began + kept;
                self.skipping = Some(Skipping { body: rest, began, is_brief, bytes: 0 });
            }
        }
        let body = if body.is_empty() { Bytes::empty() } else { Bytes::from(body.into_bytes()) };
        let peer = Rc::clone(&self.peer);
        let (left, shown) = (Rc::clone(&self.left), Rc::clone(&self.shown));
        let (arrived, whole) = (began, self.door.env.clock().monotonic());
        let request =
            Request { head, body, memory, peer, lane, arrived, whole, judged, left, shown };
        Ok(Some(request))
    }

    /// Throws the rest of a refused body away; true where all of it has come.
    fn skip(&mut self) -> Result<bool, Refusal> {
        let Some(skipping) = &mut self.skipping else { return Ok(true) };
        let taken = skipping.body.feed(self.input.bytes())?;
        self.input.consume(taken);
        skipping.bytes += taken;
        let bytes_max = self.door.limits.http.body_bytes_max;
        if skipping.bytes > bytes_max.saturating_mul(2) {
            return Err(Fault::BodyTooLong(bytes_max).into());
        }
        if skipping.body.is_done() {
            self.skipping = None;
        }
        Ok(self.skipping.is_none())
    }

    fn next_head(&mut self) -> Result<Option<Incoming>, Refusal> {
        let limits = &self.door.limits.http;
        let blank = leading_blank_lines(self.input.bytes());
        if blank > 0 {
            self.input.consume(blank);
            self.finder = Finder::default();
        }
        let Some((head, len)) = self.finder.take(self.input.bytes(), limits)? else {
            return Ok(None);
        };
        self.input.consume(len);
        let fault = head.host_fault().or_else(|| http::Target::new(head.target()).fault());
        let of_server = head.target() == b"*" && head.method() != Method::Options;
        let fault = fault.or(of_server.then_some("a request target for OPTIONS alone"));
        if let Some(why) = fault {
            return Err(Fault::Malformed(why).into());
        }
        let body = Body::new(head.framing(), limits)?;
        self.head_began = None;
        let began = self.door.env.clock().monotonic();
        let ask = head.expects_continue() && !body.is_done();
        let lane = self.door.service.lane(&head, &self.peer);
        let is_brief = self.door.service.is_brief(&head);
        let judged = self.door.turns.admits(lane).err().map(Judged::Crowded);
        let is_large = announced(head.framing()) > JUDGED_BYTES_MIN;
        let is_to_judge = judged.is_none() && is_large;
        let mut incoming = Incoming {
            head,
            body,
            memory: None,
            began,
            kept: Duration::ZERO,
            is_brief,
            ask,
            lane,
            judged,
            is_to_judge,
            lacking: 0,
        };
        let bytes = announced(incoming.head.framing());
        if incoming.judged.is_none() && !is_to_judge && bytes > 0 {
            match self.door.take(lane, bytes) {
                Ok(memory) => incoming.memory = Some(memory),
                Err(Lack::Share) => {
                    incoming.judged = Some(Judged::NoMemory { wanted_bytes: bytes });
                }
                // For who is let in, strangers give way; for a stranger nobody does.
                Err(Lack::Memory) => incoming.is_to_judge = true,
            }
        }
        Ok(Some(incoming))
    }

    /// Asks who sends the body that is to come; all requests before it are answered.
    pub(super) async fn judge(&mut self) {
        let Some(mut incoming) = self.incoming.take() else { return };
        incoming.judged =
            self.door.service.judge(incoming.head.clone(), Rc::clone(&self.peer)).await;
        incoming.is_to_judge = false;
        if !incoming.judged.as_ref().is_some_and(Judged::is_refusal) {
            incoming.lane = self.door.service.lane(&incoming.head, &self.peer);
            let bytes = announced(incoming.head.framing());
            if let Some(Judged::Anybody { bytes_max }) = incoming.judged
                && bytes > bytes_max
            {
                self.refused = Some(Fault::BodyTooLong(bytes_max).into());
            } else if bytes > 0 {
                incoming.memory = match incoming.judged {
                    Some(Judged::Anybody { .. }) => self.door.take(incoming.lane, bytes).ok(),
                    _ => self.door.take_patiently(incoming.lane, bytes).await,
                };
                if incoming.memory.is_none() {
                    incoming.judged = Some(Judged::NoMemory { wanted_bytes: bytes });
                }
            }
        }
        self.incoming = Some(incoming);
    }

    /// Takes the memory that a body lacks which has come without being announced, or refuses it.
    pub(super) async fn pay(&mut self) {
        let Some(incoming) = &mut self.incoming else { return };
        let wanted = std::mem::take(&mut incoming.lacking);
        let Some(memory) = &mut incoming.memory else { return };
        let (have, may_grow) = (memory.bytes(), memory.may_grow(wanted));
        let mut grow = || memory.grow(wanted).then_some(());
        let paid = match incoming.judged {
            Some(Judged::Anybody { bytes_max }) if have + wanted > bytes_max => {
                self.refused = Some(Fault::BodyTooLong(bytes_max).into());
                return;
            }
            Some(Judged::Anybody { .. }) => grow().is_some(),
            _ if !may_grow => false,
            _ => self.door.room.patiently(wanted, grow).await.is_some(),
        };
        if !paid {
            self.refused = Some(Refusal::Memory { wanted_bytes: have + wanted });
        }
    }
}

impl Incoming {
    /// Takes memory for what has come without being announced, or notes that it lacks.
    fn pay(&mut self) {
        let Some(memory) = &mut self.memory else { return };
        let have = memory.bytes();
        if self.body.len() <= have {
            return;
        }
        let wanted = self.body.len() - have + CHUNKED_STEP_BYTES;
        let is_too_much =
            matches!(self.judged, Some(Judged::Anybody { bytes_max }) if have + wanted > bytes_max);
        if is_too_much || !memory.grow(wanted) {
            self.lacking = wanted;
        }
    }
}

/// Memory that a body needs, as far as its head tells.
fn announced(framing: Framing) -> usize {
    match framing {
        Framing::Length(len) => usize::try_from(len).unwrap_or(usize::MAX),
        Framing::Chunked => CHUNKED_STEP_BYTES,
        Framing::Empty => 0,
    }
}
