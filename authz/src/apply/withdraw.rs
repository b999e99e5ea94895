//! What a person gave, taken back: consents that are remembered, codes and devices that wait for their
//! tokens, and grants.

use std::sync::Arc;

use crate::command::Outcome;
use crate::form::Hash;
use crate::record::grant::{Code, Device, DeviceState, GrantKind};
use crate::state::{Ends, State};

/// Takes back all that `user` gave to `client`, or to every client; `service`: also what is no
/// application's, tokens of the store's token service and of clients that act as the user.
pub(super) fn withdraw(
    state: &mut State,
    user: &str,
    client: Option<&str>,
    service: bool,
) -> Outcome {
    forget(state, user, client);
    let from = (user.to_owned(), client.unwrap_or_default().to_owned(), 0);
    let grants: Vec<u64> = state
        .owners
        .from(&from)
        .map(|(key, ())| key)
        .take_while(|(owner, of, _)| owner == user && client.is_none_or(|client| of == client))
        .map(|(_, _, id)| *id)
        .collect();
    let of = |id: &u64| state.grants.get(id).map(Arc::clone);
    let ended: Vec<u64> = grants
        .iter()
        .filter_map(of)
        .filter(|grant| service || grant.kind == GrantKind::Oauth)
        .map(|grant| grant.id)
        .collect();
    for id in &ended {
        state.drop_grant(*id);
    }
    Outcome::Ended(ended)
}

/// Takes back what is not yet a grant: nobody is let in again without a question.
pub(super) fn forget(state: &mut State, user: &str, client: Option<&str>) {
    let fits = |of: &str| client.is_none_or(|client| of == client);
    let clients: Vec<String> = state
        .consents
        .from(&(user.to_owned(), client.unwrap_or_default().to_owned()))
        .take_while(|((owner, _), _)| owner == user)
        .map(|((_, client), _)| client.clone())
        .filter(|of| fits(of))
        .collect();
    for client in clients {
        state.consents.remove(&(user.to_owned(), client));
    }
    drop_waiting(state, user, fits);
}

/// Takes back codes and devices that a person let in and that have no token yet.
pub(super) fn drop_waiting(state: &mut State, user: &str, fits: impl Fn(&str) -> bool) {
    drop_codes(state, |code| code.user == user && code.spent.is_none() && fits(&code.client));
    drop_devices(state, |device| {
        device.state == DeviceState::Allowed
            && device.user.as_deref() == Some(user)
            && fits(&device.client)
    });
}

/// Removes these codes.
pub(super) fn drop_codes(state: &mut State, which: impl Fn(&Code) -> bool) {
    let codes: Vec<(u64, Hash)> =
        state.codes.values().filter(|code| which(code)).map(|code| (code.end, code.hash)).collect();
    for (end, hash) in codes {
        state.codes.remove(&hash);
        state.ends.remove(&(end, Ends::Code(hash)));
    }
}

/// Removes these devices.
pub(super) fn drop_devices(state: &mut State, which: impl Fn(&Device) -> bool) {
    let devices: Vec<Hash> =
        state.devices.values().filter(|device| which(device)).map(|device| device.id).collect();
    for id in devices {
        state.drop_device(id);
    }
}
