//! One executor for each core: starting them, and waiting for their end.
//!
//! Always true
//! 1. The preemption timer is 10 ms: below, glommio 0.9 loses wakes of timers.
//! 2. Each executor answers the watchdog as long as it runs.
//! 3. Executors are not bound to processors: glommio ignores the process's own affinity mask, and
//!    the kernel knows better what else runs.
//! 4. [`start`] returns when every executor runs, or an error that says why one does not.
//!
//! The memory that io_uring keeps pinned is set small (64 KiB a ring): it is taken three times for
//! each executor, and larger buffers come from the allocator without a measurable loss.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use base::CoreId;
use env::turns::Lane;
use env::{Error, ErrorKind, Result, Spawn, leftovers};
use glommio::{ExecutorJoinHandle, Latency, LocalExecutorBuilder, Placement, Shares};

use crate::RuntimeEnv;
use crate::clock::RuntimeClock;
use crate::disk::RuntimeDisk;
use crate::pause::Pauses;
use crate::poke::Poke;
use crate::probe::Probe;
use crate::random::RuntimeRandom;
use crate::ring;
use crate::stretch::Watch;
use crate::system;
use crate::watchdog::{Beat, Watchdog};
use crate::workers::{Cost, Hashing, Pool, Workers};

const PREEMPT_TIMER: Duration = Duration::from_millis(10);
const IO_MEMORY_BYTES: usize = 64 << 10;
/// The kernel keeps who waits on sockets in a table of a 32nd of twice this many places, and each look at the
/// rings walks through one of them (it takes the last timer back): with 128, 8 places, which beside 1,064
/// connections took 2.3 % of a core. Three rings of 1,024 take 0.3 MB, which Linux before 5.12 counts as locked.
const RING_DEPTH: usize = 1024;

/// How long a task may hold its core before it lets others run. Beside a flood of aggregations a read
/// waits for three looks at the rings: with 500 µs its median was 3.0 ms, with 200 it is 1.8; the flood
/// itself goes on as fast.
pub const STRETCH_MAX: Duration = Duration::from_micros(200);

/// A task that gives way does so for at most so many looks at the rings, and after each look for rounds
/// of other tasks, until the next look is due. The steps of a write need two looks (its bytes, its sync)
/// and a few rounds; with one of each it waited for eight pieces of other callers' work, now for three.
const LOOKS_MAX: usize = 3;

/// Where others took longer after a look, no further one follows: then they are no small steps of somebody who
/// waits, but as much work as that of the task that gives way. A look is five calls of the kernel.
const SMALL: Duration = Duration::from_micros(50);

/// What one executor is given at its start.
#[derive(Clone, Debug)]
pub struct Core {
    /// Its number, from 0.
    pub id: CoreId,
    /// How many there are.
    pub count: usize,
    /// The outside, seen from it.
    pub env: RuntimeEnv,
}

/// Executors that run.
#[derive(Debug)]
pub struct Running {
    handles: Vec<ExecutorJoinHandle<Result<()>>>,
    workers: Workers,
    _watchdog: Watchdog,
}

impl Running {
    /// Waits until every executor's main task has ended.
    pub fn join(self) -> Result<()> {
        let mut ended = Ok(());
        for handle in self.handles {
            match handle.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => ended = Err(error),
                Err(error) => {
                    ended = Err(Error::new(ErrorKind::Io, format!("an executor failed: {error}")));
                }
            }
        }
        ended
    }

    /// The threads beside the executors.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }
}

/// Starts one executor for each of `seeds` and runs `main` on each; an executor ends when its
/// `main` does, and what it spawned ends with it.
pub fn start<S, M, F>(seeds: Vec<S>, main: M) -> Result<Running>
where
    S: Send + 'static,
    M: FnOnce(Core, S) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + 'static,
{
    start_measured(seeds, main, &Probe::new(), Hashing::default())
}

/// As [`start`]; `probe` measures what runs, `hashing` says how many passwords are hashed at a time.
pub fn start_measured<S, M, F>(
    seeds: Vec<S>,
    main: M,
    probe: &Probe,
    hashing: Hashing,
) -> Result<Running>
where
    S: Send + 'static,
    M: FnOnce(Core, S) -> F + Clone + Send + 'static,
    F: Future<Output = ()> + 'static,
{
    let count = seeds.len();
    assert!(count > 0, "there is at least one core");
    let clock = RuntimeClock::start();
    let workers = Workers::start(count, hashing)?;
    let mut beats = Vec::with_capacity(count);
    let mut handles = Vec::with_capacity(count);
    let mut started = Vec::with_capacity(count);
    for (number, seed) in seeds.into_iter().enumerate() {
        let id = CoreId(u16::try_from(number).map_err(|_| {
            Error::new(ErrorKind::Io, format!("{count} cores are more than can be numbered"))
        })?);
        let beat = Arc::new(Beat::default());
        beats.push(Arc::clone(&beat));
        let (begun, begins) = mpsc::channel();
        started.push(begins);
        let workers = workers.clone();
        let syncs = probe.syncs();
        let main = main.clone();
        let handle: ExecutorJoinHandle<Result<()>> = LocalExecutorBuilder::new(Placement::Unbound)
            .name("core")
            .io_memory(IO_MEMORY_BYTES)
            .ring_depth(RING_DEPTH)
            .preempt_timer(PREEMPT_TIMER)
            .spawn(move || async move {
                if let Err(error) = system::prefer_short_slices() {
                    log::debug!("the scheduler was not asked for short slices: {error}");
                }
                if !ring::is_cooperative() {
                    log::debug!(
                        "what ends for a core interrupts it: this Linux is older than 5.19"
                    );
                }
                let leftovers = workers.leftovers.clone();
                leftovers::take_by(move |left| leftovers.run_unawaited(move || drop(left)));
                let watch = Rc::new(Watch::new(Arc::clone(&beat)));
                let spawn = RuntimeSpawn::new(workers.clone(), watch)?;
                // Their wakes are written to the executor's event in any case.
                let beats = glommio::executor().create_task_queue(
                    Shares::default(),
                    Latency::Matters(PREEMPT_TIMER),
                    "beats",
                );
                glommio::spawn_local_into(beat.answer(), beats)
                    .map_err(|error| Error::from_io(&error.into(), "a queue of tasks for beats"))?
                    .detach();
                let disk = RuntimeDisk::new(workers.files.clone(), syncs);
                let watch = Rc::clone(&spawn.watch);
                let env = RuntimeEnv { disk, clock, random: RuntimeRandom::new(), spawn };
                // Nobody listens any more only where another executor failed to start.
                if begun.send(()).is_ok() {
                    RuntimeSpawn::watched(watch, main(Core { id, count, env }, seed)).await;
                }
                Ok(())
            })
            .map_err(|error| Error::from_io(&error.into(), "starting an executor"))?;
        handles.push(handle);
    }
    // An executor that cannot be built drops its sender; its thread then tells why.
    if let Some(failed) = started.iter().position(|begins| begins.recv().is_err()) {
        drop(started);
        let error = match handles.swap_remove(failed).join() {
            Err(error) => error.to_string(),
            Ok(Err(error)) => error.to_string(),
            Ok(Ok(())) => "it ended at once".into(),
        };
        return Err(Error::new(ErrorKind::Io, format!("starting executor {failed}: {error}")));
    }
    probe.watch(workers.clone(), beats.clone());
    Ok(Running { handles, workers, _watchdog: Watchdog::start(beats)? })
}

/// Tasks on this core, work on other threads.
#[derive(Clone, Debug)]
pub struct RuntimeSpawn {
    workers: Workers,
    /// When a task of this core last let others run.
    yielded: Rc<Cell<Instant>>,
    /// Polls of all tasks of this core, and how long they take.
    watch: Rc<Watch>,
    poke: Rc<Poke>,
    pauses: Rc<Pauses>,
    /// What runs is part of a task that yields by itself.
    within: Rc<Cell<bool>>,
    /// A task gives way now.
    giving: Rc<Cell<bool>>,
}

/// Says that a task gives way, until it is dropped.
struct Giving<'a>(&'a Cell<bool>);

impl<'a> Giving<'a> {
    /// None where another does already.
    fn begin(giving: &'a Cell<bool>) -> Option<Self> {
        (!giving.replace(true)).then_some(Self(giving))
    }
}

impl Drop for Giving<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl RuntimeSpawn {
    /// For the executor that this runs on.
    pub(crate) fn new(workers: Workers, watch: Rc<Watch>) -> Result<Self> {
        let yielded = Rc::new(Cell::new(Instant::now()));
        let poke = Rc::new(Poke::new()?);
        let pauses = [&workers.heavy, &workers.documents].map(Pool::clone);
        let pauses = Rc::new(Pauses::new(pauses.into()));
        let (within, giving) = (Rc::default(), Rc::default());
        Ok(Self { workers, yielded, watch, poke, pauses, within, giving })
    }

    /// Leaves the queue of tasks; the executor looks at its rings where an event waits there.
    async fn leave(&self) {
        let executor = glommio::executor();
        if executor.need_preempt() {
            // No task runs between this and the look.
            self.poke.looks();
        }
        executor.yield_task_queue_now().await;
    }

    /// Lets those run who are woken, and whom they wake in turn, until the rings should be looked at
    /// again. Did any, and did they little?
    async fn let_run(&self) -> bool {
        let (looked, mut did) = (Instant::now(), false);
        loop {
            let before = self.watch.polls();
            glommio::executor().yield_now().await;
            let took = looked.elapsed();
            // This task's own poll is one of them.
            if self.watch.polls() <= before + 1 || took >= STRETCH_MAX {
                return did && took < SMALL;
            }
            did = true;
        }
    }

    /// Counts and times the polls of `task`.
    async fn watched<F: Future>(watch: Rc<Watch>, task: F) -> F::Output {
        let mut task = pin!(task);
        poll_fn(|context| {
            let begun = watch.begin();
            let polled = task.as_mut().poll(context);
            watch.end(begun, std::any::type_name::<F>());
            polled
        })
        .await
    }
}

/// Gives the turn back, and asks for another.
async fn yield_once() {
    let mut is_back = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_back, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

impl Spawn for RuntimeSpawn {
    fn thread_name(&self) -> String {
        std::thread::current().name().unwrap_or("unnamed").to_owned()
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        // `spawn_local` would run the task at once, inside of whatever its maker is doing; a queue
        // named explicitly only schedules it.
        let executor = glommio::executor();
        let task = Self::watched(Rc::clone(&self.watch), task);
        match executor.spawn_local_into(task, executor.current_task_queue()) {
            Ok(task) => drop(task.detach()),
            Err(error) => unreachable!("the queue of the running task is there: {error}"),
        }
    }

    async fn yield_if_needed(&self) {
        self.yield_after(STRETCH_MAX).await;
    }

    async fn yield_after(&self, most: Duration) {
        // While another gives way it looks at the rings: what has come there is no reason to stop here.
        let is_asked = || !self.giving.get() && glommio::executor().need_preempt();
        // An executor that was idle has looked at its rings, and nobody waits.
        let since = self.yielded.get().max(self.watch.looked());
        if !is_asked() && since.elapsed() < most {
            return;
        }
        if self.within.get() {
            return yield_once().await;
        }
        self.give_way().await;
    }

    async fn give_way(&self) {
        let Some(_giving) = Giving::begin(&self.giving) else {
            // Whoever gives way looks at the rings for this task, too: with hundreds of connections each
            // of them made looks of its own, ten calls of the kernel for each request.
            glommio::executor().yield_now().await;
            return self.yielded.set(Instant::now());
        };
        self.pauses.pause_if_needed();
        for _ in 0..LOOKS_MAX {
            // Leaves the whole queue, so that the executor looks at its rings: what was asked for
            // until now is handed to the kernel, and who waits for what is done is woken.
            self.poke.poke();
            self.leave().await;
            if !self.let_run().await {
                break;
            }
        }
        self.yielded.set(Instant::now());
    }

    fn set_within(&self, within: bool) {
        self.within.set(within);
    }

    async fn work<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        self.workers.heavy.run("heavy work", job).await
    }

    async fn work_in_turn<T: Send + 'static>(
        &self,
        lane: Lane,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.workers.search.run_for(lane, "step of a search", job).await
    }

    async fn work_on_document<T: Send + 'static>(
        &self,
        lane: Lane,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.workers.documents.run_for(lane, "a document", job).await
    }

    async fn work_on_long_document<T: Send + 'static>(
        &self,
        lane: Lane,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.workers.documents.run_as(lane, Cost::Long, "a long document", job).await
    }

    async fn work_short<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.workers.short.run("short work", job).await
    }

    async fn work_on_body<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.workers.bodies.run("a body", job).await
    }

    async fn work_on_hash<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        // A hash takes 19 MiB, more than all else of an empty node: kept for the next one, where one waits.
        let pool = self.workers.hashes.clone();
        let job = move || {
            let done = job();
            if pool.waiting_count() == 0 {
                system::give_all_back();
            }
            done
        };
        self.workers.hashes.run("a password", job).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::PoolOptions;

    /// A poke before the kernel had the receive was lost, and with it every later one.
    #[test]
    fn a_busy_core_looks_at_its_rings_at_each_yield() {
        let executor = LocalExecutorBuilder::new(Placement::Unbound)
            .io_memory(IO_MEMORY_BYTES)
            .ring_depth(RING_DEPTH)
            .preempt_timer(PREEMPT_TIMER);
        let busy = executor.spawn(|| async {
            let workers = Workers::start(1, Hashing::default()).expect("workers");
            let watch = Rc::new(Watch::new(Arc::default()));
            let spawn = RuntimeSpawn::new(workers, watch).expect("pokes");
            let (mut reached, mut looks) = (false, Vec::new());
            for _ in 0..200 {
                let begun = Instant::now();
                while begun.elapsed() <= STRETCH_MAX {
                    std::hint::spin_loop();
                }
                let before = spawn.poke.look_count();
                // The timer makes the look that hands the receives over, and often one before they
                // were asked for; from then on each yield makes its own.
                reached |= spawn.poke.reaches();
                spawn.yield_if_needed().await;
                if reached {
                    looks.push(spawn.poke.look_count() - before);
                }
            }
            looks
        });
        let looks = busy.expect("an executor").join().expect("it runs");
        assert!(looks.len() > 100, "{looks:?}");
        let missed = looks.iter().filter(|looks| **looks == 0).count();
        assert!(missed <= looks.len() / 10, "{missed} of {looks:?}");
    }

    #[test]
    fn a_job_comes_back_where_no_worker_has_room() {
        let executor = LocalExecutorBuilder::new(Placement::Unbound)
            .io_memory(IO_MEMORY_BYTES)
            .ring_depth(RING_DEPTH);
        let asked = executor.spawn(|| async {
            let mut answers = Vec::new();
            for waiting_max in [0, 64] {
                let mut workers = Workers::start(1, Hashing::default()).expect("workers");
                let short = Hashing { threads: 1, waiting_max };
                workers.short = Pool::start(&PoolOptions::awaited("short", short)).expect("a pool");
                let watch = Rc::new(Watch::new(Arc::default()));
                let spawn = RuntimeSpawn::new(workers, watch).expect("pokes");
                let here = std::thread::current().id();
                let job = move || std::thread::current().id() == here;
                let done = spawn.work_short_or_back(job).await;
                answers.push(done.map_err(|job| job.expect("nobody took it")()));
            }
            answers
        });
        let answers = asked.expect("an executor").join().expect("it runs");
        assert_eq!(answers, [Err(true), Ok(false)], "back here, and done elsewhere");
    }
}
