//! Who asks, in the words of Elasticsearch's slow log.
//!
//! `user.*` is who was authenticated, `user.effective.*` the one in whose name that one acts, where it acts
//! in another's: a log names who did something, not only whose name was lent for it.

use authz::{Principal, Via};

/// Tells it name by name; what there is not is left out.
pub fn tell(principal: &Principal, tell: &mut dyn FnMut(&'static str, &str)) {
    let came = principal.acting().unwrap_or(principal);
    tell("user.name", came.name());
    tell("user.realm", came.realm().0);
    if let Some(name) = &came.user().full_name {
        tell("user.full_name", name);
    }
    if principal.acting().is_some() {
        tell("user.effective.name", principal.name());
        tell("user.effective.realm", principal.realm().0);
        if let Some(name) = &principal.user().full_name {
            tell("user.effective.full_name", name);
        }
    }
    let kind = match came.via() {
        Via::Realm => "REALM",
        Via::ApiKey(_) => "API_KEY",
        Via::Service(_) | Via::Token(_) | Via::Oauth(_) => "TOKEN",
    };
    tell("auth.type", kind);
    if let Via::ApiKey(key) = came.via() {
        tell("apikey.id", &key.id);
        tell("apikey.name", &key.name);
    }
}
