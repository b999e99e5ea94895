//! What does it cost to build a BKD tree of a million points, and to find a range in it?

use std::hint::black_box;

use base::{DocId, FieldNo, SegmentId};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use env::Bytes;
use segment::bkd::{Bounds, DocBits, Points, Shape};
use segment::{Check, Segment, SegmentWriter};

const FIELD: FieldNo = FieldNo(20);
const COUNT: u32 = 1_000_000;

/// Numbers that are spread evenly, the same in each run.
fn spread(n: u64) -> u64 {
    let mixed = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

fn longs(value: impl Fn(u64) -> i64) -> Points {
    let mut points = Points::new(Shape::LONG);
    for doc in 0..COUNT {
        points.push_long(value(u64::from(doc)), DocId(doc));
    }
    points
}

fn squares() -> Points {
    let mut points = Points::new(Shape::new(2, 4).expect("a legal shape"));
    for doc in 0..COUNT {
        points.push(&spread(u64::from(doc)).to_be_bytes(), DocId(doc));
    }
    points
}

fn sealed(points: Points) -> Segment {
    let mut writer = SegmentWriter::new(SegmentId(1), COUNT);
    writer.points(FIELD, points);
    let bytes = Bytes::from(writer.seal().expect("in memory"));
    Segment::open(SegmentId(1), bytes, Check::Full).expect("just sealed")
}

fn build(c: &mut Criterion) {
    let mut group = c.benchmark_group("bkd/build");
    group.throughput(Throughput::Elements(u64::from(COUNT))).sample_size(10);
    let mut bench = |name: &str, points: Points| {
        group.bench_function(name, |b| {
            b.iter_batched(
                || points.clone(),
                |points| {
                    let mut writer = SegmentWriter::new(SegmentId(1), COUNT);
                    writer.points(FIELD, points);
                    black_box(writer.len_bytes())
                },
                criterion::BatchSize::PerIteration,
            );
        });
    };
    bench("random longs", longs(|n| spread(n) as i64));
    bench("few longs", longs(|n| (spread(n) % 100) as i64));
    bench("rising times", longs(|n| 1_700_000_000_000 + n as i64 * 250 + (spread(n) % 900) as i64));
    bench("squares", squares());
    group.finish();
}

fn visit(c: &mut Criterion) {
    let mut group = c.benchmark_group("bkd/visit");
    let mut bench = |name: &str, segment: &Segment, bounds: Bounds| {
        let tree = segment.points(FIELD).expect("points");
        let count = tree.count(&bounds).expect("whole");
        eprintln!("{name}: {count} points, {} bytes", segment.len_bytes());
        group.throughput(Throughput::Elements(count));
        group.bench_function(name, |b| {
            let mut bits = DocBits::new(COUNT);
            b.iter(|| tree.visit(black_box(&bounds), &mut bits).expect("whole"));
        });
        group.bench_function(format!("{name}, count"), |b| {
            b.iter(|| tree.count(black_box(&bounds)).expect("whole"));
        });
    };
    let random = sealed(longs(|n| spread(n) as i64));
    bench("1 in 100 of random longs", &random, Bounds::longs(0..=i64::MAX / 50));
    bench("half of random longs", &random, Bounds::longs(0..=i64::MAX));
    let few = sealed(longs(|n| (spread(n) % 100) as i64));
    bench("1 of 100 longs", &few, Bounds::longs(42..=42));
    let times = sealed(longs(|n| 1_700_000_000_000 + n as i64 * 250 + (spread(n) % 900) as i64));
    let from = 1_700_100_000_000;
    bench("a tenth of rising times", &times, Bounds::longs(from..=from + 25_000_000));
    let squares = sealed(squares());
    let shape = Shape::new(2, 4).expect("a legal shape");
    let bounds = Bounds::new(shape, &[64, 0, 0, 0, 64, 0, 0, 0], &[128, 0, 0, 0, 128, 0, 0, 0]);
    bench("1 in 16 of squares", &squares, bounds);
    group.finish();
}

criterion_group!(benches, build, visit);
criterion_main!(benches);
