//! What the tests of a shard share: a mapping, a setup, and short ways to write and look.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod model;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::{FieldNo, SeqNo, ShardId};
use env::Bytes;
use env::budget::Budget;
use mapping::document::{Arena, Mode, Parsed, Parser};
use mapping::{Mapping, Settings};
use segment::{BlockCache, Need, View};
use shard::{
    Check, Kind, MergeConfig, Operation, RefreshInterval, Setup, Shard, ShardConfig, WriteBatch,
    WriteError, Written,
};
use sim::{Sim, SimEnv};

/// The folder of the shard.
pub const DIR: &str = "/data/shard";

/// The shard.
pub const ID: ShardId = ShardId { index: *b"an index's uuid.", number: 0 };

/// `tag` keyword, `text` text, `n` long.
pub fn mapping() -> Arc<Mapping> {
    let fields = br#"{"properties":{
        "n":{"type":"long"},"tag":{"type":"keyword"},"text":{"type":"text"}}}"#;
    let fields = json::parse(fields).expect("well-formed");
    let mapping = Mapping::parse(&fields, Arc::new(Settings::default())).expect("a mapping");
    Arc::new(mapping)
}

/// Settings by which little data goes a long way: nothing by time, small buffers and segments.
pub fn config() -> ShardConfig {
    ShardConfig {
        refresh_interval: RefreshInterval::Never,
        flush_log_bytes: u64::MAX,
        unflushed_bytes_max: usize::MAX,
        merge: MergeConfig { segments_per_tier: 100, ..MergeConfig::default() },
        ..ShardConfig::default()
    }
}

/// A setup with `config` and plenty of memory.
pub fn setup(config: ShardConfig) -> Setup<SimEnv> {
    setup_with_memory(config, 1 << 30)
}

/// A setup whose core may use `bytes` for buffers.
pub fn setup_with_memory(config: ShardConfig, bytes: usize) -> Setup<SimEnv> {
    Setup {
        id: ID,
        dir: PathBuf::from(DIR),
        config,
        mapping: mapping(),
        lease: Budget::new(bytes).lease(),
        reserve: None,
    }
}

/// One operation of a test.
#[derive(Clone, Debug)]
pub struct Op {
    pub id: String,
    pub routing: Option<String>,
    /// The document; `None` deletes.
    pub source: Option<String>,
    pub create: bool,
    pub check: Check,
}

/// Puts a document whose `tag` is `tag`.
pub fn put(id: &str, tag: &str) -> Op {
    let source = format!(r#"{{"tag":"{tag}","text":"all {tag}","n":{}}}"#, tag.len());
    Op { source: Some(source), ..delete(id) }
}

/// Takes a document away.
pub fn delete(id: &str) -> Op {
    Op { id: id.to_owned(), routing: None, source: None, create: false, check: Check::None }
}

impl Op {
    pub fn create(self) -> Self {
        Self { create: true, ..self }
    }

    pub fn check(self, check: Check) -> Self {
        Self { check, ..self }
    }
}

/// The operations as a batch, parsed as `engine` does it.
pub fn batch(ops: &[Op]) -> WriteBatch {
    batch_by(&mapping(), ops)
}

/// The same, by another mapping.
pub fn batch_by(mapping: &Mapping, ops: &[Op]) -> WriteBatch {
    let (mut arena, mut parser) = (Arena::new(), Parser::new());
    let ops = ops.iter().map(|op| {
        let kind = match &op.source {
            None => Kind::Delete,
            Some(source) => {
                let parsed =
                    parser.parse(mapping, &op.id, source.as_bytes(), Mode::Strict, &mut arena);
                let Ok(Parsed::Ready(doc)) = parsed else { panic!("{source}: {parsed:?}") };
                let source = Bytes::from(source.clone().into_bytes());
                Kind::Index { create: op.create, source, doc: doc as u32 }
            }
        };
        Operation { id: op.id.clone(), routing: op.routing.clone(), kind, check: op.check }
    });
    let ops = ops.collect();
    WriteBatch { mapping_version: mapping.version(), arena, ops, room: Vec::new() }
}

/// Writes one operation.
pub async fn write(shard: &Shard<SimEnv>, op: Op) -> Result<Written, WriteError> {
    let mut answers = shard.write(batch(&[op])).await;
    assert_eq!(answers.len(), 1);
    answers.remove(0)
}

/// Writes one operation that nothing stands against.
pub async fn wrote(shard: &Shard<SimEnv>, op: Op) -> Written {
    let told = format!("{op:?}");
    write(shard, op).await.unwrap_or_else(|error| panic!("{told}: {error}"))
}

/// (`_seq_no`, `_version`, `_source`) of the living document with this id in a view.
pub fn shown(view: &View, id: &str) -> Option<(u64, u64, String)> {
    let mut found = None;
    for part in &view.segments {
        let Some(doc) = part.segment.ids().find(id.as_bytes()).expect("sound") else { continue };
        if !part.is_alive(doc) {
            continue;
        }
        assert!(found.is_none(), "[{id}] lives twice in one view");
        let number = |field| {
            let column = part.segment.numeric(field).expect("each segment has it");
            column.first(doc).expect("each document has it") as u64
        };
        let stored = part.segment.stored().expect("each segment has it");
        let source = String::from_utf8(stored.get(doc).expect("sound")).expect("JSON is UTF-8");
        found = Some((number(FieldNo::SEQ_NO), number(FieldNo::VERSION), source));
    }
    found
}

/// How many living documents of a view have `term` in `field`, by its postings.
pub fn count_with(view: &View, field: &str, term: &str) -> usize {
    let mapping = mapping();
    let field = mapping.field(field).expect("mapped").no;
    let mut cache = BlockCache::new(1 << 20);
    let mut count = 0;
    for part in &view.segments {
        let Some(terms) = part.segment.terms(field) else { continue };
        let found = terms.find(term.as_bytes(), &mut cache).expect("sound");
        let Some(info) = found else { continue };
        let mut postings = terms.postings(&info, Need::Docs);
        loop {
            let doc = postings.next();
            if doc == segment::postings::END {
                break;
            }
            count += usize::from(part.is_alive(doc));
        }
    }
    assert!(view.fault().is_none(), "no reader met damage");
    count
}

/// A second.
pub const SECOND: Duration = Duration::from_secs(1);

/// A sequence number.
pub fn seq(number: u64) -> SeqNo {
    SeqNo(number)
}

/// Runs a story on a new shard of a new machine.
pub fn story<F: Future<Output = ()>>(
    config: ShardConfig,
    tell: impl FnOnce(SimEnv, Shard<SimEnv>) -> F,
) -> Sim {
    let sim = Sim::new(1);
    let env = sim.env();
    sim.run(async {
        let shard = Shard::create(&env, setup(config)).await.expect("a new shard");
        tell(env.clone(), shard).await;
    });
    sim
}

/// Number, version and outcome.
pub fn facts(written: &shard::Written) -> (u64, u64, shard::Outcome) {
    (written.seq_no.get(), written.version, written.outcome)
}
