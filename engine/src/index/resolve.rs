//! Names to indices: lists, wildcards, exclusions, `_all`, aliases, date math.
//!
//! Always true
//! 1. An answer names concrete indices, each once, in the order in which the expression met them
//!    (a wildcard's in the order of their names).
//! 2. An exclusion takes away what was met before it; whether a closed index may be met is asked of
//!    what is left.
//! 3. A wildcard never names what the caller may not see; a concrete name always reaches the gate.
//!
//! Not here: remote clusters (`a:b`), which are refused as Elasticsearch refuses an unknown one.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use json::Value;

use super::date_math;
use crate::error::{Error, Result};
use crate::ops::IndicesOptions;

/// The longest expression that is read, in bytes: the limit of a request line is below it.
const EXPRESSION_BYTES_MAX: usize = 64 * 1024;

/// Names that are held against patterns, and ways that are looked through for exclusions, by one expression
/// of several parts; about 100 ms of a core. Two thousand names bear a thousand patterns.
const WORK_MAX: usize = 1 << 21;

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

/// Resolves an expression; empty and `_all` and `*` mean all. `_all` in a list is a name that nothing
/// can bear.
///
/// # Errors
/// `index_not_found_exception` for a missing concrete name (unless ignored) or for any wildcard
/// without match where that is not allowed; `index_closed_exception` for a closed index that was
/// named or asked for; `invalid_index_name_exception` for a name with `_` in front;
/// `illegal_argument_exception` where it is too much work ([`WORK_MAX`]).
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
    let all =
        All { names, indices: OnceCell::new(), streams: OnceCell::new(), aliases: OnceCell::new() };
    let mut after_wildcard = false;
    // What was said since a part of the other kind says nothing more.
    let mut said: BTreeSet<&str> = BTreeSet::new();
    let (mut excluded_last, mut work) = (false, 0usize);
    let parts = split(expression);
    let whole = parts.is_empty() || expression == "_all";
    let IndicesOptions { allow_no_indices, expand_open, expand_closed, expand_hidden, .. } =
        call.options;
    let expands = expand_open || expand_closed || expand_hidden;
    for part in if whole { vec!["*"] } else { parts } {
        let (excludes, name) = match part.strip_prefix('-') {
            Some(name) if after_wildcard => (true, name),
            _ => (false, part),
        };
        if excludes != excluded_last {
            said.clear();
            excluded_last = excludes;
        }
        if !said.insert(part) {
            continue;
        }
        let name = date_math::resolve(name, now_ms)?;
        let name = name.as_ref();
        if name.is_empty() {
            return Err(missing(part, call.resource_type));
        }
        // Elasticsearch keeps such names for its own calls, `_all` in a list among them.
        if !excludes && name.starts_with('_') {
            return Err(reserved(name));
        }
        // With `none` a star is a letter like any other, but for all together.
        let pattern = name.contains('*') && (expands || whole);
        let step = if pattern { all.count(call) } else { 0 };
        let step = step + if excludes { found.list.len() } else { 0 };
        if work > 0 && work + step > WORK_MAX {
            return Err(Error::illegal_argument(format!(
                "the index expression is too costly: its patterns and exclusions look at more than \
                 [{WORK_MAX}] names together"
            )));
        }
        work += step;
        match (pattern, excludes) {
            (true, true) => {
                if !allow_no_indices && wildcard(&all, name, call, &sees).is_empty() {
                    return Err(missing(name, call.resource_type));
                }
                found.exclude_all(&wildcard(&all, name, call, &|_: &str| true));
            }
            (false, true) => found.exclude(name),
            (true, false) => {
                after_wildcard = true;
                let met = wildcard(&all, name, call, &sees);
                if met.is_empty() && !allow_no_indices {
                    return Err(missing(name, call.resource_type));
                }
                found.list.extend(met);
            }
            (false, false) => concrete(names, name, call, &mut found)?,
        }
    }
    let list = found.resolved(call, &sees)?;
    if list.is_empty() && !allow_no_indices {
        let name = if whole { "_all" } else { expression };
        return Err(missing(name, call.resource_type));
    }
    Ok(list)
}

/// 400 for a closed index that was named.
pub fn closed(name: &str, uuid: [u8; 16]) -> Error {
    Error::new(400, "index_closed_exception", "closed")
        .with("index_uuid", cluster::state::uuid_text(uuid))
        .with("index", name)
}

/// 400 for a name that only Elasticsearch's own calls bear.
pub(super) fn reserved(name: &str) -> Error {
    Error::new(
        400,
        "invalid_index_name_exception",
        format!("Invalid index name [{name}], must not start with '_'."),
    )
    .with("index_uuid", "_na_")
    .with("index", name)
}

fn missing(name: &str, resource_type: &'static str) -> Error {
    Error::index_not_found(name, resource_type)
}

pub(crate) fn no_such_cluster(cluster: &str) -> Error {
    Error::new(
        404,
        "no_such_remote_cluster_exception",
        format!("no such remote cluster: [{cluster}]"),
    )
}

/// All names, brought once for all patterns of an expression.
struct All<'a, N> {
    names: &'a N,
    indices: OnceCell<Vec<Cow<'a, str>>>,
    streams: OnceCell<Vec<(Cow<'a, str>, bool)>>,
    aliases: OnceCell<Vec<Cow<'a, str>>>,
}

impl<N: Names> All<'_, N> {
    fn indices(&self) -> &[Cow<'_, str>] {
        self.indices.get_or_init(|| self.names.indices())
    }

    fn streams(&self) -> &[(Cow<'_, str>, bool)] {
        self.streams.get_or_init(|| self.names.streams())
    }

    fn aliases(&self) -> &[Cow<'_, str>] {
        self.aliases.get_or_init(|| self.names.aliases())
    }

    /// So many names a pattern is held against.
    fn count(&self, call: Call) -> usize {
        match call.ignore_aliases {
            true => self.indices().len(),
            false => self.indices().len() + self.streams().len() + self.aliases().len(),
        }
    }
}

/// What the parts of an expression led to so far, in order.
#[derive(Default)]
struct Found {
    list: Vec<Met>,
}

/// One way to one index.
struct Met {
    index: String,
    /// The name that was written out; `None` for a wildcard's.
    by: Option<String>,
    /// What the way says; `None` where the alias that it led through was excluded afterwards.
    way: Option<Way>,
    /// Id of a closed index where closed ones are refused: what is excluded later is no error.
    shut: Option<[u8; 16]>,
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

    /// The alias's routing leads a search only where the alias itself was named.
    fn by_wildcard(alias: &str, target: &AliasTarget) -> Self {
        Self { routing: None, ..Self::of(alias, target) }
    }
}

impl Found {
    /// Takes one name away: an index that a wildcard met, or a name that was written out. The
    /// indices behind an alias stay where a wildcard met them.
    fn exclude(&mut self, name: &str) {
        self.list.retain(|met| match &met.by {
            None => met.index != name,
            Some(by) => by != name,
        });
        for met in &mut self.list {
            let through = met.way.as_ref().and_then(|way| way.alias.as_deref());
            if met.by.is_none() && through == Some(name) {
                met.way = None;
            }
        }
    }

    /// Takes away the indices that a wildcard met.
    fn exclude_all(&mut self, excluded: &[Met]) {
        let excluded: BTreeSet<&str> = excluded.iter().map(|met| met.index.as_str()).collect();
        self.list.retain(|met| {
            let itself = met.by.as_ref().is_none_or(|by| *by == met.index);
            !(itself && excluded.contains(met.index.as_str()))
        });
    }

    /// The indices, each once.
    fn resolved(self, call: Call, sees: &impl Fn(&str) -> bool) -> Result<Vec<Resolved>> {
        let mut list: Vec<Resolved> = Vec::with_capacity(self.list.len());
        // Where an index stands, and the aliases that led to it.
        let mut places: BTreeMap<String, (usize, BTreeSet<String>)> = BTreeMap::new();
        let led: BTreeSet<String> = match self.list.iter().all(|met| met.way.is_some()) {
            true => BTreeSet::new(),
            false => {
                let left = self.list.iter().filter(|met| met.way.is_some());
                left.map(|met| met.index.clone()).collect()
            }
        };
        for met in self.list {
            let way = match met.way {
                Some(way) => way,
                // Without its alias the index stands for itself, unless another way is left, or
                // only the alias was to be seen.
                None if led.contains(&met.index) || !sees(&met.index) => continue,
                None => Way::default(),
            };
            match met.shut {
                Some(_) if call.options.ignore_unavailable => continue,
                Some(uuid) => return Err(closed(&met.index, uuid)),
                None => {}
            }
            match places.get_mut(&met.index) {
                Some((place, via)) => also(&mut list[*place], via, way),
                None => {
                    let via = way.alias.iter().cloned().collect();
                    places.insert(met.index.clone(), (list.len(), via));
                    list.push(Resolved {
                        routing: values(&way),
                        filters: way.filter.into_iter().collect(),
                        via: way.alias.into_iter().collect(),
                        index: met.index,
                    });
                }
            }
        }
        Ok(list)
    }
}

/// The routing values of a way.
fn values(way: &Way) -> Vec<String> {
    let values = way.routing.as_deref().unwrap_or_default().split(',');
    values.filter(|value| !value.is_empty()).map(str::to_owned).collect()
}

/// Another way to a known index, to which `via` led before.
fn also(known: &mut Resolved, via: &mut BTreeSet<String>, way: Way) {
    let values = values(&way);
    match way.alias {
        None => known.via.clear(),
        Some(alias) if !known.via.is_empty() && via.insert(alias.clone()) => {
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

/// What a pattern meets.
fn wildcard(
    all: &All<'_, impl Names>,
    pattern: &str,
    call: Call,
    sees: &impl Fn(&str) -> bool,
) -> Vec<Met> {
    let options = call.options;
    let mut found = Vec::new();
    // What hides is matched by a pattern that says the dot itself.
    let shows = |name: &str, hidden: bool| {
        let dotted = name.starts_with('.') && pattern.starts_with('.');
        !hidden || options.expand_hidden || dotted
    };
    let mut add = |name: &str, facts: Facts, alias: Option<(&str, &AliasTarget)>| {
        let state = if facts.open { options.expand_open } else { options.expand_closed };
        // A role may name the alias alone.
        if state && (sees(name) || alias.is_some_and(|(alias, _)| sees(alias))) {
            let way = alias.map(|(alias, target)| Way::by_wildcard(alias, target));
            found.push(Met {
                index: name.to_owned(),
                by: None,
                way: Some(way.unwrap_or_default()),
                // Whoever asks for closed ones meets them.
                shut: (!facts.open && call.forbid_closed).then_some(facts.uuid),
            });
        }
    };
    let names = all.names;
    for name in all.indices() {
        if matches(pattern, name)
            && let Some(facts) = names.index(name)
            && shows(name, facts.hidden)
        {
            add(name, facts, None);
        }
    }
    if call.ignore_aliases {
        return found;
    }
    for (stream, hidden) in all.streams() {
        if !matches(pattern, stream) || !shows(stream, *hidden) {
            continue;
        }
        for name in names.stream(stream).unwrap_or_default() {
            if let Some(facts) = names.index(&name) {
                add(&name, facts, None);
            }
        }
    }
    for alias in all.aliases() {
        if !matches(pattern, alias) {
            continue;
        }
        for target in names.alias(alias).unwrap_or_default() {
            if let Some(facts) = names.index(&target.index)
                && shows(alias, target.is_hidden)
            {
                add(&target.index, facts, Some((alias, &target)));
            }
        }
    }
    found
}

fn concrete(names: &impl Names, name: &str, call: Call, found: &mut Found) -> Result<()> {
    let mut add = |index: &str, way: Way| {
        if let Some(facts) = names.index(index) {
            found.list.push(Met {
                index: index.to_owned(),
                by: Some(name.to_owned()),
                way: Some(way),
                shut: (!facts.open && call.forbid_closed).then_some(facts.uuid),
            });
        }
    };
    if names.index(name).is_some() {
        add(name, Way::default());
        return Ok(());
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
        indices.iter().for_each(|index| add(index, Way::default()));
        return Ok(());
    }
    if let Some(targets) = targets {
        targets.iter().for_each(|target| add(&target.index, Way::of(name, target)));
        return Ok(());
    }
    if call.options.ignore_unavailable {
        return Ok(());
    }
    if let Some((cluster, _)) = name.split_once(':') {
        return Err(no_such_cluster(cluster));
    }
    Err(missing(name, call.resource_type))
}

/// Parts of a list without the empty ones at its end; commas inside `<…>` belong to date math.
pub(crate) fn split(expression: &str) -> Vec<&str> {
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
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts
}

/// Does `name` match `pattern`, in which `*` stands for any text?
pub fn matches(pattern: &str, name: &str) -> bool {
    json::path::glob(pattern.as_bytes(), name.as_bytes())
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
