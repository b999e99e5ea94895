//! A connection in memory: bytes arrive late and in pieces of any size.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use env::{Error, ErrorKind, Result, Stream};

use crate::life::Life;
use crate::world::World;

/// Bytes that may be under way in one direction.
const PIPE_BYTES_MAX: usize = 64 << 10;

/// One direction.
#[derive(Default)]
struct Pipe {
    bytes: VecDeque<u8>,
    /// The writer has said that no more comes.
    ended: bool,
    /// The reader is gone, or the connection was reset.
    broken: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    fn wake(&mut self) {
        for waker in [self.reader.take(), self.writer.take()].into_iter().flatten() {
            waker.wake();
        }
    }
}

/// One end of a simulated connection. Dropping it closes it.
pub struct SimStream {
    life: Life,
    incoming: Rc<RefCell<Pipe>>,
    outgoing: Rc<RefCell<Pipe>>,
    peer: &'static str,
}

pub(crate) fn pair(world: &Rc<World>) -> (SimStream, SimStream) {
    let life = Life::new(world);
    let (there, back) = (Rc::default(), Rc::default());
    let near = SimStream {
        life: life.clone(),
        incoming: Rc::clone(&back),
        outgoing: Rc::clone(&there),
        peer: "10.0.0.2:2000",
    };
    let far = SimStream { life, incoming: there, outgoing: back, peer: "10.0.0.1:1000" };
    (near, far)
}

impl SimStream {
    /// Breaks the connection: both sides get [`ErrorKind::Disconnected`].
    pub fn reset(&self) {
        for pipe in [&self.incoming, &self.outgoing] {
            let mut pipe = pipe.borrow_mut();
            pipe.broken = true;
            pipe.bytes.clear();
            pipe.wake();
        }
    }

    fn disconnected(&self) -> Error {
        Error::new(ErrorKind::Disconnected, format!("connection with {}: reset", self.peer))
    }
}

impl Stream for SimStream {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let broken = self.disconnected();
        let count = poll_fn(|context| {
            let mut pipe = self.incoming.borrow_mut();
            if pipe.broken {
                return Poll::Ready(Err(broken.clone()));
            }
            if pipe.bytes.is_empty() && !pipe.ended {
                pipe.reader = Some(context.waker().clone());
                return Poll::Pending;
            }
            let most = pipe.bytes.len().min(buffer.len());
            if most == 0 {
                return Poll::Ready(Ok(0));
            }
            // Any cut is possible, but mostly all comes at once.
            let world = self.life.any_world();
            let count =
                if world.percent(50) { most } else { world.below(most as u64) as usize + 1 };
            for (to, from) in buffer.iter_mut().zip(pipe.bytes.drain(..count)) {
                *to = from;
            }
            pipe.wake();
            Poll::Ready(Ok(count))
        })
        .await?;
        self.life.any_world().record("receive", &[count as u64]);
        Ok(count)
    }

    async fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        let broken = self.disconnected();
        while !bytes.is_empty() {
            let delay = self.life.any_world().latency();
            self.life.later(delay, |_| ()).await;
            let count = poll_fn(|context| {
                let mut pipe = self.outgoing.borrow_mut();
                if pipe.broken || pipe.ended {
                    return Poll::Ready(Err(broken.clone()));
                }
                let room = PIPE_BYTES_MAX - pipe.bytes.len();
                if room == 0 {
                    pipe.writer = Some(context.waker().clone());
                    return Poll::Pending;
                }
                let count = room.min(bytes.len());
                pipe.bytes.extend(&bytes[..count]);
                pipe.wake();
                Poll::Ready(Ok(count))
            })
            .await?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        self.close().await
    }

    async fn close(&mut self) -> Result<()> {
        let mut pipe = self.outgoing.borrow_mut();
        pipe.ended = true;
        pipe.wake();
        Ok(())
    }

    fn has_left(&self) -> bool {
        let pipe = self.incoming.borrow();
        pipe.ended || pipe.broken
    }

    fn has_more(&self) -> bool {
        !self.incoming.borrow().bytes.is_empty()
    }

    fn peer(&self) -> &str {
        self.peer
    }
}

impl Drop for SimStream {
    fn drop(&mut self) {
        let mut outgoing = self.outgoing.borrow_mut();
        outgoing.ended = true;
        outgoing.wake();
        let mut incoming = self.incoming.borrow_mut();
        incoming.broken = true;
        incoming.wake();
    }
}
