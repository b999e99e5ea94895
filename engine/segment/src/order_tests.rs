//! Sorted segments: written, read, merged, checked.

use std::ops::ControlFlow;

use base::{DocId, SegmentId};
use env::Bytes;
use proptest::prelude::*;

use super::*;
use crate::live::Live;
use crate::merge::merge;
use crate::section::Check;
use crate::terms::{Posting, TermOptions, TermSource};
use crate::verify::verify;

const NUMBER: FieldNo = FieldNo(16);
const WORD: FieldNo = FieldNo(17);

fn key(field: FieldNo, column: SortColumn) -> SortKey {
    SortKey { field, column, descending: false, greatest: false, missing_first: false }
}

/// A document: its id, a number, a word.
type Doc = (u32, Option<i64>, Option<u8>);

/// One word with the documents that have it.
struct OneWord<'a> {
    words: Vec<(Vec<u8>, Vec<DocId>)>,
    at: usize,
    next: usize,
    positions: &'a [u32],
}

impl TermSource for OneWord<'_> {
    fn next_term(&mut self) -> Result<Option<&[u8]>> {
        self.at += 1;
        self.next = 0;
        Ok(self.words.get(self.at - 1).map(|(word, _)| word.as_slice()))
    }

    fn next_posting(&mut self) -> Result<Option<Posting<'_>>> {
        let doc = self.words[self.at - 1].1.get(self.next).copied();
        self.next += 1;
        Ok(doc.map(|doc| Posting { doc, freq: 1, positions: self.positions }))
    }
}

/// The file of a segment whose documents are these, in this order.
fn file(id: u64, order: Option<&SortOrder>, docs: &[Doc]) -> Vec<u8> {
    let mut writer = SegmentWriter::new(SegmentId(id), docs.len() as u32);
    if let Some(order) = order {
        writer.order(order);
    }
    let mut ids: Vec<(String, DocId)> =
        docs.iter().zip(0..).map(|(doc, at)| (format!("{:06}", doc.0), DocId(at))).collect();
    ids.sort();
    writer.ids(ids.iter().map(|(id, doc)| (id.as_bytes(), *doc))).expect("rising");
    let numbers: Vec<(DocId, i64)> =
        docs.iter().zip(0..).filter_map(|(doc, at)| Some((DocId(at), doc.1?))).collect();
    writer.numeric(NUMBER, &numbers);
    let mut words: Vec<u8> = docs.iter().filter_map(|doc| doc.2).collect();
    words.sort_unstable();
    words.dedup();
    let of = |word: u8| docs.iter().zip(0..).filter(move |(doc, _)| doc.2 == Some(word));
    let terms: Vec<(Vec<u8>, Vec<DocId>)> = words
        .iter()
        .map(|word| (vec![*word], of(*word).map(|(_, at)| DocId(at)).collect()))
        .collect();
    if !terms.is_empty() {
        let options = TermOptions { freqs: true, positions: true };
        let mut source = OneWord { words: terms, at: 0, next: 0, positions: &[3] };
        writer.terms(WORD, options, &mut source).expect("terms");
        let rank = |word: u8| words.binary_search(&word).expect("one of them") as u32;
        let ords: Vec<(DocId, base::Ord)> = docs
            .iter()
            .zip(0..)
            .filter_map(|(doc, at)| Some((DocId(at), base::Ord(rank(doc.2?)))))
            .collect();
        let bytes: Vec<[u8; 1]> = words.iter().map(|word| [*word]).collect();
        writer.ordinals(WORD, bytes.iter().map(|word| &word[..]), &ords).expect("a column");
    }
    let sources: Vec<String> = docs.iter().map(|doc| format!("{doc:?}")).collect();
    writer.stored(sources.iter().map(String::as_bytes)).expect("sources");
    writer.seal().expect("a file")
}

fn open(id: u64, file: &[u8]) -> Segment {
    assert_eq!(verify(SegmentId(id), Bytes::from(file.to_vec())), []);
    Segment::open(SegmentId(id), Bytes::from(file.to_vec()), Check::Full).expect("opens")
}

/// What the plainest reading of the order says.
fn in_order(keys: &[SortKey], mut docs: Vec<Doc>) -> Vec<Doc> {
    docs.sort_by(|one, other| {
        keys.iter()
            .map(|key| {
                let value = |doc: &Doc| match key.column {
                    SortColumn::Numbers => doc.1,
                    SortColumn::Terms => doc.2.map(i64::from),
                };
                let (one, other) = (value(one), value(other));
                match (one, other) {
                    (Some(one), Some(other)) if key.descending => other.cmp(&one),
                    (Some(one), Some(other)) => one.cmp(&other),
                    (None, None) => std::cmp::Ordering::Equal,
                    (None, Some(_)) if key.missing_first => std::cmp::Ordering::Less,
                    (None, Some(_)) => std::cmp::Ordering::Greater,
                    (Some(_), None) if key.missing_first => std::cmp::Ordering::Greater,
                    (Some(_), None) => std::cmp::Ordering::Less,
                }
            })
            .reduce(std::cmp::Ordering::then)
            .expect("a key at least")
    });
    docs
}

#[test]
fn the_example_of_the_head_holds() {
    let key = SortKey { descending: true, greatest: true, ..key(NUMBER, SortColumn::Numbers) };
    let order = SortOrder::new([key]).expect("a key");
    let segment = open(1, &file(1, Some(&order), &[(0, Some(2), None), (1, Some(1), None)]));
    let section = segment.section(SectionKind::Order, FieldNo(0)).expect("sorted");
    assert_eq!(section.all().expect("sound"), [0x10, 0, 0, 0, 0, 3, 0, 0]);
    assert_eq!(segment.order(), Some(&order));
}

#[test]
fn documents_that_stand_otherwise_are_found() {
    let order = SortOrder::new([key(NUMBER, SortColumn::Numbers)]).expect("a key");
    let rotten = file(1, Some(&order), &[(0, Some(2), None), (1, Some(1), None)]);
    let damages = verify(SegmentId(1), Bytes::from(rotten.clone()));
    assert_eq!(damages.len(), 1, "{damages:?}");
    assert!(damages[0].to_string().contains("order of the segment"), "{}", damages[0]);
    let segment = Segment::open(SegmentId(1), Bytes::from(rotten), Check::Full).expect("opens");
    let sound = open(2, &file(2, Some(&order), &[(2, Some(1), None)]));
    let merged = merge(&[(segment, None), (sound, None)], SegmentId(3), None, &mut |_| {
        ControlFlow::Continue(())
    });
    let Err(Error::Input { segment: SegmentId(1), error }) = merged else { panic!("{merged:?}") };
    assert!(matches!(*error, Error::Malformed { section: SectionKind::Order, .. }));
}

#[test]
fn hostile_keys_are_refused() {
    for bytes in [
        vec![],
        vec![0x10, 0, 0, 0, 0, 3, 0],
        vec![0x10, 0, 0, 0, 2, 0, 0, 0],
        vec![0x10, 0, 0, 0, 0, 8, 0, 0],
        vec![0x10, 0, 0, 0, 0, 0, 1, 0],
        [0x10, 0, 0, 0, 0, 0, 0, 0].repeat(KEYS_MAX + 1),
    ] {
        let mut writer = SegmentWriter::new(SegmentId(1), 1);
        writer.ids([(&b"a"[..], DocId(0))]).expect("rising");
        writer.put(SectionKind::Order, FieldNo(0), &bytes);
        let file = Bytes::from(writer.seal().expect("a file"));
        assert!(Segment::open(SegmentId(1), file, Check::Full).is_err(), "{bytes:?}");
    }
}

/// One key, by chance.
fn any_key() -> impl Strategy<Value = SortKey> {
    let column = prop_oneof![Just((NUMBER, SortColumn::Numbers)), Just((WORD, SortColumn::Terms)),];
    (column, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |((field, column), descending, greatest, missing_first)| SortKey {
            field,
            column,
            descending,
            greatest,
            missing_first,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Sorted segments merge to a sorted one, whatever dies, and every part of it tells of the same
    /// documents.
    #[test]
    fn sorted_segments_stay_sorted(
        keys in prop::collection::vec(any_key(), 1..3),
        lists in prop::collection::vec(
            prop::collection::vec((prop::option::of(-3i64..3), prop::option::of(b'a'..b'd'), any::<bool>()), 1..40),
            1..5,
        ),
    ) {
        let order = SortOrder::new(keys.clone()).expect("keys");
        let mut inputs = Vec::new();
        let mut expected = Vec::new();
        let mut id = 0;
        for (at, list) in lists.iter().enumerate() {
            let mut dying = Vec::new();
            let docs: Vec<Doc> = list.iter().map(|(number, word, dies)| {
                id += 1;
                if *dies {
                    dying.push(id);
                }
                (id, *number, *word)
            }).collect();
            let docs = in_order(&keys, docs);
            let segment = open(at as u64 + 1, &file(at as u64 + 1, Some(&order), &docs));
            let dead = docs.iter().zip(0..).filter(|(doc, _)| dying.contains(&doc.0));
            let live = Live::all(docs.len() as u32).without(dead.map(|(_, at)| DocId(at)));
            expected.extend(docs.into_iter().filter(|doc| !dying.contains(&doc.0)));
            inputs.push((segment, Some(Arc::new(live))));
        }
        let expected = in_order(&keys, expected);
        let (bytes, map) = merge(&inputs, SegmentId(99), None, &mut |_| ControlFlow::Continue(())).expect("merged");
        prop_assert_eq!(map.doc_count() as usize, expected.len());
        if expected.is_empty() {
            return Ok(());
        }
        let merged = open(99, &bytes);
        prop_assert_eq!(merged.order(), Some(&order));
        let mut stored = merged.stored().expect("sources").reader();
        for (doc, at) in expected.iter().zip(0..) {
            let source = stored.get(DocId(at)).expect("sound").to_vec();
            prop_assert_eq!(String::from_utf8_lossy(&source), format!("{doc:?}"));
            let id = format!("{:06}", doc.0);
            prop_assert_eq!(merged.ids().find(id.as_bytes()).expect("sound"), Some(DocId(at)));
            let number = merged.numeric(NUMBER).and_then(|column| column.first(DocId(at)));
            prop_assert_eq!(number, doc.1);
        }
        // The file that was never merged says the same, byte for byte but for what made it.
        let whole = open(98, &file(98, Some(&order), &expected));
        for kind in [SectionKind::NumericBody, SectionKind::IdBlocks, SectionKind::Postings, SectionKind::Positions] {
            for field in [FieldNo(0), FieldNo::ID, NUMBER, WORD] {
                let bytes = |segment: &Segment| segment.section(kind, field).map(|it| it.all().expect("sound").to_vec());
                prop_assert_eq!(bytes(&merged), bytes(&whole), "{:?} of {}", kind, field);
            }
        }
    }
}
