//! Maps with the order of Java's: as inserted, by key, or by the buckets of a `HashMap`.
//!
//! Entries stand in the order of insertion; a table of places finds them by hash once there are more
//! than a few. `HashMap`'s order is worked out when it is asked for: entries by bucket, within one
//! by insertion, in a table that doubles when three quarters are taken and never shrinks.

use crate::compare::{equal, hash};
use crate::heap::{Heap, Value};
use crate::merge_sort::merge_sort;

/// In which order a map gives its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `LinkedHashMap`.
    Linked,
    /// `HashMap`.
    Hash,
    /// `TreeMap`.
    Sorted,
}

/// Entries from which there is a table.
const TABLE_FROM: usize = 8;

/// No entry.
const FREE: u32 = u32::MAX;

/// A map.
#[derive(Clone, Debug)]
pub struct Map {
    /// Its order.
    pub order: Order,
    entries: Vec<(i32, Value, Value)>,
    table: Vec<u32>,
    /// Most entries it ever had.
    most: usize,
}

impl Map {
    /// An empty one.
    pub const fn new(order: Order) -> Self {
        Self { order, entries: Vec::new(), table: Vec::new(), most: 0 }
    }

    /// Entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Has it none?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn find(&self, heap: &Heap, key: Value, hash: i32) -> Option<usize> {
        self.find_by(hash, |other| equal(heap, other, key))
    }

    fn find_by(&self, hash: i32, same: impl Fn(Value) -> bool) -> Option<usize> {
        if self.table.is_empty() {
            return self.entries.iter().position(|(other, key, _)| *other == hash && same(*key));
        }
        let mask = self.table.len() - 1;
        let mut slot = spread(hash) as usize & mask;
        loop {
            let at = self.table[slot];
            if at == FREE {
                return None;
            }
            let (other, key, _) = &self.entries[at as usize];
            if *other == hash && same(*key) {
                return Some(at as usize);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The value under a key.
    pub fn get(&self, heap: &Heap, key: Value) -> Option<Value> {
        self.find(heap, key, hash(heap, key)).map(|at| self.entries[at].2)
    }

    /// The value under a string.
    pub fn get_text(&self, heap: &Heap, key: &str) -> Option<Value> {
        let at = self.find_by(crate::java::hash(key), |other| heap.as_text(other) == Some(key))?;
        Some(self.entries[at].2)
    }

    /// Puts a value; the one that was there.
    pub fn insert(&mut self, heap: &Heap, key: Value, value: Value) -> Option<Value> {
        let hash = hash(heap, key);
        if let Some(at) = self.find(heap, key, hash) {
            return Some(std::mem::replace(&mut self.entries[at].2, value));
        }
        self.entries.push((hash, key, value));
        self.most = self.most.max(self.entries.len());
        if self.entries.len() > TABLE_FROM {
            if self.entries.len() * 2 > self.table.len() {
                self.rebuild();
            } else {
                self.place(self.entries.len() - 1);
            }
        }
        None
    }

    /// Takes an entry out.
    pub fn remove(&mut self, heap: &Heap, key: Value) -> Option<Value> {
        let at = self.find(heap, key, hash(heap, key))?;
        let (.., value) = self.entries.remove(at);
        self.rebuild();
        Some(value)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.table.clear();
    }

    fn rebuild(&mut self) {
        self.table.clear();
        if self.entries.len() > TABLE_FROM {
            self.table.resize((self.entries.len() * 4).next_power_of_two(), FREE);
            for at in 0..self.entries.len() {
                self.place(at);
            }
        }
    }

    fn place(&mut self, at: usize) {
        let mask = self.table.len() - 1;
        let mut slot = spread(self.entries[at].0) as usize & mask;
        while self.table[slot] != FREE {
            slot = (slot + 1) & mask;
        }
        self.table[slot] = at as u32;
    }

    /// Keys and values in the map's order.
    pub fn entries(&self, heap: &Heap) -> Vec<(Value, Value)> {
        let mut places: Vec<usize> = (0..self.entries.len()).collect();
        match self.order {
            Order::Linked => {}
            Order::Hash => {
                let mut buckets = 16usize;
                while self.most * 4 > buckets * 3 {
                    buckets *= 2;
                }
                let bucket = |at: &usize| spread(self.entries[*at].0) as usize & (buckets - 1);
                places.sort_by_key(bucket);
            }
            Order::Sorted => {
                let key = |at: usize| self.entries[at].1;
                // Keys that do not compare stay as they came.
                let order = |a, b| crate::compare::order(heap, key(a), key(b));
                places = merge_sort(places.clone(), order).unwrap_or(places);
            }
        }
        places.into_iter().map(|at| (self.entries[at].1, self.entries[at].2)).collect()
    }

    /// Keys in the map's order.
    pub fn keys(&self, heap: &Heap) -> Vec<Value> {
        self.entries(heap).into_iter().map(|(key, _)| key).collect()
    }

    /// Entries in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Value, Value)> {
        self.entries.iter().map(|(_, key, value)| (*key, *value))
    }
}

/// As `HashMap` spreads a hash.
const fn spread(hash: i32) -> u32 {
    let hash = hash as u32;
    hash ^ (hash >> 16)
}
