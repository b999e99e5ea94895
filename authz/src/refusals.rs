//! The line in which passwords are checked: who may stand in it, and when wrong ones are refused.
//!
//! Checks stand in one line of workers, and take from 5 to 270 ms by the hash. A refusal that came as soon as
//! its check ends would tell by its own time whether there is such a user, and by the time of those behind it, too:
//! nine wrong passwords at once made the last of them late where the hash is costly. So a refusal comes when it
//! would if each check before it, and its own, took [`CHECK`].
//!
//! From one address (or /64, of which one machine has all) only [`HOST_MAX`] stand in it: names that nobody has cost nothing, and with a new one each time a
//! stranger filled the line, so that nobody else could log in.
//!
//! Always true
//! 1. All cores share one line, as they share the workers.
//! 2. Who is let in never waits here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::hash::Map;

use crate::network::place;

/// Longer than the costliest hash that is taken needs for both forms of a password: on a machine whose time for our
/// own is 25 ms, and that does nothing else, 134 ms a form for Argon2id of 96 MiB, 88 for bcrypt of cost 10, 70 for
/// PBKDF2 of 100,000 rounds; and half as much again for a machine that does.
pub(crate) const CHECK: Duration = Duration::from_millis(400);

/// No refusal waits longer than for so many checks.
const PLACES_MAX: u32 = 32;

/// Checks from one address that stand in line together.
const HOST_MAX: u32 = 32;

/// How many passwords are being checked; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    standing: Arc<Mutex<Standing>>,
}

#[derive(Debug, Default)]
struct Standing {
    all: u32,
    /// By address; only those of whom some stand.
    hosts: Map<String, u32>,
}

/// A place in it, left when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    line: Line,
    host: String,
    /// From 1.
    at: u32,
}

impl Line {
    /// Takes the last place for a check that `host` asks for; none where too many of it stand already.
    pub(crate) fn enter(&self, host: &str) -> Option<Place> {
        let host = place(host);
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let of_host = standing.hosts.entry(host.clone()).or_default();
        if *of_host >= HOST_MAX {
            return None;
        }
        *of_host += 1;
        standing.all += 1;
        Some(Place { line: self.clone(), host, at: standing.all })
    }
}

impl Place {
    /// How long after it was taken and `took` later a refusal still waits.
    pub(crate) fn rest(&self, took: Duration) -> Duration {
        let due = CHECK * self.at.min(PLACES_MAX);
        match due.checked_sub(took) {
            Some(rest) => rest,
            // A busy machine: the next whole step.
            None => {
                let beyond = (took - due).as_nanos() % CHECK.as_nanos();
                CHECK - Duration::from_nanos(u64::try_from(beyond).unwrap_or(0))
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut standing = self.line.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.all -= 1;
        if let Some(of_host) = standing.hosts.get_mut(&self.host) {
            *of_host -= 1;
            if *of_host == 0 {
                standing.hosts.remove(&self.host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_waits_for_those_before_it() {
        let line = Line::default();
        let ms = Duration::from_millis;
        let enter = |host: &str| line.enter(host).expect("few stand");
        let (first, second) = (enter("a"), enter("b"));
        assert_eq!((first.rest(ms(20)), second.rest(ms(20))), (ms(380), ms(780)));
        assert_eq!(second.rest(ms(799)), ms(1), "whatever the hashes took");
        assert_eq!(first.rest(ms(500)), ms(300), "late, and still at a whole step");
        drop(first);
        assert_eq!(enter("a").rest(ms(0)), ms(800));
        drop(second);
        assert_eq!(enter("a").rest(ms(0)), ms(400));
        let crowd: Vec<_> = (0..100).map(|at| enter(&at.to_string())).collect();
        assert_eq!(crowd[99].rest(ms(0)), ms(400 * 32));
    }

    #[test]
    fn one_address_does_not_fill_the_line() {
        let line = Line::default();
        let mut crowd: Vec<_> = (0..HOST_MAX).map(|_| line.enter("a").expect("few")).collect();
        assert!(line.enter("a").is_none() && line.clone().enter("b").is_some());
        crowd.pop();
        assert!(line.enter("a").is_some());
        // One machine has all addresses of a /64, and filled it with one each.
        let of_one = |at: u32| line.enter(&format!("2001:db8::{at}"));
        let many: Vec<_> = (0..=HOST_MAX).map(of_one).collect();
        assert!(many[31].is_some() && many[32].is_none());
        assert!(line.enter("2001:db8:0:1::").is_some());
        drop(many);
        drop(crowd);
        let standing = line.standing.lock().expect("sound");
        assert!(standing.all == 0 && standing.hosts.is_empty());
    }
}
