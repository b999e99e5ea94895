//! Places of what programs ask for by themselves: device codes, and handles of pushed requests.
//!
//! The state has room for so many of each kind, and where one more comes ends the oldest, whoever's that is. So that it
//! never comes to this, whoever holds much is refused before: one more is taken where fewer are held than there are
//! places left, by the network that it comes from (one that somebody may own, a /24 or a /48); by the address (or /64)
//! in it, of the places that this leaves; and by the client there, of the places that this leaves. A client at one
//! address comes to a quarter of all places, `n` networks that flood leave one part in `n + 1` free, and whoever holds
//! nothing finds a place. What was given stays. What asks for much takes more places than one, so that who floods comes to no more
//! memory by long requests.
//!
//! It is no part of the replicated state. What is there since before a start is counted as nobody's.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Arc, Mutex, PoisonError};

use authz::form::Hash;
use authz::record::grant::{Device, Pushed};
use base::hash::Map;

/// So many of those that are known are looked up in the state with each that comes: so what was used up is soon
/// forgotten.
const LOOKED_AT: usize = 32;

/// All are looked through, on either side, at most this often, in milliseconds.
const LOOK_EVERY_MS: u64 = 1_000;

/// What was not kept so long after it came, in milliseconds, never will be.
const ON_ITS_WAY_MS: u64 = 60_000;

/// Bytes of scopes that a device asks for in each of its places.
const PLACE_BYTES: usize = 256;

/// Bytes of a pushed request in each of its places.
const PUSHED_PLACE_BYTES: usize = 1024;

/// What a parameter of it takes beside its texts.
const PARAMETER_BYTES: usize = 80;

/// What takes places for a time.
pub trait Passing {
    /// When they are free again, in milliseconds.
    fn end(&self) -> u64;

    /// How many it takes.
    fn count(&self) -> usize {
        1
    }
}

impl Passing for Device {
    fn end(&self) -> u64 {
        self.forgotten()
    }

    fn count(&self) -> usize {
        1 + self.scopes.iter().map(String::len).sum::<usize>() / PLACE_BYTES
    }
}

impl Passing for Pushed {
    fn end(&self) -> u64 {
        self.forgotten()
    }

    fn count(&self) -> usize {
        let bytes = |(name, value): &(String, String)| PARAMETER_BYTES + name.len() + value.len();
        1 + self.params.iter().map(bytes).sum::<usize>() / PUSHED_PLACE_BYTES
    }
}

/// What the state keeps.
type Kept<T> = authz::map::Map<Hash, Arc<T>>;

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Whose<'a> {
    /// The network that somebody may own; of a client with a secret that client.
    pub network: &'a str,
    /// The address (or /64) in it.
    pub place: &'a str,
    /// The client there.
    pub client: &'a str,
}

/// One that takes a place.
#[derive(Clone, Copy, Debug)]
struct One {
    /// As whose it counts: network, place, client; none of what is there since before a start.
    of: Option<[u64; 3]>,
    count: usize,
    created: u64,
    end: u64,
    /// The state has it, until it is used up.
    is_kept: bool,
}

#[derive(Debug, Default)]
struct Known {
    all: Map<Hash, One>,
    /// Places that they take.
    taken: usize,
    counts: Map<u64, usize>,
    ends: BTreeSet<(u64, Hash)>,
    /// The last that was looked up.
    at: Option<(u64, Hash)>,
    /// When all were looked through.
    looked_ms: Option<u64>,
}

impl Known {
    fn insert(&mut self, id: Hash, one: One) {
        self.remove(id);
        for of in one.of.into_iter().flatten() {
            *self.counts.entry(of).or_default() += one.count;
        }
        self.taken += one.count;
        self.ends.insert((one.end, id));
        self.all.insert(id, one);
    }

    fn remove(&mut self, id: Hash) {
        let Some(one) = self.all.remove(&id) else { return };
        self.ends.remove(&(one.end, id));
        self.taken -= one.count;
        for of in one.of.into_iter().flatten() {
            if let Some(count) = self.counts.get_mut(&of) {
                *count -= one.count;
                if *count == 0 {
                    self.counts.remove(&of);
                }
            }
        }
    }

    /// Forgets what is over or was used up, of these.
    fn look<T: Passing>(&mut self, ids: Vec<Hash>, kept: &Kept<T>, now: u64) {
        for id in ids {
            let Some(one) = self.all.get(&id).copied() else { continue };
            let end = match kept.get(&id) {
                Some(record) => record.end(),
                None if !one.is_kept && now < one.created + ON_ITS_WAY_MS => one.end,
                None => 0,
            };
            if end <= now {
                self.remove(id);
            } else if end != one.end {
                // A person began with it.
                self.insert(id, One { end, ..one });
            }
        }
    }

    /// Some, turn by turn, and all that should be over.
    fn look_at_some<T: Passing>(&mut self, kept: &Kept<T>, now: u64) {
        let over = self.ends.iter().take_while(|(end, _)| *end <= now).map(|(_, id)| *id);
        let over = over.collect();
        self.look(over, kept, now);
        let after = self.at.map_or(Unbounded, Excluded);
        let turn: Vec<(u64, Hash)> =
            self.ends.range((after, Unbounded)).take(LOOKED_AT).copied().collect();
        self.at = turn.last().copied().filter(|_| turn.len() == LOOKED_AT);
        self.look(turn.into_iter().map(|(_, id)| id).collect(), kept, now);
    }

    /// All of either side, where it was not done just now: `false` where it was.
    fn look_at_all<T: Passing>(&mut self, kept: &Kept<T>, now: u64) -> bool {
        if self.looked_ms.is_some_and(|last| now.abs_diff(last) < LOOK_EVERY_MS) {
            return false;
        }
        self.looked_ms = Some(now);
        self.look(self.all.keys().copied().collect(), kept, now);
        for (id, record) in kept.iter() {
            if record.end() > now && !self.all.contains_key(id) {
                let (count, end) = (record.count(), record.end());
                let one = One { of: None, count, created: now, end, is_kept: true };
                self.insert(*id, one);
            }
        }
        true
    }

    /// Are there so many places for one more of these?
    fn has_room(&self, of: [u64; 3], wanted: usize, most: usize) -> bool {
        let mut left = most.saturating_sub(self.taken);
        of.iter().all(|of| {
            let held = self.counts.get(of).copied().unwrap_or_default();
            let has_room = held + wanted <= left;
            left = left.saturating_sub(held);
            has_room
        })
    }
}

/// Who holds how many of one kind; all cores share it.
#[derive(Debug, Default)]
pub struct Places {
    known: Mutex<Known>,
    names: RandomState,
}

impl Places {
    /// Takes places for one that is about to be kept, where there are some for who asks; `kept` is what the state has.
    ///
    /// # Errors
    /// Seconds until there may be one.
    pub fn enter<T: Passing>(
        &self,
        (id, new): (Hash, &T),
        whose: &Whose<'_>,
        most: usize,
        kept: &Kept<T>,
        now: u64,
    ) -> Result<(), u64> {
        let of = [(0, whose.network), (1, whose.place), (2, whose.client)];
        let of = of.map(|level| self.names.hash_one(level));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() > known.all.len() {
            known.look_at_all(kept, now);
        }
        known.look_at_some(kept, now);
        let (count, end) = (new.count(), new.end());
        let has_room = known.has_room(of, count, most)
            || (known.look_at_all(kept, now) && known.has_room(of, count, most));
        if !has_room {
            let first = known.ends.first().map_or(now, |(end, _)| *end);
            return Err(first.saturating_sub(now).div_ceil(1000).max(1));
        }
        known.insert(id, One { of: Some(of), count, created: now, end, is_kept: false });
        Ok(())
    }

    /// The state has it now, or refused it.
    pub fn entered(&self, id: Hash, is_kept: bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match (known.all.get_mut(&id), is_kept) {
            (Some(one), true) => one.is_kept = true,
            (_, true) => {}
            (_, false) => known.remove(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1_000;

    fn device(id: u32, now: u64) -> Device {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&id.to_be_bytes());
        Device::new(Hash(hash), format!("{id}"), "app".into(), Vec::new(), now)
    }

    /// One place with what it keeps.
    #[derive(Default)]
    struct Story {
        places: Places,
        kept: Kept<Device>,
        last: u32,
    }

    impl Story {
        /// As many as are taken of `count` that come from there; the last one's number is `last`.
        fn come(&mut self, [network, place, client]: [&str; 3], count: usize, now: u64) -> usize {
            let whose = Whose { network, place, client };
            let mut taken = 0;
            for _ in 0..count {
                let new = device(self.last + 1, now);
                if self.places.enter((new.id, &new), &whose, MOST, &self.kept, now).is_ok() {
                    taken += 1;
                    self.last += 1;
                    self.kept.insert(new.id, Arc::new(new.clone()));
                    self.places.entered(new.id, true);
                }
            }
            assert!(self.kept.len() <= MOST, "the state ends nobody's");
            taken
        }
    }

    #[test]
    fn who_holds_much_leaves_places_to_everybody_else() {
        let mut story = Story::default();
        assert_eq!(story.come(["n", "a", "a x"], 2_000, 1), 250, "a quarter");
        // Another client there, another machine of the network, another network.
        assert_eq!(story.come(["n", "a", "a y"], 1, 1), 1);
        assert_eq!(story.come(["n", "b", "b x"], 1, 1), 1);
        assert_eq!(story.come(["m", "c", "c x"], 1, 1), 1);
        // However many clients, addresses and networks one has.
        let mut taken = 0;
        for network in 0..5 {
            for at in 0..50 {
                let place = format!("{network} {at}");
                for client in ["x", "y", "z"] {
                    let (network, client) = (format!("{network}"), format!("{place} {client}"));
                    taken += story.come([&network, &place, &client], 50, 1);
                }
            }
        }
        assert!((500..750).contains(&taken), "{taken}");
        assert_eq!(story.come(["m", "c", "c x"], 1, 1), 1);
        assert_eq!(story.come(["o", "d", "d x"], 1, 1), 1);
    }

    #[test]
    fn places_that_are_over_or_used_up_are_free() {
        let mut story = Story::default();
        assert_eq!(story.come(["n", "a", "a x"], 300, 1_000), 250);
        let whose = Whose { network: "n", place: "a", client: "a x" };
        let next = device(5_000, 1_000);
        let wait = story.places.enter((next.id, &next), &whose, MOST, &story.kept, 2_000);
        let end = device(1, 1_000).end();
        assert_eq!(wait, Err((end - 2_000).div_ceil(1000)), "until the first is over");
        // Ten of them were used up.
        for id in 1..=10 {
            story.kept.remove(&device(id, 0).id);
        }
        assert_eq!(story.come(["n", "a", "a x"], 300, 4_000), 10);
        assert_eq!(story.come(["n", "a", "a x"], 300, end), 240);
        // What the state never took holds nothing.
        let never = device(9_000, end);
        let places = &story.places;
        let free = Whose { network: "m", place: "b", client: "b x" };
        assert_eq!(places.enter((never.id, &never), &free, MOST, &story.kept, end), Ok(()));
        places.entered(never.id, false);
        assert!(!places.known.lock().expect("nobody panicked").all.contains_key(&never.id));
    }

    #[test]
    fn who_asks_for_much_takes_more_places() {
        let (places, kept) = (Places::default(), Kept::default());
        let whose = Whose { network: "n", place: "a", client: "a x" };
        let enter = |id, scope: &str| {
            let scopes = vec![scope.to_owned()];
            let new = Device { scopes, ..device(id, 1) };
            places.enter((new.id, &new), &whose, MOST, &kept, 1).is_ok()
        };
        let long = "x".repeat(10 * PLACE_BYTES);
        let taken = (0..100).filter(|id| enter(*id, &long)).count();
        assert_eq!(taken, 23, "eleven places each");
        assert!(!enter(200, "self"));
        places.entered(device(0, 1).id, false);
        assert!(enter(200, "self"));
        assert_eq!(places.known.lock().expect("nobody panicked").taken, 22 * 11 + 1);
    }

    #[test]
    fn who_pushes_long_requests_takes_more_places() {
        let pushed = |params: Vec<(String, String)>| {
            Pushed { id: Hash([1; 32]), client: "app".into(), params, end: 1, kept: None }.count()
        };
        let param = |bytes: usize| ("state".to_owned(), "x".repeat(bytes));
        assert_eq!(pushed(Vec::new()), 1);
        assert_eq!(pushed(vec![param(500)]), 1);
        assert_eq!(pushed(vec![param(8_000)]), 8);
        assert_eq!(pushed((0..100).map(|_| param(1)).collect()), 9, "many are much, too");
    }

    #[test]
    fn what_is_there_since_before_a_start_takes_places_of_nobody() {
        let mut story = Story::default();
        for id in 1..=600 {
            let old = device(id, 1_000);
            story.kept.insert(old.id, Arc::new(old));
        }
        story.last = 600;
        assert_eq!(story.come(["n", "a", "a x"], 300, 1_000), 100, "a quarter of what is left");
        // What is over takes none, though nobody cleared it away yet.
        let end = device(1, 1_000).end();
        let whose = Whose { network: "m", place: "b", client: "b x" };
        let fresh = Places::default();
        let next = device(5_000, end);
        assert_eq!(fresh.enter((next.id, &next), &whose, 1, &story.kept, end), Ok(()));
    }
}
