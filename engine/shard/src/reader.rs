//! What searching cores hold of a shard: its published view, and two numbers that only rise.
//!
//! A shard whose refresh interval is not set stops refreshing while nobody searches. When it passes
//! a refresh over, it raises `deferred` to the operation that waits to be shown; a search that finds
//! `deferred` above its view asks the home core for a refresh and waits for it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use env::meter::{Counter, Span};
use env::published::Published;
use env::rising::RisingNumber;
use segment::View;

/// A shard as any core may read it; cheap to clone, `Send`.
#[derive(Clone)]
pub struct Reader {
    /// What a search sees.
    pub view: Arc<Published<View>>,
    pub(crate) shared: Arc<Touch>,
}

/// Numbers shared with the home core.
pub(crate) struct Touch {
    /// Milliseconds of the monotonic clock at the last search.
    pub(crate) searched_ms: RisingNumber,
    /// One above the last operation that a passed-over refresh left unseen.
    pub(crate) deferred: RisingNumber,
    /// One above the last operation that the published view shows.
    pub(crate) visible: RisingNumber,
    /// What others have done with the shard.
    pub(crate) uses: Uses,
    /// How it was opened.
    pub(crate) opening: Opening,
}

/// How a shard was opened: all 0 for one that was made, empty, but for its reign.
#[derive(Debug)]
pub struct Opening {
    /// When that began, in milliseconds since 1970.
    pub begin_ms: RisingNumber,
    /// Microseconds until it served.
    pub took_us: RisingNumber,
    /// 1: it was there before.
    pub existing: RisingNumber,
    /// Files of its segments; of one that another index's documents were copied into, once they were.
    pub files: RisingNumber,
    /// Their bytes.
    pub bytes: RisingNumber,
    /// Operations that were replayed out of the log.
    pub replayed: RisingNumber,
    /// The primary term in which it serves.
    pub primary_term: RisingNumber,
}

impl Default for Opening {
    fn default() -> Self {
        let [begin_ms, took_us, existing, files, bytes, replayed, primary_term] =
            [(); 7].map(|()| RisingNumber::new(0));
        Self { begin_ms, took_us, existing, files, bytes, replayed, primary_term }
    }
}

/// What other cores have done with a shard, counted where they do it.
#[derive(Debug, Default)]
pub struct Uses {
    /// Finding what matches; each takes the time of the whole search's query phase.
    pub query: Span,
    /// Reading the hits.
    pub fetch: Span,
    /// Suggesting.
    pub suggest: Span,
    /// Scrolls, for as long as they are open.
    pub scroll: Span,
    /// Points in time, for as long as they are open.
    pub moment: Span,
    /// Batches of writes, from their coming until they are answered.
    pub bulk: Span,
    /// Bytes of the sources in those.
    pub bulk_bytes: Counter,
    /// Answers that are kept.
    pub answers: KeptAnswers,
}

/// Answers to searches of a shard that are kept, on any core.
#[derive(Debug, Default)]
pub struct KeptAnswers {
    /// Searches that one was there for.
    pub found: Counter,
    /// Searches that one might have been there for.
    pub missed: Counter,
    /// Those that went for want of room.
    pub pressed: Counter,
    /// Bytes of those that came; of an answer from several shards a part counts at each.
    pub came_bytes: Counter,
    /// Bytes of those that went.
    pub gone_bytes: Counter,
    /// How often all were cleared: what was kept before is told no more.
    pub cleared: Counter,
}

impl KeptAnswers {
    /// What is held now, about: cores count for themselves.
    pub fn held_bytes(&self) -> u64 {
        self.came_bytes.get().saturating_sub(self.gone_bytes.get())
    }
}

/// Whether a search may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// The published view is as new as the refresh interval promises.
    Fresh,
    /// The shard slept: ask its home for [`crate::Shard::refresh`] first.
    RefreshFirst,
}

impl Reader {
    /// Tells the shard that it is searched, at `now` of the monotonic clock.
    pub fn touch(&self, now: Duration) -> Touched {
        self.shared.searched_ms.raise(now.as_millis() as u64);
        if self.shared.deferred.get() > self.shared.visible.get() {
            Touched::RefreshFirst
        } else {
            Touched::Fresh
        }
    }
}

impl Reader {
    /// Both are of one opening of one shard.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// How the shard was opened.
    pub fn opening(&self) -> &Opening {
        &self.shared.opening
    }

    /// What was done with the shard.
    pub fn uses(&self) -> &Uses {
        &self.shared.uses
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reader")
    }
}
