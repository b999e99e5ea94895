//! Profiles of users: what the companion tool keeps beside a person, found again under one id.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use json::{Object, Value};

use crate::form::record;
use crate::record::user::User;

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
    /// The profile of a user who just came in.
    pub fn of(user: &User, now: u64) -> Self {
        Self {
            uid: uid(&user.name),
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

/// The id of a user's profile: it follows from the name, as Elasticsearch's does.
pub fn uid(name: &str) -> String {
    format!("u_{}_0", URL_SAFE_NO_PAD.encode(crate::secret::sha256(name.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_elasticsearch() {
        assert_eq!(uid("joe"), "u_eGdcwXYIE3LEOrqz6p-3DHQ4HrAtxuk_ttRNFh2m7rM_0");
    }
}
