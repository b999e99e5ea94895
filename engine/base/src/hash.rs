//! Hash tables for keys that an outsider cannot choose a seed for, and the routing hash.

use std::cell::Cell;
use std::hash::BuildHasher;

use foldhash::fast::{FoldHasher, SeedableRandomState};

/// A map with a fast, seeded hash.
pub type Map<K, V> = hashbrown::HashMap<K, V, State>;

/// A set with a fast, seeded hash.
pub type Set<K> = hashbrown::HashSet<K, State>;

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
