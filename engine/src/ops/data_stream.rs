//! Data streams: made, shown, taken away.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

pub use cluster::StreamChange;
use cluster::{Command, DataStream, Index, NewIndex, Outcome, State};
use env::{Bytes, Env, Spawn};
use json::json;
use search::result::Key;

use super::IndicesOptions;
use super::document::{WriteAction, WriteItem};
use super::observe::{Health, IndexRow, health_row};
use super::search::{SEARCH, SearchCall};
use super::widened::ByName;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::gate::{self, Everything, Gate};
use crate::index::block::{self, Level};
use crate::index::names::beginning;
use crate::index::resolve::{Call, Effort, Parts, Pattern, is_whole, read};

/// A data stream as it is shown.
#[derive(Clone, Debug)]
pub struct StreamView {
    /// The stream.
    pub stream: Arc<DataStream>,
    /// Its indices, oldest first.
    pub indices: Vec<Arc<Index>>,
    /// The template by which its next index is made.
    pub template: Option<String>,
    /// Worst colour of its indices.
    pub health: Health,
}

/// Counts of a data stream.
#[derive(Clone, Debug)]
pub struct StreamStats {
    /// Its name.
    pub name: String,
    /// Its indices.
    pub index_count: u64,
    /// Bytes of all.
    pub store_bytes: u64,
    /// Copies of all shards, those too that have no place.
    pub shard_count: u64,
    /// Copies that answer.
    pub active_count: u64,
    /// The newest `@timestamp`, milliseconds since 1970; 0 where there is none.
    pub newest_ms: i64,
}

/// The refusal of a write that asks for a data stream, of an index or alias that is none.
pub(crate) fn is_none(name: &str) -> Error {
    Error::new(
        404,
        "resource_not_found_exception",
        format!("[require_data_stream] request flag is [true] and [{name}] is not a data stream"),
    )
}

/// Documents are only added to a data stream, without a routing value unless its template allows one.
///
/// # Errors
/// 400 in Elasticsearch's words, for another write.
pub(crate) fn check_write(stream: &DataStream, item: &WriteItem) -> Result<()> {
    if item.action != WriteAction::Create {
        return Err(Error::illegal_argument(
            "only write ops with an op_type of create are allowed in data streams",
        ));
    }
    if item.routing.is_some() && !stream.allow_custom_routing {
        return Err(Error::illegal_argument(format!(
            "index request targeting data stream [{}] specifies a custom routing but the \
             [allow_custom_routing] setting was not enabled in the data stream's template.",
            stream.name
        )));
    }
    Ok(())
}

/// A document of a data stream says when it happened, once.
///
/// # Errors
/// 400 where it does not.
pub(crate) fn check_timestamp(source: &[u8]) -> Result<()> {
    const FIELD: &str = cluster::data_stream::TIMESTAMP;
    let mut found = Vec::new();
    let wanted = json::path::Filter::source(&[FIELD], &[] as &[&str]);
    if wanted.apply(source, &mut found).is_err() {
        // What is no JSON is told by whoever reads the document.
        return Ok(());
    }
    let why = match json::parse(&found).ok().as_ref().and_then(|value| value.get(FIELD)) {
        None | Some(json::Value::Null) => "is missing",
        Some(json::Value::Array(values)) if values.is_empty() => "is missing",
        Some(json::Value::Array(values)) if values.len() > 1 => "encountered multiple values",
        Some(_) => return Ok(()),
    };
    let reason = format!("data stream timestamp field [{FIELD}] {why}");
    let at = json::Place::of(source, source.len().saturating_sub(1));
    Err(Error::new(400, "document_parsing_exception", format!("{at} failed to parse: {reason}"))
        .caused_by(Error::illegal_argument(reason)))
}

impl<E: Env> Core<E> {
    /// Makes a data stream.
    ///
    /// # Errors
    /// No template for it; a name that is taken or wrong.
    pub async fn create_stream(self: &Rc<Self>, gate: &dyn Gate, name: &str) -> Result<()> {
        gate.index("indices:admin/data_stream/create", name)?;
        block::check_cluster(&self.state(), Level::MetadataWrite)?;
        gate.begins("indices:admin/data_stream/create", vec![name.to_owned()]).await?;
        match self.new_stream(name).await? {
            Outcome::Refused(error) => Err(super::failure::of_cluster(error)),
            _ => Ok(()),
        }
    }

    /// The same, the caller asked already.
    pub(crate) async fn new_stream(self: &Rc<Self>, name: &str) -> Result<Outcome> {
        let state = self.state();
        if state.data_streams.contains_key(name) {
            return Ok(Outcome::Refused(cluster::Error::StreamExists { name: name.to_owned() }));
        }
        cluster::name::check_stream(name).map_err(super::failure::of_cluster)?;
        state.templates.for_stream(name).map_err(super::failure::of_cluster)?;
        let index = DataStream::backing_name(name, 1, self.now_ms());
        let new = NewIndex {
            stream: Some(name.to_owned()),
            ..NewIndex::new(&index, self.uuid(), self.now_ms())
        };
        self.change(Command::Batch(vec![
            Command::StartStream { name: name.to_owned(), index },
            Command::CreateIndex(new),
        ]))
        .await
    }

    /// Makes a data stream of an alias: its indices, hidden now, the one that takes writes last.
    ///
    /// # Errors
    /// No such alias, no template, an index without a date `@timestamp`.
    pub async fn migrate_alias(self: &Rc<Self>, gate: &dyn Gate, name: &str) -> Result<()> {
        let state = self.state();
        gate::ask_alias(gate, "indices:admin/data_stream/migrate", &*state, name)?;
        block::check_cluster(&state, Level::MetadataWrite)?;
        let (by_name, via) = (ByName::stream(gate, name), [name.to_owned()]);
        let mut names = vec![name.to_owned()];
        for index in state.aliases.get(name).iter().flat_map(|members| members.iter()) {
            self.env.spawn().yield_if_needed().await;
            by_name.check_stream(index, &via)?;
            names.push(index.to_string());
        }
        gate.begins("indices:admin/data_stream/migrate", names).await?;
        self.done(Command::MigrateAlias { name: name.to_owned() }).await
    }

    /// Puts indices into data streams, or takes them out; all or none.
    ///
    /// # Errors
    /// A missing stream or index; taking away the index that takes writes.
    pub async fn modify_streams(
        self: &Rc<Self>,
        gate: &dyn Gate,
        changes: &[StreamChange],
    ) -> Result<()> {
        let state = self.state();
        block::check_cluster(&state, Level::MetadataWrite)?;
        for change in changes {
            self.env.spawn().yield_if_needed().await;
            gate.index("indices:admin/data_stream/modify", &change.stream)?;
            gate.index("indices:admin/data_stream/modify", &change.index)?;
            if let (true, Some(index)) = (change.add, state.index(&change.index)) {
                ByName::stream(gate, &change.stream).check_stream(&index.name, &[])?;
            }
        }
        self.done(Command::ModifyStreams { changes: changes.to_vec() }).await
    }

    /// The data streams that an expression names, in order. An index or alias is none.
    ///
    /// # Errors
    /// As [`read`]; a name without stars that nothing bears.
    pub async fn streams(
        &self,
        gate: &dyn Gate,
        action: &'static str,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<StreamView>> {
        let (state, call, pause) = (self.state(), Call::new(options), self.pause());
        let (names, effort) = (BTreeSet::new(), Effort::new(&pause));
        let mut meant = Meant { state: &state, gate, action, call, names, effort };
        let everything = if expression.is_empty() { "_all" } else { expression };
        read(everything, call, self.now_ms(), &mut meant).await?;
        let names = meant.names;
        let directory = self.directory();
        let views = names.into_iter().filter_map(|name| {
            let stream = Arc::clone(state.data_streams.get(name)?);
            let indices: Vec<Arc<Index>> =
                stream.indices.iter().filter_map(|name| state.index(name).cloned()).collect();
            let rows: Vec<IndexRow> =
                indices.iter().map(|index| health_row(&directory, index)).collect();
            Some(StreamView {
                template: state.templates.find(name, false).map(|(name, _)| name.to_owned()),
                health: rows.iter().map(|row| row.health).max().unwrap_or(Health::Green),
                stream,
                indices,
            })
        });
        Ok(views.collect())
    }

    /// Takes data streams away, with their indices.
    ///
    /// # Errors
    /// A name without stars that nothing bears.
    pub async fn delete_streams(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<()> {
        let action = "indices:admin/data_stream/delete";
        let found = self.streams(gate, action, expression, options).await?;
        block::check_cluster(&self.state(), Level::Delete)?;
        for view in &found {
            block::check_all(view.indices.iter().map(|index| &**index), Level::Delete)?;
            block::check_uncopied(&self.state(), view.indices.iter().map(|index| &**index))?;
        }
        let names: Vec<String> = found.iter().map(|view| view.stream.name.to_string()).collect();
        if names.is_empty() {
            let is_asked = !is_whole(expression) && !expression.contains('*');
            if is_asked && !options.ignore_unavailable {
                let listed = expression.replace(',', ", ");
                let reason = format!("data streams [{listed}] not found");
                return Err(Error::new(404, "resource_not_found_exception", reason));
            }
            return Ok(());
        }
        let behind =
            found.iter().flat_map(|view| &view.indices).map(|index| index.name.to_string());
        gate.begins(action, names.iter().cloned().chain(behind).collect()).await?;
        self.done(Command::DeleteDataStreams { names }).await
    }

    /// Counts of data streams.
    ///
    /// # Errors
    /// As [`Core::streams`].
    pub async fn stream_stats(
        self: &Rc<Self>,
        gate: &dyn Gate,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<StreamStats>> {
        let action = "indices:monitor/data_stream/stats";
        let views = self.streams(gate, action, expression, options).await?;
        let mut stats = Vec::with_capacity(views.len());
        for view in views {
            let uuids: Vec<[u8; 16]> = view.indices.iter().map(|index| index.uuid).collect();
            let rows = self.health_rows(|index| uuids.contains(&index.uuid)).await;
            stats.push(StreamStats {
                name: view.stream.name.to_string(),
                index_count: rows.len() as u64,
                store_bytes: rows.iter().map(|row| row.store_bytes).sum(),
                shard_count: rows
                    .iter()
                    .map(|row| u64::from(row.primaries) * (u64::from(row.replicas) + 1))
                    .sum(),
                active_count: rows.iter().map(|row| u64::from(row.active)).sum(),
                newest_ms: self.newest_ms(gate, &view.stream.name).await.unwrap_or(0),
            });
        }
        Ok(stats)
    }

    /// When what a data stream holds last happened. A figure about it, which whoever may see its figures is told
    /// where nothing is hidden from it; the documents are not. To whom some are hidden, they are not there.
    async fn newest_ms(self: &Rc<Self>, gate: &dyn Gate, stream: &str) -> Option<i64> {
        let looks: &dyn Gate = if gate.sees(SEARCH, stream) {
            gate
        } else if gate.index("indices:monitor/data_stream/stats", stream).ok()?.is_unlimited() {
            &Everything
        } else {
            return None;
        };
        let newest = json!({
            "size": 1,
            "_source": false,
            "track_total_hits": false,
            "sort": [{"@timestamp": {"order": "desc", "format": "epoch_millis"}}],
        });
        let call = SearchCall {
            indices: stream.to_owned(),
            body: Bytes::from(json::to_string(&newest).into_bytes()),
            partial_results: true,
            ..SearchCall::default()
        };
        let reply = self.search(looks, &call).await.ok()?;
        match reply.result.hits.first()?.sort.first()? {
            // Of a date with nanoseconds the rest stands behind a point.
            Key::Text(text) => text.split('.').next()?.parse().ok(),
            Key::Long(ms) => Some(*ms),
            _ => None,
        }
    }
}

/// The data streams that the parts of an expression mean so far.
struct Meant<'s, 'p, P> {
    state: &'s State,
    gate: &'s dyn Gate,
    action: &'static str,
    call: Call,
    names: BTreeSet<&'s str>,
    effort: Effort<'p, P>,
}

impl<P: AsyncFn()> Parts for Meant<'_, '_, P> {
    async fn part(&mut self) -> Result<()> {
        self.effort.part().await
    }

    fn name(&mut self, name: &str) -> Result<()> {
        let state = self.state;
        self.gate.index(self.action, name)?;
        if let Some((name, _)) = state.data_streams.get_key_value(name) {
            self.names.insert(name);
            return Ok(());
        }
        let is_there = state.index(name).is_some() || state.aliases.contains_key(name);
        if is_there || self.call.options.ignore_unavailable {
            return Ok(());
        }
        Err(Error::index_not_found(name, self.call.resource_type))
    }

    fn except_name(&mut self, name: &str) {
        self.names.remove(name);
    }

    async fn pattern(&mut self, pattern: &Pattern<'_>) -> bool {
        let mut met = false;
        for (name, stream) in beginning(&self.state.data_streams, pattern.prefix) {
            self.effort.look().await;
            if pattern.fits(name)
                && pattern.shows(name, stream.hidden, self.call)
                && self.gate.sees(self.action, name)
            {
                met = true;
                self.names.insert(name);
            }
        }
        met
    }

    async fn except_pattern(&mut self, pattern: &Pattern<'_>) -> bool {
        self.names.retain(|name| !(name.starts_with(pattern.prefix) && pattern.fits(name)));
        true
    }

    async fn excepted(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_says_once_when_it_happened() {
        for (source, refused) in [
            (r#"{"@timestamp":1,"a":2}"#, None),
            (r#"{"@timestamp":["2026-01-01"]}"#, None),
            (r#"{"a":1}"#, Some("is missing")),
            (r#"{"@timestamp":null}"#, Some("is missing")),
            (r#"{"@timestamp":[]}"#, Some("is missing")),
            (r#"{"@timestamp":[1,2]}"#, Some("encountered multiple values")),
            ("no JSON", None),
        ] {
            let found = check_timestamp(source.as_bytes()).err();
            let why = found.and_then(|error| error.caused_by).map(|cause| cause.reason);
            let expected =
                refused.map(|why| format!("data stream timestamp field [@timestamp] {why}"));
            assert_eq!(why, expected, "{source}");
        }
    }
}
