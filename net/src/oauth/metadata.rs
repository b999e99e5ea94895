//! What the server says of itself: RFC 8414 and RFC 9728. Only what is switched on is said, and every
//! address follows from the configured issuer, never from the request.

use authz::pages::language::Language;
use env::Env;
use json::Writer;

use super::settings::Registration;
use super::token::{DEVICE, GRANT_TYPES};
use super::visit::Visit;
use crate::reply::Reply;

/// Ways in which clients say who they are.
const AUTH_METHODS: &[&str] = &["client_secret_basic", "client_secret_post", "none"];

/// Fixed scopes, and one example of each kind of pattern.
const SCOPES: &[&str] = &[
    "self",
    "cluster:monitor",
    "offline_access",
    "index:*:read",
    "index:*:create",
    "index:*:write",
    "index:*:manage",
    "index:*:all",
];

/// `GET /.well-known/oauth-authorization-server`.
pub fn server<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let settings = visit.settings;
    let issuer = settings.issuer.as_str();
    let at = |path: &str| format!("{issuer}{path}");
    let mut body = Vec::with_capacity(2048);
    let mut writer = Writer::new(&mut body);
    writer.begin_object().field_str("issuer", issuer);
    writer.field_str("authorization_endpoint", &at("/authorize"));
    writer.field_str("token_endpoint", &at("/token"));
    if settings.registration != Registration::Closed {
        writer.field_str("registration_endpoint", &at("/register"));
    }
    list(&mut writer, "scopes_supported", SCOPES);
    list(&mut writer, "response_types_supported", &["code"]);
    list(&mut writer, "response_modes_supported", &["query"]);
    let grants: Vec<&str> =
        GRANT_TYPES.iter().copied().filter(|kind| *kind != DEVICE || settings.device).collect();
    list(&mut writer, "grant_types_supported", &grants);
    list(&mut writer, "token_endpoint_auth_methods_supported", AUTH_METHODS);
    writer.field_str("revocation_endpoint", &at("/revoke"));
    list(&mut writer, "revocation_endpoint_auth_methods_supported", AUTH_METHODS);
    writer.field_str("introspection_endpoint", &at("/introspect"));
    list(&mut writer, "introspection_endpoint_auth_methods_supported", &AUTH_METHODS[..2]);
    list(&mut writer, "code_challenge_methods_supported", &["S256"]);
    writer.field_bool("authorization_response_iss_parameter_supported", true);
    writer.field_str("pushed_authorization_request_endpoint", &at("/par"));
    writer.field_bool("require_pushed_authorization_requests", settings.par_required);
    list(&mut writer, "authorization_details_types_supported", &["index_access"]);
    if settings.device {
        writer.field_str("device_authorization_endpoint", &at("/device_authorization"));
    }
    list(&mut writer, "protected_resources", &[settings.resource()]);
    list(&mut writer, "ui_locales_supported", &Language::ALL.map(Language::tag));
    writer.end_object();
    public(body)
}

/// `GET /.well-known/oauth-protected-resource`.
pub fn resource<E: Env>(visit: &Visit<'_, E>) -> Reply {
    let issuer = visit.settings.issuer.as_str();
    let mut body = Vec::with_capacity(512);
    let mut writer = Writer::new(&mut body);
    writer.begin_object().field_str("resource", visit.settings.resource());
    list(&mut writer, "authorization_servers", &[issuer]);
    list(&mut writer, "scopes_supported", SCOPES);
    list(&mut writer, "bearer_methods_supported", &["header"]);
    writer.field_str("resource_name", "Corelode");
    list(&mut writer, "authorization_details_types_supported", &["index_access"]);
    writer.end_object();
    public(body)
}

fn list(writer: &mut Writer<'_>, name: &str, values: &[&str]) {
    writer.key(name).begin_array();
    for value in values {
        writer.str(value);
    }
    writer.end_array();
}

fn public(body: Vec<u8>) -> Reply {
    Reply::json(200, body)
        .field("Cache-Control", "public, max-age=3600")
        .field("Access-Control-Allow-Origin", "*")
}
