//! From state and command to the next state: a pure function, the same on every node and at every
//! replay.
//!
//! Whatever may happen once is decided here, on the one core that keeps the log: two requests that
//! race for one code are two commands, and the second finds it spent.

mod client;
mod flow;
mod store;
mod withdraw;

use crate::command::{Command, Outcome};
use crate::state::{Ends, State};

/// How many things that have ended one command clears away at most.
const CLEARED_MAX: usize = 8;

/// The next state, and what the command did.
pub fn apply(state: &State, command: &Command) -> (State, Outcome) {
    let mut next = state.clone();
    next.version += 1;
    let outcome = match command {
        Command::Bootstrap { .. }
        | Command::SetPassword { .. }
        | Command::PutUser { .. }
        | Command::DeleteUser { .. }
        | Command::EnableUser { .. }
        | Command::PutRoles { .. }
        | Command::DeleteRoles { .. }
        | Command::PutMapping { .. }
        | Command::DeleteMapping { .. }
        | Command::PutPrivileges { .. }
        | Command::DeletePrivileges { .. }
        | Command::PutKey { .. }
        | Command::UpdateKeys { .. }
        | Command::InvalidateKeys { .. }
        | Command::ForgetKeys { .. }
        | Command::PutServiceToken { .. }
        | Command::DeleteServiceToken { .. }
        | Command::ActivateProfile { .. }
        | Command::ChangeProfile { .. } => store::apply(&mut next, command),
        flow => flow::apply(&mut next, flow),
    };
    debug_assert!(next.version > state.version, "each command counts");
    (next, outcome)
}

/// Clears away what has ended, a little at a time.
fn clear(state: &mut State, now: u64) {
    let ended: Vec<(u64, Ends)> = state
        .ends
        .iter()
        .map(|(key, ())| key.clone())
        .take_while(|(end, _)| *end <= now)
        .take(CLEARED_MAX)
        .collect();
    for (end, what) in ended {
        end_now(state, end, what);
    }
}

/// Takes away what ends at `end`.
fn end_now(state: &mut State, end: u64, what: Ends) {
    state.ends.remove(&(end, what.clone()));
    match what {
        Ends::Pending(id) => drop(state.pending.remove(&id)),
        Ends::Pushed(id) => drop(state.pushed.remove(&id)),
        Ends::Session(id) => drop(state.sessions.remove(&id)),
        Ends::Grant(id) => drop(state.drop_grant(id)),
        Ends::Notice(grant) => drop(state.notices.remove(&grant)),
        // A spent code is remembered for as long as a token of it may live: it goes with its
        // grant.
        Ends::Code(hash) => {
            if state.codes.get(&hash).is_some_and(|code| code.spent.is_none()) {
                state.codes.remove(&hash);
            }
        }
        Ends::Device(id) => state.drop_device(id),
        Ends::Client(reference) => client::end(state, &reference, end),
    }
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
