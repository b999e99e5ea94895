//! Hash tables for keys that an outsider cannot choose a seed for, and the routing hash.

use std::cell::Cell;
use std::hash::BuildHasher;

use foldhash::fast::{FoldHasher, SeedableRandomState};

/// A map with a fast, seeded hash.
pub type Map<K, V> = hashbrown::HashMap<K, V, State>;

/// A set with a fast, seeded hash.
pub type Set<K> = hashbrown::HashSet<K, State>;

/// Tables that a [`Pieces`] has once it holds [`SPLIT`] keys; until then one is enough.
const PIECES: usize = 64;
const SPLIT: usize = 1024;

/// A map of texts whose table grows piece by piece: to move two hundred thousand of them to a larger table at once
/// held a core for 30 ms.
///
/// Always true: a key is in the piece that the map's own hash of it names, so all pieces grow alike, one at a time.
#[derive(Clone, Debug)]
pub struct Pieces<V> {
    first: Map<Box<str>, V>,
    /// Beside the first; none while there are few keys.
    others: Vec<Map<Box<str>, V>>,
    state: State,
    len: usize,
}

impl<V> Default for Pieces<V> {
    fn default() -> Self {
        let (first, others, state) = (Map::default(), Vec::new(), State::default());
        Self { first, others, state, len: 0 }
    }
}

impl<V> Pieces<V> {
    fn piece(&self, key: &str) -> &Map<Box<str>, V> {
        match self.place(key).checked_sub(1) {
            None => &self.first,
            Some(at) => &self.others[at],
        }
    }

    fn piece_mut(&mut self, key: &str) -> &mut Map<Box<str>, V> {
        match self.place(key).checked_sub(1) {
            None => &mut self.first,
            Some(at) => &mut self.others[at],
        }
    }

    fn place(&self, key: &str) -> usize {
        if self.others.is_empty() {
            return 0;
        }
        // Its own bits: each piece has a seed of its own, too.
        (self.state.hash_one(key) >> 32) as usize % PIECES
    }

    /// Makes all pieces, and puts each key in its own.
    fn split(&mut self) {
        self.others.resize_with(PIECES - 1, Map::default);
        for (key, value) in std::mem::take(&mut self.first) {
            self.piece_mut(&key).insert(key, value);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What stands at a key.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.piece(key).get(key)
    }

    /// As [`Self::get`].
    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        self.piece_mut(key).get_mut(key)
    }

    /// Puts a value at a key; gives what stood there.
    pub fn insert(&mut self, key: &str, value: V) -> Option<V> {
        if self.len >= SPLIT && self.others.is_empty() {
            self.split();
        }
        let before = self.piece_mut(key).insert(key.into(), value);
        self.len += usize::from(before.is_none());
        before
    }

    /// Takes what stands at a key.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let before = self.piece_mut(key).remove(key);
        self.len -= usize::from(before.is_some());
        before
    }

    /// How many the fullest piece has room for.
    #[cfg(test)]
    fn piece_max(&self) -> usize {
        self.others.iter().chain([&self.first]).map(Map::capacity).max().unwrap_or(0)
    }
}

/// Makes hashers with a seed of this process; also for tables whose keys lie elsewhere.
#[derive(Clone, Debug)]
pub struct State(SeedableRandomState);

thread_local! {
    static IS_FIXED: Cell<bool> = const { Cell::new(false) };
}

/// From now on tables that this thread makes have one seed, the same in every process: so a
/// simulation that walks a table does the same again. Never called in production.
pub fn fix_seed() {
    IS_FIXED.set(true);
}

impl Default for State {
    fn default() -> Self {
        Self(match IS_FIXED.get() {
            true => SeedableRandomState::fixed(),
            false => SeedableRandomState::random(),
        })
    }
}

impl BuildHasher for State {
    type Hasher = FoldHasher<'static>;

    #[inline(always)]
    fn build_hasher(&self) -> FoldHasher<'static> {
        self.0.build_hasher()
    }
}

/// MurmurHash3 x86 32 bit (Appleby) with seed 0 over the UTF-16LE bytes of `text`: the hash by
/// which Elasticsearch assigns a routing value to a shard.
pub fn routing_hash(text: &str) -> i32 {
    let mut bytes = Vec::with_capacity(text.len() * 2);
    for unit in text.encode_utf16() {
        bytes.extend_from_slice(&unit.to_le_bytes());
    }
    murmur3(&bytes, 0) as i32
}

/// MurmurHash3 x86 32 bit (Appleby).
pub fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let mix = |block: u32| block.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = seed;
    for block in blocks {
        hash ^= mix(u32::from_le_bytes(*block));
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        let mut last = [0u8; 4];
        last[..tail.len()].copy_from_slice(tail);
        hash ^= mix(u32::from_le_bytes(last));
    }
    hash ^= bytes.len() as u32;
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// MurmurHash3 x64 128 bit (Appleby) with seed 0: both halves, the low one first.
pub fn murmur3_128(bytes: &[u8]) -> (u64, u64) {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let mix1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let mix2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
    let word = |part: &[u8]| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    };
    let last = |k: u64| {
        let k = (k ^ (k >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let k = (k ^ (k >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        k ^ (k >> 33)
    };
    let (mut low, mut high) = (0u64, 0u64);
    let (blocks, rest) = bytes.as_chunks::<16>();
    for block in blocks {
        low ^= mix1(word(&block[..8]));
        low = low.rotate_left(27).wrapping_add(high).wrapping_mul(5).wrapping_add(0x52dc_e729);
        high ^= mix2(word(&block[8..]));
        high = high.rotate_left(31).wrapping_add(low).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (first, second) = rest.split_at(rest.len().min(8));
    low ^= mix1(word(first));
    high ^= mix2(word(second));
    low ^= bytes.len() as u64;
    high ^= bytes.len() as u64;
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    low = last(low);
    high = last(high);
    low = low.wrapping_add(high);
    (low, high.wrapping_add(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_a_thread_that_asked_for_it_have_one_order() {
        let order = || {
            let keys: Set<u64> = (0..100).collect();
            keys.into_iter().collect::<Vec<_>>()
        };
        let thread = |fixes: bool| {
            let run = move || {
                if fixes {
                    fix_seed();
                }
                order()
            };
            std::thread::spawn(run).join().expect("it ends")
        };
        assert_eq!(thread(true), thread(true));
        assert_ne!(order(), order(), "each table has a seed of its own");
    }

    #[test]
    fn a_map_in_pieces_is_a_map_and_moves_a_piece_of_it_at_a_time() {
        let (mut pieces, mut model) = (Pieces::default(), std::collections::BTreeMap::new());
        for at in 0..50_000_u32 {
            let key = (at.wrapping_mul(2_654_435_761) % 30_000).to_string();
            match at % 5 {
                0 => assert_eq!(pieces.remove(&key), model.remove(&key)),
                _ => assert_eq!(pieces.insert(&key, at), model.insert(key, at)),
            }
        }
        assert_eq!((pieces.len(), pieces.is_empty()), (model.len(), false));
        for (key, value) in &mut model {
            assert_eq!(pieces.get(key), Some(&*value));
            assert_eq!(pieces.get_mut(key), Some(value));
        }
        assert_eq!(pieces.get("none"), None);
        assert!(model.len() > 10_000 && pieces.piece_max() < model.len() / 16);
    }

    #[test]
    fn murmur3_gives_published_values() {
        assert_eq!(murmur3(b"", 0), 0);
        assert_eq!(murmur3(b"", 1), 0x514e_28b7);
        assert_eq!(murmur3(b"test", 0), 0xba6b_d213);
        assert_eq!(murmur3(b"Hello, world!", 0), 0xc036_3e43);
        assert_eq!(murmur3(b"Hello, world!", 0x9747_b28c), 0x2488_4cba);
    }

    #[test]
    fn murmur3_128_is_the_published_one() {
        // Of the reference implementation: the empty text, and one of 43 bytes, seed 0.
        assert_eq!(murmur3_128(b""), (0, 0));
        let fox = murmur3_128(b"The quick brown fox jumps over the lazy dog");
        assert_eq!(fox, (0xe34b_bc7b_bc07_1b6c, 0x7a43_3ca9_c49a_9347));
    }

    #[test]
    fn routing_hash_is_elasticsearchs() {
        // Published in Elasticsearch's Murmur3HashFunctionTests.
        assert_eq!(routing_hash("hell"), 0x5a0c_b7c3);
        assert_eq!(routing_hash("hello"), 0xd7c3_1989_u32 as i32);
        assert_eq!(routing_hash("hello w"), 0x22ab_2984);
        assert_eq!(routing_hash("hello wo"), 0xdf0c_a123_u32 as i32);
    }
}
