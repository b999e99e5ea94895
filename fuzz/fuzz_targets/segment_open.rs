//! Segments from foreign bytes: refused, or read without a panic, and `verify` tells what is wrong.
//!
//! After a first byte of 0 stands a file. Checksums would refuse nearly all that a fuzzer makes of
//! it, so another first byte is a number of documents, and sections follow, around which a file with
//! right checksums is made: a byte for the kind, one for the field, two for the length, the section.
#![no_main]

use base::{DocId, FieldNo, Ord, SegmentId};
use env::Bytes;
use libfuzzer_sys::fuzz_target;
use segment::bkd::{Bounds, DocList, Shape};
use segment::columns::{Pairs, WINDOW, WINDOW_WORDS};
use segment::merge::merge;
use segment::verify::verify;
use segment::{BlockCache, Check, SectionKind, Segment, SegmentWriter};

const ID: SegmentId = SegmentId(1);

fuzz_target!(init: base::hash::fix_seed(), |input: &[u8]| {
    let bytes = match input.split_first() {
        None | Some((0, _)) => input.get(1..).unwrap_or_default().to_vec(),
        Some((&doc_count, sections)) => sealed(u32::from(doc_count), sections),
    };
    let bytes = Bytes::from(bytes);
    let damages = verify(ID, bytes.clone());
    let Ok(segment) = Segment::open(ID, bytes, Check::Lazy) else {
        assert!(!damages.is_empty(), "what cannot be opened is damaged");
        return;
    };
    read(&segment);
    let merged =
        merge(&[(segment, None)], SegmentId(2), None, &mut |_| std::ops::ControlFlow::Continue(()));
    if damages.is_empty() {
        let (bytes, _) = merged.expect("a whole segment is merged");
        assert_eq!(
            verify(SegmentId(2), Bytes::from(bytes)),
            [],
            "a merge of whole segments is whole"
        );
    }
});

/// A file of `doc_count` documents with right checksums around the sections of `input`.
fn sealed(doc_count: u32, mut input: &[u8]) -> Vec<u8> {
    let mut writer = SegmentWriter::new(ID, doc_count);
    while let Some((&[kind, field, low, high], rest)) = input.split_first_chunk::<4>() {
        let kind = SectionKind::ALL[usize::from(kind) % SectionKind::ALL.len()];
        let field = FieldNo(u32::from(field) % 20);
        let len = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (section, rest) = rest.split_at(len);
        if kind != SectionKind::Meta && writer.section(kind, field).is_none() {
            writer.put(kind, field, section);
        }
        input = rest;
    }
    writer.seal().expect("in memory")
}

/// Reads in all ways, and looks at nothing.
fn read(segment: &Segment) {
    let mut cache = BlockCache::new(1 << 20);
    let docs = (0..segment.doc_count().min(300)).map(DocId);
    for field in segment.fields().map(|field| field.number()) {
        if let Some(terms) = segment.terms(field) {
            let _ = terms.find(b"a", &mut cache);
        }
        if let Some(column) = segment.numeric(field) {
            let mut values = Box::new([0; WINDOW as usize]);
            column.fill(0, &mut values, &mut [0; WINDOW_WORDS]);
            column.pairs(0, &mut Pairs::default());
            column.matching(0, &(0..=9), &mut [0; WINDOW_WORDS]);
            docs.clone().for_each(|doc| column.values(doc, &mut Vec::new()));
        }
        if let Some(column) = segment.ordinals(field) {
            let mut terms = column.terms();
            for ord in docs.clone().filter_map(|doc| column.last(doc)).chain([Ord(0)]) {
                let _ = terms.term(ord);
            }
            let _ = terms.lookup(b"a");
        }
        if let Some(column) = segment.binary(field) {
            let mut reader = column.reader();
            docs.clone().for_each(|doc| drop(reader.get(doc)));
        }
        if let Some(tree) = segment.points(field)
            && tree.shape() == Shape::LONG
        {
            let _ = tree.visit(&Bounds::longs(-9..=9), &mut DocList::default());
        }
    }
    let _ = segment.ids().find(b"1");
    if let Some(stored) = segment.stored() {
        let mut reader = stored.reader();
        docs.for_each(|doc| drop(reader.get(doc)));
    }
    let _ = segment.fault();
}
