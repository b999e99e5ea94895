//! What the clients of one life share, and how they judge what goes wrong.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use engine::Core;
use env::{Clock, Env};
use sim::{Sim, SimEnv};

use crate::history::{History, Stamp};
use crate::indices::Names;
use crate::node::Node;
use crate::secrets::Secrets;
use crate::shapes::Shapes;

/// How the machine does in one life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing fails.
    Sound,
    /// The disk is full for a while.
    Full,
    /// Calls to the disk fail.
    Failing,
    /// What is read may be damaged: a shard may fail, and says so.
    Damaged,
}

/// What outlives the process: all that the oracle knows.
#[derive(Default)]
pub struct Oracle {
    /// Documents.
    pub history: History,
    /// Indices, aliases, fields.
    pub names: RefCell<Names>,
    /// Settings, doors, copies, generations, templates.
    pub shapes: RefCell<Shapes>,
    /// Codes, grants, users, keys.
    pub secrets: RefCell<Secrets>,
    /// Which attempt each place in the history of an index of one shard was given to.
    pub given: RefCell<BTreeMap<(String, Stamp), u64>>,
    /// Documents that fields were promised for: index and field.
    pub fields: RefCell<BTreeSet<(String, String)>>,
    /// Searches compared with the plain model.
    pub compared: Cell<u64>,
}

/// What the clients of one life share.
pub struct Context {
    /// The machine.
    pub sim: Rc<Sim>,
    /// The outside.
    pub env: SimEnv,
    /// The node.
    pub node: Node,
    /// The oracle.
    pub oracle: Rc<Oracle>,
    /// How the machine does.
    pub health: Cell<Health>,
    /// Clients are to end.
    pub stopping: Cell<bool>,
    /// Clients that have not ended.
    pub active: Cell<usize>,
    /// The longest pause of a client, in microseconds.
    pub pause_us: u64,
    /// Tells what happens.
    pub verbose: bool,
}

impl Context {
    /// One of the cores.
    pub fn core(&self) -> &Rc<Core<SimEnv>> {
        &self.node.cores[self.below(self.node.cores.len() as u64) as usize]
    }

    /// A number below `end`.
    pub fn below(&self, end: u64) -> u64 {
        self.sim.below(end)
    }

    /// True once in `count`.
    pub fn one_in(&self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// Now.
    pub fn now(&self) -> Duration {
        self.env.clock().monotonic()
    }

    /// Rests for a while.
    pub async fn rest(&self) {
        let pause = self.below(self.pause_us.max(1));
        self.env.clock().sleep(Duration::from_micros(pause)).await;
    }

    /// Tells what happens, where somebody wants to know.
    pub fn say(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            println!("{:>12.6} {}", self.sim.now().as_secs_f64(), text());
        }
    }

    /// Something was not done: may that be? True where it is sure that it was not, and never will be.
    pub fn judge(&self, what: &str, error: &engine::Error) -> bool {
        self.say(|| format!("{what}: {} {} {}", error.status, error.kind, error.reason));
        let is_sure = error.status < 500;
        let may_fail = self.stopping.get()
            || match self.health.get() {
                Health::Sound => false,
                Health::Full => matches!(error.status, 403 | 429 | 503 | 507),
                Health::Failing | Health::Damaged => error.status >= 429,
            };
        assert!(
            may_fail,
            "{what} failed on a machine that is {:?}: {} [{}] {}",
            self.health.get(),
            error.status,
            error.kind,
            error.reason
        );
        is_sure
    }
}
