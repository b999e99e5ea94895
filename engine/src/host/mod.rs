//! Calls between cores: what they say (`call`), who answers (`serve`), who keeps the cluster state
//! and opens shards (`keeper`).

pub mod call;
pub(crate) mod keeper;
pub(crate) mod serve;
