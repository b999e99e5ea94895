//! The service account of a client that acts for itself: who may lend it, and how far it reaches.
//!
//! Whoever gives a client an account, has such a client approved or hands out a secret of it can act as
//! that account from then on. So it takes the right to do so (oauth.md, section 21), which
//! `manage_oauth` alone is not.

use std::sync::Arc;

use authz::oauth::reach::There;
use authz::oauth::scope;
use authz::record::client::{ApplicationType, Client, Profile};
use authz::record::grant::{Grant, GrantKind};
use authz::{Access, Command, Principal, State};
use engine::{Error, Result};
use env::Env;

use super::visit::{self, Visit};

/// May `by` let a client of this profile act as `account`, by its name?
///
/// # Errors
/// 403 for who may not act for the account; 400 for scopes beyond its roles.
pub fn check(
    by: &Principal,
    (state, there): (&State, &cluster::State),
    account: &str,
    profile: &Profile,
) -> Result<()> {
    let user = state.user(account);
    let Some(user) = user.filter(|user| by.may_act_as(user)) else {
        return Err(Error::new(
            403,
            "security_exception",
            format!("user [{}] may not act for the service account [{account}]", by.name()),
        ));
    };
    let rights = Principal::user_of(user.clone(), state);
    let scopes = scope::stored(&profile.scopes);
    let access = rights.gate();
    match scope::beyond(&scopes, access, |privilege, pattern| {
        is_reached(access, there, privilege, pattern)
    }) {
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
fn check_client(
    by: &Principal,
    (state, there): (&State, &cluster::State),
    client: &Client,
) -> Result<()> {
    match &client.service_account {
        // It may be another's by now; the client goes on acting for nobody.
        Some(account) if client.service_uid.is_some() && state.account_of(client).is_none() => {
            Err(Error::illegal_argument(format!(
                "the service account [{account}] of this client was deleted"
            )))
        }
        Some(account) => check(by, (state, there), account, &client.profile),
        None => Ok(()),
    }
}

/// As [`check_client`], and has it judged once more where the state is kept, right before the client is made or
/// changed, or gets a secret.
///
/// # Errors
/// As [`check`].
pub fn lends<E: Env>(visit: &Visit<'_, E>, by: &Principal, client: &Client) -> Result<()> {
    check_client(by, (&visit.state(), &visit.core.state()), client)?;
    if let Some(account) = &client.service_account {
        visit.account.get_or_init(|| account.clone());
    }
    Ok(())
}

/// Is it a client that acts for itself?
pub fn is_service(client: &Client) -> bool {
    client.profile.application_type == ApplicationType::Service
}

/// What does not act for itself has nobody's account: one that it was lent as a service, be that before it was ever
/// approved, it gives back.
pub fn give_back(client: &mut Client) {
    if !is_service(client) {
        (client.service_account, client.service_uid) = (None, None);
    }
}

/// Lends a client an account by its name: the user who has it now.
///
/// # Errors
/// There is no such user.
pub fn lend(client: &mut Client, account: &str, state: &State) -> std::result::Result<(), NoUser> {
    let user = state.user(account).ok_or(NoUser)?;
    client.service_account = Some(user.name.clone());
    client.service_uid = Some(user.uid);
    Ok(())
}

/// There is no user of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoUser;

/// Ends what a client got for itself as another account than it has now.
///
/// # Errors
/// State cannot be written.
pub async fn end_others<E: Env>(visit: &Visit<'_, E>, reference: &str) -> authz::Result<()> {
    let state = visit.state();
    let Some(client) = state.clients.get(reference) else { return Ok(()) };
    let account = state.account_of(client).map(|user| user.uid);
    let is_over = |grant: &&Arc<Grant>| {
        grant.kind == GrantKind::Client
            && grant.client.is_some()
            && grant.client == client.client_id
            && Some(grant.uid) != account
    };
    let grants: Vec<u64> = state.grants.values().filter(is_over).map(|grant| grant.id).collect();
    if grants.is_empty() {
        return Ok(());
    }
    visit.ask(Command::Revoke { grants, consents: false }).await.map(|_| ())
}

/// Do these rights hold a privilege on everything of a pattern that there is, some of it by an alias? A scope
/// must hold the alias and the index behind it, which is more than the one name that a role writes: so a
/// pattern is taken that reaches both, and nothing beside them.
fn is_reached(access: &Access, there: &cluster::State, privilege: &str, pattern: &str) -> bool {
    let mut by_alias = false;
    let mut is_held = |one: There<'_>| {
        let name = one.name();
        let leads = |alias: &Arc<str>| access.writes_out(privilege, alias);
        match one {
            There::Index(_) if access.has_name(privilege, name) => true,
            There::Index(_) => {
                let aliases = there.index(name).map(|index| Arc::clone(&index.aliases));
                let led = aliases.is_some_and(|aliases| aliases.keys().any(leads));
                by_alias |= led;
                led
            }
            There::Alias(_) => {
                let written = access.writes_out(privilege, name);
                by_alias |= written;
                written
            }
            There::Stream(_) => access.has_name(privilege, name),
        }
    };
    visit::there(there).filter(|one| one.fits(pattern)).all(&mut is_held) && by_alias
}
