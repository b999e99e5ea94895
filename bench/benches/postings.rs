//! How fast are the documents of a term read: all, with frequencies, as bits, by seeks, by phrase?
//!
//! A segment of 320,000 documents (as many as the passages of enwiki), terms in one of 2, 10, 100
//! and 1,000 documents. `bitpacking` alone unpacks 5–6 G ascending integers a second.

use std::hint::black_box;

use base::{DocId, FieldNo, SegmentId};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use env::Bytes;
use search::iter::Turn;
use search::iter::union::Union;
use segment::postings::{BLOCK, END};
use segment::{
    BlockCache, Check, Missing, Need, Posting, Postings, Result, Segment, SegmentWriter,
    TermOptions, TermSource,
};

const FIELD: FieldNo = FieldNo::USER_FIRST;
const DOC_COUNT: u32 = 320_000;
const RARITIES: [u32; 4] = [2, 10, 100, 1000];

/// Terms of known rarity; documents, frequencies and positions by a small generator.
struct Source {
    at: usize,
    term: Vec<u8>,
    doc: u32,
    state: u64,
    positions: Vec<u32>,
}

impl Source {
    fn below(&mut self, limit: u32) -> u32 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.state >> 33) % u64::from(limit)) as u32
    }
}

impl TermSource for Source {
    fn next_term(&mut self) -> Result<Option<&[u8]>> {
        let Some(rarity) = RARITIES.get(self.at) else { return Ok(None) };
        self.term = format!("{rarity:04}").into_bytes();
        self.at += 1;
        self.doc = 0;
        Ok(Some(&self.term))
    }

    fn next_posting(&mut self) -> Result<Option<Posting<'_>>> {
        let rarity = RARITIES[self.at - 1];
        self.doc += 1 + self.below(2 * rarity - 1);
        if self.doc >= DOC_COUNT {
            return Ok(None);
        }
        let freq = 1 + u32::from(self.below(4) == 0) * (1 + self.below(4));
        let mut position = 0;
        self.positions.clear();
        for _ in 0..freq {
            position += self.below(60);
            self.positions.push(position);
        }
        Ok(Some(Posting { doc: DocId(self.doc), freq, positions: &self.positions }))
    }
}

fn segment() -> Segment {
    let mut writer = SegmentWriter::new(SegmentId(1), DOC_COUNT);
    let norms: Vec<u8> = (0..DOC_COUNT).map(|doc| 20 + (doc % 60) as u8).collect();
    writer.norms(FIELD, &norms).expect("a byte for each document");
    let mut source = Source { at: 0, term: Vec::new(), doc: 0, state: 7, positions: Vec::new() };
    writer.terms(FIELD, TermOptions::TEXT, &mut source).expect("in memory");
    let bytes = writer.seal().expect("in memory");
    Segment::open(SegmentId(1), Bytes::from(bytes), Check::Full).expect("just sealed")
}

fn postings(segment: &Segment, rarity: u32, need: Need) -> Postings {
    let terms = segment.terms(FIELD).expect("written");
    let term = format!("{rarity:04}");
    let found = terms.find(term.as_bytes(), &mut BlockCache::new(1 << 20)).expect("sound");
    terms.postings(&found.expect("written"), need)
}

fn reading(criterion: &mut Criterion) {
    let segment = segment();
    for rarity in RARITIES {
        let doc_freq = postings(&segment, rarity, Need::Docs).doc_freq();
        let mut group = criterion.benchmark_group("postings");
        group.throughput(Throughput::Elements(u64::from(doc_freq)));
        group.bench_function(BenchmarkId::new("docs", rarity), |bencher| {
            bencher.iter(|| {
                let postings = postings(&segment, rarity, Need::Docs);
                let mut docs = [0; BLOCK];
                for block in 0..postings.block_count() {
                    black_box(postings.docs(block, &mut docs));
                }
            });
        });
        group.bench_function(BenchmarkId::new("docs and freqs", rarity), |bencher| {
            bencher.iter(|| {
                let postings = postings(&segment, rarity, Need::Freqs);
                let (mut docs, mut freqs) = ([0; BLOCK], [0; BLOCK]);
                for block in 0..postings.block_count() {
                    black_box(postings.docs_and_freqs(block, &mut docs, &mut freqs));
                }
            });
        });
        group.bench_function(BenchmarkId::new("next", rarity), |bencher| {
            bencher.iter(|| {
                let mut postings = postings(&segment, rarity, Need::Docs);
                while postings.next() != END {
                    black_box(postings.doc());
                }
            });
        });
        group.bench_function(BenchmarkId::new("bits of windows", rarity), |bencher| {
            let mut bits = [0u64; 64];
            bencher.iter(|| {
                let mut postings = postings(&segment, rarity, Need::Docs);
                for start in (0..DOC_COUNT).step_by(4096) {
                    bits.fill(0);
                    postings.fill_bits(start..(start + 4096).min(DOC_COUNT), &mut bits);
                    black_box(&bits);
                }
            });
        });
        group.bench_function(BenchmarkId::new("positions", rarity), |bencher| {
            let mut out = Vec::new();
            bencher.iter(|| {
                let mut postings = postings(&segment, rarity, Need::Positions);
                while postings.next() != END {
                    postings.positions(&mut out);
                    black_box(&out);
                }
            });
        });
        group.finish();
        let mut group = criterion.benchmark_group("seek each 1000th document");
        group.throughput(Throughput::Elements(u64::from(DOC_COUNT / 1000)));
        group.bench_function(BenchmarkId::from_parameter(rarity), |bencher| {
            bencher.iter(|| {
                let mut postings = postings(&segment, rarity, Need::Docs);
                for target in (0..DOC_COUNT).step_by(1000) {
                    black_box(postings.seek(DocId(target)));
                }
            });
        });
        group.finish();
        let mut group = criterion.benchmark_group("bounds of blocks");
        group.throughput(Throughput::Elements(u64::from(doc_freq.div_ceil(BLOCK as u32))));
        group.bench_function(BenchmarkId::from_parameter(rarity), |bencher| {
            let postings = postings(&segment, rarity, Need::Freqs);
            bencher.iter(|| {
                for block in 0..postings.block_count() {
                    black_box(postings.block_impacts(block).iter().map(|pair| pair.0).max());
                }
            });
        });
        group.finish();
    }
}

/// How many documents hold one of the three commonest terms: by windows of filters, and as it is done.
fn counting(criterion: &mut Criterion) {
    let segment = segment();
    let three = || RARITIES[..3].iter().map(|rarity| postings(&segment, *rarity, Need::Docs));
    let mut group = criterion.benchmark_group("documents of three terms");
    group.bench_function("by windows of 4,096", |bencher| {
        bencher.iter(|| {
            let mut terms: Vec<Postings> = three().collect();
            let mut count = 0;
            for start in (0..DOC_COUNT).step_by(4096) {
                let mut bits = [0u64; 64];
                for postings in &mut terms {
                    postings.fill_bits(start..(start + 4096).min(DOC_COUNT), &mut bits);
                }
                count += bits.iter().map(|word| word.count_ones()).sum::<u32>();
            }
            count
        });
    });
    group.bench_function("by windows of 65,536", |bencher| {
        bencher.iter(|| {
            let mut missing = Missing::new();
            let mut turn = Turn::new(&mut missing, 1, true);
            let mut union = Union::new(three().collect(), DOC_COUNT);
            let mut count = 0;
            while let Some(more) = union.step(&mut turn) {
                count += more;
            }
            count
        });
    });
    group.finish();
}

criterion_group!(benches, reading, counting);
criterion_main!(benches);
