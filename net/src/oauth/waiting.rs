//! Who asked for what waits: requests that wait for a person are bounded in number and in memory, and one more than
//! there may be ends the oldest of those who have most. One that takes much counts as many.
//!
//! Anybody may begin a request, and there is no knowing what comes of it; so a bound alone would let one who begins
//! many end those of everybody. Counted are networks that one may own (a /24, a /48); of the network that has most
//! goes a request of the address (or /64) that has most in it, where who is known counts as an account and
//! not as the address. So whoever floods makes room for himself, and others keep what they have.
//!
//! It is no part of the replicated state. What waits since before a start is counted as of one network, and in it as
//! its browser's: what a flood left there is not everybody's.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use authz::form::Hash;
use authz::record::grant::Pending;
use base::hash::Map;

/// So many of those that are known are looked up in the state with each that comes: so what was decided or is over is
/// soon forgotten, and nobody waits until all of it is looked through.
const LOOKED_AT: usize = 32;

/// What the state has is looked through at most this often, in milliseconds, where it has more than is known.
const LEARN_EVERY_MS: u64 = 1_000;

/// What was not kept so long after it came, in milliseconds, never will be.
const ON_ITS_WAY_MS: u64 = 60_000;

/// Bytes of memory in each place that a request takes: ten thousand places are ten megabytes.
const PLACE_BYTES: usize = 1024;

/// One takes this part of all places at most: a few wide ones leave others where they are.
const MOST_PART: usize = 16;

/// Places of `most` that a request takes: one for what each has, and for what it brings as the state keeps it.
fn places_of(pending: &Pending, most: usize) -> usize {
    let texts = |texts: &[String]| texts.iter().map(|text| TEXT_BYTES + text.len()).sum::<usize>();
    let texts = texts(&pending.scopes) + texts(&pending.resource);
    let details: usize = pending.details.iter().map(json::Value::held_bytes).sum();
    let others = [&pending.state, &pending.challenge, &pending.hint].into_iter().flatten();
    let others = others.map(String::len).sum::<usize>() + pending.redirect.len();
    let places = 1 + (texts + details + others) / PLACE_BYTES;
    places.min(most.div_ceil(MOST_PART))
}

/// What a text takes beside its bytes.
const TEXT_BYTES: usize = size_of::<String>() + 16;

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
    /// Places that it takes.
    places: usize,
    /// The state has it, as long as it waits.
    is_kept: bool,
}

/// Those of one network or place.
#[derive(Debug, Default)]
struct Members {
    /// The oldest first.
    all: BTreeSet<(u64, Hash)>,
    /// Places that they take.
    places: usize,
}

impl Members {
    fn insert(&mut self, id: Hash, one: &One) {
        if self.all.insert((one.created, id)) {
            self.places += one.places;
        }
    }

    fn remove(&mut self, id: Hash, one: &One) {
        if self.all.remove(&(one.created, id)) {
            self.places -= one.places;
        }
    }
}

/// How many places one takes, and of as many who has the oldest; the last of all goes first.
type Rank = (usize, Reverse<u64>);

fn rank(members: &Members) -> Option<Rank> {
    members.all.first().map(|(oldest, _)| (members.places, Reverse(*oldest)))
}

/// Who has how many.
#[derive(Debug, Default)]
struct Shares {
    networks: Map<u64, Members>,
    by_network: BTreeSet<(Rank, u64)>,
    places: Map<[u64; 2], Members>,
    /// The places of each network.
    by_place: BTreeSet<(u64, Rank, u64)>,
}

impl Shares {
    /// Changes the members of a network and of a place in it.
    fn change(&mut self, [network, place]: [u64; 2], change: impl Fn(&mut Members)) {
        let members = self.networks.entry(network).or_default();
        if let Some(rank) = rank(members) {
            self.by_network.remove(&(rank, network));
        }
        change(members);
        match rank(members) {
            Some(rank) => self.by_network.insert((rank, network)),
            None => self.networks.remove(&network).is_some(),
        };
        let members = self.places.entry([network, place]).or_default();
        if let Some(rank) = rank(members) {
            self.by_place.remove(&(network, rank, place));
        }
        change(members);
        match rank(members) {
            Some(rank) => self.by_place.insert((network, rank, place)),
            None => self.places.remove(&[network, place]).is_some(),
        };
    }

    /// The oldest of those who have most; never `new`.
    fn first(&self, new: Hash) -> Option<Hash> {
        let networks = self.by_network.iter().rev().map(|(_, network)| *network);
        let places = networks.flat_map(|network| {
            let least = (network, (0, Reverse(u64::MAX)), 0);
            let most = (network, (usize::MAX, Reverse(0)), u64::MAX);
            self.by_place.range(least..=most).rev().map(|(network, _, place)| [*network, *place])
        });
        let members = places.filter_map(|of| self.places.get(&of));
        let mut all = members.flat_map(|members| &members.all);
        all.find(|(_, id)| *id != new).map(|(_, id)| *id)
    }
}

#[derive(Debug, Default)]
struct Known {
    all: Map<Hash, One>,
    shares: Shares,
    /// Whose turn it is to be looked up.
    turns: VecDeque<Hash>,
    /// Places that all take.
    taken: usize,
    /// When what the state has was looked through.
    learned_ms: Option<u64>,
}

impl Known {
    fn insert(&mut self, id: Hash, one: One) {
        self.remove(id);
        self.all.insert(id, one);
        self.turns.push_back(id);
        self.taken += one.places;
        self.shares.change(one.of, |members| members.insert(id, &one));
    }

    fn remove(&mut self, id: Hash) {
        if let Some(one) = self.all.remove(&id) {
            self.taken -= one.places;
            self.shares.change(one.of, |members| members.remove(id, &one));
        }
    }

    /// Looks some up, and forgets what was decided or is over.
    fn look(&mut self, kept: &Kept, now: u64) {
        for _ in 0..LOOKED_AT.min(self.turns.len()) {
            let Some(id) = self.turns.pop_front() else { return };
            let Some(one) = self.all.get(&id) else { continue };
            let is_coming = !one.is_kept && now < one.created + ON_ITS_WAY_MS;
            if now < one.end && (is_coming || kept.contains(&id)) {
                self.turns.push_back(id);
            } else {
                self.remove(id);
            }
        }
    }

    /// Learns what waits since before the start.
    fn learn(&mut self, kept: &Kept, most: usize, names: &RandomState) {
        let before = names.hash_one(BEFORE);
        for (id, pending) in kept.iter() {
            if !self.all.contains_key(id) {
                let one = One {
                    of: [before, names.hash_one(pending.browser.0)],
                    created: pending.created,
                    end: pending.end,
                    places: places_of(pending, most),
                    is_kept: true,
                };
                self.insert(*id, one);
            }
        }
    }
}

/// From where a request comes.
#[derive(Clone, Copy, Debug)]
pub struct From<'a> {
    /// The network that somebody may own.
    pub network: &'a str,
    /// The address (or /64) in it, or the account of who is known there.
    pub of: &'a str,
}

/// Who asked for what waits; all cores share it.
#[derive(Debug, Default)]
pub struct Waiting {
    known: Mutex<Known>,
    names: RandomState,
}

impl Waiting {
    /// One is about to wait, asked for from there, where so many places are; answers those that must end before. `kept` is
    /// what the state has.
    pub fn enter(&self, pending: &Pending, from: &From<'_>, most: usize, kept: &Kept) -> Vec<Hash> {
        let of = [self.names.hash_one(from.network), self.names.hash_one(from.of)];
        let (created, end, places) = (pending.created, pending.end, places_of(pending, most));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = |last: u64| created.abs_diff(last) >= LEARN_EVERY_MS;
        if kept.len() > known.all.len() && known.learned_ms.is_none_or(is_due) {
            known.learned_ms = Some(created);
            known.learn(kept, most, &self.names);
        }
        known.look(kept, created);
        known.insert(pending.id, One { of, created, end, places, is_kept: false });
        let mut over = Vec::new();
        while known.taken > most
            && let Some(id) = known.shares.first(pending.id)
        {
            known.remove(id);
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
            false => known.remove(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::limit::{owned, place};
    use super::*;

    fn pending(id: u16, created: u64) -> Pending {
        let [high, low] = id.to_be_bytes();
        let mut hash = [0; 32];
        [hash[0], hash[1]] = [high, low];
        Pending::new(Hash(hash), Hash(hash), "app".into(), "https://app.example".into(), created)
    }

    fn enter(waiting: &Waiting, id: u16, peer: &str, kept: &mut Kept) -> Vec<u16> {
        enter_as(waiting, id, (peer, &place(peer)), kept)
    }

    fn enter_as(waiting: &Waiting, id: u16, (peer, of): (&str, &str), kept: &mut Kept) -> Vec<u16> {
        let new = pending(id, u64::from(id) + 1_000);
        let over = waiting.enter(&new, &From { network: &owned(peer), of }, 10, kept);
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

    /// Requests of thousands of numbers in their details were one of ten thousand each: 825 MiB of 128.
    #[test]
    fn what_takes_much_counts_as_many() {
        let (waiting, mut kept) = (Waiting::default(), Kept::default());
        let wide = |id: u16, values: u64| {
            let numbers = (0..values).map(|it| json::Value::from(it as f64)).collect();
            Pending {
                details: vec![json::Value::Array(numbers)],
                ..pending(id, u64::from(id) + 1_000)
            }
        };
        let mut enter = |new: Pending, network: &str| {
            let over = waiting.enter(&new, &From { network, of: network }, 100, &kept);
            for id in &over {
                kept.remove(id);
            }
            kept.insert(new.id, Arc::new(new.clone()));
            waiting.entered(new.id, true);
            over.iter().map(|id| u16::from_be_bytes([id.0[0], id.0[1]])).collect::<Vec<_>>()
        };
        for id in 1..=40 {
            assert!(enter(wide(id, 0), "many").is_empty());
        }
        // Two kilobytes and more each: fewer of them take more than forty small ones.
        assert!((3..7).contains(&places_of(&wide(0, 60), 100)), "{}", places_of(&wide(0, 60), 100));
        let over: Vec<u16> = (100..130).flat_map(|id| enter(wide(id, 60), "few")).collect();
        assert!(over.len() >= 10 && over.iter().all(|id| *id >= 100), "{over:?}");
        // What takes all there is counts as a part of it: others stay.
        let over = enter(wide(200, 50_000), "few");
        assert!(over.iter().all(|id| *id >= 100), "{over:?}");
    }

    /// Behind the address of a company are all of its people, and one of them floods.
    #[test]
    fn who_is_known_makes_no_room_for_who_floods_from_the_same_address() {
        let (waiting, mut kept) = (Waiting::default(), Kept::default());
        let peer = "203.0.113.1:1";
        enter_as(&waiting, 1, (peer, "account of a person"), &mut kept);
        for id in 2..=30 {
            let over = enter(&waiting, id, peer, &mut kept);
            assert!(!over.contains(&1), "a known browser's");
        }
        assert!(kept.contains(&pending(1, 0).id) && kept.len() == 10);
    }

    /// Shares are kept in order, and are what counting finds.
    #[test]
    fn who_has_most_is_who_counting_finds() {
        let waiting = Waiting::default();
        let (mut kept, mut model) = (Kept::default(), Vec::<(u16, u8, u8)>::new());
        let mut random = 7u32;
        for id in 1..=2_000u16 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (network, of) = ((random >> 24) as u8 % 5, (random >> 16) as u8 % 4);
            if random >> 8 & 3 == 0 && !model.is_empty() {
                // Its person decided.
                let (decided, ..) = model.remove(usize::from(id) % model.len());
                kept.remove(&pending(decided, 0).id);
            }
            let names = (format!("n{network}"), format!("{network} {of}"));
            let new = pending(id, u64::from(id) + 1_000);
            let from = From { network: &names.0, of: &names.1 };
            let over = waiting.enter(&new, &from, 10, &kept);
            model.push((id, network, of));
            let mut expected = Vec::new();
            if model.len() > 10 {
                let count = |same: &dyn Fn(&(u16, u8, u8)) -> bool| {
                    model.iter().filter(|one| same(one)).count()
                };
                let oldest = |same: &dyn Fn(&(u16, u8, u8)) -> bool| {
                    std::cmp::Reverse(model.iter().filter(|one| same(one)).map(|one| one.0).min())
                };
                let first = model[..model.len() - 1].iter().max_by_key(|(id, network, of)| {
                    let near = |one: &(u16, u8, u8)| one.1 == *network;
                    let same = |one: &(u16, u8, u8)| (one.1, one.2) == (*network, *of);
                    let network = (count(&near), oldest(&near));
                    (network, (count(&same), oldest(&same)), std::cmp::Reverse(*id))
                });
                expected.push(pending(first.expect("some").0, 0).id);
                model.retain(|one| pending(one.0, 0).id != expected[0]);
            }
            assert_eq!(over, expected, "{id}");
            for id in &over {
                kept.remove(id);
            }
            kept.insert(new.id, Arc::new(new.clone()));
            waiting.entered(new.id, true);
        }
        let known = waiting.known.lock().expect("nobody panicked");
        assert!(known.turns.len() <= known.all.len() + LOOKED_AT, "{}", known.turns.len());
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
        let from = From { network: "203.0.113.0/24", of: "203.0.113.1/32" };
        waiting.enter(&pending(4_001, 5_001), &from, 10, &kept);
        waiting.entered(pending(4_001, 5_001).id, false);
        assert_eq!(waiting.known.lock().expect("nobody panicked").all.len(), 9);
    }
}
