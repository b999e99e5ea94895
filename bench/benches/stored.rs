//! What does it cost to store documents, to get one, and to merge them? With a dictionary, and without.

use std::hint::black_box;
use std::ops::ControlFlow;

use base::{DocId, SegmentId};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use env::Bytes;
use segment::merge::merge;
use segment::{Check, Segment, SegmentWriter};

const COUNT: u32 = 20_000;

/// Numbers that are spread evenly, the same in each run.
fn spread(n: u64) -> u64 {
    let mixed = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

/// Documents as logs have them: about 400 bytes of JSON.
fn sources() -> Vec<Vec<u8>> {
    let words = ["GET", "POST", "shard", "segment", "refresh", "timeout", "connection", "reset"];
    (0..u64::from(COUNT))
        .map(|n| {
            let text: Vec<&str> =
                (0..30).map(|at| words[spread(n * 31 + at) as usize % words.len()]).collect();
            format!(
                "{{\"@timestamp\":\"2026-11-{:02}T{:02}:{:02}:00.000Z\",\"status\":{},\"bytes\":{},\
                 \"client\":\"10.{}.{}.{}\",\"message\":\"{}\"}}",
                n % 28 + 1,
                n % 24,
                spread(n) % 60,
                200 + spread(n) % 300,
                spread(n) % 100_000,
                spread(n) % 256,
                spread(n + 1) % 256,
                spread(n + 2) % 256,
                text.join(" ")
            )
            .into_bytes()
        })
        .collect()
}

fn seal(sources: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = SegmentWriter::new(SegmentId(1), COUNT);
    writer.stored(sources.iter().map(Vec::as_slice)).expect("short sources");
    writer.seal().expect("in memory")
}

fn stored(c: &mut Criterion) {
    let sources = sources();
    let bytes: usize = sources.iter().map(Vec::len).sum();
    let file = seal(&sources);
    eprintln!("{bytes} bytes of JSON in {} stored", file.len());
    let segment = Segment::open(SegmentId(1), Bytes::from(file), Check::Full).expect("just sealed");
    let stored = segment.stored().expect("written");
    let mut group = c.benchmark_group("stored");
    group.sample_size(10).throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("seal", |b| b.iter(|| black_box(seal(&sources).len())));
    let inputs = [(segment.clone(), None), (segment.clone(), None)];
    group.throughput(Throughput::Bytes(2 * bytes as u64));
    group.bench_function("merge", |b| {
        b.iter(|| {
            let mut go_on = |_| ControlFlow::Continue(());
            black_box(merge(&inputs, SegmentId(9), None, &mut go_on).expect("whole").0.len())
        });
    });
    let mut go_on = |_| ControlFlow::Continue(());
    let (file, _) = merge(&inputs, SegmentId(9), None, &mut go_on).expect("whole");
    eprintln!("twice that in {} stored with a dictionary", file.len());
    let shared = Segment::open(SegmentId(9), Bytes::from(file), Check::Full).expect("just merged");
    let dictionary = shared.stored().and_then(|stored| stored.dictionary()).expect("it has one");
    let shared_inputs = [(shared.clone(), None)];
    group.bench_function("merge with the same dictionary", |b| {
        b.iter(|| {
            let mut go_on = |_| ControlFlow::Continue(());
            let made = merge(&shared_inputs, SegmentId(9), Some(dictionary), &mut go_on);
            black_box(made.expect("whole").0.len())
        });
    });
    group.sample_size(100).throughput(Throughput::Elements(1));
    let mut reader_of_short = shared.stored().expect("written").reader();
    let mut n = 0;
    group.bench_function("get anywhere with a dictionary", |b| {
        b.iter(|| {
            n += 1;
            let doc = spread(n) % u64::from(2 * COUNT);
            black_box(reader_of_short.get(DocId(doc as u32)).expect("whole").len())
        });
    });
    let mut reader = stored.reader();
    let mut n = 0;
    group.bench_function("get anywhere", |b| {
        b.iter(|| {
            n += 1;
            let doc = spread(n) % u64::from(COUNT);
            black_box(reader.get(DocId(doc as u32)).expect("whole").len())
        });
    });
    group.bench_function("get without a reader", |b| {
        b.iter(|| {
            n += 1;
            let doc = spread(n) % u64::from(COUNT);
            black_box(stored.get(DocId(doc as u32)).expect("whole").len())
        });
    });
    let mut doc = 0;
    group.bench_function("get in order", |b| {
        b.iter(|| {
            doc = (doc + 1) % COUNT;
            black_box(reader.get(DocId(doc)).expect("whole").len())
        });
    });
    group.finish();
}

criterion_group!(benches, stored);
criterion_main!(benches);
