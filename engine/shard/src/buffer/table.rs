//! A hash table of numbers whose keys lie elsewhere: terms by their bytes, documents by their ids.
//!
//! Always true
//! 1. A slot holds a number and 32 bits of its key's hash, so most keys that differ are told
//!    apart without looking at them, and growing needs no key.
//! 2. At most three quarters of the slots are taken, removed ones included.
//!
//! Not here: the keys; the caller compares them. The hash is seeded (`base::hash`), so that nobody
//! outside can choose keys that collide. Nothing ever walks the table, so its order tells nothing.

/// No number.
const EMPTY: u32 = u32::MAX;
/// A number stood here.
const REMOVED: u32 = u32::MAX - 1;

/// Numbers by the hash of their keys.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// A power of two of (hash, number) pairs, or none.
    slots: Vec<(u32, u32)>,
    /// Slots that are not empty.
    taken: usize,
}

impl Table {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.slots.len() * size_of::<(u32, u32)>()
    }

    /// The number whose key has this hash and pleases `is_it`.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.slot(hash, is_it).map(|slot| self.slots[slot].1)
    }

    /// Puts `number` under `hash`, in place of the one that pleases `is_it`, if there is one.
    pub(crate) fn put(&mut self, hash: u64, number: u32, is_it: impl Fn(u32) -> bool) {
        debug_assert!(number < REMOVED, "the last two numbers are marks");
        if let Some(slot) = self.slot(hash, is_it) {
            self.slots[slot].1 = number;
            return;
        }
        if (self.taken + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.insert(fold(hash), number);
    }

    /// Removes the number that pleases `is_it`.
    pub(crate) fn remove(&mut self, hash: u64, is_it: impl Fn(u32) -> bool) {
        if let Some(slot) = self.slot(hash, is_it) {
            self.slots[slot].1 = REMOVED;
        }
    }

    #[inline]
    fn slot(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let hash = fold(hash);
        let mut slot = hash as usize & mask;
        loop {
            let (other, number) = self.slots[slot];
            if number == EMPTY {
                return None;
            }
            if other == hash && number != REMOVED && is_it(number) {
                return Some(slot);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn insert(&mut self, hash: u32, number: u32) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot].1 != EMPTY {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = (hash, number);
        self.taken += 1;
    }

    /// Doubles the slots, or just sweeps them where many numbers were removed.
    fn grow(&mut self) {
        let kept = self.slots.iter().filter(|(_, number)| *number < REMOVED).count();
        let len = ((kept + 1) * 2).next_power_of_two().max(16);
        let before = std::mem::replace(&mut self.slots, vec![(0, EMPTY); len]);
        self.taken = 0;
        for (hash, number) in before {
            if number < REMOVED {
                self.insert(hash, number);
            }
        }
    }
}

/// The half of the hash that is kept.
#[inline]
fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Hashes of three bits only, so that most keys collide.
        #[test]
        fn keeps_what_a_map_keeps(steps in prop::collection::vec((any::<bool>(), 0u32..60), 0..400)) {
            let mut keys: Vec<u32> = Vec::new();
            let mut table = Table::default();
            let mut model = BTreeMap::new();
            for (put, key) in steps {
                let hash = u64::from(key % 8);
                if put {
                    let number = keys.len() as u32;
                    keys.push(key);
                    table.put(hash, number, |other| keys[other as usize] == key);
                    model.insert(key, number);
                } else {
                    table.remove(hash, |other| keys[other as usize] == key);
                    model.remove(&key);
                }
            }
            for key in 0..60 {
                let found = table.find(u64::from(key % 8), |other| keys[other as usize] == key);
                prop_assert_eq!(found, model.get(&key).copied());
            }
        }
    }

    #[test]
    fn putting_and_removing_for_ever_does_not_grow_it() {
        let mut table = Table::default();
        for number in 0..100_000 {
            table.put(u64::from(number), number, |other| other == number);
            table.remove(u64::from(number), |other| other == number);
        }
        assert!(table.size_bytes() < 1024);
    }
}
