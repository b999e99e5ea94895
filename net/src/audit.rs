//! What the store's half of HTTP tells the audit log: callers who were not let in, actions that were
//! denied, changes of security, what administrators did, who acted for whom. (The OAuth half tells its own
//! events.)
//!
//! In strict mode (`oauth.audit.strict`) such a change has a line before it is made, or is not made: a machine that
//! stops in between leaves none without a line. And nothing is answered whose event could not be written.

pub mod begun;
mod events;
mod strangers;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use authz::audit::{Audit, CHANGE, ELEMENTS_MAX};
use authz::authenticate::bearer;
use authz::record::grant::Grant;
use authz::{Principal, Via};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use engine::gate::Making;
use engine::{Error, Result};
use env::{Clock, Env, Random};
use json::Value;

use crate::admit::{Caller, Known, RUN_AS, Security};
use crate::call::Call;
use crate::fail::{self, Trace};
use crate::oauth::limit::host;
use crate::reply::Reply;
use crate::table::Api;

pub use events::changed;
use events::{Begins, PASSWORD_CHANGED, administers};
pub use strangers::Strangers;

/// Denials of one request that get a line each; more are not told.
const DENIED_MAX: usize = 100;

/// Names of roles and keys that one line tells.
const NAMES_MAX: usize = 20;

/// What a handler tells the log of a request.
#[derive(Debug, Default)]
pub struct Told {
    /// Denials of its items, each once: a request that is let in holds others.
    denied: BTreeSet<String>,
    /// Of what it changes: ids, names.
    facts: Vec<(&'static str, String)>,
    /// Indices that it names in its body.
    indices: Vec<String>,
    /// What it does beside its own action, and to which indices.
    beside: Vec<(&'static str, Vec<String>)>,
    /// It only tries what it would do.
    is_trial: bool,
    /// What all lines of the request bear.
    id: OnceCell<String>,
}

/// What is told of a request, whatever it came to.
pub type Facts = Vec<(&'static str, String)>;

impl Told {
    /// An item failed: a denial is kept.
    pub fn failed(&mut self, error: &Error) {
        if is_denial(error) && self.denied.len() < DENIED_MAX {
            self.denied.insert(error.reason.clone());
        }
    }

    /// Of what the request changes. What is told last of a name counts.
    pub fn fact(&mut self, name: &'static str, value: impl Into<String>) {
        self.facts.retain(|(known, _)| *known != name);
        self.facts.push((name, value.into()));
    }

    /// The same of several.
    pub fn names<'n>(&mut self, name: &'static str, values: impl IntoIterator<Item = &'n String>) {
        let mut values: Vec<&str> = values.into_iter().map(String::as_str).collect();
        values.truncate(NAMES_MAX);
        self.fact(name, values.join(","));
    }

    /// The indices that the request is about, where its path does not say so. What is told last counts.
    pub fn indices(&mut self, names: Vec<String>) {
        self.indices = names;
    }

    /// It is tried what the request would do, and nothing is done: no line tells of that.
    pub fn only_tries(&mut self) {
        self.is_trial = true;
    }

    /// It does `action` too, to these indices, which has a line of its own. What is told last counts.
    pub fn beside(&mut self, action: &'static str, names: Vec<String>) {
        self.beside.retain(|(known, _)| *known != action);
        if !names.is_empty() {
            self.beside.push((action, names));
        }
    }
}

/// A name for one request, by which its lines are found together.
pub fn request_id<E: Env>(env: &E) -> String {
    let mut bytes = [0; 16];
    env.random().fill(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Has a request events of its own in the log?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Noted {
    /// None.
    #[default]
    Nothing,
    /// Some.
    Something,
}

/// Does the log take lines? Always true where that is not strictly wanted.
pub async fn is_ready<E: Env>(security: Option<&Security<E>>) -> bool {
    match security {
        Some(security) if security.keeper.audit().strict_count().is_some() => {
            security.keeper.audit().is_written().await
        }
        _ => true,
    }
}

/// In strict mode, has a line written that this call is about to make a change, with what is known of it by now.
///
/// # Errors
/// The log takes no line: the change must not be made.
pub async fn begin<E: Env>(call: &Call<'_, E>) -> authz::Result<()> {
    let (Caller::Known(known), Some(security)) = (call.caller, call.security) else {
        return Ok(());
    };
    let audit = security.keeper.audit();
    if audit.strict_count().is_none() {
        return Ok(());
    }
    let action = match call.route.api {
        Api::Security(op) => changed(op).map(|event| of_whom(call, known, event)),
        _ => None,
    };
    let mut facts = facts(call, known, security);
    let mut lines = vec![action.unwrap_or(call.route.privilege)];
    let mut indices = Vec::new();
    {
        let told = call.told.borrow();
        facts.extend(told.facts.iter().filter(|(name, _)| *name != "reason").cloned());
        indices.push(told.indices.clone());
        for (action, names) in &told.beside {
            lines.push(action);
            indices.push(names.clone());
        }
    }
    for (action, names) in lines.into_iter().zip(&indices) {
        if !begin_each(audit, call.now_ms(), &facts, action, names).await {
            return Err(authz::Error::Unnoted);
        }
    }
    Ok(())
}

/// In strict mode, has lines written that `action` is about to be done to these indices: so many that all are named.
/// False where the log does not take them.
pub async fn begin_each(
    audit: &Audit,
    now_ms: i64,
    facts: &Facts,
    action: &str,
    names: &[String],
) -> bool {
    let mut facts = borrowed(facts);
    facts.push(("action", action));
    for names in lines_of(names) {
        if !audit.begin_lists(now_ms, &facts, &[("indices", names)]).await {
            return false;
        }
    }
    true
}

/// Names as lines tell them: as many as one may hold, and one line where there are none.
fn lines_of(names: &[String]) -> impl Iterator<Item = &[String]> {
    let none = names.is_empty().then_some(names);
    none.into_iter().chain(names.chunks(ELEMENTS_MAX))
}

/// The same of an administrator's call whose indices stand in its body, once they are told.
///
/// # Errors
/// 503 in strict mode while the log takes no line.
pub async fn begin_named<E: Env>(call: &Call<'_, E>) -> Result<()> {
    begin(call).await.map_err(|_| refusal())
}

/// What is told while the log takes no line, in strict mode.
pub fn refusal() -> Error {
    Error::new(503, "status_exception", "the audit log cannot be written")
}

/// How many lines were lost so far, in strict mode.
pub fn lost_count<E: Env>(security: Option<&Security<E>>) -> Option<u64> {
    let audit = security?.keeper.audit();
    audit.strict_count().map(|_| audit.lost_count())
}

/// The answer, or a 503 in its place where events of this request were `noted` and are not written; `lost_before` is
/// how many lines were lost when it began. What others had noted meanwhile refuses nobody who has no line.
pub async fn kept<E: Env>(
    security: Option<&Security<E>>,
    (noted, lost_before): (Noted, Option<u64>),
    reply: Reply,
) -> Reply {
    if noted == Noted::Nothing || lost_before.is_none() {
        return reply;
    }
    // A line that was lost meanwhile may have been one of these.
    if is_ready(security).await && lost_before == lost_count(security) {
        return reply;
    }
    fail::reply(&refusal(), Trace::No).field("Retry-After", "1")
}

/// A caller who was not let in. Those without any credential are told together: every browser begins so.
pub fn refused<E: Env>(
    env: &E,
    security: Option<&Security<E>>,
    strangers: &Strangers,
    head: &http::Head,
    peer: &str,
    reply: &Reply,
) -> Noted {
    let Some(security) = security else { return Noted::Nothing };
    let audit = security.keeper.audit();
    if !audit.is_on() {
        return Noted::Nothing;
    }
    let given = head.text("authorization");
    let count = match given {
        Some(_) => String::new(),
        None => {
            let now_ms = u64::try_from(env.clock().unix_ms()).unwrap_or(0);
            let Some(count) = strangers.count(host(peer), now_ms) else { return Noted::Nothing };
            count.to_string()
        }
    };
    let scheme = given.map_or("", scheme);
    let reason = reason(reply);
    let (api_key, token) = given.map_or_else(Default::default, |given| presented(security, given));
    // Who is denied something was let in, and named what is his; whom he would be, he only says.
    let is_proven = reply.status == 403;
    let by = given.map(|given| match is_proven {
        true => proven(security, given),
        false => claimed(security, given),
    });
    let (by, whom) = (by.unwrap_or_default(), head.text(RUN_AS).unwrap_or_default());
    let (user, run_by) = match is_proven && !by.is_empty() && !whom.is_empty() {
        true => (whom, by.as_str()),
        false => (by.as_str(), ""),
    };
    let event = match reply.status {
        429 => "login_throttled",
        403 => "access_denied",
        _ if given.is_none() => "anonymous_access_denied",
        _ => "login_failed",
    };
    let path = String::from_utf8_lossy(http::Target::new(head.target()).path()).into_owned();
    let facts = [
        ("reason", reason.as_str()),
        ("user", user),
        ("run_by", run_by),
        ("scheme", scheme),
        ("api_key", api_key.as_str()),
        ("token", token.as_str()),
        ("method", head.method_text()),
        ("path", path.as_str()),
        ("address", host(peer)),
        ("user_agent", head.text("user-agent").unwrap_or_default()),
        ("request_id", &request_id(env)),
        ("opaque_id", head.text("x-opaque-id").unwrap_or_default()),
        ("count", count.as_str()),
    ];
    audit.note(env.clock().unix_ms(), event, "failed", &facts);
    Noted::Something
}

/// Schemes of `Authorization` that the log names.
const SCHEMES: &[&str] =
    &["ApiKey", "AWS4-HMAC-SHA256", "Basic", "Bearer", "Digest", "DPoP", "Negotiate", "NTLM"];

/// The scheme of an `Authorization` value, where it is one that we know: whatever else stands there may be
/// a secret that came without its scheme.
fn scheme(given: &str) -> &'static str {
    let first =
        given.trim_start().split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
    let known = SCHEMES.iter().find(|known| known.eq_ignore_ascii_case(first));
    known.copied().unwrap_or_default()
}

/// The reason of a failure that is already written.
fn reason(reply: &Reply) -> String {
    let value = json::parse(&reply.body).unwrap_or_default();
    let reason = value.at(&["error", "reason"]).and_then(Value::as_str);
    // The path stands in a field of its own, without its query.
    let reason = reason.unwrap_or_default();
    let reason = reason.split(" for REST request").next().unwrap_or_default();
    // What is wrong with a key.
    match value.at(&["error", "additional_unsuccessful_credentials"]).and_then(Value::as_str) {
        Some(detail) => format!("{reason}: {detail}"),
        None => reason.to_owned(),
    }
}

/// The id of the key that came, where there is one of that id, and by what logs know the token.
fn presented<E: Env>(security: &Security<E>, given: &str) -> (String, String) {
    let (scheme, rest) = given.trim().split_once(' ').unwrap_or((given, ""));
    let (keeper, rest) = (&security.keeper, rest.trim());
    if scheme.eq_ignore_ascii_case("ApiKey") {
        // A text that is no id may be a secret in the wrong place.
        let decoded = STANDARD.decode(rest).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let id = decoded.as_deref().and_then(|text| text.split_once(':')).map(|(id, _)| id);
        let id = id.filter(|id| keeper.state().keys.get(*id).is_some());
        return (id.unwrap_or_default().to_owned(), String::new());
    }
    let is_token = scheme.eq_ignore_ascii_case("Bearer") && keeper.keys().read(rest).is_some();
    (String::new(), if is_token { keeper.keys().public_id(rest) } else { String::new() })
}

/// Whose credential this is, which was found good.
fn proven<E: Env>(security: &Security<E>, given: &str) -> String {
    let (scheme, rest) = given.trim().split_once(' ').unwrap_or((given, ""));
    let (keeper, rest) = (&security.keeper, rest.trim());
    let state = keeper.state();
    let named = || {
        let text = String::from_utf8(STANDARD.decode(rest).ok()?).ok()?;
        text.split_once(':').map(|(name, _)| name.to_owned())
    };
    let name = if scheme.eq_ignore_ascii_case("Basic") {
        named()
    } else if scheme.eq_ignore_ascii_case("ApiKey") {
        named().and_then(|id| state.keys.get(&id).map(|key| key.owner.clone()))
    } else {
        let token = keeper.keys().read(rest);
        let content = token.and_then(|token| keeper.keys().access(state.epoch).open(&token.body));
        let grant = content.and_then(|content| state.grant(content.grant));
        let owner = grant.map(|grant| grant.user.clone());
        owner.or_else(|| bearer::service(&state, rest).map(|it| it.name().to_owned()))
    };
    name.unwrap_or_default()
}

/// The name in a `Basic` header, as which nobody was let in. A name that is no user's, and as long as the shortest
/// secret that is made here, may be one in the wrong place.
pub fn claimed<E: Env>(security: &Security<E>, given: &str) -> String {
    const SECRET_CHARACTERS_MIN: usize = 20;
    let (scheme, rest) = given.trim().split_once(' ').unwrap_or((given, ""));
    let text = STANDARD.decode(rest.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let name = text.as_deref().and_then(|text| text.split_once(':')).map(|(name, _)| name);
    let name = name.filter(|_| scheme.eq_ignore_ascii_case("Basic")).unwrap_or_default();
    let is_short = name.chars().count() < SECRET_CHARACTERS_MIN;
    let is_told = is_short || security.keeper.state().user(name).is_some();
    if is_told { name.to_owned() } else { String::new() }
}

/// A request that was let in: denied, a change of security, or one in another's name.
pub fn answered<E: Env>(call: &Call<'_, E>, answered: &Result<Reply>) -> Noted {
    let (Caller::Known(known), Some(security)) = (call.caller, call.security) else {
        return Noted::Nothing;
    };
    let audit = security.keeper.audit();
    if !audit.is_on() {
        return Noted::Nothing;
    }
    let event = match answered {
        Err(error) if is_denial(error) => Some("access_denied"),
        _ => match call.route.api {
            Api::Security(op) => changed(op).map(|event| of_whom(call, known, event)),
            _ if call.told.borrow().is_trial => None,
            api => administers(api).map(|_| GRANTED),
        },
    };
    let acting = known.acting().map_or("", Principal::name);
    let (own, made) = (call.told.borrow(), call.gate.take_made());
    let begun = call.gate.take_begun();
    if event.is_none() && acting.is_empty() && own.denied.is_empty() && made.is_empty() {
        return Noted::Nothing;
    }
    let (outcome, reason) = match answered {
        Ok(reply) if reply.status < 400 => ("ok", String::new()),
        Ok(reply) => ("failed", words_of(reply)),
        Err(error) => ("failed", error.reason.clone()),
    };
    let facts = facts(call, known, security);
    let now_ms = call.now_ms();
    let note = |event, outcome, reason, more: &[(&str, &str)], indices: &[String]| {
        let mut all = vec![("reason", reason)];
        all.extend(borrowed(&facts));
        all.extend_from_slice(more);
        audit.note_lists(now_ms, event, outcome, &all, &[("indices", indices)]);
    };
    if !acting.is_empty() {
        note("run_as", "ok", "", &[], &[]);
    }
    for reason in &own.denied {
        note("access_denied", "failed", reason, &[], &[]);
    }
    self::made(audit, now_ms, &facts, &made);
    let Some(event) = event else { return Noted::Something };
    let mut more = Vec::new();
    if event == GRANTED {
        more.push(("action", call.route.privilege));
    }
    // An answer that is no error has its reason among its facts.
    let own_facts = borrowed(&own.facts).into_iter();
    let (reasons, own_facts): (Vec<_>, Vec<_>) = own_facts.partition(|(name, _)| *name == "reason");
    let reason = reasons.first().map_or(reason.as_str(), |(_, reason)| *reason);
    more.extend(own_facts);
    let indices = if begun.is_empty() { &own.indices } else { &begun };
    lines_of(indices).for_each(|indices| note(event, outcome, reason, &more, indices));
    if event == GRANTED {
        for (action, names) in &own.beside {
            lines_of(names).for_each(|names| {
                note(event, outcome, reason, &[("action", *action)], names);
            });
        }
    }
    Noted::Something
}

/// Why nothing was done, of an answer that is no error.
fn words_of(reply: &Reply) -> String {
    let value = json::parse(&reply.body).unwrap_or_default();
    let told = value.get("error_description").and_then(Value::as_str);
    match (told, reply.status) {
        (Some(told), _) => told.to_owned(),
        (None, 404) => "there is no such thing".to_owned(),
        (None, status) => format!("answered {status}"),
    }
}

/// A change of security as the log calls it: who changes another's password resets it.
fn of_whom<E: Env>(call: &Call<'_, E>, known: &Known, event: &'static str) -> &'static str {
    match call.path.get("username") {
        Some(name) if event == PASSWORD_CHANGED && name != known.name() => "password_reset",
        _ => event,
    }
}

/// Who calls, and what.
pub fn facts<E: Env>(call: &Call<'_, E>, known: &Known, security: &Security<E>) -> Facts {
    facts_of(call.core.env(), security, known, (call.head, call.peer), &call.told.borrow())
}

/// The same of a request that is still to be carried out, where lines come before changes; nothing elsewhere.
pub fn facts_before<E: Env>(
    env: &E,
    security: Option<&Security<E>>,
    caller: &Caller,
    request: (&http::Head, &str),
    told: &Told,
) -> Facts {
    match (caller, security) {
        (Caller::Known(known), Some(security))
            if security.keeper.audit().strict_count().is_some() =>
        {
            facts_of(env, security, known, request, told)
        }
        _ => Facts::new(),
    }
}

fn facts_of<E: Env>(
    env: &E,
    security: &Security<E>,
    known: &Known,
    (head, peer): (&http::Head, &str),
    told: &Told,
) -> Facts {
    let name = |grant: &Grant| security.keeper.keys().grant_name(grant.family());
    // What came is the credential of who acts for another.
    let came = known.acting().map_or(known.via(), Principal::via);
    let (api_key, client, grant) = match came {
        Via::ApiKey(key) => (key.id.clone(), String::new(), String::new()),
        Via::Oauth(grant) => (String::new(), grant.client.clone().unwrap_or_default(), name(grant)),
        Via::Token(grant) => (String::new(), String::new(), name(grant)),
        Via::Realm | Via::Service(_) => Default::default(),
    };
    let token = match (came, head.text("authorization")) {
        (Via::Oauth(_) | Via::Token(_), Some(given)) => presented(security, given).1,
        _ => String::new(),
    };
    let id = told.id.get_or_init(|| request_id(env)).clone();
    let path = http::Target::new(head.target());
    let text = |name: &str| head.text(name).unwrap_or_default().to_owned();
    vec![
        ("user", known.name().to_owned()),
        ("realm", known.realm().0.to_owned()),
        ("run_by", known.acting().map_or("", Principal::name).to_owned()),
        ("api_key", api_key),
        ("client", client),
        ("grant", grant),
        ("token", token),
        ("method", head.method_text().to_owned()),
        ("path", String::from_utf8_lossy(path.path()).into_owned()),
        ("address", host(peer).to_owned()),
        ("user_agent", text("user-agent")),
        ("request_id", id),
        ("opaque_id", text("x-opaque-id")),
    ]
}

/// Indices and data streams that were made for documents: each is named, in as many lines as that takes.
pub fn made(audit: &Audit, now_ms: i64, facts: &Facts, made: &[(Making, String)]) {
    for made in made.chunk_by(|(one, _), (other, _)| one == other) {
        let names: Vec<String> = made.iter().map(|(_, name)| name.clone()).collect();
        for names in names.chunks(ELEMENTS_MAX) {
            let mut all = borrowed(facts);
            all.push(("action", made[0].0.action()));
            audit.note_lists(now_ms, GRANTED, "ok", &all, &[("indices", names)]);
        }
    }
}

/// A part of what goes on without its caller failed: a denial.
pub fn failed(audit: &Audit, now_ms: i64, facts: &Facts, why: &Error) {
    if is_denial(why) {
        let mut all = borrowed(facts);
        all.push(("reason", &why.reason));
        audit.note_lists(now_ms, "access_denied", "failed", &all, &[]);
    }
}

fn is_denial(error: &Error) -> bool {
    error.status == 403 && error.kind == "security_exception"
}

/// May an index be made for documents? In strict mode its line comes first, and does not wait where the log takes
/// none: the other documents of the request are answered, for they need no line.
///
/// # Errors
/// 503 in strict mode while the log takes no line.
pub async fn may_make(
    audit: &Audit,
    now_ms: i64,
    facts: &Facts,
    (making, name): (Making, &str),
) -> Result<()> {
    let mut all = borrowed(facts);
    all.push(("action", making.action()));
    match audit.begin_at_once(now_ms, &all, &[("indices", &[name.to_owned()])]).await {
        true => Ok(()),
        false => Err(refusal()),
    }
}

/// In strict mode: an index of which a line says that it is about to be made was not, and why.
pub fn not_made(
    audit: &Audit,
    now_ms: i64,
    facts: &Facts,
    (making, name): (Making, &str),
    reason: &str,
) {
    if audit.strict_count().is_some() {
        let mut all = borrowed(facts);
        all.extend([("action", making.action()), ("reason", reason)]);
        audit.note_lists(now_ms, CHANGE, "failed", &all, &[("indices", &[name.to_owned()])]);
    }
}

fn borrowed<'f>(facts: &'f [(&'static str, String)]) -> Vec<(&'f str, &'f str)> {
    facts.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// An administrator's call that was let in, in Elasticsearch's word.
const GRANTED: &str = "access_granted";

/// May an administrator's call begin? In strict mode its line comes first.
///
/// # Errors
/// 503 in strict mode while the log takes no line.
pub async fn may_begin<E: Env>(call: &Call<'_, E>) -> Result<()> {
    match administers(call.route.api) {
        Some(Begins::Before) => begin(call).await.map_err(|_| refusal()),
        Some(Begins::Within) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header without a scheme, or with a tab after it, stood in the log whole.
    #[test]
    fn a_scheme_is_a_known_word_or_nothing() {
        for (given, known) in [
            ("Basic YTpi", "Basic"),
            ("bearer x", "Bearer"),
            (" ApiKey x", "ApiKey"),
            ("Bearer\tcore_at_x", "Bearer"),
            ("DPoP", "DPoP"),
            ("core_at_x", ""),
            ("elastic:secret", ""),
            ("Secret x", ""),
            ("Basicx YTpi", ""),
            ("", ""),
        ] {
            assert_eq!(scheme(given), known, "{given}");
        }
    }
}
