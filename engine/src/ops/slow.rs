//! The slow log: searches and writes that took longer than their index's settings allow, a line of
//! JSON each, with Elasticsearch's names.
//!
//! The thresholds are `index.search.slowlog.threshold.{query,fetch}.*` and
//! `index.indexing.slowlog.threshold.index.*`. Where none is set, looking costs a few look-ups a
//! shard, and nothing is written.
//!
//! All that searches is told: a search, each page of a scroll, a search of a point in time, a count,
//! and the batches in which `_delete_by_query` and its kin read.
//!
//! A search's time is that of its whole phase: one plan runs over slices of all shards, which share
//! the cores, and what is found is merged as it comes, so a shard has no time and no count of its
//! own. A write's time is that of the batch in which the document went to its shard: documents of
//! one batch are decided, logged and answered together. Deletes are not told, as on Elasticsearch.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::ShardId;
use cluster::{Index, IndexSettings};
use env::{Clock, Env, Spawn};
use json::{Value, Writer, json};
use search::request::SearchRequest;
use search::result::{Relation, Total};

use super::context::HeldShard;
use super::groups::Part;
use super::reading::READ_HERE_BYTES_MAX;
use super::search::{Run, SEARCH, SearchCall, SearchReply};
use crate::core::Core;
use crate::error::Result;
use crate::gate::Gate;
use crate::node::Entry;

/// Levels, from the most urgent.
const LEVELS: [&str; 4] = ["WARN", "INFO", "DEBUG", "TRACE"];

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Finding what matches.
    Query,
    /// Reading the hits.
    Fetch,
    /// Writing.
    Index,
}

impl Phase {
    /// Its settings, in the order of [`LEVELS`].
    const fn thresholds(self) -> [&'static str; 4] {
        match self {
            Self::Query => [
                "index.search.slowlog.threshold.query.warn",
                "index.search.slowlog.threshold.query.info",
                "index.search.slowlog.threshold.query.debug",
                "index.search.slowlog.threshold.query.trace",
            ],
            Self::Fetch => [
                "index.search.slowlog.threshold.fetch.warn",
                "index.search.slowlog.threshold.fetch.info",
                "index.search.slowlog.threshold.fetch.debug",
                "index.search.slowlog.threshold.fetch.trace",
            ],
            Self::Index => [
                "index.indexing.slowlog.threshold.index.warn",
                "index.indexing.slowlog.threshold.index.info",
                "index.indexing.slowlog.threshold.index.debug",
                "index.indexing.slowlog.threshold.index.trace",
            ],
        }
    }

    const fn dataset(self) -> &'static str {
        match self {
            Self::Query | Self::Fetch => "elasticsearch.index_search_slowlog",
            Self::Index => "elasticsearch.index_indexing_slowlog",
        }
    }

    /// Elasticsearch's name for who writes the line: it tells a query from a fetch.
    const fn logger(self) -> &'static str {
        match self {
            Self::Query => "index.search.slowlog.query",
            Self::Fetch => "index.search.slowlog.fetch",
            Self::Index => "index.indexing.slowlog.index",
        }
    }

    /// The setting that asks for who searches or writes.
    const fn include_user(self) -> &'static str {
        match self {
            Self::Query | Self::Fetch => "index.search.slowlog.include.user",
            Self::Index => "index.indexing.slowlog.include.user",
        }
    }

    /// Is any time of it too long?
    pub(crate) fn is_watched(self, settings: &IndexSettings) -> bool {
        self.thresholds().iter().any(|name| settings.time(name).flatten().is_some())
    }

    /// The level at which `took` is too long.
    pub(crate) fn level(self, settings: &IndexSettings, took: Duration) -> Option<&'static str> {
        let over = |name: &str| {
            let limit = settings.time(name).flatten();
            limit.is_some_and(|limit| took > limit)
        };
        let at = self.thresholds().iter().position(|name| over(name))?;
        Some(LEVELS[at])
    }
}

/// What a line tells beside the time and the caller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// Bytes of the source that are told.
    pub(crate) source: Vec<u8>,
    /// Hits, of a search that counts them.
    pub(crate) total_hits: Option<Total>,
    /// Shards that were asked, of a search.
    pub(crate) total_shards: u32,
    /// A search that counted terms in all shards first.
    pub(crate) dfs: bool,
    /// Groups that the search names for statistics.
    pub(crate) groups: Vec<String>,
    /// Id of the first document, of a write.
    pub(crate) id: Option<String>,
    /// Its routing value.
    pub(crate) routing: Option<String>,
    /// Documents of the batch.
    pub(crate) docs: usize,
}

/// A search whose phases are watched.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    gate: &'a dyn Gate,
    request: &'a Arc<SearchRequest>,
    source: Source<'a>,
    partial_results: bool,
}

/// Where the words of a search stand.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// As it came.
    Call(&'a SearchCall),
    /// As [`kept_source`] left them.
    Kept(&'a [u8]),
}

impl<'a> Asked<'a> {
    pub(crate) fn new(
        gate: &'a dyn Gate,
        request: &'a Arc<SearchRequest>,
        source: Source<'a>,
        partial_results: bool,
    ) -> Self {
        Self { gate, request, source, partial_results }
    }
}

/// So much is kept of a scroll's words, for its later pages.
const KEPT_BYTES_MAX: usize = 16 << 10;

/// The words of a search for as long as it is open, cut where they are very long.
pub(crate) fn kept_source(call: &SearchCall) -> Arc<[u8]> {
    if stands_as_it_came(call) {
        return call.body[..call.body.len().min(KEPT_BYTES_MAX)].into();
    }
    let mut source = search_source(call);
    source.truncate(KEPT_BYTES_MAX);
    source.into()
}

/// Nothing is to be worked into the body, or it is so long that reading it again would hold the core.
fn stands_as_it_came(call: &SearchCall) -> bool {
    call.params.is_empty() || call.body.len() > READ_HERE_BYTES_MAX
}

/// What a search asked, as one body: what stood in the path's parameters is worked in, as if the
/// body had said it, but for a very long body.
pub(crate) fn search_source(call: &SearchCall) -> Vec<u8> {
    if stands_as_it_came(call) {
        return call.body.to_vec();
    }
    let mut body = match json::parse(&call.body) {
        Ok(Value::Object(body)) => body,
        _ => json::Object::new(),
    };
    let mut words = json::Object::new();
    for (name, value) in &call.params {
        let value = match json::parse(value.as_bytes()) {
            Ok(plain @ (Value::Number(_) | Value::Bool(_))) if name != "q" => plain,
            _ => Value::from(value.as_str()),
        };
        match name.as_str() {
            "q" => words.insert("query", value),
            "df" => words.insert("default_field", value),
            "default_operator" | "analyzer" | "lenient" | "analyze_wildcard" => {
                words.insert(name.as_str(), value)
            }
            // How it is run is told elsewhere.
            "search_type" => None,
            other => body.insert(other, value),
        };
    }
    if words.get("query").is_some() {
        body.insert("query", json!({"query_string": (Value::Object(words))}));
    }
    json::to_string(&Value::Object(body)).into_bytes()
}

/// Counts the phase of a search at each of its shards: begun, and when it is done ended or failed. What is
/// dropped before has failed: it is under way no more, and Elasticsearch does not count it among those that
/// were.
pub(crate) struct Watched<E: Env> {
    env: E,
    readers: Vec<(ShardId, shard::Reader)>,
    /// Those that will not have ended well.
    failed: BTreeSet<ShardId>,
    span: SpanOf,
    begun: Duration,
}

/// Which of a shard's spans is counted.
type SpanOf = fn(&shard::Uses) -> &env::meter::Span;

impl<E: Env> Watched<E> {
    /// The phase is over, and went well at all shards that did not fail.
    pub(crate) fn done(mut self) {
        let took = self.env.clock().monotonic().saturating_sub(self.begun);
        for (shard, reader) in self.readers.drain(..) {
            let span = (self.span)(reader.uses());
            match self.failed.contains(&shard) {
                true => span.failed.add(1),
                false => span.ended.add(took),
            }
        }
    }

    /// A shard fails; more than once is once.
    pub(crate) fn fail(&mut self, shard: ShardId) {
        self.failed.insert(shard);
    }
}

impl<E: Env> Drop for Watched<E> {
    fn drop(&mut self) {
        for (_, reader) in &self.readers {
            (self.span)(reader.uses()).failed.add(1);
        }
    }
}

impl<E: Env> Core<E> {
    /// Asks the shards and merges what they found, as [`Core::run`], and tells how long it took.
    pub(super) async fn find(
        self: &Rc<Self>,
        asked: Asked<'_>,
        held: &[HeldShard],
        begin: Duration,
    ) -> Result<Run> {
        let Asked { gate, request, partial_results, .. } = asked;
        let start = self.env.clock().monotonic();
        let run = self.run(gate, SEARCH, held, request, partial_results, begin).await?;
        let took = self.env.clock().monotonic().saturating_sub(start);
        let hits = run.merged.total;
        let shards = run.asked();
        self.tell_slow_search(asked, Phase::Query, (&shards, shards.len()), took, hits);
        if !asked.request.suggest_only {
            self.count_groups(&shards, &asked.request.groups, Part::Query, took);
        }
        Ok(run)
    }

    /// Brings the hits of what was found, as [`Core::present`], and tells how long it took.
    pub(super) async fn bring(
        self: &Rc<Self>,
        asked: Asked<'_>,
        run: Run,
        begin: Duration,
    ) -> Result<SearchReply> {
        let start = self.env.clock().monotonic();
        let (shards, hits) = (run.asked(), run.merged.total);
        // Of a shard without a hit on the page nothing is read.
        let read = run.with_hits();
        let reply = self.present(asked.request, run, asked.partial_results, begin).await?;
        let took = self.env.clock().monotonic().saturating_sub(start);
        self.tell_slow_search(asked, Phase::Fetch, (&read, shards.len()), took, hits);
        let (part, counted) = match asked.request.suggest_only {
            true => (Part::Suggest, &shards),
            false => (Part::Fetch, &read),
        };
        self.count_groups(counted, &asked.request.groups, part, took);
        Ok(reply)
    }

    /// Tells the slow log of a phase that took so long, for each of these shards, out of so many that
    /// were asked.
    fn tell_slow_search(
        self: &Rc<Self>,
        asked: Asked<'_>,
        phase: Phase,
        (shards, asked_count): (&[(Arc<Index>, u32)], usize),
        took: Duration,
        total_hits: Option<Total>,
    ) {
        for (index, number) in shards {
            self.tell_slow(asked.gate, phase, (index, *number), took, || Told {
                source: match asked.source {
                    Source::Call(call) => search_source(call),
                    Source::Kept(source) => source.to_vec(),
                },
                total_hits,
                total_shards: asked_count as u32,
                // One shard alone knows all counts.
                dfs: asked.request.dfs && asked_count > 1,
                groups: asked.request.groups.clone(),
                ..Told::default()
            });
        }
    }

    /// Counts a phase that begins now at these shards.
    pub(crate) fn watch(
        &self,
        shards: impl IntoIterator<Item = ShardId>,
        phase: Phase,
    ) -> Watched<E> {
        let span: SpanOf = match phase {
            Phase::Fetch => |uses| &uses.fetch,
            Phase::Query | Phase::Index => |uses| &uses.query,
        };
        self.watch_span(shards, span)
    }

    /// Counts something else that begins now at these shards.
    pub(crate) fn watch_span(
        &self,
        shards: impl IntoIterator<Item = ShardId>,
        span: SpanOf,
    ) -> Watched<E> {
        let directory = self.directory();
        let readers: Vec<(ShardId, shard::Reader)> = shards
            .into_iter()
            .filter_map(|shard| match directory.shards.get(&shard) {
                Some(Entry::Open(reader)) => Some((shard, reader.clone())),
                _ => None,
            })
            .collect();
        for (_, reader) in &readers {
            span(reader.uses()).begun.add(1);
        }
        let (env, failed) = (self.env.clone(), BTreeSet::new());
        Watched { env, readers, failed, span, begun: self.env.clock().monotonic() }
    }

    /// Tells of a phase that took so long at a shard, where that is too long.
    pub(crate) fn tell_slow(
        self: &Rc<Self>,
        gate: &dyn Gate,
        phase: Phase,
        about: (&Arc<Index>, u32),
        took: Duration,
        told: impl FnOnce() -> Told,
    ) {
        let Some(log) = self.shared.config.info.slow_log.clone() else { return };
        let Some(level) = phase.level(&about.0.settings, took) else { return };
        let line = self.slow_line(gate, (phase, level), about, took, &told());
        let worker = self.env.clone();
        self.env.spawn().spawn(async move {
            // Where no worker is free the line is lost: the log must not slow what it watches.
            let _ = worker.spawn().work_short(move || log.keep(&line)).await;
        });
    }

    fn slow_line(
        &self,
        gate: &dyn Gate,
        (phase, level): (Phase, &str),
        (index, number): (&Arc<Index>, u32),
        took: Duration,
        told: &Told,
    ) -> String {
        let info = &self.shared.config.info;
        let mut line = Vec::new();
        let mut writer = Writer::new(&mut line);
        writer
            .begin_object()
            .field_str("@timestamp", &base::calendar::iso(self.now_ms()))
            .field_str("log.level", level)
            .field_str("ecs.version", "1.2.0")
            .field_str("service.name", "ES_ECS")
            .field_str("event.dataset", phase.dataset())
            .field_str("process.thread.name", &self.env.spawn().thread_name())
            .field_str("log.logger", phase.logger())
            .field_str("elasticsearch.cluster.uuid", &info.cluster_uuid)
            .field_str("elasticsearch.cluster.name", &info.cluster_name)
            .field_str("elasticsearch.node.id", &info.id)
            .field_str("elasticsearch.node.name", &info.name)
            .field_str(
                "elasticsearch.slowlog.took",
                &base::units::nanos(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)),
            )
            .field_u64("elasticsearch.slowlog.took_millis", took.as_millis() as u64);
        let origin = gate.origin();
        // One name is the caller's word for a search, and the document's id for a write.
        let id = match phase {
            Phase::Query | Phase::Fetch => {
                tell_search(&mut writer, &format!("[{}][{number}]", index.name), told);
                &origin.opaque_id
            }
            Phase::Index => {
                let message = format!("[{}/{}]", index.name, index.uuid_text());
                writer
                    .field_str("elasticsearch.slowlog.message", &message)
                    .field_u64("corelode.slowlog.shard", u64::from(number))
                    .field_u64("corelode.slowlog.docs", told.docs as u64);
                if let Some(id) = &origin.opaque_id {
                    writer.field_str("elasticsearch.http.request.x_opaque_id", id);
                }
                &told.id
            }
        };
        if let Some(id) = id {
            writer.field_str("elasticsearch.slowlog.id", id);
        }
        if let Some(routing) = &told.routing {
            writer.field_str("elasticsearch.slowlog.routing", routing);
        }
        match (phase, told.source.as_slice()) {
            (Phase::Index, []) => {}
            (_, []) => _ = writer.field_str("elasticsearch.slowlog.source", "{}"),
            (_, source) => {
                let source = String::from_utf8_lossy(source);
                writer.field_str("elasticsearch.slowlog.source", &source);
            }
        }
        if let Some(id) = &origin.trace_id {
            writer.field_str("trace.id", id);
        }
        if index.settings.flag(phase.include_user()) {
            gate.tell_caller(&mut |name, word| _ = writer.field_str(name, word));
        }
        writer.end_object();
        String::from_utf8_lossy(&line).into_owned()
    }
}

/// What a line tells of a search alone.
fn tell_search(writer: &mut Writer<'_>, message: &str, told: &Told) {
    let kind = if told.dfs { "DFS_QUERY_THEN_FETCH" } else { "QUERY_THEN_FETCH" };
    // As Lucene prints a count.
    let hits = match told.total_hits {
        None => "-1".to_owned(),
        Some(Total { value, relation: Relation::Eq }) => format!("{value} hits"),
        Some(Total { value, relation: Relation::Gte }) => format!("{value}+ hits"),
    };
    writer
        .field_str("elasticsearch.slowlog.message", message)
        .field_str("elasticsearch.slowlog.search_type", kind)
        .field_u64("elasticsearch.slowlog.total_shards", u64::from(told.total_shards))
        .field_str("elasticsearch.slowlog.stats", &list(&told.groups))
        .field_str("elasticsearch.slowlog.total_hits", &hits);
}

/// Words as Elasticsearch puts a list into a line: `["a", "b"]`, as one text.
fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("[{}]", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_of_parameters_has_a_source_too() {
        let told = |body: &str, params: &[(&str, &str)]| {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let call = SearchCall {
                body: env::Bytes::from(body.as_bytes().to_vec()),
                params: params.iter().map(own).collect(),
                ..SearchCall::default()
            };
            String::from_utf8(search_source(&call)).expect("text")
        };
        assert_eq!(told("{ }", &[]), "{ }", "a body alone stands as it came");
        // It was read again for each page of a scroll and each shard that was slow: 80 ns a byte.
        let long = format!("{{{}}}", " ".repeat(READ_HERE_BYTES_MAX));
        assert_eq!(told(&long, &[("size", "3")]), long);
        assert_eq!(
            told(
                "",
                &[
                    ("q", "12"),
                    ("df", "title"),
                    ("search_type", "dfs_query_then_fetch"),
                    ("size", "5"),
                    ("sort", "year:desc"),
                ]
            ),
            r#"{"size":5,"sort":"year:desc","query":{"query_string":{"query":"12","default_field":"title"}}}"#
        );
        assert_eq!(
            told(r#"{"query":{"match_all":{}},"size":1}"#, &[("size", "0")]),
            r#"{"query":{"match_all":{}},"size":0}"#
        );
    }

    #[test]
    fn the_most_urgent_level_that_was_passed_is_told() {
        let settings = json::parse(
            br#"{"index.search.slowlog.threshold.query.warn":"1s",
                 "index.search.slowlog.threshold.query.info":"100ms",
                 "index.search.slowlog.threshold.query.debug":"-1"}"#,
        );
        let settings = IndexSettings::parse(&settings.expect("JSON")).expect("good settings");
        let level = |ms| Phase::Query.level(&settings, Duration::from_millis(ms));
        assert_eq!(level(2_000), Some("WARN"));
        assert_eq!(level(500), Some("INFO"));
        assert_eq!(level(100), None);
        assert_eq!(Phase::Fetch.level(&settings, Duration::from_secs(9)), None);
    }
}
