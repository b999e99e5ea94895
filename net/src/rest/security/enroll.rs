//! `_security/enroll`: a node or the companion tool joins with a token that lives half an hour.
//!
//! The token's key may call the one path and nothing else; `create-enrollment-token` makes it. It ends with its
//! use, durably before the answer leaves; of several uses at once one is answered.

use authz::record::role::Descriptor;
use authz::{Command, Need, Outcome, Via};
use engine::{Error, Result};
use env::{Disk, Env, File};
use json::{Value, json};

use super::{Desk, allowed, now, service, told, value};
use crate::call::Call;
use crate::reply::Reply;

/// Name of the keys of enrollment tokens.
pub const NAME: &str = "enrollment_token";

/// How the certificate that the node made for itself is shown; it is not among those presented where the operator's
/// are, or where plain HTTP is spoken.
const OWN_CERTIFICATE: &str = "certs/http.crt";

/// A longer file is no certificate of ours.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// `GET /_security/enroll/kibana`.
pub(super) async fn kibana<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let authority = der(call, "http_ca.crt").await?;
    let name = format!("enroll-process-token-{}", now(call));
    let spent = consume(call, &desk).await?;
    let need = (!spent).then_some(Need::Action(call.route.privilege));
    let Some(token) = service::make(call, "elastic/kibana", &name, need).await? else {
        return Err(Error::new(409, "version_conflict_engine_exception", "try again"));
    };
    Ok(value(200, &json!({"token": {"name": name, "value": token}, "http_ca": authority})))
}

/// `GET /_security/enroll/node`.
pub(super) async fn node<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let info = &call.core.shared().config.info;
    let mut answer = json::Object::new();
    for (name, file) in [
        ("http_ca_key", "http_ca.key"),
        ("http_ca_cert", "http_ca.crt"),
        ("transport_ca_cert", "transport_ca.crt"),
        ("transport_key", "transport.key"),
        ("transport_cert", "transport.crt"),
    ] {
        answer.insert(name, der(call, file).await?);
    }
    answer.insert("nodes_addresses", vec![info.transport_address.as_str()]);
    consume(call, &desk).await?;
    Ok(value(200, &Value::Object(answer)))
}

/// Ends the key of an enrollment token; false where the caller came by another credential, which stays.
///
/// # Errors
/// The 401 for a token that another request used meanwhile.
async fn consume<E: Env>(call: &Call<'_, E>, desk: &Desk<'_, E>) -> Result<bool> {
    let Via::ApiKey(key) = desk.principal.via() else { return Ok(false) };
    // A key that may do more was made for more.
    let alone =
        Descriptor { cluster: vec![call.route.privilege.to_owned()], ..Descriptor::default() };
    if !matches!(key.descriptors.as_slice(), [role] if role.descriptor == alone) {
        return Ok(false);
    }
    let command = Command::InvalidateKeys { ids: vec![key.id.clone()], now: now(call) };
    match desk.ask(call, command).await.map_err(told)? {
        Outcome::Each(ended) if ended == [true] => Ok(true),
        _ => Err(told(authz::Error::Lapsed)),
    }
}

/// The DER of a PEM file below `certs`, in base64: the lines between its first pair of bars.
async fn der<E: Env>(call: &Call<'_, E>, name: &str) -> Result<String> {
    let config = &call.core.shared().config;
    let path = config.data.join("certs").join(name);
    let missing = || {
        Error::illegal_argument(
            "Unable to enroll. Enrollment needs the certificates that the node made at its first start: they are not \
             there, settings name a certificate, or plain HTTP is spoken",
        )
    };
    // Those of the first start may lie there still, and sign nothing any more.
    if config.info.certificates.iter().all(|file| file.shown != OWN_CERTIFICATE) {
        return Err(missing());
    }
    let file = call.core.env().disk().open(&path).await.map_err(|_| missing())?;
    let len = file.len().await.map_err(|_| missing())?;
    if len > FILE_BYTES_MAX {
        return Err(missing());
    }
    let bytes = file.read_at(0, len as usize).await.map_err(|_| missing())?;
    let text = std::str::from_utf8(&bytes).map_err(|_| missing())?;
    let mut lines = text.lines().skip_while(|line| !line.starts_with("-----BEGIN"));
    lines.next().ok_or_else(missing)?;
    Ok(lines.take_while(|line| !line.starts_with("-----END")).collect())
}
