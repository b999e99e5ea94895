//! Room of one core for connections and their requests: memory, and who gives way where it lacks.
//!
//! Always true
//! 1. Where memory lacks, strangers end that keep the server waiting: those first that take no answer, then
//!    those that came [`STRANGER_GRACE`] ago. Nobody who was served ends for it.
//! 2. They end as soon as memory is scarce ([`Lease::is_scarce`]), each time that somebody takes some of what is
//!    left: that is for those who cannot wait here, as shards and searches.
//! 3. Who asks for memory waits for what they give back, at most [`ROUNDS_MAX`] times [`ROUND`]; where
//!    nobody gives way the answer comes at once.
//! 4. Who holds a large body and lacks memory to read it waits for other requests to end, one at a time: the first
//!    that finds too little. Who comes meanwhile with a large one is served or refused at once, and what the
//!    refused held is there for the others.

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

/// So long one waits for other requests to give back what they hold, and looks so often.
pub(crate) const IN_LINE_MAX: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);

/// Who asks for less is not kept from it by who waits: that is many times as much.
const PASSES_BYTES_MAX: usize = 4 << 20;

/// The room of one core.
pub struct Room<E> {
    env: E,
    lease: Lease,
    /// Connections that wait for their clients.
    pub(super) waits: Waits,
    /// Connections that are open.
    pub(super) open: Cell<usize>,
    /// Bytes that were taken while memory was scarce, and for which nobody was asked to leave yet.
    owed: Cell<usize>,
    /// When somebody was asked last.
    relieved: Cell<Duration>,
    /// Somebody waits for other requests to end.
    is_awaited: Cell<bool>,
    /// Told how many are open where some end, or are refused, because memory lacks.
    told: Box<dyn Fn(usize)>,
}

impl<E: Env> Room<E> {
    /// Room of what `lease` gives. `told` hears how many connections are open, each time that memory lacks
    /// for one of them or for what it asks.
    pub fn new(env: E, lease: Lease, told: Box<dyn Fn(usize)>) -> Rc<Self> {
        Rc::new(Self {
            env,
            lease,
            waits: Waits::default(),
            open: Cell::new(0),
            owed: Cell::new(0),
            relieved: Cell::default(),
            is_awaited: Cell::default(),
            told,
        })
    }

    /// The way to memory that does not wait.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// So much memory, as soon as it is to be had; none where nobody gives way for it.
    pub async fn take(&self, bytes: usize) -> Option<Taken> {
        self.patiently(bytes, || self.lease.take(bytes)).await
    }

    /// What `attempt` gives, which needs so much memory: again and again, while strangers leave for it. What is more
    /// than all that there is makes nobody leave.
    pub async fn patiently<T>(
        &self,
        bytes: usize,
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let rounds = if bytes > self.lease.total_bytes() { 0 } else { ROUNDS_MAX };
        let mut given = attempt();
        for _ in 0..rounds {
            if given.is_some() || !self.press(bytes) {
                break;
            }
            self.env.clock().sleep(ROUND).await;
            given = attempt();
        }
        match given {
            Some(_) => self.relieve(bytes),
            None => self.tell(),
        }
        given
    }

    /// What `attempt` gives, which needs so much memory beside what its request holds already: at once, or when
    /// others have ended. None where another waits already and it is not there at once, where even all of them hold
    /// too little, and after [`IN_LINE_MAX`].
    ///
    /// Many large bodies that come together would else take all there is, each find nothing left to be read with,
    /// and all be refused.
    pub async fn in_line<T>(
        &self,
        (bytes, held): (usize, usize),
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if bytes <= PASSES_BYTES_MAX {
            return self.patiently(bytes, attempt).await;
        }
        if self.is_awaited.replace(true) {
            let given = attempt();
            match given {
                Some(_) => self.relieve(bytes),
                None => self.tell(),
            }
            return given;
        }
        let _first = First(&self.is_awaited);
        let begun = self.env.clock().monotonic();
        let mut given = self.patiently(bytes, &mut attempt).await;
        while given.is_none() && self.lease.is_within_reach(bytes, held) {
            if self.env.clock().monotonic().saturating_sub(begun) >= IN_LINE_MAX {
                break;
            }
            self.env.clock().sleep(LOOK).await;
            given = attempt();
        }
        given
    }

    /// Somebody waits ([`Room::in_line`]).
    pub fn is_awaited(&self) -> bool {
        self.is_awaited.get()
    }

    /// So much was taken: where memory is scarce now, about as much is to come back. Strangers are looked for once a
    /// [`ROUND`]: that is a walk over all that wait.
    pub(crate) fn relieve(&self, bytes: usize) {
        if !self.lease.is_scarce() {
            return;
        }
        let owed = self.owed.get().saturating_add(bytes);
        let now = self.env.clock().monotonic();
        if now.saturating_sub(self.relieved.get()) < ROUND {
            return self.owed.set(owed);
        }
        self.relieved.set(now);
        self.owed.set(0);
        self.press(owed);
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

/// The one that waits, until this is dropped.
struct First<'a>(&'a Cell<bool>);

impl Drop for First<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
