//! What may be decided about a client, by where it stands.
//!
//! | the client is | `_approve` | `_reject` | `_suspend` |
//! |---|---|---|---|
//! | pending | approved | rejected | – |
//! | approved | stays so | – | suspended |
//! | approved, a change waits | takes the change over | drops the change | suspended |
//! | rejected | – | stays so | – |
//! | suspended | approved | – | stays so |
//! | suspended, a change waits | approved; the change waits on | drops the change | stays so |
//!
//! What stands already as it is asked for is no fault: a script may ask again where an answer was lost.
//! From *rejected* only its developer leads on, by another version of it.

use authz::record::client::{Client, Status};
use engine::Error;

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Yes.
    Approve,
    /// No.
    Reject,
    /// Not for now.
    Suspend,
}

/// What a decision does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// What waits is approved: the client, or a change of it.
    TakeOver,
    /// The suspension ends, and nothing else.
    Resume,
    /// What waits is rejected: the client, or a change of it.
    Refuse,
    /// It may do nothing for now.
    Suspend,
    /// It stands so already.
    Stay,
}

/// What a decision does to a client; none where it has no place there.
pub fn step(client: &Client, verb: Verb) -> Option<Step> {
    let changes = client.proposal.is_some();
    match (client.status, verb) {
        (Status::Pending, Verb::Approve) => Some(Step::TakeOver),
        (Status::Pending, Verb::Reject) => Some(Step::Refuse),
        (Status::Approved, Verb::Approve) if changes => Some(Step::TakeOver),
        (Status::Approved | Status::Suspended, Verb::Reject) if changes => Some(Step::Refuse),
        (Status::Approved, Verb::Suspend) => Some(Step::Suspend),
        (Status::Suspended, Verb::Approve) => Some(Step::Resume),
        (Status::Approved, Verb::Approve)
        | (Status::Rejected, Verb::Reject)
        | (Status::Suspended, Verb::Suspend) => Some(Step::Stay),
        (Status::Pending | Status::Rejected, Verb::Suspend)
        | (Status::Approved | Status::Suspended, Verb::Reject)
        | (Status::Rejected, Verb::Approve) => None,
    }
}

/// 409 for a decision that has no place where the client called `id` stands.
pub fn refusal(id: &str, client: &Client, verb: Verb) -> Error {
    let verb = match verb {
        Verb::Approve => "approve",
        Verb::Reject => "reject",
        Verb::Suspend => "suspend",
    };
    conflict(verb, id, client)
}

/// 409 that names the state.
pub fn conflict(what: &str, id: &str, client: &Client) -> Error {
    let status = client.status.as_str();
    let waits = match client.status {
        Status::Approved | Status::Suspended => ", and no change of it waits",
        Status::Pending | Status::Rejected => "",
    };
    let reason = format!("cannot {what} client [{id}]: it is [{status}]{waits}");
    Error::new(409, "status_exception", reason)
}
