//! One connection: bytes in, answers out, in order.
//!
//! One read, then every complete request in the buffer is begun, and all answers that are ready go
//! out in one write. A request that cannot answer at once (it waits for another core, or the log)
//! becomes a task of its own; its place in the row of answers is kept ([`row`]).
//!
//! States, by what is waited for
//!
//! | state   | waits for                         | ends by                                   |
//! |---------|-----------------------------------|-------------------------------------------|
//! | idle    | the first byte of a head          | close of the other side, idle time, stop  |
//! | head    | the rest of a head                | time for a head, stop                     |
//! | judging | who calls, before a large body    | (nothing)                                 |
//! | body    | the rest of a body                | too slow                                  |
//! | skipping| the rest of a body that is refused| too slow, stop                            |
//! | running | the first answer of the row       | (nothing: requests in flight finish)      |
//! | refused | nothing; what comes is thrown away| time to linger                            |
//!
//! Each that waits for its client ends where another needs its place, too ([`waits`]).
//!
//! Always true
//! 1. Answers leave in the order of their requests.
//! 2. Safe requests may run beside each other; any other runs alone, after all before it.
//! 3. Nothing is read while answers are owed, so what a connection holds is bounded by one buffer,
//!    one body, and [`Limits::running_max`] requests with their answers; where answers are large,
//!    by fewer ([`Row::room`]). What a stranger holds is bounded more tightly, and none of it is beyond its
//!    place in memory without being counted ([`Connection::hold`]).
//! 4. A request is in flight once its head is complete: a stop lets it finish, its body included.
//! 5. A message that is framed badly, ends early, or does not come in time, ends the connection. A request that is refused for its caller
//!    or for want of room is answered before its body is read, which is then thrown away.
//! 6. A client that has left while answers are owed is noticed within [`LOOK`], and told to the
//!    requests ([`Left`]); the connection ends when they have answered.

mod door;
mod incoming;
mod input;
mod room;
mod row;
#[cfg(test)]
mod tests;
mod waits;

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use engine::Left;
use env::budget::Taken;
use env::leftovers::Leaving;
use env::{Clock, Env, Spawn, Stream};
use http::head::{Finder, leading_blank_lines};
use http::{Fault, Method, Version};

pub use door::{CONNECTION_BYTES, Door, Entered, Memory, Refusal, Service};
use incoming::{Incoming, Skipping};
use input::Input;
pub use room::Room;
use row::{Manner, Row};
use waits::{Standing, Wait};

use crate::limits::{BUFFER_BYTES_MAX, BUFFER_BYTES_MIN, STRANGER_WRITE_BYTES, WRITE_BYTES};
use crate::reply::Reply;
use crate::request::{Judged, Request};

/// Serves one connection, which has its place, until it ends.
pub async fn serve<T: Stream, E: Env, S: Service>(stream: T, place: Entered<E, S>) {
    let door = Rc::clone(place.door());
    let mut connection = Connection {
        peer: Rc::from(stream.peer()),
        stream,
        input: Input::new(),
        ahead: None,
        finder: Finder::default(),
        incoming: None,
        skipping: None,
        held: None,
        row: Row::new(),
        left: Rc::default(),
        shown: Rc::default(),
        out: Vec::new(),
        out_memory: Vec::new(),
        head_began: None,
        refused: None,
        timer: None,
        last: false,
        is_used: false,
        used: place.came(),
        is_unread: false,
        number: place.number(),
        door: Rc::clone(&door),
    };
    connection.run().await;
    // To close in order is to wait for the other side: not where the place is another's already.
    if !door.is_dismissed(connection.number) {
        let (number, wait) = (connection.number, connection.wait());
        // Whether the other side hears of it no longer matters.
        door.until_ended(number, (wait, false), pin!(connection.stream.close())).await;
    }
}

/// How long an answer may take before it is looked whether its client is still there, and how often
/// after that.
const LOOK: Duration = Duration::from_secs(1);

/// How long a read may take of what has come already.
const COME: Duration = Duration::from_millis(100);

/// What a connection's place in memory holds of its buffers, as [`CONNECTION_BYTES`] was measured.
const HELD_BYTES_MIN: usize = 4 * BUFFER_BYTES_MIN;

/// What a request takes that waits beside others of its connection, beyond its head: some are many on each of
/// hundreds of connections.
const BESIDE_BYTES: usize = 4 << 10;

/// What is taken for a buffer that becomes larger than that.
const AHEAD_BYTES: usize = BUFFER_BYTES_MAX - HELD_BYTES_MIN;

/// One part in so many: where less memory is free, no answers pile up.
const SHORT_PART: usize = 4;

/// An answer of more bytes goes elsewhere when it is written: a core is not held to give its pages back.
const LARGE_BYTES: usize = 1 << 20;

/// No more of a piece is copied at a time while it is written.
const COPIED_BYTES_MAX: usize = 128 * 1024;

/// When a timer fires, and what ends then.
type Timer = Option<(Duration, Pin<Box<dyn Future<Output = ()>>>)>;

/// The other side is gone, or was too slow.
struct Gone;

/// Why no further request can begin now.
enum Need {
    /// More bytes.
    Bytes,
    /// The answers that are owed.
    Answers,
    /// To know who sends the body that is to come.
    Judgement,
    /// Memory for what came of a body.
    Memory,
    /// Nothing: the message is refused.
    Refuse(Refusal),
    /// Nothing: the last request has begun.
    End,
}

struct Connection<T, E: Env, S> {
    /// Address of the other side.
    peer: Rc<str>,
    stream: T,
    door: Rc<Door<E, S>>,
    number: u64,
    input: Input,
    /// What was taken for it, as long as it is larger than its place accounts for.
    ahead: Option<Taken>,
    finder: Finder,
    incoming: Option<Incoming>,
    skipping: Option<Skipping>,
    /// A request that must wait for those before it.
    held: Option<Request>,
    row: Rc<Row>,
    /// Tells requests that wait that nobody else does.
    left: Rc<Left>,
    /// Somebody who has shown who it is waits for an answer.
    shown: Rc<Cell<bool>>,
    out: Vec<u8>,
    /// What was taken for answers in it.
    out_memory: Vec<Arc<Taken>>,
    /// When the head that is not yet complete began.
    head_began: Option<Duration>,
    /// Once a message was refused, nothing after it is read.
    refused: Option<Refusal>,
    timer: Timer,
    /// No request follows those that have begun.
    last: bool,
    /// There was an answer to somebody who has shown who it is.
    is_used: bool,
    /// When it came, or had its last such answer.
    used: Duration,
    /// Whether the body of the request to begin will come is not known: nothing can follow it.
    is_unread: bool,
}

impl<T: Stream, E: Env, S: Service> Connection<T, E, S> {
    async fn run(&mut self) {
        while self.turn().await.is_ok() {}
    }

    /// Begins what can begin, then does the one thing that is next.
    async fn turn(&mut self) -> Result<(), Gone> {
        let need = self.begin_all();
        self.gather().await?;
        if !self.row.is_empty() {
            self.write_out().await?;
            self.answer_due().await;
            return Ok(());
        }
        match need {
            // The row has drained meanwhile, so there is room again.
            Need::Answers => {}
            Need::Bytes => {
                self.write_out().await?;
                self.ask_for_body().await?;
                self.read().await?;
            }
            Need::Judgement => {
                self.write_out().await?;
                let begun = self.door.env.clock().monotonic();
                self.judge().await;
                self.keep_time(begun);
            }
            Need::Memory => {
                self.write_out().await?;
                self.pay().await;
            }
            Need::Refuse(refusal) => {
                let head = self.incoming.as_ref().map(|incoming| &incoming.head);
                let reply = self.door.service.refuse(refusal, head);
                self.append(reply, Manner { close: true, ..Manner::default() }).await?;
                self.write_out().await?;
                self.linger().await;
                return Err(Gone);
            }
            Need::End => {
                self.write_out().await?;
                return Err(Gone);
            }
        }
        self.door.env.spawn().yield_if_needed().await;
        Ok(())
    }

    /// Ends when the first answer is there. Now and then it is looked whether the client has left: who
    /// waits for what nobody else needs is told then, and mostly gives up.
    async fn answer_due(&mut self) {
        let begun = self.door.env.clock().monotonic();
        // Who was served already is known however long this lasts.
        let is_first = !self.is_used;
        if is_first {
            self.door.room.waits.runs(self.number, &self.shown);
        }
        self.first_ready(begun).await;
        if is_first {
            self.door.room.waits.has_run(self.number);
        }
        self.keep_time(begun);
    }

    async fn first_ready(&mut self, begun: Duration) {
        let row = Rc::clone(&self.row);
        let mut deadline = begun + LOOK;
        loop {
            let ready = pin!(row.first_ready());
            let ready = until(self.door.env.clock(), &mut self.timer, deadline, ready).await;
            if ready.is_some() {
                return;
            }
            if self.stream.has_left() {
                self.left.tell();
                return row.first_ready().await;
            }
            deadline = self.door.env.clock().monotonic() + LOOK;
        }
    }

    /// Since `begun` nothing was read, whatever the client had sent: a body that is on its way is not late by that.
    fn keep_time(&mut self, begun: Duration) {
        if self.incoming.is_none() && self.skipping.is_none() {
            return;
        }
        let kept = self.door.env.clock().monotonic().saturating_sub(begun);
        if let Some(incoming) = &mut self.incoming {
            incoming.kept += kept;
        }
        if let Some(skipping) = &mut self.skipping {
            skipping.began += kept;
        }
    }

    /// Begins requests as long as whole ones are there and may run.
    fn begin_all(&mut self) -> Need {
        loop {
            if self.last {
                return Need::End;
            }
            if let Some(refusal) = self.refused {
                return Need::Refuse(refusal);
            }
            let write_bytes = self.write_bytes();
            if self.row.len() >= self.row.room(self.door.limits.running_max, write_bytes) {
                return Need::Answers;
            }
            let request = match self.held.take() {
                Some(request) => request,
                None => match self.next_request() {
                    Ok(Some(request)) => request,
                    Ok(None) if self.incoming.as_ref().is_some_and(|it| it.is_to_judge) => {
                        return Need::Judgement;
                    }
                    Ok(None) if self.incoming.as_ref().is_some_and(|it| it.lacking > 0) => {
                        return Need::Memory;
                    }
                    Ok(None) => return Need::Bytes,
                    Err(refusal) => {
                        self.refused = Some(refusal);
                        continue;
                    }
                },
            };
            let beside = request.is_safe() && self.row.is_safe();
            if !self.row.is_empty() && !beside {
                self.held = Some(request);
                return Need::Answers;
            }
            // The first is counted with the connection.
            let mut memory = None;
            if !self.row.is_empty() {
                let bytes = BESIDE_BYTES + request.head.held_bytes();
                memory = self.door.room.lease().take(bytes);
                if memory.is_none() {
                    self.held = Some(request);
                    return Need::Answers;
                }
            }
            self.begin(request, memory);
        }
    }

    /// Begins a request, for which so much was taken.
    fn begin(&mut self, request: Request, memory: Option<Taken>) {
        let keep_alive = request.head.keep_alive() && !std::mem::take(&mut self.is_unread);
        // After a stop, heads that have come are still answered; the last one says so.
        let is_over = || self.door.is_stopping() && !self.more_in_flight();
        self.last = !keep_alive || (is_over() && !self.stream.has_more());
        let manner = Manner {
            bare: request.head.method() == Method::Head,
            close: self.last,
            keep_alive: keep_alive && request.head.version() == Version::Http10,
        };
        let (safe, lane) = (request.is_safe(), request.lane);
        let is_refused = request.judged.as_ref().is_some_and(Judged::is_refusal);
        let turns = &self.door.turns;
        let (row, spot) = (Rc::clone(&self.row), (manner, safe));
        if !is_refused && !turns.is_free(lane) {
            let number = row.push(spot.0, spot.1, memory);
            let door = Rc::clone(&self.door);
            // Until its turn comes a request waits as it is: what answers it is many times as large.
            return turns.run(lane, async move {
                let answer = door.service.call(request).await;
                row.finish(number, answer);
            });
        }
        let mut task = self.door.service.call(request);
        let mut context = Context::from_waker(Waker::noop());
        match turns.begin(lane, || task.as_mut().poll(&mut context)) {
            Poll::Ready(mut reply) => {
                // It must not reset the connection before the client has read this.
                reply.close |= is_refused && self.last;
                row.push_ready(spot.0, spot.1, reply);
            }
            Poll::Pending => {
                let number = row.push(spot.0, spot.1, memory);
                turns.go_on(lane, async move { row.finish(number, task.await) });
            }
        }
    }

    /// Is the head of another request complete in the buffer?
    fn more_in_flight(&self) -> bool {
        let bytes = self.input.bytes();
        let bytes = &bytes[leading_blank_lines(bytes)..];
        matches!(Finder::default().find(bytes, &self.door.limits.http), Ok(Some(_)) | Err(_))
    }

    /// Tells a client that waits with its body to send it.
    async fn ask_for_body(&mut self) -> Result<(), Gone> {
        let ask = self.incoming.as_mut().is_some_and(|incoming| {
            // It has begun to send without being told.
            let waits = incoming.ask && incoming.body.is_empty();
            incoming.ask = false;
            waits
        });
        if ask {
            self.out.extend_from_slice(http::answer::CONTINUE);
            self.write_out().await?;
        }
        Ok(())
    }

    /// Moves the answers that are ready, in order, to the output.
    async fn gather(&mut self) -> Result<(), Gone> {
        while let Some((reply, manner)) = self.row.pop_ready() {
            let close = reply.close;
            if reply.is_of_known {
                self.is_used = true;
                self.used = self.door.env.clock().monotonic();
            }
            self.append(reply, manner).await?;
            if close {
                self.write_out().await?;
                self.linger().await;
                return Err(Gone);
            }
        }
        Ok(())
    }

    /// Appends one answer; a large body goes out from its own place.
    async fn append(&mut self, mut reply: Reply, manner: Manner) -> Result<(), Gone> {
        reply.write_head(&mut self.out, manner.close || reply.close, manner.keep_alive);
        if !manner.bare {
            if reply.body.len() > self.write_bytes() {
                let body = (std::mem::take(&mut reply.body), reply.memory.take());
                let body = Leaving::new(body, |(body, _)| body.capacity() > LARGE_BYTES);
                self.write_out().await?;
                let (body, memory) = &*body;
                let counted = memory.as_ref().map_or(0, |memory| memory.bytes());
                let uncounted = body.capacity().saturating_sub(counted);
                return self.write(body, uncounted).await;
            }
            self.out.extend_from_slice(&reply.body);
            self.out_memory.extend(reply.memory.take());
        }
        if self.out.len() > self.write_bytes() { self.write_out().await } else { Ok(()) }
    }

    /// Answers are gathered up to this, and written in such pieces; fewer wait where memory goes short, so that who
    /// does not read leaves some of it to others.
    fn write_bytes(&self) -> usize {
        if self.may_hold_much() { WRITE_BYTES } else { STRANGER_WRITE_BYTES }
    }

    /// It is known who asks, and there is memory for what many such connections hold beyond their places.
    fn may_hold_much(&self) -> bool {
        self.is_used && !self.door.room.lease().is_below(SHORT_PART)
    }

    async fn write_out(&mut self) -> Result<(), Gone> {
        if self.out.is_empty() {
            return Ok(());
        }
        let mut out = std::mem::take(&mut self.out);
        let memory = std::mem::take(&mut self.out_memory);
        let counted = memory.iter().map(|memory| memory.bytes()).sum();
        let written = self.write(&out, out.capacity().saturating_sub(counted)).await;
        drop(memory);
        out.clear();
        // A large answer was the exception: what each connection keeps is many times that.
        if out.capacity() <= BUFFER_BYTES_MIN {
            self.out = out;
        }
        written
    }

    /// Counts what the connection holds while it writes so many bytes, of which some are counted nowhere yet,
    /// beyond what its place accounts for; and the pieces to write in. A stranger for which there is none of
    /// that ends. An answer that somebody waits for who is known goes out, in pieces that its place has room for.
    async fn hold(&self, bytes: usize, uncounted: usize) -> Result<(Option<Taken>, usize), Gone> {
        let held = |piece: usize| {
            // A piece lies there once more, and more than once where it is encrypted.
            let copies = 2 * bytes.min(piece).min(COPIED_BYTES_MAX);
            let ahead = self.ahead.as_ref().map_or(0, Taken::bytes);
            (uncounted + copies + self.input.held()).saturating_sub(HELD_BYTES_MIN + ahead)
        };
        let piece = self.write_bytes();
        let (more, least) = (held(piece), held(STRANGER_WRITE_BYTES));
        if more == 0 {
            return Ok((None, piece));
        }
        if !self.is_used {
            let taken = self.door.room.lease().take(more);
            self.door.room.relieve(more);
            return taken.map(|taken| (Some(taken), piece)).ok_or(Gone);
        }
        if let Some(taken) = self.door.room.take(more).await {
            return Ok((Some(taken), piece));
        }
        Ok((self.door.room.lease().take(least), STRANGER_WRITE_BYTES))
    }

    /// Writes `bytes`, of whose memory so much is counted nowhere yet.
    async fn write(&mut self, bytes: &[u8], uncounted: usize) -> Result<(), Gone> {
        let (_held, piece_bytes) = self.hold(bytes.len(), uncounted).await?;
        for piece in bytes.chunks(piece_bytes) {
            let now = self.door.env.clock().monotonic();
            let deadline = now + self.door.limits.write;
            // Who does not take its answer keeps its place no better than who does not ask.
            let mut wait = self.wait();
            wait.standing = match wait.standing {
                Standing::Served => Standing::Busy,
                Standing::Stranger => Standing::Deaf,
                other => other,
            };
            // Who was too slow has had its time.
            if !matches!(self.refused, Some(Refusal::Fault(Fault::TooSlow))) {
                wait.asked = now;
            }
            let Self { stream, door, timer, number, .. } = self;
            let write = pin!(stream.write_all(piece));
            let writing = pin!(door.until_ended(*number, (wait, false), write));
            match until(door.env.clock(), timer, deadline, writing).await {
                Some(Some(Ok(()))) => {}
                Some(Some(Err(_)) | None) | None => return Err(Gone),
            }
            // Who takes an answer as fast as it comes makes no piece wait: the core is others', too.
            if bytes.len() > piece_bytes {
                door.env.spawn().yield_if_needed().await;
            }
        }
        Ok(())
    }

    /// Reads some bytes, to the buffer or to the body that is on its way.
    async fn read(&mut self) -> Result<(), Gone> {
        let now = self.door.env.clock().monotonic();
        let limits = self.door.limits;
        let deadline = match &self.incoming {
            Some(Incoming { body, began, kept, is_brief, .. }) => {
                *began + *kept + limits.body_time(body.len(), *is_brief)
            }
            None if self.skipping.is_some() => match &self.skipping {
                Some(Skipping { began, is_brief, bytes, .. }) => {
                    *began + limits.body_time(*bytes, *is_brief)
                }
                None => now,
            },
            None if self.input.is_empty() => {
                self.input.rest();
                now + if self.is_used { limits.idle } else { limits.unused }
            }
            None => *self.head_began.get_or_insert(now) + limits.head,
        };
        let in_flight = self.incoming.is_some();
        // What had come before a stop is read as before it; a part of a head is not waited for.
        let has_come = self.door.is_stopping() && !in_flight && self.stream.has_more();
        let deadline = if has_come { deadline.min(now + COME) } else { deadline };
        if !self.make_room() {
            self.refused = Some(Refusal::Memory { wanted_bytes: self.input.held() + AHEAD_BYTES });
            return Ok(());
        }
        let has_begun = in_flight || (self.skipping.is_none() && !self.input.is_empty());
        let wait = self.wait();
        let Self { stream, door, timer, incoming, input, number, .. } = self;
        let spare = match incoming {
            Some(incoming) => incoming.body.spare(crate::limits::BUFFER_BYTES_MAX),
            None => &mut [],
        };
        let direct = !spare.is_empty();
        let place = if direct { spare } else { input.space() };
        let read = {
            let read = pin!(stream.read(place));
            let coming = pin!(door.until_ended(*number, (wait, !in_flight && !has_come), read));
            until(door.env.clock(), timer, deadline, coming).await
        };
        let fault = match read {
            None => Some(Fault::TooSlow),
            Some(Some(Ok(0))) => Some(Fault::Malformed("it ends early")),
            _ => None,
        };
        if let Some(fault) = fault
            && has_begun
        {
            self.incoming = None;
            self.refused = Some(Refusal::Fault(fault));
            return Ok(());
        }
        let Some(Some(Ok(count @ 1..))) = read else { return Err(Gone) };
        match &mut self.incoming {
            Some(incoming) if direct => incoming.body.filled(count),
            _ => self.input.filled(count),
        }
        Ok(())
    }

    /// Lets the buffer grow or shrink before a read. What it is to be beyond its place in memory is taken before: false
    /// where there is none, and nothing could be read without.
    fn make_room(&mut self) -> bool {
        let mut is_much = self.may_hold_much();
        if self.ahead.is_none() && self.input.held_next(is_much) > HELD_BYTES_MIN {
            self.ahead = self.door.room.lease().take(AHEAD_BYTES);
            match self.ahead {
                Some(_) => self.door.room.relieve(AHEAD_BYTES),
                None => is_much = false,
            }
        }
        self.input.read_ahead(is_much);
        let held = self.input.held();
        if held <= HELD_BYTES_MIN && self.input.held_next(false) <= HELD_BYTES_MIN {
            self.ahead = None;
        }
        self.ahead.is_some() || self.input.held_next(false) <= HELD_BYTES_MIN
    }

    /// As what it waits for its client now.
    fn wait(&self) -> Wait {
        let judged = self.incoming.as_ref().and_then(|incoming| incoming.judged.as_ref());
        let is_known = judged.is_some_and(|judged| !matches!(judged, Judged::Anybody { .. }));
        let standing = match self.is_used {
            _ if is_known => Standing::Busy,
            true => Standing::Served,
            false => Standing::Stranger,
        };
        Wait { standing, since: self.used, asked: self.used }
    }

    /// Says that no more comes, and throws away what still does.
    async fn linger(&mut self) {
        let deadline = self.door.env.clock().monotonic() + self.door.limits.linger;
        let wait = self.wait();
        let Self { stream, door, timer, number, .. } = self;
        let lingering = pin!(async {
            let mut trash = vec![0; 16 * 1024];
            if stream.finish().await.is_ok() {
                while let Ok(1..) = stream.read(&mut trash).await {}
            }
        });
        let lingering = pin!(door.until_ended(*number, (wait, false), lingering));
        until(door.env.clock(), timer, deadline, lingering).await;
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// What `future` gives, or nothing once `deadline` has passed. The timer is kept for the next call:
/// one that fires too early is set anew, so that a busy connection rarely touches it.
async fn until<C: Clock, T>(
    clock: &C,
    timer: &mut Timer,
    deadline: Duration,
    mut future: Pin<&mut impl Future<Output = T>>,
) -> Option<T> {
    std::future::poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        loop {
            if timer.as_ref().is_none_or(|(fires, _)| *fires > deadline) {
                let left = deadline.saturating_sub(clock.monotonic());
                if left.is_zero() {
                    return Poll::Ready(None);
                }
                let clock = clock.clone();
                let sleep = Box::pin(async move { clock.sleep(left).await });
                *timer = Some((deadline, sleep));
            }
            let Some((_, sleep)) = timer else { unreachable!("set above") };
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            *timer = None;
        }
    })
    .await
}
