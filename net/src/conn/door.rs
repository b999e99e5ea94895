//! What the connections of one core share: the service behind them, their bounds, and the word
//! that ends them.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use base::hash::Map;
use env::budget::Taken;
use env::turns::{Lane, Turns};
use env::{Clock, Env, Spawn};
use http::{Fault, Head};

use super::room::{PRESSED_PART, ROUND, ROUNDS_MAX, Room};
use super::waits::{Standing, Wait};
use crate::limits::Limits;
use crate::reply::Reply;
use crate::request::{Judged, Request};

/// What answers requests.
pub trait Service: 'static {
    /// Answers a request. The future is polled at once, and becomes a task where it must wait.
    fn call(&self, request: Request) -> Pin<Box<dyn Future<Output = Reply>>>;

    /// Whose work a request is, as far as is known without asking anybody.
    fn lane(&self, head: &Head, peer: &str) -> Lane;

    /// Whether the body of a request is a form or a few words, which nobody needs long to send.
    fn is_brief(&self, head: &Head) -> bool;

    /// Judges the caller of a request whose large body is not read yet; none where nobody has to say who it
    /// is.
    fn judge(&self, head: Head, peer: Rc<str>) -> Pin<Box<dyn Future<Output = Option<Judged>>>>;

    /// The answer to a message that is refused before it is a request; `head` is its head, where that has
    /// come.
    fn refuse(&self, refusal: Refusal, head: Option<&Head>) -> Reply;
}

/// Why a message does not become a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not framed as it must be, or too large.
    Fault(Fault),
    /// There is no memory for its body now.
    Memory {
        /// How much it asked for.
        wanted_bytes: usize,
    },
}

/// Why there is no memory for a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Its lane has its part already.
    Share,
    /// There is none, unless somebody gives way.
    Memory,
}

/// The door of one core.
pub struct Door<E: Env, S> {
    /// The outside.
    pub(crate) env: E,
    /// Bounds of each connection.
    pub(crate) limits: Limits,
    /// Who answers.
    pub(crate) service: S,
    /// Whose turn it is.
    pub(crate) turns: Turns<E>,
    /// Memory, and who gives way.
    pub(crate) room: Rc<Room<E>>,
    /// What the bodies of each lane take.
    shares: RefCell<Map<Lane, Rc<Cell<usize>>>>,
    stopping: Cell<bool>,
    next: Cell<u64>,
    /// How often in a row no room was made for others.
    in_vain: Cell<usize>,
    /// Who waits for the last connection to end.
    closed: RefCell<Option<Waker>>,
}

impl<E: Env, S: Service> Door<E, S> {
    /// A door before `service`.
    pub fn new(
        limits: Limits,
        (env, turns): (E, Turns<E>),
        room: Rc<Room<E>>,
        service: S,
    ) -> Rc<Self> {
        Rc::new(Self {
            env,
            limits,
            service,
            turns,
            room,
            shares: RefCell::default(),
            stopping: Cell::new(false),
            next: Cell::new(0),
            in_vain: Cell::new(0),
            closed: RefCell::default(),
        })
    }

    /// Who answers.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// Connections that are open.
    pub fn open_count(&self) -> usize {
        self.room.open.get()
    }

    /// From now on no request begins but those whose heads are complete; connections end when
    /// theirs are answered.
    pub fn stop(&self) {
        self.stopping.set(true);
        self.room.waits.wake_all();
    }

    /// Ends when no connection is open. The time for it is the caller's.
    pub async fn closed(&self) {
        poll_fn(|context| {
            if self.room.open.get() == 0 {
                return Poll::Ready(());
            }
            *self.closed.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.get()
    }

    /// Is a connection to end because another needs its place?
    pub(crate) fn is_dismissed(&self, number: u64) -> bool {
        self.room.waits.is_dismissed(number)
    }

    /// What `coming` gives, bytes of a client mostly; none where the connection is to end meanwhile:
    /// another needs its place, or, where it `ends_on_stop`, the door closes.
    pub(crate) async fn until_ended<T>(
        &self,
        number: u64,
        (wait, ends_on_stop): (Wait, bool),
        mut coming: Pin<&mut impl Future<Output = T>>,
    ) -> Option<T> {
        poll_fn(|context| {
            if let Poll::Ready(come) = coming.as_mut().poll(context) {
                self.room.waits.has_come(number);
                return Poll::Ready(Some(come));
            }
            let is_over = ends_on_stop && self.is_stopping();
            match self.room.waits.poll(number, wait, context) || is_over {
                true => Poll::Ready(None),
                false => Poll::Pending,
            }
        })
        .await
    }

    /// Memory for a body. One lane may hold a bounded part of all, and no large bodies more while
    /// memory is scarce: what it has in already needs memory, too, and to refuse now is cheaper than
    /// after a wait. Its only request may have more.
    pub(crate) fn take(&self, lane: Lane, bytes: usize) -> Result<Memory, Lack> {
        let mut shares = self.shares.borrow_mut();
        if shares.len() > SHARES_MAX {
            shares.retain(|_, share| share.get() > 0);
        }
        let share = Rc::clone(shares.entry(lane).or_default());
        drop(shares);
        let (bytes_max, lease) = (self.limits.lane_bytes_max, self.room.lease());
        let is_much = share.get().saturating_add(bytes) > bytes_max
            || (bytes > SCARCE_BYTES_MAX && lease.is_below(SPARE_PART));
        if share.get() > 0 && is_much {
            return Err(Lack::Share);
        }
        let taken = lease.take(bytes).ok_or(Lack::Memory)?;
        share.set(share.get() + bytes);
        Ok(Memory { taken, more: Vec::new(), share, bytes_max })
    }

    /// As [`Door::take`], for a caller that is let in: waits for strangers to give way.
    pub(crate) async fn take_patiently(&self, lane: Lane, bytes: usize) -> Option<Memory> {
        let taken = self.room.patiently(bytes, || match self.take(lane, bytes) {
            Err(Lack::Memory) => None,
            told => Some(told.ok()),
        });
        taken.await.flatten()
    }

    /// One more has no place but another's.
    pub fn is_full(&self) -> bool {
        self.room.open.get() >= self.limits.connections_max
    }

    /// Ends some of the connections that wait for their clients, but those that leave already.
    pub fn make_room(&self) {
        let at_once = 1 + self.room.open.get() / PRESSED_PART;
        if self.room.waits.leaving_count() >= at_once {
            return;
        }
        let now = self.env.clock().monotonic();
        let is_urgent = self.in_vain.get() >= PRESSED_MAX;
        let found = self.room.waits.dismiss(self.room.open.get(), at_once, (now, is_urgent));
        self.in_vain.set(if found { 0 } else { self.in_vain.get() + 1 });
    }

    /// Counts a connection in; none where there are as many as may be, or as memory allows, and none of them
    /// waits for its client.
    ///
    /// Where it needs another's place, all others have their turn before: of many that come at once, those
    /// counted in find that they wait, those dismissed leave, and answers that are small are written.
    pub async fn enter(self: &Rc<Self>) -> Option<Entered<E, S>> {
        for round in 0..ROUNDS_MAX {
            if round > 0 {
                self.env.clock().sleep(ROUND).await;
            } else if self.is_full() {
                self.env.spawn().give_way().await;
            }
            let entered = self.enter_now(round + 1 == ROUNDS_MAX);
            if entered.is_some() {
                return entered;
            }
        }
        None
    }

    /// As [`Door::enter`], whatever the others are about to do; it `is_urgent` where it will not be tried again.
    pub(crate) fn enter_now(self: &Rc<Self>, is_urgent: bool) -> Option<Entered<E, S>> {
        let now = self.env.clock().monotonic();
        let places = self.limits.connections_max;
        // Looking for them takes as long for one as for many.
        let at_once = 1 + places / AT_ONCE_PART;
        if let Some(surplus) = self.room.open.get().checked_sub(places)
            && (surplus >= LEAVING_MAX
                || (self.room.waits.leaving_count() <= surplus
                    && !self.room.waits.dismiss(self.room.open.get(), at_once, (now, is_urgent))))
        {
            return None;
        }
        let Some(memory) = self.room.lease().take(CONNECTION_BYTES) else {
            if !self.room.press(CONNECTION_BYTES) {
                self.room.tell();
            }
            return None;
        };
        self.room.relieve(CONNECTION_BYTES);
        let number = self.next.get();
        self.next.set(number + 1);
        self.room.open.set(self.room.open.get() + 1);
        Some(Entered { door: Rc::clone(self), number, came: now, _memory: memory })
    }
}

/// What a connection takes by itself, measured: its task, its buffers, those of the runtime.
pub const CONNECTION_BYTES: usize = 48 << 10;

/// One in so many places is made free at a time for who comes, and more where the acceptor asks, which
/// speaks for many ([`PRESSED_PART`]).
const AT_ONCE_PART: usize = 256;

/// So often in a row the acceptor asks in vain, before anybody's place will do.
const PRESSED_MAX: usize = 200;

/// Connections that were dismissed for others and are still on their way out, at most.
const LEAVING_MAX: usize = 64;

/// One part in so many of all memory is left to who does not pile up bodies.
const SPARE_PART: usize = 4;

/// Larger bodies than this are not taken in beside others of their lane while memory is scarce.
const SCARCE_BYTES_MAX: usize = 16 << 10;

/// Above so many lanes, those without a body in flight are forgotten.
const SHARES_MAX: usize = 1024;

/// Memory of a request, until this is dropped.
#[derive(Debug)]
pub struct Memory {
    taken: Taken,
    /// What was taken for it elsewhere.
    more: Vec<Taken>,
    /// What its lane holds in all.
    share: Rc<Cell<usize>>,
    bytes_max: usize,
}

impl Memory {
    /// How much it is.
    pub fn bytes(&self) -> usize {
        self.taken.bytes() + self.more.iter().map(Taken::bytes).sum::<usize>()
    }

    /// Makes `taken` a part of it, even where that is more than the lane may have: the lane's next
    /// request feels it.
    pub fn adopt(&mut self, taken: Taken) {
        self.share.set(self.share.get() + taken.bytes());
        self.more.push(taken);
    }

    /// Its lane may hold so many bytes more.
    pub fn may_grow(&self, bytes: usize) -> bool {
        let others = self.share.get() - self.bytes();
        others == 0 || self.share.get().saturating_add(bytes) <= self.bytes_max
    }

    /// Takes `bytes` more, or changes nothing: false.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        let grown = self.may_grow(bytes) && self.taken.grow(bytes);
        if grown {
            self.share.set(self.share.get() + bytes);
        }
        grown
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.share.set(self.share.get() - self.bytes());
    }
}

/// A connection that counts as open until this is dropped.
pub struct Entered<E: Env, S> {
    door: Rc<Door<E, S>>,
    number: u64,
    came: Duration,
    _memory: Taken,
}

impl<E: Env, S: Service> Entered<E, S> {
    pub(crate) fn door(&self) -> &Rc<Door<E, S>> {
        &self.door
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// When it came.
    pub(crate) fn came(&self) -> Duration {
        self.came
    }

    /// Does what comes before the first request, as a handshake. None where the door closes meanwhile,
    /// or another needs the place: who connects and says nothing is as idle as who never asks.
    pub async fn while_wanted<T>(&self, opening: impl Future<Output = T>) -> Option<T> {
        let wait = Wait { standing: Standing::Stranger, since: self.came, asked: self.came };
        self.door.until_ended(self.number, (wait, true), pin!(opening)).await
    }
}

impl<E: Env, S> Drop for Entered<E, S> {
    fn drop(&mut self) {
        let door = &self.door;
        door.room.waits.remove(self.number);
        door.room.open.set(door.room.open.get() - 1);
        if door.room.open.get() == 0
            && let Some(waker) = door.closed.borrow_mut().take()
        {
            waker.wake();
        }
    }
}
