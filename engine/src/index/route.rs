//! Which shard holds a document, and which core is a shard's home.

use base::{CoreId, ShardId};

/// Number of the shard for `routing` (the id where there is no routing value): Elasticsearch's
/// murmur3 over UTF-16, modulo the routing shards, scaled down to the real ones.
///
/// `routing_shards` is a multiple of `shards`, so that an index can be split later.
pub fn shard_of(routing: &str, shards: u32, routing_shards: u32) -> u32 {
    debug_assert!(shards > 0);
    debug_assert!(routing_shards.is_multiple_of(shards));
    let hash = i64::from(base::hash::routing_hash(routing));
    let slot = hash.rem_euclid(i64::from(routing_shards)) as u32;
    slot / (routing_shards / shards)
}

/// The core that writes `shard`: fixed for as long as the process runs (decision 1).
pub fn home_of(shard: ShardId, cores: u16) -> CoreId {
    // FNV-1a: uuids are random, so any mixing will do; it must only be the same on all cores.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in shard.index.iter().copied().chain(shard.number.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    CoreId(((hash >> 32) % u64::from(cores.max(1))) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_has_one_shard_and_all_shards_have_some() {
        for (shards, routing_shards) in [(1, 1024), (2, 1024), (3, 768), (5, 640), (33, 528)] {
            let mut seen = vec![0; shards as usize];
            for number in 0..2000 {
                seen[shard_of(&format!("doc-{number}"), shards, routing_shards) as usize] += 1;
            }
            assert!(seen.iter().all(|&count| count > 0), "{shards}: {seen:?}");
        }
    }

    #[test]
    fn homes_spread_over_the_cores() {
        let mut seen = [0; 4];
        for number in 0..400 {
            seen[usize::from(home_of(ShardId { index: [7; 16], number }, 4).get())] += 1;
        }
        assert!(seen.iter().all(|&count| count > 40), "{seen:?}");
    }
}
