//! Names to indices: lists, wildcards, exclusions, `_all`, aliases, date math.
//!
//! Always true
//! 1. An answer names concrete indices, each once, in the order in which the expression met them
//!    (a wildcard's in the order of their names).
//! 2. An exclusion takes away what was met before it; whether a closed index may be met is asked of
//!    what is left.
//! 3. What the caller may not ask for is as if it were not there: a wildcard meets it not, nor does an exclusion,
//!    and a name that is written out is missing, whatever bears it.
//!
//! 4. A pattern looks at no name that does not begin as it does.
//!
//! Not here: remote clusters (`a:b`), which are refused as Elasticsearch refuses an unknown one.

use std::sync::Arc;

use base::hash::Set;
use json::Value;

use super::date_math;
use crate::error::{Error, Result};
use crate::ops::IndicesOptions;

mod effort;
mod found;

pub(crate) use effort::Effort;
use found::{Excluded, Found, Met, Way};

/// The longest expression that is read, in bytes: the limit of a request line is below it.
const EXPRESSION_BYTES_MAX: usize = 64 * 1024;

/// What resolving needs to know of the cluster.
pub trait Names {
    /// The index of that name.
    fn index(&self, name: &str) -> Option<Facts>;
    /// The indices behind the alias of that name, sorted by name.
    fn alias(&self, name: &str) -> Option<Vec<AliasTarget>>;
    /// The aliases of an index, each with what it says of that index.
    fn aliases_of(&self, index: &str) -> Vec<(String, AliasTarget)> {
        let targets = |alias: &str| self.alias(alias).unwrap_or_default().into_iter();
        let ways =
            self.aliases("").flat_map(|alias| targets(alias).map(|way| (alias.to_owned(), way)));
        ways.filter(|(_, target)| target.index == index).collect()
    }
    /// The names of indices that begin so, sorted.
    fn indices<'n>(&'n self, prefix: &str) -> impl Iterator<Item = &'n str>;
    /// The names of aliases that begin so, sorted.
    fn aliases<'n>(&'n self, prefix: &str) -> impl Iterator<Item = &'n str>;
    /// Is there anything of that name?
    fn bears(&self, name: &str) -> bool {
        self.index(name).is_some() || self.alias(name).is_some() || self.stream(name).is_some()
    }
    /// The indices of the data stream of that name, oldest first; writes go to the last.
    fn stream(&self, _name: &str) -> Option<Vec<String>> {
        None
    }
    /// The data streams whose names begin so, sorted, and whether each hides from wildcards.
    fn streams<'n>(&'n self, _prefix: &str) -> impl Iterator<Item = (&'n str, bool)> {
        std::iter::empty()
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
    pub filter: Option<Arc<Value>>,
    /// Routing for searches through the alias.
    pub search_routing: Option<Arc<str>>,
    /// Routing for writes through the alias.
    pub index_routing: Option<Arc<str>>,
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
    /// The aliases and data streams that led here; none where a pattern met the index itself, which says all. Where
    /// the index itself was named or met, too, those that were written out, and at last its own name.
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
/// can bear. `pause` is called now and then, and may let others run.
///
/// # Errors
/// `index_not_found_exception` for a missing concrete name (unless ignored) or for any wildcard
/// without match where that is not allowed; `index_closed_exception` for a closed index that was
/// named or asked for; `invalid_index_name_exception` for a name with `_` in front;
/// `illegal_argument_exception` where it is too much work ([`Effort`]).
pub async fn resolve(
    names: &impl Names,
    expression: &str,
    call: Call,
    now_ms: i64,
    sees: impl Fn(&str) -> bool,
    pause: &impl AsyncFn(),
) -> Result<Vec<Resolved>> {
    let effort = Effort::new(pause);
    let excluded = None;
    let mut reading = Reading { names, call, sees, found: Found::default(), excluded, effort };
    read(expression, call, now_ms, &mut reading).await?;
    let Reading { found, mut effort, sees, .. } = reading;
    let list = found.resolved(call, &sees, &mut effort).await?;
    if list.is_empty() && !call.options.allow_no_indices {
        return Err(nothing_met(expression, call.resource_type));
    }
    Ok(list)
}

/// Who takes in the parts of an expression, in the order in which they stand.
pub(crate) trait Parts {
    /// Another part is read.
    ///
    /// # Errors
    /// As [`Effort::part`].
    async fn part(&mut self) -> Result<()>;

    /// A name that is written out.
    ///
    /// # Errors
    /// Nothing bears it, or the caller may not have it.
    fn name(&mut self, name: &str) -> Result<()>;

    /// A name that is written out is not meant.
    fn except_name(&mut self, name: &str);

    /// A pattern. True where it met something that the caller may see.
    async fn pattern(&mut self, pattern: &Pattern<'_>) -> bool;

    /// What a pattern meets is not meant. True as of [`Parts::pattern`].
    async fn except_pattern(&mut self, pattern: &Pattern<'_>) -> bool;

    /// Exclusions that stood side by side are over.
    async fn excepted(&mut self);
}

/// Reads an expression, as each call that takes one does.
///
/// # Errors
/// As [`resolve`], but for what the indices say.
pub(crate) async fn read(
    expression: &str,
    call: Call,
    now_ms: i64,
    to: &mut impl Parts,
) -> Result<()> {
    if expression.len() > EXPRESSION_BYTES_MAX {
        return Err(Error::illegal_argument("the index expression is too long"));
    }
    let whole = is_whole(expression);
    let IndicesOptions { allow_no_indices, expand_open, expand_closed, .. } = call.options;
    // Hidden ones are open or closed, too.
    let expands = expand_open || expand_closed;
    let mut after_wildcard = false;
    let mut excluding = false;
    // What was said since a part of the other kind says nothing more.
    let mut said: Set<&str> = Set::default();
    for part in if whole { vec!["*"] } else { split(expression) } {
        let (excludes, name) = match part.strip_prefix('-') {
            Some(name) if after_wildcard => (true, name),
            _ => (false, part),
        };
        if excludes != excluding {
            said.clear();
            if excluding {
                to.excepted().await;
            }
            excluding = excludes;
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
        to.part().await?;
        // With `none` a star is a letter like any other, but for all together.
        if name.contains('*') && (expands || whole) {
            after_wildcard = true;
            let pattern = Pattern::new(name);
            let met = match excludes {
                true => to.except_pattern(&pattern).await,
                false => to.pattern(&pattern).await,
            };
            if !met && !allow_no_indices {
                return Err(match whole {
                    true => nothing_met(expression, call.resource_type),
                    false => missing(name, call.resource_type),
                });
            }
        } else if excludes {
            to.except_name(name);
        } else {
            to.name(name)?;
        }
    }
    if excluding {
        to.excepted().await;
    }
    Ok(())
}

/// Does an expression mean all there is?
pub(crate) fn is_whole(expression: &str) -> bool {
    expression == "_all" || expression.bytes().all(|byte| byte == b',')
}

/// 400 for a closed index that was named.
pub fn closed(name: &str, uuid: [u8; 16]) -> Error {
    Error::new(400, "index_closed_exception", "closed")
        .with("index_uuid", cluster::state::uuid_text(uuid))
        .with("index", name)
}

/// 400 for a name that only Elasticsearch's own calls bear.
pub(crate) fn reserved(name: &str) -> Error {
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

/// 404 for an expression that met nothing at all, where that is not allowed: a list is told as it was asked for, and
/// by no name.
fn nothing_met(expression: &str, resource_type: &'static str) -> Error {
    if is_whole(expression) {
        let mut error = missing("_all", resource_type);
        error.reason.push_str(" and no indices exist");
        return error;
    }
    match split(expression)[..] {
        [name] => missing(name, resource_type),
        ref names => Error::new(404, "index_not_found_exception", "no such index [null]")
            .with("resource.type", "index_expression")
            .with("resource.id", names.iter().map(|name| Value::from(*name)).collect::<Vec<_>>()),
    }
}

pub(crate) fn no_such_cluster(cluster: &str) -> Error {
    Error::new(
        404,
        "no_such_remote_cluster_exception",
        format!("no such remote cluster: [{cluster}]"),
    )
}

/// A name with stars, and the letters before the first of them.
pub(crate) struct Pattern<'p> {
    text: &'p str,
    pub prefix: &'p str,
    /// One star at the end: whatever begins so is meant.
    is_prefix: bool,
}

impl<'p> Pattern<'p> {
    pub fn new(text: &'p str) -> Self {
        let prefix = text.split('*').next().unwrap_or_default();
        Self { text, prefix, is_prefix: prefix.len() + 1 == text.len() }
    }

    /// Is any name meant?
    pub fn is_all(&self) -> bool {
        self.is_prefix && self.prefix.is_empty()
    }

    /// Is a name meant that begins as this does?
    pub fn fits(&self, name: &str) -> bool {
        self.is_prefix || matches(self.text, name)
    }

    /// Does a pattern show what hides, or not? What hides is matched by one that says the dot itself.
    pub fn shows(&self, name: &str, hidden: bool, call: Call) -> bool {
        let dotted = name.starts_with('.') && self.text.starts_with('.');
        !hidden || call.options.expand_hidden || dotted
    }
}

/// An expression being read.
struct Reading<'a, N, S, P> {
    names: &'a N,
    call: Call,
    sees: S,
    found: Found,
    /// The exclusions that stand side by side.
    excluded: Option<Excluded>,
    effort: Effort<'a, P>,
}

impl<N: Names, S: Fn(&str) -> bool, P: AsyncFn()> Parts for Reading<'_, N, S, P> {
    async fn part(&mut self) -> Result<()> {
        self.effort.part().await
    }

    async fn pattern(&mut self, pattern: &Pattern<'_>) -> bool {
        self.wildcard(pattern, false).await
    }

    async fn except_pattern(&mut self, pattern: &Pattern<'_>) -> bool {
        self.wildcard(pattern, true).await
    }

    fn except_name(&mut self, name: &str) {
        if (self.sees)(name) {
            let excluded = self.excluded.get_or_insert_default();
            excluded.names.insert(name.to_owned());
            // Of a data stream all goes.
            excluded.indices.extend(self.names.stream(name).unwrap_or_default());
        }
    }

    async fn excepted(&mut self) {
        if let Some(excluded) = self.excluded.take() {
            self.found.exclude(&excluded, &mut self.effort).await;
        }
    }

    fn name(&mut self, name: &str) -> Result<()> {
        let (names, call) = (self.names, self.call);
        if names.bears(name) && !(self.sees)(name) {
            return match call.options.ignore_unavailable {
                true => Ok(()),
                false => Err(missing(name, call.resource_type)),
            };
        }
        let mut add = |index: &str, way: Way| {
            if let Some(facts) = names.index(index) {
                self.found.add(Met {
                    index: index.to_owned(),
                    by: Some(name.to_owned()),
                    way: Some(way),
                    shut: shut(facts, call),
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
            indices.iter().for_each(|index| add(index, Way::of_stream(name)));
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
}

impl<N: Names, S: Fn(&str) -> bool, P: AsyncFn()> Reading<'_, N, S, P> {
    /// Adds what a pattern meets, or has it excluded. True where it met something that the caller may see.
    async fn wildcard(&mut self, pattern: &Pattern<'_>, excludes: bool) -> bool {
        let names = self.names;
        let mut met = false;
        let mut others = Vec::new();
        for name in names.indices(pattern.prefix) {
            self.effort.look().await;
            if pattern.fits(name)
                && let Some(facts) = names.index(name)
            {
                let shows = pattern.shows(name, facts.hidden, self.call);
                if shows && (self.sees)(name) && self.meet(name, facts, &By::Name, excludes) {
                    met = true;
                } else {
                    others.push((name, facts));
                }
            }
        }
        if self.call.ignore_aliases {
            return met;
        }
        for (stream, hidden) in names.streams(pattern.prefix) {
            self.effort.look().await;
            let shows = pattern.fits(stream) && pattern.shows(stream, hidden, self.call);
            if !shows || !(self.sees)(stream) {
                continue;
            }
            for name in names.stream(stream).unwrap_or_default() {
                self.effort.look().await;
                if let Some(facts) = names.index(&name) {
                    met |= self.meet(&name, facts, &By::Stream(stream), excludes);
                }
            }
        }
        // An index that was met says all: a way through an alias adds nothing to it. A star alone meets each, so
        // what is left are the aliases of the others, of which there are few, and not all there are.
        if pattern.is_all() {
            for (name, facts) in others {
                for (alias, target) in names.aliases_of(name) {
                    self.effort.look().await;
                    let shows = pattern.shows(&alias, target.is_hidden, self.call);
                    if shows && (self.sees)(&alias) {
                        met |= self.meet(name, facts, &By::Alias(&alias, &target), excludes);
                    }
                }
            }
            return met;
        }
        for alias in names.aliases(pattern.prefix) {
            self.effort.look().await;
            if !pattern.fits(alias) || !(self.sees)(alias) {
                continue;
            }
            for target in names.alias(alias).unwrap_or_default() {
                self.effort.look().await;
                if let Some(facts) = names.index(&target.index)
                    && pattern.shows(alias, target.is_hidden, self.call)
                {
                    let by = By::Alias(alias, &target);
                    met |= self.meet(&target.index, facts, &by, excludes);
                }
            }
        }
        met
    }

    /// A pattern met an index by a name that the caller may see. True where it may be met so: then it is added, or
    /// excluded.
    fn meet(&mut self, index: &str, facts: Facts, by: &By<'_>, excludes: bool) -> bool {
        let options = self.call.options;
        if !(if facts.open { options.expand_open } else { options.expand_closed }) {
            return false;
        }
        if excludes {
            self.excluded.get_or_insert_default().indices.insert(index.to_owned());
            return true;
        }
        self.found.add_once(Met {
            index: index.to_owned(),
            by: None,
            way: Some(match by {
                By::Name => Way::default(),
                By::Alias(alias, target) => Way::by_wildcard(alias, target),
                By::Stream(stream) => Way::of_stream(stream),
            }),
            // Whoever asks for closed ones meets them.
            shut: shut(facts, self.call),
        });
        true
    }
}

/// What a pattern met that leads to an index.
enum By<'a> {
    /// The index itself.
    Name,
    /// An alias of it.
    Alias(&'a str, &'a AliasTarget),
    /// The data stream that it is part of.
    Stream(&'a str),
}

/// The id of an index that is closed, where the call refuses such.
fn shut(facts: Facts, call: Call) -> Option<[u8; 16]> {
    (!facts.open && call.forbid_closed).then_some(facts.uuid)
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
