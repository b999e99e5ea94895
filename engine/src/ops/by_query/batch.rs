//! One batch of work by query: what is written for the documents that were found, and how long the next one waits.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use base::ShardId;
use env::budget::Taken;
use env::{Bytes, Clock, Env};
use search::result::Hit;

use super::{ByQueryCall, Done, FAILURES_MAX, Lacking, Part, Routing, Work};
use crate::core::Core;
use crate::error::Result;
use crate::host::call::ShardCall;
use crate::left::Left;
use crate::ops::Refresh;
use crate::ops::bulk::{BulkOutcome, BulkRequest};
use crate::ops::document::{VersionType, WriteAction, WriteItem, WriteResult};
use crate::task::TaskControl;

/// How often a write that was rejected is tried again: for a minute in all, as Elasticsearch's backoff has it.
const RETRIES_MAX: u32 = 11;

/// The wait before try number `round + 1`.
fn retry_wait(round: u32) -> Duration {
    let more = (0.8 * f64::from(round)).exp() as u64 - 1;
    Duration::from_millis(500 + 10 * more)
}

/// So often somebody who waits looks whether the task is to end.
const NAP: Duration = Duration::from_secs(1);

/// Documents that are written together, at most.
const PIECE_ITEMS: usize = 1_000;

/// And bytes of them.
const PIECE_BYTES: usize = 4 << 20;

/// How often names are there while they are written: with those that are tried again, and in what is said of them.
const TEXT_COPIES: usize = 4;

/// Documents of a batch that are to be written together.
#[derive(Default)]
pub(super) struct Piece {
    /// In the order in which they were found.
    items: Vec<WriteItem>,
    bytes: usize,
    /// What was taken for documents that scripts made.
    rooms: Vec<Taken>,
}

impl Piece {
    /// With one more, where there is one.
    pub(super) fn take(&mut self, item: Option<WriteItem>) {
        if let Some(item) = item {
            let texts = [Some(&item.index), item.id.as_ref(), item.routing.as_ref()];
            let texts: usize = texts.into_iter().flatten().map(String::len).sum();
            self.bytes += item.source.len() + texts * TEXT_COPIES;
            self.items.push(item);
        }
    }

    /// No more is to come.
    pub(super) fn is_full(&self) -> bool {
        self.items.len() >= PIECE_ITEMS || self.bytes >= PIECE_BYTES
    }
}

impl<E: Env> Core<E> {
    /// Writes some of a batch; what was rejected is tried again for a while.
    pub(super) async fn write_piece(
        self: &Rc<Self>,
        (part, control): (&Part<'_>, &TaskControl),
        piece: Piece,
        done: &mut Done,
    ) {
        let Piece { items, rooms: _rooms, .. } = piece;
        if let Some(lacking) = &part.call.lacking {
            self.wait_for_copies((part, control), lacking, items, done).await;
            return;
        }
        let mut todo = items;
        for round in 0..=RETRIES_MAX {
            let kept = todo.clone();
            let request = BulkRequest { items: todo, refresh: Refresh::No };
            let outcomes = self.bulk(part.gate, request).await.items;
            todo = Vec::new();
            for (outcome, item) in outcomes.into_iter().zip(kept) {
                let rejected = matches!(&outcome.result, Err(error) if error.status == 429);
                if rejected && round < RETRIES_MAX && control.cancelled().is_none() {
                    todo.push(item);
                } else {
                    note(part, outcome, done);
                }
            }
            if todo.is_empty() {
                return;
            }
            part.progress.count(|status| status.bulk_retries += 1);
            // Whoever asked may leave: the work goes on.
            self.nap(&Left::default(), control, retry_wait(round)).await;
        }
    }

    /// Takes memory for what a script made of a document. Where there is none, the documents before it are written
    /// first.
    pub(super) async fn pay_for_made(
        self: &Rc<Self>,
        (part, control): (&Part<'_>, &TaskControl),
        bytes: usize,
        piece: &mut Piece,
        done: &mut Done,
    ) -> Result<()> {
        let room = match self.lease.take(bytes) {
            Some(room) => room,
            None => {
                // Copies that lack are waited for once.
                if part.call.lacking.is_none() {
                    self.write_piece((part, control), std::mem::take(piece), done).await;
                }
                self.room("a document that a script made", bytes)?
            }
        };
        piece.rooms.push(room);
        Ok(())
    }

    /// Waits for copies that will not come, unless the task is to end or nobody waits for it any more; then tells so of
    /// each document that would be written. Of those that may not be, that is told.
    async fn wait_for_copies(
        self: &Rc<Self>,
        (part, control): (&Part<'_>, &TaskControl),
        lacking: &Lacking,
        items: Vec<WriteItem>,
        done: &mut Done,
    ) {
        let mut waits = false;
        for item in items.into_iter().take(FAILURES_MAX) {
            let cause = match self.may_write(part.gate, &item, false) {
                Ok(()) => lacking.error.clone(),
                Err(denied) => denied,
            };
            waits |= cause.status != 403;
            done.failed(item.index, item.id, cause);
        }
        if waits {
            self.nap(part.left, control, lacking.wait).await;
        }
    }

    /// Waits so long, unless the task is to end or nobody waits for it any more.
    async fn nap(self: &Rc<Self>, left: &Left, control: &TaskControl, wait: Duration) {
        let end = self.env.clock().monotonic() + wait;
        let mut waits = true;
        while waits && control.cancelled().is_none() {
            let rest = end.saturating_sub(self.env.clock().monotonic());
            if rest.is_zero() {
                return;
            }
            waits = left.or(self.env.clock().sleep(rest.min(NAP))).await.is_some();
        }
    }

    /// Waits so long that the batch took as long as its speed says.
    pub(super) async fn throttle(
        self: &Rc<Self>,
        (part, control): (&Part<'_>, &TaskControl),
        begun: Duration,
        count: u64,
    ) {
        let from = self.env.clock().monotonic();
        loop {
            let speed = part.progress.speed.get();
            if !speed.is_finite() || control.cancelled().is_some() {
                break;
            }
            let until = begun + Duration::from_secs_f64((count as f64 / f64::from(speed)).min(1e9));
            let now = self.env.clock().monotonic();
            let Some(wait) = until.checked_sub(now).filter(|wait| !wait.is_zero()) else { break };
            part.progress.waits_until.set(Some(until));
            let wait_ms = wait.as_millis() as u64;
            part.progress.count(|status| status.throttled_until_ms = wait_ms);
            // Whichever comes first: the time, or a word about the speed.
            let mut word = control.word();
            let mut sleep = Box::pin(self.env.clock().sleep(wait));
            std::future::poll_fn(|context| {
                let spoken = std::pin::Pin::new(&mut word).poll(context).is_ready();
                if spoken || sleep.as_mut().poll(context).is_ready() {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        }
        let waited = self.env.clock().monotonic().saturating_sub(from).as_millis() as u64;
        part.progress.waits_until.set(None);
        part.progress.count(|status| {
            status.throttled_until_ms = 0;
            status.throttled_ms += waited;
        });
    }

    pub(super) async fn refresh_touched(self: &Rc<Self>, names: &BTreeSet<String>) {
        let state = self.state();
        for index in names.iter().filter_map(|name| state.index(name)) {
            for number in 0..index.settings.shard_count() {
                let shard = ShardId { index: index.uuid, number };
                // A shard that does not serve has told so when it was written to.
                let _ = self.ask(shard, |reply| ShardCall::Refresh { reply }).await;
            }
        }
    }
}

/// What is written for a hit; a hit without what the work needs is passed over.
pub(super) fn item(call: &ByQueryCall, hit: Hit) -> Option<WriteItem> {
    let base = WriteItem {
        action: WriteAction::Index,
        index: hit.index,
        id: hit.id,
        routing: hit.routing,
        if_seq_no: hit.seq_no,
        if_primary_term: hit.primary_term,
        version: None,
        version_type: VersionType::Internal,
        require_alias: false,
        require_data_stream: false,
        only_absent: false,
        pipeline: call.pipeline.clone(),
        templates: None,
        source: Bytes::empty(),
        update: None,
    };
    match &call.work {
        Work::Delete => Some(WriteItem { action: WriteAction::Delete, ..base }),
        Work::Update => Some(WriteItem { source: hit.source?, ..base }),
        Work::Reindex(to) => {
            let counted = to.version_type != VersionType::Internal;
            Some(WriteItem {
                action: if to.create { WriteAction::Create } else { WriteAction::Index },
                index: to.index.clone(),
                routing: match &to.routing {
                    Routing::Keep => base.routing.clone(),
                    Routing::Discard => None,
                    Routing::Set(value) => Some(value.clone()),
                },
                if_seq_no: None,
                if_primary_term: None,
                version: hit.version.filter(|_| counted).map(|version| version as i64),
                version_type: to.version_type,
                require_alias: to.require_alias,
                source: hit.source?,
                ..base
            })
        }
    }
}

fn note(part: &Part<'_>, outcome: BulkOutcome, done: &mut Done) {
    match outcome.result {
        Ok(written) => {
            part.progress.count(|status| match written.result {
                WriteResult::Created => status.created += 1,
                WriteResult::Updated | WriteResult::Noop => status.updated += 1,
                WriteResult::Deleted | WriteResult::NotFound => status.deleted += 1,
            });
            if !done.touched.contains(&written.index) {
                done.touched.insert(written.index);
            }
        }
        Err(cause) => {
            let is_conflict = cause.status == 409;
            if is_conflict {
                part.progress.count(|status| status.version_conflicts += 1);
            }
            if !(is_conflict && part.call.proceed) {
                done.failed(outcome.index, outcome.id, cause);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_rejected_is_tried_for_a_minute() {
        let waits: Vec<u128> =
            (0..RETRIES_MAX).map(|round| retry_wait(round).as_millis()).collect();
        assert_eq!(waits, [500, 510, 530, 600, 730, 1030, 1700, 3190, 6500, 13_880, 30_290]);
    }
}
