//! Makes an executor look at its rings while tasks keep it busy.
//!
//! glommio looks for finished I/O, and hands new I/O to the kernel, only when its queue of tasks
//! is empty or its *latency ring* has an event; without one, a busy core does so every 10 ms, when
//! the preemption timer fires. A write with its sync beside a busy task then takes 40 ms
//! (measured; 0.1 ms alone, 1.1 ms with this file, at 2 % of the busy task's time). A shorter
//! timer loses wakes (see `executor`). So a task that yields makes such an event itself: a datagram
//! to a receive that waits in the latency ring.
//!
//! Always true
//! 1. A receive that was poked waits again two looks later: its task must run, and the next look
//!    must hand it to the kernel. Hence [`PAIRS`] of them take turns.
//! 2. Only a receive that the kernel has is poked: a look came after it was asked for. One that is
//!    poked earlier makes no event, and when the next look hands it over it ends at once; where that
//!    happened to all of them they were never there again when a poke came, and the core was back at
//!    its 10 ms for good.
//! 3. Receives have a queue of tasks for themselves. In the one where hundreds of connections stand
//!    that a look woke, they came too late: all had been poked, and for a quarter of a second at a
//!    time the core was back at its 10 ms.
//! 4. Where a poke does not work, nothing is lost: the timer still fires.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use env::{Error, Result};
use glommio::net::UnixDatagram;
use glommio::{Latency, Shares};

/// One to be poked, one whose task runs, one that is handed to the kernel; the others because several
/// may come back of one look (measured: a sync beside a busy task took 8.9 ms with 16, 10.3 with 4).
const PAIRS: usize = 8;

struct Pair {
    sends: UnixDatagram,
    /// How many looks there had been when its receive was asked for; none while it is poked.
    asked: Rc<Cell<Option<u64>>>,
}

/// One executor's pokes.
pub(crate) struct Poke {
    pairs: Vec<Pair>,
    next: Cell<usize>,
    /// Looks that are known of.
    looks: Rc<Cell<u64>>,
}

impl Poke {
    /// For the executor that this runs on.
    pub(crate) fn new() -> Result<Self> {
        let mut pairs = Vec::with_capacity(PAIRS);
        let looks = Rc::new(Cell::new(0));
        let queue = glommio::executor().create_task_queue(
            Shares::default(),
            Latency::NotImportant,
            "pokes",
        );
        for _ in 0..PAIRS {
            let (sends, receives) = UnixDatagram::pair()
                .map_err(|error| Error::from_io(&error.into(), "making a pair of sockets"))?;
            let asked = Rc::new(Cell::new(None));
            let receiving = receive(receives, Rc::clone(&asked), Rc::clone(&looks));
            glommio::spawn_local_into(receiving, queue)
                .map_err(|error| Error::from_io(&error.into(), "a queue of tasks for pokes"))?
                .detach();
            pairs.push(Pair { sends, asked });
        }
        Ok(Self { pairs, next: Cell::new(0), looks })
    }

    /// Makes the executor look at its rings as soon as the task yields, where a receive waits.
    pub(crate) fn poke(&self) {
        let Some(at) = self.waiting() else { return };
        self.next.set((at + 1) % PAIRS);
        let pair = &self.pairs[at];
        pair.asked.set(None);
        // The socket's buffer is empty, so the send ends at once; where it does not, dropping it
        // takes it back.
        let mut context = Context::from_waker(Waker::noop());
        if pin!(pair.sends.send(&[0])).poll(&mut context).is_pending() {
            log::debug!("a poke did not go out");
        }
    }

    /// A pair whose receive the kernel has, in turn.
    fn waiting(&self) -> Option<usize> {
        let first = self.next.get();
        let waits =
            |at: &usize| self.pairs[*at].asked.get().is_some_and(|it| it < self.looks.get());
        (first..first + PAIRS).map(|at| at % PAIRS).find(waits)
    }

    /// The executor looks at its rings before any other task runs: what was asked for until now is
    /// with the kernel then.
    pub(crate) fn looks(&self) {
        self.looks.set(self.looks.get() + 1);
    }

    /// Whether a poke would reach a receive.
    #[cfg(test)]
    pub(crate) fn reaches(&self) -> bool {
        self.waiting().is_some()
    }

    /// Looks that are known of.
    #[cfg(test)]
    pub(crate) fn look_count(&self) -> u64 {
        self.looks.get()
    }
}

async fn receive(socket: UnixDatagram, asked: Rc<Cell<Option<u64>>>, looks: Rc<Cell<u64>>) {
    let mut byte = [0];
    loop {
        asked.set(Some(looks.get()));
        if let Err(error) = socket.recv(&mut byte).await {
            log::warn!("pokes end: {error}");
            return;
        }
    }
}

impl std::fmt::Debug for Poke {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Poke")
    }
}
