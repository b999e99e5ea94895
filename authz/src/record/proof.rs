//! On whose word a command is given: judged again when the command is carried out, because the request that
//! gave it was let in some time before, and a password hashes for longer than it takes to end everything.

use crate::form::{Hash, choice};
use crate::record::grant::Consent;
use crate::state::State;

choice! {
    /// What let somebody in.
    pub enum Proof {
        /// A name and a password.
        Password {
            /// The name.
            user: String,
            /// That user's number.
            uid: u64,
            /// Which of the user's passwords it was ([`crate::record::user::User::password_version`]).
            version: u64,
        },
        /// A session of the pages.
        Session {
            /// Which.
            id: Hash,
        },
        /// The same, where a consent that is remembered answers for its person.
        Consent {
            /// Which session.
            session: Hash,
            /// To which client.
            client: String,
            /// The consent that was looked at, which must stand as it is, of a client that was not changed since:
            /// one that was given anew covers perhaps less. None in logs of before, where any one will do.
            seen: Option<Consent>,
        },
        /// A token.
        Grant {
            /// Of which grant.
            id: u64,
        },
        /// An API key.
        Key {
            /// Its id.
            id: String,
        },
        /// A token of a service account.
        Service {
            /// Its account.
            account: String,
            /// Its name.
            name: String,
            /// The salt of its secret, which no later token of the name has; none in logs of before.
            salt: Option<Hash>,
        },
        /// A client's own credential.
        Client {
            /// Its id.
            id: String,
        },
    }
}

impl Proof {
    /// Does it still let in?
    pub fn holds(&self, state: &State) -> bool {
        let is_enabled = |name: &str, uid: u64| {
            state.user(name).is_some_and(|user| user.enabled && user.uid == uid)
        };
        match self {
            Self::Password { user, uid, version } => {
                is_enabled(user, *uid)
                    && state.user(user).is_some_and(|user| user.password_version == *version)
            }
            Self::Session { id } => {
                state.sessions.get(id).is_some_and(|session| is_enabled(&session.user, session.uid))
            }
            Self::Consent { session, client, seen } => {
                let known = state.sessions.get(session);
                let given = known.and_then(|session| {
                    let consent = state.consents.get(&(session.user.clone(), client.clone()))?;
                    let is_seen = seen.as_ref().is_none_or(|seen| {
                        let now = state.client(client).map(|client| client.version);
                        **consent == *seen && now == Some(seen.version)
                    });
                    Some(consent.uid == session.uid && is_seen)
                });
                given == Some(true) && Self::Session { id: *session }.holds(state)
            }
            Self::Grant { id } => {
                state.kept_grant(*id).is_some_and(|grant| is_enabled(&grant.user, grant.uid))
            }
            // When a key ends is told by the clock, which no command has here: it let in a moment ago.
            Self::Key { id } => state.keys.get(id).is_some_and(|key| key.invalidation.is_none()),
            Self::Service { account, name, salt } => {
                let known = state.service_tokens.get(&(account.clone(), name.clone()));
                known.is_some_and(|known| salt.is_none_or(|salt| known.secret.salt == salt))
            }
            Self::Client { id } => state.client(id).is_some_and(|client| client.is_approved()),
        }
    }
}
