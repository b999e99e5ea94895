//! From a credential to a gate.
//!
//! The `Authorization` header is judged by authz; what it may do and see, authz's access answers,
//! in the form in which the engine asks. Without security everything is allowed.

use std::sync::Arc;

use authz::{Access, AuthError, Authenticator, Denied, Principal};
use engine::{Error, Everything, Gate, Limits, Result};
use env::Env;
use json::json;

use crate::fail::{self, Trace};
use crate::reply::Reply;

/// What the door of one core needs to judge callers.
pub struct Security<E: Env> {
    /// Who are they?
    pub authenticator: Authenticator<E>,
    /// Changes to users.
    pub keeper: authz::Keeper,
}

/// A caller who may pass.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Security is off.
    Anyone,
    /// Somebody known.
    Known(Principal),
}

impl Caller {
    /// The questions the engine asks, answered for this caller.
    pub fn gate(&self) -> Box<dyn Gate> {
        match self {
            Self::Anyone => Box::new(Everything),
            Self::Known(principal) => Box::new(Door(Arc::clone(principal.gate()))),
        }
    }
}

/// Who sent this header? Two of them are one too many.
///
/// # Errors
/// The answer to send instead.
pub async fn caller<E: Env>(
    security: Option<&Security<E>>,
    head: &http::Head,
    trace: Trace,
) -> std::result::Result<Caller, Reply> {
    let Some(security) = security else { return Ok(Caller::Anyone) };
    if head.all("authorization").count() > 1 {
        let error = Error::new(400, "security_exception", "more than one Authorization header");
        return Err(fail::reply(&error, trace));
    }
    match security.authenticator.authenticate(head.text("authorization")).await {
        Ok(principal) => Ok(Caller::Known(principal)),
        Err(error) => Err(refused(&error, &String::from_utf8_lossy(head.target()), trace)),
    }
}

/// The challenges, in order.
const CHALLENGES: [&str; 3] =
    ["Basic realm=\"security\", charset=\"UTF-8\"", "Bearer realm=\"security\"", "ApiKey"];

fn refused(error: &AuthError, uri: &str, trace: Trace) -> Reply {
    let reason = match error {
        AuthError::Busy => {
            let error = Error::rejected("too many passwords wait to be checked");
            return fail::reply(&error, trace);
        }
        AuthError::Missing | AuthError::Wrong { .. } => format!("{error} for REST request [{uri}]"),
        AuthError::Malformed { .. } | AuthError::Unknown => error.to_string(),
    };
    let header = json!({"WWW-Authenticate": (CHALLENGES.to_vec())});
    let error = Error::new(401, "security_exception", reason).with("header", header);
    let mut reply = fail::reply(&error, trace);
    for challenge in CHALLENGES {
        reply = reply.field("WWW-Authenticate", challenge);
    }
    reply
}

/// authz's access as the engine's gate.
struct Door(Arc<Access>);

impl Gate for Door {
    fn cluster(&self, action: &'static str) -> Result<()> {
        self.0.cluster(action).map_err(|denied| forbidden(&denied, "cluster"))
    }

    fn index(&self, action: &'static str, index: &str) -> Result<Limits> {
        match self.0.index(action, index) {
            Ok(limits) => {
                Ok(Limits { filter: limits.filter, fields: limits.fields, key: limits.key })
            }
            Err(denied) => Err(forbidden(&denied, "index")),
        }
    }
}

fn forbidden(denied: &Denied, group: &str) -> Error {
    let granting = granting(&denied.action);
    let reason = if granting.is_empty() {
        denied.to_string()
    } else {
        format!("{denied}, this action is granted by the {group} privileges [{granting}]")
    };
    Error::new(403, "security_exception", reason)
}

/// The privileges that grant an action, as Elasticsearch lists them: narrowest first.
fn granting(action: &str) -> &'static str {
    const TABLE: &[(&str, &str)] = &[
        ("cluster:monitor/main", "monitor,manage,all"),
        ("cluster:monitor/", "monitor,manage,all"),
        ("cluster:admin/xpack/security/", "manage_security,all"),
        ("cluster:", "manage,all"),
        ("indices:data/write/index", "create_doc,create,index,write,all"),
        ("indices:data/write/bulk", "create_doc,create,delete,index,write,all"),
        ("indices:data/write/delete", "delete,write,all"),
        ("indices:data/write/", "write,all"),
        ("indices:data/read/", "read,all"),
        ("indices:admin/auto_create", "auto_configure,create_index,manage,all"),
        ("indices:admin/create", "create_index,manage,all"),
        ("indices:admin/delete", "delete_index,manage,all"),
        ("indices:admin/mapping/put", "manage,all"),
        ("indices:admin/get", "view_index_metadata,manage,all"),
        ("indices:admin/mappings/get", "view_index_metadata,manage,all"),
        ("indices:monitor/settings/get", "view_index_metadata,monitor,manage,all"),
        ("indices:admin/refresh", "maintenance,manage,all"),
        ("indices:admin/flush", "maintenance,manage,all"),
        ("indices:admin/forcemerge", "maintenance,manage,all"),
        ("indices:admin/analyze", "read,view_index_metadata,manage,all"),
        ("indices:monitor/", "monitor,manage,all"),
        ("indices:admin/", "manage,all"),
    ];
    TABLE
        .iter()
        .find(|(prefix, _)| action.starts_with(prefix))
        .map_or("", |(_, privileges)| privileges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_is_challenged_thrice() {
        let reply = refused(&AuthError::Missing, "/a/_search?q=1", Trace::No);
        assert_eq!(reply.status, 401);
        let challenges: Vec<&str> = reply
            .fields
            .iter()
            .filter(|(name, _)| *name == "WWW-Authenticate")
            .map(|(_, value)| value.as_ref())
            .collect();
        assert_eq!(challenges, CHALLENGES);
        let text = String::from_utf8_lossy(&reply.body);
        assert!(text.contains(
            r#""reason":"missing authentication credentials for REST request [/a/_search?q=1]","header":{"WWW-Authenticate":["Basic realm=\"security\", charset=\"UTF-8\"","Bearer realm=\"security\"","ApiKey"]}"#
        ), "{text}");
        let wrong = AuthError::Wrong { user: "u".to_owned() };
        let text = refused(&wrong, "/", Trace::No).body;
        let text = String::from_utf8_lossy(&text);
        assert!(text.contains("unable to authenticate user [u] for REST request [/]"), "{text}");
        assert_eq!(refused(&AuthError::Busy, "/", Trace::No).status, 429);
    }

    #[test]
    fn denials_name_what_would_grant() {
        let gate = Door(Arc::new(Access::new("ann", Arc::from([]))));
        let error = gate.index("indices:data/write/bulk[s]", "i").expect_err("no role");
        assert_eq!(error.status, 403);
        assert_eq!(
            error.reason,
            "action [indices:data/write/bulk[s]] is unauthorized for user [ann] with effective \
             roles [] on indices [i], this action is granted by the index privileges \
             [create_doc,create,delete,index,write,all]"
        );
        let error = gate.cluster("cluster:monitor/health").expect_err("no role");
        assert!(error.reason.ends_with("granted by the cluster privileges [monitor,manage,all]"));
    }
}
