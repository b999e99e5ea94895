//! Cluster state: which indices there are, with their settings, mappings and aliases.
//!
//! A small value that only commands change, through [`apply`], which is pure: no clock, no chance,
//! no disk. `engine` keeps it behind a log (`consensus`) and publishes each new value to all cores.
//!
//! Always true
//! 1. A [`State`] is a tree of counted pointers: a change makes a new one that shares the rest.
//! 2. A name belongs to one index, or to aliases, never to both.
//! 3. An index's uuid is never given to another; `engine` names folders by it.
//!
//! Not here yet: many nodes (allocation, joining, transport).

#![forbid(unsafe_code)]

pub mod alias;
pub mod apply;
pub mod cluster_settings;
mod cluster_settings_table;
pub mod codec;
pub mod command;
pub mod data_stream;
mod effort;
pub mod error;
pub mod graveyard;
pub mod name;
pub mod patterns;
pub mod remotes;
pub mod settings;
mod settings_table;
mod share;
pub mod state;
pub mod template;
pub mod vacancy;
pub mod weight;

pub use alias::{Alias, AliasAction};
pub use apply::{
    Outcome, admit, admit_index, apply, check_new_name, check_next, check_soft_deletes, compose,
};
pub use cluster_settings::ClusterSettings;
pub use command::{Command, NewIndex, Rules, TemplateKind, Urgency};
pub use data_stream::{DataStream, StreamChange};
pub use error::{Error, Result};
pub use graveyard::Tombstone;
pub use settings::IndexSettings;
pub use state::{Index, State};
pub use template::{ComponentTemplate, IndexTemplate, LegacyTemplate, Templates};
pub use vacancy::Vacancy;
pub use weight::{Growth, Weight};
