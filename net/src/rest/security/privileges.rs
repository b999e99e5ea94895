//! `_security/privilege`: privileges of applications, and those that are built in.

use std::sync::Arc;

use authz::Command;
use authz::command::Outcome;
use authz::privilege::{self, Kind};
use authz::record::key::AppPrivilege;
use engine::{Error, Result};
use env::Env;
use json::{Object, Value, Writer, json};

use super::body::Body;
use super::{allowed, allowed_for, application, names, told, value};
use crate::call::Call;
use crate::reply::Reply;
use crate::rest::long_answer::Growing;

/// `PUT|POST /_security/privilege`.
pub(super) async fn put<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    // Who may not is not told what is wrong with a body.
    let body = call.required_map().await;
    let members = body.iter().filter_map(Value::as_object);
    let desk = allowed_for(call, &members.flat_map(Object::keys).collect::<Vec<_>>())?;
    let body = body?;
    let (mut privileges, mut problems) = (Vec::new(), Vec::new());
    for (application, given) in body.as_object().into_iter().flat_map(Object::iter) {
        let malformed = || Error::parse("expected the privileges of an application in an object");
        for (name, given) in given.as_object().ok_or_else(malformed)?.iter() {
            let what = format!("privilege [{name}]");
            let fields = ["application", "name", "actions", "metadata"];
            let body = Body::new(given, what, &fields)?;
            let same = |field: &str, wanted: &str| {
                body.text(field).map(|found| found.is_none_or(|found| found == wanted))
            };
            if !same("application", application)? || !same("name", name)? {
                return Err(Error::illegal_argument(format!(
                    "privilege [{name}] names another application or privilege than its place"
                )));
            }
            let actions = body.texts("actions")?.unwrap_or_default();
            check(application, name, &actions, &mut problems);
            let metadata = body.object("metadata")?.cloned().unwrap_or_default();
            if metadata.keys().any(|key| key.starts_with('_')) {
                problems.push(format!(
                    "metadata keys may not start with [_] (found in privilege [{name}])"
                ));
            }
            privileges.push(AppPrivilege {
                application: application.to_owned(),
                name: name.to_owned(),
                actions,
                metadata,
            });
        }
    }
    if privileges.is_empty() {
        problems.push("At least one application privilege must be provided".to_owned());
    }
    if !problems.is_empty() {
        return Err(Error::validation(&problems));
    }
    let places: Vec<(String, String)> =
        privileges.iter().map(|one| (one.application.clone(), one.name.clone())).collect();
    let names: Vec<String> =
        places.iter().map(|(application, name)| format!("{application}/{name}")).collect();
    call.told.borrow_mut().names("target_privilege", &names);
    let outcome = desk.ask(call, Command::PutPrivileges { privileges }).await.map_err(told)?;
    let Outcome::Each(new) = outcome else { return Err(Error::internal("nothing was put")) };
    let mut answer = Object::new();
    for ((application, name), created) in places.into_iter().zip(new) {
        let inner = answer.get_or_insert_with(&application, Value::object);
        if let Some(inner) = inner.as_object_mut() {
            inner.insert(name, json!({"created": created}));
        }
    }
    Ok(value(200, &Value::Object(answer)))
}

fn check(application: &str, name: &str, actions: &[String], problems: &mut Vec<String>) {
    problems.extend(application::check_name(application).err());
    problems.extend(application::check_privilege(name).err());
    if actions.is_empty() {
        problems.push("Application privileges must have at least one action".to_owned());
    }
    for action in actions {
        if !action.contains(['/', '*', ':']) {
            problems.push(format!("action [{action}] must contain one of [ '/' , '*' , ':' ]"));
        }
        problems.extend(application::check_action(action).err());
    }
}

/// `GET /_security/privilege[/{application}[/{name}]]`.
pub(super) async fn get<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let state = allowed_for(call, &names(call, "application"))?.state();
    let (applications, wanted) = (names(call, "application"), names(call, "name"));
    let is_wanted = |one: &&Arc<AppPrivilege>| {
        let fits = |pattern: &&str| privilege::fits(pattern, &one.application);
        (applications.is_empty() || applications.iter().any(fits))
            && (wanted.is_empty() || wanted.contains(&one.name.as_str()))
    };
    let mut growing = Growing::new(call, "privileges");
    let mut body = Vec::with_capacity(256);
    let mut writer = Writer::new(&mut body);
    // They stand by application.
    let mut application = None;
    writer.begin_object();
    for (at, one) in state.privileges.values().filter(is_wanted).enumerate() {
        let shown = json!({
            "application": (one.application.as_str()),
            "name": (one.name.as_str()),
            "actions": (one.actions.clone()),
            "metadata": (Value::Object(one.metadata.clone())),
        });
        growing.more_at(at, &mut writer, one.name.len() + shown.held_bytes()).await?;
        if application != Some(&one.application) {
            if application.replace(&one.application).is_some() {
                writer.end_object();
            }
            writer.key(&one.application).begin_object();
        }
        writer.field(&one.name, &shown);
    }
    if application.is_some() {
        writer.end_object();
    }
    writer.end_object();
    let status = if application.is_none() && !wanted.is_empty() { 404 } else { 200 };
    Ok(growing.end(status, body))
}

/// `DELETE /_security/privilege/{application}/{name}`.
pub(super) async fn delete<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    let desk = allowed_for(call, &[call.segment("application")])?;
    let application = call.segment("application").to_owned();
    let names: Vec<String> = names(call, "name").into_iter().map(str::to_owned).collect();
    let command =
        Command::DeletePrivileges { application: application.clone(), names: names.clone() };
    let outcome = desk.ask(call, command).await.map_err(told)?;
    let Outcome::Each(found) = outcome else { return Err(Error::internal("nothing was sought")) };
    let any = found.contains(&true);
    let each: Object =
        names.into_iter().zip(found).map(|(name, found)| (name, json!({"found": found}))).collect();
    let answer: Object = [(application, Value::Object(each))].into_iter().collect();
    Ok(value(if any { 200 } else { 404 }, &Value::Object(answer)))
}

/// `GET /_security/privilege/_builtin`.
pub(super) fn builtin<E: Env>(call: &Call<'_, E>) -> Result<Reply> {
    allowed(call)?;
    let list = |kind: Kind| Value::from(privilege::names(kind).collect::<Vec<_>>());
    let answer = json!({
        "cluster": (list(Kind::Cluster)),
        "index": (list(Kind::Index)),
        "remote_cluster": ["monitor_enrich", "monitor_stats"],
    });
    Ok(value(200, &answer))
}
