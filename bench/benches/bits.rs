//! How fast do the bits of a window become a list of documents?
//!
//! Bits lie as far apart as documents of a range of 1 % do, of a common word, and of a range of 30 %.
//! Beside it the plain way, bit after bit, which guesses wrong at the end of most words.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use search::iter::{Bits, WINDOW, bits};

/// So many that no guess is learnt by heart: 64 windows are, and then the plain way looks fastest.
const WINDOWS: usize = 4096;

/// Windows where one in `each` documents matches, spread evenly.
fn windows(each: u64) -> Vec<Bits> {
    let mut state = 1u64;
    let mut window = || {
        let mut found = bits::NONE;
        for place in 0..WINDOW {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if (state >> 33).is_multiple_of(each) {
                bits::set(&mut found, place);
            }
        }
        found
    };
    (0..WINDOWS).map(|_| window()).collect()
}

fn list(c: &mut Criterion) {
    for each in [100, 20, 3] {
        let windows = windows(each);
        let mut group = c.benchmark_group(format!("bits/one in {each}"));
        let count: u64 = windows.iter().map(|window| u64::from(bits::count(window))).sum();
        group.throughput(Throughput::Elements(count));
        let mut docs = Vec::with_capacity(WINDOW as usize + 8);
        group.bench_function("listed", |b| {
            b.iter(|| {
                for window in &windows {
                    docs.clear();
                    bits::list(black_box(window), 8192, &mut docs);
                    black_box(&docs);
                }
            });
        });
        group.bench_function("one by one", |b| {
            b.iter(|| {
                for window in &windows {
                    docs.clear();
                    bits::for_each(black_box(window), |place| docs.push(8192 + place));
                    black_box(&docs);
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, list);
criterion_main!(benches);
