//! Group commit: one committer gathers what was appended into batches, and tells each group when
//! its batch and all before it are synced.
//!
//! Always true
//! 1. At most [`IN_FLIGHT_MAX`] batches are under way; groups are told in log order.
//! 2. After a failure nobody is told anything but the failure.
//!
//! Not here: when a batch starts (`state`), files (`rotate`), bytes (`frame`).
//!
//! [`IN_FLIGHT_MAX`]: crate::IN_FLIGHT_MAX

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use base::checksum::Checksum;
use base::planted::{Fault, planted};
use env::{Clock, Env, File, Spawn};

use crate::file::LogFile;
use crate::frame::{self, BLOCK, Place};
use crate::group::Group;
use crate::payload::Payload;
use crate::state::{Flight, Forming, Step};
use crate::writer::Inner;
use crate::{Error, LogPosition, Record, Result};

/// Large batches are check-summed, copied and written in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;

impl<E: Env> Inner<E> {
    /// The committer: runs until the log is closed or fails.
    pub(crate) async fn commit(self: Rc<Self>) {
        let mut alarm = Alarm::default();
        loop {
            let done = match self.next_step(&mut alarm).await {
                Step::End => break,
                Step::Wait | Step::WaitUntil(_) => unreachable!("it waits itself"),
                Step::Fresh => self.go_on_in_a_small_file().await,
                Step::Say => self.say().await,
                Step::Batch => {
                    let forming = self.state.borrow_mut().take_first();
                    let forming = forming.expect("a batch is forming");
                    let Forming { records, bytes, group, .. } = forming;
                    self.write(records, bytes, group).await
                }
            };
            if let Err(error) = done {
                self.fail(error);
            }
        }
        // Whoever closed the log may remove its folder next.
        self.made().await;
        let told = self.state.borrow_mut().end();
        if let Some((group, told)) = told {
            group.tell(told);
        }
    }

    async fn next_step(&self, alarm: &mut Alarm) -> Step {
        poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            loop {
                let now = self.env.clock().monotonic();
                match state.step(now, self.config.idle_after) {
                    Step::Wait => break,
                    Step::WaitUntil(at) if alarm.rings(&self.env, now, at, context) => {}
                    Step::WaitUntil(_) => break,
                    step => return Poll::Ready(step),
                }
            }
            state.sleep_committer(context);
            Poll::Pending
        })
        .await
    }

    /// Builds a batch and lets it start; the group is told when it has landed.
    pub(crate) async fn write(
        self: &Rc<Self>,
        records: Vec<Record>,
        payload_bytes: usize,
        group: Rc<Group>,
    ) -> Result<()> {
        let batch_bytes = frame::batch_bytes(payload_bytes);
        assert_eq!(batch_bytes % BLOCK, 0);
        let payload_checksum = self.checksum(&records).await;
        if let Err(error) = self.make_room(batch_bytes as u64).await {
            group.tell(Err(error.clone()));
            return Err(error);
        }
        let mut state = self.state.borrow_mut();
        if let Some(failure) = state.failure() {
            group.tell(Err(failure));
            return Ok(());
        }
        let position = state.last.position.next();
        let (file, offset) = state.files.place(position, batch_bytes as u64);
        let place = Place {
            position,
            term: state.term,
            synced: if planted(Fault::BelieveUnsynced) { position } else { state.synced() },
            file: file.id,
            shard: self.config.shard,
            previous_checksum: state.last.checksum,
            records_before: state.last.records,
        };
        let header = frame::header(&place, &records, payload_checksum);
        assert_eq!(header.batch_bytes(), batch_bytes, "sizes are reckoned as they are written");
        let header = header.encode();
        let checksum = frame::header_checksum(&header);
        let record_count = records.len();
        let told = Rc::clone(&group);
        let flight = Flight { position, record_count, bytes: payload_bytes, group, landed: false };
        state.begin(checksum, batch_bytes, flight);
        drop(state);
        if planted(Fault::AcknowledgeEarly) {
            told.tell(Ok(position));
        }
        let inner = Rc::clone(self);
        self.env.spawn().spawn(async move {
            match put::<E>(&file, offset, &header, &records, batch_bytes).await {
                Ok(()) => inner.landed(position),
                Err(error) if error.kind == env::ErrorKind::NoSpace => {
                    inner.fail(Error::Starved(error));
                }
                Err(error) => inner.fail(Error::Failed(error)),
            }
        });
        if self.state.borrow().files.wants_next(self.env.clock().monotonic()) {
            self.prepare_next();
        }
        Ok(())
    }

    /// The checksum of a payload, reckoned in steps.
    async fn checksum(&self, records: &[Record]) -> u32 {
        let (mut payload, mut sum) = (Payload::new(records), Checksum::new());
        loop {
            let piece = payload.next(PIECE_BYTES);
            if piece.is_empty() {
                return sum.finish();
            }
            sum.update(piece);
            if piece.len() == PIECE_BYTES {
                self.env.spawn().yield_if_needed().await;
            }
        }
    }

    /// Writes an empty batch, whose header says that the last one is synced.
    async fn say(self: &Rc<Self>) -> Result<()> {
        {
            let mut state = self.state.borrow_mut();
            if !state.files.has_room_for_a_word() {
                // Not worth a new file, and no reason to fail on a full disk.
                state.hushed = state.last.position;
                return Ok(());
            }
        }
        self.write(Vec::new(), 0, Rc::default()).await
    }

    /// A batch is synced: all groups up to the first that is not are told.
    fn landed(&self, position: LogPosition) {
        let now = self.env.clock().monotonic();
        let told = self.state.borrow_mut().land(position, now);
        for flight in told {
            flight.group.tell(Ok(flight.position));
        }
    }

    /// The log takes nothing any more; all who wait are told why.
    pub(crate) fn fail(&self, error: Error) {
        let (groups, watchers) = self.state.borrow_mut().fail(error.clone());
        for group in groups {
            group.tell(Err(error.clone()));
        }
        for waker in watchers {
            waker.wake();
        }
    }

    /// The log goes on in a file of the smallest size, whose first batch is empty.
    async fn go_on_in_a_small_file(self: &Rc<Self>) -> Result<()> {
        let fresh = self.state.borrow_mut().fresh.take().expect("somebody asked for it");
        let started = self.start_small_file().await;
        if let Err(error) = started {
            fresh.tell(Err(error.clone()));
            return if error.is_refusal() { Ok(()) } else { Err(error) };
        }
        self.write(Vec::new(), 0, fresh).await
    }
}

/// Writes a batch at `offset`, piece by piece, and syncs it.
async fn put<E: Env>(
    file: &LogFile<E>,
    offset: u64,
    header: &[u8],
    records: &[Record],
    batch_bytes: usize,
) -> env::Result<()> {
    let mut payload = Payload::new(records);
    let mut written = 0;
    while written < batch_bytes {
        let len = (batch_bytes - written).min(PIECE_BYTES);
        let mut buffer = file.file.buffer(len);
        let mut bytes = buffer.as_mut();
        if written == 0 {
            let (front, rest) = bytes.split_at_mut(header.len());
            front.copy_from_slice(header);
            bytes = rest;
        }
        // Zeros follow where the payload ends.
        payload.fill(bytes);
        file.file.write_at(buffer, offset + written as u64).await?;
        written += len;
    }
    assert!(payload.next(1).is_empty(), "all of the payload lies in the batch");
    if planted(Fault::SkipSync) {
        return Ok(());
    }
    // Whatever a failed sync says, what it did not write may be thrown away while a read still shows
    // it: not even a full disk is a reason to read the log back and go on in this process.
    file.file.sync_data().await.map_err(|error| match error.kind {
        env::ErrorKind::NoSpace => env::Error::new(env::ErrorKind::Io, error.message),
        _ => error,
    })?;
    // Somebody took the file away under us: the sync has kept what no start will find.
    match file.file.is_linked() {
        true => Ok(()),
        false => {
            let what = format!("{} was removed while it was written", file.path.display());
            Err(env::Error::new(env::ErrorKind::NotFound, what))
        }
    }
}

type Sleep = Pin<Box<dyn Future<Output = ()>>>;

/// A sleep that is kept while it is early enough.
#[derive(Default)]
struct Alarm {
    set: Option<(Duration, Sleep)>,
}

impl Alarm {
    /// True where it is time to look again; else `context` is woken at `at` or before.
    fn rings<E: Env>(
        &mut self,
        env: &E,
        now: Duration,
        at: Duration,
        context: &mut Context<'_>,
    ) -> bool {
        if self.set.as_ref().is_none_or(|(set, _)| *set > at) {
            let clock = env.clock().clone();
            let pause = at.saturating_sub(now);
            self.set = Some((at, Box::pin(async move { clock.sleep(pause).await })));
        }
        let (_, sleep) = self.set.as_mut().expect("set above");
        let rings = sleep.as_mut().poll(context).is_ready();
        if rings {
            self.set = None;
        }
        rings
    }
}
