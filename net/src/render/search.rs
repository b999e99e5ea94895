//! Answers of `_search` and `_count`.

use engine::ops::Shards;
use engine::ops::search::{CountReply, SearchReply};
use json::Writer;
use search::result::{Explanation, Hit, Key, Number, Relation, SearchResult, Total, one_by_one};

use super::aggs::{self, How};
use super::document::failures;
use crate::fail::Trace;

/// How the answer is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Manner<'a> {
    /// `hits.total` as a number (`rest_total_hits_as_int`).
    pub total_as_int: bool,
    /// Names of aggregations carry their type (`typed_keys`).
    pub typed_keys: bool,
    /// Id of the node that failed shards are on.
    pub node: &'a str,
    /// Stack traces.
    pub trace: Trace,
}

/// So many bytes are written between two pauses: some 100 µs, where they are numbers.
const BYTES_AT_ONCE: usize = 16 << 10;

/// Where the last pause was, in what is written.
pub(super) struct Paused(usize);

impl Paused {
    /// Nothing has been written since.
    pub(super) fn new(writer: &Writer<'_>) -> Self {
        Self(writer.written().len())
    }

    /// Pauses, where enough was written since. `pause` has what was written meanwhile, and gives it back.
    pub(super) async fn pause(
        &mut self,
        writer: &mut Writer<'_>,
        pause: &impl AsyncFn(Vec<u8>) -> Vec<u8>,
    ) {
        if writer.written().len() - self.0 > BYTES_AT_ONCE {
            let written = std::mem::take(writer.buffer());
            *writer.buffer() = pause(written).await;
            self.0 = writer.written().len();
        }
    }
}

/// The answer to a search. Between hits others have their turn: a thousand of them with a thousand keys each held a
/// core 30 ms.
pub async fn answer(
    writer: &mut Writer<'_>,
    reply: SearchReply,
    manner: Manner<'_>,
    pause: &impl AsyncFn(Vec<u8>) -> Vec<u8>,
) {
    writer.begin_object();
    members(writer, reply, manner, pause).await;
    writer.end_object();
}

/// Its members.
pub async fn members(
    writer: &mut Writer<'_>,
    mut reply: SearchReply,
    manner: Manner<'_>,
    pause: &impl AsyncFn(Vec<u8>) -> Vec<u8>,
) {
    if let Some(id) = &reply.scroll_id {
        writer.field_str("_scroll_id", id);
    }
    if let Some(id) = &reply.pit_id {
        writer.field_str("pit_id", id);
    }
    writer.field_u64("took", reply.took_ms).field_bool("timed_out", reply.timed_out);
    if let Some(early) = reply.terminated_early {
        writer.field_bool("terminated_early", early);
    }
    if reply.reduce_phases != 1 {
        writer.field_u64("num_reduce_phases", u64::from(reply.reduce_phases));
    }
    shards(writer, &reply.shards, manner);
    if reply.shards.total == 0 {
        reply.result.max_score = Some(0.0);
    }
    begin_hits(writer, &reply.result, manner.total_as_int);
    let mut paused = Paused::new(writer);
    // Each hit goes when it is written, so that not all of them go at once.
    let mut hits = one_by_one(std::mem::take(&mut reply.result.hits));
    for hit in &mut *hits {
        self::hit(writer, &hit, manner.total_as_int);
        drop(hit);
        paused.pause(writer, pause).await;
    }
    writer.end_array().end_object();
    if let Some(found) = reply.result.aggs.take() {
        let how = How { typed: manner.typed_keys, total_as_int: manner.total_as_int };
        aggs::aggregations(writer, found, how, pause).await;
    }
    if !reply.suggest.is_empty() {
        writer.key("suggest");
        super::suggest::suggest(writer, &reply.suggest, manner.typed_keys, &mut paused, pause)
            .await;
    }
    if !reply.profile.is_empty() {
        writer.key("profile");
        super::profile::profile(writer, &reply.profile, manner.node);
    }
}

/// `"hits":{…}`.
pub fn hits(writer: &mut Writer<'_>, found: &SearchResult, total_as_int: bool) {
    begin_hits(writer, found, total_as_int);
    for hit in &found.hits {
        self::hit(writer, hit, total_as_int);
    }
    writer.end_array().end_object();
}

/// What stands before the hits.
pub(super) fn begin_hits(writer: &mut Writer<'_>, found: &SearchResult, total_as_int: bool) {
    writer.key("hits").begin_object();
    total(writer, found.total, total_as_int);
    writer.key("max_score");
    match found.max_score {
        Some(score) if !score.is_nan() => writer.f32(score),
        _ => writer.null(),
    };
    writer.key("hits").begin_array();
}

/// The answer to a count.
pub fn count(writer: &mut Writer<'_>, reply: &CountReply, manner: Manner<'_>) {
    writer.begin_object().field_u64("count", reply.count);
    if reply.terminated_early == Some(true) {
        writer.field_bool("terminated_early", true);
    }
    shards(writer, &reply.shards, manner);
    writer.end_object();
}

fn shards(writer: &mut Writer<'_>, shards: &Shards, manner: Manner<'_>) {
    writer.key("_shards").begin_object();
    writer
        .field_u64("total", u64::from(shards.total))
        .field_u64("successful", u64::from(shards.successful))
        .field_u64("skipped", u64::from(shards.skipped))
        .field_u64("failed", u64::from(shards.failed));
    failures(writer, &shards.failures, Some(manner.node), manner.trace);
    writer.end_object();
}

fn total(writer: &mut Writer<'_>, total: Option<Total>, as_int: bool) {
    match (total, as_int) {
        (None, false) => {}
        (None, true) => {
            writer.key("total").i64(-1);
        }
        (Some(total), true) => {
            writer.field_u64("total", total.value);
        }
        (Some(total), false) => {
            let relation = match total.relation {
                Relation::Eq => "eq",
                Relation::Gte => "gte",
            };
            writer.key("total").begin_object();
            writer.field_u64("value", total.value).field_str("relation", relation).end_object();
        }
    }
}

/// A hit.
pub fn hit(writer: &mut Writer<'_>, hit: &Hit, as_int: bool) {
    writer.begin_object();
    hit_members(writer, hit, as_int);
    writer.end_object();
}

/// The members of a hit.
pub(super) fn hit_members(writer: &mut Writer<'_>, hit: &Hit, as_int: bool) {
    if let Some((shard, node)) = &hit.place {
        writer.field_str("_shard", shard).field_str("_node", node);
    }
    writer.field_str("_index", &hit.index);
    if let Some(id) = &hit.id {
        writer.field_str("_id", id);
    }
    if let Some(nested) = &hit.nested {
        writer.field("_nested", nested);
    }
    if let Some(version) = hit.version {
        writer.field_u64("_version", version);
    }
    if let Some(seq_no) = hit.seq_no {
        writer.field_u64("_seq_no", seq_no);
    }
    if let Some(term) = hit.primary_term {
        writer.field_u64("_primary_term", term);
    }
    writer.key("_score");
    match hit.score.filter(|score| !score.is_nan()) {
        Some(score) => writer.f32(score),
        None => writer.null(),
    };
    if let Some(routing) = &hit.routing {
        writer.field_str("_routing", routing);
    }
    if !hit.ignored.is_empty() {
        writer.key("_ignored").begin_array();
        for field in &hit.ignored {
            writer.str(field);
        }
        writer.end_array();
    }
    if let Some(source) = &hit.source {
        writer.key("_source").raw(source);
    }
    for (key, fields) in [("fields", &hit.fields), ("ignored_field_values", &hit.ignored_values)] {
        if fields.is_empty() {
            continue;
        }
        writer.key(key).begin_object();
        for (name, values) in fields {
            writer.key(name).begin_array();
            for value in values {
                writer.raw(value.as_bytes());
            }
            writer.end_array();
        }
        writer.end_object();
    }
    if !hit.highlight.is_empty() {
        writer.key("highlight").begin_object();
        for (name, fragments) in &hit.highlight {
            writer.key(name).begin_array();
            for fragment in fragments {
                writer.str(fragment);
            }
            writer.end_array();
        }
        writer.end_object();
    }
    if !hit.sort.is_empty() {
        writer.key("sort").begin_array();
        for key in &hit.sort {
            sort_key(writer, key);
        }
        writer.end_array();
    }
    if !hit.matched_scores.is_empty() {
        writer.key("matched_queries").begin_object();
        for (name, score) in hit.matched_queries.iter().zip(&hit.matched_scores) {
            writer.key(name).f32(*score);
        }
        writer.end_object();
    } else if !hit.matched_queries.is_empty() {
        writer.key("matched_queries").begin_array();
        for name in &hit.matched_queries {
            writer.str(name);
        }
        writer.end_array();
    }
    if let Some(explained) = &hit.explanation {
        writer.key("_explanation");
        explanation(writer, explained);
    }
    if !hit.inner_hits.is_empty() {
        writer.key("inner_hits").begin_object();
        for (name, found) in &hit.inner_hits {
            writer.key(name).begin_object();
            hits(writer, found, as_int);
            writer.end_object();
        }
        writer.end_object();
    }
}

/// Longs plain, doubles and floats as Java prints them (infinities in quotes), keywords as text.
fn sort_key(writer: &mut Writer<'_>, key: &Key) {
    match key {
        Key::Null => writer.null(),
        Key::Long(value) => writer.i64(*value),
        Key::Unsigned(value) => writer.u64(*value),
        Key::Double(value) => writer.f64(*value),
        Key::Float(value) | Key::Score(value) => writer.f32(*value),
        Key::Term(bytes) => writer.str(&String::from_utf8_lossy(bytes)),
        Key::Text(text) => writer.str(text),
    };
}

/// How a score came about.
pub fn explanation(writer: &mut Writer<'_>, node: &Explanation) {
    writer.begin_object().key("value");
    match node.value {
        Number::Float(value) => writer.f32(value),
        Number::Count(value) => writer.u64(value),
    };
    writer.field_str("description", &node.description).key("details").begin_array();
    for detail in &node.details {
        explanation(writer, detail);
    }
    writer.end_array().end_object();
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use engine::ops::ShardFailure;
    use env::Bytes;
    use search::result::SearchResult;

    use super::*;
    use env::leftovers::Leaving;

    const MANNER: Manner<'_> =
        Manner { total_as_int: false, typed_keys: false, node: "n", trace: Trace::No };

    fn text(reply: &SearchReply, manner: Manner<'_>) -> String {
        let mut out = Vec::new();
        {
            let mut writer = Writer::new(&mut out);
            let made = pin!(answer(&mut writer, reply.clone(), manner, &async |written| written));
            assert!(made.poll(&mut Context::from_waker(Waker::noop())).is_ready());
        }
        String::from_utf8(out).expect("UTF-8")
    }

    fn reply(hits: Vec<Hit>) -> SearchReply {
        SearchReply {
            took_ms: 3,
            timed_out: false,
            terminated_early: None,
            reduce_phases: 1,
            shards: Shards { total: 1, successful: 1, ..Shards::default() },
            scroll_id: None,
            pit_id: None,
            memory: None,
            more_memory: Default::default(),
            profile: Vec::new(),
            suggest: Leaving::known(Vec::new(), false),
            result: SearchResult {
                total: Some(Total { value: 2, relation: Relation::Eq }),
                max_score: hits.iter().find_map(|hit| hit.score),
                hits,
                aggs: None,
            }
            .leaving(),
        }
    }

    #[test]
    fn hits_are_printed_as_elasticsearch_prints_them() {
        let hit = Hit {
            index: "a".into(),
            id: Some("1".into()),
            score: Some(0.133_531_39),
            source: Some(Bytes::from(b"{\"x\":1}".to_vec())),
            ..Hit::default()
        };
        assert_eq!(
            text(&reply(vec![hit]), MANNER),
            r#"{"took":3,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"total":{"value":2,"relation":"eq"},"max_score":0.13353139,"hits":[{"_index":"a","_id":"1","_score":0.13353139,"_source":{"x":1}}]}}"#
        );
    }

    #[test]
    fn others_have_turns_between_the_hits_of_a_long_answer() {
        let pauses = |hits: usize, keys: usize| {
            let hit = Hit { index: "a".into(), sort: vec![Key::Long(7); keys], ..Hit::default() };
            let (mut out, turns) = (Vec::new(), Cell::new(0));
            {
                let mut writer = Writer::new(&mut out);
                let pause = async |written| {
                    turns.set(turns.get() + 1);
                    written
                };
                let made = pin!(answer(&mut writer, reply(vec![hit; hits]), MANNER, &pause));
                assert!(made.poll(&mut Context::from_waker(Waker::noop())).is_ready());
            }
            let told = json::parse(&out).expect("JSON");
            let told = told.get("hits").and_then(|hits| hits.get("hits")).expect("hits");
            assert_eq!(told.as_array().map(<[_]>::len), Some(hits));
            turns.get()
        };
        assert_eq!(pauses(10, 3), 0, "an everyday answer goes at once");
        assert_eq!(pauses(100, 10_000), 100);
        assert!(pauses(10_000, 3) > 10);
    }

    #[test]
    fn sort_keys_have_their_kinds() {
        let hit = Hit {
            index: "a".into(),
            sort: vec![
                Key::Long(-5),
                Key::Double(1e10),
                Key::Double(f64::INFINITY),
                Key::Float(0.5),
                Key::Term(b"x".to_vec().into()),
                Key::Null,
                Key::Text("2024".into()),
            ],
            ..Hit::default()
        };
        let text = text(&reply(vec![hit]), Manner { total_as_int: true, ..MANNER });
        assert!(text.contains(r#""hits":{"total":2,"max_score":null"#), "{text}");
        assert!(
            text.contains(r#""_score":null,"sort":[-5,1.0E10,"Infinity",0.5,"x",null,"2024"]"#),
            "{text}"
        );
    }

    #[test]
    fn failed_shards_are_told_and_no_shards_score_nothing() {
        let mut some = reply(Vec::new());
        some.shards.failed = 1;
        some.shards.failures.push(ShardFailure {
            shard: 0,
            index: "a".into(),
            node: None,
            reason: engine::Error::illegal_argument("no"),
        });
        some.result.total = None;
        let shown = text(&some, MANNER);
        assert!(
            shown.contains(
                r#""failed":1,"failures":[{"shard":0,"index":"a","node":"n","reason":{"type":"illegal_argument_exception","reason":"no"}}]},"hits":{"max_score":null,"hits":[]}"#
            ),
            "{shown}"
        );
        let mut none = reply(Vec::new());
        none.shards = Shards::default();
        assert!(text(&none, MANNER).contains(r#""max_score":0.0"#));
    }
}
