//! Memory shared by all cores, taken in chunks: what may be held at once is bounded in one place.
//!
//! Always true
//! 1. The sum of all that is taken, all that leases keep spare and what is set aside never passes the
//!    total.
//! 2. What is taken comes back when its [`Taken`] is dropped, on whatever core that happens.
//! 3. What is to be set aside and was not free then is kept as it comes back, before anybody may take it again.
//! 4. Taking never waits: `None` means that the caller refuses its request (429).
//! 5. Work that cannot be refused ([`Lease::advance`]) uses more than the total only one at a time.
//!
//! A [`Lease`] stands between one core and the pool so that the common case touches a number that
//! no other core touches: it fetches chunks of 4 MiB, and gives whole chunks back when more than
//! two lie spare. Near the end of the pool it asks for exactly what it lacks. A lease takes for one
//! [`Holder`], so that whoever asks may be told who holds how much.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::sync::{AtomicUsize, Mutex, Ordering, lock};

/// The unit in which leases fetch from the pool.
pub const CHUNK_BYTES: usize = 4 << 20;

/// Above this a lease gives whole chunks back.
const SPARE_BYTES_MAX: usize = 2 * CHUNK_BYTES;

/// One part in so many: where less is free, memory is scarce.
const SCARCE_PART: usize = 8;

/// A request for more leaves some of the pool to smaller ones: who takes all that is there in large
/// pieces stops neither a read of one document nor an order to delete an index.
const SMALL_BYTES: usize = 64 << 10;

/// One part in so many is left to them.
const SMALL_PART: usize = 32;

/// What memory is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holder {
    /// Connections, and bodies of requests until they are answered.
    Requests,
    /// Hits and documents on their way to an answer.
    #[default]
    Answers,
    /// Buckets of aggregations.
    Aggregations,
    /// Filters that are kept for later searches.
    Filters,
    /// What shards keep until a flush: operations, buffers, segments without a file.
    Writes,
    /// Merges that run.
    Merges,
    /// Names, settings, fields and templates: the cluster state.
    State,
}

impl Holder {
    /// All of them, in the order of [`Budget::taken_bytes`].
    pub const ALL: [Self; 7] = [
        Self::Requests,
        Self::Answers,
        Self::Aggregations,
        Self::Filters,
        Self::Writes,
        Self::Merges,
        Self::State,
    ];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Answers => "answers",
            Self::Aggregations => "aggregations",
            Self::Filters => "filters",
            Self::Writes => "writes",
            Self::Merges => "merges",
            Self::State => "state",
        }
    }
}

/// The pool; clones share it.
#[derive(Clone)]
pub struct Budget {
    pool: Arc<Pool>,
}

struct Pool {
    total: usize,
    free: AtomicUsize,
    /// Kept back for what nobody counts.
    aside: AtomicUsize,
    /// To be kept back, too, as soon as it comes back.
    debt: AtomicUsize,
    refused: AtomicUsize,
    advances: Mutex<Advances>,
    /// The leases that were given: asked for what they hold, and nothing else.
    locals: Mutex<Vec<Weak<Local>>>,
}

impl Budget {
    /// A pool of `total_bytes`.
    pub fn new(total_bytes: usize) -> Self {
        Self {
            pool: Arc::new(Pool {
                total: total_bytes,
                free: AtomicUsize::new(total_bytes),
                aside: AtomicUsize::new(0),
                debt: AtomicUsize::new(0),
                refused: AtomicUsize::new(0),
                advances: Mutex::new(Advances::default()),
                locals: Mutex::new(Vec::new()),
            }),
        }
    }

    /// A lease for one core; its clones share what it keeps spare.
    pub fn lease(&self) -> Lease {
        let local = Arc::new(Local {
            pool: Arc::clone(&self.pool),
            spare: AtomicUsize::new(0),
            held: Holder::ALL.map(|_| AtomicUsize::new(0)),
        });
        let mut locals = lock(&self.pool.locals);
        locals.retain(|known| known.strong_count() > 0);
        locals.push(Arc::downgrade(&local));
        drop(locals);
        Lease { local, holder: Holder::default() }
    }

    /// How much is taken for each of [`Holder::ALL`].
    pub fn taken_bytes(&self) -> [(Holder, usize); Holder::ALL.len()] {
        let locals: Vec<Arc<Local>> =
            lock(&self.pool.locals).iter().filter_map(Weak::upgrade).collect();
        Holder::ALL.map(|holder| {
            let held =
                locals.iter().map(|local| local.held[holder as usize].load(Ordering::Relaxed));
            (holder, held.sum())
        })
    }

    /// Keeps `bytes` back for memory that nobody counts: as much of that as is free, and the rest of what comes
    /// back; how much is kept back now. For one thread, which measures.
    pub fn set_aside(&self, bytes: usize) -> usize {
        let Pool { free, aside, debt, .. } = &*self.pool;
        // Nobody adds to it now but who has begun to.
        debt.store(0, Ordering::Relaxed);
        let before = aside.load(Ordering::Relaxed);
        if let Some(surplus) = before.checked_sub(bytes) {
            aside.fetch_sub(surplus, Ordering::Relaxed);
            free.fetch_add(surplus, Ordering::Relaxed);
            return bytes;
        }
        let lacking = bytes - before;
        let left = self.pool.total / SMALL_PART;
        let mut found = 0;
        let taken = free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
            found = free.saturating_sub(left).min(lacking);
            Some(free - found)
        });
        // The closure always gives a number.
        let found = taken.map_or(0, |_| found);
        aside.fetch_add(found, Ordering::Relaxed);
        debt.store(lacking - found, Ordering::Relaxed);
        before + found
    }

    /// What is kept back for memory that nobody counts.
    pub fn aside_bytes(&self) -> usize {
        self.pool.aside.load(Ordering::Relaxed)
    }

    /// Size of the pool.
    pub fn total_bytes(&self) -> usize {
        self.pool.total
    }

    /// How often somebody asked for more than there was.
    pub fn refused_count(&self) -> usize {
        self.pool.refused.load(Ordering::Relaxed)
    }

    /// What is not to be had: what leases hold, taken or spare, and what is set aside.
    pub fn leased_bytes(&self) -> usize {
        self.pool.total - self.pool.free.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({} of {} bytes leased)", self.leased_bytes(), self.total_bytes())
    }
}

/// Takes `bytes` from `from` where so much is there, and `left` besides.
fn subtract_leaving(from: &AtomicUsize, bytes: usize, left: usize) -> bool {
    let taken = from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |current| {
        let rest = current.checked_sub(bytes)?;
        (rest >= left).then_some(rest)
    });
    taken.is_ok()
}

/// Takes `bytes` from `from` where so much is there.
fn subtract(from: &AtomicUsize, bytes: usize) -> bool {
    subtract_leaving(from, bytes, 0)
}

/// Work that cannot be refused, of all cores.
#[derive(Default)]
struct Advances {
    /// What is under way.
    count: usize,
    /// One of it uses memory that was not to be had.
    is_overdrawn: bool,
}

struct Local {
    pool: Arc<Pool>,
    spare: AtomicUsize,
    /// What is taken, by holder.
    held: [AtomicUsize; Holder::ALL.len()],
}

impl Local {
    fn take(&self, holder: Holder, bytes: usize) -> bool {
        let taken = self.fetch(bytes);
        if taken {
            self.held[holder as usize].fetch_add(bytes, Ordering::Relaxed);
        }
        taken
    }

    fn fetch(&self, bytes: usize) -> bool {
        if subtract(&self.spare, bytes) {
            return true;
        }
        // Whole chunks never come of the part for small pieces: what lies spare is anybody's.
        let small_part = self.pool.total / SMALL_PART;
        let spare = self.spare.load(Ordering::Relaxed);
        let chunks = bytes.saturating_sub(spare).div_ceil(CHUNK_BYTES).max(1);
        let fetched = chunks.saturating_mul(CHUNK_BYTES);
        if subtract_leaving(&self.pool.free, fetched, small_part) {
            let before = self.spare.fetch_add(fetched, Ordering::Relaxed);
            if before + fetched >= bytes && subtract(&self.spare, bytes) {
                return true;
            }
            // Somebody else used the spare meanwhile; what was fetched stays spare for the next.
        }
        // Near the end of the pool: all that is spare here, and exactly what is lacking.
        let spare = self.spare.swap(0, Ordering::Relaxed);
        if let Some(rest) = spare.checked_sub(bytes) {
            self.spare.fetch_add(rest, Ordering::Relaxed);
            return true;
        }
        let left = if bytes > SMALL_BYTES { small_part } else { 0 };
        let fetched = subtract_leaving(&self.pool.free, bytes - spare, left);
        if !fetched {
            self.pool.refused.fetch_add(1, Ordering::Relaxed);
            self.spare.fetch_add(spare, Ordering::Relaxed);
        }
        fetched
    }

    fn give_back(&self, holder: Holder, bytes: usize) {
        self.held[holder as usize].fetch_sub(bytes, Ordering::Relaxed);
        if self.pool.debt.load(Ordering::Relaxed) > 0 {
            return self.keep(bytes);
        }
        let spare = self.spare.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if spare > SPARE_BYTES_MAX {
            let surplus = (spare - CHUNK_BYTES) / CHUNK_BYTES * CHUNK_BYTES;
            if subtract(&self.spare, surplus) {
                self.pool.free.fetch_add(surplus, Ordering::Relaxed);
            }
        }
    }
}

impl Local {
    /// Pays what is to be set aside with what comes back, and with what is spare; the rest is spare.
    fn keep(&self, bytes: usize) {
        let Pool { aside, debt, .. } = &*self.pool;
        let back = bytes + self.spare.swap(0, Ordering::Relaxed);
        let paid = |owed: usize| Some(owed.saturating_sub(back));
        let owed = debt.fetch_update(Ordering::Relaxed, Ordering::Relaxed, paid);
        let paid = owed.unwrap_or(0).min(back);
        aside.fetch_add(paid, Ordering::Relaxed);
        self.spare.fetch_add(back - paid, Ordering::Relaxed);
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let spare = self.spare.load(Ordering::Relaxed);
        self.pool.free.fetch_add(spare, Ordering::Relaxed);
    }
}

/// One core's way to the pool.
#[derive(Clone)]
pub struct Lease {
    local: Arc<Local>,
    holder: Holder,
}

impl Lease {
    /// Takes `bytes`, or nothing where they are not to be had.
    pub fn take(&self, bytes: usize) -> Option<Taken> {
        let Self { local, holder } = self;
        let taken = local.take(*holder, bytes);
        taken.then(|| Taken { local: Arc::clone(local), holder: *holder, bytes })
    }

    /// Takes `bytes` for work that cannot be refused. Where they are not to be had it waits for others of
    /// its kind (`None`), and where there are none, it begins without them: what is held then is more
    /// than the total.
    pub fn advance(&self, bytes: usize) -> Option<Advance> {
        let pool = Arc::clone(&self.local.pool);
        let mut advances = lock(&pool.advances);
        let free = pool.free.load(Ordering::Relaxed);
        if advances.count > 0 && free < bytes.saturating_add(pool.total / SMALL_PART) {
            // Who waits asks again and again: that is not counted as so many refusals.
            return None;
        }
        let taken = self.take(bytes);
        let is_overdrawn = taken.is_none();
        if is_overdrawn {
            if advances.count > 0 {
                return None;
            }
            advances.is_overdrawn = true;
        }
        advances.count += 1;
        drop(advances);
        Some(Advance { pool, taken, is_overdrawn })
    }

    /// The same way to the pool, of another holder.
    #[must_use]
    pub fn of(&self, holder: Holder) -> Self {
        Self { local: Arc::clone(&self.local), holder }
    }

    /// What this holder has taken, on all cores together. Not for a hot path: it takes a lock.
    pub fn held_by_all(&self) -> usize {
        let locals: Vec<Arc<Local>> =
            lock(&self.local.pool.locals).iter().filter_map(Weak::upgrade).collect();
        let held = locals.iter().map(|it| it.held[self.holder as usize].load(Ordering::Relaxed));
        held.sum()
    }

    /// Size of the pool.
    pub fn total_bytes(&self) -> usize {
        self.local.pool.total
    }

    /// Whether little is left: who may give something back should.
    pub fn is_scarce(&self) -> bool {
        self.is_below(SCARCE_PART)
    }

    /// Whether less than one part in so many is left.
    pub fn is_below(&self, part: usize) -> bool {
        let pool = &self.local.pool;
        pool.free.load(Ordering::Relaxed) < pool.total / part
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lease({} bytes spare)", self.local.spare.load(Ordering::Relaxed))
    }
}

/// Bytes taken from a budget; dropping gives them back. May travel to another core.
#[must_use = "dropping it gives the bytes back"]
pub struct Taken {
    local: Arc<Local>,
    holder: Holder,
    bytes: usize,
}

impl Taken {
    /// How much is taken.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes `bytes` more, or changes nothing: false.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        let grown = self.local.take(self.holder, bytes);
        if grown {
            self.bytes += bytes;
        }
        grown
    }

    /// Gives all but `bytes` back; keeps what it has where that is less.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(surplus) = self.bytes.checked_sub(bytes) {
            self.local.give_back(self.holder, surplus);
            self.bytes = bytes;
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.local.give_back(self.holder, self.bytes);
    }
}

/// Memory for work that cannot be refused ([`Lease::advance`]); dropping ends it.
#[must_use = "dropping it ends the work"]
pub struct Advance {
    pool: Arc<Pool>,
    taken: Option<Taken>,
    is_overdrawn: bool,
}

impl Advance {
    /// Makes it `bytes` at least. Where they are not to be had, it does without them, but for when
    /// another does so already: false, and it waits for that one's end. Who does without never waits,
    /// so all get on.
    #[must_use]
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        if self.is_overdrawn {
            return true;
        }
        let lacking = self.taken.as_ref().map_or(0, |taken| bytes.saturating_sub(taken.bytes()));
        if lacking == 0 || self.taken.as_mut().is_some_and(|taken| taken.grow(lacking)) {
            return true;
        }
        let mut advances = lock(&self.pool.advances);
        self.is_overdrawn = !advances.is_overdrawn;
        advances.is_overdrawn = true;
        self.is_overdrawn
    }
}

impl Drop for Advance {
    fn drop(&mut self) {
        // First the memory: who is told that nobody is under way finds all there is.
        drop(self.taken.take());
        let mut advances = lock(&self.pool.advances);
        advances.count -= 1;
        if self.is_overdrawn {
            advances.is_overdrawn = false;
        }
    }
}

impl fmt::Debug for Advance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Advance({:?}, overdrawn: {})", self.taken, self.is_overdrawn)
    }
}

impl fmt::Debug for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Taken({} bytes)", self.bytes)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn a_lease_fetches_whole_chunks() {
        let budget = Budget::new(64 * MIB);
        let lease = budget.lease();
        let first = lease.take(1).expect("room");
        assert_eq!(budget.leased_bytes(), CHUNK_BYTES);
        let second = lease.take(5 * MIB).expect("room");
        assert_eq!(budget.leased_bytes(), 2 * CHUNK_BYTES);
        drop((first, second));
        assert_eq!(budget.leased_bytes(), 2 * CHUNK_BYTES, "two chunks may stay spare");
        drop(lease);
        assert_eq!(budget.leased_bytes(), 0);
    }

    #[test]
    fn what_is_not_there_is_refused_and_changes_nothing() {
        let budget = Budget::new(10 * MIB);
        let lease = budget.lease();
        let held =
            lease.take(9 * MIB).expect("less than a chunk is left, exactly so much is fetched");
        assert!(lease.take(2 * MIB).is_none());
        assert!(lease.take(MIB).is_none(), "a part is left to small pieces");
        drop(held);
        assert!(lease.take(9 * MIB).is_some());
        assert!(lease.take(usize::MAX).is_none());
    }

    #[test]
    fn small_pieces_are_to_be_had_when_large_ones_are_not() {
        let budget = Budget::new(32 * MIB);
        let (greedy, modest) = (budget.lease(), budget.lease());
        let mut held = Vec::new();
        while let Some(taken) = greedy.take(SMALL_BYTES + 1) {
            held.push(taken);
        }
        let small: Vec<Taken> = std::iter::from_fn(|| modest.take(SMALL_BYTES)).collect();
        assert_eq!(small.len(), 16, "a thirty-second part, to the last byte");
        assert!(budget.leased_bytes() <= budget.total_bytes());
    }

    #[test]
    fn what_is_set_aside_is_not_given_out() {
        let budget = Budget::new(32 * MIB);
        let lease = budget.lease();
        assert_eq!(budget.set_aside(20 * MIB), 20 * MIB);
        let held = lease.take(8 * MIB).expect("room");
        assert!(lease.take(8 * MIB).is_none());
        let most = budget.set_aside(30 * MIB);
        assert_eq!(most, 23 * MIB, "what is free but the part for small pieces");
        assert_eq!(budget.aside_bytes(), most);
        assert_eq!(budget.set_aside(MIB), MIB);
        assert!(lease.take(8 * MIB).is_some());
        drop((held, lease));
        assert_eq!(budget.leased_bytes(), MIB);
    }

    #[test]
    fn what_was_not_free_to_be_set_aside_is_kept_as_it_comes_back() {
        let budget = Budget::new(32 * MIB);
        let lease = budget.lease();
        let held: Vec<Taken> = (0..30).map(|_| lease.take(MIB).expect("room")).collect();
        let first = budget.set_aside(16 * MIB);
        assert!(first <= 2 * MIB, "{first} was free");
        drop(held);
        assert_eq!(budget.aside_bytes(), 16 * MIB);
        assert!(lease.take(17 * MIB).is_none());
        assert!(lease.take(14 * MIB).is_some());
        // Less than that is asked for before all of it has come.
        let held = lease.take(14 * MIB).expect("room");
        budget.set_aside(30 * MIB);
        budget.set_aside(MIB);
        drop(held);
        assert_eq!(budget.aside_bytes(), MIB);
        assert!(lease.take(30 * MIB).is_some());
        drop(lease);
        assert_eq!(budget.leased_bytes(), MIB);
    }

    #[test]
    fn surplus_goes_back_to_the_pool_for_other_cores() {
        let budget = Budget::new(40 * MIB);
        let (one, other) = (budget.lease(), budget.lease());
        let all = one.take(38 * MIB).expect("nearly all of it");
        assert!(other.take(2 * MIB).is_none());
        drop(all);
        assert!(other.take(32 * MIB).is_some());
    }

    #[test]
    fn who_holds_how_much_is_told() {
        let budget = Budget::new(40 * MIB);
        let (one, other) = (budget.lease(), budget.lease().of(Holder::Writes));
        let answers = one.take(MIB).expect("room");
        let writes = one.of(Holder::Writes).take(2 * MIB).expect("room");
        let mut more = other.take(3 * MIB).expect("room");
        assert!(more.grow(MIB));
        more.shrink_to(2 * MIB);
        let told =
            |holder| budget.taken_bytes().iter().find(|(one, _)| *one == holder).map(|it| it.1);
        assert_eq!(told(Holder::Answers), Some(MIB));
        assert_eq!(told(Holder::Writes), Some(4 * MIB));
        assert_eq!(told(Holder::Merges), Some(0));
        drop((answers, writes, more));
        assert!(budget.taken_bytes().iter().all(|(_, bytes)| *bytes == 0));
    }

    #[test]
    fn work_that_cannot_be_refused_passes_the_total_one_at_a_time() {
        let budget = Budget::new(32 * MIB);
        let (one, other) = (budget.lease(), budget.lease());
        let mut first = one.advance(12 * MIB).expect("room");
        let mut second = other.advance(12 * MIB).expect("room");
        assert!(one.advance(12 * MIB).is_none(), "others are under way");
        assert!(second.grow_to(20 * MIB), "nobody else is beyond the total");
        assert!(second.grow_to(usize::MAX));
        assert!(!first.grow_to(20 * MIB));
        drop(second);
        assert!(first.grow_to(usize::MAX));
        drop(first);
        let alone = one.advance(64 * MIB).expect("nobody is under way");
        let small = other.advance(MIB).expect("what is free is anybody's");
        assert!(other.advance(64 * MIB).is_none());
        drop((alone, small));
        assert!(other.advance(64 * MIB).is_some());
        assert!(budget.leased_bytes() <= budget.total_bytes());
    }

    #[test]
    fn a_piece_grows_and_shrinks() {
        let budget = Budget::new(10 * MIB);
        let lease = budget.lease();
        let mut taken = lease.take(MIB).expect("room");
        assert!(taken.grow(8 * MIB));
        assert!(!taken.grow(2 * MIB));
        assert_eq!(taken.bytes(), 9 * MIB);
        taken.shrink_to(MIB);
        assert_eq!(taken.bytes(), MIB);
        taken.shrink_to(5 * MIB);
        assert_eq!(taken.bytes(), MIB, "shrinking never grows");
        drop(taken);
        drop(lease);
        assert_eq!(budget.leased_bytes(), 0);
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;

    #[test]
    fn two_cores_never_hold_more_than_the_total_and_all_comes_back() {
        loom::model(|| {
            let budget = Budget::new(CHUNK_BYTES / 16 * 17);
            let other = budget.lease();
            let thread = loom::thread::spawn(move || {
                let taken = other.take(CHUNK_BYTES);
                taken.is_some()
            });
            let lease = budget.lease();
            let taken = lease.take(20);
            assert!(budget.leased_bytes() <= budget.total_bytes());
            drop(taken);
            drop(lease);
            thread.join().expect("took");
            assert_eq!(budget.leased_bytes(), 0);
        });
    }

    #[test]
    fn what_comes_back_while_some_is_set_aside_is_neither_lost_nor_kept_twice() {
        loom::model(|| {
            let budget = Budget::new(100);
            let lease = budget.lease();
            let (first, second) = (lease.take(40).expect("room"), lease.take(50).expect("room"));
            let other = loom::thread::spawn(move || drop(first));
            budget.set_aside(60);
            drop(second);
            budget.set_aside(20);
            other.join().expect("dropped");
            budget.set_aside(20);
            drop(lease);
            assert_eq!((budget.aside_bytes(), budget.leased_bytes()), (20, 20));
        });
    }

    #[test]
    fn a_piece_dropped_on_another_core_returns_to_its_lease() {
        loom::model(|| {
            let budget = Budget::new(3 * CHUNK_BYTES);
            let lease = budget.lease();
            let taken = lease.take(2 * CHUNK_BYTES).expect("room");
            let thread = loom::thread::spawn(move || drop(taken));
            let mine = lease.take(5);
            assert!(mine.is_some());
            thread.join().expect("dropped");
            drop(mine);
            drop(lease);
            assert_eq!(budget.leased_bytes(), 0);
        });
    }
}
