//! Another name for an index gives nobody more of it than the index's own name does.
//!
//! Roles name indices, aliases and data streams alike: who may set such a name for an index could else
//! read by it what is hidden. Elasticsearch refuses aliases of that kind (its interceptor of alias
//! requests compares what a role allows of both names); data streams it does not look at.

use super::reached::READ;
use crate::error::{Error, Result};
use crate::gate::{self, Gate};

/// What stands for the privileges that a role may give: of each one action.
const ACTIONS: [&str; 8] = [
    READ,
    "indices:data/write/index",
    "indices:data/write/delete",
    "indices:admin/mappings/get",
    "indices:admin/settings/update",
    "indices:admin/refresh",
    "indices:admin/delete",
    "indices:monitor/stats",
];

/// What the caller may do by a name that is to lead to further indices.
pub(super) struct ByName<'a> {
    gate: &'a dyn Gate,
    name: &'a str,
    /// Actions that are granted on the name, each with the key of its limits.
    granted: Vec<(&'static str, u64)>,
}

impl<'a> ByName<'a> {
    /// Of an alias.
    pub(super) fn alias(gate: &'a dyn Gate, name: &'a str) -> Self {
        Self::of(gate, name, &ACTIONS)
    }

    /// Of a data stream: who may look after one may do so by any name, but not read.
    pub(super) fn stream(gate: &'a dyn Gate, name: &'a str) -> Self {
        Self::of(gate, name, &[READ])
    }

    fn of(gate: &'a dyn Gate, name: &'a str, actions: &[&'static str]) -> Self {
        let granted = actions.iter().filter_map(|&action| {
            let limits = gate.index(action, name).ok()?;
            Some((action, limits.key))
        });
        Self { gate, name, granted: granted.collect() }
    }

    /// May the alias be added to the index?
    ///
    /// # Errors
    /// Elasticsearch's 403 where the caller may do more by the alias than by the index.
    pub(super) fn check_alias(&self, index: &str) -> Result<()> {
        if !self.widens(index, &[]) {
            return Ok(());
        }
        let reason = "Adding an alias is not allowed when the alias has more permissions than any of \
                      the indices";
        Err(Error::new(403, "security_exception", reason))
    }

    /// May the data stream hold the index, to which these aliases lead?
    ///
    /// # Errors
    /// 403 where the caller would read more of it than before.
    pub(super) fn check_stream(&self, index: &str, via: &[String]) -> Result<()> {
        if !self.widens(index, via) {
            return Ok(());
        }
        let reason = format!(
            "index [{index}] cannot be a part of data stream [{}], by which the caller would read \
             more of it than is granted on the index",
            self.name
        );
        Err(Error::new(403, "security_exception", reason))
    }

    /// Does the caller get more of the index by this name than it has?
    fn widens(&self, index: &str, via: &[String]) -> bool {
        self.granted.iter().any(|&(action, key)| {
            let has = gate::ask(self.gate, action, index, via);
            has.map_or(true, |has| !has.is_unlimited() && has.key != key)
        })
    }
}
