//! Whether a file has room, asked before it is begun.
//!
//! What has no room half takes what little there is, from those who need it to give some back.

use env::{Disk, Env};

use crate::error::Result;
use crate::shard::Inner;

impl<E: Env> Inner<E> {
    /// Whether new files of `bytes` in all leave `beside` of the disk's room to others.
    pub(crate) async fn find_room(&self, bytes: u64, beside: u64) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // Where it cannot be asked, the attempt will tell.
        let Ok(free) = self.env.disk().free_bytes(&self.dir).await else { return Ok(()) };
        if free >= bytes + beside {
            return Ok(());
        }
        let what = format!(
            "{free} bytes are free: too few for new segments of {bytes}, and {beside} beside them"
        );
        Err(env::Error::new(env::ErrorKind::NoSpace, what).into())
    }
}
