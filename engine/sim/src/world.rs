//! The simulation itself: what a test holds.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use env::ErrorKind;

use crate::chance::Chance;
use crate::fault::{Call, Faults, Lie};
use crate::outside::SimEnv;
use crate::scheduler::{Scheduler, Step};
use crate::storage::Storage;
use crate::stream::SimStream;

/// A run that takes more steps than this goes round in circles.
const STEPS_MAX: u64 = 50_000_000;

/// All there is, shared by every handle.
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) chance: RefCell<Chance>,
    pub(crate) storage: RefCell<Storage>,
    pub(crate) faults: RefCell<Faults>,
    pub(crate) scheduler: Scheduler,
    /// Handles of an earlier life are dead.
    pub(crate) life: Cell<u32>,
    pub(crate) cut: Cell<bool>,
    pub(crate) latency_us: Cell<(u64, u64)>,
    /// Of a thousand calls so many take longer, up to so many microseconds.
    pub(crate) spikes: Cell<(u64, u64)>,
    pub(crate) unix_ms_start: Cell<i64>,
    /// Jobs that were given to workers.
    pub(crate) jobs: Cell<u64>,
    /// How often a task asked whether others wait.
    pub(crate) yields: Cell<u64>,
    trace: Cell<u64>,
}

impl World {
    pub(crate) fn below(&self, end: u64) -> u64 {
        self.chance.borrow_mut().below(end)
    }

    pub(crate) fn percent(&self, percent: u64) -> bool {
        self.chance.borrow_mut().percent(percent)
    }

    /// How long the next call takes.
    pub(crate) fn latency(&self) -> Duration {
        let (least, mut most) = self.latency_us.get();
        let mut chance = self.chance.borrow_mut();
        let (per_mille, longest) = self.spikes.get();
        if per_mille > 0 && chance.below(1000) < per_mille {
            most = longest.max(most);
        }
        Duration::from_micros(chance.between(least, most))
    }

    /// Takes an event into the trace (FNV-1a over its words).
    pub(crate) fn record(&self, what: &str, words: &[u64]) {
        let mut hash = self.trace.get();
        let mut eat = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        what.bytes().for_each(&mut eat);
        words.iter().flat_map(|word| word.to_le_bytes()).for_each(&mut eat);
        self.trace.set(hash);
    }
}

/// A simulated machine: one disk, and one process at a time.
pub struct Sim {
    world: Rc<World>,
}

impl Sim {
    /// A machine with an empty disk, on which all that follows is decided by `seed`.
    pub fn new(seed: u64) -> Self {
        // Whoever walks a table does so in the same order in every run.
        base::hash::fix_seed();
        Self {
            world: Rc::new(World {
                seed,
                chance: RefCell::new(Chance::new(seed)),
                storage: RefCell::new(Storage::new()),
                faults: RefCell::new(Faults::default()),
                scheduler: Scheduler::new(),
                life: Cell::new(0),
                cut: Cell::new(false),
                latency_us: Cell::new((20, 2_000)),
                spikes: Cell::new((0, 0)),
                unix_ms_start: Cell::new(1_700_000_000_000),
                jobs: Cell::new(0),
                yields: Cell::new(0),
                trace: Cell::new(0xcbf2_9ce4_8422_2325),
            }),
        }
    }

    /// How many jobs were given to workers so far.
    pub fn jobs(&self) -> u64 {
        self.world.jobs.get()
    }

    /// How often tasks asked whether others wait, so far.
    pub fn yields(&self) -> u64 {
        self.world.yields.get()
    }

    /// The outside, as the process of this life sees it. After a crash, ask again.
    pub fn env(&self) -> SimEnv {
        SimEnv::new(&self.world)
    }

    /// Runs `future` and the tasks beside it until `future` ends. Tasks that it leaves behind go
    /// on in the next run.
    ///
    /// # Panics
    /// Where nothing can go on any more, and where the power was cut as planned.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let seed = self.world.seed;
        self.run_until_cut(future).unwrap_or_else(|| panic!("power was cut in a run, seed {seed}"))
    }

    /// As [`Sim::run`]; `None` where the power was cut on the way ([`Sim::cut_power_at`]). The
    /// disk has settled then and the process is gone.
    pub fn run_until_cut<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = Box::pin(future);
        self.world.scheduler.wake_main();
        for _ in 0..STEPS_MAX {
            match self.world.scheduler.step(&self.world, future.as_mut()) {
                Step::Done(value) => return Some(value),
                Step::Again => {}
                Step::Stuck => panic!("nothing can go on, seed {}", self.world.seed),
            }
            if self.world.cut.get() {
                self.end_life();
                drop(future);
                self.power_off();
                return None;
            }
        }
        panic!("{STEPS_MAX} steps without an end, seed {}", self.world.seed);
    }

    /// Lets the tasks left behind run until none of them can go on, or `duration` has passed.
    pub fn run_for(&self, duration: Duration) {
        let env = self.env();
        self.run(async move { env::Clock::sleep(env::Env::clock(&env), duration).await });
    }

    /// Cuts the power: all tasks end at once, and of what was not synced each sector and each name
    /// is kept, dropped, torn or garbage.
    pub fn crash(&self) {
        self.end_life();
        self.power_off();
    }

    /// Kills the process: all tasks end at once, the disk keeps what was written.
    pub fn kill(&self) {
        self.end_life();
        let world = &self.world;
        world.storage.borrow_mut().kill(&mut world.chance.borrow_mut());
        world.record("kill", &[]);
    }

    fn end_life(&self) {
        // The life ends first, so that what tasks do while they are dropped has no effect.
        self.world.life.set(self.world.life.get() + 1);
        self.world.cut.set(false);
        self.world.scheduler.clear();
    }

    fn power_off(&self) {
        let world = &self.world;
        world.storage.borrow_mut().settle(&mut world.chance.borrow_mut());
        world.record("power off", &[]);
    }

    /// Cuts the power while the `nth` call from now (1 is the next) that changes the disk is under
    /// way.
    pub fn cut_power_at(&self, nth: u64) {
        self.world.faults.borrow_mut().cut(nth);
    }

    /// Lets the `nth` such call from now (1 is the next) fail that touches a path which contains
    /// `path_part`.
    pub fn fail(&self, call: Call, path_part: &str, nth: u64, kind: ErrorKind) {
        self.world.faults.borrow_mut().fail(Some(call), path_part, nth, kind);
    }

    /// Lets the `nth` call from now (1 is the next) fail that changes the disk, whatever it is.
    pub fn fail_nth(&self, nth: u64, kind: ErrorKind) {
        self.world.faults.borrow_mut().fail(None, "", nth, kind);
    }

    /// Lets the disk lie about the `nth` write from now (1 is the next) to a path that contains
    /// `path_part`.
    pub fn lie(&self, lie: Lie, path_part: &str, nth: u64) {
        self.world.faults.borrow_mut().lie(lie, path_part, nth);
    }

    /// Lies that were told so far, each with the path of its file.
    pub fn lies_told(&self) -> Vec<(Lie, String)> {
        self.world.faults.borrow().told().to_vec()
    }

    /// Forgets all planned failures, lies and cuts.
    pub fn heal(&self) {
        self.world.faults.borrow_mut().clear();
    }

    /// How many calls so far changed the disk.
    pub fn changes(&self) -> u64 {
        self.world.faults.borrow().changes()
    }

    /// Leaves `bytes` free on the disk.
    pub fn set_free_bytes(&self, bytes: u64) {
        let mut storage = self.world.storage.borrow_mut();
        storage.capacity = storage.used().saturating_add(bytes);
    }

    /// How long calls to the disk and hops of streams take.
    pub fn set_latency(&self, least: Duration, most: Duration) {
        assert!(least <= most, "the least is not above the most");
        self.world.latency_us.set((least.as_micros() as u64, most.as_micros() as u64));
    }

    /// Lets `per_mille` of a thousand calls to the disk take up to `longest`.
    pub fn set_spikes(&self, per_mille: u64, longest: Duration) {
        self.world.spikes.set((per_mille, longest.as_micros() as u64));
    }

    /// Sets the calendar back or forward; the monotonic clock goes on.
    pub fn jump_calendar(&self, by_ms: i64) {
        let world = &self.world;
        world.unix_ms_start.set(world.unix_ms_start.get().saturating_add(by_ms));
        world.record("calendar", &[by_ms as u64]);
    }

    /// Stops the process for a while: time goes on, nothing else does. What was due meanwhile is
    /// due at once afterwards.
    pub fn pause(&self, duration: Duration) {
        self.world.scheduler.pass(duration);
        self.world.record("pause", &[duration.as_micros() as u64]);
    }

    /// What the calendar says at [`Sim::now`] 0.
    pub fn set_unix_ms(&self, unix_ms: i64) {
        self.world.unix_ms_start.set(unix_ms);
    }

    /// Flips the bits of `mask` in one byte of a file, also in its safe copy.
    ///
    /// # Panics
    /// Where there is no such file or byte.
    pub fn rot(&self, path: impl AsRef<Path>, offset: u64, mask: u8) {
        let path = path.as_ref();
        let rotten = self.world.storage.borrow_mut().rot(path, offset, mask);
        rotten.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Puts a file on the disk, safe at once.
    ///
    /// # Panics
    /// Where a folder stands there.
    pub fn plant(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        let planted = self.world.storage.borrow_mut().plant(path.as_ref(), bytes);
        planted.unwrap_or_else(|error| panic!("{error}"));
    }

    /// The bytes of a file as a read would see them.
    pub fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        self.world.storage.borrow().bytes(path.as_ref())
    }

    /// All files, sorted by their paths, with their lengths.
    pub fn files(&self) -> Vec<(PathBuf, u64)> {
        self.world.storage.borrow().files()
    }

    /// Names of the files in a folder, sorted.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let entries = self.world.storage.borrow().list(path.as_ref()).unwrap_or_default();
        entries.into_iter().map(|entry| entry.name).collect()
    }

    /// Two ends of a connection.
    pub fn stream_pair(&self) -> (SimStream, SimStream) {
        crate::stream::pair(&self.world)
    }

    /// Time since the machine was made.
    pub fn now(&self) -> Duration {
        self.world.scheduler.now()
    }

    /// A number that stands for all that happened so far.
    pub fn trace(&self) -> u64 {
        self.world.trace.get()
    }

    /// A number below `end`, by the seed: for tests that choose.
    pub fn below(&self, end: u64) -> u64 {
        self.world.below(end)
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.world.seed
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        // Tasks hold handles of the world and the world holds tasks: cut that circle.
        self.end_life();
    }
}
