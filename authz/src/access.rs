//! From roles to answers: may this be done, and what of it may be seen? (Decision D7: the answer is
//! plain data.)
//!
//! Always true
//! 1. What no role grants is denied.
//! 2. Where several grants cover an index, their limits are alternatives: a document is seen where
//!    one of the filters passes, a field where one of the field sets holds it; a grant without a
//!    limit lifts that limit.
//! 3. Equal limits have equal keys, on every core of this process.

use std::fmt;
use std::sync::Arc;

use json::{Value, json};
use ring::digest;

use crate::record::role::{IndexGrant, Role, fits};

/// What a caller's roles grant.
#[derive(Clone, Debug)]
pub struct Access {
    user: String,
    roles: Arc<[Role]>,
}

/// What may be seen of one index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Documents: those that match this query; `None` is all.
    pub filter: Option<Arc<Value>>,
    /// Fields: patterns of those granted; `None` is all.
    pub fields: Option<Arc<[String]>>,
    /// Equal keys mean equal limits: for caches. 0 means unlimited.
    pub key: u64,
}

/// An action was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The action.
    pub action: String,
    /// The caller.
    pub user: String,
    /// The caller's roles.
    pub roles: Vec<String>,
    /// The indices, where the action is on some.
    pub indices: Vec<String>,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action, user, roles, indices } = self;
        write!(f, "action [{action}] is unauthorized for user [{user}]")?;
        write!(f, " with effective roles [{}]", roles.join(","))?;
        if !indices.is_empty() {
            write!(f, " on indices [{}]", indices.join(","))?;
        }
        Ok(())
    }
}

impl std::error::Error for Denied {}

impl Access {
    /// The access of `user` through `roles`.
    pub fn new(user: &str, roles: Arc<[Role]>) -> Self {
        Self { user: user.to_owned(), roles }
    }

    /// May the caller do `action` to the cluster?
    pub fn cluster(&self, action: &str) -> Result<(), Denied> {
        let granted =
            self.roles.iter().flat_map(|role| &role.cluster).any(|pattern| fits(pattern, action));
        if granted { Ok(()) } else { Err(self.denied(action, &[])) }
    }

    /// May the caller do `action` to `index`, and what of it may be seen?
    pub fn index(&self, action: &str, index: &str) -> Result<Limits, Denied> {
        let grants: Vec<&IndexGrant> = self
            .roles
            .iter()
            .flat_map(|role| &role.indices)
            .filter(|grant| grant.names.iter().any(|pattern| fits(pattern, index)))
            .filter(|grant| grant.actions.iter().any(|pattern| fits(pattern, action)))
            .collect();
        if grants.is_empty() {
            return Err(self.denied(action, &[index]));
        }
        Ok(limits(&grants))
    }

    fn denied(&self, action: &str, indices: &[&str]) -> Denied {
        Denied {
            action: action.to_owned(),
            user: self.user.clone(),
            roles: self.roles.iter().map(|role| role.name.clone()).collect(),
            indices: indices.iter().map(|&index| index.to_owned()).collect(),
        }
    }
}

/// The alternatives of `grants`, which are at least one.
fn limits(grants: &[&IndexGrant]) -> Limits {
    let queries: Option<Vec<&Arc<Value>>> =
        grants.iter().map(|grant| grant.query.as_ref()).collect();
    let filter = queries.map(|mut queries| {
        queries.dedup();
        match queries.as_slice() {
            [only] => Arc::clone(only),
            several => {
                let should: Vec<Value> = several.iter().map(|&query| (**query).clone()).collect();
                Arc::new(json!({"bool": {"should": should, "minimum_should_match": 1}}))
            }
        }
    });
    let sets: Option<Vec<&Vec<String>>> =
        grants.iter().map(|grant| grant.fields.as_ref()).collect();
    let fields = sets.map(|sets| {
        let mut fields: Vec<String> = sets.into_iter().flatten().cloned().collect();
        fields.sort();
        fields.dedup();
        Arc::from(fields)
    });
    let key = key(filter.as_deref(), fields.as_deref());
    Limits { filter, fields, key }
}

/// A number for these limits; 0 where there are none.
fn key(filter: Option<&Value>, fields: Option<&[String]>) -> u64 {
    if filter.is_none() && fields.is_none() {
        return 0;
    }
    // Two limits with one key would share cached answers, so the hash must resist being met on
    // purpose; the same text gives the same key on every core.
    let limits = json!({
        "filter": (filter.cloned()),
        "fields": (fields.map(<[String]>::to_vec)),
    });
    let digest = digest::digest(&digest::SHA256, json::to_string(&limits).as_bytes());
    let first = digest.as_ref().first_chunk().expect("a SHA-256 has 32 bytes");
    u64::from_be_bytes(*first).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(grants: Vec<IndexGrant>) -> Role {
        Role { name: "r".into(), cluster: vec!["cluster:monitor/*".into()], indices: grants }
    }

    fn grant(names: &str, query: Option<Value>, fields: Option<&[&str]>) -> IndexGrant {
        IndexGrant {
            names: vec![names.into()],
            actions: vec!["indices:data/read/*".into()],
            fields: fields.map(|fields| fields.iter().map(|&field| field.to_owned()).collect()),
            query: query.map(Arc::new),
        }
    }

    fn access(grants: Vec<IndexGrant>) -> Access {
        Access::new("ann", Arc::from([role(grants)]))
    }

    #[test]
    fn superuser_may_do_everything_and_sees_everything() {
        let access = Access::new("elastic", Arc::from([Role::superuser()]));
        assert_eq!(access.cluster("cluster:admin/settings/update"), Ok(()));
        let seen = access.index("indices:data/write/bulk", ".anything").expect("granted");
        assert_eq!(seen, Limits::default());
    }

    #[test]
    fn what_no_role_grants_is_denied_in_elasticsearchs_words() {
        let access = access(vec![grant("logs-*", None, None)]);
        assert!(access.cluster("cluster:monitor/health").is_ok());
        let denied = access.index("indices:data/write/bulk", "logs-1").expect_err("read only");
        assert_eq!(
            denied.to_string(),
            "action [indices:data/write/bulk] is unauthorized for user [ann] with effective roles \
             [r] on indices [logs-1]"
        );
        assert!(access.index("indices:data/read/search", "other").is_err());
        let denied = access.cluster("cluster:admin/reroute").expect_err("not granted");
        assert!(denied.to_string().ends_with("with effective roles [r]"), "{denied}");
        assert!(Access::new("bob", Arc::from([])).cluster("cluster:monitor/health").is_err());
    }

    #[test]
    fn limits_of_several_grants_are_alternatives() {
        let (one, other) = (json!({"term": {"a": 1}}), json!({"term": {"a": 2}}));
        let both = access(vec![
            grant("i", Some(one.clone()), Some(&["b", "a"])),
            grant("*", Some(other.clone()), Some(&["a", "c*"])),
        ]);
        let seen = both.index("indices:data/read/get", "i").expect("granted");
        let expected = json!({"bool": {"should": [one, other], "minimum_should_match": 1}});
        assert_eq!(seen.filter.as_deref(), Some(&expected));
        assert_eq!(seen.fields.as_deref(), Some(&["a", "b", "c*"].map(String::from)[..]));
        let again = both.index("indices:data/read/search", "i").expect("granted");
        assert_eq!(seen.key, again.key);
        let narrower = both.index("indices:data/read/get", "j").expect("granted");
        assert_ne!(seen.key, narrower.key);
        assert_ne!(narrower.key, 0);

        let lifted = access(vec![
            grant("i", Some(json!({"term": {"a": 1}})), Some(&["a"])),
            grant("*", None, None),
        ]);
        let seen = lifted.index("indices:data/read/get", "i").expect("granted");
        assert_eq!(seen, Limits::default(), "a grant without limits lifts them");
    }
}
