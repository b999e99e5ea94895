//! `_security/service`: accounts of services, and their tokens.

use authz::authenticate::bearer;
use authz::principal::service_role;
use authz::record::key::{SERVICE_ACCOUNTS, Salted, ServiceToken};
use authz::{Command, Need, Outcome};
use engine::{Error, Result};
use env::Env;
use json::{Object, Value, json};

use super::{allowed, descriptor, nodes, now, random, random_text, told, value};
use crate::call::Call;
use crate::reply::Reply;

/// The account that a path names.
fn account<E: Env>(call: &Call<'_, E>) -> Result<String> {
    let name = format!("{}/{}", call.segment("namespace"), call.segment("service"));
    if SERVICE_ACCOUNTS.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(Error::illegal_argument(format!("service account [{name}] does not exist")))
}

/// `GET /_security/service[/{namespace}[/{service}]]`.
pub(super) fn accounts<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    allowed(call)?;
    let (namespace, service) = (call.path.get("namespace"), call.path.get("service"));
    let mut shown = Object::new();
    for account in SERVICE_ACCOUNTS {
        let Some((space, name)) = account.split_once('/') else { continue };
        if namespace.is_none_or(|wanted| wanted == space)
            && service.is_none_or(|wanted| wanted == name)
        {
            let role = descriptor::show(&service_role(account));
            shown.insert(*account, json!({"role_descriptor": role}));
        }
    }
    Ok(value(200, &Value::Object(shown)))
}

/// `GET /_security/service/{namespace}/{service}/credential`.
pub(super) fn credentials<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed(call)?.state();
    let account = account(call)?;
    let tokens: Object = state
        .service_tokens
        .values()
        .filter(|token| token.account == account)
        .map(|token| (token.name.as_str(), Value::object()))
        .collect();
    let answer = json!({
        "service_account": (account.as_str()),
        "count": (tokens.len()),
        "tokens": (Value::Object(tokens)),
        "nodes_credentials": {
            "_nodes": (nodes(call).get("_nodes").cloned().unwrap_or_default()),
            "file_tokens": {},
        },
    });
    Ok(value(200, &answer))
}

/// `PUT|POST /_security/service/{namespace}/{service}/credential/token[/{name}]`.
pub(super) async fn create<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    allowed(call)?;
    let account = account(call)?;
    let name = match call.path.get("name") {
        Some(name) => name.to_owned(),
        None => format!("token_{}", random_text::<E, 15>(call)),
    };
    call.told.borrow_mut().fact("target_token", format!("{account}/{name}"));
    let need = Need::Action(call.route.privilege);
    let token = make(call, &account, &name, Some(need)).await?;
    let Some(token) = token else {
        return Err(Error::new(
            409,
            "version_conflict_engine_exception",
            format!(
                "[service_account_token-{account}/{name}]: version conflict, document already exists"
            ),
        ));
    };
    Ok(value(200, &json!({"created": true, "token": {"name": name, "value": token}})))
}

/// Makes a token; `None` where the name is taken. `need` is the right that the caller must hold then; none
/// where it was spent on this.
pub(super) async fn make<E: Env>(
    call: &Call<'_, E>,
    account: &str,
    name: &str,
    need: Option<Need>,
) -> Result<Option<String>> {
    let is_name = (1..=256).contains(&name.len())
        && !name.starts_with('_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if !is_name {
        return Err(Error::validation(&[
            "service account token name must have at least 1 character and at most 256 characters \
             that are alphanumeric (A-Z, a-z, 0-9) or hyphen (-) or underscore (_). It must not \
             begin with an underscore (_).",
        ]));
    }
    let desk = super::desk(call)?;
    let secret = random_text::<E, 24>(call);
    let token = ServiceToken {
        account: account.to_owned(),
        name: name.to_owned(),
        secret: Salted::new(random::<E, 32>(call), secret.as_bytes()),
        creation: now(call),
    };
    let by = need.and_then(|_| desk.principal.proof());
    let command = Command::PutServiceToken { token, by };
    let outcome = desk.ask_for(call, need, command).await.map_err(told)?;
    let is_made = outcome == Outcome::Created;
    Ok(is_made.then(|| bearer::service_token(account, name, &secret)))
}

/// `DELETE /_security/service/{namespace}/{service}/credential/token/{name}`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let account = format!("{}/{}", call.segment("namespace"), call.segment("service"));
    let command = Command::DeleteServiceToken { account, name: call.segment("name").to_owned() };
    let found = desk.ask(call, command).await.map_err(told)? == Outcome::Changed;
    Ok(value(if found { 200 } else { 404 }, &json!({"found": found})))
}
