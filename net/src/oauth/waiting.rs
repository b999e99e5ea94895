//! Who asked for what waits: requests that wait for a person are bounded in number, and one more than there may be
//! ends the oldest of those who have most.
//!
//! Anybody may begin a request, and there is no knowing what comes of it; so a bound alone would let one who begins
//! many end those of everybody. Counted are networks that one may own (a /24, a /48); of the network that has most
//! goes a request of the address (or /64) that has most in it. So whoever floods makes room for himself, and others
//! keep what they have.
//!
//! It is no part of the replicated state. What waits since before a start is counted as of one network, and in it as
//! its browser's: what a flood left there is not everybody's.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use authz::form::Hash;
use authz::record::grant::Pending;
use base::hash::Map;

use super::limit::{owned, place};

/// What is known of the state is looked through at most this often, in milliseconds.
const LOOK_EVERY_MS: u64 = 1_000;

/// What was not kept so long after it came, in milliseconds, never will be.
const ON_ITS_WAY_MS: u64 = 60_000;

/// The network of what waits since before the start.
const BEFORE: &str = "before the start";

/// Requests as the state keeps them.
type Kept = authz::map::Map<Hash, std::sync::Arc<Pending>>;

/// One that waits.
#[derive(Clone, Copy, Debug)]
struct One {
    /// The network, and the place in it.
    of: [u64; 2],
    created: u64,
    end: u64,
    /// The state has it, as long as it waits.
    is_kept: bool,
}

#[derive(Debug, Default)]
struct Known {
    all: Map<Hash, One>,
    looked_ms: u64,
}

/// Who asked for what waits; all cores share it.
#[derive(Debug, Default)]
pub struct Waiting {
    known: Mutex<Known>,
    names: RandomState,
}

impl Waiting {
    /// One is about to wait, asked for from `peer`, where so many may; answers those that must end before. `kept` is
    /// what the state has.
    pub fn enter(&self, pending: &Pending, peer: &str, most: usize, kept: &Kept) -> Vec<Hash> {
        let of = [self.names.hash_one(owned(peer)), self.names.hash_one(place(peer))];
        let (created, end) = (pending.created, pending.end);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = known.all.len().max(kept.len()) >= most;
        if is_full && created.abs_diff(known.looked_ms) >= LOOK_EVERY_MS {
            known.looked_ms = created;
            self.look(&mut known.all, kept, created);
        }
        known.all.insert(pending.id, One { of, created, end, is_kept: false });
        let mut over = Vec::new();
        while known.all.len() > most
            && let Some(id) = first(&known.all, pending.id)
        {
            known.all.remove(&id);
            over.push(id);
        }
        over
    }

    /// The state has it now, or refused it.
    pub fn entered(&self, id: Hash, is_kept: bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match is_kept {
            true => {
                if let Some(one) = known.all.get_mut(&id) {
                    one.is_kept = true;
                }
            }
            false => {
                known.all.remove(&id);
            }
        }
    }

    /// Forgets what was decided or is over, and learns what waits since before the start.
    fn look(&self, all: &mut Map<Hash, One>, kept: &Kept, now: u64) {
        all.retain(|id, one| {
            let is_coming = !one.is_kept && now < one.created + ON_ITS_WAY_MS;
            now < one.end && (is_coming || kept.contains(id))
        });
        let before = self.names.hash_one(BEFORE);
        for (id, pending) in kept.iter() {
            all.entry(*id).or_insert_with(|| One {
                of: [before, self.names.hash_one(pending.browser.0)],
                created: pending.created,
                end: pending.end,
                is_kept: true,
            });
        }
    }
}

/// The one that ends first, of those who have most; never `new`.
fn first(all: &Map<Hash, One>, new: Hash) -> Option<Hash> {
    let most = |level: usize, within: Option<u64>| {
        let mut counts: Map<u64, (usize, u64)> = Map::default();
        for (id, one) in all {
            if within.is_none_or(|network| one.of[0] == network) {
                let (count, oldest) = counts.entry(one.of[level]).or_insert((0, u64::MAX));
                *count += 1;
                *oldest = if *id == new { *oldest } else { one.created.min(*oldest) };
            }
        }
        // Of as many each, who has the oldest.
        let of = |(count, oldest): (usize, u64)| (count, std::cmp::Reverse(oldest));
        counts.into_iter().max_by_key(|(_, has)| of(*has)).map(|(of, _)| of)
    };
    let network = most(0, None)?;
    let place = most(1, Some(network))?;
    let those = all.iter().filter(|(id, one)| one.of == [network, place] && **id != new);
    let oldest = those.min_by_key(|(id, one)| (one.created, id.0)).map(|(id, _)| *id);
    // The new one may be all that its place has.
    let others = || all.iter().filter(|(id, _)| **id != new);
    oldest.or_else(|| others().min_by_key(|(id, one)| (one.created, id.0)).map(|(id, _)| *id))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn pending(id: u16, created: u64) -> Pending {
        let [high, low] = id.to_be_bytes();
        let mut hash = [0; 32];
        [hash[0], hash[1]] = [high, low];
        Pending::new(Hash(hash), Hash(hash), "app".into(), "https://app.example".into(), created)
    }

    fn enter(waiting: &Waiting, id: u16, peer: &str, kept: &mut Kept) -> Vec<u16> {
        let new = pending(id, u64::from(id) + 1_000);
        let over = waiting.enter(&new, peer, 10, kept);
        for id in &over {
            kept.remove(id);
        }
        kept.insert(new.id, Arc::new(new.clone()));
        waiting.entered(new.id, true);
        over.iter().map(|id| u16::from_be_bytes([id.0[0], id.0[1]])).collect()
    }

    #[test]
    fn who_has_most_makes_room() {
        let (waiting, mut kept) = (Waiting::default(), Kept::default());
        assert!(enter(&waiting, 1, "192.0.2.1:1", &mut kept).is_empty(), "somebody");
        for id in 2..=10 {
            let peer = format!("203.0.113.{id}:1");
            assert!(enter(&waiting, id, &peer, &mut kept).is_empty());
        }
        // A network of many addresses, and each of its /64: its own oldest go.
        for (id, over) in (11..=19).zip(2..) {
            let peer = format!("203.0.113.{id}:1");
            assert_eq!(enter(&waiting, id, &peer, &mut kept), [over]);
        }
        // Others come, and the flood makes room for them, be it by more networks than one.
        for (id, over) in (20..=22).zip(11..) {
            let peer = format!("[2001:db8:0:{id}::1]:1");
            assert_eq!(enter(&waiting, id, &peer, &mut kept), [over]);
        }
        assert_eq!(kept.len(), 10);
        assert!(kept.contains(&pending(1, 0).id));
    }

    #[test]
    fn within_a_network_goes_that_of_the_address_that_has_most() {
        let (waiting, mut kept) = (Waiting::default(), Kept::default());
        enter(&waiting, 1, "203.0.113.1:1", &mut kept);
        for id in 2..=30 {
            let over = enter(&waiting, id, "203.0.113.2:1", &mut kept);
            assert!(!over.contains(&1), "a neighbour's");
        }
        assert!(kept.contains(&pending(1, 0).id) && kept.len() == 10);
    }

    #[test]
    fn what_was_decided_counts_no_more_and_a_start_forgets_nothing() {
        let mut kept = Kept::default();
        for id in 1..=10 {
            let old = pending(id, 1_000);
            kept.insert(old.id, Arc::new(old));
        }
        // What is left of before goes before what two of one network began since.
        let waiting = Waiting::default();
        assert_eq!(enter(&waiting, 2_000, "203.0.113.1:1", &mut kept).len(), 1);
        let over = enter(&waiting, 2_001, "203.0.113.2:1", &mut kept);
        assert_eq!(over.len(), 1);
        assert_ne!(over, [2_000]);
        let decided = kept.iter().map(|(id, _)| *id).find(|id| id.0[0] == 0).expect("an old one");
        kept.remove(&decided);
        assert!(enter(&waiting, 4_000, "203.0.113.1:1", &mut kept).is_empty());
        // What never came is forgotten.
        waiting.enter(&pending(4_001, 5_001), "203.0.113.1:1", 10, &kept);
        waiting.entered(pending(4_001, 5_001).id, false);
        assert_eq!(waiting.known.lock().expect("nobody panicked").all.len(), 9);
    }
}
