//! Numbers of buckets by owner and key: a table where keys are few and dense, else a hash map.
//!
//! Always true: what has a place in the table is not in the map. A table that is long enough stays as it is; to move
//! millions of places at once would hold a core for as long.

use base::hash::Pieces;

/// Entries of a table at most; beyond it the map takes over.
const TABLE_MAX: usize = 1 << 22;

/// A table of at most so many entries is kept however few of them are used.
const TABLE_FREE: usize = 1 << 16;

/// In a longer one at least one of so many is used: owners with a key each, out of many keys, would
/// take a hundred times the room of a map.
const SPARSE_MAX: usize = 32;

/// No bucket yet.
const NONE: u32 = u32::MAX;

/// Which bucket an owner and a key have.
pub struct Slots {
    /// Keys lie below this where a table is used; 0: they are any.
    span: usize,
    table: Vec<u32>,
    /// The table does not grow any more.
    is_full: bool,
    map: Pieces<(u32, i64), u32>,
    /// The owner and key of each bucket.
    pub buckets: Vec<(u32, i64)>,
    last: (u32, i64, u32),
    /// Bytes that were told.
    told: usize,
}

impl Slots {
    /// Keys from 0 to below `span`; 0: any key.
    pub fn new(span: usize) -> Self {
        let span = if span <= TABLE_MAX { span } else { 0 };
        Self {
            span,
            table: Vec::new(),
            is_full: false,
            map: Pieces::default(),
            buckets: Vec::new(),
            last: (NONE, 0, 0),
            told: 0,
        }
    }

    /// Number of buckets.
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// The bucket of an owner and a key, new where there is none.
    #[inline]
    pub fn of(&mut self, owner: u32, key: i64) -> u32 {
        if self.span > 0 && (0..self.span as i64).contains(&key) {
            let at = owner as usize * self.span + key as usize;
            if let Some(&found) = self.table.get(at).filter(|found| **found != NONE) {
                return found;
            }
            if self.may_have(owner, at) {
                return self.new_in_table(owner, key, at);
            }
        }
        if self.last.0 == owner && self.last.1 == key {
            return self.last.2;
        }
        let next = self.buckets.len() as u32;
        let found = *self.map.or_insert((owner, key), next);
        if found == next {
            self.buckets.push((owner, key));
        }
        self.last = (owner, key, found);
        found
    }

    /// May the table have this place, or has it?
    #[inline]
    fn may_have(&mut self, owner: u32, at: usize) -> bool {
        if at < self.table.len() || self.is_full {
            return at < self.table.len();
        }
        let end = (owner as usize + 1).saturating_mul(self.span);
        // Too many owners, or too few keys of each: whatever comes goes to the map.
        self.is_full =
            at >= TABLE_MAX || (end > TABLE_FREE && end / SPARSE_MAX > self.buckets.len());
        !self.is_full
    }

    #[cold]
    fn new_in_table(&mut self, owner: u32, key: i64, at: usize) -> u32 {
        let end = (owner as usize + 1).saturating_mul(self.span);
        if at >= self.table.len() {
            self.table.resize(end.min(TABLE_MAX).max(at + 1), NONE);
        }
        let bucket = self.buckets.len() as u32;
        self.table[at] = bucket;
        self.buckets.push((owner, key));
        bucket
    }

    /// Bytes that were taken since this was asked last.
    pub fn grown(&mut self) -> usize {
        // A map keeps a byte beside each entry, and an eighth of them free.
        let entry = size_of::<((u32, i64), u32)>() + 1;
        let bytes = self.table.capacity() * size_of::<u32>()
            + self.buckets.capacity() * size_of::<(u32, i64)>()
            + self.map.capacity() * entry * 8 / 7;
        let grown = bytes.saturating_sub(self.told);
        self.told += grown;
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_map_number_alike() {
        let mut table = Slots::new(1000);
        let mut map = Slots::new(0);
        for n in 0..20_000i64 {
            let (owner, key) = ((n * 7 % 13) as u32, n * n % 1000);
            assert_eq!(table.of(owner, key), map.of(owner, key));
        }
        assert_eq!(table.buckets, map.buckets);
    }

    #[test]
    fn owners_with_a_key_each_take_no_table() {
        // The story: eight levels of terms under each other, each owner with one of 200 words, took
        // 16 MiB a level, of which a hundredth was used and none was told.
        let (mut slots, mut told) = (Slots::new(200), 0);
        for owner in 0..20_000u32 {
            assert_eq!(slots.of(owner, i64::from(owner % 200)), owner);
            told += slots.grown();
        }
        for owner in (0..20_000u32).rev() {
            assert_eq!(slots.of(owner, i64::from(owner % 200)), owner);
        }
        // A piece of the map that is full makes room before it looks.
        told += slots.grown();
        assert!((20_000 * 40..4 << 20).contains(&told), "{told}");
    }

    #[test]
    fn keys_beyond_the_table_go_to_the_map() {
        let mut slots = Slots::new(4);
        assert_eq!(slots.of(0, 3), 0);
        assert_eq!(slots.of(0, i64::from(u32::MAX)), 1);
        assert_eq!(slots.of(0, i64::from(u32::MAX)), 1);
        assert_eq!(slots.of(0, 3), 0);
    }

    #[test]
    fn many_owners_move_to_the_map() {
        let mut slots = Slots::new(TABLE_MAX / 2);
        let first: Vec<u32> = (0..2).map(|owner| slots.of(owner, 5)).collect();
        assert_eq!(slots.of(2, 5), 2);
        assert_eq!(slots.of(0, 5), first[0]);
        assert_eq!(slots.of(1, 5), first[1]);
    }
}
