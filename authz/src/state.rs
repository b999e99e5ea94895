//! Authz state: what the log's commands have made, published to every core.
//!
//! Always true
//! 1. A state never changes; `apply` makes the next one. Records are shared between the two.
//! 2. Only `apply` makes states, but for the empty one and one read from a snapshot.
//!
//! Form 1: JSON, `{"version":N,"users":[…]}`. The log and the snapshot around it name the form, and
//! refuse a later one.

use std::collections::BTreeMap;
use std::sync::Arc;

use consensus::Decode;
use json::{Value, json};

use crate::command::{Command, Outcome};
use crate::error::{Error, Result};
use crate::record::role::Role;
use crate::record::user::User;

/// All that authz knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Commands applied so far.
    pub version: u64,
    /// Users by name.
    pub users: BTreeMap<String, Arc<User>>,
}

impl State {
    /// The user of this name.
    pub fn user(&self, name: &str) -> Option<&Arc<User>> {
        self.users.get(name)
    }

    /// The roles that exist among those named.
    pub fn roles(&self, names: &[String]) -> Arc<[Role]> {
        names.iter().filter_map(|name| Role::built_in(name)).collect()
    }

    /// Form in a snapshot.
    pub fn to_bytes(&self) -> Vec<u8> {
        let users: Vec<Value> = self.users.values().map(|user| user.to_json()).collect();
        json::to_vec(&json!({"version": self.version, "users": users}))
    }

    /// From a snapshot.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let malformed = |reason: String| Error::Malformed { what: "authz snapshot", reason };
        let value = json::parse(bytes).map_err(|error| malformed(error.to_string()))?;
        let version = value.get("version").and_then(Value::as_u64);
        let mut state = Self {
            version: version.ok_or_else(|| malformed("it has no version".into()))?,
            users: BTreeMap::new(),
        };
        let users = value.get("users").and_then(Value::as_array);
        for user in users.ok_or_else(|| malformed("it has no users".into()))? {
            let user = User::from_json(user)?;
            let name = user.name.clone();
            if state.users.insert(name.clone(), Arc::new(user)).is_some() {
                return Err(malformed(format!("user [{name}] stands twice")));
            }
        }
        Ok(state)
    }
}

impl consensus::State for State {
    type Command = Command;
    type Outcome = Outcome;

    const FORMAT: u32 = 1;

    fn apply(&self, command: &Command) -> (Self, Outcome) {
        crate::apply::apply(self, command)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bytes());
    }

    fn decode(_format: u32, bytes: &[u8]) -> std::result::Result<Self, Decode> {
        Self::from_bytes(bytes).map_err(|error| Decode(error.to_string()))
    }

    fn encode_command(command: &Command, out: &mut Vec<u8>) {
        out.extend_from_slice(&command.to_bytes());
    }

    fn decode_command(_format: u32, bytes: &[u8]) -> std::result::Result<Command, Decode> {
        Command::from_bytes(bytes).map_err(|error| Decode(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::PasswordHash;

    #[test]
    fn a_snapshot_is_read_as_it_was_written() {
        let mut state = State { version: 7, users: BTreeMap::new() };
        let user = User::elastic(PasswordHash::nobody());
        state.users.insert(user.name.clone(), Arc::new(user));
        assert_eq!(State::from_bytes(&state.to_bytes()), Ok(state));
        let empty = State::default();
        assert_eq!(State::from_bytes(&empty.to_bytes()), Ok(empty));
    }

    #[test]
    fn rubbish_is_refused() {
        for bad in [
            &b""[..],
            b"{}",
            b"[]",
            br#"{"users":[]}"#,
            br#"{"version":1}"#,
            br#"{"version":1,"users":[{}]}"#,
        ] {
            assert!(matches!(State::from_bytes(bad), Err(Error::Malformed { .. })), "{bad:?}");
        }
    }
}
