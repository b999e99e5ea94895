//! Who am I, and a new password.

use authz::Secret;
use engine::{Error, Result};
use env::Env;
use json::{Value, Writer};

use crate::admit::Caller;
use crate::call::Call;
use crate::reply::Reply;

/// `GET /_security/_authenticate`.
pub(super) fn authenticate<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let Caller::Known(principal) = call.caller else { return Err(off()) };
    let user = principal.user();
    let (realm, kind) = user.realm.names();
    Ok(call.json(200, |writer| {
        writer.begin_object().field_str("username", &user.name).key("roles").begin_array();
        for role in &user.roles {
            writer.str(role);
        }
        writer.end_array().key("full_name");
        text_or_null(writer, user.full_name.as_deref());
        writer.key("email");
        text_or_null(writer, user.email.as_deref());
        writer.key("metadata").value(&Value::Object(user.metadata.clone()));
        writer.field_bool("enabled", user.enabled);
        for key in ["authentication_realm", "lookup_realm"] {
            writer.key(key).begin_object();
            writer.field_str("name", realm).field_str("type", kind).end_object();
        }
        writer.field_str("authentication_type", "realm").end_object();
    }))
}

fn text_or_null(writer: &mut Writer<'_>, text: Option<&str>) {
    match text {
        Some(text) => writer.str(text),
        None => writer.null(),
    };
}

/// `PUT|POST /_security/user/_password`, `/_security/user/{username}/_password`.
pub(super) async fn change_password<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let (Caller::Known(principal), Some(security)) = (call.caller, call.security) else {
        return Err(off());
    };
    let name = call.path.get("username").unwrap_or(principal.name());
    // Everybody may change the own password.
    if name != principal.name() {
        call.gate.cluster("cluster:admin/xpack/security/user/change_password")?;
    }
    let body = call.required_map()?;
    if let Some(unknown) =
        body.as_object().and_then(|object| object.keys().find(|key| *key != "password"))
    {
        return Err(Error::new(
            400,
            "x_content_parse_exception",
            format!("unexpected field [{unknown}]"),
        ));
    }
    let Some(password) = body.get("password").and_then(Value::as_str) else {
        return Err(Error::validation(&["password is missing"]));
    };
    let password = Secret::new(password.to_owned());
    match security.keeper.set_password(call.core.env(), name, password, None).await {
        Ok(()) => Ok(Reply::json(200, b"{}".to_vec())),
        Err(error) => Err(told(error)),
    }
}

fn told(error: authz::Error) -> Error {
    match error {
        authz::Error::UnknownUser { .. } => {
            let reason = "user must exist in order to change password";
            let mut told = Error::validation(&[reason]);
            told.status = 404;
            told
        }
        authz::Error::Refused { reason } => Error::validation(&[reason]),
        authz::Error::Busy => Error::rejected("too many passwords wait to be hashed"),
        other => Error::new(503, "status_exception", other.to_string()),
    }
}

/// The answer where security is off: there is no such thing.
fn off() -> Error {
    Error::illegal_argument("security is not enabled on this node")
}
