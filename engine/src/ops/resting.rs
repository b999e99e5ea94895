//! Figures of closed indices, whose shards nobody holds open: what their files tell.

use base::ShardId;
use env::Env;

use super::stats::{IndexStats, Standing, Stats};
use crate::core::Core;

impl<E: Env> Core<E> {
    /// Adds to the shards of closed indices what their files tell. That reads of the disk, a shard after the
    /// other. A shard whose files cannot be read stays without figures: whoever opens the index hears why.
    pub async fn fill_closed(&self, rows: &mut [IndexStats]) {
        for row in rows {
            let uuid = row.index.uuid;
            for shard in &mut row.shards {
                let Standing::Closed(figures) = &mut shard.standing else { continue };
                let id = ShardId { index: uuid, number: shard.number };
                let dir = self.shared.shard_dir(id);
                if let Ok(counts) = shard::resting(&self.env, &dir, id).await {
                    let stats = Stats { shards: 1, shard: counts, ..Stats::default() };
                    *figures = Some(Box::new(stats));
                }
            }
        }
    }
}
