//! What does it cost to put a million documents into buckets: by word, by month, with a sum below?

use std::hint::black_box;
use std::sync::Arc;

use base::{DocId, FieldNo, Ord, SegmentId};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use env::Bytes;
use mapping::{Mapping, Settings};
use search::dsl::parse_search;
use search::phase::{Progress, STEP_WORK, Shared, Slice};
use search::plan::{self, Context, Plan};
use segment::{BlockCache, Check, Missing, Segment, SegmentWriter, View};

const COUNT: u32 = 1_000_000;

/// Words of the column.
const WORDS: u32 = 1000;

/// Numbers that are spread evenly, the same in each run.
fn spread(n: u64) -> u64 {
    let mixed = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

fn corpus() -> (Mapping, Arc<View>) {
    let definition = json::parse(
        br#"{"properties":{"word":{"type":"keyword","index":false},
        "day":{"type":"date","index":false},"price":{"type":"double","index":false}}}"#,
    )
    .expect("JSON");
    let mapping = Mapping::parse(&definition, Arc::new(Settings::default())).expect("a mapping");
    let no = |path: &str| -> FieldNo { mapping.field(path).expect("mapped").no };
    let mut writer = SegmentWriter::new(SegmentId(1), COUNT);
    let words: Vec<Vec<u8>> = (0..WORDS).map(|n| format!("word{n:05}").into_bytes()).collect();
    let ranks: Vec<(DocId, Ord)> = (0..COUNT)
        .map(|doc| (DocId(doc), Ord((spread(u64::from(doc)) % u64::from(WORDS)) as u32)))
        .collect();
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    writer.ordinals(no("word"), words.iter().copied(), &ranks).expect("short words");
    // Five years, almost in order.
    let day = |n: u64| 1_577_836_800_000 + n as i64 * 157_000 + (spread(n) % 900_000) as i64;
    let days: Vec<(DocId, i64)> = (0..COUNT).map(|doc| (DocId(doc), day(u64::from(doc)))).collect();
    writer.numeric(no("day"), &days);
    let price = |n: u64| mapping::types::sortable::from_f64((spread(n) % 10_000) as f64 / 100.0);
    let prices: Vec<(DocId, i64)> =
        (0..COUNT).map(|doc| (DocId(doc), price(u64::from(doc)))).collect();
    writer.numeric(no("price"), &prices);
    let bytes = Bytes::from(writer.seal().expect("in memory"));
    let segment = Segment::open(SegmentId(1), bytes, Check::Full).expect("just sealed");
    let view = View::new(1, [(segment, None)]).expect("one segment");
    (mapping, Arc::new(view))
}

fn planned(mapping: &Mapping, view: &Arc<View>, aggs: &str) -> Arc<Plan> {
    let body = format!(r#"{{"size":0,"aggs":{aggs}}}"#);
    let request = parse_search(body.as_bytes(), &[]).expect("a good request");
    let bound = plan::bind(&request, mapping, &Context::new("bench", 0)).expect("mapped");
    let (mut cache, mut missing) = (BlockCache::new(1 << 20), Missing::new());
    plan::weigh(&bound, view, &mut cache, &mut missing).expect("whole").expect("resident")
}

fn run(plan: &Arc<Plan>) -> usize {
    let shared = Arc::new(Shared::default());
    let mut slice = Slice::new(Arc::clone(plan), plan.whole(), shared);
    while !matches!(slice.step(STEP_WORK), Ok(Progress::Done)) {}
    slice.finish().aggs.map_or(0, |aggs| aggs.map_or(0, |aggs| aggs.len()))
}

fn buckets(c: &mut Criterion) {
    let (mapping, view) = corpus();
    let mut group = c.benchmark_group("aggs");
    group.throughput(Throughput::Elements(u64::from(COUNT))).sample_size(10);
    for (name, aggs) in [
        ("terms", r#"{"t":{"terms":{"field":"word"}}}"#),
        (
            "terms, sum below",
            r#"{"t":{"terms":{"field":"word"},"aggs":{"s":{"sum":{"field":"price"}}}}}"#,
        ),
        ("months", r#"{"m":{"date_histogram":{"field":"day","calendar_interval":"month"}}}"#),
        (
            "days of New York",
            r#"{"m":{"date_histogram":{"field":"day","calendar_interval":"day",
            "time_zone":"America/New_York"}}}"#,
        ),
        ("stats", r#"{"s":{"stats":{"field":"price"}}}"#),
        ("cardinality", r#"{"c":{"cardinality":{"field":"price"}}}"#),
    ] {
        let plan = planned(&mapping, &view, aggs);
        assert_eq!(run(&plan), 1, "it answers");
        group.bench_function(name, |b| b.iter(|| black_box(run(&plan))));
    }
    group.finish();
}

criterion_group!(benches, buckets);
criterion_main!(benches);
