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

/// Runs `users`.
pub fn run(options: &Users) -> Result<()> {
    let sources = options.sources()?;
    let folder = Folder::at(&data_folder(&sources))?;
    let mut file = File::read(&folder)?;
    match &options.verb {
        UsersVerb::List { name } => return file.list(name.as_deref()),
        UsersVerb::Useradd { name, password, roles } => {
            if let Some(why) = refusal(name) {
                return Err(failed(format!("Invalid username [{name}]... {why}")));
            }
            if file.find(name).is_some() {
                return Err(failed(format!("User [{name}] already exists")));
            }
            let roles = checked(list(roles.as_deref()))?;
            let password = given(password.as_deref(), name)?;
            file.put(name, &hash(&password), &roles);
        }
        UsersVerb::Userdel { name } => {
            file.find(name).ok_or_else(|| missing(name))?;
            file.remove(name);
        }
        UsersVerb::Passwd { name, password } => {
            let user = file.find(name).ok_or_else(|| missing(name))?;
            let password = given(password.as_deref(), name)?;
            file.put(name, &hash(&password), &user.roles);
        }
        UsersVerb::Roles { name, add, remove } => {
            let user = file.find(name).ok_or_else(|| missing(name))?;
            let removed = list(remove.as_deref());
            let mut roles = user.roles.clone();
            roles.retain(|role| !removed.contains(role));
            for role in checked(list(add.as_deref()))? {
                if !roles.contains(&role) {
                    roles.push(role);
                }
            }
            if add.is_none() && remove.is_none() {
                return file.list(Some(name));
            }
            file.put(name, &user.password, &roles);
        }
    }
    file.save()
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

fn missing(name: &str) -> Failure {
    failed(format!("User [{name}] doesn't exist"))
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

/// The file, line by line; lines that are no users stay as they are.
struct File {
    path: std::path::PathBuf,
    lines: Vec<String>,
}

impl File {
    fn read(folder: &Folder) -> Result<Self> {
        let path = file_user::path(folder);
        let lines = file_user::lines(&path)?;
        Ok(Self { path, lines })
    }

    fn users(&self) -> Vec<User> {
        let now = file_user::now();
        self.lines.iter().flat_map(|line| file_realm::parse(line, now)).collect()
    }

    fn find(&self, name: &str) -> Option<User> {
        self.users().into_iter().find(|user| user.name == name)
    }

    fn remove(&mut self, name: &str) {
        let now = file_user::now();
        self.lines.retain(|line| file_realm::parse(line, now).iter().all(|user| user.name != name));
    }

    fn put(&mut self, name: &str, password: &PasswordHash, roles: &[String]) {
        self.remove(name);
        let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
        self.lines.push(file_realm::line(name, &roles, password));
    }

    fn save(&self) -> Result<()> {
        file_user::write(&self.path, &self.lines)
    }

    fn list(&self, name: Option<&str>) -> Result<()> {
        let mut out = std::io::stdout().lock();
        let users: Vec<User> = self
            .users()
            .into_iter()
            .filter(|user| name.is_none_or(|name| name == user.name))
            .collect();
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
}

/// Runs `service-tokens`.
pub fn run_service_tokens(options: &ServiceTokens) -> Result<()> {
    let sources = options.sources()?;
    let folder = Folder::at(&data_folder(&sources))?;
    let node = Node::find(&folder, options.url.as_deref())?;
    let base = |account: &str| -> Result<String> {
        let (namespace, service) = account.split_once('/').ok_or_else(|| {
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

    #[test]
    fn users_come_change_and_go_and_comments_stay() {
        let mut file = File { path: "users".into(), lines: vec!["# ours".into()] };
        file.put("ann", &PasswordHash::nobody(), &list(Some("viewer, editor")));
        file.put("bob", &PasswordHash::nobody(), &[]);
        file.put("ann", &PasswordHash::nobody(), &list(Some("viewer")));
        assert_eq!(file.find("ann").map(|user| user.roles), Some(vec!["viewer".to_owned()]));
        file.remove("bob");
        assert_eq!(file.users().len(), 1);
        assert_eq!(file.lines[0], "# ours");
    }
}
