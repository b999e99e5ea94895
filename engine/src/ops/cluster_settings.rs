//! Changes of the cluster's own settings.

use std::rc::Rc;

use base::units;
use cluster::cluster_settings::Layer;
use cluster::{Command, Rules, remotes};
use env::Env;
use json::Value;

use super::deprecated;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::index::block::{self, Level};

/// Of the file of a node, though older commands, which are read from the log, could set them.
const OF_FILE: [&str; 2] = [
    "cluster.routing.allocation.disk.watermark.enable_for_single_data_node",
    "search.keep_alive_interval",
];

/// The shortest time that this setting takes, which older commands could set to a shorter one.
const RECHECK_INTERVAL_MIN: (&str, &str) =
    ("cluster.persistent_tasks.allocation.recheck_interval", "10s");

/// Settings of the cluster that are to be set.
#[derive(Clone, Debug)]
pub struct NewClusterSettings {
    persistent: Value,
    transient: Value,
    /// They take a block of the cluster back.
    unblocks: bool,
    /// What is set of other clusters in each layer.
    of_others: [Layer; 2],
    /// Sizes of numbers that are not whole.
    fractions: Vec<(String, String)>,
    /// A name with a star elsewhere than at its end takes nothing back; `1M` is no minute; what was never to be set.
    wrong: Option<Error>,
}

impl NewClusterSettings {
    /// Reads two layers, each an object, or null. That goes through all of them, so long ones belong on a worker
    /// ([`Core::read_text`]).
    ///
    /// # Errors
    /// What is no setting by its shape.
    pub fn read(persistent: Value, transient: Value) -> Result<Self> {
        let named = |update: &Value| {
            cluster::cluster_settings::flatten(update).map_err(super::failure::of_cluster)
        };
        let layers = [named(&persistent)?, named(&transient)?];
        let changes = layers.iter().flatten().map(|(name, value)| (name.as_str(), value));
        let unblocks = block::unblocks_cluster(changes);
        let given = layers.iter().flatten().map(|(name, value)| (name.as_str(), value));
        let fractions = deprecated::fractions(given, cluster::cluster_settings::fraction);
        // What is wrong with the transient ones is told first.
        let titled = ["persistent", "transient"].into_iter().zip(&layers).rev();
        let wrong = titled
            .flat_map(|(title, layer)| layer.iter().map(move |change| (title, change)))
            .find_map(|(title, (name, value))| match value {
                Value::Null if name.contains('*') && !name.ends_with('*') => {
                    Some(format!("{title} setting [{name}], not recognized"))
                }
                _ if OF_FILE.contains(&name.as_str()) => {
                    Some(format!("{title} setting [{name}], not dynamically updateable"))
                }
                Value::String(text) => cluster::cluster_settings::no_minutes(name, text)
                    .or_else(|| too_short(name, text)),
                _ => None,
            })
            .map(Error::illegal_argument);
        let mut of_others = layers;
        for layer in &mut of_others {
            layer.retain(|name, _| name.starts_with(remotes::FAMILY));
        }
        Ok(Self { persistent, transient, unblocks, of_others, fractions, wrong })
    }
}

/// Why this is too short a time for a setting of which older commands could set such.
fn too_short(name: &str, text: &str) -> Option<String> {
    let (of, least) = RECHECK_INTERVAL_MIN;
    if name != of {
        return None;
    }
    let asked = units::time(name, text).ok()?.unwrap_or_default();
    let is_long = units::time(name, least).is_ok_and(|least| Some(asked) >= least);
    (!is_long).then(|| {
        format!("failed to parse value [{text}] for setting [{name}], must be >= [{least}]")
    })
}

impl<E: Env> Core<E> {
    /// Changes settings of the cluster.
    ///
    /// # Errors
    /// A setting that is unknown or no setting of the cluster; a value that cannot be read; a block
    /// of the cluster, unless that is what is changed.
    pub async fn put_cluster_settings(
        self: &Rc<Self>,
        gate: &dyn Gate,
        new: NewClusterSettings,
    ) -> Result<()> {
        gate.cluster("cluster:admin/settings/update")?;
        let NewClusterSettings { persistent, transient, unblocks, of_others, fractions, wrong } =
            new;
        if !unblocks {
            block::check_cluster(&self.state(), Level::MetadataWrite)?;
        }
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let (settings, [lasting, passing]) = (self.state().settings.clone(), &of_others);
        remotes::check("transient", settings.transient(), passing)
            .and_then(|()| remotes::check("persistent", settings.persistent(), lasting))
            .map_err(super::failure::of_cluster)?;
        let rules = Rules::Now;
        self.done(Command::PutClusterSettings { persistent, transient, rules }).await?;
        fractions.iter().for_each(|(name, text)| deprecated::fraction(gate, name, text));
        Ok(())
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
