//! Passwords that are guessed, by `Basic` at the store and at `/introspect` and in bodies of `_security`
//! (tokens, keys and profiles that are granted by a password): as many failures of one
//! account from one address in a minute as a client may have (oauth.md, section 18), then 429 until the
//! minute is over, and the password is not looked at.
//!
//! Account **and** address (or /64, of which one machine has all): a stranger elsewhere keeps nobody out. Beyond
//! ten times as many in a minute of one account from everywhere, to which no network adds more than the failures
//! of one address, only networks are let in from which its person came in lately
//! ([decision 14](../../../docs/decisions/0014-guessed-passwords.md)). Names that do not exist are counted
//! like those that do. Whose password was found right lately, on whichever core, is let in all the same: nothing
//! is counted for it. An attempt counts before its password is looked at, and no more where it was right.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use authz::authenticate::Tally;
use authz::{AuthError, Principal, Secret};
use env::Env;

use super::Oauth;
use super::limit::{Limiter, Of, host, neighbourhood, owned, place};
use super::login::account;
use crate::admit::Security;

/// Failures of an account from everywhere, in as many as one address may have.
const EVERYWHERE: u64 = 10;

/// Failures are counted for so long.
const MINUTE: Duration = Duration::from_secs(60);

/// One attempt of one account from one address.
#[derive(Debug)]
pub struct Guess {
    limiter: Arc<Limiter>,
    most: u64,
    account: String,
    peer: String,
    now: Duration,
    /// The windows in which it counts.
    counted: RefCell<Vec<(Of, String, Duration)>>,
    /// Somebody looked at it.
    begun: Cell<bool>,
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
        let last = RefCell::new(None);
        let by = |name: &str| Self::of(security, name, peer, &last);
        let done = security.authenticator.authenticate_as(header, run_as, host(peer), &by).await;
        Self::note(done.is_ok(), last);
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
        let last = RefCell::new(None);
        let by = |name: &str| Self::of(security, name, peer, &last);
        let (name, password) = (name.to_owned(), Secret::new(password.to_owned()));
        let done = security.authenticator.counted(name, password, host(peer), &by).await;
        Self::note(done.is_ok(), last);
        done.map_err(Refused::from)
    }

    /// An attempt at this account, which is `last` from now on; none where nothing is counted.
    fn of<E: Env>(
        security: &Security<E>,
        name: &str,
        peer: &str,
        last: &RefCell<Option<Rc<Self>>>,
    ) -> Option<Rc<dyn Tally>> {
        let oauth: &Oauth = security.oauth.as_ref()?;
        let guess = Rc::new(Self {
            limiter: Arc::clone(&oauth.limiter),
            most: oauth.settings.limits.client_auth,
            account: account(name),
            peer: peer.to_owned(),
            now: security.authenticator.monotonic(),
            counted: RefCell::default(),
            begun: Cell::new(false),
        });
        *last.borrow_mut() = Some(Rc::clone(&guess));
        Some(guess)
    }

    /// A password that was looked at and is right came from a network that is the person's.
    fn note(is_right: bool, last: RefCell<Option<Rc<Self>>>) {
        if let Some(guess) = last.into_inner().filter(|guess| is_right && guess.begun.get()) {
            guess.limiter.at_home(&guess.account, &neighbourhood(&guess.peer), guess.now);
        }
    }

    /// Counts in a window of a minute; answers the seconds to wait where it is full.
    fn count(&self, of: Of, key: String, most: u64) -> Result<(), u64> {
        let end = self.limiter.begin(of, &key, most, MINUTE, self.now)?;
        self.counted.borrow_mut().push((of, key, end));
        Ok(())
    }
}

impl Tally for Guess {
    fn begin(&self) -> Result<(), u64> {
        let Self { account, peer, most, .. } = self;
        let everywhere = most * EVERYWHERE;
        let is_home = self.limiter.is_home(account, &neighbourhood(peer), self.now);
        // Who may not add to it may not come by it either.
        let full = everywhere.checked_sub(1).filter(|_| !is_home);
        let full =
            full.and_then(|most| self.limiter.is_over(Of::Everywhere, account, most, self.now));
        if let Some(seconds) = full {
            return Err(seconds);
        }
        self.count(Of::Password, format!("{account} {}", place(peer)), *most)?;
        let share = format!("basic {account} {}", owned(peer));
        if !is_home && self.count(Of::Share, share, *most).is_ok() {
            self.count(Of::Everywhere, account.clone(), everywhere)
                .inspect_err(|_| self.take_back())?;
        }
        self.begun.set(true);
        Ok(())
    }

    fn take_back(&self) {
        for (of, key, end) in self.counted.take() {
            self.limiter.take_back(of, &key, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn guess(limiter: &Arc<Limiter>, peer: &str, now: Duration) -> Guess {
        Guess {
            limiter: Arc::clone(limiter),
            most: 10,
            account: "ann".into(),
            peer: peer.into(),
            now,
            counted: RefCell::default(),
            begun: Cell::new(false),
        }
    }

    fn all(limiter: &Arc<Limiter>, peer: &str, now: Duration) -> usize {
        (0..100).filter(|_| guess(limiter, peer, now).begin().is_ok()).count()
    }

    #[test]
    fn one_network_holds_up_nobody_elsewhere() {
        let limiter = Arc::default();
        assert_eq!(all(&limiter, "10.0.0.1:1", S), 10);
        // Each machine has all addresses of its /64, and is one.
        let of_one = (1..50).map(|at| all(&limiter, &format!("[2001:db8::{at}]:1"), S));
        assert_eq!(of_one.sum::<usize>(), 10);
        // A /24 and a /48 have many machines, and add no more than one of them may.
        for at in 2..200 {
            all(&limiter, &format!("10.0.0.{at}:1"), S);
            all(&limiter, &format!("[2001:db8:0:{at}::1]:1"), S);
        }
        assert_eq!(all(&limiter, "203.0.113.1:1", S), 10);
    }

    #[test]
    fn many_networks_are_slowed_as_one_and_the_person_at_home_is_not() {
        let limiter: Arc<Limiter> = Arc::default();
        let home = guess(&limiter, "192.0.2.7:1", S);
        home.begin().expect("the first");
        home.take_back();
        Guess::note(true, RefCell::new(Some(Rc::new(home))));
        let found: usize = (0..200).map(|at| all(&limiter, &format!("10.0.{at}.1:1"), S)).sum();
        assert_eq!(found, 100);
        assert_eq!(guess(&limiter, "203.0.113.1:1", S * 2).begin(), Err(59));
        assert_eq!(all(&limiter, "192.0.2.9:1", S * 2), 10, "at home");
        assert_eq!(all(&limiter, "203.0.113.1:1", S * 61), 10, "a minute later");
        // What is taken back counts nowhere.
        let limiter = Arc::default();
        for _ in 0..1_000 {
            let right = guess(&limiter, "10.0.0.1:1", S);
            right.begin().expect("free");
            right.take_back();
        }
        assert_eq!(all(&limiter, "10.0.0.1:1", S), 10);
    }
}
