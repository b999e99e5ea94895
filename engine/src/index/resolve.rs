//! Names to indices: lists, wildcards, exclusions, `_all`, aliases, date math.
//!
//! Always true
//! 1. An answer names concrete indices, each once, in the order in which the expression met them
//!    (a wildcard's in the order of their names).
//! 2. A wildcard never names what the caller may not see; a concrete name always reaches the gate.
//!
//! Not here: remote clusters (`a:b`), which are refused as Elasticsearch refuses an unknown one.

use std::borrow::Cow;

use json::Value;

use super::date_math;
use crate::error::{Error, Result};
use crate::ops::IndicesOptions;

/// The longest expression that is read, in bytes: the limit of a request line is below it.
const EXPRESSION_BYTES_MAX: usize = 64 * 1024;

/// What resolving needs to know of the cluster.
pub trait Names {
    /// The index of that name.
    fn index(&self, name: &str) -> Option<Facts>;
    /// The indices behind the alias of that name, sorted by name.
    fn alias(&self, name: &str) -> Option<Vec<AliasTarget>>;
    /// All index names, sorted.
    fn indices(&self) -> Vec<Cow<'_, str>>;
    /// All alias names, sorted.
    fn aliases(&self) -> Vec<Cow<'_, str>>;
    /// The indices of the data stream of that name, oldest first; writes go to the last.
    fn stream(&self, _name: &str) -> Option<Vec<String>> {
        None
    }
    /// All data streams, sorted, and whether each hides from wildcards.
    fn streams(&self) -> Vec<(Cow<'_, str>, bool)> {
        Vec::new()
    }
}

/// What matters of an index here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Open for reading and writing.
    pub open: bool,
    /// Passed over by wildcards.
    pub hidden: bool,
    /// Its id.
    pub uuid: [u8; 16],
}

/// One index behind an alias.
#[derive(Clone, Debug, PartialEq)]
pub struct AliasTarget {
    /// Concrete name.
    pub index: String,
    /// Query that narrows a search through the alias.
    pub filter: Option<Value>,
    /// Routing for searches through the alias.
    pub search_routing: Option<String>,
    /// Routing for writes through the alias.
    pub index_routing: Option<String>,
    /// Writes through the alias go here; `None` where it was not said.
    pub is_write_index: Option<bool>,
    /// The alias is passed over by wildcards.
    pub is_hidden: bool,
}

/// One index of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// Concrete name.
    pub index: String,
    /// Filters of the aliases that led here; empty where some way led here without one.
    pub filters: Vec<Value>,
    /// Search routing of the aliases that led here; empty where some way led here without one.
    pub routing: Vec<String>,
    /// The aliases that led here; empty where the index itself was named, too.
    pub via: Vec<String>,
}

impl Resolved {
    /// The routing values by which a search is led, given those of the request; empty is all
    /// shards. Values of both are those of each.
    pub fn routing(&self, asked: &[String]) -> Vec<String> {
        match (self.routing.is_empty(), asked.is_empty()) {
            (true, _) => asked.to_vec(),
            (false, true) => self.routing.clone(),
            (false, false) => {
                self.routing.iter().filter(|value| asked.contains(value)).cloned().collect()
            }
        }
    }
}

/// How a call treats names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// `ignore_unavailable` and its kin.
    pub options: IndicesOptions,
    /// What a missing name is called: `index_or_alias` or `index_expression`.
    pub resource_type: &'static str,
    /// A closed index that is named is an error (reads, writes, counts).
    pub forbid_closed: bool,
    /// Aliases and data streams are not looked at: one that is named is an error, unless what is
    /// missing is passed over.
    pub ignore_aliases: bool,
}

impl Call {
    /// Most calls.
    pub fn new(options: IndicesOptions) -> Self {
        Self {
            options,
            resource_type: "index_or_alias",
            forbid_closed: true,
            ignore_aliases: false,
        }
    }
}

/// Resolves an expression; empty and `_all` and `*` mean all.
///
/// # Errors
/// `index_not_found_exception` for a missing concrete name (unless ignored) or for a wildcard
/// without match where that is not allowed; `index_closed_exception` for a closed concrete name.
pub fn resolve(
    names: &impl Names,
    expression: &str,
    call: Call,
    now_ms: i64,
    sees: impl Fn(&str) -> bool,
) -> Result<Vec<Resolved>> {
    if expression.len() > EXPRESSION_BYTES_MAX {
        return Err(Error::illegal_argument("the index expression is too long"));
    }
    let mut found = Found::default();
    let mut after_wildcard = false;
    let whole = expression.is_empty() || expression == "_all";
    for part in split(if whole { "*" } else { expression }) {
        let part = date_math::resolve(part, now_ms)?;
        let part = part.as_ref();
        if part.is_empty() {
            continue;
        }
        if let (Some(excluded), true) = (part.strip_prefix('-'), after_wildcard) {
            found.exclude(names, excluded);
            continue;
        }
        let IndicesOptions { expand_open, expand_closed, expand_hidden, .. } = call.options;
        let expands = expand_open || expand_closed || expand_hidden;
        // With `none` a star is a letter like any other, but for all together.
        if part == "_all" || (part.contains('*') && (expands || whole)) {
            after_wildcard = true;
            let before = found.list.len();
            let pattern = if part == "_all" { "*" } else { part };
            wildcard(names, pattern, call, &sees, &mut found)?;
            if found.list.len() == before && !call.options.allow_no_indices && found.list.is_empty()
            {
                return Err(missing(part, call.resource_type));
            }
            continue;
        }
        concrete(names, part, call, &mut found)?;
    }
    if found.list.is_empty() && !call.options.allow_no_indices {
        let name = if whole { "_all" } else { expression };
        return Err(missing(name, call.resource_type));
    }
    Ok(found.list)
}

/// Resolves a name that a write or a single-document read goes to: an index, or an alias with one
/// index or a write index.
///
/// # Errors
/// As [`resolve`], and 400 for an alias without a write index.
pub fn resolve_one(
    names: &impl Names,
    expression: &str,
    now_ms: i64,
    purpose: Purpose,
) -> Result<One> {
    let name = date_math::resolve(expression, now_ms)?;
    if let Some(facts) = names.index(&name) {
        if !facts.open {
            return Err(closed(&name, facts.uuid));
        }
        return Ok(One::Index {
            name: name.into_owned(),
            routing: None,
            is_alias: false,
            is_stream: false,
        });
    }
    if let Some(indices) = names.stream(&name) {
        return stream_one(&name, &indices, purpose);
    }
    let Some(targets) = names.alias(&name) else {
        if name.contains(':') {
            let cluster = name.split(':').next().unwrap_or_default();
            return Err(no_such_cluster(cluster));
        }
        if name.starts_with('_') && purpose == Purpose::Read {
            return Err(Error::new(
                400,
                "invalid_index_name_exception",
                format!("Invalid index name [{name}], must not start with '_'."),
            )
            .with("index_uuid", "_na_")
            .with("index", name.as_ref()));
        }
        return Ok(One::Missing { name: name.into_owned() });
    };
    let target = match (purpose, targets.as_slice()) {
        (Purpose::Read, [only]) => only,
        (Purpose::Read, _) => {
            let list: Vec<&str> = targets.iter().map(|target| target.index.as_str()).collect();
            return Err(Error::illegal_argument(format!(
                "alias [{name}] has more than one index associated with it [{}], can't execute a \
                 single index op",
                list.join(", ")
            )));
        }
        (Purpose::Write, [only]) if only.is_write_index != Some(false) => only,
        (Purpose::Write, _) => {
            targets.iter().find(|target| target.is_write_index == Some(true)).ok_or_else(|| {
                Error::illegal_argument(format!(
                    "no write index is defined for alias [{name}]. The write index may be \
                     explicitly disabled using is_write_index=false or the alias points to \
                     multiple indices without one being designated as a write index"
                ))
            })?
        }
    };
    if let Some(facts) = names.index(&target.index)
        && !facts.open
    {
        return Err(closed(&target.index, facts.uuid));
    }
    // A single document is where it was written to, whoever asks for it.
    let routing = target.index_routing.clone();
    Ok(One::Index { name: target.index.clone(), routing, is_alias: true, is_stream: false })
}

/// The index of a data stream that a single document goes to, or is read from.
fn stream_one(name: &str, indices: &[String], purpose: Purpose) -> Result<One> {
    let found = match (purpose, indices) {
        (Purpose::Write, [.., last]) | (Purpose::Read, [last]) => last,
        _ => {
            return Err(Error::illegal_argument(format!(
                "data stream [{name}] has more than one index associated with it [{}], can't \
                 execute a single index op",
                indices.join(", ")
            )));
        }
    };
    Ok(One::Index { name: found.clone(), routing: None, is_alias: false, is_stream: true })
}

/// What a single index is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A document is read.
    Read,
    /// A document is written.
    Write,
}

/// Answer of [`resolve_one`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum One {
    /// The index, perhaps through an alias with a routing of its own.
    Index {
        /// Concrete name.
        name: String,
        /// The alias's routing.
        routing: Option<String>,
        /// The name was an alias.
        is_alias: bool,
        /// The name was a data stream.
        is_stream: bool,
    },
    /// No index or alias bears the name: a write may create it.
    Missing {
        /// The name, date math done.
        name: String,
    },
}

/// 400 for a closed index that was named.
pub fn closed(name: &str, uuid: [u8; 16]) -> Error {
    Error::new(400, "index_closed_exception", "closed")
        .with("index_uuid", cluster::state::uuid_text(uuid))
        .with("index", name)
}

fn missing(name: &str, resource_type: &'static str) -> Error {
    Error::index_not_found(name, resource_type)
}

fn no_such_cluster(cluster: &str) -> Error {
    Error::new(
        404,
        "no_such_remote_cluster_exception",
        format!("no such remote cluster: [{cluster}]"),
    )
}

#[derive(Default)]
struct Found {
    list: Vec<Resolved>,
}

/// What the way that led to an index says of it.
#[derive(Default)]
struct Way {
    filter: Option<Value>,
    routing: Option<String>,
    alias: Option<String>,
}

impl Way {
    fn of(alias: &str, target: &AliasTarget) -> Self {
        Self {
            filter: target.filter.clone(),
            routing: target.search_routing.clone(),
            alias: Some(alias.to_owned()),
        }
    }
}

impl Found {
    fn add(&mut self, index: &str, way: Way) {
        let routing = |way: &Way| -> Vec<String> {
            let values = way.routing.as_deref().unwrap_or_default().split(',');
            values.filter(|value| !value.is_empty()).map(str::to_owned).collect()
        };
        let values = routing(&way);
        let Some(known) = self.list.iter_mut().find(|resolved| resolved.index == index) else {
            self.list.push(Resolved {
                index: index.to_owned(),
                filters: way.filter.into_iter().collect(),
                routing: values,
                via: way.alias.into_iter().collect(),
            });
            return;
        };
        match way.alias {
            None => known.via.clear(),
            Some(alias) if !known.via.is_empty() && !known.via.contains(&alias) => {
                known.via.push(alias);
            }
            Some(_) => {}
        }
        // A way without a filter shows everything; one without routing leads to all shards.
        match way.filter {
            None => known.filters.clear(),
            Some(filter) if !known.filters.is_empty() => known.filters.push(filter),
            Some(_) => {}
        }
        if values.is_empty() {
            known.routing.clear();
        } else if !known.routing.is_empty() {
            known.routing.extend(values);
        }
    }

    fn exclude(&mut self, names: &impl Names, pattern: &str) {
        self.list.retain(|resolved| {
            let by_alias = || {
                names.aliases().iter().any(|alias| {
                    matches(pattern, alias)
                        && names.alias(alias).is_some_and(|targets| {
                            targets.iter().any(|target| target.index == resolved.index)
                        })
                })
            };
            !matches(pattern, &resolved.index) && !by_alias()
        });
    }
}

fn wildcard(
    names: &impl Names,
    pattern: &str,
    call: Call,
    sees: &impl Fn(&str) -> bool,
    found: &mut Found,
) -> Result<()> {
    let options = call.options;
    // What hides is matched by a pattern that says the dot itself.
    let shows = |name: &str, hidden: bool| {
        let dotted = name.starts_with('.') && pattern.starts_with('.');
        !hidden || options.expand_hidden || dotted
    };
    let admits = |name: &str, facts: Facts, alias: Option<&str>| {
        let state = if facts.open { options.expand_open } else { options.expand_closed };
        // A role may name the alias alone.
        if !state || !(sees(name) || alias.is_some_and(sees)) {
            return Ok(false);
        }
        match (facts.open || !call.forbid_closed, options.ignore_unavailable) {
            (true, _) => Ok(true),
            (false, true) => Ok(false),
            // Whoever asks for closed ones meets them.
            (false, false) => Err(closed(name, facts.uuid)),
        }
    };
    for name in names.indices() {
        if matches(pattern, &name)
            && let Some(facts) = names.index(&name)
            && shows(&name, facts.hidden)
            && admits(&name, facts, None)?
        {
            found.add(&name, Way::default());
        }
    }
    if call.ignore_aliases {
        return Ok(());
    }
    for (stream, hidden) in names.streams() {
        if !matches(pattern, &stream) || !shows(&stream, hidden) {
            continue;
        }
        for name in names.stream(&stream).unwrap_or_default() {
            if let Some(facts) = names.index(&name)
                && admits(&name, facts, None)?
            {
                found.add(&name, Way::default());
            }
        }
    }
    for alias in names.aliases() {
        if !matches(pattern, &alias) {
            continue;
        }
        for target in names.alias(&alias).unwrap_or_default() {
            if let Some(facts) = names.index(&target.index)
                && shows(&alias, target.is_hidden)
                && admits(&target.index, facts, Some(&alias))?
            {
                found.add(&target.index, Way::of(&alias, &target));
            }
        }
    }
    Ok(())
}

fn concrete(names: &impl Names, name: &str, call: Call, found: &mut Found) -> Result<()> {
    let add = |found: &mut Found, index: &str, way: Way| {
        let Some(facts) = names.index(index) else { return Ok(()) };
        if !facts.open && call.forbid_closed {
            if call.options.ignore_unavailable {
                return Ok(());
            }
            return Err(closed(index, facts.uuid));
        }
        found.add(index, way);
        Ok(())
    };
    if names.index(name).is_some() {
        return add(found, name, Way::default());
    }
    let stream = names.stream(name);
    let targets = names.alias(name);
    if call.ignore_aliases && (stream.is_some() || targets.is_some()) {
        if call.options.ignore_unavailable {
            return Ok(());
        }
        let what = if stream.is_some() { "a data stream" } else { "an alias" };
        return Err(Error::illegal_argument(format!(
            "The provided expression [{name}] matches {what}, specify the corresponding concrete \
             indices instead."
        )));
    }
    if let Some(indices) = stream {
        return indices.iter().try_for_each(|index| add(found, index, Way::default()));
    }
    if let Some(targets) = targets {
        return targets
            .iter()
            .try_for_each(|target| add(found, &target.index, Way::of(name, target)));
    }
    if call.options.ignore_unavailable {
        return Ok(());
    }
    if let Some((cluster, _)) = name.split_once(':') {
        return Err(no_such_cluster(cluster));
    }
    if name.starts_with('_') {
        return Err(Error::new(
            400,
            "invalid_index_name_exception",
            format!("Invalid index name [{name}], must not start with '_'."),
        )
        .with("index_uuid", "_na_")
        .with("index", name));
    }
    Err(missing(name, call.resource_type))
}

/// Parts of a list; commas inside `<…>` belong to date math.
fn split(expression: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    for (at, byte) in expression.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&expression[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&expression[start..]);
    parts
}

/// Does `name` match `pattern`, in which `*` stands for any text?
pub fn matches(pattern: &str, name: &str) -> bool {
    json::path::glob(pattern.as_bytes(), name.as_bytes())
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
