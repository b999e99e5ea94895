//! Scopes: what may be granted, which scope holds which, and what they mean at the gate.
//!
//! ```text
//! scope   = "index:" pattern ":" action / "self" / "cluster:monitor" / "offline_access"
//! pattern = 1*128( a-z / 0-9 / "-" / "_" / "." / "*" ), not beginning with "-", "_" or ".",
//!           at most two "*"
//! action  = "read" / "create" / "write" / "manage" / "all"
//! ```
//!
//! Always true
//! 1. One scope holds another where its pattern matches every name that the other's does, decided on
//!    the patterns and never on the indices of today, and its action covers the other's.
//! 2. `*` never reaches a name that begins with a dot.

use std::fmt;
use std::sync::Arc;

use super::Malformed;
use crate::access::Access;
use crate::form::word;
use crate::pattern::{Effort, Pattern, Wanted};
use crate::privilege::{Actions, fits};
use json::fields::FieldRule;

use crate::record::role::{Descriptor, IndexGrant, Role};

/// What `cluster:monitor` gives, and what each is in words.
pub const MONITOR: [(&str, &str); 5] = [
    ("cluster:monitor/health", "health"),
    ("cluster:monitor/stats", "statistics"),
    ("cluster:monitor/main", "name and version"),
    ("cluster:monitor/task", "running work"),
    ("cluster:monitor/xpack/license", "license"),
];

/// The scope of refresh tokens.
pub const OFFLINE: &str = "offline_access";

/// Scopes in one list.
const ENTRIES_MAX: usize = 50;

/// Bytes of one list.
const LIST_BYTES_MAX: usize = 4096;

/// Bytes of a pattern.
const PATTERN_BYTES_MAX: usize = 128;

/// Stars in a pattern.
const STARS_MAX: usize = 2;

word! {
    /// What may be done to indices.
    pub enum Action {
        /// See documents, mapping and settings.
        Read = "read",
        /// Add documents that are not there.
        Create = "create",
        /// Add, change and remove documents.
        Write = "write",
        /// Make, change and remove indices; no documents.
        Manage = "manage",
        /// All of it.
        All = "all",
    }
}

impl Action {
    /// Does it cover the other?
    pub fn covers(self, other: Self) -> bool {
        self == other || self == Self::All || (self == Self::Write && other == Self::Create)
    }

    /// The store's actions.
    #[rustfmt::skip]
    pub fn actions(self) -> Actions {
        Actions::patterns(match self {
            Self::Read => &[
                "indices:data/read/*", "indices:admin/mappings/get*", "indices:admin/mappings/fields/get*",
                "indices:monitor/settings/get", "indices:admin/get", "indices:admin/exists",
                "indices:admin/validate/query*", "indices:admin/resolve/index",
            ],
            Self::Create => &[
                "indices:data/write/index", "indices:data/write/index[*",
                "indices:data/write/index:op_type/create", "indices:data/write/bulk*",
                "indices:admin/mapping/auto_put*",
            ],
            Self::Write => &["indices:data/write/*", "indices:admin/mapping/auto_put*"],
            Self::Manage => &["indices:admin/*", "indices:monitor/*"],
            Self::All => &["indices:*"],
        })
    }
}

/// One scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Something on indices.
    Index {
        /// Of which names.
        pattern: String,
        /// What.
        action: Action,
    },
    /// Who am I?
    Own,
    /// Health and statistics of the cluster.
    Monitor,
    /// Refresh tokens.
    Offline,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index { pattern, action } => write!(f, "index:{pattern}:{}", action.as_str()),
            Self::Own => f.write_str("self"),
            Self::Monitor => f.write_str("cluster:monitor"),
            Self::Offline => f.write_str(OFFLINE),
        }
    }
}

impl Scope {
    /// Reads one scope.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "self" => return Some(Self::Own),
            "cluster:monitor" => return Some(Self::Monitor),
            OFFLINE => return Some(Self::Offline),
            _ => {}
        }
        let (pattern, action) = text.strip_prefix("index:")?.rsplit_once(':')?;
        let action = Action::of(action)?;
        is_pattern(pattern).then(|| Self::Index { pattern: pattern.to_owned(), action })
    }

    /// Does it hold the other?
    pub fn holds(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Index { pattern: own, action },
                Self::Index { pattern: wanted, action: wanted_action },
            ) => action.covers(*wanted_action) && holds_pattern(own, wanted),
            _ => self == other,
        }
    }

    /// What both hold: of index names those that fit both patterns ([`common`]).
    pub fn shared(&self, other: &Self) -> Vec<Self> {
        let (Self::Index { pattern, action }, Self::Index { pattern: others, action: of_other }) =
            (self, other)
        else {
            return if self == other { vec![self.clone()] } else { Vec::new() };
        };
        let action = match (action.covers(*of_other), of_other.covers(*action)) {
            (true, _) => *of_other,
            (false, true) => *action,
            (false, false) => return Vec::new(),
        };
        let names = common(pattern, others).into_iter();
        names.map(|pattern| Self::Index { pattern, action }).collect()
    }
}

/// Is this a legal pattern of index names?
pub fn is_pattern(pattern: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.*".contains(c);
    (1..=PATTERN_BYTES_MAX).contains(&pattern.len())
        && pattern.chars().all(legal)
        && !pattern.starts_with(['-', '_', '.'])
        && pattern.matches('*').count() <= STARS_MAX
}

/// Does every name that fits `wanted` fit `own`? A star of `wanted` may become a letter that `own`
/// does not write, and only a star of `own` can match that one: so the star itself may stand for it.
pub fn holds_pattern(own: &str, wanted: &str) -> bool {
    fits(own, wanted)
}

/// Patterns that together mean the names that fit both: the one whose names all fit the other; or, of two that each have
/// one star, what begins as both and ends as both, where beginning and end may overlap. None where neither is so, though
/// some name may fit both: that grants less.
fn common(one: &str, other: &str) -> Vec<String> {
    if holds_pattern(one, other) {
        return vec![other.to_owned()];
    }
    if holds_pattern(other, one) {
        return vec![one.to_owned()];
    }
    let ends = |pattern: &str| {
        let (begin, end) = pattern.split_once('*')?;
        (!end.contains('*')).then(|| (begin.to_owned(), end.to_owned()))
    };
    let (Some((begin, end)), Some((begins, ends))) = (ends(one), ends(other)) else {
        return Vec::new();
    };
    let begin = if begin.len() > begins.len() { (begin, begins) } else { (begins, begin) };
    let end = if end.len() > ends.len() { (end, ends) } else { (ends, end) };
    if !begin.0.starts_with(&begin.1) || !end.0.ends_with(&end.1) {
        return Vec::new();
    }
    let (begin, end) = (begin.0, end.0);
    let overlaps = (1..=begin.len().min(end.len())).filter(|&len| begin.ends_with(&end[..len]));
    let short = overlaps.map(|len| format!("{begin}{}", &end[len..]));
    let fits = |name: &String| holds_pattern(one, name) && holds_pattern(other, name);
    let mut all: Vec<String> = short.filter(fits).collect();
    all.insert(0, format!("{begin}*{end}"));
    all.retain(|pattern| is_pattern(pattern));
    all
}

/// Reads a list separated by single spaces; equal ones collapse.
///
/// # Errors
/// A list that is malformed, too long, or holds something unknown.
pub fn parse_list(text: &str) -> Result<Vec<Scope>, Malformed> {
    if text.len() > LIST_BYTES_MAX {
        return Err(Malformed);
    }
    let mut scopes = Vec::new();
    for one in text.split(' ') {
        let scope = Scope::parse(one).ok_or(Malformed)?;
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
        if scopes.len() > ENTRIES_MAX {
            return Err(Malformed);
        }
    }
    Ok(scopes)
}

/// The list as text.
pub fn list_text(scopes: &[Scope]) -> String {
    let words: Vec<String> = scopes.iter().map(Scope::to_string).collect();
    words.join(" ")
}

/// Scopes that were stored; those that do not read are passed over, which grants less.
pub fn stored(words: &[String]) -> Vec<Scope> {
    words.iter().filter_map(|word| Scope::parse(word)).collect()
}

/// Does the list hold each of the others?
pub fn holds_all(own: &[Scope], wanted: &[Scope]) -> bool {
    wanted.iter().all(|wanted| own.iter().any(|own| own.holds(wanted)))
}

/// What the scopes have in common with a ceiling: each that lies within it, and of another the parts that do.
pub fn cut(scopes: &[Scope], ceiling: &[Scope]) -> Vec<Scope> {
    cut_to(ENTRIES_MAX, scopes, ceiling)
}

/// The same; parts of scopes as far as there are no more than `most`.
pub fn cut_to(most: usize, scopes: &[Scope], ceiling: &[Scope]) -> Vec<Scope> {
    let mut left: Vec<Scope> = Vec::with_capacity(scopes.len());
    for scope in scopes {
        if ceiling.iter().any(|own| own.holds(scope)) {
            left.push(scope.clone());
            continue;
        }
        for part in ceiling.iter().flat_map(|own| own.shared(scope)) {
            if left.len() < most && !left.iter().any(|known| known.holds(&part)) {
                left.push(part);
            }
        }
    }
    left
}

/// The same without what another one of them holds anyway: each thing once.
pub fn widest(scopes: Vec<Scope>) -> Vec<Scope> {
    let mut kept: Vec<Scope> = Vec::with_capacity(scopes.len());
    for scope in scopes {
        if !kept.iter().any(|known| known.holds(&scope)) {
            kept.retain(|known| !scope.holds(known));
            kept.push(scope);
        }
    }
    kept
}

/// The first of the scopes that these rights do not hold whole. Whoever acts for itself can do no more than
/// its account anyway; this tells whoever sets it up. `by_alias` is asked of a privilege that they do not hold
/// on a pattern: do they hold it all the same, on all that there is of it, since aliases lead there?
pub fn beyond<'a>(
    scopes: &'a [Scope],
    access: &Access,
    by_alias: impl Fn(&str, &str) -> bool,
) -> Option<&'a Scope> {
    scopes.iter().find(|scope| match scope {
        Scope::Index { pattern, action } => {
            let privilege = match action {
                Action::Read => "read",
                Action::Create => "create_doc",
                Action::Write => "write",
                Action::Manage => "manage",
                Action::All => "all",
            };
            let wanted = Wanted::new(pattern);
            !access.has_index(privilege, &wanted, false, &Effort::default())
                && !by_alias(privilege, pattern)
        }
        Scope::Monitor => !access.has_cluster("monitor"),
        Scope::Own | Scope::Offline => false,
    })
}

/// What a list means at the gate: one role.
pub fn role(scopes: &[Scope]) -> Role {
    let mut role = Role::new("scope", Descriptor::default());
    for scope in scopes {
        match scope {
            Scope::Index { pattern, action } => {
                role.indices.push(grant(std::slice::from_ref(pattern), *action, None, None));
            }
            Scope::Monitor => {
                // Node information stays the operator's, and mappings are asked of the indices.
                role.cluster = Actions::of(
                    crate::privilege::Kind::Cluster,
                    &MONITOR.map(|(action, _)| action.to_owned()),
                );
            }
            Scope::Own | Scope::Offline => {}
        }
    }
    role
}

/// A grant on indices.
pub fn grant(
    names: &[String],
    action: Action,
    query: Option<Arc<json::Value>>,
    fields: Option<FieldRule>,
) -> IndexGrant {
    IndexGrant {
        names: Pattern::list(names),
        actions: action.actions(),
        fields,
        query,
        restricted: false,
        dots: false,
    }
}

/// The narrowest scope that would allow an action on an index: what a denial names. None where no scope
/// would.
pub fn wanted(action: &str, index: Option<&str>) -> Option<String> {
    let Some(index) = index else {
        return role(&[Scope::Monitor]).cluster.hold(action).then(|| Scope::Monitor.to_string());
    };
    let found = [Action::Read, Action::Create, Action::Write, Action::Manage, Action::All]
        .into_iter()
        .find(|known| known.actions().hold(action))?;
    // A bulk request holds anything; what one line of it wants is asked for by itself.
    let found = if action.starts_with("indices:data/write/")
        && found == Action::Create
        && !action.ends_with("op_type/create")
    {
        Action::Write
    } else {
        found
    };
    is_pattern(index).then(|| format!("index:{index}:{}", found.as_str()))
}

/// Was `offline_access` asked for, and not granted? The owner unticked it: there is no refresh token.
pub fn keeps_back(asked: &[String], granted: &[String]) -> Option<bool> {
    let has = |scopes: &[String]| scopes.iter().any(|scope| scope == OFFLINE);
    (has(asked) && !has(granted)).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beyond_a_ceiling_is_cut_away() {
        let list = |text: &str| match text {
            "" => Vec::new(),
            text => parse_list(text).expect(text),
        };
        for (scopes, ceiling, left) in [
            ("index:a-*:read index:a-1:read", "index:*:all", "index:a-*:read index:a-1:read"),
            ("index:a-*:read index:a-*:write", "index:a-*:read", "index:a-*:read"),
            ("index:a-*:read", "index:a-1:read index:b:read", "index:a-1:read"),
            ("index:a-*:all", "index:*:read index:a-1:write", "index:a-*:read index:a-1:write"),
            ("index:a-*:all", "index:a-1:write index:a-1:create", "index:a-1:write"),
            ("index:*-1:read", "index:a-*:read", "index:a-*-1:read index:a-1:read"),
            ("index:a-1*:all", "index:a-*1:read", "index:a-1*1:read index:a-1:read"),
            ("index:ab*:read", "index:*ba:read", "index:ab*ba:read index:aba:read"),
            ("index:*-1:read", "index:*-2:read", ""),
            ("index:a*:read", "index:b*:read", ""),
            ("index:*a*:read", "index:b-*:read", ""),
            ("index:a:read", "index:a:write", ""),
            ("self cluster:monitor", "cluster:monitor", "cluster:monitor"),
        ] {
            assert_eq!(list_text(&cut(&list(scopes), &list(ceiling))), left, "{scopes} {ceiling}");
        }
        // Whatever is left lies in both.
        let all = ["*", "a*", "*a", "a-*", "*-1", "a*1", "a-1", "b"];
        let actions = ["read", "create", "write", "manage", "all"];
        let every: Vec<Scope> = all
            .iter()
            .flat_map(|name| actions.map(|action| format!("index:{name}:{action}")))
            .map(|text| Scope::parse(&text).expect("a scope"))
            .collect();
        for own in &every {
            for other in &every {
                let shared = own.shared(other);
                for part in &shared {
                    assert!(own.holds(part) && other.holds(part), "{own} {other} {part}");
                }
                assert_eq!(other.shared(own), shared);
                // And whatever lies in both is left.
                for name in ["a", "a1", "a-1", "a--1", "a-11", "b", "b-1", "aa", "-1"] {
                    let name = Scope::Index { pattern: name.to_owned(), action: Action::Read };
                    let is_left = shared.iter().any(|part| part.holds(&name));
                    assert_eq!(
                        is_left,
                        own.holds(&name) && other.holds(&name),
                        "{own} {other} {name}"
                    );
                }
            }
        }
    }

    #[test]
    fn scopes_are_read_as_they_are_written() {
        for text in
            ["index:orders-*:read", "self", "cluster:monitor", "index:a:all", "offline_access"]
        {
            assert_eq!(Scope::parse(text).expect(text).to_string(), text);
        }
        let long = format!("index:{}:read", "a".repeat(129));
        for bad in [
            "",
            "index::read",
            "index:a:",
            "index:A:read",
            "index:-a:read",
            "index:_a:read",
            "index:.a:read",
            "index:a*b*c*:read",
            "index:a,b:read",
            "index:a:delete",
            "openid",
            "SELF",
            "index:a b:read",
            "index:ä:read",
            &long,
        ] {
            assert_eq!(Scope::parse(bad), None, "{bad}");
        }
        assert_eq!(parse_list("self self").map(|list| list.len()), Ok(1));
        for bad in ["", " self", "self  self", "self ", "self\tself"] {
            assert_eq!(parse_list(bad), Err(Malformed), "{bad:?}");
        }
    }

    /// Every pattern of up to four characters, against every name of up to six: where some name tells
    /// them apart the patterns say so, and the other way round.
    #[test]
    fn holding_is_what_names_say() {
        let mut patterns = vec![String::new()];
        for at in 0.. {
            if patterns[at].len() == 4 {
                break;
            }
            for c in "ab*".chars() {
                patterns.push(format!("{}{c}", patterns[at]));
            }
        }
        // `c` stands for the letters that no pattern writes.
        let mut names = vec![String::new()];
        for at in 0.. {
            if names[at].len() == 6 {
                break;
            }
            for c in "abc".chars() {
                names.push(format!("{}{c}", names[at]));
            }
        }
        let patterns: Vec<_> = patterns.into_iter().filter(|pattern| is_pattern(pattern)).collect();
        for own in &patterns {
            for wanted in &patterns {
                let said = names.iter().all(|name| !fits(wanted, name) || fits(own, name));
                assert_eq!(holds_pattern(own, wanted), said, "{own} {wanted}");
            }
        }
    }

    #[test]
    fn actions_cover_what_they_should() {
        use Action::{All, Create, Manage, Read, Write};
        for own in [Read, Create, Write, Manage, All] {
            for other in [Read, Create, Write, Manage, All] {
                let expected = own == other || own == All || (own, other) == (Write, Create);
                assert_eq!(own.covers(other), expected, "{own:?} {other:?}");
            }
        }
        assert!(Read.actions().hold("indices:data/read/search"));
        assert!(!Manage.actions().hold("indices:data/read/search"));
        assert!(!Write.actions().hold("indices:data/read/get"));
        assert!(!Create.actions().hold("indices:data/write/index:op_type/index"));
        assert!(!Create.actions().hold("indices:data/write/delete"));
    }

    #[test]
    fn each_thing_is_told_once() {
        let widest = |text: &str| list_text(&widest(parse_list(text).expect(text)));
        for (text, expected) in [
            ("index:a:read index:a:all index:a:write", "index:a:all"),
            ("index:a*:read index:a-1:read index:b:read", "index:a*:read index:b:read"),
            ("index:a:create self index:a:write", "self index:a:write"),
            ("index:a:read index:a:write", "index:a:read index:a:write"),
        ] {
            assert_eq!(widest(text), expected, "{text}");
        }
    }

    #[test]
    fn a_denial_names_the_scope_that_lacks() {
        assert_eq!(
            wanted("indices:data/write/index", Some("orders-1")).as_deref(),
            Some("index:orders-1:write")
        );
        assert_eq!(wanted("indices:data/read/get", Some("a")).as_deref(), Some("index:a:read"));
        assert_eq!(wanted("indices:admin/create", Some("a")).as_deref(), Some("index:a:manage"));
        assert_eq!(wanted("cluster:monitor/health", None).as_deref(), Some("cluster:monitor"));
        assert_eq!(wanted("cluster:admin/settings/update", None), None);
        assert_eq!(wanted("cluster:monitor/nodes/info", None), None, "no scope grants it");
    }
}
