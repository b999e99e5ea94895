//! A persistent map: a change copies one path, everything else is shared with the map before it
//! (decision D10).
//!
//! It is a treap whose ranks are hashes of the keys, so its shape depends on what it holds and on
//! nothing else, and its depth stays logarithmic without any bookkeeping.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A map whose clones are one pointer.
pub struct Map<K, V> {
    root: Link<K, V>,
    len: usize,
}

type Link<K, V> = Option<Arc<Node<K, V>>>;

struct Node<K, V> {
    key: K,
    value: V,
    rank: u64,
    left: Link<K, V>,
    right: Link<K, V>,
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { root: None, len: 0 }
    }
}

impl<K, V> Clone for Map<K, V> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone(), len: self.len }
    }
}

impl<K: fmt::Debug + Ord + Clone + Hash, V: fmt::Debug + Clone> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord + Clone + Hash, V: Clone + PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Ord + Clone + Hash, V: Clone> Map<K, V> {
    /// Members.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No members.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of `key`.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let mut link = &self.root;
        while let Some(node) = link {
            link = match key.cmp(node.key.borrow()) {
                std::cmp::Ordering::Less => &node.left,
                std::cmp::Ordering::Greater => &node.right,
                std::cmp::Ordering::Equal => return Some(&node.value),
            };
        }
        None
    }

    /// Is there a value of `key`?
    pub fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// Puts a value; true where the key is new.
    pub fn insert(&mut self, key: K, value: V) -> bool {
        let is_new = !self.contains(&key);
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        self.root = Some(put(&self.root, key, value, hasher.finish()));
        self.len += usize::from(is_new);
        is_new
    }

    /// Takes a value away; true where there was one.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        if !self.contains(key) {
            return false;
        }
        self.root = take(&self.root, key);
        self.len -= 1;
        true
    }

    /// All members, by key.
    pub fn iter(&self) -> Iter<'_, K, V> {
        let mut iter = Iter { stack: Vec::new() };
        iter.descend(&self.root);
        iter
    }

    /// All values, by key.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Members from `key` on, by key.
    pub fn from<Q: Ord + ?Sized>(&self, key: &Q) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let mut iter = Iter { stack: Vec::new() };
        let mut link = &self.root;
        while let Some(node) = link {
            if node.key.borrow() >= key {
                iter.stack.push(node);
                link = &node.left;
            } else {
                link = &node.right;
            }
        }
        iter
    }
}

/// Walks a map by key.
pub struct Iter<'a, K, V> {
    stack: Vec<&'a Arc<Node<K, V>>>,
}

impl<'a, K, V> Iter<'a, K, V> {
    fn descend(&mut self, mut link: &'a Link<K, V>) {
        while let Some(node) = link {
            self.stack.push(node);
            link = &node.left;
        }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        let node = self.stack.pop()?;
        self.descend(&node.right);
        Some((&node.key, &node.value))
    }
}

fn make<K: Clone, V: Clone>(
    node: &Node<K, V>,
    left: Link<K, V>,
    right: Link<K, V>,
) -> Arc<Node<K, V>> {
    let (key, value) = (node.key.clone(), node.value.clone());
    Arc::new(Node { key, value, rank: node.rank, left, right })
}

fn put<K: Ord + Clone, V: Clone>(
    link: &Link<K, V>,
    key: K,
    value: V,
    rank: u64,
) -> Arc<Node<K, V>> {
    let Some(node) = link else {
        return Arc::new(Node { key, value, rank, left: None, right: None });
    };
    match key.cmp(&node.key) {
        std::cmp::Ordering::Equal => {
            let (left, right) = (node.left.clone(), node.right.clone());
            Arc::new(Node { key, value, rank, left, right })
        }
        std::cmp::Ordering::Less => {
            let left = put(&node.left, key, value, rank);
            if left.rank <= node.rank {
                return make(node, Some(left), node.right.clone());
            }
            let below = make(node, left.right.clone(), node.right.clone());
            make(&left, left.left.clone(), Some(below))
        }
        std::cmp::Ordering::Greater => {
            let right = put(&node.right, key, value, rank);
            if right.rank <= node.rank {
                return make(node, node.left.clone(), Some(right));
            }
            let below = make(node, node.left.clone(), right.left.clone());
            make(&right, Some(below), right.right.clone())
        }
    }
}

fn take<K: Ord + Clone + Borrow<Q>, V: Clone, Q: Ord + ?Sized>(
    link: &Link<K, V>,
    key: &Q,
) -> Link<K, V> {
    let node = link.as_ref()?;
    match key.cmp(node.key.borrow()) {
        std::cmp::Ordering::Less => Some(make(node, take(&node.left, key), node.right.clone())),
        std::cmp::Ordering::Greater => Some(make(node, node.left.clone(), take(&node.right, key))),
        std::cmp::Ordering::Equal => join(&node.left, &node.right),
    }
}

fn join<K: Clone, V: Clone>(left: &Link<K, V>, right: &Link<K, V>) -> Link<K, V> {
    match (left, right) {
        (None, other) | (other, None) => other.clone(),
        (Some(a), Some(b)) if a.rank > b.rank => {
            Some(make(a, a.left.clone(), join(&a.right, right)))
        }
        (Some(_), Some(b)) => Some(make(b, join(left, &b.left), b.right.clone())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_holds_what_a_sorted_map_holds_and_older_clones_keep_what_they_had() {
        let (mut map, mut model) = (Map::<u32, u32>::default(), BTreeMap::new());
        let mut kept: Vec<(Map<u32, u32>, BTreeMap<u32, u32>)> = Vec::new();
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        for round in 0..4000u32 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let key = (seed % 500) as u32;
            if seed & (1 << 40) == 0 {
                assert_eq!(map.insert(key, round), model.insert(key, round).is_none());
            } else {
                assert_eq!(map.remove(&key), model.remove(&key).is_some());
            }
            assert_eq!(map.len(), model.len());
            if round % 400 == 0 {
                kept.push((map.clone(), model.clone()));
            }
        }
        kept.push((map, model));
        for (map, model) in kept {
            assert!(map.iter().eq(model.iter()));
            for from in [0, 17, 250, 499, 600] {
                assert!(map.from(&from).eq(model.range(from..)), "from {from}");
            }
            for key in 0..500 {
                assert_eq!(map.get(&key), model.get(&key));
            }
        }
    }
}
