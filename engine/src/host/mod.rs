//! Calls between cores: what they say (`call`), who answers (`serve`), who keeps the cluster state
//! and opens shards (`keeper`), who looks after the disk (`room`), who reads all of it now and then (`scrub`).

pub mod call;
pub(crate) mod keeper;
pub(crate) mod room;
pub mod scrub;
pub(crate) mod serve;
