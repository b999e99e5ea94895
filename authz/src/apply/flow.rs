//! Commands of grants and of the OAuth flows.

use std::sync::Arc;

use base::planted::{Fault, planted};

use super::store::number;
use super::withdraw::{forget, withdraw};
use super::{clear, client, end_now};
use crate::command::{Command, Outcome, Waiting};
use crate::error::Error;
use crate::form::Hash;
use crate::record::grant::{Code, Device, DeviceState, Grant, GrantKind, Notice, Pending, Pushed};
use crate::record::proof::Proof;
use crate::secret::is_equal;
use crate::state::{Ends, State};

/// Families of one user and client; beyond, the oldest ends.
const FAMILIES_MAX: u64 = 50;

/// Codes of one user and client; beyond, the oldest ends.
const CODES_MAX: usize = 10;

/// An owner is told for so long, in milliseconds, that a refresh token came twice.
const NOTICE_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// What one owner is told of at most; beyond, the oldest goes.
const NOTICES_MAX: usize = 20;

/// Requests that wait in one browser; beyond, the oldest ends.
const PENDING_MAX: usize = 20;

/// Requests that wait in all, and as many handles, and as many devices; beyond, whatever of the kind ends
/// first ends now.
const WAITING_MAX: usize = Pending::MOST;

pub(super) fn apply(state: &mut State, command: &Command) -> Outcome {
    match command {
        Command::Mint { grant, by, most, now } => {
            if has_lapsed(state, by.as_ref()) {
                return lapsed();
            }
            clear(state, *now);
            let is_like = |known: &Grant| known.kind == grant.kind && known.parent.is_none();
            make_place(state, grant, *most, is_like);
            let grant = Grant { id: number(state), ..grant.clone() };
            granted(state, grant)
        }
        Command::Refresh { grant, counter, client, narrowed, most, idle, life, window, now } => {
            clear(state, *now);
            let Some(known) = state.kept_grant(*grant).cloned() else { return invalid() };
            if known.client != *client {
                return invalid();
            }
            let narrowed = narrowed.as_deref().map(|scopes| (scopes, *most));
            refresh(state, &known, *counter, narrowed, [*idle, *life, *window, *now])
        }
        Command::Revoke { grants, consents } => {
            let ended = grants.iter().copied().filter(|id| revoke(state, *id, *consents));
            Outcome::Ended(ended.collect())
        }
        Command::Withdraw { user, client, service } => {
            withdraw(state, user, client.as_deref(), *service)
        }
        Command::DropNotices { grants } => {
            Outcome::Each(grants.iter().map(|grant| drop_notice(state, *grant)).collect())
        }
        Command::RevokeAccess { grant, serial, end, now } => {
            let Some(known) = state.grants.get(grant).cloned() else { return Outcome::Unchanged };
            let mut revoked: Vec<(u32, u32)> = known
                .revoked
                .iter()
                .copied()
                .filter(|(_, end)| u64::from(*end) * 1000 > *now)
                .collect();
            if revoked.iter().any(|(known, _)| known == serial) {
                return Outcome::Unchanged;
            }
            revoked.push((*serial, *end));
            state.grants.insert(*grant, Arc::new(Grant { revoked, ..(*known).clone() }));
            Outcome::Changed
        }
        Command::Touch { grant, address, now } => {
            let Some(known) = state.grants.get(grant).cloned() else { return Outcome::Unchanged };
            let touched = Grant {
                last_used: Some(*now),
                last_address: address.clone().or_else(|| known.last_address.clone()),
                ..(*known).clone()
            };
            state.grants.insert(*grant, Arc::new(touched));
            Outcome::Changed
        }
        Command::RotateKeys {} => {
            state.epoch += 1;
            Outcome::Changed
        }
        Command::PutClient { client, version } => client::put(state, client, *version),
        Command::OpenClient { client, version } => client::open(state, client, *version),
        Command::AddClient { client, room } => client::add(state, client, *room),
        Command::SuspendClient { reference } => client::suspend(state, reference),
        Command::RotateSecret { reference, secret, beside, now } => {
            client::rotate(state, reference, secret, (beside.as_deref(), *now))
        }
        Command::DeleteClient { reference } => client::delete(state, reference),
        Command::PutPending { pending, now } => {
            if !keep_handle(state, pending, *now) {
                return gone();
            }
            clear(state, *now);
            let mut own: Vec<(u64, Hash)> = state
                .pending
                .values()
                .filter(|other| other.browser == pending.browser)
                .map(|other| (other.created, other.id))
                .collect();
            own.sort();
            let over = (own.len() + 1).saturating_sub(PENDING_MAX);
            for (_, id) in own.into_iter().take(over) {
                drop_pending(state, id);
            }
            make_room(state, |state| state.pending.len(), |what| matches!(what, Ends::Pending(_)));
            state.ends.insert((pending.end, Ends::Pending(pending.id)), ());
            state.pending.insert(pending.id, Arc::new(pending.clone()));
            Outcome::Created
        }
        Command::Decide { pending, code, consent, by, now } => {
            if has_lapsed(state, by.as_ref()) {
                return lapsed();
            }
            let Some(known) = state.pending.get(pending).cloned() else { return gone() };
            if known.end <= *now || (by.is_some() && !is_approved(state, &known.client)) {
                return gone();
            }
            if let Some(handle) = known.handle {
                // A handle is used up by the first decision, whichever tab makes it.
                let Some(pushed) = state.pushed.get(&handle).cloned() else {
                    drop_pending(state, *pending);
                    return gone();
                };
                state.pushed.remove(&handle);
                state.ends.remove(&(pushed.forgotten(), Ends::Pushed(handle)));
            }
            drop_pending(state, *pending);
            if let Some(code) = code {
                limit_codes(state, code);
                state.put_code(Arc::new(code.clone()));
            }
            if let Some(consent) = consent {
                let key = (consent.user.clone(), consent.client.clone());
                state.consents.insert(key, Arc::new(consent.clone()));
            }
            clear(state, *now);
            Outcome::Changed
        }
        Command::Redeem { .. } => redeem(state, command),
        Command::PutSession { session, instead_of, by, now } => {
            if has_lapsed(state, by.as_ref()) {
                return lapsed();
            }
            clear(state, *now);
            if let Some(old) = instead_of {
                end_session(state, *old);
            }
            state.ends.insert((session.end, Ends::Session(session.id)), ());
            state.sessions.insert(session.id, Arc::new(session.clone()));
            Outcome::Created
        }
        Command::SeeSession { id, now } => {
            let Some(known) = state.sessions.get(id).cloned() else { return Outcome::Unchanged };
            let mut seen = (*known).clone();
            seen.seen = *now;
            state.sessions.insert(*id, Arc::new(seen));
            Outcome::Changed
        }
        Command::EndSessions { ids } => {
            Outcome::Each(ids.iter().map(|id| end_session(state, *id)).collect())
        }
        Command::PutPushed { pushed, now } => {
            clear(state, *now);
            make_room(state, |state| state.pushed.len(), |what| matches!(what, Ends::Pushed(_)));
            state.ends.insert((pushed.forgotten(), Ends::Pushed(pushed.id)), ());
            state.pushed.insert(pushed.id, Arc::new(pushed.clone()));
            Outcome::Created
        }
        Command::PutDevice { device, now } => {
            clear(state, *now);
            make_room(state, |state| state.devices.len(), |what| matches!(what, Ends::Device(_)));
            if state.user_codes.contains(&device.user_code) {
                return Outcome::Unchanged;
            }
            state.put_device(Arc::new(device.clone()));
            Outcome::Created
        }
        Command::DecideDevice { user_code, user, uid, scopes, without_refresh, begun, by, now } => {
            if has_lapsed(state, by.as_ref()) {
                return lapsed();
            }
            let device =
                state.user_codes.get(user_code).and_then(|id| state.devices.get(id)).cloned();
            let Some(device) = device else { return gone() };
            if device.end <= *now || device.state != DeviceState::Waiting {
                return gone();
            }
            if by.is_some() && !is_approved(state, &device.client) {
                return gone();
            }
            let decided = match scopes {
                None => Device { state: DeviceState::Refused, ..(*device).clone() },
                Some(scopes) => Device {
                    state: DeviceState::Allowed,
                    user: Some(user.clone()),
                    uid: *uid,
                    scopes: scopes.clone(),
                    without_refresh: *without_refresh,
                    begun: *begun,
                    ..(*device).clone()
                },
            };
            state.devices.insert(device.id, Arc::new(decided));
            Outcome::Changed
        }
        Command::PollDevice { .. } => poll(state, command),
        _ => Outcome::Unchanged,
    }
}

/// The answer to whatever is used, over, or somebody else's: they look alike.
fn invalid() -> Outcome {
    Outcome::Refused(Error::InvalidGrant)
}

fn gone() -> Outcome {
    Outcome::Refused(Error::Gone)
}

fn lapsed() -> Outcome {
    Outcome::Refused(Error::Lapsed)
}

/// Whoever gives the command would not be let in any more.
fn has_lapsed(state: &State, by: Option<&Proof>) -> bool {
    by.is_some_and(|by| !by.holds(state))
}

/// May the client get anything? It may have been suspended, and its codes ended, while its owner decided.
fn is_approved(state: &State, client: &str) -> bool {
    state.client(client).is_some_and(|client| client.is_approved())
}

/// The head of a family of tokens that an owner granted: neither a narrowed token of one, nor a client's
/// own.
fn is_family(grant: &Grant) -> bool {
    grant.parent.is_none() && grant.kind == GrantKind::Oauth
}

/// Ends the oldest grants of the user and client of `new` that are like it, where with it there would be more than
/// `most`.
fn make_place(state: &mut State, new: &Grant, most: Option<u64>, is_like: impl Fn(&Grant) -> bool) {
    let Some(most) = most.and_then(|most| usize::try_from(most).ok()) else { return };
    let (user, client) = (new.user.clone(), new.client.clone().unwrap_or_default());
    let like: Vec<u64> = state
        .owners
        .from(&(user.clone(), client.clone(), 0))
        .take_while(|((owner, of, _), ())| *owner == user && *of == client)
        .map(|((_, _, id), ())| *id)
        .filter(|id| state.grants.get(id).is_some_and(|known| is_like(known)))
        .collect();
    for id in like.iter().take((like.len() + 1).saturating_sub(most)) {
        state.drop_grant(*id);
    }
}

/// Keeps a new grant; its first access token has the number 0.
fn granted(state: &mut State, grant: Grant) -> Outcome {
    if is_family(&grant) {
        make_place(state, &grant, Some(FAMILIES_MAX), is_family);
    }
    client::used(state, grant.client.as_deref().unwrap_or_default(), grant.created);
    let issued = grant.issued_with(0, grant.created);
    let grant = Arc::new(Grant { serial: 1, issued, ..grant });
    state.put_grant(Arc::clone(&grant));
    Outcome::Granted(grant, 0)
}

fn refresh(
    state: &mut State,
    known: &Grant,
    counter: u32,
    narrowed: Option<(&[String], Option<u64>)>,
    [idle, life, window, now]: [u64; 4],
) -> Outcome {
    let over = now >= known.idle_end || now >= known.absolute_end;
    let enabled = state.users.get(&known.user).is_some_and(|user| user.enabled);
    if !known.refreshes || over || !enabled || counter > known.counter {
        return invalid();
    }
    let mut next = known.clone();
    if counter == known.counter {
        next.counter += u32::from(!planted(Fault::ForgetRotation));
        next.rotated = now;
        next.idle_end = (now + idle).min(known.absolute_end);
    } else if known.is_rotated_out(counter, window, now) {
        // Somebody uses a token that was rotated out: the thief or the robbed, nobody can tell. The
        // whole family ends.
        revoke(state, known.id, true);
        tell(state, known, now);
        return Outcome::Refused(Error::Reused);
    }
    let serial = next.serial;
    next.serial += u32::from(!planted(Fault::ReuseSerial));
    next.last_used = Some(now);
    next.issued = next.issued_with(serial, now);
    next.access_end = next.access_end_with(now, life);
    let next = Arc::new(next);
    client::used(state, next.client.as_deref().unwrap_or_default(), now);
    state.grants.insert(known.id, Arc::clone(&next));
    let Some((scopes, most)) = narrowed else { return Outcome::Granted(next, serial) };
    // A narrowed access token has a grant of its own below this one.
    make_place(state, known, most, |other| other.parent == Some(known.id));
    let child = Grant {
        id: number(state),
        scopes: scopes.to_vec(),
        refreshes: false,
        counter: next.counter,
        parent: Some(known.id),
        code: None,
        absolute_end: (now + life).min(known.absolute_end),
        serial: 1,
        issued: Grant { issued: None, ..(*next).clone() }.issued_with(0, now),
        revoked: Vec::new(),
        ..(*next).clone()
    };
    let child = Arc::new(child);
    state.put_grant(Arc::clone(&child));
    Outcome::Granted(child, 0)
}

/// Keeps for the owner's page that a grant ended because of a refresh token that came twice.
fn tell(state: &mut State, grant: &Grant, now: u64) {
    let Some(client) = grant.client.as_deref().and_then(|id| state.client(id)) else { return };
    let notice = Notice {
        grant: grant.id,
        user: grant.user.clone(),
        uid: grant.uid,
        app: client.profile.name.clone(),
        at: now,
        end: now + NOTICE_MS,
    };
    let own = state.notices.values().filter(|other| other.user == notice.user);
    let own: Vec<u64> = own.map(|other| other.grant).collect();
    for old in own.iter().take((own.len() + 1).saturating_sub(NOTICES_MAX)) {
        drop_notice(state, *old);
    }
    state.ends.insert((notice.end, Ends::Notice(notice.grant)), ());
    state.notices.insert(notice.grant, Arc::new(notice));
}

fn drop_notice(state: &mut State, grant: u64) -> bool {
    let Some(notice) = state.notices.get(&grant).cloned() else { return false };
    state.ends.remove(&(notice.end, Ends::Notice(grant)));
    state.notices.remove(&grant)
}

/// Ends a grant; `consents`: with whatever else would let its client in again.
pub(super) fn revoke(state: &mut State, id: u64, consents: bool) -> bool {
    let Some(grant) = state.grants.get(&id).cloned() else { return false };
    if consents && let Some(client) = &grant.client {
        forget(state, &grant.user, Some(client));
    }
    state.drop_grant(id)
}

/// The handle of a request that begins is kept until its person has decided; `false` where its own time
/// is over.
fn keep_handle(state: &mut State, pending: &Pending, now: u64) -> bool {
    let Some(handle) = pending.handle else { return true };
    let Some(pushed) = state.pushed.get(&handle).filter(|pushed| now < pushed.end).cloned() else {
        return false;
    };
    state.ends.remove(&(pushed.forgotten(), Ends::Pushed(handle)));
    let kept = Pushed { kept: pushed.kept.max(Some(pending.end)), ..(*pushed).clone() };
    state.ends.insert((kept.forgotten(), Ends::Pushed(handle)), ());
    state.pushed.insert(handle, Arc::new(kept));
    true
}

fn drop_pending(state: &mut State, id: Hash) {
    if let Some(pending) = state.pending.get(&id).cloned() {
        state.pending.remove(&id);
        state.ends.remove(&(pending.end, Ends::Pending(id)));
    }
}

fn end_session(state: &mut State, id: Hash) -> bool {
    let Some(session) = state.sessions.get(&id).cloned() else { return false };
    state.sessions.remove(&id);
    state.ends.remove(&(session.end, Ends::Session(id)));
    true
}

/// Strangers may not fill the state: one more of a kind, of which there are `count`, needs room. Who fills
/// one kind takes nothing from the others.
fn make_room(state: &mut State, count: impl Fn(&State) -> usize, is_kind: impl Fn(&Ends) -> bool) {
    while count(state) >= WAITING_MAX {
        let first = state.ends.iter().map(|(key, ())| key).find(|(_, what)| is_kind(what)).cloned();
        let Some((end, what)) = first else { return };
        end_now(state, end, what);
    }
}

fn limit_codes(state: &mut State, code: &Code) {
    let mut own: Vec<(u64, Hash)> = state
        .codes
        .values()
        .filter(|other| {
            other.user == code.user && other.client == code.client && other.spent.is_none()
        })
        .map(|other| (other.end, other.hash))
        .collect();
    own.sort();
    let over = (own.len() + 1).saturating_sub(CODES_MAX);
    for (end, hash) in own.into_iter().take(over) {
        state.codes.remove(&hash);
        state.ends.remove(&(end, Ends::Code(hash)));
    }
}

fn redeem(state: &mut State, command: &Command) -> Outcome {
    let Command::Redeem {
        code,
        client,
        redirect,
        may_omit_redirect,
        verifier,
        resource,
        refreshes,
        idle,
        absolute,
        life,
        address,
        now,
    } = command
    else {
        return invalid();
    };
    let Some(known) = state.codes.get(code).cloned() else { return invalid() };
    // Another client's code stays as it was.
    if known.client != *client {
        return Outcome::Refused(Error::Foreign);
    }
    if let Some(grant) = known.spent {
        // A code that comes twice was stolen once: what came of it ends, and nothing else.
        revoke(state, grant, false);
        return Outcome::Refused(Error::Reused);
    }
    if known.burnt || known.end <= *now {
        return invalid();
    }
    let redirect_fits = match redirect {
        Some(redirect) => *redirect == known.redirect,
        None => !known.redirect_sent || *may_omit_redirect || known.challenge.is_some(),
    };
    let verifier_fits = match (&known.challenge, verifier) {
        (Some(challenge), Some(found)) => is_equal(challenge.as_bytes(), found.as_bytes()),
        (None, None) => true,
        // A challenge without a verifier; or a verifier for a code whose challenge was stripped.
        _ => false,
    };
    let user = state.users.get(&known.user);
    let user_fits = user.is_some_and(|user| user.enabled && user.uid == known.uid);
    let client_fits = is_approved(state, client);
    let resource_fits = resource.iter().all(|one| known.resource.contains(one));
    if !(redirect_fits && verifier_fits && user_fits && client_fits && resource_fits) {
        state.codes.insert(*code, Arc::new(Code { burnt: true, ..(*known).clone() }));
        return invalid();
    }
    let refreshes = *refreshes && known.without_refresh != Some(true);
    let end = if refreshes { known.begun.unwrap_or(*now) + absolute } else { now + life };
    if end <= *now {
        return invalid();
    }
    let grant = Grant {
        id: number(state),
        kind: GrantKind::Oauth,
        user: known.user.clone(),
        uid: known.uid,
        client: Some(client.clone()),
        scopes: known.scopes.clone(),
        details: known.details.clone(),
        resource: if resource.is_empty() { known.resource.clone() } else { resource.clone() },
        created: *now,
        last_used: Some(*now),
        last_address: address.clone(),
        code: Some(*code),
        refreshes,
        counter: 0,
        rotated: *now,
        idle_end: (now + idle).min(end),
        absolute_end: end,
        serial: 0,
        revoked: Vec::new(),
        parent: None,
        issued: None,
        access_end: None,
        maker: None,
    };
    state.ends.remove(&(known.end, Ends::Code(*code)));
    let spent = (!planted(Fault::RedeemTwice)).then_some(grant.id);
    state.codes.insert(*code, Arc::new(Code { spent, ..(*known).clone() }));
    let access_end = grant.access_end_with(*now, *life);
    let outcome = granted(state, Grant { access_end, ..grant });
    clear(state, *now);
    outcome
}

fn poll(state: &mut State, command: &Command) -> Outcome {
    let Command::PollDevice { id, client, refreshes, idle, absolute, life, now } = command else {
        return invalid();
    };
    let Some(known) = state.devices.get(id).cloned() else { return invalid() };
    if known.client != *client {
        return invalid();
    }
    if known.end <= *now {
        return Outcome::Wait(Waiting::Expired);
    }
    match known.state {
        DeviceState::Refused => return Outcome::Wait(Waiting::Refused),
        DeviceState::Waiting => {
            let is_fast = known.polled.is_some_and(|last| *now < last + known.interval * 1000);
            let polled = Device {
                polled: Some(*now),
                interval: known.interval + if is_fast { 5 } else { 0 },
                ..(*known).clone()
            };
            state.devices.insert(*id, Arc::new(polled));
            return Outcome::Wait(if is_fast { Waiting::TooFast } else { Waiting::Pending });
        }
        DeviceState::Allowed => {}
    }
    let Some(user) = known.user.as_ref().and_then(|name| state.users.get(name)) else {
        return invalid();
    };
    if !user.enabled || user.uid != known.uid {
        return invalid();
    }
    let refreshes = *refreshes && known.without_refresh != Some(true);
    let end = if refreshes { known.begun.unwrap_or(*now) + absolute } else { now + life };
    if end <= *now {
        return invalid();
    }
    let grant = Grant {
        id: 0,
        kind: GrantKind::Oauth,
        user: user.name.clone(),
        uid: user.uid,
        client: Some(client.clone()),
        scopes: known.scopes.clone(),
        details: Vec::new(),
        resource: known.resource.clone(),
        created: *now,
        last_used: Some(*now),
        last_address: None,
        code: None,
        refreshes,
        counter: 0,
        rotated: *now,
        idle_end: (now + idle).min(end),
        absolute_end: end,
        serial: 0,
        revoked: Vec::new(),
        parent: None,
        issued: None,
        access_end: None,
        maker: None,
    };
    state.drop_device(*id);
    let access_end = grant.access_end_with(*now, *life);
    let grant = Grant { id: number(state), access_end, ..grant };
    granted(state, grant)
}
