//! A hash table of numbers whose keys lie elsewhere: terms by their bytes, documents by their ids.
//!
//! Always true
//! 1. A slot holds a number and 32 bits of its key's hash, so most keys that differ are told
//!    apart without looking at them, and growing needs no key.
//! 2. The slots lie in parts, chosen by the highest bits of the hash. In each at most three quarters
//!    are taken, removed ones included.
//! 3. A part that is full is split in two, and the others stay as they are (extendible hashing), so
//!    no growth takes longer than one part does.
//!
//! Not here: the keys; the caller compares them. The hash is seeded (`base::hash`), so that nobody
//! outside can choose keys that collide. Nothing ever walks the table, so its order tells nothing.

/// No number.
const EMPTY: u32 = u32::MAX;
/// A number stood here.
const REMOVED: u32 = u32::MAX - 1;

/// Slots of a part, at most: to lay them anew takes some ten microseconds. Parts fill up at about the
/// same time, so a few are split one after the other.
const PART_SLOTS: usize = 2048;
/// Bits that choose a part, at most. Hashes that no bit tells apart would else be split for ever.
const DEPTH_MAX: u32 = 18;

/// Numbers by the hash of their keys.
#[derive(Debug, Default)]
pub(crate) struct Table {
    parts: Vec<Part>,
    /// The part of each beginning of a hash.
    directory: Vec<u32>,
    /// Bits of such a beginning.
    depth: u32,
    /// Of all parts.
    slot_count: usize,
}

/// The numbers whose hashes begin alike.
#[derive(Debug)]
struct Part {
    /// A power of two of (hash, number) pairs.
    slots: Vec<(u32, u32)>,
    /// Slots that are not empty.
    taken: usize,
    /// Bits that the hashes share.
    depth: u32,
}

impl Table {
    /// Bytes of memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        self.slot_count * size_of::<(u32, u32)>() + self.directory.capacity() * size_of::<u32>()
    }

    /// The number whose key has this hash and pleases `is_it`.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = fold(hash);
        let part = &self.parts[self.part_of(hash)?];
        part.slot(hash, is_it).map(|slot| part.slots[slot].1)
    }

    /// Puts `number` under `hash`, in place of the one that pleases `is_it`, if there is one.
    pub(crate) fn put(&mut self, hash: u64, number: u32, is_it: impl Fn(u32) -> bool) {
        debug_assert!(number < REMOVED, "the last two numbers are marks");
        let hash = fold(hash);
        if let Some(at) = self.part_of(hash) {
            let part = &mut self.parts[at];
            if let Some(slot) = part.slot(hash, is_it) {
                part.slots[slot].1 = number;
                return;
            }
        }
        self.part_with_room(hash).insert(hash, number);
    }

    /// Removes the number that pleases `is_it`.
    pub(crate) fn remove(&mut self, hash: u64, is_it: impl Fn(u32) -> bool) {
        let hash = fold(hash);
        let Some(at) = self.part_of(hash) else { return };
        let part = &mut self.parts[at];
        if let Some(slot) = part.slot(hash, is_it) {
            part.slots[slot].1 = REMOVED;
        }
    }

    #[inline]
    fn part_of(&self, hash: u32) -> Option<usize> {
        let beginning = u64::from(hash) >> (u32::BITS - self.depth);
        self.directory.get(beginning as usize).map(|part| *part as usize)
    }

    /// The part of a hash, with room for one more.
    fn part_with_room(&mut self, hash: u32) -> &mut Part {
        loop {
            let Some(at) = self.part_of(hash) else {
                self.parts.push(Part { slots: Vec::new(), taken: 0, depth: 0 });
                self.directory.push(0);
                continue;
            };
            let part = &self.parts[at];
            if (part.taken + 1) * 4 <= part.slots.len() * 3 {
                return &mut self.parts[at];
            }
            if slots_for(part.kept_count()) > PART_SLOTS && part.depth < DEPTH_MAX {
                self.split(at, hash);
                continue;
            }
            let laid = part.laid_anew(part.depth, |_| true);
            self.replace(at, laid);
        }
    }

    /// Splits the part at `at`, in which `hash` lies, by the next bit.
    fn split(&mut self, at: usize, hash: u32) {
        if self.parts[at].depth == self.depth {
            self.directory = self.directory.iter().flat_map(|part| [*part, *part]).collect();
            self.depth += 1;
        }
        let part = &self.parts[at];
        let depth = part.depth + 1;
        let bit = 1 << (u32::BITS - depth);
        let low = part.laid_anew(depth, |hash| hash & bit == 0);
        let high = part.laid_anew(depth, |hash| hash & bit != 0);
        self.replace(at, low);
        let number = u32::try_from(self.parts.len()).expect("parts are bounded by DEPTH_MAX");
        self.slot_count += high.slots.len();
        self.parts.push(high);
        // The second half of the beginnings that the part had.
        let shared = u64::from(hash) >> (u32::BITS - (depth - 1));
        let wide = self.depth - depth;
        let first = ((shared << 1 | 1) << wide) as usize;
        self.directory[first..first + (1 << wide)].fill(number);
    }

    fn replace(&mut self, at: usize, part: Part) {
        self.slot_count += part.slots.len();
        self.slot_count -= std::mem::replace(&mut self.parts[at], part).slots.len();
    }
}

impl Part {
    #[inline]
    fn slot(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
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

    fn kept(&self) -> impl Iterator<Item = (u32, u32)> {
        self.slots.iter().copied().filter(|(_, number)| *number < REMOVED)
    }

    fn kept_count(&self) -> usize {
        self.kept().count()
    }

    /// Its numbers whose hashes please `is_in`, with room for about as many more and without those
    /// that were removed.
    fn laid_anew(&self, depth: u32, is_in: impl Fn(u32) -> bool) -> Self {
        let kept = || self.kept().filter(|(hash, _)| is_in(*hash));
        let slots = vec![(0, EMPTY); slots_for(kept().count())];
        let mut part = Self { slots, taken: 0, depth };
        kept().for_each(|(hash, number)| part.insert(hash, number));
        part
    }
}

/// Slots for so many numbers and about as many more.
fn slots_for(count: usize) -> usize {
    ((count + 1) * 2).next_power_of_two().max(16)
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

    /// Enough for many splits, with hashes that spread, that share all their beginnings, and all bits.
    #[test]
    fn parts_are_split_where_hashes_tell_them_apart() {
        let spread = |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        let narrow = |number: u32| u64::from(number % 9_000);
        let hashes: [(&dyn Fn(u32) -> u64, u32); 3] =
            [(&spread, 60_000), (&narrow, 10_000), (&|_| 7, 1_500)];
        for (hash, count) in hashes {
            let mut table = Table::default();
            for number in 0..count {
                table.put(hash(number), number, |other| other == number);
            }
            for number in (0..count).step_by(3) {
                table.remove(hash(number), |other| other == number);
            }
            for number in 0..count {
                let found = table.find(hash(number), |other| other == number);
                assert_eq!(found, (number % 3 != 0).then_some(number));
            }
            let slots: usize = table.parts.iter().map(|part| part.slots.len()).sum();
            assert_eq!(slots, table.slot_count);
        }
        let mut table = Table::default();
        (0..60_000).for_each(|number| table.put(spread(number), number, |_| false));
        assert!(table.parts.iter().all(|part| part.slots.len() <= PART_SLOTS));
        assert!(table.parts.len() > 16 && table.directory.len() < 8 * table.parts.len());
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
