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
use super::limit::{Of, place};
use super::visit::Visit;

/// A client that is who it says.
#[derive(Clone, Debug)]
pub struct Proven {
    /// The client.
    pub client: Arc<Client>,
    /// Its id.
    pub id: String,
}

impl Proven {
    /// By what its requests are counted. A client without a secret is whoever knows its id, which is no secret:
    /// each address spends its own.
    pub fn rate(&self, peer: &str) -> String {
        match self.client.profile.confidential {
            true => self.id.clone(),
            false => format!("{} {}", self.id, place(peer)),
        }
    }
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
    let claim = claim(visit, form).map_err(|refusal| refusal.counted(visit))?;
    let state = visit.state();
    let known = state.client(&claim.id);
    let secret = claim.secret.as_deref().unwrap_or_default();
    // The comparison comes first, also for clients that are not there and for those that must wait.
    let fits = match known {
        Some(client) => client.knows(secret.as_bytes(), visit.now()),
        None => Salted::nobody().is(secret.as_bytes()),
    };
    let tally = Tally::of(visit, &claim.id);
    tally.check(visit)?;
    let accepted = known.filter(|client| client.is_approved()).filter(|client| {
        if client.profile.confidential {
            claim.secret.is_some() && fits && client.auth_method != "none"
        } else {
            claim.secret.is_none()
        }
    });
    match accepted {
        Some(client) => {
            visit.proven.get_or_init(|| Arc::clone(client));
            Ok(Proven { client: Arc::clone(client), id: claim.id })
        }
        None => {
            let reason = reason(known, &claim);
            visit.note(
                "client_auth_failed",
                "failed",
                &[("client", named(&claim.id)), ("reason", reason)],
            );
            Err(tally.failed(visit))
        }
    }
}

/// By what failures are counted: by the client that is named and the address; all that name none that is there,
/// of an address together.
#[derive(Clone, Debug)]
pub struct Tally(String);

impl Tally {
    /// That of whoever names this client.
    fn of<E: Env>(visit: &Visit<'_, E>, id: &str) -> Self {
        match visit.state().client(id) {
            Some(_) => Self(format!("{id} {}", place(visit.peer))),
            None => Self::nobody(visit),
        }
    }

    /// That of whoever names none.
    pub fn nobody<E: Env>(visit: &Visit<'_, E>) -> Self {
        Self(format!(" {}", place(visit.peer)))
    }

    /// Were there not too many already?
    ///
    /// # Errors
    /// 429 where there were.
    pub fn check<E: Env>(&self, visit: &Visit<'_, E>) -> Result<(), Fail> {
        let (limit, now) = (visit.settings.limits.client_auth, visit.monotonic());
        match visit.limiter.is_over(Of::ClientAuth, &self.0, limit, now) {
            Some(seconds) => Err(Fail::slow(seconds)),
            None => Ok(()),
        }
    }

    /// One more; answers what it is told.
    pub fn failed<E: Env>(&self, visit: &Visit<'_, E>) -> Fail {
        let (limit, now) = (visit.settings.limits.client_auth, visit.monotonic());
        match visit.limiter.count(Of::ClientAuth, &self.0, limit, MINUTE, now) {
            Some(seconds) => Fail::slow(seconds),
            None => Fail::client(),
        }
    }
}

/// The id that a request names, for the audit log: what is no id by its form may be a secret in the wrong
/// place, and is not told.
pub fn named(id: &str) -> &str {
    let is_id = id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_id { id } else { "" }
}

/// Why a client is not who it says: for the audit log, never for the caller.
fn reason(known: Option<&Arc<Client>>, claim: &Claim) -> &'static str {
    match (known, &claim.secret) {
        (None, _) => "no such client",
        (Some(client), _) if !client.is_approved() => "the client is not approved",
        (Some(client), Some(_)) if !client.profile.confidential => "a public client has no secret",
        (Some(_), None) => "the secret is missing",
        (Some(_), Some(_)) => "the secret is wrong or over",
    }
}

/// What a request says of its client cannot be judged.
#[derive(Debug)]
enum Unclear {
    /// It contradicts itself.
    Request(&'static str),
    /// It proves nothing; why, for the audit log.
    Nothing {
        /// The client that it names.
        client: String,
        /// What is wrong.
        reason: &'static str,
    },
}

impl Unclear {
    fn counted<E: Env>(self, visit: &Visit<'_, E>) -> Fail {
        let (client, reason) = match self {
            Self::Request(description) => return Fail::request(description),
            Self::Nothing { client, reason } => (client, reason),
        };
        let tally = Tally::of(visit, &client);
        if let Err(slow) = tally.check(visit) {
            return slow;
        }
        let facts = [("client", named(&client)), ("reason", reason)];
        visit.note("client_auth_failed", "failed", &facts);
        tally.failed(visit)
    }
}

fn claim<E: Env>(visit: &Visit<'_, E>, form: &Form) -> Result<Claim, Unclear> {
    const TWO_WAYS: Unclear = Unclear::Request("The client authenticates in two ways at once");
    let one = |name: &str| {
        form.one(name).map_err(|_| Unclear::Request("A parameter appears more than once"))
    };
    let (id, secret, alias) = (one("client_id")?, one("client_secret")?, one("secret")?);
    if secret.is_some() && alias.is_some() {
        return Err(Unclear::Request("The secret is there twice"));
    }
    if visit.head.all("authorization").count() > 1 {
        return Err(Unclear::Request("There is more than one Authorization header"));
    }
    let (body_secret, header) = (secret.or(alias), visit.head.text("authorization"));
    let nothing = |reason| Unclear::Nothing { client: id.unwrap_or_default().to_owned(), reason };
    if one("client_assertion")?.is_some() || one("client_assertion_type")?.is_some() {
        return Err(match body_secret.is_some() || header.is_some() {
            true => TWO_WAYS,
            false => nothing("assertions are not offered"),
        });
    }
    let basic = match header {
        None => None,
        Some(header) => Some(basic(header).ok_or_else(|| nothing("no Basic header"))?),
    };
    match basic {
        Some((basic_id, basic_secret)) => {
            if body_secret.is_some() {
                return Err(TWO_WAYS);
            }
            if id.is_some_and(|id| id != basic_id) {
                let differs = "The client_id differs from the one in the header";
                return Err(Unclear::Request(differs));
            }
            Ok(Claim { id: basic_id, secret: Some(basic_secret) })
        }
        None => {
            let id = id.ok_or_else(|| nothing("no client is named"))?;
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
