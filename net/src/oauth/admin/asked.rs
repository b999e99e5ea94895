//! A client as an administrator asks for it: RFC 7591's fields, and ours, each refused by its name.

use authz::oauth::details::INDEX_ACCESS;
use authz::pages::apps::{Fields, Refused};
use authz::pages::language::Language;
use authz::record::client::{ApplicationType, Client, Profile, Status};
use engine::{Error, Result};
use env::Env;
use json::Value;

use super::super::profile::Callbacks;
use super::super::token::{CLIENT_CREDENTIALS, DEVICE, GRANT_TYPES};
use super::super::visit::Visit;
use super::super::{apps, profile, redirect, register};

/// Fields of a client, as RFC 7591 names them, and ours.
const FIELDS: &[&str] = &[
    "allow_insecure_redirect",
    "application_type",
    "authorization_details_types",
    "client_name",
    "client_uri",
    "contacts",
    "default_scope",
    "description",
    "grant_types",
    "owner",
    "policy_uri",
    "redirect_uris",
    "require_pkce",
    "require_pushed_authorization_requests",
    "response_types",
    "scope",
    "scope_reason",
    "service_account",
    "software_id",
    "software_version",
    "status",
    "token_endpoint_auth_method",
    "tos_uri",
    "web_origins",
    "logo_uri",
];

/// Reads a client, which has no id and no secret yet.
///
/// # Errors
/// `illegal_argument_exception`, which names the field.
pub fn read<E: Env>(visit: &Visit<'_, E>, value: &Value) -> Result<Client> {
    let bad = |field: &str, why: &str| Error::illegal_argument(format!("[{field}] {why}"));
    if let Some(unknown) =
        value.as_object().and_then(|object| object.keys().find(|key| !FIELDS.contains(key)))
    {
        return Err(bad(unknown, "is not known"));
    }
    let text = |field: &'static str| match value.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(bad(field, "must be a text")),
    };
    let truth = |field: &'static str| match value.get(field) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(truth)) => Ok(*truth),
        Some(_) => Err(bad(field, "must be true or false")),
    };
    let texts = |field: &'static str| -> Result<Option<Vec<String>>> {
        match value.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(list)) => list
                .iter()
                .map(|one| one.as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
                .map(Some)
                .ok_or_else(|| bad(field, "must be a list of texts")),
            Some(_) => Err(bad(field, "must be a list of texts")),
        }
    };
    let application_type = text("application_type")?;
    let auth_method = match text("token_endpoint_auth_method")? {
        None => "client_secret_basic",
        Some(method @ ("client_secret_basic" | "client_secret_post" | "none")) => method,
        Some(_) => {
            return Err(bad(
                "token_endpoint_auth_method",
                "must be client_secret_basic, client_secret_post or none",
            ));
        }
    };
    let grant_types = texts("grant_types")?;
    let grants_code = grant_types
        .as_ref()
        .is_none_or(|kinds| kinds.iter().any(|kind| kind == "authorization_code"));
    if let Some(types) = texts("response_types")?
        && !register::is_offered(&types, grants_code)
    {
        return Err(bad("response_types", "must be [code] where the code grant is used"));
    }
    let redirect_uris = texts("redirect_uris")?.unwrap_or_default();
    let grants_itself = grant_types.iter().flatten().any(|kind| kind == CLIENT_CREDENTIALS);
    if grants_itself && auth_method == "none" {
        return Err(bad(
            "grant_types",
            "has client_credentials, which need a client that keeps a secret",
        ));
    }
    let usual = if grants_itself { ApplicationType::Service } else { ApplicationType::Web };
    let application_type = application_type.unwrap_or(usual.as_str());
    if grants_itself && application_type != ApplicationType::Service.as_str() {
        return Err(bad(
            "grant_types",
            "has client_credentials, which are for the [application_type] service alone",
        ));
    }
    let fields = Fields {
        application_type: application_type.to_owned(),
        client_name: text("client_name")?.unwrap_or_default().to_owned(),
        redirect_uris: redirect_uris.join("\n"),
        client_uri: text("client_uri")?.unwrap_or_default().to_owned(),
        description: text("description")?.unwrap_or_default().to_owned(),
        policy_uri: text("policy_uri")?.unwrap_or_default().to_owned(),
        tos_uri: text("tos_uri")?.unwrap_or_default().to_owned(),
        contacts: texts("contacts")?.unwrap_or_default().join(" "),
        scope: text("scope")?.unwrap_or_default().to_owned(),
        scope_reason: text("scope_reason")?.unwrap_or_default().to_owned(),
        public: auth_method == "none",
        require_pkce: truth("require_pkce")?,
    };
    let insecure = truth("allow_insecure_redirect")?;
    let callbacks = if grants_code { Callbacks::Wanted } else { Callbacks::Unused };
    let checked = check(visit, &fields, callbacks, insecure)?;
    let web_origins = texts("web_origins")?.unwrap_or_default();
    profile::check_origins(&web_origins).map_err(refused)?;
    let offered = |kind: &String| {
        GRANT_TYPES.contains(&kind.as_str()) && (kind != DEVICE || visit.settings.device)
    };
    let grant_types = match grant_types {
        None => apps::grant_types(&checked).into_iter().filter(offered).collect(),
        // RFC 7591 has no such client: one that is left out means the code grant.
        Some(kinds) if kinds.is_empty() => return Err(bad("grant_types", "names none")),
        Some(kinds) if kinds.iter().all(offered) => kinds,
        Some(_) => return Err(bad("grant_types", "has one that is not offered")),
    };
    let default_scope = profile::scopes(text("default_scope")?.unwrap_or_default())
        .ok_or_else(|| bad("default_scope", "is malformed"))?;
    let ceiling = authz::oauth::scope::stored(&checked.scopes);
    if !authz::oauth::scope::stored(&default_scope).iter().all(|one| {
        *one == authz::oauth::scope::Scope::Own || ceiling.iter().any(|own| own.holds(one))
    }) {
        return Err(bad("default_scope", "must lie within [scope]"));
    }
    let status = match text("status")? {
        None | Some("approved") => Status::Approved,
        Some("pending") => Status::Pending,
        Some(_) => return Err(bad("status", "must be approved or pending")),
    };
    let owner = text("owner")?.map(str::to_owned);
    let service_account = text("service_account")?.map(str::to_owned);
    if service_account.is_some() && checked.application_type != ApplicationType::Service {
        return Err(bad(
            "service_account",
            "is for a client whose [application_type] is service: another acts for nobody of its own",
        ));
    }
    let state = visit.state();
    for (field, name) in [("owner", &owner), ("service_account", &service_account)] {
        if name.as_ref().is_some_and(|name| state.user(name).is_none()) {
            return Err(bad(field, "names a user that does not exist"));
        }
    }
    let details_types = texts("authorization_details_types")?.unwrap_or_default();
    if details_types.iter().any(|kind| kind != INDEX_ACCESS) {
        return Err(bad("authorization_details_types", "has one that is not known"));
    }
    Ok(Client {
        status,
        owner,
        auth_method: auth_method.to_owned(),
        grant_types,
        default_scope,
        allow_insecure_redirect: insecure,
        require_par: truth("require_pushed_authorization_requests")?,
        web_origins,
        details_types,
        service_account,
        ..Client::new(apps::reference(visit), checked, visit.now())
    })
}

/// The account that a body names, and nothing else; none where there is no body, or none is named.
///
/// # Errors
/// `illegal_argument_exception` for another field, or what is no text; a body that is no JSON object.
pub fn account(body: &[u8]) -> Result<Option<String>> {
    const FIELD: &str = "service_account";
    if body.is_empty() {
        return Ok(None);
    }
    let value = json::parse(body).ok();
    let object = value.as_ref().and_then(Value::as_object);
    let object = object.ok_or_else(|| Error::parse("the request body must be a JSON object"))?;
    if let Some(unknown) = object.keys().find(|key| *key != FIELD) {
        return Err(Error::illegal_argument(format!("[{unknown}] is not known")));
    }
    match object.get(FIELD) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(_) => Err(Error::illegal_argument(format!("[{FIELD}] must be a text"))),
    }
}

/// The rules of the form; a client without the code grant needs no callback address, and what a
/// reviewer would set is set by whoever calls.
fn check<E: Env>(
    visit: &Visit<'_, E>,
    fields: &Fields,
    callbacks: Callbacks,
    insecure: bool,
) -> Result<Profile> {
    let origin = visit.settings.origin();
    let checked = profile::check(fields, None, &origin, callbacks).map_err(refused)?;
    if !insecure && checked.redirect_uris.iter().any(|uri| redirect::is_insecure(uri)) {
        return Err(Error::illegal_argument(
            "[redirect_uris] plain HTTP needs [allow_insecure_redirect]",
        ));
    }
    Ok(checked)
}

fn refused(refused: Refused) -> Error {
    // What the form calls so is told here by the way the client says who it is.
    let field = match refused.field {
        "confidential" => "token_endpoint_auth_method",
        field => field,
    };
    Error::illegal_argument(format!("[{field}] {}", refused.why(Language::English)))
}
