//! What the audit log is told, in strict mode, of a command of the OAuth half before it is carried out: the event
//! that will be noted once it is, and whose it is.

use authz::record::grant::DeviceState;
use authz::token::Keys;
use authz::{Command, State};

/// Names and values of a line.
pub type Facts = Vec<(&'static str, String)>;

/// What a command is about to do; none where it does nothing that has an event.
pub fn facts(command: &Command, keys: &Keys, state: &State) -> Option<Facts> {
    let action = action(command, state)?;
    let mut facts = subject(command, keys, state);
    facts.push(("action", action.to_owned()));
    facts.retain(|(_, value)| !value.is_empty());
    Some(facts)
}

fn action(command: &Command, state: &State) -> Option<&'static str> {
    Some(match command {
        // The same password, hashed anew.
        Command::SetPassword { instead_of: Some(_), .. } => return None,
        Command::SetPassword { .. } => "password_changed",
        Command::Mint { .. } => "token_issued",
        Command::PollDevice { id, .. } => {
            let is_allowed = |state| state == DeviceState::Allowed;
            state.devices.get(id).filter(|device| is_allowed(device.state))?;
            "token_issued"
        }
        Command::Refresh { .. } => "token_refreshed",
        Command::Redeem { .. } => "code_redeemed",
        Command::Revoke { .. } | Command::Withdraw { .. } => "consent_revoked",
        Command::RevokeAccess { .. } => "token_revoked",
        Command::RotateKeys {} => "key_rotated",
        Command::AddClient { .. } | Command::PutClient { version: 0, .. } => "client_registered",
        Command::PutClient { .. } | Command::OpenClient { .. } => "client_changed",
        Command::SuspendClient { .. } => "client_suspended",
        Command::RotateSecret { .. } => "client_secret_rotated",
        Command::DeleteClient { .. } => "client_deleted",
        Command::PutPending { .. } | Command::PutPushed { .. } | Command::PutDevice { .. } => {
            "authorize_request"
        }
        Command::Decide { code: Some(_), .. } | Command::DecideDevice { scopes: Some(_), .. } => {
            "consent_granted"
        }
        // It makes room for others that wait.
        Command::Decide { by: None, .. } => return None,
        Command::Decide { .. } | Command::DecideDevice { .. } => "consent_denied",
        Command::PutSession { .. } => "login_ok",
        Command::EndSessions { .. } => "logout",
        // What the store's half asks for is told there; what is left is seen, used or read.
        _ => return None,
    })
}

fn subject(command: &Command, keys: &Keys, state: &State) -> Facts {
    let of =
        |user: &str, client: &str| vec![("user", user.to_owned()), ("client", client.to_owned())];
    let of_grant = |id: &u64| {
        let known = state.grants.get(id);
        let client = known.and_then(|grant| grant.client.as_deref()).unwrap_or_default();
        let mut facts = of(known.map_or("", |grant| &grant.user), client);
        facts.push(("grant", keys.grant_name(known.map_or(*id, |grant| grant.family()))));
        facts
    };
    let of_client = |reference: &str, id: Option<&str>| {
        let id = id.unwrap_or_default().to_owned();
        vec![("application", reference.to_owned()), ("client", id)]
    };
    match command {
        Command::SetPassword { user, .. } => of(user, ""),
        Command::Mint { grant, .. } => of(&grant.user, grant.client.as_deref().unwrap_or_default()),
        Command::Refresh { grant, .. } | Command::RevokeAccess { grant, .. } => of_grant(grant),
        Command::Redeem { code, client, .. } => {
            of(state.codes.get(code).map_or("", |code| &code.user), client)
        }
        Command::Revoke { grants, .. } => match grants.as_slice() {
            [one] => of_grant(one),
            several => {
                let names: Vec<String> = several.iter().map(|id| keys.grant_name(*id)).collect();
                vec![("grant", names.join(" "))]
            }
        },
        Command::Withdraw { user, client, .. } => of(user, client.as_deref().unwrap_or_default()),
        Command::AddClient { client, .. }
        | Command::PutClient { client, .. }
        | Command::OpenClient { client, .. } => {
            let mut facts = of_client(&client.reference, client.client_id.as_deref());
            facts.push(("status", client.status.as_str().to_owned()));
            facts
        }
        Command::SuspendClient { reference }
        | Command::RotateSecret { reference, .. }
        | Command::DeleteClient { reference } => {
            let known = state.clients.get(reference);
            of_client(reference, known.and_then(|client| client.client_id.as_deref()))
        }
        Command::PutPending { pending, .. } => of("", &pending.client),
        Command::PutPushed { pushed, .. } => of("", &pushed.client),
        Command::PutDevice { device, .. } => of("", &device.client),
        Command::Decide { code: Some(code), .. } => {
            let mut facts = of(&code.user, &code.client);
            facts.push(("scope", code.scopes.join(" ")));
            facts
        }
        Command::Decide { pending, .. } => {
            of("", state.pending.get(pending).map_or("", |pending| &pending.client))
        }
        Command::DecideDevice { user_code, user, scopes, .. } => {
            let device = state.user_codes.get(user_code).and_then(|id| state.devices.get(id));
            let mut facts = of(user, device.map_or("", |device| &device.client));
            facts.push(("scope", scopes.as_deref().unwrap_or_default().join(" ")));
            facts
        }
        Command::PollDevice { id, client, .. } => {
            let device = state.devices.get(id);
            of(device.and_then(|device| device.user.as_deref()).unwrap_or_default(), client)
        }
        Command::PutSession { session, .. } => of(&session.user, ""),
        Command::EndSessions { ids } => {
            of(ids.iter().find_map(|id| state.sessions.get(id)).map_or("", |one| &one.user), "")
        }
        _ => Facts::new(),
    }
}
