//! Who stands at the door, once the credential was found good.

use std::sync::Arc;

use crate::access::Access;
use crate::record::user::User;
use crate::state::State;

/// An authenticated caller, as authz state knew it at that moment.
#[derive(Clone, Debug)]
pub struct Principal {
    user: Arc<User>,
    access: Arc<Access>,
}

impl Principal {
    pub(crate) fn new(user: Arc<User>, state: &State) -> Self {
        let access = Arc::new(Access::new(&user.name, state.roles(&user.roles)));
        Self { user, access }
    }

    /// Its user record.
    pub fn user(&self) -> &User {
        &self.user
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.user.name
    }

    /// What it may do and see: the answers behind the gate.
    pub fn gate(&self) -> &Arc<Access> {
        &self.access
    }

    /// Whether it is still the same record: any change of the user makes another.
    pub(crate) fn is_of(&self, user: &Arc<User>) -> bool {
        Arc::ptr_eq(&self.user, user)
    }
}
