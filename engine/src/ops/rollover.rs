//! `_rollover`: the next index takes the writes of an alias or data stream.

use std::rc::Rc;
use std::sync::Arc;

use base::planted::{Fault, planted};
use base::units;
use cluster::{Command, DataStream, Index, NewIndex, Outcome};
use env::Env;
use json::Value;

use super::create::{part, settings_part};
use super::reached::{READ, check_mappings, check_settings, limits_of_new};
use super::{deprecated, failure};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Everything, Gate, Making};
use crate::index::block::{self, Level};
use crate::index::date_math;

/// A rollover that is asked for.
#[derive(Clone, Debug, Default)]
pub struct RolloverRequest {
    /// The alias or data stream.
    pub target: String,
    /// Name of the next index, where the caller gives one.
    pub new_index: Option<String>,
    /// Only says what would happen.
    pub dry_run: bool,
    /// Of a data stream: its next write rolls it over.
    pub lazy: bool,
    /// When it is due; without any it always is.
    pub conditions: Vec<Condition>,
    /// `settings`, `mappings`, `aliases` of the next index.
    pub body: Value,
}

/// One condition: it holds once the old index has come so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Its name in Elasticsearch: `max_docs`.
    pub name: &'static str,
    /// All that name the least must hold; of the others one.
    pub least: bool,
    /// How far.
    pub reach: Reach,
    /// As it was asked: a text, or a count.
    pub asked: Value,
}

/// How far an index must have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Milliseconds since it was made.
    AgeMs(i64),
    /// Documents.
    Docs(i64),
    /// Bytes of the primary shards.
    Bytes(i64),
    /// Documents of the largest shard.
    LargestDocs(i64),
    /// Bytes of the largest shard.
    LargestBytes(i64),
}

impl Reach {
    fn is_size(self) -> bool {
        matches!(self, Self::Bytes(_) | Self::LargestBytes(_))
    }
}

impl Condition {
    /// As an answer names it: `[max_docs: 5]`, `[max_age: 1.5d]`.
    fn shown(&self) -> String {
        let reach = match self.reach {
            Reach::AgeMs(ms) => {
                u64::try_from(ms).ok().and_then(|ms| ms.checked_mul(1_000_000)).map(units::nanos)
            }
            Reach::Bytes(bytes) | Reach::LargestBytes(bytes) => {
                u64::try_from(bytes).ok().map(units::size)
            }
            Reach::Docs(count) | Reach::LargestDocs(count) => Some(count.to_string()),
        };
        let reach = reach.unwrap_or_else(|| match &self.asked {
            Value::String(text) => text.to_owned(),
            other => json::to_string(other),
        });
        format!("[{}: {reach}]", self.name)
    }
}

/// What happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rollover {
    /// The index that took the writes.
    pub old_index: String,
    /// The index that takes them now, or would.
    pub new_index: String,
    /// It will be done by the next write.
    pub postponed: bool,
    /// It was done.
    pub rolled_over: bool,
    /// The new index's shards serve.
    pub shards_acknowledged: bool,
    /// Each condition as it is shown, and whether it holds.
    pub conditions: Vec<(String, bool)>,
}

/// What the gate is asked of what is rolled over.
const ACTION: &str = "indices:admin/rollover";

/// How often a target is looked at that others change, or whose next name they take, each time while its
/// next index is made.
const LOOKS_MAX: u32 = 8;

/// What is rolled over.
enum Target {
    Alias(Arc<Index>),
    Stream(Arc<DataStream>, Arc<Index>),
}

impl<E: Env> Core<E> {
    /// Rolls an alias or data stream over, where its conditions say so. Calls that come at the same time
    /// are done one after the other, each on what the one before left ([`super::rolling`]).
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn rollover(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: &RolloverRequest,
    ) -> Result<Rollover> {
        // What is wrong with the request by itself is told first, whatever it is asked of.
        let conditions = &request.conditions;
        if !conditions.is_empty() && conditions.iter().all(|one| one.least) {
            return Err(Error::validation(&[
                "at least one max_* rollover condition must be set when using min_* conditions",
            ]));
        }
        // Who may not roll it over holds up nobody who may.
        gate.index(ACTION, &request.target)?;
        for condition in conditions.iter().filter(|one| one.reach.is_size()) {
            let text = condition.asked.as_str().unwrap_or_default();
            if units::is_fraction(text) {
                deprecated::fraction(gate, condition.name, text);
            }
        }
        let _turn = match request.dry_run || planted(Fault::RollAtOnce) {
            true => None,
            false => Some(self.turn_to_roll(&request.target).await?),
        };
        self.roll_in_turn(gate, request, None).await
    }

    /// As [`Core::rollover`], for who has the turn. What others changed while the next index was made is
    /// looked at anew: the target is what it is by then, as where Elasticsearch judges a rollover.
    async fn roll_in_turn(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: &RolloverRequest,
        writer: Option<&dyn Gate>,
    ) -> Result<Rollover> {
        for _ in 0..LOOKS_MAX {
            if let Some(rolled) = self.roll_now(gate, request, writer).await? {
                return Ok(rolled);
            }
        }
        Err(failure::of_cluster(cluster::Error::Moved { target: request.target.clone() }))
    }

    /// Rolls it over as it is now; none where that changed meanwhile. A `writer` hears of the next index that it
    /// has made, and else the gate.
    async fn roll_now(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: &RolloverRequest,
        writer: Option<&dyn Gate>,
    ) -> Result<Option<Rollover>> {
        gate.index(ACTION, &request.target)?;
        let state = self.state();
        let target = self.rollover_target(&request.target)?;
        if request.lazy {
            let refused = match (&target, request.conditions.is_empty()) {
                (Target::Stream(..), true) => None,
                (Target::Alias(_), true) => Some(
                    "Lazy rollover can be applied only on a data stream. Please remove the query \
                     parameter 'lazy'.",
                ),
                (Target::Alias(_), false) => Some(
                    "Lazy rollover can be applied only on a data stream with no conditions. Please \
                     remove the query parameter 'lazy'.",
                ),
                (Target::Stream(..), false) => Some(
                    "Lazy rollover can be used only without any conditions. Please remove the \
                     conditions from the request body or the query parameter 'lazy'.",
                ),
            };
            if let Some(reason) = refused {
                return Err(Error::illegal_argument(reason));
            }
        }
        let old = match &target {
            Target::Alias(old) | Target::Stream(_, old) => Arc::clone(old),
        };
        gate::ask(gate, ACTION, &old.name, std::slice::from_ref(&request.target))?;
        block::check_cluster_of(&state, [&*old.name], Level::MetadataWrite)?;
        block::check(&old, Level::MetadataWrite)?;
        let mut generation = 0;
        let (provided, new_name) = match (&target, &request.new_index) {
            (Target::Stream(..), Some(_)) => {
                return Err(Error::illegal_argument(
                    "new index name may not be specified when rolling over a data stream",
                ));
            }
            (Target::Stream(..), None) if shapes(&request.body) => {
                return Err(Error::illegal_argument(
                    "aliases, mappings, and index settings may not be specified when rolling over a \
                     data stream",
                ));
            }
            (Target::Stream(stream, _), None) => {
                state.templates.for_stream(&stream.name).map_err(failure::of_cluster)?;
                let next = stream.generation + 1;
                let (name, named_by) = state.next_backing_name(&stream.name, next, self.now_ms());
                generation = named_by;
                (name.clone(), name)
            }
            (_, Some(name)) => {
                (name.clone(), date_math::resolve(name, self.now_ms())?.into_owned())
            }
            (_, None) => {
                let provided =
                    next_name(old.settings.text("index.provided_name").unwrap_or(&old.name))?;
                let name = date_math::resolve(&provided, self.now_ms())?.into_owned();
                (provided, name)
            }
        };
        // Whoever may roll over makes the next of the names; another one must be the caller's. An application must
        // hold the next one of an alias, too, which may lie beyond its names.
        let is_next = matches!(target, Target::Stream(..))
            || (request.new_index.is_none() && gate.trusts_aliases());
        if !is_next {
            gate.index("indices:admin/create", &new_name)?;
        }
        // Before the conditions, so that one that is only tried hears of it, too.
        cluster::check_new_name(&state, &new_name).map_err(failure::of_cluster)?;
        self.check_reserved(&new_name)?;
        if let Target::Alias(_) = target {
            cluster::check_next(&state, &request.target, &new_name).map_err(failure::of_cluster)?;
        }
        let conditions = self.judged(&old, &request.conditions).await?;
        let most = conditions.iter().any(|(one, holds)| !one.least && *holds);
        let least = conditions.iter().filter(|(one, _)| one.least).all(|(_, holds)| *holds);
        let due = conditions.is_empty() || (most && least);
        let met = conditions.iter().filter(|(_, holds)| *holds);
        let met = met.map(|(one, _)| (one.name.to_owned(), one.asked.clone())).collect();
        let mut reply = Rollover {
            old_index: old.name.to_string(),
            new_index: new_name.clone(),
            conditions: conditions.iter().map(|(one, holds)| (one.shown(), *holds)).collect(),
            ..Rollover::default()
        };
        if request.dry_run || !due {
            return Ok(Some(reply));
        }
        if let (true, Target::Stream(stream, _)) = (request.lazy, &target) {
            let name = stream.name.to_string();
            gate.begins(ACTION, vec![name.clone()]).await?;
            self.done(Command::MarkStream { name }).await?;
            reply.postponed = true;
            return Ok(Some(reply));
        }
        let mut new = NewIndex {
            provided,
            settings: settings_part(&request.body)?,
            mappings: part(&request.body, "mappings")?,
            aliases: self.aliases_of(gate, &new_name, part(&request.body, "aliases")?).await?,
            ..NewIndex::new(&new_name, self.uuid(), self.now_ms())
        };
        let mut limits = limits_of_new(gate, ACTION, &self.state(), &new);
        for action in [ACTION, READ] {
            // What the old one shows the next one will.
            if gate.sees_by_alias(action, &old.name, &request.target) {
                let via = std::slice::from_ref(&request.target);
                limits.extend(gate::ask(gate, action, &old.name, via).ok());
            }
        }
        check_mappings(&limits, (ACTION, &new_name), &new.mappings)?;
        check_settings(&limits, (ACTION, &new_name), &new.settings)?;
        let uuid = new.uuid;
        let note = Command::NoteRollover {
            uuid: old.uuid,
            target: request.target.clone(),
            rollover: cluster::state::Rollover { met: Value::Object(met), time_ms: self.now_ms() },
        };
        let roll = match target {
            Target::Stream(stream, _) => {
                let (name, from) = (stream.name.to_string(), old.name.to_string());
                new.stream = Some(name.clone());
                Command::RollStream { name, from, index: new_name.clone(), generation }
            }
            Target::Alias(old) => {
                self.warn_of_templates(gate, &new.name, &new.settings);
                // What the old index has of it outweighs what the request says.
                if let Some(aliases) = new.aliases.as_object_mut() {
                    aliases.remove(&request.target);
                }
                let (name, index) = (request.target.clone(), new_name.clone());
                Command::RollAlias { name, from: old.uuid, index }
            }
        };
        match writer {
            Some(writer) => writer.may_make(Making::Rollover, &new_name).await?,
            None => gate.begins(ACTION, vec![old.name.to_string(), new_name.clone()]).await?,
        }
        let commands = vec![Command::CreateIndex(new), roll, note];
        let changed = self.change(Command::Batch(commands)).await;
        let (failed, has_moved) = match changed {
            Ok(Outcome::Refused(error)) => {
                let has_moved = has_moved(&error, &new_name);
                (Some(failure::of_cluster(error)), has_moved)
            }
            Ok(Outcome::Done | Outcome::Fields(_)) => (None, false),
            Err(error) => (Some(error), false),
        };
        match (failed, writer) {
            (None, Some(writer)) => writer.made(Making::Rollover, &new_name),
            (None, None) => {}
            (Some(error), writer) => {
                if let Some(writer) = writer {
                    writer.not_made(Making::Rollover, &new_name, &error.reason);
                }
                return if has_moved { Ok(None) } else { Err(error) };
            }
        }
        self.warn_of_new(gate, uuid);
        reply.rolled_over = true;
        reply.shards_acknowledged = self.is_whole(uuid);
        Ok(Some(reply))
    }

    /// Rolls a data stream over that waited for a write to do so, which needs no right to: `writer` hears of what
    /// is made. Another write may have been faster.
    ///
    /// # Errors
    /// What keeps the next index from being made.
    pub(crate) async fn roll_for_write(
        self: &Rc<Self>,
        writer: &dyn Gate,
        stream: &str,
    ) -> Result<()> {
        let waits = |core: &Self| {
            core.state().data_streams.get(stream).is_some_and(|stream| stream.rollover_on_write)
        };
        if !waits(self) {
            return Ok(());
        }
        let _turn = self.turn_to_roll(stream).await?;
        if !waits(self) {
            return Ok(());
        }
        let request = RolloverRequest { target: stream.to_owned(), ..RolloverRequest::default() };
        // Boxed: a write that makes an index may be part of one that makes another.
        let done = Box::pin(self.roll_in_turn(&Everything, &request, Some(writer))).await;
        match done {
            Err(error) if waits(self) => Err(error),
            _ => Ok(()),
        }
    }

    fn rollover_target(&self, name: &str) -> Result<Target> {
        let state = self.state();
        if let Some(stream) = state.data_streams.get(name) {
            let old = state
                .index(stream.write_index())
                .ok_or_else(|| Error::internal("a data stream without its index"))?;
            return Ok(Target::Stream(Arc::clone(stream), Arc::clone(old)));
        }
        if !state.aliases.contains_key(name) {
            if state.index(name).is_some() {
                return Err(Error::illegal_argument(
                    "rollover target is a [concrete index] but one of [alias,data_stream] was \
                     expected",
                ));
            }
            return Err(Error::illegal_argument(format!(
                "rollover target [{name}] does not exist"
            )));
        }
        match state.writer_of(name) {
            Some((old, _)) => Ok(Target::Alias(Arc::clone(old))),
            None => Err(Error::illegal_argument(format!(
                "rollover target [{name}] does not point to a write index"
            ))),
        }
    }

    /// The conditions, and whether each holds of the index.
    async fn judged<'a>(
        self: &Rc<Self>,
        old: &Arc<Index>,
        asked: &'a [Condition],
    ) -> Result<Vec<(&'a Condition, bool)>> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.health_rows(|index| index.uuid == old.uuid).await;
        let Some(row) = rows.first() else { return Ok(Vec::new()) };
        let largest = self.largest_shard(old).await;
        let age_ms = self.now_ms().saturating_sub(old.created_ms);
        // No figure here comes near the end of a signed one.
        let reaches = |figure: u64, least: i64| least <= i64::try_from(figure).unwrap_or(i64::MAX);
        let holds = |reach: Reach| match reach {
            Reach::AgeMs(least) => age_ms >= least,
            Reach::Docs(least) => reaches(row.docs_count, least),
            Reach::Bytes(least) => reaches(row.segment_bytes, least),
            Reach::LargestDocs(least) => reaches(largest.0, least),
            Reach::LargestBytes(least) => reaches(largest.1, least),
        };
        Ok(asked.iter().map(|one| (one, holds(one.reach))).collect())
    }

    /// Documents and bytes of the largest shard, each by itself.
    async fn largest_shard(self: &Rc<Self>, index: &Index) -> (u64, u64) {
        let mut largest = (0, 0);
        for number in 0..index.settings.shard_count() {
            let shard = base::ShardId { index: index.uuid, number };
            let stats: crate::host::call::Called<shard::Stats> =
                self.ask(shard, |reply| crate::host::call::ShardCall::Stats { reply }).await;
            if let Ok(stats) = stats {
                largest.0 = largest.0.max(stats.docs_count);
                largest.1 = largest.1.max(stats.segment_bytes);
            }
        }
        largest
    }
}

/// Was a rollover refused for what others did since it was looked at? That the next index has a name that
/// none may have was told by the look.
fn has_moved(error: &cluster::Error, next: &str) -> bool {
    match error {
        cluster::Error::Moved { .. } => true,
        cluster::Error::Exists { name, .. } | cluster::Error::IndexName { name, .. } => {
            name == next
        }
        _ => false,
    }
}

/// Does a request say what the next index is to be?
fn shapes(body: &Value) -> bool {
    ["settings", "mappings", "aliases"]
        .iter()
        .any(|key| body.get(key).and_then(Value::as_object).is_some_and(|said| !said.is_empty()))
}

/// `logs-000001` becomes `logs-000002`; so does the number in a name of date math.
fn next_name(name: &str) -> Result<String> {
    let wrong = || {
        Error::illegal_argument(format!("index name [{name}] does not match pattern '^.*-\\d+$'"))
    };
    let is_math = name.starts_with('<') && name.ends_with('>');
    let plain = if is_math { &name[..name.len() - 1] } else { name };
    let (head, digits) = plain.rsplit_once('-').ok_or_else(wrong)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    // As Java reads it; one more must still be a number that it reads.
    let number = digits.parse::<u32>().ok().filter(|number| *number < i32::MAX as u32);
    let number = number.ok_or_else(|| {
        let reason = format!("For input string: \"{digits}\"");
        Error::new(400, "number_format_exception", reason)
    })?;
    let close = if is_math { ">" } else { "" };
    Ok(format!("{head}-{:06}{close}", number + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_on() {
        for (name, next) in [
            ("logs-000001", "logs-000002"),
            ("logs-9", "logs-000010"),
            ("a-b-1", "a-b-000002"),
            ("<logs-{now/d}-000003>", "<logs-{now/d}-000004>"),
        ] {
            assert_eq!(next_name(name).as_deref(), Ok(next));
        }
        for name in
            ["old", "logs-", "logs-1x", "<logs-{now/d}>", "x-2147483647", "x-18446744073709551615"]
        {
            assert!(next_name(name).is_err(), "{name}");
        }
    }
}
