//! `_security/role` and `_security/role_mapping`.

use std::sync::Arc;

use authz::Command;
use authz::command::Outcome;
use authz::pattern::{Effort, Pattern};
use authz::record::builtin;
use authz::record::key::RoleMapping;
use authz::record::role::Role;
use engine::ops::script::Script;
use engine::{Error, Result};
use env::Env;
use json::{Object, Value, json};

use super::body::{Body, check_name};
use super::{allowed, descriptor, named, names, query as queries, told, value};
use crate::call::Call;
use crate::reply::Reply;

/// Roles in one bulk request.
const BULK_MAX: usize = 1000;

fn reserved(name: &str, what: &str) -> Error {
    Error::illegal_argument(format!("role [{name}] is reserved and cannot be {what}"))
}

fn is_reserved(name: &str) -> bool {
    builtin::ROLES.contains(&name)
}

/// `PUT|POST /_security/role/{name}`.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let name = call.segment("name");
    check_name("Role", name)?;
    let body = call.required_map().await?;
    let parsed = descriptor::parse(&body, name, &Effort::default())?;
    descriptor::warn(call.gate, &parsed);
    if is_reserved(name) {
        return Err(reserved(name, "modified"));
    }
    let roles = vec![Arc::new(Role::new(name, parsed))];
    let outcome = desk.ask(call, Command::PutRoles { roles }).await.map_err(told)?;
    let created = outcome == Outcome::Each(vec![true]);
    Ok(value(200, &json!({"role": {"created": created}})))
}

/// `GET /_security/role[/{name}]`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed(call)?.state();
    let wanted = names(call, "name");
    let found: Vec<Arc<Role>> = match wanted.is_empty() {
        true => {
            let built_in = builtin::ROLES.iter().filter_map(|name| builtin::role(name));
            built_in.chain(state.roles.values().cloned()).collect()
        }
        false => wanted.iter().filter_map(|name| state.role(name)).collect(),
    };
    let shown = found.iter().map(|role| (role.name.as_str(), || descriptor::show(role)));
    named(call, "roles", wanted.is_empty(), shown).await
}

/// `DELETE /_security/role/{name}`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let name = call.segment("name");
    if is_reserved(name) {
        return Err(reserved(name, "deleted"));
    }
    let names = vec![name.to_owned()];
    let outcome = desk.ask(call, Command::DeleteRoles { names }).await.map_err(told)?;
    let found = outcome == Outcome::Each(vec![true]);
    Ok(value(if found { 200 } else { 404 }, &json!({"found": found})))
}

/// What became of each of several roles.
fn sorted_out(lists: [(&str, Vec<String>); 3], failures: Object) -> Value {
    let mut answer = Object::new();
    for (word, names) in lists {
        if !names.is_empty() {
            answer.insert(word, names);
        }
    }
    if !failures.is_empty() {
        answer.insert(
            "errors",
            json!({"count": (failures.len()), "details": (Value::Object(failures))}),
        );
    }
    Value::Object(answer)
}

fn failure(error: &Error) -> Value {
    json!({"type": (error.kind.as_ref()), "reason": (error.reason.as_str())})
}

/// `POST /_security/role`.
pub(super) async fn bulk_put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let body = call.required_map().await?;
    let body = Body::new(&body, "bulk put roles request", &["roles"])?;
    let Some(given) = body.object("roles")? else {
        return Err(Error::validation(&["roles are missing"]));
    };
    if given.len() > BULK_MAX {
        return Err(Error::illegal_argument(format!("more than {BULK_MAX} roles in one request")));
    }
    let (mut roles, mut failures) = (Vec::new(), Object::new());
    let state = desk.state();
    let (mut same, effort) = (Vec::new(), Effort::default());
    for (name, given) in given.iter() {
        let parsed =
            check_name("Role", name).and_then(|()| descriptor::parse(given, name, &effort));
        let parsed = parsed.and_then(|parsed| {
            if is_reserved(name) { Err(reserved(name, "modified")) } else { Ok(parsed) }
        });
        match parsed {
            Ok(parsed) => {
                descriptor::warn(call.gate, &parsed);
                let role = Arc::new(Role::new(name, parsed));
                if state.roles.get(name) == Some(&role) {
                    same.push(name.to_owned());
                } else {
                    roles.push(role);
                }
            }
            Err(error) => drop(failures.insert(name, failure(&error))),
        }
    }
    let put: Vec<String> = roles.iter().map(|role| role.name.clone()).collect();
    call.told.borrow_mut().names("target_role", &put);
    let (mut created, mut updated) = (Vec::new(), Vec::new());
    if !roles.is_empty() {
        let outcome = desk.ask(call, Command::PutRoles { roles }).await.map_err(told)?;
        let Outcome::Each(new) = outcome else { return Err(Error::internal("no roles were put")) };
        for (name, is_new) in put.into_iter().zip(new) {
            if is_new { created.push(name) } else { updated.push(name) }
        }
    }
    let lists = [("created", created), ("updated", updated), ("noop", same)];
    Ok(value(200, &sorted_out(lists, failures)))
}

/// `DELETE /_security/role`.
pub(super) async fn bulk_delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let body = call.required_map().await?;
    let body = Body::new(&body, "bulk delete roles request", &["names"])?;
    let Some(given) = body.texts("names")?.filter(|names| !names.is_empty()) else {
        return Err(Error::validation(&["names are missing"]));
    };
    let mut failures = Object::new();
    let (bad, names): (Vec<_>, Vec<_>) = given.into_iter().partition(|name| is_reserved(name));
    for name in bad {
        let error = reserved(&name, "deleted");
        failures.insert(name, failure(&error));
    }
    call.told.borrow_mut().names("target_role", &names);
    let command = Command::DeleteRoles { names: names.clone() };
    let outcome = desk.ask(call, command).await.map_err(told)?;
    let Outcome::Each(found) = outcome else { return Err(Error::internal("no roles were put")) };
    let (mut deleted, mut missing) = (Vec::new(), Vec::new());
    for (name, found) in names.into_iter().zip(found) {
        if found { deleted.push(name) } else { missing.push(name) }
    }
    let lists = [("deleted", deleted), ("not_found", missing), ("", Vec::new())];
    Ok(value(200, &sorted_out(lists, failures)))
}

/// `GET|POST /_security/_query/role`.
pub(super) async fn query<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed(call)?.state();
    const FIELDS: queries::Fields = queries::Fields(&[
        ("name", queries::Kind::Word),
        ("description", queries::Kind::Text),
        ("metadata", queries::Kind::Object),
        ("applications", queries::Kind::Object),
    ]);
    let roles: Vec<Arc<Role>> = state.roles.values().cloned().collect();
    queries::answer(call, "roles", FIELDS, (Queried, roles)).await
}

/// How roles are looked at and shown.
struct Queried;

impl queries::Records for Queried {
    type One = Arc<Role>;

    fn id<'r>(&self, role: &'r Arc<Role>) -> &'r str {
        &role.name
    }

    fn data(&self, role: &Arc<Role>) -> Value {
        self.shown(role)
    }

    fn shown(&self, role: &Arc<Role>) -> Value {
        let mut shown = Object::new();
        shown.insert("name", role.name.as_str());
        if let Value::Object(more) = descriptor::show(role) {
            for (key, value) in more {
                shown.insert(key, value);
            }
        }
        Value::Object(shown)
    }
}

const MAPPING: &[&str] = &["roles", "role_templates", "enabled", "rules", "metadata"];

/// `PUT|POST /_security/role_mapping/{name}`.
pub(super) async fn put_mapping<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let name = call.segment("name");
    let given = call.required_map().await?;
    let body = Body::new(&given, format!("role-mapping [{name}]"), MAPPING)?;
    let roles = body.texts("roles")?.unwrap_or_default();
    let templates = body.list("role_templates")?.unwrap_or_default();
    let mut problems = Vec::new();
    match (roles.is_empty(), templates.is_empty()) {
        (true, true) => {
            problems.push("role-mapping roles or role-templates are missing".to_owned())
        }
        (false, false) => {
            problems.push("role-mapping cannot have both roles and role-templates".to_owned())
        }
        _ => {}
    }
    for template in templates {
        check_template(call, template).await?;
    }
    match body.value("rules") {
        None => problems.push("role-mapping rules are missing".to_owned()),
        Some(rules) => check_rules(rules, "rules", 20)?,
    }
    let metadata = body.object("metadata")?.cloned().unwrap_or_default();
    if metadata.keys().any(|key| key.starts_with('_')) {
        problems.push("metadata keys may not start with [_]".to_owned());
    }
    if !problems.is_empty() {
        return Err(Error::validation(&problems));
    }
    let mut kept = Object::new();
    kept.insert("enabled", body.flag("enabled")?.unwrap_or(true));
    if templates.is_empty() {
        kept.insert("roles", roles);
    } else {
        kept.insert("role_templates", templates.to_vec());
    }
    kept.insert("rules", body.value("rules").cloned().unwrap_or_default());
    kept.insert("metadata", Value::Object(metadata));
    let mapping = RoleMapping { name: name.to_owned(), body: kept };
    let outcome = desk.ask(call, Command::PutMapping { mapping }).await.map_err(told)?;
    let created = outcome == Outcome::Created;
    Ok(value(200, &json!({"role_mapping": {"created": created}})))
}

/// A role template is a `template` of a script, whose output has a `format`.
async fn check_template<E: Env>(call: &Call<'_, E>, given: &Value) -> Result<()> {
    let body = Body::new(given, "role-mapping-template", &["template", "format"])?;
    let failed = |why: String| Error::parse(format!("[role-mapping-template] {why}"));
    let bad = |why: String| Err(failed(why));
    match body.text("format")? {
        None | Some("string" | "json") => {}
        Some(other) => return bad(format!("unsupported format [{other}]")),
    }
    let Some(template) = body.value("template") else {
        return bad("Required [template]".to_owned());
    };
    // A text is one of JSON: that of the script.
    let read = match template {
        Value::String(text) => json::parse(text.as_bytes())
            .map_err(|error| failed(format!("failed to parse field [template]: {error}")))?,
        _ => template.clone(),
    };
    match read.get("lang").and_then(Value::as_str) {
        None | Some("mustache") => {}
        Some(other) => return bad(format!("script_lang not supported [{other}]")),
    }
    let script = Script { lang: "mustache".to_owned(), ..Script::parse(&read)? };
    // That it can be rendered is all that is known before somebody signs in.
    let rendered = call.core.render_template(&Arc::new(script)).await;
    rendered.map(drop).map_err(|error| Error::illegal_argument(error.reason.clone()))
}

/// Rules are `all`, `any`, `except` and `field`, one each; `except` stands among those of `all` alone.
fn check_rules(rules: &Value, within: &str, depth: usize) -> Result<()> {
    let bad = |why: String| Err(Error::parse(format!("failed to parse rules expression. {why}")));
    let Some(depth) = depth.checked_sub(1) else {
        return bad("it is nested too deeply".to_owned());
    };
    let (kind, body) = only_member(rules, within)?;
    match (kind, body) {
        ("all" | "any", Value::Array(items)) => {
            items.iter().try_for_each(|item| check_rules(item, kind, depth))
        }
        ("all" | "any", other) => {
            bad(format!("expected [{kind}] to be an array but found [{}] instead", other.token()))
        }
        ("except", one) if within == "all" => check_rules(one, kind, depth),
        ("except", _) => bad(format!("field [except] is not allowed within [{within}]")),
        ("field", body) => {
            let (_, values) = only_member(body, kind)?;
            let values = values.as_array().unwrap_or(std::slice::from_ref(values));
            values.iter().try_for_each(|one| match one {
                Value::Array(_) | Value::Object(_) => {
                    bad(format!("expected a field value but found [{}] instead", one.token()))
                }
                Value::String(text) => Pattern::new(text).map(drop).or_else(bad),
                _ => Ok(()),
            })
        }
        _ => bad(format!("field [{kind}] is not recognised in object [{within}]")),
    }
}

/// The one member of an object of rules.
fn only_member<'a>(value: &'a Value, name: &str) -> Result<(&'a str, &'a Value)> {
    let bad = |why: String| Err(Error::parse(format!("failed to parse rules expression. {why}")));
    let Some(object) = value.as_object() else {
        return bad(format!(
            "expected [{name}] to be an object but found [{}] instead",
            value.token()
        ));
    };
    let mut members = object.iter();
    match (members.next(), members.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => bad(format!("object [{name}] does not contain any fields")),
        (Some(_), Some(_)) => bad(format!("object [{name}] contains multiple fields")),
    }
}

/// A mapping as it is shown: its templates are texts of JSON, each with its format.
fn shown_mapping(kept: &Object) -> Value {
    let mut shown = kept.clone();
    if let Some(Value::Array(templates)) = shown.get_mut("role_templates") {
        for template in templates.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(script) = template.get_mut("template")
                && script.as_str().is_none()
            {
                *script = json::to_string(script).into();
            }
            template.get_or_insert_with("format", || "string".into());
        }
    }
    Value::Object(shown)
}

/// `GET /_security/role_mapping[/{name}]`.
pub(super) async fn get_mapping<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed(call)?.state();
    let wanted = names(call, "name");
    let is_wanted =
        |mapping: &&Arc<RoleMapping>| wanted.is_empty() || wanted.contains(&&*mapping.name);
    let shown = state.mappings.values().filter(is_wanted).map(|mapping| {
        let show = || shown_mapping(&mapping.body);
        (mapping.name.as_str(), show)
    });
    named(call, "role_mappings", wanted.is_empty(), shown).await
}

/// `DELETE /_security/role_mapping/{name}`.
pub(super) async fn delete_mapping<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed(call)?;
    let command = Command::DeleteMapping { name: call.segment("name").to_owned() };
    let found = desk.ask(call, command).await.map_err(told)? == Outcome::Changed;
    Ok(value(if found { 200 } else { 404 }, &json!({"found": found})))
}
