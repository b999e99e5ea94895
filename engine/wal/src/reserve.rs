//! Room kept back: a file that is given up when the disk is full, so that what the logs of a core
//! have taken in can still be written.
//!
//! Always true
//! 1. Opening does not wait for the file: it is filled beside other work.
//! 2. After it was given up it is made again only when three times its size is free: nobody who
//!    waits for a little room is starved by it. That is looked after each second, until it stands.
//!
//! Not here: when it is given up (`rotate`).

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use env::{Clock, Disk, Env, ErrorKind, File, Spawn};

use crate::Result;

/// The file is filled in pieces of this size.
const FILL_BYTES: u64 = 1 << 20;

/// Between two looks whether there is room for it.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A file that holds room for the logs of one core; clones are the same reserve.
pub struct Reserve<E: Env> {
    inner: Rc<Inner<E>>,
}

struct Inner<E: Env> {
    env: E,
    path: PathBuf,
    bytes: u64,
    stage: Cell<Stage>,
    /// It was given up, or found no room.
    is_lacking: Cell<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Absent,
    Filling,
    Full,
}

impl<E: Env> Clone for Reserve<E> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner) }
    }
}

impl<E: Env> Reserve<E> {
    /// Takes the file at `path` where it has `bytes` bytes, and makes it beside other work where
    /// not. Its folder stands.
    pub async fn open(env: &E, path: impl Into<PathBuf>, bytes: u64) -> Result<Self> {
        let (path, bytes) = (path.into(), bytes.next_multiple_of(FILL_BYTES));
        let stage = match env.disk().open(&path).await {
            Ok(file) if file.len().await? == bytes => Stage::Full,
            Ok(_) => {
                env.disk().remove(&path).await?;
                Stage::Absent
            }
            Err(error) if error.kind == ErrorKind::NotFound => Stage::Absent,
            Err(error) => return Err(error.into()),
        };
        let inner = Inner {
            env: env.clone(),
            path,
            bytes,
            stage: Cell::new(stage),
            is_lacking: Cell::default(),
        };
        let reserve = Self { inner: Rc::new(inner) };
        reserve.restore();
        Ok(reserve)
    }

    /// Whether the room is kept back now.
    pub fn is_full(&self) -> bool {
        self.inner.stage.get() == Stage::Full
    }

    /// How much that is.
    pub(crate) fn bytes(&self) -> u64 {
        self.inner.bytes
    }

    /// Whether there is no room to keep back: it was given up, and could not be made again since, or could
    /// not be made at all. What may wait waits until then.
    pub fn is_lacking(&self) -> bool {
        self.inner.is_lacking.get()
    }

    /// Gives the room up. False where there was none.
    pub(crate) async fn spend(&self) -> bool {
        if self.inner.stage.get() != Stage::Full {
            return false;
        }
        self.inner.stage.set(Stage::Absent);
        self.inner.is_lacking.set(true);
        let is_gone = self.inner.env.disk().remove(&self.inner.path).await.is_ok();
        self.restore();
        is_gone
    }

    /// Makes the file again, beside other work, where there is room.
    pub(crate) fn restore(&self) {
        if self.inner.stage.get() != Stage::Absent {
            return;
        }
        self.inner.stage.set(Stage::Filling);
        let (env, weak) = (self.inner.env.clone(), Rc::downgrade(&self.inner));
        let mut is_waiting = self.is_lacking();
        self.inner.env.spawn().spawn(async move {
            loop {
                if is_waiting {
                    env.clock().sleep(LOOK_AGAIN).await;
                }
                let Some(inner) = weak.upgrade() else { return };
                let stage = match inner.fill().await {
                    Ok(true) => Stage::Full,
                    Ok(false) => Stage::Filling,
                    Err(error) if error.kind == ErrorKind::NoSpace => Stage::Filling,
                    // It is a help, not a promise: what failed here will fail where it matters.
                    Err(_) => Stage::Absent,
                };
                is_waiting = stage == Stage::Filling;
                inner.is_lacking.set(is_waiting);
                inner.stage.set(stage);
                if !is_waiting {
                    return;
                }
            }
        });
    }
}

impl<E: Env> Inner<E> {
    async fn fill(&self) -> env::Result<bool> {
        let dir = self.path.parent().unwrap_or(Path::new("/"));
        let disk = self.env.disk();
        if disk.free_bytes(dir).await? < self.bytes.saturating_mul(3) {
            return Ok(false);
        }
        // The length alone tells a full reserve, so it grows only with its last piece.
        let file = disk.create(&self.path).await?;
        let mut offset = 0;
        while offset < self.bytes {
            let written = file.write_at(file.buffer(FILL_BYTES as usize), offset).await;
            if let Err(error) = written {
                disk.remove(&self.path).await?;
                return Err(error);
            }
            offset += FILL_BYTES;
            self.env.spawn().yield_if_needed().await;
        }
        file.sync_all().await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sim::Sim;

    use super::*;

    #[test]
    fn it_is_made_given_up_and_made_again() {
        let sim = Sim::new(1);
        let env = sim.env();
        let reserve = sim.run(async move { Reserve::open(&env, "/reserve-0", 3 << 20).await });
        let reserve = reserve.expect("a healthy disk");
        assert!(!reserve.is_full(), "opening does not wait");
        sim.run_for(Duration::from_secs(1));
        assert!(reserve.is_full());
        assert!(!reserve.is_lacking());
        assert_eq!(sim.bytes("/reserve-0").map(|bytes| bytes.len()), Some(3 << 20));
        sim.set_free_bytes(0);
        assert!(sim.run(reserve.spend()));
        assert!(!sim.run(reserve.spend()), "it can be given up once");
        sim.run_for(Duration::from_secs(3));
        assert!(!reserve.is_full(), "there is too little room to keep some back");
        assert!(reserve.is_lacking());
        sim.set_free_bytes(1 << 30);
        sim.run_for(Duration::from_secs(2));
        assert!(reserve.is_full(), "nobody has to ask for it");
        assert!(!reserve.is_lacking());
    }

    #[test]
    fn a_short_one_is_made_anew() {
        let sim = Sim::new(2);
        sim.plant("/reserve-0", &[0; 4096]);
        let env = sim.env();
        let reserve = sim.run(async move { Reserve::open(&env, "/reserve-0", 1 << 20).await });
        sim.run_for(Duration::from_secs(1));
        assert!(reserve.expect("a healthy disk").is_full());
    }
}
