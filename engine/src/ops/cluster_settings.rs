//! Changes of the cluster's own settings.

use std::rc::Rc;

use cluster::Command;
use env::Env;
use json::Value;

use crate::core::Core;
use crate::error::Result;
use crate::gate::Gate;
use crate::index::block::{self, Level};

impl<E: Env> Core<E> {
    /// Changes settings of the cluster; each layer is an object, or null.
    ///
    /// # Errors
    /// A setting that is unknown or no setting of the cluster; a value that cannot be read; a block
    /// of the cluster, unless that is what is changed.
    pub async fn put_cluster_settings(
        self: &Rc<Self>,
        gate: &dyn Gate,
        persistent: Value,
        transient: Value,
    ) -> Result<()> {
        gate.cluster("cluster:admin/settings/update")?;
        let named = |update: &Value| {
            cluster::cluster_settings::flatten(update).map_err(super::failure::of_cluster)
        };
        let layers = [named(&persistent)?, named(&transient)?];
        let changes = layers.iter().flatten().map(|(name, value)| (name.as_str(), value));
        if !block::unblocks_cluster(changes) {
            block::check_cluster(&self.state(), Level::MetadataWrite)?;
        }
        self.done(Command::PutClusterSettings { persistent, transient }).await
    }

    /// Says of more nodes, by id and name, that they shall have no vote: of `most` in all.
    ///
    /// # Errors
    /// What the gate says; a block of the cluster; too many.
    pub async fn add_voting_exclusions(
        self: &Rc<Self>,
        gate: &dyn Gate,
        nodes: Vec<(String, String)>,
        most: u64,
    ) -> Result<()> {
        gate.cluster("cluster:admin/voting_config/add_exclusions")?;
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        self.done(Command::AddVotingExclusions { nodes, most }).await
    }

    /// All nodes may have a vote.
    ///
    /// # Errors
    /// What the gate says; a block of the cluster.
    pub async fn clear_voting_exclusions(self: &Rc<Self>, gate: &dyn Gate) -> Result<()> {
        gate.cluster("cluster:admin/voting_config/add_exclusions")?;
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        self.done(Command::SetVotingExclusions { nodes: Vec::new() }).await
    }
}
