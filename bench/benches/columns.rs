//! What does it cost to read a column: a window at once, one document, a range?

use std::hint::black_box;

use base::{DocId, FieldNo, Ord, SegmentId};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use env::Bytes;
use segment::columns::{Pairs, WINDOW, WINDOW_WORDS};
use segment::{Check, Segment, SegmentWriter};

const FIELD: FieldNo = FieldNo(20);
const COUNT: u32 = 256 * WINDOW;

/// Numbers that are spread evenly, the same in each run.
fn spread(n: u64) -> u64 {
    let mixed = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

fn column(values: impl Fn(u64) -> Vec<i64>) -> Segment {
    let docs: Vec<(DocId, i64)> = (0..COUNT)
        .flat_map(|doc| {
            let mut values = values(u64::from(doc));
            values.sort_unstable();
            values.into_iter().map(move |value| (DocId(doc), value))
        })
        .collect();
    let mut writer = SegmentWriter::new(SegmentId(1), COUNT);
    writer.numeric(FIELD, &docs);
    let bytes = Bytes::from(writer.seal().expect("in memory"));
    let segment = Segment::open(SegmentId(1), bytes, Check::Full).expect("just sealed");
    // Measured or not, what is read is what was written.
    for doc in (0..COUNT).step_by(1009) {
        let mut found = Vec::new();
        segment.numeric(FIELD).expect("written").values(DocId(doc), &mut found);
        let mut expected = values(u64::from(doc));
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
    segment
}

/// A name, and the values of each document.
type Case = (&'static str, Box<dyn Fn(u64) -> Vec<i64>>);

fn cases() -> Vec<Case> {
    let sparse =
        |n| if spread(n).is_multiple_of(10) { vec![(spread(n) >> 40) as i64] } else { vec![] };
    vec![
        ("13 bits", Box::new(|n| vec![(spread(n) % 8000) as i64])),
        ("doubles", Box::new(|n| vec![((spread(n) % 100_000) as f64 / 7.0).to_bits() as i64])),
        ("rising times", Box::new(|n| vec![n as i64 * 250 + (spread(n) % 900) as i64])),
        ("table", Box::new(|n| vec![[1, 1 << 40, -(1 << 50), 99][spread(n) as usize % 4]])),
        ("one in ten", Box::new(sparse)),
        ("two each", Box::new(|n| vec![(spread(n) % 999) as i64, (spread(n + 1) % 999) as i64])),
    ]
}

fn read(c: &mut Criterion) {
    for (name, values) in cases() {
        let segment = column(values);
        let column = segment.numeric(FIELD).expect("written");
        let bits_each = segment.len_bytes() * 8 / column.value_count();
        eprintln!("{name}: {bits_each} bits a value");
        let mut group = c.benchmark_group(format!("columns/{name}"));
        let mut values = Box::new([0i64; WINDOW as usize]);
        let mut presence = [0u64; WINDOW_WORDS];
        group.throughput(Throughput::Elements(u64::from(WINDOW)));
        let mut window = 0;
        group.bench_function("fill a window", |b| {
            b.iter(|| {
                window = (window + 1) % 256;
                column.fill(window, &mut values, &mut presence);
                black_box(values[17]);
            });
        });
        let mut pairs = Pairs::default();
        group.bench_function("pairs of a window", |b| {
            b.iter(|| {
                window = (window + 1) % 256;
                column.pairs(window, &mut pairs);
                black_box(pairs.values.len());
            });
        });
        group.bench_function("match a window", |b| {
            b.iter(|| {
                window = (window + 1) % 256;
                presence.fill(0);
                column.matching(window, &(100..=1 << 45), &mut presence);
                black_box(presence[17]);
            });
        });
        group.throughput(Throughput::Elements(1));
        let mut n = 0;
        group.bench_function("one document anywhere", |b| {
            b.iter(|| {
                n += 1;
                column.first(DocId((spread(n) % u64::from(COUNT)) as u32))
            });
        });
        let mut cursor = column.cursor();
        let mut doc = 0;
        group.bench_function("documents in order", |b| {
            b.iter(|| {
                doc = (doc + 3) % COUNT;
                cursor.first(DocId(doc))
            });
        });
        group.finish();
    }
}

fn terms(c: &mut Criterion) {
    let terms: Vec<String> = (0..100_000).map(|n| format!("user-{:08x}", n * 41)).collect();
    // Every term has a document, and which is hard to foresee.
    let ords: Vec<(DocId, Ord)> = (0..COUNT)
        .map(|doc| (DocId(doc), Ord((u64::from(doc) * 48_271 % 100_000) as u32)))
        .collect();
    let mut writer = SegmentWriter::new(SegmentId(1), COUNT);
    writer.ordinals(FIELD, terms.iter().map(String::as_bytes), &ords).expect("short terms");
    let bytes = Bytes::from(writer.seal().expect("in memory"));
    let segment = Segment::open(SegmentId(1), bytes, Check::Full).expect("just sealed");
    let column = segment.ordinals(FIELD).expect("written");
    let mut group = c.benchmark_group("columns/terms");
    let mut ords = Box::new([0u32; WINDOW as usize]);
    let mut presence = [0u64; WINDOW_WORDS];
    let mut window = 0;
    group.bench_function("fill a window", |b| {
        b.iter(|| {
            window = (window + 1) % 256;
            column.fill(window, &mut ords, &mut presence);
            black_box(ords[17]);
        });
    });
    let mut reader = column.terms();
    let mut n = 0;
    group.bench_function("term of a rank", |b| {
        b.iter(|| {
            n += 1;
            black_box(reader.term(Ord((spread(n) % 100_000) as u32)).expect("whole").len())
        });
    });
    group.bench_function("rank of a term", |b| {
        b.iter(|| {
            n += 1;
            reader.lookup(terms[spread(n) as usize % terms.len()].as_bytes()).expect("whole")
        });
    });
    group.finish();
}

criterion_group!(benches, read, terms);
criterion_main!(benches);
