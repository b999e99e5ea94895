//! Roles: what an operator writes down (a descriptor), and what it means (compiled for the gate).

use std::sync::{Arc, LazyLock};

use json::fields::FieldRule;
use json::{Object, Value};

use crate::form::{Form, record, together};
use crate::pattern::{Effort, Pattern, Wanted};
use crate::privilege::{self, Actions, Kind};

/// The role that may do everything.
pub const SUPERUSER: &str = "superuser";

/// The privilege to have API keys, which is more than actions.
pub const OWN_KEYS: &str = "manage_own_api_key";

/// Indices that a pattern reaches only where its entry says `allow_restricted_indices`: those of
/// security, and that of tasks, whose failures hold values of the documents of others.
pub fn is_restricted(index: &str) -> bool {
    RESTRICTED.iter().any(|beginning| index.starts_with(beginning))
}

/// How the names of such indices begin.
const RESTRICTED: [&str; 2] = [".security", ".tasks"];

/// Means a pattern such indices: some of them, and none but them?
pub fn reaches_restricted(wanted: &Wanted<'_>, effort: &Effort) -> (bool, bool) {
    /// The same as [`RESTRICTED`], as an expression.
    static EXPRESSION: LazyLock<Pattern> = LazyLock::new(|| {
        let beginnings = RESTRICTED.map(|beginning| beginning.replace('.', "\\."));
        Pattern::list(&[format!("/({}).*/", beginnings.join("|"))]).remove(0)
    });
    let text = wanted.text();
    if text.starts_with('/') || text.contains(['?', '\\']) {
        return wanted.lies_in(&EXPRESSION, effort);
    }
    let literal = &text[..text.find('*').unwrap_or(text.len())];
    let is_inside = is_restricted(literal);
    let is_whole = literal.len() == text.len();
    let may_be = || RESTRICTED.iter().any(|beginning| beginning.starts_with(literal));
    (is_inside || (!is_whole && may_be()), is_inside)
}

record! {
    /// A role as it is written down.
    pub struct Descriptor {
        /// Privileges on the cluster.
        pub cluster: Vec<String>,
        /// Privileges on indices.
        pub indices: Vec<IndexEntry>,
        /// Privileges of applications.
        pub applications: Vec<ApplicationEntry>,
        /// Whom its bearers may act as.
        pub run_as: Vec<String>,
        /// Anything the operator notes.
        pub metadata: Object,
        /// A sentence for people.
        pub description: Option<String>,
        /// Kept and shown as it came: `global`, of which privileges over applications count; `remote_indices`,
        /// `remote_cluster`.
        pub beside: Object,
    }
}

record! {
    /// Privileges on some indices.
    pub struct IndexEntry {
        /// Patterns of names.
        pub names: Vec<String>,
        /// Names of privileges.
        pub privileges: Vec<String>,
        /// Fields that may be seen.
        pub grant: Option<Vec<String>>,
        /// Fields of these that may not.
        pub except: Option<Vec<String>>,
        /// Documents that may be seen, as JSON text.
        pub query: Option<String>,
        /// Reaches restricted indices too.
        pub allow_restricted_indices: bool,
    }
}

record! {
    /// Privileges of one application.
    pub struct ApplicationEntry {
        /// Its name, or a pattern.
        pub application: String,
        /// Privileges or actions.
        pub privileges: Vec<String>,
        /// On which of its things.
        pub resources: Vec<String>,
    }
}

impl Default for Descriptor {
    fn default() -> Self {
        Self {
            cluster: Vec::new(),
            indices: Vec::new(),
            applications: Vec::new(),
            run_as: Vec::new(),
            metadata: Object::new(),
            description: None,
            beside: Object::new(),
        }
    }
}

impl Descriptor {
    /// Does it give nothing?
    pub fn is_empty(&self) -> bool {
        let is_nothing = |value: &Value| match value {
            Value::Object(members) => members.is_empty(),
            Value::Array(items) => items.is_empty(),
            value => *value == Value::Null,
        };
        self.cluster.is_empty()
            && self.indices.is_empty()
            && self.applications.is_empty()
            && self.run_as.is_empty()
            && self.beside.values().all(is_nothing)
    }
}

impl IndexEntry {
    /// Privileges on names, without limits.
    pub fn plain(names: &[&str], privileges: &[&str]) -> Self {
        let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        Self {
            names: owned(names),
            privileges: owned(privileges),
            grant: None,
            except: None,
            query: None,
            allow_restricted_indices: false,
        }
    }
}

/// A role with a name and its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// What was written down.
    pub descriptor: Descriptor,
    /// Actions on the cluster.
    pub cluster: Actions,
    /// It holds `manage_own_api_key` (or more).
    pub own_keys: bool,
    /// Grants on indices.
    pub indices: Vec<IndexGrant>,
    /// Whom its bearers may act as.
    run_as: Vec<Pattern>,
}

/// Actions on some indices.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexGrant {
    /// Patterns of index names.
    pub names: Vec<Pattern>,
    /// Which actions.
    pub actions: Actions,
    /// Fields that may be seen; `None` is all.
    pub fields: Option<FieldRule>,
    /// Only documents that match this query may be seen; `None` is all.
    pub query: Option<Arc<Value>>,
    /// Restricted indices count too.
    pub restricted: bool,
    /// A leading `*` reaches names that begin with a dot.
    pub dots: bool,
}

/// What a right is asked on: an index, alias or data stream by its name, and where it is an index of a data
/// stream, that stream. Which index is of which stream the cluster knows; a name alone tells nothing of it, for
/// any index may be put into a stream, and any but the last taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'n> {
    /// Its own.
    pub text: &'n str,
    /// The data stream's.
    pub stream: Option<&'n str>,
}

impl<'n> From<&'n str> for Name<'n> {
    /// Of no data stream.
    fn from(text: &'n str) -> Self {
        Self { text, stream: None }
    }
}

impl IndexGrant {
    /// Is the index meant?
    pub fn names_index<'n>(&self, index: impl Into<Name<'n>>) -> bool {
        let Name { text, stream } = index.into();
        if is_restricted(text) && !self.restricted {
            return false;
        }
        if !self.dots && stream.unwrap_or(text).starts_with('.') {
            return false;
        }
        // What a data stream's name is granted, its indices are.
        self.names
            .iter()
            .any(|pattern| pattern.fits(text) || stream.is_some_and(|stream| pattern.fits(stream)))
    }

    /// Is the action on this index meant?
    pub fn holds<'n>(&self, action: &str, index: impl Into<Name<'n>>) -> bool {
        self.names_index(index) && self.actions.hold(action)
    }

    /// Is the action on this index meant where the grant writes the very name of an alias of it?
    pub fn holds_by_alias(&self, action: &str, index: Name<'_>, alias: &str) -> bool {
        self.names.iter().any(|name| name.text() == alias)
            && self.holds(action, alias)
            && self.may_lead_to(index)
    }

    /// May another name that is granted lead to this index?
    pub fn may_lead_to(&self, index: Name<'_>) -> bool {
        self.restricted || !is_restricted(index.text)
    }
}

impl Role {
    /// What a descriptor means. (A query that does not read grants nothing: it was checked when it
    /// was stored, so this is damage, and damage must not open a door.)
    pub fn new(name: impl Into<String>, descriptor: Descriptor) -> Self {
        let indices = descriptor.indices.iter().filter_map(|entry| {
            let query = match &entry.query {
                None => None,
                Some(text) => Some(Arc::new(json::parse(text.as_bytes()).ok()?)),
            };
            let fields = (entry.grant.is_some() || entry.except.is_some()).then(|| FieldRule {
                grant: entry.grant.clone(),
                except: entry.except.clone().unwrap_or_default(),
            });
            let is_everything = fields.as_ref().is_some_and(|rule| {
                rule.except.is_empty()
                    && rule.grant.as_ref().is_none_or(|grant| grant.iter().any(|one| one == "*"))
            });
            Some(IndexGrant {
                names: Pattern::list(&entry.names),
                actions: Actions::of(Kind::Index, &entry.privileges),
                fields: fields.filter(|_| !is_everything),
                query,
                restricted: entry.allow_restricted_indices,
                dots: true,
            })
        });
        let indices = indices.collect();
        let cluster = Actions::of(Kind::Cluster, &descriptor.cluster);
        let own_keys = descriptor
            .cluster
            .iter()
            .any(|name| [OWN_KEYS, "all"].iter().any(|known| name.eq_ignore_ascii_case(known)))
            || cluster.cover(Kind::Cluster, "manage_api_key");
        let run_as = Pattern::list(&descriptor.run_as);
        Self { name: name.into(), cluster, own_keys, indices, run_as, descriptor }
    }

    /// Does it hold a privilege of `global` over applications of these names, all of them? One over every
    /// application (`*`) holds where none is named, too.
    pub fn holds_for_applications(
        &self,
        (category, privilege): (&str, &str),
        names: &[&str],
    ) -> bool {
        let global = self.descriptor.beside.get("global");
        let patterns = global.and_then(|global| global.at(&[category, privilege, "applications"]));
        let patterns = patterns.and_then(Value::as_array).unwrap_or_default();
        let any = |name: &str| {
            patterns.iter().filter_map(Value::as_str).any(|pattern| privilege::fits(pattern, name))
        };
        match names {
            [] => patterns.iter().any(|pattern| pattern.as_str() == Some("*")),
            names => names.iter().all(|name| any(name)),
        }
    }

    /// May its bearers act as this user?
    pub fn may_run_as(&self, user: &str) -> bool {
        self.run_as.iter().any(|pattern| pattern.fits(user))
    }
}

record! {
    /// A role as it is kept.
    pub struct Named {
        /// Its name.
        pub name: String,
        /// What was written down.
        pub descriptor: Descriptor,
    }
}

impl Form for Role {
    fn to_json(&self) -> Value {
        Named { name: self.name.clone(), descriptor: self.descriptor.clone() }.to_json()
    }

    fn from_json(value: &Value) -> Result<Self, String> {
        Named::from_json(value).map(|named| Self::new(named.name, named.descriptor))
    }

    fn weight(&self) -> Option<usize> {
        let (name, descriptor) = (self.name.weight(), self.descriptor.weight());
        Some(together(&[("name", name), ("descriptor", descriptor)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is not weighed by the form that it is kept in, which would be made for that.
    #[test]
    fn a_role_weighs_what_its_form_does() {
        let limited = IndexEntry {
            grant: Some(vec!["a".into(), "b.*".into()]),
            query: Some("{}".into()),
            ..IndexEntry::plain(&["logs-*"], &["read", "write"])
        };
        let note = [("a", Value::from(1_u64)), ("b", Value::Null)];
        let role = Role::new(
            "r",
            Descriptor {
                cluster: vec!["monitor".into()],
                indices: vec![limited, IndexEntry::plain(&[], &[])],
                applications: vec![ApplicationEntry {
                    application: "app".into(),
                    privileges: vec!["p".into()],
                    resources: vec!["*".into()],
                }],
                metadata: note.into_iter().collect(),
                description: Some("what it is for".into()),
                ..Descriptor::default()
            },
        );
        assert_eq!(role.weight(), role.to_json().weight());
        assert!(role.weight().is_some_and(|bytes| bytes > 1_000));
    }

    #[test]
    fn restricted_indices_need_their_own_word() {
        let mut entry = IndexEntry::plain(&["*"], &["all"]);
        let role = |entry: &IndexEntry| {
            Role::new("r", Descriptor { indices: vec![entry.clone()], ..Descriptor::default() })
        };
        assert!(role(&entry).indices[0].holds("indices:data/read/get", ".hidden"));
        for restricted in [".security-7", ".tasks"] {
            assert!(!role(&entry).indices[0].holds("indices:data/read/get", restricted));
        }
        entry.allow_restricted_indices = true;
        assert!(role(&entry).indices[0].holds("indices:data/read/get", ".security-7"));
    }

    #[test]
    fn a_data_streams_privileges_reach_its_indices() {
        let entry = IndexEntry::plain(&["logs-*"], &["read"]);
        let mut role = Role::new("r", Descriptor { indices: vec![entry], ..Descriptor::default() });
        let reads = |role: &Role, text, stream| {
            role.indices[0].holds("indices:data/read/get", Name { text, stream })
        };
        const NAMED_SO: &str = ".ds-logs-app-2026.11.22-000001";
        // Whatever it is called, and only as long as it is one of them.
        for (index, stream, is_read) in [
            (NAMED_SO, Some("logs-app"), true),
            ("archive", Some("logs-app"), true),
            (NAMED_SO, None, false),
            (NAMED_SO, Some("other"), false),
            (".security-7", Some("logs-app"), false),
        ] {
            assert_eq!(reads(&role, index, stream), is_read, "{index} {stream:?}");
        }
        // A pattern that reaches no name with a dot reaches the indices of a stream without one.
        role.indices[0].names = Pattern::list(&["*".to_owned()]);
        role.indices[0].dots = false;
        assert!(reads(&role, NAMED_SO, Some("logs-app")));
        assert!(!reads(&role, NAMED_SO, None) && !reads(&role, "archive", Some(".logs")));
    }

    #[test]
    fn a_role_is_read_as_it_was_written() {
        let mut descriptor = Descriptor::default();
        descriptor.cluster.push("monitor".into());
        descriptor.indices.push(IndexEntry {
            grant: Some(vec!["a".into()]),
            query: Some("{\"match_all\":{}}".into()),
            ..IndexEntry::plain(&["logs-*"], &["read"])
        });
        let role = Role::new("r", descriptor);
        assert_eq!(Role::from_json(&role.to_json()), Ok(role));
    }
}
