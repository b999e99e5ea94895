//! Who calls the endpoints for programs: one way of authentication a request, compared in constant
//! time, the same work for a client that does not exist.

use std::sync::Arc;
use std::time::Duration;

use authz::record::client::Client;
use authz::record::key::Salted;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use env::Env;
use http::target::{Plus, decode};

use super::fail::Fail;
use super::form::Form;
use super::limit::{Of, host};
use super::visit::Visit;

/// A client that is who it says.
#[derive(Clone, Debug)]
pub struct Proven {
    /// The client.
    pub client: Arc<Client>,
    /// Its id.
    pub id: String,
}

/// What a request says of its client.
struct Claim {
    id: String,
    secret: Option<String>,
}

/// Failed authentications are counted for so long.
const MINUTE: Duration = Duration::from_secs(60);

/// Judges the client of a request.
///
/// # Errors
/// `invalid_request` for two ways at once, `invalid_client` for anything that does not fit, 429
/// after too many failures.
pub fn prove<E: Env>(visit: &Visit<'_, E>, form: &Form) -> Result<Proven, Fail> {
    let claim = claim(visit, form)?;
    let state = visit.state();
    let known = state.client(&claim.id);
    let secret = claim.secret.as_deref().unwrap_or_default();
    // The comparison comes first, also for clients that are not there and for those that must wait.
    let fits = match known {
        Some(client) => client.knows(secret.as_bytes(), visit.now()),
        None => Salted::nobody().is(secret.as_bytes()),
    };
    let key = match known {
        Some(_) => format!("{} {}", claim.id, host(visit.peer)),
        None => format!(" {}", host(visit.peer)),
    };
    let (limit, now) = (visit.settings.limits.client_auth, visit.monotonic());
    if let Some(seconds) = visit.limiter.is_over(Of::ClientAuth, &key, limit, now) {
        return Err(Fail::slow(seconds));
    }
    let accepted = known.filter(|client| client.is_approved()).filter(|client| {
        if client.profile.confidential {
            claim.secret.is_some() && fits && client.auth_method != "none"
        } else {
            claim.secret.is_none()
        }
    });
    match accepted {
        Some(client) => Ok(Proven { client: Arc::clone(client), id: claim.id }),
        None => match noted(visit, &claim.id).count(Of::ClientAuth, &key, limit, MINUTE, now) {
            Some(seconds) => Err(Fail::slow(seconds)),
            None => Err(Fail::client()),
        },
    }
}

/// The counters, after the audit log was told.
fn noted<'v, E: Env>(visit: &'v Visit<'_, E>, id: &str) -> &'v super::limit::Limiter {
    visit.note("client_auth_failed", "failed", &[("client", id)]);
    visit.limiter
}

fn claim<E: Env>(visit: &Visit<'_, E>, form: &Form) -> Result<Claim, Fail> {
    let one = |name: &str| {
        form.one(name).map_err(|_| Fail::request("A parameter appears more than once"))
    };
    let (id, secret, alias) = (one("client_id")?, one("client_secret")?, one("secret")?);
    if one("client_assertion")?.is_some() || one("client_assertion_type")?.is_some() {
        return Err(Fail::client());
    }
    if secret.is_some() && alias.is_some() {
        return Err(Fail::request("The secret is there twice"));
    }
    if visit.head.all("authorization").count() > 1 {
        return Err(Fail::request("There is more than one Authorization header"));
    }
    let body_secret = secret.or(alias);
    let basic = match visit.head.text("authorization") {
        None => None,
        Some(header) => Some(basic(header).ok_or_else(Fail::client)?),
    };
    match basic {
        Some((basic_id, basic_secret)) => {
            if body_secret.is_some() {
                return Err(Fail::request("The client authenticates in two ways at once"));
            }
            if id.is_some_and(|id| id != basic_id) {
                return Err(Fail::request("The client_id differs from the one in the header"));
            }
            Ok(Claim { id: basic_id, secret: Some(basic_secret) })
        }
        None => {
            let id = id.ok_or_else(Fail::client)?;
            Ok(Claim { id: id.to_owned(), secret: body_secret.map(str::to_owned) })
        }
    }
}

/// Id and secret of a Basic header, both halves in the encoding of forms (RFC 6749, 2.3.1).
pub fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, rest) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("Basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
    let (id, secret) = decoded.split_once(':')?;
    let plain =
        |text: &str| decode(text.as_bytes(), Plus::Space).ok().map(|text| text.into_owned());
    Some((plain(id)?, plain(secret)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_halves_are_forms() {
        // The vector of RFC 6749 as the guide has it.
        let pair = basic("Basic YSUzQWI6YytkJTI1");
        assert_eq!(pair, Some(("a:b".to_owned(), "c d%".to_owned())));
        assert_eq!(basic("bAsIc YTpi"), Some(("a".to_owned(), "b".to_owned())));
        for bad in ["Bearer YTpi", "Basic", "Basic !!", "Basic YQ=="] {
            assert_eq!(basic(bad), None, "{bad}");
        }
    }
}
