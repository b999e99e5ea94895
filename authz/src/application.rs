//! Privileges of applications: which of them an entry of a role holds.
//!
//! A privilege is its actions: those it was stored with ([`State::privileges`]), or, where it is written as a pattern
//! of actions itself, that one. One that was never stored has none, and is held by who was given it by that name alone.

use crate::privilege::fits;
use crate::record::role::ApplicationEntry;
use crate::state::State;

/// Does an entry of a role hold `privilege` of `application`, whatever it is on?
pub fn holds(state: &State, entry: &ApplicationEntry, application: &str, privilege: &str) -> bool {
    if !fits(&entry.application, application) {
        return false;
    }
    let is_it = entry.application == application
        && !entry.privileges.is_empty()
        && entry.privileges.iter().all(|name| name == privilege);
    let own = actions(state, application, entry.privileges.iter().map(String::as_str));
    if is_it || own.iter().any(|pattern| pattern == "*") {
        return true;
    }
    let asked = actions(state, application, [privilege].into_iter());
    !asked.is_empty() && asked.iter().all(|action| own.iter().any(|known| fits(known, action)))
}

/// What these privileges of an application are.
fn actions<'n>(
    state: &State,
    application: &str,
    names: impl Iterator<Item = &'n str>,
) -> Vec<String> {
    let mut found = Vec::new();
    for name in names {
        if name.contains(['/', '*', ':']) {
            found.push(name.to_owned());
        } else if let Some(stored) = state.privileges.get(&(application.into(), name.into())) {
            found.extend_from_slice(&stored.actions);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::key::AppPrivilege;

    /// By their names alone `read` did not hold what it stands for, and one called `all` held everything.
    #[test]
    fn a_privilege_is_its_actions() {
        let mut state = State::default();
        for (name, actions) in [
            ("read", &["data:read/*"][..]),
            ("write", &["data:read/*", "data:write/*"]),
            ("all", &["data:read/one"]),
        ] {
            let one = AppPrivilege {
                application: "app".into(),
                name: name.into(),
                actions: actions.iter().map(|&action| action.to_owned()).collect(),
                metadata: json::Object::new(),
            };
            state.privileges.insert(("app".into(), name.into()), Arc::new(one));
        }
        let entry = |application: &str, privileges: &[&str]| ApplicationEntry {
            application: application.into(),
            privileges: privileges.iter().map(|&name| name.to_owned()).collect(),
            resources: vec!["*".into()],
        };
        for (application, given, asked, held) in [
            ("app", &["read"][..], "read", true),
            ("app", &["read"], "data:read/one", true),
            ("app", &["read"], "data:write/one", false),
            ("app", &["read"], "write", false),
            ("app", &["write"], "read", true),
            ("a*", &["write"], "read", true),
            ("other", &["write"], "read", false),
            ("app", &["all"], "data:read/one", true),
            ("app", &["all"], "read", false),
            ("app", &["all"], "unknown", false),
            ("app", &["*"], "unknown", true),
            ("*", &["*"], "read", true),
            ("app", &["unknown"], "unknown", true),
            ("a*", &["unknown"], "unknown", false),
            ("app", &["unknown", "read"], "unknown", false),
            ("app", &["data:read/*", "data:write/*"], "write", true),
            ("app", &[], "unknown", false),
        ] {
            let found = holds(&state, &entry(application, given), "app", asked);
            assert_eq!(found, held, "{application} {given:?}: {asked}");
        }
    }
}
