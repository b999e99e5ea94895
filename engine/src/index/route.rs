//! Which shard holds a document, and which core is a shard's home.

use base::hash::routing_hash;
use base::{CoreId, ShardId};
use cluster::IndexSettings;

/// How an index spreads its documents: Elasticsearch's murmur3 over UTF-16, modulo the routing shards,
/// scaled down to the real ones.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    shards: u32,
    /// A multiple of `shards`, so that an index can be split later.
    routing_shards: u32,
    /// `index.routing_partition_size`: a routing value stands for so many routing shards, among which
    /// the id chooses.
    partition: u32,
}

impl Route {
    /// That of an index.
    pub fn of(settings: &IndexSettings) -> Self {
        let partition = settings.int("index.routing_partition_size").unwrap_or(1);
        let (shards, routing_shards) = (settings.shard_count(), settings.routing_shard_count());
        Self::new(shards, routing_shards, u32::try_from(partition).unwrap_or(1))
    }

    fn new(shards: u32, routing_shards: u32, partition: u32) -> Self {
        debug_assert!(shards > 0);
        debug_assert!(routing_shards.is_multiple_of(shards));
        Self { shards, routing_shards, partition: partition.max(1) }
    }

    /// Number of the shard of a document.
    pub fn shard(&self, id: &str, routing: Option<&str>) -> u32 {
        let Some(routing) = routing else { return self.scaled(i64::from(routing_hash(id))) };
        let offset = match self.partition {
            1 => 0,
            size => i64::from(routing_hash(id)).rem_euclid(i64::from(size)),
        };
        self.scaled(i64::from(routing_hash(routing)) + offset)
    }

    /// Numbers of all shards that hold documents of a routing value.
    pub fn shards(&self, routing: &str) -> impl Iterator<Item = u32> + use<> {
        let (route, hash) = (*self, i64::from(routing_hash(routing)));
        (0..i64::from(self.partition)).map(move |offset| route.scaled(hash + offset))
    }

    fn scaled(&self, hash: i64) -> u32 {
        // Java adds as int.
        let hash = i64::from(hash as i32);
        let slot = hash.rem_euclid(i64::from(self.routing_shards)) as u32;
        slot / (self.routing_shards / self.shards)
    }
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
                let route = Route::new(shards, routing_shards, 1);
                seen[route.shard(&format!("doc-{number}"), None) as usize] += 1;
            }
            assert!(seen.iter().all(|&count| count > 0), "{shards}: {seen:?}");
        }
    }

    #[test]
    fn a_routing_value_has_one_shard_or_a_partition_of_them() {
        for partition in [1, 3] {
            let route = Route::new(5, 640, partition);
            for routing in ["a", "b", "zz", "\u{1f600}"] {
                let mut wanted: Vec<u32> = route.shards(routing).collect();
                wanted.dedup();
                let mut found: Vec<u32> =
                    (0..200).map(|id| route.shard(&id.to_string(), Some(routing))).collect();
                found.sort_unstable();
                found.dedup();
                assert!(found.iter().all(|shard| wanted.contains(shard)), "{found:?} {wanted:?}");
                assert_eq!(found.len(), wanted.len(), "ids choose among all of them");
            }
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
