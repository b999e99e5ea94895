//! The bytes of ids, lengths, terms, postings and positions do not drift.
//!
//! `data/text-2.segment` was written by [`write`] of this very file when the format was at version 2.
//! Files of users look like it: if this test fails, either the change was not meant, or the
//! version in `footer` must rise, and a new golden file be put beside a new name. To write it:
//! `GOLDEN=write cargo test -p corelode-segment --test golden_text`.
//!
//! `data/text-2-rotten.segment` is its corrupt twin: one bit of a posting was turned.

use std::path::PathBuf;

use base::{DocId, FieldNo, SegmentId};
use env::Bytes;
use segment::postings::END;
use segment::writer::TermBlocks;
use segment::{
    BlockCache, Check, Error, Need, Posting, Result, Segment, SegmentWriter, TermOptions,
    TermSource,
};

const ID: SegmentId = SegmentId(42);
const TEXT: FieldNo = FieldNo(16);
const KEYWORD: FieldNo = FieldNo(17);
const DOC_COUNT: u32 = 400;

/// A field: each term with the documents that have it and its positions there.
type Field = Vec<Term>;
type Term = (String, Vec<Doc>);
type Doc = (u32, Vec<u32>);

/// Every form the format has: a term in all documents, in runs, in many, in few, in one.
fn text() -> Field {
    let docs = |wanted: &dyn Fn(u32) -> bool| {
        let docs = (0..DOC_COUNT).filter(|doc| wanted(*doc));
        docs.map(|doc| (doc, (0..1 + doc % 3).map(|at| doc % 7 + at * 2).collect())).collect()
    };
    let mut field = vec![
        ("all".to_owned(), docs(&|_| true)),
        ("even".to_owned(), docs(&|doc| doc % 2 == 0)),
        ("few".to_owned(), docs(&|doc| doc % 50 == 7)),
        ("gap".to_owned(), docs(&|doc| !(200..=390).contains(&doc))),
        ("one".to_owned(), docs(&|doc| doc == 99)),
    ];
    field.extend((0..40).map(|at| (format!("word{at:02}"), docs(&|doc| doc % 40 == at))));
    field
}

fn keyword() -> Field {
    (0..4)
        .map(|at| {
            (format!("k{at}"), (at..DOC_COUNT).step_by(4).map(|doc| (doc, Vec::new())).collect())
        })
        .collect()
}

fn norms() -> Vec<u8> {
    (0..DOC_COUNT).map(|doc| (1 + doc % 60) as u8).collect()
}

fn id(doc: u32) -> String {
    format!("doc-{:03}", doc * 7 % DOC_COUNT)
}

struct Source<'a> {
    terms: std::slice::Iter<'a, Term>,
    docs: std::slice::Iter<'a, Doc>,
}

impl TermSource for Source<'_> {
    fn next_term(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.terms.next().map(|(term, docs)| {
            self.docs = docs.iter();
            term.as_bytes()
        }))
    }

    fn next_posting(&mut self) -> Result<Option<Posting<'_>>> {
        Ok(self.docs.next().map(|(doc, positions)| {
            let freq = positions.len().max(1) as u32;
            Posting { doc: DocId(*doc), freq, positions }
        }))
    }
}

fn write() -> Vec<u8> {
    let source = |field: &'static Field| Source { terms: field.iter(), docs: [].iter() };
    let (text, keyword) = (Box::leak(Box::new(text())), Box::leak(Box::new(keyword())));
    let mut writer = SegmentWriter::new(ID, DOC_COUNT).merged(2, TermBlocks::Zstd);
    let mut ids: Vec<(String, DocId)> = (0..DOC_COUNT).map(|doc| (id(doc), DocId(doc))).collect();
    ids.sort();
    writer.ids(ids.iter().map(|(id, doc)| (id.as_bytes(), *doc))).expect("sorted");
    writer.norms(TEXT, &norms()).expect("a byte for each document");
    writer.terms(TEXT, TermOptions::TEXT, &mut source(text)).expect("in memory");
    writer.terms(KEYWORD, TermOptions::DOCS, &mut source(keyword)).expect("in memory");
    writer.seal().expect("in memory")
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Reads all of a segment; an error where any of it is damaged, else whether it is as written.
fn read(bytes: Vec<u8>, check: Check) -> Result<bool> {
    let segment = Segment::open(ID, Bytes::from(bytes), check)?;
    let mut cache = BlockCache::new(1 << 16);
    let mut is_same = segment.doc_count() == DOC_COUNT;
    for doc in 0..DOC_COUNT {
        let id = id(doc);
        is_same &= segment.ids().find(id.as_bytes())? == Some(DocId(doc));
        is_same &= segment.ids().id_of(DocId(doc))? == Some(id.as_bytes());
    }
    let norms = norms();
    is_same &= segment.norms(TEXT).is_some_and(|found| found.dense() == Some(&norms[..]));
    for (number, field) in [(TEXT, text()), (KEYWORD, keyword())] {
        let Some(terms) = segment.terms(number) else { return Ok(false) };
        for (term, docs) in field {
            let Some(info) = terms.find(term.as_bytes(), &mut cache)? else { return Ok(false) };
            let mut postings = terms.postings(&info, Need::Positions);
            let (mut found, mut at) = (Vec::new(), Vec::new());
            while postings.next() != END {
                postings.positions(&mut at);
                found.push((postings.doc().get(), at.clone()));
            }
            is_same &= found == docs;
            // Bounds are bytes, too.
            for block in 0..postings.block_count() {
                for (doc, positions) in docs.iter().skip(block as usize * 128).take(128) {
                    let has_freqs = terms.options().freqs;
                    let freq = if has_freqs { positions.len() as u32 } else { 1 };
                    let norm = if has_freqs { norms[*doc as usize] } else { 1 };
                    let group = postings.group_of(block);
                    for bound in [postings.block_impacts(block), postings.group_impacts(group)] {
                        is_same &= bound.iter().any(|(best, short)| best >= freq && short <= norm);
                    }
                }
            }
        }
    }
    segment.fault().map_or(Ok(is_same), |error| Err(error.clone()))
}

#[test]
fn bytes_are_those_of_the_golden_file() {
    let path = data("text-2.segment");
    if std::env::var_os("GOLDEN").is_some_and(|what| what == "write") {
        let bytes = write();
        std::fs::write(&path, &bytes).expect("the data folder is writable");
        std::fs::write(data("text-2-rotten.segment"), rotten(bytes)).expect("the same");
    }
    let golden = std::fs::read(path).expect("the golden file lies in the repository");
    let written = write();
    let differs = golden.iter().zip(&written).position(|(a, b)| a != b);
    assert!(golden == written, "first difference at {differs:?} of {}", golden.len());
}

#[test]
fn golden_file_is_read() {
    let golden = std::fs::read(data("text-2.segment")).expect("in the repository");
    assert_eq!(read(golden.clone(), Check::Lazy), Ok(true));
    assert_eq!(read(golden, Check::Full), Ok(true));
}

/// The corrupt twin: a bit in the middle of the postings is another.
fn rotten(mut bytes: Vec<u8>) -> Vec<u8> {
    let segment = Segment::open(ID, Bytes::from(bytes.clone()), Check::Lazy).expect("sound");
    let section = segment.section(segment::SectionKind::Postings, TEXT).expect("written");
    let at = section.entry().offset + section.entry().len / 2;
    bytes[at as usize] ^= 1;
    bytes
}

#[test]
fn corrupt_twin_is_noticed() {
    let twin = std::fs::read(data("text-2-rotten.segment")).expect("in the repository");
    assert!(matches!(read(twin.clone(), Check::Lazy), Err(Error::Checksum { what: "page", .. })));
    assert!(matches!(read(twin, Check::Full), Err(Error::Checksum { what: "body", .. })));
}

#[test]
fn each_turned_byte_is_noticed_or_harmless() {
    let golden = std::fs::read(data("text-2.segment")).expect("in the repository");
    let mut harmless = 0;
    for at in 0..golden.len() {
        let mut bad = golden.clone();
        bad[at] ^= 0x10;
        match read(bad.clone(), Check::Lazy) {
            Ok(is_same) => {
                assert!(is_same, "byte {at} of {} changed an answer", golden.len());
                harmless += 1;
            }
            Err(_) => assert!(read(bad, Check::Full).is_err(), "byte {at}: full sees all"),
        }
    }
    // Zeros between sections, after the page table, and the checksum of the body that lazy opening
    // does not ask for. (All of them are noticed by a full check.)
    assert!(harmless < 150, "{harmless} bytes are not guarded");
}

#[test]
fn each_cut_is_refused() {
    let golden = std::fs::read(data("text-2.segment")).expect("in the repository");
    for len in 0..golden.len() {
        assert!(read(golden[..len].to_vec(), Check::Lazy).is_err());
    }
}
