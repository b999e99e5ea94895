//! API keys, tokens of service accounts, role mappings, privileges of applications.

use std::sync::Arc;

use json::{Object, Value};
use ring::digest;

use super::role::Role;
use super::user::User;
use crate::form::{Hash, record};
use crate::secret::is_equal;

record! {
    /// A secret that we made ourselves (128 random bits and more), as it is kept: salted SHA-256. A
    /// slow hash would add nothing but a way to overload us.
    pub struct Salted {
        /// The salt.
        pub salt: Hash,
        /// SHA-256 of salt and secret.
        pub hash: Hash,
    }
}

impl Salted {
    /// Salts and hashes.
    pub fn new(salt: [u8; 32], secret: &[u8]) -> Self {
        Self { salt: Hash(salt), hash: digest_of(&salt, secret) }
    }

    /// Is this the secret?
    pub fn is(&self, secret: &[u8]) -> bool {
        is_equal(&digest_of(&self.salt.0, secret).0, &self.hash.0)
    }

    /// What no secret fits, and takes as long to compare.
    pub fn nobody() -> Self {
        Self { salt: Hash([0; 32]), hash: Hash([0; 32]) }
    }
}

fn digest_of(salt: &[u8; 32], secret: &[u8]) -> Hash {
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(salt);
    context.update(secret);
    Hash(context.finish().as_ref().try_into().expect("a SHA-256 has 32 bytes"))
}

record! {
    /// What is kept of whoever made a key, beside the name: what role queries of the key may name. As in
    /// Elasticsearch it has no roles.
    pub struct Creator {
        /// Name for people.
        pub full_name: Option<String>,
        /// Address for letters.
        pub email: Option<String>,
        /// What the operator noted.
        pub metadata: Object,
    }
}

impl Creator {
    /// What is kept of this user.
    pub fn of(user: &User) -> Self {
        Self {
            full_name: user.full_name.clone(),
            email: user.email.clone(),
            metadata: user.metadata.clone(),
        }
    }
}

record! {
    /// An API key.
    pub struct ApiKey {
        /// Its id.
        pub id: String,
        /// Its name.
        pub name: String,
        /// The secret half.
        pub secret: Salted,
        /// `rest` or `cross_cluster`.
        pub kind: String,
        /// Whose it is.
        pub owner: String,
        /// Name and type of the owner's realm.
        pub realm: (String, String),
        /// When it was made, in milliseconds.
        pub creation: u64,
        /// When it ends.
        pub expiration: Option<u64>,
        /// When it was invalidated.
        pub invalidation: Option<u64>,
        /// Anything the owner notes.
        pub metadata: Object,
        /// Roles of its own; empty means its owner's.
        pub descriptors: Vec<Arc<Role>>,
        /// The owner's roles when it was made or updated.
        pub limited_by: Vec<Arc<Role>>,
        /// The owner when it was made or updated; none of keys from before that was kept whose owner is still
        /// there.
        pub creator: Option<Creator>,
        /// Access of a cross-cluster key, as it came.
        pub access: Option<Value>,
    }
}

impl ApiKey {
    /// Does it let in now?
    pub fn is_live(&self, now_ms: u64) -> bool {
        self.invalidation.is_none() && self.expiration.is_none_or(|end| now_ms < end)
    }

    /// When it lets in no more, in milliseconds.
    pub fn ended(&self) -> Option<u64> {
        self.invalidation.into_iter().chain(self.expiration).min()
    }
}

record! {
    /// A token of a service account.
    pub struct ServiceToken {
        /// `elastic/kibana`.
        pub account: String,
        /// Its name.
        pub name: String,
        /// Its secret.
        pub secret: Salted,
        /// When it was made.
        pub creation: u64,
    }
}

record! {
    /// Who of a directory gets which roles.
    pub struct RoleMapping {
        /// Its name.
        pub name: String,
        /// All of it, as it came.
        pub body: Object,
    }
}

record! {
    /// A privilege of an application.
    pub struct AppPrivilege {
        /// Whose.
        pub application: String,
        /// Its name.
        pub name: String,
        /// What it allows.
        pub actions: Vec<String>,
        /// Anything noted.
        pub metadata: Object,
    }
}

/// Service accounts that exist, each with the privileges of its bearer.
pub const SERVICE_ACCOUNTS: &[&str] =
    &["elastic/enterprise-search-server", "elastic/fleet-server", "elastic/kibana"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_again() {
        let salted = Salted::new([1; 32], b"geheim");
        assert!(salted.is(b"geheim"));
        assert!(!salted.is(b"geheim "));
        assert!(!Salted::nobody().is(b"geheim"));
        assert_ne!(salted.hash, Salted::new([2; 32], b"geheim").hash);
    }
}
