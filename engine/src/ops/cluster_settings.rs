//! Changes of the cluster's own settings.

use std::rc::Rc;

use cluster::Command;
use env::Env;
use json::Value;

use crate::core::Core;
use crate::error::Result;
use crate::gate::Gate;

impl<E: Env> Core<E> {
    /// Changes settings of the cluster; each layer is an object, or null.
    ///
    /// # Errors
    /// A setting that is unknown or no setting of the cluster; a value that cannot be read.
    pub async fn put_cluster_settings(
        self: &Rc<Self>,
        gate: &dyn Gate,
        persistent: Value,
        transient: Value,
    ) -> Result<()> {
        gate.cluster("cluster:admin/settings/update")?;
        self.done(Command::PutClusterSettings { persistent, transient }).await
    }

    /// Sets which nodes, by id and name, shall have no vote.
    ///
    /// # Errors
    /// What the gate says.
    pub async fn set_voting_exclusions(
        self: &Rc<Self>,
        gate: &dyn Gate,
        nodes: Vec<(String, String)>,
    ) -> Result<()> {
        gate.cluster("cluster:admin/voting_config/add_exclusions")?;
        self.done(Command::SetVotingExclusions { nodes }).await
    }
}
