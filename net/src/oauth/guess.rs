//! Passwords that are guessed, by `Basic` at the store and at `/introspect` and in bodies of `_security`
//! (tokens, keys and profiles that are granted by a password): as many failures of one
//! account from one address in a minute as a client may have (oauth.md, section 18), then 429 until the
//! minute is over, and the password is not looked at.
//!
//! Account **and** address: a stranger elsewhere keeps nobody out. Names that do not exist are counted
//! like those that do. Whose password this core found right lately is let in all the same.

use std::time::Duration;

use authz::{AuthError, Principal, Secret};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use env::Env;

use super::Oauth;
use super::limit::{Limiter, Of, host};
use super::login::account;
use crate::admit::Security;

/// Failures are counted for so long.
const MINUTE: Duration = Duration::from_secs(60);

/// One attempt of one account from one address.
#[derive(Debug)]
pub struct Guess<'a> {
    limiter: &'a Limiter,
    most: u64,
    key: String,
    now: Duration,
    name: String,
    password: Secret,
}

/// Why nobody is let in.
#[derive(Debug)]
pub enum Refused {
    /// Too many failures: seconds to wait.
    Slow(u64),
    /// As the door says.
    Wrong(AuthError),
}

impl<'a> Guess<'a> {
    /// Who sent this header, from this address; beyond so many failures nobody looks.
    ///
    /// # Errors
    /// As the door says, or that it is time to wait.
    pub async fn authenticate<E: Env>(
        security: &'a Security<E>,
        (header, run_as): (Option<&str>, Option<&str>),
        peer: &str,
    ) -> Result<Principal, Refused> {
        // At each request of the store: while nobody guesses this is a look at one number.
        let is_guessed = security
            .oauth
            .as_ref()
            .is_some_and(|oauth| oauth.limiter.is_guessed(security.authenticator.monotonic()));
        if is_guessed
            && let Some(guess) = Self::of(security, header, peer)
            && let Some(seconds) = guess.waits(security)
        {
            return Err(Refused::Slow(seconds));
        }
        let done = security.authenticator.authenticate_as(header, run_as, host(peer)).await;
        done.map_err(|error| match Self::of(security, header, peer) {
            Some(guess) => guess.failed(error),
            None => Refused::Wrong(error),
        })
    }

    /// Whose name and password these are, which a request brought in its body from this address; counted
    /// with what comes in headers.
    ///
    /// # Errors
    /// As the door says, or that it is time to wait.
    pub async fn password<E: Env>(
        security: &'a Security<E>,
        name: &str,
        password: &str,
        peer: &str,
    ) -> Result<Principal, Refused> {
        let guess = security
            .oauth
            .as_ref()
            .map(|oauth| Self::by(security, oauth, (name.to_owned(), password.to_owned()), peer));
        if let Some(seconds) = guess.as_ref().and_then(|guess| guess.waits(security)) {
            return Err(Refused::Slow(seconds));
        }
        let password = Secret::new(password.to_owned());
        let done = security.authenticator.password(name.to_owned(), password, host(peer)).await;
        done.map_err(|error| match guess {
            Some(guess) => guess.failed(error),
            None => Refused::Wrong(error),
        })
    }

    /// The attempt in this header; none where it holds no name and password, or where nothing is counted.
    fn of<E: Env>(security: &'a Security<E>, header: Option<&str>, peer: &str) -> Option<Self> {
        let oauth: &Oauth = security.oauth.as_ref()?;
        Some(Self::by(security, oauth, plain_basic(header?)?, peer))
    }

    fn by<E: Env>(
        security: &Security<E>,
        oauth: &'a Oauth,
        (name, password): (String, String),
        peer: &str,
    ) -> Self {
        Self {
            limiter: &oauth.limiter,
            most: oauth.settings.limits.client_auth,
            key: format!("{} {}", account(&name), host(peer)),
            now: security.authenticator.monotonic(),
            name,
            password: Secret::new(password),
        }
    }

    /// Seconds to wait, where too many failed before; not for a password found right lately.
    fn waits<E: Env>(&self, security: &Security<E>) -> Option<u64> {
        let seconds = self.limiter.is_over(Of::Password, &self.key, self.most, self.now)?;
        (!security.authenticator.remembers(&self.name, &self.password)).then_some(seconds)
    }

    /// Notes that the attempt failed; from the eleventh failure on the answer is to wait.
    fn failed(&self, error: AuthError) -> Refused {
        if !matches!(error, AuthError::Wrong { .. }) {
            return Refused::Wrong(error);
        }
        match self.limiter.count(Of::Password, &self.key, self.most, MINUTE, self.now) {
            Some(seconds) => Refused::Slow(seconds),
            None => Refused::Wrong(error),
        }
    }
}

/// Name and password of a store user: no encoding inside.
fn plain_basic(header: &str) -> Option<(String, String)> {
    let (scheme, rest) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("Basic") {
        return None;
    }
    let decoded = STANDARD.decode(rest.trim()).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}
