//! Commands of the store's own security: users, roles, keys.

use std::sync::Arc;

use super::client;
use super::withdraw::{drop_waiting, withdraw};
use crate::command::{Command, Outcome, Withdrawal};
use crate::error::Error;
use crate::form::Hash;
use crate::record::builtin;
use crate::record::key::{ApiKey, Creator};
use crate::record::profile::{self, Profile};
use crate::record::user::User;
use crate::state::{Ends, State};

pub(super) fn apply(state: &mut State, command: &Command) -> Outcome {
    match command {
        Command::Bootstrap { password } => bootstrap(state, password.clone()),
        Command::SetPassword { user: name, password, instead_of, keep, withdraws, by } => {
            let Some(user) = state.users.get(name).cloned() else {
                return Outcome::Refused(Error::UnknownUser { name: name.clone() });
            };
            if instead_of.as_ref().is_some_and(|old| *old != user.password) {
                return Outcome::Unchanged;
            }
            if by.as_ref().is_some_and(|by| !by.holds(state)) {
                return Outcome::Refused(Error::Lapsed);
            }
            let password_version =
                if instead_of.is_some() { user.password_version } else { state.version };
            let changed = User { password: password.clone(), password_version, ..(*user).clone() };
            state.users.insert(name.clone(), Arc::new(changed));
            if instead_of.is_none() {
                end_sessions(state, name, keep.as_ref());
                take_back(state, name, *withdraws);
            }
            Outcome::Changed
        }
        Command::PutUser { user, keep_password, withdraws, by } => {
            if by.as_ref().is_some_and(|by| !by.holds(state)) {
                return Outcome::Refused(Error::Lapsed);
            }
            put_user(state, user, *keep_password, *withdraws)
        }
        Command::DeleteUser { name } => {
            let Some(user) = state.users.get(name).cloned() else { return Outcome::Unchanged };
            if user.is_reserved() {
                return reserved(name);
            }
            let uid = user.uid;
            state.users.remove(name);
            end_sessions(state, name, None);
            withdraw(state, name, None, true);
            client::orphan(state, name, uid);
            keep_creator(state, &user);
            Outcome::Changed
        }
        Command::EnableUser { name, enabled } => {
            let Some(user) = state.users.get(name).cloned() else {
                return Outcome::Refused(Error::UnknownUser { name: name.clone() });
            };
            if user.enabled == *enabled {
                return Outcome::Unchanged;
            }
            let changed = User { enabled: *enabled, ..(*user).clone() };
            state.users.insert(name.clone(), Arc::new(changed));
            if !enabled {
                end_sessions(state, name, None);
                drop_waiting(state, name, |_| true);
            }
            Outcome::Changed
        }
        Command::PutRoles { roles } => {
            state.roles_version += 1;
            Outcome::Each(
                roles
                    .iter()
                    .map(|role| state.roles.insert(role.name.clone(), Arc::clone(role)))
                    .collect(),
            )
        }
        Command::DeleteRoles { names } => {
            state.roles_version += 1;
            Outcome::Each(names.iter().map(|name| state.roles.remove(name)).collect())
        }
        Command::PutMapping { mapping } => {
            let is_new = state.mappings.insert(mapping.name.clone(), Arc::new(mapping.clone()));
            if is_new { Outcome::Created } else { Outcome::Changed }
        }
        Command::DeleteMapping { name } => found(state.mappings.remove(name)),
        Command::PutPrivileges { privileges } => Outcome::Each(
            privileges
                .iter()
                .map(|one| {
                    let key = (one.application.clone(), one.name.clone());
                    state.privileges.insert(key, Arc::new(one.clone()))
                })
                .collect(),
        ),
        Command::DeletePrivileges { application, names } => Outcome::Each(
            names
                .iter()
                .map(|name| state.privileges.remove(&(application.clone(), name.clone())))
                .collect(),
        ),
        Command::PutKey { key, by, granted_by } => {
            if [by, granted_by].into_iter().flatten().any(|by| !by.holds(state)) {
                return Outcome::Refused(Error::Lapsed);
            }
            if state.keys.contains(&key.id) {
                return Outcome::Refused(Error::refused("this id of an API key is taken"));
            }
            state.keys.insert(key.id.clone(), Arc::new(key.clone()));
            Outcome::Created
        }
        Command::UpdateKeys {
            ids,
            descriptors,
            limited_by,
            creator,
            metadata,
            expiration,
            access,
            by,
        } => {
            if by.as_ref().is_some_and(|by| !by.holds(state)) {
                return Outcome::Refused(Error::Lapsed);
            }
            let update = |key: &ApiKey| ApiKey {
                descriptors: descriptors.clone().unwrap_or_else(|| key.descriptors.clone()),
                limited_by: if limited_by.is_empty() {
                    key.limited_by.clone()
                } else {
                    limited_by.clone()
                },
                creator: creator.clone().or_else(|| key.creator.clone()),
                metadata: metadata.clone().unwrap_or_else(|| key.metadata.clone()),
                expiration: expiration.or(key.expiration),
                access: access.clone().or_else(|| key.access.clone()),
                ..key.clone()
            };
            Outcome::Each(ids.iter().map(|id| update_key(state, id, &update)).collect())
        }
        Command::InvalidateKeys { ids, now } => {
            let end = |key: &ApiKey| ApiKey {
                invalidation: key.invalidation.or(Some(*now)),
                ..key.clone()
            };
            Outcome::Each(ids.iter().map(|id| update_key(state, id, &end)).collect())
        }
        Command::ForgetKeys { ids, ended_by } => {
            let forget = |id: &String| {
                // It may have been given another end since it was looked at.
                let end = state.keys.get(id).and_then(|key| key.ended());
                end.is_some_and(|end| end <= *ended_by) && state.keys.remove(id)
            };
            Outcome::Each(ids.iter().map(forget).collect())
        }
        Command::PutServiceToken { token, by } => {
            if by.as_ref().is_some_and(|by| !by.holds(state)) {
                return Outcome::Refused(Error::Lapsed);
            }
            let key = (token.account.clone(), token.name.clone());
            if state.service_tokens.contains(&key) {
                return Outcome::Unchanged;
            }
            state.service_tokens.insert(key, Arc::new(token.clone()));
            Outcome::Created
        }
        Command::DeleteServiceToken { account, name } => {
            found(state.service_tokens.remove(&(account.clone(), name.clone())))
        }
        Command::ActivateProfile { profile } => {
            let seq_no = number(state);
            let known = state.profile_of(&profile.user, &profile.realm).cloned();
            let next = match &known {
                None => {
                    let mut free = profile::uids(&profile.user);
                    let Some(uid) = free.find(|uid| !state.profiles.contains(uid)) else {
                        return Outcome::Refused(Error::Refused {
                            reason: format!("too many users are named [{}]", profile.user),
                        });
                    };
                    Profile { seq_no, uid, ..profile.clone() }
                }
                Some(known) => Profile {
                    seq_no,
                    uid: known.uid.clone(),
                    enabled: known.enabled,
                    labels: known.labels.clone(),
                    data: known.data.clone(),
                    ..profile.clone()
                },
            };
            state.profiles.insert(next.uid.clone(), Arc::new(next));
            if known.is_some() { Outcome::Changed } else { Outcome::Created }
        }
        Command::ChangeProfile { uid, labels, data, enabled, only_at } => {
            let Some(known) = state.profiles.get(uid).cloned() else { return Outcome::Unchanged };
            if only_at.is_some_and(|seq_no| seq_no != known.seq_no) {
                return Outcome::Refused(Error::Changed);
            }
            let mut next = Profile { seq_no: number(state), ..(*known).clone() };
            next.enabled = enabled.unwrap_or(next.enabled);
            for (whole, change) in [(&mut next.labels, labels), (&mut next.data, data)] {
                if let Some(change) = change {
                    json::patch::merge(whole, change);
                }
            }
            state.profiles.insert(uid.clone(), Arc::new(next));
            Outcome::Changed
        }
        _ => Outcome::Unchanged,
    }
}

fn found(is_found: bool) -> Outcome {
    if is_found { Outcome::Changed } else { Outcome::Unchanged }
}

fn reserved(name: &str) -> Outcome {
    Outcome::Refused(Error::refused(format!(
        "user [{name}] is reserved and only the password can be changed"
    )))
}

fn bootstrap(state: &mut State, password: crate::password::PasswordHash) -> Outcome {
    let mut outcome = Outcome::Unchanged;
    let others = builtin::USERS.iter().map(|(name, role)| User::reserved(name, role));
    for mut user in std::iter::once(User::elastic(password)).chain(others) {
        if !state.users.contains(&user.name) {
            user.uid = number(state);
            state.users.insert(user.name.clone(), Arc::new(user));
            outcome = Outcome::Changed;
        }
    }
    outcome
}

/// A number never given before.
pub(super) fn number(state: &mut State) -> u64 {
    state.next += 1;
    state.next
}

fn put_user(
    state: &mut State,
    user: &User,
    keep_password: bool,
    withdraws: Option<Withdrawal>,
) -> Outcome {
    let known = state.users.get(&user.name).cloned();
    if known.as_ref().is_some_and(|known| known.is_reserved()) {
        return reserved(&user.name);
    }
    let mut user = user.clone();
    match &known {
        Some(known) => {
            user.uid = known.uid;
            if keep_password {
                user.password = known.password.clone();
                user.password_version = known.password_version;
            } else {
                user.password_version = state.version;
                end_sessions(state, &user.name, None);
                take_back(state, &user.name, withdraws);
            }
            if !user.enabled {
                end_sessions(state, &user.name, None);
                drop_waiting(state, &user.name, |_| true);
            }
        }
        None if keep_password => {
            let name = &user.name;
            return Outcome::Refused(Error::refused(format!(
                "password must be specified unless you are updating an existing user [{name}]"
            )));
        }
        None => {
            user.uid = number(state);
            user.password_version = state.version;
        }
    }
    state.users.insert(user.name.clone(), Arc::new(user));
    if known.is_some() { Outcome::Changed } else { Outcome::Created }
}

/// A user goes: keys from before creators were kept are that user's, and no later one's.
fn keep_creator(state: &mut State, user: &User) {
    let is_of = |key: &&Arc<ApiKey>| {
        key.creator.is_none() && key.owner == user.name && key.realm.0 == user.realm.names().0
    };
    let keys: Vec<Arc<ApiKey>> = state.keys.values().filter(is_of).cloned().collect();
    for key in keys {
        let kept = ApiKey { creator: Some(Creator::of(user)), ..(*key).clone() };
        state.keys.insert(kept.id.clone(), Arc::new(kept));
    }
}

/// True where the key is there and changed.
fn update_key(state: &mut State, id: &str, change: &dyn Fn(&ApiKey) -> ApiKey) -> bool {
    let Some(key) = state.keys.get(id).cloned() else { return false };
    let changed = change(&key);
    if changed == *key {
        return false;
    }
    state.keys.insert(id.to_owned(), Arc::new(changed));
    true
}

/// With the old password goes what it had let in.
fn take_back(state: &mut State, user: &str, what: Option<Withdrawal>) {
    if let Some(what) = what {
        withdraw(state, user, None, what == Withdrawal::All);
    }
}

fn end_sessions(state: &mut State, user: &str, keep: Option<&Hash>) {
    let ended: Vec<(Hash, u64)> = state
        .sessions
        .values()
        .filter(|session| session.user == user && Some(&session.id) != keep)
        .map(|session| (session.id, session.end))
        .collect();
    for (id, end) in ended {
        state.sessions.remove(&id);
        state.ends.remove(&(end, Ends::Session(id)));
    }
}
