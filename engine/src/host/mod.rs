//! Calls between cores: what they say (`call`), who answers (`serve`), who keeps the cluster state
//! and opens shards (`keeper`), whose turn it is at a shard (`line`), who removes what is named no more (`folders`), who looks after the disk
//! (`room`) and after the memory of the cluster state (`held`), who reads all of it now and then (`scrub`).

pub mod call;
pub mod folders;
pub(crate) mod held;
pub(crate) mod keeper;
pub(crate) mod line;
pub(crate) mod room;
pub mod scrub;
pub(crate) mod serve;
mod tried;
