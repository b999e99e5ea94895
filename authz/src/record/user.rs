//! A user: a name, a password's hash, roles.

use json::{Object, Value, json};

use crate::error::{Error, Result};
use crate::password::PasswordHash;

/// The user that is there from the first start, with every right.
pub const ELASTIC: &str = "elastic";

/// Longest name in characters.
const NAME_CHARACTERS_MAX: usize = 507;

/// Where users are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Realm {
    /// Built into the program.
    Reserved,
    /// Kept in authz state.
    Native,
    /// A line of the operator's file.
    File,
}

impl Realm {
    /// Name and type, as Elasticsearch shows them.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Reserved => ("reserved", "reserved"),
            Self::Native => ("default_native", "native"),
            Self::File => ("default_file", "file"),
        }
    }
}

/// A user as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// Name at the door.
    pub name: String,
    /// Hash of the password.
    pub password: PasswordHash,
    /// Names of roles, in the order given.
    pub roles: Vec<String>,
    /// Name for people.
    pub full_name: Option<String>,
    /// Address for letters.
    pub email: Option<String>,
    /// Anything the operator notes.
    pub metadata: Object,
    /// Which realm knows it.
    pub realm: Realm,
    /// A user that is not enabled cannot come in.
    pub enabled: bool,
    /// Its number, never given again: a later user of the same name is another.
    pub uid: u64,
    /// Which of its passwords this is: the state's version when it was given. Stays where the same password is
    /// only hashed anew; 0 of passwords from before they were told apart, and of the first one of built-in users.
    pub password_version: u64,
}

impl User {
    /// The built-in user.
    pub fn elastic(password: PasswordHash) -> Self {
        Self {
            name: ELASTIC.to_owned(),
            password,
            roles: vec![crate::record::role::SUPERUSER.to_owned()],
            full_name: None,
            email: None,
            metadata: [("_reserved", true)].into_iter().collect(),
            realm: Realm::Reserved,
            enabled: true,
            uid: 0,
            password_version: 0,
        }
    }

    /// A built-in user beside `elastic`, without a password.
    pub fn reserved(name: &str, role: &str) -> Self {
        Self {
            name: name.to_owned(),
            password: PasswordHash::nobody(),
            roles: vec![role.to_owned()],
            ..Self::elastic(PasswordHash::nobody())
        }
    }

    /// Is it the same account? A name alone does not say so: the operator's file may have a line of the name
    /// of a stored user, and a user may be deleted and another one made under the name. Whoever asks whether
    /// somebody is somebody asks here.
    pub fn is(&self, other: &Self) -> bool {
        self.name == other.name && self.realm == other.realm && self.uid == other.uid
    }

    /// What role queries may name of it.
    pub fn facts(&self) -> crate::template::Facts {
        crate::template::Facts {
            username: self.name.clone(),
            full_name: self.full_name.clone(),
            email: self.email.clone(),
            roles: self.roles.clone(),
            metadata: self.metadata.clone(),
            noted: None,
        }
    }

    /// That somebody knew the password it has now.
    pub fn proof(&self) -> crate::record::proof::Proof {
        crate::record::proof::Proof::Password {
            user: self.name.clone(),
            uid: self.uid,
            version: self.password_version,
        }
    }

    /// Built-in users can only get another password.
    pub fn is_reserved(&self) -> bool {
        self.realm == Realm::Reserved
    }

    /// Form in log and snapshot.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "password": self.password.as_str(),
            "roles": (self.roles.clone()),
            "full_name": (self.full_name.clone()),
            "email": (self.email.clone()),
            "metadata": (Value::Object(self.metadata.clone())),
            "enabled": self.enabled,
            "uid": self.uid,
            "password_version": self.password_version,
        })
    }

    /// From log or snapshot.
    pub fn from_json(value: &Value) -> Result<Self> {
        let malformed =
            |reason: &str| Error::Malformed { what: "user record", reason: reason.to_owned() };
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let password = text("password").ok_or_else(|| malformed("no password hash"))?;
        let roles = value.get("roles").and_then(Value::as_array).unwrap_or_default();
        let name = text("name").ok_or_else(|| malformed("no name"))?;
        Ok(Self {
            realm: if crate::record::builtin::is_user(&name) {
                Realm::Reserved
            } else {
                Realm::Native
            },
            name,
            password: PasswordHash::parse(&password)
                .ok_or_else(|| malformed("the password hash is no PHC string"))?,
            roles: roles
                .iter()
                .map(|role| role.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or_else(|| malformed("a role is no text"))?,
            full_name: text("full_name"),
            email: text("email"),
            metadata: value.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default(),
            enabled: value
                .get("enabled")
                .and_then(Value::as_bool)
                .ok_or_else(|| malformed("it is neither enabled nor disabled"))?,
            uid: value.get("uid").and_then(Value::as_u64).unwrap_or_default(),
            password_version: value
                .get("password_version")
                .and_then(Value::as_u64)
                .unwrap_or_default(),
        })
    }
}

/// Whether `name` may name a user: 1 to 507 printable characters without spaces at its ends.
pub fn is_name(name: &str) -> bool {
    let count = name.chars().count();
    (1..=NAME_CHARACTERS_MAX).contains(&count)
        && name.trim() == name
        && !name.chars().any(char::is_control)
}

impl crate::form::Form for User {
    fn to_json(&self) -> Value {
        Self::to_json(self)
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        Self::from_json(value).map_err(|error| error.to_string())
    }
}

impl crate::form::Form for PasswordHash {
    fn to_json(&self) -> Value {
        Value::from(self.as_str())
    }

    fn from_json(value: &Value) -> std::result::Result<Self, String> {
        let text = value.as_str().ok_or("is no text")?;
        Self::parse(text).ok_or_else(|| "is no PHC string".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut user = User::elastic(PasswordHash::nobody());
        user.full_name = Some("Ann Example".into());
        assert_eq!(User::from_json(&user.to_json()), Ok(user));
    }

    #[test]
    fn a_record_that_lacks_something_is_refused() {
        let good = User::elastic(PasswordHash::nobody()).to_json();
        for key in ["name", "password", "enabled"] {
            let mut bad = good.clone();
            bad.as_object_mut().expect("an object").remove(key);
            assert!(matches!(User::from_json(&bad), Err(Error::Malformed { .. })), "{key}");
        }
        assert!(User::from_json(&Value::Null).is_err());
    }

    #[test]
    fn names_are_printable_and_bounded() {
        for good in ["elastic", "Ann Example", "é", "a@b.example", &"x".repeat(507)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", " ann", "ann ", "a\nb", &"x".repeat(508)] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_name_is_not_an_account() {
        let stored = User { realm: Realm::Native, uid: 7, ..User::elastic(PasswordHash::nobody()) };
        let changed = User { roles: Vec::new(), enabled: false, ..stored.clone() };
        assert!(stored.is(&changed));
        for other in [
            User { realm: Realm::File, ..stored.clone() },
            User { uid: 8, ..stored.clone() },
            User { name: "ann".into(), ..stored.clone() },
        ] {
            assert!(!stored.is(&other), "{other:?}");
        }
    }

    #[test]
    fn debug_shows_no_hash() {
        let shown = format!("{:?}", User::elastic(PasswordHash::nobody()));
        assert!(!shown.contains("argon2"), "{shown}");
    }
}
