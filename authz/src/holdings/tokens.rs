//! How many tokens of the token service there may be.
//!
//! Whoever is let in may ask for one with each request, and each is known until it ends: fifty thousand within two
//! minutes took a hundred megabytes while the state was saved. So a token is refused where all that there are would
//! hold more than their share of the memory, or those of one user a part of it. Those of applications are not counted
//! one by one: how many of them there may be is said where they are made ([`Command::Mint`]'s `most`).
//!
//! [`Command::Mint`]: crate::command::Command::Mint

use super::{OWNER_PART, weight};
use crate::error::{Error, Result};
use crate::record::grant::Grant;
use crate::state::State;

/// More of one user's are not counted: to go through them takes a core longer than it may be held.
const OWN_MAX: usize = 10_000;

/// May there be this token, too, where all may hold `most` bytes?
///
/// # Errors
/// [`Error::NoMemory`].
pub(super) fn judge(grant: &Grant, now: u64, state: &State, most: usize) -> Result<()> {
    let each = weight(grant);
    let room = most / each;
    // Each command clears away some of what has ended.
    let has_ended = state.ends.iter().next().is_some_and(|((end, _), ())| *end <= now);
    if state.grants.len() >= room && !has_ended {
        let bytes = (state.grants.len() + 1).saturating_mul(each);
        return Err(Error::NoMemory { what: "tokens", bytes, bytes_max: most });
    }
    let own_room = OWN_MAX.min(room / OWNER_PART).max(1);
    let are_many = state.grants.len() >= own_room && !has_ended;
    if are_many && state.service_grants_of(&grant.user).nth(own_room - 1).is_some() {
        let (bytes, bytes_max) =
            ((own_room + 1).saturating_mul(each), own_room.saturating_mul(each));
        return Err(Error::NoMemory { what: "tokens_of_one_user", bytes, bytes_max });
    }
    Ok(())
}
