//! The door of a request that may take long: what its caller may do is asked anew each time.
//!
//! A task that goes on without its caller is asked so alone ([`Caller::lasting_gate`]); here somebody waits for the
//! answer, which tells what lacked, and accounts for what was made, as of any request.
//!
//! [`Caller::lasting_gate`]: crate::admit::Caller::lasting_gate

use std::sync::Arc;

use engine::Result;
use engine::gate::{Asked, Gate, Limits, Making, Origin, Standing};

/// A request's door, and what holds now.
pub struct Renewed<'d> {
    /// What was let in with the request: it tells of refusals as that does.
    pub door: &'d dyn Gate,
    /// What its caller may do now.
    pub now: Box<dyn Gate>,
}

impl Renewed<'_> {
    /// What is said now; a refusal in the words of the door, where that refuses as well.
    fn ask<T>(&self, ask: impl Fn(&dyn Gate) -> Result<T>) -> Result<T> {
        ask(&*self.now).map_err(|error| ask(self.door).err().unwrap_or(error))
    }
}

impl Gate for Renewed<'_> {
    fn cluster(&self, action: &'static str) -> Result<()> {
        self.ask(|gate| gate.cluster(action))
    }

    fn index(&self, action: &'static str, index: &str) -> Result<Limits> {
        self.ask(|gate| gate.index(action, index))
    }

    fn anywhere(&self, action: &'static str) -> Result<()> {
        self.ask(|gate| gate.anywhere(action))
    }

    fn owner(&self) -> &str {
        self.door.owner()
    }

    fn standing(&self) -> Option<Arc<dyn Standing>> {
        self.door.standing()
    }

    fn origin(&self) -> &Origin {
        self.door.origin()
    }

    fn tell_caller(&self, tell: &mut dyn FnMut(&'static str, &str)) {
        self.door.tell_caller(tell);
    }

    fn begins(&self, action: &'static str, names: Vec<String>) -> Asked<'_> {
        self.door.begins(action, names)
    }

    fn take_begun(&self) -> Vec<String> {
        self.door.take_begun()
    }

    fn may_make<'a>(&'a self, making: Making, name: &'a str) -> Asked<'a> {
        self.door.may_make(making, name)
    }

    fn not_made(&self, making: Making, name: &str, reason: &str) {
        self.door.not_made(making, name, reason);
    }

    fn made(&self, making: Making, name: &str) {
        self.door.made(making, name);
    }

    fn take_made(&self) -> Vec<(Making, String)> {
        self.door.take_made()
    }

    fn trusts_aliases(&self) -> bool {
        self.door.trusts_aliases()
    }

    fn index_by_alias(&self, action: &'static str, index: &str, alias: &str) -> Result<Limits> {
        self.ask(|gate| gate.index_by_alias(action, index, alias))
    }

    fn sees_by_alias(&self, action: &'static str, index: &str, alias: &str) -> bool {
        self.now.sees_by_alias(action, index, alias)
    }

    fn learns(&self, index: &str) -> bool {
        self.door.learns(index)
    }

    fn watches(&self, owner: &str) -> bool {
        self.door.watches(owner)
    }

    fn sees(&self, action: &'static str, index: &str) -> bool {
        self.now.sees(action, index)
    }
}
