//! What may be asked of authz state, and its form in the log.
//!
//! A command carries results, not wishes: a password arrives hashed, a time arrives told. So the
//! log holds no secret, and applying it again gives the same state.

use json::{Value, json};

use crate::error::{Error, Result};
use crate::password::PasswordHash;

/// A change of authz state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Makes the built-in user at the first start; changes nothing where it is there.
    Bootstrap {
        /// Hash of its password.
        password: PasswordHash,
    },
    /// Gives a user another password.
    SetPassword {
        /// Name of the user.
        user: String,
        /// Hash of the new password.
        password: PasswordHash,
        /// The hash it replaces, where only that one may be replaced: a stronger hash of the same
        /// password must not undo a change made meanwhile.
        instead_of: Option<PasswordHash>,
    },
}

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The state changed.
    Changed,
    /// Nothing had to change.
    Unchanged,
    /// The command was refused.
    Refused(Error),
}

impl Command {
    /// Form in the log.
    pub fn to_bytes(&self) -> Vec<u8> {
        let value = match self {
            Self::Bootstrap { password } => {
                json!({"command": "bootstrap", "password": password.as_str()})
            }
            Self::SetPassword { user, password, instead_of } => json!({
                "command": "set_password",
                "user": user.as_str(),
                "password": password.as_str(),
                "instead_of": (instead_of.as_ref().map(|hash| hash.as_str().to_owned())),
            }),
        };
        json::to_vec(&value)
    }

    /// From the log.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let malformed =
            |reason: &str| Error::Malformed { what: "authz command", reason: reason.to_owned() };
        let value = json::parse(bytes).map_err(|error| malformed(&error.to_string()))?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let hash = |text: &str| {
            PasswordHash::parse(text).ok_or_else(|| malformed("the password hash is no PHC string"))
        };
        let password = hash(text("password").ok_or_else(|| malformed("no password hash"))?)?;
        match text("command") {
            Some("bootstrap") => Ok(Self::Bootstrap { password }),
            Some("set_password") => Ok(Self::SetPassword {
                user: text("user").ok_or_else(|| malformed("no user"))?.to_owned(),
                password,
                instead_of: text("instead_of").map(hash).transpose()?,
            }),
            _ => Err(malformed("its name is not known")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_as_it_was_written() {
        let password = PasswordHash::nobody();
        for command in [
            Command::Bootstrap { password: password.clone() },
            Command::SetPassword {
                user: "ann".into(),
                password: password.clone(),
                instead_of: None,
            },
            Command::SetPassword {
                user: "ann".into(),
                password: password.clone(),
                instead_of: Some(password.clone()),
            },
        ] {
            assert_eq!(Command::from_bytes(&command.to_bytes()), Ok(command));
        }
    }

    #[test]
    fn rubbish_is_refused() {
        for bad in [
            &b"x"[..],
            br#"{"command":"bootstrap","password":"plain"}"#,
            br#"{"command":"bootstrap"}"#,
        ] {
            assert!(matches!(Command::from_bytes(bad), Err(Error::Malformed { .. })), "{bad:?}");
        }
        let good = Command::Bootstrap { password: PasswordHash::nobody() }.to_bytes();
        let other = String::from_utf8(good).expect("JSON").replace("bootstrap", "explode");
        assert!(Command::from_bytes(other.as_bytes()).is_err());
    }
}
