//! `_rollover`: the next index takes the writes of an alias or data stream.

use std::rc::Rc;
use std::sync::Arc;

use base::units;
use cluster::{AliasAction, Command, DataStream, Index, NewIndex};
use env::Env;
use json::{Object, Value};

use super::create::{check_filter, part};
use super::observe::IndexRow;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::Gate;
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
    /// `conditions`, `settings`, `mappings`, `aliases`.
    pub body: Value,
}

/// What happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rollover {
    /// The index that took the writes.
    pub old_index: String,
    /// The index that takes them now, or would.
    pub new_index: String,
    /// It was done.
    pub rolled_over: bool,
    /// The new index's shards serve.
    pub shards_acknowledged: bool,
    /// Each condition as it is shown, and whether it holds.
    pub conditions: Vec<(String, bool)>,
}

/// What is rolled over.
enum Target {
    Alias { old: Arc<Index>, explicit: bool },
    Stream(Arc<DataStream>, Arc<Index>),
}

/// One condition.
struct Condition {
    shown: String,
    holds: bool,
    least: bool,
}

impl<E: Env> Core<E> {
    /// Rolls an alias or data stream over, where its conditions say so.
    ///
    /// # Errors
    /// In Elasticsearch's words.
    pub async fn rollover(
        self: &Rc<Self>,
        gate: &dyn Gate,
        request: &RolloverRequest,
    ) -> Result<Rollover> {
        gate.index("indices:admin/rollover", &request.target)?;
        let state = self.state();
        block::check_cluster(&state, Level::MetadataWrite)?;
        let target = self.rollover_target(&request.target)?;
        let old = match &target {
            Target::Alias { old, .. } | Target::Stream(_, old) => Arc::clone(old),
        };
        gate.index("indices:admin/rollover", &old.name)?;
        block::check(&old, Level::MetadataWrite)?;
        let (provided, new_name) = match (&target, &request.new_index) {
            (Target::Stream(..), Some(_)) => {
                return Err(Error::illegal_argument(
                    "new index name may not be specified when rolling over a data stream",
                ));
            }
            (Target::Stream(stream, _), None) => {
                let name =
                    DataStream::backing_name(&stream.name, stream.generation + 1, self.now_ms());
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
        if let Some(index) = state.index(&new_name) {
            return Err(Error::new(
                400,
                "resource_already_exists_exception",
                format!("index [{new_name}/{}] already exists", index.uuid_text()),
            )
            .with("index_uuid", index.uuid_text())
            .with("index", new_name));
        }
        let conditions = self.conditions(&old, request.body.get("conditions")).await?;
        let most = conditions.iter().any(|one| !one.least && one.holds);
        let least = conditions.iter().filter(|one| one.least).all(|one| one.holds);
        let due = conditions.is_empty() || (most && least);
        let mut reply = Rollover {
            old_index: old.name.to_string(),
            new_index: new_name.clone(),
            conditions: conditions.into_iter().map(|one| (one.shown, one.holds)).collect(),
            ..Rollover::default()
        };
        if request.dry_run || !due {
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
        let command = match target {
            Target::Stream(stream, _) => {
                new.stream = Some(stream.name.to_string());
                let mut next = DataStream::clone(&stream);
                next.generation += 1;
                next.indices.push(Arc::from(new_name));
                Command::Batch(vec![
                    Command::CreateIndex(new),
                    Command::PutDataStream { stream: next, create: false },
                ])
            }
            Target::Alias { old, explicit } => switch(&request.target, &old, explicit, new)?,
        };
        self.done(command).await?;
        reply.rolled_over = true;
        reply.shards_acknowledged = self.is_whole(uuid);
        Ok(reply)
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

    async fn conditions(
        self: &Rc<Self>,
        old: &Arc<Index>,
        asked: Option<&Value>,
    ) -> Result<Vec<Condition>> {
        let Some(object) = asked.and_then(Value::as_object) else { return Ok(Vec::new()) };
        let rows = self.health_rows(|index| index.uuid == old.uuid).await;
        let Some(row) = rows.first() else { return Ok(Vec::new()) };
        let largest = self.largest_shard(old).await;
        let age_ms = self.now_ms().saturating_sub(old.created_ms);
        let mut conditions = Vec::with_capacity(object.len());
        for (name, value) in object.iter() {
            conditions.push(condition(name, value, row, largest, age_ms)?);
        }
        if conditions.iter().all(|one| one.least) && !conditions.is_empty() {
            return Err(Error::validation(&[
                "at least one max_* rollover condition must be set when using min_* conditions",
            ]));
        }
        Ok(conditions)
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
                largest.1 = largest.1.max(stats.store_bytes);
            }
        }
        largest
    }
}

/// The new index, and the alias handed over, in one change.
fn switch(alias: &str, old: &Index, explicit: bool, mut new: NewIndex) -> Result<Command> {
    let mut said = old.aliases.get(alias).cloned().unwrap_or_default();
    check_filter(alias, said.filter.as_ref())?;
    let before = if explicit {
        said.is_write_index = Some(false);
        AliasAction::Add { uuid: old.uuid, name: alias.to_owned(), alias: said.clone() }
    } else {
        AliasAction::Remove { uuid: old.uuid, name: alias.to_owned() }
    };
    said.is_write_index = explicit.then_some(true);
    let mut aliases = new.aliases.as_object().cloned().unwrap_or_else(Object::new);
    if aliases.contains_key(alias) {
        return Err(Error::illegal_argument(format!(
            "Rollover alias [{alias}] can point to multiple indices, found duplicated alias \
             [[{alias}]] in the request"
        )));
    }
    aliases.insert(alias, said.to_json());
    new.aliases = Value::Object(aliases);
    Ok(Command::Batch(vec![
        Command::UpdateAliases { actions: vec![before] },
        Command::CreateIndex(new),
    ]))
}

fn condition(
    name: &str,
    value: &Value,
    row: &IndexRow,
    largest: (u64, u64),
    age_ms: i64,
) -> Result<Condition> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.text().to_owned(),
        other => {
            return Err(Error::illegal_argument(format!(
                "condition [{name}] cannot be {}",
                json::to_string(other)
            )));
        }
    };
    let (least, what) = match name.split_once('_') {
        Some(("max", what)) => (false, what),
        Some(("min", what)) => (true, what),
        _ => (false, name),
    };
    let bytes = || {
        let read = units::bytes(name, &text).map_err(Error::illegal_argument)?;
        read.ok_or_else(|| Error::illegal_argument(format!("[{name}] has no size [{text}]")))
    };
    let count = || {
        text.parse::<u64>().map_err(|_| {
            Error::illegal_argument(format!("Failed to parse value [{text}] for [{name}]"))
        })
    };
    let holds = match what {
        "age" => {
            let age = units::time(name, &text).map_err(Error::illegal_argument)?;
            age.is_some_and(|age| age_ms as i128 >= age.as_millis() as i128)
        }
        "docs" => row.docs_count >= count()?,
        "size" => row.store_bytes >= bytes()?,
        "primary_shard_docs" => largest.0 >= count()?,
        "primary_shard_size" => largest.1 >= bytes()?,
        _ => {
            return Err(Error::new(
                400,
                "x_content_parse_exception",
                format!("[1:1] [conditions] unknown field [{name}]"),
            ));
        }
    };
    Ok(Condition { shown: format!("[{name}: {text}]"), holds, least })
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
    let number: u64 = digits.parse().map_err(|_| wrong())?;
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
        for name in ["old", "logs-", "logs-1x", "<logs-{now/d}>"] {
            assert!(next_name(name).is_err(), "{name}");
        }
    }
}
