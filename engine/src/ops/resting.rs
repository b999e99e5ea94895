//! Figures of closed indices, whose shards nobody holds open: what their files told when they were closed, or
//! when the node started.
//!
//! Always true
//! 1. One who asks reads no file: what was found is kept in the directory. Whether the files are still what they
//!    were is asked of the file system, of all shards in one go.
//! 2. A shard whose files cannot be read any more is a failed one from then on, for all who look at the node.

use std::rc::Rc;

use base::ShardId;
use cluster::Index;
use env::Env;
use env::reply;

use super::stats::Stats;
use crate::core::{Core, KEEPER};
use crate::host::call::Message;
use crate::node::Directory;

impl<E: Env> Core<E> {
    /// Sees to it that whoever asks how shards stand from now on is told of closed ones what their files say now.
    pub async fn look_after_all_closed(self: &Rc<Self>) {
        let state = self.state();
        self.look_after_closed(state.indices.values().map(|index| &**index)).await;
    }

    /// Sees to it that what the directory says of the shards of closed indices among these is what their files
    /// say now.
    pub(crate) async fn look_after_closed<'a>(
        self: &Rc<Self>,
        indices: impl Iterator<Item = &'a Index>,
    ) {
        let directory = self.directory();
        let (mut known, mut watched) = (Vec::new(), Vec::new());
        for index in indices.filter(|index| !index.open) {
            for number in 0..index.settings.shard_count() {
                if let Some(resting) = directory.resting(index, number) {
                    known.push((ShardId { index: index.uuid, number }, resting.mark));
                    watched.push(resting.watched.clone());
                }
            }
        }
        if known.is_empty() {
            return;
        }
        // Where nobody has time to look, what is known is as good as it gets.
        let Ok(marks) = shard::marks(&self.env, watched).await else { return };
        let changed = known.into_iter().zip(marks).filter(|((_, mark), now)| mark != now);
        let shards: Vec<ShardId> = changed.map(|((shard, _), _)| shard).collect();
        if shards.is_empty() {
            return;
        }
        let (reply, done) = reply::channel();
        self.shared.core(KEEPER).send_reply(Message::LookAgain { shards, reply });
        // A node that is stopping does not look.
        let _looked = done.await;
    }
}

/// The figures of a shard whose index is closed; none where nothing is known of its files.
pub(super) fn figures(directory: &Directory, index: &Index, number: u32) -> Option<Box<Stats>> {
    let resting = directory.resting(index, number)?;
    Some(Box::new(Stats { shards: 1, shard: resting.stats.clone(), ..Stats::default() }))
}
