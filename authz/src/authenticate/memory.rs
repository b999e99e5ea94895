//! Passwords that were found right lately, as all cores know them: whoever is remembered on one is remembered on
//! each, so that it does not matter on which a connection came in.
//!
//! A core looks here once for a name that it does not remember itself, before it makes a slow hash. What it finds
//! holds for the very record of the user that was checked; any change of the user makes another.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::hash::Map;
use ring::hmac;

use crate::record::user::User;
use crate::secret::Secret;

/// Names that are remembered, here and on a core; beyond, those whose time is over go, then all of them.
pub(super) const NAMES_MAX: usize = 10_000;

/// The memory; clones share it.
#[derive(Clone)]
pub(crate) struct Memory {
    key: hmac::Key,
    known: Arc<Mutex<Map<String, Known>>>,
}

struct Known {
    user: Arc<User>,
    tag: hmac::Tag,
    until: Duration,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memory(..)")
    }
}

impl Memory {
    /// One that goes by this key, which nobody else knows.
    pub fn new(key: &[u8; 32]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key), known: Arc::default() }
    }

    /// What stands for a credential.
    pub fn tag(&self, user: &str, password: &Secret) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.key);
        context.update(&(user.len() as u64).to_le_bytes());
        context.update(user.as_bytes());
        context.update(password.reveal().as_bytes());
        context.sign()
    }

    /// Remembers that this was the password of this user.
    pub fn keep(&self, user: Arc<User>, tag: hmac::Tag, until: Duration, now: Duration) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut known, |known| now < known.until);
        known.insert(user.name.clone(), Known { user, tag, until });
    }

    /// Until when this is known to be the password of `user`, as it is now.
    pub fn find(&self, user: &Arc<User>, tag: &hmac::Tag, now: Duration) -> Option<Duration> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.get(&user.name)?;
        if !Arc::ptr_eq(&found.user, user) || found.until <= now {
            known.remove(&user.name);
            return None;
        }
        crate::secret::is_equal(found.tag.as_ref(), tag.as_ref()).then_some(found.until)
    }
}

/// Keeps a map of names within its bound.
pub(super) fn make_room<V>(known: &mut Map<String, V>, is_live: impl Fn(&V) -> bool) {
    if known.len() >= NAMES_MAX {
        known.retain(|_, value| is_live(value));
        if known.len() >= NAMES_MAX {
            known.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::PasswordHash;

    const S: Duration = Duration::from_secs(1);

    fn user(name: &str) -> Arc<User> {
        Arc::new(User { name: name.into(), ..User::elastic(PasswordHash::nobody()) })
    }

    #[test]
    fn a_password_is_known_while_its_user_is_the_same() {
        let (memory, ann) = (Memory::new(&[1; 32]), user("ann"));
        let tag = |text: &str| memory.tag("ann", &Secret::new(text.into()));
        memory.keep(Arc::clone(&ann), tag("right"), S * 9, S);
        assert_eq!(memory.clone().find(&ann, &tag("right"), S), Some(S * 9));
        assert_eq!(memory.find(&ann, &tag("wrong"), S), None);
        assert_eq!(
            memory.find(&ann, &tag("right"), S * 8),
            Some(S * 9),
            "a wrong one drops nothing"
        );
        assert_eq!(memory.find(&ann, &tag("right"), S * 9), None, "its time is over");
        memory.keep(ann, tag("right"), S * 9, S);
        assert_eq!(memory.find(&user("ann"), &tag("right"), S), None, "another record");
    }

    #[test]
    fn names_are_bounded() {
        let memory = Memory::new(&[1; 32]);
        let keep = |at: usize, until| {
            let user = user(&format!("u{at}"));
            let tag = memory.tag(&user.name, &Secret::new("p".into()));
            memory.keep(user, tag, until, S);
        };
        (0..NAMES_MAX).for_each(|at| keep(at, if at < 5 { S * 9 } else { S }));
        keep(NAMES_MAX, S * 9);
        assert_eq!(memory.known.lock().expect("free").len(), 6);
    }
}
