//! How long does a step of analysis take? What a request or a document may cost is bounded in steps, by no clock
//! (`mapping::analysis::effort`), so a step of one chain must not be many times that of another.
//!
//! Throughput is in steps: a thousand million a second is a nanosecond each.

use std::hint::black_box;
use std::ops::ControlFlow;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use json::json;
use mapping::analysis::effort::within;
use mapping::analysis::{Registry, Scratch};

const TEXT: &str =
    "The quick brown foxes jumped over 13 lazy dogs in Köln, aab, while others were running. ";

/// Steps that a job takes.
fn steps(job: impl FnOnce()) -> u64 {
    within(u64::MAX, job).expect("nothing is bounded so far").1
}

fn analysis(c: &mut Criterion) {
    let chains: Vec<&str> =
        vec!["lowercase, reverse", "uppercase, reverse", "reverse, cut", "cut, lowercase"];
    let registry = Registry::parse(&json!({
        "char_filter": {
            "names": {"type": "mapping", "mappings": ["aa => b", "quick => fast"]},
            "digits": {"type": "pattern_replace", "pattern": "[0-9]+", "replacement": ""},
            "around": {"type": "pattern_replace", "pattern": "a(?=b)", "replacement": "c"}
        },
        "filter": {
            "cut": {"type": "truncate", "length": 3},
            "many": {"type": "multiplexer", "filters": chains},
            "grams": {"type": "ngram", "min_gram": 2, "max_gram": 3}
        },
        "analyzer": {
            "plain": {"tokenizer": "standard", "filter": ["lowercase"]},
            "stemmed": {"tokenizer": "standard", "filter": ["lowercase", "stop", "porter_stem"]},
            "grams": {"tokenizer": "standard", "filter": ["lowercase", "grams"]},
            "many": {"tokenizer": "whitespace", "filter": ["many", "many"]},
            "changed": {"tokenizer": "standard", "char_filter": ["names", "digits"], "filter": ["lowercase"]},
            "around": {"tokenizer": "standard", "char_filter": ["around"]}
        },
        "normalizer": {
            "folded": {"filter": ["lowercase", "asciifolding"]},
            "changed": {"char_filter": ["names", "digits"], "filter": ["lowercase"]}
        }
    }))
    .expect("known parts");
    let text = TEXT.repeat(40);
    let mut group = c.benchmark_group("steps");
    for name in ["plain", "stemmed", "grams", "many", "changed", "around"] {
        let analyzer = registry.analyzer(name).expect("given");
        let mut scratch = Scratch::default();
        let mut all = || {
            let mut count = 0u32;
            analyzer.tokens_with(black_box(&text), &mut scratch, |_| {
                count += 1;
                ControlFlow::Continue(())
            });
            black_box(count);
        };
        group.throughput(Throughput::Elements(steps(&mut all)));
        group.bench_function(format!("analyzer {name}"), |b| b.iter(&mut all));
    }
    for name in ["folded", "changed"] {
        let normalizer = registry.normalizer(name).expect("given");
        let mut buffer = String::new();
        let mut all = || {
            for _ in 0..40 {
                black_box(normalizer.normal_term(black_box(TEXT), &mut buffer));
            }
        };
        group.throughput(Throughput::Elements(steps(&mut all)));
        group.bench_function(format!("normalizer {name}"), |b| b.iter(&mut all));
    }
    group.finish();
}

criterion_group!(benches, analysis);
criterion_main!(benches);
