//! One core's part of the node: takes any operation, and answers for the shards whose home it is.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::path::Path;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;
use std::time::Duration;

use base::hash::Map;
use base::{CoreId, ShardId};
use consensus::Reserve;
use env::budget::{Holder, Lease};
use env::published::Watch;
use env::reply::{self, Answer, Reply};
use env::turns::{Lane, Turns};
use env::{Clock, Disk, Env, ErrorKind, Random, Spawn};
use mapping::analysis::effort::Exhausted;
use mapping::document::{Parser, STEPS_FIRST, STEPS_MAX};
use search::kept::KeptFilters;
use segment::BlockCache;

use crate::error::{Error, Result};
use crate::host::call::{Called, Down, Message, ShardCall};
use crate::host::keeper::Keeper;
use crate::host::scrub::Others;
use crate::host::serve::{self, Shards};
use crate::index::route::home_of;
use crate::left::Left;
use crate::node::{Config, Directory, Entry, Inbox, Shared, prepare};
use crate::ops::answers::{self, Answers};
use crate::ops::context::Contexts;
use crate::ops::kept::limit;
use crate::ops::limited::ViewKey;
use crate::ops::node_stats::Past;
use crate::ops::rolling::Rolling;
use crate::task::Tasks;

/// How long a request waits for a shard that still replays.
const OPENING_WAIT: Duration = Duration::from_secs(30);

/// How often such a request looks again.
const OPENING_POLL: Duration = Duration::from_millis(2);

/// Decoded blocks of term dictionaries that one core keeps.
const BLOCK_CACHE_BYTES: usize = 8 << 20;

/// Requests of one caller that may wait for their turn, on all cores together.
const WAITING_MAX: usize = 2048;

/// Where less than one part in so many of the memory is free it is tight: fewer tasks of one caller run.
const TIGHT_PART: usize = 3;

/// What one caller asks for at once is to take no more than one part in so many of the memory.
const CALLER_PART: usize = 2;

/// How long what only a worker may do waits, where too much waits for one.
pub(crate) const WAIT: Duration = Duration::from_millis(5);

/// Disk space that each core keeps back: what its logs have taken in can be written on a full disk.
const RESERVE_BYTES: u64 = 4 << 20;

/// The core that keeps the cluster state.
pub(crate) const KEEPER: CoreId = CoreId(0);

/// Starts a node whose cores all run here, one after the other: on a simulated machine, or one core.
/// Core 0 keeps the cluster state; each shard is open or has failed when this returns.
///
/// # Errors
/// Where the cluster state cannot be opened.
pub async fn start_all<E: Env>(
    env: &E,
    config: Config,
) -> std::result::Result<Vec<Rc<Core<E>>>, consensus::Error> {
    let (shared, inboxes) = prepare(config);
    let mut cores = Vec::new();
    for (id, inbox) in (0..).map(CoreId).zip(inboxes) {
        cores.push(Core::start(env.clone(), id, Arc::clone(&shared), inbox).await?);
    }
    cores[usize::from(KEEPER.get())].all_settled().await;
    Ok(cores)
}

/// Versions of what is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    state: u64,
    directory: u64,
}

/// One core of a node.
pub struct Core<E: Env> {
    pub(crate) env: E,
    pub(crate) id: CoreId,
    pub(crate) shared: Arc<Shared>,
    pub(crate) lease: Lease,
    pub(crate) turns: Turns<E>,
    pub(crate) shards: RefCell<Shards<E>>,
    /// What shards counted that are closed.
    pub(crate) past: RefCell<Past<E>>,
    pub(crate) keeper: RefCell<Option<Rc<Keeper<E>>>>,
    pub(crate) parser: RefCell<Parser>,
    /// Searches of the shards whose home this is, by the groups that they named.
    pub(crate) groups: RefCell<base::hash::Map<ShardId, crate::ops::groups::Groups>>,
    pub(crate) blocks: RefCell<BlockCache>,
    /// Filters whose documents are kept.
    pub(crate) kept: RefCell<KeptFilters>,
    /// Answers that are kept.
    pub(crate) answers: RefCell<Answers>,
    /// Mappings as callers with limits see them.
    pub(crate) views: RefCell<Map<ViewKey, Arc<mapping::Mapping>>>,
    pub(crate) reserve: RefCell<Option<Reserve<E>>>,
    pub(crate) tasks: RefCell<Tasks>,
    pub(crate) contexts: RefCell<Contexts>,
    /// Who waits to roll something over.
    pub(crate) rolling: Rolling,
    /// Scripts that were compiled.
    pub(crate) scripts: RefCell<crate::ops::script::Scripts>,
    pub(crate) others: Others<E>,
    /// What the cluster's health was when it was last looked at.
    pub(crate) health: Cell<Option<(Seen, crate::ops::observe::Tally)>>,
    /// When the next waiter for health may look again (monotonic).
    pub(crate) next_look: Cell<Duration>,
    failure: RefCell<Option<Reply<String>>>,
    failed: RefCell<Option<Answer<String>>>,
    state: RefCell<Watch<cluster::State>>,
    directory: RefCell<Watch<Directory>>,
}

/// Which workers do a job.
enum Pool {
    Heavy,
    Documents(Lane),
    LongDocuments(Lane),
    Search(Lane),
}

/// How often a worker has begun to read documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// For the first time: how long it takes is not known.
    First,
    /// For the second: it is long.
    Long,
}

impl Pass {
    /// Steps of analysis that may be taken: in the first pass for all documents together, then for each.
    pub(crate) const fn steps(self) -> u64 {
        match self {
            Self::First => STEPS_FIRST,
            Self::Long => STEPS_MAX,
        }
    }
}

/// A job waits for its worker, has begun, or will not begin.
const WAITS: u8 = 0;
const BEGUN: u8 = 1;
const GIVEN_UP: u8 = 2;

/// Why documents were not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Too many wait for a worker.
    Busy,
    /// The same, and it is long.
    BusyLong,
    /// Whoever asked has left.
    Left,
}

impl Unread {
    /// What is told of it.
    pub(crate) fn error(self) -> Error {
        match self {
            Self::Busy | Self::BusyLong => Error::rejected("too many documents wait for a worker"),
            Self::Left => {
                Error::new(400, "task_cancelled_exception", "task cancelled [channel closed]")
            }
        }
    }
}

impl<E: Env> Core<E> {
    /// Starts core `id`: it answers messages from now on. Core 0 also opens the cluster state and
    /// begins to open every shard; when this returns there, every index is known.
    ///
    /// # Errors
    /// Where the cluster state cannot be opened.
    pub async fn start(
        env: E,
        id: CoreId,
        shared: Arc<Shared>,
        inbox: Inbox,
    ) -> std::result::Result<Rc<Self>, consensus::Error> {
        let reserve = open_reserve(&env, id, &shared).await?;
        let (reply, answer) = reply::channel();
        let lease = shared.budget.lease();
        let room = limit(shared.budget.total_bytes(), shared.config.cores);
        let answers_room = answers::limit(shared.budget.total_bytes(), shared.config.cores);
        let turns = Turns::new(env.clone(), WAITING_MAX / usize::from(shared.config.cores));
        let beside = lease.clone();
        let cores = usize::from(shared.config.cores);
        let share = shared.budget.total_bytes() / CALLER_PART / cores;
        turns.look_at(share, move || beside.is_below(TIGHT_PART));
        let core = Rc::new(Self {
            reserve: RefCell::new(Some(reserve)),
            failure: RefCell::new(Some(reply)),
            failed: RefCell::new(Some(answer)),
            kept: RefCell::new(KeptFilters::new(room, lease.of(Holder::Filters))),
            answers: RefCell::new(Answers::new(answers_room, lease.of(Holder::Filters))),
            lease,
            turns,
            state: RefCell::new(Watch::new(Arc::clone(&shared.state))),
            directory: RefCell::new(Watch::new(Arc::clone(&shared.directory))),
            shards: RefCell::default(),
            past: RefCell::default(),
            keeper: RefCell::default(),
            parser: RefCell::default(),
            groups: RefCell::default(),
            views: RefCell::default(),
            blocks: RefCell::new(BlockCache::new(BLOCK_CACHE_BYTES)),
            tasks: RefCell::default(),
            contexts: RefCell::default(),
            rolling: Rolling::default(),
            scripts: RefCell::default(),
            others: RefCell::default(),
            health: Cell::default(),
            next_look: Cell::default(),
            env,
            id,
            shared,
        });
        let serving = Rc::clone(&core);
        core.env.spawn().spawn(serve::serve(serving, inbox));
        core.follow_directory();
        if id == KEEPER {
            Keeper::start(&core).await?;
        }
        Ok(core)
    }

    /// The newest cluster state.
    pub fn state(&self) -> Arc<cluster::State> {
        Arc::clone(self.state.borrow_mut().get())
    }

    /// Looks at the newest cluster state, without keeping it: for a glance at each of many names.
    pub fn glance<T>(&self, take: impl FnOnce(&cluster::State) -> T) -> T {
        take(self.state.borrow_mut().get())
    }

    /// Where the shards are.
    pub fn directory(&self) -> Arc<Directory> {
        Arc::clone(self.directory.borrow_mut().get())
    }

    /// Looks at each new directory, asked or not: whoever keeps one in which a shard stood keeps its
    /// segments mapped, and of a deleted index the room on the disk.
    fn follow_directory(self: &Rc<Self>) {
        let core = Rc::downgrade(self);
        let directory = Arc::clone(&self.shared.directory);
        self.env.spawn().spawn(async move {
            while let Some(version) = core.upgrade().map(|core| core.seen().directory) {
                directory.changed(version).await;
            }
        });
    }

    /// What is the newest now, for [`Core::changed`]. To be asked before one looks at the values:
    /// one that is newer than this ends the wait at once.
    pub fn seen(&self) -> Seen {
        Seen {
            state: self.state.borrow_mut().version(),
            directory: self.directory.borrow_mut().version(),
        }
    }

    /// Ends when the cluster state or the directory is another than `seen`, or at `until`
    /// (monotonic).
    pub async fn changed(&self, seen: Seen, until: Duration) {
        let left = until.saturating_sub(self.env.clock().monotonic());
        let mut state = self.shared.state.changed(seen.state);
        let mut directory = self.shared.directory.changed(seen.directory);
        let mut sleep = pin!(self.env.clock().sleep(left));
        poll_fn(|context| {
            let new = Pin::new(&mut state).poll(context).is_ready()
                || Pin::new(&mut directory).poll(context).is_ready()
                || sleep.as_mut().poll(context).is_ready();
            if new { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Runs `job` on a worker for the task whose turn it is, which is busy meanwhile. It does not begin
    /// where that task is given up before.
    ///
    /// # Errors
    /// Too many wait.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> env::Result<T> {
        self.work_as(Pool::Heavy, job).await
    }

    /// As [`Core::work`], for a step of a search, or what is like one: callers have turns, and nobody's
    /// documents stand behind it.
    ///
    /// # Errors
    /// Too many wait.
    pub async fn work_in_turn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> env::Result<T> {
        self.work_as(Pool::Search(self.turns.current()), job).await
    }

    /// As [`Core::work`], for reading documents of an index: those of others do not stand behind them. It does not
    /// begin where whoever asks has left before.
    ///
    /// # Errors
    /// Too many wait, or nobody waits for it any more.
    pub(crate) async fn work_on_document<T: Send + 'static>(
        &self,
        index: [u8; 16],
        left: &Left,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> std::result::Result<T, Unread> {
        self.work_unless_left(Pool::Documents(Lane::of_id(index)), left, job).await
    }

    /// As [`Core::work`], for reading documents of an index again that were acknowledged once: long ones, which
    /// never have the last worker.
    ///
    /// # Errors
    /// Too many wait.
    pub(crate) async fn work_on_kept_documents<T: Send + 'static>(
        &self,
        index: [u8; 16],
        job: impl FnOnce() -> T + Send + 'static,
    ) -> env::Result<T> {
        self.work_as(Pool::LongDocuments(Lane::of_id(index)), job).await
    }

    /// As [`Core::work_on_document`], for what may be long: it is begun twice then, the second time where such never
    /// have the last worker.
    ///
    /// # Errors
    /// As there; what the second pass answers where it had too few steps, too.
    pub(crate) async fn read_on_worker<T: Send + 'static>(
        &self,
        index: [u8; 16],
        left: &Left,
        job: impl FnOnce(Pass) -> std::result::Result<T, Exhausted> + Clone + Send + 'static,
    ) -> std::result::Result<std::result::Result<T, Exhausted>, Unread> {
        let again = job.clone();
        let made = self.work_on_document(index, left, move || job(Pass::First)).await?;
        if made.is_ok() {
            return Ok(made);
        }
        let pool = Pool::LongDocuments(Lane::of_id(index));
        let made = self.work_unless_left(pool, left, move || again(Pass::Long)).await;
        made.map_err(|unread| if unread == Unread::Busy { Unread::BusyLong } else { unread })
    }

    /// As [`Core::work_as`]; a job that has not begun when whoever asks leaves is given up, one that has is done to
    /// its end.
    async fn work_unless_left<T: Send + 'static>(
        &self,
        pool: Pool,
        left: &Left,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> std::result::Result<T, Unread> {
        let turn = Arc::new(AtomicU8::new(WAITS));
        let begins = |turn: &AtomicU8, to: u8| {
            turn.compare_exchange(WAITS, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
        };
        let own = Arc::clone(&turn);
        let job = move || begins(&own, BEGUN).then(job);
        let mut work = pin!(self.work_as(pool, job));
        let done = match left.or(work.as_mut()).await {
            Some(done) => done,
            None if begins(&turn, GIVEN_UP) => return Err(Unread::Left),
            None => work.await,
        };
        // A job that was not given up is done.
        done.map_err(|_| Unread::Busy)?.ok_or(Unread::Left)
    }

    /// As [`Core::work`], by workers of this kind.
    async fn work_as<T: Send + 'static>(
        &self,
        pool: Pool,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> env::Result<T> {
        let _held = self.turns.hold();
        let asking = Arc::new(());
        let job = while_asked(&asking, job);
        let spawn = self.env.spawn();
        let done = match pool {
            Pool::Heavy => spawn.work(job).await?,
            Pool::Documents(lane) => spawn.work_on_document(lane, job).await?,
            Pool::LongDocuments(lane) => spawn.work_on_long_document(lane, job).await?,
            Pool::Search(lane) => spawn.work_in_turn(lane, job).await?,
        };
        drop(asking);
        Ok(done.expect("who asked is still here"))
    }

    /// As [`Core::work_in_turn`], however many wait.
    ///
    /// # Errors
    /// The job panicked.
    pub(crate) async fn work_at_last<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Clone + Send + 'static,
    ) -> env::Result<T> {
        loop {
            match self.work_in_turn(job.clone()).await {
                Err(error) if error.kind == ErrorKind::Busy => self.env.clock().sleep(WAIT).await,
                done => return done,
            }
        }
    }

    /// Lets others run, where whoever calls it has run for long enough.
    pub(crate) fn pause(&self) -> impl AsyncFn() {
        async || self.env.spawn().yield_if_needed().await
    }

    /// Whose turn it is.
    pub fn turns(&self) -> &Turns<E> {
        &self.turns
    }

    /// What this core counts.
    pub fn meter(&self) -> &crate::meter::Meter {
        self.shared.meters.core(self.id)
    }

    /// What all cores share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The outside.
    pub fn env(&self) -> &E {
        &self.env
    }

    /// Ends when every shard is open or has failed.
    pub async fn all_settled(&self) {
        loop {
            let opening =
                self.directory().shards.values().any(|entry| matches!(entry, Entry::Opening));
            if !opening {
                return;
            }
            self.env.clock().sleep(OPENING_POLL).await;
        }
    }

    /// Flushes and closes every shard of every core, then the cluster state. For core 0, once no
    /// request is in flight.
    pub async fn stop(&self) {
        let mut answers = Vec::new();
        for sender in &self.shared.cores {
            let (reply, answer) = reply::channel();
            sender.send_reply(Message::Stop { reply });
            answers.push(answer);
        }
        for answer in answers {
            answer.await;
        }
        let keeper = self.keeper.borrow_mut().take();
        if let Some(keeper) = keeper {
            keeper.close().await;
        }
    }

    /// Ends with the reason when a log of this core fails: whoever runs the process ends it then.
    /// To be awaited once.
    pub async fn log_failed(&self) -> String {
        let failed = self.failed.borrow_mut().take();
        match failed {
            // The other end lives as long as the core does.
            Some(failed) => failed.await.unwrap_or_default(),
            None => std::future::pending().await,
        }
    }

    /// A log of this core takes nothing any more; the first failure is told.
    pub(crate) fn fail(&self, why: String) {
        let reply = self.failure.borrow_mut().take();
        if let Some(reply) = reply {
            reply.send(why);
        }
    }

    /// Tells whoever runs the process.
    pub(crate) fn warn(&self, message: &str) {
        (self.shared.config.warn)(message);
    }

    /// Damage was met in a view of this shard: its home looks whether it still stands on it, and
    /// tells the keeper.
    pub(crate) fn look_after(self: &Rc<Self>, shard: ShardId) {
        // Any question makes it look; nobody waits for this answer.
        drop(self.send(shard, |reply| ShardCall::Stats { reply }));
    }

    /// 16 random bytes.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        self.env.random().fill(&mut bytes);
        bytes
    }

    /// Milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        self.env.clock().unix_ms()
    }

    /// Sends a call to the shard's home and gives the place where its answer will be; a shard of
    /// this core begins on it at once, beside the caller.
    pub(crate) fn send<T: 'static>(
        self: &Rc<Self>,
        shard: ShardId,
        make: impl FnOnce(Reply<Called<T>>) -> ShardCall,
    ) -> Sent<T> {
        let (reply, answer) = reply::channel();
        let call = make(reply);
        let home = home_of(shard, self.shared.config.cores);
        if home == self.id {
            let core = Rc::clone(self);
            self.env.spawn().spawn(async move { serve::answer(&core, shard, call).await });
            return Sent(Ok(answer));
        }
        let weight = call.weight();
        let message = Message::Shard { shard, call, sent: self.env.clock().monotonic() };
        match self.shared.core(home).send(message, weight) {
            Ok(()) => Sent(Ok(answer)),
            Err(_) => Sent(Err(Down::Full)),
        }
    }

    /// Waits while the shard still replays; then says whether it serves.
    pub(crate) async fn settled(&self, shard: ShardId) -> Called<()> {
        let mut waited = Duration::ZERO;
        loop {
            match self.directory().shards.get(&shard) {
                Some(Entry::Open(_)) => return Ok(()),
                Some(Entry::Failed(failure)) => return Err(Down::Failed(Arc::clone(&failure.why))),
                Some(Entry::Opening) if waited >= OPENING_WAIT => return Err(Down::Opening),
                // Open to the state, not yet to the directory: it is about to be opened.
                None if !self.is_to_open(shard) || waited >= OPENING_WAIT => {
                    return Err(Down::Gone);
                }
                Some(Entry::Opening) | None => {}
            }
            self.env.clock().sleep(OPENING_POLL).await;
            waited += OPENING_POLL;
        }
    }

    fn is_to_open(&self, shard: ShardId) -> bool {
        self.state().index_by_uuid(shard.index).is_some_and(|index| index.open)
    }

    /// Asks a shard and waits for its answer.
    pub(crate) async fn ask<T: 'static>(
        self: &Rc<Self>,
        shard: ShardId,
        make: impl FnOnce(Reply<Called<T>>) -> ShardCall,
    ) -> Called<T> {
        self.settled(shard).await?;
        self.send(shard, make).answer().await
    }

    /// Changes the cluster state; done when it is durable, published, and new shards are open.
    pub(crate) async fn change(&self, command: cluster::Command) -> Result<cluster::Outcome> {
        let reserved_names = self.shared.config.reserved_names;
        if !reserved_names.is_empty() {
            let is_reserved = |name: &&str| reserved_names.contains(name);
            command.names().into_iter().try_for_each(|name| self.check_reserved(name))?;
            if let Some(name) = command.aliases().into_iter().find(is_reserved) {
                return Err(reserved_alias(name));
            }
        }
        if self.id == KEEPER {
            return self.change_here(command).await;
        }
        let (reply, answer) = reply::channel();
        let message = Message::Change { command, reply };
        if self.shared.core(KEEPER).send(message, 4096).is_err() {
            return Err(Error::rejected("the queue of cluster state changes is full"));
        }
        answer.await.unwrap_or_else(|| Err(Error::internal("the node is stopping")))
    }

    /// Is a name free for an index, or is it the authorization server's?
    pub(crate) fn check_reserved(&self, name: &str) -> Result<()> {
        match self.shared.config.reserved_names.contains(&name) {
            true => Err(reserved(name)),
            false => Ok(()),
        }
    }

    /// As [`Core::change`], on the keeper.
    pub(crate) async fn change_here(&self, command: cluster::Command) -> Result<cluster::Outcome> {
        let keeper = self.keeper.borrow().clone();
        match keeper {
            Some(keeper) => keeper.change(command).await,
            None => Err(Error::new(
                503,
                "cluster_block_exception",
                "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];",
            )),
        }
    }
}

const RESERVED: &str = "it is reserved for the paths of the authorization server";

/// An alias that is the beginning of somebody else's paths.
pub(crate) fn reserved_alias(name: &str) -> Error {
    let reason = format!("Invalid alias name [{name}]: {RESERVED}");
    Error::new(400, "invalid_alias_name_exception", reason)
}

/// A name that is the beginning of somebody else's paths.
fn reserved(name: &str) -> Error {
    Error::new(
        400,
        "invalid_index_name_exception",
        format!("Invalid index name [{name}], {RESERVED}"),
    )
    .with("index_uuid", "_na_")
    .with("index", name)
}

/// Room that a core keeps back for its logs.
async fn open_reserve<E: Env>(
    env: &E,
    id: CoreId,
    shared: &Shared,
) -> std::result::Result<Reserve<E>, consensus::Error> {
    let dir = shared.config.data.join("node");
    env.disk().create_dir(&dir).await?;
    if id == KEEPER {
        remove_reserves_of_others(env, &dir, shared.config.cores).await;
    }
    let path = dir.join(format!("reserve-{id}"));
    Ok(Reserve::open(env, path, RESERVE_BYTES).await?)
}

/// Removes what cores kept back that are no more, as there were more at an earlier start. What cannot be removed
/// takes room, and does no other harm.
async fn remove_reserves_of_others<E: Env>(env: &E, dir: &Path, cores: u16) {
    let is_of_others = |entry: &env::disk::Entry| {
        let core = entry.name.strip_prefix("reserve-").and_then(|core| core.parse::<u16>().ok());
        !entry.is_dir && core.is_some_and(|core| core >= cores)
    };
    for entry in env.disk().list(dir).await.unwrap_or_default().iter().filter(|it| is_of_others(it))
    {
        env.disk().remove(&dir.join(&entry.name)).await.ok();
    }
}

/// A job that is not begun where `asking` is given up before.
fn while_asked<T>(
    asking: &Arc<()>,
    job: impl FnOnce() -> T + Send + 'static,
) -> impl FnOnce() -> Option<T> + Send + 'static {
    let asked = Arc::downgrade(asking);
    move || (asked.strong_count() > 0).then(job)
}

/// An answer under way.
pub(crate) struct Sent<T>(std::result::Result<env::reply::Answer<Called<T>>, Down>);

impl<T> Sent<T> {
    /// The answer. A call whose core went away is answered as a closed shard.
    pub(crate) async fn answer(self) -> Called<T> {
        match self.0 {
            Ok(answer) => answer.await.unwrap_or(Err(Down::Gone)),
            Err(down) => Err(down),
        }
    }
}
