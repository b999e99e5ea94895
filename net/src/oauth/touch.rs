//! When a grant was last used, and from where: what an owner looks at. Noted at most once a minute, so
//! that reading documents does not write a log.

use std::cell::RefCell;

use authz::Command;
use authz::principal::Via;
use base::hash::Map;
use env::{Clock, Env, Spawn};

use super::limit::host;
use crate::admit::{Caller, Security};

/// A use is noted at most this often.
const EVERY_MS: u64 = 60_000;

/// Grants that one core remembers to have noted.
const REMEMBERED_MAX: usize = 10_000;

/// What this core has noted lately.
#[derive(Default)]
pub struct Touched(RefCell<Map<u64, u64>>);

impl Touched {
    /// Notes that the caller's grant is used, beside whatever else goes on.
    pub fn note<E: Env>(
        &self,
        env: &E,
        security: Option<&Security<E>>,
        caller: &Caller,
        peer: &str,
    ) {
        let (Some(security), Caller::Known(known)) = (security, caller) else { return };
        let Via::Oauth(grant) = known.via() else { return };
        let now = u64::try_from(env.clock().unix_ms()).unwrap_or(0);
        // A narrowed token's use is the use of the access that the owner sees.
        let id = grant.family();
        let is_new = |at: u64| now.saturating_sub(at) < EVERY_MS;
        let mut noted = self.0.borrow_mut();
        if noted.get(&id).copied().is_some_and(is_new)
            || (grant.parent.is_none() && grant.last_used.is_some_and(is_new))
        {
            return;
        }
        if noted.len() >= REMEMBERED_MAX {
            noted.clear();
        }
        noted.insert(id, now);
        let address = Some(host(peer).to_owned());
        let keeper = security.keeper.clone();
        env.spawn().spawn(async move {
            // The next minute notes it again where this could not.
            keeper.ask(Command::Touch { grant: id, address, now }).await.ok();
        });
    }
}
