//! What users, roles, role mappings, privileges of applications and profiles hold of the memory.
//!
//! Mostly administrators make them, but metadata of half a megabyte on each of three hundred roles is a hundred and
//! fifty megabytes on every core's side of the state, in each snapshot, and there again after each start. So they have a
//! share of the memory as API keys have, judged in the same place. Clients are not here: how many there may be, and how
//! large, is bounded where they come.

use std::collections::BTreeMap;

use json::Value;

use super::weight;
use crate::command::Command;
use crate::error::{Error, Result};
use crate::record::key::AppPrivilege;
use crate::record::profile;
use crate::state::State;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    User,
    Role,
    Mapping,
    /// Of an application, by that and its own name.
    Privilege,
    Profile,
}

/// A record: its kind and its name, of privileges both.
pub(super) type Name = (Kind, String, String);

fn name(kind: Kind, name: &str) -> Name {
    (kind, name.to_owned(), String::new())
}

/// How much the records of a state hold.
#[derive(Debug, Default)]
pub(super) struct Records {
    each: BTreeMap<Name, usize>,
    all: usize,
}

impl Records {
    /// All names of records in a state.
    pub fn names(state: &State) -> Vec<Name> {
        let users = state.users.iter().map(|(key, _)| name(Kind::User, key));
        let roles = state.roles.iter().map(|(key, _)| name(Kind::Role, key));
        let mappings = state.mappings.iter().map(|(key, _)| name(Kind::Mapping, key));
        let profiles = state.profiles.iter().map(|(key, _)| name(Kind::Profile, key));
        let privileges = state.privileges.iter();
        let privileges =
            privileges.map(|((of, own), _)| (Kind::Privilege, of.clone(), own.clone()));
        users.chain(roles).chain(mappings).chain(profiles).chain(privileges).collect()
    }

    /// The record is now as this state has it.
    pub fn follow(&mut self, name: &Name, state: &State) {
        self.all -= self.each.remove(name).unwrap_or(0);
        if let Some(bytes) = held(name, state) {
            self.all += bytes;
            self.each.insert(name.clone(), bytes);
        }
    }

    /// May records hold what they would hold after this command?
    ///
    /// # Errors
    /// [`Error::NoMemory`] where that is more than `most`, and more than they hold now.
    pub fn judge(&self, command: &Command, state: &State, most: usize) -> Result<()> {
        let mut after: BTreeMap<Name, usize> = BTreeMap::new();
        for (name, bytes) in coming(command, state) {
            after.insert(name, bytes);
        }
        let (mut goes, mut comes) = (0_usize, 0_usize);
        for (name, bytes) in &after {
            goes += self.each.get(name).copied().unwrap_or(0);
            comes = comes.saturating_add(*bytes);
        }
        let all = self.all.saturating_sub(goes).saturating_add(comes);
        if comes > goes && all > most {
            return Err(Error::NoMemory { what: "users_and_roles", bytes: all, bytes_max: most });
        }
        Ok(())
    }
}

/// What a record of a state takes, where it is there.
fn held((kind, name, of): &Name, state: &State) -> Option<usize> {
    match kind {
        Kind::User => state.users.get(name).map(|it| weight(&**it)),
        Kind::Role => state.roles.get(name).map(|it| weight(&**it)),
        Kind::Mapping => state.mappings.get(name).map(|it| weight(&**it)),
        Kind::Profile => state.profiles.get(name).map(|it| weight(&**it)),
        Kind::Privilege => {
            let key = (name.clone(), of.clone());
            state.privileges.get(&key).map(|it| weight(&**it))
        }
    }
}

/// The records that a command makes or makes anew, and what they take then.
fn coming(command: &Command, state: &State) -> Vec<(Name, usize)> {
    match command {
        Command::PutUser { user, .. } => vec![(name(Kind::User, &user.name), weight(user))],
        Command::PutRoles { roles } => {
            roles.iter().map(|role| (name(Kind::Role, &role.name), weight(&**role))).collect()
        }
        Command::PutMapping { mapping } => {
            vec![(name(Kind::Mapping, &mapping.name), weight(mapping))]
        }
        Command::PutPrivileges { privileges } => {
            let of = |it: &AppPrivilege| (Kind::Privilege, it.application.clone(), it.name.clone());
            privileges.iter().map(|it| (of(it), weight(it))).collect()
        }
        Command::ActivateProfile { profile } => {
            vec![(name(Kind::Profile, &profile.uid), weight(profile))]
        }
        Command::ChangeProfile { uid, labels, data, .. } => {
            let own = name(Kind::Profile, uid);
            // They are put over what is there.
            let given = [labels, data].into_iter().flatten().map(|it: &Value| weight(it));
            held(&own, state).map(|bytes| (own, bytes + given.sum::<usize>())).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The records that a command may change.
pub(super) fn touched(command: &Command, state: &State) -> Vec<Name> {
    let all = |kind, names: &[String]| names.iter().map(|it| name(kind, it)).collect();
    match command {
        Command::SetPassword { user, .. } => vec![name(Kind::User, user)],
        Command::DeleteUser { name: user } | Command::EnableUser { name: user, .. } => {
            vec![name(Kind::User, user)]
        }
        Command::DeleteRoles { names } => all(Kind::Role, names),
        Command::DeleteMapping { name: mapping } => vec![name(Kind::Mapping, mapping)],
        Command::DeletePrivileges { application, names } => {
            let of = |it: &String| (Kind::Privilege, application.clone(), it.clone());
            names.iter().map(of).collect()
        }
        // It may be kept under another id of the same name.
        Command::ActivateProfile { profile } => {
            profile::uids(&profile.user).map(|uid| name(Kind::Profile, &uid)).collect()
        }
        Command::ChangeProfile { uid, .. } => vec![name(Kind::Profile, uid)],
        _ => coming(command, state).into_iter().map(|(name, _)| name).collect(),
    }
}
