//! From a credential to a gate.
//!
//! The `Authorization` header is judged by authz; what it may do and see, authz's access answers,
//! in the form in which the engine asks. Without security everything is allowed.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use authz::access::Targets;
use authz::audit::Audit;
use authz::token::mask;
use authz::{Access, AuthError, Authenticator, Denied, Name, Principal, Via};
use engine::gate::{Asked, Making};
use engine::{Core, Error, Gate, Limits, Open, Origin, Result, Standing};
use env::published::Published;
use env::{Clock, Env};
use json::json;

use crate::audit::{self, Facts};
use crate::call::Call;
use crate::fail::{self, Trace};
use crate::oauth::guess::{Guess, Refused};
use crate::reply::Reply;
use crate::subject;

/// What the door of one core needs to judge callers.
pub struct Security<E: Env> {
    /// Who are they?
    pub authenticator: Authenticator<E>,
    /// Changes to users.
    pub keeper: authz::Keeper,
    /// The OAuth half; none where it is switched off.
    pub oauth: Option<crate::oauth::Oauth>,
}

/// A caller who may pass.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Security is off.
    Anyone,
    /// Somebody known.
    Known(Known),
}

/// Somebody known.
#[derive(Clone, Debug)]
pub struct Known {
    /// Who.
    pub principal: Principal,
    /// Where to ask later whether what let it in still would.
    published: Arc<Published<authz::State>>,
    /// No later than this version of authz state it was judged by.
    version: u64,
    wanted: Option<Rc<RefCell<Wanted>>>,
}

/// What the last denial of a request wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Wanted {
    /// There was none.
    #[default]
    Nothing,
    /// What no scope gives, or what this token's scopes hold and its owner does not: asking for more is of no
    /// use.
    Beyond,
    /// This scope.
    Scope(String),
}

impl std::ops::Deref for Known {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.principal
    }
}

impl Known {
    /// The same caller with the rights of this moment, where its body came after its head and others gave orders
    /// meanwhile; none where what let it in would do so no more, be it that its password is an old one by now.
    fn renewed<E: Env>(self, security: &Security<E>, now_ms: u64) -> Option<Self> {
        let state = security.authenticator.state();
        if state.version == self.version {
            return self.goes_on(&state, now_ms).then_some(self);
        }
        if self.proof().is_some_and(|proof| !proof.holds(&state)) {
            return None;
        }
        let principal = self.principal.renewed(&state, now_ms)?;
        Some(Self { principal, version: state.version, ..self })
    }
}

impl Caller {
    /// The questions the engine asks, answered for this caller and this request, of which a strict audit log is
    /// told `facts` with each index that it makes.
    pub fn gate<E: Env>(
        &self,
        head: &http::Head,
        core: &Rc<Core<E>>,
        security: Option<&Security<E>>,
        facts: Facts,
    ) -> Box<dyn Gate> {
        let origin = origin(head);
        match self {
            Self::Anyone => Box::new(Open(origin)),
            Self::Known(known) => Box::new(Door {
                core: Rc::clone(core),
                origin,
                access: Arc::clone(known.gate()),
                principal: known.principal.clone(),
                published: Arc::clone(&known.published),
                owner: OnceCell::new(),
                wanted: known.wanted.clone(),
                audit: security.map(|it| it.keeper.audit().clone()).unwrap_or_default(),
                facts,
                begun: RefCell::default(),
                made: RefCell::default(),
            }),
        }
    }

    /// The same for work that goes on when its request is over: it is asked with the rights of each
    /// moment, and ends with what let its caller in.
    pub fn lasting_gate<E: Env>(&self, call: &Call<'_, E>) -> Box<dyn Gate> {
        let (Self::Known(known), Some(security)) = (self, call.security) else {
            return self.gate(call.head, call.core, call.security, Facts::new());
        };
        let core = Rc::clone(call.core);
        let keeper = security.keeper.clone();
        let seen = RefCell::new((known.version, Some(known.principal.clone())));
        let owner = known.principal.owner();
        let by_grant = known.wanted.is_some();
        let origin = origin(call.head);
        let facts = audit::facts(call, known, security);
        Box::new(Lasting { core, keeper, seen, owner, origin, by_grant, facts })
    }

    /// The answer to a request, and on a refusal to a token of the OAuth half which scope that one lacks
    /// (RFC 6750, section 3.1). What is refused to everybody is no lack: an index that is blocked.
    #[must_use]
    pub fn challenged(&self, reply: Reply, refused: Option<&Error>) -> Reply {
        let Self::Known(Known { wanted: Some(wanted), .. }) = self else { return reply };
        let wanted = wanted.borrow();
        let is_denied = refused.is_some_and(|error| error.kind == "security_exception");
        if reply.status != 403 || !(is_denied || *wanted != Wanted::Nothing) {
            return reply;
        }
        let lacks = match &*wanted {
            Wanted::Scope(scope) => {
                format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"")
            }
            Wanted::Nothing | Wanted::Beyond => "Bearer error=\"insufficient_scope\"".to_owned(),
        };
        reply.field("WWW-Authenticate", lacks)
    }
}

fn origin(head: &http::Head) -> Origin {
    // It stands in lists of tasks and in the slow log.
    let opaque_id = head.text("x-opaque-id").map(|id| mask::masked(id).into_owned());
    let trace_id = trace_id(head).map(str::to_owned);
    Origin { opaque_id, trace_id, warnings: Some(Rc::default()) }
}

/// The trace's id in the header `traceparent`, where there is one.
pub fn trace_id(head: &http::Head) -> Option<&str> {
    head.text("traceparent").filter(|text| text.len() >= 55)?.get(3..35)
}

/// Who sent this header, from this address? Two of them are one too many.
///
/// # Errors
/// The answer to send instead.
pub async fn caller<E: Env>(
    security: Option<&Security<E>>,
    head: &http::Head,
    peer: &str,
    trace: Trace,
) -> std::result::Result<Caller, Reply> {
    let Some(security) = security else { return Ok(Caller::Anyone) };
    if head.all("authorization").count() > 1 {
        return Err(malformed("more than one Authorization header", trace));
    }
    // A token in an address ends in logs and histories.
    let target = http::Target::new(head.target());
    if target.params().flatten().any(|(name, _)| name == "access_token") {
        return Err(malformed(
            "access tokens are taken from the Authorization header alone",
            trace,
        ));
    }
    let run_as = run_as(head).map_err(|error| fail::reply(&error, trace))?;
    let header = head.text("authorization");
    if header.is_none() && head.all("authorization").next().is_some() {
        return Err(malformed("the Authorization header is no text", trace));
    }
    let version = security.authenticator.state().version;
    match Guess::authenticate(security, (header, run_as), peer).await {
        Ok(principal) => {
            let is_oauth = matches!(principal.via(), Via::Oauth(_));
            if is_oauth && security.oauth.is_none() {
                // Nobody could see or revoke it where the half that issued it is off.
                let unknown = AuthError::Unknown { detail: None, bearer: true };
                let uri = String::from_utf8_lossy(head.target());
                return Err(refused(&unknown, &uri, None, trace));
            }
            if is_oauth && head.all("es-secondary-authorization").count() > 0 {
                let reason = "an OAuth access token cannot be used with a secondary authorization";
                return Err(fail::reply(&Error::new(403, "security_exception", reason), trace));
            }
            let wanted = is_oauth.then(Rc::default);
            let published = Arc::clone(security.keeper.published());
            Ok(Caller::Known(Known { principal, published, version, wanted }))
        }
        Err(Refused::Slow(seconds)) => Err(slow(seconds, trace)),
        Err(Refused::Wrong(error)) => {
            let store = security.oauth.as_ref().map(|oauth| oauth.settings.resource());
            Err(refused(&error, &String::from_utf8_lossy(head.target()), store, trace))
        }
    }
}

/// The caller of a request that was judged by its head, once all of it has come; that may take minutes, and a
/// password, a key or a right may end in them.
///
/// # Errors
/// The answer to send instead.
pub async fn again<E: Env>(
    security: Option<&Security<E>>,
    caller: Caller,
    head: &http::Head,
    (peer, now_ms): (&str, u64),
    trace: Trace,
) -> std::result::Result<Caller, Reply> {
    let (Caller::Known(known), Some(judge)) = (caller, security) else { return Ok(Caller::Anyone) };
    // Of a grant's tokens one may have ended: the door looks at what came, which takes a microsecond or two.
    let renewed = if known.presents_token() { None } else { known.renewed(judge, now_ms) };
    match renewed {
        Some(known) => Ok(Caller::Known(known)),
        // The door finds the words.
        None => self::caller(security, head, peer, trace).await,
    }
}

/// Whom the caller acts as; the same name twice is one, as in Elasticsearch.
fn run_as(head: &http::Head) -> Result<Option<&str>> {
    let mut names = head.all(RUN_AS);
    let first = names.next();
    if names.any(|other| Some(other) != first) {
        return Err(Error::illegal_argument(format!(
            "multiple values for single-valued header [{RUN_AS}]."
        )));
    }
    Ok(head.text(RUN_AS))
}

/// The header that names whom the caller acts as.
pub const RUN_AS: &str = "es-security-runas-user";

const BASIC: &str = "Basic realm=\"security\", charset=\"UTF-8\"";
const BEARER: &str = "Bearer realm=\"security\"";
const API_KEY: &str = "ApiKey";

/// Why a password is not looked at.
pub const TOO_MANY: &str = "too many failed logins of this user from this address";

/// 429 for an account whose password failed too often from this address.
fn slow(seconds: u64, trace: Trace) -> Reply {
    let error = Error::rejected(TOO_MANY);
    fail::reply(&error, trace).field("Retry-After", seconds.to_string())
}

/// 400 for a credential that no standard allows (RFC 6750, section 3.1).
fn malformed(reason: &str, trace: Trace) -> Reply {
    let error = Error::new(400, "security_exception", reason);
    fail::reply(&error, trace).field("WWW-Authenticate", "Bearer error=\"invalid_request\"")
}

fn refused(error: &AuthError, uri: &str, store: Option<&str>, trace: Trace) -> Reply {
    let mut bearer = match store {
        // RFC 9728: who has no token learns where to get one.
        Some(store) => {
            format!("{BEARER}, resource_metadata=\"{store}/.well-known/oauth-protected-resource\"")
        }
        None => BEARER.to_owned(),
    };
    let bad_token = |text: &str| {
        format!("{BEARER}, error=\"invalid_token\", error_description=\"The access token {text}\"")
    };
    let mut detail = None;
    let reason = match error {
        AuthError::Busy | AuthError::Slow { .. } => {
            let error = Error::rejected("too many passwords wait to be checked");
            return fail::reply(&error, trace);
        }
        AuthError::RunAs { reason } => {
            return fail::reply(&Error::new(403, "security_exception", reason.clone()), trace);
        }
        AuthError::Missing | AuthError::Wrong { .. } => format!("{error} for REST request [{uri}]"),
        AuthError::Malformed { .. } => error.to_string(),
        AuthError::BadToken => return malformed(&error.to_string(), trace),
        AuthError::Expired => {
            bearer = bad_token("expired");
            error.to_string()
        }
        AuthError::Unknown { detail: told, bearer: is_bearer } => {
            if *is_bearer {
                bearer = bad_token("is invalid");
            }
            detail = told.clone();
            error.to_string()
        }
    };
    let challenges = [BASIC, &bearer, API_KEY];
    let mut error = Error::new(401, "security_exception", reason);
    if let Some(detail) = detail {
        error = error.with("additional_unsuccessful_credentials", detail);
    }
    let error = error.with("header", json!({"WWW-Authenticate": (challenges.to_vec())}));
    let mut reply = fail::reply(&error, trace);
    for challenge in challenges {
        reply = reply.field("WWW-Authenticate", challenge.to_owned());
    }
    reply
}

/// Asks about an index, and about the data stream that it is part of at this moment: whoever made a new one a
/// moment ago asks for it by the same gate.
fn by_stream<E: Env, T>(core: &Core<E>, index: &str, ask: impl FnOnce(Name<'_>) -> T) -> T {
    by_fields(core, index, |name, _| ask(name))
}

/// The same, with what names of fields mean there.
fn by_fields<E: Env, T>(
    core: &Core<E>,
    index: &str,
    ask: impl FnOnce(Name<'_>, Targets<'_>) -> T,
) -> T {
    core.glance(|state| {
        let stream = state.streams_of.get(index).map(|stream| &**stream);
        let mapping = state.index(index).map(|index| &index.mapping);
        ask(Name { text: index, stream }, &|field| {
            let target = mapping.filter(|mapping| mapping.is_alias(field))?.lookup(field)?;
            Some(target.path.to_string())
        })
    })
}

/// authz's access as the engine's gate.
struct Door<E: Env> {
    /// It knows which index is part of which data stream.
    core: Rc<Core<E>>,
    origin: Origin,
    access: Arc<Access>,
    principal: Principal,
    published: Arc<Published<authz::State>>,
    /// What its background work belongs to, told when it is asked for.
    owner: OnceCell<String>,
    /// The scope that a denied action wanted, for tokens of the OAuth half.
    wanted: Option<Rc<RefCell<Wanted>>>,
    audit: Audit,
    /// What a strict audit log is told of the request.
    facts: Facts,
    /// What an administrator's change is made to.
    begun: RefCell<Vec<String>>,
    /// Indices that were made for documents.
    made: RefCell<Vec<(Making, String)>>,
}

impl<E: Env> Door<E> {
    fn forbidden(&self, denied: &Denied, index: Option<&str>) -> Error {
        if let Some(wanted) = &self.wanted {
            let (principal, action) = (&self.principal, &denied.action);
            let lacks = match index {
                Some(index) => {
                    by_stream(&self.core, index, |name| principal.lacks(action, Some(name)))
                }
                None => principal.lacks(action, None),
            };
            *wanted.borrow_mut() = lacks.map_or(Wanted::Beyond, Wanted::Scope);
        }
        self::denied(denied)
    }
}

impl<E: Env> Gate for Door<E> {
    fn cluster(&self, action: &'static str) -> Result<()> {
        self.access.cluster(action).map_err(|denied| self.forbidden(&denied, None))
    }

    fn applications(&self, action: &'static str, names: &[&str]) -> Result<()> {
        let access = self.access.applications(action, names);
        access.map_err(|denied| self.forbidden(&denied, None))
    }

    fn index(&self, action: &'static str, index: &str) -> Result<Limits> {
        // A few answers about the cluster list indices.
        if action.starts_with("cluster:") {
            self.cluster(action)?;
            if self.learns(index) {
                return Ok(Limits::default());
            }
        }
        let ask =
            |name: Name<'_>, targets: Targets<'_>| self.access.index_of(action, name, targets);
        match by_fields(&self.core, index, ask) {
            Ok(limits) => Ok(limits_of(limits)),
            Err(denied) => Err(self.forbidden(&denied, Some(index))),
        }
    }

    fn anywhere(&self, action: &'static str) -> Result<()> {
        self.access.anywhere(action).map_err(|denied| self.forbidden(&denied, None))
    }

    fn owner(&self) -> &str {
        self.owner.get_or_init(|| self.principal.owner())
    }

    fn standing(&self) -> Option<Arc<dyn Standing>> {
        let (published, principal) = (Arc::clone(&self.published), self.principal.clone());
        Some(Arc::new(Stands { published, principal }))
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn tell_caller(&self, tell: &mut dyn FnMut(&'static str, &str)) {
        subject::tell(&self.principal, tell);
    }

    fn begins(&self, action: &'static str, names: Vec<String>) -> Asked<'_> {
        Box::pin(async move {
            if !self.audit.is_on() {
                return Ok(());
            }
            self.begun.replace(names.clone());
            let now_ms = self.core.env().clock().unix_ms();
            match audit::begin_each(&self.audit, now_ms, &self.facts, action, &names).await {
                true => Ok(()),
                false => Err(audit::refusal()),
            }
        })
    }

    fn take_begun(&self) -> Vec<String> {
        self.begun.take()
    }

    fn may_make<'a>(&'a self, making: Making, name: &'a str) -> Asked<'a> {
        let now_ms = self.core.env().clock().unix_ms();
        Box::pin(audit::may_make(&self.audit, now_ms, &self.facts, (making, name)))
    }

    fn not_made(&self, making: Making, name: &str, reason: &str) {
        let now_ms = self.core.env().clock().unix_ms();
        audit::not_made(&self.audit, now_ms, &self.facts, (making, name), reason);
    }

    fn made(&self, making: Making, name: &str) {
        if self.audit.is_on() {
            self.made.borrow_mut().push((making, name.to_owned()));
        }
    }

    fn take_made(&self) -> Vec<(Making, String)> {
        self.made.take()
    }

    fn index_by_alias(&self, action: &'static str, index: &str, alias: &str) -> Result<Limits> {
        if self.trusts_aliases() && action.starts_with("cluster:") {
            return self.index(action, alias);
        }
        let ask = |name: Name<'_>, targets: Targets<'_>| {
            self.access.index_by_alias(action, name, alias, targets)
        };
        by_fields(&self.core, index, ask)
            .map(limits_of)
            .map_err(|denied| self.forbidden(&denied, Some(alias)))
    }

    fn sees_by_alias(&self, action: &'static str, index: &str, alias: &str) -> bool {
        match self.trusts_aliases() && action.starts_with("cluster:") {
            true => self.sees(action, alias),
            false => {
                by_stream(&self.core, index, |name| self.access.sees_by_alias(action, name, alias))
            }
        }
    }

    fn trusts_aliases(&self) -> bool {
        // Only callers by a grant note which scope they lack.
        self.wanted.is_none()
    }

    fn learns(&self, index: &str) -> bool {
        self.trusts_aliases() || by_stream(&self.core, index, |name| self.access.touches(name))
    }

    fn watches(&self, owner: &str) -> bool {
        self.trusts_aliases() || self.owner() == owner
    }

    fn sees(&self, action: &'static str, index: &str) -> bool {
        if action.starts_with("cluster:") {
            return self.access.cluster(action).is_ok() && self.learns(index);
        }
        by_stream(&self.core, index, |name| self.access.sees(action, name))
    }
}

/// Whether what let a caller in still would.
struct Stands {
    published: Arc<Published<authz::State>>,
    principal: Principal,
}

impl Standing for Stands {
    fn holds(&self, now_ms: i64) -> bool {
        self.principal.stands(&self.published.load(), u64::try_from(now_ms).unwrap_or_default())
    }
}

/// The door of work that lasts.
struct Lasting<E: Env> {
    core: Rc<Core<E>>,
    keeper: authz::Keeper,
    /// The caller as it was at this version of the state; none once it may not come in any more.
    seen: RefCell<(u64, Option<Principal>)>,
    owner: String,
    origin: Origin,
    /// The caller has a grant, and reaches indices by the names alone that were granted.
    by_grant: bool,
    /// What the audit log tells of the request that began the work.
    facts: Facts,
}

impl<E: Env> Lasting<E> {
    fn access(&self) -> Result<Arc<Access>> {
        let state = self.keeper.state();
        let now_ms = u64::try_from(self.core.env().clock().unix_ms()).unwrap_or_default();
        let mut seen = self.seen.borrow_mut();
        let (version, known) = (seen.0, seen.1.take());
        seen.1 = known.and_then(|principal| match version == state.version {
            true => principal.goes_on(&state, now_ms).then_some(principal),
            false => principal.renewed(&state, now_ms),
        });
        seen.0 = state.version;
        let access = seen.1.as_ref().map(|principal| Arc::clone(principal.gate()));
        access.ok_or_else(|| {
            let reason = "what let the caller in has ended, and its work ends with it";
            Error::new(403, "security_exception", reason)
        })
    }
}

pub fn denied(denied: &Denied) -> Error {
    Error::new(403, "security_exception", denied.to_string())
}

impl<E: Env> Gate for Lasting<E> {
    fn cluster(&self, action: &'static str) -> Result<()> {
        self.access()?.cluster(action).map_err(|error| denied(&error))
    }

    fn index(&self, action: &'static str, index: &str) -> Result<Limits> {
        if action.starts_with("cluster:") {
            return self.cluster(action).map(|()| Limits::default());
        }
        let access = self.access()?;
        let ask = |name: Name<'_>, targets: Targets<'_>| access.index_of(action, name, targets);
        let limits = by_fields(&self.core, index, ask);
        limits.map(limits_of).map_err(|error| denied(&error))
    }

    fn owner(&self) -> &str {
        &self.owner
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn tell_caller(&self, tell: &mut dyn FnMut(&'static str, &str)) {
        if let (_, Some(principal)) = &*self.seen.borrow() {
            subject::tell(principal, tell);
        }
    }

    fn may_make<'a>(&'a self, making: Making, name: &'a str) -> Asked<'a> {
        let now_ms = self.core.env().clock().unix_ms();
        Box::pin(audit::may_make(self.keeper.audit(), now_ms, &self.facts, (making, name)))
    }

    fn not_made(&self, making: Making, name: &str, reason: &str) {
        let now_ms = self.core.env().clock().unix_ms();
        audit::not_made(self.keeper.audit(), now_ms, &self.facts, (making, name), reason);
    }

    fn made(&self, making: Making, name: &str) {
        let now_ms = self.core.env().clock().unix_ms();
        audit::made(self.keeper.audit(), now_ms, &self.facts, &[(making, name.to_owned())]);
    }

    fn failed(&self, why: &Error) {
        let now_ms = self.core.env().clock().unix_ms();
        audit::failed(self.keeper.audit(), now_ms, &self.facts, why);
    }

    fn index_by_alias(&self, action: &'static str, index: &str, alias: &str) -> Result<Limits> {
        if self.trusts_aliases() && action.starts_with("cluster:") {
            return self.index(action, alias);
        }
        let access = self.access()?;
        let ask = |name: Name<'_>, targets: Targets<'_>| {
            access.index_by_alias(action, name, alias, targets)
        };
        let limits = by_fields(&self.core, index, ask);
        limits.map(limits_of).map_err(|error| denied(&error))
    }

    fn sees_by_alias(&self, action: &'static str, index: &str, alias: &str) -> bool {
        match self.trusts_aliases() && action.starts_with("cluster:") {
            true => self.sees(action, alias),
            false => self.access().is_ok_and(|access| {
                by_stream(&self.core, index, |name| access.sees_by_alias(action, name, alias))
            }),
        }
    }

    fn trusts_aliases(&self) -> bool {
        !self.by_grant
    }

    fn sees(&self, action: &'static str, index: &str) -> bool {
        match action.starts_with("cluster:") {
            true => self.cluster(action).is_ok(),
            false => self
                .access()
                .is_ok_and(|access| by_stream(&self.core, index, |name| access.sees(action, name))),
        }
    }
}

/// The engine's word for authz's limits.
fn limits_of(limits: authz::Limits) -> Limits {
    let authz::Limits { filter, fields, key, kinds } = limits;
    Limits { filter, fields, key, kinds: kinds.into_iter().map(limits_of).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_is_challenged_thrice() {
        let reply = refused(&AuthError::Missing, "/a/_search?q=1", None, Trace::No);
        assert_eq!(reply.status, 401);
        let challenges: Vec<&str> = reply
            .fields
            .iter()
            .filter(|(name, _)| *name == "WWW-Authenticate")
            .map(|(_, value)| value.as_ref())
            .collect();
        assert_eq!(challenges, [BASIC, BEARER, API_KEY]);
        let text = String::from_utf8_lossy(&reply.body);
        assert!(text.contains(
            r#""reason":"missing authentication credentials for REST request [/a/_search?q=1]","header":{"WWW-Authenticate":["Basic realm=\"security\", charset=\"UTF-8\"","Bearer realm=\"security\"","ApiKey"]}"#
        ), "{text}");
        let wrong = AuthError::Wrong { user: "u".to_owned() };
        let text = refused(&wrong, "/", None, Trace::No).body;
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains("unable to authenticate user [u] for REST request [/]"), "{text}");
        assert_eq!(refused(&AuthError::Busy, "/", None, Trace::No).status, 429);
    }

    #[test]
    fn a_bad_token_is_told_in_its_challenge() {
        let challenge = |error: &AuthError| {
            let reply = refused(error, "/", None, Trace::No);
            assert_eq!(reply.status, 401);
            let found = reply.fields.iter().find(|(_, value)| value.starts_with("Bearer"));
            found.map(|(_, value)| value.to_string()).unwrap_or_default()
        };
        assert_eq!(
            challenge(&AuthError::Expired),
            "Bearer realm=\"security\", error=\"invalid_token\", \
             error_description=\"The access token expired\""
        );
        let unknown = AuthError::Unknown { detail: None, bearer: true };
        assert!(challenge(&unknown).ends_with("\"The access token is invalid\""));
        let key = AuthError::Unknown { detail: Some("API key: gone".into()), bearer: false };
        assert_eq!(challenge(&key), BEARER);
    }
}
