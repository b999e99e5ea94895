//! Scopes in plain words: what would really be possible.

/// How much a permission lets happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Nothing of the owner's documents.
    Slight,
    /// Reads documents.
    Reads,
    /// Changes documents, or the indices themselves.
    Changes,
}

/// A scope for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// What is allowed, as one sentence.
    pub sentence: String,
    /// What that means.
    pub effect: String,
    /// How much it lets happen.
    pub weight: Weight,
}

/// A scope in words; `indices_today` tells how many of the reader's indices a pattern matches now.
pub fn of(scope: &str, indices_today: impl Fn(&str) -> usize) -> Words {
    let words = |sentence: String, effect: String, weight| Words { sentence, effect, weight };
    let plain = |sentence: &str, effect: &str, weight| {
        words(sentence.to_owned(), effect.to_owned(), weight)
    };
    let Some((pattern, action)) = index_scope(scope) else {
        return match scope {
            "self" => plain(
                "Know who you are here",
                "Your user name and roles; no documents.",
                Weight::Slight,
            ),
            "cluster:monitor" => plain(
                "See how the store is doing",
                "Health and statistics of the whole store; no documents.",
                Weight::Slight,
            ),
            "offline_access" => plain(
                "Keep access while you are away",
                "It may renew its access by itself until you revoke it.",
                Weight::Slight,
            ),
            _ => words(scope.to_owned(), String::new(), Weight::Changes),
        };
    };
    let place = place(pattern, indices_today(pattern));
    let (verb, effect, weight) = match action {
        "read" => ("Read documents in", "Search and read; nothing can be changed.", Weight::Reads),
        "create" => (
            "Add documents to",
            "New documents only; existing ones can be neither read, changed nor deleted.",
            Weight::Changes,
        ),
        "write" => (
            "Add, change and delete documents in",
            "Existing documents can be overwritten and deleted.",
            Weight::Changes,
        ),
        "manage" => (
            "Create, change and delete the indices",
            "An index can be deleted with everything in it; documents cannot be read.",
            Weight::Changes,
        ),
        _ => (
            "Do everything with",
            "Read, change and delete documents, and delete the indices themselves.",
            Weight::Changes,
        ),
    };
    words(format!("{verb} {place}"), effect.to_owned(), weight)
}

/// Pattern and action of a scope on indices.
pub fn index_scope(scope: &str) -> Option<(&str, &str)> {
    scope.strip_prefix("index:")?.rsplit_once(':')
}

fn place(pattern: &str, today: usize) -> String {
    let indices = match today {
        0 => "no index today".to_owned(),
        1 => "1 index today".to_owned(),
        count => format!("{count} indices today"),
    };
    match (pattern, today) {
        ("*", _) => format!("every index: {indices}, and any that come later"),
        (pattern, _) if pattern.contains('*') => {
            format!("{pattern}: {indices}, and any that match later")
        }
        (pattern, 0) => format!("{pattern}, of which you have none today"),
        (pattern, _) => pattern.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_says_what_it_does_and_where() {
        let shown = of("index:orders-*:read", |_| 3);
        assert_eq!(
            shown.sentence,
            "Read documents in orders-*: 3 indices today, and any that match later"
        );
        assert_eq!(shown.weight, Weight::Reads);
        let shown = of("index:bills:write", |_| 1);
        assert_eq!(shown.sentence, "Add, change and delete documents in bills");
        assert_eq!(shown.weight, Weight::Changes);
        let shown = of("index:*:all", |_| 1);
        assert_eq!(
            shown.sentence,
            "Do everything with every index: 1 index today, and any that come later"
        );
        assert_eq!(
            of("index:new:create", |_| 0).sentence,
            "Add documents to new, of which you have none today"
        );
        assert_eq!(of("self", |_| 0).weight, Weight::Slight);
    }
}
