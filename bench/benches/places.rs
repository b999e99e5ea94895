//! Where in a block is a document, and which places lie in a circle?
//!
//! Both are asked of each candidate: of a join of terms, of a circle's edge.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mapping::types::geo;
use search::ast::GeoPoint;
use search::iter::area::Area;
use search::iter::blocks::place_of;
use search::plan::function::Shape;
use segment::postings::BLOCK;

/// Numbers that are spread evenly, the same in each run.
fn spread(n: u64) -> u64 {
    let mixed = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

fn block(c: &mut Criterion) {
    let docs: [u32; BLOCK] =
        std::array::from_fn(|at| at as u32 * 37 + spread(at as u64) as u32 % 37);
    let asked: Vec<u32> = (0..4096).map(|n| (spread(n) % (37 * BLOCK as u64)) as u32).collect();
    let mut group = c.benchmark_group("places/block");
    group.throughput(Throughput::Elements(asked.len() as u64));
    group.bench_function("place of a document", |b| {
        b.iter(|| asked.iter().map(|doc| place_of(black_box(&docs), *doc)).sum::<usize>());
    });
    group.finish();
}

fn circle(c: &mut Criterion) {
    let middle = GeoPoint { lat: 47.0, lon: 8.0 };
    let shape = Arc::new(Shape::Circle(middle, 1_000_000.0));
    let places: Vec<i64> = (0..4096)
        .map(|n| {
            let part = |n: u64| (spread(n) % 10_000) as f64 / 10_000.0;
            let (lat, lon) = (37.0 + 20.0 * part(n), -6.0 + 28.0 * part(n + 9999));
            geo::encode(geo::Point { lat, lon })
        })
        .collect();
    let mut group = c.benchmark_group("places/circle");
    group.bench_function("cut into strips", |b| b.iter(|| Area::new(black_box(&shape), 1 << 20)));
    group.throughput(Throughput::Elements(places.len() as u64));
    for (name, count) in [("by strips", 1 << 20), ("by distances", 0)] {
        let area = Area::new(&shape, count);
        group.bench_function(name, |b| {
            b.iter(|| places.iter().filter(|place| area.holds(**place)).count());
        });
    }
    group.finish();
}

criterion_group!(benches, block, circle);
criterion_main!(benches);
