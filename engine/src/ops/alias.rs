//! Aliases: looking at them, and changing them all at once.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use base::hash::Set;
use cluster::patterns::{Cost, STEPS_MAX, Steps};
use cluster::{Alias, AliasAction, Command, Index, State};
use env::leftovers::Leaving;
use env::{Env, Spawn};
use json::Value;

use super::reached::Reached;
use super::widened::ByName;
use super::{IndicesOptions, alias_filter};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Gate};
use crate::index::block::{self, Level};
use crate::index::date_math;
use crate::index::resolve::{Call, matches};

/// What the gate is asked of who looks at aliases.
const LOOK: &str = "indices:admin/aliases/get";

/// What an index counts for in each action that means it, and in each alias that is added to it: it stands in the log
/// of the cluster's state so often.
const STEPS_OF_PAIR: usize = 2048;

/// What a pair that is added takes until the change is done: the action, its place in the state that is tried, its
/// part of the log.
const BYTES_OF_PAIR: usize = 1024;

/// Steps of one request: some hundred milliseconds, between which others have their turn.
const STEPS_OF_REQUEST: usize = 8 * STEPS_MAX;

/// So many names go in a moment: some 50 µs.
const GO_AT_ONCE: usize = 1024;

/// Patterns that are compared with a name before others have their turn.
const NAMES_AT_ONCE: usize = 512;

/// Aliases by index.
#[derive(Clone, Debug, Default)]
pub struct AliasView {
    /// Indices in order of their names, each with its aliases.
    pub indices: Vec<(String, Vec<(String, Alias)>)>,
    /// Names that were asked for and that nothing bears, sorted.
    pub missing: Vec<String>,
}

/// What one action does.
#[derive(Clone, Debug, PartialEq)]
pub enum AliasChange {
    /// Sets aliases.
    Add {
        /// What they say.
        alias: Box<Alias>,
        /// Each must be there already, of some index.
        must_exist: bool,
    },
    /// Takes aliases away.
    Remove {
        /// Some must be there.
        must_exist: Option<bool>,
    },
    /// Takes indices away.
    RemoveIndex,
}

/// One action of a request; names may be expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct AliasRequest {
    /// What to do.
    pub change: AliasChange,
    /// Of which indices.
    pub indices: Vec<String>,
    /// Which aliases.
    pub aliases: Vec<String>,
}

/// What became of one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasResult {
    /// `add`, `remove`, `remove_index`.
    pub kind: &'static str,
    /// The indices that were meant.
    pub indices: Vec<String>,
    /// The aliases as they were named.
    pub aliases: Vec<String>,
    /// There was nothing to remove.
    pub missing: bool,
}

impl<E: Env> Core<E> {
    /// Aliases of the indices that an expression names: all that the caller was granted, or those of them
    /// that `names` fits. Filters are told to who may read all of the index.
    ///
    /// # Errors
    /// A missing index; an alias that is named and was not granted.
    pub async fn aliases(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
        names: Option<&[String]>,
    ) -> Result<AliasView> {
        let call = Call { forbid_closed: false, ..Call::new(options) };
        for name in names.unwrap_or_default() {
            // Asked before it is looked up: whether a name that is hidden exists is nobody's business.
            if is_literal(name) {
                gate.index(LOOK, name)?;
            }
        }
        let mut indices = self.reached(gate, LOOK, expression, call).await?;
        block::check_all(indices.iter().map(|one| &*one.index), Level::MetadataRead)?;
        indices.sort_by(|a, b| a.index.name.cmp(&b.index.name));
        let mut view = AliasView::default();
        let mut seen: Set<String> = Set::default();
        for one in &indices {
            let mut found = one.shown_aliases(gate, LOOK);
            if let Some(names) = names {
                // Each of thousands of aliases is held against each of hundreds of patterns.
                let all = std::mem::take(&mut found);
                for (alias, what) in all {
                    self.env.spawn().yield_if_needed().await;
                    if fits(names, &alias) {
                        seen.insert(alias.clone());
                        found.push((alias, what));
                    }
                }
            }
            self.env.spawn().yield_if_needed().await;
            if names.is_none() || !found.is_empty() {
                view.indices.push((one.index.name.to_string(), found));
            }
        }
        if let Some(names) = names {
            view.missing = missing(names, &seen);
        }
        Ok(view)
    }

    /// Changes aliases, all at once; what became of each action. One that removes what is not there does
    /// not keep the others from being done, unless it must be there.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn update_aliases(
        self: &Rc<Self>,
        gate: &dyn Gate,
        requests: &[AliasRequest],
    ) -> Result<Vec<AliasResult>> {
        let state = self.state();
        let mut actions = Leaving::new(Vec::new(), |actions: &Vec<AliasAction>| are_many(actions));
        let mut results = Vec::with_capacity(requests.len());
        let mut does_any = false;
        let mut steps = Steps::new(STEPS_OF_REQUEST);
        let mut concerned: Vec<Vec<Reached>> = Vec::with_capacity(requests.len());
        let mut added_pairs = 0;
        for request in requests {
            self.env.spawn().yield_if_needed().await;
            let indices = self.concerned(gate, request).await?;
            let names = match request.change {
                AliasChange::Add { .. } => request.aliases.len(),
                AliasChange::Remove { .. } | AliasChange::RemoveIndex => 1,
            };
            let pairs = indices.len().saturating_mul(names);
            if !steps.spend(pairs.saturating_mul(STEPS_OF_PAIR)) {
                return Err(Error::illegal_argument(format!(
                    "the actions name more pairs of an index and an alias than one request may ([{}])",
                    STEPS_OF_REQUEST / STEPS_OF_PAIR
                )));
            }
            if matches!(request.change, AliasChange::Add { .. }) {
                added_pairs += pairs;
            }
            concerned.push(indices);
        }
        let _memory = self.room("aliases", added_pairs.saturating_mul(BYTES_OF_PAIR))?;
        let touched = concerned.iter().flatten().map(|one| &*one.index);
        let names = touched.clone().map(|index| &*index.name);
        block::check_cluster_of(&state, names, Level::MetadataWrite)?;
        block::check_all(touched, Level::MetadataWrite)?;
        let added = self.added(requests).await;
        for (request, indices) in requests.iter().zip(concerned) {
            self.env.spawn().yield_if_needed().await;
            if let AliasChange::Add { alias, .. } = &request.change {
                let name = request.aliases.first().map_or("", String::as_str);
                for one in &indices {
                    one.check_filter(gate, name, alias.filter.as_deref())?;
                }
                self.check_not_widened(gate, request, &indices).await?;
            }
            let indices: Vec<Arc<Index>> = indices.into_iter().map(|one| one.index).collect();
            let does = match &request.change {
                AliasChange::Remove { must_exist } => {
                    // The only action is to find something even if nothing says so.
                    let must_exist = must_exist.unwrap_or(requests.len() == 1);
                    let names = &request.aliases;
                    let (names, found) =
                        self.removed(gate, names, &added, &indices, &mut steps).await?;
                    let uuids = indices.iter().map(|index| index.uuid).collect();
                    if !names.is_empty() {
                        actions.push(AliasAction::RemoveAny { uuids, names, must_exist });
                    }
                    found
                }
                _ => self.add_actions(gate, request, &indices, &mut actions).await?,
            };
            does_any |= does;
            let (kind, missing) = match request.change {
                AliasChange::Add { .. } => ("add", false),
                AliasChange::RemoveIndex => ("remove_index", false),
                AliasChange::Remove { must_exist: Some(true) } if !does => {
                    return Err(aliases_missing(request.aliases.iter()));
                }
                AliasChange::Remove { must_exist } => ("remove", !does && must_exist.is_none()),
            };
            let mut aliases = Vec::with_capacity(request.aliases.len());
            for name in &request.aliases {
                self.env.spawn().yield_if_needed().await;
                aliases.push(name.clone());
            }
            let indices = indices.iter().map(|index| index.name.to_string()).collect();
            results.push(AliasResult { kind, indices, aliases, missing });
        }
        if !does_any && results.iter().any(|result| result.missing) {
            return Err(aliases_missing(requests.iter().flat_map(|request| &request.aliases)));
        }
        if !actions.is_empty() {
            self.done(Command::UpdateAliases { actions: actions.stay() }).await?;
        }
        Ok(results)
    }

    /// The indices of one action. Data streams have no aliases here; what Elasticsearch says of actions that
    /// meet them comes first.
    async fn concerned(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: &AliasRequest,
    ) -> Result<Vec<Reached>> {
        let action = match request.change {
            AliasChange::RemoveIndex => "indices:admin/delete",
            _ => "indices:admin/aliases",
        };
        // Each is one name, so one with a comma in it names nothing.
        if let Some(name) = request.indices.iter().find(|name| name.contains(',')) {
            return Err(Error::index_not_found(name, "index_or_alias"));
        }
        let state = self.state();
        let streams = streams_met(gate, action, &state, &request.indices)?;
        let is_stream = |name: &str| state.data_streams.contains_key(name);
        let others: Vec<&str> =
            request.indices.iter().map(String::as_str).filter(|name| !is_stream(name)).collect();
        let options = IndicesOptions {
            // Whoever means a closed index names it.
            expand_closed: false,
            allow_no_indices: !streams.is_empty(),
            ..IndicesOptions::default()
        };
        let call = Call { forbid_closed: false, ignore_aliases: true, ..Call::new(options) };
        let mut indices = match others.is_empty() && !streams.is_empty() {
            true => Vec::new(),
            false => self.reached(gate, action, &others.join(","), call).await?,
        };
        let backs = |one: &Reached| state.data_stream_of(&one.index.name);
        let Some(first) = streams.first() else {
            return match indices.iter().find_map(backs) {
                None => Ok(indices),
                Some(stream) => Err(Error::illegal_argument(format!(
                    "The provided expressions [{}] match a backing index belonging to data stream \
                     [{}]. Data stream backing indices don't support aliases.",
                    request.indices.join(","),
                    stream.name
                ))),
            };
        };
        match request.change {
            AliasChange::RemoveIndex => {
                Err(Error::illegal_argument("Unsupported action [REMOVE_INDEX]"))
            }
            AliasChange::Add { .. } if indices.iter().any(|one| backs(one).is_none()) => {
                Err(Error::illegal_argument(format!(
                    "expressions [{}] that match with both data streams and regular indices are \
                     disallowed",
                    request.indices.join(", ")
                )))
            }
            AliasChange::Add { .. } => Err(Error::illegal_argument(format!(
                "[{first}] is a data stream, and aliases of data streams are not supported"
            ))),
            // It has none that could be removed.
            AliasChange::Remove { .. } => {
                indices.retain(|one| backs(one).is_none());
                Ok(indices)
            }
        }
    }

    /// The names that a removal takes away where its indices have them when the change has its turn, and
    /// whether they have any now. Another change may come between: two that move an alias would else leave
    /// it to both of their indices. What a pattern fits is all that bears a name now, or is given one by the
    /// same request (`added`). A name is taken as it is written: dates are worked out where one is set.
    async fn removed(
        self: &Rc<Self>,
        gate: &dyn Gate,
        names: &[String],
        added: &BTreeSet<String>,
        indices: &[Arc<Index>],
        steps: &mut Steps,
    ) -> Result<(Vec<String>, bool)> {
        const ACTION: &str = "indices:admin/aliases";
        let spawn = self.env.spawn();
        let mut removed: BTreeSet<String> = BTreeSet::new();
        // Who writes a name is refused by it, whether it is there or not; a pattern meets what its caller may ask for.
        for name in names.iter().filter(|name| is_literal(name)) {
            spawn.yield_if_needed().await;
            gate.index(ACTION, name)?;
        }
        // A list without patterns says which names it fits.
        if !names.is_empty() && names.iter().all(|name| is_literal(name)) {
            let mut found = false;
            for name in names {
                spawn.yield_if_needed().await;
                found |= indices.iter().any(|index| index.aliases.contains_key(name.as_str()));
                removed.insert(name.clone());
            }
            let mut names = Vec::with_capacity(removed.len());
            while let Some(name) = removed.pop_first() {
                spawn.yield_if_needed().await;
                names.push(name);
            }
            return Ok((names, found));
        }
        // What nothing says of is there is no fault of the caller's, so it is passed over where it is not
        // granted, and nobody is told what was lacking.
        let state = self.state();
        let own = || indices.iter().flat_map(|index| index.aliases.keys()).map(|alias| &**alias);
        let others = || {
            let written = names.iter().filter(|name| is_literal(name));
            state
                .aliases
                .keys()
                .map(|alias| &**alias)
                .chain(added.iter().chain(written).map(String::as_str))
        };
        let cost = Cost::of(names.iter().map(String::as_str));
        for (at, alias) in own().chain(others()).enumerate() {
            spawn.yield_at(at).await;
            if !steps.spend(cost.steps(alias)) {
                return Err(Error::illegal_argument(format!(
                    "the action has [{}] patterns and names of aliases, more than can be compared with all \
                     aliases that it may mean",
                    names.len()
                )));
            }
        }
        let fits = async |alias: &str| {
            let mut fits = names.is_empty();
            for names in names.chunks(NAMES_AT_ONCE) {
                spawn.yield_if_needed().await;
                fits = still_fits(names, alias, fits);
            }
            fits
        };
        for alias in own() {
            spawn.yield_if_needed().await;
            if !removed.contains(alias) && fits(alias).await && gate.sees(ACTION, alias) {
                removed.insert(alias.to_string());
            }
        }
        let found = !removed.is_empty();
        for alias in others() {
            spawn.yield_if_needed().await;
            if !removed.contains(alias) && fits(alias).await && gate.sees(ACTION, alias) {
                removed.insert(alias.to_owned());
            }
        }
        Ok((removed.into_iter().collect(), found))
    }

    /// Do the names that are added give no more of the indices than their own names do?
    async fn check_not_widened(
        &self,
        gate: &dyn Gate,
        request: &AliasRequest,
        indices: &[Reached],
    ) -> Result<()> {
        for name in &request.aliases {
            let name = date_math::resolve(name, self.now_ms())?;
            gate::ask_alias(gate, "indices:admin/aliases", &*self.state(), &name)?;
            let by_name = ByName::alias(gate, &name);
            for one in indices {
                self.env.spawn().yield_if_needed().await;
                by_name.check_alias(&one.index.name)?;
            }
        }
        Ok(())
    }

    /// The names that a request sets, of which its removals may take some.
    async fn added(&self, requests: &[AliasRequest]) -> BTreeSet<String> {
        let mut added = BTreeSet::new();
        for request in requests {
            self.env.spawn().yield_if_needed().await;
            if !matches!(request.change, AliasChange::Add { .. }) {
                continue;
            }
            for name in &request.aliases {
                match date_math::resolve(name, self.now_ms()) {
                    Ok(name) if is_literal(&name) => added.insert(name.into_owned()),
                    _ => continue,
                };
            }
        }
        added
    }

    /// Does it anything?
    async fn add_actions(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: &AliasRequest,
        indices: &[Arc<Index>],
        actions: &mut Vec<AliasAction>,
    ) -> Result<bool> {
        let before = actions.len();
        match &request.change {
            AliasChange::RemoveIndex => {
                block::check_uncopied(&self.state(), indices.iter().map(|index| &**index))?;
                let gone =
                    indices.iter().map(|index| AliasAction::RemoveIndex { uuid: index.uuid });
                actions.extend(gone);
            }
            // What it takes away is judged later (`removed`).
            AliasChange::Remove { .. } => {}
            AliasChange::Add { alias, must_exist } => {
                for (number, name) in request.aliases.iter().enumerate() {
                    let name = date_math::resolve(name, self.now_ms())?;
                    if *must_exist && !self.state().aliases.contains_key(&*name) {
                        return Err(aliases_missing(std::iter::once(&name.to_string())));
                    }
                    gate.index("indices:admin/aliases", &name)?;
                    let state = self.state();
                    // What an index answers under the first name it answers under all.
                    let filter = alias.filter.as_deref().filter(|_| number == 0);
                    alias_filter::check_query(gate, &name, filter)?;
                    for index in indices {
                        self.env.spawn().yield_if_needed().await;
                        alias_filter::check(&state, index, &name, filter, self.now_ms())?;
                        actions.push(AliasAction::Add {
                            uuid: index.uuid,
                            name: name.to_string(),
                            alias: (**alias).clone(),
                        });
                    }
                }
            }
        }
        Ok(actions.len() > before)
    }
}

/// Do these take a while to go?
fn are_many(actions: &[AliasAction]) -> bool {
    let names = actions.iter().map(|action| match action {
        AliasAction::RemoveAny { names, .. } => names.len(),
        _ => 1,
    });
    names.sum::<usize>() > GO_AT_ONCE
}

/// The data streams that the parts of an expression name or fit, but for those that a later part takes out,
/// in order of their names.
///
/// # Errors
/// What the gate says of one that is named.
fn streams_met(
    gate: &dyn Gate,
    action: &'static str,
    state: &State,
    parts: &[String],
) -> Result<BTreeSet<Arc<str>>> {
    let mut met: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut starred = false;
    for part in parts {
        let pattern = if part == "_all" { "*" } else { part };
        match pattern.strip_prefix('-') {
            Some(excluded) if starred => met.retain(|name| !matches(excluded, name)),
            _ if pattern.contains('*') => {
                starred = true;
                let shows = |name: &str, hidden: bool| {
                    !hidden || (name.starts_with('.') && pattern.starts_with('.'))
                };
                let fitting = state.data_streams.iter().filter(|(name, stream)| {
                    matches(pattern, name) && shows(name, stream.hidden) && gate.sees(action, name)
                });
                met.extend(fitting.map(|(name, _)| Arc::clone(name)));
            }
            _ => {
                if let Some((name, _)) = state.data_streams.get_key_value(pattern) {
                    gate.index(action, name)?;
                    met.insert(Arc::clone(name));
                }
            }
        }
    }
    Ok(met)
}

/// Is it a name, and neither a pattern nor an exclusion?
fn is_literal(name: &str) -> bool {
    name != "_all" && !name.contains('*') && !name.starts_with('-')
}

/// Does the list of patterns and exclusions take in `alias`?
fn fits(patterns: &[String], alias: &str) -> bool {
    still_fits(patterns, alias, patterns.is_empty())
}

/// The same, of the next part of a list whose parts before it did or did not.
fn still_fits(patterns: &[String], alias: &str, did: bool) -> bool {
    let mut fits = did;
    for pattern in patterns {
        match pattern.strip_prefix('-') {
            Some(excluded) => fits &= !matches(excluded, alias),
            None => fits |= pattern == "_all" || matches(pattern, alias),
        }
    }
    fits
}

/// Names that were asked for one by one, not taken back later, and not found; sorted.
fn missing(names: &[String], seen: &Set<String>) -> Vec<String> {
    let is_pattern = |name: &str| name.contains('*');
    let first_pattern = names.iter().position(|name| is_pattern(name)).unwrap_or(names.len());
    let mut missing: Vec<String> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let excludes = at > first_pattern && name.starts_with('-');
        if name == "_all" || is_pattern(name) || excludes {
            continue;
        }
        // An exclusion counts only behind the first pattern.
        let excluded = names.iter().skip((at + 1).max(first_pattern)).any(|later| {
            later
                .strip_prefix('-')
                .is_some_and(|pattern| pattern == "_all" || matches(pattern, name))
        });
        if !excluded && !seen.contains(name) {
            missing.push(name.clone());
        }
    }
    missing.sort();
    missing.dedup();
    missing
}

/// So many names that are not there are told; of more, that there are more.
const TOLD_MAX: usize = 1000;

/// 404 for aliases that are not there.
pub fn aliases_missing<'a>(names: impl Iterator<Item = &'a String>) -> Error {
    let mut seen = Set::default();
    let mut known: Vec<&str> =
        names.map(String::as_str).filter(|name| seen.insert(*name)).take(TOLD_MAX + 1).collect();
    let more = if known.len() > TOLD_MAX { ", ..." } else { "" };
    known.truncate(TOLD_MAX);
    let reason = format!("aliases [{}{more}] missing", known.join(", "));
    let id = match known[..] {
        [one] => Value::from(one),
        _ => known.into_iter().map(Value::from).collect(),
    };
    Error::new(404, "aliases_not_found_exception", reason)
        .with("resource.type", "aliases")
        .with("resource.id", id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn of_many_names_that_are_not_there_some_are_told() {
        let names: Vec<String> = (0..2 * TOLD_MAX).map(|at| format!("a{at}")).collect();
        let told = |count: usize| aliases_missing(names[..count].iter().chain(&names[..count]));
        assert_eq!(told(2).reason, "aliases [a0, a1] missing");
        assert!(told(TOLD_MAX).reason.ends_with("a998, a999] missing"));
        assert!(told(2 * TOLD_MAX).reason.ends_with("a998, a999, ...] missing"));
    }

    #[test]
    fn patterns_and_exclusions_count_in_order() {
        for (names, alias, expected) in [
            ("a*,-a1", "a1", false),
            ("a*,-a1", "a2", true),
            ("-a1,a*", "a1", true),
            ("_all", "x", true),
            ("a1,b1,-a*", "b1", true),
            ("a1,b1,-a*", "a1", false),
        ] {
            assert_eq!(fits(&list(names), alias), expected, "{names} {alias}");
        }
    }

    #[test]
    fn what_is_missing_is_told_as_elasticsearch_does() {
        let seen = list("test_alias_1,test_alias_2").into_iter().collect();
        for (names, expected) in [
            ("test_alias_1,none", vec!["none"]),
            ("-test_alias_1,test_alias*,-test_alias_2", vec!["-test_alias_1"]),
            ("test_alias*,-non-existent", vec![]),
            ("none,test_alias*,-none", vec![]),
            ("-non-existent,-non-existent*,-another", vec!["-non-existent"]),
            ("_all", vec![]),
        ] {
            assert_eq!(missing(&list(names), &seen), expected, "{names}");
        }
    }
}
