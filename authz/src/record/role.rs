//! A role: which actions on the cluster and on which indices, and what of them may be seen.
//!
//! Actions carry Elasticsearch's names (`indices:data/read/search`); a role names them by patterns
//! with `*`. Named privileges (`read`, `manage`, …) are sets of such patterns.
//!
//! Not here yet: roles that an operator defines. `superuser` is built in.

use std::sync::Arc;

use json::Value;

/// The role that may do everything.
pub const SUPERUSER: &str = "superuser";

/// What a role grants.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// Patterns of cluster actions.
    pub cluster: Vec<String>,
    /// Grants on indices.
    pub indices: Vec<IndexGrant>,
}

/// Actions on some indices.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexGrant {
    /// Patterns of index names.
    pub names: Vec<String>,
    /// Patterns of actions.
    pub actions: Vec<String>,
    /// Patterns of the fields that may be seen; `None` is all.
    pub fields: Option<Vec<String>>,
    /// Only documents that match this query may be seen; `None` is all.
    pub query: Option<Arc<Value>>,
}

impl Role {
    /// The built-in role that may do everything.
    pub fn superuser() -> Self {
        let everything = || vec!["*".to_owned()];
        Self {
            name: SUPERUSER.to_owned(),
            cluster: everything(),
            indices: vec![IndexGrant {
                names: everything(),
                actions: everything(),
                fields: None,
                query: None,
            }],
        }
    }

    /// The built-in role of this name.
    pub fn built_in(name: &str) -> Option<Self> {
        (name == SUPERUSER).then(Self::superuser)
    }
}

/// Whether `text` fits `pattern`, in which `*` stands for any characters, also none.
pub fn fits(pattern: &str, text: &str) -> bool {
    json::path::glob(pattern.as_bytes(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_an_exhaustive_matcher_says() {
        fn plain(pattern: &[u8], text: &[u8]) -> bool {
            match (pattern.split_first(), text.split_first()) {
                (None, None) => true,
                (Some((b'*', rest)), _) => (0..=text.len()).any(|skip| plain(rest, &text[skip..])),
                (Some((a, rest)), Some((b, more))) => a == b && plain(rest, more),
                _ => false,
            }
        }
        // Every pattern and text of up to four characters over a small alphabet.
        let words = |alphabet: &[u8]| {
            let mut words = vec![String::new()];
            let mut from = 0;
            for _ in 0..4 {
                let to = words.len();
                for at in from..to {
                    for &c in alphabet {
                        words.push(format!("{}{}", words[at], char::from(c)));
                    }
                }
                from = to;
            }
            words
        };
        for pattern in words(b"ab*") {
            for text in words(b"ab") {
                let expected = plain(pattern.as_bytes(), text.as_bytes());
                assert_eq!(fits(&pattern, &text), expected, "{pattern} {text}");
            }
        }
    }

    #[test]
    fn only_superuser_is_built_in() {
        assert_eq!(Role::built_in("superuser"), Some(Role::superuser()));
        assert_eq!(Role::built_in("viewer"), None);
    }
}
