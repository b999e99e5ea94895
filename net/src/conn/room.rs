//! Room of one core for connections and their requests: memory, and who gives way where it lacks.
//!
//! Always true
//! 1. Where memory lacks, strangers end that keep the server waiting: those first that take no answer, then
//!    those that came [`STRANGER_GRACE`] ago. Nobody who was served ends for it.
//! 2. Who asks for memory waits for what they give back, at most [`ROUNDS_MAX`] times [`ROUND`]; where
//!    nobody gives way the answer comes at once.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use env::budget::{Lease, Taken};
use env::{Clock, Env};

use super::door::CONNECTION_BYTES;
use super::waits::Waits;

/// One that comes waits so often for a place, or for memory, and so long each time.
pub(crate) const ROUNDS_MAX: usize = 50;
pub(crate) const ROUND: Duration = Duration::from_millis(1);

/// One in so many connections ends at a time, where others ask for room that speak for many.
pub(crate) const PRESSED_PART: usize = 64;

/// Where memory lacks a stranger has so long to shake hands and say who it is.
const STRANGER_GRACE: Duration = Duration::from_secs(1);

/// The room of one core.
pub struct Room<E> {
    env: E,
    lease: Lease,
    /// Connections that wait for their clients.
    pub(super) waits: Waits,
    /// Connections that are open.
    pub(super) open: Cell<usize>,
    /// Told how many are open where some end, or are refused, because memory lacks.
    told: Box<dyn Fn(usize)>,
}

impl<E: Env> Room<E> {
    /// Room of what `lease` gives. `told` hears how many connections are open, each time that memory lacks
    /// for one of them or for what it asks.
    pub fn new(env: E, lease: Lease, told: Box<dyn Fn(usize)>) -> Rc<Self> {
        Rc::new(Self { env, lease, waits: Waits::default(), open: Cell::new(0), told })
    }

    /// The way to memory that does not wait.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// So much memory, as soon as it is to be had; none where nobody gives way for it.
    pub async fn take(&self, bytes: usize) -> Option<Taken> {
        self.patiently(bytes, || self.lease.take(bytes)).await
    }

    /// What `attempt` gives, which needs so much memory: again and again, while strangers leave for it.
    pub async fn patiently<T>(
        &self,
        bytes: usize,
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        for _ in 0..ROUNDS_MAX {
            let given = attempt();
            if given.is_some() || !self.press(bytes) {
                return given;
            }
            self.env.clock().sleep(ROUND).await;
        }
        attempt()
    }

    /// Memory lacked for about so much: whether it may be worth to ask once more, after a while in which strangers
    /// leave for it.
    pub async fn gives_way(&self, bytes: usize) -> bool {
        let is_pressed = self.press(bytes);
        if is_pressed {
            self.env.clock().sleep(ROUND * 2).await;
        }
        is_pressed
    }

    /// Memory lacks: ends some strangers that wait, about as many as hold so much. False where none ends, and
    /// none does already.
    pub(crate) fn press(&self, bytes: usize) -> bool {
        let open = self.open.get();
        let at_once = (1 + open / PRESSED_PART).min(1 + bytes / CONNECTION_BYTES);
        if self.waits.leaving_count() >= at_once {
            return true;
        }
        let now = self.env.clock().monotonic();
        let found = self.waits.dismiss_strangers(at_once, (now, STRANGER_GRACE));
        if found {
            (self.told)(open);
        }
        found || self.waits.leaving_count() > 0
    }

    /// One was refused for want of memory.
    pub(super) fn tell(&self) {
        (self.told)(self.open.get());
    }
}
