//! How fast is a term found, and a document by its id?
//!
//! A million terms in one field, once in plain blocks, once in compressed ones of which a core's
//! cache holds all or few; 320,000 ids. The promise is less than 1 µs for an id.

use std::hint::black_box;

use automaton::{Dfa, Look, Walk, levenshtein};
use base::{DocId, FieldNo, SegmentId};
use criterion::{Criterion, criterion_group, criterion_main};
use env::Bytes;
use segment::writer::TermBlocks;
use segment::{
    BlockCache, Check, Posting, Result, Segment, SegmentWriter, TermOptions, TermSource,
};

const FIELD: FieldNo = FieldNo::USER_FIRST;
const TERM_COUNT: usize = 1_000_000;
const DOC_COUNT: u32 = 320_000;

/// Words of syllables, sorted, each once.
fn words() -> Vec<String> {
    const SYLLABLES: [&str; 16] = [
        "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu", "ber", "dan", "fel", "gor",
        "ham", "jis",
    ];
    let mut words: Vec<String> = (0..TERM_COUNT as u64 * 2)
        .map(|at| {
            let mut state = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let len = 2 + (state >> 60) % 4;
            let syllables = (0..len).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                SYLLABLES[(state >> 60) as usize]
            });
            let mut word: String = syllables.collect();
            word.push_str(&(at % 100).to_string());
            word
        })
        .collect();
    words.sort();
    words.dedup();
    words.truncate(TERM_COUNT);
    words
}

struct Source<'a> {
    terms: std::slice::Iter<'a, String>,
    doc: Option<u32>,
}

impl TermSource for Source<'_> {
    fn next_term(&mut self) -> Result<Option<&[u8]>> {
        let term = self.terms.next();
        self.doc = term.map(|term| term.len() as u32);
        Ok(term.map(|term| term.as_bytes()))
    }

    fn next_posting(&mut self) -> Result<Option<Posting<'_>>> {
        let doc = self.doc.take();
        Ok(doc.map(|doc| Posting { doc: DocId(doc), freq: 1, positions: &[] }))
    }
}

fn segment(words: &[String], blocks: TermBlocks) -> Segment {
    let mut writer = SegmentWriter::new(SegmentId(1), DOC_COUNT).merged(1, blocks);
    let mut source = Source { terms: words.iter(), doc: None };
    writer.terms(FIELD, TermOptions::DOCS, &mut source).expect("in memory");
    let mut ids: Vec<String> = (0..DOC_COUNT).map(id).collect();
    ids.sort();
    writer.ids(ids.iter().zip(0..).map(|(id, doc)| (id.as_bytes(), DocId(doc)))).expect("sorted");
    let bytes = writer.seal().expect("in memory");
    Segment::open(SegmentId(1), Bytes::from(bytes), Check::Full).expect("just sealed")
}

fn id(number: u32) -> String {
    format!("{:016x}", u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn finding(criterion: &mut Criterion) {
    let words = words();
    let asked: Vec<&String> = (0..4096).map(|at| &words[at * 7_919 % words.len()]).collect();
    for (name, blocks, cache_bytes) in [
        ("plain", TermBlocks::Plain, 1 << 20),
        ("compressed, cached", TermBlocks::Zstd, 64 << 20),
        ("compressed, not cached", TermBlocks::Zstd, 1 << 14),
    ] {
        let segment = segment(&words, blocks);
        let terms = segment.terms(FIELD).expect("written");
        let mut cache = BlockCache::new(cache_bytes);
        let mut next = asked.iter().cycle();
        criterion.bench_function(&format!("term: {name}"), |bencher| {
            bencher.iter(|| {
                let term = next.next().expect("cycles");
                black_box(terms.find(term.as_bytes(), &mut cache).expect("sound"))
            });
        });
    }
    walking(criterion, &words);
    let segment = segment(&words[..1000], TermBlocks::Plain);
    let there: Vec<String> = (0..4096).map(|at| id(at * 7_919 % DOC_COUNT)).collect();
    let absent: Vec<String> = (0..4096).map(|at| id(DOC_COUNT + at)).collect();
    for (name, asked) in [("there", &there), ("absent", &absent)] {
        let mut next = asked.iter().cycle();
        criterion.bench_function(&format!("id: {name}"), |bencher| {
            bencher.iter(|| {
                let id = next.next().expect("cycles");
                black_box(segment.ids().find(id.as_bytes()).expect("sound"))
            });
        });
    }
    let mut next = (0..DOC_COUNT).map(|at| at * 7_919 % DOC_COUNT).cycle();
    criterion.bench_function("id of a document", |bencher| {
        bencher.iter(|| {
            let doc = next.next().expect("cycles");
            black_box(segment.ids().id_of(DocId(doc)).expect("sound"))
        });
    });
}

/// The terms within one and two edits of words, found by leaps.
fn walking(criterion: &mut Criterion, words: &[String]) {
    let segment = segment(words, TermBlocks::Plain);
    let terms = segment.terms(FIELD).expect("written");
    for edits in [1, 2] {
        let dfas: Vec<Dfa> = (0..16)
            .map(|at| levenshtein::automaton(&words[at * 7_919 % words.len()], 0, edits, true))
            .map(|dfa| dfa.expect("short"))
            .collect();
        let mut next = dfas.iter().cycle();
        criterion.bench_function(&format!("terms within {edits} edits"), |bencher| {
            bencher.iter(|| {
                let dfa = next.next().expect("cycles");
                let (mut walk, mut cursor, mut count) = (Walk::default(), terms.cursor(), 0);
                let (mut more, mut target) = (cursor.next().expect("sound"), Vec::new());
                while more {
                    let look = walk.look(dfa, cursor.term(), cursor.shared());
                    count += usize::from(look == Look::Match);
                    more = match look {
                        Look::Fail(_) => {
                            walk.leap(dfa, cursor.term(), &mut target)
                                && cursor.seek_ceil(&target).expect("sound")
                        }
                        Look::Match | Look::Step => cursor.next().expect("sound"),
                    };
                }
                black_box(count)
            });
        });
    }
}

criterion_group!(benches, finding);
criterion_main!(benches);
