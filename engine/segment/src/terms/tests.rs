//! Terms, written, looked up, walked and merged, beside a `BTreeMap`.

use std::sync::Arc;

use base::{DocId, SegmentId};
use env::Bytes;
use proptest::prelude::*;

use super::block::{Block, BlockWriter};
use super::model::{FIELD, Model};
use super::*;
use crate::docmap::DocMap;
use crate::error::Error;
use crate::live::Live;
use crate::postings::{END, Need};
use crate::reader::Segment;
use crate::section::{Check, Missing};
use crate::steps::Steps;
use crate::writer::{SegmentWriter, TermBlocks};

fn one_doc_each(terms: &[String]) -> Model {
    let mut model = Model { doc_count: terms.len() as u32, ..Model::default() };
    for (doc, term) in (0u32..).zip(terms) {
        let docs = model.terms.entry(term.clone().into_bytes()).or_default();
        docs.push((doc, vec![doc]));
    }
    model
}

/// What a segment holds of the field, read with cursors alone.
fn read(segment: &Segment) -> Model {
    let mut model = Model { doc_count: segment.doc_count(), ..Model::default() };
    let Some(terms) = segment.terms(FIELD) else { return model };
    let mut cursor = terms.cursor();
    while cursor.next().expect("sound") {
        let mut postings = terms.postings(&cursor.info().expect("sound"), Need::Positions);
        let mut docs = Vec::new();
        while postings.next() != END {
            let mut positions = Vec::new();
            postings.positions(&mut positions);
            docs.push((postings.doc().get(), positions));
        }
        model.terms.insert(cursor.term().to_vec(), docs);
    }
    assert_eq!(segment.fault(), None);
    model
}

#[test]
fn block_lies_as_the_head_says() {
    let mut writer = BlockWriter::new(TermOptions::DOCS);
    let info = |doc| TermInfo {
        doc_freq: 1,
        total_freq: 1,
        single: Some(doc),
        postings: 0,
        postings_len: 0,
        skips: 0,
        positions: 0,
        positions_len: 0,
        impacts: [0; 8],
    };
    writer.add(b"cat", &info(5));
    writer.add(b"catch", &info(7));
    let mut bytes = Vec::new();
    writer.finish(&mut bytes);
    let expected = b"\x02\x00\x06\x00\x0e\x00\x03cat\x03\x02ch\x00\x00\x00\x01\x05\x01\x07";
    assert_eq!(bytes, expected);
    let block = Block::parse(&bytes, TermOptions::DOCS).expect("just written");
    assert_eq!(block.find(b"catch"), Ok(Some(info(7))));
    assert_eq!(block.find(b"cats"), Ok(None));
}

#[test]
fn counts_are_those_of_the_field() {
    let model = Model::made(7, 1000, &[1, 2, 3, 500, 900]);
    let segment = model.segment(1, TermOptions::TEXT, TermBlocks::Plain);
    let terms = segment.terms(FIELD).expect("written");
    let docs = model.terms.values().map(|docs| docs.len() as u64).sum::<u64>();
    let positions = model.terms.values().flatten().map(|(_, at)| at.len() as u64).sum::<u64>();
    assert_eq!(terms.term_count(), model.terms.len() as u64);
    assert_eq!(terms.doc_freq_sum(), docs);
    assert_eq!(terms.term_freq_sum(), positions);
    assert_eq!(terms.doc_count(), 1000, "the first term is everywhere");
    assert_eq!(terms.options(), TermOptions::TEXT);
}

#[test]
fn field_without_terms_leaves_nothing() {
    let model = Model { doc_count: 3, ..Model::default() };
    let segment = model.segment(1, TermOptions::DOCS, TermBlocks::Plain);
    assert!(segment.terms(FIELD).is_none());
    assert_eq!(segment.fields().count(), 1, "that of the facts alone");
}

#[test]
fn longest_terms_fit_and_longer_are_refused() {
    let long = |len: usize, last: u8| {
        let mut term = vec![b'x'; len];
        term.push(last);
        String::from_utf8(term).expect("ascii")
    };
    let terms: Vec<String> = (b'a'..=b'z').map(|last| long(TERM_LEN_MAX - 1, last)).collect();
    let model = one_doc_each(&terms);
    for blocks in [TermBlocks::Plain, TermBlocks::Zstd] {
        let segment = model.segment(1, TermOptions::TEXT, blocks);
        assert_eq!(read(&segment).terms, model.terms);
    }
    let model = one_doc_each(&[long(TERM_LEN_MAX, b'a')]);
    let mut writer = SegmentWriter::new(SegmentId(1), 1);
    let answer = writer.terms(FIELD, TermOptions::DOCS, &mut model.source());
    assert!(matches!(answer, Err(Error::Limit { limit: 32_766, found: 32_767, .. })));
}

#[test]
fn terms_of_a_prefix_stand_together() {
    let terms: Vec<String> = (0..5000).map(|at| format!("{at}")).collect();
    let model = one_doc_each(&terms);
    let segment = model.segment(1, TermOptions::DOCS, TermBlocks::Zstd);
    let mut cursor = segment.terms(FIELD).expect("written").cursor();
    for prefix in ["", "4", "42", "424", "4242", "42424", "x"] {
        let mut found = 0;
        let mut is_there = cursor.seek_ceil(prefix.as_bytes()).expect("sound");
        while is_there && cursor.term().starts_with(prefix.as_bytes()) {
            found += 1;
            is_there = cursor.next().expect("sound");
        }
        assert_eq!(found, terms.iter().filter(|term| term.starts_with(prefix)).count());
    }
}

#[test]
fn cache_stays_within_its_limit() {
    let terms: Vec<String> = (0..20_000).map(|at| format!("word-{at:07}")).collect();
    let model = one_doc_each(&terms);
    let segment = model.segment(1, TermOptions::DOCS, TermBlocks::Zstd);
    let field = segment.terms(FIELD).expect("written");
    let mut cache = BlockCache::new(64 << 10);
    for round in 0..2 {
        for (doc, term) in (0..).zip(&terms) {
            let info = field.find(term.as_bytes(), &mut cache).expect("sound").expect("there");
            assert_eq!(info.single, Some(doc), "round {round}");
            assert!(cache.len_bytes() <= 64 << 10);
        }
    }
    assert!(cache.len_bytes() > 32 << 10, "the limit is made use of");
}

#[test]
fn cached_block_of_a_closed_segment_is_no_other_ones() {
    // Readers are allocated and freed over and over: addresses come again, blocks must not.
    let mut cache = BlockCache::new(1 << 20);
    for round in 0..50u32 {
        let terms: Vec<String> = (0..600).map(|at| format!("{}-{at:04}", round % 7)).collect();
        let segment = one_doc_each(&terms).segment(1, TermOptions::DOCS, TermBlocks::Zstd);
        let field = segment.terms(FIELD).expect("written");
        for other in 0..7 {
            let term = format!("{other}-0100");
            let found = field.find(term.as_bytes(), &mut cache).expect("sound");
            assert_eq!(found.is_some(), other == round % 7);
        }
    }
}

#[test]
fn each_page_misses_once_and_is_named_before() {
    let terms: Vec<String> = (0..9000).map(|at| format!("{}", at * 7919 % 9001)).collect();
    let model = one_doc_each(&terms);
    for blocks in [TermBlocks::Plain, TermBlocks::Zstd] {
        let segment = model.missing_once(TermOptions::DOCS, blocks);
        let field = segment.terms(FIELD).expect("written");
        let mut missing = Missing::new();
        let mut cache = BlockCache::new(1 << 20);
        let mut cursor = field.cursor();
        let mut count = 0;
        for term in model.terms.keys() {
            field.need(term, &mut missing).expect("sound");
            cursor.need_next(&mut missing).expect("sound");
            count += missing.len();
            missing.fetch();
            assert!(field.find(term, &mut cache).expect("sound").is_some());
            assert_eq!(cursor.next(), Ok(true));
            assert_eq!(cursor.term(), term);
        }
        assert!(count > 5, "pages were missing");
        let segment = model.missing_once(TermOptions::DOCS, blocks);
        let mut cursor = segment.terms(FIELD).expect("written").cursor();
        for term in ["", "1", "5000", "8", "99999"] {
            cursor.need(term.as_bytes(), &mut missing).expect("sound");
            missing.fetch();
            let above = model.terms.range(term.as_bytes().to_vec()..).next();
            assert_eq!(cursor.seek_ceil(term.as_bytes()), Ok(above.is_some()));
        }
    }
}

#[test]
fn cancelled_merge_says_so() {
    let terms: Vec<String> = (0..2000).map(|at| format!("{at:06}")).collect();
    let segment = one_doc_each(&terms).segment(1, TermOptions::DOCS, TermBlocks::Plain);
    let map = DocMap::new([(segment.doc_count(), None)]).expect("few");
    let mut watch = |_| std::ops::ControlFlow::Break(());
    let mut steps = Steps::new(1, &mut watch);
    let input = (segment.terms(FIELD).expect("written"), map.input(0));
    let mut merged = MergedTerms::new([input], &mut steps).expect("sound");
    let mut writer = SegmentWriter::new(SegmentId(2), segment.doc_count());
    let answer = writer.terms(FIELD, TermOptions::DOCS, &mut merged);
    assert_eq!(answer, Err(Error::Cancelled));
}

#[test]
fn flipped_bits_end_in_an_error_or_the_same() {
    let model = Model::made(3, 300, &[1, 2, 5, 50, 250, 299]);
    let file = model.file(1, TermOptions::TEXT, TermBlocks::Zstd);
    let mut noticed = 0;
    for at in 0..file.len() {
        let mut bad = file.clone();
        bad[at] ^= 1 << (at % 8);
        let Ok(segment) = Segment::open(SegmentId(1), Bytes::from(bad), Check::Lazy) else {
            noticed += 1;
            continue;
        };
        let walked = (|| {
            let Some(terms) = segment.terms(FIELD) else { return Ok(Model::default()) };
            let mut found = Model::default();
            let mut cursor = terms.cursor();
            while cursor.next()? {
                let mut postings = terms.postings(&cursor.info().expect("sound"), Need::Positions);
                let mut docs = Vec::new();
                while postings.next() != END {
                    let mut positions = Vec::new();
                    postings.positions(&mut positions);
                    docs.push((postings.doc().get(), positions));
                }
                found.terms.insert(cursor.term().to_vec(), docs);
            }
            segment.fault().map_or(Ok(found), |error| Err(error.clone()))
        })();
        match walked {
            Ok(found) => assert_eq!(found.terms, model.terms, "byte {at} of {}", file.len()),
            Err(_) => noticed += 1,
        }
    }
    assert!(noticed * 100 > file.len() * 95, "only padding may be harmless: {noticed}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cursor_moves_as_through_a_sorted_list(
        terms in prop::collection::btree_set("[a-c]{0,7}", 1..900),
        moves in prop::collection::vec((0u8..3, "[a-d]{0,6}", 0usize..8), 1..60),
        zstd: bool,
    ) {
        let terms: Vec<String> = terms.into_iter().collect();
        let blocks = if zstd { TermBlocks::Zstd } else { TermBlocks::Plain };
        let segment = one_doc_each(&terms).segment(1, TermOptions::DOCS, blocks);
        let mut cursor = segment.terms(FIELD).expect("written").cursor();
        let mut before = String::new();
        let mut at = terms.len();
        for (kind, target, len) in moves {
            let found = if kind == 0 || at == terms.len() {
                at = terms.partition_point(|term| *term < target);
                cursor.seek_ceil(target.as_bytes())
            } else if kind == 1 {
                at += 1;
                cursor.next()
            } else {
                // Passes over some of those that share so many bytes, and no other.
                let len = len.min(terms[at].len());
                let most = at + 1 + terms[at + 1..].iter().take_while(|term| term.as_bytes().get(..len) == Some(&terms[at].as_bytes()[..len])).count();
                let found = cursor.next_apart(len);
                let now = terms.partition_point(|term| term.as_bytes() < cursor.term());
                let now = if found == Ok(true) { now } else { terms.len() };
                prop_assert!((at + 1..=most).contains(&now));
                at = now;
                found
            };
            prop_assert_eq!(found, Ok(at < terms.len()));
            let Some(term) = terms.get(at) else {
                before.clear();
                continue;
            };
            prop_assert_eq!(cursor.term(), term.as_bytes());
            let common = term.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
            prop_assert!(cursor.shared() <= common, "{} of {}", cursor.shared(), common);
            prop_assert_eq!(cursor.info().expect("sound").doc_freq, 1);
            before.clone_from(term);
        }
    }

    #[test]
    fn found_are_those_that_were_written(
        terms in prop::collection::vec("[a-c]{0,7}", 1..600),
        strangers in prop::collection::vec("[a-d]{0,8}", 1..100),
        zstd: bool,
        positions: bool,
    ) {
        let model = one_doc_each(&terms);
        let options = if positions { TermOptions::TEXT } else { TermOptions::DOCS };
        let blocks = if zstd { TermBlocks::Zstd } else { TermBlocks::Plain };
        let segment = model.segment(1, options, blocks);
        let field = segment.terms(FIELD).expect("written");
        let mut cache = BlockCache::new(1 << 16);
        for (term, docs) in &model.terms {
            let info = field.find(term, &mut cache).expect("sound").expect("there");
            prop_assert_eq!(info.doc_freq as usize, docs.len());
        }
        let mut cursor = field.cursor();
        for stranger in strangers.iter().map(|term| term.as_bytes()) {
            let found = field.find(stranger, &mut cache).expect("sound");
            prop_assert_eq!(found.is_some(), model.terms.contains_key(stranger));
            let mut above = model.terms.range(stranger.to_vec()..);
            prop_assert_eq!(cursor.seek_ceil(stranger).expect("sound"), above.next().is_some());
            let mut above = model.terms.range(stranger.to_vec()..);
            let mut is_there = !cursor.term().is_empty() || model.terms.contains_key(&b""[..]);
            for (term, docs) in above.by_ref().take(20) {
                prop_assert!(is_there);
                prop_assert_eq!(cursor.term(), &term[..]);
                prop_assert_eq!(cursor.info().expect("sound").doc_freq as usize, docs.len());
                is_there = cursor.next().expect("sound");
            }
        }
    }

    #[test]
    fn merged_terms_are_those_that_live(
        seeds in prop::collection::vec(any::<u64>(), 1..4),
        doc_count in 1u32..700,
        kept in 1u32..20,
        zstd: bool,
    ) {
        let rarities = [1, 2, 3, 7, 50, 300, 600, 600, 600, 600];
        let models: Vec<Model> = seeds.iter().map(|seed| Model::made(*seed, doc_count, &rarities)).collect();
        let segments: Vec<Segment> = models.iter().zip(0..).map(|(model, id)| model.segment(id, TermOptions::TEXT, TermBlocks::Plain)).collect();
        let is_dead = |doc: u32| doc % 20 >= kept;
        let lives = models.iter().map(|model| {
            let dead = (0..model.doc_count).filter(|doc| is_dead(*doc)).map(DocId);
            Arc::new(Live::all(model.doc_count).without(dead))
        });
        let map = DocMap::new(models.iter().map(|model| model.doc_count).zip(lives.map(Some))).expect("few");
        let mut expected = Model { doc_count: map.doc_count(), ..Model::default() };
        for (number, model) in models.iter().enumerate() {
            for (term, docs) in &model.terms {
                for (doc, positions) in docs {
                    if let Some(new) = map.new_doc(number, DocId(*doc)) {
                        expected.terms.entry(term.clone()).or_default().push((new.get(), positions.clone()));
                    }
                }
            }
        }
        let blocks = if zstd { TermBlocks::Zstd } else { TermBlocks::Plain };
        let mut writer = SegmentWriter::new(SegmentId(9), map.doc_count()).merged(2, blocks);
        let inputs = segments.iter().zip(map.inputs());
        let inputs = inputs.filter_map(|(segment, map)| Some((segment.terms(FIELD)?, map)));
        let mut steps = Steps::unwatched();
        let mut merged = MergedTerms::new(inputs, &mut steps).expect("sound");
        prop_assert_eq!(merged.options(), TermOptions::TEXT);
        writer.terms(FIELD, TermOptions::TEXT, &mut merged).expect("sound");
        let bytes = Bytes::from(writer.seal().expect("sound"));
        let segment = Segment::open(SegmentId(9), bytes, Check::Full).expect("just sealed");
        prop_assert_eq!(read(&segment).terms, expected.terms);
    }

    #[test]
    fn foreign_blocks_end_in_damage_or_terms(bytes in prop::collection::vec(any::<u8>(), 0..300), count in 0u8..20, term: Vec<u8>) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = count;
        }
        if let Some(second) = bytes.get_mut(1) {
            *second = 0;
        }
        for options in [TermOptions::DOCS, TermOptions::TEXT] {
            if let Ok(block) = Block::parse(&bytes, options) {
                let _ = block.find(&term);
                let _ = block.infos(0).map(|mut infos| infos.next());
            }
        }
    }
}

/// Offsets into more keys than that were cut off, and the segment could not be opened.
#[test]
fn more_keys_of_long_terms_than_are_addressed_are_refused() {
    let alike = "a".repeat(30_000);
    let terms = |count: u32| -> Vec<String> {
        (0..count).map(|number| format!("{alike}{number:05}")).collect()
    };
    let fits = one_doc_each(&terms(100));
    let segment = fits.segment(1, TermOptions::DOCS, TermBlocks::Plain);
    let found = segment.terms(FIELD).expect("just written");
    let mut cache = BlockCache::new(1 << 20);
    for (doc, term) in (0u32..).zip(terms(100)) {
        let info = found.find(term.as_bytes(), &mut cache).expect("sound").expect("just written");
        let mut postings = found.postings(&info, Need::Docs);
        assert_eq!((postings.next(), postings.next()), (DocId(doc), END));
    }
    let beyond = one_doc_each(&terms(400));
    let mut writer = SegmentWriter::new(SegmentId(1), beyond.doc_count);
    let error = writer.terms(FIELD, TermOptions::DOCS, &mut beyond.source());
    let Err(Error::Limit { what, limit, found }) = error else { panic!("{error:?}") };
    assert_eq!((what, limit), ("bytes of the keys of blocks", 4 << 20));
    assert!(found > limit && found < limit + 64_000, "{found}");
}
