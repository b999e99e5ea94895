//! Names of indices and aliases: what is allowed, checked in Elasticsearch's order.

use crate::error::{Error, Result};

/// Longest name, in UTF-8 bytes.
pub const NAME_BYTES_MAX: usize = 255;

const FORBIDDEN: &[char] = &['\\', '/', '*', '?', '"', '<', '>', '|', ' ', ','];

/// A name that an index may bear.
///
/// # Errors
/// [`Error::IndexName`] with the first rule that is broken.
pub fn check_index(name: &str) -> Result<()> {
    let wrong = common(name)
        .or_else(|| (name.chars().any(char::is_uppercase)).then(|| "must be lowercase".to_owned()));
    match wrong {
        Some(why) => Err(Error::IndexName { name: name.to_owned(), why }),
        None => Ok(()),
    }
}

/// A name that an alias may bear: as an index's, but upper case is fine.
///
/// # Errors
/// [`Error::AliasName`] with the first rule that is broken.
pub fn check_alias(name: &str) -> Result<()> {
    match common(name) {
        Some(why) => Err(Error::AliasName { name: name.to_owned(), why: format!(": {why}") }),
        None => Ok(()),
    }
}

/// A name that a data stream may bear.
///
/// # Errors
/// [`Error::Argument`] with the first rule that is broken.
pub fn check_stream(name: &str) -> Result<()> {
    let lower = || name.chars().any(char::is_uppercase).then(|| "must be lowercase".to_owned());
    let own = || {
        let taken = [".ds-", ".fs-"].into_iter().find(|prefix| name.starts_with(prefix))?;
        Some(format!("must not start with '{taken}'"))
    };
    match common(name).or_else(lower).or_else(own) {
        Some(why) => Err(Error::argument(format!("data_stream [{name}] {why}"))),
        None => Ok(()),
    }
}

fn common(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("must not be empty".to_owned());
    }
    if name.chars().any(|char| FORBIDDEN.contains(&char) || char.is_control()) {
        return Some(
            "must not contain the following characters [' ','\"','*',',','/','<','>','?','\\','|']"
                .to_owned(),
        );
    }
    for char in ['#', ':'] {
        if name.contains(char) {
            return Some(format!("must not contain '{char}'"));
        }
    }
    if name.starts_with(['_', '-', '+']) {
        return Some("must not start with '_', '-', or '+'".to_owned());
    }
    if name.len() > NAME_BYTES_MAX {
        return Some(format!("index name is too long, ({} > {NAME_BYTES_MAX})", name.len()));
    }
    if name == "." || name == ".." {
        return Some("must not be '.' or '..'".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_refused_under_its_own_name() {
        for (name, why) in [
            ("ds-*", "data_stream [ds-*] must not contain the following characters"),
            ("_x", "data_stream [_x] must not start with '_', '-', or '+'"),
            (".ds-x", "data_stream [.ds-x] must not start with '.ds-'"),
            ("Ab", "data_stream [Ab] must be lowercase"),
        ] {
            let told = check_stream(name).expect_err(name).to_string();
            assert!(told.starts_with(why), "{told}");
        }
        assert!(check_stream("logs-x").is_ok());
    }

    #[test]
    fn each_rule_has_its_words() {
        for (name, why) in [
            ("", "must not be empty"),
            ("a*b", "must not contain the following characters"),
            ("a#b", "must not contain '#'"),
            ("a:b", "must not contain ':'"),
            ("_a", "must not start with '_', '-', or '+'"),
            ("..", "must not be '.' or '..'"),
            ("Ab", "must be lowercase"),
        ] {
            match check_index(name) {
                Err(Error::IndexName { why: found, .. }) => {
                    assert!(found.starts_with(why), "{name}: {found}")
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert!(check_index(&"a".repeat(256)).is_err());
        assert_eq!(check_index(&"é".repeat(127)), Ok(()));
        assert_eq!(check_index(".logs-2026.01"), Ok(()));
        assert_eq!(check_alias("Upper"), Ok(()));
    }
}
