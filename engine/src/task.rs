//! Long work that callers may watch, slow down and cancel.
//!
//! A task lives on the core that does its work; its number tells which core that is, so nothing is
//! shared: who asks for one task asks that core, who asks for all asks every core. What became of a
//! task that nobody waited for is kept in memory, the newest [`KEPT_MAX`] of each core, of [`KEPT_BYTES_MAX`] together.
//!
//! Always true
//! 1. A number is given once while the node runs: `number % cores` is the task's core.
//! 2. A task is listed as long as its [`Running`] guard lives, and no longer.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use base::CoreId;
use base::hash::Map;
use env::reply::{self, Answer, Reply};
use env::{Clock, Env};

use crate::core::Core;
use crate::error::Result;
use crate::host::call::Message;
use crate::ops::Shards;
use crate::ops::by_query::{ByQueryReply, Progress, Status};

/// Results that a core keeps of tasks that are over.
const KEPT_MAX: usize = 256;

/// Bytes of all those: each may tell of a thousand documents that failed.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// What a task is, from its beginning.
#[derive(Clone, Debug, Default)]
pub struct TaskSpec {
    /// `transport`, or `direct` for a part that another task gave away.
    pub kind: &'static str,
    /// Elasticsearch's name: `indices:data/write/reindex`.
    pub action: &'static str,
    /// For people.
    pub description: String,
    /// It heeds [`TaskControl::is_cancelled`].
    pub cancellable: bool,
    /// The task that began it.
    pub parent: Option<u64>,
    /// Headers of the request that are passed on: `X-Opaque-Id`.
    pub headers: Vec<(String, String)>,
    /// What it belongs to, as [`crate::Gate::owner`] says.
    pub owner: String,
}

impl TaskSpec {
    /// About how many bytes its texts take.
    pub fn held_bytes(&self) -> usize {
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len());
        self.description.len() + self.owner.len() + headers.sum::<usize>()
    }
}

/// A task as it is told.
#[derive(Clone, Debug)]
pub struct TaskRow {
    /// Its number; with the node's id before it, its id.
    pub number: u64,
    /// What it is: the task's own, which may be long.
    pub spec: Arc<TaskSpec>,
    /// When it began, in milliseconds since 1970.
    pub start_ms: i64,
    /// For how long it has run.
    pub running_ns: u64,
    /// Somebody wants it to end.
    pub cancelled: bool,
    /// How far it is.
    pub status: Option<Status>,
}

/// A task, and what became of it where it is over.
#[derive(Clone, Debug)]
pub struct TaskState {
    /// The task.
    pub row: TaskRow,
    /// `None` while it runs.
    pub outcome: Option<Result<Ended>>,
}

impl TaskState {
    /// About how many bytes of memory it takes.
    fn held_bytes(&self) -> usize {
        let failed = match &self.outcome {
            Some(Ok(Ended::Work(reply))) => {
                let each = reply.failures.iter();
                each.map(|failed| failed.index.len() + failed.id.len() + failed.cause.held_bytes())
                    .sum()
            }
            Some(Ok(Ended::Shards(shards))) => {
                shards.failures.iter().map(|failed| failed.reason.held_bytes()).sum()
            }
            Some(Err(error)) => error.held_bytes(),
            None => 0,
        };
        size_of::<Self>() + self.row.spec.held_bytes() + failed
    }
}

/// What a task that did its work answers.
#[derive(Clone, Debug)]
pub enum Ended {
    /// Documents were gone through.
    Work(Box<ByQueryReply>),
    /// Shards were asked.
    Shards(Shards),
}

impl From<ByQueryReply> for Ended {
    fn from(reply: ByQueryReply) -> Self {
        Self::Work(Box::new(reply))
    }
}

impl From<Shards> for Ended {
    fn from(shards: Shards) -> Self {
        Self::Shards(shards)
    }
}

/// What a task's work and those who watch it share, on one core.
pub struct TaskControl {
    number: u64,
    spec: Arc<TaskSpec>,
    start_ms: i64,
    begun: Duration,
    cancelled: RefCell<Option<String>>,
    /// Counts of the work, of all its slices.
    pub(crate) progress: RefCell<Vec<Rc<Progress>>>,
    /// Who waits for the end.
    waiting: RefCell<Vec<Reply<()>>>,
    /// Who waits for a word: cancelled, or another speed.
    poked: RefCell<Vec<Reply<()>>>,
    is_sliced: Cell<bool>,
    /// Documents a second that were asked for before the work began.
    speed: Cell<Option<f32>>,
}

impl TaskControl {
    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Why somebody wants it to end.
    pub fn cancelled(&self) -> Option<String> {
        self.cancelled.borrow().clone()
    }

    /// Ends when somebody says something: cancelled, or another speed.
    pub(crate) fn word(&self) -> Answer<()> {
        let (reply, answer) = reply::channel();
        self.poked.borrow_mut().push(reply);
        answer
    }

    /// A part of this task, with its name, its owner and what it was told already.
    pub(crate) fn part<E: Env>(&self, core: &Rc<Core<E>>) -> Running<E> {
        let spec = TaskSpec { parent: Some(self.number), ..(*self.spec).clone() };
        let part = core.begin_task(spec);
        part.control.cancelled.replace(self.cancelled());
        part
    }

    /// The speed that was asked for meanwhile.
    pub(crate) fn speed(&self) -> Option<f32> {
        self.speed.get()
    }

    pub(crate) fn set_sliced(&self) {
        self.is_sliced.set(true);
    }

    fn poke(&self) {
        self.poked.take().into_iter().for_each(|reply| reply.send(()));
    }

    fn row(&self, now: Duration) -> TaskRow {
        let progress = self.progress.borrow();
        let status = (!progress.is_empty()).then(|| Status::of(&progress, self.is_sliced.get()));
        TaskRow {
            number: self.number,
            spec: Arc::clone(&self.spec),
            start_ms: self.start_ms,
            running_ns: now.saturating_sub(self.begun).as_nanos() as u64,
            cancelled: self.cancelled.borrow().is_some(),
            status,
        }
    }
}

/// The tasks of one core.
#[derive(Default)]
pub(crate) struct Tasks {
    count: u64,
    running: Map<u64, Rc<TaskControl>>,
    kept: VecDeque<TaskState>,
    kept_bytes: usize,
}

impl Tasks {
    /// A task that runs, and its parts: all of them are of its core.
    fn family(&self, number: u64) -> Vec<Rc<TaskControl>> {
        let parts = self.running.values().filter(|task| task.spec.parent == Some(number));
        self.running.get(&number).into_iter().chain(parts).map(Rc::clone).collect()
    }
}

/// A task that runs; it is over when this is dropped.
pub struct Running<E: Env> {
    core: Rc<Core<E>>,
    control: Rc<TaskControl>,
}

impl<E: Env> Running<E> {
    /// What the work looks at.
    pub fn control(&self) -> &Rc<TaskControl> {
        &self.control
    }

    /// The task with what became of it.
    pub fn ended(&self, outcome: Result<impl Into<Ended>>) -> TaskState {
        let row = self.control.row(self.core.env.clock().monotonic());
        TaskState { row, outcome: Some(outcome.map(Into::into)) }
    }

    /// Ends the task and keeps what became of it for whoever asks.
    pub fn keep(self, ended: TaskState) {
        let mut tasks = self.core.tasks.borrow_mut();
        tasks.kept_bytes += ended.held_bytes();
        tasks.kept.push_back(ended);
        // The newest is kept, however much it tells.
        while tasks.kept.len() > KEPT_MAX
            || (tasks.kept_bytes > KEPT_BYTES_MAX && tasks.kept.len() > 1)
        {
            let oldest = tasks.kept.pop_front();
            tasks.kept_bytes -= oldest.map_or(0, |oldest| oldest.held_bytes());
        }
    }
}

impl<E: Env> Drop for Running<E> {
    fn drop(&mut self) {
        self.core.tasks.borrow_mut().running.remove(&self.control.number);
        self.control.waiting.take().into_iter().for_each(|reply| reply.send(()));
    }
}

/// What is asked of the tasks of one core.
pub enum TaskCall {
    /// All that run.
    List {
        /// They.
        reply: Reply<Vec<TaskRow>>,
    },
    /// One.
    Get {
        /// Its number.
        number: u64,
        /// It, where it runs or its end is kept.
        reply: Reply<Option<TaskState>>,
    },
    /// Tells when one is over.
    Wait {
        /// Its number.
        number: u64,
        /// When it is over, or was.
        reply: Reply<()>,
    },
    /// Asks one, and its parts, to end.
    Cancel {
        /// Its number.
        number: u64,
        /// Why.
        reason: String,
        /// It, where it runs.
        reply: Reply<Option<TaskRow>>,
    },
    /// Sets the speed of one.
    Rethrottle {
        /// Its number.
        number: u64,
        /// Documents a second; infinite for no limit.
        requests_per_second: f32,
        /// It, where it runs.
        reply: Reply<Option<TaskRow>>,
    },
}

impl<E: Env> Core<E> {
    /// Begins a task on this core.
    pub fn begin_task(self: &Rc<Self>, spec: TaskSpec) -> Running<E> {
        let mut tasks = self.tasks.borrow_mut();
        tasks.count += 1;
        let cores = u64::from(self.shared.config.cores.max(1));
        let number = tasks.count * cores + u64::from(self.id.get());
        let control = Rc::new(TaskControl {
            number,
            spec: Arc::new(spec),
            start_ms: self.now_ms(),
            begun: self.env.clock().monotonic(),
            cancelled: RefCell::default(),
            progress: RefCell::default(),
            waiting: RefCell::default(),
            poked: RefCell::default(),
            is_sliced: Cell::new(false),
            speed: Cell::new(None),
        });
        tasks.running.insert(number, Rc::clone(&control));
        drop(tasks);
        Running { core: Rc::clone(self), control }
    }

    /// What `work` gives, which is a task from the first time that it waits: what answers at once was
    /// never there to be seen, and pays nothing for it. Where somebody cancels it, it is dropped.
    ///
    /// # Errors
    /// Why it was cancelled.
    pub async fn watched<T>(
        self: &Rc<Self>,
        spec: impl FnOnce() -> TaskSpec,
        mut work: Pin<&mut impl Future<Output = T>>,
    ) -> std::result::Result<T, String> {
        let mut spec = Some(spec);
        let mut listed: Option<(Running<E>, Answer<()>)> = None;
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Ok(done));
            }
            if let Some(spec) = spec.take() {
                let task = self.begin_task(spec());
                let word = task.control.word();
                listed = Some((task, word));
            }
            if let Some((task, word)) = &mut listed {
                while Pin::new(&mut *word).poll(context).is_ready() {
                    if let Some(reason) = task.control.cancelled() {
                        return Poll::Ready(Err(reason));
                    }
                    *word = task.control.word();
                }
            }
            Poll::Pending
        })
        .await
    }

    /// All tasks that run on the node, by number.
    pub async fn tasks(self: &Rc<Self>) -> Vec<TaskRow> {
        let mut answers = Vec::new();
        for core in 0..self.shared.config.cores {
            answers.push(self.ask_tasks(core.into(), |reply| TaskCall::List { reply }));
        }
        let mut rows = Vec::new();
        for answer in answers {
            rows.extend(answer.await.unwrap_or_default());
        }
        rows.sort_unstable_by_key(|row| row.number);
        rows
    }

    /// One task, running or over.
    pub async fn task(self: &Rc<Self>, number: u64) -> Option<TaskState> {
        self.ask_tasks(number, |reply| TaskCall::Get { number, reply }).await.flatten()
    }

    /// Ends when the task does, or after `timeout`; true where it is over.
    pub async fn task_over(self: &Rc<Self>, number: u64, timeout: Duration) -> bool {
        let mut over = self.ask_tasks(number, |reply| TaskCall::Wait { number, reply });
        let sleep = self.env.clock().sleep(timeout);
        let mut sleep = pin!(sleep);
        poll_fn(|context| {
            if Pin::new(&mut over).poll(context).is_ready() {
                return Poll::Ready(true);
            }
            sleep.as_mut().poll(context).map(|()| false)
        })
        .await
    }

    /// Asks a task to end; it, where it runs.
    pub async fn cancel_task(self: &Rc<Self>, number: u64, reason: &str) -> Option<TaskRow> {
        let reason = reason.to_owned();
        self.ask_tasks(number, |reply| TaskCall::Cancel { number, reason, reply }).await.flatten()
    }

    /// Sets the speed of a task; it, where it runs.
    pub async fn rethrottle_task(
        self: &Rc<Self>,
        number: u64,
        requests_per_second: f32,
    ) -> Option<TaskRow> {
        self.ask_tasks(number, |reply| TaskCall::Rethrottle { number, requests_per_second, reply })
            .await
            .flatten()
    }

    /// Sends a call to the core of a task.
    fn ask_tasks<T>(
        self: &Rc<Self>,
        number: u64,
        make: impl FnOnce(Reply<T>) -> TaskCall,
    ) -> Answer<T> {
        let (reply, answer) = reply::channel();
        let call = make(reply);
        let core = CoreId((number % u64::from(self.shared.config.cores.max(1))) as u16);
        if core == self.id {
            self.answer_tasks(call);
        } else {
            self.shared.core(core).send_reply(Message::Task(call));
        }
        answer
    }

    /// Answers for the tasks of this core.
    pub(crate) fn answer_tasks(&self, call: TaskCall) {
        let now = self.env.clock().monotonic();
        let tasks = self.tasks.borrow();
        match call {
            TaskCall::List { reply } => {
                reply.send(tasks.running.values().map(|task| task.row(now)).collect());
            }
            TaskCall::Get { number, reply } => {
                let running = tasks
                    .running
                    .get(&number)
                    .map(|task| TaskState { row: task.row(now), outcome: None });
                let kept = || tasks.kept.iter().find(|kept| kept.row.number == number).cloned();
                reply.send(running.or_else(kept));
            }
            TaskCall::Wait { number, reply } => match tasks.running.get(&number) {
                Some(task) => task.waiting.borrow_mut().push(reply),
                None => reply.send(()),
            },
            TaskCall::Cancel { number, reason, reply } => {
                let found = tasks.running.get(&number).map(|task| {
                    if task.spec.cancellable {
                        task.cancelled.borrow_mut().get_or_insert(reason);
                    }
                    task.row(now)
                });
                let family = tasks.family(number);
                drop(tasks);
                if let Some(reason) = family.first().and_then(|task| task.cancelled()) {
                    for part in family.iter().filter(|part| part.spec.cancellable) {
                        part.cancelled.borrow_mut().get_or_insert_with(|| reason.clone());
                    }
                }
                family.iter().for_each(|task| task.poke());
                reply.send(found);
            }
            TaskCall::Rethrottle { number, requests_per_second, reply } => {
                let task = tasks.running.get(&number).cloned();
                let family = tasks.family(number);
                drop(tasks);
                let found = task.filter(|task| task.spec.cancellable);
                reply.send(found.map(|task| {
                    task.speed.set(Some(requests_per_second));
                    let progress = task.progress.borrow();
                    let each = requests_per_second / progress.len() as f32;
                    progress.iter().for_each(|slice| slice.set_speed(each));
                    drop(progress);
                    family.iter().for_each(|task| task.poke());
                    task.row(now)
                }));
            }
        }
    }
}
