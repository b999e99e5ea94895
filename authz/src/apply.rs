//! From state and command to the next state: a pure function, the same on every node and at every
//! replay.

use std::sync::Arc;

use crate::command::{Command, Outcome};
use crate::error::Error;
use crate::record::user::{ELASTIC, User};
use crate::state::State;

/// The next state, and what the command did.
pub fn apply(state: &State, command: &Command) -> (State, Outcome) {
    let mut next = state.clone();
    next.version += 1;
    let outcome = match command {
        Command::Bootstrap { password } => {
            if next.users.contains_key(ELASTIC) {
                Outcome::Unchanged
            } else {
                let user = User::elastic(password.clone());
                next.users.insert(user.name.clone(), Arc::new(user));
                Outcome::Changed
            }
        }
        Command::SetPassword { user: name, password, instead_of } => {
            match next.users.get_mut(name) {
                None => Outcome::Refused(Error::UnknownUser { name: name.clone() }),
                Some(user) if instead_of.as_ref().is_some_and(|old| *old != user.password) => {
                    Outcome::Unchanged
                }
                Some(user) => {
                    *user = Arc::new(User { password: password.clone(), ..(**user).clone() });
                    Outcome::Changed
                }
            }
        }
    };
    debug_assert!(next.version > state.version, "each command counts");
    (next, outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::PasswordHash;
    use crate::secret::Secret;

    fn hash(salt: u8) -> PasswordHash {
        PasswordHash::make(&Secret::new("secret".into()), [salt; 16])
    }

    fn set(user: &str, password: PasswordHash, instead_of: Option<PasswordHash>) -> Command {
        Command::SetPassword { user: user.into(), password, instead_of }
    }

    #[test]
    fn bootstrap_makes_the_user_once() {
        let (one, outcome) = apply(&State::default(), &Command::Bootstrap { password: hash(1) });
        assert_eq!(outcome, Outcome::Changed);
        let user = one.user("elastic").expect("made");
        assert!(user.enabled && user.is_reserved());
        assert_eq!(one.roles(&user.roles).len(), 1);
        let (two, outcome) = apply(&one, &Command::Bootstrap { password: hash(2) });
        assert_eq!(outcome, Outcome::Unchanged);
        assert_eq!(two.users, one.users);
        assert_eq!((one.version, two.version), (1, 2));
    }

    #[test]
    fn a_password_changes_and_nothing_else() {
        let (before, _) = apply(&State::default(), &Command::Bootstrap { password: hash(1) });
        let (after, outcome) = apply(&before, &set("elastic", hash(2), None));
        assert_eq!(outcome, Outcome::Changed);
        let expected =
            User { password: hash(2), ..(**before.user("elastic").expect("made")).clone() };
        assert_eq!(**after.user("elastic").expect("still there"), expected);
    }

    #[test]
    fn a_stronger_hash_does_not_undo_a_change() {
        let (before, _) = apply(&State::default(), &Command::Bootstrap { password: hash(1) });
        let (changed, _) = apply(&before, &set("elastic", hash(2), None));
        let (after, outcome) = apply(&changed, &set("elastic", hash(3), Some(hash(1))));
        assert_eq!(outcome, Outcome::Unchanged);
        assert_eq!(after.users, changed.users);
        let (_, outcome) = apply(&changed, &set("elastic", hash(3), Some(hash(2))));
        assert_eq!(outcome, Outcome::Changed);
    }

    #[test]
    fn an_unknown_user_is_refused() {
        let (state, outcome) = apply(&State::default(), &set("bob", hash(1), None));
        assert_eq!(outcome, Outcome::Refused(Error::UnknownUser { name: "bob".into() }));
        assert!(state.users.is_empty());
    }
}
