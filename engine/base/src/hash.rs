//! Hash tables for keys that an outsider cannot choose a seed for, and the routing hash.

/// A map with a fast, seeded hash.
pub type Map<K, V> = hashbrown::HashMap<K, V, foldhash::fast::RandomState>;

/// Makes hashers with a seed of this process, for tables whose keys lie elsewhere.
pub type State = foldhash::fast::RandomState;

/// A set with a fast, seeded hash.
pub type Set<K> = hashbrown::HashSet<K, foldhash::fast::RandomState>;

/// MurmurHash3 x86 32 bit (Appleby) with seed 0 over the UTF-16LE bytes of `text`: the hash by
/// which Elasticsearch assigns a routing value to a shard.
pub fn routing_hash(text: &str) -> i32 {
    let mut bytes = Vec::with_capacity(text.len() * 2);
    for unit in text.encode_utf16() {
        bytes.extend_from_slice(&unit.to_le_bytes());
    }
    murmur3(&bytes) as i32
}

/// MurmurHash3 x86 32 bit with seed 0.
pub fn murmur3(bytes: &[u8]) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let mix = |block: u32| block.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = 0u32;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn murmur3_gives_published_values() {
        assert_eq!(murmur3(b""), 0);
        assert_eq!(murmur3(b"test"), 0xba6b_d213);
        assert_eq!(murmur3(b"Hello, world!"), 0xc036_3e43);
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
