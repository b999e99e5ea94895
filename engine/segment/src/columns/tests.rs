//! Columns against the plainest model: a map from document to its values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{DocId, FieldNo, Ord, SegmentId};
use env::Bytes;
use proptest::prelude::*;

use super::*;
use crate::bytes::bitmap;
use crate::docmap::DocMap;
use crate::error::{Error, Result};
use crate::footer::{self, FileKind};
use crate::live::Live;
use crate::section::{Check, File, Missing};
use crate::steps::Steps;
use crate::toc::SectionKind;
use crate::writer::{SegmentWriter, TermBlocks};

const FIELD: FieldNo = FieldNo(20);

/// Values by document, those of one document rising.
type Model = BTreeMap<u32, Vec<i64>>;

/// What a writer takes.
fn flat(model: &Model) -> Vec<(DocId, i64)> {
    let docs = model.iter();
    docs.flat_map(|(&doc, values)| values.iter().map(move |&value| (DocId(doc), value))).collect()
}

/// A segment of `doc_count` documents that `write` writes.
fn sealed(doc_count: u32, write: impl FnOnce(&mut SegmentWriter)) -> Bytes {
    let mut writer = SegmentWriter::new(SegmentId(1), doc_count).merged(1, TermBlocks::Zstd);
    write(&mut writer);
    Bytes::from(writer.seal().unwrap())
}

fn open(bytes: Bytes) -> Arc<File> {
    Arc::new(File::open(bytes, Check::Full).unwrap())
}

fn numeric(model: &Model, doc_count: u32) -> Numeric {
    let file = open(sealed(doc_count, |writer| writer.numeric(FIELD, &flat(model))));
    Numeric::open(&file, FIELD).unwrap().unwrap()
}

/// The damages that `verify` tells.
fn damages(verify: impl FnOnce(&mut dyn FnMut(Error))) -> Vec<Error> {
    let mut damages = Vec::new();
    verify(&mut |error| damages.push(error));
    damages
}

/// All that a column of numbers promises.
fn check_numeric(column: &Numeric, model: &Model, doc_count: u32) {
    assert_eq!(damages(|damage| column.verify(damage)), []);
    let all: Vec<i64> = model.values().flatten().copied().collect();
    assert_eq!(column.doc_count() as usize, model.len());
    assert_eq!(column.value_count() as usize, all.len());
    assert_eq!(column.is_single(), model.values().all(|values| values.len() == 1));
    assert_eq!(column.is_dense(), model.len() as u32 == doc_count);
    assert_eq!(Some(column.min()), all.iter().copied().min());
    assert_eq!(Some(column.max()), all.iter().copied().max());
    let mut cursor = column.cursor();
    for doc in (0..doc_count + 2).map(DocId) {
        let expected = model.get(&doc.get());
        let first = expected.map(|values| values[0]);
        let last = expected.map(|values| values[values.len() - 1]);
        assert_eq!((column.first(doc), column.last(doc)), (first, last), "document {doc}");
        assert_eq!((cursor.first(doc), cursor.last(doc)), (first, last), "document {doc}");
        let mut values = Vec::new();
        column.values(doc, &mut values);
        assert_eq!(&values, expected.unwrap_or(&Vec::new()));
        assert!(cursor.values(doc).eq(values));
    }
    for window in 0..doc_count.div_ceil(WINDOW) {
        check_window(column, model, window);
    }
}

/// All that a window promises.
fn check_window(column: &Numeric, model: &Model, window: u32) {
    let start = window * WINDOW;
    let docs: Vec<_> = model.range(start..start + WINDOW).collect();
    let zone = column.zone(window);
    assert_eq!(zone.doc_count as usize, docs.len());
    let mut expected_bits = [0u64; WINDOW_WORDS];
    for (doc, _) in &docs {
        let place = **doc - start;
        expected_bits[place as usize / 64] |= 1 << (place % 64);
    }
    let mut values = Box::new([-77i64; WINDOW as usize]);
    let mut bits = [u64::MAX; WINDOW_WORDS];
    column.fill(window, &mut values, &mut bits);
    assert_eq!(bits, expected_bits, "a fill sets the bits anew");
    for place in 0..WINDOW {
        let expected = model.get(&(start + place)).map_or(-77, |values| values[0]);
        assert_eq!(values[place as usize], expected);
    }
    column.fill_last(window, &mut values, &mut bits);
    for (doc, expected) in &docs {
        assert_eq!(values[(**doc - start) as usize], expected[expected.len() - 1]);
    }
    let mut bits = [0; WINDOW_WORDS];
    column.presence(window, &mut bits);
    assert_eq!(bits, expected_bits);
    let mut pairs = Pairs::default();
    column.pairs(window, &mut pairs);
    let found = pairs.places.iter().map(|&place| start + u32::from(place)).zip(pairs.values);
    let expected = docs.iter().flat_map(|(doc, values)| values.iter().map(|value| (**doc, *value)));
    assert!(found.eq(expected));
    for range in [zone.min..=zone.max, zone.min + 1..=zone.max, -3..=3, 100..=i64::MAX] {
        let mut bits = [0; WINDOW_WORDS];
        column.matching(window, &range, &mut bits);
        let found: BTreeSet<u32> = bitmap::ones(&bits).map(|place| start + place).collect();
        let expected = docs.iter().filter(|doc| doc.1.iter().any(|value| range.contains(value)));
        assert_eq!(found, expected.map(|doc| *doc.0).collect(), "{range:?}");
    }
}

/// A segment's size and values for some of its documents.
fn models() -> impl Strategy<Value = (u32, Model)> {
    let doc_count = prop_oneof![1u32..300, 4000u32..4200, 8190u32..8200];
    (doc_count, 1usize..4, any::<bool>(), 0u8..3).prop_flat_map(
        |(doc_count, most, wide, density)| {
            let value = if wide { any::<i64>().boxed() } else { (-5i64..40).boxed() };
            let values = prop::collection::vec(value, 1..=most).prop_map(|mut values| {
                values.sort_unstable();
                values
            });
            let count = match density {
                0 => 1..10usize,
                1 => 1..(doc_count as usize).min(500) + 1,
                _ => doc_count as usize..doc_count as usize + 1,
            };
            (Just(doc_count), prop::collection::vec((0..doc_count, values), count), Just(density))
                .prop_map(|(doc_count, docs, density)| {
                    let mut model: Model = docs.iter().cloned().collect();
                    if density == 2 {
                        // Every document has a value.
                        model = (0..doc_count).zip(docs.into_iter().map(|doc| doc.1)).collect();
                    }
                    (doc_count, model)
                })
        },
    )
}

/// Two segments' documents as one, without the dead of the second.
fn merged_model<V: Clone>(map: &DocMap, inputs: &[&BTreeMap<u32, V>]) -> BTreeMap<u32, V> {
    let mut merged = BTreeMap::new();
    for (number, input) in inputs.iter().enumerate() {
        for (&doc, values) in *input {
            if let Some(doc) = map.new_doc(number, DocId(doc)) {
                merged.insert(doc.get(), values.clone());
            }
        }
    }
    merged
}

/// The map of two segments of these sizes, with `dead` documents in the second.
fn two(first: u32, second: u32, dead: &[u32]) -> DocMap {
    let live = Live::all(second).without(dead.iter().map(|doc| DocId(doc % second)));
    DocMap::new([(first, None), (second, Some(Arc::new(live)))]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_column_is_a_map_of_values((doc_count, model) in models()) {
        check_numeric(&numeric(&model, doc_count), &model, doc_count);
    }

    #[test]
    fn a_merged_column_is_the_map_of_kept_documents(
        (first_docs, first) in models(), (second_docs, second) in models(),
        dead in prop::collection::vec(any::<u32>(), 0..300),
    ) {
        let map = two(first_docs, second_docs, &dead);
        let columns = [numeric(&first, first_docs), numeric(&second, second_docs)];
        let inputs = [(0, &columns[0]), (1, &columns[1])];
        let expected = merged_model(&map, &[&first, &second]);
        let bytes = sealed(map.doc_count(), |writer| {
            merge::merge_numeric(writer, FIELD, &inputs, &map, &mut Steps::unwatched()).unwrap();
        });
        let merged = Numeric::open(&open(bytes), FIELD).unwrap();
        match merged {
            Some(merged) => check_numeric(&merged, &expected, map.doc_count()),
            None => prop_assert!(expected.is_empty()),
        }
    }

    #[test]
    fn a_column_of_terms_is_a_map_of_terms((doc_count, model) in models()) {
        let model = termed(&model);
        check_ordinals(&ordinals(&model, doc_count), &model, doc_count);
    }

    #[test]
    fn a_merged_column_of_terms_is_the_map_of_kept_documents(
        (first_docs, first) in models(), (second_docs, second) in models(),
        dead in prop::collection::vec(any::<u32>(), 0..300),
    ) {
        let (first, second) = (termed(&first), termed(&second));
        let map = two(first_docs, second_docs, &dead);
        let columns = [ordinals(&first, first_docs), ordinals(&second, second_docs)];
        let inputs = [(0, &columns[0]), (1, &columns[1])];
        let expected = merged_model(&map, &[&first, &second]);
        let bytes = sealed(map.doc_count(), |writer| {
            merge::merge_ordinals(writer, FIELD, &inputs, &map, &mut Steps::unwatched()).unwrap();
        });
        match Ordinals::open(&open(bytes), FIELD).unwrap() {
            Some(merged) => check_ordinals(&merged, &expected, map.doc_count()),
            None => prop_assert!(expected.is_empty()),
        }
    }

    #[test]
    fn a_column_of_strings_is_a_map_of_strings(
        (first_docs, first) in models(), (second_docs, second) in models(),
        dead in prop::collection::vec(any::<u32>(), 0..300),
    ) {
        let string = |values: &Vec<i64>| format!("{values:?}").into_bytes();
        let strings = |model: &Model| -> BTreeMap<u32, Vec<u8>> {
            model.iter().map(|(&doc, values)| (doc, string(values))).collect()
        };
        let (first, second) = (strings(&first), strings(&second));
        let column = |model: &BTreeMap<u32, Vec<u8>>, doc_count| {
            let docs = model.iter().map(|(&doc, string)| (DocId(doc), string.as_slice()));
            let bytes = sealed(doc_count, |writer| writer.binary(FIELD, docs));
            Binary::open(&open(bytes), FIELD).unwrap().unwrap()
        };
        let columns = [column(&first, first_docs), column(&second, second_docs)];
        check_binary(&columns[0], &first, first_docs);
        let map = two(first_docs, second_docs, &dead);
        let inputs = [(0, &columns[0]), (1, &columns[1])];
        let expected = merged_model(&map, &[&first, &second]);
        let bytes = sealed(map.doc_count(), |writer| {
            merge::merge_binary(writer, FIELD, &inputs, &map, &mut Steps::unwatched()).unwrap();
        });
        match Binary::open(&open(bytes), FIELD).unwrap() {
            Some(merged) => check_binary(&merged, &expected, map.doc_count()),
            None => prop_assert!(expected.is_empty()),
        }
    }

    #[test]
    fn damaged_columns_with_right_checksums_never_panic(
        (doc_count, model) in models(),
        harm in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..6),
    ) {
        let terms = termed(&model);
        let file = open(sealed(doc_count, |writer| {
            writer.numeric(FIELD, &flat(&model));
            write_ordinals(writer, &terms);
            let strings = terms.iter().map(|(&doc, terms)| (DocId(doc), terms[0].as_slice()));
            writer.binary(FIELD, strings);
        }));
        // The sections of the file, harmed, in a new file whose checksums are right.
        let bytes = sealed(doc_count, |writer| {
            for entry in file.entries().iter().filter(|entry| entry.field == FIELD) {
                let section = file.section(entry.kind, FIELD).unwrap();
                let mut bytes = section.all().unwrap().to_vec();
                for (at, byte, head) in &harm {
                    if entry.kind.resident() == *head && !bytes.is_empty() {
                        let at = at.index(bytes.len());
                        bytes[at] = *byte;
                    }
                }
                writer.put(entry.kind, FIELD, &bytes);
            }
        });
        let file = open(bytes);
        let map = DocMap::new([(doc_count, None)]).unwrap();
        if let Ok(Some(column)) = Numeric::open(&file, FIELD) {
            read_all(&column, doc_count);
            let mut writer = SegmentWriter::new(SegmentId(2), doc_count);
            let _ = merge::merge_numeric(&mut writer, FIELD, &[(0, &column)], &map, &mut Steps::unwatched());
        }
        if let Ok(Some(column)) = Ordinals::open(&file, FIELD) {
            let _ = damages(|damage| column.verify(damage));
            let mut ords = Box::new([0; WINDOW as usize]);
            column.fill(0, &mut ords, &mut [0; WINDOW_WORDS]);
            assert!(ords.iter().all(|&ord| ord < column.term_count()));
            let mut terms = column.terms();
            for ord in 0..column.term_count().min(1000) {
                let _ = terms.term(Ord(ord));
            }
            let _ = terms.lookup(b"term 7");
            let mut writer = SegmentWriter::new(SegmentId(2), doc_count);
            let steps = &mut Steps::unwatched();
            let _ = merge_ordinals_if_sorted(&mut writer, &column, &map, steps);
        }
        if let Ok(Some(column)) = Binary::open(&file, FIELD) {
            let _ = damages(|damage| column.verify(damage));
            let mut reader = column.reader();
            for doc in (0..doc_count).step_by(97) {
                let _ = reader.get(DocId(doc));
            }
        }
    }
}

/// Merges one column.
fn merge_ordinals_if_sorted(
    writer: &mut SegmentWriter,
    column: &Ordinals,
    map: &DocMap,
    steps: &mut Steps<'_>,
) -> Result<()> {
    merge::merge_ordinals(writer, FIELD, &[(0, column)], map, steps)
}

/// Reads a column in every way, and looks at nothing.
fn read_all(column: &Numeric, doc_count: u32) {
    let _ = damages(|damage| column.verify(damage));
    let mut values = Box::new([0; WINDOW as usize]);
    let mut bits = [0; WINDOW_WORDS];
    let mut pairs = Pairs::default();
    for window in 0..doc_count.div_ceil(WINDOW) {
        column.fill(window, &mut values, &mut bits);
        column.fill_last(window, &mut values, &mut bits);
        column.pairs(window, &mut pairs);
        column.matching(window, &(0..=10), &mut bits);
    }
    let mut found = Vec::new();
    for doc in (0..doc_count).step_by(61).map(DocId) {
        column.values(doc, &mut found);
        let _ = (column.first(doc), column.last(doc));
    }
}

/// Terms by document, those of one document rising and different.
type Terms = BTreeMap<u32, Vec<Vec<u8>>>;

/// Numbers as terms whose order is another than the numbers'; some share long prefixes.
fn termed(model: &Model) -> Terms {
    let term = |value: &i64| match value % 3 {
        0 => format!("term {value}").into_bytes(),
        1 => format!("a long prefix that many terms share, then {value}").into_bytes(),
        _ => value.to_le_bytes().to_vec(),
    };
    let terms = |values: &Vec<i64>| {
        let terms: BTreeSet<Vec<u8>> = values.iter().map(term).collect();
        terms.into_iter().collect()
    };
    model.iter().map(|(&doc, values)| (doc, terms(values))).collect()
}

/// The different terms of all documents, rising.
fn distinct(terms: &Terms) -> Vec<Vec<u8>> {
    let all: BTreeSet<&Vec<u8>> = terms.values().flatten().collect();
    all.into_iter().cloned().collect()
}

fn write_ordinals(writer: &mut SegmentWriter, terms: &Terms) {
    let all = distinct(terms);
    let docs: Vec<(DocId, Ord)> = terms
        .iter()
        .flat_map(|(&doc, terms)| {
            let ord = |term| Ord(all.binary_search(term).unwrap() as u32);
            terms.iter().map(|term| (DocId(doc), ord(term))).collect::<Vec<_>>()
        })
        .collect();
    writer.ordinals(FIELD, all.iter().map(Vec::as_slice), &docs).unwrap();
}

fn ordinals(terms: &Terms, doc_count: u32) -> Ordinals {
    let file = open(sealed(doc_count, |writer| write_ordinals(writer, terms)));
    Ordinals::open(&file, FIELD).unwrap().unwrap()
}

/// All that a column of terms promises.
fn check_ordinals(column: &Ordinals, model: &Terms, doc_count: u32) {
    assert_eq!(damages(|damage| column.verify(damage)), []);
    let all = distinct(model);
    assert_eq!(column.term_count() as usize, all.len());
    assert_eq!(column.doc_count() as usize, model.len());
    let mut terms = column.terms();
    for (rank, term) in all.iter().enumerate() {
        assert_eq!(terms.term(Ord(rank as u32)).unwrap(), term);
    }
    // Falling ranks, and terms that are there, between two, below and above all.
    for (rank, term) in all.iter().enumerate().rev().step_by(7) {
        assert_eq!(terms.term(Ord(rank as u32)).unwrap(), term);
        assert_eq!(terms.lookup(term), Ok(Ok(Ord(rank as u32))));
        let mut above = term.clone();
        above.push(0);
        let next = all.binary_search(&above).unwrap_err();
        assert_eq!(terms.lookup(&above), Ok(Err(Ord(next as u32))));
    }
    assert_eq!(terms.lookup(b""), Ok(Err(Ord(0))));
    assert_eq!(terms.lookup(&[255; 9]), Ok(Err(Ord(all.len() as u32))));
    for doc in 0..doc_count {
        let mut found = Vec::new();
        column.values(DocId(doc), &mut found);
        let expected: Vec<Ord> = model.get(&doc).map_or(Vec::new(), |terms| {
            terms.iter().map(|term| Ord(all.binary_search(term).unwrap() as u32)).collect()
        });
        assert_eq!(found, expected);
        assert_eq!(column.first(DocId(doc)), expected.first().copied());
        assert_eq!(column.last(DocId(doc)), expected.last().copied());
    }
    let mut ords = Box::new([0; WINDOW as usize]);
    let mut bits = [0; WINDOW_WORDS];
    let mut pairs = OrdPairs::default();
    for window in 0..doc_count.div_ceil(WINDOW) {
        column.fill(window, &mut ords, &mut bits);
        column.pairs(window, &mut pairs);
        let firsts = bitmap::ones(&bits).map(|place| (place as u16, ords[place as usize]));
        let mut from_pairs: Vec<(u16, u32)> =
            pairs.places.iter().copied().zip(pairs.ords.iter().copied()).collect();
        from_pairs.dedup_by_key(|pair| pair.0);
        assert!(firsts.eq(from_pairs));
        let mut matching = [0; WINDOW_WORDS];
        column.matching(window, Ord(0)..=Ord(0), &mut matching);
        let with_first = pairs.ords.iter().filter(|&&ord| ord == 0).count();
        assert_eq!(bitmap::count(&matching) as usize, with_first);
    }
}

/// All that a column of strings promises.
fn check_binary(column: &Binary, model: &BTreeMap<u32, Vec<u8>>, doc_count: u32) {
    assert_eq!(damages(|damage| column.verify(damage)), []);
    assert_eq!(column.doc_count() as usize, model.len());
    let mut reader = column.reader();
    for doc in 0..doc_count + 2 {
        assert_eq!(reader.get(DocId(doc)), Ok(model.get(&doc).map(Vec::as_slice)));
    }
    let mut bits = [0; WINDOW_WORDS];
    column.presence(0, &mut bits).unwrap();
    assert_eq!(bitmap::count(&bits) as usize, model.range(..WINDOW).count());
}

#[test]
fn sequence_numbers_of_a_sealed_buffer_take_a_few_bytes_a_window() {
    let model: Model = (0..10_000).map(|doc| (doc, vec![i64::from(doc) + 77])).collect();
    let file = open(sealed(10_000, |writer| writer.numeric(FIELD, &flat(&model))));
    let body = file.section(SectionKind::NumericBody, FIELD).unwrap();
    assert_eq!(body.len(), 3 * 18);
}

#[test]
fn windows_outside_a_range_are_never_read() {
    let model: Model = (0..10_000).map(|doc| (doc, vec![i64::from(doc)])).collect();
    let bytes = sealed(10_000, |writer| writer.numeric(FIELD, &flat(&model)));
    let file = Arc::new(File::missing_once(bytes).unwrap());
    let column = Numeric::open(&file, FIELD).unwrap().unwrap();
    assert_eq!(column.windows_touching(5000..=5001).collect::<Vec<_>>(), [1]);
    // Nothing was fetched, so touching a byte of the body would be an assertion.
    let mut bits = [0; WINDOW_WORDS];
    column.matching(0, &(5000..=5001), &mut bits);
    assert_eq!(bits, [0; WINDOW_WORDS]);
    let mut missing = Missing::new();
    column.need(1, &mut missing).unwrap();
    assert!(!missing.is_empty());
    missing.fetch();
    column.matching(1, &(5000..=5001), &mut bits);
    assert_eq!(bitmap::ones(&bits).collect::<Vec<_>>(), [5000 - WINDOW, 5001 - WINDOW]);
}

#[test]
fn terms_and_strings_are_read_after_their_pages_were_named() {
    let model: Model = (0..9000).map(|doc| (doc, vec![i64::from(doc)])).collect();
    let terms = termed(&model);
    let bytes = sealed(9000, |writer| {
        write_ordinals(writer, &terms);
        let strings = terms.iter().map(|(&doc, terms)| (DocId(doc), terms[0].as_slice()));
        writer.binary(FIELD, strings);
    });
    // Reading a page that was not named and fetched is an assertion of such a file.
    let file = Arc::new(File::missing_once(bytes).unwrap());
    let column = Ordinals::open(&file, FIELD).unwrap().unwrap();
    let mut missing = Missing::new();
    column.need(2, &mut missing).unwrap();
    missing.fetch();
    let ord = column.first(DocId(8999)).unwrap();
    let mut dictionary = column.terms();
    dictionary.need(ord, &mut missing).unwrap();
    missing.fetch();
    assert_eq!(dictionary.term(ord).unwrap(), terms[&8999][0]);
    dictionary.need_lookup(b"term 6", &mut missing).unwrap();
    missing.fetch();
    assert!(dictionary.lookup(b"term 6").unwrap().is_ok());
    let strings = Binary::open(&file, FIELD).unwrap().unwrap();
    strings.need(1, &mut missing).unwrap();
    missing.fetch();
    assert_eq!(strings.reader().get(DocId(5000)).unwrap(), Some(terms[&5000][0].as_slice()));
}

#[test]
fn a_damaged_window_has_no_values_and_the_file_says_why() {
    let model: Model = (0..100).map(|doc| (doc, vec![i64::from(doc * doc % 31)])).collect();
    let bytes = sealed(100, |writer| writer.numeric(FIELD, &flat(&model)));
    let file = File::open(bytes.clone(), Check::Full).unwrap();
    let entry = file.entries().iter().find(|entry| entry.kind == SectionKind::NumericBody);
    let mut bad = bytes.to_vec();
    bad[entry.unwrap().offset as usize + 20] ^= 1;
    // The head shares the page here, so opening sees it; a long column would see it when read.
    let file = Arc::new(File::open(Bytes::from(bad), Check::Lazy).unwrap());
    assert!(Numeric::open(&file, FIELD).is_err());
    assert!(matches!(file.fault(), Some(Error::Checksum { .. })));
}

/// Long terms stood whole in the resident head: all of them, where a block holds one.
#[test]
fn keys_of_blocks_are_as_short_as_they_may_be_and_every_term_is_found() {
    let term = |at: u32| [at.to_be_bytes().as_slice(), &[b'x'; 10_000]].concat();
    let terms: Terms = (0..200).map(|doc| (doc, vec![term(doc * 10)])).collect();
    let bytes = sealed(200, |writer| write_ordinals(writer, &terms));
    assert_eq!(footer::open(&bytes, FileKind::Segment).unwrap().version, footer::SEGMENT_VERSION);
    let file = open(bytes);
    let head = file.section(SectionKind::OrdinalHead, FIELD).unwrap().len();
    assert!(head < 10_004 + 200 * 40, "{head} bytes");
    let mut dictionary = Ordinals::open(&file, FIELD).unwrap().unwrap().terms();
    for at in 0..2000 {
        // The term itself, what is below and above it, and what a key may be.
        let own = dictionary.lookup(&term(at)).unwrap();
        let next = Ord(at.div_ceil(10));
        assert_eq!(own, if at % 10 == 0 { Ok(next) } else { Err(next) }, "{at}");
        let below = at.to_be_bytes();
        assert_eq!(dictionary.lookup(&below).unwrap(), Err(next), "{at}");
        let above = [term(at), vec![b'x']].concat();
        assert_eq!(dictionary.lookup(&above).unwrap(), Err(Ord(at / 10 + 1)), "{at}");
    }
    assert_eq!(dictionary.lookup(b"").unwrap(), Err(Ord(0)));
}

#[test]
fn a_term_longer_than_lucenes_is_refused() {
    let term = vec![b'x'; dictionary::TERM_BYTES_MAX + 1];
    let mut writer = SegmentWriter::new(SegmentId(1), 1);
    let answer = writer.ordinals(FIELD, [term.as_slice()], &[(DocId(0), Ord(0))]);
    assert!(matches!(answer, Err(Error::Limit { .. })));
    let longest = &term[1..];
    let mut writer = SegmentWriter::new(SegmentId(1), 1);
    assert_eq!(writer.ordinals(FIELD, [longest], &[(DocId(0), Ord(0))]), Ok(()));
}

/// Four documents of 92 MB made a merge fail, and their shard with it.
#[test]
fn a_window_too_long_to_be_compressed_lies_open() {
    let string = |doc: u32| vec![b'a' + (doc % 7) as u8; 1_000];
    let model: BTreeMap<u32, Vec<u8>> = (0..5_000).map(|doc| (doc, string(doc))).collect();
    let column = |compressed_max| {
        let bytes = sealed(5_000, |writer| {
            let mut body = Vec::new();
            let mut column = binary::BinaryWriter::new(5_000, TermBlocks::Zstd, 0);
            column.compressed_max = compressed_max;
            for (&doc, string) in &model {
                column.push(DocId(doc), string, &mut body);
            }
            let head = column.finish(&mut body).expect("strings");
            writer.put(SectionKind::BinaryBody, FIELD, &body);
            writer.put(SectionKind::BinaryHead, FIELD, &head);
        });
        (bytes.len(), Binary::open(&open(bytes), FIELD).unwrap().unwrap())
    };
    // The first window is beyond it, the second is not.
    let [(compressed, small), (mixed, large)] = [binary::TEXT_BYTES_MAX, 1_000_000].map(column);
    assert!(mixed > compressed + 4_000_000, "{mixed}, {compressed}");
    check_binary(&small, &model, 5_000);
    check_binary(&large, &model, 5_000);
    let bytes = sealed(5_000, |writer| {
        let map = DocMap::new([(5_000, None)]).unwrap();
        let inputs = [(0, &large)];
        merge::merge_binary(writer, FIELD, &inputs, &map, &mut Steps::unwatched()).unwrap();
    });
    check_binary(&Binary::open(&open(bytes), FIELD).unwrap().unwrap(), &model, 5_000);
}
