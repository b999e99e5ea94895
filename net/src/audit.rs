//! What the store's half of HTTP tells the audit log: callers who were not let in, actions that were
//! denied, changes of security. (The OAuth half tells its own events.)

use authz::Via;
use engine::Result;
use env::{Clock, Env};
use json::Value;

use crate::admit::{Caller, Security};
use crate::call::Call;
use crate::reply::Reply;
use crate::rest::security::Op;
use crate::table::Api;

/// A caller who was not let in. One without any credential is no event: every browser begins so.
pub fn refused<E: Env>(
    env: &E,
    security: Option<&Security<E>>,
    head: &http::Head,
    peer: &str,
    reply: &Reply,
) {
    let Some(security) = security else { return };
    let audit = security.keeper.audit();
    let Some(given) = head.text("authorization").filter(|_| audit.is_on()) else { return };
    let scheme = given.split(' ').next().unwrap_or_default();
    let reason = reason(reply);
    let event = match reply.status {
        429 => "login_throttled",
        403 => "access_denied",
        _ => "login_failed",
    };
    let path = String::from_utf8_lossy(http::Target::new(head.target()).path()).into_owned();
    let facts = [
        ("reason", reason.as_str()),
        ("scheme", scheme),
        ("method", head.method_text()),
        ("path", path.as_str()),
        ("address", peer),
        ("agent", head.text("user-agent").unwrap_or_default()),
        ("request_id", head.text("x-opaque-id").unwrap_or_default()),
    ];
    audit.note(env.clock().unix_ms(), event, "failed", &facts);
}

/// The reason of a failure that is already written.
fn reason(reply: &Reply) -> String {
    let value = json::parse(&reply.body).unwrap_or_default();
    let reason = value.at(&["error", "reason"]).and_then(Value::as_str);
    // The path stands in a field of its own, without its query.
    let reason = reason.unwrap_or_default();
    reason.split(" for REST request").next().unwrap_or_default().to_owned()
}

/// A request that was let in: denied, or a change of security.
pub fn answered<E: Env>(call: &Call<'_, E>, peer: &str, answered: &Result<Reply>) {
    let (Caller::Known(known), Some(security)) = (call.caller, call.security) else { return };
    let audit = security.keeper.audit();
    if !audit.is_on() {
        return;
    }
    let (event, outcome, reason) = match answered {
        Err(error) if error.status == 403 && error.kind == "security_exception" => {
            ("access_denied", "failed", error.reason.as_str())
        }
        other => {
            let Api::Security(op) = call.route.api else { return };
            let Some(event) = changed(op) else { return };
            match other {
                Ok(reply) if reply.status < 400 => (event, "ok", ""),
                Ok(_) => (event, "failed", ""),
                Err(error) => (event, "failed", error.reason.as_str()),
            }
        }
    };
    let (api_key, client, grant) = match known.via() {
        Via::ApiKey(key) => (key.id.clone(), String::new(), String::new()),
        Via::Oauth(grant) => {
            (String::new(), grant.client.clone().unwrap_or_default(), grant.id.to_string())
        }
        Via::Token(grant) => (String::new(), String::new(), grant.id.to_string()),
        Via::Realm | Via::Service(_) => Default::default(),
    };
    let path = String::from_utf8_lossy(http::Target::new(call.head.target()).path()).into_owned();
    let facts = [
        ("reason", reason),
        ("user", known.name()),
        ("realm", known.realm().0),
        ("run_by", known.acting().map_or("", |acting| acting.name.as_str())),
        ("api_key", api_key.as_str()),
        ("client", client.as_str()),
        ("grant", grant.as_str()),
        ("method", call.head.method_text()),
        ("path", path.as_str()),
        ("address", peer),
        ("agent", call.head.text("user-agent").unwrap_or_default()),
        ("request_id", call.head.text("x-opaque-id").unwrap_or_default()),
    ];
    audit.note(call.now_ms(), event, outcome, &facts);
}

/// The event of a change; none of what only looks.
fn changed(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::ChangePassword => "password_changed",
        Op::PutUser => "user_changed",
        Op::DeleteUser => "user_deleted",
        Op::EnableUser => "user_enabled",
        Op::DisableUser => "user_disabled",
        Op::PutRole | Op::BulkPutRole => "role_changed",
        Op::DeleteRole | Op::BulkDeleteRole => "role_deleted",
        Op::PutRoleMapping => "role_mapping_changed",
        Op::DeleteRoleMapping => "role_mapping_deleted",
        Op::PutPrivileges => "privilege_changed",
        Op::DeletePrivileges => "privilege_deleted",
        Op::CreateApiKey | Op::CreateCrossClusterApiKey => "api_key_created",
        Op::GrantApiKey => "api_key_granted",
        Op::UpdateApiKey | Op::BulkUpdateApiKeys | Op::UpdateCrossClusterApiKey => {
            "api_key_changed"
        }
        Op::InvalidateApiKey => "api_key_invalidated",
        Op::GetToken => "token_issued",
        Op::InvalidateToken => "token_revoked",
        Op::CreateServiceToken => "service_token_created",
        Op::DeleteServiceToken => "service_token_deleted",
        Op::EnrollNode => "enrollment_node",
        Op::EnrollKibana => "enrollment_kibana",
        Op::Authenticate
        | Op::GetUser
        | Op::QueryUser
        | Op::GetRole
        | Op::QueryRole
        | Op::GetRoleMapping
        | Op::GetPrivileges
        | Op::BuiltinPrivileges
        | Op::HasPrivileges
        | Op::UserPrivileges
        | Op::GetApiKey
        | Op::QueryApiKeys
        | Op::GetServiceAccounts
        | Op::GetServiceCredentials
        | Op::ClearCache => return None,
    })
}
