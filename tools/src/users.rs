//! `users`: the operator's file of users (`node/users`), and `service-tokens`: tokens of service
//! accounts, asked of the running node.
//!
//! A user of the file comes in from the next request on; whoever may write in the data folder owns the
//! node anyway.

use std::io::{BufRead, Write};

use authz::password::{self, CHARACTERS_MIN, PasswordHash};
use authz::record::builtin;
use authz::record::user::{User, is_name};
use authz::{Secret, file_realm};
use http::Method;
use json::{Object, Value};
use runtime::RuntimeRandom;

use crate::command::{ServiceTokens, ServiceTokensVerb, Users, UsersVerb};
use crate::config::data_folder;
use crate::failure::{Failure, Result};
use crate::file_user;
use crate::folder::Folder;
use crate::reset::{Node, failed, percent};

/// Runs `users`. Whoever types a password keeps nobody from the file: it is asked for first, and the file is
/// looked at again when it is changed.
pub fn run(options: &Users) -> Result<()> {
    let sources = options.sources()?;
    let folder = Folder::at(&data_folder(&sources))?;
    match &options.verb {
        UsersVerb::List { name } => tell(&file_user::lines(&folder)?, name.as_deref()),
        UsersVerb::Useradd { name, password, roles } => {
            if let Some(why) = refusal(name) {
                return Err(failed(format!("Invalid username [{name}]... {why}")));
            }
            let is_new = |lines: &[String]| match find(lines, name) {
                Some(_) => Err(failed(format!("User [{name}] already exists"))),
                None => Ok(()),
            };
            is_new(&file_user::lines(&folder)?)?;
            let roles = checked(list(roles.as_deref()))?;
            warn_of_unknown(&roles);
            let hash = hash(&given(password.as_deref(), name)?);
            file_user::edit(&folder, |lines| {
                is_new(lines)?;
                put(lines, name, &hash, &roles);
                Ok(())
            })
        }
        UsersVerb::Userdel { name } => file_user::edit(&folder, |lines| {
            known(lines, name)?;
            remove(lines, name);
            Ok(())
        }),
        UsersVerb::Passwd { name, password } => {
            known(&file_user::lines(&folder)?, name)?;
            let hash = hash(&given(password.as_deref(), name)?);
            file_user::edit(&folder, |lines| {
                let roles = known(lines, name)?.roles;
                put(lines, name, &hash, &roles);
                Ok(())
            })
        }
        UsersVerb::Roles { name, add: None, remove: None } => {
            tell(&file_user::lines(&folder)?, Some(name))
        }
        UsersVerb::Roles { name, add, remove } => {
            let added = checked(list(add.as_deref()))?;
            warn_of_unknown(&added);
            let removed = list(remove.as_deref());
            file_user::edit(&folder, |lines| {
                let user = known(lines, name)?;
                let mut roles = user.roles;
                roles.retain(|role| !removed.contains(role));
                for role in added {
                    if !roles.contains(&role) {
                        roles.push(role);
                    }
                }
                put(lines, name, &user.password, &roles);
                Ok(())
            })
        }
    }
}

/// Why nobody may be called so.
fn refusal(name: &str) -> Option<String> {
    if builtin::is_user(name) {
        return Some(format!("Username [{name}] is reserved and may not be used."));
    }
    if name.contains(':') {
        return Some(
            "Usernames must not contain a colon: Basic credentials end the name at the first one."
                .to_owned(),
        );
    }
    let is_legal = is_name(name) && name.is_ascii() && !name.starts_with('#');
    (!is_legal).then(|| {
        "Usernames must be at least 1 and no more than 507 characters. They can contain alphanumeric \
         characters (a-z, A-Z, 0-9), spaces, punctuation, and printable symbols in the Basic Latin \
         (ASCII) block. Leading or trailing whitespace is not allowed."
            .to_owned()
    })
}

/// Roles that a line of the file can hold.
fn checked(roles: Vec<String>) -> Result<Vec<String>> {
    let is_bad = |role: &&String| role.contains(':') || role.contains(char::is_control);
    match roles.iter().find(is_bad) {
        Some(role) => Err(failed(format!("Invalid role [{role}]"))),
        None => Ok(roles),
    }
}

/// Says which roles are perhaps misspelt. The command goes on: roles made by the API are not known here.
fn warn_of_unknown(roles: &[String]) {
    if let Some(warning) = unknown(roles) {
        eprintln!("{warning}");
    }
}

/// Elasticsearch's warning, but that it has a file of roles.
fn unknown(roles: &[String]) -> Option<String> {
    let is_unknown = |role: &&str| !builtin::ROLES.contains(role);
    let unknown: Vec<&str> = roles.iter().map(String::as_str).filter(is_unknown).collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "Warning: The following roles [{}] are not built in. Make sure the names are correct. If the names \
             are correct and the roles were created using the API please disregard this message. Nonetheless \
             the user will still be associated with all specified roles\nKnown roles: [{}]",
            unknown.join(","),
            builtin::ROLES.join(", ")
        )
    })
}

fn missing(name: &str) -> Failure {
    failed(format!("User [{name}] doesn't exist"))
}

fn known(lines: &[String], name: &str) -> Result<User> {
    find(lines, name).ok_or_else(|| missing(name))
}

fn list(text: Option<&str>) -> Vec<String> {
    let parts = text.unwrap_or_default().split(',').map(str::trim);
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// The password of the command line, or one line of standard input.
fn given(password: Option<&str>, user: &str) -> Result<Secret> {
    let password = match password {
        Some(password) => password.to_owned(),
        None => {
            eprint!("Password for [{user}]: ");
            let mut line = String::new();
            let read = std::io::stdin().lock().read_line(&mut line);
            read.map_err(|error| failed(format!("standard input: {error}")))?;
            line.trim_end_matches(['\n', '\r']).to_owned()
        }
    };
    if password.chars().count() < CHARACTERS_MIN {
        return Err(failed(format!(
            "Invalid password: passwords must be at least [{CHARACTERS_MIN}] characters long"
        )));
    }
    Ok(Secret::new(password))
}

fn hash(password: &Secret) -> PasswordHash {
    PasswordHash::make(password, password::salt(&RuntimeRandom::new()))
}

/// The users of the file's lines; lines that are no users stay as they are.
fn users(lines: &[String]) -> Vec<User> {
    let now = file_user::now();
    lines.iter().flat_map(|line| file_realm::parse(line, now)).collect()
}

fn find(lines: &[String], name: &str) -> Option<User> {
    users(lines).into_iter().find(|user| user.name == name)
}

fn remove(lines: &mut Vec<String>, name: &str) {
    let now = file_user::now();
    lines.retain(|line| file_realm::parse(line, now).iter().all(|user| user.name != name));
}

fn put(lines: &mut Vec<String>, name: &str, password: &PasswordHash, roles: &[String]) {
    remove(lines, name);
    let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
    lines.push(file_realm::line(name, &roles, password));
}

fn tell(lines: &[String], name: Option<&str>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let mut users = users(lines);
    users.retain(|user| name.is_none_or(|name| name == user.name));
    if let (Some(name), true) = (name, users.is_empty()) {
        return Err(missing(name));
    }
    for user in users {
        let roles = if user.roles.is_empty() { "-".to_owned() } else { user.roles.join(",") };
        let told = writeln!(out, "{:<15}: {roles}", user.name);
        told.map_err(|error| failed(format!("standard output: {error}")))?;
    }
    Ok(())
}

/// Runs `service-tokens`.
pub fn run_service_tokens(options: &ServiceTokens) -> Result<()> {
    let sources = options.sources()?;
    let folder = Folder::at(&data_folder(&sources))?;
    let node = Node::find(&folder, options.url.as_deref())?;
    let base = |account: &str| -> Result<String> {
        let is_part = |part: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            !part.is_empty() && part.bytes().all(is_letter)
        };
        let parts = account.split_once('/').filter(|(a, b)| is_part(a) && is_part(b));
        let (namespace, service) = parts.ok_or_else(|| {
            failed(format!("[{account}] is no service account; they look like elastic/kibana"))
        })?;
        let (namespace, service) = (percent(namespace), percent(service));
        Ok(format!("/_security/service/{namespace}/{service}/credential"))
    };
    match &options.verb {
        ServiceTokensVerb::Create { account, name } => {
            let path = match name {
                Some(name) => format!("{}/token/{}", base(account)?, percent(name)),
                None => format!("{}/token", base(account)?),
            };
            let made = node.ask_as_operator(&folder, Method::Post, &path, None)?;
            let text =
                |key: &str| made.at(&["token", key]).and_then(Value::as_str).unwrap_or_default();
            println!("SERVICE_TOKEN {account}/{} = {}", text("name"), text("value"));
        }
        ServiceTokensVerb::Delete { account, name } => {
            let path = format!("{}/token/{}", base(account)?, percent(name));
            node.ask_as_operator(&folder, Method::Delete, &path, None)?;
        }
        ServiceTokensVerb::List { account } => {
            let accounts = match account {
                Some(account) => vec![account.clone()],
                None => {
                    let all =
                        node.ask_as_operator(&folder, Method::Get, "/_security/service", None)?;
                    let names = all.as_object().into_iter().flat_map(Object::keys);
                    names.map(str::to_owned).collect()
                }
            };
            for account in accounts {
                let known = node.ask_as_operator(&folder, Method::Get, &base(&account)?, None)?;
                let tokens = known.get("tokens").and_then(Value::as_object);
                for name in tokens.into_iter().flat_map(Object::keys) {
                    println!("{account}/{name}");
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_hide_somebody_are_refused() {
        for bad in ["elastic", "kibana_system", "", " ann", "a\nb", "#ann", "\u{e9}", "bad name:x"]
        {
            assert!(refusal(bad).is_some(), "{bad:?}");
        }
        assert_eq!(refusal("ann"), None);
        assert!(checked(list(Some("viewer,a:b"))).is_err());
        assert!(checked(list(Some("viewer,editor"))).is_ok());
    }

    /// A slip of the pen made a user without rights, and nothing said so.
    #[test]
    fn roles_that_are_not_known_are_told() {
        assert_eq!(unknown(&list(Some("viewer,superuser"))), None);
        assert_eq!(unknown(&[]), None);
        let told = unknown(&list(Some("viewr,editor,sales"))).expect("a warning");
        let begin = "Warning: The following roles [viewr,sales] are not built in. Make sure the names are \
                     correct. If ";
        assert!(told.starts_with(begin), "{told}");
        assert!(told.contains("\nKnown roles: [apm_system, "), "{told}");
    }

    #[test]
    fn users_come_change_and_go_and_comments_stay() {
        let mut lines = vec!["# ours".to_owned()];
        put(&mut lines, "ann", &PasswordHash::nobody(), &list(Some("viewer, editor")));
        put(&mut lines, "bob", &PasswordHash::nobody(), &[]);
        put(&mut lines, "ann", &PasswordHash::nobody(), &list(Some("viewer")));
        assert_eq!(find(&lines, "ann").map(|user| user.roles), Some(vec!["viewer".to_owned()]));
        remove(&mut lines, "bob");
        assert_eq!(users(&lines).len(), 1);
        assert_eq!(lines[0], "# ours");
    }
}
