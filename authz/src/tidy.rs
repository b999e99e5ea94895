//! API keys that let nobody in any more: they are kept for a while, for those who ask what became of them,
//! and forgotten then, as Elasticsearch does.
//!
//! Always true
//! 1. Which keys are forgotten is decided where the command is applied, by times that it carries: whoever
//!    applies it again forgets the same.
//! 2. A key that lets in is never forgotten.

use std::rc::Rc;
use std::time::Duration;

use env::{Clock, Env, Spawn};

use crate::command::Command;
use crate::store::Store;

/// Keys that one command forgets, at most: applying it must not hold up a core.
const FORGOTTEN_MAX: usize = 64;

/// How long dead API keys are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tidy {
    /// So long after its end a key is known.
    pub retention: Duration,
    /// So often it is looked which are to go.
    pub interval: Duration,
}

impl Default for Tidy {
    /// Seven days, looked at once a day: those of Elasticsearch.
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        Self { retention: 7 * DAY, interval: DAY }
    }
}

impl<E: Env> Store<E> {
    /// Forgets dead API keys now and then, for as long as the store is there. To be called once, on the core
    /// that keeps the state.
    pub fn keep_tidy(self: &Rc<Self>, env: &E, tidy: Tidy) {
        let (store, env) = (Rc::downgrade(self), env.clone());
        let sleeper = env.clone();
        env.spawn().spawn(async move {
            // The first look at once: a node may be started more often than this.
            while let Some(store) = store.upgrade() {
                store.forget_dead_keys(&sleeper, tidy.retention).await;
                drop(store);
                sleeper.clock().sleep(tidy.interval).await;
            }
        });
    }

    async fn forget_dead_keys(&self, env: &E, retention: Duration) {
        let now = u64::try_from(env.clock().unix_ms()).unwrap_or_default();
        let retention = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
        let Some(ended_by) = now.checked_sub(retention) else { return };
        let state = self.published().load();
        let mut ids = Vec::new();
        for key in state.keys.values() {
            env.spawn().yield_if_needed().await;
            if key.ended().is_some_and(|end| end <= ended_by) {
                ids.push(key.id.clone());
            }
        }
        for some in ids.chunks(FORGOTTEN_MAX) {
            let command = Command::ForgetKeys { ids: some.to_vec(), ended_by };
            // Where nothing can be kept now, it is tried again at the next look.
            if self.propose(command).await.is_err() {
                return;
            }
            env.spawn().yield_if_needed().await;
        }
    }
}
