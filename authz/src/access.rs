//! From roles to answers: may this be done, and what of it may be seen? (Decision D7: the answer is
//! plain data.)
//!
//! A caller's rights are *layers*, each a set of roles: an action is granted where every layer
//! grants it. A user has one layer; an API key has its own descriptors and its owner's roles; an
//! OAuth token has the owner's roles now, the grant, and the client's ceiling.
//!
//! Always true
//! 1. What a layer does not grant is denied.
//! 2. Within a layer several grants on an index are alternatives: a document is seen where one of
//!    the filters passes, a field where one of the rules permits it; a grant without a limit lifts
//!    that limit. Between layers limits add up.
//! 3. In a strict layer each grant shows its own fields of its own documents: where grants differ in
//!    both, documents fall into kinds, by which of the grants they pass.
//! 4. Equal limits have equal keys, on every core of this process.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use json::fields::FieldRule;
pub use json::fields::Fields;
use json::{Value, json};
use ring::digest;

use crate::application;
use crate::pattern::{Effort, Pattern, Wanted};
use crate::privilege::{Kind, Lacking, granting};
use crate::record::role::{IndexGrant, Name, OWN_KEYS, Role, reaches_restricted};
use crate::state::State;
use crate::template;

/// What a caller's roles grant.
#[derive(Clone, Debug)]
pub struct Access {
    /// Who it is, in the words of a denial: `user [x]`.
    who: String,
    /// Names of roles, where a denial tells them.
    effective: Option<Vec<String>>,
    /// Names of assigned roles that do not exist.
    unknown: Vec<String>,
    layers: Vec<Layer>,
    /// What role queries may name.
    facts: Arc<template::Facts>,
}

/// One set of roles.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The roles.
    pub roles: Arc<[Arc<Role>]>,
    /// Where several grants differ in documents and in fields, each shows its own fields of its own
    /// documents: so that none shows a field of a document that only another grant shows.
    pub strict: bool,
}

/// What may be seen of one index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Documents: those that match this query; `None` is all.
    pub filter: Option<Arc<Value>>,
    /// Fields; `None` is all.
    pub fields: Option<Arc<Fields>>,
    /// Equal keys mean equal limits: for caches. 0 means unlimited.
    pub key: u64,
    /// Kinds of documents of which different fields are seen; no document is of two, and one of none
    /// is not seen. Empty where all are alike. Whoever does not look here keeps to `filter`, which
    /// passes all kinds, and `fields`, which are those of every grant.
    pub kinds: Vec<Limits>,
}

/// The field that a name means in an index, where it is another name of one.
pub type Targets<'t> = &'t dyn Fn(&str) -> Option<String>;

/// Grants of a strict layer that differ in documents and fields, at most: with each one more, kinds
/// of documents double. Beyond, the fields of all of them alone are shown.
const DIFFERENT_MAX: usize = 4;

/// Sets of field rules; every set must permit a field.
type Rules = Vec<Vec<FieldRule>>;

/// An action was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The action.
    pub action: String,
    /// The caller, with roles, in words.
    pub who: String,
    /// The indices, where the action is on some.
    pub indices: Vec<String>,
    /// Which privileges would grant it.
    pub kind: Kind,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action, who, indices, kind } = self;
        write!(f, "action [{action}] is unauthorized for {who}")?;
        if !indices.is_empty() {
            write!(f, " on indices [{}]", indices.join(","))?;
        }
        let group = match kind {
            Kind::Cluster => "cluster",
            Kind::Index => "index",
        };
        let granting = granting(*kind, action);
        if !granting.is_empty() {
            let granting = granting.join(",");
            write!(f, ", this action is granted by the {group} privileges [{granting}]")?;
        }
        Ok(())
    }
}

impl std::error::Error for Denied {}

impl Layer {
    /// Its grants that hold an action on this very name.
    fn grants(&self, action: &str, index: Name<'_>) -> impl Iterator<Item = &IndexGrant> {
        let all = self.roles.iter().flat_map(|role| &role.indices);
        all.filter(move |grant| grant.holds(action, index))
    }

    /// Its grants that hold an action on an index by the name of an alias that leads there: none of what was
    /// granted by name.
    fn grants_by_alias(
        &self,
        action: &str,
        index: Name<'_>,
        alias: &str,
    ) -> impl Iterator<Item = &IndexGrant> {
        let all = self.roles.iter().flat_map(|role| &role.indices);
        all.filter(move |grant| !self.strict && grant.holds_by_alias(action, index, alias))
    }
}

impl Access {
    /// The access of whoever `who` names through `layers`.
    pub fn new(who: String, layers: Vec<Layer>, facts: Arc<template::Facts>) -> Self {
        Self { who, effective: None, unknown: Vec::new(), layers, facts }
    }

    /// The same; denials tell these roles, and those assigned that do not exist.
    #[must_use]
    pub fn with_roles(mut self, assigned: &[String]) -> Self {
        let known: Vec<String> = self
            .layers
            .first()
            .map(|layer| layer.roles.iter().map(|role| role.name.clone()).collect())
            .unwrap_or_default();
        self.unknown = assigned.iter().filter(|name| !known.contains(name)).cloned().collect();
        self.effective = Some(known);
        self
    }

    /// The layers.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// May the caller do `action` to the cluster?
    pub fn cluster(&self, action: &str) -> Result<(), Denied> {
        let granted = |layer: &Layer| layer.roles.iter().any(|role| role.cluster.hold(action));
        if self.layers.iter().all(granted) {
            Ok(())
        } else {
            Err(self.denied(action, None, Kind::Cluster))
        }
    }

    /// May the caller do `action`, which is about these applications? Some roles may for some applications what the
    /// privilege on the cluster allows for all: to manage their privileges, or to write their data of profiles.
    pub fn applications(&self, action: &str, names: &[&str]) -> Result<(), Denied> {
        let global = match action {
            "cluster:admin/xpack/security/profile/put/data" => Some(("profile", "write")),
            _ if action.starts_with("cluster:admin/xpack/security/privilege/") => {
                Some(("application", "manage"))
            }
            _ => None,
        };
        let granted = |role: &Arc<Role>| {
            role.cluster.hold(action)
                || global.is_some_and(|global| role.holds_for_applications(global, names))
        };
        match self.layers.iter().all(|layer| layer.roles.iter().any(granted)) {
            true => Ok(()),
            false => Err(self.denied(action, None, Kind::Cluster)),
        }
    }

    /// May the caller manage API keys of its own?
    pub fn own_keys(&self) -> bool {
        self.layers.iter().all(|layer| layer.roles.iter().any(|role| role.own_keys))
    }

    /// May the caller act as `user`?
    pub fn run_as(&self, user: &str) -> bool {
        self.layers.iter().all(|layer| layer.roles.iter().any(|role| role.may_run_as(user)))
    }

    /// May the caller do `action` to `index`, and what of it may be seen?
    pub fn index<'n>(&self, action: &str, index: impl Into<Name<'n>>) -> Result<Limits, Denied> {
        self.index_of(action, index, &|_| None)
    }

    /// As [`Access::index`], of an index in which some names of fields mean others, as `targets` tells.
    pub fn index_of<'n>(
        &self,
        action: &str,
        index: impl Into<Name<'n>>,
        targets: Targets<'_>,
    ) -> Result<Limits, Denied> {
        self.reach(action, index.into(), None, targets)
    }

    /// Would [`Access::index`] say yes? Nothing is worked out but that.
    pub fn sees<'n>(&self, action: &str, index: impl Into<Name<'n>>) -> bool {
        let index = index.into();
        self.layers.iter().all(|layer| layer.grants(action, index).next().is_some())
    }

    /// Would [`Access::index_by_alias`] say yes? Nothing is worked out but that.
    pub fn sees_by_alias<'n>(&self, action: &str, index: impl Into<Name<'n>>, alias: &str) -> bool {
        let index = index.into();
        self.is_granted(action, alias)
            && self.layers.iter().all(|layer| {
                let is_direct = || layer.grants(action, index).next().is_some();
                if layer.strict {
                    return is_direct();
                }
                let mut by_name = layer.grants(action, alias.into());
                by_name.any(|grant| grant.may_lead_to(index))
                    && (!self.is_by_grant()
                        || is_direct()
                        || layer.grants_by_alias(action, index, alias).next().is_some())
            })
    }

    /// The same where a name leads to the index, an alias or a data stream, and this name was asked for: a right
    /// on the index is none on the names that lead there, and of a caller's roles those count alone that hold
    /// the name ("Securing aliases" of Elasticsearch).
    ///
    /// For the bearer of a token there is more to it. What was granted must hold the index **and** the name.
    /// Of the owner's roles one must hold the name, and one the index, or write the name out; both limit what
    /// is seen. A pattern that happens to fit an alias is not enough: who may name an alias must not be able
    /// to widen what others granted.
    ///
    /// # Errors
    /// The denial. It names the alias: what is behind it was not granted.
    pub fn index_by_alias<'n>(
        &self,
        action: &str,
        index: impl Into<Name<'n>>,
        alias: &str,
        targets: Targets<'_>,
    ) -> Result<Limits, Denied> {
        match self.is_granted(action, alias) {
            true => self.reach(action, index.into(), Some(alias), targets),
            false => Err(self.denied(action, Some(alias), Kind::Index)),
        }
    }

    /// Is any of it granted by name, as that of a token?
    fn is_by_grant(&self) -> bool {
        self.layers.iter().any(|layer| layer.strict)
    }

    /// The sets of a layer's grants of which each must let a caller in who asks for an index, perhaps by another
    /// name: what is seen lies in all of them.
    fn ways<'l>(
        &self,
        layer: &'l Layer,
        action: &str,
        index: Name<'_>,
        alias: Option<&str>,
    ) -> Vec<Vec<&'l IndexGrant>> {
        let direct = || layer.grants(action, index);
        match alias {
            None => vec![direct().collect()],
            Some(_) if layer.strict => vec![direct().collect()],
            Some(alias) => {
                let by_name = layer.grants(action, alias.into());
                let by_name: Vec<_> = by_name.filter(|grant| grant.may_lead_to(index)).collect();
                if !self.is_by_grant() {
                    return vec![by_name];
                }
                let written = layer.grants_by_alias(action, index, alias);
                let own: Vec<_> = direct().chain(written).collect();
                // More grants show more: what all of these show, those show too.
                let is_of = |one: &&IndexGrant| own.iter().any(|other| std::ptr::eq(*one, *other));
                match !by_name.is_empty() && by_name.iter().all(is_of) {
                    true => vec![by_name],
                    false => vec![by_name, own],
                }
            }
        }
    }

    /// What an owner granted, where a filter of it names a field that the owner may not see: with a filter that finds
    /// nothing in its place, for what it found would tell what stands there. None where all may stay.
    fn veiled(
        &self,
        grants: &[&IndexGrant],
        (action, index, alias): (&str, Name<'_>, Option<&str>),
        targets: Targets<'_>,
    ) -> Option<Vec<IndexGrant>> {
        if grants.iter().all(|grant| grant.query.is_none()) {
            return None;
        }
        let own = self.layers.iter().filter(|layer| !layer.strict);
        let sets = own.flat_map(|layer| self.ways(layer, action, index, alias));
        let owner = Fields(sets.flat_map(|grants| rules(&grants, false)).collect());
        let is_seen = |field: &str| {
            owner.permits(field) && targets(field).is_none_or(|target| owner.permits(&target))
        };
        let stays = |grant: &IndexGrant| {
            let query = grant.query.as_ref();
            owner.0.is_empty() || query.is_none_or(|query| names_seen_alone(query, &is_seen))
        };
        if grants.iter().all(|grant| stays(grant)) {
            return None;
        }
        let nothing = Arc::new(json!({"match_none": {}}));
        let veil = |grant: &&IndexGrant| match stays(grant) {
            true => (*grant).clone(),
            false => IndexGrant { query: Some(Arc::clone(&nothing)), ..(*grant).clone() },
        };
        Some(grants.iter().map(veil).collect())
    }

    fn reach(
        &self,
        action: &str,
        index: Name<'_>,
        alias: Option<&str>,
        targets: Targets<'_>,
    ) -> Result<Limits, Denied> {
        let mut filters: Vec<Arc<Value>> = Vec::new();
        let mut fields: Rules = Vec::new();
        // The kinds of one layer, with all that the other layers ask for.
        let mut kinds: Vec<(Option<Arc<Value>>, Rules)> = Vec::new();
        let (mut filters_beside, mut fields_beside) = (Vec::new(), Vec::new());
        let sets = self.layers.iter().flat_map(|layer| {
            let sets = self.ways(layer, action, index, alias).into_iter();
            sets.map(|grants| (grants, layer.strict))
        });
        for (grants, strict) in sets {
            let veiled = match strict {
                true => self.veiled(&grants, (action, index, alias), targets),
                false => None,
            };
            let grants = veiled.as_ref().map_or(grants, |veiled| veiled.iter().collect());
            if grants.is_empty() {
                return Err(self.denied(action, alias.or(Some(index.text)), Kind::Index));
            }
            if grants.iter().any(|grant| grant.query.is_none() && grant.fields.is_none()) {
                continue;
            }
            let filter = self.filter(&grants);
            let rules = rules(&grants, strict);
            if strict && kinds.is_empty() {
                kinds = self.kinds(&grants);
                if !kinds.is_empty() {
                    filters.extend(filter);
                    fields.extend(rules);
                    continue;
                }
            }
            filters.extend(filter.clone());
            fields.extend(rules.clone());
            filters_beside.extend(filter);
            fields_beside.extend(rules);
        }
        let mut whole = limits(filters, fields);
        for (filter, rules) in kinds {
            let filters = filters_beside.iter().cloned().chain(filter).collect();
            let fields = fields_beside.iter().cloned().chain(rules).collect();
            whole.kinds.push(limits(filters, fields));
        }
        if !whole.kinds.is_empty() {
            let keys = whole.kinds.iter().map(|kind| kind.key.to_string());
            whole.key = number(&keys.chain([whole.key.to_string()]).collect::<Vec<_>>().join(" "));
        }
        Ok(whole)
    }

    /// May the caller do `action` to any index at all?
    ///
    /// # Errors
    /// The denial, which names no index.
    pub fn anywhere(&self, action: &str) -> Result<(), Denied> {
        let granted = |layer: &Layer| {
            let mut grants = layer.roles.iter().flat_map(|role| &role.indices);
            grants.any(|grant| grant.actions.hold(action))
        };
        match self.layers.iter().all(granted) {
            true => Ok(()),
            false => Err(self.denied(action, None, Kind::Index)),
        }
    }

    /// Do the layers that were granted by name (a token's) hold `action` on this very name?
    pub fn is_granted(&self, action: &str, name: &str) -> bool {
        let mut strict = self.layers.iter().filter(|layer| layer.strict);
        strict.all(|layer| layer.grants(action, name.into()).next().is_some())
    }

    /// Was the caller granted anything at all of this index?
    pub fn touches<'n>(&self, index: impl Into<Name<'n>>) -> bool {
        let index = index.into();
        self.layers.iter().all(|layer| {
            let mut grants = layer.roles.iter().flat_map(|role| &role.indices);
            grants.any(|grant| grant.names_index(index))
        })
    }

    /// Does the caller hold a named privilege (or pattern of actions) on the cluster?
    pub fn has_cluster(&self, privilege: &str) -> bool {
        if privilege.eq_ignore_ascii_case(OWN_KEYS) {
            return self.own_keys();
        }
        self.layers.iter().all(|layer| {
            let mut lacking = Lacking::of(Kind::Cluster, privilege);
            let mut roles = layer.roles.iter();
            roles.any(|role| {
                lacking.take(&role.cluster);
                lacking.is_nothing()
            })
        })
    }

    /// Does the caller hold a named privilege on all indices of a pattern? Where `effort` is over, it need
    /// not be as is said.
    pub fn has_index(
        &self,
        privilege: &str,
        pattern: &Wanted<'_>,
        restricted: bool,
        effort: &Effort,
    ) -> bool {
        let text = pattern.text();
        let (is_partly_inside, is_inside) = reaches_restricted(pattern, effort);
        let is_one = !text.starts_with('/') && !text.contains(['*', '?', '\\']);
        if is_inside && !is_one && !restricted {
            // Patterns mean none of them, unless the request says that they do.
            return false;
        }
        // What lies in none of them is asked for as ever.
        let restricted = is_inside || (restricted && is_partly_inside);
        self.layers.iter().all(|layer| {
            let mut lacking = Lacking::of(Kind::Index, privilege);
            let is_none = lacking.is_nothing();
            layer.roles.iter().flat_map(|role| &role.indices).any(|grant| {
                let holds = (!restricted || grant.restricted)
                    && (grant.dots || !text.starts_with('.'))
                    && (is_none || lacking.is_met_by(&grant.actions))
                    && grant.names.iter().any(|known| known.covers_within(pattern, effort));
                if holds {
                    lacking.take(&grant.actions);
                }
                holds && lacking.is_nothing()
            })
        })
    }

    /// Does the caller hold a named privilege on the index, data stream or alias of this very name?
    pub fn has_name(&self, privilege: &str, name: &str) -> bool {
        self.layers.iter().all(|layer| {
            let mut grants = layer.roles.iter().flat_map(|role| &role.indices);
            grants
                .any(|grant| grant.names_index(name) && grant.actions.cover(Kind::Index, privilege))
        })
    }

    /// Does a role hold a named privilege on an alias whose very name it writes? Then the bearers of tokens of
    /// its user reach what is behind the alias ([`Access::index_by_alias`]).
    pub fn writes_out(&self, privilege: &str, alias: &str) -> bool {
        self.layers.iter().all(|layer| {
            let mut grants = layer.roles.iter().flat_map(|role| &role.indices);
            grants.any(|grant| {
                grant.names.iter().any(|name| name.text() == alias)
                    && grant.names_index(alias)
                    && grant.actions.cover(Kind::Index, privilege)
            })
        })
    }

    /// Does the caller hold an application's privilege on a resource, as the privileges that are stored in
    /// `state` are? Where `effort` is over, it need not be as is said.
    pub fn has_application(
        &self,
        state: &State,
        application: &str,
        privilege: &str,
        resource: &Wanted<'_>,
        effort: &Effort,
    ) -> bool {
        self.layers.iter().all(|layer| {
            layer.roles.iter().flat_map(|role| &role.descriptor.applications).any(|entry| {
                application::holds(state, entry, application, privilege)
                    && Pattern::list(&entry.resources)
                        .iter()
                        .any(|known| known.covers_within(resource, effort))
            })
        })
    }

    /// The alternatives of `grants`, which are at least one, as a filter of documents.
    fn filter(&self, grants: &[&IndexGrant]) -> Option<Arc<Value>> {
        let queries: Option<Vec<&Arc<Value>>> =
            grants.iter().map(|grant| grant.query.as_ref()).collect();
        let mut queries: Vec<Arc<Value>> = queries?
            .into_iter()
            .map(|query| match template::fill(query, &self.facts) {
                Cow::Borrowed(_) => Arc::clone(query),
                Cow::Owned(filled) => Arc::new(filled),
            })
            .collect();
        queries.dedup();
        if let [only] = queries.as_slice() {
            return Some(Arc::clone(only));
        }
        let should: Vec<Value> = queries.iter().map(|query| (**query).clone()).collect();
        Some(Arc::new(json!({"bool": {"should": should, "minimum_should_match": 1}})))
    }

    /// The kinds of documents that grants tell apart which differ in documents and in fields: one for
    /// each set of grants that a document may pass, with the fields of any of that set. None where they
    /// do not differ so, or in too many ways.
    fn kinds(&self, grants: &[&IndexGrant]) -> Vec<(Option<Arc<Value>>, Rules)> {
        if grants.iter().all(|grant| grant.query == grants[0].query) {
            return Vec::new();
        }
        let mut alike: Vec<(&Option<FieldRule>, Vec<&IndexGrant>)> = Vec::new();
        for &grant in grants {
            match alike.iter_mut().find(|(fields, _)| *fields == &grant.fields) {
                Some((_, grants)) => grants.push(grant),
                None => alike.push((&grant.fields, vec![grant])),
            }
        }
        if !(2..=DIFFERENT_MAX).contains(&alike.len()) {
            return Vec::new();
        }
        let filters: Vec<Option<Arc<Value>>> =
            alike.iter().map(|(_, grants)| self.filter(grants)).collect();
        let mut kinds: Vec<(Option<Vec<FieldRule>>, Vec<Value>)> = Vec::new();
        for set in 1..1_u32 << alike.len() {
            let holds = |at: usize| set >> at & 1 == 1;
            if (0..alike.len()).any(|at| filters[at].is_none() && !holds(at)) {
                continue;
            }
            let list = |of: bool| -> Vec<Value> {
                let own = (0..alike.len()).filter(|at| holds(*at) == of);
                own.filter_map(|at| filters[at].as_deref().cloned()).collect()
            };
            let documents = json!({"bool": {"filter": (list(true)), "must_not": (list(false))}});
            let rules = (0..alike.len()).filter(|at| holds(*at)).map(|at| alike[at].0.clone());
            let mut rules: Option<Vec<FieldRule>> = rules.collect();
            rules.iter_mut().for_each(|rules| rules.sort());
            match kinds.iter_mut().find(|(known, _)| *known == rules) {
                Some((_, several)) => several.push(documents),
                None => kinds.push((rules, vec![documents])),
            }
        }
        let kinds = kinds.into_iter().map(|(rules, mut documents)| {
            let filter = match documents.len() {
                1 => documents.remove(0),
                _ => json!({"bool": {"should": documents, "minimum_should_match": 1}}),
            };
            (Some(Arc::new(filter)), rules.into_iter().collect())
        });
        kinds.collect()
    }

    fn denied(&self, action: &str, index: Option<&str>, kind: Kind) -> Denied {
        let mut who = self.who.clone();
        if let Some(effective) = &self.effective {
            who.push_str(&format!(" with effective roles [{}]", effective.join(",")));
            if !self.unknown.is_empty() {
                let unknown = self.unknown.join(",");
                who.push_str(&format!(" (assigned roles [{unknown}] were not found)"));
            }
        }
        let indices = index.map(str::to_owned).into_iter().collect();
        Denied { action: action.to_owned(), who, indices, kind }
    }
}

/// Does a filter of a grant name fields alone that may be seen? It has the words of `authorization_details`; any other
/// is not known to.
fn names_seen_alone(query: &Value, is_seen: &dyn Fn(&str) -> bool) -> bool {
    let Some(query) = query.as_object() else { return false };
    query.iter().all(|(kind, body)| match (kind, body) {
        ("match_all" | "match_none", _) => true,
        ("exists", body) => body.get("field").and_then(Value::as_str).is_some_and(is_seen),
        ("term" | "terms" | "range", Value::Object(fields)) => {
            fields.keys().all(|field| matches!(field, "boost" | "_name") || is_seen(field))
        }
        ("bool", Value::Object(parts)) => parts.iter().all(|(part, clauses)| match clauses {
            Value::Array(clauses) => clauses.iter().all(|clause| names_seen_alone(clause, is_seen)),
            Value::Object(_) => names_seen_alone(clauses, is_seen),
            _ => matches!(part, "boost" | "minimum_should_match" | "_name"),
        }),
        _ => false,
    })
}

/// The sets of field rules that a layer's grants ask for: none where all fields are shown.
fn rules(grants: &[&IndexGrant], strict: bool) -> Rules {
    let differ = strict && grants.iter().any(|grant| grant.query != grants[0].query);
    if differ {
        // Each grant's own rule must permit the field.
        return grants.iter().filter_map(|grant| Some(vec![grant.fields.clone()?])).collect();
    }
    let rules: Option<Vec<FieldRule>> = grants.iter().map(|grant| grant.fields.clone()).collect();
    let Some(mut rules) = rules else { return Vec::new() };
    rules.sort();
    rules.dedup();
    vec![rules]
}

fn limits(filters: Vec<Arc<Value>>, fields: Rules) -> Limits {
    let filter = match filters.as_slice() {
        [] => None,
        [only] => Some(Arc::clone(only)),
        several => {
            let all: Vec<Value> = several.iter().map(|filter| (**filter).clone()).collect();
            Some(Arc::new(json!({"bool": {"filter": all}})))
        }
    };
    let fields = (!fields.is_empty()).then(|| Arc::new(Fields(fields)));
    let key = key(filter.as_deref(), fields.as_deref());
    Limits { filter, fields, key, kinds: Vec::new() }
}

/// A number for these limits; 0 where there are none.
fn key(filter: Option<&Value>, fields: Option<&Fields>) -> u64 {
    if filter.is_none() && fields.is_none() {
        return 0;
    }
    // Two limits with one key would share cached answers, so the hash must resist being met on
    // purpose; the same text gives the same key on every core.
    number(&format!("{}{fields:?}", filter.map(json::to_string).unwrap_or_default()))
}

/// A number for a text, never 0.
fn number(text: &str) -> u64 {
    let digest = digest::digest(&digest::SHA256, text.as_bytes());
    let first = digest.as_ref().first_chunk().expect("a SHA-256 has 32 bytes");
    u64::from_be_bytes(*first).max(1)
}

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
