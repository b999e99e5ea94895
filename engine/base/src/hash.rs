//! Hash tables for keys that an outsider cannot choose a seed for, and the routing hash.

use std::borrow::Borrow;
use std::cell::Cell;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::{FoldHasher, SeedableRandomState};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// A map with a fast, seeded hash.
pub type Map<K, V> = hashbrown::HashMap<K, V, State>;

/// A set with a fast, seeded hash.
pub type Set<K> = hashbrown::HashSet<K, State>;

/// Tables that a [`Pieces`] has once it holds [`SPLIT`] keys; until then one is enough.
const PIECES: usize = 64;
const SPLIT: usize = 1024;

/// A map whose table grows piece by piece: to move two hundred thousand texts to a larger table at once held a core for
/// 30 ms.
///
/// Always true: a key is in the piece that bits of its hash name which no table uses, so all pieces grow alike, one at a
/// time.
#[derive(Clone, Debug)]
pub struct Pieces<K, V> {
    first: HashTable<(K, V)>,
    /// Beside the first; none while there are few keys.
    others: Vec<HashTable<(K, V)>>,
    state: State,
    len: usize,
}

impl<K, V> Default for Pieces<K, V> {
    fn default() -> Self {
        let (first, others, state) = (HashTable::new(), Vec::new(), State::default());
        Self { first, others, state, len: 0 }
    }
}

impl<K: Hash + Eq, V> Pieces<K, V> {
    fn piece(&self, hash: u64) -> &HashTable<(K, V)> {
        match place(hash, &self.others) {
            None => &self.first,
            Some(at) => &self.others[at],
        }
    }

    fn piece_mut(&mut self, hash: u64) -> &mut HashTable<(K, V)> {
        match place(hash, &self.others) {
            None => &mut self.first,
            Some(at) => &mut self.others[at],
        }
    }

    /// Makes all pieces, and puts each key in its own.
    #[cold]
    fn split(&mut self) {
        self.others.resize_with(PIECES - 1, HashTable::new);
        let state = self.state.clone();
        for pair in std::mem::take(&mut self.first) {
            let hash = state.hash_one(&pair.0);
            self.piece_mut(hash).insert_unique(hash, pair, |(key, _)| state.hash_one(key));
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

    /// How many there is room for.
    pub fn capacity(&self) -> usize {
        self.others.iter().chain([&self.first]).map(HashTable::capacity).sum()
    }

    /// What stands at a key.
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.state.hash_one(key);
        let found = self.piece(hash).find(hash, |(known, _)| known.borrow() == key);
        found.map(|(_, value)| value)
    }

    /// As [`Self::get`].
    pub fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.state.hash_one(key);
        let found = self.piece_mut(hash).find_mut(hash, |(known, _)| known.borrow() == key);
        found.map(|(_, value)| value)
    }

    /// What stands at a key, which is this value where nothing stood there.
    pub fn or_insert(&mut self, key: K, value: V) -> &mut V {
        if self.len >= SPLIT && self.others.is_empty() {
            self.split();
        }
        let Self { first, others, state, len } = self;
        let hash = state.hash_one(&key);
        let piece = match place(hash, others) {
            None => first,
            Some(at) => &mut others[at],
        };
        let entry =
            piece.entry(hash, |(known, _)| *known == key, |(known, _)| state.hash_one(known));
        let found = match entry {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(free) => {
                *len += 1;
                free.insert((key, value)).into_mut()
            }
        };
        &mut found.1
    }

    /// Puts a value at a key; gives what stood there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if let Some(known) = self.get_mut(&key) {
            return Some(std::mem::replace(known, value));
        }
        self.or_insert(key, value);
        None
    }

    /// Takes what stands at a key.
    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.state.hash_one(key);
        let found = self.piece_mut(hash).find_entry(hash, |(known, _)| known.borrow() == key);
        let ((_, value), _) = found.ok()?.remove();
        self.len -= 1;
        Some(value)
    }

    /// How many the fullest piece has room for.
    #[cfg(test)]
    fn piece_max(&self) -> usize {
        self.others.iter().chain([&self.first]).map(HashTable::capacity).max().unwrap_or(0)
    }
}

/// Which of the others has the key of a hash; none: the first.
#[inline]
fn place<T>(hash: u64, others: &[T]) -> Option<usize> {
    // A table finds places by the lowest bits, and tells keys apart by the highest.
    if others.is_empty() { None } else { ((hash >> 32) as usize % PIECES).checked_sub(1) }
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
        let mut pieces = Pieces::<Box<str>, u32>::default();
        let mut model = std::collections::BTreeMap::<Box<str>, u32>::new();
        for at in 0..50_000_u32 {
            let key = (at.wrapping_mul(2_654_435_761) % 30_000).to_string();
            match at % 5 {
                0 => assert_eq!(pieces.remove(&*key), model.remove(&*key)),
                1 => {
                    let known = *model.entry(key.clone().into_boxed_str()).or_insert(at);
                    assert_eq!(*pieces.or_insert(key.into(), at), known);
                }
                _ => {
                    let known = model.insert(key.clone().into_boxed_str(), at);
                    assert_eq!(pieces.insert(key.into(), at), known);
                }
            }
        }
        assert_eq!((pieces.len(), pieces.is_empty()), (model.len(), false));
        for (key, value) in &mut model {
            assert_eq!(pieces.get(&**key), Some(&*value));
            assert_eq!(pieces.get_mut(&**key), Some(value));
        }
        assert_eq!(pieces.get("none"), None);
        assert!(model.len() > 10_000 && pieces.piece_max() < model.len() / 16);
        assert!(pieces.capacity() >= model.len());
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
