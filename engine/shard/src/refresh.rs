//! Refreshing: the buffer becomes a segment in memory, and the next view shows it.
//!
//! Always true
//! 1. One refresh at a time. A view shows exactly the operations below the point at which its
//!    buffer was frozen: nothing that came while it was sealed.
//! 2. A refresh by time comes early enough that its view is published within the interval.
//! 3. Nothing wakes an idle core: the timer runs only while something is unseen.
//!
//! A shard whose interval is not set sleeps while nobody searches: the refresh is passed over and
//! `deferred` raised (`reader`), until a search or a caller asks.

use std::rc::Rc;
use std::time::Duration;

use base::SeqNo;
use env::{Bytes, Clock, Env, Spawn};
use segment::bytes::zblock::Dictionary;
use segment::{Check, Segment};

use crate::buffer::seal::{self, Renumbered};
use crate::config::RefreshInterval;
use crate::error::{Error, Result};
use crate::shard::{Inner, Phase};

/// How much earlier than its interval a refresh begins, beside the time that the last one took.
const HEAD_START: Duration = Duration::from_millis(100);

impl<E: Env> Inner<E> {
    /// Makes all that is applied now searchable.
    pub(crate) async fn refresh(self: &Rc<Self>) -> Result<()> {
        let target = self.state.borrow().applied;
        if self.state.borrow().visible >= target {
            return Ok(());
        }
        let inner = Rc::clone(self);
        self.run(async move { inner.refresh_upto(target).await }).await
    }

    /// Refreshes unless the view covers `target` when its turn comes.
    pub(crate) async fn refresh_upto(self: &Rc<Self>, target: u64) -> Result<()> {
        let _pass = self.refreshing.pass().await;
        // Whoever had the turn before may have shown it already.
        if self.state.borrow().visible >= target {
            return Ok(());
        }
        match self.failure() {
            // Memory is all that a refresh needs.
            None | Some(Error::Starved(_)) => {}
            Some(error) => return Err(error),
        }
        let started = self.env.clock().monotonic();
        let refreshed = self.refresh_now().await;
        if let Err(error) = &refreshed {
            self.fail(error);
        }
        self.count(started, |counters| &mut counters.refresh);
        let took = self.env.clock().monotonic().saturating_sub(started);
        self.refresh_took.set(took);
        self.is_asleep.set(false);
        self.schedule_refresh();
        self.schedule_forgetting();
        self.after_change();
        refreshed
    }

    async fn refresh_now(self: &Rc<Self>) -> Result<()> {
        let inline_bytes_max = self.config.borrow().seal_inline_bytes_max;
        let frozen = {
            // A document that is half in would be half in the segment.
            let _pass = self.entering.pass().await;
            self.state.borrow_mut().freeze()
        };
        let sealed = match frozen {
            None => None,
            Some((buffer, id)) => {
                let is_small = buffer.size_bytes() <= inline_bytes_max;
                let mapping = self.mapping.borrow().clone();
                let dictionary = self.dictionary(buffer.docs().live_count() as u64);
                let job = move || -> segment::Result<Option<(Segment, Renumbered)>> {
                    let sealed = seal::seal(&buffer, id, &mapping, dictionary.as_ref())?;
                    let Some(file) = sealed.file else { return Ok(None) };
                    let segment = Segment::open(id, Bytes::from(file), Check::Lazy)?;
                    Ok(Some((segment, sealed.renumbered)))
                };
                let sealed = if is_small { job() } else { self.work(job).await? };
                sealed.map_err(|error| Error::in_segment(id, &error))?
            }
        };
        let sealed = match sealed {
            None => None,
            Some((segment, renumbered)) => {
                let (segment, file) = self.keep_replayed(segment).await?;
                Some((segment, renumbered, file))
            }
        };
        let thawed = self.state.borrow_mut().thaw(sealed);
        let (view, frozen) = thawed.map_err(|error| self.segment_error(&error))?;
        self.publish(view);
        let visible = self.state.borrow().visible;
        self.touch.visible.raise(visible);
        self.listeners.rise(visible);
        if frozen.buffer.size_bytes() > inline_bytes_max {
            // Letting go of many sources takes a while.
            let buffer = frozen.buffer;
            let inner = Rc::clone(self);
            self.env.spawn().spawn(async move {
                // If the workers are busy, it is let go here.
                let _ = inner.env.spawn().work(move || drop(buffer)).await;
            });
        }
        Ok(())
    }

    /// What a segment of so many documents takes over from those that are there.
    pub(crate) fn dictionary(&self, docs: u64) -> Option<Dictionary> {
        let state = self.state.borrow();
        segment::stored::heir(state.segments.iter().map(|held| &held.segment), docs)
    }

    /// Shows a view to all cores.
    pub(crate) fn publish(&self, view: std::sync::Arc<segment::View>) {
        self.view.store(view);
    }

    /// Waits until `seq_no` is searchable; true where a refresh was forced.
    pub(crate) async fn wait_for(self: &Rc<Self>, seq_no: SeqNo) -> Result<bool> {
        {
            let state = self.state.borrow();
            if state.visible > seq_no.get() {
                return Ok(false);
            }
            // It would wait for ever.
            assert!(state.seq_no_next > seq_no.get(), "callers wait for what they wrote");
        }
        if self.listeners.len() >= self.config.borrow().refresh_listeners_max {
            self.refresh().await?;
            return Ok(true);
        }
        let told = self.listeners.wait(seq_no.get());
        // A listener wakes a shard that sleeps.
        self.is_asleep.set(false);
        self.schedule_refresh();
        match told.await {
            Some(()) => Ok(false),
            None => Err(self.failure().unwrap_or(Error::Closed)),
        }
    }

    /// Refreshes without anybody waiting for it.
    pub(crate) fn refresh_soon(self: &Rc<Self>) {
        if self.refreshing.is_taken() {
            return;
        }
        let target = self.state.borrow().applied;
        let inner = Rc::clone(self);
        self.env.spawn().spawn(async move {
            // A failure is kept by the shard and told to everybody who asks.
            let _ = inner.refresh_upto(target).await;
        });
    }

    /// Sees to it that what is unseen is shown when the interval has passed.
    pub(crate) fn schedule_refresh(self: &Rc<Self>) {
        if self.phase.get() != Phase::Open
            || self.is_asleep.get()
            || !self.state.borrow().is_dirty()
        {
            return;
        }
        let Some(period) = self.config.borrow().refresh_interval.period() else { return };
        if self.refresh_is_due.replace(true) {
            return;
        }
        let early = (HEAD_START + self.refresh_took.get()).min(period / 2);
        let inner = Rc::downgrade(self);
        let clock = self.env.clock().clone();
        let pause = period - early;
        self.env.spawn().spawn(async move {
            clock.sleep(pause).await;
            let Some(inner) = inner.upgrade() else { return };
            inner.refresh_is_due.set(false);
            inner.refresh_by_time();
        });
    }

    /// Has nobody searched it for `index.search.idle.after`?
    pub(crate) fn is_search_idle(&self) -> bool {
        let now = self.env.clock().monotonic().as_millis() as u64;
        let unsearched_ms = now.saturating_sub(self.touch.searched_ms.get());
        u128::from(unsearched_ms) >= self.config.borrow().idle_after.as_millis()
    }

    fn refresh_by_time(self: &Rc<Self>) {
        if self.phase.get() != Phase::Open || !self.state.borrow().is_dirty() {
            return;
        }
        let is_wanted = match self.config.borrow().refresh_interval {
            RefreshInterval::Never => return,
            RefreshInterval::Every(_) => true,
            RefreshInterval::Unset => !self.is_search_idle() || self.listeners.len() > 0,
        };
        if is_wanted {
            self.refresh_soon();
        } else {
            self.is_asleep.set(true);
            self.touch.deferred.raise(self.state.borrow().applied);
        }
    }
}
