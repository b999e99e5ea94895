//! The service account of a client that acts for itself: who may lend it, and how far it reaches.
//!
//! Whoever gives a client an account, has such a client approved or hands out a secret of it can act as
//! that account from then on. So it takes the right to do so (oauth.md, section 21), which
//! `manage_oauth` alone is not.

use authz::oauth::scope;
use authz::record::client::{Client, Profile};
use authz::{Principal, State};
use engine::{Error, Result};

/// May `by` let a client of this profile act as `account`, by its name?
///
/// # Errors
/// 403 for who may not act for the account; 400 for scopes beyond its roles.
pub fn check(by: &Principal, state: &State, account: &str, profile: &Profile) -> Result<()> {
    let user = state.user(account);
    let Some(user) = user.filter(|user| by.may_act_as(user)) else {
        return Err(Error::new(
            403,
            "security_exception",
            format!("user [{}] may not act for the service account [{account}]", by.name()),
        ));
    };
    let rights = Principal::user_of(user.clone(), state);
    match scope::beyond(&scope::stored(&profile.scopes), rights.gate()) {
        None => Ok(()),
        Some(beyond) => Err(Error::illegal_argument(format!(
            "[scope] holds [{beyond}], which goes beyond the roles of the service account [{account}]"
        ))),
    }
}

/// The same for a client as it is, or will be; one that does not act for itself is nobody's.
///
/// # Errors
/// As [`check`].
pub fn check_client(by: &Principal, state: &State, client: &Client) -> Result<()> {
    match &client.service_account {
        // It may be another's by now; the client goes on acting for nobody.
        Some(account) if client.service_uid.is_some() && state.account_of(client).is_none() => {
            Err(Error::illegal_argument(format!(
                "the service account [{account}] of this client was deleted"
            )))
        }
        Some(account) => check(by, state, account, &client.profile),
        None => Ok(()),
    }
}
