//! Threads beside the executors, for work that would stall a core.
//!
//! Eight pools, so that no kind waits behind another:
//!
//! | pool        | threads                          | priority | for                                     |
//! |-------------|----------------------------------|----------|-----------------------------------------|
//! | `heavy`     | half the cores, at least one     | lowest   | merges, dictionaries                    |
//! | `documents` | the cores and one, at least four | low      | large documents, and costly ones        |
//! | `search`    | the cores and one, at least four | lowest   | steps of searches that no core can give |
//! | `short`     | one                              | low      | some ten milliseconds: somebody waits   |
//! | `bodies`    | one                              | low      | long bodies, unpacked and packed        |
//! | `hashes`    | one, or as set                   | low      | password hashes                         |
//! | `leftovers` | one                              | low      | what executors let go, where it is much |
//! | `files`     | one for each core                | normal   | calls that io_uring does not offer      |
//!
//! A step of a dear search may take seconds, and a caller may ask for hundreds of them. So these have more threads
//! than there are processors, which the kernel shares out; callers have turns, and none has the last thread
//! ([`line`]). On one thread, first come first served, one order by ten thousand keys let everybody's documents of
//! 40 KB wait 4.8 s, and everybody's phrases 12 s.
//!
//! So it is with documents, for an analyzer may make seconds of 80 KB: there an index is what a caller is there, and
//! those of other indices have turns and a thread. How long one may take is bounded by whoever asks. Those of the
//! same index wait for it where all threads but one have some of these. Who asks for documents of many indices is not
//! told from many who ask: so what turned out to be long never has the last thread, whosever it is ([`Cost`]).
//!
//! The lowest priority is a seventieth of what a thread of any other process gets on the same processor: a document
//! of a second of work took more than a minute beside a compiler, while its writer waited. So documents have that of
//! the short jobs, a third of the normal one: executors, which wait more than they run, still come before them, and
//! how much work one document may be is bounded. Merges nobody waits for, and they may be held up. Long steps of
//! searches stay lowest: a caller may have hundreds of them, without end, and executors are to feel none of it; who
//! asks for one may give it a `timeout`.
//!
//! What is let go holds memory until it is gone, and nobody waits for it: it stands behind nothing else, and however
//! much of it there is, no executor lets it go itself.
//!
//! Who signs in waits for those who sign in and for nobody else's texts, however much a short job may be.
//!
//! Always true
//! 1. A job that panics ends alone: its caller gets an error, the thread goes on.
//! 2. All but `files` and `leftovers` refuse (`Busy`) beyond their bound; `files` holds at most what the callers
//!    await, each of them one job, `leftovers` what is in memory anyway.
//! 3. Jobs that nobody awaits any more still run: they may hold half a rename.

mod line;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use env::meter::Counter;
use env::turns::Lane;
use env::{Error, ErrorKind, Result};

use crate::system::{self, ThreadClock};
use line::{Begun, Line};
pub use line::{Cost, OfOne};

type Job = Box<dyn FnOnce() + Send>;

/// Of threads for whose work somebody waits.
const NICENESS_LOW: i32 = 5;

/// Of threads that are to hold up nothing else.
const NICENESS_LOWEST: i32 = 19;

/// How a pool is made.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Name of the threads, at most 15 bytes with their number.
    pub name: &'static str,
    /// How many threads.
    pub threads: usize,
    /// 0 (as the process) to 19 (lowest).
    pub niceness: i32,
    /// Jobs that may wait; one more is refused.
    pub waiting_max: usize,
    /// What of this one caller may have.
    pub of_one: OfOne,
    /// Long jobs that may be at work beside each other, whosever they are.
    pub long_max: usize,
}

impl PoolOptions {
    /// For what somebody waits for.
    pub(crate) const fn awaited(
        name: &'static str,
        Hashing { threads, waiting_max }: Hashing,
    ) -> Self {
        Self {
            name,
            threads,
            niceness: NICENESS_LOW,
            waiting_max,
            of_one: OfOne::ALL,
            long_max: usize::MAX,
        }
    }
}

/// A pool of threads; clones share it. The threads end when the last clone is dropped.
#[derive(Clone)]
pub struct Pool {
    owner: Arc<Owner>,
}

/// Closes the queue when the last clone of a pool goes.
struct Owner {
    shared: Arc<Shared>,
    name: &'static str,
    threads: usize,
    waiting_max: usize,
}

struct Shared {
    queue: Mutex<Queue>,
    ready: Condvar,
    /// Of each thread that has started.
    clocks: Mutex<Vec<ThreadClock>>,
    begun: Counter,
    ended: Counter,
    refused: Counter,
}

struct Queue {
    jobs: Line<Job>,
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job; `None` when the pool is closed and all jobs are done.
    fn next(&self) -> Option<Begun<Job>> {
        let mut queue = self.lock();
        loop {
            if let Some(taken) = queue.jobs.take() {
                return Some(taken);
            }
            // What is left is of callers who have jobs at work, on threads that go on with theirs.
            if queue.closed {
                return None;
            }
            queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Pool {
    /// Starts the threads.
    pub fn start(options: &PoolOptions) -> Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                jobs: Line::new(options.of_one, options.long_max),
                closed: false,
            }),
            ready: Condvar::new(),
            clocks: Mutex::default(),
            begun: Counter::new(),
            ended: Counter::new(),
            refused: Counter::new(),
        });
        let threads = options.threads.max(1);
        for number in 0..threads {
            let shared = Arc::clone(&shared);
            let niceness = options.niceness;
            let name = format!("{}-{number}", options.name);
            std::thread::Builder::new()
                .name(name.clone())
                .spawn(move || {
                    if niceness > 0
                        && let Err(error) = system::lower_priority(niceness)
                    {
                        log::warn!("a worker keeps its normal priority: {error}");
                    }
                    if niceness > 0 {
                        // What a thread gives up is a slice: let it be short.
                        if let Err(error) = system::prefer_short_slices() {
                            log::debug!("the scheduler was not asked for short slices: {error}");
                        }
                        env::breath::give_by(system::pause_if_due);
                    }
                    if let Some(clock) = ThreadClock::of_this_thread() {
                        shared.clocks.lock().unwrap_or_else(PoisonError::into_inner).push(clock);
                    }
                    while let Some(Begun { lane, cost, job }) = shared.next() {
                        shared.begun.add(1);
                        job();
                        shared.ended.add(1);
                        shared.lock().jobs.end(lane, cost);
                        system::give_back_if_asked();
                    }
                })
                .map_err(|error| Error::from_io(&error, format_args!("starting thread {name}")))?;
        }
        let (name, waiting_max) = (options.name, options.waiting_max);
        Ok(Self { owner: Arc::new(Owner { shared, name, threads, waiting_max }) })
    }

    /// Runs `job` on a thread of the pool; `what` names it in errors.
    pub async fn run<T: Send + 'static>(
        &self,
        what: &'static str,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.run_for(Lane::default(), what, job).await
    }

    /// As [`Pool::run`], for this caller.
    pub async fn run_for<T: Send + 'static>(
        &self,
        lane: Lane,
        what: &'static str,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.run_as(lane, Cost::Usual, what, job).await
    }

    /// As [`Pool::run_for`], of a job of which this is known.
    pub async fn run_as<T: Send + 'static>(
        &self,
        lane: Lane,
        cost: Cost,
        what: &'static str,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = env::reply::channel();
        let job: Job = Box::new(move || match catch_unwind(AssertUnwindSafe(job)) {
            Ok(value) => reply.send(value),
            Err(_) => drop(reply),
        });
        if let Err((waiting, _)) = self.push(lane, cost, job) {
            return Err(Error::new(
                ErrorKind::Busy,
                format!("{what}: {waiting} jobs wait for a worker already"),
            ));
        }
        answer
            .await
            .ok_or_else(|| Error::new(ErrorKind::Io, format!("{what}: the worker panicked")))
    }

    /// Runs `job` at some time; here, where too many wait.
    pub fn run_unawaited(&self, job: impl FnOnce() + Send + 'static) {
        // A panic ends the job alone, as it does where somebody waits.
        let job = move || drop(catch_unwind(AssertUnwindSafe(job)));
        if let Err((_, job)) = self.push(Lane::default(), Cost::Usual, Box::new(job)) {
            job();
        }
    }

    /// Lets a job wait for a thread; gives it back where too many do, with their number.
    fn push(&self, lane: Lane, cost: Cost, job: Job) -> std::result::Result<(), (usize, Job)> {
        let Owner { shared, waiting_max, .. } = &*self.owner;
        let mut queue = shared.lock();
        if let Some(waiting) = queue.jobs.crowd(lane, *waiting_max) {
            shared.refused.add(1);
            return Err((waiting, job));
        }
        queue.jobs.push(lane, cost, job);
        drop(queue);
        shared.ready.notify_one();
        Ok(())
    }

    /// What the pool does, and has done.
    pub fn load(&self) -> env::machine::Pool {
        let Owner { shared, name, threads, waiting_max } = &*self.owner;
        let completed = shared.ended.get();
        env::machine::Pool {
            name,
            threads: *threads as u64,
            waiting_max: (*waiting_max < usize::MAX).then_some(*waiting_max as u64),
            active: shared.begun.get().saturating_sub(completed),
            waiting: self.waiting_count() as u64,
            rejected: shared.refused.get(),
            completed,
        }
    }

    /// Whether a job runs.
    pub(crate) fn is_busy(&self) -> bool {
        let Shared { begun, ended, .. } = &*self.owner.shared;
        // Ended first: a job that begins in between is seen.
        let ended = ended.get();
        begun.get() > ended
    }

    /// Processor time that its threads have used.
    pub(crate) fn time(&self) -> Duration {
        let clocks = self.owner.shared.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        clocks.iter().map(|clock| clock.time()).sum()
    }

    /// Jobs that wait for a thread now.
    pub fn waiting_count(&self) -> usize {
        self.owner.shared.lock().jobs.len()
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({} waiting)", self.waiting_count())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.ready.notify_all();
    }
}

/// The pools of a process.
#[derive(Clone, Debug)]
pub struct Workers {
    /// Long work.
    pub heavy: Pool,
    /// Documents whose reading takes long, by indices in turns.
    pub documents: Pool,
    /// Long steps of searches, by callers in turns.
    pub search: Pool,
    /// Work of milliseconds that somebody waits for.
    pub short: Pool,
    /// Bodies of requests and answers that change their form.
    pub bodies: Pool,
    /// Hashes of passwords.
    pub hashes: Pool,
    /// What executors let go.
    pub leftovers: Pool,
    /// Calls on files.
    pub files: Pool,
}

/// How many passwords are hashed at a time.
#[derive(Clone, Copy, Debug)]
pub struct Hashing {
    /// Threads.
    pub threads: usize,
    /// Those that may wait.
    pub waiting_max: usize,
}

/// Jobs that may wait for a thread that somebody waits for, where nothing else is set.
const WAITING_MAX: usize = 64;

impl Default for Hashing {
    fn default() -> Self {
        Self { threads: 1, waiting_max: WAITING_MAX }
    }
}

/// One thread, for which any number may wait.
const UNBOUNDED: Hashing = Hashing { threads: 1, waiting_max: usize::MAX };

impl Workers {
    /// Starts them for `cores` executors.
    pub fn start(cores: usize, hashing: Hashing) -> Result<Self> {
        // One caller can fill all processors, and never has the thread that others need.
        let many = (cores + 1).max(4);
        let of_one = OfOne { running_max: many - 1, waiting_max: 512 };
        Ok(Self {
            heavy: Pool::start(&PoolOptions {
                name: "heavy",
                threads: cores / 2,
                niceness: NICENESS_LOWEST,
                waiting_max: 1024,
                of_one: OfOne::ALL,
                long_max: usize::MAX,
            })?,
            documents: Pool::start(&PoolOptions {
                name: "documents",
                threads: many,
                niceness: NICENESS_LOW,
                waiting_max: 1024,
                of_one,
                long_max: many - 1,
            })?,
            search: Pool::start(&PoolOptions {
                name: "search",
                threads: many,
                niceness: NICENESS_LOWEST,
                waiting_max: 1024,
                of_one,
                long_max: usize::MAX,
            })?,
            short: Pool::start(&PoolOptions::awaited("short", Hashing::default()))?,
            bodies: Pool::start(&PoolOptions::awaited("bodies", Hashing::default()))?,
            hashes: Pool::start(&PoolOptions::awaited("hashes", hashing))?,
            leftovers: Pool::start(&PoolOptions::awaited("leftovers", UNBOUNDED))?,
            files: Pool::start(&PoolOptions {
                name: "files",
                threads: cores,
                niceness: 0,
                waiting_max: usize::MAX,
                of_one: OfOne::ALL,
                long_max: usize::MAX,
            })?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures_lite::future::block_on;

    use super::*;

    fn pool(waiting_max: usize) -> Pool {
        let of_one = OfOne::ALL;
        Pool::start(&PoolOptions {
            name: "test",
            threads: 1,
            niceness: 10,
            waiting_max,
            of_one,
            long_max: 1,
        })
        .expect("threads can be made")
    }

    /// A job that runs until it is released; it is asked for on a thread of its own, as by another core.
    struct Blocked {
        release: mpsc::Sender<()>,
        asks: std::thread::JoinHandle<Result<()>>,
    }

    impl Blocked {
        /// Waits for a thread of the pool; says when it begins.
        fn ask(pool: &Pool, lane: Lane, begins: &mpsc::Sender<Lane>) -> Self {
            let (pool, begins) = (pool.clone(), begins.clone());
            let (release, released) = mpsc::channel::<()>();
            let asks = std::thread::spawn(move || {
                block_on(pool.run_for(lane, "blocked", move || {
                    begins.send(lane).expect("the test listens");
                    released.recv().expect("the test releases");
                }))
            });
            Self { release, asks }
        }

        fn end(self) {
            self.release.send(()).expect("it runs");
            assert_eq!(self.asks.join().expect("no panic"), Ok(()));
        }
    }

    #[test]
    fn what_nobody_awaits_runs_on_a_thread_or_where_too_many_wait_here() {
        let pool = pool(1);
        let (begins, begun) = mpsc::channel();
        let first = Blocked::ask(&pool, Lane::default(), &begins);
        begun.recv().expect("it runs");
        let here = std::thread::current().id();
        let (tell, told) = mpsc::channel();
        for _ in 0..2 {
            let tell = tell.clone();
            let job = move || tell.send(std::thread::current().id()).expect("the test listens");
            pool.run_unawaited(job);
        }
        assert_eq!(told.recv(), Ok(here), "the second found no room");
        first.end();
        assert_ne!(told.recv(), Ok(here));
    }

    /// One caller's jobs had all threads, and those of others began when they ended: seconds later.
    #[test]
    fn a_caller_with_many_searches_leaves_a_thread_for_others() {
        let workers = Workers::start(2, Hashing::default()).expect("threads can be made");
        let (many, few) = (Lane(1), Lane(2));
        let (begins, begun) = mpsc::channel();
        let greedy: Vec<Blocked> =
            (0..8).map(|_| Blocked::ask(&workers.search, many, &begins)).collect();
        for _ in 0..3 {
            assert_eq!(begun.recv(), Ok(many));
        }
        while workers.search.waiting_count() < 5 {
            std::thread::yield_now();
        }
        let other = Blocked::ask(&workers.search, few, &begins);
        assert_eq!(begun.recv(), Ok(few), "it came last, and is the next that begins");
        let load = workers.search.load();
        assert_eq!((load.threads, load.active, load.waiting), (4, 4, 5));
        // Documents wait for none of them, nor do searches for documents.
        let document = Blocked::ask(&workers.documents, Lane::default(), &begins);
        assert_eq!(begun.recv(), Ok(Lane::default()));
        other.end();
        let another = Blocked::ask(&workers.search, few, &begins);
        assert_eq!(begun.recv(), Ok(few));
        another.end();
        document.end();
        // Which of them began first is chance: each is told to end, and the rest begin.
        for job in &greedy {
            job.release.send(()).expect("it waits or runs");
        }
        for job in greedy {
            assert_eq!(job.asks.join().expect("no panic"), Ok(()));
        }
    }

    /// Beside other processes a document had next to nothing of a processor, at the lowest priority.
    #[test]
    fn threads_that_read_documents_are_not_at_the_lowest_priority() {
        let workers = Workers::start(1, Hashing::default()).expect("threads can be made");
        let of = |pool: &Pool| block_on(pool.run("niceness", system::niceness)).expect("it runs");
        // Whoever runs this may have another one for all.
        let below = |steps: i32| (system::niceness() + steps).min(19);
        assert_eq!(of(&workers.short), of(&workers.documents));
        assert_eq!(of(&workers.heavy), below(NICENESS_LOWEST));
        assert!(of(&workers.documents) <= below(NICENESS_LOW));
    }

    /// One document of three multiplexers took the one thread for four seconds, and with it every index.
    #[test]
    fn documents_of_one_index_leave_a_thread_for_others() {
        let workers = Workers::start(1, Hashing::default()).expect("threads can be made");
        let (costly, other) = (Lane(1), Lane(2));
        let (begins, begun) = mpsc::channel();
        let mut jobs: Vec<Blocked> =
            (0..4).map(|_| Blocked::ask(&workers.documents, costly, &begins)).collect();
        for _ in 0..3 {
            assert_eq!(begun.recv(), Ok(costly));
        }
        while workers.documents.waiting_count() < 1 {
            std::thread::yield_now();
        }
        let quick = Blocked::ask(&workers.documents, other, &begins);
        assert_eq!(begun.recv(), Ok(other));
        quick.end();
        // Nor do merges wait for documents.
        let merge = Blocked::ask(&workers.heavy, Lane::default(), &begins);
        assert_eq!(begun.recv(), Ok(Lane::default()));
        merge.end();
        jobs.iter().for_each(|job| job.release.send(()).expect("it waits or runs"));
        jobs.drain(..).for_each(|job| assert_eq!(job.asks.join().expect("no panic"), Ok(())));
    }

    /// Who signed in waited for minutes behind one reader's search, whose text an analyzer worked on.
    #[test]
    fn neither_passwords_nor_bodies_wait_behind_short_jobs() {
        let workers = Workers::start(1, Hashing::default()).expect("threads can be made");
        let (begins, begun) = mpsc::channel();
        let one = Lane::default();
        let (first, second) = (
            Blocked::ask(&workers.short, one, &begins),
            Blocked::ask(&workers.short, one, &begins),
        );
        assert_eq!(begun.recv(), Ok(one));
        while workers.short.waiting_count() < 1 {
            std::thread::yield_now();
        }
        let body = Blocked::ask(&workers.bodies, one, &begins);
        assert_eq!(begun.recv(), Ok(one));
        let password = Blocked::ask(&workers.hashes, one, &begins);
        assert_eq!(begun.recv(), Ok(one));
        assert_eq!(workers.short.waiting_count(), 1, "it still waits");
        password.end();
        body.end();
        for job in [&first, &second] {
            job.release.send(()).expect("it waits or runs");
        }
        for job in [first, second] {
            assert_eq!(job.asks.join().expect("no panic"), Ok(()));
        }
    }

    /// Documents of six indices, whose clients had left, held all threads for half a minute.
    #[test]
    fn long_documents_of_many_indices_leave_a_thread_for_others() {
        let workers = Workers::start(1, Hashing::default()).expect("threads can be made");
        let (begins, begun) = mpsc::channel();
        let mut releases = Vec::new();
        let mut asks = Vec::new();
        for lane in 1..=6 {
            let (pool, begins) = (workers.documents.clone(), begins.clone());
            let (release, released) = mpsc::channel::<()>();
            releases.push(release);
            asks.push(std::thread::spawn(move || {
                let job = move || {
                    begins.send(Lane(lane)).expect("the test listens");
                    released.recv().expect("the test releases");
                };
                block_on(pool.run_as(Lane(lane), Cost::Long, "long", job))
            }));
        }
        for _ in 0..3 {
            begun.recv().expect("three of them begin");
        }
        while workers.documents.waiting_count() < 3 {
            std::thread::yield_now();
        }
        let usual = Blocked::ask(&workers.documents, Lane(7), &begins);
        assert_eq!(begun.recv(), Ok(Lane(7)));
        usual.end();
        releases.iter().for_each(|release| release.send(()).expect("it waits or runs"));
        asks.drain(..).for_each(|ask| assert_eq!(ask.join().expect("no panic"), Ok(())));
    }

    #[test]
    fn a_job_runs_elsewhere_and_its_answer_comes_back() {
        let here = std::thread::current().id();
        let there = block_on(pool(8).run("job", || std::thread::current().id()));
        assert_ne!(there.expect("runs"), here);
    }

    #[test]
    fn a_panic_is_an_error_and_the_thread_goes_on() {
        let pool = pool(8);
        let error = block_on(pool.run("bad job", || panic!("on purpose"))).expect_err("panicked");
        assert!(error.message.starts_with("bad job"), "{error}");
        assert_eq!(block_on(pool.run("good job", || 7)), Ok(7));
    }

    #[test]
    fn one_job_too_many_is_refused() {
        let pool = pool(1);
        let (release, wait) = mpsc::channel::<()>();
        let (started, begun) = mpsc::channel::<()>();
        let first = pool.clone();
        let thread = std::thread::spawn(move || {
            block_on(first.run("first", move || {
                started.send(()).expect("the test listens");
                wait.recv().expect("the test releases");
            }))
        });
        begun.recv().expect("the first job runs");
        let second = pool.clone();
        let waiting = std::thread::spawn(move || block_on(second.run("second", || 2)));
        while pool.waiting_count() < 1 {
            std::thread::yield_now();
        }
        let refused = block_on(pool.run("third", || 3)).expect_err("the queue holds one");
        assert_eq!(refused.kind, ErrorKind::Busy);
        release.send(()).expect("the job waits");
        assert_eq!(thread.join().expect("no panic"), Ok(()));
        assert_eq!(waiting.join().expect("no panic"), Ok(2));
    }
}
