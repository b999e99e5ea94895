//! Passwords that are guessed, by `Basic` at the store and at `/introspect` and in bodies of `_security`
//! (tokens, keys and profiles that are granted by a password): as many failures of one
//! account from one address in a minute as a client may have (oauth.md, section 18), then 429 until the
//! minute is over, and the password is not looked at.
//!
//! Account **and** address: a stranger elsewhere keeps nobody out. Names that do not exist are counted
//! like those that do. Whose password was found right lately, on whichever core, is let in all the same: nothing
//! is counted for it. An attempt counts before its password is looked at, and no more where it was right.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use authz::authenticate::Tally;
use authz::{AuthError, Principal, Secret};
use env::Env;

use super::Oauth;
use super::limit::{Limiter, Of, host};
use super::login::account;
use crate::admit::Security;

/// Failures are counted for so long.
const MINUTE: Duration = Duration::from_secs(60);

/// One attempt of one account from one address.
#[derive(Debug)]
pub struct Guess {
    limiter: Arc<Limiter>,
    most: u64,
    key: String,
    now: Duration,
    /// The window in which it counts.
    counted: Cell<Option<Duration>>,
}

/// Why nobody is let in.
#[derive(Debug)]
pub enum Refused {
    /// Too many failures: seconds to wait.
    Slow(u64),
    /// As the door says.
    Wrong(AuthError),
}

impl From<AuthError> for Refused {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Slow { seconds } => Self::Slow(seconds),
            other => Self::Wrong(other),
        }
    }
}

impl Guess {
    /// Who sent this header, from this address; beyond so many failures nobody looks.
    ///
    /// # Errors
    /// As the door says, or that it is time to wait.
    pub async fn authenticate<E: Env>(
        security: &Security<E>,
        (header, run_as): (Option<&str>, Option<&str>),
        peer: &str,
    ) -> Result<Principal, Refused> {
        let by = |name: &str| Self::of(security, name, peer);
        let done = security.authenticator.authenticate_as(header, run_as, host(peer), &by).await;
        done.map_err(Refused::from)
    }

    /// Whose name and password these are, which a request brought in its body from this address; counted
    /// with what comes in headers.
    ///
    /// # Errors
    /// As the door says, or that it is time to wait.
    pub async fn password<E: Env>(
        security: &Security<E>,
        name: &str,
        password: &str,
        peer: &str,
    ) -> Result<Principal, Refused> {
        let by = |name: &str| Self::of(security, name, peer);
        let (name, password) = (name.to_owned(), Secret::new(password.to_owned()));
        let done = security.authenticator.counted(name, password, host(peer), &by).await;
        done.map_err(Refused::from)
    }

    /// An attempt at this account; none where nothing is counted.
    fn of<E: Env>(security: &Security<E>, name: &str, peer: &str) -> Option<Rc<dyn Tally>> {
        let oauth: &Oauth = security.oauth.as_ref()?;
        Some(Rc::new(Self {
            limiter: Arc::clone(&oauth.limiter),
            most: oauth.settings.limits.client_auth,
            key: format!("{} {}", account(name), host(peer)),
            now: security.authenticator.monotonic(),
            counted: Cell::new(None),
        }))
    }
}

impl Tally for Guess {
    fn begin(&self) -> Result<(), u64> {
        let end = self.limiter.begin(Of::Password, &self.key, self.most, MINUTE, self.now)?;
        self.counted.set(Some(end));
        Ok(())
    }

    fn take_back(&self) {
        if let Some(end) = self.counted.take() {
            self.limiter.take_back(Of::Password, &self.key, end);
        }
    }
}
