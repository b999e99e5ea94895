//! From an `Authorization` header to a principal.
//!
//! Always true
//! 1. A password is checked by its slow hash on a worker; for 20 minutes after that all cores
//!    remember an HMAC-SHA-256 of it, under a key that was drawn at the start. Any change of
//!    the user drops it.
//! 2. The same credential is never hashed twice at a time on a core: later callers wait for the
//!    first one's result.
//! 3. An unknown or disabled user costs the same hashing as a wrong password, and gets the same
//!    answer. Hashes wait in a bounded queue; beyond it the answer is [`AuthError::Busy`].
//! 4. Where attempts are counted ([`Tally`]), one counts before its hash is made: many at once are no more than
//!    many one after another. What is remembered counts nowhere.
//! 5. No credential is kept, printed, or compared in time that depends on it.
//!
//! Realms, in order, until one accepts: reserved users, the operator's file ([`crate::file_realm`]), native
//! users.
//!
//! The scheme picks the group: a bearer token or an API key that is not good is refused, and never
//! tried as anything else.

pub mod bearer;
mod header;
pub(crate) mod memory;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::hash::Map;
use env::published::Watch;
use env::reply::Reply;
use env::{Clock, Env, Spawn};
use ring::hmac;

use self::header::{Credential, credential};
use crate::file_realm::FileRealm;
use crate::password::PasswordHash;
use crate::principal::{Principal, Via};
use crate::record::user::{Realm, User};
use crate::secret::Secret;
use crate::state::State;
use crate::store::Keeper;

/// How long a verified password is remembered.
pub const REMEMBERED: Duration = Duration::from_secs(20 * 60);

/// How often a password is looked at while its user is written again and again.
const LOOKS_MAX: u32 = 3;

/// Callers that may wait for one password to be checked.
const WAITING_MAX: usize = 10_000;

/// Who counts the attempts at an account's password.
pub trait Tally {
    /// A password is about to be looked at; it counts as wrong from now on.
    ///
    /// # Errors
    /// Seconds to wait: there were too many wrong ones, and nobody looks.
    fn begin(&self) -> Result<(), u64>;

    /// It was not wrong, or nobody could look: it does not count.
    fn take_back(&self);
}

/// Who counts the attempts at the password of the account of this name; none where nobody does.
pub type Tallies<'a> = &'a dyn Fn(&str) -> Option<Rc<dyn Tally>>;

/// Why a caller is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthError {
    /// No credential was given (or one of a scheme that is no concern of ours).
    Missing,
    /// A Basic credential that cannot be read.
    Malformed {
        /// Why, in Elasticsearch's words.
        reason: &'static str,
    },
    /// User or password is wrong.
    Wrong {
        /// The name that was given.
        user: String,
    },
    /// A token or key that nobody knows, or whose owner may not come in.
    Unknown {
        /// Of an API key: what is wrong, in Elasticsearch's words.
        detail: Option<String>,
        /// It came as a bearer token.
        bearer: bool,
    },
    /// What came as a bearer token is none by its form.
    BadToken,
    /// An access token whose time is over.
    Expired,
    /// The caller may not act as that user.
    RunAs {
        /// In Elasticsearch's words.
        reason: String,
    },
    /// Too many passwords wait to be checked: 429.
    Busy,
    /// Too many passwords of this account were wrong: 429.
    Slow {
        /// Seconds to wait.
        seconds: u64,
    },
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing authentication credentials"),
            Self::Malformed { reason } => f.write_str(reason),
            Self::Wrong { user } => write!(f, "unable to authenticate user [{user}]"),
            Self::Unknown { .. } => f.write_str(
                "unable to authenticate with provided credentials and anonymous access is not \
                 allowed for this request",
            ),
            Self::BadToken => f.write_str("the bearer token is malformed"),
            Self::Expired => f.write_str("token expired"),
            Self::RunAs { reason } => f.write_str(reason),
            Self::Busy => f.write_str("too many passwords wait to be checked"),
            Self::Slow { .. } => f.write_str("too many passwords of this account were wrong"),
        }
    }
}

impl std::error::Error for AuthError {}

/// A password that was found right.
struct Verified {
    principal: Principal,
    tag: hmac::Tag,
    until: Duration,
}

/// Name and tag of a credential that is being checked, and who waits for the result.
type Pending = Map<(String, Vec<u8>), Vec<Reply<Result<Principal, AuthError>>>>;

/// One core's doorkeeper; clones share what it remembers.
pub struct Authenticator<E: Env> {
    inner: Rc<Inner<E>>,
}

struct Inner<E: Env> {
    env: E,
    keeper: Keeper,
    file: FileRealm,
    state: RefCell<Watch<State>>,
    bearer: bearer::Bearer,
    verified: RefCell<Map<String, Verified>>,
    pending: RefCell<Pending>,
}

impl<E: Env> Clone for Authenticator<E> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner) }
    }
}

impl<E: Env> fmt::Debug for Authenticator<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authenticator({} remembered)", self.inner.verified.borrow().len())
    }
}

impl<E: Env> Authenticator<E> {
    /// A doorkeeper for this core that goes by the state that `keeper` publishes, and by the
    /// operator's `file`.
    pub fn new(env: E, keeper: Keeper, file: FileRealm) -> Self {
        let state = RefCell::new(keeper.watch());
        let bearer = bearer::Bearer::new(keeper.keys().clone());
        Self {
            inner: Rc::new(Inner {
                env,
                keeper,
                file,
                state,
                bearer,
                verified: RefCell::default(),
                pending: RefCell::default(),
            }),
        }
    }

    /// Who sends this `Authorization` header from the address `host`, and acts as `run_as` where that is given;
    /// passwords are counted by `tallies`.
    ///
    /// # Errors
    /// Why nobody is let in.
    pub async fn authenticate_as(
        &self,
        header: Option<&str>,
        run_as: Option<&str>,
        host: &str,
        tallies: Tallies<'_>,
    ) -> Result<Principal, AuthError> {
        let principal = match credential(header)? {
            Credential::Basic { user, password } => {
                self.counted(user, password, host, tallies).await?
            }
            other => self.inner.bearing(other)?,
        };
        match run_as {
            None => Ok(principal),
            Some(user) => self.inner.run_as(&principal, user).await,
        }
    }

    /// Who sends this `Authorization` header; `host` is the address from which it comes.
    ///
    /// # Errors
    /// Why nobody is let in.
    pub async fn authenticate(
        &self,
        header: Option<&str>,
        host: &str,
    ) -> Result<Principal, AuthError> {
        self.authenticate_as(header, None, host, &|_| None).await
    }

    /// Who has this name and password; `host` is the address from which they come.
    ///
    /// # Errors
    /// Why nobody is let in.
    pub async fn password(
        &self,
        user: String,
        password: Secret,
        host: &str,
    ) -> Result<Principal, AuthError> {
        self.counted(user, password, host, &|_| None).await
    }

    /// The same, counted by `tallies`.
    ///
    /// # Errors
    /// Why nobody is let in.
    pub async fn counted(
        &self,
        user: String,
        password: Secret,
        host: &str,
        tallies: Tallies<'_>,
    ) -> Result<Principal, AuthError> {
        let tag = self.inner.keeper.memory().tag(&user, &password);
        if let Some(principal) = self.inner.remembered(&user, &tag) {
            return Ok(principal);
        }
        let (reply, answer) = env::reply::channel();
        let place = (user, tag.as_ref().to_vec());
        let is_first = !self.inner.pending.borrow().contains_key(&place);
        // One password that comes several times at once is looked at once, and counts once.
        let tally = if is_first { tallies(&place.0) } else { None };
        if let Some(tally) = &tally {
            tally.begin().map_err(|seconds| AuthError::Slow { seconds })?;
        }
        {
            let mut pending = self.inner.pending.borrow_mut();
            let waiting = pending.entry(place.clone()).or_default();
            if waiting.len() >= WAITING_MAX {
                return Err(AuthError::Busy);
            }
            waiting.push(reply);
        }
        if is_first {
            // A task of its own: whoever asked first may leave, the others still wait.
            let (inner, host) = (Rc::clone(&self.inner), host.to_owned());
            self.inner.env.spawn().spawn(async move {
                let result = inner.check(&place.0, password, tag, &host).await;
                if let Some(tally) =
                    tally.filter(|_| !matches!(result, Err(AuthError::Wrong { .. })))
                {
                    tally.take_back();
                }
                let waiting = inner.pending.borrow_mut().remove(&place).unwrap_or_default();
                for reply in waiting {
                    reply.send(result.clone());
                }
            });
        }
        answer.await.unwrap_or(Err(AuthError::Busy))
    }

    /// The clock by which passwords are remembered.
    pub fn monotonic(&self) -> Duration {
        self.inner.env.clock().monotonic()
    }

    /// The state and the way to change it.
    pub fn keeper(&self) -> &Keeper {
        &self.inner.keeper
    }

    /// The newest state.
    pub fn state(&self) -> Arc<State> {
        self.inner.now()
    }
}

impl<E: Env> Inner<E> {
    /// The newest state.
    fn now(&self) -> Arc<State> {
        Arc::clone(self.state.borrow_mut().get())
    }

    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64 {
        u64::try_from(self.env.clock().unix_ms()).unwrap_or_default()
    }

    /// The user that `acting` acts as.
    async fn run_as(&self, acting: &Principal, name: &str) -> Result<Principal, AuthError> {
        let denied = |who: &str| AuthError::RunAs {
            reason: format!(
                "action [cluster:admin/xpack/security/user/authenticate] is unauthorized for \
                 {who} run as [{name}]"
            ),
        };
        let state = self.now();
        let who = match acting.via() {
            Via::Realm => format!("user [{}]", acting.name()),
            Via::ApiKey(key) => format!("API key id [{}] of user [{}]", key.id, key.owner),
            Via::Service(token) => format!("service account [{}]", token.account),
            Via::Token(_) => format!("user [{}]", acting.name()),
            // Never by a token of less than all of its owner's rights.
            Via::Oauth(_) => return Err(denied(&format!("user [{}]", acting.name()))),
        };
        // There is nobody of this name, whatever one may act as.
        if name.is_empty() {
            return Err(AuthError::Wrong { user: String::new() });
        }
        // Who may not is not told whether there is such a user.
        if !acting.gate().run_as(name) {
            return Err(denied(&who));
        }
        let user = match state.user(name) {
            Some(user) if user.realm == Realm::Reserved => Some(Arc::clone(user)),
            known => self.file.user(&self.env, name).await.or_else(|| known.cloned()),
        };
        let user = user.filter(|user| user.enabled).ok_or_else(|| denied(&who))?;
        // Whoever is not all-powerful does not become so by another name.
        if !acting.may_act_as(&user) {
            return Err(denied(&who));
        }
        Ok(Principal::run_as(user, acting, &state))
    }

    /// Who bears a key or a token.
    fn bearing(&self, credential: Credential) -> Result<Principal, AuthError> {
        match credential {
            Credential::Bearer(token) => self.bearer.check(self, token.reveal()),
            Credential::ApiKey(key) => bearer::api_key(self, key.reveal()),
            // A password takes time.
            Credential::Basic { user, .. } => Err(AuthError::Wrong { user }),
        }
    }

    /// The principal of a credential verified lately, on whichever core, where the user did not change since.
    fn remembered(&self, user: &str, tag: &hmac::Tag) -> Option<Principal> {
        let mut state = self.state.borrow_mut();
        let mut verified = self.verified.borrow_mut();
        let state = state.get();
        let current = state.user(user);
        let now = self.env.clock().monotonic();
        if let Some(known) = verified.get(user) {
            let is_same = current.is_some_and(|current| known.principal.is_of(current, state));
            if is_same && now < known.until {
                return crate::secret::is_equal(known.tag.as_ref(), tag.as_ref())
                    .then(|| known.principal.clone());
            }
            verified.remove(user);
        }
        let current = current.filter(|user| user.enabled)?;
        let until = self.keeper.memory().find(current, tag, now)?;
        let principal = Principal::user_of(Arc::clone(current), state);
        memory::make_room(&mut verified, |known| now < known.until);
        let known = Verified { principal: principal.clone(), tag: *tag, until };
        verified.insert(user.to_owned(), known);
        Some(principal)
    }

    /// Checks the password by its slow hash. How long a refusal takes tells neither whether there is such a
    /// user, nor how the password is hashed.
    async fn check(
        &self,
        name: &str,
        password: Secret,
        tag: hmac::Tag,
        host: &str,
    ) -> Result<Principal, AuthError> {
        let clock = self.env.clock();
        let begun = clock.monotonic();
        let place = self.keeper.refusals().enter(host).ok_or(AuthError::Busy)?;
        let checked = self.check_now(name, password, tag).await;
        if matches!(checked, Err(AuthError::Wrong { .. })) {
            clock.sleep(place.rest(clock.monotonic().saturating_sub(begun))).await;
        }
        checked
    }

    /// Looks again where the user was written while the hash was made: what was right then need not be
    /// now, and is not wrong either.
    async fn check_now(
        &self,
        name: &str,
        password: Secret,
        tag: hmac::Tag,
    ) -> Result<Principal, AuthError> {
        for _ in 0..LOOKS_MAX {
            if let Some(principal) = self.look(name, password.clone(), tag).await? {
                return Ok(principal);
            }
        }
        Err(AuthError::Busy)
    }

    /// One look; `None` where the password was changed meanwhile, or the user is gone.
    async fn look(
        &self,
        name: &str,
        password: Secret,
        tag: hmac::Tag,
    ) -> Result<Option<Principal>, AuthError> {
        let known = self.state.borrow_mut().get().user(name).cloned();
        let is_reserved = known.as_ref().is_some_and(|user| user.realm == Realm::Reserved);
        let filed = match is_reserved {
            true => None,
            false => self.file.user(&self.env, name).await,
        };
        // A realm that does not accept leaves it to the next.
        if let (Some(user), true) = (&filed, known.is_some()) {
            let (hash, password) = (user.password.clone(), password.clone());
            let checked = self.env.spawn().work_on_hash(move || hash.verify(&password)).await;
            if checked.map_err(|_| AuthError::Busy)? {
                return Ok(Some(Principal::user_of(Arc::clone(user), &self.now())));
            }
        }
        let is_in_state = known.is_some();
        let user = known.or(filed).filter(|user| user.enabled);
        let hash = user.as_ref().map_or_else(PasswordHash::nobody, |user| user.password.clone());
        let checked = {
            let (hash, password) = (hash.clone(), password.clone());
            self.env.spawn().work_on_hash(move || hash.verify(&password)).await
        };
        let is_right = checked.map_err(|_| AuthError::Busy)?;
        let wrong = || AuthError::Wrong { user: name.to_owned() };
        let user = user.filter(|_| is_right).ok_or_else(wrong)?;
        let state = Arc::clone(self.state.borrow_mut().get());
        if !is_in_state {
            // Not remembered: a user of the file is gone as soon as its line is.
            return Ok(Some(Principal::user_of(user, &state)));
        }
        let current = state.user(name).filter(|current| current.enabled);
        let Some(user) = current.filter(|current| current.password == hash).cloned() else {
            return Ok(None);
        };
        if hash.is_outdated() && !hash.cuts(&password) {
            self.harden(&user, password);
        }
        let now = self.env.clock().monotonic();
        let until = now + REMEMBERED;
        self.keeper.memory().keep(Arc::clone(&user), tag, until, now);
        let principal = Principal::user_of(user, &state);
        let remembered = Verified { principal: principal.clone(), tag, until };
        let mut verified = self.verified.borrow_mut();
        memory::make_room(&mut verified, |known| now < known.until);
        verified.insert(name.to_owned(), remembered);
        Ok(Some(principal))
    }

    /// Replaces a hash of weaker parameters, beside whatever else goes on.
    fn harden(&self, user: &User, password: Secret) {
        let (env, keeper) = (self.env.clone(), self.keeper.clone());
        let (name, old) = (user.name.clone(), user.password.clone());
        self.env.spawn().spawn(async move {
            // Best effort: where it fails, the next login tries again.
            drop(keeper.set_password(&env, &name, password, Some(old)).await);
        });
    }
}
