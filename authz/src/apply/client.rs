//! Commands of clients: they come, change, and go with all that hangs on them.

use std::sync::Arc;

use super::flow::revoke;
use super::withdraw::{drop_codes, drop_devices};
use crate::command::Outcome;
use crate::error::Error;
use crate::record::client::{Client, ClientSecret, Status};
use crate::state::State;

/// A use is noted once a day at most, in milliseconds.
const NOTED_MS: u64 = 24 * 60 * 60 * 1000;

pub(super) fn put(state: &mut State, client: &Client, version: u64) -> Outcome {
    let known = state.clients.get(&client.reference).cloned();
    if known.as_ref().map_or(0, |known| known.version) != version {
        return Outcome::Refused(Error::Changed);
    }
    if known.is_none() && client.client_id.as_ref().is_some_and(|id| state.client_ids.contains(id))
    {
        return Outcome::Refused(Error::Changed);
    }
    if known.is_none() {
        super::clear(state, client.created);
    }
    let mut client = Client { version: version + 1, ..client.clone() };
    client.owner_uid = number_of(state, client.owner.as_ref(), client.owner_uid);
    client.service_uid = number_of(state, client.service_account.as_ref(), client.service_uid);
    client.last_used = client.last_used.max(known.as_ref().and_then(|known| known.last_used));
    if client.status != Status::Approved
        && known.as_ref().is_some_and(|known| known.status == Status::Approved)
    {
        // All grants of before are dead for good, also once it is approved again.
        client.grants_from = state.next + 1;
        if let Some(id) = &client.client_id {
            drop_waiting(state, id);
        }
    }
    state.put_client(Arc::new(client));
    if known.is_some() { Outcome::Changed } else { Outcome::Created }
}

/// As [`put`], of one that has no secret any more.
pub(super) fn open(state: &mut State, client: &Client, version: u64) -> Outcome {
    let outcome = put(state, client, version);
    let known = state.clients.get(&client.reference).cloned();
    if let (Outcome::Changed, Some(known)) = (&outcome, known) {
        if let Some(id) = &known.client_id {
            drop_waiting(state, id);
        }
        state.put_client(Arc::new(Client { grants_from: state.next + 1, ..(*known).clone() }));
    }
    outcome
}

/// From approved to suspended, and nothing else of it.
pub(super) fn suspend(state: &mut State, reference: &str) -> Outcome {
    let Some(known) = state.clients.get(reference).cloned() else {
        return Outcome::Refused(Error::Changed);
    };
    match known.status {
        Status::Approved => {
            let client = Client { status: Status::Suspended, ..(*known).clone() };
            put(state, &client, known.version)
        }
        Status::Suspended => Outcome::Unchanged,
        Status::Pending | Status::Rejected => Outcome::Refused(Error::Changed),
    }
}

/// One more secret, and nothing else of it; beside those `beside` alone, where they are told.
pub(super) fn rotate(
    state: &mut State,
    reference: &str,
    secret: &ClientSecret,
    (beside, now): (Option<&[ClientSecret]>, u64),
) -> Outcome {
    let known = state.clients.get(reference).filter(|known| known.may_have_secret()).cloned();
    let Some(known) = known else { return Outcome::Refused(Error::Changed) };
    if beside.is_some_and(|beside| *beside != *known.secrets) {
        return Outcome::Refused(Error::Changed);
    }
    let secrets = known.secrets_with(secret.clone(), now);
    put(state, &Client { secrets, ..(*known).clone() }, known.version)
}

/// A client that nobody chose: each may hold a picture, so that there must not be any number of them.
pub(super) fn add(state: &mut State, client: &Client, room: u64) -> Outcome {
    let owner = number_of(state, client.owner.as_ref(), client.owner_uid);
    let is_like = |one: &Client| match client.unreviewed {
        true => one.unreviewed && one.last_used.is_none(),
        false => {
            matches!(one.status, Status::Pending | Status::Rejected)
                && number_of(state, one.owner.as_ref(), one.owner_uid) == owner
        }
    };
    let like = state.clients.values().filter(|one| is_like(one)).count();
    if u64::try_from(like).unwrap_or(u64::MAX) >= room {
        return Outcome::Refused(Error::Crowded { room });
    }
    put(state, client, 0)
}

/// The number by which a named user is told from a later one of the name; that of nobody where there is
/// no such user.
fn number_of(state: &State, name: Option<&String>, known: Option<u64>) -> Option<u64> {
    let name = name?;
    known.or_else(|| Some(state.users.get(name).map_or(0, |user| user.uid)))
}

/// A user goes: what was kept before users were told apart by number is that user's, and no later one's.
pub(super) fn orphan(state: &mut State, name: &str, uid: u64) {
    let is =
        |of: &Option<String>, known: Option<u64>| of.as_deref() == Some(name) && known.is_none();
    let named: Vec<Arc<Client>> = state
        .clients
        .values()
        .filter(|one| is(&one.owner, one.owner_uid) || is(&one.service_account, one.service_uid))
        .cloned()
        .collect();
    for one in named {
        let mut client = (*one).clone();
        if is(&one.owner, one.owner_uid) {
            client.owner_uid = Some(uid);
        }
        if is(&one.service_account, one.service_uid) {
            client.service_uid = Some(uid);
        }
        state.put_client(Arc::new(client));
    }
}

pub(super) fn delete(state: &mut State, reference: &str) -> Outcome {
    let Some(client) = state.clients.get(reference).cloned() else { return Outcome::Unchanged };
    state.drop_client_end(reference);
    state.clients.remove(reference);
    if let Some(id) = &client.client_id {
        state.client_ids.remove(id);
        drop_waiting(state, id);
        let grants: Vec<u64> = state
            .grants
            .values()
            .filter(|grant| grant.client.as_deref() == Some(id))
            .map(|grant| grant.id)
            .collect();
        for grant in grants {
            revoke(state, grant, true);
        }
        let consents: Vec<(String, String)> = state
            .consents
            .iter()
            .map(|(key, _)| key.clone())
            .filter(|(_, client)| client == id)
            .collect();
        for key in consents {
            state.consents.remove(&key);
        }
    }
    Outcome::Changed
}

/// Codes and devices of a client, decided or not.
fn drop_waiting(state: &mut State, client: &str) {
    drop_codes(state, |code| code.client == client);
    drop_devices(state, |device| device.client == client);
}

/// Notes that a client got a token; only of those that go when they get none.
pub(super) fn used(state: &mut State, id: &str, now: u64) {
    let Some(client) = state.client(id).filter(|client| client.unreviewed).cloned() else { return };
    if client.last_used.is_none_or(|at| now >= at.saturating_add(NOTED_MS)) {
        state.put_client(Arc::new(Client { last_used: Some(now), ..(*client).clone() }));
    }
}

/// A client that nobody reviewed was not used for long: it goes, but where a grant knows better, for
/// uses were not always noted.
pub(super) fn end(state: &mut State, reference: &str, end: u64) {
    let Some(client) = state.clients.get(reference).cloned() else { return };
    let own = state.grants.values().filter(|grant| grant.client == client.client_id);
    let used = own.map(|grant| grant.last_used.unwrap_or(grant.created)).max();
    match used.filter(|used| used.saturating_add(Client::UNUSED_MS) > end) {
        Some(used) => {
            let last_used = client.last_used.max(Some(used));
            state.put_client(Arc::new(Client { last_used, ..(*client).clone() }));
        }
        None => drop(delete(state, reference)),
    }
}
