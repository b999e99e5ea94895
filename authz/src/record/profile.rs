//! Profiles of users: what the companion tool keeps beside a person, found again under one id.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use json::{Object, Value};

use crate::form::record;
use crate::password::PasswordHash;
use crate::record::user::{Realm, User};

/// Accounts of one name that may have a profile each. There are two realms at most that know one name; the
/// rest is room.
const SAME_NAME_MAX: u8 = 10;

record! {
    /// A profile.
    pub struct Profile {
        /// Its id.
        pub uid: String,
        /// Whose.
        pub user: String,
        /// The realm's name.
        pub realm: String,
        /// Name for people, when it was last activated.
        pub full_name: Option<String>,
        /// Address for letters, then.
        pub email: Option<String>,
        /// Names of roles, then.
        pub roles: Vec<String>,
        /// It is found by suggestions.
        pub enabled: bool,
        /// When it was last activated, in milliseconds.
        pub synchronized: u64,
        /// What it is found by.
        pub labels: Value,
        /// What applications keep.
        pub data: Value,
        /// Its number among all changes.
        pub seq_no: u64,
    }
}

impl Profile {
    /// The profile of a user who just came in. Its id is the first of the name until it is kept.
    pub fn of(user: &User, now: u64) -> Self {
        Self {
            uid: uid(&user.name, 0),
            user: user.name.clone(),
            realm: user.realm.names().0.to_owned(),
            full_name: user.full_name.clone(),
            email: user.email.clone(),
            roles: user.roles.clone(),
            enabled: true,
            synchronized: now,
            labels: Value::Object(Object::new()),
            data: Value::Object(Object::new()),
            seq_no: 0,
        }
    }
}

impl Profile {
    /// Who came in when it was last activated, as a record: of users of the operator's file nothing else is
    /// kept. It has no password.
    pub fn last_seen(&self) -> User {
        User {
            name: self.user.clone(),
            password: PasswordHash::nobody(),
            roles: self.roles.clone(),
            full_name: self.full_name.clone(),
            email: self.email.clone(),
            metadata: Object::new(),
            realm: Realm::File,
            enabled: true,
            uid: 0,
            password_version: 0,
        }
    }

    /// Is it of somebody whom the operator's file knew?
    pub fn is_of_file(&self) -> bool {
        self.realm == Realm::File.names().0
    }
}

/// The ids that profiles of a name may have, in the order in which they are given: users of two realms may
/// have one name, and are two people. As Elasticsearch's, they follow from the name and end in a number that
/// tells such apart.
pub fn uids(name: &str) -> impl Iterator<Item = String> {
    (0..SAME_NAME_MAX).map(move |number| uid(name, number))
}

fn uid(name: &str, number: u8) -> String {
    let hash = URL_SAFE_NO_PAD.encode(crate::secret::sha256(name.as_bytes()));
    format!("u_{hash}_{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_elasticsearch() {
        let mut uids = uids("joe");
        assert_eq!(uids.next().as_deref(), Some("u_eGdcwXYIE3LEOrqz6p-3DHQ4HrAtxuk_ttRNFh2m7rM_0"));
        assert_eq!(uids.next().as_deref(), Some("u_eGdcwXYIE3LEOrqz6p-3DHQ4HrAtxuk_ttRNFh2m7rM_1"));
    }
}
