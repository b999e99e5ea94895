//! Authz's own bytes and the texts that become rights: commands and snapshots are read as they were
//! written, applying them never ends in a panic, and what is taken as a role query, as authorization
//! details or as a line of the operator's file means the same each time; a password's hash that somebody brings
//! is kept as it came, or refused.
#![no_main]

use authz::password::PasswordHash;
use authz::{Command, State};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: base::hash::fix_seed(), |bytes: &[u8]| {
    if let Ok(command) = Command::from_bytes(bytes) {
        let again = Command::from_bytes(&command.to_bytes());
        assert_eq!(again.as_ref(), Ok(&command), "written, read, equal");
        let (state, first) = authz::apply::apply(&State::default(), &command);
        let (same, second) = authz::apply::apply(&State::default(), &command);
        assert_eq!(first, second, "the same command does the same");
        assert_eq!(state, same, "and gives the same state");
        let (_, _) = authz::apply::apply(&state, &command);
    }
    if let Ok(state) = State::from_bytes(bytes) {
        let again = State::from_bytes(&state.to_bytes());
        assert_eq!(again, Ok(state), "written, read, equal");
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(hash) = PasswordHash::brought(text) {
        assert_eq!(hash.as_str(), text);
        assert!(PasswordHash::parse(text).is_some(), "what was brought is read again");
        let _ = hash.is_outdated();
    }
    if let Ok(details) = authz::oauth::details::parse(text, |one| one == "https://store.example") {
        let role = authz::oauth::details::role(&details);
        assert_eq!(role, authz::oauth::details::role(&details));
        assert!(role.indices.iter().all(|grant| !grant.dots && !grant.restricted));
    }
    if let Ok(query) = json::parse(bytes)
        && authz::template::samples(&query).is_ok()
    {
        let facts = authz::template::Facts::default();
        let filled = authz::template::fill(&query, &facts).into_owned();
        assert_eq!(filled, authz::template::fill(&query, &facts).into_owned());
    }
    for user in authz::file_realm::parse(text, 0) {
        let roles: Vec<&str> = user.roles.iter().map(String::as_str).collect();
        let line = authz::file_realm::line(&user.name, &roles, &user.password);
        assert_eq!(authz::file_realm::parse(&line, 0), [user.clone()], "written, read, equal");
        let line = authz::file_realm::short_lived_line(&user.name, &roles, &user.password, 0);
        assert_eq!(authz::file_realm::parse(&line, 0), [user], "written, read, equal");
    }
});
