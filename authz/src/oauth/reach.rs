//! What an owner can give today: what remains of a scope where the owner holds less than it.
//!
//! Always true: a scope reaches no name that begins with a dot, so what is held on such names alone is
//! nothing of it.

use std::sync::Arc;

use json::Value;

use super::details;
use super::part::Held;
use super::scope::{self, Scope};
use crate::privilege::fits;
use crate::record::role::{IndexGrant, Role};

/// How far an owner's roles reach.
#[derive(Clone, Debug)]
pub struct Reach {
    roles: Arc<[Arc<Role>]>,
    /// What each of their grants on indices holds, in their order.
    held: Vec<Held>,
    /// Indices that an application reaches by aliases whose very names the roles write.
    lent: Vec<Lent>,
}

/// An index behind an alias.
#[derive(Clone, Debug)]
struct Lent {
    alias: String,
    index: String,
    /// What of it.
    held: Held,
}

/// What remains of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remains {
    /// On indices.
    Indices(Held),
    /// Of the cluster: what of it is seen, in words.
    Cluster(Vec<&'static str>),
    /// It is everybody's.
    Whole,
}

/// A scope of which something is held, and what that is: worked out once for all that is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The scope.
    pub scope: Scope,
    /// What remains of it.
    pub remains: Remains,
}

/// On how many indices, data streams and aliases a scope is held. A stream is one, however many indices it
/// writes into. An alias is counted by its own name, be the indices behind it counted or not: a token may open
/// it where its owner's roles write its name, and nothing else of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Today {
    /// Indices on which all is held that remains of it anywhere.
    pub whole: usize,
    /// Data streams on which it is.
    pub streams: usize,
    /// Aliases on which it is.
    pub aliases: usize,
    /// Of all, those on which less than that is held.
    pub part: usize,
    /// The owner's own names are narrower than the scope's: of what comes later it is held only where they
    /// reach.
    pub is_narrow: bool,
}

/// A name that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum There<'n> {
    /// An index.
    Index(&'n str),
    /// A data stream.
    Stream(&'n str),
    /// An alias.
    Alias(&'n str),
}

impl<'n> There<'n> {
    /// The name.
    pub fn name(self) -> &'n str {
        match self {
            Self::Index(name) | Self::Stream(name) | Self::Alias(name) => name,
        }
    }

    /// Does a scope's pattern reach it?
    pub fn fits(self, pattern: &str) -> bool {
        !self.name().starts_with('.') && fits(pattern, self.name())
    }
}

impl Today {
    /// With all of these, on which a scope is held whole.
    pub fn of<'n>(there: impl Iterator<Item = There<'n>>) -> Self {
        let mut today = Self::default();
        there.for_each(|one| today.add(one));
        today
    }

    fn add(&mut self, one: There<'_>) {
        match one {
            There::Index(_) => self.whole += 1,
            There::Stream(_) => self.streams += 1,
            There::Alias(_) => self.aliases += 1,
        }
    }
}

impl Remains {
    /// Is it nothing?
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Indices(held) => held.is_empty(),
            Self::Cluster(held) => held.is_empty(),
            Self::Whole => false,
        }
    }
}

impl Reach {
    /// Of these roles.
    pub fn new(roles: Arc<[Arc<Role>]>) -> Self {
        let held = roles.iter().flat_map(|role| &role.indices);
        let held = held.map(|grant| Held::of(&grant.actions)).collect();
        Self { roles, held, lent: Vec::new() }
    }

    /// The same for an application that asks for all these scopes: with the indices behind aliases that are asked
    /// for, too, and whose very names a role writes. An alias opens where the application was granted its name and
    /// the index; of the roles the alias is enough ([`crate::access::Access::index_by_alias`]).
    #[must_use]
    pub fn with_aliases(
        mut self,
        asked: &[Scope],
        behind: &dyn Fn(&str) -> Option<Vec<String>>,
    ) -> Self {
        // By the names that roles write, which are few, and not by the aliases there are.
        let mut lent = Vec::new();
        for (held, grant) in self.grants() {
            for alias in grant.names.iter().map(|name| name.text()) {
                let wanted = asked.iter().fold(Held::default(), |all, scope| match scope {
                    Scope::Index { pattern, action } if fits(pattern, alias) => {
                        all.or(Held::of_scope(*action))
                    }
                    _ => all,
                });
                let held = held.and(wanted);
                if held.is_empty() || alias.starts_with('.') || !grant.names_index(alias) {
                    continue;
                }
                let indices = behind(alias).unwrap_or_default().into_iter();
                let indices = indices.filter(|index| !index.starts_with('.'));
                let lend = |index| Lent { alias: alias.to_owned(), index, held };
                lent.extend(indices.map(lend));
            }
        }
        self.lent = lent;
        self
    }

    /// What is held of a scope; nothing of what is none.
    pub fn share(&self, scope: &str) -> Option<Share> {
        Scope::parse(scope).and_then(|scope| self.share_of(scope))
    }

    /// The same of one that is read.
    pub fn share_of(&self, scope: Scope) -> Option<Share> {
        let remains = self.of(&scope);
        (!remains.is_empty()).then_some(Share { scope, remains })
    }

    /// Is anything of a scope held?
    pub fn holds_any(&self, scope: &str) -> bool {
        self.share(scope).is_some()
    }

    /// Is anything of an entry of `authorization_details` held?
    pub fn holds_any_of(&self, entry: &Value) -> bool {
        details::scopes(entry).iter().any(|scope| !self.of(scope).is_empty())
    }

    /// On how many of these a scope is held today: an application may ask for any name, and what it
    /// is told must not tell which of those there are that its owner was not granted.
    pub fn today<'n>(&self, share: &Share, there: impl Iterator<Item = There<'n>>) -> Today {
        let mut today = Today::default();
        let (Scope::Index { pattern, action }, Remains::Indices(most)) =
            (&share.scope, &share.remains)
        else {
            return today;
        };
        let (asked, most) = (Held::of_scope(*action), most.told());
        today.is_narrow =
            pattern.contains('*') && self.everywhere(pattern, asked).of_use().told() != most;
        // Few sets of rights, many names; of each: is anything of it of use, and is it all that remains?
        let mut known: Vec<(Held, Option<bool>)> = Vec::new();
        for one in there.filter(|one| one.fits(pattern)) {
            let grants = self.grants().filter(|(_, grant)| grant.names_index(one.name()));
            let held = grants.fold(Held::default(), |all, (held, _)| all.or(held));
            // One whose alias is counted already is not counted beside it.
            let lent = self.lent.iter().filter(|it| it.index == one.name());
            let lent = lent.filter(|it| !fits(pattern, &it.alias));
            let held = lent.fold(held, |all, it| all.or(it.held)).and(asked);
            let is_whole = match known.iter().find(|(known, _)| *known == held) {
                Some((_, is_whole)) => *is_whole,
                None => {
                    let of_use = held.of_use();
                    let is_whole = (!of_use.is_empty()).then(|| of_use.told() == most);
                    known.push((held, is_whole));
                    is_whole
                }
            };
            match is_whole {
                Some(true) => today.add(one),
                Some(false) => today.part += 1,
                None => {}
            }
        }
        today
    }

    /// What of these rights is held on every name of a pattern, by grants that each reach them all.
    fn everywhere(&self, pattern: &str, asked: Held) -> Held {
        let mut all = Held::default();
        for (held, grant) in self.grants() {
            let more = all.or(held.and(asked));
            // Patterns are compared last: that takes the longest.
            if more != all && grant.names.iter().any(|name| name.covers(pattern)) {
                all = more;
            }
        }
        all
    }

    fn grants(&self) -> impl Iterator<Item = (Held, &IndexGrant)> {
        self.held.iter().copied().zip(self.index_grants())
    }

    /// The grants on indices of all roles.
    pub fn index_grants(&self) -> impl Iterator<Item = &IndexGrant> {
        self.roles.iter().flat_map(|role| &role.indices)
    }

    /// The aliases by which alone the index that a scope names is opened, in order; none where the owner's roles
    /// reach the index itself, or the scope is a pattern.
    pub fn lenders(&self, scope: &Scope) -> Vec<&str> {
        let Scope::Index { pattern, action } = scope else { return Vec::new() };
        let asked = Held::of_scope(*action);
        let is_own = |(held, grant): (Held, &IndexGrant)| {
            !held.and(asked).is_empty() && grant.names_index(pattern.as_str())
        };
        if pattern.contains('*') || self.grants().any(is_own) {
            return Vec::new();
        }
        // One that lends other rights alone opens nothing of what is asked.
        let lends = |lent: &&Lent| !lent.held.and(asked).of_use().is_empty();
        let lent = self.lent.iter().filter(|lent| lent.index == *pattern).filter(lends);
        let mut aliases: Vec<&str> = lent.map(|lent| lent.alias.as_str()).collect();
        aliases.sort_unstable();
        aliases.dedup();
        aliases
    }

    /// Does a grant reach indices of a pattern by an alias of which it writes the name?
    pub fn lends(&self, grant: &IndexGrant, pattern: &str) -> bool {
        let is_of = |lent: &Lent| grant.names.iter().any(|name| name.text() == lent.alias);
        self.lent.iter().any(|lent| fits(pattern, &lent.index) && is_of(lent))
    }

    fn of(&self, scope: &Scope) -> Remains {
        match scope {
            Scope::Index { pattern, action } => {
                let asked = Held::of_scope(*action);
                let mut remains = Held::default();
                for (held, grant) in self.grants() {
                    let held = held.and(asked);
                    // Patterns are compared last: that takes the longest.
                    if remains.or(held) != remains
                        && grant.names.iter().any(|name| name.overlaps_plain(pattern))
                    {
                        remains = remains.or(held);
                    }
                }
                for lent in self.lent.iter().filter(|it| fits(pattern, &it.index)) {
                    remains = remains.or(lent.held.and(asked));
                }
                Remains::Indices(remains.of_use())
            }
            Scope::Monitor => {
                let is_held = |action: &str| self.roles.iter().any(|it| it.cluster.hold(action));
                let held = scope::MONITOR.iter().filter(|(action, _)| is_held(action));
                Remains::Cluster(held.map(|(_, word)| *word).collect())
            }
            Scope::Own | Scope::Offline => Remains::Whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::part::Object;
    use super::*;
    use crate::record::role::{Descriptor, IndexEntry};

    fn reach(cluster: &[&str], entries: &[(&str, &str)]) -> Reach {
        let indices =
            entries.iter().map(|(names, privilege)| IndexEntry::plain(&[names], &[privilege]));
        let cluster = cluster.iter().map(|&name| name.to_owned()).collect();
        let descriptor =
            Descriptor { cluster, indices: indices.collect(), ..Descriptor::default() };
        Reach::new(Arc::from([Arc::new(Role::new("r", descriptor))]))
    }

    fn remains(reach: &Reach, scope: &str) -> Option<Remains> {
        reach.share(scope).map(|share| share.remains)
    }

    fn today<'n>(reach: &Reach, scope: &str, there: impl IntoIterator<Item = There<'n>>) -> Today {
        let share = reach.share(scope);
        share.map(|share| reach.today(&share, there.into_iter())).unwrap_or_default()
    }

    const NAMES: [&str; 5] = ["a-1", "a-2", "b-1", "c-1", ".tasks"];

    #[test]
    fn indices_count_where_the_scope_remains() {
        let reach =
            reach(&[], &[("a-*", "read"), ("*-1", "view_index_metadata"), ("c-*", "write")]);
        let today = |scope: &str| {
            let today = today(&reach, scope, NAMES.map(There::Index));
            (today.whole, today.part)
        };
        // Two are read; of two others the fields are seen.
        assert_eq!(today("index:*:read"), (2, 2));
        assert_eq!(today("index:a-*:read"), (2, 0));
        assert_eq!(today("index:b-*:read"), (1, 0));
        assert_eq!(today("index:*:write"), (1, 0));
        assert_eq!(today("index:c-1:write"), (1, 0));
        assert_eq!(today("index:a-*:write"), (0, 0));
        assert_eq!(today("index:d-*:read"), (0, 0));
        assert!(reach.holds_any("index:d-1:read"), "the names of `*-1` may come");
        assert!(!reach.holds_any("index:d-2:read") && !reach.holds_any("nothing"));
    }

    /// The page said "none today" of a data stream that the token then read.
    #[test]
    fn data_streams_count_as_one_each_by_their_own_names() {
        let reach = reach(&[], &[("logs-*", "read"), ("logs-y", "write")]);
        let there = [
            There::Stream("logs-y"),
            There::Index(".ds-logs-y-2026.11.25-000001"),
            There::Index("logs-1"),
            There::Stream("other"),
        ];
        let today = |scope: &str| today(&reach, scope, there);
        let one = Today { streams: 1, ..Today::default() };
        assert_eq!(today("index:logs-*:read"), Today { whole: 1, ..one });
        assert_eq!(today("index:logs-y:read"), one);
        assert_eq!(today("index:*:write"), Today { is_narrow: true, ..one });
        assert_eq!(today("index:*:all"), Today { part: 1, is_narrow: true, ..one });
    }

    /// The page said "none today" of an alias that the token then opened.
    #[test]
    fn aliases_count_by_their_own_names() {
        let reach = reach(&[], &[("orders", "all"), ("sales-*", "read"), ("sales", "read")]);
        let there = [
            There::Index("orders-2026"),
            There::Alias("orders"),
            There::Index("sales-2026"),
            There::Alias("sales"),
            There::Alias("other"),
            There::Alias(".hidden"),
        ];
        let today = |scope: &str| today(&reach, scope, there);
        let one = Today { aliases: 1, ..Today::default() };
        assert_eq!(today("index:orders:all"), one);
        assert_eq!(today("index:orders*:all"), Today { is_narrow: true, ..one });
        assert_eq!(today("index:sales*:read"), Today { whole: 1, is_narrow: true, ..one });
        assert_eq!(today("index:orders-2026:all"), Today::default());
        let all = Today { whole: 1, aliases: 2, is_narrow: true, ..Today::default() };
        assert_eq!(today("index:*:read"), all);
    }

    /// "Any that come later" was said of every index where the owner held `a-*` alone.
    #[test]
    fn what_comes_later_is_held_as_far_as_the_owners_names_go() {
        let reach = reach(
            &[],
            &[
                ("a-*", "read"),
                ("*", "monitor"),
                ("/b.*/", "write"),
                ("c-*", "indices:data/read/search"),
                ("c*", "indices:data/read/get"),
            ],
        );
        for (scope, is_narrow) in [
            ("index:*:read", true),
            ("index:a-*:read", false),
            ("index:a-1*:read", false),
            ("index:a*:read", true),
            ("index:*:manage", true),
            ("index:d*:manage", false),
            ("index:b-*:write", false),
            ("index:*:write", true),
            ("index:c-*:read", false),
            ("index:c*:read", true),
            ("index:a-1:read", false),
        ] {
            assert_eq!(today(&reach, scope, []).is_narrow, is_narrow, "{scope}");
        }
    }

    #[test]
    fn parts_of_several_roles_come_together_where_names_may_meet() {
        let reach = reach(&[], &[("a-*", "create_index"), ("b-*", "delete_index")]);
        let told = |scope: &str| match remains(&reach, scope) {
            Some(Remains::Indices(held)) => held.told(),
            other => panic!("{other:?}"),
        };
        let (create, delete) = (("create", Object::Indices), ("delete", Object::Indices));
        assert_eq!(told("index:*:manage"), [create, delete]);
        assert_eq!(told("index:b-1:manage"), [delete]);
        assert_eq!(remains(&reach, "index:c*:manage"), None);
        assert_eq!(remains(&reach, "index:*:read"), None);
    }

    /// Who held `.kibana*` alone was asked for reading every index, and nothing of it could ever be read.
    #[test]
    fn names_that_begin_with_a_dot_are_nothing_of_a_scope() {
        for names in [".kibana*", "/[.]kibana.*/", ".*"] {
            let owner = reach(&[], &[(names, "read")]);
            assert_eq!(remains(&owner, "index:*:read"), None, "{names}");
            let today = today(&owner, "index:*:read", NAMES.map(There::Index));
            assert_eq!(today, Today::default(), "{names}");
        }
        let owner = reach(&[], &[(".kibana*", "write"), ("*", "read")]);
        assert!(owner.holds_any("index:*:read") && !owner.holds_any("index:*:write"));
    }

    /// "Create the indices" was said to whom neither `PUT /q-1` nor a first document made one.
    #[test]
    fn indices_that_a_first_document_makes_take_one_who_adds_it() {
        let owner = reach(&[], &[("q-*", "auto_configure")]);
        assert_eq!(remains(&owner, "index:q-*:manage"), None);
        assert_eq!(remains(&owner, "index:q-*:all"), None);
        assert_eq!(today(&owner, "index:*:all", [There::Index("q-1")]), Today::default());
        let adds = reach(&[], &[("q-*", "auto_configure"), ("q-*", "create_doc")]);
        let Some(Remains::Indices(held)) = remains(&adds, "index:q-*:all") else {
            panic!("something is held")
        };
        assert_eq!(held.told(), [("add", Object::Documents), ("create", Object::Indices)]);
        assert_eq!(remains(&adds, "index:q-*:manage"), None);
    }

    #[test]
    fn the_clusters_state_may_be_seen_in_part() {
        let seen = |privilege: &str| remains(&reach(&[privilege], &[]), "cluster:monitor");
        assert_eq!(seen("monitor_stats"), Some(Remains::Cluster(vec!["statistics"])));
        assert_eq!(seen("manage_security"), None);
        assert_eq!(seen("none"), None);
        let all = scope::MONITOR.iter().map(|(_, word)| *word).collect();
        assert_eq!(seen("monitor"), Some(Remains::Cluster(all)));
        assert_eq!(remains(&reach(&[], &[]), "self"), Some(Remains::Whole));
    }
}
