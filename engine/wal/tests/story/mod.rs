//! What the tests of a log share: a log in a simulated machine, and a model of what it promised.
#![allow(dead_code, reason = "each test file uses its part")]

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use base::{SeqNo, ShardId};
use env::{Clock, Env, Spawn};
use sim::{Sim, SimEnv};
use wal::{Batch, Config, LogPosition, Reader, Record, Tail, Writer};

pub const DIR: &str = "/shard";

/// Files of eight blocks, so that runs of a few batches meet every corner.
pub fn config() -> Config {
    Config {
        file_bytes_min: 32 << 10,
        file_bytes_max: 128 << 10,
        idle_after: Duration::from_millis(500),
        ..Config::new(DIR, ShardId { index: [0xaa; 16], number: 0 })
    }
}

/// A record of one operation, whose payload follows from its number.
pub fn record(seq_no: u64, len: usize) -> Record {
    let payload = (0..len).map(|at| (seq_no as usize * 31 + at * 7) as u8).collect();
    Record { first_seq_no: SeqNo(seq_no), count: 1, mapping_version: seq_no / 10, payload }
}

/// What was sent and what was promised, kept outside the machine.
#[derive(Default)]
pub struct Model {
    /// All that may be in the log, in order.
    pub sent: Vec<Record>,
    /// How many of these must be.
    pub promised: usize,
    /// Where the promised ones were said to be.
    pub positions: Vec<(u64, LogPosition)>,
    /// Up to which position the log was released.
    pub released: LogPosition,
}

pub type Shared = Rc<RefCell<Model>>;

impl Model {
    /// Looks at what a reader found after `released`, which becomes what there is.
    pub fn check(&mut self, batches: &[Batch], context: &str) {
        let found: Vec<Record> =
            batches.iter().flat_map(|batch| batch.records.iter().cloned()).collect();
        let first = found.first().map(|record| record.first_seq_no);
        // Released records are gone, perhaps only some of them.
        let kept = match first {
            Some(first) => first.0 as usize,
            None => self
                .positions
                .iter()
                .filter(|(_, position)| *position <= self.released)
                .map(|(seq_no, _)| *seq_no as usize + 1)
                .max()
                .unwrap_or(0),
        };
        let end = kept + found.len();
        assert!(end <= self.sent.len(), "{context}: more was found than was ever sent");
        assert!(found == self.sent[kept..end], "{context}: something else was found than sent");
        assert!(
            end >= self.promised,
            "{context}: {} records were promised, {end} are there",
            self.promised
        );
        for (seq_no, position) in &self.positions {
            if *position > self.released {
                let there = batches.iter().any(|batch| {
                    batch.position == *position
                        && batch.records.iter().any(|record| record.first_seq_no.0 == *seq_no)
                });
                assert!(there, "{context}: record {seq_no} is not in batch {position}");
            }
        }
        self.sent.truncate(end);
        self.promised = end;
    }

    fn promise(&mut self, seq_no: u64, position: LogPosition) {
        self.positions.push((seq_no, position));
        self.promised = self.promised.max(seq_no as usize + 1);
    }
}

/// Reads the whole log after `after`.
pub async fn read_all(
    env: &SimEnv,
    after: LogPosition,
) -> wal::Result<(Vec<Batch>, Reader<SimEnv>)> {
    let mut reader = Reader::open(env, config(), after).await?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next().await? {
        batches.push(batch);
    }
    Ok((batches, reader))
}

/// Opens the log, checks it against the model, and goes on.
pub async fn reopen(env: &SimEnv, model: &Shared, context: &str) -> (Writer<SimEnv>, Tail) {
    let after = model.borrow().released;
    let (batches, reader) =
        read_all(env, after).await.unwrap_or_else(|error| panic!("{context}: {error}"));
    model.borrow_mut().check(&batches, context);
    let tail = reader.tail();
    let term = reader.term() + 1;
    let writer = reader.into_writer(term, None).await;
    (writer.unwrap_or_else(|error| panic!("{context}: {error}")), tail)
}

/// Appends a record of `len` bytes after all that the model knows, and notes its promise.
pub async fn append(writer: &Writer<SimEnv>, model: &Shared, len: usize) -> wal::Result<()> {
    let (seq_no, append) = {
        let mut model = model.borrow_mut();
        let seq_no = model.sent.len() as u64;
        let record = record(seq_no, len);
        let append = writer.append(record.clone())?;
        model.sent.push(record);
        (seq_no, append)
    };
    let durable = append.await?;
    model.borrow_mut().promise(seq_no, durable.position());
    Ok(())
}

/// `tasks` writers, each with a few records of many sizes and pauses.
pub async fn write_a_while(env: &SimEnv, writer: &Writer<SimEnv>, model: &Shared, tasks: u64) {
    let left = Rc::new(RefCell::new(tasks));
    for _ in 0..tasks {
        let (env2, writer, model, left) =
            (env.clone(), writer.clone(), Rc::clone(model), Rc::clone(&left));
        env.spawn().spawn(async move {
            for _ in 0..4 {
                let chance = env::Random::next_u64(env::Env::random(&env2));
                let len = match chance % 10 {
                    0 => 40_000,
                    1..=3 => chance as usize / 16 % 9000,
                    _ => chance as usize / 16 % 300,
                };
                if chance.is_multiple_of(3) {
                    env2.clock().sleep(Duration::from_micros(chance / 16 % 3000)).await;
                }
                append(&writer, &model, len).await.expect("nothing fails here");
            }
            *left.borrow_mut() -= 1;
        });
    }
    while *left.borrow() > 0 {
        env.clock().sleep(Duration::from_millis(1)).await;
    }
}

/// A fresh machine with a log of `count` small batches, one record each, the first at position 1.
pub fn machine_with_batches(seed: u64, count: u64, idle: bool) -> (Sim, Shared) {
    let sim = Sim::new(seed);
    let model = Shared::default();
    let (env, theirs) = (sim.env(), Rc::clone(&model));
    sim.run(async move {
        let config = Config { file_bytes_min: 128 << 10, ..config() };
        let writer = Writer::create(&env, config, 1, None).await.expect("a fresh disk");
        for _ in 0..count {
            append(&writer, &theirs, 100).await.expect("nothing fails here");
        }
        if idle {
            writer.close().await.expect("nothing fails here");
        } else {
            std::mem::forget(writer);
        }
    });
    (sim, model)
}
