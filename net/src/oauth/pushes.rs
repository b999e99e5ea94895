//! What pushed requests hold, in bytes: all of them together are bounded, and one more than there is room for is
//! refused at the door, before anything keeps it.
//!
//! Anybody may push a request for a client without a secret, whose id is public, and who then opens it at `/authorize`
//! makes it last as long as a person has to decide: by their rate alone such requests filled the memory. Whoever asks
//! may hold as much as is left to others: one has half of the room at most, two have a third each. So whoever floods
//! leaves room to those who do not.
//!
//! Who asks is a client that has shown who it is, or a client in one network that somebody may own.
//!
//! It is no part of the replicated state. What was pushed before a start is counted as of one asker.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use authz::form::Hash;
use authz::record::grant::Pushed;
use base::hash::Map;

/// The parameters of one may have so many bytes, names and values together: twice of what the address of `/authorize`
/// may have, and what waits for a person because of it holds them once more.
pub const ONE_BYTES_MAX: usize = 8 << 10;

/// All hold at most one part of the memory in so many, and never more than so many bytes.
const MEMORY_PART: usize = 32;
const ALL_BYTES_MAX: usize = 64 << 20;

/// What one takes beside its parameters, and a parameter beside its texts.
const OWN_BYTES: usize = 512;
const PARAMETER_BYTES: usize = 80;

/// So many whose time is over are looked up with each that comes: nobody waits until all of them are.
const LOOKED_AT: usize = 64;

/// What the state has is looked through at most this often, in milliseconds, where it has more than is known.
const LEARN_EVERY_MS: u64 = 1_000;

/// Who pushed what was there before the start.
const BEFORE: &str = "before the start";

/// Requests as the state keeps them.
type Kept = authz::map::Map<Hash, Arc<Pushed>>;

#[derive(Clone, Copy, Debug)]
struct One {
    of: u64,
    bytes: usize,
    end: u64,
}

#[derive(Debug, Default)]
struct Known {
    all: Map<Hash, One>,
    /// When each is over, as far as is known: a person who begins with one makes that later.
    ends: BTreeSet<(u64, Hash)>,
    bytes: usize,
    of: Map<u64, usize>,
    learned_ms: Option<u64>,
}

impl Known {
    fn insert(&mut self, id: Hash, one: One) {
        self.remove(id);
        self.all.insert(id, one);
        self.ends.insert((one.end, id));
        self.bytes += one.bytes;
        *self.of.entry(one.of).or_default() += one.bytes;
    }

    fn remove(&mut self, id: Hash) {
        let Some(one) = self.all.remove(&id) else { return };
        self.ends.remove(&(one.end, id));
        self.bytes -= one.bytes;
        let rest = self.of.get(&one.of).map_or(0, |held| held - one.bytes);
        match rest {
            0 => drop(self.of.remove(&one.of)),
            rest => drop(self.of.insert(one.of, rest)),
        }
    }

    /// Forgets some whose time is over, but for those that a person has begun with meanwhile.
    fn look(&mut self, kept: &Kept, now: u64) {
        for _ in 0..LOOKED_AT {
            let Some((end, id)) = self.ends.first().copied().filter(|(end, _)| *end <= now) else {
                return;
            };
            let later = kept.get(&id).map(|pushed| pushed.forgotten()).filter(|later| *later > end);
            match (later, self.all.get(&id).copied()) {
                (Some(end), Some(one)) => self.insert(id, One { end, ..one }),
                _ => self.remove(id),
            }
        }
    }

    /// Learns what was pushed before the start.
    fn learn(&mut self, kept: &Kept, names: &RandomState) {
        let of = names.hash_one(BEFORE);
        for (id, pushed) in kept.iter() {
            if !self.all.contains_key(id) {
                self.insert(*id, One { of, bytes: held(pushed), end: pushed.forgotten() });
            }
        }
    }
}

/// What pushed requests hold, of whom; all cores share it.
#[derive(Debug, Default)]
pub struct Pushes {
    known: Mutex<Known>,
    names: RandomState,
}

impl Pushes {
    /// One is about to be kept, of so many bytes at most in all; `kept` is what the state has.
    ///
    /// # Errors
    /// Seconds until some of them end: there is no room.
    pub fn enter(
        &self,
        pushed: &Pushed,
        of: &str,
        now: u64,
        most: usize,
        kept: &Kept,
    ) -> Result<(), u64> {
        let one = One { of: self.names.hash_one(of), bytes: held(pushed), end: pushed.end };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = |last: u64| now.abs_diff(last) >= LEARN_EVERY_MS;
        if kept.len() > known.all.len() && known.learned_ms.is_none_or(is_due) {
            known.learned_ms = Some(now);
            known.learn(kept, &self.names);
        }
        known.look(kept, now);
        let left = most.saturating_sub(known.bytes + one.bytes);
        let own = known.of.get(&one.of).copied().unwrap_or_default() + one.bytes;
        if own > left {
            let first = known.ends.first().map_or(now, |(end, _)| *end);
            return Err(first.saturating_sub(now).div_ceil(1_000).max(1));
        }
        known.insert(pushed.id, one);
        Ok(())
    }

    /// The state did not take it.
    pub fn refused(&self, id: Hash) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

/// How much all may hold of so much memory.
pub fn most(memory_bytes: usize) -> usize {
    (memory_bytes / MEMORY_PART).min(ALL_BYTES_MAX)
}

/// How many bytes the parameters of a request have.
pub fn parameters_bytes(params: &[(String, String)]) -> usize {
    params.iter().map(|(name, value)| name.len() + value.len()).sum()
}

fn held(pushed: &Pushed) -> usize {
    OWN_BYTES
        + pushed.client.len()
        + pushed.params.len() * PARAMETER_BYTES
        + parameters_bytes(&pushed.params)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 100_000;

    fn pushed(id: u16, end: u64) -> Pushed {
        let mut hash = [0; 32];
        hash[..2].copy_from_slice(&id.to_be_bytes());
        let params = vec![("state".to_owned(), "x".repeat(10_000))];
        Pushed { id: Hash(hash), client: "app".to_owned(), params, end, kept: None }
    }

    /// How many of one asker come in, from `first` on.
    fn fill(pushes: &Pushes, of: &str, first: u16, now: u64, kept: &mut Kept) -> u16 {
        let mut count = 0;
        loop {
            let one = pushed(first + count, now + 60_000);
            if pushes.enter(&one, of, now, MOST, kept).is_err() {
                return count;
            }
            kept.insert(one.id, Arc::new(one));
            count += 1;
            assert!(count < 100, "there is no end of it");
        }
    }

    #[test]
    fn whoever_floods_leaves_room_to_others() {
        let (pushes, mut kept) = (Pushes::default(), Kept::default());
        assert_eq!(fill(&pushes, "flood", 0, 1_000, &mut kept), 4, "half of the room");
        assert_eq!(fill(&pushes, "other", 100, 1_000, &mut kept), 2, "half of the rest");
        let small = Pushed { params: Vec::new(), ..pushed(200, 61_000) };
        assert_eq!(pushes.enter(&small, "third", 1_000, MOST, &kept), Ok(()));
        assert_eq!(pushes.enter(&pushed(201, 61_000), "flood", 1_000, MOST, &kept), Err(60));
    }

    #[test]
    fn what_is_over_makes_room_and_what_a_person_began_with_does_not() {
        let (pushes, mut kept) = (Pushes::default(), Kept::default());
        assert_eq!(fill(&pushes, "app", 0, 1_000, &mut kept), 4);
        // One was begun with, one was decided; the state lets go of the others in its time.
        let begun = pushed(0, 61_000);
        let begun = Pushed { kept: Some(600_000), ..begun };
        kept.insert(begun.id, Arc::new(begun));
        kept.remove(&pushed(1, 0).id);
        assert_eq!(fill(&pushes, "app", 10, 60_999, &mut kept), 0);
        assert_eq!(fill(&pushes, "app", 10, 61_000, &mut kept), 3);
        assert_eq!(fill(&pushes, "app", 20, 600_000, &mut kept), 4);
    }

    #[test]
    fn a_start_forgets_nothing_and_what_was_not_kept_holds_nothing() {
        let (before, mut kept) = (Pushes::default(), Kept::default());
        fill(&before, "app", 0, 1_000, &mut kept);
        let after = Pushes::default();
        assert_eq!(fill(&after, "app", 100, 2_000, &mut kept), 2, "half of the rest");
        let (pushes, kept) = (Pushes::default(), Kept::default());
        for id in 0..100 {
            assert_eq!(pushes.enter(&pushed(id, 61_000), "app", 1_000, MOST, &kept), Ok(()));
            pushes.refused(pushed(id, 0).id);
        }
    }
}
