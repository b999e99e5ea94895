//! Names of applications and of their privileges, as Elasticsearch lets them be.

/// What is wrong with the name of an application.
///
/// # Errors
/// In Elasticsearch's words.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    if name.contains('*') {
        return Err(format!("Application names may not contain '*' (found '{name}')"));
    }
    check(name)
}

/// The same of a name or of a pattern: the beginning of names and a star, or a star alone.
///
/// # Errors
/// In Elasticsearch's words.
pub(super) fn check_pattern(name: &str) -> Result<(), String> {
    if name == "*" {
        return Ok(());
    }
    if name.find('*').is_some_and(|at| at + 1 < name.len()) {
        return Err(format!(
            "Application name patterns only support trailing wildcards (found '{name}')"
        ));
    }
    check(name)
}

fn check(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("Application names cannot be blank".to_owned());
    }
    if name.contains(char::is_whitespace) {
        return Err(format!("Application names may not contain whitespace (found '{name}')"));
    }
    let (prefix, suffix) = match name.split_once(['_', '-']) {
        Some((prefix, suffix)) => (prefix, Some(suffix)),
        None => (name, None),
    };
    let plain = |text| str::strip_suffix(text, '*').unwrap_or(text);
    let prefix = plain(prefix);
    let is_prefix = prefix.starts_with(|c: char| c.is_ascii_lowercase())
        && prefix.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_prefix {
        return Err(format!(
            "An application name prefix must match the pattern ^[a-z][A-Za-z0-9]*$ (found '{prefix}')"
        ));
    }
    if prefix.len() < 3 && !name.contains('*') {
        return Err(format!(
            "An application name prefix must be at least 3 characters long (found '{prefix}')"
        ));
    }
    let suffix = plain(suffix.unwrap_or_default());
    if suffix.contains(['\\', '/', '*', '?', '"', '<', '>', '|', ' ', ',']) {
        return Err(format!(
            "An application name suffix may not contain any of the characters '\\/*?\"<>| ,' (found \
             '{suffix}')"
        ));
    }
    Ok(())
}

/// What is wrong with the name of a privilege of an application.
///
/// # Errors
/// In Elasticsearch's words.
pub(super) fn check_privilege(name: &str) -> Result<(), String> {
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    match is_name {
        true => Ok(()),
        false => Err(format!(
            "Application privilege names must match the pattern ^[a-z][a-zA-Z0-9_.-]*$ (found '{name}')"
        )),
    }
}

/// The same of a privilege, or of an action or a pattern of actions.
///
/// # Errors
/// In Elasticsearch's words.
pub(super) fn check_action(name: &str) -> Result<(), String> {
    match name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        false => Ok(()),
        true => Err(format!(
            "Application privilege names and actions must match the pattern ^\\p{{Graph}}*$ (found '{name}')"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns_are_those_of_elasticsearch() {
        for good in ["app", "myApp9", "kibana-.kibana", "app_x:y"] {
            assert_eq!((check_name(good), check_pattern(good)), (Ok(()), Ok(())), "{good}");
        }
        for pattern in ["*", "k*", "kibana-*"] {
            assert!(check_name(pattern).is_err() && check_pattern(pattern).is_ok(), "{pattern}");
        }
        for bad in ["", "k", "A*", "App", "9app", "a b c", "my.app", "app-a/b", "a*b"] {
            assert!(check_name(bad).is_err() && check_pattern(bad).is_err(), "{bad}");
        }
        assert!(check_privilege("read").is_ok() && check_privilege("Read").is_err());
        assert!(check_action("data:read/*").is_ok() && check_action("a b").is_err());
    }
}
