//! How a plan meets a segment: matches in windows, blocks named before they are read (D6).
//!
//! Two contracts. A [`Filter`] knows which documents match; it fills windows of 4,096 documents with
//! bits. A [`Scorer`] knows scores too; it gives lists of documents with their scores, in windows
//! that it chooses, so that it can pass over those that are worth nothing.
//!
//! Both can be *filled* (they lead) or *probed* (they follow: of these documents, which match?).
//! Either way the caller first calls `prepare…` until it says yes. It says no when it has named
//! blocks that are not there, or when the turn is used up; then the caller returns to the host,
//! which fetches, or lets others run, and calls again with the same arguments. A yes is followed by
//! the `fill` or `probe` that was prepared, or by the same question again. Composites do their
//! work inside `prepare`, as the candidates of the lead decide which blocks the followers need; what
//! is left for `fill` and `probe` cannot fail and cannot wait.
//!
//! Always true
//! 1. Windows and probes ask about rising documents: each begins at or after the end of the last.
//! 2. A score is never negative. [`NO_MATCH`] stands for "does not match".
//! 3. What a `max_score` says is never below any score of its range, float for float.
//! 4. Deleted documents match; the collector takes them out.
//! 5. A damaged block counts as empty, and the segment's fault says so: whoever drives looks there
//!    after each turn.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use segment::Missing;

use crate::aggs::scripted::Board;

pub mod adapt;
pub mod adjusted;
pub mod all;
pub mod all_terms;
pub mod and;
pub mod area;
pub mod bits;
pub mod blockmax;
pub mod blocks;
pub mod build;
pub mod column;
pub mod function;
pub mod gathered;
pub mod kept;
pub mod lent;
pub mod long;
mod members;
pub mod multi_phrase;
pub mod nested;
pub mod not;
pub mod or;
pub mod overlap;
pub mod phrase;
pub mod places;
pub mod script;
pub mod set;
pub mod sloppy;
pub mod summed;
pub mod term;
pub mod union;

/// Documents of a window of bits; windows begin at its multiples.
pub const WINDOW: u32 = 4096;

/// What a unit of work takes, in nanoseconds.
const UNIT_NS: u128 = 6;

/// A bit for each document of a window.
pub type Bits = [u64; WINDOW as usize / 64];

/// What a cursor stands on when there is nothing more.
pub const END: u32 = u32::MAX;

/// A look-up costs about so many documents read in order.
const PROBE: u64 = 8;

/// Score of a document that does not match.
pub const NO_MATCH: f32 = -1.0;

/// One turn: what may be done before the host is asked again.
pub struct Turn<'a> {
    /// Blocks named that are not there.
    pub missing: &'a mut Missing,
    /// Work left, in documents looked at (a few nanoseconds each).
    work: i64,
    /// The time, where whoever gave the turn has a clock.
    clock: Option<&'a dyn Fn() -> Duration>,
    /// Every block is there: nothing need be named.
    pub resident: bool,
    /// What scripts of aggregations made of the documents at hand.
    pub board: Option<Arc<Board>>,
    /// Others wait for this thread: what would take long, and cannot be cut, is left to a worker
    /// ([`Turn::leaves_it`]).
    pub on_core: bool,
    /// Something was left to a worker.
    pub is_left: bool,
}

impl<'a> Turn<'a> {
    /// A turn of so much work.
    pub fn new(missing: &'a mut Missing, work: u32, resident: bool) -> Self {
        Self {
            missing,
            work: i64::from(work),
            clock: None,
            resident,
            board: None,
            on_core: false,
            is_left: false,
        }
    }

    /// The same by a clock: what is measured counts, too ([`Turn::spend_since`]).
    #[must_use]
    pub fn with_clock(self, clock: Option<&'a dyn Fn() -> Duration>) -> Self {
        Self { clock, ..self }
    }

    /// The time, where there is a clock.
    pub fn now(&self) -> Option<Duration> {
        self.clock.map(|clock| clock())
    }

    /// Work was done, or what took as long since `begun`: how much that was.
    pub fn spend_since(&mut self, begun: Option<Duration>, work: usize) -> usize {
        let took =
            begun.zip(self.now()).map_or(Duration::ZERO, |(begun, now)| now.saturating_sub(begun));
        let measured = usize::try_from(took.as_nanos() / UNIT_NS).unwrap_or(usize::MAX);
        let work = work.max(measured);
        self.spend(work);
        work
    }

    /// Work was done.
    #[inline]
    pub fn spend(&mut self, work: usize) {
        self.work -= work as i64;
    }

    /// Work left.
    #[inline]
    pub fn left(&self) -> usize {
        self.work.max(0) as usize
    }

    /// Work that would take long, and cannot be cut, is next: is it left to a worker? Then the turn is
    /// over.
    pub fn leaves_it(&mut self) -> bool {
        if self.on_core {
            self.is_left = true;
            self.end();
        }
        self.on_core
    }

    /// Ends the turn.
    pub fn end(&mut self) {
        self.work = 0;
    }

    /// The turn is over.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.work <= 0
    }

    /// Everything named is there.
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.missing.is_empty()
    }
}

/// Documents with their scores, rising.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// Documents.
    pub docs: Vec<u32>,
    /// The score of each.
    pub scores: Vec<f32>,
}

impl Hits {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.docs.clear();
        self.scores.clear();
    }
}

/// A range of documents to look at, and the least score that is of use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// First document.
    pub start: u32,
    /// After the last.
    pub end: u32,
    /// Documents that score less may be left out.
    pub bar: f32,
}

impl Window {
    /// Nothing is left.
    pub const NONE: Self = Self { start: END, end: END, bar: 0.0 };

    /// The range.
    #[inline]
    pub fn range(self) -> Range<u32> {
        self.start..self.end
    }
}

/// Knows which documents match.
pub trait Filter: Send {
    /// About how many documents match, rather too many than too few.
    fn cost(&self) -> u64;

    /// The first document at or after `from` that may match; `END` where there is none. Told from
    /// what is resident.
    fn next(&mut self, from: u32) -> u32;

    /// Gets ready to fill window number `window`.
    fn prepare(&mut self, window: u32, turn: &mut Turn<'_>) -> bool;

    /// Sets the bit of each match in the window prepared; other bits stay.
    fn fill(&mut self, window: u32, bits: &mut Bits);

    /// Gets ready to be probed with `docs`, which rise.
    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool;

    /// Tells of each of the documents prepared whether it matches.
    fn probe(&mut self, docs: &[u32], matches: &mut [bool]);

    /// Is it cheaper to look up `candidates` of a window than to fill it, in a segment of `doc_count`?
    fn looks_up(&self, candidates: usize, doc_count: u32) -> bool {
        let expected = self.cost() * u64::from(WINDOW) / u64::from(doc_count.max(1));
        (candidates as u64) * PROBE < expected
    }

    /// How many documents match, dead ones included, where that is known without looking; asked
    /// before anything else.
    fn count(&mut self) -> Option<u64> {
        None
    }

    /// At least so many documents match, dead ones included.
    fn count_min(&self) -> u64 {
        0
    }
}

/// Knows which documents match and how well.
pub trait Scorer: Send {
    /// About how many documents match, rather too many than too few.
    fn cost(&self) -> u64;

    /// The first document at or after `from` that may match; `END` where there is none. Told from
    /// what is resident.
    fn next(&mut self, from: u32) -> u32;

    /// The next range worth looking at: no document from `from` to its start matches with a score
    /// of `bar` or more. An empty range says: nothing before its start, ask again from there (the
    /// turn may be over).
    fn window(&mut self, from: u32, bar: f32, turn: &mut Turn<'_>) -> Window;

    /// A bound on the scores of `range`.
    fn max_score(&mut self, range: Range<u32>) -> f32;

    /// Gets ready to fill `window`: one that this scorer's [`Scorer::window`] answered, or a part of it; or any
    /// other that lies in one window of bits.
    fn prepare(&mut self, window: &Window, turn: &mut Turn<'_>) -> bool;

    /// Appends the matches of the window prepared; those below its bar may be left out.
    fn fill(&mut self, window: &Window, hits: &mut Hits);

    /// Gets ready to be probed with `docs`, which rise.
    fn prepare_probe(&mut self, docs: &[u32], turn: &mut Turn<'_>) -> bool;

    /// Gives the score of each of the documents prepared, or [`NO_MATCH`].
    fn probe(&mut self, docs: &[u32], scores: &mut [f32]);

    /// Of the documents that the next probe asks about those that score less than `bar` are of no use:
    /// they may be told not to match. Holds until it is said again; at first all are wanted.
    fn probe_above(&mut self, _bar: f32) {}

    /// Some of the documents that a probe was prepared for may be left out of it.
    fn probes_some(&self) -> bool {
        false
    }

    /// From now on matches that score less than `bar` are wanted for the sake of their number
    /// alone: `fill` still gives each, but any score below `bar` will do. It only rises.
    fn count_below(&mut self, _bar: f32) {}

    /// At least so many documents match, dead ones included.
    fn count_min(&self) -> u64 {
        0
    }
}

/// A filter of any kind.
pub type AnyFilter = Box<dyn Filter>;

/// A scorer of any kind.
pub type AnyScorer = Box<dyn Scorer>;

/// The window of a document.
#[inline]
pub const fn window_of(doc: u32) -> u32 {
    doc / WINDOW
}

/// Is the window wider than one of bits?
pub(crate) fn is_wide(window: &Window) -> bool {
    window.start < window.end && window_of(window.start) != window_of(window.end - 1)
}

/// A sum of scores that no rounding can lift above: the sum is made in f64, whose error over any
/// number of clauses is far below this margin, and rounded to f32 as scores are.
#[inline]
pub fn bound(sum: f64) -> f32 {
    (sum * (1.0 + 1e-9)) as f32
}
