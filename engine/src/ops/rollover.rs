//! `_rollover`: the next index takes the writes of an alias or data stream.

use std::rc::Rc;
use std::sync::Arc;

use base::planted::{Fault, planted};
use cluster::template::Part;
use cluster::{AliasAction, Command, DataStream, Index, NewIndex};
use env::Env;
use json::{Object, Value};

use super::create::part;
use super::{alias_filter, failure};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Everything, Gate};
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

impl Condition {
    /// As an answer names it: `[max_docs: 5]`.
    fn shown(&self) -> String {
        match &self.asked {
            Value::String(text) => format!("[{}: {text}]", self.name),
            other => format!("[{}: {}]", self.name, json::to_string(other)),
        }
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

/// What is rolled over.
enum Target {
    Alias { old: Arc<Index>, explicit: bool },
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
        // Who may not roll it over holds up nobody who may.
        gate.index(ACTION, &request.target)?;
        let _turn = match request.dry_run || planted(Fault::RollAtOnce) {
            true => None,
            false => Some(self.turn_to_roll(&request.target).await?),
        };
        self.roll_now(gate, request).await
    }

    /// As [`Core::rollover`], for who has the turn.
    async fn roll_now(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: &RolloverRequest,
    ) -> Result<Rollover> {
        gate.index(ACTION, &request.target)?;
        let state = self.state();
        let target = self.rollover_target(&request.target)?;
        if request.lazy {
            if matches!(target, Target::Alias { .. }) {
                return Err(Error::illegal_argument(
                    "lazy rollover can be applied only on a data stream",
                ));
            }
            if !request.conditions.is_empty() {
                return Err(Error::validation(&[
                    "lazy rollover can be applied only on a data stream with no conditions",
                ]));
            }
        }
        let old = match &target {
            Target::Alias { old, .. } | Target::Stream(_, old) => Arc::clone(old),
        };
        let via = match &target {
            Target::Alias { .. } => std::slice::from_ref(&request.target),
            Target::Stream(..) => &[],
        };
        gate::ask(gate, ACTION, &old.name, via)?;
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
        // Before the conditions, so that one that is only tried hears of it, too.
        cluster::check_new_name(&state, &new_name).map_err(failure::of_cluster)?;
        self.check_reserved(&new_name)?;
        self.refuse_repeated(&request.target, &target, &new_name)?;
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
            return Ok(reply);
        }
        if let (true, Target::Stream(stream, _)) = (request.lazy, &target) {
            self.done(Command::MarkStream { name: stream.name.to_string() }).await?;
            reply.postponed = true;
            return Ok(reply);
        }
        gate.index("indices:admin/create", &new_name)?;
        let mut new = NewIndex {
            provided,
            settings: part(&request.body, "settings")?,
            mappings: part(&request.body, "mappings")?,
            aliases: self.aliases_of(gate, &new_name, &request.body)?,
            ..NewIndex::new(&new_name, self.uuid(), self.now_ms())
        };
        let uuid = new.uuid;
        let note = Command::NoteRollover {
            uuid: old.uuid,
            target: request.target.clone(),
            rollover: cluster::state::Rollover { met: Value::Object(met), time_ms: self.now_ms() },
        };
        let mut commands = match target {
            Target::Stream(stream, _) => {
                let name = stream.name.to_string();
                new.stream = Some(name.clone());
                let (from, index) = (old.name.to_string(), new_name);
                vec![
                    Command::CreateIndex(new),
                    Command::RollStream { name, from, index, generation },
                ]
            }
            Target::Alias { old, explicit } => {
                self.warn_of_templates(gate, &new.name, &new.settings);
                switch(&request.target, &old, explicit, new)?
            }
        };
        commands.push(note);
        self.done(Command::Batch(commands)).await?;
        self.warn_of_settings(gate, uuid);
        reply.rolled_over = true;
        reply.shards_acknowledged = self.is_whole(uuid);
        Ok(reply)
    }

    /// Rolls a data stream over that waited for a write to do so. Another write may have been faster.
    ///
    /// # Errors
    /// What keeps the next index from being made.
    pub(crate) async fn roll_for_write(self: &Rc<Self>, stream: &str) -> Result<()> {
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
        let done = Box::pin(self.roll_now(&Everything, &request)).await;
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
        let Some(indices) = state.aliases.get(name) else {
            if state.index(name).is_some() {
                return Err(Error::illegal_argument(
                    "rollover target is a [concrete index] but one of [alias,data_stream] was \
                     expected",
                ));
            }
            return Err(Error::illegal_argument(format!(
                "rollover target [{name}] does not exist"
            )));
        };
        let said = |index: &str| state.index(index)?.aliases.get(name)?.is_write_index;
        let explicit = indices.iter().find(|index| said(index) == Some(true));
        let found = match (explicit, &**indices) {
            (Some(index), _) => Some((index, true)),
            (None, [only]) if said(only).is_none() => Some((only, false)),
            _ => None,
        };
        let Some((old, explicit)) =
            found.and_then(|(name, explicit)| Some((state.index(name)?, explicit)))
        else {
            return Err(Error::illegal_argument(format!(
                "rollover target [{name}] does not point to a write index"
            )));
        };
        Ok(Target::Alias { old: Arc::clone(old), explicit })
    }

    /// An alias that the templates of the next index give, too, would point to both.
    fn refuse_repeated(&self, alias: &str, target: &Target, next: &str) -> Result<()> {
        let Target::Alias { old, .. } = target else { return Ok(()) };
        let state = self.state();
        let hidden = old.aliases.get(alias).is_some_and(|said| said.is_hidden == Some(true));
        let keys = |part: &Part| {
            let aliases = part.aliases.as_ref().filter(|aliases| aliases.contains_key(alias))?;
            Some(aliases.keys().cloned().collect::<Vec<_>>().join(", "))
        };
        let found = match state.templates.find(next, hidden) {
            Some((name, template)) => {
                let components = template.composed_of.iter();
                let components =
                    components.filter_map(|name| state.templates.component.get(name.as_str()));
                let mut parts =
                    components.map(|component| &component.template).chain(&template.template);
                parts.find_map(keys).map(|keys| (name, keys))
            }
            None => {
                let legacy = state.templates.find_legacy(next, hidden);
                legacy.into_iter().find_map(|(name, body)| Some((name, keys(&body.part)?)))
            }
        };
        match found {
            None => Ok(()),
            Some((template, keys)) => Err(Error::illegal_argument(format!(
                "Rollover alias [{alias}] can point to multiple indices, found duplicated alias \
                 [[{keys}]] in index template [{template}]"
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
        if asked.iter().all(|one| one.least) {
            return Err(Error::validation(&[
                "at least one max_* rollover condition must be set when using min_* conditions",
            ]));
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

/// Does a request say what the next index is to be?
fn shapes(body: &Value) -> bool {
    ["settings", "mappings", "aliases"]
        .iter()
        .any(|key| body.get(key).and_then(Value::as_object).is_some_and(|said| !said.is_empty()))
}

/// The new index, and the alias handed over, in one change.
fn switch(alias: &str, old: &Index, explicit: bool, mut new: NewIndex) -> Result<Vec<Command>> {
    let mut said = old.aliases.get(alias).cloned().unwrap_or_default();
    alias_filter::check_query(alias, said.filter.as_ref())?;
    let before = if explicit {
        said.is_write_index = Some(false);
        AliasAction::Add { uuid: old.uuid, name: alias.to_owned(), alias: said.clone() }
    } else {
        AliasAction::Remove { uuid: old.uuid, name: alias.to_owned() }
    };
    said.is_write_index = explicit.then_some(true);
    let mut aliases = new.aliases.as_object().cloned().unwrap_or_else(Object::new);
    // What the old index has of it outweighs what the request says.
    aliases.insert(alias, said.to_json());
    new.aliases = Value::Object(aliases);
    Ok(vec![Command::UpdateAliases { actions: vec![before] }, Command::CreateIndex(new)])
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
