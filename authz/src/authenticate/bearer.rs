//! Bearer tokens and API keys: checked by arithmetic and one look at the state, without a hop.

use std::cell::RefCell;
use std::sync::Arc;

use base::hash::Map;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use env::Env;

use super::{AuthError, Inner};
use crate::oauth::{details, scope};
use crate::principal::Principal;
use crate::record::grant::{Grant, GrantKind, Meaning};
use crate::state::State;
use crate::token::seal::Pair;
use crate::token::text::Kind;
use crate::token::{Content, Keys};

/// Grants whose meaning one core remembers.
const MEANINGS_MAX: usize = 10_000;

/// How the bytes of a service account's token begin.
const SERVICE: [u8; 4] = [0, 1, 0, 1];

/// What one core keeps to check tokens.
pub(super) struct Bearer {
    keys: Keys,
    pair: RefCell<Option<(u64, Pair)>>,
    meanings: RefCell<Map<u64, (Vec<String>, Meaning)>>,
    ceilings: RefCell<Map<String, (u64, Meaning)>>,
}

impl Bearer {
    pub(super) fn new(keys: Keys) -> Self {
        Self {
            keys,
            pair: RefCell::default(),
            meanings: RefCell::default(),
            ceilings: RefCell::default(),
        }
    }

    /// Who bears this token.
    pub(super) fn check<E: Env>(
        &self,
        inner: &Inner<E>,
        token: &str,
    ) -> Result<Principal, AuthError> {
        let unknown = || AuthError::Unknown { detail: None, bearer: true };
        let state = inner.now();
        let Some(text) = self.keys.read(token) else {
            return service(&state, token).ok_or_else(unknown);
        };
        if text.kind != Kind::Access {
            return Err(unknown());
        }
        let content = self.open(&state, &text.body).ok_or_else(unknown)?;
        let (grant, user) = live(&state, content).ok_or_else(unknown)?;
        if inner.now_ms() >= content.end {
            return Err(AuthError::Expired);
        }
        match grant.kind {
            GrantKind::Service => Ok(Principal::token(grant, user, &state)),
            GrantKind::Oauth | GrantKind::Client => {
                let ceiling = self.ceiling(&state, &grant).ok_or_else(unknown)?;
                let limits = [self.meaning(&grant), ceiling];
                Ok(Principal::oauth(grant, user, limits, &state))
            }
        }
    }

    fn open(&self, state: &State, sealed: &[u8; 32]) -> Option<Content> {
        let mut pair = self.pair.borrow_mut();
        if pair.as_ref().is_none_or(|(epoch, _)| *epoch != state.epoch) {
            *pair = Some((state.epoch, self.keys.access(state.epoch)));
        }
        pair.as_ref().and_then(|(_, pair)| pair.open(sealed))
    }

    /// What a grant's scopes and details stand for.
    fn meaning(&self, grant: &Grant) -> Meaning {
        let mut meanings = self.meanings.borrow_mut();
        // A grant's scopes never change; the list only guards against a number used twice.
        if let Some((scopes, meaning)) = meanings.get(&grant.id)
            && *scopes == grant.scopes
        {
            return Arc::clone(meaning);
        }
        if meanings.len() >= MEANINGS_MAX {
            meanings.clear();
        }
        let meaning = meaning(grant);
        meanings.insert(grant.id, (grant.scopes.clone(), Arc::clone(&meaning)));
        meaning
    }

    /// What its client may ask for at most.
    fn ceiling(&self, state: &State, grant: &Grant) -> Option<Meaning> {
        let client = state.client(grant.client.as_deref()?)?;
        let mut ceilings = self.ceilings.borrow_mut();
        if let Some((version, meaning)) = ceilings.get(&client.reference)
            && *version == client.version
        {
            return Some(Arc::clone(meaning));
        }
        if ceilings.len() >= MEANINGS_MAX {
            ceilings.clear();
        }
        let scopes = scope::stored(&client.profile.scopes);
        let meaning: Meaning = Arc::from([Arc::new(scope::role(&scopes))]);
        ceilings.insert(client.reference.clone(), (client.version, Arc::clone(&meaning)));
        Some(meaning)
    }
}

/// What a grant's scopes and details stand for.
pub fn meaning(grant: &Grant) -> Meaning {
    let scopes = scope::role(&scope::stored(&grant.scopes));
    if grant.details.is_empty() {
        return Arc::from([Arc::new(scopes)]);
    }
    Arc::from([Arc::new(scopes), Arc::new(details::role(&grant.details))])
}

/// The grant and the user of an access token, where both still stand.
pub fn live(
    state: &State,
    content: Content,
) -> Option<(Arc<Grant>, Arc<crate::record::user::User>)> {
    let grant = state.grant(content.grant)?;
    if grant.revoked.iter().any(|(serial, _)| *serial == content.serial) {
        return None;
    }
    let user = state.user(&grant.user).filter(|user| user.enabled)?;
    Some((Arc::clone(grant), Arc::clone(user)))
}

/// The service account whose token this is.
pub fn service(state: &State, token: &str) -> Option<Principal> {
    let bytes = STANDARD.decode(token).ok()?;
    let rest = std::str::from_utf8(bytes.strip_prefix(&SERVICE)?).ok()?;
    let (name, secret) = rest.split_once(':')?;
    let (account, name) = name.rsplit_once('/')?;
    let known = state.service_tokens.get(&(account.to_owned(), name.to_owned()))?;
    known.secret.is(secret.as_bytes()).then(|| Principal::service(Arc::clone(known), state))
}

/// The text of a service account's token.
pub fn service_token(account: &str, name: &str, secret: &str) -> String {
    let mut bytes = SERVICE.to_vec();
    bytes.extend_from_slice(format!("{account}/{name}:{secret}").as_bytes());
    STANDARD.encode(bytes)
}

/// How long the ids of API keys are: fifteen random bytes.
const API_KEY_ID_LEN: usize = 20;

/// Who bears this API key.
pub(super) fn api_key<E: Env>(inner: &Inner<E>, encoded: &str) -> Result<Principal, AuthError> {
    let unknown = |detail: String| AuthError::Unknown {
        detail: Some(format!("API key: {detail}")),
        bearer: false,
    };
    let junk = || AuthError::Unknown { detail: None, bearer: false };
    let decoded = STANDARD.decode(encoded).map_err(|_| junk())?;
    let decoded = zeroize::Zeroizing::new(String::from_utf8(decoded).map_err(|_| junk())?);
    let (id, secret) = decoded.split_once(':').ok_or_else(junk)?;
    let state = inner.now();
    let Some(key) = state.keys.get(id) else {
        crate::record::key::Salted::nobody().is(secret.as_bytes());
        // Who sends a key's secret in the place of its id is not told by it.
        let shown = if id.len() == API_KEY_ID_LEN { id } else { "of another form" };
        return Err(unknown(format!("unable to find apikey with id {shown}")));
    };
    if !key.secret.is(secret.as_bytes()) {
        return Err(unknown(format!("invalid credentials for API key [{id}]")));
    }
    if key.invalidation.is_some() {
        return Err(unknown(format!("api key [{id}] has been invalidated")));
    }
    if !key.is_live(inner.now_ms()) {
        return Err(unknown("api key is expired".to_owned()));
    }
    if key.kind == "cross_cluster" {
        return Err(unknown(format!(
            "authentication expected API key type of [rest], but API key [{id}] has type \
             [cross_cluster]"
        )));
    }
    Ok(Principal::key(Arc::clone(key), &state))
}
